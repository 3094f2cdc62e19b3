"""Structured answers: types for fields of a pydantic model in which each number is a claim and each text is checked.

class Answer(BaseModel):
    heat: Claimed[Quantity]
    note: ClaimedText
    stars: Unclaimed[int, "rating of the answer"]

The model fills in claims, the program gets the tool's own Quantities. What is read is held to the session of the
moment (:func:`current_session`), so that a claim that does not hold is a validation error, which each framework tells
the model in its own form.
"""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, is_dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeVar, get_args, get_origin

from gllint_runtime.execution.session import Session
from gllint_runtime.execution.steps import read_claims
from gllint_runtime.policy.errors import GLError
from gllint_runtime.policy.schemas import NAMED, OF_THE_VALUE, Quantity

Value = TypeVar("Value")
_CURRENT: ContextVar[Session | None] = ContextVar("gllint_session", default=None)


def current_session() -> Session | None:
    """The session of the run that this code runs in: that of a tool, a sub-agent, an agent that was handed over to."""
    return _CURRENT.get()


@contextmanager
def binding(variable: ContextVar[Value], value: Value) -> Iterator[Value]:
    """Give a context variable its value for a while."""
    token = variable.set(value)
    try:
        yield value
    finally:
        with suppress(ValueError):  # a generator that another context closes
            variable.reset(token)


@contextmanager
def using(session: Session) -> Iterator[Session]:
    """Make ``session`` the current one: for tools, and for agents that they run.

    What an agent is asked within is a model's task, and no user's word; a program that runs an agent itself within
    tells the session what the user said (:meth:`Session.user`).
    """
    with binding(_CURRENT, session):
        yield session


CLAIM_SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "Where the number comes from: the tool call, the path in its output, the Quantity found there.",
    "properties": {
        "source_call_id": {"type": "string", "description": "The tool_call_id of the call, for example tc_1"},
        "path": {"type": "string", "description": "For example $.heat"},
        "quantity": {
            "type": "object",
            "properties": {"value": {"type": "number"}, "unit": {"type": "string"}},
            "required": ["value", "unit"],
            "additionalProperties": False,
        },
    },
    "required": ["source_call_id", "path", "quantity"],
    "additionalProperties": False,
}
TEXT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "A text in which {{claim:0}}, {{claim:1}}, … stand for the numbers, and their claims.",
    "properties": {"message": {"type": "string"}, "claims": {"type": "array", "items": CLAIM_SCHEMA}},
    "required": ["message", "claims"],
    "additionalProperties": False,
}


# ------------------------------------------------------------------------------------------------- the types


class _VerifiedText(str):
    """A text that was checked."""

    __slots__ = ()


class _Field:
    """What pydantic asks of an annotation: how to read a value, and what the model is told of it."""

    schema: typing.ClassVar[Mapping[str, Any]]

    def read(self, value: Any) -> Any:
        """What the program gets. Raises ValueError, with what the model has to mend."""
        raise NotImplementedError

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(
            self.read,
            serialization=core_schema.plain_serializer_function_ser_schema(
                lambda value: value.to_dict() if isinstance(value, Quantity) else value
            ),
        )

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> Any:
        return dict(self.schema)


class _ClaimedQuantity(_Field):
    schema = CLAIM_SCHEMA

    def read(self, value: Any) -> Quantity:
        if isinstance(value, Quantity):  # of the program: no model can write one
            return value
        session = _session()
        try:
            (claim,) = read_claims([value])
            return session.resolved(claim)
        except GLError as error:
            raise ValueError(str(error)) from error


class _CheckedText(_Field):
    schema = TEXT_SCHEMA

    def read(self, value: Any) -> str:
        if type(value) is _VerifiedText:
            return value
        session = _session()
        message, claims = (
            (value.get("message"), value.get("claims")) if isinstance(value, Mapping) else (value, ())
        )
        try:
            return _VerifiedText(session.check(message, claims).message)  # type: ignore[arg-type]
        except GLError as error:
            raise ValueError(str(error)) from error


@dataclass(frozen=True)
class Declared:
    """A number that needs no claim, and why."""

    reason: str


def _session() -> Session:
    session = current_session()
    if session is None:
        raise ValueError(
            "No session holds now: run the agent through its gate, or read this under using(session)"
        )
    return session


