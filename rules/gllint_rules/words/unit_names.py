"""The unit that a name announces: ``annual_kwh``, ``price_usd_per_kwh``."""

from __future__ import annotations

import re

from gllint_runtime.policy.units import ALLOWED_UNITS, TIME_UNITS, UNIT_SUFFIXES

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_EMISSIONS = re.compile(r"_(?:(kg|g|t)_co2e|co2e_(kg|g|t))(?=_|$)")
_RELATING = frozenset({"from", "of", "to", "versus", "vs"})
"""Words that say that the unit behind them is another number's, or what it is turned into."""
_OTHERS = frozenset(
    {
        "mol",
        "mmol",
        "umol",
        "g",
        "mg",
        "ug",
        "ng",
        "l",
        "ml",
        "dl",
        "ul",
        "cm",
        "mm",
        "nm",
        "cal",
        "kcal",
        "kj",
    }
)
"""Units that no name of ours ends in: before one of ours they make a compound of it (``uptake_mol_kg``)."""
_DIVISORS = frozenset({"area", "energy", "time", "volume", "year"})
"""What a unit at the end of a name divides the unit before it by, without a ``per``."""


def unit_of_name(name: str) -> str | None:
    """The unit that a snake_case name announces by its last words, or ``None``.

    ``annual_kwh`` gives kWh, ``intensity_kwh_m2`` and ``intensity_kwh_per_m2`` both kWh/m2,
    ``price_usd_per_kwh`` USD/kWh, ``total_kg_co2e`` kgCO2e. A word on either side of ``per`` that is
    no unit makes the whole unknown, and so does one that says that the unit is not
    this number's (``kwh_to_mj``, ``share_of_kwh``, ``at_rate_10_percent``).
    """
    words = _EMISSIONS.sub(r"_\1\2co2e", "_" + _CAMEL.sub("_", name).lower()).split("_")
    found: list[str] = []
    is_divided = False
    while words:
        word = words.pop()
        unit = UNIT_SUFFIXES.get(word) or (word if word in TIME_UNITS and len(word) > 1 else None)
        if unit is None:
            is_share_by_name = word.isdigit() and found[:1] in (["%"], ["percent"])
            if (
                is_divided
                or is_share_by_name
                or word in TIME_UNITS
                or word in _RELATING
                or word in _OTHERS
                or words[-1:] == ["per"]
            ):
                return None
            break
        if found and not is_divided:
            kinds = _kind(unit), _kind(found[0])
            if set(kinds) == {"emissions", "mass"}:
                return None  # a ton of which kind?
            if kinds[1] not in _DIVISORS or kinds[0] in (kinds[1], "dimensionless", "temperature"):
                break
        found.insert(0, unit)
        is_divided = words[-1:] == ["per"]
        if is_divided:
            words.pop()
    if is_divided or "per" in words or not found or found[0] in TIME_UNITS:
        return None
    return "/".join(found)


def _kind(unit: str) -> str:
    return ALLOWED_UNITS.get(unit) or TIME_UNITS[unit]
