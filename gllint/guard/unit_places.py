"""Units for a server's bare numbers: ``"tool.$.path" = "kWh"``, in data and in the schema that declares them.

A path has names and, for the elements of a list, ``[*]``.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gllint.errors import UsageError
from gllint_rules.project.kinds import unit_advice
from gllint_runtime.policy.parameter_units import ParameterUnits
from gllint_runtime.policy.schemas import referent
from gllint_runtime.policy.settings import Policy

_STEP = re.compile(r"\.([^.\[\]]+)|\[(?:\*|\d*)\]")
_INDEX = re.compile(r"\[\d*\]")
_ELEMENT = "[*]"
_DEEPEST = 20
_MOST_INLINED = 100  # references of one schema that are written out, so that a number of theirs gets its unit
WRAPPER = "result"  # the key under which the SDKs put what is no object, or a dictionary of no class
Place = tuple[str, ...]


class UnitPlaces:
    """The units of one server's numbers, by tool and path."""

    def __init__(self, places: Mapping[str, Mapping[Place, str]]) -> None:
        self._places = places
        # The rows that gave no number its unit.
        self._idle = {tool: dict.fromkeys(rows) for tool, rows in places.items()}
        self._asked: set[str] = set()
        self.tools: Sequence[str] = tuple(places)

    def has(self, tool: str) -> bool:
        """Return whether a tool's numbers are given units."""
        return tool in self._places

    def in_data(self, tool: str, data: Any) -> Any:
        """Return the data with a Quantity for each bare number, at the paths within ``data``."""
        self._asked.add(tool)
        for place, unit in self._places.get(tool, {}).items():
            data = self._at(tool, place, place, unit, data)
        return data

    def in_wrapped(self, tool: str, data: Any) -> Any:
        """Return data that SDKs wrap as ``{"result": …}`` with their units: a path may begin with the wrapper, or
        within it.
        """
        self._asked.add(tool)
        for place, unit in self._places.get(tool, {}).items():
            if place[:1] == (WRAPPER,):
                data = self._at(tool, place, place[1:], unit, data)
            data = self._at(tool, place, place, unit, data)
        return data

    def _at(self, tool: str, row: Place, place: Place, unit: str, data: Any) -> Any:
        changed = _with_quantity(data, place, unit)
        if row in self._idle[tool] and changed != data:
            del self._idle[tool][row]
        return changed

    def idle(self) -> list[str]:
        """Return a text for each row whose tool returned results without a number at its place."""
        return [
            f'"{tool}.${_written(place)}": no result of "{tool}" had a bare number there'
            for tool in self._places
            if tool in self._asked
            for place in self._idle[tool]
        ]

    def missing(self, tool: str, schema: Any) -> list[str]:
        """Return a text for each place that the tool's output schema, if any, does not have."""
        return [
            f'"{tool}.${_written(place)}": the output schema of "{tool}" has no such number'
            for place in self._places.get(tool, {})
            if all(_is_missing(schema, variant) for variant in _variants(schema, place))
        ]

    def in_schema(self, tool: str, schema: Any) -> Any:
        """Return the output schema with a Quantity where the configuration has a unit; the same object if it would
        grow too much.
        """
        if not self.has(tool) or not isinstance(schema, Mapping):
            return schema
        changed = copy.deepcopy(schema)
        budget = [_MOST_INLINED]
        for place, unit in self._places[tool].items():
            for variant in _variants(changed, place):
                _declare(changed, changed, variant, unit, budget)
        return changed if budget[0] >= 0 else schema


def with_declared(data: Any, units: ParameterUnits, policy: Policy, path: tuple[Any, ...] = ()) -> Any:
    """Return the data with a Quantity for each bare number whose unit the output schema declares (``x-unit``,
    ``unit``).
    """
    if isinstance(data, dict):
        return {key: with_declared(value, units, policy, (*path, key)) for key, value in data.items()}
    if isinstance(data, list):
        return [with_declared(value, units, policy, (*path, place)) for place, value in enumerate(data)]
    if not isinstance(data, (int, float)) or isinstance(data, bool):
        return data
    if path[-1:] == ("value",):  # already the number of a Quantity; so a plain field of that name stays bare
        return data
    declaration = units.at(path)
    if not declaration.is_declared or len(declaration.readings) != 1:  # none, or ambiguous
        return data
    unit = declaration.readings[0]
    return {"value": data, "unit": unit} if policy.allows(unit) else data


def place_of(tool: str, path: str) -> str | None:
    """Return the place of a number as a table names it (``$.rows[3].x``); ``None`` if it cannot be named."""
    if not tool or not path.startswith("$") or _STEP.sub("", path[1:]):
        return None
    return f"{tool}.{_INDEX.sub(_ELEMENT, path)}"


def _written(place: Place) -> str:
    return "".join(step if step == _ELEMENT else f".{step}" for step in place)


