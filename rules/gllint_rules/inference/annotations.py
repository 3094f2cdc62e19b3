"""What an annotation says about a value: aliases, generics, ``Optional``, typed dicts, strings."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gllint_rules.inference import builtin_names, classes, stub_values
from gllint_rules.inference.values import (
    NONE,
    UNKNOWN,
    ClassOf,
    Container,
    DictOf,
    Entry,
    External,
    ExternalInstance,
    Frame,
    Instance,
    ListOf,
    Number,
    QuantityInstance,
    Site,
    UnionOf,
    Value,
    as_keys,
    join,
    number,
    options,
    over,
)
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Binding, Expr, Module, Scope
from gllint_rules.words.names import QUANTITY

if TYPE_CHECKING:
    from gllint_rules.inference.protocol import Evaluator


@lru_cache(maxsize=4096)
def expression(text: str, at: int) -> Expr | None:
    """Parse the text of a quoted annotation; ``None`` if it is not an expression. ``at`` is the string's position.

    Cached: the same text and position give the same object, under which answers are stored.
    """
    from gllint_rules.reading.sections import read_annotation

    return read_annotation(text, at)


def read(evaluator: Evaluator, expr: Expr, frame: Frame) -> Value:
    """Return the value of something that is annotated as ``expr``: a number for ``float``."""
    match expr:
        case facts.Const(value=None):
            return NONE
        case facts.Const(value=str() as text):
            inner = expression(text, expr.at)
            return evaluator.annotation(inner, frame) if inner is not None else UNKNOWN
        case facts.BinOp(op="|", left=left, right=right):
            return join(evaluator.annotation(left, frame), evaluator.annotation(right, frame))
        case facts.Sub(base=base, index=index):
            return _generic(evaluator, base, index, frame)
        case facts.Name() | facts.Attr():
            if isinstance(expr, facts.Name):
                named = alias(evaluator, expr.id, frame)
                if named is not None:
                    return named
            return _instances(evaluator, evaluator.eval(expr, replace(frame, env=None)), expr, frame)
        case facts.Call(func=func):  # `confloat(ge=0)`
            instance = _instances(evaluator, evaluator.eval(func, replace(frame, env=None)), func, frame)
            return instance if isinstance(instance, Number) else UNKNOWN
        case _:
            return UNKNOWN


def shadows_itself(scope: Scope, name: str) -> bool:
    """Return whether a class body binds ``name`` by an expression that mentions it: ``A: A``, ``A = A``.

    The name in that expression means an outer binding. Of an annotated name only the annotation counts.
    """
    if scope.kind != "class":
        return False
    return any(
        _mentions(binding.annotation, name)
        or (
            binding.kind == "assign"
            # `unit = "unit"` is a text; only an annotation may be quoted.
            and not isinstance(binding.value, facts.Const)
            and _mentions(binding.value, name)
        )
        for binding in scope.bindings[name]
    )


def _mentions(expr: Expr | None, name: str) -> bool:
    """Return whether an expression mentions ``name``."""
    match expr:
        case facts.Name(id=identifier):
            return identifier == name
        case facts.Attr(base=base) | facts.Call(func=base):
            return _mentions(base, name)
        case facts.Sub(base=base, index=index):
            return _mentions(base, name) or _mentions(index, name)
        case facts.Seq(items=items):
            return any(_mentions(item, name) for item in items)
        case facts.BinOp(left=left, right=right):
            return _mentions(left, name) or _mentions(right, name)
        case facts.Const(value=str() as text):
            return re.search(rf"\b{re.escape(name)}\b", text) is not None
        case _:
            return False


def alias(evaluator: Evaluator, name: str, frame: Frame) -> Value | None:
    """Return the value of something that is annotated with an alias: ``X = float | None`` or ``type X = float``.

    ``None`` if the name is no alias: a class, a name that nothing binds, an alias within its own definition.
    """
    scopes = frame.scope.enclosing()
    scope = next((s for s in scopes if name in s.bindings and not shadows_itself(s, name)), None)
    if scope is None:
        return None
    bindings = facts.alternatives(scope.bindings[name])
    home = Frame(frame.module, scope, None, frame.bound)
    if len(bindings) > 1:
        return evaluator.ask(
            ("alias", scope, name, frame.cls),
            lambda: _guarded(evaluator, name, bindings, home),
            None,
            lambda: UNKNOWN,
            Site(frame.module, next((b.value.at for b in bindings if b.value is not None), 0)),
        )
    [binding] = bindings
    if binding.kind == "import":
        return _imported_alias(evaluator, frame.module, binding.module, binding.name)
    if binding.kind not in ("alias", "annotated", "assign") or binding.value is None:
        return None
    return evaluator.ask(
        ("alias", scope, name, frame.cls),
        lambda: _aliased(evaluator, binding, home),
        None,
        lambda: UNKNOWN,
        frame.site(binding.value),
    )


def _guarded(evaluator: Evaluator, name: str, bindings: list[Binding], home: Frame) -> Value:
    """Return the types that several bindings of a name give it: ``try: from a import T`` and ``except ImportError: T =
    None``.

    A placeholder for no type (``None``, ``object``, ``Any``) adds nothing to it.
    """
    written = facts.Name(0, name)
    meanings: list[Value] = []
    for binding in bindings:
        if binding.kind == "import":
            meaning = _imported_alias(evaluator, home.module, binding.module, binding.name)
            if meaning is None:
                value = evaluator.imported(home.module, binding.module, binding.name)
                meaning = _instances(evaluator, value, written, home)
        elif isinstance(binding.target, facts.Class):
            meaning = _declared(evaluator, ClassOf(home.module, binding.target), written, home)
        elif binding.value is None or binding.kind not in ("alias", "annotated", "assign"):
            meaning = UNKNOWN
        elif _is_placeholder(value := evaluator.eval(binding.value, home)):
            continue
        else:
            meaning = _aliased(evaluator, binding, home)
            if meaning is None:
                meaning = _instances(evaluator, value, written, home)
        meanings.append(meaning)
    return join(*meanings) if meanings else UNKNOWN


def _is_placeholder(value: Value) -> bool:
    """Return whether a value says nothing as a type: None, ``object``, ``Any``."""
    return value is NONE or (isinstance(value, External) and value.name in _ANYTHING)


_ANYTHING = frozenset({"builtins.object", "typing.Any", "typing_extensions.Any"})


def _imported_alias(evaluator: Evaluator, importer: Module, dotted: str, name: str) -> Value | None:
    """Return the type that an imported alias names; ``None`` if the name is no alias."""
    module = evaluator.module_named(dotted, importer)
    if module is None or module.path == importer.path or not name or name not in module.scope.bindings:
        return None
    bindings = facts.alternatives(module.scope.bindings[name])
    if len(bindings) == 1 and bindings[0].kind in ("class", "def"):
        return None
    return evaluator.ask(
        ("imported alias", module, name),
        lambda: alias(evaluator, name, Frame(module, module.scope)),
        None,
        lambda: UNKNOWN,
        Site(module, 0),
    )


def _aliased(evaluator: Evaluator, binding: Binding, home: Frame) -> Value | None:
    """Return the value of ``x: T`` by the binding of ``T``: ``T = int | None`` → a number or ``None``.

    ``T = NewType("T", int)`` counts as its base, and a ``TypeVar`` as its bound or constraints. ``None`` if the binding
    is no alias. ``home`` is its frame.
    """
    value = binding.value
    if isinstance(value, (facts.Sub, facts.BinOp, facts.Name, facts.Attr)):
        return evaluator.annotation(value, home)
    if isinstance(value, facts.Const) and _names_a_type(binding):  # `Share: TypeAlias = "float"`
        return evaluator.annotation(value, home)
    if binding.kind == "assign" and isinstance(value, facts.Call):
        name = facts.last_name(value.func)
        if name == "NewType" and len(value.args) == 2:
            return evaluator.annotation(value.args[1], home)
        if name == "TypeVar" and (bound := value.keyword("bound")) is not None:
            return evaluator.annotation(bound, home)
        if name == "TypeVar" and len(value.args) > 1:
            return join(*(evaluator.annotation(constraint, home) for constraint in value.args[1:]))
    return None


def _names_a_type(binding: Binding) -> bool:
    """Return whether a binding is declared as an alias: ``type X = …``, ``X: TypeAlias = …``."""
    declared = binding.annotation
    return binding.kind == "alias" or (declared is not None and facts.last_name(declared) == "TypeAlias")


def _instances(evaluator: Evaluator, named: Value, expr: Expr, frame: Frame) -> Value:
    """Return the value of something that is annotated with ``named``, which may be one type or several."""
    choices = options(named)
    if len(choices) > 1:
        choices = tuple(option for option in choices if not _is_placeholder(option)) or choices
    return join(*(_declared(evaluator, option, expr, frame) for option in choices))


def _declared(evaluator: Evaluator, named: Value, expr: Expr, frame: Frame) -> Value:
    """Return the value of something that is annotated with one class or outside name: a number for ``float``."""
    match named:
        case ClassOf():
            if named.cls.name == QUANTITY:
                return QuantityInstance(open=True, of=named)
            fields = classes.new_type(evaluator, named)
            return fields if fields is not None else Instance(named)
        case External(name=name):
            if name in builtin_names.NUMBER_TYPES:
                message = f"annotated as `{name.removeprefix('builtins.')}`"
                return evaluator.number(message, frame, expr.at, real=name in builtin_names.REAL_TYPES)
            if name in builtin_names.SCALAR_TYPES:
                return builtin_names.SCALAR_TYPES[name]
            if name in builtin_names.LIST_TYPES:
                return ListOf(rest=UNKNOWN)
            if name in builtin_names.DICT_TYPES:
                return DictOf(open=True)
            last = name.rpartition(".")[2]
            if last == QUANTITY:
                return QuantityInstance(open=True)
            if name.startswith("builtins.") or name in builtin_names.OPAQUE_TYPES:
                return UNKNOWN
            instance = stub_values.instance(
                name, (), frame.site(expr), f"annotated as `{name}`, which is a number"
            )
            return instance if instance is not None else ExternalInstance(name)
        case _:
            last = facts.last_name(expr)
            if named is UNKNOWN and last == QUANTITY:
                return QuantityInstance(open=True)
            return UNKNOWN


def _generic(evaluator: Evaluator, base: Expr, index: Expr, frame: Frame) -> Value:
    """Return the value of something that is annotated with a subscript: ``list[float]``, ``Optional[Reading]``.

    The usual generics are known by the last part of their name, wherever it was imported from.
    """
    name = facts.last_name(base)
    parts = index.items if isinstance(index, facts.Seq) else (index,)
    match name:
        case "Optional":
            return join(evaluator.annotation(parts[0], frame), NONE)
        case "Union":
            return join(*(evaluator.annotation(part, frame) for part in parts))
        case (
            "Annotated"
            | "Final"
            | "ClassVar"
            | "Required"
            | "NotRequired"
            | "ReadOnly"
            | "Mapped"
            | "Awaitable"
        ):
            return evaluator.annotation(parts[0], frame)
        case "Literal":
            return join(*(evaluator.eval(part, frame) for part in parts))
        case "Coroutine":
            return evaluator.annotation(parts[-1], frame)
        case "type" | "Type":
            named = evaluator.eval(parts[0], replace(frame, env=None))
            return named if isinstance(named, ClassOf) else UNKNOWN
        case _ if name in builtin_names.LIST_GENERICS:
            # A tuple of one element is read as a list of it.
            if name.lower() == "tuple" and len(parts) > 1 and not any(map(_is_ellipsis, parts)):
                entries = tuple(Entry(evaluator.annotation(part, frame), frame.site(part)) for part in parts)
                return ListOf(entries, kind="declared")
            element = evaluator.annotation(parts[0], frame) if parts else None
            return ListOf(rest=element, kind=name.lower())
        case _ if name in builtin_names.DICT_GENERICS and len(parts) == 2:
            keys, rest = (evaluator.annotation(part, frame) for part in parts)
            return DictOf(open=True, rest=rest, keys=as_keys(keys))
        case _:
            value = evaluator.eval(base, replace(frame, env=None))
            if isinstance(value, External):  # `Vec = list` is one, too: `Vec[float]`
                arguments = tuple(evaluator.annotation(part, frame) for part in parts)
                site = frame.site(base)
                instance = stub_values.instance(value.name, arguments, site, f"annotated as `{value.name}`")
                if instance is not None:
                    return instance

            def with_arguments(option: Value) -> Value:
                """Return an instance with the types in the brackets, unless its class is not generic."""
                if isinstance(option, Instance) and not classes.type_parameters(option.of):
                    return option
                if isinstance(option, (Instance, ExternalInstance)):
                    arguments = tuple(evaluator.annotation(part, frame) for part in parts)
                    return replace(option, arguments=arguments)
                return option

            return over(evaluator.annotation(base, frame), with_arguments)


def typed(evaluator: Evaluator, value: Value, declared: Value, followed: bool = False) -> Value:
    """Return ``value`` with its unknown parts filled from the value ``declared`` by its annotation.

    ``followed``: all stores into the value are seen. Then a declaration without element types (``list``) adds nothing
    to an empty container.
    """
    if value is UNKNOWN:
        return declared
    if isinstance(declared, ListOf) and declared.kind == "declared":
        declared = ListOf(rest=declared.element(), kind="tuple")
    if isinstance(value, UnionOf) and UNKNOWN in value.options:
        union = join(*(declared if option is UNKNOWN else option for option in value.options))
        return replace(union, source=value.source) if isinstance(union, UnionOf) else union
    # A `TypedDict` is a dict at execution: its literal keeps the places of its entries, the class says what they are.
    if isinstance(value, DictOf) and isinstance(declared, Instance):
        if classes.is_typed_dict(evaluator, declared.of):
            return _with_fields(evaluator, value, declared.of)
    if isinstance(value, Container) and (item := _dict_inside(evaluator, declared)) is not None:
        value = _with_items(evaluator, value, item)
    if isinstance(value, Container) and isinstance(declared, Container):
        if value.rest is UNKNOWN and declared.rest is not None:
            return replace(value, rest=declared.rest)
        if isinstance(value, DictOf) and isinstance(declared, DictOf):
            if not value.entries and value.rest is None and declared.rest is not None:
                if followed and declared.rest.gap:
                    return replace(value, keys=declared.keys)
                return replace(
                    value, rest=declared.rest, open=True, hinted=True, unfilled=True, keys=declared.keys
                )
        if (
            isinstance(value, ListOf)
            and not value.items
            and value.rest is None
            and declared.rest is not UNKNOWN
        ):
            if followed and declared.rest is not None and declared.rest.gap:
                return value
            return replace(value, rest=declared.rest, hinted=True, unfilled=True)
    return value


def _with_fields(evaluator: Evaluator, record: DictOf, of: ClassOf) -> DictOf:
    """Return a dict literal annotated as a ``TypedDict``: the class's types for its keys apply."""
    entries = {}
    for key, slot in record.entries.items():
        declared = evaluator.field(of, key)
        entries[key] = (
            tuple(e.holding(typed(evaluator, e.value, declared)) for e in slot)
            if declared is not None and (number(declared) is not None or _tells_fields(evaluator, declared))
            else slot
        )
    return replace(record, entries=entries)


def _dict_inside(evaluator: Evaluator, declared: Value) -> Value | None:
    """Return the declared element of a container of typed dicts: Row for ``list[Row]``; None for other containers."""
    element = declared.rest if isinstance(declared, Container) else None
    return element if element is not None and _tells_fields(evaluator, element) else None


def _tells_fields(evaluator: Evaluator, declared: Value) -> bool:
    """Return whether a declared value is a ``TypedDict``, or a container of them."""
    if isinstance(declared, Instance):
        return classes.is_typed_dict(evaluator, declared.of)
    return _dict_inside(evaluator, declared) is not None


def _with_items(evaluator: Evaluator, value: Container, declared: Value) -> Container:
    """Return a container in which each value is declared as ``declared``."""
    evaluator.step(value.size // 64)
    return value.each_changed(lambda item: typed(evaluator, item, declared))


def _is_ellipsis(expr: Expr) -> bool:
    return isinstance(expr, facts.Const) and expr.value is ...
