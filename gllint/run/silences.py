"""What silences the findings of a line: a comment, the configuration, the baseline."""

from __future__ import annotations

from collections.abc import Iterator

from gllint.files.config import Config
from gllint.run.baselines import Baselines
from gllint.run.engine import Engine, Outcome
from gllint.verdict import suppress
from gllint.verdict.text_comments import comments_of
from gllint_rules import Finding

_MOST_COMMENTS = 200


def silences(engine: Engine, path: str, line: int, code: str | None) -> Iterator[str]:
    """Yield the reason for each finding on a line of a file (absolute) that is not reported."""
    workspace = engine.workspace(engine.place_of(path))
    result = workspace.landing([path]).get(path)
    config = engine.config_of(path)
    for finding in result.findings if result is not None else ():
        if finding.span.line <= line <= finding.span.end_line and code in (None, finding.code):
            why = (
                _switched_off(config, path, finding.code)
                or _comment(engine, config, finding)
                or _baseline(engine, finding)
            )
            if why:
                yield f"  {finding.code} is not reported: {why}"


def _switched_off(config: Config, path: str, code: str) -> str:
    """Say which entry of ``per-file-ignores`` leaves a code out; empty if none does."""
    if code not in config.codes or code in config.codes_in(path):
        return ""
    # The first pattern that leaves the code out by itself.
    pattern = next(
        pattern
        for pattern, codes in config.per_file_ignores.items()
        if code not in config._replace(per_file_ignores={pattern: codes}).codes_in(path)
    )
    return f"`per-file-ignores` of {config.source} leaves it out for `{pattern}`"


def _comment(engine: Engine, config: Config, finding: Finding) -> str:
    """Say which comment suppresses a finding, empty if none does: the nearest one without which it is reported."""
    source = engine.sources.code(finding.path)
    of_file = comments_of(finding.path, source).comments

    def is_reported(kept: list[tuple[int, int, str]]) -> bool:
        comments = comments_of(finding.path, source)
        comments.comments = kept
        return finding in suppress.apply(finding.path, comments, [finding], frozenset({finding.code}))

    if is_reported(of_file):
        return ""
    marked = [comment for comment in of_file if "noqa" in comment[2].lower() or "gllint:" in comment[2]]
    near = sorted(marked, key=lambda comment: abs(comment[0] - finding.span.line))
    for comment in near[:_MOST_COMMENTS]:
        if is_reported([other for other in of_file if other is not comment]):
            line, _, text = comment
            return f"line {line} suppresses it with `{' '.join(text.split())}`"
    return "several comments suppress it"


def _baseline(engine: Engine, finding: Finding) -> str:
    """Say that a finding is in the baseline; empty if it is not."""
    file = engine.config_of(finding.path).baseline_file
    if file is None:
        return ""
    outcome = Outcome([finding.path])
    outcome.findings = [finding]
    Baselines(engine).leave_out(outcome)
    return "" if outcome.findings else f"it is in the baseline {file}"
