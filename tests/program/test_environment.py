"""The packages of the environment that ``python`` names: what they declare is read, and nothing of them is run."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Write = Callable[..., Path]
Run = Callable[..., Any]

SITE = "env/lib/python3.12/site-packages"
TOOL = """\
import meters
from meters import Meter, shown
from agents import function_tool


@function_tool
def one(x):
    return {{"r": {}}}
"""
PACKAGE = {
    f"{SITE}/meters/__init__.py": "raise SystemExit('imported')\nfrom ._parts import *\n",
    f"{SITE}/meters/py.typed": "",
    f"{SITE}/meters/_parts.py": """\
import contextlib
from collections.abc import Iterator
from typing import Generic, TypeVar, overload

from . import units
from .meter import Meter

__all__ = ["Meter", "Box", "count", "either", "held", "load", "shown", "LIMIT", "units"]
T = TypeVar("T")
LIMIT = 3

class Box(Generic[T]):
    def __init__(self, held: T) -> None: ...
    def get(self) -> T: ...

def count(x: object) -> int: return 1
async def load(x: object) -> "float | None": ...
def shown(x: object) -> str: ...
def unsaid(x): return 3
@overload
def either(x: str) -> str: ...
@overload
def either(x: int) -> int: ...
def either(x): ...
@contextlib.contextmanager
def held() -> Iterator[int]: yield 3
""",
    f"{SITE}/meters/meter.py": """\
class Base:
    def __init__(self, load: float, name: str, kind: int, rank: int):
        self.load = load
        self.name = name
        kind = str(kind)
        self.kind = kind
        self.rank = rank
        self.total: int = 0
    def reset(self):
        self.rank = None
        self.total += 1

class Meter(Base):
    limit: int = 3
    @property
    def half(self) -> float: ...
    def all(self) -> dict[str, list[int]]: ...
    def again(self) -> "Meter": ...
""",
    f"{SITE}/meters/units.py": "def factor() -> float: ...\n",
    f"{SITE}/untyped/__init__.py": "def count() -> int: ...\n",
    f"{SITE}/stubbed/__init__.py": "def count(): ...\n",
    f"{SITE}/stubbed-stubs/__init__.pyi": "def count() -> int: ...\n",
    f"{SITE}/broken/__init__.py": "def count() -> int\n",
    f"{SITE}/broken/py.typed": "",
    f"{SITE}/circle/__init__.py": "from .a import *\ndef count() -> int: ...\n",
    f"{SITE}/circle/a.py": "from . import *\nfrom .a import *\n",
    f"{SITE}/circle/py.typed": "",
}


@pytest.mark.parametrize(
    ("expression", "is_number"),
    [
        ("meters.count(x)", True),
        ("await meters.load(x)", True),
        ("meters.LIMIT", True),
        ("meters.either(3)", True),
        ("meters.Box(3).get()", True),
        ("Meter(x).load", True),
        ("Meter(x).total", True),
        ("Meter(x).limit", True),
        ("Meter(x).half", True),
        ("Meter(x).again().all()[x][0]", True),
        ("meters.units.factor()", True),
        ("__import__('meters').count(x)", False),
        ("shown(x)", False),
        ("meters.unsaid(x)", False),
        ("meters.either('a')", False),
        ("meters.either(x)", False),
        ("meters.Box('a').get()", False),
        ("meters.held()", False),
        ("Meter(x).name", False),
        ("Meter(x).kind", False),
        ("Meter(x).rank", False),
        ("meters.nowhere.at.all()", False),
    ],
)
def test_what_packages_declare_is_seen(
    write: Write, check: Callable[..., list[str]], expression: str, is_number: bool
) -> None:
    top = write({**PACKAGE, "gllint.toml": "python = 'env'\n", "a.py": TOOL.format(expression)})
    assert check(cwd=top) == (["a.py:8:18: GL101"] if is_number else [])


@pytest.mark.parametrize(
    ("package", "is_number"),
    [("stubbed", True), ("circle", True), ("untyped", False), ("broken", False), ("missing", False)],
)
def test_stubs_and_sources_that_are_marked_as_typed_are_read(
    write: Write, check: Callable[..., list[str]], package: str, is_number: bool
) -> None:
    source = TOOL.replace("meters", package).format(f"{package}.count()")
    top = write({**PACKAGE, "gllint.toml": "python = 'env'\n", "a.py": source})
    assert bool(check(cwd=top)) == is_number


def test_no_environment_is_read_unless_it_is_named(write: Write, check: Callable[..., list[str]]) -> None:
    top = write({**PACKAGE, "a.py": TOOL.format("meters.count(x)")})
    assert check(cwd=top) == []


def test_each_folder_has_its_own_environment(write: Write, check: Callable[..., list[str]]) -> None:
    other = {name.replace("env/", "other/", 1): text for name, text in PACKAGE.items()}
    other["other/lib/python3.12/site-packages/meters/_parts.py"] = "def count(x: object) -> str: ...\n"
    top = write(
        {
            **PACKAGE,
            **other,
            "one/gllint.toml": "python = '../env/bin/python'\n",
            "env/bin/python": "",
            "two/gllint.toml": "python = '../other'\n",
            "one/a.py": TOOL.format("meters.count(x)"),
            "two/a.py": TOOL.format("meters.count(x)"),
        }
    )
    assert check(cwd=top) == ["one/a.py:8:18: GL101"]


def test_what_is_installed_later_is_seen(write: Write, check: Callable[..., list[str]]) -> None:
    top = write(
        {"gllint.toml": "python = 'env'\n", "a.py": TOOL.format("meters.count(x)"), f"{SITE}/x.py": ""}
    )
    assert check(cwd=top) == []
    write({**PACKAGE, f"{SITE}/meters-1.0.dist-info/METADATA": ""})
    assert check(cwd=top) == ["a.py:8:18: GL101"]


def test_a_package_may_have_any_name(write: Write, check: Callable[..., list[str]]) -> None:
    top = write({**PACKAGE, "gllint.toml": "python = 'env'\n", "a.py": TOOL.format("meters.count(x)")})
    os.mkdir(os.fsencode(top / SITE) + b"/\xff-1.0.dist-info")
    assert check(cwd=top) == ["a.py:8:18: GL101"]


def test_warnings_of_packages_stay_quiet(write: Write, run: Run) -> None:
    files = {**PACKAGE, f"{SITE}/meters/_parts.py": "def count(x: object) -> int: return '\\d'\n"}
    top = write({**files, "gllint.toml": "python = 'env'\n", "a.py": TOOL.format("meters.count(x)")})
    done = run("check", "--output-format", "concise", "--quiet", cwd=top)
    assert done.stdout.startswith(b"a.py:8:18: GL101")
    assert done.stderr == b""


@pytest.mark.parametrize("value", ["nowhere", ".", "gllint.toml", "env/bin/none"])
def test_an_environment_that_is_not_there_is_an_error(write: Write, run: Run, value: str) -> None:
    top = write({**PACKAGE, "gllint.toml": f"python = '{value}'\n", "a.py": ""})
    done = run("check", cwd=top)
    assert done.returncode == 2
    assert b"key 'python': no packages at" in done.stderr
    assert b"name the folder of an environment (.venv) or its interpreter" in done.stderr
