"""What conversations and their hosts bring, changed at random: results, streams, sessions, runs, MCP, events, units.

Each reader here is given a text. It raises AssertionError where two ways to the same answer differ.
"""

from __future__ import annotations

import io
import itertools
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from gllint.cli.unit_steps import unit_steps
from gllint.files.places import Places
from gllint.files.records import entries
from gllint.guard.exchange import Guard
from gllint.guard.relay import encoded, is_too_deep, parsed, through
from gllint.guard.unit_places import UnitPlaces, read_places
from gllint.hosts.coding_agents import AGENTS, answer, folder_of, read_event
from gllint.run.engine import Engine, Options
from gllint_runtime import GLError, Policy, Session, audit_run
from gllint_runtime.audit.formats import FormatError
from gllint_runtime.policy.names import read_name
from gllint_runtime.policy.packs import PACKS
from gllint_runtime.policy.parameter_units import argument_units
from gllint_runtime.policy.units import conversion, is_allowed, is_same_size, judge_unit, packs_for

_KEY = "the key of whoever keeps the sessions"
_OUTPUT = {"heat": {"value": 12.5, "unit": "kWh"}, "share": {"value": 5, "unit": "%"}}
_CLAIMS = [
    {"source_call_id": "tc_1", "path": f"$.{name}", "quantity": quantity}
    for name, quantity in _OUTPUT.items()
]
_SIZES = (1, 3, 17)
_PARTS = "\n---\n"  # between the files of a text that is several


def session() -> Session:
    """A conversation with a result to cite."""
    gate = Session()
    gate.user("How much heat did site 7 use?")
    gate.record("meter", {"site": 7}, _OUTPUT)
    return gate


# --- a conversation -----------------------------------------------------------------------------------------


def results(text: str) -> None:
    """A result as text and as the JSON in it; what was taken is taken again from the store, and is the same."""
    gate = Session()
    for output in (text, {"log": text}, _data(text), [_data(text), text]):
        try:
            gate.record("t", {"x": output}, output)
        except GLError:
            continue
    stored = gate.to_json()
    assert Session.from_json(stored).to_json() == stored, "it is another session once it was stored"


def streams(text: str) -> None:
    """Cut at every place, the verdict is that over the whole message, and what was shown is how it begins."""
    whole = session().verify(text, _CLAIMS)
    expected = (whole.status, getattr(whole, "message", None), getattr(whole, "code", None))
    shown = set()
    for size, early in itertools.product(_SIZES, (True, False)):
        stream = session().stream()
        pieces = [stream.feed("", _CLAIMS if early else ())]
        pieces += [stream.feed(text[at : at + size]) for at in range(0, len(text), size)]
        assert "".join(pieces) == stream.released
        shown.update([stream.released] if early else [])
        try:
            verified = stream.close(() if early else _CLAIMS)
        except GLError as error:
            assert whole.status == "error", f"whole it passes, in pieces of {size}: {error}"
            assert error.released == stream.released
            continue
        assert whole.status == "success", f"in pieces of {size} it passes, whole: {expected}"
        assert stream.released + stream.rest == verified.message == whole.message
    assert len(shown) == 1, f"what is shown early depends on the pieces: {shown}"


def stored(text: str) -> None:
    """A stored session, with its key and without: it is refused, or it is a session."""
    for key in (_KEY, None):
        try:
            gate = Session.from_json(text, key=key)
        except (GLError, ValueError):
            continue
        again = Session.from_json(gate.to_json(key=key), key=key)
        assert again.to_json() == gate.to_json()


def changed_bytes() -> tuple[int, list[str]]:
    """How often a byte of a signed session was changed, and the changes that it bore with another meaning."""
    text = session().to_json(key=_KEY)
    meant = Session.from_json(text, key=_KEY).to_json()
    data, count, wrong = text.encode(), 0, []
    for at, bit in itertools.product(range(len(data)), (0, 3, 6)):
        other = bytearray(data)
        other[at] ^= 1 << bit
        count += 1
        try:
            gate = Session.from_json(other.decode("utf-8", "surrogateescape"), key=_KEY)
        except (GLError, ValueError):
            continue
        if gate.to_json() != meant:
            wrong.append(f"byte {at}, bit {bit} of {text[max(0, at - 20) : at + 20]!r}")
    return count, wrong


def runs(text: str) -> None:
    """A file of recorded runs: each record is judged or refused, and each number stands where it is said to."""
    for entry in itertools.islice(entries(io.StringIO(text)), 20):
        if entry.trouble is not None:
            continue
        try:
            audit = audit_run(entry.value)
        except FormatError:
            continue
        for conversation in audit.conversations:
            for said in conversation.answers:
                for number in said.numbers:
                    assert said.text[number.start : number.end] == number.text
        assert json.loads(audit.to_json()) == audit.numbers
        assert audit.has_faults == bool({"unsourced", "mislabelled"} & audit.counts.keys())
        audit.to_html().encode("utf-8", "backslashreplace")


# --- the hosts ----------------------------------------------------------------------------------------------


