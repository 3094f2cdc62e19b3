"""The units of expressions, by their names, their definitions and their arithmetic.

An expression is read together with a *way* into it: ``("heat", "value")`` is what a dict has under these keys, and
nothing else of the dict is read. A name is read by the definitions that reach it, a call by the returns of the
function, whose parameters have the units of the arguments if they show none themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from gllint_rules.inference.declarations import declared_unit
from gllint_rules.inference.units import arithmetic
from gllint_rules.inference.units.measure import (
    COUNT,
    Factor,
    Meaning,
    Measure,
    announced_by,
    joined,
    meaning_of_name,
    measure_of_name,
    measure_of_text,
    measure_of_unit,
    number_in_unit,
    with_readings,
)
from gllint_rules.inference.units.naming import is_no_number, meaning_of_variable
from gllint_rules.inference.units.unit_calls import unit_calls
from gllint_rules.inference.values import (
    ClassOf,
    External,
    ExternalInstance,
    Frame,
    FunctionOf,
    Method,
    Number,
    Site,
    Text,
    ToolValue,
    Value,
    class_of,
    options,
)
from gllint_rules.reading import facts
from gllint_rules.reading.expression_index import direct_parts, parts_of
from gllint_rules.reading.facts import Binding, Block, Expr, Function, Lambda, Module, Param, Scope
from gllint_rules.words.call_units import unit_of_attribute, unit_of_function, unit_of_method
from gllint_rules.words.names import QUANTITY
from gllint_runtime.policy.names import is_unit_itself, name_words
from gllint_runtime.policy.unit_expressions import Factors
from gllint_runtime.policy.unit_libraries import is_of_unit_library
from gllint_runtime.policy.unit_sizes import factors_of_unit, product, size_of

if TYPE_CHECKING:
    from gllint_rules.inference.protocol import Evaluator

EACH, ANY = -1, -2
"""The steps of a way to the elements that a loop goes over, and to the value under an unknown key."""

Way: TypeAlias = tuple["str | int", ...]

_PREFIX = re.compile(r"^_*(?:get|compute|calculate|calc|fetch|read|load|find|estimate|sum)_")
_MAGNITUDES = frozenset({"magnitude", "m", "value"})
REGISTRIES = ("pint.UnitRegistry", "pint.registry.UnitRegistry", "pint.application_registry")
_PACKAGES = ("pint", "astropy")
_MAKERS = frozenset({"ureg", "Q_"})  # what projects call their registry of units, and what makes a quantity
# Attributes that are the numbers of an array or table in another form.
_ARRAYS = frozenset({"values", "T", "real", "flat", "iloc", "loc", "iat", "at", "array", "data"})
_LOOKUPS = frozenset({"get", "pop", "setdefault"})
_MOST_DEFINITIONS = 4  # of a name of another scope
_MOST_CALLS = 4  # that are followed with their arguments, within each other


class Body(Struct, frozen=True, eq=False):
    """The place where an expression is read: its scope, the statements around it, and the arguments of a call."""

    module: Module
    scope: Scope
    block: Block = ()
    function: Function | None = None
    arguments: Mapping[str, Measure | tuple[Expr, Body]] = {}


class Units:
    """Reads the units of a project's expressions. ``declared`` are the units that schemas declare for parameters."""

    def __init__(
        self, evaluator: Evaluator, declared: Mapping[Function, Mapping[str, Measure]] | None = None
    ) -> None:
        self.evaluator = evaluator
        self.declared = declared or {}
        self._bodies: dict[object, Body] = {}
        self._known: dict[tuple[Binding, Way], Meaning] = {}
        self._ends: dict[Binding, int] = {}
        self._stores: dict[Scope, frozenset[str]] = {}
        self._attributes: set[Expr] = set()  # being read as what an attribute is given
        self._calls: list[Function | Lambda] = []

    # --- bodies ----------------------------------------------------------------------------------------------

    def body_of(self, module: Module, function: Function) -> Body:
        """Return the body of a function, with the units that a schema declares as its arguments."""
        body = self._bodies.get(function)
        if body is None:
            arguments = self.declared.get(function, {})
            body = Body(module, function.scope, function.body, function, arguments)
            self._bodies[function] = body
        return body

    def body_of_section(self, module: Module, number: int) -> Body:
        """Return the statements of a section that are in no function, as a body."""
        part = module.section(number)
        body = self._bodies.get(part)
        if body is None:
            body = self._bodies[part] = Body(module, module.scope, part.body)
        return body

    def body_at(self, site: Site) -> Body:
        """Return the body around the expression at ``site``: that of the innermost function, or of its section.

        Names mean what a comprehension binds, if the expression is a value or an argument in its element.
        """
        section = site.module.section_of(site.at)
        around = [function for function in section.functions if function.at < site.at < function.end]
        if around:
            body = self.body_of(site.module, max(around, key=lambda function: function.at))
        else:
            body = self.body_of_section(site.module, section.section.number)
        holders: list[tuple[Expr, Scope]] = [*section.dicts, *section.calls]
        for holder, scope in holders:
            if scope.kind == "comprehension" and any(part.at == site.at for part in direct_parts(holder)):
                return replace(body, scope=scope)
        return body

    # --- expressions -----------------------------------------------------------------------------------------

    def unit_of(self, expr: Expr, body: Body, way: Way = ()) -> Meaning:
        """Return the unit of an expression, or its part at ``way``: ``heat_wh / 1000`` → kWh; ``None`` if unknown."""
        if self.evaluator.depth:  # within another question
            return self._read(expr, body, way)
        self._attributes.clear()
        self._calls.clear()
        site = Site(body.module, expr.at)
        return self.evaluator.outermost(lambda: self._read(expr, body, way), None, site)

    def _read(self, expr: Expr, body: Body, way: Way = ()) -> Meaning:
        """Return the unit of an expression, and count it in the budgets of depth and steps."""
        evaluator = self.evaluator
        depth = evaluator.depth
        evaluator.step()
        evaluator.deeper()
        try:
            return self._meaning(expr, body, way)
        finally:
            evaluator.depth = depth

    def _meaning(self, expr: Expr, body: Body, way: Way) -> Meaning:
        """Return the unit of an expression by its kind: of ``-x`` that of ``x``, of ``a if t else b`` that of both."""
        match expr:
            case facts.Const(value=value):
                return _part(_literal(value), way)
            case facts.Name():
                return self._name(expr, body, way)
            case facts.Attr():
                return self._attribute(expr, body, way)
            case facts.Sub(base=base, index=index):
                return self._item(base, _step(index), body, way)
            case facts.Call():
                return self._call(expr, body, way)
            case facts.BinOp():
                return _part(self._chain(expr, body), way)
            case facts.UnaryOp(op="+" | "-" as op, operand=operand):
                inner = self._read(operand, body, way)
                if op == "-" and isinstance(inner, Factor) and inner.value is not None:
                    return Factor(-inner.value)
                return inner
            case facts.BoolOp(left=left, right=right):
                return joined(self._read(side, body, way) for side in (left, right))
            case facts.IfExp(body=first, orelse=second):
                return joined(self._read(arm, body, way) for arm in (first, second) if not _is_none(arm))
            case facts.Comp(element=element, scope=scope):
                return self._read(element, replace(body, scope=scope), way[1:])
            case facts.Seq(items=items):
                return self._element(items, body, way)
            case facts.Dict():
                return self._entry(expr, body, way)
            case facts.Await(value=inner) | facts.Star(value=inner) | facts.Walrus(value=inner):
                return self._read(inner, body, way)
            case _:
                return None

    def _chain(self, expr: facts.BinOp, body: Body) -> Meaning:
        """Return the unit of a chain of operations, from left to right: ``a + b - c``."""
        chain = [expr]  # a loop, because a chain of 10,000 terms nests as deep on its left side
        while isinstance(chain[-1].left, facts.BinOp):
            chain.append(chain[-1].left)
        meaning = self._read(chain[-1].left, body)
        for operation in reversed(chain):
            meaning = arithmetic.binary(operation.op, meaning, self._read(operation.right, body))
        return meaning

    # --- names -----------------------------------------------------------------------------------------------

    def reaching(self, expr: facts.Name, body: Body) -> list[Binding]:
        """Return the bindings that a read of a name may see: of ``x = 1; x = 2; use(x)`` the second.

        Of a name that a comprehension or a function around binds, all.
        """
        home = body.scope.home(expr.id)
        bindings = home.bindings[expr.id] if home is not None else []
        # The order of the source is that of execution only within one function.
        if home is None or home.owner is not body.function or home.kind == "comprehension":
            return bindings
        last: list[Binding] = []
        for binding in reversed(bindings):
            if binding not in self._ends:
                self._ends[binding] = _end(binding)
            if self._ends[binding] < expr.at and not any(_replaces(later, binding) for later in last):
                last.append(binding)
        return last[::-1]

    def _name(self, expr: facts.Name, body: Body, way: Way) -> Meaning:
        """Return the unit of a variable: of a local one by its assignments, of others by the name first."""
        if self._has_unit_packages(body.module) and isinstance(
            unit := self._constant(expr, body), Measure
        ):  # `from astropy.units import kWh`
            return _part(unit, way)
        home = body.scope.home(expr.id)
        is_inner = home is not None and (home.kind == "comprehension" or home.owner is body.function)
        announced = None if is_unit_itself(expr.id) else _part(meaning_of_name(expr.id), way)
        if announced is not None and not (is_inner and home is not body.module.scope):
            return announced
        bindings = self.reaching(expr, body)
        if not bindings or home is None:
            return announced
        if any(b.kind in ("import", "def", "class", "alias") for b in bindings):
            return _part(self._constant(expr, body), way)
        if not is_inner:  # a variable of a function around, or of the module
            if len(bindings) > _MOST_DEFINITIONS or any(
                b.kind not in ("assign", "annotated") for b in bindings
            ):
                return None
            owner = home.owner if isinstance(home.owner, Function) else None
            body = self.body_of(body.module, owner) if owner else Body(body.module, body.module.scope)
        elif home.kind == "comprehension":
            body = replace(body, scope=home)
        return joined(self._bound(expr.id, binding, body, way) for binding in bindings)

    def _bound(self, name: str, binding: Binding, body: Body, way: Way) -> Meaning:
        """Return the unit of a name, or of its part at ``way``, after one binding: ``x = y_kwh`` → kWh."""
        if isinstance(binding.target, Param):
            return self._parameter(binding.target, body, way)
        key = (binding, way)
        if not body.arguments and key in self._known:
            return self._known[key]
        value, index = binding.value, binding.index  # of `a, b = value` the index is the place of the name
        is_loop = binding.kind == "loop"
        has_keys = any(isinstance(step, str) for step in way)
        if value is None or (way and self._may_change(name, has_keys, body.function)):
            meaning = None
        elif binding.branch is not None and _scales_itself(name, value):
            meaning = None  # `x = x / 1000` in a loop or branch: how often it is executed is not known
        elif is_loop:
            meaning = self._each(value, (*index, *way), body)
        else:
            meaning = self._read(value, body, (*index, *way))
        if not has_keys:  # the name is that of the number itself, or of an array
            meaning = meaning_of_variable(name, meaning, value if not index and not is_loop else None)
        if not body.arguments:
            self._known[key] = meaning
        return meaning

    def _may_change(self, name: str, has_keys: bool, function: Function | None) -> bool:
        """Return whether a function changes a container: ``x[i] = …``, or, of its keys, by passing it to a function."""
        if function is None:
            return False
        if function.scope not in self._stores:
            self._stores[function.scope] = _stores(function.body)
        return name in self._stores[function.scope] or (has_keys and name in function.changed)

    def _each(self, source: Expr, way: Way, body: Body) -> Meaning:
        """Return the unit of the part at ``way`` of each element that a loop over ``source`` goes over.

        ``for i, x in enumerate(heats_kwh)``: the part 1 is in kWh.
        """
        match source, way:
            case facts.Call(func=facts.Attr(base=base, name="items"), args=()), (place, *rest):
                return self._read(base, body, (ANY, *rest)) if place == 1 else None
            case facts.Call(func=facts.Attr(name="keys"), args=()), _:
                return None
            case facts.Call(func=facts.Name(id="enumerate"), args=(inner, *_)), (place, *rest):
                return self._each(inner, tuple(rest), body) if place == 1 else None
            case facts.Call(func=facts.Name(id="zip"), args=args), (int() as place, *rest) if (
                0 <= place < len(args)
            ):
                return self._each(args[place], tuple(rest), body)
            case _:
                return self._read(source, body, (EACH, *way))

    def _parameter(self, param: Param, body: Body, way: Way) -> Meaning:
        """Return the unit of a parameter: the declared one, else that of the argument in the call, else of its name."""
        argument = body.arguments.get(param.name)
        if isinstance(argument, Measure):  # a schema declares it
            return _part(argument, way)
        function = body.function
        declared = _part(self.parameter(body.module, function, param), way) if function is not None else None
        if declared is not None:
            return declared
        meaning = self._read(*argument, way) if argument is not None else None
        if meaning is None and way and isinstance(way[0], str) and function is not None:  # `self.heat`
            of = self._class_of(param, function, body)
            return self.attribute(of, way[0], way[1:]) if of is not None else None
        return meaning if meaning is not None else _part(meaning_of_name(param.name), way)

    def parameter(self, module: Module, function: Function | Lambda, param: Param) -> Measure | None:
        """Return the unit that a parameter takes, by its declaration, else by its name: ``def f(heat_kwh)`` → kWh."""
        frame = Frame(module, function.scope.parent or module.scope)
        declared = declared_unit(self.evaluator, param.annotation, param.default, frame)
        return measure_of_text(declared) or measure_of_name(param.name)

    def _class_of(self, param: Param, function: Function, body: Body) -> ClassOf | None:
        """Return the class of the instances that a parameter takes: of ``self`` the one around, else its annotation."""
        owner = function.owner
        if owner is not None and param is function.params[0]:
            is_static = "staticmethod" in map(facts.last_name, function.decorators)
            return None if is_static else ClassOf(body.module, owner)
        if param.annotation is None:
            return None
        frame = Frame(body.module, function.scope.parent or body.module.scope)
        return class_of(self.evaluator.annotation(param.annotation, frame))

    # --- parts -----------------------------------------------------------------------------------------------

    def _attribute(self, expr: facts.Attr, body: Body, way: Way) -> Meaning:
        """Return the unit of an attribute: by its assignments, else by its name (``self.heat_kwh``)."""
        name = expr.name
        if self._has_unit_packages(body.module):
            unit = self._unit_of_library(expr, body)
            if unit is not None:
                return unit
        has_keys = any(isinstance(step, str) for step in way)
        if not has_keys and (name in _MAGNITUDES or name in _ARRAYS):
            base = self._read(expr.base, body)
            # `quantity.magnitude` and `array.T` are numbers in the unit of what is before the dot.
            if isinstance(base, Measure) and (base.role == "quantity") == (name in _MAGNITUDES):
                return _part(replace(base, role="number"), way)
        field = self._read(expr.base, body, (name, *way))
        if has_keys:
            return field
        announced = None if _is_listed_unit(expr) else announced_by(name)
        if announced is not None:
            # After `self.timeout_ms = timeout_ms / 1000` it is in seconds, whatever the name says.
            return meaning_of_variable(name, field, None) if number_in_unit(field) else announced
        fixed = unit_of_attribute(name)
        if fixed is not None:
            return measure_of_unit(fixed)
        if field is not None or measure_of_name(name) is not None:
            return field
        return meaning_of_name(name) or self._constant(expr, body)

    def attribute(self, of: ClassOf, name: str, way: Way = ()) -> Meaning:
        """Return the unit of ``self.name``: that the class declares, or that all assignments to it agree on.

        ``self.heat = x_kwh`` → kWh; ``None`` if they differ, or if there are too many to read.
        """
        declared = self.field(of, name)
        if declared is not None:
            return _part(declared, way)
        stores = of.cls.attributes.get(name, ())
        values = [(value, scope.enclosing_function()) for value, _, scope in stores if value is not None]
        if len(values) > _MOST_DEFINITIONS or any(is_no_number(value) for value, _ in values):
            return None
        if any(value in self._attributes for value, _ in values):  # a circle: `self.x = self.x + 1`
            return None
        expressions = {value for value, _ in values}
        self._attributes |= expressions
        try:
            return joined(
                self._read(value, self.body_of(of.module, owner), way)
                for value, owner in values
                if owner is not None
            )
        finally:
            self._attributes -= expressions

    def field(self, of: ClassOf, name: str) -> Measure | None:
        """Return the unit that a class declares for a field: ``x: Annotated[float, Field(…)]``; ``None`` for none."""
        frame = Frame(of.module, of.cls.scope)
        for binding in of.cls.scope.bindings.get(name, ()):
            unit = declared_unit(self.evaluator, binding.annotation, binding.value, frame)
            if unit:
                return measure_of_text(unit)
        return None

    def _item(self, base: Expr, step: str | int, body: Body, way: Way) -> Meaning:
        """Return the unit of ``base[step]``: of the entry, of the key (``row["heat_kwh"]``), or of an element."""
        if isinstance(step, int):
            return self._read(base, body, (step, *way))
        entry = self._read(base, body, (step, *way))
        if entry is not None or any(isinstance(further, str) for further in way):
            return entry
        announced = measure_of_name(step)
        if announced is None:
            whole = number_in_unit(self._read(base, body))
            return whole if whole is not None else meaning_of_name(step)
        return announced

    def _element(self, items: tuple[Expr, ...], body: Body, way: Way) -> Meaning:
        """Return the unit of an element of a list: ``[a_kwh, b_kg]``, 1 → kg; without a place, that of all."""
        step = way[0] if way else EACH
        if isinstance(step, str):
            return None
        # After a `*spread` the places are not known.
        is_any = step < 0 or any(isinstance(item, facts.Star) for item in items)
        if not is_any and step >= len(items):
            return None
        return joined(self._read(item, body, way[1:]) for item in (items if is_any else (items[step],)))

    def _entry(self, expr: facts.Dict, body: Body, way: Way) -> Meaning:
        """Return the unit of an entry of a dict: ``{"value": x, "unit": "kWh"}``, ``("value",)`` → kWh."""
        if not way:
            return None
        key, rest = way[0], way[1:]
        unit = expr.value("unit")
        if way == ("value",) and unit is not None:
            return measure_of_text(self.text(unit, body))
        if key == EACH:
            return None  # a loop goes over the keys
        if isinstance(key, int):  # any entry
            return joined(
                self._read(value, body, rest if name is not None else way) for name, value in expr.items
            )
        for name, value in reversed(expr.items):  # the last entry of a key counts
            if name is None:  # `**spread`
                spread = self._read(value, body, way)
                if spread is not None:
                    return spread
            elif isinstance(name, facts.Const) and name.value == key:
                entry = self._read(value, body, rest)
                return entry if entry is not None or rest else measure_of_name(key)
        return None

    # --- calls -----------------------------------------------------------------------------------------------

    def _call(self, call: facts.Call, body: Body, way: Way) -> Meaning:
        """Return the unit of the result of a call, by the callee, else by its name: ``heat_kwh()`` → kWh."""
        func = call.func
        # The most frequent calls, none of which has a unit, need not be evaluated.
        if isinstance(func, facts.Name) and func.id in ("len", "range", "str", "print", "isinstance"):
            return COUNT if func.id == "len" and not way else None
        if isinstance(func, facts.Attr):
            result = self._method(func, call, body, way)
            if result is not None:
                return result
        match self.callee(func, body):
            case FunctionOf() as function:
                return self._result(function, call, body, way)
            case ClassOf() as of:
                return self._constructed_field(of, call, body, way)
            case External(name=full):
                result = self._external(full, call, body, way)
                if result is not None:
                    return result
            case Method(of=ExternalInstance(name=owner), name="Quantity") if owner in REGISTRIES:
                return self.labelled(call, body)
        fixed = unit_of_method(func.name) if isinstance(func, facts.Attr) else None
        return _part(measure_of_unit(fixed) if fixed else _measure_of_call(facts.last_name(func)), way)

    def callee(self, func: Expr, body: Body) -> Value | None:
        """Return the value that a call calls: a function, class or method; ``None`` if it is not known."""
        root = facts.dotted(func).partition(".")[0]
        # `ureg = UnitRegistry()` at module level; other variables are not followed here.
        is_registry = self._has_unit_packages(body.module) and body.scope.home(root) is body.module.scope
        if is_registry or _is_fixed(body.scope, root):
            value = self.value(func, body)
            return value.tool.called if isinstance(value, ToolValue) else value
        if not isinstance(func, facts.Attr):
            return None
        of = self._class_of_object(func.base, body)
        method = self.evaluator.class_member(of, func.name) if of is not None else None
        if not isinstance(method, FunctionOf) or not isinstance(method.function, Function):
            return None
        is_static = "staticmethod" in map(facts.last_name, method.function.decorators)
        return replace(method, first=not is_static)

    def _class_of_object(self, expr: Expr, body: Body) -> ClassOf | None:
        """Return the class of an object: ``Plant()`` → ``Plant``, also through a variable or parameter."""
        match expr:
            case facts.Call(func=func):
                of = self.callee(func, body)
                return of if isinstance(of, ClassOf) else None
            case facts.Name() if len(bindings := self.reaching(expr, body)) == 1:
                [binding] = bindings
                if isinstance(binding.target, Param) and body.function is not None:
                    return self._class_of(binding.target, body.function, body)
                is_assigned = binding.kind == "assign" and binding.value is not None
                return self._class_of_object(binding.value, body) if is_assigned and binding.value else None
            case _:
                return None

    def _method(self, func: facts.Attr, call: facts.Call, body: Body, way: Way) -> Meaning:
        """Return the unit of the result of a method of a number, array, dict or Quantity: ``heats_kwh.sum()`` → kWh."""
        name, base, table = func.name, func.base, unit_calls()
        match name, call.args:
            case "to" | "m_as" | "to_value", (unit, *_):  # pint and astropy: `quantity.to("kWh")`
                measure = self.unit(unit, body)
                is_known = measure is not None and size_of(measure.readings[0]) is not None
                role = "quantity" if name == "to" else "number"
                return replace(measure, role=role) if measure is not None and is_known else None
            case _, (facts.Const(value=str() as key), *_) if name in _LOOKUPS:
                return self._item(base, key, body, way)
            case "values", () if way:
                return self._read(base, body, (ANY, *way[1:]))
            case _ if name in table.methods or (name in ("get", "pop") and call.args):
                return number_in_unit(self._read(base, body, tuple(EACH for _ in way)))
            case _, (argument,) if name in table.method_operators:
                left = number_in_unit(self._read(base, body))
                operation = table.method_operators[name]
                return arithmetic.binary(operation, left, self._read(argument, body)) if left else None
        return None

    def _result(self, callee: FunctionOf, call: facts.Call, body: Body, way: Way) -> Meaning:
        """Return the unit of the result of a function of the project: by its returns, else by its name.

        In its body, parameters that declare no unit have that of their argument.
        """
        function = callee.function
        if not isinstance(function, Function):
            return None
        announced = _part(_measure_of_call(function.name), way)
        if function.yields or function in self._calls or _gives_no_number(function):
            return announced
        inner = self.body_of(callee.module, function)
        if len(self._calls) < _MOST_CALLS:
            arguments = {
                param.name: (value, body)
                for param, value in arguments_by_parameter(callee, call)
                if self.parameter(callee.module, function, param) is None
            }
            inner = replace(inner, arguments={**arguments, **inner.arguments})
        self._calls.append(function)
        try:
            result = self.returned(function, inner, way)
        finally:
            self._calls.pop()
        if isinstance(result, Factor):
            return announced or result  # `def fee_cents(): return 35`
        return result if result is not None else announced

    def returned(self, function: Function, body: Body, way: Way = ()) -> Meaning:
        """Return the unit that all returns of a function agree on; ``None`` if one returns nothing."""
        values = [s.value for s in facts.statements(function.body) if isinstance(s, facts.Return)]
        expressions = [value for value in values if value is not None]
        if len(expressions) < len(values):
            return None
        # In the order of the source: the first unknown one ends the search.
        return joined(self.unit_of(expr, body, way) for expr in sorted(expressions, key=lambda expr: expr.at))

    def _constructed_field(self, of: ClassOf, call: facts.Call, body: Body, way: Way) -> Meaning:
        """Return the unit of a field of a new object, by its argument: ``Plant(x_kwh)``, ``("heat",)`` → kWh."""
        if not way or not isinstance(way[0], str):
            return None
        name, rest = way[0], way[1:]
        if name == "value" and of.cls.name == QUANTITY:
            return self._quantity(call, body)
        value = dict(arguments_by_field(of, call)).get(name)
        if value is None:
            return self.attribute(of, name, rest)
        meaning = self._read(value, body, rest)
        declared = None if rest else self.field(of, name) or measure_of_name(name)
        number = number_in_unit(meaning)
        # An argument in another unit is reported at this call, so the field counts as what it declares.
        if declared is not None and (number is None or arithmetic.differ(declared, number)):
            return declared
        return meaning

    def _quantity(self, call: facts.Call, body: Body) -> Measure | None:
        """Return the unit of ``Quantity(x, "kWh")``: kWh."""
        unit = call.keyword("unit") or (call.args[1] if len(call.args) > 1 else None)
        return measure_of_text(self.text(unit, body)) if unit is not None else None

    def _external(self, full: str, call: facts.Call, body: Body, way: Way) -> Meaning:
        """Return the unit of the result of a function from outside the project: ``round(x_kwh)`` → kWh.

        ``unit_calls.txt`` explains the tables.
        """
        table, args = unit_calls(), call.args
        if full in table.objects:  # `shutil.disk_usage(path).free`
            unit, *parts = table.objects[full].split()
            return measure_of_unit(unit) if way and way[0] in parts else None
        if full.rpartition(".")[2] == QUANTITY and way == ("value",):
            return self._quantity(call, body)
        if full in table.first or (full in table.alike and len(args) == 1):
            is_read = args and full != "builtins.tuple"
            return self._read(args[0], body, way or (EACH,)) if is_read else None
        if any(isinstance(step, str) for step in way):  # the results below are numbers, without keys
            return None
        if full in table.alike:
            return self._alike(args, body)
        if full in table.operators and len(args) >= 2:
            left, right = (self._read(arg, body) for arg in args[:2])
            return arithmetic.binary(table.operators[full], left, right)
        if full in table.powers and args:
            return arithmetic.binary("**", self._read(args[0], body), Factor(float(table.powers[full])))
        if full in table.picks:
            places = [int(place) for place in table.picks[full].split()]
            return joined(self._read(args[place], body) if place < len(args) else None for place in places)
        if full in table.conversions and args:
            source, target = map(factors_of_unit, table.conversions[full].split())
            return self._converted(self._read(args[0], body), (source, target))
        if full in table.takers:  # `math.sin` gives a ratio, `time.sleep` nothing
            return None if table.takers[full] == "s" else Measure(((),))
        if full == "builtins.getattr" and len(args) >= 2:
            return measure_of_name(self.text(args[1], body) or "")
        fixed = unit_of_function(full)
        if fixed is not None:
            return COUNT if fixed == "count" else measure_of_unit(fixed)
        if is_quantity_of_library(full):
            return self.labelled(call, body)
        return None

    def _alike(self, args: Iterable[Expr], body: Body) -> Meaning:
        """Return the unit of ``max(a, b)``: that of the arguments if it is one; ``None`` if theirs differ."""
        meanings = [self._read(arg, body) for arg in args]
        numbers = [number for meaning in meanings if (number := number_in_unit(meaning)) is not None]
        are_same = all(arithmetic.fit(numbers[0], number) == "same" for number in numbers)
        return joined(meanings) if are_same else None

    def _converted(self, meaning: Meaning, units: tuple[Factors, Factors]) -> Measure | None:
        """Return the unit after a conversion such as `math.degrees`: rad/s → deg/s, an unknown unit → deg.

        ``units`` are the two units of the conversion, here rad and deg.
        """
        source, target = units
        number = number_in_unit(meaning)
        if number is not None and all(source[0] in unit for unit in number.readings):
            readings = (product((unit, 1), (target, 1), (source, -1)) for unit in number.readings)
            return with_readings(readings, number.loose, is_either=number.is_either)
        return Measure((target,), loose=number is None, is_whole=True)

    # --- libraries -------------------------------------------------------------------------------------------

    def labelled(self, call: facts.Call, body: Body) -> Measure | None:
        """Return the unit of the quantity that a call makes: ``Q_(x, "kWh")`` → kWh; ``None`` if it is not known."""
        unit = call.args[1] if len(call.args) > 1 else call.keyword("units", "unit")
        measure = self.unit(unit, body) if unit is not None else None
        return replace(measure, role="quantity") if measure is not None else None

    def unit(self, expr: Expr, body: Body) -> Measure | None:
        """Return the unit that an argument names: ``"kWh"`` or ``ureg.kWh`` → kWh; ``None`` if it is not known."""
        meaning = self._read(expr, body) if self._has_unit_packages(body.module) else None
        if isinstance(meaning, Measure) and meaning.role == "unit":
            return replace(meaning, is_whole=True)
        return measure_of_text(self.text(expr, body))

    def _unit_of_library(self, expr: facts.Attr, body: Body) -> Measure | None:
        """Return the unit of pint or astropy that an attribute is: ``ureg.kWh`` → kWh; ``None`` if it is none."""
        match self.value(expr.base, body):
            case ExternalInstance(name=name) if name in REGISTRIES:
                measure = measure_of_text(expr.name)
            case External(name="astropy.units"):
                measure = measure_of_text(unit_calls().astropy.get(expr.name, expr.name))
            case _:
                return None
        return replace(measure, role="unit", is_whole=False) if measure is not None else None

    def _has_unit_packages(self, module: Module) -> bool:
        """Return whether a module may make units with pint or astropy."""
        return not module.packages.isdisjoint(_PACKAGES) or not _MAKERS.isdisjoint(module.imported_names)

    # --- values ----------------------------------------------------------------------------------------------

    def value(self, expr: Expr, body: Body) -> Value | None:
        """Return the value of an expression; ``None`` if it may have several."""
        values = options(self.evaluator.eval(expr, Frame(body.module, body.scope)))
        return values[0] if len(values) == 1 else None

    def text(self, expr: Expr, body: Body) -> str | None:
        """Return the text of an expression, if it is known: ``UNIT`` → ``"kWh"`` after ``UNIT = "kWh"``."""
        value = self.value(expr, body)
        return value.literal if isinstance(value, Text) else None

    def _constant(self, expr: Expr, body: Body) -> Meaning:
        """Return the meaning of an imported name: of a constant its number, of ``astropy.units.kWh`` the unit kWh."""
        root = facts.dotted(expr).partition(".")[0]
        if not _is_fixed(body.scope, root):
            return None
        match self.value(expr, body):
            case Number(literal=literal):
                return _literal(literal)
            case External(name=name) if name.startswith("astropy.units."):
                name = name.removeprefix("astropy.units.")
                measure = measure_of_text(unit_calls().astropy.get(name, name))
                return replace(measure, role="unit", is_whole=False) if measure is not None else None
            case _:
                return None


