"""Numbers that the user said in another way than an argument has them: in words, percent, other units, as a sum."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any, NamedTuple, TypeVar

from gllint_runtime.policy.figures import Reading, figures, plain_numbers
from gllint_runtime.policy.units import conversion, unit_meant

_MAX_LETTERS = 200_000  # of what a user said that are read so
_MAX_ADDED = 16  # numbers of which a sum may be made: those that were said last
_MAX_NUMBERS = 20_000
_ADDENDS = (2, 3)
_LEAST_DIGITS = 2  # of a number that was rounded


Known = TypeVar("Known")


class _Spoken(NamedTuple):
    value: Fraction
    unit: str | None
    text: str


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
        if self._read_count < len(self._texts) and (units or not self._is_plain()):
            self._read()
        if not self._numbers:
            return None
        try:
            text = self._by_value.get(value)
        except TypeError:
            return None
        if text is not None:
            return text
        if units and (text := self._converted(value, units)) is not None:
            return text
        return self._added().get(value)

    def _is_plain(self) -> bool:
        """Whether all that was said is one number in digits at most, of which nobody can make another one."""
        while self._plain and self._judged_count < len(self._texts):
            numbers = plain_numbers(self._texts[self._judged_count][:_MAX_LETTERS])
            self._judged_count += 1
            self._typed += numbers or 0
            self._plain = numbers is not None and self._typed < 2
        return self._plain

    def _read(self) -> None:
        for text in self._texts[self._read_count :]:
            read = text[:_MAX_LETTERS] if self._letters < _MAX_LETTERS else ""
            self._letters += len(text)
            for figure in figures(read):
                if figure.is_excused or figure.is_name:
                    continue
                unit = figure.units[0] if len(figure.units) == 1 else figure.written or None
                for reading in figure.readings:
                    if len(self._numbers) < _MAX_NUMBERS:
                        self._add(_Spoken(reading.value, unit, figure.text))
        self._read_count = len(self._texts)
        self._plain = False

    def _add(self, spoken: _Spoken) -> None:
        self._numbers.append(spoken)
        self._by_value.setdefault(_as_number(spoken.value), spoken.text)
        if spoken.unit == "%":
            self._by_value.setdefault(_as_number(spoken.value / 100), f"{spoken.text}%")
        self._sums = None

    def _converted(self, value: Any, units: Collection[str]) -> str | None:
        """What was said in another unit of the same size, as far as the digits of the argument say."""
        measures = {(term.value, term.unit): term.text for term in self._numbers if term.unit}
        return converted(measures, value, units)

    def _added(self) -> Mapping[float, str]:
        if self._sums is None:
            self._sums = {}
            last = {term.value: term for term in self._numbers if term.value > 0}
            recent = [*last.values()][-_MAX_ADDED:]
            for count in _ADDENDS:
                for addends in combinations(recent, count):
                    if len({term.unit for term in addends if term.unit}) < 2:
                        text = " + ".join(term.text for term in addends)
                        total = sum((term.value for term in addends), Fraction(0))
                        self._sums.setdefault(_as_number(total), text)
        return self._sums


def _as_number(value: Fraction) -> float:
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
