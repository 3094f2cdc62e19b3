"""What operators make of values, and what a test says about a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from gllint_rules.inference import formatting, stub_calls, unit_objects
from gllint_rules.inference.narrowing import narrow
from gllint_rules.inference.values import (
    BOOL,
    NEVER,
    NONE,
    TEXT,
    UNKNOWN,
    Boolean,
    ClassOf,
    External,
    ExternalInstance,
    Frame,
    FunctionOf,
    ListOf,
    Method,
    Number,
    Record,
    Site,
    Text,
    UnionOf,
    Value,
    is_text,
    join,
    number,
    options,
    pieces,
)
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Expr

if TYPE_CHECKING:
    from gllint_rules.inference.protocol import Evaluator


def binary(evaluator: Evaluator, expr: facts.BinOp, frame: Frame) -> Value:
    """Return the result of a chain of arithmetic."""
    chain = [expr]  # long chains nest to the left
    while isinstance(chain[-1].left, facts.BinOp):
        chain.append(chain[-1].left)
    value = evaluator.eval(chain[-1].left, frame)
    for operation in reversed(chain):
        value = operate(evaluator, operation, value, evaluator.eval(operation.right, frame), frame)
    return value


def operate(evaluator: Evaluator, expr: facts.BinOp, left: Value, right: Value, frame: Frame) -> Value:
    """``left op right``, by what the catalogue calls definitely a number."""
    op = expr.op
    is_of_units = unit_objects.is_unit_object(left) or unit_objects.is_unit_object(right)
    if is_of_units and not isinstance(left, Text):
        return unit_objects.made_at(frame.site(expr))
    whole = left, right
    left, right = _plain(left), _plain(right)
    if left is NEVER and right is NEVER:
        return NEVER
    a, b = number(left), number(right)
    if (a is not None or b is not None) and all(
        n is not None or o is NEVER or isinstance(o, Boolean) for n, o in ((a, left), (b, right))
    ):
        real = op == "/" or any(n is not None and n.real for n in (a, b))
        return evaluator.number(f"`{op}` of numbers", frame, expr.at, left, right, real=real)
    if isinstance(left, ExternalInstance) or isinstance(right, ExternalInstance):
        result = _overloaded(evaluator, op, left, right, frame.site(expr))
        if result is not None:
            return result
    if op == "+":
        # Of several texts that one side may be, each is put together with the other.
        pairs = zip(whole, (left, right), strict=True)
        first, second = (every if is_text(every) else plain for every, plain in pairs)
        joined = _concatenated(evaluator, first, second, expr, frame)
        if joined is not None:
            return joined
    if op in _OF_SETS and isinstance(left, UnionOf):
        # One of several sets, or dicts: each of them with the other side.
        united = [_united(op, option, right, frame.site(expr.right)) for option in left.options]
        return join(*(UNKNOWN if value is None else value for value in united))
    if op in _OF_SETS and (united_alone := _united(op, left, right, frame.site(expr.right))) is not None:
        return united_alone
    if op == "%" and _may_be(left, Text):
        return formatting.percent(evaluator, left, expr, frame) if isinstance(left, Text) else UNKNOWN
    if _survives(op, expr, left, right, a, b):
        return evaluator.number(f"`{op}` gives a number here", frame, expr.at, left, right, real=op == "/")
    if op == "*" and isinstance(left, Text):
        return TEXT
    if op == "*" and isinstance(left, ListOf):
        return left
    return UNKNOWN


_SPECIAL = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow",
    "&": "and", "|": "or", "^": "xor",
}  # fmt: skip
_OF_SETS = frozenset({"&", "|", "-", "^"})  # no other sequence knows these


def _overloaded(evaluator: Evaluator, op: str, left: Value, right: Value, site: Site) -> Value | None:
    """Return the result of an operator between instances of classes that the stubs describe."""
    name = _SPECIAL.get(op, "")
    for value, other, special in ((left, right, f"__{name}__"), (right, left, f"__r{name}__")):
        if isinstance(value, ExternalInstance) and name:
            result = stub_calls.special(value, special, (other,), site)
            if result is not None:
                return result
    return None


def _united(op: str, left: Value, right: Value, site: Site) -> Value | None:
    """Return a set or dict joined with the operand at ``site`` on its right; ``None`` if the left is neither."""
    if isinstance(left, ListOf) and "." not in left.kind:
        sides = [left, *(options(right) if op in "|^" else ())]
        sides = [side for side in sides if not (isinstance(side, ListOf) and not side.values())]
        elements = [side.element() if isinstance(side, ListOf) else UNKNOWN for side in sides]
        return ListOf(rest=join(*elements) if elements else None, kind="set")
    return left.spread(right, site) if op == "|" and isinstance(left, Record) else None


def _concatenated(
    evaluator: Evaluator, left: Value, right: Value, expr: facts.BinOp, frame: Frame
) -> Value | None:
    """Return the result of ``+`` for lists and texts; ``None`` for other operands."""
    lists = [one for one in (_as_one_list(left), _as_one_list(right)) if one is not None]
    if len(lists) == 2 or _is_list(left) or _is_list(right):
        evaluator.step((left.size + right.size) // 256)
        if len(lists) < 2:  # NEVER is the list itself
            return lists[0] if NEVER in (left, right) else replace(lists[0], rest=UNKNOWN, unfilled=False)
        # What is declared of an empty list says nothing of the other one.
        rests = [o.rest for o in lists if o.rest is not None and not o.is_empty]
        return ListOf(
            lists[0].items + lists[1].items,
            join(*rests) if rests else None,
            lists[0].kind,
            lists[0].site or lists[1].site,
        )
    if is_text(left) or is_text(right):
        if number(left) is not None or number(right) is not None:
            return UNKNOWN  # a TypeError: text and numbers do not add up
        sides = ((left, frame.site(expr.left)), (right, frame.site(expr.right)))  # NEVER is the text itself
        parts = (part for value, site in sides if value is not NEVER for part in pieces(value, site))
        site = frame.site(expr)
        return formatting.serialised_alone(formatting.assembled(evaluator, parts, site), site)
    return None


def _as_one_list(value: Value) -> ListOf | None:
    """Return a value that is a list on at least one path as a list, with the elements of all paths."""
    lists = [option for option in options(value) if isinstance(option, ListOf)]
    if not lists:
        return None
    # Only a list can be added to a list; an unknown value may be one.
    rests = [o.rest for o in lists if o.rest is not None and not o.is_empty]
    rests += [UNKNOWN] if UNKNOWN in options(value) else []
    if len(lists) == 1 and UNKNOWN not in rests:
        return lists[0]
    items = tuple(entry for option in lists for entry in option.items)
    site = next((option.site for option in lists if option.site is not None), None)
    return ListOf(items, join(*rests) if rests else None, lists[0].kind, site)


def _is_list(value: Value) -> bool:
    """Return whether it is a list on each path, or on some and unknown, or nothing, on the others."""
    choices = [option for option in options(value) if option is not UNKNOWN and option is not NONE]
    return bool(choices) and all(isinstance(option, ListOf) for option in choices)


def unary(evaluator: Evaluator, expr: facts.UnaryOp, frame: Frame) -> Value:
    """Return the result of a sign, ``~`` or ``not``."""
    if expr.op == "not":
        return BOOL
    operand = evaluator.eval(expr.operand, frame)
    value = number(operand)
    if value is None:
        is_of_units = unit_objects.is_unit_object(operand)
        return unit_objects.made_at(frame.site(expr)) if is_of_units else UNKNOWN
    # The literal is compared with what a schema allows, so the sign belongs to it.
    if expr.op == "-" and isinstance(value.literal, (int, float)):
        return replace(value, literal=-value.literal)
    return value if expr.op == "+" else replace(value, literal=None)


def either(evaluator: Evaluator, expr: facts.BoolOp, frame: Frame) -> Value:
    """Return the result of ``and`` or ``or``."""
    chain = [expr]  # long chains nest to the left
    while isinstance(chain[-1].left, facts.BoolOp):
        chain.append(chain[-1].left)
    value = evaluator.eval(chain[-1].left, frame)
    for operation in reversed(chain):
        if operation.op == "or":  # None is falsy: only the rest of the left side survives
            value = join(*[option for option in options(value) if option is not NONE])
        right = evaluator.eval(operation.right, frame)
        # Only behind `or` is the right side a default; `and` gives it where the left side is true.
        if operation.op == "or":
            value = defaulted(evaluator, value, right, "`or`", frame, operation.at)
        else:
            value = join(value, right)
        evaluator.step(value.size // 64)
    return value


def defaulted(evaluator: Evaluator, value: Value, default: Value, what: str, frame: Frame, at: int) -> Value:
    """Return ``value`` or its ``default``. It is a number if the default is one and the value may be one."""
    numeric = number(default)
    # A method or a name of another package is what reading it gives, which is unknown.
    candidates = [o for o in options(value) if not (o is UNKNOWN or isinstance(o, (Method, External)))]
    if (
        numeric is not None
        and all(_is_number_or_nothing(o) for o in candidates)
        and len(candidates) < len(options(value))
    ):
        return evaluator.number(f"{what} has a number as default", frame, at, default)
    return join(value, default)


def _is_number_or_nothing(value: Value) -> bool:
    return isinstance(value, Number) or value is NONE or value is NEVER


def conditional(evaluator: Evaluator, expr: facts.IfExp, frame: Frame) -> Value:
    """Return the result of ``a if test else b``, each arm under its condition."""
    body, orelse = frame, frame
    if frame.env is not None:
        narrowed = narrow(evaluator, expr.test, frame)
        if narrowed is not None:
            positive, negative = narrowed
            body = replace(frame, env={**frame.env, **positive})
            orelse = replace(frame, env={**frame.env, **negative})
    arms = evaluator.eval(expr.body, body), evaluator.eval(expr.orelse, orelse)
    # A number in one arm means a number in the other: `x.value if x else 0.0`.
    if UNKNOWN in arms and any(number(arm) is not None for arm in arms):
        return evaluator.number("the other arm is a number", frame, expr.at, *arms)
    value = join(*arms)
    # Each literal arm is a leaf of its own, even if the other arm is a text.
    if isinstance(value, UnionOf) and any(number(arm) is not None for arm in arms):
        return replace(value, source="arms")
    return value


def _plain(value: Value) -> Value:
    """Return an operand as operators need it: functions and classes are unknown, and a union of texts is a text."""
    if isinstance(value, UnionOf) and is_text(value):
        return TEXT
    return UNKNOWN if isinstance(value, (Method, FunctionOf, ClassOf, External)) else value


def _may_be(value: Value, kind: type[Value]) -> bool:
    return any(isinstance(option, kind) or option is UNKNOWN for option in options(value))


def _survives(
    op: str, expr: facts.BinOp, left: Value, right: Value, a: Number | None, b: Number | None
) -> bool:
    """Return whether nothing but numbers survives this operation, although one operand or both are unknown."""
    unknown = right if a is not None else left
    if a is None and b is None:
        return (
            op == "/"
            and left is UNKNOWN
            and right is UNKNOWN
            and not _may_be_path(expr.left)
            and not _may_be_path(expr.right)
        )
    if not all(o is UNKNOWN or isinstance(o, Number) or o in (NONE, NEVER) for o in options(unknown)):
        return False
    # A text or a list and a number raise a TypeError here, so a result comes from numbers.
    if op in ("+", "-", "//", "**"):
        return True
    # `folder / name` is a path as well.
    if op == "/":
        return not _may_be_path(expr.right if a is not None else expr.left)
    # An integer multiplies a text or a list, a float does not.
    if op == "*":
        return any(n is not None and n.real for n in (a, b))
    # A text on the left is formatted; a number there leaves nothing but the remainder.
    if op == "%":
        return a is not None
    return False


_PATH_WORDS = ("path", "dir", "root", "folder", "file", "base", "home", "cwd", "parent", "here", "prefix")


def _may_be_path(expr: Expr) -> bool:
    """Return whether an expression reads as a path, which ``/`` joins and does not divide: ``data_dir / name``."""
    match expr:
        case facts.Name(id=name) | facts.Attr(name=name):
            words = name.lower().strip("_").split("_")
            return any(w in _PATH_WORDS or w.removesuffix("s") in _PATH_WORDS for w in words) or any(
                words[-1].endswith(end) for end in ("path", "dir", "root", "folder")
            )
        case facts.Call(func=func):
            return _may_be_path(func) or facts.last_name(func) in (
                "Path",
                "PurePath",
                "resolve",
                "expanduser",
            )
        case facts.Sub(base=base):
            return _may_be_path(base)
        case facts.BinOp(op="/", left=left, right=right):
            return _may_be_path(left) or _may_be_path(right)
        case facts.Const(value=str()) | facts.Join():
            return True
        case _:
            return False
