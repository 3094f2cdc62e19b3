"""A project on a drive or a share of Windows is read as one elsewhere: its paths begin with no slash, or with two."""

from __future__ import annotations

import pytest

from harness import Case, run

_READING = """\
import os
from pathlib import Path

HERE = Path(__file__).parent
FINAL_MESSAGE = (HERE / "prompts" / "one.txt").read_text()
FINAL_MESSAGE_TWO = open(os.path.join(os.path.dirname(__file__), "prompts", "two.txt")).read()
FINAL_MESSAGE_THREE = open("prompts\\\\three.txt").read()
"""
_TEXTS = {f"prompts/{name}.txt": "It needs 9500 kWh.\n" for name in ("one", "two", "three")}


@pytest.mark.parametrize("root", ["/project", "C:/house", "C:", "//server/share"])
def test_texts_that_python_loads_are_read_on_every_drive(root: str) -> None:
    case = Case("texts", {"agent.py": _READING, **_TEXTS}, {})
    found = [(item.path.removeprefix(f"{root}/"), item.code) for item in run(case, root)]
    assert found == [(path, "GL401") for path in sorted(_TEXTS)]
