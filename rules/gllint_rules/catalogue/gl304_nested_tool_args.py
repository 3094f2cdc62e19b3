"""An argument of a `ToolAction` is a dict or another nested value.

## What it does

Reports each argument of a tool action that is neither a primitive value nor a list of primitive values. A tool action
is `ToolAction(args=…)`, or a dict that is passed to `dispatch_tool`. Arguments of unknown type are not reported.

## Why is this bad?

The dispatcher converts a nested argument to text without an error. The tool then works with the text.

## Bad

```python
from gllint_runtime import ToolAction


def ask(name: str) -> ToolAction:
    return ToolAction(name=name, args={"site": {"city": "Ghent", "zone": "north"}})
```

## Good

```python
from gllint_runtime import ToolAction


def ask(name: str) -> ToolAction:
    return ToolAction(name=name, args={"city": "Ghent", "zone": "north"})
```

## How to fix

Pass each value as an argument of its own.

## Options

`dispatchers` lists more functions that take a `ToolAction`.

## References

The QREW guidelines for tools: "ToolAction" and "sanitize_args".
"""

from __future__ import annotations

from collections.abc import Iterator

from gllint_rules.inference.values import DictOf, options
from gllint_rules.project.context import Context, Pending
from gllint_rules.project.tool_names import actions, is_nested
from gllint_rules.rule import Rule

HELP = "Arguments of a tool action must be primitives or lists of primitives: flatten this one."


def check(context: Context) -> Iterator[Pending]:
    """Yield a finding for each nested argument of an action: ``ToolAction(name="heat", args={"site": {"id": 1}})``."""
    for action in actions(context):
        for args in options(action.args.value) if action.args is not None else ():
            if not isinstance(args, DictOf):
                continue
            for key, entries in args.entries.items():
                title = f"argument `{key}`" if isinstance(key, str) else "an argument"
                for entry in entries:
                    if is_nested(context, entry.value):
                        yield context.finding(
                            "GL304", entry.site, f"{title} of a tool action is nested", HELP
                        )


RULE = Rule(
    code="GL304",
    name="nested-tool-args",
    summary="An argument of a `ToolAction` is a dict or another nested value",
    documentation=__doc__ or "",
    check=check,
    options=("dispatchers",),
)
