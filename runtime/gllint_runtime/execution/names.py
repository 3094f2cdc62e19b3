"""Identifiers and dates that a conversation has brought, to which those in arguments are traced.

An identifier is a word of letters and digits (``HAT136``, ``credit_card_9725``). It is traced as it stands; signs
between its parts and the case of its letters do not count.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator
from typing import Generic, NamedTuple, TypeVar

from gllint_runtime.execution.dates import Day, dates, months, moved, shifts, weekday, weekdays

_WORD = re.compile(r"[^\W_](?:[\w-]*\w)?")
_DIGIT = re.compile(r"\d")
_PARTS = re.compile(r"[^\W_]+")
_LEAST = 4  # digits of a part that names a thing by itself: the card 9725
_MOST = 200_000  # names that are remembered
_SOON = 8  # days within which "on Saturday" is
_FEW = 6  # words of a text that are one identifier when they are written together
Origin = TypeVar("Origin")


class Name(NamedTuple, Generic[Origin]):
    """An identifier or a date at a place of a text, and where it came from (``None``: nobody knows)."""

    start: int
    end: int
    text: str
    origin: Origin | None


class Names(Generic[Origin]):
    """What was heard, by its words and its dates."""

    def __init__(self, kinds: Collection[str]) -> None:
        self._has_words, self._has_dates = "identifiers" in kinds, "dates" in kinds
        self._words: dict[str, Origin] = {}
        self._days: dict[Day, Origin] = {}
        self._years: set[int] = set()
        self._shifts: set[int] = set()
        self._weekdays: set[int] = set()

    def learn(self, text: str, origin: Origin, *, is_user: bool = False) -> None:
        """Remember the words and the dates of a text; a user also says by how much to move one."""
        if is_user and self._has_dates:
            self._shifts |= shifts(text)
            self._weekdays |= weekdays(text)
        if not _DIGIT.search(text):
            return
        if self._has_dates:
            for date in dates(text):
                for year, month, day in date.readings:
                    self._days.setdefault((year, month, day), origin)
                    if year is not None:
                        self._years.add(year)
            for end in months(text) if is_user else ():
                self._days.setdefault(end, origin)
        if self._has_words and len(self._words) < _MOST:
            for word in _words_in(text):
                self._words.setdefault(_folded(word[0]), origin)
                for part in _PARTS.findall(word[0]):
                    if len(part) >= _LEAST and part.isdecimal():
                        self._words.setdefault(part, origin)
            self._learn_phrases(text, origin)

    def _learn_phrases(self, text: str, origin: Origin) -> None:
        """Words before a number, of which an identifier may be made: ``gift card 6276644``."""
        words = [match[0].lower() for match in _PARTS.finditer(text)]
        for place, word in enumerate(words):
            if len(word) >= _LEAST and word.isdecimal():
                for count in range(1, min(place, _FEW) + 1):
                    self._words.setdefault("".join(words[place - count : place + 1]), origin)

    def knows(self, text: str) -> Origin | None:
        """Where a text that is one name came from."""
        return self._words.get(_folded(text))

    def names(self, text: str) -> Iterator[Name[Origin]]:
        """The dates and the identifiers of a text, in order."""
        end = 0
        mentions: list[Name[Origin]] = []
        if self._has_dates:
            for date in dates(text):
                mentions.append(
                    Name(date.start, date.end, text[date.start : date.end], self._day(date.readings))
                )
        if self._has_words:
            days = [*mentions]
            for word in _words_in(text):
                place = bisect_left(days, word.start(), key=lambda day: day.start)
                if place < len(days) and days[place].start < word.end():  # a date stands in it
                    continue
                origin = self._words.get(_folded(word[0]))
                # Digits alone may be a number as well: they are a name where they were heard as one.
                is_name = len(word[0]) >= _LEAST and origin if word[0].isdecimal() else _is_name(word[0])
                if is_name:
                    mentions.append(Name(*word.span(), word[0], origin))
        for name in sorted(mentions, key=lambda name: name.start):
            if name.start >= end:
                yield name
                end = name.end

    def _day(self, readings: tuple[Day, ...]) -> Origin | None:
        for reading in readings:
            if (origin := self._spoken_day(reading)) is not None:
                return origin
            for shift in self._shifts:
                day = moved(reading, -shift)
                if day is not None and (origin := self._spoken_day(day)) is not None:
                    return origin
            if weekday(reading) in self._weekdays:  # the Saturday after the day that was said
                for shift in range(1, _SOON):
                    day = moved(reading, -shift)
                    if day is not None and (origin := self._days.get(day)) is not None:
                        return origin
        return None

    def _spoken_day(self, reading: Day) -> Origin | None:
        if (origin := self._days.get(reading)) is not None:
            return origin
        year, month, day = reading
        # A day that was said without its year may be of any year that was spoken of.
        if year is None:
            days = (self._days.get((spoken, month, day)) for spoken in self._years)
            return next((origin for origin in days if origin is not None), None)
        return self._days.get((None, month, day)) if not self._years or year in self._years else None


_QUANTITY = re.compile(r"\d+[^\W\d_]{1,4}\Z")


def _is_name(word: str) -> bool:
    """Whether a word of digits and letters names a thing: ``500kWh`` is a number with its unit, ``3rd`` an order."""
    return any(char.isalpha() for char in word) and not (
        _QUANTITY.match(word) and not (word.isupper() and len(word) > 4)
    )


def _words_in(text: str) -> Iterator[re.Match[str]]:
    """The words that hold a digit."""
    return (word for word in _WORD.finditer(text) if _DIGIT.search(word[0]))


def _folded(word: str) -> str:
    return "".join(_PARTS.findall(word)).casefold()
