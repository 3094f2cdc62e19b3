"""What one section of a file mentions: a walk over the tree of CPython's own parser."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from gllint_rules.tuples import NamedTuple

_CHAIN = (
    100  # links of a chain of calls and subscripts: each of them asks, and no longer one is written by hand
)
SPREAD = "**"
MUTATORS = frozenset(
    {"update", "setdefault", "append", "add", "insert", "extend", "clear", "write", "writelines"}
)
# The argument by which these look something up.
_LOOK_UPS = {"get": 0, "getattr": 1}


class Imported(NamedTuple):
    """A name that an import binds: ``from module import name as bound``; ``name`` empty: the module itself."""

    bound: str
    module: str  # with leading dots where relative
    name: str


def last_of(node: ast.AST) -> str:
    """Return the last name of ``a.b.c``; of a call or subscript that of its callee or base, where that is not far."""
    for _ in range(_CHAIN):
        kind = type(node)
        if kind is ast.Name:
            return node.id  # type: ignore[attr-defined,no-any-return]
        if kind is ast.Attribute:
            return node.attr  # type: ignore[attr-defined,no-any-return]
        if kind is ast.Call:
            node = node.func  # type: ignore[attr-defined]
        elif kind is ast.Subscript:
            node = node.value  # type: ignore[attr-defined]
        else:
            break
    return ""


def key_of(node: ast.AST) -> str:
    """Return the name of the key of a look-up: ``name`` of ``TOOLS[call.name]`` and ``TOOLS[str(call["name"])]``."""
    for _ in range(_CHAIN):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                return name
            case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=str(name)), *_]):
                return name
            case ast.Call(func=ast.Attribute(value=node)) | ast.Call(args=[node]) | ast.Await(value=node):
                pass
            case ast.Subscript(slice=ast.Constant(value=str(name))):
                return name
            case ast.Subscript(slice=node) | ast.BinOp(right=node) | ast.NamedExpr(target=node):
                pass
            case ast.BoolOp(values=[node, *_]):
                pass
            case ast.JoinedStr(values=values):
                node = next((part.value for part in values if isinstance(part, ast.FormattedValue)), node)
                if isinstance(node, ast.JoinedStr):
                    break
            case _:
                break
    return ""


def visitors(kind: type) -> dict[type[ast.AST], Callable[..., Any]]:
    """Return the methods of a class named ``visit_Name`` by those kinds of nodes that the running Python has."""
    methods = [(name[6:], method) for name, method in vars(kind).items() if name.startswith("visit_")]
    return {getattr(ast, name): method for name, method in methods if hasattr(ast, name)}


class _Children(dict[type[ast.AST], tuple[str, ...]]):
    """Return the fields of each kind of node that may contain nodes."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        fields = (name for name in kind._fields if name not in ("ctx", "op", "ops", "id", "attr", "kind"))
        return self.setdefault(kind, tuple(fields))


_CHILDREN = _Children()


# Where the walk is: in the namespace that the section is in, in the body of its class, or further in.
_OUTSIDE, _CLASS, _INSIDE = range(3)


