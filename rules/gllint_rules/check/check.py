"""Run the rules over one module of a project, and give their findings lines and columns."""

from __future__ import annotations

import posixpath
import traceback
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice

from gllint_rules.catalogue import RULES
from gllint_rules.catalogue.foreign_code import ForeignError
from gllint_rules.check.own_rules import in_turn, is_own, sound_findings, sound_fix
from gllint_rules.finding import (
    Failure,
    Finding,
    Fix,
    Note,
    PlainNumber,
    ToolAt,
    ToolSight,
    common,
    of_results,
)
from gllint_rules.inference.values import Because
from gllint_rules.project.call_graph import learn_runners
from gllint_rules.project.context import Context, Pending
from gllint_rules.project.project import Project
from gllint_rules.project.schema_users import learn_users
from gllint_rules.project.sight import numbers_of_plain_kinds, sights
from gllint_rules.reading.facts import Module
from gllint_rules.reading.sections import Unreadable
from gllint_rules.rule import Rule

MOST_NOTES = 8
MOST_REASONS = 400  # whose files count as causes of a finding


def check(
    project: Project, path: str, codes: frozenset[str], fixes: bool = True
) -> Iterator[Finding | Failure]:
    """Yield what the rules ``codes`` report about the module at ``path``."""
    return Check(project, path, codes).reports(fixes)


class Check:
    """The rules ``codes``, run over the module at ``path``. A rule that raises costs only its own findings.

    ``consulted`` are the questions about all modules that the rules asked.
    """

    def __init__(self, project: Project, path: str, codes: frozenset[str]) -> None:
        self._project, self._module = project, project.modules[path]
        self._pendings: dict[tuple[object, ...], list[Pending]] = {}
        self._failures: dict[Failure, None] = {}
        project.consulted.clear()
        context = Context.of(project, self._module)
        for code in in_turn(codes):
            rule = RULES.get(code)
            if rule is None or rule.check is None:
                continue
            if is_own(code):
                pendings, errors = sound_findings(rule, context)
                self._failures.update((_failure(code, self._module, error), None) for error in errors)
                self._take(rule, pendings)
                continue
            try:
                self._take(rule, rule.check(context))
            except Exception as error:
                self._failures[_failure(code, self._module, error)] = None
        self.consulted = frozenset(project.consulted)  # no finding rests on what fixes ask

    def follow(self, project: Project) -> None:
        """Compute lines and columns from now on with ``project``, which must have the same modules."""
        self._project = project

    def _take(self, rule: Rule, pendings: Iterable[Pending]) -> None:
        """Group the findings of a rule by what is reported as one finding: a place, or a place and a tool."""
        for pending in pendings:
            subject = pending.subject if rule.per_tool else None
            group = (rule.code, pending.site, pending.characters, subject)
            self._pendings.setdefault(group, []).append(pending)

    def reports(self, fixes: bool) -> Iterator[Finding | Failure]:
        """Yield the findings and failures of all rules. ``fixes``: compute the fixes, too, which takes longer."""
        for pendings in self._pendings.values():
            try:
                fix = self._fix(pendings[0]) if fixes else None
                finding = _placed(self._project, self._module, pendings, fix)
            except Exception as error:
                self._failures[_failure(pendings[0].code, self._module, error)] = None
            else:
                yield finding
        yield from self._failures

    def _fix(self, pending: Pending) -> Fix | None:
        """Return the fix of a finding. An error in the fix is recorded and costs only the fix."""
        try:
            if pending.fix is None or not is_own(pending.code):
                return pending.fix() if pending.fix is not None else None
            lines = self._project.positions(pending.site.module).lines
            return sound_fix(pending.code, self._module.path, pending.fix, lines)
        except Unreadable:  # LibCST cannot parse the file
            return None
        except Exception as error:
            self._failures[_failure(pending.code, self._module, error)] = None
            return None


