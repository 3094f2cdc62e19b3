"""How a claimed value is shown: the tool's own value and unit, never the claim's."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from gllint_runtime.policy.schemas import Quantity


def format_quantity(quantity: Quantity) -> str:
    """``268.00 kgCO2e``: two decimals, no separators; below 1, four significant digits: nothing turns to 0.

    A whole ``count`` is its integer alone.
    """
    value, unit = quantity.value, quantity.unit
    if unit == "count" and value == int(value):
        return str(int(value))
    if isinstance(value, int):
        text = f"{value}.00"
    elif abs(value) >= 1 or value == 0:
        text = _fixed(value or 0.0, 2)
    else:
        digits = Decimal(str(float(value) if isinstance(value, Fraction) else value))
        text = _fixed(value, 3 - digits.adjusted())
    return text if unit == "1" else f"{text} {unit}".rstrip()


def _fixed(value: float | Decimal | Fraction, places: int) -> str:
    if isinstance(value, (float, Decimal)):
        return f"{value:.{places}f}"
    digits = str(abs(round(value * 10**places))).rjust(places + 1, "0")
    return f"{'-' if value < 0 else ''}{digits[:-places]}.{digits[-places:]}"
