"""One body executed over units: which unit each of its numbers is in, and where two of them meet.

Variables are followed in the order of execution; both ways of a branch are joined. What is not followed is unknown, and
what is made of it too, unless the name that it is given says a unit.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from gllint_rules.inference.declarations import declared_unit
from gllint_rules.inference.measures.expressions import Expressions, unit_of_text
from gllint_rules.inference.measures.meanings import (
    Factor,
    Fields,
    Meaning,
    Measure,
    element,
    join,
    joined,
    meaning_of_name,
    measure_of_name,
)
from gllint_rules.inference.measures.naming import is_no_number, path, place, stored
from gllint_rules.inference.measures.outcome import Env, UnitFlow
from gllint_rules.inference.values import ClassOf, Frame, FunctionOf, Instance, ModelInstance, Site
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Block, Expr, Function, Lambda, Module, Param, Scope

if TYPE_CHECKING:
    from gllint_rules.inference.protocol import Evaluator

_PACKAGES = ("pint", "astropy")
_MAKERS = frozenset({"ureg", "Q_"})  # what projects call their registry of units, and what makes a quantity
_MOST_ROUNDS = 3  # of a loop, until its variables keep their units


class Units:
    """The units of a project's numbers, remembered function by function by the evaluator."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._users: dict[Module, bool] = {}

    def uses_unit_packages(self, module: Module) -> bool:
        """Whether a module may make units with pint or astropy: asked once, however many functions it has."""
        if module not in self._users:
            tops = {name.partition(".")[0] for name in module.outline.modules()}
            self._users[module] = not tops.isdisjoint(_PACKAGES) or not _MAKERS.isdisjoint(
                module.imported_names
            )
        return self._users[module]

    def meaning_at(self, site: Site) -> Meaning:
        """What is known of the expression at a place."""
        return self.flow_at(site).measures.get(site.at)

    def flow_at(self, site: Site) -> UnitFlow:
        """The flow of the innermost function around a place, or of the section that it stands in."""
        section = site.module.section_of(site.at)
        around = [f for f in section.functions if f.at < site.at < f.end]
        if around:
            return self.function(site.module, max(around, key=lambda function: function.at))
        return self.section(site.module, section.section.number)

    def function(self, module: Module, function: Function) -> UnitFlow:
        """The flow of a function whose parameters are what their names say."""
        return self.evaluator.ask(
            ("units", function),
            lambda: self._run(module, function, {}),
            UnitFlow(),
            UnitFlow,
            Site(module, function.at),
        )

    def outcome(self, callee: FunctionOf, arguments: Env) -> Meaning:
        """What a function of the project gives, its arguments that name no unit being these.

        For arguments it is executed anew, and that is not remembered: nobody's answer rests on who asked first.
        """
        function = callee.function
        if isinstance(function, Lambda) or function.yields:
            return None
        flow = self.function(callee.module, function)
        if arguments:
            executed = self.executed(callee.module, function, arguments)
            return executed.result if executed is not None else None
        return flow.result

    def executed(self, module: Module, function: Function, arguments: Env) -> UnitFlow | None:
        """The flow of a function whose parameters are these; ``None`` where a budget ran out."""
        key = ("units", function)
        return self.evaluator.executed(key, lambda: self._run(module, function, arguments), None)

    def labels(self, callee: FunctionOf) -> dict[str, str]:
        """The parameters of which a function makes a Quantity: that of the value, and that of its unit."""
        function = callee.function
        return {} if isinstance(function, Lambda) else self.function(callee.module, function).labels

    def section(self, module: Module, number: int) -> UnitFlow:
        """The flow of the statements of a section that stand in no function."""
        part = module.section(number)
        return self.evaluator.ask(
            ("units of section", module, number, part),
            lambda: _Body(self, module, module.scope).run(part.body, {}),
            UnitFlow(),
            UnitFlow,
            Site(module, part.first),
        )

    def _run(self, module: Module, function: Function, arguments: Env) -> UnitFlow:
        return _Body(self, module, function.scope).run(
            function.body, {**self.parameters(module, function), **arguments}
        )

    def parameters(self, module: Module, function: Function) -> Env:
        """What the parameters of a function hold, by what they declare or by their names."""
        env: Env = {param.name: self.parameter(module, function, param) for param in function.params}
        owner = function.owner
        is_static = "staticmethod" in map(facts.last_name, function.decorators)
        for i, param in enumerate(function.params):
            if i == 0 and owner is not None and not is_static:
                env[param.name] = Fields({}, (module, owner))
            elif env[param.name] is None and param.annotation is not None:
                env[param.name] = self.instance(
                    param.annotation, Frame(module, function.scope.parent or module.scope)
                )
            if env[param.name] is None:
                env[param.name] = meaning_of_name(param.name)
        return env

    def instance(self, annotation: Expr, frame: Frame) -> Fields | None:
        """An object of the class of the project that an annotation names."""
        root, _, _ = facts.dotted(annotation).partition(".")  # none of one in quotes
        if root and frame.scope.home(root) is None:
            return None
        match self.evaluator.annotation(annotation, frame):
            case Instance(of=of) | ModelInstance(of=of):
                return Fields({}, (of.module, of.cls))
            case _:
                return None

    def parameter(self, module: Module, function: Function | Lambda, param: Param) -> Measure | None:
        """In which unit a parameter is taken; a declaration goes before the name."""
        frame = Frame(module, function.scope.parent or module.scope)
        unit = declared_unit(self.evaluator, param.annotation, param.default, frame)
        return measure_declared(unit) if unit else measure_of_name(param.name)

    def field(self, of: ClassOf, name: str) -> Measure | None:
        """In which unit a field of a class is, by what the class declares."""
        frame = Frame(of.module, of.cls.scope)
        for binding in of.cls.scope.bindings.get(name, ()):
            unit = declared_unit(self.evaluator, binding.annotation, binding.value, frame)
            if unit:
                return measure_declared(unit)
        return None

    def outer(self, scope: Scope, name: str, module: Module) -> Meaning:
        """What a name holds that a function, or the module, around a body binds."""
        home = scope.home(name)
        if home is None:
            return None
        if isinstance(home.owner, Function):
            return self.function(module, home.owner).names.get(name)
        bindings = home.bindings[name]
        if len(bindings) > 4 or any(
            b.kind not in ("assign", "annotated") or b.value is None for b in bindings
        ):
            return None
        return _joined(
            self._bound(module, binding.value) for binding in bindings if binding.value is not None
        )

    def _bound(self, module: Module, value: Expr) -> Meaning:
        number = module.section_of(value.at).section.number
        return self.section(module, number).measures.get(value.at)

    def attribute(self, of: ClassOf, name: str) -> Meaning:
        """What all assignments to ``self.name`` in a class give."""
        declared = self.field(of, name)
        if declared is not None:
            return declared
        written = of.cls.attributes.get(name, ())
        values = [(value, scope) for value, _, scope in written if value is not None]
        # `self.model = None` somewhere tells enough: no method needs to be executed for the others.
        if len(values) > 4 or any(is_no_number(value) for value, _ in values):
            return None
        return _joined(self._assigned(of.module, value, scope) for value, scope in values)

    def _assigned(self, module: Module, value: Expr, scope: Scope) -> Meaning:
        owner = scope.enclosing_function()
        return self.function(module, owner).measures.get(value.at) if owner is not None else None


