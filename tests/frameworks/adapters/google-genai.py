from __future__ import annotations

from collections.abc import Iterator

from ask import Project, Tool
from google.genai import _extra_utils, types
from google.genai.chats import Chat


def tools(project: Project) -> Iterator[Tool]:
    configs = [*project.every(types.GenerateContentConfig), *(chat._config for chat in project.every(Chat))]
    for config in configs:
        for name, function in _extra_utils.get_function_map(config, None, True).items():

            def run(args, name=name, function=function):
                # what the loop of automatic calls does
                return {"result": _extra_utils.invoke_function_from_dict_args(args, function)}

            yield Tool(name, function, run)
    for declaration in project.every(types.FunctionDeclaration):
        yield Tool(declaration.name, project[declaration.name])
