"""What an expression holds: lazy evaluation over the facts of the whole project.

Two readings share one evaluator. *Static*: a name is all of its assignments together; this serves module
constants, closures and every question from outside a function's flow. *Flow* (:mod:`gllint_rules.flow`): the
body of a function is executed over abstract values, so that a name is what the last assignment made it.

Cycles end in ``NEVER``, depth in ``UNKNOWN``; nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gllint_rules import facts, known
from gllint_rules.facts import Binding, Class, Expr, Function, Scope
from gllint_rules.frameworks import QUANTITY
from gllint_rules.values import (
    BOOL,
    NEVER,
    NONE,
    TEXT,
    UNKNOWN,
    Because,
    Boolean,
    ClassOf,
    Entry,
    External,
    ExternalInstance,
    Filled,
    FunctionOf,
    Instance,
    ListOf,
    Literal,
    Method,
    ModuleOf,
    Number,
    Record,
    Site,
    Text,
    ToolValue,
    UnionOf,
    Value,
    join,
    moved,
    number,
    options,
)

if TYPE_CHECKING:
    from gllint_rules.project import Project

MOST_DEPTH = 40
MOST_PARTS = 400
MOST_SPECIAL = 3


@dataclass(slots=True)
class Frame:
    """Where an expression is evaluated. ``env`` holds the flow's variables; without it the reading is static."""

    module: facts.Module
    scope: Scope
    env: dict[str, Value] | None = None
    bound: ClassOf | None = None  # what ``self`` is

    def inner(self, scope: Scope, names: dict[str, Value]) -> Frame:
        return Frame(self.module, scope, {**(self.env or {}), **names}, self.bound)


