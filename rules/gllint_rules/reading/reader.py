"""From LibCST's tree to facts: one parse, one recursive walk, no metadata providers.

It is for what is reported and mended, whose places and nodes are found by their numbers, and for syntax that is newer
than the running Python; everything else is read by :mod:`gllint_rules.reading.sections`. The walk visits expressions
and statements only, never whitespace, which makes it a small fraction of the parse.
"""

from __future__ import annotations

import ast
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from sys import intern
from typing import Any, TypeAlias

import libcst as cst
from libcst._nodes.internal import CodegenState

from gllint_rules.reading import facts
from gllint_rules.reading.binder import NOWHERE, PLAIN_CLASSES, Binder, said_by, string_value, text_value
from gllint_rules.reading.depth import is_too_deep
from gllint_rules.reading.facts import Binding, Block, Expr, LineKind, LogicalLine, Param, Scope
from gllint_rules.reading.outline import Section
from gllint_rules.reading.sections import CLASS, Unreadable, section_text
from gllint_rules.reading.sketch import MUTATORS, Imported
from gllint_rules.reading.syntax import ParseFailure


def parse_section(module: facts.Module, section: Section, out: facts.SectionFacts) -> KeptTree:
    """Parse and read a section into ``out``; its tree. Raises :class:`Unreadable`."""
    owner = module.owner(section) if section.owner is not None else None
    text = section_text(module, section)
    if section.owner is not None and owner is None:
        raise Unreadable("its class cannot be read")
    prefix = CLASS if owner is not None else ""
    reader = Reader(out, module.scope, owner, macros=facts.MACRO_MARK in text)
    try:
        if not module.outline.is_whole and is_too_deep(prefix + text):
            raise Unreadable("nests too deeply to be read")
        tree = cst.parse_module(prefix + text)
        body: Any = tree.body
        if owner is not None:
            body = body[0].body.body
        reader.read(body, module)
    except (RecursionError, MemoryError):
        raise Unreadable("nests too deeply to be read") from None
    except (cst.ParserSyntaxError, cst.CSTValidationError, ParseFailure) as error:
        raise Unreadable(f"cannot be read: {type(error).__name__}") from None
    kept = KeptTree(module.source, text, tree, reader.nodes, reader.statements, out)
    TREES.keep((module.path, section.number), kept)
    return kept


class Recorder(CodegenState):
    """LibCST's code generator, noting between which offsets it writes each wanted node.

    ``PositionProvider`` finds the same places, at more than twice the price: it visits the tree once more and
    keeps the place of every node. A test holds the two equal.
    """

    def __init__(self, indent: str, newline: str, nodes: list[cst.CSTNode]) -> None:
        super().__init__(default_indent=indent, default_newline=newline)
        self.found: list[tuple[int, int] | None] = [None] * len(nodes)
        self._numbers = {node: number for number, node in enumerate(nodes)}
        self.offset = 0
        self._starts: list[int] = []

    def add_token(self, value: str) -> None:
        self.tokens.append(value)
        self.offset += len(value)

    def add_indent_tokens(self) -> None:
        self.tokens.extend(self.indent_tokens)
        self.offset += sum(map(len, self.indent_tokens))

    def before_codegen(self, node: cst.CSTNode) -> None:
        self._starts.append(self.offset)

    def after_codegen(self, node: cst.CSTNode) -> None:
        start = self._starts.pop()
        number = self._numbers.get(node)
        if number is not None and self.found[number] is None:
            self.found[number] = start, self.offset

    def record_syntactic_position(  # type: ignore[override]  # a generator costs more than what it surrounds
        self, node: cst.CSTNode, *, start_node: cst.CSTNode | None = None, end_node: cst.CSTNode | None = None
    ) -> _Mark:
        return _Mark(self, self._numbers.get(node))


class _Mark:
    """Notes where an expression begins and ends without the parentheses around it."""

    __slots__ = ("number", "recorder", "start")

    def __init__(self, recorder: Recorder, number: int | None) -> None:
        self.recorder, self.number = recorder, number

    def __enter__(self) -> None:
        self.start = self.recorder.offset

    def __exit__(self, *_: object) -> None:
        if self.number is not None:
            self.recorder.found[self.number] = self.start, self.recorder.offset


