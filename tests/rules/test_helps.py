"""Which unit the help of GL101 names, what would allow it, and whether a fix writes it: the table ``helps.txt``."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from fixing import findings, fix_all

TABLE = Path(__file__).with_name("helps.txt")
TOOL = '''\
import os
import sys
import time
from time import perf_counter

from langchain_core.tools import tool


@tool
def f(rows: list, path: str, row: dict, site):
    """F."""
    heat_kwh = 80.0 * len(rows)
    power_mw = 2.5
    price_usd = 3.5
    offset = len(rows) + 5
    total = 7.5
    items = total * 2.0
    start = time.time()
    {body}
'''
_HELP = re.compile(
    r'"unit": (?:"(?P<literal>.*?)"|(?P<expression>[^"}]+))\}[^`]*`(?:, and set (?P<lines>.*?) in the configuration)?\.(?: |$)'
)


class Row(NamedTuple):
    """A tool, and what is said of the number under ``key``."""

    number: int
    key: str
    source: str
    answer: str


def rows() -> list[Row]:
    """The rows of the table: ``key = expression ; neighbours > answer``, and whole tools under ``[tool]``."""
    text = TABLE.read_text("utf-8")
    short, _, long = text.partition("\n[tools]\n")
    found = []
    for number, line in enumerate(short.splitlines(), 1):
        if not line or line.startswith("# "):
            continue
        case, _, answer = line.rpartition(" > ")
        entry, _, beside = case.partition(" ; ")
        key, _, expression = entry.partition(" = ")
        more = f", {beside}" if beside else ""
        body = f'return {{"{key}": {expression}{more}}}' if key else f"return {expression}"
        found.append(Row(number, key, TOOL.replace("{body}", body), answer))
    for number, block in enumerate(re.split(r"^> ", long, flags=re.MULTILINE)[1:]):
        head, _, source = block.partition("\n")
        key, _, answer = head.partition(": ")
        found.append(Row(10_000 + number, key, source, answer))
    return found


ROWS = rows()


def answer_of(row: Row) -> str:
    """What is said: the unit and what allows it, or how it is declared plain; then how sure the fix is."""
    [finding] = [
        f
        for f in findings({"agent.py": row.source})
        if f.code == "GL101" and (f.keys[-1:] or ("",))[-1] == row.key
    ]
    fix = f" {finding.fix.applicability}" if finding.fix is not None else ""
    help_text = finding.help or ""
    if help_text.startswith("The tool returns its own argument"):
        return "argument" + fix
    if " needs no unit: set `plain-keys" in help_text or "declare it plain with" in help_text:
        return "plain" + fix
    match = _HELP.search(help_text)
    assert match is not None, help_text
    unit = match["literal"] if match["literal"] is not None else f"({match['expression']})"
    joined = "join " if help_text.startswith("Put the number and") else ""
    lines = " with " + (match["lines"] or "").replace("`", "") if match["lines"] else ""
    return f"{joined}{unit}{lines}{fix}"


@pytest.mark.parametrize("row", ROWS, ids=[f"{row.number}-{row.key}" for row in ROWS])
def test_the_help_names_what_the_source_shows(row: Row) -> None:
    assert answer_of(row) == row.answer


def test_the_table_is_long() -> None:
    assert len(ROWS) >= 150


@pytest.mark.parametrize(
    "entries",
    [
        '"load": 5, "unit": "' + "k" * 10_000 + '"',
        '"quo\\"te\'s": 5, "unit": "kW"',
        '"line\\nbreak": 5, "unit": "kW"',
        '"🔥": 5, "unit": "kW"',
        '"user\\nid": 5, "tick`id": 6, "page\\n": 7, "unit": "kW"',
        '"load": 5, "load": 6, "unit": "kW"',
        '"load": 5, "unit": "k\\"W"',
        '"load": 5, "unit": "k\'W"',
        '"load": 5, "unit": "k\\\\W"',
        '"load": 5, "unit": "kW" "h"',
        '"load": 5, "unit": "kW" if rows else "MW"',
        '"unit": 5, "units": "kW"',
        '"value": 5, "units": "kW"',
        '"load": 5, "unit": ("kW")',
        '"load": 5, "unit": rows[0]',
        '"load": 5, "unit": lambda: 3',
    ],
)
def test_whatever_stands_there_the_help_is_one_line_and_a_fix_gives_what_parses(entries: str) -> None:
    source = TOOL.replace("{body}", f"return {{{entries}}}")
    for finding in findings({"agent.py": source}):
        help_text = finding.help or ""
        assert (help_text + finding.message).isprintable(), (finding.message, help_text)
        assert len(help_text) < 500, help_text
        assert help_text.count("`") % 2 == 0, help_text
    fixed = fix_all({"agent.py": source})["agent.py"]
    ast.parse(fixed)
    assert fix_all({"agent.py": fixed}) == {"agent.py": fixed}


@pytest.mark.parametrize(
    ("said", "unit"),
    [
        ("revenue in millions (USD)", "<unit>"),
        ("revenue (USD), in millions", "<unit>"),
        ("revenue (USD) in thousands", "<unit>"),
        ("revenue (in thousands), in USD", "<unit>"),
        ("1000s (USD)", "<unit>"),
        ("consumption (kWh) per day", "<unit>"),
        ("heat demand (kWh)/m2", "<unit>"),
        ("difference to last year (kWh) as a percentage", "<unit>"),
        ("percentage of the load (kWh)", "<unit>"),
        ("log of energy (kWh)", "<unit>"),
        ("price for 1 MWh (EUR)", "<unit>"),
        ("price for 1 kg (EUR)", "<unit>"),
        ("price (EUR) a night", "<unit>"),
        ("load, not in kW", "<unit>"),
        ("revenue (USD). The ratio is another field.", "USD"),
        ("heat (kWh) of the site", "kWh"),
        ("memory (MB) for the task, 1024 at most", "MB"),
        ("price (EUR) for each night", "<unit>"),
        ("load (kW), as measured", "kW"),
        ("air at 2 m (°C)", "degC"),
        ("depth (mm)", "mm"),
        ("size of the log (MB)", "MB"),
    ],
)
def test_a_description_names_a_unit_where_its_sentence_changes_nothing(said: str, unit: str) -> None:
    source = TOOL.replace('"""F."""', f'"""F.\n\n    level: {said}\n    """')
    [finding] = findings({"agent.py": source.replace("{body}", 'return {"level": site.level * 1.5}')})
    assert f'"unit": "{unit}"' in (finding.help or "")


def test_a_unit_that_is_too_long_to_be_one_is_not_written_out() -> None:
    source = TOOL.replace("{body}", 'return {"load": {"value": 5, "unit": "' + "k" * 10_000 + '"}}')
    [finding] = findings({"agent.py": source})
    assert finding.message == f"unknown unit `{'k' * 40}…`"
    assert finding.help == "A unit cannot be that long. Write the unit of the value in its place."
    assert finding.fix is None


@pytest.mark.parametrize("use", ['{**ROW, "site": site}', '{"site": site} | ROW', "{**TABLE[site]}"])
def test_a_container_that_is_spread_is_never_shown_as_the_number(use: str) -> None:
    row = '{"heat_kwh": 5.0, "level_pct": 3.0}'
    source = TOOL.replace("{body}", f"return {use}").replace(
        "\n\n@tool", f'ROW = {row}\nTABLE = {{"a": ROW}}\n\n\n@tool', 1
    )
    found = [f for f in findings({"agent.py": source}) if f.code == "GL101"]
    assert found
    assert all('{"value": <number>, ' in (f.help or "") for f in found), found


@pytest.mark.parametrize(
    ("expression", "quantity"),
    [
        ("round(x, 2) if x else None", '{"value": round(x, 2), "unit": "kWh"} if x else None'),
        ("None if x is None else x * 2.0", 'None if x is None else {"value": x * 2.0, "unit": "kWh"}'),
        ("x", '{"value": x, "unit": "kWh"} if x is not None else None'),
    ],
)
def test_what_may_be_none_stays_so_in_the_help_as_in_the_fix(expression: str, quantity: str) -> None:
    source = (
        "from agents import function_tool\n\n\n@function_tool\ndef heat(site: str):\n"
        "    x = float(read(site)) if read(site) else None\n"
        f'    return {{"heat_kwh": {expression}}}\n'
    )
    [finding] = findings({"agent.py": source})
    assert finding.help == f"Return a Quantity: `{quantity}`."
    assert fix_all({"agent.py": source})["agent.py"] == source.replace(f"{expression}}}", f"{quantity}}}")


@pytest.mark.parametrize(
    ("statement", "unit"),
    [
        ("usable = total * (1.0 - buffer_pct)", "<unit>"),
        ("usable = total * buffer_pct", "<unit>"),
        ("usable = total * float(buffer_pct)", "<unit>"),
        ("buffer_pct = max(0.0, min(buffer_pct, 0.95))", "<unit>"),
        ("usable = total * buffer_pct / 100", "%"),
        ("usable = total * (1 - buffer_pct / 100.0)", "%"),
        ("usable = total * 0.01 * buffer_pct", "%"),
        ("buffer_pct = min(buffer_pct, 100.0)", "%"),
        ("usable = buffer_pct * 2", "%"),
    ],
)
def test_what_a_function_computes_with_a_percentage(statement: str, unit: str) -> None:
    source = (
        "from agents import function_tool\n\n\n@function_tool\ndef heat(site: str):\n"
        "    total, buffer_pct = read(site) * 2.5, read(site) * 1.5\n"
        f'    {statement}\n    return {{"buffer_pct": buffer_pct}}\n'
    )
    [finding] = findings({"agent.py": source})
    assert f'"unit": "{unit}"' in finding.help


def test_a_help_with_an_assignment_is_python() -> None:
    for number in ("(heat := total / 2)", "(heat := 2.5 / total) if rows else None"):
        [finding] = findings({"agent.py": TOOL.replace("{body}", f'return {{"load": {number}}}')})
        ast.parse((finding.help or "").split("`")[1])


@pytest.mark.parametrize(
    ("unit", "said"),
    [("kwh", " Did you mean `kWh`?"), ("blorp", ""), ("eV", ""), ("mw", "")],
)
def test_a_unit_of_the_settings_that_is_not_allowed_is_named(unit: str, said: str) -> None:
    source = TOOL.replace("{body}", 'return {"gas": total}')
    [finding] = findings({"agent.py": source}, {"units": {"gas": unit}})
    assert (finding.help or "").endswith(
        f"The setting `units` says `{unit}`, which is not an allowed unit.{said}"
    )
