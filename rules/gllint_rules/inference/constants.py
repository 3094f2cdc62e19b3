"""What an expression of constants alone comes to, where it makes a text: ``chr(57)``, ``"0059"[::-1]``.

Nothing of the code under lint is called: a few functions and methods of Python's own, which are known to be pure, are
called with constants that the source writes out. Whatever is put together has a budget; beyond it, and where
anything is no constant, there is no answer.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from gllint_rules.inference.values import Entry, External, Frame, ListOf, Literal, Site, Text
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Expr

if TYPE_CHECKING:
    from gllint_rules.inference.protocol import Evaluator

Constant: TypeAlias = str | bytes | int | tuple[Any, ...]

MOST_SIZE = 20_000  # characters, bytes, items, and whole numbers among the arguments
MOST_DEPTH = 40
MOST_NODES = 50_000  # expressions, those of a comprehension once for each item


class NoConstantError(Exception):
    """The expression is no constant."""


class TooLargeError(NoConstantError):
    """The expression comes to more than the budget allows."""


def folded(evaluator: Evaluator, expr: Expr, frame: Frame) -> Constant | None:
    """What ``expr`` comes to; ``None`` where it is no constant, or too large, which is noted."""
    folding = _Folding(evaluator, frame)
    try:
        return folding.of(expr)
    except TooLargeError:
        evaluator.cut(frame.site(expr), f"{MOST_SIZE} characters of a text")
    except NoConstantError:
        pass
    finally:
        evaluator.step(folding.count // 64)
    return None


def as_text(evaluator: Evaluator, expr: Expr, frame: Frame) -> Text | None:
    """The text that ``expr`` comes to, of which each character stands for the whole of it."""
    text = folded(evaluator, expr, frame)
    return _text_at(text, frame.site(expr)) if isinstance(text, str) else None


def as_texts(evaluator: Evaluator, expr: Expr, frame: Frame) -> Text | ListOf | None:
    """As :func:`as_text`, also of what takes a text apart: ``"a|b".split("|")``."""
    parts, site = folded(evaluator, expr, frame), frame.site(expr)
    if isinstance(parts, str):
        return _text_at(parts, site)
    texts = [part for part in parts if isinstance(part, str)] if isinstance(parts, tuple) else []
    return ListOf(tuple(Entry(_text_at(text, site), site) for text in texts)) if texts else None


def _text_at(text: str, site: Site) -> Text:
    return Text((Literal(text, site, (_BEYOND,) * len(text)),) if text else ())


_BEYOND = sys.maxsize  # no place in a string: what stands there is told at the expression as a whole


def _decoded(text: str | bytes, encoding: str) -> Constant:
    """``codecs.decode``, of the encodings that make a text no larger."""
    if encoding.lower().replace("-", "_").replace("rot13", "rot_13") not in _ENCODINGS:
        raise NoConstantError
    return codecs.decode(text, encoding)  # type: ignore[arg-type]


_ENCODINGS = frozenset(
    {"utf_8", "utf8", "ascii", "latin_1", "latin1", "utf_16", "utf_32", "utf_7", "cp1252", "cp037", "rot_13", "hex",
     "base64", "unicode_escape", "raw_unicode_escape", "idna", "punycode"}
)  # fmt: skip
# By the full name; all are pure, and none makes more than a few times of what it is given.
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "builtins.bytes": lambda *args: bytes(*_whole(args)), "builtins.chr": chr,
    "builtins.bytearray": lambda *args: bytes(*_whole(args)), "builtins.int": int, "builtins.len": len,
    "builtins.list": lambda *args: tuple(*args), "builtins.max": max, "builtins.min": min, "builtins.ord": ord,
    "builtins.range": lambda *args: tuple(range(*args)), "builtins.reversed": lambda items: tuple(reversed(items)),
    "builtins.sorted": lambda items: tuple(sorted(items)), "builtins.str": lambda *args, **named: _text(*args, **named),
    "builtins.tuple": lambda *args: tuple(*args),
    "builtins.bytes.fromhex": bytes.fromhex, "builtins.bytearray.fromhex": bytes.fromhex,
    "base64.b16decode": base64.b16decode, "base64.b32decode": base64.b32decode,
    "base64.b64decode": base64.b64decode, "base64.b85decode": base64.b85decode, "base64.a85decode": base64.a85decode,
    "base64.standard_b64decode": base64.standard_b64decode, "base64.urlsafe_b64decode": base64.urlsafe_b64decode,
    "base64.decodebytes": base64.decodebytes, "binascii.unhexlify": binascii.unhexlify,
    "binascii.a2b_hex": binascii.a2b_hex, "binascii.a2b_base64": binascii.a2b_base64,
    "codecs.decode": _decoded,
}  # fmt: skip
_NAMES = frozenset(name.rpartition(".")[2] for name in _FUNCTIONS)
_METHODS = frozenset(
    {"capitalize", "casefold", "center", "decode", "encode", "join", "ljust", "lower", "lstrip",
     "partition", "removeprefix", "removesuffix", "replace", "rjust", "rpartition", "rsplit", "rstrip", "split",
     "splitlines", "strip", "swapcase", "title", "upper", "zfill", "hex", "__add__"}
)  # fmt: skip


def _whole(args: tuple[Any, ...]) -> tuple[Any, ...]:
    if args and isinstance(args[0], int):  # so many zeros
        raise NoConstantError
    return args


def _text(value: Constant, encoding: str = "", errors: str = "strict") -> str:
    if isinstance(value, bytes) and encoding:
        return value.decode(encoding, errors)
    if not isinstance(value, str | int):
        raise NoConstantError
    return str(value)


class _Folding:
    """Folds one expression. ``variables`` are those of the comprehensions around, ``count`` what was folded so far."""

    def __init__(self, evaluator: Evaluator, frame: Frame) -> None:
        self.evaluator, self.frame = evaluator, frame
        self.variables: dict[str, Constant] = {}
        self.depth = self.count = 0

    def of(self, expr: Expr) -> Constant:
        """What ``expr`` comes to. Raises :class:`NoConstantError`."""
        self.depth += 1
        self.count += 1
        if self.depth > MOST_DEPTH or self.count > MOST_NODES:
            raise TooLargeError
        try:
            value = self._of(expr)
        except NoConstantError:
            raise
        except (ArithmeticError, LookupError, TypeError, ValueError, MemoryError) as error:
            raise NoConstantError from error  # it would raise when it runs
        finally:
            self.depth -= 1
        if isinstance(value, str | bytes | tuple) and len(value) <= MOST_SIZE:
            return value
        if type(value) is int and abs(value) <= MOST_SIZE:
            return value
        raise TooLargeError if isinstance(value, str | bytes | tuple) else NoConstantError

    def _of(self, expr: Expr) -> Any:
        match expr:
            case facts.Const(value=str() | bytes() | int() as value):
                return value
            case facts.Name(id=name) if name in self.variables:
                return self.variables[name]
            case facts.Name():
                return self._named(expr)
            case facts.Join(parts=parts):
                return "".join(self._part(part) for part in parts)
            case facts.Seq(items=items):
                return tuple(self.of(item) for item in items)
            case facts.UnaryOp(op="-", operand=operand):
                return -self.of(operand)  # type: ignore[operator]
            case facts.BinOp():
                return self._operation(expr)
            case facts.Sub(base=base, index=facts.Slice(bounds=bounds)):
                limits = [self.of(bound) if bound is not None else None for bound in bounds]
                return self.of(base)[slice(*limits)]  # type: ignore[index, arg-type]
            case facts.Sub(base=base, index=index):
                return self.of(base)[self.of(index)]  # type: ignore[index]
            case facts.Comp(kind="list" | "generator", element=element, scope=scope, tests=()):
                return self._comprehension(element, scope)
            case facts.Call():
                return self._call(expr)
            case _:
                raise NoConstantError

    def _named(self, name: facts.Name) -> Constant:
        """What a name holds that is assigned once; no list, which may be filled."""
        home = self.frame.scope.home(name.id)
        match home.bindings[name.id] if home is not None else ():
            case [
                facts.Binding(kind="assign", value=facts.Const() | facts.Call() | facts.Sub() as source)
            ] if home:
                constant = self._elsewhere(source, Frame(self.frame.module, home))
                if isinstance(constant, tuple):
                    raise NoConstantError
                return constant
            case _:
                raise NoConstantError

    def _part(self, part: facts.Const | facts.Join | facts.Hole) -> str:
        if isinstance(part, facts.Hole):
            if part.spec:
                raise NoConstantError
            return _text(self.of(part.value))
        return str(self.of(part))

    def _operation(self, expr: facts.BinOp) -> Any:
        left, right = self.of(expr.left), self.of(expr.right)
        match expr.op:
            case "+":
                return left + right  # type: ignore[operator]
            case "*":
                _within(*(_size(value) for value in (left, right)))
                return left * right  # type: ignore[operator]
            case "-":
                return left - right  # type: ignore[operator]
            case "^":
                return left ^ right  # type: ignore[operator]
            case _:
                raise NoConstantError

    def _comprehension(self, element: Expr, scope: facts.Scope) -> tuple[Constant, ...]:
        match list(scope.bindings.items()):
            case [(name, [facts.Binding(value=source, index=())])] if source is not None:
                items = self.of(source)
            case _:
                raise NoConstantError
        if isinstance(items, int):
            raise NoConstantError
        results = []
        old = self.variables
        for item in items:
            self.variables = {**old, name: item}
            results.append(self.of(element))
        self.variables = old
        return tuple(results)

    def _elsewhere(self, expr: Expr, frame: Frame) -> Constant:
        """What an expression in another place comes to."""
        here, self.frame, self.variables = (self.frame, self.variables), frame, {}
        constant = self.of(expr)
        self.frame, self.variables = here
        return constant

    def _call(self, call: facts.Call) -> Any:
        func = call.func
        if any(name is None for name, _ in call.keywords) or any(
            isinstance(a, facts.Star) for a in call.args
        ):
            raise NoConstantError
        named = {name: self.of(value) for name, value in call.keywords if name is not None}
        if isinstance(func, facts.Name) and func.id == "map" and len(call.args) == 2:
            function, items = self._function(call.args[0]), self.of(call.args[1])
            return tuple(map(function, items))  # type: ignore[arg-type]
        if isinstance(func, facts.Attr) and func.name in _METHODS and not self._is_outside(func):
            base = self.of(func.base)
            args = [self.of(arg) for arg in call.args]
            if not isinstance(base, str | bytes) or any(
                type(value) is int and value > MOST_SIZE for value in args
            ):
                raise NoConstantError
            if func.name == "replace":
                _within(len(base) + 1, max(map(_size, args)))
            elif func.name == "join":
                _within(len(base) + 1, _size(args[0]))
                _within(sum(map(_size, args[0])))  # type: ignore[arg-type]
            elif func.name in ("decode", "encode"):
                return _recoded(base, func.name, *args, **named)  # type: ignore[arg-type]
            value = getattr(base, func.name)(*args, **named)
            return tuple(value) if isinstance(value, list) else value
        return self._function(func)(*(self.of(arg) for arg in call.args), **named)

    def _is_outside(self, func: facts.Attr) -> bool:
        """Whether it is the function of a module."""
        base = func.base
        return isinstance(base, facts.Name) and any(
            binding.kind == "import" for binding in self.frame.scope.find(base.id)
        )

    def _function(self, func: Expr) -> Callable[..., Any]:
        if facts.last_name(func) not in _NAMES:
            raise NoConstantError
        value = self.evaluator.eval(func, self.frame)
        function = _FUNCTIONS.get(value.name) if isinstance(value, External) else None
        if function is None:
            raise NoConstantError
        return function


def _recoded(value: str | bytes, method: str, encoding: str = "utf-8", errors: str = "strict") -> str | bytes:
    """``.decode()`` and ``.encode()``."""
    result = _decoded(value, encoding) if method == "decode" else value.encode(encoding, errors)  # type: ignore[union-attr]
    if not isinstance(result, str | bytes):
        raise NoConstantError
    return result


def _size(value: Constant) -> int:
    return abs(value) if isinstance(value, int) else len(value)


def _within(*sizes: int) -> None:
    product = 1
    for size in sizes:
        product *= max(size, 1)
    if product > 50 * MOST_SIZE:
        raise TooLargeError
