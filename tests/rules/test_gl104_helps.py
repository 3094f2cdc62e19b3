"""Whoever follows the help of GL104 to the letter has one finding less: that one."""

from __future__ import annotations

import ast
import json
import re

import pytest

from gllint_rules.finding import Finding
from harness import Case, run
from test_cases import CASES

_HELP = re.compile(
    r"Also return it as a Quantity: `\{\"text\": …, (?P<key>\"[^\"]+\"): (?P<quantity>\{.*?\})\}`"
    r"(?:, and set `(?P<setting>[a-z-]+) = (?P<value>\[.*\])` in the configuration)?\."
    r"(?P<annotation> Change the return annotation of `\w+` to `dict`\.)?\Z"
)


def _findings(case: Case) -> list[Finding]:
    return [found for found in run(case) if isinstance(found, Finding) and found.code == "GL104"]


class _Returns(ast.NodeTransformer):
    """Each ``return x`` of a function with one of the names becomes ``return {"text": x, …}``."""

    def __init__(self, names: set[str], entry: str) -> None:
        self.names, self.entry = names, entry

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if node.name in self.names:
            node.returns = None
            for part in ast.walk(node):
                if isinstance(part, ast.Return) and part.value is not None:
                    entries = ast.parse(f"{{'text': None, {self.entry}}}", mode="eval").body
                    assert isinstance(entries, ast.Dict)
                    entries.values[0] = part.value
                    part.value = entries
        return node

    visit_AsyncFunctionDef = visit_FunctionDef  # type: ignore[assignment]


@pytest.mark.parametrize("case", [param for param in CASES if str(param.id).startswith("gl104_")])
def test_a_help_that_is_followed_removes_its_finding(case: Case) -> None:
    for finding in _findings(case):
        match = _HELP.match(finding.help)
        assert match is not None, finding.help
        quantity = match["quantity"].replace("<unit>", "kWh").replace("<number>", "measured()")
        entry = f"{match['key']}: {quantity}"
        names = {tool.name for tool in finding.tools} | {"_run", "call"}
        files = {
            path: ast.unparse(_Returns(names, entry).visit(ast.parse(text))) if path.endswith(".py") else text
            for path, text in case.files.items()
        }
        settings = dict(case.configuration)
        if match["setting"]:
            settings[match["setting"]] = json.loads(match["value"])
        after = _findings(Case(case.title, files, settings))
        assert finding.message not in [found.message for found in after], finding.help


@pytest.mark.parametrize(
    ("shown", "quantity"),
    [
        # A letter that touches the digits is a unit where the name says that dimension; else it may be a multiple.
        ('{elapsed:.1f}s', '{"value": elapsed, "unit": "s"}'),
        ('{volume:.1f}M', '{"value": volume, "unit": "<unit>"}'),
        ('{temp:.1f} K', '{"value": temp, "unit": "K"}'),
        ('{volume:.1f} K', '{"value": volume, "unit": "<unit>"}'),
        ('{back:.0f}t', '{"value": back, "unit": "<unit>"}'),
        ('{back:.1f} m', '{"value": back, "unit": "m"}'),
        # The name of an object says nothing about its attributes: a route has times, too.
        ('{elapsed.route:.0f}m', '{"value": elapsed.route, "unit": "m"}'),
        ('{back.route.moving // 60:.0f}m', '{"value": back.route.moving // 60, "unit": "<unit>"}'),
        # A word that also names things that are counted.
        ('the {volume:.0f}-bar average', '{"value": volume, "unit": "<unit>"}'),
        ('{pressure:.1f} bar', '{"value": pressure, "unit": "bar"}'),
        # A word of the sentence.
        ("${back:.0f} in credits", '{"value": back, "unit": "<unit>"}'),
        # A factor of a formula.
        ("{back:.1f}×B", '{"value": back, "unit": "<unit>"}'),
        # A multiple, a part, another unit or a denominator behind it makes it no unit.
        ('{volume:.1f} m users', '{"value": volume, "unit": "<unit>"}'),
        ('{volume:.1f} m USD', '{"value": volume, "unit": "<unit>"}'),
        ('{volume:.1f} m tonnes', '{"value": volume, "unit": "<unit>"}'),
        ('${volume:.1f} m', '{"value": volume, "unit": "<unit>"}'),
        ('{volume:.1f} USD bn', '{"value": volume, "unit": "<unit>"}'),
        ('{volume:.1f} USD million', '{"value": volume, "unit": "<unit>"}'),
        ('{volume:.1f} USD k', '{"value": volume, "unit": "<unit>"}'),
        ('{volume:.1f} USD a night', '{"value": volume, "unit": "<unit>"}'),
        ('{volume:.1f} % points', '{"value": volume, "unit": "<unit>"}'),
        ('{volume:.1f} t shirts', '{"value": volume, "unit": "<unit>"}'),
        ('{volume:.1f} min price', '{"value": volume, "unit": "<unit>"}'),
        ('{elapsed:.1f} min left', '{"value": elapsed, "unit": "min"}'),
        ('{back:.1f} mm of rain', '{"value": back, "unit": "mm"}'),
        ('{back:.1f} t of rice', '{"value": back, "unit": "t"}'),
        ('{back:.1f} USD in all', '{"value": back, "unit": "USD"}'),
        ('{back:.1f} kW max', '{"value": back, "unit": "kW"}'),
        ('{back:.1f} °C min', '{"value": back, "unit": "degC"}'),
        ('{back:.1f}% humidity', '{"value": back, "unit": "%"}'),
        # A unit that is filled in is said by its expression, whatever the name says.
        ('{growth_pct:.1f}{unit}', '{"value": growth_pct, "unit": unit}'),
        ('{growth_pct:.1f} {unit}', '{"value": growth_pct, "unit": unit}'),
    ],
)  # fmt: skip
def test_the_unit_that_a_text_has_behind_a_number(shown: str, quantity: str) -> None:
    source = (
        "from agents import function_tool\n\n\n@function_tool\ndef read(place: str) -> str:\n"
        f"    elapsed, volume, temp, back, pressure, growth_pct, unit = measured(place)\n    return f{shown!r}\n"
    )
    [finding] = _findings(Case("unit", {"a.py": source}, {}))
    match = _HELP.match(finding.help)
    assert match is not None and match["quantity"] == quantity
    assert match["annotation"] == " Change the return annotation of `read` to `dict`."


def test_a_private_helper_that_rounds_names_no_quantity() -> None:
    source = (
        "from agents import function_tool\n\n\n@function_tool\ndef read(place: str) -> str:\n"
        "    mass = measured(place)\n    return f'{_round(mass, 1):.1f} kg'\n"
    )
    [finding] = _findings(Case("name", {"a.py": source}, {}))
    match = _HELP.match(finding.help)
    assert match is not None and match["key"] == '"<name>"'
