"""The cache: quick where nothing changed, right whatever happened."""

from __future__ import annotations

import errno
import json
import marshal
import os
import pickle
import random
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gllint.files.discover import Signature
from gllint.run import cache, rules, screening_cache
from gllint.run import index as indexing
from gllint.run.analysis_cache import AnalysisCache
from gllint.run.cache import Store, decode, encode
from gllint.run.engine import Engine, Options
from gllint.run.results import (
    Dependencies,
    Evidence,
    Facts,
    Fixed,
    Result,
    StoredResult,
    facts_from,
    result_from,
    results_from,
)
from gllint.run.screening import Screened
from gllint.run.screening_cache import Row, rows_from
from gllint.run.signing import signer
from gllint_rules import Cut, Failure, Finding, Settings
from gllint_rules.check import merge
from gllint_rules.check.readers import Search
from gllint_rules.finding import Edit, Fix, Note, PlainNumber, Span, ToolAt, ToolSight
from gllint_runtime import Policy

Write = Callable[..., Path]
Run = Callable[..., Any]

TOOLS = """\
from crewai.tools import BaseTool


class Meter(BaseTool):
    def _run(self, site):
        return reading(site)


meter = Meter()
"""
HELPER = "def reading(site):\n    return {'value': 3, 'unit': 'kWh'}\n"
USE = "from tools import meter\n\n\ndef go():\n    return meter.run('x')\n"


def found(top: Path, *, keep: bool = True) -> list[str]:
    """The findings of a fresh engine, as another process would have."""
    outcome = Engine(Options(cache=keep, jobs=1)).check([str(top)])
    assert not outcome.failures
    return [
        f"{Path(f.path).relative_to(top)}:{f.span.line}:{f.span.column} {f.code}" for f in outcome.findings
    ]


@pytest.fixture
def project(write: Write) -> Path:
    return write(
        {
            "pyproject.toml": "",
            "tools.py": "from helper import reading\n" + TOOLS,
            "helper.py": HELPER,
            "use.py": USE,
            "plain.py": "x = 1\n",
        }
    )


def age(top: Path, wait: float = 0.25) -> None:
    """Make all files look written a while ago, so that the table may trust their signatures."""
    past = time.time() - 100
    for path in top.rglob("*.py"):
        os.utime(path, (past, past))
    time.sleep(wait)  # the status change itself has a time too


def test_an_unchanged_project_is_answered_without_reading(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    age(project)
    first = found(project)
    assert first == ["use.py:5:12 GL301"]

    def read(path: str) -> bytes:
        raise AssertionError(f"{path} was read")

    monkeypatch.setattr(screening_cache, "screen_file", lambda settings, path, _: read(path))
    monkeypatch.setattr(indexing, "parse", lambda path, *more: read(path))
    assert found(project) == first
    assert "gllint_rules.project.project" in sys.modules


TOOL = "from agents import function_tool\n\n\n@function_tool\ndef heat(site):\n    return {'score': 2.5}\n"
PAGE = "from agent import heat\n\n\ndef page(site):\n    return heat(site)['score'] * 2\n"


def test_only_edited_files_are_searched_again_for_readers(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = write({"pyproject.toml": "", "agent.py": TOOL, "page.py": PAGE, "plain.py": "SCORE = 1\n"})
    searched: list[str] = []
    search = Search.readers

    def counted(self: Search, paths: Any, read: Callable[[str], bytes], *known: Any) -> Any:
        return search(self, paths, lambda path: searched.append(Path(path).name) or read(path), *known)

    monkeypatch.setattr(Search, "readers", counted)

    def expect(names: str, *readers: str, edit: Mapping[str, str] | None = None) -> None:
        for name, text in (edit or {}).items():
            (project / name).write_text(text)
        time.sleep(0.25)  # so that the signature of an edited file may be trusted
        searched.clear()
        findings = Engine(Options(jobs=1)).check([str(project)]).findings
        assert (" ".join(searched), *(re.findall(r"\w+\.py:\d+", "".join(f.help for f in findings)))) == (
            names,
            *readers,
        )
        assert findings == Engine(Options(jobs=1, cache=False)).check([str(project)]).findings

    age(project)
    expect("agent.py page.py plain.py", "page.py:5")
    expect("", "page.py:5")
    expect("page.py", "page.py:6", edit={"page.py": f"# moved\n{PAGE}"})
    expect("", "page.py:6")
    # The lines of a finding are no readers of it, wherever they move to.
    expect("agent.py", "page.py:6", edit={"agent.py": f"\n{TOOL}"})
    expect(
        "plain.py",
        "page.py:6",
        "plain.py:2",
        edit={"plain.py": "import agent\nS = agent.heat('')['score']\n"},
    )
    (project / "page.py").unlink()
    expect("", "plain.py:2")
    # A new name is looked for in all files.
    both = "{'score': 2.5, 'load': 1.5}"
    expect(
        "agent.py plain.py",
        "plain.py:2",
        "plain.py:3",
        edit={
            "agent.py": TOOL.replace("{'score': 2.5}", both),
            "plain.py": "import agent\nS = agent.heat('')['score']\nL = agent.heat('')['load']\n",
        },
    )


@pytest.mark.parametrize(
    "rows",
    [
        3,
        [[]],
        [["score"], 3],
        [["score"], {"agent.py": [[1], []]}],
        [["score"], {"": [[1, 1, 1, 1], [[], {"": ["x"]}]]}],
    ],
    ids=repr,
)
def test_an_entry_of_readers_with_strange_values_is_as_good_as_none(
    write: Write, agent: str, rows: object
) -> None:
    project = write({"pyproject.toml": "", "agent.py": agent})
    age(project)
    first = Engine(Options(jobs=1)).check([str(project)]).findings
    [kept] = (project / ".gllint_cache").glob("*/readers")
    for payload in (json.dumps(rows).encode(), msgspec.msgpack.encode(rows)):
        kept.write_bytes(entry(kept.parent.name, kept.name, payload))
        assert Engine(Options(jobs=1)).check([str(project)]).findings == first != []


def test_a_warm_run_does_not_load_the_parser(project: Path, run: Run) -> None:
    age(project)
    cold = run("check", "--output-format", "json", cwd=project)
    warm = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "gllint", "check", "--output-format", "json"],
        cwd=project,
        capture_output=True,
        check=False,
    )
    assert warm.stdout == cold.stdout
    assert len(json.loads(cold.stdout)) == 1
    assert b"libcst" not in warm.stderr


