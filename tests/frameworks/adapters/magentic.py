from __future__ import annotations

from collections.abc import Iterator

import magentic
from ask import Project, Tool
from magentic import FunctionCall, FunctionResultMessage
from magentic.chat_model.openai_chat_model import message_to_openai_message


def tools(project: Project) -> Iterator[Tool]:
    functions = [function for chat in project.every(magentic.Chat) for function in chat._functions]
    # The chain's function keeps the prompt that it was made of in its closure.
    cells = [cell.cell_contents for cell in project["bake"].__closure__ or ()]
    functions += [f for cell in cells for f in getattr(cell, "functions", ())]
    for function in functions:

        def run(args, function=function):
            call = FunctionCall(function, **args)
            return message_to_openai_message(FunctionResultMessage(call(), call))["content"]

        yield Tool(function.__name__, function, run)
