"""Numbers that one formula makes of the rows that an answer names, and the shapes of outputs that are read for them."""

from __future__ import annotations

from typing import Any

import pytest

from gllint_runtime import Session

ADS = [
    {"campaign": {"name": "Tents"}, "metrics": {"cost_usd": 480.0, "orders": 12, "clicks": 640}},
    {"campaign": {"name": "Boots"}, "metrics": {"cost_usd": 927.5, "orders": 35, "clicks": 1750}},
]


def passes(answer: str, output: Any, *, tool: str = "report", today: Any = None) -> bool:
    session = Session(mode="sourced", today=today)
    session.record(tool, {}, output)
    return session.verify(answer).status == "success"


@pytest.mark.parametrize(
    ("answer", "is_right"),
    [
        ("| Campaign | Per order |\n|---|---|\n| Tents | $40.00 |\n| Boots | $26.50 |", True),
        ("| Campaign | Per order |\n|---|---|\n| Tents | $26.50 |\n| Boots | $40.00 |", False),
        ("| Campaign | Per order |\n|---|---|\n| Tents | $40.00 |\n| Boots | $27.50 |", False),
        ("- Tents: 1.9% of clicks became orders\n- Boots: 2.0%", True),
        ("- Tents: 2.9% of clicks became orders\n- Boots: 2.0%", False),
    ],
)
def test_a_formula_makes_the_numbers_of_several_rows(answer: str, is_right: bool) -> None:
    assert passes(answer, ADS) is is_right


@pytest.mark.parametrize(("width", "is_right"), [(4, True), (5, False)])
def test_three_digits_say_too_little_of_a_wide_row(width: int, is_right: bool) -> None:
    values = dict(
        zip(("alpha", "beta", "gamma", "delta", "kappa"), (47.0, 11.0, 6.1, 13.3, 29.9), strict=True)
    )
    rows = [{"name": name, **dict([*values.items()][:width])} for name in ("Quarry", "Harbour")]
    assert passes("Quarry has 58.0 kWh.", rows) is is_right  # 47.0 and 11.0


def test_two_outputs_of_one_shape_are_compared_by_the_names_of_their_rows() -> None:
    session = Session(mode="sourced")
    for count in (9_500, 8_000):
        rows = [{"channel": "Mail", "visits": count}, {"channel": "Search", "visits": 2 * count + 140}]
        session.record("visits", {"month": count}, rows)
    assert session.verify("Mail went up 18.8% and Search 18.6%.").status == "success"
    assert session.verify("Mail went up 28.8% and Search 18.6%.").status != "success"


@pytest.mark.parametrize(
    "output",
    [
        {"fields": ["month", "rain_mm"], "rows": [[1, 61.2], [2, 44.8]]},
        {"schema": {"fields": [{"name": "month"}, {"name": "rain_mm"}]}, "data": [[1, 61.2], [2, 44.8]]},
        {
            "dimensionHeaders": [{"name": "month"}],
            "metricHeaders": [{"name": "rain_mm"}],
            "rows": [
                {"dimensionValues": [{"value": "january"}], "metricValues": [{"value": "61.2"}]},
                {"dimensionValues": [{"value": "february"}], "metricValues": [{"value": "44.8"}]},
            ],
        },
        "      month  rain_mm\n0  january     61.2\n1  february    44.8",
        [{"keys": ["january"], "rain_mm": 61.2}, {"keys": ["february"], "rain_mm": 44.8}],
    ],
)
def test_rows_are_read_in_the_shapes_of_services(output: Any) -> None:
    assert passes("January had 61.2 mm and February 44.8 mm.", output)
    assert not passes("January had 44.8 mm of rain.", output)


@pytest.mark.parametrize(
    ("output", "answer", "is_right"),
    [
        ({"cost": {"currencyCode": "USD", "units": "1528", "nanos": 750000000}}, "It costs $1,528.75.", True),
        ({"preisCent": {"spar": 2745, "flex": 5490}}, "Der Sparpreis ist 27,45 €.", True),
        ({"costMicros": 1912340000, "currency": "EUR"}, "It cost €1,912.34.", True),
        ({"transitDays": 34}, "It takes 34 days.", True),
        ({"usedMb": 34560}, "You used 33.75 GB.", True),
        ({"unit": "Wh", "peakKw": 6.4, "days": [{"made": 31240}, {"made": 9470}]}, "It made 31.2 kWh and 9.47 kWh.", True),
        ({"unit": "mg/dL", "mean": 142.6, "gmi": 0.067}, "The GMI is 6.7%.", True),
        ({"carrierCode": "TP", "number": "210"}, "Take TP210.", True),
        ({"carrierCode": "TP", "number": "210"}, "Take TP211.", False),
        ({"code": "4856383", "usd": 205}, "From certificate 4856383\n- $205 from the card", True),
        ({"state": "21.5", "attributes": {"unit_of_measurement": "°C"}}, "It is 21.5 °C, or 70.7 °F.", True),
        ({"state": "21.5", "attributes": {"unit_of_measurement": "°C"}}, "It is 21.5 °F.", False),
        ("open 8 a.m.-6 p.m.", "Open from 8 a.m. to 6 p.m.", True),
        ({"control": 0.04122, "new": 0.04568}, "4.57% after 4.12%, a lift of 0.45 percentage points. Good.", True),
        ({"lap": "17:16.1", "best": "17:18.9"}, "17:16.1, and 17:18.9 before.", True),
    ],
)  # fmt: skip
def test_numbers_of_services_are_read(output: Any, answer: str, is_right: bool) -> None:
    assert passes(answer, output) is is_right


@pytest.mark.parametrize(
    ("prompt", "answer", "is_right"),
    [
        ("Amounts of the interface are in cents.", "It is €62.40, and the fee is €0.95.", True),
        ("Amounts of the interface are in cents.", "It is €62.40, and the fee is €95.", False),
        ("", "It is €62.40.", False),
        ("", "It is €6,240.", True),
    ],
)
def test_hundredths_are_what_the_conversation_says(prompt: str, answer: str, is_right: bool) -> None:
    session = Session(mode="sourced")
    session.prompt(prompt)
    rows = {"price": {"amount": 6240, "currency": "EUR"}, "fee": {"amount": 95, "currency": "EUR"}}
    session.record("quote", {}, rows)
    assert (session.verify(answer).status == "success") is is_right
