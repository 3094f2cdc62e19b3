"""Recorded runs at the edges: what is just within a bound and just beyond it, and every sentence that is said."""

from __future__ import annotations

import dataclasses
import gc
import json
import sys
from itertools import islice
from types import SimpleNamespace
from typing import Any

import pytest

from gllint_runtime import audit_run
from gllint_runtime.audit import answers, judgement, pieces
from gllint_runtime.audit.audit import judged_records, plain_run
from gllint_runtime.audit.formats import FormatError, Reader
from gllint_runtime.audit.judgement import Answer, Conversation, Number
from gllint_runtime.audit.page import page
from gllint_runtime.provenance import engine


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def said(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def call(call_id: str, tool: str, **arguments: Any) -> dict[str, Any]:
    function = {"name": tool, "arguments": json.dumps(arguments)}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": call_id, "function": function}]}


def returned(call_id: str, value: Any, **more: Any) -> dict[str, Any]:
    content = value if isinstance(value, str) else json.dumps(value)
    return {"role": "tool", "tool_call_id": call_id, "content": content, **more}


def judged(answer: str, *values: Any, asked: str = "Well?") -> list[tuple[str, str]]:
    """The verdicts over an answer after calls that returned some values."""
    run = [user(asked)]
    for number, value in enumerate(values):
        run += [call(f"c{number}", f"tool_{number}"), returned(f"c{number}", value)]
    return [(one["text"], one["verdict"]) for one in audit_run([*run, said(answer)]).numbers]


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({"a": 1}, "an object with the key 'a' is no conversation"),
        (dict.fromkeys("abcdef"), "an object with the keys 'a', 'b', 'c', 'd', 'e', 'f' is no conversation"),
        (
            dict.fromkeys("abcdefg"),
            "an object with the keys 'a', 'b', 'c', 'd', 'e', 'f' and more is no conversation",
        ),
        ("t", "a text is no conversation"),
        (True, "true or false is no conversation"),
        (3, "a number is no conversation"),
        ({"role": "sage"}, "an item with the role 'sage' is no conversation"),
        ({"role": "s" * 61}, f"an item with the role '{'s' * 60}' is no conversation"),
        ({"k" * 41: 1}, f"an object with the key '{'k' * 40}' is no conversation"),
        ([{"role": "sage"}], "an item with the role 'sage' is"),
        (["x"], "a text without a speaker is"),
        ([3], "a number among messages is"),
        ([{"a": 1, "b": 2}], "an item with the keys 'a', 'b' is"),
        ([{}], "an empty item is"),
    ],
)
def test_what_is_no_conversation_is_told_in_a_sentence(record: Any, expected: str) -> None:
    with pytest.raises(FormatError) as error:
        Reader().read(record)
    assert (
        str(error.value)
        == f"{expected} in {'a' if 'no conv' in expected else 'no'} known format; `--map FILE` names its paths"
    )


KWH = {"value": 10.2, "unit": "kWh"}


