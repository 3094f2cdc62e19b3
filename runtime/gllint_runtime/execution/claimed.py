"""Structured answers: types for fields of a pydantic model in which each number is a claim and each text is checked.

class Answer(BaseModel):
    heat: Claimed[Quantity]
    note: ClaimedText
    stars: Unclaimed[int, "rating of the answer"]

The model fills in claims, the program gets the tool's own Quantities. What is read is checked against the current
session (:func:`current_session`), so that a wrong claim is a validation error, which each framework reports to the
model in its own form.
"""

from __future__ import annotations

import typing
from collections import abc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, is_dataclass
from dataclasses import fields as dataclass_fields
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from math import isfinite
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin

from gllint_runtime.execution.session import Session
from gllint_runtime.execution.steps import read_claims
from gllint_runtime.policy.errors import GLError, GLValidationError
from gllint_runtime.policy.schemas import NAMED, OF_THE_VALUE, QUANTITY_INLINED, Quantity

__all__ = ["Claimed", "ClaimedText", "Unclaimed"]  # what type checkers see of a name that is only imported

Value = TypeVar("Value")
_CURRENT: ContextVar[Session | None] = ContextVar("gllint_session", default=None)


def current_session() -> Session | None:
    """Return the session of the run that this code runs in: that of a tool, a sub-agent, an agent that was handed over
    to.
    """
    return _CURRENT.get()


@contextmanager
def binding(variable: ContextVar[Value], value: Value) -> Iterator[Value]:
    """Set a context variable to ``value`` within a ``with`` block."""
    token = variable.set(value)
    try:
        yield value
    finally:
        with suppress(ValueError):  # a generator that another context closes
            variable.reset(token)


@contextmanager
def using(session: Session) -> Iterator[Session]:
    """Make ``session`` the current one within a ``with`` block: for its tools, and for agents that they run.

    A prompt to an agent in the block counts as a model's task, not as the user's words; a program that runs an
    agent itself there adds those with :meth:`Session.user`.
    """
    with binding(_CURRENT, session):
        yield session


CLAIM_SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "Where the number comes from: the tool call, the path in its output, the Quantity found there.",
    "properties": {
        "source_call_id": {"type": "string", "description": "The tool_call_id of the call, for example tc_1"},
        "path": {"type": "string", "description": "For example $.heat"},
        "quantity": QUANTITY_INLINED,
    },
    "required": ["source_call_id", "path", "quantity"],
    "additionalProperties": False,
}
TEXT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "A text in which {{claim:0}}, {{claim:1}}, … are the places of the numbers, and their claims.",
    "properties": {"message": {"type": "string"}, "claims": {"type": "array", "items": CLAIM_SCHEMA}},
    "required": ["message", "claims"],
    "additionalProperties": False,
}


# ------------------------------------------------------------------------------------------------- the types


class _VerifiedText(str):
    """A text that was checked."""

    __slots__ = ()


class _Field:
    """The methods that pydantic calls on an annotation: how to read a value, and its schema for the model."""

    schema: typing.ClassVar[Mapping[str, Any]]

    def read(self, value: Any) -> Any:
        """Return the value that the program gets for what the model wrote.

        Raises ValueError, with a hint for the model.
        """
        raise NotImplementedError

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """Return the schema by which pydantic validates with :meth:`read`, and dumps a Quantity as an object."""
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
    schema: typing.ClassVar[Mapping[str, Any]] = {
        "anyOf": [CLAIM_SCHEMA, CLAIM_SCHEMA["properties"]["quantity"]]
    }

    def read(self, value: Any) -> Quantity:
        """Return the Quantity that a claim cites, or of a number with a source in sourced mode.

        Raises ValueError for pydantic.
        """
        if isinstance(value, Quantity):  # of the program: no model can write one
            return value
        session = _session()
        try:
            if (sourced := session.sourced_quantity(value)) is not None:
                return sourced
            (claim,) = read_claims([value])
            return session.resolved(claim)
        except GLError as error:
            raise ValueError(str(error)) from error


