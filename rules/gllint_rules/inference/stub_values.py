"""Values by the types in the stubs of the standard library, and the class of a value.

In: a full name or a value. Out: a value; :data:`UNKNOWN` where the stubs say nothing, ``None`` where they do not know
the name.
"""

from __future__ import annotations

from msgspec import Struct, field
from msgspec.structs import replace

from gllint_rules import stubs
from gllint_rules.inference import builtin_names
from gllint_rules.inference.values import (
    BOOL,
    BYTES,
    NEVER,
    NONE,
    TEXT,
    UNKNOWN,
    Because,
    Boolean,
    DictOf,
    Entry,
    External,
    ExternalInstance,
    Instance,
    ListOf,
    Method,
    Number,
    Record,
    Site,
    Text,
    Value,
    as_keys,
    join,
    number,
    options,
    over,
)
from gllint_rules.stubs import Type

_KINDS = {
    "list": "builtins.list",
    "tuple": "builtins.tuple",
    "pair": "builtins.tuple",
    "declared": "builtins.tuple",
    "set": "builtins.set",
    "frozenset": "builtins.frozenset",
    "range": "builtins.range",
    "generator": "typing.Generator",
    "values": "typing.ValuesView",
    "keys": "typing.KeysView",
    "items": "typing.ItemsView",
}
_SHORT = {full: short for short, full in _KINDS.items() if short not in ("pair", "declared")}


class Declaration(Struct, eq=False):
    """The site of an expression, and why its value is a number; ``inside`` are the classes around it, as of an element
    of an element.
    """

    site: Site | None
    why: str
    inside: frozenset[str] = frozenset()


class TypeBindings(Struct, eq=False):
    """The values of type variables: a function's in ``own``, a class's in ``cls``; ``this`` is the value of ``self``.

    ``protocols`` are the protocols and classes that are being compared: an iterator returns itself as its iterator.
    """

    cls: dict[str, Value] = field(default_factory=dict)
    own: dict[str, Value] = field(default_factory=dict)
    this: Value = UNKNOWN
    protocols: frozenset[tuple[str, str]] = frozenset()

    def variables(self, mark: str) -> dict[str, Value]:
        return self.cls if mark == "^" else self.own


# --- from types to values ------------------------------------------------------------------------------------


def value_of(form: Type, bindings: TypeBindings, at: Declaration) -> Value:
    """Return a value of the type ``form``: ``"int"`` → a number, ``["list", "str"]`` → a list of texts.

    ``bindings`` are the values of type variables; :mod:`~gllint_rules.stubs.declarations` defines the form.
    """
    match form:
        case "?":
            return UNKNOWN
        case "None":
            return NONE
        case "never":
            return NEVER
        case "self":
            return bindings.this
        case str():
            return instance_of(stubs.full(form), (), at)
        case ["|", *parts]:
            return join(*(value_of(part, bindings, at) for part in parts))
        case ["=", bool() as literal]:
            return Boolean(literal)
        case ["=", int()]:
            return number_of(at)
        case ["=", _]:
            return TEXT
        case ["~" | "^" as mark, name, *bound]:
            value = bindings.variables(mark).get(name)
            if value is not None and value is not UNKNOWN:
                return value
            return value_of(bound[0], bindings, at) if bound else UNKNOWN
        case ["()", _] | ["type", *_]:
            return UNKNOWN
        case ["tuple...", element]:
            return ListOf(rest=value_of(element, bindings, at), kind="tuple")
        case ["tuple", *parts]:
            return _row([value_of(part, bindings, at) for part in parts], "pair", at)
        case [str() as name, *parts]:
            return instance_of(stubs.full(name), tuple(value_of(part, bindings, at) for part in parts), at)
        case _:
            return UNKNOWN


def number_of(at: Declaration, name: str = "") -> Number:
    """Return a number for the reason in ``at``, of the class ``name``."""
    return Number(Because(at.why, at.site), name in builtin_names.REAL_TYPES)


def _row(values: list[Value], kind: str, at: Declaration) -> Value:
    """Return a tuple of ``values``. Without a site for them it is a tuple of any length that has any of them."""
    site = at.site
    if site is None or len(values) < 2:
        return ListOf(rest=join(*values) if values else UNKNOWN, kind="tuple")
    return ListOf(tuple(Entry(value, site) for value in values), kind=kind)


