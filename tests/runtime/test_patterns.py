"""Regular expressions of users: none that can take for ever is accepted, and none that people write is refused."""

from __future__ import annotations

import pytest

from gllint_runtime.policy.patterns import backtracks
from gllint_runtime.policy.settings import Policy

ENDLESS = [
    r"(a+)+$", r"(a*)*", r"(a|a)*$", r"(a|aa)+$", r"(\d+)*x", r"(\w+\s*)+:", r"(?:\d+[,.]?)+$", r"(.*)*", r"((a+b?)+c?)+",
    r"(x+x+)+y", r".*.*.*.*=", r"(\d+|\d+\.)+$", r"([0-9]+)+ kWh", r"(?:(?:a+)+)+", r"(?P<x>\d+)+", r"(a{1,200}){1,200}$",
    r"(?=(a+)+b)\d", r"(?:[ab]+[ab])+$", r"(?i:(\w*)+)\d", r"(?:\d+\d)+x", r"(?:\s\s+)+x", r"(?:\w\W?\w*)+x",
    r"(?:\S+[^\s])+x", r"(a{1,3})+b", r"(?:\d{1,2}:?)+x", r"(a+){100}b", r"(a)(?:\1+a)+b", r"(a)?(?(1)b|(?:c+)+)d",
]  # fmt: skip
QUICK = [
    r"(a+){3}b", r"(?:\d{1,3}\.){3}\d{1,3}", r"(?:[A-Z]+-){4}\d", r"(?:\d+,){5}\d+", r"(?:[A-F\d]{1,4}:?){8}",
    r"\d+", r"ID-\d+", r"(\d+\.)+\d+", r"[A-Z]{2,4}-\d+", r"Room \d+(?:[a-z])?", r"(?:v\d+(?:\.\d+)*)", r"\bRFC ?\d+\b",
    r"(?:[a-z]+ )+\d+", r"(foo|bar)+\d", r".*\d.*", r"(?i)section \d+(,\s*\d+)*", r'"[^"]*"', r"(ab|a)+", r"(?>a+)+b",
    r"\d*\d*\d*[a-z]*", r"(?:\d+\D)+x", r"(?:\w+\W)+x", r"(?:\s+\S)+x", r"(?:rows?|cols?)+", r"(?:\d{2}:?)+",
    r"(a{2,2})+b", r"(a)?(?(1)b)\d", r"(?<=No\. )\d+", r"(?:\d{1,3},)*\d{3}", r"\w+@\w+\.\w+", r"(\d|\w)+!", r"", r"[^\d]*\d+", r"(a)?(?(1)b|c)\d",
]  # fmt: skip


@pytest.mark.parametrize("pattern", ENDLESS)
def test_what_explodes_is_refused(pattern: str) -> None:
    assert backtracks(pattern)
    with pytest.raises(ValueError, match="for ever"):
        Policy(whitelist=(pattern,))


@pytest.mark.parametrize("pattern", QUICK)
def test_what_people_write_is_taken(pattern: str) -> None:
    assert not backtracks(pattern)
    assert Policy(whitelist=(pattern,)).whitelist == (pattern,)
