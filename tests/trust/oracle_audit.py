"""The audit against conversations whose every number has an origin by construction, and some of which are planted.

What a tool returned is drawn first, then what the answer makes of it: as it is, rounded, converted (by pint, not by our
table), added up, as a share. An invented number lies away from every source, in whatever unit, and from whatever two of
them give. The judge knows nothing of how the audit looks for them.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from itertools import permutations
from random import Random
from typing import Any, NamedTuple

from oracle_units import PINT
from trust import Budget, Row

from gllint_runtime import audit_run

_DIMENSIONS = (  # how a unit is written, and how pint writes it
    {"kWh": "kWh", "MWh": "MWh", "MJ": "MJ", "GJ": "GJ", "Wh": "Wh"},
    {"kW": "kW", "MW": "MW", "W": "W"},
    {"kg": "kg", "t": "tonne", "g": "g", "lb": "lb"},
    {"km": "km", "m": "m", "mi": "mile", "ft": "ft"},
    {"m3": "m**3", "L": "liter"},
    {"°C": "degC", "K": "kelvin", "°F": "degF"},
    {"h": "hour", "min": "minute", "s": "second"},
    {"bar": "bar", "kPa": "kPa", "Pa": "Pa"},
    {"km/h": "km/hour", "m/s": "m/s"},
    {"USD": ""}, {"EUR": ""}, {"1": ""},
)  # fmt: skip
_PINT = {unit: name for units in _DIMENSIONS for unit, name in units.items()}
_ENDS = {"kWh": "kwh", "MWh": "mwh", "kW": "kw", "kg": "kg", "km": "km", "m3": "m3", "°C": "celsius", "USD": "usd",
         "EUR": "eur", "kPa": "kpa", "MJ": "mj", "GJ": "gj", "km/h": "kmh", "K": "kelvin"}  # fmt: skip
_NAMES = (
    "drain",
    "cooling",
    "supply",
    "return_flow",
    "loss",
    "intake",
    "output",
    "tank",
    "pump",
    "roof",
    "cellar",
    "store",
)
_SENTENCES = (
    "The {name} came to {number}.", "- {name}: {number}\n", "| {name} | {number} |\n", "For the {name} that is {number}.",
    "**{name}**: {number}\n", "It measured {number} ({name}).", "{name} = {number};", "Das {name} ergab {number}.",
    'The {name} is "{number}", as far as we can tell.', "…{name} {number}…", "`{name}` {number}\n",
)  # fmt: skip
_NUMBERS = 5_000  # in an hour
_CLOSE = 30  # halves of the last place that part an invented number from all that is allowed
GOOD = {"sourced", "quoted", "derived"}
_SOURCED = ("sourced", "quoted")  # what a tool's text says is quoted
# A number is derived only of what its own sentence points at: each gives both numbers.
_DERIVED = {
    "sum": "together they make {number}.", "difference": "they differ by {number}.",
    "share": "the former is {number} of the latter.", "change": "they are {number} apart, of the latter.",
}  # fmt: skip


class Origin(NamedTuple):
    """A number that a tool returned, or that the user said."""

    name: str
    value: float
    unit: str
    speaker: str = "tool"


class Planted(NamedTuple):
    """A number of an answer: where it stands, and the verdicts that it may have."""

    start: int
    end: int
    text: str
    kind: str
    verdicts: frozenset[str]


def row(budget: Budget) -> Row:
    counts, wrong = Counter[str](), list[str]()
    conversations = 0
    for number in budget.rounds(_NUMBERS, lambda: counts.total()):
        chance = Random(f"{budget.seed} {number}")
        conversations += 1
        run, answer, planted = conversation(chance)
        for said in planted:
            counts[said.kind] += 1
        for line in judged(run, answer, planted):
            counts[line.partition(":")[0]] += 1
            wrong.append(f"round {number}: {line}")
    shown = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
    numbers = sum(counts.values()) - counts["missed"] - counts["flagged"] - counts["misread"]
    tried = (
        f"{numbers} numbers of {conversations} conversations ({shown}); "
        f"{counts['missed']} missed and {counts['flagged']} falsely flagged, of either 0 are allowed"
    )
    return Row("oracles: audit of planted numbers", tried, wrong[:20], numbers, _NUMBERS)


def judged(run: list[dict[str, Any]], answer: str, planted: list[Planted]) -> Iterator[str]:
    """What the audit says of the numbers that it should not."""
    run = [*run, {"role": "assistant", "content": answer}]
    numbers = audit_run(run).numbers
    if audit_run(_blocks(run)).numbers != numbers:
        yield f"misread: in blocks the same conversation has other numbers: {run}"
    seen = set()
    for said in planted:
        inside = [entry for entry in numbers if entry["start"] < said.end and said.start < entry["end"]]
        seen.update(entry["start"] for entry in inside)
        verdicts = {entry["verdict"] for entry in inside}
        if verdicts and verdicts <= said.verdicts:
            continue
        what = "misread" if not verdicts else "missed" if verdicts & GOOD else "flagged"
        around = answer[max(0, said.start - 25) : said.end + 15]
        yield f"{what}: {said.kind} {said.text!r} is {verdicts or 'no number'} in {around!r} of {tools_of(run)}"
    for entry in numbers:
        if entry["start"] not in seen and entry["verdict"] != "exempt":
            yield f"misread: {entry['text']!r} is {entry['verdict']} and was put nowhere, in {answer!r}"


def _blocks(run: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same conversation as the messages API has it."""
    turns = []
    for turn in run:
        content: Any = [{"type": "text", "text": turn["content"]}]
        role = turn["role"]
        if "tool_calls" in turn:
            [call] = turn["tool_calls"]
            content = [{"type": "tool_use", "id": call["id"], "name": call["function"]["name"], "input": {}}]
        elif role == "tool":
            content = [{"type": "tool_result", "tool_use_id": turn["tool_call_id"], "content": content}]
            role = "user"
        turns.append({"role": role, "content": content})
    return turns


