"""Packs: tables of units beyond the allowlist, by name (``counts``, ``time``, …).

Each is a data file of lines ``name = [dimension]`` or ``name = factor unit``, with an exact factor.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from gllint_runtime.policy.data_files import lines
from gllint_runtime.policy.tuples import NamedTuple

if TYPE_CHECKING:
    from fractions import Fraction

# A unit that several have is advised from the first.
PACKS = (
    *("counts", "time", "data", "rates", "electrical", "si", "geo", "currencies"),
    *("us", "health", "materials", "chemistry", "physics"),
)


class Definition(NamedTuple):
    """A unit as ``factor`` of the unit expression ``of``, or, without one, the unit of a ``dimension`` of its own."""

    factor: Fraction
    of: str
    dimension: str


@lru_cache(maxsize=64)
def pack_units(packs: tuple[str, ...]) -> Mapping[str, Definition]:
    """The units of these packs. Raises ValueError for a name that is no pack."""
    if unknown := sorted(set(packs) - set(PACKS)):
        raise ValueError(f"no such pack of units: {', '.join(unknown)} (there are {', '.join(PACKS)})")
    return {unit: dimension for name in PACKS if name in packs for unit, dimension in _read(name).items()}


@cache
def _read(name: str) -> Mapping[str, Definition]:
    # Here, so that who asks for the names of the packs alone, as the configuration does, waits for nothing.
    from fractions import Fraction

    units = {}
    for line in lines(f"packs/{name}.txt"):
        unit, meaning = line.split(" = ")
        factor, _, of = meaning.partition(" ")
        units[unit] = (
            Definition(Fraction(factor), of, "") if of else Definition(Fraction(1), "", meaning[1:-1])
        )
    return units
