"""Every labelled case: the program reports the marked places and no other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gllint_rules import RULES
from harness import Case, cases, checked

FILES = sorted((Path(__file__).parent / "cases").glob("*.md"))
CASES = [
    pytest.param(case, id=f"{path.stem}-{re.sub(r'[^0-9a-zA-Z]+', '-', case.title).strip('-')}")
    for path in FILES
    for case in cases(path)
]


@pytest.mark.parametrize("case", CASES)
def test_case(case: Case, tmp_path: Path) -> None:
    assert checked(case, tmp_path) == case.expected()


def test_no_marker_is_overlooked() -> None:
    """A marker that the harness cannot read would turn a case into a trap."""
    for path in FILES:
        text = path.read_text("utf-8")
        written = len(re.findall(r"\bGL\d{3} @ ", text))
        read = sum(len(case.expected()) for case in cases(path))
        assert read == written, path.name


def test_every_rule_has_cases_and_traps() -> None:
    """A rule is shown by what it reports and by at least five projects in which it is silent."""
    silent: dict[str, int] = dict.fromkeys(RULES, 0)
    speaks: dict[str, int] = dict.fromkeys(RULES, 0)
    for path in FILES:
        code = path.stem[:5].upper()
        if code not in RULES:
            continue
        for case in cases(path):
            marked = {place.code for place in case.expected()}
            speaks[code] += code in marked
            silent[code] += code not in marked
    checked = [code for code, rule in RULES.items() if rule.check is not None]
    assert [code for code in checked if speaks[code] == 0] == []
    assert [code for code in checked if silent[code] < 5] == []
