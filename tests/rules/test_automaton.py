"""The screen finds the same fragments with and without the library that looks for all of them in one pass."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gllint_rules import Settings
from gllint_rules.words.screen import MARKS, Screen

WORDS = [
    b"Tool",
    b"tool",
    b"TOOL_REGISTRY",
    b"chema",
    b"final",
    b"Final",
    b"{{claim",
    b"noqa",
    b"to",
    b"ol",
    b" ",
    b"gllint:",
]


@pytest.fixture(scope="module")
def screens() -> Iterator[tuple[Screen, Screen]]:
    settings = Settings(tool_classes=("my.toolTo", "finalTool"), final_message_names=("*_tofinal",))
    quick, plain = Screen(settings), Screen(settings)
    quick.fragments(b" " * 100_000)  # enough for the library to be asked
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "ahocorasick_rs", None)
        plain.fragments(b" " * 100_000)
        yield quick, plain


@given(st.lists(st.sampled_from(WORDS)).map(b"".join))
def test_the_fragments_are_the_same(screens: tuple[Screen, Screen], data: bytes) -> None:
    quick, plain = screens
    assert quick.fragments(data) == plain.fragments(data)
    assert quick.passes(data) == plain.passes(data)


def test_marks_are_among_them(screens: tuple[Screen, Screen]) -> None:
    for mark in MARKS:
        assert all(screen.fragments(b"x " + mark).keys() == {mark} for screen in screens)
