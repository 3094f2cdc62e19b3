"""``gllint mcp``: real servers over stdio and HTTP, and those that do not behave."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from gllint.cli.servers import Offered, judged
from gllint_rules.words.settings import Settings
from gllint_runtime.policy.schemas import QUANTITY_REF

SERVER = """
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
    page: int = 0

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
    ("GL201", "raw", "$.properties.page.type"),
    ("GL202", "prose", "$"),
    ("GL202", "anything", "$"),
]


def gllint(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from gllint.cli.main import main; main()", "mcp", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture
def server(tmp_path: Path) -> list[str]:
    pytest.importorskip("mcp")
    (tmp_path / "server.py").write_text(SERVER, encoding="utf-8")
    return [sys.executable, str(tmp_path / "server.py")]


def test_a_server_over_stdio(tmp_path: Path, server: list[str]) -> None:
    result = gllint(tmp_path, "--output-format", "json", "--", *server)
    found = json.loads(result.stdout)
    assert [(one["code"], one["tool"], one["schema_path"]) for one in found] == FOUND
    assert result.returncode == 1 and result.stderr == ""
    assert found[0]["name"] == "unknown-unit" and found[0]["severity"] == "error"
    assert found[0]["help"] == "Did you mean `kWh`?"


def test_the_configuration_holds(tmp_path: Path, server: list[str]) -> None:
    (tmp_path / "gllint.toml").write_text(
        'ignore = ["GL202"]\nextend-units = ["KWh"]\nplain-keys = ["page"]\n', encoding="utf-8"
    )
    result = gllint(tmp_path, "--", *server)
    first, *_, last = result.stdout.splitlines()
    assert (
        first
        == "raw: GL201 its output schema lets `heat` be a number without a unit ($.properties.heat.type)"
    )
    assert last == "4 tools, 1 with findings."
    (tmp_path / "gllint.toml").write_text('ignore = ["GL"]\n', encoding="utf-8")
    result = gllint(tmp_path, "--", *server)
    assert (result.returncode, result.stdout) == (0, "4 tools, none with findings.\n")


def test_a_server_at_an_address(tmp_path: Path, server: list[str]) -> None:
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
        result = gllint(tmp_path, "--url", f"http://127.0.0.1:{port}/mcp", "--output-format", "json")
    finally:
        running.kill()
        running.wait()
    assert [(one["code"], one["tool"], one["schema_path"]) for one in json.loads(result.stdout)] == FOUND
    result = gllint(tmp_path, "--url", f"http://127.0.0.1:{port}/mcp")
    assert result.returncode == 2 and "no list of tools" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "name a command behind --"),
        (["--url", "http://x", "--", "y"], "name a command behind --"),
        (["--url", "ftp://x"], "begins with http:// or https://"),
        (["--timeout", "0", "--", "x"], "--timeout"),
        (["--", "no-such-server-anywhere"], "no list of tools: FileNotFoundError"),
        (["--", sys.executable, "-c", "import sys; sys.exit('no \\x1b[31mkey')"], r"it said: no \x1b[31mkey"),
        (["--timeout", "1", "--", sys.executable, "-c", "import time; time.sleep(60)"], "not answer in 1 s"),
        (
            ["--timeout", "2", "--", sys.executable, "-c", "import time; print('hello', flush=True); time.sleep(60)"],
            "something that is not MCP",
        ),
        (["--timeout", "60", "--", sys.executable, "-c", "while True: print('y')"], "something that is not MCP"),
    ],
    ids=["nothing", "both", "scheme", "no time", "no such command", "leaves", "hangs", "prose", "flood"],
)  # fmt: skip
def test_what_goes_wrong_is_said(tmp_path: Path, arguments: list[str], said: str) -> None:
    pytest.importorskip("mcp")
    result = gllint(tmp_path, *arguments)
    assert said in result.stderr
    assert "Traceback" not in result.stderr
    assert (result.returncode, result.stdout) == (2, "")


def test_without_the_sdk(tmp_path: Path) -> None:
    code = "import sys; sys.modules['mcp'] = None; from gllint.cli.main import main; main()"
    command = [sys.executable, "-c", code, "mcp", "--", "x"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 2 and "install gllint[mcp]" in result.stderr


def codes(schema: Any) -> list[str]:
    return [one.code for one in judged([Offered("t", schema)], Settings())]


QUANTITY = {"type": "object", "properties": {"value": {"type": "number"}, "unit": {"type": "string"}}}


@pytest.mark.parametrize(
    ("schema", "found"),
    [
        ({"type": "object", "properties": {"heat": QUANTITY}}, []),
        ({"type": "object", "properties": {"heat": {"$ref": QUANTITY_REF}}}, []),
        ({"type": "object", "properties": {"note": {"type": "string"}}}, []),
        ({"anyOf": [{"type": "object", "properties": {"heat": QUANTITY}}, {"type": "null"}]}, []),
        (None, ["GL202"]),
        ({}, ["GL202"]),
        ({"type": "object"}, ["GL202"]),
        ({"type": "object", "properties": {}, "required": ["x"]}, ["GL203"]),
        ({"type": "objekt"}, ["GL203"]),
        ({"type": "object", "properties": {"rows": {"type": "array", "items": {"type": "integer"}}}}, ["GL201"]),
        (
            {"properties": {"a": {**QUANTITY, "properties": {**QUANTITY["properties"], "unit": {"const": "kwh"}}}}},
            ["GL501"],
        ),
        (
            {
                "properties": {
                    "a": {**QUANTITY, "properties": {**QUANTITY["properties"], "unit": {"examples": ["MWh", 5, "xx"]}}}
                }
            },
            ["GL501"],
        ),
    ],
)  # fmt: skip
def test_judged_as_in_the_source(schema: Any, found: list[str]) -> None:
    assert codes(schema) == found


def test_a_schema_without_end() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}}
    for _ in range(5000):
        schema = {"not-known": [schema], "items": schema}
    assert set(codes(schema)) <= {"GL203"}
