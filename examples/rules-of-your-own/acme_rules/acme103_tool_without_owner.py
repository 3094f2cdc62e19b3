"""A tool has no named owner.

## What it does

Reports tool functions without a comment `# owner: …` on the lines above them or in their first line.

## Why is this bad?

If a tool returns something wrong, someone has to repair it.

## Bad

```python
from langchain_core.tools import tool


# Asks the meters.
@tool
def heat_demand(site: str) -> str:
    '''Say how much heat a site needs in a year.'''
    return look_up(site)
```

## Good

```python
from langchain_core.tools import tool


# Asks the meters.
# owner: energy team
@tool
def heat_demand(site: str) -> str:
    '''Say how much heat a site needs in a year.'''
    return look_up(site)
```

## How to fix

Write `# owner: …` above the function.

## Options

None.

## References

None.
"""

from __future__ import annotations

from collections.abc import Iterator

from gllint_rules.project.context import Context, Pending
from gllint_rules.reading.facts import Function
from gllint_rules.rule import Rule

HELP = "Write `# owner: …` above the function."


def check(context: Context) -> Iterator[Pending]:
    """Yield a finding for each tool of the module without a comment `# owner:`."""
    for tool in context.tools:
        for callable in tool.callables:
            function = callable.function
            if callable.module is not context.module or not isinstance(function, Function):
                continue
            if not any(comment.startswith("# owner:") for comment in context.comments(function)):
                yield context.finding(
                    "ACME103", function.at, f"no owner of tool `{function.name}` is named", HELP
                )


RULE = Rule(
    code="ACME103",
    name="tool-without-owner",
    summary="A tool has no named owner",
    documentation=__doc__ or "",
    check=check,
    since="1.0.0",
)
