"""The units, as ``unit_table.txt`` lists them: one row has all that is known of a unit.

Everything else that knows units by name asks here: the allowlist, the packs, codes of other tables, names written out,
the ends of keys. The table is read once, at the first question; pint is never asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache

from gllint_runtime.policy.data_files import lines
from gllint_runtime.policy.packs import PACKS
from gllint_runtime.policy.tuples import NamedTuple


class Unit(NamedTuple):
    """A row of the table. ``dimension`` is where it is listed, ``size`` as it is written there."""

    symbol: str
    dimension: str
    size: str
    packs: tuple[str, ...]
    names: tuple[str, ...]
    ends: tuple[str, ...]
    ucum: tuple[str, ...]
    cefact: tuple[str, ...]
    plural: str

    @property
    def forms(self) -> tuple[str, ...]:
        """Its names, in the singular and in the plural."""
        return tuple(
            form for name in self.names for form in (name.split(":") if ":" in name else (name, f"{name}s"))
        )


@cache
def units() -> Mapping[str, Unit]:
    """Return the rows of ``unit_table.txt`` as units, by symbol."""
    table: dict[str, Unit] = {}
    heading = ""
    for line in lines("unit_table.txt"):
        if line.startswith("["):
            heading = line[1:-1]
            continue
        symbol, size, *cells = (cell.strip() for cell in line.split(" | "))
        packs, names, ends, ucum, cefact, plural = [
            () if cell == "-" else tuple(cell.split(", " if place == 1 else None))
            for place, cell in enumerate([*cells, *["-"] * (6 - len(cells))])
        ]
        dimension = heading
        if size == "[]":
            dimension = f"currency-{symbol}" if heading == "money" else symbol
        elif heading == "money" and size != "-":
            dimension = f"currency-{size.split(' ')[1]}"
        table[symbol] = Unit(
            symbol, dimension, size, packs, names, ends, ucum, cefact, "".join(plural) or f"{symbol}s"
        )
    return table


@cache
def units_of(pack: str) -> Mapping[str, Unit]:
    """Return the units that are in a pack, or ``"allowed"``, or part of a compound (``"times"``)."""
    return {symbol: unit for symbol, unit in units().items() if pack in unit.packs}


def dimension_in_table(symbol: str) -> str | None:
    """Return the dimension under which a unit is listed; ``None`` for a text that is not a unit of the table."""
    unit = units().get(symbol)
    return None if unit is None else unit.dimension


@lru_cache(maxsize=64)
def pack_units(packs: tuple[str, ...]) -> Mapping[str, Unit]:
    """Return the units of these packs. Raises ValueError for a name that is no pack."""
    if unknown := sorted(set(packs) - set(PACKS)):
        raise ValueError(f"unknown unit packs: {', '.join(unknown)} (the packs are {', '.join(PACKS)})")
    return {symbol: unit for pack in PACKS if pack in packs for symbol, unit in units_of(pack).items()}


ALLOWED_UNITS: Mapping[str, str] = {unit.symbol: unit.dimension for unit in units_of("allowed").values()}
"""Each allowed unit with its dimension."""

TIME_UNITS: Mapping[str, str] = {unit.symbol: unit.dimension for unit in units_of("times").values()}
"""Units of time that may be part of a compound."""

CANONICAL_UNITS: Mapping[str, str] = {
    "emissions": "kgCO2e",
    "energy": "kWh",
    "power": "kW",
    "mass": "kg",
    "volume": "m3",
    "area": "m2",
    "length": "m",
    "temperature": "K",
    "time": "h",
    "year": "year",
    "dimensionless": "%",
}
"""The unit that each dimension is normalised to, in the order in which dimensions are written."""

DERIVED_DIMENSIONS: Mapping[str, str] = {"power": "energy/time", "volume": "length^3", "area": "length^2"}
"""Dimensions that are made of others, and what of."""

RENDERED_UNITS: Mapping[str, str] = {"cfs": "ft3/s", "cfm": "ft3/min", "gpm": "gal/min"}
"""Opaque abbreviations of units, and the same units spelt out, as models and readers receive them."""
