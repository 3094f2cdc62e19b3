"""A tool class declares no category.

## What it does

Reports each tool class that neither declares nor inherits a `category`. The rule applies only to projects that use a
`ToolCategory` with the values `READ_ONLY`, `NOTE_TAKING`, `MODIFICATION` and `EXTERNAL`.

## Why is this bad?

The category decides whether a person is asked before the tool runs. A tool without a category either cannot run or runs
without approval.

## Bad

```python
from gllint_runtime import BaseTool, ToolCategory, ToolResult


class MeterTool(BaseTool):
    category = ToolCategory.READ_ONLY

    async def execute(self, meter: str) -> ToolResult:
        return read_meter(meter)


class ValveTool(BaseTool):
    async def execute(self, valve: str) -> ToolResult:
        return close_valve(valve)
```

## Good

```python
from gllint_runtime import BaseTool, ToolCategory, ToolResult


class MeterTool(BaseTool):
    category = ToolCategory.READ_ONLY

    async def execute(self, meter: str) -> ToolResult:
        return read_meter(meter)


class ValveTool(BaseTool):
    category = ToolCategory.MODIFICATION

    async def execute(self, valve: str) -> ToolResult:
        return close_valve(valve)
```

## How to fix

Declare the first of these that covers everything the tool does:

- `READ_ONLY`: changes nothing, and does not use the network
- `NOTE_TAKING`: also writes notes
- `MODIFICATION`: also changes or deletes other data of the user
- `EXTERNAL`: uses the network or another system

## Options

`tool-classes` lists base classes of tools, `tool-methods` lists the methods that run a tool.

## References

The human-centred tool patterns: "Tool Categories" and "Best Practices".
"""

from __future__ import annotations

from collections.abc import Iterator

from gllint_rules.inference import classes
from gllint_rules.inference.values import ClassOf
from gllint_rules.project.categories import category_of, uses_categories
from gllint_rules.project.context import Context, Pending
from gllint_rules.reading import facts
from gllint_rules.rule import Rule
from gllint_rules.words.names import TOOL_LEVELS

HELP = f"Set `category` to the first of these that covers everything the tool does: {', '.join(TOOL_LEVELS)}."


def check(context: Context) -> Iterator[Pending]:
    """Yield a finding at the name of each tool class without a category."""
    for tool in context.tools:
        if tool.cls is None or not _can_run(context, tool.cls):
            continue
        if category_of(context.project, tool) == frozenset() and context.project.once(uses_categories):
            yield context.finding("GL701", tool.at, f"tool `{tool.cls.cls.name}` declares no category", HELP)


def _can_run(context: Context, of: ClassOf) -> bool:
    """Return whether a class can run as a tool. An abstract base class of tools cannot."""
    if any(facts.last_name(base) == "ABC" for base in of.cls.bases):
        return False
    if any(_is_abstract(method) for method in of.cls.methods()):
        return False
    return any(
        isinstance(ancestor, ClassOf)
        and any(_runs(ancestor.cls.method(name)) for name in context.project.tools.forms.methods(of))
        for ancestor in classes.ancestors(context.evaluator, of)
    )


def _runs(method: facts.Function | None) -> bool:
    """Return whether a class has a method with a body."""
    return method is not None and not _is_abstract(method)


def _is_abstract(method: facts.Function) -> bool:
    """Return whether a method is decorated with ``@abstractmethod``."""
    return any(facts.last_name(decorator) == "abstractmethod" for decorator in method.decorators)


RULE = Rule(
    code="GL701",
    name="missing-category",
    summary="A tool class declares no category",
    documentation=__doc__ or "",
    check=check,
    options=("tool-classes", "tool-methods"),
)
