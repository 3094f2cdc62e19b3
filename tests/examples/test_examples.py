"""The example project runs, shows each violation, and its repaired twin shows none."""

from __future__ import annotations

import asyncio
import filecmp
import json
import runpy
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from gllint_runtime import audit_run

EXAMPLES = Path(__file__).parents[2] / "examples"
SINGLE = EXAMPLES / "single-loop"
BROKEN, REPAIRED = EXAMPLES / "building-energy", EXAMPLES / "building-energy-repaired"


def run(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command], cwd=cwd, capture_output=True, encoding="utf-8", check=False
    )


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    return Path(shutil.copytree(BROKEN, tmp_path / "broken", ignore=shutil.ignore_patterns("__pycache__")))


def findings(gllint: list[str], folder: Path, *options: str) -> list[dict[str, Any]]:
    command = [*gllint, "check", "--no-cache", "--output-format", "json", *options, "."]
    done = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode in (0, 1), done.stderr
    return list(json.loads(done.stdout))


def printed(folder: Path) -> list[str]:
    """What an example prints, as its documentation shows it."""
    done = run("main.py", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"$ python examples/{folder.name}/main.py\n{done.stdout}```" in (EXAMPLES / "README.md").read_text(
        "utf-8"
    )
    return done.stdout.splitlines()


def test_broken_example_shows_each_of_the_five_in_the_files_that_differ(gllint: list[str]) -> None:
    found = findings(gllint, BROKEN)
    assert sorted(one["code"] for one in found) == ["GL101", "GL201", "GL301", "GL401", "GL501"]
    compared = filecmp.dircmp(BROKEN, REPAIRED, ignore=["__pycache__", ".gllint_cache"])
    assert (compared.left_only, compared.right_only, compared.diff_files) == ([], [], ["pyproject.toml"])
    inside = compared.subdirs["advisor"]
    assert (inside.left_only, inside.right_only) == ([], [])
    assert {Path(one["path"]).name for one in found} == set(inside.diff_files)


def test_repaired_example_is_silent_under_every_default_rule(gllint: list[str]) -> None:
    assert findings(gllint, REPAIRED) == []


def test_broken_example_is_refused_by_its_runtime() -> None:
    heat, solar, report = printed(BROKEN)
    assert heat.startswith("refused: Tool output validation failed at $.heat_demand_kwh")
    assert solar.startswith("refused: Unit 'kwh' is not allowed")
    assert json.loads(report)["solar"] == {"solar_yield": {"value": 5160, "unit": "kwh"}}


def test_repaired_example_prints_verified_messages() -> None:
    heat, solar, report = printed(REPAIRED)
    assert heat.startswith("verified: Your house needs 32094.72 kWh of heat a year")
    assert solar == "verified: Panels on your roof would yield 7860.00 kWh a year. (from solar_yield)"
    assert json.loads(report) == {
        "heating": {"emissions": {"value": 76.83, "unit": "kgCO2e"}},
        "solar": {"solar_yield": {"value": 5160, "unit": "kWh"}},
    }


def test_fixed_example_has_no_fixable_finding_and_its_runtime_accepts_its_tools(
    gllint: list[str], broken: Path
) -> None:
    left = findings(gllint, broken, "--fix", "--unsafe-fixes")
    assert [found for found in left if found["fix"] is not None] == []
    heat, solar, report = run("main.py", cwd=broken).stdout.splitlines()
    assert heat.startswith("refused: Naked number '9,500'")  # words are nobody's to repair but the author's
    assert solar.startswith("verified: Panels on your roof would yield 7860.00 kWh a year.")
    assert json.loads(report)["solar"] == {"solar_yield": {"value": 5160, "unit": "kWh"}}


def test_a_single_loop_answers_in_three_ways(gllint: list[str]) -> None:
    done = run("main.py", cwd=SINGLE)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "error NO_NAKED_NUMBERS",
        "4 in all.",
        "max_attempts_reached MAX_STEPS",
        "error ARGS_SCHEMA",
    ]
    assert findings(gllint, SINGLE) == []


