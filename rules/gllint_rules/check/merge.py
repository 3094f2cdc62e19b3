"""Merge the findings at one place from the checks of several modules: one helper may serve the tools of many files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gllint_rules.catalogue import RULES
from gllint_rules.finding import Finding, Fix, ToolAt, common, of_results


def merged(findings: Iterable[Finding]) -> list[Finding]:
    """Return one finding for each place, with the tools, keys and causes of all ``findings`` there.

    The result does not depend on their order.
    """
    by_place: dict[tuple[object, ...], dict[Finding, None]] = {}
    for finding in findings:
        by_place.setdefault((finding.code, finding.path, finding.span), {})[finding] = None
    return [_merge(group) for at_place in by_place.values() for group in _groups(list(at_place))]


def _groups(findings: list[Finding]) -> Iterable[list[Finding]]:
    """Return the findings of one place in groups that are reported as one: all, or by tools for a rule per tool."""
    rule = RULES.get(findings[0].code) if len(findings) > 1 else None  # loading a rule takes time
    if rule is None or not rule.per_tool:
        return [findings]
    by_tools: dict[tuple[ToolAt, ...], list[Finding]] = {}
    for finding in findings:
        by_tools.setdefault(finding.tools, []).append(finding)
    return by_tools.values()


def _merge(findings: Sequence[Finding]) -> Finding:
    """Return one finding for several at one place: the first in order of tools and keys, with the tools of all."""
    if len(findings) == 1:
        return findings[0]
    findings = sorted(findings, key=_order)
    first = findings[0]
    tools = tuple(sorted({tool for finding in findings for tool in finding.tools}))
    keys = tuple(dict.fromkeys(key for finding in findings for key in finding.keys))
    # A message that names the tools is made anew for all of them.
    names_tools = bool(first.tools) and first.message == of_results(first.what, first.tools, first.keys)
    what = common(finding.what for finding in findings)
    return first._replace(
        what=what,
        message=of_results(what, tools, keys) if names_tools else first.message,
        fix=_common_fix(findings),
        tools=tools,
        keys=keys,
        causes=tuple(sorted({path for finding in findings for path in finding.causes})),
    )


def _order(finding: Finding) -> tuple[tuple[ToolAt, ...], tuple[str, ...], str, bool]:
    return finding.tools, finding.keys, finding.message, finding.fix is None


def _common_fix(findings: Sequence[Finding]) -> Fix | None:
    """Return the fix that all findings have, None if they differ. It is unsafe if it is unsafe for one of them."""
    first = findings[0].fix
    if first is None or any(f.fix is None or f.fix.edits != first.edits for f in findings):
        return None
    return next((f.fix for f in findings if f.fix is not None and f.fix.applicability == "unsafe"), first)
