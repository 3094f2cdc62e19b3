"""The turns of a recorded conversation: what was said, which tool was called, and what it returned."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias

Speaker = Literal["system", "user", "assistant"]


class Said(NamedTuple):
    """A text; what the assistant says is an answer."""

    speaker: Speaker
    text: str


class Called(NamedTuple):
    """A call that the assistant asks for. An id or a name that the record does not have is empty."""

    call_id: str
    tool: str
    arguments: Any


class Returned(NamedTuple):
    """What a call returned."""

    call_id: str
    tool: str
    value: Any


Turn: TypeAlias = Said | Called | Returned
