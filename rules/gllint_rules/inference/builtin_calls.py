"""What calls into Python itself and a few libraries give, and methods of values of a known kind.

:data:`CALLS` is the table: a full name, and what works out its value. What gives a number, a text or its argument,
whatever it is called with, is in :mod:`tables`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeAlias

from gllint_rules.inference import annotations as hints
from gllint_rules.inference import (
    arguments,
    builtin_names,
    classes,
    constants,
    containers,
    formatting,
    objects,
    operators,
    stub_values,
)
from gllint_rules.inference.execution import execute
from gllint_rules.inference.values import (
    NONE,
    TEXT,
    UNKNOWN,
    Boolean,
    ClassOf,
    Container,
    DictOf,
    Entry,
    Env,
    Envelope,
    External,
    ExternalInstance,
    FunctionOf,
    Instance,
    Interpolation,
    ListOf,
    Literal,
    Method,
    ModelInstance,
    Number,
    QuantityInstance,
    Record,
    Site,
    Text,
    ToolValue,
    Value,
    as_constant,
    holds_constants,
    is_scalar,
    join,
    literal_of,
    number,
    options,
)
from gllint_rules.reading import facts
from gllint_rules.records import replace
from gllint_rules.words.names import QUANTITY

if TYPE_CHECKING:
    from gllint_rules.inference.protocol import Evaluator
    from gllint_rules.inference.values import Frame

    Handler: TypeAlias = Callable[[Evaluator, facts.Call, Frame], Value]


LEAST_OF_A_NAME = 2  # letters of a computed name that are written out


def _dict_call(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    site = frame.site(call)
    if call.args and not call.keywords:
        value = containers.of_pairs(evaluator, evaluator.eval(call.args[0], frame))
        if isinstance(value, DictOf):
            return replace(value, site=site)  # a copy, the whole of it made here
    return containers.updated(evaluator, DictOf(site=site), call, frame)


def _listed(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    """``list(x)``, ``sorted(x)`` and the like: the elements of ``x``."""
    if not call.args:
        return ListOf(site=frame.site(call))
    value = evaluator.eval(call.args[0], frame)
    if not isinstance(value, ListOf):
        return ListOf(rest=containers.element(value))
    return replace(value, kind="list") if "." in value.kind else value


def _deque(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    value = _listed(evaluator, call, frame)
    assert isinstance(value, ListOf)
    return replace(value, kind="collections.deque")


def _reduce(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    """``functools.reduce(f, xs, start)``: what ``f`` makes of the start, or an element, and of what it made."""
    values = [evaluator.eval(arg, frame) for arg in call.args]
    if len(values) < 2:
        return UNKNOWN
    element = containers.element(values[1])
    first = join(element, *values[2:])
    if isinstance(values[0], External) and values[0].name in _OPERATORS:
        chain = facts.BinOp(call.at, _OPERATORS[values[0].name], call, call)
        return operators.operate(evaluator, chain, first, element, frame)
    once = _applied(evaluator, values[0], values[2] if len(values) > 2 else element, element)
    return join(once, _applied(evaluator, values[0], once, element))


_OPERATORS = {
    f"operator.{name}": op
    for name, op in [
        ("add", "+"), ("sub", "-"), ("mul", "*"), ("truediv", "/"), ("floordiv", "//"), ("mod", "%"), ("pow", "**"),
    ]
}  # fmt: skip


def _operator(op: str) -> Handler:
    """``operator.add(a, b)``: what the operator itself gives."""

    def handler(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
        if len(call.args) != 2:
            return UNKNOWN
        return evaluator.eval(facts.BinOp(call.at, op, *call.args), frame)

    return handler


def _applied(evaluator: Evaluator, function: Value, *values: Value) -> Value:
    """What a function of the project, or `asdict`, gives for ``values``."""
    if isinstance(function, External) and CALLS.get(function.name) is _as_dict:
        return _fields_of(values[0])
    if not isinstance(function, FunctionOf):
        return UNKNOWN
    params = function.params
    partial = function.leading
    if partial is not None:
        if not partial.is_complete or partial.named.open:
            return UNKNOWN
        values = (*(entry.value for entry in partial.places), *values)
    env: Env = {
        param.name: value for param, value in zip(params, values, strict=False) if value is not UNKNOWN
    }
    if partial is not None:
        env |= {
            p.name: partial.named.get(p.name) or UNKNOWN for p in params if p.name in partial.named.entries
        }
    site = Site(function.module, function.function.at)
    key = (function.function, "applied")
    flow = evaluator.executed(key, lambda: execute(evaluator, function, env), site) if env else None
    return UNKNOWN if flow is None else join(*[value for _, value in flow.returns])


def _smallest(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    values = [evaluator.eval(arg, frame) for arg in call.args]
    if len(values) == 1:
        values = [containers.element(values[0])]
    default = call.keyword("default")
    if default is not None:
        values.append(evaluator.eval(default, frame))
    candidates = [value for value in values if value is not UNKNOWN]
    if candidates and all(number(value) is not None for value in candidates):
        return evaluator.number("the smallest or largest of numbers", frame, call.at, *values)
    return join(*values) if values else UNKNOWN


def _next(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    values = [evaluator.eval(arg, frame) for arg in call.args[:2]]
    return join(containers.element(values[0]), *values[1:]) if values else UNKNOWN


def _sum(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    start = call.args[1] if len(call.args) > 1 else call.keyword("start")
    if start is not None and number(evaluator.eval(start, frame)) is None:
        return UNKNOWN
    return evaluator.number("`sum()` gives a number", frame, call.at)


def _abs(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    value = evaluator.eval(call.args[0], frame) if call.args else UNKNOWN
    if isinstance(value, ExternalInstance) and stub_values.is_described(value):  # of a duration: a duration
        return stub_values.call(evaluator, "builtins.abs", call, frame) or UNKNOWN
    return evaluator.number("`abs()` gives a number", frame, call.at)


def _divmod(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    result = evaluator.number("`divmod()` gives numbers", frame, call.at)
    entry = Entry(result, frame.site(call))
    return ListOf((entry, entry), None, "tuple", frame.site(call))


def _enumerate(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    index = evaluator.number("an index of `enumerate()`", frame, call.at)
    element = containers.element(evaluator.eval(call.args[0], frame)) if call.args else UNKNOWN
    return _tuples(frame.site(call), index, element)


def _zip(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    elements = [containers.element(evaluator.eval(arg, frame)) for arg in call.args]
    return _tuples(frame.site(call), *elements)


def _tuples(site: Site, *values: Value, kind: str = "generator") -> ListOf:
    """Any number of tuples of ``values``."""
    return ListOf(rest=ListOf(tuple(Entry(value, site) for value in values), None, "pair"), kind=kind)


def _map(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    if len(call.args) < 2:
        return UNKNOWN
    function = evaluator.eval(call.args[0], frame)
    elements = [containers.element(evaluator.eval(arg, frame)) for arg in call.args[1:]]
    result = _applied(evaluator, function, *elements)
    if result is UNKNOWN:
        result = evaluator.eval(facts.Call(call.at, call.args[0], (), ()), frame)
    return ListOf(rest=result, kind="generator")


def _filter(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    """``filter(test, xs)``: some of the elements of ``xs``."""
    if len(call.args) != 2:
        return UNKNOWN
    iterators: list[Value] = []
    for option in options(evaluator.eval(call.args[1], frame)):
        if isinstance(option, ListOf):
            iterators.append(replace(option, kind="generator"))
        else:
            iterators.append(ListOf(rest=containers.element(option), kind="generator"))
    return join(*iterators)


def _cast(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    if len(call.args) != 2:
        return UNKNOWN
    declared = evaluator.annotation(call.args[0], frame)
    value = evaluator.eval(call.args[1], frame)
    if declared is UNKNOWN or any(isinstance(option, (FunctionOf, ToolValue)) for option in options(value)):
        return value  # of a function, the type of its calls says less than the function itself
    if any(isinstance(option, Container) for option in options(value)):
        return hints.typed(evaluator, value, declared)  # neither does that of a container say what is in it
    return declared


def _partial(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    """What is called later: a function with what it was given, anything else as far as that does not matter."""
    if not call.args:
        return UNKNOWN
    rest = facts.Call(call.at, call.func, call.args[1:], call.keywords)
    callables: list[Value] = []
    for option in options(evaluator.eval(call.args[0], frame)):
        if isinstance(option, ToolValue) and option.tool.called is not None:
            option = option.tool.called
        match option:
            case FunctionOf():
                leading = arguments.arguments_of(evaluator, rest, frame, option.leading)
                callables.append(replace(option, leading=leading))
            case ClassOf() if rest.args or rest.keywords:
                callables.append(UNKNOWN)
            case External(name=name) if rest.args or (
                rest.keywords and name.rpartition(".")[2][:1].isupper()
            ):
                callables.append(UNKNOWN)
            case _:
                callables.append(option)
    return join(*callables)


def _threaded(position: int) -> Handler:
    def handler(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
        if len(call.args) <= position:
            return UNKNOWN
        inner = facts.Call(call.at, call.args[position], call.args[position + 1 :], call.keywords)
        return evaluator.eval(inner, frame)

    return handler


def _defaultdict(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    """A dict whose values are what its factory gives, each where the factory puts it in."""
    mapping = stub_values.call(evaluator, "collections.defaultdict", call, frame) or UNKNOWN
    if not isinstance(mapping, DictOf) or not call.args or isinstance(call.args[0], facts.Star):
        return mapping
    default = evaluator.eval(facts.Call(call.at, call.args[0], (), ()), frame)
    if isinstance(default, Container):
        return replace(mapping, rest=default)
    return replace(mapping, unfilled=len(call.args) == 1 and not call.keywords)


def _counter(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    """A dict of counts, empty where it is given nothing to count."""
    counter = stub_values.call(evaluator, "collections.Counter", call, frame) or UNKNOWN
    is_empty = not (call.args or call.keywords)
    return replace(counter, unfilled=True) if isinstance(counter, DictOf) and is_empty else counter


def _as_dict(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    """The fields of an instance as a dict."""
    return _fields_of(evaluator.eval(call.args[0], frame)) if call.args else UNKNOWN


def _fields_of(value: Value) -> Value:
    return join(*(o.as_dict() if isinstance(o, Record) else o for o in options(value)))


def _replaced(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    """``dataclasses.replace(x, a=1)``: another like ``x``, with other fields."""
    value = evaluator.eval(call.args[0], frame) if call.args else UNKNOWN
    return objects.replaced(evaluator, value, call, frame)


def _gather(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    """``asyncio.gather(a, *others)``: what each of them gives; on request that, or what it raises."""
    value = evaluator.eval(facts.Seq(call.at, "list", call.args), frame)
    if not isinstance(value, ListOf):
        return value
    may_be_raised = call.keyword("return_exceptions") is not None
    return value.each_changed(_or_raised if may_be_raised else stub_values.awaited)


def _or_raised(task: Value) -> Value:
    """What ``task`` gives, or raises. Objects are followed no further: to do so costs more than it shows."""
    result = stub_values.awaited(task)
    is_plain = all(is_scalar(o) or isinstance(o, DictOf) for o in options(result))
    return join(result, UNKNOWN) if is_plain else UNKNOWN


def _getattr(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    value: Value = UNKNOWN
    if len(call.args) >= 2:
        names = _names_of(evaluator, call, frame)
        value = join(*(evaluator.eval(facts.Attr(call.at, call.args[0], name), frame) for name in names))
        alone = len(call.args) == 2 or not isinstance(value, (Method, External))
        value = value if names and alone else UNKNOWN
    if len(call.args) == 3:
        default = evaluator.eval(call.args[2], frame)
        if number(default) is not None:
            return operators.defaulted(evaluator, value, default, "`getattr()`", frame, call.at)
    return value


def _names_of(evaluator: Evaluator, call: facts.Call, frame: Frame) -> list[str]:
    """The attributes that the second argument of ``getattr`` may name; none where nobody knows."""
    names: list[str] = []
    for option in options(evaluator.eval(call.args[1], frame)):
        literal = option.literal if isinstance(option, Text) else None
        named = [literal] if literal is not None else list(_named_like(evaluator, call, option, frame))
        if not named:
            return []
        names += named
    return names


def _named_like(evaluator: Evaluator, call: facts.Call, text: Value, frame: Frame) -> Iterator[str]:
    """The methods that a name such as ``f"do_{x}"`` may mean; none where what is written out of it says little."""
    base = evaluator.eval(call.args[0], frame)
    parts = text.parts if isinstance(text, Text) else None
    if not parts or not isinstance(base, Instance):
        return
    begin, end = (part.text if isinstance(part, Literal) else "" for part in (parts[0], parts[-1]))
    if len(begin.strip("_")) + len(end.strip("_")) < LEAST_OF_A_NAME:
        return
    for ancestor in classes.ancestors(evaluator, base.of):
        for method in ancestor.cls.methods() if isinstance(ancestor, ClassOf) else ():
            if method.name.startswith(begin) and method.name.endswith(end):
                yield method.name


def _is_key(evaluator: Evaluator, expr: facts.Expr, frame: Frame) -> bool:
    """Whether it can be what something is looked up by: a queue's ``get(True, 5)`` waits."""
    if isinstance(expr, facts.Star):
        return False
    value = evaluator.eval(expr, frame)
    return not all(option is NONE or isinstance(option, Boolean) for option in options(value))


