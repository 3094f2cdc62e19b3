"""What a kind of number is called, and the unit that a key of that kind shows; floor 1 tells the kind of a key."""

from __future__ import annotations

from collections.abc import Mapping

from gllint_runtime.policy.key_kinds import deciding_kind, kind_of_name, kind_of_unit, words_of
from gllint_runtime.policy.key_units import announced_dimension
from gllint_runtime.policy.number_kinds import KINDS, Kind

__all__ = [
    "KINDS",
    "PLAIN",
    "TITLES",
    "Kind",
    "contradicts",
    "deciding_kind",
    "is_calendar",
    "kind_of_name",
    "kind_of_unit",
    "words_of",
]

PLAIN: frozenset[Kind] = frozenset({"identifier", "index"})
"""Kinds that are no quantities: a project declares their keys as plain."""

TITLES: Mapping[str | None, str] = {
    None: "number",
    **{kind: kind for kind in KINDS if kind != "money"},
    "money": "amount of money",
}
"""How a message calls a number of each kind."""

# What a name of a measure is a measure of.
_DIMENSIONS = {
    "weight": "mass", "mass": "mass", "energy": "energy", "power": "power", "area": "area", "volume": "volume",
    **dict.fromkeys(("temperature", "temp"), "temperature"),
    **dict.fromkeys(("height", "width", "depth", "distance", "altitude", "elevation", "radius", "diameter"), "length"),
}  # fmt: skip
_CALENDAR = frozenset({"year", "month", "day", "hour", "minute", "second", "week", "weekday", "quarter"})


def contradicts(name: str, unit: str) -> bool:
    """Whether a name says that it is of another dimension than a unit: no ``molecular_weight`` is in ``MW``."""
    dimension = _DIMENSIONS.get((words_of(name) or [""])[-1])
    return dimension is not None and announced_dimension(unit) != dimension


def is_calendar(name: str) -> bool:
    """Whether a name is a part of a date or of a time of day, which is no duration: ``year``, ``start_hour``."""
    words = words_of(name)
    return bool(words) and words[-1] in _CALENDAR
