"""Recognise calculators: tools that return arithmetic of plain operands, which has no unit."""

from __future__ import annotations

import re
from itertools import chain

from gllint_rules.project.context import Context
from gllint_rules.project.results import Leaf, Result, leaves
from gllint_rules.reading import facts
from gllint_rules.reading.expression_index import expression
from gllint_rules.reading.facts import Expr, Scope
from gllint_rules.tools.parameters import function_at

_OPERANDS = re.compile(
    r"(?:[abcmnpqrxyz]|num|number|val|value|operand|dividend|divisor|base|exponent)s?"
    r"(?:_?(?:\d|one|two|[ab]))?(?:_(?:number|value|operand|num))?"
)
_ROUNDING = frozenset({"abs", "float", "int", "round"})
_FUNCTIONS = frozenset({"len", "max", "mean", "min", "pow", "prod", "sqrt", "sum", "fsum"})
_NUMBERS = frozenset({"int", "float", "complex", "Decimal"})
_LISTS = frozenset({"list", "List", "Sequence", "tuple", "Iterable"})
_MOST_DEPTH = 8


def is_operand(name: str) -> bool:
    """Return whether a parameter is called like a plain operand: ``a``, ``x``, ``number1``, ``values``."""
    return _OPERANDS.fullmatch(name) is not None


def is_calculated(context: Context, result: Result, text: Leaf | None = None) -> bool:
    """Return whether all numbers of a result (or only ``text``) are computed from plain operands.

    Never if `plain-kinds` is empty, as under the preset ``strict``.
    """
    if not context.policy.plain_kinds or not any(map(is_operand, result.parameters)):
        return False
    function = result.callable.function
    numbers = leaves(result.value, result.site)
    first = text or next(numbers, None)
    return first is not None and all(
        function_at(leaf.site.module, leaf.site.at) is function
        and _is_calculated(expression(leaf.site.module, leaf.site.at), function.scope, 0)
        for leaf in chain((first,), numbers)
    )


def _is_calculated(expr: Expr | None, scope: Scope, depth: int) -> bool:
    """Return whether an expression computes only with operands: ``a + b``, ``round(math.sqrt(x), 2)``."""
    if depth > _MOST_DEPTH:
        return False
    match expr:
        case facts.Name(id=name):
            values = [b.value if b.kind in ("assign", "annotated", "aug") else None for b in scope.find(name)]
            return bool(values) and all(_is_calculated(value, scope, depth + 1) for value in values)
        case facts.BinOp(op="**", left=left, right=facts.Const()):
            return _is_operand_or_calculated(left, scope, depth)
        case facts.BinOp(op="+" | "-" | "*" | "/" | "//" | "%" | "**", left=left, right=right):
            return all(_is_operand_or_calculated(part, scope, depth) for part in (left, right))
        case facts.UnaryOp(operand=operand):
            return _is_calculated(operand, scope, depth + 1)
        case facts.IfExp(body=body, orelse=orelse):
            return all(_is_calculated(part, scope, depth + 1) for part in (body, orelse))
        case facts.Call(func=func, args=[first, *rest], keywords=()):
            name = facts.last_name(func)
            if name in _ROUNDING and all(isinstance(part, facts.Const) for part in rest):
                return _is_calculated(first, scope, depth + 1)
            is_function = name in _FUNCTIONS or facts.dotted(func).startswith("math.")
            return is_function and all(_is_operand_or_calculated(part, scope, depth) for part in expr.args)
        case _:
            return False


def _is_operand_or_calculated(expr: Expr, scope: Scope, depth: int) -> bool:
    """Return whether an expression is a parameter like ``a: float``, rounded or not, or computed from such."""
    match expr:
        case facts.Name(id=name) if is_operand(name):
            match scope.find(name):
                case [facts.Binding(kind="param", target=facts.Param(annotation=annotation))]:
                    return annotation is not None and _is_number(annotation)
        case facts.Call(func=func, args=(first,)) if facts.last_name(func) in _ROUNDING:
            return _is_operand_or_calculated(first, scope, depth + 1)
    return _is_calculated(expr, scope, depth + 1)


def _is_number(annotation: Expr) -> bool:
    """Return whether an annotation is a number or a list of numbers."""
    match annotation:
        case facts.Name(id=name):
            return name in _NUMBERS
        case facts.Sub(base=base, index=index):
            return facts.last_name(base) in _LISTS and _is_number(index)
        case _:
            return False
