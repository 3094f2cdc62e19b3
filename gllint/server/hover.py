"""What is shown where the cursor rests: a rule, a unit, a claim or a tool, as Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gllint.server.knowledge import Claim
from gllint_rules import RULES, Finding
from gllint_rules.project.descriptions import ToolDescription
from gllint_rules.project.kinds import unit_advice
from gllint_runtime.policy.settings import Policy
from gllint_runtime.policy.units import ALLOWED_UNITS, UnitRegistry, dimension_of, unit_title

CODE = re.compile(r"\bGL[0-9]{3}\b")
_MOST_CONVERSIONS = 8
_WHY = "## Why is this bad?\n"


def findings_text(findings: Sequence[Finding]) -> str:
    """Describe the findings at a place, how to repair them, and why their rules exist."""
    paragraphs = [f"**{f.code}** {f.message}" + (f"\n\n{f.help}" if f.help else "") for f in findings]
    rules = [rule_text(code) for code in dict.fromkeys(finding.code for finding in findings)]
    return "\n\n---\n\n".join([*paragraphs, *rules])


def rule_text(code: str) -> str:
    """Return the description of a rule in Markdown: what it reports, why, and its page; ``""`` for an unknown code."""
    rule = RULES.get(code)
    if rule is None:
        return ""
    _, _, reason = rule.documentation.partition(_WHY)
    paragraphs = [f"**{rule.code} {rule.name}**: {rule.summary}.", reason.strip().split("\n\n")[0]]
    page = (
        f"[{rule.url}]({rule.url})" if rule.url else f"`gllint rule {rule.code}` shows examples and options."
    )
    return "\n\n".join(filter(None, [*paragraphs, page]))


def unit_text(unit: str, policy: Policy) -> str:
    """Return the description of a unit in Markdown: its dimension, whether it is allowed, and conversions (1 kWh =
    3.6 MJ).
    """
    verdict = policy.judge(unit)
    dimension = f": {verdict.dimension}" if verdict.dimension else ""
    lines = [f"**`{unit_title(unit)}`**{dimension}", verdict.reason]
    if verdict.status != "allowed":
        lines.append(unit_advice(policy, verdict))
    else:
        lines += [f"- 1 {unit} = {text}" for text in _conversions(verdict.symbol, policy.packs)]
    return "\n\n".join(lines[:2]) + ("\n\n" + "\n".join(lines[2:]) if lines[2:] else "")


def _conversions(unit: str, packs: Sequence[str]) -> list[str]:
    """Return one of ``unit`` in other units of its dimension: ``"kWh"`` → ``["1000 Wh", "3.6 MJ", …]``."""
    from gllint_runtime.policy.schemas import Quantity

    registry = UnitRegistry(extend=[unit], packs=packs)
    dimension = dimension_of(unit, packs=packs)
    conversions = []
    for other in ALLOWED_UNITS:
        if other != unit and dimension_of(other) == dimension:
            value = registry.convert_to(Quantity(1, unit), other).value
            conversions.append(f"{value:.6g} {other}")
    return conversions[:_MOST_CONVERSIONS]


def claim_text(index: int, claim: Claim | None) -> str:
    """Return the description of a claim in Markdown: its path, call, tool and quantity, as far as they are known."""
    if claim is None:
        return f"**Claim {index}**\n\ngllint cannot see its entry in `claims`."
    lines = [f"**Claim {index}**"]
    if claim.path is not None:
        lines.append(f"- path `{claim.path}`")
    if claim.call_id is not None:
        lines.append(f"- call `{claim.call_id}`")
    lines += [
        f"- tool `{tool.name}`" + (f": {tool.description}" if tool.description else "")
        for tool in claim.tools
    ]
    if claim.unit is not None:
        value = "" if claim.value is None else f"{claim.value} "
        lines.append(f"- quantity {value}{claim.unit}")
    return "\n".join(lines[:1]) + "\n\n" + "\n".join(lines[1:])


def tool_text(tools: Sequence[ToolDescription]) -> str:
    """Return the description of each tool of a name in Markdown, with the file and line where it is defined."""
    return "\n\n---\n\n".join(
        f"**tool `{tool.name}`**"
        + (f"\n\n{tool.description}" if tool.description else "")
        + f"\n\n{tool.path}:{tool.span.line}"
        for tool in tools
    )
