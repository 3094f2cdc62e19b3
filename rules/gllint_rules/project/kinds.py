"""The kind of each number in a result, told from its key and from the way it is made."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from gllint_rules.project.makers import Maker, is_composite, maker_at, shown_kind, suggested_kind
from gllint_rules.reading import facts
from gllint_rules.reading.expression_index import expression
from gllint_rules.tools.parameters import function_at
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
    from gllint_rules.project.results import Leaf
    from gllint_runtime.policy.settings import Policy

_MOST_REASONS = 12
_MOST_STATEMENTS = 400  # in which a tally is looked for
_WHOLE: frozenset[Kind] = frozenset({"count", "index", "identifier"})


def kind_of_leaf(leaf: Leaf) -> Kind | None:
    """The kind of a number in a result, ``None`` where nothing tells it.

    A unit or ``_id`` at the end of the key decides; then what the expression shows (``len(rows)``), which goes before
    what a word of the key suggests; last what the names in the expression suggest.
    """
    key = leaf.key if leaf.is_named else None
    decided = deciding_kind(key) if key else None
    if decided is not None:
        return decided
    expression_kind = _first(map(shown_kind, _makers(leaf)))
    if expression_kind is not None:
        return expression_kind
    kind = (kind_of_name(key) if key else None) or ("count" if is_tally(leaf) else None)
    kind = kind or (None if key and "per" in words_of(key) else _first(map(suggested_kind, _makers(leaf))))
    if kind in _WHOLE and _is_fraction(leaf):
        return None
    return None if kind == "money" and _is_of_a_unit(leaf) else kind


def _is_fraction(leaf: Leaf) -> bool:
    """Whether a number is written out with a fraction (``"shares": [0.5]``), which no count has."""
    expr = expression(leaf.site.module, leaf.site.at)
    return isinstance(expr, facts.Const) and isinstance(expr.value, float) and not expr.value.is_integer()


def _first(kinds: Iterable[Kind | None]) -> Kind | None:
    candidates = set(kinds)
    return next((kind for kind in KINDS if kind in candidates), None)


def is_tally(leaf: Leaf) -> bool:
    """Whether a number starts as a literal and is only ever counted up by one: ``good += 1``, ``out["bad"] += 1``."""
    function = function_at(leaf.site.module, leaf.site.at)
    if function is None:
        return False
    expr = expression(leaf.site.module, leaf.site.at)
    if isinstance(expr, facts.Name):
        steps = [_step(binding.value) for binding in function.scope.find(expr.id)]
    else:
        steps = [_step(expr)] if isinstance(expr, facts.Const) else []
        # Most functions store into no container; of the others only so much is read for each number.
        section = leaf.site.module.section_of(leaf.site.at).section
        statements = facts.statements(function.body) if section.mutated else iter(())
        for statement in islice(statements, _MOST_STATEMENTS):
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
    siblings = leaf.holder.entries if leaf.holder is not None else {}
    return (
        "unit" in siblings and "amount" in words_of(leaf.key or "") and unit_of_name(leaf.key or "") is None
    )


def _makers(leaf: Leaf) -> Iterator[Maker]:
    """The expressions by which a number is made: that at the leaf, and those behind it."""
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
        if len(reason.causes) == 1:  # of several operands none speaks for the whole
            queue.extend(reason.causes)


# --- what would allow a unit ---------------------------------------------------------------------------------


def allowing(policy: Policy, unit: str) -> str:
    """The line of configuration that allows a unit."""
    from gllint_runtime.policy.units import packs_for

    packs = packs_for(unit)
    # Strict units allow no compound, whatever packs its units are of.
    if packs and policy.with_settings(packs=(*policy.packs, *packs)).allows(unit):
        return list_line("unit-packs", policy.packs, *packs)
    return list_line("extend-units", policy.extend_units, unit)


def unit_advice(policy: Policy, verdict: UnitVerdict) -> str:
    """What to do about a unit that is not allowed, in a sentence or two."""
    from gllint_runtime.policy.units import unit_help

    is_nearest_allowed = verdict.nearest is not None and policy.allows(verdict.nearest)
    return unit_help(verdict, is_nearest_allowed, lambda unit: allowing(policy, unit))


def list_line(key: str, old_entries: tuple[str, ...], *entries: str) -> str:
    """The line of configuration that adds to a list."""
    return f"{key} = [{', '.join(map(_toml, dict.fromkeys((*old_entries, *entries))))}]"


def _toml(text: str) -> str:
    """A string of TOML, which escapes as JSON does."""
    return json.dumps(text, ensure_ascii=False).replace("`", "\\u0060")  # it stands between two of them
