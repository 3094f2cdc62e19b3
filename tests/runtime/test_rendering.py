"""How a value is shown: counts with their words, currencies with their decimals, decimals as they are written."""

from __future__ import annotations

from decimal import Decimal, Inexact, localcontext
from fractions import Fraction
from typing import Any

import pytest

from gllint_runtime import Quantity, Session
from gllint_runtime.policy import rendering
from gllint_runtime.policy.rendering import format_quantity


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (1500, "JPY", "1500 JPY"),
        (0.5, "JPY", "0.50 JPY"),
        (0.5, "USD", "0.50 USD"),
        (-3, "USD", "-3.00 USD"),
        (0.00123, "USD", "0.00123 USD"),
        (0.123456, "USD", "0.123456 USD"),
        (1.25, "BHD", "1.250 BHD"),
        (1.2345, "BHD", "1.2345 BHD"),
        (0, "KRW", "0 KRW"),
        (0.3, "USD/kWh", "0.30 USD/kWh"),
        (2.675, "kWh", "2.675 kWh"),
        (1.005, "kWh", "1.005 kWh"),
        (Decimal("1.005"), "kWh", "1.005 kWh"),
        (Fraction(1, 10**400), "kWh", f"0.{'0' * 399}1 kWh"),
        (3, "row", "3 rows"),
        (1, "row", "1 row"),
        (-1, "row", "-1 row"),
        (0, "query", "0 queries"),
        (2, "person", "2 people"),
        (2.5, "row", "2.50 rows"),
        (3, "count", "3"),
        (2.5, "count", "2.50 count"),
        (1, "kWh", "1.00 kWh"),
        (-1, "kWh", "-1.00 kWh"),
        (0, "kWh", "0.00 kWh"),
        (5, "1", "5.00"),
        (0.25, "1", "0.25"),
        (5, "", "5.00"),
        # Three capitals are no currency by that alone.
        (5, "ABC", "5.00 ABC"),
        (0.5, "ABC", "0.50 ABC"),
        (123.5, "JPY", "123.50 JPY"),
        (1234.5, "JPY", "1234.50 JPY"),
        (100.125, "USD", "100.125 USD"),
        (5.125, "USD", "5.125 USD"),
    ],
)
def test_a_value_is_shown_by_its_unit(value: Any, unit: str, shown: str) -> None:
    rendering._table.cache_clear()
    rendering._counted.cache_clear()
    assert format_quantity(Quantity(value, unit)) == shown


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("It has {{claim:0}}.", "It has 3 rows."),
        ("It has {{claim:0}} rows.", "It has 3 rows."),
        ("It has {{claim:0}} row!", "It has 3 row!"),
        ("It has {{claim:0}} in all rows.", "It has 3 rows in all rows."),
        ("It has {{claim:0}}\nrows", "It has 3 rows\nrows"),
        ("It has **{{claim:0}} rows**.", "It has **3 rows**."),
        ("It reads {{claim:0}} rows/s.", "It reads 3 rows rows/s."),
        ("It reads {{claim:0}} rows / s.", "It reads 3 rows rows / s."),
        ("It has {{claim:0}} row-level rules.", "It has 3 rows row-level rules."),
    ],
)
def test_the_word_of_what_is_counted_is_said_once(message: str, shown: str) -> None:
    session = Session(packs=["counts"])
    session.record("query", {}, {"found": {"value": 3, "unit": "row"}})
    claims = [claim.to_dict() for claim in session.claimable()]
    assert session.check(message, claims).message == shown
    stream = session.stream()
    assert stream.feed(message, claims) + stream.close(claims).message[len(stream.released) :] == shown


def test_the_decimal_context_of_a_program_changes_nothing() -> None:
    with localcontext() as context:
        context.prec, context.traps[Inexact] = 1, True
        assert format_quantity(Quantity(0.0996, "kWh")) == "0.0996 kWh"
        assert format_quantity(Quantity(exactly(Fraction(1, 3)), "USD")) == "0.33333333 USD"


def exactly(value: Any) -> Any:
    return value