@dataclass(slots=True)
class KeptTree:
    """The tree of a section that was read a moment ago: its nodes by number, its statements by unit."""

    source: str  # of the file, and the part of it that was parsed
    text: str
    tree: cst.Module
    nodes: list[cst.CSTNode]
    statements: dict[int, cst.SimpleStatementLine]
    facts: facts.SectionFacts

    def node(self, at: int) -> cst.CSTNode:
        """The node of the expression of that number."""
        return self.nodes[at & ((1 << facts.SECTION_BITS) - 1)]

    def places(self) -> list[tuple[int, int]]:
        """Between which offsets of the text each of the nodes stands."""
        state = Recorder(self.tree.default_indent, self.tree.default_newline, self.nodes)
        self.tree._codegen(state)
        return [found or (0, 0) for found in state.found]


class _Trees:
    """The last trees read in this process, by their file and the number of their section."""

    def __init__(self, most: int) -> None:
        self.most = most  # expressions
        self._kept: OrderedDict[tuple[str, int], KeptTree] = OrderedDict()
        self._size = 0

    def get(self, key: tuple[str, int]) -> KeptTree | None:
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
        return found

    def keep(self, key: tuple[str, int], tree: KeptTree) -> None:
        self.drop(key)
        self._kept[key] = tree
        self._size += len(tree.nodes)
        while self._size > self.most and len(self._kept) > 1:
            self.drop(next(iter(self._kept)))

    def drop(self, key: tuple[str, int]) -> None:
        old = self._kept.pop(key, None)
        self._size -= len(old.nodes) if old is not None else 0

    def clear(self) -> None:
        self._kept.clear()
        self._size = 0


TREES = _Trees(60_000)


def kept_section(module: facts.Module, number: int) -> KeptTree:
    """The tree of a section, parsed again where it is no longer at hand."""
    section = module.outline.sections[number]
    found = TREES.get((module.path, number))
    if (
        found is not None
        and found.source is not module.source
        and found.text == section_text(module, section)
    ):
        found.source, found.facts.section = module.source, section  # an edit of other sections has moved it
    if found is not None and found.source is module.source:
        return found
    return parse_section(module, section, facts.SectionFacts(section))


def read_node(node: cst.CSTNode) -> Expr:
    """The facts of one expression, numbered by themselves."""
    return Reader(facts.SectionFacts(NOWHERE)).expr(node)


_Small: TypeAlias = cst.BaseSmallStatement
_Handler: TypeAlias = Callable[[Any, Any], Any]


