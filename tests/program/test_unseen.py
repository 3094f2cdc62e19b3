"""What was not looked at is told: tools that return text or something unknown, files that were left out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gllint.errors import UsageError
from gllint.run.engine import Engine, Options

Write = Callable[..., Path]
Run = Callable[..., Any]

HEAD = (
    "import json\nimport httpx\nfrom langchain_core.tools import tool\nfrom helpers import fetched, label\n"
)
BODIES = {
    "number": ['{"n": len(x)}', '{"q": {"value": 3.5, "unit": "kWh"}}', 'len(x) if x else "none"', "[1.5]"],
    "text": [
        'f"hello {x}"',
        "x",
        '{"name": x, "data": httpx.get(x).json()}',
        "json.dumps({'n': x})",
        "label(x)",
        "[x]",
    ],
    "unknown": [
        "httpx.get(x)",
        "fetched(x)",
        '{"data": httpx.get(x).json()}',
        "[httpx.get(x)]",
        "{**fetched(x)}",
    ],
    "other": ["True", "None", '{"ok": x == ""}', "[]"],
}
HELPERS = "import httpx\n\n\ndef fetched(x):\n    return httpx.get(x).json()\n\n\ndef label(x: str) -> str:\n    return x\n"


def module(name: str, bodies: list[str], returns: str = "") -> str:
    tools = (
        f"\n\n@tool\ndef {name}_{number}(x: str){returns}:\n    return {body}\n"
        for number, body in enumerate(bodies)
    )
    return HEAD + "".join(tools)


@pytest.fixture
def project(write: Write) -> Path:
    """A project with a file for each kind of result."""
    files = {f"{kind}.py": module(kind, bodies) for kind, bodies in BODIES.items()}
    return write({"gllint.toml": "", "helpers.py": HELPERS, **files})


def unseen(run: Run, cwd: Path, *arguments: str) -> dict[str, Any]:
    done = run("check", "--statistics", "--output-format", "json", *arguments, cwd=cwd)
    assert done.returncode in (0, 1), done.stderr.decode()
    return dict(json.loads(done.stdout)["unseen"])


def figures(**counts: int) -> dict[str, Any]:
    """What the statistics hold of what was looked at, all else being nothing."""
    names = ("tools", "number", "text", "unknown", "unregistered", "plain")
    return {**dict.fromkeys(names, 0), "files": [], **counts}


def test_each_tool_counts_once_by_what_it_returns(project: Path, run: Run) -> None:
    counts = {kind: len(bodies) for kind, bodies in BODIES.items()}
    for kind in BODIES:
        found = unseen(run, project, f"{kind}.py")
        assert found["tools"] == counts[kind]
        shown = kind.replace("other", "text")  # every other known result
        assert {k: found[k] for k in ("number", "text", "unknown")} == {
            k: counts[kind] if k == shown else 0 for k in ("number", "text", "unknown")
        }
    total = figures(tools=19, number=4, text=10, unknown=5)
    assert unseen(run, project) == total
    assert unseen(run, project) == total  # from the cache
    assert unseen(run, project, "--no-cache", "--jobs", "2") == total
    assert unseen(run, project, "--select", "GL4") == total


def test_an_annotation_says_that_a_result_is_a_number_and_not_what_a_text_has(write: Write, run: Run) -> None:
    top = write(
        {
            "a.py": module("a", BODIES["unknown"][:1], " -> str"),
            "b.py": module("b", BODIES["unknown"][:1], " -> int"),
        }
    )
    write({"helpers.py": HELPERS})
    assert unseen(run, top) == figures(tools=2, number=1, unknown=1)


def test_a_tool_whose_function_stands_elsewhere_counts_once(write: Write, run: Run) -> None:
    top = write(
        {
            "gllint.toml": "",
            "f.py": "def look(x):\n    return f'it is {x}'\n",
            "a.py": "from langchain.agents import create_agent\nfrom f import look\n\nagent = create_agent(None, [look])\n",
            "b.py": "from langchain.agents import create_agent\nfrom f import look\n\nagent = create_agent(None, [look])\n",
        }
    )
    one = figures(tools=1, text=1)
    for paths in ((), ("f.py",), ("a.py",), ("b.py",), ("a.py", "f.py")):
        assert unseen(run, top, *paths) == one
        assert unseen(run, top, "--no-cache", *paths) == one


def test_files_that_were_left_out_have_their_reason(write: Write, run: Run) -> None:
    broken = HEAD + "\n\n@tool\ndef f(:\n    return 1\n"
    top = write(
        {"gllint.toml": "", "a.py": module("a", ["x"]), "b.py": broken, "c.py": b"# \xff\xfe\nx = '\xff'\n"}
    )
    for arguments in ((), ("--no-cache",), ("--ignore", "GL900")):
        files = unseen(run, top, *arguments)["files"]
        assert [entry["path"] for entry in files] == ["b.py", "c.py"]
        assert files[0]["reason"].endswith("(line 8)") and "decoded" in files[1]["reason"]
    said = run("check", "--ignore", "GL900", cwd=top).stderr.decode()
    assert "1 tool: 1 returns text. Not checked: 2 files left out." in said


def test_the_summary_says_it_in_plain_words(project: Path, run: Run) -> None:
    for output_format in ("full", "concise"):
        done = run("check", "--output-format", output_format, "text.py", "unknown.py", cwd=project)
        assert done.returncode == 0
        assert done.stderr.decode() == (
            "No findings in 2 files, as far as gllint looked.\n"
            "11 tools: 6 return text. Not checked: 5 (unknown result: unknown.py:8 and more), "
            "a part of 1 (unknown: text.py:18). "
            "--why unknown.py:8 explains what is unknown about the first.\n"
        )
    assert not run("check", "--quiet", "text.py", cwd=project).stderr
    said = run("check", "--ignore", "GL104", "number.py", "text.py", cwd=project).stderr.decode()
    assert (
        "\n10 tools: 4 return numbers, 6 return text. Not checked: a part of 1 (unknown: text.py:18), the text of 6 (GL104 is off). --why"
        in said
    )
    # With GL104 on, only what is known in part stays.
    said = run("check", "text.py", "other.py", cwd=project).stderr.decode()
    assert (
        "No findings in 2 files, as far as gllint looked.\n10 tools: 6 return text, 4 return neither. "
        "Not checked: a part of 1 (unknown: text.py:18). --why" in said
    )
    assert run("check", "other.py", cwd=project).stderr.decode() == "No findings in 1 file.\n"


@pytest.mark.parametrize(
    ("body", "line", "advice"),
    [
        (
            '{"n": len(x), "note": f"of {len(x)}"}',
            "the text of 1 (GL104 is off)",
            "--extend-select GL104",
        ),
        (
            '{"n": len(x), "note": "all 40 W"}',
            "the text of 1 (GL104 is off)",
            "--extend-select GL104",
        ),
        ('{"n": len(x), "data": httpx.get(x).json()}', "a part of 1 (unknown: a.py:8)", "--why a.py:8"),
        ('{"n": len(x), **fetched(x)}', "a part of 1 (unknown: a.py:8)", "--why a.py:8"),
        ('json.dumps({"n": len(x), "data": fetched(x)})', "a part of 1 (unknown: a.py:8)", "--why a.py:8"),
    ],
)
def test_what_stands_beside_numbers_is_told(
    write: Write, run: Run, body: str, line: str, advice: str
) -> None:
    top = write({"gllint.toml": "", "helpers.py": HELPERS, "a.py": module("a", [body])})
    said = run("check", "--ignore", "GL104", "a.py", cwd=top).stderr.decode()
    assert f"1 tool: 1 returns numbers. Not checked: {line}. {advice}" in said


@pytest.mark.parametrize(
    "body",
    [
        '{"n": len(x), "note": "all", "city": x, "about": f"of {x}", "ok": x == ""}',
        '{"n": [len(x)], "q": {"value": 3.5, "unit": x}}',
    ],
)
def test_numbers_beside_names_are_all_there_is(write: Write, run: Run, body: str) -> None:
    top = write({"gllint.toml": "", "helpers.py": HELPERS, "a.py": module("a", [body])})
    assert "1 tool:" not in run("check", "a.py", cwd=top).stderr.decode()


def test_json_of_what_is_not_known_is_no_text(write: Write, run: Run) -> None:
    """GL104, which judges text, would see nothing in it, whatever the annotation says."""
    body = "\n\n@tool\ndef f(a: str) -> str:\n    return json.dumps(fetch(a))\n"
    top = write({"gllint.toml": "", "a.py": HEAD + "\nimport json" + body})
    assert unseen(run, top) == figures(tools=1, unknown=1)


def test_a_folder_without_a_tool_is_said_to_have_none(write: Write, run: Run) -> None:
    hint = "No tools found. `gllint frameworks` lists what counts as a tool;"
    top = write({"a/gllint.toml": "", "a/a.py": "x = 1\n", "b/gllint.toml": "", "b/a.py": module("a", ["x"])})
    assert hint in run("check", "a", cwd=top).stderr.decode()
    assert hint not in run("check", "a/a.py", cwd=top).stderr.decode()
    assert hint not in run("check", cwd=top).stderr.decode()
    (top / "b/gllint.toml").write_text("per-file-ignores = {'a.py' = ['GL']}\n")
    assert hint not in run("check", "b", cwd=top).stderr.decode()


def test_code_that_is_not_to_be_judged_is_not_counted(write: Write, run: Run) -> None:
    top = write(
        {"gllint.toml": "per-file-ignores = {'tests/' = ['GL']}\n", "tests/test_a.py": module("a", ["x"])}
    )
    assert unseen(run, top)["tools"] == 0


def test_the_page_is_not_green_over_what_nobody_looked_at(project: Path, run: Run) -> None:
    assert run("report", "-o", "r.html", "text.py", cwd=project).returncode == 0
    page = (project / "r.html").read_text()
    assert "There are no findings.</p>" not in page and 'class="good"' not in page
    assert "6 tools: 6 return text. Not checked: a part of 1 (unknown: text.py:18)." in page
    assert run("report", "-o", "r.html", "other.py", cwd=project).returncode == 0
    assert "There are no findings.</p>" in (project / "r.html").read_text()


def test_init_says_it_too(project: Path, run: Run) -> None:
    said = run("init", "--dry-run", cwd=project).stdout.decode()
    assert (
        "  coverage:    19 tools: 4 return numbers, 6 return text, 4 return neither. Not checked: 5 (unknown result: "
        in said
    )


def test_what_was_not_looked_at_fails_where_that_is_asked_for(project: Path, run: Run) -> None:
    for arguments, status in (
        (["unknown.py"], 0),
        (["--fail-on-unseen", "unknown.py"], 1),
        (["--fail-on-unseen", "other.py"], 0),
    ):
        assert run("check", *arguments, cwd=project).returncode == status


@pytest.mark.parametrize("output_format", ["json", "sarif", "github", "agent", "full"])
def test_each_format_says_it_on_standard_error(project: Path, run: Run, output_format: str) -> None:
    done = run("check", "--output-format", output_format, "unknown.py", cwd=project)
    assert b"Not checked: 5 (unknown result: unknown.py:8 and more)" in done.stderr
    assert (
        b"Not checked"
        not in run("check", "--quiet", "--output-format", output_format, "unknown.py", cwd=project).stderr
    )


def test_the_page_says_how_many_tools_could_not_be_followed(project: Path, run: Run) -> None:
    assert run("report", "-o", "r.html", "number.py", "unknown.py", cwd=project).returncode == 0
    page = (project / "r.html").read_text()
    assert "5 tools that gllint could not follow." in page
    assert re.search(r'<p id="headline"><strong>\d+ of \d+ numbers? ha(s|ve) a unit\.</strong>', page)


def test_a_checkout_that_was_never_installed_finds_nothing_out(
    project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("gllint_rules.__path__", [str(tmp_path)])
    monkeypatch.chdir(project)
    with pytest.raises(UsageError, match="the tables of the standard library are missing"):
        Engine(Options(cache=False)).check(["other.py"])


SKILLS = """\
from acme import App


