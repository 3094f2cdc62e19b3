"""The outline of a file: where its sections begin and end, what each binds and mentions.

``ast.parse`` gives it, at a ninth of what LibCST's parse of the same file costs. A *section* is a top-level statement,
a method, or a class without its methods; of each the outline says enough to tell whether anybody needs to know more.
Only then is it read (:mod:`gllint_rules.reading.sections`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, NamedTuple, TypeAlias

from gllint_rules.reading.syntax import parsed

SectionKind: TypeAlias = Literal["imports", "function", "class", "other"]

_NEWLINE = re.compile(r"\r\n?|\n")
_CHAIN = (
    100  # links of a chain of calls and subscripts: each of them asks, and no longer one is written by hand
)
SPREAD = "**"
MUTATORS = frozenset({"update", "setdefault", "append", "add", "insert", "extend", "clear"})


class Imported(NamedTuple):
    """A name that an import binds: ``from module import name as bound``; ``name`` empty: the module itself."""

    bound: str
    module: str  # with leading dots where relative
    name: str


@dataclass(frozen=True, slots=True)
class Section:
    """What the outline says of one section.

    ``number`` counts in reading order. ``begin`` and ``end`` are offsets of whole lines. ``holes`` are the stretches
    of a class's methods, which are sections of their own, each with the offset of its first word; ``owner`` is the
    number of their class. Names are the last ones of dotted names, imported names also as they were before ``as``.
    """

    number: int
    kind: SectionKind
    name: str  # of a function or class
    owner: int | None
    begin: int
    end: int
    holes: tuple[tuple[int, int, int], ...] = ()
    imports: tuple[Imported, ...] = ()  # of a section that holds nothing else
    binds: frozenset[str] = frozenset()  # in the namespace that it stands in
    binds_globally: frozenset[str] = frozenset()  # by ``global``, in functions
    members: tuple[tuple[str, int], ...] = ()  # what the body of a class binds, its methods aside, and where
    stores: frozenset[str] = frozenset()  # all variables that are assigned anywhere in it
    attributes: frozenset[str] = frozenset()  # ``….name = value``
    mutated: frozenset[str] = frozenset()  # containers that something is stored in
    calls: frozenset[str] = frozenset()
    keywords: frozenset[str] = frozenset()  # of calls; `SPREAD` for `**`
    keys: frozenset[str] = frozenset()  # of dict displays, written out
    spreads: frozenset[str] = frozenset()  # ``{**name}``
    subscripts: frozenset[str] = frozenset()
    decorators: frozenset[str] = frozenset()  # of all functions in it
    bases: tuple[str, ...] = ()  # of a class, dotted where they are; ``?`` for anything else
    has_classes: bool = False  # classes inside functions, conditions or other classes


@dataclass(frozen=True, slots=True)
class Outline:
    """The sections of a file in reading order, and what is asked of all of it."""

    sections: tuple[Section, ...]
    imports: tuple[Imported, ...]  # all that bind a name of the module
    dotted_imports: frozenset[str]  # ``a.b.c`` of ``import a.b.c``, anywhere
    stars: tuple[str, ...]  # modules of ``from x import *``, with their dots
    mutated: frozenset[str]
    is_whole: bool = False  # one section, of which nothing else is known
    inner_imports: frozenset[str] = frozenset()  # dotted names that imports inside of functions name

    def modules(self) -> frozenset[str]:
        """The dotted names of all that the file imports from elsewhere, whether a module or a name in one."""
        found = {
            name for i in self.imports for name in (i.module, f"{i.module}.{i.name}") if i.module[:1] != "."
        }
        return frozenset((*found, *self.dotted_imports, *self.stars, *self.inner_imports))


def whole(source: str) -> Outline:
    """The outline of a file of which nothing is known: one section."""
    section = Section(0, "other", "", None, 0, len(source))
    return Outline((section,), (), frozenset(), (), frozenset(), is_whole=True)


def outline_of(source: str) -> Outline:
    """The outline of ``source``. Raises :class:`ParseFailure` where this Python cannot parse it."""
    return _Outliner(source).outline(parsed(source))


class _Outliner:
    def __init__(self, source: str) -> None:
        self.source = source
        self.starts = [0, *(match.end() for match in _NEWLINE.finditer(source)), len(source)]
        self.sections: list[Section] = []
        self.aliases: dict[str, str] = {}
        self.dotted: set[str] = set()
        self.stars: list[str] = []
        self.bound_imports: list[Imported] = []
        self.inner_imports: set[str] = set()

    def outline(self, tree: ast.Module) -> Outline:
        for group in _lines_apart(tree.body):
            self.section(group)
        sections = [self.with_real_names(section) for section in self.sections]
        mutated = frozenset().union(*(section.mutated for section in sections))
        return Outline(
            tuple(sections),
            tuple(self.bound_imports),
            frozenset(self.dotted),
            tuple(self.stars),
            mutated,
            inner_imports=frozenset(self.inner_imports),
        )

    def with_real_names(self, section: Section) -> Section:
        """The section with imported names also as they were before ``as``."""
        if self.aliases.keys().isdisjoint(section.calls | section.subscripts | section.decorators):
            return section
        return replace(
            section,
            calls=self.real(section.calls),
            subscripts=self.real(section.subscripts),
            decorators=self.real(section.decorators),
        )

    def real(self, names: frozenset[str]) -> frozenset[str]:
        return names | {self.aliases[name] for name in names if name in self.aliases}

    def section(self, group: Sequence[ast.stmt]) -> None:
        """Add the section of statements that stand on lines of their own, and those of the methods in it."""
        first, last = group[0], group[-1]
        begin, end = self.starts[_first_line(first) - 1], self.starts[last.end_lineno or last.lineno]
        number = len(self.sections)
        if isinstance(first, ast.ClassDef):
            methods = [
                node for node in first.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            ]
            self.sections.append(self.described(number, "class", None, begin, end, group, methods))
            for method in methods:
                start, stop = (
                    self.starts[_first_line(method) - 1],
                    self.starts[method.end_lineno or method.lineno],
                )
                self.sections.append(
                    self.described(len(self.sections), "function", number, start, stop, [method])
                )
        elif isinstance(first, ast.FunctionDef | ast.AsyncFunctionDef):
            self.sections.append(self.described(number, "function", None, begin, end, group))
        elif all(isinstance(node, ast.Import | ast.ImportFrom) for node in group):
            self.sections.append(self.described(number, "imports", None, begin, end, group))
        else:
            self.sections.append(self.described(number, "other", None, begin, end, group))

    def described(
        self,
        number: int,
        kind: SectionKind,
        owner: int | None,
        begin: int,
        end: int,
        group: Sequence[ast.stmt],
        methods: Sequence[ast.stmt] = (),
    ) -> Section:
        sketch = _Sketch()
        sketch.read(group, methods)
        self.aliases.update(sketch.aliases)
        self.dotted.update(sketch.dotted)
        self.inner_imports.update(sketch.inner_imports)
        if owner is None:
            self.bound_imports += sketch.imports
            self.stars += sketch.stars
        [first, *_] = group
        bases: tuple[str, ...] = ()
        if isinstance(first, ast.ClassDef):
            bases = tuple(_dotted(base) or "?" for base in first.bases)
        return Section(
            number=number,
            kind=kind,
            name=getattr(first, "name", "") if kind in ("function", "class") else "",
            owner=owner,
            begin=begin,
            end=end,
            holes=tuple(self.hole(method) for method in methods),
            imports=tuple(sketch.imports) if kind == "imports" else (),
            binds=_frozen(sketch.binds),
            binds_globally=_frozen(sketch.binds_globally & sketch.stores),
            members=tuple(
                (name, self.starts[line - 1])
                for name, line in sorted(sketch.members.items(), key=lambda item: (item[1], item[0]))
            ),
            stores=_frozen(sketch.stores),
            attributes=_frozen(sketch.attributes),
            mutated=_frozen(sketch.mutated),
            calls=_frozen(sketch.calls),
            keywords=_frozen(sketch.keywords),
            keys=_frozen(sketch.keys),
            spreads=_frozen(sketch.spreads),
            subscripts=_frozen(sketch.subscripts),
            decorators=_frozen(sketch.decorators),
            bases=bases,
            has_classes=sketch.classes > (kind == "class"),
        )

    def hole(self, method: ast.stmt) -> tuple[int, int, int]:
        line = self.starts[method.lineno - 1]
        text = self.source[line : self.starts[method.lineno]]
        return (
            self.starts[_first_line(method) - 1],
            self.starts[method.end_lineno or method.lineno],
            line + len(text) - len(text.lstrip(" \t\f")),
        )


_NOTHING = frozenset[str]()


def _frozen(names: set[str]) -> frozenset[str]:
    """The set of ``names``; most are empty, and Python makes a new empty one each time."""
    return frozenset(names) if names else _NOTHING


def _lines_apart(body: Iterable[ast.stmt]) -> Iterator[list[ast.stmt]]:
    """The statements of a block, those together that share a line."""
    group: list[ast.stmt] = []
    for node in body:
        if group and _first_line(node) > (group[-1].end_lineno or group[-1].lineno):
            yield group
            group = []
        group.append(node)
    if group:
        yield group


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min((decorator.lineno for decorator in decorators), default=node.lineno)


def _last(node: ast.AST) -> str:
    """The last name of ``a.b.c``; of a call or subscript that of its callee or base, where that is not far."""
    for _ in range(_CHAIN):
        kind = type(node)
        if kind is ast.Name:
            return node.id  # type: ignore[attr-defined,no-any-return]
        if kind is ast.Attribute:
            return node.attr  # type: ignore[attr-defined,no-any-return]
        if kind is ast.Call:
            node = node.func  # type: ignore[attr-defined]
        elif kind is ast.Subscript:
            node = node.value  # type: ignore[attr-defined]
        else:
            break
    return ""


def _dotted(node: ast.expr) -> str:
    parts: list[str] = []
    inner: ast.expr = node.value if isinstance(node, ast.Subscript) else node
    while isinstance(inner, ast.Attribute):
        parts.append(inner.attr)
        inner = inner.value
    return ".".join([inner.id, *reversed(parts)]) if isinstance(inner, ast.Name) else ""


@cache
def _children(kind: type[ast.AST]) -> tuple[str, ...]:
    """The fields of a node that may hold nodes with something in them."""
    return tuple(
        name for name in kind._fields if name not in ("ctx", "op", "ops", "name", "id", "attr", "kind")
    )


# Where the walk is: in the namespace that the section stands in, in the body of its class, or further in.
_OUTSIDE, _CLASS, _INSIDE = range(3)


class _Sketch:
    """One walk over the statements of a section, on a stack of its own: source nests as deeply as it likes."""

    def __init__(self) -> None:
        self.aliases: dict[str, str] = {}
        self.dotted: set[str] = set()
        self.imports: list[Imported] = []
        self.stars: list[str] = []
        self.inner_imports: set[str] = set()
        self.binds: set[str] = set()
        self.members: dict[str, int] = {}  # the line of the first statement that binds each
        self.line = 0
        self.binds_globally: set[str] = set()
        self.stores: set[str] = set()
        self.attributes: set[str] = set()
        self.mutated: set[str] = set()
        self.calls: set[str] = set()
        self.keywords: set[str] = set()
        self.keys: set[str] = set()
        self.spreads: set[str] = set()
        self.subscripts: set[str] = set()
        self.decorators: set[str] = set()
        self.classes = 0
        self.stack: list[tuple[ast.AST, int]] = []

    def read(self, group: Sequence[ast.stmt], methods: Sequence[ast.stmt]) -> None:
        left_out = frozenset(methods)
        stack = self.stack = [(node, _OUTSIDE) for node in group]
        while stack:
            node, level = stack.pop()
            kind = type(node)
            if kind is ast.Name:  # every second node
                if type(node.ctx) is ast.Store:  # type: ignore[attr-defined]
                    self.bind(node.id, level)  # type: ignore[attr-defined]
                continue
            if level == _CLASS and isinstance(node, ast.stmt):
                if node in left_out:
                    continue
                self.line = node.lineno
            handler = _HANDLERS.get(kind)
            if handler is not None:
                handler(self, node, level)
            else:
                self.push(node, level)

    def push(self, node: ast.AST, level: int) -> None:
        for name in _children(type(node)):  # type: ignore[arg-type]
            value = getattr(node, name, None)
            if type(value) is list:
                self.stack += [(item, level) for item in value if isinstance(item, ast.AST)]
            elif isinstance(value, ast.AST):
                self.stack.append((value, level))

    def bind(self, name: str, level: int) -> None:
        self.stores.add(name)
        if level == _OUTSIDE:
            self.binds.add(name)
        elif level == _CLASS:
            self.members[name] = min(self.line, self.members.get(name, self.line))

    # --- names -------------------------------------------------------------------------------------------

    def attribute(self, node: ast.Attribute, level: int) -> None:
        if type(node.ctx) is ast.Store:
            self.attributes.add(node.attr)
        self.stack.append((node.value, level))

    def named_expression(self, node: ast.NamedExpr, level: int) -> None:
        self.bind(node.target.id, level)
        self.stack.append((node.value, level))

    def global_(self, node: ast.Global, level: int) -> None:
        self.binds_globally.update(node.names)

    def handler(self, node: ast.ExceptHandler, level: int) -> None:
        if node.name:
            self.bind(node.name, level)
        self.push(node, level)

    def capture(self, node: ast.MatchAs | ast.MatchStar, level: int) -> None:
        if node.name:
            self.bind(node.name, level)
        self.push(node, level)

    def mapping(self, node: ast.MatchMapping, level: int) -> None:
        if node.rest:
            self.bind(node.rest, level)
        self.push(node, level)

    def import_(self, node: ast.Import, level: int) -> None:
        for alias in node.names:
            bound = alias.asname or alias.name.partition(".")[0]
            self.dotted.add(alias.name)
            self.bind(bound, level)
            if level == _OUTSIDE:
                self.imports.append(Imported(bound, alias.name if alias.asname else bound, ""))

    def import_from(self, node: ast.ImportFrom, level: int) -> None:
        module = "." * node.level + (node.module or "")
        for alias in node.names:
            if alias.name == "*":
                if level == _OUTSIDE:
                    self.stars.append(module)
                continue
            bound = alias.asname or alias.name
            if alias.asname:
                self.aliases[alias.asname] = alias.name
            self.bind(bound, level)
            if level == _OUTSIDE:
                self.imports.append(Imported(bound, module, alias.name))
            elif not node.level:
                self.inner_imports.update((module, f"{module}.{alias.name}"))

    # --- definitions -------------------------------------------------------------------------------------

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, level: int) -> None:
        self.bind(node.name, level)
        for decorator in node.decorator_list:
            self.decorators.add(_last(decorator))
            self.stack.append((decorator, level))
        self.stack.append((node.args, level))
        if node.returns is not None:
            self.stack.append((node.returns, level))
        self.stack += [(statement, _INSIDE) for statement in node.body]

    def class_(self, node: ast.ClassDef, level: int) -> None:
        self.bind(node.name, level)
        self.classes += 1
        self.stack += [(part, level) for part in (*node.decorator_list, *node.bases, *node.keywords)]
        inner = _CLASS if level == _OUTSIDE and self.classes == 1 else _INSIDE
        self.stack += [(statement, inner) for statement in node.body]

    def lambda_(self, node: ast.Lambda, level: int) -> None:
        self.stack += [(node.args, level), (node.body, _INSIDE)]

    def comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp, level: int
    ) -> None:
        """Its variables are its own; what ``:=`` binds in it is not."""
        for clause in node.generators:
            self.target(clause.target)
            self.stack += [(part, level) for part in (clause.iter, *clause.ifs)]
        parts = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
        self.stack += [(part, level) for part in parts]

    # --- stores ------------------------------------------------------------------------------------------

    def assign(self, node: ast.Assign, level: int) -> None:
        for target in node.targets:
            self.stored(target)
            self.stack.append((target, level))
        self.stack.append((node.value, level))

    def loop(self, node: ast.For | ast.AsyncFor, level: int) -> None:
        self.stored(node.target)
        self.push(node, level)

    def with_item(self, node: ast.withitem, level: int) -> None:
        if node.optional_vars is not None:
            self.stored(node.optional_vars)
        self.push(node, level)

    def stored(self, target: ast.expr) -> None:
        """Note the containers behind ``name[…]`` among assignment targets."""
        waiting = [target]
        while waiting:
            inner = waiting.pop()
            if isinstance(inner, ast.Tuple | ast.List):
                waiting += inner.elts
            elif isinstance(inner, ast.Subscript):
                self.mutated.add(_last(inner.value))

    def target(self, target: ast.expr) -> None:
        """The variables of a comprehension."""
        self.stored(target)
        self.stack.append((target, _INSIDE))

    # --- what is mentioned -------------------------------------------------------------------------------

    def call(self, node: ast.Call, level: int) -> None:
        name = _last(node.func)
        self.calls.add(name)
        self.keywords.update(keyword.arg or SPREAD for keyword in node.keywords)
        if type(node.func) is ast.Attribute and name in MUTATORS:
            self.mutated.add(_last(node.func.value))
        self.stack.append((node.func, level))
        self.stack += [(arg, level) for arg in node.args]
        self.stack += [(keyword.value, level) for keyword in node.keywords]

    def subscript(self, node: ast.Subscript, level: int) -> None:
        self.subscripts.add(_last(node.value))
        self.stack += [(node.value, level), (node.slice, level)]

    def dict_(self, node: ast.Dict, level: int) -> None:
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                self.spreads.add(_last(value))
            elif type(key) is ast.Constant:
                if type(key.value) is str:
                    self.keys.add(key.value)
            else:
                self.stack.append((key, level))
            if type(value) is not ast.Constant:
                self.stack.append((value, level))

    def nothing(self, node: ast.AST, level: int) -> None:
        pass


_Handler: TypeAlias = Callable[[_Sketch, Any, int], None]
_HANDLERS: dict[type[ast.AST], _Handler] = {
    ast.Attribute: _Sketch.attribute,
    ast.NamedExpr: _Sketch.named_expression,
    ast.Global: _Sketch.global_,
    ast.ExceptHandler: _Sketch.handler,
    ast.MatchAs: _Sketch.capture,
    ast.MatchStar: _Sketch.capture,
    ast.MatchMapping: _Sketch.mapping,
    ast.Import: _Sketch.import_,
    ast.ImportFrom: _Sketch.import_from,
    ast.FunctionDef: _Sketch.function,
    ast.AsyncFunctionDef: _Sketch.function,
    ast.ClassDef: _Sketch.class_,
    ast.Lambda: _Sketch.lambda_,
    ast.ListComp: _Sketch.comprehension,
    ast.SetComp: _Sketch.comprehension,
    ast.DictComp: _Sketch.comprehension,
    ast.GeneratorExp: _Sketch.comprehension,
    ast.Assign: _Sketch.assign,
    ast.For: _Sketch.loop,
    ast.AsyncFor: _Sketch.loop,
    ast.withitem: _Sketch.with_item,
    ast.Call: _Sketch.call,
    ast.Subscript: _Sketch.subscript,
    ast.Dict: _Sketch.dict_,
    ast.Constant: _Sketch.nothing,
}
