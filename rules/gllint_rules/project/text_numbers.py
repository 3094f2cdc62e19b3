"""The numbers that are formatted into the text of a result, and which of them are part of a name."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from gllint_rules.inference.unit_objects import is_unit_object
from gllint_rules.inference.values import (
    UNKNOWN,
    Because,
    External,
    ExternalInstance,
    Interpolation,
    Literal,
    Method,
    Number,
    Text,
    Value,
    join,
    options,
)
from gllint_rules.project.kinds import kind_of_leaf
from gllint_rules.project.makers import names_of
from gllint_rules.project.results import figure_shown, leaves
from gllint_rules.project.templates import Stretches, Template
from gllint_rules.reading.expression_index import expression
from gllint_runtime.policy.claims import HOLE
from gllint_runtime.policy.kinds import Kind
from gllint_runtime.policy.names import name_words, read_name
from gllint_runtime.policy.settings import Policy

# Placeholders: for a number that is formatted in, and for the year of a date.
_DIGITS = "12"
_YEAR = "2012"
# Digits that are part of a name (`EC2`, `user_7`, `gpt-4o`, `E.164`, `#31`), not those of `3x10`.
_IN_NAME = re.compile(r"(?:(?:(?<![1-9])x|[^\W\dx])[-.]?|#)\Z")
# A text with a number behind it is the name of one of several (`f"{section}-{n}"`); a number there may begin a range.
_BEHIND_TEXT = re.compile(rf"{re.escape(HOLE)}[-_]\Z")
# Addresses, whose numbers are places, times that have one digit for the hour, and what is written in hexadecimal digits
# or filled up with zeros.
_NO_NUMBERS = re.compile(
    r"\b[a-z][a-z0-9+.-]{1,20}://[^\s)>\]\"']*+|(?<![\d:.])\d:[0-5]\d(?::[0-5]\d)?(?![\d:])"
    rf"|(?<![\w.,])0(?:[xX][\da-fA-F]*+|0*+(?={re.escape(HOLE)}))"
)
# Where a program begins: a line that is none of prose, a block that names its language, or SQL at the start.
_PROGRAM = re.compile(
    r"^```(?P<block>[a-z+#]++)[ \t]*+$"
    r"|^[ \t]*+(?:import[ ]\w[\w.]*+(?:[ ]as[ ]\w++)?|from[ ][\w.]++[ ]import[ ][^\n]++"
    r"|(?:async[ ])?def[ ]\w++\([^\n]*|class[ ]\w++(?:\([^\n]*)?:|\#!/[^\n]++|\#include[ ][<\"][^\n]++)$"
    r"|\A\s*+(?:SELECT\s(?=[^;]*\bFROM\b)|INSERT[ ]INTO\b|UPDATE[ ]\S++[ ]SET\b|DELETE[ ]FROM\b"
    r"|(?:CREATE|ALTER|DROP)[ ](?:TABLE|INDEX|VIEW)\b)",
    re.MULTILINE,
)
# What a block of text is said to be that is none of a program.
_NO_PROGRAMS = frozenset(
    {"console", "csv", "json", "markdown", "md", "output", "plaintext", "text", "txt", "yaml"}
)

# A format that takes numbers alone, and is none of a date or a name (filled up with zeros), of an address (hexadecimal)
# or of a count (separators alone).
_OF_NUMBERS = re.compile(
    r"(?!0\d*d)-?(?:.?[<>=^])?(?P<sign>[-+ ])?z?\#?0?\d*[,_]?(?:\.\d*)?(?:[deEfFgG%]|(?(sign)|(?!)))\Z",
    re.DOTALL,
)

_OF_ADDRESSES: frozenset[Kind | None] = frozenset({"index", "identifier"})
# What a part of an address is called: `f"{path}:{line}"`.
_PLACES = ("line", "lineno", "column", "col", "row", "page", "index", "offset", "port", "start", "end")
_PARTS_ADDRESS = frozenset({":", "#", "/"})


def holes_of_names(template: Template, policy: Policy) -> frozenset[Interpolation]:
    """Return the numbers that are part of a date, time, version, address, name or program, or mark a list item."""
    # Imported here: the scanner's tables load longer than most files are checked.
    from gllint_runtime.policy.designations import designations
    from gllint_runtime.policy.numbers import scan_naked_numbers

    filled = {part for part in template.parts if isinstance(part, Interpolation) and _is_number(part)}
    if not filled:
        return frozenset()
    text, begins = _with_stand_ins(template)
    places = (match.span() for match in _NO_NUMBERS.finditer(text))
    aside = Stretches([*places, *_programs(text), *designations(text)])
    stated: set[Interpolation] = set()
    for naked in scan_naked_numbers(
        text, whitelist=policy.whitelist, units=policy.extend_units, glued=policy.pack_symbols()
    ):
        start, end = naked.start, naked.end
        if aside.meet(start, end) or _IN_NAME.search(text[max(0, start - 2) : start]):
            continue
        first, last = bisect_right(begins, start) - 1, bisect_right(begins, end - 1)
        holes = filled.intersection(part for part in template.parts[first:last])
        if holes and not (
            _is_behind_text(template, text, begins, start)
            or _ends_address(template, begins, start, holes)
            or all(_is_called(hole, "identifier", "id") for hole in holes)
        ):
            stated |= holes
    return frozenset(filled - stated)


def _programs(text: str) -> Iterator[tuple[int, int]]:
    """Yield the stretches of a text that are program code, whose numbers state nothing."""
    at = 0
    while (match := _PROGRAM.search(text, at)) is not None:
        end = text.find("\n```", match.end())
        at = len(text) if end < 0 else end + len("\n```")
        if match["block"] not in _NO_PROGRAMS:
            yield match.start(), at


def stated(hole: Interpolation) -> Value:
    """Return the value that is formatted into a text.

    It is a number if the value is unknown and the format allows only numbers (``:.1f``), or if its alternatives are a
    number and known texts or None.
    """
    if (figure := figure_shown(hole.value)) is not None:
        return figure
    if not hole.spec or not any(_may_be_anything(option) for option in options(hole.value)):
        return hole.value
    if _OF_NUMBERS.match(hole.spec) is None:
        return hole.value
    figure = Number(Because(f"the format `{hole.spec}` takes numbers alone", hole.site))
    return join(*(figure if _may_be_anything(option) else option for option in options(hole.value)))


def _may_be_anything(value: Value) -> bool:
    """Return whether a value is unknown, or comes from another package."""
    is_object = isinstance(value, ExternalInstance) and not is_unit_object(value)
    return value is UNKNOWN or is_object or isinstance(value, (Method, External))


def _is_behind_text(template: Template, text: str, begins: list[int], start: int) -> bool:
    """Return whether a filled-in text ends directly before the number at ``start``."""
    if text[start] in "-_":
        start += 1
    if not _BEHIND_TEXT.search(text, max(0, start - 1 - len(HOLE)), start):
        return False
    part = template.parts[bisect_right(begins, start - 2) - 1]
    return isinstance(part, Interpolation) and all(isinstance(o, Text) for o in options(part.value))


def _ends_address(template: Template, begins: list[int], start: int, holes: set[Interpolation]) -> bool:
    """Return whether the number at ``start`` is a row, a line or an id directly after a filled-in text.

    Such an address is ``f"{column}{row}"`` or ``f"{file}:{line}"``. Another number may be money: ``f"{sign}{price}"``.
    """
    at = bisect_right(begins, start) - 1
    lead = template.parts[max(0, at - 2) : at] if at and begins[at] == start else ()
    mark = lead[-1] if lead else None
    is_parted = isinstance(mark, Literal) and mark.text in _PARTS_ADDRESS
    base = lead[-2] if is_parted and len(lead) > 1 else mark
    if not isinstance(base, Interpolation):
        return False
    # Right after an unknown value may be anything; after a separator it is part of the same address.
    if not all(isinstance(o, Text) or (is_parted and o is UNKNOWN) for o in options(base.value)):
        return False
    return _kinds(holes) <= _OF_ADDRESSES or all(_is_called(hole, None, *_PLACES) for hole in holes)


def _is_called(hole: Interpolation, kind: Kind | None, *ends: str) -> bool:
    """Return whether the name of a value has a kind and ends in one of some words: ``day.year``."""
    if hole.field:
        names = [hole.field]
    else:
        expr = expression(hole.site.module, hole.site.at)
        names = names_of(expr) if expr is not None else []
    readings = [(read_name(name), "".join(name_words(name)[-1:])) for name in names]
    return bool(names) and all(
        not reading.readings and (kind is None or reading.kind == kind) and (not ends or last in ends)
        for reading, last in readings
    )


def _kinds(holes: set[Interpolation]) -> set[Kind | None]:
    """Return the kinds of the numbers that are formatted in."""
    return {kind_of_leaf(leaf) for hole in holes for leaf in leaves(hole.value, hole.site)}


def _with_stand_ins(template: Template) -> tuple[str, list[int]]:
    """Return the text with digits in place of the numbers, and where each part begins."""
    pieces: list[str] = []
    begins: list[int] = []
    length = 0
    for i, part in enumerate(template.parts):
        if isinstance(part, Literal):
            piece = part.text
        elif not _is_number(part):
            piece = HOLE
        else:
            piece = _YEAR if _is_year_of_date(template.parts, i) else _DIGITS
        begins.append(length)
        pieces.append(piece)
        length += len(piece)
    return "".join(pieces), begins


def _is_year_of_date(parts: Sequence[Literal | Interpolation], i: int) -> bool:
    """Return whether part ``i`` is the year of a date, in one of these forms:

    * the first of three values with hyphens: ``f"{a}-{b}-{c}"``
    * a value named a year before a month: ``f"{year}-{month:02d}"``
    * a value named a year after two values with slashes: ``f"{month}/{day}/{year}"``
    """
    year, rest, lead = parts[i], parts[i + 1 : i + 5], parts[max(0, i - 4) : i]
    if len(rest) == 4 and _are_parted(rest, "-"):
        return True
    is_year = isinstance(year, Interpolation) and (
        _is_called(year, None, "year") or year.spec.rstrip("d") == "04"
    )
    if not is_year:
        return False
    if len(lead) == 4 and _are_parted(lead[::-1], "/"):
        return True
    month = rest[1] if len(rest) > 1 and _are_parted(rest[:2], "-") else None
    return isinstance(month, Interpolation) and (
        _is_called(month, None, "month") or month.spec.rstrip("d") == "02"
    )


def _are_parted(parts: Sequence[Literal | Interpolation], mark: str) -> bool:
    """Return whether every other part, the first one too, is a ``mark``."""
    return all(isinstance(part, Literal) and part.text == mark for part in parts[::2])


def _is_number(hole: Interpolation) -> bool:
    """Return whether a formatted value may be a number, and is not a container of numbers."""
    value = stated(hole)
    is_figure = any(isinstance(option, Number) for option in options(value))
    return is_figure and next(leaves(value, hole.site), None) is not None
