"""The kind of each number, and the advice that fits it: carried out, it leads to no other finding."""

from __future__ import annotations

import re
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gllint_rules import Finding
from gllint_runtime.policy.kinds import KINDS
from gllint_runtime.policy.names import read_name
from gllint_runtime.policy.packs import PACKS
from harness import Case, run

HEAD = """\
import os
import time
from dataclasses import dataclass

from langchain_core.tools import tool


"""


def one(source: str, configuration: dict[str, object] | None = None) -> Finding:
    """The one finding of a module."""
    found = run(Case("", {"agent.py": HEAD + source}, configuration or {}))
    assert len(found) == 1, found
    assert isinstance(found[0], Finding), found
    return found[0]


@pytest.mark.parametrize(
    ("expression", "key", "kind"),
    [
        ("len(rows)", "total", "count"),
        ("sum(1 for row in rows)", "x", "count"),
        ("sum(row.ok is True for row in rows)", "x", "count"),
        ("sum(len(row) for row in rows)", "x", "count"),
        ("len(rows) / len(names)", "x", None),
        ("len(rows) * 2", "x", None),
        ("len(rows) if rows else 0", "x", "count"),
        ("len(rows)", "hours_optimized", "count"),
        ("len(rows)", "energy_kwh", None),
        ("5", "row_count", "count"),
        ("5.5", "row_count", None),
        ("x * 1.5", "n_rows", None),
        ("x / 2", "n_rows", None),
        ("float(price)", "x", None),
        ("time.time()", "x", None),
        ("4", "x", None),
    ],
)
def test_a_key_says_the_kind_and_an_expression_that_counts(
    expression: str, key: str, kind: str | None
) -> None:
    source = f'@tool\ndef f(rows: list, names: list, row, x: float, price) -> dict:\n    """F."""\n    return {{"{key}": {expression}}}\n'
    assert one(source, {"plain-kinds": []}).kind == kind
    through = source.replace("    return", f"    held = {expression}\n    return").replace(
        f'": {expression}', '": held'
    )
    assert one(through, {"plain-kinds": []}).kind == kind


def test_message_and_help_speak_of_it() -> None:
    source = '@tool\ndef f(rows: list) -> dict:\n    """F."""\n    return {"found": len(rows)}\n'
    found = one(source)
    assert found.message == "`found` in the result of tool `f` is a number without a unit"
    assert found.help == '`found` is a count and needs no unit: set `plain-keys = ["found"]`.'
    assert found.fix is None
    strict = one(source, {"plain-kinds": []})
    assert (
        strict.help
        == 'Return a Quantity: `{"value": len(rows), "unit": "count"}`, and set `unit-packs = ["counts"]` in the configuration. It is a count, which needs a unit because of `strict` or `plain-kinds`.'
    )
    assert strict.settings == ('unit-packs = ["counts"]',)
    allowed = one(source, {"plain-kinds": [], "unit-packs": ["counts"]})
    assert allowed.fix is not None and allowed.fix.applicability == "unsafe"
    page = one(source.replace("found", "page"), {"plain-kinds": []})
    assert (
        page.help
        == '`page` is an index, which needs a unit because of `strict` or `plain-kinds`. To leave it without one, set `plain-keys = ["page"]`.'
    )


# ------------------------------------------------------------------------------------------- carried out

keys = st.sampled_from(
    [
        *[
            "total",
            "found",
            "n_rows",
            "page",
            "user_id",
            "code",
            "price",
            "cost_usd",
            "cost_per_token",
            "energy_kwh",
            "temperature",
            "size_bytes",
        ],
        *[
            "lat",
            "score",
            "success_pct",
            "duration_ms",
            "created_at",
            "year",
            "age",
            "emissions_co2e",
            "ratio",
            "kwh_to_mj",
            "x",
        ],
        *["strange key", "a*b", "k[0]", "what?", 'quo"te', "ключ", "back\\slash"],
    ]
)
expressions = st.sampled_from(
    [
        "len(rows)",
        "4",
        "2.5 * float(x)",
        "round(time.time(), 2)",
        "len(rows) / len(names)",
        "sum(1 for r in rows)",
    ]
)
places = st.sampled_from(
    [
        "return {KEY: AT}",
        "return {'inner': {KEY: AT}}",
        "return {KEY: [AT]}",
        "return [{KEY: AT}]",
        "return {KEY: AT, 'unit': 'kW'}",
        "return {KEY: AT, 'unit': 'widget'}",
        "return {'out': [AT]}",
        "return AT",
    ]
)
configurations = st.fixed_dictionaries(
    {},
    optional={
        "unit-packs": st.lists(st.sampled_from(PACKS), max_size=3, unique=True),
        "plain-keys": st.lists(st.sampled_from(["other", "*_no"]), max_size=2),
        "extend-units": st.lists(st.sampled_from(["thing"]), max_size=1),
        "strict-units": st.booleans(),
        "plain-kinds": st.just([]),
        "array-paths": st.booleans(),
    },
)
_QUANTITY = re.compile(
    r'`(?:"(?P<key>.*)": )?(?P<quantity>\{"value": (?P<number>.*), "unit": "(?P<unit>[^"]*)"\})`'
)
_LINE = re.compile(
    r"`((?:unit-packs|plain-keys|extend-units|array-paths) = .*?)`(?= and|\.| in the configuration| declares)"
)


def keys_in(source: str) -> list[str]:
    """The texts of a module."""
    return re.findall(r"'([^']*)'", source)