def test_findings_of_several_places_load_no_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule says what of one place belongs together, and loads the analysis with it."""
    several = [Finding("GL101", "a.py", Span(line, 1, line, 2), "message", "help") for line in (1, 2)]
    monkeypatch.setattr(merge, "RULES", None)
    assert merge.merged([*several, several[0]]) == several


def test_changes_in_any_file_are_seen(project: Path) -> None:
    def both() -> list[str]:
        cached, fresh = found(project), found(project, keep=False)
        assert cached == fresh
        return cached

    assert both() == ["use.py:5:12 GL301"]
    (project / "helper.py").write_text(
        "def reading(site):\n    return 3.5\n"
    )  # a file that no rule speaks about
    assert both() == ["tools.py:7:16 GL101", "use.py:5:12 GL301"]
    (project / "helper.py").unlink()
    assert both() == ["use.py:5:12 GL301"]
    (project / "lib").mkdir()
    (project / "helper.py").write_text(HELPER)
    (project / "use.py").rename(project / "lib/moved.py")
    assert both() == ["lib/moved.py:5:12 GL301"]
    (project / "tools.py").write_text("meter = object()\n")
    assert both() == []
    (project / "more.py").write_text('FINAL_MESSAGE = "5 kWh"\n')
    assert both() == ["more.py:1:18 GL401"]
    (project / "pyproject.toml").write_text("[tool.gllint]\nignore = ['GL401']\n")
    assert both() == []


def test_same_size_same_time_other_content(project: Path) -> None:
    target = project / "plain.py"
    target.write_text('FINAL_MESSAGE = "5 kWh"\n')
    age(project)
    stamp = target.stat()
    assert "plain.py:1:18 GL401" in found(project)
    target.write_text('FINAL_MESSAGE = "x kWh"\n')
    os.utime(target, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert "plain.py:1:18 GL401" not in found(project)


def test_a_file_written_while_we_look_is_not_trusted(project: Path) -> None:
    # Within one tick of the clock a file can change twice under one signature: its row is not kept.
    (project / "plain.py").write_text("x = 2\n")
    engine = Engine(Options(jobs=1))
    engine.check([str(project)])
    (folder,) = [path for path in (project / ".gllint_cache").iterdir() if path.is_dir()]
    paths = Store(str(folder)).read("screen", dict[str, Row]) or {}
    assert not any(path.endswith("plain.py") for path in paths)


def test_the_cache_hides_itself_and_clean_removes_it(project: Path, run: Run) -> None:
    subprocess.run(["git", "init", "-q", project], check=True)
    (project / "agent.py").write_text(TOOL)  # which makes an entry of every kind
    found(project)
    assert (project / ".gllint_cache/CACHEDIR.TAG").is_file()
    status = subprocess.run(["git", "status", "--porcelain"], cwd=project, capture_output=True, check=True)
    assert b"gllint_cache" not in status.stdout
    assert b"Removed" in run("clean", cwd=project).stdout
    assert not (project / ".gllint_cache").exists()
    assert run("clean", cwd=project).returncode == 0


def test_clean_leaves_alone_what_is_no_cache(project: Path, run: Run) -> None:
    precious = project / "precious"
    precious.mkdir()
    (precious / "a.txt").write_text("mine")
    run("clean", "--cache-dir", "precious", cwd=project)
    assert (precious / "a.txt").read_text() == "mine"


def test_where_the_cache_is_kept(project: Path, run: Run, tmp_path: Path) -> None:
    run("check", "--no-cache", cwd=project)
    assert not (project / ".gllint_cache").exists()
    run("check", cwd=project, env={"GLLINT_CACHE_DIR": str(tmp_path / "a")})
    run("check", "--cache-dir", tmp_path / "b", cwd=project)
    (project / "pyproject.toml").write_text("[tool.gllint]\ncache-dir = 'c'\n")
    run("check", cwd=project)
    for top in (tmp_path / "a", tmp_path / "b", project / "c"):
        assert os.listdir(top) == [".gllint_cache"]
        assert (top / ".gllint_cache/CACHEDIR.TAG").is_file()
    assert not (project / ".gllint_cache").exists()
    assert b"Removed" in run("clean", "--cache-dir", tmp_path / "a", cwd=project).stdout
    assert b"Removed" in run("clean", cwd=project).stdout
    assert os.listdir(tmp_path / "a") == os.listdir(project / "c") == []
    assert os.listdir(tmp_path / "b") == [".gllint_cache"]


def contents(top: Path) -> dict[str, bytes]:
    """Every file and folder below ``top``, the cache's own aside."""
    return {
        str(path.relative_to(top)): path.read_bytes() if path.is_file() else b""
        for path in top.rglob("*")
        if ".gllint_cache" not in path.parts
    }


