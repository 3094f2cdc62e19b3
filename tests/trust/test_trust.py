"""Each suite of the folder for as long as an everyday run bears; ``tests/trust/run --hours 1`` is the whole.

``hostile`` measures times, ``load`` and ``mutation`` take long: they are left to that.
"""

from __future__ import annotations

import importlib
import sys
import sysconfig
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from trust import Budget

_SECONDS = {
    "corpus": 2,
    "fuzz": 3,
    "interruption": 2,
    "equivalence": 1,
    "fixes": 3,
    "promises": 1,
}


@pytest.mark.parametrize("name", _SECONDS)
def test_nothing_breaks(name: str) -> None:
    # The whole standard library is left to the run by hand.
    folder = Path(sysconfig.get_path("stdlib"), "asyncio")
    rows = list(importlib.import_module(name).suite(Budget(_SECONDS[name], folders=(folder,))))
    assert rows
    assert [f"{row.suite}: {line}" for row in rows for line in row.wrong] == []
