"""The numbers that a user and tools bring: where each stands, in which unit, and what a call says back is none."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from gllint_runtime.audit import sources
from gllint_runtime.audit.contexts import ALL, MOMENTS, is_within, places
from gllint_runtime.audit.sources import (
    Echo,
    Source,
    Sources,
    echo_of,
    exact,
    name_of,
    nearest_float,
    physical_size,
    sources_of_output,
    sources_of_text,
    unit_of_text,
    units_of_key,
)

Leaf = tuple[str, float, str | None]


def source(value: float, unit: str | None = None, kind: Any = "tool", **more: Any) -> Source:
    return Source(kind, "c1", "meter", "$.n", value, unit, **more)


def leaves(value: Any, echo: Echo | None = None) -> list[Leaf]:
    return [
        (one.path, one.value, one.unit)
        for one, word in sources_of_output("c1", "meter", value, echo)
        if not word
    ]


def words(value: Any) -> list[str]:
    return [word for _, word in sources_of_output("c1", "meter", value) if word]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (5, [("$", 5, None)]),
        ({"a": 5, "b": [6.5, True, None, "x"]}, [("$.a", 5, None), ("$.b[0]", 6.5, None)]),
        (
            {"n": 10**400, "m": float("nan"), "i": float("inf"), "j": 2**1023, "k": 2**1022},
            [("$.k", 2**1022, None)],
        ),
        # A Quantity has one path; with anything beside, its members have one each.
        ({"value": 5, "unit": "kilowatt hours"}, [("$", 5, "kWh")]),
        ({"value": 5, "unit": 6}, [("$.value", 5, None), ("$.unit", 6, None)]),
        ({"value": "5", "unit": "kWh"}, [("$.value", 5, None)]),
        ({"value": 5, "unit": "kWh", "n": 6}, [("$.value", 5, "kWh"), ("$.n", 6, None)]),
        ({"n": 5, "uom": "zorks"}, [("$.n", 5, "zorks")]),
        ({"n": 5, "m": 6, "uom": "kWh"}, [("$.n", 5, None), ("$.m", 6, None)]),
        ({"total": 5, "m": 6, "UOM": "kWh"}, [("$.total", 5, "kWh"), ("$.m", 6, None)]),
        ({"n": 5, "uom": ""}, [("$.n", 5, None)]),
        ({"n": 5, "uom": "k" * 60}, [("$.n", 5, "k" * 60)]),
        ({"n": 5, "uom": "k" * 61}, [("$.n", 5, None)]),
        ({"heat": 5, "light": 6, "heat_unit": "kWh"}, [("$.heat", 5, "kWh"), ("$.light", 6, None)]),
        ({"heat_value": 5, "x": 6, "heat_units": "kWh"}, [("$.heat_value", 5, "kWh"), ("$.x", 6, None)]),
        ({"Fee_amount": 5, "x": 6, "fee_currency": "EUR"}, [("$.Fee_amount", 5, "EUR"), ("$.x", 6, None)]),
        ({5: 6, "unit": "kWh"}, [("$.5", 5, None), ("$.5", 6, "kWh")]),
        # What a list holds has the unit of the list's own; what the key says counts where nothing stands beside.
        ({"heat_kwh": [5, 6]}, [("$.heat_kwh[0]", 5, "kWh"), ("$.heat_kwh[1]", 6, "kWh")]),
        ({"heat_kwh": 5, "unit": "MWh"}, [("$.heat_kwh", 5, "MWh")]),
        ({"site7": "x"}, []),
        # JSON in a text is read as its value, whatever stands around it.
        ('{"a": {"value": 5, "unit": "kWh"}}', [("$.a", 5, "kWh")]),
        (
            'Of 4: [{"a": 5}] and {"b": 6} or 7',
            [("$", 4, None), ("$[0].a", 5, None), ("$.b", 6, None), ("$", 7, None)],
        ),
        ('{"a": "[{\\"b\\": 5}]"}', [("$.a[0].b", 5, None)]),
        ('[ {"a": 5', [("$", 5, None)]),
        ({"unit": "kWh", "n": '{"a": 5}'}, [("$.n.a", 5, None)]),
        # Numbers of texts, those in columns, too; dates are told, versions and names are none.
        ("12 340 kWh", [("$", 12340, "kWh"), ("$", 12, None), ("$", 340, None)]),
        ("On 14 May at v2.1.0 it was 5", [("$", 14, None), ("$", 5, None)]),
        ("gift_card_6276644", [("$", 6276644, None)]),
        ({"n": "5", "unit": "kWh"}, [("$.n", 5, None)]),
        ("0.1", [("$", 0.1, None)]),
        ("9" * 400, []),
        ("", []),
    ],
)
def test_an_output_brings_numbers(value: Any, expected: list[Leaf]) -> None:
    assert leaves(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("HAT136 and 1234 and 12345 and a-b and x1-y2", ["HAT136", "12345", "x1-y2"]),
        ("x" * 119 + "1", ["x" * 119 + "1"]),
        ("x" * 120 + "1", []),
        ({"4K": 5}, ["4K"]),
        (5, []),
    ],
)
def test_an_output_brings_words_that_hold_digits(value: Any, expected: list[str]) -> None:
    assert words(value) == expected


def test_a_number_that_may_be_a_moment_is_told() -> None:
    hits = [
        (one.value, one.is_date)
        for one, word in sources_of_text("On 14 May at 10:30, 5 of them.", "user", 3)
        if not word
    ]
    assert hits == [(14, True), (5, False)]
    [one] = [one for one, word in sources_of_text("It is 5 kWh.", "user", 3) if not word]
    assert one == Source("said", "", "user", "user[3]", 5, "kWh", "5")


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("", ((None, False),)),
        ("heat", ((None, False),)),
        ("heat_kwh", (("kWh", False),)),
        ("temp_c", (("degC", False),)),
    ],
)
def test_a_key_says_its_unit(key: str, expected: Any) -> None:
    assert units_of_key(key) == expected


def test_a_key_may_leave_its_unit_open() -> None:
    assert {is_open for _, is_open in units_of_key("power_mw")} == {True} and len(
        units_of_key("power_mw")
    ) == 2
    assert [one.to_dict()["unit"] for one, _ in sources_of_output("c", "t", {"power_mw": 5})] == [None, None]


def test_so_many_readings_count_as_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "_MAX_LEAVES", 4)  # the object, and two for what may be in two units
    assert [path for path, *_ in leaves({"power_mw": 5, "n": 6, "m": 7})] == [
        "$.power_mw",
        "$.power_mw",
        "$.n",
    ]
    assert [path for path, *_ in leaves({"heat_kwh": 5, "n": 6, "m": 7})] == ["$.heat_kwh", "$.n", "$.m"]


@pytest.mark.parametrize(
    ("path", "name"), [((), ""), (("a",), "a"), (("a", 3), "a"), ((3,), ""), (("a", "b", 0, 1), "b")]
)
def test_a_leaf_has_the_name_of_its_member(path: Any, name: str) -> None:
    assert name_of(path) == name


@pytest.mark.parametrize(
    ("arguments", "value", "expected"),
    [
        ({"n": 5}, {"n": 5, "m": 5}, [("$.m", 5, None)]),
        ({"n": 5}, {"m": {"n": [5, 6]}}, [("$.m.n[1]", 6, None)]),
        ({"n": 5}, 5, []),
        ({"n": 5}, [5], []),
        ({"n": 5}, {"a": {"b": [5]}}, []),
        ({"n": 5}, {"a": {"b": [[5]]}}, [("$.a.b[0][0]", 5, None)]),
        ({"n": 5}, {"value": 5, "unit": "kWh"}, []),
        ({"n": 5}, [5, 5], [("$[0]", 5, None), ("$[1]", 5, None)]),
        ({"n": "5"}, {"n": " 5 "}, []),
        ({"n": "5"}, " 5 ", []),
        ({"n": "5 %"}, {"n": "5 %"}, []),
        ({"n": 5}, {"n": True}, []),
        ({"n": 1}, {"n": True, "m": 1}, [("$.m", 1, None)]),
        ({"a": "site 5"}, "for site 5: 6", [("$", 6, None)]),
        ({"a": "site 5", "b": "of site 5"}, "of site 5 or site 5: 6", [("$", 6, None)]),
        ({"a": " site 5 "}, {"x": "site 5"}, []),
        (
            {"a": "site 5"},
            "site 55, website 5, site 5.5",
            [("$", 55, None), ("$", 5, None), ("$", 5.5, None)],
        ),
        ({"a": "5 kWh"}, "4.5 kWh", [("$", 4.5, "kWh")]),
        ({"a": "site"}, "site 5", [("$", 5, None)]),
        ('{"n": 5}', {"n": 5}, []),
        ("site 5", "site 5", []),
        (None, 5, [("$", 5, None)]),
        ([5], 5, []),
    ],
)
def test_what_a_call_was_told_is_no_number_of_its_output(
    arguments: Any, value: Any, expected: list[Leaf]
) -> None:
    assert leaves(value, echo_of(arguments)) == expected


def test_a_word_that_a_call_was_told_is_one_of_its_output() -> None:
    hits = sources_of_output("c1", "meter", "HAT136 has 5", echo_of({"flight": "HAT136", "n": "of 6"}))
    assert [(word, one.value) for one, word in hits] == [("HAT136", 0), ("", 5)]


def test_so_much_of_a_call_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "_MAX_ECHOED", 3)
    assert echo_of([31, 32, 33]).numbers == {("", 31), ("", 32)}
    monkeypatch.setattr(sources, "_MAX_ECHOED", 100)
    monkeypatch.setattr(sources, "_MAX_ECHOED_LETTERS", 20)
    assert {*echo_of(["site 31 so", "site 32 as"]).texts} == {"site 31 so", "site 32 as"}
    assert echo_of(["site 31 so", "site 32 as ", "site 33"]).texts == ("site 31 so",)
    monkeypatch.setattr(sources, "_MAX_SENTENCES", 2)
    assert echo_of(["a 1", "bcd 2", "bc 3"]).texts == ("bcd 2", "bc 3")
    assert echo_of(5) == Echo(frozenset({("", 5)}))


def test_so_many_texts_that_are_no_json_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "_MOST_NOT_JSON", 2)
    assert leaves('{" [{"a": 5}]') == [("$[0].a", 5, None)]
    assert leaves('[{" [{"a": 5}]') == [("$", 5, None)]
    monkeypatch.setattr(sources, "_MAX_TEXT", 12)
    assert leaves({"x": '[{"a": 55}]', "y": 6}) == [("$.x[0].a", 55, None), ("$.y", 6, None)]
    assert leaves('[{"aa": 555}]') == []


def test_numbers_are_found_by_value_and_by_unit() -> None:
    known = Sources()
    many = [source(value, "kWh") for value in (5, 3, 5.5, 3000)] + [
        source(3),
        source(45, "Ml/d"),
        source(3, "MWh"),
    ]
    for one in (*many, many[0], source(3, kind="said"), source(3, is_date=True)):
        known.add(one)
    assert [one.value for one in known.by_value(3, 5)] == [3, 3, 3, 3, 3, 5]
    assert [one.unit for one in known.by_value(3, 3)] == ["kWh", None, "MWh", None, None]
    assert [(one.value, one.unit) for one in known.by_dimension("energy", 3e6, 3e6)] == [
        (3000, "kWh"),
        (3, "MWh"),
    ]
    assert [*known.by_dimension("mass", 0, 9e9)] == [] and [*known.by_value(6, 7)] == []
    size = physical_size("Ml/d")
    assert size is not None and known.has_foreign_units
    at = nearest_float(exact(45) * size.factor)
    assert [one.value for one in known.by_physics(size, at, at)] == [45]
    volume = physical_size("m3")
    assert volume is not None and [*known.by_physics(volume, 0, 9e9)] == []
    bare = Sources()
    for one in (source(3, "zorks"), source(3, "Ml/d", kind="said"), source(3, "kWh"), source(3)):
        bare.add(one)
    assert not bare.has_foreign_units
    for place in range(200):  # new ones, few and many at a time
        bare.add(source(1000 + place % 7 + place / 1000))
        if place in (10, 20, 199):
            found = [one.value for one in bare.by_value(1000, 2000)]
            assert found == sorted(found) and len(found) == place + 1


def test_the_oldest_half_is_forgotten_and_words_are_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "_MAX_SOURCES", 4)
    monkeypatch.setattr(sources, "_MAX_WORDS", 2)
    known = Sources()
    for value in (1, 2, 2, 3, 4, 4):
        known.add(source(value, "kWh"))
    known.add_word("A1", source(0))
    known.add_word("B2", source(0))
    assert not known.has_forgotten
    known.add(source(5, "kWh"))
    assert known.has_forgotten and [one.value for one in known.by_value(0, 9)] == [3, 4, 5]
    assert [one.value for one in known.by_dimension("energy", 0, 9e9)] == [3, 4, 5]
    full = Sources()
    for word in ("A1", "a1", "B2", "C3"):
        full.add_word(word, source(0, text=word))
    assert full.has_forgotten and full.word("C3") is None
    first = full.word("a1")
    assert first is not None and first.text == "A1" and full.has_word("b2") and not full.has_word("x-b2")


def test_a_unit_is_written_as_the_tables_have_it() -> None:
    assert [unit_of_text(text) for text in (" kwh ", "kilowatt hours", " zorks ")] == ["kWh", "kWh", "zorks"]
    assert physical_size("zorks") is None and physical_size("1") is None
    assert nearest_float(exact(10**400)) == float("inf") and nearest_float(-exact(10**400)) == float("-inf")
    assert exact(0.1) * 10 == 1


def test_moments_and_orders_stand_apart() -> None:
    text = "2. On 14 May 2024 at 10:30, v2.1.0 of ISO 50001-2."
    spans = places(text)
    assert all(before < start for (_, before), (start, _) in pairwise(spans)) and spans[0] == (0, 2)
    moments = [text[start:end] for start, end in places(text, MOMENTS)]
    assert "14 May 2024" in moments and "10:30" in moments and "ISO 50001-2" not in moments and len(ALL) == 4
    assert places("May 3, 2024 10:30 pm or 5") == [(0, len("May 3, 2024")), (12, 20)]
    assert places("none") == []


@pytest.mark.parametrize(
    ("place", "inside"), [(0, False), (2, True), (4, True), (5, False), (7, False), (8, True), (9, False)]
)
def test_a_place_is_within_a_span(place: int, inside: bool) -> None:
    assert is_within(place, [(2, 5), (8, 9)]) is inside
    assert not is_within(place, [])


def test_a_text_of_json_is_no_longer_than_what_is_read() -> None:
    assert leaves(json.dumps({"a": [1.5, 2.5]})) == [("$.a[0]", 1.5, None), ("$.a[1]", 2.5, None)]
