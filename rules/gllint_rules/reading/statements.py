"""From the statements of CPython's tree to facts."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from typing import Any, Literal

from gllint_rules.reading import facts
from gllint_rules.reading.binder import PLAIN_CLASSES
from gllint_rules.reading.expressions import OPERATORS, Expressions
from gllint_rules.reading.facts import Binding, Block, Expr, Scope
from gllint_rules.reading.sketch import Imported, visitors

NAME = re.compile(r"(?:async[\s\\]+)?(?:def|class)[\s\\]+(\w+)")


class Statements(Expressions):
    """One walk over the statements of a section of ``file``."""

    file: facts.Module

    def block(self, body: Iterable[ast.stmt]) -> Block:
        statements: list[facts.Stmt] = []
        for node in body:
            statement = _STATEMENTS[type(node)](self, node)
            if statement is not None:
                statements.append(statement)
        return tuple(statements)

    def arm(self, body: Iterable[ast.stmt]) -> Block:
        """Return a block that is not always executed."""
        outer, self.branch = self.branch, facts.Branch(self.branch)
        block = self.block(body)
        self.branch = outer
        return block

    def visit_Pass(self, node: ast.stmt) -> None:
        return None

    def visit_Expr(self, node: ast.Expr) -> facts.Stmt:
        value = self.expr(node.value)
        if isinstance(value, (facts.Const, facts.Join)):
            self.section_facts.docstrings.add(value.at)
        return facts.Do("expr", (value,))

    def visit_Assign(self, node: ast.Assign) -> facts.Stmt | None:
        """Read an assignment, or a type alias."""
        if self._is_alias(node):
            [name] = node.targets
            value = self.expr(node.value)
            self.bind(name.id, Binding("alias", value))  # type: ignore[attr-defined]
            return None
        targets = tuple(map(self.expr, node.targets))
        value = self.in_context(targets[0], node.value)
        for target in targets:
            self.bind_target(target, value, "assign")
        return facts.Assign(targets, value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> facts.Stmt:
        """Read an assignment with an annotation."""
        target = self.expr(node.target)
        annotation = self.expr(node.annotation)
        value = self.in_context(target, node.value) if node.value is not None else None
        match target:
            case facts.Name(id=name):
                self.bind(name, Binding("annotated", value, annotation, at=target.at))
            case facts.Attr():
                self.bind_attribute(target, value, annotation)
            case _:
                pass
        return facts.Assign((target,), value, annotation)

    def visit_AugAssign(self, node: ast.AugAssign) -> facts.Stmt:
        """Read an assignment such as ``x += 1``."""
        target = self.expr(node.target)
        op = OPERATORS[type(node.op)]
        value = self.expr(node.value)
        if isinstance(target, facts.Name):
            self.bind(target.id, Binding("aug", facts.BinOp(target.at, op, target, value)))
        elif isinstance(target, facts.Attr):
            self.bind_attribute(target, facts.BinOp(target.at, op, target, value), None)
        return facts.AugAssign(target, op, value)

    def visit_Return(self, node: ast.Return) -> facts.Stmt:
        return facts.Return(self.expr(node.value) if node.value is not None else None)

    def visit_Raise(self, node: ast.Raise) -> facts.Stmt:
        return self._do("raise", node.exc, node.cause)

    def visit_Assert(self, node: ast.Assert) -> facts.Stmt:
        return self._do("assert", node.test, node.msg)

    def _do(self, kind: Literal["raise", "assert"], *written: ast.expr | None) -> facts.Stmt:
        return facts.Do(kind, tuple(self.in_context(kind, value) for value in written if value is not None))

    def visit_Delete(self, node: ast.Delete) -> facts.Stmt:
        if len(node.targets) == 1 and not self.text.of(node).endswith(","):
            return facts.Do("del", (self.expr(node.targets[0]),))
        at = self.mark(node)
        return facts.Do("del", (facts.Seq(at, "tuple", tuple(map(self.expr, node.targets))),))

    def visit_Break(self, node: ast.Break | ast.Continue) -> facts.Stmt:
        return facts.Jump("break" if isinstance(node, ast.Break) else "continue")

    visit_Continue = visit_Break

    def visit_Global(self, node: ast.Global) -> None:
        self.scope.globals = self.scope.globals.union(node.names)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self.scope.outer = self.scope.outer.union(node.names)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            first = alias.name.partition(".")[0]
            self.bind_import(
                Imported(alias.asname, alias.name, "") if alias.asname else Imported(first, first, "")
            )

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = "." * node.level + (node.module or "")
        for alias in node.names:
            if alias.name != "*":
                self.bind_import(Imported(alias.asname or alias.name, module, alias.name))

    def visit_TypeAlias(self, node: Any) -> None:
        self.bind(node.name.id, Binding("alias", self.expr(node.value)))

    def _is_alias(self, node: ast.Assign) -> bool:
        """Return whether an assignment to ``type;X`` was written as ``type X``."""
        text = self.text
        if text.written is text.source:
            return False
        begin = text.begin(node)
        sign = text.source.rfind(";", text.starts[max(node.lineno - 2, 0)], begin)
        return sign >= 0 and text.is_lowered(sign, sign + 1) and text.skipped(sign + 1) == begin

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> facts.Stmt:
        """Read a function, in a scope of its own."""
        decorators = tuple(map(self.expr, node.decorator_list))
        at = self.mark(node)
        scope = Scope("function", self.scope)
        params = self.parameters(node.args, scope)
        returns = self.expr(node.returns) if node.returns is not None else None
        is_async = isinstance(node, ast.AsyncFunctionDef)
        function = facts.Function(node.name, at, params, returns, decorators, scope, is_async)
        scope.owner = function
        self.bind(function.name, Binding("def", target=function))
        self.section_facts.functions.append(function)
        outer, self.scope = self.scope, scope
        context, self.context = self.context, []
        branch, self.branch = self.branch, None
        function.body = self.block(node.body)
        function.end = self.count
        self.scope, self.context, self.branch = outer, context, branch
        return facts.Def(function)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node: ast.ClassDef) -> facts.Stmt:
        """Read a class, in a scope of its own."""
        decorators = tuple(map(self.expr, node.decorator_list))
        at = self.mark(node)
        bases = tuple(self.expr(b.value if isinstance(b, ast.Starred) else b) for b in node.bases)
        keywords = tuple((keyword.arg, self.expr(keyword.value)) for keyword in node.keywords)
        scope = Scope("class", self.scope)
        variables = self._type_variables(node)
        match node.body:
            case [ast.Expr(value=ast.Constant(value=str() as docstring)), *_]:
                pass
            case _:
                docstring = ""
        cls = facts.Class(node.name, at, bases, keywords, decorators, scope, variables, docstring=docstring)
        scope.owner = cls
        self.bind(cls.name, Binding("class", target=cls))
        section, outer, owner = self.section_facts.section, self.scope, self.owner
        if (
            section.kind == "class" and not self.section_facts.classes
        ):  # its methods are sections of their own
            self.owner = cls
            scope.bindings = facts.class_namespace(self.file, section)
            cls.attributes = facts.class_attributes(self.file, section)
        self.section_facts.classes.append(cls)
        self.scope = scope
        context, self.context = self.context, []
        branch, self.branch = self.branch, None
        self.block(node.body)
        self.scope, self.context, self.owner, self.branch = outer, context, owner, branch
        return facts.ClassDef(cls)

    def _type_variables(self, node: ast.ClassDef) -> tuple[str, ...]:
        """Return the type variables of a class, also where this Python cannot parse them."""
        text = self.text
        if text.written is not text.source:
            name = NAME.match(text.source, text.begin(node))
            assert name is not None
            begin = len(text.source) - len(text.written[name.end() :].lstrip(" \t\\\r\n\f"))
            if text.is_lowered(begin, begin + 1) and text.written[begin] == "[":
                from gllint_rules.reading.newer import type_variables

                return type_variables(text.written[begin:])
        return tuple(param.name for param in getattr(node, "type_params", ()))

    def visit_If(self, node: ast.If) -> facts.Stmt:
        return facts.If(self.expr(node.test), self.arm(node.body), self.arm(node.orelse))

    def visit_While(self, node: ast.While) -> facts.Stmt:
        return facts.Loop(None, self.expr(node.test), self.arm(node.body), self.arm(node.orelse))

    def visit_For(self, node: ast.For | ast.AsyncFor) -> facts.Stmt:
        target = self.expr(node.target)
        source = self.expr(node.iter)
        self.bind_target(target, source, "loop")
        return facts.Loop(target, source, self.arm(node.body), self.arm(node.orelse))

    visit_AsyncFor = visit_For

    def visit_With(self, node: ast.With | ast.AsyncWith) -> facts.Stmt:
        """Read a ``with`` statement, and bind its targets."""
        items: list[tuple[Expr, Expr | None]] = []
        for item in node.items:
            value = self.expr(item.context_expr)
            target = None
            if item.optional_vars is not None:
                target = self.expr(item.optional_vars)
                self.bind_target(target, value, "with")
            items.append((value, target))
        return facts.With(tuple(items), self.block(node.body))

    visit_AsyncWith = visit_With

    def visit_Try(self, node: ast.Try) -> facts.Stmt:
        """Read a ``try`` statement with its handlers."""
        body = self.arm(node.body)
        handlers = []
        for handler in node.handlers:
            if handler.type is not None:
                self.expr(handler.type)
            if handler.name is not None:
                self.bind(handler.name, Binding("unknown"))
            handlers.append((handler.name, self.arm(handler.body)))
        return facts.Try(body, tuple(handlers), self.arm(node.orelse), self.block(node.finalbody))

    visit_TryStar = visit_Try

    def visit_Match(self, node: ast.Match) -> facts.Stmt:
        """Read a ``match`` statement, and note what the subject is compared with."""
        subject = self.expr(node.subject)
        cases = []
        values: list[tuple[Expr, ...]] = []
        exhaustive = False
        for case in node.cases:
            names: dict[str, str] = {}
            values.append(tuple(self.pattern(case.pattern, names)))
            for value in values[-1]:
                self.section_facts.comparisons.append(
                    (facts.Compare(value.at, (subject, value), ("==",)), self.scope)
                )
            for name in names:
                self.bind(name, Binding("unknown"))
            kind = _class_of_pattern(case.pattern)
            if kind and isinstance(subject, facts.Name):
                names.setdefault(subject.id, kind)
            if case.guard is not None:
                self.expr(case.guard)
            elif isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None:
                exhaustive = True
            cases.append((tuple(names.items()), self.arm(case.body)))
        return facts.Match(subject, tuple(cases), exhaustive, tuple(values))

    def pattern(self, node: ast.pattern, names: dict[str, str]) -> list[Expr]:
        """Collect the names that a ``case`` captures, with the class that their pattern asks for where it does.

        Returns the values that it compares with, the last one first.
        """
        values: list[Expr] = []
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
                case ast.MatchClass(patterns=patterns, kwd_patterns=keyword_patterns) as item:
                    if len(patterns) == 1 and isinstance(patterns[0], ast.MatchAs) and patterns[0].name:
                        names[patterns[0].name] = _class_of_pattern(item)  # `int(n)`
                    stack += [*patterns, *keyword_patterns]
                case ast.MatchSequence(patterns=patterns) | ast.MatchOr(patterns=patterns):
                    stack += patterns
                case ast.MatchValue(value=value):
                    values.append(self.expr(value))
                case _:
                    pass
        return values


def _class_of_pattern(pattern: ast.pattern | None) -> str:
    """Return the plain class that a value must have to match; ``""`` if that is not what the pattern asks for."""
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


_STATEMENTS = visitors(Statements)
