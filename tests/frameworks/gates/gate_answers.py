"""What the tests of all gates share: what a tool returns, what a model answers, and many users at once."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from pydantic import BaseModel

from gllint_runtime import Claimed, ClaimedText, Quantity, Session, Unclaimed

HEAT = {"heat": {"value": 12.5, "unit": "kWh"}}
NAKED = "It uses 13 kWh."
REFUSED = "I cannot give a verified answer to that."


def claim(call_id: str = "tc_1", path: str = "$.heat", value: float = 12.5) -> dict[str, Any]:
    return {"source_call_id": call_id, "path": path, "quantity": {"value": value, "unit": "kWh"}}


def final_data(message: str, *arguments: Any, **options: Any) -> dict[str, Any]:
    """An answer with one claim, whose call, path and value may be others."""
    return {"claims": [claim(*arguments, **options)], "message": message}


def final(message: str, *arguments: Any, **options: Any) -> str:
    """The same as JSON."""
    return json.dumps(final_data(message, *arguments, **options))


TWICE: dict[str, Any] = {"operation": "sum", "claims": [claim(), claim()]}
"""What ``calculate`` is called with, and below what is answered then."""
SUM = final("It is {{claim:0}}.", "tc_2", "$.result", 25)


class Answer(BaseModel):
    heat: Claimed[Quantity]
    note: ClaimedText
    stars: Unclaimed[int, "rating of the answer"] = 5  # noqa: F722


class Rated(BaseModel):
    rating: float


GOOD = {"heat": claim(), "note": final_data("It uses {{claim:0}}.")}
BAD = {**GOOD, "note": NAKED}


def origin(session: Session, number: float) -> str:
    """Where a session thinks that a number in a tool's arguments comes from."""
    (origin,) = session.tool_arguments("scaled", {"area": number}).origins or ()
    return origin.kind


def at_once(function: Callable[[Any], Any], items: Collection[Any]) -> list[Any]:
    """What a function gives for each item, each in a thread of its own; raises what one of them raises."""
    with ThreadPoolExecutor(max_workers=len(items)) as pool:
        return [*pool.map(function, items)]
