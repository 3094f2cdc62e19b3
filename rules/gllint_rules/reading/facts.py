"""What one module says, small and picklable: the semantic model that everything after the parse works on.

The reader turns a syntax tree into these records once; no rule and no inference ever sees the tree. An
expression has ``at``, its number in reading order, from which :mod:`gllint_rules.reading.positions` finds its
place in the source when, and only when, it is reported.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Literal, TypeAlias
from unicodedata import is_normalized, normalize

from msgspec import Struct, field

from gllint_rules.reading.outline import (
    SECTION_BITS,
    Outline,
    Section,
    calls_the_same,
    has_same_shape,
    mentions_the_same,
)
from gllint_rules.reading.reads import ALL, CALLS, SHAPE, Reads
from gllint_rules.reading.section_texts import MACRO_MARK as MACRO_MARK
from gllint_rules.reading.section_texts import Edited, edited_part
from gllint_rules.tuples import NamedTuple

# --- expressions ---------------------------------------------------------------------------------------------


class Const(Struct, eq=False):
    """A literal: number, text, bytes, bool, ``None`` or ``...``."""

    at: int
    value: object


class Name(Struct, eq=False):
    at: int
    id: str


class Attr(Struct, eq=False):
    at: int
    base: Expr
    name: str


class Call(Struct, eq=False):
    at: int
    func: Expr
    args: tuple[Expr, ...]
    keywords: tuple[tuple[str | None, Expr], ...]  # a None name is ``**value``

    def keyword(self, *names: str) -> Expr | None:
        """Return the value of the first keyword that bears one of ``names``."""
        for name, value in self.keywords:
            if name in names:
                return value
        return None

    def placed(self) -> tuple[Expr, ...]:
        """The arguments whose places are known: those before the first ``*spread``."""
        star = next((i for i, arg in enumerate(self.args) if isinstance(arg, Star)), None)
        return self.args[:star]

    def spreads(self) -> bool:
        """Return whether there are arguments that are not written out."""
        return len(self.placed()) < len(self.args) or any(name is None for name, _ in self.keywords)


class Sub(Struct, eq=False):
    at: int
    base: Expr
    index: Expr


class Dict(Struct, eq=False):
    at: int
    items: tuple[tuple[Expr | None, Expr], ...]  # a None key is ``**value``

    def value(self, key: str) -> Expr | None:
        """Return the value under the literal ``key``; of several the last, as at execution."""
        for k, v in reversed(self.items):
            if isinstance(k, Const) and k.value == key:
                return v
        return None


class Seq(Struct, eq=False):
    at: int
    kind: Literal["list", "tuple", "set"]
    items: tuple[Expr, ...]


class Comp(Struct, eq=False):
    at: int
    kind: Literal["list", "set", "dict", "generator"]
    key: Expr | None
    element: Expr
    scope: Scope
    tests: tuple[Expr, ...] = ()  # its ``if``s


class BinOp(Struct, eq=False):
    at: int
    op: str
    left: Expr
    right: Expr


class UnaryOp(Struct, eq=False):
    at: int
    op: str
    operand: Expr


class BoolOp(Struct, eq=False):
    at: int
    op: str
    left: Expr
    right: Expr


class Compare(Struct, eq=False):
    at: int
    operands: tuple[Expr, ...]
    ops: tuple[str, ...]


class IfExp(Struct, eq=False):
    at: int
    test: Expr
    body: Expr
    orelse: Expr


class Lambda(Struct, eq=False):
    at: int
    params: tuple[Param, ...]
    body: Expr
    scope: Scope


class Hole(Struct, eq=False):
    """``{value}`` in an f-string; ``literal`` is the self-documenting text of ``{value=}``."""

    value: Expr
    spec: str | None


class Join(Struct, eq=False):
    """An f-string or an implicit concatenation: literal parts and holes in order."""

    at: int
    parts: tuple[Const | Join | Hole, ...]


class Await(Struct, eq=False):
    at: int
    value: Expr


class Yield(Struct, eq=False):
    at: int
    value: Expr | None
    delegate: bool


class Star(Struct, eq=False):
    at: int
    value: Expr


class Walrus(Struct, eq=False):
    at: int
    target: str
    value: Expr


class Slice(Struct, eq=False):
    """``lower:upper:step``, each ``None`` where it is left out."""

    at: int
    bounds: tuple[Expr | None, ...]

    @property
    def parts(self) -> tuple[Expr, ...]:
        """The bounds that are written."""
        return tuple(bound for bound in self.bounds if bound is not None)


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


class Assign(Struct, eq=False):
    """``targets = value``; ``annotation`` where there is one, ``value`` absent in ``x: int``."""

    targets: tuple[Expr, ...]
    value: Expr | None
    annotation: Expr | None = None


class AugAssign(Struct, eq=False):
    target: Expr
    op: str
    value: Expr


class Return(Struct, eq=False):
    value: Expr | None


class Do(Struct, eq=False):
    """An expression evaluated for its effect, a ``raise``, an ``assert`` or a ``del``."""

    kind: Literal["expr", "raise", "assert", "del"]
    values: tuple[Expr, ...]


class Jump(Struct, eq=False):
    """``break`` or ``continue``."""

    kind: Literal["break", "continue"]


class If(Struct, eq=False):
    test: Expr
    body: Block
    orelse: Block


class Loop(Struct, eq=False):
    """``for`` (with ``target``) and ``while`` (with the condition as ``source``)."""

    target: Expr | None
    source: Expr
    body: Block
    orelse: Block


class With(Struct, eq=False):
    items: tuple[tuple[Expr, Expr | None], ...]
    body: Block


class Try(Struct, eq=False):
    body: Block
    handlers: tuple[tuple[str | None, Block], ...]
    orelse: Block
    final: Block


class Match(Struct, eq=False):
    subject: Expr
    # Captured names, each with the plain class that its pattern asks for or "", and the body.
    cases: tuple[tuple[tuple[tuple[str, str], ...], Block], ...]
    exhaustive: bool
    values: tuple[tuple[Expr, ...], ...] = ()  # those that the pattern of each case compares with


class Def(Struct, eq=False):
    function: Function


class ClassDef(Struct, eq=False):
    cls: Class


Stmt: TypeAlias = Assign | AugAssign | Return | Do | Jump | If | Loop | With | Try | Match | Def | ClassDef
Block: TypeAlias = tuple[Stmt, ...]


def blocks(statement: Stmt) -> tuple[Block, ...]:
    """Return the blocks that a statement contains, in reading order; those of definitions are of other scopes."""
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


def statements(*blocks_: Block) -> Iterator[Stmt]:
    """Yield the statements of blocks and of the blocks in them, those of a block one after the other."""
    waiting = [*blocks_]
    while waiting:
        for statement in waiting.pop():
            yield statement
            waiting += blocks(statement)


# --- scopes and definitions ----------------------------------------------------------------------------------


class Param(Struct, eq=False):
    name: str
    annotation: Expr | None
    default: Expr | None
    kind: Literal["positional", "any", "keyword", "star", "double-star"]
    at: int = -1  # of its name


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


class Branch(Struct, eq=False):
    """A block that is not always executed: an arm of an ``if``, a ``try`` or a ``match``, the body of a loop.

    ``outer`` is the branch that it is in; ``None`` where that is the body of its module, class or function.
    """

    outer: Branch | None


class Binding(Struct, eq=False):
    """One way in which a name gets its value in a scope."""

    kind: BindingKind
    value: Expr | None = None
    annotation: Expr | None = None
    index: tuple[int, ...] = ()
    target: Function | Class | Param | None = None
    module: str = ""  # of an import: the dotted module, with leading dots where relative
    name: str = ""  # of an import: the name in it; "" where the module itself is bound
    at: int = -1  # of an assignment: the name that it binds
    scope: Scope | None = None  # the function that assigns it, where that is not the scope that binds it
    branch: Branch | None = None  # the block that it is in, where that is not always executed


def alternatives(bindings: list[Binding]) -> list[Binding]:
    """Return those of the ``bindings`` of a name that may be the last: a function or class replaces what its block
    bound.

    What another branch binds stays: ``try: from a import B`` and ``except ImportError: class B: …``.
    """
    if len(bindings) == 1 or all(binding.target is None for binding in bindings):
        return bindings
    replaced: set[Branch | None] = set()
    results: list[Binding] = []
    for binding in reversed(bindings):
        branch = binding.branch
        while branch is not None and branch not in replaced:
            branch = branch.outer
        if branch in replaced:
            continue
        results.append(binding)
        if isinstance(binding.target, (Function, Class)):
            replaced.add(binding.branch)
    return results[::-1]


class Scope(Struct, eq=False):
    """A namespace. ``owner`` is the function, class, lambda or ``None`` (module, comprehension)."""

    kind: Literal["module", "class", "function", "lambda", "comprehension"]
    parent: Scope | None
    owner: Function | Class | None = None
    bindings: Mapping[str, list[Binding]] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)  # modules of ``from x import *``
    # Names that ``nonlocal`` hands to the scope around, and ``global`` to the module.
    outer: frozenset[str] = frozenset()
    globals: frozenset[str] = frozenset()

    def enclosing(self) -> Iterator[Scope]:
        """This scope and those around it, the nearest first."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def home(self, name: str) -> Scope | None:
        """Return the nearest scope around this one that binds ``name``; what a class binds only its own statements
        see.
        """
        binding = (s for s in self.enclosing() if name in s.bindings)
        return next((s for s in binding if s.kind != "class" or s is self), None)

    def find(self, name: str) -> list[Binding]:
        """Return the bindings of ``name`` in its :meth:`home`."""
        home = self.home(name)
        return home.bindings[name] if home is not None else []

    def enclosing_function(self) -> Function | None:
        """Return the nearest ``def`` around this scope, itself included."""
        return next((s.owner for s in self.enclosing() if isinstance(s.owner, Function)), None)

    def enclosing_class(self) -> Class | None:
        """Return the nearest ``class`` around this scope, itself included."""
        return next((s.owner for s in self.enclosing() if isinstance(s.owner, Class)), None)


