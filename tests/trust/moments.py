"""One policy, two moments: under settings drawn at random, what gllint says of a source is what happens when it runs.

A tool that returns a result drawn at random, a message, a parameter and what is passed to it: each is linted as text,
under the settings as ``[tool.gllint]`` has them, and executed under the same ones as fields of ``Policy``.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from trust import Budget, Row

from gllint_rules import Finding
from gllint_rules.reading.stack import on_large_stack
from gllint_runtime import GLError, Policy, Session, Tool, ToolRegistry
from gllint_runtime.policy.kinds import KINDS
from gllint_runtime.policy.packs import PACKS
from gllint_runtime.policy.quantity_shapes import QUANTITY_SHAPES
from gllint_runtime.policy.settings import POLICY_KEYS

_TESTS = Path(__file__).parents[1]
_LEAST = 3_000  # of each kind in an hour
_AT_ONCE = 50
Drawn = dict[str, Any]

_SETTINGS: dict[str, Callable[[random.Random], Any]] = {
    "unit-packs": lambda chance: chance.sample(sorted(PACKS), chance.randrange(4)),
    "plain-keys": lambda chance: chance.sample(["page", "*_id", "p*", "value", "[ab]", "total"], chance.randrange(3)),
    "plain-kinds": lambda chance: chance.sample(sorted(KINDS), chance.randrange(4)),
    "extend-units": lambda chance: chance.sample(["widget", "kW/widget", "count", "pallet"], chance.randrange(3)),
    "strict-units": lambda chance: chance.random() < 0.5,
    "quantity-shapes": lambda chance: chance.sample(sorted(QUANTITY_SHAPES), chance.randrange(4)),
    "whitelist-patterns": lambda chance: chance.sample(
        [r"\bID-\d+\b", r"\b\d{4}-W\d{2}\b", r"ISO \d+", r"room \d+", r"\d+ stars?"], chance.randrange(3)
    ),
    "number-words": lambda chance: chance.random() < 0.5,
    "array-paths": lambda chance: chance.random() < 0.5,
}  # fmt: skip


class Judged(NamedTuple):
    """What came of a few: of which kind they were, how many findings there were, and where the moments differ."""

    kind: str
    count: int
    findings: int
    wrong: list[str]


def rows(budget: Budget) -> Iterator[Row]:
    """A row for each kind."""
    count = _AT_ONCE if budget.is_long() else 5
    number = 2_000 if budget.is_long() else 1
    items = [(kind, budget.random.random(), count) for _ in range(number) for kind in _KINDS]
    first, rest = items[: len(_KINDS)], items[len(_KINDS) :]
    done = [*map(_judge, first)]  # here, so that no process has to import what it needs

    def fewest(later: list[Judged]) -> int:
        return min(sum(item.count for item in later if item.kind == kind) for kind in _KINDS)

    done += budget.map(_judge, rest, partial(Judged, "", 0, 0), _LEAST, fewest)
    for kind in _KINDS:
        judged = [item for item in done if item.kind in (kind, "")]
        count, findings = sum(item.count for item in judged), sum(item.findings for item in judged)
        wrong = [line for item in judged for line in item.wrong][:20]
        yield Row(
            f"equivalence: {kind} at both moments", f"{count}, {findings} refused", wrong, count, _LEAST
        )


def _judge(item: tuple[str, float, int]) -> Judged:
    kind, seed, count = item
    if str(_TESTS / "rules") not in sys.path:
        sys.path.insert(0, str(_TESTS / "rules"))
    chance = random.Random(seed)
    findings, wrong = 0, list[str]()
    for _ in range(count):
        configuration = {key: draw(chance) for key, draw in _SETTINGS.items() if chance.random() < 0.4}
        is_refused, lines = _KINDS[kind](chance, configuration)
        findings += is_refused
        wrong += [f"{line} under {configuration}" for line in lines]
    return Judged(kind, count, findings, wrong)


def policy_of(configuration: Drawn) -> Policy:
    """The settings as an agent states them."""
    return Policy(**{POLICY_KEYS[key]: value for key, value in configuration.items() if key in POLICY_KEYS})


def codes_of(source: str, configuration: Drawn) -> set[str]:
    """The codes that a check of the source finds."""
    from harness import Case, run

    found = on_large_stack(run, Case("", {"agent.py": source}, configuration))
    assert all(isinstance(item, Finding) for item in found), found
    return {item.code for item in found if isinstance(item, Finding)}


# --- results ------------------------------------------------------------------------------------------------

_KEYS = (
    "page", "user_id", "a", "value", "unit", "heat_kwh", "Page", "rows", "n_sites", "total", "row_count", "share", "year",
    "index", "latitude", "score", "http_status", "name", "heat",
)  # fmt: skip
_UNITS = (
    "count", "token", "ms", "GiB", "ppm", "1", "V", "mol", "nmi", "CHF", "kWh", "widget", "h", "", "kWh/m2", "kwh", "lb",
    "GBP/MWh", "pallet", "%", "°C", "kWh/widget", "m3/s", "psi",
)  # fmt: skip


def _quantity(chance: random.Random) -> Any:
    value = chance.choice((5, -2.5, 0, True, None, "5", 1e300))
    unit = chance.choice(_UNITS)
    if chance.random() < 0.3:
        unit = f"{unit}/{chance.choice(_UNITS)}"
    return chance.choice(
        (
            {"value": value, "unit": unit},
            {"value": value, "unit": unit, "note": "measured"},
            {"value": value},
            {"unit": unit},
            {"value": value, "unit": unit, "system": "http://unitsofmeasure.org", "code": "kW.h"},
            {"value": value, "code": "kg", "system": "http://unitsofmeasure.org"},
            {"@type": "QuantitativeValue", "value": value, "unitCode": "KWH"},
            {"@type": "QuantitativeValue", "value": value, "unitText": unit},
            {"amount": value, "currency": chance.choice(("EUR", "USD", "ABC"))},
            {"currency": "EUR", "value": value},
        )
    )


def _output(chance: random.Random, depth: int = 3) -> Any:
    kind = chance.random()
    if depth == 0 or kind < 0.2:
        # No integer above 1: written out under a key of a count, it is no count in the source.
        return chance.choice((1, -2.5, 0, True, None, "high", "", 12.0))
    if kind < 0.5:
        return _quantity(chance)
    if kind < 0.6:
        return [_output(chance, depth - 1) for _ in range(chance.randrange(3))]
    return {chance.choice(_KEYS): _output(chance, depth - 1) for _ in range(chance.randrange(1, 4))}


_SHAPE, _UNIT = {"GL101", "GL102"}, {"GL501", "GL502"}


def _results(chance: random.Random, configuration: Drawn) -> tuple[bool, list[str]]:
    """What a tool returns: refused at execution where a finding says so, by the code of that finding."""
    output = {"out": _output(chance)}
    source = f'from gllint_runtime import Tool\n\ntool = Tool(name="meter", args_schema={{}}, fn=lambda: {output!r})\n'
    codes = codes_of(source, configuration)
    found = codes & (_SHAPE | _UNIT)
    registry = ToolRegistry(policy=policy_of(configuration))
    registry.register(Tool(name="meter", fn=lambda: output))
    code = _code(lambda: registry.invoke("meter"))
    expected = {None} if not found else {"RESULT_SCHEMA"} if found & _SHAPE else {"UNIT_UNKNOWN"}
    if "GL103" in codes:  # reported for a Quantity in a list in place of its other faults
        expected.add("RESULT_SCHEMA")
    return code is not None, [] if code in expected else [f"{output}: {sorted(found)}, {code}"]


def _code(function: Callable[[], object]) -> str | None:
    try:
        function()
    except GLError as error:
        return error.code
    return None


# --- messages -----------------------------------------------------------------------------------------------

_PIECES = (
    "{{claim:0}}", "{{claim:0}}", "{{claim:1}}", "5", "12.5 kWh", "2,500", "٣", "½", "1e6", "3rd", "2024-10-02", "14:30", "v1.2.3", "ID-12",
    "2024-W40", "ISO 50001", "room 7", "3 stars", "five", "Twenty-one", "a dozen", "one", "second", "half", "hundreds", "zero",
    "\n1. ", "\n- ", "\n", " ", " ", " uses ", ", ", "-", "%", "**", "`", "<b>", "CO2e", "m2", "kWh", " per year", "\\", "🔥", "万",
    "Q3 ", "$", "No. ", "of ", " It is warm. ", "&#53;", "IV", "x2",
)  # fmt: skip


def _messages(chance: random.Random, configuration: Drawn) -> tuple[bool, list[str]]:
    """A message with its claims: refused at execution where a finding says so."""
    text = "".join(chance.choice(_PIECES) for _ in range(chance.randrange(1, 8)))
    quantity = {"value": 5, "unit": "kWh"}
    path = chance.choice(("$.heat", "$.heat", "$.rows[0].heat"))
    claims = [{"source_call_id": "tc_1", "path": path, "quantity": quantity}] * chance.randrange(3)
    step = {"kind": "final", "final": {"message": text, "claims": claims}}
    found = codes_of(f"import gllint_runtime\n\nstep = {step!r}\n", configuration) & {
        "GL401",
        "GL403",
        "GL404",
    }
    session = Session(policy=policy_of(configuration))
    session.record("meter", {}, {"heat": quantity, "rows": [{"heat": quantity}]})
    code = _code(lambda: session.check(text, claims))
    expected = {
        code
        for code, finding in (
            ("NO_NAKED_NUMBERS", "GL401"), ("QUANTITY_MISMATCH", "GL401"), ("MISSING_CLAIM", "GL403"),
            ("PATH_RESOLUTION", "GL404"),
        )
        if finding in found
    } or {None}  # fmt: skip
    return code is not None, [] if code in expected else [f"{text!r}, {claims}: {sorted(found)}, {code}"]


# --- arguments ----------------------------------------------------------------------------------------------

_PARAMETERS = (
    "load", "load_kw", "power_kW", "discharge_m3_s", "area_m2", "price_eur", "page", "n_rows", "site_id", "share", "heat_mwh", "t",
    "speed_mph", "kwh", "temperature_c", "x", "duration_h", "amount_usd", "widget", "energy",
)  # fmt: skip


def _arguments(chance: random.Random, configuration: Drawn) -> tuple[bool, list[str]]:
    """A parameter of which GL106 says that nothing says its unit: at execution no number there is held to a unit.

    One that is held to a unit there is none that GL106 speaks of.
    """
    name = chance.choice(_PARAMETERS)
    node: Drawn = {"type": chance.choice(("number", "integer", ["number", "null"]))}
    if chance.random() < 0.3:
        node["x-unit"] = chance.choice(("kW", "MWh", "m2", "widget", "nonsense", "", 5))
    if chance.random() < 0.2:
        node = {chance.choice(("anyOf", "allOf")): [node]}
    schema = {"type": "object", "properties": {name: node}}
    unit = chance.choice(("kWh", "W", "m2", "EUR", "km/h", "°F", "h", "m3/s"))
    source = (
        "from gllint_runtime import Tool\n\n"
        f'tool = Tool(name="use", args_schema={schema!r}, fn=lambda {name}: {{"done": True}})\n'
    )
    found = "GL106" in codes_of(source, {**configuration, "extend-select": ["GL106"]})
    policy = policy_of(configuration).with_settings(argument_units=chance.choice(("refuse", "convert")))
    session = Session(policy=policy)
    value = 7_300 if node.get("type") == "integer" else 7_312.5
    session.record("meter", {}, {"out": {"value": value, "unit": unit}}) if policy.judge(
        unit
    ).status == "allowed" else None
    bare = quantity = None
    try:
        bare = session.tool_arguments("use", {name: value}, args_schema=schema)
        quantity = session.tool_arguments("use", {name: {"value": value, "unit": unit}}, args_schema=schema)
        is_held = bare[name] != value or quantity[name] != {"value": value, "unit": unit}
    except GLError:
        is_held = bare is None  # a Quantity is no number for its schema
    return is_held, [f"{schema}, {unit}: GL106, and {bare} {quantity}"] if found and is_held else []


_KINDS: dict[str, Callable[[random.Random, Drawn], tuple[bool, list[str]]]] = {
    "results": _results,
    "messages": _messages,
    "arguments": _arguments,
}
