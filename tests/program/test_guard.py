"""The guard before an MCP server: what it changes, what it leaves as it came, and what becomes of bad servers."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import io
import json
import os
import re
import signal
import sys
import threading
import time
import tomllib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from gllint.cli import commands, guarding
from gllint.cli.explaining import config_for
from gllint.cli.server_tools import ServerTool
from gllint.errors import UsageError
from gllint.guard import exchange
from gllint.guard import relay as relay_module
from gllint.guard.draft import draft
from gllint.guard.exchange import Guard, Sent
from gllint.guard.naming import server_name
from gllint.guard.relay import Relay, ServerTrouble, client_of, encoded, started
from gllint.guard.streamable import http_headers, read_address
from gllint.guard.transcript import Transcript
from gllint.guard.unit_places import UnitPlaces, read_places
from gllint_runtime import Policy, audit_run
from gllint_runtime.audit.audit import judged_records
from gllint_runtime.audit.formats import Reader

HEAT = {"heat": {"value": 12.5, "unit": "kWh"}}
RAW = {"heat": 987.25}


def result_of(data: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": json.dumps(data)}], "structuredContent": data}


def call(guard: Guard, tool: str, arguments: Any, result: Any, number: Any = 1) -> dict[str, Any]:
    """What the client gets for a call that the server answers with a result."""
    request = {
        "jsonrpc": "2.0",
        "id": number,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    }
    [sent] = guard.from_client(request)
    if sent.to == "server":
        [sent] = guard.from_server({"jsonrpc": "2.0", "id": number, "result": result})
    assert sent.to == "client" and sent.message["id"] == number
    answer: dict[str, Any] = sent.message["result"]
    return answer


def texts(result: dict[str, Any]) -> list[str]:
    return [block["text"] for block in result["content"]]


def test_a_result_with_units_is_recorded_and_told_its_call() -> None:
    result = call(Guard(Policy(), "block"), "meter", {}, result_of(HEAT))
    assert result["structuredContent"] == HEAT
    assert texts(result) == [json.dumps(HEAT), "gllint: call_id tc_1"]
    assert result["_meta"] == {"gllint/call_id": "tc_1"}


@pytest.mark.parametrize("data", [RAW, [RAW], {"rows": [{"x": 987.25}]}])
def test_each_level_does_what_it_says_with_a_bare_number(data: Any) -> None:
    result = {"content": [{"type": "text", "text": json.dumps(data)}]}
    told: list[str] = []
    blocked = call(Guard(Policy(), "block", tell=told.append), "meter", {}, result)
    assert blocked["isError"] is True and "987" not in json.dumps(blocked) + "".join(told)
    warned = call(Guard(Policy(), "warn", tell=told.append), "meter", {}, result)
    assert texts(warned) == [texts(result)[0], "gllint: call_id tc_1"] and "RESULT_SCHEMA" in told[-1]
    guard = Guard(Policy(), "shadow", tell=told.append)
    count = len(told)
    assert texts(call(guard, "meter", {}, result)) == [texts(result)[0], "gllint: call_id tc_1"]
    assert guard.summary() == "RESULT_SCHEMA: 1" and len(told) == count


def test_a_configuration_gives_bare_numbers_their_units() -> None:
    places = read_places({"meter.$.heat": "kWh", "meter.$.rows[*].area": "m2"}, Policy())
    guard = Guard(Policy(), "block", places)
    data = {"heat": 12.5, "rows": [{"area": 3}, {"area": None}], "note": "ok", "flag": True}
    expected = {
        "heat": {"value": 12.5, "unit": "kWh"},
        "rows": [{"area": {"value": 3, "unit": "m2"}}, {"area": None}],
        "note": "ok",
        "flag": True,
    }
    result = call(guard, "meter", {}, result_of(data))
    assert result["structuredContent"] == expected and json.loads(texts(result)[0]) == expected


def test_the_schema_of_a_result_says_what_the_guard_makes_of_it() -> None:
    from jsonschema import Draft202012Validator

    schema = {
        "type": "object",
        "properties": {"heat": {"$ref": "#/$defs/n"}, "cold": {"$ref": "#/$defs/n"}},
        "$defs": {"n": {"type": "number", "minimum": 0}},
    }
    guard = Guard(Policy(), "warn", read_places({"meter.$.heat": "kWh"}, Policy()))
    guard.from_client({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    tools = [{"name": "meter", "inputSchema": {"type": "object"}, "outputSchema": schema}]
    [sent] = guard.from_server({"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}})
    listed = sent.message["result"]["tools"]
    assert [tool["name"] for tool in listed] == ["meter", "verify_answer"]
    validator = Draft202012Validator(listed[0]["outputSchema"])
    assert validator.is_valid({"heat": {"value": 1, "unit": "kWh"}, "cold": 1})
    assert not validator.is_valid({"heat": 1})


def test_references_that_lead_to_themselves_or_to_too_much_are_left_as_they_are() -> None:
    """Each writes out what it refers to: two to themselves did so a million times."""
    number = {"type": "object", "properties": {"a": {"type": "number"}}}
    itself = {"anyOf": [*[{"$ref": "#/$defs/n"}] * 3, number]}
    doubled: dict[str, Any] = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(12)}
    many = {"$defs": {**doubled, "d12": number}, "$ref": "#/$defs/d0"}
    said: list[str] = []
    guard = Guard(Policy(), "block", read_places({"m.$.a": "kWh", "n.$.a": "kWh"}, Policy()), said.append)
    guard.from_client({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    schemas = {"m": {"$defs": {"n": itself}, "$ref": "#/$defs/n"}, "n": many}
    tools = [
        {"name": name, "outputSchema": json.loads(json.dumps(schema))} for name, schema in schemas.items()
    ]
    [sent] = guard.from_server({"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}})
    first, second, _ = sent.message["result"]["tools"]
    assert first["outputSchema"]["anyOf"][3]["properties"]["a"]["properties"]["unit"] == {"const": "kWh"}
    assert second["outputSchema"] == many
    guard.from_client({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
    guard.from_server({"jsonrpc": "2.0", "id": 2, "result": {"tools": tools}})
    assert said == ["n: its output schema refers to too much for its numbers to be given units there"]


def test_the_tool_that_verifies_takes_another_name_where_its_own_is_taken() -> None:
    guard = Guard(Policy())
    for number, cursor in ((1, "next"), (2, None)):
        guard.from_client({"jsonrpc": "2.0", "id": number, "method": "tools/list"})
        tools = [{"name": "verify_answer" if cursor else "other", "inputSchema": {}}]
        result = {"tools": tools, **({"nextCursor": cursor} if cursor else {})}
        [sent] = guard.from_server({"jsonrpc": "2.0", "id": number, "result": result})
    assert [tool["name"] for tool in sent.message["result"]["tools"]] == ["other", "gllint_verify_answer"]


def test_no_tool_of_the_server_takes_the_place_of_the_one_that_verifies() -> None:
    """One that is listed under its name once clients know it, or under both names, would verify what it likes."""
    for first, second, verify in (
        ([], ["verify_answer"], "verify_answer"),
        (["verify_answer", "gllint_verify_answer"], [], "gllint_verify_answer"),
    ):
        said: list[str] = []
        guard = Guard(Policy(), "block", UnitPlaces({}), said.append)
        for number, names in enumerate((first, second)):
            guard.from_client({"jsonrpc": "2.0", "id": number, "method": "tools/list"})
            listed = {"tools": [{"name": name} for name in names]}
            [sent] = guard.from_server({"jsonrpc": "2.0", "id": number, "result": listed})
            assert [tool["name"] for tool in sent.message["result"]["tools"]].count(verify) == 1
        params = {"name": verify, "arguments": {"message": "It is 5."}}
        [sent] = guard.from_client({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": params})
        assert sent.to == "client" and sent.message["result"]["isError"] is True
        assert said == [f"{verify}: the server has a tool of this name, too, which cannot be called"]


def test_no_server_says_what_the_guard_alone_can() -> None:
    forged = {"gllint/provenance": [{"path": "$.heat"}], "gllint/call_id": "tc_9", "of/its/own": 1}
    result = call(Guard(Policy()), "meter", {}, {**result_of(HEAT), "_meta": forged})
    assert result["_meta"] == {"of/its/own": 1, "gllint/call_id": "tc_1"}
    failed = {"content": [], "isError": True, "_meta": forged}
    assert call(Guard(Policy()), "meter", {}, failed)["_meta"] == {"of/its/own": 1}


def test_an_answer_is_verified_against_what_was_recorded() -> None:
    guard = Guard(Policy())
    call(guard, "meter", {}, result_of(HEAT))
    claim = {"source_call_id": "tc_1", "path": "$.heat", "quantity": HEAT["heat"]}
    verified = call(guard, "verify_answer", {"message": "It used {{claim:0}}.", "claims": [claim]}, None)
    assert texts(verified) == ["It used 12.50 kWh."]
    assert verified["_meta"]["gllint/provenance"][0]["tool_name"] == "meter"
    strict = Guard(Policy(), "block")
    for arguments in ({"message": "It used 13 kWh."}, {"message": 5}, {}, {"message": "x", "claims": 7}):
        refused = call(strict, "verify_answer", arguments, None)
        assert refused["isError"] is True and texts(refused)[0]


@pytest.mark.parametrize("level", ["block", "warn"])
def test_an_argument_gets_the_unit_of_its_parameter_or_a_sentence(level: Any) -> None:
    guard = Guard(Policy(), level)
    guard.from_client({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    schema = {"type": "object", "properties": {"flow": {"type": "number", "x-unit": "m3/s"}}}
    guard.from_server(
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "run", "inputSchema": schema}]}}
    )
    call(guard, "gauge", {}, result_of({"flow": {"value": 1250, "unit": "ft3/s"}}))
    quantity = {"name": "run", "arguments": {"flow": {"value": 2000, "unit": "L/s"}}}
    [sent] = guard.from_client({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": quantity})
    assert sent.to == "server" and sent.message["params"]["arguments"] == {"flow": 2}
    bare = call(guard, "run", {"flow": 1250}, {"content": [{"type": "text", "text": "ok"}]}, 3)
    assert bare == {"content": [{"type": "text", "text": "ok"}]}  # a bare number may be the user's own
    wrong = call(guard, "run", {"flow": {"value": 5, "unit": "kWh"}}, {"content": []}, 4)
    assert ("isError" in wrong) is True and "ARGUMENT_UNIT" in json.dumps(wrong)


PASSED = [
    {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": 5}},
    {"jsonrpc": "2.0", "id": 7, "method": "sampling/createMessage", "params": {"messages": []}},
    {"jsonrpc": "2.0", "id": 7, "method": "elicitation/create", "params": {"message": "5?"}},
    {"jsonrpc": "2.0", "id": 8, "result": {"contents": [{"uri": "x", "text": "5"}]}},
    {"jsonrpc": "2.0", "id": 8, "result": {"content": "5 kWh", "task": {"taskId": "x"}}},
    {"jsonrpc": "2.0", "id": 9, "error": {"code": -1, "message": "5"}},
    {"jsonrpc": "2.0", "id": None, "error": {"code": -1, "message": "5"}},
    5,
    "text",
]


@pytest.mark.parametrize("message", PASSED)
def test_what_is_no_call_passes_as_the_object_that_it_is(message: Any) -> None:
    guard = Guard(Policy(), "block")
    guard.from_client({"jsonrpc": "2.0", "id": 8, "method": "resources/read", "params": {"uri": "x"}})
    for send, to in ((guard.from_client, "server"), (guard.from_server, "client")):
        [sent] = send(message)
        assert sent.message is message and sent.to == to


@pytest.mark.parametrize(
    "line",
    [
        b' {"id":1, "jsonrpc":"2.0", "result":{"content":[{"type":"text","text":"5.0"}], "isError":true}}\r\n',
        b'{"jsonrpc":"2.0","id":1,"result":{"task":{"taskId":"x","ttl":1e3}}}\n',
        b'{"jsonrpc":"2.0","id":9,"result":{"x":1.0}}\n',  # of what nobody asked for
        b" []\n",
    ],
)
def test_what_is_left_alone_leaves_as_the_bytes_that_came(line: bytes) -> None:
    guard = Guard(Policy(), "block")
    guard.from_client({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "meter"}})
    message = json.loads(line)
    [sent] = relay_module.through(message, guard.from_server)
    assert encoded(line, message, sent.message) == line


def test_failed_and_unfinished_results_are_left_alone() -> None:
    guard = Guard(Policy(), "block")
    for result in (
        {"content": [{"type": "text", "text": "5"}], "isError": True},
        {"resultType": "input_required", "inputRequests": {}},
        {"task": {"taskId": "x"}},
    ):
        assert call(guard, "meter", {}, result) == result


def test_hostile_results_break_nothing() -> None:
    deep: Any = 1
    for _ in range(200):
        deep = {"a": deep}
    guard = Guard(Policy(), "block", read_places({"meter.$.a": "kWh"}, Policy()))
    for data in (deep, {"a": 10**400}, {"a": float("nan")}, [], {}, "x", {"a": {"value": "1", "unit": 5}}):
        assert call(guard, "meter", {}, {"content": [], "structuredContent": data})
    for result in (
        {"content": None},
        {"content": [5, None, {"type": "text"}]},
        {"content": [{"type": "text", "text": "{"}]},
    ):
        assert isinstance(call(guard, "meter", {}, result), dict)
    for params in (None, [], {"name": 5}, {"name": "x", "arguments": 5}):
        assert guard.from_client({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})


@pytest.mark.parametrize(
    "schema",
    [{"properties": 5}, {"properties": "x"}, {"anyOf": 5}, {"properties": {"a": 5}}, {"$ref": "#/x"}, {"properties": []}, []],
)  # fmt: skip
def test_a_schema_of_no_use_is_passed_on(schema: Any) -> None:
    guard = Guard(Policy(), "block", read_places({"meter.$.a": "kWh"}, Policy()))
    guard.from_client({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    listed = {"tools": [{"name": "meter", "outputSchema": schema}]}
    [sent] = guard.from_server({"jsonrpc": "2.0", "id": 1, "result": listed})
    assert sent.message["result"]["tools"][0]["outputSchema"] == schema


@pytest.mark.parametrize("content", [5, "It is 987.25.", True, {"text": "987.25"}])
def test_content_that_is_no_list_is_read_as_a_text(content: Any) -> None:
    result = call(Guard(Policy(), "warn"), "meter", {}, {"content": content, "structuredContent": HEAT})
    assert texts(result) == [
        content if isinstance(content, str) else json.dumps(content),
        "gllint: call_id tc_1",
    ]


def _unjudged(guard: Guard, request: Any, number: Any = 1) -> bool:
    """Whether a bare number comes through where the server answers a request with it."""
    [sent] = guard.from_client(request)
    assert sent.to == "server"
    answers = guard.from_server({"jsonrpc": "2.0", "id": number, "result": result_of(RAW)})
    return any(
        "987.25" in json.dumps(one.message) for one in answers if not one.message["result"].get("isError")
    )


def test_no_result_passes_by_an_odd_request() -> None:
    """Another way to write its id, arguments that are none, a task, a request that was given up."""

    def request(method: str = "tools/call", **params: Any) -> dict[str, Any]:
        return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}

    for number in ("1", 1.0):
        assert not _unjudged(Guard(Policy(), "block"), request(name="meter"), number)
    for params in ({"name": "meter", "arguments": [5]}, {"name": "meter", "arguments": "x"}, {"name": 5}):
        assert not _unjudged(Guard(Policy(), "block"), request(**params))
    assert not _unjudged(Guard(Policy(), "block"), request("tasks/result", taskId="x"))
    guard = Guard(Policy(), "block", read_places({"meter.$.heat": "kWh"}, Policy()))
    assert call(guard, "meter", {}, {"task": {"taskId": "x"}}, 7)
    guard.from_client(request("tasks/result", taskId="x"))
    [sent] = guard.from_server({"jsonrpc": "2.0", "id": 1, "result": result_of(RAW)})
    assert sent.message["result"]["structuredContent"]["heat"] == {"value": 987.25, "unit": "kWh"}
    guard.from_client(request(name="meter"))
    guard.from_client({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
    assert guard.from_server({"jsonrpc": "2.0", "id": 1, "result": result_of(RAW)}) == []


def _comes_through(answer: bytes, *requests: Any) -> bool:
    """Whether the number of an answer, as it was written, reaches the client of a guard that blocks."""
    guard = Guard(Policy(), "block")
    call_ = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "meter", "arguments": {}}}
    for request in (call_, *requests):
        guard.from_client(request)
    line, message, _ = relay_module.parsed(answer)
    sent = relay_module.through(message, guard.from_server)
    return any(b"987.25" in encoded(line, message, one.message) for one in sent)


@pytest.mark.parametrize(
    "answer",
    [
        '{"id": 1, "method": null, "result": RESULT}',
        '{"id": 1, "method": "notifications/x", "result": RESULT}',
        '{"id": true, "result": RESULT}',
        '{"id": [1], "result": RESULT}',
        '{"id": null, "result": RESULT}',
        '{"result": RESULT}',
        '{"id": 1, "result": RESULT, "result": {}}',
        '{"id": 1, "result": {"structuredContent": {"heat": 987.25}, "structuredContent": {}, "content": []}}',
        '{"id": 1, "result": [RESULT]}',
        '{"id": 1, "result": {"content": [{"type": "Text", "text": "{\\"heat\\": 987.25}"}]}}',
        '{"id": 1, "result": {"content": [{"text": "{\\"heat\\": 987.25}"}]}}',
        '{"id": 1, "result": {"content": [{"type": "resource", "resource": {"text": "{\\"heat\\": 987.25}"}}]}}',
        '{"id": 1, "result": {"structuredContent": {}, "content":'
        ' [{"type": "resource", "resource": {"text": "{\\"heat\\": 987.25}"}}]}}',
    ],
)
def test_no_result_passes_by_an_odd_answer(answer: str) -> None:
    """A method beside it, an id that is none, a key that stands twice, JSON in another kind of block."""
    assert not _comes_through(answer.replace("RESULT", json.dumps(result_of(RAW))).encode())


@pytest.mark.parametrize("method", ["tools/list", "ping"])
def test_no_result_passes_under_the_id_of_another_request(method: str) -> None:
    answer = json.dumps({"jsonrpc": "2.0", "id": 1, "result": result_of(RAW)}).encode()
    assert not _comes_through(answer, {"jsonrpc": "2.0", "id": 1, "method": method})
    both = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"tools": [], **result_of(RAW)}}).encode()
    assert not _comes_through(both, {"jsonrpc": "2.0", "id": 1, "method": method})


def test_true_is_no_repetition_of_a_one() -> None:
    result = {"structuredContent": {"on": True}, "content": [{"type": "text", "text": '{"on": 1}'}]}
    assert call(Guard(Policy(), "block"), "meter", {}, result)["isError"] is True
    result = {"structuredContent": {"on": True}, "content": [{"type": "text", "text": '{"on": true}'}]}
    assert not call(Guard(Policy(), "block"), "meter", {}, result).get("isError")


def test_a_text_that_is_nested_deeply_ends_no_guard() -> None:
    text = f"{'[' * 600}1{']' * 600}"
    for structured in ({"result": text}, {"result": f"{'[' * 600}true{']' * 600}"}):
        result = {"structuredContent": structured, "content": [{"type": "text", "text": text}]}
        assert "isError" not in call(Guard(Policy(), "warn"), "meter", {}, result)


def test_a_resource_within_a_result_gets_its_units() -> None:
    block = {"type": "resource", "resource": {"uri": "x:y", "text": json.dumps(RAW)}}
    guard = Guard(Policy(), "block", read_places({"meter.$.heat": "kWh"}, Policy()))
    answer = call(guard, "meter", {}, {"content": [block]})
    assert json.loads(answer["content"][0]["resource"]["text"]) == {"heat": {"value": 987.25, "unit": "kWh"}}


def test_calls_beyond_a_bound_are_refused_and_not_passed_unseen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "_MOST_OPEN", 1)
    guard = Guard(Policy(), "block")
    for number, to, params in (
        (1, "server", {"name": "meter"}),
        (2, "client", None),
        (3, "client", {"name": "meter"}),
    ):
        [sent] = guard.from_client({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
        assert sent.to == to
    assert "Too many calls" in json.dumps(sent.message) and sent.message["result"]["isError"] is True


def test_the_result_of_a_call_that_was_given_up_long_ago_passes_unseen_by_no_means(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(exchange, "_MOST_OPEN", 3)
    guard = Guard(Policy(), "block")
    for number in range(5):
        guard.from_client(
            {
                "jsonrpc": "2.0",
                "id": number,
                "method": "tools/call",
                "params": {"name": "meter", "arguments": {}},
            }
        )
        params = {"requestId": number}
        guard.from_client({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
    sent = [guard.from_server({"jsonrpc": "2.0", "id": n, "result": result_of(RAW)}) for n in range(6)]
    assert [len(messages) for messages in sent] == [1, 1, 0, 0, 0, 1]
    assert all(messages[0].message["result"]["isError"] is True for messages in sent if messages)
    assert "987" not in json.dumps([messages[0].message for messages in sent if messages])


def test_half_a_character_leaves_as_json_writes_it() -> None:
    data = encoded(b"", None, {"id": "\ud800", "result": "é"})
    assert json.loads(data) == {"id": "\ud800", "result": "é"}


def test_a_message_that_is_too_deep_is_refused_and_its_request_answered() -> None:
    """What Python reads and cannot write again would end the guard."""
    deep = json.loads("[" * 300 + "]" * 300)
    call_ = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "meter"}}
    sent, said, _ = passed_on([call_, {**call_, "id": 2, "params": {"name": "meter", "arguments": deep}}],
                            [{"jsonrpc": "2.0", "id": 1, "result": {"content": deep}}])  # fmt: skip
    assert [(one["id"], "nested brackets" in one["error"]["message"]) for one in sent] == [
        (2, True),
        (1, True),
    ]
    assert said == [f"a message from the {who} was not forwarded to the {other}: it has more than 200 nested brackets"
                    for who, other in (("client", "server"), ("server", "client"))]  # fmt: skip
    shallow = json.loads("[" * 150 + "]" * 150)
    assert passed_on([], [{"jsonrpc": "2.0", "method": "x", "params": shallow}])[0][0]["params"] == shallow


@pytest.mark.parametrize(
    "line", [b'{"id": 1, "x": "\xff"}', b'{"id": 1, "x": ' + b"9" * 5000 + b"}", b'{"id": 1, "x": ' + b"[" * 5000 + b"]" * 5000 + b"}"]
)  # fmt: skip
def test_what_the_guard_cannot_read_the_server_is_not_sent(line: bytes) -> None:
    """A server that can read it would be answered for by nobody."""
    sent, said, served = passed_on([line], [])
    is_read = b"[[" in line and sys.version_info >= (3, 13)  # newer Pythons read brackets of any depth
    what, why = (
        ("message", "it has more than 200 nested brackets")
        if is_read
        else ("line", "it is not a readable JSON message")
    )
    assert served == [] and said == [f"a {what} from the client was not forwarded to the server: {why}"]
    assert [one["error"]["message"] for one in sent] == ([] if is_read else [why])


def test_a_server_that_takes_nothing_is_answered_for() -> None:
    said: list[str] = []

    async def send(*_: Any) -> None:
        await asyncio.sleep(60)

    @contextlib.asynccontextmanager
    async def connect() -> AsyncIterator[Any]:
        async def receive() -> AsyncIterator[bytes]:
            await asyncio.sleep(60)
            yield b""

        yield receive(), send

    reader, writer = os.pipe()
    with os.fdopen(writer, "wb") as pipe, os.fdopen(reader, "rb") as incoming, io.BytesIO() as outgoing:
        pipe.write(b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "meter"}}\n')
        pipe.flush()
        relay = Relay(Guard(Policy()), Transcript(None), said.append, 0.1, client_of(incoming, outgoing))
        with pytest.raises(ServerTrouble, match="has not read its input for 0.1 s"):
            asyncio.run(relay.run(connect))
        assert (
            json.loads(outgoing.getvalue())["error"]["message"]
            == "the server has not read its input for 0.1 s"
        )


def test_a_client_that_reads_nothing_keeps_the_guard_from_no_end() -> None:
    reader, writer = os.pipe()
    with os.fdopen(writer, "wb", buffering=0) as outgoing, open(os.devnull, "rb") as incoming:

        async def send() -> None:
            await asyncio.wait_for(client_of(incoming, outgoing).send(b"x" * 1_000_000, None), 0.1)

        with pytest.raises(TimeoutError):
            asyncio.run(send())
        os.close(reader)


STUBBORN = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
open(sys.argv[1], "w").write(str(os.getpid()))
time.sleep(60)
"""


