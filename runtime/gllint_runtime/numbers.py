"""The naked-number scanner: which digits of a message no claim stands behind.

It reads the *template*, in which macros still stand. That gives the verdict of a scan after rendering, but
a typed copy of a claimed value cannot hide behind the claim, and the cost is linear.

A number is any run of digits of any script (Unicode Nd, No, Nl). Excused are only

* the five contexts of seed 000 (list markers, ISO dates, versions, IDs, clock times), each matched on the
  digits' own span, dates and times only where the calendar and the clock have them;
* a whole word that is an allowed unit symbol, ``CO2`` or ``CO2e`` (also set with sub- or superscripts).

Nothing else glued to letters passes (``500kWh``, ``Q3``, ``3rd``), no code fence excuses anything, and what
touches a macro would change the number it renders (``{{claim:0}}000``, ``-{{claim:0}}``, ``{{claim:0}}k``).
"""

from __future__ import annotations

import html
import re
import sys
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from itertools import pairwise

from gllint_runtime.claims import Macro, find_macros
from gllint_runtime.units import ALLOWED_UNITS


@dataclass(frozen=True, slots=True)
class NakedNumber:
    """A number (or a sign or letters touching a macro) at code points ``start`` to ``end`` of the text."""

    start: int
    end: int
    text: str


def _number_class() -> str:
    """A character class of every code point whose category is Nd, No or Nl."""
    points = [p for p in range(sys.maxunicode + 1) if unicodedata.category(chr(p)) in {"Nd", "No", "Nl"}]
    ranges: list[list[int]] = []
    for point in points:
        if ranges and point == ranges[-1][1] + 1:
            ranges[-1][1] = point
        else:
            ranges.append([point, point])
    return "[" + "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in ranges) + "]"


def _number(digit: str) -> re.Pattern[str]:
    """A whole number: grouped, decimal, exponent. It begins with a digit; that is what makes it fast."""
    return re.compile(rf"{digit}+(?:[.,'’_٫٬\u00a0\u2009\u202f]{digit}+)*(?:[eE][+-]?{digit}+)?")


_ASCII_NUMBER = _number("[0-9]")

_DATE = re.compile(r"\b([0-9]{4})-([0-9]{2})-([0-9]{2})\b")
_TIME = re.compile(r"\b([0-9]{2}):([0-9]{2})(?::([0-9]{2}))?\b")
_CONTEXTS = (
    re.compile(r"^[0-9]+\.(?=\s)", re.MULTILINE),
    _DATE,
    re.compile(r"\bv[0-9]+\.[0-9]+(?:\.[0-9]+)?\b"),
    re.compile(r"\bID[-_]?[0-9]+\b"),
    _TIME,
)

_WORDS_WITH_DIGITS = frozenset(u for u in ALLOWED_UNITS if u.isalnum() and re.search(r"\d", u)) | {
    "CO2",
    "CO2e",
}
_SUBSCRIPTS = str.maketrans("₂²³", "223")

# What a reader does not see, or sees as emphasis only: it cannot part a sign from its number.
_INVISIBLE = (
    r"[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    r"\ufe00-\ufe0f\ufeff]"
)
_INLINE = (
    r"</?(?:a|abbr|b|bdi|bdo|big|cite|code|data|del|dfn|em|font|i|ins|kbd|mark|q|s|samp|small|span|strike|strong"
    r"|sub|sup|time|tt|u|var|wbr)\b[^<>]*>|(?><!--.*?-->)"
)
_MARKUP = rf"(?:{_INVISIBLE}|[*_~`]|{_INLINE})*+"
_SIGNS = r"+\-±∓−‐‑‒–﹣－＋%‰％"
_BEFORE = re.compile(rf"([^\W_]+|[{_SIGNS}]|[$£¥€₹¢]){_MARKUP}\Z", re.DOTALL)
_AFTER = re.compile(rf"{_MARKUP}([^\W_]+|[{_SIGNS}])", re.DOTALL)
_GLUE = re.compile(_MARKUP, re.DOTALL)
_REACH = 80  # characters looked at beside a macro or a digit; bounds the cost

_ENTITY = re.compile(r"&(?:#[0-9]{1,9}|#[xX][0-9a-fA-F]{1,7}|[A-Za-z][A-Za-z0-9]{0,40});?")

_WORD = (
    "zero|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen"
    "|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
    "|(?:hundred|thousand|million|billion|trillion|dozen)s?"
)
_NUMBER_WORDS = re.compile(
    rf"\b(?:(?:one|an?)[\s-]+(?=(?:{_WORD})\b))?(?:{_WORD})\b"
    rf"(?:(?:[\s-]+(?:and[\s-]+|point[\s-]+)?)(?:one|{_WORD})\b)*",
    re.IGNORECASE,
)


