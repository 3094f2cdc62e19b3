"""What an instance is when it is made: a record of its arguments, an envelope around a payload, a Quantity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
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
    ListOf,
    ModelInstance,
    Number,
    QuantityInstance,
    Record,
    Site,
    UnionOf,
    Unnamed,
    Value,
    filled_elsewhere,
    join,
    number,
    options,
)
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Expr
from gllint_rules.words.framework_table import Place
from gllint_rules.words.names import QUANTITY

if TYPE_CHECKING:
    from gllint_rules.inference.protocol import Evaluator

_POST_INIT = frozenset({"__post_init__", "model_post_init"})


def construct(evaluator: Evaluator, of: ClassOf, expr: facts.Call, frame: Frame) -> Value:
    """Return the instance that a call of a class makes: ``Reading(kwh=1.5)`` → a record whose ``kwh`` is 1.5.

    A class without annotated fields makes an :class:`Instance`.
    """
    if of.cls.name == QUANTITY:
        return quantity(evaluator, expr, frame, of)
    payload = _payload_of(evaluator, of)
    if payload is not None:
        instance = envelope(evaluator, payload, expr, frame, of)
        # Without a payload the model sees nothing of the instance, nor of the fields of a derived class.
        is_derived = bool(payload) and evaluator.tools.payload(of.cls.name) is None
        return _with_own_fields(evaluator, instance, expr, frame, of) if is_derived else instance
    if evaluator.tools.is_tool_class(of):
        return Instance(of)
    base = classes.new_type(evaluator, of)
    if isinstance(base, Number):  # `class Kelvin(float)`
        return base
    names = classes.parameters_of(evaluator, of)
    if names is None:
        return _plain_instance(evaluator, of, expr, frame)
    entries, is_open = _spread_fields(evaluator, of, expr, frame)
    for name, arg in arguments.written(expr, names):
        if not classes.is_excluded(evaluator, of, name):
            value = in_field(evaluator, of, name, evaluator.eval(arg, frame))
            entries[name] = (Entry(value, frame.site(arg)),)
    # More arguments than fields, or `*spread`: which fields they set is not known.
    has_other_arguments = len(expr.args) > len(names) or len(expr.placed()) < len(expr.args)
    # Arguments that are no fields may be aliases of fields.
    if not is_open and not has_other_arguments and entries.keys() <= {*names}:
        unpassed = unpassed_fields(evaluator, of)
        entries, is_open = {**(unpassed or {}), **entries}, unpassed is None
    return ModelInstance(
        entries=entries,
        sure=frozenset(entries),
        open=is_open or has_other_arguments,
        site=frame.site(expr),
        of=of,
    )


def _spread_fields(
    evaluator: Evaluator, of: ClassOf, expr: facts.Call, frame: Frame
) -> tuple[dict[Key, tuple[Entry, ...]], bool]:
    """Return the fields that ``**`` arguments set, and whether they may set others: ``Row(**{"a": 1})`` → a, False."""
    entries: dict[Key, tuple[Entry, ...]] = {}
    is_open = False
    for argument in (value for name, value in expr.keywords if name is None):
        mapping = evaluator.eval(argument, frame)
        if isinstance(mapping, UnionOf):  # one of several dicts, which may have some keys and not others
            mapping = DictOf().spread(mapping, frame.site(argument))
        is_open = is_open or not isinstance(mapping, Record) or mapping.open
        for key, slot in mapping.entries.items() if isinstance(mapping, Record) else ():
            if not (isinstance(key, str) and classes.is_excluded(evaluator, of, key)):
                entries[key] = tuple(e.holding(in_field(evaluator, of, key, e.value)) for e in slot)
    return entries, is_open


def unpassed_fields(evaluator: Evaluator, of: ClassOf) -> Mapping[Key, tuple[Entry, ...]] | None:
    """Return the fields that an instance of a model has without an argument for them, each where the class sets it.

    They are defaults (``x: float = 1.5``), what ``__post_init__`` stores, and computed fields. ``None``: they are too
    many to follow, or one of them is such an instance itself.
    """

    def answer() -> Mapping[Key, tuple[Entry, ...]] | None:
        return dict(_unpassed_fields(evaluator, of))

    site = Site(of.module, of.cls.at)
    return evaluator.ask(("unpassed fields", of.cls), answer, meanwhile=None, instead=lambda: None, site=site)


def _unpassed_fields(evaluator: Evaluator, of: ClassOf) -> Iterator[tuple[str, tuple[Entry, ...]]]:
    """Yield the fields that :func:`unpassed_fields` returns."""
    homes = [ancestor for ancestor in classes.ancestors(evaluator, of) if isinstance(ancestor, ClassOf)]
    if any(home.cls.method("__init__") is not None for home in homes):
        return  # whose parameters have defaults of their own
    stored = _values_after_init(homes)
    for name in classes.parameters_of(evaluator, of) or ():
        default = stored.get(name) or _default(evaluator, of, name)
        if default is None or classes.is_excluded(evaluator, of, name):
            continue
        frame, expression = default
        entry = evaluator.entry(expression, frame)
        # Which container of this name the module fills is not known.
        is_filled = name in frame.module.mutated and isinstance(entry.value, (DictOf, ListOf))
        value = filled_elsewhere(entry.value) if is_filled else in_field(evaluator, of, name, entry.value)
        # A method may replace a default that is no number.
        if (
            name in stored
            or number(value) is not None
            or not any(home.cls.attributes.get(name) for home in homes)
        ):
            yield name, (entry.holding(value),)
    if "BaseModel" in classes.bases_named(evaluator, of):
        for home in reversed(homes):
            for method in home.cls.methods():
                if "computed_field" in {facts.last_name(decorator) for decorator in method.decorators}:
                    function = FunctionOf(home.module, method, of, True)
                    returns = evaluator.flow(function).returns
                    value = evaluator.member(of, method.name)
                    yield method.name, tuple(Entry(value, Site(home.module, expr.at)) for expr, _ in returns)


def arguments_only(evaluator: Evaluator, value: Record) -> Record:
    """Return ``value`` without the fields of models in it without an argument: after ``exclude_unset=True``."""
    unpassed = unpassed_fields(evaluator, value.of) if isinstance(value, ModelInstance) else None
    for name, slot in (unpassed or {}).items():
        if value.entries.get(name) is slot:
            value = value.without(name)
    return value.each_changed(
        lambda part: arguments_only(evaluator, part) if isinstance(part, Record) else part
    )


def _values_after_init(homes: Iterable[ClassOf]) -> dict[str, tuple[Frame, Expr]]:
    """Return what ``__post_init__`` stores in each field on every path."""
    stored: dict[str, tuple[Frame, Expr]] = {}
    for home in homes:
        for method in (method for name in _POST_INIT if (method := home.cls.method(name)) is not None):
            for statement in method.body:
                match statement:
                    case facts.Assign(
                        targets=(facts.Attr(base=facts.Name(id=owner), name=name),), value=value
                    ) if value is not None and method.params and owner == method.params[0].name:
                        stored[name] = Frame(home.module, method.scope, None, home), value
            return stored
    return stored


def _default(evaluator: Evaluator, of: ClassOf, name: str) -> tuple[Frame, Expr] | None:
    """Return the default of the field ``name`` and the frame to read it in; ``None`` if it has none."""
    default = classes.default_of(evaluator, of, name)
    if default is None:
        return None
    home, expression = default
    frame = Frame(home.module, home.cls.scope, None, home)
    may_describe = isinstance(expression, facts.Call) and expression is classes.class_value(home, name)
    # `x: float = described(…)` of an unknown function may describe the field.
    return None if may_describe and evaluator.eval(expression, frame) is UNKNOWN else (frame, expression)


def _plain_instance(evaluator: Evaluator, of: ClassOf, expr: facts.Call, frame: Frame) -> Instance:
    """Return an instance of a class without fields; with attributes where ``__init__`` only stores its arguments.

    ``def __init__(self, a): self.total = a`` → ``C(5).total`` is 5.
    """
    constructor = classes.argument_attributes(evaluator, of)
    if constructor is None:
        return Instance(of)
    method, attributes = constructor
    env = arguments.parameter_values(evaluator, FunctionOf(of.module, method, of, True), expr, frame)
    return Instance(of, attributes={name: env.get(param, UNKNOWN) for name, param in attributes.items()})


def in_field(evaluator: Evaluator, of: ClassOf, name: Key, value: Value) -> Value:
    """Return field ``name`` of a model after ``value`` was assigned: an unknown value in ``x: float`` is a number."""
    serialised = classes.serialised_fields(evaluator, of)
    if name in serialised:
        return serialised[str(name)]
    declared = evaluator.field(of, name)
    if declared is None:
        return value
    numeric = number(declared)
    if numeric is None:
        return hints.typed(evaluator, value, declared)
    # A value that is a number has its own reason to be one, which says more than the annotation.
    if number(value) is not None or value is NONE:
        return value
    return join(numeric, NONE) if NONE in options(value) else numeric


def is_model(evaluator: Evaluator, of: ClassOf) -> bool:
    """Return whether a class takes its fields as arguments (``M(a=1).a`` is 1): a dataclass, pydantic model …"""
    if _payload_of(evaluator, of) is not None or evaluator.tools.is_tool_class(of):
        return False
    return classes.parameters_of(evaluator, of) is not None


def is_encoding(evaluator: Evaluator, of: Value, method: str) -> bool:
    """Return whether calling ``method`` of ``of`` serialises its argument: ``json.JSONEncoder().encode(x)``."""
    names: Iterable[str] = ()
    if method not in builtin_names.ENCODER_METHODS:
        return False
    if isinstance(of, ExternalInstance):
        names = (of.name,)
    elif isinstance(of, (Instance, ModelInstance)) and of.of is not None:
        # A class of the project that derives from an encoder.
        names = (a.name for a in classes.ancestors(evaluator, of.of) if isinstance(a, External))
    return any(name.endswith(builtin_names.ENCODERS) for name in names)


def with_field(evaluator: Evaluator, value: Record, name: Key, *entries: Entry) -> Record:
    """Return ``value`` with one of ``entries`` as its field ``name``: after ``value.name = …``."""
    of = value.of
    if of is None:  # a plain dict
        return value.store(name, *entries)
    if isinstance(name, str) and classes.is_excluded(evaluator, of, name):
        return value
    return value.store(name, *(e.holding(in_field(evaluator, of, name, e.value)) for e in entries))


def copied(evaluator: Evaluator, value: Value, call: facts.Call, frame: Frame) -> Value:
    """Return the copy that ``value.model_copy(update={…})`` makes, with the fields of ``update`` changed."""
    argument = call.keyword("update")
    updates = options(evaluator.eval(argument, frame)) if argument is not None else (DictOf(),)
    return join(*(_changed(evaluator, value, update) for update in updates))


def replaced(evaluator: Evaluator, value: Value, call: facts.Call, frame: Frame) -> Value:
    """Return the copy that ``value._replace(x=…)`` or ``dataclasses.replace(value, x=…)`` makes."""
    return _changed(evaluator, value, containers.with_keywords(evaluator, DictOf(), call, frame))


def _changed(evaluator: Evaluator, value: Value, update: Value) -> Value:
    """Return ``value`` with the entries of the dict ``update`` as fields; without ``None``, which has no copy."""
    fields, sure = (update.entries, update.sure) if isinstance(update, Record) else ({}, frozenset[Key]())
    results: list[Value] = []
    for option in options(value):
        if isinstance(option, Instance) and fields and is_model(evaluator, option.of):
            option = ModelInstance(open=True, of=option.of)  # of which the other fields are unknown
        if isinstance(option, Record):
            for key, slot in fields.items():
                old = option.entries.get(key, ()) if key not in sure else ()  # `update` may lack the key
                option = with_field(evaluator, option, key, *old, *slot)
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
    """Return an envelope around a result, reduced to the arguments that go to the model, its ``payload``.

    ``ToolResult("5 kWh", meta=m)`` with the payload ``(0, "content")`` → an envelope whose ``content`` is ``"5 kWh"``.
    A class of the project (``of``) shows the names of its positional arguments; of others, a position in the payload
    is followed by its name.
    """
    fields = (classes.parameters_of(evaluator, of) or []) if of is not None else []
    placed = expr.placed()
    by_name: dict[Key, tuple[Entry, ...]] = {
        name: (evaluator.entry(arg, frame),) for name, arg in zip(fields, placed, strict=False)
    }
    by_name |= containers.with_keywords(evaluator, DictOf(), expr, frame).entries
    entries: dict[Key, tuple[Entry, ...]] = {}
    for i, place in enumerate(payload):
        if isinstance(place, int):  # a positional argument
            if of is None and place < len(placed):
                name = next((p for p in payload[i:] if isinstance(p, str)), None)
                entry = evaluator.entry(placed[place], frame)
                entries[name if name not in (None, "*") else Unnamed(entry.site)] = (entry,)
        elif place == "*":  # all positional arguments
            for arg in expr.args:
                entries[Unnamed(frame.site(arg))] = (evaluator.entry(arg, frame),)
        else:  # a keyword, perhaps with keys of the dict that it takes: `result.content`
            keyword, _, inside = place.partition(".")
            if keyword in by_name:
                slot = by_name[keyword]
                entries[keyword] = tuple(e.holding(_part(e.value, inside)) for e in slot) if inside else slot
    return Envelope(entries=entries, open=True, site=frame.site(expr), of=of)


def _part(value: Value, keys: str) -> Value:
    """Return ``value`` reduced to the entry at the dotted ``keys``: ``{"a": {"b": 1}, "c": 2}``, ``a.b`` → without c.

    What is no dict is unknown.
    """
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
    """Return the payload of the envelope that a class is or derives from; ``None`` if it is no envelope."""
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
    """Return the envelope ``record`` with the fields that its class adds: ``class Priced(ToolResult): price: float``.

    They go to the model like the payload.
    """
    names = classes.parameters_of(evaluator, of) or []
    own = {  # the fields that are declared below the envelope of the library
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
    """Return the Quantity that a call makes: ``Quantity(5, "kWh")``; ``of`` is the class if the project defines it."""
    entries: dict[Key, tuple[Entry, ...]] = {
        name: (evaluator.entry(arg, frame),) for name, arg in arguments.written(expr, ("value", "unit"))
    }
    return QuantityInstance(entries, frozenset(entries), expr.spreads(), frame.site(expr), of=of)