def test_a_second_signal_leaves_no_server_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay_module, "GRACE", 0.2)
    file = tmp_path / "pid"

    def interrupt() -> None:
        while not (file.exists() and file.read_text()):
            time.sleep(0.01)
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0.1)

    reader, writer = os.pipe()
    with os.fdopen(writer, "wb"), os.fdopen(reader, "rb") as incoming, io.BytesIO() as outgoing:
        monkeypatch.setattr(guarding, "standard_client", lambda: client_of(incoming, outgoing))
        request = guarding.Request((sys.executable, "-IS", "-c", STUBBORN, str(file)), has_trace=False)
        thread = threading.Thread(target=interrupt)
        thread.start()
        assert guarding.run(request, config_for(".", None, True)) == 0
        thread.join()
    with pytest.raises(ProcessLookupError):
        os.kill(int(file.read_text()), 0)


def test_a_guard_that_runs_for_days_takes_away_garbage(monkeypatch: pytest.MonkeyPatch) -> None:
    """``main`` switches this off for short runs."""
    with open(os.devnull, "rb") as incoming, io.BytesIO() as outgoing:
        monkeypatch.setattr(guarding, "standard_client", lambda: client_of(incoming, outgoing))
        gc.disable()
        try:
            guarding.run(
                guarding.Request((sys.executable, "-IS", "-c", ""), has_trace=False),
                config_for(".", None, True),
            )
            assert gc.isenabled()
        finally:
            gc.enable()


