"""The naked-number scanner: which digits of a message no claim stands behind.

It reads the *template*, in which macros still stand. That gives the verdict of a scan after rendering, but
a typed copy of a claimed value cannot hide behind the claim, and the cost is linear.

A number is any run of digits of any script (Unicode Nd, No, Nl). Excused are only

* the five contexts of seed 000 (list markers, ISO dates, versions, IDs, clock times), each matched on the
  digits' own span, dates and times only where the calendar and the clock have them;
* a whole word that is an allowed unit symbol, ``CO2`` or ``CO2e`` (also set with sub- or superscripts).

Nothing else glued to letters passes (``500kWh``, ``Q3``, ``3rd``), no code fence excuses anything, and what
touches a macro would change the number it renders (``{{claim:0}}000``, ``-{{claim:0}}``, ``{{claim:0}}k``), as
would the override that shows text in reverse.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from gllint_runtime.policy.claims import Macro, find_macros
from gllint_runtime.policy.units import ALLOWED_UNITS
from gllint_runtime.policy.view import View, is_numeral, replaced


@dataclass(frozen=True, slots=True)
class NakedNumber:
    """A number (or what changes the number of a macro) at code points ``start`` to ``end`` of the text."""

    start: int
    end: int
    text: str


# A whole number: grouped, decimal, exponent. It begins with a digit; that is what makes it fast.
_NUMBER = re.compile(r"[0-9]+(?:[.,'’_٫٬\u00a0\u2009\u202f][0-9]+)*(?:[eE][+-]?[0-9]+)?")

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

_THIN = r"\u2006-\u200a\u202f"  # a sign is still one before these blanks
_SIGNS = r"+\-±∓−‐‑‒–﹢﹣－＋➕➖⊕⊖⁺⁻₊₋˗%‰％"
_MASK = "\ue000"
_BEFORE = re.compile(rf"(?:([^\W_]+|{_MASK})|([{_SIGNS}$£¥€₹¢√∛∜])[\[({_THIN}]*)\Z")
_AFTER = re.compile(rf"[^\W_]+|[{_THIN}]*[{_SIGNS}]")
_HARMLESS_BEFORE = frozenset({"", *" \t\r\n\"'|:"})
_HARMLESS_AFTER = frozenset({"", *" \t\r\n\"').,;:!?|"})
_REVERSED = re.compile(r"\u202e|<bdo\b", re.IGNORECASE)
_REACH = 80  # characters looked at beside a macro or a digit; bounds the cost

_WORD = (
    "zero|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen"
    "|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
    "|(?:hundred|thousand|million|billion|trillion|dozen|lakh|crore)s?"
)
_UNIT_WORD = "|".join(
    ["percent", r"per\s+cent", *(re.escape(unit) for unit in ALLOWED_UNITS if len(unit) > 1)]
)
_NUMBER_WORDS = re.compile(
    rf"\bone(?=\s+(?:{_UNIT_WORD})\b)|\b(?:(?:one|an?)[\s-]+(?=(?:{_WORD})\b))?(?:{_WORD})"
    rf"(?:[\s-]*(?:(?:and|point)[\s-]+)?(?:one|{_WORD}))*\b",
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
    malformed ones too: :func:`~gllint_runtime.policy.claims.find_macros` reports those, and ``macros`` may hand over
    what it found. ``12.5`` and ``2,500`` are one number each. Offsets count code points.
    """
    if macros is None:
        macros = find_macros(text)
    masked = _mask(text, macros, "X")  # letters, so that nothing beside a macro ends at a word boundary
    spans = [*_digits(masked, whitelist, units)]
    if ("\u202e" in text or "<bdo" in text.lower()) and (macros or _NUMBER.search(text)):
        spans.extend(match.span() for match in _REVERSED.finditer(text))
    if words or "&" in masked or any(_is_suspect(text, macro) for macro in macros):
        shown = _mask(text, macros, _MASK)
        view = View(shown)
        spans.extend(view.numerals_in_entities())
        for macro in macros:
            if macro.problem is None:
                spans.extend(_touching(view, shown, macro))
        if words:
            spans.extend(_spelled(masked, view))
    return [NakedNumber(start, end, text[start:end]) for start, end in _merge(spans)]


def _mask(text: str, macros: Iterable[Macro], char: str) -> str:
    """The text with ``char`` in place of each character of its macros."""
    parts: list[str] = []
    position = 0
    for macro in macros:
        parts += text[position : macro.start], char * (macro.end - macro.start)
        position = macro.end
    return "".join((*parts, text[position:]))


@lru_cache(maxsize=64)
def _pattern(source: str) -> re.Pattern[str]:
    return re.compile(source)


def _digits(text: str, whitelist: Sequence[str], units: Collection[str]) -> Iterator[tuple[int, int]]:
    digits = replaced(text, is_numeral, "0")
    excused: set[int] | None = None
    position = 0
    while match := _NUMBER.search(digits, position):
        start, position = match.span()
        if symbol_end := unit_symbol_end(text, start, units):
            position = symbol_end
            continue
        if excused is None:
            excused = _excused(text, whitelist)
        if any(i not in excused for i in range(start, position) if digits[i].isdecimal()):
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


def unit_symbol_end(text: str, digit: int, units: Collection[str] = ()) -> int:
    """The end of the word around ``digit`` if that word is a unit symbol such as ``m2`` or of ``units``, else 0."""
    if not digit or text[digit - 1] == " ":
        return 0
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


def _is_suspect(text: str, macro: Macro) -> bool:
    """Whether what stands beside a macro needs a closer look; nearly always it does not."""
    before, after = text[macro.start - 1 : macro.start], text[macro.end : macro.end + 1]
    return before not in _HARMLESS_BEFORE or after not in _HARMLESS_AFTER


def _touching(view: View, masked: str, macro: Macro) -> Iterator[tuple[int, int]]:
    """Signs, letters, digits and macros that would become part of what the macro renders."""
    start, end = macro.start, macro.end
    place = view.find(start)
    if place is None:  # inside a comment; whoever sees that sees it as it is typed
        yield from _neighbours(masked, start, end)
    else:
        yield from (view.span(*found) for found in _neighbours(view.text, place, place + end - start))


def _neighbours(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    offset = max(0, start - _REACH)
    if before := _BEFORE.search(text[offset:start]):
        first, last = before.span(before.lastindex or 0)
        yield (start, end) if before[0] == _MASK else (offset + first, offset + last)
    if after := _AFTER.match(text, end, end + _REACH):
        yield after.span()


def _spelled(masked: str, view: View) -> Iterator[tuple[int, int]]:
    """Numbers in words, as typed or as seen: split by markup, in letters of another style."""
    yield from (match.span() for match in _NUMBER_WORDS.finditer(masked))
    folded = (unicodedata.normalize("NFKC", char) for char in view.text)
    plain = "".join([new if len(new) == 1 else old for old, new in zip(view.text, folded, strict=True)])
    yield from (view.span(*match.span()) for match in _NUMBER_WORDS.finditer(plain))


def _merge(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans in order, those that overlap or abut joined."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
