"""The fix of GL601: declare that a tool needs live data."""

from __future__ import annotations

import libcst as cst

from gllint_rules.finding import Fix
from gllint_rules.fixes.nodes import with_keyword
from gllint_rules.fixes.schemas import takes_keyword
from gllint_rules.fixes.syntax import place_of
from gllint_rules.inference.values import Site
from gllint_rules.project.context import Context
from gllint_rules.tools.tool import Tool

KEYWORD = "live_required"


def declare_live(context: Context, tool: Tool, site: Site) -> Fix | None:
    """Return the fix that adds ``live_required=True`` to the call that makes a tool, if it is in the finding's file."""
    place = place_of(context, Site(tool.module, tool.at)) if site.module is tool.module else None
    if place is None or not isinstance(place.node, cst.Call) or tool.call is None:
        return None
    node: cst.CSTNode | None = None
    if tool.call.keyword(KEYWORD) is not None:
        [argument] = [
            arg for arg in place.node.args if arg.keyword is not None and arg.keyword.value == KEYWORD
        ]
        if isinstance(argument.value, cst.Name) and argument.value.value == "False":
            node = place.node.with_deep_changes(argument.value, value="True")
    elif takes_keyword(context, tool, KEYWORD):
        node = with_keyword(place.node, KEYWORD, cst.Name("True"))
    return place.fix(node, f"Declare it with `{KEYWORD}=True`")
