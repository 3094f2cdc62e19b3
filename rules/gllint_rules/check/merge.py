"""What the checks of several modules found at one place, as one finding: a helper serves the tools of many files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gllint_rules.catalogue import RULES
from gllint_rules.finding import Finding, Fix, ToolAt, common, of_results


def merged(findings: Iterable[Finding]) -> list[Finding]:
    """Return the ``findings`` with one for each place, whatever their order, each with all of its tools, keys and
    causes.
    """
    together: dict[tuple[object, ...], dict[Finding, None]] = {}
    for finding in findings:
        together.setdefault((finding.code, finding.path, finding.span), {})[finding] = None
    return [_one_of(part) for group in together.values() for part in _apart(list(group))]


def _apart(findings: list[Finding]) -> Iterable[list[Finding]]:
    """Group the findings of one place that are reported together. The rule is loaded only if there are several."""
    rule = RULES.get(findings[0].code) if len(findings) > 1 else None
    if rule is None or not rule.per_tool:
        return [findings]
    by_tools: dict[tuple[ToolAt, ...], list[Finding]] = {}
    for finding in findings:
        by_tools.setdefault(finding.tools, []).append(finding)
    return by_tools.values()


def _one_of(findings: Sequence[Finding]) -> Finding:
    """Return one finding for several at one place: the first in rank, with the tools of all."""
    if len(findings) == 1:
        return findings[0]
    findings = sorted(findings, key=_rank)
    first = findings[0]
    tools = tuple(sorted({tool for finding in findings for tool in finding.tools}))
    keys = tuple(dict.fromkeys(key for finding in findings for key in finding.keys))
    is_made = bool(first.tools) and first.message == of_results(first.what, first.tools, first.keys)
    what = common(finding.what for finding in findings)
    return first._replace(
        what=what,
        message=of_results(what, tools, keys) if is_made else first.message,
        fix=_fix_of(findings),
        tools=tools,
        keys=keys,
        causes=tuple(sorted({path for finding in findings for path in finding.causes})),
    )


def _rank(finding: Finding) -> tuple[tuple[ToolAt, ...], tuple[str, ...], str, bool]:
    return finding.tools, finding.keys, finding.message, finding.fix is None


def _fix_of(findings: Sequence[Finding]) -> Fix | None:
    """Return the repair on which all agree; safe where it is for each of them."""
    first = findings[0].fix
    if first is None or any(f.fix is None or f.fix.edits != first.edits for f in findings):
        return None
    return next((f.fix for f in findings if f.fix is not None and f.fix.applicability == "unsafe"), first)
