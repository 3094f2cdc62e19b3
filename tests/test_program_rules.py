"""GL900, GL901 and GL902 are the program's own: the examples on their pages, run through the command line."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import gllint
import gllint_rules
import gllint_runtime
from gllint_rules import RULES

OWN = [rule.code for rule in RULES.values() if rule.check is None]
_BLOCK = re.compile(r"^## (?P<title>Bad|Good)\n+```python\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


def reported(text: str, folder: Path) -> list[str]:
    (folder / "tool.py").write_text(text, encoding="utf-8")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "gllint",
            "check",
            "--isolated",
            "--no-cache",
            "--output-format",
            "json",
            "tool.py",
        ],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == (1 if json.loads(done.stdout) else 0)
    return [found["code"] for found in json.loads(done.stdout)]


def test_there_are_such_rules() -> None:
    assert OWN == ["GL900", "GL901", "GL902"]


@pytest.mark.parametrize("code", OWN)
def test_page(code: str, tmp_path: Path) -> None:
    blocks = {match["title"]: match["text"] for match in _BLOCK.finditer(RULES[code].documentation)}
    assert reported(blocks["Bad"], tmp_path) == [code]
    assert reported(blocks["Good"], tmp_path) == []


def test_one_tree_is_under_test() -> None:
    """Whatever copy of gllint is installed: here and in what the tests start."""
    asked = "import gllint, gllint_rules, gllint_runtime as r; print(gllint.__file__, gllint_rules.__file__, r.__file__)"
    done = subprocess.run([sys.executable, "-P", "-c", asked], capture_output=True, text=True, check=True)
    here = Path(__file__).parents[1]
    for package, path in zip((gllint, gllint_rules, gllint_runtime), done.stdout.split(), strict=True):
        assert package.__file__ == path and Path(path).is_relative_to(here)
