"""Packs of units, and keys whose numbers are no quantities."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from gllint_runtime import (
    GLValidationError,
    Quantity,
    ScriptedProvider,
    ToolRegistry,
    ToolRuntime,
    UnitRegistry,
)
from gllint_runtime.policy.data import Survey
from gllint_runtime.policy.data_files import sections
from gllint_runtime.policy.packs import PACKS
from gllint_runtime.policy.unit_table import pack_units
from gllint_runtime.policy.units import (
    ALLOWED_UNITS,
    TIME_UNITS,
    _scale,
    dimension_of,
    judge_unit,
    packs_for,
)

SOME = {
    "counts": "count item token request page row step person share",
    "time": "ns us ms s min h day week month year",
    "data": "bit B kB MB PB KiB PiB",
    "rates": "1 ratio ppm bp dB",
    "electrical": "V A VA kVA MVA var ohm Hz pu",
    "si": "N Pa kPa J kJ mm cm mg s mol T",
    "chemistry": "mol M mM Da g/mol pH",
    "geo": "deg arcsec nmi",
    "currencies": "CHF USD SEK AUD BRL USD_cent GBP_pence USD_milli USD_micro",
    "us": "lb oz mph therm MMBtu cfs psi gpm acre",
    "health": "bpm kcal mmHg mg/dL",
    "materials": "eV angstrom GPa eV/atom",
    "physics": "rpm ly erg Ci cP",
}


@pytest.mark.parametrize("pack", PACKS)
def test_a_pack_allows_its_units_and_is_off_by_default(pack: str) -> None:
    units = UnitRegistry(packs=[pack])
    for unit in SOME[pack].split():
        assert units.is_allowed(unit)
        assert UnitRegistry().is_allowed(unit) is (unit in ALLOWED_UNITS)
        assert judge_unit(unit, packs=[pack]).dimension or unit == "g/mol"
    assert units.is_allowed("kWh") and not units.is_allowed("furlong")


def test_a_unit_of_several_packs_is_the_same_in_each() -> None:
    for unit in pack_units(PACKS):
        packs = [pack for pack in PACKS if unit in pack_units((pack,))]
        dimensions = {dimension_of(unit, packs=[pack]) for pack in packs}
        sizes = {_scale(unit, (pack,)) for pack in packs}
        assert len(dimensions) == len(sizes) == 1, unit


def test_every_unit_of_every_pack_has_a_dimension_and_a_size() -> None:
    for pack in PACKS:
        units = UnitRegistry(packs=[pack])
        for unit, definition in pack_units((pack,)).items():
            assert dimension_of(unit, packs=[pack])
            assert units.same_quantity(Quantity(1.5, unit), Quantity(1.5, unit))
            factor, _, base = definition.size.partition(" ")
            if base and base in {*ALLOWED_UNITS, *pack_units((pack,))}:
                size = Fraction(factor)
                assert units.convert_to(Quantity(size, unit), base).value == size**2  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("packs", "a", "b"),
    [
        (["data"], Quantity(1, "KiB"), Quantity(1024, "B")),
        (["data"], Quantity(1, "MB"), Quantity(8_000_000, "bit")),
        (["time"], Quantity(1, "h"), Quantity(3600, "s")),
        (["time"], Quantity(1500, "ms"), Quantity(1.5, "s")),
        (["si"], Quantity(1, "kWh"), Quantity(3600, "kJ")),
        (["si", "electrical"], Quantity(1, "kV*kA"), Quantity(1_000_000, "V*A")),
        (["rates"], Quantity(50, "%"), Quantity(0.5, "ratio")),
        (["rates"], Quantity(1, "bp"), Quantity(100, "ppm")),
        (["chemistry"], Quantity(1, "mM"), Quantity(1, "mol/m3")),
        (["geo"], Quantity(1, "nmi"), Quantity(1.852, "km")),
        (["geo"], Quantity(1, "deg"), Quantity(3600, "arcsec")),
        (["currencies"], Quantity(1250, "USD_cent"), Quantity(Decimal("12.5"), "USD")),
        (["currencies"], Quantity(1_000_000, "USD_micro"), Quantity(1, "USD")),
        (["currencies"], Quantity(5, "GBP_pence"), Quantity(50, "GBP_milli")),
        (["us"], Quantity(1, "lb"), Quantity(16, "oz")),
        (["us"], Quantity(1, "lb"), Quantity(0.45359237, "kg")),
        (["us"], Quantity(1, "cfs"), Quantity(1, "ft3/s")),
        (["us"], Quantity(10, "therm"), Quantity(1, "MMBtu")),
        (["us"], Quantity(1, "MMBtu"), Quantity(293.07107017222, "kWh")),
        (["us"], Quantity(1, "acre"), Quantity(43560, "ft2")),
        (["us"], Quantity(1, "psi"), Quantity(6894.757293168362, "Pa")),
        (["us"], Quantity(1, "hp"), Quantity(0.7456998715822702, "kW")),
        (["us", "si"], Quantity(60, "mph"), Quantity(26.8224, "m/s")),
        (["health"], Quantity(72, "bpm"), Quantity(1.2, "beat/s")),
        (["health"], Quantity(100, "mg/dL"), Quantity(1, "g/L")),
        (["health", "si"], Quantity(1, "kcal"), Quantity(4.184, "kJ")),
        (["materials", "si"], Quantity(1, "eV"), Quantity(1.602176634e-19, "J")),
        (["materials"], Quantity(10, "angstrom"), Quantity(1, "nm")),
        (["materials"], Quantity(10, "Å"), Quantity(1, "nm")),
        (["chemistry"], Quantity(1, "kcal/mol"), Quantity(4.184, "kJ/mol")),
        (["chemistry"], Quantity(1, "atm"), Quantity(760, "torr")),
        (["physics"], Quantity(1, "rpm"), Quantity(60, "rev/h")),
        (["counts", "time"], Quantity(120, "token/min"), Quantity(2, "token/s")),
    ],
)
def test_units_of_packs_convert(packs: list[str], a: Quantity, b: Quantity) -> None:
    assert UnitRegistry(packs=packs).same_quantity(a, b)


@pytest.mark.parametrize(
    ("pack", "a", "b"),
    [
        ("counts", "token", "request"),
        ("currencies", "CHF", "SEK"),
        ("electrical", "VA", "W"),
        ("electrical", "var", "VA"),
        ("time", "year", "day"),
        ("rates", "dB", "%"),
    ],
)
def test_what_is_another_thing_never_converts(pack: str, a: str, b: str) -> None:
    units = UnitRegistry(packs=[pack])
    assert not units.same_quantity(Quantity(1, a), Quantity(1, b))
    with pytest.raises(GLValidationError):
        units.convert_to(Quantity(1, a), b)


def test_a_pack_is_named_where_it_would_do() -> None:
    assert [packs_for(unit) for unit in ("token", "kWh", "furlong")] == [("counts",), (), None]
    assert packs_for("token/s") == ("counts",) and packs_for("mg/mol/page") == ("counts", "si")
    with pytest.raises(GLValidationError) as caught:
        UnitRegistry().require("token")
    assert "counts" in caught.value.hint
    with pytest.raises(ValueError, match="counts, time"):
        UnitRegistry(packs=["count"])


def test_no_pack_says_otherwise_than_the_allowlist() -> None:
    for unit in pack_units(PACKS):
        if unit in ALLOWED_UNITS or unit in TIME_UNITS:
            assert dimension_of(unit, packs=PACKS) == {**TIME_UNITS, **ALLOWED_UNITS}[unit]


@pytest.mark.parametrize(
    ("value", "unit", "target", "expected"),
    [
        (2**53 + 1, "MWh", "kWh", (2**53 + 1) * 1000),
        (2**53 + 1, "kWh", "kWh", 2**53 + 1),
        (Decimal("12345678901234567.89"), "kWh", "Wh", Decimal("12345678901234567890")),
        (Fraction(1, 3), "kWh", "Wh", Fraction(1000, 3)),
    ],
)
def test_digits_are_kept(value: Any, unit: str, target: str, expected: Any) -> None:
    converted = UnitRegistry().convert_to(Quantity(value, unit), target).value
    assert converted == expected and type(converted) is type(expected)


def test_a_unit_is_required_of_both_sides() -> None:
    units = UnitRegistry()
    for source, target in (("kWh", "J"), ("J", "kWh"), ("lb", "lb"), ("kWh", "kWh ")):
        with pytest.raises(GLValidationError) as caught:
            units.convert_to(Quantity(1, source), target)
        assert caught.value.code == "UNIT_UNKNOWN"
    assert units.normalize(Quantity(Fraction(1, 2), "kWh")) == (Decimal("0.5"), "kWh")


@pytest.mark.parametrize("size", [500, 1000, 2000, 100_000])
def test_a_long_unit_is_refused_at_once(size: int) -> None:
    for unit in ("a" + " " * size + "b", "a" * size, "per " * size, "kWh" + "*m" * size, "(" * size):
        assert judge_unit(unit).status == "unknown"


def test_the_longest_unit_that_is_read() -> None:
    longest = "kW" + "*J" * 99
    assert judge_unit(longest).status == "not-allowed"
    assert judge_unit(f"{longest}*J").status == "unknown"


PLAIN = ["*_id", "page", "status_code"]


@pytest.mark.parametrize(
    ("output", "raw"),
    [
        ({"page": 3}, []),
        ({"user_id": 7, "heat": 5}, [("heat",)]),
        ({"page": {"n": 3}}, [("page", "n")]),
        ({"page": [1, [2]]}, []),
        ({"rows": [{"row_id": 1, "size": 2}]}, [("rows", 0, "size")]),
        ({"Page": 3}, [("Page",)]),
        (5, [()]),
    ],
)
def test_plain_keys(output: Any, raw: list[Any]) -> None:
    assert [*Survey(output, PLAIN).raw_numbers] == raw


def test_the_trace_says_what_was_relaxed(step: Any) -> None:
    registry = ToolRegistry(packs=["counts"], plain_keys=["*_id"])
    start = ToolRuntime(ScriptedProvider([step.final("Done")]), registry).run("", "")["trace"][0]
    assert start["input"]["packs"] == ["counts"] and start["input"]["plain_keys"] == ["*_id"]
    start = ToolRuntime(ScriptedProvider([step.final("Done")]), ToolRegistry()).run("", "")["trace"][0]
    assert start["input"].keys() == {"mode", "options", "argument_origin"}


def test_a_table_is_lines_in_sections(tmp_path: Path) -> None:
    table = tmp_path / "table.txt"
    table.write_text("# a note\n[first]\na b: 1: 2\n\n#b: 3\n[second]\n  \nc: ä\n", "utf-8")
    assert sections(str(table)) == {"first": {"a b": "1: 2", "#b": "3"}, "second": {"c": "ä"}}