class _CheckedText(_Field):
    schema: typing.ClassVar[Mapping[str, Any]] = {"anyOf": [TEXT_SCHEMA, {"type": "string"}]}

    def read(self, value: Any) -> str:
        """Return a text, or the message of ``{"message", "claims"}``, with its macros replaced.

        Raises ValueError for pydantic.
        """
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
            "There is no current session: run the agent through its gate, or read this inside using(session)"
        )
    return session


if TYPE_CHECKING:
    from typing import Annotated as Unclaimed

    Claimed = Annotated[Value, _ClaimedQuantity()]
else:

    class Claimed:
        """``Claimed[Quantity]``: the model fills in a claim, the program gets what the tool returned."""

        def __class_getitem__(cls, item: Any) -> Any:
            if item is not Quantity:
                raise TypeError(
                    f"only a Quantity can be claimed: write Claimed[Quantity], not Claimed[{item!r}]"
                )
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
                raise TypeError('Unclaimed needs a type and a reason: Unclaimed[int, "rating of the answer"]')
            return Annotated[item[0], Declared(item[1])]


ClaimedText = Annotated[str, _CheckedText()]
"""A text that is checked as a message is, with its own claims; plain where it has no number."""

# ---------------------------------------------------------------------------------------- what a type admits

_NUMBERS = (int, float, complex, Decimal, Fraction)
_PLAIN = (str, bool, type(None), date)  # a datetime is a date
_SERIES = (list, tuple, set, frozenset, abc.Sequence, abc.Set)
_MAPPINGS = (dict, abc.Mapping)
_CONTAINERS = (*_SERIES, *_MAPPINGS)
# Classes of pydantic for a text or a date, which is what the program gets.
_PLAIN_OF_PYDANTIC = frozenset(
    ("EmailStr", "PastDate", "FutureDate", "PastDatetime", "FutureDatetime", "AwareDatetime", "NaiveDatetime")
)
_QUALIFIERS = frozenset(("Required", "NotRequired", "ReadOnly", "Final", "ClassVar"))
_MOST_TYPES = 1000
# Keywords with schemas of the value: those of draft 7, and of a provider's response format.
_FURTHER_SCHEMAS = frozenset({"additionalItems", "json_schema", "schema"})


class _Part(NamedTuple):
    """A part of a type: where it is, what it is, and what is declared of it."""

    place: str
    hint: Any
    marks: tuple[Any, ...] = ()


def require_claims(hint: Any, name: str = "the answer") -> None:
    """Raise TypeError for the type or JSON Schema of an answer in which a number needs no claim; it says what to
    declare.

    ``{"heat": float}`` is rejected, ``{"heat": Claimed[Quantity]}`` is accepted. So are texts, which are checked,
    bool, None, dates, ``ClaimedText``, ``Unclaimed``, choices without a number, and lists, tuples, sets,
    dictionaries and models of those.
    """
    work, seen, classes = [_Part(name, hint)], 0, set[int]()
    while work:
        part, seen = work.pop(), seen + 1
        if seen > _MOST_TYPES:
            if isinstance(hint, Mapping):  # data of a JSON Schema are checked by their values anyway
                return
            raise TypeError(f"{name} has more than {_MOST_TYPES} parts: take a smaller type")
        if any(isinstance(mark, _Field | Declared) for mark in part.marks):
            continue
        if isinstance(part.hint, type):  # a class may contain itself
            if id(part.hint) in classes:
                continue
            classes.add(id(part.hint))
        if what := _bare(part.hint):
            raise TypeError(
                f"{part.place} is {what}: a model could make it up. Declare Claimed[Quantity], or, where it is the "
                'model\'s own, Unclaimed[int, "why"]'
            )
        if what := _open(part.hint):
            raise TypeError(
                f"{part.place} {what}: it may have a number that nothing checks. Declare str, bool, a date, "
                "Claimed[Quantity], ClaimedText, or a list, a dictionary or a model of those; where it is the model's "
                f'own, Unclaimed[{getattr(part.hint, "__name__", "int")}, "why"]'
            )
        work += [inner for inner in _parts(part) if inner.hint is not part.hint]


