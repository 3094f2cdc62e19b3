"""Sourced mode: plain numbers, each judged by what it rests on."""

from __future__ import annotations

import cProfile
import json
import sys
from datetime import date
from typing import Any

import pytest

from gllint_runtime import GLDataError, GLProvenanceError, Policy, Session, Verified, drop_sentences
from gllint_runtime.policy.reader import Reader
from gllint_runtime.policy.spelled import spelled_numbers
from gllint_runtime.provenance.engine import Provenance

CITIES = [
    {"city": "Oslo", "temp": {"value": 3.4, "unit": "degC"}},
    {"city": "Rome", "temp": {"value": 18.2, "unit": "degC"}},
]
MONTHS = [{"m": "Jan", "kwh": 10.5}, {"m": "Feb", "kwh": 9.0}, {"m": "Mar", "kwh": 8.5}]
ORDER = {"price": {"value": 49.99, "unit": "USD"}, "order": "A-48213"}
FLIGHT = {"departs": "2026-12-05T07:35:00", "arrives": "2026-12-05T09:50:00", "seat": "14C"}
ORDERS = [
    {"id": "A-1", "total": 20.0, "late": True},
    {"id": "A-2", "total": 30.5, "late": True},
    {"id": "A-3", "total": 12.0, "late": False},
]


def verdicts(output: Any, answer: str, user: str = "", **settings: Any) -> list[str]:
    conversation = Provenance(**settings)
    if user:
        conversation.hear("user", user)
    conversation.record("tc_1", "look_up", {}, output)
    return [f"{finding.reading.text} {finding.verdict}" for finding in conversation.judge(answer)]


@pytest.mark.parametrize(
    ("output", "answer", "expected"),
    [
        (CITIES, "Oslo is at 18.2 °C", ["18.2 mislabelled"]),
        (CITIES, "Oslo is at 3.4 °C and Rome at 18.2 °C.", ["3.4 sourced", "18.2 sourced"]),
        (CITIES, "- **Rome**: 3.4 °C", ["3.4 mislabelled"]),
        (CITIES, "| City | Temp (°C) |\n|---|---|\n| Oslo | 18.2 |", ["18.2 mislabelled"]),
        (CITIES, "Rome is 14.8 °C warmer than Oslo.", ["14.8 derived"]),
        (CITIES, "The average is 10.8 °C across 2 cities.", ["10.8 derived", "2 derived"]),
        ({"revenue_usd": 1250, "profit_usd": 310}, "Profit was $1,250", ["1,250 mislabelled"]),
        (
            {"revenue_usd": 1250, "profit_usd": 310},
            "Profit was $1,250 on revenue of $310",
            ["1,250 mislabelled", "310 mislabelled"],
        ),
        (
            {"revenue_usd": 1250, "profit_usd": 310},
            "Profit was $310 on revenue of $1,250, a margin of 24.8%.",
            ["310 sourced", "1,250 sourced", "24.8 derived"],
        ),
        ({"heat": {"value": 1.235, "unit": "MWh"}}, "1,235 MWh", ["1,235 mislabelled"]),
        (
            {"heat": {"value": 1.235, "unit": "MWh"}},
            "1.235 MWh, so 1,235 kWh",
            ["1.235 sourced", "1,235 sourced"],
        ),
        (ORDER, "Your delivery comes on December 5", ["December 5 unsourced"]),
        (MONTHS, "28 kWh from Jan to Mar, 9.33 on average", ["28 derived", "9.33 derived"]),
        ({"weight_pct": 30, "gain_pct": 12.5}, "Inflation was 18 %", ["18 unsourced"]),
        (
            {"tel": "+18005550142"},
            "Call 1-800-555-0142",
            ["1 quoted", "800 quoted", "555 quoted", "0142 quoted"],
        ),
        ({"tel": "+15551234567"}, "It costs 1 234 567 €", ["1 234 567 unsourced"]),
        (
            [{"shop": "Oslo", "tel": "5035550164"}, {"shop": "Rome", "tel": "5035550193"}],
            "Oslo: (503) 555-0164. Rome: (503) 555-0164.",
            ["(503) 555-0164 quoted", "(503) 555-0164 mislabelled"],
        ),
        (
            {"tel": "+442079460958"},
            "Call 020 7946 0985",
            ["020 unsourced", "7946 unsourced", "0985 unsourced"],
        ),
        (
            {"fee": {"amount": 4900, "currency": "USD", "exponent": 2}},
            "$49, not $4,900",
            ["49 sourced", "4,900 mislabelled"],
        ),
        (
            {"rewards": [{"title": "$10 off", "cost": 1000}], "currency": "usd"},
            "You get $10 off",
            ["10 sourced"],
        ),
        ({"mean_ns": 18400}, "18.4 µs", ["18.4 sourced"]),
        ({"a_eur": 118, "b_eur": 45}, "€118 - €45 = €5310", ["118 sourced", "45 sourced", "5310 unsourced"]),
        ({"a_eur": 118, "b_eur": 45}, "€118 - €45 = €73", ["118 sourced", "45 sourced", "73 derived"]),
        (
            {"check_in": "2026-05-22", "check_out": "2026-05-25"},
            "del viernes 22 al lunes 25 de mayo",
            ["22 sourced", "25 de mayo sourced"],
        ),
        (
            {"free_until": "2026-09-01T18:00:00"},
            "until September 1, 6 p.m.",
            ["September 1 sourced", "6 p.m. sourced"],
        ),
        ({"p99_ms": 120}, "p99 is 120 ms", ["p99 exempt", "120 sourced"]),
        ({}, "the S&P 500; your 401(k); 24/7", ["S&P 500 exempt", "401(k) exempt", "24/7 exempt"]),
        ({"seconds": 5400}, "1 hour 30 minutes", ["1 hour 30 minutes sourced"]),
        (
            {"heat": {"value": 12.5, "unit": "kWh"}},
            "Heat (MWh): 12.5; 12.5 (MWh); 12.5 mwh; 12.5 kWh",
            ["12.5 mislabelled", "12.5 mislabelled", "12.5 mislabelled", "12.5 sourced"],
        ),
        ({"balance": {"value": -350.25, "unit": "EUR"}}, "overdrawn by 350.25 EUR", ["350.25 sourced"]),
        ({"balance": {"value": -350.25, "unit": "EUR"}}, "you have 350.25 EUR", ["350.25 mislabelled"]),
        ({"growth_pct": 4.5}, "Sales declined by 4.5%", ["4.5 mislabelled"]),
        ({"growth_pct": -4.5}, "Sales declined by 4.5%", ["4.5 sourced"]),
        (ORDERS, "2 of your 3 orders are late.", ["2 derived", "3 derived"]),
        ({"price": {"value": 340, "unit": "USD"}}, "half of $340", ["340 mislabelled"]),
        ({"price": {"value": 340, "unit": "USD"}}, "It doubled to $340", ["340 sourced"]),
        ({"count": 12}, "12 % of them", ["12 mislabelled"]),
        ({"price": {"value": 120, "unit": "EUR"}}, "120 EUR/night", ["120 sourced"]),
        (
            {"price_per_night": {"value": 120, "unit": "EUR"}, "nights": 3},
            "3 nights at 120 EUR: 360 EUR",
            ["3 sourced", "120 sourced", "360 derived"],
        ),
        (
            FLIGHT,
            "It leaves at 7:35 am on December 5 and lands at 09:50, 2 h 15 min later; seat 14C.",
            ["7:35 am sourced", "December 5 sourced", "09:50 sourced", "2 h 15 min derived", "14C quoted"],
        ),
        (FLIGHT, "It leaves on Friday, December 5.", ["December 5 mislabelled"]),
        (FLIGHT, "It leaves on Saturday, December 5.", ["December 5 sourced"]),
        ({"revenue": {"value": 3400000, "unit": "USD"}}, "| Revenue ($M) |\n|---|\n| 3.4 |", ["3.4 sourced"]),
        ({"revenue": {"value": 3.4, "unit": "USD"}}, "| Revenue ($M) |\n|---|\n| 3.4 |", ["3.4 mislabelled"]),
        (
            {"heat": {"value": 1234, "unit": "kWh"}},
            "about 1,200 kWh, not 1,200 kWh",
            ["1,200 sourced", "1,200 unsourced"],
        ),
        ({"heat": {"value": 12.58, "unit": "kWh"}}, "12.5 kWh", ["12.5 unsourced"]),
    ],
)
def test_what_a_number_rests_on(output: Any, answer: str, expected: list[str]) -> None:
    assert verdicts(output, answer) == expected


