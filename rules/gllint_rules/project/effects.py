"""The effects of a callable: network, clock, randomness, environment, files.

Read from the calls in its body, and followed through the functions of the project that it calls. What an
unknown value does is unknown, and nothing is concluded from it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Literal

from msgspec import Struct, field

from gllint_rules.inference import classes
from gllint_rules.inference.builtin_names import ENVIRONMENTS
from gllint_rules.inference.values import (
    NONE,
    Because,
    Boolean,
    ClassOf,
    External,
    ExternalInstance,
    Frame,
    FunctionOf,
    Instance,
    Number,
    Site,
    Text,
    ToolValue,
    Value,
    options,
)
from gllint_rules.project.paths import MOST_STEPS, is_path, sources
from gllint_rules.project.tool_names import stores
from gllint_rules.reading import facts
from gllint_rules.reading.facts import (
    Call,
    Expr,
    Function,
    Lambda,
    Module,
    Scope,
    SectionFacts,
    Sub,
)
from gllint_rules.reading.outline import SECTION_BITS
from gllint_rules.words.names import (
    CALLBACK_CALLS,
    CLIENT_HOUSEKEEPING,
    CLIENT_MAKERS,
    CLOCK_CALLS,
    CLOCK_WITHOUT_ARGUMENT,
    ENVIRONMENT_CALLS,
    ENVIRONMENT_STORES,
    FILE_DELETES,
    FILE_OPENERS,
    FILE_WRITES,
    LIVE_REQUIRED,
    NETWORK_CALLS,
    NETWORK_CLIENTS,
    PATH_DELETES,
    PATH_WRITES,
    RANDOM_CALLS,
    RANDOM_MODULES,
    SEEDED_GENERATORS,
)

if TYPE_CHECKING:
    from gllint_rules.project.context import Context
    from gllint_rules.project.project import Project
    from gllint_rules.tools.tool import Tool

Kind = Literal["network", "clock", "random", "environment", "write", "delete"]

MOST_FUNCTIONS = 2_000  # followed from one callable
DOES: dict[Kind, str] = {
    "network": "reaches the network",
    "clock": "reads the clock",
    "random": "is random",
    "environment": "reads the environment",
    "write": "writes a file",
    "delete": "deletes",
}


_KIND_OF_CALL: dict[str, Kind] = {
    **dict.fromkeys(NETWORK_CALLS, "network"),
    **dict.fromkeys(CLOCK_CALLS, "clock"),
    **dict.fromkeys(ENVIRONMENT_CALLS, "environment"),
    **dict.fromkeys((*FILE_OPENERS, *FILE_WRITES), "write"),
    **dict.fromkeys(FILE_DELETES, "delete"),
}
# The positions of the argument that is the path of the file.
_PATH_AT = {**dict.fromkeys((*FILE_OPENERS, *FILE_DELETES), 0), **FILE_WRITES}


class Effect(Struct, frozen=True, eq=False):
    """One thing that a body does, and where. ``path`` is the file that a write or a deletion is about."""

    kind: Kind
    site: Site
    title: str
    frame: Frame
    path: Expr | None = None


class ReachedEffect(Struct, frozen=True, eq=False):
    """An effect of a callable; ``own`` if it is in the callable itself."""

    effect: Effect
    own: bool
    because: Because


class Body(Struct, eq=False):
    """The effects of one function itself, in reading order, and the functions of the project that it calls."""

    effects: list[Effect] = field(default_factory=list)
    calls: list[tuple[FunctionOf, Site]] = field(default_factory=list)


class _Parts(Struct, eq=False):
    """The facts of one scope."""

    calls: list[tuple[Call, Scope]] = field(default_factory=list)
    environments: list[tuple[Expr, Scope]] = field(default_factory=list)


class Effects:
    """Effects of the callables of one project, remembered function by function."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._bodies: dict[tuple[object, object], Body] = {}
        self._parts: dict[tuple[Module, int], dict[Scope, _Parts]] = {}

    def reached(self, callee: FunctionOf) -> Iterator[ReachedEffect]:
        """Yield all effects of ``callee``: those of its own body first, then by how far away they are."""
        keys = {_key(callee)}
        queue: list[tuple[FunctionOf, tuple[Because, ...]]] = [(callee, ())]
        position = 0
        while position < len(queue):
            if position == MOST_FUNCTIONS:
                site = Site(callee.module, callee.function.at)
                self.project.evaluator.cut(site, f"{MOST_FUNCTIONS} functions that it calls")
                return
            function, chain = queue[position]
            position += 1
            own = _is_inside(function, callee)
            body = self.body(function)
            for effect in body.effects:
                because = Because(f"`{effect.title}` {DOES[effect.kind]}", effect.site)
                for step in reversed(chain):
                    because = Because(step.message, step.site, (because,))
                yield ReachedEffect(effect, own, because)
            for called, site in body.calls:
                if _key(called) not in keys:
                    keys.add(_key(called))
                    queue.append((called, (*chain, Because(f"calls `{_title(called)}`", site))))

    def first(self, callees: Iterable[FunctionOf], kinds: Collection[Kind]) -> ReachedEffect | None:
        """Return the first effect of one of ``kinds``: in a callable itself if there is one, else the nearest."""
        near: list[ReachedEffect] = []
        far: ReachedEffect | None = None
        for callee in callees:
            for reached in self.reached(callee):
                if reached.effect.kind in kinds:
                    if reached.own:
                        near.append(reached)
                    else:
                        far = far or reached
        return min(near, key=lambda reached: reached.effect.site.at) if near else far

    def called(self, expr: Expr, module: Module, scope: Scope) -> FunctionOf:
        """Return a lambda that only calls ``expr``, for a tool whose function is not part of the project."""
        call = Call(expr.at, expr, (), ())
        caller = FunctionOf(module, Lambda(expr.at, (), call, Scope("lambda", scope)))
        self._bodies[_key(caller)] = _BodyReader(self.project, caller, _Parts([(call, scope)])).read()
        return caller

    def body(self, callee: FunctionOf) -> Body:
        """Return the effects and calls in the body of ``callee``."""
        key = _key(callee)
        body = self._bodies.get(key)
        if body is None:
            self._bodies[key] = body = _BodyReader(self.project, callee, self.parts(callee)).read()
        return body

    def parts(self, callee: FunctionOf) -> _Parts:
        module = callee.module
        key = module, callee.function.at >> SECTION_BITS
        by_scope = self._parts.get(key)
        if by_scope is None:
            self._parts[key] = by_scope = _by_scope(module.section(key[1]))
        return by_scope.get(callee.function.scope, _Parts())


