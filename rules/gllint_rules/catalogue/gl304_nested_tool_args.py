"""A tool action carries nested arguments.

## What it does

Reports each argument in `ToolAction(args=…)`, or in a literal action given to `dispatch_tool`, that is
neither a primitive nor a list of primitives. What is not known is not reported.

## Why is this bad?

The dispatcher turns such an argument into text before the tool sees it, so that the tool computes with
something else than was asked for, and nobody is told.

## Bad

```python
from runtime import ToolAction


def ask(name: str) -> ToolAction:
    return ToolAction(name=name, args={"site": {"city": "Ghent", "zone": "north"}})
```

## Good

```python
from runtime import ToolAction


def ask(name: str) -> ToolAction:
    return ToolAction(name=name, args={"city": "Ghent", "zone": "north"})
```

## How to fix

Give the tool flat arguments.

## Options

`dispatchers` names further functions that take an action.

## References

QREW tool guidelines, "ToolAction" and "sanitize_args".
"""

from __future__ import annotations

from collections.abc import Iterator

from gllint_rules.inference import classes
from gllint_rules.inference.values import NONE, Instance, ListOf, Record, Value, options
from gllint_rules.project.asked import actions
from gllint_rules.project.context import Context, Pending
from gllint_rules.rule import Rule

HELP = "Arguments of a tool action are primitives or lists of primitives: flatten it."


def check(context: Context) -> Iterator[Pending]:
    """Findings at the arguments that are nested."""
    for action in actions(context):
        for args in options(action.args.value) if action.args is not None else ():
            if not isinstance(args, Record) or args.cls is not None or args.quantity:
                continue
            for key, entries in args.entries.items():
                title = "an argument" if key.startswith("\0") else f"argument `{key}`"
                for entry in entries:
                    if is_nested(context, entry.value):
                        yield context.finding(
                            "GL304", entry.site, f"{title} of a tool action is nested", HELP
                        )


def is_nested(context: Context, value: Value) -> bool:
    """Whether no primitive and no list of primitives can be there."""
    kept = [option for option in options(value) if option is not NONE]
    return bool(kept) and all(_is_structure(context, option) for option in kept)


def _is_structure(context: Context, value: Value) -> bool:
    match value:
        case Record():
            return True
        case ListOf(kind="list"):
            elements = [entry.value for entry in value.items]
            if value.rest is not None:
                elements.append(value.rest)
            return any(_is_container(context, element) for element in elements)
        case _:
            return _is_container(context, value)


def _is_container(context: Context, value: Value) -> bool:
    """Whether ``value`` is a container or an object: nothing that may stand in a list of primitives."""
    match value:
        case Record() | ListOf(kind="list" | "tuple" | "set"):
            return True
        case Instance(of=of):
            return (
                not classes.is_enum(context.evaluator, of) and classes.new_type(context.evaluator, of) is None
            )
        case _:
            return False


RULE = Rule(
    code="GL304",
    name="nested-tool-args",
    summary="A tool action carries nested arguments",
    documentation=__doc__ or "",
    check=check,
    options=("dispatchers",),
)
