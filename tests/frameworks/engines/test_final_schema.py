"""``final_schema`` in what holds a model to it: each engine compiles it, admits good answers, and refuses every digit.

Run by ``.ci/frameworks final-schema`` in an environment of its own (``requires.txt``). OpenAI's and Anthropic's packages
speak to a server of the test: what they send is the schema, and their answer passes the gate.
"""

from __future__ import annotations

import copy
import json
import sys
import threading
import types
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from gllint_runtime import Session, final_schema
from gllint_runtime.adapters.kit import check_final

pytest.importorskip(
    "llguidance", reason="What holds models to a schema has an environment of its own: .ci/frameworks"
)


def metered() -> Session:
    session = Session()
    session.record("meter", {}, {"heat": {"value": 12.5, "unit": "kWh"}, "share": {"value": 7, "unit": "%"}})
    return session


HEAT = {"source_call_id": "tc_1", "path": "$.heat", "quantity": {"value": 12.5, "unit": "kWh"}}
SHARE = {"source_call_id": "tc_1", "path": "$.share", "quantity": {"value": 7, "unit": "%"}}
GOOD = [
    {"claims": [], "message": "No number at all!"},
    {"claims": [HEAT], "message": "It uses {{claim:0}} of heat."},
    {"claims": [HEAT], "message": "Das Haus braucht {{claim:0}} im Jahr, sagt er."},
    {"claims": [HEAT], "message": "它使用 {{claim:0}}。"},
    {"claims": [HEAT, SHARE], "message": "Heat: {{claim:0}}, share: {{claim:1}}."},
]
LINES = {"claims": [HEAT, SHARE], "message": "Heat: {{claim:0}}\n- Share: {{claim:1}}"}
DIGITS = "5٣५೫５½²Ⅻ⑤𝟓🄆㊿"
BAD = [
    *({"claims": [HEAT], "message": f"It uses {digit} of it."} for digit in DIGITS),
    {"claims": [HEAT], "message": "-{{claim:0}}"},
    {"claims": [HEAT], "message": "{{claim:0}}000"},
    {"claims": [HEAT], "message": "It is :five: o'clock."},
    {"claims": [{**HEAT, "path": "$.cost"}], "message": "{{claim:0}}"},
    {"claims": [{**HEAT, "quantity": {"value": 13.5, "unit": "kWh"}}], "message": "{{claim:0}}"},
    {"claims": [HEAT], "message": "It is fine.", "value": "five"},
]
Admits = Callable[[str], bool]


def outlines(schema: dict[str, Any], grammar: str) -> dict[str, Admits]:
    from outlines.types import JsonSchema
    from outlines.types.dsl import to_regex
    from outlines_core import Guide, Index, Vocabulary

    index = Index(
        to_regex(JsonSchema(json.dumps(schema))), Vocabulary(256, {bytes([i]): [i] for i in range(256)})
    )

    def admits(text: str) -> bool:
        guide = Guide(index)
        try:
            for byte in text.encode():
                guide.advance(byte)
        except ValueError:
            return False
        return bool(guide.is_finished())

    return {"json": admits}


def llguidance(schema: dict[str, Any], grammar: str) -> dict[str, Admits]:
    from llguidance import LLMatcher, LLTokenizer

    tokenizer = LLTokenizer("byte")
    compiled = LLMatcher.grammar_from_json_schema(schema)

    def admits(text: str) -> bool:
        matcher, tokens = LLMatcher(tokenizer, compiled), tokenizer.tokenize_str(text)
        assert not matcher.get_error()
        return matcher.try_consume_tokens(tokens) == len(tokens) and bool(matcher.is_accepting())

    return {"json": admits}


def xgrammar(schema: dict[str, Any], grammar: str) -> dict[str, Admits]:
    _stand_in_for_torch()
    import xgrammar as engine

    end = 256
    tokens = engine.TokenizerInfo(
        [*(bytes([i]) for i in range(256)), b"</s>"], vocab_type=engine.VocabType.RAW, stop_token_ids=[end]
    )

    def compiled(form: Any) -> Admits:
        whole = engine.GrammarCompiler(tokens).compile_grammar(form)

        def admits(text: str) -> bool:
            matcher = engine.GrammarMatcher(whole)
            return bool(matcher.accept_string(text) and matcher.accept_token(end))

        return admits

    return {
        "json": compiled(engine.Grammar.from_json_schema(json.dumps(schema))),
        "gbnf": compiled(engine.Grammar.from_ebnf(grammar)),
    }


def _stand_in_for_torch() -> None:
    """Where torch and transformers are not installed, what xgrammar asks of them when it is imported."""

    class Module(types.ModuleType):
        def __getattr__(self, name: str) -> Any:
            if name.startswith("__"):
                raise AttributeError(name)
            return type(name, (), {})

    for name, content in {
        "torch": {
            "cuda": types.SimpleNamespace(is_available=lambda: False, Stream=object),
            "tensor": lambda *_, **__: None,
            "version": types.SimpleNamespace(cuda=None, hip=None),
            "__version__": "2.0.0",
        },
        "transformers": {},
    }.items():
        try:
            __import__(name)
        except ImportError:
            sys.modules[name] = Module(name)
            sys.modules[name].__dict__.update(content)