def _by_scope(part: SectionFacts) -> dict[Scope, _Parts]:
    """Return the calls of a section, and what mentions the environment, under the scope that executes them."""
    by_scope: dict[Scope, _Parts] = {}
    for call, scope in part.calls:
        by_scope.setdefault(_owner(scope), _Parts()).calls.append((call, scope))
    mentions: list[tuple[Expr, Scope]] = [
        (sub, scope) for sub, scope in part.subscripts if _may_be_environment(sub.base)
    ]
    mentions += (
        (value, scope)
        for literal, scope in part.dicts
        for key, value in literal.items
        if key is None and _may_be_environment(value)
    )
    mentions += (
        (side, scope)
        for comparison, scope in part.comparisons
        for side in comparison.operands
        if _may_be_environment(side)
    )
    for mention, scope in mentions:
        by_scope.setdefault(_owner(scope), _Parts()).environments.append((mention, scope))
    for parts in by_scope.values():
        parts.calls.sort(key=lambda pair: pair[0].at)
    return by_scope


def _owner(scope: Scope) -> Scope:
    while scope.kind == "comprehension" and scope.parent is not None:
        scope = scope.parent
    return scope


def _may_be_environment(expr: Expr) -> bool:
    return isinstance(expr, facts.Name | facts.Attr) and facts.last_name(expr) == "environ"


def _key(callee: FunctionOf) -> tuple[object, object]:
    return callee.function, callee.bound.cls if callee.bound is not None else None


