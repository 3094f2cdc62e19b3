"""LibCST's nodes for a rule: the node of a fact, the comments at it, and the edit that replaces it.

Nothing is parsed until a rule asks. Then it is the statement of the module that the fact is in, with the blank and
comment lines above it: a function, or a class with its methods; once for all rules.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from typing import Any

import libcst as cst
import libcst.matchers as m

from gllint_rules.finding import Applicability, Fix
from gllint_rules.inference.values import Site
from gllint_rules.project.edits import difference
from gllint_rules.project.project import Project
from gllint_rules.reading import facts
from gllint_rules.reading.concrete_text import ConcreteText
from gllint_rules.reading.expression_index import expression
from gllint_rules.reading.facts import Module
from gllint_rules.reading.outline import SECTION_BITS, Section
from gllint_rules.reading.sections import Unreadable
from gllint_rules.tuples import NamedTuple

_EXPRESSIONS = (
    facts.Const, facts.Name, facts.Attr, facts.Call, facts.Sub, facts.Dict, facts.Seq, facts.Comp, facts.BinOp,
    facts.UnaryOp, facts.BoolOp, facts.Compare, facts.IfExp, facts.Lambda, facts.Join, facts.Await, facts.Yield,
    facts.Star, facts.Walrus, facts.Slice,
)  # fmt: skip
_DEFINITIONS = (facts.Function, facts.Class)


class _Passage(NamedTuple):
    """A statement of a module, with what is above it, as LibCST reads it; it begins at an offset of the source."""

    module: Module
    begin: int
    concrete: ConcreteText


class ConcreteNodes:
    """The nodes that the rules asked for in the files of a project, for the rules of one module."""

    def __init__(self, project: Project, module: Module) -> None:
        self._project = project
        self._module = module
        self._passages: list[_Passage] = []

    def node(self, fact: object) -> cst.CSTNode | None:
        """Return the node of an expression, function or class of the module, or of what is at a site.

        ``None`` if LibCST cannot read the statement around it. Raises TypeError for what is none of these, and
        ValueError for a fact of another module.
        """
        module, at = self._place(fact)
        try:
            passage = self._passage(module, at)
            begin, end = self._project.positions(module).offsets(at)
            node = passage.concrete.expression(begin - passage.begin, end - passage.begin)
        except Unreadable:
            return None
        # The place of a function or class is that of its name.
        if isinstance(fact, _DEFINITIONS) or (isinstance(fact, Site) and expression(module, at) is None):
            return passage.concrete.parents[node]
        return node

    def matches(self, fact: object, matcher: object) -> bool:
        """Return whether the node of a fact matches. Raises as :meth:`node`, and TypeError for no matcher."""
        if not isinstance(matcher, m.BaseMatcherNode):
            expected = "context.matches takes a matcher of libcst.matchers such as m.Call(…)"
            raise TypeError(f"{expected}, not {_type_name(matcher)}{_matcher_hint(matcher)}")
        node = fact if isinstance(fact, cst.CSTNode) else self.node(fact)
        return node is not None and m.matches(node, matcher)

    def comments(self, fact: object) -> tuple[str, ...]:
        """Return the comments at a fact or a node: on its lines, and alone on the lines right above it.

        Of a function, a class or a statement with a body, up to the body. Raises as :meth:`node`, and ValueError for a
        node in no source.
        """
        node = fact if isinstance(fact, cst.CSTNode) else self.node(fact)
        return self._passage_of(node, "comments").concrete.comments(node) if node is not None else ()

    def replacement(
        self, fact: object, new: object, message: str, applicability: Applicability
    ) -> Fix | None:
        """Return the fix that replaces the node of a fact by ``new``; None if that changes nothing.

        Raises as :meth:`comments`, and TypeError if ``new`` is not a node.
        """
        if not isinstance(new, cst.CSTNode):
            raise TypeError(f"context.replacement puts a LibCST node in place, not {_type_name(new)}")
        node = fact if isinstance(fact, cst.CSTNode) else self.node(fact)
        if node is None:
            return None
        module, begin, concrete = self._passage_of(node, "replacement")
        tree: Any = concrete.tree.deep_replace(node, new)
        text = concrete.text
        if concrete.tree.code != text or not isinstance(tree, cst.Module) or tree.code == text:
            return None
        edit = difference(self._project.positions(module), begin, text, tree.code)
        return Fix(applicability, message, (edit,))

    # --- places --------------------------------------------------------------------------------------------

    def _place(self, fact: object) -> tuple[Module, int]:
        """Return the module and the number of a fact, and check that the fact belongs to the module."""
        match fact:
            case Site(module=module, at=at):
                return module, at
            case facts.Function() | facts.Class():
                is_here = self._holds(fact.at) and fact in (
                    *self._module.section_of(fact.at).functions,
                    *self._module.section_of(fact.at).classes,
                )
            case _ if isinstance(fact, _EXPRESSIONS):
                is_here = self._holds(fact.at) and expression(self._module, fact.at) is fact
            case cst.CSTNode():
                raise TypeError("context.node takes a fact; this is a node of LibCST already")
            case _:
                kinds = "an expression, a function or a class of the module, or a site"
                raise TypeError(f"context.node takes {kinds}, not {_type_name(fact)}")
        if not is_here:
            raise ValueError(
                f"context.node: this {type(fact).__name__} is no fact of {self._module.path}; "
                "give its place in another module as Site(module, fact.at)"
            )
        return self._module, fact.at

    def _holds(self, at: int) -> bool:
        return 0 <= at >> SECTION_BITS < len(self._module.outline.sections)

    def _passage(self, module: Module, at: int) -> _Passage:
        """Return the piece of the file around a place, as LibCST parses it. Raises :class:`Unreadable`."""
        begin, end, numbers = _stretch_of(module, at)
        module.note(*numbers)
        for passage in self._passages:
            if passage.module is module and passage.begin == begin:
                return passage
        code = None if module.code is module.source else module.code[begin:end]
        passage = _Passage(module, begin, _concrete_text(module.source[begin:end], code))
        self._passages.append(passage)
        return passage

    def _passage_of(self, node: cst.CSTNode, method: str) -> _Passage:
        """Return the passage of source that contains a node. Raises :class:`ValueError`."""
        for passage in self._passages:
            if node in passage.concrete.places:
                return passage
        raise ValueError(
            f"context.{method}: this {type(node).__name__} is not part of a source file; "
            "pass a node that context.node(…) returned, or one inside it, unchanged"
        )


@lru_cache(maxsize=64)
def _concrete_text(text: str, code: str | None) -> ConcreteText:
    return ConcreteText(text, code)


def _stretch_of(module: Module, at: int) -> tuple[int, int, list[int]]:
    """Return begin and end of the statement around a place, with the comments above it, and its sections' numbers."""
    outer = [section for section in module.outline.sections if section.owner is None]
    number = bisect_right(outer, at >> SECTION_BITS, key=_number) - 1
    last = outer[number + 1].number if number + 1 < len(outer) else len(module.outline.sections)
    begin = outer[number - 1].end if number else 0
    return begin, outer[number].end, [*range(outer[number].number, last)]


def _number(section: Section) -> int:
    return section.number


def _matcher_hint(thing: object) -> str:
    """Return the end of an error: the matcher that was probably meant, or ""."""
    if isinstance(thing, type) and issubclass(thing, m.BaseMatcherNode | cst.CSTNode):
        return f"; write m.{thing.__name__}()"
    if isinstance(thing, cst.CSTNode):
        return f"; write m.{type(thing).__name__}(…)"
    # ~m.Call(…) is an object that LibCST matches with no node.
    return "; write not context.matches(…)" if type(thing).__name__ == "_InverseOf" else ""


def _type_name(thing: object) -> str:
    """Return how an error names an object: "the class Call", "builtins.int"."""
    kind = type(thing)
    return f"the class {thing.__name__}" if isinstance(thing, type) else f"{kind.__module__}.{kind.__name__}"
