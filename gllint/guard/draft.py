"""A first draft of the units of a server's bare numbers: all that its schemas declare, open where nothing shows one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from gllint.guard.exchange import is_mark, output_of
from gllint.shown import quoted, toml_key, visible
from gllint_runtime.policy.names import read_name
from gllint_runtime.policy.schema_numbers import find_raw_numbers, property_of
from gllint_runtime.policy.schemas import subschemas
from gllint_runtime.policy.settings import Policy

_MOST_READ = 10_000  # parts of one schema
_MOST_LISTED = 6  # tools that a comment names


def draft(
    name: str,
    tools: Sequence[tuple[str, Any]],
    policy: Policy,
    prefix: str = "",
    present: Mapping[str, Any] | None = None,
) -> str:
    """Return a draft of the table ``guard.NAME.units`` for ``tools``, names with output schemas, as TOML.

    ``"meter.$.heat_kwh" = "kWh"``, with empty units as comments where the name says none. ``prefix`` is that of
    the file's headings (``"tool.gllint."``). ``present`` has the units that the file has for this server: then all
    lines are comments, which may be added any number of times.
    """
    heading = f"[{prefix}guard.{toml_key(name)}.units]"
    rows = [row for tool, schema in tools for row in _rows(tool, schema, policy, present or {})]
    rows += _by_hand(tools, policy)
    has_places = any(row.removeprefix("# ").startswith('"') for row in rows)
    if present is not None:
        if not has_places:
            return f"# {heading} is here already and names all bare numbers that the server declares.\n"
        lines = [f"# {heading} is here already; move these lines there:", *rows]
        return "\n".join(line if line.startswith("# ") else f"# {line}" for line in lines) + "\n"
    lines = [heading]
    if not prefix:
        lines.insert(0, f"# For gllint.toml; in a pyproject.toml the heading is [tool.gllint.{heading[1:]}.")
    if not has_places:
        lines.append("# No tool declares a bare number in an output schema.")
    return "\n".join([*lines, *rows]) + "\n"


def _by_hand(tools: Sequence[tuple[str, Any]], policy: Policy) -> Iterator[str]:
    """Yield comments on the tools whose schemas name none of their numbers, one for all that have the same cause."""
    without = [tool for tool, schema in tools if not isinstance(schema, Mapping)]
    nameless = [
        tool
        for tool, schema in tools
        if isinstance(schema, Mapping) and not [*_rows(tool, schema, policy, {})] and names_nothing(schema)
    ]
    for group, one, several in (
        (without, "has no output schema", "have no output schemas"),
        (nameless, *(f"{verb} that {rest}" for verb, rest in _NAMELESS)),
    ):
        if not group:
            continue
        first = visible(group[0])
        what, its = (one, "its") if len(group) == 1 else (several, "their")
        yield (
            f"# {_listed(group)} {what}: write a line for each of {its} numbers by hand, such as: "
            f'"{first}.$.NAME" = "UNIT"; the guard names those that a result has'
        )


_NAMELESS = (
    ("has an output schema", "does not name its parts"),
    ("have output schemas", "do not name their parts"),
)


def _listed(tools: Sequence[str]) -> str:
    names = [visible(tool) for tool in tools[:_MOST_LISTED]]
    if len(tools) > len(names):
        return f"{', '.join(names)} and {len(tools) - len(names)} more"
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def _rows(tool: str, schema: Any, policy: Policy, present: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines for the bare numbers that a schema declares.

    Example: ``"meter.$.heat_kwh" = "kWh"  # its name says so``.
    """
    for path in find_raw_numbers(schema, policy.is_plain, policy.allows):
        if (place := _data_path(path)) is None:
            continue
        if f"{tool}.{place}" in present:
            continue
        if not tool or not _is_writable(f"{tool}{place}"):
            yield f"# {visible(f'{tool}.{place}')}: no configuration can name it."
            continue
        unit = read_name(property_of(path[:-1]) or "").unit
        row = quoted(f"{tool}.{place}")
        if unit is not None and policy.allows(unit):
            yield f"{row} = {quoted(unit)}  # its name says so"
        else:
            yield f'# {row} = ""'


def schema_of(data: Any) -> dict[str, Any]:
    """Return an output schema that ``data`` fit.

    ``{"heat": 5}`` → an object with the number ``heat``; ``{}`` for text.
    """
    if isinstance(data, Mapping):
        return {"type": "object", "properties": {str(key): schema_of(value) for key, value in data.items()}}
    if isinstance(data, list):
        items: dict[str, Any] = {}
        for item in data[:_MOST_READ]:
            items = union(items, schema_of(item))
        return {"type": "array", "items": items}
    return {"type": "number"} if isinstance(data, (int, float)) and not isinstance(data, bool) else {}


def union(schema: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Return a schema with the properties and elements of both; of two different types the one that says more."""
    if schema.get("type") != other.get("type"):
        return schema if len(schema) >= len(other) else other
    if "items" in schema:
        return {**schema, "items": union(schema["items"], other["items"])}
    if "properties" in schema:
        ours, theirs = schema["properties"], other["properties"]
        joint = {key: union(ours[key], theirs[key]) for key in ours if key in theirs}
        return {**schema, "properties": {**ours, **theirs, **joint}}
    return schema


def schemas_in(lines: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return an output schema for each tool in a trace of the guard, made of its results.

    Raises ValueError for no JSON.
    """
    schemas: dict[str, dict[str, Any]] = {}
    calls: dict[Any, str] = {}
    for line in lines:
        entry = json.loads(line) if line.strip() else None
        message = entry.get("message") if isinstance(entry, Mapping) else None
        if not isinstance(entry, Mapping) or not isinstance(message, Mapping):
            continue
        key = entry.get("session_id"), json.dumps(message.get("id"))
        params, result = message.get("params"), message.get("result")
        if message.get("method") == "tools/call" and isinstance(params, Mapping):
            calls[key] = str(params.get("name"))
        elif isinstance(result, dict) and key in calls and not result.get("isError"):
            blocks = [block for block in result.get("content") or () if not is_mark(block)]
            tool, schema = calls.pop(key), schema_of(output_of({**result, "content": blocks}))
            schemas[tool] = union(schemas[tool], schema) if tool in schemas else schema
    return schemas


def names_nothing(schema: Mapping[str, Any]) -> bool:
    """Return whether an object in the schema may have members that the schema does not name."""
    return any(
        isinstance(node, Mapping)
        and node.get("type") == "object"
        and (not node.get("properties") or bool(node.get("additionalProperties")))
        for _, node in islice(subschemas(schema), _MOST_READ)
    )


def _data_path(path: Sequence[str | int]) -> str | None:
    """Return the path in the data of a place in the schema: ``("properties", "rows", "items")`` → ``"$.rows[*]"``.

    ``None`` for a key with a dot or bracket, and below ``$defs`` and the like.
    """
    steps = ["$"]
    words = iter(path)
    for word in words:
        if word == "properties":
            name = str(next(words, ""))
            if not name or any(char in name for char in ".[]"):
                return None
            steps.append(f".{name}")
        elif word in ("items", "prefixItems"):
            steps.append("[*]")
        elif word in ("$defs", "definitions", "additionalProperties", "patternProperties"):
            return None
    return "".join(steps)


def _is_writable(text: str) -> bool:
    """Return whether a text has no half of a character, which JSON can write and TOML cannot."""
    return not any("\ud800" <= sign <= "\udfff" for sign in text)