def traffic(text: str) -> None:
    """MCP messages, one a line, ``<`` before those of the server: what leaves is JSON, and no request is lost."""
    guard = Guard(
        Policy(), "block", read_places({"meter.$.rows[*].heat": "kWh", "meter.$.a": "kW"}, Policy())
    )
    bare = Guard(Policy(), "warn", UnitPlaces({}))
    for line in text.split("\n")[:50]:
        data = line[1:].encode("utf-8", "surrogateescape")
        data, message, is_read = parsed(data)
        if not is_read or is_too_deep(data, message):
            continue
        for each in (guard, bare):
            decide = each.from_server if line[:1] == "<" else each.from_client
            for sent in through(message, decide):
                try:
                    out = encoded(data, message, sent.message)
                except UnicodeEncodeError as error:  # which texts of other readers may end in
                    raise AssertionError("what leaves cannot be written") from error
                assert out == data or parsed(out).is_read, "what leaves is no JSON"
                assert b"\n" not in out.rstrip(b"\r\n"), "what leaves is more than one line"
    for each in (guard, bare):
        asked = each.pending
        assert each.give_up() == asked and not each.pending
        each.summary()


def events(text: str) -> None:
    """The event of a coding agent."""
    event = read_event(text.encode("utf-8", "surrogateescape"))
    assert all(isinstance(path, str) and "\0" not in path for path in event.files)
    folder_of(event, {})
    for agent in AGENTS.values():
        assert answer(agent, text).status in (0, 2)


# --- what is read beside the code ---------------------------------------------------------------------------


def units(text: str) -> None:
    """A unit: what is allowed is so as it is listed, and of the same size; what is proposed is a unit of ours."""
    for unit in text.split("\n")[:20]:
        verdict = judge_unit(unit, packs=PACKS)
        assert (verdict.status == "allowed") == is_allowed(unit, packs=PACKS), f"{unit!r}: two answers"
        if verdict.status == "allowed":
            listed = judge_unit(verdict.symbol, packs=PACKS)
            assert (listed.status, listed.symbol) == ("allowed", verdict.symbol), f"{unit!r}: {listed}"
            assert is_same_size(unit, verdict.symbol) is not False, f"{unit!r} is not {verdict.symbol}"
            conversion(unit, verdict.symbol)
        if verdict.nearest is not None:
            assert is_allowed(verdict.nearest, packs=PACKS), f"{unit!r}: proposed: {verdict.nearest!r}"
        packs_for(unit)
        judge_unit(unit, strict=True)
        list(unit_steps(unit, Policy()))


def names(text: str) -> None:
    """The unit that a name says is a unit."""
    for name in text.split("\n")[:20]:
        said = read_name(name).unit
        for unit in (
            *([said] if said else ()),
            *read_name(name).readings,
            *argument_units(name),
        ):
            assert judge_unit(unit, packs=PACKS).status != "unknown", f"{name!r} is said to be in {unit!r}"


def extended(text: str) -> None:
    """A configuration and the one that it extends."""
    with TemporaryDirectory() as folder:
        own, _, base = text.partition(_PARTS)
        for name, part in (("gllint.toml", own), ("base.toml", base)):
            Path(folder, name).write_bytes(part.encode("utf-8", "surrogateescape"))
        Places(lambda config: config).of(folder, frozenset({"gllint.toml"}))


READER = (
    "import json\nfrom pathlib import Path\nimport yaml\nimport agents\n"
    "FINAL_MESSAGE = Path('final.md').read_text()\n"
    "final_message = yaml.safe_load(open('final.yaml'))['answer']\n"
    "final_answer = json.load(open('final.json'))['answer']\n"
)


def templates(text: str) -> None:
    """A template that code reads, as text, as YAML and as JSON."""
    with TemporaryDirectory() as folder:
        files = dict.fromkeys(("final.md", "final.yaml", "final.json"), text)
        for name, content in {"gllint.toml": "", "a.py": READER, **files}.items():
            Path(folder, name).write_bytes(content.encode("utf-8", "surrogateescape"))
        outcome = Engine(Options(cache=False, jobs=1)).check([folder])
        assert not outcome.failures, str(outcome.failures[0])
        for finding in outcome.findings:
            assert Path(finding.path).exists() and finding.span.line > 0