def test_a_cache_among_the_sources_touches_none_of_them(project: Path, run: Run) -> None:
    old = project / ("0" * 40)
    for folder in (old, project / "old"):
        folder.mkdir()
        (folder / "screen").write_text("mine")
        os.utime(folder, (1, 1))
    (project / "pyproject.toml").write_text("[tool.gllint]\ncache-dir = '.'\n")
    before = contents(project)
    assert run("check", cwd=project).returncode == 1
    assert run("clean", cwd=project).returncode == 0
    assert contents(project) == before
    assert not (project / ".gllint_cache").exists()


@pytest.mark.parametrize("folder", ["..", "/", "{above}", "sub/../..", "link", "link/deeper"])
def test_no_configuration_puts_the_cache_outside_the_project(
    project: Path, run: Run, tmp_path: Path, folder: str
) -> None:
    (tmp_path / "CACHEDIR.TAG").write_text("somebody's")
    (project / "link").symlink_to(tmp_path)
    named = folder.format(above=tmp_path)
    (project / "pyproject.toml").write_text(f"[tool.gllint]\ncache-dir = '{named}'\n")
    before = sorted(os.listdir(tmp_path))
    for command in ("check", "clean", "config"):
        done = run(command, cwd=project)
        assert done.returncode == 2
        said = done.stderr.decode()
        assert said.startswith(
            f"gllint: {project}/pyproject.toml:2: key 'cache-dir' leads out of the project"
        )
        assert len(said.splitlines()) == 1
    assert sorted(os.listdir(tmp_path)) == before


def test_a_nested_project_may_name_a_folder_of_its_repository(project: Path, run: Run) -> None:
    (project / ".git").mkdir()
    (project / "sub").mkdir()
    (project / "sub/gllint.toml").write_text("cache-dir = '../shared'\n")
    (project / "sub/a.py").write_text('FINAL_MESSAGE = "5 kWh"\n')
    assert run("check", cwd=project / "sub").returncode == 1
    assert os.listdir(project / "shared") == [".gllint_cache"]


@pytest.mark.parametrize("place", ["top", "store"])
def test_a_link_in_place_of_the_cache_is_not_followed(
    project: Path, run: Run, tmp_path: Path, place: str
) -> None:
    target = tmp_path / "precious"
    target.mkdir()
    (target / "screen").write_text("mine")
    if place == "top":
        (project / ".gllint_cache").symlink_to(target)
    else:
        store = Store.of(str(project / ".gllint_cache"), str(project), Settings()).folder
        assert store is not None
        (project / ".gllint_cache").mkdir()
        os.symlink(target, store)
    assert found(project) == ["use.py:5:12 GL301"]
    run("clean", cwd=project)
    assert contents(target) == {"screen": b"mine"}


