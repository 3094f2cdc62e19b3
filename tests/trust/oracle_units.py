"""Units that the inference follows, against the same programs executed with pint.

A program is drawn, read by gllint, and executed with numbers that know in which unit they are: sizes and dimensions are
pint's. ``_C_(1000)`` marks a literal that converts, ``_T_`` a temperature that changes its scale, ``_Q_({…})`` a Quantity that is held against its label, ``_take_``
parameters that are held against their names; gllint is shown the program without them. Where gllint says a unit, the
number must be in it, whichever way is taken; where it reports a line, two units must meet there that differ.
"""

from __future__ import annotations

import math
import re
import statistics
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from types import CodeType, SimpleNamespace
from typing import Any

import pint
from trust import Budget, Row

sys.path.insert(0, str(Path(__file__).parents[1] / "rules"))
from gllint_rules import Finding, Settings
from gllint_rules.check.check import check
from gllint_rules.inference.units.measure import Meaning, Measure, number_in_unit
from gllint_rules.inference.units.reader import Units
from gllint_rules.project.project import Project
from gllint_rules.reading.modules import read_module
from gllint_rules.reading.stack import on_large_stack
from test_units_with_pint import NAMES, PINT, VALUES, as_pint

_MORE = {"temp_c": "degC", "supply_celsius": "degC", "tank_kelvin": "kelvin", "roof_temperature_f": "degF",
         "cost_usd": "USD", "price_usd_per_kwh": "USD/kWh", "emissions_kg_co2e": "kgCO2e", "gas_mj": "MJ",
         "length_m": "m", "pressure_kpa": "kPa", "force_n": "N", "volume_l": "liter", "span_days": "day"}  # fmt: skip
_NAMES = {**NAMES, **_MORE}
_PROGRAMS = 400  # in an hour
_VALUES = {**VALUES, **{name: 21.0 + i / 9 for i, name in enumerate(_MORE)}}
_LABELS = (
    "kWh",
    "Wh",
    "MJ",
    "kW",
    "W",
    "h",
    "min",
    "s",
    "km",
    "m",
    "kg",
    "m2",
    "m3",
    "m3/h",
    "km/h",
    "USD",
    "%",
    "°C",
    "K",
)
_TEMPERATURES = {
    "degC": (
        ("degF", "{} * 9 / 5 + 32"),
        ("degF", "{} * 1.8 + 32"),
        ("degF", "32 + {} * 9 / 5"),
        ("kelvin", "{} + 273.15"),
    ),
    "degF": (("degC", "({} - 32) * 5 / 9"), ("degC", "({} - 32) / 1.8")),
    "kelvin": (("degC", "{} - 273.15"),),
}
_CLOSE, _OTHER = 1e-6, 2e-3  # sizes below are one, and above are two
_MULTIPLIERS = ("2", "3", "0.5", "1.25", "7", "0.9")
_PROGRAM = "<program>"
_RUNS = 24
_FLAGS = ("is_cold", "is_night", "is_old")
for _unit in ("USD = [us_dollar]", "gCO2e = [emission]"):
    PINT.define(_unit)


@dataclass
class Log:
    """What happened while a program ran: the lines where units met that differ, and those that nobody can judge."""

    meetings: set[int] = field(default_factory=set)
    labels: set[int] = field(default_factory=set)
    unsure: set[int] = field(default_factory=set)
    lines: set[int] = field(default_factory=set)


LOG = Log()


