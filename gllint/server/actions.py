"""What can be done about findings next to their fixes: a suppression, and a line of configuration."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator
from functools import lru_cache

from gllint.errors import UsageError
from gllint.files.config import Config
from gllint.files.editing import Addition, with_settings
from gllint.files.source import Change
from gllint.server.texts import Snapshot, difference
from gllint.verdict.advice import named_by
from gllint.verdict.noqa import AS_IGNORE, suppressing
from gllint.verdict.suppress import Comments
from gllint.verdict.text_comments import suppressing_text
from gllint_rules import Finding
from gllint_rules.words.text_files import text_kind

_ALLOWING = frozenset({"unit-packs", "plain-keys"})


def suppression_changes(snapshot: Snapshot, finding: Finding) -> list[Change]:
    """Return a ``# gllint: ignore[…]`` that takes the finding away; none if no comment could."""
    text = snapshot.text.removeprefix("\ufeff")
    if text_kind(finding.path) is not None:
        return suppressing_text(finding.path, text, [finding])
    comments = _comments(text)
    return suppressing(comments, [finding], AS_IGNORE, snapshot.offsets.at)


@lru_cache(maxsize=1)
def _comments(text: str) -> Comments:
    return Comments(text)


def allowing(
    finding: Finding, config: Config, path: str, snapshot: Snapshot
) -> Iterator[tuple[str, list[Change]]]:
    """Yield the settings that would allow a finding, each with the changes of the configuration file at ``path``.

    ``('plain-keys = ["*_id"]', [change])``.
    """
    for key, items in named_by(finding, config):
        if key in _ALLOWING:
            with contextlib.suppress(UsageError):
                new_text = _with_items(path, snapshot.text, key, tuple(items))
                line = f"{key} = [{', '.join(json.dumps(item, ensure_ascii=False) for item in items)}]"
                yield line, list(difference(snapshot.text, new_text))


@lru_cache(maxsize=16)
def _with_items(path: str, text: str, key: str, items: tuple[str, ...]) -> str:
    return with_settings(path, text, Addition({key: items}), path.endswith("gllint.toml"))


def has_safe_fix(findings: Iterable[Finding]) -> bool:
    """Say whether fixing all would do anything."""
    return any(finding.fix is not None and finding.fix.applicability == "safe" for finding in findings)