class Function(Struct, eq=False):
    name: str
    at: int  # of its name; its parameters and all that its body contains follow, up to ``end``
    params: tuple[Param, ...]
    returns: Expr | None
    decorators: tuple[Expr, ...]
    scope: Scope
    is_async: bool
    body: Block = ()
    yields: list[Yield] = field(default_factory=list)
    end: int = 0
    _changed: frozenset[str] | None = None

    @property
    def changed(self) -> frozenset[str]:
        """The names whose containers its body may change: stores into them, and calls as statements."""
        if self._changed is None:
            self._changed = frozenset(_changed_in(self.body))
        return self._changed

    @property
    def owner(self) -> Class | None:
        """The class whose body defines it, if one does."""
        parent = self.scope.parent
        return parent.owner if parent is not None and isinstance(parent.owner, Class) else None

    @property
    def qualname(self) -> str:
        owner = self.owner
        return f"{owner.name}.{self.name}" if owner else self.name


class Class(Struct, eq=False):
    name: str
    at: int
    bases: tuple[Expr, ...]
    keywords: tuple[tuple[str | None, Expr], ...]
    decorators: tuple[Expr, ...]
    scope: Scope
    type_params: tuple[str, ...] = ()
    # ``self.x = value`` anywhere in its methods: attribute name -> (value, annotation, scope of the method).
    attributes: Mapping[str, list[tuple[Expr | None, Expr | None, Scope]]] = field(default_factory=dict)
    docstring: str = ""

    def method(self, name: str) -> Function | None:
        for binding in reversed(self.scope.bindings.get(name, ())):
            if isinstance(binding.target, Function):
                return binding.target
        return None

    def statements(self) -> Iterator[tuple[str, list[Binding]]]:
        """Yield what its body binds, its methods aside, which need not be read for that."""
        bindings = self.scope.bindings
        names = bindings.without_methods() if isinstance(bindings, _Namespace) else bindings
        for name in names:
            yield name, bindings[name]

    def methods(self) -> Iterator[Function]:
        for bindings in self.scope.bindings.values():
            for binding in bindings:
                if isinstance(binding.target, Function):
                    yield binding.target


