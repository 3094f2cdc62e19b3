"""The data in a text that a model sees as data: JSON, a bare number, a fenced block, YAML, CSV, a Python repr."""

from __future__ import annotations

import ast
import csv
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

_MARGIN = "\ufeff\u00a0 \t\r\n"
_LONGEST = 1_000_000  # characters of a text that is no JSON
_LONGEST_NUMBER = 400
_FENCE = re.compile(r"^(`{3,}|~{3,})[^\n`]*\n(.*?)^\1", re.DOTALL | re.MULTILINE)
_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,4})?")
_ENTRY = re.compile(r"( *)(?:- +)?([A-Za-z_][\w-]*):(?: +(.*))?")
_SEPARATORS = (",", ";", "\t", "|")


def json_in(text: Any) -> Any:
    """The object or the array whose JSON a text is; ``None`` where it is none."""
    if not isinstance(text, str) or text.strip(_MARGIN)[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text.strip(_MARGIN))
    except (ValueError, RecursionError):
        return None


def data_in(text: Any) -> Any:
    """The data that a text is in any of the forms; ``None`` for prose."""
    if not isinstance(text, str):
        return None
    if (data := json_in(text)) is not None or len(text) > _LONGEST:
        return data
    readers: tuple[Callable[[str], Any], ...] = (number_in, _repr, _table, _entries)
    return next((data for read in readers if (data := read(text.strip(_MARGIN))) is not None), None)


def fenced_data(text: Any) -> Iterator[Any]:
    """The data in the fenced blocks of a text."""
    for match in _FENCE.finditer(text) if isinstance(text, str) and len(text) <= _LONGEST else ():
        if (data := data_in(match[2])) is not None:
            yield data


def number_in(text: str) -> int | float | None:
    """The number that a text is, all of it."""
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
    """A literal as JSON would have it."""
    if isinstance(data, dict):
        return {str(key): _as_json(value) for key, value in data.items()}
    return [_as_json(item) for item in data] if isinstance(data, (list, tuple, set)) else data


def _table(text: str) -> Any:
    """Lines with the same columns, of which the first names them."""
    lines = [line for line in text.splitlines() if line.strip()]
    for separator in _SEPARATORS if len(lines) > 1 else ():
        width = lines[0].count(separator)
        if not width or any(line.count(separator) < width for line in lines):
            continue
        header, *rows = csv.reader(lines, delimiter=separator)
        if number_in(header[0].strip()) is None and all(len(row) == len(header) for row in rows):
            names = [name.strip() for name in header]
            return [dict(zip(names, map(_scalar, row), strict=True)) for row in rows]
    return None


def _entries(text: str) -> Any:
    """Lines of names and values, as YAML writes them: what is further in belongs to the line before."""
    root: dict[str, Any] = {}
    has_number = False
    levels: list[tuple[int, dict[str, Any]]] = [(-1, root)]
    for line in text.splitlines():
        if not line.strip() or line.lstrip().startswith("#") or line.strip() == "---":
            continue
        match = _ENTRY.fullmatch(line.rstrip())
        if match is None:
            return None
        depth, name, value = len(match[1]), match[2], match[3]
        while levels[-1][0] >= depth and len(levels) > 1:
            levels.pop()
        inner: dict[str, Any] = {}
        levels[-1][1][name] = inner if value is None else _scalar(value)
        has_number = has_number or isinstance(levels[-1][1][name], (int, float))
        if value is None:
            levels.append((depth, inner))
    return root if has_number else None


def _scalar(text: str) -> Any:
    number = number_in(text.strip())
    return text if number is None else number
