"""What an instance is when it is made: a record of its arguments, an envelope around a payload, a Quantity."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gllint_rules.inference import annotations as hints
from gllint_rules.inference import arguments, builtin_names, classes, containers
from gllint_rules.inference.values import (
    NONE,
    UNKNOWN,
    ClassOf,
    DictOf,
    Entry,
    Envelope,
    External,
    ExternalInstance,
    Frame,
    FunctionOf,
    Instance,
    Key,
    ModelInstance,
    Number,
    QuantityInstance,
    Record,
    UnionOf,
    Unnamed,
    Value,
    join,
    number,
    options,
)
from gllint_rules.reading import facts
from gllint_rules.words.framework_table import Place
from gllint_rules.words.names import QUANTITY

if TYPE_CHECKING:
    from gllint_rules.inference.protocol import Evaluator


def construct(evaluator: Evaluator, of: ClassOf, expr: facts.Call, frame: Frame) -> Value:
    """Return an instance made by ``expr``; of a class with annotated fields, a record of the arguments."""
    if of.cls.name == QUANTITY:
        return quantity(evaluator, expr, frame, of)
    payload = _payload_of(evaluator, of)
    if payload is not None:
        instance = envelope(evaluator, payload, expr, frame, of)
        is_derived = payload and evaluator.tools.payload(of.cls.name) is None
        return _with_own_fields(evaluator, instance, expr, frame, of) if is_derived else instance
    if evaluator.tools.is_tool_class(of):
        return Instance(of)
    plain = classes.new_type(evaluator, of)
    if isinstance(plain, Number):
        return plain
    names = classes.parameters_of(evaluator, of)
    if names is None:
        return _record_of_arguments(evaluator, of, expr, frame)
    entries: dict[Key, tuple[Entry, ...]] = {}
    spread = False
    for written in (value for name, value in expr.keywords if name is None):
        mapping = evaluator.eval(written, frame)
        if isinstance(mapping, UnionOf):  # one of several dicts, which may have some keys and not others
            mapping = DictOf().spread(mapping, frame.site(written))
        spread = spread or not isinstance(mapping, Record) or mapping.open
        for key, slot in mapping.entries.items() if isinstance(mapping, Record) else ():
            if not (isinstance(key, str) and classes.is_left_out(evaluator, of, key)):
                entries[key] = tuple(e.holding(in_field(evaluator, of, key, e.value)) for e in slot)
    for name, arg in arguments.written(expr, names):
        if not classes.is_left_out(evaluator, of, name):
            value = in_field(evaluator, of, name, evaluator.eval(arg, frame))
            entries[name] = (Entry(value, frame.site(arg)),)
    if {*names} == {"value", "unit"} and "unit" not in entries and not spread:
        default = classes.default_of(evaluator, of, "unit")
        if default is not None:
            home, expression = default
            entries["unit"] = (evaluator.entry(expression, Frame(home.module, home.cls.scope, None, home)),)
    return ModelInstance(
        entries=entries,
        sure=frozenset(entries),
        open=spread or len(expr.args) > len(names) or len(expr.placed()) < len(expr.args),
        site=frame.site(expr),
        of=of,
    )


def _record_of_arguments(evaluator: Evaluator, of: ClassOf, expr: facts.Call, frame: Frame) -> Instance:
    """Return an instance of a plain class, with what it was given where it does nothing but keep that."""
    constructor = classes.argument_attributes(evaluator, of)
    if constructor is None:
        return Instance(of)
    method, attributes = constructor
    env = arguments.parameter_values(evaluator, FunctionOf(of.module, method, of, True), expr, frame)
    return Instance(of, attributes={name: env.get(param, UNKNOWN) for name, param in attributes.items()})


def in_field(evaluator: Evaluator, of: ClassOf, name: Key, value: Value) -> Value:
    """Return field ``name`` of a model after ``value`` was assigned: a number if it is annotated as one."""
    serialised = classes.serialised_fields(evaluator, of)
    if name in serialised:
        return serialised[str(name)]
    declared = evaluator.field(of, name)
    if declared is None:
        return value
    numeric = number(declared)
    if numeric is None:
        return hints.typed(evaluator, value, declared)
    if isinstance(value, Number) or value is NONE:
        return value
    if number(value) is not None or NONE not in options(value):
        return value if number(value) is not None else numeric
    return join(numeric, NONE)


def is_model(evaluator: Evaluator, of: ClassOf) -> bool:
    """Return whether the fields of a class are its instances' arguments."""
    if _payload_of(evaluator, of) is not None or evaluator.tools.is_tool_class(of):
        return False
    return classes.parameters_of(evaluator, of) is not None


def is_encoding(evaluator: Evaluator, of: Value, method: str) -> bool:
    """Return whether ``method`` is one of an encoder, and an object is: a library's, or of a class that derives from
    one.
    """
    names: Iterable[str] = ()
    if method not in builtin_names.ENCODER_METHODS:
        return False
    if isinstance(of, ExternalInstance):
        names = (of.name,)
    elif isinstance(of, (Instance, ModelInstance)) and of.of is not None:
        names = (a.name for a in classes.ancestors(evaluator, of.of) if isinstance(a, External))
    return any(name.endswith(builtin_names.ENCODERS) for name in names)