def heat(site: str) -> dict:
    return {"heat": 12.5}


def cold(site: str) -> dict:
    return {"cold": 2.5}


ACTIONS = [cold]
app = App(skills=[heat], actions=ACTIONS, handlers=[cold])
"""


def test_what_is_handed_over_like_tools_is_counted_with_the_line_that_makes_it_one(
    write: Write, run: Run
) -> None:
    top = write(
        {
            "gllint.toml": "",
            "a.py": SKILLS,
            "b.py": "from acme import App\nfrom a import heat\nApp(tools=[heat])\n",
        }
    )
    for arguments in ((), ("--no-cache",), ("--jobs", "2"), ()):
        assert unseen(run, top, *arguments) == figures(unregistered=2)
    said = run("check", cwd=top).stderr.decode()
    assert said.startswith(
        "No findings in 2 files, as far as gllint looked.\n"
        "Not checked: 2 functions under `actions=` and `skills=` (a.py:4). "
    )
    setting = said.partition("`frameworks = ")[2].partition("`")[0]
    done = run("check", "--config", f"frameworks = {setting}", "--output-format", "concise", cwd=top)
    assert (
        done.stdout.decode().count("GL101") == 2 and done.stderr.decode() == "Found 2 findings in 1 file.\n"
    )
    # In a project that imports a framework `tools=` makes tools; what it makes none of is settled, too.
    write({"b.py": "import openai\nfrom acme import App\nfrom a import heat\nApp(tools=[heat])\n"})
    assert unseen(run, top) == figures(tools=1, number=1, unregistered=1)


def test_one_function_of_a_server_counts_as_the_tools_that_it_serves(write: Write, run: Run) -> None:
    text = (
        "from mcp.server import Server\nfrom mcp.types import TextContent, Tool\n\napp = Server('x')\n\n\n"
        "@app.list_tools()\nasync def listed():\n"
        "    return [Tool(name='a', inputSchema={}), Tool(name='b', inputSchema={})]\n\n\n"
        "@app.call_tool()\nasync def called(name, arguments):\n    return [TextContent(type='text', text='x')]\n"
    )
    third = "from mcp.types import Tool\n\nTHIRD = Tool(name='c', inputSchema={})\n"
    top = write(
        {"gllint.toml": "", "a.py": text, "third.py": third, "tests/test_a.py": third.replace("'c'", "'d'")}
    )
    for arguments in ((), ("--no-cache",)):
        assert unseen(run, top, *arguments) == figures(tools=3, text=3)
    # Of several servers each serves its own; a handler of its own class describes one tool.
    write(
        {
            "b.py": text,
            "c.py": "from mcp.types import Tool\n\nAT = [Tool(name=n, inputSchema={}) for n in 'xy']\n",
        }
    )
    assert unseen(run, top) == figures(tools=4, text=4)
    (top / "b.py").unlink()
    assert unseen(run, top) == figures(tools=4, text=4)


REGISTRY = """\
class Tools:
    def __init__(self):
        self.entries = {}

    def offer(self, name, description, parameters, function, on_error=None):
        self.entries[name] = (description, parameters, function)

    def action(self, name, parameters):
        def decorate(function):
            self.entries[name] = (name, parameters, function)
            return function

        return decorate
