"""What a key says of its number: its unit and its kind, over a table of keys as agents write them."""

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
from gllint_runtime.policy import key_kinds, key_units, name_units
from gllint_runtime.policy.data import Survey
from gllint_runtime.policy.key_kinds import deciding_kind, is_plain, kind_of_name
from gllint_runtime.policy.key_units import (
    announced_dimension,
    announced_units,
    is_scaled,
    is_unit_word,
    readings_of_name,
    unit_of_name,
)
from gllint_runtime.policy.name_units import (
    all_readings_of_name,
    argument_readings_of_name,
    is_unit_itself,
    mentions_unit,
)
from gllint_runtime.policy.number_kinds import KINDS
from gllint_runtime.policy.settings import Policy
from gllint_runtime.policy.units import is_allowed, judge_unit, packs_for

_WORD = re.compile(r"[a-z]+[a-z0-9]*")


def table() -> list[tuple[str, str | None, str | None]]:
    """Each key with its kind and its unit."""
    rows: list[tuple[str, str | None, str | None]] = []
    kind = unit = "-"
    for line in Path(__file__).with_name("keys.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            kind, unit = line[1:-1].split(" ")
        elif not line.startswith("#"):
            rows += [
                (key, None if kind == "-" else kind, None if unit == "-" else unit) for key in line.split()
            ]
    return rows


KEYS = table()
UNITS = sorted({unit for _, _, unit in KEYS if unit})


@pytest.fixture
def tables_anew() -> None:
    """Nothing that was read before: what a table says is what its file says."""
    for module in (key_units, key_kinds, name_units):
        for function in vars(module).values():
            if hasattr(function, "cache_clear"):
                function.cache_clear()


@pytest.mark.usefixtures("tables_anew")
def test_what_each_key_announces() -> None:
    assert {name: (kind_of_name(name), unit_of_name(name)) for name, _, _ in KEYS} == {
        name: (kind, unit) for name, kind, unit in KEYS
    }


def test_the_table_is_large_and_says_nothing_twice() -> None:
    names = [name for name, _, _ in KEYS]
    assert len(names) > 400
    assert len(names) == len(set(names))


@pytest.mark.parametrize("unit", [*UNITS, None])
def test_the_unit_that_a_key_announces(unit: str | None) -> None:
    keys = [name for name, _, named in KEYS if named == unit]
    assert {name: unit_of_name(name) for name in keys} == dict.fromkeys(keys, unit)


@pytest.mark.parametrize("kind", [*KINDS, None])
def test_the_kind_that_a_key_announces(kind: str | None) -> None:
    keys = [name for name, told, _ in KEYS if told == kind]
    assert {name: kind_of_name(name) for name in keys} == dict.fromkeys(keys, kind)


@pytest.mark.parametrize("unit", UNITS)
def test_a_unit_that_is_named_is_allowed_or_in_a_pack_or_known_to_pint(unit: str) -> None:
    packs = packs_for(unit)
    if packs is None:
        assert judge_unit(unit).status == "not-allowed"
        assert all(announced_dimension(factor) is not None for factor in re.findall(r"[^*/]+", unit))
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
        "old",
    ]
)


@given(st.sampled_from([(name, unit) for name, _, unit in KEYS if unit and "_" in name]), plain_words)
def test_a_word_in_front_never_changes_the_unit(row: tuple[str, str], word: str) -> None:
    name, unit = row
    if name == name.lower() and not name.startswith(("pct", "percent")):
        assert unit_of_name(f"{word}_{name}") == unit


@given(
    st.sampled_from(
        [name for name, _, _ in KEYS if name == name.lower() and all(map(_WORD.fullmatch, name.split("_")))]
    )
)
def test_camel_case_and_snake_case_agree(name: str) -> None:
    first, *others = name.split("_")
    if re.search(r"_[a-z]_[a-z](_|$)", name):
        return  # "GL" is no two words
    camel = first + "".join(word.capitalize() for word in others)
    assert readings_of_name(camel) == readings_of_name(name)
    assert kind_of_name(camel) == kind_of_name(name)


