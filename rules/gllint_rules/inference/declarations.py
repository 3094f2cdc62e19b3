"""The unit that a parameter or a field declares next to its type: ``Annotated[float, Unit("m3/s")]``, ``Field(…)``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gllint_rules.inference.values import Frame, Record, literal_of
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Expr

if TYPE_CHECKING:
    from gllint_rules.inference.protocol import Evaluator

DECLARING = ("x-unit", "unit", "units", "x-units", "ucumUnit", "currency")
"""The keywords by which a schema, a field or its metadata declares a unit."""

_EXTRAS = ("json_schema_extra", "metadata")
_UNIT = "Unit"


def declared_unit(
    evaluator: Evaluator, annotation: Expr | None, value: Expr | None, frame: Frame
) -> str | None:
    """The unit that the annotation of a parameter or field declares, or the call that gives its default."""
    for call in declaring_calls(annotation, value):
        if facts.last_name(call.func) == _UNIT and isinstance(call.func, (facts.Name, facts.Attr)):
            symbol = call.keyword("symbol") or (call.args[0] if call.args else None)
            unit = literal_of(evaluator.eval(symbol, frame)) if symbol is not None else None
        else:
            unit = unit_of_call(evaluator, call, frame)
        if unit:
            return unit
    return None


def declaring_calls(annotation: Expr | None, value: Expr | None) -> Iterator[facts.Call]:
    """The calls that say more of a parameter or field than its type."""
    parts: tuple[Expr, ...] = ()
    match annotation:
        case facts.Sub(base=base, index=facts.Seq(items=items)) if facts.last_name(base) == "Annotated":
            parts = items[1:]
    for part in (value, *parts):
        if isinstance(part, facts.Call):
            yield part


def unit_of_call(evaluator: Evaluator, call: facts.Call, frame: Frame) -> str | None:
    """The unit in ``Field(json_schema_extra={"x-unit": "kWh"})`` or ``field(metadata=…)``."""
    for keyword in _EXTRAS:
        value = call.keyword(keyword)
        record = evaluator.eval(value, frame) if value is not None else None
        if isinstance(record, Record):
            for name in DECLARING:
                unit = literal_of(record.get(name)) if name in record.entries else None
                if unit:
                    return unit
    return None
