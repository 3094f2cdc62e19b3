"""What one module says, small and picklable: the semantic model that everything after the parse works on.

The reader turns a LibCST tree into these records once; no rule and no inference ever sees the tree. An
expression carries ``at``, its number in reading order, from which :mod:`gllint_rules.positions` finds its
place in the source when, and only when, somebody reports it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

# --- expressions ---------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class Const:
    """A literal: number, text, bytes, bool, ``None`` or ``...``."""

    at: int
    value: object


@dataclass(slots=True, eq=False)
class Name:
    at: int
    id: str


@dataclass(slots=True, eq=False)
class Attr:
    at: int
    base: Expr
    name: str


@dataclass(slots=True, eq=False)
class Call:
    at: int
    func: Expr
    args: tuple[Expr, ...]
    keywords: tuple[tuple[str | None, Expr], ...]  # a None name is ``**value``

    def keyword(self, *names: str) -> Expr | None:
        """The value of the first keyword that bears one of ``names``."""
        for name, value in self.keywords:
            if name in names:
                return value
        return None


@dataclass(slots=True, eq=False)
class Sub:
    at: int
    base: Expr
    index: Expr


@dataclass(slots=True, eq=False)
class Dict:
    at: int
    items: tuple[tuple[Expr | None, Expr], ...]  # a None key is ``**value``

    def value(self, key: str) -> Expr | None:
        """The value under the literal ``key``; of several the last, as at execution."""
        for k, v in reversed(self.items):
            if isinstance(k, Const) and k.value == key:
                return v
        return None


@dataclass(slots=True, eq=False)
class Seq:
    at: int
    kind: Literal["list", "tuple", "set"]
    items: tuple[Expr, ...]


@dataclass(slots=True, eq=False)
class Comp:
    at: int
    kind: Literal["list", "set", "dict", "generator"]
    key: Expr | None
    element: Expr
    scope: Scope


@dataclass(slots=True, eq=False)
class BinOp:
    at: int
    op: str
    left: Expr
    right: Expr


@dataclass(slots=True, eq=False)
class UnaryOp:
    at: int
    op: str
    operand: Expr


@dataclass(slots=True, eq=False)
class BoolOp:
    at: int
    op: str
    left: Expr
    right: Expr


@dataclass(slots=True, eq=False)
class Compare:
    at: int
    operands: tuple[Expr, ...]
    ops: tuple[str, ...]


@dataclass(slots=True, eq=False)
class IfExp:
    at: int
    test: Expr
    body: Expr
    orelse: Expr


@dataclass(slots=True, eq=False)
class Lambda:
    at: int
    params: tuple[Param, ...]
    body: Expr
    scope: Scope


@dataclass(slots=True, eq=False)
class Hole:
    """``{value}`` in an f-string; ``literal`` is the self-documenting text of ``{value=}``."""

    value: Expr
    spec: str | None


@dataclass(slots=True, eq=False)
class Join:
    """An f-string or an implicit concatenation: literal parts and holes in order."""

    at: int
    parts: tuple[Const | Join | Hole, ...]


@dataclass(slots=True, eq=False)
class Await:
    at: int
    value: Expr


@dataclass(slots=True, eq=False)
class Yield:
    at: int
    value: Expr | None
    delegate: bool


@dataclass(slots=True, eq=False)
class Star:
    at: int
    value: Expr


@dataclass(slots=True, eq=False)
class Walrus:
    at: int
    target: str
    value: Expr


@dataclass(slots=True, eq=False)
class Slice:
    at: int
    parts: tuple[Expr, ...]


Expr: TypeAlias = (
    Const
    | Name
    | Attr
    | Call
    | Sub
    | Dict
    | Seq
    | Comp
    | BinOp
    | UnaryOp
    | BoolOp
    | Compare
    | IfExp
    | Lambda
    | Join
    | Await
    | Yield
    | Star
    | Walrus
    | Slice
)

# --- statements ----------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class Assign:
    """``targets = value``; ``annotation`` where there is one, ``value`` absent in ``x: int``."""

    targets: tuple[Expr, ...]
    value: Expr | None
    annotation: Expr | None = None


@dataclass(slots=True, eq=False)
class AugAssign:
    target: Expr
    op: str
    value: Expr


@dataclass(slots=True, eq=False)
class Return:
    value: Expr | None


@dataclass(slots=True, eq=False)
class Do:
    """An expression evaluated for its effect, a ``raise``, an ``assert`` or a ``del``."""

    kind: Literal["expr", "raise", "assert", "del"]
    values: tuple[Expr, ...]


@dataclass(slots=True, eq=False)
class Jump:
    """``break`` or ``continue``."""

    kind: Literal["break", "continue"]


@dataclass(slots=True, eq=False)
class If:
    test: Expr
    body: Block
    orelse: Block


@dataclass(slots=True, eq=False)
class Loop:
    """``for`` (with ``target``) and ``while`` (with the condition as ``source``)."""

    target: Expr | None
    source: Expr
    body: Block
    orelse: Block


@dataclass(slots=True, eq=False)
class With:
    items: tuple[tuple[Expr, Expr | None], ...]
    body: Block


@dataclass(slots=True, eq=False)
class Try:
    body: Block
    handlers: tuple[tuple[str | None, Block], ...]
    orelse: Block
    final: Block


@dataclass(slots=True, eq=False)
class Match:
    subject: Expr
    # Captured names, each with the plain class that its pattern asks for or "", and the body.
    cases: tuple[tuple[tuple[tuple[str, str], ...], Block], ...]
    exhaustive: bool


@dataclass(slots=True, eq=False)
class Def:
    function: Function


@dataclass(slots=True, eq=False)
class ClassDef:
    cls: Class


Stmt: TypeAlias = Assign | AugAssign | Return | Do | Jump | If | Loop | With | Try | Match | Def | ClassDef
Block: TypeAlias = tuple[Stmt, ...]


def blocks(statement: Stmt) -> tuple[Block, ...]:
    """The blocks that a statement holds, in reading order; those of definitions are of other scopes."""
    match statement:
        case If(body=body, orelse=orelse) | Loop(body=body, orelse=orelse):
            return body, orelse
        case With(body=body):
            return (body,)
        case Try(body=body, handlers=handlers, orelse=orelse, final=final):
            return body, *(inner for _, inner in handlers), orelse, final
        case Match(cases=cases):
            return tuple(inner for _, inner in cases)
        case _:
            return ()


# --- scopes and definitions ----------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class Param:
    name: str
    annotation: Expr | None
    default: Expr | None
    kind: Literal["positional", "any", "keyword", "star", "double-star"]


BindingKind: TypeAlias = Literal[
    "assign",  # value
    "annotated",  # annotation, perhaps a value
    "aug",  # value is a BinOp over the old one
    "item",  # value, index: the index-th of an unpacked value
    "loop",  # value is what is iterated over; index where unpacked
    "with",
    "param",
    "def",
    "class",
    "import",
    "alias",  # type X = value
    "unknown",
]


@dataclass(slots=True, eq=False)
class Binding:
    """One way in which a name gets its value in a scope."""

    kind: BindingKind
    value: Expr | None = None
    annotation: Expr | None = None
    index: tuple[int, ...] = ()
    target: Function | Class | Param | None = None
    module: str = ""  # of an import: the dotted module, with leading dots where relative
    name: str = ""  # of an import: the name in it; "" where the module itself is bound
    at: int = -1  # of an assignment: the name that it binds


@dataclass(slots=True, eq=False)
class Scope:
    """A namespace. ``owner`` is the function, class, lambda or ``None`` (module, comprehension)."""

    kind: Literal["module", "class", "function", "lambda", "comprehension"]
    parent: Scope | None
    owner: Function | Class | None = None
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)  # modules of ``from x import *``
    # Names that ``global`` or ``nonlocal`` hands to an outer scope.
    outer: set[str] = field(default_factory=set)

    def bind(self, name: str, binding: Binding) -> None:
        scope = self
        if name in self.outer and self.parent is not None:
            scope = self.parent
        found = scope.bindings.get(name)
        if found is None:
            scope.bindings[name] = [binding]
        else:
            found.append(binding)

    def find(self, name: str) -> list[Binding]:
        """The bindings of ``name`` in the nearest scope around this one that has any."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.bindings:
                return scope.bindings[name]
            scope = scope.parent
        return []

    def enclosing_function(self) -> Function | None:
        """The nearest ``def`` around this scope, itself included."""
        scope: Scope | None = self
        while scope is not None:
            if isinstance(scope.owner, Function):
                return scope.owner
            scope = scope.parent
        return None

    def enclosing_class(self) -> Class | None:
        """The nearest ``class`` around this scope, itself included."""
        scope: Scope | None = self
        while scope is not None:
            if isinstance(scope.owner, Class):
                return scope.owner
            scope = scope.parent
        return None


