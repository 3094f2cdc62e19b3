"""What is beyond a bound of gllint is refused or told, in words that say which bound it is; never passed over."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from gllint.cli.server_tools import offered_tool
from gllint.cli.servers import judged
from gllint.errors import UsageError
from gllint.files.config import in_folder
from gllint.files.notebooks import as_python
from gllint.verdict import baseline
from gllint_runtime import GLError, Session
from gllint_runtime.policy.settings import Policy

Write = Callable[[Mapping[str, str | bytes]], Path]

CONFIGURATIONS = {
    "too large": ("# " + "x" * 1_000_000 + "\n", "too large for a configuration: 1,?000,?003 bytes"),
    "a key of too many parts": ("a" + ".a" * 2_000 + " = 1\n", "too many parts: at most 1,?000 names"),
    "nested too deeply": ("exclude = " + "[" * 100_000, "not valid TOML"),
    "a pattern of too many characters": (f"exclude = ['{'*a' * 3_000}']", "is not a pattern"),
}


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_a_configuration_beyond_a_bound(write: Write, name: str) -> None:
    text, said = CONFIGURATIONS[name]
    with pytest.raises(UsageError, match=said):
        in_folder(str(write({"gllint.toml": text})))


def test_a_baseline_of_too_many_findings(tmp_path: Path) -> None:
    entry = {"code": "GL101", "path": "a.py", "scope": "", "text": "", "target": "", "count": 600_000}
    (tmp_path / "b.json").write_text(json.dumps({"version": 1, "findings": [entry, entry]}))
    with pytest.raises(UsageError, match="entry 2: 'count' must be a whole number from 1 to 400000"):
        baseline.read(str(tmp_path / "b.json"))


def test_a_notebook_of_too_many_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gllint.files.notebooks._MOST_BYTES", 10)
    assert b"too large" in as_python(json.dumps({"cells": [], "nbformat": 4}).encode())


def test_a_schema_of_too_many_parts() -> None:
    schema = {"type": "object", "properties": {f"a{i}": {"type": "number"} for i in range(20_000)}}
    tool = offered_tool({"name": "t", "inputSchema": {"type": "object"}, "outputSchema": schema}, 1)
    [found] = judged([tool], Policy())
    assert (
        found.is_unread and found.message == "its output schema has more than 20,000 parts and was not judged"
    )


RUNTIME: dict[str, tuple[Callable[[Session], Any], str]] = {
    "a message of too many characters": (lambda s: s.check("a" * 500_001), "has more than 500000 characters"),
    "an output of too many values": (lambda s: s.record("t", {}, [None] * 200_001), "more than 200000 values"),
    "an output of too many characters": (lambda s: s.record("t", {}, ["a" * 20_000_001]), "more than 20000000 characters"),
    "an output that is nested too deeply": (lambda s: s.record("t", {}, json.loads("[" * 70 + "]" * 70)), "nested too deeply"),
    "too many claims": (lambda s: s.check("a", [{}] * 100_001), "100000|claims"),
    "a claim's path of too many characters": (
        lambda s: s.check("{{claim:0}}", [{"source_call_id": s.record("t", {}, {}), "path": "$" + ".a" * 600, "quantity": {"value": 1, "unit": "kWh"}}]),
        "path",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RUNTIME)
def test_what_comes_in_beyond_a_bound(name: str) -> None:
    attempt, said = RUNTIME[name]
    with pytest.raises(GLError, match=said):
        attempt(Session())
