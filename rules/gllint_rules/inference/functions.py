"""The results of calls: of functions and classes of the project, envelopes, Quantities, names from outside."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gllint_rules.inference import annotations as hints
from gllint_rules.inference import (
    arguments,
    builtin_calls,
    builtin_names,
    file_texts,
    method_calls,
    objects,
    stub_calls,
    unit_objects,
    wrapping,
)
from gllint_rules.inference.execution import execute
from gllint_rules.inference.values import (
    NEVER,
    NONE,
    TEXT,
    UNKNOWN,
    ClassOf,
    Container,
    Env,
    External,
    ExternalInstance,
    Flow,
    Frame,
    FunctionOf,
    Instance,
    Interpolation,
    ListOf,
    Method,
    Number,
    Record,
    SerialisedText,
    Site,
    Text,
    ToolValue,
    Value,
    explained,
    is_scalar,
    is_text,
    join,
    moved,
    number,
    options,
    over,
    passed_on,
    returned_at,
)
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Function
from gllint_rules.words.names import QUANTITY

if TYPE_CHECKING:
    from gllint_rules.inference.protocol import Evaluator


def call(evaluator: Evaluator, expr: facts.Call, frame: Frame) -> Value:
    """Return the result of a call, for all values that its callee may have."""
    tool = evaluator.tools.made_tool(frame.module, expr, frame.scope)
    if tool is not None:
        return ToolValue(tool)
    if facts.last_name(expr.func) in file_texts.READERS:
        text = file_texts.read(evaluator, expr, frame)
        if text is not None:
            return text
    choices = options(evaluator.eval(expr.func, frame))
    if len(choices) > 1:  # a call of `None` would raise
        choices = tuple(option for option in choices if option is not NONE)
    results = [called(evaluator, option, expr, frame) for option in choices]
    if len(results) > 1 and UNKNOWN in results and isinstance(expr.func, facts.Name):
        if any(binding.kind == "import" for binding in frame.scope.find(expr.func.id)):
            # The replacement of a function that cannot be imported returns what that would return.
            own = [isinstance(option, (FunctionOf, ClassOf)) for option in choices]
            definite = [v for v, is_own in zip(results, own, strict=True) if is_own or v is not UNKNOWN]
            results = definite or results
    return join(*results)


def called(evaluator: Evaluator, callee: Value, expr: facts.Call, frame: Frame) -> Value:
    """Return the result of a call of ``callee``."""
    of_units = unit_objects.called(evaluator, callee, expr, frame)
    if of_units is not None:
        return of_units
    match callee:
        case FunctionOf():
            return call_function(evaluator, callee, expr, frame)
        case ToolValue(tool=tool) if tool.called is not None:
            return call_function(evaluator, tool.called, expr, frame)
        case ClassOf():
            return objects.construct(evaluator, callee, expr, frame)
        case External(name=name):
            return call_external(evaluator, name, expr, frame)
        case Method():
            return method_calls.call_method(evaluator, callee, expr, frame)
        case Instance(of=of):
            method = evaluator.class_member(of, "__call__")
            if isinstance(method, FunctionOf):
                return call_function(evaluator, replace(method, first=True), expr, frame)
            return UNKNOWN
        case _:
            return method_calls.call_unknown(evaluator, expr, frame) if callee is UNKNOWN else UNKNOWN


def call_external(evaluator: Evaluator, name: str, expr: facts.Call, frame: Frame) -> Value:
    """Return the result of a call of a name from outside the project, UNKNOWN if nothing shows it."""
    if unit_objects.keeps_quantity(evaluator, name, expr, frame):
        return unit_objects.made_at(frame.site(expr))
    # In the order of certainty: exact tables first, stubs next, conventions of names last.
    handler = builtin_calls.CALLS.get(name)
    if handler is not None:
        return handler(evaluator, expr, frame)
    last = name.rpartition(".")[2]
    if last == QUANTITY:
        return objects.quantity(evaluator, expr, frame, None)
    payload = evaluator.tools.payload(name)
    if payload is not None:
        return objects.envelope(evaluator, payload, expr, frame)
    if name in builtin_names.SAME_CALLS and expr.args:
        return evaluator.eval(expr.args[0], frame)
    if name in builtin_names.NUMBERS_OF_ARRAYS or name in builtin_names.ELEMENTWISE:
        return _of_arrays(evaluator, name, expr, frame)
    place = builtin_names.NEARLY_SAME_TEXT_CALLS.get(name)
    if place is not None and place < len(expr.args):
        text = evaluator.eval(expr.args[place], frame)
        if is_text(text):
            return text
    result = stub_calls.call(evaluator, name, expr, frame)
    if result is not None:
        return result
    # A capital letter means a class by convention: the result is an instance of it, with unknown attributes.
    if last[:1].isupper() or name in builtin_names.ARRAY_CALLS:
        return ExternalInstance(name)
    return method_calls.looked_up(evaluator, expr, frame) or UNKNOWN


def _of_arrays(evaluator: Evaluator, name: str, expr: facts.Call, frame: Frame) -> Value:
    """Return the number that a NumPy function gives for numbers or for a whole array; unknown if it gives an array."""
    if name in builtin_names.ELEMENTWISE:
        values = [evaluator.eval(arg, frame) for arg in expr.args]
        if values and all(isinstance(value, Number) for value in values):
            return evaluator.number(f"`{name}()` of a number is one", frame, expr.at, *values)
        return UNKNOWN
    if (
        len(expr.args) > builtin_names.NUMBERS_OF_ARRAYS[name]
        or expr.keyword("axis", "keepdims", "size") is not None
    ):
        return UNKNOWN
    # One quantile is a number, a list of them an array.
    if name in builtin_names.ORDER_REDUCTIONS:
        place = expr.args[1] if len(expr.args) > 1 else expr.keyword("q")
        if place is None or number(evaluator.eval(place, frame)) is None:
            return UNKNOWN
    return evaluator.number(f"`{name}()` gives a number", frame, expr.at)


def call_function(
    evaluator: Evaluator,
    callee: FunctionOf,
    expr: facts.Call | None = None,
    frame: Frame | None = None,
) -> Value:
    """Return the result of a function of the project, for the call ``expr`` in ``frame`` if these are given."""
    function = callee.function
    if isinstance(function, facts.Lambda):
        value = _lambda_result(evaluator, callee, function, expr, frame)
    else:
        decorators = [facts.last_name(d) for d in function.decorators]
        # Such a decorator returns something else than the function.
        if not builtin_names.OPAQUE_DECORATORS.isdisjoint(decorators):
            return UNKNOWN
        declared = declared_return(evaluator, callee)
        if declared is not None and is_scalar(declared):
            # The annotation says that it is text, the body says which one.
            if all(isinstance(option, Text) or option is NONE for option in options(declared)):
                return _returned_texts(evaluator, callee, declared, expr, frame)
            return explained(declared, f"`{function.name}()` is annotated to return a number")
        wrapped = wrapping.wrapped(evaluator, callee, expr, frame) if expr and frame else None
        if wrapped is not None:
            return wrapped
        overridden = _overridden(evaluator, callee, expr, frame)
        value = overridden if overridden is not None else function_result(evaluator, callee)
        if overridden is None and expr is not None and frame is not None:
            value = _specialised(evaluator, callee, expr, frame, value)
        if declared is not None:
            value = _declared_result(evaluator, value, declared)
        managed = next(
            (
                builtin_names.CONTEXT_DECORATORS[d]
                for d in decorators
                if d in builtin_names.CONTEXT_DECORATORS
            ),
            None,
        )
        if managed is not None:
            value = ExternalInstance(managed, (value.element() if isinstance(value, ListOf) else UNKNOWN,))
    if expr is not None and frame is not None and callee.module is not frame.module:
        # The project cannot change other packages, so findings are reported at the call.
        if not evaluator.modules.owns(callee.module.path):
            evaluator.step(value.size // 64)
            value = moved(value, frame.site(expr))
    return value


def _overridden(
    evaluator: Evaluator, callee: FunctionOf, expr: facts.Call | None, frame: Frame | None
) -> Value | None:
    """Return the results of all overrides of an empty method; unknown if it is abstract and has none.

    None for any other function: its own body decides.
    """
    function, of = callee.function, callee.bound
    if of is None or not isinstance(function, Function) or not _is_empty(function):
        return None
    if evaluator.tools.is_tool_class(of):  # each subclass is a tool, with its own result
        return None
    overrides = evaluator.tools.overrides(of, function.name)
    if overrides:
        return join(*(call_function(evaluator, override, expr, frame) for override in overrides))
    is_abstract = "abstractmethod" in map(facts.last_name, function.decorators)
    raises = any(isinstance(s, facts.Do) and s.kind == "raise" for s in function.body)
    is_protocol = any(facts.last_name(base) == "Protocol" for base in of.cls.bases)
    return UNKNOWN if is_abstract or raises or is_protocol else None


def _is_empty(function: Function) -> bool:
    """Return whether a body only raises or does nothing: a docstring, ``...``, ``pass``, ``raise
    NotImplementedError``.
    """
    return all(
        isinstance(statement, facts.Do)
        and (
            statement.kind == "raise"
            or all(isinstance(v, (facts.Const, facts.Join)) for v in statement.values)
        )
        for statement in function.body
    )


def lifespan(evaluator: Evaluator, module: facts.Module) -> Value:
    """Return what the ``lifespan`` functions of the servers in ``module`` and its imports yield."""
    resources: list[Value] = []
    for home in _module_and_imports(evaluator, module):
        for call, scope in home.calls_of(builtin_names.SERVERS):
            argument = call.keyword("lifespan")
            value = evaluator.eval(argument, Frame(home, scope)) if argument is not None else UNKNOWN
            if isinstance(value, FunctionOf):
                site = Site(home, call.at)
                resources.append(stub_calls.entered(call_function(evaluator, value), site))
    return join(*resources) if resources else UNKNOWN


def _module_and_imports(evaluator: Evaluator, module: facts.Module) -> Iterator[facts.Module]:
    """Yield the module and those of the project that it imports from."""
    visited = {module.path}
    yield module
    for bindings in module.scope.bindings.values():
        for dotted in {binding.module for binding in bindings if binding.kind == "import"}:
            other = evaluator.module_named(dotted, module)
            if other is not None and other.path not in visited:
                visited.add(other.path)
                yield other


def _lambda_result(
    evaluator: Evaluator,
    callee: FunctionOf,
    function: facts.Lambda,
    expr: facts.Call | None,
    frame: Frame | None,
) -> Value:
    """Return the result of a lambda for the arguments of a call, or for any arguments if calls are nested too deep."""
    key = (function, expr)
    # A recursive call adds nothing to the outcome.
    if evaluator.executes(key):
        return NEVER
    names: Env = {}
    if expr is not None and frame is not None:
        leading = arguments.arguments_of(evaluator, expr, frame, callee.leading)
        places = [param for param in function.params if param.kind in ("positional", "any")]
        for param, entry in zip(places, leading.places, strict=False):
            names[param.name] = entry.value
        for param in function.params:
            if param.name in leading.named.sure:
                names[param.name] = leading.named.get(param.name) or UNKNOWN
    inner = Frame(callee.module, function.scope, names or None, callee.bound)
    value = evaluator.executed(key, lambda: evaluator.eval(function.body, inner), None)
    return join(*[value for _, value in evaluator.flow(callee).returns]) if value is None else value


def _returned_texts(
    evaluator: Evaluator,
    callee: FunctionOf,
    declared: Value,
    expr: facts.Call | None,
    frame: Frame | None,
) -> Value:
    """Return the texts that a function annotated with ``str`` or ``str | None`` returns."""
    if declared is NONE:
        return NONE
    value = function_result(evaluator, callee)
    # An argument of the call may be filled into the text.
    if expr is not None and frame is not None:
        if any(_may_tell_more(option) for option in options(value)):
            value = _specialised(evaluator, callee, expr, frame, value)
    results = [option for option in options(value) if option is not NONE]
    texts = [option if isinstance(option, Text) else TEXT for option in results]
    return join(*(texts or [TEXT]), *(option for option in options(declared) if option is NONE))


def _may_tell_more(value: Value) -> bool:
    """Return whether the arguments of a call may be part of a text."""
    return isinstance(value, SerialisedText) or (isinstance(value, Text) and value.is_partly_unknown)


def _writes_what_it_gets(evaluator: Evaluator, call: facts.Call, frame: Frame, value: Value) -> bool:
    """Return whether a call may fill numbers into the texts that a function returns.

    Only for numbers it is worth executing the function again.
    """
    if not _has_gaps(value):
        return False
    exprs = (*call.args, *(argument for _, argument in call.keywords))
    values = [evaluator.eval(argument, frame) for argument in exprs]
    return any(
        isinstance(part, Number) or arguments.states_numbers(part)
        for value in values
        for part in _contents(value, 3)
    )


def _has_gaps(value: Value) -> bool:
    """Return whether a value is or contains a text with an unknown part."""
    return any(isinstance(part, Text) and part.is_partly_unknown for part in _contents(value, 3))


def _contents(value: Value, depth: int, is_into_texts: bool = False) -> Iterator[Value]:
    """Yield a value and its elements, ``depth`` containers deep; ``is_into_texts``: also the values in texts."""
    for option in options(value):
        yield option
        parts: Iterable[Value] = ()
        if depth and isinstance(option, Container) and option.size <= arguments.MOST_LOOKED_THROUGH:
            parts = option.values()
        elif depth and is_into_texts and isinstance(option, Text):
            parts = (part.value for part in option.parts or () if isinstance(part, Interpolation))
        for part in parts:
            yield from _contents(part, depth - 1, is_into_texts)


def _specialised(
    evaluator: Evaluator, callee: FunctionOf, expr: facts.Call, frame: Frame, general: Value
) -> Value:
    """Return the result for the arguments of this call, if they say more than the annotations of the parameters.

    Otherwise return ``general``, the result for any arguments.
    """
    function = callee.function
    assert isinstance(function, Function)
    passed_on = _hands_out_what_it_gets(evaluator, callee, general) or _hands_out_fields(callee, function)
    is_open = general.gap or passed_on or _depends_on_receiver(evaluator, callee, general)
    if not (is_open or _writes_what_it_gets(evaluator, expr, frame, general)):
        return general
    env = arguments.parameter_values(evaluator, callee, expr, frame, passed_on)
    if callee.receiver is not None and function.params:
        env = {function.params[0].name: callee.receiver, **env}
    if not env:
        return general
    site = frame.site(expr)
    flow = evaluator.executed((function, expr), lambda: execute(evaluator, callee, env), site)
    if flow is not None and function.yields:
        return _yielded(flow)
    # Too deep or too large to execute for this call: what it gives for any call is true here, too.
    if flow is None or not flow.returns:
        return general
    return join(*(_of_call(callee, expr, value, env) for expr, value in flow.returns))


def _hands_out_what_it_gets(evaluator: Evaluator, callee: FunctionOf, value: Value) -> bool:
    """Return whether a function may return an object that it received, perhaps in a container.

    An argument may be of a more specific class than the annotation says.
    """
    kinds = set(_kinds_in(value))
    if not kinds:
        return False
    # A method that returns `self`, or a copy of it, returns the known fields of its receiver.
    maker = callee.receiver.of if isinstance(callee.receiver, Record) else None
    if maker is not None and maker.cls in kinds:
        return True
    return any(
        not kinds.isdisjoint(_kinds_in(arguments.declared(evaluator, callee, param)))
        for param in callee.function.params
    )


def _depends_on_receiver(evaluator: Evaluator, callee: FunctionOf, value: Value) -> bool:
    """Return whether a method should be executed again for its receiver: it returns containers with unknown texts."""
    if callee.receiver is None:
        return False
    containers = [option for option in options(value) if isinstance(option, Container)]
    return any(_holds_open_text(option) for option in containers) and any(
        isinstance(option, Text)
        for param in callee.function.params
        for option in options(arguments.declared(evaluator, callee, param))
    )


def _holds_open_text(value: Value) -> bool:
    """Return whether a value is or contains an unknown text, also inside another text."""
    return any(isinstance(part, Text) and part.parts is None for part in _contents(value, 3, True))


def _hands_out_fields(callee: FunctionOf, function: Function) -> bool:
    """Return whether a function dumps objects, which may be its arguments, to dicts: ``model_dump()``."""
    part = callee.module.section_of(function.at)
    return not builtin_names.DUMPS.isdisjoint(part.section.calls) and any(
        facts.last_name(call.func) in builtin_names.DUMPS and scope.enclosing_function() is function
        for call, scope in part.calls
    )


def _kinds_in(value: Value, depth: int = 3) -> Iterator[facts.Class | str]:
    """Yield the classes of the objects in ``value``; a class of another package by its name."""
    for option in options(value):
        match option:
            case SerialisedText():
                yield from _kinds_in(option.value, depth)
            case Instance():
                yield option.of.cls
            case ExternalInstance():
                yield option.name
            case Container() if depth:
                for part in option.values():
                    yield from _kinds_in(part, depth - 1)


def _of_call(callee: FunctionOf, expr: facts.Expr, value: Value, env: Env) -> Value:
    """Return the value of a ``return`` with the place of that; an argument that is only passed on keeps its place."""
    inputs = {option for argument in env.values() for option in options(argument)}
    site = Site(callee.module, expr.at)
    name = getattr(callee.function, "name", "")
    if not inputs.isdisjoint(options(value)):
        return passed_on(value, f"`{name}()` returns it", site)
    return _handed_out(value, f"`{name}()` returns it", site)


def _declared_result(evaluator: Evaluator, value: Value, declared: Value) -> Value:
    """Return the result that the body shows; what the body leaves unknown is taken from the annotation."""
    if value is NEVER or (value is NONE and NONE not in options(declared)):
        return declared
    return join(*(hints.typed(evaluator, option, declared, followed=True) for option in options(value)))


def declared_return(evaluator: Evaluator, callee: FunctionOf) -> Value | None:
    """Return the value that the return annotation of a function declares; ``None`` without an annotation."""
    function = callee.function
    if isinstance(function, facts.Lambda) or function.returns is None:
        return None
    return evaluator.annotation(function.returns, callee.home)


def function_result(evaluator: Evaluator, callee: FunctionOf) -> Value:
    """Return all that the function can return, from its body."""
    function = callee.function
    assert isinstance(function, Function)
    flow = evaluator.flow(callee)
    if flow.result is None:
        if flow.open:  # a recursive call: the other returns decide
            flow.result = NEVER
        elif function.yields:
            flow.result = _yielded(flow)
        elif flow.returns:
            message = f"`{function.name}()` returns it"
            inputs = {option for value in flow.parameters for option in options(value)}
            flow.result = join(
                *(
                    _handed_out(value, message, Site(callee.module, expr.at), inputs)
                    for expr, value in flow.returns
                )
            )
        else:  # an empty body says nothing about the results of overrides
            flow.result = NONE if flow.falls_through and not _is_empty(function) else NEVER
    return flow.result


def _yielded(flow: Flow) -> Value:
    """Return the iterator of a generator function."""
    values = [value for _, value in flow.yields]
    return ListOf(rest=join(*values) if values else UNKNOWN, kind="generator")


def _handed_out(value: Value, message: str, site: Site, inputs: Collection[Value] = ()) -> Value:
    """Return a value with the place ``site``, where it is returned; values in ``inputs`` keep their own place."""
    return over(
        passed_on(value, message, site),
        lambda option: option if option in inputs else returned_at(option, site),
    )
