"""What calls do to units, as data: ``unit_calls.txt``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from gllint_rules.tuples import NamedTuple


class UnitCalls(NamedTuple):
    """The sections of ``unit_calls.txt``, which explains each; functions by their full name, methods by their name."""

    first: frozenset[str]
    alike: frozenset[str]
    methods: frozenset[str]
    operators: Mapping[str, str]
    powers: Mapping[str, str]
    picks: Mapping[str, str]
    method_operators: Mapping[str, str]
    conversions: Mapping[str, str]
    takers: Mapping[str, str]
    objects: Mapping[str, str]
    astropy: Mapping[str, str]


@cache
def unit_calls() -> UnitCalls:
    """Read ``unit_calls.txt``: ``math: fabs ceil`` in ``[first]`` → ``math.fabs``, ``math.ceil`` in ``first``.

    In the other sections a line is a name and its meaning: ``numpy.add: +``.
    """
    sections: dict[str, dict[str, str]] = {}
    rows: dict[str, str] = {}
    text = files("gllint_rules.inference.units").joinpath("unit_calls.txt").read_text("utf-8")
    for line in text.splitlines():
        if line.startswith("["):
            rows = sections[line[1:-1].replace(" ", "_")] = {}
        elif line and not line.startswith("#"):
            name, _, meaning = line.partition(": ")
            rows[name] = meaning

    def names(section: str) -> frozenset[str]:
        return frozenset(
            f"{module}.{name}" if module != "words" else name
            for module, words in sections.pop(section).items()
            for name in words.split()
        )

    return UnitCalls(names("first"), names("alike"), names("methods"), **sections)
