"""A hundred and more cases of the guard at ``block``: what a server sends, and what must reach the client.

``refused``: an error that does not repeat the number. ``passes``: as it came, but for the block with the call's id.
"""

from __future__ import annotations

import json
import sys
from math import isclose
from typing import Any

import pytest

from gllint.guard.exchange import Guard
from gllint.guard.relay import through
from gllint.guard.unit_places import read_places
from gllint_runtime import Policy
from gllint_runtime.policy.levels import Level

QUANTITY = {"value": 12.5, "unit": "kWh"}
HEAT = {"heat": {"value": 1234.5, "unit": "kWh"}}
NUMBER = {"type": "number"}
PRESENT = "tasks/get", "tasks/result", "tasks/update"


def text_of(*texts: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text} for text in texts], **more}


def request(method: str, number: int, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def guard_of(
    *, level: Level = "block", units: Any = None, output: Any = None, parameters: Any = None
) -> Guard:
    """A guard that knows one tool, ``meter``."""
    guard = Guard(Policy(), level, read_places(units or {}, Policy()))
    guard.from_client(request("tools/list", 90))
    tool = {"name": "meter", "inputSchema": {"type": "object", "properties": parameters or {}}}
    schema = {"outputSchema": {"type": "object", "properties": output}} if output else {}
    guard.from_server({"jsonrpc": "2.0", "id": 90, "result": {"tools": [{**tool, **schema}]}})
    return guard


def answer(guard: Guard, result: Any, arguments: Any = None, tool: str = "meter") -> tuple[Any, Any]:
    """The arguments that the server gets, and the result that the client gets."""
    [sent] = guard.from_client(request("tools/call", 1, name=tool, arguments=arguments or {}))
    if sent.to == "client":
        return None, sent.message["result"]
    passed = sent.message["params"]["arguments"]
    [sent] = guard.from_server({"jsonrpc": "2.0", "id": 1, "result": result})
    return passed, sent.message["result"]


def is_refused(result: Any) -> bool:
    return result.get("isError") is True and "987" not in json.dumps(result)


REFUSED: dict[str, tuple[Any, Any]] = {
    "a number": (text_of("987.25"), None),
    "a number with separators": (text_of("9,872.5"), None),
    "a negative number": (text_of("-987.25"), None),
    "a number with an exponent": (text_of("9.8725e2"), None),
    "a number with a line end": (text_of(" 987.25\n"), None),
    "json": (text_of('{"heat": 987.25}'), None),
    "json list": (text_of("[987.25, 3.5]"), None),
    "json nested": (text_of('{"rows": [{"heat": 987.25}]}'), None),
    "json pretty": (text_of('{\n  "heat": 987.25\n}'), None),
    "json with bom": (text_of('\ufeff{"heat": 987.25}'), None),
    "json lines": (text_of('{"heat": 987.25}\n{"heat": 12.5}'), None),
    "repr": (text_of("{'heat': 987.25, 'ok': True}"), None),
    "repr of tuples": (text_of("[('north', 987.25)]"), None),
    "repr with None": (text_of("{'heat': 987.25, 'note': None}"), None),
    "yaml": (text_of("site: north\nheat: 987.25"), None),
    "yaml nested": (text_of("north:\n  heat: 987.25\n  state: ok"), None),
    "yaml list": (text_of("- heat: 987.25\n- heat: 12.5"), None),
    "yaml list of numbers": (text_of("readings:\n  - 987.25\n  - 12.5"), None),
    "yaml with quotes and comment": (text_of('site: "north"  # main\nheat: 987.25'), None),
    "one line": (text_of("heat: 987.25"), None),
    "csv": (text_of("site,heat\nnorth,987.25\nsouth,12.5"), None),
    "tsv": (text_of("site\theat\nnorth\t987.25"), None),
    "semicolons": (text_of("site;heat\nnorth;987.25"), None),
    "csv with quotes": (text_of('site,heat\n"north, old",987.25'), None),
    "markdown table": (text_of("| site | heat |\n|---|---|\n| north | 987.25 |"), None),
    "csv of one column": (text_of("heat\n987.25\n12.5"), None),
    "fence json": (text_of('Here it is:\n```json\n{"heat": 987.25}\n```\nDone.'), None),
    "fence yaml": (text_of("```yaml\nheat: 987.25\n```"), None),
    "fence csv": (text_of("```\nsite,heat\nnorth,987.25\n```"), None),
    "fence number": (text_of("```\n987.25\n```"), None),
    "fence of tildes": (text_of('~~~\n{"heat": 987.25}\n~~~'), None),
    "structured": ({"content": [], "structuredContent": {"heat": 987.25}}, None),
    "structured wrapped": (text_of("987.25", structuredContent={"result": 987.25}), None),
    "structured next to prose": (text_of("see the data", structuredContent={"heat": 987.25}), None),
    "structured without content": ({"structuredContent": {"heat": 987.25}}, None),
    "text differs from structured": (text_of('{"heat": 987.25}', structuredContent={"heat": QUANTITY}), None),
    "content a text": ({"content": "987.25"}, None),
    "content an object": ({"content": {"heat": 987.25}}, None),
    "content a number": ({"content": 987.25}, None),
    "a result that is a number": (987.25, None),
    "a result that is a list": ([987.25], None),
    "of 2024": ({"toolResult": {"heat": 987.25}}, None),
    "second block": (text_of("ok", '{"heat": 987.25}'), None),
    "resource": (
        {"content": [{"type": "resource", "resource": {"uri": "x://a", "text": '{"heat": 987.25}'}}]},
        None,
    ),
    "resource csv": (
        {"content": [{"type": "resource", "resource": {"uri": "x://a", "text": "site,heat\nnorth,987.25"}}]},
        None,
    ),
    "a unit that is not allowed": (text_of('{"heat": {"value": 987.25, "unit": "blorps"}}'), None),
    "a quantity with one key more": (
        text_of('{"heat": {"value": 987.25, "unit": "kWh", "at": "noon"}}'),
        None,
    ),
    "text json in structured": ({"content": [], "structuredContent": {"result": '{"heat": 987.25}'}}, None),
    "declared one of two": (
        {"content": [], "structuredContent": {"heat": 12.5, "cold": 987.25}},
        {"heat": {"type": "number", "x-unit": "kWh"}, "cold": NUMBER},
    ),
    "declared a unit that is not known": (
        {"content": [], "structuredContent": {"heat": 987.25}},
        {"heat": {"type": "number", "x-unit": "blorps"}},
    ),
    "a set": (text_of("{987.25, 3.5}"), None),
    "yaml with spaces in keys": (text_of("Total heat: 987.25\nSite: north"), None),
    "yaml within lines": (text_of("---\nrows:\n  - [987.25, 3]\n---"), None),
    "a fence further in": (text_of('- item:\n  ```json\n  {"heat": 987.25}\n  ```'), None),
    "two fences": (text_of('```json\n{"a": "b"}\n```\n```json\n{"heat": 987.25}\n```'), None),
    "csv with an empty cell": (text_of("site,heat\nnorth,\nsouth,987.25"), None),
    "not a number": (text_of('{"heat": NaN}'), None),
}

PASSES: dict[str, tuple[Any, Any]] = {
    "quantity": (text_of('{"heat": {"value": 12.5, "unit": "kWh"}}'), None),
    "quantity structured": (
        text_of('{"heat": {"value": 12.5, "unit": "kWh"}}', structuredContent={"heat": QUANTITY}),
        None,
    ),
    "count": (text_of('{"count": 3}'), None),
    "ids": (text_of('{"order_id": 88213, "page": 2}'), None),
    "prose": (text_of("It used 987.25 kWh."), None),
    "number with unit as text": (text_of("987.25 kWh"), None),
    "ok": (text_of("ok"), None),
    "date": (text_of("2026-10-02"), None),
    "time": (text_of("2026-10-02T08:15:00Z"), None),
    "version": (text_of("1.2.3"), None),
    "phone": (text_of("+1 555 0100"), None),
    "uuid": (text_of("0b61a2d0-3c55-4f5e-9d7a-000000000001"), None),
    "code": (text_of("```python\nx = 3\nprint(x)\n```"), None),
    "csv of texts": (text_of("a,b\nc,d"), None),
    "error": (text_of("failed with 987.25", isError=True), None),
    "error json": (text_of('{"heat": 987.25}', isError=True), None),
    "image": ({"content": [{"type": "image", "data": "aGk=", "mimeType": "image/png"}]}, None),
    "nothing": ({"content": []}, None),
    "truths": (text_of('{"ok": true, "x": null}'), None),
    "yaml quantity": (text_of("heat:\n  value: 12.5\n  unit: kWh"), None),
    "repr quantity": (text_of("{'heat': QUANTITY}"), None),
    "csv quantities": (text_of("value,unit\n12.5,kWh\n3,kWh"), None),
    "log": (text_of("INFO: 12 rows were read\nINFO: done"), None),
    "link": ({"content": [{"type": "resource_link", "uri": "x://a", "name": "a", "size": 987}]}, None),
    "declared x-unit": (
        text_of('{"heat": 12.5}', structuredContent={"heat": 12.5}),
        {"heat": {"type": "number", "x-unit": "kWh"}},
    ),
    "declared unit": (
        text_of('{"heat": 12.5}', structuredContent={"heat": 12.5}),
        {"heat": {"type": "number", "unit": "kWh"}},
    ),
    "declared in rows": (
        {"content": [], "structuredContent": {"rows": [{"heat": 12.5}, {"heat": 3}]}},
        {
            "rows": {
                "type": "array",
                "items": {"type": "object", "properties": {"heat": {"type": "number", "x-unit": "kWh"}}},
            }
        },
    ),
    "declared in the text alone": (text_of('{"heat": 12.5}'), {"heat": {"type": "number", "x-unit": "kWh"}}),
    "declared wrapped": (
        text_of("12.5", structuredContent={"result": 12.5}),
        {"result": {"type": "number", "x-unit": "kWh"}},
    ),
    "pairs in a line": (text_of("heat=987.25 site=north"), None),
    "yaml of a quoted number": (text_of('heat: "987.25"'), None),
    "a block of text in yaml": (text_of("note: |\n  It used 987.25 kWh\n"), None),
    "money": (text_of("$987.25"), None),
    "percent": (text_of("45%"), None),
    "a range": (text_of("3-5"), None),
}

CONVERTED: dict[str, tuple[Any, str, Any]] = {
    "table json": (text_of('{"heat": 12.5}'), "meter.$.heat", {"heat": QUANTITY}),
    "table yaml": (text_of("site: north\nheat: 12.5"), "meter.$.heat", {"site": "north", "heat": QUANTITY}),
    "table number": (text_of("12.5"), "meter.$", QUANTITY),
    "table csv": (text_of("site,heat\nnorth,12.5"), "meter.$[*].heat", [{"site": "north", "heat": QUANTITY}]),
    "table wrapped": (text_of("12.5", structuredContent={"result": 12.5}), "meter.$.result", QUANTITY),
}

# The parameters of a tool, the arguments of a call, and what the server gets; None where it is refused.
ARGUMENTS: dict[str, tuple[Any, Any, Any]] = {
    "x-unit": (
        {"q": {"type": "number", "x-unit": "m3/s"}},
        {"q": {"value": 1250, "unit": "ft3/s"}},
        {"q": 35.396},
    ),
    "name": (
        {"discharge_m3_s": NUMBER},
        {"discharge_m3_s": {"value": 1250, "unit": "ft3/s"}},
        {"discharge_m3_s": 35.396},
    ),
    "same unit": ({"heat_kwh": NUMBER}, {"heat_kwh": {"value": 3, "unit": "kWh"}}, {"heat_kwh": 3}),
    "an integer": (
        {"timeout_s": {"type": "integer"}},
        {"timeout_s": {"value": 2, "unit": "h"}},
        {"timeout_s": 7200},
    ),
    "temperature": ({"temp_f": NUMBER}, {"temp_f": {"value": 20, "unit": "degC"}}, {"temp_f": 68}),
    "percent": ({"rate_pct": NUMBER}, {"rate_pct": {"value": 5, "unit": "%"}}, {"rate_pct": 5}),
    "another dimension": ({"heat_kwh": NUMBER}, {"heat_kwh": {"value": 3, "unit": "m"}}, None),
    "an unknown unit": ({"heat_kwh": NUMBER}, {"heat_kwh": {"value": 3, "unit": "blorps"}}, None),
    "a bare number": ({"heat_kwh": NUMBER}, {"heat_kwh": 3}, {"heat_kwh": 3}),
    "no unit to be seen": (
        {"amount": {"type": "object"}},
        {"amount": {"value": 3, "unit": "kWh"}},
        {"amount": {"value": 3, "unit": "kWh"}},
    ),
    "a parameter that takes Quantities": (
        {"heat": {"type": "object", "properties": {"value": NUMBER, "unit": {"type": "string"}}}},
        {"heat": {"value": 3, "unit": "kWh"}},
        {"heat": {"value": 3, "unit": "kWh"}},
    ),
    "within an object": (
        {"where": {"type": "object", "properties": {"depth_m": NUMBER}}},
        {"where": {"depth_m": {"value": 10, "unit": "ft"}}},
        {"where": {"depth_m": 3.048}},
    ),
    "in a list": (
        {"loads_kw": {"type": "array", "items": NUMBER}},
        {"loads_kw": [{"value": 1, "unit": "MW"}, 5]},
        {"loads_kw": [1000, 5]},
    ),
    "a bare number of another unit's output": (
        {"discharge_m3_s": NUMBER},
        {"discharge_m3_s": 1250},
        {"discharge_m3_s": 1250},
    ),
    "a coincidence": ({"timeout_s": NUMBER}, {"timeout_s": 1}, {"timeout_s": 1}),
    "a text": ({"city": {"type": "string"}}, {"city": "Oslo 12"}, {"city": "Oslo 12"}),
    "currency": ({"amount_usd": NUMBER}, {"amount_usd": {"value": 12, "unit": "EUR"}}, None),
}

# A message and its claims after a result with 1,234.5 kWh, and what the user may see: a text, True as it is, False for an error.
VERIFIED: dict[str, tuple[Any, Any, str | bool]] = {
    "sourced": ("It used 1,234.5 kWh.", None, True),
    "converted": ("It used 1.23 MWh.", None, True),
    "invented": ("It used 1,299 kWh.", None, False),
    "another unit": ("It used 1,234.5 MWh.", None, False),
    "without numbers": ("It used a lot.", None, True),
    "claims": (
        "It used {{claim:0}}.",
        [{"source_call_id": "tc_1", "path": "$.heat"}],
        "It used 1234.50 kWh.",
    ),
    "claims as text": (
        "It used {{claim:0}}.",
        '[{"source_call_id": "tc_1", "path": "$.heat"}]',
        "It used 1234.50 kWh.",
    ),
    "claims of nothing": ("It used {{claim:0}}.", [{"source_call_id": "tc_1", "path": "$.cold"}], False),
    "a macro of the path": ("It used {{tc_1.heat}}.", None, "It used 1234.50 kWh."),
    "claims with a wrong quantity": (
        "It used {{claim:0}}.",
        [{"source_call_id": "tc_1", "path": "$.heat", "quantity": {"value": 9, "unit": "kWh"}}],
        False,
    ),
    "claims that are no JSON": ("It used {{claim:0}}.", "[{", False),
    "empty claims as text": ("It used 1,234.5 kWh.", "[]", True),
    "no text": (5, None, False),
    "claims null": ("It used 1,234.5 kWh.", None, True),
    "quantity in claim unit ok": (
        "It used {{claim:0}}.",
        [{"source_call_id": "tc_1", "path": "$.heat", "quantity": {"value": 1.2345, "unit": "MWh"}}],
        "It used 1234.50 kWh.",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_has_a_bare_number_is_refused(case: str) -> None:
    result, output = REFUSED[case]
    assert is_refused(answer(guard_of(output=output), result)[1])


@pytest.mark.parametrize("case", PASSES)
def test_what_has_none_passes(case: str) -> None:
    result, output = PASSES[case]
    received = {
        key: item for key, item in answer(guard_of(output=output), result)[1].items() if key != "_meta"
    }
    blocks = [one for one in received["content"] if not str(one.get("text")).startswith("gllint: call_id")]
    assert {**received, "content": blocks} == result


@pytest.mark.parametrize("case", CONVERTED)
def test_the_table_of_units_makes_quantities(case: str) -> None:
    result, row, expected = CONVERTED[case]
    received = answer(guard_of(units={row: "kWh"}), result)[1]
    assert "isError" not in received and json.loads(received["content"][0]["text"]) == expected


def is_near(value: Any, expected: Any) -> bool:
    if isinstance(expected, dict):
        return value.keys() == expected.keys() and all(is_near(value[key], expected[key]) for key in expected)
    if isinstance(expected, list):
        return len(value) == len(expected) and all(map(is_near, value, expected))
    return isclose(value, expected, rel_tol=1e-4) if isinstance(expected, float) else bool(value == expected)


@pytest.mark.parametrize("case", ARGUMENTS)
def test_an_argument_has_the_unit_of_its_parameter(case: str) -> None:
    parameters, arguments, expected = ARGUMENTS[case]
    guard = guard_of(parameters=parameters)
    answer(
        guard,
        text_of(json.dumps({"flow": {"value": 1250, "unit": "ft3/s"}, "age": {"value": 1, "unit": "day"}})),
        tool="other",
    )
    passed, received = answer(guard, text_of("ok"), arguments)
    if expected is None:
        assert passed is None and received["isError"] is True
    else:
        assert is_near(passed, expected)


@pytest.mark.parametrize("case", VERIFIED)
def test_a_message_is_verified(case: str) -> None:
    message, claims, expected = VERIFIED[case]
    guard = guard_of()
    answer(guard, text_of(json.dumps(HEAT)))
    received = answer(guard, None, {"message": message, "claims": claims}, "verify_answer")[1]
    assert received["isError"] is (expected is False)
    if isinstance(expected, str):
        assert received["content"][0]["text"] == expected


@pytest.mark.parametrize("method", PRESENT)
def test_the_result_within_a_task_is_judged(method: str) -> None:
    guard = guard_of()
    answer(guard, {"task": {"taskId": "t1", "status": "working"}})
    guard.from_client(request(method, 7, taskId="t1"))
    working = {
        "jsonrpc": "2.0",
        "id": 7,
        "result": {"taskId": "t1", "status": "working", "pollInterval": 5000},
    }
    assert guard.from_server(working)[0].message == working
    guard.from_client(request(method, 8, taskId="t1"))
    result = {"taskId": "t1", "status": "completed", "result": text_of('{"heat": 987.25}')}
    [sent] = guard.from_server({"jsonrpc": "2.0", "id": 8, "result": result})
    assert is_refused(sent.message["result"]["result"])


def test_results_that_no_one_asked_for_or_in_a_batch_are_judged() -> None:
    guard, message = guard_of(), {"jsonrpc": "2.0", "id": 77, "result": text_of("987.25")}
    assert is_refused(guard.from_server(message)[0].message["result"])
    [sent] = through([message, message], guard.from_server)
    assert all(is_refused(one["result"]) for one in sent.message)
    params = {"taskId": "t1", "status": "completed", "result": text_of("987.25")}
    [sent] = guard.from_server({"jsonrpc": "2.0", "method": "notifications/tasks/status", "params": params})
    assert is_refused(sent.message["params"]["result"])


@pytest.mark.parametrize(
    "message",
    [
        {"method": "notifications/progress", "params": {"progressToken": 1, "progress": 50, "total": 100}},
        {"method": "notifications/message", "params": {"level": "info", "data": {"heat": 987.25}}},
        {"id": 3, "method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 100}},
        {"id": 4, "method": "elicitation/create", "params": {"message": "987.25?"}},
        {"id": 99, "error": {"code": -32000, "message": "987.25 failed"}},
        {"id": 7, "result": {"contents": [{"uri": "x://a", "text": "987.25"}]}},
        {"id": 7, "result": {"messages": [{"role": "user", "content": {"type": "text", "text": "987.25"}}]}},
        {"id": 7, "result": {"completion": {"values": ["12"], "total": 987}}},
    ],
)
def test_all_else_passes_as_it_came(message: Any) -> None:
    guard = guard_of()
    guard.from_client(request("resources/read", 7))
    [sent] = guard.from_server(message)
    assert sent.message is message and sent.to == "client"


def test_results_cost_as_much_at_the_end_as_at_the_beginning() -> None:
    guard, calls, costs = guard_of(level="shadow"), 0, []

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        for number in range(400):
            before = calls
            data = {
                "site": f"site {number}",
                "heat": {"value": 100 + number, "unit": "kWh"},
                "loss": 3.5 + number,
            }
            answer(guard, text_of(json.dumps(data)), {"site": number, "limit_kwh": 500 + number})
            costs.append(calls - before)
    finally:
        sys.setprofile(None)
    assert sum(costs[350:]) < 1.1 * sum(costs[50:100])
