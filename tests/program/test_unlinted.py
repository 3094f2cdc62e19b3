"""A fix is safe only where files that gllint does not lint are seen to stay right, too."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from gllint.run.engine import Engine, Options
from gllint_rules.check.check import Check
from gllint_rules.fixes import elsewhere
from gllint_rules.project.mentions import Mention

HEAT = """from langchain_core.tools import tool


@tool
def heat(site):
    return {"site": site, "heat_kwh": survey(site) * 80.0}
"""
UNIT = """from langchain_core.tools import tool


@tool
def heat(site):
    return {"heat": {"value": survey(site) + 1, "unit": "kwh"}}
"""
USE = "from plant.tools import heat\nprint(heat('a')['heat_kwh'] * 2)\n"
SUM = "from plant.tools import heat\nprint(sum(heat('a').values()))\n"
NOTEBOOK = json.dumps({"nbformat": 4, "cells": [{"cell_type": "code", "source": USE.splitlines(True)}]})


def safety(top: Path, files: dict[str, str], tools: str = HEAT, config: str = "") -> set[str]:
    """How sure the fixes are that `check` offers beside ``files``, cold and then warm."""
    write(top, {"gllint.toml": config, "plant/__init__.py": "", "plant/tools.py": tools, **files})
    return offered(top)


def write(top: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text, encoding="utf-8")


def offered(top: Path) -> set[str]:
    engine = Engine(Options(jobs=1))
    findings = engine.check([str(top)]).findings
    engine.close()
    return {f.fix.applicability for f in findings if f.fix is not None and f.code != "GL901"}


@pytest.mark.parametrize("use", [USE, SUM], ids=["by key", "by name"])
@pytest.mark.parametrize(
    ("name", "files", "config"),
    [
        ("old/run.py", {}, 'extend-exclude = ["old"]'),
        ("old/run.py", {".gitignore": "old/\n"}, ""),
        ("build/run.py", {}, ""),
        ("other/run.py", {"other/pyproject.toml": ""}, ""),
        ("run.pyw", {}, ""),
        ("bin/run", {}, ""),
        (".github/run.py", {".gitignore": "*.py\n!tools.py"}, ""),
        ("README.md", {}, ""),
        ("docs/use.rst", {}, ""),
        ("run.ps1", {}, ""),
    ],
)
def test_a_use_that_nobody_lints(
    tmp_path: Path, use: str, name: str, files: dict[str, str], config: str
) -> None:
    assert safety(tmp_path, {name: use, **files}, config=config) == {"unsafe"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("old/run.ipynb", NOTEBOOK),
        ("old/broken.ipynb", NOTEBOOK[:-3]),
        ("old/broken.py", USE + "def f(:\n"),
        ("old/reflects.py", "import importlib\nimportlib.import_module(name).run('a')['x'] * 2\n"),
        ("old/named.py", "from plant.tools import heat as warm\nprint(sum(warm('a').values()))\n"),
        ("old/stub.pyi", "class Heat(TypedDict):\n    heat_kwh: float\n"),
        ("page.html", "<b>{{ result.heat_kwh }}</b>"),
        ("page.j2", "{{ (heat_kwh * 2) | round }}"),
        ("page.txt", "It took {heat_kwh:.1f} kWh."),
        ("app.js", "show(result.heat_kwh * 2)"),
        ("report.sql", "select heat_kwh from results"),
        ("schema.json", '{"properties": {"heat_kwh": {"type": "number"}}}'),
        ("README.md", ">>> sum(heat('a').values())\n80.0\n"),
        ("README.md", "```\ntotal = sum(heat(site).values())\n```\n"),
        ("run.sh", "python -c \"from plant.tools import heat; print(sum(heat('a').values()))\"\n"),
    ],
)
def test_other_ways_to_use_it(tmp_path: Path, name: str, text: str) -> None:
    assert safety(tmp_path, {name: text}, config='extend-exclude = ["old"]') == {"unsafe"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("README.md", "The heat_kwh of a site, and what heat is.\n"),
        ("old/run.py", "def heat(x):\n    return x\n\n\nheat(3)\n"),
        ("old/run.py", "from plant.tools import heat\nagent = Agent(tools=[heat])\n"),
        ("build/lib/plant/tools.py", HEAT),
        ("agents.yaml", "tools: [heat, loss]\n"),
        ("theme.css", ".heat { color: red }\n"),
        ("gllint-baseline.json", '{"version": 1, "findings": [\n{"text": "\\"heat_kwh\\": 1"}]}'),
        (".mypy_cache/tools.json", '{"heat_kwh": 1}'),
        ("env/pyvenv.cfg", "heat_kwh = 1"),
        ("data.bin", "\0heat_kwh"),
    ],
)
def test_what_is_no_use(tmp_path: Path, name: str, text: str) -> None:
    assert safety(tmp_path, {name: text}, config='extend-exclude = ["old"]') == {"safe"}


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("old.py", 'if u["unit"] == "kwh":\n    pass\n', "unsafe"),
        ("old.py", 'x = FACTORS[q["unit"]]\n', "unsafe"),
        ("page.html", "{% if q.unit %}", "unsafe"),
        ("factors.yaml", "kwh: 0.3\n", "unsafe"),
        ("README.md", "Heat in kwh of a year.\n", "safe"),
        ("old.py", 'q["unit"] = "kW"\n', "safe"),
    ],
)
def test_a_unit(tmp_path: Path, name: str, text: str, expected: str) -> None:
    assert safety(tmp_path, {name: text}, tools=UNIT, config='exclude = ["old.py"]') == {expected}


def test_a_file_elsewhere_in_the_repository(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    write(tmp_path, {"scripts/run": USE})
    assert safety(tmp_path / "backend", {}) == {"unsafe"}


def test_what_is_kept_follows_what_nobody_lints(tmp_path: Path) -> None:
    assert safety(tmp_path, {}) == {"safe"}
    write(tmp_path, {"run.pyw": SUM})
    assert offered(tmp_path) == {"unsafe"}
    (tmp_path / "run.pyw").unlink()
    assert offered(tmp_path) == {"safe"}


def test_too_much_to_look_at_is_not_sure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gllint.run.unlinted.MOST_FILES", 3)
    assert safety(tmp_path, {f"data/{n}.txt": "" for n in range(5)}) == {"unsafe"}


def test_too_many_bytes_are_not_sure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gllint.run.unlinted.MOST_BYTES", 300)
    assert safety(tmp_path, {"data.txt": "x" * 400}) == {"unsafe"}


def test_pipes_and_links_hold_nobody_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "nowhere").symlink_to(tmp_path / "gone")
    (tmp_path / "itself").symlink_to("itself")
    assert safety(tmp_path, {}) == {"safe"}


def test_what_cannot_be_looked_at_is_not_sure(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("x" * 300)
    assert safety(tmp_path, {}) == {"unsafe"}


def test_a_key_is_looked_for_once_however_many_tools_have_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count, looks = 20, 0

    def is_harmless(mention: Mention, key: str) -> bool:
        nonlocal looks
        looks += 1
        return original(mention, key)

    original = elsewhere._is_harmless_key
    monkeypatch.setattr(elsewhere, "_is_harmless_key", is_harmless)
    tools = (f'@tool\ndef f{i}(x):\n    return {{"a_kwh": x * 2.0}}\n' for i in range(count))
    (tmp_path / "gllint.toml").touch()
    (tmp_path / "a.py").write_text("from langchain_core.tools import tool\n" + "".join(tools))
    outcome = Engine(Options(cache=False, jobs=1)).check([str(tmp_path)])
    assert len([finding for finding in outcome.findings if finding.fix is not None]) == count
    assert looks == count


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_is_settled_is_not_worked_out_again_when_a_fix_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int
) -> None:
    tools = {f"plant/t{number}.py": HEAT + "\n# " + "x" * 300_000 for number in range(2)}
    write(tmp_path, {"gllint.toml": "", "plant/__init__.py": "", "plant/use.py": USE, **tools})
    made, asked = tmp_path / "made", tmp_path / "asked"
    begin, report = Check.__init__, Check.reports

    def note(self: Check, *given: object) -> None:
        with made.open("a") as file:
            file.write(f"{given[1]}\n")
        begin(self, *given)  # type: ignore[arg-type]

    def noted(self: Check, *given: object) -> object:
        with asked.open("a") as file:
            file.write(f"{self._module.path}\n")
        return report(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(Check, "__init__", note)
    monkeypatch.setattr(Check, "reports", noted)
    engine = Engine(Options(jobs=jobs, cache=False))
    engine.check([str(tmp_path)])
    engine.close()
    checks = made.read_text().split()
    assert len(checks) == len(set(checks))  # each file once
    assert len(asked.read_text().split()) > len(checks)  # and some were asked again
