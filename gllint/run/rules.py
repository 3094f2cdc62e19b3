"""Running the rules over the files of an index."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

from gllint.run.index import Index
from gllint.run.kept import EVERYTHING
from gllint.run.mentions import Open
from gllint.run.parsing import Unparsed
from gllint.run.results import Result
from gllint_rules import Failure, Finding, Span

if TYPE_CHECKING:
    from gllint_rules.reading.facts import Module

# A file, what the rules say of it, and the words that they asked about in vain.
Checked: TypeAlias = tuple[str, Result, Open | None]
Check: TypeAlias = Callable[[Index, Sequence[str], bool], Iterator[Checked]]


def check_files(
    index: Index, paths: Sequence[str], fixes: bool, check: Check | None = None
) -> dict[str, Result]:
    """Return what the rules say of candidates, with the ``fixes`` where they are wanted.

    Where a fix asks who mentions a word, the file is checked again once all words of all files are known: one look
    at the files of the project is enough for them. ``check`` does the work where others are to do it.
    """
    results: dict[str, Result] = {}
    while paths:
        asked: dict[str, Open] = {}
        for path, result, waiting in (check or check_here)(index, paths, fixes):
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


def check_here(index: Index, paths: Sequence[str], fixes: bool) -> Iterator[Checked]:
    """Yield what the rules say of each file."""
    for path in paths:
        yield path, check_file(index, path, fixes), index.mentions.taken()


def check_file(index: Index, path: str, fixes: bool) -> Result:
    """Return what the rules say of one candidate."""
    project, codes, clock = index.project, index.config.codes, index.means.clock
    parsed = index.read(path)
    if isinstance(parsed, Unparsed):
        notice = f"{parsed.message} (line {parsed.line})" if parsed.is_python else ""
        return Result(syntax_error(path, parsed, codes), notice=notice)
    from gllint_rules.check.check import check
    from gllint_rules.project.wide import is_plain

    reports: list[Finding | Failure] = []
    project.consulted.clear()
    if clock.by_rule:
        for code in sorted(codes):
            with clock.stage(code):
                reports += check(project, path, frozenset({code}), fixes)
    else:
        reports += check(project, path, codes, fixes)
    asked = {question.__name__ if is_plain(question) else EVERYTHING for question, *_ in project.consulted}
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
