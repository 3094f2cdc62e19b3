"""What an expression contains: lazy evaluation over the facts of the whole project.

Two readings share one evaluator. *Static*: a name is all of its assignments together; this serves module
constants, closures and every question from outside a function's flow. *Flow* (see ``execution``): the body of a
function is executed over abstract values, so that a name is what the last assignment made it.

Here are names, imports, parameters and attributes; the rest is in modules of functions over the same protocol:
annotations, classes, calls, operators, dicts and lists, and the execution of functions. Cycles end in ``NEVER``,
depth in ``UNKNOWN``; nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from gllint_rules import stubs
from gllint_rules.inference import annotations as hints
from gllint_rules.inference import (
    builtin_names,
    classes,
    containers,
    formatting,
    functions,
    objects,
    operators,
    stub_calls,
    stub_values,
)
from gllint_rules.inference.execution import execute, too_complex
from gllint_rules.inference.narrowing import variable
from gllint_rules.inference.questions import Questions
from gllint_rules.inference.values import (
    BOOL,
    BYTES,
    MOST_OPTIONS,
    NEVER,
    NONE,
    TEXT,
    UNKNOWN,
    Because,
    Boolean,
    ClassOf,
    Container,
    DictOf,
    Entry,
    External,
    ExternalInstance,
    Flow,
    Frame,
    FunctionOf,
    Instance,
    Interpolation,
    Key,
    ListOf,
    Literal,
    Method,
    ModuleOf,
    Number,
    QuantityInstance,
    Record,
    SerialisedText,
    Site,
    Text,
    ToolValue,
    UnionOf,
    Value,
    as_constant,
    condensed,
    explained,
    filled_elsewhere,
    is_reference,
    is_seen_empty,
    join,
    number,
    options,
    passed_on,
    pieces,
)
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Binding, Class, Expr, Function, Scope
from gllint_runtime.policy.unit_libraries import gives_quantity

if TYPE_CHECKING:
    from gllint_rules.inference.protocol import Modules, Tools
    from gllint_rules.reading.facts import Module

MOST_MODULES = "1,000 modules of the environment"
MOST_SIZE = 10_000  # of what is built out of other values; what the source writes out may be any size
MOST_NESTING = 300
MOST_IN_TABLE = 20_000  # parts of a constant table that are distinguished
_NEAREST = 8  # bindings of a name among which one is chosen as the place of all
WORTH_STEPS = 500  # an expression that takes more steps is stored like the answer to a question


class Evaluator(Questions):
    """Evaluates expressions of a project, and stores the values of names and functions.

    ``modules`` resolves imports, ``tools`` knows which values are tools, and ``packages`` are those of the environment.
    """

    def __init__(self, modules: Modules, tools: Tools, packages: tuple[str, ...] = ()) -> None:
        super().__init__()
        self._packages = packages
        self.modules = modules
        self.tools = tools
        self._dear: dict[Hashable, Value] = {}  # values of expressions that took many steps

    def forget(self) -> None:
        """Forget all answers, because something is known now that they depend on."""
        super().forget()
        self._dear.clear()

    # --- entry points ----------------------------------------------------------------------------------------

    def begin(self, site: Site) -> None:
        """Prepare for an outermost question. A cut is noted at ``site`` if the environment has too many modules."""
        if self._packages and stubs.ran_out() and MOST_MODULES not in self.cuts.values():
            self.cut(site, MOST_MODULES)
        stubs.use(self._packages)

    def eval(self, expr: Expr, frame: Frame) -> Value:
        """Return the value of ``expr`` in ``frame``. An outermost call sets the budgets anew."""
        if self.depth:
            return self._eval(expr, frame)
        key = (expr, frame.scope, frame.cls)
        if frame.env is None and key in self._dear:
            return self._dear[key]
        value = self.outermost(lambda: self._eval(expr, frame), UNKNOWN, frame.site(expr))
        if frame.env is None and self._now.steps > WORTH_STEPS:
            self._dear[key] = value
        return value

    def entry(self, expr: Expr, frame: Frame) -> Entry:
        """Return the entry that ``expr`` puts into a container."""
        return Entry(self.eval(expr, frame), frame.site(expr))

    def _eval(self, expr: Expr, frame: Frame) -> Value:
        """Evaluate an expression within the budgets of depth, steps and size."""
        depth = self.depth
        self.deeper()
        self.step()
        start = self._now.steps
        try:
            value = _EVAL[type(expr)](self, expr, frame)
        finally:
            self.depth = depth
        if value.size > MOST_NESTING:
            # A literal table may have any size, also through a name or in a text. A computed value has a limit.
            is_table = isinstance(expr, (facts.Name, facts.Attr)) or isinstance(value, SerialisedText)
            literal_size = value.size if is_table else self._now.steps - start
            return self.limit(value, frame.site(expr), literal_size)
        return value

    def limit(self, value: Value, site: Site, literal_size: int = 0) -> Value:
        """Return the value, or unknown if it is too large or too deep, or has too many alternatives.

        ``literal_size`` is about how many of its parts are literals in the source, which do not count.
        """
        budget = ""
        if isinstance(value, UnionOf) and len(value.options) > MOST_OPTIONS:
            others = (option for option in value.options if not is_reference(option))
            if next(islice(others, MOST_OPTIONS, None), None) is not None:
                budget = f"{MOST_OPTIONS} alternatives"
        if value.nesting > MOST_NESTING:
            budget = f"{MOST_NESTING} levels"
        if value.size > MOST_SIZE + 4 * literal_size:
            budget = f"{MOST_SIZE} parts"
        if budget:
            self.cut(site, budget)
            return UNKNOWN
        return value

    def number(self, message: str, frame: Frame, at: int, *operands: Value, real: bool = False) -> Number:
        """Return a number with the evidence ``message``; the evidence of numeric ``operands`` is its cause."""
        reasons = tuple(n.because for n in map(number, operands) if n is not None)
        return Number(Because(message, Site(frame.module, at), reasons), real)

    # --- names -----------------------------------------------------------------------------------------------

    def _name(self, expr: facts.Name, frame: Frame) -> Value:
        return self.lookup(expr.id, frame)

    def lookup(self, name: str, frame: Frame) -> Value:
        """Return the value of a name: of a local variable, else of the nearest enclosing scope that binds it."""
        if frame.env is not None:
            local = frame.env.get(name)
            if local is not None:
                return local
        scope: Scope | None = frame.scope
        start = scope
        while scope is not None:
            if (
                name in scope.bindings
                and (scope.kind != "class" or scope is start)
                and not hints.shadows_itself(scope, name)
            ):
                return self.binding_value(scope, name, frame)
            if scope.kind == "module":
                for dotted in scope.stars:
                    if self.module_named(dotted, frame.module) is None:
                        continue  # of a package elsewhere, and a folder alone gives no names
                    value = self.imported(frame.module, dotted, name)
                    if value is not UNKNOWN and not isinstance(value, External):
                        return value
            scope = scope.parent
        return External(f"builtins.{name}") if name in builtin_names.BUILTINS else UNKNOWN

    def binding_value(self, scope: Scope, name: str, frame: Frame) -> Value:
        """Return the union of all assignments to ``name`` in ``scope``."""
        bound = frame.cls
        bindings = scope.bindings[name]
        at = next((b.value.at for b in islice(bindings, _NEAREST) if b.value is not None), 0)
        return self.ask(
            ("name", scope, name, bound),
            lambda: self._binding_value(scope, name, Frame(frame.module, scope, None, frame.bound)),
            NEVER,  # the value of a name in its own definition
            lambda: UNKNOWN,
            Site(frame.module, at),
        )

    def _binding_value(self, scope: Scope, name: str, frame: Frame) -> Value:
        """Return the value of a name by all its bindings in one scope."""
        bindings = scope.bindings[name]
        if scope.kind in ("module", "class"):
            bindings = facts.alternatives(bindings)
            written = [b.value.at for b in bindings if isinstance(b.value, (facts.Seq, facts.Dict))]
            self.allow(sum(frame.module.section_of(at).size for at in written))
        values = [self._bound(b, frame) for b in bindings]
        if len(values) > 1:
            values = _with_stand_ins(bindings, values)
        value = join(*values)
        source = bindings[-1].value if bindings[-1].kind in ("assign", "annotated") else None
        if source is not None and scope.kind in ("module", "class"):
            value = passed_on(value, f"`{name}` is assigned here", frame.site(source))
        if scope.kind in ("module", "class"):
            value = as_constant(value)
            # An empty container will be filled, and `None` be replaced, here or in another module.
            if name in frame.module.mutated or (scope.kind == "module" and is_seen_empty(value)):
                value = filled_elsewhere(value)
            elif value is NONE and scope.kind == "module":
                value = UNKNOWN
            if value.size > MOST_IN_TABLE:
                value = condensed(value)
        return value

    def _bound(self, binding: Binding, frame: Frame) -> Value:
        """Return the value that one binding gives its name."""
        if binding.scope is not None:
            frame = Frame(frame.module, binding.scope, None, frame.bound)

        def evaluate() -> Value:
            assert binding.value is not None
            return self.eval(binding.value, frame)

        match binding.kind:
            case "assign" | "aug" | "alias":
                return evaluate()
            case "annotated":
                assert binding.annotation is not None
                declared = self.annotation(binding.annotation, frame)
                is_enough = number(declared) is not None or _says_anything(binding.annotation)
                return (
                    declared
                    if binding.value is None or is_enough
                    else hints.typed(self, evaluate(), declared)
                )
            case "item":
                return containers.unpacked(self, evaluate(), binding.index)
            case "loop":
                item = containers.unpacked(self, containers.element(evaluate()), binding.index)
                # One text of many is no template: only its kind is kept.
                return join(*(TEXT if isinstance(o, Text) else o for o in options(item)))
            case "with" if binding.value is not None:
                return stub_calls.entered(evaluate(), frame.site(binding.value))
            case "param":
                assert isinstance(binding.target, facts.Param)
                return self.parameter(binding.target, frame)
            case "def":
                assert isinstance(binding.target, Function)
                return self.function_value(binding.target, frame)
            case "class":
                assert isinstance(binding.target, Class)
                return ClassOf(frame.module, binding.target)
            case "import":
                return self.imported(frame.module, binding.module, binding.name)
            case _:
                return UNKNOWN

    def function_value(self, function: Function, frame: Frame) -> Value:
        """Return the value of a function's name: a function, or a tool if its decorators make it one."""
        tool = self.tools.decorated_tool(frame.module, function)
        return ToolValue(tool) if tool is not None else FunctionOf(frame.module, function)

    def parameter(self, param: facts.Param, frame: Frame) -> Value:
        """Return the value of a parameter: ``self``, by its annotation, or by the tool's schema."""
        owner = frame.scope.owner
        if isinstance(owner, Function):
            cls = owner.owner
            names = {facts.last_name(d) for d in owner.decorators}
            if cls is not None and owner.params and owner.params[0] is param and "staticmethod" not in names:
                of = frame.bound or ClassOf(frame.module, cls)
                return of if "classmethod" in names else Instance(of)
        if param.annotation is None or param.kind == "double-star":
            declared = self.tools.schema_of_parameter(frame.scope, param)
            if declared is not None:
                return declared
        if param.annotation is None:
            return UNKNOWN
        inner = frame
        if inner.scope.owner is not None and inner.scope.parent is not None and inner.env is None:
            inner = replace(frame, scope=inner.scope.parent)
        match param.annotation:
            case facts.Sub(base=base, index=fields) if facts.last_name(base) == "Unpack":
                return self.annotation(fields, inner)  # `**options: Unpack[Options]`
        value = self.annotation(param.annotation, inner)
        if param.kind == "star":
            value = ListOf(rest=value, kind="tuple")
        elif param.kind == "double-star":
            value = DictOf(open=True, rest=value)
        else:
            value = explained(value, f"parameter `{param.name}` is annotated as a number")
        return value

    # --- imports ---------------------------------------------------------------------------------------------

    def imported(self, importer: Module, dotted: str, name: str) -> Value:
        """Return what ``from dotted import name`` binds in ``importer`` (an empty ``name``: ``import dotted``)."""
        module = self.module_named(dotted, importer)
        if module is importer and name and dotted.startswith("."):
            # `from . import energy` in a package: its own name is that of this import.
            submodule = self.modules.submodule(module, name)
            if submodule is not None:
                return ModuleOf(submodule)
        if module is not None and (module.path != importer.path or dotted.startswith(".")):
            return self.global_value(module, name) if name else ModuleOf(module)
        if name:
            dot = "" if dotted.endswith(".") else "."
            submodule = self.module_named(f"{dotted}{dot}{name}", importer)
            if submodule is not None:
                return ModuleOf(submodule)
        bare = dotted.lstrip(".")
        full = ".".join(part for part in (bare, name) if part)
        constant = stub_values.numeric_constant(full, None) if name and bare == dotted else None
        return constant if constant is not None else External(full)

    def module_named(self, dotted: str, importer: Module) -> Module | None:
        """Return the module of the project that ``dotted`` names in ``importer``."""
        path = self.modules.find_module(importer.path, dotted)
        return self.modules.module_at(path) if path is not None else None

    def global_value(self, module: Module, name: str) -> Value:
        """Return the global ``name`` of ``module``, or its submodule of that name."""
        return self.ask(
            ("member", module, name),
            lambda: self._global_value(module, name),
            UNKNOWN,  # nothing comes through the module's own circle of star imports
            lambda: UNKNOWN,
            Site(module, 0),
        )

    def _global_value(self, module: Module, name: str) -> Value:
        """Return a global of a module by its bindings and star imports, else the submodule of that name."""
        if name in module.scope.bindings or module.scope.stars:
            value = self.lookup(name, Frame(module, module.scope))
            if value is not UNKNOWN or name in module.scope.bindings:
                return value
        submodule = self.modules.submodule(module, name)
        return ModuleOf(submodule) if submodule is not None else UNKNOWN

    # --- functions -------------------------------------------------------------------------------------------

    def flow(self, callee: FunctionOf) -> Flow:
        """Return the function, executed over abstract values."""
        return self.ask(
            ("flow", callee.function, callee.bound.cls if callee.bound is not None else None),
            lambda: self._executed(callee),
            Flow(open=True),  # what a recursive call finds
            lambda: too_complex(callee),
            Site(callee.module, callee.function.at),
        )

    def _executed(self, callee: FunctionOf) -> Flow:
        return execute(self, callee)

    # --- annotations -----------------------------------------------------------------------------------------

    def annotation(self, expr: Expr, frame: Frame) -> Value:
        """Return the value of something that is annotated as ``expr``."""
        if self.depth == 0:
            return self.outermost(lambda: self._annotation(expr, frame), UNKNOWN, frame.site(expr))
        return self._annotation(expr, frame)

    def _annotation(self, expr: Expr, frame: Frame) -> Value:
        if frame.env is not None:
            return self._read_annotation(expr, frame)
        key = ("annotation", expr, frame.scope, frame.cls)
        return self.again(key, lambda: self._read_annotation(expr, frame))

    def _read_annotation(self, expr: Expr, frame: Frame) -> Value:
        """Read an annotation within the budgets of depth, steps and size."""
        depth = self.depth
        self.deeper()
        self.step()
        try:
            value = hints.read(self, expr, frame)
        finally:
            self.depth = depth
        return self.limit(value, frame.site(expr)) if value.size > MOST_NESTING else value

    # --- attributes ------------------------------------------------------------------------------------------

    def _attr(self, expr: facts.Attr, frame: Frame) -> Value:
        """Return the value of an attribute of each value that its base may be."""
        if expr.name == "value" and isinstance(expr.base, facts.Attr):
            owners = options(self.eval(expr.base.base, frame))
            enums = [o for o in owners if isinstance(o, ClassOf) and classes.is_enum(self, o)]
            if enums and len(enums) == len(owners):  # `Stage.FIRST.value`
                return join(*(self._literal_of_member(owner, expr.base.name) for owner in enums))
        if (env := frame.env) and (own := variable(expr)) is not None:
            if (value := env.get(own, UNKNOWN)) is not UNKNOWN:
                return value
        base = self.eval(expr.base, frame)
        choices = options(base)
        if len(choices) > 1:  # what has no such attribute would raise: it is one of the others
            choices = tuple(o for o in choices if not stub_values.lacks(o, expr.name)) or choices
        return join(*(self.attribute(option, expr.name, expr.at, frame) for option in choices))

    def _literal_of_member(self, owner: ClassOf, name: str) -> Value:
        """Return the literal of a member of an enumeration."""
        scope = owner.cls.scope
        if name not in scope.bindings:
            return UNKNOWN
        return self.binding_value(scope, name, Frame(owner.module, scope, None, owner))

    def attribute(self, base: Value, name: str, at: int, frame: Frame) -> Value:
        """Return the value of attribute ``name`` of one value."""
        match base:
            case External(name=prefix):
                full = f"{prefix}.{name}"
                if full in frame.module.outline.dotted_imports:
                    return self.imported(frame.module, full, "")
                if full in builtin_names.NUMBER_CONSTANTS:
                    return self.number(f"`{full}` is a number", frame, at, real=True)
                value = stub_values.numeric_constant(full, Site(frame.module, at))
                return value if value is not None else External(full)
            case ModuleOf(module=module):
                return self.global_value(module, name)
            case Instance(of=of) if name == "get" and classes.is_typed_dict(self, of):
                return Method(base, name, Site(frame.module, at))
            case Instance(of=of, arguments=arguments, attributes=attributes):
                if attributes.get(name, UNKNOWN) not in (UNKNOWN, NEVER):
                    return attributes[name]
                if arguments:
                    return self._generic_member(of, name, arguments)
                member = self.member(of, name)
                if attributes and isinstance(member, FunctionOf) and member.first:
                    return replace(member, receiver=base)
                if member is UNKNOWN and (
                    objects.is_encoding(self, base, name)
                    or (name in builtin_names.TEXT_DUMPS and objects.is_model(self, of))
                ):
                    return Method(base, name, Site(frame.module, at))
                return member
            case ClassOf():
                return self.class_member(base, name)
            case Record(of=ClassOf() as of):
                value = base.get(name)
                if value is not None and name in base.entries:
                    declared = self.field(of, name)
                    return hints.typed(self, value, declared) if declared is not None else value
                if name == "__dict__":
                    return base.as_dict()
                dumps = name in builtin_names.DUMP_METHODS and self.class_member(of, name) is UNKNOWN
                if dumps or classes.is_typed_dict(self, of):
                    return Method(base, name, Site(frame.module, at))
                member = self.member(of, name)
                if isinstance(member, FunctionOf) and member.first:
                    return replace(member, receiver=base)
                if member is UNKNOWN and objects.is_encoding(self, base, name):
                    return Method(base, name, Site(frame.module, at))
                return member
            case QuantityInstance():
                if name in builtin_names.RECORD_METHODS:
                    return Method(base, name, Site(frame.module, at))
                is_kept = base.of is None and gives_quantity(name)
                return Method(base, name, Site(frame.module, at)) if is_kept else UNKNOWN
            case Number():
                if name in ("real", "imag", "numerator", "denominator", "value"):
                    return base
                return Method(base, name, Site(frame.module, at))
            case ExternalInstance(name=kind) if (
                kind in builtin_names.ARRAY_CALLS and name in builtin_names.ARRAY_NUMBERS
            ):
                return self.number(f"`.{name}` of an array is a number", frame, at)
            case ExternalInstance(name=kind) if kind in builtin_names.ARRAY_CALLS and name == "shape":
                length = self.number("the shape of an array contains numbers", frame, at)
                return ListOf(rest=length, kind="tuple")
            case ExternalInstance(arguments=arguments) if arguments and not stub_values.is_described(base):
                place = builtin_names.CONTEXT_ATTRIBUTES.get(name, len(arguments))
                return (
                    arguments[place] if place < len(arguments) else Method(base, name, Site(frame.module, at))
                )
            case Text() | ListOf() | Record() | ExternalInstance():
                value = stub_values.attribute(base, name, Site(frame.module, at))
                if value is None and name == builtin_names.LIFESPAN:
                    return self._lifespan(frame.module)
                return value if value is not None else Method(base, name, Site(frame.module, at))
            case _ if base is NONE or base is NEVER:
                return NEVER
            case _ if name == builtin_names.LIFESPAN:
                return self._lifespan(frame.module)
            case _:
                return UNKNOWN

    def _lifespan(self, module: Module) -> Value:
        """Return what the lifespan function of a server yields."""
        return self.ask(
            ("lifespan", module),
            lambda: functions.lifespan(self, module),
            UNKNOWN,
            lambda: UNKNOWN,
            Site(module, 0),
        )

    def member(self, of: ClassOf, name: str) -> Value:
        """Return the attribute ``name`` of an instance of ``of``: a field, property, method or assignment
        to ``self``.
        """
        return self.ask(
            ("attribute", of.cls, name),
            lambda: self._member(of, name),
            NEVER,
            lambda: UNKNOWN,
            Site(of.module, of.cls.at),
        )

    def _generic_member(self, of: ClassOf, name: str, arguments: tuple[Value, ...]) -> Value:
        """Return the attribute of an instance of a generic class: a field that is a type variable has the argument's
        type.
        """
        for binding in of.cls.scope.bindings.get(name, ()):
            variable = facts.last_name(binding.annotation) if binding.annotation is not None else ""
            variables = classes.type_parameters(of)
            if variable in variables[: len(arguments)]:
                return arguments[variables.index(variable)]
        return self.member(of, name)

    def _member(self, of: ClassOf, name: str) -> Value:
        """Return an instance's attribute: a declared field, an assignment to ``self``, or a class attribute."""
        field = self.field(of, name)
        if field is not None:
            return field
        assigned: list[Value] = []
        for ancestor in classes.ancestors(self, of):
            if not isinstance(ancestor, ClassOf):
                break
            for value, annotation, scope in ancestor.cls.attributes.get(name, ()):
                frame = Frame(ancestor.module, scope, None, of)
                declared = self.annotation(annotation, frame) if annotation is not None else UNKNOWN
                if declared is not UNKNOWN and (value is None or not isinstance(declared, Container)):
                    return declared
                if value is None:
                    assigned.append(UNKNOWN)
                else:
                    assigned.append(hints.typed(self, self.eval(value, frame), declared))
            if assigned:
                default = self._class_level(ancestor, name, of)
                union = join(*assigned, *(() if default is None else (default,)))
                return filled_elsewhere(union) if name in ancestor.module.mutated else union
            class_value = self._class_level(ancestor, name, of)
            if class_value is not None:
                return class_value
        return UNKNOWN

    def _class_level(self, owner: ClassOf, name: str, of: ClassOf) -> Value | None:
        """Return what the body of the class ``owner`` binds ``name`` to, seen from an instance of ``of``."""
        bindings = owner.cls.scope.bindings.get(name)
        if bindings is None:
            return None
        target = _getter(bindings)
        if isinstance(target, Function):
            names = {facts.last_name(d) for d in target.decorators}
            if names & builtin_names.PROPERTIES:
                return functions.call_function(self, FunctionOf(owner.module, target, of, True))
            tool = self.tools.decorated_tool(owner.module, target)
            if tool is not None:
                return ToolValue(tool)
            return FunctionOf(owner.module, target, of, "staticmethod" not in names)
        frame = Frame(owner.module, owner.cls.scope, None, of)
        return self.binding_value(owner.cls.scope, name, frame)

    def class_member(self, of: ClassOf, name: str) -> Value:
        """Return the value of an attribute of a class itself, such as a method or a member of an enumeration."""
        for ancestor in classes.ancestors(self, of):
            if not isinstance(ancestor, ClassOf):
                return UNKNOWN
            bindings = ancestor.cls.scope.bindings.get(name)
            if bindings is None:
                continue
            target = bindings[-1].target
            if isinstance(target, Function):
                names = {facts.last_name(d) for d in target.decorators}
                return FunctionOf(ancestor.module, target, of, "classmethod" in names)
            if classes.is_enum(self, of):
                plain = classes.new_type(self, of)
                return plain if isinstance(plain, Number) else Instance(of)
            frame = Frame(ancestor.module, ancestor.cls.scope, None, of)
            value = self.binding_value(ancestor.cls.scope, name, frame)
            return self._filled_in(ancestor, name, of) if value is NONE else value
        return UNKNOWN

    def _filled_in(self, owner: ClassOf, name: str, of: ClassOf) -> Value:
        """Return the value of a class attribute that is ``None`` until a method sets it: ``cls._instance = cls()``."""
        return self.ask(
            ("filled in", owner.cls, name, of.cls),
            lambda: join(
                NONE,
                *(
                    self.eval(value, Frame(owner.module, scope, None, of))
                    for value, _, scope in owner.cls.attributes.get(name, ())
                    if value is not None
                ),
            ),
            NEVER,
            lambda: UNKNOWN,
            Site(owner.module, owner.cls.at),
        )

    def field(self, of: ClassOf, name: Key) -> Value | None:
        """Return the value that the annotation of field ``name`` declares, in the class or a base, if any."""
        if not isinstance(name, str):
            return None
        return self.again(("field", of.cls, name), lambda: self._field(of, name))

    def _field(self, of: ClassOf, name: str) -> Value | None:
        """Return the value that the nearest annotation of a field declares; ``None`` without one."""
        for ancestor in classes.ancestors(self, of):
            if not isinstance(ancestor, ClassOf):
                continue
            for binding in ancestor.cls.scope.bindings.get(name, ()):
                if binding.kind == "annotated" and binding.annotation is not None:
                    frame = Frame(ancestor.module, ancestor.cls.scope, None, of)
                    value = self.annotation(binding.annotation, frame)
                    return explained(value, f"field `{ancestor.cls.name}.{name}` is annotated as a number")
                return None
        return None

    # --- literals --------------------------------------------------------------------------------------------

    def _const(self, expr: facts.Const, frame: Frame) -> Value:
        """Return the value of a literal."""
        match expr.value:
            case bool() as truth:
                return Boolean(truth)
            case int() | float() | complex() as literal:
                because = Because(f"`{_number_text(literal)}` is a literal number", frame.site(expr))
                return Number(because, isinstance(literal, float), literal)
            case str() as text:
                return Text((Literal(text, frame.site(expr)),))
            case bytes():
                return BYTES
            case None:
                return NONE
            case _:
                return UNKNOWN

    def _join(self, expr: facts.Join, frame: Frame) -> Value:
        written = sum(len(str(part.value)) for part in expr.parts if isinstance(part, facts.Const))
        parts = self._joined_parts(expr, frame)
        site = frame.site(expr)
        return formatting.serialised_alone(formatting.assembled(self, parts, site, written), site)

    def _joined_parts(self, expr: facts.Join, frame: Frame) -> Iterator[Literal | Interpolation]:
        """Yield the parts of an f-string, those of the texts in it included."""
        for part in expr.parts:
            self.step()
            match part:
                case facts.Const():
                    yield Literal(str(part.value), frame.site(part))
                case facts.Join():
                    yield from pieces(self._join(part, frame), frame.site(part))
                case facts.Hole():
                    value = self.eval(part.value, frame)
                    value = formatting.own_text(self, part.value, value, frame)
                    yield from pieces(value, frame.site(part.value), part.spec)

    def _lambda(self, expr: facts.Lambda, frame: Frame) -> Value:
        return FunctionOf(frame.module, expr, frame.bound)

    def _await(self, expr: facts.Await, frame: Frame) -> Value:
        return stub_calls.awaited(self.eval(expr.value, frame))

    def _unknown(self, expr: Any, frame: Frame) -> Value:
        return UNKNOWN

    def _walrus(self, expr: facts.Walrus, frame: Frame) -> Value:
        value = self.eval(expr.value, frame)
        if frame.env is not None:
            frame.env[expr.target] = value
        return value


