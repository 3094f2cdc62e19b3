"""The forms that make a function a tool: each block of ``forms.txt`` is a file, and names the tools that it offers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gllint_rules import Settings
from gllint_rules.project.project import Project
from gllint_rules.reading.modules import read_module
from gllint_rules.words.screen import Screen

BLOCKS = dict(
    block.split("\n", 1)
    for block in re.split(r"^=== ", Path(__file__).with_name("forms.txt").read_text("utf-8"), flags=re.M)[1:]
)
SCREEN = Screen(Settings())


def tools(files: dict[str, str]) -> set[str]:
    """The qualified names of the functions of a project that are tools."""
    project = Project(
        Settings(),
        lambda path: read_module(path, files[path]),
        files.__contains__,
        files.__getitem__,
        "/project",
    )
    for path, text in files.items():
        project.add(read_module(path, text))
    return {
        getattr(callee.function, "qualname", "<lambda>")
        for module in list(project.modules.values())
        for tool in project.tools.of(module)
        for callee in tool.callables
    }


@pytest.mark.parametrize("title", BLOCKS)
def test_form(title: str) -> None:
    text = BLOCKS[title]
    named = re.search(r"# want: (.*)", text)
    wanted = set(named[1].split()) if named else set()
    assert tools({"/project/app.py": text}) == wanted
    assert SCREEN.passes(text.encode()) or not wanted


def test_tools_of_other_modules() -> None:
    files = {
        "/project/shop/tools.py": "def stock(x): return 1.5\ndef price(x): return 2.5\ndef audit(x): return 3.5\n"
        "TOOLS = [stock]\nTOOLS.append(price)\n",
        "/project/shop/agent.py": "from google.adk.agents import Agent\nfrom shop.tools import TOOLS\n"
        "root = Agent(name='x', tools=TOOLS)\n",
    }
    assert tools(files) == {"stock", "price"}


def test_another_file_talks_to_the_model() -> None:
    """`tools=` of whatever callee hands tools over where the project uses a framework or an SDK, and only there."""
    loop = {"/project/loop.py": "def f(x): return 1.5\nrun(tools=[f])\n"}
    assert tools(loop) == set()
    assert tools({**loop, "/project/llm.py": "import openai\n"}) == {"f"}
    assert not SCREEN.passes(b"import openai\n")
    assert SCREEN.talks(b"import openai\n") and not SCREEN.talks(b"import openair\n")
    assert SCREEN.talks(b"from google import genai\n") and not SCREEN.talks(b"from google import auth\n")
