"""flake8 with the plugin: the same findings at the same places, and nothing else."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from gllint.hosts.flake8 import Plugin
from gllint.run.engine import Engine, Options
from gllint.run.results import Result
from gllint.run.workspace import Workspace

Write = Callable[..., Path]
Check = Callable[..., list[str]]
Flake8 = Callable[..., list[str]]
EXAMPLE = Path(__file__).parents[2] / "examples" / "building-energy"

TOOLS = """\
from crewai.tools import BaseTool


class Meter(BaseTool):
    def _run(self, site):
        return site


meter = Meter()
"""


@pytest.fixture
def flake8(gllint: list[str]) -> Flake8:
    """Return the findings of a real flake8, as ``path:line:column: code message``."""

    def flake8(*arguments: str, cwd: Path, stdin: bytes | None = None, select: str = "GL") -> list[str]:
        done = subprocess.run(
            [*gllint, "-m", "flake8", "--select", select, *arguments],
            cwd=cwd,
            input=stdin,
            capture_output=True,
            timeout=120,
            check=False,
        )
        said = done.stderr.decode()
        assert all(". Not checked: " in line for line in said.splitlines()), said
        return sorted(line.removeprefix("./") for line in done.stdout.decode().splitlines())

    return flake8


@pytest.fixture
def project(write: Write, agent: str) -> Path:
    """Findings of all sorts: across files, suppressed in each way, excluded, configured."""
    return write(
        {
            "pyproject.toml": "[tool.gllint]\nextend-select = ['GL104']\nextend-exclude = ['vendored']\n"
            "[tool.gllint.per-file-ignores]\n'tests/*' = ['GL1']\n",
            ".gitignore": "ignored/\n",
            "agent.py": agent,
            "tools.py": TOOLS,
            "pkg/__init__.py": "",
            "pkg/use.py": "from tools import meter\n\n\ndef go():\n    return meter.run('x')\n",
            "tests/test_a.py": agent,
            "vendored/agent.py": agent,
            "ignored/agent.py": agent,
            "quiet.py": "FINAL_MESSAGE = '5 kWh'  # noqa: GL401\nfinal_message = '6 kWh'  # gllint: ignore[GL401] ok\n",
            "texts.py": 'FINAL_MESSAGE = """\n5 kWh\n6 kWh\n"""  # noqa: GL4\n',
            "unused.py": "x = 1  # noqa: GL401\ny = 2  # gllint: ignore[GL101]\n",
            "off.py": "# flake8: noqa\nFINAL_MESSAGE = '5 kWh'\n",
            "codes_off.py": "# flake8: noqa: E501\nFINAL_MESSAGE = '5 kWh'\n",
            "mark.py": "\ufeffFINAL_MESSAGE = 'd\u00e9j\u00e0 5 kWh'\r\nx = 1\r\n".encode(),
            "plain.py": "import os\n",
            "nested/gllint.toml": "select = ['GL101']\n",
            "nested/agent.py": agent,
        }
    )


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_names_the_same_findings_as_the_program(
    flake8: Flake8, project: Path, check: Check, jobs: str
) -> None:
    ours = sorted(check(cwd=project, whole=True))
    assert {re.search(r" (GL\d+)", line)[1] for line in ours if re.search(r" (GL\d+)", line)} == {  # type: ignore[index]
        "GL101", "GL301", "GL401", "GL901",
    }  # fmt: skip
    assert flake8("--jobs", jobs, *(["."] if jobs == "1" else []), cwd=project) == ours


def test_files_and_folders_by_name(flake8: Flake8, project: Path, check: Check) -> None:
    for paths in (
        ["pkg"],
        ["pkg/use.py", "agent.py"],
        ["vendored/agent.py"],
        ["vendored"],
        ["ignored/agent.py"],
    ):
        ours = sorted(check(*paths, cwd=project, whole=True))
        assert flake8(*paths, cwd=project) == ours, paths
        assert ours


def test_standard_input(flake8: Flake8, project: Path, check: Check) -> None:
    text = b"from tools import meter\n\n\ndef other():\n    return meter.run('y')\n"
    for name in ("pkg/use.py", "pkg/new.py"):
        ours = check("-", "--stdin-filename", name, cwd=project, stdin=text, whole=True)
        assert flake8("-", "--stdin-display-name", name, cwd=project, stdin=text) == ours
        assert len(ours) == 1
    latin = "# coding: latin-1\nFINAL_MESSAGE = 'd\u00e9j\u00e0 5 kWh'\n".encode("latin-1")
    assert flake8("-", cwd=project, stdin=latin) == check("-", cwd=project, stdin=latin, whole=True)
    assert flake8("-", cwd=project, stdin=b"FINAL_MESSAGE = '5 kWh'\n") == check(
        "-", cwd=project, stdin=b"FINAL_MESSAGE = '5 kWh'\n", whole=True
    )


def test_the_bundled_example(flake8: Flake8, check: Check) -> None:
    ours = sorted(check("--no-cache", cwd=EXAMPLE, whole=True))
    assert len(ours) >= 5
    assert flake8(cwd=EXAMPLE) == ours


def test_a_text_that_hides_a_finding_from_flake8_is_told(
    write: Write, check: Check, gllint: list[str]
) -> None:
    top = write({"a.py": "final_message = '5 kWh # noqa'\nfinal_message = '6 kWh'  # noqa: GL401\n"})
    assert check(cwd=top) == ["a.py:1:18: GL401"]
    command = [*gllint, "-m", "flake8", "--select", "GL"]
    done = subprocess.run(command, cwd=top, capture_output=True, timeout=120, check=False)
    assert done.stdout == b""
    assert (
        b"a.py:1: flake8 takes a text for `noqa` and hides GL401" in done.stderr
        and done.stderr.count(b"\n") == 1
    )
    done = subprocess.run(
        [*command, "--disable-noqa"], cwd=top, capture_output=True, timeout=120, check=False
    )
    assert done.stdout.count(b"GL401") == 2 and done.stderr == b""


def test_disable_noqa_is_obeyed(flake8: Flake8, project: Path) -> None:
    lines = flake8("--disable-noqa", "quiet.py", "unused.py", cwd=project)
    assert [line.split(" ")[0] + line.split(" ")[1] for line in lines] == [
        "quiet.py:1:18:GL401", "unused.py:2:8:GL901",
    ]  # fmt: skip


def test_other_plugins_are_left_alone(flake8: Flake8, project: Path) -> None:
    assert flake8("plain.py", cwd=project, select="F,GL") == ["plain.py:1:1: F401 'os' imported but unused"]


def test_a_wrong_configuration_is_said_once(project: Path, gllint: list[str]) -> None:
    (project / "pyproject.toml").write_text("[tool.gllint]\nselekt = []\n")
    done = subprocess.run(
        [*gllint, "-m", "flake8", "--jobs", "2", "."],
        cwd=project,
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 1
    assert done.stdout.decode().count("unknown key 'selekt'; did you mean 'select'?") == 1


_HEAVY = {"libcst", "pint", "jsonschema"}


@pytest.mark.parametrize(
    ("source", "found", "loaded"),
    [
        ("import subprocess\nsubprocess.run(['ls'])\n", [], set()),
        ('FINAL_MESSAGE = "5 kWh"\n', ["GL401"], set()),
    ],
)
def test_only_what_passes_the_screen_is_parsed(
    write: Write, source: str, found: list[str], loaded: set[str]
) -> None:
    top = write({"plain.py": source})
    code = (
        "import ast, json, sys; from gllint.hosts.flake8 import Plugin\n"
        "found = [text[:5] for _, _, text, _ in Plugin(ast.parse(''), 'plain.py', []).run()]\n"
        "print(json.dumps([found, sorted(sys.modules)]))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=top, check=True, capture_output=True, timeout=60)
    codes, modules = json.loads(done.stdout)
    assert (codes, _HEAVY & set(modules)) == (found, loaded)


def test_the_plugin_is_registered_under_its_code() -> None:
    from importlib.metadata import entry_points

    (found,) = [e for e in entry_points(group="flake8.extension") if e.name == "GL"]
    assert found.load() is Plugin


def test_each_file_is_asked_for_its_own_findings_alone(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a candidate says is looked at once, not again for each file that flake8 hands over."""
    count = 12
    tool = (
        'from langchain_core.tools import tool\n\n\n@tool\ndef heat(site):\n    return {"heat_kwh": 80.0}\n'
    )
    top = write({"gllint.toml": "", **{f"a{number}.py": tool for number in range(count)}})
    looks: list[Any] = []
    original = Result.concerned.__get__
    monkeypatch.setattr(Result, "concerned", property(lambda known: looks.append(known) or original(known)))
    engine = Engine(Options(cache=False, jobs=1, fixes=False))
    found = [engine.check_file(str(path)).findings for path in sorted(top.glob("*.py"))]
    assert [len(findings) for findings in found] == [1] * count
    assert len(looks) == count


