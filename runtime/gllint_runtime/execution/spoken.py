"""Numbers that the user said in another way than an argument has them: in words, percent, other units, as a sum."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple, TypeVar

from gllint_runtime.execution.dates import dates
from gllint_runtime.policy.expressions import expression
from gllint_runtime.policy.figures import Reading, figures, plain_numbers
from gllint_runtime.policy.units import conversion, unit_meant

_MAX_LETTERS = 200_000  # of what a user said that are read so
_MAX_ADDED = 32  # numbers of which a sum may be made: those that were said last
_MAX_NUMBERS = 20_000
_ADDENDS = 3
_NEAR = 40  # characters between two of them
# A number of words that the scanner leaves alone, as "one of them" is no count in an answer; in a request it may be.
_COUNTS: Mapping[str, int | Fraction] = {
    "one": 1,
    "once": 1,
    "single": 1,
    "twice": 2,
    "both": 2,
    "couple": 2,
    "pair": 2,
    "thrice": 3,
    "half": Fraction(1, 2),
}
_COUNT = expression(rf"\b(?:{'|'.join(_COUNTS)})\b", re.IGNORECASE)
_LESS_BEFORE = expression(r"\b(?:minus|negative|loss(?:es)? of|debts? of|deficit of)\s+\S?$", re.IGNORECASE)
_LESS_BEHIND = expression(r"\s*+(?:°\s*+)?(?:[WS]|West|South)\b(?!\.?\w)|\s*+(?:\S++\s++){0,3}below zero\b")
# What may say a number that its digits do not: a quick look before each text is read.
_IMPLYING = expression(
    rf"\d\s?[ap]\.?m\b|\d:\d\d|o'clock|in the (?:morning|afternoon|evening)|{_COUNT.pattern}"
    r"|minus|negative|loss|debt|deficit|below zero|\d\s*+(?:°\s*+)?(?:[WS]\b|West|South)",
    re.IGNORECASE,
)
_JOINT = expression(r"[^.!?;:\d\n]*?(?:\b(?:and|plus|with)\b|[+&,])[^.!?;:\d\n]*", re.IGNORECASE)
_LEAST_DIGITS = 2  # of a number that was rounded


Known = TypeVar("Known")


class _Spoken(NamedTuple):
    value: Fraction
    unit: str | None
    text: str
    message: int = 0  # which of the texts it stands in, from where to where
    start: int = 0
    end: int = 0


class SpokenNumbers:
    """The numbers of what a user said in ``texts``, to which others come.

    They are read when a number is first looked for in vain.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._read_count = self._judged_count = 0  # of the texts
        self._letters = 0
        self._numbers: list[_Spoken] = []
        self._by_value: dict[float, str] = {}
        self._sums: dict[float, str] | None = None
        self._typed = 0  # numbers in digits
        self._plain = True

    def origin(self, value: Any, units: Collection[str]) -> str | None:
        """How the user said a number, in words or added up, that its parameter takes in one of ``units``."""
        if units or not self._is_plain():
            self._read()
        if (text := self._by_value.get(value)) is not None:
            return text
        if units and (text := self._converted(value, units)) is not None:
            return text
        return self._added().get(value)

    def _is_plain(self) -> bool:
        """Whether all that was said is one number in digits at most, of which nobody can make another one."""
        while self._plain and self._judged_count < len(self._texts):
            text = self._texts[self._judged_count][:_MAX_LETTERS]
            numbers = None if _IMPLYING.search(text) else plain_numbers(text)
            self._judged_count += 1
            self._typed += numbers or 0
            self._plain = numbers is not None and self._typed < 2
        return self._plain

    def _read(self) -> None:
        for message, text in enumerate(self._texts[self._read_count :], self._read_count):
            read = text[:_MAX_LETTERS] if self._letters < _MAX_LETTERS else ""
            self._letters += len(text)
            for figure in figures(read):
                if figure.is_excused or figure.is_name:
                    continue
                unit = figure.units[0] if len(figure.units) == 1 else figure.written or None
                for reading in figure.readings:
                    self._add(_Spoken(reading.value, unit, figure.text, message, figure.start, figure.end))
                    if _is_negative(read, figure.start, figure.end):
                        self._by_value.setdefault(as_argument(-reading.value), figure.text)
            for value, said in _implied(read):
                self._by_value.setdefault(as_argument(value), said)
        self._read_count = len(self._texts)

    def _add(self, spoken: _Spoken) -> None:
        if len(self._numbers) >= _MAX_NUMBERS:
            return
        self._numbers.append(spoken)
        self._by_value.setdefault(as_argument(spoken.value), spoken.text)
        if spoken.unit == "%":
            self._by_value.setdefault(as_argument(spoken.value / 100), f"{spoken.text}%")
        self._sums = None

    def _converted(self, value: Any, units: Collection[str]) -> str | None:
        """What was said in another unit of the same size, as far as the digits of the argument say."""
        measures = {(term.value, term.unit): term.text for term in self._numbers if term.unit}
        return converted(measures, value, units)

    def _added(self) -> Mapping[float, str]:
        """The sums that somebody may mean: of two or three numbers that are joined ("250 and 55 dollars")."""
        if self._sums is None:
            self._sums = {}
            recent = [term for term in self._numbers[-_MAX_ADDED:] if term.value > 0]
            for place, first in enumerate(recent):
                chains: list[tuple[_Spoken, ...]] = [(first,)]
                for second in recent[place + 1 :]:
                    chains += [
                        (*chain, second)
                        for chain in chains
                        if len(chain) < _ADDENDS and self._are_joined(chain[-1], second)
                    ]
                for chain in chains[1:]:
                    if len({term.unit for term in chain if term.unit}) < 2:
                        total = sum((term.value for term in chain), Fraction(0))
                        self._sums.setdefault(as_argument(total), " + ".join(term.text for term in chain))
        return self._sums

    def _are_joined(self, first: _Spoken, second: _Spoken) -> bool:
        """Whether one number follows on the other in a list of such."""
        if first.message != second.message or not 0 < second.start - first.end <= _NEAR:
            return False
        return _JOINT.fullmatch(self._texts[first.message], first.end, second.start) is not None


