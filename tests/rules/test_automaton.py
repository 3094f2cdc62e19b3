"""The screen finds the same fragments with and without the library that looks for all of them in one pass."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gllint_rules import Settings
from gllint_rules.words.screen import MARKS, Screen, imported_names

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


@pytest.mark.parametrize(
    ("source", "names"),
    [
        (b"import os, a.b as c\nx = 1", {"os", "a", "b", "as", "c"}),
        (b"from a import b, \\\n  c\nd", {"b", "c"}),
        (b"from a import b, \\\r\n  c", {"b"}),
        (b"from a import (\n  b,  # one\n  c,\n)\nd", {"b", "one", "c"}),
        (b"from a import (b); d\ne", {"b", "d"}),
        (b"from a import (\n b", {"b"}),
        (b"from a import *", {"*"}),
        (b"from a import b\n\n\ndef f(c):\n    import d", {"b", "d"}),
    ],
)
def test_finds_the_names_after_each_import(source: bytes, names: set[str]) -> None:
    assert imported_names(source) == {name.encode() for name in names}


def test_finds_the_names_after_imports_in_time_with_the_file() -> None:
    assert imported_names(b"import(" * 300_000) == {b"import"}
    assert imported_names(b"import \\\n" * 300_000) == {b"import"}
