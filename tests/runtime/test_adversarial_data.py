"""Claims, tool outputs, steps and schemas that try to bring a number past the runtime, and honest ones.

Among them is each way in which GreenLang's own runtime was seen to let one through; those of messages stand in
``test_adversarial.py``.
Each row is judged by one whole run; an upper-case verdict is the code of the error, anything else the message.
"""

from __future__ import annotations

import asyncio
import json
import math
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from typing import Any

import pytest

from gllint_runtime import (
    GLError,
    GLValidationError,
    Quantity,
    ScriptedProvider,
    Tool,
    ToolAction,
    ToolCategory,
    ToolRegistry,
    ToolRuntime,
    dispatch_tool,
)


class Key(StrEnum):
    HEAT = "heat"


@dataclass
class Reading:
    value: float
    unit: str


@dataclass
class Rooms:
    number: int


class Broken:
    def model_dump(self) -> Any:
        raise TypeError("no")


class Pretender(dict[str, Any]):
    """A mapping that claims to have fewer keys than it has."""

    def keys(self) -> Any:
        return {"value", "unit"}


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no")


def heat(value: Any, unit: Any = "kWh", **more: Any) -> dict[str, Any]:
    return {"heat": {"value": value, "unit": unit, **more}}


def claim(value: Any, unit: Any = "kWh", path: Any = "$.heat", source: Any = "tc_1") -> dict[str, Any]:
    return {"source_call_id": source, "path": path, "quantity": {"value": value, "unit": unit}}


CALL = {"kind": "tool_call", "tool_name": "meter", "arguments": {}}
DONE = {"kind": "final", "final": {"message": "Done", "claims": []}}


def verdict(tools: list[Tool], *steps: Any, **options: Any) -> str:
    registry = ToolRegistry()
    for tool in tools:
        registry.register(tool)
    try:
        answer = ToolRuntime(ScriptedProvider(steps), registry, **options).run("", "", max_retries=0)
    except GLError as error:
        assert error.hint
        json.dumps(error.to_dict(), default=str)
        return error.code
    return str(answer["message"])


def endless() -> dict[str, Any]:
    data: dict[str, Any] = {}
    data["heat"] = data
    return data