class Evaluator:
    """Evaluates expressions of a project; remembers what names and functions turned out to be."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.depth = 0
        self.special = 0  # how many calls deep functions are executed for their arguments
        self._running: set[tuple[int, int]] = set()
        self._names: dict[tuple[int, str], Value] = {}
        self._functions: dict[tuple[int, int], Value] = {}
        self._attributes: dict[tuple[int, str], Value] = {}

    # --- entry points ----------------------------------------------------------------------------------------

    def eval(self, expr: Expr, frame: Frame) -> Value:
        """What ``expr`` holds in ``frame``."""
        if self.depth > MOST_DEPTH:
            return UNKNOWN
        self.depth += 1
        try:
            return _EVAL[type(expr)](self, expr, frame)
        finally:
            self.depth -= 1

    def number(self, message: str, frame: Frame, at: int, *behind: Value, real: bool = False) -> Number:
        reasons = tuple(n.because for n in map(number, behind) if n is not None)
        return Number(Because(message, Site(frame.module, at), reasons), real)

    # --- names -----------------------------------------------------------------------------------------------

    def _name(self, expr: facts.Name, frame: Frame) -> Value:
        return self.lookup(expr.id, frame)

    def lookup(self, name: str, frame: Frame) -> Value:
        if frame.env is not None:
            found = frame.env.get(name)
            if found is not None:
                return found
        scope: Scope | None = frame.scope
        start = scope
        while scope is not None:
            if name in scope.bindings and (scope.kind != "class" or scope is start):
                return self.binding_value(scope, name, frame)
            if scope.kind == "module":
                for dotted in scope.stars:
                    value = self.project.imported(frame.module, dotted, name)
                    if not isinstance(value, External):
                        return value
            scope = scope.parent
        return External(f"builtins.{name}") if name in known.BUILTINS else UNKNOWN

    def binding_value(self, scope: Scope, name: str, frame: Frame) -> Value:
        """All that the assignments to ``name`` in ``scope`` make of it."""
        key = (id(scope), name)
        found = self._names.get(key)
        if found is not None:
            return found
        self._names[key] = NEVER  # the value of a name in its own definition
        inside = Frame(frame.module, scope, None, frame.bound)
        bindings = scope.bindings[name]
        if scope.kind in ("module", "class") and isinstance(bindings[-1].target, (Function, Class)):
            bindings = bindings[-1:]  # a redefinition replaces what was there
        value = join(*(self._bound(b, inside) for b in bindings))
        if scope.kind in ("module", "class") and name in frame.module.mutated:
            value = _filled_elsewhere(value)
        self._names[key] = value
        return value

    def _bound(self, binding: Binding, frame: Frame) -> Value:
        match binding.kind:
            case "assign" | "aug" | "alias":
                assert binding.value is not None
                return self.eval(binding.value, frame)
            case "annotated":
                assert binding.annotation is not None
                declared = self.annotation(binding.annotation, frame)
                if (
                    binding.value is None
                    or number(declared) is not None
                    or _says_anything(binding.annotation)
                ):
                    return declared
                value = self.eval(binding.value, frame)
                return self.typed(value, declared)
            case "item":
                assert binding.value is not None
                return self.unpacked(self.eval(binding.value, frame), binding.index)
            case "loop":
                assert binding.value is not None
                found = self.unpacked(self.element(self.eval(binding.value, frame)), binding.index)
                # One text of many is no template: only its kind is kept.
                return join(*(TEXT if isinstance(o, Text) else o for o in options(found)))
            case "with":
                assert binding.value is not None
                value = self.eval(binding.value, frame)
                return value if isinstance(value, (Instance, ExternalInstance)) else UNKNOWN
            case "param":
                function = frame.scope.owner
                assert isinstance(binding.target, facts.Param)
                owner = function if isinstance(function, Function) else frame.scope
                return self.parameter(binding.target, owner, frame)
            case "def":
                assert isinstance(binding.target, Function)
                return self.function_value(binding.target, frame)
            case "class":
                assert isinstance(binding.target, Class)
                return ClassOf(frame.module, binding.target)
            case "import":
                return self.project.imported(frame.module, binding.module, binding.name)
            case _:
                return UNKNOWN

    def function_value(self, function: Function, frame: Frame) -> Value:
        tool = self.project.decorated_tool(frame.module, function)
        return ToolValue(tool) if tool is not None else FunctionOf(frame.module, function)

    def parameter(self, param: facts.Param, owner: Function | Scope, frame: Frame) -> Value:
        """What a parameter holds: ``self``, what its annotation says, or what the tool's schema says of it."""
        if isinstance(owner, Function):
            cls = owner.owner
            names = {facts.last_name(d) for d in owner.decorators}
            if cls is not None and owner.params and owner.params[0] is param and "staticmethod" not in names:
                of = frame.bound or ClassOf(frame.module, cls)
                return of if "classmethod" in names else Instance(of)
        if param.annotation is None or param.kind == "double-star":
            scope = owner.scope if isinstance(owner, Function) else owner
            declared = self.project.schema_of_parameter(scope, param)
            if declared is not None:
                return declared
        if param.annotation is None:
            return UNKNOWN
        inner = frame
        if inner.scope.owner is not None and inner.scope.parent is not None and inner.env is None:
            inner = replace(frame, scope=inner.scope.parent)
        value = self.annotation(param.annotation, inner)
        if param.kind == "star":
            return ListOf(rest=value, kind="tuple")
        if param.kind == "double-star":
            return Record(open=True, rest=value)
        return _explained(value, f"parameter `{param.name}` is annotated as a number")

    # --- annotations -----------------------------------------------------------------------------------------

    def annotation(self, expr: Expr, frame: Frame) -> Value:
        """What a value annotated as ``expr`` is."""
        if self.depth > MOST_DEPTH:
            return UNKNOWN
        self.depth += 1
        try:
            return self._annotation(expr, frame)
        finally:
            self.depth -= 1

    def _annotation(self, expr: Expr, frame: Frame) -> Value:
        match expr:
            case facts.Const(value=None):
                return NONE
            case facts.Const(value=str() as text):
                inner = self.project.read_annotation(text)
                if inner is None:
                    return UNKNOWN
                # Expressions in it are numbered apart: whatever it says is said at the string.
                return moved(
                    _at(self.annotation(inner, frame), Site(frame.module, expr.at)),
                    Site(frame.module, expr.at),
                )
            case facts.BinOp(op="|", left=left, right=right):
                return join(self.annotation(left, frame), self.annotation(right, frame))
            case facts.Sub(base=base, index=index):
                return self._generic(base, index, frame)
            case facts.Name() | facts.Attr():
                if isinstance(expr, facts.Name):
                    alias = self._alias(expr.id, frame)
                    if alias is not None:
                        return alias
                return self._declared(self.eval(expr, replace(frame, env=None)), expr, frame)
            case _:
                return UNKNOWN

    def _alias(self, name: str, frame: Frame) -> Value | None:
        """``X = float | None`` and ``type X = float`` name a type."""
        if self.depth > MOST_DEPTH:
            return None
        self.depth += 1
        try:
            return self._aliased(name, frame)
        finally:
            self.depth -= 1

    def _aliased(self, name: str, frame: Frame) -> Value | None:
        scope: Scope | None = frame.scope
        while scope is not None:
            bindings = scope.bindings.get(name)
            if bindings is not None:
                [binding] = bindings[-1:]
                value = binding.value
                if binding.kind == "import":
                    return self.project.imported_alias(frame.module, binding.module, binding.name)
                if binding.kind in ("alias", "annotated", "assign") and isinstance(
                    value, (facts.Sub, facts.BinOp, facts.Name, facts.Attr)
                ):
                    return self.annotation(value, replace(frame, scope=scope.parent or scope, env=None))
                if binding.kind == "assign" and isinstance(value, facts.Call):
                    if facts.last_name(value.func) == "NewType" and len(value.args) == 2:
                        return self.annotation(value.args[1], frame)
                return None
            scope = scope.parent
        return None

    def _declared(self, named: Value, expr: Expr, frame: Frame) -> Value:
        match named:
            case ClassOf():
                if named.cls.name == QUANTITY:
                    return Record(quantity=True, open=True, cls=named)
                fields = self.project.new_type(named)
                return fields if fields is not None else Instance(named)
            case External(name=name):
                if name in known.NUMBER_TYPES:
                    message = f"annotated as `{name.removeprefix('builtins.')}`"
                    return self.number(message, frame, expr.at, real=name in known.REAL_TYPES)
                if name in known.SCALAR_TYPES:
                    return known.SCALAR_TYPES[name]
                if name in known.LIST_TYPES:
                    return ListOf(rest=UNKNOWN)
                if name in known.DICT_TYPES:
                    return Record(open=True)
                last = name.rpartition(".")[2]
                if last == QUANTITY:
                    return Record(quantity=True, open=True)
                if name.startswith("builtins.") or name in known.OPAQUE_TYPES:
                    return UNKNOWN
                return ExternalInstance(name)
            case _:
                last = facts.last_name(expr)
                if named is UNKNOWN and last == QUANTITY:
                    return Record(quantity=True, open=True)
                return UNKNOWN

    def _generic(self, base: Expr, index: Expr, frame: Frame) -> Value:
        name = facts.last_name(base)
        parts = index.items if isinstance(index, facts.Seq) else (index,)
        match name:
            case "Optional":
                return join(self.annotation(parts[0], frame), NONE)
            case "Union":
                return join(*(self.annotation(part, frame) for part in parts))
            case "Annotated" | "Final" | "ClassVar" | "Required" | "NotRequired" | "ReadOnly" | "Mapped":
                return self.annotation(parts[0], frame)
            case "Literal":
                return join(*(self.eval(part, frame) for part in parts))
            case "Awaitable":
                return self.annotation(parts[0], frame)
            case "Coroutine":
                return self.annotation(parts[-1], frame)
            case "type" | "Type":
                named = self.eval(parts[0], replace(frame, env=None))
                return named if isinstance(named, ClassOf) else UNKNOWN
            case _ if name in known.LIST_GENERICS:
                if name.lower() == "tuple" and not any(_is_ellipsis(part) for part in parts):
                    values = [self.annotation(part, frame) for part in parts]
                    if len(values) > 1:
                        return ListOf(rest=join(*values), kind="tuple")
                return ListOf(rest=self.annotation(parts[0], frame), kind=name.lower())
            case _ if name in known.DICT_GENERICS and len(parts) == 2:
                return Record(open=True, rest=self.annotation(parts[1], frame))
            case _:
                value = self.annotation(base, frame)
                if isinstance(value, Instance) and self.project.type_parameters(value.of):
                    return replace(value, arguments=tuple(self.annotation(part, frame) for part in parts))
                return value

    def typed(self, value: Value, declared: Value) -> Value:
        """``value`` where it is declared as ``declared``: the declaration helps where the value says nothing."""
        if value is UNKNOWN:
            return declared
        if isinstance(value, Record) and isinstance(declared, Instance):
            if not value.quantity and value.cls is None and self.project.is_typed_dict(declared.of):
                return self._with_fields(value, declared.of)
        if isinstance(value, (Record, ListOf)) and isinstance(declared, (Record, ListOf)):
            if value.rest is UNKNOWN and declared.rest is not None:
                return replace(value, rest=declared.rest)
            if isinstance(value, Record) and isinstance(declared, Record) and not declared.quantity:
                if not value.entries and value.rest is None and declared.rest is not None:
                    return replace(value, rest=declared.rest, open=True)
            if isinstance(value, ListOf) and not value.items and value.rest is None:
                return replace(value, rest=declared.rest) if declared.rest is not UNKNOWN else value
        return value

    def _with_fields(self, record: Record, of: ClassOf) -> Record:
        """A dict literal annotated as a ``TypedDict``: what the class says of its keys is true of them."""
        entries = {}
        for key, found in record.entries.items():
            declared = self.field(of, key)
            entries[key] = (
                tuple(replace(e, value=declared) if e.value is UNKNOWN else e for e in found)
                if declared is not None and isinstance(declared, Number)
                else found
            )
        return replace(record, entries=entries)

    # --- attributes ------------------------------------------------------------------------------------------

    def _attr(self, expr: facts.Attr, frame: Frame) -> Value:
        if expr.name == "value" and isinstance(expr.base, facts.Attr):
            owner = self.eval(expr.base.base, frame)
            if isinstance(owner, ClassOf) and self.project.is_enum(owner):  # `Stage.FIRST.value`
                scope = owner.cls.scope
                known_member = expr.base.name in scope.bindings
                home = Frame(owner.module, scope, None, owner)
                return self.binding_value(scope, expr.base.name, home) if known_member else UNKNOWN
        base = self.eval(expr.base, frame)
        return join(*(self.attribute(option, expr.name, expr.at, frame) for option in options(base)))

    def attribute(self, base: Value, name: str, at: int, frame: Frame) -> Value:
        match base:
            case External(name=prefix):
                full = f"{prefix}.{name}"
                if full in frame.module.imports:
                    return self.project.imported(frame.module, full, "")
                if full in known.NUMBER_CONSTANTS:
                    return self.number(f"`{full}` is a number", frame, at, real=True)
                return External(full)
            case ModuleOf(module=module):
                return self.project.member(module, name)
            case Instance(of=of) if name == "get" and self.project.is_typed_dict(of):
                return Method(base, name, Site(frame.module, at))
            case Instance(of=of, arguments=arguments):
                if arguments:
                    return self._generic_member(of, name, arguments)
                return self.member(of, name)
            case ClassOf():
                return self.class_member(base, name)
            case Record(cls=ClassOf() as of):
                found = base.get(name)
                if found is not None and name in base.entries:
                    declared = self.field(of, name)
                    return self.typed(found, declared) if declared is not None else found
                if name in known.RECORD_METHODS and self.class_member(of, name) is UNKNOWN:
                    return Method(base, name, Site(frame.module, at))
                return self.member(of, name)
            case Record(quantity=True):
                if name in known.RECORD_METHODS:
                    return Method(base, name, Site(frame.module, at))
                return UNKNOWN
            case Number():
                if name in ("real", "imag", "numerator", "denominator"):
                    return base
                return Method(base, name, Site(frame.module, at))
            case Text() | ListOf() | Record() | ExternalInstance():
                return Method(base, name, Site(frame.module, at))
            case _ if base is NONE or base is NEVER:
                return NEVER
            case _:
                return UNKNOWN

    def member(self, of: ClassOf, name: str) -> Value:
        """The attribute ``name`` of an instance of ``of``: field, property, method or what ``self.x = …`` says."""
        key = (id(of.cls), name)
        found = self._attributes.get(key)
        if found is not None:
            return found
        self._attributes[key] = NEVER
        value = self._member(of, name)
        self._attributes[key] = value
        return value

    def _generic_member(self, of: ClassOf, name: str, arguments: tuple[Value, ...]) -> Value:
        """The attribute of an instance of a generic class: a field that is a type variable is what stands for it."""
        for binding in of.cls.scope.bindings.get(name, ()):
            variable = facts.last_name(binding.annotation) if binding.annotation is not None else ""
            variables = self.project.type_parameters(of)
            if variable in variables[: len(arguments)]:
                return arguments[variables.index(variable)]
        return self.member(of, name)

    def _member(self, of: ClassOf, name: str) -> Value:
        field = self.field(of, name)
        if field is not None:
            return field
        assigned: list[Value] = []
        for ancestor in self.project.ancestors(of):
            if not isinstance(ancestor, ClassOf):
                break
            for value, annotation, scope in ancestor.cls.attributes.get(name, ()):
                frame = Frame(ancestor.module, scope, None, of)
                declared = self.annotation(annotation, frame) if annotation is not None else UNKNOWN
                if declared is not UNKNOWN and (value is None or not isinstance(declared, (Record, ListOf))):
                    return declared
                if value is None:
                    assigned.append(UNKNOWN)
                else:
                    assigned.append(self.typed(self.eval(value, frame), declared))
            if assigned:
                default = self._class_level(ancestor, name, of)
                held = join(*assigned, *(() if default is None else (default,)))
                return _filled_elsewhere(held) if name in ancestor.module.mutated else held
            found = self._class_level(ancestor, name, of)
            if found is not None:
                return found
        return UNKNOWN

    def _class_level(self, owner: ClassOf, name: str, of: ClassOf) -> Value | None:
        """What the class body itself binds ``name`` to, seen from an instance of ``of``."""
        bindings = owner.cls.scope.bindings.get(name)
        if bindings is None:
            return None
        target = bindings[-1].target
        if isinstance(target, Function):
            names = {facts.last_name(d) for d in target.decorators}
            if names & known.PROPERTIES:
                return self.call_function(FunctionOf(owner.module, target, of, True), owner.module)
            tool = self.project.decorated_tool(owner.module, target)
            if tool is not None:
                return ToolValue(tool)
            return FunctionOf(owner.module, target, of, "staticmethod" not in names)
        frame = Frame(owner.module, owner.cls.scope, None, of)
        return self.binding_value(owner.cls.scope, name, frame)

    def class_member(self, of: ClassOf, name: str) -> Value:
        for ancestor in self.project.ancestors(of):
            if not isinstance(ancestor, ClassOf):
                return UNKNOWN
            bindings = ancestor.cls.scope.bindings.get(name)
            if bindings is None:
                continue
            target = bindings[-1].target
            if isinstance(target, Function):
                names = {facts.last_name(d) for d in target.decorators}
                return FunctionOf(ancestor.module, target, of, "classmethod" in names)
            if self.project.is_enum(of):
                return Instance(of)
            frame = Frame(ancestor.module, ancestor.cls.scope, None, of)
            return self.binding_value(ancestor.cls.scope, name, frame)
        return UNKNOWN

    def field(self, of: ClassOf, name: str) -> Value | None:
        """What the annotation of field ``name`` in the class or its bases says; ``None`` where there is none."""
        for ancestor in self.project.ancestors(of):
            if not isinstance(ancestor, ClassOf):
                continue
            for binding in ancestor.cls.scope.bindings.get(name, ()):
                if binding.kind == "annotated" and binding.annotation is not None:
                    frame = Frame(ancestor.module, ancestor.cls.scope, None, of)
                    value = self.annotation(binding.annotation, frame)
                    return _explained(value, f"field `{ancestor.cls.name}.{name}` is annotated as a number")
                return None
        return None

    # --- calls -----------------------------------------------------------------------------------------------

    def _call(self, expr: facts.Call, frame: Frame) -> Value:
        tool = self.project.made_tool(frame.module, expr, frame.scope)
        if tool is not None:
            return ToolValue(tool)
        callee = self.eval(expr.func, frame)
        if callee is UNKNOWN:
            return known.call_unknown(self, expr, frame)
        return join(*(self.called(option, expr, frame) for option in options(callee)))

    def called(self, callee: Value, expr: facts.Call, frame: Frame) -> Value:
        match callee:
            case FunctionOf():
                return self.call_function(callee, frame.module, expr, frame)
            case ToolValue(tool=tool) if tool.form == "T3" and isinstance(tool.callable, FunctionOf):
                return self.call_function(tool.callable, frame.module, expr, frame)
            case ClassOf():
                return self.construct(callee, expr, frame)
            case External(name=name):
                return self.call_external(name, expr, frame)
            case Method():
                return known.call_method(self, callee, expr, frame)
            case Instance(of=of):
                method = self.class_member(of, "__call__")
                if isinstance(method, FunctionOf):
                    return self.call_function(replace(method, first=True), frame.module, expr, frame)
                return UNKNOWN
            case _:
                return UNKNOWN

    def call_external(self, name: str, expr: facts.Call, frame: Frame) -> Value:
        handler = known.CALLS.get(name)
        if handler is not None:
            return handler(self, expr, frame)
        last = name.rpartition(".")[2]
        if last == QUANTITY:
            return self.construct_quantity(expr, frame, None)
        payload = self.project.names.payloads.get(last)
        if payload is not None:
            return self.envelope(payload, expr, frame, [], None)
        if name in known.NUMBER_CALLS:
            return self.number(f"`{name.removeprefix('builtins.')}()` gives a number", frame, expr.at)
        if name in known.REAL_CALLS:
            return self.number(
                f"`{name.removeprefix('builtins.')}()` gives a number", frame, expr.at, real=True
            )
        if name in known.TEXT_CALLS:
            return TEXT
        if name in known.BOOL_CALLS:
            return BOOL
        if name in known.SAME_CALLS and expr.args:
            return self.eval(expr.args[0], frame)
        root, _, attribute = name.rpartition(".")
        if root in known.ARRAY_MODULES and attribute in known.REDUCTIONS:
            if expr.keyword("axis", "keepdims") is None and len(expr.args) < 2:
                return self.number(f"`{name}()` reduces to a number", frame, expr.at)
            return UNKNOWN
        if last[:1].isupper() or name in known.ARRAY_CALLS:
            return ExternalInstance(name)
        return UNKNOWN

    def call_function(
        self,
        callee: FunctionOf,
        module: facts.Module,
        expr: facts.Call | None = None,
        frame: Frame | None = None,
    ) -> Value:
        """What a call of a function of the project gives to ``module``, where ``expr`` calls it."""
        function = callee.function
        if isinstance(function, facts.Lambda):
            names: dict[str, Value] = {}
            if expr is not None and frame is not None:
                for param, arg in zip(function.params, expr.args, strict=False):
                    names[param.name] = self.eval(arg, frame)
            home = Frame(callee.module, function.scope, names or None, callee.bound)
            value = self.eval(function.body, home)
        else:
            if any(facts.last_name(d) in known.OPAQUE_DECORATORS for d in function.decorators):
                return UNKNOWN
            declared = self.declared_return(callee)
            if declared is not None and _is_scalar(declared):
                return _explained(declared, f"`{function.name}()` is annotated to return a number")
            value = self.function_result(callee)
            if expr is not None and frame is not None and _has_gap(value):
                value = self._specialised(callee, expr, frame, value)
            if declared is not None:
                value = self._declared_result(value, declared)
        if callee.module is not module and expr is not None:
            value = moved(value, Site(module, expr.at))
        return value

    def _specialised(self, callee: FunctionOf, expr: facts.Call, frame: Frame, general: Value) -> Value:
        """What the function returns for the arguments of this call, where they tell more than its annotations."""
        function = callee.function
        assert isinstance(function, Function)
        if self.special >= MOST_SPECIAL or function.yields or (callee.bound is not None and not callee.first):
            return general
        params = [
            p
            for p in function.params[1 if callee.first else 0 :]
            if p.kind in ("any", "positional", "keyword")
        ]
        given: dict[str, Value] = {}
        for param, arg in zip((p for p in params if p.kind != "keyword"), expr.args, strict=False):
            if isinstance(arg, facts.Star):
                break
            if param.annotation is None:
                given[param.name] = self.eval(arg, frame)
        open_names = {p.name for p in params if p.annotation is None}
        for name, arg in expr.keywords:
            if name in open_names and name is not None:
                given[name] = self.eval(arg, frame)
        given = {name: value for name, value in given.items() if value is not UNKNOWN and value is not NEVER}
        key = (id(function), id(expr))
        if not given or key in self._running:
            return general
        self.special += 1
        self._running.add(key)
        try:
            returns = self.project.specialised_flow(callee, given).returns
        finally:
            self.special -= 1
            self._running.discard(key)
        return join(*(value for _, value in returns)) if returns else general

    def _declared_result(self, value: Value, declared: Value) -> Value:
        """What the body returns, where that is not known what the annotation says."""
        if value is NEVER or (value is NONE and NONE not in options(declared)):
            return declared
        return join(*(self.typed(option, declared) for option in options(value)))

    def declared_return(self, callee: FunctionOf) -> Value | None:
        function = callee.function
        if isinstance(function, facts.Lambda) or function.returns is None:
            return None
        scope = function.scope.parent or function.scope
        return self.annotation(function.returns, Frame(callee.module, scope, None, callee.bound))

    def function_result(self, callee: FunctionOf) -> Value:
        """All that the function can return, from its body."""
        function = callee.function
        assert isinstance(function, Function)
        key = (id(function), id(callee.bound.cls) if callee.bound is not None else 0)
        found = self._functions.get(key)
        if found is not None:
            return found
        if self.depth > MOST_DEPTH:
            return UNKNOWN
        self._functions[key] = NEVER
        flow = self.project.flow(callee)
        if function.yields:
            yielded = [value for _, value in flow.yields]
            value: Value = ListOf(rest=join(*yielded) if yielded else UNKNOWN, kind="generator")
        elif flow.returns:
            value = join(*(value for _, value in flow.returns))
        else:  # a function that only raises, or a stub, says nothing of what its overrides return
            value = NONE if flow.falls_through and not _is_stub(function) else NEVER
        self._functions[key] = value
        return value

    def construct(self, of: ClassOf, expr: facts.Call, frame: Frame) -> Value:
        """An instance made by ``expr``; of a class with annotated fields, a record of the arguments."""
        if of.cls.name == QUANTITY:
            return self.construct_quantity(expr, frame, of)
        payload = self.project.names.payloads.get(of.cls.name)
        if payload is not None:
            return self.envelope(payload, expr, frame, self.project.parameters_of(of) or [], of)
        if self.project.is_tool_class(of):
            return Instance(of)
        names = self.project.parameters_of(of)
        if names is None:
            return Instance(of)
        entries: dict[str, tuple[Entry, ...]] = {}
        arguments: list[tuple[str, Expr]] = []
        for name, arg in zip(names, expr.args, strict=False):
            if isinstance(arg, facts.Star):
                break
            arguments.append((name, arg))
        arguments.extend((name, value) for name, value in expr.keywords if name is not None)
        spread = any(name is None for name, _ in expr.keywords)
        for name, arg in arguments:
            value = self.eval(arg, frame)
            declared = self.project.declared_argument(of, name)
            if declared is not None:
                if isinstance(declared, Number) and not isinstance(value, Number):
                    value = declared
                elif number(declared) is None:  # an optional number may be left out as well
                    value = self.typed(value, declared)
            entries[name] = (Entry(value, Site(frame.module, arg.at)),)
        return Record(
            entries=entries,
            sure=frozenset(entries),
            open=spread or bool(expr.args),
            site=Site(frame.module, expr.at),
            cls=of,
        )

    def envelope(
        self,
        payload: frozenset[str],
        expr: facts.Call,
        frame: Frame,
        names: list[str],
        of: ClassOf | None,
    ) -> Record:
        """An envelope around a result (``ToolResult(…)``): only its payload goes to the model."""
        entries: dict[str, tuple[Entry, ...]] = {}
        arguments = [*zip(names, expr.args, strict=False), *expr.keywords]
        for name, arg in arguments:
            if name in payload and name is not None:
                entries[name] = (Entry(self.eval(arg, frame), Site(frame.module, arg.at)),)
        return Record(entries=entries, open=True, site=Site(frame.module, expr.at), cls=of)

    def construct_quantity(self, expr: facts.Call, frame: Frame, of: ClassOf | None) -> Record:
        entries: dict[str, tuple[Entry, ...]] = {}
        for name, arg in zip(("value", "unit"), expr.args, strict=False):
            if isinstance(arg, facts.Star):
                return Record(quantity=True, open=True, site=Site(frame.module, expr.at), cls=of)
            entries[name] = (Entry(self.eval(arg, frame), Site(frame.module, arg.at)),)
        spread = False
        for keyword, arg in expr.keywords:
            if keyword is None:
                spread = True
            else:
                entries[keyword] = (Entry(self.eval(arg, frame), Site(frame.module, arg.at)),)
        return Record(
            entries=entries,
            sure=frozenset(entries),
            open=spread,
            site=Site(frame.module, expr.at),
            quantity=True,
            cls=of,
        )

    # --- containers ------------------------------------------------------------------------------------------

    def _dict(self, expr: facts.Dict, frame: Frame) -> Value:
        record = Record(site=Site(frame.module, expr.at))
        for key, value_expr in expr.items:
            value = self.eval(value_expr, frame)
            if key is None:
                record = spread(record, value, Site(frame.module, value_expr.at))
                continue
            name = self.key(key, frame)
            entry = Entry(value, Site(frame.module, value_expr.at), Site(frame.module, key.at))
            if name is not None:
                record = record.store(name, entry)
            else:
                entries = {**record.entries, f"\0{value_expr.at}": (entry,)}
                record = replace(record, open=True, entries=entries)
        return record

    def key(self, expr: Expr, frame: Frame) -> str | None:
        """A key that is known: a literal, or a name that holds one."""
        if isinstance(expr, facts.Const):
            return expr.value if isinstance(expr.value, str) else f"\0{expr.value!r}"
        value = self.eval(expr, frame)
        return value.literal if isinstance(value, Text) else None

    def _seq(self, expr: facts.Seq, frame: Frame) -> Value:
        items: list[Entry] = []
        rests: list[Value] = []
        for item in expr.items:
            if isinstance(item, facts.Star):
                value = self.eval(item.value, frame)
                for option in options(value):
                    if isinstance(option, ListOf):
                        items.extend(option.items)
                        if option.rest is not None:
                            rests.append(option.rest)
                    else:
                        rests.append(UNKNOWN)
            else:
                items.append(Entry(self.eval(item, frame), Site(frame.module, item.at)))
        rest = join(*rests) if rests else None
        return ListOf(tuple(items), rest, expr.kind, Site(frame.module, expr.at))

    def _comp(self, expr: facts.Comp, frame: Frame) -> Value:
        inner = self.comprehension_frame(expr, frame)
        element = self.eval(expr.element, inner)
        site = Site(frame.module, expr.at)
        if expr.kind == "dict":
            return Record(open=True, rest=element, site=site)
        return ListOf(rest=element, kind=expr.kind, site=site)

    def comprehension_frame(self, expr: facts.Comp, frame: Frame) -> Frame:
        """The frame inside a comprehension: its variables are elements of what it iterates over."""
        if frame.env is None:
            return replace(frame, scope=expr.scope)
        inner = frame.inner(expr.scope, {})
        assert inner.env is not None
        for name in expr.scope.bindings:
            inner.env.pop(name, None)
        for name, bindings in expr.scope.bindings.items():
            values = []
            for binding in bindings:
                assert binding.value is not None
                source = self.eval(binding.value, inner)
                values.append(self.unpacked(self.element(source), binding.index))
            inner.env[name] = join(*values)
        return inner

    def element(self, value: Value) -> Value:
        """What iterating over ``value`` gives."""
        out: list[Value] = []
        for option in options(value):
            match option:
                case ListOf():
                    out.append(option.element())
                case Record(cls=None):
                    out.append(TEXT)
                case Text():
                    out.append(TEXT)
                case _:
                    out.append(UNKNOWN)
        return join(*out) if out else UNKNOWN

    def unpacked(self, value: Value, index: tuple[int, ...]) -> Value:
        """The ``index``-th of an unpacked value, level by level."""
        for i in index:
            value = join(*(self._item(option, i) for option in options(value)))
        return value

    def _item(self, value: Value, index: int) -> Value:
        if isinstance(value, ListOf):
            if value.rest is None and -len(value.items) <= index < len(value.items):
                return value.items[index].value
            if not value.items and value.rest is not None:
                return value.rest
            if 0 <= index < len(value.items):
                return value.items[index].value
            return value.element()
        return TEXT if isinstance(value, Text) else UNKNOWN

    def _sub(self, expr: facts.Sub, frame: Frame) -> Value:
        base = self.eval(expr.base, frame)
        out = [self._subscripted(option, expr, frame) for option in options(base)]
        return join(*out)

    def _subscripted(self, base: Value, expr: facts.Sub, frame: Frame) -> Value:
        match base:
            case Record():
                name = self.key(expr.index, frame)
                if base.cls is not None and not base.quantity and name is not None:
                    found = base.get(name) if name in base.entries else self.field(base.cls, name)
                    return found if found is not None else UNKNOWN
                if name is not None and name in base.entries:
                    return join(*(entry.value for entry in base.entries[name]))
                if name is not None:
                    return base.rest if base.rest is not None else UNKNOWN
                values = [e.value for found in base.entries.values() for e in found]
                if base.rest is not None:
                    values.append(base.rest)
                if not values or (base.open and base.rest is None):
                    return UNKNOWN
                return join(*values)
            case ListOf():
                if isinstance(expr.index, facts.Slice):
                    return base
                if isinstance(expr.index, facts.Const) and isinstance(expr.index.value, int):
                    return self._item(base, expr.index.value)
                return base.element()
            case Instance(of=of) if self.project.is_typed_dict(of):
                name = self.key(expr.index, frame)
                field = self.field(of, name) if name is not None else None
                return field if field is not None else UNKNOWN
            case Text():
                return TEXT
            case External(name=name) if name in known.ENVIRONMENTS:
                return TEXT
            case _:
                return UNKNOWN

    # --- operators -------------------------------------------------------------------------------------------

    def _bin_op(self, expr: facts.BinOp, frame: Frame) -> Value:
        chain = [expr]  # long chains nest to the left
        while isinstance(chain[-1].left, facts.BinOp):
            chain.append(chain[-1].left)
        value = self.eval(chain[-1].left, frame)
        for operation in reversed(chain):
            value = self.operate(operation, value, self.eval(operation.right, frame), frame)
        return value

    def operate(self, expr: facts.BinOp, left: Value, right: Value, frame: Frame) -> Value:
        """``left op right``, by what the catalogue calls definitely a number."""
        op = expr.op
        left, right = _plain(left), _plain(right)
        if left is NEVER and right is NEVER:
            return NEVER
        a, b = number(left), number(right)
        if (a is not None or b is not None) and all(
            n is not None or o is NEVER or isinstance(o, Boolean) for n, o in ((a, left), (b, right))
        ):
            real = op == "/" or any(n is not None and n.real for n in (a, b))
            return self.number(f"`{op}` of numbers", frame, expr.at, left, right, real=real)
        if op == "+":
            joined = self._concatenated(left, right, expr, frame)
            if joined is not None:
                return joined
        if op == "|" and isinstance(left, Record):
            return spread(left, right, Site(frame.module, expr.right.at))
        if op == "%" and _may_be(left, Text):
            return known.percent(self, left, expr, frame) if isinstance(left, Text) else UNKNOWN
        if _survives(op, expr, left, right, a, b):
            return self.number(f"`{op}` gives a number here", frame, expr.at, left, right, real=op == "/")
        if op == "*" and isinstance(left, Text):
            return TEXT
        if op == "*" and isinstance(left, ListOf):
            return replace(left, items=left.items)
        return UNKNOWN

    def _concatenated(self, left: Value, right: Value, expr: facts.BinOp, frame: Frame) -> Value | None:
        if isinstance(left, ListOf) and isinstance(right, ListOf):
            rests = [v for v in (left.rest, right.rest) if v is not None]
            return ListOf(
                left.items + right.items, join(*rests) if rests else None, left.kind, left.site or right.site
            )
        if isinstance(left, ListOf) or isinstance(right, ListOf):
            known_side = left if isinstance(left, ListOf) else right
            assert isinstance(known_side, ListOf)
            return replace(known_side, rest=UNKNOWN)
        if isinstance(left, Text) or isinstance(right, Text):
            if number(left) is not None or number(right) is not None:
                return UNKNOWN  # a TypeError: text and numbers do not add up
            return text_of(
                (left, Site(frame.module, expr.left.at)), (right, Site(frame.module, expr.right.at))
            )
        return None

    def _unary_op(self, expr: facts.UnaryOp, frame: Frame) -> Value:
        if expr.op == "not":
            return BOOL
        value = number(self.eval(expr.operand, frame))
        if value is None:
            return UNKNOWN
        if expr.op == "-" and isinstance(value.literal, (int, float)):
            return replace(value, literal=-value.literal)
        return value if expr.op == "+" else replace(value, literal=None)

    def _bool_op(self, expr: facts.BoolOp, frame: Frame) -> Value:
        left = self.eval(expr.left, frame)
        right = self.eval(expr.right, frame)
        if expr.op == "or":  # None is falsy: only the rest of the left side survives
            kept = [option for option in options(left) if option is not NONE]
            return join(*kept, right)
        if isinstance(left, Number):
            return join(left, right)
        return join(UNKNOWN if left is UNKNOWN else left, right)

    def _compare(self, expr: facts.Compare, frame: Frame) -> Value:
        return BOOL

    def _if_exp(self, expr: facts.IfExp, frame: Frame) -> Value:
        body, orelse = frame, frame
        if frame.env is not None:
            narrowed = narrow(self, expr.test, frame)
            if narrowed is not None:
                positive, negative = narrowed
                body = replace(frame, env={**frame.env, **positive})
                orelse = replace(frame, env={**frame.env, **negative})
        arms = self.eval(expr.body, body), self.eval(expr.orelse, orelse)
        value = join(*arms)
        if isinstance(value, UnionOf) and any(number(arm) is not None for arm in arms):
            return replace(value, conditional=True)
        return value

    def _const(self, expr: facts.Const, frame: Frame) -> Value:
        match expr.value:
            case bool() as truth:
                return Boolean(truth)
            case int() | float() | complex() as literal:
                because = Because(f"`{literal}` is a literal number", Site(frame.module, expr.at))
                return Number(because, isinstance(literal, float), literal)
            case str() as text:
                return Text((Literal(text, Site(frame.module, expr.at)),))
            case bytes():
                return TEXT
            case None:
                return NONE
            case _:
                return UNKNOWN

    def _join(self, expr: facts.Join, frame: Frame) -> Value:
        parts: list[Literal | Filled] = []
        for part in expr.parts:
            match part:
                case facts.Const():
                    parts.append(Literal(str(part.value), Site(frame.module, part.at)))
                case facts.Join():
                    inner = self._join(part, frame)
                    assert isinstance(inner, Text) and inner.parts is not None
                    parts.extend(inner.parts)
                case facts.Hole():
                    value = self.eval(part.value, frame)
                    if isinstance(value, Text) and value.parts is not None and part.spec is None:
                        parts.extend(value.parts)
                    else:
                        parts.append(Filled(value, Site(frame.module, part.value.at)))
        return Text(tuple(parts))

    def _lambda(self, expr: facts.Lambda, frame: Frame) -> Value:
        return FunctionOf(frame.module, expr, frame.bound)

    def _await(self, expr: facts.Await, frame: Frame) -> Value:
        return self.eval(expr.value, frame)

    def _unknown(self, expr: Any, frame: Frame) -> Value:
        return UNKNOWN

    def _walrus(self, expr: facts.Walrus, frame: Frame) -> Value:
        value = self.eval(expr.value, frame)
        if frame.env is not None:
            frame.env[expr.target] = value
        return value