@pytest.mark.parametrize(
    ("answer", "value", "expected"),
    [
        # Digits that are so alike that only the unit can be wrong: rounded by a tenth at most.
        ("It used 10 kW.", KWH, "mislabelled"),
        ("It used 3 kW.", {"value": 3.2, "unit": "kWh"}, "unsourced"),
        ("It used 3 kW.", {"value": 3, "unit": "kWh"}, "mislabelled"),
        # A share is a hundredth of percent; what is counted has any name, and no size.
        ("It was 5 items.", {"value": 5, "unit": "1"}, "sourced"),
        ("It was 5 apples.", {"value": 5, "unit": "1"}, "sourced"),
        ("It was 5 ppm.", {"value": 5, "unit": "1"}, "mislabelled"),
        ("It was 5 %.", {"value": 5, "unit": "1"}, "mislabelled"),
        ("It was 5 h.", {"value": 5, "unit": "1"}, "mislabelled"),
        ("It was 5 h.", {"value": 5, "unit": "count"}, "sourced"),
        ("It was 5 %.", {"value": 5, "unit": "count"}, "mislabelled"),
        ("It was 5 kWh.", {"value": 5, "unit": "count"}, "mislabelled"),
        ("It was 5 people.", {"value": 5, "unit": "widgets"}, "mislabelled"),
        ("It was 5 people.", {"value": 5, "unit": "kWh"}, "mislabelled"),
        ("It was 5.1 kWh.", {"value": 5.1, "unit": "widgets"}, "sourced"),
        ("It was 50 %.", {"value": 0.5, "unit": "ratio"}, "sourced"),
        ("It was 50 %.", {"value": 0.5, "unit": "kWh"}, "unsourced"),
        # The day of a date is no number of anything else, unless it stands for a day.
        ("It was on the 14th.", "It began on 14 May 2024.", "quoted"),
        ("They had 14 of them.", "It began on 14 May 2024.", "unsourced"),
        # A card is named by its last four digits.
        ("The card ending in 4242.", {"card": "XXXX-4242"}, "quoted"),
        ("The card ending in 4242.", {"card": "x4242"}, "quoted"),
        ("The card ending in 4243.", {"card": "x4242"}, "unsourced"),
    ],
)
def test_a_number_at_an_edge(answer: str, value: Any, expected: str | None) -> None:
    assert [verdict for _, verdict in judged(answer, value)] == ([] if expected is None else [expected])


def test_a_source_says_what_was_returned() -> None:
    for value, answer, expected in (
        ({"n": 0}, "It is 0 kWh.", 0),
        ({"n": 7.25}, "It is 7.25.", 7.25),
        ({"id": "HAT136"}, "It is HAT136.", "HAT136"),
        ("They are 7.25.", "It is 7.25.", 7.25),
    ):
        run = [user("Well?"), call("c0", "meter"), returned("c0", value), said(answer)]
        [number] = audit_run(run).numbers
        assert number["source"] is not None and number["source"]["value"] == expected


def test_a_result_without_an_id_is_that_of_the_oldest_call_of_its_tool() -> None:
    run = [
        user("Well?"),
        call("c1", "meter", site=41),
        call("c2", "scale", site=42),
        call("c3", "scale", site=43),
        returned("", {"heat": 17.5}, name="scale"),
        returned("", {"heat": 18.5}, name="scale"),
        returned("", {"heat": 19.5}),
        returned("", {"heat": 20.5}),
        said("17.5, 18.5, 19.5 and 20.5."),
    ]
    sources_ = [one["source"] for one in audit_run(run, format="openai").numbers]
    assert [(one["call_id"], one["tool"]) for one in sources_] == [
        ("c2", "scale"),
        ("c3", "scale"),
        ("c1", "meter"),
        ("call_4", "a tool"),
    ]


@pytest.mark.parametrize(
    ("hosted", "verdicts"),
    [
        ({"type": "web_search_call", "status": "completed"}, []),
        ({"type": "file_search_call", "queries": ["heat"], "results": None}, []),
        ({"type": "file_search_call", "queries": ["heat"], "results": [{"text": "13.7 kWh"}]}, ["sourced"]),
        ({"type": "code_interpreter_call", "code": "x", "outputs": None}, []),
        ({"type": "local_shell_call", "call_id": "x", "action": {"command": ["ls"]}}, []),
        ({"type": "image_generation_call", "status": "completed", "result": "iVBORw0K"}, []),
    ],
)
def test_no_number_is_unsourced_behind_a_hosted_call_whose_result_is_not_recorded(
    hosted: dict[str, Any], verdicts: list[str]
) -> None:
    told = {"type": "message", **said("It is 13.7 kWh.")}
    run = audit_run([user("Heat?"), {"id": "h1", **hosted}, told])
    assert [number["verdict"] for number in run.numbers] == verdicts