CLAIMS: list[tuple[str, Any, Any, str]] = [
    # id, output, the claim (or what stands in place of the claims), verdict
    ("honest", heat(5), claim(5), "5.00 kWh"),
    ("integer for float", heat(5.0), claim(5), "5.00 kWh"),
    ("the tool's digits", heat(1000.0000001), claim(1000), "1000.00 kWh"),
    ("rounding noise", heat(0.1 + 0.2), claim(0.3), "0.30 kWh"),
    ("decimal output", heat(Decimal("12.5")), claim(12.5), "12.50 kWh"),
    ("fraction output", heat(Fraction(25, 2)), claim(12.5), "12.50 kWh"),
    ("decimal claim", heat(12.5), claim(Decimal("12.5")), "12.50 kWh"),
    ("dataclass", {"heat": Reading(5, "kWh")}, claim(5), "5.00 kWh"),
    ("quantity", {"heat": Quantity(5, "kWh")}, claim(5), "5.00 kWh"),
    ("key of an enumeration", {Key.HEAT: {"value": 5, "unit": "kWh"}}, claim(5), "5.00 kWh"),
    ("text that is no Unicode", {**heat(5), "note": "\ud800"}, claim(5), "5.00 kWh"),
    ("negative zero", heat(-0.0), claim(0), "0.00 kWh"),
    ("very large", heat(1e22), claim(1e22), "1" + "0" * 22 + ".00 kWh"),
    ("very small", heat(1e-12), claim(1e-12), "0.000000000001 kWh"),
    ("negative below one", heat(-0.5), claim(-0.5), "-0.50 kWh"),
    ("another unit", heat(5, "MWh"), claim(5000, "kWh"), "5.00 MWh"),
    ("another unit of emissions", heat(7, "kgCO2e/m2"), claim(7000, "gCO2e/m2"), "7.00 kgCO2e/m2"),
    ("by the month", heat(12, "kWh/month"), claim(144, "kWh/year"), "12.00 kWh/month"),
    ("joules", heat(1), claim(3.6, "MJ"), "1.00 kWh"),
    ("kelvin", heat(20, "degC"), claim(293.15, "K"), "20.00 degC"),
    ("percent in words", heat(5, "%"), claim(5, "percent"), "5.00 %"),
    ("power as energy by time", heat(1, "kWh/h"), claim(1, "kW"), "1.00 kWh/h"),
    ("two spellings", heat(5, "m**2"), claim(5, "m2"), "5.00 m**2"),
    ("cubic feet", heat(5, "ft3"), claim(5, "ft^3"), "5.00 ft3"),
    ("one more key in the claim", heat(5), {**claim(5), "label": "heat"}, "5.00 kWh"),
    # the value
    ("other value", heat(5), claim(6), "QUANTITY_MISMATCH"),
    ("other sign", heat(-5), claim(5), "QUANTITY_MISMATCH"),
    ("one part in ten million", heat(1000.0), claim(1000.0001), "QUANTITY_MISMATCH"),
    ("integers are exact", heat(10**15), claim(10**15 + 1), "QUANTITY_MISMATCH"),
    ("small is not zero", heat(1e-12), claim(0), "QUANTITY_MISMATCH"),
    ("percent as a fraction", heat(50, "%"), claim(0.5, "%"), "QUANTITY_MISMATCH"),
    ("claim of infinity", heat(5), claim(math.inf), "STEP_SCHEMA"),
    ("claim of no number", heat(5), claim(math.nan), "STEP_SCHEMA"),
    ("claim of a signalling nan", heat(5), claim(Decimal("sNaN")), "STEP_SCHEMA"),
    ("claim beyond floats", heat(5), claim(10**400), "STEP_SCHEMA"),
    ("claim beyond printing", heat(5), claim(10**5000), "STEP_SCHEMA"),
    ("claim of true", heat(1), claim(True), "STEP_SCHEMA"),
    ("claim of text", heat(5), claim("5"), "STEP_SCHEMA"),
    ("claim of nothing", heat(5), claim(None), "STEP_SCHEMA"),
    ("claim of a list", heat(5), claim([5]), "STEP_SCHEMA"),
    ("claim of a complex", heat(5), claim(5j), "STEP_SCHEMA"),
    ("output of infinity", heat(math.inf), claim(5), "RESULT_SCHEMA"),
    ("output of nan", heat(Decimal("NaN")), claim(5), "RESULT_SCHEMA"),
    ("output of a signalling nan", heat(Decimal("sNaN")), claim(5), "RESULT_SCHEMA"),
    ("output beyond floats", heat(10**400), claim(10**400), "RESULT_SCHEMA"),
    ("output beyond printing", heat(10**5000), claim(5), "RESULT_SCHEMA"),
    ("fraction beyond floats", heat(Fraction(10**400)), claim(5), "RESULT_SCHEMA"),
    ("output of true", heat(True), claim(1), "RESULT_SCHEMA"),
    ("output of text", heat("5"), claim(5), "RESULT_SCHEMA"),
    ("output of a complex", heat(5j), claim(5), "RESULT_SCHEMA"),
    # the unit
    ("other prefix", heat(5), claim(5, "MWh"), "QUANTITY_MISMATCH"),
    ("other currency", heat(5, "USD"), claim(5, "EUR"), "QUANTITY_MISMATCH"),
    ("mass for emissions", heat(5, "kg"), claim(5, "kgCO2e"), "QUANTITY_MISMATCH"),
    ("tonnes for emissions", heat(5, "t"), claim(5, "tCO2e"), "QUANTITY_MISMATCH"),
    ("year for hours", heat(8760, "kWh/year"), claim(1, "kW"), "QUANTITY_MISMATCH"),
    ("other case", heat(5), claim(5, "KWH"), "UNIT_UNKNOWN"),
    ("other case of the tool's", heat(5, "kwh"), claim(5, "kwh"), "UNIT_UNKNOWN"),
    ("a unit that is not listed", heat(5, "parsec"), claim(5, "parsec"), "UNIT_UNKNOWN"),
    ("no unit at all", heat(5, "widgets"), claim(5, "widgets"), "UNIT_UNKNOWN"),
    ("a prefix that is not listed", heat(5, "MEUR"), claim(5, "MEUR"), "UNIT_UNKNOWN"),
    ("joule is not listed", heat(1), claim(3_600_000, "J"), "UNIT_UNKNOWN"),
    ("blank behind", heat(5, "kWh "), claim(5, "kWh "), "UNIT_UNKNOWN"),
    ("number in the unit", heat(5, "500 kWh"), claim(5, "500 kWh"), "UNIT_UNKNOWN"),
    ("product with a number", heat(5, "500*kWh"), claim(5, "500*kWh"), "UNIT_UNKNOWN"),
    ("comment in the unit", heat(5, "kWh #500"), claim(5, "kWh #500"), "UNIT_UNKNOWN"),
    ("macro in the unit", heat(5, "{{claim:0}}"), claim(5, "{{claim:0}}"), "UNIT_UNKNOWN"),
    ("line break in the unit", heat(5, "(kWh\n/m2)"), claim(5, "(kWh\n/m2)"), "UNIT_UNKNOWN"),
    ("digit glued to a unit", heat(5, "kWh2"), claim(5, "kWh2"), "UNIT_UNKNOWN"),
    ("reciprocal", heat(5, "1/h"), claim(5, "1/h"), "UNIT_UNKNOWN"),
    ("time alone", heat(5, "s"), claim(5, "s"), "UNIT_UNKNOWN"),
    ("empty", heat(5, ""), claim(5, ""), "UNIT_UNKNOWN"),
    ("very long", heat(5, "kWh" + "*m" * 500), claim(5), "UNIT_UNKNOWN"),
    ("no unit", heat(5, None), claim(5), "RESULT_SCHEMA"),
    ("number for a unit", heat(5, 5), claim(5), "RESULT_SCHEMA"),
    # the path
    ("index", {"heat": [heat(5)["heat"]]}, claim(5, path="$.heat[0]"), "PATH_RESOLUTION"),
    ("index as a name", {"heat": [heat(5)["heat"]]}, claim(5, path="$.heat.0"), "PATH_RESOLUTION"),
    ("list", {"heat": [heat(5)["heat"]]}, claim(5), "PATH_RESOLUTION"),
    ("text", {"heat": "5 kWh"}, claim(5), "PATH_RESOLUTION"),
    ("true", {"heat": True}, claim(1), "PATH_RESOLUTION"),
    ("into the Quantity", heat(5), claim(5, path="$.heat.value"), "PATH_RESOLUTION"),
    ("its unit", heat(5), claim(5, path="$.heat.unit"), "PATH_RESOLUTION"),
    ("the root", heat(5)["heat"], claim(5, path="$"), "PATH_RESOLUTION"),
    ("nothing", heat(5), claim(5, path=""), "PATH_RESOLUTION"),
    ("line break behind", heat(5), claim(5, path="$.heat\n"), "PATH_RESOLUTION"),
    ("brackets", heat(5), claim(5, path="$['heat']"), "PATH_RESOLUTION"),
    ("blank", heat(5), claim(5, path="$. heat"), "PATH_RESOLUTION"),
    ("descent", {"a": heat(5)}, claim(5, path="$..heat"), "PATH_RESOLUTION"),
    ("wildcard", heat(5), claim(5, path="$.*"), "PATH_RESOLUTION"),
    ("no root", heat(5), claim(5, path="heat"), "PATH_RESOLUTION"),
    ("other field", heat(5), claim(5, path="$.cold"), "PATH_RESOLUTION"),
    ("path of no text", heat(5), claim(5, path=5), "STEP_SCHEMA"),
    # the call
    ("later call", heat(5), claim(5, source="tc_2"), "MISSING_TOOL_CALL"),
    ("call zero", heat(5), claim(5, source="tc_0"), "MISSING_TOOL_CALL"),
    ("leading zero", heat(5), claim(5, source="tc_01"), "MISSING_TOOL_CALL"),
    ("other case of the call", heat(5), claim(5, source="TC_1"), "MISSING_TOOL_CALL"),
    ("no call", heat(5), claim(5, source=""), "MISSING_TOOL_CALL"),
    ("number for a call", heat(5), claim(5, source=1), "STEP_SCHEMA"),
    # the claims
    ("no claims", heat(5), [], "MISSING_CLAIM"),
    ("null", heat(5), None, "MISSING_CLAIM"),
    ("one too many", heat(5), [claim(5), claim(5)], "MISSING_CLAIM"),
    ("text for claims", heat(5), "x", "STEP_SCHEMA"),
    ("object for claims", heat(5), {"0": claim(5)}, "STEP_SCHEMA"),
    ("text for a claim", heat(5), ["x"], "STEP_SCHEMA"),
    ("no quantity", heat(5), [{"source_call_id": "tc_1", "path": "$.heat"}], "5.00 kWh"),
    (
        "one more key in the quantity",
        heat(5),
        [claim(5) | {"quantity": {**heat(5)["heat"], "x": 1}}],
        "STEP_SCHEMA",
    ),
    # the output
    ("one more key", heat(5, note="x"), claim(5), "RESULT_SCHEMA"),
    ("raw number", {"heat": 5}, claim(5), "RESULT_SCHEMA"),
    ("raw number in a tuple", {"heat": (5,)}, claim(5), "RESULT_SCHEMA"),
    ("raw number in lists", {"heat": [[5]]}, claim(5), "RESULT_SCHEMA"),
    ("raw number in a record", {"heat": Reading(5, "kWh"), "rooms": Rooms(3)}, claim(5), "RESULT_SCHEMA"),
    ("raw Decimal", {"heat": Decimal(5)}, claim(5), "RESULT_SCHEMA"),
    ("raw complex", {"heat": 5 + 0j}, claim(5), "RESULT_SCHEMA"),
    ("raw number beside", {**heat(5), "rooms": 3}, claim(5), "RESULT_SCHEMA"),
    ("mapping that lies", {"heat": Pretender(value=5, unit="kWh", x=5)}, claim(5), "RESULT_SCHEMA"),
    ("model that fails", {"heat": Broken()}, claim(5), "RESULT_SCHEMA"),
    ("bytes", {"heat": b"5"}, claim(5), "PATH_RESOLUTION"),
    ("set", {"heat": {5}}, claim(5), "RESULT_SCHEMA"),
    ("generator", {"heat": (x for x in [5])}, claim(5), "RESULT_SCHEMA"),
    ("keys that are numbers", {1: heat(5)}, claim(5), "RESULT_SCHEMA"),
    ("in itself", endless(), claim(5), "RESULT_SCHEMA"),
    ("list at the root", [heat(5)], claim(5), "RESULT_SCHEMA"),
    ("nothing at all", None, claim(5), "RESULT_SCHEMA"),
]