def test_what_the_user_said_is_quoted() -> None:
    answer = "Order A-48213: $49.99, table for 4. 1. Pay 2. Collect."
    assert verdicts(ORDER, answer, user="table for 4") == [
        "A-48213 quoted",
        "49.99 sourced",
        "4 quoted",
        "1 exempt",
        "2 exempt",
    ]


def test_numbering_that_does_not_run_in_order_is_no_numbering() -> None:
    assert verdicts({}, "1. Pay\n7. Collect") == ["1 exempt", "7 unsourced"]


def test_a_day_counts_from_the_day_of_the_conversation() -> None:
    assert verdicts(FLIGHT, "It leaves in 3 days.", today=date(2026, 12, 2)) == ["3 derived"]
    assert verdicts(FLIGHT, "It leaves in 4 days.", today=date(2026, 12, 2)) == ["4 unsourced"]


@pytest.mark.parametrize(
    "rows",
    [
        '{"name": "store", "value": 45.4, "unit": "m3"}',
        '{"name": "store", "value": 45.4, "unit": "m3"}\n{"name": "tank", "value": 9.5, "unit": "m3"}',
    ],
)
def test_what_one_output_names_is_no_row_of_another(rows: str) -> None:
    talk = session()
    talk.record("meter", {}, rows)
    talk.record("meter", {}, {"loss": {"value": 4272.983, "unit": "m3"}})
    assert talk.verify("The store is 45.4 m3 and the loss is 4272.983 m3.").status == "success"


def test_a_letter_behind_a_fraction_is_its_unit() -> None:
    assert verdicts("store: 34628.48 W.", "The store is 34628.48 m3.") == ["34628.48 mislabelled"]
    assert verdicts("Seat 14 C is free.", "Seat 14 is free.") == ["14 quoted"]


@pytest.mark.parametrize(
    ("output", "answer", "verdict"),
    [
        ({"p95_ms": 340}, "There were 340 slow requests.", "340 unsourced"),
        ({"tickets": [{"age_h": 5}]}, "5 of the 7 tickets are open.", "5 unsourced"),
        ({"orders_usd": 340}, "There were 340 orders.", "340 sourced"),
        ({"rent_eur": 850}, "The rent of 850 covers heating.", "850 sourced"),
        ({"rent_eur": 850}, "It rose to 850 for the rooms.", "850 sourced"),
        ({"heat_kwh": 12.5}, "It used 12.5 cups.", "12.5 unsourced"),
        ({"page_size": 50}, "50 guests came.", "50 unsourced"),
        ({"user_id": 8001}, "8001 guests came.", "8001 unsourced"),
        ({"zip": "8001"}, "8001 guests came.", "8001 unsourced"),
        ({"phone": "+41 44 999 88 77"}, "999 guests came.", "999 unsourced"),
        ({"phone": "+41 44 999 88 77"}, "Call 999 88 77.", "999 quoted"),
        ({"year": 2025}, "The 2025 orders are here.", "2025 sourced"),
        ({"rent_eur": 850}, "It is 850 zł.", "850 mislabelled"),
        ({"rent_eur": 850}, "It is 850 ₿.", "850 mislabelled"),
        ({"heat_kwh": 12.5}, "It is 12.5°.", "12.5 mislabelled"),
        ({"temp_c": 12.5}, "It is 12.5°.", "12.5 sourced"),
    ],
)
def test_a_number_before_a_thing_counts_it(output: Any, answer: str, verdict: str) -> None:
    assert verdict in verdicts(output, answer)


GATES = [{"flight": "LX318", "gate": "A12"}, {"flight": "BA711", "gate": "B7"}]
PHONES = [{"name": "Anna", "phone": "+41 44 111 22 33"}, {"name": "Ben", "phone": "+41 44 999 88 77"}]
QUARTERS = [{"quarter": "Q2", "revenue_usd": 1410000}, {"quarter": "Q3", "revenue_usd": 1385000}]
SEATS = [
    {"name": "Azul", "price_eur": 118, "seats_left": 4, "rating": 4.1},
    {"name": "Sol", "price_eur": 64, "seats_left": 12, "rating": 3.2},
]
FLIGHTS = [{"flight": "LX318", "price_chf": 189.0}, {"flight": "BA711", "price_chf": 164.5}]