@dataclass(slots=True, eq=False)
class Function:
    name: str
    at: int  # of its name; its parameters and all that its body holds follow, up to ``end``
    params: tuple[Param, ...]
    returns: Expr | None
    decorators: tuple[Expr, ...]
    scope: Scope
    is_async: bool
    body: Block = ()
    yields: list[Yield] = field(default_factory=list)
    end: int = 0

    @property
    def owner(self) -> Class | None:
        """The class whose body defines it, if one does."""
        parent = self.scope.parent
        return parent.owner if parent is not None and isinstance(parent.owner, Class) else None

    @property
    def qualname(self) -> str:
        owner = self.owner
        return f"{owner.name}.{self.name}" if owner else self.name


@dataclass(slots=True, eq=False)
class Class:
    name: str
    at: int
    bases: tuple[Expr, ...]
    keywords: tuple[tuple[str | None, Expr], ...]
    decorators: tuple[Expr, ...]
    scope: Scope
    type_params: tuple[str, ...] = ()
    # ``self.x = value`` anywhere in its methods: attribute name -> (value, annotation, scope of the method).
    attributes: dict[str, list[tuple[Expr | None, Expr | None, Scope]]] = field(default_factory=dict)

    def method(self, name: str) -> Function | None:
        for binding in reversed(self.scope.bindings.get(name, ())):
            if isinstance(binding.target, Function):
                return binding.target
        return None

    def methods(self) -> Iterator[Function]:
        for bindings in self.scope.bindings.values():
            for binding in bindings:
                if isinstance(binding.target, Function):
                    yield binding.target


