"""`plain-kinds`: numbers whose key says that kind are left out, and the summary says how many."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Run, Write

AGENT = '''\
from langchain_core.tools import tool

from helper import more


@tool
def f(rows: list) -> dict:
    """F."""
    return {"n_rows": len(rows), "found": len(rows), "page": 1, "inner": more(rows)}


@tool
def g(rows: list) -> dict:
    """G."""
    return more(rows)
'''
HELPER = 'def more(rows):\n    return {"word_count": 5, "heat_kwh": 2.5}\n'


@pytest.mark.parametrize(
    ("kinds", "findings", "line"),
    [
        ("[]", 5, ""),
        # `word_count` is 5 because somebody typed it: nothing counted that.
        ("['count', 'index']", 3, "2 numbers of the kinds in `plain-kinds` are not reported."),
        ("['index']", 4, "1 number of the kinds in `plain-kinds` is not reported."),
        ("['count']", 4, "1 number of the kinds in `plain-kinds` is not reported."),
    ],
)
def test_the_summary_counts_what_is_left_out(
    write: Write, run: Run, kinds: str, findings: int, line: str
) -> None:
    top = write({"agent.py": AGENT, "helper.py": HELPER, "gllint.toml": f"plain-kinds = {kinds}\n"})
    for _ in ("cold", "warm"):
        said = run("check", "--select", "GL101", cwd=top)
        assert said.stderr.count(b"Found") == 1 and f"Found {findings} findings".encode() in said.stderr
        assert (b"reported" in said.stderr) == bool(line)
        assert line.encode() in said.stderr


def test_where_only_the_expression_says_so_the_help_names_the_key(write: Write, run: Run) -> None:
    top = write(
        {
            "agent.py": AGENT,
            "helper.py": HELPER,
            "gllint.toml": "plain-kinds = ['count', 'index']\n",
        }
    )
    said = run("check", "--select", "GL101", "--verbose", cwd=top)
    assert b'`found` is a count and needs no unit: set `plain-keys = ["found"]`.' in said.stdout
