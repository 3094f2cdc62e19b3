"""What a fix does to what a tool returns, as it is executed: a safe one nothing, any other one keeps the number.

The tools are drawn at random: a number with a unit beside it, under it or in its name, in all spellings that
``tests/runtime/spellings.txt`` knows, in displays, calls of ``dict``, stores and nested ones, with counts and
identifiers beside it.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixing import findings, fix_all, wanted
from gllint_runtime.policy.data_files import lines
from gllint_runtime.policy.names import read_name
from gllint_runtime.policy.unit_table import PACKS as PACK_NAMES
from gllint_runtime.policy.units import judge_unit

SPELLINGS = Path(__file__).parents[1] / "runtime" / "spellings.txt"
PACKS = {"unit-packs": [*PACK_NAMES]}


@cache
def spellings() -> list[str]:
    """Units as people write them, and as they are meant."""
    texts: list[str] = []
    for line in lines(str(SPELLINGS)):
        for mark in (" => ", " = ", " - "):
            written, found, meant = line.partition(mark)
            if found:
                texts += [written, *([] if mark == " - " else [meant.split(" (")[0]])]
                break
    return sorted(
        {text.replace("~", " ") for text in texts} | {"kWh", "kwh", "GBp", "eV", "", "unit", "class"}
    )


KEYS = st.sampled_from(
    [
        *[
            "load",
            "heat",
            "speed",
            "price",
            "temperature",
            "reading",
            "share",
            "elapsed",
            "weight",
            "x",
        ],
        *[
            "heat_kwh",
            "cost_usd",
            "success_pct",
            "peak_mw",
            "duration_ms",
            "intensity_kwh_m2",
            "affinity_kcal_mol",
        ],
        *["row_count", "user_id", "page", "points"],
    ]
)
NUMBERS = st.sampled_from(
    [
        "5",
        "2.5",
        "-1.5",
        "len(rows)",
        "total_kwh",
        "round(total_kwh, 1)",
        "sum(1 for row in rows)",
        "2.0 * 3",
        "load",
    ]
)
NEIGHBOURS = st.sampled_from(["unit", "units", "currency", "unit_of_measurement", "load_unit"])
BESIDE = st.sampled_from(
    [
        '"points": len(rows)',
        '"user_id": 17',
        '"page": 3',
        '"name": "n"',
        '"ok": True',
        '"other": 4.5',
        '"tags": []',
    ]
)


@st.composite
def entries(draw: st.DrawFn) -> list[tuple[str, str]]:
    """Entries of a container: a number, perhaps a unit beside it, perhaps something else, in any order."""
    found = {draw(KEYS): draw(NUMBERS)}
    if draw(st.booleans()):
        unit = draw(st.sampled_from(spellings()))
        found[draw(NEIGHBOURS)] = draw(
            st.sampled_from([json.dumps(unit, ensure_ascii=False)] * 5 + ["unit", "None"])
        )
    for beside in draw(st.lists(BESIDE, max_size=2)):
        key, _, value = beside.partition(": ")
        found.setdefault(json.loads(key), value)
    return draw(st.permutations(list(found.items())))


@st.composite
def sources(draw: st.DrawFn) -> str:
    """A module with one tool, ``f``."""
    pairs = draw(entries())
    display = "{" + ", ".join(f"{json.dumps(key)}: {value}" for key, value in pairs) + "}"
    call = "dict(" + ", ".join(f"{key}={value}" for key, value in pairs) + ")"
    stores = (
        "out = {}\n" + "".join(f"    out[{key!r}] = {value}\n" for key, value in pairs) + "    return out"
    )
    lined = (
        "{\n" + "".join(f"        {json.dumps(key)}: {value},  # {key}\n" for key, value in pairs) + "    }"
    )
    body = draw(
        st.sampled_from(
            [
                f"return {display}",
                f"return {call}",
                f"return {lined}",
                stores,
                f"return {{'inner': {display}, 'rows': len(rows)}}",
                f"return [{display}]",
                f"out = {display}\n    out['late'] = 3.5\n    return out",
                f"out = {{'site': 'a'}}\n    out.update({call})\n    return out",
                f"return {{'unit': 'outer', 'all': {display}}}",
                f"return {{'value': {pairs[0][1]}, 'unit': {draw(st.sampled_from(spellings()))!r}}}",
                f"return {pairs[0][1]}",
            ]
        )
    )
    docstring = draw(st.sampled_from(["F.", "F.\n\n    load (kW): at the peak\n    ", "Loads in kWh."]))
    return (
        "from langchain_core.tools import tool\n\n\n@tool\n"
        f'def f(rows: list, unit: str):\n    """{docstring}"""\n    total_kwh = 80.0 * len(rows)\n    load = 7.5\n    {body}\n'
    )


def result(source: str) -> Any:
    """What the tool returns."""
    tree = ast.parse(source)
    tree.body = [statement for statement in tree.body if not isinstance(statement, ast.ImportFrom)]
    namespace: dict[str, Any] = {"tool": lambda function: function, "Any": Any}
    exec(compile(tree, "tool", "exec"), namespace)
    return namespace["f"]([1, 2, 3], "argument")


def numbers(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any, str | None]]:
    """The numbers of a result: where, the number, and the unit of its Quantity."""
    if isinstance(value, bool):
        return
    if isinstance(value, int | float):
        yield path, value, None
    elif isinstance(value, list):
        for item in value:
            yield from numbers(item, (*path, "[]"))
    elif isinstance(value, dict) and value.keys() == {"value", "unit"} and isinstance(value["unit"], str):
        for _, number, _ in numbers(value["value"]):
            yield path, number, value["unit"]
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from numbers(item, (*path, key))


def letters(unit: str) -> str:
    """A unit but for its case and what parts its words."""
    return re.sub(r"[\W_]", "", unit.lower())


def shown_units(source: str, path: tuple[str, ...]) -> set[str]:
    """The units that a module shows: its texts, what its names say, and what is counted."""
    tree = ast.parse(source)
    texts = {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} | {*path}
    units = texts | {"argument", "count"} | {unit for name in names for unit in read_name(name).readings}
    units |= {symbol for text in texts if (symbol := judge_unit(text, packs=PACK_NAMES).nearest) is not None}
    return units | ({"kW"} if "(kW)" in source else set()) | ({"kWh"} if "in kWh" in source else set())


@settings(max_examples=50)
@given(sources())
def test_a_safe_fix_changes_nothing_that_is_returned_but_the_spelling_of_a_unit(source: str) -> None:
    fixed = fix_all({"agent.py": source}, unsafe=False)["agent.py"]
    before, after = result(source), result(fixed)
    assert [(p, n) for p, n, _ in numbers(before)] == [(p, n) for p, n, _ in numbers(after)]
    if before != after:  # a misspelt unit, in a Quantity that stood there
        for (_, _, old), (_, _, new) in zip(numbers(before), numbers(after), strict=True):
            assert old == new or (old is not None and new is not None and letters(old) == letters(new))


@settings(max_examples=50)
@given(sources())
def test_an_unsafe_fix_keeps_the_number_and_writes_a_unit_that_is_shown(source: str) -> None:
    files = {"agent.py": source}
    first = findings(files, PACKS)
    fixable = {f.keys for f in first if f.code == "GL101" and f.fix is not None}
    fixed = fix_all_with_packs(source)
    before, after = list(numbers(result(source))), list(numbers(result(fixed)))
    assert sorted((str(p), n) for p, n, _ in before) == sorted((str(p), n) for p, n, _ in after)
    old = {(path, number): unit for path, number, unit in before}
    for path, number, unit in after:
        if old[path, number] is None and unit is not None:
            assert unit in shown_units(source, path), f"{path} in {unit!r}\n{fixed}"
    assert not wanted(findings({"agent.py": fixed}, PACKS)), fixed
    left = {f.keys for f in findings({"agent.py": fixed}, PACKS) if f.code == "GL101"}
    assert fixable.isdisjoint(left), fixed


def fix_all_with_packs(source: str) -> str:
    """The module once nothing more can be fixed, with all the packs on."""
    from gllint.run.fixer import MAX_PASSES, apply

    for _ in range(MAX_PASSES):
        fixes = wanted(findings({"agent.py": source}, PACKS)).get("agent.py")
        if not fixes:
            return source
        source, applied = apply(source, fixes)
        assert applied
        ast.parse(source)
    raise AssertionError("fixing does not come to an end")


@pytest.mark.parametrize(("written", "meant", "safety"), [("ºC", "degC", "unsafe"), ("kwh", "kWh", "safe")])
def test_a_spelling_of_other_letters_is_written_anew_on_request_alone(
    written: str, meant: str, safety: str
) -> None:
    source = f'from agents import tool\n\n\n@tool\ndef f(x):\n    return {{"t": {{"value": x, "unit": "{written}"}}}}\n'
    fixed = fix_all({"agent.py": source}, unsafe=False)["agent.py"]
    assert (meant in fixed) is (safety == "safe")
    assert meant in fix_all({"agent.py": source}, unsafe=True)["agent.py"]
