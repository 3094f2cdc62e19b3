"""What is known of an expression within a body: its unit, and what it does to others."""

from __future__ import annotations

import re

from msgspec.structs import replace

from gllint_rules.inference.measures import arithmetic
from gllint_rules.inference.measures.meanings import (
    COUNT,
    RATIO,
    Factor,
    Fields,
    Meaning,
    Measure,
    PhysicalQuantity,
    Places,
    UnitObject,
    element,
    join,
    joined,
    meaning_of_name,
    measure_of_name,
    measure_of_unit,
    with_readings,
)
from gllint_rules.inference.measures.naming import announced_by, path, place, stored
from gllint_rules.inference.measures.outcome import Argument, Env, Meeting, UnitFlow, UnitQuestions
from gllint_rules.inference.measures.unit_calls import unit_calls
from gllint_rules.inference.values import (
    ClassOf,
    External,
    ExternalInstance,
    Frame,
    FunctionOf,
    Method,
    Number,
    Text,
    ToolValue,
    Value,
    options,
)
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Expr, Module, Scope
from gllint_rules.words.call_units import unit_of_attribute, unit_of_function, unit_of_method
from gllint_rules.words.names import QUANTITY
from gllint_runtime.policy.names import is_unit_itself, name_words
from gllint_runtime.policy.unit_expressions import Factors
from gllint_runtime.policy.unit_sizes import factors_of_unit, product, size_of
from gllint_runtime.policy.unit_spellings import spelling_of

_PREFIX = re.compile(r"^_*(?:get|compute|calculate|calc|fetch|read|load|find|estimate|sum)_")
_ROUNDING = frozenset({"round", "float", "int", "Decimal"})
_MAGNITUDES = frozenset({"magnitude", "m", "value"})
_REGISTRIES = ("pint.UnitRegistry", "pint.registry.UnitRegistry", "pint.application_registry")
_MEETING = frozenset({"Equal", "NotEqual", "LessThan", "LessThanEqual", "GreaterThan", "GreaterThanEqual"})
# Attributes that give the numbers of what they are read from.
_ARRAYS = frozenset({"values", "T", "real", "flat", "iloc", "loc", "iat", "at", "array", "data"})
_LOOKUPS = frozenset({"get", "pop", "setdefault"})


