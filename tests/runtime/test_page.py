"""The page about the runtime: its examples run, and it names every error code."""

from __future__ import annotations

import re
from pathlib import Path

from gllint_runtime.policy.errors import HINTS

PAGE = Path(__file__).parents[2] / "docs" / "runtime.md"


def test_the_examples_run_in_order() -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) >= 5
    namespace: dict[str, object] = {"__name__": "page"}
    for block in blocks:
        exec(compile(block, PAGE.name, "exec"), namespace)


def test_every_code_is_named() -> None:
    named = set(re.findall(r"`([A-Z]{2,}(?:_[A-Z]+)*)`", PAGE.read_text(encoding="utf-8")))
    assert HINTS.keys() <= named
