"""Plain calls of ``gllint check`` are read without click, as click would read them."""

from __future__ import annotations

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gllint.cli.commands import check
from gllint.cli.main import plain_check
from gllint.cli.request import Request

FLAGS = [option for parameter in check.params for option in parameter.opts if option.startswith("-")]
WORDS = [
    *FLAGS,
    "--output-format=json",
    "--output-format=",
    "--output-format=x",
    "json",
    "x",
    "",
    "a.py",
    "-",
    "--",
    "-qv",
    "-x",
    "--nope",
]


def by_click(words: list[str]) -> Request | None:
    try:
        fields = check.make_context("check", list(words)).params
        assert fields.pop("config") == ()  # which a plain call never names
        return Request(**fields)
    except (click.ClickException, click.exceptions.Exit, ValueError):
        return None


@given(st.lists(st.sampled_from(WORDS), max_size=5))
def test_what_is_read_is_what_click_reads(words: list[str]) -> None:
    plain = plain_check(["check", *words])
    if plain is not None:
        assert Request(**plain) == by_click(words)


@pytest.mark.parametrize(
    "words",
    [[], ["."], ["a.py", "-"], ["--quiet", "--output-format", "json", "a"], ["--no-cache", "--output-format=sarif", "--force-exclude", "b"]],
)  # fmt: skip
def test_plain_calls_are_read(words: list[str]) -> None:
    plain = plain_check(["check", *words])
    assert plain is not None
    assert Request(**plain) == by_click(words)


@pytest.mark.parametrize(
    "words",
    [["check", "--help"], ["check", "--jobs", "2"], ["check", "--output-format=x"], ["check", "--output-format"], ["--version"], ["rule"], []],
)  # fmt: skip
def test_the_rest_is_left_to_click(words: list[str]) -> None:
    assert plain_check(words) is None


def test_a_variable_that_click_knows_is_left_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLLINT_CACHE_DIR", "elsewhere")
    assert plain_check(["check", "."]) is None