def test_clean_takes_what_gllint_wrote_and_nothing_else(project: Path, run: Run) -> None:
    found(project)
    (folder,) = [path for path in (project / ".gllint_cache").iterdir() if path.is_dir()]
    mine = {
        project / ".gllint_cache/notes.txt": "mine",
        project / ".gllint_cache" / ("a" * 40) / "thesis.txt": "mine",
        folder / "thesis.txt": "mine",
        folder / ("facts-" + "0" * 40): "mine, whatever its name",
        folder / "names": "mine, whatever its name",
    }
    for path, text in mine.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    (project / ".gllint_cache/.gitignore").write_text("# mine\n")
    done = run("clean", cwd=project)
    assert done.returncode == 0
    assert b"Removed what gllint wrote in" in done.stdout and b"Kept what gllint did not write" in done.stdout
    left = {path: path.read_text() for path in (project / ".gllint_cache").rglob("*") if path.is_file()}
    assert left == mine | {project / ".gllint_cache/.gitignore": "# mine\n"}
    assert run("clean", "nowhere", cwd=project).returncode == 2


def test_old_stores_go_and_what_somebody_put_there_stays(tmp_path: Path) -> None:
    top = tmp_path / ".gllint_cache"
    for number, name in enumerate(["screen", "thesis.txt"]):
        folder = f"{top}/{number:040x}"
        Store(folder).write("screen", {})
        if name != "screen":
            Path(folder, name).write_text("mine")
        os.utime(folder, (1, 1))
    (top / "old").mkdir()
    os.utime(top / "old", (1, 1))
    os.symlink(tmp_path, top / ("f" * 40))
    Store(f"{top}/{2:040x}").write("screen", {})
    assert sorted(os.listdir(top)) == sorted(
        [f"{1:040x}", f"{2:040x}", "old", "f" * 40, "CACHEDIR.TAG", ".gitignore"]
    )
    assert os.listdir(top / f"{1:040x}") == ["thesis.txt"]


def test_a_folder_of_the_name_that_is_in_use_is_not_hidden(tmp_path: Path) -> None:
    (tmp_path / ".gllint_cache").mkdir()
    (tmp_path / ".gllint_cache/notes.txt").write_text("mine")
    store = Store(f"{tmp_path}/.gllint_cache/{0:040x}")
    store.write("screen", {})
    assert store.read("screen", dict[str, Any]) == {}
    assert sorted(os.listdir(tmp_path / ".gllint_cache")) == ["0" * 40, "notes.txt"]


def test_a_pipe_in_place_of_an_entry_or_the_lock_holds_nobody_up(tmp_path: Path) -> None:
    folder = f"{tmp_path}/{0:040x}"
    os.mkdir(folder)
    for name in ("screen", "lock"):
        os.mkfifo(f"{folder}/{name}")
    store = Store(folder)
    assert store.read("screen", dict[str, Any]) is None
    with store.turn():
        pass
    (tmp_path / "precious").write_text("mine")
    os.unlink(f"{folder}/lock")
    os.symlink(tmp_path / "precious", f"{folder}/lock")
    with store.turn():
        pass
    assert (tmp_path / "precious").read_text() == "mine"


def test_a_turn_is_waited_for_but_not_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    monkeypatch.setattr(cache, "_LOCK_PATIENCE", 0.1)
    folder = f"{tmp_path}/{0:040x}"
    store = Store(folder)
    with (
        store.turn(),
        Store(folder).turn(),
        open(f"{folder}/lock", "rb") as lock,
        pytest.raises(BlockingIOError),
    ):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_cache_that_cannot_be_written_is_done_without(project: Path) -> None:
    (project / ".gllint_cache").write_text("a file in the way")
    assert found(project) == ["use.py:5:12 GL301"]


