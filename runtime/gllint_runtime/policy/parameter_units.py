"""In which unit a tool takes a number: by the schema of its arguments, or by the end of the argument's name.

A declaration (``x-unit``, the unit of a Quantity that the schema writes out) goes before the name; a declaration that
is no unit leaves it unknown. A path is that of the data, and the schema is followed along with it: through local
references, branches, properties and items.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Any, NamedTuple

from gllint_runtime.policy.lock_free import cached_property
from gllint_runtime.policy.names import read_name
from gllint_runtime.policy.schema_numbers import declared_unit
from gllint_runtime.policy.schemas import QUANTITY_KEYS, QUANTITY_REF, Path, alternatives, subschemas
from gllint_runtime.policy.unit_table import units

BASIS_KEYWORD = "x-basis"

_MOST_PATHS = 1000
_NUMERIC = frozenset({"number", "integer"})


@lru_cache(maxsize=8192)
def argument_units(name: str) -> tuple[str, ...]:
    """Return the units that an argument may be in by its name.

    ``heat_kwh`` → ``kWh``; ``amount_cents`` → ``USD_cent``, ….
    """
    parts = _units_by_part()
    readings = [unit for reading in read_name(name).readings for unit in parts.get(reading, (reading,))]
    # Of `MWh` and `mWh` the first, unless only the rare one is possible.
    usual = [unit for unit in readings if unit not in units() or "doubt" not in units()[unit].packs]
    return tuple(usual or readings)


@cache
def _units_by_part() -> Mapping[str, tuple[str, ...]]:
    """Return the units of each part of a currency that names leave open.

    ``"cent"`` → ``("USD_cent", "EUR_cent", …)``.
    """
    parts: dict[str, tuple[str, ...]] = {}
    for unit in units():
        code, _, end = unit.partition("_")
        if end and len(code) == 3 and code.isupper():
            # Names say "cents" for the hundredth of any currency, pence and centavos included.
            part = {"milli": "milliunit", "micro": "microunit"}.get(end, "cent")
            parts[part] = (*parts.get(part, ()), unit)
    return parts


class ParameterUnit(NamedTuple):
    """In which unit a number is taken.

    ``readings`` are the units that it may be, as they are written: none if it is unknown, several if a name can
    be read in several ways, or a schema lists them. ``name`` is what the number is called; ``takes_quantity``,
    ``takes_number`` and ``takes_text`` say what the schema asks for there, ``is_declared`` whether it says the unit.
    ``basis`` is the convention that the schema declares for the quantity. ``sources``
    are those from whom alone the value may come (``x-source``: "user", "tool", "constant", "any").
    """

    readings: tuple[str, ...] = ()
    name: str = ""
    takes_quantity: bool = False
    takes_number: bool = False
    takes_text: bool = False
    sources: tuple[str, ...] = ()
    is_declared: bool = False
    basis: str | None = None
    takes_integer: bool = False  # and no other number
    takes_shape: bool = False  # an object with more keys than a Quantity has, or with others

    def as_taken(self, value: Any) -> Any:
        """Return a converted number as the parameter's type has it: 1250 for 1250.0 where an integer is asked for."""
        return int(value) if self.takes_integer and isinstance(value, float) and value.is_integer() else value