def passed_on(asked: list[Any], answered: list[Any]) -> tuple[list[Any], list[str], list[Any]]:
    """What the client is sent, what is said, and what the server is sent, where it answers so once all is asked."""
    said: list[str] = []
    sent: list[Any] = []
    reader, writer = os.pipe()
    with os.fdopen(writer, "wb") as pipe:
        lines = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in asked]
        pipe.writelines(line + b"\n" for line in lines)
    with os.fdopen(reader, "rb") as incoming, io.BytesIO() as outgoing:

        async def receive() -> AsyncIterator[bytes]:
            for one in answered:
                yield json.dumps(one).encode() + b"\n"

        async def send(data: bytes, _: Any) -> None:
            sent.append(json.loads(data))

        async def run() -> None:
            relay = Relay(Guard(Policy()), Transcript(None), said.append, 5, client_of(incoming, outgoing))
            relay._to_server = send
            await relay._from_client()
            with contextlib.suppress(ServerTrouble):
                await relay._from_server(receive())

        asyncio.run(run())
        return [json.loads(line) for line in outgoing.getvalue().splitlines()], said, sent


@pytest.mark.parametrize(
    ("rows", "trouble"),
    [({"meter": "kWh"}, "is not of the form"), ({"meter.$.a b[": "kWh"}, "is not of the form"), ({"m.$.a": "Kwh"}, "is not allowed")],
)  # fmt: skip
def test_a_place_or_a_unit_of_no_use_is_refused(rows: dict[str, str], trouble: str) -> None:
    with pytest.raises(UsageError, match=trouble):
        read_places(rows, Policy())


