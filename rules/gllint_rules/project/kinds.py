"""The kind of each number in a result, told from its key and from the way it is made."""

from __future__ import annotations

import ast
import re
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from gllint_rules.inference.values import Site
from gllint_rules.reading import facts
from gllint_rules.words.kinds import (
    KINDS,
    Kind,
    deciding_kind,
    kind_of_name,
    words_of,
)
from gllint_rules.words.unit_names import unit_of_name
from gllint_runtime.policy.units import UnitVerdict

if TYPE_CHECKING:
    from gllint_rules.project.project import Project
    from gllint_rules.project.results import Leaf
    from gllint_rules.words.settings import Settings

_MOST_REASONS = 12
_MOST_TEXT = 2_000
_ByName: TypeAlias = Callable[[str], Kind | None]

_LIBRARY: dict[Kind, str] = {
    "time": "time monotonic perf_counter process_time thread_time total_seconds timestamp time_ns monotonic_ns "
    "perf_counter_ns process_time_ns getmtime getatime getctime st_mtime st_atime st_ctime",
    "measure": "getsize st_size getsizeof",
    "count": "cpu_count active_count",
}
LIBRARY_KINDS: dict[str, Kind] = {name: kind for kind, names in _LIBRARY.items() for name in names.split()}
"""What the functions and attributes of the standard library return, by their last names, where the name is theirs."""
_KEEPING = frozenset({"round", "int", "float", "abs", "max", "min", "Decimal", "ceil", "floor", "sum"})


def kind_of_leaf(project: Project, leaf: Leaf) -> Kind | None:
    """The kind of a number in a result, ``None`` where nothing tells it.

    A unit or ``_id`` at the end of the key decides; then what the expression shows (``len(rows)``), which goes before
    what a word of the key suggests; last what the names in the expression suggest.
    """
    key = leaf.key if leaf.is_named else None
    decided = deciding_kind(key) if key else None
    if decided is not None:
        return decided
    shown = _first(_made(project, leaf, _shown_by_name))
    if shown is not None:
        return shown
    kind = (kind_of_name(key) if key else None) or ("count" if is_tally(project, leaf) else None)
    kind = kind or (None if key and "per" in words_of(key) else _first(_made(project, leaf, kind_of_name)))
    return None if kind == "money" and _is_of_a_unit(leaf) else kind


def _first(kinds: Iterable[Kind | None]) -> Kind | None:
    found = set(kinds)
    return next((kind for kind in KINDS if kind in found), None)


def _shown_by_name(name: str) -> Kind | None:
    """What a name shows of the number behind it: nothing, it only suggests."""
    return None


def is_tally(project: Project, leaf: Leaf) -> bool:
    """Whether a number starts as a literal and is only ever counted up by one: ``good += 1``, ``out["bad"] += 1``."""
    module = leaf.site.module
    part = module.section_of(leaf.site.at)
    around = [f for f in part.functions if f.at <= leaf.site.at <= f.end]
    if not around:
        return False
    function = max(around, key=lambda f: f.at)
    text = text_at(project, leaf.site)
    if text.isidentifier():
        steps = [_step(binding.value) for binding in function.scope.find(text)]
    else:
        steps = [0] if text.isdigit() else []
        for statement in facts.statements(function.body):
            match statement:
                case facts.AugAssign(target=facts.Sub(index=facts.Const(value=key)), op=op, value=value):
                    if key == leaf.key:
                        steps.append(_step(facts.BinOp(value.at, op, value, value)))
                case _:
                    pass
    return 1 in steps and None not in steps


def _step(value: facts.Expr | None) -> int | None:
    """By how much a statement counts up, 0 for a start; ``None`` for any other value."""
    match value:
        case facts.Const(value=int() as start) if not isinstance(start, bool):
            return 0
        case facts.BinOp(op="+", right=facts.Const(value=1)):
            return 1
        case _:
            return None


def _is_of_a_unit(leaf: Leaf) -> bool:
    """Whether a number is the amount of something whose unit stands beside it: that may be fuel as well as money."""
    beside = leaf.holder.entries if leaf.holder is not None else {}
    return "unit" in beside and "amount" in words_of(leaf.key or "") and unit_of_name(leaf.key or "") is None


def _made(project: Project, leaf: Leaf, by_name: _ByName) -> Iterator[Kind | None]:
    """What the expressions say by which the number is made: that at the leaf, and those behind it."""
    if leaf.value is not None:
        yield _kind_of_text(text_at(project, leaf.site), by_name)
    queue = deque([leaf.number.because])
    for _ in range(_MOST_REASONS):
        if not queue:
            return
        reason = queue.popleft()
        if reason.site is not None:
            yield _kind_of_text(text_at(project, reason.site), by_name)
        if (
            len(reason.behind) == 1
        ):  # of several operands none speaks for the whole: the expression above does
            queue.extend(reason.behind)


