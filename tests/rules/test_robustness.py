"""No source text makes the reader or a rule fail: it is read, or refused with a place."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gllint.run.parsing import Unparsed, parse
from gllint_rules import RULES, Finding, Settings
from gllint_rules.check.check import check
from gllint_rules.project.project import Project
from gllint_rules.reading.modules import read_module
from gllint_rules.reading.syntax import ParseFailure
from gllint_rules.words.framework_table import KEYS, TableError, read_rows
from gllint_rules.words.screen import Screen
from harness import Case, cases, places, run

TEXTS = sorted(
    {
        text
        for path in (Path(__file__).parent / "cases").glob("*.md")
        for case in cases(path)
        for text in case.files.values()
    }
)
PIECES = ["(", ")", "[", "]", "{", "}", ":", ",", ".", "=", "*", "**", "@", "'", '"', '"""', "f'", "\\", "\n"]
PIECES += ["\n    ", "\t", "\r", "\x0c", "\0", "#", ";", "lambda ", "return ", "yield ", "await ", "async "]
PIECES += [
    "match x:\n",
    "case _:\n",
    "if 1:\n",
    "else:\n",
    "1e999",
    "0x",
    "é",
    "\u202e",
    "€",
    "{{claim:",
]


@given(st.text() | st.lists(st.sampled_from(PIECES)).map("".join))
@example("")
@example("\ufeff")
@example("\n\n")
@example("\\")
@settings(max_examples=150)
def test_any_text_is_read_or_refused_with_a_place(source: str) -> None:
    refused = None
    try:
        read_module("/a.py", source)
    except ParseFailure as error:
        refused = error
    if refused is not None:
        assert refused.message
        assert 1 <= refused.line <= source.count("\n") + source.count("\r") + 2
        assert refused.column >= 1


def mutated(source: str, chance: random.Random) -> str:
    """The source after a few careless edits."""
    for _ in range(chance.randint(1, 4)):
        start = chance.randint(0, len(source))
        end = min(len(source), start + chance.choice((0, 1, 1, 5, 40)))
        put = chance.choice([*PIECES, "", source[end : end + 30], chance.choice(TEXTS)[:60]])
        source = source[:start] + put + source[end:]
    return source


@given(st.sampled_from(TEXTS), st.randoms(use_true_random=False))
@settings(max_examples=200)
def test_no_rule_fails_on_broken_programs(source: str, chance: random.Random) -> None:
    text = mutated(source, chance)
    try:
        module = read_module("/project/a.py", text)
    except ParseFailure:
        return
    project = Project(Settings(), {}.get, lambda path: False, {"/project/a.py": text}.__getitem__, "/project")
    project.add(module)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for found in check(project, "/project/a.py", frozenset(RULES)):
        assert isinstance(found, Finding), found
        span = found.span
        assert (span.line, span.column) <= (span.end_line, span.end_column)
        assert span.end_line <= len(lines)
        assert span.end_column <= len(lines[span.end_line - 1]) + 1


NESTINGS = {
    "parentheses": ("(", "1", ")"),
    "lists": ("[", "1", "]"),
    "dicts": ("{'a': ", "1", "}"),
    "calls": ("f(", "1", ")"),
    "lambdas": ("(lambda: ", "1", ")"),
    "not": ("not ", "1", ""),
    "minus": ("-", "1", ""),
    "conditions": ("1 if a else ", "1", ""),
    "powers": ("2 ** ", "1", ""),
    "attributes": ("a", "", ".b"),
    "subscripts": ("a", "", "[0]"),
    "sums": ("1 + ", "1", ""),
    "comparisons": ("1 < ", "1", ""),
    "and": ("a and ", "1", ""),
    "strings": ("'a' ", "'b'", ""),
}


def nested(kind: str, depth: int) -> str:
    before, inside, after = NESTINGS[kind]
    opened = before if kind in ("attributes", "subscripts") else before * depth
    return f"x = {opened}{inside}{after * depth}\n"


@pytest.mark.parametrize("kind", NESTINGS)
def test_nesting_that_python_reads_is_read(kind: str) -> None:
    source = nested(kind, 80)
    compile(source, "a.py", "exec")
    assert not isinstance(parse("/a.py", source.encode()), Unparsed)