def _bare(hint: Any) -> str | None:
    """Return why an answer of this type would contain a bare number: float → "a bare float".

    ``None`` if it would not.
    """
    if hint is Quantity:
        return "a Quantity without a claim"
    if isinstance(hint, Mapping):
        kinds = hint.get("type")
        if any(kind in ("number", "integer") for kind in (kinds if isinstance(kinds, list) else [kinds])):
            return "a bare number"
        values = [*(hint["enum"] if isinstance(hint.get("enum"), list) else ()), hint.get("const")]
        return "a choice of bare numbers" if any(type(value) in _NUMBERS for value in values) else None
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _bare_choice([member.value for member in hint])
    if isinstance(hint, type) and issubclass(hint, _NUMBERS) and not issubclass(hint, bool):
        return f"a bare {hint.__name__}"
    return _bare_choice(get_args(hint)) if get_origin(hint) is Literal else None


def _bare_choice(values: Sequence[Any]) -> str | None:
    """Return what is wrong with the values of a Literal or Enum.

    ``[1, 2]`` → "a choice of bare numbers"; ``None`` for none.
    """
    for value in values:
        value = value.value if isinstance(value, Enum) else value
        if value is None or isinstance(value, bool):  # a bool is an int to Python
            continue
        if isinstance(value, _NUMBERS):
            return "a choice of bare numbers"
        if not isinstance(value, str):
            return f"a choice of {type(value).__name__}"
        if (
            any(map(str.isnumeric, value))
            and not _is_name(value)
            and Session().verify(value).status != "success"
        ):
            return f"a choice that states a number ('{value[:80]}')"
    return None


def _is_name(choice: Any) -> bool:
    """Return whether a choice names a thing (``Scope 1``, ``gpt-4``) and states no measure (``5 kWh``)."""
    from gllint_runtime.policy.reader import Reader  # for the few with a digit

    if not isinstance(choice, str) or not choice[:1].isalpha():  # "5 kWh" and "-3" begin with no letter
        return False
    return not any(reading.units for reading in Reader().read(choice, prose=False))


def _open(hint: Any) -> str | None:
    """Return why values of this type would reach the program unchecked.

    ``object`` → "is of the type object"; else ``None``.
    """
    if hint is None or isinstance(hint, Mapping | list):
        return None
    origin = get_origin(hint)
    if origin in (Union, UnionType, Literal, Annotated) or getattr(origin, "_name", None) in _QUALIFIERS:
        return None
    if hasattr(hint, "__supertype__") or hasattr(hint, "__value__"):  # NewType, a type alias
        return None
    kind = hint if origin is None else origin
    name = getattr(kind, "__name__", None) or str(kind)
    if not isinstance(kind, type):
        return f"is {str(hint)[:80]}"
    if _is_record(kind):
        return "accepts fields that it does not declare" if _is_extensible(kind) else None
    if issubclass(kind, Enum) or issubclass(kind, _PLAIN) or _schema_of(kind) is not None:
        return None
    if kind.__module__.startswith("pydantic.") and name in _PLAIN_OF_PYDANTIC:
        return None
    if kind in _CONTAINERS:
        return None if get_args(hint) else f"is a bare {name}"
    return f"is of the type {name}"


def _is_record(kind: Any) -> bool:
    """Return whether a class has fields of its own: a model, a dataclass, a TypedDict, a NamedTuple."""
    return isinstance(kind, type) and (
        isinstance(getattr(kind, "model_fields", None), dict)
        or is_dataclass(kind)
        or _is_typed_dict(kind)
        or (issubclass(kind, tuple) and hasattr(kind, "_fields"))
    )


def _is_extensible(kind: Any) -> bool:
    """Return whether a model accepts fields that it does not declare: ``extra="allow"``, or PEP 728's extra items."""
    for name in ("model_config", "__pydantic_config__"):
        config = getattr(kind, name, None)
        if isinstance(config, Mapping) and config.get("extra") == "allow":
            return True
    extra = getattr(kind, "__extra_items__", None)  # PEP 728
    return extra is not None and str(extra).rpartition(".")[2].strip("<>'") not in ("NoExtraItems", "Never")


