"""Where the source shows that a number is in another unit than what carries, takes or meets it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from gllint_rules.inference.measures.arithmetic import fit, is_absolute
from gllint_rules.inference.measures.expressions import unit_of_text
from gllint_rules.inference.measures.meanings import Meaning, Measure
from gllint_rules.inference.measures.outcome import Env, UnitFlow
from gllint_rules.inference.measures.unit_flow import Units, measure_declared
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
from gllint_rules.reading.facts import Function, Lambda, Module
from gllint_rules.tuples import NamedTuple
from gllint_runtime.policy.names import read_name
from gllint_runtime.policy.parameter_units import ParameterUnits
from gllint_runtime.policy.schema_numbers import declared_unit
from gllint_runtime.policy.settings import Policy
from gllint_runtime.policy.unit_expressions import Factors
from gllint_runtime.policy.unit_sizes import name_of, ratio

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SHOWN = 40
_MOST_WORD = 60
# From a file with tools into others. Each function of a circle asks for all others of it: a row has an end, so that
# a circle of any length is asked for a few times.
_CALLS_IN_A_ROW = 4
MOST_FUNCTIONS = 2_000  # of other modules, called from one


class Mislabelled(NamedTuple):
    """A value, known in one unit, of a Quantity that says another."""

    site: Site
    measure: Measure
    unit: str
    written: WrittenUnit


class Misdeclared(NamedTuple):
    """A number of a result, known in one unit, of which a schema or its neighbours say another."""

    site: Site
    measure: Measure
    unit: str
    who: str


def misdeclared(context: Context) -> Iterator[Misdeclared]:
    """The numbers in results that are known to be in another unit than is declared of them."""
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
                else (_unit_of_shape(leaf, context.policy), "its unit is")
            )
            label = unit_of_text(unit) if unit else None
            if unit is None or label is None:
                continue
            measure = context.once(_Measures).at(leaf.site)
            if isinstance(measure, Measure) and _differ(label, measure) and is_number(context, leaf.site):
                yield Misdeclared(leaf.site, measure, unit, who)


def _differ(label: Factors, measure: Measure) -> bool:
    return fit(Measure((label,), is_whole=True), measure) in ("size", "dimension")


def _declared_in(node: Any, keys: tuple[object, ...]) -> str | None:
    """The unit that a schema declares of the number at these keys."""
    for key in keys:
        properties = node.get("properties") if isinstance(node, dict) else None
        node = properties.get(key) if isinstance(properties, dict) else None
    declared = declared_unit(node) if keys and isinstance(node, dict) else None
    return declared.unit if declared is not None else None


def _unit_of_shape(leaf: Leaf, policy: Policy) -> str | None:
    """The unit beside a number in a shape of another house that the project lists."""
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


class _Measures:
    """The units of expressions, a tool's parameters being in those that its schema declares."""

    def __init__(self, context: Context) -> None:
        self._units = Units(context.evaluator)
        self._flows: dict[Function, tuple[Module, UnitFlow]] = {}
        for tool in context.tools:
            if tool.args_schema is None or tool.module is not context.module:
                continue
            schema = read_schema(context, tool.args_schema, tool.scope)
            declared = ParameterUnits(schema.data) if schema is not None else None
            for callee in tool.callables if declared is not None and declared.declares else ():
                function = callee.function
                if isinstance(function, Function):
                    self._execute(callee.module, function, declared)

    def _execute(self, module: Module, function: Function, declared: ParameterUnits | None) -> None:
        arguments: Env = {}
        for param in function.params:
            unit = declared.at((param.name,)) if declared is not None else None
            if unit is not None and unit.is_declared and not unit.takes_quantity and len(unit.readings) == 1:
                arguments[param.name] = measure_declared(unit.readings[0])
        flow = self._units.executed(module, function, arguments) if arguments else None
        if flow is not None:
            self._flows[function] = module, flow

    def at(self, site: Site) -> Meaning:
        for function, (module, flow) in self._flows.items():
            if module is site.module and function.at < site.at < function.end:
                return flow.measures.get(site.at)
        return self._units.meaning_at(site)