@pytest.mark.parametrize("kind", NESTINGS)
def test_nesting_without_end_is_survived(kind: str) -> None:
    """In a process of its own: what goes wrong here takes the process with it."""
    program = "import sys; from gllint.run.parsing import parse; parse('/a.py', sys.stdin.buffer.read())"
    source = nested(kind, 20_000).encode()
    done = subprocess.run([sys.executable, "-c", program], input=source, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_deep_blocks_are_read() -> None:
    source = "".join(f"{' ' * depth}if a{depth}:\n" for depth in range(90)) + " " * 90 + "x = 1\n"
    assert not isinstance(parse("/a.py", source.encode()), Unparsed)


@pytest.mark.parametrize("text", ["", "\n", "# nothing\n", '"""Nothing."""\n', "pass"])
def test_files_without_a_statement(text: str) -> None:
    assert places(run(Case("empty", {"a.py": text}, {}))) == []


@pytest.mark.parametrize("text", ["{%s} {}", "{0[%s]} {0}", "{a[%s]} {a}", "{0:%sd}", "%%(a)%sd", "%s"])
def test_numbers_of_any_length_in_a_format_are_read(text: str) -> None:
    """Python itself reads no more than 4,300 digits."""
    number = text % ("9" * 5000)
    source = (
        "from agents import function_tool\n\n\n@function_tool\ndef heat(rows: list):\n    load = len(rows)\n"
        f'    return {{"a": "{number}".format(load, a=load), "b": "{number}" % {{"a": load}}}}\n'
    )
    results = run(Case(text, {"a.py": source}, {"extend-select": ["GL104"]}))
    assert [item for item in results if not isinstance(item, Finding)] == []


TARGETS = [
    "a, *rest",
    "*rest, a",
    "(a, (b, *rest))",
    "a, (*rest,)",
    "rest.a",
    "rest[0]",
    "rest[a:]",
    "()",
    "[]",
]


@pytest.mark.parametrize("target", TARGETS)
def test_whatever_a_loop_binds_no_rule_fails(target: str) -> None:
    loops = [
        f"[rest for {target} in rows]",
        f"list(str(rest) for {target} in rows if rest)",
        f"{{a: rest for {target} in rows for {target} in rest}}",
        f"[[rest for {target} in rest] for {target} in rows]",
        f"sum(len(rest) for {target} in rows)",
    ]
    keys = ", ".join(f'"k{number}": {loop}' for number, loop in enumerate(loops))
    text = (
        "from langchain_core.tools import tool\n\n\n@tool\ndef heat(rows, rest, a):\n"
        f"    for {target} in rows:\n        pass\n    return {{{keys}}}\n"
    )
    compile(text, "a.py", "exec")
    found = run(Case(target, {"a.py": text}, {}))
    assert any(item.code == "GL101" and "`k4`" in item.message for item in found)


@pytest.mark.parametrize(
    "field", ["{0[%s]}" % ("1" * 5_000), "{%s}" % ("9" * 5_000), "{0[a[b]}", "{0%s}" % ("[" * 99_000), "{0%s}" % (".a" * 99)]
)  # fmt: skip
def test_whatever_a_format_takes_no_rule_fails(field: str) -> None:
    text = (
        "from agents import function_tool\n\n\n@function_tool\ndef heat(rows):\n"
        f"    return {{'heat': '{field}'.format(rows), 'a': len(rows) * 2.0}}\n"
    )
    assert [item.code for item in run(Case(field[:9], {"a.py": text}, {}))] == ["GL101"]


_NAMES = st.sampled_from(
    ["", "*", "(", "a(b", "[x", "a b", "a.", ".a", "a..b", "*.*", "*x", "x*", "{a, b}", "{", "é", "\n", "\\", "offer()",
     "()", "Shift(jobs=)", "(f=)", "jobs=", "kiln", "kiln.offer", "*offer", "Shift", "Skill", 'shape="pair"', "jobs.x.y"]
)  # fmt: skip
_PLACES = st.one_of(
    _NAMES, st.integers(-2, 3), st.just(10**20), st.lists(st.one_of(_NAMES, st.integers(-2, 3)), max_size=3)
)
_HELD = st.one_of(_PLACES, st.dictionaries(_NAMES, _PLACES, max_size=3))
_OFFERING = """from kiln import Kit, Reply, Shift, Skill, offer


@offer(shape="pair")
def draught(rate: float):
    return Reply(draught=rate * 1.7), {"a": rate * 2.7, "b": 3}


class Heat(Skill, Kit):
    offers = ("run",)

    def run(self, rate: float):
        return {"heat": rate * 2.7}


Shift(draught, jobs=[draught, Heat()], name="x").run(site=1)
"""


@settings(max_examples=200)
@given(st.dictionaries(st.sampled_from(sorted(KEYS)), _HELD, min_size=1, max_size=4))
@example({"imports": "kiln", "keywords": {"kiln.Shift": "jobs"}})
@example({"imports": ["kiln"], "decorators": ["of(er"]})
@example({"bases": {"Sk[ill": ["run"]}})
def test_no_row_of_a_project_breaks_what_reads_it(row: dict[str, object]) -> None:
    try:
        read_rows([row], "row", own=True)
    except TableError:
        return
    of_a_project = Settings(frameworks=(json.dumps(row),))
    Screen(of_a_project).passes(_OFFERING.encode())
    for item in run(Case("row", {"a.py": _OFFERING}, {"frameworks": [row]})):
        assert isinstance(item, Finding), item