@pytest.mark.parametrize("damage", ["truncate", "flip", "empty", "foreign", "swap"])
def test_a_damaged_entry_is_as_good_as_none(project: Path, damage: str) -> None:
    age(project)
    expected = found(project)
    (folder,) = [path for path in (project / ".gllint_cache").iterdir() if path.is_dir()]
    entries = sorted(path for path in folder.iterdir() if path.name != "lock")
    contents = [path.read_bytes() for path in entries]
    for index, path in enumerate(entries):
        data = bytearray(contents[index])
        if damage == "flip":
            data[len(data) // 2] ^= 1
        path.write_bytes(
            {
                "truncate": bytes(data[: len(data) // 2]),
                "flip": bytes(data),
                "empty": b"",
                "foreign": pickle.dumps({"x": 1}),
                "swap": contents[index - 1],
            }[damage]
        )
    assert found(project) == expected
    assert found(project) == expected


class Bomb:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("exploded",)


def entry(store: str, name: str, payload: bytes) -> bytes:
    """An entry that is sound to the last byte, as if somebody had this user's key."""
    return cache._PREFIX + signer().sign(store.encode(), name.encode(), payload) + payload


def test_an_entry_of_somebody_else_runs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store = Store(str(tmp_path / "c"))
    sound = {"x": (1, b"2", frozenset({"a"}))}
    store.write("sound", sound)
    assert store.read("sound", dict[str, tuple[int, bytes, frozenset[str]]]) == sound
    for payload in (
        pickle.dumps(Bomb()),
        pickle.dumps(sound),
        marshal.dumps(sound),
        b"",
        b"\xff",
        b"null",
        b"[]",
        b"\x90",
        b"\x91" * 1_000_000,  # an array within an array
        b"[" * 1_000_000,
        b"\x81\xa1a" * 1_000_000,
        b"\xdf\xff\xff\xff\xff",  # four thousand million members, none of which comes
        b"\x81\xa1a\xdd\xff\xff\xff\xff",
        b"\x81\xa1a\xc6\xff\xff\xff\xff",
        b"\x81\xa1\xff\x01",  # a text that is no UTF-8
    ):
        (tmp_path / "c/evil").write_bytes(entry("c", "evil", payload))
        assert store.read("evil", dict[str, Any]) is None
    assert sorted(os.listdir(tmp_path)) == ["c"]


_SPAN: list[Any] = [1, 1, 1, 2]


_KEYS = {"another key": {"GLLINT_CACHE_KEY": "stranger"}, "another user": {"XDG_STATE_HOME": "stranger"}}


@pytest.mark.parametrize("stranger", _KEYS.values(), ids=list(_KEYS))
def test_a_cache_that_comes_with_a_repository_is_not_believed(
    write: Write, run: Run, agent: str, stranger: dict[str, str], tmp_path: Path
) -> None:
    """Somebody wrote at this very path, with the same gllint, that there is nothing to find, and committed it."""
    stranger = {name: value if "KEY" in name else str(tmp_path / value) for name, value in stranger.items()}
    top = write({"gllint.toml": "", "agent.py": "x = 1\n"})
    path, times = top / "agent.py", (10**9, 10**9)
    path.write_text(f"{'x = 1':<{len(agent)}}"[: len(agent)])
    os.utime(path, times)
    assert run("check", cwd=top, env=stranger).returncode == 0
    entries = [path for path in (top / ".gllint_cache").glob("*/*") if path.is_file()]
    kept = {path: path.read_bytes() for path in entries}
    assert any(path.name == "screen" for path in kept)
    path.write_text(agent)
    for _ in range(2):
        assert run("check", cwd=top).returncode == 1
    for path, content in kept.items():
        path.write_bytes(content)
    assert run("check", cwd=top).returncode == 1


def test_who_shares_the_key_shares_the_cache(write: Write, run: Run, agent: str, tmp_path: Path) -> None:
    top = write({"gllint.toml": "", "agent.py": agent})
    os.utime(top / "agent.py", (10**9, 10**9))
    time.sleep(0.2)  # what was just written is looked at again
    read = []
    for user, key in ("one", "k"), ("one", "k"), ("two", "k"), ("three", "other"):
        env = {"XDG_STATE_HOME": str(tmp_path / user), "GLLINT_CACHE_KEY": key}
        assert run("check", cwd=top, env=env).returncode == 1
        [folder] = (top / ".gllint_cache").glob("*/screen")
        read.append(folder.read_bytes())  # the same look, signed
        assert not (tmp_path / user).exists()
    assert read[1] == read[2] != read[3]


def test_an_entry_takes_the_place_of_no_other(tmp_path: Path) -> None:
    one, two = Store(str(tmp_path / "one")), Store(str(tmp_path / "two"))
    one.write("screen", {"a": 1})
    two.write("screen", {"b": 2})
    shutil.copy(tmp_path / "one/screen", tmp_path / "two/screen")
    shutil.copy(tmp_path / "one/screen", tmp_path / "one/facts")
    assert one.read("screen", dict[str, int]) == {"a": 1}
    assert two.read("screen", dict[str, int]) is None
    assert one.read("facts", dict[str, int]) is None


def _make_file(folder: Path) -> None:
    folder.write_text("")


def _make_open(folder: Path) -> None:
    folder.mkdir()
    (folder / "cache-key").write_bytes(b"k" * 32)
    (folder / "cache-key").chmod(0o644)


def _make_short(folder: Path) -> None:
    folder.mkdir()
    (folder / "cache-key").touch(0o600)


def _make_link(folder: Path) -> None:
    folder.mkdir()
    (folder / "cache-key").symlink_to("/dev/zero")


@pytest.mark.parametrize("make", [_make_file, _make_open, _make_short, _make_link])
def test_without_a_key_a_run_keeps_nothing_and_says_so_with_verbose_alone(
    write: Write, run: Run, agent: str, tmp_path: Path, make: Callable[[Path], None]
) -> None:
    (tmp_path / "state").mkdir()
    make(tmp_path / "state/gllint")
    env = {"XDG_STATE_HOME": str(tmp_path / "state")}
    top = write({"gllint.toml": "", "agent.py": agent})
    quiet, verbose = run("check", cwd=top, env=env), run("check", "-v", cwd=top, env=env)
    assert quiet.returncode == verbose.returncode == 1
    assert b"cache" not in quiet.stderr
    assert b"cache none: its key in " in verbose.stderr
    assert not (top / ".gllint_cache").exists()


def test_eight_runs_at_once_make_one_key(tmp_path: Path) -> None:
    code = "from gllint.run.signing import signer; print(signer().key.hex())"
    env = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")}
    runs = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=env) for _ in range(8)]
    keys = {each.communicate()[0] for each in runs}
    assert len(keys) == 1 and len(keys.pop().strip()) == 64
    assert os.listdir(tmp_path / "state/gllint") == ["cache-key"]
    assert (tmp_path / "state/gllint/cache-key").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        (Span, {}), (Span, [3]), (Span, [1, 1, 1]), (Span, [1, 1, 1, "x"]), (Span, [1, 1, 1, True]), (Span, [*_SPAN, 3]),
        (Edit, [[1, 1, 1], "x"]), (Cut, ["a", 1, None]), (Fix, ["safe", "m", {}]), (Fix, ["safe", "m", [_SPAN]]), (int, 1.5),
        (Result, [[3], [], [], "", []]), (Result, [[], [], [], "", 3]), (bytes, 1), (bytes, "\u0100"), (str, None), (None, 0),
        (Dependencies, [{}, {}, {}, {"a": [1]}, {}]), (Dependencies, [{}, {"a": "b"}, {}, {}, {}]), (tuple[int, str], [1]),
        (Finding, ["GL101", "a.py", _SPAN, "m", "", 3, [], [], [], "", []]), (dict[str, int], [1]), (frozenset[str], "abc"),
        (tuple[Span, ...], _SPAN), (tuple[frozenset[str], dict[str, tuple[int, bool]]], [[], {"a": [1, 1]}]),
    ],
    ids=repr,
)  # fmt: skip
def test_an_entry_of_another_shape_is_as_good_as_none(tmp_path: Path, kind: Any, content: object) -> None:
    store = Store(str(tmp_path))
    (tmp_path / "x").write_bytes(entry(tmp_path.name, "x", json.dumps([_SPAN]).encode()))
    assert store.read("x", tuple[Span, ...]) == (Span(1, 1, 1, 2),)
    for payload in (json.dumps(content).encode(), msgspec.msgpack.encode(content)):
        (tmp_path / "x").write_bytes(entry(tmp_path.name, "x", payload))
        assert store.read("x", kind) is None


