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
    """Return the result of a chain of arithmetic, from left to right: ``a + b + c`` → ``(a + b) + c``."""
    chain = [expr]  # a loop, because a chain of 10,000 terms nests as deep on its left side
    while isinstance(chain[-1].left, facts.BinOp):
        chain.append(chain[-1].left)
    value = evaluator.eval(chain[-1].left, frame)
    for operation in reversed(chain):
        value = operate(evaluator, operation, value, evaluator.eval(operation.right, frame), frame)
    return value


def operate(evaluator: Evaluator, expr: facts.BinOp, left: Value, right: Value, frame: Frame) -> Value:
    """Return the result of ``left op right``: ``1 + x`` → a number, ``"a" + x`` → a text, ``x + y`` → unknown."""
    op = expr.op
    is_of_units = unit_objects.is_unit_object(left) or unit_objects.is_unit_object(right)
    if is_of_units and not isinstance(left, Text):  # `1.5 * ureg.kWh`, but not `"%s" % quantity`
        return unit_objects.made_at(frame.site(expr))
    operands = left, right
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
        # Each text of a union of texts is joined with the other side.
        first, second = (side if is_text(side) else _plain(side) for side in operands)
        joined = _concatenated(evaluator, first, second, expr, frame)
        if joined is not None:
            return joined
    if op in _OF_SETS:
        united = [_united(op, option, right, frame.site(expr.right)) for option in options(left)]
        if isinstance(left, UnionOf) or united != [None]:
            return join(*(UNKNOWN if value is None else value for value in united))
    if op == "%" and _may_be(left, Text):  # `"%d kWh" % x`
        return formatting.percent(evaluator, left, expr, frame) if isinstance(left, Text) else UNKNOWN
    if _survives(op, expr, left, right, a, b):
        return evaluator.number(f"`{op}` gives a number here", frame, expr.at, left, right, real=op == "/")
    if op == "*" and isinstance(left, Text):  # `"-" * 20`
        return TEXT
    if op == "*" and isinstance(left, ListOf):  # `[0] * 20`
        return left
    return UNKNOWN


_SPECIAL = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow",
    "&": "and", "|": "or", "^": "xor",
}  # fmt: skip
_OF_SETS = frozenset({"&", "|", "-", "^"})  # no other sequence knows these


def _overloaded(evaluator: Evaluator, op: str, left: Value, right: Value, site: Site) -> Value | None:
    """Return the result of an operator that the class of an operand defines: ``date - date`` → a timedelta.

    ``None`` if the stubs describe no such class or operator.
    """
    name = _SPECIAL.get(op)
    for value, other, special in ((left, right, f"__{name}__"), (right, left, f"__r{name}__")):
        if isinstance(value, ExternalInstance) and name is not None:
            result = stub_calls.special(value, special, (other,), site)
            if result is not None:
                return result
    return None


def _united(op: str, left: Value, right: Value, site: Site) -> Value | None:
    """Return ``left op right`` for a set or dict on the left: ``{1} | {2}`` → ``{1, 2}``; ``None`` for others.

    ``site`` is that of the right operand.
    """
    # The kind of an instance of a library's class is its full name, with a dot.
    if isinstance(left, ListOf) and "." not in left.kind:
        # `&` and `-` keep elements of the left side, `|` and `^` add those of the right one.
        sides = [left, *(options(right) if op in "|^" else ())]
        sides = [side for side in sides if not (isinstance(side, ListOf) and not side.values())]
        elements = [side.element() if isinstance(side, ListOf) else UNKNOWN for side in sides]
        return ListOf(rest=join(*elements) if elements else None, kind="set")
    return left.spread(right, site) if op == "|" and isinstance(left, Record) else None