def _is_address(value: Value) -> bool:
    """Whether it says where a client is to look, and a number behind it how long: ``client.get("/meters", 5)``."""
    return any(
        isinstance(part, Literal) and "/" in part.text
        for option in options(value)
        if isinstance(option, Text)
        for part in option.parts or ()
    )


def _dedent(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    value = evaluator.eval(call.args[0], frame) if call.args else UNKNOWN
    return _cut(evaluator, value, formatting.dedented, call, frame)


def _clean(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    value = evaluator.eval(call.args[0], frame) if call.args else UNKNOWN
    return _cut(evaluator, value, formatting.cleaned, call, frame)


def _cut(
    evaluator: Evaluator, value: Value, cut: Callable[[Text], Text], call: facts.Call, frame: Frame
) -> Value:
    """``value`` without the characters that ``cut`` takes away, unless it is no text or too long."""
    is_short = isinstance(value, Text) and formatting.is_short(evaluator, value, frame.site(call))
    return cut(value) if isinstance(value, Text) and is_short else TEXT


def _imported(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    """``importlib.import_module("a.b")``: the module, where its name is written out."""
    if len(call.args) != 1:
        return UNKNOWN
    modules: list[Value] = []
    for option in options(evaluator.eval(call.args[0], frame)):
        name = option.literal if isinstance(option, Text) else None
        is_absolute = name is not None and all(part.isidentifier() for part in name.split("."))
        modules.append(evaluator.imported(frame.module, name, "") if name and is_absolute else UNKNOWN)
    return join(*modules)


def _super(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    cls = frame.scope.enclosing_class()
    if cls is None:
        return UNKNOWN
    ancestors = list(classes.ancestors(evaluator, ClassOf(frame.module, cls)))[1:]
    for ancestor in ancestors:
        if isinstance(ancestor, ClassOf):
            return Instance(ancestor)
        break
    return UNKNOWN


def _dumped(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    """``json.dumps(x)``: a text that holds ``x``, all of it."""
    value = evaluator.eval(call.args[0], frame) if call.args else UNKNOWN
    return Text((Interpolation(value, frame.site(call)),))


def _computed(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    """A call that makes a text, which is known where it is given constants: ``chr(57)``."""
    return constants.as_text(evaluator, call, frame) or TEXT


def _same_text(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    """``str(x)``: a text that holds ``x``."""
    if len(call.args) != 1:
        return _computed(evaluator, call, frame)
    value = evaluator.eval(call.args[0], frame)
    if isinstance(value, Text):
        return value
    return Text((Interpolation(value, frame.site(call)),))


_CLASS_CALLS = ("NamedTuple", "TypedDict")
CALLS: dict[str, Handler] = {
    "builtins.dict": _dict_call,
    **{
        f"builtins.{name}": _listed
        for name in ("list", "tuple", "set", "frozenset", "sorted", "reversed", "iter")
    },
    "collections.deque": _deque,
    "functools.reduce": _reduce,
    "functools.partial": _partial,
    **{name: _operator(op) for name, op in _OPERATORS.items()},
    "collections.OrderedDict": _dict_call,
    "builtins.min": _smallest,
    "builtins.max": _smallest,
    "builtins.next": _next,
    "builtins.abs": _abs,
    "builtins.sum": _sum,
    "builtins.divmod": _divmod,
    "builtins.enumerate": _enumerate,
    "builtins.zip": _zip,
    "builtins.map": _map,
    "builtins.filter": _filter,
    "builtins.getattr": _getattr,
    "builtins.super": _super,
    "builtins.str": _same_text,
    "builtins.chr": _computed,
    "codecs.decode": _computed,
    "json.dumps": _dumped,
    "importlib.import_module": _imported,
    "typing.cast": _cast,
    **dict.fromkeys(
        (
            "collections.namedtuple",
            *(f"{m}.{n}" for m in ("typing", "typing_extensions") for n in _CLASS_CALLS),
        ),
        classes.made_by_call,
    ),
    "collections.defaultdict": _defaultdict,
    "collections.Counter": _counter,
    "dataclasses.asdict": _as_dict,
    "builtins.vars": _as_dict,
    "dataclasses.replace": _replaced,
    "asyncio.to_thread": _threaded(0),
    "asyncio.gather": _gather,
    "textwrap.dedent": _dedent,
    "inspect.cleandoc": _clean,
}


# --- methods of values of a known kind -----------------------------------------------------------------------


def call_method(evaluator: Evaluator, method: Method, call: facts.Call, frame: Frame) -> Value:
    """What a method of a value of a known kind gives."""
    match method.of:
        case Record():
            return _record_method(evaluator, method.of, method.name, call, frame)
        case Instance(of=of) if call.args:  # of a TypedDict
            key = containers.key_of(evaluator, call.args[0], frame)
            field = evaluator.field(of, key) if key is not None else None
            default = evaluator.eval(call.args[1], frame) if len(call.args) > 1 else NONE
            return join(field, default) if field is not None else UNKNOWN
        case Text():
            return _text_method(evaluator, method.of, method.name, call, frame)
        case ListOf() if method.name == "copy":
            return method.of
        case Number() if method.name in builtin_names.NUMBER_METHODS:
            return method.of
        case ExternalInstance(name=name) if (
            name in builtin_names.ARRAY_CALLS and method.name in builtin_names.REDUCTIONS
        ):
            if not call.args and call.keyword("axis", "keepdims") is None:
                return evaluator.number(f"`.{method.name}()` of an array is a number", frame, call.at)
            return UNKNOWN
        case _:
            return _method_by_name(evaluator, method.of, method.name, call, frame)


def _method_by_name(evaluator: Evaluator, of: Value, name: str, call: facts.Call, frame: Frame) -> Value:
    """What the name of a method alone says; else what the stubs say of it."""
    result = call_unknown(evaluator, call, frame)
    if name == "map" and isinstance(of, ExternalInstance) and of.name in builtin_names.EXECUTORS:
        return _map(evaluator, call, frame)
    if result is UNKNOWN:
        result = stub_values.method(evaluator, of, name, call, frame) or UNKNOWN
    return result


def call_unknown(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    """A call of something unknown, of which only the name speaks."""
    last = facts.last_name(call.func)
    if last == QUANTITY:
        return objects.quantity(evaluator, call, frame, None)
    if isinstance(call.func, facts.Attr):
        if last == "timestamp" and not call.args:
            return evaluator.number("`.timestamp()` is a number", frame, call.at, real=True)
        default = looked_up(evaluator, call, frame)
        if default is not None:
            return default
        if last == "run_in_executor" and len(call.args) >= 2:
            return _threaded(1)(evaluator, call, frame)
        if last == "submit" and call.args:
            result = _threaded(0)(evaluator, call, frame)
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
    """What pydantic's ``method`` makes of data by a class of the project."""
    if not isinstance(model, ClassOf):
        return UNKNOWN
    if method == "model_construct":
        return objects.construct(evaluator, model, facts.Call(call.at, call.func, (), call.keywords), frame)
    data = evaluator.eval(call.args[0], frame) if len(call.args) == 1 else UNKNOWN
    if isinstance(data, Record) and data.entries:  # as `Model(**data)`
        spread = facts.Call(call.at, call.func, (), ((None, call.args[0]),))
        return objects.construct(evaluator, model, spread, frame)
    return Instance(model)


def looked_up(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value | None:
    """What ``d.get(k, 0)`` gives whatever ``d`` is; ``None`` of another call, or where ``d`` is something known."""
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
    if name in ("model_copy", "copy") and isinstance(record, (ModelInstance, Envelope)):
        return objects.copied(evaluator, record, call, frame)
    if name in builtin_names.RECORD_METHODS:
        return record.as_dict()
    if isinstance(record, QuantityInstance):
        return UNKNOWN
    match name:
        case "get" | "pop" | "setdefault" if call.args:
            key = containers.key_of(evaluator, call.args[0], frame)
            value = record.under(key)
            if value is not None and key in record.sure:
                return value
            default = evaluator.eval(call.args[1], frame) if len(call.args) > 1 else NONE
            if value is None and not record.open:
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
        case "items":
            return _tuples(frame.site(call), record.any_key(), record.any_value(), kind="items")
        case _:
            return _method_by_name(evaluator, record, name, call, frame)


def _text_method(evaluator: Evaluator, text: Text, name: str, call: facts.Call, frame: Frame) -> Value:
    match name:
        case "format":
            return formatting.format_call(evaluator, text, call, frame)
        case "join" if call.args:
            joined = formatting.join_call(evaluator, text, call, frame)
            return joined if joined.literal else constants.as_text(evaluator, call, frame) or joined
        case "replace" if len(call.args) == 2 and text.parts is not None:
            old = literal_of(evaluator.eval(call.args[0], frame))
            return formatting.replaced(evaluator, text, old, call, frame) if old else TEXT
        case "upper" | "lower" | "casefold" | "swapcase" if text.parts is not None and not call.args:
            return formatting.recased(text, name)
        case "strip" | "lstrip" | "rstrip" if text.parts is not None:
            values = [evaluator.eval(arg, frame) for arg in call.args]
            characters = literal_of(values[0]) if values else None
            if values and characters is None and values[0] is not NONE:
                return TEXT
            return _cut(
                evaluator, text, lambda text: formatting.stripped(text, name, characters), call, frame
            )
        case "expandtabs":
            return text
        case _:
            result = stub_values.method(evaluator, text, name, call, frame) or TEXT
            is_constant = text.parts is not None or text.is_bytes
            return constants.as_texts(evaluator, call, frame) or result if is_constant else result
