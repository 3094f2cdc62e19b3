"""The page of each rule is its test: run with pytest where this package is installed."""

import pytest
from acme_rules import acme101_tool_without_description, acme102_unordered_json, acme103_tool_without_owner

from gllint_rules.check.examples import example_problems

MODULES = (acme101_tool_without_description, acme102_unordered_json, acme103_tool_without_owner)


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_of_the_page(module) -> None:
    assert example_problems(module.RULE) == []