@pytest.mark.parametrize(
    ("page", "verdicts"), [({"encrypted_content": "EqgfCioIARgB"}, []), ({"text": "3 kWh"}, ["unsourced"])]
)
def test_no_number_is_unsourced_behind_a_page_that_nobody_can_read(
    page: dict[str, Any], verdicts: list[str]
) -> None:
    search = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "heat"}}
    pages = {"type": "web_search_result", "title": "Heat", "url": "https://a.org", **page}
    result = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [pages]}
    parts = [search, result, {"type": "text", "text": "It is 13.7 kWh."}]
    run = audit_run([user("Heat?"), {"role": "assistant", "content": parts}])
    assert [number["verdict"] for number in run.numbers] == verdicts


def test_what_is_forgotten_and_what_is_not_read_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_MAX_WEIGHT", 5_000)
    monkeypatch.setattr(judgement, "_MAX_ANSWER", 20)

    def audit(many: int, answer: str) -> Conversation:
        run = [user("Well?"), call("c1", "meter"), returned("c1", [*range(31, 31 + many)]), said(answer)]
        [conversation] = audit_run(run).conversations
        return conversation

    whole = audit(4, "It is 31, 34 of it.."[:20])
    assert [one.verdict for one in whole.numbers] == ["sourced", "sourced"] and whole.notes == []
    run = [user("Well?"), call("c1", "meter"), returned("c1", [31, 32]), call("c2", "meter")]
    run += [returned("c2", [33, 34, 35]), said("It is 31, 34, 35, or 36.")]
    [beyond] = audit_run(run).conversations
    assert [(one.text, one.verdict) for one in beyond.numbers] == [
        ("31", "unsourced"),
        ("34", "sourced"),
        ("35", "sourced"),
    ]
    assert beyond.notes == [
        "answer 1 was judged up to its character 20",
        "it has more numbers than are remembered: those of the oldest turns were forgotten",
    ]
    items = [{"type": "wizard"}, {"type": "wizard"}, {"type": "hat"}, user("Well?"), said("Well.")]
    assert audit_run(items, format="openai").conversations[0].notes == [
        "an item with the type 'wizard' was passed over (2 times)",
        "an item with the type 'hat' was passed over",
    ]
    mixed = audit_run([{"messages": [user("Well?"), said("It is 5.")]}, "stray"], format="openai")
    assert [one.notes for one in mixed.conversations] == [["a text without a speaker was passed over"]]