CALCULATIONS = [
    ("add", (2, "kWh"), (1, "MWh"), (1002, "kWh")),
    ("subtract", (2, "kWh"), (3, "kWh"), (-1, "kWh")),
    ("multiply", (2.5, "EUR"), (4, "count"), (10.0, "EUR")),
    ("divide", (9, "m2"), (2, "count"), (4.5, "m2")),
    ("divide", (9, "m2"), (0, "count"), "nothing can be divided by zero"),
    ("multiply", (9, "m2"), (2, "m2"), "multiply takes a count, not m2"),
    ("add", (9, "m2"), (2, "kWh"), "[UNIT_UNKNOWN] 'kWh' does not convert to 'm2'."),
    ("power", (9, "m2"), (2, "count"), "'power' is not one of"),
]


@pytest.mark.parametrize(("operation", "a", "b", "expected"), CALCULATIONS)
def test_its_calculator_works_with_units(operation: str, a: Any, b: Any, expected: Any) -> None:
    registry = runpy.run_path(str(SINGLE / "tools.py"))["registry"]()
    quantities = {name: {"value": value, "unit": unit} for name, (value, unit) in {"a": a, "b": b}.items()}
    result = asyncio.run(registry.execute("calculator", operation=operation, **quantities))
    if isinstance(expected, tuple):
        assert result.data == {"success": True, "result": {"value": expected[0], "unit": expected[1]}}
    else:
        assert expected in (result.error_message or result.data["error"])


def test_its_tables_and_pages() -> None:
    registry = runpy.run_path(str(SINGLE / "tools.py"))["registry"]()
    found = registry.invoke("db_query_candidates", {"where": {"city": "Oslo"}, "limit": 1})
    assert [row["name"] for row in found["rows"]] == ["Bo"] and found["found"] == {
        "value": 1,
        "unit": "count",
    }
    assert registry.invoke("db_query_opportunities", {"where": '{"rank": "x"}'})["success"] is False
    page = registry.invoke("web_fetch_mock", {"url": "https://example.org/jobs", "max_chars": 9})
    assert page == {"success": True, "text": "Engineers", "truncated": True}
    assert registry.invoke("web_fetch_mock", {"url": "https://example.org"})["success"] is False


def test_the_audit_on_a_cluster_gives_the_verdicts_of_the_command(tmp_path: Path) -> None:
    """Where Ray is, two of its workers judge as the plain command does; elsewhere the same function, row by row."""
    example = runpy.run_path(str(EXAMPLES / "audit" / "ray_data.py"))
    heat = '{"heat": {"value": 1234.56, "unit": "kWh"}}'
    lines = []
    for count in range(200):
        call = {"id": "c1", "type": "function", "function": {"name": "meter", "arguments": "{}"}}
        messages = [
            {"role": "user", "content": "How much heat?"},
            {"role": "assistant", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": heat},
            {"role": "assistant", "content": f"It used 1.23 MWh and {500 + count} kg of wood."},
        ]
        lines.append(json.dumps({"conversation_id": f"c{count}", "messages": messages}))
    (tmp_path / "runs.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    numbers = audit_run([json.loads(line) for line in lines])
    rows = [row for line in lines for row in example["judged"]({"text": line})]
    places = ("conversation", "answer", "start", "end", "verdict")
    assert [[row[key] for key in places] for row in rows] == [
        [number[key] for key in places] for number in numbers.numbers
    ]
    assert numbers.counts == {"sourced": 200, "unsourced": 200}
    if find_spec("ray") is None:
        pytest.skip("Ray is not installed: the function of the example was judged alone")
    counts = example["main"](str(tmp_path / "runs.jsonl"), str(tmp_path / "numbers"), 2)
    assert counts == numbers.counts
