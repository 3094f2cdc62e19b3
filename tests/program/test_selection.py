"""Which codes are in force."""

from __future__ import annotations

import pytest

from gllint.errors import UsageError
from gllint.files.selection import check_selectors, matches, selected_codes
from gllint_rules import Rule

RULES = {
    code: Rule(code, f"rule-{code.lower()}", "", "", None) for code in ("GL101", "GL102", "GL105", "GL401")
}


@pytest.mark.parametrize(
    ("select", "extend", "ignore", "expected"),
    [
        (None, (), (), "GL101 GL102 GL401"),
        (None, ("GL105",), (), "GL101 GL102 GL105 GL401"),
        (None, (), ("GL1",), "GL401"),
        (None, ("GL101",), ("GL1",), "GL101 GL401"),
        (("GL1",), (), (), "GL101 GL102"),
        (("GL105",), (), (), "GL105"),
        (("GL1", "GL105"), (), (), "GL101 GL102 GL105"),
        (None, ("GL1",), (), "GL101 GL102 GL401"),
        (("GL1",), (), ("GL101",), "GL102"),
        (("GL101",), (), ("GL1",), "GL101"),
        (("GL1",), (), ("GL1",), ""),
        (("ALL",), (), (), "GL101 GL102 GL105 GL401"),
        (("ALL",), (), ("GL4",), "GL101 GL102 GL105"),
        (None, (), ("ALL",), ""),
        ((), ("GL401",), (), "GL401"),
    ],
)
def test_the_longest_selector_decides(
    select: tuple[str, ...] | None, extend: tuple[str, ...], ignore: tuple[str, ...], expected: str
) -> None:
    assert selected_codes(select, extend, ignore, RULES) == frozenset(expected.split())


def test_an_unknown_code_names_the_nearest() -> None:
    check_selectors(["GL1", "GL401", "ALL"], "here", RULES)
    with pytest.raises(UsageError, match=r"here: unknown code 'GL411'; did you mean 'GL401'\?"):
        check_selectors(["GL101", "GL411"], "here", RULES)
    with pytest.raises(UsageError, match="unknown code 'rule-gl40'; did you mean"):
        check_selectors(["rule-gl40"], "here", RULES)


def test_matches_by_prefix() -> None:
    assert matches("GL401", ["GL4"])
    assert not matches("GL401", ["GL41"])
