"""How people write units: what may be suggested, what the help says, and that it always means the same."""

from __future__ import annotations

import itertools
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gllint_runtime import GLError, GLValidationError, Quantity, Session, UnitRegistry
from gllint_runtime.policy.data_files import lines, sections
from gllint_runtime.policy.packs import PACKS
from gllint_runtime.policy.unit_expressions import factors_of
from gllint_runtime.policy.unit_spellings import (
    Spelling,
    as_listed,
    divisor_of_time,
    emissions_at,
    plain_spelling,
    readings_of,
    spelling_of,
    unit_names,
)
from gllint_runtime.policy.unit_table import pack_units
from gllint_runtime.policy.units import (
    ALLOWED_UNITS,
    TIME_UNITS,
    UnitVerdict,
    is_allowed,
    judge_unit,
    packs_for,
    unit_help,
)

TABLE = Path(__file__).with_name("spellings.txt")
ROW = re.compile(r"(?P<written>.+?) (?P<kind>=>|=|-) (?P<answer>.+)")


def rows() -> list[tuple[str, str, str]]:
    found = []
    for line in lines(str(TABLE)):
        row = ROW.fullmatch(line)
        assert row is not None, line
        found.append((row["written"].replace("~", " "), row["kind"], row["answer"]))
    return found


def allowing(unit: str) -> str:
    packs = packs_for(unit)
    return f"unit-packs = {json.dumps([*packs])}" if packs else f"extend-units = {json.dumps([unit])}"


def help_of(verdict: UnitVerdict) -> str:
    return unit_help(verdict, verdict.nearest is not None and is_allowed(verdict.nearest), allowing)


@pytest.mark.parametrize(("written", "kind", "answer"), rows(), ids=[ascii(row[0]) for row in rows()])
def test_how_people_write_units(written: str, kind: str, answer: str) -> None:
    verdict = judge_unit(written)
    match kind:
        case "=":
            assert (verdict.status, verdict.symbol, verdict.nearest) == ("allowed", answer, None)
        case "=>":
            assert verdict.status != "allowed"
            assert verdict.nearest == answer and f"`{answer}`" in help_of(verdict)
        case _:
            assert verdict.status != "allowed"
            assert verdict.nearest is None and answer in help_of(verdict)


def test_the_table_is_large_and_says_each_thing_once() -> None:
    written = [row[0] for row in rows()]
    assert len(written) == len(set(written)) >= 400


def test_a_placeholder_is_never_to_be_allowed() -> None:
    for text in sections("spellings.txt")["placeholders"]["texts"].split(", "):
        advice = help_of(judge_unit(text))
        assert "extend-units" not in advice and "unit-packs" not in advice


READINGS = {
    "": [],
    "㎡": ["m2"],
    "KG": ["kg"],
    "Cm2": ["cm2"],
    "M2": ["m2"],
    "mw": ["MW", "mW"],
    "1/h": ["1/h"],
    "1": [],
    "a": [],  # a year only below a bar
    "kWh/a": ["kWh/year"],
    "mW*mw": ["mW*MW", "mW^2"],
    "mw/mj": ["MW/MJ", "MW/mJ", "mW/MJ", "mW/mJ"],
    "kWh/m2*K": ["kWh/m2/K", "kWh*K/m2"],
    "((((m))))": ["m"],
    "(((((m)))))": [],
    "1" + "/s" * 11: ["1/s^11"],
    "1" + "/s" * 12: [],
    "m" + "*m" * 11: ["m^12"],
    "m" + "*m" * 12: [],
    f"kilowatt{'-' * 187}hours": ["kWh"],
    f"kilowatt{'-' * 188}hours": [],
}


def test_every_reading_of_a_text() -> None:
    assert {text: readings_of(text) for text in READINGS} == READINGS


def test_no_text_is_read_that_is_longer_than_any_unit() -> None:
    longest = f"kilowatt{'-' * 187}hours"
    assert spelling_of(longest).meant == "kWh"
    assert spelling_of(f"{longest}s") == Spelling() == spelling_of("")
    assert plain_spelling("²" * 200) == "2" * 200 and plain_spelling("²" * 201) == "²" * 201


def test_a_text_that_differs_in_case_alone_may_be_mended_without_a_question() -> None:
    texts = ("l", "gw", "KWH", "kg CO2e", "€", "kgs", "kWh.")
    meant = {text: judge_unit(text).spelling for text in texts}
    assert all(spelling.meant for spelling in meant.values())
    assert [text for text, spelling in meant.items() if spelling.in_case_only] == [
        "l",
        "gw",
        "KWH",
        "kg CO2e",
        "kWh.",
    ]
    assert not judge_unit("tco2").spelling.in_case_only  # `tCO2` is another thing


def test_what_is_no_unit_of_the_tables_but_of_pint_is_not_called_unknown() -> None:
    assert help_of(judge_unit("m·kPas")).startswith("Allow it with")


def test_a_plural_of_units_of_a_project() -> None:
    assert judge_unit("trees", extend=["tree"]).nearest == "tree"
    assert judge_unit("tokens", extend=["token"]).nearest == "token"
    verdict = judge_unit("trees", extend=["Tree", "tree"])
    assert verdict.nearest is None and "`Tree` and as `tree`" in help_of(verdict)