# --- arguments -----------------------------------------------------------------------------------------------


def arguments_by_parameter(callee: FunctionOf, call: facts.Call) -> Iterator[tuple[Param, Expr]]:
    """Yield the arguments of a call with their parameters: ``f(1, b=2)`` → a 1, b 2; without ``*args``."""
    params = [param for param in callee.params if param.kind in ("positional", "any")]
    yield from zip(params, call.placed(), strict=False)
    by_name = {param.name: param for param in callee.params}
    for name, value in call.keywords:
        if name is not None and name in by_name:
            yield by_name[name], value


def arguments_by_field(of: ClassOf, call: facts.Call) -> Iterator[tuple[str, Expr]]:
    """Yield the arguments of a constructor with their names: ``Plant(5, heat=6)`` → name 5, heat 6.

    Without ``__init__`` the annotated fields are the parameters, as of a dataclass.
    """
    method = of.cls.method("__init__")
    names = (
        [param.name for param in method.params[1:] if param.kind in ("positional", "any")]
        if method is not None
        else [
            name for name, bindings in of.cls.statements() if any(b.annotation is not None for b in bindings)
        ]
    )
    yield from zip(names, call.placed(), strict=False)
    for name, value in call.keywords:
        if name is not None:
            yield name, value


def _is_fixed(scope: Scope, root: str) -> bool:
    """Return whether a name is never a variable: it is imported, a function, a class or built in."""
    return root != "" and all(binding.kind in ("import", "def", "class") for binding in scope.find(root))


