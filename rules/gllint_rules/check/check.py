"""The rules run over one module of a project, and their findings placed."""

from __future__ import annotations

import posixpath
import traceback
from collections import deque
from collections.abc import Iterator

from gllint_rules.catalogue import RULES
from gllint_rules.finding import Failure, Finding, Fix, Note
from gllint_rules.inference.values import Because, Site
from gllint_rules.project.context import Context, Pending
from gllint_rules.project.project import Project
from gllint_rules.reading.facts import Module

MOST_NOTES = 8


def check(
    project: Project, path: str, codes: frozenset[str], fixes: bool = True
) -> Iterator[Finding | Failure]:
    """Run the rules ``codes`` over the announced module at ``path``; one that raises loses nothing but itself.

    Without ``fixes`` none is worked out: that takes longer than to find what they are for.
    """
    module = project.modules[path]
    context = Context.of(project, module)
    failures: set[Failure] = set()
    for code in sorted(codes):
        rule = RULES.get(code)
        if rule is None or rule.check is None:
            continue
        seen: set[tuple[Site, tuple[int, int] | None]] = set()
        try:
            for pending in rule.check(context):
                key = (pending.site, pending.within)
                if key not in seen:
                    seen.add(key)
                    fix: Fix | None = None
                    try:
                        fix = pending.fix() if fixes and pending.fix is not None else None
                    except Exception as error:  # what no fix foresaw costs the fix, not the finding
                        failure = _failure(code, module, error)
                        if failure not in failures:
                            yield failure
                        failures.add(failure)
                    yield _placed(project, pending, fix)
        except Exception as error:
            yield _failure(code, module, error)


def _failure(code: str, module: Module, error: Exception) -> Failure:
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{posixpath.basename(last.filename)}:{last.lineno}"
    return Failure(code, module.path, f"{type(error).__name__}: {error} ({place})")


def _placed(project: Project, pending: Pending, fix: Fix | None) -> Finding:
    positions = project.positions(pending.site.module)
    span = positions.span(pending.site.at)
    if pending.within is not None:
        start = positions.lines.offset(span.line, span.column)
        span = positions.lines.span(start + pending.within[0], start + pending.within[1])
    notes: list[Note] = []
    if pending.because is not None:
        _collect(project, pending.because, pending.site, notes)
    return Finding(
        code=pending.code,
        path=pending.site.module.path,
        span=span,
        message=pending.message,
        help=pending.help,
        fix=fix,
        notes=tuple(notes),
    )


def _collect(project: Project, because: Because, at: Site, out: list[Note]) -> None:
    """The chain of evidence, nearest reason first; what stands at the finding itself needs no note."""
    queue = deque([because])
    seen: set[Because] = set()
    while queue and len(out) < MOST_NOTES:
        reason = queue.popleft()
        if reason in seen:  # several ways may lead to it
            continue
        seen.add(reason)
        if reason.site is not None and reason.site != at:
            note = Note(
                reason.message,
                reason.site.module.path,
                project.positions(reason.site.module).span(reason.site.at),
            )
            if note not in out:
                out.append(note)
        queue.extend(reason.behind)
