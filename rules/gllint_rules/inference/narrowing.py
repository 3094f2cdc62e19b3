"""What a test says about a value if it is true, and if it is false.

``isinstance(x, float)``, ``type(x) is int``, ``x is None`` and ``x`` itself, and all that ``and``, ``or`` and ``not``
make of them: the value of a name from then on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from gllint_rules.inference.values import (
    NONE,
    UNKNOWN,
    Container,
    DictOf,
    Env,
    Frame,
    Own,
    Text,
    UnionOf,
    Value,
    Variable,
    class_of,
    explained,
    join,
    lacks_key,
    number,
    options,
)
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Expr

if TYPE_CHECKING:
    from gllint_rules.inference.protocol import Evaluator


def variable(expr: Expr) -> Variable | None:
    """Return the key of an expression in an ``Env``: ``x`` → ``"x"``, ``self.x`` → ``Own("x")``, others → ``None``."""
    match expr:
        case facts.Name(id=name):
            return name
        case facts.Attr(base=facts.Name(id="self"), name=name):
            return Own(name)
        case _:
            return None


def narrow(evaluator: Evaluator, test: Expr, frame: Frame) -> tuple[Env, Env] | None:
    """Return the values of variables where ``test`` is true, and where it is false; ``None`` if it says nothing.

    ``x is None`` → ``({"x": NONE}, {"x": the other options of x})``
    """
    match test:
        case facts.Call(func=facts.Name(id="isinstance"), args=(of, kinds)):
            return _narrow_by_class(evaluator, of, kinds, frame)
        case facts.Compare(
            operands=(facts.Call(func=facts.Name(id="type"), args=(of,)), kinds), ops=("Is" | "Equal" | "In",)
        ):
            return _narrow_by_class(evaluator, of, kinds, frame)
        case facts.UnaryOp(op="not", operand=inner):
            opposite = narrow(evaluator, inner, frame)
            return (opposite[1], opposite[0]) if opposite is not None else None
        # A true `a and b` says that both are true; a false one does not say which is false. `or` is the reverse.
        case facts.BoolOp(op=op, left=left, right=right):
            sides = [side for side in (narrow(evaluator, part, frame) for part in (left, right)) if side]
            env: Env = {}
            for positive, negative in sides:
                env |= positive if op == "and" else negative
            return (env, {}) if op == "and" else ({}, env)
        case facts.Compare(operands=(facts.Name(id=name), facts.Const(value=None)), ops=(op,)):
            old = evaluator.lookup(name, frame)
            if isinstance(old, UnionOf):
                rest = join(*(option for option in old.options if option is not NONE))
                if op in ("Is", "Equal"):
                    return {name: NONE}, {name: rest}
                if op in ("IsNot", "NotEqual"):
                    return {name: rest}, {name: NONE}
            return None
        case facts.Compare(
            operands=(facts.Const(value=str() as key), facts.Name(id=name)), ops=("In" | "NotIn" as op,)
        ):
            return _narrow_by_key(evaluator.lookup(name, frame), name, key, op == "In")
        case facts.Call(
            func=facts.Name(id="hasattr"), args=(facts.Name(id=name), facts.Const(value=str() as key))
        ):
            return _narrow_by_hasattr(evaluator, evaluator.lookup(name, frame), name, key)
        case facts.Name(id=name):
            old = evaluator.lookup(name, frame)
            # True: it is not None. False: it may be None, but also zero, False or an empty text.
            if isinstance(old, UnionOf) and NONE in old.options:
                return {name: join(*(option for option in old.options if option is not NONE))}, {}
            return None
        case _:
            return None


def _narrow_by_hasattr(
    evaluator: Evaluator, value: Value, name: str, attribute: str
) -> tuple[Env, Env] | None:
    """Return what ``hasattr(name, attribute)`` says about ``name``, whose value is ``value``.

    True: nothing, since an object of any class may have the attribute. False: it is no instance of a class that
    declares it.
    """
    without = [option for option in options(value) if not _surely_has(evaluator, option, attribute)]
    if len(without) == len(options(value)):
        return None
    return {}, {name: join(*without) if without else UNKNOWN}


def _surely_has(evaluator: Evaluator, value: Value, name: str) -> bool:
    """Return whether a value is an instance of a class of the project that declares the attribute ``name``."""
    of = class_of(value)
    return of is not None and evaluator.field(of, name) is not None


def _narrow_by_key(value: Value, name: str, key: str, is_in: bool) -> tuple[Env, Env] | None:
    """Return the options of ``name`` where ``key in name`` is true, and where it is false; reversed for ``not in``.

    ``{"a": 1}`` or ``{}``, with the key ``a`` → ``({name: {"a": 1}}, {name: {}})``
    """
    if not isinstance(value, UnionOf):
        return None
    may_have = [option for option in value.options if not lacks_key(option, key)]
    may_lack = [o for o in value.options if not (isinstance(o, DictOf) and key in o.sure)]
    sides: list[Env] = [{name: join(*side)} if side else {} for side in (may_have, may_lack)]
    return (sides[0], sides[1]) if is_in else (sides[1], sides[0])


def _narrow_by_class(evaluator: Evaluator, of: Expr, kinds: Expr, frame: Frame) -> tuple[Env, Env] | None:
    """Return what ``isinstance(of, kinds)`` says where it is true, and where it is false.

    ``isinstance(x, float)`` → ``({"x": a number}, {"x": the options of x that are no number})``
    """
    if isinstance(of, facts.Walrus):
        of = facts.Name(of.at, of.target)
    if not isinstance(of, facts.Name):
        return None
    parts = kinds.items if isinstance(kinds, facts.Seq) else (kinds,)
    value = join(*(evaluator.annotation(part, replace(frame, env=None)) for part in parts))
    value = explained(value, f"`isinstance` says that `{of.id}` is a number")
    old = evaluator.lookup(of.id, frame)
    # The known elements of a list or dict say more than `isinstance(x, dict)`.
    if number(value) is None and isinstance(old, Container):
        return None
    rest = [option for option in options(old) if not isinstance(option, type(value))]
    if isinstance(value, Text) and isinstance(old, Text) and old.is_put_together:
        value = old  # its known parts say more than `isinstance(x, str)`
    return {of.id: value}, {of.id: join(*rest)} if rest and isinstance(old, UnionOf) else {}
