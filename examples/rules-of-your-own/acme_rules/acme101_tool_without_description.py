"""A tool has no description.

## What it does

Reports a tool function without a docstring.

## Why is this bad?

The model reads the docstring to decide when to call the tool. Without one it can only guess from the name.

## Bad

```python
from langchain_core.tools import tool


@tool
def heat_demand(site: str) -> str:
    return look_up(site)
```

## Good

```python
from langchain_core.tools import tool


@tool
def heat_demand(site: str) -> str:
    '''Say how much heat a site needs in a year.'''
    return look_up(site)
```

## How to fix

Write one sentence that says what the tool returns, and when to use it.

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

HELP = "Write one sentence that says what the tool returns, and when to use it."


def check(context: Context) -> Iterator[Pending]:
    """Yield a finding for each tool of the module whose function has no docstring."""
    for tool in context.tools:
        for callable in tool.callables:
            function = callable.function
            if callable.module is not context.module or not isinstance(function, Function):
                continue  # a function in another file, or a lambda
            node = context.node(function)
            if node is not None and node.get_docstring() is None:
                message = f"tool `{function.name}` has no docstring"
                yield context.finding("ACME101", function.at, message, HELP)


RULE = Rule(
    code="ACME101",
    name="tool-without-description",
    summary="A tool has no description",
    documentation=__doc__ or "",
    check=check,
    since="1.0.0",
)
