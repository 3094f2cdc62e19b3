"""The facts of one section of a file, and the places of its expressions: CPython parses it, one walk reads it.

Facts contain numbers, no places. Where one is asked for, the section is read once more in the same order, so that its
expressions get the same numbers.
"""

from __future__ import annotations

import ast
from array import array
from collections.abc import Iterable

from gllint_rules.reading import facts
from gllint_rules.reading.binder import NOWHERE
from gllint_rules.reading.facts import Block, Expr, Scope
from gllint_rules.reading.outline import CLASS, Section, lines_apart
from gllint_rules.reading.passage import Passage
from gllint_rules.reading.section_texts import code_of
from gllint_rules.reading.statements import NAME, Statements
from gllint_rules.reading.syntax import ParseFailure, parsed


class Unreadable(Exception):
    """A section that Python compiles and we cannot take."""


def read_statements(module: facts.Module, section: Section, section_facts: facts.SectionFacts) -> None:
    """Read a section into ``out``. Raises :class:`Unreadable`."""
    text, owner = _text_of(module, section)
    _read(
        Statements(text, section_facts, module.scope, owner, macros=facts.MACRO_MARK in text.source), module
    )


def read_places(module: facts.Module, section: Section) -> facts.Places:
    """Where the expressions and the simple statements of a section are. Raises :class:`Unreadable`."""
    text, owner = _text_of(module, section)
    reader = _Places(text, facts.SectionFacts(section), module.scope, owner)
    _read(reader, module)
    return reader.places


def _read(reader: Statements, module: facts.Module) -> None:
    """Read the facts of a section. Raises :class:`Unreadable`."""
    reader.file = module
    try:
        body = parsed(reader.text.source).body
        if reader.owner is not None:
            [cls] = body
            assert isinstance(cls, ast.ClassDef)
            body = cls.body
        reader.section_facts.body = reader.block(body)
    except (RecursionError, MemoryError):
        raise Unreadable("nests too deeply to be read") from None
    except (ParseFailure, KeyError, ValueError) as error:
        raise Unreadable(f"cannot be read: {type(error).__name__}") from None
    reader.section_facts.size = reader.count - reader.first


def _text_of(module: facts.Module, section: Section) -> tuple[Passage, facts.Class | None]:
    """Return what to parse for a section, and the class that it is a method of."""
    owner = module.owner(section) if section.owner is not None else None
    if section.owner is not None and owner is None:
        raise Unreadable("its class cannot be read")
    prefix = CLASS if owner is not None else ""
    code = prefix + code_of(module.code, section)
    written = code if module.code is module.source else prefix + module.source[section.begin : section.end]
    return Passage(code, -len(prefix), written), owner


def read_annotation(text: str, at: int) -> Expr | None:
    """Return the facts of an annotation written as the string ``at``; ``None`` if it is none."""
    try:
        source = text.strip()
        [statement] = parsed(source).body
        assert isinstance(statement, ast.Expr)
        return _Within(Passage(source), at).expr(statement.value)
    except Exception:  # parsers raise several kinds; any of them means "not an expression"
        return None


class _Places(Statements):
    """Reads a section once more for the places of its expressions, without parentheses around them."""

    def __init__(
        self, text: Passage, section_facts: facts.SectionFacts, module: Scope, owner: facts.Class | None
    ) -> None:
        super().__init__(text, section_facts, module, owner)
        self.places = facts.Places(array("I"), array("I"), array("I"), [])

    def block(self, body: Iterable[ast.stmt]) -> Block:
        """Read a block, and note the lines that hold simple statements."""
        statements: list[facts.Stmt] = []
        for group in lines_apart(body):
            begin, shift = self.text.begin(group[0]), self.text.shift
            if isinstance(group[0], _SIMPLE) and self.text.is_first(begin):
                end = self.text.line_end(group[-1])
                self.places.lines.append(facts.Line(self.count - self.first, shift + begin, shift + end))
            statements += super().block(group)
        return tuple(statements)

    def mark(self, node: ast.expr | ast.stmt, last: ast.expr | None = None) -> int:
        """Give a node the next place, and note where it begins and ends."""
        text = self.text
        begin, end = text.begin(node), text.end(node)
        if isinstance(node, ast.Name):
            self.places.names.append(self.count - self.first)
        elif last is not None:
            end = text.end_of(last, end)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            name = NAME.match(text.source, begin)
            assert name is not None
            begin, end = name.span(1)
        elif isinstance(node, ast.GeneratorExp):
            clause = node.generators[-1]
            begin = text.skipped(begin + 1)
            end = text.end_of(clause.ifs[-1] if clause.ifs else clause.iter, end - 1)
        elif isinstance(node, ast.Tuple) and self._has_brackets(node):
            begin = text.skipped(begin + 1)
            end = text.end_of(node.elts[-1], end - 1, "),") if node.elts else begin
        elif isinstance(node, ast.Delete):
            begin = text.skipped(begin + len("del"))
        return self.mark_text(begin, end)

    def mark_text(self, begin: int, end: int) -> int:
        self.places.begins.append(self.text.shift + begin)
        self.places.ends.append(self.text.shift + end)
        return super().mark_text(begin, end)

    def hole(self, written: str, begin: int, node: ast.expr | None) -> Expr:
        return self.hole_alone(written, begin)


class _Within(Statements):
    """Reads the inside of a string, whose parts have no places of their own."""

    def __init__(self, text: Passage, at: int) -> None:
        super().__init__(text, facts.SectionFacts(NOWHERE))
        self.at = at

    def mark(self, node: ast.expr | ast.stmt, last: ast.expr | None = None) -> int:
        return self.at

    def mark_text(self, begin: int, end: int) -> int:
        return self.at


# Statements that contain no others.
_SIMPLE = (
    ast.Expr,
    ast.Assign,
    ast.AnnAssign,
    ast.AugAssign,
    ast.Return,
    ast.Raise,
    ast.Assert,
    ast.Delete,
    ast.Pass,
    ast.Break,
    ast.Continue,
    ast.Global,
    ast.Nonlocal,
    ast.Import,
    ast.ImportFrom,
)
