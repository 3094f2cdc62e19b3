"""A tool that is found stays counted when its file is moved, renamed, re-exported or put into another member.

A small agent is written with its tools in one place, then in all others: what was found there is found again, or is
counted as not looked at. A tool that is lost without a word would make the check green.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import NamedTuple

from trust import Budget, Row, write

from gllint.run.engine import Engine, Options

_WORDS = ("readings", "meter_tools", "energy", "core", "api", "building", "impl")
_HELPER = "def survey(site):\n    return len(site) * 80.0\n"
_BODY = (
    'def {name}(site: str) -> dict:\n    """Measures a site."""\n    return {{"heat_kwh": survey(site)}}\n'
)


class Form(NamedTuple):
    """How a function is made a tool: what is above it in its file, and what the agent does with ``{tool}``."""

    before: str
    agent: str


class Place(NamedTuple):
    """Where the function is: its file, the line by which the agent gets it, and how the agent names it.

    ``others`` are more files, ``top`` is the folder of the agent.
    """

    file: str
    line: str
    tool: str = "{name}"
    others: dict[str, str] = {}
    top: str = ""


_FORMS = {
    "decorated": Form(
        "from langchain_core.tools import tool\n\n\n@tool\n",
        "from langchain.agents import create_agent\nagent = create_agent('m', [{tool}])\n",
    ),
    "handed over": Form("", "from agno.agent import Agent\nagent = Agent(name='a', tools=[{tool}])\n"),
    "in a list": Form(
        "", "from langchain.agents import create_agent\nTOOLS = [{tool}]\nagent = create_agent('m', TOOLS)\n"
    ),
    "wrapped": Form(
        "", "from langchain_core.tools import StructuredTool\nheat_tool = StructuredTool.from_function(func={tool})\n"
    ),
    "added": Form(
        "", "from mcp.server.fastmcp import FastMCP\nmcp = FastMCP('a')\nmcp.add_tool({tool})\n"
    ),
    "registered": Form(
        "", "from mcp.server.fastmcp import FastMCP\nmcp = FastMCP('a')\nmcp.tool()({tool})\n"
    ),
    "by schema": Form(
        "", "from gllint_runtime import Tool\nt = Tool(name='heat', args_schema={{}}, result_schema={{}}, fn={tool})\n"
    ),
    "by name": Form("", "from acme import AcmeTool\nt = AcmeTool('heat', 'Measures.', {tool})\n"),
    "partly applied": Form(
        "", "import functools\nfrom agno.agent import Agent\na = Agent(name='a', tools=[functools.partial({tool}, site='a')])\n"
    ),
}  # fmt: skip
_PROJECT = '[project]\nname = "{name}"\nversion = "1"\n'
_MEMBERS = '[tool.uv.workspace]\nmembers = ["packages/*"]\n'
# In each `{a}` and `{b}` are two words, `{name}` is the function.
_PLACES = {
    "beside": Place("tools.py", "from tools import {name}"),
    "renamed": Place("{a}.py", "from {a} import {name}"),
    "under another name": Place("{a}.py", "from {a} import {name} as other", "other"),
    "by its module": Place("{a}.py", "import {a}", "{a}.{name}"),
    "by its module's alias": Place("{a}.py", "import {a} as b", "b.{name}"),
    "moved": Place("{a}/{b}.py", "from {a}.{b} import {name}", others={"{a}/__init__.py": ""}),
    "without __init__": Place("{a}/{b}.py", "from {a}.{b} import {name}"),
    "deeper": Place(
        "{a}/deep/{b}.py", "from {a}.deep import {b}", "{b}.{name}",
        {"{a}/__init__.py": "", "{a}/deep/__init__.py": ""},
    ),
    "re-exported": Place("{a}/{b}.py", "from {a} import {name}", others={"{a}/__init__.py": "from .{b} import {name}\n"}),
    "re-exported with a star": Place(
        "{a}/{b}.py", "from {a} import *", others={"{a}/__init__.py": "from .{b} import *\n__all__ = ['{name}']\n"}
    ),
    "re-exported by another name": Place(
        "{a}/{b}.py", "import {a}", "{a}.shown", {"{a}/__init__.py": "from {a}.{b} import {name} as shown\n"}
    ),
    "re-exported twice": Place(
        "{a}/deep/{b}.py", "from {a} import {name}",
        others={"{a}/__init__.py": "from .deep import {name}\n", "{a}/deep/__init__.py": "from .{b} import {name}\n"},
    ),
    "through a variable": Place(
        "{a}/{b}.py", "from {a} import shown", "shown",
        {"{a}/__init__.py": "from . import {b}\n\nshown = {b}.{name}\n"},
    ),
    "in a src folder": Place(
        "src/{a}/{b}.py", "from {a}.{b} import {name}", others={"src/{a}/__init__.py": ""}, top="src/"
    ),
    "in another member": Place(
        "packages/{a}/src/{a}/{b}.py", "from {a}.{b} import {name}",
        others={
            "packages/{a}/pyproject.toml": _PROJECT.replace("{name}", "{a}"), "packages/{a}/src/{a}/__init__.py": "",
            "packages/app/pyproject.toml": _PROJECT.replace("{name}", "app"),
        },
        top="packages/app/src/",
    ),
    "in another member, re-exported": Place(
        "packages/{a}/{a}/{b}.py", "from {a} import {name}",
        others={
            "packages/{a}/pyproject.toml": _PROJECT.replace("{name}", "{a}"),
            "packages/{a}/{a}/__init__.py": "from {a}.{b} import {name}\n",
            "packages/app/pyproject.toml": _PROJECT.replace("{name}", "app"),
        },
        top="packages/app/",
    ),
}  # fmt: skip


class Seen(NamedTuple):
    """What a check says of a project: its tools, those whose result it does not know, and its findings."""

    tools: int
    unknown: int
    findings: int


def suite(budget: Budget) -> Iterator[Row]:
    pairs = [*product(_FORMS, _PLACES)]
    budget.random.shuffle(pairs)
    before = {form: _seen(budget.random, form, "beside") for form in _FORMS}
    wrong = [
        f"{form}: {seen} is not found" for form, seen in before.items() if seen.tools < 1 or not seen.findings
    ]
    moved = kept = 0
    for number in budget.rounds(2 * len(pairs)):
        form, place = pairs[number % len(pairs)]
        moved += 1
        was, seen = before[form], _seen(budget.random, form, place)
        kept += seen == was
        if seen.tools < was.tools or (seen.findings < was.findings and not seen.unknown):
            wrong.append(f"round {number}: {form}, {place}: {seen}, before {was}")
    tried = f"{moved} moves of {len(_FORMS)} forms to {len(_PLACES)} places: {kept} found as before"
    yield Row("moves: a tool stays counted", tried, wrong[:20], moved, 2 * len(pairs))


def _seen(chance: Random, form: str, place: str) -> Seen:
    with TemporaryDirectory() as folder:
        top = Path(folder, "project")
        write(top, _files(chance, _FORMS[form], _PLACES[place]))
        engine = Engine(Options(cache=False, jobs=1))
        outcome = engine.check([str(top)])
        engine.close()
        assert not outcome.failures, outcome.failures
        return Seen(
            len(outcome.tools),
            sum(tool.result == "unknown" or "unknown" in tool.other_parts for tool in outcome.tools),
            len(outcome.findings),
        )


def _files(chance: Random, form: Form, place: Place) -> dict[str, str]:
    """A project with the function at a place; what it calls is in a file of its own half of the time."""
    a, b = chance.sample(_WORDS, 2)
    names = {"a": a, "b": b, "name": chance.choice(("heat", "measured", "read_meter"))}
    file = place.file.format(**names)
    body = form.before + _BODY.format(**names)
    others = {name.format(**names): text.format(**names) for name, text in place.others.items()}
    is_package = f"{file.rpartition('/')[0]}/__init__.py" in others
    if is_package and chance.random() < 0.5:
        others[f"{file.rpartition('/')[0]}/helpers.py"] = _HELPER
        body = f"from .helpers import survey\n{body}"
    else:
        body = f"{body}\n\n{_HELPER}"
    tool = place.tool.format(**names)
    return {
        "pyproject.toml": _PROJECT.format(name="whole") + (_MEMBERS if "packages" in file else ""),
        file: body,
        **others,
        f"{place.top}agent.py": f"{place.line.format(**names)}\n{form.agent.format(tool=tool)}",
    }