@given(
    st.text(max_size=300)
    | st.lists(st.sampled_from([*"wmghl_", "per", "_per_", "kwh", "m2", "co2e", "kg", "2"])).map("".join)
)
def test_any_text_is_a_key(name: str) -> None:
    for unit in readings_of_name(name):
        assert is_allowed(unit, packs=packs_for(unit) or ()) or judge_unit(unit).status != "allowed"
    assert kind_of_name(name) in (None, *KINDS)


@pytest.mark.parametrize(
    ("name", "readings"),
    [
        ("power_mw", {"MW", "mW"}),
        ("energy_mwh", {"MWh", "mWh"}),
        ("energy_mj", {"MJ", "mJ"}),
        ("voltage_mv", {"mV", "MV"}),
        ("total_co2e", {"gCO2e", "kgCO2e", "tCO2e"}),
        ("use_kwh_year", set()),
        ("flow_kg_day", set()),
        ("rate_usd_kwh", {"USD/kWh", "USD*kWh"}),
        ("temp_c", set()),
        ("x_min", set()),
        ("speed_m_s", {"m/s", "m*s"}),
        ("read_ms_gb", {"ms/GB", "ms*GB"}),
        ("rain_cm_m2", {"cm/m2", "cm*m2"}),
    ],
)
def test_where_there_are_two_readings_none_is_named(name: str, readings: set[str]) -> None:
    assert set(readings_of_name(name)) == readings
    assert unit_of_name(name) is None


def test_what_a_key_says_needs_no_pint() -> None:
    program = (
        "import sys; from gllint_runtime.policy.key_kinds import kind_of_name; "
        "print([kind_of_name(n) for n in ('a_kcal_mol', 'x_ms', 'total_therms', 'n')], 'pint' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "['measure', 'time', 'measure', 'count'] False\n"


# --------------------------------------------------------------------------------------------- plain kinds

OUTPUT = {
    "n_rows": 3,
    "found": 4,
    "page": 1,
    "order_id": 7,
    "total_therms": 2.5,
    "sizes": {"row_counts": [1, 2], "heat_kwh": 5},
}


@pytest.mark.parametrize(
    ("kinds", "raw"),
    [
        ([], ["n_rows", "found", "page", "order_id", "total_therms", 0, 1, "heat_kwh"]),
        (["count"], ["found", "page", "order_id", "total_therms", "heat_kwh"]),
        (["count", "index", "identifier"], ["found", "total_therms", "heat_kwh"]),
        (["measure"], ["n_rows", "found", "page", "order_id", 0, 1]),
    ],
)
def test_numbers_of_plain_kinds_are_no_quantities(kinds: list[str], raw: list[Any]) -> None:
    assert [path[-1] for path in Survey(OUTPUT, (), kinds).raw_numbers] == raw
    assert all(
        is_plain(key, (), kinds) == (key not in raw) for key in ("n_rows", "found", "page", "order_id")
    )


def test_plain_kinds_of_a_registry() -> None:
    registry = ToolRegistry(plain_kinds=["count"])
    assert registry.policy.plain_kinds == ("count",)
    with pytest.raises(
        ValueError, match=r"plain_kinds\.0 must be one of measure, .*, not 'counts'; did you mean 'count'\?"
    ):
        Policy(plain_kinds=["counts"])
    with pytest.raises(TypeError):
        Policy(plain_kinds="count")


TOGETHER = (
    "charge_microamp_hours battery_amp_hours energyFullMicrowattHours heating_degree_days torque_newton_meters volt_amps "
    "pascal_seconds area_sq_meters area_square_km volume_cubic_inches cu_yards ton_miles passenger_km light_years "
    "board_feet nano_seconds tera_joules imperial_gallons inverse_meters nautical_miles"
)


@pytest.mark.parametrize("name", TOGETHER.split())
def test_words_that_are_a_unit_only_together_say_none(name: str) -> None:
    assert readings_of_name(name) == ()


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("clockHz", "Hz"),
        ("estClockHz", "Hz"),
        ("tankWh", "Wh"),
        ("energykWh", "kWh"),
        ("backupkWh", "kWh"),
        ("energy_watt_hours", "Wh"),
        ("solar_watts_m2", "W/m2"),
        ("volume_cubic_feet", "ft3"),
        ("gpu_hours", "h"),
        ("peak_watts", "W"),
    ],
)
def test_words_beside_a_unit_leave_it_what_it_is(name: str, unit: str) -> None:
    assert unit_of_name(name) == unit