def _line(depth: int = 1) -> int:
    """The line of the program that is executed, or that of its caller."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename == _PROGRAM:
            depth -= 1
            if depth == 0:
                return int(frame.f_lineno)
        frame = frame.f_back
    return 0


class Sized:
    """A number in a unit: so many of ``scale`` root units. ``unit`` is pint's; ``None`` where nobody knows."""

    def __init__(self, number: float, scale: float, unit: Any) -> None:
        self.number, self.scale, self.unit = number, scale, unit

    @property
    def is_scale(self) -> bool:
        """Whether it is a temperature that is read off a scale."""
        return self.unit is _SCALES[0] or self.unit is _SCALES[1]

    def quantity(self) -> Any:
        return PINT.Quantity(self.number * self.scale, self.unit)

    def _unknown(self, *, has_met: bool = False) -> Sized:
        (LOG.meetings if has_met else LOG.unsure).add(_line())
        return Sized(1.0, 1.0, None)

    def _meets(self, other: Sized) -> bool:
        """Whether two may be added or compared; noted where they may not."""
        if self.unit is None or other.unit is None:
            LOG.unsure.add(_line())
            return False
        if self.unit is not other.unit or not math.isclose(self.scale, other.scale, rel_tol=_OTHER):
            LOG.meetings.add(_line())
            return False
        if not math.isclose(self.scale, other.scale, rel_tol=_CLOSE):
            LOG.unsure.add(_line())
            return False
        return True

    def _added(self, other: Any, sign: int) -> Sized:
        if not isinstance(other, Sized):
            return self._shifted(sign * other)
        if self.unit is None or other.unit is None:
            return self._unknown()
        if self.is_scale or other.is_scale:
            return self._of_pint(other, sign)
        if not self._meets(other):
            return Sized(1.0, 1.0, None)
        return Sized(self.number + sign * other.number, self.scale, self.unit)

    def _shifted(self, value: float) -> Sized:
        if self.unit is None:
            return self._unknown()
        if self.unit in _DIFFERENCES or self.unit is _ONE or value in (273.15, 32):
            return self._unknown()  # of what a literal is, nobody knows
        return Sized(self.number + value, self.scale, self.unit)

    def _of_pint(self, other: Sized, sign: int) -> Sized:
        """A sum of temperatures, as pint has it; its number must be that of the two."""
        try:
            total = self.quantity() + other.quantity() if sign > 0 else self.quantity() - other.quantity()
        except (pint.DimensionalityError, pint.OffsetUnitCalculusError):
            return self._unknown(has_met=True)
        number = self.number + sign * other.number
        if self.scale != 1 or not math.isclose(total.magnitude, number, rel_tol=_CLOSE):
            return self._unknown(has_met=True)
        return Sized(number, 1.0, _unit(total.units))

    def _product(self, other: Any, power: int) -> Sized:
        if isinstance(other, _Converting):
            if self.is_scale or self.unit is None:
                return self._unknown()
            return Sized(self.number * other.value**power, self.scale / other.value**power, self.unit)
        if not isinstance(other, Sized):
            if self.is_scale or self.unit is None:
                return self._unknown()
            return Sized(self.number * other**power, self.scale, self.unit)
        if self.unit is None or other.unit is None or self.is_scale or other.is_scale:
            return self._unknown()
        if not other.number:
            return self._unknown()
        mine, theirs = _root(self), _root(other)
        return Sized(
            self.number * other.number**power,
            mine.scale * theirs.scale**power,
            _times(mine.unit, theirs.unit, power),
        )

    def __add__(self, other: Any) -> Sized:
        return self._added(other, 1)

    def __sub__(self, other: Any) -> Sized:
        return self._added(other, -1)

    def __radd__(self, other: Any) -> Sized:
        return self if other == 0 else self._added(other, 1)

    def __rsub__(self, other: Any) -> Sized:
        is_share = self.unit is _ONE and math.isclose(self.scale * other, 1)
        if is_share:  # 1 - a share, or 100 - per cent
            return Sized(other - self.number, self.scale, self.unit)
        return self._unknown() if self.is_scale else -self + other

    def __mul__(self, other: Any) -> Sized:
        return self._product(other, 1)

    def __truediv__(self, other: Any) -> Sized:
        return self._product(other, -1)

    def __rmul__(self, other: Any) -> Sized:
        return self._product(other, 1)

    def __pow__(self, power: float) -> Sized:
        if self.unit is None or self.is_scale or not 1e-50 < self.number < 1e50:
            return self._unknown()
        root = _root(self)
        return Sized(self.number**power, root.scale**power, _unit(root.unit**power))

    def __neg__(self) -> Sized:
        return Sized(-self.number, self.scale, self.unit) if not self.is_scale else self._unknown()

    def __abs__(self) -> Sized:
        return Sized(abs(self.number), self.scale, self.unit)

    def __round__(self, _: int | None = None) -> Sized:
        return self

    def _compared(self, other: Any) -> int:
        if isinstance(other, Sized):
            self._meets(other)
            other = other.number
        return (self.number > other) - (self.number < other)

    def __lt__(self, other: Any) -> bool:
        return self._compared(other) < 0

    def __gt__(self, other: Any) -> bool:
        return self._compared(other) > 0

    def __bool__(self) -> bool:
        return bool(self.number)

    def is_in(self, unit: str) -> bool | None:
        """Whether the number is in a unit; ``None`` where nobody can say."""
        if self.unit is None or not self.number:
            return None
        try:
            claimed = _parsed(unit)
        except pint.PintError:
            return None
        if self.unit in _DIFFERENCES and claimed in _SCALES:
            claimed = _parsed(f"delta_{claimed}")
        if not self.is_scale and claimed not in _SCALES:
            (size, root), own = _size(claimed), _root(self)
            return root is own.unit and math.isclose(size, own.scale, rel_tol=_OTHER)
        if claimed.dimensionality != self.unit.dimensionality:
            return False
        number = PINT.Quantity(self.number, claimed).to_base_units().magnitude
        return math.isclose(number, self.quantity().to_base_units().magnitude, rel_tol=_OTHER)