def instance_of(name: str, arguments: tuple[Value, ...], at: Declaration) -> Value:
    """Return an instance of a class of the stubs with type arguments: ``builtins.list``, (a number,) → numbers."""
    shape = stubs.shape(name)
    if shape in _SCALARS:
        return _SCALARS[shape]
    if shape in ("mapping", "tuple", "list"):
        # A class whose elements are instances of itself would have no end: `class Tree(list["Tree"])`.
        if name in at.inside:
            return ExternalInstance(name, arguments)
        at = replace(at, inside=at.inside | {name})
    match shape:
        case "number":
            return number_of(at, name)
        case "awaitable":
            return arguments[-1] if arguments else UNKNOWN
        case "mapping":
            keys, rest = (type_argument(name, arguments, "typing.Mapping", place, at) for place in (0, 1))
            return DictOf(open=True, rest=rest, kind=name, keys=as_keys(keys))
        case "tuple":
            return _tuple(name, arguments, at)
        case "list":
            rest = item_of(name, arguments, at)
            return ListOf(rest=rest, kind=_SHORT.get(name, name))
        case _:
            return ExternalInstance(name, _kinds_of_texts(name, arguments))


def _kinds_of_texts(name: str, arguments: tuple[Value, ...]) -> tuple[Value, ...]:
    """Return type arguments without the content of texts where the class only distinguishes ``str`` from ``bytes``.

    ``re.compile("kWh")`` → ``re.Pattern``, (any text,): its matches are not ``"kWh"``.
    """
    if not any(isinstance(option, Text) for argument in arguments for option in options(argument)):
        return arguments
    return tuple(
        over(argument, _kind_of_text) if variable.startswith("AnyStr") else argument
        for variable, argument in zip(stubs.variables(name), arguments, strict=False)
    )


def _kind_of_text(value: Value) -> Value:
    return (BYTES if value.is_bytes else TEXT) if isinstance(value, Text) else value


_SCALARS: dict[str, Value] = {"text": TEXT, "bytes": BYTES, "bool": BOOL, "none": NONE}


def _tuple(name: str, arguments: tuple[Value, ...], at: Declaration) -> Value:
    """Return an instance of a tuple class: a named tuple by its fields, others by their types or elements.

    ``class Pair(tuple[int, str])`` → (a number, a text)
    """
    bindings = class_bindings(name, arguments)
    names = stubs.fields(name)
    if names:
        members = [stubs.member(name, field) for field in names]
        items: list[Type] | None = [member.type if member is not None else "?" for member in members]
    else:
        items = stubs.tuple_items(name)
    if items is None:
        return ListOf(rest=item_of(name, arguments, at), kind=_SHORT.get(name, name))
    return _row([value_of(item, bindings, at) for item in items], name, at)


def class_bindings(name: str, arguments: tuple[Value, ...]) -> TypeBindings:
    """Return the type arguments of a class under its type variables: ``list``, (a number,) → ``{"_T": a number}``."""
    return TypeBindings(dict(zip(stubs.variables(name), arguments, strict=False)))


def type_argument(
    name: str, arguments: tuple[Value, ...], ancestor: str, position: int, at: Declaration
) -> Value:
    """Return the type argument at ``position`` of a base class: ``dict[str, int]``, ``typing.Iterable``, 0 → a text."""
    substitution = stubs.lineage(name).get(ancestor)
    variables = stubs.variables(ancestor)
    if substitution is None or position >= len(variables):
        return UNKNOWN
    return value_of(substitution.get(variables[position], "?"), class_bindings(name, arguments), at)


def item_of(name: str, arguments: tuple[Value, ...], at: Declaration) -> Value:
    """Return an element of an instance of the class ``name``: ``collections.deque``, (a text,) → a text."""
    for ancestor in ("typing.Iterable", "typing.AsyncIterable"):
        value = type_argument(name, arguments, ancestor, 0, at)
        if value is not UNKNOWN:
            return value
    for step in ("__next__", "__anext__"):  # an iterator that derives from neither
        member = stubs.member(name, step)
        if member is not None and member.kind == "m":
            return value_of(member.type[0][1], class_bindings(name, arguments), at)
    return UNKNOWN


# --- from values to classes ----------------------------------------------------------------------------------


# What is bytes to us may be any of them.
_BYTES_CLASSES = ("builtins.bytes", "builtins.bytearray", "builtins.memoryview")


def class_name(value: Value, attribute: str = "") -> str | None:
    """Return the full name of a value's class in the stubs: a text → ``builtins.str``; ``None`` if there is none.

    Bytes may be of several classes: of these, the first that has the attribute.
    """
    match value:
        case Text(is_bytes=True):
            first = _BYTES_CLASSES[0]
            return next(
                (name for name in _BYTES_CLASSES if attribute and stubs.member(name, attribute)), first
            )
        case Text():
            return "builtins.str"
        case Boolean():
            return "builtins.bool"
        case ListOf(kind=kind):
            return _KINDS.get(kind, kind)
        case DictOf(kind=kind):
            return kind
        case ExternalInstance(name=name):
            declaration = stubs.find(name)
            return declaration.name if declaration is not None and declaration.kind == "class" else None
        case _:
            return None


