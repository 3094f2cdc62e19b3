"""Numbers in another unit than that of their Quantity, schema, parameter or other operand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from gllint_rules.inference.units.arithmetic import differ, is_absolute
from gllint_rules.inference.units.measure import Measure, measure_of_text, number_in_unit
from gllint_rules.inference.units.meetings import Conflict, conflicts_in, names_unit
from gllint_rules.inference.units.reader import Body, Units
from gllint_rules.inference.values import (
    Boolean,
    Frame,
    FunctionOf,
    Record,
    Site,
    Text,
    literal_of,
    options,
)
from gllint_rules.project.context import Context
from gllint_rules.project.makers import maker_at, text_at
from gllint_rules.project.results import Leaf, is_quantity, leaves
from gllint_rules.project.schemas import read_schema
from gllint_rules.project.units import WrittenUnit, written_units
from gllint_rules.reading.expression_index import expressions_in
from gllint_rules.reading.facts import Call, Function, Module
from gllint_rules.reading.outline import Section
from gllint_rules.tuples import NamedTuple
from gllint_runtime.policy.parameter_units import ParameterUnits
from gllint_runtime.policy.schema_numbers import declared_unit
from gllint_runtime.policy.settings import Policy
from gllint_runtime.policy.unit_sizes import name_of, ratio

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SHOWN = 40
# The depth of calls from a file with tools into others. The limit also ends cycles of calls.
_CALLS_IN_A_ROW = 4
MOST_FUNCTIONS = 2_000  # of other modules, called from one


class Mislabelled(NamedTuple):
    """A value in a Quantity whose known unit (``measure``) differs from the ``unit`` of the Quantity."""

    site: Site
    measure: Measure
    unit: str
    written: WrittenUnit


class Misdeclared(NamedTuple):
    """A number of a result whose known unit (``measure``) differs from the ``unit`` in its schema or next to it."""

    site: Site
    measure: Measure
    unit: str
    who: str


def misdeclared(context: Context) -> Iterator[Misdeclared]:
    """Yield the numbers in results that are in another unit than declared."""
    for result in context.results:
        tool = result.tool
        schema = (
            read_schema(context, tool.result_schema, tool.scope)
            if tool.result_schema is not None and tool.module is context.module
            else None
        )
        if schema is None and not context.policy.quantity_shapes:
            continue
        for leaf in leaves(result.value, result.site):
            declared = _declared_in(schema.data, leaf.keys) if schema is not None else None
            unit, who = (
                (declared, "its schema says")
                if declared
                else (_unit_of_shape(leaf, context.policy), "its Quantity says")
            )
            label = measure_of_text(unit)
            measure = _unit_at(context, leaf.site) if label is not None else None
            if unit and label is not None and measure is not None and differ(label, measure):
                yield Misdeclared(leaf.site, measure, unit, who)


def _declared_in(node: Any, keys: tuple[object, ...]) -> str | None:
    """Return the unit that a schema declares for the number at these keys, else None."""
    for key in keys:
        properties = node.get("properties") if isinstance(node, dict) else None
        node = properties.get(key) if isinstance(properties, dict) else None
    declared = declared_unit(node) if keys and isinstance(node, dict) else None
    return declared.unit if declared is not None else None


def _unit_of_shape(leaf: Leaf, policy: Policy) -> str | None:
    """Return the unit of a number in one of the project's `quantity-shapes`, else None."""
    holder = leaf.holder
    if holder is None or not leaf.is_of_shape(policy):
        return None
    from gllint_runtime.policy.quantity_shapes import shaped_unit  # few projects list one

    texts = {
        key: literal_of(entries[0].value) if len(entries) == 1 else None
        for key, entries in holder.entries.items()
        if isinstance(key, str)
    }
    return shaped_unit(texts, policy.quantity_shapes)


def _units(context: Context) -> Units:
    """Return the reader of a module's units, with the units that schemas declare for parameters of tools."""
    declared: dict[Function, dict[str, Measure]] = {}
    for tool in context.tools:
        if tool.args_schema is None or tool.module is not context.module:
            continue
        schema = read_schema(context, tool.args_schema, tool.scope)
        units = ParameterUnits(schema.data) if schema is not None else None
        for callee in tool.callables if units is not None and units.declares else ():
            if isinstance(callee.function, Function) and units is not None:
                declared[callee.function] = _declared_parameters(callee.function, units)
    return Units(context.evaluator, declared)


def _declared_parameters(function: Function, units: ParameterUnits) -> dict[str, Measure]:
    """Return the units that the schema or the annotations of a tool declare for its parameters."""
    measures: dict[str, Measure] = {}
    for param in function.params:
        unit = units.at((param.name,))
        if unit.is_declared and not unit.takes_quantity and len(unit.readings) == 1:
            measure = measure_of_text(unit.readings[0])
            if measure is not None:
                measures[param.name] = measure
    return measures


