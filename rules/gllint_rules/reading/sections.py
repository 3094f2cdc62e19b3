"""From the text of a section to its facts, by CPython's parser, which takes a ninth of the time of LibCST's.

Expressions get the same numbers as from LibCST's tree (:mod:`gllint_rules.reading.reader`), which is made for those
sections alone in which something is reported: a place or a fix finds its node by the number. A test holds the two
readers equal.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from sys import intern
from typing import Any, TypeAlias

from gllint_rules.reading import facts
from gllint_rules.reading.binder import NOWHERE, PLAIN_CLASSES, Binder, said_by, string_value, text_value
from gllint_rules.reading.facts import Binding, Block, Expr, Param, Scope
from gllint_rules.reading.literals import Part, Text, is_single, literals
from gllint_rules.reading.outline import Section, lines_apart
from gllint_rules.reading.sketch import Imported
from gllint_rules.reading.syntax import ParseFailure, parsed

_NEWLINE = re.compile(r"\r\n?|\n")
_SHORT = 40
_BLANK = re.compile(r"(?:[\s\\]|\#[^\r\n]*)*")
_NAME = re.compile(r"(?:async[\s\\]+)?(?:def|class)[\s\\]+(\w+)")
# A number with more digits than Python converts says nothing.
_MOST_BITS = 14_000
_SIGN = re.compile(r"[A-Za-z]{0,2}(?:\"\"\"|'''|\"|')|[(\[{]|[)\]}]|\#[^\r\n]*")


class Unreadable(Exception):
    """A section that Python compiles and we cannot take."""


def read_statements(module: facts.Module, section: Section, out: facts.SectionFacts) -> None:
    """Read a section into ``out``. Raises :class:`Unreadable`."""
    text, owner = _text_of(module, section)
    reader = SyntaxReader(text, out, module.scope, owner, macros=facts.MACRO_MARK in text.source)
    reader.read(module)


def read_places(module: facts.Module, section: Section) -> facts.Places:
    """Where the expressions and the simple statements of a section stand. Raises :class:`Unreadable`."""
    text, owner = _text_of(module, section)
    reader = _Places(text, facts.SectionFacts(section), module.scope, owner)
    reader.read(module)
    return reader.places


def _text_of(module: facts.Module, section: Section) -> tuple[_Text, facts.Class | None]:
    """What to parse for a section, and the class that it is a method of."""
    owner = module.owner(section) if section.owner is not None else None
    if section.owner is not None and owner is None:
        raise Unreadable("its class cannot be read")
    prefix = CLASS if owner is not None else ""
    code = prefix + _code_of(module.code, section)
    written = code if module.code is module.source else prefix + module.source[section.begin : section.end]
    return _Text(code, -len(prefix), written), owner


# What makes a method parse alone, however it is indented.
CLASS = "class _:\n"


def _code_of(source: str, section: Section) -> str:
    """The text of a section, as long as it stands in the file; methods of a class are blank."""
    if not section.holes:
        return source[section.begin : section.end]
    parts: list[str] = []
    position = section.begin
    for begin, end, word in section.holes:
        parts.append(source[position:begin])
        indented = max(source.rfind("\n", begin, word), source.rfind("\r", begin, word), begin - 1) + 1
        parts.append(_blank(source[begin:indented]) + source[indented:word])
        parts.append("pass" + _blank(source[word + 4 : end]))
        position = end
    parts.append(source[position : section.end])
    return "".join(parts)


def _readable(source: str) -> tuple[str, ast.Module]:
    """What to parse for ``source``, and its tree. Raises :class:`ParseFailure`."""
    try:
        return source, parsed(source)
    except ParseFailure:
        from gllint_rules.reading.newer import lowered

        code = lowered(source)
        if code is None:
            raise
        return code, parsed(code)


_LINE = re.compile(r"[^\r\n]+")


def _blank(text: str) -> str:
    return _LINE.sub(lambda line: " " * len(line[0]), text)


def read_annotation(text: str, at: int) -> Expr | None:
    """The facts of an annotation written as the string ``at``; ``None`` if it is none. All of it stands there."""
    try:
        source = text.strip()
        [statement] = parsed(source).body
        assert isinstance(statement, ast.Expr)
        return _Within(_Text(source), at).expr(statement.value)
    except Exception:  # parsers raise several kinds; any of them means "not an expression"
        return None


class _Text:
    """Source and where its lines begin, for the places of CPython's tree: lines and bytes in them.

    ``written`` is what stands in the file, where that is in newer syntax (:mod:`gllint_rules.reading.newer`).
    ``shift`` leads from its offsets to those of the section.
    """

    __slots__ = ("is_ascii", "shift", "source", "starts", "written")

    def __init__(self, source: str, shift: int = 0, written: str | None = None) -> None:
        self.source, self.shift, self.is_ascii = source, shift, source.isascii()
        self.written = source if written is None else written
        self.starts = [0, *(match.end() for match in _NEWLINE.finditer(source))]

    def offset(self, line: int, column: int) -> int:
        start = self.starts[line - 1]
        if self.is_ascii:
            return start + column
        end = self.starts[line] if line < len(self.starts) else len(self.source)
        return start + len(
            self.source[start:end].encode("utf-8", "surrogatepass")[:column].decode("utf-8", "ignore")
        )

    def begin(self, node: ast.expr | ast.stmt) -> int:
        return self.offset(node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.stmt) -> int:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self.offset(node.end_lineno, node.end_col_offset)

    def of(self, node: ast.expr | ast.stmt) -> str:
        """How a node is written."""
        if self.is_ascii and node.end_lineno == node.lineno and node.end_col_offset is not None:
            start = self.starts[node.lineno - 1]
            return self.written[start + node.col_offset : start + node.end_col_offset]
        return self.written[self.begin(node) : self.end(node)]

    def is_lowered(self, begin: int, end: int) -> bool:
        """Whether what is written between two offsets is in newer syntax."""
        return self.written is not self.source and self.written[begin:end] != self.source[begin:end]

    def line_end(self, node: ast.stmt) -> int:
        """Where the line ends that a statement ends on."""
        line = node.end_lineno or node.lineno
        return self.starts[line] if line < len(self.starts) else len(self.source)

    def is_first(self, begin: int) -> bool:
        """Whether nothing stands on the line before an offset, and no line is continued by it."""
        start = self.starts[bisect_right(self.starts, begin) - 1]
        before = self.source[max(start - 3, 0) : start].rstrip("\r\n")
        return not self.source[start:begin].strip(" \t\f") and not before.endswith("\\")

    def after(self, node: ast.expr, limit: int, signs: str = ")") -> int:
        """Where ``node`` ends with the ``signs`` behind it, before ``limit`` at the latest."""
        end = position = self.end(node)
        while (position := self.skipped(position)) < limit and self.source[position] in signs:
            end = position = position + 1
        return end

    def skipped(self, position: int) -> int:
        """The offset after whitespace and comments."""
        blank = _BLANK.match(self.source, position)
        assert blank is not None
        return blank.end()


class SyntaxReader(Binder):
    """One walk over CPython's tree of a section."""

    file: facts.Module

    def __init__(
        self,
        text: _Text,
        out: facts.SectionFacts,
        module: Scope | None = None,
        owner: facts.Class | None = None,
        *,
        macros: bool = False,
    ) -> None:
        super().__init__(out, module, owner, macros=macros)
        self.text = text

    def mark(self, node: ast.expr | ast.stmt, last: ast.expr | None = None) -> int:
        """The number of an expression; ``last`` is its last operand where it is the beginning of ``node`` alone."""
        at = self.count
        self.count = at + 1
        return at

    def mark_text(self, begin: int, end: int) -> int:
        """The number of a string that stands between two offsets of the text."""
        at = self.count
        self.count = at + 1
        return at

    def read(self, module: facts.Module) -> None:
        """Read a section of ``module``. Raises :class:`Unreadable`."""
        self.file = module
        try:
            body = parsed(self.text.source).body
            if self.owner is not None:
                [cls] = body
                assert isinstance(cls, ast.ClassDef)
                body = cls.body
            self.out.body = self.block(body)
        except (RecursionError, MemoryError):
            raise Unreadable("nests too deeply to be read") from None
        except (ParseFailure, KeyError, ValueError) as error:
            raise Unreadable(f"cannot be read: {type(error).__name__}") from None
        self.out.size = self.count - self.first

    # --- statements ------------------------------------------------------------------------------------------

    def block(self, body: Iterable[ast.stmt]) -> Block:
        out: list[facts.Stmt] = []
        for node in body:
            statement = _STATEMENTS[type(node)](self, node)
            if statement is not None:
                out.append(statement)
        return tuple(out)

    def _nothing(self, node: ast.stmt) -> None:
        return None

    def _expr_statement(self, node: ast.Expr) -> facts.Stmt:
        value = self.expr(node.value)
        if isinstance(value, (facts.Const, facts.Join)):
            self.out.docstrings.add(value.at)
        return facts.Do("expr", (value,))

    def _assign(self, node: ast.Assign) -> facts.Stmt | None:
        if self._is_alias(node):
            [name] = node.targets
            self._type_alias(name, node.value)
            return None
        targets = tuple(map(self.expr, node.targets))
        self.context.append(facts.last_name(targets[0]) if self.macros is not None else "")
        value = self.expr(node.value)
        self.context.pop()
        for target in targets:
            self.bind_target(target, value, "assign")
        return facts.Assign(targets, value)

    def _ann_assign(self, node: ast.AnnAssign) -> facts.Stmt:
        target = self.expr(node.target)
        annotation = self.expr(node.annotation)
        self.context.append(facts.last_name(target) if self.macros is not None else "")
        value = self.expr(node.value) if node.value is not None else None
        self.context.pop()
        match target:
            case facts.Name(id=name):
                self.bind(name, Binding("annotated", value, annotation, at=target.at))
            case facts.Attr():
                self.bind_attribute(target, value, annotation)
            case _:
                pass
        return facts.Assign((target,), value, annotation)

    def _aug_assign(self, node: ast.AugAssign) -> facts.Stmt:
        target = self.expr(node.target)
        op = _OPERATORS[type(node.op)]
        value = self.expr(node.value)
        if isinstance(target, facts.Name):
            self.bind(target.id, Binding("aug", facts.BinOp(target.at, op, target, value)))
        elif isinstance(target, facts.Attr):
            self.bind_attribute(target, facts.BinOp(target.at, op, target, value), None)
        return facts.AugAssign(target, op, value)

    def _return(self, node: ast.Return) -> facts.Stmt:
        return facts.Return(self.expr(node.value) if node.value is not None else None)

    def _raise(self, node: ast.Raise) -> facts.Stmt:
        self.context.append("raise")
        values = tuple(self.expr(value) for value in (node.exc, node.cause) if value is not None)
        self.context.pop()
        return facts.Do("raise", values)

    def _assert(self, node: ast.Assert) -> facts.Stmt:
        self.context.append("assert")
        values = tuple(self.expr(value) for value in (node.test, node.msg) if value is not None)
        self.context.pop()
        return facts.Do("assert", values)

    def _del(self, node: ast.Delete) -> facts.Stmt:
        if len(node.targets) == 1 and not self.text.of(node).endswith(","):
            return facts.Do("del", (self.expr(node.targets[0]),))
        at = self.mark(node)
        return facts.Do("del", (facts.Seq(at, "tuple", self._elements(node.targets)),))

    def _break(self, node: ast.Break) -> facts.Stmt:
        return facts.Jump("break")

    def _continue(self, node: ast.Continue) -> facts.Stmt:
        return facts.Jump("continue")

    def _global(self, node: ast.Global) -> None:
        self.scope.globals = self.scope.globals.union(node.names)

    def _nonlocal(self, node: ast.Nonlocal) -> None:
        self.scope.outer = self.scope.outer.union(node.names)

    def _import(self, node: ast.Import) -> None:
        for alias in node.names:
            first = alias.name.partition(".")[0]
            self.bind_import(
                Imported(alias.asname, alias.name, "") if alias.asname else Imported(first, first, "")
            )

    def _import_from(self, node: ast.ImportFrom) -> None:
        module = "." * node.level + (node.module or "")
        for alias in node.names:
            if alias.name != "*":
                self.bind_import(Imported(alias.asname or alias.name, module, alias.name))

    def _alias(self, node: Any) -> None:
        self._type_alias(node.name, node.value)

    def _type_alias(self, name: Any, value: ast.expr) -> None:
        self.bind(name.id, Binding("alias", self.expr(value)))

    def _is_alias(self, node: ast.Assign) -> bool:
        """Whether ``type X = …`` is written where ``type;X = …`` is read."""
        text = self.text
        if text.written is text.source:
            return False
        begin = text.begin(node)
        sign = text.source.rfind(";", text.starts[max(node.lineno - 2, 0)], begin)
        return sign >= 0 and text.is_lowered(sign, sign + 1) and text.skipped(sign + 1) == begin

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> facts.Stmt:
        decorators = tuple(map(self.expr, node.decorator_list))
        at = self.mark(node)
        scope = Scope("function", self.scope)
        params = self.parameters(node.args, scope)
        returns = self.expr(node.returns) if node.returns is not None else None
        is_async = isinstance(node, ast.AsyncFunctionDef)
        function = facts.Function(node.name, at, params, returns, decorators, scope, is_async)
        scope.owner = function
        self.bind(function.name, Binding("def", target=function))
        self.out.functions.append(function)
        outer, self.scope = self.scope, scope
        context, self.context = self.context, []
        function.body = self.block(node.body)
        function.end = self.count
        self.scope, self.context = outer, context
        return facts.Def(function)

    def parameters(self, node: ast.arguments, scope: Scope) -> tuple[Param, ...]:
        out: list[Param] = []
        plain = [*((arg, "positional") for arg in node.posonlyargs), *((arg, "any") for arg in node.args)]
        without = len(plain) - len(node.defaults)
        for i, (arg, kind) in enumerate(plain):
            self._param(arg, node.defaults[i - without] if i >= without else None, kind, scope, out)
        if node.vararg is not None:
            self._param(node.vararg, None, "star", scope, out)
        for arg, default in zip(node.kwonlyargs, node.kw_defaults, strict=True):
            self._param(arg, default, "keyword", scope, out)
        if node.kwarg is not None:
            self._param(node.kwarg, None, "double-star", scope, out)
        return tuple(out)

    def _param(
        self, node: ast.arg, given: ast.expr | None, kind: str, scope: Scope, out: list[Param]
    ) -> None:
        annotation = self.expr(node.annotation) if node.annotation is not None else None
        default = self.expr(given) if given is not None else None
        param = Param(node.arg, annotation, default, kind)  # type: ignore[arg-type]
        self.bind(param.name, Binding("param", target=param), scope)
        out.append(param)

    def _class(self, node: ast.ClassDef) -> facts.Stmt:
        decorators = tuple(map(self.expr, node.decorator_list))
        at = self.mark(node)
        bases = tuple(self.expr(b.value if isinstance(b, ast.Starred) else b) for b in node.bases)
        keywords = tuple((keyword.arg, self.expr(keyword.value)) for keyword in node.keywords)
        scope = Scope("class", self.scope)
        cls = facts.Class(node.name, at, bases, keywords, decorators, scope, self._type_variables(node))
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
        self.block(node.body)
        self.scope, self.context, self.owner = outer, context, owner
        return facts.ClassDef(cls)

    def _type_variables(self, node: ast.ClassDef) -> tuple[str, ...]:
        text = self.text
        if text.written is not text.source:
            name = _NAME.match(text.source, text.begin(node))
            assert name is not None
            begin = len(text.source) - len(text.written[name.end() :].lstrip(" \t\\\r\n\f"))
            if text.is_lowered(begin, begin + 1):
                from gllint_rules.reading.newer import type_variables

                return type_variables(text.written[begin:])
        return tuple(variable.name for variable in getattr(node, "type_params", ()))

    def _if(self, node: ast.If) -> facts.Stmt:
        return facts.If(self.expr(node.test), self.block(node.body), self.block(node.orelse))

    def _while(self, node: ast.While) -> facts.Stmt:
        return facts.Loop(None, self.expr(node.test), self.block(node.body), self.block(node.orelse))

    def _for(self, node: ast.For | ast.AsyncFor) -> facts.Stmt:
        target = self.expr(node.target)
        source = self.expr(node.iter)
        self.bind_target(target, source, "loop")
        return facts.Loop(target, source, self.block(node.body), self.block(node.orelse))

    def _with(self, node: ast.With | ast.AsyncWith) -> facts.Stmt:
        items: list[tuple[Expr, Expr | None]] = []
        for item in node.items:
            value = self.expr(item.context_expr)
            target = None
            if item.optional_vars is not None:
                target = self.expr(item.optional_vars)
                self.bind_target(target, value, "with")
            items.append((value, target))
        return facts.With(tuple(items), self.block(node.body))

    def _try(self, node: ast.Try) -> facts.Stmt:
        body = self.block(node.body)
        handlers = []
        for handler in node.handlers:
            if handler.type is not None:
                self.expr(handler.type)
            if handler.name is not None:
                self.bind(handler.name, Binding("unknown"))
            handlers.append((handler.name, self.block(handler.body)))
        return facts.Try(body, tuple(handlers), self.block(node.orelse), self.block(node.finalbody))

    def _match(self, node: ast.Match) -> facts.Stmt:
        subject = self.expr(node.subject)
        cases = []
        exhaustive = False
        for case in node.cases:
            names: dict[str, str] = {}
            self.pattern(case.pattern, names)
            for name in names:
                self.bind(name, Binding("unknown"))
            kind = _class_of_pattern(case.pattern)
            if kind and isinstance(subject, facts.Name):
                names.setdefault(subject.id, kind)
            if case.guard is not None:
                self.expr(case.guard)
            elif isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None:
                exhaustive = True
            cases.append((tuple(names.items()), self.block(case.body)))
        return facts.Match(subject, tuple(cases), exhaustive)

    def pattern(self, node: ast.pattern, names: dict[str, str]) -> None:
        """Collect the names that a ``case`` captures, with the class that their pattern asks for where it does,
        and number the values that it compares with, the last one first.
        """
        stack: list[ast.AST] = [node]
        while stack:
            match stack.pop():
                case ast.MatchAs(pattern=inner, name=name):
                    if name is not None:
                        names.setdefault(name, _class_of_pattern(inner))
                    stack += [inner] if inner is not None else []
                case ast.MatchStar(name=str(name)):
                    names.setdefault(name, "")
                case ast.MatchMapping(patterns=patterns, rest=rest):
                    if rest is not None:
                        names.setdefault(rest, "")
                    stack += patterns
                case ast.MatchClass(patterns=patterns, kwd_patterns=more) as item:
                    if len(patterns) == 1 and isinstance(patterns[0], ast.MatchAs) and patterns[0].name:
                        names[patterns[0].name] = _class_of_pattern(item)  # `int(n)`
                    stack += [*patterns, *more]
                case ast.MatchSequence(patterns=patterns) | ast.MatchOr(patterns=patterns):
                    stack += patterns
                case ast.MatchValue(value=value):
                    self.expr(value)
                case _:
                    pass

    # --- expressions -----------------------------------------------------------------------------------------

    def expr(self, node: ast.expr) -> Expr:
        return _EXPRESSIONS[type(node)](self, node)  # type: ignore[no-any-return]

    def _name(self, node: ast.Name) -> Expr:
        return facts.Name(self.mark(node), node.id)

    def _constant(self, node: ast.Constant) -> Expr:
        value = node.value
        if isinstance(value, (str, bytes)):
            return self._strings(node, value)
        if type(value) is int and value.bit_length() > _MOST_BITS:
            value = 0
        return facts.Const(self.mark(node), value)

    def _attribute(self, node: ast.Attribute) -> Expr:
        at = self.mark(node)
        return facts.Attr(at, self.expr(node.value), node.attr)

    def _call(self, node: ast.Call) -> Expr:
        at = self.mark(node)
        func = self.expr(node.func)
        tracked = self.macros is not None
        if tracked:
            self.context.append(facts.last_name(func) + "()")
        args: list[Expr] = []
        keywords: list[tuple[str | None, Expr]] = []
        given: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
        if node.args and node.keywords and _place(node.args[-1]) > _place(node.keywords[0]):
            given.sort(key=_place)  # `f(a=1, *rest)`
        for arg in given:
            if isinstance(arg, ast.keyword):
                if tracked and arg.arg is not None:
                    self.context.append(arg.arg + "=")
                    keywords.append((arg.arg, self.expr(arg.value)))
                    self.context.pop()
                else:
                    keywords.append((arg.arg, self.expr(arg.value)))
            else:
                args.append(self.expr(arg))
        if tracked:
            self.context.pop()
        call = facts.Call(at, func, tuple(args), tuple(keywords))
        self.out.calls.append((call, self.scope))
        return call

    def _subscript(self, node: ast.Subscript) -> Expr:
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
        out = facts.Sub(at, base, index)
        self.out.subscripts.append((out, self.scope))
        return out

    def _has_brackets(self, node: ast.Tuple) -> bool:
        """Whether a tuple stands in brackets of its own: ``x[(a, b)]``, not ``x[a, b]`` or ``x[(a), (b)]``."""
        if node.elts and _place(node.elts[0]) == _place(node):
            return False
        text = self.text.of(node)
        depth = position = 0
        while (found := _SIGN.search(text, position)) is not None:
            position = found.end()
            if found[0] in ("(", "[", "{"):
                depth += 1
            elif found[0] in (")", "]", "}"):
                depth -= 1
                if not depth:
                    return position == len(text)
            elif found[0][-1] in "'\"":
                position = found.start() + len(next(literals(text[found.start() :])).text)
        return False

    def _slice(self, node: ast.Slice) -> Expr:
        at = self.mark(node)
        bounds = (self.expr(bound) for bound in (node.lower, node.upper, node.step) if bound is not None)
        return facts.Slice(at, tuple(bounds))

    def _dict(self, node: ast.Dict) -> Expr:
        at = self.mark(node)
        items: list[tuple[Expr | None, Expr]] = []
        tracked = self.macros is not None
        for written, given in zip(node.keys, node.values, strict=True):
            key = self.expr(written) if written is not None else None
            if tracked and isinstance(key, facts.Const) and isinstance(key.value, str):
                self.context.append(key.value + ":")
                items.append((key, self.expr(given)))
                self.context.pop()
            else:
                items.append((key, self.expr(given)))
        out = facts.Dict(at, tuple(items))
        self.out.dicts.append((out, self.scope))
        return out

    def _elements(self, elements: Sequence[ast.expr]) -> tuple[Expr, ...]:
        return tuple(map(self.expr, elements))

    def _list(self, node: ast.List) -> Expr:
        at = self.mark(node)
        return facts.Seq(at, "list", self._elements(node.elts))

    def _tuple(self, node: ast.Tuple) -> Expr:
        at = self.mark(node)
        return facts.Seq(at, "tuple", self._elements(node.elts))

    def _set(self, node: ast.Set) -> Expr:
        at = self.mark(node)
        return facts.Seq(at, "set", self._elements(node.elts))

    def _star(self, node: ast.Starred) -> Expr:
        at = self.mark(node)
        return facts.Star(at, self.expr(node.value))

    def _list_comp(self, node: ast.ListComp) -> Expr:
        return self.comprehension(node, "list", None, node.elt)

    def _set_comp(self, node: ast.SetComp) -> Expr:
        return self.comprehension(node, "set", None, node.elt)

    def _generator(self, node: ast.GeneratorExp) -> Expr:
        return self.comprehension(node, "generator", None, node.elt)

    def _dict_comp(self, node: ast.DictComp) -> Expr:
        return self.comprehension(node, "dict", node.key, node.value)

    def comprehension(
        self, node: _Comprehension, kind: str, written: ast.expr | None, given: ast.expr
    ) -> Expr:
        at = self.mark(node)
        scope = Scope("comprehension", self.scope)
        outer, self.scope = self.scope, scope
        tests: list[Expr] = []
        for clause in node.generators:
            source = self.expr(clause.iter)
            self.bind_target(self.expr(clause.target), source, "loop")
            tests += map(self.expr, clause.ifs)
        key = self.expr(written) if written is not None else None
        element = self.expr(given)
        self.scope = outer
        return facts.Comp(at, kind, key, element, scope, tuple(tests))  # type: ignore[arg-type]

    def _binary(self, node: ast.BinOp) -> Expr:
        # Long chains (`a + b + c …`) nest to the left; a loop keeps them off the call stack.
        chain: list[tuple[int, ast.BinOp]] = []
        left: ast.expr = node
        while isinstance(left, ast.BinOp):
            chain.append((self.mark(left), left))
            left = left.left
        out = self.expr(left)
        for at, operation in reversed(chain):
            out = facts.BinOp(at, _OPERATORS[type(operation.op)], out, self.expr(operation.right))
        return out

    def _unary(self, node: ast.UnaryOp) -> Expr:
        at = self.mark(node)
        return facts.UnaryOp(at, _OPERATORS[type(node.op)], self.expr(node.operand))

    def _boolean(self, node: ast.BoolOp) -> Expr:
        """``a or b or c`` is ``(a or b) or c``."""
        op = "and" if isinstance(node.op, ast.And) else "or"
        first, *others = node.values
        marks = [self.mark(node)] + [self.mark(node, last) for last in reversed(others[:-1])]
        out = self.expr(first)
        for at, operand in zip(reversed(marks), others, strict=True):
            out = facts.BoolOp(at, op, out, self.expr(operand))
        return out

    def _template(self, node: ast.expr) -> Expr:
        return self._written(node, self.text.of(node), None)

    def _comparison(self, node: ast.Compare) -> Expr:
        at = self.mark(node)
        self.context.append("compare")
        operands = (self.expr(node.left), *map(self.expr, node.comparators))
        self.context.pop()
        self.out.compared.append((at, self.count))
        return facts.Compare(at, operands, tuple(_COMPARISONS[type(op)] for op in node.ops))

    def _if_exp(self, node: ast.IfExp) -> Expr:
        at = self.mark(node)
        body = self.expr(node.body)
        test = self.expr(node.test)
        return facts.IfExp(at, test, body, self.expr(node.orelse))

    def _lambda(self, node: ast.Lambda) -> Expr:
        at = self.mark(node)
        scope = Scope("lambda", self.scope)
        params = self.parameters(node.args, scope)
        outer, self.scope = self.scope, scope
        body = self.expr(node.body)
        self.scope = outer
        return facts.Lambda(at, params, body, scope)

    def _await(self, node: ast.Await) -> Expr:
        at = self.mark(node)
        return facts.Await(at, self.expr(node.value))

    def _yield(self, node: ast.Yield | ast.YieldFrom) -> Expr:
        at = self.mark(node)
        value = self.expr(node.value) if node.value is not None else None
        out = facts.Yield(at, value, isinstance(node, ast.YieldFrom))
        self.note_yield(out)
        return out

    def _named(self, node: ast.NamedExpr) -> Expr:
        at = self.mark(node)
        value = self.expr(node.value)
        self.bind_walrus(node.target.id, value)
        return facts.Walrus(at, node.target.id, value)

    # --- strings ---------------------------------------------------------------------------------------------

    def _strings(self, node: ast.Constant, value: str | bytes) -> Expr:
        raw = self.text.of(node)
        begin = self.text.begin(node)
        if self.text.is_lowered(begin, begin + len(raw)):
            return self._written(node, raw, None)
        if is_single(raw):
            const = facts.Const(self.mark(node), _interned(value))
            self.note_text(const, raw)
            return const
        return self._written(node, raw, iter(()))

    def _formatted(self, node: ast.JoinedStr) -> Expr:
        raw, begin = self.text.of(node), self.text.begin(node)
        return self._written(
            node, raw, None if self.text.is_lowered(begin, begin + len(raw)) else _holes(node)
        )

    def _written(self, node: ast.expr, raw: str, values: Iterator[ast.FormattedValue] | None) -> Expr:
        """An f-string, or several strings after each other; ``values`` are those of the holes where Python has them."""
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
            here = self.mark_text(begin, begin + len(piece.text))
            if piece.parts is None:
                parts.append(facts.Const(here, string_value(piece.text)))
            else:
                self._parts(start, piece.parts, piece.is_raw, values, parts)
        self.macros, self.whole = macros, whole
        join = facts.Join(at, tuple(parts))
        self.note_join(join)
        return join

    def _parts(
        self,
        start: int,
        written: Sequence[Part],
        raw: bool,
        values: Iterator[ast.FormattedValue] | None,
        out: list[facts.Const | facts.Join | facts.Hole],
    ) -> None:
        for part in written:
            begin = start + part.begin
            if isinstance(part, Text):
                at = self.mark_text(begin, begin + len(part.text))
                out.append(facts.Const(at, text_value(part.text, raw)))
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
            out.append(facts.Hole(value, spec))

    def hole(self, written: str, begin: int, node: ast.expr | None) -> Expr:
        """The value of a hole. Older Pythons do not know where it stands, so that its strings are parsed alone."""
        if node is None or "'" in written or '"' in written or ("[" in written and "(" in written):
            return self.hole_alone(written, begin)
        return self.expr(node)

    def hole_alone(self, written: str, begin: int) -> Expr:
        text = written.strip()
        source = f"({text[:-1] if text[-1] == '=' else text}\n)"
        code, tree = _readable(source)
        [statement] = tree.body
        assert isinstance(statement, ast.Expr)
        outer = self.text
        self.text = _Text(code, outer.shift + begin + written.index(text) - 1, source)
        value = self.expr(statement.value)
        self.text = outer
        return value


