"""Who mentions a word: every place in the project where a name, a key or a text stands, screened out files too.

A tool's result, a key in it, a unit: whoever uses one has to write its name, or its text, somewhere. The host knows
which files hold a word; those few are read with :mod:`ast`, which says what stands around it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from gllint_rules.project.context import is_test_path
from gllint_rules.project.project import Project

MOST_FILES = 20
"""Whatever stands in more files than that is used somewhere, for all that anybody wants to read."""

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_SCOPES = (*_FUNCTIONS, ast.ClassDef)


@dataclass(eq=False, slots=True)
class Mention:
    """A node of a file that is a name or a text; of a text that only holds the word, ``exact`` is false."""

    file: File
    node: ast.AST
    exact: bool = True

    def above(self, node: ast.AST | None = None) -> Iterator[ast.AST]:
        """The nodes around, nearest first."""
        found = self.file.parents.get(node or self.node)
        while found is not None:
            yield found
            found = self.file.parents.get(found)

    @property
    def place(self) -> tuple[str, int, int]:
        """Path, line and column (from 1, in characters) of the node."""
        return self.file.place(self.node)

    def is_local(self) -> bool:
        """Whether the name is a variable of a function around it, and so nothing that another file has."""
        assert isinstance(self.node, ast.Name)
        return any(
            isinstance(above, _FUNCTIONS) and self.node.id in self.file.locals_of(above)
            for above in self.above()
        )


@dataclass(eq=False)
class File:
    """A file of the project, as :mod:`ast` has it."""

    path: str
    source: str
    tree: ast.Module
    is_test: bool
    parents: dict[ast.AST, ast.AST] = field(default_factory=dict)
    _names: dict[str, list[ast.AST]] = field(default_factory=dict)
    _texts: list[ast.Constant] = field(default_factory=list)
    _locals: dict[ast.AST, frozenset[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        waiting: list[ast.AST] = [self.tree]
        while waiting:
            node = waiting.pop()
            for name in _names(node):
                self._names.setdefault(name, []).append(node)
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                self._texts.append(node)
            for child in ast.iter_child_nodes(node):
                if not isinstance(
                    child, (ast.expr_context, ast.operator, ast.cmpop, ast.boolop, ast.unaryop)
                ):
                    self.parents[child] = node
                    waiting.append(child)

    def names(self, word: str) -> Iterator[Mention]:
        """Where ``word`` is a name: of a variable, an attribute, an argument, an import, a definition."""
        return (Mention(self, node) for node in self._names.get(word, ()))

    def texts(self, word: str) -> Iterator[Mention]:
        """The strings that are or hold ``word``."""
        for node in self._texts:
            text = str(node.value)
            if text == word:
                yield Mention(self, node)
            elif word in text and re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text):
                yield Mention(self, node, exact=False)

    def locals_of(self, function: ast.AST) -> frozenset[str]:
        """The parameters and variables of a function."""
        if function not in self._locals:
            self._locals[function] = frozenset(_bound_in(function))
        return self._locals[function]

    @cached_property
    def imports(self) -> frozenset[str]:
        """The names that imports bind anywhere in the file; ``*`` for all that a module has."""
        return frozenset(
            (alias.asname or alias.name).partition(".")[0]
            for node in ast.walk(self.tree)
            if isinstance(node, (ast.Import, ast.ImportFrom))
            for alias in node.names
        )

    @cached_property
    def _lines(self) -> list[str]:
        return re.split(r"\r\n|\r|\n", self.source)

    def place(self, node: ast.AST) -> tuple[str, int, int]:
        """Path, line and column (from 1, in characters) of a node."""
        line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
        before = self._lines[line - 1].encode("utf-8", "surrogatepass")[:column] if line else b""
        return self.path, line, len(before.decode("utf-8", "surrogatepass")) + 1


def files_with(project: Project, words: Collection[str]) -> list[File] | None:
    """The files that hold one of ``words``; ``None`` where not all of them can be told and read."""
    # All are asked for, before one is answered: the host looks for all words of a question at once.
    found = [project.mentioning(word) for word in words]
    paths: set[str] = set()
    for some in found:
        if some is None:
            return None
        paths.update(some)
    return read_files(project, paths)


def read_files(project: Project, paths: Collection[str]) -> list[File] | None:
    """The files at ``paths``; ``None`` where they are too many or not all of them can be read."""
    if len(paths) > MOST_FILES:
        return None
    files = [_read(project, path) for path in sorted(paths)]
    return [file for file in files if file is not None] if None not in files else None


def _files(project: Project) -> dict[str, File]:
    return {}


def _read(project: Project, path: str) -> File | None:
    known = project.held(_files)
    try:
        source = project.source_of(path)
        old = known.get(path)
        if old is None or old.source != source:
            tree = ast.parse(source.removeprefix("\ufeff"))
            known[path] = File(path, source, tree, is_test_path(path, project.root))
    except Exception:  # no such file any more, no text, no Python, too deep: whatever it is, it was not seen
        return None
    return known[path]


def word_of(text: str) -> str | None:
    """The word by which the host finds the files that hold ``text``."""
    return max(re.findall(r"\w+", text), key=len, default=None)


def last_name(node: ast.AST) -> str:
    """``c`` of ``a.b.c``, ``c(…)`` or ``c[…]``; else ``""``."""
    while isinstance(node, (ast.Call, ast.Subscript)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def root_name(node: ast.AST) -> str:
    """``a`` of ``a.b.c``; ``""`` of what begins with no name."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _names(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.keyword(arg=str(name)):
            yield name
        case ast.alias(name=name):
            yield name.rpartition(".")[2]
        case ast.MatchClass(kwd_attrs=names) | ast.Global(names=names) | ast.Nonlocal(names=names):
            yield from names


def _bound_in(function: ast.AST) -> Iterator[str]:
    assert isinstance(function, _FUNCTIONS)
    outer: set[str] = set()
    bound: set[str] = set()
    waiting: list[ast.AST] = [function.args]
    waiting += function.body if isinstance(function.body, list) else [function.body]
    while waiting:
        node = waiting.pop()
        match node:
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
                bound.add(name)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                outer.update(names)
        if isinstance(node, _SCOPES):
            continue
        waiting.extend(ast.iter_child_nodes(node))
    return iter(bound - outer)
