"""Processes and pipes: nobody waits for gllint after its end, and nothing is left half-written."""

from __future__ import annotations

import ast
import importlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

import pytest

import gllint as program
from gllint.files.writing import write_atomically
from gllint.run import pool
from gllint.run.pool import Pool

Write = Callable[..., Path]
Run = Callable[..., Any]
MESSAGE = 'FINAL_MESSAGE = "5 kWh"\n'

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and /proc")

# A run whose two processes never finish: each says that it has begun and sleeps.
_SLEEPER = """\
import sys, time
from gllint.cli import checking
from gllint.cli.main import main

def sleep(settings, path):
    sys.stdout.write("begun\\n")
    sys.stdout.flush()
    time.sleep(600)

class Engine(checking.Engine):
    def check(self, paths):
        list(self.pool.map(sleep, None, ["a", "b"], crashed=None, chunk=1))

checking.Engine = Engine
main(["check", "--jobs", "2", "--no-cache"])
"""


@pytest.fixture
def sleeper(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    (tmp_path / "sleeper.py").write_text(_SLEEPER)
    with subprocess.Popen(
        [sys.executable, "sleeper.py"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        yield process
        process.kill()


@pytest.mark.parametrize(
    ("name", "status"),
    [("SIGKILL", -9), ("SIGTERM", 143), ("SIGHUP", 129), ("SIGINT", 130)],
)
def test_no_process_outlives_its_parent(sleeper: subprocess.Popen[bytes], name: str, status: int) -> None:
    assert sleeper.stdout is not None
    assert [sleeper.stdout.readline() for _ in range(2)] == [b"begun\n"] * 2
    sleeper.send_signal(getattr(signal, name))
    # Both pipes are at their end only when nobody holds them open any more.
    out, err = sleeper.communicate(timeout=30)
    assert (sleeper.returncode, out, err.strip()) == (status, b"", b"")


def test_what_is_to_be_ignored_stays_so(tmp_path: Path) -> None:
    code = (
        "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN);"
        "from gllint.cli.checking import _ending_as_interrupts as ending\n"
        "with ending():\n"
        "    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN\n"
        "    assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL\n"
        "assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def double(work: int, path: str) -> str:
    return path * work


def test_who_interrupts_while_gllint_loads_gets_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    start = importlib.import_module("gllint.__main__").start

    class Loading(ModuleType):
        def __getattr__(self, name: str) -> NoReturn:
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "gllint.cli.main", Loading("gllint.cli.main"))
    with pytest.raises(SystemExit) as exit_:
        start()
    assert (exit_.value.code, *capfd.readouterr()) == (130, "", "")


@pytest.mark.parametrize("name", ["__init__.py", "__main__.py"])
def test_little_is_loaded_before_an_interrupt_is_heard(name: str) -> None:
    body = ast.parse(Path(program.__path__[0], name).read_text("utf-8")).body
    imports = [ast.unparse(node) for node in body if isinstance(node, ast.Import | ast.ImportFrom)]
    assert {*imports} <= {"import os", "import sys"}


def test_where_no_process_can_be_started_the_work_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Pool) -> None:
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(Pool, "_start", refuse)
    assert list(Pool(2).map(double, 2, ["a", "b", "c"], crashed="", chunk=1)) == [
        "aa",
        "bb",
        "cc",
    ]


def test_an_absurd_number_of_jobs_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "_MOST_PROCESSES", 2)
    workers = Pool(10**30)
    try:
        assert list(workers.map(double, 2, ["a", "b"], crashed=None, chunk=1)) == ["aa", "bb"]
    finally:
        workers.close()


@pytest.mark.parametrize("format_name", ["concise", "json", "full"])
def test_a_reader_that_leaves_hears_no_complaint(write: Write, format_name: str) -> None:
    top = write({f"m{n}.py": MESSAGE * 100 for n in range(20)})
    with subprocess.Popen(
        [sys.executable, "-m", "gllint", "check", "-q", "--no-cache", "--output-format", format_name],
        cwd=top,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.read(1)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("options", [[], ["--diff"], ["--output-file", "/dev/full"]])
def test_a_full_disk_is_one_line_and_2(write: Write, options: list[str]) -> None:
    top = write({"a.py": "x = 1  # noqa: GL401\n"})
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "gllint", "check", "-q", *options],
            cwd=top,
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    assert done.returncode == 2
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("gllint: ") and line.endswith("cannot be written: No space left on device")


# --- what is written -----------------------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="needs files without a name")
@pytest.mark.skipif(not hasattr(os, "link"), reason="the system has no hard links")
def test_who_is_stopped_while_writing_a_file_of_two_names_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "agent.py").write_bytes(b"old")
    os.link(tmp_path / "agent.py", tmp_path / "second.py")

    def stop(handle: int) -> None:
        raise KeyboardInterrupt

    real, calls = os.fsync, []
    monkeypatch.setattr(
        os, "fsync", lambda handle: calls.append(handle) or (stop if len(calls) > 1 else real)(handle)
    )
    with pytest.raises(KeyboardInterrupt):
        write_atomically(str(tmp_path / "agent.py"), b"whole")
    [kept] = tmp_path.glob(".gllint-*")
    assert kept.read_bytes() == b"whole"


