"""Where the numbers in the arguments of tool calls come from: a tool that echoes launders nothing.

A number that is an argument is looked for as it is, and in the units of its parameter; the numbers of a text are judged
as those of a message are. What no one said is looked for once more among what the user said last (a sum of it, so many
days after a date), and as a total of the items that the call names.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from itertools import chain
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

from gllint_runtime.execution.argument_units import (
    Change,
    Clash,
    Misfit,
    is_in_other_unit,
    leaves,
    quantities_in,
    unit_of_holder,
)
from gllint_runtime.execution.record import CallRecord, Origin
from gllint_runtime.policy.expressions import expression
from gllint_runtime.policy.moments import Moment, shifts, weekday_numbers
from gllint_runtime.policy.numbers import scan_naked_numbers
from gllint_runtime.policy.parameter_units import ParameterUnit, ParameterUnits
from gllint_runtime.policy.schemas import Path, Quantity, show_path
from gllint_runtime.provenance.totals import total_of

if TYPE_CHECKING:
    from gllint_runtime.provenance.engine import Provenance
    from gllint_runtime.provenance.findings import Finding
    from gllint_runtime.provenance.records import Source

_FLAT = frozenset({str, float, int, bool, type(None)})
_MAX_TRACED = 10_000  # numbers of one call's arguments
_MAX_TRACED_TEXTS = 200  # texts among them that contain a number
_MAX_TRACED_LETTERS = 100_000
_MAX_HEARD = 20_000  # characters of what the user said in which days are named
_MAX_LAST = 2_000  # and from which a number may follow
_MAX_WORKED_OUT = 20  # numbers of one call that may follow from others
_MAX_PARTS = 12  # amounts of one list
_LEAST_CODE = 5  # characters of a part of a code that is known by itself
_JOINTS = expression(r"[/:?&=@#_'\"\s]+")
_LARGEST = 10**308
_LARGEST_ROUNDED = 10**15
_LEAST_WRITTEN, _LEAST_SIGNIFICANT = 4, 3  # digits that are more than chance


class Tracing:
    """The tracing of one call's arguments. ``calls`` are the calls so far, ``heard`` is what the user said."""

    def __init__(
        self,
        provenance: Provenance,
        calls: Mapping[str, CallRecord],
        heard: Sequence[str],
        *,
        kinds: Collection[str],
        shapes: Collection[str],
    ) -> None:
        """Make the tracing of one call from what the session knows; ``kinds`` are those of the setting
        ``origin_kinds``.
        """
        self._provenance = provenance.without_arguments()
        self._calls, self._heard = calls, "\n".join(heard)[-_MAX_HEARD:]
        self._kinds, self._shapes = kinds or ("numbers",), shapes
        self._room = _MAX_WORKED_OUT
        self._worked_out: dict[Path, Finding] | None = None
        self.misfits: list[Misfit] = []
        self.clashes: list[Clash] = []

    def origins(
        self,
        arguments: Mapping[str, Any],
        declared: ParameterUnits,
        changes: Iterable[Change],
        *,
        judges_units: bool,
        citations: Mapping[Path, Origin | None],
    ) -> tuple[Origin, ...]:
        """Return the origin of each number in ``arguments``, those in texts included.

        ``{"limit": 5, "energy": 12}`` → ``$.limit`` is the user's, ``$.energy`` is ``$.total`` of ``tc_1``.

        * ``declared``: the units and sources (``x-source``) of the parameters.
        * ``judges_units``: whether units are compared.
        * ``changes``: the numbers that were converted already.
        * ``citations``: the parts of valid claims with the origins of their numbers, ``None`` for texts, which are
          not traced.
        """
        origins: list[Origin] = []
        sent = self._sent(arguments, changes) if judges_units else {}
        texts = letters = 0
        for path, value in leaves(arguments):
            parameter = declared.at(path)
            demand = parameter.sources
            if "any" in demand or (path in citations and type(value) is str):
                continue
            if type(value) is str:
                if not any(map(str.isnumeric, value)):
                    continue
                texts += 1
                letters += len(value)
            elif type(value) is not float and type(value) is not int:
                continue
            if len(origins) >= _MAX_TRACED or texts > _MAX_TRACED_TEXTS or letters > _MAX_TRACED_LETTERS:
                origins.append(Origin(show_path(path), "the rest, too much to trace", "none", grounded=False))
                break
            if type(value) is str:
                found = [*self._in_text(path, value, declared, arguments)]
                if judges_units and (number := _number_of(value)) is not None:
                    self._judge_unit(path, number, parameter)
                    self._compare_basis(path, number, "", declared)
            elif (quantity := sent.get(path)) is not None:
                found = [citations.get(path) or self._of_quantity(path, value, *quantity)]
                self._compare_basis(path, quantity[0].value, quantity[0].unit, declared)
            else:
                found = [citations.get(path) or self._of_number(path, value, parameter, declared, arguments)]
                if judges_units:
                    found = [self._in_unit(found[0], value, parameter, path)]
                    self._compare_basis(path, value, "", declared)
            if type(value) is str or "numbers" in self._kinds or path in citations:
                origins += [_demanded(origin, demand) for origin in found]
        return tuple(origins)

    # ------------------------------------------------------------------------------------------- one number

    def _of_number(
        self,
        path: Path,
        value: Any,
        parameter: ParameterUnit,
        declared: ParameterUnits,
        arguments: Mapping[str, Any],
    ) -> Origin:
        """Return the origin of a number in an argument: the user, a result, a constant, the schema, or a
        calculation from these.
        """
        where = show_path(path)
        sources = [*self._exact(value)] or [*self._provenance.conversions(value, parameter.readings)]
        best = self._best(where, value, sources, parameter.sources)
        if best is not None:
            return best
        if value in declared.offered(path):
            return Origin(where, value, "schema")
        self._room -= 1
        if self._room < 0 or not value or not isfinite(value):
            return Origin(where, value, "none", grounded=False)
        if total := self._total(path, value, arguments) or self._rest(path, value, arguments):
            return total
        finding = self._follows(path, arguments)
        if finding is not None and finding.derivation is not None:
            return self._of_finding(where, value, finding)
        return Origin(where, value, "none", grounded=False)

    def _total(self, path: Path, value: Any, arguments: Mapping[str, Any]) -> Origin | None:
        total = total_of(self._provenance.index, arguments, path, value)
        if total is None:
            return None
        grounded = all(map(self._is_grounded, total.sources))
        return Origin(show_path(path), value, "tool", str(total), grounded)

    def _rest(self, path: Path, value: Any, arguments: Mapping[str, Any]) -> Origin | None:
        """Return the origin of what is left of an amount, once the others of its list are taken off."""
        place = _place_of(path)
        if "[]" not in place:  # only the amounts of one list are parts of a whole
            return None
        others = [
            leaf
            for other, leaf in leaves(arguments)
            if other != path and type(leaf) in (int, float) and _place_of(other) == place
        ]
        others = [other for other in others if other]
        if not 0 < len(others) < _MAX_PARTS:
            return None
        origins = [self._best("", other, self._exact(other)) for other in others]
        if not all(origin is not None and origin.grounded for origin in origins):
            return None
        known = sum(others)
        whole = round(value + known, 9)
        origin = self._best(show_path(path), value, self._exact(whole)) or self._total(path, whole, arguments)
        return origin and origin._replace(value=value, source=f"{origin.source or 'the whole'} less {known}")

    def _exact(self, value: Any) -> Iterator[Source]:
        """Yield the sources with exactly this number."""
        number = float(value) if abs(value) < _LARGEST else inf
        if isfinite(number):
            for source in self._provenance.index.by_value(number, number):
                is_chance = (
                    source.tool == "prompt" and abs(value) < 10
                )  # a system prompt has each digit somewhere
                is_same = source.value == value or type(source.value) is not type(value)
                if is_same and not is_chance:
                    yield source

    def _best(
        self, where: str, value: Any, sources: Iterable[Source], demand: Collection[str] = ()
    ) -> Origin | None:
        """Return the origin of the source that counts most; ``None`` without a source.

        First one that the tool demands, then a grounded one, then the user's, a constant, a tool's.
        """
        origins = [self._of_source(where, value, source) for source in sources]
        ranks = {"user": 0, "constant": 1, "tool": 2}
        return min(
            origins,
            key=lambda origin: (
                bool(demand) and origin.kind not in demand,
                not origin.grounded,
                ranks[origin.kind],
            ),
            default=None,
        )

    def _of_source(self, where: str, value: Any, source: Source) -> Origin:
        if source.call_id:
            return Origin(where, value, "tool", self._place(source), self._is_grounded(source))
        if source.tool == "user":
            return Origin(where, value, "user")
        return Origin(where, value, "constant", str(source.path[0]))

    def _place(self, source: Source) -> str:
        """Return the call and path of a source, ``"tc_1 $.energy"``; for a Quantity in another shape the path of
        the whole object.
        """
        record = self._calls.get(source.call_id)
        path = source.path
        if (
            record is not None
            and path not in record.output.quantities
            and path[:-1] in record.output.quantities
        ):
            path = path[:-1]
        return f"{source.call_id} {show_path(path)}"

    def _is_grounded(self, source: Source) -> bool:
        record = self._calls.get(source.call_id)
        return record is None or record.grounded is not False

    def _of_finding(self, where: str, value: Any, finding: Finding) -> Origin:
        """Return the origin of a judged number; a calculated one is grounded only if all that it comes from is."""
        derivation = finding.derivation
        if derivation is None:
            assert finding.source is not None
            return self._of_source(where, value, finding.source)
        parts = [self._of_source(where, value, source) for source in derivation.sources]
        kind = "tool" if any(part.kind == "tool" for part in parts) else "user"
        text = " and ".join(part.source or part.kind for part in parts[:20])
        return Origin(where, value, kind, f"{derivation.how} of {text}", all(part.grounded for part in parts))

    def _follows(self, path: Path, arguments: Mapping[str, Any]) -> Finding | None:
        """Return the calculation that gives the number at ``path`` from the user's words and the other arguments;
        else ``None``.

        A text is made of both ("… Then amount 5, count 3,") and judged as a message, once for all arguments.
        """
        if self._worked_out is None:
            text = self._heard.rpartition("\n")[2][-_MAX_LAST:].rstrip(" .!?") + ".\n\nThen"
            places: dict[Path, int] = {}
            for place, leaf in leaves(arguments):
                shown = repr(leaf) if isinstance(leaf, float) else str(leaf)
                if len(shown) > 200 or len(places) >= _MAX_WORKED_OUT:
                    continue
                name = next((step for step in reversed(place) if isinstance(step, str)), "")
                text += f" {name.replace('_', ' ')} "
                places[place] = len(text)
                text += f"{shown},"
            judged = self._provenance.without_columns().judge(text)
            found = {finding.span[0]: finding for finding in judged}
            self._worked_out = {place: found[at] for place, at in places.items() if at in found}
        return self._worked_out.get(path)

    # ---------------------------------------------------------------------------------------------- one text

    def _in_text(
        self, path: Path, text: str, declared: ParameterUnits, arguments: Mapping[str, Any]
    ) -> Iterator[Origin]:
        """Yield the origins of the numbers, dates and identifiers in the text of an argument.

        ``"2 kWh on 2024-05-03"`` → two.
        """
        where, demand = show_path(path), declared.at(path).sources
        provenance = self._provenance
        naked = scan_naked_numbers(text) if "numbers" in self._kinds else []
        number = _number_of(text)
        if number is not None and "numbers" in self._kinds:
            index, code = provenance.index, text.strip()
            sources = [*self._exact(number), *index.codes(code), *index.ending(code)]
            best = self._best(where, text, sources, demand)
            if best is None and number in declared.offered(path):
                best = Origin(where, text, "schema")
            yield best or Origin(where, text, "none", grounded=False)
            return
        ends = [one.end for one in naked]

        def is_naked(start: int, end: int) -> bool:
            place = bisect_right(ends, start)
            return place < len(naked) and naked[place].start < end

        findings = [
            finding
            for finding in provenance.judge(text)
            if (finding.kind in self._kinds and finding.kind != "numbers") or is_naked(*finding.span)
        ]
        quoted = provenance.quotes(text.strip()) if findings else None
        for finding in findings:
            shown = finding.reading.text
            if quoted is not None:
                yield self._of_source(where, shown, quoted)
                return
            elif finding.verdict == "exempt" and finding.source is None:
                continue
            elif finding.kind == "identifiers":
                yield self._best(where, shown, self._known_as(shown), demand) or Origin(
                    where, shown, "none", grounded=False
                )
            elif not finding.fails:
                found = self._of_finding(where, shown, finding)
                if not found.grounded or (demand and found.kind not in demand):
                    others = [*provenance.index.codes(shown), *self._exact(finding.reading.value)]
                    found = self._best(where, shown, others, demand) or found
                yield found
            else:
                is_number = finding.kind == "numbers" and len(findings) == 1
                follows = self._follows(path, arguments) if is_number else None
                moved = [*self._moved(finding)]
                if follows is not None and follows.derivation is not None:
                    yield self._of_finding(where, shown, follows)
                else:
                    yield self._best(where, shown, moved) or Origin(where, shown, "none", grounded=False)

    def _known_as(self, code: str) -> list[Source]:
        """Return the sources of a code, or those of its parts where each has a long number."""
        codes = self._provenance.index.codes
        parts = [part for part in _JOINTS.split(code) if any(map(str.isdecimal, part))]
        known = [codes(part) for part in parts if len(part) >= _LEAST_CODE]
        return codes(code) or ([*chain(*known)] if len(known) == len(parts) and all(known) else [])

    def _moved(self, finding: Finding) -> Iterator[Source]:
        """Yield the sources of a date that was moved: by as many days as the user said, or to a day of the month
        that a source has.
        """
        day = finding.reading.moments[0].on if finding.reading.moments else None
        if day is None:
            return
        index, month = self._provenance.index, Moment(day.year, day.month)
        if not index.has_years:  # May 20
            yield from index.moments(Moment(None, day.month, day.day))
        if 1 in (day.day, (day + timedelta(days=1)).day):  # since July 2022
            yield from (one for one in index.moments(month) if one.moment and one.moment.day is None)
        names = {name for name, number in weekday_numbers().items() if number == day.weekday()}
        is_named = not names.isdisjoint(self._heard.lower().split()) or any(
            f"{name}{mark}" in self._heard.lower() for name in names for mark in ".,!?"
        )
        for days in shifts(self._heard) | ({*range(1, 8)} if is_named else set()):
            with suppress(OverflowError):
                base = day - timedelta(days=days)
                yield from self._provenance.index.moments(Moment(base.year, base.month, base.day))

    # -------------------------------------------------------------------------------------------------- units

    def _sent(
        self, arguments: Mapping[str, Any], changes: Iterable[Change]
    ) -> dict[Path, tuple[Quantity, str]]:
        """Return the Quantities in the arguments as they were sent, by the path of their number, with the unit
        that it is in now.
        """
        sent = {}
        if not _FLAT.issuperset(map(type, arguments.values())):
            sent = {
                (*path, key): (quantity, quantity.unit)
                for path, key, quantity in quantities_in(arguments, self._shapes)
            }
        for change in changes:
            place = (*change.path, "value")
            sent[place if place in sent else change.path] = change.sent, change.result.unit
        return sent

    def _of_quantity(self, path: Path, value: Any, sent: Quantity, unit: str) -> Origin:
        """Return the origin of a number that was sent with its unit; not grounded if the output has it in another
        unit.
        """
        where = show_path(path)
        origin = self._best(where, sent.value, self._exact(sent.value))
        if origin is None:
            origin = Origin(where, value, "none", grounded=False)
        source_unit, is_other = unit_of_holder(
            sent.value, ParameterUnit((sent.unit,)), self._holders(sent.value)
        )
        return origin._replace(
            value=value,
            grounded=origin.grounded and not (is_other and origin.kind == "tool"),
            unit=unit,
            source_unit=source_unit or sent.unit,
        )

    def _in_unit(self, origin: Origin, value: Any, parameter: ParameterUnit, path: Path) -> Origin:
        """Return the origin of a bare number with its units, and note a misfit if an output has it in another unit."""
        if not parameter.readings:
            return origin
        holders = self._holders(value)
        source_unit, _ = unit_of_holder(value, parameter, holders)
        if origin.kind == "none" or source_unit is not None:
            self._judge_unit(path, value, parameter)
        if source_unit is not None and origin.kind == "tool":
            # Of all that have this number, the one that has it in this unit.
            origin = self._of_source(origin.path, value, holders[source_unit])
        return origin._replace(unit=" or ".join(parameter.readings), source_unit=source_unit)

    def _judge_unit(self, path: Path, value: Any, parameter: ParameterUnit) -> None:
        """Note a misfit if outputs have a number only in other units than its parameter takes.

        Not for a number of few digits, which is in another unit by chance as often.
        """
        if not parameter.readings:
            return
        text = str(value).removesuffix(".0")
        digits = text.lstrip("-0.").replace(".", "")
        if len(digits) < _LEAST_SIGNIFICANT:
            return
        holders = self._holders(value)
        original = None
        is_short = "e" not in text and abs(value) < _LARGEST_ROUNDED
        if not holders and is_short and len(text.lstrip("-0.").replace(".", "")) >= _LEAST_WRITTEN:
            half = 0.5 * 10.0 ** -len(text.partition(".")[2])  # it was rounded
            near = [one for one in self._provenance.index.by_value(value - half, value + half) if one.call_id]
            holders = {one.unit: one for one in near if one.unit is not None}
        unit, is_other = unit_of_holder(value, parameter, holders)
        if unit is None or not is_other or self._is_excused(value, parameter):
            return
        source = holders[unit]
        if source.value != value:
            original = source.value
        self.misfits.append(Misfit(path, value, unit, self._place(source), parameter, original))

    def _holders(self, value: Any) -> dict[str, Source]:
        """In which units outputs have a number, and which has it first."""
        holders: dict[str, Source] = {}
        for source in self._exact(value):
            if source.call_id and source.unit is not None:
                holders.setdefault(source.unit, source)
        return holders

    def _is_excused(self, value: Any, parameter: ParameterUnit) -> bool:
        """Return whether the user, or a constant, has a number in the unit of its parameter, or without any."""
        return any(
            not source.call_id and not is_in_other_unit(value, source.unit, parameter)
            for source in self._exact(value)
        )

    def _compare_basis(self, path: Path, value: Any, unit: str, declared: ParameterUnits) -> None:
        """Note a clash if outputs have a number only on other bases (GWP100 of AR5) than its parameter declares
        (of AR6).

        ``unit`` is the one that it was sent in, ``""`` if it is bare.
        """
        parameter = declared.at(path[:-1] if path[-1] == "value" and len(path) > 1 else path)
        if parameter.basis is None:
            return
        units = (unit,) if unit else parameter.readings
        sources = [one for one in self._exact(value) if one.call_id] or [
            *self._provenance.conversions(value, units)
        ]
        bases = {
            record.output.bases.get(source.path): source
            for source in sources
            if (record := self._calls.get(source.call_id)) is not None
        }
        if bases and None not in bases and parameter.basis not in bases:
            basis, source = next(iter(bases.items()))
            self.clashes.append(Clash(path, parameter, str(basis), f"{source.call_id} {source.shown_path}"))


def _place_of(path: Path) -> Path:
    return tuple("[]" if type(step) is int else step for step in path)


def _demanded(origin: Origin, demand: Collection[str]) -> Origin:
    """Return the origin, which is none if the tool takes only what comes from elsewhere."""
    if not demand or origin.kind in demand or not origin.grounded:
        return origin
    return origin._replace(grounded=False, demand=" or ".join(demand))


def _number_of(text: str) -> float | None:
    """Return the number that a text is from its beginning to its end; "nan" and "infinity" are words."""
    try:
        number = float(text.strip().replace(",", "") if "," in text else text)
    except ValueError:
        return None
    return number if isfinite(number) and any(map(str.isdecimal, text)) else None
