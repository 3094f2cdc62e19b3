"""Neovim, without a screen and with its own client, shows the example's findings and applies a quick fix."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.timeout(230)  # it starts what takes its time on a busy machine

SCRIPT = Path(__file__).with_name("editor.lua")
DOCUMENTATION = Path(__file__).parents[2] / "docs" / "editors.md"
SERVER = [sys.executable, "-P", "-m", "gllint", "server"]


def neovim(root: Path, file: Path, tmp_path: Path, **task: str) -> Any:
    """Open a file of a project in Neovim, and apply a code action to its first finding (``GLLINT_ACTION``)
    or run a script and save (``GLLINT_EXTRA``)."""
    program = shutil.which("nvim")
    if program is None:
        message = "Neovim is not installed: that gllint works in a real editor was NOT tested"
        warnings.warn(message, stacklevel=2)
        pytest.skip(message)
    out = tmp_path / "seen.json"
    done = subprocess.run(
        [program, "--headless", "--clean", "-c", f"luafile {SCRIPT}"],
        env={
            **os.environ,
            "HOME": str(tmp_path),
            "GLLINT_CACHE_DIR": str(tmp_path / "cache"),
            "GLLINT_SERVER": json.dumps(SERVER),
            "GLLINT_ROOT": str(root),
            "GLLINT_FILE": str(file),
            "GLLINT_OUT": str(out),
            **task,
        },
        cwd=root,
        capture_output=True,
        timeout=90,
        check=False,
    )
    assert done.returncode == 0 and out.exists(), done.stderr.decode()
    return json.loads(out.read_text())


def test_neovim_shows_the_findings_of_the_example(example: Path, check: Any, tmp_path: Path) -> None:
    file = example / "advisor" / "messages.py"
    seen = neovim(example, file, tmp_path, GLLINT_ACTION="GL401: Suppress here")
    expected = [f for f in check(example) if f["path"] == "advisor/messages.py"]
    assert [(d["code"], d["line"], d["column"], d["message"]) for d in seen["before"]] == [
        (f["code"], f["line"], f["column"], f["message"]) for f in expected
    ]
    assert seen["after"] == []
    assert "# gllint: ignore[GL401]" in seen["text"]


def test_neovim_applies_a_quick_fix(example: Path, tmp_path: Path) -> None:
    file = example / "advisor" / "cities.py"
    text = file.read_text()
    file.write_text("HALF = '½ 🏠'  # gllint: ignore[GL101]\n" + text)
    seen = neovim(example, file, tmp_path, GLLINT_ACTION="GL901: Remove the unused suppression")
    assert [d["code"] for d in seen["before"]] == ["GL901"]
    assert seen["after"] == []
    assert seen["text"] == "HALF = '½ 🏠'\n" + text.rstrip("\n")


def test_neovim_fixes_on_save_as_the_documentation_says(example: Path, tmp_path: Path) -> None:
    [script] = re.findall(r"```lua\n(vim[^`]+BufWritePre[^`]+)```", DOCUMENTATION.read_text("utf-8"))
    (tmp_path / "fix.lua").write_text(script)
    file = example / "advisor" / "cities.py"
    text = file.read_text()
    file.write_text("HALF = '½ 🏠'  # gllint: ignore[GL101]\n" + text)
    seen = neovim(example, file, tmp_path, GLLINT_EXTRA=str(tmp_path / "fix.lua"))
    assert seen["after"] == []
    assert file.read_text() == "HALF = '½ 🏠'\n" + text