UnitKind: TypeAlias = Literal["simple", "header", "elif", "except", "match", "case", "bare"]


@dataclass(slots=True, eq=False)
class Unit:
    """A stretch of source that is parsed again alone when a place in it is asked for.

    ``first`` is the number of its first expression, ``lines`` how many logical lines it takes. ``bare`` are
    the headers without an expression: ``else``, ``try``, ``finally``.
    """

    first: int
    lines: int
    kind: UnitKind


@dataclass(slots=True, eq=False)
class Module:
    """The facts of one file. ``path`` is absolute, with forward slashes."""

    path: str
    digest: str
    scope: Scope
    body: Block
    size: int  # how many expressions were numbered
    units: list[Unit]
    calls: list[tuple[Call, Scope]]
    dicts: list[tuple[Dict, Scope]]
    functions: list[Function]
    classes: list[Class]
    subscripts: list[tuple[Sub, Scope]] = field(default_factory=list)
    macros: list[Macro] = field(default_factory=list)
    texts: list[tuple[Const | Join, Scope]] = field(default_factory=list)  # with digits or holes
    mutated: set[str] = field(default_factory=set)  # names of containers that something is stored in
    compared: list[tuple[int, int]] = field(
        default_factory=list
    )  # stretches of expressions inside comparisons
    imports: set[str] = field(default_factory=set)  # dotted names of ``import a.b.c``
    docstrings: set[int] = field(default_factory=set)  # strings that stand alone as a statement


@dataclass(slots=True, eq=False)
class Macro:
    """A string that mentions a claim macro, with what surrounds it: keyword, key, variable or call names."""

    text: Const | Join
    scope: Scope
    context: tuple[str, ...]


def last_name(expr: Expr) -> str:
    """``c`` of ``a.b.c`` or ``c``; of a call or subscript that of its callee or base; else ``""``."""
    match expr:
        case Name(id=name) | Attr(name=name):
            return name
        case Call(func=inner) | Sub(base=inner):
            return last_name(inner)
        case _:
            return ""


def dotted(expr: Expr) -> str:
    """``a.b.c`` of a chain of names; ``""`` of anything else."""
    match expr:
        case Name(id=name):
            return name
        case Attr(base=base, name=name):
            left = dotted(base)
            return f"{left}.{name}" if left else ""
        case _:
            return ""
