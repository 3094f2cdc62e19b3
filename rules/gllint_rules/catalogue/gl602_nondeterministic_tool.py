"""A tool uses the clock, randomness or the environment without declaring it.

## What it does

Reports a tool whose function reads the clock, random numbers or the environment, directly or through functions of the
project, and that does not declare `live_required=True`. It reports only tools that are registered with `Tool(…,
args_schema=…, fn=…)`. Code that runs at import time and random generators with a literal seed are exempt.

## Why is this bad?

The same call can return two different results. So a replay of a recorded run may produce different numbers.

## Bad

```python
from datetime import date

from gllint_runtime import Tool

heating_day = Tool(
    name="heating_day",
    args_schema={"type": "object", "properties": {}},
    result_schema={"type": "object", "properties": {"day": {"type": "string"}}},
    fn=lambda: {"day": date.today().isoformat()},
)
```

## Good

```python
from datetime import date

from gllint_runtime import Tool

heating_day = Tool(
    name="heating_day",
    args_schema={"type": "object", "required": ["day"], "properties": {"day": {"type": "string"}}},
    result_schema={"type": "object", "properties": {"day": {"type": "string"}}},
    fn=lambda day: {"day": date.fromisoformat(day).isoformat()},
)
```

## How to fix

Take the time, the seed or the setting as an argument, or declare the tool with `live_required=True`.

## Options

None.

## References

GreenLang's requirements, DOC-601: "Replay vs Live Mode" and "The Problem: AI Hallucination".
"""

from __future__ import annotations

from collections.abc import Iterator

from gllint_rules.project.context import Context, Pending
from gllint_rules.project.effects import Kind, undeclared
from gllint_rules.rule import Rule

READS: dict[Kind, tuple[str, str]] = {  # what a tool does, and what it could take as an argument instead
    "clock": ("reads the clock", "the time"),
    "random": ("uses random numbers", "the seed or the random number"),
    "environment": ("reads the environment", "the setting"),
}
HELP = "Take {} as an argument, or declare the tool with `live_required=True`."


def check(context: Context) -> Iterator[Pending]:
    """Yield a finding for each T1 tool that may return another result for the same arguments."""
    for tool, site, hit in undeclared(context, tuple(READS)):
        name = tool.title
        does, argument = READS[hit.effect.kind]
        message = f"{name} {does} through `{hit.effect.title}`, but is not declared `live_required=True`"
        yield context.finding("GL602", site, message, HELP.format(argument), because=hit.because, tool=tool)


RULE = Rule(
    code="GL602",
    name="nondeterministic-tool",
    summary="A tool uses the clock, randomness or the environment without declaring it",
    documentation=__doc__ or "",
    check=check,
    per_tool=True,
)
