"""The structure of a text that a tool returned: tables, lists of fields, and blocks of these under their headings."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from gllint_runtime.policy.parameter_units import argument_units
from gllint_runtime.policy.reader import has_digit
from gllint_runtime.policy.text_units import table_words
from gllint_runtime.provenance.stated_units import is_number

_MOST_JOINED = 6  # words of a row of a table that are joined to others
_MOST_FIELDS = 2_000  # lines that are read as fields
_MOST_NESTED = 8
_MOST_COLUMNS = 8

NUMERAL = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d{1,3})?")
_RULE_LINE = re.compile(r"[\s|:+=-]*")
_DIGITS = re.compile(r"\d[\d.,]*")
_ROW_COUNT = re.compile(r"\(\d+ rows?\)\s*")  # of psql
_COLUMN = re.compile(r"%?[^\W\d_](?:[^\W\d]|[%/()-]){0,24}")
_FIELD = re.compile(
    r"(?P<indent>[ \t]*)(?:[-*•][ ]+)?(?:\*\*|__)?(?P<key>[^\W\d_][^:=|\n*]{0,38}?)(?:\*\*|__)?[ \t]*[:=]"
    r"(?:\*\*|__)?(?:[ \t]+(?P<value>\S.*)|[ \t]*)"
)
_HEADING = re.compile(r"\s*(?:#{1,6}\s|//|--\s|={2,}|\*\*[^*]+\*\*:?\s*\Z|[^|]{1,60}:\s*\Z)|[^|,;:=]{1,40}\Z")

_KEY = re.compile(r"[^\W\d][\w .%()/-]{0,60}")
_AMOUNT = re.compile(r"\s*+(?:[-+−$€£(]{0,3}\s?\d(?!\d*[-:/]\d)|-?\s*\Z|n/?a\Z)", re.IGNORECASE)

Table = tuple[list[str], list[list[str]]]
Fields = dict[str, Any] | list[dict[str, Any]]  # of one thing, or of several


class Block(NamedTuple):
    """A part of a text: the line above it that says what it is, and a table, fields, or prose."""

    head: str
    body: Table | Fields | str


def table_of(text: str) -> tuple[list[str], list[list[str]]] | None:
    """The header and the rows of a text that is a table: CSV, tabs, Markdown."""
    lines = [line for line in text.splitlines() if not _RULE_LINE.fullmatch(line)]
    if lines and _ROW_COUNT.fullmatch(lines[-1]):
        lines.pop()
    if len(lines) < 2:
        return None
    if "|" in lines[0]:
        rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
    else:
        mark = next((mark for mark in ("\t", ";", ",") if mark in lines[0]), None)
        if mark is None:
            return _aligned(lines)
        try:
            rows = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=mark)]
        except csv.Error:
            return None
    width = len(rows[0])
    if width < 2 or len(rows) < 2 or any(len(row) != width for row in rows):
        return None
    if any(has_digit(cell) and NUMERAL.fullmatch(cell) for cell in rows[0]) or any(
        len(cell) > 60 for cell in rows[0]
    ):
        return None
    if any(
        has_digit(cells[0]) and len({_DIGITS.sub("0", cell) for cell in cells}) == 1
        for cells in zip(*rows, strict=True)
    ):
        return None  # the first row is no header if a column has numbers of its form: "$25.00" above "$80.00"
    return rows[0], rows[1:]


def _aligned(lines: list[str]) -> tuple[list[str], list[list[str]]] | None:
    """Return a table whose columns are parted by blanks, as commands print it, with or without an index."""
    header = lines[0].split()
    if len(header) < 2 or not all(map(_COLUMN.fullmatch, header)) or len(set(header)) < len(header):
        return None
    rows = [line.split() for line in lines[1:]]
    if rows and all(len(row) > len(header) for row in rows) and _is_index([row[0] for row in rows]):
        header = ["index", *header]  # of pandas, which names no column of its index
    rows = [_joined_words(row, len(header)) for row in rows]
    if not rows or any(len(row) != len(header) or not any(map(has_digit, row)) for row in rows):
        return None
    return header, rows


def _is_index(cells: list[str]) -> bool:
    """Whether the first cells of rows name them, or count them from zero."""
    return not any(map(has_digit, cells[:1])) or cells == [str(number) for number in range(len(cells))]


def _joined_words(cells: list[str], width: int) -> list[str]:
    """The cells of a row, in which words next to each other are joined until there are as many as columns."""
    while width < len(cells) <= width + _MOST_JOINED:
        places = [
            place
            for place, (first, second) in enumerate(pairwise(cells))
            if not has_digit(first) and not has_digit(second)
        ]
        if not places:
            break
        place = places[0]
        cells = [*cells[:place], f"{cells[place]} {cells[place + 1]}", *cells[place + 2 :]]
    return cells if len(cells) <= width else [*cells[: width - 1], " ".join(cells[width - 1 :])]


class Keyed(NamedTuple):
    """The columns of rows each of which is a field: its name, its unit, its values."""

    name: str
    unit: str
    values: list[str]


def keyed(rows: Sequence[Any]) -> Keyed | None:
    """The columns of rows that are fields, each under a name: ``{"metric": "csat_pct", "value": 87.4}``."""
    first = rows[0] if 1 < len(rows) <= _MOST_FIELDS else None
    if not isinstance(first, Mapping) or not 1 < len(first) <= _MOST_COLUMNS:
        return None
    columns = [*map(str, first)]
    name = next((column for column in columns if column.lower() in table_words("keys of names")), columns[0])
    texts = [
        column for column in columns if isinstance(first.get(column), str) and not is_amount(first[column])
    ]
    unit = next((column for column in texts if column.lower() in table_words("unit keys")), "")
    names = [row.get(name) if isinstance(row, Mapping) and [*row] == columns else None for row in rows]
    if len({*map(str, names)}) < len(names) or not all(
        isinstance(own, str) and _KEY.fullmatch(own) for own in names
    ):
        return None
    if name.lower() not in table_words("keys of names") and not (
        (len(columns) == 3 and len({str(row.get(unit)) for row in rows}) > 1)  # no rows of one kind
        or (all("_" in str(own) for own in names) and any(argument_units(str(own)) for own in names))
    ):
        return None
    values = [
        column
        for column in columns
        if column not in (name, unit) and all(map(is_amount, (row[column] for row in rows)))
    ]
    return Keyed(name, unit, values) if values else None


def is_amount(cell: Any) -> bool:
    """Whether a cell is a number, or a text that begins with one and is no date or time; or nothing."""
    return cell is None or is_number(cell) or (isinstance(cell, str) and _AMOUNT.match(cell) is not None)


def rows_of(pairs: Iterable[tuple[str, str]]) -> Fields:
    """The fields of pairs in their order: a name that comes again begins those of another thing."""
    rows: list[dict[str, Any]] = [{}]
    for name, value in pairs:
        if name in rows[-1]:
            rows.append({})
        rows[-1][name] = value
    return rows if len(rows) > 1 else rows[0]


def fields_of(lines: list[str]) -> Fields | None:
    """The fields of lines that all are ``name: value``, with those in deeper lines as fields of the one above.

    The first name begins those of another thing where it comes again, as in a list in YAML.
    """
    if not 1 < len(lines) <= _MOST_FIELDS:
        return None
    rows: list[dict[str, Any]] = [{}]
    parents: list[tuple[int, dict[str, Any]]] = [(-1, rows[0])]
    for line in lines:
        match = _FIELD.fullmatch(line)
        if match is None or match["key"].count(" ") > 5:
            return None
        indent = len(match["indent"].expandtabs(4))
        while len(parents) > 1 and parents[-1][0] >= indent:
            parents.pop()
        own = parents[-1][1]
        key = match["key"].strip()
        if len(parents) == 1 and key == next(iter(own), ""):
            rows.append(own := {})
            parents = [(-1, own)]
        if key in own or len(parents) > _MOST_NESTED:
            return None
        if match["value"] is None:
            own[key] = {}
            parents.append((indent, own[key]))
        else:
            own[key] = match["value"].strip()
    return rows if len(rows) > 1 else rows[0]


def blocks_of(text: str) -> list[Block] | None:
    """The blocks of a text, at least one of which is a table or a list of fields; ``None`` of any other text."""
    blocks: list[Block] = []
    head = ""
    for lines in _paragraphs(text):
        if len(lines) == 1 and _HEADING.match(lines[0]) and "|" not in lines[0]:
            blocks += [Block(head, "")] if head else []
            head = lines[0]
            continue
        body = _body_of(lines)
        if body is None and len(lines) > 1 and (body := _body_of(lines[1:])) is not None:
            blocks += [Block(head, "")] if head else []
            head = lines[0]
        blocks.append(Block(head, "\n".join(lines) if body is None else body))
        head = ""
    return blocks if any(not isinstance(block.body, str) for block in blocks) else None


def _body_of(lines: list[str]) -> Table | Fields | None:
    return table_of("\n".join(lines)) or fields_of(lines)


def _paragraphs(text: str) -> list[list[str]]:
    """The lines of a text, parted at blank lines, "---" and comments, and where a table in Markdown begins or ends."""
    parts: list[list[str]] = []
    last = ""
    for line in text.splitlines():
        kind = (
            ""
            if line.strip() in ("", "---")
            else "#"
            if line.lstrip()[0] == "#"
            else "|"
            if line.lstrip()[0] == "|"
            else "-"
        )
        if kind:
            if kind != last or kind == "#":
                parts.append([])
            parts[-1].append(line)
        last = kind
    return parts
