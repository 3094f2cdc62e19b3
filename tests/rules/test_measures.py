"""Which unit a number is in, by what is done to it: ``measures.txt``."""

from __future__ import annotations

from pathlib import Path

import pytest

from gllint_rules import Settings
from gllint_rules.inference.units.measure import Factor, Meaning, Measure
from gllint_rules.inference.units.meetings import Given, Meeting, conflicts_in
from gllint_rules.inference.units.reader import Units
from gllint_rules.inference.values import Site
from gllint_rules.project.project import Project
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Function, Module
from gllint_rules.reading.modules import read_module
from gllint_runtime.policy.unit_sizes import text_of

PARAMETERS = (
    "power_kw, heat_kwh, heat_wh, energy_mwh_per_year, run_hours, wait_minutes, wait_s, temp_c, temp_k, temp_f, share, "
    "share_pct, length_m, area_m2, flow_m3_per_h, mass_kg, mass_t, emissions_kgco2e, mix_tco2e, data_mb, data_gb, "
    "cost_usd, price_usd_per_kwh, rows, x"
)


def sections() -> dict[str, dict[str, str]]:
    """What the table says, section by section."""
    table: dict[str, dict[str, str]] = {}
    for line in Path(__file__).with_name("measures.txt").read_text("utf-8").splitlines():
        if line.startswith("[") and line.endswith("]") and "=>" not in line:
            rows = table[line[1:-1]] = {}
        elif line and not line.startswith("#"):
            written, _, said = line.rpartition(" => ")
            rows[written] = said
    return table


def module_of(source: str) -> tuple[Units, Module]:
    """A module, and what reads its units."""
    module = read_module("/project/a.py", source)
    project = Project(Settings(), lambda path: None, lambda path: False, lambda path: source, "/project")
    project.add(module)
    return Units(project.evaluator), module


def function_of(written: str) -> tuple[Units, Module, Function]:
    """A function that says this, or returns it; the last one named `f` where this is a module."""
    lines = written.split("\\n") if "\\n" in written else [f"return {written}"]
    if "def f(" in written:
        source = "\n".join(lines).replace("def f()", f"def f({PARAMETERS})")
    else:
        source = f"def f({PARAMETERS}):\n" + "".join(f"    {line}\n" for line in lines)
    units, module = module_of(source)
    return units, module, next(f for f in module.functions if f.name == "f")


def shown(meaning: Meaning) -> str:
    match meaning:
        case Measure(role="number"):
            units = " or ".join(text_of(unit) or "1" for unit in meaning.readings)
            return f"{'about ' * meaning.loose}{'a difference in ' * meaning.is_difference}{units}"
        case Measure(role=role):
            return role
        case Factor(is_count=is_count):
            return "count" if is_count else "factor"
        case _:
            return "unknown"


def said_of(written: str) -> str:
    units, module, function = function_of(written)
    body = units.body_of(module, function)
    result = units.returned(function, body)
    conflicts = conflicts_in(units, body)
    meetings = (f"; {shown(m.left)} {m.op} {shown(m.right)}" for m in conflicts if isinstance(m, Meeting))
    arguments = (
        f"; {shown(a.measure)} for {a.parameter} in {shown(a.wanted)}"
        for a in conflicts
        if isinstance(a, Given)
    )
    return "".join([shown(result), *meetings, *arguments])


@pytest.mark.parametrize("name", sections())
def test_a_number_is_in_this_unit(name: str) -> None:
    rows = sections()[name]
    assert {written: said_of(written) for written in rows} == rows


def test_a_literal_beyond_all_floats_is_some_number() -> None:
    assert said_of(f"heat_kwh + {10**400}") == "kWh"


def test_the_body_at_a_place_is_the_innermost_around_it() -> None:
    source = "LOSS = meter.heat_kwh\n\n\ndef f(heat_kwh):\n    def g(heat_wh):\n        return heat_wh\n    return heat_kwh\n"
    units, module = module_of(source)
    returned = [f.body[-1] for f in sorted(module.functions, key=lambda f: f.name)]
    outer, inner = (statement.value for statement in returned if isinstance(statement, facts.Return))
    [loss] = module.scope.bindings["LOSS"]
    values = [value for value in (outer, inner, loss.value) if value is not None]
    read = [units.unit_of(value, units.body_at(Site(module, value.at))) for value in values]
    assert [shown(meaning) for meaning in read] == ["kWh", "Wh", "kWh"]


def test_a_row_of_attributes_is_read_in_few_steps() -> None:
    """Each of them would be read for its own number and for that of all that follow."""
    units, module, function = function_of(f"x{'.value' * 60}")
    units.returned(function, units.body_of(module, function))
    assert units.evaluator.total_steps < 5_000  # type: ignore[attr-defined]