if TYPE_CHECKING:
    Claimed = Annotated[Value, _ClaimedQuantity()]
    Unclaimed = Annotated
else:

    class Claimed:
        """``Claimed[Quantity]``: the model fills in a claim, the program gets what the tool returned."""

        def __class_getitem__(cls, item: Any) -> Any:
            if item is not Quantity:
                raise TypeError(f"Claimed[Quantity] is all that can be claimed, not Claimed[{item!r}]")
            return Annotated[Quantity, _ClaimedQuantity()]

    class Unclaimed:
        """``Unclaimed[int, "rating of the answer"]``: a number of the model's own, declared to be; the trace has it."""

        def __class_getitem__(cls, item: Any) -> Any:
            if (
                not isinstance(item, tuple)
                or len(item) != 2
                or not isinstance(item[1], str)
                or not item[1].strip()
            ):
                raise TypeError(
                    'Unclaimed takes a type and the reason: Unclaimed[int, "rating of the answer"]'
                )
            return Annotated[item[0], Declared(item[1])]


ClaimedText = Annotated[str, _CheckedText()]
"""A text that is checked as a message is, with its own claims; plain where it has no number."""

# ---------------------------------------------------------------------------------------- what a type admits

_NUMBERS = (int, float, complex, Decimal, Fraction)
_MOST_TYPES = 1000
# Beside the schemas of the value: those of draft 7, and of a provider's response format.
_FURTHER_SCHEMAS = frozenset({"additionalItems", "json_schema", "schema"})


class _Part(NamedTuple):
    """A part of a type: where it stands, what it is, and what is declared of it."""

    place: str
    hint: Any
    marks: tuple[Any, ...] = ()


def require_claims(hint: Any, name: str = "the answer") -> None:
    """Raises TypeError for an answer's type or JSON Schema in which a number needs no claim, with the way out."""
    work, seen = [_Part(name, hint)], 0
    while work and seen < _MOST_TYPES:
        part, seen = work.pop(), seen + 1
        if any(isinstance(mark, _Field | Declared) for mark in part.marks):
            continue
        if what := _bare(part.hint):
            raise TypeError(
                f"{part.place} is {what}: a model could make it up. Declare Claimed[Quantity], or, where it is the "
                'model\'s own, Unclaimed[int, "why"]'
            )
        work += [inner for inner in _parts(part) if inner.hint is not part.hint]


def _bare(hint: Any) -> str | None:
    if hint is Quantity:
        return "a Quantity without a claim"
    if isinstance(hint, Mapping):
        kinds = hint.get("type")
        if any(kind in ("number", "integer") for kind in (kinds if isinstance(kinds, list) else [kinds])):
            return "a bare number"
        values = [*(hint["enum"] if isinstance(hint.get("enum"), list) else ()), hint.get("const")]
        return "a choice of bare numbers" if any(type(value) in _NUMBERS for value in values) else None
    if isinstance(hint, type) and issubclass(hint, _NUMBERS) and not issubclass(hint, bool | Enum):
        return f"a bare {hint.__name__}"
    if get_origin(hint) is Literal and any(type(value) in _NUMBERS for value in get_args(hint)):
        return "a choice of bare numbers"
    return None


def _parts(part: _Part) -> Iterator[_Part]:
    """The parts of a type, one step down; of a model those that it has not declared as a checked message."""
    hint = part.hint
    if isinstance(hint, Mapping | list):
        yield from _schema_parts(part)
        return
    if get_origin(hint) is Annotated:
        inner, *marks = get_args(hint)
        yield _Part(part.place, inner, tuple(marks))
        return
    fields = getattr(hint, "model_fields", None)
    if isinstance(hint, type) and isinstance(fields, dict):
        if not _is_message(fields):
            for name, info in fields.items():
                yield _Part(f"{hint.__name__}.{name}", info.annotation, tuple(info.metadata))
    elif isinstance(hint, type) and (is_dataclass(hint) or _is_typed_dict(hint)):
        hints = typing.get_type_hints(hint, include_extras=True)
        if not _is_message(hints):
            for name, member in hints.items():
                yield _Part(f"{hint.__name__}.{name}", member)
    elif get_origin(hint) is not Literal:
        for argument in get_args(hint):
            yield _Part(part.place, argument)


