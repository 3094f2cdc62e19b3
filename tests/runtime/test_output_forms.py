"""The forms in which outputs say what their numbers are: fields in rows, units that are said once, blocks of text."""

from __future__ import annotations

from typing import Any

import pytest

from gllint_runtime.provenance import index
from gllint_runtime.provenance.engine import Provenance
from gllint_runtime.provenance.findings import FAULTS
from gllint_runtime.provenance.stated_units import unit_in


def failing(output: Any, answer: str, arguments: Any = None, **heard: str) -> list[str]:
    """The numbers of an answer that rest on nothing."""
    conversation = Provenance()
    for speaker, text in heard.items():
        conversation.hear(speaker, text)
    conversation.record("tc_1", "look_up", arguments, output)
    return [own.reading.text for own in conversation.judge(answer) if own.verdict in FAULTS]


KPIS = "## Shop report 2026-07\n\n| metric | value |\n|---|---|\n| visits | 1530 |\n| pick_time_s | 402 |\n"
STAYS = (
    "### Stays (prices in EUR)\n\n**Hotel Aurora** – 148.00 / night – rating 8.9 (1,204 reviews)\nBreakfast: 16.00 a day\n"
    "City tax: 2.60\n\n**Lakeside Central Inn** – 119.00 / night – rating 8.1\nBreakfast: included\nCity tax: 3.60\n"
)
VAN = "Vehicle: V-9\nDistance: 215 km\nIdle time: 6.5 h\nPrevious period: 198 km / 58.2 l / idle 9.0 h\nMissing id: 97\n"
METER = {"series": [21840, 24310], "meta": {"status": "ok", "installed_at": 1662214800, "unit": "Wh"}}
BASKET = {
    "currency": "GBP",
    "amountsIn": "minor_units",
    "lines": [{"name": "Rug", "qty": 2, "unitPrice": 8999}],
    "freeOver": 12000,
    "etaDays": [2, 3],
}
NOTES = {"unit_notes": {"load": "fraction", "lag": "ms"}, "now": {"load": 0.612, "lag": 412}}


@pytest.mark.parametrize(
    ("output", "answer", "expected"),
    [
        (KPIS, "In July 2026 it was 6 min 42 s over 1,530 visits.", []),
        (KPIS, "It was 402 minutes.", ["402"]),
        ([{"metric": "lag_ms", "value": 1230}, {"metric": "up_pct", "value": 99.95}], "1.23 s, up 99.95%", []),
        ([{"name": "Wind", "value": 12.4, "unit": "km/h"}, {"name": "Air", "value": 3, "unit": "degC"}],
         "Wind of 12.4 km/h at 3 °C.", []),
        ([{"parameter": "pm25", "value": 12.4, "unit": "µg/m³"}, {"parameter": "no2", "value": 31, "unit": "ppb"}],
         "NO2 is at 31 µg/m³.", ["31"]),
        ("metric,may,june\nbounce_pct,41.2,39.8\nstay_s,95,130\n", "Visitors stayed for 2 min 10 s in June.", []),
        (VAN, "215 km, idle for 6.5 hours (9 before); 97 ids are missing.", []),
        ("# zone=NL unit=EUR/MWh\nhour,price\n12:00,3.40\n13:00,-4.12\n", "−€4.12/MWh at 13:00", []),
        (STAYS, "Hotel Aurora is €148.00 a night, breakfast €16; the Lakeside Inn is rated 8.1, tax €3.60.", []),
        (STAYS, "Hotel Aurora is €119.00 a night. The Lakeside Inn is rated 8.9.", ["119.00", "8.9"]),
        (METER, "21.84 kWh and 24.3 kWh", []),
        (METER, "21.84 MWh", ["21.84"]),
        (BASKET, "£89.99 each for 2, free over £120, in 2 or 3 days", []),
        (BASKET, "free over £12,000", ["12,000"]),
        ({"fee": {"value": 850, "unit": "US cents"}}, "It is $8.50.", []),
        ({"preis": {"spar": 4990, "flex": 11240, "einheit": "cent"}}, "Sparpreis 49,90 €", []),
        (NOTES, "The load is 61.2% (0.612) with a lag of 0.412 s.", []),
        ({"temperature": {"unitCode": "wmoUnit:degC", "value": -12.8}}, "−12.8 °C (9 °F)", []),
        ({"wind": {"unitCode": "wmoUnit:km_h-1", "value": 27.7}}, "about 17 mph", []),
        ({"type": "percentage", "value": "10.0", "amount": "13.90", "currency": "USD"}, "10% off: $13.90", []),
        ({"period_end": 1772186400, "currency": "eur", "current_end": 1772186400}, "It ends on 27 February.", []),
        ({"temperature_unit": "fahrenheit", "temperature_high": 77, "rows": 5}, "77 °F, 5 rows", []),
        ({"ci95AbsoluteDiff": [0.0021, 0.0099]}, "a 95% interval", []),
        ({"value": 12.5, "scale": "decimal"}, "12.5, which is 1250%", ["1250"]),
        ({"position": {"value": 10, "unit": "share"}}, "10 shares, which is 1,000%", ["1,000"]),
    ],
)  # fmt: skip
def test_what_an_output_says_of_its_numbers(output: Any, answer: str, expected: list[str]) -> None:
    assert failing(output, answer) == expected


