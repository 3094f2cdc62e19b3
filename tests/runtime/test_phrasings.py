"""Natural phrasings next to macros, as a model writes them: what agrees with the claim passes, what does not is rejected.

``\\n`` is a line end. The macros are the short form, ``{heat}`` for ``{{tc_1.heat}}``.
"""

from __future__ import annotations

import re

import pytest

from gllint_runtime import Session

OUTPUT = {
    "heat": {"value": 12.5, "unit": "kWh"},
    "cool": {"value": 8.25, "unit": "kWh"},
    "power": {"value": 3.5, "unit": "kW"},
    "yearly": {"value": 1250.5, "unit": "kWh/year"},
    "density": {"value": 48.2, "unit": "kWh/m2"},
    "area": {"value": 125.5, "unit": "m2"},
    "price": {"value": 29, "unit": "USD"},
    "fare": {"value": 118.4, "unit": "EUR"},
    "tariff": {"value": 0.31, "unit": "EUR/kWh"},
    "share": {"value": 42.5, "unit": "%"},
    "temp": {"value": 18.2, "unit": "degC"},
    "loss": {"value": -4.5, "unit": "%"},
    "mass": {"value": 72.4, "unit": "kg"},
    "emission": {"value": 9.1, "unit": "kgCO2e"},
    "trip": {"value": 5.5, "unit": "h"},
    "rows": {"value": 3, "unit": "count"},
    "count": 7,
}

PASSES = """
The house used {heat} of heat.
It uses {heat} kWh a day.
The plan costs {price} USD.
Your balance is {fare}.
- **Basic** – {price}
- **Pro** — {price}/month
**Total** – {fare}
- **Heat:** {heat}
Basic plan - {price} per month
{price}/month, billed monthly.
The room is {fare} per night.
The room is {fare}/night.
That is {fare} a night for two guests.
It costs {price} per user.
{price} per seat per month
It draws {heat} per day.
The meter shows {yearly} per year.
The meter shows {yearly}/year.
The meter shows {yearly}.
Between {cool} and {heat}.
The range is {cool}–{heat}.
The range is {cool}-{heat}.
The range is {cool} to {heat}.
We found {rows} rows.
We found {rows} matching orders.
There are {count} open tickets.
{count} orders are late.
{rows} of {count} orders are late.
The share is {share}.
The share is {share} %.
{share} of the rooms are warm.
Cooler by {temp}? No, it is {temp} today.
It is {temp} °C outside.
It is {temp} in Oslo.
Sales fell by {loss}.
A change of {loss} since May.
It weighs {mass} kg.
(That is {mass}.)
It emits {emission} of CO2e.
It emits about {emission} a year.
Roughly {heat}, more than {cool}.
The trip takes {trip}.
The trip takes {trip} h.
The tariff is {tariff} per kWh.
The tariff is {tariff}.
| Item | Heat |\\n|---|---|\\n| Roof | {heat} |
| Item | Heat (kWh) |\\n|---|---|\\n| Roof | {heat} |
| Item | Price (USD) |\\n|---|---|\\n| Basic | {price} |
| Item | Rows |\\n|---|---|\\n| A | {rows} |
Heat (kWh): {heat}
Temp (°C): {temp}
Heat per m2: {density}
## Costs in USD\\n\\n- Basic: {price}
<table><tr><th>Heat (kWh)</th></tr><tr><td>{heat}</td></tr></table>
<dl><dt>Heat</dt><dd>{heat}</dd></dl>
1. Insulate the roof: {heat}\\n2. Replace the boiler: {cool}
Heat: `{heat}`; power: `{power}`.
Die Miete kostet {fare} pro Nacht.
Der Verbrauch liegt bei {heat}.
La chambre coûte {fare} par nuit.
"""

REJECTED = """
Heat (MWh): {heat}
Heat in MWh: {heat}
| Item | Heat (MWh) |\\n|---|---|\\n| Roof | {heat} |
| Item | Price (k$) |\\n|---|---|\\n| Basic | {price} |
| Item | Price (EUR) |\\n|---|---|\\n| Basic | {price} |
| Item | Revenue ($M) |\\n|---|---|\\n| Basic | {price} |
Revenue ($M): {price}
Revenue in thousands: {price}
All figures in millions.\\n\\nRevenue: {price}
All amounts are in EUR.\\n\\nRevenue: {price}
Heat per m2: {heat}
Temp (°F): {temp}
It is {temp} °F outside.
It uses {heat} MWh.
It uses {heat}k.
It uses {heat} per m2.
It uses {heat}/m2.
The tariff is {price} per kWh.
It draws {power} per hour.
It draws {power}h.
The meter shows {yearly} per month.
The meter shows {yearly}/month.
It emits -{emission}.
It emits minus {emission}.
It emits minus about {emission}.
The price is ${price}.
The price is €{price}.
The price is {price} EUR.
The price is {price} million.
It costs half of {price}.
It costs twice {price}.
{heat} doubled.
The {heat} was doubled.
Rows: {rows} %
We found {rows} kWh.
We found {rows} million rows.
| Item | Heat (kWh) |\\n|---|---|\\n| Roof | {rows} |
Heat in kWh: {rows}
It weighs {mass}0.
It weighs 5{mass}.
"""


def written(block: str) -> list[str]:
    return [line.replace("\\n", "\n") for line in block.strip().split("\n")]


@pytest.fixture(scope="module")
def session() -> Session:
    session = Session(packs=["time", "counts"])
    session.record("meter", {}, OUTPUT)
    return session


def is_shown(session: Session, message: str) -> bool:
    text = re.sub(r"\{(\w+)\}", r"{{tc_1.\1}}", message)
    return session.verify(text, []).status == "success"


@pytest.mark.parametrize("message", written(PASSES))
def test_what_agrees_passes(session: Session, message: str) -> None:
    assert is_shown(session, message)


@pytest.mark.parametrize("message", written(REJECTED))
def test_what_does_not_is_rejected(session: Session, message: str) -> None:
    assert not is_shown(session, message)
