"""The naked-number scanner: the digits of a message without a claim.

It reads the *template*, which still has its macros. That gives the verdict of a scan after rendering, but
a typed copy of a claimed value cannot hide behind the claim, and the cost is linear.

A number is any run of digits of any script (Unicode Nd, No, Nl, and pictures of digits). Excused are only

* the five contexts of seed 000 (list markers, ISO dates, versions, IDs, clock times), each matched on the
  digits' own span, dates and times only where the calendar and the clock have them;
* a whole word that is an allowed unit symbol, ``CO2`` or ``CO2e`` (also set with sub- or superscripts).

Emphasis around them (``_2024-10-02_``) changes nothing. Nothing else glued to letters passes (``500kWh``, ``Q3``,
``3rd``), and no code fence excuses anything. What would change the number that a macro renders is found by
:mod:`~gllint_runtime.policy.surroundings` and :mod:`~gllint_runtime.policy.claimed_text`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import TypeAlias

from gllint_runtime.policy.claims import HOLE, Macro, find_macros, in_place
from gllint_runtime.policy.expressions import expression
from gllint_runtime.policy.rendered_text import View, is_numeral, replaced
from gllint_runtime.policy.surroundings import (
    JOINS,
    MASK,
    Fault,
    Plain,
    fault_at_end,
    fault_at_start,
    pattern,
)
from gllint_runtime.policy.units import ALLOWED_UNITS


@dataclass(frozen=True, slots=True)
class NakedNumber:
    """A number (or what changes the number of a macro) at code points ``start`` to ``end`` of the text.

    ``is_reading`` says that the text gives the number of a macro another meaning, without touching its digits.
    """

    start: int
    end: int
    text: str
    hint: str | None = None
    is_reading: bool = False


# A whole number: grouped, decimal, exponent. It begins with one digit, by which the engine finds it fast.
_NUMBER = expression(rf"[0-9][0-9]*(?:[{JOINS}][0-9]+)*(?:[eE][+-]?[0-9]+)?")

# Each begins with its first character, which the engine finds fast, and then the word boundary.
_DATE = re.compile(r"([0-9](?<!\w[0-9])[0-9]{3})-([0-9]{2})-([0-9]{2})\b")
_TIME = re.compile(r"([0-9](?<!\w[0-9])[0-9]):([0-9]{2})(?::([0-9]{2}))?\b")
_CONTEXTS = (
    re.compile(r"^[*_]{0,3}[0-9]+\.[*_]{0,3}(?=\s)", re.MULTILINE),
    _DATE,
    re.compile(r"v(?<!\wv)[0-9]+\.[0-9]+(?:\.[0-9]+)?\b"),
    re.compile(r"ID(?<!\wID)[-_]?[0-9]+\b"),
    _TIME,
)

# Emphasis by underscores, which are letters to a regular expression. ``ID_7`` and ``total_5`` have none.
_EMPHASIS = expression(r"(?<![^\W_])_{1,3}(?=[^\W_])|(?<=[^\W_])_{1,3}(?![^\W_])")
# Large ones are compiled where they are first needed, by :func:`_pattern`.
_SHORTCODE = (
    r"(?i):(?:zero|one|two|three|four|five|six|seven|eight|nine|(?:keycap_)?ten"
    r"|hundred(?:_points)?|die_face_\w+):"
)
# What opens an item, parts a label from its number, or joins two numbers to a range; none is a sign.
_DASHES_OF_PROSE = (
    expression(r"(^[ \t>]*(?:\d{1,9}[.)][ \t]+)?)-()(?=[ \t])", re.MULTILINE),
    expression(
        r"((?:\*\*|__|</(?:b|strong)>|^[ \t>]*(?:[-*+•,]|\d{1,3}[.)])[ \t]+[^\Wa-z][^.:;!?\n]{1,40}\w)[ \t])"
        r"[-–—]([ \t]+[*_`]*\ue000)",
        re.MULTILINE,
    ),
    expression(
        r"(^[ \t>]*[A-ZÀ-ÞА-Я][^\W_]*(?: [^\W_]+){0,3}[ \t])[-–—]([ \t]+[*_`]*\ue000+[^.!?\ue000\n]{0,40}$)",
        re.MULTILINE,
    ),
)
_RANGE = expression(r"(?<=\ue000)(?: [–—] |[-–—])(?=\ue000)")
_REVERSED = expression(r"[\u202d\u202e]|<bdo\b", re.IGNORECASE)
_PLAIN = expression(r"[^\w\s.,;:!?()'\"|%/+=\-\ue000]|[_\u115f\u1160\u3164\uffa0]")  # what else needs a view
_MARKUP = expression(
    r"[][{}<>&*_`~\\^$#@\x00-\x08\x0e-\x1f\x7f]"
)  # the same of a text in ASCII, ten times as fast

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
    claimed: Sequence[str] | None = None,
) -> list[NakedNumber]:
    """Return the naked numbers of a message template, in order: ``"{{claim:0}} of 500 kWh"`` → one, ``500``.

    Macros are masked, malformed ones too: :func:`~gllint_runtime.policy.claims.find_macros` reports those. Offsets
    count code points. Raises TypeError for what is not a text.

    * ``whitelist``: regular expressions whose matches excuse the digits in them.
    * ``words``: whether numbers in words count as well ("five hundred kWh").
    * ``units``, ``glued``: unit symbols of the project and of its packs, whose own digits are no numbers (``m2``).
    * ``macros``: those of the text, if they are known already.
    * ``claimed``: the unit of each claim, ``""`` if unknown. Without it, no unit may be typed next to a macro.
    """
    if not isinstance(text, str) or isinstance(whitelist, str) or isinstance(units, str):
        raise TypeError("scan_naked_numbers needs a str; whitelist and units must be lists of str")
    if macros is None:
        macros = find_macros(text)
    # Most texts end here: without any of these no check could find anything.
    if not (macros or words) and text.isascii() and not any(mark in text for mark in _TELLING):
        return []
    message = _Message(text, macros, whitelist, words, units, glued, claimed)
    places = [place for check in _CHECKS for place in check(message)]
    return [NakedNumber(start, end, text[start:end], *rest) for start, end, *rest in _merge(places)]


_Place: TypeAlias = tuple[int, int, str | None, bool] | Fault
_TELLING = "0123456789:&<"  # looked for one by one: far faster than by an expression


class _Message:
    """A text as the checks read it.

    ``lettered`` has a letter for each macro, next to which no word ends, ``typed`` a mask; in that nothing that opens
    a line is a sign, and comments end the text around them. ``view`` is what a reader sees, where that may differ
    and something there may matter.
    """

    def __init__(
        self,
        text: str,
        macros: Sequence[Macro],
        whitelist: Collection[str],
        words: bool,
        units: Collection[str],
        glued: Collection[str],
        claimed: Sequence[str] | None,
    ) -> None:
        """Read a message as the checks need it; see the class."""
        self.text, self.macros, self.words, self.units = text, macros, words, units
        indexes = [-1 if macro.problem or macro.index is None else macro.index for macro in macros]
        self.macro_units: list[str | None] = [None] * len(macros)
        """The unit of each macro."""
        if claimed is not None:
            self.macro_units = [claimed[index] if 0 <= index < len(claimed) else "" for index in indexes]
        masked = "".join(in_place(text, macros, lambda macro: MASK * len(macro.text))) if macros else text
        self.lettered = masked.replace(MASK, "X") if macros else text
        self.numbers = _digits(self.lettered, whitelist, units, glued)
        if ":" in self.lettered:
            self.numbers += [match.span() for match in _pattern(_SHORTCODE).finditer(self.lettered)]
        self.typed, self.view = masked, None
        if not (macros or words or "&" in text):
            return
        # "- Heat: {{claim:0}}" opens an item: its dash is no minus, and becomes a comma here.
        for dash in _DASHES_OF_PROSE if "-" in masked or "–" in masked else ():
            self.typed = dash.sub(r"\1,\2", self.typed)
        following = zip(macros, self.macro_units, self.macro_units[1:], strict=False)
        # "{{claim:0}}–{{claim:1}}" is a range if both have one unit; else the dash is a minus.
        alike = {macro.end for macro, unit, next_unit in following if unit == next_unit}
        self.typed = _RANGE.sub(
            lambda dash: ";".center(len(dash[0])) if dash.start() in alike else dash[0], self.typed
        )
        is_ascii = text.isascii()
        if (_MARKUP if is_ascii else _PLAIN).search(self.typed):
            self.view = View(self.typed, printable=is_ascii and _is_printable(text))
            # Paragraph separators: a word in a comment belongs to no text around it, and the places stay.
            self.typed = self.typed.replace("<!--", "\u2029" * 4).replace("-->", "\u2029" * 3)


def _hiding(message: _Message) -> Iterator[_Place]:
    if message.view is not None and message.macros:
        for start, end in message.view.hiding:
            yield start, end, "Style and hide nothing around a number.", False


def _surroundings(message: _Message) -> Iterator[_Place]:
    """Yield the signs, letters, units and macros that would become part of a macro's number.

    Example: "-{{claim:0}}", "k{{claim:0}}".

    Each macro is read in the view, which is what a reader sees, or, inside an HTML comment, in the text as it is typed.
    """
    view = message.view
    pairs = zip(message.macros, message.macro_units, strict=True)
    well_formed = [(macro, unit) for macro, unit in pairs if macro.problem is None]
    if not well_formed:
        return
    typed = Plain.of(message.typed)
    view_plain = typed if view is None else Plain.of(view.text)
    for macro, unit in well_formed:
        place = None if view is None else view.find(macro.start)
        text, start = (typed, macro.start) if place is None else (view_plain, place)
        end = start + macro.end - macro.start
        for fault in (fault_at_start(text, start, end), fault_at_end(text, end, unit, message.units)):
            if fault is not None and view is not None and place is not None:
                yield Fault(*view.span(fault.start, fault.end), fault.hint, fault.is_reading)
            elif fault is not None:
                yield fault
    if any(message.macro_units):
        from gllint_runtime.policy.claimed_text import misread  # brings the reader of texts

        yield from misread(message.text, message.macros, [unit or "" for unit in message.macro_units])


def _typed_numbers(message: _Message) -> Iterator[_Place]:
    for start, end in message.numbers:
        yield start, end, None, False


def _reversals(message: _Message) -> Iterator[_Place]:
    r"""Yield the places of marks and tags that reverse the direction of a text, if it has numbers.

    Example: "\u202e" shows 12 as 21.
    """
    text = message.text
    if text.isascii() and "<" not in text:
        return
    if message.macros or message.numbers or _NUMBER.search(text):
        for match in _REVERSED.finditer(text):
            yield *match.span(), None, False


def _seen_numerals(message: _Message) -> Iterator[_Place]:
    for start, end in message.view.numerals if message.view is not None else ():
        yield start, end, None, False


def _number_words(message: _Message) -> Iterator[_Place]:
    """Yield the places of numbers in words ("five hundred"), as typed and as seen: "five <b>hun</b>dred", "𝐟𝐢𝐯𝐞"."""
    if not message.words:
        return
    for match in _pattern(_NUMBER_WORDS).finditer(message.lettered):
        yield *match.span(), None, False
    view = message.view or View(message.typed)
    folded = (unicodedata.normalize("NFKC", char) for char in view.text)
    plain = "".join([new if len(new) == 1 else old for old, new in zip(view.text, folded, strict=True)])
    for match in _pattern(_NUMBER_WORDS).finditer(plain):
        yield *view.span(*match.span()), None, False
    from gllint_runtime.policy.number_words import spelled_places  # few ask for words

    for start, end in spelled_places(message.lettered):
        yield start, end, None, False
    for start, end in spelled_places(plain):
        yield *view.span(start, end), None, False


# Those with a hint come first: of two at one place, the first hint is read.
_CHECKS: tuple[Callable[[_Message], Iterator[_Place]], ...] = (
    _hiding,
    _surroundings,
    _typed_numbers,
    _reversals,
    _seen_numerals,
    _number_words,
)


@lru_cache(maxsize=64)
def _pattern(source: str) -> re.Pattern[str]:
    return re.compile(source)


def _without_emphasis(text: str) -> str:
    return _EMPHASIS.sub(lambda match: "*" * len(match[0]), text) if "_" in text else text


def _digits(
    text: str, whitelist: Collection[str], units: Collection[str], glued: Collection[str]
) -> list[tuple[int, int]]:
    """Return the places of numbers in digits that nothing excuses: in "500 m2 on 2024-05-03" that of "500"."""
    text = _without_emphasis(text)
    digits = text if text.isascii() else replaced(text, is_numeral, "0")
    for digit in "0123456789":  # far faster than the expression
        if digit in digits:
            break
    else:
        return []
    inside = bytearray(len(text))  # for each character whether something excuses it
    for match in _excuses(text, whitelist, _symbols(frozenset(units) | frozenset(glued))):
        start, end = match.span()
        inside[start:end] = b"\1" * (end - start)
    spans = [match.span() for match in _NUMBER.finditer(digits)]
    return [span for span in spans if any(digits[i].isdecimal() and not inside[i] for i in range(*span))]


def _excuses(text: str, whitelist: Collection[str], symbols: re.Pattern[str]) -> list[re.Match[str]]:
    """Return the matches of dates, times, versions, list markers, units with digits and whitelisted expressions."""
    # Letters of scripts without blanks become blanks: in "到2024-05-03为止" the date ends where a letter follows.
    parted = text if text.isascii() else pattern("end of a word").sub(" ", text)
    excuses = [match for pattern in (*_CONTEXTS, symbols) for match in pattern.finditer(parted)]
    if whitelist:
        from gllint_runtime.policy.patterns import matches  # few projects have expressions of their own

        excuses += (match for expression in whitelist for match in matches(expression, text))
    return [match for match in excuses if match.re not in (_DATE, _TIME) or _is_real(match)]  # not 25:61


def _is_real(match: re.Match[str]) -> bool:
    """Return whether the calendar or the clock has what a match shows: not the 30th of February, or 25:61."""
    first, second, third = (int(part or 0) for part in match.groups())
    if match.re is _TIME:
        return first < 24 and second < 60 and third < 60
    try:
        date(first, second, third)
    except ValueError:
        return False
    return True


@lru_cache(maxsize=16)
def _symbols(units: frozenset[str] = frozenset()) -> re.Pattern[str]:
    """Return the expression of whole words that are a unit with a digit.

    Example: ``m2``, ``m²``, ``CO2``, and those of ``units``.
    """
    words = {
        unit
        for unit in {"CO2", "CO2e", *ALLOWED_UNITS, *units}
        if re.fullmatch(r"(?=\w*[^\W\d])\w*\d\w*", unit)
    }

    def written(text: str) -> str:
        return re.escape(text).replace("2", "[2₂²]").replace("3", "[3³]")

    # No letter precedes one: the number in "500m2" is 500 alone.
    starts = {word: written(word[0]) for word in sorted(words)}
    return re.compile(
        "|".join(rf"{start}(?<![^\W\d]{start}){written(word[1:])}(?!\w)" for word, start in starts.items())
    )


def _merge(places: list[_Place]) -> list[_Place]:
    """Return the places in order, each two that overlap or touch joined to one, with the hint of the first that
    has one.
    """
    merged: list[_Place] = []
    for start, end, hint, is_reading in sorted(places, key=lambda place: place[:2]):
        if merged and start <= merged[-1][1]:
            first, last, earlier, was_reading = merged[-1]
            merged[-1] = (first, max(end, last), earlier or hint, is_reading and was_reading)
        else:
            merged.append((start, end, hint, is_reading))
    return merged


def _is_printable(text: str) -> bool:
    return text.replace("\n", " ").isprintable()


_CONTROL = expression(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e]|\r(?!\n)"
    # What gllint uses for itself, line ends that few know, halves of a pair: no screen shows them alike.
    r"|[\u2028\u2029\ud800-\udfff\ue000-\uf8ff\ufffc\U000f0000-\U0010ffff]"
)
_ISOLATE = expression(r"[\u2066-\u2069]")


def unsafe_characters(text: str) -> list[tuple[int, int]]:
    """Return the places of characters that could make a screen show something else than the text, in order.

    These are control characters, characters for private use, halves of surrogate pairs, and isolates that are not
    closed in their order. Line feeds, CRLF, tabs and closed isolates are allowed.
    """
    if HOLE not in text and (text.isprintable() or _is_printable(text)):
        return []
    spans = [match.span() for match in _CONTROL.finditer(text)]
    if not text.isascii():
        opened: list[int] = []
        for match in _ISOLATE.finditer(text):
            if match[0] != "\u2069":
                opened.append(match.start())
            elif opened:
                opened.pop()
            else:
                spans.append(match.span())
        spans.extend((place, place + 1) for place in opened)
    return sorted(spans)