@pytest.mark.parametrize(
    ("output", "given", "expected"), [row[1:] for row in CLAIMS], ids=[row[0] for row in CLAIMS]
)
def test_claims(output: Any, given: Any, expected: str) -> None:
    claims = [given] if isinstance(given, dict) and "path" in given else given
    final = {"kind": "final", "final": {"message": "{{claim:0}}", "claims": claims}}
    assert verdict([Tool(name="meter", fn=lambda: output)], CALL, final) == expected


ECHO = {
    "type": "object",
    "properties": {
        "x": {"type": "number"},
        "o": {"type": "object"},
        "l": {"type": "array"},
        "s": {"type": "string"},
    },
}


def use(**arguments: Any) -> dict[str, Any]:
    return {"kind": "tool_call", "tool_name": "use", "arguments": arguments}


STEPS: list[tuple[str, Any, str]] = [
    ("nothing", None, "STEP_SCHEMA"),
    ("a number", 5, "STEP_SCHEMA"),
    ("a list", [], "STEP_SCHEMA"),
    ("prose", "It is 5.", "STEP_SCHEMA"),
    ("bytes", b'{"kind": "final", "message": "Done"}', "STEP_SCHEMA"),
    ("an empty object", {}, "STEP_SCHEMA"),
    ("another kind", {"kind": "answer", "message": "Done"}, "STEP_SCHEMA"),
    ("no kind at all", {"kind": None, "message": "Done"}, "STEP_SCHEMA"),
    ("a call of nothing", {"kind": "tool_call", "arguments": {}}, "STEP_SCHEMA"),
    ("a call of a number", {"kind": "tool_call", "tool_name": 5, "arguments": {}}, "STEP_SCHEMA"),
    ("a list of arguments", {"kind": "tool_call", "tool_name": "meter", "arguments": []}, "STEP_SCHEMA"),
    (
        "half of JSON for arguments",
        {"kind": "tool_call", "tool_name": "meter", "arguments": "{"},
        "STEP_SCHEMA",
    ),
    ("no message", {"kind": "final", "final": {}}, "STEP_SCHEMA"),
    ("null for the message", {"kind": "final", "final": {"message": None}}, "STEP_SCHEMA"),
    ("a list for the message", {"kind": "final", "final": {"message": ["5"]}}, "STEP_SCHEMA"),
    ("a number for the message", {"kind": "final", "message": 5}, "STEP_SCHEMA"),
    ("text for the final step", {"kind": "final", "final": "5"}, "STEP_SCHEMA"),
    ("a trailing comma", '{"kind": "final", "message": "Done",}', "STEP_SCHEMA"),
    ("single quotes", "{'kind': 'final', 'message': 'Done'}", "STEP_SCHEMA"),
    ("an array", "[]", "STEP_SCHEMA"),
    ("very deep", '{"a":' * 100_000, "STEP_SCHEMA"),
    (
        "a call inside a broken one",
        '{"kind": "tool_call", "tool_name": "use", "arguments": {"name": "meter", "args": {}}',
        "STEP_SCHEMA",
    ),
    ("an unknown tool", {"kind": "tool_call", "tool_name": "guess", "arguments": {}}, "PATH_RESOLUTION"),
    (
        "an unknown argument",
        {"kind": "tool_call", "tool_name": "meter", "arguments": {"x": 1}},
        "ARGS_SCHEMA",
    ),
    ("text for a number", use(x="5"), "ARGS_SCHEMA"),
    ("true for a number", use(x=True), "ARGS_SCHEMA"),
    ("infinity", use(x=math.inf), "ARGS_SCHEMA"),
    (
        "infinity in JSON",
        '{"kind": "tool_call", "tool_name": "use", "arguments": {"x": 1e999}}',
        "ARGS_SCHEMA",
    ),
    ("nan in JSON", '{"kind": "tool_call", "tool_name": "use", "arguments": {"x": NaN}}', "ARGS_SCHEMA"),
    ("beyond floats", use(x=10**400), "ARGS_SCHEMA"),
    (
        "a digit beside a call",
        {"kind": "final", "tool_name": "meter", "message": "It is 5"},
        "NO_NAKED_NUMBERS",
    ),
    (
        "a digit in a question",
        {"name": "None", "args": {"clarification_needed": "Which of 3?"}},
        "NO_NAKED_NUMBERS",
    ),
    ("a number in a question", {"name": "None", "args": {"clarification_needed": 5}}, "NO_NAKED_NUMBERS"),
    (
        "a macro in a question",
        {"name": "None", "args": {"clarification_needed": "{{claim:0}}?"}},
        "MISSING_CLAIM",
    ),
    ("a question", {"name": "None", "args": {"clarification_needed": "Which roof?"}}, "Which roof?"),
    ("a call with a message beside it", {**CALL, "final": {"message": "It is 5"}}, "Done"),
    ("no arguments", {"kind": "tool_call", "tool_name": "meter"}, "Done"),
    ("null for arguments", {"kind": "tool_call", "tool_name": "meter", "arguments": None}, "Done"),
    ("empty text for arguments", {"kind": "tool_call", "tool_name": "meter", "arguments": ""}, "Done"),
    ("JSON text for arguments", {"kind": "tool_call", "tool_name": "meter", "arguments": "{}"}, "Done"),
    ("an action", {"name": "meter", "args": {}}, "Done"),
    ("a stringified object", use(o='{"a": 1}'), "Done"),
    ("a stringified array", use(l="[1]"), "Done"),
    ("text that is JSON", use(s='{"a": 1}'), "Done"),
    ("JSON", json.dumps(DONE), "Done"),
    ("JSON after a byte order mark", "\ufeff" + json.dumps(DONE), "Done"),
    ("JSON in a fence", f"```json\n{json.dumps(DONE)}\n```", "Done"),
    ("JSON in a fence in prose", f"Here:\n```\n{json.dumps(DONE)}\n```\nThat is all.", "Done"),
    ("JSON in prose with braces", f"Fill {{this}} or {{}} in: {json.dumps(DONE)} Good?", "Done"),
    ("a fence in the message", json.dumps({"message": "a\n```\n{b}\n```"}), "a\n```\n{b}\n```"),
    ("a fence in a message with real line breaks", '{"message": "a\n```\n{b}\n```"}', "a\n```\n{b}\n```"),
    ("text that is no Unicode", {"message": "\ud800"}, "UNSAFE_TEXT"),
]


