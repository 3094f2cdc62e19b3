"""Expressions of units as the allowlist writes them: ``kWh/m2/year``, ``USD/(m2*month)``, ``m^2``, ``10^9/L``."""

from __future__ import annotations

import ast
import re

from gllint_runtime.policy.unit_table import ALLOWED_UNITS

Factors = tuple[tuple[str, int], ...]
"""Names of units with their powers."""

MAX_LENGTH = 200
"""The longest unit that is read."""

NAME = re.compile(r"[^\s*/^()]+")
TRAILING_POWER = re.compile(r"(m|km|mi|ft|s|h)([2-4])\Z")  # as in ft3 or m/s2; kWh2 is not used


def factors_of(unit: str) -> Factors:
    """``"kWh/m2/year"`` → ``(("kWh", 1), ("m2", -1), ("year", -1))``; what is no such expression as it is.

    A number is a factor, too: ``"10^9/L"`` → ``(("10", 9), ("L", -1))``.
    """
    whole = ((unit, 1),)
    if unit != unit.strip() or len(unit) > MAX_LENGTH or any(c.isspace() and c != " " for c in unit):
        return whole
    names: list[str] = []

    def stand_in(match: re.Match[str]) -> str:
        if re.fullmatch(r"-?[1-9]\d{0,5}", match[0]):
            return match[0]
        names.append(match[0])
        return f"u{len(names) - 1}"

    expression = NAME.sub(stand_in, unit).replace("^", "**")
    try:
        return _product(ast.parse(expression, mode="eval").body, 1, names) or whole
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return whole


def _product(node: ast.expr, power: int, names: list[str]) -> Factors:
    """Return the factors of an expression raised to ``power``. Raises ValueError for another operator."""
    match node:
        case ast.Name(id=stand_in):
            name = names[int(stand_in[1:])]
            if name[0].isdigit():
                raise ValueError(name)
            split = None if name in ALLOWED_UNITS else TRAILING_POWER.match(name)
            return ((split[1], int(split[2]) * power),) if split else ((name, power),)
        case ast.BinOp(ast.BinOp(_, ast.Div(), ast.Constant()), ast.Mult(), _):
            raise ValueError(ast.dump(node))  # `kcal/100 g`: by a hundred of it, or of a hundredth
        case ast.Constant(value=int(number)):
            return () if number == 1 else ((str(number), power),)
        case ast.BinOp(left, ast.Mult() | ast.Div() as operator, right):
            sign = 1 if isinstance(operator, ast.Mult) else -1
            return _product(left, power, names) + _product(right, power * sign, names)
        case ast.BinOp(ast.Constant(value=10), ast.Pow(), ast.Constant(value=int(exponent))) if (
            exponent <= 30
        ):
            return (("10", power * exponent),)
        case ast.BinOp(left, ast.Pow(), ast.Constant(value=int(exponent))) if exponent <= 9:
            return _product(left, power * exponent, names)
        case ast.BinOp(left, ast.Pow(), ast.UnaryOp(ast.USub(), ast.Constant(value=int(exponent)))) if (
            exponent <= 9
        ):
            return _product(left, -power * exponent, names)
    raise ValueError(ast.dump(node))


def raised(name: str, power: int) -> str:
    """Return a factor with its power as the allowlist writes it: ``m2``, ``s^-1``."""
    if power == 1:
        return name
    short = f"{name}{power}"
    return short if TRAILING_POWER.fullmatch(short) else f"{name}^{power}"
