"""The example project, repaired by the linter alone: it runs, and its runtime accepts the repaired tools."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
EXAMPLE = Path(__file__).parents[2] / "examples" / "building-energy"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the example that may be changed."""
    copied = tmp_path / "building"
    shutil.copytree(EXAMPLE, copied, ignore=shutil.ignore_patterns("__pycache__", ".gllint_cache"))
    return copied


def _findings(run: Run, project: Path) -> list[dict[str, Any]]:
    done = run("check", ".", "--no-cache", "--output-format", "json", cwd=project)
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def _main(project: Path) -> list[str]:
    command = [sys.executable, "main.py"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.splitlines()


def test_all_fixes_leave_no_fixable_finding_and_a_project_whose_tools_are_accepted(
    run: Run, project: Path
) -> None:
    assert {f["code"] for f in _findings(run, project) if f["fix"]} == {"GL101", "GL201", "GL301", "GL501"}
    run("check", ".", "--no-cache", "--fix", "--unsafe-fixes", cwd=project)
    left = _findings(run, project)
    assert [f for f in left if f["fix"]] == []
    assert [f["code"] for f in left] == ["GL401"]  # a number that somebody must decide about
    messages = project / "advisor" / "messages.py"
    messages.write_text(
        messages.read_text("utf-8").replace("; a typical one gets by with 9,500 kWh", ""), "utf-8"
    )
    assert _main(project)[0].startswith("verified: ")


def test_safe_fixes_alone_leave_a_project_that_runs(run: Run, project: Path) -> None:
    run("check", ".", "--no-cache", "--fix", cwd=project)
    left = _findings(run, project)
    assert [f["code"] for f in left if f["fix"] and f["fix"]["applicability"] == "safe"] == []
    # What the program itself reads by name, only a person can change.
    assert {f["code"] for f in left} == {"GL101", "GL201", "GL301", "GL401"}
    assert _main(project)[1].startswith("verified: ")