def _schema_of(kind: type) -> Any:
    """Return the JSON Schema of a dictionary class such as pydantic-ai's StructuredDict; None for any other."""
    if not issubclass(kind, dict) or not hasattr(kind, "__get_pydantic_json_schema__"):
        return None
    from pydantic import TypeAdapter

    return TypeAdapter(kind).json_schema()


def _record_hints(kind: Any, hint: Any = None) -> dict[str, Any]:
    """Return the types of a record's fields with their ``Annotated`` marks: ``class A: x: int`` → ``{"x": int}``.

    The type variables of ``Box[str]`` (``hint``) are replaced by its arguments.
    """
    fields = getattr(kind, "model_fields", None)
    if isinstance(fields, dict):
        if not getattr(kind, "__pydantic_complete__", True):
            kind.model_rebuild(raise_errors=False)
            fields = kind.model_fields
        return {
            name: Annotated[(info.annotation, *info.metadata)] if info.metadata else info.annotation
            for name, info in fields.items()
        }
    hints = typing.get_type_hints(kind, include_extras=True)
    if is_dataclass(kind):
        hints = {field.name: hints[field.name] for field in dataclass_fields(kind)}
    arguments = dict(zip(getattr(kind, "__parameters__", ()), get_args(hint), strict=False))
    for name, member in hints.items() if arguments else ():
        if parameters := getattr(member, "__parameters__", ()):
            hints[name] = member[tuple(arguments.get(one, one) for one in parameters)]
        elif member in arguments:
            hints[name] = arguments[member]
    return hints


def _parts(part: _Part) -> Iterator[_Part]:
    """Yield the parts of a type, one step down.

    ``list[int]`` → ``int``; a model → its fields, unless it is a checked message.
    """
    hint = part.hint
    if isinstance(hint, Mapping | list):
        yield from _schema_parts(part)
        return
    origin = get_origin(hint)
    kind = hint if origin is None else origin
    if origin is Annotated:
        inner, *marks = get_args(hint)
        yield _Part(part.place, inner, tuple(marks))
    elif (inner := getattr(hint, "__supertype__", None) or getattr(hint, "__value__", None)) is not None and (
        not isinstance(hint, type)
    ):
        yield _Part(part.place, inner)
    elif _is_record(kind):
        hints = _record_hints(kind, hint)
        if not _is_message(hints):
            for name, member in hints.items():
                yield _Part(f"{kind.__name__}.{name}", member)
    elif isinstance(kind, type) and (schema := _schema_of(kind)) is not None:
        yield _Part(part.place, schema)
    elif origin is not Literal:
        for argument in get_args(hint):
            if argument is not Ellipsis:
                yield _Part(part.place, argument)


def _schema_parts(part: _Part) -> Iterator[_Part]:
    """Yield the schemas in a JSON Schema, one step down, but for those of a checked message."""
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
    """Return whether it is a TypedDict, of ``typing`` or of ``typing_extensions``."""
    return isinstance(hint, type) and isinstance(getattr(hint, "__required_keys__", None), frozenset)


def _is_message(fields: Mapping[str, Any]) -> bool:
    return fields.keys() == {"message", "claims"}


# ------------------------------------------------------------------------------------------ what an answer has


def checked_structure(session: Session, answer: Any, hint: Any = None) -> Any:
    """Return a structured answer with each text checked; an object of ``message`` and ``claims`` has the checked
    message.

    ``hint`` is its type or JSON Schema, needed where the answer does not show it (a TypedDict is a dict). Raises
    GLError for a number without a claim, TypeError for a type that admits one or that nothing checks.
    """
    if hint is None or hint is Any:
        hint = type(answer)
        is_container = isinstance(answer, list | tuple | set | frozenset | Mapping)
        if session.mode == "claims" and (not is_container or _is_record(hint)):
            require_claims(hint, hint.__name__)
    try:
        return _Check(session, hint).value(answer, hint, "$")
    except RecursionError:
        raise GLValidationError("STEP_SCHEMA", "The answer is nested too deeply") from None