def _end(binding: Binding) -> int:
    """Return the number of the last expression in the value of a binding: a read after that one sees the binding."""
    parts = parts_of(binding.value) if binding.value is not None else ()
    return max((part.at for part in parts), default=binding.at)


def _stores(block: Block) -> frozenset[str]:
    """Return the names of the containers that a block stores into: ``x[0] = 1`` → ``x``."""
    targets = [
        target
        for statement in facts.statements(block)
        if isinstance(statement, (facts.Assign, facts.AugAssign))
        for target in (statement.targets if isinstance(statement, facts.Assign) else (statement.target,))
    ]
    return frozenset(
        t.base.id for t in targets if isinstance(t, facts.Sub) and isinstance(t.base, facts.Name)
    )


def _replaces(later: Binding, earlier: Binding) -> bool:
    """Return whether a later binding always replaces an earlier one: it is in the same block, or in one around it.

    ``if t: x = 1`` before ``x = 2`` is always replaced; the other way round, ``x = 2`` may remain.
    """
    branch = earlier.branch
    while branch is not None and branch is not later.branch:
        branch = branch.outer
    return branch is later.branch


def _scales_itself(name: str, value: Expr) -> bool:
    """Return whether the value of a name is a multiple of the name: ``x = x / 1000``."""
    is_scaled = any(isinstance(part, facts.BinOp) and part.op not in "+-" for part in parts_of(value))
    return is_scaled and any(isinstance(part, facts.Name) and part.id == name for part in parts_of(value))


