"""Codes of units from other tables: UCUM (``kW.h``, ``Cel``, ``[lb_av]``) and UN/CEFACT (``KWH``, ``MTQ``).

They are read only where the source says that a text is such a code: the same letters mean other units here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache

from gllint_runtime.policy.unit_expressions import raised
from gllint_runtime.policy.unit_table import units

SYSTEMS = ("ucum", "uncefact")

_LONGEST = 100
_MOST_TERMS = 12
_ANNOTATION = re.compile(r"\{[^{}]*\}")
_THINGS = {"{beat}": "beat", "{beats}": "beat", "{breath}": "breath", "{breaths}": "breath"}
_ENERGY = re.compile(r"(?<=W)\.h(?![\w\[])")
_BELOW = re.compile(r"/\(([^()/]*)\)")
_TERM = re.compile(
    r"10[*^](?P<ten>[+-]?(?:[12]\d|30|[1-9]))|(?P<number>[1-9]\d{0,5})"
    r"|(?P<code>(?:\[[^\[\]]+\]|[^\d\s./\[\]+*^-])+)(?P<power>[+-]?[1-9])?"
)


def unit_of_code(code: str, system: str) -> str | None:
    """Return the unit that a code of a system means, as the tables write it; ``None`` for one that is not read."""
    if system == "uncefact":
        return _codes()[1].get(code)
    return _of_ucum(code) if system == "ucum" and len(code) <= _LONGEST else None


@cache
def _codes() -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return the units by their codes of UCUM, and of UN/CEFACT."""
    table = units().values()
    return (
        {code: unit.symbol for unit in table for code in unit.ucum},
        {code: unit.symbol for unit in table for code in unit.cefact},
    )


@lru_cache(maxsize=512)
def _of_ucum(code: str) -> str | None:
    """Return the unit of a UCUM code in gllint's spelling.

    ``"kW.h/m2"`` → ``"kWh/m2"``; ``None`` for a code that is not read.
    """
    over: list[str] = []
    under: list[str] = []
    # A word in braces says what is counted: `{cells}/uL`.
    text = _ANNOTATION.sub(lambda word: _THINGS.get(word[0], "1" if _is_alone(code, word) else ""), code)
    text = _ENERGY.sub("h", _BELOW.sub(lambda below: "/" + below[1].replace(".", "/"), text))
    pieces = re.split(r"([./])", text)
    if len(pieces) > 2 * _MOST_TERMS or re.search(r"/\d+\.", text):  # `/100.g` is written for `/(100.g)`
        return None
    terms = list(zip([".", *pieces[1::2]], pieces[::2], strict=True))
    for operator, piece in terms[1:] if len(terms) > 1 and not terms[0][1] else terms:  # `/min`
        term = _TERM.fullmatch(piece)
        unit = piece if piece in _THINGS.values() else None
        power = 1
        if term is not None and unit is None:
            unit = "10" if term["ten"] else term["number"] or _codes()[0].get(term["code"])
            power = int(term["ten"] or term["power"] or 1)
        side = over if (operator == "/") == (power < 0) else under
        if unit is None or (unit.isdecimal() and unit != "1" and side is over and power < 2):
            return None  # `24.h`: a number is part of a unit below the bar, or as a power of ten
        if unit != "1":
            side.append(raised(unit, abs(power)))
    return "/".join(["*".join(over) or "1", *under])


def _is_alone(code: str, word: re.Match[str]) -> bool:
    """Return whether a word in braces is a term, and not behind one."""
    return word.start() == 0 or code[word.start() - 1] in "./("
