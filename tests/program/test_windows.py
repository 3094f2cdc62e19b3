"""What Windows lacks, and how its paths look: simulated, since the tests run elsewhere."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from pathlib import Path

import click.testing
import pytest

from gllint.cli.commands import cli
from gllint.cli.main import _encoding, main
from gllint.files import discover, paths
from gllint.files.writing import write_atomically, write_output
from gllint.report import sarif
from gllint_runtime.policy.configuration import ConfigurationError, Table, checked

Write = Callable[..., Path]
Run = Callable[..., click.testing.Result]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run gllint in this process, whose system the test disguises."""

    def run(*arguments: str, cwd: Path) -> click.testing.Result:
        monkeypatch.chdir(cwd)
        return click.testing.CliRunner().invoke(cli, [*arguments], catch_exceptions=False)

    return run


@pytest.mark.parametrize("missing", [("fchmod",), ("fchmod", "fchown", "O_TMPFILE", "O_DIRECTORY")])
def test_a_file_is_rewritten_without_what_only_posix_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: tuple[str, ...]
) -> None:
    path = tmp_path / "agent.py"
    path.write_bytes(b"x = 1\r\n")
    for name in missing:
        monkeypatch.delattr(os, name)
    write_atomically(str(path), b"x = 2\r\n")
    assert path.read_bytes() == b"x = 2\r\n"
    assert os.listdir(tmp_path) == ["agent.py"]


def test_processes_go_on_without_nice() -> None:
    for name in ("gllint/run/project_processes.py", "gllint/server/indexing.py"):
        lines = (Path(__file__).parents[2] / name).read_text("utf-8").splitlines()
        [at] = [number for number, line in enumerate(lines) if "os.nice(" in line]
        assert "AttributeError" in lines[at - 1]


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("src/my agent.py", "src/my%20agent.py"),
        ("/home/a b.py", "file:///home/a%20b.py"),
        ("C:/house/a b.py", "file:///C:/house/a%20b.py"),
        ("//server/share/a.py", "file://server/share/a.py"),
        ("c:file.py", "c%3Afile.py"),
    ],
)
def test_paths_of_sarif(path: str, uri: str) -> None:
    assert sarif._uri(path) == uri


@pytest.mark.parametrize(
    ("path", "usual"),
    [
        ("c:/house/a.py", "C:/house/a.py"),
        ("C:/house/a.py", "C:/house/a.py"),
        ("d:", "D:"),
        ("//?/c:/house/a.py", "C:/house/a.py"),
        ("//?/UNC/server/share/a.py", "//server/share/a.py"),
        ("//server/share/a.py", "//server/share/a.py"),
        ("//./NUL", "//./NUL"),
        ("/home/c:/a.py", "/home/c:/a.py"),
    ],
)
def test_a_drive_and_a_share_have_one_name(path: str, usual: str) -> None:
    assert paths.one_drive(path) == usual


@pytest.mark.parametrize(
    ("path", "windows_path"),
    [
        ("/c:/house/a.py", "c:/house/a.py"),
        ("/c/house/a.py", "c:/house/a.py"),
        ("/cc/house/a.py", "/cc/house/a.py"),
        ("C:\\house\\a.py", "C:\\house\\a.py"),
        ("src/a.py", "src/a.py"),
    ],
)
def test_paths_of_git_bash_and_of_editors(
    monkeypatch: pytest.MonkeyPatch, path: str, windows_path: str
) -> None:
    assert paths.native(path) == path
    monkeypatch.setattr(os, "sep", "\\")
    monkeypatch.setattr(os.path, "exists", lambda name: name == "c:/house/a.py")
    assert paths.native(path) == windows_path


_HOUSES = "Ha\u0308user"


