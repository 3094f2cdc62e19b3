"""The results of calls of Python's own functions and of a few libraries.

:data:`CALLS` maps a full name to the function that computes its result. Functions that always return a number, a text
or their argument are in :mod:`builtin_names`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeAlias

from msgspec.structs import replace

from gllint_rules.inference import annotations as hints
from gllint_rules.inference import (
    arguments,
    builtin_names,
    classes,
    containers,
    formatting,
    objects,
    operators,
    stub_calls,
    stub_values,
)
from gllint_rules.inference.execution import execute
from gllint_rules.inference.values import (
    TEXT,
    UNKNOWN,
    ClassOf,
    Container,
    DictOf,
    Entry,
    Env,
    External,
    ExternalInstance,
    FunctionOf,
    Instance,
    Interpolation,
    ListOf,
    Literal,
    Method,
    Record,
    SerialisedText,
    Site,
    Text,
    ToolValue,
    Value,
    is_scalar,
    is_text,
    join,
    literal_of,
    number,
    options,
    over,
    pieces,
    serialised,
)
from gllint_rules.reading import facts

if TYPE_CHECKING:
    from gllint_rules.inference.protocol import Evaluator
    from gllint_rules.inference.values import Frame

    Handler: TypeAlias = Callable[[Evaluator, facts.Call, Frame], Value]


LEAST_OF_A_NAME = 2  # literal letters in a computed name of a method


def _dict_call(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    """Return the result of ``dict(pairs)`` or ``dict(a=1)``."""
    site = frame.site(call)
    if call.args and not call.keywords:
        value = containers.of_pairs(evaluator, evaluator.eval(call.args[0], frame))
        if isinstance(value, DictOf):
            return replace(value, site=site)  # a copy, made at the call
    return containers.updated(evaluator, DictOf(site=site), call, frame)


def _list_call(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    """Return the result of ``list(x)``, ``sorted(x)`` and the like: the elements of ``x``."""
    if not call.args:
        return ListOf(site=frame.site(call))
    value = evaluator.eval(call.args[0], frame)
    # No site: the numbers are reported where they were put into `x`.
    if not isinstance(value, ListOf):
        return ListOf(rest=containers.element(value))
    return replace(value, kind="list") if "." in value.kind else value


def _deque(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    value = _list_call(evaluator, call, frame)
    assert isinstance(value, ListOf)
    return replace(value, kind="collections.deque")


def _reduce(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    """Return the result of ``functools.reduce(f, xs, start)``."""
    if len(call.args) < 2:
        return UNKNOWN
    function, elements, *start = (evaluator.eval(arg, frame) for arg in call.args)
    element = containers.element(elements)
    if isinstance(function, External) and function.name in _OPERATORS:
        # The operands have no expressions of their own: the call shows where the operation is.
        operation = facts.BinOp(call.at, _OPERATORS[function.name], call, call)
        return operators.operate(evaluator, operation, join(element, *start), element, frame)
    # Applied to the start, then to its own result, which may be of another kind; a third time would add nothing.
    once = _apply(evaluator, function, start[0] if start else element, element)
    twice = _apply(evaluator, function, once, element)
    is_filled = isinstance(elements, ListOf) and elements.items
    return join(once, twice) if is_filled else join(*start, once, twice)  # of no elements, it is the start


_OPERATORS = {
    f"operator.{name}": op
    for name, op in [
        ("add", "+"), ("sub", "-"), ("mul", "*"), ("truediv", "/"), ("floordiv", "//"), ("mod", "%"), ("pow", "**"),
    ]
}  # fmt: skip


def _operator(op: str) -> Handler:
    """Return the handler of ``operator.add(a, b)`` and the like, for the operator ``op``."""

    def handler(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
        if len(call.args) != 2:
            return UNKNOWN
        return evaluator.eval(facts.BinOp(call.at, op, *call.args), frame)

    return handler


def _apply(evaluator: Evaluator, function: Value, *values: Value) -> Value:
    """Return the result of ``function`` for positional arguments: a function of the project, or ``asdict``."""
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


def _min_or_max(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    """Return the result of ``min`` or ``max``."""
    values = [evaluator.eval(arg, frame) for arg in call.args]
    if len(values) == 1:
        values = [containers.element(values[0])]
    default = call.keyword("default")
    if default is not None:
        values.append(evaluator.eval(default, frame))
    # An unknown value that is compared with numbers is a number, too.
    candidates = [value for value in values if value is not UNKNOWN]
    if candidates and all(number(value) is not None for value in candidates):
        real = any(map(_is_real, candidates))
        return evaluator.number("the smallest or largest of numbers", frame, call.at, *values, real=real)
    return join(*values) if values else UNKNOWN


def _next(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    values = [evaluator.eval(arg, frame) for arg in call.args[:2]]
    return join(containers.element(values[0]), *values[1:]) if values else UNKNOWN


def _sum(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    """Return the result of ``sum``: a number, or if ``start`` is not a number, the result of ``start + element``."""
    start = call.args[1] if len(call.args) > 1 else call.keyword("start")
    first = evaluator.eval(start, frame) if start is not None else None
    if first is not None and number(first) is None:  # `sum(lists, [])` is a list
        element = containers.element(evaluator.eval(call.args[0], frame)) if call.args else UNKNOWN
        return operators.operate(
            evaluator, facts.BinOp(call.at, "+", start or call, call), first, element, frame
        )
    return evaluator.number("`sum()` gives a number", frame, call.at)


def _flattened(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    """Return the result of ``itertools.chain.from_iterable(lists)``: the elements of each of ``lists``."""
    lists = containers.element(evaluator.eval(call.args[0], frame)) if len(call.args) == 1 else UNKNOWN
    return ListOf(rest=containers.element(lists), kind="generator")


def _abs(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    value = evaluator.eval(call.args[0], frame) if call.args else UNKNOWN
    if isinstance(value, ExternalInstance) and stub_values.is_described(value):  # of a duration: a duration
        return stub_calls.call(evaluator, "builtins.abs", call, frame) or UNKNOWN
    return evaluator.number("`abs()` gives a number", frame, call.at, real=_is_real(value))


def _round(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    """Return the result of ``round``: with digits it is a fraction where the argument may be one."""
    message = "`round()` gives a number"
    real = len(call.args) + len(call.keywords) > 1 and _is_real(evaluator.eval(call.args[0], frame))
    return evaluator.number(message, frame, call.at, real=real)


def _is_real(value: Value) -> bool:
    """Return whether a number is no integer."""
    found = number(value)
    return found is not None and found.real


def _divmod(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    result = evaluator.number("`divmod()` gives numbers", frame, call.at)
    entry = Entry(result, frame.site(call))
    return ListOf((entry, entry), None, "tuple", frame.site(call))


def _enumerate(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    index = evaluator.number("an index of `enumerate()`", frame, call.at)
    element = containers.element(evaluator.eval(call.args[0], frame)) if call.args else UNKNOWN
    return tuples(frame.site(call), index, element)


def _zip(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    elements = [containers.element(evaluator.eval(arg, frame)) for arg in call.args]
    return tuples(frame.site(call), *elements)


def tuples(site: Site, *values: Value, kind: str = "generator") -> ListOf:
    """Return an iterator of any number of tuples ``(*values,)``."""
    return ListOf(rest=ListOf(tuple(Entry(value, site) for value in values), None, "pair"), kind=kind)


def map_call(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    """Return the result of ``map(f, xs)``: an iterator of the results of ``f``."""
    if len(call.args) < 2:
        return UNKNOWN
    function = evaluator.eval(call.args[0], frame)
    elements = [containers.element(evaluator.eval(arg, frame)) for arg in call.args[1:]]
    if isinstance(function, External) and CALLS.get(function.name) is _same_text:
        elements[0] = over(elements[0], lambda element: _own_text(evaluator, element))
    if isinstance(function, External) and _serialises(function.name, elements[0]):
        text = over(elements[0], lambda element: serialised(element, frame.site(call.args[1])))
        return ListOf(rest=text, kind="generator")
    if isinstance(function, External) and CALLS.get(function.name) is _same_text:
        element, site = elements[0], frame.site(call.args[1])
        return ListOf(
            rest=element if is_text(element) else Text((Interpolation(element, site),)), kind="generator"
        )
    result = _apply(evaluator, function, *elements)
    if result is UNKNOWN:
        result = evaluator.eval(facts.Call(call.at, call.args[0], (), ()), frame)
    return ListOf(rest=result, kind="generator")


def _own_text(evaluator: Evaluator, value: Value) -> Value:
    """Return the text of an object by a method of its class in the project, else ``value`` itself."""
    method = formatting.own_method(evaluator, value, *formatting.OWN_TEXTS)
    return _apply(evaluator, method, value) if method is not None else value


def _serialises(function: str, value: Value) -> bool:
    """Return whether a library's function returns a text that contains all of ``value``: ``json.dumps``, ``str``."""
    if function in builtin_names.SERIALISERS:
        return True
    return CALLS.get(function) is _same_text and formatting.is_written_out(value)


