"""What walks the messages, runs, results and templates of others: how to make a large one of each, and walk it."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import traffic
import walks
from walks import Steps, Walk, plainly

from gllint.guard.exchange import Guard
from gllint.guard.relay import encoded, parsed, through
from gllint.guard.unit_places import read_places
from gllint.hosts.coding_agents import EventError, read_event
from gllint_runtime import Policy, Session, audit_run
from gllint_runtime.audit.formats import FormatError

_QUANTITY = {"value": 12.5, "unit": "kWh"}


def _audited(run: Any) -> list[Any]:
    """The numbers of a run, or why it is none."""
    try:
        return [*audit_run(run).numbers, "judged"]
    except FormatError as error:
        return [str(error)]


def run(make: Callable[[int], Any]) -> Callable[[Path, int], Steps]:
    return plainly(make, _audited)


def _said(output: Any, answer: str) -> list[Any]:
    """A run with one call and one answer."""
    call = {"id": "c1", "type": "function", "function": {"name": "meter", "arguments": "{}"}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": output},
        {"role": "assistant", "content": answer},
    ]


def _told(text: str) -> Any:
    """A run with a call that is told a text, and says it back."""
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "ask", "arguments": json.dumps({"q": text[:15_000]})},
    }
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": text},
        {"role": "assistant", "content": "It is 5."},
    ]


def streamed(make: Callable[[int], str], size: int = 1) -> Callable[[Path, int], Steps]:
    def walk(text: str) -> object:
        stream = traffic.session().stream()
        shown = [stream.feed(text[at : at + size]) for at in range(0, len(text), size)]
        return ["judged", *shown]

    return plainly(make, walk)


def guarded(make: Callable[[int], list[tuple[str, Any]]]) -> Callable[[Path, int], Steps]:
    """Messages, ``<`` those of the server, through a guard that gives units."""

    def walk(messages: list[tuple[str, Any]]) -> object:
        guard = Guard(Policy(), "warn", read_places({"meter.$.rows[*].a": "kWh"}, Policy()))
        sent = 0
        for side, message in messages:
            line = json.dumps(message).encode()
            decide = guard.from_server if side == "<" else guard.from_client
            sent += sum(
                len(encoded(line, message, one.message)) for one in through(parsed(line).message, decide)
            )
        return "." * min(sent, 10)

    return plainly(make, walk)


def _call(number: int, result: Any, **arguments: Any) -> list[tuple[str, Any]]:
    request = {"id": number, "method": "tools/call", "params": {"name": "meter", "arguments": arguments}}
    return [(">", request), ("<", {"id": number, "result": {"content": [], "structuredContent": result}})]


def _listed(schema: Any) -> list[tuple[str, Any]]:
    tools = [{"name": "meter", "inputSchema": schema, "outputSchema": schema}]
    return [(">", {"id": 1, "method": "tools/list"}), ("<", {"id": 1, "result": {"tools": tools}})]


def template(make: Callable[[int], str]) -> Callable[[Path, int], Steps]:
    return walks.program(lambda n: {"a.py": traffic.READER, "final.md": make(n), "final.yaml": make(n)})


def _event(value: object) -> object:
    try:
        return read_event(json.dumps(value).encode())
    except EventError as error:
        return error


def _stored(n: int) -> str:
    gate = Session()
    for number in range(n):
        gate.record("meter", {"site": number}, {"a": _QUANTITY, "rows": [{"b": _QUANTITY}]})
        gate.verify("It is fine.")
    return gate.to_json(key="secret")


WALKS: dict[str, Walk] = {
    "audit: an answer of numbers": Walk(run(lambda n: _said("5 kWh", "It is 5 kWh. " * n)), 500),
    "audit: a long answer without end": Walk(run(lambda n: _said("5 kWh", "5" + "-5a" * n)), 2_000),
    "audit: a result of numbers": Walk(
        run(lambda n: _said(json.dumps({f"a{i}": i + 0.5 for i in range(n)}), "It is 7.5 or 9.1 kWh.")), 1_000
    ),
    "audit: the same number in every place": Walk(
        run(lambda n: _said(json.dumps([5.5] * n), "It is 5.5 kWh, or 11 kWh. " * 20)), 1_000
    ),
    "audit: a long text of a tool": Walk(run(lambda n: _said("5 kWh and 6 m at noon. " * n, "It is 5 kWh.")), 500),
    "audit: a long word of a tool": Walk(run(lambda n: _said("5 kWh " + "a-" * n, "It is 5 kWh.")), 20_000),
    "audit: what a call was told": Walk(run(lambda n: _told("It is 5 of 7. " * n)), 250),
    "audit: what looks like JSON": Walk(
        run(lambda n: _said('[{"a": [1, 2, ' * n + '{"heat_kwh": 5.5}\n' * n, "It is 5.5 kWh.")), 500
    ),
    "audit: many turns": Walk(run(lambda n: _said({"a": 5.5}, "It is 5.5 kWh.") * n), 100),
    "audit: calls without results": Walk(run(lambda n: _said({"a": 5.5}, "It is 5.5.")[:1] * n), 1_000),
    "audit: deep": Walk(run(lambda n: _said(json.dumps(walks.nested(n)), "It is 1.")), 20),
    "audit: a conversation in itself": Walk(
        run(lambda n: json.loads('{"messages": [' * n + "5" + "]}" * n)), 20
    ),
    "audit: unread items": Walk(run(lambda n: [*_said(5, "5 kWh"), *[{"what": i} for i in range(n)]]), 2_000),
    "audit: declared tools": Walk(
        run(lambda n: {"messages": _said(5, "5 kWh"), "tools": [{"a": {"description": f"tool {i}"}} for i in range(n)]}),
        1_000,
    ),
    "audit: spans of many traces": Walk(
        run(lambda n: {"resourceSpans": [{"scopeSpans": [{"spans": [
            {"traceId": f"t{i}", "attributes": [{"key": "gen_ai.completion.0.content", "value": {"stringValue": "5 kWh"}}]}
            for i in range(n)]}]}]}), 250
    ),
    "stream: no end": Walk(streamed(lambda n: "word " * n), 2_000),
    "stream: sentences": Walk(streamed(lambda n: "It is fine. " * n), 500),
    "stream: a sentence that waits": Walk(streamed(lambda n: "It is {{claim:5}}. " + "It is fine. " * n), 500),
    "stream: rows": Walk(streamed(lambda n: "| a | b |\n" * n), 500),
    "stream: blanks": Walk(streamed(lambda n: "a" + " \n" * n + "b"), 5_000),
    "stream: blanks at once": Walk(streamed(lambda n: "a" + "\n" * n + "b", 1_000_000), 50_000),
    "stream: stops": Walk(streamed(lambda n: ". " * n), 1_000),
    "guard: many calls": Walk(
        guarded(lambda n: [one for i in range(n) for one in _call(i, {"a": _QUANTITY})]), 100
    ),
    "guard: a result of many rows": Walk(guarded(lambda n: _call(1, {"rows": [{"a": i} for i in range(n)]})), 2_000),
    "guard: many arguments": Walk(
        guarded(lambda n: _call(1, {"a": _QUANTITY}, **{f"power_{i}_kw": i for i in range(n)})), 500
    ),
    "guard: a wide schema": Walk(guarded(lambda n: _listed(walks._schema("wide")(n))), 2_000),
    "guard: a schema of a fan": Walk(guarded(lambda n: _listed(walks._schema("fan")(n))), 20),
    "guard: a schema of a circle": Walk(
        guarded(lambda n: _listed({"$ref": "#/a0", **{f"a{i}": {"$ref": f"#/a{(i + 1) % n}"} for i in range(n)}})), 250
    ),
    "guard: calls that nobody answers": Walk(guarded(lambda n: _call(1, {})[:1] + [(">", {"id": i, "method": "x"}) for i in range(n)]), 5_000),
    "agents' events: many edits": Walk(
        plainly(lambda n: {"tool_input": {"edits": [{"path": "a.py"}] * n}}, _event), 5_000
    ),
    "agents' events: a patch": Walk(
        plainly(lambda n: {"tool_input": {"command": "*** Update File: a.py   \n" * n}}, _event), 5_000
    ),
    "agents' events: a line of blanks": Walk(
        plainly(lambda n: {"tool_input": {"command": "*** Update File: " + "a " * n}}, _event), 1_000
    ),
    "signed session": Walk(
        plainly(_stored, lambda text: Session.from_json(text, key="secret").to_json()), 100
    ),
    "template: numbers": Walk(template(lambda n: "It drew 5 kWh. " * n), 500),
    "template: lines": Walk(template(lambda n: "answer: It drew 5 kWh.\n" * n), 250),
    "template: places": Walk(template(lambda n: "answer: " + "{{ a }} {% if b %} 5 kWh" * n), 250),
    "template: open places": Walk(template(lambda n: "answer: " + "{{ {% {# " * n), 1_000),
    "template: suppressions": Walk(template(lambda n: "It drew 5. {# gllint: ignore[GL401] #}\n" * n), 250),
    "template: lists within": Walk(template(lambda n: "answer: " + "[" * n + "5" + "]" * n), 20),
    "template: an anchor for many": Walk(
        template(lambda n: "a: &a [5 kWh]\n" + "".join(f"b{i}: &b{i} [*{'a' if i == 0 else f'b{i - 1}'}, *a]\n" for i in range(n))), 50
    ),
    "unit codes": Walk(
        plainly(
            lambda n: ["m." * n + "m", "m/" * n + "s", "m" + "2" * n, "(" * n, "ｋＷｈ" * n, "·m" * n, "10*" * n, "[" * n, "a^-1 " * n],
            lambda texts: [partial(traffic.units, text)() or len(text) for text in texts],
        ),
        100,
    ),
}  # fmt: skip