class Macro(Struct, eq=False):
    """A string that mentions a claim macro, with what surrounds it: keyword, key, variable or call names."""

    text: Const | Join
    scope: Scope
    context: tuple[str, ...]


class Line(NamedTuple):
    """Simple statements that share a line of their own: the first expression's number, and where they are.

    The number is counted from the section's first, as are the offsets from its begin.
    """

    first: int
    begin: int
    end: int  # of the line that the last of them ends on


class Places(NamedTuple):
    """Where the expressions of a section are, by number: offsets of its text, parentheses left out.

    A server keeps those of a whole project: numbers in a row take a tenth of what pairs do.
    """

    begins: array[int]
    ends: array[int]
    names: array[int]  # the numbers of names, counted from the section's first
    lines: list[Line]

    def span(self, number: int) -> tuple[int, int]:
        """Between which offsets an expression is; numbers are counted from the section's first."""
        return self.begins[number], self.ends[number]


Attributes: TypeAlias = "dict[str, list[tuple[Expr | None, Expr | None, Scope]]]"


class SectionFacts(Struct, eq=False):
    """What one section of a file says (see :mod:`gllint_rules.reading.outline`)."""

    section: Section
    body: Block = ()
    size: int = 0  # how many expressions were numbered
    calls: list[tuple[Call, Scope]] = field(default_factory=list)
    dicts: list[tuple[Dict, Scope]] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    classes: list[Class] = field(default_factory=list)
    subscripts: list[tuple[Sub, Scope]] = field(default_factory=list)
    macros: list[Macro] = field(default_factory=list)
    texts: list[tuple[Const | Join, Scope]] = field(default_factory=list)  # with digits or holes
    # What is compared, the values of a `match` included.
    comparisons: list[tuple[Compare, Scope]] = field(default_factory=list)
    # Stretches of expressions inside comparisons.
    compared: list[tuple[int, int]] = field(default_factory=list)
    docstrings: set[int] = field(default_factory=set)  # strings that are a whole statement
    # What it adds to the namespace of the module and to that of the class that it is a part of.
    bound: dict[str, list[Binding]] = field(default_factory=dict)
    bound_in_class: dict[str, list[Binding]] = field(default_factory=dict)
    attributes: Attributes = field(default_factory=dict)
    places: Places | None = None  # filled on demand
    by_number: list[Expr | None] | None = None  # likewise: its expressions

    @property
    def first(self) -> int:
        return self.section.number << SECTION_BITS

    def namespaces(self, module: Module) -> Iterator[tuple[Scope, Mapping[str, list[Binding]]]]:
        """Yield the scopes that the section binds names in, each with what it binds there."""
        yield module.scope, self.bound
        owner = module.owner(self.section)
        if owner is not None:
            yield owner.scope, self.bound_in_class
        scopes = [*(function.scope for function in self.functions), *(cls.scope for cls in self.classes)]
        for scope in scopes:
            if isinstance(scope.bindings, dict):
                yield scope, scope.bindings

    def attribute_tables(self) -> Iterator[Mapping[str, list[tuple[Expr | None, Expr | None, Scope]]]]:
        """Yield what the section assigns to attributes, class by class."""
        yield self.attributes
        for cls in self.classes:
            if isinstance(cls.attributes, dict):
                yield cls.attributes