"""
OFFERS = """\
from registry import Tools

NOTHING = {"type": "object", "properties": {}}
tools = Tools()


def heat(site: str) -> dict:
    return {"heat": 12.5}


def cold() -> dict:
    return {"cold": 2.5}


def failed(error):
    return {"code": 3.5}


tools.offer("heat", "Heat", {"type": "object", "properties": {"site": {"type": "string"}}}, heat, on_error=failed)
tools.offer("cold", "Cold", NOTHING, cold)


@tools.action("light", {"type": "object", "properties": {}})
def light() -> dict:
    return {"light": 4.5}


class Form:
    def __init__(self, schema, field):
        self.schema = schema


Form({"properties": {}}, "heat")
"""


def test_functions_that_come_with_a_schema_of_their_parameters_are_counted_with_the_row_that_makes_them_tools(
    write: Write, run: Run
) -> None:
    top = write({"registry.py": REGISTRY, "offers.py": OFFERS})
    assert unseen(run, top) == figures(unregistered=3)
    said = run("check", cwd=top).stderr.decode()
    row = '{ calls = { "Tools.offer" = [3] }, decorators = ["action"] }'
    assert "Not checked: 3 functions under `@action` and `offer(…)` (offers.py:7). " in said
    assert f"`frameworks = [{row}]` in the configuration makes them tools." in said
    assert (
        f"frameworks = [{row}]  # needed by 3 functions" in run("init", "--dry-run", cwd=top).stdout.decode()
    )
    write({"gllint.toml": f"frameworks = [{row}]\n"})
    done = run("check", "--output-format", "concise", cwd=top)
    assert [line.split(":")[1] for line in done.stdout.decode().splitlines()] == ["8", "12", "25"]
    assert "Not checked" not in done.stderr.decode()


REGISTERED = """\
def heat(site):
    return {"heat": len(site) * 1.5}


