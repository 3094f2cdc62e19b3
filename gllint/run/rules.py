"""Running the rules over the files of an index."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, TypeAlias

from gllint.run.analysis_cache import EVERYTHING
from gllint.run.index import Index
from gllint.run.parsing import Unparsed
from gllint.run.results import Result
from gllint_rules import Failure, Finding, Span

if TYPE_CHECKING:
    from gllint_rules.reading.facts import Module

# A file, and what the rules say of it.
Checked: TypeAlias = tuple[str, Result]
Checker: TypeAlias = Callable[[Index, Sequence[str], bool], Iterator[Checked]]


def check_files(
    index: Index, paths: Sequence[str], fixes: bool, check: Checker | None = None
) -> dict[str, Result]:
    """Return what the rules say of candidates, with the ``fixes`` where they are wanted.

    ``check`` does the work where others are to do it.
    """
    results: dict[str, Result] = {}
    for path, result in (check or check_here)(index, paths, fixes):
        results[path] = result
        index.means.progress.tick(1)
    return results


def check_here(index: Index, paths: Iterable[str], fixes: bool) -> Iterator[Checked]:
    """Yield what the rules say of each file."""
    for path in paths:
        yield path, check_file(index, path, fixes)


def check_file(index: Index, path: str, fixes: bool) -> Result:
    """Return what the rules say of one candidate."""
    project, codes, clock = index.project, index.config.codes, index.means.clock
    parsed = index.read(path)
    if isinstance(parsed, Unparsed):
        why = f"{parsed.message} (line {parsed.line})"
        return Result(syntax_error(path, parsed, codes), notice=why if parsed.is_python else "", left_out=why)
    from gllint_rules.check.check import Check, ToolCheck
    from gllint_rules.check.own_rules import in_turn
    from gllint_rules.project.project_questions import is_plain

    consulted: set[tuple[Any, ...]] = set()
    reports: list[Finding | Failure] = []
    for some in [{code} for code in in_turn(codes)] if clock.by_rule else [codes]:
        with clock.stage(*some) if clock.by_rule else nullcontext():
            check = Check(project, path, frozenset(some))
            reports += check.reports(fixes)
            consulted |= check.consulted
    tools = ToolCheck(project, path)
    reports += tools.failures
    consulted |= tools.consulted
    questions = {question.__name__ if is_plain(question) else EVERYTHING for question, *_ in consulted}
    return Result(
        tuple(report for report in reports if isinstance(report, Finding)),
        tuple(report for report in reports if isinstance(report, Failure)),
        tuple(project.cuts()),
        unread := _unread(parsed),
        frozenset(questions),
        tools.sights,
        tools.plain_numbers,
        unread,
        tools.blind_spots,
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
