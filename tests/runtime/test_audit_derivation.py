"""What a number follows from: which two make a sum, a difference, a share or a change, and which two prove nothing."""

from __future__ import annotations

from typing import Any

import pytest

from gllint_runtime.audit import derivation
from gllint_runtime.audit.derivation import Derivation, Derivations
from gllint_runtime.audit.sources import Source, Sources
from gllint_runtime.policy.figures import Figure, figures

Basis = tuple[str, float, float]
KWH: list[tuple[Any, ...]] = [(120, "kWh"), (30, "kWh")]


def number(
    value: float, unit: str | None = None, path: str = "$.n", call_id: str = "c1", **more: Any
) -> Source:
    return Source("tool", call_id, "meter", path, value, unit, **more)


def figure(text: str) -> Figure:
    [only] = figures(text)
    return only


def basis(of: Derivation | None) -> Basis | None:
    return None if of is None else (of.operation, of.first.value, of.second.value)


def followed(text: str, *members: tuple[Any, ...]) -> Basis | None:
    """What a number in a text follows from where tools returned some others."""
    derivations = Derivations()
    for member in members:
        derivations.add(number(*member))
    shown = figure(text)
    return basis(derivations.of(shown.readings, shown.units))


@pytest.mark.parametrize(
    ("text", "members", "expected"),
    [
        # In their unit, in another one of its dimension, in none; bare ones in whatever unit is typed.
        ("150 kWh", KWH, ("sum", 120, 30)),
        ("0.15 MWh", KWH, ("sum", 120, 30)),
        ("150", KWH, ("sum", 120, 30)),
        ("150 kWh", [(120,), (30,)], ("sum", 120, 30)),
        ("90 kWh", KWH, ("difference", 120, 30)),
        ("-90 kWh", KWH, ("difference", 30, 120)),
        ("150 s", [(120, "m"), (30, "m")], None),
        ("150 zorks", [(120, "m"), (30, "m")], ("sum", 120, 30)),
        ("150 kWh", [(120, "m"), (30, "m")], None),
        # As it is rounded: up or down where it lies between two.
        ("151 kWh", [(120.5, "kWh"), (30, "kWh")], ("sum", 120.5, 30)),
        ("150 kWh", [(120.5, "kWh"), (30, "kWh")], ("sum", 120.5, 30)),
        ("152 kWh", [(120.5, "kWh"), (30, "kWh")], None),
        ("149 kWh", [(120.5, "kWh"), (30, "kWh")], None),
        ("91 kWh", [(120.5, "kWh"), (30, "kWh")], ("difference", 120.5, 30)),
        ("90 kWh", [(120.5, "kWh"), (30, "kWh")], ("difference", 120.5, 30)),
        ("3234567890 kWh", [(1234567890, "kWh"), (2000000000, "kWh")], ("sum", 2000000000, 1234567890)),
        ("3234567891 kWh", [(1234567890, "kWh"), (2000000000, "kWh")], None),
        ("3234567889", [(1234567890,), (2000000000,)], None),
        # Degrees of two scales are no numbers of one unit.
        ("48 °C", [(20, "degC"), (50, "degF")], None),
        ("30 °C", [(20, "degC"), (50, "degC")], ("difference", 50, 20)),
        # Shares, and changes upwards and downwards.
        ("50 %", [(10, "kWh"), (20, "kWh")], ("share", 10, 20)),
        ("20 %", [(100, "kWh"), (120, "kWh")], ("percentage change", 120, 100)),
        ("20 %", [(100, "kWh"), (80, "kWh")], ("percentage change", 80, 100)),
        ("-20 %", [(100, "kWh"), (80, "kWh")], ("percentage change", 80, 100)),
        ("-20 %", [(100, "kWh"), (120, "kWh")], None),
        ("1 %", [(100, "kWh"), (101, "kWh")], ("percentage change", 101, 100)),
        ("0.500 %", [(1000, "kWh"), (995, "kWh")], ("percentage change", 995, 1000)),
        ("100 %", [(100, "kWh"), (200, "kWh")], None),
        ("0 %", [(5, "kWh", "$.a"), (5, "kWh", "$.b")], None),
        ("0.5", [(5.5,), (11,)], ("share", 5.5, 11)),
        ("0.5", [(3.3,), (6.6,)], ("share", 3.3, 6.6)),
        ("0.50", [(51,), (100,)], None),
        ("0.50", [(49,), (100,)], None),
        ("1.5", [(5.5,), (8.25,)], None),
        ("2.0", [(5.5,), (11,)], None),
        ("0.5 kWh", [(5.5, "kWh"), (11, "kWh")], None),
        # Points of percent are a sum of percentages, not of bare numbers.
        ("30 %", [(10, "%"), (20, "%")], ("sum", 20, 10)),
        ("30 %", [(10,), (20,)], None),
        # A whole number up to twelve is the difference of some two bare ones.
        ("12", [(20.5,), (32.5,)], None),
        ("-12", [(20.5,), (32.5,)], None),
        ("12 kWh", [(20.5,), (32.5,)], None),
        ("12", [(20.5, "kWh"), (32.5, "kWh")], None),
        ("12 kWh", [(20.5, "kWh"), (32.5, "kWh")], ("difference", 32.5, 20.5)),
        ("11.5", [(20.5,), (32,)], ("difference", 32, 20.5)),
        ("13", [(20.5,), (33.5,)], ("difference", 33.5, 20.5)),
        # Bare ones are under one name, or side by side in one output; what is an id is no number.
        ("150", [(120, None, "$.a.x"), (30, None, "$.a.y")], ("sum", 120, 30)),
        ("150", [(120, None, "$.a.x"), (30, None, "$.b.y")], None),
        ("150", [(120, None, "$.a.x"), (30, None, "$.a.y", "c2")], None),
        ("150", [(120, None, "$.a.x"), (30, None, "$.b.x", "c2")], ("sum", 120, 30)),
        ("150", [(120, None, "$.order_id"), (30, None, "$.count")], None),
        ("150 kWh", [(120, "kWh", "$.order_id"), (30, "kWh")], ("sum", 120, 30)),
    ],
)
def test_a_number_follows_from_two(text: str, members: list[Any], expected: Basis | None) -> None:
    assert followed(text, *members) == expected


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("$.rows[3].t", "$.rows[3].t", True),
        ("$.rows[3].legs[0].t", "$.rows[3].legs[1].t", True),
        ("$.rows[3].legs[0].parts[0].t", "$.rows[3].legs[0].parts[1].t", True),
        ("$.rows[3].legs[0].parts[0].t", "$.rows[3].legs[1].parts[0].t", False),
        ("$.rows[3].t", "$.rows[4].t", False),
        ("$.rows[3].legs[0].t", "$.rows[3].legs[1].u", False),
    ],
)
def test_among_many_of_a_name_those_of_one_element_count(first: str, second: str, expected: bool) -> None:
    many = [
        (5000 + 97 * place * place, None, f"$.others[{place}].{end}") for place in range(14) for end in "tu"
    ]
    assert (followed("2103", *many, (1001, None, first), (1102, None, second)) is not None) is expected
    assert followed("2103", *many, (1001, None, first), (1102, None, second, "c2")) is None


