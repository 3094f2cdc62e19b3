"""The kind of each number in a result, told from its key and from the way it is made, and the repair that fits it."""

from __future__ import annotations

import ast
import re
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from gllint_rules.inference.values import Record, Site, Text, literal_of, surely_not_text
from gllint_rules.reading import facts
from gllint_rules.tuples import NamedTuple
from gllint_rules.words.kinds import (
    KINDS,
    PLAIN,
    TITLES,
    Kind,
    deciding_kind,
    is_calendar,
    kind_of_name,
    unit_of_kind,
    words_of,
)
from gllint_rules.words.unit_names import announced_dimension, readings_of_name, unit_of_name
from gllint_runtime.policy.units import UnitVerdict

if TYPE_CHECKING:
    from gllint_rules.project.project import Project
    from gllint_rules.project.results import Leaf
    from gllint_rules.words.settings import Settings

_MOST_REASONS = 12
_MOST_TEXT = 2_000
_SHOWN = 32
_NUMBER = "<number>"
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


class Advice(NamedTuple):
    """What to do about a number: return it in ``unit``, which ``settings`` would allow, or declare its key ``plain``.

    ``settings`` are lines of configuration that the repair needs, in the order in which they are told.
    """

    kind: Kind | None
    unit: str | None
    settings: tuple[str, ...]
    plain: str | None
    text: str


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


@lru_cache(maxsize=1024)
def _kind_of_text(text: str, by_name: _ByName) -> Kind | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what the code under lint should mend
            node = ast.parse(f"({text})", mode="eval").body
        return _kind_of(node, 0, by_name)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
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


# --- what to do about it -------------------------------------------------------------------------------------


def advice_for_leaf(project: Project, leaf: Leaf, kind: Kind | None, declared: str = "") -> Advice:
    """The repair of a number in a result, which leads to no other finding under the settings that it names.

    ``declared`` says what else must change with the value: the annotation that speaks of a number.
    """
    settings = project.settings
    key = leaf.key if leaf.is_named else None
    number = _shown(text_at(project, leaf.site)) if leaf.value is not None else _NUMBER
    unit = _unit_beside(settings, leaf) if kind not in PLAIN else None
    if unit is not None and leaf.key is not None and _agree(leaf.key, unit):
        lines = _lines(settings, unit, leaf.in_list)
        return _advised(kind, unit, lines, _joined(leaf.key, _quantity(number, unit)), declared)
    written = _unit_expression(project, leaf) if kind not in PLAIN else None
    if written is not None and leaf.key is not None:
        quantity = f'{{"value": {number}, "unit": {written}}}'
        return _advised(
            kind, None, _lines(settings, None, leaf.in_list), _joined(leaf.key, quantity), declared
        )
    return advice(settings, kind, key, number, leaf.in_list, declared)


def advice(
    settings: Settings,
    kind: Kind | None,
    key: str | None,
    number: str = _NUMBER,
    in_list: bool = False,
    declared: str = "",
) -> Advice:
    """The repair of a number of this kind under ``key``."""
    if (
        key
        and kind is not None
        and (kind in {*PLAIN, *settings.plain_kinds} or (kind == "time" and is_calendar(key)))
    ):
        pattern = _pattern(key)
        line = _list_line("plain-keys", settings.plain_keys, pattern)
        article = "an" if TITLES[kind][0] in "aeiou" else "a"
        text = f"`{key}` is {article} {TITLES[kind]}: `{line}` declares that it is not a quantity."
        return Advice(kind, None, (line,), pattern, text)
    unit = unit_of_kind(kind, key or "")
    if unit is None:
        lines = _lines(settings, None, in_list)
        return _advised(
            kind, None, lines, f"Return a Quantity instead: `{_quantity(number, '<unit>')}`", declared
        )
    start = f"Return a Quantity: `{_quantity(number, unit)}`"
    return _advised(kind, unit, _lines(settings, unit, in_list), start, declared)


def _advised(
    kind: Kind | None, unit: str | None, lines: tuple[str, ...], start: str, declared: str
) -> Advice:
    with_settings = f", with {' and '.join(f'`{line}`' for line in lines)}" if lines else ""
    tail = f" {declared}" if declared else ""
    return Advice(kind, unit, lines, None, f"{start}{with_settings}.{tail}")


def _quantity(number: str, unit: str) -> str:
    return f'{{"value": {number}, "unit": "{unit}"}}'


def _lines(settings: Settings, unit: str | None, in_list: bool) -> tuple[str, ...]:
    """The lines of configuration without which a Quantity in ``unit`` would be a finding."""
    lines = []
    if unit is not None and not settings.allows(unit):
        lines.append(allowing(settings, unit))
    if in_list and not settings.array_paths:
        lines.append("array-paths = true")
    return tuple(lines)


def allowing(settings: Settings, unit: str) -> str:
    """The line of configuration that allows a unit."""
    from gllint_runtime.policy.units import packs_for

    packs = packs_for(unit)
    if packs:
        return _list_line("unit-packs", settings.unit_packs, *packs)
    return _list_line("extend-units", settings.extend_units, unit)


def unit_advice(settings: Settings, verdict: UnitVerdict) -> str:
    """What to do about a unit that is not allowed, in a sentence or two."""
    from gllint_runtime.policy.units import unit_help

    is_nearest_allowed = verdict.nearest is not None and settings.allows(verdict.nearest)
    return unit_help(verdict, is_nearest_allowed, lambda unit: allowing(settings, unit))


def _list_line(key: str, present: tuple[str, ...], *more: str) -> str:
    return f"{key} = [{', '.join(map(_toml, dict.fromkeys((*present, *more))))}]"


def _toml(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _pattern(key: str) -> str:
    """The pattern of plain keys that names ``key``, and those like it."""
    if key.endswith("_id") and len(key) > 3:
        return "*_id"
    return re.sub(r"([*?\[])", r"[\1]", key)


def _shown(text: str) -> str:
    return text if len(text) <= _SHOWN and text.isprintable() and "`" not in text and text else _NUMBER


def _agree(key: str, unit: str) -> bool:
    """Whether a key announces no unit of another dimension."""
    dimensions = {announced_dimension(announced) for announced in readings_of_name(key)}
    return not dimensions or announced_dimension(unit) in dimensions


def _joined(key: str, quantity: str) -> str:
    return f'Join it with the `unit` beside it: `"{key}": {quantity}`'


def _unit_beside(settings: Settings, leaf: Leaf) -> str | None:
    """The literal unit that stands beside the number, as it should be written: ``{"load": 5, "unit": "kW"}``."""
    holder: Record | None = leaf.holder
    if holder is None or "unit" not in holder.entries:
        return None
    literal = literal_of(holder.get("unit"))
    if not literal or not literal.isprintable():
        return None
    return settings.judge(literal).nearest or literal


def _unit_expression(project: Project, leaf: Leaf) -> str | None:
    """The expression that gives the unit beside the number, where that is not known and may be a text."""
    found = leaf.holder.entries.get("unit", ()) if leaf.holder is not None else ()
    if len(found) != 1 or isinstance(found[0].value, Text) or surely_not_text(found[0].value):
        return None
    written = _shown(text_at(project, found[0].site))
    return written if written != _NUMBER else None
