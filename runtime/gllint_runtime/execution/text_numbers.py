"""Numbers that a tool told in a text: the model read them, and yet no claim can cite them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from gllint_runtime.execution.record import CallRecord

_MAX_CALLS = 50  # the latest
_MAX_PARTS = 20_000
_MAX_TEXT = 2_000_000  # characters
_LONGEST_WORD = 80
_WORD = re.compile(r"\w")


def word_around(message: str, start: int, end: int) -> str:
    """The number at a place of a message with the letters and digits that touch it: ``PA441`` of ``441``."""
    first, last = start, end
    while first > max(0, start - _LONGEST_WORD) and _WORD.match(message, first - 1):
        first -= 1
    while last < min(len(message), end + _LONGEST_WORD) and _WORD.match(message, last):
        last += 1
    return message[first:last]


def text_source(word: str, records: Iterable[CallRecord]) -> CallRecord | None:
    """The latest call in one of whose texts a word stands, unless a Quantity of any call has its value."""
    latest = [*records][: -_MAX_CALLS - 1 : -1]
    number = _number(word)
    if number is not None:
        for record in latest:
            if any(quantity.value == number for quantity in record.output.quantities.values()):
                return None
    pattern = re.compile(rf"(?<!\w)(?<!\d[.,]){re.escape(word)}(?!\w)(?![.,]\d)")
    budget = [_MAX_PARTS, _MAX_TEXT]
    for record in latest:
        if any(pattern.search(text) for text in _texts(record.output.data, budget)):
            return record
    return None


def text_hint(word: str, record: CallRecord) -> str:
    """What the model can do about a number of a text, and what its developer can."""
    is_name = any(char.isalpha() for char in word)
    remedy = (
        "let names like it stand (`whitelist`)" if is_name else "let the tool return a Quantity {value, unit}"
    )
    return (
        f"'{word}' stands in a text that {record.tool_name} returned ({record.call_id}), and nothing in a text can be "
        f"cited: say it without the number. The developer of the agent can {remedy}."
    )


def _number(word: str) -> float | None:
    try:
        return float(word.replace(",", ""))
    except ValueError:
        return None


def _texts(data: Any, budget: list[int]) -> Iterator[str]:
    waiting = [data]
    while waiting and budget[0] > 0 and budget[1] > 0:
        budget[0] -= 1
        node = waiting.pop()
        if isinstance(node, dict):
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node
        elif isinstance(node, str):
            yield node[: budget[1]]
            budget[1] -= len(node)
