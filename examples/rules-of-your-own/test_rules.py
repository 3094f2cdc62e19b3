"""The page of each rule is its test: run with pytest where this package is installed."""

from acme_rules.acme101_tool_without_description import RULE

from gllint_rules.check.examples import example_problems


def test_the_page_holds_what_it_says() -> None:
    assert example_problems(RULE) == []
