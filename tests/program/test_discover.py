"""Which files are found, and which are left out."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gllint.errors import UsageError
from gllint.files import discover
from gllint.files.config import Config
from gllint.files.discover import Folders, is_left_out, walk
from gllint.files.paths import absolute
from gllint.files.places import Places
from gllint.run.engine import Engine, Options

Write = Callable[..., Path]
Check = Callable[..., list[str]]


def empty(names: str) -> dict[str, str]:
    """Files of these names with nothing in them."""
    return dict.fromkeys(names.split(), "")


def found_below(top: Path, places: Places | None = None) -> list[str]:
    places = places or Places(lambda config: config)
    folder = absolute(str(top))
    return sorted(found.path.removeprefix(folder + "/") for found in walk(folder, places))


def test_finds_python_alone_and_leaves_the_usual_folders_out(write: Write) -> None:
    top = write(
        empty(
            "a.py b.pyi c.txt d.pyc sub/e.py build/f.py .venv/lib/g.py node_modules/h.py"
            " sub/__pycache__/i.py sub/dist.py x.py/j.py"
        )
    )
    assert found_below(top) == ["a.py", "b.pyi", "sub/dist.py", "sub/e.py", "x.py/j.py"]


def test_nested_gitignores_count_below_their_folder(write: Write) -> None:
    top = write(
        {
            "pyproject.toml": "",
            ".gitignore": "gen_*\n/only_here.py\nskipped/\n",
            "sub/.gitignore": "!gen_kept.py\nlocal.py\n",
            **empty(
                "gen_a.py only_here.py sub/only_here.py sub/gen_b.py sub/gen_kept.py sub/local.py local.py"
                " skipped/a.py sub/skipped/a.py"
            ),
        }
    )
    assert found_below(top) == ["local.py", "sub/gen_kept.py", "sub/only_here.py"]
    assert found_below(top / "sub") == ["gen_kept.py", "only_here.py"]


def test_a_repository_starts_afresh_with_its_own_ignores(write: Write) -> None:
    top = write({".gitignore": "*.py\n", "inner/a.py": "", "inner/b.py": ""})
    subprocess.run(["git", "init", "-q", top / "inner"], check=True)
    (top / "inner/.git/info/exclude").write_text("b.py\n")
    assert found_below(top) == ["inner/a.py"]


def test_loops_and_broken_links_end(write: Write) -> None:
    top = write({"sub/a.py": ""})
    (top / "sub/loop").symlink_to(top)
    (top / "self.py").symlink_to("self.py")
    (top / "gone.py").symlink_to("nowhere.py")
    (top / "link.py").symlink_to("sub/a.py")
    assert found_below(top) == ["link.py", "sub/a.py"]


def test_excludes_replace_or_extend_the_defaults(write: Write) -> None:
    top = write(empty("a.py build/b.py gen/c.py sub/gen/d.py sub/e_gen.py"))

    def below(config: Config) -> list[str]:
        return found_below(top, Places(lambda _: config))

    base = absolute(str(top))
    assert below(Config(base=base, exclude=("gen",))) == ["a.py", "build/b.py", "sub/e_gen.py"]
    assert below(Config(base=base, extend_exclude=("/gen", "*_gen.py"))) == ["a.py", "sub/gen/d.py"]


def test_a_file_named_is_checked_unless_excluded_by_force(write: Write, check: Check, agent: str) -> None:
    top = write({"build/a.py": agent, "script": agent, ".gitignore": "script\n"})
    assert check(cwd=top) == []
    assert len(check("build/a.py", cwd=top)) == 3
    assert len(check("build", cwd=top)) == 3
    assert len(check("script", cwd=top)) == 3
    assert check("--force-exclude", "build/a.py", cwd=top) == []
    assert check("--force-exclude", "build", cwd=top) == []
    assert check("--exclude", "scr*", "--force-exclude", "script", cwd=top) == []
    (top / "gllint.toml").write_text("force-exclude = true\n")
    assert check("build/a.py", cwd=top) == []


def test_is_left_out_agrees_with_the_walk(write: Write) -> None:
    files = empty("a.py build/b.py sub/x.py sub/gen/c.py sub/keep/gen/d.py sub/own/e.py sub/own/gen/f.py")
    top = write(
        {
            ".gitignore": "gen/\n",
            "sub/keep/.gitignore": "!gen/\n",
            "sub/own/gllint.toml": "exclude = ['e.py']\n",
            **files,
        }
    )
    for start in (top, top / "sub"):
        seen = set(found_below(start))
        assert seen
        for name in files:
            if (top / name).is_relative_to(start):
                path = absolute(str(top / name))
                places = Places(lambda config: config)
                below = path.removeprefix(absolute(str(start)) + "/")
                assert is_left_out(path, absolute(str(start)), places) == (below not in seen), name


def test_projects_are_told_apart(write: Write) -> None:
    top = write(
        {
            "pyproject.toml": "",
            "pkg/a.py": "",
            "other/pyproject.toml": "",
            "other/deep/b.py": "",
            "conf/gllint.toml": "",
            "conf/c.py": "",
        }
    )
    places = Places(lambda config: config)
    root = absolute(str(top))
    assert places.project(f"{root}/pkg").root == root
    assert places.project(f"{root}/other/deep").root == f"{root}/other"
    assert places.project(f"{root}/conf").root == f"{root}/conf"
    assert [found.path for found in walk(root, places, within_project=True)] == [f"{root}/pkg/a.py"]


def test_without_markers_the_folder_asked_about_is_the_project(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg/__init__.py").write_text("")
    places = Places(lambda config: config)
    root = absolute(str(tmp_path))
    assert places.project(f"{root}/pkg").root == root  # above the package
    places.ask_about([f"{root}/pkg", f"{root}"])
    assert places.project(f"{root}/pkg").root == root


def known_of(folder: str, under: str, marks: object) -> Folders:
    """What was known of a folder as it is now."""
    status = os.stat(folder)
    stamp = [status.st_mtime_ns, status.st_ctime_ns, status.st_ino]
    return Folders({folder: [stamp, under, marks, [], [], [], []]})


@pytest.mark.parametrize("marks", [[[]], [1], 3, ["../b"], {"a": 1}.items()])
def test_what_is_known_of_a_folder_in_another_shape_is_not_believed(write: Write, marks: object) -> None:
    folder = absolute(str(write(empty("a.py"))))
    places = Places(lambda config: config)
    assert [*walk(folder, places, folders=known_of(folder, "", marks))]


def test_a_folder_that_goes_while_it_is_looked_at_is_left_out(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Known under other patterns, so that it is listed again."""
    folder = absolute(str(write(empty("a.py"))))
    monkeypatch.setattr("gllint.files.discover._list", lambda folder: os.scandir(f"{folder}/gone"))
    places = Places(lambda config: config)
    assert not [*walk(folder, places, folders=known_of(folder, "others", []))]


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO])
def test_a_folder_that_cannot_be_listed_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    (tmp_path / "locked").mkdir()
    (tmp_path / "a.py").write_text("x = 1\n")
    scandir = os.scandir

    def refusing(folder: str) -> Any:
        if os.fspath(folder).endswith("locked"):
            raise OSError(number, os.strerror(number), folder)
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", refusing)
    with pytest.raises(UsageError, match="locked: cannot be listed"):
        list(walk(str(tmp_path), Places(lambda config: config)))
    assert len(list(walk(str(tmp_path), Places(lambda config: config), within_project=True))) == 1