class _Converting:
    """A literal that converts: it changes the number, and not what it is of."""

    def __init__(self, value: float) -> None:
        self.value = value


class _Coin:
    """A condition that is another each time that somebody asks."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance

    def __bool__(self) -> bool:
        return self.chance.random() < 0.5


_UNITS: dict[Any, Any] = {}


def _unit(unit: Any) -> Any:
    """The one object for a unit, so that two are compared at once."""
    return _UNITS.setdefault(unit, unit)


_SCALES = (_unit(PINT.degC), _unit(PINT.degF))
_DIFFERENCES = (_unit(PINT.delta_degC), _unit(PINT.delta_degF))
_ONE = _unit(PINT.dimensionless)


@cache
def _size(unit: Any) -> tuple[float, Any]:
    """How many of pint's root units a unit is, and which."""
    one = PINT.Quantity(1.0, unit).to_root_units()
    return one.magnitude, _unit(one.units)


@cache
def _times(unit: Any, other: Any, power: int) -> Any:
    return _unit(unit * other**power)


def _root(sized: Sized) -> Sized:
    """The same over pint's root units, so that two sizes can be compared."""
    scale, unit = _size(sized.unit)
    return Sized(sized.number, sized.scale * scale, unit)


@cache
def _parsed(unit: str) -> Any:
    return _unit(PINT.Unit(unit))


def sized(number: float, unit: str) -> Sized:
    """A number in a unit as pint writes it."""
    of = _parsed(unit)
    return Sized(number, 1.0, of) if of in _SCALES else _root(Sized(number, 1.0, of))


# --- what a program is executed with --------------------------------------------------------------------------


def _labelled(quantity: dict[str, Any]) -> dict[str, Any]:
    value = quantity["value"]
    fits = value.is_in(as_pint(quantity["unit"])) if isinstance(value, Sized) else None
    if fits is None:
        LOG.unsure.add(_line())
    elif not fits:
        LOG.labels.add(_line())
    return {**quantity, "value": _again(value, as_pint(quantity["unit"]), fits)}


