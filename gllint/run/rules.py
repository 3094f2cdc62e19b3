"""Running the rules over the files of an index."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, TypeAlias

from gllint.run.index import Index
from gllint.run.kept import EVERYTHING
from gllint.run.mentions import Open
from gllint.run.parsing import Unparsed
from gllint.run.results import Result
from gllint_rules import Failure, Finding, Span

if TYPE_CHECKING:
    from gllint_rules.check import check as checking
    from gllint_rules.reading.facts import Module

# A file, what the rules say of it, and the words that they asked about in vain.
Checked: TypeAlias = tuple[str, Result, Open | None]
Checker: TypeAlias = Callable[[Index, Sequence[str], bool], Iterator[Checked]]
# The checks of files that will be asked again: what is settled is not worked out twice.
Unsettled: TypeAlias = "dict[str, list[checking.Check]]"


def check_files(
    index: Index, paths: Sequence[str], fixes: bool, check: Checker | None = None
) -> dict[str, Result]:
    """Return what the rules say of candidates, with the ``fixes`` where they are wanted.

    Where a fix asks who mentions a word, the file is checked again once all words of all files are known: one look
    at the files of the project is enough for them. ``check`` does the work where others are to do it.
    """
    results: dict[str, Result] = {}
    unsettled: Unsettled = {}
    while paths:
        asked: dict[str, Open] = {}
        said = check_here(index, paths, fixes, unsettled) if check is None else check(index, paths, fixes)
        for path, result, waiting in said:
            before = results.get(path, Result()).cuts
            results[path] = result._replace(cuts=before + result.cuts)
            if waiting is not None:
                asked[path] = waiting
            index.means.progress.tick(1)
        paths = [path for path in paths if path in asked]
        if paths:
            with index.means.clock.stage("mentions"):
                index.mentions.look(asked.values())
    return results


def check_here(index: Index, paths: Sequence[str], fixes: bool, unsettled: Unsettled) -> Iterator[Checked]:
    """Yield what the rules say of each file; ``unsettled`` holds the checks of those whose fixes asked in vain."""
    for path in paths:
        result = check_file(index, path, fixes, unsettled)
        waiting = index.mentions.taken()
        if waiting is None:
            unsettled.pop(path, None)
        yield path, result, waiting


def check_file(index: Index, path: str, fixes: bool, unsettled: Unsettled | None = None) -> Result:
    """Return what the rules say of one candidate."""
    project, codes, clock = index.project, index.config.codes, index.means.clock
    parsed = index.read(path)
    if isinstance(parsed, Unparsed):
        notice = f"{parsed.message} (line {parsed.line})" if parsed.is_python else ""
        return Result(syntax_error(path, parsed, codes), notice=notice)
    from gllint_rules.check.check import Check
    from gllint_rules.project.wide import is_plain

    checks = unsettled.setdefault(path, []) if unsettled is not None else []
    reports: list[Finding | Failure] = []
    for number, some in enumerate([{code} for code in sorted(codes)] if clock.by_rule else [codes]):
        with clock.stage(*some) if clock.by_rule else nullcontext():
            if number == len(checks):
                checks.append(Check(project, path, frozenset(some)))
            reports += checks[number].reports(fixes, index.mentions.in_vain)
    consulted = frozenset().union(*(check.consulted for check in checks))
    asked = {question.__name__ if is_plain(question) else EVERYTHING for question, *_ in consulted}
    return Result(
        tuple(report for report in reports if isinstance(report, Finding)),
        tuple(report for report in reports if isinstance(report, Failure)),
        tuple(project.cuts()),
        _unread(parsed),
        frozenset(asked),
    )


def syntax_error(path: str, why: Unparsed | None, codes: frozenset[str]) -> tuple[Finding, ...]:
    """Return the finding of a file that is no Python, if it is one and the rule is in force."""
    if why is None or why.is_python or "GL900" not in codes:
        return ()
    place = Span(why.line, why.column, why.line, why.column + 1)
    return (Finding("GL900", path, place, why.message, "This file was not checked."),)


def _unread(module: Module) -> str:
    """Say which part of a file could not be read, if any."""
    for number, why in sorted(module.unread.items()):
        begin = module.outline.sections[number].begin
        return f"{why} (line {module.source.count(chr(10), 0, begin) + 1})"
    return ""