def test_a_unit_of_the_allowlist_is_itself_whatever_a_project_lists() -> None:
    assert as_listed("m²", ["m²"]) == "m2" and as_listed("µblob/m²", ["µblob"]) == "µblob/m2"


@pytest.mark.parametrize(
    ("text", "at", "unit"),
    [
        ("12 tonnes of CO2e in all", 3, ("tCO2e", 17)),
        ("3 kg CO2-eq in all", 2, ("kgCO2e", 11)),
        ("tCO₂e", 0, ("tCO2e", 5)),
        ("12 tonnes of coal", 3, None),
        ("12 tonnes of CO2e", 0, None),
    ],
)
def test_emissions_in_a_text(text: str, at: int, unit: tuple[str, int] | None) -> None:
    assert emissions_at(text, at) == unit


def test_a_letter_below_a_bar_is_a_time() -> None:
    assert {word: divisor_of_time(word) for word in "adyh"} == {
        "a": "year",
        "d": "day",
        "y": "year",
        "h": None,
    }


# ------------------------------------------------------------------------------- pint says that it is the same


@cache
def pint_units() -> Any:
    """pint's own units with ours that it lacks; the years and the temperatures of the two are the same."""
    import pint

    registry: Any = pint.UnitRegistry(cache_folder=None)
    for kind in ("USD", "EUR", "GBP", "INR", "CNY", "JPY", "CHF"):
        registry.define(f"{kind} = [currency_{kind}]")
    for line in ("gCO2e = [emissions]", "kgCO2e = 1000 * gCO2e", "tCO2e = 1000 * kgCO2e"):
        registry.define(line)
    return registry


OTHERWISE_IN_PINT = {"pct", "US$"}  # picocarats; microseconds
IN_PINT = {"%": "percent", "C": "degC", "F": "degF"}


def size(unit: str) -> tuple[str, float] | None:
    """The dimension and size that pint gives an expression, ``None`` where it has none."""
    registry = pint_units()
    total = registry.Quantity(1)
    for name, power in factors_of(unit):
        word = IN_PINT.get(name, name)
        base = re.fullmatch(r"(m|km|ft)([23])", word)
        word, power = (base[1], int(base[2]) * power) if base else (word, power)
        try:
            one = registry.Quantity(1, registry.parse_units(word))
            if not re.match(r"\[temp", str(one.dimensionality)):
                one = one.to_base_units()
            total = total * one**power
        except Exception:
            return None
    return str(total.dimensionality), float(total.magnitude)


def test_what_is_suggested_is_of_the_same_size_in_pint() -> None:
    compared = 0
    for written, kind, _ in rows():
        verdict = judge_unit(written)
        meant = verdict.nearest if kind == "=>" else verdict.symbol if kind == "=" else None
        of_written = size(written)
        if meant is None or of_written is None or written in OTHERWISE_IN_PINT:
            continue
        of_meant = size(meant)
        if of_meant is not None:
            assert of_meant[0] == of_written[0], (written, meant)
            assert of_meant[1] == pytest.approx(of_written[1], rel=1e-12), (written, meant)
            compared += 1
    assert compared >= 60


SYMBOLS = sorted({*ALLOWED_UNITS, *TIME_UNITS, *pack_units(PACKS)})
PREFIXES = ["", "", "", "k", "M", "m", "G", "T", "u", "n", "p", "c", "h", "d"]


@st.composite
def words(draw: Any) -> str:
    word = draw(st.sampled_from(PREFIXES)) + draw(st.sampled_from(SYMBOLS))
    return "".join(draw(st.sampled_from([char, char.lower(), char.upper()])) for char in word)


def names_of(word: str) -> set[str]:
    """The units that are written like a word in one case or another, by pint's names or, where it has none, ours."""
    others = sections("spellings.txt")["pint"]
    found = set()
    for letters in itertools.product(*({char.lower(), char.upper()} for char in word)):
        form = "".join(letters)
        if form in ALLOWED_UNITS or form in TIME_UNITS or form in pack_units(PACKS):
            named = others.get(form)
            found.add(named or name_in_pint(form) or f"-{form}")
        if (name := name_in_pint(form)) is not None:
            found.add(name)
    return found


@cache
def name_in_pint(word: str) -> str | None:
    try:
        return str(pint_units().parse_units(word)) if re.fullmatch(r"[A-Za-z]\w*", word) else None
    except Exception:
        return None


def test_no_name_is_another_unit_in_pint() -> None:
    for name, unit in unit_names().items():
        of_name, of_unit = size(name), size(unit)
        if of_name is not None and of_unit is not None and name.upper() not in {"PCT", "US$"}:
            assert of_name[0] == of_unit[0] and of_name[1] == pytest.approx(of_unit[1], rel=1e-12), name