def tools_of(run: list[dict[str, Any]]) -> str:
    """What was said before the answer, for a person to read."""
    return " / ".join(str(turn["content"]) for turn in run if turn.get("content"))


# --- what is drawn --------------------------------------------------------------------------------------------


def conversation(chance: Random) -> tuple[list[dict[str, Any]], str, list[Planted]]:
    """A user, some calls with their results, and an answer."""
    names = chance.sample(_NAMES, chance.randint(2, 7))
    units = [chance.choice([*chance.choice(_DIMENSIONS)]) for _ in range(3)]
    origins = [Origin(name, _value(chance, unit := chance.choice(units)), unit) for name in names]
    wish = Origin("budget", _value(chance, unit := chance.choice(units)), unit, "user")
    spoken = f"How much was it? We planned {_plain(wish.value)}{_behind(wish.unit)}."
    run: list[dict[str, Any]] = [{"role": "user", "content": spoken}]
    cut = chance.randint(1, len(origins))
    for place, part in enumerate((origins[:cut], origins[cut:])):
        if part:
            run += _call(chance, f"c{place}", part)
    answer, planted = _answer(chance, origins, wish)
    return run, answer, planted


def _value(chance: Random, unit: str) -> float:
    if unit == "1":
        return round(chance.uniform(0.1, 0.95), 4)
    if unit in ("°C", "°F"):
        return round(chance.uniform(12, 95), 2)
    return round(10 ** chance.uniform(1.3, 5), chance.choice((1, 2, 3)))


def _call(chance: Random, number: str, origins: list[Origin]) -> list[dict[str, Any]]:
    """A call and its result in one of the forms that tools have."""
    form = chance.randrange(8)
    quantities = {o.name: {"value": o.value, "unit": o.unit} for o in origins}
    output: Any = quantities
    if form == 1:
        output = [{"name": name, **quantity} for name, quantity in quantities.items()]
    elif form == 2 and all(o.unit in _ENDS for o in origins):
        output = {f"{o.name}_{_ENDS[o.unit]}": o.value for o in origins}
    elif form == 3:
        output = "; ".join(f"{o.name}: {_plain(o.value)}{_behind(o.unit)}" for o in origins) + "."
    elif form == 4:
        output = {"status": "ok", "data": {"rows": [{"site": "north", "reading": quantities}]}}
    elif form == 5:
        output = {"result": json.dumps(quantities), "ok": True}
    elif form == 6:
        output = f"Here are the results:\n```json\n{json.dumps(quantities, indent=2)}\n```\nAll is well."
    elif form == 7:
        output = "\n".join(json.dumps({"name": name, **quantity}) for name, quantity in quantities.items())
    call = {"id": number, "type": "function", "function": {"name": "meter", "arguments": "{}"}}
    content = output if isinstance(output, str) else json.dumps(output, ensure_ascii=chance.random() < 0.5)
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": number, "content": content},
    ]


