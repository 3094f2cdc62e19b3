"""The results of calls, operators and subscripts of the standard library, by what its stubs declare.

In: a full name or a value, and the arguments as values. Out: a value; :data:`UNKNOWN` where the stubs say nothing,
``None`` where they do not know the name. The arguments bind the type variables, and choose among overloads.
:mod:`~gllint_rules.stubs.declarations` defines the form of signatures, parameters and types.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gllint_rules import stubs
from gllint_rules.inference import builtin_names
from gllint_rules.inference.stub_values import (
    NUMBER_CLASSES,
    Declaration,
    TypeBindings,
    class_and_arguments,
    class_bindings,
    instance_of,
    item_of,
    number_of,
    short_name,
    type_argument,
    value_of,
    variable,
)
from gllint_rules.inference.values import (
    NEVER,
    NONE,
    TEXT,
    UNKNOWN,
    Boolean,
    External,
    ExternalInstance,
    Frame,
    FunctionOf,
    Instance,
    ListOf,
    Number,
    Record,
    Site,
    Text,
    UnionOf,
    Value,
    join,
    options,
)
from gllint_rules.reading import facts
from gllint_rules.stubs import Type
from gllint_rules.tuples import NamedTuple

if TYPE_CHECKING:
    from gllint_rules.inference.protocol import Evaluator

# Kinds of parameters; 0 is positional alone. 8 is added to the kind of one that has a default.
_ANY, _KEYWORD, _STAR, _DOUBLE_STAR = 1, 2, 3, 4
_KIND = 7


class _Arguments:
    """The arguments of a call, evaluated once, on demand."""

    def __init__(self, read: Callable[[], _ArgumentValues]) -> None:
        self.read = read

    @cached_property
    def values(self) -> _ArgumentValues:
        return self.read()


class _ArgumentValues(NamedTuple):
    """The arguments in their place, those by name, and whether there are more that are not written out."""

    placed: list[Value]
    named: list[tuple[str, Value]]
    spread: bool = False


def _written(evaluator: Evaluator, call: facts.Call, frame: Frame) -> _Arguments:
    """Return the arguments of a call, evaluated once they are needed; of ``f(a, *b, c)`` only ``a`` has a position."""

    def read() -> _ArgumentValues:
        named = [(name, evaluator.eval(arg, frame)) for name, arg in call.keywords if name is not None]
        return _ArgumentValues([evaluator.eval(arg, frame) for arg in call.placed()], named, call.spreads())

    return _Arguments(read)


def call(evaluator: Evaluator, name: str, expr: facts.Call, frame: Frame) -> Value | None:
    """Return the result of a call of a full name: ``time.time`` → a number; ``None`` if the stubs do not know it."""
    at = Declaration(frame.site(expr), f"`{short_name(name)}()` gives a number")
    return _call_by_name(name, _written(evaluator, expr, frame), at)


def _call_by_name(name: str, arguments: _Arguments, at: Declaration) -> Value | None:
    """Return the result of a call of a full name: ``os.getcwd`` → a text; ``None`` if the stubs do not know it."""
    if name in builtin_names.NUMBER_CALLS:
        return number_of(at)
    if name in builtin_names.TEXT_CALLS:
        return TEXT
    declaration = stubs.find(name)
    if declaration is None:
        return None
    if (
        declaration.kind == "inner"
    ):  # an attribute of a class (`str.count`) or of a variable (`os.environ.get`)
        head, _, tail = declaration.name.rpartition(".")
        owner = stubs.find(head)
        if owner is not None and owner.kind == "class":
            return _class_method(owner.name, tail, arguments, at)
        holder = variable(head, at)
        return _method(holder, tail, arguments, at) if holder is not None else None
    match declaration.kind:
        case "class":
            return _constructed(declaration.name, arguments, at)
        case "f":  # a function
            return _result(declaration.type, TypeBindings(), arguments, at)
        case "m" | "c" | "s":  # a method, class method or static method
            owner_name, _, tail = declaration.name.rpartition(".")
            return _class_method(owner_name, tail, arguments, at)
        case _ if (
            isinstance(declaration.type, list) and declaration.type[0] == "()"
        ):  # a variable: a callable
            return value_of(declaration.type[1], TypeBindings(), at)
        case _:  # a variable: an object that may have `__call__`
            value = value_of(declaration.type, TypeBindings(), at)
            return _method(value, "__call__", arguments, at)


def _class_method(name: str, attribute: str, arguments: _Arguments, at: Declaration) -> Value | None:
    """Return the result of a method that is called on its class: ``str.count(text, "a")``, ``date.today()``.

    ``None`` if the class has no such method.
    """
    member = stubs.member(name, attribute)
    if member is None or member.kind == "a":
        return None
    if member.kind == "m":  # the first argument is the instance
        placed, named, spread = arguments.values
        rest = _Arguments(lambda: _ArgumentValues(placed[1:], named, spread))
        return _method(placed[0], attribute, rest, at) if placed else UNKNOWN
    bindings = TypeBindings(this=instance_of(name, (), at))
    return _result(member.type, bindings, arguments, at)


def method(evaluator: Evaluator, value: Value, name: str, expr: facts.Call, frame: Frame) -> Value | None:
    """Return the result of calling a method of ``value``: a text, ``split`` → texts; ``None`` if it is not known."""
    evaluator.step(value.size // 64)  # to join 64 elements costs one step
    at = Declaration(frame.site(expr), f"`.{name}()` gives a number")
    return _method(value, name, _written(evaluator, expr, frame), at)


def special(value: Value, name: str, operands: tuple[Value, ...], site: Site) -> Value | None:
    """Return the result of a special method such as ``__sub__`` of ``value``; ``None`` if the stubs do not know it."""
    arguments = _Arguments(lambda: _ArgumentValues(list(operands), []))
    return _method(value, name, arguments, Declaration(site, f"`{name}` gives a number"))


def _method(value: Value, name: str, arguments: _Arguments, at: Declaration) -> Value | None:
    """Return the result of a method of a value: a date, ``isoformat`` → a text.

    ``None`` if the stubs do not describe the class of the value, or, of a union, of one of its options.
    """
    if isinstance(value, UnionOf):
        # A method call on None raises, so None does not contribute a result.
        results = [_method(option, name, arguments, at) for option in value.options if option is not NONE]
        values = [result for result in results if result is not None]
        return join(*values) if len(values) == len(results) and values else None
    if isinstance(value, Number):  # of any of the classes of numbers
        results = [_method_of(number, (), value, name, arguments, at) for number in NUMBER_CLASSES]
        values = [result for result in results if result is not None]
        return join(*values) if values else None
    generic = class_and_arguments(value, name)
    return _method_of(*generic, value, name, arguments, at) if generic is not None else None


def _method_of(
    name: str,
    type_arguments: tuple[Value, ...],
    this: Value,
    attribute: str,
    arguments: _Arguments,
    at: Declaration,
) -> Value | None:
    """Return the result of method ``attribute`` of the class ``name``, called on ``this``; ``None`` without one."""
    member = stubs.member(name, attribute)
    if member is None or member.kind == "a":
        return None
    bindings = replace(class_bindings(name, type_arguments), this=this)
    return _result(
        member.type,
        bindings,
        arguments,
        replace(at, why=f"`{short_name(name)}.{attribute}()` gives a number"),
    )


def _constructed(name: str, arguments: _Arguments, at: Declaration) -> Value:
    """Return the instance that calling a class makes, with its type arguments: ``deque([1])`` → a deque of numbers."""
    variables = stubs.variables(name)
    if not variables:
        return instance_of(name, (), at)
    candidates: dict[str, list[Value]] = {variable: [] for variable in variables}
    for special_name in ("__new__", "__init__"):
        maker = stubs.member(name, special_name)
        # `object` takes anything and says nothing of type variables.
        if maker is None or maker.owner == "builtins.object":
            continue
        for signature in maker.type:
            bindings = TypeBindings()
            fits = _fits(signature, bindings, arguments)
            if fits is False:
                continue
            for type_variable, value in _type_arguments(name, special_name, signature, bindings, at):
                candidates[type_variable].append(value)
            if fits:
                break
    type_arguments = (join(*values) if values else UNKNOWN for values in candidates.values())
    return instance_of(name, tuple(UNKNOWN if value is NEVER else value for value in type_arguments), at)


def _type_arguments(
    name: str, maker: str, signature: list[Type], bindings: TypeBindings, at: Declaration
) -> Iterator[tuple[str, Value]]:
    """Yield the type variables of a class with what a signature of ``__new__`` or ``__init__`` makes of them.

    ``def __init__(self: dict[str, V], **values: V)`` declares the first variable of ``dict`` as a text.
    """
    # The instance is declared as `self` (the third part), or as what `__new__` returns.
    form = signature[2] if len(signature) > 2 else signature[1] if maker == "__new__" else None
    if isinstance(form, list) and form[0] == "type":  # `cls: type[…]`
        form = form[1]
    variables = stubs.variables(name)
    if isinstance(form, list) and stubs.full(str(form[0])) == name:
        for variable, part in zip(variables, form[1:], strict=False):
            yield variable, value_of(part, bindings, at)
    else:
        for variable in variables:
            yield variable, bindings.cls.get(variable, NEVER)


def _result(
    signatures: list[list[Type]], bindings: TypeBindings, arguments: _Arguments, at: Declaration
) -> Value:
    """Return the joined results of the overloads that the arguments may fit, up to the first that they surely fit."""
    results: list[Value] = []
    same = _same_parameters(signatures)
    for signature in signatures:
        if signature[0] is None:  # without parameters: the result is the same for all arguments
            return value_of(signature[1], bindings, at)
        inner = TypeBindings(dict(bindings.cls), {}, bindings.this)
        fits = _fits(signature, inner, arguments, same)
        if fits is False:
            continue
        results.append(value_of(signature[1], inner, at))
        if fits:  # a type checker chooses it, too
            break
    # A call that fits no overload raises, or the stubs are older than the library: its result is unknown.
    result = join(*results)
    return UNKNOWN if result is NEVER else result


def _same_parameters(signatures: list[list[Type]]) -> dict[str, Type]:
    """Return the parameters that all overloads declare alike: their arguments do not choose among the overloads.

    ``f(x: int, y: int)`` and ``f(x: int, y: str)`` → ``{"x": "int"}``
    """
    types: list[dict[str, Type]] = [
        {name: form for name, kind, form in signature[0] or () if kind & _KIND < _STAR}
        for signature in signatures
    ]
    return {name: form for name, form in types[0].items() if all(other.get(name) == form for other in types)}


def _fits(
    signature: list[Type], bindings: TypeBindings, arguments: _Arguments, same: Collection[str] = ()
) -> bool | None:
    """Return whether the arguments fit the parameters of a signature; ``None`` if that is unknown.

    Binds the type variables of the parameters in ``bindings``. Parameters in ``same`` have no say.
    """
    pairs = _pairs(signature[0] or [], arguments.values)
    if pairs is None:
        return False
    if len(signature) > 2 and bindings.this is not UNKNOWN:  # `self` is declared as a type
        if _takes(signature[2], bindings.this, bindings) is False:
            return False
    # The length of a spread is unknown, so it is never sure that all parameters have an argument.
    is_fit: bool | None = None if arguments.values.spread else True
    for (name, _, form), value in pairs:
        fit = _takes(form, value, bindings)  # also for those in `same`, because it binds type variables
        if name in same:
            continue
        if fit is False:
            return False
        is_fit = is_fit and fit if fit is not None else None
    return is_fit


def _pairs(params: list[Type], arguments: _ArgumentValues) -> list[tuple[Type, Value]] | None:
    """Return each argument with its parameter: ``f(1, b=2)`` of ``def f(a, b)`` → ``[(a, 1), (b, 2)]``.

    ``None`` if there is an argument without a parameter, or the reverse.
    """
    pairs: list[tuple[Type, Value]] = []
    places = [param for param in params if param[1] & _KIND < _KEYWORD]
    star = next((param for param in params if param[1] == _STAR), None)
    for i, value in enumerate(arguments.placed):
        param = places[i] if i < len(places) else star
        if param is None:
            return None
        pairs.append((param, value))
    filled = {param[0] for param in places[: len(arguments.placed)]}
    by_name = {
        param[0]: param for param in params if param[1] & _KIND in (_ANY, _KEYWORD) and param[0] not in filled
    }
    double_star = next((param for param in params if param[1] == _DOUBLE_STAR), None)
    for name, value in arguments.named:
        param = by_name.get(name, double_star)
        if param is None:
            return None
        pairs.append((param, value))
        filled.add(param[0])
    # Below `_STAR` are the kinds of parameters that have no default.
    if not arguments.spread and any(param[1] < _STAR and param[0] not in filled for param in params):
        return None
    return pairs


def _takes(form: Type, value: Value, bindings: TypeBindings) -> bool | None:
    """Return whether a parameter declared as ``form`` takes ``value``: ``["|", "int", "None"]`` takes 5.

    ``None`` if that is unknown. Binds the type variables in ``form``: 5 for ``["~", "T"]`` makes ``T`` a number.
    """
    if isinstance(value, UnionOf):
        # If one option fits and another does not, which one it is shows only at run time.
        fits = [_takes(form, option, bindings) for option in value.options]
        return fits[0] if all(fit is fits[0] for fit in fits) else None
    match form:
        case "?":
            return True
        case ["~" | "^" as mark, name, *bound]:
            fit = _takes(bound[0], value, bindings) if bound else True
            if fit is not False:
                variables = bindings.variables(mark)
                variables[name] = join(variables[name], value) if name in variables else value
            return fit
        case ["|", *parts]:
            return _takes_one(parts, value, bindings)
    if value is UNKNOWN or value is NEVER:
        return None
    match form:
        case "None":
            return value is NONE
        case "self":
            return _same_class(bindings.this, value)
        case ["=", literal]:
            return _is_literal(literal, value)
        case ["()", result]:
            return _takes_callable(result, value, bindings)
        case ["type", *_]:
            return None if isinstance(value, (External, Instance)) or value is UNKNOWN else False
    if value is NONE:
        return False
    name, parts = (form[0], form[1:]) if isinstance(form, list) else (form, [])
    return _takes_instance(stubs.full(name), parts, value, bindings)


def _takes_one(parts: list[Type], value: Value, bindings: TypeBindings) -> bool | None:
    """Return whether a part of a union takes the value; ``None`` if that is unknown.

    Type variables come last: None for ``T | None`` leaves ``T`` unbound.
    """
    outcome: bool | None = False
    variables = [part for part in parts if isinstance(part, list) and part[0] == "~"]
    for part in (part for part in parts if part not in variables):
        fit = _takes(part, value, bindings)
        if fit:
            return True
        if fit is None:
            outcome = None
    for part in variables:
        fit = _takes(part, value, bindings)
        if fit is not False:
            return fit if outcome is False else None
    return outcome


def _is_literal(literal: object, value: Value) -> bool | None:
    """Return whether a value is a literal of a type: for ``Literal["r"]``, ``"r"`` is and 5 is not.

    ``None`` if that is not known, as of a text of unknown content.
    """
    match value:
        case External() | Instance():
            return None
        case Text(is_bytes=False) | Number() | Boolean() if type(literal) is _kind_of_literal(value):
            return value.literal == literal if value.literal is not None else None
        case _:
            return False


def _kind_of_literal(value: Text | Number | Boolean) -> type:
    return str if isinstance(value, Text) else int if isinstance(value, Number) else bool


def _takes_callable(result: Type, value: Value, bindings: TypeBindings) -> bool | None:
    """Return whether a parameter declared as a callable takes the value; ``None`` if that is unknown.

    Binds the type variables in the ``result`` of the callable: ``int`` for ``Callable[..., T]`` makes ``T`` a number.
    """
    match value:
        case External(name=name):
            any_arguments = _Arguments(lambda: _ArgumentValues([], [], spread=True))
            at = Declaration(None, f"`{short_name(name)}()` gives a number")
            outcome = _call_by_name(name, any_arguments, at)
            _takes(result, outcome if outcome is not None else UNKNOWN, bindings)
            return True
        case FunctionOf():
            _takes(result, UNKNOWN, bindings)
            return True
        case Number() | Text() | Boolean() | ListOf() | Record():
            return False
        case _:
            return None


def _same_class(this: Value, value: Value) -> bool | None:
    generic, other = class_and_arguments(this), class_and_arguments(value)
    if generic is None or other is None:
        return None
    return stubs.derives(other[0], generic[0])


def _takes_instance(name: str, parts: list[Type], value: Value, bindings: TypeBindings) -> bool | None:
    """Return whether a parameter declared as the class ``name`` takes the value; ``None`` if that is not known.

    ``typing.Iterable`` with the type arguments ``parts`` ``[["~", "T"]]`` takes ``[5]``, and ``T`` becomes a number.
    """
    if name == "builtins.object":
        return True
    shape = stubs.shape(name)
    if shape == "awaitable" and not isinstance(value, ExternalInstance):
        # The call of an `async def` counts as its result already, so the value is that of the awaitable.
        _bind_all(parts[-1:], [value], bindings)
        return True
    match value:
        case Number():
            if shape == "number":
                # An `int` fits a `float`; whether an unknown number is an `int` or a `Decimal` is not known.
                return True if name == "builtins.float" or value.literal is not None else None
            return None if stubs.is_protocol(name) and not _iterates(name) else False
        case Boolean():
            return shape in ("bool", "number") or (None if stubs.is_protocol(name) else False)
        case External() | FunctionOf() | Instance():
            return None
    generic = class_and_arguments(value)
    if generic is None:
        return None
    cls, arguments = generic
    if isinstance(value, ListOf) and name == "builtins.tuple" and value.items and value.rest is None:
        if len(parts) != len(value.items):
            return False
        _bind_all(parts, [entry.value for entry in value.items], bindings)
        return None if value.kind == "list" else True
    at = Declaration(None, "an argument's element")
    substitution = stubs.lineage(cls).get(name)
    if substitution is not None:  # `cls` derives from `name`
        own = class_bindings(cls, arguments)
        elements = [value_of(substitution.get(v, "?"), own, at) for v in stubs.variables(name)]
        _bind_all(parts, elements, bindings)
        return True
    if name == "_typeshed.SupportsKeysAndGetItem" and isinstance(
        value, Record
    ):  # the protocol of `dict(mapping)`
        _bind_all(parts, list(arguments), bindings)
        return True
    members = stubs.wanted(name)
    if members:
        return _has_members(name, members, parts, value, bindings)
    if stubs.is_protocol(name):
        return False if _iterates(name) and not stubs.derives(cls, "typing.Iterable") else None
    # An instance declared as a base class may be of a derived one, and a class with unknown bases of any.
    if stubs.derives(name, cls) or not stubs.is_class(cls) or "?" in stubs.lineage(cls):
        return None
    return False


def _has_members(
    name: str, members: list[str], parts: list[Type], value: Value, bindings: TypeBindings
) -> bool | None:
    """Return whether ``value`` has the ``members`` of the protocol ``name``; ``None`` if that is not known.

    Binds the type variables in its type arguments ``parts``: a date for ``SupportsSub[T, V]``, with
    ``date.__sub__(self, other: T) -> V``, makes ``V`` a timedelta.
    """
    generic = class_and_arguments(value)
    if generic is None:
        return None
    # A member may lead back here: an iterator is the result of its own `__iter__`.
    if (name, generic[0]) in bindings.protocols:
        return True
    protocol_bindings = TypeBindings(protocols=bindings.protocols | {(name, generic[0])})
    at = Declaration(None, "what a member gives is declared as a number")
    for attribute in members:
        requirement, member = stubs.member(name, attribute), stubs.member(generic[0], attribute)
        if member is None:
            return False if stubs.is_class(generic[0]) else None
        if requirement is not None and requirement.kind != "a" and member.kind != "a":
            own = replace(class_bindings(*generic), this=value)
            # The results of the first overloads.
            _takes(requirement.type[0][1], value_of(member.type[0][1], own, at), protocol_bindings)
    results = [protocol_bindings.cls.get(variable, UNKNOWN) for variable in stubs.variables(name)]
    _bind_all(parts, results, bindings)
    return True


def _iterates(name: str) -> bool:
    return stubs.derives(name, "typing.Iterable") or name == "typing.Iterable"


def _bind_all(parts: list[Type], values: list[Value], bindings: TypeBindings) -> None:
    """Bind the type variables in each type to what the value with the same position shows."""
    for part, value in zip(parts, values, strict=False):
        _takes(part, value, bindings)


# --- items -----------------------------------------------------------------------------------------------------------


def element(value: Value) -> Value:
    """Return an element of an iterable of the standard library: of bytes → a number, of a ``deque[str]`` → a text."""
    match value:
        case Text(is_bytes=True):
            return number_of(Declaration(None, "an element of bytes is a number"))
        case ExternalInstance():
            generic = class_and_arguments(value)
            if generic is None:
                return UNKNOWN
            why = f"an element of `{short_name(generic[0])}` is declared as a number"
            return item_of(*generic, Declaration(None, why))
        case _:
            return UNKNOWN


def awaited(value: Value) -> Value:
    """Return the result of ``await value``: of a future or task its result, of other values themselves."""
    return join(*map(_awaited, options(value)))


def _awaited(value: Value) -> Value:
    generic = class_and_arguments(value) if isinstance(value, ExternalInstance) else None
    if generic is None or not stubs.derives(generic[0], *stubs.AWAITABLES):
        return value
    return type_argument(
        *generic, "typing.Awaitable", 0, Declaration(None, "what is awaited is declared as a number")
    )


def item(value: Value, index: Value, site: Site) -> Value:
    """Return the result of ``value[index]``; unknown if the stubs do not declare it."""
    return special(value, "__getitem__", (index,), site) or UNKNOWN


def entered(value: Value, site: Site) -> Value:
    """Return the value that ``with value as …`` binds: of ``open(…)`` a file; the instance if nothing is declared."""
    for name in ("__enter__", "__aenter__"):
        result = special(value, name, (), site)
        if result is not None and result is not UNKNOWN:
            return result
    is_stream = isinstance(value, ListOf) and value.kind == builtin_names.TEXT_STREAM
    return value if is_stream or isinstance(value, (Instance, ExternalInstance)) else UNKNOWN
