"""The adapters, against loopback servers that speak the two APIs and refuse what the real ones refuse."""

from __future__ import annotations

import asyncio
import json
import math
import re
import threading
from collections import UserDict
from collections.abc import Callable, Iterator
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest

from gllint_runtime import (
    GLRuntimeError,
    GLSecurityError,
    Recorder,
    Replayer,
    ScriptedProvider,
    Tool,
    ToolCategory,
    ToolRegistry,
    ToolRuntime,
)
from gllint_runtime.providers import Tape, takes_options
from gllint_runtime.providers.anthropic import AnthropicProvider
from gllint_runtime.providers.chat import FINAL_ANSWER, api_names
from gllint_runtime.providers.openai import OpenAIProvider

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")


def anthropic_problem(body: dict[str, Any]) -> str | None:
    """What the Messages API would refuse in a request."""
    if {"temperature", "seed"} & body.keys() or not body["max_tokens"]:
        return "unknown parameter"
    if not all(NAME.match(t["name"]) and t["input_schema"]["type"] == "object" for t in body["tools"]):
        return "bad tool"
    open_uses: set[str] = set()
    for i, message in enumerate(body["messages"]):
        if message["role"] != ("user", "assistant")[i % 2]:
            return "roles must alternate"
        blocks = message["content"] if isinstance(message["content"], list) else []
        answered = {b["tool_use_id"] for b in blocks if b["type"] == "tool_result"}
        if answered != open_uses:
            return "tool_use without tool_result"
        open_uses = {b["id"] for b in blocks if b["type"] == "tool_use"}
    return None


def openai_problem(body: dict[str, Any]) -> str | None:
    """What the Chat Completions API would refuse in a request."""
    if body["messages"][0]["role"] != "system" or not all(
        NAME.match(t["function"]["name"]) for t in body["tools"]
    ):
        return "bad request"
    waiting: set[str] = set()
    for message in body["messages"]:
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                return "answer to no call"
            waiting.discard(message["tool_call_id"])
        elif waiting:
            return "a tool call was not answered"
        waiting |= {call["id"] for call in message.get("tool_calls") or ()}
    return "a tool call was not answered" if waiting else None


def anthropic_answer(uses: list[tuple[str, str, Any]], text: str) -> dict[str, Any]:
    content = [{"type": "text", "text": text}] if text else []
    content += [{"type": "tool_use", "id": id, "name": name, "input": args} for id, name, args in uses]
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": content,
        "stop_reason": "tool_use" if uses else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def openai_answer(uses: list[tuple[str, str, Any]], text: str) -> dict[str, Any]:
    calls = [
        {
            "id": id,
            "type": "function",
            "function": {"name": name, "arguments": args if isinstance(args, str) else json.dumps(args)},
        }
        for id, name, args in uses
    ]
    message = {"role": "assistant", "content": text or None, **({"tool_calls": calls} if calls else {})}
    choice = {
        "index": 0,
        "finish_reason": "tool_calls" if calls else "stop",
        "message": message,
        "logprobs": None,
    }
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {
        "id": "c",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [choice],
        "usage": usage,
    }


