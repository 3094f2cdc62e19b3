"""What all tests share."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from coverage import Coverage

# They repeat, on many programs or many mistakes, ways that other tests take once: measuring them says nothing more, and
# takes half their time again.
_UNMEASURED = {
    "test_adversarial", "test_agreement", "test_answers", "test_automaton", "test_baseline", "test_budgets",
    "test_cache", "test_config", "test_edits", "test_fixes_properties", "test_following", "test_hostile",
    "test_init", "test_kept", "test_kinds", "test_load", "test_mcp", "test_messages", "test_metamorphic",
    "test_notebooks", "test_pool", "test_properties", "test_reader_positions", "test_recorded",
    "test_repairs_at_execution", "test_robustness", "test_screen", "test_settings", "test_source",
    "test_spellings", "test_standard_library", "test_stranger", "test_trust",
}  # fmt: skip

# What the tests start imports the checkout, too, whatever copy is installed: see `pythonpath` in pyproject.toml.
_REPOSITORY = Path(__file__).parents[1]
os.environ["PYTHONPATH"] = os.pathsep.join(
    [
        *filter(None, [os.environ.get("PYTHONPATH")]),
        *(str(_REPOSITORY / floor) for floor in ("", "rules", "runtime")),
    ]
)

# How long an example takes is no matter of tests.
settings.register_profile("gllint", deadline=None)
settings.load_profile("gllint")

# In the background of a shell, or under nohup, these are ignored, and would be by all that the tests start.
for _signal in (signal.SIGINT, signal.SIGHUP):
    if signal.getsignal(_signal) is signal.SIG_IGN:
        signal.signal(_signal, signal.SIG_DFL)


@pytest.fixture(scope="session", autouse=True)
def _state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what gllint keeps of a user, the key of the caches, out of the state folder of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        patch.delenv("GLLINT_CACHE_KEY", raising=False)
        # What the tests start would take twice the time if it were measured.
        patch.delenv("COVERAGE_PROCESS_START", raising=False)
        yield


@pytest.fixture(scope="module", autouse=True)
def _measure(request: pytest.FixtureRequest) -> Iterator[None]:
    """Measure coverage only in the modules that are to be measured."""
    module = request.module.__name__.rpartition(".")[2]
    measuring = _coverage() if module in _UNMEASURED else None
    if measuring is not None:
        measuring.stop()
    yield
    if measuring is not None:
        measuring.start()


@pytest.fixture
def unmeasured() -> Iterator[None]:
    """Measure no coverage of a test that repeats for long what others do once."""
    measuring = _coverage()
    if measuring is not None:
        measuring.stop()
    yield
    if measuring is not None:
        measuring.start()


def _coverage() -> Coverage | None:
    """What measures this process, ``None`` where nothing does."""
    try:
        from coverage import Coverage
    except ImportError:
        return None
    return Coverage.current()


@pytest.fixture(scope="module", autouse=True)
def _logging() -> Iterator[None]:
    """Let the runtime say again what a guard that ran in the tests of a module had it keep to itself."""
    level = (logger := logging.getLogger("gllint_runtime")).level
    yield
    logger.setLevel(level)


@pytest.fixture(scope="session")
def gllint() -> Iterator[list[str]]:
    """What to write for ``python -m gllint`` where all that counts is what it does: ``tests/warm.py``."""
    if sys.platform != "linux":
        yield [sys.executable, "-P", "-m", "gllint"]
        return
    warm = Path(__file__).with_name("warm.py")
    with tempfile.TemporaryDirectory() as folder:
        address = f"{folder}/address"
        server = subprocess.Popen(
            [sys.executable, "-P", warm, "serve", address],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert server.stdin is not None and server.stdout is not None
        assert server.stdout.readline() == b"\n"
        yield [sys.executable, "-IS", str(warm), address]
        server.stdin.close()
        server.stdout.close()
        server.wait()
