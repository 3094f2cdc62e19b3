"""The lines of the keys of a TOML document, which ``tomllib`` does not have. Read only for mistakes."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from itertools import islice

_TOKEN = re.compile(
    r'''"""(?:\\.|[^\\])*?"{3,5} | \'{3}.*?\'{3,5} | "(?:\\.|[^"\\\n])*" | '[^'\n]*' | \#[^\n]*
    | [\[\]{}=,\n] | [^\s"'\#\[\]{}=,]+''',
    re.VERBOSE | re.DOTALL,
)
_PART = re.compile(r'"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|[\w-]+')
Key = tuple[str, ...]
_DEEPEST = 6  # parts of a key that are distinguished


def line_of(text: str, key: Key) -> int | None:
    """Return the line of ``key`` in a valid document, or else of what it is part of.

    Items of a list are numbered (``("unit-packs", "0")``). ``None`` if it has no part of it.
    """
    lines = key_lines(text)
    return next((lines[key[:end]] for end in range(len(key), 0, -1) if key[:end] in lines), None)


def key_lines(text: str) -> dict[Key, int]:
    r"""Return the line of each key of a valid document, counted from 1: "[a]\nb = 1" → ``{("a",): 1, ("a", "b"): 2}``.

    Items of lists have one, too: ``("a", "0")``. The keys of an inline table are on its line.
    """
    lines: dict[Key, int] = {}
    tables: dict[Key, int] = {}
    table: Key = ()
    line, statement = 1, ""
    tokens = iter(_TOKEN.finditer(text))
    for token in tokens:
        word, start = token[0], line
        line += word.count("\n")
        if word == "\n" or word.startswith("#"):  # which ends the line
            statement = ""
        elif word == "=":
            key = (*table, *_parts(statement))
            for end in range(len(key), len(table), -1):
                lines.setdefault(key[:end], start)
            line = _items(tokens, lines, key, line)
            statement = ""
        elif word == "]" and statement.startswith("["):
            table = _parts(statement)
            for end in range(len(table), 0, -1):
                lines.setdefault(table[:end], start)
            if statement.startswith("[["):
                number = tables[table] = tables.get(table, -1) + 1
                table = (*table, str(number))
                lines[table] = start
            # The second bracket of `]]` and what else follows on the line is no key.
            statement = " "
        else:
            statement += word
    return lines


def _items(tokens: Iterator[re.Match[str]], lines: dict[Key, int], key: Key, line: int) -> int:
    """Skip the value of ``key``, note the lines of a list's items in ``lines``, and return the line where the
    value ends.
    """
    depth, number, opening = 0, 0, ""
    for token in tokens:
        word = token[0]
        if word == "\n":
            line += 1
            if depth == 0:
                break
            continue
        if word.startswith("#"):
            continue
        if depth == 0:
            opening = word
        elif depth == 1 and opening == "[":
            if word == ",":
                number += 1
            elif word != "]":
                lines.setdefault((*key, str(number)), line)
        depth += (word in "[{") - (word in "]}")
        line += word.count("\n")
    return line


def _parts(key: str) -> Key:
    """Return the names of a dotted key, as they are written or in quotes."""
    parts = (match[0] for match in islice(_PART.finditer(key), _DEEPEST))
    return tuple(tomllib.loads(f"k={part}")["k"] if part[0] in "\"'" else part for part in parts)