class Module:
    """The facts of one file, read section by section on demand.

    ``path`` is absolute, with forward slashes. ``read`` gives the facts of a section. ``code`` is what to parse where
    ``source`` is in newer syntax (:mod:`gllint_rules.reading.newer`); all offsets are those of both.
    """

    def __init__(
        self,
        path: str,
        source: str,
        outline: Outline,
        read: Callable[[Module, Section], SectionFacts],
        code: str | None = None,
    ) -> None:
        self.path = path
        self._read = read
        self._sections: dict[int, SectionFacts] = {}
        self.unread: dict[int, str] = {}  # sections that could not be read, and why
        self.scope = Scope("module", None)
        self.reads: Reads | None = None  # where it is noted what is read of it, by numbers from ``key`` on
        self.key = 0
        # What the last edit made another: sections, and ``CALLS`` or ``ALL`` where their outlines say something else.
        # ``None`` where it changed more than what is in them.
        self.spoilt: frozenset[int] | None = None
        self.edited = Edited.NOTHING  # how much of what the file says the last edit changed
        self._say(source, outline, code)

    def _say(self, source: str, outline: Outline, code: str | None) -> None:
        """Take over a text and its outline."""
        self.source, self.outline = source, outline
        self.code = source if code is None else code
        # Names as they were before imports, of which a guarded one has several, gave them another one.
        self.imported_names: dict[str, tuple[str, ...]] = {}
        for imported in outline.imports:
            names = self.imported_names.get(imported.bound, ())
            if imported.name and imported.name not in names:
                self.imported_names[imported.bound] = (*names, imported.name)
        self._places = _places(outline)
        self.scope.bindings = _Namespace(self, self._places, "bound")
        self.scope.stars = [*outline.stars]
        for attribute in ("assigned", "mutated", "packages"):
            self.__dict__.pop(attribute, None)

    def follow(self, source: str, outline: Outline, code: str | None = None) -> None:
        """Update the facts after an edit. Sections with the same text keep theirs."""
        old_source, old, was_newer = self.source, self.outline, self.code is not self.source
        sections, unread = self._sections, self.unread
        self._sections, self.unread = {}, {}
        self._say(source, outline, code)
        is_newer = was_newer or self.code is not source
        same: set[int] = set()
        self.edited = Edited.PLACES
        for was, section in zip(old.sections, outline.sections, strict=False):
            if section.owner is not None and section.owner not in same:
                continue
            edited = edited_part(old_source, was, source, section)
            if edited == Edited.FACTS or (edited > Edited.NOTHING and is_newer):
                continue
            self.edited = max(self.edited, edited)
            same.add(section.number)
            if section.number in sections:
                if edited:
                    sections[section.number].places = None
                self._keep(sections[section.number], section)
            if section.number in unread:
                self.unread[section.number] = unread[section.number]
        self.spoilt = None
        if has_same_shape(old, outline):
            changed = frozenset(range(len(outline.sections))) - same
            pairs = [(old.sections[number], outline.sections[number]) for number in changed]
            self.spoilt = changed.union(
                () if all(calls_the_same(*pair) for pair in pairs) else (CALLS,),
                () if all(mentions_the_same(*pair) for pair in pairs) else (ALL,),
            )
        if self.spoilt != frozenset():
            self.edited = Edited.FACTS

    def _keep(self, section_facts: SectionFacts, section: Section) -> None:
        """Keep the facts of a section. Those of a class include its members."""
        section_facts.section = section
        self._sections[section.number] = section_facts
        if section.kind == "class":
            section_facts.places = None  # its methods may be longer now
            for cls in section_facts.classes[:1]:
                cls.scope.bindings = class_namespace(self, section)
                cls.attributes = class_attributes(self, section)

    def note_by(self, reads: Reads) -> None:
        """Have it noted from now on what is read of the module."""
        if self.reads is not reads:
            self.reads, self.key = reads, reads.number()

    def note(self, *numbers: int) -> None:
        """Note that sections were read."""
        if self.reads is not None:
            self.reads.now.update(self.key | number for number in numbers)

    # --- sections --------------------------------------------------------------------------------------------

    def section(self, number: int) -> SectionFacts:
        """Return the facts of a section, read now unless they are known."""
        if self.reads is not None:
            self.reads.now.add(self.key | number)
        section_facts = self._sections.get(number)
        if section_facts is None:
            self._sections[number] = section_facts = self._read(self, self.outline.sections[number])
        return section_facts

    def sections(
        self, about: Callable[[Section], bool] = lambda section: True, by: int = ALL
    ) -> Iterator[SectionFacts]:
        """Yield the facts of the sections of which the outline says so, in reading order.

        ``by`` is what of the outline ``about`` looks at, here and below, where that is not all of it: ``SHAPE`` of
        what an edit within a section leaves, or ``CALLS``.
        """
        if self.reads is not None:
            self.note(by)
        for section in self.outline.sections:
            if about(section):
                yield self.section(section.number)

    def section_of(self, at: int) -> SectionFacts:
        """Return the section that contains expression ``at``."""
        return self.section(at >> SECTION_BITS)

    def owner(self, section: Section) -> Class | None:
        """Return the class that a method is in, or that the section is itself."""
        number = section.number if section.kind == "class" else section.owner
        classes = self.section(number).classes if number is not None else ()
        return classes[0] if classes else None

    def binders(self, name: str) -> Iterator[Section]:
        """Return the sections that bind a name of the module, none of them read for that."""
        if self.reads is not None:
            self.note(SHAPE)
        return (self.outline.sections[number] for number in self._places.get(name, ()))

    def holds(self, section: Section, pattern: re.Pattern[str]) -> bool:
        """Return whether ``pattern`` is in the text of a section, its methods included.

        It may match in a comment, so use it only to decide what to read.
        """
        self._note_text(section)
        if pattern.search(self.source, section.begin, section.end) is not None:
            return True
        text = self._other_reading(section)
        return bool(text) and pattern.search(text) is not None

    def mentions(self, section: Section, words: Iterable[str]) -> bool:
        """Return whether one of ``words`` is in the text of a section, its methods included."""
        self._note_text(section)
        if any(self.source.find(word, section.begin, section.end) >= 0 for word in words):
            return True
        text = self._other_reading(section)
        return bool(text) and any(word in text for word in words)

    def _note_text(self, section: Section) -> None:
        if self.reads is not None:
            self.note(section.number, *(method.number for method in methods(self, section)))

    def _other_reading(self, section: Section) -> str:
        """Return the text of a section as Python compares the names in it, after NFKC; empty if that is its own."""
        text = "" if self.source.isascii() else self.source[section.begin : section.end]
        return "" if text.isascii() or is_normalized("NFKC", text) else normalize("NFKC", text)

    # --- what they contain, read as far as the kind asked for may be in it ----------------------------------------

    @cached_property
    def assigned(self) -> frozenset[str]:
        """The names of the module that one statement outside of functions, classes and imports binds."""
        sections = self.outline.sections
        return frozenset(
            name
            for name, numbers in self._places.items()
            if len(numbers) == 1 and sections[numbers[0]].kind == "other"
        )

    @cached_property
    def packages(self) -> frozenset[str]:
        """The top-level packages of what it imports from elsewhere."""
        return frozenset(name.partition(".")[0] for name in self.outline.modules())

    @cached_property
    def mutated(self) -> frozenset[str]:
        """The names of containers that something is stored in."""
        return frozenset().union(*(section.mutated for section in self.outline.sections))

    def calls_where(self, about: Callable[[Section], bool], by: int = ALL) -> Iterator[tuple[Call, Scope]]:
        """Yield the calls in the sections of which the outline says so."""
        for part in self.sections(about, by):
            yield from part.calls

    def calls_of(self, names: Collection[str]) -> Iterator[tuple[Call, Scope]]:
        """Return the calls in the sections that call something whose last name is one of ``names``."""
        wanted = frozenset(names)
        return self.calls_where(lambda section: not wanted.isdisjoint(section.calls), CALLS)

    def dicts_where(self, about: Callable[[Section], bool]) -> Iterator[tuple[Dict, Scope]]:
        """Yield the dict displays in the sections of which the outline says so."""
        for part in self.sections(about):
            yield from part.dicts

    def dicts_with(self, *keys: str) -> Iterator[tuple[Dict, Scope]]:
        """Return the dict displays in the sections that write out all of ``keys``."""
        wanted = frozenset(keys)
        return self.dicts_where(lambda section: wanted <= section.keys)

    def functions_where(self, about: Callable[[Section], bool], by: int = ALL) -> Iterator[Function]:
        """Yield the functions in the sections of which the outline says so, nested ones included."""
        for part in self.sections(about, by):
            yield from part.functions

    def classes_where(self, about: Callable[[Section], bool]) -> Iterator[Class]:
        """Yield the classes in the sections of which the outline's ``SHAPE`` says so, nested ones included."""
        for part in self.sections(lambda s: (s.kind == "class" or s.has_classes) and about(s), SHAPE):
            yield from part.classes

    # --- all of it ---------------------------------------------------------------------------------------------

    @property
    def calls(self) -> list[tuple[Call, Scope]]:
        return [call for part in self.sections() for call in part.calls]

    @property
    def dicts(self) -> list[tuple[Dict, Scope]]:
        return [display for part in self.sections() for display in part.dicts]

    @property
    def functions(self) -> list[Function]:
        return [function for part in self.sections() for function in part.functions]

    @property
    def classes(self) -> list[Class]:
        return [cls for part in self.sections() for cls in part.classes]


