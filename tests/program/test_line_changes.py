"""Which lines of a text are others: right for every pair of texts, and work that grows with them alone."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gllint.files.line_changes import line_changes, patch


class Line(bytes):
    """A line that counts how often one is compared with another."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        Line.compared += 1
        return bytes.__eq__(self, other)

    def __hash__(self) -> int:
        return bytes.__hash__(self)


def made(old: list[bytes], new: list[bytes]) -> list[bytes]:
    """What the changes make of ``old``; those that touch are one."""
    lines: list[bytes] = []
    at = 0
    for change in line_changes(old, new):
        assert change.first > at or change.first == at == 0
        lines += old[at : change.first] + new[change.new_first : change.new_last]
        at = change.last
    return lines + old[at:]


_LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"\n"]), max_size=200)


@given(_LINES, _LINES)
def test_the_changes_make_one_text_of_the_other(old: list[bytes], new: list[bytes]) -> None:
    assert made(old, new) == new


@given(_LINES, st.lists(st.tuples(st.integers(0, 200), st.sampled_from([b"", b"x\n", b"a\n"])), max_size=9))
def test_the_changes_of_a_long_text_make_the_other(part: list[bytes], edits: list[tuple[int, bytes]]) -> None:
    old = [*part, *(b"%d\n" % i for i in range(80)), *part]
    new = list(old)
    for at, line in edits:
        new[at : at + 1] = [line] if line else []
    assert made(old, new) == new


def _blank(n: int) -> tuple[list[bytes], list[bytes]]:
    return [b"x\n", *[b"\n"] * n, b"y\n"], [b"z\n", *[b"\n"] * n, b"w\n"]


def _every_other(n: int) -> tuple[list[bytes], list[bytes]]:
    return [b"a\n", b"b\n"] * n, [b"a\n", b"c\n"] * n


def _one_less(n: int) -> tuple[list[bytes], list[bytes]]:
    return [b"a\n", b"b\n"] * n, [b"d\n", *([b"a\n", b"c\n"] * n)]


def _swapped(n: int) -> tuple[list[bytes], list[bytes]]:
    lines = [b"%d\n" % i for i in range(n)]
    return lines, lines[::-1]


@pytest.mark.parametrize("shape", [_blank, _every_other, _one_less, _swapped])
def test_lines_are_compared_a_few_times_each(shape: Callable[[int], tuple[list[bytes], list[bytes]]]) -> None:
    old, new = ([Line(line) for line in lines] for lines in shape(4000))
    Line.compared = 0
    line_changes(old, new)
    assert Line.compared < 40 * len(old)


def test_single_lines_that_changed_are_told_apart() -> None:
    old, new = _every_other(1000)
    assert [change[:2] for change in line_changes(old, new)] == [(i, i + 1) for i in range(1, 2000, 2)]


@pytest.mark.parametrize("shape", [_blank, _every_other, _one_less, _swapped])
@pytest.mark.parametrize("n", [2, 5, 100])
def test_git_takes_the_patch(
    shape: Callable[[int], tuple[list[bytes], list[bytes]]], n: int, tmp_path: Path
) -> None:
    old, new = shape(n)
    (tmp_path / "a").write_bytes(b"".join(old))
    told = b"".join(patch(old, new, b"a/a", b"b/a"))
    subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=told, check=True)
    assert (tmp_path / "a").read_bytes() == b"".join(new)
    assert list(patch(new, new, b"a/a", b"b/a")) == []
