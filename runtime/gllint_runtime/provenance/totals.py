"""Amounts that an agent works out over what its own call names: the prices of its items, times their pieces.

Any number is the sum of some two among a thousand. So only this counts: the same number of every item that one list of
the arguments names (``[{"item": "A-7"}, {"item": "B-2"}]``: the price of A-7 and that of B-2), times how many of them
are wanted, and for how many persons.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice, product
from typing import Any, NamedTuple

from gllint_runtime.policy.schemas import Path
from gllint_runtime.provenance.index import Index
from gllint_runtime.provenance.records import Record, Source

_MOST_ITEMS = 12  # of a list, and persons
_MOST_COLUMNS = 200  # numbers of one thing
_MOST_TRIED = 2_000  # totals that are worked out for one call
_SLACK = 1e-9

Columns = Mapping[tuple[str, str], Source]


class Total(NamedTuple):
    """One number of each of several things, how many pieces of each are wanted, and for how many persons."""

    sources: Sequence[Source]
    weights: Sequence[int]
    times: int

    @property
    def value(self) -> float:
        """What it comes to."""
        pairs = zip(self.sources, self.weights, strict=True)
        return self.times * sum(float(source.value) * weight for source, weight in pairs)

    def __str__(self) -> str:
        parts = [
            f"{source.call_id} {source.shown_path}" + (f" × {weight}" if weight != 1 else "")
            for source, weight in zip(self.sources, self.weights, strict=True)
        ]
        return " + ".join(parts) + (f", {self.times} times" if self.times > 1 else "")


def total_of(index: Index, arguments: Mapping[str, Any], path: Path, value: float) -> Total | None:
    """The total of the items of a call that a number at ``path`` of its arguments is."""
    for total in islice(_totals(index, arguments, path), _MOST_TRIED):
        # A number of pieces is not made of itself, at a price of 1.
        if value not in total.weights and abs(total.value - value) <= _SLACK * max(1.0, abs(value)):
            return total
    return None


def _totals(index: Index, arguments: Mapping[str, Any], path: Path) -> Iterator[Total]:
    lists = [*_lists(arguments)]
    for place, items in [((), [arguments]), *lists]:
        if len(items) > _MOST_ITEMS or (place and place == path[: len(place)]):
            continue
        tables = [_columns(index, item) for item in items]
        if not all(tables):
            continue
        times = [
            1,
            *(len(others) for other, others in lists if other != place and 1 < len(others) <= _MOST_ITEMS),
        ]
        for column in tables[0]:
            sources = [table[column] for table in tables if column in table]
            if len(sources) == len(tables):
                for weights, count in product(_weights(items, path if not place else ()), times):
                    if len(items) > 1 or count > 1 or weights != [1]:
                        yield Total(sources, weights, count)


def _weights(items: Sequence[Any], path: Path) -> list[list[int]]:
    """How many pieces of each item are wanted, by each of the numbers that all of them have."""
    weights = [[1] * len(items)]
    if isinstance(items[0], Mapping):
        for key, number in items[0].items():
            if type(number) is int and (key,) != path:
                pieces = [item.get(key) if isinstance(item, Mapping) else None for item in items]
                counts = [piece for piece in pieces if type(piece) is int and piece > 0]
                if len(counts) == len(items):
                    weights.append(counts)
    return weights


def _lists(node: Any, path: Path = ()) -> Iterator[tuple[Path, Sequence[Any]]]:
    """The lists of a call's arguments, with their places."""
    if len(path) > _MOST_ITEMS:
        return
    if isinstance(node, Mapping):
        for key, value in node.items():
            yield from _lists(value, (*path, key))
    elif isinstance(node, list) and node:
        yield path, node
        for number, value in enumerate(node):
            yield from _lists(value, (*path, number))


def _columns(index: Index, item: Any) -> Columns:
    """The numbers of the things that an item names by a code, by the kind of record and the key."""
    texts = item.values() if isinstance(item, Mapping) else (item,)
    records = chain.from_iterable(
        (code.record for code in reversed(index.codes(text)[-_MOST_ITEMS:]) if code.record is not None)
        for text in texts
        if isinstance(text, str) and 2 < len(text) <= 100 and any(map(str.isdecimal, text))
    )
    sources = (source for record in records for source in _values(record))
    return {
        (source.record.group, source.key): source
        for source in islice(sources, _MOST_COLUMNS)
        if source.record
    }


def _values(record: Record) -> Iterator[Source]:
    yield from record.values.values()
    for part in record.parts:
        yield from _values(part)
