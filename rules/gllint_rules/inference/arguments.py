"""What the parameters of a function get from a call: in their place, by name, spread, and by default."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from gllint_rules.inference import annotations as hints
from gllint_rules.inference import containers
from gllint_rules.inference.values import (
    NEVER,
    UNKNOWN,
    ClassOf,
    Entry,
    Env,
    ExternalInstance,
    Frame,
    FunctionOf,
    Instance,
    Key,
    Leading,
    ListOf,
    Record,
    Value,
    join,
    options,
    values_in,
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


def given(
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
    passed_here = leading(evaluator, call, frame, callee.leading)
    entries, positional_known, named = list(passed_here.places), passed_here.known, passed_here.named
    passed: dict[str, Value] = {}
    for param, entry in zip(places, entries, strict=False):
        passed[param.name] = entry.value
    for param in params:
        if param.kind in ("any", "keyword") and param.name in named.entries and param.name not in passed:
            held = [entry.value for entry in named.entries[param.name]]
            if param.name in named.sure:
                passed[param.name] = join(*held)
    by_name = {param.name for param in params if param.kind in ("any", "keyword")}
    out: Env = {}
    for param in params:
        if param.kind == "star":
            rest = None if positional_known else UNKNOWN
            out[param.name] = ListOf(tuple(entries[len(places) :]), rest, "tuple")
            new = new or bool(entries[len(places) :])
        elif param.kind == "double-star":
            kept: dict[Key, tuple[Entry, ...]] = {
                name: held for name, held in named.entries.items() if name not in by_name
            }
            out[param.name] = Record(kept, named.sure & frozenset(kept), named.open, site=named.site)
            new = new or bool(kept)
        elif param.name in passed:
            said = declared(evaluator, callee, param)
            value = passed[param.name]
            value = hints.typed(evaluator, value, said) if UNKNOWN in options(value) else value
            if value is not UNKNOWN and value is not NEVER:
                out[param.name] = value
                new = new or said.gap or _tells_more(value, said, passed_on)
        elif param.default is not None and positional_known and not named.open:
            out[param.name] = evaluator.eval(param.default, callee.home)
    return out if new else {}


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
            case Record(cls=ClassOf() as of) if named and (passed_on or of.cls not in classes):
                return True
            case Record(cls=None, quantity=False) | ListOf() if passed_on and depth:
                inner = join(*(_element(kind) for kind in options(declared)))
                if any(_tells_more(one, inner, passed_on, depth - 1) for one in values_in(option)):
                    return True
    return False


def _element(declared: Value) -> Value:
    """What a container that is annotated so holds; nothing is said of anything else."""
    match declared:
        case ListOf():
            return declared.element()
        case Record(cls=None, rest=held) if held is not None:
            return held
    return NEVER


def leading(evaluator: Evaluator, call: facts.Call, frame: Frame, before: Leading | None = None) -> Leading:
    """The arguments of a call, behind those that were given ``before``."""
    places, known = _positional(evaluator, call, frame)
    record = before.named if before is not None else Record(site=frame.site(call))
    named = containers.with_keywords(evaluator, record, call, frame)
    if before is None:
        return Leading(tuple(places), known, named)
    if not before.known:
        return replace(before, named=named)
    return Leading((*before.places, *places), known, named)


def _positional(evaluator: Evaluator, call: facts.Call, frame: Frame) -> tuple[list[Entry], bool]:
    """The arguments in their place, and whether these are all; what follows a spread of unknown length is not seen."""
    out: list[Entry] = []
    for arg in call.args:
        if isinstance(arg, facts.Star):
            value = evaluator.eval(arg.value, frame)
            if not isinstance(value, ListOf) or value.rest is not None:
                return out, False
            out.extend(value.items)
        else:
            out.append(evaluator.entry(arg, frame))
    return out, True


def declared(evaluator: Evaluator, callee: FunctionOf, param: Param) -> Value:
    """What a parameter is annotated as."""
    return evaluator.annotation(param.annotation, callee.home) if param.annotation is not None else UNKNOWN
