from __future__ import annotations

from collections.abc import Iterator

from ask import Project, Tool
from transformers.utils.chat_template_utils import get_json_schema, render_jinja_template

# A template that writes out what it is given.
_TEMPLATE = "{% for tool in tools %}{{ tool.function.name }} {% endfor %}"


class Tokenizer:
    """A tokenizer without a vocabulary."""

    def apply_chat_template(self, messages, tools, **_):
        self.tools = tools
        [text], _ = render_jinja_template([messages], tools=tools, chat_template=_TEMPLATE)
        return text


def tools(project: Project) -> Iterator[Tool]:
    tokenizer = Tokenizer()
    names = project["prompt"](tokenizer, [{"role": "user", "content": "Which?"}]).split()
    for name, function in zip(names, tokenizer.tools, strict=True):
        assert get_json_schema(function)["function"]["name"] == name
        # The project runs it, and writes what it likes of the result into the next message.
        yield Tool(name, function)
