"""What an expression itself says about its number: by a library function, or the name of a variable."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeVar

from gllint_rules.inference.values import Site
from gllint_rules.reading import facts
from gllint_rules.reading.expression_index import expression
from gllint_rules.reading.facts import Expr, Scope
from gllint_rules.tools.parameters import function_at
from gllint_rules.tuples import NamedTuple
from gllint_rules.words.call_units import is_date, unit_of_attribute, unit_of_function, unit_of_method

if TYPE_CHECKING:
    from gllint_rules.project.project import Project

_T = TypeVar("_T")

_MOST_TEXT = 2_000
_MOST_DEPTH = 16
# Functions that return their argument, rounded or in another type.
_ROUNDING = frozenset({"round", "int", "float", "abs", "Decimal", "ceil", "floor", "fabs", "trunc"})
# Those of them that keep a fraction.
_EXACT = frozenset({"float", "abs", "Decimal", "fabs"})
# Functions that return one of their arguments.
_CHOOSING = frozenset({"max", "min"})
_PREFIX = re.compile(r"^_*(?:get|compute|calculate|calc|fetch|read|load|find)_")


class Maker(NamedTuple):
    """An expression, and the scope in which its names mean something."""

    expr: Expr
    scope: Scope


def maker_at(site: Site) -> Maker | None:
    """Return the expression at a place."""
    expr = expression(site.module, site.at)
    if expr is None:
        return None
    function = function_at(site.module, site.at)
    return Maker(expr, function.scope if function is not None else site.module.scope)


def text_at(project: Project, site: Site) -> str:
    """Return the text of an expression, empty if it is long."""
    text = project.positions(site.module).text(site.at)
    return text if len(text) <= _MOST_TEXT else ""


def cores(expr: Expr) -> list[Expr]:
    """Return the expressions whose value an expression passes on: ``round(x, 1)`` → x, ``max(a, b)`` → a and b.

    Any other expression is its own core. Literals are omitted next to other cores: ``x or 0`` → x.
    """
    return _unwrapped(expr, 0)


def _unwrapped(expr: Expr, depth: int) -> list[Expr]:
    """Return the cores of an expression, down to a bounded depth."""
    parts: tuple[Expr, ...]
    match expr:
        case facts.Await(value=part) | facts.Walrus(value=part):
            parts = (part,)
        case facts.UnaryOp(op="-" | "+", operand=part):
            parts = (part,)
        case facts.Call(args=[first, *rest]) if not any(isinstance(arg, facts.Star) for arg in expr.args):
            name = facts.last_name(expr.func)
            if name in _ROUNDING:
                parts = (first,)
            elif name in _CHOOSING and rest:
                parts = expr.args
            else:
                return [expr]
        case facts.IfExp(body=body, orelse=orelse):
            parts = (body, orelse)
        case facts.BoolOp(left=operand, right=alternative):
            parts = (operand, alternative)
        case _:
            return [expr]
    if depth > _MOST_DEPTH:
        return [expr]
    unwrapped = [core for part in parts for core in _unwrapped(part, depth + 1)]
    return [core for core in unwrapped if not isinstance(core, facts.Const)] or unwrapped


def agreed(values: Iterable[_T | None]) -> _T | None:
    """Return the value that all ``values`` are; None if they differ."""
    different = set(values)
    return different.pop() if len(different) == 1 else None


# --- units -----------------------------------------------------------------------------------------------------


def fixed_unit(maker: Maker, depth: int = 0, *, is_difference: bool = False) -> str | None:
    """Return the unit that a library function or attribute gives an expression: seconds, bytes, "count"; else None.

    A date in seconds (``st_mtime``) has no unit, but a difference of two has (``is_difference``).
    """
    if depth > _MOST_DEPTH:
        return None
    return agreed(_fixed_unit(Maker(core, maker.scope), depth, is_difference) for core in cores(maker.expr))


def _fixed_unit(maker: Maker, depth: int, is_difference: bool) -> str | None:
    """Return the unit that the library gives one core of an expression, else None."""
    match maker.expr:
        case facts.Call(func=facts.Attr(name=name)) | facts.Attr(name=name) if (
            is_date(name) and not is_difference
        ):
            return None
        case facts.Call():
            return _unit_of_call(maker.expr, maker.scope)
        case facts.Attr(name=name):
            return unit_of_attribute(name)
        case facts.BinOp(op="+" | "-" as op, left=first, right=second):
            operands = [Maker(operand, maker.scope) for operand in (first, second)]
            is_difference |= op == "-"
            units = {fixed_unit(operand, depth + 1, is_difference=is_difference) for operand in operands}
            # `time.time() - start` is in seconds, too; `len(rows) - x` need not be a count.
            units -= {None} if "count" not in units else set()
            return units.pop() if len(units) == 1 else None
        case _:
            return None


def _unit_of_call(call: facts.Call, scope: Scope) -> str | None:
    """Return the unit of the result of a library's function: a count for ``len``, seconds for ``time.time``."""
    match call:
        case facts.Call(func=facts.Name(id="len")):
            return "count"
        case facts.Call(func=facts.Name(id="sum"), args=[facts.Comp(element=element), *_]) if _is_one(
            element
        ):
            return "count"
        case facts.Call(func=facts.Attr(name="count")):
            return "count"
    unit = unit_of_function(_qualified(call.func, scope))
    return unit or (unit_of_method(call.func.name) if isinstance(call.func, facts.Attr) else None)


