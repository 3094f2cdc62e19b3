"""pint's own units: what is a unit somewhere, never what is allowed here. pint loads at the first question."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any

_NAME = re.compile(r"(?:°|[^\W\d_])\w{0,63}\Z")
_LONGEST_PREFIX = 2  # of the symbols: "da", "Ki"

# pint raises a dozen unrelated types on words that are not units, so each question here catches every `Exception`.


@cache
def _registry() -> Any:
    import pint

    return pint.UnitRegistry(cache_folder=None)


@lru_cache(maxsize=1024)
def stock_dimensions(name: str) -> dict[str, int] | None:
    """Return the base dimensions of a unit of pint's registry, ``"volt"`` → ``{"energy": 1, …}``.

    ``None`` if it has no such unit.
    """
    if not _NAME.match(name):
        return None
    try:
        dimensions = _registry().parse_units(name).dimensionality
    except Exception:
        return None
    vector = {str(base).strip("[]"): int(exponent) for base, exponent in dimensions.items()}
    # Joule and watt: gllint has energy as a base, physics has mass * length2 / time2.
    if vector.get("mass") == 1 and vector.get("length") == 2 and vector.get("time") in (-2, -3):
        del vector["mass"], vector["length"]
        vector["energy"], vector["time"] = 1, vector["time"] + 2
    return vector


@lru_cache(maxsize=1024)
def stock_readings(word: str) -> frozenset[str]:
    """Return the units of pint that are spelled like ``word`` in any case, by full name.

    ``"mw"`` → milliwatt and megawatt.
    """
    if not _NAME.match(word) or not word.isascii():
        return frozenset()
    readings = set()
    for written in _cases(word):
        try:
            readings |= {prefix + unit for prefix, unit, _ in _parsed(written)}
        except Exception:
            continue
    return frozenset(readings)


@lru_cache(maxsize=1024)
def stock_name(symbol: str) -> str | None:
    """pint's full name of a unit in exactly this case, ``kilowatt`` for ``kW``; ``None`` if it has no such unit."""
    if not _NAME.match(symbol):
        return None
    try:
        return str(_registry().parse_units(symbol))
    except Exception:
        return None


@lru_cache(maxsize=1024)
def stock_sizes_agree(unit: str, other: str) -> bool | None:
    """Return whether two single units are one in dimension and size by pint; ``None`` if it has not both of them."""
    if stock_name(unit) is None or stock_name(other) is None:
        return None
    try:
        first, another = (_registry().Quantity(1, symbol).to_base_units() for symbol in (unit, other))
        return bool(first.units == another.units and abs(first.magnitude / another.magnitude - 1) < 1e-9)
    except Exception:  # also raised for a constant or a logarithmic unit
        return None


@lru_cache(maxsize=4096)
def stock_size(name: str) -> tuple[dict[str, int], float] | None:
    """Return the dimensions of a unit and how many of pint's base units it is; ``None`` if pint does not have it.

    ``km`` is 1000 metres. For ``degF`` the size is that of one degree of difference, 5/9 kelvin: the zero point of a
    scale is left out.
    """
    if not _NAME.match(name):
        return None
    try:
        unit = _registry().parse_units(name, as_delta=False)
        # The size is the difference between 1 and 0 of the unit: an offset falls out.
        zero, one = (_registry().Quantity(float(n), unit).to_base_units().magnitude for n in (0, 1))
        dimensions = unit.dimensionality.items()
        return {str(base).strip("[]"): int(exponent) for base, exponent in dimensions}, float(one - zero)
    except Exception:
        return None


def _parsed(word: str) -> Any:
    return _registry().parse_unit_name(word, case_sensitive=False)


def _cases(word: str) -> set[str]:
    """Return the word in small letters (a plural's "s" is one), and with those that may be a prefix in each case."""
    small = word.lower()
    written = {small}
    for length in range(1, min(_LONGEST_PREFIX, len(word) - 1) + 1):
        head, tail = small[:length], small[length:]
        written |= {head.upper() + tail, head.capitalize() + tail}
    return written