class _Places(SyntaxReader):
    """Reads a section once more for where its expressions stand; parentheses around them are not part of them."""

    def __init__(
        self, text: _Text, out: facts.SectionFacts, module: Scope, owner: facts.Class | None
    ) -> None:
        super().__init__(text, out, module, owner)
        self.places = facts.Places([], [], {})

    def block(self, body: Iterable[ast.stmt]) -> Block:
        out: list[facts.Stmt] = []
        for group in lines_apart(body):
            begin, shift = self.text.begin(group[0]), self.text.shift
            if isinstance(group[0], _SIMPLE) and self.text.is_first(begin):
                end = self.text.line_end(group[-1])
                self.places.lines.append(facts.Line(self.count, shift + begin, shift + end))
            out += super().block(group)
        return tuple(out)

    def mark(self, node: ast.expr | ast.stmt, last: ast.expr | None = None) -> int:
        text = self.text
        begin, end = text.begin(node), text.end(node)
        if isinstance(node, ast.Name):
            self.places.names.setdefault(node.id, []).append(self.count)
        elif last is not None:
            end = text.after(last, end)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            name = _NAME.match(text.source, begin)
            assert name is not None
            begin, end = name.span(1)
        elif isinstance(node, ast.GeneratorExp):
            clause = node.generators[-1]
            begin = text.skipped(begin + 1)
            end = text.after(clause.ifs[-1] if clause.ifs else clause.iter, end - 1)
        elif isinstance(node, ast.Tuple) and self._has_brackets(node):
            begin = text.skipped(begin + 1)
            end = text.after(node.elts[-1], end - 1, "),") if node.elts else begin
        elif isinstance(node, ast.Delete):
            begin = text.skipped(begin + len("del"))
        return self.mark_text(begin, end)

    def mark_text(self, begin: int, end: int) -> int:
        self.places.spans.append((self.text.shift + begin, self.text.shift + end))
        return super().mark_text(begin, end)

    def hole(self, written: str, begin: int, node: ast.expr | None) -> Expr:
        return self.hole_alone(written, begin)


