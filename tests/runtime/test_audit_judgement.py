"""What each number of an answer rests on: the cases beside the usual ones, a row for each."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gllint_runtime import audit_run
from gllint_runtime.audit import answers, judgement
from gllint_runtime.audit.judgement import Listener
from gllint_runtime.audit.turns import Called, Returned, Said, Turn

LETTERS = {"sourced": "S", "quoted": "Q", "derived": "D", "mislabelled": "M", "unsourced": "U", "exempt": "E"}


def numbers(answer: str, *values: Any, asked: str = "Well?") -> list[dict[str, Any]]:
    run: list[dict[str, Any]] = [{"role": "user", "content": asked}]
    for place, value in enumerate(values):
        call = {"id": f"c{place}", "function": {"name": f"tool_{place}", "arguments": "{}"}}
        run.append({"role": "assistant", "content": None, "tool_calls": [call]})
        content = value if isinstance(value, str) else json.dumps(value)
        run.append({"role": "tool", "tool_call_id": f"c{place}", "content": content})
    return audit_run([*run, {"role": "assistant", "content": answer}]).numbers


def letters(answer: str, *values: Any, asked: str = "Well?") -> str:
    return "".join(LETTERS[one["verdict"]] for one in numbers(answer, *values, asked=asked))


def quantity(value: float, unit: str) -> dict[str, Any]:
    return {"n": {"value": value, "unit": unit}}


@pytest.mark.parametrize(
    ("answer", "value", "expected"),
    [
        # A sign of thousands that is glued to a number hides no unit.
        ("It cost 10k EUR.", "It cost 10k USD.", "M"),
        ("It cost 10k USD.", "It cost 10k USD.", "Q"),
        ("It has 4K.", {"resolution": "4K"}, "E"),
        ("It has 1080p.", {"resolution": "1080p"}, "Q"),
        ("It has 1080p.", {"resolution": "1081p"}, "U"),
        # A unit that is made of others is what physics makes of it; of two that have a name each is its own.
        ("It is 5 A.", quantity(5, "W/V"), "S"),
        ("It is 5 W.", quantity(5, "VA"), "M"),
        # A rate is an amount of its period where the text names that; a price is one by itself.
        ("It came to 560.8 m.", quantity(560.8, "m/s"), "M"),
        ("It came to 560.8 m, at 4.25 m/s.", quantity(560.8, "m/s"), "MU"),
        ("It used 12.34 kWh.", quantity(12.34, "kWh/day"), "M"),
        ("Each day it used 12.34 kWh.", quantity(12.34, "kWh/day"), "S"),
        ("| Yearly use |\n|---|\n| 12.34 kWh |", quantity(12.34, "kWh/year"), "S"),
        ("The rent is $12.34.", quantity(12.34, "USD/month"), "S"),
        ("It came to 553.39 km/h.", quantity(553.39, "km"), "M"),
        ("It used 12.34 kWh per day.", {"daily_use": {"value": 12.34, "unit": "kWh"}}, "S"),
        # A letter behind a large number in a text is a unit, and no seat.
        ("The tank has 4892 km.", "tank: 4892 W", "M"),
        # What is bare is in any unit; in percent it is a share.
        ("It is 25 %.", {"n": 0.25}, "S"),
        ("It is 25 %.", {"n": 0.255}, "S"),
        ("It is 25 %.", {"n": 0.256}, "U"),
        ("It is 25 %.", quantity(0.25, "1"), "S"),
        ("It is 25 %.", quantity(0.25, "kWh"), "U"),
        ("It is 0.25 %.", quantity(25, "%"), "M"),
        # A day of a date is a number where an ending says so; a year is one always.
        ("By the 14th.", "14 May 2024", "S"),
        ("There are 14.", "14 May 2024", "U"),
        ("On 14 kWh.", "14 May 2024", "U"),
        ("There are 2024.", "14 May 2024", "S"),
        # What goes down may leave its sign to words of its own sentence, before it and behind it.
        ("It fell by 5 kWh.", quantity(-5, "kWh"), "S"),
        ("Fell by 5 kWh.", quantity(-5, "kWh"), "S"),
        ("It was 5 kWh lower.", quantity(-5, "kWh"), "S"),
        ("It fell. Then 5 kWh came.", quantity(-5, "kWh"), "M"),
        ("It was 5 kWh. Then it fell. Then it rose.", quantity(-5, "kWh"), "M"),
        ("It fell by 5.", {"n": -5}, "S"),
        ("It fell by 5 %.", {"n_pct": -4.6}, "S"),
        ("It fell by 5.", {"n": -4.5}, "U"),
        ("It fell by 50.", {"n": -49.6}, "S"),
        ("It fell by 5 kWh.", quantity(-4.6, "kWh"), "S"),
        # Of one digit a name is what shows the number. Half a step is within it, whatever floating point makes of it; nothing but zero is zero.
        ("The n is 0.3.", {"n": 0.35}, "S"),
        ("The n is 0.4.", {"n": 0.35}, "S"),
        ("It is 2.68 kWh.", quantity(2.675, "kWh"), "S"),
        ("The n is 0.3.", {"n": 0.35000000000000003}, "S"),
        ("The n is 0.3.", {"n": 0.350001}, "U"),
        ("It is 4 kWh.", quantity(4500.000000001, "Wh"), "S"),
        ("It is 4 kWh.", quantity(4500.01, "Wh"), "U"),
        # Long numbers are equal to their last digit.
        ("It is 9523456874.", {"id": "9523456873"}, "U"),
        ("It is 9523456874.", {"n": 9523456873}, "U"),
        ("It is 9523456873.", {"n": 9523456873}, "S"),
        ("It is 9523456874 kWh.", quantity(9523456873, "kWh"), "U"),
        ("It is 9523456873000 Wh.", quantity(9523456873, "kWh"), "S"),
        ("It is 9523456873001 Wh.", quantity(9523456873, "kWh"), "U"),
        ("It is 9007199254740993.", {"n": 9007199254740992}, "U"),
        ("It is 9523456874 m3/day.", quantity(9523456.873, "Ml/d"), "U"),
        ("It is 9523456873 m3/day.", quantity(9523456.873, "Ml/d"), "S"),
        ("It is 0.", {"n": 0.3}, "U"),
        ("It is 0.", {"n": 0}, "S"),
        ("It is 0 kWh.", quantity(0.3, "kWh"), "U"),
        ("It is 0.1 m.", quantity(15, "cm"), "S"),
        ("It is 0.2 m.", quantity(15, "cm"), "S"),
        ("It is 0.3 m.", quantity(15, "cm"), "U"),
        ("It is 41 °F.", quantity(5, "degC"), "S"),
        ("It is 9 °F.", quantity(5, "degC"), "U"),
        ("It is 278.15 K.", quantity(5, "degC"), "S"),
        # What a tool returned bare is in another unit, too, once the answer gives it one; of a temperature it is not.
        ("It is 23.4 MWh (84.24 GJ).", {"n": 23.4}, "SS"),
        ("It is 23.4 MWh (85 GJ).", {"n": 23.4}, "SU"),
        ("It is 23.4 MWh (84.24 EUR).", {"n": 23.4}, "SU"),
        ("It is 5 °C (41 °F).", {"n": 5}, "SU"),
        ("It is 23.4 MWh (84.24 GJ).", quantity(23.5, "GWh"), "UU"),
        # Of numbers of several names only those that are shown are added.
        ("It is 30 kWh.", [{"heat_kwh": 10, "light_kwh": 20}], "U"),
        ("It is 30 kWh.", [quantity(30, "kg"), {"x": 10, "y": 20}], "M"),
        ("It is 30 kWh.", [quantity(30, "kg"), {"x_kwh": 10, "y_kwh": 20}], "M"),
        ("It is 50 %.", [quantity(50, "kg"), {"x": 10, "y": 20}], "M"),
        ("It has 32.", {"from": "2024-05-12", "to": "2024-05-20"}, "U"),
        # Codes: one number where it is a name, several where somebody said the parts.
        ("It is A1-77-C3.", ["A1-77-C3"], "Q"),
        ("It is A1-77-C4.", ["A1-77-C3"], "U"),
        ("It is B12-B14.", ["B12", "B14"], "EQ"),
        ("It is B12-B14 and B12.", ["B12", "B14"], "EQE"),
        ("It is B12_B14.", ["B12", "B14"], "Q"),
        ("It is 12-34.", [12, 34], "SS"),
        ("It is 4OG6T1, 7 of them.", ["4OG6T1", 7], "QS"),
        (f"It is {'A1' * 50}.", ["A1" * 50], "Q"),
    ],
)  # fmt: skip
def test_a_number_rests_on(answer: str, value: Any, expected: str) -> None:
    assert letters(answer, *(value if isinstance(value, list) else [value])) == expected


@pytest.mark.parametrize(
    ("answer", "asked", "value", "expected"),
    [
        ("The card ending in 4242.", "My card is x4242.", {}, "Q"),
        ("The card ending in 4242.", "My card is x4243.", {}, "U"),
        ("Ending in 4242.", "My card is x4242.", {}, "Q"),
        (f"Ending in {'x' * 46} 4242.", "My card is x4242.", {}, "Q"),
        (f"Ending in {'x' * 50} 4242.", "My card is x4242.", {}, "Q"),
        ("The last four digits are 4242.", "My card is x4242.", {"card": "y4242"}, "Q"),
        ("The card is 4242.", "My card is x4242.", {}, "Q"),
        ("It is HAT136.", "Is it HAT136?", {}, "Q"),
        ("It is HAT136.", "Is it HAT136?", {"flight": "HAT136"}, "Q"),
        ("It is built post-1974.", "Since 1974?", {}, "Q"),
        ("It is 340 USD.", "Up to 340 USD?", {"n": 341}, "Q"),
        ("It is 340 EUR.", "Up to 340 USD?", {"n": 341}, "M"),
        ("It is 340 EUR.", "Up to 340 EUR?", {"n_usd": 340}, "Q"),
        ("It fell by 340 USD.", "It is -340 USD?", {}, "Q"),
    ],
)
def test_what_the_user_said_is_quoted(answer: str, asked: str, value: Any, expected: str) -> None:
    assert letters(answer, value, asked=asked) == expected


@pytest.mark.parametrize(
    ("answer", "value", "unit"),
    [
        ("It is $12.", {"amount": 12, "currency": "AUD"}, "AUD"),
        ("It is $12.", {"amount": 12}, "$"),
        ("It is $12.", {"amount": 13}, "$"),
        ("It is 12 USD.", {"amount": 12}, "USD"),
        ("It is 12 °C.", {"amount": 13}, "degC"),
        ("It is 12.", {"amount": 12, "currency": "AUD"}, None),
        ("It is 0.012 MWh.", {"n_kwh": 12}, "MWh"),
    ],
)
def test_the_unit_is_the_one_that_is_typed(answer: str, value: Any, unit: str | None) -> None:
    [only] = numbers(answer, value)
    assert only["unit"] == unit


def test_what_the_answer_gives_a_unit_has_one_source_in_each() -> None:
    [first, second] = numbers("It is 23.4 MWh (84.24 GJ).", {"n": 23.4})
    assert second["source"] == first["source"]


def heard(*turns: Turn) -> list[list[tuple[str, str]]]:
    """The verdicts over each answer."""
    listener = Listener("1")
    said = [answer for turn in turns for answer in listener.hear(turn)]
    return [[(one.text, LETTERS[one.verdict]) for one in answer.numbers] for answer in said]


def test_a_row_without_a_name_is_not_of_the_name_of_another_number() -> None:
    """Two results of one tool, of which the first says what it is of."""
    call = {"function": {"name": "meter", "arguments": "{}"}}
    results = (json.dumps({"name": "drain", **quantity(329.1, "kg")["n"]}), "tank: 17506.3 kg.")
    run: list[dict[str, Any]] = [{"role": "user", "content": "Well?"}]
    for number, content in enumerate(results):
        run.append({"role": "assistant", "content": None, "tool_calls": [{"id": str(number), **call}]})
        run.append({"role": "tool", "tool_call_id": str(number), "content": content})
    for answer, expected in (
        ("The drain is 329.1 kg and the tank is 17506.3 kg.", ["sourced", "quoted"]),
        ("In the drain there are 17506.3 kg.", ["mislabelled"]),
        ("The tank is 17506.3 kg and the drain is 17506.3 kg.", ["quoted", "mislabelled"]),
    ):
        judged = audit_run([*run, {"role": "assistant", "content": answer}]).numbers
        assert [number["verdict"] for number in judged] == expected


def test_a_call_may_be_the_answer_once() -> None:
    answer = Called("c1", "final_result", {"text": "It is 31."})
    assert (
        heard(answer, answer, Returned("c1", "", "31"), Said("assistant", "It is 31.")) == [[("31", "U")]] * 2
    )
    report = Called("c2", "Report", {"text": "It is 32."})
    receipt = Returned("c2", "Report", "Final result processed.")
    assert heard(report, receipt, receipt, Said("assistant", "Of 32.")) == [[("32", "U")]] * 2
    assert heard(Returned("c9", "Report", "Final result processed. 33"), Said("assistant", "Of 33.")) == [
        [("33", "Q")]
    ]
    assert heard(Called("", "final_answer", "34"), Called("", "final_answer", "35")) == [
        [("34", "U")],
        [("35", "U")],
    ]
    assert heard(Returned("c3", "final_answer", "36"), Said("assistant", "Of 36.")) == [[("36", "U")]]


def test_of_calls_without_end_the_latest_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judgement, "_MAX_LATEST", 2)
    monkeypatch.setattr(judgement, "_MAX_OPEN", 2)
    calls = [Called(f"c{place}", "scale", {"text": f"It is {place + 31}."}) for place in range(3)]
    receipts = [Returned(f"c{place}", "", "Final result processed.") for place in (0, 1, 2)]
    assert heard(*calls, *receipts) == [[("32", "U")], [("33", "U")]]
    listener = Listener("1")
    turns: list[Turn] = [*calls, Returned("", "scale", 5), Said("assistant", "It is 5.")]
    for turn in turns:
        heard_last = listener.hear(turn)
    [answer] = heard_last
    assert answer.numbers[0].source is not None
    assert answer.numbers[0].source["call_id"] == "c1"


def test_what_is_said_in_turn_has_its_place_and_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "_MAX_PARTS", 2)
    listener = Listener("7")
    assert not listener.has_answer_unread
    assert listener.hear(Called("c1", "meter", {})) == [] and listener.has_answer_unread
    said = [one for text in ("Of 31.", "None.", "Of 32.") for one in listener.hear(Said("assistant", text))]
    assert [
        (one.number, [(n.conversation, n.answer, n.start, n.end) for n in one.numbers]) for one in said if one
    ] == [
        (0, [("7", 0, 3, 5)]),
        (1, []),
        (2, [("7", 2, 3, 5)]),
    ]
    assert listener.hear(Called("c2", "final_answer", {"a": 31, "b": 32}))
    assert not listener.has_answer_unread
    listener.finish()
    assert listener.notes == [
        "no result of the tool meter is in the recording",
        "answer 4 has more parts than are read",
    ]


def test_a_call_that_cannot_be_compared_asks_like_no_other() -> None:
    def sum_of(*arguments: Any) -> str:
        calls = [Called(f"c{place}", "meter", one) for place, one in enumerate(arguments)]
        results = [Returned(call.call_id, "", {"n": {"value": 60, "unit": "kWh"}}) for call in calls]
        [[(_, letter)]] = heard(*calls, *results, Said("assistant", "In total 120 kWh."))
        return letter

    deep: Any = 5
    for _ in range(20_000):  # deeper than any Python's encoder goes
        deep = [deep]
    assert sum_of({"a": 1, "b": 2}, {"b": 2, "a": 1}) == "U"
    assert sum_of({"a": 1}, '{"a": 1}') == "U"
    assert sum_of({"a": {1}}, {"a": {1}}) == "U"
    assert sum_of({"a": 1}, {"a": 2}) == "D"
    assert sum_of({1: 1, "a": 1}, {1: 1, "a": 1}) == "D"
    assert sum_of({"a": deep}, {"a": deep}) == "D"