def mislabelled(context: Context) -> Iterator[Mislabelled]:
    """The values of the module's Quantities that are known to be in another unit than these say."""
    measures = context.once(_Measures)
    sites: set[tuple[Site, str]] = set()
    for written in written_units(context, every=True):
        label = unit_of_text(written.verdict.nearest or written.verdict.symbol)
        if label is None or not is_quantity(written.quantity.record):  # of others the number is a leaf
            continue
        for entry in written.quantity.record.entries.get("value", ()):
            unit = written.verdict.unit
            if (entry.site, unit) in sites:
                continue
            sites.add((entry.site, unit))
            measure = measures.at(entry.site)
            if isinstance(measure, Measure) and _differ(label, measure):
                if is_number(context, entry.site):
                    yield Mislabelled(entry.site, measure, unit, written)


def flows(context: Context) -> list[tuple[Module, UnitFlow]]:
    """The bodies in which units meet, of a module that defines or imports tools and of what these call."""
    return context.once(_flows) if context.touches_tools else []


def _flows(context: Context) -> list[tuple[Module, UnitFlow]]:
    flows: list[tuple[Module, UnitFlow]] = []
    units = Units(context.evaluator)
    module = context.module
    queue: list[FunctionOf] = []
    tool_functions = {callee.function for tool in context.tools for callee in tool.callables}
    for section in module.outline.sections:
        if section.imports:
            continue
        names_units = _names_units(module.source[section.begin : section.end])
        part = module.section(section.number)
        bodies = [units.section(module, section.number)] if names_units else []
        bodies += [
            units.function(module, function)
            for function in part.functions
            if names_units or function in tool_functions
        ]
        for flow in bodies:
            queue += flow.callees
            flows.append((module, flow))
    flows += _flows_called(context, units, queue)
    return [(of, flow) for of, flow in flows if flow.arguments or flow.meetings]


def _flows_called(
    context: Context, units: Units, queue: list[FunctionOf]
) -> Iterator[tuple[Module, UnitFlow]]:
    """The units of the functions in other modules that are called there, and of those that they call."""
    visited: set[Function | Lambda] = set()
    for _ in range(_CALLS_IN_A_ROW):
        next_queue: list[FunctionOf] = []
        for callee in queue:
            function = callee.function
            if function in visited or isinstance(function, Lambda) or callee.module is context.module:
                continue
            if not context.evaluator.modules.owns(callee.module.path):
                continue
            visited.add(function)
            if len(visited) > MOST_FUNCTIONS:
                context.evaluator.cut(
                    Site(callee.module, function.at), f"{MOST_FUNCTIONS} functions that it calls"
                )
                return
            flow = units.function(callee.module, function)
            next_queue += flow.callees
            yield callee.module, flow
        queue = next_queue


def _names_units(text: str) -> bool:
    """Whether a word of a text ends in a unit."""
    return any(len(word) < _MOST_WORD and read_name(word).readings for word in set(_WORD.findall(text)))


def is_number(context: Context, site: Site) -> bool:
    """Whether nothing shows that an expression is a text, a truth value or a record."""
    maker = maker_at(site)
    if maker is None:
        return False
    values = options(context.evaluator.eval(maker.expr, Frame(site.module, maker.scope)))
    return not any(isinstance(value, (Text, Boolean, Record)) for value in values)


def units_of(measure: Measure) -> str:
    """The units that a number may be in, as a message says them."""
    return " or ".join(f"`{name_of(unit)}`" for unit in measure.readings)


def factor_between(measure: Measure, other: Measure) -> float | None:
    """By what a number of ``measure`` is multiplied to be one of ``other``, where that is one factor."""
    if len(measure.readings) != 1 or len(other.readings) != 1 or is_absolute(measure):
        return None
    return ratio(measure.readings[0], other.readings[0])


def times(factor: float) -> str:
    """``" / 1000"``: how a number is multiplied by a factor."""
    inverse = 1 / factor
    if abs(inverse - round(inverse)) < 1e-9 * inverse and inverse > 1:
        return f" / {round(inverse)}"
    return f" * {factor:.12g}"


def title(context: Context, site: Site) -> str | None:
    """An expression as a message shows it; ``None`` where it is long."""
    text = text_at(context.project, site)
    is_shown = 0 < len(text) <= _SHOWN and text.isprintable() and "`" not in text
    return text if is_shown else None