def _on_scale(value: Any, unit: str) -> Any:
    """A temperature on another scale, by pint."""
    if not isinstance(value, Sized) or value.unit not in (*_SCALES, _parsed("kelvin")):
        return Sized(1.0, 1.0, None)
    return sized(value.quantity().to(unit).magnitude, unit)


def _again(value: Any, unit: str, fits: bool | None) -> Any:
    """What is read back out of a place whose label says a unit: of a wrong one nobody knows."""
    return value if fits else Sized(1.0, 1.0, None)


def _take(**values: Any) -> tuple[Any, ...]:
    """Hold arguments against the names of their parameters, at the line of the call."""
    out = []
    for name, value in values.items():
        fits = value.is_in(_NAMES[name]) if isinstance(value, Sized) else None
        if fits is None:
            LOG.unsure.add(_line(2))
        elif not fits:
            LOG.labels.add(_line(2))
        out.append(_again(value, "", fits))
    return tuple(out)


class _Physical:
    """What pint makes of a number and a unit."""

    def __init__(self, value: Sized, unit: str = "") -> None:
        if unit:
            value = _labelled({"value": value, "unit": unit})["value"]
        self.magnitude = value

    def to(self, unit: str) -> _Physical:
        if self.magnitude.unit is None:
            return self
        try:
            quantity = self.magnitude.quantity().to(as_pint(unit))
        except pint.PintError:
            LOG.meetings.add(_line())
            return _Physical(Sized(1.0, 1.0, None))
        return _Physical(sized(quantity.magnitude, as_pint(unit)))

    def __add__(self, other: _Physical) -> _Physical:
        mine, theirs = self.magnitude, other.magnitude
        if mine.unit is None or theirs.unit is None or mine.unit != theirs.unit:
            return _Physical(mine._unknown())
        return _Physical(
            Sized(mine.number + theirs.number * theirs.scale / mine.scale, mine.scale, mine.unit)
        )

    def __mul__(self, other: _Physical) -> _Physical:
        return _Physical(self.magnitude * other.magnitude)


_ENVIRONMENT: dict[str, Any] = {
    "_T_": _on_scale,
    "_C_": _Converting, "_Q_": _labelled, "_take_": _take, "dataclass": dataclass, "float": lambda value: value,
    "math": SimpleNamespace(sqrt=lambda value: value**0.5, fabs=abs, fsum=sum),
    "statistics": SimpleNamespace(mean=lambda values: sum(values) / len(values), median=statistics.median_low),
    "ureg": SimpleNamespace(Quantity=_Physical), "tool": lambda function: function,
}  # fmt: skip
_HEAD = """\
import math
import statistics
from dataclasses import dataclass
import pint
from langchain_core.tools import tool
ureg = pint.UnitRegistry()
"""


def shown(program: str) -> str:
    """The program as gllint reads it."""
    program = re.sub(r"^( *)[^\n]*\b_take_\([^\n]*$", r"\1pass", program, flags=re.MULTILINE)
    program = re.sub(r"\b_T_\([^)]*\) or ", "", program)
    return re.sub(r"\b_[CQ]_(?=\()", "", program)


def code(program: str) -> CodeType:
    """The program as it is executed: what it imports is there."""
    lines = program.split("\n")
    return compile("\n" * _HEAD.count("\n") + "\n".join(lines[_HEAD.count("\n") :]), _PROGRAM, "exec")


# --- the comparison -------------------------------------------------------------------------------------------


def row(budget: Budget) -> Row:
    counts, wrong = Counter[str](), list[str]()
    programs = 0
    for number in budget.rounds(_PROGRAMS):
        program = Program(Random(f"{budget.seed} {number}")).text()
        programs += 1
        for what, line in compared(program):
            counts[what] += 1
            if line:
                wrong.append(f"round {number}: {line}\n{shown(program)}")
    told = f"{counts['unit']} units of results, {counts['meeting']} sums, {counts['label']} labels agree"
    tried = f"{programs} programs: {told}; {counts['silent']} lines that differ are not told; {len(wrong)} disagree"
    return Row("oracles: units by pint", tried, wrong[:20], programs, _PROGRAMS)


