"""What all tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

# They repeat, on many programs or in many processes, ways that other tests take once: measuring them says nothing more,
# and each process that is measured takes twice the time of one that is not.
_UNMEASURED = {
    "test_agreement", "test_bad_input", "test_baseline", "test_blocks", "test_budgets", "test_cache", "test_causes",
    "test_config", "test_diagnostics", "test_edits", "test_fix_example", "test_fix_patch", "test_fixes_properties",
    "test_hostile", "test_load", "test_metamorphic", "test_neovim", "test_own_rules", "test_pre_commit",
    "test_processes", "test_properties", "test_readers", "test_robustness", "test_screen", "test_standard_library",
    "test_trust",
}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def _unmeasured(request: pytest.FixtureRequest) -> Iterator[None]:
    """Stop measuring coverage, here and in what is started, for the length of a module that is not to be measured."""
    if request.module.__name__.rpartition(".")[2] not in _UNMEASURED:
        yield
        return
    measuring = None
    try:
        from coverage import Coverage
    except ImportError:
        pass
    else:
        measuring = Coverage.current()
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("COVERAGE_PROCESS_START", raising=False)
        if measuring is not None:
            measuring.stop()
        yield
    if measuring is not None:
        measuring.start()
