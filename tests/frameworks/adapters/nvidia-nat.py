from __future__ import annotations

import asyncio
from collections.abc import Iterator

from ask import Project, Tool
from nat.builder.workflow_builder import WorkflowBuilder
from nat.cli.type_registry import GlobalTypeRegistry


def tools(project: Project) -> Iterator[Tool]:
    for registered in GlobalTypeRegistry.get().get_registered_functions():
        if registered.config_type.__module__ != project.module.__name__:
            continue

        async def build(registered=registered):
            name = registered.config_type.static_type()
            async with WorkflowBuilder() as builder:
                function = await builder.add_function(name, registered.config_type())
                return name, function._ainvoke_fn, await function.ainvoke("Lisbon")

        name, function, seen = asyncio.run(build())
        yield Tool(name, function, lambda _, seen=seen: seen)
