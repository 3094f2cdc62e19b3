"""Names with digits in a text: a date-time, a UUID, a version, a telephone number, a code.

A final message may have only the contexts of :mod:`~gllint_runtime.policy.numbers`. In the text of a tool's result,
digits whose form differs from any measure are no numbers either.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING

from gllint_runtime.policy.claims import HOLE
from gllint_runtime.policy.data_files import sections

if TYPE_CHECKING:
    from gllint_runtime.policy.numbers import NakedNumber

_DATE_TIME = re.compile(
    rf"(?<![\w{HOLE}])(?:(?P<date>\d{{4}}-\d\d-\d\d)|{HOLE})[T ](?P<time>\d\d:\d\d(?::\d\d)?)(?:[.,]\d{{1,9}})?"
    r"(?:Z|[+-]\d\d:?\d\d)?(?![\w:])"
)
_GROUPED = re.compile(r"\d{1,3}(?:\.\d{3})+\Z")
_DOTTED = re.compile(
    r"(?<![\w.,])\d{1,5}(?:\.\d{1,5}){2,4}(?:[-+.]?(?:a|alpha|b|beta|dev|post|rc)\.?\d{1,5})?(?!\w|[.,]\d)"
)
_CRON = re.compile(
    r"(?<![\w*/,-])(?:[\d*][\d*/,-]{0,20}[ ]){4}(?:[\d*][\d*/,-]{0,20}|[A-Z]{3}(?:-[A-Z]{3})?)(?![\w*/,-])"
)
_CHARACTER_CLASS = re.compile(r"\[(?P<inner>[^][\s]{1,60})\](?P<often>[+*?]|\{\d{0,6}(?:,\d{0,6})?\})?")
_ERROR = re.compile(r"(?<![\w.,($€£])[45]\d\d:?[ ]|\([45]\d\d\)")


def designations(text: str) -> Iterator[tuple[int, int]]:
    """Yield the places of names with digits in ``text``, by their form.

    Example: ``2024-05-01T10:00``, ``1.2.3``, ``*/5 * * * *``.

    Also UUIDs, telephone numbers, character classes (``[a-z0-9]+``) and HTTP errors (``404 Not Found``).
    """
    for match in _DATE_TIME.finditer(text):
        try:
            datetime.fromisoformat(f"{match['date'] or '2000-01-01'}T{match['time']}")
        except ValueError:
            continue
        yield match.span()
    for match in _DOTTED.finditer(text):
        if _GROUPED.match(match[0]) is None:  # `1.234.567` is a number where thousands are so parted
            yield match.span()
    for match in _CRON.finditer(text):
        if "* *" in match[0] or "*/" in match[0] or match[0].endswith("*"):  # `1 2 3 4 5` is five numbers
            yield match.span()
    for match in _CHARACTER_CLASS.finditer(text):
        inner = match["inner"]
        if any(part in inner for part in ("a-z", "A-Z", "a-f", "A-F", "\\w")) or (
            match["often"] and ("0-9" in inner or "\\d" in inner)
        ):
            yield match.span()
    yield from _errors(text)
    for match in _forms().finditer(text):
        yield match.span()
    for match in _forms_without_a_unit().finditer(text):
        if not _is_measured(text, match.end()):
            yield match.span()


def _errors(text: str) -> Iterator[tuple[int, int]]:
    """Yield the places of HTTP status codes with their meaning next to them: ``404 Not Found``, ``not found (404)``."""
    for match in _ERROR.finditer(text):
        for meaning in _table()["errors"].get(match[0].strip(" (:)"), "").split("|"):
            if match[0].startswith("("):
                lead = text[max(0, match.start() - len(meaning) - 2) : match.start()]
                # A single word may describe anything: `Rooms locked (423)`.
                flags = re.IGNORECASE if " " in meaning else re.NOFLAG
                is_meant = re.search(rf"\b{re.escape(meaning)} \Z", lead, flags) is not None
            else:
                is_meant = re.compile(rf"{re.escape(meaning)}\b").match(text, match.end()) is not None
            if meaning and is_meant:
                yield match.span()


@cache
def _table() -> dict[str, dict[str, str]]:
    return sections("designations.txt")


@cache
def _forms() -> re.Pattern[str]:
    months = _table()["months"]["words"]
    return re.compile("|".join(form.replace("<months>", months) for form in _table()["forms"].values()))


@cache
def _forms_without_a_unit() -> re.Pattern[str]:
    rows = [(name, numbers.replace(" ", "|")) for name, numbers in _table()["indexes"].items()]
    indexes = "|".join(f"{re.escape(name)}[ -](?:{numbers})" for name, numbers in rows)
    forms = _table()["forms without a unit"].values()
    return re.compile("|".join(form.replace("<indexes>", indexes) for form in forms))


def _is_measured(text: str, at: int) -> bool:
    """Return whether a unit is typed behind the number that ends at a place, things that are counted aside."""
    from gllint_runtime.policy.text_units import counted_units, units_at  # few texts need the words of units

    return not counted_units().issuperset(units_at(text, at)[0])


def designated(text: str, start: int = 0) -> Iterator[tuple[int, int]]:
    """Yield the stretches of a message, from a place on, that are names or idioms with digits: ``iPhone 15``.

    A number apart from its name that has a unit is an amount: ``iPhone 999 USD``.
    """
    for match in _named_things().finditer(text, start):
        if not ({" ", "-"} & {*(match["product"] or "")} and _is_measured(text, match.end())):
            yield match.span()


def without_designations(text: str, naked: Iterable[NakedNumber]) -> list[NakedNumber]:
    """Return the naked numbers of a message that are no part of a designation."""
    named = [*designated(text)]
    return [n for n in naked if not any(start <= n.start and n.end <= end for start, end in named)]


@cache
def _named_things() -> re.Pattern[str]:
    """Return the expression that finds names, idioms and scales with digits: ``iPhone 15``, ``24/7``."""
    rows = _table()
    products = rows["products"]
    named = "|".join(
        sorted(
            (re.escape(word).replace("~", " ") for word in products["words"].split()), key=len, reverse=True
        )
    )
    indexes = "|".join(
        rf"{re.escape(name)}[ -]?(?:{numbers.replace(' ', '|')})" for name, numbers in rows["indexes"].items()
    )
    forms, others = (
        "|".join(rows[name].values()).replace("<months>", rows["months"]["words"])
        for name in ("named forms", "forms behind digits")
    )
    # Most characters of a text begin no word: nothing else is tried there.
    return re.compile(
        rf"(?<![^\W_])(?=[^\W_])(?:(?P<product>(?:{named})[ -]?\d{{1,5}}(?:\.\d{{1,2}})?)"
        rf"(?:[a-zA-Z]{{1,3}})?(?![\w%]|[.,]\d)"
        rf"|(?:{indexes})(?!\w|[.,]\d)|{forms})|{others}"
    )
