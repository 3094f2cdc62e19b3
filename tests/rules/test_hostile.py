"""What makes a linter stall: many findings in one function, each with a fix."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from gllint_rules import RULES, Failure, Settings
from gllint_rules.check.check import check
from gllint_rules.project.project import Project
from gllint_rules.reading.literals import literals
from gllint_rules.reading.modules import read_module
from gllint_rules.reading.syntax import ParseFailure


def dict_in_a_tool(n: int) -> str:
    entries = "".join(f'        "k{i}": {i},\n' for i in range(n))
    return tool(f"    return {{\n{entries}    }}\n")


def dict_of_like_keys(n: int) -> str:
    entries = "".join(f'        "k{i}_power": {i},\n' for i in range(n))
    return tool(f"    return {{\n{entries}    }}\n")


def returns_in_a_tool(n: int) -> str:
    return tool("".join(f'    if a == {i}:\n        return {{"k{i}": {i}}}\n' for i in range(n)))


def helpers_that_dump(n: int) -> str:
    n *= 4  # a step is small beside a finding
    model = "from pydantic import BaseModel\n\n\nclass Reading(BaseModel):\n    load: float\n"
    helpers = "".join(f"\n\ndef told{i}(r: Reading):\n    return r.model_dump()\n" for i in range(n))
    calls = ", ".join(f"told{i}(Reading(load={i}.5))" for i in range(n))
    return model + helpers + tool(f"    return [{calls}]\n")


def rows_of_a_table(n: int) -> str:
    n *= 4
    rows = ", ".join('{"a": "x", "b": ["y"]}' for _ in range(n))
    given = "def given(rows: list[dict[str, object]], x) -> list:\n    return [x, [row for row in rows]]\n"
    return f"ROWS = [{rows}]\n\n\n{given}\n\n" + tool("    return given(ROWS, a)\n")


def tool(body: str) -> str:
    return f"from agents import function_tool\n\n\n@function_tool\ndef report(a):\n{body}"


def steps(text: str) -> int:
    """How many Python lines it takes to find and mend what is wrong with a file."""
    path = "/project/a.py"
    project = Project(
        Settings(), lambda _: None, {path}.__contains__, {path: text}.__getitem__, "/project", None
    )
    project.add(read_module(path, text))
    taken = 0

    def count(*_: object) -> Any:
        nonlocal taken
        taken += 1
        return count

    sys.settrace(count)
    try:
        found = list(check(project, path, frozenset(RULES)))
    finally:
        sys.settrace(None)
    assert [item for item in found if isinstance(item, Failure)] == []
    return taken


@pytest.mark.parametrize(
    "shape", [dict_in_a_tool, dict_of_like_keys, returns_in_a_tool, helpers_that_dump, rows_of_a_table]
)
def test_fixes_take_time_in_proportion_to_the_findings(shape: Callable[[int], str]) -> None:
    steps(shape(2))  # what is imported and read once
    few, more = steps(shape(40)), steps(shape(160))
    assert more < 5.5 * few


@pytest.mark.parametrize("text", ["x = '\0'\n", "# \0\n", "f'{a}\0'\n", "x = 1\n\0"])
def test_a_null_byte_is_refused_wherever_it_stands(text: str) -> None:
    with pytest.raises(ParseFailure):
        read_module("/a.py", text)


def test_signs_of_a_comment_before_no_string_are_read_once() -> None:
    """Each of forty could begin a comment of its own: to try all ways would take years."""
    with pytest.raises(ValueError, match="no string"):
        list(literals("#" * 40 + "\x01"))
