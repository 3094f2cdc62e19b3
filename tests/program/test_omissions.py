"""What a walk leaves out and the project takes for its own is told; what tools have put there is not."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner

from gllint.cli.commands import cli
from gllint.files.tracked import tracked
from gllint.run import omissions

Write = Callable[[Mapping[str, "str | bytes"]], Path]

TOOL = (
    "from langchain_core.tools import tool\n\n\n@tool\ndef report(area):\n"
    '    """Heat."""\n    return {"heat": 5}\n'
)
CLEAN = "X = 1\n"


def git(top: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=top, check=True, capture_output=True)


def committed(top: Path, *names: str) -> Path:
    """Make a repository of a folder that tracks the files named."""
    git(top, "init", "-q")
    git(top, "add", "-f", *names)
    return top


def told(top: Path, monkeypatch: pytest.MonkeyPatch, *paths: str) -> list[str]:
    """What a run says is not checked; that of a second one, from the cache, is the same."""
    monkeypatch.chdir(top)
    runs = [CliRunner().invoke(cli, ["check", *paths], catch_exceptions=False).stderr for _ in range(2)]
    assert runs[0] == runs[1]
    lines = [line for line in runs[0].splitlines() if " not checked, " in line]
    is_all = runs[0].startswith("No findings in ") and "as far as gllint looked" not in runs[0]
    assert is_all or runs[0].startswith("No Python files") or ("left out" in runs[0] and lines)
    return lines


@pytest.mark.parametrize(
    ("name", "ignores", "why"),
    [
        ("build/a.py", "", "excluded by default"),
        ("x/dist/y/a.py", "", "excluded by default"),
        ("venv/a.py", "", "excluded by default"),
        (".venv/lib/python3.12/site-packages/a.py", "", "excluded by default"),
        ("node_modules/b/a.ipynb", "", "excluded by default"),
        ("a.py", "a.py\n", "ignored"),
        ("s/a.py", "s/\n", "ignored"),
        ("s/a.py", "*\n", "ignored"),
    ],
)
def test_what_git_tracks_is_told(
    write: Write, monkeypatch: pytest.MonkeyPatch, name: str, ignores: str, why: str
) -> None:
    text = TOOL if name.endswith(".py") else '{"cells": [{"cell_type": "code", "source": "tool(f)\\n@tool"}]}'
    files = {name: text, ".venv/pyvenv.cfg": "", "gllint.toml": "", "clean.py": CLEAN, ".gitignore": ignores}
    top = committed(write(files), name, "clean.py", "gllint.toml")
    assert told(top, monkeypatch) == [f"1 file not checked, {why} although tracked by git: {name}"]
    assert told(top, monkeypatch, "clean.py") == []
    (top / "gllint.toml").write_text(f'extend-exclude = ["{name}"]\n')
    assert told(top, monkeypatch) == []  # the summary names the key


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({"build/a.py": TOOL, "m.py": "import build.a\n"}, "build/a.py"),
        ({"build/a.py": TOOL, "m.py": "from build import (\n    x,\n    a,\n)\n"}, "build/a.py"),
        (
            {"x/build/a.py": TOOL, "x/__init__.py": "", "x/m.py": "from .build.a import report\n"},
            "x/build/a.py",
        ),
        ({"build/__init__.py": TOOL, "m.py": "if 1:\n    import build as b\n"}, "build/__init__.py"),
        ({"a.py": TOOL, "m.py": "from a import report\n", ".gitignore": "a.py\n"}, "a.py"),
        ({"x/a.py": TOOL, "x/m.py": "from . import a\n", ".gitignore": "x/a.py\n"}, "x/a.py"),
        ({"gen/a.py": TOOL, "m.py": "import gen.a\n", ".gitignore": "gen\n"}, "gen/a.py"),
    ],
)
def test_what_the_project_imports_is_told(
    write: Write, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], name: str
) -> None:
    top = committed(write({"gllint.toml": "", **files}), *files.keys() - {name})
    assert [line.endswith(f"although imported: {name}") for line in told(top, monkeypatch)] == [True]
    (importer,) = [path for path in files if path.endswith("m.py")]
    (top / importer).write_text("import other.a\n# import a, build.a\n")
    assert told(top, monkeypatch) == []


ORDINARY: dict[str, dict[str, str | bytes]] = {
    "a virtual environment": {".venv/pyvenv.cfg": "", ".venv/lib/python3.12/site-packages/x/a.py": TOOL},
    "one of another name, that git ignores": {"env3/pyvenv.cfg": "", "env3/lib/x/a.py": TOOL, ".gitignore": "env3\n"},
    "tox": {".tox/py312/pyvenv.cfg": "", ".tox/py312/lib/x/a.py": TOOL},
    "conda": {"venv/conda-meta/history": "", "venv/lib/x/a.py": TOOL},
    "packages of npm": {"node_modules/.package-lock.json": "{}", "node_modules/b/a.py": TOOL},
    "packages without a lock": {"node_modules/@s/b/package.json": "{}", "node_modules/@s/b/gyp/a.py": TOOL},
    "what setuptools builds": {"build/lib/p/a.py": TOOL, "p/a.py": TOOL.replace("5}", "None}"), "p/__init__.py": ""},
    "what it builds of src": {"build/lib.linux-x86_64/p/a.py": TOOL, "src/p/a.py": TOOL.replace("5}", "None}")},
    "packages of PDM": {"__pypackages__/3.12/lib/x-1.dist-info/METADATA": "", "__pypackages__/3.12/lib/x/a.py": TOOL},
    "eggs": {".eggs/x.egg/EGG-INFO/PKG-INFO": "", ".eggs/x.egg/x/a.py": TOOL},
    "a cache": {".ruff_cache/CACHEDIR.TAG": "", ".ruff_cache/a.py": TOOL},
    "checkpoints": {
        ".ipynb_checkpoints/n-checkpoint.ipynb": '{"cells": [{"cell_type": "code", "source": "@tool"}]}',
        "n.ipynb": '{"cells": []}',
    },
    "downloads of Sphinx": {"docs/_build/_downloads/a.py": TOOL + "\n", "docs/a.py": TOOL.replace("5}", "None}") + "\n"},
    "what no rule could speak about": {"build/a.py": "def f(x):\n    return 5\n", "dist/b.py": "import json\n"},
    "text": {"build/a.txt": TOOL, "LICENSE": "#! not a script\n", "Makefile": "tool:\n"},
    "a script of the shell": {"run": "#!/bin/sh\npython -m x  # @tool\n"},
    "a script without tools": {"run": "#!/usr/bin/env python3\nprint(5)\n"},
}  # fmt: skip
ORDINARY["downloads of Sphinx"]["docs/_build/_downloads/a.py"] = ORDINARY["downloads of Sphinx"]["docs/a.py"]


@pytest.mark.parametrize("kind", ORDINARY)
@pytest.mark.parametrize("with_git", [True, False])
def test_an_ordinary_project_is_told_nothing(
    write: Write, monkeypatch: pytest.MonkeyPatch, kind: str, with_git: bool
) -> None:
    top = write({"gllint.toml": "", "clean.py": CLEAN, **ORDINARY[kind]})
    if with_git:
        committed(top, "clean.py", "gllint.toml")
    assert told(top, monkeypatch) == []


def test_what_git_does_not_track_is_nobodys(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    files: dict[str, str | bytes] = {
        "build/a.py": TOOL,
        "s/a.py": TOOL,
        "m.py": "import b\n",
        ".gitignore": "s\n",
        "gllint.toml": "",
    }
    top = committed(write(files), "m.py")
    assert told(top, monkeypatch) == []
    # But where git tracks nothing below the folder that is checked, it says nothing of what lies there.
    files = {"other/build/a.py": TOOL, "other/m.py": CLEAN}
    write(files)
    assert told(top, monkeypatch, "other") == ["1 file not checked, excluded by default: other/build/a.py"]


def test_links_that_lead_elsewhere(write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    top = write({"gllint.toml": "", "clean.py": CLEAN, "in/b.py": CLEAN})
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/a.py").write_text(TOOL)
    (top / "out").symlink_to("../outside")
    (top / "inner").symlink_to("in")
    (top / "loop").symlink_to(".")
    line = "1 file not checked, behind a link that leads elsewhere: out/a.py"
    assert told(top, monkeypatch) == [line]
    committed(top, "clean.py")
    assert told(top, monkeypatch) == []
    git(top, "add", "out")
    assert told(top, monkeypatch) == [line]


def test_what_is_too_much_is_said(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(omissions, "MOST_ENTRIES", 5)
    top = write({"gllint.toml": "", "clean.py": CLEAN, **{f"build/{i}.o": "" for i in range(9)}})
    assert told(top, monkeypatch) == ["1 folder not checked, contains too many files: build/"]


@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_the_index_of_git_is_read(write: Write, version: str) -> None:
    names = {"a.py", "ab/c d.py", "é/ü.py", "n" * 200 + ".py", "m" * 9 + ".py"}
    top = write(dict.fromkeys([*names, "x.txt"], CLEAN))
    (top / "link").symlink_to("ab")
    git(top, "init", "-q")
    git(top, "add", "-A")
    git(top, "update-index", "--index-version", version)
    git(top, "add", "-N", "a.py")
    assert tracked(str(top), lambda name: name.endswith(".py")) == names | {"link"}
    git(top, "update-index", "--split-index")
    (top / "z.py").touch()
    git(top, "add", "z.py")
    assert tracked(str(top), lambda name: name.endswith(".py")) == names | {"link", "z.py"}


def test_the_index_of_a_work_tree_and_of_sha256(write: Write, tmp_path: Path) -> None:
    top = write({"a.py": CLEAN})
    git(top, "init", "-q", "--object-format=sha256")
    git(top, "add", "a.py")
    git(top, "-c", "user.name=x", "-c", "user.email=x", "commit", "-qm", "x")
    assert tracked(str(top), lambda name: True) == {"a.py"}
    git(top, "worktree", "add", "-q", str(tmp_path / "w"))
    assert tracked(str(tmp_path / "w"), lambda name: True) == {"a.py"}


def test_what_is_no_index_says_nothing(write: Write) -> None:
    top = write({"a.py": CLEAN})
    assert tracked(str(top), lambda name: True) is None
    git(top, "init", "-q")
    git(top, "add", "a.py")
    data = (top / ".git/index").read_bytes()
    for broken in (
        b"",
        b"DIRC",
        data[:30],
        data[:70],
        b"DIRX" + data[4:],
        data[:8] + b"\xff" * 4 + data[12:],
    ):
        (top / ".git/index").write_bytes(broken)
        assert tracked(str(top), lambda name: True) is None


def test_more_scripts_than_are_looked_at_are_told(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(omissions, "_MOST_SCRIPTS", 1)
    top = write({"x/a": "text\n", "x/b": f"#!/usr/bin/env python3\n{TOOL}", "main.py": CLEAN})
    assert told(top, monkeypatch) == ["1 folder not checked, contains too many files: x/"]


def test_what_a_folder_above_excludes_is_excluded_by_wish(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        "gllint.toml": 'extend-exclude = ["/part/"]\n',
        "part/gllint.toml": "",
        "part/a.py": TOOL,
        "b.py": CLEAN,
    }
    assert told(committed(write(files), "part/a.py", "b.py"), monkeypatch, ".") == []


@pytest.mark.parametrize(
    ("ignores", "why"),
    [
        ("#" * 1_000_001, "it has more than 1,000,000 bytes"),
        ("?" * 4_097 + "\n", "it has a pattern of more than 4,096 characters"),
        ("#" * 4_097 + "\n" + "a" * 4_097 + "\n" + "[a-z]" * 900 + "\n", ""),
    ],
)
def test_a_file_of_patterns_that_is_not_applied_is_told(
    write: Write, monkeypatch: pytest.MonkeyPatch, ignores: str, why: str
) -> None:
    top = write({"pyproject.toml": "", "a.py": TOOL, "s/.gitignore": ignores, "s/b.py": CLEAN})
    monkeypatch.chdir(top)
    for paths in ([], ["s"], ["s/b.py", "."]):
        said = CliRunner().invoke(cli, ["check", *paths], catch_exceptions=False).stderr.splitlines()
        lines = [line for line in said if "not applied" in line]
        assert lines == ([f"1 file not applied in full, {why}: s/.gitignore"] if why else [])


def test_a_search_for_imports_that_was_given_up_is_told(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(omissions, "MOST_FILES", 2)
    files = {f"m{number}.py": CLEAN for number in range(3)} | {"z.py": "from build import a\n"}
    top = committed(
        write({"pyproject.toml": "", ".gitignore": "build/\n", "build/a.py": TOOL, **files}), "z.py"
    )
    monkeypatch.chdir(top)
    said = CliRunner().invoke(cli, ["check"], catch_exceptions=False).stderr.splitlines()
    assert said[0].startswith(
        "1 folder not searched completely for files that code imports, too many files: "
    )
    assert "as far as gllint looked" in said[1]
    monkeypatch.setattr(omissions, "MOST_FILES", 4)
    said = CliRunner().invoke(cli, ["check"], catch_exceptions=False).stderr.splitlines()
    assert any("although imported: build/a.py" in line for line in said)