def _variants(schema: Any, place: Place) -> list[Place]:
    """Return the places in a schema that a path may mean: one that wraps a result may be left out of it."""
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if isinstance(properties, Mapping) and properties.keys() == {WRAPPER} and place[:1] != (WRAPPER,):
        return [place, (WRAPPER, *place)]
    return [place]


def _is_missing(schema: Any, place: Sequence[str], depth: int = 0) -> bool:
    """Return whether a schema lists the keys of an object without this one; an open schema may have any key."""
    if not isinstance(schema, Mapping) or not place or depth > _DEEPEST:
        return False
    if any(key in schema for key in ("$ref", "anyOf", "oneOf", "allOf", "additionalProperties")):
        return False
    step, rest = place[0], place[1:]
    if step == _ELEMENT:
        return _is_missing(schema.get("items"), rest, depth + 1)
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or not properties or properties.keys() == {WRAPPER}:
        return False
    return step not in properties or _is_missing(properties[step], rest, depth + 1)


def read_places(
    rows: Mapping[str, str], policy: Policy, where: Callable[[str], str] = lambda key: ""
) -> UnitPlaces:
    """Return the units of a table ``{"meter.$.rows[*].heat": "kWh"}``; ``where`` gives the file and line of a key
    for errors.

    Raises :class:`UsageError` for a malformed path and for a unit that is not allowed.
    """
    places: dict[str, dict[Place, str]] = {}
    for key, unit in rows.items():
        tool, mark, path = key.partition(".$")
        steps = _STEP.findall(path)
        if not mark or not tool or _STEP.sub("", path):
            raise UsageError(
                f'{where(key)}guard: "{key}" is not of the form "tool.$.path", with [*] for the elements of a list'
            )
        if not policy.allows(unit):
            raise UsageError(
                f'{where(key)}guard: the unit of "{key}" is not allowed: {unit!r}. {_remedy(unit, policy)}'
            )
        places.setdefault(tool, {})[tuple(name or _ELEMENT for name in steps)] = unit
    return UnitPlaces(places)


def _remedy(unit: str, policy: Policy) -> str:
    if not unit.strip():
        return "It is empty: fill it in, or take the line away"
    verdict = policy.judge(unit)
    return f"{verdict.reason} {unit_advice(policy, verdict)}"


def _with_quantity(data: Any, place: Sequence[str], unit: str) -> Any:
    """Return the data with a Quantity in place of the number at ``place``: ``("heat",)`` of ``{"heat": 5}``."""
    if not place:
        is_number = isinstance(data, (int, float)) and not isinstance(data, bool)
        return {"value": data, "unit": unit} if is_number else data
    step, rest = place[0], place[1:]
    if step == _ELEMENT and isinstance(data, list):
        return [_with_quantity(item, rest, unit) for item in data]
    if isinstance(data, dict) and step in data:
        return {**data, step: _with_quantity(data[step], rest, unit)}
    return data


def _declare(
    root: Any,
    schema: Any,
    place: Sequence[str],
    unit: str,
    budget: list[int],
    within: frozenset[str] = frozenset(),
    depth: int = 0,
) -> None:
    """Write a Quantity into the schema where it declares the number at ``place``, also behind references and branches.

    ``within`` are the references since the last step into the data, which would only repeat. ``budget`` is how many
    references may still be written out; it is negative if that was not enough.
    """
    if not isinstance(schema, dict) or depth > _DEEPEST or budget[0] < 0:
        return
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/"):
        target = referent(root, reference)
        if isinstance(target, dict) and reference not in within:
            within |= {reference}
            budget[0] -= 1
            # A copy of its own: others refer to the same.
            del schema["$ref"]
            schema.update({**copy.deepcopy(target), **schema})
    for branches in ("anyOf", "oneOf", "allOf"):
        listed = schema.get(branches)
        for branch in listed if isinstance(listed, list) else ():
            _declare(root, branch, place, unit, budget, within, depth + 1)
    if not place:
        if _is_number(schema.get("type")):
            described = {key: schema[key] for key in ("title", "description") if key in schema}
            value = {key: item for key, item in schema.items() if key not in described}
            schema.clear()
            quantity = {"value": value, "unit": {"const": unit}}
            schema.update(
                {**described, "type": "object", "properties": quantity, "required": ["value", "unit"]}
            )
        return
    step, rest = place[0], place[1:]
    properties = schema.get("properties")
    named = properties.get(step) if isinstance(properties, dict) else None
    _declare(root, schema.get("items") if step == _ELEMENT else named, rest, unit, budget, depth=depth + 1)


def _is_number(declared: Any) -> bool:
    types = declared if isinstance(declared, list) else [declared]
    return bool({"number", "integer"}.intersection(name for name in types if isinstance(name, str)))