def _unit_at(context: Context, site: Site) -> Measure | None:
    """Return the unit of the number at a place; ``None`` for texts, booleans and records."""
    maker = maker_at(site)
    if maker is None:
        return None
    units = context.once(_units)
    measure = number_in_unit(units.unit_of(maker.expr, units.body_at(site)))
    return measure if measure is not None and is_number(context, site) else None


def mislabelled(context: Context) -> Iterator[Mislabelled]:
    """Yield the values of Quantities that are in another unit than the Quantity says."""
    sites: set[tuple[Site, str]] = set()
    for written in written_units(context, every=True):
        label = measure_of_text(written.verdict.nearest or written.verdict.symbol)
        if label is None or not is_quantity(written.quantity.record):  # of others the number is a leaf
            continue
        for entry in written.quantity.record.entries.get("value", ()):
            unit = written.verdict.unit
            if (entry.site, unit) in sites:
                continue
            sites.add((entry.site, unit))
            measure = _unit_at(context, entry.site)
            if measure is not None and differ(label, measure):
                yield Mislabelled(entry.site, measure, unit, written)


def conflicts(context: Context) -> list[tuple[Site, Conflict]]:
    """Return the places where different units meet in a module with tools, and in functions that its tools call."""
    return context.once(_conflicts) if context.touches_tools else []


def _conflicts(context: Context) -> list[tuple[Site, Conflict]]:
    """Return the places where different units meet in the module, and in functions that its tools call."""
    units, module = context.once(_units), context.module
    tool_functions = [callee for tool in context.tools for callee in tool.callables]
    bodies: dict[Function | int, Body] = {}

    def add(of: Module, function: Function) -> None:
        bodies.setdefault(function, units.body_of(of, function))

    for section in _sections_with_units(module):
        part = module.section(section.number)
        bodies[section.number] = units.body_of_section(module, section.number)
        for function in part.functions:
            add(module, function)
    for callee in (*tool_functions, *_called(context, units, tool_functions)):
        if isinstance(callee.function, Function):
            add(callee.module, callee.function)
    return [
        (site, conflict)
        for body in bodies.values()
        for conflict in conflicts_in(units, body)
        if is_number(context, site := Site(body.module, conflict.at))
    ]


def _sections_with_units(module: Module) -> Iterator[Section]:
    """Yield the sections with a name that ends in a unit."""
    words = {word for word in set(_WORD.findall(module.source)) if names_unit(word)}
    for section in module.outline.sections if words else ():
        text = module.source[section.begin : section.end]
        if not section.imports and any(word in text for word in words):
            yield section


def _called(context: Context, units: Units, functions: list[FunctionOf]) -> Iterator[FunctionOf]:
    """Yield the functions of the project that some functions call, and those that these call in turn."""
    visited = {callee.function for callee in functions}
    for _ in range(_CALLS_IN_A_ROW):
        next_functions: list[FunctionOf] = []
        for caller in functions:
            if not isinstance(caller.function, Function):
                continue
            body = units.body_of(caller.module, caller.function)
            for expr in expressions_in(caller.function.body):
                callee = units.callee(expr.func, body) if isinstance(expr, Call) else None
                if not isinstance(callee, FunctionOf) or callee.function in visited:
                    continue
                if not context.evaluator.modules.owns(callee.module.path):
                    continue
                visited.add(callee.function)
                if len(visited) > MOST_FUNCTIONS:
                    site = Site(callee.module, callee.function.at)
                    context.evaluator.cut(site, f"{MOST_FUNCTIONS} functions that it calls")
                    return
                next_functions.append(callee)
                yield callee
        functions = next_functions


def is_number(context: Context, site: Site) -> bool:
    """Return whether an expression may be a number: nothing shows that it is a text, a truth value or a record."""
    maker = maker_at(site)
    if maker is None:
        return False
    values = options(context.evaluator.eval(maker.expr, Frame(site.module, maker.scope)))
    return not any(isinstance(value, (Text, Boolean, Record)) for value in values)


def units_of(measure: Measure) -> str:
    """Return the units that a number may be in, for a message: "`kW` or `MW`"."""
    return " or ".join(f"`{name_of(unit)}`" for unit in measure.readings)


def factor_between(measure: Measure, other: Measure) -> float | None:
    """Return the factor that converts a number from ``measure`` to ``other``; None if there is no single factor."""
    if len(measure.readings) != 1 or len(other.readings) != 1 or is_absolute(measure):
        return None
    return ratio(measure.readings[0], other.readings[0])


def times(factor: float) -> str:
    """Return the code that multiplies by a factor: 0.001 → " / 1000", 60 → " * 60"."""
    inverse = 1 / factor
    if abs(inverse - round(inverse)) < 1e-9 * inverse and inverse > 1:
        return f" / {round(inverse)}"
    return f" * {factor:.12g}"


def title(context: Context, site: Site) -> str | None:
    """Return the code of an expression for a message; None if it is too long."""
    text = text_at(context.project, site)
    is_shown = 0 < len(text) <= _SHOWN and text.isprintable() and "`" not in text
    return text if is_shown else None
