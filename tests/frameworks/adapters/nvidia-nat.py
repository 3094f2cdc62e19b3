from __future__ import annotations

import asyncio
from collections.abc import Iterator

from ask import Project, Tool
from nat.builder.workflow_builder import WorkflowBuilder
from nat.cli.type_registry import GlobalTypeRegistry


def tools(project: Project) -> Iterator[Tool]:
    registry = GlobalTypeRegistry.get()
    for registered in registry.get_registered_functions():
        if registered.config_type.__module__ != project.module.__name__:
            continue

        async def build(registered=registered):
            name = registered.config_type.static_type()
            async with WorkflowBuilder() as builder:
                function = await builder.add_function(name, registered.config_type())
                return name, function._ainvoke_fn, await function.ainvoke("Lisbon")

        name, function, seen = asyncio.run(build())
        yield Tool(name, function, lambda _, seen=seen: seen)
    for registered in registry.get_registered_function_groups():
        if registered.config_type.__module__ != project.module.__name__:
            continue

        async def build_all(registered=registered):
            name = registered.config_type.static_type()
            async with WorkflowBuilder() as builder:
                group = await builder.add_function_group(name, registered.config_type())
                functions = await group.get_accessible_functions()
                return [(n, f._ainvoke_fn, await f.ainvoke("Lisbon")) for n, f in functions.items()]

        for name, function, seen in asyncio.run(build_all()):
            yield Tool(name, function, lambda _, seen=seen: seen)