def test_the_draft_leaves_open_what_nothing_shows() -> None:
    schema = {
        "type": "object",
        "properties": {
            "heat_kwh": {"type": "number"},
            "load": {"type": "number"},
            "rows": {"type": "array", "items": {"type": "object", "properties": {"x": {"type": "integer"}}}},
            "total": {
                "type": "object",
                "properties": {"value": {"type": "number"}, "unit": {"type": "string"}},
            },
        },
    }
    tools = [("meter", schema), ("note", None)]
    text = draft("weather", tools, Policy())
    assert text.splitlines()[0].startswith("# For gllint.toml")
    assert text.splitlines()[1:5] == [
        "[guard.weather.units]",
        '"meter.$.heat_kwh" = "kWh"  # its name says so',
        '# "meter.$.load" = ""',
        '# "meter.$.rows[*].x" = ""',
    ]
    assert "note" in text.splitlines()[-1]


@pytest.mark.parametrize(
    "name", ["a\x1b[31m", "a\x7fb", "a\nb", "a\u2028b", "a\u202eb", "a\x85b", "\U0001d49c", "a\ud800", ""]
)
def test_no_name_of_a_server_brings_control_characters_into_the_draft(name: str) -> None:
    schema = {"type": "object", "properties": {f"{name}_kwh": {"type": "number"}, "x": {"type": "number"}}}
    text = draft(name or "plant", [(name, schema), (f"{name}2", None)], Policy())
    assert all(sign.isprintable() for sign in text.replace("\n", ""))
    if name != "a\ud800":
        [table] = tomllib.loads(text)["guard"].values()
        read_places(table.get("units", {}), Policy())


