"""The guard's parts by themselves, a row for each case: names, drafts, places of units, traces, messages at the bounds."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from gllint.errors import UsageError
from gllint.guard import clients, exchange, transcript
from gllint.guard.draft import draft, names_nothing
from gllint.guard.exchange import Guard, Sent
from gllint.guard.naming import server_name
from gllint.guard.transcript import Transcript, default_path
from gllint.guard.unit_places import UnitPlaces, place_of, read_places
from gllint.shown import toml_key
from gllint_runtime import Policy

# ------------------------------------------------------------------------------------------- names and clients


@pytest.mark.parametrize(
    ("command", "url", "name"),
    [
        (["/usr/bin/node", "weather.js"], None, "weather"),
        (["--flag", "-x", "weather.py"], None, "weather"),
        (["/", "weather.py"], None, "weather"),
        (["python2", "python3.12", "servers/weather/"], None, "weather"),
        (["my weather+server.py"], None, "my-weather-server"),
        (["weather.v2.py"], None, "weather.v2"),
        (["pythonic"], None, "pythonic"),
        ([], None, "server"),
        (["/"], None, "server"),
        (["weather.py"], "https://www.plant.example:8000/mcp", "plant"),
        ([], "http://127.0.0.1/mcp", "127"),
        ([], "nowhere", "server"),
    ],
)
def test_a_server_has_the_name_of_its_program_or_host(command: list[str], url: str | None, name: str) -> None:
    assert server_name(command, url) == name


def test_the_lines_of_a_client_are_whole() -> None:
    assert clients.installation("cursor", ["python", "ürban.py"], None, None) == (
        ".cursor/mcp.json:\n"
        '{\n  "mcpServers": {\n    "ürban": {\n      "command": "gllint",\n      "args": [\n        "mcp",\n'
        '        "--guard",\n        "--",\n        "python",\n        "ürban.py"\n      ]\n    }\n  }\n}\n'
    )
    lines = clients.installation("cursor", [], "https://plant.example/mcp", "block").partition(":\n")[2]
    assert json.loads(lines)["mcpServers"]["plant"]["args"] == [
        "mcp", "--guard", "--level", "block", "--url", "https://plant.example/mcp",
    ]  # fmt: skip


def test_this_program_is_found_where_it_was_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started, neighbour, elsewhere = (tmp_path / name / "gllint" for name in ("started", "bin", "path"))
    for file in (started, neighbour, elsewhere):
        file.parent.mkdir()
        file.touch(0o755)
    (tmp_path / "other").touch()
    monkeypatch.setenv("PATH", str(elsewhere.parent))
    monkeypatch.setattr(sys, "executable", str(neighbour.parent / "python"))
    monkeypatch.chdir(started.parent)
    monkeypatch.setattr(sys, "argv", ["gllint"])
    assert clients.own_program() == str(started)
    for other in (str(tmp_path / "other"), str(tmp_path / "gone" / "gllint")):
        monkeypatch.setattr(sys, "argv", [other])
        assert clients.own_program() == str(neighbour)
    neighbour.unlink()
    assert clients.own_program() == str(elsewhere)
    elsewhere.unlink()
    assert clients.own_program() == "gllint"


# ------------------------------------------------------------------------------------------------ transcripts


def test_a_trace_holds_what_it_has_room_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time", lambda: 1.23456)
    line = b'{"at": 1.235, "from": "client", "message": "\\u00e9\\ud800"}\n'
    path = tmp_path / "new" / "trace.jsonl"
    monkeypatch.setattr(transcript, "_MOST_BYTES", 2 * len(line))
    kept = Transcript(str(path))
    for message in ("é\ud800", "é\ud800", "", ""):
        kept.write("client", message)
    kept.close()
    kept.close()
    assert path.read_bytes() == 2 * line
    assert path.stat().st_mode & 0o777 == 0o600 and path.parent.stat().st_mode & 0o777 == 0o700
    monkeypatch.setattr(transcript, "_MOST_BYTES", 10_000)
    monkeypatch.chdir(path.parent)
    again = Transcript("trace.jsonl")
    again.write("client", 5)
    again.write("server", 6, "s1")
    again.close()
    own, other = (json.loads(line) for line in path.read_bytes().splitlines()[2:])
    assert str(os.getpid()) in own["session_id"] and other["session_id"] == "s1"
    Transcript(None).write("client", 5)


def test_a_trace_that_cannot_be_written_is_told_or_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link.jsonl").symlink_to("elsewhere.jsonl")
    for path in (tmp_path, tmp_path / "link.jsonl"):
        with pytest.raises(UsageError, match=f"^{path}: cannot be written: .+"):
            Transcript(str(path))
    Transcript("/dev/null").write("client", 5)
    kept = Transcript(str(tmp_path / "trace.jsonl"))

    def full(*_: Any) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        kept.write("client", 5)
    kept.write("client", 6)
    assert (tmp_path / "trace.jsonl").read_bytes() == b""


def test_a_session_has_a_file_of_its_own() -> None:
    path = default_path("state")
    assert (
        path is not None
        and path.startswith(os.path.join("state", "guard", "2"))
        and path.endswith(f"-{os.getpid()}.jsonl")
    )
    assert default_path(None) is None


# -------------------------------------------------------------------------------------------------------- drafts

NUMBER = {"type": "number"}


def schema_of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("weather-2_b", "weather-2_b"),
        ("a b", '"a b"'),
        ("é", '"é"'),
        ("", '""'),
        ("a.b", '"a.b"'),
        ("-", '"-"'),
    ],
)
def test_a_name_is_a_part_of_a_key(name: str, key: str) -> None:
    assert toml_key(name) == key


@pytest.mark.parametrize(
    ("schema", "rows"),
    [
        (schema_of(heat_kwh=NUMBER), ['"meter.$.heat_kwh" = "kWh"  # its name says so']),
        (schema_of(heat=NUMBER, größe=NUMBER), ['# "meter.$.heat" = ""', '# "meter.$.größe" = ""']),
        (schema_of(rows={"type": "array", "items": NUMBER}), ['# "meter.$.rows[*]" = ""']),
        (schema_of(pair={"type": "array", "prefixItems": [NUMBER]}), ['# "meter.$.pair[*]" = ""']),
        (schema_of(flow_rows=NUMBER), ['# "meter.$.flow_rows" = ""']),
        (NUMBER, ['# "meter.$" = ""']),
        (schema_of(**{"a.b": NUMBER, "a[b": NUMBER, "": NUMBER}), ["# No tool declares a bare number in an output schema."]),
        (schema_of(note={"type": "string"}), ["# No tool declares a bare number in an output schema."]),
    ],
)  # fmt: skip
def test_a_draft_has_a_row_for_each_bare_number(schema: Any, rows: list[str]) -> None:
    lines = draft("plant", [("meter", schema)], Policy()).splitlines()
    assert lines == ["# For gllint.toml; in a pyproject.toml the heading is [tool.gllint.guard.plant.units].",
                     "[guard.plant.units]", *rows]  # fmt: skip
    assert draft("plant", [("meter", schema)], Policy(), "tool.gllint.").splitlines() == [
        "[tool.gllint.guard.plant.units]", *rows,
    ]  # fmt: skip


def test_a_draft_beside_rows_is_comments_alone() -> None:
    tools = [("meter", schema_of(heat_kwh=NUMBER, load=NUMBER))]
    beside = draft("plant", tools, Policy(), "", {"meter.$.load": "kW"})
    assert beside.splitlines() == [
        "# [guard.plant.units] is here already; move these lines there:",
        '# "meter.$.heat_kwh" = "kWh"  # its name says so',
    ]
    assert draft("plant", tools, Policy(), "", {"meter.$.heat_kwh": "kWh"}).splitlines()[1:] == [
        '# "meter.$.load" = ""'
    ]
    assert draft("plant", tools, Policy(), "", {"meter.$.heat_kwh": "kWh", "meter.$.load": "kW"}) == (
        "# [guard.plant.units] is here already and names all bare numbers that the server declares.\n"
    )


@pytest.mark.parametrize(
    ("schema", "is_nameless"),
    [
        ({"type": "object"}, True),
        ({"type": "object", "properties": {}}, True),
        ({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": NUMBER}, True),
        (schema_of(a={"type": "object"}), True),
        (schema_of(a={"type": "string"}), False),
        ({"type": "array"}, False),
        ({}, False),
    ],
)
def test_a_schema_may_name_nothing(schema: Any, is_nameless: bool) -> None:
    assert names_nothing(schema) is is_nameless
    assert ("by hand" in draft("plant", [("meter", schema)], Policy())) is is_nameless


@pytest.mark.parametrize(
    ("tools", "said"),
    [
        (
            ["a\nb"],
            'a\\nb has no output schema: write a line for each of its numbers by hand, such as: "a\\nb.$.NAME"',
        ),
        (["a", "b"], "a and b have no output schemas: write a line for each of their numbers"),
        (list("abcdef"), "a, b, c, d, e and f have no output schemas"),
        (list("abcdefg"), "a, b, c, d, e, f and 1 more have no output schemas"),
    ],
)
def test_a_draft_lists_the_tools_without_a_schema(tools: list[str], said: str) -> None:
    assert f"# {said}" in draft("plant", [(tool, None) for tool in tools], Policy())


def test_a_draft_says_of_one_that_names_nothing() -> None:
    text = draft("plant", [("a", {"type": "object"})], Policy())
    assert (
        "# a has an output schema that does not name its parts: write a line for each of its numbers" in text
    )


# ----------------------------------------------------------------------------------------------- places of units


@pytest.mark.parametrize(
    ("tool", "path", "place"),
    [
        ("meter", "$.rows[3].x", "meter.$.rows[*].x"),
        ("meter", "$[0][12]", "meter.$[*][*]"),
        ("meter", "$.rows[*].x", "meter.$.rows[*].x"),
        ("meter", "$", "meter.$"),
        ("", "$.x", None),
        ("meter", "x", None),
        ("meter", ".x", None),
        ("meter", "$.a[b]", None),
        ("meter", "$x", None),
    ],
)
def test_a_table_names_the_place_of_a_number(tool: str, path: str, place: str | None) -> None:
    assert place_of(tool, path) == place


@pytest.mark.parametrize("row", ["meter", ".$.x", "meter.$x", "meter.$.a[b]", "meter.x"])
def test_a_row_of_another_form_is_refused(row: str) -> None:
    with pytest.raises(UsageError, match=r"^file:3: guard: .* is not of the form \"tool\.\$\.path\""):
        read_places({row: "kWh"}, Policy(), lambda key: "file:3: ")


def test_a_row_with_an_empty_unit_is_refused() -> None:
    with pytest.raises(UsageError) as caught:
        read_places({"meter.$.x": " "}, Policy())
    assert str(caught.value) == (
        "guard: the unit of \"meter.$.x\" is not allowed: ' '. It is empty: fill it in, or take the line away"
    )


A_B = "meter.$.a.b"


@pytest.mark.parametrize(
    ("row", "schema", "is_missing"),
    [
        (A_B, None, False),
        (A_B, {}, False),
        (A_B, schema_of(), False),
        (A_B, schema_of(a=schema_of(c=NUMBER)), True),
        (A_B, schema_of(a=schema_of(b=NUMBER)), False),
        (A_B, schema_of(a={}), False),
        (A_B, schema_of(a=5), False),
        (A_B, schema_of(c=NUMBER), True),
        (A_B, {"properties": 5}, False),
        *((A_B, schema_of(a={**schema_of(c=NUMBER), key: {}}), False)
          for key in ("$ref", "anyOf", "oneOf", "allOf", "additionalProperties")),
        (A_B, schema_of(result=schema_of(c=NUMBER)), False),
        ("meter.$.result.b", schema_of(result=schema_of(c=NUMBER)), False),
        ("meter.$.rows[*].x", schema_of(rows={"items": schema_of(y=NUMBER)}), True),
        ("meter.$.rows[*].x", schema_of(rows={"items": schema_of(x=NUMBER)}), False),
        ("meter.$.rows[*].x", schema_of(rows={}), False),
    ],
)  # fmt: skip
def test_a_row_names_a_number_of_the_schema_or_is_missing(row: str, schema: Any, is_missing: bool) -> None:
    text = f'"{row}": the output schema of "meter" has no such number'
    assert read_places({row: "kWh"}, Policy()).missing("meter", schema) == ([text] if is_missing else [])
    assert read_places({row: "kWh"}, Policy()).missing("other", schema) == []


def test_a_schema_is_looked_through_twenty_levels_deep() -> None:
    def nested(levels: int, leaf: Any, step: Any) -> Any:
        for _ in range(levels):
            leaf = step(leaf)
        return leaf

    for step, name in ((lambda inner: schema_of(a=inner), ".a"), (lambda inner: {"items": inner}, "[*]")):
        for levels in (19, 20, 21):
            places = read_places({f"meter.${name * levels}.b": "kWh"}, Policy())
            is_missing = bool(places.missing("meter", nested(levels, schema_of(c=NUMBER), step)))
            assert is_missing == (levels <= 20)
            declared = places.in_schema("meter", nested(levels, schema_of(b=NUMBER), step))
            assert ("kWh" in json.dumps(declared)) == (levels + 1 <= 20)
    for levels in (20, 21):
        branches = nested(levels, NUMBER, lambda inner: {"oneOf": [inner]})
        assert (
            "kWh" in json.dumps(read_places({"meter.$": "kWh"}, Policy()).in_schema("meter", branches))
        ) == (levels <= 20)


def declared(schema: Any, row: str = "meter.$.a") -> Any:
    return read_places({row: "kWh"}, Policy()).in_schema("meter", schema)


def quantity_of(value: Any, **described: Any) -> Any:
    return {**described, "type": "object", "properties": {"value": value, "unit": {"const": "kWh"}},
            "required": ["value", "unit"]}  # fmt: skip


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (NUMBER, quantity_of(NUMBER)),
        ({"type": "integer", "minimum": 0}, quantity_of({"type": "integer", "minimum": 0})),
        ({"type": ["number", "null"]}, quantity_of({"type": ["number", "null"]})),
        ({"type": ["string", 5]}, {"type": ["string", 5]}),
        ({"type": {"a": "number"}}, {"type": {"a": "number"}}),
        ({"type": "string"}, {"type": "string"}),
        ({"title": "A", "description": "B", **NUMBER}, quantity_of(NUMBER, title="A", description="B")),
        ({"anyOf": [NUMBER, {"type": "null"}, 5]}, {"anyOf": [quantity_of(NUMBER), {"type": "null"}, 5]}),
        ({"oneOf": [NUMBER]}, {"oneOf": [quantity_of(NUMBER)]}),
        ({"allOf": [NUMBER]}, {"allOf": [quantity_of(NUMBER)]}),
        ({"$ref": "#/$defs/n"}, quantity_of(NUMBER, title="N")),
        ({"$ref": "#/$defs/n", "title": "Own"}, quantity_of(NUMBER, title="Own")),
        ({"$ref": "#/$defs/gone"}, {"$ref": "#/$defs/gone"}),
        ({"$ref": "#/$defs/n/title/x"}, {"$ref": "#/$defs/n/title/x"}),
        ({"$ref": "other.json"}, {"$ref": "other.json"}),
        ({"$ref": 5}, {"$ref": 5}),
    ],
)  # fmt: skip
def test_a_schema_declares_a_quantity_in_the_place_of_a_number(schema: Any, expected: Any) -> None:
    whole = {**schema_of(a=schema, b=NUMBER), "$defs": {"n": {"title": "N", **NUMBER}}}
    before = json.dumps(whole)
    whole = json.loads(before)
    assert declared(whole) == {**schema_of(a=expected, b=NUMBER), "$defs": {"n": {"title": "N", **NUMBER}}}
    assert json.dumps(whole) == before


def test_a_schema_of_another_tool_or_of_no_use_is_left() -> None:
    whole = schema_of(a=NUMBER)
    assert read_places({"other.$.a": "kWh"}, Policy()).in_schema("meter", whole) is whole
    assert declared(5) == 5
    items = {"type": "array", "items": NUMBER}
    assert declared(items, "meter.$[*]") == {"type": "array", "items": quantity_of(NUMBER)}
    assert declared(items, "meter.$.a") == items and declared(schema_of(a=NUMBER), "meter.$[*]") == schema_of(
        a=NUMBER
    )


@pytest.mark.parametrize(
    ("row", "data", "expected"),
    [
        ("meter.$.a", {"a": 5, "b": 6}, {"a": {"value": 5, "unit": "kWh"}, "b": 6}),
        ("meter.$.a", {"a": True}, {"a": True}),
        ("meter.$.a", {"a": None}, {"a": None}),
        ("meter.$.a", {"b": 5}, {"b": 5}),
        ("meter.$.a", [5], [5]),
        ("meter.$[*]", [5, "x"], [{"value": 5, "unit": "kWh"}, "x"]),
        ("meter.$[*]", {"[*]": "x"}, {"[*]": "x"}),
        ("meter.$[*].a", [{"a": 5}, 6], [{"a": {"value": 5, "unit": "kWh"}}, 6]),
        ("meter.$", 5.5, {"value": 5.5, "unit": "kWh"}),
    ],
)
def test_data_hold_a_quantity_in_the_place_of_a_number(row: str, data: Any, expected: Any) -> None:
    places = read_places({row: "kWh"}, Policy())
    assert places.idle() == [] and places.has("meter") and not places.has("other")
    assert places.in_data("meter", data) == expected
    assert places.idle() == (
        [] if data != expected else [f'"{row}": no result of "meter" had a bare number there']
    )
    assert places.in_data("other", data) == data
    assert read_places({row: "kWh"}, Policy()).in_wrapped("meter", data) == expected
    assert UnitPlaces({}).in_data("meter", data) is data


# ------------------------------------------------------------------------------------------------- messages


def request(method: str, number: Any = 1, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def answer(number: Any, **result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "result": result}


def through(guard: Guard, result: Any, tool: str = "meter", number: Any = 1, **arguments: Any) -> Any:
    """What the client gets for a call that the server answers with a result."""
    [sent] = guard.from_client(request("tools/call", number, name=tool, arguments=arguments))
    if sent.to == "server":
        [sent] = guard.from_server({"jsonrpc": "2.0", "id": number, "result": result})
    assert sent.to == "client"
    return sent.message["result"]


def texts(result: Any) -> list[str]:
    return [block["text"] for block in result["content"]]


def text_of(*data: Any) -> list[dict[str, Any]]:
    return [{"type": "text", "text": one if isinstance(one, str) else json.dumps(one)} for one in data]


def list_tools(guard: Guard, *tools: Any, number: Any = 1, **more: Any) -> Any:
    guard.from_client(request("tools/list", number))
    [sent] = guard.from_server(answer(number, tools=[*tools], **more))
    return sent.message["result"]


@pytest.mark.parametrize(
    ("number", "key"),
    [("1", 1), (1, 1), ("01", 1), ("x", "x"), ("-1", "-1"), ("١", "١"), ("9" * 18, int("9" * 18)), ("9" * 19, "9" * 19), ("", ""), (2.5, 2.5)],
)  # fmt: skip
def test_a_request_is_known_by_its_id(number: Any, key: Any) -> None:
    assert exchange.id_key(number) == key and type(exchange.id_key(number)) is type(key)


def test_what_is_asked_waits_until_it_is_answered_or_cancelled() -> None:
    guard = Guard(Policy())
    asked = [request("tools/call", "1", name="meter"), request("tools/list", 2), request("ping", 3.5)]
    for one in asked:
        assert guard.from_client(one) == [Sent("server", one)]
    assert guard.pending == ["1", 2, 3.5]
    for number in (True, None, [2], 2, 9):
        guard.from_client({"method": "notifications/cancelled", "params": {"requestId": number}})
    assert guard.pending == ["1", 3.5]
    guard.from_client({"method": "notifications/cancelled", "params": 5})
    guard.from_client({"method": "notifications/cancelled", "params": {"requestId": 3.5}})
    assert guard.pending == ["1"]
    assert (
        guard.from_client({"method": "ping", "id": True})
        and guard.from_client({"id": 4})
        and guard.pending == ["1"]
    )
    guard.from_client(request("ping", 5))
    assert guard.give_up() == ["1", 5] and guard.pending == []
    late = answer(5, tools=[])
    assert guard.from_server(late) == [] and guard.from_server(late) == [Sent("client", late)]


def test_no_more_is_remembered_of_what_is_asked_than_there_is_room_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(exchange, "_MOST_OPEN", 2)
    guard = Guard(Policy(), "block")
    for number in (1, 2, 3):
        guard.from_client(request("tools/list" if number == 1 else "resources/read", number))
    assert guard.pending == [1, 2]
    bare = [
        guard.from_server(answer(number, structuredContent={"n": 987.25}))[0].message for number in (2, 3)
    ]
    # The second is known to be no result of a tool; of the third nobody knows any more.
    assert ["isError" in message["result"] for message in bare] == [False, True]
    for task in ("a", "b", "c"):
        through(guard, {"task": {"taskId": task}}, number=9)
    guard.level = "warn"
    names = []
    for task in ("a", "c"):
        guard.from_client(request("tasks/result", 9, taskId=task))
        names.append(guard._calls[9].tool)
    assert names == ["meter", "tasks/result"]


def test_calls_and_results_with_nothing_to_change_are_the_same_objects() -> None:
    guard = Guard(Policy())
    for params in (
        {"name": "meter", "arguments": {"site": 7}},
        {"name": "meter"},
        {"name": "meter", "arguments": None},
    ):
        one = request("tools/call", 1, **params)
        [sent] = guard.from_client(one)
        assert sent.message is one
        failed = answer(1, isError=True, content=text_of("no"))
        assert guard.from_server(failed)[0].message is failed
    odd: Any
    for odd in (
        {"jsonrpc": "2.0", "method": "x", "id": 1, "result": {}},
        {"result": {}},
        {"id": 1, "error": {}},
    ):
        assert guard.from_server(odd)[0].message is odd


def test_a_result_keeps_what_else_it_says() -> None:
    guard = Guard(Policy(), "block")
    heat = {"n": {"value": 5, "unit": "kWh"}}
    whole = through(guard, {"structuredContent": heat, "_meta": {"a": 1}, "resultType": "complete", "x": 2})
    assert whole["_meta"] == {"a": 1, "gllint/call_id": "tc_1"} and (whole["resultType"], whole["x"]) == (
        "complete",
        2,
    )
    assert through(guard, {"structuredContent": heat, "_meta": 5})["_meta"] == {"gllint/call_id": "tc_2"}
    bare = through(guard, {"structuredContent": {"n": 5.5}, "resultType": "complete", "x": 2})
    assert bare["isError"] is True and bare["resultType"] == "complete" and "x" not in bare
    assert "resultType" not in through(guard, {"structuredContent": {"n": 5.5}})
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    for params, is_marked in (({"_meta": meta}, True), ({"_meta": {}}, False), ({"_meta": 5}, False)):
        one = request("tools/call", 1, name="verify_answer", arguments={"message": "None."}, **params)
        [sent] = guard.from_client(one)
        assert (sent.message["result"].get("resultType") == "complete") is is_marked
        assert sent.message["jsonrpc"] == "2.0" and sent.message["id"] == 1
    assert exchange.error_answer(5, "no") == {
        "jsonrpc": "2.0",
        "id": 5,
        "error": {"code": -32000, "message": "no"},
    }


@pytest.mark.parametrize(
    ("result", "recorded"),
    [
        ({"structuredContent": {"a": "x"}, "content": text_of("y")}, {"a": "x"}),
        ({"structuredContent": {"result": '["x"]'}}, ["x"]),
        ({"structuredContent": {"result": "x"}}, {"result": "x"}),
        ({"content": text_of("plain")}, "plain"),
        ({"content": text_of({"a": "x"})}, {"a": "x"}),
        ({"content": text_of(" [half")}, " [half"),
        ({"content": text_of({"a": "x"}, "plain")}, [{"a": "x"}, "plain"]),
        ({"content": [*text_of("plain"), {"type": "image", "data": "x"}, 5, {"text": 5}]}, "plain"),
        ({"content": []}, []),
        ({"content": None}, []),
        ({"content": {"a": 1}}, {"a": 1}),
        ({"content": [{"type": "resource", "text": '{"a": "x"}'}]}, {"a": "x"}),
        ({"content": text_of('\ufeff{"a": "x"}\n')}, {"a": "x"}),
        ({"toolResult": {"a": "x"}}, {"a": "x"}),  # of the protocol of 2024-10
        ({"toolResult": {"a": "x"}, "content": []}, {"a": "x"}),
        ({"toolResult": "x", "structuredContent": {"a": "x"}}, {"a": "x"}),
    ],
)
def test_a_result_is_recorded_as_its_data(
    result: Any, recorded: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    guard = Guard(Policy(), "shadow")
    outputs: list[Any] = []

    def record(tool: str, arguments: Any, output: Any) -> str:
        outputs.append((tool, arguments, output))
        return "tc_7"

    monkeypatch.setattr(guard._session, "record", record)
    assert "_meta" not in through(guard, result, site=7) or recorded == {"a": 1}  # which has a number
    assert outputs == [("meter", {"site": 7}, recorded)]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("5", '{"value": 5, "unit": "kWh"}'),
        (" 5.5 ", '{"value": 5.5, "unit": "kWh"}'),
        ("-5", '{"value": -5, "unit": "kWh"}'),
        ("0", '{"value": 0, "unit": "kWh"}'),
        ("5 kWh", None),
        ("true", None),
        ("-Infinity", None),
        ("five", None),
        ('"5"', None),
        ("", None),
        (f"0.{'1' * 398}", f'{{"value": {float("0." + "1" * 398)}, "unit": "kWh"}}'),
        (f"0.{'1' * 399}", None),
    ],
)
def test_a_number_alone_in_a_text_has_the_unit_of_what_is_wrapped(text: str, shown: str | None) -> None:
    places = read_places({"live.$": "kWh"}, Policy())
    result = through(
        Guard(Policy(), "shadow", places),
        {"structuredContent": {"result": 5}, "content": text_of(text)},
        "live",
    )
    assert texts(result)[0] == (text if shown is None else shown)
    assert result["structuredContent"] == {"result": {"value": 5, "unit": "kWh"}}


@pytest.mark.parametrize(
    ("row", "structured", "content", "expected", "shown"),
    [
        # Of what is not wrapped a text that is a number alone is left, one that repeats it is not.
        ("live.$.n", {"n": 5}, ["5", {"n": 5}, {"n": "x"}, "[5"], {"n": {"value": 5, "unit": "kWh"}},
         ["5", '{"n": {"value": 5, "unit": "kWh"}}', '{"n": "x"}', "[5"]),
        ("live.$.result.n", {"result": {"n": 5}, "more": 1}, [{"n": 5}], {"result": {"n": {"value": 5, "unit": "kWh"}}, "more": 1}, ['{"n": 5}']),
        # Without structured content a text may wrap, or be what is wrapped.
        ("live.$.n", None, [{"n": 5}, {"result": {"n": 5}}], None,
         ['{"n": {"value": 5, "unit": "kWh"}}', '{"result": {"n": {"value": 5, "unit": "kWh"}}}']),
        ("live.$.n", {"result": '{"n": 5}'}, [{"n": 5}], {"result": '{"n": {"value": 5, "unit": "kWh"}}'},
         ['{"n": {"value": 5, "unit": "kWh"}}']),
        ("live.$.n", {"result": '{"é":  5}'}, [], {"result": '{"é":  5}'}, []),
        ("live.$.é", {"result": '{"é": 5}'}, [{"é": 5}], {"result": '{"é": {"value": 5, "unit": "kWh"}}'},
         ['{"é": {"value": 5, "unit": "kWh"}}']),
        ("other.$.n", {"n": 5}, [{"n": 5}], {"n": 5}, ['{"n": 5}']),
    ],
)  # fmt: skip
def test_a_result_and_its_texts_have_their_units(
    row: str, structured: Any, content: list[Any], expected: Any, shown: list[str]
) -> None:
    guard = Guard(Policy(), "shadow", read_places({row: "kWh"}, Policy()))
    own = {} if structured is None else {"structuredContent": structured}
    result = through(guard, {**own, "content": text_of(*content)}, "live")
    assert result.get("structuredContent") == expected and texts(result)[:-1] == shown


BARE = {"n": 987.25}
WITH_UNIT = {"n": {"value": 5, "unit": "kWh"}}


@pytest.mark.parametrize(
    ("structured", "content", "is_refused"),
    [
        (WITH_UNIT, text_of(WITH_UNIT, "plain", {"a": "x"}), False),
        (WITH_UNIT, text_of(BARE), True),
        (WITH_UNIT, [{"type": "resource", "text": json.dumps(BARE)}, 5], True),
        ({"result": [WITH_UNIT, WITH_UNIT]}, text_of(WITH_UNIT, WITH_UNIT), False),
        ({"result": [WITH_UNIT, WITH_UNIT]}, text_of(WITH_UNIT, BARE), True),
        ({"result": WITH_UNIT}, text_of(WITH_UNIT), False),
        ({"result": WITH_UNIT}, None, False),
        (BARE, text_of(BARE), True),
        ({"result": BARE}, text_of(BARE), True),
        ({"result": [BARE, BARE]}, text_of(BARE, BARE), True),
        ({"result": [BARE, {"n": 2.5}]}, text_of([BARE, {"n": 2.5}], BARE, {"n": 2.5}), True),
        ({"result": json.dumps(WITH_UNIT)}, text_of(WITH_UNIT), False),
    ],
)
def test_a_text_that_says_something_else_is_judged(structured: Any, content: Any, is_refused: bool) -> None:
    result = through(Guard(Policy(), "block"), {"structuredContent": structured, "content": content})
    assert (result.get("isError") is True) is is_refused
    shadow = Guard(Policy(), "shadow")
    through(shadow, {"structuredContent": structured, "content": content})
    assert shadow.summary() == ("RESULT_SCHEMA: 1" if is_refused else "")


@pytest.mark.parametrize(
    ("path", "known"),
    [("$.n", True), ("$.result.n", True), ("$.results.n", False), ("n", False), (5, False), ("$[0]", False)],
)
def test_a_claim_may_leave_the_wrapper_out(path: Any, known: bool) -> None:
    guard = Guard(Policy(), "block")
    through(guard, {"structuredContent": {"result": WITH_UNIT}})
    through(guard, {"structuredContent": {"result": {"results": WITH_UNIT}}})
    claim = {"source_call_id": "tc_1", "path": path, "quantity": WITH_UNIT["n"]}
    said = {"message": "It is {{claim:0}}.", "claims": [claim]}
    assert (
        "isError" not in (one := through(guard, None, "verify_answer", **said)) or not one["isError"]
    ) is known
    for claims in ([5], [{"path": "$.n"}], {"path": "$.n"}, 7):
        assert (
            through(guard, None, "verify_answer", message="It is {{claim:0}}.", claims=claims)["isError"]
            is True
        )


def test_what_cannot_be_read_of_an_answer_is_said() -> None:
    guard = Guard(Policy(), "block")
    for claims in (7, True):
        [text] = texts(through(guard, None, "verify_answer", message="None.", claims=claims))
        assert text.startswith(("The arguments cannot be read: ", "[")), text
    [sent] = guard.from_client(request("tools/call", 1, name="verify_answer", arguments=[5]))
    assert sent.to == "client" and sent.message["result"]["isError"] is True
    verified = through(guard, None, "verify_answer", message="None.")
    assert verified["structuredContent"] == {"message": "None."} and verified["isError"] is False
    assert guard.verified == "None."


def test_what_the_owner_knows_is_not_told_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def told(many: int) -> list[str]:
        said: list[str] = []
        guard = Guard(Policy(), "warn", tell=said.append)
        for tool in ("a", "b") * 2:
            through(guard, {"structuredContent": {f"n{place}": place + 0.5 for place in range(many)}}, tool)
        for _ in range(2):
            through(guard, None, "verify_answer", message="It is 74 %.")
        return said

    said = told(1)
    assert [text.partition("Fill")[0] for text in said[:2]] == [
        f"{tool}: [RESULT_SCHEMA] a bare number. " for tool in "ab"
    ]
    assert len(said) == 4 and said[2] == said[3] and said[2].startswith("verify_answer: [NO_SOURCE] ")
    assert (
        " and " not in told(8)[0].partition("Fill")[2].partition(" in [")[0]
        and '"a.$.n7" and 1 more in [' in told(9)[0]
    )
    monkeypatch.setattr(exchange, "_MOST_KNOWN", 1)
    assert [text[:1] for text in told(1)] == ["a", "b", "b", "v", "v"]


def test_an_argument_that_cannot_be_held_to_its_unit_is_passed_and_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[str] = []
    guard = Guard(Policy(), "block", tell=said.append)

    def fails(*_: Any, **__: Any) -> Any:
        raise ValueError("no schema")

    monkeypatch.setattr(guard._session, "tool_arguments", fails)
    assert "gllint/call_id" in through(guard, {"content": text_of("5 x")}, site=7)["_meta"]
    assert said == ["meter: the units of its arguments were not checked: ValueError"]


def test_the_list_of_tools_is_whole_at_its_end() -> None:
    said: list[str] = []
    guard = Guard(
        Policy(), "warn", read_places({"gone.$.x": "kWh", "meter.$.x": "kWh"}, Policy()), said.append
    )
    first = list_tools(
        guard, 5, {"name": 6}, {"name": "meter", "outputSchema": schema_of(y=NUMBER)}, nextCursor="n", extra=1
    )
    assert (
        first["tools"][:2] == [5, {"name": 6}]
        and len(first["tools"]) == 3
        and first["extra"] == 1
        and not said
    )
    last = list_tools(guard, {"name": "scale"}, nextCursor=None)
    assert [tool["name"] for tool in last["tools"]] == ["scale", "verify_answer"] and len(said) == 2
    assert last["tools"][1]["annotations"]["readOnlyHint"] is True
    list_tools(guard)
    assert len(said) == 2 and said[0].startswith('[guard.SERVER.units] "meter.$.x"')
    for result in ({"tools": 5}, {}, 5, None):
        guard.from_client(request("tools/list"))
        message = {"jsonrpc": "2.0", "id": 1, "result": result}
        assert guard.from_server(message)[0].message == message


def test_so_many_rows_are_told() -> None:
    said: list[str] = []
    guard = Guard(
        Policy(), "warn", read_places({f"t{place}.$.x": "kWh" for place in range(25)}, Policy()), said.append
    )
    list_tools(guard)
    assert len(said) == 20


def test_a_claim_on_what_is_not_wrapped_keeps_its_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "_MOST_WRAPPED", 1)
    guard = Guard(Policy(), "block")
    for result in ({"result": WITH_UNIT}, WITH_UNIT, {"result": WITH_UNIT}):
        through(guard, {"structuredContent": result})
    refused = []
    for call_id in ("tc_1", "tc_2", "tc_3"):
        claim = {"source_call_id": call_id, "path": "$.n", "quantity": WITH_UNIT["n"]}
        said = through(guard, None, "verify_answer", message="It is {{claim:0}}.", claims=[claim])
        refused.append(said["isError"])
    assert refused == [False, False, True]  # the third was not remembered as wrapped


def test_a_text_that_nothing_changes_is_written_as_it_was() -> None:
    guard = Guard(Policy(), "shadow", read_places({"zähler.$.n": "kWh"}, Policy()))
    result = through(guard, {"structuredContent": {"n": "x"}, "content": text_of('{"n":  "x"}')}, "zähler")
    assert texts(result)[0] == '{"n":  "x"}'


def test_a_refusal_says_what_the_user_can_do_or_what_is_wrong() -> None:
    said: list[str] = []
    guard = Guard(Policy(), "block", tell=said.append)
    [bare] = texts(through(guard, {"structuredContent": {"n": 987.25}}, "zähler"))
    assert bare.startswith("[RESULT_SCHEMA] ") and "Fill in" not in bare
    remedy = 'Fill in the unit of "zähler.$.n" in [guard.SERVER.units] of the configuration.'
    assert said == [
        "zähler: rejected: RESULT_SCHEMA at $.n",
        f"zähler: [RESULT_SCHEMA] a bare number. {remedy}",
    ]
    said.clear()
    for _ in range(2):
        [unknown] = texts(
            through(guard, {"structuredContent": {"n": {"value": 5, "unit": "zorks"}}}, "meter")
        )
        assert "zorks" in unknown and "Fill in" not in unknown and "For the user" not in unknown
    refused = "meter: rejected: UNIT_UNKNOWN"
    assert [text.partition(" at ")[0] for text in said if text.startswith(refused)] == [refused] * 2 and len(
        said
    ) == 3
