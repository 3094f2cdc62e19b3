"""Numbers in a text that need no unit: counts, names, settings, and numbers that its reader has already."""

from __future__ import annotations

import re
from functools import lru_cache

from gllint_rules.inference.values import Because, Interpolation, Site
from gllint_rules.project.advice import echoed_argument, number_site
from gllint_rules.project.calculators import is_calculated
from gllint_rules.project.context import Context
from gllint_rules.project.kinds import kind_of_leaf
from gllint_rules.project.makers import cores, is_count, maker_at, names_of, text_at
from gllint_rules.project.results import Leaf, Result, leaves, quantities
from gllint_rules.project.unit_sources import unit_behind
from gllint_rules.reading import facts
from gllint_rules.reading.expression_index import expression, expressions_in, parts_of
from gllint_rules.tools.parameters import function_at
from gllint_runtime.policy.claims import HOLE
from gllint_runtime.policy.names import name_words

# The integer before it counts: `rows`, `matching rows`, `row(s)`, `of 7 rows`, `row` with an end that is filled in.
_THINGS = re.compile(
    rf"(?:\s?(?:of|/)\s?{HOLE})?[ \u00a0-](?:(?:[a-z][a-z-]*+|{HOLE})[ \u00a0]){{0,2}}"
    rf"(?P<noun>[A-Za-z][a-z]+(?:s|\(e?s\)|{HOLE})|people)(?![\w/])"
)
# The integer behind it is the name of one of many: `Line 4-7`, `rows 3 to 9`, `Attempt #2`, `Page: 1`.
_NUMBERED = re.compile(
    r"\b(?:line|row|column|col|cell|page|slide|chapter|section|step|item|question|round|attempt|iteration|turn|episode|level"
    r"|chunk|batch|block|part|version|issue|number|no|id|index|idx|rank|position|port|pid|bus|circuit|ckt|room|gate|branch"
    rf"|area|zone|day|week|gameweek|season|figure|table|job|task|process)(?:e?s)?\.?:?[ ]?[#=]?"
    rf"(?:{HOLE}\s?(?:->|[-–/,]|to|and|of)\s?)*\Z",
    re.IGNORECASE,
)
# A moment, too, is none of a measure.
_PLACES = frozenset(
    {
        "line",
        "row",
        "column",
        "col",
        "page",
        "index",
        "offset",
        "port",
        "number",
        "num",
        "position",
        "pos",
        "x",
        "y",
        "z",
    }
)
# The integers of a page: `1-20 of 57`.
_PAGE = re.compile(rf"\s?(?:[-–]|to|and)\s?{HOLE}\s?(?:of|/)\s?(?:{HOLE}|\d)")
_END_OF_PAGE = re.compile(rf"{HOLE}\s?(?:[-–]|to|and)\s?\Z")
_OF_ALL = re.compile(rf"\s?(?:of|/)\s?(?:{HOLE}|\d)")
_PLURAL = re.compile(rf"(?:\(e?s\)|{HOLE})\Z")
_OF_FRACTIONS = re.compile(r"[eEfFgG%]\Z")
_SETTINGS = frozenset({"settings", "config", "cfg", "conf", "configuration", "options"})
_COUNTERS = frozenset({"enumerate", "range"})
_MOST_DEPTH = 8


def numbers_beside(context: Context, result: Result) -> frozenset[str]:
    """Return the keys and expressions of the numbers that a result has outside its texts, in Quantities or not."""
    names: set[str] = set()
    places: list[Site] = []
    for leaf in leaves(result.value, result.site):
        names.add(leaf.key or "")
        places.append(leaf.site)
    for quantity in quantities(result.value, result.site):
        names.add(quantity.key or "")
        places += (entry.site for entry in quantity.record.entries.get("value", ()))
    for place in places:
        names |= _texts_of(context, place)
    return frozenset(filter(None, names))


def _texts_of(context: Context, site: Site) -> set[str]:
    """Return the code of a number, without rounding: "load" for ``round(load, 1)``, both of ``max(a, b)``."""
    site = number_site(site)
    expr = expression(site.module, site.at)
    at = [core.at for core in cores(expr)] if expr is not None else [site.at]
    return {text_at(context.project, Site(site.module, place)) for place in at}


def is_of_an_error(site: Site) -> bool:
    """Return whether an expression is in an ``except`` block."""
    function = function_at(site.module, site.at)
    return function is not None and site.at in _numbers_in_handlers(function)


@lru_cache(maxsize=64)  # each of many numbers in the texts of a function asks
def _numbers_in_handlers(function: facts.Function) -> frozenset[int]:
    """Return the numbers of the expressions in the ``except`` blocks of a function."""
    return frozenset(
        expr.at
        for statement in facts.statements(function.body)
        if isinstance(statement, facts.Try)
        for _, handler in statement.handlers
        for expr in expressions_in(handler)
    )


