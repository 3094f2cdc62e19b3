"""The units that are always known, by name: seed 000's allowlist, units of time, words at the end of a name."""

from __future__ import annotations

from collections.abc import Mapping

from gllint_runtime.policy.data_files import sections


def _by_unit(table: Mapping[str, str]) -> Mapping[str, str]:
    """``{"energy": "Wh kWh"}`` → ``{"Wh": "energy", "kWh": "energy"}``"""
    return {unit: dimension for dimension, units in table.items() for unit in units.split()}


_TABLES = sections("allowlist.txt")

ALLOWED_UNITS = _by_unit(_TABLES["allowed"])
"""Each allowed unit with its dimension, in the order of seed 000's table."""

TIME_UNITS = _by_unit(_TABLES["time"])
"""Units of time that may stand in a compound."""

UNIT_SUFFIXES: Mapping[str, str] = {
    unit.lower(): unit for unit in ALLOWED_UNITS if len(unit) > 1 and unit.isalnum()
} | _TABLES["suffixes"]
"""The last word of a name in snake_case, in lower case, and the unit it announces. No single letters."""

CANONICAL_UNITS: Mapping[str, str] = _TABLES["canonical"]
"""The unit that each dimension is normalised to, in the order in which dimensions are written."""

DERIVED_DIMENSIONS: Mapping[str, str] = _TABLES["derived"]
"""Dimensions that are made of others, and what of."""

RENDERED_UNITS: Mapping[str, str] = _TABLES["rendered"]
"""Opaque abbreviations of units, and the same units spelt out, as models and readers are told them."""