def test_who_is_killed_while_writing_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("old")
    code = (
        "import os, signal, gllint.files.writing as files\n"
        "os.fsync = lambda handle: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"files.write_atomically({str(tmp_path / 'a.py')!r}, b'new')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.py": "old"}


@pytest.mark.parametrize("missing", ["O_TMPFILE", "link", ""])
def test_writing_keeps_mode_and_owner_and_honours_the_mask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    if missing == "O_TMPFILE":
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    elif missing:
        monkeypatch.delattr(os, missing)
    old = tmp_path / "old"
    old.write_text("old")
    old.chmod(0o640)
    if hasattr(os, "link"):
        os.link(old, tmp_path / "second")
    mask = os.umask(0o027)
    try:
        write_atomically(str(old), b"new")
        write_atomically(str(tmp_path / "fresh"), b"new")
    finally:
        os.umask(mask)
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in ("old", "fresh")] == [0o640, 0o640]
    assert [(tmp_path / name).read_text() for name in ("old", "fresh")] == ["new", "new"]
    if (tmp_path / "second").exists():
        assert (tmp_path / "second").read_text() == "new"  # the other name of the same file
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


def test_what_is_no_file_or_locked_is_not_written(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "locked").write_text("old")
    (tmp_path / "locked").chmod(0o444)
    for name in ("pipe", "folder", "locked", "none/at/all", "nul\0l"):
        with pytest.raises((OSError, ValueError)):
            write_atomically(str(tmp_path / name), b"new")
    assert (tmp_path / "locked").read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["folder", "locked", "pipe"]


# --- --output-file -------------------------------------------------------------------------------------------


def test_an_output_file_is_whole_or_as_it_was(write: Write, run: Run) -> None:
    top = write({"a.py": MESSAGE, "out.txt": "old", "agent.toml": "old", "gllint.toml": ""})
    options = ("check", "a.py", "--output-format", "concise", "--output-file")
    assert run(*options, "out.txt", cwd=top).returncode == 1
    assert (top / "out.txt").read_text().startswith("a.py:1:18: GL401 ")
    assert run("check", "--output-file", "out.txt", "--baseline", "none.json", cwd=top).returncode == 2
    assert (top / "out.txt").read_text().startswith("a.py:1:18: GL401 ")
    for name in ("a.py", "gllint.toml", ".", "none/out.txt"):
        done = run(*options, name, cwd=top)
        assert done.returncode == 2, name
        assert len(done.stderr.decode().splitlines()) == 1
    assert (top / "a.py").read_text() == MESSAGE
    assert (top / "gllint.toml").read_text() == ""


def test_devices_and_pipes_may_be_named(write: Write, run: Run) -> None:
    top = write({"a.py": MESSAGE})
    options = ("check", "a.py", "-q", "--output-format", "concise", "--output-file")
    done = run(*options, "/dev/stdout", cwd=top)
    assert (done.returncode, done.stdout[:18]) == (1, b"a.py:1:18: GL401 `")
    assert run(*options, "/dev/stderr", cwd=top).stderr == done.stdout
    assert run(*options, "/dev/null", cwd=top).returncode == 1
    os.mkfifo(top / "pipe")
    assert run(*options, "pipe", cwd=top).returncode == 2  # nobody reads it, and nobody is waited for
    with subprocess.Popen(["cat", "pipe"], cwd=top, stdout=subprocess.PIPE) as reader:
        deadline = time.monotonic() + 20
        while run(*options, "pipe", cwd=top).returncode == 2 and time.monotonic() < deadline:
            pass
        assert reader.communicate(timeout=30)[0] == done.stdout
    # What was written to the same file before is not lost.
    with open(top / "log", "wb") as log:
        log.write(b"before\n")
        log.flush()
        command = [sys.executable, "-m", "gllint", *options, "/dev/stdout"]
        subprocess.run(command, cwd=top, stdout=log, check=False, timeout=60)
    assert (top / "log").read_bytes() == b"before\n" + done.stdout