@pytest.mark.parametrize(
    ("output", "right", "wrong"),
    [
        # In scripts without blanks, letters may touch a number.
        ({"temp_c": 3.4}, "東京の気温は3.4℃です。", "東京の気温は3.5℃です。"),
        ({"price_cny": 1500}, "价格是1500元左右。", "价格是1500美元。"),
        ({"price_cny": 12000}, "价格是1.2万元。", "价格是1.3万元。"),
        ({"departs": "09:05"}, "出発は09:05です。", "出発は09:15です。"),
        ({"temp_c": -3.4}, "気温は-3.4℃です。", "気温は3.4℃です。"),
        ({"price_thb": 1500}, "ราคา1500บาท", "ราคา1600บาท"),
        ({"price_krw": 15000}, "가격은 15000원입니다.", "가격은 16000원입니다."),
        ({"code": "A-123"}, "コードはA-123です。", "コードはA-124です。"),
        # The words of a key may be names.
        ({"hba1c_pct": 5.9}, "Your HbA1c is 5.9%.", "Your HbA2c is 5.9%."),
        ({"co2_kg": 41230}, "It emitted 41.2 t of CO2.", "It emitted 41.2 kg of CO2."),
        # Sources are cited in order.
        ({"heat_kwh": 12.5}, "It used 12.5 kWh [1][2] last year.", "It used 12.5 kWh [99]."),
        ({"heat_kwh": 12.5}, "It used 12.5 kWh 【1†source】.", "It used [1] kWh."),
        ({"heat_kwh": 12.5}, "It used 12.5 kW·h.", "It used 12.5 W·h."),
        ({"in": "2026-12-10", "out": "2026-12-13"}, "You stay 3 nights.", "You stay 4 nights."),
        (
            FLIGHTS,
            "BA711 is CHF 24.50 cheaper than LX318 (164.50 vs 189).",
            "LX318 is CHF 24.50 cheaper than BA711 (164.50 vs 189).",
        ),
        # A unit, or a size, may be in a sentence or a line of its own.
        ({"heat_kwh": 12.5}, "Heat (in kWh) was 12.5.", "Heat (in MWh) was 12.5."),
        ({"heat_kwh": 12.5}, "Unit: kWh\nHeat: 12.5", "Unit: MWh\nHeat: 12.5"),
        (
            {"heat_kwh": 12500, "growth_pct": 4.5},
            "All figures in thousands.\n\nHeat: 12.5 kWh, up 4.5 %",
            "All figures in thousands.\n\nHeat: 12,500 kWh",
        ),
        # A browser shows some attributes.
        ({"heat_kwh": 12.5}, "<img class=a9 alt='12.5 kWh' src=a9.png>", "<img alt='99 kWh' src=a.png>"),
        ({"heat_kwh": 12.5}, "<td width=99>12.5 kWh</td>", "<progress value=99></progress>"),
        # An identifier is of the row that is named before it, by another key.
        (GATES, "LX318: gate A12. BA711: gate B7.", "LX318: gate B7."),
        (GATES, "LX318 and BA711 leave from A12 and B7.", "LX318 is at B7."),
        (PHONES, "Anna's phone is +41 44 111 22 33.", "Anna's phone is +41 44 999 88 77."),
        (
            QUARTERS,
            "It was $1.39 million, down from Q2's $1.41 million.",
            "It is down from Q2's $1.38 million.",
        ),
        # A superlative is of one key.
        (SEATS, "The cheapest is Sol at €64 with 12 seats left.", "The cheapest is Azul at €118."),
        (SEATS, "The highest rated is Azul at €118.", "The highest price is €64."),
        # A bound that the named row keeps, wherever the row is.
        (
            {"drugs": [{"drug": "Beta", "p": 0.0002}, {"drug": "Alpha", "p": 0.0312}]},
            "Beta has p < 0.001.",
            "Alpha has p < 0.001.",
        ),
        (
            {"drugs": [{"drug": "Alpha", "p": 0.0312}, {"drug": "Beta", "p": 0.0002}]},
            "Alpha has p > 0.01.",
            "Beta has p > 0.01.",
        ),
        # Units as other keyboards and other countries write them.
        ({"air": {"value": 25, "unit": "degC"}}, "It is 25℃ or 77℉.", "It is 25℉."),
        ({"air": {"value": 77.5, "unit": "degC"}}, "It is 77.5 ºC.", "It is 77.5 ºF."),
        (
            {"heat": {"value": 55.25, "unit": "kWh"}, "share": {"value": 12.5, "unit": "%"}},
            "12.5％ of 55.25 kW⋅h",
            "55.25％",
        ),
        (
            {"heat": {"value": 55.25, "unit": "kWh/m2/year"}},
            "55.25 kWh/(m²·a), or kWh/m²a",
            "55.25 kWh/(m²·d)",
        ),
        ({"heat": {"value": 55.25, "unit": "kWh/m2/year"}}, "55.25 kWh/m²a", "55.25 kWh/m²d"),
        ({"heat": {"value": 55.25, "unit": "kWh"}}, "55.25 kWh", "55.25 kWh/m²a"),
        # A sum is no multiple of what is in it: 3.6 is both prices over the first.
        (
            {"items": [{"name": "Lamp", "price_usd": 45.5}, {"name": "Desk", "price_usd": 120.25}]},
            "The desk costs 2.6 times as much as the lamp.",
            "The desk costs 3.6 times as much as the lamp.",
        ),
        (
            {"items": [{"name": "Lamp", "price_usd": 45.5}, {"name": "Desk", "price_usd": 120.25}]},
            "The desk costs 164% more than the lamp.",
            "The desk costs 264% more than the lamp.",
        ),
        (
            {"items": [{"name": "Lamp", "price_usd": 45.5}, {"name": "Desk", "price_usd": 120.25}]},
            "The lamp is 62% cheaper than the desk.",
            "The lamp is 38% cheaper than the desk.",
        ),
        # A cell of several numbers is read as a sentence is.
        (
            {
                "cities": [
                    {"city": "Oslo", "high_c": 18.25, "low_c": 9.5},
                    {"city": "Rome", "high_c": 29.75, "low_c": 19.25},
                ]
            },
            "| City | Temp |\n|---|---|\n| Oslo | high 18.25 °C, low 9.5 °C |",
            "| City | Temp |\n|---|---|\n| Oslo | high 9.5 °C, low 18.25 °C |",
        ),
        # Units that have their period without a stroke.
        (
            {"wind": {"value": 77.25, "unit": "mph"}, "flow": {"value": 1250, "unit": "cfs"}},
            "Wind of 77.25 mph, and 1,250 cfs.",
            "Wind of 77.25 m/s.",
        ),
        ({"r2": 0.875}, "The fit has 0.875 R².", "The fit has 0.625 R²."),
    ],
)
def test_what_passes_and_what_is_like_it(output: Any, right: str, wrong: str) -> None:
    for answer, status in ((right, "success"), (wrong, "error")):
        gate = Session(mode="sourced")
        gate.record("look_up", {}, output)
        assert gate.verify(answer).status == status


def test_a_finding_has_the_whole_of_a_number_in_markup() -> None:
    assert verdicts({}, r"It is \frac{99}{1} kWh.")[0] == r"\frac{99}{1} unsourced"


LEGS = [
    [
        {"flight": one, "from": "JFK", "to": "ATL", "prices": {"economy": price}},
        {"flight": "ZX39", "from": "ATL", "to": "SEA", "prices": {"economy": 103}},
    ]
    for one, price in (("ZX10", 98), ("ZX36", 152), ("ZX18", 158))
]
FARES = [
    {
        "flight": "ZX1",
        "arrives": "20:00:00",
        "free_seats": {"first": 16},
        "prices": {"full": 443, "low": 187},
    },
    {"flight": "ZX2", "arrives": "09:30:00", "free_seats": {"first": 4}, "prices": {"full": 390, "low": 190}},
]
BAGS = {"passengers": [{"name": "Ann"}, {"name": "Bo"}], "level": "silver"}
WALLET = {
    "gift_card_77": {"source": "gift_card", "amount": 62},
    "certificate_12": {"source": "certificate", "amount": 500},
    "certificate_15": {"source": "certificate", "amount": 250},
}