def spread(record: Record, value: Value, site: Site) -> Record:
    """``{**value}``, ``update(value)``, ``record | value``: what ``value`` holds comes on top, put in at ``site``."""
    for option in options(value):
        if isinstance(option, Record) and option.cls is None:
            sure = option.sure if not isinstance(value, UnionOf) else frozenset()
            entries = {**record.entries, **option.entries}
            if option.rest is not None:  # values without names of their own are put in here, all together
                entries[f"\0{site.at}"] = (Entry(Record(open=True, rest=option.rest), site),)
            record = replace(
                record, entries=entries, sure=record.sure | sure, open=record.open or option.open
            )
        else:
            record = replace(record, open=True)
    return record


def text_of(*pieces: tuple[Value, Site]) -> Text:
    """The text that the concatenated ``pieces`` make."""
    parts: list[Literal | Filled] = []
    for value, site in pieces:
        if isinstance(value, Text) and value.parts is not None:
            parts.extend(value.parts)
        else:
            parts.append(Filled(value, site))
    return Text(tuple(parts)) if len(parts) <= MOST_PARTS else TEXT


def narrow(
    evaluator: Evaluator, test: Expr, frame: Frame
) -> tuple[dict[str, Value], dict[str, Value]] | None:
    """What ``isinstance(x, float)`` and ``x is None`` say of ``x`` where they hold, and where they do not."""
    match test:
        case facts.Call(func=facts.Name(id="isinstance"), args=(facts.Name(id=name), kinds)):
            parts = kinds.items if isinstance(kinds, facts.Seq) else (kinds,)
            value = join(*(evaluator.annotation(part, replace(frame, env=None)) for part in parts))
            value = _explained(value, f"`isinstance` says that `{name}` is a number")
            old = evaluator.lookup(name, frame)
            if number(value) is not None or not isinstance(old, (Record, ListOf)):
                left = [option for option in options(old) if type(option) is not type(value)]
                return {name: value}, {name: join(*left)} if left and isinstance(old, UnionOf) else {}
            return None
        case facts.UnaryOp(op="not", operand=inner):
            found = narrow(evaluator, inner, frame)
            return (found[1], found[0]) if found is not None else None
        case facts.Compare(operands=(facts.Name(id=name), facts.Const(value=None)), ops=(op,)):
            old = evaluator.lookup(name, frame)
            if isinstance(old, UnionOf):
                rest = join(*(option for option in old.options if option is not NONE))
                if op in ("Is", "Equal"):
                    return {name: NONE}, {name: rest}
                if op in ("IsNot", "NotEqual"):
                    return {name: rest}, {name: NONE}
            return None
        case facts.Name(id=name):
            old = evaluator.lookup(name, frame)
            if isinstance(old, UnionOf) and NONE in old.options:
                return {name: join(*(option for option in old.options if option is not NONE))}, {}
            return None
        case _:
            return None