def is_no_measure(
    context: Context,
    result: Result,
    leaf: Leaf,
    hole: Interpolation | None,
    texts: tuple[str, str],
    beside: frozenset[str],
) -> bool:
    """Return whether a number in a text needs no unit: a count, a name, a setting, or one that the reader has already.

    The reader (the model) has the tool's own arguments, and the numbers that the result also contains as numbers
    (``beside``). ``texts`` are those before and after the ``hole`` that shows the number.
    """
    site = number_site(leaf.site)
    expr = expression(site.module, site.at)
    names = [hole.field] if hole is not None and hole.field else names_of(expr) if expr is not None else []
    for core in cores(expr) if expr is not None else ():
        match core:
            case facts.Attr(name="value", base=base) | facts.Sub(index=facts.Const(value="value"), base=base):
                names += names_of(base)
    keys = [name for name in (leaf.key, *names) if name]
    is_whole = not leaf.number.real and (hole is None or _OF_FRACTIONS.search(hole.spec) is None)
    kinds = {kind_of_leaf(leaf._replace(key=key, is_named=True)) for key in keys or (None,)}
    if is_whole and kinds != {None}:
        return True
    if not beside.isdisjoint((*keys, *_texts_of(context, site))) or _counts(leaf.number.because):
        return True
    if echoed_argument(context, result, site) is not None:
        return True
    if (expr is not None and _is_setting(expr, result)) or is_calculated(context, result, leaf):
        return True
    if hole is None or not is_whole:
        return False
    if isinstance(expr, facts.Const) and not hole.spec:  # `{0}`: a literal in the text
        return True
    head, tail = texts
    is_place = bool(keys) and all(not _PLACES.isdisjoint(name_words(key)[-1:]) for key in keys)
    if is_place or _NUMBERED.search(head) is not None:
        return unit_behind(context.policy, tail) is None
    if _PAGE.match(tail) or (_END_OF_PAGE.search(head) and _OF_ALL.match(tail)):
        return True
    things = _THINGS.match(tail)
    return things is not None and unit_behind(context.policy, f" {_PLURAL.sub('', things['noun'])}") is None


def _is_setting(expr: facts.Expr, result: Result) -> bool:
    """Return whether an expression consists of constants and settings: ``LIMIT // 2``, ``self.config.timeout``."""
    values = [part for core in cores(expr) for part in _operands(core, 0)]
    return any(not isinstance(value, facts.Const) for value in values) and all(
        _is_from_settings(value, result) for value in values
    )


def _operands(expr: facts.Expr, depth: int) -> list[facts.Expr]:
    """Return the operands of nested operators: ``a + b * c`` → a, b, c."""
    match expr:
        case facts.BinOp(left=left, right=right) if depth < _MOST_DEPTH:
            return [*_operands(left, depth + 1), *_operands(right, depth + 1)]
        case _:
            return [expr]


def _is_from_settings(expr: facts.Expr, result: Result) -> bool:
    """Return whether an expression is one of these:

    * a literal or a constant (``LIMIT``)
    * an attribute of the toolkit that ``__init__`` takes from its arguments
    * a setting (``config.timeout``)
    """
    if isinstance(expr, facts.Const) or facts.last_name(expr).isupper():
        return True
    function = result.callable.function
    toolkit = function.owner if isinstance(function, facts.Function) else None
    if isinstance(expr, facts.Attr) and isinstance(expr.base, facts.Name) and toolkit is not None:
        stored = toolkit.attributes.get(expr.name, ())
        if stored and all(_is_argument_of_init(value, scope) for value, _, scope in stored):
            return True
    names = [facts.last_name(part).strip("_").lower() for part in parts_of(expr)]
    return isinstance(expr, (facts.Attr, facts.Sub)) and not _SETTINGS.isdisjoint(names)


def _is_argument_of_init(value: facts.Expr | None, scope: facts.Scope) -> bool:
    function = scope.enclosing_function()
    is_argument = isinstance(value, facts.Name) and [b.kind for b in scope.find(value.id)] == ["param"]
    return is_argument and function is not None and function.name == "__init__"


def _counts(because: Because, depth: int = 0) -> bool:
    """Return whether a number is a count or counter, or a sum or difference of counts: ``total - len(rows)``."""
    maker = maker_at(because.site) if because.site is not None else None
    if maker is None or depth > _MOST_DEPTH:
        return False
    match maker.expr:
        case facts.BinOp(op="+" | "-"):
            parts = [cause for cause in because.causes if not _is_constant(cause)]
            return bool(parts) and all(_counts(part, depth + 1) for part in parts)
        case facts.BinOp():  # a quotient or product of a count is not a count
            return False
        case facts.Call(func=func) if facts.last_name(func) in _COUNTERS:
            return True
        case _:
            return is_count(maker) or (len(because.causes) == 1 and _counts(because.causes[0], depth + 1))


def _is_constant(because: Because) -> bool:
    maker = maker_at(because.site) if because.site is not None else None
    return maker is not None and isinstance(maker.expr, facts.Const)
