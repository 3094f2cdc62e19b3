"""The same findings, however they are asked for: processes, order, cache, folder, hash seed, host."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from trust import AGENT, Budget, Row, gllint, write

_JSON = ("check", "--output-format", "json", "-q")
Place = tuple[str, int, int, str]


def suite(budget: Budget) -> Iterator[Row]:
    with TemporaryDirectory() as folder:
        top = Path(folder, "project")
        _copy(budget, top)
        expected = _found(gllint(*_JSON, "--no-cache", "--jobs", "1", cwd=top).stdout)
        names = [str(path.relative_to(top)) for path in sorted(top.rglob("*.py"))]
        tried, wrong = 0, list[str]()
        for what, arguments, variables, cwd in _ways(budget, top, names):
            if tried and not budget.left():
                break
            tried += 1
            done = gllint(*_JSON, *arguments, cwd=cwd, **variables)
            if _found(done.stdout, "" if cwd == top else "project/") != expected:
                wrong.append(f"{what}: other findings {done.stderr[-200:]}")
        wrong += [] if _flake8(top) == {(p, *rest) for p, *rest in map(_place, expected)} else ["flake8"]
        yield Row("equivalence", f"{tried + 1} ways over {len(names)} files, {len(expected)} findings", wrong)


def _copy(budget: Budget, top: Path) -> None:
    """A project of made and of real files."""
    write(
        top, {"gllint.toml": "", **{f"p{i}/{name}": text for i in range(4) for name, text in AGENT.items()}}
    )
    for number, path in enumerate(budget.files()[:100]):
        (top / "real").mkdir(exist_ok=True)
        shutil.copy(path, top / "real" / f"m{number}.py")


def _ways(
    budget: Budget, top: Path, names: list[str]
) -> Iterator[tuple[str, tuple[str, ...], dict[str, str], Path]]:
    shuffled = list(names)
    budget.random.shuffle(shuffled)
    yield "cold", (), {}, top
    yield "warm", (), {}, top
    yield "2 jobs", ("--no-cache", "--jobs", "2"), {}, top
    yield "files named in another order", ("--no-cache", *shuffled), {}, top
    yield "hash seed", ("--no-cache",), {"PYTHONHASHSEED": "7"}, top
    yield "from the folder above", ("--no-cache", "project"), {}, top.parent
    yield "8 jobs", ("--no-cache", "--jobs", "8"), {}, top
    yield "optimised", ("--no-cache",), {"PYTHONOPTIMIZE": "2"}, top
    yield "ASCII", ("--no-cache",), {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}, top


def _found(text: str, above: str = "") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(text)
    for finding in found:
        finding["path"] = finding["path"].removeprefix(above)
    return found


def _place(finding: dict[str, Any]) -> Place:
    return finding["path"], finding["line"], finding["column"], finding["code"]


def _flake8(top: Path) -> set[Place]:
    command = [
        sys.executable,
        "-m",
        "flake8",
        "--select",
        "GL",
        "--jobs",
        "1",
        "--format",
        "%(path)s\t%(row)d\t%(col)d\t%(code)s",
    ]
    done = subprocess.run(command, cwd=top, capture_output=True, text=True, timeout=600, check=False)
    rows = (line.split("\t") for line in done.stdout.splitlines())
    return {(path.removeprefix("./"), int(row), int(column), code) for path, row, column, code in rows}