def scan_naked_numbers(
    text: str,
    *,
    whitelist: Sequence[str] = (),
    words: bool = False,
    units: Collection[str] = (),
    macros: Sequence[Macro] | None = None,
) -> list[NakedNumber]:
    """Find the naked numbers of a message template, in order and without overlap.

    ``whitelist`` adds regular expressions whose matches excuse the digits inside them, ``units`` a project's
    own unit symbols, and ``words`` also reports numbers spelled out ("five hundred kWh"). Macros are masked,
    malformed ones too: :func:`~gllint_runtime.claims.find_macros` reports those, and ``macros`` may hand over
    what it found. ``12.5`` and ``2,500`` are one number each. Offsets count code points.
    """
    if macros is None:
        macros = find_macros(text)
    masked = _mask(text, macros)
    spans = list(_digits(masked, whitelist, units))
    if "&" in masked:
        spans.extend(_entities(masked))
    sound = [macro for macro in macros if macro.problem is None]
    for macro in sound:
        spans.extend(_touching(text, macro))
    for macro, following in pairwise(sound):
        if _GLUE.fullmatch(text, macro.end, following.start):
            spans.append((following.start, following.end))
    if words:
        spans.extend(_spelled(masked))
    return [NakedNumber(start, end, text[start:end]) for start, end in _merge(spans)]


def _mask(text: str, macros: Iterable[Macro]) -> str:
    """The text with letters in place of its macros, so that nothing beside one ends at a word boundary."""
    parts: list[str] = []
    position = 0
    for macro in macros:
        parts += text[position : macro.start], "X" * (macro.end - macro.start)
        position = macro.end
    return "".join((*parts, text[position:]))


@lru_cache(maxsize=1)
def _unicode_number() -> re.Pattern[str]:
    return _number(_number_class())


@lru_cache(maxsize=64)
def _pattern(source: str) -> re.Pattern[str]:
    return re.compile(source)


def _digits(text: str, whitelist: Sequence[str], units: Collection[str]) -> Iterator[tuple[int, int]]:
    numbers = _ASCII_NUMBER if text.isascii() else _unicode_number()
    excused: set[int] | None = None
    position = 0
    while match := numbers.search(text, position):
        start, position = match.span()
        if symbol_end := _unit_symbol(text, start, units):
            position = symbol_end
            continue
        if excused is None:
            excused = _excused(text, whitelist)
        if any(i not in excused for i in range(start, position) if text[i].isnumeric()):
            yield start, position
        position = _glued_unit(text, position, units)


def _excused(text: str, whitelist: Sequence[str]) -> set[int]:
    """The positions inside a whitelisted context."""
    positions: set[int] = set()
    for pattern in (*_CONTEXTS, *map(_pattern, whitelist)):
        for match in pattern.finditer(text):
            if pattern not in (_DATE, _TIME) or _is_real(match):
                positions.update(range(*match.span()))
    return positions


def _is_real(match: re.Match[str]) -> bool:
    """False for what only looks like a date or a time: the 30th of February, 25:61."""
    first, second, third = (int(part or 0) for part in match.groups())
    if match.re is _TIME:
        return first < 24 and second < 60 and third < 60
    try:
        date(first, second, third)
    except ValueError:
        return False
    return True


def _unit_symbol(text: str, digit: int, units: Collection[str]) -> int:
    """The end of the word around ``digit`` if that word is a unit symbol such as ``m2``, else 0."""
    start = digit
    while start and digit - start < _REACH and _in_word(text[start - 1]):
        start -= 1
    if start == digit:
        return 0
    end = _word_end(text, digit)
    return end if _is_symbol(text[start:end], units) else 0


def _glued_unit(text: str, position: int, units: Collection[str]) -> int:
    """Where to go on after a number: behind a unit symbol glued to it (``500m2`` is one number, not two)."""
    end = _word_end(text, position)
    return end if _is_symbol(text[position:end], units) else position


def _word_end(text: str, position: int) -> int:
    limit = min(len(text), position + _REACH)
    while position < limit and _in_word(text[position]):
        position += 1
    return position


def _in_word(char: str) -> bool:
    return char.isalnum() or char == "_"


def _is_symbol(word: str, units: Collection[str]) -> bool:
    return word.translate(_SUBSCRIPTS) in _WORDS_WITH_DIGITS or word in units


def _entities(text: str) -> Iterator[tuple[int, int]]:
    """HTML entities that show as a number (``&half;``, ``&#x35;``)."""
    for match in _ENTITY.finditer(text):
        if any(unicodedata.category(char) in {"Nd", "No", "Nl"} for char in html.unescape(match[0])):
            yield match.span()


def _touching(text: str, macro: Macro) -> Iterator[tuple[int, int]]:
    """Signs, letters and digits that would become part of what the macro renders."""
    start, end = macro.start, macro.end
    if start and not text[start - 1].isspace():
        offset = max(0, start - _REACH)
        if before := _BEFORE.search(text[offset:start]):
            yield offset + before.start(1), offset + before.end(1)
    if end < len(text) and not text[end].isspace() and (after := _AFTER.match(text, end, end + _REACH)):
        yield after.span(1)


def _spelled(text: str) -> Iterator[tuple[int, int]]:
    for match in _NUMBER_WORDS.finditer(text):
        yield match.span()


def _merge(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans in order, those that overlap or abut joined."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
