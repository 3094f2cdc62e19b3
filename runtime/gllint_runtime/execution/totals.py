"""Amounts that an agent works out over what its own call names: the prices of its items, and what is left of a total.

Any number is the sum of some two among a thousand. So only this counts: the same number of every item that one list of
the arguments names (``[{"item": "A-7"}, {"item": "B-2"}]``: the price of A-7 and that of B-2), times how many of them
are wanted; and what remains of such a total, or of one that is known, once the other amounts of the list are taken off.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from itertools import islice, product
from typing import Any, NamedTuple

from gllint_runtime.execution.record import CallRecord
from gllint_runtime.execution.spoken import as_argument
from gllint_runtime.policy.schemas import Path, show_path

Source = tuple[str, str | None, bool]

_MAX_OBJECTS = 50_000  # whose names are remembered: those that were recorded last
_MAX_NUMBERS = 40  # of one object
_MAX_NAMES = 12
_DEPTH = 3  # of the objects in which they are
_MAX_READINGS = 4  # objects of one name: those that were recorded last
_MAX_ITEMS = 12  # of a list
_MAX_TRIED = 2_000  # totals that are worked out for one call
_MAX_PIECES = 10_000
_MAX_COMBINED = 64  # choices of an object for each item
_LEAST = 3  # characters of a name
_NUMERIC = frozenset({int, float})


class _Thing(NamedTuple):
    """An object of an output, by the path of each of its numbers in it."""

    record: CallRecord
    path: Path
    numbers: Mapping[Path, float]


class _Total(NamedTuple):
    """One number of each of several objects, how many pieces of each are wanted, and for how many."""

    things: Sequence[_Thing]
    place: Path
    weights: Sequence[int]
    times: int

    @property
    def value(self) -> Fraction:
        parts = zip(self.things, self.weights, strict=True)
        return self.times * sum(
            (Fraction(str(thing.numbers[self.place])) * weight for thing, weight in parts), Fraction(0)
        )

    @property
    def source(self) -> Source:
        parts = [
            f"{thing.record.call_id} {show_path((*thing.path, *self.place))}"
            + (f" × {weight}" if weight != 1 else "")
            for thing, weight in zip(self.things, self.weights, strict=True)
        ]
        text = " + ".join(parts) + (f", {self.times} times" if self.times > 1 else "")
        return "tool", text, all(thing.record.grounded is not False for thing in self.things)


class Totals:
    """The objects of outputs by the names that they bear."""

    def __init__(self) -> None:
        self._unread: list[CallRecord] = []
        self._things: dict[str, deque[_Thing]] = {}
        self._names: deque[str] = deque()

    def learn(self, record: CallRecord) -> None:
        """Remember an output; it is read when a total is first looked for."""
        self._unread.append(record)

    def origin(
        self,
        arguments: Mapping[str, Any],
        path: Path,
        value: float,
        known: Callable[[Any], Source | None],
        memory: dict[str, dict[Fraction, _Total]],
    ) -> Source | None:
        """Of what a number at ``path`` of a call's arguments is the total, or the rest.

        ``known`` says where a number came from that is no total. ``memory`` is for all numbers of one call.
        """
        wanted = Fraction(str(value))
        name = next((step for step in reversed(path) if type(step) is str), "")
        totals = memory.get(name)
        if totals is None:
            totals = {}
            for total in islice(self._of_call(arguments, name), _MAX_TRIED):
                totals.setdefault(total.value, total)
            memory[name] = totals
        if wanted in totals:
            return totals[wanted].source
        rest = _rest(arguments, path, known)
        if not rest:
            return None
        whole = totals.get(wanted + rest)
        source = known(as_argument(wanted + rest)) if whole is None else whole.source
        return source and _less(source, rest)

    def _of_call(self, arguments: Mapping[str, Any], wanted: str) -> Iterator[_Total]:
        for record in self._unread:
            self._read(record)
        self._unread.clear()
        if not self._things:
            return
        lists = [*_lists(arguments), [arguments]]
        for items in lists:
            if len(items) <= _MAX_ITEMS:
                # For how many, say passengers: as many as another list has.
                others = {len(other) for other in lists if other is not items and len(other) <= _MAX_ITEMS}
                yield from self._of_items(items, sorted({1, *others}), wanted)

    def _of_items(self, items: Sequence[Any], counts: Sequence[int], wanted: str) -> Iterator[_Total]:
        """The totals over the items of one list: each must name an object, and all of these have the number.

        ``wanted`` is the name of the amount that is looked for, which is no number of pieces.
        """
        candidates = [self._named(item) for item in items]
        amounts = [_amounts(item) for item in items]
        names = [None, *sorted(set(amounts[0]).intersection(*amounts[1:]) - {wanted})]
        for things in islice(product(*candidates), _MAX_COMBINED):
            paths = set(things[0].numbers).intersection(*(thing.numbers for thing in things[1:]))
            for place in sorted(paths, key=str):
                for name in names:
                    weights = [1 if name is None else amount[name] for amount in amounts]
                    for count in counts:
                        # The number itself, which is known as such; and of a price of 1 the number of pieces, of which
                        # nobody else may know anything.
                        single = count if name is None else count * things[0].numbers[place]
                        if len(items) > 1 or single != 1:
                            yield _Total(things, place, weights, count)

    def _named(self, item: Any) -> list[_Thing]:
        """The objects that an item of a list names, the last first."""
        texts = [item] if type(item) is str else _texts(item) if type(item) is dict else []
        things = [thing for text in texts for thing in reversed(self._things.get(text, ()))]
        return [*{(thing.record.call_id, thing.path): thing for thing in things}.values()][:_MAX_READINGS]

    def _read(self, record: CallRecord) -> None:
        for path, node, keys in _objects(record.output.data, ()):
            numbers = dict(islice(_numbers(node, (), _DEPTH), _MAX_NUMBERS))
            if numbers:
                thing = _Thing(record, path, numbers)
                for name in {*keys, *_texts(node)}:
                    self._things.setdefault(name, deque(maxlen=_MAX_READINGS)).append(thing)
                    self._names.append(name)
        while len(self._names) > _MAX_OBJECTS:
            self._things.pop(self._names.popleft(), None)


def _rest(arguments: Mapping[str, Any], path: Path, known: Callable[[Any], Source | None]) -> Fraction | None:
    """The sum of the other amounts of a list, each with an origin: ``[{"amount": 250}, {"amount": 5}]``."""
    place = next((i for i in reversed(range(len(path))) if type(path[i]) is int), None)
    if place is None:
        return None
    steps = path[place + 1 :]
    items: Any = reduce(_at, path[:place], arguments)
    if not 1 < len(items) <= _MAX_ITEMS:
        return None
    total = Fraction(0)
    for number, item in enumerate(items):
        if number == path[place]:
            continue
        try:
            other = reduce(_at, steps, item)
        except (KeyError, IndexError, TypeError):
            return None
        if type(other) not in _NUMERIC:
            return None
        source = known(other) if other else None
        if other and (source is None or not source[2]):
            return None
        total += Fraction(str(other))
    return total


def _at(node: Any, step: str | int) -> Any:
    return node[step]


def _less(source: Source, rest: Fraction) -> Source:
    kind, text, grounded = source
    return kind, f"{text or 'the whole'} less {as_argument(rest)}", grounded


def _lists(node: Any, depth: int = _DEPTH) -> Iterator[list[Any]]:
    """The lists of a call's arguments, at any depth that people write."""
    inner = node.values() if type(node) is dict else node if type(node) is list else ()
    if type(node) is list and node:
        yield node
    for item in inner if depth else ():
        if type(item) is dict or type(item) is list:
            yield from _lists(item, depth - 1)


