"""Syntax that is newer than the running Python, put so that it can be read: every offset stays what it was.

Type parameters are blanked, ``type X = …`` becomes ``type;X = …``, an f-string that nests its own quotes and a
t-string become a plain string of their length, ``except A, B:`` becomes ``except A| B:``, ``lazy import x`` becomes
``import      x``, and the stars of ``[*x for …]`` and ``{**x for …}`` are blanked. What was written is at hand where it
matters (:class:`gllint_rules.reading.passage.Passage`): the parts of strings, the names of type variables, the stars.
LibCST finds it; what LibCST does not know either is no Python.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from gllint_rules.reading.concrete import Recorder, recorded
from gllint_rules.reading.syntax import ParseFailure, parsed

_STRINGS = (cst.FormattedString, cst.TemplatedString)
_EAGER = (cst.FunctionDef, cst.ClassDef, cst.Try, cst.TryStar)  # where no import may be lazy


def lowered(source: str) -> str | None:
    """Return the text to parse for ``source``, which this Python rejects; ``None`` if it is not for its
    newer syntax.
    """
    try:
        state = recorded(cst.parse_module(source))
    except Exception:  # it raises several kinds
        return None
    code = [*source]
    for begin, text in _older(source, state):
        code[begin : begin + len(text)] = text
    lowered_text = "".join(code)
    return lowered_text if lowered_text != source and _is_readable(lowered_text) else None


def type_variables(text: str) -> tuple[str, ...]:
    """Return the names in ``[T: int, *Ts]``, with which ``text`` begins behind the name of a class."""
    depth = 0
    for end, sign in enumerate(text):
        depth += (sign in "[(") - (sign in "])")
        if not depth:
            [cls] = cst.parse_module(f"class _{text[: end + 1]}: pass").body
            assert isinstance(cls, cst.ClassDef) and cls.type_parameters is not None
            return tuple(variable.param.name.value for variable in cls.type_parameters.params)
    return ()


def _older(source: str, state: Recorder) -> Iterator[tuple[int, str]]:
    """Return the older syntax to parse instead, and the offset of the change."""
    for node, (begin, end) in state.places.items():
        match node:
            case cst.TypeParameters():
                yield begin, " " * (end - begin)
            case cst.TypeAlias():
                yield begin + len("type"), ";"
            case cst.LazyImport() | cst.LazyImportFrom() if _may_be_lazy(state, node):
                yield from _eager(source, node, begin)
            case (
                cst.ListComp(elt=cst.StarredElement() as item)
                | cst.SetComp(elt=cst.StarredElement() as item)
                | cst.GeneratorExp(elt=cst.StarredElement() as item)
            ):
                yield state.places[item][0], " "
            case cst.StarredDictComp():
                yield state.places[node.lbrace][1], "  "
            case cst.FormattedString() | cst.TemplatedString() if not isinstance(
                _parent_of(state, node), _STRINGS
            ):
                if isinstance(node, cst.TemplatedString) or not _is_readable(f"({source[begin:end]})"):
                    quote = '"' if source[begin - 1 : begin] != '"' else "'"
                    yield begin, quote + " " * (end - begin - 2) + quote
            case (
                cst.ExceptHandler(type=cst.Tuple(lpar=[], elements=elements))
                | cst.ExceptStarHandler(type=cst.Tuple(lpar=[], elements=elements))
            ):
                for element in elements[:-1]:
                    assert isinstance(element.comma, cst.Comma)
                    yield source.index(",", state.places[element.comma][0]), "|"


def _may_be_lazy(state: Recorder, node: cst.LazyImport | cst.LazyImportFrom) -> bool:
    """Return whether Python allows a lazy import in this place, which LibCST does not check."""
    parent = state.parents.get(node)
    while parent is not None:
        if isinstance(parent, _EAGER):
            return False
        parent = state.parents.get(parent)
    return not isinstance(node.names, cst.ImportStar)


def _eager(source: str, node: cst.LazyImport | cst.LazyImportFrom, begin: int) -> Iterator[tuple[int, str]]:
    """The same import without ``lazy``, from the same offset on: of an import, no other place is ever asked for."""
    word = "import" if isinstance(node, cst.LazyImport) else "from"
    end = source.index(word, begin) + len(word)
    # A line that begins with blanks and goes on behind a backslash would be indented.
    yield begin, word.ljust(end - begin) if "\n" not in source[begin:end] else "0;  "


def _parent_of(state: Recorder, node: cst.CSTNode) -> cst.CSTNode | None:
    """Return the nearest f-string around a node."""
    parent = state.parents.get(node)
    while parent is not None and not isinstance(parent, _STRINGS):
        parent = state.parents.get(parent)
    return parent


def _is_readable(text: str) -> bool:
    try:
        parsed(text)
    except ParseFailure:
        return False
    return True