def test_no_more_kinds_are_remembered_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        derivation, "_MAX_KINDS", 2
    )  # each of these is of two kinds: its unit's and its output's
    assert followed("150 kWh", *KWH) == ("sum", 120, 30)
    assert followed("150 kWh", *KWH, (5, "m")) is None
    assert followed("12.5 m", *KWH, (5, "m"), (7.5, "m")) == ("sum", 7.5, 5)


def test_of_the_calls_that_ask_the_same_the_latest_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(*questions: str) -> Basis | None:
        derivations = Derivations()
        for place, question in enumerate(questions):
            derivations.hear(f"c{place}", question)
        for place in (0, 1):
            derivations.add(number(60, "kWh", call_id=f"c{place}"))
        shown = figure("120 kWh")
        return basis(derivations.of(shown.readings, shown.units))

    assert asked("a", "a") is None and asked("a", "b") == asked() == ("sum", 60, 60)
    monkeypatch.setattr(derivation, "_MAX_CALLS", 2)
    assert asked("a", "a") is None and asked("a", "a", "c") == ("sum", 60, 60)


def test_what_answers_have_shown_counts_together(monkeypatch: pytest.MonkeyPatch) -> None:
    def mentioned(text: str, *members: Source) -> Basis | None:
        derivations = Derivations()
        for member in members:
            derivations.mention(member)
        shown = figure(text)
        return basis(derivations.of(shown.readings, shown.units))

    a, b, c = (number(value, path=f"$.{value}", call_id=f"c{value}") for value in (120, 30, 70))
    assert mentioned("150", a, b) == ("sum", 120, 30)
    assert mentioned("5", number(3), number(8)) == ("difference", 8, 3)  # a small one, too
    assert mentioned("150 kWh", number(120, "kWh"), number(30, "m")) is None
    assert mentioned("-61 kWh", number(0, "kWh"), number(61, "kWh")) is None
    monkeypatch.setattr(derivation, "_MANY", 2)
    assert mentioned("150", a, a, b) == ("sum", 120, 30)
    assert mentioned("150", a, b, c) == ("sum", 120, 30) and mentioned("190", a, b, c) is None