class Reader(Binder):
    """One walk over the tree of a section. It keeps the node of each number, for positions."""

    def __init__(
        self,
        out: facts.SectionFacts,
        module: Scope | None = None,
        owner: facts.Class | None = None,
        *,
        macros: bool = False,
    ) -> None:
        super().__init__(out, module, owner, macros=macros)
        self.units = out.units
        self.nodes: list[cst.CSTNode] = []
        self.statements: dict[int, cst.SimpleStatementLine] = {}

    def read(self, body: Iterable[cst.CSTNode], module: facts.Module) -> None:
        """Read the statements of a section."""
        self.file = module
        self.out.body = self.block(body)
        self.out.size = self.count - self.first

    def mark(self, node: cst.CSTNode) -> int:
        at = self.count
        self.count = at + 1
        self.nodes.append(node)
        return at

    # --- statements ------------------------------------------------------------------------------------------

    def block(self, body: Iterable[cst.CSTNode]) -> Block:
        out: list[facts.Stmt] = []
        for line in body:
            if type(line) is cst.SimpleStatementLine:
                self.statements[len(self.units)] = line
                self.units.append(LogicalLine(self.count, 1, "simple"))
                for small in line.body:
                    self.small(small, out)
            else:
                _COMPOUND[type(line)](self, line, out)
        return tuple(out)

    def suite(self, body: cst.BaseSuite) -> Block:
        if isinstance(body, cst.IndentedBlock):
            return self.block(body.body)
        out: list[facts.Stmt] = []
        assert isinstance(body, cst.SimpleStatementSuite)
        for small in body.body:
            self.small(small, out)
        return tuple(out)

    def header(self, kind: LineKind, *, decorators: int = 0) -> None:
        self.units.append(LogicalLine(self.count, 1 + decorators, kind))

    def bare(self, body: cst.BaseSuite) -> Block:
        """A suite whose header has no expression: ``else:``, ``try:``, ``finally:``."""
        self.header("bare")
        return self.suite(body)

    def small(self, node: _Small, out: list[facts.Stmt]) -> None:
        handler = _SMALL.get(type(node))
        if handler is not None:
            statement = handler(self, node)
            if statement is not None:
                out.append(statement)

    def _expr_statement(self, node: cst.Expr) -> facts.Stmt:
        value = self.expr(node.value)
        if isinstance(value, (facts.Const, facts.Join)):
            self.out.docstrings.add(value.at)
        return facts.Do("expr", (value,))

    def _assign(self, node: cst.Assign) -> facts.Stmt:
        targets = tuple(self.expr(t.target) for t in node.targets)
        if self.macros is not None:
            self.context.append(facts.last_name(targets[0]))
            value = self.expr(node.value)
            self.context.pop()
        else:
            value = self.expr(node.value)
        for target in targets:
            self.bind_target(target, value, "assign")
        return facts.Assign(targets, value)

    def _ann_assign(self, node: cst.AnnAssign) -> facts.Stmt:
        target = self.expr(node.target)
        annotation = self.expr(node.annotation.annotation)
        if self.macros is not None:
            self.context.append(facts.last_name(target))
        value = self.expr(node.value) if node.value is not None else None
        if self.macros is not None:
            self.context.pop()
        match target:
            case facts.Name(id=name):
                self.bind(name, Binding("annotated", value, annotation, at=target.at))
            case facts.Attr():
                self.bind_attribute(target, value, annotation)
            case _:
                pass
        return facts.Assign((target,), value, annotation)

    def _aug_assign(self, node: cst.AugAssign) -> facts.Stmt:
        target = self.expr(node.target)
        op = _OPERATORS.get(type(node.operator), "?")
        value = self.expr(node.value)
        if isinstance(target, facts.Name):
            result = facts.BinOp(target.at, op, target, value)
            self.bind(target.id, Binding("aug", result))
        elif isinstance(target, facts.Attr):
            self.bind_attribute(target, facts.BinOp(target.at, op, target, value), None)
        return facts.AugAssign(target, op, value)

    def _return(self, node: cst.Return) -> facts.Stmt:
        return facts.Return(self.expr(node.value) if node.value is not None else None)

    def _raise(self, node: cst.Raise) -> facts.Stmt:
        self.context.append("raise")
        values = []
        if node.exc is not None:
            values.append(self.expr(node.exc))
        if node.cause is not None:
            values.append(self.expr(node.cause.item))
        self.context.pop()
        return facts.Do("raise", tuple(values))

    def _assert(self, node: cst.Assert) -> facts.Stmt:
        self.context.append("assert")
        values = [self.expr(node.test)]
        if node.msg is not None:
            values.append(self.expr(node.msg))
        self.context.pop()
        return facts.Do("assert", tuple(values))

    def _del(self, node: cst.Del) -> facts.Stmt:
        return facts.Do("del", (self.expr(node.target),))

    def _break(self, node: cst.Break) -> facts.Stmt:
        return facts.Jump("break")

    def _continue(self, node: cst.Continue) -> facts.Stmt:
        return facts.Jump("continue")

    def _global(self, node: cst.Global) -> None:
        self.scope.globals = self.scope.globals.union(item.name.value for item in node.names)

    def _nonlocal(self, node: cst.Nonlocal) -> None:
        self.scope.outer = self.scope.outer.union(item.name.value for item in node.names)

    def _import(self, node: cst.Import) -> None:
        for alias in node.names:
            name = _dotted_cst(alias.name)
            self.out.dotted_imports.append(name)
            if alias.asname is not None:
                self.bind_import(Imported(_alias_name(alias.asname), name, ""))
            else:
                first = name.partition(".")[0]
                self.bind_import(Imported(first, first, ""))

    def _import_from(self, node: cst.ImportFrom) -> None:
        module = "." * len(node.relative) + (_dotted_cst(node.module) if node.module is not None else "")
        if isinstance(node.names, cst.ImportStar):
            self.out.stars.append(module)
            return
        for alias in node.names:
            name = _dotted_cst(alias.name)
            bound = _alias_name(alias.asname) if alias.asname is not None else name
            self.bind_import(Imported(bound, module, name))

    def _type_alias(self, node: cst.TypeAlias) -> None:
        self.bind(node.name.value, Binding("alias", self.expr(node.value)))

    def _function(self, node: cst.FunctionDef, out: list[facts.Stmt]) -> None:
        self.header("header", decorators=len(node.decorators))
        decorators = tuple(self.expr(d.decorator) for d in node.decorators)
        at = self.mark(node.name)
        scope = Scope("function", self.scope)
        params = self.parameters(node.params, scope)
        returns = self.expr(node.returns.annotation) if node.returns is not None else None
        function = facts.Function(
            name=intern(node.name.value),
            at=at,
            params=params,
            returns=returns,
            decorators=decorators,
            scope=scope,
            is_async=node.asynchronous is not None,
        )
        scope.owner = function
        self.bind(function.name, Binding("def", target=function))
        self.out.functions.append(function)
        outer, self.scope = self.scope, scope
        context, self.context = self.context, []
        function.body = self.suite(node.body)
        function.end = self.count
        self.scope, self.context = outer, context
        out.append(facts.Def(function))

    def parameters(self, node: cst.Parameters, scope: Scope) -> tuple[Param, ...]:
        out: list[Param] = []
        self._params(node.posonly_params, "positional", scope, out)
        self._params(node.params, "any", scope, out)
        if isinstance(node.star_arg, cst.Param):
            self._params((node.star_arg,), "star", scope, out)
        self._params(node.kwonly_params, "keyword", scope, out)
        if node.star_kwarg is not None:
            self._params((node.star_kwarg,), "double-star", scope, out)
        return tuple(out)

    def _params(self, nodes: Sequence[cst.Param], kind: str, scope: Scope, out: list[Param]) -> None:
        for node in nodes:
            annotation = self.expr(node.annotation.annotation) if node.annotation is not None else None
            default = self.expr(node.default) if node.default is not None else None
            param = Param(intern(node.name.value), annotation, default, kind)  # type: ignore[arg-type]
            self.bind(param.name, Binding("param", target=param), scope)
            out.append(param)

    def _class(self, node: cst.ClassDef, out: list[facts.Stmt]) -> None:
        self.header("header", decorators=len(node.decorators))
        decorators = tuple(self.expr(d.decorator) for d in node.decorators)
        at = self.mark(node.name)
        bases = tuple(self.expr(a.value) for a in node.bases)
        keywords = tuple(
            (a.keyword.value if a.keyword is not None else None, self.expr(a.value)) for a in node.keywords
        )
        scope = Scope("class", self.scope)
        variables = node.type_parameters.params if node.type_parameters is not None else ()
        names = tuple(variable.param.name.value for variable in variables)
        cls = facts.Class(node.name.value, at, bases, keywords, decorators, scope, names)
        scope.owner = cls
        self.bind(cls.name, Binding("class", target=cls))
        section, outer, owner = self.out.section, self.scope, self.owner
        if section.kind == "class" and not self.out.classes:  # its methods are sections of their own
            self.owner = cls
            scope.bindings = facts.class_namespace(self.file, section)
            cls.attributes = facts.class_attributes(self.file, section)
        self.out.classes.append(cls)
        self.scope = scope
        context, self.context = self.context, []
        self.suite(node.body)
        self.scope, self.context, self.owner = outer, context, owner
        out.append(facts.ClassDef(cls))

    def _if(self, node: cst.If, out: list[facts.Stmt], *, is_elif: bool = False) -> None:
        self.header("elif" if is_elif else "header")
        test = self.expr(node.test)
        body = self.suite(node.body)
        orelse: Block = ()
        if isinstance(node.orelse, cst.If):
            nested: list[facts.Stmt] = []
            self._if(node.orelse, nested, is_elif=True)
            orelse = tuple(nested)
        elif node.orelse is not None:
            orelse = self.bare(node.orelse.body)
        out.append(facts.If(test, body, orelse))

    def _while(self, node: cst.While, out: list[facts.Stmt]) -> None:
        self.header("header")
        test = self.expr(node.test)
        body = self.suite(node.body)
        orelse = self.bare(node.orelse.body) if node.orelse is not None else ()
        out.append(facts.Loop(None, test, body, orelse))

    def _for(self, node: cst.For, out: list[facts.Stmt]) -> None:
        self.header("header")
        target = self.expr(node.target)
        source = self.expr(node.iter)
        self.bind_target(target, source, "loop")
        body = self.suite(node.body)
        orelse = self.bare(node.orelse.body) if node.orelse is not None else ()
        out.append(facts.Loop(target, source, body, orelse))

    def _with(self, node: cst.With, out: list[facts.Stmt]) -> None:
        self.header("header")
        items: list[tuple[Expr, Expr | None]] = []
        for item in node.items:
            value = self.expr(item.item)
            target = None
            if item.asname is not None:
                target = self.expr(item.asname.name)
                self.bind_target(target, value, "with")
            items.append((value, target))
        out.append(facts.With(tuple(items), self.suite(node.body)))

    def _try(self, node: cst.Try | cst.TryStar, out: list[facts.Stmt]) -> None:
        body = self.bare(node.body)
        handlers = []
        for handler in node.handlers:
            self.header("except")
            if handler.type is not None:
                self.expr(handler.type)
            name = None
            if handler.name is not None and isinstance(handler.name.name, cst.Name):
                name = handler.name.name.value
                self.bind(name, Binding("unknown"))
            handlers.append((name, self.suite(handler.body)))
        orelse = self.bare(node.orelse.body) if node.orelse is not None else ()
        final = self.bare(node.finalbody.body) if node.finalbody is not None else ()
        out.append(facts.Try(body, tuple(handlers), orelse, final))

    def _match(self, node: cst.Match, out: list[facts.Stmt]) -> None:
        self.header("match")
        subject = self.expr(node.subject)
        cases = []
        exhaustive = False
        for case in node.cases:
            self.header("case")
            names: dict[str, str] = {}
            self.pattern(case.pattern, names)
            for name in names:
                self.bind(name, Binding("unknown"))
            kind = _class_of_pattern(case.pattern)
            if kind and isinstance(subject, facts.Name):
                names.setdefault(subject.id, kind)
            if case.guard is not None:
                self.expr(case.guard)
            elif isinstance(case.pattern, cst.MatchAs) and case.pattern.pattern is None:
                exhaustive = True
            cases.append((tuple(names.items()), self.suite(case.body)))
        out.append(facts.Match(subject, tuple(cases), exhaustive))

    def pattern(self, node: cst.CSTNode, names: dict[str, str]) -> None:
        """Collect the names that a ``case`` captures, with the class that their pattern asks for where it does,
        and number the values that it compares with.
        """
        stack: list[cst.CSTNode] = [node]
        while stack:
            item = stack.pop()
            if isinstance(item, (cst.MatchAs, cst.MatchStar)) and item.name is not None:
                inner = item.pattern if isinstance(item, cst.MatchAs) else None
                names.setdefault(item.name.value, _class_of_pattern(inner))
            if isinstance(item, cst.MatchMapping) and item.rest is not None:
                names.setdefault(item.rest.value, "")
            if isinstance(item, cst.MatchClass) and len(item.patterns) == 1:  # `int(n)`
                [only] = item.patterns
                if isinstance(only.value, cst.MatchAs) and only.value.name is not None:
                    names[only.value.name.value] = _class_of_pattern(item)
            if isinstance(item, cst.MatchValue):
                self.expr(item.value)
            else:
                stack.extend(child for child in item.children if not isinstance(child, cst.BaseExpression))

    # --- expressions -----------------------------------------------------------------------------------------

    def expr(self, node: cst.CSTNode) -> Expr:
        return _EXPR[type(node)](self, node)  # type: ignore[no-any-return]

    def _name(self, node: cst.Name) -> Expr:
        at = self.mark(node)
        word = _WORDS.get(node.value, self)
        if word is not self:
            return facts.Const(at, word)
        # Interned, so that a name takes its place in memory and in the cache once and not at each use.
        return facts.Name(at, intern(node.value))

    def _attribute(self, node: cst.Attribute) -> Expr:
        at = self.mark(node)
        return facts.Attr(at, self.expr(node.value), intern(node.attr.value))

    def _call(self, node: cst.Call) -> Expr:
        at = self.mark(node)
        func = self.expr(node.func)
        tracked = self.macros is not None
        if tracked:
            self.context.append(facts.last_name(func) + "()")
        args: list[Expr] = []
        keywords: list[tuple[str | None, Expr]] = []
        for arg in node.args:
            if arg.keyword is not None:
                if tracked:
                    self.context.append(arg.keyword.value + "=")
                    keywords.append((intern(arg.keyword.value), self.expr(arg.value)))
                    self.context.pop()
                else:
                    keywords.append((intern(arg.keyword.value), self.expr(arg.value)))
            elif arg.star == "**":
                keywords.append((None, self.expr(arg.value)))
            elif arg.star == "*":
                args.append(facts.Star(self.mark(arg), self.expr(arg.value)))
            else:
                args.append(self.expr(arg.value))
        if tracked:
            self.context.pop()
        if isinstance(func, facts.Attr) and func.name in MUTATORS:
            self.out.mutated.append(facts.last_name(func.base))
        call = facts.Call(at, func, tuple(args), tuple(keywords))
        self.out.calls.append((call, self.scope))
        return call

    def _subscript(self, node: cst.Subscript) -> Expr:
        at = self.mark(node)
        base = self.expr(node.value)
        parts: list[Expr] = []
        whole, self.whole = self.whole, False  # a key or a type states nothing
        for element in node.slice:
            part = element.slice
            if isinstance(part, cst.Index):
                parts.append(self.expr(part.value))
            elif isinstance(part, cst.Slice):
                slice_at = self.mark(part)
                bounds = [self.expr(b) for b in (part.lower, part.upper, part.step) if b is not None]
                parts.append(facts.Slice(slice_at, tuple(bounds)))
        self.whole = whole
        index = parts[0] if len(parts) == 1 else facts.Seq(at, "tuple", tuple(parts))
        out = facts.Sub(at, base, index)
        self.out.subscripts.append((out, self.scope))
        return out

    def _dict(self, node: cst.Dict) -> Expr:
        at = self.mark(node)
        items: list[tuple[Expr | None, Expr]] = []
        tracked = self.macros is not None
        for element in node.elements:
            if isinstance(element, cst.DictElement):
                key = self.expr(element.key)
                if tracked and isinstance(key, facts.Const) and isinstance(key.value, str):
                    self.context.append(key.value + ":")
                    items.append((key, self.expr(element.value)))
                    self.context.pop()
                else:
                    items.append((key, self.expr(element.value)))
            else:
                items.append((None, self.expr(element.value)))
        out = facts.Dict(at, tuple(items))
        self.out.dicts.append((out, self.scope))
        return out

    def _elements(self, elements: Sequence[cst.BaseElement]) -> tuple[Expr, ...]:
        return tuple(
            facts.Star(self.mark(e), self.expr(e.value))
            if isinstance(e, cst.StarredElement)
            else self.expr(e.value)
            for e in elements
        )

    def _list(self, node: cst.List) -> Expr:
        at = self.mark(node)
        return facts.Seq(at, "list", self._elements(node.elements))

    def _tuple(self, node: cst.Tuple) -> Expr:
        at = self.mark(node)
        return facts.Seq(at, "tuple", self._elements(node.elements))

    def _set(self, node: cst.Set) -> Expr:
        at = self.mark(node)
        return facts.Seq(at, "set", self._elements(node.elements))

    def _list_comp(self, node: cst.ListComp) -> Expr:
        return self.comprehension(node, "list", None, node.elt)

    def _set_comp(self, node: cst.SetComp) -> Expr:
        return self.comprehension(node, "set", None, node.elt)

    def _generator(self, node: cst.GeneratorExp) -> Expr:
        return self.comprehension(node, "generator", None, node.elt)

    def _dict_comp(self, node: cst.DictComp) -> Expr:
        return self.comprehension(node, "dict", node.key, node.value)

    def comprehension(
        self, node: Any, kind: str, key_node: cst.BaseExpression | None, element_node: cst.BaseExpression
    ) -> Expr:
        at = self.mark(node)
        scope = Scope("comprehension", self.scope)
        outer, self.scope = self.scope, scope
        clause: cst.CompFor | None = node.for_in
        tests: list[Expr] = []
        while clause is not None:
            source = self.expr(clause.iter)
            self.bind_target(self.expr(clause.target), source, "loop")
            tests += (self.expr(condition.test) for condition in clause.ifs)
            clause = clause.inner_for_in
        key = self.expr(key_node) if key_node is not None else None
        element = self.expr(element_node)
        self.scope = outer
        return facts.Comp(at, kind, key, element, scope, tuple(tests))  # type: ignore[arg-type]

    def _binary(self, node: cst.BinaryOperation) -> Expr:
        # Long chains (`a + b + c …`) nest to the left; a loop keeps them off the call stack.
        chain: list[tuple[int, cst.BinaryOperation]] = []
        left: cst.BaseExpression = node
        while isinstance(left, cst.BinaryOperation):
            chain.append((self.mark(left), left))
            left = left.left
        out = self.expr(left)
        for at, operation in reversed(chain):
            op = _OPERATORS.get(type(operation.operator), "?")
            out = facts.BinOp(at, op, out, self.expr(operation.right))
        return out

    def _unary(self, node: cst.UnaryOperation) -> Expr:
        at = self.mark(node)
        return facts.UnaryOp(at, _OPERATORS.get(type(node.operator), "?"), self.expr(node.expression))

    def _boolean(self, node: cst.BooleanOperation) -> Expr:
        at = self.mark(node)
        left = self.expr(node.left)
        op = "and" if isinstance(node.operator, cst.And) else "or"
        return facts.BoolOp(at, op, left, self.expr(node.right))

    def _comparison(self, node: cst.Comparison) -> Expr:
        at = self.mark(node)
        if self.macros is not None:
            self.context.append("compare")
        operands = [self.expr(node.left)]
        ops = []
        for target in node.comparisons:
            ops.append(type(target.operator).__name__)
            operands.append(self.expr(target.comparator))
        if self.macros is not None:
            self.context.pop()
        self.out.compared.append((at, self.count))
        return facts.Compare(at, tuple(operands), tuple(ops))

    def _if_exp(self, node: cst.IfExp) -> Expr:
        at = self.mark(node)
        body = self.expr(node.body)
        test = self.expr(node.test)
        return facts.IfExp(at, test, body, self.expr(node.orelse))

    def _lambda(self, node: cst.Lambda) -> Expr:
        at = self.mark(node)
        scope = Scope("lambda", self.scope)
        params = self.parameters(node.params, scope)
        outer, self.scope = self.scope, scope
        body = self.expr(node.body)
        self.scope = outer
        return facts.Lambda(at, params, body, scope)

    def _string(self, node: cst.SimpleString) -> Expr:
        at = self.mark(node)
        const = facts.Const(at, string_value(node.value))
        self.note_text(const, node.value)
        return const

    def _concatenated(self, node: cst.ConcatenatedString) -> Expr:
        at = self.mark(node)
        macros, self.macros = self.macros, None
        whole, self.whole = self.whole, False
        left, right = self.expr(node.left), self.expr(node.right)
        self.macros, self.whole = macros, whole
        parts: list[facts.Const | facts.Join | facts.Hole] = []
        for side in (left, right):
            if isinstance(side, facts.Join):
                parts.extend(side.parts)
            elif isinstance(side, facts.Const):
                parts.append(side)
        join = facts.Join(at, tuple(parts))
        self.note_join(join)
        return join

    def _formatted(self, node: cst.FormattedString | cst.TemplatedString) -> Expr:
        at = self.mark(node)
        parts: list[facts.Const | facts.Join | facts.Hole] = []
        raw = "r" in node.start.lower()
        self._formatted_parts(node.parts, raw, parts)
        join = facts.Join(at, tuple(parts))
        self.note_join(join)
        return join

    def _formatted_parts(
        self, nodes: Sequence[cst.CSTNode], raw: bool, out: list[facts.Const | facts.Join | facts.Hole]
    ) -> None:
        for part in nodes:
            if isinstance(part, (cst.FormattedStringText, cst.TemplatedStringText)):
                out.append(facts.Const(self.mark(part), text_value(part.value, raw)))
            elif isinstance(part, (cst.FormattedStringExpression, cst.TemplatedStringExpression)):
                value = self.expr(part.expression)
                spec: str | None = None
                if part.format_spec is not None:
                    pieces: list[facts.Const | facts.Join | facts.Hole] = []
                    self._formatted_parts(part.format_spec, raw, pieces)
                    spec = said_by(pieces)
                out.append(facts.Hole(value, spec))

    def _number(self, node: cst.Integer | cst.Float | cst.Imaginary) -> Expr:
        try:
            value: object = ast.literal_eval(node.value)
        except (ValueError, SyntaxError):  # more digits than Python converts
            value = 0
        return facts.Const(self.mark(node), value)

    def _ellipsis(self, node: cst.Ellipsis) -> Expr:
        return facts.Const(self.mark(node), ...)

    def _await(self, node: cst.Await) -> Expr:
        at = self.mark(node)
        return facts.Await(at, self.expr(node.expression))

    def _yield(self, node: cst.Yield) -> Expr:
        at = self.mark(node)
        value: Expr | None = None
        delegate = isinstance(node.value, cst.From)
        if isinstance(node.value, cst.From):
            value = self.expr(node.value.item)
        elif node.value is not None:
            value = self.expr(node.value)
        out = facts.Yield(at, value, delegate)
        self.note_yield(out)
        return out

    def _starred(self, node: cst.StarredElement) -> Expr:
        """``*Ts`` as an annotation."""
        return facts.Star(self.mark(node), self.expr(node.value))

    def _named(self, node: cst.NamedExpr) -> Expr:
        at = self.mark(node)
        value = self.expr(node.value)
        assert isinstance(node.target, cst.Name)
        self.bind_walrus(node.target.value, value)
        return facts.Walrus(at, node.target.value, value)