def _data(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


# --- from what one starts -----------------------------------------------------------------------------------

_HEAT = json.dumps(_OUTPUT)
_ANSWER = "It used 12.5 kWh, 999 of them at night."
_CALL = {"id": "c1", "type": "function", "function": {"name": "meter", "arguments": '{"site": 7}'}}
_OF_EACH_FORMAT: Sequence[Any] = (
    [
        {"role": "user", "content": "How much? I have 340 USD."},
        {"role": "assistant", "content": None, "tool_calls": [_CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": _HEAT},
        {"role": "assistant", "content": _ANSWER},
    ],
    [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "meter", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": _HEAT}]},
        {"role": "assistant", "content": [{"type": "text", "text": _ANSWER}]},
    ],
    [
        {"type": "ai", "content": "", "tool_calls": [{"name": "meter", "args": {"site": 7}, "id": "c1"}]},
        {"type": "tool", "content": _HEAT, "tool_call_id": "c1", "name": "meter"},
        {"lc": 1, "id": ["langchain", "AIMessage"], "kwargs": {"content": _ANSWER}},
    ],
    [
        {"kind": "request", "parts": [{"part_kind": "tool-return", "tool_name": "m", "content": _OUTPUT}]},
        {"kind": "response", "parts": [{"part_kind": "text", "content": _ANSWER}]},
    ],
    {
        "resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "t1", "endTimeUnixNano": "30", "attributes": [
            {"key": "gen_ai.completion.0.role", "value": {"stringValue": "assistant"}},
            {"key": "gen_ai.completion.0.content", "value": {"stringValue": _ANSWER}},
        ]}]}]}]
    },
    [
        {"jsonrpc": "2.0", "id": "c1", "method": "tools/call", "params": {"name": "meter", "arguments": {}}},
        {"jsonrpc": "2.0", "id": "c1", "result": {"content": [{"type": "text", "text": _HEAT}]}},
        {"role": "assistant", "content": {"type": "text", "text": _ANSWER}},
    ],
)  # fmt: skip
_TOOLS = [
    {"name": "meter", "inputSchema": {"type": "object", "properties": {"power_kw": {"type": "number", "x-unit": "kW"}}},
     "outputSchema": {"type": "object", "properties": {"a": {"type": ["number", "null"]}, "rows": {"type": "array",
         "items": {"$ref": "#/$defs/row"}}}, "$defs": {"row": {"properties": {"heat": {"type": "number"}}}}}}
]  # fmt: skip


def _request(method: str, number: Any, **params: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


def _result(number: Any, **result: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, "result": result})


_TRAFFIC = "\n".join(
    [
        ">" + _request("tools/list", 1),
        "<" + _result(1, tools=_TOOLS),
        ">" + _request("tools/call", 2, name="meter", arguments={"power_kw": {"value": 3000, "unit": "W"}}),
        "<" + _result(2, content=[{"type": "text", "text": '{"a": 1, "rows": [{"heat": 2}]}'}], structuredContent=_OUTPUT),
        ">" + _request("tools/call", 3, name="verify_answer", arguments={"message": "{{claim:0}}", "claims": _CLAIMS}),
        ">" + '[{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}, {"id": 4, "method": "ping"}]',
    ]
)  # fmt: skip
_EVENT = json.dumps(
    {"hook_event_name": "PostToolUse", "tool_name": "Edit", "cwd": "/x", "workspace_roots": ["/x"],
     "tool_input": {"file_path": "a.py", "edits": [{"path": "b.py"}], "command": "*** Update File: c.py\n"}}
)  # fmt: skip
_UNITS = "kWh/m2\nkW·h\nm³/(s·m²)\nＫＷｈ\n℃\nkgCO2e/kWh\nµg/m^3\nm s-1\nW.m-2.K-1\n[in_i]\nmm[Hg]\n10*3/uL\nUSD/t*year\nGJ a^-1\n1/s\n%\n°F"
_NAMES = "heat_kwh\npowerKW\nprice_per_MWh\nenergy_kwh_per_m2_per_year\nT_degC\nflow_m3_h\nusd_per_tonne\nspeed_mph"
_EXTENDING = (
    'extend = "base.toml"\nselect = ["GL1"]\nextend-units = ["kWp"]\n[guard.meter.units]\n"meter.$.a" = "kWh"\n'
    f'{_PARTS}extend-select = ["GL4"]\nextend = "gllint.toml"\nplain-kinds = ["counts"]\n[severity]\nGL101 = "warning"\n'
)
_TEMPLATE = "answer: |\n  It drew 40 kW at {{ site }} since 2024. {# gllint: ignore[GL401] old #}\nrows: [&a 5, *a, '6 kWh']\n"
_SAYING = "It is warm. It uses {{claim:0}}, or {{claim:1}}!\n\n- none\n- 5 kWh\n\n| a |\n|---|\n| `x` |\n暖かい。[a](b) &amp; <b>"
Reader = tuple[Callable[[str], object], list[str], tuple[type[BaseException], ...]]


def _readers() -> dict[str, Reader]:
    from gllint.errors import UsageError
    from gllint.hosts.coding_agents import EventError

    signed, plain = session().to_json(key=_KEY), session().to_json()
    return {
        "units, judged and explained": (units, [_UNITS], ()),
        "units in names": (names, [_NAMES], ()),
        "serialised results": (results, [_HEAT, f"rows: {_HEAT}", '[{"a": "5 kWh"}]', "a,b\n1,2"], ()),
        "streams": (streams, [_SAYING], ()),
        "stored sessions": (stored, [signed, plain], ()),
        "recorded runs": (runs, [*map(json.dumps, _OF_EACH_FORMAT)], ()),
        "MCP traffic": (traffic, [_TRAFFIC], ()),
        "agents' events": (events, [_EVENT], (EventError,)),
        "configuration that extends": (extended, [_EXTENDING], (UsageError,)),
        "templates": (templates, [_TEMPLATE, json.dumps({"answer": "It drew 40 kW {{ a }}"})], ()),
    }


READERS = _readers()
