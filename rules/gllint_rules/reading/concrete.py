"""LibCST's tree of a text, which keeps comments and layout, with the offsets of each node."""

from __future__ import annotations

import libcst as cst
from libcst._nodes.internal import CodegenState


class Recorder(CodegenState):
    """LibCST's code generator, noting between which offsets it writes each node, and in which other one.

    ``PositionProvider`` finds the same places, at more than twice the price: it visits the tree once more. Parentheses
    around an expression are not part of it.
    """

    def __init__(self, indent: str, newline: str) -> None:
        super().__init__(default_indent=indent, default_newline=newline)
        self.places: dict[cst.CSTNode, tuple[int, int]] = {}
        self.parents: dict[cst.CSTNode, cst.CSTNode] = {}
        self.offset = 0
        self._open: list[tuple[cst.CSTNode, int]] = []

    def add_token(self, value: str) -> None:
        self.tokens.append(value)
        self.offset += len(value)

    def add_indent_tokens(self) -> None:
        self.tokens.extend(self.indent_tokens)
        self.offset += sum(map(len, self.indent_tokens))

    def before_codegen(self, node: cst.CSTNode) -> None:
        if self._open:
            self.parents[node] = self._open[-1][0]
        self._open.append((node, self.offset))

    def after_codegen(self, node: cst.CSTNode) -> None:
        _, start = self._open.pop()
        self.places.setdefault(node, (start, self.offset))

    def record_syntactic_position(  # type: ignore[override]  # a generator costs more than what it surrounds
        self, node: cst.CSTNode, *, start_node: cst.CSTNode | None = None, end_node: cst.CSTNode | None = None
    ) -> _Mark:
        return _Mark(self, node)


class _Mark:
    """Notes where an expression begins and ends without the parentheses around it."""

    __slots__ = ("node", "recorder", "start")

    def __init__(self, recorder: Recorder, node: cst.CSTNode) -> None:
        self.recorder, self.node = recorder, node

    def __enter__(self) -> None:
        self.start = self.recorder.offset

    def __exit__(self, *_: object) -> None:
        self.recorder.places[self.node] = self.start, self.recorder.offset


def recorded(tree: cst.Module) -> Recorder:
    """Return the places and parents of all nodes of a tree."""
    state = Recorder(tree.default_indent, tree.default_newline)
    tree._codegen(state)
    return state