def _is_one(element: Expr) -> bool:
    """Return whether a sum of such elements counts them: ``1``, ``x is None``."""
    match element:
        case facts.Const(value=value):
            return value == 1
        case facts.IfExp(body=facts.Const(value=1), orelse=facts.Const(value=0)):
            return True
        case _:
            return isinstance(element, facts.Compare)


def _qualified(func: Expr, scope: Scope) -> str:
    """Return the full name of ``clock.time`` after ``import time as clock``; empty if nothing imports it."""
    first, _, rest = facts.dotted(func).partition(".")
    for binding in scope.find(first) if first else ():
        if binding.kind == "import":
            imported = [binding.module, binding.name, rest]
            return ".".join(filter(None, imported))
    return ""


def title(expr: Expr) -> str:
    """Return how a message names an expression whose unit the library gives: "`len()`"."""
    match cores(expr)[0]:
        case facts.Call(func=func) if facts.last_name(func):
            return f"`{facts.last_name(func)}()`"
        case facts.Attr(name=name):
            return f"`{name}`"
        case _:
            return "the expression"


# --- names -----------------------------------------------------------------------------------------------------


def names_of(expr: Expr) -> list[str]:
    """Return the name of each core of an expression: of a variable, field, key or function; "" for one without."""
    return [_name(core) for core in cores(expr)]


def _name(expr: Expr) -> str:
    """Return the name in an expression: of a variable, an attribute, a key that is looked up, or a function."""
    match expr:
        case facts.Name(id=name) | facts.Attr(name=name):
            return name
        case facts.Sub(index=facts.Const(value=str() as name)):
            return name
        case facts.Call(args=[facts.Const(value=str() as name), *_]) if _is_look_up(expr):
            return name
        case facts.Call(func=func):
            return _PREFIX.sub("", facts.last_name(func)).lstrip("_")
        case _:
            return ""


def is_call(expr: Expr) -> bool:
    """Return whether an expression, rounded or not, is a call other than a look-up by key."""
    return any(isinstance(core, facts.Call) and not _is_look_up(core) for core in cores(expr))


def _is_look_up(call: facts.Call) -> bool:
    return isinstance(call.func, facts.Attr) and call.func.name in ("get", "pop")


def variable(expr: Expr) -> str | None:
    """Return the name of the variable that an expression is, rounded or not; else None."""
    return agreed(core.id if isinstance(core, facts.Name) else None for core in cores(expr))


# --- what is counted -----------------------------------------------------------------------------------------


def is_count(maker: Maker, depth: int = 0) -> bool:
    """Return whether an expression counts, whatever it is called: ``len(rows)``, ``sum(1 for row in rows)``."""
    return depth <= _MOST_DEPTH and all(
        _counts(Maker(core, maker.scope), depth) for core in cores(maker.expr)
    )


def _counts(maker: Maker, depth: int) -> bool:
    """Return whether one core of an expression counts."""
    match maker.expr:
        case facts.Call(func=facts.Name(id="sum"), args=[facts.Comp() as comp, *_]) if not _is_one(
            comp.element
        ):
            return is_count(Maker(comp.element, comp.scope), depth + 1)
    return fixed_unit(maker) == "count"


def is_fraction(expr: Expr, depth: int = 0) -> bool:
    """Return whether an expression shows a fraction: a literal with one, a quotient, a product with one."""
    match expr:
        case facts.Const(value=float() as value):
            return not value.is_integer()
        case facts.BinOp(op="/"):
            return True
        case facts.BinOp(op="*" | "+" | "-", left=left, right=right) if depth < _MOST_DEPTH:
            return is_fraction(left, depth + 1) or is_fraction(right, depth + 1)
        case facts.UnaryOp(operand=operand) if depth < _MOST_DEPTH:
            return is_fraction(operand, depth + 1)
        case facts.Call(args=[first, *_]) if facts.last_name(expr.func) == "round" and len(expr.args) == 2:
            return depth < _MOST_DEPTH and is_fraction(first, depth + 1)
        case facts.Call(func=func, args=[first, *_]) if (
            facts.last_name(func) in _EXACT and depth < _MOST_DEPTH
        ):
            return is_fraction(first, depth + 1)
        case facts.IfExp(body=body, orelse=orelse) if depth < _MOST_DEPTH:
            return is_fraction(body, depth + 1) or is_fraction(orelse, depth + 1)
        case facts.BoolOp(left=left, right=right) if depth < _MOST_DEPTH:
            return is_fraction(left, depth + 1) or is_fraction(right, depth + 1)
    return False


def is_composite(expr: Expr) -> bool:
    """Return whether an expression combines or chooses between numbers, so that none of them says what it is."""
    parts = cores(expr)
    return len(parts) > 1 or isinstance(parts[0], facts.BinOp)
