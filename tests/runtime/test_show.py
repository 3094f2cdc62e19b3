"""An answer shows itself: as a page, and in a notebook; and nothing in it is taken for markup."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from lxml import html as parser

from gllint_runtime import ScriptedProvider, Session, Tool, ToolRegistry, ToolRuntime

HOSTILE = "<script>alert('x')</script>\"'&\x1b[31m]]>{{"


def verified(
    message: str = "Heat <{{claim:0}}> & {{claim:1}}, again {{claim:0}}.", name: str = "meter"
) -> Any:
    session = Session()
    output = {"heat": {"value": 12.5, "unit": "kWh"}, "roof": {"value": 3, "unit": "m2"}}
    session.record(name, {"note": HOSTILE}, output)
    claims = [
        {"source_call_id": "tc_1", "path": "$.heat", "quantity": {"value": 12500, "unit": "Wh"}},
        {"source_call_id": "tc_1", "path": "$.roof", "quantity": {"value": 3, "unit": "m2"}},
    ]
    return session.check(message, claims)


@pytest.fixture(scope="module")
def result() -> Any:
    registry = ToolRegistry()
    registry.register(
        Tool(name="meter", fn=lambda site: {"heat": {"value": 12.5, "unit": "kWh"}, "note": HOSTILE})
    )
    claim = {"source_call_id": "tc_1", "path": "$.heat", "quantity": {"value": 12.5, "unit": "kWh"}}
    steps = [
        {"kind": "tool_call", "tool_name": "meter", "arguments": {"site": HOSTILE}},
        {"kind": "final", "final": {"message": "It uses <b>500</b> kWh.", "claims": []}},
        {"kind": "final", "final": {"message": "Heat: {{claim:0}}", "claims": [claim]}},
    ]
    return ToolRuntime(ScriptedProvider(steps), registry).run("", "")


def test_each_number_says_where_it_comes_from() -> None:
    page = parser.fromstring(verified().to_html())
    message = page.find_class("message")[0]
    numbers = message.findall(".//data")
    assert [number.text for number in numbers] == ["12.50 kWh", "3.00 m2", "12.50 kWh"]
    assert [number.get("value") for number in numbers] == ["12.5", "3", "12.5"]
    assert all(number.get("tabindex") == "0" for number in numbers)
    for part in ("meter (tc_1)", "$.heat", "12.5 kWh", "claimed as 12500 Wh = 12.5 kWh"):
        assert part in page.find_class("source")[0].text_content()
        assert part in numbers[0].get("aria-label")
    assert "claimed as" not in page.find_class("source")[1].text_content()
    for source in page.find_class("source"):
        source.clear()
    assert message.text_content() == "Heat <12.50 kWh> & 3.00 m2, again 12.50 kWh."


def test_the_trace_is_a_timeline(result: Any) -> None:
    page = parser.fromstring(result.to_html())
    steps = page.findall(".//li")
    assert [step.find("b").text for step in steps] == ["Start", "Model", "Tool meter", "Model", "Model"]
    assert [step.get("class") for step in steps] == ["done", "done", "done", "failed", "done"]
    assert "Naked number '500'" in steps[3].text_content()
    assert '→ {"heat": {"value": 12.5' in steps[2].text_content() and "tc_1, " in steps[2].text_content()
    called = parser.fromstring(verified().to_html()).findall(".//li")
    assert [(step.find("b").text, step.get("class")) for step in called] == [("Tool meter", "done")]


def test_a_failed_tool_shows_why() -> None:
    registry = ToolRegistry()
    registry.register(Tool(name="meter", fn=lambda: 1 / 0))
    steps = [
        {"kind": "tool_call", "tool_name": "meter", "arguments": {}},
        {"kind": "final", "message": "None."},
    ]
    runtime = ToolRuntime(ScriptedProvider(steps), registry, repair_on={"TOOL_FAILED"})
    told = parser.fromstring(runtime.run("", "").to_html()).find_class("failed")[0].text_content()
    assert "ZeroDivisionError" in told and "failed, " in told


def test_a_long_text_is_shown_in_part() -> None:
    for length, more in ((2000, ""), (2001, "…")):
        step = '{"kind": "final", "message": "Dry."} '.ljust(length, "x")
        answer = ToolRuntime(ScriptedProvider([step]), ToolRegistry()).run("", "")
        assert parser.fromstring(answer.to_html()).findall(".//code")[-1].text == step[:2000] + more


@pytest.mark.parametrize("form", ["to_html", "_repr_html_"])
def test_nothing_is_taken_for_markup(form: str, result: Any) -> None:
    for shown in (result, verified(name=HOSTILE)):
        text = getattr(shown, form)()
        page = parser.fromstring(text)
        assert not page.xpath("//script|//img|//iframe") and "<script" not in text
        assert not page.xpath("//@*[starts-with(name(), 'on')]")
        assert "alert('x')" in page.text_content()
        assert not re.search(
            r"(?:src|href)=\"(?!data:,)|https?:|url\(|@import", text
        )  # nothing leaves the page
    assert getattr(verified("<b>{{claim:0}} {{claim:1}}"), form)().count("<b>{{") == 0


def test_a_notebook_gets_a_part_of_a_page(result: Any) -> None:
    assert not result._repr_html_().startswith("<!doctype") and result.to_html().startswith("<!doctype html>")
    assert result._repr_html_() in result.to_html()


def luminance(colour: str) -> float:
    colour = colour * 2 if len(colour) == 3 else colour
    parts = [int(colour[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    red, green, blue = (
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("mode", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("name", ["ink", "soft", "mark", "bad"])
def test_the_contrast_is_enough(mode: int, name: str) -> None:
    style = verified()._repr_html_()
    ink, paper = (
        luminance(re.findall(rf"--{variable}:#([0-9a-f]+)", style)[mode]) + 0.05
        for variable in (name, "paper")
    )
    assert max(ink, paper) / min(ink, paper) >= 4.5


def test_a_result_is_still_plain_data(result: Any) -> None:
    assert json.loads(json.dumps(result)) == result
    assert {*result} == {"message", "provenance", "metrics", "trace"}


def test_numbers_without_origin_are_named() -> None:
    session = Session(constants={"factor": 9})
    session.record(
        "meter", {"known": 9, **{f"n{i}": i for i in range(6)}}, {"heat": {"value": 5, "unit": "kWh"}}
    )
    claim = {"source_call_id": "tc_1", "path": "$.heat", "quantity": {"value": 5, "unit": "kWh"}}
    (source,) = parser.fromstring(session.check("{{claim:0}}", [claim]).to_html()).find_class("source")
    assert source.text_content().endswith("No origin for$.n0 = 0, $.n1 = 1, $.n2 = 2, $.n3 = 3, $.n4 = 4")
    session.record("meter", {"known": 9}, {"heat": {"value": 5, "unit": "kWh"}})
    grounded = session.check("{{claim:0}}", [{**claim, "source_call_id": "tc_2"}])
    assert "No origin" not in grounded.to_html()


def test_the_title_is_the_beginning_of_the_message() -> None:
    page = parser.fromstring(Session().check("a" * 79 + "bc").to_html())
    assert page.findtext(".//title") == "a" * 79 + "b"


def test_words_are_shown_in_their_own_letters() -> None:
    session = Session()
    session.record("meter", {"ort": "Köln"}, {"heat": {"value": 5, "unit": "kWh"}})
    claim = {"source_call_id": "tc_1", "path": "$.heat", "quantity": {"value": 5, "unit": "kWh"}}
    (source,) = parser.fromstring(session.check("{{claim:0}}", [claim]).to_html()).find_class("source")
    assert '{"ort": "Köln"}' in source.text_content()


def test_a_message_without_numbers() -> None:
    plain = Session().check("All <well>.")
    assert "All &lt;well&gt;." in plain.to_html() and "<ol>" not in plain.to_html()
