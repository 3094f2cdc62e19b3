"""How a unit is read, step by step: its characters, its names, its factors, and what they make."""

from __future__ import annotations

from collections.abc import Iterator

from gllint_runtime import GLError, Quantity
from gllint_runtime.policy.packs import PACKS
from gllint_runtime.policy.settings import Policy
from gllint_runtime.policy.unit_expressions import factors_of
from gllint_runtime.policy.unit_spellings import as_listed, divisor_of_time, plain_spelling, readings_of
from gllint_runtime.policy.unit_table import ALLOWED_UNITS, RENDERED_UNITS, TIME_UNITS, pack_units
from gllint_runtime.policy.units import dimension_of

_OPERATORS = str.maketrans({"·": "*", "×": "*", "⋅": "*", "∙": "*", "∕": "/", "⁄": "/", "÷": "/", "−": "-"})


def unit_steps(unit: str, policy: Policy) -> Iterator[str]:
    """Yield a line for each step by which a unit is read: ``operators: kWh·h is kWh*h``, ``unit: kWh*h``."""
    written = as_listed(plain_spelling(unit), policy.extend_units, policy.packs)
    if written != unit:
        yield f"characters: {unit} is written {written}"
    operators = written.translate(_OPERATORS)
    if operators != written:
        yield f"operators: {written} is {operators}"
    judged = policy.judge(unit)
    readings = [judged.symbol] if judged.status == "allowed" else readings_of(unit, policy.extend_units)
    if not readings:
        yield "factors: a part of it is not a known unit"
        return
    if len(readings) > 1:
        is_same_units = len({frozenset(name for name, _ in factors_of(reading)) for reading in readings}) == 1
        why = "the product after / has no brackets" if is_same_units else "several units match"
        yield f"readings: {why}, so it may be"
        for reading in readings:
            yield f"  {reading}: {'; '.join(_factors(reading, policy))}"
        yield "Write the one that you mean."
        return
    (symbol,) = readings
    factors = dict(factors_of(symbol))
    for letter in dict.fromkeys(name for name, _ in factors_of(operators)):
        if (time := divisor_of_time(letter)) is not None and time in factors:
            yield f"names: {letter} after / is {time}"
    yield f"unit: {symbol}"
    yield f"factors: {'; '.join(_factors(symbol, policy))}"
    if (size := _size(symbol)) is not None:
        yield f"size: {size}"
    if symbol in RENDERED_UNITS:
        yield f"shown as: {RENDERED_UNITS[symbol]}"


def _factors(symbol: str, policy: Policy) -> Iterator[str]:
    """Yield each factor with its power, dimension and table: ``per h (time, allowed in a compound)``."""
    for name, power in factors_of(symbol):
        raised = name if abs(power) == 1 else f"{name}^{abs(power)}"
        dimension = dimension_of(raised, extend=policy.extend_units, packs=PACKS)
        details = ", ".join(part for part in (dimension, _table(name, policy)) if part)
        yield f"{'per ' if power < 0 else ''}{raised} ({details})"


def _table(name: str, policy: Policy) -> str:
    """Say in which table a unit is."""
    if name in policy.extend_units:
        return "one of the project's own"
    if name in ALLOWED_UNITS:
        return "on the allowlist"
    if name in TIME_UNITS:
        return "allowed in a compound"
    pack = next((pack for pack in (*policy.packs, *PACKS) if name in pack_units((pack,))), None)
    return f"in the pack {pack}" if pack else "in no table"


def _size(symbol: str) -> str | None:
    """Return the size of a unit in the base unit of its dimension: ``1 kWh is 3600000 J``.

    ``None`` for a base unit, and where the size is not known.
    """
    from gllint_runtime import UnitRegistry

    try:
        value, unit = UnitRegistry(packs=PACKS).normalize(Quantity(1, symbol))
    except GLError:
        return None
    return None if unit == symbol else f"1 {symbol} is {float(value):.10g} {unit}"
