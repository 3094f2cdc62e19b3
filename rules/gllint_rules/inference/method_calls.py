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
    """Return the result of a method of a value of a known kind: ``{"a": 1}.get("a")`` → the number 1."""
    match method.of:
        case Instance() | ModelInstance() | Envelope() if method.name in builtin_names.TEXT_DUMPS:
            return serialised(_dumped_fields(evaluator, method.of, call, frame), method.site)
        case value if objects.is_encoding(evaluator, value, method.name):
            text = serialised_argument(evaluator, call, frame)
            return ListOf(rest=text, kind="generator") if method.name == builtin_names.ITERENCODE else text
        case Record():
            return _record_method(evaluator, method.of, method.name, call, frame)
        case Instance(of=of) if call.args:
            # An instance of a TypedDict (no other class has methods of known results here): `row.get("price", 0)`.
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
        case Number() if method.name in builtin_names.NUMBER_METHODS:  # `x.item()`, `x.conjugate()`
            return method.of
        case ExternalInstance(name=builtin_names.TEMPLATE, arguments=(Text() as text,)) if (
            method.name in builtin_names.TEMPLATE_METHODS
        ):
            return formatting.substituted(evaluator, text, call, frame)
        case ExternalInstance(name=name) if (
            name in builtin_names.ARRAY_CALLS and method.name in builtin_names.REDUCTIONS
        ):
            # With an axis, a reduction returns an array, which may be of any shape.
            if not call.args and call.keyword("axis", "keepdims") is None:
                return evaluator.number(f"`.{method.name}()` of an array is a number", frame, call.at)
            return UNKNOWN
        case _:
            return _method_by_name(evaluator, method.of, method.name, call, frame)


def _method_by_name(evaluator: Evaluator, of: Value, name: str, call: facts.Call, frame: Frame) -> Value:
    """Return the result that the name of a method shows (``x.timestamp()``), or else the one that the stubs declare."""
    result = call_unknown(evaluator, call, frame)
    if name == "map" and isinstance(of, ExternalInstance) and of.name in builtin_names.EXECUTORS:
        return map_call(evaluator, call, frame)
    if result is UNKNOWN:
        result = stub_calls.method(evaluator, of, name, call, frame) or UNKNOWN
    return result


