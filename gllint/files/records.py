"""Reading long files of JSON one value at a time: JSON Lines, one array, one value.

Memory contains one record, however long the file is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, TextIO

from gllint.shown import visible
from gllint_rules.tuples import NamedTuple

_CHUNK = 1 << 20
_LONGEST = 1 << 28  # characters of one record
_decoder = json.JSONDecoder(parse_constant=str)
_WHITE = " \t\r\n"


class Entry(NamedTuple):
    """A record, and where it begins: a line of a file of lines, a place in an array; or what is wrong there."""

    place: str
    value: Any = None
    trouble: str | None = None


def entries(stream: TextIO, tick: Callable[[int], None] = lambda _: None) -> Iterator[Entry]:
    """Yield the records of a stream in order: of JSON Lines, one array, or one document.

    ``tick`` gets the characters read.
    """
    try:
        first = _first_line(stream)
        if first.lstrip(_WHITE)[:1] == "{" and not first.endswith("\n"):
            first += stream.readline(_LONGEST)  # a record of its own, maybe; a list is read piece by piece
        tick(len(first))
        if not first.strip():
            yield Entry("the whole file", None, "it is empty")
            return
        value, is_whole = _value(first)
        if is_whole:
            yield Entry("line 1", value)
            yield from _lines(stream, 2, tick)
        elif first.lstrip(_WHITE)[:1] == "[":
            yield from _elements(stream, first, tick)
        else:
            yield from _document(stream, first, tick)
    except UnicodeDecodeError as error:
        yield Entry(f"byte {error.start + 1} of a part", None, "it is not UTF-8")


def _first_line(stream: TextIO) -> str:
    """Return the first line that is not blank, as far as one chunk goes."""
    while line := stream.readline(_CHUNK):
        if line.strip("\ufeff \t\r\n"):
            return line.removeprefix("\ufeff")
    return ""


def _value(line: str) -> tuple[Any, bool]:
    try:
        return json.loads(line, parse_constant=str), True
    except (ValueError, RecursionError):
        return None, False


def _lines(stream: TextIO, number: int, tick: Callable[[int], None]) -> Iterator[Entry]:
    """Yield the records of JSON Lines from line ``number`` on."""
    while line := stream.readline(_LONGEST):
        tick(len(line))
        if len(line) >= _LONGEST:
            yield Entry(f"line {number}", None, f"it has more than {_LONGEST:,} characters")
            return
        if line.strip():
            yield _entry(f"line {number}", line)
        number += 1


def _entry(place: str, text: str) -> Entry:
    try:
        return Entry(place, json.loads(text, parse_constant=str))
    except RecursionError:
        return Entry(place, None, "it is nested too deeply")
    except ValueError as error:
        return Entry(place, None, f"it is not valid JSON: {visible(str(error))}")


def _elements(stream: TextIO, text: str, tick: Callable[[int], None]) -> Iterator[Entry]:
    """Yield the elements of a long array, which is read piece by piece; ``text`` is its beginning."""
    at, number, step = text.index("[") + 1, 1, _CHUNK
    is_over = False
    while True:
        while at < len(text) and text[at] in f"{_WHITE},":
            at += 1
        if at < len(text) and text[at] == "]":
            yield from _behind(stream, text[at + 1 :], tick)
            return
        try:
            value, end = _decoder.raw_decode(text, at)
            # A number at the end of what was read may go on.
            if end < len(text) or is_over:
                yield Entry(f"element {number}", value)
                number, at, step = number + 1, end, _CHUNK
                continue
            trouble = "it has no end"
        except RecursionError:
            yield Entry(f"element {number}", None, "it is nested too deeply")
            return
        except ValueError as error:
            trouble = f"it is not valid JSON: {visible(str(error))}"
        if is_over or len(text) - at > _LONGEST:
            yield Entry(f"element {number}", None, trouble)
            return
        further = stream.read(step)
        tick(len(further))
        is_over = not further
        text, at = text[at:] + further, 0
        step = max(step, len(text))  # what is long is read again as often as it doubles


def _behind(stream: TextIO, rest: str, tick: Callable[[int], None]) -> Iterator[Entry]:
    """Yield the records on the lines after a long array; only the first of those that are no JSON is reported."""

    def line() -> str:
        text = stream.readline(_LONGEST)
        tick(len(text))
        return text

    *lines, last = rest.split("\n")
    number = 0
    for text in chain(lines, [last + line()], iter(line, "")):
        if text.strip():
            number += 1
            entry = _entry(f"line {number} behind the list", text)
            yield entry
            if entry.trouble is not None:
                return


def _document(stream: TextIO, first: str, tick: Callable[[int], None]) -> Iterator[Entry]:
    """Yield the record of one value over many lines, or those of JSON Lines whose first line is damaged."""
    parts, length, second = [first], len(first), ""
    while part := stream.readline(_CHUNK):
        second = second or part
        tick(len(part))
        parts.append(part)
        length += len(part)
        if length > _LONGEST:
            yield Entry(
                "the whole file",
                None,
                f"a single value of more than {_LONGEST:,} characters is too large: "
                "write JSON Lines or a list of conversations",
            )
            return
    text = "".join(parts)
    parts.clear()
    whole = _entry("the whole file", text)
    # A second line that is JSON by itself shows JSON Lines: only the first of them is damaged.
    if whole.trouble is not None and second.lstrip()[:1] in ("{", "[") and _value(second)[1]:
        lines = enumerate(text.split("\n"), 1)
        yield from (_entry(f"line {n}", line) for n, line in lines if line.strip())
        return
    del text
    entry = [whole]
    del whole
    yield entry.pop()  # which is long, and the reader's alone
