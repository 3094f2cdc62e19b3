"""Independent judges: each knows by another way than gllint's what is true, and draws at random what it asks.

A disagreement is a defect of gllint or of the judge. Each row counts what it compared; an hour is to compare at least so
much.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator

from trust import Budget, Row

_ORACLES = ("oracle_units", "oracle_results", "oracle_keys", "oracle_audit", "oracle_guard")


def suite(budget: Budget) -> Iterator[Row]:
    for number, name in enumerate(_ORACLES):
        yield importlib.import_module(name).row(budget.part(1 / (len(_ORACLES) - number)))
