"""The values of displays, comprehensions and subscripts, and of iteration."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace

from gllint_rules.inference import classes, stub_calls, stub_values, unit_objects
from gllint_rules.inference.narrowing import narrow
from gllint_rules.inference.values import (
    NONE,
    TEXT,
    UNKNOWN,
    ClassOf,
    DictOf,
    Entry,
    Envelope,
    External,
    ExternalInstance,
    Frame,
    Instance,
    Key,
    ListOf,
    Literal,
    ModelInstance,
    OtherKey,
    QuantityInstance,
    Record,
    SerialisedText,
    Site,
    Text,
    Unnamed,
    Value,
    as_keys,
    class_of,
    is_seen_empty,
    join,
    lacks_key,
    literal_of,
    number,
    options,
)
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Expr

if TYPE_CHECKING:
    from gllint_rules.inference.protocol import Evaluator


_R = TypeVar("_R", bound=Record)


def dict_literal(evaluator: Evaluator, expr: facts.Dict, frame: Frame) -> Value:
    """Return a dict display, each value with its place."""
    site = frame.site(expr)
    entries: dict[Key, tuple[Entry, ...]] = {}
    sure: set[Key] = set()
    open, listed = False, True
    for key, value_expr in expr.items:
        value = evaluator.eval(value_expr, frame)
        put_in = frame.site(value_expr)
        if key is None:
            record = DictOf(entries, frozenset(sure), open, site, listed=listed).spread(value, put_in)
            entries, sure, open = dict(record.entries), set(record.sure), record.open
            listed = record.is_complete
            continue
        name = key_of(evaluator, key, frame)
        entry = Entry(value, put_in, frame.site(key))
        if name is not None:
            sure.add(name)
        else:
            name, open = Unnamed(put_in), True
        entries[name] = (entry,)
    return DictOf(entries, frozenset(sure), open, site, listed=listed)


def key_of(evaluator: Evaluator, expr: Expr, frame: Frame) -> Key | None:
    """Return the key that an expression surely is, a literal or a name for one; None if it is unknown."""
    if isinstance(expr, facts.Const):
        return expr.value if isinstance(expr.value, str) else OtherKey(repr(expr.value))
    value = evaluator.eval(expr, frame)
    return value.literal if isinstance(value, Text) else None


def sequence_literal(evaluator: Evaluator, expr: facts.Seq, frame: Frame) -> Value:
    """Return a list, tuple or set display, each element with its place."""
    items: list[Entry] = []
    rests: list[Value] = []
    for item in expr.items:
        if isinstance(item, facts.Star):
            value = evaluator.eval(item.value, frame)
            for option in options(value):
                if isinstance(option, ListOf):
                    items.extend(option.items)
                    if option.rest is not None and not option.is_empty:
                        rests.append(option.rest)
                else:
                    rests.append(UNKNOWN)
        else:
            items.append(evaluator.entry(item, frame))
    rest = join(*rests) if rests else None
    return ListOf(
        tuple(items), rest, expr.kind, frame.site(expr), matrix=rest is None and _is_matrix(expr, items)
    )


def _is_matrix(expr: facts.Seq, items: list[Entry]) -> bool:
    """Return whether a display is a list of lists of numbers and nothing else."""
    if not items or not all(isinstance(item, facts.Seq) for item in expr.items):
        return False
    rows = [entry.value for entry in items]
    return all(
        isinstance(row, ListOf)
        and row.rest is None
        and (row.matrix or all(_is_number_or_none(entry.value) for entry in row.items))
        for row in rows
    )


def _is_number_or_none(value: Value) -> bool:
    return value is NONE or number(value) is not None


def comprehension(evaluator: Evaluator, expr: facts.Comp, frame: Frame) -> Value:
    """Return the container that a comprehension makes, with any number of its element."""
    inner = comprehension_frame(evaluator, expr, frame)
    site = frame.site(expr)
    if isinstance(expr.element, facts.Star):
        return _unpacking(evaluator.eval(expr.element.value, inner), expr.kind, site)
    filtered = _filtered_record(evaluator, expr, inner)
    if filtered is not None:
        return filtered
    element = evaluator.eval(expr.element, inner)
    if expr.kind == "dict":
        keys = as_keys(evaluator.eval(expr.key, inner)) if expr.key is not None else None
        return DictOf(open=True, rest=element, site=site, keys=keys)
    return ListOf(rest=element, kind=expr.kind, site=site)


_TEXT_TESTS: Mapping[str, Callable[[str, Any], bool]] = {
    "Equal": operator.eq,
    "NotEqual": operator.ne,
    "In": lambda text, texts: text in texts,
    "NotIn": lambda text, texts: text not in texts,
    "startswith": str.startswith,
    "endswith": str.endswith,
}


def _filtered_record(evaluator: Evaluator, expr: facts.Comp, inner: Frame) -> Value | None:
    """Return the dict of ``{k: v for k, v in record.items() if …}``; None for any other comprehension."""
    match expr:
        case facts.Comp(key=facts.Name(id=key), element=facts.Name(id=value), scope=scope):
            pairs = [scope.bindings.get(name, []) for name in (key, value)]
        case _:
            return None
    match pairs:
        case [[facts.Binding(index=(0,), value=source)], [facts.Binding(index=(1,), value=other)]] if (
            source is other
        ):
            pass
        case _:
            return None
    match source:
        case facts.Call(func=facts.Attr(base=base, name="items"), args=()):
            records = options(evaluator.eval(base, inner))
        case _:
            return None
    if not all(isinstance(record, DictOf) and record.entries for record in records):
        return None
    return join(*(_filtered(evaluator, r, key, expr.tests, inner) for r in records if isinstance(r, DictOf)))


def _filtered(
    evaluator: Evaluator, record: DictOf, key: str, tests: tuple[Expr, ...], inner: Frame
) -> DictOf:
    """Return what a dict has without the keys that ``tests`` of the variable ``key`` leave out."""
    if not tests:
        return record
    site = Site(inner.module, tests[0].at)

    def holds(name: Key) -> bool:
        if not isinstance(name, str):
            return True
        frame = replace(inner, env={**(inner.env or {}), key: Text((Literal(name, site),))})
        return all(_truth(evaluator, test, frame) is not False for test in tests)

    entries = {name: several for name, several in record.entries.items() if holds(name)}
    return replace(record, entries=entries, sure=frozenset())


def _truth(evaluator: Evaluator, test: Expr, frame: Frame) -> bool | None:
    """Return whether a test of texts is true; ``None`` unless all of them are literal."""
    match test:
        case facts.UnaryOp(op="not", operand=operand):
            truth = _truth(evaluator, operand, frame)
            return None if truth is None else not truth
        case facts.BoolOp(op=op, left=left, right=right):
            truths = {_truth(evaluator, side, frame) for side in (left, right)}
            decisive = op == "or"  # one side that is so decides
            return decisive if decisive in truths else None if None in truths else not decisive
        case facts.Compare(operands=(left, right), ops=(name,)) if name in _TEXT_TESTS:
            pass
        case facts.Call(func=facts.Attr(base=left, name=name), args=(right,)) if name in _TEXT_TESTS:
            pass
        case _:
            return None
    text, other = _literals(evaluator.eval(left, frame)), _literals(evaluator.eval(right, frame))
    return _TEXT_TESTS[name](text, other) if isinstance(text, str) and other is not None else None


def _literals(value: Value) -> str | tuple[str, ...] | None:
    """Return the text that a value is, or the texts in a container; ``None`` unless all of them are literal."""
    match value:
        case ListOf(rest=None, items=items):
            texts = [literal_of(entry.value) for entry in items]
            return None if None in texts else tuple(text for text in texts if text is not None)
        case _:
            return literal_of(value)


def _unpacking(value: Value, kind: str, site: Site) -> Value:
    """Return the value of ``[*value for …]`` or ``{**value for …}``: elements of any number of values, no sure key."""
    if kind == "dict":
        return replace(DictOf(open=True, site=site).spread(value, site), sure=frozenset())
    return ListOf(rest=element(value), kind=kind, site=site)


def comprehension_frame(evaluator: Evaluator, expr: facts.Comp, frame: Frame) -> Frame:
    """Return the frame inside a comprehension, with its variables."""
    if frame.env is None:
        return replace(frame, scope=expr.scope)
    env = dict(frame.env)
    inner = replace(frame, scope=expr.scope, env=env)
    for name in expr.scope.bindings:
        env.pop(name, None)
    for name, bindings in expr.scope.bindings.items():
        values: list[Value] = []
        for binding in bindings:
            if binding.value is None:  # a starred target
                values.append(UNKNOWN)
                continue
            source = evaluator.eval(binding.value, inner)
            values.append(unpacked(evaluator, element(source), binding.index))
        env[name] = join(*values)
    for test in expr.tests:
        narrowed = narrow(evaluator, test, inner)
        if narrowed is not None:
            inner = replace(inner, env={**(inner.env or {}), **narrowed[0]})
    return inner


def with_keywords(evaluator: Evaluator, record: _R, call: facts.Call, frame: Frame) -> _R:
    """Return ``record`` after storing the keywords of ``call`` in it, including spread dicts."""
    for name, expr in call.keywords:
        entry = evaluator.entry(expr, frame)
        record = record.spread(entry.value, entry.site) if name is None else record.store(name, entry)
    return record


def updated(evaluator: Evaluator, record: _R, call: facts.Call, frame: Frame) -> _R:
    """Return ``record`` after ``record.update(…)``."""
    for arg in call.args:
        record = record.spread(of_pairs(evaluator, evaluator.eval(arg, frame)), frame.site(arg))
    return with_keywords(evaluator, record, call, frame)


def of_pairs(evaluator: Evaluator, value: Value) -> Value:
    """Return the dict made of a list of pairs; other values stay as they are."""
    if not isinstance(value, ListOf):
        return value
    record = DictOf(open=value.rest is not None, site=value.site)
    for entry in value.items:
        pair = entry.value
        key = pair.items[0].value if isinstance(pair, ListOf) and len(pair.items) == 2 else None
        if isinstance(pair, ListOf) and isinstance(key, Text) and key.literal is not None:
            record = record.store(key.literal, pair.items[1])
        else:
            record = replace(record, open=True)
    return replace(record, rest=unpacked(evaluator, value.rest, (1,))) if value.rest is not None else record


def element(value: Value) -> Value:
    """Return the element of an iteration over ``value``."""
    elements: list[Value] = []
    for option in _not_empty(value):
        match option:
            case ListOf():
                elements.append(option.element())
            case DictOf():
                elements.append(option.any_key())
            case Text(is_bytes=False):
                elements.append(TEXT)
            case _:
                elements.append(stub_calls.element(option))
    return join(*elements) if elements else UNKNOWN


def _not_empty(value: Value) -> Sequence[Value]:
    """Return the alternatives that may have elements, without None and empty containers; all if there is no other."""
    choices = options(value)
    return tuple(o for o in choices if not (o is NONE or is_seen_empty(o))) or choices


def unpacked(evaluator: Evaluator, value: Value, index: tuple[int, ...]) -> Value:
    """Return the ``index``-th of an unpacked value, level by level."""
    for i in index:
        value = join(*(_item(evaluator, option, i) for option in _not_empty(value)))
    return value


def _item(evaluator: Evaluator, value: Value, index: int) -> Value:
    """Return the value at a literal index of a list, tuple, named tuple or text."""
    if isinstance(value, ListOf):
        length = len(value.items)
        # The rest comes after the items, so that an index from the end leads to an item only if there is no rest.
        if 0 <= index < length or (value.rest is None and -length <= index < 0):
            return value.items[index].value
        return value.rest if not value.items and value.rest is not None else value.element()
    of = class_of(value)
    if of is not None and "NamedTuple" in classes.bases_named(evaluator, of):
        return _field_at(evaluator, value, of, index)
    if isinstance(value, Text):
        return stub_calls.element(value) if value.is_bytes else TEXT
    return UNKNOWN


def _field_at(evaluator: Evaluator, value: Value, of: ClassOf, index: int) -> Value:
    """Return the ``index``-th field of a named tuple."""
    names = classes.parameters_of(evaluator, of) or []
    if not -len(names) <= index < len(names):
        return UNKNOWN
    field = value.get(names[index]) if isinstance(value, Record) else None
    return field if field is not None else evaluator.member(of, names[index])


def subscript(evaluator: Evaluator, expr: facts.Sub, frame: Frame) -> Value:
    """Return the value of ``base[index]``."""
    choices = _not_empty(evaluator.eval(expr.base, frame))
    if len(choices) > 1:  # what has no such key would raise: it is one of the others
        key = key_of(evaluator, expr.index, frame)
        choices = tuple(o for o in choices if key is None or not _raises_for(o, key)) or choices
    return join(*(_subscripted(evaluator, option, expr, frame) for option in choices))


def _raises_for(value: Value, key: Key) -> bool:
    """Return whether ``value[key]`` raises: it has no such key, or no keys that are texts."""
    return lacks_key(value, key) or (isinstance(key, str) and isinstance(value, (ListOf, Text)))


def _position(index: Expr) -> int | None:
    """Return a literal index, else None."""
    return index.value if isinstance(index, facts.Const) and type(index.value) is int else None


def _subscripted(evaluator: Evaluator, base: Value, expr: facts.Sub, frame: Frame) -> Value:
    """Return the value of a subscript, by the kind of its base."""
    match base:
        case ClassOf() if classes.is_enum(evaluator, base):  # `Level["LOW"]`
            return classes.new_type(evaluator, base) or Instance(base)
        case ClassOf():  # `Result[Page](…)`
            return base
        case Instance() | Record(of=ClassOf()) if _position(expr.index) is not None:
            return _item(evaluator, base, _position(expr.index) or 0)
        case ExternalInstance() | QuantityInstance(of=None) if unit_objects.is_unit_object(base):
            return unit_objects.made_at(frame.site(expr))  # `ureg["kWh"]`, an element of an array
        case Record():
            name = key_of(evaluator, expr.index, frame)
            if isinstance(base, (ModelInstance, Envelope)) and base.of is not None and name is not None:
                member = base.get(name) if name in base.entries else evaluator.field(base.of, name)
                return member if member is not None else UNKNOWN
            return base.under(name) or UNKNOWN
        case ListOf():
            if isinstance(expr.index, facts.Slice):
                return base
            if isinstance(expr.index, facts.Const) and isinstance(expr.index.value, int):
                return _item(evaluator, base, expr.index.value)
            return base.element()
        case Instance(of=of) if classes.is_typed_dict(evaluator, of):
            name = key_of(evaluator, expr.index, frame)
            field = evaluator.field(of, name) if name is not None else None
            return field if field is not None else UNKNOWN
        case SerialisedText() if isinstance(expr.index, facts.Slice):
            return base  # `text[:1000]` has nearly all numbers of the text
        case Text(is_bytes=False):
            # As above; of a literal text there is nothing to report, so an unknown text is enough.
            is_part = isinstance(expr.index, facts.Slice) and base.is_put_together
            return base if is_part else TEXT
        case Text():
            return base if isinstance(expr.index, facts.Slice) else stub_calls.element(base)
        case External(name=name):
            constant = stub_values.constant(name, frame.site(expr))
            if constant is None or isinstance(constant, External):
                return UNKNOWN
            return join(*(_subscripted(evaluator, option, expr, frame) for option in options(constant)))
        case ExternalInstance() if not isinstance(expr.index, facts.Slice):
            index = evaluator.eval(expr.index, frame)
            return stub_calls.item(base, index, frame.site(expr))
        case _:
            return UNKNOWN
