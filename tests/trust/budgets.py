"""The walks over input: the budget of each, and its time at n, 2n and 4n."""

from __future__ import annotations

import importlib
import json
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import fuzz
from trust import Budget, Row

_MOST_GROWTH = 8  # from n to 4n
_MEASURABLE = 0.02  # seconds
_SIZE = 1_000


class Walk(NamedTuple):
    """What reads an input of ``n`` parts, and the constant by which it gives up, with the module that says so."""

    target: str  # of `fuzz`
    text: Callable[[int], str]
    module: str
    budget: str


def _chain(n: int) -> str:
    lines = (f"s{i + 1} = '{{}}{{}}'.format(s{i}, s{i})\n" for i in range(n // 10))
    return "s0 = 'ab'\n" + "".join(lines) + _tool(f"s{n // 10}")


def _tool(value: str) -> str:
    return f"from agents import function_tool\n@function_tool\ndef f(x):\n    return {{'a': {value}}}\n"


def _notebook(n: int) -> str:
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "source": ["x = 1\n"]}
    return json.dumps({"cells": [cell] * n, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


_RULES = "facts, inference, rules"
WALKS: dict[str, Walk] = {
    "expressions": Walk(
        _RULES,
        lambda n: _tool(" + ".join(["1.5"] * (n // 4))),
        "gllint_rules.inference.questions",
        "MOST_STEPS",
    ),
    "nested expressions": Walk(
        _RULES,
        lambda n: _tool("[" * (n // 8) + "1.5" + "]" * (n // 8)),
        "gllint_rules.reading.depth",
        "_MAX_DEPTH",
    ),
    "templates": Walk(_RULES, _chain, "gllint_rules.inference.formatting", "MOST_PARTS"),
    "constant tables": Walk(
        _RULES,
        lambda n: "T = {" + ", ".join(f"'k{i}': {i}.5" for i in range(n)) + "}\n" + _tool("T[x]"),
        "gllint_rules.inference.evaluator",
        "MOST_IN_TABLE",
    ),
    "configuration": Walk(
        "configuration",
        lambda n: "exclude = [" + ", ".join(f"'a{i}/*'" for i in range(n)) + "]\n",
        "gllint_runtime.policy.configuration",
        "LARGEST",
    ),
    "patterns of files": Walk(
        "configuration",
        lambda n: f"exclude = ['{'*a' * n}b']\n",
        "gllint.files.patterns",
        "_MOST_CHARACTERS",
    ),
    "baselines": Walk(
        "baselines",
        lambda n: json.dumps({"findings": [{"path": "a"}] * n}),
        "gllint.verdict.baseline",
        "_MOST",
    ),
    "notebooks": Walk("notebooks", _notebook, "gllint.files.notebooks", "_MOST_BYTES"),
}


def constant(walk: Walk) -> object:
    """The budget of a walk. Raises ``AttributeError`` where its module has none of that name."""
    return getattr(importlib.import_module(walk.module), walk.budget)


def suite(_: Budget) -> Iterator[Row]:
    """A row for each walk."""
    for name, walk in WALKS.items():
        _time(walk, 10)  # what is imported at first use
        one, two, four = (_time(walk, n * _SIZE) for n in (1, 2, 4))
        is_too_much = four > _MEASURABLE and four > _MOST_GROWTH * max(one, _MEASURABLE / 8)
        times = " ".join(f"{1000 * seconds:.1f}" for seconds in (one, two, four))
        told = f"{walk.budget} = {constant(walk)} in {walk.module}; {times} ms"
        yield Row(f"budgets: {name}", told, [f"grows faster than its input: {times} ms"] * is_too_much)


def _time(walk: Walk, n: int) -> float:
    text = walk.text(n)
    begun = time.process_time()
    fuzz.feed(walk.target, text)
    return time.process_time() - begun
