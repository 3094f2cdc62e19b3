"""``baseline`` of the configuration: every host leaves out what it holds."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Write = Callable[..., Path]
Run = Callable[..., Any]
Check = Callable[..., list[str]]

NEW = '\nfinal_message = "It takes 7 kWh."\n'


@pytest.fixture
def project(write: Write, run: Run, agent: str) -> Path:
    """A project whose configuration names a baseline that holds its three findings."""
    top = write(
        {"gllint.toml": "baseline = 'ci/known.json'\n", "agent.py": agent, "sub/agent.py": agent, "ci/x": ""}
    )
    assert run("check", "--write-baseline", "ci/known.json", cwd=top).returncode == 0
    return top


def test_check_tells_what_is_new(project: Path, run: Run, check: Check) -> None:
    done = run("check", cwd=project)
    assert done.returncode == 0
    assert "6 findings known from the baseline.\nNo new findings in 2 files" in done.stderr.decode()
    with open(project / "agent.py", "a") as file:
        file.write(NEW)
    assert check(cwd=project) == ["agent.py:13:27: GL401"]
    assert check("sub", cwd=project) == []
    assert check(cwd=project / "sub") == []
    assert check("agent.py", "--no-cache", cwd=project) == ["agent.py:13:27: GL401"]
    assert check(
        "-", "--stdin-filename", "agent.py", cwd=project, stdin=(project / "agent.py").read_bytes()
    ) == ["agent.py:13:27: GL401"]
    assert len(check("--isolated", cwd=project)) == 7


def test_the_command_line_names_another(project: Path, run: Run, check: Check) -> None:
    (project / "none.json").write_text('{"version": 1, "findings": []}\n')
    assert len(check("--baseline", "none.json", cwd=project)) == 6
    done = run("check", "--baseline", "gone.json", cwd=project)
    assert done.returncode == 2 and b"gone.json: cannot be read" in done.stderr


def test_it_is_pruned_where_it_lies(project: Path, run: Run) -> None:
    (project / "sub/agent.py").write_text("x = 1\n")
    done = run("check", cwd=project)
    assert done.returncode == 0 and b"3 entries are fixed" in done.stderr
    done = run("check", "--prune-baseline", cwd=project)
    assert done.returncode == 0 and b"Removed 3 findings from ci/known.json." in done.stderr
    assert "sub/agent.py" not in (project / "ci/known.json").read_text()


def test_nothing_to_prune_is_an_error(write: Write, run: Run, agent: str) -> None:
    done = run("check", "--prune-baseline", cwd=write({"agent.py": agent}))
    assert done.returncode == 2
    assert done.stderr.decode() == (
        "gllint: --prune-baseline needs a baseline: --baseline FILE, or the key 'baseline' of the configuration\n"
    )


@pytest.mark.parametrize(
    ("content", "said"), [(None, "cannot be read: No such file"), ("x", "is not a baseline")]
)
def test_one_that_is_none_is_an_error(
    write: Write, run: Run, agent: str, content: str | None, said: str
) -> None:
    files = {"gllint.toml": "baseline = 'known.json'\n", "agent.py": agent}
    top = write(files if content is None else {**files, "known.json": content})
    done = run("check", cwd=top)
    assert done.returncode == 2 and not done.stdout
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith(f"gllint: {top}/known.json: {said}")
    assert run("config", cwd=top).returncode == 0


def test_no_suppression_is_added_for_what_is_known(project: Path, run: Run) -> None:
    with open(project / "agent.py", "a") as file:
        file.write(NEW)
    assert b"Added 1 suppression." in run("check", "--add-noqa", cwd=project).stderr
    assert (project / "agent.py").read_text().count("noqa") == 1


def test_the_page_tells_new_ones_from_known_ones(project: Path, run: Run) -> None:
    assert run("report", "-o", "report.html", cwd=project).returncode == 0
    assert "in the baseline" in (project / "report.html").read_text()


def test_flake8_leaves_out_the_same(project: Path) -> None:
    pytest.importorskip("flake8")

    def flake8() -> list[str]:
        done = subprocess.run(
            [sys.executable, "-m", "flake8", "--select", "GL", "--jobs", "2"],
            cwd=project, capture_output=True, timeout=120, check=False, text=True,
        )  # fmt: skip
        assert not done.stderr, done.stderr
        return [" ".join(line.split(" ")[:2]) for line in sorted(done.stdout.splitlines())]

    assert flake8() == []
    with open(project / "agent.py", "a") as file:
        file.write(NEW)
    assert flake8() == ["./agent.py:13:27: GL401"]


def test_the_commit_hook_leaves_out_the_same(project: Path, run: Run) -> None:
    assert run("check", "--force-exclude", "agent.py", "sub/agent.py", cwd=project).returncode == 0


def test_a_baseline_takes_no_finding_of_gllint_about_itself(write: Write, run: Run) -> None:
    top = write({"a.py": "x = 1  # noqa: GL401\nfinal_message = '5 kWh'\n"})
    done = run("check", "--write-baseline", "known.json", cwd=top)
    assert done.stderr.decode() == (
        "Wrote 1 finding to known.json.\n"
        "It leaves out 1 finding of GL9: a baseline cannot contain what gllint cannot read.\n"
    )
    assert (
        run("check", "--baseline", "known.json", "--output-format", "concise", cwd=top).stdout.count(b"GL9")
        == 1
    )
    # One of an older gllint may hold some.
    old = (top / "known.json").read_text().replace("GL401", "GL901")
    (top / "known.json").write_text(old)
    assert run("check", "--baseline", "known.json", cwd=top).returncode == 1
    assert os.path.exists(top / "known.json")