PRICE = number(466.75, "USD", "$.x.price")


@pytest.mark.parametrize(
    ("text", "shown", "near", "expected"),
    [
        ("14.75 USD", PRICE, (481.5, "USD", "$.y.price"), ("difference", 481.5, 466.75)),
        ("14.75 USD", PRICE, (452, "USD", "$.y.price"), ("difference", 466.75, 452)),
        ("14.75", PRICE, (481.5, "USD", "$.y.price"), ("difference", 481.5, 466.75)),
        ("14.75 EUR", PRICE, (481.5, "USD", "$.y.price"), None),
        ("14.75 USD", PRICE, (481.5, "EUR", "$.y.price"), None),
        ("14.75 USD", PRICE, (481.5, "USD", "$.y.cost"), None),
        ("14.75 USD", PRICE, (481.5, "USD", "$.price[3]"), ("difference", 481.5, 466.75)),
        ("14.75 USD", number(466.75, path="$.x.price"), (481.5, None, "$.y.price"), ("difference", 481.5, 466.75)),
        ("14.75", number(466.75, path="$[0]"), (481.5, None, "$[1]"), None),
        # A small whole number is that of some two.
        ("12 USD", PRICE, (478.75, "USD", "$.y.price"), None),
        ("11.5 USD", PRICE, (478.25, "USD", "$.y.price"), ("difference", 478.25, 466.75)),
        ("13 USD", PRICE, (479.75, "USD", "$.y.price"), ("difference", 479.75, 466.75)),
        # As it is rounded.
        ("15 USD", PRICE, (481.25, "USD", "$.y.price"), ("difference", 481.25, 466.75)),
        ("15 USD", PRICE, (482.25, "USD", "$.y.price"), ("difference", 482.25, 466.75)),
        ("15 USD", PRICE, (481.2, "USD", "$.y.price"), None),
        ("15 USD", PRICE, (482.3, "USD", "$.y.price"), None),
        # Nothing follows from a zero.
        ("14.75 USD", number(0, "USD", "$.x.price"), (14.75, "USD", "$.y.price"), None),
        ("14.75 USD", number(14.75, "USD", "$.x.price"), (0, "USD", "$.y.price"), None),
    ],
)  # fmt: skip
def test_how_far_a_number_is_from_another_one_of_its_name(
    text: str, shown: Source, near: tuple[Any, ...], expected: Basis | None
) -> None:
    sources = Sources()
    sources.add(number(*near))
    sought = figure(text)
    for before in ([shown], [number(3, path="$.other"), shown]):
        assert basis(Derivations().difference(sought.readings, sought.units, before, sources)) == expected
    assert Derivations().difference(sought.readings, sought.units, [], sources) is None