def is_quantity_of_library(full: str) -> bool:
    """Return whether a full name is that of a unit library's ``Quantity``: ``astropy.units.Quantity``."""
    return full.endswith(".Quantity") and is_of_unit_library(full)


def _part(meaning: Meaning, way: Way) -> Meaning:
    """Return the unit of a part of something in one unit: an array in kWh, ``(0,)`` → kWh; ``("a",)`` → ``None``."""
    if way and (isinstance(meaning, Factor) and meaning.is_count):  # a count has no elements
        return None
    return None if any(isinstance(step, str) for step in way) else meaning


def _step(index: Expr) -> str | int:
    """Return the step of a way for an index: ``["a"]`` → ``"a"``, ``[0]`` → 0, ``[i]`` → ``ANY``.

    A text with a literal end shows a unit as a name would: ``[f"{plant}_kwh"]`` → ``"x_kwh"``.
    """
    match index:
        case facts.Const(value=str() as key):
            return key
        case facts.Const(value=int() as place) if place >= 0:
            return place
        case facts.Join(parts=(*_, facts.Const(value=str() as end))):
            pass
        case facts.BinOp(op="+", right=facts.Const(value=str() as end)):
            pass
        case _:
            return ANY
    return f"x{end}" if end and not end[0].isalnum() else ANY


