"""The parts of a claim that is written in the source, and the tools whose result it may cite."""

from __future__ import annotations

from collections.abc import Iterator

from gllint_rules.inference.values import Entry, Record, Value, literal_of, options
from gllint_rules.project.context import Context
from gllint_rules.project.descriptions import modules_with_tools
from gllint_rules.project.results import is_quantity
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Call, Dict, Scope
from gllint_rules.tools.tool import Tool
from gllint_rules.tuples import NamedTuple
from gllint_runtime.policy.claims import ClaimPathError, parse_claim_path

_CALL_ID_KEYS = ("id", "tool_call_id", "call_id")
_NAME_KEYS = ("name", "tool_name")


class ClaimParts(NamedTuple):
    """The parts of a claim in the source; a part that is not a literal is None."""

    call_id: str | None
    path: str | None
    value: object
    unit: str | None


def claim_parts(value: Value) -> ClaimParts | None:
    """Return the parts of a claim; None if ``value`` is not a record."""
    record = next((option for option in options(value) if isinstance(option, Record)), None)
    if record is None:
        return None
    call_id, path = literal_of(record.get("source_call_id")), literal_of(record.get("path"))
    quantity = next((o for o in options(record.get("quantity") or value) if isinstance(o, Record)), record)
    number = quantity.get("value") if quantity is not record else None
    unit = literal_of(quantity.get("unit")) if quantity is not record else None
    return ClaimParts(call_id, path, getattr(number, "literal", None), unit)


def sources(context: Context, claim: ClaimParts) -> list[Tool]:
    """Return the tool with the claim's call id in this file, else the tools with a Quantity at its path."""
    project = context.project
    names = set(_called(context, claim.call_id)) if claim.call_id else set()
    modules = modules_with_tools(project)
    if names:
        return [tool for module in modules for tool in project.tools.of(module) if tool.name in names]
    if claim.path is None:
        return []
    try:
        steps = tuple(map(str, parse_claim_path(claim.path)))
    except ClaimPathError:
        return []
    tools = []
    for module in modules:
        if any(table.value(steps[-1]) is not None for table, _ in module.dicts):
            other = Context(project, module)
            tools += [
                tool
                for tool in other.tools
                if any(_has_quantity(result.value, steps) for result in other.results_of(tool))
            ]
    return tools


def _called(context: Context, call_id: str) -> Iterator[str]:
    """Return the names of the tools that are called under a literal ``call_id``."""
    # `{"id": "c1", "name": "heat"}` and `ToolCall(id="c1", name="heat")`.
    records: list[tuple[Dict | Call, Scope]] = [*context.module.dicts, *context.module.calls]
    for literal, scope in records:
        for key in _CALL_ID_KEYS:
            expr = _part(literal, key)
            if expr is not None and literal_of(context.eval(expr, scope)) == call_id:
                for name in _NAME_KEYS:
                    name_expr = _part(literal, name)
                    text = literal_of(context.eval(name_expr, scope)) if name_expr is not None else None
                    if text:
                        yield text


def _part(literal: Dict | Call, key: str) -> facts.Expr | None:
    return literal.value(key) if isinstance(literal, facts.Dict) else literal.keyword(key)


def _has_quantity(value: Value, steps: tuple[str, ...]) -> bool:
    """Return whether a value may have a Quantity under the keys ``steps``."""
    for option in options(value):
        if isinstance(option, Record):
            if not steps:
                return is_quantity(option)
            entries: tuple[Entry, ...] = option.entries.get(steps[0], ())
            if any(_has_quantity(entry.value, steps[1:]) for entry in entries):
                return True
    return False
