"""What calls do to units, as data: ``unit_calls.txt``."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from gllint_rules.tuples import NamedTuple


class UnitCalls(NamedTuple):
    """The table: functions by their full name, methods by theirs."""

    first: frozenset[str]
    alike: frozenset[str]
    operators: dict[str, str]
    methods: frozenset[str]
    method_operators: dict[str, str]
    conversions: dict[str, str]
    takers: dict[str, str]
    objects: dict[str, tuple[str, tuple[str, ...]]]
    astropy: dict[str, str]


@cache
def unit_calls() -> UnitCalls:
    """The table, read once."""
    sections: dict[str, dict[str, str]] = {}
    rows: dict[str, str] = {}
    text = files("gllint_rules.inference.measures").joinpath("unit_calls.txt").read_text("utf-8")
    for line in text.splitlines():
        if line.startswith("["):
            rows = sections[line[1:-1]] = {}
        elif line and not line.startswith("#"):
            name, _, meaning = line.partition(": ")
            rows[name] = meaning

    def names(section: str) -> frozenset[str]:
        return frozenset(
            f"{module}.{name}" for module, words in sections[section].items() for name in words.split()
        )

    return UnitCalls(
        first=names("first"),
        alike=names("alike"),
        operators=sections["operators"],
        methods=frozenset(sections["methods"]["words"].split()),
        method_operators=sections["method operators"],
        conversions=sections["conversions"],
        takers=sections["takers"],
        objects={
            name: (words.split()[0], tuple(words.split()[1:])) for name, words in sections["objects"].items()
        },
        astropy=sections["astropy"],
    )