def _places(outline: Outline) -> Mapping[str, tuple[int, ...]]:
    """Return for each name of the module the sections that bind it."""
    places: dict[str, list[int]] = {}
    for section in outline.sections:
        names = (
            section.binds_globally if section.owner is not None else section.binds | section.binds_globally
        )
        for name in sorted(names):
            places.setdefault(name, []).append(section.number)
    return {name: tuple(numbers) for name, numbers in places.items()}


def class_namespace(module: Module, section: Section) -> _Namespace:
    """Return what a class binds: its own statements and its methods, in the order of the source."""
    places: dict[str, list[tuple[int, int]]] = {}
    for name, offset in section.members:
        places.setdefault(name, []).append((offset, section.number))
    for method in methods(module, section):
        places.setdefault(method.name, []).append((method.begin, method.number))
    in_order = sorted(places.items(), key=lambda item: min(item[1]))
    ordered = {name: tuple(number for _, number in sorted(numbers)) for name, numbers in in_order}
    return _Namespace(module, ordered, "bound_in_class", section.number)


def class_attributes(module: Module, section: Section) -> _ClassAttributes:
    """Return what the methods of a class assign to attributes of their instance."""
    return _ClassAttributes(module, (section, *methods(module, section)))


def methods(module: Module, section: Section) -> Iterator[Section]:
    """Yield the sections of a class's methods."""
    for number in range(section.number + 1, section.number + 1 + len(section.holes)):
        yield module.outline.sections[number]


