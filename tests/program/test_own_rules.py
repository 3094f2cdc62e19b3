"""Rules of one's own: the package of the example, installed, beside our rules; and packages that misbehave."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

Write = Callable[..., Path]
EXAMPLE = Path(__file__).parents[2] / "examples" / "rules-of-your-own"
AGENT = """\
from langchain_core.tools import tool


@tool
def rooms(site: str) -> dict:
    return {"rooms": 4}
"""


def install(packages: Path, name: str, entries: Mapping[str, str], source: Path | None = None) -> Path:
    """Put a package and what an installer writes of it into the folder ``packages``."""
    packages.mkdir(exist_ok=True)
    if source is not None:
        shutil.copytree(source, packages / source.name, ignore=shutil.ignore_patterns("__pycache__"))
    info = packages / f"{name}-1.0.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0.0\n")
    lines = "".join(f"{key} = {value}\n" for key, value in entries.items())
    (info / "entry_points.txt").write_text(f"[gllint.rules]\n{lines}")
    return packages


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    entries = project["entry-points"]["gllint.rules"]
    return install(tmp_path / "packages", "acme_gllint_rules", entries, EXAMPLE / "acme_rules")


def gllint(top: Path, packages: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=top,
        env={**os.environ, "PYTHONPATH": str(packages)},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


def codes(done: subprocess.CompletedProcess[str]) -> list[str]:
    assert done.returncode in (0, 1), done.stderr
    return [entry["code"] for entry in json.loads(done.stdout)]


def test_the_rule_of_the_example_reports_beside_ours(write: Write, packages: Path) -> None:
    top = write({"agent.py": AGENT})
    check = ("gllint", "check", "--output-format", "json")
    for _ in range(2):  # the second time from the cache
        assert codes(gllint(top, packages, *check)) == ["ACME101", "GL101"]
    assert codes(gllint(top, packages, *check, "--ignore", "ACME")) == ["GL101"]
    assert codes(gllint(top, packages, *check, "--select", "ACME101")) == ["ACME101"]
    assert codes(gllint(top, Path("none"), *check)) == ["GL101"]
    write({"gllint.toml": "[severity]\nACME = 'info'\n"})
    [own, _] = json.loads(gllint(top, packages, *check).stdout)
    assert (own["severity"], own["url"], own["line"]) == ("info", None, 5)
    shown = gllint(top, packages, "gllint", "rule", "tool-without-description").stdout
    assert shown.startswith("# ACME101 tool-without-description") and "## Bad" in shown
    assert "ACME101" in gllint(top, packages, "gllint", "check", "--output-format", "sarif").stdout


@pytest.mark.parametrize(
    "comment", ["gllint: ignore[ACME101] r", "gllint: ignore[tool-without-description] r", "noqa: ACME101"]
)
def test_it_is_suppressed_like_ours(write: Write, packages: Path, comment: str) -> None:
    top = write({"agent.py": AGENT.replace("dict:\n", f"dict:  # {comment}\n")})
    assert codes(gllint(top, packages, "gllint", "check", "--output-format", "json")) == ["GL101"]


def test_the_page_of_the_example_is_its_test(packages: Path) -> None:
    done = gllint(
        EXAMPLE,
        packages,
        "pytest",
        "-q",
        "-n",
        "0",
        "-p",
        "no:cacheprovider",
        "-c",
        "/dev/null",
        "test_rules.py",
    )
    assert done.returncode == 0, done.stdout


RAISING = """\
from gllint_rules.rule import Rule


def check(context):
    raise KeyError("nobody thought of this")
    yield


RULE = Rule("BAD101", "raises-always", "It raises", "It raises.", check)
"""


@pytest.mark.parametrize(
    ("code", "value", "said"),
    [
        ("BAD101", "bad:RULE", "BAD101 failed on agent.py: KeyError: 'nobody thought of this'"),
        ("BAD102", "bad:RULE", "BAD102 failed on agent.py: RuntimeError: The rule BAD102 cannot be loaded"),
        ("BAD101", "bad:NOTHING", "has no attribute 'NOTHING'"),
        ("BAD101", "nowhere:RULE", "No module named 'nowhere'"),
        ("BAD101", "bad:Rule", "is no gllint_rules.rule.Rule"),
    ],
)
def test_a_rule_that_fails_loses_nothing_else(
    write: Write, tmp_path: Path, code: str, value: str, said: str
) -> None:
    packages = install(tmp_path / "packages", "bad", {code: value})
    (packages / "bad.py").write_text(RAISING)
    done = gllint(write({"agent.py": AGENT}), packages, "gllint", "check", "--output-format", "concise")
    assert done.returncode == 2
    assert "agent.py:6:22: GL101" in done.stdout
    assert said in done.stderr and "Traceback" not in done.stderr
    assert code in gllint(tmp_path, packages, "gllint", "rule").stdout


@pytest.mark.parametrize("name", ["GL101", "GL777", "acme", "x-1"])
def test_a_name_that_is_no_code_is_warned_of(write: Write, tmp_path: Path, name: str) -> None:
    packages = install(tmp_path / "packages", "bad", {name: "bad:RULE"})
    done = gllint(write({"agent.py": AGENT}), packages, "gllint", "check", "--output-format", "json")
    assert codes(done) == ["GL101"]
    assert f"'{name}' (bad:RULE) is no code of a rule" in done.stderr


def test_a_file_that_only_the_own_rule_looks_at_is_read(write: Write, tmp_path: Path) -> None:
    packages = install(tmp_path / "packages", "own", {"OWN101": "own:RULE"})
    (packages / "own.py").write_text(
        "from gllint_rules.rule import Rule\n\n\ndef check(context):\n"
        "    for binding in context.module.scope.bindings.get('SECRET_SAUCE', ()):\n"
        "        yield context.finding('OWN101', binding.at, 'there it is')\n\n\n"
        "RULE = Rule('OWN101', 'secret-sauce', 'A secret', 'A secret.', check, needles=('SECRET_SAUCE',))\n"
    )
    top = write({"plain.py": "SECRET_SAUCE = 'x'\n", "other.py": "y = 1\n"})
    found: list[dict[str, Any]] = json.loads(
        gllint(top, packages, "gllint", "check", "--output-format", "json").stdout
    )
    assert [(entry["code"], entry["path"], entry["line"]) for entry in found] == [("OWN101", "plain.py", 1)]