def test_files_that_gllint_leaves_out_make_nothing_be_checked_again(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """flake8 goes through installed packages, too; whoever names their files has them checked with the rest."""
    packages = {f".venv/lib/p{number}.py": TOOLS for number in range(6)}
    top = write({"gllint.toml": "", "tools.py": TOOLS, **packages})
    asked: list[Sequence[str]] = []
    original = Workspace._checked

    def checked(self: Workspace, paths: Sequence[str], fixes: bool) -> dict[str, Result]:
        asked.append(paths)
        return original(self, paths, fixes)

    monkeypatch.setattr(Workspace, "_checked", checked)
    monkeypatch.chdir(top)
    monkeypatch.setattr(Plugin, "_engine", None)
    monkeypatch.setattr(Plugin, "_paths", ())
    names = ["tools.py", *packages]
    for named in (["."], names):
        asked.clear()
        Plugin.parse_options(None, Namespace(filenames=named), [])
        for name in names:
            list(Plugin(ast.Module([], []), name, []).run())
        assert len(asked) == 1


def test_what_was_not_looked_at_is_on_standard_error(write: Write, gllint: list[str]) -> None:
    tool = "from agents import function_tool\n\n\n@function_tool\ndef f(site: str):\n    return fetch(site)\n"
    top = write({"gllint.toml": "", "a.py": tool, "b.py": tool, "c.py": tool})
    for jobs in ("1", "2"):
        done = subprocess.run(
            [*gllint, "-m", "flake8", "--select", "GL", "--jobs", jobs, "a.py", "b.py", "c.py"],
            cwd=top,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0 and not done.stdout
        [line] = done.stderr.decode().splitlines()
        assert line.startswith("gllint: 1 tool. Not checked: 1 (unknown result: ")
