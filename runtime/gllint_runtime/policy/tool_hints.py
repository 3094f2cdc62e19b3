"""What MCP's annotations of a tool say, and the categories of this policy: each as the other."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal

from gllint_runtime.policy.data_files import read

Effect = Literal["network", "write", "delete"]

VERIFIERS = ("verify_answer", "gllint_verify_answer")
"""The tool that the guard adds, which says back what it is given to check, and its other name."""

# What a hint promises: the hint, its value, and the effects that it denies.
PROMISES: tuple[tuple[str, bool, frozenset[Effect]], ...] = (
    ("readOnlyHint", True, frozenset({"write", "delete"})),
    ("destructiveHint", False, frozenset({"delete"})),
    ("openWorldHint", False, frozenset({"network"})),
)
# What a tool without the hint is taken for, as MCP has it.
_DEFAULTS = {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": True}


@cache
def _hints() -> Mapping[str, Mapping[str, bool]]:
    table: Mapping[str, Mapping[str, bool]] = json.loads(read("tool_hints.json"))
    return table


def hints_of(category: str) -> dict[str, bool]:
    """Return the annotations of a tool of a category, such as ``"READ_ONLY"``. Raises KeyError for what is none."""
    return dict(_hints()[category])


def category_of_hints(hints: Mapping[str, Any] | None) -> str:
    """Return the category of a tool with these MCP annotations.

    ``{"readOnlyHint": True, "openWorldHint": False}`` → READ_ONLY.

    A missing annotation has MCP's default: a tool without any is ``"EXTERNAL"``.
    """
    said = hints if isinstance(hints, Mapping) else {}
    is_so = {
        name: value if isinstance(value := said.get(name), bool) else default
        for name, default in _DEFAULTS.items()
    }
    if is_so["openWorldHint"]:
        return "EXTERNAL"
    if is_so["readOnlyHint"]:
        return "READ_ONLY"
    return "MODIFICATION" if is_so["destructiveHint"] else "NOTE_TAKING"


def is_verifier(tool: str) -> bool:
    """Return whether a tool is the guard's own; clients write its server before its name
    (``mcp__weather__verify_answer``).
    """
    return tool.rpartition("__")[2] in VERIFIERS
