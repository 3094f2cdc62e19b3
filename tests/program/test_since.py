"""``--since``: only findings on lines that changed."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Write = Callable[..., Path]
Run = Callable[..., Any]
Check = Callable[..., list[str]]


def git(top: Path, *arguments: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments],
        cwd=top,
        check=True,
        capture_output=True,
    )


@pytest.fixture
def repository(write: Write) -> Path:
    old = "".join(f'final_message = "{n} kWh"\n' for n in range(1, 7))
    top = write({"a.py": old, "sub/b c\u00e9.py": old, "gone.py": old, "moved.py": old + "# tail\n" * 20})
    git(top, "init", "-q")
    git(top, "add", ".")
    git(top, "commit", "-qm", "old")
    return top


def test_only_changed_lines_count(repository: Path, check: Check) -> None:
    assert check("--since", "HEAD", cwd=repository) == []
    lines = (repository / "a.py").read_text().splitlines(keepends=True)
    lines[2] = 'final_message = "33 kWh"\n'
    lines[4:5] = ['final_message = "5 kWh"\n', 'final_message = "55 kWh"\n']
    (repository / "a.py").write_text("".join(lines))
    (repository / "sub/b c\u00e9.py").write_text(
        "++ = 1 if False else 0\n".replace("++", "x") + 'final_message = "9 kWh"\n'
    )
    (repository / "new.py").write_text('final_message = "7 kWh"\n')
    git(repository, "mv", "moved.py", "elsewhere.py")
    (repository / "gone.py").unlink()
    # The space in one of the names ends the first word of its line.
    assert check("--since", "HEAD", cwd=repository) == [
        "a.py:3:18: GL401", "a.py:6:18: GL401", "new.py:1:18: GL401", "sub/b c\u00e9.py:2:18:",
    ]  # fmt: skip
    assert check("--since", "HEAD", "new.py", cwd=repository) == ["new.py:1:18: GL401"]
    git(repository, "add", ".")
    assert len(check("--since", "HEAD", cwd=repository)) == 4
    git(repository, "commit", "-qm", "new")
    assert check("--since", "HEAD", cwd=repository) == []
    assert len(check("--since", "HEAD~1", cwd=repository)) == 4
    assert check("--since", "HEAD~1", cwd=repository / "sub") == ["b c\u00e9.py:2:18:"]


def test_what_did_not_change_is_counted(repository: Path, run: Run) -> None:
    said = run("check", "--since", "HEAD", cwd=repository).stderr.decode()
    assert "No findings in what changed since HEAD, in 4 files.\n" in said
    assert "24 findings outside the changes since HEAD are not reported.\n" in said
    (repository / "new.py").write_text('final_message = "7 kWh"\n')
    said = run("check", "--since", "HEAD", cwd=repository).stderr.decode()
    assert (
        "Found 1 finding in 1 file.\n24 findings outside the changes since HEAD are not reported.\n" in said
    )


def test_settings_of_the_user_change_nothing(repository: Path, check: Check) -> None:
    git(repository, "config", "diff.noprefix", "true")
    git(repository, "config", "diff.external", "false")
    git(repository, "config", "color.diff", "always")
    (repository / "a.py").write_text('final_message = "1 kWh"\nfinal_message = "22 kWh"\n')
    assert check("--since", "HEAD", cwd=repository) == ["a.py:2:18: GL401"]


@pytest.mark.skipif(os.name != "posix", reason="the programs are shell scripts")
@pytest.mark.parametrize("attribute", ["-diff", "binary"])
def test_attributes_of_the_repository_hide_no_line(repository: Path, check: Check, attribute: str) -> None:
    (repository / ".gitattributes").write_text(f"*.py {attribute}\n")
    (repository / "a.py").write_text('x = 1\nfinal_message = "8 kWh"\n')
    assert check("--since", "HEAD", cwd=repository) == ["a.py:2:18: GL401"]


def test_no_program_that_the_repository_names_is_run(repository: Path, check: Check) -> None:
    """As one that came with its .git, all of it in the name of whoever unpacked it."""
    trap = repository / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {repository}/sprung\ncat\n")
    trap.chmod(0o755)
    inner = repository / "inner"
    inner.mkdir()
    (inner / "c.py").write_text("x = 1\n")
    for top in (inner, repository):
        hooks = top / ".git" / "hooks"
        git(top, "init", "-q")
        hooks.mkdir(exist_ok=True)
        (hooks / "post-index-change").symlink_to(trap)
        git(top, "add", "-A")
        git(top, "-c", f"core.hooksPath={os.devnull}", "commit", "-qm", "x")
        (top / ".gitattributes").write_text("a.py filter=x\nb.py filter=y diff=z\n")
        (top / ".git" / "sprung.config").write_text(f'[filter "y"]\n  process = {trap}\n  required = true\n')
        for key in (
            "core.fsmonitor",
            "filter.x.clean",
            "diff.z.textconv",
            "diff.external",
            "core.sshCommand",
        ):
            git(top, "config", key, str(trap))
        git(top, "config", "include.path", "sprung.config")
    (inner / "c.py").write_text("x = 2\n")
    (repository / "a.py").write_text('final_message = "1 kWh"\nfinal_message = "22 kWh"\n')
    (repository / "sprung").unlink(missing_ok=True)
    assert "a.py:2:18: GL401" in check("--since", "HEAD", cwd=repository)
    assert not (repository / "sprung").exists()


def test_what_git_would_have_to_fetch_is_told(repository: Path, run: Run) -> None:
    blob = subprocess.run(["git", "-C", repository, "rev-parse", "HEAD:a.py"], capture_output=True, text=True)
    (repository / ".git" / "objects" / blob.stdout[:2] / blob.stdout[2:].strip()).unlink()
    for key, value in (
        ("remote.origin.url", "ssh://x/y"),
        ("remote.origin.promisor", "true"),
        ("extensions.partialClone", "origin"),
        ("core.repositoryFormatVersion", "1"),
        ("core.sshCommand", f"touch {repository}/sprung; false"),
    ):
        git(repository, "config", key, value)
    (repository / "a.py").write_text("x = 1\n")
    done = run("check", "--since", "HEAD", cwd=repository)
    assert done.returncode == 2 and done.stderr.startswith(b"gllint: --since: ")
    assert not (repository / "sprung").exists()


@pytest.mark.parametrize("revision", ["nowhere", "--output=x", "HEAD:a.py"])
def test_a_wrong_revision_is_one_line_and_2(repository: Path, run: Run, revision: str) -> None:
    done = run("check", f"--since={revision}", cwd=repository)
    assert done.returncode == 2
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("gllint: --since: ")
    assert not (repository / "x").exists()


def test_a_misspelt_revision_names_the_nearest(repository: Path, run: Run) -> None:
    subprocess.run(["git", "-C", repository, "branch", "develop"], check=True)
    done = run("check", "--since", "devlop", cwd=repository)
    assert (
        done.stderr.decode()
        == "gllint: --since: git does not know the revision 'devlop'; did you mean 'develop'?\n"
    )


def test_a_repository_without_a_commit_has_no_revision(write: Write, run: Run) -> None:
    top = write({"a.py": 'final_message = "5 kWh"\n'})
    git(top, "init", "-q")
    done = run("check", "--since", "HEAD", cwd=top)
    assert done.returncode == 2
    assert (
        done.stderr.decode()
        == "gllint: --since: git does not know the revision 'HEAD'; nothing is committed yet\n"
    )


def test_a_branch_is_compared_with_where_it_left_the_other(repository: Path, check: Check, run: Run) -> None:
    git(repository, "branch", "-M", "main")
    git(repository, "switch", "-qc", "work")
    (repository / "work.py").write_text('final_message = "7 kWh"\n')
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "work")
    git(repository, "switch", "-q", "main")
    # What main did meanwhile is undone, seen from the tip: it is no change of the branch.
    (repository / "a.py").write_text('final_message = "one kWh"\n' * 6)
    git(repository, "commit", "-qam", "main")
    git(repository, "switch", "-q", "work")
    assert check("--since", "main", cwd=repository) == ["work.py:1:18: GL401"]
    assert check("--since", "main...", cwd=repository) == ["work.py:1:18: GL401"]
    tip = check("--since", "main..", cwd=repository)
    assert len(tip) == 7 and tip[0] == "a.py:1:18: GL401"
    done = run("check", "--since", "mian...", cwd=repository)
    assert done.stderr.decode().endswith("git does not know the revision 'mian'; did you mean 'main'?\n")


def test_histories_without_a_common_commit_are_told(repository: Path, run: Run) -> None:
    git(repository, "branch", "-M", "main")
    git(repository, "switch", "-q", "--orphan", "other")
    (repository / "b.py").write_text("x = 1\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "other")
    done = run("check", "--since", "main", cwd=repository)
    assert done.returncode == 2
    assert done.stderr.decode() == (
        "gllint: --since: 'main' and HEAD have no commit in common; in a shallow clone fetch more of the history, "
        "or compare with its tip: --since main..\n"
    )
    assert run("check", "--since", "main..", cwd=repository).returncode == 0
