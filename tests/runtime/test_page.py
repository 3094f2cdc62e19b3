"""The pages about the runtime: their examples run, and together they name every error code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gllint_runtime.policy.errors import HINTS

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [DOCS / "runtime.md", *sorted((DOCS / "runtime").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_examples_run_in_order(page: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    assert blocks or page.stem in ("limits", "modes")
    namespace: dict[str, object] = {"__name__": "page"}
    for block in blocks:
        exec(compile(block, page.name, "exec"), namespace)


def test_every_code_is_named() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert HINTS.keys() <= set(re.findall(r"`([A-Z]{2,}(?:_[A-Z]+)*)`", text))