def _explained(value: Value, message: str) -> Value:
    """``value`` with a better reason where it is a number because of an annotation."""
    if isinstance(value, Number):
        return replace(value, because=Because(message, value.because.site, ()))
    if isinstance(value, UnionOf) and number(value) is not None:
        return UnionOf(tuple(_explained(option, message) for option in value.options))
    return value


def _says_anything(annotation: Expr) -> bool:
    return facts.last_name(annotation) in ("Any", "object")


def _filled_elsewhere(value: Value) -> Value:
    """A container that other statements of its module fill: there may be anything in it beside what is written."""
    out: list[Value] = []
    for option in options(value):
        if isinstance(option, Record) and option.cls is None and option.rest is None:
            option = replace(option, open=True)
        elif isinstance(option, ListOf) and option.rest is None:
            option = replace(option, rest=UNKNOWN)
        out.append(option)
    return join(*out)


def _has_gap(value: Value, depth: int = 0) -> bool:
    """Whether something in ``value`` is unknown that the arguments of a call might tell."""
    if value is UNKNOWN or depth > 6:
        return value is UNKNOWN
    match value:
        case UnionOf():
            return any(_has_gap(option, depth + 1) for option in value.options)
        case Record():
            return any(
                _has_gap(entry.value, depth + 1) for held in value.entries.values() for entry in held
            ) or (value.rest is not None and _has_gap(value.rest, depth + 1))
        case ListOf():
            return any(_has_gap(entry.value, depth + 1) for entry in value.items) or (
                value.rest is not None and _has_gap(value.rest, depth + 1)
            )
        case _:
            return False


