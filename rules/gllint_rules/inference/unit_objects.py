"""The objects of unit libraries in the source: ``1.5 * ureg.kWh``, ``u.Quantity("1.5 km")``, ``sum(lengths)``.

A unit is what its library's name or registry leads to. What is computed with one is a Quantity of its own unit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gllint_rules.inference.builtin_names import DUMP_METHODS
from gllint_rules.inference.values import (
    Entry,
    External,
    ExternalInstance,
    Key,
    ListOf,
    Method,
    QuantityInstance,
    Site,
    Value,
    options,
    surely_not_number,
)
from gllint_rules.reading import facts
from gllint_rules.words.names import QUANTITY
from gllint_runtime.policy.unit_libraries import gives_quantity, is_of_unit_library

if TYPE_CHECKING:
    from gllint_rules.inference.protocol import Evaluator
    from gllint_rules.inference.values import Frame

# Functions that give of quantities a quantity; of NumPy all do so.
_KEEPING = frozenset(f"builtins.{name}" for name in ("sum", "max", "min", "round", "abs", "pow", "divmod"))


def is_unit_object(value: Value) -> bool:
    """Return whether an operand makes a quantity of what it is multiplied with: a unit or a quantity, or
    one perhaps.
    """
    return any(_is_unit_object(option) for option in options(value))


def _is_unit_object(value: Value) -> bool:
    """Return whether a value belongs to a unit library: a unit, a registry, a Quantity of one, or a method
    of these.
    """
    match value:
        case External(name=name) | ExternalInstance(name=name):
            return is_of_unit_library(name)
        case Method(of=of, name=name):
            return _is_unit_object(of) and not (isinstance(of, QuantityInstance) and not gives_quantity(name))
        case QuantityInstance(of=None):
            return True
        case _:
            return False


def made_at(site: Site) -> QuantityInstance:
    """Return a quantity of a library."""
    return QuantityInstance(open=True, site=site)


def called(evaluator: Evaluator, callee: Value, call: facts.Call, frame: Frame) -> Value | None:
    """Return the result of a call of something of a unit library; ``None`` if ``callee`` does not belong to one."""
    match callee:
        case External(name=name) if is_of_unit_library(name):
            # A registry makes units itself.
            last = name.rpartition(".")[2]
            if last.endswith("Registry") or last.startswith(("get_", "set_")):
                return ExternalInstance(name)
        case ExternalInstance(name=name) if is_of_unit_library(name):
            last = ""
        case Method(of=ExternalInstance(name=owner), name=last) if is_of_unit_library(owner):
            pass
        case Method(of=QuantityInstance(of=None), name=last) if gives_quantity(last):
            is_dump = last in DUMP_METHODS
            return None if is_dump else made_at(frame.site(call))
        case _:
            return None
    unit = call.keyword("unit", "units") or (call.args[1] if len(call.args) > 1 else None)
    if last not in (QUANTITY, "Q_") or unit is None:
        return made_at(frame.site(call))
    entries: dict[Key, tuple[Entry, ...]] = {"unit": (evaluator.entry(unit, frame),)}
    number = evaluator.entry(call.args[0], frame) if call.args else None
    if number is not None and not surely_not_number(number.value):
        entries["value"] = (number,)
    return QuantityInstance(entries, frozenset(entries), True, frame.site(call))


def is_wrapping(evaluator: Evaluator, decorator: facts.Expr, frame: Frame) -> bool:
    """Return whether a decorator is a library's that gives a result its unit: ``@ureg.wraps("kWh", None)``."""
    func = decorator.func if isinstance(decorator, facts.Call) else decorator
    return facts.last_name(func) == "wraps" and is_unit_object(evaluator.eval(func, frame))


def keeps_quantity(evaluator: Evaluator, function: str, call: facts.Call, frame: Frame) -> bool:
    """Return whether a function from outside gives a quantity because it is given some: ``sum``, ``numpy.sqrt``."""
    if function not in _KEEPING and not function.startswith("numpy."):
        return False
    for arg in call.args[:2]:
        value = evaluator.eval(arg, frame)
        if is_unit_object(value) or (isinstance(value, ListOf) and is_unit_object(value.element())):
            return True
    return False
