"""What the source says of units is what pint computes: over expressions that are generated."""

from __future__ import annotations

import math
import re

import pint
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gllint_rules import Settings
from gllint_rules.inference.units.measure import Meaning, Measure
from gllint_rules.inference.units.meetings import Conflict, conflicts_in
from gllint_rules.inference.units.reader import Units
from gllint_rules.project.project import Project
from gllint_rules.reading.modules import read_module
from gllint_runtime.policy import unit_sizes
from gllint_runtime.policy.packs import PACKS
from gllint_runtime.policy.unit_sizes import TOLERANCE, factors_of_unit, ratio, relation, size_of, text_of
from gllint_runtime.policy.unit_table import ALLOWED_UNITS, pack_units
from gllint_runtime.policy.units import conversion

PINT: pint.UnitRegistry[float] = pint.UnitRegistry()
NAMES = {
    "heat_wh": "Wh", "cooling_kwh": "kWh", "power_kw": "kW", "draw_w": "W", "run_hours": "h", "wait_minutes": "min",
    "time_seconds": "s", "way_km": "km", "way_miles": "mi", "height_ft": "ft", "mass_kg": "kg", "load_lb": "lb",
    "area_m2": "m**2", "area_sqft": "ft**2", "flow_m3_per_h": "m**3/h", "speed_kmh": "km/h", "gap_mm": "mm",
    "loss_pct": "percent",
}  # fmt: skip
VALUES = {name: 2.0 + i / 7 for i, name in enumerate(NAMES)}
FACTORS = ("1000", "3600", "0.001", "3.6", "1e6", "0.45359237", "1.609344", "60", "100")

leaves = st.sampled_from([*NAMES])
expressions = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("*/+-"), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        st.tuples(inner, st.sampled_from("*/"), st.sampled_from(FACTORS)).map(
            lambda t: f"({t[0]} {t[1]} {t[2]})"
        ),
        inner.map(lambda e: f"abs({e})"),
        inner.map(lambda e: f"({e} ** 2)"),
        inner.map(lambda e: f"({e} * loss_pct / 100)"),
        inner.map(lambda e: f"({e} * (1 - loss_pct / 100))"),
        st.tuples(inner, inner).map(lambda t: f"max({t[0]}, {t[1]})"),
    ),
    max_leaves=5,
)


def as_pint(unit: str) -> str:
    """A unit of ours as pint writes it."""
    text = re.sub(r"(?<=[a-z])([23])\b", r"**\1", unit.replace("^", "**"))
    return _PINT_SPELLINGS.get(text, text) or "dimensionless"


_PINT_SPELLINGS = {"%": "percent", "°C": "degC", "°F": "degF", "1": "dimensionless", "t": "tonne"}


def read(expression: str) -> tuple[Meaning, list[Conflict]]:
    """The unit of an expression, and what meets in it that differs."""
    source = f"def f({', '.join(NAMES)}):\n    return {expression}\n"
    module = read_module("/project/a.py", source)
    project = Project(Settings(), lambda path: None, lambda path: False, lambda path: source, "/project")
    project.add(module)
    [function] = module.functions
    units = Units(project.evaluator)
    body = units.body_of(module, function)
    return units.returned(function, body), conflicts_in(units, body)


class Converted:
    """A literal factor: as a conversion it changes the number alone, not what it is of."""

    def __init__(self, factor: float) -> None:
        self.factor = factor

    def __rmul__(self, other: object) -> object:
        return other

    def __rtruediv__(self, other: object) -> object:
        return other


@settings(max_examples=60)
@given(expressions)
def test_a_unit_that_is_shown_is_that_of_the_quantity(expression: str) -> None:
    result, conflicts = read(expression)
    quantities: dict[str, object] = {n: PINT.Quantity(VALUES[n], unit) for n, unit in NAMES.items()}
    written = expression
    for factor in FACTORS:
        written = written.replace(f"* {factor})", f"* Converted({factor}))").replace(
            f"/ {factor})", f"/ Converted({factor}))"
        )
    try:
        true = eval(written, {"Converted": Converted, **quantities})
    except pint.DimensionalityError:
        assert result is None or conflicts  # two dimensions met: nothing is shown of the outcome
        return
    if not isinstance(result, Measure) or result.role != "number" or conflicts:
        return
    number = eval(expression, dict(VALUES))
    units = [as_pint(text_of(unit)) for unit in result.readings]
    shown = [PINT.Quantity(number, unit) for unit in units]
    assert any(
        quantity.dimensionality == true.dimensionality
        and math.isclose(quantity.to_base_units().magnitude, true.to_base_units().magnitude, rel_tol=2e-3)
        for quantity in shown
    ), (expression, units, true)


@pytest.mark.parametrize("unit", [*NAMES.values()])
@pytest.mark.parametrize("other", [*NAMES.values()])
def test_size_and_dimension_are_those_of_pint(unit: str, other: str) -> None:
    first, second = (factors_of_unit(text.replace("**", "^")) for text in (unit, other))
    one, another = PINT.Quantity(1.0, unit), PINT.Quantity(1.0, other)
    if one.dimensionality != another.dimensionality:
        assert relation(first, second) == "dimension"
        assert ratio(first, second) is None
        return
    factor = one.to(another.units).magnitude
    assert relation(first, second) == ("same" if math.isclose(factor, 1, rel_tol=TOLERANCE) else "size")
    assert math.isclose(ratio(first, second) or 0, factor, rel_tol=1e-9)


OURS = sorted({unit for unit in (*ALLOWED_UNITS, *pack_units(PACKS)) if unit.isascii()})


@settings(max_examples=300)
@given(st.sampled_from(OURS), st.sampled_from(OURS))
def test_what_converts_at_execution_is_of_one_dimension_and_that_size_in_the_source(
    unit: str, other: str
) -> None:
    way = conversion(unit, other)
    first, second = factors_of_unit(unit), factors_of_unit(other)
    if way is None or size_of(first) is None:  # levels have no size
        return
    assert relation(first, second) in ("same", "size")
    assert math.isclose(ratio(first, second) or 0, way.factor, rel_tol=1e-9)
    if way.factor == 1:
        assert relation(first, second) == "same"


def test_sizes_are_exact() -> None:
    assert ratio(factors_of_unit("lb"), factors_of_unit("kg")) == 0.45359237


def test_no_unit_that_may_be_named_as_the_outcome_has_its_size_from_pint(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    size_of.cache_clear()
    unit_sizes._size_of_one.cache_clear()
    monkeypatch.setattr(unit_sizes, "stock_size", lambda name: pytest.fail(f"pint is asked for {name}"))
    assert unit_sizes._by_dimension.__wrapped__()


@pytest.mark.parametrize(("unit", "name"), [("bbl", "oil_barrel"), ("cL", "cL")])
def test_units_that_names_announce_are_as_large_as_pint_says(unit: str, name: str) -> None:
    size = size_of(((unit, 1),))
    assert size is not None and size.dimension == frozenset({("length", 3)})
    litres = size_of((("L", 1),))
    assert litres is not None
    assert math.isclose(size.factor / litres.factor, PINT.Quantity(1, name).to("L").magnitude)
