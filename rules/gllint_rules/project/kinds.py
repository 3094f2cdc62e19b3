"""The kind of each number in a result by its key (count, id, ratio), and the settings that allow a unit."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from gllint_rules.project.makers import Maker, is_composite, is_count, is_fraction, maker_at
from gllint_rules.project.results import Leaf, Result, leaves, quantities
from gllint_rules.reading import facts
from gllint_rules.reading.expression_index import expression
from gllint_rules.tools.parameters import function_at
from gllint_runtime.policy.kinds import Kind
from gllint_runtime.policy.names import NameReading, read_name
from gllint_runtime.policy.schemas import is_plain_key
from gllint_runtime.policy.unit_table import units_of

if TYPE_CHECKING:
    from gllint_runtime.policy.settings import Policy
    from gllint_runtime.policy.units import UnitVerdict

_MOST_REASONS = 12
_MOST_STATEMENTS = 400  # in which a tally is looked for


def reading_of(leaf: Leaf) -> NameReading:
    """Return what the key of a number says about its kind and unit, given the other keys of its container."""
    key = leaf.key if leaf.is_named else None
    reading = read_name(key or "", leaf.holder.entries if leaf.holder is not None else ())
    # The plural key of a list (`items`) names its elements, not what each number counts.
    if reading.unit in units_of("counts") and (leaf.in_list or leaf.what != "number"):
        return NameReading()
    return reading


def kind_of_leaf(leaf: Leaf) -> Kind | None:
    """Return the kind of a number in a result; ``None`` if neither its key nor a count in its expression says one."""
    reading = reading_of(leaf)
    if reading.kind is not None:
        return None if any(is_fraction(maker.expr) for maker in _makers(leaf)) else reading.kind
    if reading.unit is not None and reading.unit not in units_of("counts"):
        return None
    if reading.unit is None and reading.readings:
        return None
    is_counted = any(is_count(maker) for maker in _makers(leaf)) or is_tally(leaf)
    return "count" if is_counted else None


def is_plain_leaf(leaf: Leaf, policy: Policy) -> bool:
    """Return whether a number in a result needs no unit, by its key and the settings.

    A literal above 1 under the key of a count does need one: no code has counted it.
    """
    if not leaf.is_named or not isinstance(leaf.key, str):
        return False
    if is_plain_key(leaf.key, policy.plain_keys):
        return True
    kind = reading_of(leaf).kind
    if kind not in policy.plain_kinds or kind_of_leaf(leaf) != kind:
        return False
    literal = leaf.number.literal
    is_typed = isinstance(literal, int) and not isinstance(literal, bool) and literal > 1
    return not (kind == "count" and is_typed)


def holds_numbers(result: Result, policy: Policy) -> bool:
    """Return whether a result contains a number that should be a Quantity, or a Quantity."""
    return (
        any(not is_plain_leaf(leaf, policy) for leaf in leaves(result.value, result.site))
        or next(quantities(result.value, result.site), None) is not None
    )


def is_tally(leaf: Leaf) -> bool:
    """Return whether a number is only counted up by one: ``good += 1``, ``out["bad"] += 1``."""
    function = function_at(leaf.site.module, leaf.site.at)
    if function is None:
        return False
    expr = expression(leaf.site.module, leaf.site.at)
    if isinstance(expr, facts.Name):
        steps = [_step(_bound(binding)) for binding in function.scope.find(expr.id)]
    else:
        steps = [_step(expr)] if isinstance(expr, facts.Const) else []
        # Most functions store into no container: then their statements need not be read.
        section = leaf.site.module.section_of(leaf.site.at).section
        steps += _steps_by_key(function).get(leaf.key, []) if section.mutated else []
    return 1 in steps and None not in steps


@lru_cache(maxsize=8)
def _steps_by_key(function: facts.Function) -> dict[object, list[int | None]]:
    """Return the steps by which a function counts up what is under each key of its containers."""
    steps: dict[object, list[int | None]] = {}
    for statement in islice(facts.statements(function.body), _MOST_STATEMENTS):
        match statement:
            case facts.AugAssign(target=facts.Sub(index=facts.Const(value=key)), op=op, value=value):
                steps.setdefault(key, []).append(_step(facts.BinOp(value.at, op, value, value)))
            case _:
                pass
    return steps


def _bound(binding: facts.Binding) -> facts.Expr | None:
    """Return what a name is bound to, also by ``good, bad = 0, 0``."""
    match binding:
        case facts.Binding(kind="item", value=facts.Seq(items=items), index=(i,)) if 0 <= i < len(items):
            return items[i]
        case _:
            return binding.value


def _step(value: facts.Expr | None) -> int | None:
    """Return 1 for ``… + 1``, 0 for an initial integer, and None for other values."""
    match value:
        case facts.Const(value=int() as start) if not isinstance(start, bool):
            return 0
        case facts.BinOp(op="+", right=facts.Const(value=1)):
            return 1
        case _:
            return None


def _makers(leaf: Leaf) -> Iterator[Maker]:
    """Yield the expressions that make a number, nearest first."""
    queue = deque([leaf.number.because])
    sites = [leaf.site] if leaf.value is not None else []
    for _ in range(_MOST_REASONS):
        for site in sites:
            maker = maker_at(site)
            if maker is not None:
                yield maker
                if is_composite(maker.expr):
                    return
        if not queue:
            return
        reason = queue.popleft()
        sites = [reason.site] if reason.site is not None else []
        if len(reason.causes) == 1:  # one of several operands does not make the whole number
            queue.extend(reason.causes)


# --- what would allow a unit ---------------------------------------------------------------------------------


def allowing(policy: Policy, unit: str) -> str:
    """Return the line of configuration that allows a unit."""
    from gllint_runtime.policy.units import packs_for

    packs = packs_for(unit)
    # Strict units allow no compound, whatever packs its units are of.
    if packs and policy.with_settings(packs=(*policy.packs, *packs)).allows(unit):
        return list_line("unit-packs", policy.packs, *packs)
    return list_line("extend-units", policy.extend_units, unit)


def unit_advice(policy: Policy, verdict: UnitVerdict) -> str:
    """Return the help for a unit that is not allowed."""
    from gllint_runtime.policy.units import unit_help

    is_nearest_allowed = verdict.nearest is not None and policy.allows(verdict.nearest)
    return unit_help(verdict, is_nearest_allowed, lambda unit: allowing(policy, unit))


def list_line(key: str, old_entries: tuple[str, ...], *entries: str) -> str:
    """Return the line of configuration that adds to a list."""
    return f"{key} = [{', '.join(map(_toml, dict.fromkeys((*old_entries, *entries))))}]"


def _toml(text: str) -> str:
    """Return a string of TOML, which has the escapes of JSON."""
    return json.dumps(text, ensure_ascii=False).replace("`", "\\u0060")  # backticks surround it