def carried_out(
    source: str, expression: str, found: Finding, configuration: dict[str, object]
) -> tuple[str, dict[str, object]]:
    """The source and the configuration once the help has been followed, as a reader would."""
    after = dict(configuration)
    for line in _LINE.findall(found.help):
        after |= tomllib.loads(line)
    advised = _QUANTITY.search(found.help)
    if advised is None:
        assert after != configuration, found.help
        return source, after
    unit = advised["unit"]
    if unit == "<unit>":
        unit = next((u for k in keys_in(source) for u in read_name(k).readings), "kWh")
        after["extend-units"] = [*after.get("extend-units", ()), unit]  # type: ignore[misc]
    quantity = f'{{"value": {expression}, "unit": "{unit}"}}'
    if advised["key"] is not None:
        source = re.sub(r", 'unit': '\w+'", "", source)
    return source.replace(f" {expression}", f" {quantity}").replace(f"[{expression}", f"[{quantity}"), after


@settings(max_examples=150)
@given(keys, expressions, places, configurations)
def test_advice_that_is_carried_out_leads_to_no_other_finding(
    key: str, expression: str, place: str, configuration: dict[str, object]
) -> None:
    body = place.replace("KEY", repr(key)).replace("AT", expression)
    source = f'@tool\ndef f(rows: list, names: list, x):\n    """F."""\n    {body}\n'
    configuration = {"plain-kinds": [], **configuration}
    found = one(source, configuration)
    assert found.code == "GL101"
    assert found.kind is None or found.kind in KINDS
    source, configuration = carried_out(source, expression, found, configuration)
    codes = {finding.code for finding in run(Case("", {"agent.py": HEAD + source}, configuration))}
    # A key that says another unit than what is drawn for its value is what GL504 is for.
    assert codes - {"GL504"} == set()


@pytest.mark.parametrize(
    ("unit", "help_says"),
    [
        (
            "'kW'",
            'Put the number and the `unit` next to it into one Quantity: `"load": {"value": 5, "unit": "kW"}`.',
        ),
        (
            "'KW'",
            'Put the number and the `unit` next to it into one Quantity: `"load": {"value": 5, "unit": "KW"}`. Did you mean `kW`?',
        ),
        (
            "unit",
            'Put the number and the `unit` next to it into one Quantity: `"load": {"value": 5, "unit": unit}`.',
        ),
        (
            "None",
            'Return a Quantity: `{"value": 5, "unit": "<unit>"}`. gllint found no unit in the code. If you cannot change the code, set `units = {"load" = "<unit>"}` in the configuration.',
        ),
    ],
)
def test_a_unit_beside_the_number_is_the_one_to_join_it_with(unit: str, help_says: str) -> None:
    assert (
        one(f'@tool\ndef f(unit):\n    """F."""\n    return {{"load": 5, "unit": {unit}}}\n').help
        == help_says
    )


@pytest.mark.parametrize(
    ("before", "help_ends", "after"),
    [
        (
            '@tool\ndef f(rows: list) -> int:\n    """F."""\n    return len(rows)\n',
            "Also change the return annotation of `f` to match. It is a count, which needs a unit because of `strict` or `plain-kinds`.",
            '@tool\ndef f(rows: list) -> dict:\n    """F."""\n    return {"value": len(rows), "unit": "count"}\n',
        ),
        (
            '@tool\ndef f(rows: list) -> dict[str, int]:\n    """F."""\n    return {"found": len(rows)}\n',
            "Also change the return annotation of `f` to match. It is a count, which needs a unit because of `strict` or `plain-kinds`.",
            '@tool\ndef f(rows: list) -> dict[str, dict]:\n    """F."""\n    return {"found": {"value": len(rows), "unit": "count"}}\n',
        ),
        (
            '@dataclass\nclass Found:\n    found: int\n\n\n@tool\ndef f(rows: list) -> Found:\n    """F."""\n    return Found(found=len(rows))\n',
            "Also declare the field `found` of `Found` as a Quantity. It is a count, which needs a unit because of `strict` or `plain-kinds`.",
            '@dataclass\nclass Found:\n    found: dict\n\n\n@tool\ndef f(rows: list) -> Found:\n    """F."""\n    return Found(found={"value": len(rows), "unit": "count"})\n',
        ),
    ],
)
def test_what_declares_the_number_must_change_with_it(before: str, help_ends: str, after: str) -> None:
    found = one(before, {"unit-packs": ["counts"], "plain-kinds": []})
    assert found.help.endswith(help_ends)
    assert run(Case("", {"agent.py": HEAD + after}, {"unit-packs": ["counts"], "plain-kinds": []})) == []


@pytest.mark.parametrize(
    ("body", "declaration"),
    [
        ('def f(n) -> M:\n    return M(years={"value": n, "unit": "h"})\n', "Declare the field `years` of `M` as a Quantity."),
        ("def f(n) -> M:\n    q = quantity(n)\n    return M(years=q)\n", "Declare the field `years` of `M` as a Quantity."),
        ("def f(n) -> int:\n    return quantity(n)\n", "Change the return annotation of `f` to match."),
    ],
)  # fmt: skip
def test_a_quantity_that_a_declaration_takes_for_a_number_is_not_put_into_another(
    body: str, declaration: str
) -> None:
    before = (
        "@dataclass\nclass M:\n    years: int\n\n\n"
        'def quantity(n):\n    return {"value": n, "unit": "kWh"}\n\n\n@tool\n'
    )
    finding = one(before + body)
    assert finding.code == "GL101"
    assert finding.help == f"The value is already a Quantity. {declaration}"
    assert finding.fix is None