class ParameterUnits:
    """The units of one tool's parameters; without a schema those that their names end in."""

    def __init__(self, schema: Any = None) -> None:
        self._schema = schema if isinstance(schema, Mapping) else {}
        self._of_path: dict[Path, ParameterUnit] = {}
        self._offered: dict[Path, tuple[Any, ...]] = {}

    def at(self, path: Path) -> ParameterUnit:
        """Return what is declared or named for the argument at ``path``.

        ``("rows", 0, "heat_kwh")`` → the unit ``kWh``.
        """
        unit = self._of_path.get(path)
        if unit is None:
            path = tuple(
                ["[]" if type(step) is int else step for step in path]
            )  # all elements of a list are alike
            unit = self._of_path.get(path) or self._resolved(path)
            if len(self._of_path) < _MOST_PATHS:
                self._of_path[path] = unit
        return unit

    def offered(self, path: Path) -> tuple[Any, ...]:
        """Return the values that the schema offers at ``path``: its ``const``, ``default`` and ``enum``."""
        values = self._offered.get(path)
        if values is None:
            path = tuple(["[]" if type(step) is int else step for step in path])
            values = self._offered.get(path)
            if values is None:
                values = tuple(self._offered_at(path))
                if len(self._offered) < _MOST_PATHS:
                    self._offered[path] = values
        return values

    def _offered_at(self, path: Path) -> Iterator[Any]:
        """Yield the values that the schema offers at a path: constants, defaults and choices."""
        nodes = alternatives(self._schema, [self._schema])
        for step in path:
            nodes = alternatives(self._schema, _inner(nodes, step))
        for node in nodes:
            choices = node.get("enum")
            listed = choices if isinstance(choices, (list, tuple)) else ()
            for value in (*(node[key] for key in ("const", "default") if key in node), *listed):
                if not isinstance(value, bool):
                    yield value

    @cached_property
    def numeric_only(self) -> frozenset[str]:
        """The names of arguments that accept a number with a unit, but no text.

        So a string that the model passes for one can be read as a number with its unit (``"12.5 kWh"``).
        """
        declared = self._schema.get("properties")
        names = [name for name in declared if isinstance(name, str)] if isinstance(declared, Mapping) else []
        units = {name: self.at((name,)) for name in names}
        return frozenset(
            name
            for name, unit in units.items()
            if unit.readings and unit.takes_number and not unit.takes_text
        )

    @cached_property
    def declares(self) -> bool:
        """Return whether the schema declares anything at all of units or bases."""
        return any(
            isinstance(node, Mapping) and (BASIS_KEYWORD in node or declared_unit(node) is not None)
            for _, node in subschemas(self._schema)
        )

    def _resolved(self, path: Path) -> ParameterUnit:
        """Return what the schema and the name say about the parameter at ``path``: the innermost declaration counts."""
        nodes = alternatives(self._schema, [self._schema])
        declared: list[str] = []
        sources = _sources(nodes)
        bases: list[str] = []
        name = ""
        for step in path:
            if step != "[]":  # what an object declares is not said of its members
                name, declared, bases = str(step), [], []
            nodes = alternatives(self._schema, _inner(nodes, step))
            declared = [*_declared(nodes)] or declared
            sources = _sources(nodes) or sources
            bases = [b for node in nodes if isinstance(b := node.get(BASIS_KEYWORD), str)] or bases
        takes_quantity = any(_is_quantity(node) for node in nodes)
        types = frozenset(name for node in nodes for name in _types(node))
        readings = tuple(dict.fromkeys(declared)) or argument_units(name)
        return ParameterUnit(
            readings,
            name,
            takes_quantity,
            takes_number=not _NUMERIC.isdisjoint(types),
            takes_text="string" in types,
            sources=sources,
            is_declared=bool(declared),
            basis=bases[0] if len(set(bases)) == 1 else None,
            takes_integer="integer" in types and "number" not in types,
            takes_shape=any(map(_has_other_keys, nodes)),
        )


def _inner(nodes: list[Mapping[Any, Any]], step: Any) -> list[Any]:
    """Return the schemas of the member ``step``, or of any element for ``"[]"``, of a value with the schemas
    ``nodes``.
    """
    if step == "[]":
        return [child for node in nodes for child in _elements(node)]
    return [child for node in nodes for child in _members(node, step)]


def _members(node: Mapping[Any, Any], name: Any) -> Iterator[Any]:
    properties = node.get("properties")
    if isinstance(properties, Mapping) and name in properties:
        yield properties[name]
    else:
        yield node.get("additionalProperties")


def _elements(node: Mapping[Any, Any]) -> Iterator[Any]:
    yield node.get("items")
    if isinstance(prefix := node.get("prefixItems"), (list, tuple)):
        yield from prefix


def _declared(nodes: list[Mapping[Any, Any]]) -> Iterator[str]:
    """Yield the units that the schemas of one value declare, by keyword or as the ``const`` or ``enum`` of a
    Quantity's unit.
    """
    for node in nodes:
        if (declared := declared_unit(node)) is not None:
            yield declared.unit
        if not _is_quantity(node) or not isinstance(properties := node.get("properties"), Mapping):
            continue
        if isinstance(unit := properties["unit"], Mapping):
            offered = [unit["const"]] if "const" in unit else unit.get("enum")
            if isinstance(offered, (list, tuple)):
                yield from (text for text in offered if isinstance(text, str))


def _sources(nodes: list[Mapping[Any, Any]]) -> tuple[str, ...]:
    """From whom the schemas of one value take it."""
    return tuple(source for node in nodes if isinstance(source := node.get("x-source"), str))


def _is_quantity(node: Mapping[Any, Any]) -> bool:
    if node.get("$ref") == QUANTITY_REF:
        return True
    properties = node.get("properties")
    return isinstance(properties, Mapping) and properties.keys() >= QUANTITY_KEYS


def _has_other_keys(node: Mapping[Any, Any]) -> bool:
    properties = node.get("properties")
    return isinstance(properties, Mapping) and properties.keys() != QUANTITY_KEYS


def _types(node: Mapping[Any, Any]) -> Iterator[str]:
    declared = node.get("type")
    names = declared if isinstance(declared, (list, tuple)) else (declared,)
    yield from (name for name in names if isinstance(name, str))
