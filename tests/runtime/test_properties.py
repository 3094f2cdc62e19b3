"""Whatever a model, its tools and its user do: each digit of a delivered message is accounted for."""

from __future__ import annotations

import re
import unicodedata
from datetime import date, time
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gllint_runtime import GLError, ScriptedProvider, Tool, ToolRegistry, ToolRuntime
from gllint_runtime.policy.numbers import scan_naked_numbers
from gllint_runtime.policy.rendered_text import is_numeral
from gllint_runtime.policy.rendering import format_quantity
from gllint_runtime.policy.schemas import Quantity
from gllint_runtime.policy.units import ALLOWED_UNITS

UNITS = ["kWh", "MWh", "kgCO2e", "USD", "m2", "degC", "%", "kWh/m2/year", "kWh/month"]
pieces = st.sampled_from(
    [
        *[
            "{{claim:0}}",
            "{{claim:1}}",
            "{{claim:2}}",
            "{claim:0}",
            "{{claim:01}}",
            "{{ claim:0 }}",
            "{{claim:",
        ],
        *["5", "12.5", "2,500", "500kWh", "٣", "½", "²", "Ⅻ", "&#53;", "&half;", "5\u200b0", "1e6"],
        *[
            "2024-10-02",
            "2024-13-02",
            "9999-99-99",
            "14:30",
            "25:00",
            "12:30:45",
            "v1.2.3",
            "v5",
            "ID-12",
            "ID_3",
            "PID-3",
        ],
        *[
            "\n1. ",
            "\n23. ",
            "\n",
            " ",
            " ",
            ", ",
            ". ",
            "-",
            "+",
            "$",
            "%",
            "*",
            "**",
            "`",
            "\n```\n",
            "<b>",
            "</b>",
        ],
        *[
            "kWh",
            "CO2",
            "CO2e",
            "m2",
            "kgCO2e",
            "the",
            "uses",
            "k",
            "e",
            "x",
            ":",
            "_",
            "\u200b",
            "\ufffc",
            "}",
            "{",
        ],
        *["12.50 kWh", "5.00 kWh"],
    ]
)
texts = st.lists(pieces, max_size=8).map("".join) | st.text(max_size=12)
values = (
    st.integers(-(10**6), 10**6)
    | st.floats(-1e6, 1e6)
    | st.sampled_from([5, 12.5, 1e-9, 10**20, float("inf")])
)
outputs = st.fixed_dictionaries(
    {"heat": st.fixed_dictionaries({"value": values, "unit": st.sampled_from(UNITS)})}
)

# The whitelist and the unit words once more, written apart from the scanner's own.
CONTEXTS = [
    r"(?:^|\n)\*{0,3}([0-9]+)\.\*{0,3}\s",
    r"\bv[0-9]+\.[0-9]+(?:\.[0-9]+)?\b",
    r"\bID[-_]?[0-9]+\b",
]
TIME = r"\b[0-9]{2}:[0-9]{2}(?::[0-9]{2})?\b"
DATE = r"\b[0-9]{4}-[0-9]{2}-[0-9]{2}\b"
UNIT_WORD = "|".join(
    sorted(
        (re.escape(u) for u in {*ALLOWED_UNITS, "CO2", "CO2e"} if re.search(r"\d", u)), key=len, reverse=True
    )
)
UNIT = rf"(?<!\w)(?:{UNIT_WORD})(?!\w)"


def accounted(message: str) -> set[int]:
    """The positions that a whitelisted context or a unit symbol accounts for, as seed 000 lists them."""
    for emphasis in (r"(?<![^\W_])_{1,3}(?=[^\W_])", r"(?<=[^\W_])_{1,3}(?![^\W_])"):
        message = re.sub(emphasis, lambda match: "*" * len(match[0]), message)
    spans = [match.span() for pattern in (*CONTEXTS, UNIT) for match in re.finditer(pattern, message)]
    for pattern, read in ((DATE, date.fromisoformat), (TIME, time.fromisoformat)):
        for match in re.finditer(pattern, message):
            try:
                read(match[0])
            except ValueError:
                continue
            spans.append(match.span())
    typographic = message.translate(str.maketrans("₂²³", "223"))
    spans += [match.span() for match in re.finditer(UNIT, typographic)]
    return {i for start, end in spans for i in range(start, end)}


