"""What the pages show is so: a page is a session in a folder of its own, its blocks taken in order.

A block with a title is a file. ``python`` without one is run, together with those before it; ``console`` holds commands
behind ``$`` and, below each, all that it prints (``...`` stands for what is left out). ``sh`` and ``text`` claim nothing.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

pytestmark = pytest.mark.timeout(230)  # it starts what takes its time on a busy machine

REPOSITORY = Path(__file__).parents[2]
BLOCK = re.compile(
    r"^(?P<fence>```+)(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^(?P=fence)$", re.MULTILINE | re.DOTALL
)
PROGRAMS = {"gllint", "python", "flake8"}


class Block(NamedTuple):
    kind: str
    title: str
    text: str


def pages() -> Iterator[Path]:
    yield from (REPOSITORY / name for name in ("README.md", "CONTRIBUTING.md", "examples/README.md"))
    rules = REPOSITORY / "docs" / "rules"  # whose blocks are executed with the rules
    yield from sorted(path for path in (REPOSITORY / "docs").rglob("*.md") if path.parent != rules)


def blocks(page: Path) -> list[Block]:
    return [Block(*found[1:]) for found in BLOCK.findall(page.read_text("utf-8"))]


def claims(page: Path) -> bool:
    return any(block.kind in ("python", "console") for block in blocks(page))


def imported(code: str) -> set[str]:
    """The packages that code imports."""
    names = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.partition(".")[0])
    return names


def frameworks_elsewhere() -> set[str]:
    """The frameworks that are tested in environments of their own and are not in this one."""
    gates = REPOSITORY / "tests" / "frameworks" / "gates"
    packages = {path.stem.removeprefix("test_").partition("_adk")[0] for path in gates.glob("test_*.py")}
    return {package for package in packages if importlib.util.find_spec(package) is None}


def commands(text: str) -> Iterator[tuple[str, str]]:
    """Each command with what it is to print."""
    parts = re.split(r"^\$ (.+)$\n?", text, flags=re.MULTILINE)
    assert not parts[0].strip(), "a console block begins with a command"
    yield from zip(parts[1::2], parts[2::2], strict=True)


def fits(expected: str, printed: str) -> bool:
    lines = [
        ".*" if line == "..." else ".*".join(map(re.escape, line.split("...")))
        for line in expected.splitlines()
    ]
    return re.fullmatch("\n".join(lines), printed.rstrip("\n"), re.DOTALL) is not None


@pytest.fixture(scope="module")
def programs(gllint: list[str], tmp_path_factory: pytest.TempPathFactory) -> str:
    """A search path on which ``gllint`` is the one that is imported already."""
    folder = tmp_path_factory.mktemp("programs")
    (folder / "gllint").write_text(f'#!/bin/sh\nexec {shlex.join(gllint)} "$@"\n')
    (folder / "gllint").chmod(0o755)
    return os.pathsep.join([str(folder), str(Path(sys.executable).parent), os.environ.get("PATH", "")])


def run(command: list[str] | str, folder: Path, programs: str) -> subprocess.CompletedProcess[str]:
    gone = {"FORCE_COLOR", "GLLINT_CACHE_DIR"}
    environment = {key: value for key, value in os.environ.items() if key not in gone}
    environment |= {"PATH": programs, "NO_COLOR": "1"}
    return subprocess.run(
        command, shell=isinstance(command, str), cwd=folder, env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", timeout=120, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    "page",
    [page for page in pages() if claims(page)],
    ids=lambda page: page.relative_to(REPOSITORY).as_posix(),
)
def test_a_page_shows_what_happens(page: Path, tmp_path: Path, programs: str) -> None:
    shutil.copytree(
        REPOSITORY / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__")
    )
    code = ""
    for block in blocks(page):
        if block.title:
            path = tmp_path / block.title
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, "utf-8")
        elif block.kind == "python":
            code += block.text + "\n"
        elif block.kind == "console":
            for command, expected in commands(block.text):
                assert command.split()[0] in PROGRAMS, f"{command}: is not run; mark the block `sh`"
                done = run(command.partition("  #")[0], tmp_path, programs)
                assert done.returncode in (0, 1), f"{command}: {done.stdout}"
                assert not expected.strip() or fits(expected, done.stdout), f"{command} prints\n{done.stdout}"
    if missing := sorted(imported(code) & frameworks_elsewhere()):
        pytest.skip(
            f"needs {' and '.join(missing)}, which `.ci/frameworks` tests in an environment of its own"
        )
    if code:
        # The programs of a gate's page stand beside what answers for their API.
        folder = tmp_path / "examples" / "gate" if page.parent.name == "gate" else tmp_path
        done = run([sys.executable, "-c", code], folder, programs)
        assert done.returncode == 0, done.stdout


def test_blocks_of_data_are_what_they_say() -> None:
    for page in pages():
        for block in blocks(page):
            if block.kind == "json":
                is_lines = block.title.endswith(".jsonl")
                for text in block.text.splitlines() if is_lines else [block.text]:
                    json.loads(text)
            elif block.kind in ("yaml", "yml"):
                yaml.safe_load(block.text)