@pytest.mark.parametrize(
    ("output", "answer", "user", "expected"),
    [
        # A flight that an output lists in several pairs is one row.
        (LEGS, "1. **Flight ZX36 & ZX39**\n   - Total price: $255", "", ["255 derived"]),
        (LEGS, "1. **Flight ZX36 & ZX39**\n   - Total price: $256", "", ["256 unsourced"]),
        # What is in brackets right behind a number is about that number.
        (
            LEGS,
            "- Economy: $152 (JFK to ATL) + $103 (ATL to SEA)",
            "",
            ["152 sourced", "103 sourced"],
        ),
        (
            BAGS,
            "There are 2 bags each. As there are two passengers, you can take 4 bags.",
            "2 bags?",
            ["4 derived"],
        ),
        (
            BAGS,
            "There are 2 bags each. As there are five passengers, you can take 10 bags.",
            "2 bags?",
            ["10 unsourced"],
        ),
        # The word behind a number is a part of the name of its record.
        (WALLET, "With the $62 gift card and the $500 certificate.", "", ["62 sourced", "500 sourced"]),
        (WALLET, "With the gift card of $500.", "", ["500 mislabelled"]),
        # A time of day, and free seats, are no part of a price.
        (FARES, "Flight ZX1 arrives at 20:00 and costs $423.", "", ["423 unsourced"]),
        (FARES, "Flight ZX1 has 16 free seats and costs $459.", "", ["459 unsourced"]),
        # "business" is a key, and the user's own word.
        (
            {"prices": {"business": 210, "economy": 90}},
            "It takes 5 to 7 business days.",
            "Refunds take 5 to 7 business days, I read.",
            ["7 quoted"],
        ),
        ({"date": "2026-05-23"}, "It is on May 23, and a day later, on May 24, too.", "", ["May 24 derived"]),
        (
            {"date": "2026-05-23"},
            "It is on May 23, and a day later, on May 26, too.",
            "",
            ["May 26 unsourced"],
        ),
    ],
)
def test_what_recorded_agents_say(output: Any, answer: str, user: str, expected: list[str]) -> None:
    assert set(expected) <= set(verdicts(output, answer, user))


def session(**settings: Any) -> Session:
    gate = Session(mode="sourced", **settings)
    gate.user("A table for 4, please.")
    gate.record("shop", {}, ORDER)
    return gate


def test_provenance_has_an_entry_for_each_number() -> None:
    verified = session().check("Order A-48213: $49.99, table for 4.")
    assert [entry["verdict"] for entry in verified.provenance] == ["quoted", "sourced", "quoted"]
    price = verified.provenance[1]
    assert price["span"] == [16, 21]
    assert (price["text"], price["source_call_id"], price["path"]) == ("49.99", "tc_1", "$.price")
    assert (price["value"], price["unit"], price["derived"], price["weak"]) == (49.99, "USD", None, False)
    assert "shop (tc_1)" in verified.to_html()


@pytest.mark.parametrize("answer", ["It used 12.5 kWh.", "It used 0.0125 MWh.", "It used 12,500 Wh."])
def test_provenance_has_the_value_and_the_unit_of_the_tool(answer: str) -> None:
    gate = Session(mode="sourced")
    gate.record("meter", {}, {"heat_kwh": 12.5})
    [entry] = gate.check(answer).provenance
    assert (entry["value"], entry["unit"]) == (12.5, "kWh")


def test_one_refusal_lists_all_that_fail() -> None:
    gate = session()
    refused = gate.verify("It costs $59.99 or 49.99 EUR, on December 5.")
    assert refused.status == "error"
    assert refused.error.code == "NO_SOURCE"
    assert "[NO_SOURCE]" in refused.hint
    assert all(text in refused.hint for text in ("'59.99'", "'49.99'", "'December 5'", "is in USD"))
    assert [entry["verdict"] for entry in refused.error.context] == ["unsourced", "mislabelled", "unsourced"]


def test_a_check_is_one_verdict() -> None:
    for level in ("warn", "shadow"):
        gate = session(levels=level)
        told: list[dict[str, Any]] = []
        gate.on_event(told.append)
        verified = gate.check("It costs $59.99, on December 5, or 49.99 EUR.")
        assert [violation["level"] for violation in verified.violations] == [level, level]
        assert [event["verdict"] for event in told] == ([] if level == "shadow" else ["warn"])


def test_a_unit_that_nothing_shows_is_noted() -> None:
    gate = Session(mode="sourced")
    gate.record("sensor", {}, {"temp": 18.2})
    assert gate.check("It is 18.2 °C.").violations == []
    assert any(entry.get("code") == "NO_UNIT" for entry in gate.trace)
    strict = Session(mode="sourced", levels={"NO_UNIT": "block"})
    strict.record("sensor", {}, {"temp": 18.2})
    with pytest.raises(GLDataError, match="NO_UNIT"):
        strict.check("It is 18.2 °C.")
    named = Session(mode="sourced", units={"sensor.$.temp": "degC"}, levels={"NO_UNIT": "block"})
    named.record("sensor", {}, {"temp": 18.2})
    assert named.check("It is 18.2 °C.").message == "It is 18.2 °C."


def test_a_macro_still_shows_what_it_claims() -> None:
    gate = session()
    claim = {"source_call_id": "tc_1", "path": "$.price", "quantity": {"value": 49.99, "unit": "USD"}}
    assert gate.check("It costs {{claim:0}} for order A-48213.", [claim]).message == (
        "It costs 49.99 USD for order A-48213."
    )


def test_a_hint_says_that_the_oldest_outputs_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gllint_runtime.provenance.engine._MAX_WEIGHT", 20_000)
    gate = session()
    assert "forgotten" not in gate.verify("It costs $77.77.").hint
    for number in range(40):
        gate.record("rows", {}, [{"name": f"Row {number}", "value": number + 0.25}] * 5)
    assert "forgotten" in gate.verify("It costs $77.77.").hint


def test_a_stream_releases_what_holds() -> None:
    stream = session().stream()
    assert stream.feed("Order A-48213 is there. It costs $49.99. Really. ") == (
        "Order A-48213 is there. It costs $49.99. "
    )
    assert stream.feed("It was $99.99. Yes.") == "Really. "
    with pytest.raises(GLProvenanceError) as refusal:
        stream.close()
    assert refusal.value.released == "Order A-48213 is there. It costs $49.99. Really. "


def _sites(count: int) -> tuple[Session, str]:
    """A session, and a message of one sentence for each of its sites, a few of them with a number that follows."""
    gate = session()
    sites = [
        {"site": f"Plant {i}", "energy_kwh": 100.5 + 7 * i, "cost_usd": 20.25 + 3 * i} for i in range(count)
    ]
    gate.record("usage", {}, {"sites": sites})
    sentences = [f"{one['site']} used {one['energy_kwh']} kWh and paid ${one['cost_usd']}. " for one in sites]
    return gate, "".join(sentences)


@pytest.mark.usefixtures("unmeasured")
def test_a_stream_reads_and_judges_each_number_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls, costs = 0, []

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    for size in (40, 160):
        gate, message = _sites(size)
        gate.check(message)
        stream, before = gate.stream(), calls
        sys.setprofile(count)
        try:
            for i in range(0, len(message), 20):
                stream.feed(message[i : i + 20])
        finally:
            sys.setprofile(None)
        assert len(stream.released) > 0.95 * len(message)
        costs.append(calls - before)
    assert costs[1] < 4.4 * costs[0]


