"""The data in a text that a model sees as data: numbers, JSON, lines of these, a fenced block, YAML, CSV, a repr."""

from __future__ import annotations

import ast
import csv
import json
import re
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

_MARGIN = "\ufeff\u00a0 \t\r\n"
_LONGEST = 1_000_000  # characters of a text that is no JSON
_LONGEST_NUMBER = 400
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n`]*\n(.*?)^[ \t]*\1", re.DOTALL | re.MULTILINE)
_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,4})?")
_NAME = re.compile(r"[A-Za-z_][\w-]*")
_ENTRY = re.compile(r"([A-Za-z_][\w -]{0,60}):(?: +(.*))?")
_QUOTED = re.compile(r"""(["'])((?:(?!\1)[^\\])*)\1(?:\s+#.*)?""")
_COMMENT = re.compile(r"(?<!\s)\s++#.*")
_WORDS = {"true": True, "false": False, "null": None, "~": None}
_SEPARATORS = (",", ";", "\t", "|")


def json_in(text: Any) -> Any:
    """Return the object or array that a JSON text contains; ``None`` for any other text."""
    if not isinstance(text, str) or text.strip(_MARGIN)[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text.strip(_MARGIN))
    except (ValueError, RecursionError):
        return None


def data_in(text: Any) -> Any:
    """Return the data in a text of any known form (JSON, a number, Python, a table, YAML); ``None`` for prose.

    ``"heat: 5"`` → ``{"heat": 5}``.
    """
    if not isinstance(text, str):
        return None
    if (data := json_in(text)) is not None or len(text) > _LONGEST:
        return data
    readers: tuple[Callable[[str], Any], ...] = (number_in, _repr, _lines, _table, _entries)
    return next((data for read in readers if (data := read(text.strip(_MARGIN))) is not None), None)


def fenced_data(text: Any) -> Iterator[Any]:
    """Yield the data in the fenced blocks of a text."""
    for match in _FENCE.finditer(text) if isinstance(text, str) and len(text) <= _LONGEST else ():
        if (data := data_in(match[2])) is not None:
            yield data


def number_in(text: str) -> int | float | None:
    """Return the number that a text is, all of it."""
    if len(text) > _LONGEST_NUMBER or _NUMBER.fullmatch(text) is None:
        return None
    plain = text.replace(",", "")
    return int(plain) if plain.lstrip("+-").isdecimal() else float(plain)


def _repr(text: str) -> Any:
    if text[:1] not in ("{", "[", "("):
        return None
    try:
        return _as_json(ast.literal_eval(text))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _as_json(data: Any) -> Any:
    """Return a literal as JSON would have it."""
    if isinstance(data, dict):
        return {str(key): _as_json(value) for key, value in data.items()}
    return [_as_json(item) for item in data] if isinstance(data, (list, tuple, set)) else data


def _lines(text: str) -> Any:
    r"""Return the values of lines that are JSON or numbers each; a first line may name the numbers.

    "heat\n5" → ``[{"heat": 5}]``.
    """
    first, *rest = [line.strip() for line in text.splitlines() if line.strip()] or [""]
    values = [number_in(line) if (data := json_in(line)) is None else data for line in rest]
    if not values or None in values:
        return None
    if (head := json_in(first)) is not None or (head := number_in(first)) is not None:
        return [head, *values]
    is_column = all(isinstance(value, (int, float)) for value in values)
    return [{first: value} for value in values] if is_column and _NAME.fullmatch(first) else None


def _table(text: str) -> Any:
    r"""Return the rows of a table: "city,heat\nOslo,5" → ``[{"city": "Oslo", "heat": 5}]``.

    ``None`` for any other text.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    for separator in _SEPARATORS if len(lines) > 1 else ():
        width = lines[0].count(separator)
        if not width or any(line.count(separator) < width for line in lines):
            continue
        header, *rows = csv.reader(lines, delimiter=separator)
        if number_in(header[0].strip()) is None and all(len(row) == len(header) for row in rows):
            names = [name.strip() for name in header]
            return [dict(zip(names, map(_cell, row), strict=True)) for row in rows]
    return None


def _cell(text: str) -> Any:
    number = number_in(text.strip())
    return text if number is None else number


def _entries(text: str) -> Any:
    """Return the data of lines as in YAML, names with values or lists: "heat: 5" → ``{"heat": 5}``.

    ``None`` if no value is a number, or a line is neither.
    """
    lines = deque(
        (len(line) - len(line.lstrip(" ")), line.strip())
        for line in text.splitlines()
        if line.strip() and not line.lstrip().startswith("#") and line.strip() != "---"
    )
    try:
        data = _node(lines) if lines else None
    except RecursionError:
        return None
    return data if not lines and _has_number(data) else None


def _node(lines: deque[tuple[int, str]]) -> Any:
    """Return the first value of the lines, given with their indentation: ``(0, "a:"), (2, "- 1")`` → ``{"a": [1]}``.

    The lines that it takes are removed.
    """
    depth, line = lines[0]
    if not _is_item(line) and _ENTRY.fullmatch(line) is None:
        return _scalar(lines.popleft()[1])
    items: list[Any] = []
    members: dict[str, Any] = {}
    while lines and lines[0][0] == depth and _is_item(lines[0][1]) == _is_item(line):
        _, entry = lines.popleft()
        if _is_item(line):
            inner = entry[1:].lstrip()
            if inner:  # what follows the dash is a line of its own, as far in as it stands
                lines.appendleft((depth + len(entry) - len(inner), inner))
            items.append(_inner(lines, depth, is_same=False))
        elif (match := _ENTRY.fullmatch(entry)) is not None:
            name, value = match.groups()
            members[name] = _scalar(value) if value else _inner(lines, depth, is_same=True)
        else:  # no entry, so that whoever reads on finds the rest and takes the text for no data
            lines.appendleft((depth, entry))
            break
    return items if _is_item(line) else members


def _inner(lines: deque[tuple[int, str]], depth: int, *, is_same: bool) -> Any:
    """Return the value that is further in; a list may be as far out as its name."""
    if lines and (lines[0][0] > depth or (is_same and lines[0][0] == depth and _is_item(lines[0][1]))):
        return _node(lines)
    return None


def _is_item(line: str) -> bool:
    return line == "-" or line.startswith("- ")


def _scalar(text: str) -> Any:
    """Return a YAML scalar as Python data: ``"yes"`` → True, ``"5"`` → 5, ``'"5"'`` → "5"."""
    if (match := _QUOTED.fullmatch(text)) is not None:
        return match[2]
    text = _COMMENT.sub("", text)
    if text in _WORDS:
        return _WORDS[text]
    data = number_in(text)
    return text if data is None and (data := json_in(text)) is None else data


def _has_number(data: Any) -> bool:
    if isinstance(data, dict):
        return any(map(_has_number, data.values()))
    if isinstance(data, list):
        return any(map(_has_number, data))
    return isinstance(data, (int, float)) and not isinstance(data, bool)
