"""What a run loads and compiles before it can say that there is nothing: counters, which no busy machine disturbs."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

Write = Callable[[Mapping[str, str | bytes]], Path]

CLEAN_TOOL = """from langchain_core.tools import tool


@tool
def heat(site: str) -> dict:
    return {"heat": {"value": 12.5, "unit": "kWh"}}
"""
BARE_NUMBER = CLEAN_TOOL.replace('{"value": 12.5, "unit": "kWh"}', "12.5 * len(site)")
# What takes longer to import than a file to check.
HEAVY = {
    "click", "dataclasses", "inspect", "jsonschema", "libcst", "logging", "msgspec", "pint", "tempfile", "threading", "tomllib",
}  # fmt: skip
WATCHED = """
import json, re, sys
compiled = []
compile = re._compiler.compile
def watched(text, flags=0):
    frame = sys._getframe(1)
    while "/re/" in frame.f_code.co_filename or frame.f_code.co_filename.endswith("policy/expressions.py"):
        frame = frame.f_back
    if "gllint" in frame.f_code.co_filename.rpartition("/")[0].rpartition("site-packages")[2]:
        compiled.append(f"{frame.f_code.co_filename}:{frame.f_lineno}")
    return compile(text, flags)
re._compiler.compile = watched
before = set(sys.modules)
try:
    from gllint.cli.main import main
    main(sys.argv[1:])
except SystemExit as end:
    modules = sorted(set(sys.modules) - before)
    print("\\0" + json.dumps([end.code, modules, compiled]))
"""


class Start(NamedTuple):
    """How a run ended, what it imported, and where expressions were compiled."""

    status: int
    modules: list[str]
    compiled: list[str]

    @property
    def ours(self) -> list[str]:
        """Its modules of gllint."""
        return [name for name in self.modules if name.startswith("gllint")]


def start(folder: Path, *arguments: str) -> Start:
    command = [sys.executable, "-c", WATCHED, "check", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return Start(*json.loads(done.stdout.rpartition("\0")[2]))


@pytest.fixture
def project(write: Write) -> Path:
    return write(
        {
            "pyproject.toml": "[project]\n",
            "plain.py": "x = 1\n",
            "agent.py": CLEAN_TOOL,
            "bare.py": BARE_NUMBER,
        }
    )


def settled(folder: Path, *arguments: str) -> Start:
    """A run that finds in the cache what an earlier one kept of files that were not written just now."""
    start(folder, *arguments)
    time.sleep(0.15)
    start(folder, *arguments)
    return start(folder, *arguments)


@pytest.mark.parametrize("name", ["plain.py", "agent.py"])
def test_a_clean_file_that_is_known(project: Path, name: str) -> None:
    known = settled(project, name)
    assert known.status == 0
    assert not HEAVY.intersection(known.modules)
    assert (
        "gllint_rules.words.screen" not in known.modules
        and "gllint_runtime.policy.units" not in known.modules
    )
    assert known.compiled == []
    assert len(known.ours) <= 72


def test_a_clean_file_that_is_new(write: Write) -> None:
    new = start(write({"pyproject.toml": "[project]\n", "plain.py": "x = 1\n"}), "--no-cache", "plain.py")
    assert not (HEAVY - {"threading"}).intersection(new.modules)  # a parser has a stack of its own
    assert len(new.compiled) <= 12 and len(new.ours) <= 75


def test_one_finding_in_the_default_format(project: Path) -> None:
    found = settled(project, "bare.py")
    assert found.status == 1
    assert not {"click", "libcst", "logging", "pint", "jsonschema"}.intersection(found.modules)
