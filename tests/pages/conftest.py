"""The browser that the tests of pages share; where there is none, they are skipped."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

_SCRIPT = Path(__file__).parents[2] / "tools" / "browser.py"


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    spec = importlib.util.spec_from_file_location("browser", _SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if module.find() is None:
        pytest.skip("there is no Chromium here")
    with module.Browser() as browser:
        yield browser