class _Namespace(Mapping[str, list[Binding]]):
    """The names of a module or class; the sections that bind a name are read when it is looked up."""

    def __init__(
        self, module: Module, places: Mapping[str, tuple[int, ...]], part: str, number: int = SHAPE
    ) -> None:
        self._module, self._places, self._part, self._number = module, places, part, number
        self._bindings: dict[str, list[Binding]] = {}

    def __getitem__(self, name: str) -> list[Binding]:
        if self._module.reads is not None:
            self._module.note(SHAPE, self._number, *self._places.get(name, ()))
        bindings = self._bindings.get(name)
        if bindings is None:
            bindings = []
            for number in self._places[name]:
                bindings += getattr(self._module.section(number), self._part).get(name, ())
            if not bindings:
                raise KeyError(name)
            self._bindings[name] = bindings
        return bindings

    def __contains__(self, name: object) -> bool:
        if name in self._places:
            return self.get(str(name)) is not None
        if self._module.reads is not None:
            self._module.note(SHAPE, self._number)
        return False

    def __iter__(self) -> Iterator[str]:
        self._module.note(SHAPE, self._number)
        return (name for name in self._places if name in self)  # a section may be one that cannot be read

    def __len__(self) -> int:
        return len(self._places)

    def without_methods(self) -> Iterator[str]:
        """Return the names that something else than a method binds first."""
        self._module.note(SHAPE, self._number)
        sections = self._module.outline.sections
        return (name for name, numbers in self._places.items() if sections[numbers[0]].kind != "function")


