"""The ledger of known misses: each case fails as it is meant to, and says so when it begins to work."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import Case, cases, places, run

LEDGER = cases(Path(__file__).parent / "known_misses.md")


@pytest.mark.parametrize("case", LEDGER, ids=lambda case: case.title)
@pytest.mark.xfail(strict=True, raises=AssertionError, reason="see known_misses.md")
def test_known_miss(case: Case) -> None:
    assert places(run(case)) == case.expected()


@pytest.mark.parametrize("case", LEDGER, ids=lambda case: case.title)
def test_nothing_else_is_reported(case: Case) -> None:
    """A miss is a miss: what is reported instead would be a false finding."""
    assert case.expected()
    assert set(places(run(case))) <= set(case.expected())
