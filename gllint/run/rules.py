"""Running the rules over the files of an index."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, TypeAlias

from gllint.run.analysis_cache import EVERYTHING
from gllint.run.index import Index
from gllint.run.parsing import Unparsed, syntax_error, unparsed_cells
from gllint.run.results import Result
from gllint_rules import Failure, Finding

if TYPE_CHECKING:
    from gllint_rules import Cut
    from gllint_rules.check.check import Check
    from gllint_rules.reading.facts import Module

_CELL = "This cell was not checked, so names that it defines are unknown. The other cells were checked."
# A file, and the rules' results for it.
Checked: TypeAlias = tuple[str, Result]
Checker: TypeAlias = Callable[[Index, Sequence[str], bool], Iterator[Checked]]


def check_files(
    index: Index, paths: Sequence[str], fixes: bool, check: Checker | None = None
) -> dict[str, Result]:
    """Return the rules' results for candidates, with the ``fixes`` if they are wanted.

    ``check`` does the work instead of :func:`check_here`, in other processes.
    """
    results: dict[str, Result] = {}
    for path, result in (check or check_here)(index, paths, fixes):
        results[path] = result
        index.means.progress.tick(1)
    return results


def check_here(index: Index, paths: Iterable[str], fixes: bool) -> Iterator[Checked]:
    """Yield the rules' results for each file."""
    for path in paths:
        yield path, check_file(index, path, fixes)


def check_file(index: Index, path: str, fixes: bool) -> Result:
    """Return the rules' results for one candidate."""
    return FileCheck(index, path, fixes).result


class FileCheck:
    """The rules' results for one candidate. After an edit that changes no fact, only their positions are updated.

    ``result`` is the result for the files as they were at the last call.
    """

    def __init__(self, index: Index, path: str, fixes: bool) -> None:
        self._checks: list[Check] = []
        self._consulted: set[tuple[Any, ...]] = set()
        project, codes, clock = index.project, index.config.codes, index.means.clock
        self._parsed = parsed = index.read(path)
        self._cuts: tuple[Cut, ...] = ()
        if isinstance(parsed, Unparsed):
            why = f"{parsed.message} (line {parsed.line})"
            self.result = Result(
                syntax_error(path, parsed, codes), notice=why if parsed.is_python else "", left_out=why
            )
            return
        from gllint_rules.check.check import Check
        from gllint_rules.check.own_rules import in_turn

        reports: list[Finding | Failure] = []
        for some in [{code} for code in in_turn(codes)] if clock.by_rule else [codes]:
            with clock.stage(*some) if clock.by_rule else nullcontext():
                check = Check(project, path, frozenset(some))
                reports += check.reports(fixes)
                self._checks.append(check)
                self._consulted |= check.consulted
        self._path = path
        self.result = self._completed(index, parsed, reports)
        self._cuts = self.result.cuts

    def is_lasting(self, index: Index) -> bool:
        """Return whether positions can be updated. Not with rules of other packages, which may depend on comments."""
        from gllint_rules.check.own_rules import is_own

        return bool(self._checks) and not self._cuts and not any(map(is_own, index.config.codes))

    def place_again(self, index: Index) -> None:
        """Update the positions of all findings."""
        project, parsed = index.project, self._parsed
        assert not isinstance(parsed, Unparsed)
        reports: list[Finding | Failure] = []
        for check in self._checks:
            check.follow(project)
            reports += check.reports(False)
        self.result = self._completed(index, parsed, reports)

    def _completed(self, index: Index, parsed: Module, reports: Sequence[Finding | Failure]) -> Result:
        """Return the result: the reports of the rules, with tools, unread cells and parts that could not be read."""
        from gllint_rules.check.check import ToolCheck
        from gllint_rules.project.project_questions import is_plain

        project, path = index.project, self._path
        tools = ToolCheck(project, path)
        cells = unparsed_cells(path, parsed.source)
        refusals = [
            finding for cell in cells for finding in syntax_error(path, cell, index.config.codes, _CELL)
        ]
        reports = [*reports, *tools.failures, *refusals]
        unread = _unread(parsed)
        consulted = self._consulted | tools.consulted
        questions = {question.__name__ if is_plain(question) else EVERYTHING for question, *_ in consulted}
        return Result(
            tuple(report for report in reports if isinstance(report, Finding)),
            tuple(report for report in reports if isinstance(report, Failure)),
            tuple(project.cuts()),
            unread,
            frozenset(questions),
            tools.sights,
            tools.plain_numbers,
            "; ".join(index.why_unparsed(path, cell) for cell in cells) or unread,
        )


def _unread(module: Module) -> str:
    """Say which part of a file could not be read, if any."""
    for number, why in sorted(module.unread.items()):
        begin = module.outline.sections[number].begin
        return f"{why} (line {module.source.count(chr(10), 0, begin) + 1})"
    return ""