def test_each_record_comes_back_as_it_went(tmp_path: Path) -> None:
    span = Span(1, 2, 3, 4)
    fix = Fix("safe", "m", (Edit(span, "é\ud800"),))
    tool = ToolAt("b.py", 3, "t")
    finding = Finding(
        "GL101", "a.py", span, "m", "h", fix, (Note("n", "b.py", span),), (tool,), ("k",), "number", ("b.py",)
    )
    result = Result(
        (finding, finding._replace(fix=None)),
        (Failure("GL101", "a", "e"),),
        (Cut("a", 1, "steps"),),
        "n",
        frozenset({"q"}),
        (ToolSight(tool, 3, "text"),),
        (PlainNumber("a.py", 3),),
        "cannot be read",
    )
    rests_on = Dependencies({"a": b"\xff"}, {"b": True}, {"d": False})
    evidence = Evidence(b"\xff", True, {"a": None, "b": "c"}, frozenset({"d"}))
    values: list[tuple[Any, object]] = [
        (Facts, Facts(
            b"f", True, {"m": evidence}, {}, {"p": True}, {"part": (([], {"m": True}),)}, (b"", frozenset({(b"n",), (b"i", b"u")})), (b"", {"q": b"a"})
        )),
        (Fixed, Fixed(b"s", {"a": result}, rests_on)),
        (Fixed, Fixed(b"s", {"a": result._replace(findings=(finding._replace(fix=None),))}, rests_on)),
        (dict[str, StoredResult], {"a": StoredResult(b"e", {"q": b"a"}, frozenset({"a"}), False, b"[]")}),
        (dict[str, Row], {"a": Row(Signature(1, 2, 3, 4), Screened(1, b"\xff", ""), b"\xff"), "b\udcff": Row(Signature(1, 2, 3, 4), Screened(1, b"", "x"))}),
    ]  # fmt: skip
    store = Store(str(tmp_path))
    builds: dict[Any, Any] = {
        Facts: facts_from,
        dict[str, StoredResult]: results_from,
        dict[str, Row]: rows_from,
    }
    for kind, value in values:
        store.write("x", value)
        assert store.read("x", kind) == value
        if kind in builds:  # and as JSON without msgspec, whose parts of questions stay plain
            plain = value._replace(parts={}) if isinstance(value, Facts) else value
            store.write("x", plain, is_small=True)
            assert store.read("x", kind, builds[kind]) == store.read("x", kind) == plain
    for known in (result, result._replace(findings=(), failures=())):
        assert decode(encode(known, is_small=True), Result, result_from) == known