def test_a_stream_goes_on_after_a_call_that_comes_between() -> None:
    gate, message = _sites(4)
    stream = gate.stream()
    stream.feed(message + "Order B-77 has 3 parcels. ")
    assert stream.feed("It is on its way. ") == ""
    gate.record("order", {}, {"order": "B-77", "parcels": 3})
    assert stream.feed("It is late.") == "Order B-77 has 3 parcels. It is on its way. "
    assert stream.close().message.endswith("It is late.")


def test_sentences_that_fail_are_dropped() -> None:
    draft = "Order A-48213 is there. It costs $59.99! Bye."
    refused = session().verify(draft)
    assert refused.status == "error"
    assert drop_sentences(refused.error, draft) == "Order A-48213 is there. Bye."


def test_a_session_is_stored_with_what_it_heard() -> None:
    gate = session()
    gate.prompt("Refunds take 14 days.")
    again = Session.from_json(gate.to_json(), policy=Policy(mode="sourced"))
    assert again.check("A-48213 for 4: a refund takes 14 days.").message


def test_bare_numbers_and_json_text_are_recorded() -> None:
    gate = Session(mode="sourced")
    gate.record("a", {}, {"total_usd": 12.5, "n": 3})
    gate.record("b", {}, json.dumps({"rows": [{"name": "Ann", "kwh": 7.25}]}))
    gate.record("c", {}, "Gate B12, boarding at 14:05")
    assert gate.check("$12.50 for 3; Ann used 7.25 kWh; gate B12 at 2:05 pm.").message


def test_a_pack_excuses_no_number() -> None:
    """Units of packs and of a project that are digits alone, as ``1``, are no symbol in a text."""
    for gate in (Session(packs=["rates"]), Session(extend_units=["1"])):
        for text in ("Revenue fell by $1.1 million", "1 USD", "1%", "1:1"):
            assert gate.verify(text).status == "error", text


def test_thousands_are_no_decimals_in_arguments() -> None:
    gate = Session(argument_origin="strict")
    gate.user("Pay $1,500 of rent")
    gate.record("pay", {"amount": 1500}, {"done": True})
    with pytest.raises(GLProvenanceError, match="MISSING_ORIGIN"):
        gate.record("pay", {"amount": 1.5}, {"done": True})


@pytest.mark.usefixtures("unmeasured")
def test_calls_cost_the_same_however_many_came_before() -> None:
    """Counted in calls of functions, not in seconds."""

    def steps(calls: int) -> int:
        gate = Session()
        for place in range(calls):
            heat = {"value": 100.25 + place * 0.77, "unit": "kWh"}
            gate.record("use", {"site": "N-4", "heat_kwh": 103.5 + place * 1.37}, {"heat": heat})
        profile = cProfile.Profile()
        with profile:
            for place in range(10):
                gate.tool_arguments("use", {"site": "N-4", "heat_kwh": 703.25 + place * 1.37})
        return sum(entry.callcount for entry in profile.getstats())

    steps(1)  # what is read once is read
    assert steps(800) < 1.3 * steps(200)


def claims_session() -> Session:
    gate = Session()
    gate.record("meter", {}, {"heat": {"value": 12.5, "unit": "kWh"}, "cost": {"value": 3.1, "unit": "EUR"}})
    return gate


def test_a_claim_needs_no_quantity() -> None:
    claim = {"source_call_id": "tc_1", "path": "$.heat"}
    assert claims_session().check("It used {{claim:0}}.", [claim]).message == "It used 12.50 kWh."
    assert claims_session().check("It used {{claim:0}}.", json.dumps([claim])).message == "It used 12.50 kWh."


def test_a_macro_that_names_call_and_path_needs_no_claim() -> None:
    gate = claims_session()
    verified = gate.check("It used {{tc_1.heat}} for {{tc_1.cost}}.")
    assert verified.message == "It used 12.50 kWh for 3.10 EUR."
    assert [entry["path"] for entry in verified.provenance] == ["$.heat", "$.cost"]
    for wrong in ("{{tc_1.gas}}", "{{tc_2.heat}}", "{{tc_1.heat}}5", "{{tc_1.}}", "{{ tc_1.heat }}"):
        assert gate.verify(f"It used {wrong}.").status == "error", wrong


def test_amounts_of_one_key_have_one_scale() -> None:
    gate = Session(mode="sourced")
    gate.record("refunds", {}, [{"amount": 4599, "currency": "usd"}, {"amount": 1250, "currency": "usd"}])
    assert gate.verify("You got $45.99 and $12.50.").status == "success"
    assert gate.verify("You got $45.99 and $1,250.").status == "error"


@pytest.mark.parametrize(
    ("message", "status", "has_no_unit"),
    [
        ("It costs $120.", "success", False),
        ("It costs $1.20.", "success", True),
        ("It costs $12.", "error", None),
    ],
)
def test_beside_a_code_in_small_letters_an_integer_may_be_hundredths(
    message: str, status: str, has_no_unit: bool | None
) -> None:
    gate = Session(mode="sourced")
    gate.record("price", {}, {"price": 120, "currency": "usd"})
    assert gate.verify(message).status == status
    if has_no_unit is not None:
        verdicts = [entry for entry in gate.trace if "NO_UNIT" in str(entry)]
        assert bool(verdicts) == has_no_unit


def test_a_macro_without_a_claim_is_none_of_those_that_need_no_claim() -> None:
    gate = claims_session()
    claim = {"source_call_id": "tc_1", "path": "$.heat"}
    refused = gate.verify("It used {{claim:0}}, or {{claim:1}}, for {{tc_1.cost}}.", [claim])
    assert refused.status == "error" and refused.error.code == "MISSING_CLAIM"


def test_a_structured_answer_is_judged_without_claims() -> None:
    from pydantic import BaseModel

    from gllint_runtime import Claimed, ClaimedText, Quantity, using

    class Answer(BaseModel):
        price: Claimed[Quantity]
        note: ClaimedText

    with using(session()):
        answer = Answer.model_validate(
            {"price": {"value": 49.99, "unit": "USD"}, "note": "Order A-48213, table for 4."}
        )
        assert answer.price.value == 49.99
        for wrong in ({"value": 59.99, "unit": "USD"}, {"value": 49.99, "unit": "EUR"}):
            with pytest.raises(ValueError, match="NO_SOURCE|MISLABELLED"):
                Answer.model_validate({"price": wrong, "note": "ok"})


TRIP = {
    "flight": "BA 117",
    "duration_min": 475,
    "age": "3d4h",
    "log": "HTTP 503 x 214 in 5m, p95=2.41s",
    "memory": "1.9Gi",
}
SALES = {
    "rows": [
        {"region": "North", "q1": 1200.5, "q2": 1340.0},
        {"region": "South", "q1": 980.0, "q2": 1010.25},
    ],
    "unit": "kEUR",
}
DAILY = {
    "daily": {"time": ["2026-03-14", "2026-03-15"], "high": [8.1, 5.9], "rain": [12.4, 0.0]},
    "daily_units": {"high": "°C", "rain": "mm"},
}


