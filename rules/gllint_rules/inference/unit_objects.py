"""The objects of unit libraries in the source: ``1.5 * ureg.kWh``, ``u.Quantity("1.5 km")``, ``sum(lengths)``.

A unit is an attribute of its library or of a registry (``u.km``, ``ureg.kWh``). A result computed with one is a
Quantity.
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

# Functions whose result is a quantity if their arguments are; all functions of NumPy are such.
_KEEPING = frozenset(f"builtins.{name}" for name in ("sum", "max", "min", "round", "abs", "pow", "divmod"))


def is_unit_object(value: Value) -> bool:
    """Return whether a value may be a unit or a quantity of a library: then its product with a number is a quantity."""
    return any(_is_unit_object(option) for option in options(value))


def _is_unit_object(value: Value) -> bool:
    """Return whether a value belongs to a unit library: a unit, a registry, a quantity, or a method of one of these."""
    match value:
        case External(name=name) | ExternalInstance(name=name):
            return is_of_unit_library(name)
        case Method(of=of, name=name):  # `quantity.to`, but not `quantity.magnitude`, which is a plain number
            return _is_unit_object(of) and not (isinstance(of, QuantityInstance) and not gives_quantity(name))
        case QuantityInstance(of=None):
            return True
        case _:
            return False


def made_at(site: Site) -> QuantityInstance:
    """Return a quantity of a library, of unknown value and unit."""
    return QuantityInstance(open=True, site=site)


def called(evaluator: Evaluator, callee: Value, call: facts.Call, frame: Frame) -> Value | None:
    """Return the result of a call of a unit library: ``Quantity(5, "kWh")`` → a quantity with 5 and ``"kWh"``.

    ``None`` if ``callee`` does not belong to one.
    """
    match callee:
        case External(name=name) if is_of_unit_library(name):  # `pint.Quantity(…)`
            last = name.rpartition(".")[2]
            # `pint.UnitRegistry()` or `pint.get_application_registry()`: a registry, whose attributes are units.
            if last.endswith("Registry") or last.startswith(("get_", "set_")):
                return ExternalInstance(name)
        case ExternalInstance(name=name) if is_of_unit_library(name):  # `ureg("5 kWh")`
            last = ""
        case Method(of=ExternalInstance(name=owner), name=last) if is_of_unit_library(
            owner
        ):  # `ureg.Quantity(…)`
            pass
        case Method(of=QuantityInstance(of=None), name=last) if gives_quantity(last):  # `quantity.to("kWh")`
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
    """Return whether a decorator of a unit library makes the result a quantity: ``@ureg.wraps("kWh", None)``."""
    func = decorator.func if isinstance(decorator, facts.Call) else decorator
    return facts.last_name(func) == "wraps" and is_unit_object(evaluator.eval(func, frame))


def keeps_quantity(evaluator: Evaluator, function: str, call: facts.Call, frame: Frame) -> bool:
    """Return whether a call of a library's function returns a quantity, because an argument is one: ``sum(lengths)``.

    Only the first two arguments count: the others are options (``axis``, ``key``).
    """
    if function not in _KEEPING and not function.startswith("numpy."):
        return False
    for arg in call.args[:2]:
        value = evaluator.eval(arg, frame)
        if is_unit_object(value) or (isinstance(value, ListOf) and is_unit_object(value.element())):
            return True
    return False
