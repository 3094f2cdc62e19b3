"""A tool has no description.

## What it does

Reports a tool function without a docstring.

## Why is this bad?

The docstring is what the model is told of the tool. Without one it guesses from the name when to call it.

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

Write one sentence that says what the tool gives, and when to use it.

## Options

None.

## References

None.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gllint_rules.project.context import Context, Pending
from gllint_rules.rule import Rule

HELP = "Say in one sentence what the tool gives, and when to use it."


def check(context: Context) -> Iterator[Pending]:
    """Findings at the tools of the module whose function says nothing of itself."""
    silent = {
        node.name
        for node in ast.walk(ast.parse(context.module.source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(node) is None
    }
    for tool in context.tools:
        for callable in tool.callables:
            name = getattr(callable.function, "name", None)
            if name in silent and callable.module is context.module:
                message = f"tool `{name}` has no docstring"
                yield context.finding("ACME101", callable.function.at, message, HELP)


RULE = Rule(
    code="ACME101",
    name="tool-without-description",
    summary="A tool has no description",
    documentation=__doc__ or "",
    check=check,
    since="1.0.0",
)
