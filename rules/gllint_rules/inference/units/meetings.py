"""Conflicts of units in a body: at an operator (`kwh + kg`), a comparison, a parameter, or the unit of a Quantity."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from gllint_rules.inference.declarations import declaring_calls
from gllint_rules.inference.units import arithmetic
from gllint_rules.inference.units.measure import (
    Measure,
    measure_of_name,
    measure_of_text,
    measure_of_unit,
    number_in_unit,
)
from gllint_rules.inference.units.reader import (
    REGISTRIES,
    Body,
    Units,
    arguments_by_field,
    arguments_by_parameter,
    is_quantity_of_library,
)
from gllint_rules.inference.units.unit_calls import unit_calls
from gllint_rules.inference.values import ClassOf, External, ExternalInstance, FunctionOf, Method, Value
from gllint_rules.reading import facts
from gllint_rules.reading.expression_index import direct_parts, expressions_in, expressions_of, parts_of
from gllint_rules.reading.facts import Binding, Block, Expr, Param, Scope
from gllint_rules.words.call_units import unit_of_attribute, unit_of_method
from gllint_rules.words.names import QUANTITY

_MEETING = frozenset({"Equal", "NotEqual", "LessThan", "LessThanEqual", "GreaterThan", "GreaterThanEqual"})
_ROUNDING = frozenset({"round", "float", "int", "Decimal"})
_BY_VALUE = frozenset(
    {"assign", "annotated", "aug", "item", "loop", "with"}
)  # bindings whose unit is their value's
_MOST_WORD = 60  # characters of a name that is read
_MOST_HELPERS = 2  # functions within each other that make a Quantity


class Meeting(Struct, frozen=True, eq=False):
    """Two numbers of different units that are added, subtracted or compared; the right one is at ``at``."""

    at: int
    left: Measure
    right: Measure
    op: str


class Given(Struct, frozen=True, eq=False):
    """A number at ``at``, whose unit is not the one that a parameter takes, or that a Quantity is labelled with."""

    at: int
    measure: Measure
    parameter: str
    wanted: Measure


Conflict: TypeAlias = Meeting | Given


def conflicts_in(units: Units, body: Body) -> list[Conflict]:
    """Return the conflicts of units in a body, one for each place: `energy_kwh + mass_kg` → the sum."""
    conflicts: dict[int, Conflict] = {}
    # Reading units is expensive: skip a body in which nothing shows one.
    params = body.function.params if body.function else ()
    if not any(map(_is_hint, expressions_in(body.block))) and not (
        body.arguments or any(map(_is_declared, params))
    ):
        return []
    search = _Search(units)
    for expr, scope in _meeting_places(body.block, body.scope):
        for conflict in search.conflicts(expr, replace(body, scope=scope)):
            conflicts.setdefault(conflict.at, conflict)
    return list(conflicts.values())


def _meeting_places(block: Block, scope: Scope) -> Iterator[tuple[Expr, Scope]]:
    """Yield the operations, comparisons and calls of a block with their scopes; of a chain (`a + b + c`) the whole."""
    waiting: list[tuple[Expr, Scope]] = []
    for statement in facts.statements(block):
        if isinstance(statement, facts.AugAssign):
            target, value = statement.target, statement.value
            waiting.append((facts.BinOp(value.at, statement.op, target, value), scope))
        else:
            waiting += ((expr, scope) for expr in expressions_of(statement))
    while waiting:
        expr, inside = waiting.pop()
        if isinstance(expr, (facts.BinOp, facts.Compare, facts.Call)):
            yield expr, inside
        if isinstance(expr, (facts.Comp, facts.Lambda)):
            inside = expr.scope
        chain = expr
        while isinstance(chain, facts.BinOp):
            waiting.append((chain.right, inside))
            chain = chain.left
        if chain is not expr:
            waiting.append((chain, inside))
        else:
            waiting += ((part, inside) for part in direct_parts(expr))


class _Search:
    """Looks for conflicts at single expressions."""

    def __init__(self, units: Units) -> None:
        self.units = units
        self._hints: dict[Binding, bool] = {}

    def conflicts(self, expr: Expr, body: Body) -> Iterator[Conflict]:
        """Yield the conflicts at one operation, comparison or call, without those in its parts."""
        match expr:
            case facts.BinOp():
                yield from self.in_chain(expr, body)
            case facts.Compare(operands=operands, ops=ops):
                if not _MEETING.isdisjoint(ops) and self.is_hinted(expr, body):
                    for op, left, right in zip(ops, operands, operands[1:], strict=False):
                        if op in _MEETING:
                            yield from self.meeting(op, left, right, body, True)
            case facts.Call():
                yield from self.in_call(expr, body)

    # --- what may be in a unit --------------------------------------------------------------------------------

    def is_hinted(self, expr: Expr, body: Body) -> bool:
        """Return whether a name in an expression, or in the assignments to its names in this body, shows a unit."""
        for part in parts_of(expr):
            if _is_hint(part):
                return True
            if isinstance(part, facts.Name):
                if any(self._is_hinted(binding, body) for binding in self.units.reaching(part, body)):
                    return True
        return False

    def _is_hinted(self, binding: Binding, body: Body) -> bool:
        """Return whether a binding may have a unit, by the names in its value; reading the unit itself costs more."""
        if binding not in self._hints:
            self._hints[binding] = False  # while it is being computed, for a binding that uses itself
            if isinstance(binding.target, Param):
                has_argument = binding.target.name in body.arguments
                self._hints[binding] = has_argument or _is_declared(binding.target)
            elif binding.value is not None and binding.kind in _BY_VALUE:
                self._hints[binding] = self.is_hinted(binding.value, body)
        return self._hints[binding]

    # --- operators -------------------------------------------------------------------------------------------

    def in_chain(self, expr: facts.BinOp, body: Body) -> Iterator[Meeting]:
        """Yield the conflicts in a chain of arithmetic, from the left: `a_kwh + b_kwh + c_kg` → one, at `c_kg`."""
        chain: list[facts.BinOp] = []
        left: Expr = expr
        while isinstance(left, facts.BinOp):
            chain.append(left)
            left = left.left
        if not any(operation.op in "+-" for operation in chain) or not self.is_hinted(expr, body):
            return
        meaning = self.units.unit_of(left, body)
        for operation in reversed(chain):
            right = self.units.unit_of(operation.right, body)
            if operation.op in "+-":
                first, second = number_in_unit(meaning), number_in_unit(right)
                yield from _meeting(operation.op, first, second, operation.right.at)
            meaning = arithmetic.binary(operation.op, meaning, right)

    def meeting(self, op: str, left: Expr, right: Expr, body: Body, are_absolute: bool) -> Iterator[Meeting]:
        """Yield the conflict of ``left op right`` if there is one; ``are_absolute`` as in :func:`arithmetic.fit`."""
        first = number_in_unit(self.units.unit_of(left, body))
        if first is not None:
            second = number_in_unit(self.units.unit_of(right, body))
            yield from _meeting(op, first, second, right.at, are_absolute)

    # --- calls -----------------------------------------------------------------------------------------------

    def in_call(self, call: facts.Call, body: Body) -> Iterator[Conflict]:
        """Yield the conflicts at a call: `heat(minutes=hours)`, `math.sin(angle_deg)`, `max(a_kwh, b_wh)`."""
        values = (*call.args, *(value for _, value in call.keywords))
        if not any(not isinstance(value, facts.Const) and self.is_hinted(value, body) for value in values):
            return
        callee = self.units.callee(call.func, body)
        yield from self._operands(call, callee, body)
        checked: set[int] = set()
        for value, name, measure in self._arguments(call, callee, body):
            if measure is None or value.at in checked or isinstance(value, facts.Const):
                continue
            checked.add(value.at)
            number = number_in_unit(self.units.unit_of(value, body))
            if number is not None and arithmetic.differ(measure, number):
                yield Given(value.at, number, name, replace(measure, role="number"))

    def _operands(self, call: facts.Call, callee: Value | None, body: Body) -> Iterator[Meeting]:
        """Yield the conflicts of a call that is an operator: `a.add(b)`, `numpy.subtract(a, b)`, `max(a, b)`."""
        table = unit_calls()
        if isinstance(call.func, facts.Attr) and len(call.args) == 1:
            op = table.method_operators.get(call.func.name, "")
            if op in ("+", "-"):
                yield from self.meeting(op, call.func.base, call.args[0], body, False)
        if isinstance(callee, External) and len(call.args) > 1:
            if callee.name in table.alike:
                yield from self.alike(call.args, body)
            elif (op := table.operators.get(callee.name, "")) in ("+", "-"):
                yield from self.meeting(op, call.args[0], call.args[1], body, False)

    def _arguments(
        self, call: facts.Call, callee: Value | None, body: Body
    ) -> Iterator[tuple[Expr, str, Measure | None]]:
        """Yield the arguments of a call with the name of the parameter, and the measure that it takes.

        The name is empty for the number of a Quantity: `Q_(heat_wh, "kWh")` → `heat_wh`, "", kWh.
        """
        table, units = unit_calls(), self.units
        match callee:
            case FunctionOf() as function:
                for param, value in arguments_by_parameter(function, call):
                    yield value, param.name, units.parameter(function.module, function.function, param)
                yield from self.labelled(function, call, body)
            case ClassOf() as of:
                for name, value in arguments_by_field(of, call):
                    yield value, name, units.field(of, name) or measure_of_name(name)
            case External(name=full) if call.args:
                first = call.args[0]
                unit = table.takers.get(full) or table.conversions.get(full, "").partition(" ")[0]
                if unit and not (full in table.conversions and self.is_rate(first, unit, body)):
                    yield first, facts.last_name(call.func), measure_of_unit(unit)
                if is_quantity_of_library(full):
                    yield first, "", units.labelled(call, body)
            case Method(of=ExternalInstance(name=owner), name="Quantity") if (
                owner in REGISTRIES and call.args
            ):
                yield call.args[0], "", units.labelled(call, body)
        # The keywords of a callee that is not known say what it takes; those of `dict` are keys.
        if not (isinstance(call.func, facts.Name) and call.func.id == "dict"):
            for keyword, value in call.keywords:
                if keyword:
                    yield value, keyword, measure_of_name(keyword)

    def is_rate(self, expr: Expr, unit: str, body: Body) -> bool:
        """Return whether ``unit`` is one part of a number's unit: `math.degrees(x)` makes deg/s of rad/s."""
        number = number_in_unit(self.units.unit_of(expr, body))
        [part] = measure_of_unit(unit).readings[0]
        return number is not None and all(part in reading for reading in number.readings)

    def alike(self, args: tuple[Expr, ...], body: Body) -> Iterator[Meeting]:
        """Yield the conflicts of all arguments with the first of known unit: `max(a_kwh, b_wh)`."""
        units = [(arg.at, number_in_unit(self.units.unit_of(arg, body))) for arg in args]
        numbers = [(at, number) for at, number in units if number is not None]
        for at, number in numbers[1:]:
            yield from _meeting("max", numbers[0][1], number, at, True)

    def labelled(
        self, callee: FunctionOf, call: facts.Call, body: Body
    ) -> Iterator[tuple[Expr, str, Measure | None]]:
        """Yield the numbers that a function puts into a Quantity: `quantity(heat_wh, "kWh")` → `heat_wh`, "", kWh."""
        if any("unit" in param.name for param in callee.params):
            arguments = {param.name: value for param, value in arguments_by_parameter(callee, call)}
            for name, unit_name in self.labels(callee).items():
                if name in arguments and unit_name in arguments:
                    unit = self.units.text(arguments[unit_name], body)
                    yield arguments[name], "", measure_of_text(unit)

    def labels(self, callee: FunctionOf, depth: int = 0) -> dict[str, str]:
        """Return the parameters that a function puts into a Quantity, each with the parameter of its unit.

        ``def q(x, u): return {"value": x, "unit": u}`` → ``{"x": "u"}``
        """
        function = callee.function
        labels: dict[str, str] = {}
        if not isinstance(function, facts.Function) or depth > _MOST_HELPERS:
            return labels
        body = self.units.body_of(callee.module, function)
        # A parameter that is assigned in the body is not what the caller passed: `value = value / SIZES[unit]`.
        bindings = function.scope.bindings
        params = {param.name for param in function.params if len(bindings.get(param.name, ())) <= 1}
        for expr in expressions_in(function.body):
            for value, unit in self._values_with_units(expr, body, depth):
                while (
                    isinstance(value, facts.Call) and value.args and facts.last_name(value.func) in _ROUNDING
                ):
                    value = value.args[0]
                if isinstance(value, facts.Name) and isinstance(unit, facts.Name):
                    if value.id in params and unit.id in params:
                        labels[value.id] = unit.id
        return labels

    def _values_with_units(
        self, expr: Expr, body: Body, depth: int
    ) -> Iterator[tuple[Expr | None, Expr | None]]:
        """Yield value and unit of a Quantity: of a dict, of ``Quantity(v, u)``, or of a call of another helper."""
        match expr:
            case facts.Dict():
                yield expr.value("value"), expr.value("unit")
            case facts.Call(args=args) if facts.last_name(expr.func) == QUANTITY:
                placed = dict(zip(("value", "unit"), args, strict=False))
                value, unit = (expr.keyword(key) or placed.get(key) for key in ("value", "unit"))
                yield value, unit
            case facts.Call():
                inner = self.units.callee(expr.func, body)
                if isinstance(inner, FunctionOf) and any("unit" in param.name for param in inner.params):
                    arguments = {param.name: value for param, value in arguments_by_parameter(inner, expr)}
                    for value_name, unit_name in self.labels(inner, depth + 1).items():
                        yield arguments.get(value_name), arguments.get(unit_name)