class Sketch:
    """One walk over the statements of a section, on a stack of its own: source nests as deeply as it likes."""

    def __init__(self) -> None:
        self.aliases: dict[str, set[str]] = {}
        self.dotted: set[str] = set()
        self.imports: list[Imported] = []
        self.stars: list[str] = []
        self.inner_imports: set[str] = set()
        self.binds: set[str] = set()
        self.members: dict[str, int] = {}  # the line of the first statement that binds each
        self.line = 0
        self.binds_globally: set[str] = set()
        self.stores: set[str] = set()
        self.attributes: set[str] = set()
        self.mutated: set[str] = set()
        self.calls: set[str] = set()
        self.keywords: set[str] = set()
        self.keys: set[str] = set()
        self.spreads: set[str] = set()
        self.subscripts: set[str] = set()
        self.looked_up: set[str] = set()
        self.compared: set[str] = set()
        self.decorators: set[str] = set()
        self.classes = 0
        self.stack: list[tuple[ast.AST, int]] = []

    def read(self, group: Sequence[ast.stmt], methods: Sequence[ast.stmt]) -> None:
        """Note the names in statements, without those in the methods."""
        left_out = frozenset(methods)
        stack = self.stack = [(node, _OUTSIDE) for node in group]
        while stack:
            node, level = stack.pop()
            kind = type(node)
            while kind is ast.Attribute:
                if type(node.ctx) is ast.Store:  # type: ignore[attr-defined]
                    self.attributes.add(node.attr)  # type: ignore[attr-defined]
                node = node.value  # type: ignore[attr-defined]
                kind = type(node)
            if kind is ast.Name:  # every second node
                if type(node.ctx) is ast.Store:  # type: ignore[attr-defined]
                    self.bind(node.id, level)  # type: ignore[attr-defined]
                continue
            if kind is ast.Constant:
                continue
            if level == _CLASS and isinstance(node, ast.stmt):
                if node in left_out:
                    continue
                self.line = node.lineno
            handler = _HANDLERS.get(kind)
            if handler is not None:
                handler(self, node, level)
            else:
                self.push(node, level)

    def push(self, node: ast.AST, level: int) -> None:
        """Put the children of a node onto the stack."""
        for name in _CHILDREN[type(node)]:
            value = getattr(node, name, None)
            if type(value) is list:
                for item in value:
                    if isinstance(item, ast.AST):
                        self.stack.append((item, level))
            elif isinstance(value, ast.AST):
                self.stack.append((value, level))

    def bind(self, name: str, level: int) -> None:
        self.stores.add(name)
        if level == _OUTSIDE:
            self.binds.add(name)
        elif level == _CLASS:
            self.members[name] = min(self.line, self.members.get(name, self.line))

    # --- names -------------------------------------------------------------------------------------------

    def visit_NamedExpr(self, node: ast.NamedExpr, level: int) -> None:
        self.bind(node.target.id, level)
        self.stack.append((node.value, level))

    def visit_Global(self, node: ast.Global, level: int) -> None:
        self.binds_globally.update(node.names)

    def visit_MatchAs(self, node: ast.MatchAs | ast.MatchStar | ast.ExceptHandler, level: int) -> None:
        if node.name:
            self.bind(node.name, level)
        self.push(node, level)

    visit_MatchStar = visit_ExceptHandler = visit_MatchAs

    def visit_MatchMapping(self, node: ast.MatchMapping, level: int) -> None:
        if node.rest:
            self.bind(node.rest, level)
        self.push(node, level)

    def visit_Import(self, node: ast.Import, level: int) -> None:
        for alias in node.names:
            bound = alias.asname or alias.name.partition(".")[0]
            self.dotted.add(alias.name)
            self.bind(bound, level)
            if level == _OUTSIDE:
                self.imports.append(Imported(bound, alias.name if alias.asname else bound, ""))

    def visit_ImportFrom(self, node: ast.ImportFrom, level: int) -> None:
        """Note what an import binds."""
        module = "." * node.level + (node.module or "")
        for alias in node.names:
            if alias.name == "*":
                if level == _OUTSIDE:
                    self.stars.append(module)
                continue
            bound = alias.asname or alias.name
            if alias.asname:
                self.aliases.setdefault(alias.asname, set()).add(alias.name)
            self.bind(bound, level)
            if level == _OUTSIDE:
                self.imports.append(Imported(bound, module, alias.name))
            elif not node.level:
                self.inner_imports.update((module, f"{module}.{alias.name}"))

    # --- definitions -------------------------------------------------------------------------------------

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef, level: int) -> None:
        """Note the name and decorators of a function, and go into its body."""
        self.bind(node.name, level)
        for decorator in node.decorator_list:
            self.decorators.add(last_of(decorator))
            self.stack.append((decorator, level))
        self.stack.append((node.args, level))
        if node.returns is not None:
            self.stack.append((node.returns, level))
        self.stack += [(statement, _INSIDE) for statement in node.body]

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node: ast.ClassDef, level: int) -> None:
        self.bind(node.name, level)
        self.classes += 1
        self.stack += [(part, level) for part in (*node.decorator_list, *node.bases, *node.keywords)]
        inner = _CLASS if level == _OUTSIDE and self.classes == 1 else _INSIDE
        self.stack += [(statement, inner) for statement in node.body]

    def visit_Lambda(self, node: ast.Lambda, level: int) -> None:
        self.stack += [(node.args, level), (node.body, _INSIDE)]

    def visit_ListComp(
        self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp, level: int
    ) -> None:
        """Its variables are its own; what ``:=`` binds in it is not."""
        for clause in node.generators:
            self.target(clause.target)
            self.stack += [(part, level) for part in (clause.iter, *clause.ifs)]
        parts = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
        # `{**x for …}` has no value.
        self.stack += [(part, level) for part in parts if part is not None]

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp

    # --- stores ------------------------------------------------------------------------------------------

    def visit_Assign(self, node: ast.Assign, level: int) -> None:
        for target in node.targets:
            self.stored(target)
            self.stack.append((target, level))
        self.stack.append((node.value, level))

    def visit_For(self, node: ast.For | ast.AsyncFor, level: int) -> None:
        self.stored(node.target)
        self.push(node, level)

    visit_AsyncFor = visit_For

    def visit_withitem(self, node: ast.withitem, level: int) -> None:
        if node.optional_vars is not None:
            self.stored(node.optional_vars)
        self.push(node, level)

    def stored(self, target: ast.expr) -> None:
        """Note the containers behind ``name[…]`` among assignment targets."""
        waiting = [target]
        while waiting:
            inner = waiting.pop()
            if isinstance(inner, ast.Tuple | ast.List):
                waiting += inner.elts
            elif isinstance(inner, ast.Subscript):
                self.mutated.add(last_of(inner.value))

    def target(self, target: ast.expr) -> None:
        """The variables of a comprehension."""
        self.stored(target)
        self.stack.append((target, _INSIDE))

    # --- what is mentioned -------------------------------------------------------------------------------

    def visit_Call(self, node: ast.Call, level: int) -> None:
        """Note what a call calls, changes and looks up."""
        name = last_of(node.func)
        self.calls.add(name)
        if name in MUTATORS and type(node.func) is ast.Attribute:
            self.mutated.add(last_of(node.func.value))
        place = _LOOK_UPS.get(name)
        if place is not None and place < len(node.args):
            self.looked_up.add(key_of(node.args[place]))
        self.stack.append((node.func, level))
        for arg in node.args:
            if type(arg) is not ast.Constant:
                self.stack.append((arg, level))
        for keyword in node.keywords:
            self.keywords.add(keyword.arg or SPREAD)
            if type(keyword.value) is not ast.Constant:
                self.stack.append((keyword.value, level))

    def visit_Subscript(self, node: ast.Subscript, level: int) -> None:
        self.subscripts.add(last_of(node.value))
        if type(node.slice) is not ast.Constant and type(node.ctx) is ast.Load:
            self.looked_up.add(key_of(node.slice))
        self.stack += [(node.value, level), (node.slice, level)]

    def visit_Compare(self, node: ast.Compare, level: int) -> None:
        """Note the texts that are compared."""
        for operand in (node.left, *node.comparators):
            parts = operand.elts if isinstance(operand, ast.Tuple | ast.List | ast.Set) else (operand,)
            for part in parts:
                if type(part) is ast.Constant:
                    if type(part.value) is str:
                        self.compared.add(part.value)
                else:
                    self.stack.append((part, level))

    def visit_MatchValue(self, node: ast.MatchValue, level: int) -> None:
        if type(node.value) is ast.Constant and type(node.value.value) is str:
            self.compared.add(node.value.value)

    def visit_Dict(self, node: ast.Dict, level: int) -> None:
        """Note the keys of a dict display, and what is spread into it."""
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                self.spreads.add(last_of(value))
            elif type(key) is ast.Constant:
                if type(key.value) is str:
                    self.keys.add(key.value)
            else:
                self.stack.append((key, level))
            if type(value) is not ast.Constant:
                self.stack.append((value, level))


_HANDLERS = visitors(Sketch)
