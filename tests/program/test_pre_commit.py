"""The hooks, through a real pre-commit and a real commit."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

Write = Callable[..., Path]
Check = Callable[..., list[str]]
TOP = Path(__file__).parents[2]
HOOKS = yaml.safe_load((TOP / ".pre-commit-hooks.yaml").read_text())


def git(top: Path, *arguments: str, ok: bool = True) -> subprocess.CompletedProcess[bytes]:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "core.hooksPath=.git/hooks"]
    return subprocess.run(["git", *identity, *arguments], cwd=top, check=ok, capture_output=True)


Local = Callable[..., dict[str, object]]


@pytest.fixture
def local(gllint: list[str]) -> Local:
    """One of our hooks, as pre-commit runs it with the gllint that is installed here."""

    def local(identity: str, **more: object) -> dict[str, object]:
        [hook] = [hook for hook in HOOKS if hook["id"] == identity]
        entry = shlex.join([*gllint, *hook["entry"].split()[1:]])
        return {**hook, "language": "system", "entry": entry, **more}

    return local


@pytest.fixture
def repository(write: Write, agent: str, local: Local) -> Path:
    """A repository whose hook is ours."""
    top = write(
        {
            "pyproject.toml": "[tool.gllint]\nexclude = ['gen.py']\n",
            ".pre-commit-config.yaml": yaml.safe_dump(
                {"repos": [{"repo": "local", "hooks": [local("gllint")]}]}
            ),
            "tools.py": "from crewai.tools import BaseTool\n\n\nclass Meter(BaseTool):\n"
            "    def _run(self, site):\n        return site\n\n\nmeter = Meter()\n",
            "use.py": "from tools import meter\n\n\ndef go():\n    return meter.run('x')\n",
            "gen.py": agent,
        }
    )
    git(top, "init", "-q")
    git(top, "add", ".")
    git(top, "commit", "-qm", "old")
    subprocess.run([sys.executable, "-m", "pre_commit", "install"], cwd=top, check=True, capture_output=True)
    return top


def named(output: bytes) -> list[str]:
    """``path:line:column: code`` of each finding in the output of a hook."""
    return re.findall(r"^(\S+:\d+:\d+: GL\d+) ", output.decode(), re.MULTILINE)


def test_the_hooks_are_what_pre_commit_wants() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pre_commit", "validate-manifest", TOP / ".pre-commit-hooks.yaml"], check=False
    )
    assert done.returncode == 0
    assert {hook["id"] for hook in HOOKS} == {"gllint", "gllint-all", "gllint-fix"}


def test_a_commit_is_stopped_by_what_it_changes(repository: Path, check: Check) -> None:
    ours = check(cwd=repository)
    assert ours == ["use.py:5:12: GL301"]
    (repository / "note.py").write_text("x = 1\n")
    git(repository, "add", "note.py")
    git(repository, "commit", "-qm", "a file with nothing to say")
    with (repository / "use.py").open("a") as file:
        file.write("# changed\n")
    with (repository / "gen.py").open("a") as file:
        file.write("# changed\n")
    git(repository, "add", ".")
    stopped = git(repository, "commit", "-qm", "bad", ok=False)
    assert stopped.returncode == 1
    # Only use.py was passed; that meter is a tool, tools.py says. gen.py is excluded although it was named.
    assert named(stopped.stdout + stopped.stderr) == ours
    (repository / "tools.py").write_text("meter = open\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "meter is no tool any more")


def test_a_commit_is_stopped_by_what_it_causes_elsewhere(repository: Path) -> None:
    def commit(files: dict[str, str]) -> list[str]:
        for name, text in files.items():
            (repository / name).write_text(text)
        git(repository, "add", ".")
        done = git(repository, "commit", "-qm", "change", ok=False)
        found = named(done.stdout + done.stderr)
        assert bool(done.returncode) == bool(found)
        return found

    tool = (
        "from langchain_core.tools import tool\n\nfrom physics import heat\nfrom shapes import Reading\n\n\n"
        '@tool\ndef meter(site: str):\n    """Heat of a site."""\n'
        "    return {'heat': heat(site), 'reading': Reading(site, heat(site))}\n"
    )
    shape = "from dataclasses import dataclass\n\n\n@dataclass\nclass Reading:\n    site: str\n    level: object\n"
    sound = {
        "use.py": "",
        "meter.py": tool,
        "physics.py": "def heat(site):\n    return {'value': 12.5, 'unit': 'kWh'}\n",
        "shapes.py": shape,
    }
    assert commit(sound) == []
    assert commit({"physics.py": "def heat(site):\n    return 12.5\n"}) == [
        "meter.py:10:21: GL101", "meter.py:10:58: GL101",
    ]  # fmt: skip
    assert commit({"physics.py": sound["physics.py"], "note.py": "x = 1\n"}) == []
    assert commit({"shapes.py": shape.replace("object", "float")}) == ["meter.py:10:58: GL101"]
    git(repository, "commit", "-qm", "all the same", "--no-verify")
    assert commit({"note.py": "x = 2\n"}) == []  # it touches neither the helper nor the tool


def test_the_fix_hook_repairs_and_stops(repository: Path, local: Local) -> None:
    config = {"repos": [{"repo": "local", "hooks": [local("gllint-fix")]}]}
    (repository / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    (repository / "note.py").write_text("x = 1  # noqa: GL401\n")
    git(repository, "add", ".")
    stopped = git(repository, "commit", "-qm", "unused", ok=False)
    assert stopped.returncode == 1
    assert b"files were modified by this hook" in stopped.stdout + stopped.stderr
    assert (repository / "note.py").read_text() == "x = 1\n"
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "fixed")


def test_both_hooks_together_print_a_finding_once(repository: Path, local: Local) -> None:
    hooks = [local(name, verbose=True) for name in ("gllint", "gllint-fix")]
    config = {"repos": [{"repo": "local", "hooks": hooks}]}
    (repository / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    (repository / "use.py").write_text((repository / "use.py").read_text() + "# changed\n")
    (repository / "notes.md").write_text("5 kW\n")
    git(repository, "add", ".")
    stopped = git(repository, "commit", "-qm", "bad", ok=False)
    said = (stopped.stdout + stopped.stderr).decode()
    assert named(said.encode()) == ["use.py:5:12: GL301"]
    assert said.count("Found 1 finding") == 1
    assert "notes.md" not in said  # no Python code loads it: no news in a hook


@pytest.mark.timeout(230)
@pytest.mark.skipif(not os.environ.get("TEST_SLOW"), reason="installs into a fresh environment")
def test_try_repo_on_the_checkout(repository: Path, check: Check) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pre_commit", "try-repo", str(TOP), "gllint", "--all-files"],
        cwd=repository,
        capture_output=True,
        check=False,
    )
    assert named(done.stdout) == check(cwd=repository)