def names_unit(name: str) -> bool:
    """Return whether a name, or a key, ends in a unit: ``heat_kwh``."""
    return len(name) < _MOST_WORD and measure_of_name(name) is not None


def _is_hint(part: Expr) -> bool:
    """Return whether a name, an attribute or a key shows a unit: `heat_kwh`, `delta.total_seconds`, `"value"`."""
    match part:
        case facts.Name(id=name):
            return names_unit(name)
        case facts.Attr(name=name):
            return unit_of_attribute(name) is not None or unit_of_method(name) is not None or names_unit(name)
        case facts.Const(value=str() as text):
            return text == "value" or names_unit(text)
        case facts.Call():
            return any(name is not None and names_unit(name) for name, _ in part.keywords)
        case _:
            return False


def _is_declared(param: Param) -> bool:
    """Return whether a parameter may declare a unit next to its type: ``x: Annotated[float, Field(…)]``."""
    return any(True for _ in declaring_calls(param.annotation, param.default))


def _meeting(
    op: str, left: Measure | None, right: Measure | None, at: int, are_absolute: bool = False
) -> Iterator[Meeting]:
    """Yield the conflict of two numbers if their units are known and differ."""
    if left is not None and right is not None and arithmetic.differ(left, right, are_absolute):
        yield Meeting(at, left, right, op)
