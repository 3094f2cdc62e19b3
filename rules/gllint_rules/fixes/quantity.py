"""GL102: the value of a Quantity becomes the number that a text was made of."""

from __future__ import annotations

import re

import libcst as cst

from gllint_rules.finding import Changed, Fix
from gllint_rules.fixes.nodes import literal_keys
from gllint_rules.fixes.syntax import place_of
from gllint_rules.fixes.uses import way_out
from gllint_rules.inference.values import (
    Interpolation,
    Record,
    Site,
    Text,
    Value,
    join,
    number,
    surely_not_number,
    surely_not_text,
)
from gllint_rules.project.context import Context
from gllint_runtime.policy.schemas import QUANTITY_KEYS

_NUMBER = re.compile(r"[+-]?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
_SPEC = re.compile(r",?(?:\.(?P<digits>[0-9]{1,2})f)?")


def mend(context: Context, record: Record) -> Fix | None:
    """Unquote the number of a Quantity. What is next to value and unit stays: some reader may need it."""
    place = place_of(context, record.site)
    if (
        place is None
        or record.site is None
        or record.of is not None
        or record.entries.keys() != QUANTITY_KEYS
    ):
        return None
    value, unit = (join(*(entry.value for entry in record.entries[key])) for key in ("value", "unit"))
    if surely_not_text(unit) or not surely_not_number(value):
        return None
    node = _unquoted(context, place.node, value, record.site)
    # A reader of the text in the same file would find a number there.
    if node is None or way_out(context, record.site, ("value",)) is None:
        return None
    fix = place.fix(node, "Write its value as a number")
    return fix._replace(changes=(Changed("key", "value"),)) if fix is not None else None


def _unquoted(context: Context, node: cst.CSTNode, value: Value, site: Site | None) -> cst.CSTNode | None:
    """The dict display or call ``node`` with the number itself for its value."""
    if site is None or "round" in site.module.scope.bindings:
        return None
    match node:
        case cst.Dict():
            keys = literal_keys(node)
            old = keys.get("value") if keys is not None else None
            new = _number_of(old.value, value) if old is not None else None
            return node.deep_replace(old.value, new) if old is not None and new is not None else None
        case cst.Call(args=args):
            named = [a for a in args if a.keyword is not None and a.keyword.value == "value"]
            arg = next(iter(named or [a for a in args[:1] if a.keyword is None and a.star == ""]), None)
            new = _number_of(arg.value, value) if arg is not None else None
            return node.deep_replace(arg.value, new) if arg is not None and new is not None else None
        case _:
            return None


def _number_of(node: cst.BaseExpression, value: Value) -> cst.BaseExpression | None:
    """The number that the text ``node`` shows."""
    match node:
        case cst.SimpleString() if isinstance(value, Text) and _NUMBER.fullmatch(value.literal or ""):
            return cst.parse_expression(value.literal or "")
        case cst.FormattedString(parts=[cst.FormattedStringExpression(conversion=None, equal=None) as hole]):
            spec = _spec_text(hole)
            return _rounded(hole.expression, spec, _holds_number(value)) if spec is not None else None
        case cst.Call(func=cst.Name(value="str"), args=[cst.Arg(keyword=None, star="", value=inner)]):
            return _rounded(inner, "", _holds_number(value))
        case cst.Call(
            func=cst.Name(value="format"),
            args=[cst.Arg(value=inner), cst.Arg(value=cst.SimpleString() as spec)],
        ):
            return _rounded(inner, str(spec.evaluated_value), False)
        case _:
            return None


def _spec_text(hole: cst.FormattedStringExpression) -> str | None:
    match hole.format_spec:
        case None | []:
            return ""
        case [cst.FormattedStringText(value=text)]:
            return text
        case _:
            return None


def _holds_number(value: Value) -> bool:
    return isinstance(value, Text) and all(
        isinstance(part, Interpolation) and number(part.value) is not None for part in value.parts or ("",)
    )


def _rounded(inner: cst.BaseExpression, spec: str, is_number: bool) -> cst.BaseExpression | None:
    """``inner``, rounded as ``spec`` shows it. That a spec wants a number proves that it is one."""
    match = _SPEC.fullmatch(spec)
    if match is None or isinstance(
        inner, cst.Yield | cst.Lambda | cst.NamedExpr | cst.GeneratorExp | cst.Tuple
    ):
        return None
    digits = match["digits"]
    if digits is None:
        return inner if is_number else None
    args = [cst.Arg(inner)] if digits == "0" else [cst.Arg(inner), cst.Arg(cst.Integer(str(int(digits))))]
    return cst.Call(cst.Name("round"), args)
