"""Look for the unit of a tool's parameter: in its name, a declaration or a description."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gllint_rules.inference.declarations import declared_unit, declaring_calls
from gllint_rules.inference.values import ClassOf, Frame, FunctionOf, Site, options
from gllint_rules.project.context import Context
from gllint_rules.project.schemas import read_schema
from gllint_rules.project.unit_sources import (
    is_unit_described,
    is_unit_documented,
    is_unit_mentioned,
    unit_of_field,
)
from gllint_rules.reading import facts
from gllint_rules.tools.tool import Tool
from gllint_runtime.policy.names import mentions_unit
from gllint_runtime.policy.parameter_units import ParameterUnits


def says_unit(context: Context, tool: Tool, callee: FunctionOf, param: facts.Param) -> bool:
    """Return whether name, declaration or description of a parameter of a tool state a unit."""
    if mentions_unit(param.name):
        return True
    function = callee.function
    frame = Frame(callee.module, function.scope.parent or callee.module.scope)
    if declared_unit(context.evaluator, param.annotation, param.default, frame) is not None:
        return True
    if any(
        is_unit_described(context, call, frame) for call in declaring_calls(param.annotation, param.default)
    ):
        return True
    if any(is_unit_mentioned(context.policy, text) for text in _texts(param.annotation)):
        return True
    if is_unit_documented(context.policy, _docstring(function), param.name):
        return True
    return _is_declared_by_schema(context, tool, param.name)


def _is_declared_by_schema(context: Context, tool: Tool, name: str) -> bool:
    """Return whether a schema of the tool gives the argument a unit."""
    if tool.args_schema is None:
        return False
    for option in options(context.evaluator.eval(tool.args_schema, Frame(tool.module, tool.scope))):
        if isinstance(option, ClassOf) and unit_of_field(context, option, name) is not None:
            return True
    # For a literal schema, its property is reported instead of the parameter.
    return any(True for _ in schema_properties(context, tool))


def schema_properties(context: Context, tool: Tool) -> Iterator[tuple[str, Site, bool]]:
    """Yield name, place and whether it states a unit, for each numeric property of a tool's literal ``args_schema``."""
    schema = (
        read_schema(context, tool.args_schema, tool.scope)
        if tool.args_schema is not None and tool.module is context.module
        else None
    )
    properties = (
        schema.data.get("properties") if schema is not None and isinstance(schema.data, dict) else None
    )
    if schema is None or not isinstance(properties, dict):
        return
    units = ParameterUnits(schema.data)
    for name, node in properties.items():
        if isinstance(name, str) and isinstance(node, dict) and _is_numeric(node):
            has_unit = bool(units.at((name,)).readings or mentions_unit(name)) or any(
                isinstance(text, str) and is_unit_mentioned(context.policy, text)
                for text in (node.get("description"), node.get("title"))
            )
            yield name, schema.place(("properties", name)), has_unit


def _is_numeric(node: dict[Any, Any]) -> bool:
    types = node.get("type")
    return any(kind in ("number", "integer") for kind in (types if isinstance(types, list) else [types]))


def _texts(annotation: facts.Expr | None) -> Iterator[str]:
    """Yield the strings in an annotation: "in kWh" in ``Annotated[float, "in kWh"]``."""
    match annotation:
        case facts.Sub(base=base, index=facts.Seq(items=(_, *extra))) if facts.last_name(base) == "Annotated":
            for part in extra:
                if isinstance(part, facts.Const) and isinstance(part.value, str):
                    yield part.value


def _docstring(function: facts.Function | facts.Lambda) -> str:
    match function.body if isinstance(function, facts.Function) else ():
        case (facts.Do(values=(facts.Const(value=str() as text),)), *_):
            return text
        case _:
            return ""