def _answer(chance: Random, origins: list[Origin], wish: Origin) -> tuple[str, list[Planted]]:
    text, planted = "Here it is.\n", list[Planted]()

    def say(name: str, number: str, unit: str, kind: str, *verdicts: str) -> None:
        nonlocal text
        before, _, behind = chance.choice(_SENTENCES).partition("{number}")
        text += before.format(name=name.replace("_", " "))
        start = len(text)
        sign = {"USD": "$", "EUR": "€"}.get(unit) if chance.random() < 0.5 else None
        shown_unit = "" if sign else _behind(unit)
        text += f"{sign or ''}{number}"
        planted.append(Planted(start, len(text), number + _behind(unit), kind, frozenset(verdicts)))
        text += shown_unit + behind.format(name=name.replace("_", " ")) + chance.choice((" ", "\n", "\n\n"))

    def put(number: str, unit: str, kind: str, *verdicts: str) -> None:
        nonlocal text
        start = len(text)
        text += number
        planted.append(Planted(start, len(text), number + _behind(unit), kind, frozenset(verdicts)))
        text += _behind(unit)

    shown: list[Origin] = []
    for origin in chance.sample(origins, len(origins)):
        kind = chance.choice(("exact", "rounded", "converted", "other unit", "exact"))
        if kind == "exact":
            say(origin.name, _written(chance, origin.value, None), origin.unit, "exact", *_SOURCED)
        elif kind == "rounded":
            decimals = _decimals(origin.value, chance.choice((3, 4)))
            say(origin.name, _written(chance, origin.value, decimals), origin.unit, "rounded", *_SOURCED)
        elif kind == "converted":
            unit = chance.choice([*_units_like(origin.unit)])
            value = _in(origin, unit)
            decimals = _decimals(value, 4)
            if not 1e-3 < abs(value) < 1e8 or decimals > 9:
                continue
            say(origin.name, _written(chance, value, decimals), unit, "converted", *_SOURCED)
        elif (unit := _foreign(chance, origin, [*origins, wish])) is not None:
            say(origin.name, _plain(origin.value), unit, "mislabelled", "mislabelled", "unsourced")
            continue
        else:
            continue
        shown.append(origin)
    if chance.random() < 0.5:  # it may be a number of the tools', too
        say("plan", _written(chance, wish.value, None), wish.unit, "quoted", "quoted", "sourced")
    for first, second in _pairs(chance, shown):
        kind, value, unit = _derived(chance, first, second)
        decimals = 1 if unit == "%" else max(0, min(3, _decimals(value, 5)))
        if 0.5 < abs(value) < 1e7 and not (unit == "%" and abs(value - 100) < 1):
            for before, one in (("The", first), (" and the", second)):
                text += f"{before} {one.name.replace('_', ' ')} is "
                put(_plain(one.value), one.unit, "exact", *_SOURCED)
            before, _, behind = _DERIVED[kind].partition("{number}")
            text += f"; {before}"
            put(_written(chance, value, decimals, may_be_short=False), unit, kind, *GOOD)
            text += f"{behind}\n"
    for _ in range(chance.randint(1, 3)):
        unit = chance.choice([o.unit for o in origins if o.unit != "1"] or ["kWh"])
        for _ in range(10):
            value = 10 ** chance.uniform(1.5, 5)
            number = _plain(round(value, _decimals(value, 5)))
            if _is_invented(float(number), unit, [*origins, wish]):
                say(chance.choice(_NAMES), number, unit, "invented", "unsourced", "mislabelled")
                break
    return text, planted


