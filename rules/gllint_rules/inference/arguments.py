"""The values that a call gives to the parameters of a function: by position, by name, spread, and by default."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gllint_rules.inference import annotations as hints
from gllint_rules.inference import containers
from gllint_rules.inference.values import (
    NEVER,
    UNKNOWN,
    Arguments,
    ClassOf,
    Container,
    DictOf,
    Entry,
    Env,
    ExternalInstance,
    Frame,
    FunctionOf,
    Instance,
    Interpolation,
    ListOf,
    Literal,
    Number,
    Record,
    SerialisedText,
    Text,
    Value,
    join,
    options,
)
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Expr, Param

if TYPE_CHECKING:
    from gllint_rules.inference.protocol import Evaluator

_DIGIT = re.compile(r"\d")
MOST_LOOKED_THROUGH = 200  # parts of a list in which texts with numbers are looked for


def written(call: facts.Call, names: Iterable[str]) -> Iterator[tuple[str, Expr]]:
    """Yield name and expression of each argument that is not spread. ``names`` are the positional parameters."""
    yield from zip(names, call.placed(), strict=False)
    yield from ((name, arg) for name, arg in call.keywords if name is not None)


def bind(params: Sequence[Param], arguments: Arguments) -> dict[str, Value]:
    """Assign the arguments of a call to ``params``, as ``inspect.Signature.bind`` does, without types and defaults."""
    places = [param for param in params if param.kind in ("positional", "any")]
    names = {param.name for param in params if param.kind in ("any", "keyword")}
    named = arguments.named
    bindings = {param.name: entry.value for param, entry in zip(places, arguments.places, strict=False)}
    for param in params:
        match param.kind:
            case "star":
                rest = None if arguments.is_complete else UNKNOWN
                bindings[param.name] = ListOf(arguments.places[len(places) :], rest, "tuple")
            case "double-star":
                entries = {key: slot for key, slot in named.entries.items() if key not in names}
                sure = named.sure & frozenset(entries)
                bindings[param.name] = DictOf(entries, sure, named.open, named.site)
            case "any" | "keyword" if param.name in named.sure and param.name not in bindings:
                # Only sure keys: a key that a spread dict may lack can leave the parameter its default.
                bindings[param.name] = join(*(entry.value for entry in named.entries.get(param.name, ())))
    return bindings


def parameter_values(
    evaluator: Evaluator,
    callee: FunctionOf,
    call: facts.Call,
    frame: Frame,
    passed_on: bool = False,
) -> Env:
    """Return the values of the parameters for this call; an empty dict if it says no more than the annotations.

    An argument counts more than the annotation, which fills its unknown parts. A default counts if nothing is passed
    and all arguments are seen. ``passed_on``: the function returns objects that it gets, or their fields. Then the
    known fields of an argument say more than its annotated class.
    """
    arguments = arguments_of(evaluator, call, frame, callee.leading)
    bindings = bind(callee.params, arguments)
    new = False
    env: Env = {}
    for param in callee.params:
        value = bindings.get(param.name)
        if value is None:
            if param.default is not None and arguments.is_complete and not arguments.named.open:
                env[param.name] = evaluator.eval(param.default, callee.home)
                new = new or declared(evaluator, callee, param) is UNKNOWN
        # The annotation of a spread argument is the type of one element.
        elif isinstance(value, Container) and param.kind in ("star", "double-star"):
            env[param.name] = value
            new = new or next(value.contents(), None) is not None
        else:
            declaration = declared(evaluator, callee, param)
            value = hints.typed(evaluator, value, declaration) if UNKNOWN in options(value) else value
            if value is not UNKNOWN and value is not NEVER:
                env[param.name] = value
                new = new or declaration.gap or _tells_more(value, declaration, passed_on)
    # The body was executed with the annotations before: executing it again would add nothing.
    return env if new else {}


def _tells_more(value: Value, declared: Value, passed_on: bool, depth: int = 3) -> bool:
    """Return whether an argument says more than the annotation of its parameter. That is so for

    * a function, whose result no annotation shows
    * a text with numbers, or a list with such a text
    * an object of another class than the annotated one
    * if it is ``passed_on``: an object with known fields, or a container of objects that say more
    """
    classes = {option.of.cls for option in options(declared) if isinstance(option, Instance)}
    is_class = bool(classes) or any(isinstance(option, ExternalInstance) for option in options(declared))
    for option in options(value):
        match option:
            case FunctionOf():
                return True
            case Text() if states_numbers(option):
                return True
            case Instance() if is_class and option.of.cls not in classes:
                return True
            case Record(of=ClassOf() as of) if is_class and (passed_on or of.cls not in classes):
                return True
            case ListOf() if option.size <= MOST_LOOKED_THROUGH and any(map(states_numbers, option.values())):
                return True
            case DictOf() | ListOf() if passed_on and depth:
                inner = join(*(_element(kind) for kind in options(declared)))
                if any(_tells_more(part, inner, passed_on, depth - 1) for part in option.values()):
                    return True
    return False


def states_numbers(value: Value, depth: int = 4) -> bool:
    """Return whether a text has numbers in it, or is serialised data."""
    for option in options(value):
        if isinstance(option, SerialisedText):
            return True
        if isinstance(option, Text) and any(_is_numeric(part, depth) for part in option.parts or ()):
            return True
    return False


def _is_numeric(part: Literal | Interpolation, depth: int) -> bool:
    """Return whether a part of a text states numbers: a sentence with a digit, or a number that is filled in."""
    if isinstance(part, Literal):  # one word with a digit is a name or a code: "10-K"
        return _DIGIT.search(part.text) is not None and len(part.text.split()) > 1
    if any(isinstance(filled, Number | Container) for filled in options(part.value)):
        return True
    return depth > 0 and states_numbers(part.value, depth - 1)


def _element(declared: Value) -> Value:
    """Return the element of a container that an annotation declares; NEVER if it declares something else."""
    match declared:
        case ListOf():
            return declared.element()
        case DictOf(rest=rest) if rest is not None:
            return rest
    return NEVER


def arguments_of(
    evaluator: Evaluator, call: facts.Call, frame: Frame, partial: Arguments | None = None
) -> Arguments:
    """Return the arguments of a call, after those that ``functools.partial`` has bound (``partial``)."""
    places, is_complete = _positional(evaluator, call, frame)
    record = partial.named if partial is not None else DictOf(site=frame.site(call))
    named = containers.with_keywords(evaluator, record, call, frame)
    if partial is None:
        return Arguments(tuple(places), is_complete, named)
    if not partial.is_complete:
        return replace(partial, named=named)
    return Arguments((*partial.places, *places), is_complete, named)


def _positional(evaluator: Evaluator, call: facts.Call, frame: Frame) -> tuple[list[Entry], bool]:
    """Return the positional arguments up to a spread of unknown length, and whether these are all of them."""
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
    """Return the value that the annotation of a parameter declares."""
    if param.annotation is None:
        return UNKNOWN
    return evaluator.annotation(param.annotation, callee.home)
