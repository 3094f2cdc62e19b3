"""Which definitions of its variables reach the expressions of a body."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from gllint_rules.reading import facts
from gllint_rules.reading.expression_index import parts_of
from gllint_rules.reading.facts import Block, Expr

_MOST_NAMES = 32  # in a row, each of which is looked up as the variable that it may be
_MOST_REPEATS = 2  # loops nested deeper than this are read once


class Definition(Struct, eq=False, frozen=True):
    """One way in which a variable, an attribute or a key gets its value, or a part of one.

    ``value`` is ``None`` where only the name is known. ``index`` leads to the part that is unpacked; ``is_each`` where
    the value is gone through; ``param`` of a parameter.
    """

    name: str
    value: Expr | None
    index: tuple[int, ...] = ()
    is_each: bool = False
    param: facts.Param | None = None


Definitions = tuple[Definition, ...]
_Env = dict[str, Definitions]


def definitions_in(body: Block, params: tuple[facts.Param, ...] = ()) -> dict[int, Definitions]:
    """The definitions that may reach each name, attribute and item of a body, by the number of the expression."""
    walk = _Walk()
    walk.block(body, {param.name: (Definition(param.name, None, param=param),) for param in params})
    return walk.reaching


def path(expr: Expr) -> str:
    """``a.b.c`` of a chain of names, ``a["key"]`` of an item: by which it is a variable; ``""`` of anything else."""
    names: list[str] = []
    match expr:
        case facts.Sub(base=facts.Name(id=name), index=facts.Const(value=str() as key)):
            return f"{name}[{key}"
    while isinstance(expr, facts.Attr) and len(names) < _MOST_NAMES:
        names.append(expr.name)
        expr = expr.base
    return ".".join([expr.id, *reversed(names)]) if isinstance(expr, facts.Name) else ""


class _Walk:
    """Goes through the statements of a body in their order, both ways of a branch, each loop twice."""

    def __init__(self) -> None:
        self.reaching: dict[int, Definitions] = {}
        self.jumps: list[list[_Env]] = []

    def block(self, body: Block, env: _Env | None) -> _Env | None:
        """The definitions at the end of a block; ``None`` where its end is not reached."""
        for statement in body:
            if env is None:
                return None
            env = self.statement(statement, env)
        return env

    def statement(self, statement: facts.Stmt, env: _Env) -> _Env | None:
        match statement:
            case facts.Assign(targets=targets, value=value):
                self.read(env, value)
                for target in targets:
                    self.read(env, *_around(target))
                    self.store(target, value, env)
            case facts.AugAssign(target=target, op=op, value=value):
                self.read(env, target, value)
                self.store(target, facts.BinOp(value.at, op, target, value), env)
            case facts.Return(value=value):
                self.read(env, value)
                return None
            case facts.Do(kind=kind, values=values):
                self.read(env, *values)
                return None if kind == "raise" else env
            case facts.Jump():
                if self.jumps:
                    self.jumps[-1].append(env)
                return None
            case facts.If(test=test, body=body, orelse=orelse):
                self.read(env, test)
                return _merged(self.block(body, dict(env)), self.block(orelse, dict(env)))
            case facts.Loop():
                return self.loop(statement, env)
            case facts.With(items=items, body=body):
                for manager, variable in items:
                    self.read(env, manager)
                    if variable is not None:
                        self.store(variable, manager, env)
                return self.block(body, env)
            case facts.Try(body=body, handlers=handlers, orelse=orelse, final=final):
                end = self.block(body, dict(env))
                start = _merged(dict(env), end) or env
                after = self.block(orelse, end)
                for _, handler in handlers:
                    after = _merged(after, self.block(handler, dict(start)))
                if final:
                    behind = self.block(final, dict(after if after is not None else start))
                    return behind if after is not None else None
                return after
            case facts.Match(subject=subject, cases=cases, exhaustive=exhaustive):
                self.read(env, subject)
                after = None if exhaustive else dict(env)
                for captures, body in cases:
                    inner = dict(env)
                    for name, _ in captures:
                        self.define(name, Definition(name, None), inner)
                    after = _merged(after, self.block(body, inner))
                return after
            case _:
                pass
        return env

    def loop(self, loop: facts.Loop, env: _Env) -> _Env | None:
        for _ in range(2 if len(self.jumps) < _MOST_REPEATS else 1):
            inner = dict(env)
            self.read(inner, loop.source)
            if loop.target is not None:
                self.store(loop.target, loop.source, inner, is_each=True)
            self.jumps.append([])
            end = self.block(loop.body, inner)
            for jump in self.jumps.pop():
                end = _merged(end, jump)
            env = _merged(env, end) or env
        return self.block(loop.orelse, env)

    def read(self, env: _Env, *expressions: Expr | None) -> None:
        parts = [part for expr in expressions if expr is not None for part in parts_of(expr)]
        for part in parts:
            if isinstance(part, facts.Walrus):
                self.define(part.target, Definition(part.target, part.value), env)
        for part in parts:
            if isinstance(part, (facts.Name, facts.Attr, facts.Sub)):
                reaching = env.get(path(part))
                if reaching is not None:
                    self.reaching[part.at] = _together(self.reaching.get(part.at, ()), reaching)

    def store(
        self,
        target: Expr,
        value: Expr | None,
        env: _Env,
        index: tuple[int, ...] = (),
        is_each: bool = False,
    ) -> None:
        match target:
            case (
                facts.Name(id=name)
                | facts.Attr(name=name)
                | facts.Sub(index=facts.Const(value=str() as name))
            ):
                self.define(path(target), Definition(name, value, index, is_each), env)
            case facts.Sub(base=facts.Name(id=name)):
                self.define(name, Definition(name, None), env)  # which element it is, is not known
            case facts.Seq(items=targets):
                sources: tuple[Expr, ...] = ()
                if isinstance(value, facts.Seq) and not index and not is_each:
                    sources = value.items if len(value.items) == len(targets) else ()
                has_star = any(isinstance(item, facts.Star) for item in (*targets, *sources))
                for i, item in enumerate(targets):
                    if sources and not has_star:
                        self.store(item, sources[i], env)
                    else:
                        self.store(item, value, env, (*index, -1 if has_star else i), is_each)
            case facts.Star(value=inner):
                self.store(inner, value, env, index, is_each)
            case _:
                pass

    def define(self, key: str, definition: Definition, env: _Env) -> None:
        if not key:
            return
        for other in [other for other in env if other.startswith((f"{key}.", f"{key}["))]:
            del env[other]
        env[key] = (definition,)


def _around(target: Expr) -> Iterator[Expr]:
    """What a target reads: the container that it is stored in, and the key."""
    match target:
        case facts.Attr(base=base):
            yield base
        case facts.Sub(base=base, index=index):
            yield from (base, index)
        case facts.Seq(items=items):
            for item in items:
                yield from _around(item)


def _merged(first: _Env | None, second: _Env | None) -> _Env | None:
    """The definitions where two ways meet."""
    if first is None or second is None:
        return second if first is None else first
    both = dict(first)
    for name, definitions in second.items():
        both[name] = _together(both.get(name, ()), definitions)
    return both


def _together(first: Definitions, second: Definitions) -> Definitions:
    return first if first == second else tuple(dict.fromkeys((*first, *second)))