@pytest.mark.parametrize(("given", "expected"), [row[1:] for row in STEPS], ids=[row[0] for row in STEPS])
def test_steps(given: Any, expected: str) -> None:
    meter = Tool(name="meter", fn=lambda: heat(5))
    echo = Tool(name="use", args_schema=ECHO, fn=lambda **anything: {})
    assert verdict([meter, echo], given, DONE) == expected


@pytest.mark.parametrize("which", ["args_schema", "result_schema"])
@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
        {"$id": "https://example.org/x", "$ref": "https://example.org/x"},
        endless() | {"properties": endless()},
    ],
    ids=["itself", "each other", "by name", "in itself"],
)
def test_schemas_without_end(schema: Any, which: str) -> None:
    def use_it() -> None:
        registry = ToolRegistry()
        registry.register(Tool(name="meter", fn=lambda **anything: heat(5), **{which: schema}))
        registry.invoke("meter", {"x": "y"})

    with pytest.raises(GLValidationError) as caught:
        use_it()
    assert caught.value.code == ("ARGS_SCHEMA" if which == "args_schema" else "RESULT_SCHEMA")


def test_a_schema_may_refer_to_itself_with_an_end() -> None:
    registry = ToolRegistry()
    schema = {"type": "object", "properties": {"part": {"$ref": "#"}, "name": {"type": "string"}}}
    registry.register(Tool(name="meter", args_schema=schema, fn=lambda **anything: heat(5)))
    assert registry.invoke("meter", {"part": {"part": {"name": "x"}}}) == heat(5)