def _at(value: Value, site: Site) -> Value:
    return (
        replace(value, because=Because(value.because.message, site)) if isinstance(value, Number) else value
    )


def _is_scalar(value: Value) -> bool:
    return all(isinstance(o, (Number, Text, Boolean)) or o is NONE for o in options(value))


def _is_stub(function: Function) -> bool:
    return all(
        isinstance(statement, facts.Do)
        and all(isinstance(v, (facts.Const, facts.Join)) for v in statement.values)
        for statement in function.body
    )


def _is_ellipsis(expr: Expr) -> bool:
    return isinstance(expr, facts.Const) and expr.value is ...


def _plain(value: Value) -> Value:
    """A method that is not called, a function or a class is no operand that we know anything of."""
    return UNKNOWN if isinstance(value, (Method, FunctionOf, ClassOf, External)) else value


def _may_be(value: Value, kind: type[Value]) -> bool:
    return any(isinstance(option, kind) or option is UNKNOWN for option in options(value))


def _survives(
    op: str, expr: facts.BinOp, left: Value, right: Value, a: Number | None, b: Number | None
) -> bool:
    """Whether nothing but numbers survives this operation, although one operand or both are unknown."""
    unknown = right if a is not None else left
    if a is None and b is None:
        return (
            op == "/"
            and left is UNKNOWN
            and right is UNKNOWN
            and not _may_be_path(expr.left)
            and not _may_be_path(expr.right)
        )
    if not all(o is UNKNOWN or isinstance(o, Number) or o in (NONE, NEVER) for o in options(unknown)):
        return False
    if op in ("+", "-", "//", "**"):
        return True
    if op == "/":
        return not _may_be_path(expr.right if a is not None else expr.left)
    if op == "*":
        return any(n is not None and n.real for n in (a, b))
    if op == "%":
        return a is not None
    return False