def _pairs(chance: Random, shown: list[Origin]) -> list[tuple[Origin, Origin]]:
    """Two of one unit, of which degrees are no sum."""
    pairs = [
        (a, b) for a, b in permutations(shown, 2)
        if a.unit == b.unit and a.unit not in ("1", "°C", "°F", "K")
    ]  # fmt: skip
    return chance.sample(pairs, min(2, len(pairs)))


def _derived(chance: Random, first: Origin, second: Origin) -> tuple[str, float, str]:
    kind = chance.choice(("sum", "difference", "share", "change"))
    match kind:
        case "sum":
            return kind, first.value + second.value, first.unit
        case "difference":
            return kind, abs(first.value - second.value), first.unit
        case "share":
            return kind, 100 * first.value / second.value, "%"
        case _:
            return kind, 100 * abs(first.value - second.value) / second.value, "%"


# --- what is true ---------------------------------------------------------------------------------------------


def _units_like(unit: str) -> dict[str, str]:
    return next(units for units in _DIMENSIONS if unit in units)


def _in(origin: Origin, unit: str) -> float:
    """The value in another unit of its dimension, by pint."""
    if unit == origin.unit or not _PINT[unit]:
        return origin.value
    return float(PINT.Quantity(origin.value, _PINT[origin.unit]).to(_PINT[unit]).magnitude)


def _every_reading(origin: Origin) -> dict[str, float]:
    return {unit: _in(origin, unit) for unit in _units_like(origin.unit)}


def _is_invented(value: float, unit: str, origins: list[Origin]) -> bool:
    """Whether no source, in whatever unit, and no two of them give anything near."""
    near: set[float] = set()
    readings = [_every_reading(origin) for origin in origins]
    for one in readings:
        near.update(one.values())
        near.update(100 * number for number in one.values())
    for first, second in permutations(readings, 2):
        for a in first.values():
            for b in second.values():
                near.update((a + b, a - b, 100 * a / b if b else a, 100 * (a - b) / b if b else a))
    half = 0.5 * 10 ** -_decimals(value, 5)
    # Whatever power of ten a prefix may be worth.
    return all(
        abs(value - abs(other) * 10.0**power) > _CLOSE * half for other in near for power in (-3, 0, 3)
    )


def _foreign(chance: Random, origin: Origin, origins: list[Origin]) -> str | None:
    """A unit of another dimension, in which no other source has that number."""
    units = [unit for units in _DIMENSIONS if origin.unit not in units for unit in units if unit != "1"]
    unit = chance.choice(units)
    others = [other for other in origins if other is not origin]
    return unit if origin.unit != "1" and _is_invented(origin.value, unit, others) else None


# --- how it is written ----------------------------------------------------------------------------------------


def _behind(unit: str) -> str:
    return "" if unit == "1" else "%" if unit == "%" else f" {unit}"


def _plain(value: float) -> str:
    return format(value, "f").rstrip("0").rstrip(".") if value != round(value) else str(int(value))


def _decimals(value: float, significant: int) -> int:
    return max(0, significant - 1 - math.floor(math.log10(abs(value) or 1)))


def _written(chance: Random, value: float, decimals: int | None, *, may_be_short: bool = True) -> str:
    """A number with all its digits or so many decimals, in one of the ways to write it."""
    plain = _plain(value) if decimals is None else format(value, f".{decimals}f")
    style = chance.randrange(6)
    whole, point, fraction = plain.partition(".")
    if style == 1 and len(whole.lstrip("-")) > 3:
        return f"{int(whole):,}{point}{fraction}"
    if style == 2 and len(whole.lstrip("-")) > 3:
        return f"{int(whole):,}".replace(",", "\u202f") + point + fraction
    if style == 3 and decimals is not None and may_be_short and abs(value) >= 1000:
        return format(value, ".3e")
    if style == 4 and decimals is not None and may_be_short and abs(value) >= 1000:
        return f"{value / 1000:.2f} thousand"
    if style == 5 and decimals is not None and may_be_short and 1e6 > value >= 10_000:
        return f"about {round(value, -2):,.0f}"
    return plain