def _texts(node: Mapping[str, Any]) -> list[str]:
    """The texts of an object that may name it: they hold a digit, as its number or its code does."""
    texts = [text for text in node.values() if type(text) is str and _may_name(text)]
    return texts[:_MAX_NAMES]


def _may_name(text: str) -> bool:
    return _LEAST <= len(text) <= 100 and any(map(str.isdigit, text))


def _amounts(item: Any) -> dict[str, int]:
    """How many pieces of an item may be wanted: its own whole numbers, by their names."""
    numbers = item.items() if type(item) is dict else ()
    return {key: n for key, n in numbers if type(n) is int and 0 < n <= _MAX_PIECES}


def _objects(
    node: Any, path: Path, name: str | None = None
) -> Iterator[tuple[Path, dict[str, Any], list[str]]]:
    """The objects of an output, with the key that each stands under where that may be its name."""
    if type(node) is dict:
        if "unit" not in node:
            yield path, node, [name] if name is not None and _may_name(name) else []
        for key, inner in node.items():
            if type(inner) is dict or type(inner) is list:
                yield from _objects(inner, (*path, key), key)
    elif type(node) is list:
        for place, inner in enumerate(node):
            if type(inner) is dict or type(inner) is list:
                yield from _objects(inner, (*path, place))


def _numbers(node: Mapping[str, Any], path: Path, depth: int) -> Iterator[tuple[Path, float]]:
    """The numbers of an object and of the objects in it; of a Quantity its number."""
    for key, inner in node.items():
        kind = type(inner)
        if kind is int or kind is float:
            yield (*path, key), inner
        elif kind is dict and type(number := inner.get("value")) in _NUMERIC and "unit" in inner:
            yield (*path, key), number
        elif kind is dict and depth:
            yield from _numbers(inner, (*path, key), depth - 1)