def compared(program: str) -> Iterator[tuple[str, str]]:
    """What gllint says of a program: of what, and what is wrong with it, if anything is."""
    meaning, findings = _read(shown(program))
    results, log = _run(program)
    judged = [result for result in results if isinstance(result, Sized) and result.unit is not None]
    measure = number_in_unit(meaning)
    if measure is not None and not log.meetings:
        units = [as_pint(unit) for unit in _texts(measure)]
        bad = [
            f"it returns {result.quantity()} as {result.number}, and not in {units}"
            for result in judged
            if True not in (verdicts := [result.is_in(unit) for unit in units]) and None not in verdicts
        ]
        if judged:
            yield "unit", "; ".join(bad[:2])
    told = {"GL505": (log.meetings, "meeting"), "GL504": (log.labels | log.meetings, "label")}
    for finding in findings:
        lines, what = told[finding.code]
        line = finding.span.line
        if line in lines:
            yield what, ""
        elif line in log.lines and line not in log.unsure:
            yield what, f"line {line}: {finding.code} {finding.message}: no units differ there"
    lines = {finding.span.line for finding in findings}
    yield from (("silent", "") for _ in (log.meetings | log.labels) - lines)


def _texts(measure: Measure) -> Iterable[str]:
    from gllint_runtime.policy.unit_sizes import text_of

    return (text_of(unit) for unit in measure.readings)


def _read(source: str) -> tuple[Meaning, list[Finding]]:
    module = read_module("/project/a.py", source)
    project = Project(Settings(), lambda path: None, lambda path: False, lambda path: source, "/project")
    project.add(module)
    codes = frozenset({"GL504", "GL505"})
    findings = on_large_stack(lambda: list(check(project, "/project/a.py", codes)))
    assert all(isinstance(item, Finding) for item in findings), findings
    compute = next(f for f in module.functions if f.name == "compute")
    units = Units(project.evaluator)
    meaning = on_large_stack(lambda: units.returned(compute, units.body_of(module, compute)))
    return meaning, findings  # type: ignore[return-value]


def _run(program: str) -> tuple[list[Any], Log]:
    """Each result of the program, whichever way it takes, and what happened on the way."""
    global LOG
    LOG = Log()
    environment = dict(_ENVIRONMENT)
    exec(code(program), environment)
    arguments = {name: sized(_VALUES[name], unit) for name, unit in _NAMES.items()}

    def trace(frame: Any, event: str, _: Any) -> Any:
        if frame.f_code.co_filename == _PROGRAM:
            LOG.lines.add(frame.f_lineno)
            return trace
        return None

    results = []
    before = sys.gettrace()
    names = environment["compute"].__code__.co_varnames[: environment["compute"].__code__.co_argcount]
    chance = Random(program)
    for _ in range(_RUNS):
        given = {**arguments, **dict.fromkeys(_FLAGS, _Coin(chance))}
        sys.settrace(trace)
        try:
            results.append(environment["compute"](*(given[name] for name in names)))
            environment["answer"](*(given[name] for name in names))
        finally:
            sys.settrace(before)
    return results, LOG


# --- what is drawn --------------------------------------------------------------------------------------------


