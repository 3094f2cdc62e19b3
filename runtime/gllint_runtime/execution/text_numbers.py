"""Numbers in the text of a tool: the model has read them, but no claim can cite them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gllint_runtime.provenance.engine import Provenance

_LONGEST_WORD = 80
_WORD = re.compile(r"\w")


def word_around(message: str, start: int, end: int) -> str:
    """Return the number at a place of a message with the letters and digits that touch it: ``PA441`` of ``441``."""
    first, last = start, end
    while first > max(0, start - _LONGEST_WORD) and _WORD.match(message, first - 1):
        first -= 1
    while last < min(len(message), end + _LONGEST_WORD) and _WORD.match(message, last):
        last += 1
    return message[first:last]


def text_hint(word: str, provenance: Provenance) -> str | None:
    """Return what to do about a number that only a text of a tool contains.

    ``None`` if no text does, or it can be cited.

    "'PA441' is in a text that flights returned (tc_1), and nothing in a text can be cited: …"
    """
    source = provenance.quotes(word)
    if source is None or not source.call_id:
        return None
    try:
        number = float(word.replace(",", ""))
    except ValueError:
        pass
    else:
        if any(one.origin == "tool" for one in provenance.index.by_value(number, number)):
            return None
    is_name = any(char.isalpha() for char in word)
    remedy = (
        "allow names like it (`whitelist`)" if is_name else "let the tool return a Quantity {value, unit}"
    )
    return (
        f"'{word}' is in a text that {source.tool} returned ({source.call_id}), and nothing in a text can be "
        f"cited: say it without the number. The developer of the agent can {remedy}."
    )
