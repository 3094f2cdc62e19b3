"""``gllint mcp``: real servers over stdio and HTTP, and those that do not behave."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from gllint.cli.mcp_sdk import sdk_error
from gllint.cli.server_tools import ServerTool
from gllint.cli.servers import judged, report
from gllint.files.config import Config
from gllint_runtime.policy.schemas import QUANTITY_REF
from gllint_runtime.policy.settings import Policy

RunMcp = Callable[..., subprocess.CompletedProcess[str]]
SERVER = """
import os
import sys
from typing import Annotated, Any
from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel, Field

class Reading(BaseModel):
    value: float
    unit: Annotated[str, Field(json_schema_extra={"enum": ["kWh", "KWh"]})]

class Honest(BaseModel):
    heat: Reading

class Raw(BaseModel):
    heat: float
    load: int = 0

os.environ["METER_KEY"]  # as most servers need a key of their own
server = MCPServer("meters")

@server.tool()
def honest() -> Honest:
    sys.exit("called")

@server.tool()
def raw(site: str) -> Raw:
    sys.exit("called")

@server.tool()
def prose() -> Any:
    sys.exit("called")

@server.tool()
def anything() -> dict[str, Any]:
    sys.exit("called")

if len(sys.argv) > 1:
    server.run("streamable-http", port=int(sys.argv[1]))