def test_the_folder_around_a_lone_file_is_read_up_to_a_bound(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be someone's home: what is near counts, and that not all of it was read is said."""
    monkeypatch.setattr(discover, "MOST_WITHOUT_MARKER", 20)
    far = {f"a/{number}/b/c.py": "" for number in range(20)}
    top = write({"lone.py": _LONE, "helper.py": "def survey(site):\n    return len(site)\n", **far})
    listed = []
    monkeypatch.setattr(discover, "_list", lambda folder: listed.append(folder) or _listed(folder))
    found, notices = checked(top / "lone.py")
    assert found == ["GL101"]  # by the helper that is near
    marks = "and no pyproject.toml, gllint.toml or .git marks a project"
    assert notices == [f"1 folder not read in full, 20 folders and files were read, {marks}: {top}"]
    assert 0 < len(listed) <= 3 * 20
    # Who names the folder has all of it read, and so has who marks it.
    assert checked(top) == (["GL101"], [])
    write({"gllint.toml": ""})
    assert checked(top / "lone.py") == (["GL101"], [])


def test_a_project_is_read_up_to_a_bound_around_a_lone_file(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discover, "MOST_OF_PROJECT", 3)
    top = write({"gllint.toml": "", "lone.py": _LONE, **empty("a/b.py c/d.py e/f.py")})
    assert checked(top / "lone.py")[1] == [f"1 folder not read in full, 3 folders and files were read: {top}"]


def checked(path: Path) -> tuple[list[str], list[str]]:
    """The codes of the findings of a check, and its notices."""
    engine = Engine(Options(cache=False, jobs=1))
    outcome = engine.check([str(path)])
    engine.close()
    return [finding.code for finding in outcome.findings], [notice.text(str) for notice in outcome.notices]


_listed = discover._list
_LONE = """from langchain_core.tools import tool
from helper import survey


@tool
def heat(site):
    return {"heat": survey(site)}
"""
