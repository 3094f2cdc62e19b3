"""The rules in several processes: the same findings, whoever asks about all files and whoever dies."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Write = Callable[..., Path]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux alone")

# A run that takes its few files for many. It says which processes checked a file.
_RUN = """\
import os, sys
from gllint.cli.main import main
from gllint.run import crew, project_processes, rules

project_processes.WORTH_BYTES = crew.WORTH_BYTES = 0
check_file, parent, kind = rules.check_file, os.getpid(), sys.argv.pop()

def checked(index, path, *how):
    if os.getpid() != parent:
        if kind == "dies" and path.endswith("m7.py"):
            os._exit(1)
        sys.stderr.write(f"{os.getpid()}\\n")
    return check_file(index, path, *how)

def started(index, paths):
    if index.means.pool.jobs > 1:
        index.means.pool._start().submit(int).result()  # as on a large tree, where several processes screen
    return is_worth(index, paths)

is_worth, crew.is_worth, rules.check_file = crew.is_worth, started, checked
sys.exit(main(sys.argv[1:]))
"""
_TOOL = """\
from crewai.tools import BaseTool
from helper import load


class Meter{n}(BaseTool):
    name: str = "meter_{n}"

    def _run(self, site: str, hours: float):
        return {{"energy": load(site) * hours}}


def ask(registry):
    return registry.get("meter_{n}"), {{"kind": "tool_call", "tool_name": "meter_{other}"}}
"""


@pytest.fixture
def plant(write: Write) -> Path:
    files = {f"m{n}.py": _TOOL.format(n=n, other=3 * n) for n in range(20)}
    registry = "class ToolRegistry:\n    pass\n\n\nTOOL_REGISTRY = ToolRegistry()\n"
    files |= {"helper.py": "def load(site):\n    return len(site) + 2.5\n", "registry.py": registry}
    return write({"pyproject.toml": "", **files})


def found(top: Path, jobs: int, kind: str, output: str = "concise") -> tuple[bytes, set[bytes]]:
    """What a run prints, and the processes that checked a file elsewhere."""
    (top.parent / "run.py").write_text(_RUN)
    options = ["check", "--no-cache", "--quiet", "--output-format", output, "--jobs", str(jobs)]
    done = subprocess.run(
        [sys.executable, top.parent / "run.py", *options, kind],
        cwd=top,
        capture_output=True,
        timeout=120,
        env={**os.environ, "NO_COLOR": "1"},
        check=False,
    )
    assert done.returncode == 1, done.stderr.decode()
    return done.stdout, set(done.stderr.split())


def test_any_number_of_processes_finds_the_same(plant: Path) -> None:
    alone, none = found(plant, 1, "lives")
    assert not none and alone.count(b"GL101") == 20 and alone.count(b"GL303") == 13
    for jobs in (2, 3):
        together, processes = found(plant, jobs, "lives")
        assert together == alone
        assert len(processes) > 1


def test_any_number_of_processes_finds_the_same_fixes(plant: Path) -> None:
    alone, _ = found(plant, 1, "lives", "json")
    assert b'"applicability": "' in alone
    together, processes = found(plant, 2, "lives", "json")
    assert together == alone
    assert len(processes) > 1


def test_a_process_that_dies_takes_no_finding_with_it(plant: Path) -> None:
    alone, _ = found(plant, 1, "lives")
    assert found(plant, 3, "dies")[0] == alone


@pytest.mark.parametrize("kind", ["lives", "dies"])
def test_small_projects_are_checked_beside_a_large_one(write: Write, kind: str) -> None:
    """And again, where the process that did it is gone."""
    helper = "def load(site):\n    return len(site) + 2.5\n"
    files = {
        f"{p}/m{n}.py": _TOOL.format(n=n, other=n)
        for p, numbers in {"a": range(4), "b": range(20, 29), "c": range(6, 10)}.items()
        for n in numbers
    }
    top = write(
        {f"{p}/{name}": text for p in "abc" for name, text in (("gllint.toml", ""), ("helper.py", helper))}
        | files
    )
    alone, _ = found(top, 1, "lives")
    assert alone.count(b"GL101") == 17
    together, processes = found(top, 2, kind)
    assert together == alone
    assert len(processes) == 3 or kind == "dies"


# Six files, each with questions of its own about a great many modules, and with much to say of itself.
_TALKATIVE = """\
from types import SimpleNamespace
from gllint.run import crew, rules
from gllint.run.results import Result

PATHS = [f"{n:0>100}" for n in range(20_000)]
project = SimpleNamespace(
    modules=dict.fromkeys(PATHS), parts=lambda part, given, paths: {path: path for path in paths}, share_out=None,
    remember=lambda *parts: None,
)
means = SimpleNamespace(
    pool=SimpleNamespace(jobs=2, close=lambda: None), progress=SimpleNamespace(tick=lambda done: None),
    sources=SimpleNamespace(buffer_paths=lambda: ()),
)
index = SimpleNamespace(
    project=project,
    files=dict.fromkeys(PATHS, SimpleNamespace(size=1_000_000)),
    means=means,
    config=SimpleNamespace(codes=()),
    learnt=lambda: (),
    learn=lambda *learnt: None,
)
rules.check_file = lambda index, path, *how: Result(
    cuts=(len(index.project.share_out("names", path)),), notice=path * 10_000
)
said = crew.check_files(index, PATHS[:6], False)
print(sorted((path[-1], *result.cuts, len(result.notice)) for path, result in said.items()))
"""


def test_who_says_much_waits_for_nobody() -> None:
    """More than a pipe holds, both ways at once."""
    done = subprocess.run(
        [sys.executable, "-c", _TALKATIVE], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.stdout, done.stderr) == (f"{[(str(n), 20_000, 1_000_000) for n in range(6)]}\n", "")
