"""What the stubs of the standard library declare as a number is one, and what they declare as something else is none."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gllint_rules import stubs
from gllint_rules.inference import stub_values
from gllint_rules.stubs import typeshed
from harness import Case, example, places, run

HERE = Path(__file__).parent / "stdlib"
# Expressions of the two lists that gllint does not judge as a reader would, each with the reason.
NOT_SEEN: dict[str, str] = {}
PACKAGES = [
    "concurrent.futures",
    "email.message",
    "http.client",
    "importlib.metadata",
    "os.path",
    "urllib.parse",
]
PACKAGES += ["urllib.request", "xml.etree.ElementTree"]


def expressions(name: str) -> list[str]:
    lines = (HERE / name).read_text("utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def tool(number: int, line: str) -> Iterator[str]:
    """The source of a tool that returns what a line of the lists asks for."""
    header, split, expression = line.partition(" ;; ")
    yield "@tool"
    yield f"def tool_{number}(p, x, text, names, data):"
    if split:
        yield f"    {header}"
        yield f"{'        ' if header.endswith(':') else '    '}return expr({expression})"
    else:
        yield f"    return expr({line})"


def source_of(lines: list[str]) -> str:
    roots = sorted({name for line in lines for name in re.findall(r"\b[a-z_0-9]+\b(?=\.)", line)})
    out = ["from agents import function_tool as tool", *(f"import {name}" for name in PACKAGES)]
    out += [f"import {name}" for name in roots if name in sys.stdlib_module_names]
    for number, line in enumerate(lines):
        out += ["", "", *(part.replace("return expr(", "return (") for part in tool(number, line))]
    return "\n".join(out) + "\n"


def seen(lines: list[str]) -> set[str]:
    """Those of ``lines`` at whose value GL101 is reported."""
    case = Case("standard library", {"agent/tools.py": source_of(lines)}, {})
    found = {place.line for place in places(run(case)) if place.code == "GL101"}
    text = case.files["agent/tools.py"].splitlines()
    tools = [int(re.findall(r"def tool_(\d+)\(", line)[0]) if "def tool_" in line else -1 for line in text]
    out = set()
    for line in found:
        number = next(n for n in reversed(tools[:line]) if n >= 0)
        out.add(lines[number])
    return out


def test_numbers_of_the_standard_library_are_seen() -> None:
    lines = expressions("numbers.txt")
    found = seen(lines)
    missed = [line for line in lines if line not in found]
    assert missed == [line for line in lines if line in NOT_SEEN]


def test_what_is_no_number_is_not_reported() -> None:
    assert seen(expressions("others.txt")) == set()


@pytest.mark.timeout(300)
def test_the_tables_are_what_the_script_writes() -> None:
    """They are generated from the typeshed that the extra ``test`` pins, on any Python and platform."""
    written = typeshed.tables()
    assert sorted(written) == sorted(path.stem for path in stubs.FOLDER.glob("*.txt"))
    for root, text in written.items():
        assert (stubs.FOLDER / f"{root}.txt").read_text("utf-8") == text, f"install gllint again: {root}"


def test_no_declaration_is_too_deep() -> None:
    """A list of such lists has an end, as has a name that leads to itself."""
    for path in stubs.FOLDER.glob("*.txt"):
        for line in path.read_text("utf-8").splitlines():
            name = line.partition("\t")[0]
            stub_values.constant(name, None)
            stub_values.instance(name, (), None, "")


def test_what_stands_in_a_tuple_may_be_nothing() -> None:
    case = example(
        """
        from agents import function_tool


        def nothing(x: tuple[()]) -> tuple[()]:
            return x


        @function_tool
        def f(x):
            return nothing(x)
        """
    )
    assert places(run(case)) == []
