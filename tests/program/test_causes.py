"""What some named files cause in others: a finding is told with its leaf, its tools or a place of its evidence."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Write = Callable[..., Path]
Run = Callable[..., Any]
Check = Callable[..., list[str]]

PUMP = '''\
from langchain_core.tools import tool

from plant.physics import load, sheet
from plant.shapes import Reading


@tool
def pump(flow: str) -> dict:
    """Load of a pump."""
    return {"flow": flow, "load": load(flow)}


@tool
def pump_sheet(flow: str) -> dict:
    """All of a pump."""
    return sheet(flow)


@tool
def pump_reading(flow: str):
    """Reading of a pump."""
    return Reading(flow, level(flow))


def level(flow):
    return open(flow).read()
'''
FAN = '''\
from langchain_core.tools import tool

from plant.physics import sheet


@tool
def fan_sheet(speed: str) -> dict:
    """All of a fan."""
    return sheet(speed)
'''
PHYSICS = """\
from plant.measures import measured


def load(flow):
    return measured(flow)


def sheet(flow):
    return {"flow": flow, "power": 12.5}
"""
FILES = {
    "plant/__init__.py": "",
    "plant/pump.py": PUMP,
    "plant/fan.py": FAN,
    "plant/physics.py": PHYSICS,
    "plant/measures.py": "def measured(flow) -> float:\n    return float(flow)\n",
    "plant/shapes.py": "from dataclasses import dataclass\n\n\n@dataclass\nclass Reading:\n    flow: str\n    level: float\n",
    "plant/other.py": "def other():\n    return 3.0\n",
}
LOAD, POWER, LEVEL = (
    "plant/pump.py:10:35: GL101",
    "plant/physics.py:9:36: GL101",
    "plant/pump.py:22:26: GL101",
)


@pytest.fixture
def plant(write: Write) -> Path:
    return write(FILES)


@pytest.mark.parametrize(
    ("named", "told"),
    [
        (["plant/pump.py"], [POWER, LOAD, LEVEL]),  # the tools, and what two of them return
        (["plant/fan.py"], [POWER]),  # a tool; the leaf is in another file
        (["plant/measures.py"], [LOAD]),  # the annotation that makes it a number
        (["plant/physics.py"], [POWER, LOAD]),  # the leaf; the helper that passes the number on
        (["plant/shapes.py"], [LEVEL]),  # the field that became a number
        (["plant/other.py"], []),
        (["plant/other.py", "plant/fan.py"], [POWER]),
        (["."], [POWER, LOAD, LEVEL]),
    ],
)
def test_a_named_file_tells_what_it_causes(
    plant: Path, check: Check, named: list[str], told: list[str]
) -> None:
    for _ in range(2):  # worked out, then out of the cache
        assert check(*named, cwd=plant) == told


def test_the_message_names_the_first_tool_and_json_all(plant: Path, run: Run) -> None:
    done = run("check", "--output-format", "json", "plant/physics.py", cwd=plant)
    power = json.loads(done.stdout)[0]
    assert (
        power["message"]
        == "`power` in the results of tool `fan_sheet` and 1 other tool is a number without a unit"
    )
    assert power["tools"] == ["fan_sheet", "pump_sheet"]


def test_no_order_of_files_changes_what_is_told(plant: Path, run: Run) -> None:
    paths = sorted(path for path in FILES if path.endswith(".py"))
    outputs = {
        run("check", "--no-cache", "--output-format", "json", *order, cwd=plant).stdout
        for order in (paths, paths[::-1], ["."])
    }
    assert len(outputs) == 1


def test_a_tool_that_is_handed_over_twice_is_one(write: Write, run: Run) -> None:
    top = write(
        {
            "meter.py": "def heat(site: str):\n    return {'heat': 3.5}\n",
            "a.py": "from langchain_core.tools import StructuredTool\n\nfrom meter import heat\n\n"
            "one = StructuredTool.from_function(func=heat)\ntwo = StructuredTool.from_function(func=heat)\n",
            "b.py": "from langchain_core.tools import StructuredTool\n\nfrom meter import heat\n\n"
            "three = StructuredTool.from_function(func=heat)\n",
        }
    )
    (finding,) = json.loads(run("check", "--output-format", "json", cwd=top).stdout)
    assert (finding["path"], finding["tools"]) == ("meter.py", ["heat"])
    assert finding["message"] == "`heat` in the result of tool `heat` is a number without a unit"


def test_a_suppression_at_the_leaf_counts_wherever_it_is(plant: Path, check: Check) -> None:
    text = PHYSICS.replace("12.5}", "12.5}  # gllint: ignore[GL101] a sample")
    (plant / "plant/physics.py").write_text(text)
    assert check("plant/fan.py", cwd=plant) == []
    (plant / "plant/fan.py").write_text("")
    (plant / "plant/pump.py").write_text(PUMP.replace("return sheet(flow)", "return {}"))
    # It suppresses nothing any more, which is said where its own file is asked about.
    assert check("plant/pump.py", cwd=plant) == [LOAD, LEVEL]
    assert check("plant/physics.py", cwd=plant) == ["plant/physics.py:9:43: GL901", LOAD]


def test_the_settings_of_the_file_with_the_leaf_count(plant: Path, check: Check) -> None:
    (plant / "pyproject.toml").write_text("[tool.gllint.per-file-ignores]\n'plant/physics.py' = ['GL101']\n")
    assert check("plant/fan.py", cwd=plant) == []


def test_what_lies_outside_the_project_is_reported_at_the_call(plant: Path, check: Check) -> None:
    assert check("plant/fan.py", cwd=plant) == [POWER]
    (plant / "pyproject.toml").write_text("[tool.gllint]\nextend-exclude = ['plant/physics.py']\n")
    assert check("plant/fan.py", cwd=plant) == ["plant/fan.py:9:12: GL101"]


def test_only_named_files_are_written(plant: Path, run: Run) -> None:
    before = PHYSICS.replace('"power"', '"power_kw"').encode()
    (plant / "plant/physics.py").write_bytes(before)
    done = run("check", "--fix", "--unsafe-fixes", "plant/fan.py", cwd=plant)
    assert done.returncode == 1
    done = run("check", "--add-noqa", "plant/fan.py", cwd=plant)
    assert (plant / "plant/physics.py").read_bytes() == before
    run("check", "--fix", "--unsafe-fixes", ".", cwd=plant)
    assert b'"value": 12.5' in (plant / "plant/physics.py").read_bytes()


def test_standard_input_is_one_file(plant: Path, run: Run) -> None:
    done = run(
        "check", "-", "--stdin-filename", "plant/fan.py", "--output-format", "concise",
        cwd=plant, stdin=FAN.encode(),
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, b"")


def test_a_baseline_knows_findings_in_other_files(plant: Path, run: Run) -> None:
    run("check", "--write-baseline", "old.json", ".", cwd=plant)
    assert run("check", "--baseline", "old.json", "plant/fan.py", cwd=plant).returncode == 0
    (plant / "plant/physics.py").write_text(PHYSICS.replace('"power"', '"draw"'))
    assert run("check", "--baseline", "old.json", "plant/fan.py", cwd=plant).returncode == 1
