"""Units for a server's bare numbers: ``"tool.$.path" = "kWh"``, in data and in the schema that declares them.

A path has names and, for the elements of a list, ``[*]``.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, Sequence
from typing import Any

from gllint.errors import UsageError
from gllint_runtime.policy.settings import Policy

_STEP = re.compile(r"\.([^.\[\]]+)|\[(?:\*|\d*)\]")
_ELEMENT = "[*]"
Place = tuple[str, ...]


class UnitPlaces:
    """The units of one server's numbers, by tool and path."""

    def __init__(self, places: Mapping[str, Mapping[Place, str]]) -> None:
        self._places = places

    def has(self, tool: str) -> bool:
        """Whether a tool's numbers are given units."""
        return tool in self._places

    def in_data(self, tool: str, data: Any) -> Any:
        """The data with a Quantity where a bare number stood."""
        for place, unit in self._places.get(tool, {}).items():
            data = _with_quantity(data, place, unit)
        return data

    def in_schema(self, tool: str, schema: Any) -> Any:
        """The schema as it declares these data."""
        if not self.has(tool) or not isinstance(schema, Mapping):
            return schema
        schema = copy.deepcopy(schema)
        for place, unit in self._places[tool].items():
            _declare(schema, schema, place, unit)
        return schema


def read_places(rows: Mapping[str, str], policy: Policy) -> UnitPlaces:
    """The places of a table. Raises :class:`UsageError` for a path or a unit of no use."""
    places: dict[str, dict[Place, str]] = {}
    for key, unit in rows.items():
        tool, mark, path = key.partition(".$")
        steps = _STEP.findall(path)
        if not mark or not tool or _STEP.sub("", path):
            raise UsageError(
                f'guard: "{key}" is not of the form "tool.$.path", with [*] for the elements of a list'
            )
        if not policy.allows(unit):
            raise UsageError(
                f'guard: the unit of "{key}" is not allowed: {unit!r}. {policy.judge(unit).reason}'
            )
        places.setdefault(tool, {})[tuple(name or _ELEMENT for name in steps)] = unit
    return UnitPlaces(places)


def _with_quantity(data: Any, place: Sequence[str], unit: str) -> Any:
    if not place:
        is_number = isinstance(data, (int, float)) and not isinstance(data, bool)
        return {"value": data, "unit": unit} if is_number else data
    step, rest = place[0], place[1:]
    if step == _ELEMENT and isinstance(data, list):
        return [_with_quantity(item, rest, unit) for item in data]
    if isinstance(data, dict) and step in data:
        return {**data, step: _with_quantity(data[step], rest, unit)}
    return data


def _declare(root: Any, schema: Any, place: Sequence[str], unit: str, depth: int = 0) -> None:
    """Write a Quantity where the schema declares the number, through its own references and branches."""
    if not isinstance(schema, dict) or depth > 20:
        return
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/"):
        target = root
        for step in reference[2:].split("/"):
            target = target.get(step) if isinstance(target, dict) else None
        if isinstance(target, dict):  # a copy of its own: others refer to the same
            del schema["$ref"]
            schema.update({**copy.deepcopy(target), **schema})
    for branches in ("anyOf", "oneOf", "allOf"):
        listed = schema.get(branches)
        for branch in listed if isinstance(listed, list) else ():
            _declare(root, branch, place, unit, depth + 1)
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
    _declare(root, schema.get("items") if step == _ELEMENT else named, rest, unit, depth + 1)


def _is_number(declared: Any) -> bool:
    types = declared if isinstance(declared, list) else [declared]
    return bool({"number", "integer"}.intersection(name for name in types if isinstance(name, str)))
