"""Which codes are in force: selectors are codes or prefixes, the longest that matches decides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from gllint.errors import UsageError, nearest
from gllint_rules import RULES, Rule
from gllint_rules.rule import OPT_IN

ALL = "ALL"


def check_selectors(selectors: Iterable[str], where: str, rules: Mapping[str, Rule] = RULES) -> None:
    """Raise :class:`UsageError` for the first selector that is no beginning of a code: "GL9Z"; ``where`` begins
    the message.
    """
    for selector in selectors:
        if selector != ALL and not (selector and any(code.startswith(selector) for code in rules)):
            suggestions = {part: part for code in rules for part in (code[:3], code)}
            suggestions |= {rule.name: code for code, rule in rules.items()}
            hint = nearest(selector, suggestions, "; gllint rule lists them")
            raise UsageError(f"{where}: unknown code '{selector}'{hint}")


def selected_codes(
    select: Sequence[str] | None,
    extend: Sequence[str],
    ignore: Sequence[str],
    rules: Mapping[str, Rule] = RULES,
) -> frozenset[str]:
    """Return the codes in force. ``select=None`` means each rule that is on by default.

    The longest selector counts: with ``select=["GL1"]`` and ``ignore=["GL104"]``, GL104 is off. A prefix selects
    the rules that are on by default; an opt-in rule needs its own code, or ``ALL``.
    """
    return frozenset(code for code in rules if _rank(code, select, extend) > _longest(code, ignore))


def preferred_codes(
    chosen: Sequence[str] | None, refused: Sequence[str], rules: Mapping[str, Rule] = RULES
) -> frozenset[str]:
    """Return the codes that ``chosen`` names, ``None``: all, by a longer selector than ``refused`` does."""
    wanted = ("",) if chosen is None else chosen
    return frozenset(code for code in rules if _longest(code, wanted) > _longest(code, refused))


def matches(code: str, selectors: Iterable[str]) -> bool:
    """Say whether one of the selectors names ``code``."""
    return _longest(code, selectors) >= 0


def _rank(code: str, select: Sequence[str] | None, extend: Sequence[str]) -> int:
    chosen = ("",) if select is None else select
    named = [s for s in (*chosen, *extend) if code not in OPT_IN or s in (code, ALL)]
    return _longest(code, named)


def _longest(code: str, selectors: Iterable[str]) -> int:
    return max((0 if s == ALL else len(s) for s in selectors if s == ALL or code.startswith(s)), default=-1)
