"""Sourced mode: numbers of a result whose unit the source shows may be cited without a Quantity."""

from __future__ import annotations

from gllint_rules.project.context import Context
from gllint_rules.project.kinds import is_plain_leaf
from gllint_rules.project.results import Leaf, Result, leaves
from gllint_rules.project.unit_sources import is_unit_declared, is_unit_in_output


def is_sourced(context: Context, result: Result, leaf: Leaf | None) -> bool:
    """Return whether sourced mode is on and the runtime can see the unit of the number."""
    if context.policy.mode != "sourced":
        return False
    if leaf is None:
        return is_unit_declared(context, result)
    return is_unit_in_output(context, result, leaf)


def lacks_unit(context: Context, result: Result) -> bool:
    """Return whether a result has a number whose unit nothing shows."""
    return any(
        not is_plain_leaf(leaf, context.policy) and not is_sourced(context, result, leaf)
        for leaf in leaves(result.value, result.site)
    )
