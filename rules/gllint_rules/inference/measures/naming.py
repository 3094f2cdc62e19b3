"""What a name is given, and what it says itself."""

from __future__ import annotations

from gllint_rules.inference.measures.arithmetic import fit, unit_relation
from gllint_rules.inference.measures.meanings import (
    Factor,
    Fields,
    Meaning,
    Measure,
    PercentOf,
    Places,
    join,
    joined,
    measure_of_name,
    with_readings,
)
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Expr
from gllint_runtime.policy.names import is_unit_itself, name_words
from gllint_runtime.policy.unit_sizes import converted, factors_of_unit, product

_PERCENT = (factors_of_unit("%"),)
_MOST_NAMES = 32  # in a row, each of which is looked up as the variable that it may be


def stored(name: str, meaning: Meaning, value: Expr | None) -> Meaning:
    """What a variable holds that is given a value: what that is, and where this is open, what the name says."""
    announced = announced_by(name)
    if announced is None:
        return meaning
    match meaning:
        case None | PercentOf():
            return None if is_no_number(value) else announced
        case Measure():
            return _agreed(announced, meaning)
        case Fields(entries=entries):
            return meaning if any(isinstance(entry, Measure) for entry in entries.values()) else announced
        case Places(items=items):
            return meaning if any(isinstance(item, Measure) for item in items) else announced
        case Factor(value=literal):
            return meaning if _is_size(name, announced, literal) else announced
        case _:
            return meaning


def announced_by(name: str) -> Measure | None:
    """The number whose unit the name of a variable or an attribute says; one that is a unit itself says none."""
    return None if is_unit_itself(name) else measure_of_name(name)


def _is_size(name: str, announced: Measure, literal: float | None) -> bool:
    """Whether a name that is a unit, and no more, is given how many of another one that is: ``minutes = 60``."""
    return (
        literal is not None
        and literal != 1
        and len(name_words(name)) == 1
        and any(converted(unit, abs(literal)) is not None for unit in announced.readings)
    )


def _agreed(announced: Measure, measure: Measure) -> Meaning:
    """A measured value under a name that says a unit, too."""
    match fit(announced, measure, are_absolute=False):
        case "same":
            readings = [
                unit
                for unit in announced.readings
                if any(unit_relation(unit, other, False) == "same" for other in measure.readings)
            ]
            is_loose = measure.loose and announced.loose  # a name that agrees settles it
            return Measure(tuple(readings), is_loose, measure.is_difference, measure.is_whole)
        case "size" if not measure.loose:
            return measure
        case "size":
            return join(announced, measure)
        case "dimension" if (bare := _without_a_year(announced, measure)) is not None:
            return bare
        case None if measure.is_whole and measure.readings == ((),) and announced.readings == _PERCENT:
            # `used_pct = used / total` is no percentage; of what is counted it may be one of each.
            return join(announced, measure) if measure.loose else measure
        case _:
            return announced


def _without_a_year(announced: Measure, measure: Measure) -> Measure | None:
    """What a year's number is under a name that leaves the year out: `heat_mwh = power_kw * HOURS_PER_YEAR`."""
    year = factors_of_unit("year")
    bare = with_readings(
        (
            *measure.readings,
            *(product((unit, 1), (year, 1)) for unit in measure.readings if ("year", -1) in unit),
        ),
        measure.loose,
        is_whole=measure.is_whole,
    )
    return bare if bare is not None and bare != measure and fit(announced, bare) == "size" else None


def path(expr: Expr) -> str:
    """``a.b.c`` of a chain of names, by which it is a variable; ``""`` of anything else, and of an endless one."""
    names: list[str] = []
    while isinstance(expr, facts.Attr) and len(names) < _MOST_NAMES:
        names.append(expr.name)
        expr = expr.base
    return ".".join([expr.id, *reversed(names)]) if isinstance(expr, facts.Name) else ""


def is_no_number(value: Expr | None) -> bool:
    """Whether an expression is written out as something else than a number."""
    match value:
        case facts.Const(value=constant):
            return isinstance(constant, (str, bytes, bool)) or constant is None
        case facts.Join() | facts.Lambda() | facts.Compare():
            return True
        case _:
            return False


def place(meaning: Meaning, index: int, count: int) -> Meaning:
    """The part of what is unpacked that one of ``count`` names gets."""
    match meaning:
        case Places(items=items):
            return items[index] if len(items) == count else joined(items)
        case Measure():
            return meaning
        case _:
            return None
