"""Each message and each help of the rules, word by word: the table ``messages.txt``.

A row names a case, and a finding in it. The table has one row for each form of a message or help, where names and
numbers do not count. After a change, ``python tests/rules/test_every_message.py`` writes the rows anew: read the diff.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gllint_rules import RULES, Finding
from harness import Case, cases, run

TABLE = Path(__file__).with_name("messages.txt")
HEAD = "# Written by test_every_message.py: a case, a message, a help.\n"


def all_cases() -> Iterator[tuple[str, Case]]:
    """The cases with their names, those of one rule first."""
    files = sorted(
        (Path(__file__).parent / "cases").glob("*.md"), key=lambda path: (path.stem[:2] != "gl", path)
    )
    for path in files:
        yield from ((f"{path.stem}: {case.title}", case) for case in cases(path))


def texts(case: Case) -> list[tuple[str, str]]:
    """The message, behind its code, and the help of each finding."""
    found = [finding for finding in run(case) if isinstance(finding, Finding)]
    return [(f"{finding.code} {finding.message}", finding.help) for finding in found]


def form(text: str) -> str:
    """A text without its names, numbers and units."""
    names = re.compile(r"`[^`]*`|'[^']*'|\d[\d.,]*|(?<=Convert one of them first: ).*")
    return names.sub("…", text)


def rows() -> list[tuple[str, str, str]]:
    lines = TABLE.read_text("utf-8").split("\n")[1:]
    return [tuple(block.split("\n")) for block in "\n".join(lines).strip().split("\n\n")]  # type: ignore[misc]


def renewed() -> str:
    forms: set[str] = set()
    blocks = []
    for name, case in all_cases():
        for message, help_text in texts(case):
            # The forms of a help count for each rule by itself.
            new = {form(message), f"{message[:5]} {form(help_text)}"} - forms
            if new:
                forms |= new
                blocks.append((message, f"{name}\n{message}\n= {help_text}\n"))
    return HEAD + "\n" + "\n".join(block for _, block in sorted(blocks, key=lambda block: block[0][:5]))


ROWS = rows() if TABLE.exists() else []
BY_CASE = {
    name: [row[1:] for row in ROWS if row[0] == name] for name in dict.fromkeys(row[0] for row in ROWS)
}


@pytest.mark.parametrize("name", BY_CASE, ids=str)
def test_a_case_says_what_the_table_has(name: str) -> None:
    case = CASES.get(name)
    assert case is not None, f"no such case: {name}; run python {Path(__file__).name}"
    found = {(message, f"= {help_text}".rstrip()) for message, help_text in texts(case)}
    assert [row for row in BY_CASE[name] if (row[0], row[1].rstrip()) not in found] == []


def test_every_rule_has_a_row() -> None:
    codes = {row[1][:5] for row in ROWS}
    assert [code for code, rule in RULES.items() if rule.check is not None and code not in codes] == []


CASES = dict(all_cases())

if __name__ == "__main__":
    TABLE.write_text(renewed(), "utf-8")
    sys.exit()