server.run("stdio")
"""
FOUND = [
    ("GL501", "honest", "$.$defs.Reading.properties.unit.enum[1]"),
    ("GL201", "raw", "$.properties.heat.type"),
    ("GL201", "raw", "$.properties.load.type"),
    ("GL202", "prose", "$"),
    ("GL202", "anything", "$"),
]


@pytest.fixture
def run_mcp(gllint: list[str]) -> RunMcp:
    def run_mcp(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [*gllint, "mcp", *arguments]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)

    return run_mcp


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    pytest.importorskip("mcp")
    monkeypatch.setenv("METER_KEY", "secret")
    (tmp_path / "server.py").write_text(SERVER, encoding="utf-8")
    return [sys.executable, str(tmp_path / "server.py")]


def test_a_server_over_stdio(tmp_path: Path, server: list[str], run_mcp: RunMcp) -> None:
    result = run_mcp(tmp_path, "--output-format", "json", "--", *server)
    found = json.loads(result.stdout)
    assert [(one["code"], one["tool"], one["schema_path"]) for one in found] == FOUND
    assert result.returncode == 1 and result.stderr == ""
    assert found[0]["name"] == "unknown-unit" and found[0]["severity"] == "error"
    assert found[0]["help"] == "Did you mean `kWh`?"


def test_the_configuration_holds(tmp_path: Path, server: list[str], run_mcp: RunMcp) -> None:
    (tmp_path / "gllint.toml").write_text(
        'ignore = ["GL202"]\nextend-units = ["KWh"]\nplain-keys = ["load"]\n', encoding="utf-8"
    )
    result = run_mcp(tmp_path, "--", *server)
    first, *_, last = result.stdout.splitlines()
    assert (
        first
        == "raw: GL201 its output schema allows `heat` to be a number without a unit ($.properties.heat.type)"
    )
    assert last == "4 tools, 1 with findings."
    (tmp_path / "gllint.toml").write_text('ignore = ["GL"]\n', encoding="utf-8")
    result = run_mcp(tmp_path, "--", *server)
    assert result.returncode == 0 and result.stdout.endswith("\n4 tools, none with findings.\n")


def test_a_server_at_an_address(tmp_path: Path, server: list[str], run_mcp: RunMcp) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    running = subprocess.Popen([*server, str(port)], stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            with socket.socket() as client:
                if client.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        result = run_mcp(tmp_path, "--url", f"http://127.0.0.1:{port}/mcp", "--output-format", "json")
    finally:
        running.kill()
        running.wait()
    assert [(one["code"], one["tool"], one["schema_path"]) for one in json.loads(result.stdout)] == FOUND
    result = run_mcp(tmp_path, "--url", f"http://127.0.0.1:{port}/mcp")
    assert result.returncode == 2 and "did not list its tools" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "give either a command after --"),
        (["--url", "http://x", "--", "y"], "give either a command after --"),
        (["--url", "ftp://x"], "must begin with http:// or https://"),
        (["--timeout", "0", "--", "x"], "--timeout"),
        (["--", "no-such-server-anywhere"], "did not list its tools: FileNotFoundError"),
        (["--", sys.executable, "-c", "import sys; sys.exit('no \\x1b[31mkey')"], r"its error output: no \x1b[31mkey"),
        (["--timeout", "1", "--", sys.executable, "-c", "import time; time.sleep(60)"], "not answer in 1 s"),
        (
            ["--timeout", "2", "--", sys.executable, "-c", "import time; print('hello', flush=True); time.sleep(60)"],
            "something that is not MCP",
        ),
        (["--timeout", "60", "--", sys.executable, "-c", "while True: print('y')"], "something that is not MCP"),
    ],
    ids=["nothing", "both", "scheme", "no time", "no such command", "leaves", "hangs", "prose", "flood"],
)  # fmt: skip
def test_what_goes_wrong_is_said(tmp_path: Path, arguments: list[str], said: str, run_mcp: RunMcp) -> None:
    pytest.importorskip("mcp")
    result = run_mcp(tmp_path, *arguments)
    assert said in result.stderr
    assert "Traceback" not in result.stderr
    assert (result.returncode, result.stdout) == (2, "")


@pytest.mark.parametrize(
    ("version", "said"),
    [
        (None, 'gllint mcp needs the MCP SDK: run `pip install "mcp>=2"`'),
        (
            "1.30.0",
            "gllint mcp needs version 2 of the MCP SDK, and mcp 1.30.0 is installed here: install gllint with",
        ),
        ("2.3.0", "gllint mcp cannot import the MCP SDK: no such name"),
    ],
)
def test_an_sdk_of_no_use_is_named_as_it_is(
    monkeypatch: pytest.MonkeyPatch, version: str | None, said: str
) -> None:
    def installed(name: str) -> str:
        if version is None:
            raise metadata.PackageNotFoundError(name)
        return version

    monkeypatch.setattr(metadata, "version", installed)
    assert str(sdk_error("gllint mcp", ImportError("no such name"))).startswith(said)


def test_schemas_that_name_nothing_are_told() -> None:
    anything = {"type": "object", "additionalProperties": True}
    wrapped = {"type": "object", "properties": {"result": anything}}
    for tools, told in (
        ([ServerTool("a", anything)], "1 output schema lists no properties: its numbers were not checked"),
        (
            [ServerTool("a", anything), ServerTool("b", wrapped)],
            "2 output schemas list no properties: their numbers were",
        ),
    ):
        text, _ = report(tools, Config(), "text")
        assert text.splitlines()[-2].startswith(told)


def test_without_the_sdk(tmp_path: Path) -> None:
    code = "import sys; sys.modules['mcp'] = None; from gllint.cli.main import main; main()"
    command = [sys.executable, "-c", code, "mcp", "--", "x"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 2 and "MCP SDK" in result.stderr


def codes(schema: Any) -> list[str]:
    return [one.code for one in judged([ServerTool("t", schema)], Policy())]


def of(schema: Any) -> Any:
    return {"type": "object", "properties": {"a": schema}}


QUANTITY = {"type": "object", "properties": {"value": {"type": "number"}, "unit": {"type": "string"}}}


@pytest.mark.parametrize(
    ("schema", "found"),
    [
        ({"type": "object", "properties": {"heat": QUANTITY}}, []),
        ({"type": "object", "properties": {"heat": {"$ref": QUANTITY_REF}}}, ["GL204"]),
        ({"type": "object", "properties": {"note": {"type": "string"}}}, []),
        ({"anyOf": [{"type": "object", "properties": {"heat": QUANTITY}}, {"type": "null"}]}, ["GL203"]),
        (None, ["GL202"]),
        ({}, ["GL203", "GL202"]),
        ({"type": "object"}, ["GL202"]),
        ({"type": "object", "properties": {}, "required": ["x"]}, ["GL203"]),
        ({"type": "objekt"}, ["GL203"]),
        ({"type": "object", "properties": {"rows": {"type": "array", "items": {"type": "integer"}}}}, ["GL201"]),
        (
            {
                "type": "object",
                "properties": {"a": {**QUANTITY, "properties": {**QUANTITY["properties"], "unit": {"const": "kwh"}}}},
            },
            ["GL501"],
        ),
        (
            {
                "type": "object",
                "properties": {
                    "a": {**QUANTITY, "properties": {**QUANTITY["properties"], "unit": {"examples": ["MWh", 5, "xx"]}}}
                },
            },
            ["GL501"],
        ),
        (of({"type": "number", "x-unit": "kWh"}), []),
        (of({"anyOf": [{"type": "number"}, {"type": "null"}], "currency": "USD"}), []),
        (of({"type": "number", "unit": "BTU"}), ["GL201", "GL502"]),
        (of({"type": "number", "unit": "kWhh"}), ["GL201", "GL501"]),
        (of({**QUANTITY, "properties": {"value": {"type": "number"}, "unit": {"type": "number"}}}), ["GL201"] * 2),
        (of({"$ref": "#/$defs/Gone"}), ["GL204"]),
        (of({"$ref": "https://example.com/energy.json"}), ["GL204"]),
        (of({"$ref": "greenlang://schemas/other.json"}), ["GL204"]),
        ({**of({"$ref": "#/$defs/Heat"}), "$defs": {"Heat": QUANTITY}}, []),
        ({**of({"$ref": "#/$defs/T"}), "$defs": {"T": {"type": "object", "properties": {"t": {"$ref": "#/$defs/T"}}}}}, []),
        ({"type": "object", "$ref": "#"}, ["GL203"]),
        ({**of({"$ref": "#/$defs/A"}), "$defs": {"A": {"anyOf": [{"$ref": "#/$defs/A"}]}}}, ["GL203"]),
        ({"type": "array", "items": {"type": "number"}}, ["GL203", "GL201"]),
        ({"type": ["object", "null"], "properties": {"a": {"type": "integer"}}}, ["GL203", "GL201"]),
        ([{"type": "object"}], ["GL203"]),
        (True, ["GL203"]),
        (False, ["GL203"]),
        ("object", ["GL203"]),
        (7, ["GL203"]),
        (of({"enum": [*range(30_000)]}), ["GL203"]),
    ],
)  # fmt: skip
def test_judged_as_in_the_source(schema: Any, found: list[str]) -> None:
    assert codes(schema) == found


@pytest.mark.parametrize(
    ("name", "hints", "contrary"),
    [
        ("delete_site", {"readOnlyHint": True}, "readOnlyHint"),
        ("deleteSite", {"destructiveHint": False}, "destructiveHint"),
        ("github_remove_user", {"readOnlyHint": True}, "readOnlyHint"),
        ("create_issue", {"readOnlyHint": True}, "readOnlyHint"),
        ("web_search", {"openWorldHint": False}, "openWorldHint"),
        ("delete_site", {"readOnlyHint": False, "destructiveHint": True}, None),
        ("delete_site", {"readOnlyHint": "true"}, None),
        ("delete_site", {}, None),
        ("delete_site", None, None),
        ("delete_site", [], None),
        ("get_deleted_sites", {"readOnlyHint": True}, None),
        ("preview_delete", {"readOnlyHint": True}, None),
        ("remove_stopwords", {"readOnlyHint": True}, None),
        ("list_updates", {"readOnlyHint": True}, None),
        ("update_record", {"destructiveHint": False}, None),
        ("web_search", {"readOnlyHint": True}, None),
    ],
)
def test_a_name_that_says_the_contrary_of_its_hints(name: str, hints: Any, contrary: str | None) -> None:
    schema = of(QUANTITY)
    found = [*judged([ServerTool(name, schema, {"type": "object"}, hints)], Policy())]
    assert [one.code for one in found] == (["GL702"] if contrary else [])
    assert all(contrary is not None and contrary in one.message for one in found)


RAW = """
import json, sys
TOOLS = json.loads(sys.argv[1])
for line in sys.stdin:
    call = json.loads(line)
    if "id" not in call:
        continue
    if call["method"] == "initialize":
        version = call["params"]["protocolVersion"]
        info = {"name": "x", "version": "1"}
        result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
    elif call["method"] == "tools/list":
        page = int(call.get("params", {}).get("cursor", 0))
        result = {"tools": TOOLS[page:page + 3]}
        if page + 3 < len(TOOLS):
            result["nextCursor"] = str(page + 3)
    else:
        print(json.dumps({"jsonrpc": "2.0", "id": call["id"], "error": {"code": -32601, "message": "no"}}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": call["id"], "result": result}), flush=True)
"""


def test_one_unreadable_tool_hides_no_other(tmp_path: Path, run_mcp: RunMcp) -> None:
    pytest.importorskip("mcp")
    plain = {"type": "object"}
    tools: list[Any] = [
        {"name": "rows", "inputSchema": plain, "outputSchema": {"type": "array", "items": {"type": "number"}}},
        {"name": "list", "inputSchema": plain, "outputSchema": [1]},
        {"name": "any", "inputSchema": plain, "outputSchema": True},
        {"name": "args", "inputSchema": {"properties": {}}, "outputSchema": of(QUANTITY)},
        {"name": "none", "outputSchema": of(QUANTITY)},
        "no tool",
        {"inputSchema": plain},
        {"name": "huge", "inputSchema": plain, "outputSchema": of({"enum": ["x"] * 30_000})},
        {"name": "raw", "inputSchema": plain, "outputSchema": of({"type": "number"}), "annotations": {"title": 5}},
        {"name": "delete_x", "inputSchema": plain, "outputSchema": of(QUANTITY), "annotations": {"readOnlyHint": True}},
    ]  # fmt: skip
    (tmp_path / "raw.py").write_text(RAW, encoding="utf-8")
    (tmp_path / "tools.json").write_text(json.dumps(tools), encoding="utf-8")
    code = "import sys, pathlib; sys.argv = ['raw.py', pathlib.Path('tools.json').read_text()]; exec(open('raw.py').read())"
    command = [sys.executable, "-c", code]
    result = run_mcp(tmp_path, "--output-format", "json", "--", *command)
    assert result.returncode == 1 and result.stderr == ""
    assert [(one["code"], one["tool"]) for one in json.loads(result.stdout)] == [
        ("GL203", "rows"),
        ("GL201", "rows"),
        ("GL203", "list"),
        ("GL203", "any"),
        ("GL203", "args"),
        ("GL203", "none"),
        ("GL203", "tool 6 of the list"),
        ("GL203", "tool 7 of the list"),
        ("GL203", "huge"),
        ("GL201", "raw"),
        ("GL702", "delete_x"),
    ]
    result = run_mcp(tmp_path, "--", *command)
    assert "tool 6 of the list: GL203 it is not an object: no client can read it" in result.stdout
    assert result.stdout.splitlines()[-1] == "10 tools, 10 with findings, 5 not judged."
    (tmp_path / "gllint.toml").write_text('ignore = ["GL"]\n', encoding="utf-8")
    result = run_mcp(tmp_path, "--", *command)
    assert result.returncode == 0 and result.stdout.endswith(
        "\n10 tools, none with findings, 5 not judged.\n"
    )


def test_a_schema_without_end() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}}
    for _ in range(5000):
        schema = {"not-known": [schema], "items": schema}
    assert set(codes(schema)) <= {"GL203"}


def test_what_no_schema_tells_is_told() -> None:
    texts = {"type": "object", "properties": {"result": {"type": "string"}}}
    numbers = {
        "type": "object",
        "properties": {"n": {"type": ["integer", "null"]}, "name": {"type": "string"}},
    }
    truth = {"type": "object", "properties": {"ok": {"type": "boolean"}}}
    tools = [
        ServerTool("a", texts),
        ServerTool("b", numbers),
        ServerTool("c", None),
        ServerTool("d", truth),
        ServerTool("e", texts),
    ]
    text, _ = report(tools, Config(), "text")
    assert (
        "5 tools: 1 returns numbers, 2 return text, 1 returns neither. Not checked: 1 (unknown result: c), "
        "the text of 2 (no schema describes its numbers).\n"
        "Not visible: the numbers of a, c, e. `--call 'TOOL {JSON}'` calls a tool and checks its result.\n5 tools, 2 with findings.\n"
    ) in text
    assert "Not checked" not in report([ServerTool("d", truth)], Config(), "text")[0]