def _joined(meanings: Iterable[Meaning]) -> Meaning:
    """What holds one of several; behind one that is unknown, so that all are, no other is asked for."""
    together: list[Meaning] = []
    for meaning in meanings:
        if meaning is None:
            return None
        together.append(meaning)
    return joined(together)


def measure_declared(unit: str) -> Measure | None:
    """A number that is declared to be in a unit; unknown where that is none."""
    factors = unit_of_text(unit)
    return Measure((factors,), is_whole=True) if factors is not None else None


class _Body(Expressions):
    """Executes the statements of one body."""

    def __init__(self, units: Units, module: Module, scope: Scope) -> None:
        super().__init__(units, module, scope)
        self.jumps: list[list[Env]] = []

    def run(self, body: Block, env: Env) -> UnitFlow:
        self.block(body, env)
        return self.flow

    def block(self, body: Block, env: Env | None) -> Env | None:
        """The variables behind a block; ``None`` where nothing gets there."""
        evaluator = self.units.evaluator
        depth = evaluator.depth
        evaluator.deeper()
        try:
            for statement in body:
                if env is None:
                    return None
                evaluator.step()
                env = self.statement(statement, env)
            return env
        finally:
            evaluator.depth = depth

    def statement(self, statement: facts.Stmt, env: Env) -> Env | None:
        match statement:
            case facts.Assign(targets=targets, value=value):
                if value is not None:
                    meaning = self.meaning(value, env)
                    for target in targets:
                        self.store(target, value, meaning, env)
            case facts.AugAssign(target=target, op=op, value=value):
                old = self.meaning(target, env)
                meaning = self.operation(op, old, self.meaning(value, env), value.at)
                self.store(target, None, meaning, env)
            case facts.Return(value=value):
                self.flow.returns.append(self.meaning(value, env) if value is not None else None)
                return None
            case facts.Do(kind=kind, values=values):
                for part in values:
                    if kind == "expr":
                        self.unused = part.value.at if isinstance(part, facts.Await) else part.at
                    self.meaning(part, env)
                return None if kind == "raise" else env
            case facts.Jump():
                if self.jumps:
                    self.jumps[-1].append(env)
                return None
            case facts.If(test=test, body=body, orelse=orelse):
                self.meaning(test, env)
                return _either(self.block(body, dict(env)), self.block(orelse, dict(env)))
            case facts.Loop():
                return self.loop(statement, env)
            case facts.With(items=items, body=body):
                for manager, variable in items:
                    meaning = self.meaning(manager, env)
                    if variable is not None:
                        self.store(variable, manager, meaning, env)
                return self.block(body, env)
            case facts.Try(body=body, handlers=handlers, orelse=orelse, final=final):
                end = self.block(body, dict(env))
                start = _either(dict(env), end) or env
                ends = [self.block(orelse, end)] + [self.block(inner, dict(start)) for _, inner in handlers]
                after: Env | None = None
                for other in ends:
                    after = _either(after, other)
                if final:
                    behind = self.block(final, dict(after if after is not None else start))
                    return behind if after is not None else None
                return after
            case facts.Match(subject=subject, cases=cases, exhaustive=exhaustive):
                self.meaning(subject, env)
                after = None if exhaustive else dict(env)
                for captures, body in cases:
                    inner = {**env, **{name: measure_of_name(name) for name, _ in captures}}
                    after = _either(after, self.block(body, inner))
                return after
            case _:
                pass
        return env

    def loop(self, loop: facts.Loop, env: Env) -> Env | None:
        start = env
        for rounds in range(_MOST_ROUNDS):
            inner = dict(start)
            if loop.target is not None:
                self.store(loop.target, None, self.iterated(loop.source, inner), inner)
            else:
                self.meaning(loop.source, inner)
            self.jumps.append([])
            end = self.block(loop.body, inner)
            for jump in self.jumps.pop():
                end = _either(end, jump)
            after = _either(dict(start), end) or start
            if after == start:
                break
            if rounds == _MOST_ROUNDS - 2:  # what has not settled by now is nothing in particular
                after = {
                    name: m if name not in start or start[name] == m else None for name, m in after.items()
                }
            start = after
        return self.block(loop.orelse, start)

    # --- storing ---------------------------------------------------------------------------------------------

    def store(self, target: Expr, value: Expr | None, meaning: Meaning, env: Env) -> None:
        match target:
            case facts.Name(id=name):
                env[name] = stored(name, meaning, value)
                self.flow.names[name] = (
                    join(self.flow.names[name], env[name]) if name in self.flow.names else env[name]
                )
                self.note(target.at, env[name])
            case facts.Seq(items=items):
                for i, item in enumerate(items):
                    self.store(item, None, place(meaning, i, len(items)), env)
            case facts.Star(value=inner):
                self.store(inner, None, element(meaning), env)
            case facts.Attr(name=name):
                self.meaning(target.base, env)
                key = path(target)
                if key:
                    env[key] = stored(name, meaning, value)
            case facts.Sub(base=base, index=index):
                self.meaning(index, env)
                self.store_at(base, index, meaning, env)
            case _:
                pass

    def store_at(self, base: Expr, index: Expr, meaning: Meaning, env: Env) -> None:
        """``base[index] = …``: a dict that is built key by key."""
        old = self.meaning(base, env)
        match base, index:
            case facts.Name(id=name), facts.Const(value=str() as key) if isinstance(old, Fields):
                env[name] = Fields({**old.entries, key: stored(key, meaning, None)})
            case facts.Name(id=name), _ if isinstance(old, Measure):
                env[name] = join(old, meaning) if isinstance(meaning, (Measure, Factor)) else old
            case _:
                pass


def _either(first: Env | None, second: Env | None) -> Env | None:
    """The variables where two ways meet."""
    if first is None or second is None:
        return second if first is None else first
    both = dict(first)
    for name, meaning in second.items():
        both[name] = join(both[name], meaning) if name in both else meaning
    return both
