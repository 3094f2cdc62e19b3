"""The operations of a trace in the order of what was said: each begins with its input and ends with its output."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple

from gllint_runtime.audit.table import first, parsed, plain_item, table

_MAX_DEPTH = 60


class Span(NamedTuple):
    """An operation: what was recorded of it, its own id and that of the one that asked for it, and what it is."""

    item: Mapping[str, Any]
    id: str
    parent: str
    kind: str  # "tool", "model", "silent" or "other"


def spans_in(item: Any) -> Iterator[Span]:
    """Yield the operations in an item, those within it included."""
    return _spans_in(item, "", 0, count())


def _spans_in(item: Any, parent: str, depth: int, numbers: Iterator[int]) -> Iterator[Span]:
    if isinstance(item, list):
        for inner in item:
            yield from _spans_in(inner, parent, depth + 1, numbers)
    if not isinstance(item, Mapping) or depth > _MAX_DEPTH:
        return
    names = table().span
    plain = plain_item(item)
    # One without an id gets a number, so that what is in it has a parent, too.
    own = _text(first(plain, names["id"])) or f"#{next(numbers)}"
    is_span = any(first(plain, names[name]) is not None for name in ("input", "output", "kind", "events"))
    if is_span or "attributes" in item:
        yield Span(plain, own, _text(first(plain, names["parent"])) or parent, kind_of(plain))
    for key in names["children"]:
        inside = own if is_span or "attributes" in item else parent
        yield from _spans_in(item.get(key), inside, depth + 1, numbers)


def kind_of(item: Mapping[str, Any]) -> str:
    """Return the kind of an operation."""
    names, kinds = table().span, table().kinds
    if first(item, ("gen_ai.tool.name", "ai.toolCall.name")) is not None:
        return "tool"
    for place in names["kind"]:
        text = first(item, (place,))
        if isinstance(text, str):
            text = parsed(text) if text[:1] == '"' else text
            if (kind := kinds.get(str(text).lower())) is not None:
                return kind
    return "other"


def trace_of(item: Mapping[str, Any]) -> str:
    """Return the id of the trace that an operation is of."""
    return _text(first(item, table().span["trace"]))


def in_order(spans: Sequence[Span]) -> Iterator[tuple[Span, bool, bool]]:
    """Yield each operation twice: ``(span, False, is_root)`` for its input, ``(span, True, is_root)`` for
    its output.
    """
    by_id: dict[str, Span] = {}
    # One that an exporter sent twice counts once. Two without an id may be two.
    spans = [
        span
        for span in spans
        if (original := by_id.setdefault(span.id, span)) is span or original != span or span.id[0] == "#"
    ]
    children: dict[str, list[Span]] = {}
    roots = []
    for span in spans:
        if span.parent in by_id and by_id[span.parent] is not span:
            children.setdefault(span.parent, []).append(span)
        else:
            roots.append(span)
    # With neither parents nor a beginning, an operation comes when it ends.
    waiting = [(span, False, True) for span in sorted(roots, key=_moment)[::-1]]
    visits: set[int] = set()
    while waiting:
        span, is_end, is_root = waiting.pop()
        yield span, is_end, is_root
        if is_end or id(span) in visits:
            continue
        visits.add(id(span))
        waiting.append((span, True, is_root))
        # What asks for others without saying anything itself is no root.
        is_inner = not is_root or _says(span)
        inner = sorted(children.get(span.id, ()), key=_moment)
        waiting += [(child, False, not is_inner) for child in inner[::-1]]
    yield from ((span, is_end, False) for span in spans if id(span) not in visits for is_end in (False, True))


def _says(span: Span) -> bool:
    names = table().span
    return any(first(span.item, names[name], is_full=True) is not None for name in ("input", "output"))


def _moment(span: Span) -> tuple[bool, float, str]:
    """Return a sort key: spans with a time first, by number or else as ISO text; those without one last."""
    names = table().span
    for name in ("start", "end"):
        value = first(span.item, names[name])
        if value is not None and not isinstance(value, (bool, Mapping, list)):
            try:
                return False, float(value), ""
            except (ValueError, OverflowError):
                return False, 0.0, str(value)
    return True, 0.0, ""


def _text(value: Any) -> str:
    return str(value)[:200] if isinstance(value, (str, int)) and not isinstance(value, bool) else ""
