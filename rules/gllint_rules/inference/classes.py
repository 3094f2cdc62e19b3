"""Facts about the classes of the project: their ancestors, fields, type variables and kinds."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from gllint_rules.inference.declarations import declarations, declared_unit
from gllint_rules.inference.questions import TooComplex
from gllint_rules.inference.values import (
    NONE,
    TEXT,
    UNKNOWN,
    Because,
    ClassOf,
    External,
    Frame,
    FunctionOf,
    Number,
    Record,
    Site,
    Value,
    join,
    options,
)
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Class, Expr, Function

if TYPE_CHECKING:
    from gllint_rules.inference.protocol import Evaluator

MOST_ANCESTORS = 64
_SERIALISERS = frozenset({"PlainSerializer", "WrapSerializer"})
_ENUMS = frozenset({"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"})


def ancestors(evaluator: Evaluator, of: ClassOf) -> tuple[ClassOf | External, ...]:
    """Return the class itself, then its bases, theirs, and so on; classes from outside as :class:`External`."""
    return evaluator.ask(
        ("ancestors", of.cls),
        lambda: tuple(_linear(evaluator, of)),
        meanwhile=(of,),  # for a class that inherits from itself
        instead=lambda: (of, External("?")),
        site=Site(of.module, of.cls.at),
    )


def _linear(evaluator: Evaluator, of: ClassOf) -> Iterator[ClassOf | External]:
    """Yield a class and its ancestors, nearest first."""
    visited: set[Class] = set()
    queue: deque[ClassOf | External] = deque([of])
    while queue:
        current = queue.popleft()
        if isinstance(current, External):
            yield current
            continue
        if current.cls in visited:
            continue
        visited.add(current.cls)
        if len(visited) > MOST_ANCESTORS:
            raise TooComplex(f"{MOST_ANCESTORS} ancestors")
        yield current
        queue.extend(_bases(evaluator, current))


def _bases(evaluator: Evaluator, of: ClassOf) -> tuple[ClassOf | External, ...]:
    """Return the bases of a class, each evaluated once."""
    return evaluator.ask(
        ("bases", of.cls),
        lambda: tuple(_read_bases(evaluator, of)),
        meanwhile=(),
        instead=lambda: (External("?"),),
        site=Site(of.module, of.cls.at),
    )


def _read_bases(evaluator: Evaluator, of: ClassOf) -> Iterator[ClassOf | External]:
    """Yield the bases of a class; for an unknown one an external class named ``?.Name``."""
    frame = Frame(of.module, of.cls.scope.parent or of.cls.scope)
    for base in of.cls.bases:
        inner = base.base if isinstance(base, facts.Sub) else base
        bases = _classes(evaluator.eval(inner, frame))
        if not bases and inner is not base:  # `CLASSES["x"]`
            bases = _classes(evaluator.eval(base, frame))
        yield from bases or [External(f"?.{facts.last_name(inner)}")]


def _classes(value: Value) -> list[ClassOf | External]:
    return [option for option in options(value) if isinstance(option, (ClassOf, External))]


def bases_named(evaluator: Evaluator, of: ClassOf) -> Iterator[str]:
    """Yield the last names of all ancestors, without the class itself."""
    for ancestor in ancestors(evaluator, of)[1:]:
        yield (ancestor.cls.name if isinstance(ancestor, ClassOf) else ancestor.name.rpartition(".")[2])


def is_enum(evaluator: Evaluator, of: ClassOf) -> bool:
    """Return whether the class is an enumeration."""
    return any(name in _ENUMS for name in bases_named(evaluator, of))


def is_typed_dict(evaluator: Evaluator, of: ClassOf) -> bool:
    """Return whether the instances of the class are dicts."""
    return any(name == "TypedDict" for name in bases_named(evaluator, of))


def new_type(evaluator: Evaluator, of: ClassOf) -> Value | None:
    """Return the value of the instances of a class that derives from a number or a text: ``class Kelvin(float)``."""
    for ancestor in ancestors(evaluator, of)[1:]:
        if isinstance(ancestor, External):
            if ancestor.name in ("builtins.float", "builtins.int", "enum.IntEnum", "enum.IntFlag"):
                return Number(Because(f"`{of.cls.name}` derives from a number", Site(of.module, of.cls.at)))
            if ancestor.name in ("builtins.str", "enum.StrEnum"):
                return TEXT
    return None


def parameters_of(evaluator: Evaluator, of: ClassOf) -> list[str] | None:
    """Return the arguments of a dataclass, model, ``TypedDict`` or annotated class, in order; None without fields."""
    if is_enum(evaluator, of):
        return None
    if any(isinstance(base, facts.Sub) and facts.last_name(base) == "RootModel" for base in of.cls.bases):
        return ["root"]
    fields: dict[str, None] = {}
    for ancestor in reversed(ancestors(evaluator, of)):
        if isinstance(ancestor, ClassOf):
            for name, bindings in ancestor.cls.statements():
                if bindings[0].kind == "annotated" and not _is_class_var(bindings[0].annotation):
                    fields[name] = None
    if not fields:
        return None
    for ancestor in ancestors(evaluator, of):
        if isinstance(ancestor, ClassOf):
            method = ancestor.cls.method("__init__")
            if method is not None:
                return [param.name for param in method.params[1:]]
    return list(fields)


def argument_attributes(evaluator: Evaluator, of: ClassOf) -> tuple[Function, Mapping[str, str]] | None:
    """Return the constructor of a class that only stores its arguments, and the argument of each attribute.

    The constructor only assigns arguments and literals to attributes, and may call that of the only base, which does
    the same. No other method assigns an attribute. None for any other class.
    """
    return evaluator.ask(
        ("kept arguments", of.cls),
        lambda: _argument_attributes(evaluator, of),
        meanwhile=None,
        instead=lambda: None,
        site=Site(of.module, of.cls.at),
    )


def _argument_attributes(evaluator: Evaluator, of: ClassOf) -> tuple[Function, Mapping[str, str]] | None:
    """Return what :func:`argument_attributes` does, by reading the statements of ``__init__``."""
    method = of.cls.method("__init__")
    if method is None or not method.params or of.cls.decorators or method.decorators:
        return None
    parent = _base_attributes(evaluator, of) if of.cls.bases else None
    if of.cls.bases and parent is None:
        return None
    names = {param.name for param in method.params[1:]}
    attributes: dict[str, str] = {}
    for statement in method.body:
        match statement:
            case facts.Assign(
                targets=(facts.Attr(base=facts.Name(id=owner), name=name),), value=facts.Name(id=argument)
            ) if owner == method.params[0].name and argument in names:
                attributes[name] = argument
            case facts.Assign(targets=(facts.Attr(),), value=facts.Const() | facts.BoolOp(left=facts.Name())):
                pass
            case facts.Assign(targets=(facts.Attr(),), value=facts.Seq(items=()) | facts.Dict(items=())):
                pass
            case facts.Do(values=(facts.Const(),)):  # a docstring
                pass
            case facts.Do(values=(facts.Call(func=facts.Attr(base=base, name="__init__")) as call,)) if (
                parent is not None and isinstance(base, facts.Call) and facts.last_name(base.func) == "super"
            ):
                attributes |= _super_attributes(call, names, *parent)
                parent = None  # it is called once
            case _:
                return None
    is_assigned_once = all(len(assignments) <= 1 for assignments in of.cls.attributes.values())
    return (method, attributes) if attributes and is_assigned_once and parent is None else None


def _base_attributes(evaluator: Evaluator, of: ClassOf) -> tuple[Function, Mapping[str, str]] | None:
    """Return the attributes that the only base of ``of`` keeps from its arguments; ``None`` if ``of`` redefines one."""
    base = next(iter(ancestors(evaluator, of)[1:]), None)
    parent = (
        argument_attributes(evaluator, base) if isinstance(base, ClassOf) and len(of.cls.bases) == 1 else None
    )
    if parent is None or any(
        name in of.cls.attributes or name in of.cls.scope.bindings for name in parent[1]
    ):
        return None
    return parent


def _super_attributes(
    call: facts.Call, names: Collection[str], method: Function, attributes: Mapping[str, str]
) -> dict[str, str]:
    """Return the ``names`` (arguments of a constructor) that ``call`` passes to the base's ``method``, by attribute.

    ``attributes`` maps the attributes that the base sets to its own arguments.
    """
    arguments: dict[str, Expr] = {}
    for param, arg in zip(method.params[1:], call.args, strict=False):
        if isinstance(arg, facts.Star) or param.kind not in ("positional", "any"):
            break
        arguments[param.name] = arg
    arguments.update({name: arg for name, arg in call.keywords if name is not None})
    pairs = ((attribute, arguments.get(param)) for attribute, param in attributes.items())
    return {name: arg.id for name, arg in pairs if isinstance(arg, facts.Name) and arg.id in names}


def _is_class_var(annotation: Expr | None) -> bool:
    return annotation is not None and facts.last_name(annotation) == "ClassVar"


def is_excluded(evaluator: Evaluator, of: ClassOf, name: str) -> bool:
    """Return whether a field is missing from the dump of an instance: ``InitVar``, ``Field(exclude=True)``, ``_x``."""
    if name.startswith("_") and "BaseModel" in bases_named(evaluator, of):
        return True  # a private attribute
    for ancestor in ancestors(evaluator, of):
        for binding in ancestor.cls.scope.bindings.get(name, ()) if isinstance(ancestor, ClassOf) else ():
            if binding.kind == "annotated":
                return _is_excluded(binding.annotation, binding.value)
    return False


def _is_excluded(annotation: Expr | None, value: Expr | None) -> bool:
    """Return whether a field is missing from the dump: ``InitVar``, or ``Field(exclude=True)``."""
    fields = [value]
    if annotation is not None and facts.last_name(annotation) == "InitVar":
        return True
    if isinstance(annotation, facts.Sub) and facts.last_name(annotation) == "Annotated":
        fields += annotation.index.items if isinstance(annotation.index, facts.Seq) else ()
    return any(
        isinstance(exclude := field.keyword("exclude"), facts.Const) and exclude.value is True
        for field in fields
        if isinstance(field, facts.Call)
    )


def default_of(evaluator: Evaluator, of: ClassOf, name: str) -> tuple[ClassOf, Expr] | None:
    """Return the default of a field and the class that declares it: 1 for ``x = 1`` and ``x: int = Field(1)``.

    That of ``field(default_factory=list)`` is the call of the factory.
    """
    for ancestor in ancestors(evaluator, of):
        value = class_value(ancestor, name) if isinstance(ancestor, ClassOf) else None
        if value is not None and isinstance(ancestor, ClassOf):
            if isinstance(value, facts.Call) and facts.last_name(value.func) in ("Field", "field"):
                factory = value.keyword("default_factory")
                made = facts.Call(factory.at, factory, (), ()) if factory is not None else None
                value = made or value.keyword("default") or next(iter(value.placed()), None)
            is_required = isinstance(value, facts.Const) and value.value is ...
            return (ancestor, value) if value is not None and not is_required else None
    return None


def field_unit(evaluator: Evaluator, of: ClassOf, name: str) -> str | None:
    """Return the unit that a field declares next to its type: ``Field(json_schema_extra={"x-unit": "kWh"})``."""
    for ancestor in ancestors(evaluator, of):
        if isinstance(ancestor, ClassOf):
            for binding in ancestor.cls.scope.bindings.get(name, ()):
                frame = Frame(ancestor.module, ancestor.cls.scope, None, of)
                unit = declared_unit(evaluator, binding.annotation, binding.value, frame)
                if unit is not None:
                    return unit
    return None


def serialised_fields(evaluator: Evaluator, of: ClassOf) -> Mapping[str, Value]:
    """Return, by field name, the dumped values of the fields that a custom serialiser changes."""
    return evaluator.ask(
        ("serialisers", of.cls),
        lambda: dict(_serialised_fields(evaluator, of)),
        meanwhile={},
        instead=dict,
        site=Site(of.module, of.cls.at),
    )


def _serialised_fields(evaluator: Evaluator, of: ClassOf) -> Iterator[tuple[str, Value]]:
    """Yield the fields with a serialiser, and what the serialiser returns."""
    if "BaseModel" not in bases_named(evaluator, of):
        return
    for ancestor in reversed(ancestors(evaluator, of)):
        if not isinstance(ancestor, ClassOf):
            continue
        frame = Frame(ancestor.module, ancestor.cls.scope, None, ancestor)
        for name, bindings in ancestor.cls.statements():
            for call, home in declarations(evaluator, bindings[0].annotation, None, frame):
                if facts.last_name(call.func) in _SERIALISERS and call.args:
                    yield name, _returned(evaluator, evaluator.eval(call.args[0], home))
        for method in ancestor.cls.methods():
            value = FunctionOf(ancestor.module, method, ancestor, True)
            for decorator in method.decorators:
                callee = decorator.func if isinstance(decorator, facts.Call) else decorator
                arguments = decorator.args if isinstance(decorator, facts.Call) else ()
                match facts.last_name(callee):
                    case "field_serializer":
                        named = [str(item.value) for item in arguments if isinstance(item, facts.Const)]
                        for name in (parameters_of(evaluator, of) or []) if "*" in named else named:
                            yield name, _returned(evaluator, value)
                    case "model_serializer" if isinstance(whole := _returned(evaluator, value), Record):
                        # A field that the serialiser omits is not in the dump.
                        for name in parameters_of(evaluator, of) or [] if not whole.open else []:
                            yield name, whole.get(name) or NONE


def _returned(evaluator: Evaluator, function: Value) -> Value:
    """Return the result of a function of the project, unknown for other values."""
    if not isinstance(function, FunctionOf):
        return UNKNOWN
    return join(*(value for _, value in evaluator.flow(function).returns))


def type_parameters(of: ClassOf) -> tuple[str, ...]:
    """Return the names of the type variables of a generic class, in order."""
    for base in of.cls.bases:
        if isinstance(base, facts.Sub) and facts.last_name(base) in ("Generic", "Protocol"):
            parts = base.index.items if isinstance(base.index, facts.Seq) else (base.index,)
            return tuple(facts.last_name(part) for part in parts)
    return of.cls.type_params


def made_by_call(evaluator: Evaluator, call: facts.Call, frame: Frame) -> Value:
    """Return the class that ``namedtuple("P", "x y")``, ``NamedTuple("P", [("x", float)])`` or ``TypedDict`` makes."""
    if len(call.args) < 2:
        return UNKNOWN
    return evaluator.ask(
        ("made class", call),
        lambda: _class_of_call(call, frame),
        meanwhile=UNKNOWN,
        instead=lambda: UNKNOWN,
        site=frame.site(call),
    )


def _class_of_call(call: facts.Call, frame: Frame) -> Value:
    """Return the class that ``TypedDict("Row", {…})`` or ``NamedTuple("Row", […])`` makes."""
    fields = _written_fields(call.args[1])
    first = call.args[0]
    if fields is None or not isinstance(first, facts.Const):
        return UNKNOWN
    base = "TypedDict" if facts.last_name(call.func) == "TypedDict" else "NamedTuple"
    scope = facts.Scope("class", frame.scope)
    cls = Class(str(first.value), call.at, (facts.Name(call.at, base),), (), (), scope)
    scope.owner = cls
    scope.bindings = {
        name: [facts.Binding("annotated", annotation=annotation)] for name, annotation in fields
    }
    return ClassOf(frame.module, cls)


def _written_fields(expr: Expr) -> list[tuple[str, Expr]] | None:
    """Return names and annotations of the fields in ``"x y"``, ``{"x": int}`` or ``[("x", int)]``; None if computed."""
    anything = facts.Name(expr.at, "object")
    match expr:
        case facts.Const(value=str() as names):
            return [(name, anything) for name in names.replace(",", " ").split()]
        case facts.Dict(items=pairs):
            return [(str(k.value), v) for k, v in pairs if isinstance(k, facts.Const)]
        case facts.Seq(items=items):
            fields: list[tuple[str, Expr]] = []
            for item in items:
                match item:
                    case facts.Const(value=str() as name):
                        fields.append((name, anything))
                    case facts.Seq(items=(facts.Const(value=str() as name), annotation)):
                        fields.append((name, annotation))
                    case _:
                        return None
            return fields
        case _:
            return None


def class_value(of: ClassOf, name: str) -> Expr | None:
    """Return the expression that the class body gives ``name``."""
    for binding in reversed(of.cls.scope.bindings.get(name, ())):
        if binding.value is not None:
            return binding.value
    return None
