"""Regular expressions of users: none that can take for ever is accepted, and none that people write is refused."""

from __future__ import annotations

import re

import pytest

from gllint_runtime import scan_naked_numbers
from gllint_runtime.policy.patterns import matches, reach, why_endless
from gllint_runtime.policy.settings import Policy

ENDLESS = [
    r"(a+)+$", r"(a*)*", r"(a|a)*$", r"(a|aa)+$", r"(\d+)*x", r"(\w+\s*)+:", r"(?:\d+[,.]?)+$", r"(.*)*", r"((a+b?)+c?)+",
    r"(x+x+)+y", r".*.*.*.*=", r"(\d+|\d+\.)+$", r"([0-9]+)+ kWh", r"(?:(?:a+)+)+", r"(?P<x>\d+)+", r"(a{1,200}){1,200}$",
    r"(?=(a+)+b)\d", r"(?:[ab]+[ab])+$", r"(?i:(\w*)+)\d", r"(?:\d+\d)+x", r"(?:\s\s+)+x", r"(?:\w\W?\w*)+x",
    "a?" * 300 + "a" * 300, r"(?:a?){99}x", r"(?:a?b?){50}x", r"(a*)(a*)(a*)(a*)x", r"(?:a{0,9}){90}", r"(?:a*b*){9}x",
    r"a{1,50}a{1,50}a{1,50}a{1,50}x", r"a*[ab]*b*[bc]*c*x", r"(?:\S+[^\s])+x", r"(a{1,3})+b", r"(?:\d{1,2}:?)+x", r"(a+){100}b", r"(a)(?:\1+a)+b", r"(a)?(?(1)b|(?:c+)+)d",
    r"\w*\B\w*\B\w*\B\w*x", "(?:ab|a|b)" * 11, "a{0,9}" * 5 + "a?x", "(?:ab|cd|)" * 11, "(?:a+" * 40 + "){2}" * 40,
    r"(?:a?b|c?b)+x", r"a*b*bb*b*b*x", r"(?:[äö]+[öü])+x", r"\d*\d*\d*\d{0,7}x",
]  # fmt: skip
QUICK = [
    r"\w+-\w+-\w+-\w+", r"[A-Z][A-Z0-9]*\d+", r"(?:\d{1,3} ){3}\d{3}", "a?" * 9, "(?:a|ab)" * 30 + "x",
    r"^P(?:\d+Y)?(?:\d+M)?(?:\d+W)?(?:\d+D)?(?:T(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?$",
    r"^[\w.+-]+@[a-zA-Z0-9-]+\.[a-zA-Z0-9-.]+$", r"^\w+(\s\w+)*$", r"^(\w+\.)*\w+:\w+$", r"^/([^/]+/)*[^/]+$", r"(a+){3}b", r"(?:\d{1,3}\.){3}\d{1,3}", r"(?:[A-Z]+-){4}\d", r"(?:\d+,){5}\d+", r"(?:[A-F\d]{1,4}:?){8}",
    r"\d+", r"ID-\d+", r"(\d+\.)+\d+", r"[A-Z]{2,4}-\d+", r"Room \d+(?:[a-z])?", r"(?:v\d+(?:\.\d+)*)", r"\bRFC ?\d+\b",
    r"(?:[a-z]+ )+\d+", r"(foo|bar)+\d", r".*\d.*", r"(?i)section \d+(,\s*\d+)*", r'"[^"]*"', r"(ab|a)+", r"(?>a+)+b",
    r"\d*\d*\d*[a-z]*", r"(?:\d+\D)+x", r"(?:\w+\W)+x", r"(?:\s+\S)+x", r"(?:rows?|cols?)+", r"(?:\d{2}:?)+",
    r"(a{2,2})+b", r"(a)?(?(1)b)\d", r"(?<=No\. )\d+", r"(?:\d{1,3},)*\d{3}", r"\w+@\w+\.\w+", r"(\d|\w)+!", r"", r"[^\d]*\d+", r"(a)?(?(1)b|c)\d",
    "(?:ab|a|b)" * 10, "a{0,9}" * 5 + "x", "(?:ab|ba)" * 40, "(?:a" * 16 + ")?" * 16, "(?:ab|cd|)" * 10,
    r"(?:a?b){17}x", r"(?:\bab|^cd|\Bef)+\d", r"(?:[ab]+[cd])+x", r"\d*\d*\d*\d{0,6}x", r"a*b*bb*b*x",
]  # fmt: skip


@pytest.mark.parametrize("pattern", ENDLESS)
def test_what_explodes_is_refused(pattern: str) -> None:
    assert why_endless(pattern)
    with pytest.raises(ValueError, match="for ever"):
        Policy(whitelist=(pattern,))


@pytest.mark.parametrize("pattern", QUICK)
def test_what_people_write_is_taken(pattern: str) -> None:
    assert not why_endless(pattern)
    assert Policy(whitelist=(pattern,)).whitelist == (pattern,)


@pytest.mark.parametrize(
    ("pattern", "longest"),
    [
        (r"\d+", 10_000),
        (r"[A-Z][A-Z0-9]*\d+", 141),
        (r"\d*\d*\d*x", 39),
        (r"AB-\d{3}", 10_000),
        # A hundred repetitions are as good as any number of them.
        (r"a{0,100}a{0,100}x", 141),
        (r"a{0,99}a{0,99}x", 10_000),
        # What each round shares with the next is tried in so many ways more.
        (r"(?:a+){2}x", 141),
        (r"(?:a+b){2}x", 10_000),
        (r"(?:a{0,9}){2}b+", 100),
        (r"(?:a{0,9}c){2}b+", 1_000),
    ],
)
def test_the_more_a_pattern_may_try_the_less_far_it_reaches(pattern: str, longest: int) -> None:
    assert reach(pattern) == longest


@pytest.mark.parametrize("pattern", [r"REF-\d+", r"[A-Z]+[A-Z0-9]*\d+", r"\w*-\w*\d", r"X?"])
@pytest.mark.parametrize("n", [0, 1, 40, 4_000])
def test_a_long_text_is_searched_to_its_end(pattern: str, n: int) -> None:
    """Piece by piece, and what stands across two pieces is a match as any other."""
    text = ", ".join(f"REF-{i}" for i in range(n))
    expected = [match.span() for match in re.finditer(pattern, text)]
    assert [match.span() for match in matches(re.compile(pattern), text)] == expected


def test_an_expression_that_a_configuration_would_refuse_ends_all_the_same() -> None:
    """Whoever scans a text by themselves passes what nobody has judged."""
    for pattern, numbers in ((r"\w+\s*(?:[a-z]?){15}\d+", ["12"]), (r"\w+\s*(?:[a-z]?){15}\d*", [])):
        assert reach(pattern) == 1 and why_endless(pattern)
        assert [number.text for number in scan_naked_numbers("Run 12", whitelist=[pattern])] == numbers


def test_what_is_longer_than_a_match_may_be_is_cut_off() -> None:
    """Each digit of it is a number all the same: nothing is shown that nobody looked at."""
    text = "x" * 30 + "ISO 9001" + "x" * 5_000 + " 5 kWh"
    assert [number.text for number in scan_naked_numbers(text, whitelist=[r".*ISO \d+"])] == ["5"]
    assert [n.text for n in scan_naked_numbers("A" * 20_000 + "7", whitelist=[r"A+\d"])] == []
    assert [n.text for n in scan_naked_numbers("A" + "B" * 20_000 + "7", whitelist=[r"AB+\d"])] == ["7"]