class ToolCheck:
    """The tools of the module at ``path``, and how much of their results gllint sees.

    ``plain_numbers`` are the numbers of their results that ``plain-kinds`` exempts.
    ``consulted`` are the questions about all modules that were asked.
    """

    def __init__(self, project: Project, path: str) -> None:
        module = project.modules[path]
        project.consulted.clear()
        self.sights: tuple[ToolSight, ...] = ()
        self.plain_numbers: tuple[PlainNumber, ...] = ()
        self.failures: list[Failure] = []
        try:
            context = Context.of(project, module)
            self.sights = tuple(sights(context))
            self.plain_numbers = tuple(
                PlainNumber(site.module.path, site.at) for site in numbers_of_plain_kinds(context)
            )
        except Exception as error:
            self.failures.append(_failure("GL1", module, error))
        self.consulted = frozenset(project.consulted)
        # Fixes ask for this in all modules. Done now, while the module is read; if it fails, the fix fails and says so.
        with suppress(Exception):
            learn_runners(project, path)
            learn_users(project, path)


def _failure(code: str, module: Module, error: Exception) -> Failure:
    """Return the report on a rule that raised: type, text and place of the error."""
    if isinstance(error, ForeignError):
        return Failure(code, module.path, str(error))
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{posixpath.basename(last.filename)}:{last.lineno}"
    return Failure(code, module.path, f"{type(error).__name__}: {error} ({place})")


def _placed(project: Project, module: Module, pendings: Sequence[Pending], fix: Fix | None) -> Finding:
    """Merge the ``pendings`` at one place into one finding."""
    first = pendings[0]
    positions = project.positions(first.site.module)
    span = positions.span(first.site.at)
    if first.characters is not None:
        start, _ = positions.offsets(first.site.at)
        span = positions.lines.span(start + first.characters[0], start + first.characters[1])
    message, what, tools, keys = together(pendings)
    subjects = [pending.subject for pending in pendings if pending.subject is not None]
    causes = {module.path, *(path for t in subjects for path in t.files)}
    reasons = islice(_reasons(pending.because for pending in pendings), MOST_REASONS)
    causes.update(reason.site.module.path for reason in reasons if reason.site is not None)
    return Finding(
        code=first.code,
        path=first.site.module.path,
        span=span,
        message=message,
        help=first.help,
        fix=fix,
        notes=tuple(_notes(project, first)),
        tools=tools,
        keys=keys,
        what=what,
        kind=first.kind,
        settings=first.settings,
        causes=tuple(sorted(causes - {first.site.module.path})),
    )


def together(pendings: Sequence[Pending]) -> tuple[str, str, tuple[ToolAt, ...], tuple[str, ...]]:
    """Return message, ``what``, tools and keys of the one finding for all ``pendings`` of one place."""
    tools = tuple(sorted({pending.subject.tool for pending in pendings if pending.subject is not None}))
    keys = tuple(dict.fromkeys(pending.key for pending in pendings if pending.key is not None))
    what = common(pending.what for pending in pendings)
    return pendings[0].message or of_results(what, tools, keys), what, tools, keys


def _reasons(reasons: Iterable[Because | None]) -> Iterator[Because]:
    """Yield the ``reasons`` and the reasons behind them, nearest first, each once."""
    queue = deque(reasons)
    visited: set[Because] = set()
    while queue:
        reason = queue.popleft()
        if reason is not None and reason not in visited:
            visited.add(reason)
            queue.extend(reason.causes)
            yield reason


def _notes(project: Project, pending: Pending) -> list[Note]:
    """Return the evidence of a finding as notes, without one at the place of the finding itself."""
    notes: list[Note] = []
    for reason in _reasons([pending.because]):
        if reason.site is not None and reason.site != pending.site:
            span = project.positions(reason.site.module).span(reason.site.at)
            note = Note(reason.message, reason.site.module.path, span)
            if note not in notes:
                notes.append(note)
            if len(notes) == MOST_NOTES:
                break
    return notes
