"""Execute one function over abstract values, to see what each ``return`` and ``yield`` gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gllint_rules.inference import annotations as hints
from gllint_rules.inference import builtin_names, containers, operators, stub_calls
from gllint_rules.inference.arguments import parameter_values, written
from gllint_rules.inference.narrowing import narrow, variable
from gllint_rules.inference.stores import (
    At,
    Change,
    Each,
    Step,
    Store,
    is_same_way,
    mutated,
    removed,
)
from gllint_rules.inference.values import (
    BOOL,
    TEXT,
    UNKNOWN,
    Because,
    ClassOf,
    Container,
    DictOf,
    Entry,
    Env,
    External,
    Flow,
    Frame,
    FunctionOf,
    Instance,
    ListOf,
    Number,
    Own,
    Record,
    Site,
    Value,
    Variable,
    filled_elsewhere,
    filled_unseen,
    join,
    number,
    options,
    over,
)
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Block, Expr
from gllint_rules.reading.sketch import MUTATORS
from gllint_rules.tuples import NamedTuple

if TYPE_CHECKING:
    from gllint_rules.inference.protocol import Evaluator


class Origin(NamedTuple):
    """The place that a value was taken from: the variable of the outermost container, and the steps into it."""

    root: Variable
    path: tuple[Step, ...]


TABLE_WRITERS = frozenset({"writer", "DictWriter"})
MOST_WITHIN = 5  # containers around each other that a store is followed into
MOST_OWN = 32  # parts of an attribute of `self` that stores are followed into
MOST_ROUNDS = 2  # nested executions of one function, to see what it puts into containers
MOST_REPEATS = 2  # loops nested deeper than this are executed once


def changes(evaluator: Evaluator, callee: FunctionOf, arguments: Env, watched: frozenset[str]) -> Env:
    """Return the ``watched`` variables of ``callee`` when it ends, with ``arguments`` for its parameters."""
    function = callee.function
    assert isinstance(function, facts.Function)
    runner = _Runner(evaluator, callee, watched)
    end = runner.block(function.body, {**runner.parameters(), **arguments})
    if end is not None:
        runner.leave(end)
    return runner.end_values


def execute(evaluator: Evaluator, callee: FunctionOf, arguments: Env | None = None) -> Flow:
    """Execute the body of ``callee`` with ``arguments``, and with its annotations for the other parameters."""
    function = callee.function
    runner = _Runner(evaluator, callee)
    if isinstance(function, facts.Lambda):
        frame = Frame(callee.module, function.scope, runner.parameters(), callee.bound)
        frame = replace(frame, env={**(frame.env or {}), **(arguments or {})})
        runner.flow.returns.append((function.body, evaluator.eval(function.body, frame)))
        return runner.flow
    parameters = {**runner.parameters(), **(arguments or {})}
    runner.flow.parameters = tuple(parameters.values())
    end = runner.block(function.body, parameters)
    runner.flow.falls_through = end is not None
    return runner.flow


def too_complex(callee: FunctionOf) -> Flow:
    """Return the outcome of a function that takes too long to execute: each ``return`` with an unknown value."""
    function = callee.function
    if isinstance(function, facts.Lambda):
        return Flow([(function.body, UNKNOWN)])
    return Flow([(value, UNKNOWN) for value in _returned(function.body)])


def _returned(body: Block) -> Iterator[Expr]:
    """Yield the expressions that the ``return`` statements of a body return."""
    blocks = [body]
    while blocks:
        inner: list[Block] = []
        for statement in blocks.pop():
            if isinstance(statement, facts.Return) and statement.value is not None:
                yield statement.value
            inner += facts.blocks(statement)
        blocks += reversed(inner)


class _Runner:
    """The execution of one function: its loops, links between variables and containers, and its outcome."""

    def __init__(
        self, evaluator: Evaluator, callee: FunctionOf, watched: frozenset[str] = frozenset()
    ) -> None:
        self.watched = watched
        self.end_values: Env = {}  # the watched variables at its end
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
        self.loops_begun = 0
        self.first_rounds = 0  # loops around whose first round this is
        # What variables refer to: elements of containers (or what was taken out of them), and keys.
        self.elements: dict[Variable, Origin] = {}
        self.keys: dict[str, Origin] = {}
        # Methods that change a container, by the names that they are given: `put = rows.append`.
        self.methods: dict[str, facts.Attr] = {}
        # Writers of tables, by the names that they are given, and the streams that they write to.
        self.table_writers: dict[str, Expr] = {}
        self.declared: Env = {}  # what annotations say about variables, wherever these are assigned
        self.swept: set[tuple[Variable, int]] = set()  # whose elements were all stored to, and in which loop

    def parameters(self) -> Env:
        """Return the values of the parameters by their annotations."""
        frame = Frame(self.module, self.scope, None, self.callee.bound)
        return {param.name: self.evaluator.parameter(param, frame) for param in self.callee.function.params}

    def frame(self, env: Env) -> Frame:
        return Frame(self.module, self.scope, env, self.callee.bound)

    def eval(self, expr: Expr, env: Env) -> Value:
        return self.evaluator.eval(expr, self.frame(env))

    def block(self, body: Block, env: Env | None) -> Env | None:
        """Return the variables after ``body``; ``None`` if its end is not reached."""
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
        """Execute one statement and return the variables after it; ``None`` if the block ends there."""
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
                self.leave(env)
                return None
            case facts.Do(kind=kind, values=exprs):
                for expr in exprs:
                    if kind == "expr":
                        self.effect(expr, env)
                    elif kind == "del":
                        self.remove(expr, env)
                # A failed assertion ends the function, so what it says applies to all that follows.
                if kind == "assert":
                    sides = narrow(self.evaluator, exprs[0], self.frame(env))
                    return {**env, **sides[0]} if sides is not None else env
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
                    manager = self.eval(source, env)
                    if target is not None:
                        resource = stub_calls.entered(manager, Site(self.module, source.at))
                        self.store(target, resource, env)
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

    def leave(self, env: Env) -> None:
        """Record the watched variables where the function ends."""
        for name in self.watched:
            if name in env:
                old = self.end_values.get(name)
                self.end_values[name] = env[name] if old is None else join(old, env[name])

    # --- control flow ----------------------------------------------------------------------------------------

    def branch(self, statement: facts.If, env: Env) -> Env | None:
        """Return the variables after an ``if`` and all its ``elif``."""
        ends: list[Env | None] = []
        while True:
            # A test may bind a name that both branches read: `if (n := f()) > 3`.
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
        end = ends.pop()
        while ends:
            end = self.joined(ends.pop(), end)
        return end

    def joined(self, a: Env | None, b: Env | None) -> Env | None:
        """Return the variables after one branch or the other."""
        if a is None or b is None:
            return b if a is None else a
        self.evaluator.step((len(a) + len(b)) // 16)
        env = dict(a)
        for name, value in b.items():
            old = a.get(name)
            if old is not None and old is not value:
                self.evaluator.step(1 + (old.size + value.size) // 256)
                value = self.evaluator.limit(join(old, value), self.callee_site, old.size + value.size)
            env[name] = value
        return env

    def loop(self, statement: facts.Loop, env: Env) -> Env | None:
        """Execute a loop in two rounds, since a round reads what the previous round has stored.

        Deep within loops one round must do: the number of executions doubles with each enclosing loop.
        """
        self.loops += 1
        self.loops_begun += 1
        number = self.loops_begun
        source = self.eval(statement.source, env) if statement.target is not None else UNKNOWN
        if self.loops <= MOST_REPEATS:
            lengths = len(self.flow.returns), len(self.flow.yields)
            self.first_rounds += 1
            end, _ = self.round(statement, dict(env), source, number)
            self.first_rounds -= 1
            del self.flow.returns[lengths[0] :], self.flow.yields[lengths[1] :]
            env = self.joined(env, end) or env
            # The body may have changed what it iterates over: `for row in rows: rows.append(…)`.
            if statement.target is not None and not self.swept_in(number):
                source = self.eval(statement.source, env)
        end, broken = self.round(statement, dict(env), source, number)
        self.loops -= 1
        if end is not None and broken is None:
            # Without a round there were no elements either: so all elements, if any, were stored to.
            env = {**env, **{name: end[name] for name in self.swept_in(number) if name in end}}
        # Only a `break` ends `while True`.
        endless = (
            statement.target is None
            and isinstance(statement.source, facts.Const)
            and bool(statement.source.value)
        )
        result = None if endless else self.joined(env, end)
        if result is not None and statement.orelse:
            result = self.block(statement.orelse, result)
        return self.joined(result, broken)

    def swept_in(self, number: int) -> list[Variable]:
        """Return the variables all of whose elements loop ``number`` stored to."""
        return [name for name, loop in self.swept if loop == number]

    def round(
        self, statement: facts.Loop, env: Env, source: Value, number: int
    ) -> tuple[Env | None, Env | None]:
        """Execute the body of loop ``number`` once, and return the variables at its end, and those at a ``break``.

        ``source`` is the value that the loop iterates over.
        """
        if statement.target is not None:
            self.store(statement.target, containers.element(source), env)
            self.link_loop_variables(statement.target, statement.source, env, number)
        self.exits.append([])
        end = self.block(statement.body, env)
        broken: Env | None = None
        for kind, early in self.exits.pop():
            if kind == "break":
                broken = self.joined(broken, early)
            else:
                end = self.joined(end, early)
        return end, broken

    def attempt(self, statement: facts.Try, env: Env) -> Env | None:
        """Execute ``try``: an exception may come before or after any statement of its body."""
        initial = dict(env)
        end = self.block(statement.body, dict(env))
        start = self.joined(initial, end) or initial  # of the handlers
        result = self.block(statement.orelse, end) if end is not None else None
        for name, body in statement.handlers:
            inner = dict(start)
            if name is not None:
                inner[name] = UNKNOWN
            result = self.joined(result, self.block(body, inner))
        if statement.final:
            result = self.block(statement.final, result) if result else result
            if result is None:
                self.block(statement.final, dict(start))
        return result

    def match(self, statement: facts.Match, env: Env) -> Env | None:
        # If no case has to match, the statement may change nothing.
        result: Env | None = None if statement.exhaustive else dict(env)
        for names, body in statement.cases:
            captured: Env = {name: self.captured(kind, statement.subject, env) for name, kind in names}
            result = self.joined(result, self.block(body, {**env, **captured}))
        return result

    def captured(self, kind: str, subject: Expr, env: Env) -> Value:
        """Return the value of the name in a pattern such as ``case float(x)``, where ``kind`` is the class."""
        match kind:
            case "int" | "float" | "complex":
                message = f"the pattern `{kind}` matches only numbers"
                return self.evaluator.number(message, self.frame(env), subject.at, real=kind == "float")
            case "str" | "bytes":
                return TEXT
            case "bool":
                return BOOL
            case _:
                return UNKNOWN

    # --- assignments -----------------------------------------------------------------------------------------

    def assign(self, statement: facts.Assign, env: Env) -> None:
        """Execute an assignment, with or without an annotation."""
        declared: Value | None = None
        if statement.annotation is not None:
            declared = self.evaluator.annotation(statement.annotation, replace(self.frame(env), env=None))
            if isinstance(statement.targets[0], facts.Name):
                self.declared[statement.targets[0].id] = declared
        if statement.value is None:
            if declared is not None and isinstance(statement.targets[0], facts.Name):
                env[statement.targets[0].id] = declared
            return
        value = self.eval(statement.value, env)
        self.effect(statement.value, env)
        origin = (
            self.path_to(statement.value, env)
            if isinstance(statement.value, facts.Sub | facts.Call)
            else None
        )
        if declared is not None:
            value = hints.typed(self.evaluator, value, declared, isinstance(statement.targets[0], facts.Name))
        for target in statement.targets:
            self.store_from(target, statement.value, value, env)
            if isinstance(target, facts.Name) and isinstance(statement.value, facts.Attr):
                if statement.value.name in MUTATORS:
                    self.methods[target.id] = statement.value
            if isinstance(target, facts.Name) and (stream := self.written_to(statement.value, env)):
                self.table_writers[target.id] = stream
            if origin is not None:
                self.link(target, *origin)
            elif isinstance(target, facts.Sub | facts.Attr) and isinstance(statement.value, facts.Name):
                place = self.path_to(target, env)
                if place is not None:
                    self.link(statement.value, *place)

    def written_to(self, source: Expr, env: Env) -> Expr | None:
        """Return the stream that ``csv.writer(stream)`` writes to, None for another expression."""
        if not isinstance(source, facts.Call) or not source.args:
            return None
        if facts.last_name(source.func) not in TABLE_WRITERS:
            return None
        callee = self.eval(source.func, env)
        is_writer = isinstance(callee, External) and callee.name.startswith("csv.")
        return source.args[0] if is_writer else None

    def store_from(self, target: Expr, source: Expr, value: Value, env: Env) -> None:
        """Store the ``value`` of ``source`` in a target.

        In ``a["x"], b = 1, 2`` each number is reported at its own place, not where the tuple begins.
        """
        if isinstance(target, facts.Seq) and isinstance(source, facts.Seq):
            items = (*target.items, *source.items)
            if len(target.items) == len(source.items) and not any(isinstance(i, facts.Star) for i in items):
                for i, (item, source_item) in enumerate(zip(target.items, source.items, strict=True)):
                    self.store_from(item, source_item, containers.unpacked(self.evaluator, value, (i,)), env)
                return
        site = Site(self.module, source.at)
        self.store(target, _assigned(target, value, site), env, site)

    def store(self, target: Expr, value: Value, env: Env, site: Site | None = None) -> None:
        """Store a value in a target: a name, a tuple of targets, a subscript or an attribute."""
        match target:
            case facts.Name(id=name):
                if name in self.declared:
                    value = hints.typed(self.evaluator, value, self.declared[name], followed=True)
                env[name] = value
                self.elements.pop(name, None)
                self.keys.pop(name, None)
                self.methods.pop(name, None)
                self.table_writers.pop(name, None)
            case facts.Seq(items=items):
                for i, item in enumerate(items):
                    if isinstance(item, facts.Star):
                        # The elements of other values are unknown: a starred target takes an iterator or a text, too.
                        is_list = all(isinstance(option, ListOf) for option in options(value))
                        rest = ListOf(rest=containers.element(value)) if is_list else UNKNOWN
                        self.store(item.value, rest, env)
                        for j, last in enumerate(items[i + 1 :], i + 1 - len(items)):
                            self.store(last, containers.unpacked(self.evaluator, value, (j,)), env)
                        return
                    self.store(item, containers.unpacked(self.evaluator, value, (i,)), env)
            case facts.Sub() | facts.Attr():
                entry = Entry(value, site or Site(self.module, target.at))
                if (own := variable(target)) is not None:
                    env.pop(own, None)
                self.load_outer(target.base, env)
                self.set_defaults(target, env)
                self.update(target, env, lambda _: (entry,))
            case _:
                pass

    def load_outer(self, base: Expr, env: Env) -> None:
        """Make a container of the module or of ``self`` a variable here, so that stores into it are seen."""
        place = self.path_to(base, env)
        if place is None:
            return
        root, path = place
        if root == "self" and path and isinstance(env.get(root), Instance) and isinstance(path[0], At):
            root = Own(str(path[0].key))
        elif root in env or root in self.elements:
            return
        else:
            home = next((scope for scope in self.scope.enclosing() if root in scope.bindings), None)
            if home is not None and home.kind != "module":
                return
        own = facts.Name(base.at, "self")
        source = facts.Attr(base.at, own, root.name) if isinstance(root, Own) else facts.Name(base.at, root)
        container = self.eval(source, env)
        if _holds_container(container):
            env[root] = container

    def link_loop_variables(self, target: Expr, source: Expr, env: Env, number: int) -> None:
        """Link the variables of loop ``number`` to the container whose keys and elements they are."""
        keys, element, of, kind = _iterated(target, source)
        place = self.path_to(of, env) if of is not None else None
        if place is None or of is None:
            return
        root, path = place
        whole = not (isinstance(of, facts.Sub) and isinstance(of.index, facts.Slice))
        for name, origins in ((keys, self.keys), (element, self.elements)):
            if name is not None and name != root:
                origins[name] = Origin(root, (*path, Each(kind, whole, number)))

    def link(self, expr: Expr, root: Variable, path: tuple[Step, ...]) -> None:
        """Note that a variable's value is in a container, so that a store into the one changes the other, too."""
        if isinstance(expr, facts.Name) and expr.id != root:
            self.elements[expr.id] = Origin(root, path)

    def path_to(self, expr: Expr, env: Env) -> tuple[Variable, tuple[Step, ...]] | None:
        """Return the variable at the start of a chain, and the steps from there: ``a["b"].c`` → ``a``, (b, c).

        None for an expression that is not a chain of subscripts and attributes.
        """
        back: list[tuple[Expr, Expr | None]] = []
        while not isinstance(expr, facts.Name):
            match expr:
                case facts.Sub(base=base, index=index):
                    back.append((expr, index))
                case facts.Attr(base=base):
                    back.append((expr, None))
                case facts.Call(func=facts.Attr(base=base, name="setdefault"), args=(index, _)):
                    back.append((expr, index))
                case _:
                    return None
            expr = base
        path: list[Step] = []
        root: Variable = expr.id
        if back and (own := variable(back[-1][0])) is not None and own in env:
            back.pop()
            root = own
        for part, at in reversed(back):
            if at is None:
                path.append(At(facts.last_name(part), part))
            elif not isinstance(at, facts.Slice):
                path.append(self.subscript_step(root, path, at, env))
        return root, tuple(path)

    def subscript_step(self, root: Variable, path: Sequence[Step], index: Expr, env: Env) -> Step:
        """Return the step of a subscript: to one element, or to each if a loop over the keys gives the index.

        In ``for key in data: data[key] = 1`` the step is to each element of ``data``.
        """
        of = self.keys.get(index.id) if isinstance(index, facts.Name) else None
        if of is not None:
            origin = self.elements.get(root)
            origins = [Origin(root, tuple(path))]
            if origin is not None:
                origins.append(Origin(origin.root, (*origin.path, *path)))
            if any(of.root == other.root and is_same_way(of.path[:-1], other.path) for other in origins):
                return of.path[-1]
        return At(containers.key_of(self.evaluator, index, self.frame(env)), index)

    def update(self, target: Expr, env: Env, change: Change) -> None:
        """Change the entries at a target such as ``a["b"]["c"]``: its variable gets a changed container."""
        place = self.path_to(target, env)
        if place is not None and place[1]:
            self.update_at(*place, Site(self.module, target.at), env, change)

    def update_at(self, root: Variable, path: tuple[Step, ...], site: Site, env: Env, change: Change) -> None:
        """Change the entries at ``path`` in variable ``root``, and in the containers that its value was taken from."""
        for _ in range(MOST_WITHIN):
            if root in env and not (root in ("self", "cls") and isinstance(env[root], Instance)):
                old = env[root]
                self.evaluator.step(old.size // 256)
                changed = Store(self.evaluator, self.module, change).into(old, path)
                self.put(root, self.evaluator.limit(changed, site, old.size), env)
                self.swept.update((root, step.loop) for step in path if isinstance(step, Each) and step.whole)
            origin = self.elements.get(root)
            if origin is None:
                break
            root, path = origin.root, (*origin.path, *path)

    def put(self, root: Variable, value: Value, env: Env) -> None:
        """Set variable ``root`` to ``value``. A large attribute of ``self`` is forgotten: its class says what it is."""
        env[root] = UNKNOWN if isinstance(root, Own) and value.size > MOST_OWN else value

    def remove(self, target: Expr, env: Env) -> None:
        """Execute ``del record["key"]``, also of several in a tuple."""
        match target:
            case facts.Seq(items=items):
                for item in items:
                    self.remove(item, env)
            case facts.Sub(index=index) if not isinstance(index, facts.Slice):
                self.set_defaults(target, env)
                self.update(target, env, removed)
            case _:
                pass

    def augment(self, statement: facts.AugAssign, env: Env) -> None:
        """Execute an assignment such as ``total += row["heat"]``."""
        target = statement.target
        old = self.eval(target, env)
        new = self.eval(statement.value, env)
        frame = self.frame(env)
        operation = facts.BinOp(statement.value.at, statement.op, target, statement.value)
        value = join(
            *(operators.operate(self.evaluator, operation, option, new, frame) for option in options(old))
        )
        site = Site(self.module, statement.value.at)
        if isinstance(target, facts.Name):
            self.store(target, value, env, site)
            return
        if number(value) is not None and self.is_under_known_keys(target, env):
            return
        if isinstance(target, facts.Sub | facts.Attr):
            self.load_outer(target.base, env)
        is_leaf = self.is_leaf(target, env)

        def change(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
            """Return the entries after the operation. A number that is reported already keeps its place."""
            if number(value) is None:
                return (Entry(value, site),)
            if not any(number(entry.value) is not None for entry in entries):
                # The first value may be stored further down in the loop, or in another of the possible dicts.
                return entries if self.first_rounds or is_leaf else (Entry(value, site),)
            return tuple(e.holding(value) if number(e.value) is not None else e for e in entries)

        self.set_defaults(target, env)
        self.update(target, env, change)

    def is_leaf(self, target: Expr, env: Env) -> bool:
        """Return whether one of the possible dicts has a number under its key."""
        if not isinstance(target, facts.Sub):
            return False
        key = containers.key_of(self.evaluator, target.index, self.frame(env))
        return key is not None and any(
            number(entry.value) is not None
            for option in options(self.eval(target.base, env))
            if isinstance(option, Record)
            for entry in option.entries.get(key, ())
        )

    def is_under_known_keys(self, target: Expr, env: Env) -> bool:
        """Return whether a computed key leads into dicts whose keys are all known, one of them with a number."""
        if (
            not isinstance(target, facts.Sub)
            or containers.key_of(self.evaluator, target.index, self.frame(env)) is not None
        ):
            return False
        return all(
            isinstance(option, DictOf)
            and option.kind == "builtins.dict"
            and not option.open
            and any(number(entry.value) is not None for _, entry in option.contents())
            for option in options(self.eval(target.base, env))
        )

    # --- effects ---------------------------------------------------------------------------------------------

    def effect(self, expr: Expr, env: Env) -> None:
        """Execute a call for its effect: ``out.update(…)``, ``rows.append(…)`` and ``yield``."""
        if isinstance(expr, facts.Call):
            if isinstance(expr.func, facts.Name) and expr.func.id in self.methods:
                expr = facts.Call(expr.at, self.methods[expr.func.id], expr.args, expr.keywords)
        match expr:
            case facts.Await(value=inner):
                self.effect(inner, env)
            case facts.Yield(value=value) if value is not None:
                result = self.eval(value, env)
                if expr.delegate:
                    result = containers.element(result)
                self.flow.yields.append((value, result))
            case facts.Walrus():
                self.eval(expr, env)
            case facts.Call(func=facts.Attr(base=base, name="pop"), args=(index, *_)):
                self.remove(facts.Sub(expr.at, base, index), env)
            case facts.Call(func=facts.Attr(base=base, name=name)) if name in MUTATORS:
                self.load_outer(base, env)
                self.set_defaults(base, env)
                place = self.path_to(base, env)
                if place is not None and (place[0] in env or place[0] in self.elements):
                    changed = mutated(self.evaluator, self.eval(base, env), name, expr, self.frame(env))
                    if changed is not None:
                        self.replace_at(base, changed, env)
                    if name in ("append", "add") and len(expr.args) == 1:
                        self.link(expr.args[0], place[0], (*place[1], Each("list", False, 0)))
            case facts.Call(
                func=facts.Attr(base=facts.Name(id=name), name="writerow" | "writerows"), args=(row,)
            ) if name in self.table_writers:
                # The delimiter between the values, so that the text is not taken for that of one value.
                line = facts.Join(expr.at, (facts.Const(expr.at, "|"), facts.Hole(row, None)))
                write = facts.Attr(expr.at, self.table_writers[name], "write")
                self.effect(facts.Call(expr.at, write, (line,), ()), env)
            case facts.Call(func=facts.Name(id="print")) if (stream := expr.keyword("file")) is not None:
                self.effect(
                    facts.Call(expr.at, facts.Attr(expr.at, stream, "write"), (_line(expr),), ()), env
                )
            case facts.Call(
                func=facts.Attr(base=base, name="dump" | "safe_dump"), args=(value, stream, *_)
            ) if (dumps := self.serialiser(expr.func, env)) is not None:
                text = facts.Call(expr.at, facts.Attr(expr.at, base, dumps), (value,), ())
                self.effect(facts.Call(expr.at, facts.Attr(expr.at, stream, "write"), (text,), ()), env)
            case facts.Call(args=args):
                # `gather(work(out))` runs `work`, too.
                for call in (*(arg for arg in args if isinstance(arg, facts.Call)), expr):
                    self.fill_by_call(call, env)
                    self.fill_by_callback(call, env)
                self.fill_by_unknown(expr, env)
            case _:
                pass

    def serialiser(self, dump: Expr, env: Env) -> str | None:
        """Return the name of the function that makes the text that ``dump`` writes to a stream: ``dumps``."""
        called = self.eval(dump, env)
        path = called.name if isinstance(called, External) else ""
        names = (name for name in (f"{path}s", path) if name in builtin_names.SERIALISERS)
        return next((name.rpartition(".")[2] for name in names), None)

    def fill_by_call(self, call: facts.Call, env: Env) -> None:
        """Change the containers that a called function of the project fills.

        These are its arguments, and for an inner function also the variables of the function around it.
        """
        container_args = [
            arg for arg in (*call.args, *(arg for _, arg in call.keywords)) if self.is_container(arg, env)
        ]
        is_inner = isinstance(call.func, facts.Name) and isinstance(env.get(call.func.id), FunctionOf)
        if not container_args and not is_inner:
            return
        callee = self.eval(call.func, env)
        function = callee.function if isinstance(callee, FunctionOf) else None
        if (
            not isinstance(callee, FunctionOf)
            or not isinstance(function, facts.Function)
            or not function.changed
            or function.yields
            or not self.evaluator.modules.owns(callee.module.path)
        ):
            return
        sources = {
            name: expr
            for name, expr in self.container_arguments(call, callee, function)
            if expr in container_args
        }
        sources |= self.outer_containers(function, call, env)
        for name, _, new in self.changed_by(callee, call, sources, env, with_arguments=True):
            self.replace_at(sources[name], new, env)

    def fill_by_callback(self, call: facts.Call, env: Env) -> None:
        """Change the containers that an inner function may fill later, when it is passed to another function."""
        for arg in (*call.args, *(arg for _, arg in call.keywords)):
            callee = env.get(arg.id) if isinstance(arg, facts.Name) else None
            if isinstance(callee, FunctionOf) and isinstance(callee.function, facts.Function):
                sources = self.outer_containers(callee.function, call, env)
                for name, old, new in self.changed_by(callee, call, sources, env):
                    self.replace_at(sources[name], join(old, new), env)

    def fill_by_unknown(self, call: facts.Call, env: Env) -> None:
        """Make the empty containers unknown that are passed to an unknown function, which may fill them."""
        for arg in (*call.args, *(arg for _, arg in call.keywords)):
            container = env.get(arg.id) if isinstance(arg, facts.Name) else None
            if container is None or (filled := over(container, _perhaps_filled)) is container:
                continue
            callees = options(self.eval(call.func, env))
            if not all(
                isinstance(callee, FunctionOf)
                or (isinstance(callee, External) and callee.name.startswith("builtins."))
                for callee in callees
            ):
                assert isinstance(arg, facts.Name)
                env[arg.id] = filled

    def changed_by(
        self,
        callee: FunctionOf,
        call: facts.Call,
        sources: dict[str, Expr],
        env: Env,
        with_arguments: bool = False,
    ) -> list[tuple[str, Value, Value]]:
        """Return the containers of ``sources`` that a call of ``callee`` changes: name, old value, new value."""
        function = callee.function
        if not sources or self.evaluator.executes((function, call)):
            return []
        # In further recursive calls the same statements would store the same again.
        if self.evaluator.rounds_of(function) >= MOST_ROUNDS:
            return []
        old_values: Env = {name: self.eval(expr, env) for name, expr in sources.items()}
        own = function.scope.bindings
        closure: Env = {}  # the variables around an inner function as they are where it is called
        if function.scope.parent is self.scope:
            closure = {name: value for name, value in env.items() if name not in own}

        def execute() -> Env:
            arguments = (
                parameter_values(self.evaluator, callee, call, self.frame(env)) if with_arguments else {}
            )
            return changes(self.evaluator, callee, {**closure, **arguments, **old_values}, frozenset(sources))

        new_values = self.evaluator.executed((function, call), execute, Site(self.module, call.at)) or {}
        changed = [name for name in sources if new_values.get(name, old_values[name]) is not old_values[name]]
        return [(name, old_values[name], new_values[name]) for name in changed]

    def outer_containers(self, function: facts.Function, call: facts.Call, env: Env) -> dict[str, Expr]:
        """Return the containers around an inner function that it changes."""
        if function.scope.parent is not self.scope or function.yields:
            return {}
        return {
            name: facts.Name(call.at, name)
            for name in function.changed
            if name not in function.scope.bindings and _holds_container(env.get(name))
        }

    def is_container(self, expr: Expr, env: Env) -> bool:
        if isinstance(expr, facts.Name):
            return _holds_container(env.get(expr.id))
        if not isinstance(expr, (facts.Sub, facts.Attr)):
            return False
        place = self.path_to(expr, env)
        return place is not None and _holds_container(env.get(place[0])) and bool(place[1])

    def container_arguments(
        self, call: facts.Call, callee: FunctionOf, function: facts.Function
    ) -> Iterator[tuple[str, Expr]]:
        """Yield the parameters whose containers a function changes, with the arguments of a call."""
        places = [param.name for param in callee.params if param.kind in ("positional", "any")]
        arguments = dict(written(call, places))
        for param in callee.params:
            # Where the parameter is given another value, what is stored in that is not stored in the argument.
            if param.name in function.changed and param.name in arguments:
                if all(b.kind in ("param", "aug") for b in function.scope.bindings.get(param.name, ())):
                    yield param.name, arguments[param.name]

    def replace_at(self, base: Expr, value: Value, env: Env) -> None:
        """Replace the container at ``base`` by ``value``, in its variable and in the container it was taken from."""
        self.evaluator.step(value.size // 256)
        value = self.evaluator.limit(value, Site(self.module, base.at), value.size)
        place = self.path_to(base, env)
        if place is None:
            return
        root, path = place
        site = Site(self.module, base.at)
        if not path:
            self.put(root, value, env)
            origin = self.elements.get(root)
            if origin is None:
                return
            root, path = origin
        self.update_at(
            root, path, site, env, lambda old: (old[0].holding(value) if old else Entry(value, site),)
        )

    def set_defaults(self, target: Expr, env: Env) -> None:
        """Run each ``a.setdefault(k, {})`` inside the target of an assignment: ``a.setdefault(k, {})["x"] = 5``."""
        calls: list[Expr] = []
        while True:
            match target:
                case facts.Sub(base=base) | facts.Attr(base=base):
                    target = base
                case facts.Call(func=facts.Attr(base=base, name="setdefault"), args=(_, _)):
                    calls.append(target)
                    target = base
                case _:
                    break
        for call in reversed(calls):
            self.effect(call, env)


def _line(call: facts.Call) -> facts.Join:
    """Return the text that ``print`` writes: its arguments with spaces between them, and a newline."""
    parts: list[facts.Const | facts.Join | facts.Hole] = []
    for arg in call.args:
        parts += (facts.Hole(arg, None), facts.Const(call.at, " "))
    return facts.Join(call.at, (*parts[:-1], facts.Const(call.at, "\n")))


def _perhaps_filled(value: Value) -> Value:
    """Return an empty container as one with unknown contents; other values stay as they are."""
    match value:
        case DictOf(rest=None) if not value.entries:
            return filled_elsewhere(value)
        case ListOf(rest=None) if not value.items:
            return filled_elsewhere(value)
        case _:
            return filled_unseen(value)


def _iterated(target: Expr, source: Expr) -> tuple[str | None, str | None, Expr | None, str]:
    """Return what a loop goes over: the variable of the keys, that of the elements, the container, and its kind.

    ``for k, v in d.items()`` → ``k``, ``v``, ``d``, "dict". Of a list the keys are the indices. A plain ``for x in d``
    may be over keys or elements: ``x`` is both.
    """
    name = target.id if isinstance(target, facts.Name) else None
    first, second = (
        [item.id if isinstance(item, facts.Name) else None for item in target.items]
        if isinstance(target, facts.Seq) and len(target.items) == 2
        else (None, None)
    )
    while isinstance(source, facts.Call):
        match source:
            case facts.Call(func=facts.Name(id="list" | "tuple" | "sorted" | "reversed"), args=(inner, *_)):
                source = inner
            case facts.Call(func=facts.Attr(base=inner, name="copy"), args=()):
                source = inner
            case facts.Call(func=facts.Attr(base=inner, name="items"), args=()):
                return first, second, inner, "dict"
            case facts.Call(func=facts.Attr(base=inner, name="values"), args=()):
                return None, name, inner, "dict"
            case facts.Call(func=facts.Attr(base=inner, name="keys"), args=()):
                return name, None, inner, "dict"
            case facts.Call(func=facts.Name(id="enumerate"), args=(inner, *start)) if not start:
                return first, second, inner, "list"
            case facts.Call(
                func=facts.Name(id="range"),
                args=(facts.Call(func=facts.Name(id="len"), args=(inner,)),),
            ):
                return name, None, inner, "list"
            case _:
                return None, None, None, ""
    return name, name, source, "list"


def _assigned(target: Expr, value: Value, site: Site) -> Value:
    """Return a number with its assignment to a name as evidence; other values stay as they are."""
    if isinstance(target, facts.Name) and isinstance(value, Number) and value.because.site != site:
        return replace(value, because=Because(f"`{target.id}` is assigned here", site, (value.because,)))
    return value


def _holds_container(value: Value | None) -> bool:
    return value is not None and any(isinstance(option, Container) for option in options(value))