def _filter(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    """Return the result of ``filter(test, xs)``: some of the elements of ``xs``."""
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
    """Return the result of ``cast(type, value)``: what the type declares, or the value if that says more."""
    if len(call.args) != 2:
        return UNKNOWN
    declared = evaluator.annotation(call.args[0], frame)
    value = evaluator.eval(call.args[1], frame)
    if declared is UNKNOWN or any(isinstance(option, (FunctionOf, ToolValue)) for option in options(value)):
        return value  # a function says more than its type
    if any(isinstance(option, Container) for option in options(value)):
        return hints.typed(evaluator, value, declared)  # and a container says what is in it
    return declared


def _partial(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    """Return the callable that ``partial(f, …)`` makes: a function of the project with its bound arguments.

    For a class, or a class of another package, with bound arguments it is unknown.
    """
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


def _wrapper(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    """Return the function that ``update_wrapper(inner, f)`` names like another one, as ``wraps(f)(inner)`` does."""
    return evaluator.eval(call.args[0], frame) if call.args else UNKNOWN


def thread_call(position: int) -> Handler:
    """Return the handler of calls such as ``to_thread(f, *args)``, whose function is the argument at ``position``."""

    def handler(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
        if len(call.args) <= position:
            return UNKNOWN
        inner = facts.Call(call.at, call.args[position], call.args[position + 1 :], call.keywords)
        return evaluator.eval(inner, frame)

    return handler


def _defaultdict(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    """Return a dict whose missing values come from a factory."""
    mapping = stub_calls.call(evaluator, "collections.defaultdict", call, frame) or UNKNOWN
    if not isinstance(mapping, DictOf) or not call.args or isinstance(call.args[0], facts.Star):
        return mapping
    default = evaluator.eval(facts.Call(call.at, call.args[0], (), ()), frame)
    if isinstance(default, Container):
        return replace(mapping, rest=default)
    return replace(mapping, unfilled=len(call.args) == 1 and not call.keywords)


def _counter(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    """Return the result of ``Counter(…)``: a dict of numbers, empty without arguments."""
    counter = stub_calls.call(evaluator, "collections.Counter", call, frame) or UNKNOWN
    is_empty = not (call.args or call.keywords)
    return replace(counter, unfilled=True) if isinstance(counter, DictOf) and is_empty else counter


def _as_dict(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    """Return the fields of an instance as a dict."""
    return _fields_of(evaluator.eval(call.args[0], frame)) if call.args else UNKNOWN


def _fields_of(value: Value) -> Value:
    """Return each instance in ``value`` as a dict of its fields; other values stay as they are."""
    return join(*(o.as_dict() if isinstance(o, Record) else o for o in options(value)))


def _replaced(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    """Return the result of ``dataclasses.replace(x, a=1)``: ``x`` with other values for some fields."""
    value = evaluator.eval(call.args[0], frame) if call.args else UNKNOWN
    return objects.replaced(evaluator, value, call, frame)


def _gather(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    """Return the result of ``asyncio.gather(a, b)``: a list of the results, or with ``return_exceptions`` of errors."""
    value = evaluator.eval(facts.Seq(call.at, "list", call.args), frame)
    if not isinstance(value, ListOf):
        return value
    may_be_raised = call.keyword("return_exceptions") is not None
    return value.each_changed(_or_raised if may_be_raised else stub_calls.awaited)


def _or_raised(task: Value) -> Value:
    """Return the result of ``task`` or the exception that it raises, which is unknown.

    A result with objects in it is unknown altogether: following objects that may be exceptions takes long.
    """
    result = stub_calls.awaited(task)
    is_plain = all(is_scalar(o) or isinstance(o, DictOf) for o in options(result))
    return join(result, UNKNOWN) if is_plain else UNKNOWN


def _getattr(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    """Return the result of ``getattr`` for the names that its second argument may be."""
    value: Value = UNKNOWN
    if len(call.args) >= 2:
        names = _names_of(evaluator, call, frame)
        value = join(*(evaluator.eval(facts.Attr(call.at, call.args[0], name), frame) for name in names))
        # With a default, the attribute of an outside value may be missing.
        is_sure = len(call.args) == 2 or not isinstance(value, (Method, External))
        value = value if names and is_sure else UNKNOWN
    if len(call.args) == 3:
        default = evaluator.eval(call.args[2], frame)
        if number(default) is not None:
            return operators.defaulted(evaluator, value, default, "`getattr()`", frame, call.at)
    return value


def _names_of(evaluator: Evaluator, call: facts.Call, frame: Frame) -> list[str]:
    """Return the attributes that the second argument of ``getattr`` may name; empty if unknown."""
    names: list[str] = []
    for option in options(evaluator.eval(call.args[1], frame)):
        literal = option.literal if isinstance(option, Text) else None
        matches = [literal] if literal is not None else list(_methods_like(evaluator, call, option, frame))
        if not matches:
            return []
        names += matches
    return names


def _methods_like(evaluator: Evaluator, call: facts.Call, text: Value, frame: Frame) -> Iterator[str]:
    """Yield the methods that a name such as ``f"do_{x}"`` may mean; none if too little of it is literal."""
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


def _dedent(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    value = evaluator.eval(call.args[0], frame) if call.args else UNKNOWN
    return cut(evaluator, value, formatting.dedented, call, frame)


def _clean(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    value = evaluator.eval(call.args[0], frame) if call.args else UNKNOWN
    return cut(evaluator, value, formatting.cleaned, call, frame)


def cut(
    evaluator: Evaluator, value: Value, cut: Callable[[Text], Text], call: facts.Call, frame: Frame
) -> Value:
    """Return the result of ``cut`` for a text; an unknown text if ``value`` is not a text, or too long."""
    is_short = isinstance(value, Text) and formatting.is_short(evaluator, value, frame.site(call))
    return cut(value) if isinstance(value, Text) and is_short else TEXT


def _imported(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    """Return the module of ``importlib.import_module("a.b")``; unknown for a computed or relative name."""
    if len(call.args) != 1:
        return UNKNOWN
    modules: list[Value] = []
    for option in options(evaluator.eval(call.args[0], frame)):
        name = option.literal if isinstance(option, Text) else None
        is_absolute = name is not None and all(part.isidentifier() for part in name.split("."))
        modules.append(evaluator.imported(frame.module, name, "") if name and is_absolute else UNKNOWN)
    return join(*modules)


def _super(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    """Return the result of ``super()``: an instance of the first base class."""
    cls = frame.scope.enclosing_class()
    if cls is None:
        return UNKNOWN
    match classes.ancestors(evaluator, ClassOf(frame.module, cls))[1:]:
        case (ClassOf() as base, *_):
            return Instance(base)
        case (External(name=name), *_) if name.endswith(builtin_names.ENCODERS):
            return ExternalInstance(name)
        case _:
            return UNKNOWN


def serialised_argument(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    """Return the result of ``json.dumps(x)``: a text that contains all of ``x``."""
    argument = call.args[0] if call.args else call.keyword(*builtin_names.SERIALISED_ARGUMENTS)
    if argument is None or isinstance(argument, facts.Star):
        return TEXT
    return serialised(evaluator.eval(argument, frame), frame.site(argument))


def _dumped_as_yaml(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    """Return the result of ``yaml.dump(x)``; unknown if it writes to a stream."""
    if len(call.args) > 1 or call.keyword(builtin_names.WRITTEN_TO) is not None:
        return UNKNOWN
    return serialised_argument(evaluator, call, frame)


def _parsed(name: str) -> Handler:
    """Return the handler of a parser such as ``json.loads``: for ``json.dumps(x)`` it returns ``x`` again."""

    def handler(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
        value = evaluator.eval(call.args[0], frame) if call.args else UNKNOWN
        if all(isinstance(option, SerialisedText) for option in options(value)):
            return over(value, lambda text: text.value if isinstance(text, SerialisedText) else text)
        return stub_calls.call(evaluator, name, call, frame) or UNKNOWN

    return handler


def _same_text(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    """Return the result of ``str(x)``: a text that contains ``x``."""
    if len(call.args) != 1:
        return TEXT
    value = formatting.own_text(evaluator, call.args[0], evaluator.eval(call.args[0], frame), frame)
    if is_text(value):
        return value
    if formatting.is_written_out(value):
        return serialised(value, frame.site(call.args[0]))
    return Text((Interpolation(value, frame.site(call)),))


def _tabulated(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    """Return the result of ``tabulate(rows)``: a text with lines between the cells, not the serialised ``rows``."""
    if not call.args or isinstance(call.args[0], facts.Star):
        return TEXT
    site = frame.site(call.args[0])
    return Text((Literal("|", site), Interpolation(evaluator.eval(call.args[0], frame), site)))


def _text_stream(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    """Return ``io.StringIO()`` as a list of the texts that are written to it."""
    initial = tuple(evaluator.entry(arg, frame) for arg in call.args[:1] if not isinstance(arg, facts.Star))
    return ListOf(initial, kind=builtin_names.TEXT_STREAM)


def _formatted(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    """Return the result of ``format(x, ".2f")``: a text that contains ``x``."""
    if not call.args or isinstance(call.args[0], facts.Star):
        return TEXT
    value, site = evaluator.eval(call.args[0], frame), frame.site(call.args[0])
    spec = literal_of(evaluator.eval(call.args[1], frame)) or "" if len(call.args) > 1 else None
    return Text(pieces(value, site, spec))


def _template(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    """Return an instance of ``string.Template``. Its text is in the place of a type argument."""
    text = evaluator.eval(call.args[0], frame) if len(call.args) == 1 else UNKNOWN
    return ExternalInstance(builtin_names.TEMPLATE, (text,) if isinstance(text, Text) else ())


_CLASS_CALLS = ("NamedTuple", "TypedDict")
CALLS: dict[str, Handler] = {
    "builtins.dict": _dict_call,
    **{
        f"builtins.{name}": _list_call
        for name in ("list", "tuple", "set", "frozenset", "sorted", "reversed", "iter")
    },
    "collections.deque": _deque,
    "functools.reduce": _reduce,
    "functools.partial": _partial,
    "functools.update_wrapper": _wrapper,
    "functools.wraps": lambda evaluator, call, frame: External("functools.update_wrapper"),
    **{name: _operator(op) for name, op in _OPERATORS.items()},
    "collections.OrderedDict": _dict_call,
    "builtins.min": _min_or_max,
    "builtins.max": _min_or_max,
    "builtins.next": _next,
    "builtins.abs": _abs,
    "builtins.round": _round,
    "builtins.sum": _sum,
    "itertools.chain.from_iterable": _flattened,
    "builtins.divmod": _divmod,
    "builtins.enumerate": _enumerate,
    "builtins.zip": _zip,
    "builtins.map": map_call,
    "builtins.filter": _filter,
    "builtins.getattr": _getattr,
    "builtins.super": _super,
    "builtins.str": _same_text,
    "builtins.repr": _same_text,
    "pprint.pformat": _same_text,
    "builtins.format": _formatted,
    "tabulate.tabulate": _tabulated,
    builtin_names.TEXT_STREAM: _text_stream,
    builtin_names.TEMPLATE: _template,
    **dict.fromkeys(builtin_names.SERIALISERS, serialised_argument),
    **dict.fromkeys(("yaml.dump", "yaml.safe_dump"), _dumped_as_yaml),
    **{name: _parsed(name) for name in builtin_names.PARSERS},
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
    "asyncio.to_thread": thread_call(0),
    "asyncio.gather": _gather,
    "textwrap.dedent": _dedent,
    "inspect.cleandoc": _clean,
}