@pytest.mark.parametrize(
    ("text", "units", "factor"),
    [
        ("kEUR", ("EUR",), 1000.0),
        ("US cents", ("USD",), 0.01),
        ("pence", (), 0.01),
        ("ct/kWh", ("EUR/kWh",), 0.01),
        ("L/100km", ("L/km",), 0.01),
        ("‰", ("%",), 0.1),
        ("thousands", (), 1000.0),
        ("TYPE_SECONDS", ("s",), 1.0),
        ("wmoUnit:percent", ("%",), 1.0),
        ("USD_cent", ("USD_cent",), 1.0),
    ],
)
def test_a_field_about_units(text: str, units: tuple[str, ...], factor: float) -> None:
    known = unit_in(text)
    assert known is not None
    assert (known.units, known.factor) == (units, factor)


@pytest.mark.parametrize("text", ["", "metric", "2026-05-12", "success"])
def test_a_text_that_says_no_unit(text: str) -> None:
    assert unit_in(text) is None


UTC = {"seen_at": "2026-01-08T13:53:00+00:00", "leaves": 1772235600}


@pytest.mark.parametrize(
    ("zone", "prompt", "answer", "expected"),
    [
        ({}, "Denver (America/Denver)", "Seen at 6:53 a.m. MST on January 8, it leaves at 4:40 p.m.", []),
        ({}, "Times are UTC-7.", "Seen at 6:53 a.m.", []),
        ({}, "", "Seen at 6:53 a.m.", ["6:53 a.m."]),
        ({"timezone": "America/Denver"}, "", "Seen at 6:53 a.m. PST.", ["6:53 a.m."]),
        ({"timezone": "America/Denver"}, "", "Seen at 7:53 a.m.", ["7:53 a.m."]),
        ({"timezone": "Asia/Shanghai"}, "", "Seen at 9:53 p.m. CST.", []),
        ({"timezone": "Asia/Shanghai"}, "", "Seen at 9:53 p.m. EST.", ["9:53 p.m."]),
        ({"timezone": "Australia/Brisbane"}, "", "Seen at 11:53 p.m. EST.", []),
        ({"utc_offset_seconds": -25200}, "", "Seen at 6:53 a.m.", []),
        ({"sunrise": "2026-01-08T07:21:00-07:00"}, "", "Seen at 6:53 a.m.", []),
        ({"timezone": "Nowhere/Denver", "offset": 3}, "", "Seen at 6:53 a.m.", ["6:53 a.m."]),
    ],
)  # fmt: skip
def test_times_in_utc_are_shown_in_the_zone_of_the_conversation(
    zone: dict[str, Any], prompt: str, answer: str, expected: list[str]
) -> None:
    assert failing({**UTC, **zone}, answer, prompt=prompt) == expected


@pytest.mark.parametrize(
    ("output", "answer", "expected"),
    [
        ({"held_h": 21.45}, "held for about 21 and a half hours", []),
        ({"held_h": 21.9}, "held for about 21 and a half hours", ["21"]),
        ({"duree_min": 150}, "Cela dure 2 heures et demie.", []),
        ({"took_s": 870, "next_s": 810}, "They took 14:30 and 13:30.", []),
        ({"l_per_100km": 7.4, "kwh_100km": 18.2}, "7.4 l/100 km or 18.2 kWh per 100 km", []),
        ({"l_per_100km": 7.4}, "7.4 l/km", ["7.4"]),
        ({"result": 6.19}, "about 6.2 l/100 km", []),
        ({"preis_ct_kwh": "33,40"}, "33,40 ct/kWh (0,334 €/kWh)", []),
        ({"fin": "2026-09-18T06:00:00+02:00"}, "jusqu'au vendredi 18 septembre à 6 h.", []),
        ({"fin": "2026-09-18T06:00:00", "emis": "2026-09-16T16:00:00", "h": 16}, "vendredi 18 septembre à 16 h", ["16"]),
        ({"ends": "2026-01-16T18:00:00-06:00"}, "Get in before 6, or wait.", []),
        ({"ends": "2026-01-16T18:00:00-06:00"}, "Get in before 7, or wait.", ["7"]),
        ({"eta": "2026-03-24"}, "prévu le mardi 24", []),
        ({"eta": "2026-03-24"}, "prévu le lundi 24", ["24"]),
        ({"low": "2026-08-22 15:02"}, "Low water is around 3 p.m.", []),
        ({"low": "2026-08-22 15:32"}, "Low water is around 3 p.m.", ["3 p.m."]),
        ({"closes": "2026-08-22 15:08"}, "It closes before 3 p.m.", ["3 p.m."]),
        ({"rate": 0.0019}, "The 5xx rate is 0.19% over a 30-day month.", []),
    ],
)  # fmt: skip
def test_lengths_of_time_and_parts_of_dates(output: Any, answer: str, expected: list[str]) -> None:
    assert failing(output, answer) == expected


def test_a_time_of_utc_is_placed_in_a_zone_once(monkeypatch: pytest.MonkeyPatch) -> None:
    placed = []
    monkeypatch.setattr(index, "local_time", lambda moment, zone: placed.append(moment))
    conversation = Provenance()
    for number in range(20):
        rows = [{"at": f"2026-01-{number + 1:02}T{hour:02}:15:00Z", "kwh": hour} for hour in range(10)]
        conversation.record(f"tc_{number}", "meter", {}, {"timezone": "America/Denver", "rows": rows})
        conversation.judge("It was read at 3:15 p.m.")
    assert len(placed) == 200
