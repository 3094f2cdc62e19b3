"""Numbers that one formula makes of each row: clicks by impressions, revenue less cost, miles per gallon.

Of one row any number of two digits is some pair's ratio. So a formula counts where it makes the numbers of two rows or
more, or one of three digits in a row of few values, of four in others; one less next to a word of a key that it uses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import permutations
from typing import NamedTuple

from gllint_runtime.policy.reader import Reading
from gllint_runtime.policy.text_units import base_of_unit, size_of_unit
from gllint_runtime.provenance.derivation import (
    CHANGE,
    DIFFERENCE,
    PRODUCT,
    QUOTIENT,
    SHARE,
    Judgement,
    Operation,
    is_clock,
    is_counted,
    is_no_sum,
    unit_factor,
)
from gllint_runtime.provenance.findings import Derivation, Finding
from gllint_runtime.provenance.index import latest_of
from gllint_runtime.provenance.records import Record, Source

_MOST_FINDINGS = 100
_MOST_VALUES = 14  # of one row
_FEW_VALUES = 4
_MOST_RECORDS = 3  # that a text may mean, each tried
_MOST_MEANT = 400  # with their parts
_SIZES = (100.0, 1000.0, 60.0)  # of what a rate is for: per 100 km, per thousand, per minute

Pair = tuple[tuple[str, Source], tuple[str, Source]]
Formula = tuple[str, str, str, float]  # the operation, its two keys, and the size


SUM = Operation("total", lambda a, b: a + b, lambda a, low, high: (low - a, high - a))
MEAN = Operation("mean", lambda a, b: (a + b) / 2, lambda a, low, high: (2 * low - a, 2 * high - a))
_SYMMETRIC = (SUM, MEAN, PRODUCT)


class _Side(NamedTuple):
    """One of the two values that are compared, which the text does not show."""

    sources: tuple[Source, ...]
    at: int = -1


class Fit(NamedTuple):
    """A number that a formula makes of the values of one row."""

    finding: Finding
    record: Record
    derivation: Derivation
    has_word: bool
    width: int  # how many values the row has


def derived_by_row(findings: Iterable[Finding], judgement: Judgement) -> Iterator[tuple[Finding, Derivation]]:
    """The numbers that a formula makes of the row that the text names for each, with what they are made of."""
    fits: dict[Formula, list[Fit]] = {}
    for finding in [*findings][:_MOST_FINDINGS]:
        reading = finding.reading
        if reading.shape != "number" or not reading.renderings or not reading.value:
            continue
        rows = [*_rows_of(reading, judgement)]
        tables = [_values(record, record.group) for record in rows]
        pairs: list[tuple[Record, Iterable[Pair]]] = [
            (record, permutations(table.items(), 2)) for record, table in zip(rows, tables, strict=True)
        ]
        pairs += [
            (record, _of_one_key(table, other))
            for (record, table), (twin, other) in permutations(zip(rows, tables, strict=True), 2)
            if record.group == twin.group and not {*record.names}.isdisjoint(twin.names)
        ]
        for record, table in zip(rows, tables, strict=True):
            if (whole := _whole(reading, record, table)) is not None:
                fits.setdefault(("total", "", "", 1.0), []).append(
                    Fit(finding, record, whole, False, len(table))
                )
        for record, candidates in pairs:
            width = len(tables[rows.index(record)])
            for formula, fit in _fits(finding, record, candidates, width, judgement):
                fits.setdefault(formula, []).append(fit)
    done: set[Finding] = set()
    for formula, several in sorted(fits.items(), key=lambda own: -len({fit.record for fit in own[1]})):
        for fit in several:
            if fit.finding not in done and _is_telling(formula, fit, several):
                done.add(fit.finding)
                yield fit.finding, fit.derivation


def _is_telling(formula: Formula, fit: Fit, several: Sequence[Fit]) -> bool:
    digits = max(element.digits for element in fit.finding.reading.renderings)
    if len({other.record for other in several}) > 1 and len({other.finding for other in several}) > 1:
        return (
            sum(len(str(other.finding.reading.value).strip("0.-").replace(".", "")) for other in several) > 3
        )
    least = (
        3 if fit.width <= _FEW_VALUES else 4
    )  # of eight values some pair makes one in twenty numbers of three digits
    return formula[3] not in _SIZES and digits >= least - fit.has_word


def _rows_of(reading: Reading, judgement: Judgement) -> Iterator[Record]:
    """The rows that the text names for a number: of each list those that the nearest stretch names."""
    visited: set[str] = set()
    for scope in reading.place.scopes:
        for group, records in judgement.named(scope).items():
            if group not in visited:
                visited.add(group)
                several = latest_of(records, _MOST_MEANT)
                rows = dict.fromkeys(row for record in several if (row := _row_of(record)) is not None)
                yield from rows if len(rows) <= _MOST_RECORDS else ()


def _row_of(record: Record) -> Record | None:
    """The item of a list that a record is, or is a part of."""
    return next((element for element in record.chain if element.group.endswith(("[*]", ".*", " line"))), None)


def _values(record: Record, group: str) -> dict[str, Source]:
    """The numbers of a row and of what it contains, with a name for each that is the same in all rows."""
    values = {
        f"{record.group.removeprefix(group)}.{key}": source
        for key, source in record.values.items()
        if source.kind not in ("identifier", "index") and source.value
    }
    for part in record.parts:
        if "[*]" not in part.group.removeprefix(group):
            values |= _values(part, group)
    return values if len(values) <= _MOST_VALUES else {}


def _whole(reading: Reading, record: Record, table: Mapping[str, Source]) -> Derivation | None:
    """The sum of all amounts in one unit that a row has directly, where it has three or more."""
    values = [source for source in table.values() if source.record is record and not is_no_sum(source.units)]
    units = {source.units for source in values}
    if len(values) < 3 or len(units) > 1 or unit_factor(values[0].units, reading.units) != 1.0:
        return None
    total = sum(float(source.value) for source in values)
    is_shown = any(element.fits(total) for element in reading.renderings)
    return Derivation("total", tuple(values), total, values[0].units) if is_shown else None


def _of_one_key(table: Mapping[str, Source], other: Mapping[str, Source]) -> Iterator[Pair]:
    """The values that two rows of one name, as of two months, have under one key."""
    for name, source in table.items():
        if name in other:
            yield (name, source), (f"other {name}", other[name])


def _fits(
    finding: Finding,
    record: Record,
    pairs: Iterable[Pair],
    width: int,
    judgement: Judgement,
) -> Iterator[tuple[Formula, Fit]]:
    reading = finding.reading
    scopes = [span for scope in (*reading.place.scopes[:2], (reading.place.clause,)) for span in scope]
    words = {word for span in scopes for word in reading.place.layout.words_in(span)}
    for (name, a), (other, b) in pairs:
        for operation, size, units in _operations(reading, a, b):
            if operation in _SYMMETRIC and name > other:
                continue
            value = operation.result(float(a.value), float(b.value)) * size
            if _is_shown(reading, value, operation, judgement, a, b):
                has_word = not words.isdisjoint({*a.stem, *b.stem})
                derivation = Derivation(operation.how, (a, b), value, units)
                yield (operation.how, name, other, size), Fit(finding, record, derivation, has_word, width)


def _is_shown(
    reading: Reading, value: float, operation: Operation, judgement: Judgement, a: Source, b: Source
) -> bool:
    """Whether a value would be shown as a number is, with the sign that its mark or its words give it."""
    if operation not in (CHANGE, DIFFERENCE) or reading.is_signed or reading.has_plus:
        return any(element.fits(value) for element in reading.renderings)
    if not any(element.fits(abs(value)) for element in reading.renderings):
        return False
    way = judgement.direction(reading)
    if way not in ("up", "down"):
        return True
    is_subject = judgement.directions.is_subject(judgement, reading, _Side((a,)), _Side((b,)))
    return is_subject is not None and ((value > 0) == is_subject) == (way == "up")


def _operations(reading: Reading, a: Source, b: Source) -> Iterator[tuple[Operation, float, tuple[str, ...]]]:
    """Yield the operations on two values that may make a number in the unit of ``reading``.

    Each is an operation, a size and the unit of its result; the number is the result times the size. "5 kWh more", of
    8,000 Wh and 3,000 Wh → (DIFFERENCE, 0.001, ("Wh",)).
    """
    units = reading.units
    are_like = not a.units or not b.units or unit_factor(a.units, b.units) == 1.0
    are_like = are_like and _is_kin(a, b) and is_clock(a) == is_clock(b)
    if are_like and a.key == b.key and unit_factor(a.units, units) == 1.0:  # "5 kWh on average"
        yield MEAN, 1.0, a.units or units
    if "%" in units:  # "25 % of the total", "25 % more than in May"
        if are_like and a.units[:1] != ("%",):
            yield SHARE, 1.0, ("%",)
            yield CHANGE, 1.0, ("%",)
        return
    if units[:1] in (("pp",), ("bps",), ("point",)):  # "5 points more", of the ratios 0.30 and 0.25
        if are_like and not a.units:
            yield DIFFERENCE, 100.0, ("pp",)
        return
    # "2 hours longer", of values without a unit, which may be in seconds.
    base = base_of_unit(units[0]) if units and not a.units else 0.0
    factor = unit_factor(a.units, units)
    if (
        are_like and (factor is not None or base) and not is_no_sum(a.units)
    ):  # "5 kWh more", "13 kWh together"
        size = 1 / base if base else factor or 1.0
        yield DIFFERENCE, size, a.units or units
        if a.key != b.key:  # the sum of a key over rows is an aggregate
            yield SUM, size, a.units or units
    if is_no_sum(a.units) or is_no_sum(b.units):
        return
    if (divisor := _divisor(units, a, b)) is not None:  # "12 kWh per day", "6 litres per 100 km"
        for size in (divisor,) if units and "/" in units[0] else (1.0, *_SIZES):
            yield QUOTIENT, size, units
    if is_counted(b.units) and factor is not None and float(b.value).is_integer():  # "360 EUR for 3 nights"
        yield PRODUCT, factor, a.units or units


def _is_kin(a: Source, b: Source) -> bool:
    """Whether two values are under one key, or one is in the record of the other: no free seats and a price."""
    return a.key == b.key or (
        a.record is not None
        and b.record is not None
        and (a.record in b.record.chain or b.record in a.record.chain)
    )


def _divisor(units: tuple[str, ...], a: Source, b: Source) -> float | None:
    """By what a value by another is multiplied to be in a unit; ``None`` where it is in no such unit."""
    if is_counted(units):
        return 1.0
    base, _, below = units[0].rpartition("/")
    above, size = size_of_unit(base or units[0]), size_of_unit(below) if below else None
    own, other = (size_of_unit(source.units[0]) if source.units else None for source in (a, b))
    if own is not None and above is not None and own.dimension != above.dimension:
        return None
    if size is not None and other is not None:
        return size.factor / other.factor if size.dimension == other.dimension else None
    return 1.0