def _title(callee: FunctionOf) -> str:
    return f"{callee.function.qualname}()" if isinstance(callee.function, Function) else "a lambda"


def _is_inside(inner: FunctionOf, outer: FunctionOf) -> bool:
    """Return whether ``inner`` is ``outer`` or is defined in its body."""
    scope: Scope | None = inner.function.scope
    while scope is not None:
        if scope is outer.function.scope:
            return True
        scope = scope.parent
    return False


class _BodyReader:
    """Collects the effects and calls in one function."""

    def __init__(self, project: Project, callee: FunctionOf, parts: _Parts) -> None:
        self.project = project
        self.evaluator = project.evaluator
        self.callee = callee
        self.parts = parts
        self.body = Body()
        self._stored: set[Expr] | None = None

    def read(self) -> Body:
        """Collect the effects of all calls in the body, and of each mention of the environment."""
        for call, scope in self.parts.calls:
            frame = self.frame(scope)
            self.call(call, frame)
            for arg in (*call.args, *(value for _, value in call.keywords)):
                if _may_be_environment(arg) and self.is_environment(arg, frame):
                    self.add("environment", arg.at, facts.dotted(arg), frame)
        for mention, scope in self.parts.environments:
            self.mention(mention, self.frame(scope))
        seeded = self.seeded_modules()
        self.body.effects = [e for e in self.body.effects if e.kind != "random" or e.title not in seeded]
        self.body.effects.sort(key=lambda effect: effect.site.at)
        return self.body

    def frame(self, scope: Scope) -> Frame:
        """Return the frame in which the body is evaluated: ``self`` is what the method is bound to."""
        return Frame(self.callee.module, scope, None, self.callee.bound)

    def add(self, kind: Kind, at: int, title: str, frame: Frame, path: Expr | None = None) -> None:
        self.body.effects.append(Effect(kind, Site(self.callee.module, at), title, frame, path))

    # --- calls -----------------------------------------------------------------------------------------------

    def call(self, call: Call, frame: Frame) -> None:
        """Note the effects of one call, and the functions of the project that it runs."""
        callees = options(self.evaluator.eval(call.func, frame))
        for name in dict.fromkeys(option.name for option in callees if isinstance(option, External)):
            self.external(name, call, frame)
        for option in callees:
            self.follow(option, call.at)
        if isinstance(call.func, facts.Attr):
            self.method(call.func, call, frame)
        if facts.last_name(call.func) in CALLBACK_CALLS:
            for arg in (*call.args, *(value for _, value in call.keywords)):
                if isinstance(arg, facts.Name | facts.Attr | facts.Lambda):
                    self.callback(arg, call, frame)

    def follow(self, callee: Value, at: int) -> None:
        """Add the functions of the project that a call of ``callee`` runs."""
        site = Site(self.callee.module, at)
        match callee:
            case FunctionOf():
                self.body.calls.append((callee, site))
            case ToolValue(tool=tool) if tool.called is not None:
                self.body.calls.append((tool.called, site))
            case ClassOf() if not classes.is_enum(self.project.evaluator, callee):
                for name in ("__init__", "__post_init__"):
                    method = self.evaluator.class_member(callee, name)
                    if isinstance(method, FunctionOf):
                        self.body.calls.append((method, site))
            case Instance(of=of):
                method = self.evaluator.class_member(of, "__call__")
                if isinstance(method, FunctionOf):
                    self.body.calls.append((method, site))
            case _:
                pass

    def callback(self, arg: Expr, call: Call, frame: Frame) -> None:
        """Add the effects of a function that is passed to be called: ``asyncio.to_thread(requests.get, url)``."""
        for option in options(self.evaluator.eval(arg, frame)):
            if isinstance(option, External):
                rest = tuple(other for other in call.args if other.at > arg.at)
                self.external(option.name, Call(arg.at, arg, rest, ()), frame)
            elif isinstance(option, FunctionOf | ToolValue):
                self.follow(option, arg.at)

    def external(self, name: str, call: Call, frame: Frame) -> None:
        """Add the effect of a call of something outside the project, by its full name."""
        count = len(call.args) + len(call.keywords)
        kind = _KIND_OF_CALL.get(name)
        if count < CLOCK_WITHOUT_ARGUMENT.get(name, 0):
            kind = "clock"
        elif self.is_random(name, call, frame):
            kind = "random"
        elif _reads_environment(name):
            kind = "environment"
        elif name in FILE_OPENERS and not self.opens_for_writing(call, FILE_OPENERS[name], frame):
            kind = None
        if kind is not None:
            path = _argument(call, _PATH_AT[name]) if name in _PATH_AT else None
            self.add(kind, call.at, name.removeprefix("builtins."), frame, path)

    def method(self, func: facts.Attr, call: Call, frame: Frame) -> None:
        """Add the effect of a method of a network client, of a path, or of a random generator without a seed."""
        title = facts.dotted(func) or f"….{func.name}"
        maker = self.client(func.base, frame)
        methods = NETWORK_CLIENTS[maker] if maker is not None else frozenset()
        all_reach_out = methods is None and func.name not in CLIENT_HOUSEKEEPING
        if all_reach_out or (methods is not None and func.name in methods):
            self.add("network", call.at, title, frame)
        elif func.name in PATH_WRITES or func.name in PATH_DELETES or func.name == "open":
            if not is_path(self.project, func.base, frame):
                return
            if func.name in PATH_DELETES:
                self.add("delete", call.at, title, frame, func.base)
            elif func.name != "open" or self.opens_for_writing(call, 0, frame):
                self.add("write", call.at, title, frame, func.base)
        elif isinstance(func.base, facts.Name) and self.is_unseeded(func.base.id, frame):
            self.add("random", call.at, title, frame)

    def client(self, expr: Expr, frame: Frame, depth: int = 0) -> str | None:
        """Return the full name of the network client that ``expr`` is, or is a part of; None if it is none."""
        for option in options(self.evaluator.eval(expr, frame)):
            if isinstance(option, ExternalInstance) and option.name in NETWORK_CLIENTS:
                return option.name
        if depth > MOST_STEPS:
            return None
        match expr:
            case Call(func=func):
                if isinstance(func, facts.Attr) and func.name in CLIENT_MAKERS:
                    if self.client(func.base, frame, depth + 1) is not None:
                        return CLIENT_MAKERS[func.name]
                makers = (o for o in options(self.evaluator.eval(func, frame)) if isinstance(o, External))
                return next((maker.name for maker in makers if maker.name in NETWORK_CLIENTS), None)
            case facts.Name() | facts.Attr():
                for source, home in sources(self.project, expr, frame):
                    client = self.client(source, home, depth + 1)
                    if client is not None:
                        return client
                if isinstance(expr, facts.Attr):
                    whole = self.client(expr.base, frame, depth + 1)
                    return whole if whole is not None and NETWORK_CLIENTS[whole] is None else None
        return None

    def opens_for_writing(self, call: Call, position: int, frame: Frame) -> bool:
        mode = _argument(call, position, "mode")
        value = self.evaluator.eval(mode, frame) if mode is not None else None
        if not isinstance(value, Text) or value.literal is None:
            return False
        access = value.literal.partition(":")[0].partition("|")[0]  # `r:xz` names a compression
        return any(letter in access for letter in "wax+")

    # --- randomness ------------------------------------------------------------------------------------------

    def is_random(self, name: str, call: Call, frame: Frame) -> bool:
        if name in SEEDED_GENERATORS:
            return self.is_without_seed(call, frame)
        module, _, last = name.rpartition(".")
        harmless = RANDOM_MODULES.get(module)
        return name in RANDOM_CALLS or (harmless is not None and last.islower() and last not in harmless)

    def is_without_seed(self, call: Call, frame: Frame) -> bool:
        values = [*call.args, *(value for _, value in call.keywords)]
        return all(self.evaluator.eval(seed, frame) is NONE for seed in values)

    def is_unseeded(self, name: str, frame: Frame) -> bool:
        """Return whether ``name`` is a module-level random generator that was made without a seed."""
        scope = frame.scope.home(name)
        if scope is None or scope.kind != "module":
            return False
        calls = [binding.value for binding in scope.bindings[name] if isinstance(binding.value, Call)]
        home = Frame(frame.module, scope)
        return any(
            isinstance(maker, External)
            and maker.name in SEEDED_GENERATORS
            and self.is_without_seed(call, home)
            for call in calls
            for maker in options(self.evaluator.eval(call.func, home))
        )

    def seeded_modules(self) -> set[str]:
        """Return the random functions used here whose module is seeded with a literal, here or at import time.

        After ``random.seed(42)`` these are ``random.random`` and the like.
        """
        if not any(effect.kind == "random" for effect in self.body.effects):
            return set()
        module = self.callee.module
        calls = [
            *self.parts.calls,
            *((call, scope) for call, scope in module.calls_of({"seed"}) if scope is module.scope),
        ]
        seeded: set[str] = set()
        for call, scope in calls:
            if facts.last_name(call.func) != "seed" or not call.args:
                continue
            frame = self.frame(scope)
            callee, seed = self.evaluator.eval(call.func, frame), self.evaluator.eval(call.args[0], frame)
            if isinstance(seed, Number | Text):
                families = {o.name.removesuffix(".seed") for o in options(callee) if isinstance(o, External)}
                seeded |= {
                    e.title
                    for e in self.body.effects
                    if e.title.rpartition(".")[0] in families
                    and e.title not in RANDOM_CALLS | SEEDED_GENERATORS
                }
        return seeded

    # --- the environment -------------------------------------------------------------------------------------

    def mention(self, mention: Expr, frame: Frame) -> None:
        """Add the effect of reading ``os.environ["KEY"]``, ``{**os.environ}`` or ``"KEY" in os.environ``."""
        read = mention.base if isinstance(mention, Sub) else mention
        if mention not in self.stored() and self.is_environment(read, frame):
            self.add("environment", mention.at, facts.dotted(read), frame)

    def is_environment(self, expr: Expr, frame: Frame) -> bool:
        values = options(self.evaluator.eval(expr, frame))
        return any(isinstance(option, External) and option.name in ENVIRONMENTS for option in values)

    def stored(self) -> set[Expr]:
        if self._stored is None:
            self._stored = {target for target, _ in stores(self.callee.module, ("environ",))}
        return self._stored


