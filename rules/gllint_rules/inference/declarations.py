"""The unit that a parameter or a field declares next to its type: ``Annotated[float, Unit("m3/s")]``, ``Field(…)``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gllint_rules.inference.aliases import alias_binding
from gllint_rules.inference.values import Frame, FunctionOf, Record, literal_of
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Expr

if TYPE_CHECKING:
    from gllint_rules.inference.protocol import Evaluator

DECLARING = ("x-unit", "unit", "units", "x-units", "ucumUnit", "currency")
"""The keywords by which a schema, a field or its metadata declares a unit."""

_EXTRAS = ("json_schema_extra", "metadata")
_UNIT = "Unit"
_MOST_ALIASES = 5  # within each other


def declared_unit(
    evaluator: Evaluator, annotation: Expr | None, value: Expr | None, frame: Frame
) -> str | None:
    """Return the unit that the annotation of a parameter or field declares, or the call that gives its default."""
    for call, home in declarations(evaluator, annotation, value, frame):
        if facts.last_name(call.func) == _UNIT and isinstance(call.func, (facts.Name, facts.Attr)):
            symbol = call.keyword("symbol") or (call.args[0] if call.args else None)
            unit = literal_of(evaluator.eval(symbol, home)) if symbol is not None else None
        else:
            unit = unit_of_call(evaluator, call, home)
        if unit:
            return unit
    return None


def declarations(
    evaluator: Evaluator, annotation: Expr | None, value: Expr | None, frame: Frame, depth: int = 0
) -> Iterator[tuple[facts.Call, Frame]]:
    """Yield the calls that may declare a unit, each with the frame to read it in: ``Unit("kWh")``, ``Field(…)``.

    Aliases in the annotation (``Energy | None``) and functions that return a ``Field(…)`` are followed.
    """
    for call in declaring_calls(annotation, value):
        yield call, frame
    if depth > _MOST_ALIASES:
        return
    if isinstance(value, facts.Call) and facts.last_name(value.func).lower() != "field":
        maker = evaluator.eval(value.func, frame)
        if isinstance(maker, FunctionOf):
            home = Frame(maker.module, maker.function.scope)
            for returned, _ in evaluator.flow(maker).returns:
                yield from declarations(evaluator, None, returned, home, depth + 1)
    parts: tuple[Expr, ...] = ()
    match annotation:
        case facts.BinOp(op="|", left=left, right=right):
            parts = left, right
        case facts.Sub(base=base, index=index) if facts.last_name(base) in ("Optional", "Union", "Annotated"):
            parts = index.items if isinstance(index, facts.Seq) else (index,)
        case facts.Name() | facts.Attr() if (
            alias := alias_binding(evaluator, annotation, frame)
        ) is not None:
            binding, frame = alias
            parts = (binding.value,) if binding.value is not None else ()
    for part in parts:
        yield from declarations(evaluator, part, None, frame, depth + 1)


def declaring_calls(annotation: Expr | None, value: Expr | None) -> Iterator[facts.Call]:
    """Yield the calls in ``Annotated[float, Unit("kWh")]`` and in the default ``Field(…)``."""
    parts: tuple[Expr, ...] = ()
    match annotation:
        case facts.Sub(base=base, index=facts.Seq(items=items)) if facts.last_name(base) == "Annotated":
            parts = items[1:]
    for part in (value, *parts):
        if isinstance(part, facts.Call):
            yield part


def unit_of_call(evaluator: Evaluator, call: facts.Call, frame: Frame) -> str | None:
    """Return the unit in ``Field(json_schema_extra={"x-unit": "kWh"})`` or ``field(metadata=…)``."""
    for keyword in _EXTRAS:
        value = call.keyword(keyword)
        record = evaluator.eval(value, frame) if value is not None else None
        if isinstance(record, Record):
            for name in DECLARING:
                unit = literal_of(record.get(name)) if name in record.entries else None
                if unit:
                    return unit
    return None
