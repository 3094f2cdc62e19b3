"""One conversation, one verdict: session, stream, adapters, audit and guard agree about each answer.

Records of sites are drawn, with amounts and days. A right answer states some of them; a wrong one is a right one with one
thing changed: a digit, the unit, the sign, the row or the day. Right ones pass everywhere, wrong ones nowhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from importlib.util import find_spec
from random import Random
from typing import Any, NamedTuple

import cuts
from trust import Budget, Row

from gllint_runtime import GLError, Session
from judges import passes_guard, refused_by_audit

_ANSWERS = 2_000  # in an hour
_USER = "How much did my sites use?"
_SITES = ("Oslo", "Rome", "Bergen", "Turin", "Graz", "Lyon", "Cork")
_UNITS = ("kWh", "kg", "EUR", "km", "m3")
_KEYS = ("amount", "usage", "reading", "value_of_day")
_SENTENCES = (
    "{site} used {amount} on {day}.",
    "On {day}, {site} used {amount}.",
    "\n- {site}: {amount} ({day})\n",
    "For {site} that is {amount}, as of {day}.",
    "\n| {site} | {amount} | {day} |\n",
)


class Reading(NamedTuple):
    """A row of what a tool returned."""

    site: str
    amount: float
    unit: str
    day: date


def suite(budget: Budget) -> Iterator[Row]:
    counts, wrong = Counter[str](), list[str]()
    adapters = [
        name
        for name, (package, _) in cuts.ADAPTERS.items()
        if budget.is_long() and find_spec(package) is not None
    ]
    for number in budget.rounds(_ANSWERS, lambda: counts["answers"]):
        chance = Random(f"{budget.seed} {number}")
        key, readings = chance.choice(_KEYS), _readings(chance)
        for what, answer in _answers(chance, readings):
            counts["answers"] += 1
            counts[what] += 1
            adapter = adapters[number % len(adapters)] if adapters and number % 4 == 0 else ""
            counts[adapter] += bool(adapter)
            for line in _judged(chance, key, readings, answer, what == "right", adapter):
                wrong.append(f"round {number}, {what}: {line}: {answer!r} of {_data(key, readings)}")
    shown = ", ".join(f"{counts[what]} {what}" for what in ("right", *_CHANGES))
    through = ", ".join(f"{counts[name]} by {name}" for name in adapters) or "no adapter"
    yield Row(
        "verdicts: one conversation",
        f"{counts['answers']} answers ({shown}) by session, stream, audit and guard; {through}",
        wrong[:20],
        counts["answers"],
        _ANSWERS,
    )


# --- the judges ---------------------------------------------------------------------------------------------


def _judged(
    chance: Random, key: str, readings: list[Reading], answer: str, is_right: bool, adapter: str
) -> Iterator[str]:
    data = _data(key, readings)
    places = sorted(chance.randrange(len(answer)) for _ in range(chance.randrange(6)))
    pieces = [answer[a:b] for a, b in zip([0, *places], [*places, len(answer)], strict=True)]
    refused = _by_session(data, answer)
    verdicts = {
        "session": not refused,
        "stream": _passes_stream(data, pieces),
        "guard": passes_guard(data, answer),
    }
    if adapter:
        shown = cuts.ADAPTERS[adapter][1](cuts.Turn(answer, pieces, False, data=data, mode="sourced"))
        verdicts[adapter] = shown.error is None
        if shown.error is None and shown.text != answer:
            yield f"{adapter} shows {shown.text!r}"
    other = [name for name, passes in verdicts.items() if passes != is_right]
    if other:
        yield f"{' and '.join(other)} {'refuse' if is_right else 'let pass'} it ({sorted(refused)})"
    audited = refused_by_audit(_USER, data, answer)
    if audited != refused:
        yield f"the audit finds {sorted(audited)}, the session {sorted(refused)}"


def _session(data: Any) -> Session:
    session = Session(mode="sourced")
    session.user(_USER)
    session.record("meter", {}, data)
    return session


def _by_session(data: Any, answer: str) -> set[str]:
    """The numbers that a session refuses."""
    try:
        _session(data).check(answer)
    except GLError as error:
        return {str(entry["text"]) for entry in error.context or ()}
    return set()


def _passes_stream(data: Any, pieces: list[str]) -> bool:
    stream = _session(data).stream()
    try:
        for piece in pieces:
            stream.feed(piece)
        stream.close()
    except GLError:
        return False
    return True


# --- what is drawn ------------------------------------------------------------------------------------------


def _readings(chance: Random) -> list[Reading]:
    unit, first = chance.choice(_UNITS), date(2024, 1, 9) + timedelta(chance.randrange(300))
    sites = chance.sample(_SITES, chance.randint(2, 5))
    # Far enough apart that none is another one rounded, and that no two of them give a third.
    amounts = chance.sample([round(213.7 * 1.37**step, 1) for step in range(14)], len(sites))
    return [
        Reading(site, amount, unit, first + timedelta(11 * place))
        for place, (site, amount) in enumerate(zip(sites, amounts, strict=True))
    ]


def _data(key: str, readings: list[Reading]) -> dict[str, Any]:
    rows = [
        {"site": one.site, key: {"value": one.amount, "unit": one.unit}, "day": one.day.isoformat()}
        for one in readings
    ]
    return {"rows": rows}


def _answers(chance: Random, readings: list[Reading]) -> Iterator[tuple[str, str]]:
    """A right answer, and for each change the answer in which one sentence has it."""
    told = chance.sample(readings, chance.randint(1, len(readings)))
    forms = [chance.choice(_SENTENCES) for _ in told]
    is_long = chance.random() < 0.5

    def answer(changed: int, change: Callable[[Random, Reading, list[Reading]], Reading]) -> str:
        parts = [
            form.format(site=one.site, amount=_amount(one), day=_day(one.day, is_long))
            for place, (form, one) in enumerate(zip(forms, told, strict=True))
            for one in [change(chance, one, readings) if place == changed else one]
        ]
        return "Here it is.\n" + "".join(part if part.endswith("\n") else f"{part} " for part in parts)

    yield "right", answer(-1, _digit)
    for what, change in _CHANGES.items():
        yield what, answer(chance.randrange(len(told)), change)


def _amount(one: Reading) -> str:
    number = f"{one.amount:,.1f}" if one.amount > 0 else f"-{-one.amount:,.1f}"
    return f"{number} {one.unit}"


def _day(day: date, is_long: bool) -> str:
    return f"{day.day} {day:%B %Y}" if is_long else day.isoformat()


def _digit(chance: Random, one: Reading, _: list[Reading]) -> Reading:
    return one._replace(amount=round(one.amount + chance.choice((-1, 1)) * chance.choice((2, 20, 30)), 1))


def _unit(chance: Random, one: Reading, _: list[Reading]) -> Reading:
    return one._replace(unit=chance.choice([unit for unit in (*_UNITS, "MWh", "t") if unit != one.unit]))


def _sign(_: Random, one: Reading, __: list[Reading]) -> Reading:
    return one._replace(amount=-one.amount)


def _row(chance: Random, one: Reading, readings: list[Reading]) -> Reading:
    return one._replace(amount=chance.choice([other for other in readings if other is not one]).amount)


def _other_day(chance: Random, one: Reading, _: list[Reading]) -> Reading:
    return one._replace(day=one.day + timedelta(chance.choice((3, 400))))


_CHANGES = {"digit": _digit, "unit": _unit, "sign": _sign, "row": _row, "day": _other_day}