def structure_data(answer: Any, hint: Any = None) -> Any:
    """Return a checked structured answer as JSON data, each Quantity as ``{"value", "unit"}``."""
    if isinstance(answer, Mapping) and not _is_typed_dict(hint):
        return {**answer}  # by JSON Schema, so it is JSON data already
    from pydantic import TypeAdapter

    kind: Any = hint if _is_typed_dict(hint) else type(answer)
    return TypeAdapter(kind).dump_python(answer, mode="json", by_alias=True)


class _Check:
    """Walks an answer together with its type: what the type declares is noted, all else is checked."""

    def __init__(self, session: Session, hint: Any) -> None:
        self._session = session
        schema = hint if isinstance(hint, Mapping) else _schema_of(hint) if isinstance(hint, type) else None
        self._names = _names_of(schema) if isinstance(schema, Mapping) else frozenset()

    def value(self, value: Any, hint: Any, place: str) -> Any:
        """Return a checked value: a text with its macros replaced, a record or container with its members checked.

        Raises GLError for a number without a claim, TypeError for a type that nothing checks.
        """
        hint, marks = _unwrapped(hint, value)
        declared = next((mark for mark in marks if isinstance(mark, Declared)), None)
        if declared is not None and (hint is Any or _fits(hint, value)):
            self._session.declare_unclaimed(place, value, declared.reason)
            return value
        is_claimed = any(isinstance(mark, _Field) for mark in marks)
        is_sourced = self._session.mode == "sourced"
        if isinstance(value, Quantity) and not is_claimed and is_sourced:
            self._session.sourced_quantity(value.to_dict())
        if value is None or isinstance(value, bool | Quantity | _VerifiedText):
            return value
        if isinstance(value, date) and not is_sourced:  # in claims mode a date needs no claim
            return value
        if isinstance(value, Enum):
            if not _is_name(value.value):
                self.value(value.value, None, place)
        elif isinstance(value, str):
            # A choice of the program may have digits in its name: `Literal["Scope 1"]`.
            if get_origin(hint) is not Literal or value not in get_args(hint) or not _is_name(value):
                self._session.check(str(value))
        elif isinstance(value, _NUMBERS):
            if isinstance(value, float | Decimal) and not isfinite(value):
                raise GLValidationError("STEP_SCHEMA", f"A number must be finite, not {value}", path=place)
            self._session.judge_number(place, value)
        elif _is_record(type(value)):
            return self._record(value, place, hint)
        elif isinstance(value, Mapping):
            return self._mapping(value, place, hint)
        elif isinstance(value, list | tuple | set | frozenset):
            return self._series(value, place, hint)
        elif isinstance(value, date | time) and is_sourced:
            self._session.check(_moment_text(value))
        elif (data := _as_json(value) if is_sourced else None) is not None:
            self.value(data, None, place)
        else:
            raise TypeError(
                f"{place} is a {type(value).__name__}, which nothing checks: declare another type"
            )
        return value

    def _record(self, value: Any, place: str, hint: Any) -> Any:
        """Return a checked copy of a dataclass or model, field by field."""
        kind = type(value)
        is_model = isinstance(getattr(kind, "model_fields", None), dict)
        hints = _record_hints(kind, hint)
        # Fields that the class does not declare: a model with `extra="allow"` has them, and any other object may.
        further = getattr(value, "__pydantic_extra__" if is_model else "__dict__", None) or {}
        self._mapping({name: item for name, item in further.items() if name not in hints}, place, None)
        if is_model and _is_message(hints):
            claims = [
                claim if isinstance(claim, dict) else claim.model_dump() for claim in value.claims or ()
            ]
            return value.model_copy(update={"message": self._session.check(value.message, claims).message})
        new = {
            name: checked
            for name, member in hints.items()
            if (checked := self.value(item := getattr(value, name), member, f"{place}.{name}")) is not item
        }
        return value.model_copy(update=new) if is_model and new else value

    def _mapping(self, value: Mapping[Any, Any], place: str, hint: Any) -> Any:
        """Return a checked copy of a mapping; its keys are checked too, unless they are names of the schema."""
        if _is_message(value):
            return {**value, "message": self._session.check(value["message"], value["claims"]).message}
        kind = get_origin(hint) or hint
        hints = _record_hints(kind, hint) if _is_typed_dict(kind) else {}
        of_key, of_item = (get_args(hint) if kind in _MAPPINGS else ()) or (None, None)
        checked = {}
        for key, item in value.items():
            if key not in hints and key not in self._names:
                self.value(key, of_key, f"a key of {place}")
            checked[key] = self.value(item, hints.get(key, of_item), f"{place}.{key}")
        return checked

    def _series(self, value: Any, place: str, hint: Any) -> Any:
        """Return a checked copy of a list, tuple or set."""
        kind, arguments = get_origin(hint) or hint, get_args(hint) if get_origin(hint) in _SERIES else ()
        is_row = kind is tuple and arguments[1:] != (Ellipsis,)  # `tuple[str, int]`, not `tuple[str, ...]`
        of_item = arguments[0] if arguments and not is_row else None
        checked = [
            self.value(item, arguments[i] if is_row and i < len(arguments) else of_item, f"{place}[{i}]")
            for i, item in enumerate(value)
        ]
        return type(value)(checked)


