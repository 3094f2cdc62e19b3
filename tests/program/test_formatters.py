"""Suppressions and formatters: what a comment silences stays silent once ruff or black has moved it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from gllint.run.engine import Engine, Options

FORMATTERS = {"ruff": ["ruff", "format", "-q", "--isolated", "."], "black": ["black", "-q", "."]}
COMMENTS = {
    "noqa": "# noqa: GL101",
    "ignore": "# gllint: ignore[GL101] counted by hand, never shown to a user",
}
HEAD = """\
from langchain_core.tools import tool


"""
# Each with a mark where the comment stands, and the finding that it is about.
FORMS = {
    "at the end of a line that is too long": """\
        @tool
        def rooms(house: str) -> dict:
            return {"rooms": 12, "address": house, "the_name_of_it": house}  @@
        """,
    "at the end of a short line": """\
        @tool
        def rooms(house: str) -> dict:
            return {"rooms": 12}  @@
        """,
    "on the last line of a call": """\
        @tool
        def rooms(house: str) -> dict:
            return dict(rooms=12,
                address=house)  @@
        """,
    "on the first line of a container": """\
        @tool
        def rooms(house: str) -> dict:
            return {  @@
                "rooms": 12, "address": house}
        """,
    "behind an element": """\
        @tool
        def rooms(house: str) -> dict:
            return {
                "address": house,
                "rooms": 12,  @@
                "name": house
            }
        """,
    "behind a long element": """\
        @tool
        def rooms(house: str) -> dict:
            return {
                "address": house,
                "rooms": max(len(house.replace("one", "two")), len(house.replace("three", "four"))),  @@
            }
        """,
    "behind the first line of an element": """\
        @tool
        def rooms(house: str) -> dict:
            return {
                "floors": {  @@
                    "rooms": 12, "address": house},
                "name": house,
            }
        """,
    "behind the last line of an element": """\
        @tool
        def rooms(house: str) -> dict:
            return {
                "floors": {"rooms": 12,
                    "address": house},  @@
                "name": house,
            }
        """,
    "above a statement": """\
        @tool
        def rooms(house: str) -> dict:
            @@
            return {"rooms": 12, "address": house, "the_name_of_it": house, "and_the_other_name": house}
        """,
    "above an element": """\
        @tool
        def rooms(house: str) -> dict:
            return {"address": house,
                @@
                "rooms": 12}
        """,
    "behind a continued line": """\
        @tool
        def rooms(house: str) -> int:
            return 12 + \\
                len(house)  @@
        """,
    "behind an if on one line": """\
        @tool
        def rooms(house: str) -> dict:
            if house: return {"rooms": 12}  @@
            return {}
        """,
    "behind a function on one line": """\
        @tool
        def rooms(house: str) -> dict: return {"rooms": 12}  @@
        """,
    "behind the last of several statements": """\
        @tool
        def rooms(house: str) -> dict:
            name = house.strip(); return {"rooms": 12, "name": name}  @@
        """,
    "above the first of several statements": """\
        @tool
        def rooms(house: str) -> dict:
            @@
            out = {"rooms": 12}; return out
        """,
    "in parentheses that are too many": """\
        @tool
        def rooms(house: str) -> int:
            return (
                12  @@
            )
        """,
    "in a sum": """\
        @tool
        def rooms(house: str) -> dict:
            return {"rooms": (
                12  @@
                + len(house)
                ), "name": house}
        """,
    "behind a string of several lines": """\
        @tool
        def rooms(house: str) -> dict:
            return {"rooms": 12, "text": '''
        of two
        lines'''}  @@
        """,
    "in a class": """\
        from langchain_core.tools import BaseTool
        class Rooms(BaseTool):
            name: str = "rooms"; description: str = "Rooms"
            def _run(self, house: str) -> dict: return {"rooms": 12, "address": house, "name": self.name}  @@
        """,
    "behind a chain of calls": """\
        @tool
        def rooms(house: str) -> dict:
            return {"rooms": len(house.replace("one", "two").replace("three", "four").replace("five", "six"))}  @@
        """,
    "behind a list of lists": """\
        @tool
        def rooms(house: str) -> list:
            return [[1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12], [13, 14, 15], [16, 17, 18], [19, 20, 21]]  @@
        """,
    "around a block": """\
        @tool
        def rooms(house: str) -> dict:
            # gllint: disable[GL101] counted by hand
            a = {"rooms": 12}; b = {"floors": 3}; a.update(b)
            # gllint: enable[GL101]
            return a
        """,
    "at the head of a block": """\
        @tool
        def rooms(house: str) -> dict:
          # gllint: disable[GL101] counted by hand
          if house: return {"rooms": 12}
          return {"rooms": 13}
        """,
}  # fmt: skip


def _dedent(text: str) -> str:
    return "".join(line.removeprefix(" " * 8) for line in text.splitlines(keepends=True))


def _name(form: str, comment: str = "") -> str:
    return f"{form.replace(' ', '_')}_{comment}.py"


def _format(formatter: str, folder: Path) -> None:
    executable = shutil.which(FORMATTERS[formatter][0], path=str(Path(sys.executable).parent))
    assert executable, f"{formatter} is not installed"
    subprocess.run([executable, *FORMATTERS[formatter][1:]], cwd=folder, check=True, timeout=120)


def _found(folder: Path) -> dict[str, list[str]]:
    outcome = Engine(Options(cache=False, jobs=1)).check([str(folder)])
    found: dict[str, list[str]] = {path.name: [] for path in folder.iterdir()}
    for finding in outcome.findings:
        found[Path(finding.path).name].append(f"{finding.span.line} {finding.code}")
    return found


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], dict[str, list[str]]]:
    """What is found in each form, with each comment, behind each formatter and without one."""

    @cache
    def of(formatter: str) -> dict[str, list[str]]:
        folder = tmp_path_factory.mktemp("formatted")
        for form, text in FORMS.items():
            for name, comment in {**COMMENTS, "": ""}.items():
                (folder / _name(form, name)).write_text(HEAD + _dedent(text).replace("@@", comment))
        if formatter:
            _format(formatter, folder)
        return _found(folder)

    return of


@pytest.mark.parametrize("form", FORMS)
def test_each_form_is_about_a_finding(checked: Callable[[str], dict[str, list[str]]], form: str) -> None:
    assert "@@" not in FORMS[form] or any("GL101" in said for said in checked("")[_name(form)])


@pytest.mark.parametrize("formatter", ["", *FORMATTERS])
@pytest.mark.parametrize("comment", COMMENTS)
@pytest.mark.parametrize("form", FORMS)
def test_a_suppression_is_not_parted_from_what_it_speaks_of(
    checked: Callable[[str], dict[str, list[str]]], form: str, comment: str, formatter: str
) -> None:
    assert checked(formatter)[_name(form, comment)] == []


ADDED = {
    **{form: text for form, text in FORMS.items() if "@@" in text},
    "first of several statements": """\
        @tool
        def rooms(house: str) -> dict:
            out = {"rooms": 12}; return out
        """,
    "amid several statements": """\
        @tool
        def rooms(house: str) -> dict:
            name = house; out = {"rooms": 12}; return out
        """,
    "amid several statements of an if": """\
        @tool
        def rooms(house: str) -> dict:
            if house: name = house; out = {"rooms": 12}; return out
            return {}
        """,
    "several elements of a line": """\
        @tool
        def rooms(house: str) -> dict:
            return dict(
                rooms=12, floors=3, name=house,
                address=house)
        """,
    "several elements of the first line": """\
        @tool
        def rooms(house: str) -> dict:
            return {"rooms": 12, "name": house,
                "floors": 3}
        """,
    "a class on one line": """\
        from langchain_core.tools import BaseTool
        class Rooms(BaseTool):
            def _run(self, house: str) -> dict:
                class A: x = 1
                return {"rooms": A.x, "floors": 3}
        """,
    "decorators": """\
        @tool("rooms",
            return_direct=True)
        def rooms(house: str) -> dict:
            return {"rooms": 12, "address": house}
        """,
    "a long line of few things": """\
        @tool
        def rooms(house: str) -> dict:
            out = {}
            out["the_number_of_all_rooms_of_the_house"], out["the_number_of_floors"] = len(house), len(house)
            return out
        """,
}  # fmt: skip


@pytest.mark.parametrize("formatter", FORMATTERS)
def test_what_add_noqa_writes_stays(
    tmp_path: Path, run: Callable[..., subprocess.CompletedProcess[bytes]], formatter: str
) -> None:
    for form, text in ADDED.items():
        (tmp_path / _name(form)).write_text(HEAD + _dedent(text).replace("  @@", "").replace("@@\n", "\n"))
    before = _found(tmp_path)
    assert [name for name, said in before.items() if not any("GL101" in each for each in said)] == []
    assert run("check", "--no-cache", "--add-noqa", cwd=tmp_path).returncode == 0
    assert {name: said for name, said in _found(tmp_path).items() if said} == {}
    _format(formatter, tmp_path)
    assert {name: said for name, said in _found(tmp_path).items() if said} == {}
    written = {path.name: path.read_bytes() for path in tmp_path.glob("*.py")}
    done = run("check", "--no-cache", "--add-noqa", cwd=tmp_path)
    assert (done.returncode, done.stderr.decode()) == (0, "Added 0 suppressions.\n")
    assert {path.name: path.read_bytes() for path in tmp_path.glob("*.py")} == written


def test_add_noqa_adds_no_word_about_suppressions(
    tmp_path: Path, run: Callable[..., subprocess.CompletedProcess[bytes]]
) -> None:
    text = "x = 1  # noqa: GL101\ny = 2  # gllint: off\nfinal_message = '5 kWh'  # noqa: GL101\n"
    (tmp_path / "a.py").write_text(text)
    for _ in range(2):
        run("check", "--no-cache", "--add-noqa", cwd=tmp_path)
        assert (tmp_path / "a.py").read_text() == text.replace("'  # noqa: GL101", "'  # noqa: GL101, GL401")
