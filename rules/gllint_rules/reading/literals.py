"""How a string is written: the literals of an implicit concatenation, the text and the holes of an f-string.

CPython's tree joins neighbouring literals into one and does not say where the parts of an f-string are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

from gllint_rules.tuples import NamedTuple

_START = re.compile(r"""(?:[\s\\]|\#[^\r\n]*+)*+([A-Za-z]*)(\"\"\"|'''|"|')""")
_REST = {
    "'": re.compile(r"[^'\\]*(?:\\.[^'\\]*)*'", re.DOTALL),
    '"': re.compile(r'[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL),
    "'''": re.compile(r"[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'''", re.DOTALL),
    '"""': re.compile(r'[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""', re.DOTALL),
}
# Text up to a brace or a quote, by whether a backslash is just a backslash.
_TEXT = {
    False: re.compile(r"(?:[^{}\\'\"]|\{\{|\}\}|\\N\{[^}]*\}|\\(?=[{}])|\\[^{}])*", re.DOTALL),
    True: re.compile(r"(?:[^{}\\'\"]|\{\{|\}\}|\\(?=[{}])|\\[^{}])*", re.DOTALL),
}
_SPEC_TEXT = re.compile(r"[^{}]*")
# A quote with the prefix that Python takes for one (`or"a"` has none), a bracket, what ends a value, a comment.
_IN_HOLE = re.compile(
    r"""(?:(?<!\w)(?:[bft]r?|r[bft]?|u))?(?:\"\"\"|'''|"|')|[(\[{]|[)\]}]|!=|[!:]|\#[^\r\n]*""", re.IGNORECASE
)


class Text(NamedTuple):
    """Return each text between the holes, as it is written, and where it begins."""

    text: str
    begin: int


class Hole(NamedTuple):
    """``{value:spec}``: how its value is written, where that begins, and what is in its format."""

    value: str
    begin: int
    spec: tuple[Part, ...] | None


Part: TypeAlias = "Text | Hole"


class Literal(NamedTuple):
    """One literal as it is written; ``parts`` are those of an f-string, ``None`` for any other."""

    text: str
    begin: int
    parts: tuple[Part, ...] | None
    is_raw: bool


def is_single(text: str) -> bool:
    """Return whether ``text``, which is one or more string literals and no f-string, is one."""
    quote = text[0]
    if quote in "\"'" and text[-1] == quote and text.count(quote) == 2:
        return True
    start = _START.match(text)
    rest = _REST[start[2]].match(text, start.end()) if start is not None else None
    return rest is not None and rest.end() == len(text)


def literals(text: str, position: int = 0) -> Iterator[Literal]:
    """Return the adjacent literals from an offset of ``text`` on.

    Raises ``ValueError`` if it is not understood.
    """
    while position < len(text):
        start = _START.match(text, position)
        if start is None:
            raise ValueError("no string")
        prefix = start[1].lower()
        if "f" in prefix or "t" in prefix:
            parts, end = _parts(text, start.end(), start[2], "r" in prefix)
        else:
            parts, end = None, _end(text, start.end(), start[2])
        yield Literal(text[start.start(1) : end], start.start(1), parts, "r" in prefix)
        position = end


def _end(text: str, position: int, quote: str) -> int:
    rest = _REST[quote].match(text, position)
    if rest is None:
        raise ValueError("a string without end")
    return rest.end()


def _parts(text: str, position: int, quote: str, raw: bool) -> tuple[tuple[Part, ...], int]:
    """The parts of an f-string whose content begins at ``position``, and where it ends, its quotes included."""
    parts: list[Part] = []
    begin = position
    while True:
        chunk = _TEXT[raw].match(text, position)
        assert chunk is not None
        position = chunk.end()
        if text.startswith(quote, position):
            if position > begin:
                parts.append(Text(text[begin:position], begin))
            return tuple(parts), position + len(quote)
        char = text[position : position + 1]
        if char in ("'", '"'):
            position += 1
        elif char == "{":
            if position > begin:
                parts.append(Text(text[begin:position], begin))
            hole, position = _hole(text, position + 1)
            parts.append(hole)
            begin = position
        else:
            raise ValueError("an f-string without end")


def _hole(text: str, begin: int) -> tuple[Hole, int]:
    """The hole whose value begins at ``begin``, and where it ends."""
    depth, position = 0, begin
    value: str | None = None
    while True:
        match = _IN_HOLE.search(text, position)
        if match is None:
            raise ValueError("a hole without end")
        position, sign = match.end(), match[0]
        if sign[-1] in "'\"":
            prefix = sign.rstrip("'\"")
            quote = sign[len(prefix) :]
            if "f" in prefix.lower() or "t" in prefix.lower():
                _, position = _parts(text, position, quote, "r" in prefix.lower())
            else:
                position = _end(text, position, quote)
        elif sign in ("(", "[", "{"):
            depth += 1
        elif depth:
            depth -= sign in (")", "]", "}")
        elif sign == "}":
            return Hole(text[begin : match.start()] if value is None else value, begin, None), position
        elif sign == "!" and value is None:
            value = text[begin : match.start()]
        elif sign == ":":
            value = text[begin : match.start()] if value is None else value
            spec, position = _spec(text, position)
            return Hole(value, begin, spec), position


def _spec(text: str, position: int) -> tuple[tuple[Part, ...], int]:
    """Return what is behind the colon of a hole, and where the hole ends."""
    parts: list[Part] = []
    while True:
        chunk = _SPEC_TEXT.match(text, position)
        assert chunk is not None
        if chunk[0]:
            parts.append(Text(chunk[0], chunk.start()))
        position = chunk.end()
        char = text[position : position + 1]
        if char == "}":
            return tuple(parts), position + 1
        if not char:
            raise ValueError("a hole without end")
        hole, position = _hole(text, position + 1)
        parts.append(hole)
