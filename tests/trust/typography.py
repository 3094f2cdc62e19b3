"""The same number in another typography, locale or markup, or split over chunks, has the same verdict.

A tool's number is stated plainly, once right and once with another digit. The ways to write it that a reader takes for
the same number must be judged as the plain one is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from trust import Budget, Row

from gllint_runtime import GLError, Session

_TEXTS = 6_000  # in an hour
_UNITS = ("kWh", "EUR", "kg", "km", "m3", "°C", "%")
_ENGLISH = ("The site used {}.", "It came to {} in all.", "So {} it is.", "Your total: {}", "Is it {}?")
_GERMAN = ("Der Standort verbrauchte {}.", "Insgesamt waren es {}.", "Das sind {} für das Haus.")
_FRENCH = ("Le site a consommé {}.", "Au total, {}.", "Cela fait {} pour la maison.")
_NBSP, _NARROW, _THIN = "\u00a0", "\u202f", "\u2009"
Way = Callable[[Random, float, str], str]


def suite(budget: Budget) -> Iterator[Row]:
    counts, wrong = Counter[str](), list[str]()
    for number in budget.rounds(_TEXTS, counts.total):
        chance = Random(f"{budget.seed} {number}")
        value, unit = _value(chance), chance.choice(_UNITS)
        shown = value if chance.random() < 0.5 else _altered(chance, value)
        plain = _verdict(value, unit, chance.choice(_ENGLISH).format(f"{shown} {unit}"))
        if (plain == "passes") != (shown == value):
            wrong.append(f"round {number}: {shown} {unit} of {value} {unit}: {plain}")
        for name, way in _WAYS.items():
            text = way(chance, shown, unit)
            counts[name] += 1
            verdict = _split(chance, value, unit, text) if name == "chunks" else _verdict(value, unit, text)
            if verdict != plain:
                wrong.append(
                    f"round {number}, {name}: {verdict}, plainly {plain}: {text!r} of {value} {unit}"
                )
    told = ", ".join(f"{count} by {name}" for name, count in counts.items())
    yield Row("typography: one number, one verdict", told, wrong[:20], counts.total(), _TEXTS)


def _value(chance: Random) -> float:
    """A number of two decimals or one, so that no mark in it can be taken for the other one."""
    return round(10 ** chance.uniform(1.5, 5.5) + 0.01, chance.choice((1, 2)))


def _altered(chance: Random, value: float) -> float:
    digits = [*f"{value}"]
    at = chance.choice([place for place, digit in enumerate(digits[:3]) if digit.isdigit()])
    digits[at] = chance.choice([digit for digit in "123456789" if digit != digits[at]])
    return float("".join(digits))


def _session(value: float, unit: str) -> Session:
    session = Session(mode="sourced")
    session.user("How much was it?")
    session.record("meter", {}, {"reading": {"value": value, "unit": unit}})
    return session


def _verdict(value: float, unit: str, text: str) -> str:
    try:
        _session(value, unit).check(text)
    except GLError as error:
        return str(error.code)
    return "passes"


def _split(chance: Random, value: float, unit: str, text: str) -> str:
    stream = _session(value, unit).stream()
    places = sorted(chance.randrange(len(text)) for _ in range(chance.randrange(1, 8)))
    try:
        for start, end in zip([0, *places], [*places, len(text)], strict=True):
            stream.feed(text[start:end])
        stream.close()
    except GLError as error:
        return str(error.code)
    return "passes"


# --- the ways -----------------------------------------------------------------------------------------------


def _written(group: str, point: str, gap: str = " ", sentences: tuple[str, ...] = _ENGLISH) -> Way:
    def way(chance: Random, value: float, unit: str) -> str:
        whole, _, fraction = f"{value}".partition(".")
        grouped = f"{int(whole):,}".replace(",", group)
        return chance.choice(sentences).format(f"{grouped}{point}{fraction}{gap}{unit}")

    return way


def _marked(form: str) -> Way:
    def way(chance: Random, value: float, unit: str) -> str:
        return chance.choice(_ENGLISH).format(form.format(number=value, unit=unit))

    return way


def _in_table(chance: Random, value: float, unit: str) -> str:
    return f"Here it is.\n\n| Site | Reading |\n|---|---|\n| north | {value} {unit} |\n"


def _in_list(chance: Random, value: float, unit: str) -> str:
    return f"Here it is.\n\n{chance.choice('-*')} north: {value} {unit}\n{chance.choice('-*')} It is warm.\n"


_WAYS: dict[str, Any] = {
    "groups": _written(",", "."),
    "no-break space": _written(_NBSP, ".", _NBSP),
    "narrow space": _written(_NARROW, ".", _NARROW),
    "thin space": _written(_THIN, ".", _NBSP),
    "no space": _written("", ".", ""),
    "apostrophe": _written("’", "."),
    "German": _written(".", ",", " ", _GERMAN),
    "German with spaces": _written(_NARROW, ",", _NBSP, _GERMAN),
    "French": _written(_NBSP, ",", _NBSP, _FRENCH),
    "bold": _marked("**{number} {unit}**"),
    "bold number": _marked("**{number}** {unit}"),
    "italics": _marked("_{number} {unit}_"),
    "code": _marked("`{number} {unit}`"),
    "HTML": _marked("<b>{number}</b> {unit}"),
    "entity": _marked("{number}&nbsp;{unit}"),
    "link": _marked("[{number} {unit}](report.html)"),
    "quotes": _marked("“{number} {unit}”"),
    "brackets": _marked("({number} {unit})"),
    "formula": _marked(r"${number}\ \text{{{unit}}}$"),
    "table": _in_table,
    "list": _in_list,
    "chunks": _written(",", "."),
}
