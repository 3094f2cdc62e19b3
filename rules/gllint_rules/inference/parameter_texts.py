"""The texts that a function is given, in what it returns: told apart by parameter, and put in where it is called.

A helper that writes its arguments into a text is executed once, with a value that stands for each text that it may be
given; what a call gives takes that value's place in the result. So a call costs what its result is large, not what the
helper takes to execute.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from gllint_rules.inference import formatting
from gllint_rules.inference.values import (
    TEXT,
    Container,
    Interpolation,
    Literal,
    Number,
    ParameterText,
    SerialisedText,
    Site,
    Text,
    UnionOf,
    Value,
    are_same,
    is_alike,
    join,
    options,
    over,
    pieces,
)
from gllint_rules.reading.facts import Param

if TYPE_CHECKING:
    from gllint_rules.inference.protocol import Evaluator

MOST_WITHIN = 3  # containers around each other in which a text is told to be that of a parameter
MOST_LOOKED_THROUGH = 200  # parts of an argument in which texts and numbers are looked for


def named(declared: Value, param: Param, depth: int = MOST_WITHIN) -> Value:
    """What a parameter is ``declared`` to hold, each unknown text in it as one that the parameter brings in."""

    def name(value: Value) -> Value:
        if value is TEXT:
            return ParameterText(param=param, inside=depth < MOST_WITHIN)
        if depth and isinstance(value, Container):
            return value.each_changed(lambda part: named(part, param, depth - 1))
        return value

    return over(declared, name)


def parameters_in(value: Value) -> frozenset[Param]:
    """The parameters whose texts stand in ``value``."""
    params: set[Param] = set()
    visited: set[Value] = set()
    parts = [value]
    while parts:
        part = parts.pop()
        if isinstance(part, ParameterText):
            params.add(part.param)
        elif isinstance(part, (UnionOf, Text, Container)) and part not in visited:
            visited.add(part)
            parts += _parts(part)
    return frozenset(params)


def _parts(value: UnionOf | Text | Container) -> Iterator[Value]:
    if isinstance(value, UnionOf):
        yield from value.options
    elif isinstance(value, Container):
        yield from value.values()
    else:
        yield from (part.value for part in value.parts or () if isinstance(part, Interpolation))


def with_arguments(evaluator: Evaluator, value: Value, arguments: Mapping[Param, Value], site: Site) -> Value:
    """``value`` with the texts that the call at ``site`` gives in the place of those of its parameters."""
    evaluator.step(1 + value.size // 16)
    return _Substitution(evaluator, arguments, site).of(value)


class _Substitution:
    def __init__(self, evaluator: Evaluator, arguments: Mapping[Param, Value], site: Site) -> None:
        self.evaluator = evaluator
        self.arguments = arguments
        self.site = site
        self.results: dict[Value, Value] = {}

    def of(self, value: Value) -> Value:
        if isinstance(value, ParameterText):
            return self._argument(value)
        if not isinstance(value, (UnionOf, Text, Container)):
            return value
        if value not in self.results:
            self.results[value] = self._of(value)
        return self.results[value]

    def _of(self, value: UnionOf | Text | Container) -> Value:
        if isinstance(value, UnionOf):
            changed = [self.of(option) for option in value.options]
            return value if are_same(changed, value.options) else join(*changed)
        if isinstance(value, SerialisedText):
            return value.holding(self.of(value.value))
        if isinstance(value, Container):
            return value.each_changed(self.of)
        parts = [piece for part in value.parts or () for piece in self._pieces(part)]
        if value.parts is None or is_alike(parts, value.parts):
            return value
        return formatting.serialised_alone(formatting.assembled(self.evaluator, parts, self.site), self.site)

    def _pieces(self, part: Literal | Interpolation) -> tuple[Literal | Interpolation, ...]:
        if isinstance(part, Literal):
            return (part,)
        value = self.of(part.value)
        if value is part.value:
            return (part,)
        # What is written by the helper itself stays there; what comes in by different calls is different.
        is_own = any(isinstance(option, Number) for option in options(part.value))
        site, path = (part.site, part.path) if is_own else (self.site, ())
        return pieces(value, site, part.spec or None, path)

    def _argument(self, text: ParameterText) -> Value:
        argument = self.arguments.get(text.param)
        if argument is None:
            return text
        texts = list(_texts(argument, MOST_WITHIN if text.inside else 0))
        return join(*texts) if texts else TEXT


def _is_code(text: Text) -> bool:
    """Whether it is one word that is written out: a name or a code (``"10-K"``, ``"1y"``), which states no number."""
    literal = text.literal
    return literal is not None and literal.isascii() and len(literal.split()) < 2


def _texts(value: Value, depth: int) -> Iterator[Value]:
    """The texts that an argument is, or holds ``depth`` containers deep."""
    for option in options(value):
        if isinstance(option, Text):
            yield TEXT if _is_code(option) else option
        elif depth and isinstance(option, Container) and option.size <= MOST_LOOKED_THROUGH:
            for part in option.values():
                yield from _texts(part, depth - 1)
