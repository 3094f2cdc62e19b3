"""A tool uses the network and does not declare it.

## What it does

Reports a tool whose function uses the network, directly or through functions of the project, and that does not declare
`live_required=True`. It reports only tools that are registered with `Tool(…, args_schema=…, fn=…)`. Network libraries
are `requests`, `httpx`, `urllib`, `aiohttp`, `socket`, `boto3` and others.

## Why is this bad?

A replay repeats a recorded run without the network, so a replay rejects tools with `live_required=True`. An undeclared
tool uses the network during a replay and may get another answer. Then the recorded provenance is wrong.

## Bad

```python
import requests
from gllint_runtime import Tool


def grid_mix(zone: str) -> dict:
    return {"mix": requests.get("https://example.org/mix", params={"zone": zone}).text}


mix = Tool(
    name="grid_mix",
    args_schema={"type": "object", "required": ["zone"], "properties": {"zone": {"type": "string"}}},
    result_schema={"type": "object", "properties": {"mix": {"type": "string"}}},
    fn=grid_mix,
)
```

## Good

```python
import requests
from gllint_runtime import Tool


def grid_mix(zone: str) -> dict:
    return {"mix": requests.get("https://example.org/mix", params={"zone": zone}).text}


mix = Tool(
    name="grid_mix",
    args_schema={"type": "object", "required": ["zone"], "properties": {"zone": {"type": "string"}}},
    result_schema={"type": "object", "properties": {"mix": {"type": "string"}}},
    fn=grid_mix,
    live_required=True,
)
```

## How to fix

Add `live_required=True`, or give the tool a snapshot of the data as an argument.

## Options

None.

## References

GreenLang's requirements, DOC-601: "Replay vs Live Mode".
"""

from __future__ import annotations

from collections.abc import Iterator

from gllint_rules.fixes import repair
from gllint_rules.project.context import Context, Pending
from gllint_rules.project.effects import Kind, undeclared
from gllint_rules.rule import Rule

EGRESS: tuple[Kind, ...] = ("network",)
HELP = "Declare it with `live_required=True`, so that a replay of recorded runs rejects its calls and stays offline."


def check(context: Context) -> Iterator[Pending]:
    """Yield one finding for each T1 tool with undeclared network access."""
    for tool, site, reached in undeclared(context, EGRESS):
        name = tool.title
        title = reached.effect.title
        message = f"{name} reaches the network through `{title}`, but is not declared `live_required=True`"
        fix = repair("live", "declare_live", context, tool, site)
        yield context.finding("GL601", site, message, HELP, fix, reached.because, tool=tool)


RULE = Rule(
    code="GL601",
    name="undeclared-egress",
    summary="A tool uses the network and does not declare it",
    documentation=__doc__ or "",
    check=check,
    per_tool=True,
    fix="unsafe",
)
