from __future__ import annotations

from collections.abc import Iterator

from ask import Project, Tool
from semantic_kernel import Kernel
from semantic_kernel.agents import ChatCompletionAgent


def tools(project: Project) -> Iterator[Tool]:
    kernels = [*project.every(Kernel), *(agent.kernel for agent in project.every(ChatCompletionAgent))]
    for kernel in kernels:
        for entry in kernel.get_full_list_of_function_metadata():
            function = kernel.get_function(entry.plugin_name, entry.name)

            async def run(args, kernel=kernel, function=function):
                return str(await kernel.invoke(function, **args))

            yield Tool(entry.fully_qualified_name, function.method, run)