class _ClassAttributes(Mapping[str, "list[tuple[Expr | None, Expr | None, Scope]]"]):
    """The attributes of a class; the methods that may assign one are read when it is asked for."""

    def __init__(self, module: Module, sections: tuple[Section, ...]) -> None:
        self._module, self._sections = module, sections

    def __getitem__(self, name: str) -> list[tuple[Expr | None, Expr | None, Scope]]:
        self._module.note(SHAPE, self._sections[0].number)
        assignments: list[tuple[Expr | None, Expr | None, Scope]] = []
        for section in self._sections:
            if name in section.attributes:
                assignments += self._module.section(section.number).attributes.get(name, ())
        if not assignments:
            raise KeyError(name)
        return assignments

    def __iter__(self) -> Iterator[str]:
        self._module.note(SHAPE, self._sections[0].number)
        names = sorted(frozenset().union(*(section.attributes for section in self._sections)))
        return (name for name in names if name in self)  # others are of other objects

    def __len__(self) -> int:
        return len(list(iter(self)))


def literal_text(expr: Expr) -> str:
    """Return the text of a literal; ``""`` of anything else."""
    return expr.value if isinstance(expr, Const) and isinstance(expr.value, str) else ""


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
            prefix = dotted(base)
            return f"{prefix}.{name}" if prefix else ""
        case _:
            return ""


