"""The gitignore patterns, held against git itself."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gllint.files.discover import walk
from gllint.files.patterns import Patterns
from gllint.files.places import Places

_FILES = """\
a.py|b.py|test_a.py|build/a.py|src/build/b.py|src/a.py|src/gen/a.py|src/gen/deep/b.py|a b.py|[x].py
docs/x.egg-info/a.py|#hash.py|!bang.py|src/ab.py|src/axb.py|src/a-b.py|src/b/src/a.py|trail .py|^.py|a^b.py"""
_PATTERNS = """\
build|build/|/build|/build/|*.py|!a.py|src/*|src/**|src/**/b.py|**/gen|gen/|!gen/|/src/gen/deep|*.egg-info
test_*|a?py|[ab].py
\\#hash.py|\\!bang.py|# comment||a b.py|src/gen/|!src/gen/a.py|src/a*b.py|\\[x\\].py|deep/
*|!*/|!*.py|a.py  |/*|!/src|src|[!a].py|src/a[a-z]b.py|src/a[!x]b.py|**|**/|/**|src/**/deep|*a*|[]x].py|[^a].py
[a|**/src/a.py|src**|a[^^]b.py|!build|!build/|trail\\ .py|*/a.py|!**/a.py|[[:alpha:]].py|x[|*.[p]y|/src/*/
!/src/gen/|src/**/|!src/**/|[[:upper:]].py|src/[[:alpha:]]*.py|[[a]*.py|\\*.py|build//|//|!|src/**/gen/|[z-a].py"""
FILES = _FILES.replace("\n", "|").split("|")
PATTERNS = _PATTERNS.replace("\n", "|").split("|")


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", top], check=True)
    for name in FILES:
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text("")
    return top


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(st.sampled_from(PATTERNS), min_size=1, max_size=5))
def test_agrees_with_git(repository: Path, lines: list[str]) -> None:
    (repository / ".gitignore").write_text("\n".join(lines) + "\n")
    asked = subprocess.run(
        ["git", "-C", repository, "check-ignore", "--stdin", "-z", "--no-index"],
        input="\0".join(FILES).encode(),
        capture_output=True,
        check=False,
    )
    ignored = {name.decode() for name in asked.stdout.split(b"\0") if name}
    patterns = Patterns(lines)
    assert {name for name in FILES if patterns.excludes(name)} == ignored


_ATOMS = [
    *"**//aabb?.! #-]^", "**", "**/", "/**/", "*/", "***", "[ab]", "[!a]", "[^b]", "[a-b]", "[b-a]", "[]a]", "[!]a]",
    "[a-]", "[-b]", "[\\a]", "[a\\-b]", "[[a]", "[é]", "[[:alpha:]]", "[![:digit:]]", "[[:bad:]]", "[[:", "[", "\\a",
    "\\*", "\\/", "\\ ", "\\", "é",
]  # fmt: skip
_NAMES = [*"ab* é[\\^", "ab", "aab", "a b", "a-b", "!a", "#b", "a.b", "bé", "a*b", ".a", "..b", "a "]


@settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=st.lists(st.lists(st.sampled_from(_ATOMS), min_size=1, max_size=7).map("".join), max_size=3),
    paths=st.lists(st.lists(st.sampled_from(_NAMES), min_size=1, max_size=5).map("/".join), min_size=40),
)
def test_agrees_with_git_on_whatever_can_be_written(
    repository: Path, lines: list[str], paths: list[str]
) -> None:
    (repository / ".gitignore").write_text("\n".join(lines) + "\n")
    asked = subprocess.run(
        [
            "git",
            "-C",
            repository,
            "-c",
            "core.ignorecase=false",
            "check-ignore",
            "--stdin",
            "-z",
            "--no-index",
        ],
        input="\0".join(paths).encode(),
        capture_output=True,
        check=False,
    )
    ignored = {name.decode() for name in asked.stdout.split(b"\0") if name}
    patterns = Patterns(lines)
    assert {path for path in paths if patterns.excludes(path)} == ignored


@pytest.mark.parametrize(
    "pattern",
    [
        "*a" * 30 + "b",
        "**/" * 30 + "b",
        "**/a/" * 30 + "b",
        "?*" * 40 + "b",
        "[!b]*" * 40 + "b",
        "a*/" * 30 + "b",
    ],
)
@pytest.mark.parametrize("path", ["a" * 255, "a/" * 200 + "a", ("a" * 99 + "/") * 30 + "a"])
def test_no_pattern_is_tried_in_more_than_one_way(pattern: str, path: str) -> None:
    """An expression that tries them all does not come back from these."""
    assert not Patterns([pattern]).excludes(path)


def test_many_stars_match_what_they_should() -> None:
    assert Patterns(["*a" * 30 + "b"]).excludes("a" * 255 + "b")
    assert Patterns(["**/a/" * 30 + "b"]).excludes("x/a/" * 30 + "b")
    assert Patterns(["x*/" * 30 + "*b"]).excludes("xy/" * 30 + "ab")


def test_says_nothing_about_what_it_does_not_name() -> None:
    patterns = Patterns(["build/", "!keep.py"])
    assert patterns.verdict("src", "src", True) is None
    assert patterns.verdict("build", "build", False) is None
    assert patterns.verdict("build", "build", True) is True
    assert patterns.verdict("x/keep.py", "keep.py", False) is False
    assert not Patterns(["# only a comment", ""])


LAYERS = st.dictionaries(
    st.sampled_from(["", "src", "src/gen", "build"]),
    st.lists(st.sampled_from(PATTERNS), min_size=1, max_size=3),
    min_size=2,
    max_size=4,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(layers=LAYERS)
def test_a_walk_of_nested_ignore_files_agrees_with_git(
    tmp_path_factory: pytest.TempPathFactory, repository: Path, layers: dict[str, list[str]]
) -> None:
    top = tmp_path_factory.mktemp("nested")
    shutil.copytree(repository, top, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".gitignore"))
    for folder, lines in layers.items():
        (top / folder / ".gitignore").write_text("\n".join(lines) + "\n")
    command = ["git", "-C", top, "ls-files", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, capture_output=True, check=True).stdout.split(b"\0")
    expected = {name.decode() for name in listed if name.endswith(b".py")}
    places = Places(lambda config: config._replace(exclude=()))
    assert {found.path.removeprefix(f"{top}/") for found in walk(str(top), places)} == expected