def call_unknown(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    """Return the result of a call of something unknown by the name of the callee: ``x.timestamp()`` → a number."""
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
        if last == "run_in_executor" and len(call.args) >= 2:  # `loop.run_in_executor(None, function, …)`
            return thread_call(1)(evaluator, call, frame)
        if last == "submit" and call.args:  # `executor.submit(function, …)`
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
    """Return the instance that a parser of pydantic returns: ``Model.model_validate(data)`` → ``Model(**data)``."""
    if not isinstance(model, ClassOf):
        return UNKNOWN
    if method == "model_construct":
        # Its positional argument is the set of the names of fields, not a value.
        return objects.construct(evaluator, model, facts.Call(call.at, call.func, (), call.keywords), frame)
    data = evaluator.eval(call.args[0], frame) if len(call.args) == 1 else UNKNOWN
    if isinstance(data, Record) and data.entries:
        spread = facts.Call(call.at, call.func, (), ((None, call.args[0]),))
        instance = objects.construct(evaluator, model, spread, frame)
        # Data read from another object's attributes is reported here, where the result is made. The object itself, a
        # row of a database perhaps, may keep its numbers.
        return moved(instance, frame.site(call)) if data.of is not None else instance
    return Instance(model)


def looked_up(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value | None:
    """Return the result of ``d.get(k, 0)``: a number. ``None`` for another call, or if the kind of ``d`` is known."""
    if not isinstance(call.func, facts.Attr) or call.func.name not in ("get", "pop") or len(call.args) != 2:
        return None
    default = evaluator.eval(call.args[1], frame)
    # Calls that look the same but do not look up a key: `queue.get(True, 5)` and `client.get("/meters", 5)`.
    if number(default) is None or not _is_key(evaluator, call.args[0], frame):
        return None
    if _is_address(evaluator.eval(call.args[0], frame)):
        return None
    if all(stub_values.is_described(option) for option in options(evaluator.eval(call.func.base, frame))):
        return None
    return operators.defaulted(evaluator, UNKNOWN, default, f"`.{call.func.name}()`", frame, call.at)


def _record_method(evaluator: Evaluator, record: Record, name: str, call: facts.Call, frame: Frame) -> Value:
    """Return the result of a method of a dict or an instance with known fields: ``{"a": 1}.values()`` → ``[1]``."""
    if name in ("model_copy", "copy") and isinstance(record, (ModelInstance, Envelope)):
        return objects.copied(evaluator, record, call, frame)
    if name in builtin_names.RECORD_METHODS:
        dumped = _dumped_fields(evaluator, record, call, frame)
        return dumped.as_dict() if isinstance(dumped, Record) else dumped
    if isinstance(record, QuantityInstance):  # has none of a dict's methods
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
            if holds_constants(
                value
            ):  # a table written into the code: its default is a constant like the others
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


def _dumped_fields(evaluator: Evaluator, value: Value, call: facts.Call, frame: Frame) -> Value:
    """Return ``value`` without the fields that a dump leaves out: ``m.model_dump(exclude={"id"})`` → all but ``id``.

    Unknown, where the argument does not show their names.
    """
    if not isinstance(value, Record):
        return value
    omits = call.keyword("exclude_unset", "exclude_defaults")
    if omits is not None and not (isinstance(omits, facts.Const) and omits.value is False):
        value = objects.arguments_only(evaluator, value)
    for keyword in ("include", "exclude"):
        argument = call.keyword(keyword)
        if argument is None:
            continue
        fields = evaluator.eval(argument, frame)
        if fields is NONE:
            continue
        if isinstance(fields, ListOf) and fields.rest is None:
            names = [literal_of(entry.value) for entry in fields.items]
        elif isinstance(fields, DictOf) and fields.is_complete and fields.rest is None:
            names = [key if isinstance(key, str) else None for key in fields.entries]
        else:
            return UNKNOWN
        # `exclude` removes the fields in it, `include` all others.
        for key in list(value.entries):
            if (key in names) is (keyword == "exclude"):
                value = value.without(key)
    return value


def _text_method(evaluator: Evaluator, text: Text, name: str, call: facts.Call, frame: Frame) -> Value:
    """Return the result of a method of a text: ``"{} kg".format(x)`` → the text with the value of ``x`` in it."""
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
            characters = evaluator.eval(call.args[0], frame) if call.args else NONE
            literal = literal_of(characters)
            if literal is None and characters is not NONE:  # which characters go is not known
                return text
            return cut(evaluator, text, lambda text: formatting.stripped(text, name, literal), call, frame)
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
    """Return whether a call splits a text at line breaks: ``text.splitlines()`` or ``text.split("\\n")``."""
    if facts.last_name(call.func) != "split":
        return True
    separator = literal_of(evaluator.eval(call.args[0], frame)) if call.args else None
    return separator is not None and not separator.strip("\n")


def _is_key(evaluator: Evaluator, expr: facts.Expr, frame: Frame) -> bool:
    """Return whether an argument of ``get`` can be a key: not ``True``, with which a queue's ``get(True, 5)`` waits."""
    if isinstance(expr, facts.Star):
        return False
    value = evaluator.eval(expr, frame)
    return not all(option is NONE or isinstance(option, Boolean) for option in options(value))


def _is_address(value: Value) -> bool:
    """Return whether a text is the path of a URL, as in ``client.get("/meters", 5)``, where 5 is a timeout."""
    return any(
        isinstance(part, Literal) and "/" in part.text
        for option in options(value)
        if isinstance(option, Text)
        for part in option.parts or ()
    )