class _Within(SyntaxReader):
    """Reads what stands inside a string: its parts have no places of their own."""

    def __init__(self, text: _Text, at: int) -> None:
        super().__init__(text, facts.SectionFacts(NOWHERE))
        self.at = at

    def mark(self, node: ast.expr | ast.stmt, last: ast.expr | None = None) -> int:
        return self.at

    def mark_text(self, begin: int, end: int) -> int:
        return self.at


def _holes(node: ast.JoinedStr) -> Iterator[ast.FormattedValue]:
    return (value for value in node.values if isinstance(value, ast.FormattedValue))


def _place(node: ast.expr | ast.keyword) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _interned(value: str | bytes) -> str | bytes:
    return intern(value) if type(value) is str and len(value) < _SHORT else value


def _class_of_pattern(pattern: ast.pattern | None) -> str:
    """The plain class that a value must have to match; ``""`` where that is not what the pattern asks for."""
    match pattern:
        case ast.MatchClass(cls=ast.Name(id=name)) if name in PLAIN_CLASSES:
            return name
        case ast.MatchAs(pattern=ast.pattern() as inner):
            return _class_of_pattern(inner)
        case ast.MatchOr(patterns=patterns):
            kinds = set(map(_class_of_pattern, patterns))
            if kinds <= {"int", "float", "complex"}:
                return "int"
            return kinds.pop() if len(kinds) == 1 else ""
        case _:
            return ""


