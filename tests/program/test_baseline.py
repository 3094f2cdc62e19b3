"""The baseline: old findings stay known however the code moves, new ones are reported."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Write = Callable[..., Path]
Run = Callable[..., Any]
Check = Callable[..., list[str]]

FUNCTIONS = [
    f'''\
@tool
def tool_{n}(site: str) -> dict:
    """Tool {n}."""
    value = helper_{n}(site)
    return {{"site": site, "total": {n}.5 * 2, "text": value}}
'''
    for n in range(6)
] + [f"def helper_{n}(site):\n    return site.title()\n" for n in range(6)]
HEAD = "from langchain_core.tools import tool\n"
TAIL = '''\
FINAL_MESSAGE = """
Used 500 kWh
and 600 kWh.
"""
'''


def module(functions: list[str]) -> str:
    return "\n\n".join([HEAD, *functions, TAIL])


def findings(check: Check, top: Path, *arguments: str) -> list[str]:
    return check("--baseline", "base.json", *arguments, cwd=top, whole=True)


@pytest.fixture
def old(write: Write, run: Run) -> Path:
    """A project with a baseline of its eight findings."""
    top = write({"a.py": module(FUNCTIONS), "clean.py": "x = 1\n"})
    done = run("check", "--write-baseline", "base.json", cwd=top)
    assert (done.returncode, done.stderr.decode()) == (0, "Wrote 8 findings to base.json.\n")
    return top


def test_what_is_known_is_not_reported(old: Path, check: Check) -> None:
    assert findings(check, old) == []
    before = (old / "base.json").read_bytes()
    assert findings(check, old) == []
    assert (old / "base.json").read_bytes() == before


def edited(functions: list[str], chance: random.Random) -> list[str]:
    """The functions after one edit that moves code: the findings are the same ones."""
    functions = list(functions)
    match chance.randrange(5):
        case 0:
            at = chance.randrange(len(functions))
            functions[at] = "\n" * chance.randrange(1, 4) + "# moved\n" + functions[at]
        case 1:
            chance.shuffle(functions)
        case 2:
            functions.insert(
                chance.randrange(len(functions)),
                f"def extra_{chance.random():.9f}():\n    pass\n".replace("0.", ""),
            )
        case 3:
            name = f"helper_{chance.randrange(6)}"
            fresh = f"{name}_{chance.randrange(10**6)}"
            functions = [re.sub(rf"\b{name}(_\d+)*\b", fresh, text) for text in functions]
        case _:
            at = chance.randrange(len(functions))
            head, _, body = functions[at].partition(":\n")
            functions[at] = f"{head}:\n    # a remark\n{body}"
    return functions


def test_a_hundred_edits_bring_no_old_finding_back_and_hide_no_new_one(old: Path, check: Check) -> None:
    chance = random.Random(11)
    functions = list(FUNCTIONS)
    for step in range(100):
        functions = edited(functions, chance)
        planted = step % 10 == 9
        text = module(functions)
        if planted:
            text += f'final_message = "planted {step} kWh"\n'
        (old / "a.py").write_text(text)
        reported = findings(check, old)
        assert [line.split()[1] for line in reported] == (["GL401"] if planted else []), (step, reported)
        assert not planted or f"`{step}`" in reported[0]


def test_a_fix_and_a_regression_do_not_cancel_out(old: Path, check: Check) -> None:
    functions = list(FUNCTIONS)
    functions[0] = functions[0].replace("0.5 * 2", "None")
    functions[1] = functions[1].replace('"text": value', '"text": 0.5 * 2')
    (old / "a.py").write_text(module(functions))
    assert len(findings(check, old)) == 1


def test_a_second_finding_of_the_same_line_is_new(old: Path, check: Check) -> None:
    (old / "a.py").write_text(module(FUNCTIONS) + TAIL.replace("FINAL_MESSAGE", "final_message"))
    assert len(findings(check, old)) == 2


def test_a_moved_file_and_a_renamed_function_keep_their_findings(old: Path, check: Check) -> None:
    (old / "sub").mkdir()
    (old / "a.py").rename(old / "sub/b.py")
    assert findings(check, old) == []
    text = (old / "sub/b.py").read_text().replace("def tool_3", "def tool_three")
    (old / "sub/b.py").write_text(text)
    assert findings(check, old) == []
    assert {entry["path"] for entry in json.loads((old / "base.json").read_text())["findings"]} == {
        "sub/b.py"
    }


def test_what_is_fixed_is_named_and_pruned(old: Path, run: Run, check: Check) -> None:
    (old / "a.py").write_text(module(FUNCTIONS).replace("600", "many"))
    done = run("check", "--baseline", "base.json", cwd=old)
    assert done.returncode == 0
    assert "Fixed since the baseline: a.py: GL401 and 600 kWh." in done.stderr.decode()
    assert len(json.loads((old / "base.json").read_text())["findings"]) == 7
    (old / "a.py").write_text(module(FUNCTIONS))
    assert len(findings(check, old)) == 1


def test_what_was_not_checked_is_not_taken_for_fixed(old: Path, check: Check) -> None:
    before = (old / "base.json").read_bytes()
    assert findings(check, old, "clean.py") == []
    assert findings(check, old, "--select", "GL5") == []
    assert (old / "base.json").read_bytes() == before


@pytest.mark.parametrize(
    "content",
    [None, b"", b"[]", b"{}", b"\xff", b'{"version": 2, "findings": []}', b'{"version": 1}',
     b'{"version": 1, "findings": [{"code": "GL401"}]}', b'{"version": 1, "findings": [3]}',
     b'{"version": 1, "findings": [{"code": 1, "path": "", "scope": "", "text": "", "target": ""}]}'],
)  # fmt: skip
def test_an_unreadable_baseline_is_one_line_and_2(
    write: Write, run: Run, content: bytes | None, agent: str
) -> None:
    top = write({"a.py": agent} | ({} if content is None else {"base.json": content}))
    done = run("check", "--baseline", "base.json", cwd=top)
    assert done.returncode == 2
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith(f"gllint: {top}/base.json: ")
