"""One function executed over abstract values: what each ``return`` and ``yield`` gives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from gllint_rules.inference import annotations as hints
from gllint_rules.inference import containers, operators, outside
from gllint_rules.inference.operators import narrow
from gllint_rules.inference.values import (
    BOOL,
    TEXT,
    UNKNOWN,
    Because,
    ClassOf,
    Entry,
    Flow,
    Frame,
    FunctionOf,
    Key,
    ListOf,
    Number,
    Record,
    Site,
    UnionOf,
    Value,
    join,
    options,
    spread,
)
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Block, Expr

if TYPE_CHECKING:
    from gllint_rules.inference.protocol import Evaluator

Env = dict[str, Value]
MOST_REPEATS = 2  # loops nested deeper than this are executed once


def execute(evaluator: Evaluator, callee: FunctionOf, given: Env | None = None) -> Flow:
    """Execute the body of ``callee`` over what is known of its parameters, ``given`` arguments first."""
    function = callee.function
    runner = _Runner(evaluator, callee)
    if isinstance(function, facts.Lambda):
        frame = Frame(callee.module, function.scope, runner.parameters(), callee.bound)
        frame = replace(frame, env={**(frame.env or {}), **(given or {})})
        runner.flow.returns.append((function.body, evaluator.eval(function.body, frame)))
        return runner.flow
    end = runner.block(function.body, {**runner.parameters(), **(given or {})})
    runner.flow.falls_through = end is not None
    return runner.flow


def too_complex(callee: FunctionOf) -> Flow:
    """The outcome of a function of which nothing is known but where it returns."""
    function = callee.function
    if isinstance(function, facts.Lambda):
        return Flow([(function.body, UNKNOWN)])
    return Flow([(value, UNKNOWN) for value in _returned(function.body)])


def _returned(body: Block) -> Iterator[Expr]:
    blocks = [body]
    while blocks:
        inner: list[Block] = []
        for statement in blocks.pop():
            if isinstance(statement, facts.Return) and statement.value is not None:
                yield statement.value
            inner += facts.blocks(statement)
        blocks += reversed(inner)


class _Runner:
    def __init__(self, evaluator: Evaluator, callee: FunctionOf) -> None:
        self.evaluator = evaluator
        self.callee = callee
        self.module = callee.module
        self.callee_site = Site(callee.module, callee.function.at)
        self.scope = callee.function.scope
        self.flow = Flow()
        self.exits: list[
            list[tuple[str, Env]]
        ] = []  # of each loop around: its jumps, and the variables there
        self.loops = 0

    def parameters(self) -> Env:
        frame = Frame(self.module, self.scope, None, self.callee.bound)
        owner = self.callee.function
        return {
            param.name: self.evaluator.parameter(
                param, owner if isinstance(owner, facts.Function) else self.scope, frame
            )
            for param in owner.params
        }

    def frame(self, env: Env) -> Frame:
        return Frame(self.module, self.scope, env, self.callee.bound)

    def eval(self, expr: Expr, env: Env) -> Value:
        return self.evaluator.eval(expr, self.frame(env))

    def block(self, body: Block, env: Env | None) -> Env | None:
        """The variables after ``body``; ``None`` where its end is not reached."""
        depth = self.evaluator.depth
        self.evaluator.deeper()
        for statement in body:
            if env is None:
                break
            self.evaluator.step()
            env = self.statement(statement, env)
        self.evaluator.depth = depth
        return env

    def statement(self, statement: facts.Stmt, env: Env) -> Env | None:
        match statement:
            case facts.Assign():
                self.assign(statement, env)
                return env
            case facts.AugAssign():
                self.augment(statement, env)
                return env
            case facts.Return(value=value):
                if value is not None:
                    self.flow.returns.append((value, self.eval(value, env)))
                return None
            case facts.Do(kind=kind, values=exprs):
                for expr in exprs:
                    if kind == "expr":
                        self.effect(expr, env)
                    elif kind == "del":
                        self.remove(expr, env)
                if kind == "assert":
                    found = narrow(self.evaluator, exprs[0], self.frame(env))
                    return {**env, **found[0]} if found is not None else env
                return None if kind == "raise" else env
            case facts.Jump(kind=kind):
                if self.exits:
                    self.exits[-1].append((kind, env))
                return None
            case facts.If():
                return self.branch(statement, env)
            case facts.Loop():
                return self.loop(statement, env)
            case facts.With():
                for source, target in statement.items:
                    held = self.eval(source, env)
                    if target is not None:
                        known = outside.entered(self.evaluator, held, Site(self.module, source.at))
                        self.store(target, known, env)
                return self.block(statement.body, env)
            case facts.Try():
                return self.attempt(statement, env)
            case facts.Match():
                return self.match(statement, env)
            case facts.Def(function=function):
                env[function.name] = self.evaluator.function_value(function, self.frame(env))
                return env
            case facts.ClassDef(cls=cls):
                env[cls.name] = ClassOf(self.module, cls)
                return env

    # --- control flow ----------------------------------------------------------------------------------------

    def branch(self, statement: facts.If, env: Env) -> Env | None:
        """The variables after an ``if`` and all its ``elif``."""
        ends: list[Env | None] = []
        while True:
            if isinstance(statement.test, (facts.Walrus, facts.Compare, facts.BoolOp)):
                self.eval(statement.test, env)
            narrowed = narrow(self.evaluator, statement.test, self.frame(env))
            positive, negative = narrowed if narrowed is not None else ({}, {})
            self.evaluator.step(len(env) // 16)
            ends.append(self.block(statement.body, {**env, **positive}))
            env = {**env, **negative}
            match statement.orelse:
                case (facts.If() as statement,):
                    pass
                case orelse:
                    ends.append(self.block(orelse, env))
                    break
        out = ends.pop()
        while ends:
            out = self.joined(ends.pop(), out)
        return out

    def joined(self, a: Env | None, b: Env | None) -> Env | None:
        """The variables after one way or the other."""
        if a is None or b is None:
            return b if a is None else a
        self.evaluator.step((len(a) + len(b)) // 16)
        out = dict(a)
        for name, value in b.items():
            old = a.get(name)
            if old is not None and old is not value:
                self.evaluator.step(1 + (old.size + value.size) // 256)
                value = self.evaluator.held(join(old, value), self.callee_site, old.size + value.size)
            out[name] = value
        return out

    def loop(self, statement: facts.Loop, env: Env) -> Env | None:
        self.loops += 1
        if self.loops <= MOST_REPEATS:  # a first round, for what the second one starts with
            kept = len(self.flow.returns), len(self.flow.yields)
            after, _ = self.round(statement, dict(env))
            del self.flow.returns[kept[0] :], self.flow.yields[kept[1] :]
            env = self.joined(env, after) or env
        after, broken = self.round(statement, dict(env))
        self.loops -= 1
        endless = (
            statement.target is None
            and isinstance(statement.source, facts.Const)
            and bool(statement.source.value)
        )
        out = None if endless else self.joined(env, after)
        if out is not None and statement.orelse:
            out = self.block(statement.orelse, out)
        return self.joined(out, broken)

    def round(self, statement: facts.Loop, env: Env) -> tuple[Env | None, Env | None]:
        """The variables where the body ends or goes on with the next round, and where it breaks out."""
        if statement.target is not None:
            source = self.eval(statement.source, env)
            self.store(statement.target, containers.element(source), env)
        self.exits.append([])
        after = self.block(statement.body, env)
        broken: Env | None = None
        for kind, early in self.exits.pop():
            if kind == "break":
                broken = self.joined(broken, early)
            else:
                after = self.joined(after, early)
        return after, broken

    def attempt(self, statement: facts.Try, env: Env) -> Env | None:
        before = dict(env)
        end = self.block(statement.body, dict(env))
        # An exception may come before or after any statement of the body.
        start = self.joined(before, end) or before
        out = self.block(statement.orelse, end) if end is not None else None
        for name, body in statement.handlers:
            inner = dict(start)
            if name is not None:
                inner[name] = UNKNOWN
            out = self.joined(out, self.block(body, inner))
        if statement.final:
            out = self.block(statement.final, out if out is not None else dict(start)) if out else out
            if out is None:
                self.block(statement.final, dict(start))
        return out

    def match(self, statement: facts.Match, env: Env) -> Env | None:
        out: Env | None = None if statement.exhaustive else dict(env)
        for names, body in statement.cases:
            captured = {name: self.captured(kind, statement.subject, env) for name, kind in names}
            out = self.joined(out, self.block(body, {**env, **captured}))
        return out

    def captured(self, kind: str, subject: Expr, env: Env) -> Value:
        """What a ``case`` captures whose pattern asks for the plain class ``kind``."""
        match kind:
            case "int" | "float" | "complex":
                message = f"the pattern `{kind}` takes numbers alone"
                return self.evaluator.number(message, self.frame(env), subject.at, real=kind == "float")
            case "str" | "bytes":
                return TEXT
            case "bool":
                return BOOL
            case _:
                return UNKNOWN

    # --- assignments -----------------------------------------------------------------------------------------

    def assign(self, statement: facts.Assign, env: Env) -> None:
        declared: Value | None = None
        if statement.annotation is not None:
            declared = self.evaluator.annotation(statement.annotation, replace(self.frame(env), env=None))
        if statement.value is None:
            if declared is not None and isinstance(statement.targets[0], facts.Name):
                env[statement.targets[0].id] = declared
            return
        value = self.eval(statement.value, env)
        self.effect(statement.value, env)
        if declared is not None:
            value = hints.typed(self.evaluator, value, declared)
        for target in statement.targets:
            self.store_from(target, statement.value, value, env)

    def store_from(self, target: Expr, source: Expr, value: Value, env: Env) -> None:
        """Store the ``value`` of ``source``: of ``a["x"], b = 1, 2`` each from its own place."""
        if isinstance(target, facts.Seq) and isinstance(source, facts.Seq):
            items = (*target.items, *source.items)
            if len(target.items) == len(source.items) and not any(isinstance(i, facts.Star) for i in items):
                for i, (item, given) in enumerate(zip(target.items, source.items, strict=True)):
                    self.store_from(item, given, containers.unpacked(self.evaluator, value, (i,)), env)
                return
        site = Site(self.module, source.at)
        self.store(target, _assigned(target, value, site), env, site)

    def store(self, target: Expr, value: Value, env: Env, site: Site | None = None) -> None:
        match target:
            case facts.Name(id=name):
                env[name] = value
            case facts.Seq(items=items):
                for i, item in enumerate(items):
                    if isinstance(item, facts.Star):
                        listed = all(isinstance(option, ListOf) for option in options(value))
                        rest = ListOf(rest=containers.element(value)) if listed else UNKNOWN
                        self.store(item.value, rest, env)
                        for j, last in enumerate(items[i + 1 :], i + 1 - len(items)):
                            self.store(last, containers.unpacked(self.evaluator, value, (j,)), env)
                        return
                    self.store(item, containers.unpacked(self.evaluator, value, (i,)), env)
            case facts.Sub() | facts.Attr():
                entry = Entry(value, site or Site(self.module, target.at))
                self.update(target, env, lambda _: entry)
            case _:
                pass

    def update(self, target: Expr, env: Env, change: object) -> None:
        """Rebuild the container behind ``a["b"]["c"]`` with what ``change`` makes of the innermost entry."""
        path: list[tuple[Key | None, facts.Expr]] = []
        while isinstance(target, (facts.Sub, facts.Attr)):
            if isinstance(target, facts.Sub):
                path.append((containers.key_of(self.evaluator, target.index, self.frame(env)), target.index))
            else:
                path.append((target.name, target))
            target = target.base
        if isinstance(target, facts.Name) and target.id in env:
            held = env[target.id]
            self.evaluator.step(held.size // 256)
            changed = self._rebuilt(held, list(reversed(path)), change)
            env[target.id] = self.evaluator.held(changed, Site(self.module, target.at), held.size)

    def _rebuilt(self, value: Value, path: list[tuple[Key | None, facts.Expr]], change: object) -> Value:
        if isinstance(value, UnionOf):
            return join(*[self._rebuilt(option, path, change) for option in value.options])
        assert callable(change)
        (key, index), rest = path[0], path[1:]
        if value is UNKNOWN and not rest and isinstance(index, facts.Const) and isinstance(index.value, str):
            value = Record(open=True)  # whatever it is, it has this key now
        if isinstance(value, Record):
            if key is None:
                return replace(value, open=True)
            old = value.entries.get(key, ())
            if not rest:
                stored: Entry = change(old)
                if stored.key is None and isinstance(index, facts.Const):
                    stored = replace(stored, key=Site(self.module, index.at))
                return value.store(key, stored)
            if not old:
                return value
            changed = tuple(replace(e, value=self._rebuilt(e.value, rest, change)) for e in old)
            return value.store(key, *changed)
        if isinstance(value, ListOf) and rest and isinstance(index, facts.Const):
            position = index.value
            if isinstance(position, int) and -len(value.items) <= position < len(value.items):
                items = list(value.items)
                items[position] = replace(
                    items[position], value=self._rebuilt(items[position].value, rest, change)
                )
                return replace(value, items=tuple(items))
        return value

    def remove(self, target: Expr, env: Env) -> None:
        """``del record["key"]``, also of several in a tuple."""
        match target:
            case facts.Seq(items=items):
                for item in items:
                    self.remove(item, env)
            case facts.Sub(base=facts.Name(id=name), index=index) if name in env:
                key = containers.key_of(self.evaluator, index, self.frame(env))
                env[name] = join(*(_without(option, key) for option in options(env[name])))
            case _:
                pass

    def augment(self, statement: facts.AugAssign, env: Env) -> None:
        target = statement.target
        old = self.eval(target, env)
        new = self.eval(statement.value, env)
        frame = self.frame(env)
        operation = facts.BinOp(statement.value.at, statement.op, target, statement.value)
        value = join(
            *(operators.operate(self.evaluator, operation, option, new, frame) for option in options(old))
        )
        self.store(target, value, env, Site(self.module, statement.value.at))

    # --- effects ---------------------------------------------------------------------------------------------

    def effect(self, expr: Expr, env: Env) -> None:
        """``out.update(…)``, ``rows.append(…)`` and ``yield``; anything else changes nothing that we follow."""
        match expr:
            case facts.Await(value=inner):
                self.effect(inner, env)
            case facts.Yield(value=value) if value is not None:
                found = self.eval(value, env)
                if expr.delegate:
                    found = containers.element(found)
                self.flow.yields.append((value, found))
            case facts.Walrus():
                self.eval(expr, env)
            case facts.Call(func=facts.Attr(base=base, name=name)) if name in _MUTATORS:
                root = base
                while isinstance(root, (facts.Sub, facts.Attr)):
                    root = root.base
                if isinstance(root, facts.Name) and root.id in env:
                    changed = self.mutated(self.eval(base, env), name, expr, env)
                    if changed is not None:
                        self.replace_at(base, changed, env)
            case _:
                pass

    def replace_at(self, base: Expr, value: Value, env: Env) -> None:
        self.evaluator.step(value.size // 256)
        value = self.evaluator.held(value, Site(self.module, base.at), value.size)
        if isinstance(base, facts.Name):
            env[base.id] = value
        else:
            self.update(
                base,
                env,
                lambda old: replace(old[0], value=value) if old else Entry(value, Site(self.module, base.at)),
            )

    def mutated(self, value: Value, name: str, call: facts.Call, env: Env) -> Value | None:
        if isinstance(value, UnionOf):
            changed = [self.mutated(option, name, call, env) or option for option in value.options]
            return join(*changed)
        match value, name:
            case Record(), "update":
                for arg in call.args:
                    added = self.eval(arg, env)
                    added = containers.of_pairs(self.evaluator, added) if isinstance(added, ListOf) else added
                    value = spread(value, added, Site(self.module, arg.at))
                for key, arg in call.keywords:
                    found = self.eval(arg, env)
                    value = (
                        spread(value, found, Site(self.module, arg.at))
                        if key is None
                        else value.store(key, Entry(found, Site(self.module, arg.at)))
                    )
                return value
            case Record(), "setdefault" if len(call.args) == 2:
                stored = containers.key_of(self.evaluator, call.args[0], self.frame(env))
                if stored is None:
                    return replace(value, open=True)
                entry = Entry(self.eval(call.args[1], env), Site(self.module, call.args[1].at))
                if stored in value.sure:
                    return value
                return value.store(stored, *value.entries.get(stored, ()), entry)
            case _, "append" if value is UNKNOWN and call.args:
                known = ListOf(rest=UNKNOWN)
                return _appended(
                    self.evaluator, known, self.eval(call.args[0], env), Site(self.module, call.args[0].at)
                )
            case ListOf(), ("append" | "add") if call.args:
                return _appended(
                    self.evaluator, value, self.eval(call.args[0], env), Site(self.module, call.args[0].at)
                )
            case ListOf(), "insert" if len(call.args) == 2:
                return _appended(
                    self.evaluator, value, self.eval(call.args[1], env), Site(self.module, call.args[1].at)
                )
            case ListOf(), "extend" if call.args:
                for other in options(self.eval(call.args[0], env)):
                    value = _extended(self.evaluator, value, other)
                return value
            case Record(), "pop" if call.args:
                return _without(value, containers.key_of(self.evaluator, call.args[0], self.frame(env)))
            case ((Record() | ListOf()), "clear"):
                return replace(value, entries={}, sure=frozenset()) if isinstance(value, Record) else ListOf()
            case _:
                return None


_MUTATORS = frozenset({"update", "setdefault", "append", "add", "insert", "extend", "pop", "clear"})


def _assigned(target: Expr, value: Value, site: Site) -> Value:
    """A number that is what it is because of what stands elsewhere: the assignment belongs to the evidence."""
    if isinstance(target, facts.Name) and isinstance(value, Number) and value.because.site != site:
        return replace(value, because=Because(f"`{target.id}` is assigned here", site, (value.because,)))
    return value


def _without(value: Value, key: Key | None) -> Value:
    if not isinstance(value, Record) or key is None:
        return value
    entries = {name: held for name, held in value.entries.items() if name != key}
    return replace(value, entries=entries, sure=value.sure - {key})


def _extended(evaluator: Evaluator, value: ListOf, other: Value) -> ListOf:
    rests = [value.rest] if value.rest is not None else []
    if isinstance(other, ListOf):
        for entry in other.items:
            value = _appended(evaluator, value, entry.value, entry.site)
        rests.extend([other.rest] if other.rest is not None else [])
    else:
        rests.append(UNKNOWN)
    return replace(value, rest=join(*rests) if rests else None)


def _appended(evaluator: Evaluator, value: ListOf, new: Value, site: Site) -> ListOf:
    # In a loop the same statement appends again: one entry stands for all of them.
    at, module = site.at, site.module
    evaluator.step(len(value.items) // 64)
    for i, entry in enumerate(value.items):
        if entry.site.at == at and entry.site.module is module:
            same = replace(entry, value=join(entry.value, new))
            return replace(value, items=(*value.items[:i], same, *value.items[i + 1 :]))
    return value.appended(Entry(new, site))