@pytest.mark.parametrize(
    ("output", "answer"),
    [
        (TRIP, "BA117 takes 7h 55m (7 h 55 min)."),
        (
            TRIP,
            "It is 3 days 4 hours old; p95 was 2.41 s, with 214 errors in 5 minutes, and 1.9 GiB are in use.",
        ),
        (SALES, "North rose from €1,200.5k to €1,340k (+11.6%); Q2 was €2,350k in total."),
        (
            SALES,
            "| Region | Q2 (k€) |\n|---|---|\n| North | 1,340.0 |\n| South | 1,010.3 |\n| **Total** | **2,350.3** |",
        ),
        (DAILY, "Today reaches 8.1 °C with 12.4 mm; tomorrow is dry with up to 5.9 °C."),
        ({"seats": {"used": 18, "limit": 25}}, "18 of 25 seats are used (72%), so 7 are free."),
        (
            [{"item": "pen", "price": 1.5, "qty": 4}, {"item": "pad", "price": 3.25, "qty": 2}],
            "That is 12.50 in total.",
        ),
        ({"deletions": 87}, "+0 / −87 lines".replace("+0 / ", "")),
        ({"revenue_meur": 812.4, "speed_mb_s": 250}, "Revenue was €812.4 million; it runs at 250 MB/s."),
        ({"size": {"width": 1448, "height": 831}, "unit": "mm"}, "It is 1448 wide and 831 high."),
        ("NAME   READY  AGE\nweb-1  0  5d\nweb-2  1  3h", "web-2 is ready (1); web-1 is not (0)."),
        ({"price": 1199.0, "shipping": 0, "currency": "USD"}, "It costs $1,199 with free shipping."),
        ([{"q": "a", "longest_wait_min": 84}, {"q": "b", "longest_wait_min": 6}], "b: longest wait 6 min."),
        ({"t_2025": 355.1, "t_2024": 379.4, "year": 2025}, "It was 355.1 t in 2025, down from 379.4 t."),
        ({"first": {"now_min": 38, "before_min": 46}}, "The first reply improved from 46 to 38 minutes."),
        ({"breaths_per_min": 14.5}, "You took 14.5 breaths per minute."),
        ({"asset_a": 14.5}, "Asset A is worth 14.5 EUR."),
        ({"weight": "135 lbs"}, "The weight is 135 pounds."),
        (
            [{"made_at": "2026-03-04", "part": "rod"}, {"made_at": "2026-03-11", "part": "cap"}],
            "Parts came on March 4 and on March 11.",
        ),
    ],
)
def test_right_answers_pass(output: Any, answer: str) -> None:
    found = verdicts(output, answer, today=date(2026, 3, 14))
    assert not [one for one in found if one.endswith(("unsourced", "mislabelled"))], found


@pytest.mark.parametrize(
    ("output", "answer"),
    [
        (TRIP, "It takes 7h 45m."),
        (SALES, "North rose from €1,340k to €1,200.5k."),
        (SALES, "South had €1,340k in Q2."),
        (SALES, "North had €1,340M in Q2."),
        (DAILY, "Tomorrow reaches 8.1 °C."),
        (
            {"price": {"value": 749, "unit": "EUR"}, "was": {"value": 849, "unit": "EUR"}},
            "It costs €849, down from €749.",
        ),
        ([{"city": "Oslo", "p": 12.5}, {"city": "Rome", "p": 99.5}], "The lowest is 99.5."),
        (
            [{"shop": "A", "eur": 20.5}, {"shop": "B", "eur": 32.75}],
            "Shop A (€20.50) is €12.25 dearer than shop B (€32.75).",
        ),
        ({"limit_kg": 20, "load_kg": 18.65}, "The load of 18.65 kg is 1.35 kg over the limit of 20 kg."),
        ({"width": 1448, "height": 831, "unit": "mm"}, "It is 831 wide and 1448 high."),
        ({"planned": "08:30", "actual": "08:28"}, "It was 2 minutes late."),
        ({"before": 8.4, "after": 5.6}, "It rose from 8.4 to 5.6."),
        ([{"item": "lamp", "price": "$20"}, {"item": "desk", "price": "$90"}], "The desk costs $20."),
        (
            [{"made_at": "2026-03-04", "part": "rod"}, {"made_at": "2026-03-11", "part": "cap"}],
            "The rod came on March 11.",
        ),
    ],
)
def test_altered_answers_fail(output: Any, answer: str) -> None:
    found = verdicts(output, answer, today=date(2026, 3, 14))
    assert [one for one in found if one.endswith(("unsourced", "mislabelled"))], found


def test_a_range_is_no_number_of_its_digits() -> None:
    gate = Session(mode="sourced")
    gate.prompt("Answer in 1-2 sentences, or call 555-0100.")
    assert gate.verify("Call 5550100.").status == "success"
    assert gate.verify("North sold 12 units.").status == "error"


def test_a_number_that_the_model_passed_counts_where_its_name_is_said() -> None:
    gate = Session(mode="sourced")
    gate.record("names", {"limit": 77, "port": 443}, ["Ada", "Bo"])
    assert gate.verify("The limit is 77, on port 443.").status == "success"
    assert gate.verify("You have 77 customers.").status == "error"


def test_a_number_of_the_prompt_counts_where_its_name_or_unit_is_said() -> None:
    """A long prompt has numbers of every size, and none of them is of the customer's orders."""
    gate = Session(mode="sourced")
    gate.prompt(
        "Answer in at most 14 sentences.\n1. Be kind.\nReturns: 30 days. Escalate after 3 attempts. Call 0800."
    )
    for right in ("In 30 days.", "I answer in 14 sentences.", "After 3 failed attempts.", "Call 0800."):
        assert gate.verify(right).status == "success", right
    for wrong in ("You have 14 orders.", "It weighs 14 kg.", "There are 30 open orders.", "You scored 3."):
        assert gate.verify(wrong).status == "error", wrong


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It has 500 m^2.", [("500", "m2")]),
        ("There are 14 1 bed flats.", [("14", None), ("1", None)]),
        ("It cost **5** dollars.", [("5", "USD")]),
        ("It goes 5 km/h.", [("5", "km/h")]),
    ],
)
def test_the_unit_behind_a_number(text: str, expected: list[tuple[str, str | None]]) -> None:
    readings = Reader().read(text)
    assert [(one.text, one.units[0] if one.units else None) for one in readings] == expected


@pytest.mark.parametrize(
    ("said", "values"),
    [
        ("Three bags.", [3]),
        ("About two hundred and fifty people, or one thousand five hundred.", [250, 1500]),
        ("Twenty-one, a dozen, one of them.", [21, 12]),
        ("Someone, often, a tent.", []),
    ],
)
def test_what_a_user_says_in_words_is_a_number(said: str, values: list[int]) -> None:
    assert [value for _, _, value in spelled_numbers(said)] == values