def class_and_arguments(value: Value, attribute: str = "") -> tuple[str, tuple[Value, ...]] | None:
    """Return the class of a value with its type arguments: ``[1]`` → ``("builtins.list", (a number,))``.

    ``None`` if the stubs have no such class; ``attribute`` as for :func:`class_name`.
    """
    name = class_name(value, attribute)
    if name is None:
        return None
    variables = stubs.variables(name)
    match value:
        case ListOf() if variables:
            return name, (value.element(),) * len(variables)
        case Record() if variables:
            key = value.any_key()
            return name, (key, value.any_value()) if len(variables) == 2 else (key,) * len(variables)
        case ExternalInstance(arguments=arguments):
            return name, arguments
        case _:
            return name, ()


NUMBER_CLASSES = (
    "builtins.int",
    "builtins.float",
    "decimal.Decimal",
    "fractions.Fraction",
    "builtins.complex",
)


def short_name(name: str) -> str:
    return name.removeprefix("builtins.")


# --- names ---------------------------------------------------------------------------------------------------


def constant(name: str, site: Site | None) -> Value | None:
    """Return the value of a variable of the standard library: ``math.pi`` → a number; ``None`` if it is no variable."""
    return variable(name, Declaration(site, f"`{short_name(name)}` is declared as a number"))


def variable(name: str, at: Declaration) -> Value | None:
    """Return the value of a variable by its full name: ``os.sep`` → a text, ``http.HTTPStatus.OK.value`` → a number.

    ``None`` if it is neither a variable, a member of an enumeration nor an attribute of one.
    """
    declaration = stubs.find(name)
    head, _, tail = (declaration.name if declaration is not None else name).rpartition(".")
    if declaration is not None and declaration.kind == "a":
        is_member = stubs.is_class(head) and stubs.is_enum(head)
        return instance_of(head, (), at) if is_member else value_of(declaration.type, TypeBindings(), at)
    if declaration is None or declaration.kind != "inner":
        return None
    owner = stubs.find(head)
    if owner is not None and owner.kind == "class":
        member = stubs.member(owner.name, tail)
        return value_of(member.type, TypeBindings(), at) if member and member.kind == "a" else None
    holder = variable(head, at)
    return attribute(holder, tail, at.site) if holder is not None else None


def numeric_constant(name: str, site: Site | None) -> Value | None:
    """Return the value of a variable if it is a number or a container of only numbers, else ``None``."""
    value = constant(name, site)
    return value if value is not None and _is_numeric(value) else None


def _is_numeric(value: Value) -> bool:
    if not isinstance(value, (ListOf, Record)):
        return number(value) is not None
    parts = value.values()
    return bool(parts) and all(number(part) is not None for part in parts)


def attribute(value: Value, name: str, site: Site | None) -> Value | None:
    """Return the attribute ``name`` of ``value``: a date, ``year`` → a number; ``None`` for a method or without one."""
    cls = class_name(value, name)
    member = stubs.member(cls, name) if cls is not None else None
    generic = class_and_arguments(value, name) if member is not None and member.kind == "a" else None
    if member is None or generic is None:
        return None
    at = Declaration(site, f"`{short_name(generic[0])}.{name}` is declared as a number")
    return value_of(member.type, replace(class_bindings(*generic), this=value), at)


def lacks(value: Value, name: str) -> bool:
    """Return whether ``value`` surely has no attribute ``name``: its class is in the stubs, and does not declare it."""
    cls = class_name(value, name)
    if cls is None or not stubs.is_class(cls) or stubs.member(cls, name) is not None:
        return False
    return stubs.member(cls, "__getattr__") is None and "?" not in stubs.lineage(cls)


def is_described(value: Value) -> bool:
    """Return whether the kind of ``value`` is known: not if it comes from a package without stubs."""
    match value:
        case External(name=name):
            # Without a dot it is a module, whose functions are no methods: `requests.get(url, 5)` looks up no key.
            return "." not in name or stubs.knows(name)
        case ExternalInstance():
            return class_name(value) is not None
        case Instance() | Method():
            return False
        case _:
            return value is not UNKNOWN


def instance(name: str, arguments: tuple[Value, ...], site: Site | None, why: str) -> Value | None:
    """Return an instance of a class by its full name; ``None`` if the stubs know no such class."""
    declaration = stubs.find(name)
    if declaration is None or declaration.kind != "class":
        return None
    return instance_of(declaration.name, arguments, Declaration(site, why))
