"""Libraries whose objects are numbers with a unit: pint, astropy, unyt, openmm, forallpeople, quantities.

One table for both moments: the rules ask where a library has its units, the runtime how an object says its own.
Nothing is imported here: a value of such a library shows that it is installed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple


class UnitLibrary(NamedTuple):
    """A row: the modules that have only units and quantities, the class of quantities, and how to read one.

    ``read`` gives the number and the factors of the unit: names, each with its power; where it ``has_symbols``, some
    are symbols of another unit here.
    """

    modules: tuple[str, ...]
    quantity: str
    read: Callable[[Any], tuple[Any, Iterable[tuple[str, Any]]]]
    has_symbols: bool = False


def _of_astropy(value: Any) -> tuple[Any, Iterable[tuple[str, Any]]]:
    unit = value.unit
    number = value.value if unit.scale == 1 else value.value * unit.scale  # "1000 kg" is a unit, too
    return number, ((base.name, power) for base, power in zip(unit.bases, unit.powers, strict=True))


def _of_forallpeople(value: Any) -> tuple[Any, Iterable[tuple[str, Any]]]:
    number, unit = value.split()  # in base units, which have one symbol where SI names one: "J"
    name = str(unit).partition(" ")[2]
    is_named = name.isalpha()
    return number, [(name, 1)] if is_named else value.dimensions._asdict().items()


UNIT_LIBRARIES: Mapping[str, UnitLibrary] = {
    "pint": UnitLibrary(("pint",), "Quantity", lambda q: (q.magnitude, q._units.items())),
    "astropy": UnitLibrary(("astropy.units", "astropy.constants"), "Quantity", _of_astropy, True),
    "unyt": UnitLibrary(
        ("unyt",),
        "unyt_array",
        lambda q: (q.value, ((str(name), power) for name, power in q.units.expr.as_powers_dict().items())),
        True,
    ),
    "openmm": UnitLibrary(
        ("openmm.unit", "simtk.unit"),
        "Quantity",
        lambda q: (q._value, ((base.name, power) for base, power in q.unit.iter_base_or_scaled_units())),
    ),
    "forallpeople": UnitLibrary(("forallpeople",), "Physical", _of_forallpeople, True),
    "quantities": UnitLibrary(
        ("quantities",),
        "Quantity",
        lambda q: (q.magnitude, ((unit.name, power) for unit, power in q.dimensionality.items())),
    ),
}  # fmt: skip
_PACKAGES = {module.partition(".")[0]: row for row in UNIT_LIBRARIES.values() for module in row.modules}
_MODULES = tuple(module for row in UNIT_LIBRARIES.values() for module in row.modules)
_HOURS = frozenset({"h", "hr", "hour"})
_OTHERWISE = {"F": "farad", "R": "rankine", "B": "bel"}  # Fahrenheit, roentgen and byte here
# What projects call their registry of units, and what makes a quantity.
_USUAL_NAMES = frozenset({"ureg", "Q_"})
# What of a library's quantity is no quantity: its number, its unit, and what is written of it.
_PARTS = frozenset(
    {
        "magnitude", "m", "value", "v", "d", "ndview", "m_as", "to_value", "value_in_unit", "unit", "units", "u",
        "dimensionality", "dimensions", "shape", "ndim", "size", "dtype", "latex", "html", "repr", "unitless",
        "dimensionless",
    }
)  # fmt: skip


def is_of_unit_library(name: str) -> bool:
    """Return whether a full name is that of a unit, of a quantity, or of what makes one."""
    is_known_module = any(name == module or name.startswith(f"{module}.") for module in _MODULES)
    return is_known_module or name.rpartition(".")[2] in _USUAL_NAMES


def gives_quantity(attribute: str) -> bool:
    """Return whether an attribute or a method of a library's quantity gives a quantity again: ``to``, ``sum``."""
    return attribute not in _PARTS and not attribute.startswith(("_", "is_", "check", "compare", "format"))


def quantity_of_library(value: Any) -> tuple[Any, str] | None:
    """Return the number and the unit of an object of such a library; ``None`` for anything else.

    The number of an array is the array.
    """
    for base in type(value).__mro__:
        row = _PACKAGES.get(str(getattr(base, "__module__", "")).partition(".")[0])
        if row is None or base.__name__ != row.quantity:
            continue
        try:
            number, factors = row.read(value)
        except AttributeError:
            return None  # a class of the project's own module `quantities`, say
        names = _OTHERWISE if row.has_symbols else {}
        unit = _spelling((names.get(name, name), power) for name, power in factors)
        # NumPy's arrays without a dimension are numbers.
        return number.item() if getattr(number, "shape", None) == () else number, unit
    return None


def _spelling(factors: Iterable[tuple[str, Any]]) -> str:
    """Return a product of powers as the tables write it."""
    from gllint_runtime.policy.units import unit_meant  # the rules need only names of this module

    # A power before its hours is energy: `kW h`.
    powers = sorted(
        ((name, power) for name, power in factors if power), key=lambda factor: factor[0] in _HOURS
    )
    over = "*".join(_power(name, power) for name, power in powers if power > 0)
    under = [_power(name, -power) for name, power in powers if power < 0]
    text = "/".join([over or "1", *under]) if powers else "1"
    plain = text.replace("^", "")
    return unit_meant(plain.replace("*", " ")) or unit_meant(plain) or unit_meant(text) or text


def _power(name: str, power: Any) -> str:
    whole = int(power) if power == int(power) else power
    return name if whole == 1 else f"{name}^{whole}"
