"""What the checks of several modules found at one place, as one finding: a helper serves the tools of many files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gllint_rules.catalogue import RULES
from gllint_rules.finding import Finding, Fix, ToolAt, common, of_results


def merged(findings: Iterable[Finding]) -> list[Finding]:
    """The ``findings`` with one for each place, whatever their order, each with all of its tools, keys and causes."""
    together: dict[tuple[object, ...], dict[Finding, None]] = {}
    for finding in findings:
        rule = RULES.get(finding.code)
        apart = finding.tools if rule is not None and rule.per_tool else None
        together.setdefault((finding.code, finding.path, finding.span, apart), {})[finding] = None
    return [_one_of(list(group)) for group in together.values()]


def _one_of(findings: Sequence[Finding]) -> Finding:
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
    """The repair on which all agree; safe where it is for each of them."""
    first = findings[0].fix
    if first is None or any(f.fix is None or f.fix.edits != first.edits for f in findings):
        return None
    return next((f.fix for f in findings if f.fix is not None and f.fix.applicability == "unsafe"), first)