def _schema_parts(part: _Part) -> Iterator[_Part]:
    """The parts of a JSON Schema, one step down."""
    if isinstance(part.hint, list):
        yield from (_Part(part.place, item) for item in part.hint if isinstance(item, Mapping))
        return
    for key, value in part.hint.items():
        if key in NAMED and isinstance(value, Mapping):
            if not _is_message(value):
                yield from (_Part(f"{part.place}.{name}", inner) for name, inner in value.items())
        elif (key in OF_THE_VALUE or key in _FURTHER_SCHEMAS) and isinstance(value, Mapping | list):
            yield _Part(part.place, value)


def _is_typed_dict(hint: Any) -> bool:
    """Whether it is a TypedDict, of ``typing`` or of ``typing_extensions``."""
    return isinstance(hint, type) and isinstance(getattr(hint, "__required_keys__", None), frozenset)


def _is_message(fields: Mapping[str, Any]) -> bool:
    return fields.keys() == {"message", "claims"}


# ------------------------------------------------------------------------------------------ what an answer has


def checked_structure(session: Session, answer: Any, hint: Any = None) -> Any:
    """A structured answer once each text in it holds; one of ``message`` and ``claims`` has the checked message.

    ``hint`` is its type where the answer does not say it, as a dictionary of a TypedDict. Raises GLError for a number
    without a claim, TypeError for a type that admits one.
    """
    require_claims(type(answer), type(answer).__name__)
    return _checked(session, answer, (), "$", hint)


def structure_data(answer: Any, hint: Any = None) -> Any:
    """A structured answer that was checked as JSON data, each number with its unit."""
    if isinstance(answer, Mapping) and not _is_typed_dict(hint):
        return {**answer}
    from pydantic import TypeAdapter

    kind: Any = hint if _is_typed_dict(hint) else type(answer)
    return TypeAdapter(kind).dump_python(answer, mode="json", by_alias=True)


def _checked(session: Session, value: Any, marks: tuple[Any, ...], place: str, hint: Any = None) -> Any:
    declared = next((mark for mark in marks if isinstance(mark, Declared)), None)
    if declared is not None:
        session.declare_unclaimed(place, value, declared.reason)
        return value
    if isinstance(value, bool | Enum | Quantity | _VerifiedText) or value is None:
        return value
    if isinstance(value, str):
        session.check(value)
        return value
    if isinstance(value, int | float | Decimal | Fraction):
        session.refuse_number(place, value)
        return value
    fields = getattr(type(value), "model_fields", None)
    if isinstance(fields, dict):
        if _is_message(fields):
            claims = [
                claim if isinstance(claim, dict) else claim.model_dump() for claim in value.claims or ()
            ]
            return value.model_copy(update={"message": session.check(value.message, claims).message})
        for name, info in fields.items():
            inner = getattr(value, name)
            marks = tuple(info.metadata) + _marks_within(info.annotation)
            if (new := _checked(session, inner, marks, f"{place}.{name}")) is not inner:
                value = value.model_copy(update={name: new})
    elif isinstance(value, Mapping):
        if _is_message(value):
            return {**value, "message": session.check(value["message"], value["claims"]).message}
        hints = typing.get_type_hints(hint, include_extras=True) if _is_typed_dict(hint) else {}
        return {
            key: _checked(session, item, _marks_within(hints.get(key)), f"{place}.{key}", hints.get(key))
            for key, item in value.items()
        }
    elif isinstance(value, list | tuple):
        changed = [_checked(session, item, marks, f"{place}[{i}]") for i, item in enumerate(value)]
        return changed if isinstance(value, list) else tuple(changed)
    elif is_dataclass(value):
        hints = typing.get_type_hints(type(value), include_extras=True)
        for name, hint in hints.items():
            _checked(session, getattr(value, name), _marks_within(hint), f"{place}.{name}")
    return value


def _marks_within(hint: Any) -> tuple[Any, ...]:
    """What is declared of the members of a type such as ``list[Unclaimed[int, "…"]]``."""
    marks: list[Any] = []
    work = [hint]
    while work:
        part = work.pop()
        arguments = get_args(part)
        if get_origin(part) is Annotated:
            marks += arguments[1:]
            work.append(arguments[0])
        elif get_origin(part) is not Literal:
            work += arguments
    return tuple(marks)
