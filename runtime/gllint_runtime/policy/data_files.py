"""The data files next to the code: words, units, schemas, hints."""

from __future__ import annotations

import os


def read(name: str) -> str:
    """Return a file below this folder. (``importlib.resources`` takes longer to load than all of them to read.)"""
    with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as file:
        return file.read()


def lines(name: str) -> list[str]:
    """Return the lines of a table, without comments (``#`` and a blank, at the start) and blank lines."""
    return [line for line in read(name).splitlines() if line.strip() and not line.startswith("# ")]


def sections(name: str) -> dict[str, dict[str, str]]:
    """Return the rows of a table by section.

    ``[months]`` over ``12: december`` → ``{"months": {"12": "december"}}``.
    """
    tables: dict[str, dict[str, str]] = {}
    rows: dict[str, str] = {}
    for line in lines(name):
        if line.startswith("["):
            rows = tables[line[1:-1]] = {}
        else:
            key, _, value = line.partition(": ")
            rows[key] = value
    return tables