def is_digit(char: str) -> bool:
    return unicodedata.category(char) in {"Nd", "No", "Nl"} or is_numeral(char)


HONEST = [
    "{{claim:0}}",
    "{{claim:1}}",
    " the ",
    " uses ",
    ", ",
    ".\n1. ",
    " 2024-10-02 ",
    " at 14:30",
    " v1.2",
    " ID-7",
    " m2 ",
]


@st.composite
def runs(draw: Any) -> tuple[list[Any], str, list[Any]]:
    """Outputs, a message and its claims: honest for the most part, with something wrong in one place or another."""
    given_outputs = draw(st.lists(outputs, min_size=1, max_size=2))
    honest = draw(st.lists(st.sampled_from(HONEST), max_size=6))
    if draw(st.booleans()):
        honest.insert(draw(st.integers(0, len(honest))), draw(texts))
    message = " ".join(honest)
    used = {int(index) for index in re.findall(r"\{\{claim:([0-9])\}\}", message)}
    drawn = []
    for _ in range(max(used, default=-1) + 1 + draw(st.sampled_from([0] * 9 + [1]))):
        call = draw(st.integers(1, len(given_outputs)) | st.integers(1, len(given_outputs) + 1))
        truth = given_outputs[min(call, len(given_outputs)) - 1]["heat"]
        quantity = draw(st.sampled_from([truth] * 8 + [{**truth, "value": 5}, {**truth, "unit": "kWh"}]))
        path = draw(st.sampled_from(["$.heat"] * 9 + ["$.cold", "heat", "$.heat.value"]))
        drawn.append({"source_call_id": f"tc_{call}", "path": path, "quantity": quantity})
    return given_outputs, message, drawn


def said_once(proven: str, behind: str) -> str:
    """A quantity as it is shown before a text: without its unit where the text types it once more."""
    value, _, unit = proven.partition(" ")
    return value if unit and re.match(rf"\s+{re.escape(unit)}(?!\w)", behind) else proven


@settings(max_examples=300)
@given(runs())
def test_each_digit_of_a_delivered_message_is_accounted_for(drawn: tuple[list[Any], str, list[Any]]) -> None:
    given_outputs, message, given_claims = drawn
    left = iter(given_outputs)
    registry = ToolRegistry()
    registry.register(Tool(name="meter", fn=lambda: next(left)))
    script = [{"kind": "tool_call", "tool_name": "meter", "arguments": {}}] * len(given_outputs)
    script.append({"kind": "final", "final": {"message": message, "claims": given_claims}})
    try:
        delivered = ToolRuntime(ScriptedProvider(script), registry).run("", "", max_retries=0)["message"]
    except GLError:
        return
    proven: list[str] = []
    for entry in given_claims:
        truth = given_outputs[int(entry["source_call_id"][3:]) - 1]["heat"]
        proven.append(format_quantity(Quantity(truth["value"], truth["unit"])))
    parts = re.split(r"\{\{claim:([0-9]+)\}\}", message)
    shown = [said_once(proven[int(part)], parts[i + 1]) if i % 2 else part for i, part in enumerate(parts)]
    assert delivered == "".join(shown)
    position = 0
    fine = accounted(delivered)
    for i, part in enumerate(shown):
        if i % 2:
            position += len(part)
            continue
        for char in part:
            assert not is_digit(char) or position in fine, (delivered, position)
            position += 1