# --- links ---------------------------------------------------------------------------------------------------

UNUSED = "x = 1  # noqa: GL401\n"


def test_no_link_leads_a_fix_out_of_the_project(write: Write, run: Run, tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    for name in ("far/a.py", "far/b.py"):
        (tmp_path / name).write_text(UNUSED + MESSAGE)
    top = write({"pyproject.toml": "", "mine.py": UNUSED + MESSAGE})
    (top / "link.py").symlink_to("../far/a.py")
    (top / "folder").symlink_to("../far")
    for options in (["--fix"], ["--add-noqa"]):
        for path in (".", "link.py", "folder/b.py"):
            done = run("check", *options, path, cwd=top)
            assert done.returncode == 2, (options, path)
            assert "a link leads out of the project" in done.stderr.decode()
    assert (top / "mine.py").read_text() == "x = 1\n" + MESSAGE.rstrip() + "  # noqa: GL401\n"
    for name in ("far/a.py", "far/b.py"):
        assert (tmp_path / name).read_text() == UNUSED + MESSAGE
    assert run("check", "--fix", tmp_path / "far", cwd=top).returncode == 1
    assert (tmp_path / "far/a.py").read_text() == "x = 1\n" + MESSAGE


def test_a_project_reached_through_a_link_is_fixed(write: Write, run: Run, tmp_path: Path) -> None:
    top = write({"pyproject.toml": "", "sub/a.py": UNUSED})
    (tmp_path / "door").symlink_to(top)
    assert run("check", "--fix", "door", cwd=tmp_path).returncode == 0
    assert (top / "sub/a.py").read_text() == "x = 1\n"


@pytest.mark.parametrize("option", ["--write-baseline", "--output-file"])
def test_no_link_leads_what_is_written_out_of_the_project(
    write: Write, run: Run, tmp_path: Path, option: str
) -> None:
    top = write({"pyproject.toml": "", "a.py": MESSAGE})
    (tmp_path / "precious").write_text("")
    (tmp_path / "far").mkdir()
    (top / "link").symlink_to("../precious")
    (top / "fresh").symlink_to("../fresh")
    (top / "folder").symlink_to("../far")
    (top / "inside").symlink_to("out")
    for name in ("link", "fresh", "folder/out"):
        done = run("check", option, name, cwd=top)
        assert done.returncode == 2
        assert "a link leads out of the project" in done.stderr.decode()
    assert (tmp_path / "precious").read_text() == "" and not (tmp_path / "fresh").exists()
    assert not os.listdir(tmp_path / "far")
    assert run("check", option, "inside", cwd=top).returncode in (0, 1)
    assert (top / "inside").is_symlink() and (top / "out").read_text()


def test_a_pruned_baseline_is_not_written_through_a_link(write: Write, run: Run, tmp_path: Path) -> None:
    top = write({"pyproject.toml": "", "a.py": MESSAGE})
    run("check", "--write-baseline", "base.json", cwd=top)
    (top / "base.json").rename(tmp_path / "far.json")
    (top / "base.json").symlink_to("../far.json")
    before = (tmp_path / "far.json").read_text()
    (top / "a.py").write_text("")
    assert run("check", "--baseline", "base.json", cwd=top).returncode == 0
    assert run("check", "--baseline", "base.json", "--prune-baseline", cwd=top).returncode == 2
    assert (tmp_path / "far.json").read_text() == before


# --- --add-noqa ----------------------------------------------------------------------------------------------


def test_standard_input_gets_its_suppressions_on_standard_output(write: Write, run: Run) -> None:
    top = write({"a.py": "mine\n"})
    done = run("check", "--add-noqa", "-", "--stdin-filename", "a.py", cwd=top, stdin=MESSAGE.encode())
    assert (done.returncode, done.stdout) == (0, b'FINAL_MESSAGE = "5 kWh"  # noqa: GL401\n')
    done = run("check", "--add-noqa", "-", cwd=top, stdin=b"x = 1\n")
    assert (done.returncode, done.stdout) == (0, b"x = 1\n")
    assert {*os.listdir(top)} <= {".gllint_cache", "a.py"}
    assert (top / "a.py").read_text() == "mine\n"


def test_a_link_and_its_file_get_one_suppression(write: Write, run: Run) -> None:
    top = write({"a.py": MESSAGE})
    (top / "link.py").symlink_to("a.py")
    assert run("check", "--add-noqa", cwd=top).returncode == 0
    assert (top / "a.py").read_text() == 'FINAL_MESSAGE = "5 kWh"  # noqa: GL401\n'
    assert run("check", cwd=top).returncode == 0
