"""The benchmark and the example with real models, with a model that says what it is told to in their place."""

from __future__ import annotations

import argparse
import json
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gllint_runtime import GLError, Session

ROOT = Path(__file__).parents[2]
BENCHMARK = runpy.run_path(str(ROOT / "benchmarks" / "real_model.py"))
EXAMPLE = runpy.run_path(str(ROOT / "examples" / "gate" / "local_model.py"))
CLAIM = {"source_call_id": "tc_1", "path": "$.heat", "quantity": {"value": 117, "unit": "kWh"}}
HONEST = json.dumps({"claims": [CLAIM], "message": "The school uses {{claim:0}} of heat."})


class Scripted:
    """Says its texts in turn, and keeps what it was asked."""

    def __init__(self, *texts: str) -> None:
        self.texts = iter(texts)
        self.prompts: list[str] = []
        self.grammars: list[Any] = []

    def complete(self, text: str, tokens: int, stop: tuple[str, ...], grammar: str | None) -> str:
        self.prompts.append(text)
        self.grammars.append(grammar)
        return next(self.texts)

    def __call__(self, text: str, **options: Any) -> dict[str, Any]:
        said = self.complete(text, options["max_tokens"], options["stop"], options["grammar"])
        return {"choices": [{"text": said}]}


def asked(mode: str, *texts: str) -> tuple[dict[str, Any], Scripted]:
    model = Scripted(*texts)
    question = next(BENCHMARK["questions"](1))
    answer = BENCHMARK["ask"](model, BENCHMARK["MODELS"]["smollm2"].chat, question, mode, 80)
    if mode in ("free", "prompt"):
        answer["shown"] = BENCHMARK["_message"](answer["said"][-1])
    invented, is_right = BENCHMARK["judge"](question, answer["shown"])
    return {**answer, "invented": invented, "right": is_right}, model


def test_a_number_that_the_tool_did_not_return_is_counted_where_it_is_shown() -> None:
    answer, _ = asked("free", "It uses 118 kWh.")
    assert (answer["shown"], answer["invented"], answer["right"]) == ("It uses 118 kWh.", ["118"], False)
    answer, model = asked("free", "It uses 117 kWh.")
    assert (answer["invented"], answer["right"]) == ([], True)
    assert "Rules for numbers" not in model.prompts[0]
    answer, model = asked("prompt", HONEST)
    assert (answer["shown"], answer["invented"]) == ("The school uses {{claim:0}} of heat.", [])
    assert "Rules for numbers" in model.prompts[0]


def test_the_gate_tells_what_is_wrong_and_shows_what_holds() -> None:
    answer, model = asked("gated", "It uses 117 kWh.", HONEST)
    assert answer["shown"] == "The school uses 117.00 kWh of heat."
    assert (answer["invented"], answer["right"]) == ([], True)
    assert "NO_NAKED_NUMBERS" in model.prompts[1]
    answer, model = asked("gated", *["It uses 118 kWh."] * 3)
    assert (answer["shown"], answer["invented"], len(model.prompts)) == (None, [], 2)


def test_a_held_answer_stops_behind_its_first_sentence() -> None:
    answer, model = asked("held", HONEST[:-3])
    assert answer["shown"] == "The school uses 117.00 kWh of heat."
    assert "::=" in model.grammars[0]


def test_a_run_goes_on_where_it_was_broken_off(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = argparse.Namespace(questions=2, tokens=80, modes="free", results=tmp_path / "results.jsonl")
    scripted: list[Callable[[], Any]] = [
        lambda: Scripted("It uses 117 kWh.", "It uses 5 kWh."),
        lambda: pytest.fail("asked again"),
    ]
    for load in scripted:
        assert BENCHMARK["run"](load, "smollm2", options) == 0
    rows = capsys.readouterr().out.splitlines()
    assert rows[0] == rows[1]
    assert rows[0].startswith("| SmolLM2-135M-Instruct (Q4_1) | free | 1 | 0 | 1 |")


def test_the_example_holds_a_model_to_what_its_tools_returned() -> None:
    session = Session()
    session.record("meter", {}, {"heat": {"value": 117, "unit": "kWh"}})
    model = Scripted(HONEST[:-3], '{"claims": [], "message": "It uses 5 kWh."}')
    ask = EXAMPLE["answer"]
    assert ask(model, str, session, "How much?", "{}").message == "The school uses 117.00 kWh of heat."
    assert "::=" in model.grammars[0]
    with pytest.raises(GLError, match="NO_NAKED_NUMBERS"):
        ask(model, str, session, "How much?", "{}")