class Expressions:
    """Reads expressions of one body, and notes what is known of them."""

    def __init__(self, units: UnitQuestions, module: Module, scope: Scope) -> None:
        self.units = units
        self.module = module
        self.scope = scope
        self.flow = UnitFlow()
        self.has_unit_packages = units.uses_unit_packages(module)
        self.unused: int | None = None  # the place of the statement that is a mere expression

    def note(self, at: int, meaning: Meaning) -> None:
        self.flow.measures[at] = meaning

    def meaning(self, expr: Expr, env: Env) -> Meaning:
        """What is known of an expression."""
        kind = type(expr)
        if kind is facts.Const:  # the leaves are most of all expressions
            return self.literal(expr)  # type: ignore[arg-type]
        evaluator = self.units.evaluator
        evaluator.step()
        if kind is facts.Name and expr.id in env:  # type: ignore[union-attr]
            return self.noted(expr.at, env[expr.id])  # type: ignore[union-attr]
        depth = evaluator.depth
        evaluator.deeper()
        try:
            meaning = self._meaning(expr, env)
        finally:
            evaluator.depth = depth
        return self.noted(expr.at, meaning)

    def noted(self, at: int, meaning: Meaning) -> Meaning:
        """What is known of the expression at a place, noted."""
        if meaning is not None:
            self.flow.measures[at] = meaning
        else:
            self.flow.measures.pop(at, None)
        return meaning

    def literal(self, expr: facts.Const) -> Factor | None:
        """A number that is written out; texts and truth values are none."""
        if type(expr.value) is not int and type(expr.value) is not float:
            return None
        factor = self.flow.measures[expr.at] = _literal(expr.value)
        return factor

    def _meaning(self, expr: Expr, env: Env) -> Meaning:
        match expr:
            case facts.Name():
                return self.name(expr, env)
            case facts.Attr():
                return self.attribute(expr, env)
            case facts.Sub(base=base, index=index):
                return self.item(expr, base, index, env)
            case facts.Call():
                return self.call(expr, env)
            case facts.BinOp():
                return self.chain(expr, env)
            case facts.UnaryOp(op=op, operand=operand):
                inner = self.meaning(operand, env)
                if op == "-" and isinstance(inner, Factor) and inner.value is not None:
                    return Factor(-inner.value)
                return inner if op in "+-" else None
            case facts.BoolOp(left=left, right=right):
                return join(self.meaning(left, env), self.meaning(right, env))
            case facts.IfExp(test=test, body=body, orelse=orelse):
                self.meaning(test, env)
                arms = [self.meaning(arm, env) for arm in (body, orelse) if not _is_none(arm)]
                return joined(arms)
            case facts.Compare(operands=operands, ops=ops):
                self.comparison(operands, ops, env)
                return None
            case facts.Comp():
                return self.comprehension(expr, env)
            case facts.Seq(kind=kind, items=items):
                meanings = tuple(self.meaning(item, env) for item in items)
                return Places(meanings) if kind == "tuple" else joined(meanings)
            case facts.Dict():
                return self.fields(expr, env)
            case facts.Lambda(params=params, body=body):
                self.meaning(body, {**env, **{param.name: measure_of_name(param.name) for param in params}})
                return None
            case facts.Join(parts=parts):
                for part in parts:
                    if isinstance(part, facts.Hole):
                        self.meaning(part.value, env)
                return None
            case facts.Await(value=inner) | facts.Star(value=inner):
                return self.meaning(inner, env)
            case facts.Yield(value=value):
                if value is not None:
                    self.meaning(value, env)
                return None
            case facts.Walrus(target=target, value=value):
                env[target] = stored(target, self.meaning(value, env), value)
                return env[target]
            case _:
                return None

    # --- names and parts -----------------------------------------------------------------------------------------

    def name(self, expr: facts.Name, env: Env) -> Meaning:
        if self.has_unit_packages and expr.id not in self.scope.bindings:
            if isinstance(unit := self.constant(expr), UnitObject):  # `from astropy.units import kWh`
                return unit
        announced = None if is_unit_itself(expr.id) else meaning_of_name(expr.id)
        if announced is not None or expr.id in self.scope.bindings:
            return announced
        outer = self.units.outer(self.scope, expr.id, self.module)
        return outer if outer is not None else self.constant(expr)

    def constant(self, expr: Expr) -> Meaning:
        """The literal number that a name of a module stands for, or a unit that it imports."""
        match self.value(expr):
            case Number(literal=literal) if isinstance(literal, (int, float)):
                return _literal(literal)
            case External(name=name):
                return _astropy_unit(name)
            case _:
                return None

    def value(self, expr: Expr) -> Value | None:
        """The one value that an expression has, as the evaluator says."""
        values = options(self.units.evaluator.eval(expr, Frame(self.module, self.scope)))
        return values[0] if len(values) == 1 else None

    def attribute(self, expr: facts.Attr, env: Env) -> Meaning:
        key = path(expr)
        if self.has_unit_packages and (unit := self.unit_object(expr, env)) is not None:
            return unit
        base = self.meaning(expr.base, env)
        if key in env:
            return env[key]
        owner = base.owner if isinstance(base, Fields) else None
        match base:
            case PhysicalQuantity(measure=measure) if expr.name in _MAGNITUDES:
                return measure
            case Fields(entries=entries) if expr.name in entries:
                return entries[expr.name]
            case Measure() if expr.name in _ARRAYS:
                return base
        assigned = self.units.attribute(ClassOf(*owner), expr.name) if owner is not None else None
        announced = None if _is_listed_unit(expr) else announced_by(expr.name)
        if announced is not None:
            # `self.timeout_ms = timeout_ms / 1000`: what is assigned goes before what the name says.
            return stored(expr.name, assigned, None) if isinstance(assigned, Measure) else announced
        fixed = unit_of_attribute(expr.name)
        if fixed is not None:
            return measure_of_unit(fixed)
        if owner is not None or not self.is_imported(expr, env):
            is_unit = measure_of_name(expr.name) is not None
            return assigned if assigned is not None or is_unit else meaning_of_name(expr.name)
        return self.constant(expr)

    def is_imported(self, expr: Expr, env: Env) -> bool:
        """Whether a name, or what it is read from, is imported or built in, so that it is cheap to look up.

        A module's own names are, too, where it may make a registry of units.
        """
        root, _, _ = path(expr).partition(".")
        if not root or root in env:
            return False
        home = self.scope.home(root)
        if home is None:
            return True
        kinds = {binding.kind for binding in home.bindings[root]}
        return kinds <= {"import", "def", "class"} or (self.has_unit_packages and home.kind == "module")

    def unit_object(self, expr: facts.Attr, env: Env) -> UnitObject | None:
        """The unit of pint or astropy that an attribute is: ``ureg.kWh``, ``u.kWh``."""
        match self.value(expr.base) if self.is_imported(expr.base, env) else None:
            case ExternalInstance(name=name) if name in _REGISTRIES:
                unit = unit_of_text(expr.name)
            case External(name="astropy.units"):
                unit = unit_of_text(unit_calls().astropy.get(expr.name, expr.name))
            case _:
                return None
        return UnitObject(unit) if unit is not None else None

    def item(self, expr: facts.Sub, base: Expr, index: Expr, env: Env) -> Meaning:
        whole = self.meaning(base, env)
        self.meaning(index, env)
        match index:
            case facts.Const(value=str() as key):
                if isinstance(whole, Fields) and key in whole.entries:
                    return whole.entries[key]
                return measure_of_name(key) or (whole if isinstance(whole, Measure) else meaning_of_name(key))
            case facts.Join() | facts.BinOp() if (end := _end_of_text(index)) is not None:
                announced = measure_of_name(f"x{end}")
                if announced is not None:
                    return announced
            case facts.Const(value=int() as number) if isinstance(whole, Places):
                return whole.items[number] if number < len(whole.items) else None
        if isinstance(whole, Fields):
            return joined(whole.entries.values()) if whole.entries else None
        return element(whole)

    # --- operators -----------------------------------------------------------------------------------------------

    def chain(self, expr: facts.BinOp, env: Env) -> Meaning:
        chain = [expr]  # long chains nest to the left
        while isinstance(chain[-1].left, facts.BinOp):
            chain.append(chain[-1].left)
        meaning = self.meaning(chain[-1].left, env)
        for operation in reversed(chain):
            right = self.meaning(operation.right, env)
            meaning = self.noted(
                operation.at, self.operation(operation.op, meaning, right, operation.right.at)
            )
        return meaning

    def operation(self, op: str, left: Meaning, right: Meaning, at: int) -> Meaning:
        """``left op right``, the right side standing at ``at``."""
        if op in "+-" and isinstance(left, Measure) and isinstance(right, Measure):
            self.meet(left, right, at, op, are_absolute=False)
        return arithmetic.binary(op, left, right)

    def meet(self, left: Measure, right: Measure, at: int, op: str, are_absolute: bool) -> None:
        """Note that two numbers meet whose units differ."""
        if arithmetic.fit(left, right, are_absolute) in ("size", "dimension"):
            self.flow.meetings[at] = Meeting(at, left, right, op)
        else:
            self.flow.meetings.pop(at, None)

    def comparison(self, operands: tuple[Expr, ...], ops: tuple[str, ...], env: Env) -> None:
        meanings = [self.meaning(operand, env) for operand in operands]
        for op, left, right, operand in zip(ops, meanings, meanings[1:], operands[1:], strict=False):
            if op in _MEETING and isinstance(left, Measure) and isinstance(right, Measure):
                self.meet(left, right, operand.at, op, are_absolute=True)

    def alike(self, args: tuple[Expr, ...], meanings: list[Meaning]) -> Meaning:
        """``max(a, b)``: one of several that are compared."""
        if len(args) == 1:
            return element(meanings[0])
        measures = [(arg, m) for arg, m in zip(args, meanings, strict=False) if isinstance(m, Measure)]
        for arg, measure in measures:
            self.meet(measures[0][1], measure, arg.at, "max", are_absolute=True)
        fitting = all(arithmetic.fit(measures[0][1], measure) == "same" for _, measure in measures)
        return joined(meanings) if fitting else None

    # --- containers ----------------------------------------------------------------------------------------------

    def fields(self, expr: facts.Dict, env: Env) -> Meaning:
        entries: dict[str, Meaning] = {}
        for key, value in expr.items:
            meaning = self.meaning(value, env)
            if key is None:
                entries |= meaning.entries if isinstance(meaning, Fields) else {}
            elif isinstance(key, facts.Const) and isinstance(key.value, str):
                entries[key.value] = meaning if meaning is not None else measure_of_name(key.value)
            else:
                self.meaning(key, env)
        unit = expr.value("unit")
        self.label(expr.value("value"), unit)
        return self.quantity(entries, unit) if "value" in entries else Fields(entries)

    def label(self, value: Expr | None, unit: Expr | None) -> None:
        """Note that a parameter's number is given the unit that another parameter says."""
        function = self.scope.owner
        if not isinstance(unit, facts.Name) or not isinstance(function, facts.Function):
            return
        while isinstance(value, facts.Call) and value.args and facts.last_name(value.func) in _ROUNDING:
            value = value.args[0]
        bindings = function.scope.bindings  # `value = value / SIZES[unit]` converts it
        names = {param.name for param in function.params if len(bindings.get(param.name, ())) <= 1}
        if isinstance(value, facts.Name) and value.id in names and unit.id in names:
            self.flow.labels[value.id] = unit.id

    def labelled_arguments(self, callee: FunctionOf, call: facts.Call, bindings: Env) -> None:
        """Hold numbers against the units that a call gives them: `quantity(heat_wh, "kWh")`."""
        if not any("unit" in param.name for param in callee.params):
            return
        params = [p for p in callee.params if p.kind in ("positional", "any")]
        written = {param.name: arg for param, arg in zip(params, call.placed(), strict=False)}
        written |= {keyword: arg for keyword, arg in call.keywords if keyword is not None}
        for name, unit_name in self.units.labels(callee).items():
            value, unit = written.get(name), written.get(unit_name)
            if value is None or unit is None:
                continue
            self.label(value, unit)
            text = self.text(unit)
            factors = unit_of_text(text) if text else None
            if factors is not None and value.at not in self.flow.arguments:
                self.argument(value.at, bindings.get(name), "", Measure((factors,), is_whole=True))

    def quantity(self, entries: dict[str, Meaning], unit: Expr | None) -> Fields:
        """A Quantity is in the unit that it says."""
        text = self.text(unit) if unit is not None else None
        factors = unit_of_text(text) if text else None
        value = Measure((factors,), is_whole=True) if factors is not None else None
        return Fields({**entries, "value": value})

    def text(self, expr: Expr) -> str | None:
        """The text that an expression is known to be."""
        value = self.value(expr)
        return value.literal if isinstance(value, Text) else None

    def comprehension(self, expr: facts.Comp, env: Env) -> Meaning:
        inner = dict(env)
        outer, self.scope = self.scope, expr.scope
        try:
            for name, bindings in expr.scope.bindings.items():
                for binding in bindings:
                    meaning = self.iterated(binding.value, inner) if binding.value is not None else None
                    for index in binding.index:
                        meaning = (
                            place(meaning, index, -1)
                            if not isinstance(meaning, Places)
                            else (meaning.items[index] if index < len(meaning.items) else None)
                        )
                    inner[name] = stored(name, meaning, None)
            for test in expr.tests:
                self.meaning(test, inner)
            if expr.key is not None:
                self.meaning(expr.key, inner)
            return element_wise(self.meaning(expr.element, inner))
        finally:
            self.scope = outer

    def iterated(self, source: Expr, env: Env) -> Meaning:
        """One element of what is gone through."""
        match source:
            case facts.Call(func=facts.Attr(base=base, name="items"), args=()):
                return Places((None, _dict_value(self.meaning(base, env))))
            case facts.Call(func=facts.Attr(base=base, name="values"), args=()):
                return _dict_value(self.meaning(base, env))
            case facts.Call(func=facts.Attr(base=base, name="keys"), args=()):
                self.meaning(base, env)
                return None
            case facts.Call(func=facts.Name(id="enumerate"), args=(inner, *_)):
                return Places((None, self.iterated(inner, env)))
            case facts.Call(func=facts.Name(id="zip"), args=args):
                return Places(tuple(self.iterated(arg, env) for arg in args))
            case _:
                meaning = self.meaning(source, env)
                return element(meaning)

    # --- calls ---------------------------------------------------------------------------------------------------

    def call(self, call: facts.Call, env: Env) -> Meaning:
        name = facts.last_name(call.func)
        base = self.meaning(call.func.base, env) if isinstance(call.func, facts.Attr) else None
        args = [self.meaning(arg, env) for arg in call.args]
        keywords = self.keywords(call, env)
        if isinstance(call.func, facts.Name) and call.func.id in (
            "len",
            "range",
            "str",
            "print",
            "isinstance",
        ):
            return COUNT if call.func.id == "len" else None
        result = self.package_result(call, base, args)
        if result is not None:
            return result
        match self.callee(call.func, base, env):
            case FunctionOf() as function:
                return self.function(function, call, args, keywords)
            case ClassOf() as of:
                return self.instance(of, call, args, keywords)
            case External(name=full):
                result = self.external(full, call, args)
                if result is not None:
                    return result
            case Method(of=ExternalInstance(name=owner), name="Quantity") if owner in _REGISTRIES:
                return self.labelled(call, args)
        fixed = unit_of_method(name) if isinstance(call.func, facts.Attr) else None
        if fixed is not None:
            return measure_of_unit(fixed)
        return _measure_of_call(name)

    def callee(self, func: Expr, base: Meaning, env: Env) -> Value | None:
        """What is called, where that is a name that does not change, or a method of an object of a known class."""
        if isinstance(func, facts.Attr) and isinstance(base, Fields) and base.owner is not None:
            method = self.units.evaluator.class_member(ClassOf(*base.owner), func.name)
            if not isinstance(method, FunctionOf) or not isinstance(method.function, facts.Function):
                return None
            is_static = "staticmethod" in map(facts.last_name, method.function.decorators)
            return replace(method, first=not is_static)
        value = self.value(func) if self.is_imported(func, env) else None
        return value.tool.called if isinstance(value, ToolValue) else value

    def keywords(self, call: facts.Call, env: Env) -> dict[str, Meaning]:
        """The arguments by name; the number of one unit that is given to a name which says another is noted."""
        keywords: dict[str, Meaning] = {}
        is_dict = isinstance(call.func, facts.Name) and call.func.id == "dict"
        for keyword, value in call.keywords:
            meaning = self.meaning(value, env)
            if keyword is not None:
                keywords[keyword] = meaning
                if not is_dict:
                    self.argument(value.at, meaning, keyword)
        return keywords

    def argument(self, at: int, meaning: Meaning, parameter: str, wanted: Measure | None = None) -> bool:
        """Note a number that is given to a parameter which says another unit; whether it does."""
        wanted = wanted or measure_of_name(parameter)
        if not isinstance(meaning, Measure) or wanted is None:
            return False
        if arithmetic.fit(wanted, meaning) in ("size", "dimension"):
            self.flow.arguments[at] = Argument(at, meaning, parameter, wanted)
            return True
        self.flow.arguments.pop(at, None)
        return False

    def package_result(self, call: facts.Call, base: Meaning, args: list[Meaning]) -> Meaning:
        """A method of a number, of an array or of a quantity."""
        if not isinstance(call.func, facts.Attr):
            return None
        name, table = call.func.name, unit_calls()
        match name:
            case "to" | "m_as" | "to_value" if call.args:
                unit = self.unit(call.args[0], args[0])
                if unit is not None and size_of(unit) is not None:
                    measure = Measure((unit,), is_whole=True)
                    return PhysicalQuantity(measure) if name == "to" else measure
                return None
            case _ if name in _LOOKUPS and call.args and isinstance(call.args[0], facts.Const):
                key = call.args[0].value
                if isinstance(base, Fields) and isinstance(key, str) and key in base.entries:
                    return base.entries[key]
                return meaning_of_name(key) if isinstance(key, str) else None
            case "get" | "pop" if isinstance(base, Measure):
                return base
        if isinstance(base, Measure):
            if name in table.methods:
                return base
            if name in table.method_operators and len(args) == 1:
                return self.operation(table.method_operators[name], base, args[0], call.args[0].at)
        return None

    def unit(self, expr: Expr, meaning: Meaning) -> Factors | None:
        """The unit that an argument says: a text, or an object of a library."""
        if isinstance(meaning, UnitObject):
            return meaning.unit
        text = self.text(expr)
        return unit_of_text(text) if text else None

    def external(self, full: str, call: facts.Call, args: list[Meaning]) -> Meaning:
        """A function from outside the project."""
        table = unit_calls()
        if full in table.first:
            return element(args[0]) if args and full != "builtins.tuple" else None
        if full in table.alike:
            return self.alike(call.args, args)
        if full in table.operators and len(args) >= 2:
            return self.operation(table.operators[full], args[0], args[1], call.args[1].at)
        if full in table.conversions and args:
            source, target = map(factors_of_unit, table.conversions[full].split())
            return self.conversion(call, args[0], source, target)
        if full in table.objects:
            of_library, parts = table.objects[full]
            return Fields(dict.fromkeys(parts, measure_of_unit(of_library)))
        if full in table.takers and args:
            self.argument(
                call.args[0].at, args[0], facts.last_name(call.func), measure_of_unit(table.takers[full])
            )
            return None if table.takers[full] == "s" else RATIO
        match full:
            case "numpy.where" if len(args) == 3:
                return joined(args[1:])
            case "math.sqrt" | "numpy.sqrt" if args:
                return arithmetic.square_root(args[0])
            case "numpy.square" if args:
                return arithmetic.binary("**", args[0], Factor(2.0))
            case "math.pow" | "builtins.pow" if len(args) == 2:
                return arithmetic.binary("**", args[0], args[1])
            case "builtins.divmod" if len(args) == 2:
                return Places((arithmetic.binary("//", *args), arithmetic.binary("%", *args)))
            case "numpy.interp" if len(args) >= 3:
                return args[2]
            case "numpy.full" if len(args) >= 2:
                return args[1]
            case "builtins.getattr" if len(args) >= 2:
                key = self.text(call.args[1])
                return measure_of_name(key) if key else None
        fixed = unit_of_function(full)
        if fixed == "count":
            return COUNT
        if fixed is not None:
            return measure_of_unit(fixed)
        if full.startswith(("pint.", "astropy.")) and full.endswith(".Quantity"):
            return self.labelled(call, args)
        if full.rpartition(".")[2] == QUANTITY:
            unit = call.keyword("unit") or (call.args[1] if len(call.args) > 1 else None)
            self.label(call.keyword("value") or (call.args[0] if call.args else None), unit)
            return self.quantity({}, unit)
        return None

    def conversion(
        self, call: facts.Call, meaning: Meaning, source: Factors, target: Factors
    ) -> Measure | None:
        """What `math.degrees` gives: of a rate a rate; of what is unknown an angle, or something each time."""
        if isinstance(meaning, Measure) and all(source[0] in unit for unit in meaning.readings):
            ratio = ((target, 1), (source, -1))
            readings = (product((unit, 1), *ratio) for unit in meaning.readings)
            return with_readings(readings, meaning.loose, is_either=meaning.is_either)
        self.argument(call.args[0].at, meaning, facts.last_name(call.func), Measure((source,), is_whole=True))
        return Measure((target,), loose=not isinstance(meaning, Measure), is_whole=True)

    def labelled(self, call: facts.Call, args: list[Meaning]) -> Meaning:
        """``Q_(x, "kWh")``: a number is given a unit."""
        unit_expr = call.args[1] if len(call.args) > 1 else call.keyword("units", "unit")
        if unit_expr is None:
            return None
        unit = self.unit(unit_expr, args[1] if len(args) > 1 else None)
        if unit is None:
            return None
        measure = Measure((unit,), is_whole=True)
        if args:
            self.argument(call.args[0].at, args[0], "", measure)
        return PhysicalQuantity(measure)

    def function(
        self, callee: FunctionOf, call: facts.Call, args: list[Meaning], keywords: dict[str, Meaning]
    ) -> Meaning:
        """A function of the project: its parameters are checked, and it is followed."""
        self.flow.callees.append(callee)
        is_number = call.at != self.unused and not _gives_no_number(callee.function)
        params = [p for p in callee.params if p.kind in ("positional", "any")]
        wanted = {param.name: self.wanted(callee, param) for param in callee.params}
        bindings: Env = {}
        for param, arg, meaning in zip(params, call.placed(), args, strict=False):
            self.argument(arg.at, meaning, param.name, wanted[param.name])
            bindings[param.name] = meaning
        for name, arg in call.keywords:
            if name is not None and name in wanted:
                self.argument(arg.at, keywords[name], name, wanted[name])
                bindings[name] = keywords[name]
        self.labelled_arguments(callee, call, bindings)
        open_arguments: Env = {
            name: meaning
            for name, meaning in bindings.items()
            if isinstance(meaning, (Measure, Factor, PhysicalQuantity)) and wanted[name] is None
        }
        result = self.units.outcome(callee, open_arguments) if is_number else None
        announced = _measure_of_call(getattr(callee.function, "name", ""))
        if isinstance(result, Factor):
            return announced or result  # `def fee_cents(): return 35`
        return result if result is not None else announced

    def wanted(self, callee: FunctionOf, param: facts.Param) -> Measure | None:
        """In which unit a function takes a parameter."""
        return self.units.parameter(callee.module, callee.function, param)

    def instance(
        self, of: ClassOf, call: facts.Call, args: list[Meaning], keywords: dict[str, Meaning]
    ) -> Meaning:
        """An object of a class of the project, by what it is made with."""
        entries = dict(keywords)
        names = [
            name for name, bindings in of.cls.statements() if any(b.annotation is not None for b in bindings)
        ]
        method = of.cls.method("__init__")
        if method is not None:
            names = [param.name for param in method.params[1:] if param.kind in ("positional", "any")]
        for name, arg, meaning in zip(names, call.placed(), args, strict=False):
            wanted = self.units.field(of, name)
            entries[name] = wanted if self.argument(arg.at, meaning, name, wanted) else meaning
        places = {keyword: arg.at for keyword, arg in call.keywords}
        for name, meaning in keywords.items():
            wanted = self.units.field(of, name)
            if wanted is not None:
                self.argument(places[name], meaning, name, wanted)
            if places[name] in self.flow.arguments:
                entries[name] = wanted  # it is told there, not wherever the field is read
        if of.cls.name == QUANTITY:
            unit = call.keyword("unit") or (call.args[1] if len(call.args) > 1 else None)
            self.label(call.keyword("value") or (call.args[0] if call.args else None), unit)
            return self.quantity(entries, unit)
        for name in [*entries]:
            if entries[name] is None or isinstance(entries[name], Factor):
                entries[name] = self.units.field(of, name) or measure_of_name(name)
        return Fields(
            {name: meaning for name, meaning in entries.items() if meaning is not None}, (of.module, of.cls)
        )


