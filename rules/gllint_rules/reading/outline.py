"""The outline of a file: where its sections begin and end, what each binds and mentions.

``ast.parse`` gives it, at a ninth of what LibCST's parse of the same file costs. A *section* is a top-level statement,
a method, or a class without its methods; of each the outline says enough to decide whether it must be read.
Only then is it read (:mod:`gllint_rules.reading.sections`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

from gllint_rules.reading.passage import line_starts
from gllint_rules.reading.sketch import Imported, Sketch
from gllint_rules.reading.syntax import parsed
from gllint_rules.tuples import NamedTuple

# The expressions of a section are numbered from ``section.number << SECTION_BITS``.
SECTION_BITS = 24
# What makes a method parse alone, however it is indented.
CLASS = "class _:\n"
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SectionKind: TypeAlias = Literal["imports", "function", "class", "other"]


class Section(NamedTuple):
    """What the outline says about one section.

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
    imports: tuple[Imported, ...] = ()  # of a section that contains nothing else
    binds: frozenset[str] = frozenset()  # in the namespace that it is in
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
    looked_up: frozenset[str] = frozenset()  # what the keys are called by which something is looked up
    compared: frozenset[str] = frozenset()  # texts that something is compared with
    decorators: frozenset[str] = frozenset()  # of all functions in it
    bases: tuple[str, ...] = ()  # of a class, dotted where they are; ``?`` for anything else
    has_classes: bool = False  # classes inside functions, conditions or other classes


class Outline(NamedTuple):
    """The sections of a file in reading order, and what is asked of all of it."""

    sections: tuple[Section, ...]
    imports: tuple[Imported, ...]  # all that bind a name of the module
    dotted_imports: frozenset[str]  # ``a.b.c`` of ``import a.b.c``, anywhere
    stars: tuple[str, ...]  # modules of ``from x import *``, with their dots
    inner_imports: frozenset[str] = frozenset()  # dotted names that imports inside of functions name
    aliases: Mapping[str, set[str]] = {}  # imported names by those that ``as`` gives them

    def modules(self) -> frozenset[str]:
        """Return the dotted names of all that the file imports from elsewhere, whether a module or a name in one."""
        modules = {
            name for i in self.imports for name in (i.module, f"{i.module}.{i.name}") if i.module[:1] != "."
        }
        return frozenset((*modules, *self.dotted_imports, *self.stars, *self.inner_imports))


def outline_of(source: str) -> Outline:
    """Return the outline of ``source``. Raises :class:`ParseFailure` if this Python cannot parse it."""
    return _Outliner(source).outline(parsed(source))


def outline_of_part(
    source: str, begin: int, end: int, first: int, aliases: Mapping[str, set[str]]
) -> tuple[Section, ...]:
    """Return the sections of a stretch of whole lines without imports, numbered from ``first``.

    Raises :class:`ParseFailure` if it is not Python by itself.
    """
    outliner = _Outliner(source, begin, end, first)
    outliner.aliases.update(aliases)
    return outliner.outline(parsed(source[begin:end])).sections


def outline_of_method(
    source: str, begin: int, end: int, number: int, owner: int, aliases: Mapping[str, set[str]]
) -> tuple[Section, tuple[int, int, int]] | None:
    """Return the section of a method and its hole in its class, from its whole lines.

    ``None`` if they contain anything but one method. Raises :class:`ParseFailure` if they are not Python.
    """
    tree = parsed(f"{CLASS}{source[begin:end]}")
    match tree.body:
        case [ast.ClassDef(body=[ast.FunctionDef() | ast.AsyncFunctionDef() as method])]:
            outliner = _Outliner(source, begin, end)
            outliner.starts.insert(0, begin)  # of the line before
            if outliner.lines(method, method) != (begin, end):
                return None
            outliner.aliases.update(aliases)
            section = outliner.described(number, "function", owner, [method])
            return outliner.with_real_names(section), outliner.hole(method)
        case _:
            return None


def has_same_shape(old: Outline, new: Outline) -> bool:
    """Return whether an edit left unchanged what the outlines say about places and about the module as a whole.

    What a section calls, stores or writes out is no part of that.
    """
    return old[1:] == new[1:] and list(map(_shape, old.sections)) == list(map(_shape, new.sections))


def _shape(section: Section) -> tuple[object, ...]:
    """Return what other sections may know of a section."""
    return (
        section.kind,
        section.name,
        section.owner,
        len(section.holes),
        section.imports,
        section.binds,
        section.binds_globally,
        [name for name, _ in section.members],
        section.attributes,
        section.mutated,
        section.decorators,
        section.bases,
        section.has_classes,
    )


def calls_the_same(old: Section, new: Section) -> bool:
    """Return whether two sections call what bears the same names."""
    return old.calls == new.calls


def mentions_the_same(old: Section, new: Section) -> bool:
    """Return whether the outlines of two sections of the same shape are equal."""
    return calls_the_same(old, new) and _mentioned(old) == _mentioned(new)


def _mentioned(section: Section) -> tuple[frozenset[str], ...]:
    """Return the words that a section mentions."""
    return (
        section.stores,
        section.keywords,
        section.keys,
        section.spreads,
        section.subscripts,
        section.looked_up,
        section.compared,
    )


