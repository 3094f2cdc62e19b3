"""Regular expressions of users: a limit on their time, whatever they are and whatever text they meet."""

from __future__ import annotations

import logging
import re
import time

import pytest

from gllint_runtime import scan_naked_numbers
from gllint_runtime.policy.patterns import SECONDS, SlowPattern, is_in, matches
from gllint_runtime.policy.settings import Policy
from gllint_runtime.policy.validation import checker

SLOW = [
    (r"(a|aa)+$", "a" * 60 + "!"),
    (r"(x+x+)+y", "x" * 4_000),
    (r"[A-Z][A-Z0-9]*\d+", "A" * 40_000),
]
PLAIN = [
    r"\d+",
    r"ID-\d+",
    r"(\d+\.)+\d+",
    r"[A-Z]{2,4}-\d+",
    r"(?i)section \d+(,\s*\d+)*",
    r"(?<=No\. )\d+",
    r"(?>a+)+b",
    "",
]


@pytest.mark.parametrize(("pattern", "text"), SLOW)
def test_what_takes_too_long_is_given_up_and_logged(
    pattern: str, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    begin = time.process_time()
    with pytest.raises(SlowPattern, match="takes too long to match; make it simpler"):
        is_in(pattern, text)
    with caplog.at_level(logging.WARNING, "gllint_runtime"):
        assert [match.group() for match in matches(pattern, text)] == []
    assert "takes too long to match" in caplog.text
    assert time.process_time() - begin < 10 * SECONDS


def test_what_it_would_have_excused_is_a_number() -> None:
    assert [n.text for n in scan_naked_numbers("a" * 60 + "! 5 kWh", whitelist=[r"(a|aa)+$|5"])] == ["5"]


@pytest.mark.parametrize("pattern", PLAIN)
def test_what_people_write_matches_as_in_re(pattern: str) -> None:
    assert Policy(whitelist=(pattern,)).whitelist == (pattern,)
    text = "ID-4711, KWH-12, 1.2.3, Section 4, 5, No. 7, ²٣, aab"
    assert [m.span() for m in matches(pattern, text)] == [m.span() for m in re.finditer(pattern, text)]


@pytest.mark.parametrize("pattern", ["(", "a{2,1}", "[z-a]", "(?P<a>x)(?P<a"])
def test_what_does_not_compile_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="is not a valid regular expression"):
        Policy(whitelist=(pattern,))


@pytest.mark.usefixtures("unmeasured")
def test_a_schema_whose_expressions_take_too_long_fits_nothing() -> None:
    slow, text = SLOW[0]
    for schema, data in (
        ({"type": "string", "pattern": slow}, text),
        ({"patternProperties": {slow: {}}}, {text: 1}),
        ({"additionalProperties": False, "patternProperties": {slow: {}}}, {text: 1}),
    ):
        found = checker(schema)(data)
        assert found is not None and "takes too long" in found[1]


def test_keys_that_an_expression_names_are_not_additional() -> None:
    fits = checker(
        {
            "patternProperties": {"^x-": {"type": "string"}},
            "properties": {"a": {}},
            "additionalProperties": False,
        }
    )
    assert fits({"a": 1, "x-b": "text"}) is None
    assert fits({"x-b": 1}) == (("x-b",), "1 is not of type 'string'")
    assert fits({"b": 1}) == ((), "Additional properties are not allowed ('b' was unexpected)")
    assert fits({"b": 1, "c": 2}) is not None