@pytest.mark.parametrize("engine", [outlines, llguidance, xgrammar], ids=lambda engine: str(engine.__name__))
@pytest.mark.parametrize("whitelisted", [True, False])
def test_an_engine_admits_good_answers_and_no_digit(
    engine: Callable[..., dict[str, Admits]], whitelisted: bool
) -> None:
    session = metered()
    schema = final_schema(session, whitelisted=whitelisted)
    grammar = final_schema(session, format="gbnf", whitelisted=whitelisted)
    for name, admits in engine(schema, grammar).items():
        for answer in GOOD:
            text = json.dumps(answer, ensure_ascii=False)
            assert admits(text), text
            check_final(session, text)
        for answer in BAD:
            assert not admits(json.dumps(answer, ensure_ascii=False)), answer
        # outlines and xgrammar match a pattern with the JSON as it is written, in which a line feed is two characters.
        assert admits(json.dumps(LINES)) is (name == "gbnf" or engine is llguidance)
        assert admits(json.dumps({"claims": [], "message": "On 2024-02-28, v1.2."})) is whitelisted


# -------------------------------------------------------------------------------------------- providers


class Server:
    """Answers each request with one reply, and keeps what was asked."""

    def __init__(self, reply: dict[str, Any]) -> None:
        self.asked: list[dict[str, Any]] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                server.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                body = json.dumps(reply).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Server:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


ANSWER = json.dumps(GOOD[1])


@pytest.fixture
def session() -> Session:
    return metered()


def test_openai_chat_sends_the_schema_as_it_is(session: Session) -> None:
    from openai import OpenAI

    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": ANSWER}}
    reply = {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
    schema = final_schema(session)
    with Server(reply) as server:
        said = OpenAI(base_url=server.url, api_key="none").chat.completions.create(
            model="m",
            messages=[{"role": "user", "content": "How much?"}],
            response_format={
                "type": "json_schema",
                "json_schema": {"name": "final", "strict": True, "schema": schema},
            },
        )
    assert server.asked[0]["response_format"]["json_schema"]["schema"] == schema
    verified = check_final(session, said.choices[0].message.content)
    assert verified.message == "It uses 12.50 kWh of heat."


def test_openai_responses_send_the_schema_as_it_is(session: Session) -> None:
    from openai import OpenAI

    part = {"type": "output_text", "text": ANSWER, "annotations": []}
    message = {"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": [part]}
    reply = {"id": "1", "object": "response", "created_at": 0, "model": "m", "output": [message]}
    schema = final_schema(session)
    with Server(reply) as server:
        said = OpenAI(base_url=server.url, api_key="none").responses.create(
            model="m",
            input="How much?",
            text={"format": {"type": "json_schema", "name": "final", "strict": True, "schema": schema}},
        )
    assert server.asked[0]["text"]["format"]["schema"] == schema
    assert check_final(session, said.output_text).message == "It uses 12.50 kWh of heat."


@pytest.mark.parametrize("recorded", [True, False])
def test_the_schema_is_strict_as_openai_checks_it(recorded: bool) -> None:
    from openai.lib._pydantic import _ensure_strict_json_schema

    schema = final_schema(metered() if recorded else Session())
    assert _ensure_strict_json_schema(copy.deepcopy(schema), path=(), root=schema) == schema
    values = json.dumps(schema).count('"enum"')
    assert values <= 1000  # of one schema, as the API has it


def test_the_largest_schema_has_no_more_values_than_openai_takes() -> None:
    session = Session()
    for number in range(250):
        session.record("meter", {}, {"heat": {"value": number, "unit": "kWh"}})
    assert json.dumps(final_schema(session)).count('"enum"') <= 1000


def test_anthropic_holds_the_claims_and_is_told_of_the_pattern(session: Session) -> None:
    from anthropic import Anthropic, transform_schema

    reply = {
        "id": "1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": ANSWER}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    schema = transform_schema(final_schema(session))
    assert (
        "pattern" not in schema["properties"]["message"]
    )  # the API knows none, nor how many items there may be
    assert "pattern: " in schema["properties"]["message"]["description"]
    with Server(reply) as server:
        said = Anthropic(base_url=server.url, api_key="none").messages.create(
            model="m",
            max_tokens=99,
            messages=[{"role": "user", "content": "How much?"}],
            output_config={"format": {"type": "json_schema", "schema": schema}},
        )
    sent = server.asked[0]["output_config"]["format"]["schema"]
    paths = [item["properties"]["path"]["enum"] for item in sent["properties"]["claims"]["items"]["anyOf"]]
    assert paths == [["$.heat"], ["$.share"]]
    assert check_final(session, said.content[0].text).message == "It uses 12.50 kWh of heat."