def _moment_text(value: date | time) -> str:
    """Return a date or time as text. Midnight without a zone is a day: so pydantic reads ``"2031-05-01"``."""
    if isinstance(value, datetime) and value.tzinfo is None and value.time() == time():
        value = value.date()
    return value.isoformat()


def _as_json(value: Any) -> str | float | None:
    """Return the text or number that JSON has for an object, such as a URL; ``None`` if it has neither."""
    with suppress(ImportError, ValueError):
        from pydantic_core import to_jsonable_python

        data = to_jsonable_python(value)
        return data if isinstance(data, str | int | float) else None
    return None


def _unwrapped(hint: Any, value: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return the type that a value has within ``Annotated``, unions, aliases and NewTypes, and the marks on the way.

    ``Annotated[int | None, mark]`` for ``5`` → ``int``, ``(mark,)``.
    """
    marks: tuple[Any, ...] = ()
    for _ in range(_MOST_TYPES):
        origin = get_origin(hint)
        if origin is Annotated:
            hint, *more = get_args(hint)
            marks += tuple(more)
        elif origin in (Union, UnionType):
            arms = [arm for arm in get_args(hint) if _fits(_unwrapped(arm, value)[0], value)]
            if not arms:
                return None, marks
            hint = arms[0]
        elif getattr(origin, "_name", None) in _QUALIFIERS:
            (hint,) = get_args(hint)
        elif not isinstance(hint, type) and hasattr(hint, "__supertype__"):
            hint = hint.__supertype__
        elif not isinstance(hint, type) and origin is None and hasattr(hint, "__value__"):
            hint = hint.__value__
        else:
            break
    return hint, marks


def _fits(hint: Any, value: Any) -> bool:
    """Return whether a value is of the type ``hint``, one arm of a union."""
    if hint is Any or value is None:
        return hint is Any or hint in (None, type(None))
    kind = get_origin(hint) or hint
    if kind is Literal:
        return value in get_args(hint)
    if _is_typed_dict(kind):
        return (
            isinstance(value, Mapping)
            and kind.__required_keys__ <= value.keys() <= kind.__annotations__.keys()
        )
    if isinstance(value, bool) and kind is not bool:
        return False
    if kind in _NUMBERS:
        return isinstance(value, _NUMBERS)
    return isinstance(kind, type) and isinstance(value, kind)


def _names_of(schema: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of all properties in a JSON Schema: they are the program's words, and may have digits."""
    names: set[str] = set()
    work, seen = [_Part("", schema)], 0
    while work and seen < _MOST_TYPES:
        part, seen = work.pop(), seen + 1
        if isinstance(part.hint, Mapping) and isinstance(part.hint.get("properties"), Mapping):
            names.update(part.hint["properties"])
        work += _schema_parts(part)
    return frozenset(names)