# Statements that hold no others.
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

_OPERATORS: dict[type[ast.AST], str] = {
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

_Comprehension: TypeAlias = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_Handler: TypeAlias = Callable[[Any, Any], Any]

_STATEMENTS: dict[type[ast.AST], _Handler] = {
    ast.Expr: SyntaxReader._expr_statement,
    ast.Assign: SyntaxReader._assign,
    ast.AnnAssign: SyntaxReader._ann_assign,
    ast.AugAssign: SyntaxReader._aug_assign,
    ast.Return: SyntaxReader._return,
    ast.Raise: SyntaxReader._raise,
    ast.Assert: SyntaxReader._assert,
    ast.Delete: SyntaxReader._del,
    ast.Pass: SyntaxReader._nothing,
    ast.Break: SyntaxReader._break,
    ast.Continue: SyntaxReader._continue,
    ast.Global: SyntaxReader._global,
    ast.Nonlocal: SyntaxReader._nonlocal,
    ast.Import: SyntaxReader._import,
    ast.ImportFrom: SyntaxReader._import_from,
    ast.FunctionDef: SyntaxReader._function,
    ast.AsyncFunctionDef: SyntaxReader._function,
    ast.ClassDef: SyntaxReader._class,
    ast.If: SyntaxReader._if,
    ast.While: SyntaxReader._while,
    ast.For: SyntaxReader._for,
    ast.AsyncFor: SyntaxReader._for,
    ast.With: SyntaxReader._with,
    ast.AsyncWith: SyntaxReader._with,
    ast.Try: SyntaxReader._try,
    ast.TryStar: SyntaxReader._try,
    ast.Match: SyntaxReader._match,
}

_EXPRESSIONS: dict[type[ast.AST], _Handler] = {
    ast.Name: SyntaxReader._name,
    ast.Constant: SyntaxReader._constant,
    ast.Attribute: SyntaxReader._attribute,
    ast.Call: SyntaxReader._call,
    ast.Subscript: SyntaxReader._subscript,
    ast.Slice: SyntaxReader._slice,
    ast.Dict: SyntaxReader._dict,
    ast.List: SyntaxReader._list,
    ast.Tuple: SyntaxReader._tuple,
    ast.Set: SyntaxReader._set,
    ast.Starred: SyntaxReader._star,
    ast.ListComp: SyntaxReader._list_comp,
    ast.SetComp: SyntaxReader._set_comp,
    ast.GeneratorExp: SyntaxReader._generator,
    ast.DictComp: SyntaxReader._dict_comp,
    ast.BinOp: SyntaxReader._binary,
    ast.UnaryOp: SyntaxReader._unary,
    ast.BoolOp: SyntaxReader._boolean,
    ast.Compare: SyntaxReader._comparison,
    ast.IfExp: SyntaxReader._if_exp,
    ast.Lambda: SyntaxReader._lambda,
    ast.JoinedStr: SyntaxReader._formatted,
    ast.Await: SyntaxReader._await,
    ast.Yield: SyntaxReader._yield,
    ast.YieldFrom: SyntaxReader._yield,
    ast.NamedExpr: SyntaxReader._named,
}
if hasattr(ast, "TypeAlias"):  # since Python 3.12
    _STATEMENTS[ast.TypeAlias] = SyntaxReader._alias
if hasattr(ast, "TemplateStr"):  # since Python 3.14
    _EXPRESSIONS[ast.TemplateStr] = SyntaxReader._template
