"""What the tests of the program share: a small agent file with known findings, and a way to run gllint."""

from __future__ import annotations

import marshal
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest
from click.testing import CliRunner

from gllint.cli.commands import cli

AGENT = '''\
from langchain_core.tools import tool


@tool
def heat_demand(area: str) -> dict:
    """Heat demand of a building."""
    demand = 12.5 * 3
    return {"demand": demand, "rooms": 4}


FINAL_MESSAGE = "The building needs 9500 kWh."
'''
AGENT_FINDINGS = ["8:23 GL101", "8:40 GL101", "11:37 GL401"]
# A file that describes a tool to a model, and one that calls it by its name. Only if the first leads to the second is
# the name that of the tool.
DESCRIPTION = """\
from openai import OpenAI

TOOLS = [{'type': 'function', 'function': {'name': 'heat', 'parameters': {'type': 'object'}}}]


def turn(messages):
    return OpenAI().chat.completions.create(model='m', messages=messages, tools=TOOLS)
"""
DISPATCH = """\
class Jobs:
    def run(self, name):
        if name == 'heat':
            return self._heat()

    def _heat(self):
        return {'heat': 12.5}
"""
PLAIN = "def total(items):\n    return sum(items)\n"

Write = Callable[[Mapping[str, str | bytes]], Path]
Run = Callable[..., "subprocess.CompletedProcess[bytes]"]


@pytest.fixture
def description() -> str:
    return DESCRIPTION


@pytest.fixture
def dispatch() -> str:
    return DISPATCH


@pytest.fixture
def agent() -> str:
    """An agent file with the findings of ``agent_findings``."""
    return AGENT


@pytest.fixture
def agent_findings() -> list[str]:
    """``line:column code`` of each finding in ``agent``."""
    return list(AGENT_FINDINGS)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write files below a fresh folder ``p`` and return it."""

    def write(files: Mapping[str, str | bytes]) -> Path:
        top = tmp_path / "p"
        top.mkdir(exist_ok=True)
        for name, content in files.items():
            path = top / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return top

    return write


@pytest.fixture
def run(gllint: list[str]) -> Run:
    """Run gllint in a folder, as a user would."""

    def run(
        *arguments: str | Path, cwd: Path, stdin: bytes = b"", env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        environment = {**clean_environment(), **(env or {})}
        command = [*map(str, arguments)]
        if sys.platform == "linux":
            return _asked(gllint[-1], command, cwd, stdin, environment)
        return subprocess.run(
            [*gllint, *command],
            cwd=cwd,
            input=stdin,
            capture_output=True,
            env=environment,
            timeout=120,
            check=False,
        )

    return run


@pytest.fixture
def check(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Run ``gllint check`` in this process and return ``path:line:column: code`` of each finding.

    Anything but findings or none fails. ``whole`` gives the lines as they are.
    """

    def check(*arguments: str | Path, cwd: Path, stdin: bytes = b"", whole: bool = False) -> list[str]:
        monkeypatch.chdir(cwd)
        given = ["check", "--output-format", "concise", *map(str, arguments)]
        done = CliRunner().invoke(cli, given, input=stdin, catch_exceptions=False)
        assert done.exit_code in (0, 1), done.stderr
        lines = done.stdout.splitlines()
        assert bool(lines) == bool(done.exit_code)
        return lines if whole else [" ".join(line.split(" ")[:2]) for line in lines]

    return check


def clean_environment() -> dict[str, str]:
    """The environment without what would change gllint's output."""
    gone = {"NO_COLOR", "FORCE_COLOR", "GLLINT_CACHE_DIR", "CI_PROJECT_DIR"}
    return {key: value for key, value in os.environ.items() if key not in gone}


def _asked(
    address: str, arguments: list[str], cwd: Path, stdin: bytes, environment: dict[str, str]
) -> subprocess.CompletedProcess[bytes]:
    """Ask ``tests/warm.py`` for a run; a process that asks for it would take a third of the time."""
    message = marshal.dumps({"folder": str(cwd), "environment": environment, "arguments": arguments})
    with ExitStack() as stack:
        streams = [stack.enter_context(tempfile.TemporaryFile(buffering=0)) for _ in range(3)]
        streams[0].write(stdin)
        streams[0].seek(0)
        server = stack.enter_context(socket.socket(socket.AF_UNIX))
        server.settimeout(120)
        server.connect(address)
        socket.send_fds(server, [len(message).to_bytes(4)], [stream.fileno() for stream in streams])
        server.sendall(message)
        status = int(server.recv(16) or b"120")
        outputs = []
        for stream in streams[1:]:
            stream.seek(0)
            outputs.append(stream.read())
    return subprocess.CompletedProcess(arguments, status, *outputs)