def _reads_environment(name: str) -> bool:
    variable, _, method = name.rpartition(".")
    return variable in ENVIRONMENTS and method not in ENVIRONMENT_STORES


def _argument(call: Call, position: int, *keywords: str) -> Expr | None:
    """Return the argument at ``position`` or under one of ``keywords``; ``None`` if it is unknown."""
    if len(call.args) > position:
        positional = call.args[: position + 1]
        return None if any(isinstance(arg, facts.Star) for arg in positional) else positional[-1]
    return call.keyword(*keywords)


def undeclared(context: Context, kinds: Collection[Kind]) -> Iterator[tuple[Tool, Site, ReachedEffect]]:
    """Yield each T1 tool without ``live_required=True`` that has an effect of ``kinds``, with place and effect.

    The place is that of the effect if it is in the tool's own callable, else that of the ``fn`` value.
    """
    effects = context.project.memory(Effects)
    for tool in context.tools:
        if tool.form != "T1" or tool.fn is None or _may_be_live(context, tool):
            continue
        callees = tool.callables or (effects.called(tool.fn, tool.module, tool.scope),)
        reached = effects.first(callees, kinds)
        if reached is not None:
            place = reached.effect.site if reached.own else Site(tool.module, tool.fn.at)
            yield tool, place, reached


def _may_be_live(context: Context, tool: Tool) -> bool:
    """Return whether a tool declares ``live_required``, or may do so in ``**options``."""
    assert tool.call is not None
    declared = tool.call.keyword(LIVE_REQUIRED)
    if declared is None:
        return any(name is None for name, _ in tool.call.keywords)
    value = context.eval(declared, tool.scope)
    return not (isinstance(value, Boolean) and value.literal is False)
