"""The byte screen loses nothing, however a file is formatted, and whatever way a tool takes to its user."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gllint_rules import Settings
from gllint_rules.words.screen import Screen
from harness import Case, cases, checked, places, run

FILES = sorted((Path(__file__).parent / "cases").glob("*.md"))
CASES = [
    pytest.param(case, id=f"{path.stem}-{re.sub(r'[^0-9a-zA-Z]+', '-', case.title).strip('-')}")
    for path in FILES
    for case in cases(path)
    if case.expected()
]


@pytest.mark.parametrize("case", CASES[::6])
def test_formatting_plays_no_part(case: Case, tmp_path: Path) -> None:
    odd = replace(case, files={path: oddly_formatted(text) for path, text in case.files.items()})
    expected = places(run(odd))
    assert expected != []
    assert checked(odd, tmp_path) == expected


_CLASS = """from crewai.tools import BaseTool


class Meter(BaseTool):
    name: str = "meter"

    def _run(self, site: str) -> str:
        return read(site)
"""
_FUNCTION = """from langchain_core.tools import tool


@tool
def reading(site: str) -> str:
    return read(site)
"""
_BASE = "from crewai.tools import BaseTool\n\n\nclass Base(BaseTool):\n    pass\n"
_NUMERIC = "\n\nclass Depth({}):\n    def _run(self):\n        return 3.5\n"
# How a tool comes from the file that defines it to the file that misuses it; the last file has the finding.
CHAINS = {
    "imported": {"a.py": _FUNCTION, "b.py": "from a import reading\n\nreading.invoke('x')\n"},
    "attribute of its module": {"a.py": _FUNCTION, "b.py": "import a as m\n\nm.reading.invoke('x')\n"},
    "two star imports": {
        "a.py": _FUNCTION,
        "b.py": "from a import *\n",
        "c.py": "from b import *\n\nreading.invoke('x')\n",
    },
    "re-exported under another name": {
        "a.py": _FUNCTION,
        "b.py": "from a import reading as gauge\n",
        "c.py": "from b import gauge\n\ngauge.invoke('x')\n",
    },
    "instance made in a file between": {
        "a.py": _CLASS,
        "b.py": "from a import Meter\n\nmeter = Meter()\n",
        "c.py": "from b import meter\n\nmeter.run('x')\n",
    },
    "list made in a file between": {
        "a.py": _CLASS,
        "b.py": "from a import Meter\n\nTOOLS = [Meter()]\n",
        "c.py": "from b import TOOLS\n\nfor each in TOOLS:\n    each.run('x')\n",
    },
    "attribute of a class": {
        "a.py": _CLASS,
        "b.py": "from a import Meter\n\n\nclass App:\n    meter = Meter()\n",
        "c.py": "from b import App\n\nApp().meter.run('x')\n",
    },
    "made by a function": {
        "a.py": f"{_CLASS}\n\ndef make() -> Meter:\n    return Meter()\n",
        "b.py": "from a import make\n\nmake().run('x')\n",
    },
    "registry made in another file": {
        "a.py": "from runtime import ToolRegistry\n\nTOOLS = ToolRegistry()\n",
        "b.py": "from a import TOOLS\n\nTOOLS.get('x').run('x')\n",
    },
    "base class without a method": {"a.py": _BASE, "b.py": f"from a import Base\n{_NUMERIC.format('Base')}"},
    "given to a decorator of another file": {
        "a.py": "import fastmcp\n\nmcp = fastmcp.FastMCP('x')\n\n\ndef offered(fn):\n    mcp.add_tool(fn)\n    return fn\n",
        "b.py": "from a import offered\n\n\n@offered\ndef load(x):\n    return 2.5\n",
    },
    "decorated by another name of a decorator": {
        "a.py": "from agents import function_tool\n\nmodel_tool = function_tool\n",
        "b.py": "from a import model_tool\n",
        "c.py": "from b import model_tool\n\n\n@model_tool\ndef load(x):\n    return 2.5\n",
    },
    "given to a method of an instance": {
        "a.py": "import fastmcp\n\n\nclass Server:\n    def offer(self, fn):\n        fastmcp.FastMCP('x').add_tool(fn)\n\n\n"
        "server = Server()\n",
        "b.py": "from a import server\n\n\ndef load(x):\n    return 2.5\n\n\nserver.offer(load)\n",
    },
    "listed below a class of another file": {
        "a.py": "from langchain.agents import create_agent\n\n\nclass Crew:\n    def build(self):\n"
        "        return create_agent('m', self.more())\n\n    def more(self):\n        return []\n",
        "b.py": "from a import Crew\n\n\nclass Night(Crew):\n    def more(self):\n        return [load]\n\n\n"
        "def load(x):\n    return 2.5\n",
    },
    "base class of a base class": {
        "a.py": _CLASS,
        "b.py": "from a import Meter\n\n\nclass Gauge(Meter):\n    pass\n",
        "c.py": f"from b import Gauge\n{_NUMERIC.format('Gauge')}",
    },
}


@pytest.mark.parametrize(
    "files",
    [pytest.param(files, id=name.replace(" ", "-")) for name, files in CHAINS.items()],
)
def test_tools_are_followed_through_files(files: dict[str, str], tmp_path: Path) -> None:
    case = Case("chain", files, {})
    expected = places(run(case))
    assert [place.path for place in expected] == [max(files)]
    assert checked(case, tmp_path) == expected


def oddly_formatted(source: str) -> str:
    """The same program with the other quotes, blanks around its operators and breaks after its brackets."""
    try:
        compile(source, "source", "exec", dont_inherit=True)
    except SyntaxError:
        pytest.skip("syntax of a newer Python")
    lines = io.StringIO(source).readlines()  # a form feed ends no line
    for found in reversed([*_outside_format_strings(source)]):
        (row, start), (end_row, end) = found.start, found.end
        if row != end_row or not found.string:
            continue
        line = lines[row - 1]
        lines[row - 1] = line[:start] + _odd(found) + line[end:]
    odd = "".join(lines)
    compile(odd, "odd", "exec", dont_inherit=True)
    return odd


def _outside_format_strings(source: str) -> Iterator[tokenize.TokenInfo]:
    inside = 0
    for found in tokenize.generate_tokens(io.StringIO(source).readline):
        name = tokenize.tok_name[found.type]
        inside += (name == "FSTRING_START") - (name == "FSTRING_END")
        if not inside:
            yield found


def _odd(found: tokenize.TokenInfo) -> str:
    text = found.string
    if found.type == tokenize.STRING and re.fullmatch(r"""(?!\"\"\")"[^"'\\]*\"""", text):
        return f"'{text[1:-1]}'"
    before = "" if not found.line[: found.start[1]].strip() else " "
    if text in ("(", "["):
        return f"{before}{text}  # odd\n "
    return f"{before}{text} " if text in (".", "=", ":", ",", "@") else text


@pytest.mark.parametrize(
    ("source", "passes"),
    [
        ("from agents.meter import read\n\n# Agent of the meter, an Agent\nread(1)\n", False),
        ("from agents import Agent\n", True),
        ("import agents\n\nmake = agents.Agent # one\n", True),
        ("from agents import (\n    Agent # one\n)\n", True),
        ("from browser_use import controller\n\n@controller.action\ndef read(): ...\n", True),
        ("import yaml\n\nself.tools.clean(x)\n", False),
        ("import yaml\n\nself. tools .append(read)\n", True),
        ("text('Tool then meter', description='Tool/meter')\nmeter.run('x')\n", False),
        ("def use(meter: Tool if x else None):\n    meter.run('x')\n", True),
        ("def use(meter: 'Tool | None'):\n    meter.run('x')\n", True),
        # Paths of texts: of templates, of what is said, of data that hold messages; where something is read.
        ("text = render('mail.j2')\n", True),
        ("text = Path('report.md').read_text()\n", True),
        ("Path('report.md').write_text(text)\n", False),
        ("Path('report.md').write_text(text)\nrows = json.loads(text)\n", False),
        ("open('report.md', 'w').write(Path(name).read_text())\n", False),
        ("(tmp / 'mail.j2').write_text(text)\n", False),
        ("assert 'summary.md' in pack.read_text()\n", False),
        ("rows = json.load(open('results.json'))\n", False),
        ("texts = json.load(open('messages.json'))\n", True),
    ],
)
def test_what_cannot_concern_a_rule_is_not_parsed(source: str, passes: bool) -> None:
    assert Screen(Settings()).passes(source.encode()) is passes


@pytest.mark.parametrize(
    ("source", "uses"),
    [
        ("from plant.app import server\n\nserver.offer(load)\n", True),
        ("from plant import app\n\n@app . offer\ndef load(): ...\n", True),
        ("from plant.app import *\n\n@ offer\ndef load(): ...\n", True),
        ("from plant.app import server as s\n\ns.offer \\\n (load)\n", True),
        ("from plant.app import offer as o\n\n@o\ndef load(): ...\n", True),
        ("from plant.app import Crew\n\nclass Night (\n  Crew,\n): ...\n", True),
        ("from plant.app import Crew\n\nclass Night[T](Crew): ...\n", True),
        ("from plant.app import server, offer\n\noffer\n", False),  # gives it nothing
        ("from plant.app import server\n\nserver.start()\n", False),
        ("from plant.app import Crew\n\nCrew.night()\n", False),
        ("from market import shop\n\nshop.offer(load)\n", False),  # imports another one
    ],
)
def test_who_gives_functions_to_another_file_is_parsed(source: str, uses: bool) -> None:
    pairs = (("app", "offer"), ("server", "offer"), ("offer", "offer"), ("Crew", "Crew"))
    needles = frozenset((name.encode(), use.encode()) for name, use in pairs)
    assert Screen(Settings()).uses(source.encode(), needles) is uses


@pytest.mark.parametrize("part", ["@", "class a(", "@a.", "class\n", "offer\\\n", "@offe "])
def test_the_look_for_who_gives_functions_is_linear(part: str) -> None:
    source = f"from app import *\n{part * 100_000}".encode()
    assert not Screen(Settings()).uses(source, frozenset({(b"app", b"offer")}))