# Of what, how much, and how often: what stands before the unit makes it no unit of the number.
OTHERWISE = (
    "mio_eur mrd_usd tsd_eur th_eur mia_chf millionen_eur oku_yen cr_inr tkr_sek 10k_usd 100m_usd x1000_usd 1000_kwh "
    "mio_kwh pence_gbp cent_eur paise_inr "
    "heat_m2 energy_m2 density_km2 population_km2 co2_km fuel_km intensity_m2 dust_m3 radon_m3 bu_acre co2_kwh ct_kwh "
    "p_kwh mi_kwh rate_kwh emission_factor_kg energy_density_kg dose_kg deaths_km normal_m3 mi_gal "
    "gas_meters smart_meters installed_meters phd_degrees oven_degrees body_degrees ship_yards credit_hours birth_years "
    "patient_days person_hours wind_10m_ms lbs_or_kg reciprocal_hz wind_chill_degrees "
    "bio_eur mill_usd tn_usd lac_inr man_jpy ore_sek ore_kwh price_sen_kwh"
)


@pytest.mark.parametrize("name", OTHERWISE.split())
def test_a_unit_behind_another_size_or_a_dividend_is_not_the_numbers(name: str) -> None:
    assert readings_of_name(name) == ()


@pytest.mark.parametrize(
    ("name", "unit"),
    [
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
        ("request_10m_ms", "ms"),
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
        # Where the gas makes one word with its mass, the others keep their case.
        ("t_co2e_per_MWh", "tCO2e/MWh"),
        ("MWhPerKgCo2e", "MWh/kgCO2e"),
        ("MWh_per_co2e_kg", "MWh/kgCO2e"),
    ],
)
def test_what_is_measured_leaves_a_unit_what_it_is(name: str, unit: str) -> None:
    assert unit_of_name(name) == unit


def test_a_page_of_memory_is_no_count() -> None:
    assert kind_of_name("page_size") == "count"
    assert kind_of_name("memory_page_size") is None


# ------------------------------------------------------------------------------- what a name may mean besides