def _dotted_cst(node: cst.BaseExpression) -> str:
    if isinstance(node, cst.Attribute):
        return f"{_dotted_cst(node.value)}.{node.attr.value}"
    assert isinstance(node, cst.Name)
    return node.value


def _class_of_pattern(pattern: cst.MatchPattern | None) -> str:
    """The plain class that a value must have to match; ``""`` where that is not what the pattern asks for."""
    match pattern:
        case cst.MatchClass(cls=cst.Name(value=name)) if name in PLAIN_CLASSES:
            return name
        case cst.MatchAs(pattern=cst.MatchPattern() as inner):
            return _class_of_pattern(inner)
        case cst.MatchOr():
            kinds = {_class_of_pattern(element.pattern) for element in pattern.patterns}
            if kinds <= {"int", "float", "complex"}:
                return "int"
            return kinds.pop() if len(kinds) == 1 else ""
        case _:
            return ""


def _alias_name(node: cst.AsName) -> str:
    assert isinstance(node.name, cst.Name)
    return node.name.value


_WORDS: dict[str, object] = {"True": True, "False": False, "None": None}

_OPERATORS: dict[type[cst.CSTNode], str] = {
    cst.Add: "+",
    cst.Subtract: "-",
    cst.Multiply: "*",
    cst.Divide: "/",
    cst.FloorDivide: "//",
    cst.Modulo: "%",
    cst.Power: "**",
    cst.MatrixMultiply: "@",
    cst.LeftShift: "<<",
    cst.RightShift: ">>",
    cst.BitAnd: "&",
    cst.BitOr: "|",
    cst.BitXor: "^",
    cst.AddAssign: "+",
    cst.SubtractAssign: "-",
    cst.MultiplyAssign: "*",
    cst.DivideAssign: "/",
    cst.FloorDivideAssign: "//",
    cst.ModuloAssign: "%",
    cst.PowerAssign: "**",
    cst.MatrixMultiplyAssign: "@",
    cst.LeftShiftAssign: "<<",
    cst.RightShiftAssign: ">>",
    cst.BitAndAssign: "&",
    cst.BitOrAssign: "|",
    cst.BitXorAssign: "^",
    cst.Minus: "-",
    cst.Plus: "+",
    cst.BitInvert: "~",
    cst.Not: "not",
}