class _Outliner:
    def __init__(self, source: str, begin: int = 0, end: int | None = None, first: int = 0) -> None:
        end = len(source) if end is None else end
        self.source, self.first = source, first
        part = source if (begin, end) == (0, len(source)) else source[begin:end]
        self.starts = [*(begin + start for start in line_starts(part)), end]
        self.sections: list[Section] = []
        self.aliases: dict[str, set[str]] = {}
        self.dotted: set[str] = set()
        self.stars: list[str] = []
        self.bound_imports: list[Imported] = []
        self.inner_imports: set[str] = set()

    def outline(self, tree: ast.Module) -> Outline:
        """Return the outline of a module."""
        for group in lines_apart(tree.body):
            self.section(group)
        return Outline(
            tuple(map(self.with_real_names, self.sections)),
            tuple(self.bound_imports),
            frozenset(self.dotted),
            tuple(self.stars),
            frozenset(self.inner_imports),
            self.aliases,
        )

    def with_real_names(self, section: Section) -> Section:
        """Return the section with imported names also as they were before ``as``."""
        if self.aliases.keys().isdisjoint(section.calls | section.subscripts | section.decorators):
            return section
        return section._replace(
            calls=self.real(section.calls),
            subscripts=self.real(section.subscripts),
            decorators=self.real(section.decorators),
        )

    def real(self, names: frozenset[str]) -> frozenset[str]:
        return names.union(*(self.aliases[name] for name in names if name in self.aliases))

    def section(self, group: Sequence[ast.stmt]) -> None:
        """Add the section of statements on lines of their own, and those of the methods in it."""
        first = group[0]
        kind: SectionKind = "other"
        methods: list[ast.FunctionDef | ast.AsyncFunctionDef] = []
        if isinstance(first, ast.ClassDef):
            kind = "class"
            methods = [node for node in first.body if isinstance(node, _FUNCTIONS)]
        elif isinstance(first, _FUNCTIONS):
            kind = "function"
        elif all(isinstance(node, ast.Import | ast.ImportFrom) for node in group):
            kind = "imports"
        number = self.first + len(self.sections)
        self.sections.append(self.described(number, kind, None, group, methods))
        for method in methods:
            self.sections.append(
                self.described(self.first + len(self.sections), "function", number, [method])
            )

    def described(
        self,
        number: int,
        kind: SectionKind,
        owner: int | None,
        group: Sequence[ast.stmt],
        methods: Sequence[ast.stmt] = (),
    ) -> Section:
        """Return a section with the names that its statements bind, call and mention."""
        sketch = Sketch()
        sketch.read(group, methods)
        for name, originals in sketch.aliases.items():
            self.aliases.setdefault(name, set()).update(originals)
        self.dotted.update(sketch.dotted)
        self.inner_imports.update(sketch.inner_imports)
        if owner is None:
            self.bound_imports += sketch.imports
            self.stars += sketch.stars
        first = group[0]
        begin, end = self.lines(first, group[-1])
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
            looked_up=_frozen(sketch.looked_up),
            compared=_frozen(sketch.compared),
            decorators=_frozen(sketch.decorators),
            bases=bases,
            has_classes=sketch.classes > (kind == "class"),
        )

    def hole(self, method: ast.stmt) -> tuple[int, int, int]:
        line = self.starts[method.lineno - 1]
        text = self.source[line : self.starts[method.lineno]]
        return (*self.lines(method, method), line + len(text) - len(text.lstrip(" \t\f")))

    def lines(self, first: ast.stmt, last: ast.stmt) -> tuple[int, int]:
        """Return the offsets of the lines of some statements."""
        line = last.end_lineno or last.lineno
        while line + 1 < len(self.starts) and self._goes_on(line):
            line += 1
        return self.starts[self.first_line(first) - 1], self.starts[line]

    def first_line(self, node: ast.stmt) -> int:
        """Return the line that a statement begins on: with decorators that of the first ``@``.

        What it decorates with may be on a later one. Only blanks, brackets and comments are between the two.
        """
        line = _first_line(node)
        if getattr(node, "decorator_list", None):
            while line > 1 and not self._begins_with_at(line):
                line -= 1
        return line

    def _begins_with_at(self, line: int) -> bool:
        text = self.source[self.starts[line - 1] : self.starts[line]]
        return text.lstrip(" \t\f")[:1] == "@"

    def _goes_on(self, line: int) -> bool:
        """Return whether a backslash behind all that a line says takes the next one with it."""
        text = self.source[self.starts[line - 1] : self.starts[line]]
        return text.rstrip("\r\n").endswith("\\") and "#" not in text


_NOTHING = frozenset[str]()


def _frozen(names: set[str]) -> frozenset[str]:
    """Return the set of ``names``; most are empty, and Python makes a new empty one each time."""
    return frozenset(names) if names else _NOTHING


def lines_apart(body: Iterable[ast.stmt]) -> Iterator[list[ast.stmt]]:
    """Yield the statements of a block, those together that share a line."""
    group: list[ast.stmt] = []
    for node in body:
        if group and _first_line(node) > (group[-1].end_lineno or group[-1].lineno):
            yield group
            group = []
        group.append(node)
    if group:
        yield group


def _first_line(node: ast.stmt) -> int:
    """Return the line of a statement's first word; with decorators, of the first word behind an ``@``."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min((decorator.lineno for decorator in decorators), default=node.lineno)


def _dotted(node: ast.expr) -> str:
    parts: list[str] = []
    inner: ast.expr = node.value if isinstance(node, ast.Subscript) else node
    while isinstance(inner, ast.Attribute):
        parts.append(inner.attr)
        inner = inner.value
    return ".".join([inner.id, *reversed(parts)]) if isinstance(inner, ast.Name) else ""