class Program:
    """A program that is drawn statement by statement; what its names hold so far is executed along."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.params = chance.sample([*_NAMES], chance.randint(3, 7))
        self.env: dict[str, Any] = dict(_ENVIRONMENT)
        self.env |= {name: sized(_VALUES[name], _NAMES[name]) for name in self.params}
        self.env |= dict.fromkeys(_FLAGS, True)
        self.names = [*self.params]
        self.head: list[str] = []
        self.count = 0
        self.has_flags = True  # in helpers there are none
        self.helpers: list[tuple[str, list[str | None]]] = []
        self.classes: list[tuple[str, list[str]]] = []

    def text(self) -> str:
        for _ in range(self.chance.randrange(3)):
            self.helper()
        if self.chance.random() < 0.5:
            self.record()
        body = [line for _ in range(self.chance.randint(1, 6)) for line in self.statement()]
        body.append(f"return {self.expression(self.chance.randint(0, 2))}")
        params = ", ".join([*self.params, *_FLAGS])
        label = self.chance.choice(_LABELS)
        lines = [
            *self.head,
            f"def compute({params}):",
            *(f"    {line}" for line in body),
            "",
            "@tool",
            f"def answer({params}):",
            f"    outcome = compute({params})",
            f'    return {{"out": _Q_({{"value": outcome, "unit": "{label}"}})}}',
            "",
        ]
        return _HEAD + "\n".join(lines)

    def value(self, text: str) -> Any:
        global LOG
        before, LOG = LOG, Log()
        try:
            return eval(text, dict(self.env))
        finally:
            LOG = before

    def fresh(self) -> str:
        self.count += 1
        return f"{self.chance.choice(('part', 'item', 'outcome', 'thing'))}{self.count}"

    # expressions

    def expression(self, depth: int) -> str:
        if depth <= 0:
            return self.chance.choice(self.names)
        inner = self.expression(depth - 1)
        match self.chance.randrange(20):
            case 18 if temperatures := [name for name in self.names if self.scale(name)]:
                return self.temperature(self.chance.choice(temperatures))
            case 0 | 1:
                return f"({inner} {self.chance.choice('*/')} {self.expression(depth - 1)})"
            case 2 | 3 | 4:
                return f"({inner} {self.chance.choice('+-')} {self.like(inner)})"
            case 5:
                return f"({inner} {self.chance.choice('+-')} {self.expression(depth - 1)})"
            case 6 | 7:
                return self.conversion(inner)
            case 8:
                return f"({inner} {self.chance.choice('*/')} {self.chance.choice(_MULTIPLIERS)})"
            case 9:
                return f"({self.chance.choice(_MULTIPLIERS)} * {inner})"
            case 10:
                return f"{self.chance.choice(('abs', 'float', 'math.fabs'))}({inner})"
            case 11:
                return f"{self.chance.choice(('max', 'min'))}({inner}, {self.like(inner)})"
            case 12:
                return f"math.sqrt({inner} * {self.like(inner)})"
            case 13 if self.has_flags:
                return f"({inner} if {self.chance.choice(_FLAGS)} else {self.like(inner)})"
            case 14:
                return self.chance.choice(
                    (
                        f"sum([{inner}, {self.like(inner)}])",
                        f"statistics.mean([{inner}, {self.like(inner)}])",
                        f"sum(one * 2 for one in [{inner}, {self.like(inner)}])",
                    )
                )
            case 15 if self.helpers:
                return self.call()
            case 16:
                return f"({inner} ** 2)"
            case 17:
                unit = self.label(inner)
                other = self.chance.choice(_LABELS)
                return (
                    f'ureg.Quantity({inner}, "{unit}").to("{other}").magnitude'
                    if self.can(unit, other)
                    else inner
                )
            case _:
                return f"(-{inner})" if self.chance.random() < 0.3 else f"round({inner}, 2)"

    def scale(self, name: str) -> str:
        """The scale of a temperature; empty for anything else, and for what may be a difference of two."""
        own = self.env[name]
        units = [unit for unit in _TEMPERATURES if isinstance(own, Sized) and own.unit is _parsed(unit)]
        if units == ["kelvin"] and name not in _NAMES:
            return ""  # to pint a difference of kelvins is one in kelvins, which has no other zero
        return units[0] if units and math.isclose(own.scale, 1) else ""

    def temperature(self, name: str) -> str:
        """A temperature on another scale, as people write it."""
        unit, written = self.chance.choice(_TEMPERATURES[self.scale(name)])
        return f'(_T_({name}, "{unit}") or ({written.format(name)}))'

    def like(self, text: str) -> str:
        """An expression that is often in the unit of another one."""
        own = self.value(text)
        if not isinstance(own, Sized) or own.unit is None or self.chance.random() < 0.15:
            return self.expression(1)
        names = [
            name for name in self.names
            if isinstance(other := self.env[name], Sized) and other.unit == own.unit
        ]  # fmt: skip
        if not names:
            return self.chance.choice(
                (text, f"({text} * {self.chance.choice(_MULTIPLIERS)})", self.expression(0))
            )
        name = self.chance.choice(names)
        factor = self.env[name].scale / own.scale
        if math.isclose(factor, 1) or self.chance.random() < 0.2:
            return name
        return self.scaled(name, factor)

    def scaled(self, text: str, factor: float) -> str:
        """Times a literal that converts, or by its inverse, whichever is rounder."""
        times, by = f"{factor:.12g}", f"{1 / factor:.12g}"
        return f"({text} * _C_({times}))" if len(times) <= len(by) else f"({text} / _C_({by}))"

    def conversion(self, text: str) -> str:
        """Into another unit of the tables, or by a factor that may be one."""
        own = self.value(text)
        if not isinstance(own, Sized) or own.unit is None or own.is_scale:
            return text
        units = [
            one
            for unit in (*_NAMES.values(), *map(as_pint, _LABELS))
            if (one := sized(1.0, unit)).unit == own.unit
        ]
        factors = [own.scale / one.scale for one in units if not math.isclose(one.scale, own.scale)]
        if not factors or self.chance.random() < 0.2:
            return self.scaled(text, self.chance.choice((1000.0, 0.001, 3600.0, 3.6, 100.0)))
        return self.scaled(text, self.chance.choice(factors))

    def label(self, text: str) -> str:
        """Often the unit of an expression."""
        own = self.value(text)
        fitting = [unit for unit in _LABELS if isinstance(own, Sized) and own.is_in(as_pint(unit))]
        return (
            self.chance.choice(fitting or _LABELS)
            if self.chance.random() < 0.9
            else self.chance.choice(_LABELS)
        )

    def can(self, unit: str, other: str) -> bool:
        return PINT.Unit(as_pint(unit)).dimensionality == PINT.Unit(as_pint(other)).dimensionality

    def call(self) -> str:
        name, params = self.chance.choice(self.helpers)
        arguments = []
        for param in params:
            unit = _NAMES.get(param or "")
            fitting = [
                n for n in self.names if unit and isinstance(self.env[n], Sized) and self.env[n].is_in(unit)
            ]
            arguments.append(
                self.chance.choice(fitting) if fitting and self.chance.random() < 0.9 else self.expression(1)
            )
        return f"{name}({', '.join(arguments)})"

    # statements

    def assign(self, name: str, text: str) -> str:
        self.env[name] = self.value(text)
        if isinstance(self.env[name], Sized):
            self.names.append(name)
        return f"{name} = {text}"

    def named(self, text: str) -> str:
        """A name for an expression: one that says its unit, or none."""
        own = self.value(text)
        endings = [
            name.rpartition("_")[2] for name, unit in _NAMES.items()
            if name.count("_") == 1 and isinstance(own, Sized) and own.is_in(unit)
        ]  # fmt: skip
        return (
            f"{self.fresh()}_{self.chance.choice(endings)}"
            if endings and self.chance.random() < 0.5
            else self.fresh()
        )

    def statement(self) -> list[str]:
        text = self.expression(self.chance.randint(1, 2))
        match self.chance.randrange(12):
            case 0:
                flag, name = self.chance.choice(_FLAGS), self.fresh()
                other = self.like(text)
                return [f"if {flag}:", f"    {self.assign(name, text)}", "else:", f"    {name} = {other}"]
            case 1:
                name = self.fresh()
                self.assign(name, text)
                step = self.chance.choice((f"{name} += {text}", f"{name} = {name} + {text}"))
                return [f"{name} = 0", "for _ in range(3):", f"    {step}"]
            case 2:
                name = self.fresh()
                self.assign(name, text)
                more = self.like(text)
                return [f"{name} = {text}", f"for one in [{text}, {more}]:", f"    {name} += one"]
            case 3:
                key, name = f"{self.fresh()}", self.fresh()
                told = self.named(text).partition("_")
                key = f"heat_{told[2]}" if told[2] else "reading"
                holder = self.fresh()
                read = self.chance.choice((f'{holder}["{key}"]', f'{holder}.get("{key}")'))
                line = f'{holder} = {{"{key}": {text}, "other": {self.expression(1)}}}'
                self.env[holder] = {key: self.value(text)}
                return [line, self.assign(name, read)]
            case 4:
                holder, name = self.fresh(), self.fresh()
                line = f'{holder} = _Q_({{"value": {text}, "unit": "{self.label(text)}"}})'
                self.env[holder] = self.value(line.partition(" = ")[2])
                return [line, self.assign(name, f'{holder}["value"]')]
            case 5:
                return [f"if {self.chance.choice(_FLAGS)}:", f"    return {text}"]
            case 6:
                name = self.fresh()
                self.assign(name, text)
                return [
                    f"{name} = {text}",
                    f"if {text} > {self.like(text)}:",
                    f"    {name} = {self.like(text)}",
                ]
            case 7:
                first, second, other = self.fresh(), self.fresh(), self.expression(1)
                self.assign(first, text)
                self.assign(second, other)
                return [f"{first}, {second} = {text}, {other}"]
            case 8 if self.classes:
                kind, fields = self.chance.choice(self.classes)
                holder = self.fresh()
                values = []
                for name in fields:
                    unit = _NAMES.get(name)
                    fitting = [
                        n
                        for n in self.names
                        if unit and isinstance(self.env[n], Sized) and self.env[n].is_in(unit)
                    ]
                    values.append(f"{name}={self.chance.choice(fitting) if fitting else self.expression(1)}")
                line = f"{holder} = {kind}({', '.join(values)})"
                self.env[holder] = self.value(line.partition(" = ")[2])
                return [line, self.assign(self.fresh(), f"{holder}.{self.chance.choice(fields)}")]
            case _:
                return [self.assign(self.named(text), text)]

    def helper(self) -> None:
        """A function of the program, some of whose parameters say their units."""
        name = f"helper{len(self.helpers)}"
        told = self.chance.sample([*_NAMES], self.chance.randint(1, 2))
        params = [p if self.chance.random() < 0.6 else None for p in told]
        names = [p or f"extra{i}" for i, p in enumerate(params)]
        inner = Program.__new__(Program)
        inner.__dict__.update(
            self.__dict__, names=names, helpers=[*self.helpers], classes=[], has_flags=False
        )
        inner.env = {
            **self.env,
            **{n: sized(_VALUES[t], _NAMES[t]) for n, t in zip(names, told, strict=True)},
        }
        body = inner.expression(2)
        lines = [f"def {name}({', '.join(names)}):"]
        if any(params):
            held = [p for p in params if p]
            lines.append(f"    {', '.join(held)}, = _take_({', '.join(f'{p}={p}' for p in held)})")
        lines += [f"    return {body}", ""]
        self.head += lines
        exec("\n".join(lines), self.env)
        self.helpers.append((name, params))

    def record(self) -> None:
        """A class of data, some of whose fields say their units."""
        fields = [*self.chance.sample([*_NAMES], 2), "reading"]
        held = fields[:2]
        lines = [
            "@dataclass",
            "class Record:",
            *(f"    {name}: float" for name in fields),
            "    def __post_init__(self):",
            f"        {', '.join(f'self.{n}' for n in held)}, = _take_({', '.join(f'{n}=self.{n}' for n in held)})",
            "",
        ]
        self.head += lines
        exec("\n".join(lines), self.env)
        self.classes.append(("Record", fields))
