"""The units of results of the standard library: seconds of a clock, bytes of a file. Data: ``call_units.txt``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files


def unit_of_function(name: str) -> str | None:
    """Return the unit of what ``time.time`` returns, by the module and the name."""
    return _table()["functions"].get(name)


def unit_of_method(name: str) -> str | None:
    """Return the unit of the result of a method with this name: ``total_seconds`` → ``s``."""
    return _table()["methods"].get(name)


def unit_of_attribute(name: str) -> str | None:
    """Return the unit of an attribute with this name: ``st_size`` → ``B``."""
    return _table()["attributes"].get(name)


def is_date(name: str) -> bool:
    """Return whether a function, method or attribute gives a date as a number: ``st_mtime``."""
    return name in _table()["dates"]


@cache
def _table() -> Mapping[str, Mapping[str, str]]:
    """Read the units of calls from their file."""
    table: dict[str, dict[str, str]] = {}
    rows: dict[str, str] = {}
    for line in files("gllint_rules.words").joinpath("call_units.txt").read_text("utf-8").splitlines():
        if line.startswith("["):
            rows = table[line[1:-1]] = {}
        elif line and not line.startswith("#"):
            name, _, unit = line.partition(":")
            rows[name] = unit.strip()
    return table