# The first reading of each is what a repair may write, where there is one; the others may only contradict a unit.
MEANINGS = {
    "": "",
    "total": "",
    "SIZE": "",
    "mb": "MB",
    "annual_kwh": "kWh kWh/year",
    "daily_energy_kwh": "kWh kWh/day",
    "monthly_daily_kwh": "kWh kWh/month kWh/day",
    "annual_usd_per_kwh": "USD/kWh",
    "usage_mWh": "mWh MWh",
    "lbs_per_mWh": "lb/mWh lb/MWh",
    "rate_mWh_per_m2": "mWh/m2 MWh/m2",
    # A letter, where a word of the name says what is measured.
    "power_w": "W",
    "temp_c": "degC",
    "x_w": "",
    "speed_m": "",
    "volt_v_per_s": "V/s",
    "x_per_k": "",
    # So much in a time.
    "discharge_m3_s": "m3/s",
    "sqm_yr": "m2/year",
    "water_m2_year": "m2/year",
    "speed_m_s": "m/s m*s",
    "read_ms_gb": "ms/GB ms*GB",
    "area_m2_kj": "m2/kJ m2*kJ",
    "load_kwh_h": "kWh/h kWh*h",
    "heat_kj_hr": "kJ/h",
    "rate_g_s": "g/s",
    "x_g_s": "",
    "in2_year": "",
    "torque_erg_h_h": "",
    "flow_s": "",
    "flow_ls": "L/s",
    "x_ls": "",
    "flow_h_ls": "",
    "ls": "",
    "wind_speed_ms": "m/s ms",
    # A quotient whose divisor has two readings, or none.
    "price_eur_per_mwh": "EUR/MWh EUR/mWh",
    "price_eur_per_mwh_per_day": "EUR/MWh/day EUR/mWh/day",
    "rate_btu_per_kn": "BTU/kN BTU/knot",
    "cost_per_mwh": "",
    "kg_per_widget": "",
    # Parts of a currency that the name leaves open.
    "cents": "cent",
    "amount_cents": "cent",
    "pitch_cents": "",
    "fee_pence": "GBP_pence",
    "amount_milliunits": "milliunit",
    "cost_micros": "microunit",
    "ad_micros": "",
}


@pytest.mark.usefixtures("tables_anew")
def test_everything_that_a_name_may_mean() -> None:
    assert {name: " ".join(all_readings_of_name(name)) for name in MEANINGS} == MEANINGS


@pytest.mark.usefixtures("tables_anew")
def test_an_argument_in_parts_of_a_currency_may_be_in_those_of_each() -> None:
    cents = argument_readings_of_name("amount_cents")
    assert {"USD_cent", "EUR_cent", "GBP_pence", "INR_paise"} <= {*cents}
    assert "JPY" not in cents and not any(unit.endswith(("_milli", "_micro")) for unit in cents)
    for name, end in (("amount_milliunits", "_milli"), ("cost_micros", "_micro")):
        parts = argument_readings_of_name(name)
        assert f"USD{end}" in parts and all(unit.endswith(end) for unit in parts)
    assert argument_readings_of_name("annual_kwh") == ("kWh", "kWh/year")


def test_a_name_of_any_length_is_read_to_its_end_or_not_at_all() -> None:
    longest = f"{'x' * 196}_kwh"
    assert unit_of_name(longest) == "kWh" and unit_of_name(f"x{longest}") is None
    longest = f"power_{'x' * 192}_w"
    assert all_readings_of_name(longest) == ("W",) and all_readings_of_name(f"x_{longest}") == ()


@pytest.mark.parametrize(
    ("asked", "yes", "no"),
    [
        (is_scaled, "revenue_millions revenue_bn net_income_mm", "total users_k pipe_mm revenue_usd _"),
        (is_unit_word, "mb hours pu", "house w _"),
        (is_unit_itself, "KM METERS", "km Km KM_H SIZE"),
        (mentions_unit, "days_back hour_start rating_mva day", "mva speed_m total _"),
    ],
)
def test_what_a_name_is(asked: Any, yes: str, no: str) -> None:
    assert [asked(name) for name in yes.split()] == [True] * len(yes.split())
    assert [asked(name) for name in no.split()] == [False] * len(no.split())


def test_units_that_only_names_announce_have_a_dimension() -> None:
    assert announced_units() == {"bbl", "cL", "dBm", "px", "pixel"}
    dimensions = {"bbl": "volume", "dBm": "level", "px": "printing", "kWh/m2": "energy/area", "hour": "time"}
    assert {unit: announced_dimension(unit) for unit in dimensions} == dimensions
    assert announced_dimension("widget") is None


def test_an_end_that_decides_goes_before_what_an_expression_shows() -> None:
    decided = {"row_id": "identifier", "ids": "identifier", "cost_code": "identifier", "way_km": "measure"}
    assert {name: deciding_kind(name) for name in decided} == decided
    assert deciding_kind("row_count") is None and deciding_kind("") is None and deciding_kind("7") is None