def _concatenated(
    evaluator: Evaluator, left: Value, right: Value, expr: facts.BinOp, frame: Frame
) -> Value | None:
    """Return the result of ``+`` for lists and texts: ``[1] + [2]`` → ``[1, 2]``; ``None`` for other operands."""
    lists = [one for one in (_as_one_list(left), _as_one_list(right)) if one is not None]
    if len(lists) == 2 or _is_list(left) or _is_list(right):
        evaluator.step((left.size + right.size) // 256)  # to copy 256 elements costs one step
        if len(lists) < 2:
            # NEVER is the list in its own definition (`rows = rows + [1]`); other values may add elements.
            return lists[0] if NEVER in (left, right) else replace(lists[0], rest=UNKNOWN, unfilled=False)
        # The declared elements of a list that is empty are not among those of the result.
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
        sides = ((left, frame.site(expr.left)), (right, frame.site(expr.right)))
        # NEVER is the text in its own definition: `text = text + "a"`.
        parts = (part for value, site in sides if value is not NEVER for part in pieces(value, site))
        site = frame.site(expr)
        return formatting.serialised_alone(formatting.assembled(evaluator, parts, site), site)
    return None


def _as_one_list(value: Value) -> ListOf | None:
    """Return a list with the elements of all lists that ``value`` may be: ``[1]`` or ``[2]`` → ``[1, 2]``.

    ``None`` if it is a list on no path.
    """
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
    """Return whether a value is a list on each path on which its kind is known and it is not ``None``."""
    choices = [option for option in options(value) if option is not UNKNOWN and option is not NONE]
    return bool(choices) and all(isinstance(option, ListOf) for option in choices)


def unary(evaluator: Evaluator, expr: facts.UnaryOp, frame: Frame) -> Value:
    """Return the result of ``-x``, ``+x``, ``~x`` or ``not x``: ``-5`` → the number with the literal -5."""
    if expr.op == "not":
        return BOOL
    operand = evaluator.eval(expr.operand, frame)
    value = number(operand)
    if value is None:
        is_of_units = unit_objects.is_unit_object(operand)
        return unit_objects.made_at(frame.site(expr)) if is_of_units else UNKNOWN
    # A literal is compared with the values that a schema allows (`enum`, `const`), so it needs its sign.
    if expr.op == "-" and isinstance(value.literal, (int, float)):
        return replace(value, literal=-value.literal)
    return value if expr.op == "+" else replace(value, literal=None)


def either(evaluator: Evaluator, expr: facts.BoolOp, frame: Frame) -> Value:
    """Return the result of ``and`` or ``or``: ``None or 5`` → 5, ``x and 5`` → ``x`` or 5."""
    chain = [expr]  # a loop, because a chain of 10,000 terms nests as deep on its left side
    while isinstance(chain[-1].left, facts.BoolOp):
        chain.append(chain[-1].left)
    value = evaluator.eval(chain[-1].left, frame)
    for operation in reversed(chain):
        right = evaluator.eval(operation.right, frame)
        if (
            operation.op == "or"
        ):  # None is falsy, so the result is another option of the left side, or the right side
            value = join(*[option for option in options(value) if option is not NONE])
            value = defaulted(evaluator, value, right, "`or`", frame, operation.at)
        else:
            value = join(value, right)
        evaluator.step(value.size // 64)  # to join 64 elements costs one step
    return value


def defaulted(evaluator: Evaluator, value: Value, default: Value, what: str, frame: Frame, at: int) -> Value:
    """Return ``value`` or its ``default``: for an unknown ``x``, ``x or 0`` is a number, since its default is one.

    ``what`` names the construct in the reason: ``"`or`"``.
    """
    # A method or a name of another package counts as unknown: it is what an attribute of unknown meaning gives.
    candidates = [o for o in options(value) if not (o is UNKNOWN or isinstance(o, (Method, External)))]
    if (
        number(default) is not None
        and all(_is_number_or_nothing(o) for o in candidates)
        and len(candidates) < len(options(value))
    ):
        return evaluator.number(f"{what} has a number as default", frame, at, default)
    return join(value, default)


def _is_number_or_nothing(value: Value) -> bool:
    return isinstance(value, Number) or value is NONE or value is NEVER


def conditional(evaluator: Evaluator, expr: facts.IfExp, frame: Frame) -> Value:
    """Return the result of ``a if test else b``; in ``x if x is not None else 0``, the first arm has no ``None``."""
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
    """Return whether an operation with an unknown operand gives a number or raises: ``x - 5``, but not ``x * 5``.

    ``a`` and ``b`` are the operands as numbers, ``None`` if they are none.
    """
    unknown = right if a is not None else left
    if a is None and b is None:  # `x / y` divides numbers, unless it joins paths
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
    if op == "/":  # `data_dir / name` joins paths
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
    """Return whether an expression reads as a path, which ``/`` joins instead of dividing: ``data_dir / name``."""
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