@pytest.fixture
def folded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system that finds a file under other capitals, too, and under letters of other characters."""
    exists = os.path.lexists

    def lexists(path: str) -> bool:
        folder, name = os.path.split(path)
        names = {paths._folded(other) for other in os.listdir(folder)} if exists(folder) else set()
        return paths._folded(name) in names

    for module in (paths, discover):
        monkeypatch.setattr(module, "IGNORES_CASE", True)
    monkeypatch.setattr(os.path, "lexists", lexists)


@pytest.mark.usefixtures("folded")
def test_a_file_has_the_capitals_and_letters_that_its_folder_lists(tmp_path: Path) -> None:
    top = paths.absolute(str(tmp_path))
    (tmp_path / _HOUSES).mkdir()  # a letter and a mark, as macOS may keep it
    (tmp_path / _HOUSES / "Agent.py").touch()
    listed = f"{top}/{_HOUSES}/Agent.py"
    for name in ("Häuser/Agent.py", "häuser/AGENT.PY", "HÄUSER/agent.py"):
        assert paths.absolute(f"{top}/{name}") == listed
    assert paths.absolute(f"{top}/häuser/other.py") == f"{top}/{_HOUSES}/other.py"
    assert paths.absolute(f"{top}/none/Other.py") == f"{top}/none/Other.py"
    (tmp_path / _HOUSES / "agent.py").touch()  # a file system that tells them apart: each is itself
    assert paths.absolute(f"{top}/Häuser/agent.py") == f"{top}/{_HOUSES}/agent.py"


@pytest.mark.usefixtures("folded")
def test_a_file_named_in_two_ways_is_checked_once(write: Write, run: Run, agent: str) -> None:
    top = write({"src/agent.py": agent, "Pyproject.toml": "[tool.gllint]\nselect = ['GL4']\n"})
    os.symlink("Pyproject.toml", top / "pyproject.toml")  # what such a system opens under that name
    outcome = run("check", "--output-format", "concise", "src", "SRC/Agent.py", cwd=top)
    assert outcome.stdout.count("GL401") == 1
    assert "GL101" not in outcome.stdout


def test_without_a_common_drive_each_folder_is_a_project(
    write: Write, run: Run, agent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> str:
        raise ValueError("Paths don't have the same drive")

    top = write({"one/agent.py": agent, "two/agent.py": agent})
    monkeypatch.setattr(os.path, "commonpath", refuse)
    assert run("check", "--select", "GL4", "one", "two", cwd=top).stdout.count("GL401") == 2
    monkeypatch.setattr(os.path, "relpath", refuse)
    assert paths.relative("D:\\house\\a.py".replace("\\", os.sep), "C:/") == "D:/house/a.py"


@pytest.mark.parametrize(
    ("pattern", "git", "on_windows"),
    [
        ("src\\gen", "src/gen", None),
        ("src\\gen\\", "src/gen\\", "src/gen/"),
        ("..\\x", "../x", None),
        ("!src\\keep.py", "!src/keep.py", None),
        (".\\src", "/src", None),
        ("./src", "/src", None),
        ("/base/src/a.py", "/src/a.py", None),
        ("/other/src", "/other/src", None),
        ("src\\*.py", "src\\*.py", "src/*.py"),
        ("a\\\\b", "a\\\\b", None),
        ("\\#a", "\\#a", None),
        ("\\ a", "\\ a", None),
        ("*.py", "*.py", None),
        ("!.venv", "!.venv", None),
        (".", ".", None),
    ],
)
def test_patterns_of_a_configuration(
    monkeypatch: pytest.MonkeyPatch, pattern: str, git: str, on_windows: str | None
) -> None:
    assert paths.git_pattern(pattern, "/base") == git
    monkeypatch.setattr(os, "sep", "\\")
    assert paths.git_pattern(pattern, "/base") == (on_windows or git)


def test_a_configuration_written_on_windows_is_read_everywhere(write: Write, run: Run, agent: str) -> None:
    top = write(
        {
            "pyproject.toml": "[tool.gllint]\r\nextend = 'conf\\base.toml'\r\nexclude = ['src\\gen']\r\n"
            "baseline = 'conf\\known.json'\r\nper-file-ignores = {'src\\a.py' = ['GL101']}\r\n",
            "conf/base.toml": "select = ['GL1', 'GL4']\r\n",
            "conf/known.json": '{"version": 1, "findings": []}\r\n',
            "src/gen/b.py": agent,
            "src/a.py": agent.replace("\n", "\r\n"),
        }
    )
    outcome = run("check", "--output-format", "concise", cwd=top)
    assert [line.split()[:2] for line in outcome.stdout.splitlines()] == [["src/a.py:11:37:", "GL401"]]


@pytest.mark.parametrize(
    ("configuration", "base", "is_refused"),
    [
        ("//server/share/house/pyproject.toml", "../base.toml", False),
        ("//Server/Share/house/pyproject.toml", "//server/share/base.toml", False),
        ("//server/share/house/pyproject.toml", "//other/share/base.toml", True),
        ("C:/house/pyproject.toml", "//server/share/base.toml", True),
        ("/house/pyproject.toml", "\\\\server\\share\\base.toml", True),
    ],
)
def test_only_a_project_on_a_share_extends_a_file_there(
    configuration: str, base: str, is_refused: bool
) -> None:
    table = Table(configuration, f"extend = '{base}'\n", {"extend": base})
    with pytest.raises(ConfigurationError, match="on this machine" if is_refused else "is not a file"):
        checked(table)


class _Locked(PermissionError):
    winerror = 32


def test_a_file_that_is_read_for_a_blink_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "agent.py"
    path.write_bytes(b"x = 1\n")
    replace, refusals = os.replace, [1, 2]

    def refuse(source: str, target: str) -> None:
        if refusals:
            refusals.pop()
            raise _Locked(13, "Access is denied")
        replace(source, target)

    monkeypatch.setattr(os, "replace", refuse)
    write_atomically(str(path), b"x = 2\n")
    assert path.read_bytes() == b"x = 2\n"
    refusals += range(9)
    with pytest.raises(PermissionError):
        write_atomically(str(path), b"x = 3\n")
    assert (path.read_bytes(), os.listdir(tmp_path)) == (b"x = 2\n", ["agent.py"])


def test_a_locked_file_stays_and_the_others_are_fixed(
    write: Write, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = 'from agents import function_tool\n@function_tool\ndef f():\n    return {"value": 1.5, "unit": "kwh"}\n'
    top = write({"pyproject.toml": "", "a.py": tool, "b.py": tool})
    replace = os.replace

    def refuse(source: str, target: str) -> None:
        if target.endswith("a.py"):
            raise PermissionError(13, "Access is denied")
        replace(source, target)

    monkeypatch.setattr(os, "replace", refuse)
    outcome = run("check", "--fix", cwd=top)
    assert outcome.exit_code == 2
    assert "a.py: cannot be written: Access is denied" in outcome.stderr
    assert ((top / "a.py").read_text(), (top / "b.py").read_text()) == (tool, tool.replace("kwh", "kWh"))
    assert not [*top.glob(".gllint-*")]


def test_the_null_device_takes_output_where_nothing_can_be_set_to_block(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(os, "O_NONBLOCK")
    monkeypatch.delattr(os, "set_blocking")
    write_output(os.devnull, b"x")


@pytest.mark.parametrize("output_format", ["junit", "agent", "github", "concise"])
def test_what_is_no_console_gets_utf_8(
    write: Write, agent: str, monkeypatch: pytest.MonkeyPatch, output_format: str
) -> None:
    top = write({"agent.py": agent.replace("heat_demand", "wärme_Ω")})
    monkeypatch.chdir(top)
    output = io.BytesIO()
    stream = io.TextIOWrapper(output, encoding="cp1252")
    monkeypatch.setattr(sys, "stdout", stream)
    with pytest.raises(SystemExit):
        main(["check", "--no-cache", "--output-format", output_format])
    assert "wärme_Ω".encode() in output.getvalue()


def test_a_console_keeps_its_code_page(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    assert _encoding(stream) == "utf-8"
    monkeypatch.setenv("PYTHONIOENCODING", "cp1252")
    assert _encoding(stream) is None
    monkeypatch.delenv("PYTHONIOENCODING")
    monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
    assert _encoding(stream) is None


def test_clean_knows_the_labels_that_it_wrote(
    write: Write, run: Run, agent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_file = io.open

    def translating(file: str, mode: str = "r", *rest: object, **options: object) -> object:
        """Write as text streams of Windows do."""
        text = {} if "b" in mode else {"newline": "\r\n"}
        return open_file(file, mode, *rest, **{**text, **options})  # type: ignore[call-overload]

    monkeypatch.setattr("builtins.open", translating)
    top = write({"pyproject.toml": "", "agent.py": agent})
    run("check", cwd=top)
    assert {
        path.read_bytes().count(b"\r") for path in (top / ".gllint_cache").glob("*") if path.is_file()
    } == {0}
    assert "Kept what" not in run("clean", cwd=top).stdout


def test_the_guard_ends_lines_as_text_streams_want_it() -> None:
    """A text stream of Windows writes ``\\r\\n`` for a line feed by itself."""
    for folder in ("gllint", "rules/gllint_rules", "runtime/gllint_runtime"):
        for path in (Path(__file__).parents[2] / folder).rglob("*.py"):
            assert "os.linesep" not in path.read_text("utf-8"), path