def test_the_draft_speaks_once_of_all_tools_that_name_nothing() -> None:
    anything = {"type": "object", "additionalProperties": True}
    tools = [(f"get_{number}", anything) for number in range(23)] + [("a", None), ("b", None)]
    lines = [line for line in draft("plant", tools, Policy()).splitlines() if "by hand" in line]
    assert len(lines) == 2
    assert lines[0].startswith(
        "# a and b have no output schemas: write a line for each of their numbers by hand"
    )
    assert "get_5 and 17 more have output schemas that do not name their parts" in lines[1]
    assert '"get_0.$.NAME" = "UNIT"' in lines[1]


OFFERED = [
    ServerTool("meter", {"type": "object", "properties": {"heat_kwh": {"type": "number"}, "load": {"type": "number"}}}),
    ServerTool("site", {"type": "object", "additionalProperties": True}),
]  # fmt: skip


def drafted(folder: Path) -> str:
    return guarding.described(
        OFFERED, ["python", "weather.py"], None, config_for(str(folder), None, isolated=False)
    )


@pytest.mark.parametrize(
    ("name", "text", "heading"),
    [
        ("gllint.toml", "", "[guard.weather.units]"),
        ("gllint.toml", 'unit-packs = ["counts"]\n', "[guard.weather.units]"),
        ("gllint.toml", '[tool.gllint]\nunit-packs = ["counts"]\n', "[tool.gllint.guard.weather.units]"),
        ("pyproject.toml", '[tool.gllint]\nunit-packs = ["counts"]\n', "[tool.gllint.guard.weather.units]"),
    ],
)
def test_the_draft_is_right_behind_the_file_that_is_in_force(
    tmp_path: Path, name: str, text: str, heading: str
) -> None:
    file = tmp_path / name
    file.write_text(text)
    first = drafted(tmp_path)
    assert heading in first.splitlines() and "# site has an output schema that does not name" in first
    file.write_text(text + first)
    config = config_for(str(tmp_path), None, isolated=False)
    assert config.guard == {"weather": {"units": {"meter.$.heat_kwh": "kWh"}}}
    assert config.rules.policy.packs == (("counts",) if text else ())
    for _ in range(2):  # again: nothing but comments
        again = drafted(tmp_path)
        assert heading in again and '# "meter.$.load" = ""' in again and "heat_kwh" not in again
        file.write_text(file.read_text() + again)
    assert config_for(str(tmp_path), None, isolated=False).guard == config.guard


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (["python", "weather.py"], "weather"),
        (["npx", "-y", "@acme/weather"], "weather"),
        (["uv", "run", "servers/weather.py", "--port", "1"], "weather"),
        (["/usr/bin/python3.12", "-m", "weather"], "weather"),
        (["node"], "server"),
    ],
)
def test_a_server_is_called_as_its_program(command: list[str], name: str) -> None:
    assert server_name(command) == name
    assert server_name((), "https://weather.example.org/mcp") == "weather"


def test_the_lines_for_a_client_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["mcp", "--guard", "--level", "block", "--install", "cursor", "--", "python", "weather.py"]
    assert commands.run(arguments) == 0
    printed = capsys.readouterr()
    file, _, text = printed.out.partition(":\n")
    assert file == ".cursor/mcp.json"
    said = re.fullmatch(r'If the client cannot find "gllint", use its full path: "(.*)".\n', printed.err)
    assert said is not None and os.path.isabs(said[1])
    assert json.loads(text) == {
        "mcpServers": {
            "weather": {
                "command": "gllint",
                "args": ["mcp", "--guard", "--level", "block", "--", "python", "weather.py"],
            }
        }
    }
    for wrong in (["--install", "x"], ["--level", "block"], ["--guard", "--describe"]):
        with pytest.raises(UsageError):
            commands.run(["mcp", *wrong, "--", "python", "weather.py"])


def test_headers_go_with_the_protocol() -> None:
    assert http_headers({"method": "tools/list", "id": 1}, "2025-06-18") == {
        "mcp-protocol-version": "2025-06-18"
    }
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    message = {"method": "tools/call", "id": 1, "params": {"name": "meter", "_meta": meta}}
    assert http_headers(message, None) == {
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "meter",
    }


# ------------------------------------------------------------------------------------------------ a real process

