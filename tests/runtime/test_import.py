"""What importing costs: nothing heavy before it is needed, and no parser or command line at all."""

from __future__ import annotations

import subprocess
import sys

import pytest

import gllint_runtime
import gllint_runtime.errors
import gllint_runtime.schemas
import gllint_runtime.tools
import gllint_runtime.units

HEAVY = [
    "pint",
    "jsonschema",
    "msgspec",
    "libcst",
    "click",
    "flake8",
    "pygls",
    "anthropic",
    "openai",
    "opentelemetry",
]

RUN = """
from gllint_runtime import ScriptedProvider, Tool, ToolRegistry, ToolRuntime
registry = ToolRegistry()
registry.register(Tool(name="meter", fn=lambda: {"heat": {"value": 1, "unit": "MWh"}}))
final = {"kind": "final", "message": "{{claim:0}}", "claims": [
    {"source_call_id": "tc_1", "path": "$.heat", "quantity": {"value": VALUE, "unit": UNIT}}]}
script = [{"kind": "tool_call", "tool_name": "meter", "arguments": {}}, final]
print(ToolRuntime(ScriptedProvider(script), registry).run("", "")["message"])
"""


def loaded(program: str) -> set[str]:
    """Which of the heavy packages a fresh interpreter holds after ``program``."""
    report = "\nimport sys; print('LOADED', *{name.split('.')[0] for name in sys.modules})"
    done = subprocess.run(
        [sys.executable, "-c", program + report], capture_output=True, text=True, check=True
    )
    return set(done.stdout.rsplit("LOADED", 1)[1].split()) & set(HEAVY)


@pytest.mark.parametrize(
    "program",
    [
        "import gllint_runtime",
        "from gllint_runtime import *",
        "import gllint_runtime.policy.units, gllint_runtime.policy.numbers, gllint_runtime.policy.claims, gllint_runtime.policy.schemas",
        "import gllint_runtime.providers.anthropic, gllint_runtime.providers.openai",
    ],
)
def test_importing_loads_nothing_heavy(program: str) -> None:
    assert loaded(program) == set()


def test_a_session_loads_nothing_heavy_and_compiles_little() -> None:
    count = """
import re
compiled = []
compile = re._compiler.compile
re._compiler.compile = lambda *what: (compiled.append(what), compile(*what))[1]
"""
    program = (
        f"{count}from gllint_runtime import Session; Session()\nassert len(compiled) <= 100, len(compiled)"
    )
    assert loaded(program) == set()


def test_a_conversion_loads_no_pint() -> None:
    assert "pint" not in loaded(RUN.replace("VALUE", "1").replace("UNIT", "'MWh'"))
    assert "pint" not in loaded(RUN.replace("VALUE", "1000").replace("UNIT", "'kWh'"))


def test_the_parser_and_the_command_line_never_load() -> None:
    assert not {"libcst", "click", "flake8"} & loaded(RUN.replace("VALUE", "1000").replace("UNIT", "'kWh'"))


def test_every_public_name_is_there() -> None:
    for name in gllint_runtime.__all__:
        assert getattr(gllint_runtime, name) is not None
    with pytest.raises(AttributeError, match="nothing"):
        gllint_runtime.nothing  # noqa: B018


def test_greenlang_users_change_the_package_name_only() -> None:
    for module in (gllint_runtime.tools, gllint_runtime.errors, gllint_runtime.schemas, gllint_runtime.units):
        for name in module.__all__:
            if name in gllint_runtime.__all__:
                assert getattr(module, name) is getattr(gllint_runtime, name)
    assert "ToolRuntime" in gllint_runtime.tools.__all__
