"""``Unit``: the unit of a parameter or a field, next to its type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gllint_runtime.policy.schemas import QUANTITY_KEYS, Quantity
from gllint_runtime.policy.units import conversion, rounded_like, unit_meant


@dataclass(frozen=True, slots=True)
class Unit:
    """The unit of a number, or of a Quantity: ``discharge: Annotated[float, Unit("m3/s")]``.

    A schema made of the type declares it as ``x-unit``, and ``basis`` as ``x-basis``. Where pydantic validates the
    field, a Quantity that is given for a number is converted.
    """

    symbol: str
    basis: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.symbol, str):
            raise TypeError(f"Unit: symbol must be a str, got {self.symbol!r}")
        if not isinstance(self.basis, str | None):
            raise TypeError(f"Unit: basis must be a str or None, got {self.basis!r}")

    def keywords(self) -> dict[str, str]:
        """Return its keyword in a schema."""
        return {"x-unit": self.symbol} | ({} if self.basis is None else {"x-basis": self.basis})

    def number(self, value: Any) -> Any:
        """Return the number of a Quantity in this unit; anything that is no Quantity is returned unchanged.

        ``{"value": 2, "unit": "km"}`` → ``2000`` for ``Unit("m")``. Raises ValueError if the units do not convert.
        """
        if isinstance(value, Quantity):
            value = value.to_dict()
        if not isinstance(value, Mapping) or value.keys() != QUANTITY_KEYS:
            return value
        unit = value["unit"]
        number = value["value"]
        if not isinstance(unit, str) or isinstance(number, bool) or not isinstance(number, (int, float)):
            return value
        converter = conversion(unit_meant(unit) or unit, unit_meant(self.symbol) or self.symbol)
        exact = None if converter is None else converter.of(number)
        if exact is None:
            raise ValueError(f"{unit[:100]!r} does not convert to {self.symbol!r}")
        return rounded_like(number, exact)

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """Return the schema of the type, before whose validation a Quantity becomes its number."""
        from pydantic_core import core_schema

        inner = handler(source)
        return (
            inner if source is Quantity else core_schema.no_info_before_validator_function(self.number, inner)
        )

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        """Return the JSON Schema of the type with the keyword that declares the unit."""
        return {**handler(schema), **self.keywords()}
