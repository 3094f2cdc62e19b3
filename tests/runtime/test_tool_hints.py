"""The annotations of MCP and the categories: each as the other."""

from __future__ import annotations

from typing import Any

import pytest

from gllint_runtime import ToolCategory
from gllint_runtime.policy.tool_hints import category_of_hints, hints_of


@pytest.mark.parametrize("category", [*ToolCategory])
def test_a_category_comes_back_from_its_hints(category: ToolCategory) -> None:
    assert category_of_hints(hints_of(category.name)) == category.name


@pytest.mark.parametrize(
    ("hints", "category"),
    [
        (None, "EXTERNAL"),
        ({}, "EXTERNAL"),
        ({"readOnlyHint": True}, "EXTERNAL"),  # it may still reach the network
        ({"readOnlyHint": True, "openWorldHint": False}, "READ_ONLY"),
        ({"openWorldHint": False}, "MODIFICATION"),
        ({"destructiveHint": False, "openWorldHint": False}, "NOTE_TAKING"),
        ({"destructiveHint": False, "openWorldHint": "false"}, "EXTERNAL"),
        ({"readOnlyHint": 1, "openWorldHint": False}, "MODIFICATION"),
        ("readOnlyHint", "EXTERNAL"),
    ],
)
def test_a_hint_that_is_missing_or_unreadable_excuses_nothing(hints: Any, category: str) -> None:
    assert category_of_hints(hints) == category