def span(trace: str, end: Any, *messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    texts = [
        {"role": one["role"], "parts": [{"type": "text", "content": one["content"]}]} for one in messages
    ]
    own = {
        "context": {"trace_id": trace},
        "name": "chat",
        "attributes": {"gen_ai.input.messages": json.dumps(texts)},
    }
    return {**own, **({} if end is None else {"end_time": end}), **more}


def test_spans_are_in_order_of_time_and_each_message_counts_once() -> None:
    first, second = user("How many?"), said("There are 31.")
    spans = [
        span("t1", None, said("There are 36.")),  # without a time, thus last
        span("t1", "2024-05-14T10:00:00Z", said("There are 35.")),
        span("t1", 20, first, second, said("There are 34.")),
        span("t2", 15, said("There are 37.")),
        span("t1", 10, first, second),
    ]
    conversations = audit_run({"spans": spans}, format="otel").conversations
    assert [(one.conversation, [entry.text for entry in one.numbers]) for one in conversations] == [
        ("t1", ["35", "31", "34", "36"]),
        ("t2", ["37"]),
    ]


def test_turns_of_many_conversations_that_come_in_pieces() -> None:
    reader = Reader()
    turns = [
        {**said(f"There are {number}."), "thread_id": thread}
        for number, thread in ((31, "a"), (32, "b"), (33, "a"), (34, "c"), (35, "a"))
    ]
    outcome = [
        (one.conversation, [number.text for number in one.numbers], one.is_continued)
        for one in judged_records(reader.read(turn) for turn in turns)
    ]
    assert outcome == [
        ("a", ["31", "33", "35"], False),
        ("b", ["32"], False),
        ("c", ["34"], False),
    ]
    bare = [*judged_records(reader.read(said(f"There are {number}.")) for number in (31, 32))]
    assert [(one.conversation, len(one.numbers), one.is_continued) for one in bare] == [
        ("1", 1, True),
        ("1", 1, True),
        ("1", 0, False),
    ]


def number(text: str, verdict: Any, start: int, **source: Any) -> Number:
    basis = {"call_id": "", "tool": "meter", "path": "$.heat", "value": 5, "unit": None, **source}
    return Number("7", 0, text, start, start + len(text), verdict, None, basis if source else None)


def test_a_page_counts_and_cuts(monkeypatch: pytest.MonkeyPatch) -> None:
    def shown(*conversations: Conversation) -> str:
        return page(conversations)

    answer = Answer(0, "31 of 32", [number("31", "sourced", 0, unit="kWh"), number("32", "exempt", 6)])
    one = Conversation("7", [answer])
    assert "<p>1 conversation, 1 answer, 2 numbers.</p>" in shown(one)
    assert "<p>2 conversations, 2 answers, 4 numbers.</p>" in shown(one, one)
    assert "<p>1 conversation, 2 answers, 4 numbers.</p>" in shown(
        one, dataclasses.replace(one, is_continued=True)
    )
    assert "<p>0 conversations, 0 answers, 0 numbers.</p>" in shown()
    assert "Conversation 7</h2>" not in shown(Conversation("7", [Answer(0, "None.", [])]))
    assert '<p class="soft">a note</p>' in shown(Conversation("7", [], ["a note"]))
    assert f"<h2>Conversation {'x' * 200}</h2>" in shown(dataclasses.replace(one, conversation="x" * 200))
    assert f"<h2>Conversation {'x' * 200}…</h2>" in shown(dataclasses.replace(one, conversation="x" * 201))
    assert '<a class="n sourced" href="#c0-0-0"' in shown(one) and '<tr id="c0-0-0">' in shown(one)
    assert '<span class="n exempt"' in shown(one) and "c0-0-1" not in shown(one)
    assert "<code>5 kWh</code> from meter <code>$.heat</code>" in shown(one)
    faulty = Conversation("8", [Answer(0, "33", [number("33", "unsourced", 0)])])
    both = shown(one, faulty)
    assert both.index("Conversation 8") < both.index("Conversation 7")
    assert '<td class="unsourced">unsourced</td><td>no source</td>' in both
    typed = Conversation("9", [Answer(0, "33 <b>", [number("33", "unsourced", 0)._replace(unit="<b>")])])
    assert "<td>33 &lt;b&gt;</td>" in shown(typed) and "<td>33</td>" in shown(faulty)
    monkeypatch.setattr("gllint_runtime.audit.page._MAX_PAGE", 10)
    assert "3 more are not shown." in shown(one, one, one, one)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"text": "It is 5."}, "It is 5."),
        ("It is 5.", "It is 5."),
        (5, "5"),
        ([5, None, True, 6], "5\n6"),
        ({"a": 5, "level_2": 6, "c": [7, {"d": 8}], "e": True, "f": None, "": 9}, "a: 5\n6\nc: 7\nd: 8\n9"),
        ({"a": {"b": (5,)}}, "5"),
        ([{"a": 5}], "5"),
        (None, ""),
        ({}, ""),
    ],
)
def test_an_answer_that_is_no_text_is_a_line_for_each_part(
    arguments: Any, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert answers.answer_text(arguments) == (expected, True)
    monkeypatch.setattr(answers, "_MAX_PARTS", 4)
    assert answers.answer_text([5, 6, 7]) == ("5\n6\n7", True)
    assert answers.answer_text([5, 6, 7, 8]) == ("5\n6\n7", False)
    assert answers.answer_text({"a": 5, "b": 6, "c": [7, 8]}) == ("a: 5\nb: 6", False)
    assert answers.answer_text([[[[5]]]]) == ("", False)


@pytest.mark.parametrize(
    ("tool", "is_answer"),
    [
        ("final_answer", True),
        ("final_result_Report", True),
        ("final_answer_2", False),
        ("my_final_answer", False),
    ],
)
def test_some_tools_are_the_answer_itself(tool: str, is_answer: bool) -> None:
    assert answers.is_answer_tool(tool) is is_answer


@pytest.mark.parametrize(
    ("value", "is_receipt"),
    [
        ("Final result processed.", True),
        ("Returning structured response: text='5'", True),
        ("The Final result processed.", False),
        ({"text": "Final result processed."}, False),
        (5, False),
    ],
)
def test_a_framework_writes_a_receipt(value: Any, is_receipt: bool) -> None:
    assert answers.is_receipt(value) is is_receipt


@pytest.mark.parametrize(
    ("answer", "counts", "has_faults"),
    [
        ("1. Of 5 kWh, by COVID-19.", {"sourced": 1, "exempt": 2}, False),
        ("Of 5 kWh or 7 kWh or 8 kWh.", {"sourced": 1, "unsourced": 2}, True),
        ("Of 5 EUR.", {"mislabelled": 1}, True),
        ("None.", {}, False),
    ],
)
def test_an_audit_counts_its_numbers(answer: str, counts: dict[str, int], has_faults: bool) -> None:
    audit = audit_run([user("Well?"), call("c1", "zähler"), returned("c1", {"n_kwh": 5}), said(answer)])
    assert (audit.counts, audit.has_faults) == (counts, has_faults)


def test_an_audit_is_written_as_json() -> None:
    audit = audit_run([user("Well?"), call("c1", "zähler"), returned("c1", {"n": 5}), said("It is 5.")])
    text = audit.to_json()
    assert (
        text.startswith('[\n  {\n    "conversation": "1",')
        and text.endswith("  }\n]\n")
        and '"zähler"' in text
    )


class Dumped:
    """What pydantic makes of a model."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def model_dump(self) -> dict[str, Any]:
        return {"inner": self.inner}


@dataclasses.dataclass
class Box:
    inner: Any


class Span:
    """As OpenTelemetry's SDK has one in memory."""

    def __init__(self, attributes: Any, trace_id: int | None = None, **more: Any) -> None:
        self.name, self.attributes = "chat", attributes
        if trace_id is not None:
            self.context = SimpleNamespace(trace_id=trace_id)
        vars(self).update(more)


@pytest.mark.parametrize(
    ("wrap", "unwrap", "levels"),
    [
        (lambda inner: [inner], lambda outer: outer[0], 1),
        (lambda inner: (inner,), lambda outer: outer[0], 1),
        (lambda inner: {"inner": inner}, lambda outer: outer["inner"], 1),
        (Box, lambda outer: outer["inner"], 1),
        (Dumped, lambda outer: outer["inner"] if isinstance(outer, dict) else outer.inner, 2),
        (Span, lambda outer: outer["attributes"], 2),
    ],
)
def test_objects_are_made_plain_sixty_levels_deep(wrap: Any, unwrap: Any, levels: int) -> None:
    class Leaf:
        def __str__(self) -> str:
            return "leaf"

    leaf: Any = Leaf()

    def inmost(count: int) -> Any:
        run = leaf
        for _ in range(count):
            run = wrap(run)
        run = plain_run(run)
        for _ in range(count):
            run = unwrap(run)
        return run

    assert inmost(60 // levels) == "leaf" and inmost(60 // levels + 1) is leaf


def test_what_is_in_memory_is_the_data_of_its_json() -> None:
    span = Span({"a": 5}, 255, start_time=1, end_time=2, events=(Box(5),), other=6)
    named = {"name": "chat", "attributes": {"a": 5}, "start_time": 1, "end_time": 2}
    assert plain_run(span) == {**named, "events": [{"inner": 5}], "trace_id": "ff"}
    bare = {"name": "chat", "attributes": None, "start_time": None, "end_time": None, "events": None}
    assert plain_run(Span(None)) == bare
    assert plain_run(Span(None, context=5)) == {**bare, "trace_id": "0"}
    assert plain_run({5: [None, True, 2.5, Box]}) == {"5": [None, True, 2.5, str(Box)]}
    half = SimpleNamespace(name="chat"), SimpleNamespace(attributes={}), SimpleNamespace(model_dump=5)
    assert plain_run(half) == [str(one) for one in half]


def test_conversations_without_a_name_are_counted() -> None:
    runs = [[said("It is 31.")], {"messages": [said("It is 32.")], "id": "x"}, [said("It is 33.")]]
    assert [one.conversation for one in audit_run(runs).conversations] == ["1", "x", "3"]


def test_conversations_in_a_member_have_their_own_ids_next_to_what_is_none() -> None:
    runs = [{"id": name, "messages": [said(f"It is {number}.")]} for name, number in (("a", 31), ("b", 32))]
    first, second = audit_run({"tasks": [{"id": 1, "description": "x"}], "simulations": runs}).conversations
    assert (first.conversation, second.conversation) == ("a", "b")
    assert first.notes == ["'tasks', which is no conversation, was passed over"] and not second.notes
    unread = audit_run({"a": [said("It is 31.")], "b": [{"hat": 5, "tool_output": "32"}]}).conversations
    assert [one.has_results_unread for one in unread] == [False, True]


def test_what_is_passed_over_in_pieces_is_told_of_their_conversation() -> None:
    reader = Reader()
    strange = {"role": "user", "content": [{"type": "hat"}, {"type": "hat"}, {"type": "text", "text": "31?"}]}
    pieces = [{**strange, "thread_id": "a"}, {**call("c1", "meter"), "thread_id": "b"}, {**strange, "thread_id": "a"},
              {**said("It is 31."), "thread_id": "a"}]  # fmt: skip
    outcome = {one.conversation: one for one in judged_records(reader.read(piece) for piece in pieces)}
    assert outcome["a"].notes == ["an item with the type 'hat' was passed over (2 times)"] * 2
    assert [number.verdict for number in outcome["a"].numbers] == ["quoted"]
    assert not outcome["a"].has_answer_unread and outcome["b"].has_answer_unread
    assert outcome["b"].notes == ["it calls tools and has no answer that can be read"]


def test_spans_that_come_one_by_one_are_put_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    def outcome(*spans: dict[str, Any]) -> list[tuple[str, list[tuple[str, str]], list[str]]]:
        reader = Reader()
        return [
            (one.conversation, [(number.text, number.verdict) for number in one.numbers], one.notes)
            for one in judged_records(reader.read(one) for one in spans)
        ]

    asked, answered = span("t1", 1, user("Of 31?")), span("t1", 2, said("It is 31."))
    other, plain = span("t2", 3, said("It is 32.")), span("t3", 4)
    strange = {**span("", 5, said("It is 33.")), "events": [{"hat": 5}]}
    both: tuple[str, list[tuple[str, str]], list[str]] = ("t1", [("31", "quoted")], [])
    unread = ("1", [("33", "unsourced")], ["an item with the keys 'hat' was passed over"])
    assert outcome(answered, other, asked, plain, strange) == [
        both,
        ("t2", [("32", "unsourced")], []),
        ("t3", [], []),
        unread,
    ]
    assert [one for one, *_ in outcome(answered, other, plain, asked)] == ["t1", "t2", "t3"]
    monkeypatch.setattr(pieces, "_MAX_ITEMS", 2)
    assert outcome(answered, asked, answered) == [both, ("t1", [("31", "unsourced")], [])]


def test_pieces_wait_in_a_file_and_long_conversations_come_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every kind of turn survives the file; memory has one conversation, of which no part is longer than the bound."""
    turns = [
        {**user("Of 31?"), "timestamp": "2026-03-04T10:00:00Z"},
        call("c1", "meter"),
        {"role": "tool", "tool_call_id": "c1", "content": '{"heat": 32.5, "site": "Nørre"}'},
        {**said("It is 32.5 of 31."), "model": "m-1"},
        said("Since yesterday, 3 March 2026."),
    ]
    whole = [*judged_records([Reader().read(turns)])][0]
    monkeypatch.setattr(pieces, "_MAX_IN_MEMORY", 100)
    in_pieces = [{**turn, "thread_id": str(number)} for turn in turns for number in range(3)]

    def heard() -> list[Conversation]:
        reader = Reader()
        return [*judged_records(map(reader.read, in_pieces), None, reader)]

    def verdicts(*parts: Conversation) -> list[tuple[str, str, str]]:
        return [
            (answer.model, number.text, number.verdict)
            for one in parts
            for answer in one.answers
            for number in answer.numbers
        ]

    assert [verdicts(one) for one in heard()] == [verdicts(whole)] * 3 and len(verdicts(whole)) == 3
    monkeypatch.setattr(pieces, "_MAX_ANSWERS", 1)
    parts = heard()
    assert [one.conversation for one in parts] == ["0"] * 3 + ["1"] * 3 + ["2"] * 3
    assert [(len(one.answers), one.is_continued) for one in parts[:3]] == [(1, True), (1, True), (0, False)]
    in_one = [*judged_records([Reader().read(turns)])]
    assert [(len(one.answers), one.is_continued) for one in in_one] == [(1, True), (1, True), (0, False)]
    assert verdicts(*in_one) == verdicts(whole)
    assert verdicts(*parts[:3]) == verdicts(whole)


def _site(number: int, **more: Any) -> list[dict[str, Any]]:
    heat = {"site": f"site {number}", "heat_kwh": 100 + number * 0.37}
    turns = [
        user(f"How much heat did site {number} use?"),
        call(f"call_{number}", "meter", site=number),
        returned(f"call_{number}", heat),
        said(f"Site {number} used {heat['heat_kwh']:.2f} kWh."),
    ]
    return [{**turn, **more} for turn in turns]


@pytest.mark.usefixtures("unmeasured")
def test_memory_has_one_of_many_conversations_in_pieces() -> None:
    reader = Reader()
    names = [str(name) for name in range(4)]
    in_pieces = [turn for number in range(2) for name in names for turn in _site(number, thread_id=name)]
    heard = []
    for one in judged_records(map(reader.read, in_pieces), None, reader):
        heard.append((one.conversation, len(one.answers)))
        assert sum(isinstance(item, judgement.Listener) for item in gc.get_objects()) <= 2
    assert heard == [(name, 2) for name in names]


def test_a_message_is_compared_with_the_rules_of_its_members_alone() -> None:
    reader, calls = Reader(), 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    turns = _site(1)
    reader.read(turns[0])
    sys.setprofile(count)
    try:
        for turn in turns:
            reader.read(turn)
    finally:
        sys.setprofile(None)
    assert calls < 1_200 * len(turns)


@pytest.mark.usefixtures("unmeasured")
def test_a_turn_costs_as_much_at_the_end_of_a_conversation_as_at_its_beginning() -> None:
    reader, calls, costs = Reader(), 0, []

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    turns = (turn for number in range(100) for turn in _site(number))
    judging = judged_records(map(reader.read, turns), None, reader)
    sys.setprofile(count)
    try:
        for _ in range(4):
            before = calls
            assert sum(len(one.numbers) for one in islice(judging, 25)) == 50
            costs.append(calls - before)
    finally:
        sys.setprofile(None)
    assert costs[3] < 1.1 * costs[1]


def test_spans_that_come_one_by_one_have_each_the_bounds_of_a_record(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of all together are no error once there is no more."""
    monkeypatch.setattr("gllint_runtime.audit.formats._MAX_ITEMS", 5)
    reader = Reader()
    spans = [span("t1", number, user(f"Of {number}?")) for number in range(31, 34)]
    [conversation] = judged_records(reader.read(one) for one in [*spans, span("t1", 40, said("It is 33."))])
    assert [number.verdict for number in conversation.numbers] == ["quoted"]
