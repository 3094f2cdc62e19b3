"""The literal units of a module: in Quantities of results and claims, in ``Quantity(…)`` calls and in schemas."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from gllint_rules.inference.values import Literal, Record, Site, Text, options
from gllint_rules.project.context import Context
from gllint_rules.project.results import QuantityLeaf, quantities
from gllint_rules.project.schemas import keyword_schemas
from gllint_rules.project.shapes import is_shaped, unit_in_shape
from gllint_rules.project.templates import claim_entries
from gllint_rules.reading import facts
from gllint_rules.tuples import NamedTuple
from gllint_rules.words.names import ARGS_SCHEMA, OUTPUT_SCHEMAS, QUANTITY
from gllint_runtime.policy.names import read_name
from gllint_runtime.policy.schema_numbers import declared_units
from gllint_runtime.policy.unit_table import units_of
from gllint_runtime.policy.units import UnitVerdict, is_allowed, is_same_size, unit_dimension


class WrittenUnit(Struct, frozen=True, eq=False):
    """A literal unit with its place, the verdict of the policy, and the Quantity that has it."""

    site: Site
    verdict: UnitVerdict
    quantity: QuantityLeaf


def context_quantities(context: Context) -> Iterator[QuantityLeaf]:
    """Yield all Quantities that the unit rules check."""
    for result in context.results:
        yield from quantities(result.value, result.site, policy=context.policy)
    for claim in claim_entries(context):
        if isinstance(claim.value, Record):
            for entry in claim.value.entries.get("quantity", ()):
                yield from quantities(entry.value, entry.site, None, entry)
    for call, scope in context.module.calls_of({QUANTITY}):
        if facts.last_name(call.func) == QUANTITY and context.touches_tools:
            yield from quantities(context.eval(call, scope), Site(context.module, call.at))


def variable(context: Context, at: int) -> tuple[str, int] | None:
    """Return the name and place of the variable that a dict or call of the module is assigned to, else None."""
    part = context.module.section_of(at)
    for names in (part.bound, *(function.scope.bindings for function in part.functions)):
        for name, bindings in names.items():
            for binding in bindings:
                value = binding.value
                if isinstance(value, (facts.Dict, facts.Call)) and value.at == at and binding.at >= 0:
                    return name, binding.at
    return None


class Contradiction(NamedTuple):
    """A name that implies another unit than its Quantity has, and the units that it may imply."""

    name: str
    site: Site
    announced: tuple[str, ...]


_TIMES = ("time", "year")
_LOOSE = frozenset({("ton", "t")})  # `mass_tons` is said of both


def contradicting_names(context: Context, unit: WrittenUnit) -> Iterator[Contradiction]:
    """Yield the key and the variable of a Quantity, if all units that they may imply differ from its own."""
    if unit.verdict.dimension is None:
        return
    quantity = unit.quantity
    carriers = [(quantity.key, quantity.key_site)] if quantity.key else []
    site = quantity.record.site
    if site is not None and site.module is context.module:
        named = variable(context, site.at)
        if named is not None:
            carriers.append((named[0], Site(context.module, named[1])))
    for name, where in carriers:
        reading = read_name(name)
        is_listed = quantity.list_site is not None
        if is_listed and unit_dimension(reading.unit or "") in _TIMES:
            continue  # `"months": [{…}]` names the elements of the list
        things = units_of("counts")
        if reading.unit in things and (is_listed or unit.verdict.symbol not in things):
            continue  # `"rows": {…, "unit": "kWh"}` is the energy of the rows
        announced = reading.readings
        if announced and all(_conflicts(reading, unit.verdict) for reading in announced):
            yield Contradiction(name, where, announced)


def _conflicts(announced: str, verdict: UnitVerdict) -> bool:
    """Return whether a name and a Quantity have different units, if both are known."""
    carried = verdict.nearest or verdict.symbol
    if (announced, carried) in _LOOSE:
        return False
    dimension, other = unit_dimension(announced), unit_dimension(carried)
    if other is None and is_allowed(announced):  # pint knows it, and has no names for our packs' dimensions
        other = verdict.dimension
    if dimension is None or other is None:
        return False
    return dimension != other or is_same_size(announced, carried) is False


class SchemaUnitPlace(Struct, frozen=True, eq=False):
    """A unit that a schema declares for a number, with its place and the verdict of the policy."""

    site: Site
    verdict: UnitVerdict


def schema_units(context: Context) -> Iterator[SchemaUnitPlace]:
    """Yield each unit that literal schemas of the module declare for the numbers of results and arguments.

    In a schema of arguments only `x-unit` counts: the other keywords describe the tool.
    """
    sites: set[Site] = set()
    for keyword_schema in keyword_schemas(context, (*OUTPUT_SCHEMAS, ARGS_SCHEMA)):
        for path, unit in declared_units(keyword_schema.schema.data):
            site = keyword_schema.schema.place(path)
            if site not in sites and (keyword_schema.name != ARGS_SCHEMA or path[-1] == "x-unit"):
                sites.add(site)
                yield SchemaUnitPlace(site, context.policy.judge(unit))


def named_units(context: Context) -> Iterator[WrittenUnit | SchemaUnitPlace]:
    """Yield all literal units of the module, those of Quantities and those that schemas declare."""
    yield from written_units(context)
    yield from schema_units(context)


def written_units(context: Context, *, every: bool = False) -> Iterator[WrittenUnit]:
    """Yield each literal unit once, or with ``every`` once for each Quantity, with the verdict of the policy."""
    sites: set[Site] = set()
    for quantity in context_quantities(context):
        if is_shaped(quantity.record, context.policy):
            shaped = unit_in_shape(quantity.record, context.policy)
            if shaped is not None and (every or shaped.site not in sites):
                sites.add(shaped.site)
                yield WrittenUnit(shaped.site, context.policy.judge(shaped.unit), quantity)
            continue
        for entry in quantity.record.entries.get("unit", ()):
            for option in options(entry.value):
                if not isinstance(option, Text) or option.literal is None or not option.parts:
                    continue
                first = option.parts[0]
                assert isinstance(first, Literal)
                site = first.site if len(option.parts) == 1 else entry.site
                if every or site not in sites:
                    sites.add(site)
                    yield WrittenUnit(site, context.policy.judge(option.literal), quantity)