_PATH_WORDS = ("path", "dir", "root", "folder", "file", "base", "home", "cwd", "parent", "here", "prefix")


def _may_be_path(expr: Expr) -> bool:
    match expr:
        case facts.Name(id=name) | facts.Attr(name=name):
            words = name.lower().strip("_").split("_")
            return any(w in _PATH_WORDS or w.removesuffix("s") in _PATH_WORDS for w in words) or any(
                words[-1].endswith(end) for end in ("path", "dir", "root", "folder")
            )
        case facts.Call(func=func):
            return _may_be_path(func) or facts.last_name(func) in (
                "Path",
                "PurePath",
                "resolve",
                "expanduser",
            )
        case facts.Sub(base=base):
            return _may_be_path(base)
        case facts.BinOp(op="/", left=left, right=right):
            return _may_be_path(left) or _may_be_path(right)
        case facts.Const(value=str()) | facts.Join():
            return True
        case _:
            return False


_EVAL: dict[type[Any], Callable[[Evaluator, Any, Frame], Value]] = {
    facts.Const: Evaluator._const,
    facts.Name: Evaluator._name,
    facts.Attr: Evaluator._attr,
    facts.Call: Evaluator._call,
    facts.Sub: Evaluator._sub,
    facts.Dict: Evaluator._dict,
    facts.Seq: Evaluator._seq,
    facts.Comp: Evaluator._comp,
    facts.BinOp: Evaluator._bin_op,
    facts.UnaryOp: Evaluator._unary_op,
    facts.BoolOp: Evaluator._bool_op,
    facts.Compare: Evaluator._compare,
    facts.IfExp: Evaluator._if_exp,
    facts.Lambda: Evaluator._lambda,
    facts.Join: Evaluator._join,
    facts.Await: Evaluator._await,
    facts.Yield: Evaluator._unknown,
    facts.Star: Evaluator._unknown,
    facts.Walrus: Evaluator._walrus,
    facts.Slice: Evaluator._unknown,
}
