"""The guard's parts by themselves, a row for each case: names, drafts, places of units, traces, messages at the bounds."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from gllint.errors import UsageError
from gllint.guard import clients, transcript
from gllint.guard.draft import draft, key_of, names_nothing
from gllint.guard.naming import server_name
from gllint.guard.transcript import Transcript, default_path
from gllint.guard.unit_places import UnitPlaces, place_of, read_places
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
        ("é", '"\\u00e9"'),
        ("", '""'),
        ("a.b", '"a.b"'),
        ("-", '"-"'),
    ],
)
def test_a_name_is_a_part_of_a_key(name: str, key: str) -> None:
    assert key_of(name) == key


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
        "# [guard.plant.units] stands here already; move these lines there:",
        '# "meter.$.heat_kwh" = "kWh"  # its name says so',
    ]
    assert draft("plant", tools, Policy(), "", {"meter.$.heat_kwh": "kWh"}).splitlines()[1:] == [
        '# "meter.$.load" = ""'
    ]
    assert draft("plant", tools, Policy(), "", {"meter.$.heat_kwh": "kWh", "meter.$.load": "kW"}) == (
        "# [guard.plant.units] stands here already and names all bare numbers that the server declares.\n"
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
            'a b has no output schema: write a line for each of its numbers by hand, such as: "a b.$.NAME"',
        ),
        (["a", "b"], "a and b have no output schemas: write a line for each of their numbers"),
        (list("abcdef"), "a, b, c, d, e and f have no output schemas"),
        (list("abcdefg"), "a, b, c, d, e, f and 1 more have no output schemas"),
    ],
)
def test_a_draft_lists_the_tools_without_a_schema(tools: list[str], said: str) -> None:
    assert f"# {said}" in draft("plant", [(tool, None) for tool in tools], Policy())


def test_a_draft_says_of_one_that_names_nothing_and_of_one_that_is_too_deep() -> None:
    text = draft("plant", [("a", {"type": "object"})], Policy())
    assert (
        "# a has an output schema that does not name what it holds: write a line for each of its numbers"
        in text
    )
    deep: Any = NUMBER
    for _ in range(20_000):
        deep = {"type": "array", "items": deep}
    with suppress(RecursionError):  # where somebody else walks it
        assert draft("plant", [("a\rb", deep)], Policy())


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


@pytest.mark.parametrize(
    ("unit", "remedy"), [(" ", "It is empty: fill it in, or take the line away"), ("zork", "zork")]
)
def test_a_row_with_a_unit_of_no_use_is_refused(unit: str, remedy: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_places({"meter.$.x": unit}, Policy())
    assert str(caught.value).startswith(f'guard: the unit of "meter.$.x" is not allowed: {unit!r}. ')
    assert remedy in str(caught.value) and "None" not in str(caught.value)


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
