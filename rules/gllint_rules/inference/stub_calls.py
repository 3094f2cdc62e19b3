"""What calls and items of the standard library give, by what its stubs declare.

In: a full name or a value, and the arguments as values. Out: a value; :data:`UNKNOWN` where the stubs say nothing,
``None`` where they do not know the name. Type variables are what the arguments show; of several overloads those
count that the arguments admit.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
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

_ANY, _KEYWORD, _STAR, _DOUBLE_STAR = 1, 2, 3, 4
_DEFAULT = 8


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
    """Return the arguments of a call. After a ``*spread`` the positions are unknown."""

    def read() -> _ArgumentValues:
        named = [(name, evaluator.eval(arg, frame)) for name, arg in call.keywords if name is not None]
        return _ArgumentValues([evaluator.eval(arg, frame) for arg in call.placed()], named, call.spreads())

    return _Arguments(read)


def call(evaluator: Evaluator, name: str, expr: facts.Call, frame: Frame) -> Value | None:
    """Return the result of a call of a full name; ``None`` if the stubs do not know the name."""
    at = Declaration(frame.site(expr), f"`{short_name(name)}()` gives a number")
    return _call_by_name(name, _written(evaluator, expr, frame), at)


def _call_by_name(name: str, arguments: _Arguments, at: Declaration) -> Value | None:
    """Return what a call of a full name gives, by what the stubs declare of it; ``None`` if they do not know it.

    :mod:`~gllint_rules.stubs.declarations` lists the kinds of declarations.
    """
    if name in builtin_names.NUMBER_CALLS:
        return number_of(at)
    if name in builtin_names.TEXT_CALLS:
        return TEXT
    declaration = stubs.find(name)
    if declaration is None:
        return None
    if declaration.kind == "inner":
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
    """Call a method on the class itself."""
    member = stubs.member(name, attribute)
    if member is None or member.kind == "a":
        return None
    if member.kind == "m":  # `str.count(text, "a")`: the first argument is the instance
        placed, named, _ = arguments.values
        rest = _Arguments(lambda: _ArgumentValues(placed[1:], named))
        return _method(placed[0], attribute, rest, at) if placed else UNKNOWN
    bindings = TypeBindings(this=instance_of(name, (), at))
    return _result(member.type, bindings, arguments, at)


def method(evaluator: Evaluator, value: Value, name: str, expr: facts.Call, frame: Frame) -> Value | None:
    """Return the result of a call of a method of ``value``; ``None`` if the stubs do not know it."""
    evaluator.step(value.size // 64)
    at = Declaration(frame.site(expr), f"`.{name}()` gives a number")
    return _method(value, name, _written(evaluator, expr, frame), at)


def special(value: Value, name: str, operands: tuple[Value, ...], site: Site) -> Value | None:
    """Return the result of a special method such as ``__sub__``."""
    arguments = _Arguments(lambda: _ArgumentValues(list(operands), []))
    return _method(value, name, arguments, Declaration(site, f"`{name}` gives a number"))


def _method(value: Value, name: str, arguments: _Arguments, at: Declaration) -> Value | None:
    # On None the call would raise, so it is one of the others: where one of these is not described, nor is the result.
    """Return the result of a method of a value, by its class in the stubs; ``None`` if they do not describe it."""
    if isinstance(value, UnionOf):
        results = [_method(option, name, arguments, at) for option in value.options if option is not NONE]
        values = [result for result in results if result is not None]
        return join(*values) if len(values) == len(results) and values else None
    # A number may be any of them; what none of them has, it has not.
    if isinstance(value, Number):
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
    """Return the result of method ``attribute`` of the class ``name``, called on ``this``."""
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
    """Return an instance made by a call, with its type variables as the arguments show."""
    variables = stubs.variables(name)
    if not variables:
        return instance_of(name, (), at)
    candidates: dict[str, list[Value]] = {variable: [] for variable in variables}
    makers = [stubs.member(name, "__new__"), stubs.member(name, "__init__")]
    for maker in makers:
        # `object` takes anything and says nothing of type variables.
        if maker is None or maker.owner == "builtins.object":
            continue
        for signature in maker.type:
            bindings = TypeBindings()
            fits = _fits(signature, bindings, arguments)
            if fits is False:
                continue
            form = signature[2] if len(signature) > 2 else signature[1] if maker is makers[0] else None
            if isinstance(form, list) and form[0] == "type":
                form = form[1]
            if isinstance(form, list) and stubs.full(str(form[0])) == name:
                for variable, part in zip(variables, form[1:], strict=False):
                    candidates[variable].append(value_of(part, bindings, at))
            else:
                for variable in variables:
                    candidates[variable].append(bindings.cls.get(variable, NEVER))
            if fits:
                break
    type_arguments = (join(*values) if values else UNKNOWN for values in candidates.values())
    return instance_of(name, tuple(UNKNOWN if value is NEVER else value for value in type_arguments), at)


def _result(
    signatures: list[list[Type]], bindings: TypeBindings, arguments: _Arguments, at: Declaration
) -> Value:
    """Return the result of a call: those of all overloads that the arguments admit."""
    results: list[Value] = []
    same = _same_parameters(signatures)
    for signature in signatures:
        if signature[0] is None:
            return value_of(signature[1], bindings, at)
        inner = TypeBindings(dict(bindings.cls), {}, bindings.this)
        fits = _fits(signature, inner, arguments, same)
        # An overload that may fit counts, and so do those behind it: the first that fits for sure ends the search,
        # as a type checker would end it.
        if fits is False:
            continue
        results.append(value_of(signature[1], inner, at))
        if fits:
            break
    # A call that no overload admits raises, or the stubs are behind: either way nothing is known.
    result = join(*results)
    return UNKNOWN if result is NEVER else result


def _same_parameters(signatures: list[list[Type]]) -> dict[str, Type]:
    """Return the parameters that are declared alike in all overloads: they do not say which one it is."""
    common: dict[str, Type] = {param[0]: param[2] for param in signatures[0][0] or ()}
    for signature in signatures[1:]:
        declared = {param[0]: param[2] for param in signature[0] or ()}
        common = {name: form for name, form in common.items() if declared.get(name) == form}
    return common


def _fits(
    signature: list[Type], bindings: TypeBindings, arguments: _Arguments, same: Collection[str] = ()
) -> bool | None:
    """Return whether a signature takes the arguments; ``None`` if that is unknown. Binds type variables to their
    types.

    What is given for a parameter in ``same`` does not matter for that.
    """
    params = signature[0] or []
    pairings: list[tuple[Type, Value, bool]] = []
    places = [param for param in params if param[1] & 7 < _KEYWORD]
    filled = set()
    positional, keywords, spread = arguments.values
    star = next((param for param in params if param[1] == _STAR), None)
    for i, value in enumerate(positional):
        if i < len(places):
            pairings.append((places[i][2], value, places[i][0] in same))
            filled.add(places[i][0])
        elif star is not None:
            pairings.append((star[2], value, False))
        else:
            return False
    named = {param[0]: param for param in params if param[1] & 7 in (_ANY, _KEYWORD)}
    double = next((param for param in params if param[1] == _DOUBLE_STAR), None)
    for name, value in keywords:
        if name in named and name not in filled:
            pairings.append((named[name][2], value, name in same))
            filled.add(name)
        elif double is not None:
            pairings.append((double[2], value, False))
        else:
            return False
    sure: bool | None = True
    # The length of a spread is unknown, so no parameter is missing for sure.
    if spread:
        sure = None
    elif any(param[1] < _STAR and param[0] not in filled for param in params):
        return False
    if len(signature) > 2:
        own = _takes(signature[2], bindings.this, bindings) if bindings.this is not UNKNOWN else True
        if own is False:
            return False
    for form, value, alike in pairings:
        fit = _takes(form, value, bindings)
        # What all overloads declare alike binds type variables, but does not choose among them.
        if alike:
            continue
        if fit is False:
            return False
        sure = sure and fit if fit is not None else None
    return sure


def _takes(form: Type, value: Value, bindings: TypeBindings) -> bool | None:
    """Return whether something declared as ``form`` takes ``value``; type variables get what it shows."""
    if isinstance(value, UnionOf):
        # One that fits and one that does not: which overload it is shows only at execution.
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
    """Return whether a part of a union takes the value; type variables are asked only if no plain part does."""
    plain = [part for part in parts if not (isinstance(part, list) and part[0] == "~")]
    outcome: bool | None = False
    for part in plain:
        fit = _takes(part, value, bindings)
        if fit:
            return True
        if fit is None:
            outcome = None
    for part in parts:
        if isinstance(part, list) and part[0] == "~":
            fit = _takes(part, value, bindings)
            if fit is not False:
                return fit if outcome is False else None
    return outcome


def _is_literal(literal: object, value: Value) -> bool | None:
    """Return whether a value is this literal, ``None`` if that is not known."""
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
    """Return whether a parameter that is a callable takes the value; binds the type variables of the callable's
    result.
    """
    match value:
        case External(name=name):
            anything = _Arguments(lambda: _ArgumentValues([], [], spread=True))
            outcome = _call_by_name(
                name, anything, Declaration(None, f"`{short_name(name)}()` gives a number")
            )
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
    """Return whether a parameter of the class ``name`` takes the value; ``None`` if that is not known."""
    if name == "builtins.object":
        return True
    shape = stubs.shape(name)
    if shape == "awaitable" and not isinstance(value, ExternalInstance):
        _take_all(parts[-1:], [value], bindings)  # what an ``async def`` gives is what awaiting it gives
        return True
    match value:
        case Number():
            if shape == "number":
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
        _take_all(parts, [entry.value for entry in value.items], bindings)
        return None if value.kind == "list" else True
    at = Declaration(None, "an argument's element")
    substitution = stubs.lineage(cls).get(name)
    if substitution is not None:
        own = class_bindings(cls, arguments)
        _take_all(
            parts, [value_of(substitution.get(v, "?"), own, at) for v in stubs.variables(name)], bindings
        )
        return True
    if name == "_typeshed.SupportsKeysAndGetItem" and isinstance(value, Record):
        _take_all(parts, list(arguments), bindings)
        return True
    wanted = stubs.wanted(name)
    if wanted:
        return _has_all(name, wanted, parts, value, bindings)
    if stubs.is_protocol(name):
        return False if _iterates(name) and not stubs.derives(cls, "typing.Iterable") else None
    if stubs.derives(name, cls) or not stubs.is_class(cls) or "?" in stubs.lineage(cls):
        return None
    return False


def _has_all(
    name: str, wanted: list[str], parts: list[Type], value: Value, bindings: TypeBindings
) -> bool | None:
    """Return whether ``value`` has what a protocol wants; its type variables get what the members give."""
    generic = class_and_arguments(value)
    if generic is None:
        return None
    if (name, generic[0]) in bindings.protocols:
        return True
    variables = stubs.variables(name)
    protocol_bindings = TypeBindings(protocols=bindings.protocols | {(name, generic[0])})
    at = Declaration(None, "what a member gives is declared as a number")
    for attribute in wanted:
        requirement, member = stubs.member(name, attribute), stubs.member(generic[0], attribute)
        if member is None:
            return False if stubs.is_class(generic[0]) else None
        if requirement is not None and requirement.kind != "a" and member.kind != "a":
            own = replace(class_bindings(*generic), this=value)
            _takes(requirement.type[0][1], value_of(member.type[0][1], own, at), protocol_bindings)
    _take_all(parts, [protocol_bindings.cls.get(variable, UNKNOWN) for variable in variables], bindings)
    return True


def _iterates(name: str) -> bool:
    return stubs.derives(name, "typing.Iterable") or name == "typing.Iterable"


def _take_all(parts: list[Type], values: list[Value], bindings: TypeBindings) -> None:
    for part, value in zip(parts, values, strict=False):
        _takes(part, value, bindings)


# --- items -----------------------------------------------------------------------------------------------------------


def element(value: Value) -> Value:
    """Return the result of iterating over an instance."""
    match value:
        case Text(is_bytes=True):
            return number_of(Declaration(None, "an element of bytes is a number"))
        case ExternalInstance():
            generic = class_and_arguments(value)
            if generic is None:
                return UNKNOWN
            return item_of(
                *generic,
                Declaration(None, f"an element of `{short_name(generic[0])}` is declared as a number"),
            )
        case _:
            return UNKNOWN


def awaited(value: Value) -> Value:
    """Return what awaiting ``value`` gives; for a future or task its result."""
    return join(*map(_awaited, options(value)))


def _awaited(value: Value) -> Value:
    generic = class_and_arguments(value) if isinstance(value, ExternalInstance) else None
    if generic is None or not stubs.derives(generic[0], *stubs.AWAITABLES):
        return value
    return type_argument(
        *generic, "typing.Awaitable", 0, Declaration(None, "what is awaited is declared as a number")
    )


def item(value: Value, index: Value, site: Site) -> Value:
    """Return what a subscript takes out of an instance."""
    return special(value, "__getitem__", (index,), site) or UNKNOWN


def entered(value: Value, site: Site) -> Value:
    """Return what ``with value as …`` binds; the instance itself if nothing is declared."""
    for name in ("__enter__", "__aenter__"):
        result = special(value, name, (), site)
        if result is not None and result is not UNKNOWN:
            return result
    is_stream = isinstance(value, ListOf) and value.kind == builtin_names.TEXT_STREAM
    return value if is_stream or isinstance(value, (Instance, ExternalInstance)) else UNKNOWN