async def give_up() -> None:
    raise asyncio.CancelledError


def unprintable() -> None:
    raise Unprintable


@pytest.mark.parametrize("function", [give_up, unprintable])
def test_whatever_a_tool_raises_is_its_failure(function: Any) -> None:
    assert verdict([Tool(name="meter", fn=function)], CALL) == "TOOL_FAILED"
    registry = ToolRegistry()
    registry.register(Tool(name="meter", fn=function))
    assert dispatch_tool({"name": "meter"}, registry)["code"] == "TOOL_FAILED"


def test_a_notice_that_fails_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def fail(tool: Any, arguments: Any) -> None:
        raise ConnectionError("down")

    note = Tool(name="meter", fn=lambda: heat(5), category=ToolCategory.NOTE_TAKING)
    assert verdict([note], CALL, DONE, notify=fail) == "Done"
    assert "The notice about tool 'meter' failed" in caplog.text


@pytest.mark.parametrize("name", [None, 5, ""])
def test_an_action_of_no_tool(name: Any) -> None:
    answer = dispatch_tool(ToolAction(name, {}), ToolRegistry())
    assert answer["code"] == "STEP_SCHEMA"
    assert '"name"' in answer["hint"]


def test_a_project_may_excuse_digits() -> None:
    message = {"kind": "final", "message": "See room 101, under ISO 50001."}
    whitelist = [r"room \d+", r"ISO \d+"]
    assert verdict([], message) == "NO_NAKED_NUMBERS"
    assert verdict([], message, whitelist=whitelist[:1]) == "NO_NAKED_NUMBERS"
    assert verdict([], message, whitelist=whitelist) == "See room 101, under ISO 50001."