def _is_listed_unit(expr: facts.Attr) -> bool:
    """Return whether an attribute is a unit in an enumeration: `LengthUnit.meters`, which is no number of meters.

    `unit.heat_kwh` is a number in kWh: that unit is a flat, or a machine.
    """
    base = facts.last_name(expr.base)
    is_class = base[:1].isupper()
    return base.lower().endswith(("unit", "units")) and (is_class or len(name_words(expr.name)) == 1)


def _gives_no_number(function: Function) -> bool:
    """Return whether a function is annotated as returning a text, a truth value or nothing: ``-> str``."""
    match function.returns:
        case facts.Name(id="str" | "bool" | "bytes") | facts.Const(value=None):
            return True
        case _:
            return False


def _measure_of_call(name: str) -> Measure | None:
    """Return the unit at the end of a function's name: ``get_heat_kwh`` → kWh.

    ``None`` without another word before it: `gauss()` is a distribution.
    """
    measure = measure_of_name(_PREFIX.sub("", name))
    return measure if measure is not None and len(name_words(name)) > 1 else None


def _literal(value: object) -> Factor | None:
    """Return a literal number as a factor: 5 → 5.0; without its value if no float can be as large."""
    if type(value) is not int and type(value) is not float:
        return None
    try:
        return Factor(float(value))
    except OverflowError:
        return Factor(None)


def _is_none(expr: Expr) -> bool:
    return isinstance(expr, facts.Const) and expr.value is None
