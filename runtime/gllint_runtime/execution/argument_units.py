"""The numbers of a call in the units of its parameters: Quantities are converted, other units reported.

A bare number is in another unit where an earlier output has it in one of the same dimension and of another size, and
nothing has it in the parameter's: no other output, no constant, not the user. Zero is zero in both.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from math import inf, isfinite
from operator import getitem
from typing import Any, NamedTuple

from gllint_runtime.execution.record import Origin
from gllint_runtime.policy.data import copy_plain
from gllint_runtime.policy.errors import GLDataError, GLValidationError
from gllint_runtime.policy.names import read_name
from gllint_runtime.policy.packs import PACKS
from gllint_runtime.policy.parameter_units import ParameterUnit, ParameterUnits
from gllint_runtime.policy.schemas import Path, Quantity, quantity_problem, show_path
from gllint_runtime.policy.units import (
    conversion,
    dimension_of,
    exact_value,
    rounded_like,
    unit_meant,
    unit_title,
)

_MOST_DIGITS = 7  # of a converted number that is shown in full
_MAX_TYPED = 200  # characters of a Quantity that is a text


class Change(NamedTuple):
    """A number that was converted: the Quantity that was sent, and the one that the tool is given."""

    path: Path
    sent: Quantity
    result: Quantity

    def to_dict(self) -> dict[str, Any]:
        """Return the change as the model receives it."""
        return {"path": show_path(self.path), "from": self.sent.to_dict(), "to": self.result.to_dict()}


class Traced(NamedTuple):
    """Plain arguments as their tool takes them, the origins of their numbers, and what was converted."""

    values: dict[str, Any]
    origins: tuple[Origin, ...] | None
    changes: tuple[Change, ...]


class Arguments(dict[str, Any]):
    """The arguments of a call as its tool takes them; they know where their numbers came from."""

    def __init__(self, traced: Traced) -> None:
        super().__init__(traced.values)
        self.origins = traced.origins
        self.changes = traced.changes


_WORDS = re.compile(r"(?<![^\W\d_])[^\W\d_]{2,}+[^\w\s]*+\s.*?(?<![^\W\d_])[^\W\d_]{2,}", re.DOTALL)


def prose_in(value: Any, properties: Mapping[str, Any], path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Yield the texts in arguments that people read, with their paths: those of several words, or declared with
    ``x-text``.

    ``{"to": "ann", "body": "You used 5 kWh"}`` → ``("body",), "You used 5 kWh"``.
    """
    if type(value) is dict:
        for key, item in value.items():
            yield from prose_in(item, properties, (*path, key))
    elif type(value) is list:
        for number, item in enumerate(value):
            yield from prose_in(item, properties, (*path, number))
    elif type(value) is str and path:
        declared = properties.get(str(path[0]))
        is_text = declared.get("x-text") if isinstance(declared, Mapping) else None
        if is_text is True or (is_text is not False and _WORDS.search(value)):
            yield path, value


def has_number(arguments: Mapping[str, Any]) -> bool:
    """Return whether there is anything to trace in the arguments of a call."""
    return any(
        type(leaf) is int or type(leaf) is float or (type(leaf) is str and any(map(str.isnumeric, leaf)))
        for _, leaf in leaves(arguments)
    )