@settings(max_examples=400, deadline=None)
@given(words().filter(lambda word: len(word) <= 6 and re.fullmatch(r"[A-Za-z]+", word) is not None))
def test_a_word_is_mended_only_where_it_is_one_unit_in_any_case(word: str) -> None:
    verdict = judge_unit(word)
    is_exact = word in SYMBOLS or name_in_pint(word) is not None
    is_name = word.lower() in {"mins", "secs", "yrs", "hrs", "kgs", "kms", "tons"}
    if verdict.nearest is not None and not is_exact and not is_name:
        assert len(names_of(word)) <= 1, (word, verdict.nearest)


@settings(max_examples=300, deadline=None)
@given(st.lists(words(), min_size=1, max_size=3), st.sampled_from(["/", "*", " ", "·", " per ", "-", "_"]))
def test_what_is_suggested_is_right_itself(parts: list[str], joint: str) -> None:
    written = joint.join(parts)
    verdict = judge_unit(written)
    assert help_of(verdict) if verdict.status != "allowed" else verdict.nearest is None
    if verdict.nearest is not None:
        assert verdict.nearest != written
        assert is_allowed(verdict.nearest, packs=PACKS)
        assert judge_unit(verdict.nearest, packs=PACKS).nearest is None
        before, after = size(written), size(verdict.nearest)
        if before is not None and after is not None:
            assert before[0] == after[0] and before[1] == pytest.approx(after[1], rel=1e-12)


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=40) | st.text(alphabet="kWhm2/()*·^- perCO₂e°³", max_size=40))
def test_no_text_is_too_odd(text: str) -> None:
    verdict = judge_unit(text)
    assert verdict.status == "allowed" or help_of(verdict)


# ------------------------------------------------------------------------------------ the same at execution


@pytest.mark.parametrize(
    ("written", "claimed", "shown"),
    [
        ("m³", "m3", "m3"),
        ("m3", "m³", "m3"),
        ("°C", "degC", "degC"),
        ("℃", "°C", "degC"),
        ("kWh/m²", "kWh/m2", "kWh/m2"),
        ("％", "%", "%"),
        ("kgCO₂e", "kgCO2e", "kgCO2e"),
        ("\u03bcg", "\u00b5g", "\u00b5g"),
        ("\u00b5g", "\u03bcg", "\u00b5g"),
        ("\u2126", "\u03a9", "Ω"),
    ],
)
def test_a_claim_is_shown_as_the_allowlist_writes_it(written: str, claimed: str, shown: str) -> None:
    session = Session(packs=["si", "electrical"])
    call = session.record("probe", {}, {"size": {"value": 20, "unit": written}})
    claim = {"source_call_id": call, "path": "$.size", "quantity": {"value": 20, "unit": claimed}}
    assert session.check("It is {{claim:0}}.", [claim]).message == f"It is 20.00 {shown}."
    again = Session.from_json(session.to_json(), policy=session.policy)
    assert again.check("It is {{claim:0}}.", [claim]).message == f"It is 20.00 {shown}."


def test_a_project_may_list_a_unit_in_either_spelling() -> None:
    units = UnitRegistry(["\u00b5mol/m²"])
    assert units.is_allowed("\u03bcmol/m2") and units.symbol("\u03bcmol/m2") == "\u00b5mol/m²"
    assert units.same_quantity(Quantity(1, "m³"), Quantity(1000, "L"))
    assert units.convert_to(Quantity(1, "m³"), "m3") == Quantity(1, "m3")
    assert units.normalize(Quantity(1, "km²"))[1] == "m2"


def test_a_tool_in_pence_is_not_told_of_pounds() -> None:
    with pytest.raises(GLValidationError) as caught:
        Session().record("quote", {}, {"price": {"value": 4082, "unit": "GBp"}})
    assert "pence, a hundredth of `GBP`" in caught.value.hint and "Did you mean" not in caught.value.hint


def test_what_is_scored_is_told_from_a_length_of_typographers() -> None:
    with pytest.raises(GLValidationError) as caught:
        Session().record("match", {}, {"score": {"value": 90, "unit": "points"}})
    assert "what is scored is in `point`, a unit of the pack `counts`" in (caught.value.hint or "")


@pytest.mark.parametrize("unit", ["grains", "grain", "Grains", "grains/m³", "kWh/cycle", "stones", "bars"])
def test_what_may_be_things_that_are_counted_is_read_as_no_unit(unit: str) -> None:
    verdict = judge_unit(unit, packs=PACKS)
    assert verdict.status != "allowed" and (verdict.dimension, verdict.nearest) == (None, None)
    assert "a thing that is counted" in verdict.spelling.remark
    word = verdict.spelling.remark.split('extend-units = ["')[1].split('"')[0]
    assert judge_unit(unit, packs=PACKS, extend=[word]).status == "allowed"


def test_a_claim_in_another_unit_is_told_what_is_meant() -> None:
    session = Session()
    call = session.record("meter", {}, {"heat": {"value": 3, "unit": "kWh"}})
    claim = {"source_call_id": call, "path": "$.heat", "quantity": {"value": 3, "unit": "kwh"}}
    with pytest.raises(GLError) as caught:
        session.check("{{claim:0}}", [claim])
    assert "Did you mean `kWh`?" in (caught.value.hint or "")
