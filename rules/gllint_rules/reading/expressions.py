"""From the expressions of CPython's tree to facts."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from sys import intern
from typing import Any, TypeAlias

from gllint_rules.reading import facts
from gllint_rules.reading.binder import Binder, said_by, string_value, text_value
from gllint_rules.reading.facts import Binding, Expr, Param, Scope
from gllint_rules.reading.literals import Part, Text, is_single, literals
from gllint_rules.reading.passage import Passage
from gllint_rules.reading.sketch import visitors
from gllint_rules.reading.syntax import ParseFailure, parsed

_SHORT = 40
# A number with more digits than Python converts says nothing.
_MOST_BITS = 14_000
_SIGN = re.compile(r"[A-Za-z]{0,2}(?:\"\"\"|'''|\"|')|[(\[{]|[)\]}]|\#[^\r\n]*")


class Expressions(Binder):
    """One walk over expressions, which get their numbers in reading order."""

    def __init__(
        self,
        text: Passage,
        section_facts: facts.SectionFacts,
        module: Scope | None = None,
        owner: facts.Class | None = None,
        *,
        macros: bool = False,
    ) -> None:
        super().__init__(section_facts, module, owner, macros=macros)
        self.text = text

    def mark(self, node: ast.expr | ast.stmt, last: ast.expr | None = None) -> int:
        """Return the number of an expression; ``last`` is its last operand where it is the beginning of ``node``
        alone.
        """
        at = self.count
        self.count = at + 1
        return at

    def mark_text(self, begin: int, end: int) -> int:
        """Return the number of a string between two offsets of the text."""
        at = self.count
        self.count = at + 1
        return at

    def expr(self, node: ast.expr) -> Expr:
        return _EXPRESSIONS[type(node)](self, node)  # type: ignore[no-any-return]

    def in_context(self, context: Expr | str | None, node: ast.expr) -> Expr:
        """Return an expression, and what is around it."""
        self.context.append(context)
        value = self.expr(node)
        self.context.pop()
        return value

    def visit_Name(self, node: ast.Name) -> Expr:
        return facts.Name(self.mark(node), node.id)

    def visit_Constant(self, node: ast.Constant) -> Expr:
        value = node.value
        if isinstance(value, (str, bytes)):
            return self._strings(node, value)
        if type(value) is int and value.bit_length() > _MOST_BITS:
            value = 0
        return facts.Const(self.mark(node), value)

    def visit_Attribute(self, node: ast.Attribute) -> Expr:
        at = self.mark(node)
        return facts.Attr(at, self.expr(node.value), node.attr)

    def visit_Call(self, node: ast.Call) -> Expr:
        """Read a call, with its arguments in their order in the source."""
        at = self.mark(node)
        func = self.expr(node.func)
        self.context.append(func)
        args: list[Expr] = []
        keywords: list[tuple[str | None, Expr]] = []
        arguments: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
        if node.args and node.keywords and _place(node.args[-1]) > _place(node.keywords[0]):
            arguments.sort(key=_place)  # `f(a=1, *rest)`
        for arg in arguments:
            if isinstance(arg, ast.keyword):
                keywords.append((arg.arg, self.in_context(arg.arg, arg.value)))
            else:
                args.append(self.expr(arg))
        self.context.pop()
        call = facts.Call(at, func, tuple(args), tuple(keywords))
        self.section_facts.calls.append((call, self.scope))
        return call

    def visit_Subscript(self, node: ast.Subscript) -> Expr:
        """Read a subscript. Its index states no text or number."""
        at = self.mark(node)
        base = self.expr(node.value)
        whole, self.whole = self.whole, False  # a key or a type states nothing
        if isinstance(node.slice, ast.Tuple) and not self._has_brackets(node.slice):
            elements = [e.value if isinstance(e, ast.Starred) else e for e in node.slice.elts]
        else:
            elements = [node.slice]
        parts = tuple(map(self.expr, elements))
        self.whole = whole
        index = parts[0] if len(parts) == 1 else facts.Seq(at, "tuple", parts)
        subscript = facts.Sub(at, base, index)
        self.section_facts.subscripts.append((subscript, self.scope))
        return subscript

    def _has_brackets(self, node: ast.Tuple) -> bool:
        """Return whether a tuple is in brackets of its own: ``x[(a, b)]``, not ``x[a, b]`` or ``x[(a), (b)]``."""
        if node.elts and _place(node.elts[0]) == _place(node):
            return False
        text = self.text.of(node)
        depth = position = 0
        while (sign := _SIGN.search(text, position)) is not None:
            position = sign.end()
            if sign[0] in ("(", "[", "{"):
                depth += 1
            elif sign[0] in (")", "]", "}"):
                depth -= 1
                if not depth:
                    return position == len(text)
            elif sign[0][0] != "#":
                position = sign.start() + len(next(literals(text[sign.start() :])).text)
        return False

    def visit_Slice(self, node: ast.Slice) -> Expr:
        at = self.mark(node)
        bounds = (
            self.expr(bound) if bound is not None else None for bound in (node.lower, node.upper, node.step)
        )
        return facts.Slice(at, tuple(bounds))

    def visit_Dict(self, node: ast.Dict) -> Expr:
        """Read a dict display, each value in the context of its key."""
        at = self.mark(node)
        items: list[tuple[Expr | None, Expr]] = []
        for written, value in zip(node.keys, node.values, strict=True):
            key = self.expr(written) if written is not None else None
            name = key.value if isinstance(key, facts.Const) and isinstance(key.value, str) else None
            items.append((key, self.in_context(name, value)))
        display = facts.Dict(at, tuple(items))
        self.section_facts.dicts.append((display, self.scope))
        return display

    def visit_List(self, node: ast.List | ast.Tuple | ast.Set) -> Expr:
        at = self.mark(node)
        return facts.Seq(at, _KINDS[type(node)], tuple(map(self.expr, node.elts)))  # type: ignore[arg-type]

    visit_Tuple = visit_Set = visit_List

    def visit_Starred(self, node: ast.Starred) -> Expr:
        at = self.mark(node)
        return facts.Star(at, self.expr(node.value))

    def visit_ListComp(self, node: _Comprehension) -> Expr:
        """Read a comprehension, in a scope of its own."""
        at = self.mark(node)
        scope = Scope("comprehension", self.scope)
        outer, self.scope = self.scope, scope
        tests: list[Expr] = []
        for clause in node.generators:
            source = self.expr(clause.iter)
            self.bind_target(self.expr(clause.target), source, "loop")
            tests += map(self.expr, clause.ifs)
        kind: Any = _KINDS[type(node)]
        key, element, stars = None, *self._element(node)
        if isinstance(node, ast.DictComp) and not stars:
            key = self.expr(node.key)
        if stars:  # `[*x for …]`, `{**x for …}`
            kind = "dict" if stars == 2 else kind
            item: Expr = facts.Star(self.mark(element), self.expr(element))
        else:
            item = self.expr(element)
        self.scope = outer
        return facts.Comp(at, kind, key, item, scope, tuple(tests))

    def _element(self, node: _Comprehension) -> tuple[ast.expr, int]:
        """Return the element of a comprehension, and how many stars unpack it."""
        if isinstance(node, ast.DictComp):
            # Python 3.15 has what `**` unpacks where the key is, and no value.
            return (node.key, 2) if getattr(node, "value", None) is None else (node.value, 0)
        if isinstance(node.elt, ast.Starred):
            return node.elt.value, 1
        # An older Python parses a copy of the text in which the stars of newer syntax (`[*x for …]`) are blank.
        return node.elt, self.text.stars(self.text.begin(node) + 1, self.text.begin(node.elt))

    visit_SetComp = visit_GeneratorExp = visit_DictComp = visit_ListComp

    def visit_BinOp(self, node: ast.BinOp) -> Expr:
        """Read a chain of operations."""
        # Long chains (`a + b + c …`) nest to the left; a loop keeps them off the call stack.
        chain: list[tuple[int, ast.BinOp]] = []
        operand: ast.expr = node
        while isinstance(operand, ast.BinOp):
            chain.append((self.mark(operand), operand))
            operand = operand.left
        result = self.expr(operand)
        for at, operation in reversed(chain):
            result = facts.BinOp(at, OPERATORS[type(operation.op)], result, self.expr(operation.right))
        return result

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Expr:
        at = self.mark(node)
        return facts.UnaryOp(at, OPERATORS[type(node.op)], self.expr(node.operand))

    def visit_BoolOp(self, node: ast.BoolOp) -> Expr:
        """``a or b or c`` is ``(a or b) or c``."""
        op = "and" if isinstance(node.op, ast.And) else "or"
        first, *rest = node.values
        marks = [self.mark(node)] + [self.mark(node, last) for last in reversed(rest[:-1])]
        result = self.expr(first)
        for at, operand in zip(reversed(marks), rest, strict=True):
            result = facts.BoolOp(at, op, result, self.expr(operand))
        return result

    def visit_TemplateStr(self, node: ast.expr) -> Expr:
        return self._written(node, self.text.of(node), None)

    def visit_Compare(self, node: ast.Compare) -> Expr:
        at = self.mark(node)
        operands = tuple(self.in_context("==", operand) for operand in (node.left, *node.comparators))
        self.section_facts.compared.append((at, self.count))
        comparison = facts.Compare(at, operands, tuple(_COMPARISONS[type(op)] for op in node.ops))
        self.section_facts.comparisons.append((comparison, self.scope))
        return comparison

    def visit_IfExp(self, node: ast.IfExp) -> Expr:
        at = self.mark(node)
        body = self.expr(node.body)
        test = self.expr(node.test)
        return facts.IfExp(at, test, body, self.expr(node.orelse))

    def visit_Lambda(self, node: ast.Lambda) -> Expr:
        """Read a lambda, in a scope of its own."""
        at = self.mark(node)
        scope = Scope("lambda", self.scope)
        params = self.parameters(node.args, scope)
        outer, self.scope = self.scope, scope
        body = self.expr(node.body)
        self.scope = outer
        return facts.Lambda(at, params, body, scope)

    def visit_Await(self, node: ast.Await) -> Expr:
        at = self.mark(node)
        return facts.Await(at, self.expr(node.value))

    def visit_Yield(self, node: ast.Yield | ast.YieldFrom) -> Expr:
        at = self.mark(node)
        value = self.expr(node.value) if node.value is not None else None
        expression = facts.Yield(at, value, isinstance(node, ast.YieldFrom))
        self.note_yield(expression)
        return expression

    visit_YieldFrom = visit_Yield

    def visit_NamedExpr(self, node: ast.NamedExpr) -> Expr:
        at = self.mark(node)
        value = self.expr(node.value)
        self.bind_walrus(node.target.id, value)
        return facts.Walrus(at, node.target.id, value)

    def parameters(self, node: ast.arguments, scope: Scope) -> tuple[Param, ...]:
        """Read the parameters of a function, in order."""
        params: list[Param] = []
        plain = [*((arg, "positional") for arg in node.posonlyargs), *((arg, "any") for arg in node.args)]
        without = len(plain) - len(node.defaults)
        for i, (arg, kind) in enumerate(plain):
            self._param(arg, node.defaults[i - without] if i >= without else None, kind, scope, params)
        if node.vararg is not None:
            self._param(node.vararg, None, "star", scope, params)
        for arg, default in zip(node.kwonlyargs, node.kw_defaults, strict=True):
            self._param(arg, default, "keyword", scope, params)
        if node.kwarg is not None:
            self._param(node.kwarg, None, "double-star", scope, params)
        return tuple(params)

    def _param(
        self, node: ast.arg, default_value: ast.expr | None, kind: str, scope: Scope, params: list[Param]
    ) -> None:
        """Read a parameter, and bind its name."""
        begin = self.text.begin(node)
        at = self.mark_text(begin, self.text.name_end(begin, node.arg))
        annotation = self.expr(node.annotation) if node.annotation is not None else None
        default = self.expr(default_value) if default_value is not None else None
        param = Param(node.arg, annotation, default, kind, at)  # type: ignore[arg-type]
        self.bind(param.name, Binding("param", target=param), scope)
        params.append(param)

    # --- strings ---------------------------------------------------------------------------------------------

    def _strings(self, node: ast.Constant, value: str | bytes) -> Expr:
        """Read a string, which may be several literals next to each other."""
        raw = self.text.of(node)
        begin = self.text.begin(node)
        if self.text.is_lowered(begin, begin + len(raw)):
            return self._written(node, raw, None)
        if is_single(raw):
            const = facts.Const(self.mark(node), _interned(value))
            self.note_text(const, raw)
            return const
        return self._written(node, raw, iter(()))

    def visit_JoinedStr(self, node: ast.JoinedStr) -> Expr:
        raw, begin = self.text.of(node), self.text.begin(node)
        return self._written(
            node, raw, None if self.text.is_lowered(begin, begin + len(raw)) else _holes(node)
        )

    def _written(self, node: ast.expr, raw: str, values: Iterator[ast.FormattedValue] | None) -> Expr:
        """Return an f-string, or several strings after each other; ``values`` are those of the holes where Python has
        them.
        """
        start = self.text.begin(node)
        pieces = list(literals(raw))
        macros, whole = self.macros, self.whole
        if len(pieces) > 1:
            self.macros, self.whole = None, False
        at = self.count
        parts: list[facts.Const | facts.Join | facts.Hole] = []
        for piece in pieces:
            begin = start + piece.begin
            if piece is not pieces[-1]:
                self.mark_text(begin, start + len(raw))  # this and the rest
            place = self.mark_text(begin, begin + len(piece.text))
            if piece.parts is None:
                parts.append(facts.Const(place, string_value(piece.text)))
            else:
                self._parts(start, piece.parts, piece.is_raw, values, parts)
        self.macros, self.whole = macros, whole
        join = facts.Join(at, tuple(parts))
        self.note_text(join, said_by(join.parts) if self.macros is not None else "")
        return join

    def _parts(
        self,
        start: int,
        written: Sequence[Part],
        raw: bool,
        values: Iterator[ast.FormattedValue] | None,
        parts: list[facts.Const | facts.Join | facts.Hole],
    ) -> None:
        """Read the parts of an f-string: its texts and its holes."""
        for part in written:
            begin = start + part.begin
            if isinstance(part, Text):
                at = self.mark_text(begin, begin + len(part.text))
                parts.append(facts.Const(at, text_value(part.text, raw)))
                continue
            node = next(values) if values is not None else None
            value = self.hole(part.value, begin, node.value if node is not None else None)
            spec: str | None = None
            if part.spec is not None:
                pieces: list[facts.Const | facts.Join | facts.Hole] = []
                inner = node.format_spec if node is not None else None
                self._parts(
                    start, part.spec, raw, _holes(inner) if isinstance(inner, ast.JoinedStr) else None, pieces
                )
                spec = said_by(pieces)
            parts.append(facts.Hole(value, spec))

    def hole(self, written: str, begin: int, node: ast.expr | None) -> Expr:
        """Return the value of a hole. Older Pythons do not know where it is, so that its strings are parsed alone."""
        if node is None or "'" in written or '"' in written or ("[" in written and "(" in written):
            return self.hole_alone(written, begin)
        return self.expr(node)

    def hole_alone(self, written: str, begin: int) -> Expr:
        """Read the expression of a hole that was parsed alone."""
        text = written.strip()
        source = f"({text[:-1] if text[-1] == '=' else text}\n)"
        code, tree = readable(source)
        [statement] = tree.body
        assert isinstance(statement, ast.Expr)
        outer = self.text
        self.text = Passage(code, outer.shift + begin + written.index(text) - 1, source)
        value = self.expr(statement.value)
        self.text = outer
        return value


def readable(source: str) -> tuple[str, ast.Module]:
    """Return the source that can be parsed in place of ``source``, and its tree. Raises :class:`ParseFailure`."""
    try:
        return source, parsed(source)
    except ParseFailure:
        from gllint_rules.reading.newer import lowered

        code = lowered(source)
        if code is None:
            raise
        return code, parsed(code)


def _holes(node: ast.JoinedStr) -> Iterator[ast.FormattedValue]:
    return (value for value in node.values if isinstance(value, ast.FormattedValue))


def _place(node: ast.expr | ast.keyword) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _interned(value: str | bytes) -> str | bytes:
    return intern(value) if type(value) is str and len(value) < _SHORT else value


OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.MatMult: "@",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.USub: "-",
    ast.UAdd: "+",
    ast.Invert: "~",
    ast.Not: "not",
}

_COMPARISONS: dict[type[ast.AST], str] = {
    ast.Eq: "Equal",
    ast.NotEq: "NotEqual",
    ast.Lt: "LessThan",
    ast.LtE: "LessThanEqual",
    ast.Gt: "GreaterThan",
    ast.GtE: "GreaterThanEqual",
    ast.Is: "Is",
    ast.IsNot: "IsNot",
    ast.In: "In",
    ast.NotIn: "NotIn",
}

_KINDS: dict[type[ast.AST], str] = {
    ast.List: "list",
    ast.ListComp: "list",
    ast.Tuple: "tuple",
    ast.Set: "set",
    ast.SetComp: "set",
    ast.DictComp: "dict",
    ast.GeneratorExp: "generator",
}

_Comprehension: TypeAlias = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_EXPRESSIONS = visitors(Expressions)