def text_at(project: Project, site: Site) -> str:
    """The text of an expression, empty where it is long."""
    text = project.positions(site.module).text(site.at)
    return text if len(text) <= _MOST_TEXT else ""


def expression_at(project: Project, site: Site) -> ast.expr | None:
    """The expression at a place as CPython reads it; ``None`` of one that is long, or too deep."""
    return _expression(text_at(project, site))


@lru_cache(maxsize=1024)
def _expression(text: str) -> ast.expr | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what the code under lint should mend
            return ast.parse(f"({text}\n)", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _kind_of_text(text: str, by_name: _ByName) -> Kind | None:
    node = _expression(text)
    try:
        return _kind_of(node, 0, by_name) if node is not None else None
    except RecursionError:
        return None


def _kind_of(node: ast.expr, depth: int, by_name: _ByName) -> Kind | None:
    """The kind of number that an expression makes; ``by_name`` says what a name in it tells."""
    if depth > 8:
        return None

    def inner(node: ast.expr) -> Kind | None:
        return _kind_of(node, depth + 1, by_name)

    match node:
        case ast.Attribute(attr=name) if name in LIBRARY_KINDS:
            return LIBRARY_KINDS[name]
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return by_name(name)
        case ast.Subscript(slice=ast.Constant(value=str(name))):
            return by_name(name)
        case ast.Await(value=value) | ast.NamedExpr(value=value) | ast.UnaryOp(operand=value):
            return inner(value)
        case ast.IfExp(body=body, orelse=other) | ast.BoolOp(values=[body, other]):
            return inner(body) or inner(other)
        case ast.BinOp():
            return _kind_of_operation(node, inner)
        case ast.Call():
            return _kind_of_call(node, inner, by_name)
        case _:
            return None


def _kind_of_operation(node: ast.BinOp, inner: Callable[[ast.expr], Kind | None]) -> Kind | None:
    left, right = inner(node.left), inner(node.right)
    match node.op:
        case ast.Div() if left is not None and left == right:
            return "share"
        case ast.Add() | ast.Sub():
            return left or right
        case ast.Mult() | ast.Div() | ast.FloorDiv() | ast.Mod():
            if isinstance(node.right, ast.Constant):
                return left
            return right if isinstance(node.left, ast.Constant) and isinstance(node.op, ast.Mult) else None
        case _:
            return None


def _kind_of_call(node: ast.Call, inner: Callable[[ast.expr], Kind | None], by_name: _ByName) -> Kind | None:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    first = node.args[0] if node.args else None
    if name == "len":
        return "count"
    if name == "sum" and isinstance(first, ast.GeneratorExp | ast.ListComp):
        counts = isinstance(first.elt, ast.Constant | ast.Compare)
        return "count" if counts else inner(first.elt)
    if name == "count" and isinstance(node.func, ast.Attribute):
        return "count"
    if name in LIBRARY_KINDS:
        return LIBRARY_KINDS[name]
    if name == "get" and isinstance(first, ast.Constant) and isinstance(first.value, str):
        return by_name(first.value)
    if name in _KEEPING and first is not None and not isinstance(first, ast.Starred):
        return inner(first)
    return by_name(re.sub(r"^_*(?:get|compute|calculate|calc|fetch|read|load|find)_", "", name))


# --- what would allow a unit ---------------------------------------------------------------------------------


def allowing(settings: Settings, unit: str) -> str:
    """The line of configuration that allows a unit."""
    from gllint_runtime.policy.units import packs_for

    packs = packs_for(unit)
    if packs:
        return list_line("unit-packs", settings.unit_packs, *packs)
    return list_line("extend-units", settings.extend_units, unit)


def unit_advice(settings: Settings, verdict: UnitVerdict) -> str:
    """What to do about a unit that is not allowed, in a sentence or two."""
    from gllint_runtime.policy.units import unit_help

    is_nearest_allowed = verdict.nearest is not None and settings.allows(verdict.nearest)
    return unit_help(verdict, is_nearest_allowed, lambda unit: allowing(settings, unit))


def list_line(key: str, present: tuple[str, ...], *more: str) -> str:
    """The line of configuration that adds to a list."""
    return f"{key} = [{', '.join(map(_toml, dict.fromkeys((*present, *more))))}]"


def _toml(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
