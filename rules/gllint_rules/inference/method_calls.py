"""What methods of values of a known kind give, and calls of which only the name is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from gllint_rules.inference import (
    builtin_names,
    containers,
    file_texts,
    formatting,
    objects,
    operators,
    stub_calls,
    stub_values,
)
from gllint_rules.inference.builtin_calls import cut, map_call, serialised_argument, thread_call, tuples
from gllint_rules.inference.values import (
    NONE,
    TEXT,
    UNKNOWN,
    Boolean,
    ClassOf,
    DictOf,
    Envelope,
    ExternalInstance,
    Instance,
    ListOf,
    Literal,
    Method,
    ModelInstance,
    Number,
    QuantityInstance,
    Record,
    SerialisedText,
    Text,
    Value,
    as_constant,
    holds_constants,
    is_seen_empty,
    join,
    literal_of,
    moved,
    number,
    options,
    serialised,
)
from gllint_rules.reading import facts
from gllint_rules.words.names import QUANTITY

if TYPE_CHECKING:
    from gllint_rules.inference.protocol import Evaluator
    from gllint_rules.inference.values import Frame


def call_method(evaluator: Evaluator, method: Method, call: facts.Call, frame: Frame) -> Value:
    """Return the result of a method of a value of a known kind."""
    match method.of:
        case Instance() | ModelInstance() | Envelope() if method.name in builtin_names.TEXT_DUMPS:
            return serialised(_fields_asked_for(evaluator, method.of, call, frame), method.site)
        case value if objects.is_encoding(evaluator, value, method.name):
            text = serialised_argument(evaluator, call, frame)
            return ListOf(rest=text, kind="generator") if method.name == builtin_names.ITERENCODE else text
        case Record():
            return _record_method(evaluator, method.of, method.name, call, frame)
        case Instance(of=of) if call.args:  # of a TypedDict
            key = containers.key_of(evaluator, call.args[0], frame)
            field = evaluator.field(of, key) if key is not None else None
            default = evaluator.eval(call.args[1], frame) if len(call.args) > 1 else NONE
            return join(field, default) if field is not None else UNKNOWN
        case Text():
            return _text_method(evaluator, method.of, method.name, call, frame)
        case file_texts.TemplateInstance(text=text) if method.name in file_texts.RENDERERS:
            return text
        case ListOf() if method.name == "copy":
            return method.of
        case ListOf(kind=builtin_names.TEXT_STREAM) if method.name == "getvalue":
            return formatting.joined(evaluator, (), method.of, frame.site(call))
        case ListOf(kind=builtin_names.TEXT_STREAM):
            stream = ExternalInstance(builtin_names.TEXT_STREAM)
            return _method_by_name(evaluator, stream, method.name, call, frame)
        case Number() if method.name in builtin_names.NUMBER_METHODS:
            return method.of
        case ExternalInstance(name=builtin_names.TEMPLATE, arguments=(Text() as text,)) if (
            method.name in builtin_names.TEMPLATE_METHODS
        ):
            return formatting.substituted(evaluator, text, call, frame)
        case ExternalInstance(name=name) if (
            name in builtin_names.ARRAY_CALLS and method.name in builtin_names.REDUCTIONS
        ):
            if not call.args and call.keyword("axis", "keepdims") is None:
                return evaluator.number(f"`.{method.name}()` of an array is a number", frame, call.at)
            return UNKNOWN
        case _:
            return _method_by_name(evaluator, method.of, method.name, call, frame)


def _method_by_name(evaluator: Evaluator, of: Value, name: str, call: facts.Call, frame: Frame) -> Value:
    """Return what the name of a method alone shows, or else what the stubs declare."""
    result = call_unknown(evaluator, call, frame)
    if name == "map" and isinstance(of, ExternalInstance) and of.name in builtin_names.EXECUTORS:
        return map_call(evaluator, call, frame)
    if result is UNKNOWN:
        result = stub_calls.method(evaluator, of, name, call, frame) or UNKNOWN
    return result


def call_unknown(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    """Return the result of a call of something unknown, by its name alone."""
    last = facts.last_name(call.func)
    if last == QUANTITY:
        return objects.quantity(evaluator, call, frame, None)
    if isinstance(call.func, facts.Attr):
        if last == "model_dump_json":
            return serialised(evaluator.eval(call.func.base, frame), frame.site(call.func.base))
        if last == "timestamp" and not call.args:
            return evaluator.number("`.timestamp()` is a number", frame, call.at, real=True)
        default = looked_up(evaluator, call, frame)
        if default is not None:
            return default
        if last == "run_in_executor" and len(call.args) >= 2:
            return thread_call(1)(evaluator, call, frame)
        if last == "submit" and call.args:
            result = thread_call(0)(evaluator, call, frame)
            return ExternalInstance(builtin_names.FUTURE, (result,)) if result is not UNKNOWN else UNKNOWN
        if last == "_replace":
            return objects.replaced(evaluator, evaluator.eval(call.func.base, frame), call, frame)
        if last == "model_copy":
            return objects.copied(evaluator, evaluator.eval(call.func.base, frame), call, frame)
        if last in builtin_names.MODEL_PARSERS or last == "model_construct":
            models = options(evaluator.eval(call.func.base, frame))
            return join(*(_parsed(evaluator, last, model, call, frame) for model in models))
    payload = evaluator.tools.payload(last)
    if payload is not None:
        return objects.envelope(evaluator, payload, call, frame)
    return UNKNOWN


def _parsed(evaluator: Evaluator, method: str, model: Value, call: facts.Call, frame: Frame) -> Value:
    """Return the instance that ``model_validate`` and its like make from data by a class of the project."""
    if not isinstance(model, ClassOf):
        return UNKNOWN
    if method == "model_construct":
        return objects.construct(evaluator, model, facts.Call(call.at, call.func, (), call.keywords), frame)
    data = evaluator.eval(call.args[0], frame) if len(call.args) == 1 else UNKNOWN
    if isinstance(data, Record) and data.entries:  # as `Model(**data)`
        spread = facts.Call(call.at, call.func, (), ((None, call.args[0]),))
        made = objects.construct(evaluator, model, spread, frame)
        # What reads another object's attributes is the result, not that object: a row goes into a database.
        return moved(made, frame.site(call)) if data.of is not None else made
    return Instance(model)


def looked_up(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value | None:
    """Return the result of ``d.get(k, 0)`` where ``d`` is unknown; ``None`` for another call, or if ``d`` is known."""
    if not isinstance(call.func, facts.Attr) or call.func.name not in ("get", "pop") or len(call.args) != 2:
        return None
    default = evaluator.eval(call.args[1], frame)
    if number(default) is None or not _is_key(evaluator, call.args[0], frame):
        return None
    if _is_address(evaluator.eval(call.args[0], frame)):
        return None
    if all(stub_values.is_described(option) for option in options(evaluator.eval(call.func.base, frame))):
        return None
    return operators.defaulted(evaluator, UNKNOWN, default, f"`.{call.func.name}()`", frame, call.at)


def _record_method(evaluator: Evaluator, record: Record, name: str, call: facts.Call, frame: Frame) -> Value:
    """Return the result of a method of a dict or of an instance whose fields are known."""
    if name in ("model_copy", "copy") and isinstance(record, (ModelInstance, Envelope)):
        return objects.copied(evaluator, record, call, frame)
    if name in builtin_names.RECORD_METHODS:
        return _fields_asked_for(evaluator, record.as_dict(), call, frame)
    if isinstance(record, QuantityInstance):
        return UNKNOWN
    match name:
        case "get" | "pop" | "setdefault" if call.args:
            key = containers.key_of(evaluator, call.args[0], frame)
            value = record.under(key)
            if value is not None and value is not UNKNOWN and key in record.sure:
                return value
            default = evaluator.eval(call.args[1], frame) if len(call.args) > 1 else NONE
            if (value is None and not record.open) or is_seen_empty(record):
                return default
            value = value if value is not None else UNKNOWN
            if holds_constants(value):
                default = as_constant(default)
            if name != "setdefault" and _is_key(evaluator, call.args[0], frame):
                return operators.defaulted(evaluator, value, default, f"`.{name}()`", frame, call.at)
            return join(value, default)
        case "values":
            entries = tuple(entry for _, entry in record.contents())
            rest = record.rest if record.is_complete else UNKNOWN
            return ListOf(entries, rest, "values")
        case "keys":
            return ListOf(rest=record.any_key(), kind="keys")
        case "items" if is_seen_empty(record):
            return ListOf(kind="items")
        case "items":
            return tuples(frame.site(call), record.any_key(), record.any_value(), kind="items")
        case _:
            return _method_by_name(evaluator, record, name, call, frame)


def _fields_asked_for(evaluator: Evaluator, value: Value, call: facts.Call, frame: Frame) -> Value:
    """Return what pydantic dumps of an object with ``include`` or ``exclude``."""
    if not isinstance(value, Record):
        return value
    for keyword in ("include", "exclude"):
        argument = call.keyword(keyword)
        if argument is None:
            continue
        chosen = evaluator.eval(argument, frame)
        if chosen is NONE:
            continue
        if isinstance(chosen, ListOf) and chosen.rest is None:
            names = [literal_of(entry.value) for entry in chosen.items]
        elif isinstance(chosen, DictOf) and chosen.is_complete and chosen.rest is None:
            names = [key if isinstance(key, str) else None for key in chosen.entries]
        else:
            return UNKNOWN
        for key in list(value.entries):
            if (key in names) is (keyword == "exclude"):
                value = value.without(key)
    return value


def _text_method(evaluator: Evaluator, text: Text, name: str, call: facts.Call, frame: Frame) -> Value:
    """Return the result of a method of a text."""
    if isinstance(text, SerialisedText) and name in builtin_names.SAME_TEXT_METHODS:
        return text
    match name:
        case "format":
            return formatting.format_call(evaluator, text, call, frame)
        case "format_map" if call.args:
            return formatting.format_map_call(evaluator, text, call, frame)
        case "join" if call.args:
            return formatting.join_call(evaluator, text, call, frame)
        case "replace" if len(call.args) == 2 and text.parts is not None:
            old = literal_of(evaluator.eval(call.args[0], frame))
            return formatting.replaced(evaluator, text, old, call, frame) if old else text
        case _ if name in builtin_names.RECASING_METHODS and text.parts is not None and not call.args:
            return formatting.recased(text, name)
        case "strip" | "lstrip" | "rstrip" if text.parts is not None:
            values = [evaluator.eval(arg, frame) for arg in call.args]
            characters = literal_of(values[0]) if values else None
            if values and characters is None and values[0] is not NONE:
                return text
            return cut(evaluator, text, lambda text: formatting.stripped(text, name, characters), call, frame)
        case "expandtabs":
            return text
        case "encode" | "decode" if text.is_put_together:
            return replace(text, is_bytes=name == "encode")
        case "splitlines" | "split" if text.is_put_together and _splits_lines(evaluator, call, frame):
            return ListOf(rest=text)
        case _ if text.is_put_together and name in builtin_names.NEARLY_SAME_TEXT_METHODS:
            return text
        case _:
            return stub_calls.method(evaluator, text, name, call, frame) or TEXT


def _splits_lines(evaluator: Evaluator, call: facts.Call, frame: Frame) -> bool:
    """Whether ``text.splitlines()`` or ``text.split("\\n")`` takes a text apart, whose lines together are all of it."""
    separator = literal_of(evaluator.eval(call.args[0], frame)) if call.args else None
    is_split = facts.last_name(call.func) == "split"
    return separator is not None and not separator.strip("\n") if is_split else True


def _is_key(evaluator: Evaluator, expr: facts.Expr, frame: Frame) -> bool:
    """Return whether it can be what something is looked up by: a queue's ``get(True, 5)`` waits."""
    if isinstance(expr, facts.Star):
        return False
    value = evaluator.eval(expr, frame)
    return not all(option is NONE or isinstance(option, Boolean) for option in options(value))


def _is_address(value: Value) -> bool:
    """Return whether it says where a client is to look, and a number behind it how long:
    ``client.get("/meters", 5)``.
    """
    return any(
        isinstance(part, Literal) and "/" in part.text
        for option in options(value)
        if isinstance(option, Text)
        for part in option.parts or ()
    )
