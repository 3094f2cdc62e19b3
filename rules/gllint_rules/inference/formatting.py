"""What ``str.format``, ``%`` and ``str.join`` make of a text: its literal parts, and what is filled in between."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from gllint_rules.inference.values import TEXT, UNKNOWN, Filled, ListOf, Literal, Site, Text, options, pieces
from gllint_rules.reading import facts

if TYPE_CHECKING:
    from gllint_rules.inference.protocol import Evaluator
    from gllint_rules.inference.values import Frame

# What stands for a field: a character of its own, or the expression that fills it and whether a text goes in unchanged.
_Filling: TypeAlias = "str | tuple[facts.Expr | None, bool]"

_FIELD = re.compile(r"\{\{|\}\}|\{([^{}!:.\[]*)[^{}]*(?:\{[^{}]*\}[^{}]*)*\}")
_PERCENT = re.compile(r"%(?:\((\w+)\))?[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d+))?[hlL]?([diouxXeEfFgGcrsa%])")


def format_call(evaluator: Evaluator, text: Text, call: facts.Call, frame: Frame) -> Text:
    """``text.format(…)``: fields are filled, doubled braces collapse."""
    position = 0

    def filling(match: re.Match[str]) -> _Filling:
        nonlocal position
        if match.group(0) in ("{{", "}}"):
            return match.group(0)[0]
        name = match.group(1)
        plain = match.group(0) == f"{{{name}}}"
        if not name:
            name, position = str(position), position + 1
        if not plain and "." in match.group(0).partition(":")[0]:
            return None, False
        if not name.isdecimal():
            return call.keyword(name), plain
        return (call.args[int(name)] if int(name) < len(call.args) else None), plain

    return _filled_in(evaluator, text, _FIELD, filling, frame, call.at)


def percent(evaluator: Evaluator, text: Text, expr: facts.BinOp, frame: Frame) -> Text:
    """``text % values``."""
    right = expr.right
    values = iter(right.items if isinstance(right, facts.Seq) and right.kind == "tuple" else (right,))

    def filling(match: re.Match[str]) -> _Filling:
        name, kind = match.groups()
        if kind == "%":
            return "%"
        if name is None:
            return next(values, None), kind == "s"
        return (right.value(name) if isinstance(right, facts.Dict) else None), kind == "s"

    return _filled_in(evaluator, text, _PERCENT, filling, frame, expr.at)


def join_call(evaluator: Evaluator, text: Text, call: facts.Call, frame: Frame) -> Text:
    """``separator.join(items)`` where the items are known one by one."""
    items = evaluator.eval(call.args[0], frame)
    if not isinstance(items, ListOf) or text.parts is None:
        return TEXT
    held = [(entry.value, entry.site) for entry in items.items]
    if items.rest is not None:
        held += [(option, frame.site(call)) for option in options(items.rest)]
    parts: list[Literal | Filled] = []
    for number, (value, site) in enumerate(held):
        parts.extend(text.parts if number else ())
        parts.extend(pieces(value, site, True))
    return Text(tuple(parts))


def _filled_in(
    evaluator: Evaluator,
    text: Text,
    pattern: re.Pattern[str],
    filling: Callable[[re.Match[str]], _Filling],
    frame: Frame,
    at: int,
) -> Text:
    """``text`` with what ``filling`` says in the place of each field; expression ``at`` stands for what is unknown."""
    if text.parts is None:
        return TEXT
    out: list[Literal | Filled] = []
    for part in text.parts:
        if isinstance(part, Filled):
            out.append(part)
            continue
        offsets = part.offsets or tuple(range(len(part.text)))
        last = 0
        for match in pattern.finditer(part.text):
            start = match.start()
            out.append(Literal(part.text[last:start], part.site, offsets[last:start]))
            last = match.end()
            filled = filling(match)
            if isinstance(filled, str):
                out.append(Literal(filled, part.site, offsets[start : start + len(filled)]))
                continue
            source, plain = filled
            if source is None:
                out.append(Filled(UNKNOWN, Site(frame.module, at)))
            else:
                out.extend(pieces(evaluator.eval(source, frame), frame.site(source), plain))
        out.append(Literal(part.text[last:], part.site, offsets[last:]))
    return Text(tuple(part for part in out if isinstance(part, Filled) or part.text))
