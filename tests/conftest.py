"""What all tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

# They repeat, on many programs, ways that other tests take once: measuring them says nothing more and takes minutes.
_UNMEASURED = {
    "test_agreement", "test_budgets", "test_fixes_properties", "test_hostile", "test_load", "test_metamorphic",
    "test_properties", "test_robustness", "test_screen", "test_standard_library",
}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def _unmeasured(request: pytest.FixtureRequest) -> Iterator[None]:
    """Stop measuring coverage, where it is measured, for the length of a module that is not to be measured."""
    measuring = None
    if request.module.__name__.rpartition(".")[2] in _UNMEASURED:
        try:
            from coverage import Coverage
        except ImportError:
            pass
        else:
            measuring = Coverage.current()
    if measuring is not None:
        measuring.stop()
    yield
    if measuring is not None:
        measuring.start()
