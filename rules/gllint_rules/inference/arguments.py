"""What the parameters of a function get from a call: in their place, by name, spread, and by default."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from gllint_rules.inference import annotations as hints
from gllint_rules.inference import containers
from gllint_rules.inference.values import (
    NEVER,
    UNKNOWN,
    Arguments,
    ClassOf,
    DictOf,
    Entry,
    Env,
    ExternalInstance,
    Frame,
    FunctionOf,
    Instance,
    Key,
    ListOf,
    Record,
    Value,
    join,
    options,
)
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Expr, Param
from gllint_rules.records import replace

if TYPE_CHECKING:
    from gllint_rules.inference.protocol import Evaluator


def written(call: facts.Call, names: Iterable[str]) -> Iterator[tuple[str, Expr]]:
    """The arguments that are written out, each with its name; ``names`` are those of the places."""
    yield from zip(names, call.placed(), strict=False)
    yield from ((name, arg) for name, arg in call.keywords if name is not None)


def parameter_values(
    evaluator: Evaluator, callee: FunctionOf, call: facts.Call, frame: Frame, passed_on: bool = False
) -> Env:
    """The parameters of which the call tells something, each with what that is; none where it tells nothing new.

    An argument counts more than what the parameter is annotated with; the annotation helps where the argument says
    nothing. A default counts where nothing is passed, provided that all arguments are seen. What is seen of the fields
    of objects is new where the function has ``passed_on`` objects of the classes that it takes, or their fields.
    """
    new = False
    params = callee.params
    places = [param for param in params if param.kind in ("positional", "any")]
    call_arguments = leading(evaluator, call, frame, callee.leading)
    entries, has_all_places, named = (
        list(call_arguments.places),
        call_arguments.is_complete,
        call_arguments.named,
    )
    values: dict[str, Value] = {}
    for param, entry in zip(places, entries, strict=False):
        values[param.name] = entry.value
    for param in params:
        if param.kind in ("any", "keyword") and param.name in named.entries and param.name not in values:
            if param.name in named.sure:
                values[param.name] = join(*(entry.value for entry in named.entries[param.name]))
    by_name = {param.name for param in params if param.kind in ("any", "keyword")}
    env: Env = {}
    for param in params:
        if param.kind == "star":
            rest = None if has_all_places else UNKNOWN
            env[param.name] = ListOf(tuple(entries[len(places) :]), rest, "tuple")
            new = new or bool(entries[len(places) :])
        elif param.kind == "double-star":
            extra: dict[Key, tuple[Entry, ...]] = {
                name: slot for name, slot in named.entries.items() if name not in by_name
            }
            env[param.name] = DictOf(extra, named.sure & frozenset(extra), named.open, named.site)
            new = new or bool(extra)
        elif param.name in values:
            declaration = declared(evaluator, callee, param)
            value = values[param.name]
            value = hints.typed(evaluator, value, declaration) if UNKNOWN in options(value) else value
            if value is not UNKNOWN and value is not NEVER:
                env[param.name] = value
                new = new or declaration.gap or _tells_more(value, declaration, passed_on)
        elif param.default is not None and has_all_places and not named.open:
            env[param.name] = evaluator.eval(param.default, callee.home)
    return env if new else {}


def _tells_more(value: Value, declared: Value, passed_on: bool, depth: int = 3) -> bool:
    """Whether an argument says more of an object than the class of the project that it is annotated with.

    It does where it is of another class or a function, of which no annotation says what it returns; where it is passed
    on, also where its fields are seen, and where that is so of one of the objects that it holds.
    """
    classes = {option.of.cls for option in options(declared) if isinstance(option, Instance)}
    named = bool(classes) or any(isinstance(option, ExternalInstance) for option in options(declared))
    for option in options(value):
        match option:
            case FunctionOf():
                return True
            case Instance() if named and option.of.cls not in classes:
                return True
            case Record(of=ClassOf() as of) if named and (passed_on or of.cls not in classes):
                return True
            case DictOf() | ListOf() if passed_on and depth:
                inner = join(*(_element(kind) for kind in options(declared)))
                if any(_tells_more(part, inner, passed_on, depth - 1) for part in option.values()):
                    return True
    return False


def _element(declared: Value) -> Value:
    """What a container that is annotated so holds; nothing is said of anything else."""
    match declared:
        case ListOf():
            return declared.element()
        case DictOf(rest=rest) if rest is not None:
            return rest
    return NEVER


def leading(
    evaluator: Evaluator, call: facts.Call, frame: Frame, partial: Arguments | None = None
) -> Arguments:
    """The arguments of a call, behind those of the ``partial``, if any."""
    places, is_complete = _positional(evaluator, call, frame)
    record = partial.named if partial is not None else DictOf(site=frame.site(call))
    named = containers.with_keywords(evaluator, record, call, frame)
    if partial is None:
        return Arguments(tuple(places), is_complete, named)
    if not partial.is_complete:
        return replace(partial, named=named)
    return Arguments((*partial.places, *places), is_complete, named)


def _positional(evaluator: Evaluator, call: facts.Call, frame: Frame) -> tuple[list[Entry], bool]:
    """The arguments in their place, and whether these are all; what follows a spread of unknown length is not seen."""
    entries: list[Entry] = []
    for arg in call.args:
        if isinstance(arg, facts.Star):
            value = evaluator.eval(arg.value, frame)
            if not isinstance(value, ListOf) or value.rest is not None:
                return entries, False
            entries.extend(value.items)
        else:
            entries.append(evaluator.entry(arg, frame))
    return entries, True


def declared(evaluator: Evaluator, callee: FunctionOf, param: Param) -> Value:
    """What a parameter is annotated as."""
    if param.annotation is None:
        return UNKNOWN
    return evaluator.annotation(
        param.annotation, hints.with_variables(evaluator, callee.function, callee.home)
    )
