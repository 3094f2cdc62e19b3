"""Codes of units from other tables: UCUM (``kW.h``, ``Cel``, ``[lb_av]``) and UN/CEFACT (``KWH``, ``MTQ``).

They are read only where the source says that a text is such a code: the same letters mean other units here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache

from gllint_runtime.policy.packs import PACKS
from gllint_runtime.policy.unit_expressions import TRAILING_POWER
from gllint_runtime.policy.unit_table import TIME_UNITS, units
from gllint_runtime.policy.units import is_allowed

SYSTEMS = ("ucum", "uncefact")

_LONGEST = 100
_MOST_TERMS = 12
_ANNOTATION = re.compile(r"\{[^{}]*\}")
_THINGS = {"{beat}": "beat", "{beats}": "beat", "{breath}": "breath", "{breaths}": "breath"}
_ENERGY = re.compile(r"(?<=W)\.h(?![\w\[])")
_BELOW = re.compile(r"/\(([^()/]*)\)")
_TERM = re.compile(r"(?P<code>(?:\[[^\[\]]+\]|[^\d\s./\[\]+-]|\d(?=\*)|\*)+|1)(?P<power>[+-]?[1-9])?")


def unit_of_code(code: str, system: str) -> str | None:
    """The unit that a code of a system means, as the tables write it; ``None`` for one that is not read."""
    if system == "uncefact":
        return _codes()[1].get(code)
    return _of_ucum(code) if system == "ucum" and len(code) <= _LONGEST else None


@cache
def _codes() -> tuple[Mapping[str, str], Mapping[str, str]]:
    """The units by their codes of UCUM, and of UN/CEFACT."""
    table = units().values()
    return (
        {code: unit.symbol for unit in table for code in unit.ucum},
        {code: unit.symbol for unit in table for code in unit.cefact},
    )


@lru_cache(maxsize=512)
def _of_ucum(code: str) -> str | None:
    text = _ENERGY.sub("h", _BELOW.sub(lambda below: "/" + below[1].replace(".", "/"), code))
    over: list[str] = []
    under: list[str] = []
    pieces = re.split(r"([./])", text)
    if len(pieces) > 2 * _MOST_TERMS:
        return None
    operator = "."
    for number, piece in enumerate(pieces):
        if number % 2:
            operator = piece
            continue
        if not piece and (number or len(pieces) == 1):
            return None
        thing = _THINGS.get(piece)
        piece = _ANNOTATION.sub("", piece)
        term = _TERM.fullmatch(piece)
        unit = thing or ((_codes()[0].get(term["code"]) if term else None) if piece else "1")
        if unit is None:
            return None
        if unit == "1":  # also a word in braces, which says what is counted
            continue
        power = (term["power"] if term else None) or "1"
        side = over if (operator == "/") == power.startswith("-") else under
        side.append(_raised(unit, abs(int(power))))
    written = "/".join(["*".join(over) or "1", *under])
    return written if is_allowed(written, packs=PACKS) or written in TIME_UNITS else None


def _raised(unit: str, power: int) -> str:
    if power == 1:
        return unit
    short = f"{unit}{power}"
    return short if TRAILING_POWER.fullmatch(short) else f"{unit}^{power}"