registry.register("heat", "Heat of a site", {"properties": {"site": {"type": "string"}}}, heat)
"""


@pytest.mark.parametrize(
    ("registry", "callee"),
    [
        ("from reg import registry", "reg.registry.register"),
        ("import reg\nregistry = reg", "reg.register"),
        ("from reg import Registry\nregistry = Registry()", "*.register"),
        ("class Own:\n    def register(self, *a):\n        self.a = a\nregistry = Own()", "Own.register"),
    ],
)
def test_the_row_names_the_callee_so_that_it_is_recognized(
    registry: str, callee: str, write: Write, run: Run
) -> None:
    top = write({"a.py": f"{registry}\n\n\n{REGISTERED}"})
    row = f'{{ calls = {{ "{callee}" = [3] }} }}'
    assert f"`frameworks = [{row}]`" in run("check", cwd=top).stderr.decode()
    write({"gllint.toml": f"frameworks = [{row}]\n"})
    done = run("check", "--output-format", "concise", cwd=top)
    assert "GL101 `heat`" in done.stdout.decode() and "Not checked" not in done.stderr.decode()


def test_the_row_has_each_place_of_a_callee(write: Write, run: Run) -> None:
    cold = "def cold(site):\n    return len(site) * 1.5\n\n\nregistry.register('cold', {'properties': {}}, run=cold)\n"
    top = write({"a.py": f"from reg import registry\n\n\n{REGISTERED}\n\n{cold}"})
    row = '{ calls = { "reg.registry.register" = ["run", 3] } }'
    assert f"frameworks = [{row}]" in run("check", cwd=top).stderr.decode()
    write({"gllint.toml": f"frameworks = [{row}]\n"})
    assert unseen(run, top) == figures(tools=2, number=2)


MADE = """\
import functools
from fastmcp import FastMCP

