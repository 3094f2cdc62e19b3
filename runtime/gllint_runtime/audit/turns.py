"""The turns of a recorded conversation: what was said, which tool was called, and what it returned."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

Speaker = Literal["system", "user", "assistant"]


class Said(NamedTuple):
    """A text; what the assistant says is an answer."""

    speaker: Speaker
    text: str


class Piece(NamedTuple):
    """A piece of what the assistant says in a stream, and the id of its message, empty where it has none."""

    text: str
    message: str = ""


class Concluded(NamedTuple):
    """The answer of a run, which the assistant may have said already."""

    text: str


class Called(NamedTuple):
    """A call that the assistant asks for. An id or a name that the record does not have is empty."""

    call_id: str
    tool: str
    arguments: Any


class Fragment(NamedTuple):
    """More of the arguments of the latest call, in a stream."""

    text: str


class Returned(NamedTuple):
    """The result of a call; ``None`` if the call failed."""

    call_id: str
    tool: str
    value: Any


class On(NamedTuple):
    """The day of what follows."""

    day: date


class By(NamedTuple):
    """The model that gives the answers that follow."""

    model: str


Turn: TypeAlias = Said | Piece | Concluded | Called | Fragment | Returned | On | By
TURNS: Mapping[str, type[Turn]] = {turn.__name__: turn for turn in get_args(Turn)}
