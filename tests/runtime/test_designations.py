"""What of a text is a name although it has digits, and what of a list of texts is a code or a name."""

from __future__ import annotations

import pytest

from gllint_runtime import GLError, Session
from gllint_runtime.policy.claims import HOLE
from gllint_runtime.policy.designations import designations


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Date-times that the calendar and the clock have.
        ("at 2024-10-02T10:30:15.123Z it", ["2024-10-02T10:30:15.123Z"]),
        ("at 2024-10-02 10:30+02:00 it", ["2024-10-02 10:30+02:00"]),
        (f"at {HOLE}T10:30 it", [f"{HOLE}T10:30"]),
        ("at 2024-02-30T10:30 it", []),
        ("at 2024-10-02T25:30 it", []),
        (f"at {HOLE}T25:30 it", []),
        # Versions; where thousands are parted by points, it is a number.
        ("is 1.2.3 there", ["1.2.3"]),
        ("is 1.2.3rc1 there", ["1.2.3rc1"]),
        ("is 1.234.567 there", []),
        ("is 1.234.5678 there", ["1.234.5678"]),
        # Lines of cron, of which one field at least is open.
        ("0 * * * 1", ["0 * * * 1"]),
        ("*/5 1 2 3 4", ["*/5 1 2 3 4"]),
        ("1 2 3 4 *", ["1 2 3 4 *"]),
        ("1 2 3 4 5", []),
        # Classes of characters.
        ("[a-z0-9]", ["[a-z0-9]"]),
        ("[A-F0-9]", ["[A-F0-9]"]),
        (r"[\w5]", [r"[\w5]"]),
        ("[0-9]{2}", ["[0-9]{2}"]),
        (r"[\d.]+", [r"[\d.]+"]),
        ("[0-9]", []),
        ("[5,6]{2}", []),
        # Errors of HTTP beside what they mean; a word alone is written as its table writes it.
        ("404 Not Found", ["404 "]),
        ("404: Not Found", ["404: "]),
        ("404 Not Founded", []),
        ("404 rooms", []),
        ("413 Payload Too Large", ["413 "]),
        ("413 Content Too Large", ["413 "]),
        ("499 Not Found", []),
        ("499 ", []),
        ("not found (404)", ["(404)"]),
        ("It is Not Found (404)", ["(404)"]),
        ("cannot found (404)", []),
        ("xnot found (404)", []),
        ("Locked (423)", ["(423)"]),
        ("locked (423)", []),
        ("(404) Not Found", []),
        ("(499)", []),
        # By their form alone, whatever stands behind.
        ("is 12345678-1234-1234-1234-123456789abc there", ["12345678-1234-1234-1234-123456789abc"]),
        ("on 2 May 2024, then", ["2 May 2024"]),
        # Names unless a unit stands behind them; what is counted is none.
        ("the S&P 500 fell", ["S&P 500"]),
        ("the S&P 500 kWh", []),
        ("the S&P 500 items", ["S&P 500"]),
        ("the S&P 501 fell", []),
        ("in 2024-05 it", ["2024-05"]),
        ("in 2024-13 it", []),
    ],
)
def test_names_by_their_form(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in designations(text)] == expected


def test_a_session_with_the_setting_excuses_designations() -> None:
    assert Session(designations=True).check("It runs on an iPhone 15, 24/7.").message.startswith("It runs")
    for session in (Session(), Session(designations=True)):
        with pytest.raises(GLError, match="NO_NAKED_NUMBERS"):
            session.check("It used 500 kWh on an iPhone 15.")


def test_a_number_that_begins_like_a_form_is_a_number() -> None:
    gate = Session(mode="sourced")
    gate.record("meter", {}, {"heat_kwh": 1099.28, "power_kwh": 1040.5})
    assert (
        gate.verify("It used 1099.28 kWh of heat and 1040.5 kWh of power. See Form 1099.").status == "success"
    )


@pytest.mark.parametrize(
    "answer",
    [
        "The rent is Euro 950 a month.",
        "Office 950 EUR",
        "Area 99 m²",
        "Highway 120 km/h",
        "An iPhone 1299 USD",
        "Wi-Fi 9.99 EUR",
        "Base 950 EUR",
    ],
)
def test_a_number_behind_a_name_that_has_a_unit_is_an_amount(answer: str) -> None:
    gate = Session(mode="sourced")
    gate.record("flat", {}, {"rent_eur": 850})
    assert gate.verify(answer).status == "error"


@pytest.mark.parametrize(
    "answer",
    ["The rent of 850 EUR buys an iPhone 15 in use.", "PM10 was not measured.", "A Euro 6 car", "In base 10"],
)
def test_a_number_behind_a_name_is_part_of_it(answer: str) -> None:
    gate = Session(mode="sourced")
    gate.record("flat", {}, {"rent_eur": 850})
    assert gate.verify(answer).status == "success"