@pytest.mark.usefixtures("unmeasured")
def test_a_message_costs_the_same_however_many_turns_came_before() -> None:
    """Counted in calls of functions: of sourced numbers, of a derived one, and of one without a source."""

    def steps(turns: int) -> list[int]:
        gate = Session(mode="sourced")
        for turn in range(turns):
            rows = [
                {"site": f"Plant {row}", "energy_kwh": 1000 + turn * 7.25 + row * 1.37} for row in range(5)
            ]
            gate.record("usage", {"page": turn}, {"rows": rows})
        first, second, total = (
            f"{value:.2f}"
            for value in (
                rows[0]["energy_kwh"],
                rows[1]["energy_kwh"],
                sum(float(row["energy_kwh"]) for row in rows),
            )
        )
        counts = []
        for text, status in (
            (f"Plant 0 used {first} kWh and Plant 1 used {second} kWh.", "success"),
            (f"In total the plants used {total} kWh.", "success"),
            ("In total the plants used 8134.77 kWh.", "error"),
        ):
            assert gate.verify(text).status == status, text
            profile = cProfile.Profile()
            with profile:
                gate.verify(text)
            counts.append(sum(entry.callcount for entry in profile.getstats()))
        return counts

    steps(2)  # what is read once is read
    for few, many in zip(steps(80), steps(400), strict=True):
        assert many < 1.3 * few


def test_a_part_of_what_a_key_counts_is_a_percentage_where_the_block_says_so() -> None:
    output = {"null_pct": {"email": 3.2, "phone": 18.6}}
    assert verdicts(output, "Of the phones 18.6% are missing.") == ["18.6 sourced"]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("It was acknowledged after 57 minutes, 12 minutes over.", ["57 sourced", "12 derived"]),
        ("It was acknowledged after 57 minutes, 14 minutes over.", ["57 sourced", "14 unsourced"]),
        ("It was acknowledged after 57 minutes, 12 minutes early.", ["57 sourced", "12 unsourced"]),
        ("The run used 1,085 kWh, 86.8% of what it may.", ["1,085 sourced", "86.8 derived"]),
        ("The run used 1,085 kWh, 83.8% of what it may.", ["1,085 sourced", "83.8 unsourced"]),
    ],
)
def test_a_number_of_the_prompt_with_a_unit_is_put_in_relation(answer: str, expected: list[str]) -> None:
    conversation = Provenance()
    conversation.hear("prompt", "Acknowledge each alarm within 45 minutes. Runs may use 1,250 kWh.")
    conversation.record("tc_1", "look_up", {}, {"acked_after_min": 57, "used_kwh": 1085})
    assert [f"{finding.reading.text} {finding.verdict}" for finding in conversation.judge(answer)] == expected


@pytest.mark.parametrize("digits", ["⑨⑨", "⁹⁹", "₉₉", "㊾", "⒐⒐", "🄂🄂", "🔟", "፱"])
def test_numerals_in_other_forms_have_a_verdict(digits: str) -> None:
    assert verdicts({"heat_kwh": 12.5}, f"Heat: {digits} kWh.") == [f"{digits} unsourced"]


def test_numerals_that_open_a_line_or_are_raised_are_no_amounts() -> None:
    output = {"area_m2": 80}
    assert verdicts(output, "It has 80 m²¹.\n\n¹ As measured.") == ["80 sourced", "¹ exempt"]
    assert verdicts(output, "① Insulate\n② Ventilate") == ["① exempt", "② exempt"]
    assert verdicts(output, "1\ufe0f\u20e3 Insulate\n2\ufe0f\u20e3 Ventilate") == ["1 exempt", "2 exempt"]


@pytest.mark.parametrize("key", ["due", "date", "day"])
def test_a_date_is_of_the_row_that_is_named(key: str) -> None:
    output = [{"name": "Anna", key: "2026-12-01"}, {"name": "Ben", key: "2026-12-09"}]
    assert verdicts(output, "Anna: December 9.") == ["December 9 mislabelled"]
    assert verdicts(output, "Anna: December 1.") == ["December 1 sourced"]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("The end is May 1.", ["May 1 mislabelled"]),
        ("It starts on May 1 and ends on May 9.", ["May 1 sourced", "May 9 sourced"]),
    ],
)
def test_a_date_is_of_the_key_that_is_named(answer: str, expected: list[str]) -> None:
    assert verdicts({"start": "2026-05-01", "end": "2026-05-09"}, answer) == expected


@pytest.mark.parametrize(
    ("value", "answer", "expected"),
    [
        (104, "It has less than 100 GB free.", "100 unsourced"),
        (96, "It has less than 100 GB free.", "100 sourced"),
        (1985, "It has over 2,000 GB free.", "2,000 unsourced"),
        (2015, "It has over 2,000 GB free.", "2,000 sourced"),
        (12.5, "It has no more than 12 GB free.", "12 unsourced"),
        (12.5, "It has no more than 13 GB free.", "13 sourced"),
    ],
)
def test_a_bound_is_on_its_side_of_the_value(value: float, answer: str, expected: str) -> None:
    assert verdicts({"free_gb": value}, answer) == [expected]


@pytest.mark.parametrize(
    ("span", "verdict"), [("45 minutes", "unsourced"), ("105 minutes", "derived"), ("1 h 45 min", "derived")]
)
def test_the_time_between_two_zones_is_by_their_offsets(span: str, verdict: str) -> None:
    flight = {"departs": "2026-12-04T09:05:00+01:00", "arrives": "2026-12-04T09:50:00+00:00"}
    found = verdicts(flight, f"Departure 09:05, arrival 09:50: {span}.")
    assert found[-1].endswith(f" {verdict}")


@pytest.mark.parametrize(
    ("output", "answer", "verdict"),
    [
        ({"seat": "4B"}, "Your seat is 4C.", "unsourced"),
        ({"seat": "4B"}, "It is 4 kWh.", "unsourced"),
        ({"seat": "4B"}, "The debt is 4 billion.", "unsourced"),
        ({"seat": "4B"}, "Your seat is 4B.", "sourced"),
        ({"cap": "4B"}, "The cap is 4 billion.", "sourced"),
        ({"memory": "402M"}, "It uses 402 MB of memory.", "sourced"),
    ],
)
def test_a_letter_behind_digits_is_of_their_size_alone(output: Any, answer: str, verdict: str) -> None:
    [found] = verdicts(output, answer)
    assert found.endswith(f" {verdict}")


def test_a_number_that_a_user_says_hundreds_of_times_hides_no_result() -> None:
    session = Session(mode="sourced")
    session.user("5 " * 400)
    session.record("tickets", {}, {"tickets": 5})
    verdict = session.verify("There are 5 tickets.")
    assert isinstance(verdict, Verified) and verdict.provenance[0]["path"] == "$.tickets"


@pytest.mark.parametrize(
    ("output", "answer", "expected"),
    [
        ({"Heat (kWh)": 12.5}, "Heat: 12.5 kWh.", "12.5 sourced"),
        ({"Heat (kWh)": 12.5}, "Heat: 12.5 MWh.", "12.5 mislabelled"),
        ({"Heat [kWh]": 12_500}, "Heat: 12.5 MWh.", "12.5 sourced"),
        ({"Price ($)": 80}, "Price: 80 EUR.", "80 mislabelled"),
        ("Site,Heat (kWh)\nNord,12.5\n", "Nord: 12.5 MWh.", "12.5 mislabelled"),
    ],
)
def test_a_key_says_its_unit_in_brackets(output: Any, answer: str, expected: str) -> None:
    assert verdicts(output, answer) == [expected]


_MONTHS = [{"year": 2024, "month": 5, "sales": 31}, {"year": 2024, "month": 6, "sales": 37}]
_QUARTERS = [{"year": 2024, "quarter": 3, "sales": 31}, {"year": 2024, "quarter": 4, "sales": 37}]


