"""Applying fixes: what the edits say, every other byte as it was, and never half a file."""

from __future__ import annotations

import codecs
import os
import random
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from gllint.cli.commands import cli
from gllint.files.writing import write_atomically
from gllint.run import fixer
from gllint.run.engine import Engine, Options
from gllint_rules import Edit, Fix, Span

Write = Callable[..., Path]
Run = Callable[..., Any]

UNUSED = "x = 1  # noqa: GL401\ny = 2\nz = 3  # gllint: ignore[GL101]\n"
FIXED = "x = 1\ny = 2\nz = 3\n"


def edit(line: int, column: int, end_line: int, end_column: int, content: str) -> Edit:
    return Edit(Span(line, column, end_line, end_column), content)


def fix(*edits: Edit) -> Fix:
    return Fix("safe", "m", edits)


@pytest.mark.parametrize(
    ("fixes", "expected", "applied"),
    [
        ([fix(edit(1, 1, 1, 2, "X"))], "Xb\ncd\n", 1),
        ([fix(edit(1, 3, 2, 1, ""))], "abcd\n", 1),
        ([fix(edit(2, 3, 2, 3, "!"), edit(1, 1, 1, 1, "?"))], "?ab\ncd!\n", 1),
        ([fix(edit(3, 1, 3, 1, "ef\n"))], "ab\ncd\nef\n", 1),
        # The first of two that overlap; the other waits for the next pass.
        ([fix(edit(1, 1, 1, 3, "X")), fix(edit(1, 2, 1, 3, "Y"))], "X\ncd\n", 1),
        # All of a fix or none of it.
        ([fix(edit(1, 1, 1, 3, "X")), fix(edit(2, 1, 2, 2, "Z"), edit(1, 2, 1, 3, "Y"))], "X\ncd\n", 1),
        # An import that two fixes share is added once.
        ([fix(edit(1, 1, 1, 1, "i\n"), edit(1, 2, 1, 3, "X")), fix(edit(1, 1, 1, 1, "i\n"), edit(2, 1, 2, 2, "Y"))],
         "i\naX\nYd\n", 2),
        # Two insertions at one place have no certain order.
        ([fix(edit(1, 1, 1, 1, "i\n")), fix(edit(1, 1, 1, 1, "j\n"))], "i\nab\ncd\n", 1),
        ([fix(edit(1, 1, 1, 2, "X")), fix(edit(1, 1, 1, 2, "X"))], "Xb\ncd\n", 1),
        ([], "ab\ncd\n", 0),
    ],
)  # fmt: skip
def test_edits(fixes: list[Fix], expected: str, applied: int) -> None:
    assert fixer.apply("ab\ncd\n", fixes) == (expected, applied)