SERVER = """
import json, sys, time
for line in sys.stdin:
    message = json.loads(line)
    name = message.get("params", {}).get("name")
    if name == "die":
        sys.exit(3)
    if name == "garbage":
        print("oops\\n" * 200, flush=True)
    if name == "hang":
        continue
    result = {"content": [{"type": "text", "text": json.dumps({"heat": {"value": 12.5, "unit": "kWh"}})}]}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


def relayed(
    tmp_path: Path, *tools: str, timeout: float = 20.0
) -> tuple[list[dict[str, Any]], str, list[str]]:
    """What the client of a real server reads for its calls, what went wrong with the server, and what was told."""
    read, write = os.pipe()
    with open(write, "wb") as asking:
        for number, tool in enumerate(tools, 1):
            request = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": tool}}
            asking.write(json.dumps(request).encode() + b"\n")
    said: list[str] = []
    trouble = ""
    transcript = Transcript(str(tmp_path / "state" / "trace.jsonl"))
    with open(read, "rb") as incoming, open(tmp_path / "out", "wb") as outgoing:
        command = [sys.executable, "-S", "-c", SERVER]

        async def relay() -> None:
            client = client_of(incoming, outgoing)
            await Relay(Guard(Policy()), transcript, said.append, timeout, client).run(
                lambda: started(command)
            )

        try:
            asyncio.run(relay())
        except ServerTrouble as error:
            trouble = str(error)
    transcript.close()
    lines = (tmp_path / "out").read_text().splitlines()
    return [json.loads(line) for line in lines], trouble, said


def test_calls_go_to_the_server_and_back_and_into_the_trace(tmp_path: Path) -> None:
    answers, trouble, _ = relayed(tmp_path, "meter", "meter")
    assert [answer["result"]["_meta"]["gllint/call_id"] for answer in answers] == ["tc_1", "tc_2"]
    assert trouble == ""
    trace = tmp_path / "state" / "trace.jsonl"
    assert trace.stat().st_mode & 0o777 == 0o600
    run = [json.loads(line) for line in trace.read_text().splitlines()]
    assert len(run) == 4
    run.append({"message": {"role": "assistant", "content": {"type": "text", "text": "12.5 kWh, 14 kWh"}}})
    assert [number["verdict"] for number in audit_run(run).numbers] == ["sourced", "unsourced"]


@pytest.mark.parametrize(
    ("tool", "trouble"),
    [
        ("die", "the server has ended with status 3"),
        ("garbage", "the server writes lines that are not messages"),
    ],
)
def test_a_server_that_dies_or_floods_leaves_no_request_without_an_answer(
    tool: str, trouble: str, tmp_path: Path
) -> None:
    answers, told, _ = relayed(tmp_path, "meter", tool)
    assert told == trouble
    assert answers[0]["result"]["content"] and answers[1]["error"]["message"] == trouble


def test_a_server_that_hangs_is_answered_for(tmp_path: Path) -> None:
    answers, trouble, _ = relayed(tmp_path, "hang", timeout=0.2)
    assert [answer["id"] for answer in answers] == [1] and "error" in answers[0] and trouble == ""


def test_a_server_that_cannot_be_started_is_told(tmp_path: Path) -> None:
    async def start() -> None:
        async with started([str(tmp_path / "nowhere")]):
            pass

    with pytest.raises(ServerTrouble, match="cannot be started"):
        asyncio.run(start())


def test_late_answers_are_seen_by_nobody() -> None:
    guard = Guard(Policy())
    guard.from_client({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "meter"}})
    assert guard.give_up() == [1] and guard.pending == []
    assert guard.from_server({"jsonrpc": "2.0", "id": 1, "result": {}}) == []
    assert guard.from_server({"jsonrpc": "2.0", "id": 1, "result": {}}) == [
        Sent("client", {"jsonrpc": "2.0", "id": 1, "result": {}})
    ]


def test_what_is_no_description_is_no_tool() -> None:
    assert ServerTool("x", None).trouble is None and UnitPlaces({}).in_schema("x", 5) == 5


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("8000", ("127.0.0.1", 8000)), ("localhost:1", ("localhost", 1)), ("[::1]:8000", ("::1", 8000)),
        ("x", None), ("a:b", None), ("1:2:3", None), ("127.0.0.1", None), ("a:99999", None), ("", None),
    ],
)  # fmt: skip
def test_an_address_is_a_host_and_a_port(text: str, address: Any) -> None:
    assert read_address(text) == address


def test_the_tool_that_verifies_says_what_is_wrong_at_each_level_but_shadow() -> None:
    said: list[str] = []
    arguments = {"message": "The efficiency is 74 %.", "claims": []}
    warning = Guard(Policy(), "warn", tell=said.append)
    result = call(warning, "verify_answer", arguments, None)
    assert texts(result)[0] == arguments["message"] and result["isError"] is False
    assert texts(result)[1].startswith("gllint: [NO_SOURCE] '74' at position 18")
    assert said[0].startswith("verify_answer: [NO_SOURCE]") and warning.summary() == "NO_SOURCE: 1"
    said.clear()
    blocking = Guard(Policy(), "block", tell=said.append)
    assert call(blocking, "verify_answer", arguments, None)["isError"] is True
    assert not said and blocking.summary() == "NO_SOURCE: 1"
    said.clear()
    shadow = Guard(Policy(), "shadow", tell=said.append)
    assert texts(call(shadow, "verify_answer", arguments, None)) == [arguments["message"]]
    assert not said and shadow.summary() == "NO_SOURCE: 1"


def test_a_plain_message_is_judged_by_what_the_tools_returned() -> None:
    guard = Guard(Policy(), "block")
    heat = {"content": [], "structuredContent": {"heat": {"value": 12.5, "unit": "kWh"}}}
    call(guard, "meter", {}, heat)
    said = call(guard, "verify_answer", {"message": "It used 12.5 kWh, or 0.0125 MWh."}, None)
    assert said["isError"] is False and texts(said)[0] == "It used 12.5 kWh, or 0.0125 MWh."
    wrong = call(guard, "verify_answer", {"message": "It used 12.5 MWh."}, None)
    assert wrong["isError"] is True and "[MISLABELLED]" in texts(wrong)[0] and "is in kWh" in texts(wrong)[0]
    claims = '[{"source_call_id": "tc_1", "path": "$.heat"}]'
    cited = call(guard, "verify_answer", {"message": "It used {{claim:0}}.", "claims": claims}, None)
    assert texts(cited)[0] == "It used 12.50 kWh."


@pytest.mark.parametrize("text", ['{"load": 987.25}', '[{"load": 987.25}]'])
def test_a_text_that_is_json_is_judged_as_its_value(text: str) -> None:
    result = {"content": [{"type": "text", "text": text}], "structuredContent": {"result": text}}
    refused = call(Guard(Policy(), "block"), "meter", {}, result)
    assert refused["isError"] is True and "987" not in json.dumps(refused)
    place = "meter.$.load" if text[0] == "{" else "meter.$[*].load"
    guard = Guard(Policy(), "block", read_places({place: "kW"}, Policy()))
    passed = call(guard, "meter", {}, result)
    assert passed["isError"] is not True if "isError" in passed else True
    assert passed["structuredContent"] == {"result": texts(passed)[0]}
    assert '{"value": 987.25, "unit": "kW"}' in texts(passed)[0]


@pytest.mark.parametrize(
    ("data", "row"),
    [
        ({"heat": 90}, "$.result.heat"),
        ({"heat": 90}, "$.heat"),
        ({"rows": [{"heat": 90}, {"heat": 8}]}, "$.result.rows[*].heat"),
        ({"rows": [{"heat": 90}, {"heat": 8}]}, "$.rows[*].heat"),
        ([{"heat": 90}, {"heat": 8}], "$.result[*].heat"),
        ([{"heat": 90}, {"heat": 8}], "$[*].heat"),
        (90, "$.result"),
        (90, "$"),
        ([90, 8], "$.result[*]"),
        ([90, 8], "$[*]"),
    ],
)
def test_one_row_gives_its_unit_to_what_is_wrapped_and_to_its_text(data: Any, row: str) -> None:
    # As FastMCP sends what is no object, or a dictionary of no class: an element of a list has a text of its own.
    parts = data if isinstance(data, list) else [data]
    content = [{"type": "text", "text": json.dumps(part)} for part in parts]
    guard = Guard(Policy(), "block", read_places({f"live.{row}": "kWh"}, Policy()))
    result = call(guard, "live", {}, {"content": content, "structuredContent": {"result": data}})
    assert "isError" not in result
    shown = [json.loads(text) for text in texts(result)[:-1]]
    assert result["structuredContent"] == {"result": shown if isinstance(data, list) else shown[0]}
    assert json.dumps(shown).count('"unit": "kWh"') == json.dumps(data).count("90") + json.dumps(data).count(
        "8"
    )


def test_rows_of_both_forms_stand_side_by_side() -> None:
    rows = {"live.$.result.heat": "kWh", "live.$.area": "m2"}
    guard = Guard(Policy(), "block", read_places(rows, Policy()))
    data = {"heat": 90, "area": 5}
    content = [{"type": "text", "text": json.dumps(data)}]
    result = call(guard, "live", {}, {"content": content, "structuredContent": {"result": data}})
    assert json.loads(texts(result)[0]) == result["structuredContent"]["result"]
    for path in ("$.heat", "$.result.heat"):  # the model may have read either
        claim = {"source_call_id": "tc_1", "path": path, "quantity": {"value": 90, "unit": "kWh"}}
        answer = call(guard, "verify_answer", {"message": "It used {{claim:0}}.", "claims": [claim]}, None)
        assert texts(answer)[0] == "It used 90.00 kWh."


@pytest.mark.parametrize("level", ["block", "warn", "shadow"])
def test_a_bare_number_in_a_text_beside_the_structured_content_is_told(level: Any) -> None:
    said: list[str] = []
    guard = Guard(Policy(), level, tell=said.append)
    result = call(
        guard,
        "meter",
        {},
        {"content": [{"type": "text", "text": '{"cost": 987.25}'}], "structuredContent": HEAT},
    )
    assert guard.summary() == "RESULT_SCHEMA: 1"
    assert (result.get("isError") is True) == (level == "block")
    assert any('"meter.$.cost"' in text for text in said) == (level != "shadow")
    assert len(said) == {"block": 2, "warn": 1, "shadow": 0}[level]


def test_the_schema_of_a_wrapped_result_is_declared_by_either_row() -> None:
    wrapped = {"type": "object", "properties": {"result": {"type": "number"}}, "required": ["result"]}
    for row in ("live.$", "live.$.result"):
        schema = read_places({row: "kWh"}, Policy()).in_schema("live", wrapped)
        assert schema["properties"]["result"]["properties"]["unit"] == {"const": "kWh"}


def test_what_a_configuration_wants_is_told_once_on_standard_error() -> None:
    for level in ("warn", "block"):
        said: list[str] = []
        guard = Guard(Policy(), level, tell=said.append, table="guard.plant.units")  # type: ignore[arg-type]
        for _ in range(3):
            call(guard, "reading", {}, result_of({"rows": [{"p": 1.5}, {"p": 2.5}], "flow": 2}))
        told = [text for text in said if "Fill in" in text]
        assert told == [
            "reading: [RESULT_SCHEMA] 2 bare numbers. "
            'Fill in the unit of "reading.$.rows[*].p", "reading.$.flow" in [guard.plant.units] of the configuration.'
        ]
        assert len(said) == (1 if level == "warn" else 4)  # each refusal


def test_a_unit_that_the_policy_lacks_is_told_on_standard_error() -> None:
    for level in ("warn", "block"):
        said: list[str] = []
        guard = Guard(Policy(), level, tell=said.append)  # type: ignore[arg-type]
        call(guard, "search", {}, result_of({"hits": {"value": 3, "unit": "row"}}))
        assert "Unit 'row' is not allowed" in said[-1] and "counts" in said[-1]


def test_all_bare_numbers_are_named_with_the_rows_that_they_want() -> None:
    data = {"flow": 987.25, "rows": [{"p": 1.5}, {"p": 2.5}]}
    for level in ("warn", "block"):
        told: list[str] = []
        guard = Guard(Policy(), level, tell=told.append, table="guard.plant.units")  # type: ignore[arg-type]
        shown = "\n".join(texts(call(guard, "reading", {}, result_of(data))))
        said = "\n".join(told)
        assert 'Fill in the unit of "reading.$.flow", "reading.$.rows[*].p" in [guard.plant.units]' in said
        assert "Fill in" not in shown and "result_schema" not in shown
        if level == "block":
            assert "at $.flow: a raw number" in shown and "so at $.rows[0].p, $.rows[1].p" in shown
    many = {f"x{number}": number + 0.5 for number in range(50)}
    told = []
    call(Guard(Policy(), tell=told.append), "reading", {}, result_of(many))
    assert '"reading.$.x7" and 42 more in' in told[0] and "$.x8" not in told[0]


def test_rows_that_name_nothing_of_the_server_are_told() -> None:
    rows = {
        "metr.$.heat": "kWh",
        "meter.$.haet": "kWh",
        "meter.$.rows[*].x": "kWh",
        "open.$.x": "kWh",
        "meter.$.more.y": "m",
    }
    said: list[str] = []
    guard = Guard(Policy(), "warn", read_places(rows, Policy()), said.append, "guard.plant.units")
    row = {"type": "object", "properties": {"x": {"type": "number"}}}
    properties = {
        "heat": {"type": "number"},
        "rows": {"type": "array", "items": row},
        "more": {"type": "object"},
    }
    tools = [
        {"name": "meter", "inputSchema": {}, "outputSchema": {"type": "object", "properties": properties}},
        {"name": "open", "inputSchema": {}},
    ]
    for number in (1, 2):
        guard.from_client({"jsonrpc": "2.0", "id": number, "method": "tools/list"})
        guard.from_server({"jsonrpc": "2.0", "id": number, "result": {"tools": tools}})
    assert said == [
        '[guard.plant.units] "meter.$.haet": the output schema of "meter" has no such number',
        '[guard.plant.units] "metr.$…": the server has no tool "metr"; did you mean \'meter\'?',
    ]


def test_a_row_of_no_use_is_told_with_its_line_and_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "gllint.toml").write_text('[guard.weather.units]\n"a.$.b" = "kWh"\n"a.$.c" = "bar"\n')
    config = config_for(str(tmp_path), None, isolated=False)
    with pytest.raises(UsageError) as caught:
        guarding.units_for(config, guarding.Request(("python", "weather.py")))
    assert str(caught.value).startswith(f"{tmp_path}/gllint.toml:3: guard: the unit of")
    assert "'bar'" in str(caught.value) and 'unit-packs = ["si"]' in str(caught.value)
    guarding.units_for(config, guarding.Request(("python", "wether.py")))
    assert "no table [guard.wether.units]; did you mean 'weather'?" in capsys.readouterr().err


def test_a_server_that_never_came_up_is_an_error() -> None:
    async def main(status: int) -> None:
        async with started([sys.executable, "-S", "-E", "-c", f"raise SystemExit({status})"]):
            pass

    asyncio.run(main(0))
    with pytest.raises(ServerTrouble, match="ended with status 2"):
        asyncio.run(main(2))


def test_what_comes_behind_half_a_line_is_a_line_of_its_own(tmp_path: Path) -> None:
    """A guard was killed while writing: the next one's first message was a part of that line, and nobody could
    read it.
    """
    path = tmp_path / "trace.jsonl"
    path.write_text('{"at": 1, "from": "server", "mess')
    for number in range(2):
        transcript = Transcript(str(path))
        transcript.write("client", {"id": number})
        transcript.close()
    half, *whole = path.read_text().splitlines()
    assert half.endswith('"mess')
    assert [json.loads(line)["message"]["id"] for line in whole] == [0, 1]


def test_a_second_session_in_one_file_is_a_conversation_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    request = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "meter", "arguments": {}},
    }
    for result in (HEAT, {"heat": {"value": 7, "unit": "kWh"}}):
        transcript = Transcript(str(path))
        transcript.write("client", request)
        transcript.write("server", {"jsonrpc": "2.0", "id": 1, "result": result_of(result)})
        answer = {"role": "assistant", "content": {"type": "text", "text": "It used 12.5 kWh."}}
        transcript.write("guard", answer)
        transcript.close()
    records = [Reader().read(json.loads(line)) for line in path.read_text().splitlines()]
    numbers = [number for one in judged_records(records) for number in one.numbers]
    assert [number.verdict for number in numbers] == ["sourced", "unsourced"]
    assert len({number.conversation for number in numbers}) == 2


def test_a_row_that_meets_no_number_is_told_at_the_end() -> None:
    rows = {"meter.$.heat": "kWh", "meter.$.rows[*].areas": "m2", "other.$.x": "m2"}
    places = read_places(rows, Policy())
    call(Guard(Policy(), "warn", places), "meter", {}, result_of({"heat": 5, "rows": [{"area": 3}]}))
    assert places.idle() == ['"meter.$.rows[*].areas": no result of "meter" had a bare number there']


def test_a_relative_path_of_a_command_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "weather.py").touch()
    monkeypatch.chdir(tmp_path)
    assert commands.run(["mcp", "--guard", "--install", "cursor", "--", "python", "weather.py"]) == 0
    line = f'If the client starts the server in another folder, write "{tmp_path / "weather.py"}" instead of "weather.py".'
    assert line in capsys.readouterr().err


FORMS = {
    "a number": ("12500", "meter.$"),
    "a number with separators": ("12,500", "meter.$"),
    "a repr": ("{'heat': 987.25, 'ok': True}", "meter.$.heat"),
    "YAML": ("# today\nheat: 987.25\nrows:\n  p: 7.5", "meter.$.rows.p"),
    "CSV": ("site,heat\nnorth,987.25\nsouth,3.5", "meter.$[*].heat"),
    "a fenced block": ('See:\n```json\n{"heat": 987.25}\n```\nDone.', "meter.$.heat"),
}


@pytest.mark.parametrize("form", FORMS)
def test_data_are_judged_in_whatever_form_a_text_has_them(form: str) -> None:
    text, row = FORMS[form]
    result = {"content": [{"type": "text", "text": text}]}
    told: list[str] = []
    blocked = call(Guard(Policy(), "block", tell=told.append), "meter", {}, result)
    assert blocked["isError"] is True and "987" not in json.dumps(blocked)
    assert f'"{row}"' in told[-1]
    shadow = Guard(Policy(), "shadow")
    assert texts(call(shadow, "meter", {}, result))[0] == text
    assert shadow.summary() == "RESULT_SCHEMA: 1"


@pytest.mark.parametrize(
    "text", ["ok", "Note: see 12 pages.", "count: 5", "a, b\nc", "[draft", "12 of 13", "x: [1"]
)
def test_prose_and_counts_are_no_bare_numbers(text: str) -> None:
    guard = Guard(Policy(), "block")
    result = call(guard, "meter", {}, {"content": [{"type": "text", "text": text}]})
    assert texts(result)[0] == text and "isError" not in result
    assert ("gllint: call_id tc_1" in texts(result)) is any(map(str.isdigit, text))
    is_counted = any(map(str.isdigit, text)) and text != "count: 5"
    assert guard.summary() == ("texts with numbers, not judged: 1" if is_counted else "")


def test_a_number_in_another_form_gets_its_unit() -> None:
    places = read_places({"meter.$.heat": "kWh", "scale.$": "kg"}, Policy())
    guard = Guard(Policy(), "block", places)
    result = call(guard, "meter", {}, {"content": [{"type": "text", "text": "heat: 987.25"}]})
    assert json.loads(texts(result)[0]) == {"heat": {"value": 987.25, "unit": "kWh"}}
    result = call(guard, "scale", {}, {"content": [{"type": "text", "text": "12"}]})
    assert json.loads(texts(result)[0]) == {"value": 12, "unit": "kg"}


def test_the_result_within_a_task_is_judged() -> None:
    guard = Guard(Policy(), "block")
    done = {"taskId": "x", "status": "completed", "result": result_of(RAW)}
    for method in ("tasks/get", "tasks/update"):
        guard.from_client({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"taskId": "x"}})
        [sent] = guard.from_server({"jsonrpc": "2.0", "id": 1, "result": done})
        assert sent.message["result"]["result"]["isError"] is True
    [sent] = guard.from_server({"jsonrpc": "2.0", "method": "notifications/tasks/status", "params": done})
    assert sent.message["params"]["result"]["isError"] is True
    working = {"jsonrpc": "2.0", "method": "notifications/tasks/status", "params": {"taskId": "x"}}
    assert guard.from_server(working)[0].message is working


def test_an_output_schema_declares_units() -> None:
    schema = {
        "type": "object",
        "properties": {
            "heat": {"type": "number", "x-unit": "kWh"},
            "rows": {"type": "array", "items": {"properties": {"p": {"type": "number", "unit": "W"}}}},
        },
    }
    guard = Guard(Policy(), "block")
    guard.from_client({"jsonrpc": "2.0", "id": 9, "method": "tools/list"})
    tools = [{"name": "meter", "inputSchema": {}, "outputSchema": schema}]
    guard.from_server({"jsonrpc": "2.0", "id": 9, "result": {"tools": tools}})
    data = {"heat": 987.25, "rows": [{"p": 7.5}]}
    result = call(guard, "meter", {}, result_of(data))
    assert result["structuredContent"] == data and "isError" not in result
    claim = [{"source_call_id": "tc_1", "path": "$.heat"}]
    verified = call(
        guard, "verify_answer", {"message": "It is {{claim:0}}.", "claims": json.dumps(claim)}, None, 2
    )
    assert texts(verified)[0] == "It is 987.25 kWh."
    assert call(guard, "meter", {}, result_of({**data, "x": 5.5}), 3)["isError"] is True


def test_decimals_leave_as_they_came() -> None:
    numbers = ("1.234567890123456789", "1e-400", "1E400", "-0.1000", "0.1")
    for number in numbers:
        guard = Guard(Policy(), "shadow")
        guard.from_client(
            {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "a", "arguments": {}}}
        )
        answer = {"content": [], "structuredContent": {"heat": {"value": "NUMBER", "unit": "kWh"}}}
        line = json.dumps({"jsonrpc": "2.0", "id": 1, "result": answer}).replace('"NUMBER"', number).encode()
        line, message, _ = relay_module.parsed(line)
        [sent] = relay_module.through(message, guard.from_server)
        written = encoded(line, message, sent.message)
        assert (
            b"call_id" in written
            and f'"value": {number.rstrip("0") if number == "-0.1000" else number}'.encode() in written
        )


def test_a_trace_shows_the_numbers_that_no_schema_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    guard, lines = Guard(Policy(), "shadow"), []
    for number, data in enumerate(
        ({"heat": 12.5, "rows": [{"x": "a"}, {"p_kw": 1.5}]}, {"heat": 3, "flow": 2.5})
    ):
        request = {
            "jsonrpc": "2.0",
            "id": number,
            "method": "tools/call",
            "params": {"name": "meter", "arguments": {}},
        }
        guard.from_client(request)
        [sent] = guard.from_server(
            {"jsonrpc": "2.0", "id": number, "result": {"content": [text_block(data)]}}
        )
        lines += [{"from": "client", "message": request}, {"from": "server", "message": sent.message}]
    (tmp_path / "trace.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    tools = [ServerTool("meter", None), ServerTool("other", None)]
    config = config_for(".", None, True)
    text = guarding.described(tools, ("python", "plant.py"), None, config, "trace.jsonl")
    rows = [
        '# "meter.$.heat" = ""',
        '"meter.$.rows[*].p_kw" = "kW"  # its name says so',
        '# "meter.$.flow" = ""',
    ]
    assert [line for line in text.splitlines() if "meter" in line] == rows
    for wrong in ("none.jsonl", "broken.jsonl"):
        (tmp_path / "broken.jsonl").write_text("{")
        with pytest.raises(UsageError, match=f"{wrong}: cannot be read as a trace of `gllint mcp --guard`"):
            guarding.described(tools, ("python", "plant.py"), None, config, wrong)


def text_block(data: Any) -> dict[str, Any]:
    return {"type": "text", "text": json.dumps(data)}


def test_the_result_of_one_call_is_judged() -> None:
    config, request = config_for(".", None, True), guarding.Request(("python", "plant.py"))
    bare = {"content": [text_block(RAW)]}
    text, has_findings = guarding.judge_call("meter", {"site": 7}, bare, request, config)
    assert has_findings and '"meter.$.heat" in [guard.plant.units]' in text
    assert guarding.judge_call("meter", {}, result_of(HEAT), request, config) == (
        "meter: no number without a unit\n",
        False,
    )
    prose = {"content": [{"type": "text", "text": "It used 12.5 kWh"}]}
    assert guarding.judge_call("meter", {}, prose, request, config) == (
        "meter: its text was not judged\n",
        False,
    )
    failed = {"content": [{"type": "text", "text": "no"}], "isError": True}
    assert "the call failed" in guarding.judge_call("meter", {}, failed, request, config)[0]


def test_a_call_is_named_with_its_arguments() -> None:
    for wrong in ("meter {", "meter [1]", ""):
        with pytest.raises(UsageError, match="--call"):
            commands.run(["mcp", "--call", wrong, "--", "python", "weather.py"])
    with pytest.raises(UsageError, match="--from needs --describe"):
        commands.run(["mcp", "--from", "x", "--", "python", "weather.py"])


def test_a_starter_of_windows_names_no_server() -> None:
    assert server_name(("npx.cmd", "-y", "@acme/weather")) == "weather"
    assert server_name(("C:\\node\\npx.CMD", "-y", "@acme/weather")) == "weather"