@pytest.mark.parametrize(
    ("rows", "answer", "expected"),
    [
        (_MONTHS, "In May 2024 sales were 31.", ["May 2024 sourced", "31 sourced"]),
        (_MONTHS, "In May 2024 sales were 37.", ["May 2024 sourced", "37 mislabelled"]),
        (_MONTHS, "In July 2024 sales were 31.", ["July 2024 unsourced", "31 sourced"]),
        (_QUARTERS, "In Q3 2024 sales were 31.", ["Q3 2024 sourced", "31 sourced"]),
        (_QUARTERS, "In Q3 sales were 37.", ["Q3 sourced", "37 mislabelled"]),
        (_QUARTERS, "In Q2 2024 sales were 31.", ["Q2 2024 unsourced", "31 sourced"]),
    ],
)
def test_members_are_the_parts_of_a_date(rows: Any, answer: str, expected: list[str]) -> None:
    assert verdicts(rows, answer) == expected


@pytest.mark.parametrize(
    ("output", "answer", "expected"),
    [
        ({"year": 2024, "months": [{"month": 5}, {"month": 6}]}, "It was in May 2024.", "May 2024 sourced"),
        ({"year": 2024, "months": [{"month": 5}, {"month": 6}]}, "It was in May 2023.", "May 2023 unsourced"),
        ("year,month\n2024,05\n2024,06\n", "It was in May 2024.", "May 2024 sourced"),
        ({"Year": "2024", "Month": "May"}, "It was in May 2024.", "May 2024 sourced"),
        ({"year": 2024, "month": 5, "day": 12}, "It was on May 13, 2024.", "May 13, 2024 unsourced"),
        ({"years": 2024, "months": 5}, "It was in May 2024.", "May 2024 unsourced"),
        ({"fiscal_year": 2024}, "It was in FY24.", "FY24 sourced"),
        ({"fiscal_year": 2024}, "It was in FY25.", "FY25 unsourced"),
        ({"week": 27}, "It was in W27.", "W27 quoted"),
        ({"wins": 27}, "It was in W27.", "W27 unsourced"),
    ],
)
def test_a_date_may_be_in_parts(output: Any, answer: str, expected: str) -> None:
    assert verdicts(output, answer) == [expected]


@pytest.mark.parametrize(
    ("output", "answer", "expected"),
    [
        ({"heart_rate_bpm": 72}, "It is 72 beats per minute.", "72 sourced"),
        ({"heart_rate_bpm": 72}, "It is 72 beats per hour.", "72 mislabelled"),
        ({"speed_rpm": 3000}, "It is 3000 revolutions per minute.", "3000 sourced"),
        ({"speed_rpm": 3000}, "It is 3000 revolutions per second.", "3000 mislabelled"),
    ],
)
def test_a_unit_may_have_a_period_in_its_name(output: Any, answer: str, expected: str) -> None:
    assert verdicts(output, answer) == [expected]


def test_units_that_are_numbers_are_counted_things() -> None:
    rows = [
        {"product": "Lamp", "units": 14, "price_usd": 25},
        {"product": "Chair", "units": 6, "price_usd": 80},
    ]
    assert verdicts(rows, "14 units of Lamp at 25 USD.") == ["14 sourced", "25 sourced"]
    table = "product,units,price_usd\nLamp,14,25\nChair,6,80\n"
    assert verdicts(table, "Lamp costs 80 USD.") == ["80 mislabelled"]


@pytest.mark.parametrize(
    "output",
    [
        "- product: Lamp\n  units: 14\n  price_usd: 25.0\n- product: Chair\n  units: 6\n  price_usd: 80.0\n",
        "product=Lamp units=14 price_usd=25.0\nproduct=Chair units=6 price_usd=80.0\n",
        " product | units | price_usd\n---------+-------+-----------\n Lamp    |    14 |      25.0\n Chair   |     6 |      80.0\n"
        "(2 rows)\n",
        "+---------+-------+-----------+\n| product | units | price_usd |\n+---------+-------+-----------+\n"
        "| Lamp    | 14    | 25.0      |\n| Chair   | 6     | 80.0      |\n+---------+-------+-----------+",
        "<items><item><product>Lamp</product><units>14</units><price_usd>25.0</price_usd></item>"
        "<item><product>Chair</product><units>6</units><price_usd>80.0</price_usd></item></items>",
        "<table><tr><th>product</th><th>units</th><th>price_usd</th></tr><tr><td>Lamp</td><td>14</td><td>25.0</td></tr>"
        "<tr><td>Chair</td><td>6</td><td>80.0</td></tr></table>",
        '<items><item name="Lamp" units="14" price_usd="25"/><item name="Chair" units="6" price_usd="80"/></items>',
        "[Product(name='Lamp', units=14, price_usd=Decimal('25.00')), Product(name='Chair', units=6, price_usd=80.0)]",
        "Name: Lamp\nUnits: 14\nPrice: $25\n---\nName: Chair\nUnits: 6\nPrice: $80",
    ],
    ids=["YAML", "pairs", "psql", "box", "XML", "HTML", "attributes", "Python", "rules"],
)
def test_rows_are_read_in_whatever_form_a_text_has_them(output: str) -> None:
    assert verdicts(output, "Lamp: 14 units at 25 USD.") == ["14 sourced", "25 sourced"]
    assert verdicts(output, "Chair costs 80 USD.") == ["80 sourced"]
    assert verdicts(output, "Lamp: 6 units.") == ["6 mislabelled"]
    assert verdicts(output, "Chair costs 25 USD.") == ["25 mislabelled"]
    assert verdicts(output, "Lamp costs 25 EUR.") == ["25 mislabelled"]


@pytest.mark.parametrize(
    ("output", "answer", "expected"),
    [
        ("Visit(on=datetime.date(2024, 5, 12), rooms=3)", "On May 12, 2024.", "May 12, 2024 sourced"),
        ("{'on': datetime.datetime(2024, 5, 12, 9, 30)}", "On May 13, 2024.", "May 13, 2024 unsourced"),
        ("{'heat_kwh': np.float64(12.5)}", "It used 12.5 MWh.", "12.5 mislabelled"),
        ("{'share': Fraction(3, 4)}", "It is 75 %.", "75 unsourced"),
        ("[Colour(2024, 5, 12)]", "It was on May 12, 2024.", "May 12, 2024 unsourced"),
        (f"[date({10**30}, 1, 1), 7]", "It was 12.5 kWh.", "12.5 unsourced"),
    ],
)
def test_objects_are_read_as_python_shows_them(output: str, answer: str, expected: str) -> None:
    assert verdicts(output, answer) == [expected]


def test_lines_of_prose_are_no_table() -> None:
    lines = "Lamp: 14 units, $25.00\nChair: 6 units, $80.00"
    assert verdicts(lines, "Lamp: 14 units at $25.") == ["14 quoted", "25 quoted"]
    assert verdicts(lines, "Lamp: 6 units.") == ["6 mislabelled"]
    assert verdicts(lines, "Chair costs $25.") == ["25 mislabelled"]
