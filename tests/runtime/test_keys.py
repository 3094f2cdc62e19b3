"""What a name alone says of its number: its unit, its kind, over a table of names as agents write them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gllint_runtime import ToolRegistry
from gllint_runtime.policy import names
from gllint_runtime.policy.data import Survey
from gllint_runtime.policy.kinds import KINDS
from gllint_runtime.policy.names import is_plain, is_unit_itself, mentions_unit, read_name
from gllint_runtime.policy.parameter_units import ParameterUnits, argument_units
from gllint_runtime.policy.settings import Policy
from gllint_runtime.policy.unit_table import units
from gllint_runtime.policy.units import is_allowed, judge_unit, packs_for, unit_dimension

_WORD = re.compile(r"[a-z]+[a-z0-9]*")
_ROOT = Path(__file__).parents[2]


def table() -> list[tuple[str, str | None]]:
    """Each name with its unit or its kind."""
    rows: list[tuple[str, str | None]] = []
    said: str | None = None
    for line in Path(__file__).with_name("keys.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            said = None if line == "[-]" else line[1:-1]
        elif not line.startswith("#"):
            rows += [(key, said) for key in line.split()]
    return rows


KEYS = table()
UNITS = sorted({said for _, said in KEYS if said and said not in KINDS})


@pytest.fixture
def tables_anew() -> None:
    """Nothing that was read before: what a table says is what its file says."""
    for function in vars(names).values():
        if hasattr(function, "cache_clear"):
            function.cache_clear()


@pytest.mark.usefixtures("tables_anew")
def test_what_each_name_says() -> None:
    said = {name: read_name(name) for name, _ in KEYS}
    assert {name: reading.unit or reading.kind for name, reading in said.items()} == dict(KEYS)


def test_the_table_is_large_and_says_nothing_twice() -> None:
    listed = [name for name, _ in KEYS]
    assert len(listed) > 400
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize("unit", UNITS)
def test_a_unit_that_is_named_is_allowed_or_in_a_pack_or_in_the_table(unit: str) -> None:
    packs = packs_for(unit)
    if packs is None:
        assert all(factor in units() for factor in re.findall(r"[^*/]+", unit))
    else:
        assert is_allowed(unit, packs=packs)
        assert not packs or not is_allowed(unit, packs=packs[1:])


# Every word but those that say how much of a unit it is, or that it is another number's.
plain_words = st.sampled_from(
    [
        "annual",
        "site",
        "net",
        "gross",
        "device",
        "floor",
        "heat",
        "average",
        "daily",
        "house",
        "tank",
        "east",
        "new",
    ]
)


@given(st.sampled_from([(name, said) for name, said in KEYS if said in UNITS and "_" in name]), plain_words)
def test_a_word_in_front_never_changes_the_unit(row: tuple[str, str], word: str) -> None:
    name, unit = row
    dimension = unit_dimension(unit or "")
    # Behind a word "pro" is the "per" of German keys.
    is_plain = not name.startswith(("pct", "percent", "pro_"))
    if name == name.lower() and is_plain and dimension not in ("time", "year"):
        assert read_name(f"{word}_{name}").unit == unit


@given(
    st.sampled_from(
        [name for name, _ in KEYS if name == name.lower() and all(map(_WORD.fullmatch, name.split("_")))]
    )
)
def test_camel_case_says_what_snake_case_does_or_less(name: str) -> None:
    first, *others = name.split("_")
    camel, snake = read_name(first + "".join(word.capitalize() for word in others)), read_name(name)
    assert camel.unit in (snake.unit, None)
    assert camel.kind == snake.kind
    dimension = unit_dimension(snake.unit or "") or ""
    # In camel case a single letter, or a word behind a digit (`per1Kwh`), is no unit by itself.
    says_less = re.search(r"_[a-z]\d?(_|$)|\d_", name)
    if camel.unit is None and snake.unit and "/" not in snake.unit and not says_less:
        assert dimension in ("time", "year") or dimension == snake.unit  # a thing that is counted


@given(
    st.text(max_size=300)
    | st.lists(st.sampled_from([*"wmghl_", "per", "_per_", "kwh", "m2", "co2e", "kg", "2", "to"])).map(
        "".join
    )
)
def test_any_text_is_a_name(name: str) -> None:
    reading = read_name(name)
    for unit in reading.readings:
        assert is_allowed(unit, packs=packs_for(unit) or ()) or judge_unit(unit).status != "allowed"
    assert reading.kind in (None, *KINDS)
    assert reading.unit is None or (reading.kind is None and reading.unit == reading.readings[0])
    assert not (reading.factor and reading.readings)


@pytest.mark.parametrize(
    ("name", "readings"),
    [
        ("power_mw", {"MW", "mW"}),
        ("energy_mwh", {"MWh", "mWh"}),
        ("usage_mWh", {"MWh", "mWh"}),
        ("energy_mj", {"MJ", "mJ"}),
        ("voltage_mv", {"mV", "MV"}),
        ("total_co2e", {"gCO2e", "kgCO2e", "tCO2e"}),
        ("rate_usd_kwh", {"USD/kWh", "USD*kWh"}),
        ("read_ms_gb", {"ms/GB", "ms*GB"}),
        ("rain_cm_m2", {"cm/m2", "cm*m2"}),
        ("x_min", set()),
        ("eur_usd", set()),
    ],
)
def test_where_there_are_two_readings_none_is_named(name: str, readings: set[str]) -> None:
    assert set(read_name(name).readings) == readings
    assert read_name(name).unit is None


# What may only contradict another unit: a letter, so much in a time, a word of time where it may be a window.
CONTRADICTING = {
    "power_w": "W", "volume_l": "L", "x_w": "", "speed_m": "", "use_kwh_year": "kWh/year", "flow_kg_day": "kg/day",
    "discharge_m3_s": "m3/s", "sqm_yr": "m2/year", "speed_m_s": "m/s", "load_kwh_h": "kWh/h", "heat_kj_hr": "kJ/h",
    "rate_g_s": "g/s", "x_g_s": "", "flow_s": "", "x_ls": "", "ls": "", "wind_speed_ms": "m/s",
    "run_hours": "h", "trailing_12_months": "", "cents": "cent", "amount_cents": "cent", "pitch_cents": "",
    "fee_pence": "GBP_pence", "amount_milliunits": "milliunit", "cost_micros": "microunit", "ad_micros": "",
    "price_eur_per_mwh": "EUR/MWh EUR/mWh", "price_eur_per_mwh_per_day": "EUR/MWh/day EUR/mWh/day",
    "cost_per_mwh": "", "kg_per_widget": "", "x_per_k": "",
    "pressure_mb": "mbar", "conductivity_ms": "mS",
}  # fmt: skip


@pytest.mark.usefixtures("tables_anew")
def test_what_may_only_contradict() -> None:
    assert {name: " ".join(read_name(name).readings) for name in CONTRADICTING} == CONTRADICTING
    assert {name for name in CONTRADICTING if read_name(name).unit} == set()
    assert read_name("annual_kwh").readings == ("kWh", "kWh/year") and read_name("annual_kwh").unit == "kWh"


@pytest.mark.parametrize(
    ("name", "factor"),
    [
        ("KM_PER_MILE", ("mi", "km")),
        ("KWH_TO_MJ", ("kWh", "MJ")),
        ("SECONDS_PER_HOUR", ("h", "s")),
        ("hours_per_year", ("year", "h")),
        ("lb_to_kg", ("lb", "kg")),
        ("MILE_KM", None),
        ("usd_to_eur", None),
        ("site_to_kwh", None),
    ],
)
def test_a_name_of_two_units_of_one_dimension_is_a_factor(name: str, factor: tuple[str, str] | None) -> None:
    reading = read_name(name)
    assert (reading.factor, reading.unit, reading.readings) == (factor, None, ())


def test_two_dimensions_make_a_rate() -> None:
    said = {"usd_per_kwh": "USD/kWh", "km_per_l": "km/L", "USD_PER_KWH": "USD/kWh", "heat_kwh_m2": "kWh/m2"}
    assert {name: read_name(name).unit for name in said} == said


def test_the_other_keys_of_a_container_settle_two_names() -> None:
    assert read_name("duration_min").unit == "min"
    assert read_name("duration_min", ["duration_max"]) == names.NOTHING
    assert read_name("limit").kind is None and read_name("limit", ["offset"]).kind == "index"


def test_what_a_name_says_needs_no_pint() -> None:
    program = (
        "import sys; from gllint_runtime.policy.names import read_name; "
        "print([read_name(n).unit for n in ('a_kcal_mol', 'took_ms', 'total_therms', 'n')], 'pint' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "['kcal/mol', 'ms', 'therm', None] False\n"


# ---------------------------------------------------------------------------------------------- one reader


def test_no_one_else_reads_the_end_of_a_name() -> None:
    readers = set()
    for folder in ("gllint", "rules", "runtime"):
        for path in (_ROOT / folder).rglob("*.py"):
            text = path.read_text("utf-8")
            if "names.txt" in text or re.search(r"\bunit\.ends\b", text):
                readers.add(path.name)
    # The reader of texts takes some of them for names of units.
    assert readers == {"names.py", "surroundings.py"}


@given(st.sampled_from([name for name, _ in KEYS]))
def test_every_moment_reads_a_name_alike(name: str) -> None:
    reading = read_name(name)
    declared = ParameterUnits({"properties": {name: {"type": "number"}}}).at((name,))
    assert declared.readings == argument_units(name)
    doubtful = {"mWh", "cent", "milliunit", "microunit"}
    assert {unit for unit in reading.readings if unit.partition("/")[0] not in doubtful} <= set(
        declared.readings
    )
    raw = Survey({name: 3}, (), KINDS).raw_numbers
    assert bool(raw) == (reading.kind is None)
    assert Policy(plain_kinds=KINDS).is_plain(name) == (reading.kind is not None)


# --------------------------------------------------------------------------------------------- plain kinds

OUTPUT = {
    "n_rows": 3,
    "found": 4,
    "page": 1,
    "order_id": 7,
    "total_therms": 2.5,
    "sizes": {"row_count": [1, 2], "heat_kwh": 5, "col_count": 2.5, "n_cols": 3.0},
    "query": {"limit": 5, "offset": 10},
    "limit": 5,
}


@pytest.mark.parametrize(
    ("kinds", "raw"),
    [
        ([], 13),
        (
            ["count"],
            [
                "found",
                "page",
                "order_id",
                "total_therms",
                "heat_kwh",
                "col_count",
                "limit",
                "offset",
                "limit",
            ],
        ),
        (["count", "index", "identifier"], ["found", "total_therms", "heat_kwh", "col_count"]),
    ],
)
def test_integral_numbers_of_plain_kinds_are_no_quantities(kinds: list[str], raw: Any) -> None:
    paths = Survey(OUTPUT, (), kinds).raw_numbers
    assert (len(paths) if isinstance(raw, int) else [path[-1] for path in paths]) == raw


def test_plain_kinds_of_a_registry() -> None:
    registry = ToolRegistry(plain_kinds=["count"])
    assert registry.policy.plain_kinds == ("count",)
    with pytest.raises(
        ValueError, match=r"plain_kinds\.0 must be one of count, .*, not 'counts'; did you mean 'count'\?"
    ):
        Policy(plain_kinds=["counts"])
    with pytest.raises(ValueError, match="must be one of count, index, identifier, not 'money'"):
        Policy(plain_kinds=["money"])
    with pytest.raises(TypeError):
        Policy(plain_kinds="count")
    assert is_plain("row_count", (), ["count"]) and not is_plain("row_count", (), ["count"], 2.5)
    assert is_plain("row_count", ["row_*"], (), 2.5)


# Of what, how much, and how often: what is before the unit makes it no unit of the number.
OTHERWISE = (
    "charge_microamp_hours battery_amp_hours energyFullMicrowattHours heating_degree_days torque_newton_meters volt_amps "
    "pascal_seconds area_sq_meters area_square_km volume_cubic_inches cu_yards ton_miles passenger_km light_years "
    "light_seconds light_minutes "
    "board_feet nano_seconds tera_joules imperial_gallons inverse_meters nautical_miles "
    "mio_eur mrd_usd tsd_eur th_eur mia_chf millionen_eur oku_yen cr_inr tkr_sek 10k_usd 100m_usd x1000_usd 1000_kwh "
    "mio_kwh pence_gbp cent_eur paise_inr floor_2_kwh "
    "heat_m2 energy_m2 density_km2 population_km2 co2_km fuel_km intensity_m2 dust_m3 radon_m3 bu_acre co2_kwh ct_kwh "
    "p_kwh mi_kwh rate_kwh emission_factor_kg energy_density_kg dose_kg deaths_km normal_m3 mi_gal "
    "gas_meters smart_meters installed_meters new_meters total_output_meters phd_degrees oven_degrees body_degrees ship_yards credit_hours birth_years "
    "patient_days person_hours lbs_or_kg reciprocal_hz wind_chill_degrees "
    "bio_eur mill_usd tn_usd lac_inr man_jpy ore_sek ore_kwh price_sen_kwh percentage_points"
)


@pytest.mark.parametrize("name", OTHERWISE.split())
def test_a_unit_behind_another_size_or_a_dividend_is_not_the_numbers(name: str) -> None:
    assert read_name(name).readings == ()


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("energy_watt_hours", "Wh"),
        ("solar_watts_m2", "W/m2"),
        ("volume_cubic_feet", "ft3"),
        ("light_kwh", "kWh"),
        ("peak_watts", "W"),
        ("heat_kwh_m2", "kWh/m2"),
        ("emission_intensity_kg_per_kwh", "kg/kWh"),
        ("concentration_g_l", "g/L"),
        ("dose_mg", "mg"),
        ("net_eur", "EUR"),
        ("usage_m3", "m3"),
        ("floor_m2", "m2"),
        ("footprint_m2", "m2"),
        ("footprint_kg", "kg"),
        ("heading_degrees", "deg"),
        ("depth_meters", "m"),
        ("age_years", "year"),
        ("view_degrees", "deg"),
        ("decimal_degrees", "deg"),
        ("altitude_degrees", "deg"),
        # What is a scale of money alone, or a part of it, is a thing elsewhere.
        ("iron_ore_tonnes", "t"),
        ("bio_kwh", "kWh"),
        ("mill_kwh", "kWh"),
        ("power_th_kw", "kW"),
        ("tn_mg_l", "mg/L"),
        ("cr_ppm", "ppm"),
        ("wind_10m_kmh", "km/h"),
        # Where the gas makes one word with its mass, the others keep their case.
        ("t_co2e_per_MWh", "tCO2e/MWh"),
        ("MWhPerKgCo2e", "MWh/kgCO2e"),
        ("MWh_per_co2e_kg", "MWh/kgCO2e"),
    ],
)
def test_what_is_measured_leaves_a_unit_what_it_is(name: str, unit: str) -> None:
    assert read_name(name).unit == unit


def test_an_argument_in_parts_of_a_currency_may_be_in_those_of_each() -> None:
    cents = argument_units("amount_cents")
    assert {"USD_cent", "EUR_cent", "GBP_pence", "INR_paise"} <= {*cents}
    assert "JPY" not in cents and not any(unit.endswith(("_milli", "_micro")) for unit in cents)
    for name, end in (("amount_milliunits", "_milli"), ("cost_micros", "_micro")):
        parts = argument_units(name)
        assert f"USD{end}" in parts and all(unit.endswith(end) for unit in parts)
    assert argument_units("annual_kwh") == ("kWh", "kWh/year")


def test_a_name_of_any_length_is_read_to_its_end_or_not_at_all() -> None:
    longest = f"{'x' * 196}_kwh"
    assert read_name(longest).unit == "kWh" and read_name(f"x{longest}") == names.NOTHING


@pytest.mark.parametrize(
    ("asked", "yes", "no"),
    [
        (
            lambda name: read_name(name).is_scaled,
            "revenue_millions revenue_bn",
            "total users_k pipe_mm revenue_usd _",
        ),
        (is_unit_itself, "KM METERS", "km Km KM_H SIZE"),
        (mentions_unit, "days_back hour_start rating_mva power_w", "mwx speed_m total _"),
    ],
)
def test_what_a_name_is(asked: Any, yes: str, no: str) -> None:
    assert {name for name in yes.split() if not asked(name)} == set()
    assert {name for name in no.split() if asked(name)} == set()


def test_units_that_only_names_say_have_a_dimension() -> None:
    dimensions = {"bbl": "volume", "dBm": "level", "px": "printing", "kWh/m2": "energy/area", "hour": "time"}
    assert {unit: unit_dimension(unit) for unit in dimensions} == dimensions
    assert unit_dimension("widget") is None
