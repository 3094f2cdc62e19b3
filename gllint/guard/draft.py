"""A first draft of the units of a server's bare numbers: all that its schemas declare, open where nothing shows one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gllint_runtime.policy.key_units import unit_of_name
from gllint_runtime.policy.schema_numbers import find_raw_numbers, property_of
from gllint_runtime.policy.settings import Policy


def draft(name: str, tools: Sequence[tuple[str, Any]], policy: Policy) -> str:
    """The table for ``[tool.gllint.guard.NAME.units]``; ``tools`` are names with their output schemas."""
    lines = [f"[tool.gllint.guard.{_key(name)}.units]"]
    lines += [line for tool, schema in tools for line in _rows(tool, schema, policy)]
    if len(lines) == 1:
        lines.append("# No tool declares a bare number in an output schema.")
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    return name if name.replace("-", "").replace("_", "").isalnum() and name.isascii() else json.dumps(name)


def _rows(tool: str, schema: Any, policy: Policy) -> Iterator[str]:
    if not isinstance(schema, Mapping):
        yield f'# {_shown(tool)}: it has no output schema; name its numbers as "{_shown(tool)}.$.path".'
        return
    try:
        places = [*find_raw_numbers(schema, policy.is_plain, policy.allows)]
    except RecursionError:
        yield f"# {_shown(tool)}: its output schema is nested too deeply to read."
        return
    for path in places:
        if (place := _data_path(path)) is None:
            continue
        unit = unit_of_name(property_of(path[:-1]) or "")
        row = json.dumps(f"{tool}.{place}", ensure_ascii=False)
        if unit is not None and policy.allows(unit):
            yield f"{row} = {json.dumps(unit, ensure_ascii=False)}  # its name says so"
        else:
            yield f'# {row} = ""'


def _data_path(path: Sequence[str | int]) -> str | None:
    """Where in the data a place of the schema leads to; ``None`` where it has no place of its own."""
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


def _shown(text: str) -> str:
    return text.replace("\n", " ").replace("\r", " ")
