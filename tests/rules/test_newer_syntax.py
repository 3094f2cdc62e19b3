"""Syntax that is newer than the running Python is read as what it means, in its own places."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from fixing import findings, fix_all
from gllint.run.parsing import judge
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Module
from gllint_rules.reading.modules import read_module
from gllint_rules.reading.positions import Positions
from gllint_rules.reading.syntax import ParseFailure

# Each says what the other says, in the same places; the second one as Python 3.11 has it.
SAME = {
    "quotes of its own": (
        """x = f"{a["one"]} and {b + 1} {c["two"]:.2f}" + y""",
        """x = f"{a['one']} and {b + 1} {c['two']:.2f}" + y""",
    ),
    "an f-string in an f-string": ("""x = f"{f"{a} 1"} {b}" 'c'""", """x = f"{f'{a} 1'} {b}" 'c'"""),
    "beside others": (
        """x = "a" f"{b}" f'{c['d']} {e}' rf"\\{f}" """,
        """x = "a" f"{b}" f'{c["d"]} {e}' rf"\\{f}" """,
    ),
    "behind a quote": ("""x = ""f"{a["b"]}"''""", """x = ""f"{a['b']}"''"""),
    "templates": ("""x = t"{a} {b["c"]:>{d}} 2" """, """x = f"{a} {b['c']:>{d}} 2" """),
    "type parameters": (
        "def first[T: (int, str) = int, *Ts](x: T, *args: *Ts) -> T: return x",
        "def first                          (x: T, *args: *Ts) -> T: return x",
    ),
    "several exceptions": (
        "try: a\nexcept B, c.D : e\nexcept F: g",
        "try: a\nexcept(B, c.D): e\nexcept F: g",
    ),
    "lazy imports": (
        "lazy import a.b as c, d\nlazy from .e import (f,\n  g as h)\nx = 1; lazy import i; i.j(x)",
        "import a.b as c, d     \nfrom .e import (f,\n  g as h)     \nx = 1; import i     ; i.j(x)",
    ),
    "several exceptions in a group": (
        "try: a\nexcept* B, C : e",
        "try: a\nexcept*(B, C): e",
    ),
}
CLASSES = {
    "class Box[T, *Ts, **P](Base): item: T": ("T", "Ts", "P"),
    "class Box[T: (int, list[str]) = int]: item: T": ("T",),
    "class Box[\n    A,  # why\n\n    B: dict[str, int],\n]: item: A": ("A", "B"),
    "@final\nclass Box [T]:\n    def get[U](self) -> U: pass": ("T",),
    "class Box: pass\ntype Pair[T] = list[T]": (),
}
NOT_PYTHON = [
    "x = = 1",
    "def f[T(x): pass",
    'x = f"{a["b"}"',
    "type = = 3",
    "f() = 1",
    "print 1",
    "except A, B: c",
    "lazy from a import *",
    "def f():\n    lazy import a",
    "try:\n    lazy import a\nfinally: pass",
    "x = [**a for a in b]",
    "x = {a: *b for a in c}",
]


# What is compared by itself: an older way to write has no type parameters.
_APART = ("section", "places", "type_params")


def difference(one: object, other: object) -> str | None:
    """Where two readings differ, by the way to there."""
    waiting = [(one, other, "")]
    seen: set[tuple[int, int]] = set()
    while waiting:
        one, other, way = waiting.pop()
        if type(one) is not type(other):
            return f"{way}: {one!r}, {other!r}"
        if (id(one), id(other)) in seen:
            continue
        seen.add((id(one), id(other)))
        if isinstance(one, msgspec.Struct):
            names = [name for name in type(one).__annotations__ if name not in _APART]
            waiting += [(getattr(one, name), getattr(other, name), f"{way}.{name}") for name in names]
        elif isinstance(one, dict) and isinstance(other, dict) and list(one) == list(other):
            waiting += [(one[key], other[key], f"{way}[{key!r}]") for key in one]
        elif isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)) and len(one) == len(other):
            waiting += [(*pair, f"{way}[{i}]") for i, pair in enumerate(zip(one, other, strict=True))]
        elif isinstance(one, Mapping) and not isinstance(one, dict):
            continue  # what several sections say together
        elif one != other:
            return f"{way}: {one!r}, {other!r}"
    return None


def places(module: Module) -> list[list[tuple[int, int]]]:
    positions = Positions(module)
    found = [positions.places(known) for known in module.sections()]
    return [[*zip(known.begins, known.ends, strict=True)] for known in found]


@pytest.mark.parametrize("name", SAME)
def test_newer_and_older_ways_to_write_say_the_same(name: str) -> None:
    newer, older = (read_module("/a.py", text) for text in SAME[name])
    for one, other in zip(newer.sections(), older.sections(), strict=True):
        assert difference(one, other) is None
    assert places(newer) == places(older)
    assert not newer.unread and not older.unread


@pytest.mark.parametrize("text", CLASSES)
def test_type_variables_of_a_class(text: str) -> None:
    [cls] = read_module("/a.py", text).classes
    assert cls.type_params == CLASSES[text]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("type Pair = list[int]", "list[int]"),
        ("x = 1; type Pair[\n  T,\n] = list[T]; y = 2", "list[T]"),
        ("if a: type \\\n Pair = B", "B"),
    ],
)
def test_type_statements(text: str, value: str) -> None:
    module = read_module("/a.py", text)
    [binding] = module.scope.bindings["Pair"]
    assert binding.kind == "alias"
    assert binding.value is not None
    assert Positions(module).text(binding.value.at) == value


@pytest.mark.parametrize("text", NOT_PYTHON)
def test_what_no_python_takes_is_refused(text: str) -> None:
    with pytest.raises(ParseFailure):
        read_module("/a.py", text)


TOOL = '''\
@tool
def heat[T: (int, float)](rows: dict[str, T], words: dict[str, str], kind: str) -> dict:
    """Heat demand."""
    type Row = dict[str, T]
    note = f"{words["unit"]} of {
        kind  # which one
    } {'\\n'.join(rows)}"
    try:
        load = float(rows["load"])
    except KeyError, ValueError:
        load = 0.0
    return {"note": note, "first": 5, "load_kwh": load, "title": f"{kind.strip("'")} é", "count": 7}
'''


def test_findings_and_fixes_in_newer_syntax() -> None:
    """They are those of the same tool in syntax that every Python reads."""
    older = (
        TOOL.replace("[T: (int, float)](", "(")
        .replace("    type Row = dict[str, T]\n", "")
        .replace('words["unit"]', "words['unit']")
        .replace("{\n        kind  # which one\n    }", "{kind}")
        .replace("{'\\n'.join(rows)}", "")
        .replace("KeyError, ValueError", "(KeyError, ValueError)")
        .replace('''"'"''', "")
    )
    found, expected = ([(f.code, f.message) for f in findings({"a.py": text})] for text in (TOOL, older))
    assert found == expected
    assert [code for code, _ in found] == ["GL101"] * 3
    [newer_last, older_last] = (fix_all({"a.py": text})["a.py"].splitlines()[-1] for text in (TOOL, older))
    assert newer_last == older_last.replace("strip()", """strip("'")""")
    assert '"load_kwh": {"value": ' in newer_last


def test_an_edit_of_a_file_in_newer_syntax() -> None:
    before = read_module("/a.py", TOOL)
    assert before.functions  # read, so that they are taken over
    for text in (
        TOOL.replace("5", "55"),
        TOOL.replace("5", "55") + "\ntype X = int\n",
        "def heat(): return 1\n",
    ):
        after = read_module("/a.py", text, before)
        fresh = read_module("/a.py", text)
        assert after.outline == fresh.outline and after.code == fresh.code
        assert places(after) == places(fresh)
        before = after


@pytest.mark.parametrize(
    ("text", "kind", "collected"),
    [
        ("x = [*row for row in rows]", "list", "row"),
        ("x = [  # *\n  * (row['a'])\n  for row in rows]", "list", "row['a']"),
        ("x = {*row.keys() for row in rows}", "set", "row.keys()"),
        ("x = (*row for row in rows)", "generator", "row"),
        ("x = f(*row for row in rows)", "generator", "row"),
        ("x = {**row for row in rows}", "dict", "row"),
        ("x = {  # **\n ** row['é'] for row in rows if row}", "dict", "row['é']"),
    ],
)
def test_comprehensions_that_unpack(text: str, kind: str, collected: str) -> None:
    module = read_module("/a.py", text)
    [binding] = module.scope.bindings["x"]
    comprehension = binding.value
    if isinstance(comprehension, facts.Call):
        [comprehension] = comprehension.args
    assert isinstance(comprehension, facts.Comp) and comprehension.kind == kind and comprehension.key is None
    assert isinstance(comprehension.element, facts.Star)
    assert Positions(module).text(comprehension.element.value.at) == collected
    assert not module.unread


UNPACKING = '''\
lazy import json
lazy from rows import Row

@tool
def heat(tables: list[dict[str, float]]) -> dict:
    """Heat demand."""
    known = [{"load": 5, "title": "a"}, {"peak": 7}]
    return {**row for row in known}

@tool
def loads(tables: list[list[float]]) -> dict:
    """Loads."""
    return {"loads": [*row for row in tables]}

@tool
def titles(tables: list[list[str]]) -> dict:
    """Titles."""
    return {"titles": [*row for row in tables]}
'''


def test_findings_in_what_a_comprehension_unpacks() -> None:
    found = findings({"a.py": UNPACKING})
    assert [f.code for f in found] == ["GL101"] * 3
    assert {f.message.split("`")[1] for f in found} == {"load", "peak", "loads"}


BROKEN_AFTER = '''\
import os


def kind(type, a):
    """The type of a thing."""
    try:
        pass
    except (A, B):
        return f"{{a}} {a['b']} {a:>{type}}\\n" + f\'\'\'{a} # "x"\'\'\'


'''


@pytest.mark.parametrize(
    "broken", ["f((", "x = = 1", "def f(x) return", "class A\n", "y = f'{x}' (", "z = 'a"]
)
def test_what_holds_no_newer_syntax_is_refused_without_another_parser(broken: str) -> None:
    code = f"""
import sys
from gllint_rules.reading.modules import read_module
from gllint_rules.reading.syntax import ParseFailure
try:
    read_module("/a.py", {BROKEN_AFTER + broken!r})
except ParseFailure:
    print("libcst" in sys.modules)
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout == "False\n"


def test_a_file_in_newer_syntax_without_tools_is_python(tmp_path: Path) -> None:
    """A commit hook names every changed file: one that this Python cannot compile yet is no error."""
    path = tmp_path / "new.py"
    path.write_text('def f[T](x: T) -> T:\n    return x\n\n\ntype X = int\ny = f"a {"b"} c"\n', "utf-8")
    assert judge(str(path), path.read_bytes()) is None
    assert judge(str(path), b"type X = = int\n") is not None