def test_many_fixes_take_linear_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is compared with those that it touches, not with all."""
    count, seen = 500, 0

    def touching(places: list[tuple[int, int]], start: int, end: int) -> list[tuple[int, int]]:
        nonlocal seen
        found = original(places, start, end)
        expected = [at for at in places if at[0] <= end and at[1] >= start]
        assert found == expected
        seen += len(found)
        return found

    original = fixer._touching
    monkeypatch.setattr(fixer, "_touching", touching)
    lines = list(range(1, count + 1))
    random.Random(0).shuffle(lines)
    fixes = [Fix("safe", "", (Edit(Span(line, 2, line, 3), ""),)) for line in lines]
    assert fixer.apply("ab\n" * count, [*fixes, *fixes]) == ("a\n" * count, count)
    assert seen == 0


def test_inserted_lines_end_as_the_file_does() -> None:
    assert fixer.apply("ab\r\ncd\r\n", [fix(edit(1, 1, 1, 1, "i\n"))])[0] == "i\r\nab\r\ncd\r\n"
    assert fixer.apply("ab\rcd", [fix(edit(2, 1, 2, 1, "i\n"))])[0] == "ab\ri\rcd"


@pytest.mark.parametrize(
    ("encode", "mode"),
    [
        (lambda text: text.encode(), 0o644),
        (lambda text: codecs.BOM_UTF8 + text.encode(), 0o755),
        (lambda text: text.replace("\n", "\r\n").encode(), 0o600),
        (lambda text: text.replace("\n", "\r").encode(), 0o664),
        (lambda text: ("# coding: latin-1\nname = '\xe9'\n" + text).encode("latin-1"), 0o640),
        (lambda text: text.rstrip("\n").encode(), 0o644),
    ],
)
def test_a_file_keeps_its_encoding_endings_and_mode(
    write: Write, run: Run, encode: Callable[[str], bytes], mode: int
) -> None:
    top = write({"a.py": encode(UNUSED)})
    (top / "a.py").chmod(mode)
    (top / "link.py").symlink_to("a.py")
    diff = run("check", "--diff", "--no-cache", "a.py", cwd=top)
    assert diff.returncode == 1
    assert (top / "a.py").read_bytes() == encode(UNUSED)
    patched = top / "patched"
    patched.mkdir()
    (patched / "a.py").write_bytes(encode(UNUSED))
    subprocess.run(["git", "apply", "-"], cwd=patched, input=diff.stdout, check=True)
    done = run("check", "--fix", "link.py", cwd=top)
    assert (done.returncode, done.stdout) == (0, b"")
    assert "Fixed 2 findings in 1 file." in done.stderr.decode()
    assert (top / "a.py").read_bytes() == encode(FIXED) == (patched / "a.py").read_bytes()
    assert (top / "a.py").stat().st_mode & 0o777 == mode
    assert (top / "link.py").is_symlink()
    again = run("check", "--fix", cwd=top)
    assert "Fixed" not in again.stderr.decode()


def test_a_patch_of_odd_names_applies(write: Write, run: Run) -> None:
    names = ["plain.py", "with space.py", "sub/d\xe9j\xe0.py", 'quo"te.py', "tab\there.py", "back\\slash.py"]
    top = write(dict.fromkeys(names, UNUSED))
    subprocess.run(["git", "init", "-q"], cwd=top, check=True)
    diff = run("check", "--diff", cwd=top).stdout
    subprocess.run(["git", "apply", "-"], cwd=top, input=diff, check=True)
    assert all((top / name).read_text() == FIXED for name in names)


_LINES = st.lists(st.sampled_from([b"a\n", b"b\r\n", b"c\r", b"d", b"\x0c\n", b"\x85\n", b"\n"]), max_size=8)


@given(_LINES, _LINES)
def test_a_patch_gives_the_very_bytes(
    tmp_path_factory: pytest.TempPathFactory, old: list[bytes], new: list[bytes]
) -> None:
    before, after = b"".join(old), b"".join(new)
    if before == after or not before or not after:
        return
    top = tmp_path_factory.mktemp("patch")
    (top / "a.py").write_bytes(before)
    patch = fixer.diff("a.py", before, after)
    subprocess.run(["git", "apply", "--whitespace=nowarn", "-"], cwd=top, input=patch, check=True)
    assert (top / "a.py").read_bytes() == after


def test_a_file_that_changed_meanwhile_is_left_alone(write: Write) -> None:
    top = write({"a.py": UNUSED, "b.py": UNUSED})
    fixed = fixer.fix(Engine(Options(cache=False)), [str(top)], unsafe=False)
    (top / "a.py").write_text(UNUSED + "w = 4\n")
    assert fixer.write(Engine(Options(cache=False)), fixed) == [f"{top}/b.py"]
    assert fixed.errors == [f"{top}/a.py: changed while it was being fixed, so it was not written"]
    assert (top / "a.py").read_text() == UNUSED + "w = 4\n"
    assert (top / "b.py").read_text() == FIXED


def test_a_fix_that_breaks_the_file_is_not_written(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    top = write({"a.py": UNUSED, "b.py": UNUSED + "# b\n"})
    honest, broken = fixer.chosen, [(0, 0, "def (\n")]
    monkeypatch.setattr(
        fixer, "chosen", lambda source, fixes: (broken, [0]) if "# b" in source else honest(source, fixes)
    )
    fixed = fixer.fix(Engine(Options(cache=False)), [str(top)], unsafe=False)
    assert list(fixed.new_data) == [f"{top}/a.py"]
    assert "would have broken" in fixed.errors[0] and fixed.errors[0].startswith(f"{top}/b.py")


def test_what_the_encoding_cannot_hold_is_not_written(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    top = write({"a.py": "# coding: ascii\n" + UNUSED})
    monkeypatch.setattr(
        fixer, "chosen", lambda source, fixes: ([(len(source), len(source), "# \u20ac\n")], [0])
    )
    fixed = fixer.fix(Engine(Options(cache=False)), [str(top)], unsafe=False)
    assert not fixed.new_data
    assert "ascii cannot encode" in fixed.errors[0]


def test_an_error_while_fixing_ends_with_2(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str, data: bytes) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(fixer, "write_atomically", refuse)
    monkeypatch.chdir(write({"a.py": UNUSED, "b.py": "FINAL_MESSAGE = '5 kWh'\n"}))
    done = CliRunner().invoke(cli, ["check", "--fix", "--output-format", "concise"])
    assert done.exit_code == 2
    assert "a.py: cannot be written: Permission denied" in done.stderr
    assert [line[:13] for line in done.stdout.splitlines()] == [
        "a.py:1:8: GL9",
        "a.py:3:8: GL9",
        "b.py:1:18: GL",
    ]
    assert "Fixed" not in done.stderr


def test_standard_input_is_fixed_to_standard_output(write: Write, run: Run) -> None:
    done = run("check", "--fix", "-", cwd=write({}), stdin=UNUSED.encode())
    assert (done.returncode, done.stdout.decode()) == (0, FIXED)


def test_unsafe_fixes_need_their_option(write: Write) -> None:
    top = write({"a.py": UNUSED})
    engine = Engine(Options(cache=False))
    found = engine.check([str(top)]).findings
    assert [f.fix.applicability for f in found if f.fix] == ["safe", "safe"]
    assert fixer._wanted(found, unsafe=False) == fixer._wanted(found, unsafe=True)
    changed = [f._replace(fix=Fix("unsafe", "m", ())) for f in found]
    assert fixer._wanted(changed, unsafe=False) == []
    assert len(fixer._wanted(changed, unsafe=True)) == 2


def test_writing_is_all_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "a.py"
    write_atomically(str(target), b"one")
    assert target.read_bytes() == b"one"

    def fail(source: str, destination: str) -> None:
        raise OSError(28, "no space left")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="no space"):
        write_atomically(str(target), b"two")
    assert target.read_bytes() == b"one"
    assert os.listdir(tmp_path) == ["a.py"]


def test_a_file_with_two_names_stays_one_file(write: Write, run: Run) -> None:
    top = write({"a.py": UNUSED + "\n" * 100})
    (top / "other").mkdir()
    (top / "other/b.py").hardlink_to(top / "a.py")
    assert run("check", "a.py", "--fix", cwd=top).returncode == 0
    assert (top / "other/b.py").samefile(top / "a.py")
    assert (top / "other/b.py").read_text() == FIXED + "\n" * 100


def test_a_link_and_its_file_are_fixed_once(write: Write, run: Run) -> None:
    top = write({"a.py": UNUSED, "other/b.py": UNUSED})
    (top / "link.py").symlink_to("a.py")
    patch = run("check", ".", "--diff", "-q", cwd=top).stdout
    subprocess.run(["git", "init", "-q"], cwd=top, check=True)
    subprocess.run(["git", "apply", "--check", "-"], cwd=top, input=patch, check=True)
    done = run("check", ".", "--fix", cwd=top)
    assert done.returncode == 0, done.stderr
    assert (top / "link.py").is_symlink() and (top / "a.py").read_text() == FIXED
    (top / "a.py").write_text(UNUSED)
    assert run("check", "link.py", "--fix", cwd=top).returncode == 0
    assert (top / "link.py").is_symlink() and (top / "a.py").read_text() == FIXED


HEAT = "from agents import function_tool\n\n\n@function_tool\ndef heat(site):\n    return {'heat_kwh': 3.5, 'score': 2.5}\n"


@pytest.mark.parametrize(
    ("page", "content"),
    [("web/show.ts", "const show = (r: Row) => r.heat_kwh;\n"), ("pages/row.html", "{{ row.heat_kwh }}\n")],
)
def test_a_page_that_reads_a_key_is_named_and_stops_the_fix(
    page: str, content: str, write: Write, run: Run
) -> None:
    top = write({"agent.py": HEAT, page: content})
    done = run("check", "--fix", "--unsafe-fixes", ".", cwd=top)
    assert f"If you change `heat_kwh`, also update {page}:1, which uses it." in done.stdout.decode()
    assert (top / "agent.py").read_text() == HEAT


def test_a_help_without_a_fix_names_the_readers_in_files_that_know_the_tool(write: Write, run: Run) -> None:
    page = "from agent import heat\n\n\ndef page(site):\n    return heat(site)['score'] * 2\n"
    top = write({"agent.py": HEAT, "apart.py": "def total(row):\n    return row['score']\n", "page.py": page})
    done = run("check", ".", cwd=top)
    assert "If you change `score`, also update page.py:5, which uses it." in done.stdout.decode()


def test_a_key_is_not_read_where_it_is_returned_even_if_a_fix_changes_a_tool_of_its_name(
    write: Write, run: Run
) -> None:
    meter = "from agents import function_tool\n\n\n@function_tool\ndef meter(row):\n    row = {'load': 2.5}\n    return {'load': row['load']}\n"
    load = "from agents import function_tool\n\n\n@function_tool\ndef load(site):\n    return {'heat_kwh': 3.5}\n"
    done = run("check", ".", cwd=write({"meter.py": meter, "tools.py": load}))
    assert "`load` in the result of tool `meter`" in done.stdout.decode()
    assert "also update" not in done.stdout.decode()
