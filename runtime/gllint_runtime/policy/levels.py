"""What a violation does: it blocks, it warns, or it is only in the trace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

from gllint_runtime.policy.errors import HINTS

Level = Literal["block", "warn", "shadow"]
Levels = Level | tuple[tuple[str, Level], ...]
"""One level for all codes, or those of some codes; the others block."""

LEVELS: tuple[Level, ...] = get_args(Level)

ALWAYS_BLOCK = frozenset(
    {
        *("UNSAFE_TEXT", "EGRESS_BLOCKED", "APPROVAL_DENIED", "STEP_SCHEMA", "ARGS_SCHEMA"),
        *("SESSION_SHARED", "SESSION_SIGNATURE"),
    }
)
"""What no level lets through: text that rewrites a screen, effects without approval, what cannot be read at all."""


def levels_of(value: Any) -> Levels:
    """Return the setting ``levels`` as a policy keeps it: ``{"NO_SOURCE": "warn"}`` → ``(("NO_SOURCE", "warn"),)``.

    A single level (``"warn"``) is returned unchanged. Raises ValueError or TypeError for an unknown code or level.
    """
    if isinstance(value, str):
        if value not in LEVELS:
            raise ValueError(f"levels: {value!r} is not a level; the levels are {', '.join(LEVELS)}")
        return value
    rows = value.items() if isinstance(value, Mapping) else value
    if not isinstance(value, Mapping | tuple | list):
        raise TypeError(f"levels must be a level, or a mapping of codes to levels, got {value!r}")
    levels = dict(rows)
    for code, level in levels.items():
        if code not in HINTS:
            raise ValueError(f"levels: unknown code {code!r}")
        if level not in LEVELS:
            raise ValueError(f"levels: {level!r} is not a level; the levels are {', '.join(LEVELS)}")
        if code in ALWAYS_BLOCK and level != "block":
            raise ValueError(f"levels: {code} always blocks")
    return tuple(sorted(levels.items()))


def level_of(levels: Levels, code: str) -> Level:
    """Return the level of a violation with this code: ``(("NO_SOURCE", "warn"),)``, ``"NO_SOURCE"`` → ``"warn"``."""
    # A number without a unit is no fault by itself, so that a level for all codes does not block it.
    if code == "NO_UNIT":
        return "shadow" if isinstance(levels, str) else dict(levels).get(code, "shadow")
    if levels == "block" or code in ALWAYS_BLOCK:
        return "block"
    if isinstance(levels, str):
        return levels
    return dict(levels).get(code, "block")
