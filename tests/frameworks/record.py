"""Asks the real frameworks about the projects here, and records what they say.

    python tests/frameworks/record.py [FRAMEWORK …]            with the versions that pins.toml names
    python tests/frameworks/record.py --raise [FRAMEWORK …]    with the newest, writes the pins, says what differs
    python tests/frameworks/record.py --check [FRAMEWORK …]    writes nothing, says what differs

Each framework gets an environment of its own (`uv`, or `venv` and `pip` where there is none) below `--environments`, by
default a folder of the user's cache. The everyday test `test_recorded.py` needs the records alone.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PINS = HERE / "pins.toml"
RECORDED = HERE / "recorded"
_PIN = re.compile(r"^(?P<package>[A-Za-z0-9._-]+(?:\[[^\]]*\])?)==(?P<version>\S+)$")
_TIMEOUT = 600
# PyTorch, where a framework wants it, without the libraries of a graphics card.
_ENVIRONMENT = {**os.environ, "UV_TORCH_BACKEND": "cpu", "PYTHONDONTWRITEBYTECODE": "1"}


def environment(name: str, requires: list[str], folder: Path) -> Path:
    """The Python of an environment that holds ``requires``; raises ``CalledProcessError`` where they do not install."""
    home = folder / name
    python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    uv = shutil.which("uv")
    if not python.exists():
        make = (
            [uv, "venv", "--quiet", "--python", sys.executable, str(home)]
            if uv
            else [sys.executable, "-m", "venv", str(home)]
        )
        _run(make)
    install = (
        [uv, "pip", "install", "--quiet", "--python", str(python)]
        if uv
        else [str(python), "-m", "pip", "install", "-q"]
    )
    _run([*install, "--upgrade", *requires])
    return python


def _run(command: list[str]) -> str:
    return subprocess.run(
        command, check=True, capture_output=True, text=True, timeout=_TIMEOUT, env=_ENVIRONMENT
    ).stdout


def record(name: str, python: Path) -> dict[str, Any]:
    """What the framework says of each of its projects; a project that it cannot import says why."""
    projects: dict[str, Any] = {}
    for path in sorted((HERE / "projects" / name).glob("*.py")):
        try:
            projects[path.stem] = json.loads(
                _run([str(python), "-W", "ignore", str(HERE / "ask.py"), name, str(path)])
            )
        except subprocess.CalledProcessError as error:
            projects[path.stem] = {"error": error.stderr.strip().splitlines()[-1][:300]}
    return projects


def versions(python: Path, requires: list[str]) -> dict[str, str]:
    """The versions of the packages that are pinned."""
    names = [re.split(r"[\[=<>]", item)[0] for item in requires]
    code = "import importlib.metadata as m, json, sys; print(json.dumps({n: m.version(n) for n in sys.argv[1:]}))"
    answer: dict[str, str] = json.loads(_run([str(python), "-c", code, *names]))
    return answer


def newest(row: dict[str, Any]) -> list[str]:
    """The requirements of a row without their pins, below the version that the row is about at most."""
    below = row.get("below", {})
    out = []
    for item in row["requires"]:
        match = _PIN.match(item)
        package = match["package"] if match else item
        limit = below.get(package.partition("[")[0])
        out.append(f"{package}<{limit}" if limit and match else package)
    return out


def raised(text: str, requires: list[str], found: dict[str, str]) -> str:
    """The text of the pins with the versions that were found."""
    for item in requires:
        match = _PIN.match(item)
        if match:
            package = match["package"]
            text = text.replace(f'"{item}"', f'"{package}=={found[package.partition("[")[0]]}"')
    return text


def differences(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """What changed between two records, a line each."""
    out = []
    for project in sorted(old.keys() | new.keys()):
        was, now = old.get(project), new.get(project)
        if was == now:
            continue
        if not isinstance(was, list) or not isinstance(now, list):
            out.append(f"{project}: {_short(was)} -> {_short(now)}")
            continue
        before, after = ({tool["function"]: tool for tool in tools} for tools in (was, now))
        out.extend(f"{project}: `{name}` is no tool any more" for name in before.keys() - after.keys())
        out.extend(f"{project}: `{name}` is a tool now" for name in after.keys() - before.keys())
        out.extend(
            f"{project}: of `{name}` the model sees {_short(after[name]['seen'])}, not {_short(before[name]['seen'])}"
            for name in before.keys() & after.keys()
            if before[name] != after[name]
        )
    return out


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) < 160 else f"{text[:157]}…"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("frameworks", nargs="*")
    parser.add_argument(
        "--raise", dest="newest", action="store_true", help="try the newest versions and pin them"
    )
    parser.add_argument("--check", action="store_true", help="write nothing")
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "gllint-frameworks"
    parser.add_argument("--environments", type=Path, default=cache)
    given = parser.parse_args()
    pins = tomllib.loads(PINS.read_text("utf-8"))
    unknown = [name for name in given.frameworks if name not in pins]
    if unknown:
        parser.error(f"unknown framework {', '.join(unknown)}; known are {', '.join(pins)}")
    text = PINS.read_text("utf-8")
    broke = False
    for name in given.frameworks or pins:
        row = pins[name]
        try:
            python = environment(name, newest(row) if given.newest else row["requires"], given.environments)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            print(f"{name}: does not install: {(error.stderr or str(error))[-300:]}")
            broke = True
            continue
        path = RECORDED / f"{name}.json"
        old = json.loads(path.read_text("utf-8")) if path.exists() else {"projects": {}}
        new = {"versions": versions(python, row["requires"]), "projects": record(name, python)}
        changed = differences(old["projects"], new["projects"])
        for line in changed:
            print(f"{name}: {line}")
        moved = {p: v for p, v in new["versions"].items() if old.get("versions", {}).get(p) not in (None, v)}
        print(
            f"{name}: {len(new['projects'])} projects, {', '.join(f'{p} {v}' for p, v in (moved or new['versions']).items())}"
        )
        broke |= bool(changed) and (given.newest or given.check)
        if not given.check:
            path.write_text(json.dumps(new, indent=1, ensure_ascii=False, sort_keys=True) + "\n", "utf-8")
            if given.newest:
                text = raised(text, row["requires"], new["versions"])
    if given.newest and not given.check:
        PINS.write_text(text, "utf-8")
    return int(broke)


if __name__ == "__main__":
    sys.exit(main())
