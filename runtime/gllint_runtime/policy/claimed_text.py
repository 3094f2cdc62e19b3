"""What a message says about the numbers that its macros show: in a label, a header, a heading, a row, or the clause.

The message is read as in sourced mode, each macro as a number. Where the text says another unit, or a
size, of the number, a reader would read another quantity.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate

from gllint_runtime.policy.claims import Macro, in_place
from gllint_runtime.policy.packs import PACKS
from gllint_runtime.policy.places import Declared, Layout, Span, declaration
from gllint_runtime.policy.seen_text import SeenText
from gllint_runtime.policy.surroundings import (
    Fault,
    Plain,
    holds_time,
    is_square,
    pattern,
    small_letters,
    words,
)
from gllint_runtime.policy.text_units import counted_units, units_at
from gllint_runtime.policy.unit_table import TIME_UNITS
from gllint_runtime.policy.units import is_allowed

_MEASURES = tuple(name for name in PACKS if name != "counts")
BARE_UNITS = frozenset({"count", "1"})
"""Units that are not shown."""

_ASCII_MARKS = str.maketrans("（）［］：｜", "()[]:|")


def misread(text: str, macros: Sequence[Macro], units: Sequence[str]) -> Iterator[Fault]:
    """Yield a fault for each macro next to which the text shows another unit or size than its claim has.

    ``"Heat (MWh): {{claim:0}}"`` with a claim in kWh yields "Remove 'MWh': …" at the macro. ``units`` has the unit
    of each macro, ``""`` where it is unknown: such a macro has no fault.
    """
    pieces = [*in_place(text, macros, lambda macro: "1")]
    ends = [*accumulate(map(len, pieces))]
    view = SeenText("".join(pieces))
    layout = Layout(view.text.translate(_ASCII_MARKS))
    everywhere = range(len(view.text))
    # Pieces alternate between text and macro: every other end is where a macro begins, here as a place in the view.
    places = [bisect(everywhere, end - 1, key=view.origin) for end in ends[:-1:2]]
    limits = [0, *places, len(view.text)]  # a macro is described by the text between its neighbours
    for number, (place, unit) in enumerate(zip(places, units, strict=True)):
        if not unit or not view.text.startswith("1", place):
            continue
        if unit in BARE_UNITS and _is_in_sentence(layout, place):
            layout.line_at(place).heads = ()  # the sentence says what the number is
        declared = layout.declared(layout.place(place, place + 1))
        other = _contradiction(declared, unit) if declared is not None else ""
        if not other and unit in BARE_UNITS:
            other = _unit_of_bare(layout, place, limits[number] + bool(number), limits[number + 2])
        if other:
            has_unit = "has no unit" if unit in BARE_UNITS else f"is in {unit}"
            hint = f"Remove {other!r}: a reader would take it as the unit or scale of this number, which {has_unit}."
            yield Fault(macros[number].start, macros[number].end, hint, True)


def _contradiction(declared: Declared, unit: str) -> str:
    """Return what a label, header or heading says that a number in ``unit`` contradicts; ``""`` if nothing does.

    For a number in kWh: "MWh" of ``Heat (MWh):``, "1,000,000" of ``Heat in millions:``, "per m2" of ``Heat per m2:``.
    """
    units, factor, per = declared
    if factor != 1.0:
        return f"{factor:,.0f}"
    if per and per not in unit.split("/")[1:] and not (per in TIME_UNITS and not holds_time(unit)):
        return f"per {per}"
    units = tuple(filter(_is_measure, units))  # no letter that names a column
    if any(f"{unit}/".startswith(f"{base}/") for base in units):
        return ""
    # "Hours: {{claim:0}}" in kWh may be the energy of some hours.
    is_period = units and units[0] in TIME_UNITS and unit not in TIME_UNITS
    return units[0] if units and not is_period else ""


def _is_measure(unit: str) -> bool:
    return is_allowed(unit, packs=_MEASURES)


def _is_in_sentence(layout: Layout, place: int) -> bool:
    line = layout.line_at(place)
    opening = layout.text[line.start : place].strip(" \t>*_`")
    return line.kind == "prose" and opening[-1:] not in ("", ":", "=")


# ------------------------------------------------------------------------------- a number that is shown without unit

_MAX_SPAN = 200  # characters of a clause, a label or a cell
_IN = re.compile(r"(?:[,、，]|\s[—–-])\s(?:all )?(?:in|en|em|au|w|v|в)\s[^,;.!?\n|]{1,60}")
_WORD = re.compile(r"[^\W\d_](?:[^\W_]|['’](?=[^\W_]))*|[^\W\d_]\w*[²³]")
_SIGNS = re.compile(
    r"%(?![A-Za-z])|[‰‱٪％℃℉°]|(?:(?<![\w}\])])|(?<=\bUS)|(?<=\bHK)|(?<=\bNZ)|(?<=\b[ACRS]))\$(?![\w{(\\])"
)
_IN_FIRST = re.compile(r"\s*(?:all )?(?:in|en|em|w|v|в)\s[^,;.!?\n|]{1,60}(?=,)", re.IGNORECASE)
_MATHEMATICS = re.compile(r"\$[^$\s][^$\n]{0,60}\$(?!\w)")


def _unit_of_bare(layout: Layout, number: int, first: int, last: int) -> str:
    """Return the unit that the text gives a macro without one: ``"kWh"`` for ``"{{claim:0}} and 5 kWh"``; else ``""``.

    Its clause, row, label and heading are searched, from ``first`` to ``last``, where the neighbouring macros are.
    """
    for start, end in _stretches(layout, number, first, last):
        near = min(max(number, start), end)
        part = layout.text[max(start, near - _MAX_SPAN) : min(end, near + _MAX_SPAN)]
        declared = declaration(part, False) if end <= number else None
        if unit := _unit_in(part) or (_contradiction(declared, "1") if declared is not None else ""):
            return unit
    return ""


def _stretches(layout: Layout, number: int, first: int, last: int) -> Iterator[Span]:
    """Yield the stretches of text that may say what a number is: its cell and header, or its clause."""
    line = layout.line_at(number)
    if line.kind == "row":
        cell, column = layout.cell(line, number)
        yield max(cell[0], first), min(cell[1], last)
        if len(_WORD.findall(layout.text, *cell)) <= 2:  # more words say themselves what the number is
            cells = layout.cells(line)
            yield from (cells[place] for place in {0, column - 1} if 0 <= place < column)
            yield from layout.cells(line.header)[column : column + 1] if line.header is not None else ()
        return
    start, end = layout.clause(number, number + 1)
    bar = layout.text.rfind("|", line.start, number)
    yield max(start, first, bar), min(end, last)
    if bar >= 0 and len(_WORD.findall(layout.text, bar, number)) <= 2:
        yield line.start, bar
    opening = max(layout.sentence(number, number + 1)[0], first)
    for match in (
        _IN.match(layout.text, end, last),
        _IN_FIRST.match(layout.text, opening, max(start, opening)),
    ):
        if match is not None:
            yield match.span()
    yield from () if _is_in_sentence(layout, number) else line.heads


def _unit_in(part: str) -> str:
    """Return the first unit in a piece of text as it is typed, or ``""``.

    ``"rose by 5 kWh"`` → ``"kWh"``, ``"in €"`` → ``"€"``.
    """
    part = _MATHEMATICS.sub("", part)
    if match := _SIGNS.search(part):
        return match[0]
    if not part.isascii():
        part = "".join(char for char in part if unicodedata.category(char) != "Mn")
        for char in part:
            if unicodedata.category(char) == "Sc" and char != "$":
                return char
            if (
                is_square(char) and len(unicodedata.normalize("NFKC", char)) > 1
            ):  # "㎏" is "kg" in one character
                return char
    previous = ""
    for match in _WORD.finditer(Plain.of(part).letters):
        if _says_unit(match[0]) or (
            previous in ("in", "en", "em") and _says_measure(small_letters(match[0]))
        ):
            return match[0]
        previous = match[0].lower()
    return ""


@lru_cache(maxsize=4096)
def _says_unit(word: str) -> bool:
    """Return whether a word of a clause is a unit of a measure, a currency, a magnitude or a fraction, in any case.

    True for "kWh", "euros", "millions"; False for "apples", "hours" and "is".
    """
    small = small_letters(word)
    if small in words("no unit at a distance") or small.removesuffix("s") in counted_units():
        return False
    if (len(small) > 4 and small in words("magnitudes")) or _says_measure(small):
        return True
    units, end = units_at(word, 0)
    is_word = word.islower() or (len(word) == 2 and word.istitle())  # "Pa" is one, too
    is_symbol = end == len(word) > 1 and (is_allowed(word) or not is_word)
    return is_symbol and any(_is_measure(unit) and unit not in TIME_UNITS for unit in units)


def _says_measure(word: str) -> bool:
    return pattern("measure in words").match(word) is not None