_SMALL: dict[type[cst.CSTNode], _Handler] = {
    cst.Expr: Reader._expr_statement,
    cst.Assign: Reader._assign,
    cst.AnnAssign: Reader._ann_assign,
    cst.AugAssign: Reader._aug_assign,
    cst.Return: Reader._return,
    cst.Raise: Reader._raise,
    cst.Assert: Reader._assert,
    cst.Del: Reader._del,
    cst.Break: Reader._break,
    cst.Continue: Reader._continue,
    cst.Global: Reader._global,
    cst.Nonlocal: Reader._nonlocal,
    cst.Import: Reader._import,
    cst.ImportFrom: Reader._import_from,
    cst.TypeAlias: Reader._type_alias,
}

_COMPOUND: dict[type[cst.CSTNode], Callable[[Any, Any, list[facts.Stmt]], None]] = {
    cst.FunctionDef: Reader._function,
    cst.ClassDef: Reader._class,
    cst.If: Reader._if,
    cst.While: Reader._while,
    cst.For: Reader._for,
    cst.With: Reader._with,
    cst.Try: Reader._try,
    cst.TryStar: Reader._try,
    cst.Match: Reader._match,
}

_EXPR: dict[type[cst.CSTNode], _Handler] = {
    cst.Name: Reader._name,
    cst.Attribute: Reader._attribute,
    cst.Call: Reader._call,
    cst.Subscript: Reader._subscript,
    cst.Dict: Reader._dict,
    cst.List: Reader._list,
    cst.Tuple: Reader._tuple,
    cst.Set: Reader._set,
    cst.ListComp: Reader._list_comp,
    cst.SetComp: Reader._set_comp,
    cst.GeneratorExp: Reader._generator,
    cst.DictComp: Reader._dict_comp,
    cst.BinaryOperation: Reader._binary,
    cst.UnaryOperation: Reader._unary,
    cst.BooleanOperation: Reader._boolean,
    cst.Comparison: Reader._comparison,
    cst.IfExp: Reader._if_exp,
    cst.Lambda: Reader._lambda,
    cst.SimpleString: Reader._string,
    cst.ConcatenatedString: Reader._concatenated,
    cst.FormattedString: Reader._formatted,
    cst.Integer: Reader._number,
    cst.Float: Reader._number,
    cst.Imaginary: Reader._number,
    cst.Ellipsis: Reader._ellipsis,
    cst.Await: Reader._await,
    cst.Yield: Reader._yield,
    cst.NamedExpr: Reader._named,
    cst.StarredElement: Reader._starred,
    cst.TemplatedString: Reader._formatted,
}