def _with_stand_ins(bindings: Sequence[Binding], values: list[Value]) -> list[Value]:
    """Return the values of a name without an unknown import, if the stand-in for a failed import is a number.

    ``try: from lib import RATE`` and ``except ImportError: RATE = 0.5`` leave 0.5.
    """
    unknown = [
        binding.kind == "import" and isinstance(value, External) and not stub_values.is_described(value)
        for binding, value in zip(bindings, values, strict=True)
    ]
    stand_ins = [value for value, is_unknown in zip(values, unknown, strict=True) if not is_unknown]
    return stand_ins if any(unknown) and stand_ins and number(join(*stand_ins)) is not None else values


def _getter(bindings: Sequence[Binding]) -> object:
    """Return the last target of a name in a class body; for a property its getter, not its setter or deleter."""
    for binding in reversed(bindings):
        target = binding.target
        if not isinstance(target, Function):
            return target
        if not any(facts.last_name(d) in ("setter", "deleter") for d in target.decorators):
            return target
    return None


def _says_anything(annotation: Expr) -> bool:
    """Return whether an annotation allows every value: ``Any``, ``object``."""
    return facts.last_name(annotation) in ("Any", "object")


_EVAL: dict[type[Any], Callable[[Evaluator, Any, Frame], Value]] = {
    facts.Const: Evaluator._const,
    facts.Name: Evaluator._name,
    facts.Attr: Evaluator._attr,
    facts.Call: functions.call,
    facts.Sub: containers.subscript,
    facts.Dict: containers.dict_literal,
    facts.Seq: containers.sequence_literal,
    facts.Comp: containers.comprehension,
    facts.BinOp: operators.binary,
    facts.UnaryOp: operators.unary,
    facts.BoolOp: operators.either,
    facts.Compare: lambda *_: BOOL,
    facts.IfExp: operators.conditional,
    facts.Lambda: Evaluator._lambda,
    facts.Join: Evaluator._join,
    facts.Await: Evaluator._await,
    facts.Yield: Evaluator._unknown,
    facts.Star: Evaluator._unknown,
    facts.Walrus: Evaluator._walrus,
    facts.Slice: Evaluator._unknown,
}


def _number_text(literal: complex) -> str:
    """Return the text of a number; of an integer with more digits than Python prints, its number of bits."""
    try:
        return str(literal)
    except ValueError:
        return f"an integer of {int(abs(literal)).bit_length()} bits"
