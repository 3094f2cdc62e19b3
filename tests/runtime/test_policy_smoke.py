"""The policy in one page: one example for each decision."""

from __future__ import annotations

import pytest
from gllint_runtime.claims import ClaimPathError, find_macros, parse_claim_path
from gllint_runtime.numbers import scan_naked_numbers
from gllint_runtime.schemas import QUANTITY_REF, find_raw_numbers, schema_problems, unknown_refs
from gllint_runtime.units import judge_unit


@pytest.mark.parametrize(
    ("unit", "status"),
    [
        ("kWh", "allowed"),
        ("kWh/year", "allowed"),
        ("kgCO2e/kWh", "allowed"),
        ("kwh", "unknown"),
        ("kUSD", "unknown"),
        ("lb", "not-allowed"),
        ("hour", "not-allowed"),
        ("", "not-allowed"),
    ],
)
def test_units(unit: str, status: str) -> None:
    assert judge_unit(unit).status == status


@pytest.mark.parametrize(
    ("text", "naked"),
    [
        ("uses 12.5 and 2,500", ["12.5", "2,500"]),
        ("On 2024-10-02 use 500 kWh", ["500"]),
        ("1. Insulate the roof", []),
        ("{{claim:0}}000", ["000"]),
        ("-{{claim:0}}", ["-"]),
        ("kgCO2e per m2", []),
        ("500kWh in Q3", ["500", "3"]),
    ],
)
def test_numbers(text: str, naked: list[str]) -> None:
    assert [number.text for number in scan_naked_numbers(text)] == naked


def test_macros() -> None:
    assert [macro.index for macro in find_macros("{{claim:0}} {{claim:a}} {claim:1}")] == [0, None, None]


def test_paths() -> None:
    assert parse_claim_path("$.roof.area") == ("roof", "area")
    with pytest.raises(ClaimPathError) as caught:
        parse_claim_path("$.roofs[0]")
    assert "Array" in caught.value.hint


def test_schemas() -> None:
    schema = {
        "type": "object",
        "required": ["area", "rof"],
        "properties": {
            "area": {"$ref": QUANTITY_REF},
            "n": {"type": "integer"},
            "x": {"$ref": "greenlang://x"},
        },
    }
    assert find_raw_numbers(schema) == [("properties", "n", "type")]
    assert unknown_refs(schema) == [("properties", "x", "$ref")]
    assert [problem.path for problem in schema_problems(schema)] == [("required", 1)]