@pytest.mark.parametrize("is_small", [True, False])
@pytest.mark.parametrize("value", [3, (), (b"", {}, 3), {"x": 3}, ([], [], []), Result(), ("",) * 9])
def test_entries_that_were_exchanged_change_no_finding(project: Path, value: object, is_small: bool) -> None:
    age(project)
    expected = found(project)
    (folder,) = [path for path in (project / ".gllint_cache").iterdir() if path.is_dir()]
    for path in folder.iterdir():
        if path.name != "lock":
            Store(str(folder)).write(path.name, value, is_small)
    assert found(project) == expected


def test_a_changed_gllint_does_not_find_old_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = Store.of(str(tmp_path), "/p", Settings()).folder
    assert Store.of(str(tmp_path), "/p", Settings()).folder == one
    assert Store.of(str(tmp_path), "/q", Settings()).folder != one
    assert Store.of(str(tmp_path), "/p", Settings(policy=Policy(strict_units=True))).folder != one
    monkeypatch.setattr(cache, "installation", lambda: b"another")
    assert Store.of(str(tmp_path), "/p", Settings()).folder != one


@pytest.mark.parametrize("room", range(5))
def test_a_disk_that_fills_up_at_any_entry_costs_no_finding(
    project: Path, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    """Half of an entry is written, and no more: what was put in place before holds, and is told from what was not."""
    age(project)
    expected = found(project, keep=False)
    left = [room]

    def opened(handle: int, mode: str) -> Any:
        file = original(handle, mode)
        left[0] -= 1
        return Full(file) if left[0] < 0 else file

    original = os.fdopen
    with monkeypatch.context() as full:
        full.setattr(cache.os, "fdopen", opened)
        assert found(project) == expected
        assert left[0] < 0 or room == 4
    folders = (project / ".gllint_cache").glob("*/*")
    assert not [path.name for path in folders if path.name.startswith("new-")]
    (project / "helper.py").write_text(HELPER.replace("{'value': 3, 'unit': 'kWh'}", "{'load': 3}"))
    changed = found(project, keep=False)
    assert changed != expected
    assert found(project) == found(project) == changed


class Full:
    """A file on a disk that has room for a few more bytes."""

    def __init__(self, file: Any) -> None:
        self.file = file

    def __enter__(self) -> Full:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def write(self, data: bytes) -> int:
        self.file.write(data[: len(data) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _use_as_version(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    monkeypatch.setattr(cache, "installation", lambda: b"version %d" % number)


def _use_as_user(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    monkeypatch.setenv("GLLINT_CACHE_KEY", f"user {number}")


@pytest.mark.parametrize("use_as", [_use_as_version, _use_as_user])
def test_two_versions_and_two_users_take_turns_over_one_cache(
    project: Path, monkeypatch: pytest.MonkeyPatch, use_as: Callable[[pytest.MonkeyPatch, int], None]
) -> None:
    """What one of them last saw is not what there is now, and the entries are those of the other."""
    helpers = (HELPER, HELPER.replace("'unit': 'kWh'", "'load': 4"), "def reading(site:\n", "x = 1\n")
    rng = random.Random(7)
    for step in range(8):
        if step % 3:
            (project / "helper.py").write_text(rng.choice(helpers))
            (project / "tools.py").write_text(
                "from helper import reading\n" + TOOLS + "# x\n" * rng.randrange(3)
            )
            age(project, 0.11)
        use_as(monkeypatch, rng.randrange(2))
        assert found(project) == found(project, keep=False), step


def test_killed_at_any_moment_it_is_never_wrong(project: Path) -> None:
    for index in range(30):
        (project / f"agent{index}.py").write_text(f'FINAL_MESSAGE = "{index} kWh"\n' + f"# {index}\n" * 200)
    age(project)
    expected = found(project, keep=False)
    assert len(expected) == 31
    chance = random.Random(5)
    for attempt in range(12):
        if attempt % 4 == 0:
            shutil.rmtree(project / ".gllint_cache", ignore_errors=True)
        with subprocess.Popen(
            [sys.executable, "-m", "gllint", "check", "--jobs", "2"],
            cwd=project,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process:
            time.sleep(chance.uniform(0.15, 0.8))
            process.kill()
        assert found(project) == expected


def test_the_evidence_of_a_module_is_all_that_it_leads_to() -> None:
    """Its digest changes if and only if a module that it reaches changes, whatever circles they import each other in."""
    chance = random.Random(5)
    names = [f"m{number}" for number in range(7)]

    def chosen() -> tuple[bytes, str, str]:
        return chance.randbytes(1), chance.choice(names), chance.choice([*names, ""])

    def states(modules: dict[str, tuple[bytes, str, str]]) -> dict[str, bytes | None]:
        analysis_cache = AnalysisCache(Store(None), Engine())  # type: ignore[arg-type]
        analysis_cache.compare(False)
        digests = {name: content for name, (content, *_) in modules.items()}
        targets = {name: {"import": target or None} for name, (_, _, target) in modules.items()}
        told_by = {name: [teller] for name, (_, teller, _) in modules.items()}
        analysis_cache.learn(digests, {}, (), targets, told_by)
        return {name: analysis_cache.state([name]) for name in chance.sample(names, len(names))}

    for _ in range(200):
        old = {name: chosen() for name in names}
        new = old | {chance.choice(names): chosen()}
        before, after = states(old), states(new)
        for name in names:
            reached, waiting = set[str](), [name]
            while waiting:
                if (at := waiting.pop()) and at not in reached:
                    reached.add(at)
                    waiting += old[at][1:]
            assert (before[name] == after[name]) == all(old[at] == new[at] for at in reached)


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that the rules check."""
    names: list[str] = []
    check = rules.check_files

    def counted(index: Any, paths: Sequence[str], fixes: bool) -> Any:
        names.extend(Path(path).name for path in paths)
        return check(index, paths, fixes)

    monkeypatch.setattr(rules, "check_files", counted)
    return names


def test_a_file_that_describes_tools_leads_to_others_by_its_imports_alone(
    write: Write, checked: list[str], description: str, dispatch: str
) -> None:
    """Whether the other file calls the tools by their names depends on no more of it."""
    project = write({"pyproject.toml": "", "agent.py": description, "jobs.py": dispatch})
    importing = f"from jobs import Jobs\n{description}"
    for text, findings, names in (
        (description, 0, {"agent.py", "jobs.py"}),
        (f"{description}# a remark\n", 0, {"agent.py"}),
        (importing, 1, {"agent.py", "jobs.py"}),
        (importing.replace("'m'", "'n'"), 1, {"agent.py"}),
        (description.replace("'heat'", "'cold'"), 0, {"agent.py", "jobs.py"}),
    ):
        (project / "agent.py").write_text(text)
        age(project)
        checked.clear()
        assert len(Engine(Options(jobs=1, fixes=False)).check([str(project)]).findings) == findings
        assert {*checked} == names


def test_a_file_that_describes_tools_rests_on_the_names_of_others_alone(
    write: Write, checked: list[str], description: str
) -> None:
    """Its tools have no function unless another file has one of their names."""
    project = write({"pyproject.toml": "", "agent.py": description, "other.py": TOOL})
    for text, names in (
        (TOOL, {"agent.py", "other.py"}),
        (f"{TOOL}# a remark\n", {"other.py"}),
        (TOOL.replace("heat", "cold"), {"agent.py", "other.py"}),
    ):
        (project / "other.py").write_text(text)
        age(project)
        checked.clear()
        Engine(Options(jobs=1, fixes=False)).check([str(project)])
        assert {*checked} == names