def with_field(evaluator: Evaluator, value: Record, name: Key, entry: Entry) -> Record:
    """Return an object where ``entry`` was put into field ``name``."""
    if value.of is None:
        return value.store(name, entry)
    if isinstance(name, str) and classes.is_left_out(evaluator, value.of, name):
        return value
    return value.store(name, entry.holding(in_field(evaluator, value.of, name, entry.value)))


def copied(evaluator: Evaluator, value: Value, call: facts.Call, frame: Frame) -> Value:
    """``value.model_copy(update={…})``: a model with other fields."""
    argument = call.keyword("update")
    updates = options(evaluator.eval(argument, frame)) if argument is not None else (DictOf(),)
    return join(*(_changed(evaluator, value, update) for update in updates))


def replaced(evaluator: Evaluator, value: Value, call: facts.Call, frame: Frame) -> Value:
    """``value._replace(x=…)`` and ``dataclasses.replace(value, x=…)``: an object with other fields."""
    return _changed(evaluator, value, containers.with_keywords(evaluator, DictOf(), call, frame))


def _changed(evaluator: Evaluator, value: Value, update: Value) -> Value:
    """Return ``value`` with the entries of ``update`` in its fields."""
    fields = update.entries if isinstance(update, Record) else {}
    results: list[Value] = []
    for option in options(value):
        if isinstance(option, Instance) and fields and is_model(evaluator, option.of):
            option = ModelInstance(open=True, of=option.of)
        if isinstance(option, Record):
            for key, entry in ((key, entry) for key, slot in fields.items() for entry in slot):
                option = with_field(evaluator, option, key, entry)
        if option is not NONE:
            results.append(option if isinstance(option, (Record, Instance)) else UNKNOWN)
    return join(*results)


def envelope(
    evaluator: Evaluator,
    payload: tuple[Place, ...],
    expr: facts.Call,
    frame: Frame,
    of: ClassOf | None = None,
) -> Envelope:
    """Return an envelope around a result (``ToolResult(…)``), reduced to its ``payload``, which goes to the model.

    For a class of the project (``of``) a position is that of a field.
    """
    fields = (classes.parameters_of(evaluator, of) or []) if of is not None else []
    placed = expr.placed()
    named: dict[Key, tuple[Entry, ...]] = {
        name: (evaluator.entry(arg, frame),) for name, arg in zip(fields, placed, strict=False)
    }
    named |= containers.with_keywords(evaluator, DictOf(), expr, frame).entries
    entries: dict[Key, tuple[Entry, ...]] = {}
    for i, place in enumerate(payload):
        if isinstance(place, int):
            if of is None and place < len(placed):
                name = next((p for p in payload[i:] if isinstance(p, str)), None)
                entry = evaluator.entry(placed[place], frame)
                entries[name if name not in (None, "*") else Unnamed(entry.site)] = (entry,)
        elif place == "*":
            for arg in expr.args:
                entries[Unnamed(frame.site(arg))] = (evaluator.entry(arg, frame),)
        else:
            keyword, _, inside = place.partition(".")
            if keyword in named:
                slot = named[keyword]
                entries[keyword] = tuple(e.holding(_part(e.value, inside)) for e in slot) if inside else slot
    return Envelope(entries=entries, open=True, site=frame.site(expr), of=of)


def _part(value: Value, keys: str) -> Value:
    """Return each dict that ``value`` may be, reduced to the entry under the dotted ``keys``."""
    key, _, rest = keys.partition(".")
    results: list[Value] = []
    for option in options(value):
        if isinstance(option, Record):
            slot = tuple(
                entry.holding(_part(entry.value, rest)) if rest else entry
                for entry in option.entries.get(key, ())
            )
            results.append(option.part(key, slot))
        else:
            results.append(UNKNOWN)
    return join(*results)


def _payload_of(evaluator: Evaluator, of: ClassOf) -> tuple[Place, ...] | None:
    """Return the payload of the envelope that a class is or derives from."""
    for ancestor in classes.ancestors(evaluator, of):
        payload = evaluator.tools.payload(
            ancestor.cls.name if isinstance(ancestor, ClassOf) else ancestor.name
        )
        if payload is not None:
            return payload
    return None


def _with_own_fields(
    evaluator: Evaluator, record: Envelope, expr: facts.Call, frame: Frame, of: ClassOf
) -> Envelope:
    """Return an instance of a class that adds fields to an envelope: they go to the model as its payload does.

    Of an envelope that the model sees nothing of, it sees nothing of those that derive from it.
    """
    names = classes.parameters_of(evaluator, of) or []
    own = {
        name
        for ancestor in classes.ancestors(evaluator, of)
        if isinstance(ancestor, ClassOf) and evaluator.tools.payload(ancestor.cls.name) is None
        for name, _ in ancestor.cls.statements()
    }
    entries = dict(record.entries)
    for name, arg in arguments.written(expr, names):
        if name in own:
            value = in_field(evaluator, of, name, evaluator.eval(arg, frame))
            entries[name] = (Entry(value, frame.site(arg)),)
    return replace(record, entries=entries)


def quantity(evaluator: Evaluator, expr: facts.Call, frame: Frame, of: ClassOf | None) -> QuantityInstance:
    """Return a call of a class named ``Quantity``, of the project (``of``) or not."""
    entries: dict[Key, tuple[Entry, ...]] = {
        name: (evaluator.entry(arg, frame),) for name, arg in arguments.written(expr, ("value", "unit"))
    }
    return QuantityInstance(entries, frozenset(entries), expr.spreads(), frame.site(expr), of=of)
