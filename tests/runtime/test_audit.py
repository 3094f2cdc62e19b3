"""Recorded runs, judged number by number: each verdict, each format, and whatever else a file may hold."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gllint_runtime import audit_run
from gllint_runtime.audit.formats import FormatError, Reader, formats
from gllint_runtime.audit.judgement import Listener
from gllint_runtime.audit.turns import Called, Returned, Said

USER = {"role": "user", "content": "How much heat did site seven use? My budget is 340 USD."}
CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "meter", "arguments": '{"site": 7}'}}
    ],
}


def output(value: Any) -> dict[str, Any]:
    return {
        "role": "tool",
        "tool_call_id": "c1",
        "content": value if isinstance(value, str) else json.dumps(value),
    }


def verdicts(answer: str, value: Any, **settings: Any) -> list[tuple[str, str]]:
    run = [USER, CALL, output(value), {"role": "assistant", "content": answer}]
    audit = audit_run(run, **settings)
    for number in audit.numbers:
        assert answer[number["start"] : number["end"]] == number["text"]
    return [(number["text"], number["verdict"]) for number in audit.numbers]


def verdict(answer: str, value: Any) -> str:
    [(_, only)] = verdicts(answer, value)
    return only


HEAT = {"heat": {"value": 1234.56, "unit": "kWh"}}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("It used 1234.56 kWh.", "sourced"),
        ("It used 1,234.56 kWh.", "sourced"),
        ("It used 1.234,56 kWh.", "sourced"),
        ("It used 1\u202f234.6 kWh.", "sourced"),
        ("It used 1235 kWh.", "sourced"),
        ("It used 1.23456 MWh.", "sourced"),
        ("It used about 1.2 MWh.", "sourced"),
        ("It used 1.2 thousand kilowatt hours.", "sourced"),
        ("It used 1.2k kWh.", "sourced"),
        ("It used 4.44 GJ.", "sourced"),
        ("It used 1234.56.", "sourced"),
        ("It used 1234 kWh.", "unsourced"),
        ("It used 1234.57 kWh.", "unsourced"),
        ("It used 1.3 MWh.", "unsourced"),
        ("It used 1234.56 kW.", "mislabelled"),
        ("It cost 1234.56 USD.", "mislabelled"),
        ("It used 1234.56 MWh.", "mislabelled"),
        ("It used 1234.56%.", "mislabelled"),
        ("Your budget is $340.", "quoted"),
        ("Your budget is 340 EUR.", "mislabelled"),
        ("Site 7 is meant.", "quoted"),
        ("On 2024-05-20 at 10:30 all was well.", "unsourced"),
    ],
)
def test_a_number_is_what_its_digits_and_its_unit_say(answer: str, expected: str) -> None:
    found = verdicts(answer, HEAT)
    assert {one for _, one in found} == {expected}


LABELS = {
    "S": {"sourced"},
    "Q": {"quoted"},
    "D": {"derived"},
    "M": {"mislabelled"},
    "U": {"unsourced"},
    "E": {"exempt"},
    "d": {"derived", "unsourced"},
}


def labelled_answers() -> Iterator[tuple[str, list[dict[str, Any]], str]]:
    """What each conversation of the file holds, and an answer with its marks."""
    text = (Path(__file__).parent / "audit_answers.txt").read_text(encoding="utf-8")
    for block in re.split(r"(?m)^== ", text)[1:]:
        head, *answers = re.split(r"(?m)^> ", block)
        name, user, *outputs = head.strip().split("\n")
        run: list[dict[str, Any]] = [{"role": "user", "content": user.removeprefix("user: ")}]
        for number, line in enumerate(outputs):
            tool, _, content = line.removeprefix("tool ").partition(": ")
            call = {"id": f"c{number}", "function": {"name": tool, "arguments": "{}"}}
            run.append({"role": "assistant", "content": None, "tool_calls": [call]})
            run.append({"role": "tool", "tool_call_id": f"c{number}", "content": content})
        yield from ((name, run, answer.rstrip("\n")) for answer in answers)


@pytest.mark.usefixtures("unmeasured")
def test_each_number_of_labelled_answers_has_its_verdict() -> None:
    for name, run, marked in labelled_answers():
        parts = re.split(r"\[\[(.*?)\|([A-Zd])\]\]", marked)
        answer = "".join(part for place, part in enumerate(parts) if place % 3 < 2)
        numbers = audit_run([*run, {"role": "assistant", "content": answer}]).numbers
        at, told = 0, 0
        for before, text, label in zip(parts[::3], parts[1::3], parts[2::3], strict=False):
            start, at = at + len(before), at + len(before) + len(text)
            inside = [entry for entry in numbers if entry["start"] < at and start < entry["end"]]
            assert inside or label == "E", (name, answer, text)
            assert {entry["verdict"] for entry in inside} <= LABELS[label], (name, answer, text, inside)
            told += len(inside)
        assert told == len(numbers), (name, answer, numbers)


def test_columns_that_blanks_part_are_numbers_of_their_own() -> None:
    assert verdicts("There are 12 of 340.", "12 340") == [("12", "quoted"), ("340", "quoted")]
    assert verdicts("There are 12 340.", "12340") == [("12 340", "sourced")]


def test_an_identifier_that_begins_with_a_digit_is_a_name() -> None:
    output = {"id": "4OG6T3", "next": "1FRNFB", "bags": 4, "code": "L2H5L"}
    assert verdict("It is 1FRNFB.", output) == "quoted"
    assert verdict("It is 4FRNFB.", output) == "unsourced"
    assert {seen for _, seen in verdicts("It is 4OG6T4.", output)} == {"unsourced"}
    assert verdict("It holds 5 L.", output) == "unsourced"


@pytest.mark.parametrize(
    "output",
    [
        {"result": json.dumps(HEAT), "ok": True},
        {"content": [{"type": "text", "text": json.dumps(HEAT)}]},
        [json.dumps({"rows": [json.dumps(HEAT)]})],
        f"Here are the results of [1] {{site}}:\n```json\n{json.dumps(HEAT, indent=2)}\n```\nThat is all.",
        "\n".join(json.dumps(row) for row in (HEAT, {"note": "fine"})),
    ],
)
def test_json_in_a_text_of_a_result_keeps_its_units(output: Any) -> None:
    assert verdict("It used 1.23456 MWh.", output) == "sourced"
    assert verdict("It cost 1234.56 USD.", output) == "mislabelled"


def test_a_unit_that_is_not_ours_contradicts_one_of_another_dimension() -> None:
    assert verdict("It cost 112.75 EUR.", {"supply_mwh": 112.75}) == "mislabelled"
    assert verdict("It used 112.75 MWh.", {"supply_mwh": 112.75}) == "sourced"
    assert verdict("It used 45.25 kWh.", {"flow": {"value": 45.25, "unit": "Ml/d"}}) == "mislabelled"
    assert verdict("It was 45.25 widgets.", {"flow": {"value": 45.25, "unit": "zorks"}}) == "sourced"


def test_a_day_or_an_hour_of_a_date_is_no_other_number() -> None:
    output = {"departs": "2024-05-12T08:15:00"}
    assert verdict("It leaves at 8:15.", output) == "sourced"
    assert verdict("It costs 8 dollars.", output) == "unsourced"
    assert verdict("It has 12 seats.", output) == "unsourced"


def test_a_share_may_be_shown_in_percent() -> None:
    assert verdict("It is 25.4% of all.", {"share": 0.2543}) == "sourced"
    assert verdict("It is 25.4 percent of all.", {"share": {"value": 0.2543, "unit": "1"}}) == "sourced"
    assert verdict("It is 25.9% of all.", {"share": 0.2543}) == "unsourced"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("22.46 − 18.4", "S"),
        ("- 18.4 kWh were used", "S"),
        ("- 18.5 kWh were used", "U"),
        ("It changed by −18.4 kWh", "M"),
        ("The change was -6.2 kWh", "S"),
        ("built post-1974", "Q"),
        ("built post-1975", "U"),
    ],
)
def test_a_minus_that_stands_apart_and_a_word_that_ends_in_a_number(answer: str, expected: str) -> None:
    value = [{"value": 18.4, "unit": "kWh"}, {"value": -6.2, "unit": "kWh"}]
    run = [{"role": "user", "content": "Since 1974?"}, CALL, output(value)]
    numbers = audit_run([*run, {"role": "assistant", "content": answer}]).numbers
    letters = {"sourced": "S", "quoted": "Q", "unsourced": "U", "mislabelled": "M"}
    wanted = expected.split()
    assert [letters[one["verdict"]] for one in numbers][-len(wanted) :] == wanted


@pytest.mark.parametrize("answer", ["It is 0.105 mm / d.", "It is 0.105 mm/d.", "It is 0.105 mm/day."])
def test_a_unit_below_a_stroke_is_read_however_it_is_typed(answer: str) -> None:
    assert verdict(answer, {"value": 0.10545, "unit": "mm/day"}) == "sourced"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("The licence allows 45,000 m³/day.", "sourced"),
        ("The licence allows 0.5208 m³/s.", "sourced"),
        ("The licence allows 45,100 m³/day.", "unsourced"),
        ("The licence allows 45,001 m³.", "unsourced"),
    ],
)
def test_a_tool_may_have_a_unit_that_only_physics_has(answer: str, expected: str) -> None:
    assert verdict(answer, {"value": 45, "unit": "Ml/d"}) == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("It used 23.4 MWh (84.24 GJ).", "sourced"),
        ("It used 84.24 GJ, that is 23.4 MWh.", "sourced"),
        ("It used 23.4 MWh (84.3 GJ).", "unsourced"),
        ("It used 84.24 GJ.", "unsourced"),
    ],
)
def test_what_a_tool_returned_bare_is_in_other_units_too_once_the_answer_gives_one(
    answer: str, expected: str
) -> None:
    numbers = audit_run(
        [USER, CALL, output([23.4, 1350.0]), {"role": "assistant", "content": answer}]
    ).numbers
    assert {one["verdict"] for one in numbers} - {"sourced"} == {expected} - {"sourced"}


@pytest.mark.parametrize(
    "answer",
    [
        "您询问的是2026年8月14日的数据",
        "8월 14일",
        "am 14. August 2026",
        "le 14 août 2026",
        "el 14 de agosto de 2026",
    ],
)
def test_dates_of_other_languages_have_their_source(answer: str) -> None:
    assert {one for _, one in verdicts(answer, {"day": "2026-08-14"})} == {"sourced"}
    assert {one for _, one in verdicts(answer, {"day": "2026-09-14"})} == {"unsourced"}


def test_the_last_part_of_a_word_with_hyphens_is_a_name() -> None:
    assert verdicts("the local-to-NAVD88 offset", "on NAVD88") == [("local-to-NAVD88", "quoted")]
    assert verdicts("the local-to-NAVD89 offset", "on NAVD88") == [("local-to-NAVD89", "unsourced")]


def test_a_small_number_is_no_difference_of_ids_or_of_some_two() -> None:
    value = {"order_id": 9523456873, "tracking": "9523456878", "bags": [3, 8], "seats": 12}
    assert verdicts("It takes 5 days.", value) == [("5", "unsourced")]
    assert verdicts("You have 3 and 8, so 5 more.", value) == [
        ("3", "sourced"),
        ("8", "sourced"),
        ("5", "derived"),
    ]


def test_the_tools_of_a_request_count() -> None:
    request = {"messages": [USER, {"role": "assistant", "content": "Of 1974"}], "tools": TOOLS}
    [record] = Reader().read(request)
    assert "NGVD29" in record.turns[0].text  # type: ignore[union-attr]


def test_lines_of_a_session_that_are_no_message_are_passed_over() -> None:
    said = {"role": "assistant", "content": [{"type": "text", "text": "It is 5 kWh."}]}
    lines = [
        {
            "type": "queue-operation",
            "operation": "enqueue",
            "sessionId": "s",
            "content": "How much, of 5 kWh?",
        },
        {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}},
        {"type": "user", "sessionId": "s", "message": {"role": "user", "content": "How much?"}},
        {"type": "assistant", "sessionId": "s", "message": said},
    ]
    reader = Reader()
    assert [part.unread for line in lines for part in reader.read(line)] == [[]] * 4


def test_units_that_physics_makes_one_do_not_contradict() -> None:
    assert verdict("It is 175.72 amperes.", {"value": 175.7209, "unit": "VA/V"}) == "sourced"
    assert verdict("It is 175.72 volts.", {"value": 175.7209, "unit": "VA/V"}) == "mislabelled"


TOOLS = [{"type": "function", "function": {"name": "crest", "description": "Crest of 1974, on NGVD29."}}]


@pytest.mark.parametrize(
    "record",
    [
        {
            "tools": TOOLS,
            "messages": [USER, {"role": "assistant", "content": "By the record 1974, on NGVD29."}],
        },
        {
            "tools": [{"name": "crest", "description": "", "input_schema": {"description": "1974, NGVD29"}}],
            "messages": [USER, {"role": "assistant", "content": [{"type": "text", "text": "NGVD29, 1974."}]}],
        },
        {
            "request": {"messages": [USER], "tools": TOOLS},
            "response": {
                "choices": [
                    {
                        "finish_reason": "stop",
                        "message": {"role": "assistant", "content": "By the record 1974, on NGVD29."},
                    }
                ]
            },
        },
        [
            {
                "jsonrpc": "2.0",
                "id": 1,
                "result": {"tools": [{"name": "crest", "description": "NGVD29, 1974"}]},
            },
            {
                "jsonrpc": "2.0",
                "id": 2,
                "method": "sampling/createMessage",
                "params": {
                    "messages": [{"role": "assistant", "content": {"type": "text", "text": "NGVD29, 1974."}}]
                },
            },
        ],
    ],
)
def test_what_the_program_says_of_its_tools_is_quoted(record: Any) -> None:
    assert {one["verdict"] for one in audit_run(record).numbers} == {"quoted"}


def test_a_fall_has_its_sign_in_words() -> None:
    assert verdict("That is a reduction of 12%.", {"change": {"value": -12, "unit": "%"}}) == "sourced"
    assert verdict("It was 12 degC.", {"temperature": {"value": -12, "unit": "degC"}}) == "mislabelled"
    assert verdict("It was -12 °C.", {"temperature": {"value": -12, "unit": "degC"}}) == "sourced"


@pytest.mark.parametrize(
    ("answer", "expected", "how"),
    [
        ("Together 150 kWh.", "derived", "total"),
        ("Winter took 90 kWh more than summer.", "derived", "difference"),
        ("Summer took 25% of winter's.", "derived", "share"),
        ("Together 0.15 MWh.", "derived", "total"),
        ("That is 90 kWh.", "unsourced", None),
        ("Together 151 kWh.", "unsourced", None),
        ("Together 150 USD.", "unsourced", None),
    ],
)
def test_what_follows_from_others_is_derived(answer: str, expected: str, how: str | None) -> None:
    value = [{"season": "winter", "heat_kwh": 120}, {"season": "summer", "heat_kwh": 30}]
    run = [USER, CALL, output(value), {"role": "assistant", "content": answer}]
    [number] = audit_run(run).numbers
    assert number["verdict"] == expected
    assert (number["derived"] or {}).get("how") == how


def test_among_many_numbers_two_prove_nothing() -> None:
    value = {"rows": [{"price": price} for price in range(100, 300, 7)]}
    assert verdict("In all 366.", value) == "unsourced"
    shown = verdicts("One costs 100, the other 107; both 207.", value)
    assert shown == [("100", "sourced"), ("107", "sourced"), ("207", "derived")]


def test_the_source_names_call_path_and_value() -> None:
    run = [USER, CALL, output(HEAT), {"role": "assistant", "content": "It used 1.235 MWh."}]
    assert audit_run(run).numbers == [
        {
            "conversation": "1",
            "answer": 0,
            "text": "1.235",
            "start": 8,
            "end": 13,
            "verdict": "sourced",
            "unit": "MWh",
            "source": {
                "call_id": "c1",
                "tool": "meter",
                "path": "$.heat",
                "value": 1234.56,
                "unit": "kWh",
            },
            "derived": None,
            "weak": False,
        }
    ]


@pytest.mark.parametrize(
    ("told", "output", "answer"),
    [
        ("It is 7", "It is 75 kWh", "It is 5 kWh."),
        ("12.5 kWh on site", "It used 812.5 kWh on site", "It used 8 kWh."),
        ("for site 7", "It used 12 for site 7 345 kWh", "It used 12345 kWh."),
    ],
)
def test_what_a_call_was_told_makes_no_other_number_of_its_output(
    told: str, output: str, answer: str
) -> None:
    run = [
        {"role": "user", "content": "How much?"},
        {
            "role": "assistant",
            "tool_calls": [{"id": "c1", "function": {"name": "ask", "arguments": {"q": told}}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": output},
        {"role": "assistant", "content": answer},
    ]
    assert [number["verdict"] for number in audit_run(run).numbers] == ["unsourced"]


def test_a_long_word_without_a_digit_is_read_once() -> None:
    run = [{"role": "user", "content": f"5 {'a-' * 100_000}"}, {"role": "assistant", "content": "It is 5."}]
    assert [number["verdict"] for number in audit_run(run).numbers] == ["quoted"]


def test_nothing_that_comes_later_is_a_source() -> None:
    run = [USER, {"role": "assistant", "content": "It used 1234.56 kWh."}, CALL, output(HEAT)]
    assert [number["verdict"] for number in audit_run(run).numbers] == ["unsourced"]


@pytest.mark.parametrize(
    "answer",
    [
        "Take flight HAT136.",
        "Your card ending in 9725.",
        "It is gift card 6276644.",
        "Order W2611340 is sent.",
    ],
)
def test_names_with_digits_are_found_as_they_stand(answer: str) -> None:
    value = {
        "flight": "HAT136",
        "card": "credit_card_1239725",
        "gift": "gift_card_6276644",
        "order": "#W2611340",
    }
    assert verdict(answer, value) == "quoted"
    wrong = answer.replace("6", "8").replace("97", "79")
    assert verdict(wrong, value) == "unsourced"


@pytest.mark.parametrize(
    "answer",
    [
        "   1. First\n\n2) Second",
        "### 1. Results",
        "**Step 1:** go",
        "- **Option 1**: wait",
        "Use ISO 50001 for it.",
    ],
)
def test_the_order_of_items_and_names_with_digits_are_exempt(answer: str) -> None:
    assert {one for _, one in verdicts(answer, HEAT)} == {"exempt"}


@pytest.mark.parametrize(
    "answer", ["It is due on May 20, 2024.", "It closes at 3 pm.", "It was built in 1987.", "**Step 2:** go"]
)
def test_dates_times_and_numbers_out_of_order_need_a_source(answer: str) -> None:
    assert {one for _, one in verdicts(answer, HEAT)} == {"unsourced"}


def test_units_beside_a_number_and_in_its_key_count() -> None:
    assert verdict("It cost 12 EUR.", {"amount": 12, "currency": "USD"}) == "mislabelled"
    assert verdict("It cost $12.", {"amount": 12, "currency": "USD"}) == "sourced"
    assert verdict("It used 12 MWh.", {"annual_kwh": 12000}) == "sourced"
    assert verdict("It used 12000 MWh.", {"annual_kwh": 12000}) == "mislabelled"
    assert verdict("It was 20 °F.", {"temperature": 20, "temperature_unit": "C"}) == "mislabelled"
    assert verdict("It took 12 kWh.", "The meter shows 12 kWh today.") == "quoted"
    assert verdict("It took 12 MJ.", "The meter shows 12 kWh today.") == "mislabelled"


@pytest.mark.parametrize(
    ("key", "answer", "expected"),
    [
        ("temp_c", "It is 71 °F.", "mislabelled"),
        ("temperature_c", "It is 71 °F.", "mislabelled"),
        ("tempC", "It is 71 °F.", "mislabelled"),
        ("temp_f", "It is 71 °F.", "sourced"),
        ("temp_k", "It is 71 °C.", "mislabelled"),
        ("temp_c", "It is 159.8 °F.", "sourced"),
        ("temp_c", "It is 71 degrees.", "sourced"),
        ("temp_c", "It is 71.", "sourced"),
        ("temp", "It is 71 °F.", "sourced"),
        ("flow_m3h", "It is 71 l/s.", "mislabelled"),
        ("flow_m3h", "It is 71 m³/h.", "sourced"),
        ("flow_m3hr", "It is 71 L/s.", "mislabelled"),
        ("speed_kmh", "It is 71 m/s.", "mislabelled"),
        ("length_m", "It is 71 feet.", "mislabelled"),
        ("duration_s", "It is 71 minutes.", "mislabelled"),
        ("power_w", "It is 71 kW.", "mislabelled"),
        ("duration_h", "It is 71 h.", "sourced"),
        ("power_mw", "It is 71 kW.", "mislabelled"),
        ("power_mw", "It is 71 MW.", "sourced"),
        ("power_mw", "It is 71 mW.", "sourced"),
        ("speed_ms", "It is 71 m/s.", "sourced"),
        ("speed_ms", "It is 71 km/h.", "mislabelled"),
        ("amount_cents", "It is 71 USD.", "mislabelled"),
        ("amount_cents", "It is 71 cents.", "sourced"),
        ("amount_cents", "It is 0.71 USD.", "sourced"),
        ("annual_kwh", "It is 71 kWh per year.", "sourced"),
    ],
)
def test_the_end_of_a_key_contradicts_a_unit_where_each_of_its_readings_does(
    key: str, answer: str, expected: str
) -> None:
    assert verdict(answer, {key: 71}) == expected


def test_the_page_tells_a_converted_number_from_one_with_a_wrong_unit() -> None:
    run = [USER, CALL, output({"heat_kwh": 1230})]
    shown = audit_run([*run, {"role": "assistant", "content": "1.23 MWh, or 1230 MWh"}]).to_html()
    assert "1.23: sourced, a tool returned it, in the unit here or converted to it" in shown
    assert "1230: mislabelled, a source has these digits with another unit, sign, size, row or key" in shown


def test_a_unit_that_a_key_leaves_open_is_not_said() -> None:
    [number] = audit_run(
        [USER, CALL, output({"power_mw": 71}), {"role": "assistant", "content": "71 kW"}]
    ).numbers
    assert number["source"]["unit"] is None


# ------------------------------------------------------------------------------------------------- formats

ANTHROPIC = [
    {"role": "user", "content": [{"type": "text", "text": "How much?"}]},
    {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "c1", "name": "meter", "input": {"site": 7}}],
    },
    {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                "tool_use_id": "c1",
                "content": [{"type": "text", "text": json.dumps(HEAT)}],
            }
        ],
    },
    {"role": "assistant", "content": [{"type": "text", "text": "It used 1235 kWh, 999 of them at night."}]},
]
RESPONSES = {
    "instructions": "Be brief.",
    "input": [{"role": "user", "content": "How much?"}],
    "output": [
        {"type": "reasoning", "summary": []},
        {"type": "function_call", "call_id": "c1", "name": "meter", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": json.dumps(HEAT)},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "It used 1235 kWh, 999 of them at night."}],
        },
    ],
}
LANGCHAIN = [
    {"type": "human", "content": "How much?"},
    {
        "type": "ai",
        "content": "",
        "tool_calls": [{"name": "meter", "args": {"site": 7}, "id": "c1", "type": "tool_call"}],
    },
    {"type": "tool", "content": json.dumps(HEAT), "tool_call_id": "c1", "name": "meter"},
    {"type": "ai", "content": "It used 1235 kWh, 999 of them at night."},
]
LANGSMITH = {
    "id": "run-1",
    "run_type": "chain",
    "inputs": {"messages": [LANGCHAIN[:1]]},
    "child_runs": [
        {
            "id": "run-2",
            "run_type": "tool",
            "name": "meter",
            "inputs": {"input": "{}"},
            "outputs": {"output": LANGCHAIN[2]},
        }
    ],
    "outputs": {
        "generations": [
            [
                {
                    "message": {
                        "lc": 1,
                        "type": "constructor",
                        "id": ["langchain", "schema", "messages", "AIMessage"],
                        "kwargs": {"content": "It used 1235 kWh, 999 of them at night."},
                    }
                }
            ]
        ]
    },
}
PYDANTIC_AI = [
    {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "How much?", "timestamp": "x"}]},
    {
        "kind": "response",
        "parts": [{"part_kind": "tool-call", "tool_name": "meter", "args": "{}", "tool_call_id": "c1"}],
    },
    {
        "kind": "request",
        "parts": [{"part_kind": "tool-return", "tool_name": "meter", "content": HEAT, "tool_call_id": "c1"}],
    },
    {
        "kind": "response",
        "parts": [{"part_kind": "text", "content": "It used 1235 kWh, 999 of them at night."}],
    },
]
OTEL = {
    "resourceSpans": [
        {
            "scopeSpans": [
                {
                    "spans": [
                        {
                            "traceId": "t1",
                            "name": "chat model",
                            "endTimeUnixNano": "30",
                            "attributes": [
                                {
                                    "key": "gen_ai.output.messages",
                                    "value": {
                                        "stringValue": json.dumps(
                                            [
                                                {
                                                    "role": "assistant",
                                                    "parts": [
                                                        {
                                                            "type": "text",
                                                            "content": "It used 1235 kWh, 999 of them at night.",
                                                        }
                                                    ],
                                                }
                                            ]
                                        )
                                    },
                                }
                            ],
                        },
                        {
                            "traceId": "t1",
                            "name": "execute_tool meter",
                            "endTimeUnixNano": "20",
                            "attributes": [
                                {"key": "gen_ai.tool.name", "value": {"stringValue": "meter"}},
                                {"key": "gen_ai.tool.call.id", "value": {"stringValue": "c1"}},
                                {
                                    "key": "gen_ai.tool.call.result",
                                    "value": {"stringValue": json.dumps(HEAT)},
                                },
                            ],
                        },
                    ]
                }
            ]
        }
    ]
}
MCP = [
    {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}},
    {
        "jsonrpc": "2.0",
        "id": "c1",
        "method": "tools/call",
        "params": {"name": "meter", "arguments": {"site": 7}},
    },
    {
        "jsonrpc": "2.0",
        "id": "c1",
        "result": {"content": [{"type": "text", "text": "see below"}], "structuredContent": HEAT},
    },
    {"role": "assistant", "content": {"type": "text", "text": "It used 1235 kWh, 999 of them at night."}},
]
FORMATS = {
    "openai": [
        USER,
        CALL,
        output(HEAT),
        {"role": "assistant", "content": "It used 1235 kWh, 999 of them at night."},
    ],
    "openai responses": RESPONSES,
    "anthropic": ANTHROPIC,
    "langchain": LANGCHAIN,
    "langchain langsmith": LANGSMITH,
    "langchain dumped": [{"type": one["type"], "data": one} for one in LANGCHAIN],
    "pydantic-ai": PYDANTIC_AI,
    "otel": OTEL,
    "mcp": MCP,
}


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_gives_the_same_verdicts(name: str) -> None:
    run = FORMATS[name]
    for chosen in ("auto", name.split()[0]):
        numbers = audit_run(run, format=chosen).numbers
        assert [(one["text"], one["verdict"]) for one in numbers] == [
            ("1235", "sourced"),
            ("999", "unsourced"),
        ]
        assert numbers[0]["source"] == {
            "call_id": "c1",
            "tool": "meter",
            "path": "$.heat",
            "value": 1234.56,
            "unit": "kWh",
        }
    once_more = audit_run([{"messages": run}] if isinstance(run, list) else [run]).numbers
    assert [one["verdict"] for one in once_more] == ["sourced", "unsourced"]


def test_what_frameworks_hold_in_memory_is_read_as_their_json() -> None:
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
    from pydantic_ai.messages import (
        ModelRequest,
        ModelResponse,
        TextPart,
        ToolCallPart,
        ToolReturnPart,
        UserPromptPart,
    )

    answer = "It used 1235 kWh, 999 of them at night."
    langchain = [
        HumanMessage("How much?"),
        AIMessage("", tool_calls=[{"name": "meter", "args": {}, "id": "c1"}]),
        ToolMessage(json.dumps(HEAT), tool_call_id="c1"),
        AIMessage(answer),
    ]
    pydantic_ai = [
        ModelRequest([UserPromptPart("How much?")]),
        ModelResponse([ToolCallPart("meter", {}, "c1")]),
        ModelRequest([ToolReturnPart("meter", HEAT, "c1")]),
        ModelResponse([TextPart(answer)]),
    ]
    for run in (langchain, pydantic_ai):
        assert [one["verdict"] for one in audit_run(run).numbers] == ["sourced", "unsourced"]


def test_spans_of_the_sdk_are_read() -> None:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("test")
    message = [
        {"role": "assistant", "parts": [{"type": "text", "content": "It used 1235 kWh, 999 at night."}]}
    ]
    with tracer.start_as_current_span("invoke_agent") as agent:
        with tracer.start_as_current_span("execute_tool meter") as span:
            span.set_attribute("gen_ai.tool.name", "meter")
            span.set_attribute("gen_ai.tool.call.result", json.dumps(HEAT))
        with tracer.start_as_current_span("chat") as span:
            span.set_attribute("gen_ai.output.messages", json.dumps(message))
        agent.set_attribute("gen_ai.output.messages", json.dumps(message))
    spans = exporter.get_finished_spans()
    assert [one["verdict"] for one in audit_run(spans).numbers] == ["sourced", "unsourced"]
    written = [json.loads(span.to_json()) for span in spans]
    assert [one["verdict"] for one in audit_run(written).numbers] == ["sourced", "unsourced"]


def test_fixtures_of_prompts_and_responses_are_conversations_by_name() -> None:
    run = {
        "greeting": {"prompt": "Say hello", "response": "Hello!", "tokens": 50, "cost": 0.1},
        "total": {
            "prompt": "Sum up 16,860 kg CO2e",
            "response": "In all 16,860 kg CO2e, or 59%.",
            "tokens": 50,
        },
        "broken": {"prompt": "Fail", "response": None, "error": "Invalid"},
        "version": 3,
    }
    numbers = audit_run(run).numbers
    assert [(one["conversation"], one["text"], one["verdict"]) for one in numbers] == [
        ("total", "16,860", "quoted"),
        ("total", "59", "unsourced"),
    ]


@pytest.mark.parametrize(
    "run",
    [
        5,
        "text",
        {"a": 1},
        [1, 2],
        [{"role": "wizard", "content": "It is 5"}],
        {"messages": [{"speaker": "x"}]},
        [[[[]]]],
        {"messages": 5},
        True,
    ],
)
def test_what_is_no_conversation_is_refused(run: Any) -> None:
    with pytest.raises(FormatError):
        audit_run(run)


def test_the_call_of_a_result_without_an_id_is_found_by_its_tool() -> None:
    """Without a look at all that wait: ten thousand may, for each result anew."""

    class Waiting(dict[Any, Any]):
        def items(self) -> Any:
            raise AssertionError("all calls that wait were gone through")

    listener = Listener()
    listener._open = Waiting()
    for number, tool in enumerate(("meter", "note", "meter")):
        listener.hear(Called(f"c{number}", tool, {}))
    for call_id in ("c0", "c2"):
        listener.hear(Returned("", "meter", {"heat": {"value": 987.25, "unit": "kWh"}}))
        assert call_id not in listener._open
    [answer] = listener.hear(Said("assistant", "It is 987.25 kWh."))
    assert [one.verdict for one in answer.numbers] == ["sourced"]


def test_an_answer_may_be_a_number_alone() -> None:
    for run in ([USER, {"role": "assistant", "content": 987}], {"question": "How much?", "answer": 987.0}):
        assert [number["verdict"] for number in audit_run(run).numbers] == ["unsourced"]
    said = {"role": "assistant", "content": None, "audio": {"id": "a", "transcript": "It is 987 kWh."}}
    assert [number["text"] for number in audit_run([USER, said]).numbers] == ["987"]


@pytest.mark.parametrize("key", ["llm.answer_messages.0.message.content", "gen_ai.output.text"])
def test_a_trace_whose_messages_nobody_finds_is_told(key: str) -> None:
    span = {"name": "chat", "traceId": "1", "attributes": [{"key": key, "value": {"stringValue": "987 kWh"}}]}
    with pytest.raises(FormatError, match="a trace whose messages have other names"):
        audit_run({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})


def test_hostile_conversations_are_judged_or_refused() -> None:
    deep: Any = 1
    for _ in range(500):
        deep = {"a": deep}
    for value in (deep, [deep], {"x": 10**400}, {"x": float("nan")}, {"x": "9" * 5000}, {"1": {"2": True}}):
        run = [USER, CALL, {"role": "tool", "tool_call_id": "c1", "content": value}]
        run.append({"role": "assistant", "content": f"It is 12 or {'9' * 5000} or 1e999999 or ٣٤."})
        assert {one["verdict"] for one in audit_run(run).numbers} <= {"unsourced", "quoted"}
    strange = [
        {"role": "user", "content": 5},
        {"role": "assistant", "content": {"type": "text", "text": True}},
    ]
    assert audit_run([*strange, USER]).numbers == []
    with pytest.raises(FormatError):
        audit_run([{"role": "user", "content": [deep]}])


def test_each_format_says_what_it_is() -> None:
    assert {"openai", "anthropic", "langchain", "pydantic-ai", "otel", "mcp"} <= {*formats()}
    assert all(formats().values())


def test_the_page_holds_every_number_and_no_markup_of_others() -> None:
    run = [
        USER,
        CALL,
        output(HEAT),
        {"role": "assistant", "content": "<script>It used 1235 kWh, 999 at night."},
    ]
    page = audit_run(run).to_html()
    assert "<script" not in page and "&lt;script&gt;" in page
    assert 'class="n sourced"' in page and 'class="n unsourced"' in page and "$.heat" in page
    assert json.loads(audit_run(run).to_json()) == audit_run(run).numbers


def test_a_page_that_is_full_counts_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    run = [
        {"messages": [USER, {"role": "assistant", "content": f"It used {n} kWh."}]}
        for n in (900, 901, 902, 903)
    ]
    assert "more are not shown" not in audit_run(run).to_html()
    monkeypatch.setattr("gllint_runtime.audit.page._MAX_PAGE", 500)
    page = audit_run(run).to_html()
    assert page.count("<article") == 2 and "2 more are not shown" in page


@pytest.mark.usefixtures("unmeasured")
def test_long_runs_of_what_may_be_a_unit_or_a_date_are_looked_at_once() -> None:
    """Each stretch would be looked at again for each of its numbers, were there no bound."""
    for stretch in ("5-", "a1-", "may 5 ", "1,"):
        text = stretch * 2000
        numbers = audit_run(
            [{"role": "user", "content": text}, {"role": "assistant", "content": text}]
        ).numbers
        assert {number["verdict"] for number in numbers} <= {"quoted", "exempt", "unsourced"}
    assert [one for one, _ in verdicts(f"5{'x' * 100} and 7 {'y' * 100}", HEAT)] == [f"5{'x' * 100}", "7"]


@pytest.mark.parametrize(
    ("tool", "arguments", "value", "expected"),
    [
        ("send_mail", {"body": "The efficiency is 74 %."}, "Sent: The efficiency is 74 %.", "unsourced"),
        ("send_mail", {"body": "The efficiency is 74 %."}, {"body": "The efficiency is 74 %."}, "unsourced"),
        ("note", {"share": 74}, {"ok": True, "saved": {"share": 74}}, "unsourced"),
        ("note", {"share": 74}, {"result": 74}, "unsourced"),
        ("note", {"share": "74"}, "74", "unsourced"),
        ("note", '{"share": 74}', {"ok": True, "share": 74}, "unsourced"),
        ("verify_answer", {"message": "It is {{claim:0}}."}, {"message": "It is 74 %."}, "unsourced"),
        ("mcp__x__gllint_verify_answer", {}, {"message": "It is 74 %."}, "unsourced"),
        ("meter", {"site": 74, "text": "site 74"}, {"site": 74, "share": 74}, "sourced"),
        ("meter", {"text": "the share of site 9"}, "the share of site 9 is 74 %", "quoted"),
        ("meter", {"limit": 3}, {"share": 74, "limit": 3}, "sourced"),
    ],
)
def test_what_a_call_was_told_itself_has_no_source_in_its_output(
    tool: str, arguments: Any, value: Any, expected: str
) -> None:
    called = {"id": "c1", "function": {"name": tool, "arguments": json.dumps(arguments)}}
    run = [
        {"role": "user", "content": "How efficient is it?"},
        {"role": "assistant", "content": None, "tool_calls": [called]},
        output(value),
        {"role": "assistant", "content": "Its efficiency is 74 %."},
    ]
    assert [number["verdict"] for number in audit_run(run).numbers] == [expected]


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ("He converts 37% of his chances.", {"goals": 0, "cards": 0}),
        ("He converts 37% for 0 goals and 0 cards.", {"goals": 0, "cards": 0, "minutes": 90, "shots": 3}),
        ("It has a share of 0.37.", {"goals": 0.0, "cards": -0.0}),
        ("Losses grew by 37%.", {"heat": {"value": 0, "unit": "kWh"}, "loss": {"value": 0, "unit": "kWh"}}),
        ("Losses fell by 37%.", {"heat": {"value": 0, "unit": "kWh"}, "loss": {"value": 0, "unit": "MWh"}}),
        ("It changed by -100%.", {"heat": {"value": 0, "unit": "kWh"}, "loss": {"value": 61, "unit": "kWh"}}),
        ("It was -60 °C.", {"low": {"value": 0, "unit": "degC"}, "high": {"value": 61, "unit": "degC"}}),
        (
            "It is 37% of it.",
            {"goals": {"value": 2e307, "unit": "GWh"}, "cards": {"value": 1e308, "unit": "GWh"}},
        ),
        ("Losses were 0 kWh.", {"heat": {"value": 5.1, "unit": "kWh"}, "loss": {"value": 5, "unit": "kWh"}}),
    ],
)
def test_nothing_follows_from_a_zero(answer: str, value: Any) -> None:
    assert {one for text, one in verdicts(answer, value) if text != "0" or "0 kWh" in answer} == {"unsourced"}


def test_a_price_and_a_free_one_of_its_name_give_no_other() -> None:
    value = {"rows": [{"price": 481.5}, {"price": 0}]}
    assert verdicts("One costs $481.50, the balance is -481.50 dollars.", value)[1] == ("481.50", "unsourced")


def test_a_call_that_asks_the_same_twice_gives_no_second_number() -> None:
    def run(*sites: int) -> list[str]:
        calls = [
            {"id": f"c{number}", "function": {"name": "meter", "arguments": json.dumps({"site": site})}}
            for number, site in enumerate(sites)
        ]
        outputs = [{**output(HEAT), "tool_call_id": call["id"]} for call in calls]
        answer = {"role": "assistant", "content": "Together 2469.12 kWh."}
        messages = [USER, {"role": "assistant", "content": None, "tool_calls": calls}, *outputs, answer]
        return [number["verdict"] for number in audit_run(messages).numbers]

    assert run(7, 7) == ["unsourced"]
    assert run(7, 8) == ["derived"]


@pytest.mark.parametrize("number", ["1e399", "-1e399", "1.5e399", "9" * 315 + ".5", "1e-399", "2e308 GWh"])
@pytest.mark.parametrize("value", [1e308, 5e-324, {"value": 1e308, "unit": "GWh"}, "9" * 315 + ".5 kWh"])
def test_numbers_beyond_any_float_are_judged(number: str, value: Any) -> None:
    verdicts(f"It cost 5 USD, or {number}; we save {number}%.", {"price": value, "old": {"price": 5}})


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Your code is LL0EZ6.", [("LL0EZ6", "quoted")]),
        ("Your code is LL0EZ7.", [("LL0EZ7", "unsourced")]),
        ("It is 4OG6T1.", [("4OG6T1", "unsourced")]),
        ("It is AB12-77-C3D4.", [("AB12-77-C3D4", "quoted")]),
        ("It is _AB12-77-C3D5_.", [("AB12-77-C3D5", "unsourced")]),
        ("Seats C12-C14.", [("C12-C14", "unsourced")]),  # two codes, one of them a tool's
        (
            "It is 3e5f8400-e29b-41d4-a716-446655440000.",
            [("3e5f8400-e29b-41d4-a716-446655440000", "unsourced")],
        ),
        ("It is P1-500kWh.", [("P1-500kWh", "unsourced")]),
    ],
)
def test_a_code_is_one_number(answer: str, expected: list[tuple[str, str]]) -> None:
    assert verdicts(answer, {"codes": ["LL0EZ6", "AB12-77-C3D4", "C12"]}) == expected