mcp = FastMCP("site")


def logged(method):
    @functools.wraps(method)
    async def inner(*args, **kwargs):
        return await method(*args, **kwargs)

    return inner


def register(function):
    mcp.add_tool(function)


for name in dir(api):
    mcp.tool(name=name)(logged(getattr(api, name)))
for function in load():
    mcp.add_tool(function)
"""


def test_what_is_registered_and_not_seen_is_counted(write: Write, run: Run) -> None:
    top = write({"gllint.toml": "", "server.py": MADE})
    assert unseen(run, top) == figures(unregistered=2)
    said = run("check", cwd=top).stderr.decode()
    assert "Not checked: 2 functions under `add_tool(…)` and `tool(…)` (server.py:20)." in said


HANDED_OVER = """\
import openai
from agents import WebSearchTool
from company_tools import REGISTRY, Loader, get_tools, load
from fastapi import FastAPI
from fastmcp import FastMCP
from haystack.tools import ComponentTool
from langchain_community.tools import DuckDuckGoSearchRun
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import StructuredTool
from langgraph.prebuilt import create_react_agent
from llama_index.core.tools import FunctionTool
from pydantic import BaseModel

mcp = FastMCP("x")


class Site(BaseModel):
    name: str


class Part:
    def run(self):
        return {"load": 1.5}


class Team:
    def __init__(self, tools):
        self.tools = tools

    def agent(self):
        return create_react_agent("m", tools=self.tools + [shout])


def shout(q: str) -> str:
    return q.upper()


def shouts():
    return [shout]


async def build(service, names, tools, client, *more):
    own = [] if names else [shout]
    LINE