def _is_negative(text: str, start: int, end: int) -> bool:
    """Whether a number is one below zero by the words at it: a loss, a longitude in the west."""
    is_less = _LESS_BEFORE.search(text, max(0, start - 30), start) is not None
    return is_less or _LESS_BEHIND.match(text, end) is not None


def _implied(text: str) -> Iterator[tuple[Fraction, str]]:
    """Numbers that a text says in a way of its own: one, twice; the hour of a time (3 pm is 15)."""
    for match in _COUNT.finditer(text):
        yield Fraction(_COUNTS[match[0].lower()]), match[0]
    for time in dates(text):
        for _, hour, minute in time.readings:
            if not minute:  # of a date it is the day
                yield Fraction(-1 - hour), text[time.start : time.end]


def as_argument(value: Fraction) -> float:
    """A value as arguments have it: the nearest float, or an integer."""
    try:
        return value.numerator if value.denominator == 1 else float(value)
    except OverflowError:
        return float("nan")  # no number of an argument is that


def converted(measures: Mapping[tuple[Any, str], Known], value: Any, units: Collection[str]) -> Known | None:
    """What is known by a value and its unit, that rounds to ``value`` once it is in one of ``units``."""
    shown = _as_shown(value)
    if shown is None:
        return None
    for (number, unit), origin in measures.items():
        for target in units:
            way = conversion(unit_meant(unit) or unit, unit_meant(target) or target)
            exact = None if way is None else way.of(number)
            if exact is not None and shown.fits(exact):
                return origin
    return None


def _as_shown(value: Any) -> Reading | None:
    """A number with half of the last place that it is written with; ``None`` where too few digits say what it is."""
    text = repr(value)
    if not isinstance(value, (int, float)) or "e" in text or "n" in text:
        return None
    digits = text.lstrip("-0.").replace(".", "").rstrip("0")
    decimals = text.partition(".")[2].rstrip("0")
    if decimals and len(digits) < _LEAST_DIGITS:
        return None
    return Reading(Fraction(text), Fraction(1, 2 * 10 ** len(decimals)))
