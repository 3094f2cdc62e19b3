"""The patch that ``--diff`` prints gives, once git has applied it, the very bytes that ``--fix`` writes."""

from __future__ import annotations

import codecs
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

TOOLS = '''\
"""Werkzeuge für Gebäude."""

import json

from gllint_runtime import Tool


def heat(site: str) -> dict[str, float]:
    area = survey(site)  # in m²
    return {
        "heat_kwh": area
        * 80.0,
        "räume": len(area),
    }  # noqa: GL303


HEAT = Tool(
    name="heat",
    args_schema={"type": "object", "required": ["site"], "properties": {"site": {"type": "string"}}},
    result_schema={"type": "object", "properties": {"heat_kwh": {"type": "number"}}},
    fn=heat,
)


def finish(call: str, heat: dict, site: str) -> dict:
    claims = [{"source_call_id": call, "path": "heat", "quantity": heat}]
    return {"kind": "final", "message": f"{site} needs {{claim:0}}.", "claims": claims}
'''
UNIT = "from langchain_core.tools import tool\n\n\n@tool\ndef f(x):\n    return {'a': {'value': x, 'unit': 'kwh'}}\n"


PLAIN = TOOLS.replace("²", "2")
FILES = {
    "lf.py": TOOLS.encode(),
    "crlf.py": TOOLS.replace("\n", "\r\n").encode(),
    "bom.py": codecs.BOM_UTF8 + TOOLS.encode(),
    "latin_1.py": b"# coding: latin-1\n" + PLAIN.encode("latin-1"),
    "no_newline_at_the_end.py": TOOLS.rstrip("\n").encode(),
    "tabs.py": TOOLS.replace("    ", "\t").encode(),
    "form_feed.py": TOOLS.replace("\n\n\ndef", "\n\n\f\ndef").encode(),
    "separators.py": TOOLS.replace("in m²", "in\x0b\x85\u2028m²").encode(),
    "my tools/à b.py": UNIT.encode(),
}


@pytest.mark.parametrize("flags", [["--fix"], ["--fix", "--unsafe-fixes"]], ids=["safe", "unsafe"])
def test_the_patch_gives_the_same_bytes(run: Run, tmp_path: Path, flags: list[str]) -> None:
    written, patched = tmp_path / "written", tmp_path / "patched"
    for folder in (written, patched):
        for name, data in FILES.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
        subprocess.run(["git", "init", "-q", folder], check=True)
    options = ["--isolated", "--no-cache", "--quiet"]
    patch = run("check", ".", *options, *flags, "--diff", cwd=patched)
    assert patch.returncode in (0, 1), patch.stderr
    assert {name: (patched / name).read_bytes() for name in FILES} == FILES
    command = ["git", "apply", "--whitespace=nowarn", "-"]
    subprocess.run(command, cwd=patched, input=patch.stdout, check=True)
    assert run("check", ".", *options, *flags, cwd=written).returncode in (0, 1)
    fixed = {name: (written / name).read_bytes() for name in FILES}
    assert {name: (patched / name).read_bytes() for name in FILES} == fixed
    assert [name for name in FILES if fixed[name] == FILES[name]] == []
    assert run("check", ".", *options, *flags, "--diff", cwd=written).stdout == b""