"""


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("mcp.add_tool(load)", 1),
        ("mcp.add_tool(service.load)", 1),
        ("mcp.tool(load)", 1),
        ('mcp.tool(name="x")(load)', 1),
        ("[mcp.add_tool(tool) for tool in get_tools()]", 1),
        ("create_react_agent('m', tools=[shout, load, service.load])", 2),
        ("create_react_agent('m', [Loader()])", 1),
        ("create_react_agent('m', [service.load, service.price, *REGISTRY])", 3),
        ("create_react_agent('m', REGISTRY['a'] if names else REGISTRY['b'])", 1),
        ("create_react_agent('m', tools=get_tools())", 1),
        ("create_react_agent('m', tools=await REGISTRY.tools(names))", 1),
        ("create_react_agent('m', tools=[shout, *REGISTRY])", 1),
        ("create_react_agent('m', tools=[shout] + [REGISTRY[n] for n in names])", 1),
        ("own.append(load); create_react_agent('m', tools=own)", 1),
        ("agent = create_react_agent('m', [shout]); agent.tools = [load]", 1),
        ("agent = create_react_agent('m', [shout]); agent.tools.append(load)", 1),
        ("FunctionTool.from_defaults(fn=load)", 1),
        ("StructuredTool.from_function(func=service.load)", 1),
        ("FastMCP.from_fastapi(app=FastAPI())", 1),
        ("FastMCP.from_openapi({}, client)", 1),
        ("ComponentTool(component=Part())", 1),
        ("openai.pydantic_function_tool(Site)", 1),
        ("RunnableLambda(load).as_tool()", 1),
        ("mcp.add_tool(shout)", 0),
        ("[mcp.add_tool(tool) for tool in tools]", 0),
        ("@mcp.tool(names.load)\n    def inner(q: str) -> str:\n        return q", 0),
        ("create_react_agent('m', tools=[shout, *tools])", 0),
        ("create_react_agent('m', tools=list(more))", 0),
        ("create_react_agent('m', tools=service.tools)", 0),
        ("create_react_agent('m', tools=[tool for tool in tools if tool.name])", 0),
        ("create_react_agent('m', tools=shouts())", 0),
        ("create_react_agent('m', tools=own)", 0),
        ("create_react_agent('m', tools=None)", 0),
        ("create_react_agent('m', [DuckDuckGoSearchRun(), WebSearchTool()])", 0),
        ("Team(own).agent()", 0),
    ],
)
def test_what_is_handed_over_and_cannot_be_found_is_counted(
    write: Write, run: Run, line: str, count: int
) -> None:
    top = write({"gllint.toml": "", "a.py": HANDED_OVER.replace("LINE", line)})
    assert unseen(run, top)["unregistered"] == count


REMOTE = """\
import json, openai, requests

MORE = [{"type": "function", "function": {"name": "heat", "parameters": {"type": "object"}}}]


def turn(messages):
    reply = openai.OpenAI().chat.completions.create(model="m", messages=messages, tools=MORE CHOICE)
    for call in reply.choices[0].message.tool_calls:
        url = "https://tools.example/" + call.function.name
        messages.append(requests.post(url, json=json.loads(call.function.arguments)).text)
"""


def test_a_tool_that_is_described_and_has_no_function_is_counted(write: Write, run: Run) -> None:
    top = write({"gllint.toml": "", "agent.py": REMOTE.replace(" CHOICE", "")})
    assert unseen(run, top) == figures(unregistered=1)
    said = run("check", cwd=top).stderr.decode()
    assert "Not checked: 1 tool under JSON descriptions whose function was not found (agent.py:7)." in said


def test_a_tool_that_the_model_is_made_to_call_is_the_form_of_its_answer(write: Write, run: Run) -> None:
    choice = ', tool_choice={"type": "function", "function": {"name": "heat"}}'
    top = write({"gllint.toml": "", "agent.py": REMOTE.replace(" CHOICE", choice)})
    assert unseen(run, top) == figures()


def test_a_model_with_more_defaults_than_can_be_followed_is_told(write: Write, run: Run) -> None:
    fields = "".join(f"    f{i}: float = {i}.5\n" for i in range(5000))
    source = "from agents import function_tool\nfrom pydantic import BaseModel\n\n\nclass Heat(BaseModel):\n"
    tool = "\n\n@function_tool\ndef heat(site: str) -> Heat:\n    return Heat()\n"
    done = run("check", "--fail-on-unseen", ".", cwd=write({"agent.py": source + fields + tool}))
    assert done.returncode == 1 and "Not checked: 1 (unknown result: agent.py:" in done.stderr.decode()