def leaves(data: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield each value in ``data`` that is no object and no array, with its path, and the keys of inner objects as
    well.

    ``{"a": {"b": 5}}`` → ``("a", "b"), "b"`` and ``("a", "b"), 5``.
    """
    inner: Iterable[tuple[str | int, Any]]
    if type(data) is dict:
        if path:
            yield from (((*path, key), key) for key in data)
        inner = data.items()
    elif type(data) is list:
        inner = enumerate(data)
    else:
        yield path, data
        return
    for step, value in inner:
        if type(value) is dict or type(value) is list:
            yield from leaves(value, (*path, step))
        else:
            yield (*path, step), value


class Misfit(NamedTuple):
    """A bare number that is in another unit than its parameter takes, by the output ``source`` that has it.

    ``original`` is what that output has where the number was rounded.
    """

    path: Path
    value: Any
    unit: str
    source: str
    parameter: ParameterUnit
    original: Any = None

    def change(self) -> Change | None:
        """Return the number converted to the parameter's unit; ``None`` if it does not convert, or to several units."""
        result = [
            Quantity(self.parameter.as_taken(quantity.value), reading)
            for reading in self.parameter.readings
            if (quantity := _in_unit(self.value, self.unit, reading)) is not None
        ]
        return Change(self.path, Quantity(self.value, self.unit), result[0]) if len(result) == 1 else None

    def _named_units(self) -> Sequence[str]:
        """Return the units that the parameter says: ``cent`` for those of every currency."""
        parameter = self.parameter
        return parameter.readings if parameter.is_declared else read_name(parameter.name).readings

    def error(self, tool: str, *, takes_quantities: bool) -> GLValidationError:
        """Return the error that tells the model how to write the number.

        Example: "1250 is in ft3/s; `flow` takes m3/s: pass 35.3961 m3/s".
        """
        name = self.parameter.name
        ways = [
            (reading, value)
            for reading in self.parameter.readings
            if (value := _exactly(self.value, self.unit, reading)) is not None and isfinite(_float(value))
        ]
        result = " or ".join([unit_title(unit) for unit, _ in ways] or map(unit_title, self._named_units()))
        message = f"{_written(self.value)} is in {unit_title(self.unit)}; `{name[:100]}` takes {result}: "
        if ways:
            message += (
                f"pass {' or '.join(f'{_short(value)} {unit_title(reading)}' for reading, value in ways)}"
            )
        else:
            message += (
                "one does not convert into the other, so take the number from a tool that has it in that unit"
            )
        number = self.value if self.original is None else self.original
        hint = f"{self.source} of this run has {_written(number)} in {unit_title(self.unit)}."
        if len(ways) == 1:
            hint += f" In {unit_title(ways[0][0])} it is {_written(_float(ways[0][1]))}."
            if takes_quantities:
                sent = f'{{"value": {_written(self.value)}, "unit": "{unit_title(self.unit)}"}}'
                hint += f" A Quantity is converted for you: {sent}."
        return GLValidationError("ARGUMENT_UNIT", message, hint, show_path(self.path), {"tool": tool})


class Clash(NamedTuple):
    """A number whose output declares another basis than its parameter does."""

    path: Path
    parameter: ParameterUnit
    basis: str
    source: str

    def error(self, tool: str) -> GLDataError:
        """Return the text for the model."""
        message = (
            f"`{self.parameter.name[:100]}` takes a quantity of the basis '{str(self.parameter.basis)[:100]}', "
            f"and {self.source} is of the basis '{self.basis[:100]}'"
        )
        return GLDataError("BASIS", message, path=show_path(self.path), context={"tool": tool})


# ------------------------------------------------------------------------------------------------ Quantities


def quantities_in(
    arguments: Any, shapes: Collection[str], path: Path = ()
) -> Iterator[tuple[Path, str, Quantity]]:
    """Yield the Quantities in plain arguments: the path of each, the key of its number, and the Quantity.

    ``{"flow": {"value": 5, "unit": "m3/s"}}`` → ``("flow",), "value", Quantity(5, "m3/s")``. Objects in other
    ``shapes`` too.
    """
    if type(arguments) is dict:
        if path and len(arguments) == 2 and quantity_problem(arguments) is None:
            yield path, "value", Quantity(arguments["value"], arguments["unit"])
            return
        if path and shapes and (shaped := _shaped(arguments, shapes)) is not None:
            yield path, *shaped
            return
        inner: Iterable[tuple[Any, Any]] = arguments.items()
    elif type(arguments) is list:
        inner = enumerate(arguments)
    else:
        return
    for step, item in inner:
        if type(item) is dict or type(item) is list:
            yield from quantities_in(item, shapes, (*path, step))


def _shaped(data: dict[str, Any], shapes: Collection[str]) -> tuple[str, Quantity] | None:
    from gllint_runtime.policy.quantity_shapes import shaped_quantity, value_key  # few projects list one

    quantity, key = shaped_quantity(data, shapes), value_key(data, shapes)
    return (key, quantity) if quantity is not None and key is not None else None


def with_quantities_converted(
    tool: str, arguments: dict[str, Any], parameters: ParameterUnits, shapes: Collection[str]
) -> tuple[dict[str, Any], tuple[Change, ...]]:
    """Return the arguments with each Quantity in the unit of its parameter, and what was changed.

    ``flow={"value": 1, "unit": "m3/s"}`` for a parameter in l/s → ``1000`` if its schema wants a number, else a
    Quantity. One in another of ``shapes`` stays if the schema wants that shape. Raises GLValidationError
    ARGUMENT_UNIT for one that does not convert.
    """
    replacements: list[tuple[Path, Any]] = []
    changes = []
    quantities = ((path, sent) for path, _, sent in quantities_in(arguments, shapes))
    for path, sent in (*quantities, *_written_quantities(arguments, parameters)):
        parameter = parameters.at(path)
        # Without a known unit nothing is converted; nor is an object that the schema wants in its own shape.
        if not parameter.readings or (parameter.takes_shape and not parameter.takes_number):
            continue
        target = _target(sent, parameter)
        value = sent.value if target is None else _value_in(sent, target)
        if target is None:
            if len(parameter.readings) > 1:  # it is unknown which of them is meant: the schema decides
                continue
            unit = unit_title(parameter.readings[0])
            message = (
                f"`{parameter.name[:100]}` takes {unit}, and {_written(sent.value)} {unit_title(sent.unit)} "
                "does not convert to it"
            )
            hint = f"Pass a number, or a Quantity, that is in {unit} or converts to it."
            raise GLValidationError("ARGUMENT_UNIT", message, hint, show_path(path), {"tool": tool})
        result = Quantity(parameter.as_taken(value), target)
        keeps = parameter.takes_quantity and not parameter.takes_number
        if keeps and result == sent:
            continue
        replacements.append((path, result.to_dict() if parameter.takes_quantity else result.value))
        changes.append(Change(path, sent, result))
    return (_replaced(arguments, replacements), (*changes,)) if replacements else (arguments, ())


_TYPED = re.compile(r"\s*([-+]?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)\s*([^\s\d].*)", re.DOTALL)


def _written_quantities(
    arguments: dict[str, Any], parameters: ParameterUnits
) -> Iterator[tuple[Path, Quantity]]:
    """Yield the Quantities that are text where the schema wants a number: ``"1250 ft3/s"``, or the JSON of one."""
    for name in parameters.numeric_only.intersection(arguments):
        text = arguments[name]
        if type(text) is not str or len(text) > _MAX_TYPED:
            continue
        if text.lstrip().startswith("{"):
            try:
                data = json.loads(text)
            except (ValueError, RecursionError):
                continue
            if quantity_problem(data) is None:
                yield (name,), Quantity(data["value"], data["unit"])
        elif (typed := _TYPED.fullmatch(text)) and (unit := unit_meant(typed[2].strip())) is not None:
            number = float(typed[1])
            if isfinite(number):
                yield (name,), Quantity(int(typed[1]) if typed[1].lstrip("+-").isdecimal() else number, unit)


def _target(sent: Quantity, parameter: ParameterUnit) -> str | None:
    """Return the unit of the parameter to which a Quantity is converted; ``None`` if none fits, or several do."""
    if sent.unit in parameter.readings:
        return sent.unit
    units = [reading for reading in parameter.readings if _value_in(sent, reading) is not None]
    # Of several the one of the same size: it is the same unit in another spelling.
    same = [reading for reading in units if _value_in(sent, reading) == sent.value]
    return same[0] if same else units[0] if len(units) == 1 else None


def _value_in(sent: Quantity, unit: str) -> Any:
    quantity = _in_unit(sent.value, sent.unit, unit)
    return None if quantity is None else quantity.value


def _in_unit(value: Any, unit: str, target: str) -> Quantity | None:
    """Return a number converted to ``target``, as a number of its own type; ``None`` if it does not convert."""
    exact = _exactly(value, unit, target)
    if exact is None:
        return None
    try:
        return Quantity(rounded_like(value, exact), target)
    except OverflowError:
        return None


def _exactly(value: Any, unit: str, target: str) -> Fraction | None:
    """Return a value in another unit, exactly; ``None`` if it does not convert."""
    if unit == target:
        return exact_value(value)
    way = conversion(unit_meant(unit) or unit, unit_meant(target) or target)
    return None if way is None else way.of(value)


def with_converted(arguments: Any, changes: Iterable[Change]) -> dict[str, Any]:
    """Return a copy of the arguments with the results of ``changes`` in place, as text where the number was text."""
    replacements = []
    for change in changes:
        is_text = isinstance(reduce(getitem, change.path, arguments), str)
        value = change.result.value
        replacements.append((change.path, _written(value) if is_text else value))
    return _replaced(arguments, replacements)


def _replaced(arguments: dict[str, Any], replacements: Iterable[tuple[Path, Any]]) -> dict[str, Any]:
    copied = copy_plain(arguments)
    for (*before, last), value in replacements:
        reduce(getitem, before, copied)[last] = value
    return copied  # type: ignore[no-any-return]


# ---------------------------------------------------------------------------------------------- bare numbers


def unit_of_holder(value: Any, parameter: ParameterUnit, holders: Iterable[str]) -> tuple[str | None, bool]:
    """Return the unit in which an output has ``value``, and whether the parameter takes another one.

    ``None`` if it is unknown.

    A unit that fits the parameter goes before one that does not: (``"kWh"``, False), (``"MWh"``, True).
    """
    wrong: str | None = None
    for unit in holders:
        # True: the same unit; False: another size of one dimension; None: another dimension.
        fits = [_fits(value, unit, reading) for reading in parameter.readings]
        if True in fits:
            return unit, False
        if False in fits:
            wrong = wrong or unit
    return wrong, wrong is not None


def _fits(value: Any, unit: str, reading: str) -> bool | None:
    """Return whether a number in a unit is the same in another; ``None`` if they are units of different things."""
    exact = _exactly(value, unit, reading)
    if exact is not None:
        return exact == exact_value(value)
    return False if _is_money(unit) and _is_money(reading) else None


def is_in_other_unit(value: Any, unit: str | None, parameter: ParameterUnit) -> bool:
    """Return whether a number that is said to be in ``unit`` is another quantity than the same number in the
    parameter's.
    """
    return unit is not None and unit_of_holder(value, parameter, [unit])[1]


def _is_money(unit: str) -> bool:
    return (dimension_of(unit_meant(unit) or unit, packs=PACKS) or "").startswith("currency-")


# ----------------------------------------------------------------------------------------------------- words


def _written(value: Any) -> str:
    """Return a number as people write it: ``1250`` for 1250.0."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return repr(value) if isinstance(value, (int, float)) else str(value)


def _short(exact: Fraction) -> str:
    """Return a converted number as text: in full if it has few digits, else with three significant ones: 35.3961,
    1e+25.
    """
    value = _float(exact)
    if exact.denominator == 1 and 1e15 <= abs(value) < 1e21:
        return str(exact.numerator)
    if (
        exact_value(value) == exact
        and len(Decimal(repr(value)).normalize().as_tuple().digits) <= _MOST_DIGITS
    ):
        return _written(value)
    rounded = Decimal(f"{value:.2e}")
    return (
        f"{value:.0f}" if 100 <= abs(value) < 1e15 else f"{rounded:f}" if abs(value) > 1e-6 else f"{rounded}"
    )


def _float(exact: Fraction) -> float:
    try:
        return float(exact)
    except OverflowError:
        return inf
