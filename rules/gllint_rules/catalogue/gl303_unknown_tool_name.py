"""A tool is called by a name that no tool has.

## What it does

Reports a literal tool name that no tool of the project has, in `ToolAction(name=…)`, `registry.invoke(…)`,
`registry.get(…)`, `dispatch_tool({"name": …})` or a `"tool_call"` step. If the name of any tool is computed, nothing is
reported. Test code is exempt.

## Why is this bad?

Each such call returns an error. The model does not get the number, and may make one up.

## Bad

```python
from langchain_core.tools import tool
from gllint_runtime import ToolAction, dispatch_tool


@tool
def read_meter(meter: str) -> dict:
    return {"reading": {"value": look_up(meter), "unit": "kWh"}}


def monthly_reading(meter: str) -> dict:
    return dispatch_tool(ToolAction(name="read_metre", args={"meter": meter}))
```

## Good

```python
from langchain_core.tools import tool
from gllint_runtime import ToolAction, dispatch_tool


@tool
def read_meter(meter: str) -> dict:
    return {"reading": {"value": look_up(meter), "unit": "kWh"}}


def monthly_reading(meter: str) -> dict:
    return dispatch_tool(ToolAction(name="read_meter", args={"meter": meter}))
```

## How to fix

Use the name under which the tool is registered.

## Options

`dispatchers` lists more functions that take a `ToolAction`.

## References

The QREW guidelines for tools: "ToolAction" and "Processing LLM Output in Agent Logic". GreenLang's requirements,
DOC-601: "Tool Runtime".
"""

from __future__ import annotations

from collections.abc import Iterator

from gllint_rules.fixes import repair
from gllint_rules.inference.values import Text
from gllint_rules.project.context import Context, Pending
from gllint_rules.project.tool_names import all_tools_have_names, may_look_up, tool_lookups, tool_names
from gllint_rules.rule import Rule
from gllint_rules.words.names import CLARIFICATION
from gllint_rules.words.nearest import nearest_name


def check(context: Context) -> Iterator[Pending]:
    """Yield a finding for each literal tool name that no tool of the project has: ``registry.invoke("haet", …)``."""
    if context.is_test or not may_look_up(context) or not context.project.once(all_tools_have_names):
        return
    for lookup in tool_lookups(context):
        value, site = lookup.name.value, lookup.name.site
        name = value.literal if isinstance(value, Text) else None
        if name is None or name == CLARIFICATION:
            continue
        names = context.project.once(tool_names).names
        if name not in names and lookup.of_registry(context):
            message = f"no tool in this project is named `{name}`"
            fix = repair("names", "correct_tool_name", context, site, name, names)
            yield context.finding("GL303", site, message, _help(name, names), fix)


def _help(name: str, names: frozenset[str]) -> str:
    """Return a help with the nearest name of a tool: "Did you mean `heat`?"."""
    near = nearest_name(name, names)
    return (
        f"Did you mean `{near}`?" if near is not None else "Use the name under which the tool is registered."
    )


RULE = Rule(
    code="GL303",
    name="unknown-tool-name",
    summary="A tool is called by a name that no tool has",
    documentation=__doc__ or "",
    check=check,
    fix="unsafe",
    options=("dispatchers",),
)
