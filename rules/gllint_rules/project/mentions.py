"""Who mentions a word: every place in the project where a name, a key or a text stands, screened out files too.

A tool's result, a key in it, a unit: whoever uses one has to write its name, or its text, somewhere. The host knows
which files hold a word; those few are read with :mod:`ast`, which says what stands around it. A file that is no
Python is its lines, each of them a text.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property

from gllint_rules import records
from gllint_rules.project.context import is_test_path
from gllint_rules.project.project import Project
from gllint_rules.reading.outline import lines_apart

MOST_FILES = 20
"""Whatever stands in more files than that is used somewhere, for all that anybody wants to read."""

_PYTHON = (".py", ".pyi", ".pyw", ".ipynb")
_PROSE = (".md", ".markdown", ".rst", ".txt", ".adoc")
# Letters that are written as an escape sequence, and a text that goes on on the next line.
_SPELT = re.compile(r"\\(?:[xuUN0-7]|$)")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_SCOPES = (*_FUNCTIONS, ast.ClassDef)


class Mention(records.Record):
    """A node of a file that is a name or a text; of a text that only holds the word, ``exact`` is false.

    A line of a file that is no Python is never exact: what reads it is not known.
    """

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


class File:
    """A file of the project or around it, as :mod:`ast` has it; of one that is no Python the tree is empty."""

    def __init__(self, path: str, source: str, tree: ast.Module | None, is_test: bool) -> None:
        self.path, self.source, self.tree, self.is_test = path, source, tree, is_test
        self.parents: dict[ast.AST, ast.AST] = {}  # of what was read
        self._parts: dict[int, _Part] = {}  # those that were read
        self._locals: dict[ast.AST, frozenset[str]] = {}
        self._answers: dict[tuple[Callable[[File, str], bool], str], bool] = {}

    def _holding(self, text: str) -> Iterator[_Part]:
        """The parts of the file in which ``text`` may stand, last ones first; the others are not read."""
        numbers = set(range(len(self._groups)))
        word = word_of(text)
        if word is not None and self.source.isascii():  # else one name may be written in several ways
            lines = (n for n, line in enumerate(self._lines, 1) if word in line or _SPELT.search(line))
            numbers &= {bisect_left(self._ends, line) for line in lines}
        for number in sorted(numbers, reverse=True):
            if number not in self._parts:
                assert self.tree is not None
                self.parents.update(dict.fromkeys(self._groups[number], self.tree))
                self._parts[number] = _Part(self._groups[number], self.parents)
            yield self._parts[number]

    @cached_property
    def _groups(self) -> list[list[ast.stmt]]:
        return list(lines_apart(self.tree.body)) if self.tree is not None else []

    @cached_property
    def _ends(self) -> list[int]:
        return [group[-1].end_lineno or group[-1].lineno for group in self._groups]

    @property
    def is_python(self) -> bool:
        """Whether it could be read as Python."""
        return self.tree is not None

    @property
    def is_prose(self) -> bool:
        """Whether it is written for people."""
        return self.tree is None and self.path.lower().endswith(_PROSE)

    def once(self, question: Callable[[File, str], bool], word: str) -> bool:
        """The answer to a question about a word, the same for as many as ask it."""
        if (question, word) not in self._answers:
            self._answers[question, word] = question(self, word)
        return self._answers[question, word]

    def names(self, word: str) -> Iterator[Mention]:
        """Where ``word`` is a name: of a variable, an attribute, an argument, an import, a definition."""
        return (Mention(self, node) for part in self._holding(word) for node in part.names.get(word, ()))

    def texts(self, word: str) -> Iterator[Mention]:
        """The strings that are or hold ``word``."""
        for node in self._texts(word):
            text = str(node.value)
            if text == word and self.is_python:
                yield Mention(self, node)
            elif word in text and re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text):
                yield Mention(self, node, exact=False)

    def _texts(self, word: str) -> Iterator[ast.Constant]:
        if self.tree is None:
            return map(ast.Constant, self.source.splitlines())
        return (node for part in self._holding(word) for node in part.texts)

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
            for node in (ast.walk(self.tree) if self.tree is not None else ())
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


class _Part:
    """Statements that share a line: the names and texts in them. What stands around each goes to ``parents``."""

    def __init__(self, statements: Sequence[ast.stmt], parents: dict[ast.AST, ast.AST]) -> None:
        self.names: dict[str, list[ast.AST]] = {}
        self.texts: list[ast.Constant] = []
        waiting: list[ast.AST] = [*statements]
        while waiting:
            node = waiting.pop()
            for name in _names(node):
                self.names.setdefault(name, []).append(node)
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                self.texts.append(node)
            for child in ast.iter_child_nodes(node):
                if not isinstance(
                    child, (ast.expr_context, ast.operator, ast.cmpop, ast.boolop, ast.unaryop)
                ):
                    parents[child] = node
                    waiting.append(child)


class Search:
    """Looks for words in the files of the project; with ``around`` also in those around it that nobody lints."""

    def __init__(self, project: Project, around: bool) -> None:
        self._project, self._around = project, around

    def paths(self, words: Iterable[str]) -> list[Collection[str]] | None:
        """For each word the files that hold it; ``None`` where that is not known of all of them."""
        # All are asked for, before one is answered: the host looks for all words of a question at once.
        found = [self._project.mentioning(word, self._around) for word in words]
        known = [paths for paths in found if paths is not None]
        return known if len(known) == len(found) else None

    def files(self, words: Collection[str]) -> list[File] | None:
        """The files that hold one of ``words``; ``None`` where not all of them can be told and read."""
        found = self.paths(words)
        return None if found is None else self.read(frozenset[str]().union(*found))

    def read(self, paths: Collection[str]) -> list[File] | None:
        """The files at ``paths``; ``None`` where they are too many or not all of them can be read."""
        if len(paths) > MOST_FILES:
            return None
        files = [_read(self._project, path) for path in sorted(paths)]
        return [file for file in files if file is not None] if None not in files else None


def _files(project: Project) -> dict[str, File]:
    return {}


def _read(project: Project, path: str) -> File | None:
    known = project.held(_files)
    try:
        source = project.source_of(path).removeprefix("\ufeff")
        old = known.get(path)
        if old is None or old.source != source:
            known[path] = File(path, source, _tree(path, source), is_test_path(path, project.root))
    except Exception:  # no such file any more, no text, no Python, too deep: whatever it is, it was not seen
        return None
    return known[path]


def may_be_python(path: str) -> bool:
    """Whether a file is Python by its name, or has no suffix that says what it is."""
    return path.endswith(_PYTHON) or "." not in path.rpartition("/")[2]


def _tree(path: str, source: str) -> ast.Module | None:
    try:
        return ast.parse(source) if may_be_python(path) else None
    except SyntaxError:
        if path.endswith(_PYTHON):
            raise
        return None


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