def anthropic_events(answer: dict[str, Any]) -> str:
    """The answer as a stream, each text and input in two pieces."""
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**answer, "content": [], "stop_reason": None}}
    ]
    for index, block in enumerate(answer["content"]):
        is_text = block["type"] == "text"
        whole = block["text"] if is_text else json.dumps(block["input"])
        start = {**block, **({"text": ""} if is_text else {"input": {}})}
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        for piece in (whole[:3], whole[3:]):
            key, kind = ("text", "text_delta") if is_text else ("partial_json", "input_json_delta")
            events.append(
                {"type": "content_block_delta", "index": index, "delta": {"type": kind, key: piece}}
            )
        events.append({"type": "content_block_stop", "index": index})
    delta = {"stop_reason": answer["stop_reason"], "stop_sequence": None}
    events += [
        {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)


def openai_events(answer: dict[str, Any]) -> str:
    """The answer as a stream, each text and input in two pieces."""
    choice = answer["choices"][0]
    deltas: list[dict[str, Any]] = [{"role": "assistant"}]
    for index, call in enumerate(choice["message"].get("tool_calls", ())):
        whole = call["function"]["arguments"]
        deltas.append(
            {
                "tool_calls": [
                    {**call, "index": index, "function": {**call["function"], "arguments": whole[:3]}}
                ]
            }
        )
        deltas.append({"tool_calls": [{"index": index, "function": {"arguments": whole[3:]}}]})
    if text := choice["message"]["content"]:
        deltas += [{"content": text[:3]}, {"content": text[3:]}]
    chunks = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    chunks.append({"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]})
    head = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m"}
    return (
        "".join(f"data: {json.dumps({**head, 'choices': [chunk]})}\n\n" for chunk in chunks)
        + "data: [DONE]\n\n"
    )


class Api:
    """A loopback server that answers with a script of ``[(id, tool, arguments), …]`` or text."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.script: list[Any] = []
        self.stops: str | None = None
        self.change: Callable[[dict[str, Any]], object] = lambda answer: None
        self.requests: list[dict[str, Any]] = []
        self.problems: list[str] = []
        api = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                status, body = api.answer(
                    self.path, json.loads(self.rfile.read(int(self.headers["content-length"])))
                )
                data = body["events"].encode() if "events" in body else json.dumps(body).encode()
                self.send_response(status)
                kind = "text/event-stream" if "events" in body else "application/json"
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        self.requests.append(body)
        expected = {"anthropic": "/v1/messages", "openai": "/v1/chat/completions"}[self.kind]
        problem = anthropic_problem(body) if self.kind == "anthropic" else openai_problem(body)
        if path != expected or problem:
            self.problems.append(problem or path)
            return 400, {"error": {"type": "invalid_request_error", "message": problem}}
        step = self.script.pop(0)
        uses, text = ([], step) if isinstance(step, str) else (step, "")
        answer = (anthropic_answer if self.kind == "anthropic" else openai_answer)(uses, text)
        if self.stops:
            (answer if self.kind == "anthropic" else answer["choices"][0])[
                "stop_reason" if self.kind == "anthropic" else "finish_reason"
            ] = self.stops
        self.change(answer)
        if body.get("stream"):
            return 200, {"events": (anthropic_events if self.kind == "anthropic" else openai_events)(answer)}
        return 200, answer

    def provider(self, *, is_async: bool = False, **request: Any) -> Any:
        url = f"http://127.0.0.1:{self.server.server_port}"
        made: Any
        if self.kind == "anthropic":
            made = anthropic.AsyncAnthropic if is_async else anthropic.Anthropic
            return AnthropicProvider("m", made(api_key="test", base_url=url, max_retries=0), **request)
        made = openai.AsyncOpenAI if is_async else openai.OpenAI
        return OpenAIProvider("m", made(api_key="test", base_url=f"{url}/v1", max_retries=0), **request)


@pytest.fixture(params=["anthropic", "openai"])
def api(request: pytest.FixtureRequest) -> Iterator[Api]:
    api = Api(request.param)
    yield api
    api.server.shutdown()
    api.server.server_close()
    assert api.problems == []


@pytest.fixture
def site(registry: ToolRegistry) -> ToolRegistry:
    """The honest tool, one with a name no API accepts, one that needs the network, one that fails."""
    registry.register(
        Tool(name="Heat Meter", fn=lambda: {"heat": {"value": 7, "unit": "kWh"}}, result_schema={})
    )
    registry.register(
        Tool(
            name="weather",
            fn=lambda: {"outside": {"value": next(TEMPERATURES), "unit": "degC"}},
            live_required=True,
        )
    )
    registry.register(Tool(name="broken", fn=lambda: 1 / 0))
    return registry


TEMPERATURES = iter(range(1000))

TURN = [
    [("u1", "heating_intensity", {"heat_kwh": 5000, "area_m2": 400})],
    [
        (
            "u2",
            FINAL_ANSWER,
            {
                "message": "It needs {{claim:0}}.",
                "claims": [
                    {
                        "source_call_id": "tc_1",
                        "path": "$.intensity",
                        "quantity": {"value": 12.5, "unit": "kWh/m2"},
                    }
                ],
            },
        )
    ],
]


def test_a_turn(api: Api, site: ToolRegistry) -> None:
    api.script = [*TURN]
    answer = ToolRuntime(api.provider(), site).run("You advise.", "How much?")
    assert answer["message"] == "It needs 12.50 kWh/m2."
    first, second = api.requests
    assert "You advise." in json.dumps(first)
    assert "tc_1" in json.dumps(second["messages"]) and '"is_error": true' not in json.dumps(second)
    assert "greenlang:" not in json.dumps(first["tools"])
    assert "null" not in json.dumps(second["messages"])
    assert first.get("parallel_tool_calls") is {"openai": False}.get(api.kind)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("is_async", [False, True])
def test_a_turn_in_every_way(api: Api, site: ToolRegistry, stream: bool, is_async: bool) -> None:
    api.script = [*TURN * 2]
    runtime = ToolRuntime(api.provider(is_async=is_async, stream=stream), site)
    answers = [runtime.run("", "How much?")]
    runtime = ToolRuntime(api.provider(is_async=is_async, stream=stream), site)
    answers.append(asyncio.run(runtime.arun("", "How much?")))
    assert [answer["message"] for answer in answers] == ["It needs 12.50 kWh/m2."] * 2
    assert [bool(request.get("stream")) for request in api.requests] == [stream] * 4


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("step", ["It is warm", [("u1", FINAL_ANSWER, {"message": "It is warm"})]])
def test_an_answer_that_was_cut_off_is_not_used(
    api: Api, site: ToolRegistry, step: Any, stream: bool
) -> None:
    reasons = {"anthropic": ["max_tokens", "refusal", "pause_turn"], "openai": ["length", "content_filter"]}
    for reason in reasons[api.kind]:
        api.script, api.stops = [step], reason
        result = ToolRuntime(api.provider(stream=stream), site).try_run("", "Hello")
        assert result["error"]["code"] == "PROVIDER_FAILED" and reason in result["error"]["message"]


def test_options_of_replay(api: Api, site: ToolRegistry) -> None:
    api.script = ["Done"]
    ToolRuntime(api.provider(), site, seed=7).run("", "Hello")
    sent = {key: api.requests[0].get(key) for key in ("temperature", "seed")}
    assert sent == (
        {"temperature": None, "seed": None} if api.kind == "anthropic" else {"temperature": 0.0, "seed": 7}
    )


def test_further_request_parameters(api: Api, site: ToolRegistry) -> None:
    api.script = ["Done"]
    ToolRuntime(api.provider(metadata={"user_id": "x"}), site).run("", "Hello")
    assert api.requests[0]["metadata"] == {"user_id": "x"}


def test_names_are_mapped_there_and_back(api: Api, site: ToolRegistry) -> None:
    api.script = [[("u1", "Heat_Meter", {})], "Done"]
    trace = ToolRuntime(api.provider(), site).run("", "Hello")["trace"]
    assert trace[2]["tools"] == ["Heat Meter"]


def test_unknown_tools_are_told_to_the_model(api: Api, site: ToolRegistry) -> None:
    api.script = [[("u1", "cooling", {})], "Done"]
    runtime = ToolRuntime(api.provider(), site, repair_on=["PATH_RESOLUTION"])
    assert runtime.run("", "Hello")["message"] == "Done"
    told = json.dumps(api.requests[1]["messages"][-1])
    assert "not found in registry" in told and ('"is_error": true' in told) is (api.kind == "anthropic")


def test_parallel_calls_are_taken_one_by_one_and_answered_together(api: Api, site: ToolRegistry) -> None:
    api.script = [
        [("u1", "Heat_Meter", {}), ("u2", "broken", {}), ("u3", "Heat_Meter", {})],
        [("u4", FINAL_ANSWER, {"message": "Done"})],
    ]
    runtime = ToolRuntime(api.provider(), site, repair_on=["TOOL_FAILED"])
    answer = runtime.run("", "Hello")
    assert len(api.requests) == 2
    assert answer["metrics"]["total_steps"] == 4
    assert [e["call_id"] for e in answer["trace"] if e["kind"] == "tool"] == ["tc_1", None, "tc_2"]


def test_naked_numbers_are_repaired_over_the_wire(api: Api, site: ToolRegistry) -> None:
    api.script = [
        [("u1", FINAL_ANSWER, {"message": "It needs 12.5."})],
        "It needs 12.5, I said.",
        *TURN,
    ]
    answer = ToolRuntime(api.provider(), site).run("", "Hello")
    assert answer["message"] == "It needs 12.50 kWh/m2."
    assert answer["metrics"]["naked_number_rejections"] == 2


@pytest.mark.parametrize("text", ["", "  \n"])
def test_an_empty_answer_is_no_message(text: str, api: Api, site: ToolRegistry) -> None:
    api.script = [text]
    with pytest.raises(GLRuntimeError) as caught:
        ToolRuntime(api.provider(), site).run("", "Hello")
    assert caught.value.code == "PROVIDER_FAILED"


def test_arguments_that_are_no_json(site: ToolRegistry) -> None:
    api = Api("openai")
    api.script = [[("u1", "heating_intensity", "{heat")], [("u2", FINAL_ANSWER, "{oops")], "Done"]
    runtime = ToolRuntime(api.provider(), site, repair_on=["STEP_SCHEMA"])
    assert runtime.run("", "Hello")["message"] == "Done"
    assert "not valid JSON" in json.dumps(api.requests[1]["messages"][-1])


def test_a_conversation_starts_afresh(api: Api, site: ToolRegistry) -> None:
    api.script = ["It needs 5.", "It is warm.", "It is cold."]
    runtime = ToolRuntime(api.provider(), site)
    assert runtime.run("", "Hello")["message"] == "It is warm."
    assert runtime.run("", "Again")["message"] == "It is cold."
    assert "Hello" not in json.dumps(api.requests[2])


def test_errors_of_the_api_come_through(api: Api, site: ToolRegistry) -> None:
    provider = api.provider()
    api.script = []
    answer = ToolRuntime(provider, ToolRegistry()).try_run("", "Hello")
    assert answer["status"] == "error"
    assert answer["error"]["code"] == "PROVIDER_FAILED"


def test_default_clients_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a")
    monkeypatch.setenv("OPENAI_API_KEY", "b")
    assert AnthropicProvider("m")._client.api_key == "a"
    assert OpenAIProvider("m")._client.api_key == "b"


def test_the_state_is_the_conversation(api: Api) -> None:
    provider = api.provider()
    messages = provider.init_chat("You advise.", "How much?")
    assert messages and provider.inject_error("no") is provider.inject_tool_result({}) is messages


def test_api_names_are_valid_and_differ() -> None:
    names = ["a b", "a_b", "a-b", "ä" * 80, "ö" * 80, FINAL_ANSWER, "x" * 64]
    mapped = api_names(names)
    assert list(mapped.values()) == names
    assert all(NAME.match(name) for name in mapped)
    assert [*mapped] == [
        *("a_b", "a_b_2", "a-b", "_" * 64, "_" * 62 + "_2"),
        *(f"{FINAL_ANSWER}_2", "x" * 64),
    ]
    assert [*api_names(["a b", "a.b", "a_b"])] == ["a_b", "a_b_2", "a_b_3"]


# -------------------------------------------------------------------------------------- recording and replay


def test_a_recorded_live_run_replays_to_the_same(api: Api, site: ToolRegistry, tmp_path: Path) -> None:
    api.script = [
        [("u1", "weather", {})],
        [("u2", "broken", {})],
        [("u3", "heating_intensity", {"heat_kwh": 5000, "area_m2": 400})],
        [("u4", FINAL_ANSWER, {"message": "It needs 12.5."})],
        [
            (
                "u5",
                FINAL_ANSWER,
                {
                    "message": "At {{claim:1}} it needs {{claim:0}}.",
                    "claims": [
                        TURN[1][0][2]["claims"][0] | {"source_call_id": "tc_2"},
                        {
                            "source_call_id": "tc_1",
                            "path": "$.outside",
                            "quantity": {"value": 0, "unit": "degC"},
                        },
                    ],
                },
            )
        ],
    ]
    global TEMPERATURES
    TEMPERATURES = iter(range(1000))
    tape = tmp_path / "run.jsonl"
    options: dict[str, Any] = {"repair_on": ["NO_NAKED_NUMBERS", "TOOL_FAILED"]}
    live = ToolRuntime(Recorder(api.provider(), tape), site, mode="Live", **options).run(
        "You advise.", "How much?"
    )
    assert live["message"] == "At 0.00 degC it needs 12.50 kWh/m2."
    requests = len(api.requests)
    replayed = ToolRuntime(Replayer(tape), site, mode="Replay", **options).run("You advise.", "How much?")
    assert json.dumps(replayed) == json.dumps(live)
    assert len(api.requests) == requests


def test_approvals_are_replayed_not_asked_again(tmp_path: Path, step: Any) -> None:
    asked: list[str] = []
    ran: list[str] = []

    def approve(tool: Tool, args: Any, first_use: bool) -> bool:
        asked.append(tool.name)
        return tool.name == "write"

    registry = ToolRegistry(approve=approve)
    for name in ("write", "erase"):
        registry.register(
            Tool(
                name=name,
                fn=lambda name=name: ran.append(name),
                category=ToolCategory.MODIFICATION,
                result_schema={},
            )
        )
    script = [step.call("write"), step.call("erase"), step.final("Done")]
    tape = tmp_path / "run.jsonl"
    options: dict[str, Any] = {"repair_on": ["APPROVAL_DENIED"]}
    live = ToolRuntime(Recorder(ScriptedProvider(script), tape), registry, mode="Live", **options).run("", "")
    assert (asked, ran) == (["write", "erase"], ["write"])
    replayed = ToolRuntime(Replayer(tape), registry, **options).run("", "")
    assert replayed == live
    assert (asked, ran) == (["write", "erase"], ["write"])


def test_a_recorded_refusal_ends_the_replay_alike(tmp_path: Path, step: Any) -> None:
    registry = ToolRegistry()
    registry.register(Tool(name="write", fn=dict, category=ToolCategory.MODIFICATION))
    tape = tmp_path / "run.jsonl"
    for provide in (lambda: Recorder(ScriptedProvider([step.call("write")]), tape), lambda: Replayer(tape)):
        with pytest.raises(GLSecurityError, match="needs an approve callback"):
            ToolRuntime(provide(), registry).run("", "")


def test_a_recorded_egress_counts_in_the_replay_as_well(tmp_path: Path, step: Any) -> None:
    registry = ToolRegistry()
    registry.register(Tool(name="weather", fn=dict, live_required=True))
    tape = tmp_path / "run.jsonl"
    counted = []
    for provide in (lambda: Recorder(ScriptedProvider([step.call("weather")]), tape), lambda: Replayer(tape)):
        failed: Any = ToolRuntime(provide(), registry).try_run("", "")
        counted.append((failed["error"]["code"], failed["metrics"]["replay_violations"]))
    assert counted == [("EGRESS_BLOCKED", 1)] * 2


def test_a_replay_that_departs_from_the_recording_stops(
    registry: ToolRegistry, tmp_path: Path, step: Any
) -> None:
    tape = tmp_path / "run.jsonl"
    script = [step.call("heating_intensity", heat_kwh=5000, area_m2=400), step.final("Done")]
    ToolRuntime(Recorder(ScriptedProvider(script), tape), registry).run("", "")
    changed = tape.read_text().replace(
        '"tool_name": "heating_intensity", "arguments": {"heat_kwh": 5000',
        '"tool_name": "heating_intensity", "arguments": {"heat_kwh": 6000',
    )
    (tmp_path / "changed.jsonl").write_text(changed)
    with pytest.raises(RuntimeError, match="The recording calls"):
        ToolRuntime(Replayer(tmp_path / "changed.jsonl"), registry).run("", "")
    replayer = Replayer(tape)
    ToolRuntime(replayer, registry).run("", "")
    with pytest.raises(RuntimeError, match="no further start"):
        ToolRuntime(replayer, registry).run("", "")


def test_several_runs_on_one_tape(registry: ToolRegistry, tmp_path: Path, step: Any) -> None:
    tape = tmp_path / "run.jsonl"
    script = [step.final("One"), step.final("5"), step.final("Two")]
    live = ToolRuntime(Recorder(ScriptedProvider(script), tape), registry)
    recorded = [live.run("", ""), live.run("", "")]
    replay = ToolRuntime(Replayer(tape), registry)
    assert [replay.run("", ""), replay.run("", "")] == recorded


def test_a_provider_without_options_can_be_recorded(
    registry: ToolRegistry, tmp_path: Path, step: Any
) -> None:
    class Plain(ScriptedProvider):
        def chat_step(self, *, schema: Any, tools: Any, state: Any) -> Any:  # type: ignore[override]
            return super().chat_step()

    tape = tmp_path / "run.jsonl"
    live = ToolRuntime(Recorder(Plain([step.final("Done")]), tape), registry).run("", "")
    assert ToolRuntime(Replayer(tape), registry).run("", "") == live


def test_an_async_provider_can_be_recorded(registry: ToolRegistry, tmp_path: Path, step: Any) -> None:
    class Async(ScriptedProvider):
        async def chat_step(self, **_: Any) -> Any:
            return super().chat_step()

    for tape in (tmp_path / "run.jsonl", tmp_path / "arun.jsonl"):
        runtime = ToolRuntime(Recorder(Async([step.final("5"), step.final("Done")]), tape), registry)
        live = asyncio.run(runtime.arun("", "")) if tape.stem == "arun" else runtime.run("", "")
        assert live["message"] == "Done"
        assert ToolRuntime(Replayer(tape), registry).run("", "") == live


@pytest.mark.parametrize(
    "odd",
    [
        b"Done",
        {"kind": "tool_call", "tool_name": "heating_intensity", "arguments": {"heat_kwh": Decimal(5)}},
        {"kind": "final", "message": "{{claim:0}}", "claims": ()},
        UserDict({"kind": "final", "message": "5"}),
        UserDict({"kind": "final", "message": "5", 5: 5}),
        {"kind": "final", "message": "\ud800 5", "claims": [math.nan]},
        None,
    ],
)
def test_odd_steps_are_recorded_as_they_are_judged(
    odd: Any, registry: ToolRegistry, tmp_path: Path, step: Any
) -> None:
    tape = tmp_path / "run.jsonl"
    script = [odd, step.final("Done")]
    options: dict[str, Any] = {
        "repair_on": ["STEP_SCHEMA", "ARGS_SCHEMA", "MISSING_CLAIM", "NO_NAKED_NUMBERS"]
    }
    live = ToolRuntime(Recorder(ScriptedProvider(script), tape), registry, **options).run("", "")
    assert live["message"] == "Done"
    assert len(live["trace"]) > 2
    replayed = ToolRuntime(Replayer(tape), registry, **options).run("", "")
    assert json.dumps(replayed) == json.dumps(live)


def test_an_openai_answer_without_content(site: ToolRegistry) -> None:
    """A refusal, and an answer without a choice (a content filter of some hosts)."""
    api = Api("openai")
    for change, reason in (
        (lambda answer: answer["choices"][0]["message"].update(refusal="I will not."), "refusal"),
        (lambda answer: answer.update(choices=[]), "no choice"),
    ):
        api.change, api.script = change, ["Done"]
        result = ToolRuntime(api.provider(), site).try_run("", "Hello")
        assert result["error"]["code"] == "PROVIDER_FAILED" and reason in result["error"]["message"]


def test_a_provider_takes_options_by_their_name_or_with_any() -> None:
    class Named(ScriptedProvider):
        pass

    class Without(ScriptedProvider):
        def chat_step(self, *, schema: Any = None, tools: Any = None, state: Any = None) -> Any:  # type: ignore[override]
            return None

    class Whatever(ScriptedProvider):
        def chat_step(self, **request: Any) -> Any:
            return None

    assert [takes_options(kind([])) for kind in (Named, Without, Whatever)] == [True, False, True]
    assert Tape().opening({"mode": "live"}) == {"mode": "live"}