@settings(max_examples=300)
@given(texts.filter(lambda text: not re.search("claim|&|\u202e|<bdo", text.lower())))
def test_without_macros_the_scanner_reports_where_a_digit_is_unaccounted_for(text: str) -> None:
    fine = accounted(text)
    loose = {i for i, char in enumerate(text) if is_digit(char) and i not in fine}
    reported = [set(range(number.start, number.end)) for number in scan_naked_numbers(text)]
    assert all(positions & loose for positions in reported)
    # the 2 of "500m2" is not reported once more beside its 500
    first_in_word = {i for i in loose if not any(map(is_digit, re.search(r"\w*\Z", text[:i])[0]))}  # type: ignore[index]
    assert first_in_word <= set().union(*reported)


@settings(max_examples=300)
@given(
    st.characters(categories=["Nd", "No", "Nl"]),
    st.sampled_from(["{}", "heat {} kWh", "x{}", "**{}**", "{}k"]),
)
def test_every_numeral_of_unicode_is_seen(char: str, template: str) -> None:
    assert scan_naked_numbers(template.format(char))


UNSEEN = [
    *["\u200b", "\u00ad", "\ufe0f", "\u0301", "\u2066", "\U000e0041", "*", "**", "_", "~~", "`", "{}", "\\,"],
    *[
        "<b>",
        "</i>",
        "<span class='a > b'>",
        "<warm-thing>",
        "<!-- y -->",
        "&shy;",
        "&zwj;",
        "(",
        "[",
        "\u2009",
    ],
]


@settings(max_examples=200)
@given(
    st.sampled_from([*"+-±−–➖√$€", "&minus;", "&plus;", "&dollar;"]),
    # A tag in code is text, and so parts a sign from a number.
    st.one_of(
        st.lists(st.sampled_from([text for text in UNSEEN if text[0] not in without]), max_size=30)
        for without in ("`", "<&")
    ).map("".join),
    st.sampled_from(["Heat: ", "heat", "", "\n"]),
)
def test_no_markup_parts_a_sign_from_its_number(sign: str, between: str, before: str) -> None:
    assert scan_naked_numbers(f"{before}{sign}{between}{{{{claim:0}}}}")


BLANKS = [" ", " 🔥", "<br>", "</p>", "&nbsp;", "\u2009"]
BEHIND = [*UNSEEN, ".", ",", ") ", '"', "…"]


@settings(max_examples=200)
@given(
    st.lists(
        st.sampled_from([*UNSEEN, " ", ": ", '"', "≈", "=", "🔥 ", "<br>", "<p>", "&nbsp;", "&bull;"]),
        max_size=9,
    ),
    # An asterisk between blanks is no markup but a sign of multiplication.
    st.lists(st.sampled_from([text for text in [*BEHIND, *BLANKS] if "*" not in text]), max_size=9)
    | st.lists(st.sampled_from([text for text in BEHIND if text not in ("\u2009", ") ")]), max_size=9),
)
def test_markup_alone_makes_no_number(before: list[str], after: list[str]) -> None:
    # Within a code span a tag or an entity is the text that it is written with.
    assume(not re.search("`.*[<&].*`", "".join([*before, *after]), re.DOTALL))
    assert scan_naked_numbers("".join(["Heat ", *before, "{{claim:0}}", *after])) == []


@settings(max_examples=200)
@given(texts)
def test_naked_numbers_are_in_order_apart_and_where_they_say(text: str) -> None:
    end = -1
    for number in scan_naked_numbers(text, words=True):
        assert end < number.start < number.end
        assert text[number.start : number.end] == number.text
        end = number.end


@given(st.text(max_size=30), st.integers(0, 3))
def test_reading_never_fails_in_another_way(text: str, claims_given: int) -> None:
    claim = {"source_call_id": "tc_1", "path": text, "quantity": {"value": 1, "unit": text}}
    for raw in (
        text,
        {"kind": text},
        {"name": text},
        {"kind": "final", "message": text, "claims": [claim] * claims_given},
    ):
        registry = ToolRegistry()
        registry.register(Tool(name="meter", fn=lambda: {"heat": {"value": 1, "unit": "kWh"}}))
        try:
            ToolRuntime(ScriptedProvider([raw]), registry).run("", text, max_retries=0)
        except GLError as error:
            assert error.code