_CHANGING = frozenset({"update", "setdefault", "append", "add", "insert", "extend", "clear", "pop"})


def _changed_in(body: Block) -> Iterator[str]:
    """The names whose containers a block may change, or hand on to a function of its own module or class."""
    for statement in statements(body):
        stored: tuple[Expr, ...] = ()
        evaluated: tuple[Expr | None, ...] = ()
        match statement:
            case Assign(targets=stored, value=value):
                stored = tuple(part for t in stored for part in (t.items if isinstance(t, Seq) else (t,)))
                evaluated = (value,)
            case AugAssign(target=Name(id=changed), op="|" | "+"):  # `out |= {"heat": kwh}`
                yield changed
            case AugAssign(target=target):
                stored = (target,)
            case Do(kind=kind, values=evaluated):
                stored = evaluated if kind == "del" else ()
            case _:
                pass
        yield from (name for t in stored if isinstance(t, (Sub, Attr)) and (name := root(t)))
        for value in evaluated:
            yield from _handed_on(value)


def _handed_on(expr: Expr | None) -> Iterator[str]:
    """Yield the names whose values an expression may change, or passes on."""
    while isinstance(expr, Await):
        expr = expr.value
    match expr:
        case Call(func=Attr(base=base, name=name)) if name in _CHANGING:
            if changed := root(base):
                yield changed
        case Call(func=Name() | Attr(base=Name(id="self" | "cls")), args=args, keywords=keywords):
            values = (*args, *(value for _, value in keywords))
            yield from (arg.id for arg in values if isinstance(arg, Name))
        case _:
            pass


def root(expr: Expr) -> str | None:
    """Return the name that a chain of attributes, subscripts and calls begins with."""
    while isinstance(expr, (Sub, Attr, Call)):
        expr = expr.func if isinstance(expr, Call) else expr.base
    return expr.id if isinstance(expr, Name) else None
