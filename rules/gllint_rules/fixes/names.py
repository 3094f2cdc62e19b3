"""Fixes of GL204, GL303 and GL501: the nearest known name replaces an unknown one."""

from __future__ import annotations

from collections.abc import Collection

import libcst as cst

from gllint_rules.finding import Changed, Fix
from gllint_rules.fixes.nodes import rewritten
from gllint_rules.fixes.syntax import SyntaxPlace, place_of
from gllint_rules.inference.values import Site
from gllint_rules.project.context import Context
from gllint_rules.project.units import WrittenUnit, variable
from gllint_rules.words.nearest import nearest_name
from gllint_runtime.policy.names import read_name
from gllint_runtime.policy.schemas import KNOWN_SCHEMAS
from gllint_runtime.policy.units import unit_dimension

_SEPARATORS = str.maketrans("", "", " \t_-")


def correct_ref(context: Context, site: Site, ref: str) -> Fix | None:
    """Return the fix that refers to the known schema with the nearest name."""
    near = nearest_name(ref, frozenset(KNOWN_SCHEMAS))
    return _renamed(context, site, ref, near, is_sure=_spelt_like(ref, KNOWN_SCHEMAS) == {near})


def correct_tool_name(context: Context, site: Site, name: str, names: frozenset[str]) -> Fix | None:
    """Return the fix that names the tool with the nearest name."""
    return _renamed(context, site, name, nearest_name(name, names), is_sure=False)


def correct_unit(context: Context, unit: WrittenUnit) -> Fix | None:
    """Return the fix that writes the unit that is meant, unless the name of its Quantity implies another one.

    It is safe if the text differs only in case or a separator, and is not another unit in some other case.
    """
    nearest = unit.verdict.nearest
    if nearest is None or not context.policy.allows(nearest):
        return None
    dimension = context.policy.judge(nearest).dimension
    if not all(
        unit_dimension(announced) == dimension
        for name in _carriers(context, unit)
        if (announced := read_name(name).unit) is not None
    ):
        return None
    written = unit.verdict.unit
    fix = _renamed(context, unit.site, written, nearest, is_sure=unit.verdict.spelling.in_case_only)
    return fix._replace(changes=(Changed("text", written),)) if fix is not None else None


def _carriers(context: Context, unit: WrittenUnit) -> list[str]:
    """Return the names that a unit's Quantity has: its key, and the variable that it is assigned to."""
    site = unit.quantity.record.site
    names = [unit.quantity.key] if unit.quantity.key else []
    if site is not None and site.module is context.module:
        binding = variable(context, site.at)
        names += [binding[0]] if binding is not None else []
    return names


def _spelt_like(name: str, names: Collection[str]) -> set[str]:
    """Return the known names that differ from ``name`` only in case or a separator."""
    return {other for other in names if _folded(other) == _folded(name)}


def _renamed(context: Context, site: Site, old: str, new: str | None, *, is_sure: bool) -> Fix | None:
    """Return the fix that changes a literal. It is safe if ``is_sure``, and if no other place has the same literal."""
    place = place_of(context, site)
    if new is None or place is None or not isinstance(place.node, cst.SimpleString):
        return None
    node = rewritten(place.node, new)
    if node is None or place.node.evaluated_value != old:
        return None
    is_safe = is_sure and _stands_alone(place)
    return Fix("safe" if is_safe else "unsafe", f"Write `{new}`", (place.whole(place.code(node)),))


def _folded(name: str) -> str:
    """Return a name in lower case, without separators."""
    return name.translate(_SEPARATORS).lower()


def _stands_alone(place: SyntaxPlace) -> bool:
    """Return whether the literal is written where it is used, not in a constant that others may use, too."""
    return isinstance(place.parents[0], cst.DictElement | cst.Arg)
