"""Where the numbers in a call's arguments came from: an echoing tool cannot launder an invented one."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from gllint_runtime import (
    GLError,
    GLProvenanceError,
    Quantity,
    ScriptedProvider,
    Session,
    Tool,
    ToolRegistry,
    ToolRuntime,
)
from gllint_runtime.execution import origins as origins_module
from gllint_runtime.execution.origins import _number_of
from gllint_runtime.execution.record import Origin


@pytest.fixture
def tools() -> ToolRegistry:
    registry = ToolRegistry()
    registry.register(Tool(name="echo", fn=lambda value: {"heat": Quantity(value, "kWh")}))
    registry.register(Tool(name="meter", fn=lambda: {"heat": Quantity(731, "kWh"), "text": "also 444"}))
    registry.register(Tool(name="note", fn=lambda text: {"text": text}))
    registry.register(Tool(name="many", fn=lambda **anything: {"text": "ok"}))
    registry.register(
        Tool(
            name="rounded",
            args_schema={
                "type": "object",
                "properties": {
                    "digits": {"type": "integer", "enum": [0, 1, 2]},
                    "factor": {"type": "number", "default": 2.5},
                    "fixed": {"const": 9},
                    "list": {"type": "array", "items": {"enum": [6]}},
                    "flag": {"enum": [True]},
                },
            },
            fn=lambda **anything: {"text": "ok"},
        )
    )
    return registry


def origins(tools: ToolRegistry, *calls: Any, user: str = "", **options: Any) -> list[tuple[Any, str, Any]]:
    """Value, origin and source of each number in the arguments of the last call."""
    script = ScriptedProvider([*calls, {"kind": "final", "message": "Done"}])
    runtime = ToolRuntime(script, tools, **options)
    runtime.run("The system prompt says little.", user)
    record = list(runtime._run._calls.values())[-1]
    return [(o.value, o.kind, o.source) for o in record.origins or ()]


@pytest.mark.parametrize(
    ("user", "value", "known"),
    [
        ("Heat 5000 kWh", 5000, True),
        ("Heat 5000 kWh", 5000.0, True),
        ("Heat 5,000 kWh", 5000, True),
        ("Heat 5 000 kWh", 5000, True),
        ("Heat 5'000 kWh", 5000, True),
        ("Heat 5,5 kWh", 5.5, True),
        ("Heat 5.5e3 kWh", 5500, True),
        ("Heat 5000kWh", 5000, True),
        ("from -5 to 7 degC", -5, True),
        ("from -5 to 7 degC", 7, True),
        ("rooms 3, 4 and 5", 4, True),
        ("rooms 3,4 and 5", 3.4, True),
        ("rooms 3,05 and 5", 5.0, True),
        ("rooms 3,07 and 5", 7, False),
        ("٥٠٠ kWh", 500, True),
        ("1.2.3.4", 1.2, False),
        ("Heat 10,000 kWh", 0, False),
        ("Heat 800 m2 or 5 m²", 2, False),
        ("as CO2", 2, False),
        ("Heat 5000 kWh", 5001, False),
        ("Heat 5000 kWh", 5, False),
        ("Heat 5000 kWh", 0.05, False),
        ("5 to 7", -5, False),
        ("5 to 7", -7, False),
        ("", 888, False),
        ("²", 2, True),
    ],
)
def test_numbers_of_the_user(tools: ToolRegistry, step: Any, user: str, value: Any, known: bool) -> None:
    expected = (value, "user", None) if known else (value, "none", None)
    assert origins(tools, step.call("echo", value=value), user=user) == [expected]


def test_numbers_of_an_earlier_output(tools: ToolRegistry, step: Any) -> None:
    assert origins(tools, step.call("meter"), step.call("echo", value=731)) == [(731, "tool", "tc_1 $.heat")]
    assert origins(tools, step.call("meter"), step.call("echo", value=444)) == [(444, "tool", "tc_1 $.text")]
    assert origins(tools, step.call("meter"), step.call("echo", value=445)) == [(445, "none", None)]


def test_raw_numbers_count_where_they_are_allowed(step: Any) -> None:
    registry = ToolRegistry(allow_raw_numbers=True)
    registry.register(Tool(name="count", fn=lambda: {"rooms": [3, {"more": 4}]}))
    registry.register(Tool(name="use", fn=lambda a, b: {}))
    found = origins(registry, step.call("count"), step.call("use", a=3, b=4))
    assert found == [(3, "tool", "tc_1 $.rooms[0]"), (4, "tool", "tc_1 $.rooms[1].more")]


def test_constants(tools: ToolRegistry, step: Any) -> None:
    assert origins(tools, step.call("echo", value=0.35), constants={"grid factor": 0.35}) == [
        (0.35, "constant", "grid factor")
    ]


def test_values_that_the_tools_schema_declares(tools: ToolRegistry, step: Any) -> None:
    found = origins(tools, step.call("rounded", digits=2, factor=2.5, fixed=9, list=[6], flag=True))
    assert {kind for _, kind, _ in found} == {"schema"}
    assert [value for value, _, _ in found] == [2, 2.5, 9, 6]
    assert origins(tools, step.call("rounded", factor=3.5)) == [(3.5, "none", None)]


def test_numbers_inside_text_lists_and_names(tools: ToolRegistry, step: Any) -> None:
    user = "Compare 17 and 18 for the site Graz 4"
    call = step.call(
        "many", a="take 17 or 19 on 2024-10-02", b=[18, [20]], c={"d": {"21": True}}, e="site Graz 4"
    )
    assert {(value, kind) for value, kind, _ in origins(tools, call, user=user)} == {
        ("17", "user"),
        ("4", "user"),
        ("19", "none"),
        (18, "user"),
        (20, "none"),
        ("21", "none"),
    }


@pytest.mark.parametrize(
    ("user", "text", "kind"),
    [
        ("Heat 2500 kWh", "2500", "user"),
        ("Heat 2500 kWh", "500", "none"),
        ("Heat 2500 kWh", "25", "none"),
        ("Heat 2500 kWh", "0", "none"),
        ("Heat 2.5 kWh", "5", "none"),
        ("Heat 2.5 kWh", "2", "none"),
        ("Heat 2500 kWh", "2500.0", "user"),
        ("flat A17", "A17", "user"),
        ("flat A17", "A1", "none"),
        ("", "500.", "none"),
        ("", " 500.\n", "none"),
        ("", "5e2", "none"),
        ("half: ½", "½", "user"),
        ("x🔟🔟", "🔟", None),
        ("", "½", "none"),
        ("", "2024-10-02", None),
        ("", "infinity", None),
        ("", "NaN", None),
    ],
)
def test_text_quoted_from_the_user(tools: ToolRegistry, step: Any, user: str, text: str, kind: Any) -> None:
    found = origins(tools, step.call("note", text=text), user=user)
    assert [origin for _, origin, _ in found] == ([] if kind is None else [kind])


def test_text_quoted_from_an_output(tools: ToolRegistry, step: Any) -> None:
    heat = {"value": 5, "unit": "kWh"}
    sites = [{"id": "A-17", "heat": heat}, {"id": "B-18 and C-19", "empty": False}]
    tools.register(Tool(name="sites", fn=lambda: {"sites": sites}))
    for text, source in [("A-17", "tc_1 $.sites[0].id"), ("C-19", "tc_1 $.sites[1].id")]:
        assert origins(tools, step.call("sites"), step.call("note", text=text)) == [(text, "tool", source)]
    for text in ("A-1", "17x", "A-18"):
        ((_, kind, _),) = origins(tools, step.call("sites"), step.call("note", text=text))
        assert kind == "none"


@pytest.mark.usefixtures("unmeasured")
def test_a_quotation_is_found_among_many_texts(tools: ToolRegistry, step: Any) -> None:
    rows = [f"unit 1 of row {i}" for i in range(3000)]
    tools.register(Tool(name="rows", fn=lambda: {"rows": rows}))
    for text, known in [("unit 1 of row 2999", True), ("1 of row 7", True), ("row 3001", False)]:
        found = origins(tools, step.call("rows"), step.call("note", text=text))
        assert {kind for _, kind, _ in found} == {"tool" if known else "none"}


def test_quoting_an_invented_text_does_not_launder_it(tools: ToolRegistry, step: Any) -> None:
    script = [
        step.call("note", text="it is 500"),
        step.call("note", text="500"),
        step.call("many", value="500"),
        step.call("echo", value=500),
        step.final("It uses {{claim:0}}.", step.claim("$.heat", 500, "kWh", "tc_4")),
    ]
    runtime = ToolRuntime(ScriptedProvider(script), tools)
    (entry,) = runtime.run("", "")["provenance"]
    assert entry["grounded"] is False
    assert [record.grounded for record in runtime._run._calls.values()] == [False] * 4


def test_values_declared_in_a_branch_of_the_schema(step: Any) -> None:
    registry = ToolRegistry()
    choice = {"anyOf": [{"type": "integer", "enum": [10, 20]}, {"enum": [True]}, {"type": "number"}]}
    schema = {"type": "object", "properties": {"size": choice}}
    registry.register(Tool(name="pick", args_schema=schema, fn=lambda size: {}))
    assert origins(registry, step.call("pick", size=20)) == [(20, "schema", None)]
    assert origins(registry, step.call("pick", size=1)) == [(1, "none", None)]


def test_booleans_and_nothing_have_no_origin(tools: ToolRegistry, step: Any) -> None:
    assert origins(tools, step.call("many", a=True, b=None, c="text")) == []


# ----------------------------------------------------------------------------------------------- laundering


def laundered(tools: ToolRegistry, step: Any, **options: Any) -> dict[str, Any]:
    """The model invents 500, lets a tool echo it, then echoes the echo, and claims that."""
    script = [
        step.call("echo", value=500),
        step.call("echo", value=500),
        step.final("It uses {{claim:0}}.", step.claim("$.heat", 500, "kWh", "tc_2")),
    ]
    return ToolRuntime(ScriptedProvider(script), tools, **options).run("", "How much?")


def test_laundering_is_recorded_by_default(tools: ToolRegistry, step: Any) -> None:
    (entry,) = laundered(tools, step)["provenance"]
    assert entry["origins"] == [{"path": "$.value", "value": 500, "origin": "tool", "source": "tc_1 $.heat"}]
    assert entry["grounded"] is False


def test_laundering_is_refused_when_strict(tools: ToolRegistry, step: Any) -> None:
    with pytest.raises(
        GLProvenanceError, match="The number 500 in the arguments of 'echo' has no origin"
    ) as caught:
        laundered(tools, step, argument_origin="strict")
    assert (caught.value.code, caught.value.path) == ("MISSING_ORIGIN", "$.value")
    assert caught.value.context == [{"path": "$.value", "value": 500, "origin": "none", "source": None}]


def test_a_note_does_not_launder(tools: ToolRegistry, step: Any) -> None:
    script = [step.call("note", text="five hundred"), step.call("note", text="it is 500")]
    with pytest.raises(GLProvenanceError, match="MISSING_ORIGIN"):
        ToolRuntime(ScriptedProvider(script), tools, argument_origin="strict").run("", "")


def test_strict_lets_honest_calls_through(tools: ToolRegistry, step: Any) -> None:
    script = [
        step.call("meter"),
        step.call("echo", value=731),
        step.final("It uses {{claim:0}}.", step.claim("$.heat", 731, "kWh", "tc_2")),
    ]
    answer = ToolRuntime(ScriptedProvider(script), tools, argument_origin="strict").run("", "")
    assert answer["provenance"][0]["grounded"] is True


def test_a_grounded_source_is_preferred(tools: ToolRegistry, step: Any) -> None:
    script = [
        step.call("echo", value=731),
        step.call("meter"),
        step.call("echo", value=731),
        step.final("It uses {{claim:0}}.", step.claim("$.heat", 731, "kWh", "tc_3")),
    ]
    (entry,) = ToolRuntime(ScriptedProvider(script), tools).run("", "")["provenance"]
    assert entry["origins"][0]["source"] == "tc_2 $.heat"
    assert entry["grounded"] is True


def test_off_looks_at_nothing(tools: ToolRegistry, step: Any) -> None:
    (entry,) = laundered(tools, step, argument_origin="off")["provenance"]
    assert "origins" not in entry
    assert "grounded" not in entry


@pytest.mark.parametrize(
    ("text", "is_number"),
    [
        ("500", True),
        ("500.", True),
        ("-5e2", True),
        (" 7 ", True),
        ("1_000", True),
        ("5 kWh", False),
        ("nan", False),
        ("inf", False),
        ("1e", False),
        ("", False),
        ("٥", True),
    ],
)
def test_what_is_nothing_but_a_number(text: str, is_number: bool) -> None:
    assert (_number_of(text) is not None) is is_number


def test_a_quotation_is_not_put_together_from_two_texts() -> None:
    session = Session(argument_origin="strict")
    session.record("notes", {}, {"notes": ["row 5", "6 of it", "a\x00b 7"]})
    with pytest.raises(GLError, match="no origin"):
        session.record("note", {"text": "row 56 of it"}, {})
    call = session.record("note", {"text": "b 7"}, {"heat": {"value": 1, "unit": "kWh"}})
    claim = {"source_call_id": call, "path": "$.heat", "quantity": {"value": 1, "unit": "kWh"}}
    (origin,) = session.check("It is {{claim:0}}.", [claim]).provenance[0]["origins"]
    assert origin["source"] == "tc_1 $.notes[2]"


# --------------------------------------------------------------------------- said in another way, or by another name


def traced(session: Session, arguments: dict[str, Any], schema: Any = None) -> list[tuple[Any, str, bool]]:
    """Value, origin and whether it is grounded, of what the arguments hold."""
    origins = session.tool_arguments("book", arguments, args_schema=schema).origins
    return [(origin.value, origin.kind, origin.grounded) for origin in origins or ()]


@pytest.mark.parametrize(
    ("user", "arguments", "grounded"),
    [
        ("I have three bags.", {"bags": 3}, True),
        ("I have three bags.", {"bags": 4}, False),
        ("About two hundred fifty people.", {"people": 250}, True),
        ("My budget is 1.2k.", {"budget": 1200}, True),
        ("Take 12% off.", {"discount": 0.12}, True),
        ("Take 12% off.", {"discount": 0.13}, False),
        ("It weighs 2 tonnes.", {"mass_kg": 2000}, True),
        ("It weighs 2 tonnes.", {"mass_kg": 2001}, False),
        ("Pay 250 and 55 dollars.", {"amount": 305}, True),
        ("Pay 250 and 55 dollars.", {"amount": 306}, False),
        ("Pay 250 dollars, 55 euros.", {"amount": 305}, False),
        ("2 adults, 3 children and 1 infant", {"people": 6}, True),
        pytest.param(
            "A base of 12 m, which is at a height above the ground of 15 m",
            {"base": 27},
            False,
            marks=pytest.mark.xfail(strict=True, reason="lengths of two things are added up"),
        ),
        ("Two burgers and three shakes", {"quantities": [2, 3]}, True),
        ("At 37.87 N, 119.54 W", {"longitude": -119.54}, True),
        ("At 37.87 N, 119.54 E", {"longitude": -119.54}, False),
        ("We had a gain of $1000", {"gain": -1000}, False),
    ],
)
def test_what_the_user_said_in_another_way_is_traced(
    user: str, arguments: dict[str, Any], grounded: bool
) -> None:
    session = Session()
    session.user(user)
    assert {one[2] for one in traced(session, arguments)} == {grounded}


def test_a_number_in_the_unit_of_its_parameter_comes_from_the_output_in_another() -> None:
    session = Session(argument_origin="strict")
    session.record("gauge", {}, {"flow": {"value": 1250, "unit": "ft3/s"}})
    assert traced(session, {"discharge_m3_s": 35.4}) == [(35.4, "tool", True)]
    with pytest.raises(GLProvenanceError):
        session.tool_arguments("book", {"discharge_m3_s": 35.5})


NAMED = {"origin_kinds": {"numbers", "dates", "identifiers"}, "argument_origin": "strict"}


@pytest.mark.parametrize(
    ("user", "arguments"),
    [
        ("Fly on May 20 with HAT136.", {"flight": "HAT136", "date": "2024-05-20"}),
        ("Fly on the 20th of May, 2024.", {"date": "2024-05-20"}),
        ("On 5/20/2024, please", {"date": "20 May 2024"}),
        ("At 3 pm", {"time": "15:00"}),
        ("My card ends in 9725, user sofia_kim_7287", {"user": "sofia_kim_7287", "card": "9725"}),
        ("Use gift card 6276644.", {"payment": "gift_card_6276644"}),
        ("From 2024-05-20 move it to the next day.", {"date": "2024-05-21"}),
        ("From 2024-02-28 two days later.", {"date": "2024-03-01"}),
        ("From 2024-02-28 for three nights.", {"date": "2024-03-02"}),
        ("Since July 2022", {"date": "2022-07-01"}),
        ("Until February 2024", {"date": "2024-02-29"}),
        ("On Saturday. Today is 2023-04-25.", {"date": "2023-04-29"}),
        ("Ask 192.120.45.67", {"url": "https://192.120.45.67/api"}),
        ("Take 8384507844 and 7453605304", {"items": "['8384507844', '7453605304']"}),
        ("Take item_83845 and item_74536", {"items": "item_83845, item_74536"}),
        ("It is 500kWh in all", {"note": "500 kWh"}),
    ],
)
def test_dates_and_identifiers_are_traced_on_request(user: str, arguments: dict[str, Any]) -> None:
    session = Session(**NAMED)
    session.user(user)
    assert all(one[2] for one in traced(session, arguments))
    text = next(iter(arguments.values()))
    digit = next(char for char in reversed(text) if char.isdigit())
    wrong = text[::-1].replace(digit, str((int(digit) + 5) % 10), 1)[::-1]
    with pytest.raises(GLProvenanceError, match="has no origin"):
        session.tool_arguments("book", {next(iter(arguments)): wrong})


def test_a_date_is_moved_the_way_that_the_user_says() -> None:
    session = Session(**NAMED)
    session.user("Is there a flight two days later than 2024-05-20?")
    assert all(one[2] for one in traced(session, {"date": "2024-05-22"}))
    with pytest.raises(GLProvenanceError, match="has no origin"):
        session.tool_arguments("book", {"date": "2024-05-18"})


def test_an_id_under_a_plain_key_is_a_source() -> None:
    session = Session(plain_keys={"room_id"}, argument_origin="strict")
    session.record("rooms", {}, {"rooms": [{"room_id": 7321}]})
    assert traced(session, {"room_id": 7321}) == [(7321, "tool", True)]


def test_an_output_that_says_its_arguments_back_is_no_source_of_them() -> None:
    session = Session(plain_keys={"room_id"})
    session.record("hand_off", {"message": "For 500 m2?"}, "Handed over: For 500 m2? 31 are left.")
    session.record("look_up", {"room_id": 7321}, {"rooms": [{"room_id": 7321}, {"room_id": 7322}]})
    kinds = [kind for _, kind, _ in traced(session, {"a": 500, "b": 31, "c": 7321, "d": 7322})]
    assert kinds == ["none", "tool", "none", "tool"]


@pytest.mark.parametrize("text", [f"It is 5{' ' * 150_000}.", "a-" * 50_000])
def test_what_a_user_pads_is_read_once(text: str) -> None:
    session = Session(**NAMED)
    session.user(text)
    session.user("And twenty-one.")
    with pytest.raises(GLProvenanceError):
        session.tool_arguments("t", {"a": 77})
    assert traced(session, {"a": 21}) == [(21, "user", True)]


def test_numbers_of_an_output_that_is_text_alone_are_sources() -> None:
    session = Session()
    session.record("pay", {}, "Error: the total price of HAT136 on 2024-05-20 is 1,305.50, but paid 255")
    assert [one[2] for one in traced(session, {"a": 1305.5, "b": 255})] == [True, True]
    assert [one[2] for one in traced(session, {"a": 136, "b": 20, "c": 2024})] == [False] * 3


FLIGHTS = [
    {"flight": "HAT069", "prices": {"basic": 51, "economy": 121}, "seats": 17},
    {"flight": "HAT276", "prices": {"basic": 55, "economy": 162}, "seats": 9},
]
NAMES = [{"flight": "HAT069"}, {"flight": "HAT276"}]


@pytest.mark.parametrize(
    ("arguments", "amount", "grounded"),
    [
        ({"flights": NAMES}, 106, True),  # 51 + 55
        ({"flights": ["HAT069", "HAT276"]}, 283, True),  # 121 + 162
        ({"flights": NAMES}, 213, False),  # 51 + 162: not the same number of both
        ({"flights": NAMES}, 107, False),
        ({"flights": NAMES, "people": ["Ann", "Bob"]}, 212, True),
        ({"flights": NAMES, "people": ["Ann"]}, 212, False),
        ({"flights": [{"flight": "HAT069", "tickets": 3}, {"flight": "HAT276", "tickets": 2}]}, 263, True),
        ({"flight": "HAT069", "tickets": 3}, 153, True),
        ({"flight": "HAT999", "tickets": 3}, 153, False),
    ],
)
def test_the_total_of_what_a_call_names(arguments: dict[str, Any], amount: float, grounded: bool) -> None:
    session = Session(allow_raw_numbers=True)
    session.user("3 tickets and 2 tickets")
    session.record("search", {}, FLIGHTS)
    assert traced(session, {**arguments, "amount": amount})[-1][2] is grounded


def test_a_total_says_of_what_it_is_made_and_is_no_better_than_its_parts() -> None:
    price = {"item": "A-7", "price": {"value": 20, "unit": "USD"}}
    session = Session()
    call = session.tool_arguments("quote", {"guess": 20})
    session.record("quote", call, [price, {"item": "B-2", "price": {"value": 5, "unit": "USD"}}])
    *_, origin = session.tool_arguments("order", {"items": ["A-7", "B-2"], "total": 25}).origins or ()
    assert origin.source == "tc_1 $[0].price + tc_1 $[1].price"
    assert (origin.kind, origin.grounded) == ("tool", False)


def things(*names: str, key: str = "id") -> list[dict[str, str]]:
    return [{key: name} for name in names]


PRICED = [{"id": "A-7", "price": 20, "tax": 3}, {"id": "B-2", "price": 5}, {"id": "C-31", "price": 1}]
DEEP = [
    {"id": "A-7", "a": {"b": {"c": {"n": 20, "d": {"n": 40}}}}},
    {"id": "B-2", "a": {"b": {"c": {"n": 5}}}},
]
BOTH = "tc_1 $[0].price + tc_1 $[1].price"


@pytest.mark.parametrize(
    ("output", "arguments", "source"),
    [
        (PRICED, {"items": ["A-7", "B-2"], "sum": 25}, BOTH),
        (PRICED, {"items": things("A-7", "B-2"), "people": ["Ann", "Bob"], "sum": 50}, f"{BOTH}, 2 times"),
        (PRICED, {"items": ["A-7", "B-2"], "sum": 50}, None),  # its own length is no other's
        (PRICED, {"items": ["A-7", "B-2"], "people": [], "sum": 25}, BOTH),
        (PRICED, {"id": "A-7", "pieces": 3, "sum": 60}, "tc_1 $[0].price × 3"),
        (PRICED, {"id": "C-31", "pieces": 6}, None),  # a number of pieces is not made of itself
        (PRICED, {"orders": [{"id": "C-31", "pieces": 6}]}, None),
        (PRICED, {"id": "C-31", "seats": 6, "pieces": 6}, None),  # nor of another one
        (PRICED, {"orders": [{"id": "C-31", "seats": 6}], "id": "C-31", "pieces": 6}, None),
        (
            PRICED,
            {"id": "C-31", "people": ["x", "y"], "pieces": 6, "sum": 12},
            "tc_1 $[2].price × 6, 2 times",
        ),
        ([{"id": "D-4", "n": 0.5}], {"id": "D-4", "people": ["x", "y"], "pieces": 6, "sum": 6}, None),
        (
            PRICED,
            {"items": [{"id": "A-7", "n": 1}, {"id": "B-2", "n": 2}], "sum": 30},
            "tc_1 $[0].price + tc_1 $[1].price × 2",
        ),
        (PRICED, {"items": [{"id": "A-7", "n": 3}, {"id": "B-2"}], "sum": 65}, None),
        (PRICED, {"items": [{"id": "A-7", "n": 0}, {"id": "B-2", "n": 2}], "sum": 10}, None),
        (PRICED, {"a": {"b": {"c": ["A-7", "B-2"]}}, "sum": 25}, BOTH),
        (PRICED, {"trips": [{"legs": ["A-7", "B-2"]}], "sum": 25}, BOTH),
        (PRICED, {"trips": {"A-7": True, "B-2": True}, "sum": 25}, None),
        (PRICED, {"items": ["B-2"] * 12, "sum": 60}, " + ".join(["tc_1 $[1].price"] * 12)),
        (PRICED, {"items": ["B-2"] * 13, "sum": 65}, None),
        (PRICED, {"items": ["A-7"], "people": ["x"] * 12, "sum": 240}, "tc_1 $[0].price, 12 times"),
        (PRICED, {"items": ["A-7"], "people": ["x"] * 13, "sum": 260}, None),
        (DEEP, {"items": ["A-7", "B-2"], "sum": 25}, "tc_1 $[0].a.b.c.n + tc_1 $[1].a.b.c.n"),
        ([{"id": "A7", "price": 20}], {"id": "A7", "pieces": 3, "sum": 60}, None),  # too short for a name
        ([{"id": "long", "price": 20}], {"id": "long", "pieces": 3, "sum": 60}, None),  # no digit
        ([{"id": "7" * 100, "n": 20}], {"id": "7" * 100, "pieces": 3, "sum": 60}, "tc_1 $[0].n × 3"),
        ([{"id": "7" * 101, "n": 20}], {"id": "7" * 101, "pieces": 3, "sum": 60}, None),
        # What is left of a total once the other amounts, which are known, are taken off.
        (PRICED, {"items": ["A-7", "B-2"], "pay": [{"x": 3}, {"x": 22}]}, f"{BOTH} less 3"),
        (PRICED, {"pay": [20, 5, -4]}, None),
        ({"all": 305, "part": 250}, {"pay": [250, 55]}, "tc_1 $.all less 250"),
        ({"all": 305, "part": 250}, {"pay": [{"x": 250}, {"x": 55}]}, "tc_1 $.all less 250"),
        ({"all": 305, "part": 250}, {"pay": {"x": 250, "y": 55}}, None),
        ({"all": 305, "part": 250}, {"pay": [{"x": True}, {"x": 304}]}, None),
        ({"all": 305, "part": 250}, {"pay": [{"y": 250}, {"x": 55}]}, None),
        ({"all": 305, "part": 250}, {"pay": [{"x": 251}, {"x": 54}]}, None),
        ({"all": 305, "one": 1}, {"pay": [1] * 11 + [294]}, "tc_1 $.all less 11"),
        ({"all": 305, "one": 1}, {"pay": [1] * 12 + [293]}, None),
    ],
)
def test_what_a_total_or_a_rest_is_made_of(
    output: Any, arguments: dict[str, Any], source: str | None
) -> None:
    session = Session(allow_raw_numbers=True)
    session.record("look", {}, output)
    origins = session.tool_arguments("book", arguments).origins or ()
    assert (origins[-1].source, origins[-1].kind) == (source, "tool" if source else "none")


def test_the_rest_of_what_the_user_said_comes_from_the_user_and_of_what_nobody_said_from_nobody() -> None:
    session = Session(constants={"all": 305})
    session.user("Take the 250.")
    (_, rest) = session.tool_arguments("pay", {"parts": [250, 55]}).origins or ()
    assert (rest.kind, rest.source, rest.grounded) == ("constant", "all less 250", True)
    session.user("Of 417")
    (_, rest) = session.tool_arguments("pay", {"parts": [250, 167]}).origins or ()
    assert (rest.kind, rest.source) == ("user", "the whole less 250")
    call = session.tool_arguments("echo", {"guess": 31})
    session.record("echo", call, {"x": {"value": 31, "unit": "USD"}})
    (_, rest) = session.tool_arguments("pay", {"parts": [31, 274]}).origins or ()
    assert rest.kind == "none"


def test_an_object_that_only_says_an_argument_back_is_no_source_of_it() -> None:
    session = Session(plain_keys={"room_id"})
    session.record("look", {"room_id": 7321}, [{"id": "A-17", "room_id": 7321}])
    assert traced(session, {"id": "A-17", "room": 7321})[-1][1] == "none"


@pytest.mark.parametrize(
    ("amounts", "grounded"),
    [([250, 55], True), ([250, 0, 55], True), ([250, 45], False), ([200, 105], False), ([305], True)],
)
def test_what_is_left_of_a_total_when_the_other_amounts_are_taken_off(
    amounts: list[int], grounded: bool
) -> None:
    session = Session()
    session.record("profile", {}, {"certificate": {"value": 250, "unit": "USD"}})
    session.record("cart", {}, {"total": {"value": 305, "unit": "USD"}})
    payments = [{"amount": amount} for amount in amounts]
    assert traced(session, {"payments": payments})[-1][2] is grounded


@pytest.mark.usefixtures("unmeasured")
def test_a_total_over_huge_outputs_is_looked_for_within_bounds() -> None:
    session = Session(allow_raw_numbers=True)
    rows = [{"id": f"row-{i % 7}", **{f"n{j}": i * j for j in range(30)}} for i in range(300)]
    session.record("rows", {}, rows)
    items = [{"id": f"row-{i}", "pieces": 2} for i in range(7)]
    assert traced(session, {"items": items, "total": 7.77})[-1][2] is False


@pytest.mark.parametrize(
    ("source", "grounded"), [("user", True), ("tool", True), ("constant", True), ("nobody", False)]
)
def test_a_number_that_several_have_comes_from_whom_its_tool_asks_for(source: str, grounded: bool) -> None:
    schema = {"type": "object", "properties": {"amount": {"type": "number", "x-source": source}}}
    for tell_first in (True, False):
        session = Session(constants={"fee": 340})
        if tell_first:
            session.user("Pay three hundred and forty dollars.")
        session.record("page", {}, {"price": {"value": 340, "unit": "USD"}})
        if not tell_first:
            session.user("Pay 340 dollars, I mean three hundred and forty.")
        if grounded:
            assert traced(session, {"amount": 340}, schema) == [(340, source, True)]
        else:
            with pytest.raises(GLProvenanceError):
                session.tool_arguments("book", {"amount": 340}, args_schema=schema)


def test_without_that_request_dates_pass() -> None:
    session = Session(argument_origin="strict")
    assert traced(session, {"date": "2024-05-20"}) == []


def test_only_what_is_asked_for_is_traced() -> None:
    session = Session(origin_kinds={"dates"}, argument_origin="strict")
    assert traced(session, {"amount": 17, "text": "17 of them"}) == []
    with pytest.raises(GLProvenanceError):
        session.tool_arguments("book", {"date": "2024-05-20"})
    with pytest.raises(ValueError, match="origin_kinds"):
        Session(origin_kinds={"colours"})  # type: ignore[arg-type]


def test_a_tool_may_demand_its_source_and_a_scratchpad_asks_for_none() -> None:
    schema = {
        "type": "object",
        "properties": {"amount": {"type": "number", "x-source": "user"}, "note": {"type": "string"}},
    }
    session = Session()
    session.record("page", {}, {"price": {"value": 340, "unit": "USD"}})
    with pytest.raises(
        GLProvenanceError, match=r"340 in the arguments of 'book' may come from user alone.*tc_1"
    ):
        session.tool_arguments("book", {"amount": 340}, args_schema=schema)
    session.user("Pay 340 USD.")
    assert traced(session, {"amount": 340}, schema) == [(340, "user", True)]
    scratchpad = {"type": "object", "x-source": "any", "properties": {"expression": {"type": "string"}}}
    assert traced(Session(argument_origin="strict"), {"expression": "(17 - 4) * 3"}, scratchpad) == []


def _deep_schema(node: Any) -> Any:
    for _ in range(5_000):
        node = {"anyOf": [node]}
    return node


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": [1]},
        {"properties": "size"},
        {"properties": {"size": {"enum": 5}}},
        {"properties": {"size": {"anyOf": 5}}},
        {"properties": {"size": {"oneOf": None}}},
        {"properties": {"size": _deep_schema({"const": 1})}},
        {"properties": {"size": {"$ref": "#/properties/size"}}},
    ],
)
def test_a_schema_of_another_house_that_is_none_offers_nothing(schema: Any) -> None:
    assert traced(Session(), {"size": 5.5}, schema) == [(5.5, "none", False)]


def test_a_value_is_offered_behind_a_reference_too() -> None:
    schema = {
        "properties": {"size": {"$ref": "#/$defs/Size"}},
        "$defs": {"Size": {"enum": [5.5, 7.5]}},
    }
    assert traced(Session(), {"size": 5.5}, schema) == [(5.5, "schema", True)]


@pytest.mark.parametrize(
    ("bound", "most", "fitting", "beyond"),
    [
        ("_MAX_TRACED", 3, [1, 2, 3], [1, 2, 3, 4]),
        ("_MAX_TRACED_TEXTS", 2, ["x 1", "x 2"], ["x 1", "x 2", "x 3"]),
        ("_MAX_TRACED_LETTERS", 9, ["a 777", "a 77"], ["a 777", "a 777"]),
    ],
)
def test_arguments_are_traced_up_to_a_bound_and_the_rest_has_no_origin(
    bound: str, most: int, fitting: list[Any], beyond: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(origins_module, bound, most)
    assert len(traced(Session(), {"a": fitting})) == len(fitting)
    *_, rest = Session().tool_arguments("book", {"a": beyond}).origins or ()
    assert rest == Origin(f"$.a[{len(beyond) - 1}]", "the rest, too much to trace", "none", grounded=False)


def test_of_two_sources_of_a_plain_number_the_first_counts_that_is_grounded() -> None:
    session = Session(plain_keys={"*_id"})
    session.record("look", {"guess": 31}, {"room_id": 7321, "n_id": 5})
    session.record("look", {}, {"room_id": 7321})
    session.record("look", {}, {"room_id": 7321})
    room, other = session.tool_arguments("book", {"a": 7321, "b": 5}).origins or ()
    assert (room.source, room.grounded) == ("tc_2 $.room_id", True)
    assert (other.source, other.grounded) == ("tc_1 $.n_id", False)


def test_the_rest_of_a_total_beside_a_plain_number() -> None:
    session = Session(plain_keys={"part_id"})
    session.record("cart", {}, {"part_id": 250, "all": {"value": 305, "unit": "USD"}})
    assert traced(session, {"pay": [250, 55]})[-1] == (55, "tool", True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Sofia-Kim-7287", [("Sofia-Kim-7287", "tool", True)]),
        ("HAT136 and 17", [("HAT136", "user", True), ("17", "none", False)]),
        ("9725", [("9725", "user", True)]),
        ("7", [("7", "user", True)]),
        ("8", [("8", "none", False)]),
        ("HAT137", [("HAT137", "none", False)]),
    ],
)
def test_names_in_texts_come_from_whoever_said_them(text: str, expected: list[Any]) -> None:
    session = Session(origin_kinds={"numbers", "dates", "identifiers"})
    session.user("Fly hat-136, my card_9725 is in room 7")
    session.record("who", {}, {"user": "sofia_kim_7287"})
    assert traced(session, {"text": text}) == expected


def test_what_a_tool_demands_of_nobody_else_is_not_grounded() -> None:
    schema = {"type": "object", "properties": {"amount": {"type": "number", "x-source": "constant"}}}
    session = Session(levels="shadow")
    session.record("page", {}, {"price": {"value": 340, "unit": "USD"}})
    (origin,) = session.tool_arguments("book", {"amount": 340}, args_schema=schema).origins or ()
    assert (origin.kind, origin.grounded, origin.demand) == ("tool", False, "constant")
    (origin,) = session.tool_arguments("book", {"amount": 341}, args_schema=schema).origins or ()
    assert (origin.kind, origin.grounded, origin.demand) == ("none", False, None)


@pytest.mark.parametrize("mode", ["claims", "sourced"])
def test_dates_and_identifiers_need_an_origin_in_sourced_mode(mode: Literal["claims", "sourced"]) -> None:
    """In a value and in prose; `origin_kinds` says otherwise."""
    for settings in ({}, {"origin_kinds": {"numbers"}}):
        session = Session(mode=mode, argument_origin="strict", **settings)  # type: ignore[arg-type]
        session.user("Remove the bag of 1N99U6 on 2024-05-19.")
        session.tool_arguments("note", {"date": "2024-05-19", "text": "The user wants no bag on 1N99U6."})
        for arguments in ({"date": "2024-05-29"}, {"text": "The user wants no bag on 1N99U4."}):
            if mode == "claims" or settings:
                session.tool_arguments("note", arguments)
            else:
                with pytest.raises(GLProvenanceError, match="MISSING_ORIGIN"):
                    session.tool_arguments("note", arguments)
