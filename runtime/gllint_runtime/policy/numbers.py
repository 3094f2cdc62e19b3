"""The naked-number scanner: which digits of a message no claim stands behind.

It reads the *template*, in which macros still stand. That gives the verdict of a scan after rendering, but
a typed copy of a claimed value cannot hide behind the claim, and the cost is linear.

A number is any run of digits of any script (Unicode Nd, No, Nl, and pictures of digits). Excused are only

* the five contexts of seed 000 (list markers, ISO dates, versions, IDs, clock times), each matched on the
  digits' own span, dates and times only where the calendar and the clock have them;
* a whole word that is an allowed unit symbol, ``CO2`` or ``CO2e`` (also set with sub- or superscripts).

Emphasis around them (``_2024-10-02_``) changes nothing. Nothing else glued to letters passes (``500kWh``, ``Q3``,
``3rd``), and no code fence excuses anything. What would change the number that a macro renders is found by
:mod:`~gllint_runtime.policy.neighbours`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from gllint_runtime.policy.claims import Macro, find_macros, in_place
from gllint_runtime.policy.neighbours import BULLET, MASK, UNSPACED, beside
from gllint_runtime.policy.units import ALLOWED_UNITS
from gllint_runtime.policy.view import View, is_numeral, replaced


@dataclass(frozen=True, slots=True)
class NakedNumber:
    """A number (or what changes the number of a macro) at code points ``start`` to ``end`` of the text."""

    start: int
    end: int
    text: str
    hint: str | None = None


# A whole number: grouped, decimal, exponent. It begins with a digit; that is what makes it fast.
_NUMBER = re.compile(r"[0-9]+(?:[.,'’_٫٬\u00a0\u2009\u202f][0-9]+)*(?:[eE][+-]?[0-9]+)?")

# Each begins with the character that it looks for, which the engine finds fast; behind it stands the word boundary.
_DATE = re.compile(r"([0-9](?<!\w[0-9])[0-9]{3})-([0-9]{2})-([0-9]{2})\b")
_TIME = re.compile(r"([0-9](?<!\w[0-9])[0-9]):([0-9]{2})(?::([0-9]{2}))?\b")
_CONTEXTS = (
    re.compile(r"^[*_]{0,3}[0-9]+\.[*_]{0,3}(?=\s)", re.MULTILINE),
    _DATE,
    re.compile(r"v(?<!\wv)[0-9]+\.[0-9]+(?:\.[0-9]+)?\b"),
    re.compile(r"ID(?<!\wID)[-_]?[0-9]+\b"),
    _TIME,
)

# Letters of scripts without blanks end a word, where they do not count (``万``).
_ENDS_A_WORD = re.compile(rf"(?![十百千万萬亿億兆만억]){UNSPACED.pattern}")

_WORDS_WITH_DIGITS = frozenset(u for u in ALLOWED_UNITS if u.isalnum() and re.search(r"\d", u)) | {
    "CO2",
    "CO2e",
}
_SUBSCRIPTS = str.maketrans("₂²³", "223")

# Emphasis by underscores, which are letters to a regular expression. ``ID_7`` and ``total_5`` have none.
_EMPHASIS = re.compile(r"(?<![^\W_])_{1,3}(?=[^\W_])|(?<=[^\W_])_{1,3}(?![^\W_])")
# Large ones are compiled where they are first needed, by :func:`_pattern`.
_SHORTCODE = (
    r"(?i):(?:zero|one|two|three|four|five|six|seven|eight|nine|(?:keycap_)?ten"
    r"|hundred(?:_points)?|die_face_\w+):"
)
_REVERSED = re.compile(r"[\u202d\u202e]|<bdo\b", re.IGNORECASE)
# Elements that show nothing or something else, and any style but colours, fonts and the like.
_HIDING = (
    r"(?i)<(?:script|style|template|noscript|textarea|title|iframe|object|svg|math|marquee|rp|bdo)\b"
    r"|<[a-z][^<>]{0,500}?\s(?:hidden\b|style\s*=(?!\s*+[\"']?+(?:\s*(?:(?:background-)?color|background"
    r"|font-(?:weight|style|family)|text-(?:align|decoration)|vertical-align|white-space|(?:padding|border)[a-z-]*)"
    r"\s*:(?!\s*transparent)[\w\s#%.,'-]{1,80}(?:;|(?=[\"'>])))*+\s*[\"'>]))"
)
_PLAIN = re.compile(r"[^\w\s.,;:!?()'\"|%/+=\-\ue000]|[_\u115f\u1160\u3164\uffa0]")  # what else needs a view
_MARKUP = re.compile(
    r"[][{}<>&*_`~\\^$#@\x00-\x08\x0e-\x1f\x7f]"
)  # the same of a text in ASCII, ten times as fast
_REACH = 80  # characters looked at beside a macro or a digit; bounds the cost

_WORD = (
    "zero|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen"
    "|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
    "|(?:hundred|thousand|million|billion|trillion|dozen|lakh|crore)s?"
)
_UNIT_WORD = "|".join(
    ["percent", r"per\s+cent", *(re.escape(unit) for unit in ALLOWED_UNITS if len(unit) > 1)]
)
_NUMBER_WORDS = (
    rf"(?i)\bone(?=\s+(?:{_UNIT_WORD})\b)|\b(?:(?:one|an?)[\s-]+(?=(?:{_WORD})\b))?(?:{_WORD})"
    rf"(?:[\s-]*(?:(?:and|point)[\s-]+)?(?:one|{_WORD}))*\b"
)


def scan_naked_numbers(
    text: str,
    *,
    whitelist: Collection[str] = (),
    words: bool = False,
    units: Collection[str] = (),
    macros: Sequence[Macro] | None = None,
    glued: Collection[str] = (),
    claimed: Sequence[str] = (),
) -> list[NakedNumber]:
    """Find the naked numbers of a message template, in order and without overlap.

    ``whitelist`` adds regular expressions whose matches excuse the digits inside them, ``units`` a project's
    own unit symbols, ``glued`` those of packs, and ``words`` also reports numbers spelled out ("five hundred
    kWh"). Macros are masked, malformed ones too: :func:`~gllint_runtime.policy.claims.find_macros` reports those,
    and ``macros`` may hand over what it found. ``claimed`` has the unit of each claim where that is known.
    ``12.5`` and ``2,500`` are one number each. Offsets count code points. Raises TypeError for what is no text.
    """
    if not isinstance(text, str) or isinstance(whitelist, str) or isinstance(units, str):
        raise TypeError("scan_naked_numbers takes a text; whitelist and units are lists of texts")
    if macros is None:
        macros = find_macros(text)
    shown = "".join(in_place(text, macros, lambda macro: MASK * len(macro.text))) if macros else text
    masked = shown.replace(MASK, "X") if macros else shown  # a letter: no word ends beside a macro
    found: list[tuple[int, int, str | None]] = [
        (*span, None) for span in _digits(masked, whitelist, {*units, *glued} if glued else units)
    ]
    if ":" in masked:
        found.extend((*match.span(), None) for match in _pattern(_SHORTCODE).finditer(masked))
    is_ascii = text.isascii()
    if (not is_ascii or "<" in text) and (macros or found or _NUMBER.search(text)):
        found.extend((*match.span(), None) for match in _REVERSED.finditer(text))
        if macros:
            found.extend(
                (*match.span(), "Style and hide nothing around a number.")
                for match in _pattern(_HIDING).finditer(text)
            )
    if macros or words or "&" in text:
        if "-" in shown:
            shown = BULLET.sub(r"\n\1•", f"\n{shown}")[1:]
        view = None
        if (_MARKUP if is_ascii else _PLAIN).search(shown):
            view = View(shown, printable=is_ascii and _is_printable(text))
            found.extend((*span, None) for span in view.numerals)
            if "<!--" in shown:
                shown = shown.replace("<!--", "\u2029" * 4).replace("-->", "\u2029" * 3)
        for macro in macros:
            if macro.problem is None:
                index = macro.index or 0
                unit = claimed[index] if index < len(claimed) else None
                found += _beside(view, shown, macro, units, unit)
        if words:
            found.extend((*span, None) for span in _spelled(masked, view or View(shown)))
    if not found:
        return []
    return [NakedNumber(start, end, text[start:end], hint) for start, end, hint in _merge(found)]


@lru_cache(maxsize=64)
def _pattern(source: str) -> re.Pattern[str]:
    return re.compile(source)


def _digits(text: str, whitelist: Collection[str], units: Collection[str]) -> Iterator[tuple[int, int]]:
    if "_" in text:
        text = _EMPHASIS.sub(lambda match: "*" * len(match[0]), text)
    digits = text if text.isascii() else replaced(text, is_numeral, "0")
    for digit in "0123456789":  # far faster than the expression
        if digit in digits:
            break
    else:
        return
    excused: bytearray | None = None
    position = 0
    while match := _NUMBER.search(digits, position):
        start, position = match.span()
        if symbol_end := unit_symbol_end(text, start, units):
            position = symbol_end
            continue
        if excused is None:
            excused = _excused(text, whitelist)
        if excused.find(0, start, position) >= 0 and any(
            not excused[i] for i in range(start, position) if digits[i].isdecimal()
        ):
            yield start, position
        end = _word_end(text, position)
        if end > position and _is_symbol(text[position:end], units):  # ``500m2`` is one number, not two
            position = end


def _excused(text: str, whitelist: Collection[str]) -> bytearray:
    """For each character whether it is inside a whitelisted context."""
    inside = bytearray(len(text))
    parted = text if text.isascii() else _ENDS_A_WORD.sub(" ", text)
    for pattern in (*_CONTEXTS, *map(_pattern, whitelist)):
        for match in pattern.finditer(parted if pattern in _CONTEXTS else text):
            if pattern not in (_DATE, _TIME) or _is_real(match):
                start, end = match.span()
                inside[start:end] = b"\1" * (end - start)
    return inside


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
    if not digit or text[digit - 1] == " " or not _in_word(text[digit]):
        return 0
    start = digit
    while start and digit - start < _REACH and _in_word(text[start - 1]):
        start -= 1
    if start == digit:
        return 0
    end = _word_end(text, digit)
    return end if _is_symbol(text[start:end], units) else 0


def _word_end(text: str, position: int) -> int:
    limit = min(len(text), position + _REACH)
    while position < limit and _in_word(text[position]):
        position += 1
    return position


def _in_word(char: str) -> bool:
    return char.isalnum() or char == "_"


def _is_symbol(word: str, units: Collection[str]) -> bool:
    return word.translate(_SUBSCRIPTS) in _WORDS_WITH_DIGITS or word in units


def _beside(
    view: View | None, shown: str, macro: Macro, units: Collection[str], unit: str | None
) -> list[tuple[int, int, str]]:
    """Signs, letters, units and macros that would become part of what the macro renders."""
    start, end = macro.start, macro.end
    place = view.find(start) if view else None
    if view is None or place is None:  # inside a comment; whoever sees that sees it as it is typed
        return beside(shown, start, end, units, unit)
    places = beside(view.text, place, place + end - start, units, unit)
    return [(*view.span(first, last), hint) for first, last, hint in places]


def _spelled(masked: str, view: View) -> Iterator[tuple[int, int]]:
    """Numbers in words, as typed or as seen: split by markup, in letters of another style."""
    yield from (match.span() for match in _pattern(_NUMBER_WORDS).finditer(masked))
    folded = (unicodedata.normalize("NFKC", char) for char in view.text)
    plain = "".join([new if len(new) == 1 else old for old, new in zip(view.text, folded, strict=True)])
    yield from (view.span(*match.span()) for match in _pattern(_NUMBER_WORDS).finditer(plain))


def _merge(found: list[tuple[int, int, str | None]]) -> list[tuple[int, int, str | None]]:
    """The places in order, those that overlap or abut joined."""
    merged: list[tuple[int, int, str | None]] = []
    for start, end, hint in sorted(found, key=lambda place: place[:2]):
        if merged and start <= merged[-1][1]:
            first, last, earlier = merged[-1]
            merged[-1] = (first, max(end, last), earlier or hint)
        else:
            merged.append((start, end, hint))
    return merged


def _is_printable(text: str) -> bool:
    return text.replace("\n", " ").isprintable()


_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e]|\r(?!\n)")
_ISOLATE = re.compile(r"[\u2066-\u2069]")


def unsafe_characters(text: str) -> list[tuple[int, int]]:
    """The places of control characters by which a terminal or a screen would rewrite what it shows.

    Allowed are line feeds, CRLF, tabs and isolates that are closed in their order.
    """
    if _is_printable(text):
        return []
    found = [match.span() for match in _CONTROL.finditer(text)]
    if not text.isascii():
        opened: list[int] = []
        for match in _ISOLATE.finditer(text):
            if match[0] != "\u2069":
                opened.append(match.start())
            elif opened:
                opened.pop()
            else:
                found.append(match.span())
        found.extend((place, place + 1) for place in opened)
    return sorted(found)
