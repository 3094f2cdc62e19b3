"""Where numbers of two units meet in a body: at an operator, at a comparison, at a parameter, at a label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
    given_arguments,
    given_fields,
    is_quantity_of_library,
)
from gllint_rules.inference.units.unit_calls import unit_calls
from gllint_rules.inference.values import ClassOf, External, ExternalInstance, FunctionOf, Method
from gllint_rules.reading import facts
from gllint_rules.reading.expression_index import direct_parts, expressions_in, expressions_of, parts_of
from gllint_rules.reading.facts import Binding, Block, Expr, Param, Scope
from gllint_rules.words.call_units import unit_of_attribute, unit_of_method
from gllint_rules.words.names import QUANTITY

_MEETING = frozenset({"Equal", "NotEqual", "LessThan", "LessThanEqual", "GreaterThan", "GreaterThanEqual"})
_ROUNDING = frozenset({"round", "float", "int", "Decimal"})
_MOST_WORD = 60


class Meeting(Struct, frozen=True, eq=False):
    """Two numbers that are added, subtracted or compared, and whose units differ; ``at`` is the right one."""

    at: int
    left: Measure
    right: Measure
    op: str


class Given(Struct, frozen=True, eq=False):
    """A number in one unit, at ``at``, that is given to a parameter, or labelled, in another."""

    at: int
    measure: Measure
    parameter: str
    wanted: Measure


Conflict: TypeAlias = Meeting | Given


def conflicts_in(units: Units, body: Body) -> list[Conflict]:
    """Return the numbers of a body that meet others of another unit, each place once."""
    found: dict[int, Conflict] = {}
    if not any(map(_is_hint, expressions_in(body.block))) and not (
        body.arguments or any(map(_is_declared, body.function.params if body.function else ()))
    ):
        return []
    search = _Search(units)
    for expr, scope in _meeting_places(body.block, body.scope):
        for conflict in search.conflicts(expr, replace(body, scope=scope)):
            found.setdefault(conflict.at, conflict)
    return list(found.values())


def _meeting_places(block: Block, scope: Scope) -> Iterator[tuple[Expr, Scope]]:
    """Yield the operations, comparisons and calls of a block with their scopes; chains as a whole."""
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
        """Yield the numbers of different units that an expression adds, compares or passes on."""
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
        """Return whether something in an expression, or what defines it in this body, names a unit."""
        for part in parts_of(expr):
            if _is_hint(part):
                return True
            if isinstance(part, facts.Name):
                if any(self._is_hinted(binding, body) for binding in self.units.reaching(part, body)):
                    return True
        return False

    def _is_hinted(self, binding: Binding, body: Body) -> bool:
        """Return whether a binding may have a unit, by the names in it; the units themselves cost more to read."""
        if binding not in self._hints:
            self._hints[binding] = False  # meanwhile, of one that rests on itself
            if isinstance(binding.target, Param):
                is_given = binding.target.name in body.arguments
                self._hints[binding] = is_given or _is_declared(binding.target)
            elif binding.value is not None and binding.kind in (
                "assign",
                "annotated",
                "aug",
                "item",
                "loop",
                "with",
            ):
                self._hints[binding] = self.is_hinted(binding.value, body)
        return self._hints[binding]

    # --- operators -------------------------------------------------------------------------------------------

    def in_chain(self, expr: facts.BinOp, body: Body) -> Iterator[Meeting]:
        """Yield the numbers of different units in a chain of arithmetic, from the left."""
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
                yield from _met(
                    operation.op, number_in_unit(meaning), number_in_unit(right), operation.right.at
                )
            meaning = arithmetic.binary(operation.op, meaning, right)

    def meeting(self, op: str, left: Expr, right: Expr, body: Body, are_absolute: bool) -> Iterator[Meeting]:
        first = number_in_unit(self.units.unit_of(left, body))
        if first is not None:
            second = number_in_unit(self.units.unit_of(right, body))
            yield from _met(op, first, second, right.at, are_absolute)

    # --- calls -----------------------------------------------------------------------------------------------

    def in_call(self, call: facts.Call, body: Body) -> Iterator[Conflict]:
        """Yield the arguments of a call whose unit is not the one that their parameter takes."""
        values = (*call.args, *(value for _, value in call.keywords))
        if not any(not isinstance(value, facts.Const) and self.is_hinted(value, body) for value in values):
            return
        table = unit_calls()
        if isinstance(call.func, facts.Attr) and len(call.args) == 1:
            op = table.method_operators.get(call.func.name, "")
            if op in ("+", "-"):
                yield from self.meeting(op, call.func.base, call.args[0], body, False)
        given: list[tuple[Expr, str, Measure | None]] = []
        match self.units.callee(call.func, body):
            case FunctionOf() as function:
                takes = self.units.parameter
                given += (
                    (value, param.name, takes(function.module, function.function, param))
                    for param, value in given_arguments(function, call)
                )
                given += self.labelled(function, call, body)
            case ClassOf() as of:
                given += (
                    (value, name, self.units.field(of, name) or measure_of_name(name))
                    for name, value in given_fields(of, call)
                )
            case External(name=full):
                if full in table.alike and len(call.args) > 1:
                    yield from self.alike(call.args, body)
                elif table.operators.get(full) in ("+", "-") and len(call.args) > 1:
                    left, right = call.args[:2]
                    yield from self.meeting(table.operators[full], left, right, body, False)
                unit = table.takers.get(full) or table.conversions.get(full, "").partition(" ")[0]
                if (
                    unit
                    and call.args
                    and not (full in table.conversions and self.is_rate(call.args[0], unit, body))
                ):
                    given.append((call.args[0], facts.last_name(call.func), measure_of_unit(unit)))
                if is_quantity_of_library(full) and call.args:
                    given.append((call.args[0], "", self.units.labelled(call, body)))
            case Method(of=ExternalInstance(name=owner), name="Quantity") if (
                owner in REGISTRIES and call.args
            ):
                given.append((call.args[0], "", self.units.labelled(call, body)))
        is_dict = isinstance(call.func, facts.Name) and call.func.id == "dict"
        if not is_dict:
            given += ((value, name, measure_of_name(name)) for name, value in call.keywords if name)
        judged: set[int] = set()
        for value, name, measure in given:
            if measure is None or value.at in judged or isinstance(value, facts.Const):
                continue
            judged.add(value.at)
            number = number_in_unit(self.units.unit_of(value, body))
            if number is not None and arithmetic.differ(measure, number):
                yield Given(value.at, number, name, replace(measure, role="number"))

    def is_rate(self, expr: Expr, unit: str, body: Body) -> bool:
        """Return whether a unit is one part of that of a number: a conversion changes that part (rad/s)."""
        number = number_in_unit(self.units.unit_of(expr, body))
        [part] = measure_of_unit(unit).readings[0]
        return number is not None and all(part in reading for reading in number.readings)

    def alike(self, args: tuple[Expr, ...], body: Body) -> Iterator[Meeting]:
        """Numbers that are compared with the first of them: ``max(a, b)``."""
        numbers = [(arg.at, number_in_unit(self.units.unit_of(arg, body))) for arg in args]
        known = [(at, number) for at, number in numbers if number is not None]
        for at, number in known[1:]:
            yield from _met("max", known[0][1], number, at, True)

    def labelled(
        self, callee: FunctionOf, call: facts.Call, body: Body
    ) -> Iterator[tuple[Expr, str, Measure | None]]:
        """Yield the numbers that a call labels with a unit: ``quantity(heat_wh, "kWh")``."""
        if any("unit" in param.name for param in callee.params):
            given = {param.name: value for param, value in given_arguments(callee, call)}
            for name, unit_name in self.labels(callee).items():
                if name in given and unit_name in given:
                    yield given[name], "", measure_of_text(self.units.text(given[unit_name], body))

    def labels(self, callee: FunctionOf, depth: int = 0) -> dict[str, str]:
        """Return the parameters for the value and the unit of the Quantity that a function makes."""
        function = callee.function
        labels: dict[str, str] = {}
        if not isinstance(function, facts.Function) or depth > 2:
            return labels
        body = self.units.body_of(callee.module, function)
        bindings = function.scope.bindings  # `value = value / SIZES[unit]` converts it
        params = {param.name for param in function.params if len(bindings.get(param.name, ())) <= 1}
        for expr in expressions_in(function.body):
            pairs: Iterable[tuple[Expr | None, Expr | None]] = ()
            match expr:
                case facts.Dict():
                    pairs = [(expr.value("value"), expr.value("unit"))]
                case facts.Call(args=args) if facts.last_name(expr.func) == QUANTITY:
                    placed = dict(zip(("value", "unit"), args, strict=False))
                    value, unit = (expr.keyword(key) or placed.get(key) for key in ("value", "unit"))
                    pairs = [(value, unit)]
                case facts.Call():
                    inner = self.units.callee(expr.func, body)
                    if isinstance(inner, FunctionOf) and any("unit" in param.name for param in inner.params):
                        given = {param.name: value for param, value in given_arguments(inner, expr)}
                        pairs = [
                            (given.get(a), given.get(b)) for a, b in self.labels(inner, depth + 1).items()
                        ]
            for value, unit in pairs:
                while (
                    isinstance(value, facts.Call) and value.args and facts.last_name(value.func) in _ROUNDING
                ):
                    value = value.args[0]
                if isinstance(value, facts.Name) and isinstance(unit, facts.Name):
                    if value.id in params and unit.id in params:
                        labels[value.id] = unit.id
        return labels


def names_unit(name: str) -> bool:
    """Return whether a name, or a key, ends in a unit."""
    return len(name) < _MOST_WORD and measure_of_name(name) is not None


def _is_hint(part: Expr) -> bool:
    """Return whether a name, an attribute or a key shows a unit."""
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
    """Return whether a parameter may declare a unit next to its type."""
    return any(True for _ in declaring_calls(param.annotation, param.default))


def _met(
    op: str, left: Measure | None, right: Measure | None, at: int, are_absolute: bool = False
) -> Iterator[Meeting]:
    if left is not None and right is not None and arithmetic.differ(left, right, are_absolute):
        yield Meeting(at, left, right, op)