def element_wise(meaning: Meaning) -> Meaning:
    """What a list of such elements is: numbers of one unit are an array of it."""
    return meaning if isinstance(meaning, (Measure, PhysicalQuantity, Places)) else None


def _dict_value(meaning: Meaning) -> Meaning:
    """What one value of a dict is."""
    if isinstance(meaning, Fields):
        return joined(meaning.entries.values()) if meaning.entries else None
    return element(meaning)


def _end_of_text(expr: Expr) -> str | None:
    """The literal end of a text that is put together, where a word begins there: ``_kwh`` of ``f"{name}_kwh"``."""
    match expr:
        case facts.Join(parts=(*_, facts.Const(value=str() as end))):
            pass
        case facts.BinOp(op="+", right=facts.Const(value=str() as end)):
            pass
        case _:
            return None
    return end if end and not end[0].isalnum() else None


def _is_listed_unit(expr: facts.Attr) -> bool:
    """Whether what an attribute is read from lists units: `LengthUnit.meters` is no number of meters.

    `unit.heat_kwh` is: that unit is a flat, or a machine.
    """
    base = facts.last_name(expr.base)
    is_class = base[:1].isupper()
    return base.lower().endswith(("unit", "units")) and (is_class or len(name_words(expr.name)) == 1)


def _gives_no_number(function: facts.Function | facts.Lambda) -> bool:
    """Whether a function says that it returns a text or a truth value, or nothing: it need not be followed for that."""
    match function:
        case facts.Function(returns=facts.Name(id="str" | "bool" | "bytes") | facts.Const(value=None)):
            return True
        case _:
            return False


def _measure_of_call(name: str) -> Measure | None:
    """What a function gives whose name has a unit behind another word; `gauss()` is a distribution."""
    measure = measure_of_name(_PREFIX.sub("", name))
    return measure if measure is not None and len(name_words(name)) > 1 else None


def _literal(value: object) -> Factor:
    try:
        return Factor(float(value))  # type: ignore[arg-type]
    except (OverflowError, ValueError):
        return Factor(None)


def _is_none(expr: Expr) -> bool:
    return isinstance(expr, facts.Const) and expr.value is None


def unit_of_text(text: str) -> Factors | None:
    """The unit that a text is, in our spelling or a library's; ``None`` where nobody knows its size."""
    unit = factors_of_unit(text)
    if unit and size_of(unit) is not None:
        return unit
    meant = spelling_of(text).meant
    return factors_of_unit(meant) if meant else None


def _astropy_unit(full: str) -> UnitObject | None:
    if not full.startswith("astropy.units."):
        return None
    name = full.removeprefix("astropy.units.")
    unit = unit_of_text(unit_calls().astropy.get(name, name))
    return UnitObject(unit) if unit is not None else None
