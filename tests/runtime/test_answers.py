"""How many right answers sourced mode rejects, and how many altered ones it passes: the figures may only get better.

The cases were written and labelled by someone who has not seen the engine (`answers/README.md`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from gllint_runtime import Session

ANSWERS = Path(__file__).parent / "answers"


def cases(name: str) -> Iterator[dict[str, Any]]:
    for path in sorted(ANSWERS.glob(f"{name}*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            case = json.loads(line)
            yield {"right": True, **case}
            for _, old, new in case.get("altered", ()):
                yield {**case, "right": False, "answer": case["answer"].replace(old, new)}


def passes(case: dict[str, Any]) -> bool:
    today = date.fromisoformat(case["today"]) if case["today"] else None
    session = Session(mode="sourced", today=today)
    session.prompt(case["prompt"])
    for turn in case["turns"]:
        if "user" in turn:
            session.user(turn["user"])
        else:
            call = turn["call"]
            session.record(call["tool"], call["args"], call["output"])
    return session.verify(case["answer"]).status == "success"


@pytest.mark.timeout(230)  # hundreds of conversations, which coverage slows down
@pytest.mark.parametrize(
    ("name", "count", "rejected", "passed"),
    [
        ("open", 709, 12, 70),
        ("blind", 661, 27, 95),
        ("third", 577, 14, 101),
        ("fourth", 600, 42, 117),
        ("fifth", 920, 82, 107),
    ],
)
def test_answers(name: str, count: int, rejected: int, passed: int) -> None:
    verdicts = [(case["right"], passes(case)) for case in cases(name)]
    assert len(verdicts) == count
    assert sum(right and not is_passed for right, is_passed in verdicts) <= rejected
    assert sum(is_passed and not right for right, is_passed in verdicts) <= passed
