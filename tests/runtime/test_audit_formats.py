"""What a recorded run is read as: the turns of each shape, whose conversation they are, and how far it is read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gllint_runtime import audit_run
from gllint_runtime.audit import formats
from gllint_runtime.audit.formats import FormatError, Reader, payload
from gllint_runtime.audit.spans import in_order, spans_in
from gllint_runtime.audit.turns import Called, Returned, Said, Turn

USER: dict[str, Any] = {"role": "user", "content": "How much?"}
ASKED = Said("user", "How much?")
ANSWERED = Said("assistant", "It is 5.")


def turns(record: Any) -> list[Turn]:
    reader = Reader()
    parts = reader.read(record)
    read = [part if part.item is None else reader.conversation_of([part.item]) for part in parts]
    return [turn for part in read for turn in part.turns]


def entry(key: str, kind: str, value: Any) -> dict[str, Any]:
    """An attribute as the OpenTelemetry protocol writes it."""
    return {"key": key, "value": {kind: value}}


def numbered(*messages: dict[str, Any], head: str = "gen_ai.prompt") -> dict[str, Any]:
    return {
        f"{head}.{number}.{key}": value
        for number, message in enumerate(messages)
        for key, value in message.items()
    }


HISTORY = numbered(
    USER,
    {
        "role": "assistant",
        "tool_calls.0.id": "c1",
        "tool_calls.0.name": "meter",
        "tool_calls.0.arguments": '{"site": 7}',
        "tool_calls.1.id": "c2",
        "tool_calls.1.name": "scale",
    },
    {"role": "tool", "tool_call_id": "c1", "content": "5 kWh"},
    {"role": "tool", "tool_call_id": "c2", "content": "5 kWh"},
    *({"role": "user", "content": f"And {number}?"} for number in range(4, 12)),
)
PARTS = {"values": [{"kvlistValue": {"values": [entry("type", "stringValue", "text"), entry("content", "stringValue", "It is 5.")]}}]}  # fmt: skip
MESSAGE = {"values": [entry("role", "stringValue", "assistant"), entry("parts", "arrayValue", PARTS), {"key": 5}, "x"]}  # fmt: skip
ARGUMENTS = {
    "values": [
        entry("a", "doubleValue", 2.5),
        entry("b", "boolValue", True),
        entry("c", "intValue", 7),
        entry("d", "intValue", "8"),
        entry("e", "arrayValue", {}),
        entry("f", "kvlistValue", {}),
        entry("g", "arrayValue", {"values": [{"intValue": "9"}]}),
        entry("h", "arrayValue", 5),
        entry("i", "bytesValue", "x"),
        {"key": "j", "value": 5},
    ]
}
READ: dict[str, tuple[Any, list[Turn]]] = {
    "messages in numbered attributes": (
        {
            "attributes": {
                **HISTORY,
                **numbered({"role": "assistant", "content": "It is 5."}, head="gen_ai.completion"),
            }
        },
        [
            ASKED,
            Called("c1", "meter", {"site": 7}),
            Called("c2", "scale", None),
            Returned("c1", "", "5 kWh"),
            Returned("c2", "", "5 kWh"),
            *(Said("user", f"And {number}?") for number in range(4, 12)),
            ANSWERED,
        ],
    ),
    "attributes that only look numbered": (
        {
            "attributes": {
                "gen_ai.prompt.x.content": "1",
                "gen_ai.prompt.1": "2",
                "gen_ai.prompt.1234567.content": "3",
            }
        },
        [],
    ),
    "what is numbered and what is whole: the whole counts": (
        {
            "attributes": {
                "gen_ai.prompt": "How much?",
                "gen_ai.prompt.0.content": "And?",
                "gen_ai.prompt.0.role": "user",
            }
        },
        [ASKED],
    ),
    "values of the protocol": (
        {
            "attributes": [
                entry("gen_ai.output.messages", "arrayValue", {"values": [{"kvlistValue": MESSAGE}]})
            ]
        },
        [ANSWERED],
    ),
    "arguments of each kind": (
        {
            "attributes": [
                entry("gen_ai.tool.name", "stringValue", "meter"),
                entry("gen_ai.tool.call.id", "intValue", "12"),
                entry("gen_ai.tool.call.arguments", "kvlistValue", ARGUMENTS),
                entry("gen_ai.tool.call.result", "intValue", "5"),
                {"key": 5, "value": 5},
                "x",
            ]
        },
        [
            Called(
                "12",
                "meter",
                {
                    "a": 2.5,
                    "b": True,
                    "c": 7,
                    "d": 8,
                    "e": [],
                    "f": {},
                    "g": [9],
                    "h": {"arrayValue": 5},
                    "i": {"bytesValue": "x"},
                    "j": 5,
                },
            ),
            Returned("12", "meter", 5),
        ],
    ),
    "events by their names": (
        [
            {"attributes": {"event.name": "gen_ai.user.message"}, "body": {"content": "How much?"}},
            {
                "name": "gen_ai.choice",
                "attributes": {"message": {"content": "It is 5.", "role": "assistant"}},
            },
            {"attributes": {"event.name": 5, "gen_ai.prompt": "How much?"}},
        ],
        [ASKED, ANSWERED, ASKED],
    ),
    "messages that spans repeat": (
        {
            "spans": [
                {
                    "attributes": {
                        "gen_ai.input.messages": [
                            USER,
                            {"content": "How much?", "name": "again", "role": "user"},
                        ]
                    }
                },
                {
                    "attributes": {
                        "gen_ai.input.messages": json.dumps(
                            [USER, {"role": "assistant", "content": "It is 5."}]
                        )
                    }
                },
                {"attributes": {"gen_ai.system_instructions": "5", "gen_ai.prompt": "How much?"}},
                {"attributes": {"gen_ai.prompt": ["How much?", "5"]}},
                {"attributes": {"gen_ai.prompt": "[half"}},
            ]
        },
        [ASKED, ANSWERED, Said("system", "5"), Said("user", "How much?\n5"), Said("user", "[half")],
    ),
    "tools that a request declares": (
        {
            "messages": [USER],
            "tools": [
                {
                    "description": "Heat.",
                    "parameters": {"description": "Heat.", "site": [{"description": "Its site."}]},
                },
                5,
            ],
        },
        [Said("system", "Heat.\nIts site."), ASKED],
    ),
    "tools as a text": (
        {
            "attributes": {
                "gen_ai.tool.definitions": '[{"description": "Heat."}]',
                "gen_ai.prompt": "How much?",
            }
        },
        [Said("system", "Heat."), ASKED],
    ),
    "tools without a description": (
        {"messages": [USER], "tools": [{"name": "meter", "description": 5}]},
        [ASKED],
    ),
    "a constructor of LangChain": (
        [
            {
                "lc": 1,
                "id": ["langchain", "messages", "HumanMessage"],
                "kwargs": {"content": "How much?", "type": "human"},
            },
            {
                "lc": 1,
                "id": "AIMessage",
                "kwargs": {"tool_calls": [{"name": "meter", "args": {}, "id": "c1"}]},
            },
            {"lc": 1, "id": [], "kwargs": 5},
        ],
        [ASKED, Called("c1", "meter", {})],
    ),
    "answers of JSON-RPC": (
        [
            {
                "jsonrpc": "2.0",
                "id": 1,
                "method": "tools/call",
                "params": {"name": "meter", "arguments": {"site": 7}},
            },
            {
                "jsonrpc": "2.0",
                "id": 1,
                "result": {"content": [{"type": "text", "text": "5"}], "structuredContent": {"n": 5}},
            },
            {
                "jsonrpc": "2.0",
                "id": "x",
                "result": {"content": [{"type": "text", "text": "6"}], "structuredContent": None},
            },
            {"jsonrpc": "2.0", "id": True, "result": {"structuredContent": 0}},
            {"jsonrpc": "2.0", "id": 2, "result": {"content": "no", "isError": True}},
            {"jsonrpc": "2.0", "id": 3, "result": {"tools": [{"description": "Heat."}], "content": []}},
            {
                "jsonrpc": "2.0",
                "id": 4,
                "result": {"role": "assistant", "content": {"type": "text", "text": "It is 5."}},
            },
            {"jsonrpc": "2.0", "id": 5, "result": {"other": 5}},
            {"jsonrpc": "2.0", "id": 6, "result": "text"},
        ],
        [
            Called("1", "meter", {"site": 7}),
            Returned("1", "", {"n": 5}),
            Returned("x", "", "6"),
            Returned("", "", 0),
            Returned("2", "", None),
            Said("system", "Heat."),
            ANSWERED,
        ],
    ),
    "messages as a text": ({"data": json.dumps([USER])}, [ASKED]),
    "arguments that are no JSON, a result that is none": (
        [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"type": "function", "id": "c1", "function": {"name": "meter", "arguments": "{"}}
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": None},
            {"role": "user", "content": ""},
        ],
        [Called("c1", "meter", "{")],
    ),
}


@pytest.mark.parametrize("shape", READ)
def test_each_shape_is_read_as_its_turns(shape: str) -> None:
    record, expected = READ[shape]
    assert turns(record) == expected


RETURNED = {"role": "tool", "tool_call_id": "c", "content": "5 kWh"}


@pytest.mark.parametrize(
    "record",
    [
        *(
            {"messages": [USER], key: "It is 5."}
            for key in ("answer", "final_answer", "final_output", "output_text", "response", "result")
        ),
        {"messages": [USER, {"role": "assistant", "content": "Let me see."}, RETURNED], "answer": "It is 5."},
        {"messages": [{"type": "human", "content": "How much?"}], "answer": "It is 5."},
        {"messages": [USER], "structured_response": {"text": "It is 5."}},
        {"input": "How much?", "output_text": "It is 5."},
        {"object": "response", "output": [], "output_text": "It is 5."},
        {"object": "response", "output": [], "output_parsed": {"text": "It is 5."}},
        {"messages": [USER, {"role": "assistant", "content": None, "parsed": {"text": "It is 5."}}]},
        {"messages": [USER, {"role": "assistant", "text": "It is 5."}]},
        {"messages": [USER, {"role": "assistant", "parts": [{"type": "text", "text": "It is 5."}]}]},
    ],
)
def test_an_answer_that_stands_elsewhere_is_read(record: Any) -> None:
    [conversation] = Reader().read(record)
    assert (conversation.turns[-1], conversation.unread) == (ANSWERED, [])


def test_a_text_within_what_a_user_said_is_no_answer() -> None:
    said = {"role": "user", "content": [{"text": "How much?"}]}  # as Bedrock has it
    answered = {"role": "assistant", "content": [{"text": "It is 5."}]}
    [conversation] = Reader().read({"messages": [said, answered]})
    assert conversation.turns == [ASKED, ANSWERED]


def test_parts_without_a_text_are_read() -> None:
    said = {"role": "assistant", "parts": [{"type": "tool_call", "id": "a", "name": "b"}, {"type": "image"}]}
    [conversation] = Reader().read({"messages": [said]})
    assert conversation.turns == [Called("a", "b", None)]
    [conversation] = Reader().read({"messages": []})
    assert conversation.turns == []


def test_what_stands_beside_an_answer_is_no_other_one() -> None:
    answered = {"role": "assistant", "content": "It is 5."}
    for record in (
        {"messages": [USER, answered], "answer": "7", "structured_response": {"a": 7}},
        {"messages": [USER, {**answered, "parsed": {"a": 7}}]},
    ):
        [conversation] = Reader().read(record)
        assert conversation.turns == [ASKED, ANSWERED]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (' {"a": 5} ', {"a": 5}),
        ("[5", "[5"),
        ("5", "5"),
        ([{"type": "text", "text": " [5]"}], [5]),
        ([{"type": "text", "text": "5"}, {"type": "image", "data": "x"}, {"type": "text", "text": "[6]"}], ["5", [6]]),
        ([{"type": "text", "text": 5}], []),
        ([{"type": "resource", "resource": {"uri": "a://b", "text": "5 kWh"}}], "5 kWh"),
        ([{"type": "text", "text": "5"}, {"kind": 5}], [{"type": "text", "text": "5"}, {"kind": 5}]),
        ([{"type": "row", "text": "5"}], [{"type": "row", "text": "5"}]),
        ([{"type": ["text"], "text": "5"}], [{"type": ["text"], "text": "5"}]),
        ([], []),
        ([5, 6], [5, 6]),
        ({"type": "text", "text": "5"}, {"type": "text", "text": "5"}),
        ('{"a": NaN}', {"a": "NaN"}),
    ],
)  # fmt: skip
def test_a_result_is_taken_out_of_its_wrapping(value: Any, expected: Any) -> None:
    assert payload(value) == expected


@pytest.mark.parametrize(
    ("own", "whole", "piece"),
    [
        ({"conversation_id": "a", "thread_id": "b", "id": "c"}, "a", "a"),
        ({"traceId": "a", "task_id": "b"}, "a", "a"),
        ({"id": 0}, "0", ""),
        ({"id": "a", "name": "b"}, "a", ""),
        ({"id": "", "name": "b"}, "b", ""),
        ({"id": True, "name": "b"}, "b", ""),
        ({"id": {"trace_id": "a"}}, "", ""),
        ({"task_id": "a", "trial": 2}, "a/2", ""),
        ({"task_id": 7, "trial": 0}, "7/0", ""),
        ({"task_id": "a", "trial": "2"}, "a", ""),
        ({"run_id": "a", "trial": 2}, "a", ""),
    ],
)
def test_a_conversation_has_the_id_of_its_record(own: dict[str, Any], whole: str, piece: str) -> None:
    reader = Reader()
    assert [part.conversation for part in reader.read({"messages": [USER], **own})] == [whole]
    assert [(part.conversation, part.is_whole) for part in reader.read({**USER, **own})] == [(piece, False)]


def test_conversations_by_their_names_and_in_lists() -> None:
    record = {"one": [USER], "two": {"messages": [USER]}, "five": 5}
    assert [(part.conversation, part.turns) for part in Reader().read(record)] == [
        ("one", [ASKED]),
        ("two", [ASKED]),
    ]
    assert [part.turns for part in Reader().read([[USER], [[USER], {"messages": [USER, USER]}]])] == [
        [ASKED],
        [ASKED],
        [ASKED, ASKED],
    ]
    spans = [{"traceId": trace, "attributes": {"gen_ai.prompt": "How much?"}} for trace in ("t2", "t1", "t2")]
    records = Reader().read([{"spans": [*spans, 5]}, {"scopeSpans": [{"spans": spans[:1]}, 5]}])
    assert [(part.conversation, part.turns) for part in records] == [
        ("t2", [ASKED]),
        ("t1", [ASKED]),
        ("t2", [ASKED]),
    ]


def test_a_span_without_attributes_is_of_its_trace() -> None:
    spans = [
        {"name": "agent", "context": {"trace_id": "t1"}, "attributes": {}},
        {"name": "chat", "context": {"trace_id": "t1"}, "attributes": {"gen_ai.prompt": "How much?"}},
        {
            "name": "chat",
            "context": {"span_id": "s"},
            "attributes": {"gen_ai.prompt": "And?", "trace_id": "t1"},
        },
    ]
    [record] = Reader().read({"spans": spans})
    assert (record.conversation, record.turns) == ("t1", [ASKED, Said("user", "And?")])


@pytest.mark.parametrize("name", ["conversations", "runs", "data"])
def test_what_an_export_says_of_itself_makes_its_conversations_no_others(name: str) -> None:
    export = {name: [{"messages": [USER]}, {"messages": [USER]}], "metadata": {"model": "x"}}
    records = Reader().read(export)
    assert [(record.conversation, record.turns) for record in records] == [(name, [ASKED])] * 2
    assert [record.unread for record in records] == [[], []]
    export["draft"] = {"a": 5}
    assert Reader().read(export)[0].unread == ["'draft', which is no conversation,"]


def test_a_span_beside_whose_attributes_messages_stand_is_one() -> None:
    said = [{"role": "user", "parts": [{"type": "text", "content": "How much?"}]}]
    answered = [{"role": "assistant", "parts": [{"type": "text", "content": "It is 5."}]}]
    attributes = {"gen_ai.input.messages": said, "gen_ai.output.messages": answered}
    reader = Reader()
    [record] = reader.read({"trace_id": "t1", "attributes": attributes, "log": [USER]})
    assert record.conversation == "t1"
    assert reader.conversation_of([record.item]).turns == [ASKED, ANSWERED]


def test_a_rule_for_a_record_is_taken_before_the_names_of_its_members() -> None:
    said = {"role": "assistant", "content": "It is 5."}
    [record] = Reader().read({"custom_id": "a", "params": {"messages": [USER]}, "result": {"message": said}})
    assert (record.conversation, record.turns) == ("a", [ASKED, ANSWERED])
    [record] = Reader().read(
        {"custom_id": "a", "params": {"messages": [USER]}, "result": {"type": "errored"}}
    )
    assert (record.conversation, record.turns, record.unread) == ("a", [ASKED], [])


def test_a_request_that_failed_has_no_answer_that_anybody_passed_over() -> None:
    for error in (
        {"error": {"message": "busy", "code": 429}},
        {"type": "error", "error": {}, "request_id": "r"},
    ):
        [record] = Reader().read({"request": {"messages": [USER]}, "response": error})
        assert (record.turns, record.unread) == ([ASKED], [])
    said = {"error": "busy", "draft": "It is 5."}
    [record] = Reader().read({"request": {"messages": [USER]}, "response": said})
    assert record.unread == ["an item with the keys 'error', 'draft'"]


def test_what_holds_a_turn_is_taken_before_what_holds_none() -> None:
    [record] = Reader().read({"conversations": [{"messages": [USER, {"type": "hat"}]}]})
    assert (record.turns, record.unread) == ([ASKED], ["an item with the type 'hat'"])


def test_only_an_item_of_an_unknown_role_is_a_format_of_its_own() -> None:
    [record] = Reader().read([USER, {"type": "role_change"}])
    assert record.unread == ["an item with the type 'role_change'"]
    with pytest.raises(FormatError, match="the role 'wizard'"):
        Reader().read([USER, {"role": "wizard", "content": "5"}])


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        *(({key: "x" * 60, "other": 5}, f"an item with the {key} '{'x' * 60}'") for key in ("type", "part_kind", "kind", "method", "from")),
        *(({key: "x" * 61}, f"an item with the {key} '{'x' * 60}'") for key in ("type", "from")),
        ({"kind": "a", "type": "b", "method": "c"}, "an item with the type 'b'"),
        ({"kind": 5, "x" * 41: 6}, f"an item with the keys 'kind', '{'x' * 40}'"),
        (dict.fromkeys("abcdef"), "an item with the keys 'a', 'b', 'c', 'd', 'e'"),
    ],
)  # fmt: skip
def test_what_is_passed_over_is_named(item: dict[str, Any], expected: str) -> None:
    [record] = Reader().read([USER, item])
    assert record.unread == [expected]


@pytest.mark.parametrize("nothing", [None, [], {}, ""])
def test_nothing_is_no_conversation_and_no_fault(nothing: Any) -> None:
    assert Reader().read(nothing) == []
    [record] = Reader().read([USER, nothing or None, {"role": "user", "content": [None, True]}])
    assert (record.turns, record.unread) == ([ASKED], [])


def test_as_much_as_twenty_items_that_are_passed_over_are_named() -> None:
    [record] = Reader().read([USER, *({"type": f"hat {number}"} for number in range(25))])
    assert record.unread == [f"an item with the type 'hat {number}'" for number in range(20)]


def within(lists: int, item: Any) -> Any:
    for _ in range(lists):
        item = [item]
    return item


@pytest.mark.parametrize(
    ("record", "lists", "message"),
    [
        (lambda item: {"messages": item}, 0, USER),
        (lambda item: {"messages": {"data": item}}, 1, USER),
        (lambda item: {"messages": json.dumps(item)}, 1, USER),
        (lambda item: {"attributes": {"gen_ai.input.messages": [item]}}, 0, USER),
        (lambda item: {"messages": {"lc": 1, "id": "AIMessage", "kwargs": {"tool_calls": item}}}, 0, {"name": "meter", "args": {}}),
    ],
)  # fmt: skip
def test_a_record_is_read_sixty_levels_deep(record: Any, lists: int, message: Any) -> None:
    fits = 59 - lists + ("name" in message)
    assert len(turns(record(within(fits - 1, message)))) == 1
    with pytest.raises(FormatError, match="^the record is nested too deeply$"):
        turns(record(within(fits, message)))


def test_what_is_nested_beyond_all_bounds_is_refused() -> None:
    with pytest.raises(FormatError, match="^the record is nested too deeply$"):
        audit_run(within(5_000, USER))


def test_a_value_of_the_protocol_is_read_sixty_levels_deep() -> None:
    def read(levels: int, *, in_lists: bool) -> Any:
        value: Any = {"intValue": "5"}
        for _ in range(levels):
            entries = [value] if in_lists else [{"key": "a", "value": value}]
            value = {"arrayValue" if in_lists else "kvlistValue": {"values": entries}}
        [called] = turns({"attributes": {"gen_ai.tool.name": "meter", "tool_arguments": value}})
        assert isinstance(called, Called)
        leaf = called.arguments
        for _ in range(levels):
            leaf = leaf[0 if in_lists else "a"]
        return leaf

    for in_lists in (True, False):
        assert read(60, in_lists=in_lists) == 5
        assert read(61, in_lists=in_lists) == {"intValue": "5"}


def test_a_record_has_so_many_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "_MAX_ITEMS", 6)
    assert turns({"messages": [USER, USER]}) == [ASKED, ASKED]
    with pytest.raises(FormatError, match="^the record has too many parts$"):
        turns({"messages": [USER, USER, ""]})


def test_so_many_texts_of_tools_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "_MAX_DECLARED", 3)
    tools = [{"description": f"Tool {number}."} for number in range(5)]
    assert turns({"messages": [USER], "tools": tools})[0] == Said("system", "Tool 0.\nTool 1.\nTool 2.")
    tools = [*({} for _ in range(28)), *tools]  # thirty parts, the list among them
    assert turns({"messages": [USER], "tools": tools})[0] == Said("system", "Tool 0.")


@pytest.mark.parametrize(
    ("moments", "expected"),
    [
        ([3, "1", 2.5], "bca"),
        (["2024-05-02", "2024-05-01", None], "bac"),
        ([7, 5, True], "bac"),
        ([{"at": 1}, [1], 7], "cab"),
    ],
)
def test_items_are_in_order_of_their_time(moments: list[Any], expected: str) -> None:
    names = iter("abc")
    spans = [
        {
            "traceId": "t",
            "attributes": {"gen_ai.prompt": next(names)},
            **({} if at is None else {"end_time": at}),
        }
        for at in moments
    ]
    [record] = Reader().read({"spans": spans})
    assert "".join(turn.text for turn in record.turns if isinstance(turn, Said)) == expected


def test_what_is_in_operations_without_ids_stays_with_its_own() -> None:
    tree = [{"name": f"run {n}", "input": "?", "spans": [{"name": f"tool {n}", "output": n}]} for n in (1, 2)]
    names = [span.item["name"] for span, is_end, _ in in_order([*spans_in(tree)]) if is_end]
    assert names == ["tool 1", "run 1", "tool 2", "run 2"]


def test_an_operation_that_was_sent_twice_counts_once() -> None:
    tool: dict[str, Any] = {"gen_ai.tool.name": "orders", "gen_ai.tool.call.result": '{"n": 5}'}
    run = [{"spanId": "a", "attributes": {}}, {"spanId": "b", "parentSpanId": "a", "attributes": tool}]
    [record] = Reader().read({"spans": [*run, *run, {**run[1], "name": "of the same id"}]})
    assert len([turn for turn in record.turns if isinstance(turn, Returned)]) == 2


def test_operations_without_ids_that_are_alike_are_all_heard() -> None:
    items = [span for _ in range(2) for span in spans_in({"name": "meter", "output": 5})]
    assert [span.item["name"] for span, is_end, _ in in_order(items) if is_end] == ["meter", "meter"]
