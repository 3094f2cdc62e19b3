"""A tool does more than its category allows.

## What it does

Reports each effect that a tool with the category `READ_ONLY` or `NOTE_TAKING` must not have: deleting something,
reaching the network or writing a file, directly or through functions of the project. A `NOTE_TAKING` tool may write
files whose path contains "notes". If the path is unknown, nothing is reported.

## Why is this bad?

Tools of these two categories run without approval. So a person learns of the change only after it is made.

## Bad

```python
from pathlib import Path

from gllint_runtime import BaseTool, ToolCategory, ToolResult


class ExportTool(BaseTool):
    category = ToolCategory.READ_ONLY

    async def execute(self, text: str) -> ToolResult:
        Path("meters.csv").write_text(text)
        return finish(text)
```

## Good

```python
from pathlib import Path

from gllint_runtime import BaseTool, ToolCategory, ToolResult


class ExportTool(BaseTool):
    category = ToolCategory.MODIFICATION

    async def execute(self, text: str) -> ToolResult:
        Path("meters.csv").write_text(text)
        return finish(text)
```

## How to fix

Declare `MODIFICATION` for a tool that changes files, and `EXTERNAL` for a tool that uses other systems.

The rule also checks MCP's annotations. `readOnlyHint=True` means that the tool writes and deletes nothing,
`destructiveHint=False` that it deletes nothing, and `openWorldHint=False` that it does not use the network.

## Options

`tool-classes` lists base classes of tools, `tool-methods` lists the methods that run a tool.

## References

The human-centred tool patterns: "Tool Categories".
"""

from __future__ import annotations

from collections.abc import Iterator

from gllint_rules.inference.values import Boolean, Frame, Record
from gllint_rules.project.categories import category_of
from gllint_rules.project.context import Context, Pending
from gllint_rules.project.effects import Effect, Effects, Kind
from gllint_rules.project.paths import whereabouts
from gllint_rules.reading import facts
from gllint_rules.rule import Rule
from gllint_rules.tools.tool import Tool
from gllint_rules.words.names import HARMLESS_CATEGORIES
from gllint_runtime.policy.tool_hints import PROMISES

DOES: dict[Kind, str] = {
    "network": "reaches the network",
    "write": "writes a file",
    "delete": "deletes something",
}
NEEDS: dict[Kind, str] = {"network": "EXTERNAL", "write": "MODIFICATION", "delete": "MODIFICATION"}


def check(context: Context) -> Iterator[Pending]:
    """Yield a finding for each effect of a tool that its category or annotations exclude: a write of READ_ONLY."""
    yield from _by_category(context)
    yield from _by_annotations(context)


def _by_annotations(context: Context) -> Iterator[Pending]:
    """Yield a finding for each effect that contradicts a hint such as ``readOnlyHint=True``."""
    for tool in context.tools:
        promises = [
            (hint, value, denied)
            for hint, value, denied in PROMISES
            if _is_promised(context, tool, hint, value)
        ]
        effects = context.project.memory(Effects)
        for callee in tool.callables if promises else ():
            for effect in {reached.effect: None for reached in effects.reached(callee)}:
                broken = [(hint, value) for hint, value, denied in promises if effect.kind in denied]
                if broken:
                    title = tool.title
                    hints = " and ".join(f"`{hint}={value}`" for hint, value in broken)
                    message = f"{title} promises {hints}, but {DOES[effect.kind]}"
                    help = f"Set {' and '.join(f'`{hint}={not value}`' for hint, value in broken)}."
                    yield context.finding("GL702", effect.site, message, help)


def _is_promised(context: Context, tool: Tool, hint: str, value: bool) -> bool:
    """Return whether a tool is registered with annotations that set ``hint`` to ``value``."""
    annotations = tool.call.keyword("annotations") if tool.call is not None else None
    if annotations is None:
        return False
    hint_expr = annotations.keyword(hint) if isinstance(annotations, facts.Call) else None
    if hint_expr is None and isinstance(annotations, facts.Name):
        for binding in tool.scope.find(annotations.id):
            if isinstance(binding.value, facts.Call):
                hint_expr = binding.value.keyword(hint)
    if hint_expr is not None:
        return isinstance(hint_expr, facts.Const) and hint_expr.value is value
    record = context.evaluator.eval(annotations, Frame(tool.module, tool.scope))
    hint_value = record.get(hint) if isinstance(record, Record) else None
    return isinstance(hint_value, Boolean) and hint_value.literal is value


def _by_category(context: Context) -> Iterator[Pending]:
    """Yield a finding for each effect that the category of a tool does not allow."""
    for tool in context.tools:
        levels = category_of(context.project, tool) if tool.callables else None
        if not levels or not levels <= HARMLESS_CATEGORIES:
            continue
        effects = context.project.memory(Effects)
        name = tool.name or (tool.cls.cls.name if tool.cls is not None else None)
        for callee in tool.callables:
            for reached in effects.reached(callee):
                effect = reached.effect
                if effect.kind in DOES and not _is_admitted(context, effect, levels):
                    title = f"tool `{name}`" if name else "a tool"
                    message = f"{title} is {' or '.join(sorted(levels))}, but {DOES[effect.kind]}"
                    help = f"Declare it as {NEEDS[effect.kind]}."
                    yield context.finding("GL702", effect.site, message, help)


def _is_admitted(context: Context, effect: Effect, levels: frozenset[str]) -> bool:
    """Return whether a write is allowed: it goes to notes, or a NOTE_TAKING tool makes it to an unknown place."""
    if effect.kind != "write":
        return False
    place = whereabouts(context.project, effect.path, effect.frame)
    return place == "notes" or (place == "unknown" and "NOTE_TAKING" in levels)


RULE = Rule(
    code="GL702",
    name="category-understates-effects",
    summary="A tool does more than its category allows",
    documentation=__doc__ or "",
    check=check,
    options=("tool-classes", "tool-methods"),
)
