"""What is kept of a project: after any edit a run says what one says that knows nothing, and asks little again."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gllint.files import discover
from gllint.run import index as indexing
from gllint.run.analysis_cache import AnalysisCache
from gllint.run.engine import Engine, Options, Outcome
from gllint.run.rules import check_file
from gllint.server.live import LiveEngine, LiveWorkspace
from gllint_rules import Finding
from gllint_rules.check.check import Check

Write = Callable[..., Path]

_TICKS = count(1)


def check(top: Path, named: str | None = None, *, keep: bool = True, fixes: bool = True) -> Outcome:
    """What a fresh engine finds, as another process would."""
    return Engine(Options(cache=keep, jobs=1, fixes=fixes)).check([str(top / named) if named else str(top)])


def put(path: Path, text: str) -> None:
    """Write a file anew, at a time of its own."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_text(text)
    tick = next(_TICKS)
    os.utime(path, ns=(tick, tick))


# Each file of the project in several versions; None where it is not there.
VERSIONS: Mapping[str, tuple[str | None, ...]] = {
    "plant/__init__.py": ("", None, "from plant.tools import meter\n"),
    "plant/tools.py": (
        "from crewai.tools import BaseTool\nfrom plant.helper import reading\nfrom plant.base import Base\n\n\n"
        "class Meter(BaseTool):\n    name: str = 'meter'\n\n    def _run(self, site):\n        return reading(site)\n\n\n"
        "class Boiler(Base):\n    name: str = 'boiler'\n\n    def _run(self, site):\n        return {'load': self.load()}\n\n\n"
        "meter = Meter()\nboiler = Boiler()\n",
        "from crewai.tools import BaseTool\nfrom .helper import *\n\n\nclass Gauge(BaseTool):\n    name: str = 'gauge'\n\n"
        "    def _run(self, site):\n        return {'deep': reading(site), 'rows': COUNT}\n\n\nmeter = Gauge()\n",
        "from plant.helper import reading\n\n\ndef meter(site):\n    return reading(site)\n",
        "class Broken(:\n",
        None,
    ),
    "plant/helper.py": (
        "from plant.deeper import level\n\nCOUNT = 4\n\n\ndef reading(site):\n    return {'level': level(site), 'site': site}\n",
        "COUNT = 'four'\n\n\ndef reading(site):\n    return {'value': 3, 'unit': 'kWh'}\n",
        "COUNT = 4\n\n\ndef reading(site):\n    return 3.5\n",
        "def reading(site:\n",
        None,
    ),
    "plant/deeper.py": (
        "def level(site):\n    return len(site)\n",
        "def level(site) -> str:\n    return str(site)\n",
        None,
    ),
    "plant/deeper/__init__.py": (None, "def level(site):\n    return 2.5\n"),
    "plant/base.py": (
        "from crewai.tools import BaseTool\n\n\nclass Base(BaseTool):\n    def load(self):\n        return 1.5\n",
        "class Base:\n    def load(self):\n        return 1.5\n",
        "from plant.tools import Meter as Base\n",
        None,
    ),
    "plant/schemas.py": (
        "SCHEMA = {'type': 'object', 'properties': {'a': {'type': 'number'}}}\nARGS = {'properties': {'x': {'type': 'number'}}}\n",
        "SCHEMA = {'type': 'object', 'properties': {'a': {'type': 'string'}}}\nARGS = {'properties': {'x': {'type': 'string'}}}\n",
        None,
    ),
    "plant/typed.py": (
        "from gllint_runtime import Tool\nfrom plant.schemas import ARGS, SCHEMA\nfrom plant.plain import area\n\n"
        "tool = Tool(name='area', args_schema=ARGS, result_schema=SCHEMA, fn=area)\n",
        "from gllint_runtime import Tool\nfrom plant.schemas import SCHEMA\nfrom plant.plain import area\n\n"
        "tool = Tool(name='areas', result_schema=SCHEMA, fn=area)\n",
        None,
    ),
    "plant/plain.py": (
        "from langchain_core.tools import tool\n\n\ndef area(x):\n    return {'a': x}\n\n\n@tool\ndef again(site: str) -> dict:\n    return area(site)\n",
        "def area(x):\n    return {'a': x * 2.5}\n",
        None,
    ),
    "use.py": (
        "from plant.tools import meter\nfrom gllint_runtime import ToolAction, dispatch_tool\n\n\ndef go():\n    return meter.run('x')\n\n\n"
        "def ask():\n    return dispatch_tool(ToolAction(name='meter', args={'site': 'x'}))\n",
        "from plant.tools import Meter\nfrom gllint_runtime import ToolAction\n\nMETER = Meter()\nACTION = ToolAction(name='boilr', args={'a': {}})\n",
        "from plant import meter\n\nFINAL_MESSAGE = 'It takes 9500 kWh.'\n\n\ndef go():\n    return meter.run('x')\n",
        None,
    ),
    "dispatch.py": (
        "def dispatch_tool(action):\n    return action\n",
        "from gllint_runtime import dispatch_tool\n",
        None,
    ),
    "registry.py": (
        "from plant.tools import meter\n\nTOOL_REGISTRY = {'meter': meter}\n",
        "TOOL_REGISTRY = {}\n",
        "from plant.typed import tool\n\nTOOL_REGISTRY = {'area': tool}\n\n\ndef ask(name):\n    return TOOL_REGISTRY.get('meters')\n",
        None,
    ),
    "agent.py": (
        "from agents import Agent\nfrom plant.plain import area\nfrom plant.helper import reading\n\nagent = Agent(tools=[area, reading])\n",
        "from somewhere import Agent\nfrom plant.plain import area\n\nagent = Agent(tools=[area])\n",
        None,
    ),
    "other/plant/helper.py": (None, "def reading(site):\n    return {'other': 7.5}\n"),
    "src/plant/helper.py": (None, "def reading(site):\n    return {'src': 8.5}\n"),
    ".gitignore": ("", "plant/deeper.py\n", "registry.py\nother/\n"),
    "pyproject.toml": (
        "",
        "[tool.gllint]\nplain-keys = ['level', 'a']\n",
        "[tool.gllint]\nextend-select = ['GL105', 'GL405']\n",
        "[tool.gllint]\ntool-classes = ['Base']\n",
    ),
}  # fmt: skip


def change(top: Path, chance: random.Random) -> None:
    """Edit, add, delete or move a file or two."""
    for name in chance.sample(sorted(VERSIONS), chance.choice((1, 1, 1, 2, 3))):
        path = top / name
        first, *others = VERSIONS[name]
        text = first if chance.random() < 0.7 else chance.choice(others)
        if text is None:
            path.unlink(missing_ok=True)
        else:
            put(path, text if chance.random() < 0.8 else text.replace("site", "place"))
    if chance.random() < 0.15:
        one, other = (top / name for name in chance.sample([n for n in VERSIONS if n.endswith(".py")], 2))
        if one.exists() and other.parent.is_dir():
            one.replace(other)


def begin(tmp_path: Path, chance: random.Random, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project as it is before any edit."""
    # Times are our own here, so that rows are trusted at once.
    monkeypatch.setattr(discover, "_FINE_CLOCK", -(10**12))
    monkeypatch.setattr(indexing, "_SMALL_PROJECT", chance.choice((0, 500)))
    top = tmp_path / "p"
    for name, (text, *_) in VERSIONS.items():
        if text is not None:
            put(top / name, text)
    return top


@pytest.mark.parametrize("seed", range(6))
def test_after_any_edit_it_says_what_a_run_says_that_knows_nothing(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(seed)
    top = begin(tmp_path, chance, monkeypatch)
    found = 0
    for _ in range(25):
        there = [name for name in VERSIONS if name.endswith(".py") and (top / name).exists()]
        named = chance.choice(there) if there and chance.random() < 0.4 else None
        fixes = chance.random() < 0.4
        warm, cold = check(top, named, fixes=fixes), check(top, named, keep=False, fixes=fixes)
        assert warm.findings == cold.findings
        assert (warm.failures, warm.notices, warm.checked) == ([], cold.notices, cold.checked)
        found += len(cold.findings)
        change(top, chance)
    assert found > 5


_TOOL = "from crewai.tools import BaseTool\nfrom plant.helper import reading\n\n\nclass Meter(BaseTool):\n    name: str = 'meter'\n\n    def _run(self, site):\n        return {'a': reading(site)}\n"
_ASK = "from gllint_runtime import ToolAction\n\nACTION = ToolAction(name='meter', args={})\n"
_RAW = "def reading(site):\n    return 3.5\n"
_PLAIN = "from langchain_core.tools import tool\n\n\ndef area(x):\n    return {'a': x}\n\n\n@tool\ndef again(site: str) -> dict:\n    return area(site)\n"
_TYPED = "from gllint_runtime import Tool\nfrom plain import area\n\ntool = Tool(name='area', args_schema={'properties': {'x': {'type': 'number'}}}, result_schema={}, fn=area)\n"


_REGISTRY = "KNOWN = []\n\n\ndef offered(fn):\n    KNOWN.append(fn)\n    return fn\n"
_GIVEN = "from reg import offered\n\n\n@offered\ndef load(x):\n    return {'a': 2.5}\n"
_SILENT = "import fastmcp\n\n\ndef offered(fn):\n    return fn\n"
_HANDS = "from langchain.agents import create_agent\nfrom reg import KNOWN\n\ncreate_agent('m', KNOWN)\n"
_REGISTERS = "import fastmcp\n\n\ndef offered(fn):\n    fastmcp.FastMCP('x').add_tool(fn)\n    return fn\n"


@pytest.mark.parametrize(
    ("files", "edit"),
    [
        ({"tools.py": _TOOL}, {"plant/helper.py": _RAW}),  # a module that was not there
        ({"tools.py": _TOOL, "lib/plant/helper.py": _RAW}, {"plant/helper.py": "def reading(site):\n    return site\n"}),
        ({"tools.py": _TOOL, "plant/helper.py": "from plant.deeper import reading\n"}, {"plant/deeper.py": _RAW}),
        ({"tools.py": _TOOL, "use.py": _ASK}, {"tools.py": _TOOL.replace("'meter'", "'gauge'")}),  # the name of a tool
        ({"app.py": _SILENT, "given.py": _GIVEN, "reg.py": _REGISTRY}, {"app.py": _HANDS}),  # what hands over what was given
        ({"given.py": _GIVEN, "reg.py": _SILENT}, {"reg.py": _REGISTERS}),
        ({"given.py": _GIVEN, "reg.py": "from agents import function_tool\n\noffered = print\n"}, {"reg.py": "from agents import function_tool\n\noffered = function_tool\n"}),
        ({"plain.py": _PLAIN}, {"typed.py": _TYPED}),  # what a tool elsewhere says of a function here
        ({"sub/tools.py": _TOOL.replace("plant.helper", "plant.deep.down.helper")}, {"sub/plant/deep/down/helper.py": _RAW}),  # in folders that were not there
        ({"sub/tools.py": _TOOL.replace("plant.helper", "plant.deep.helper"), "sub/plant/x.txt": ""}, {"sub/plant/deep/helper.py": _RAW}),
    ],
)  # fmt: skip
def test_what_a_file_rests_on_elsewhere_is_seen_to_change(
    files: dict[str, str], edit: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discover, "_FINE_CLOCK", -(10**12))
    top = tmp_path / "p"
    for name, text in {"pyproject.toml": "", **files}.items():
        put(top / name, text)
    before = check(top).findings
    assert check(top).findings == before
    for name, text in edit.items():
        put(top / name, text)
    after = check(top).findings
    assert after != before
    assert after == check(top, keep=False).findings


_ADDS = "        fastmcp.FastMCP('x').add_tool(fn)\n        return fn\n"


def test_a_fix_reads_no_file_that_is_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discover, "_FINE_CLOCK", -(10**12))
    read: set[str] = set()
    parse = indexing.parse
    monkeypatch.setattr(
        indexing, "parse", lambda path, *rest: (read.add(path.rpartition("/")[2]), parse(path, *rest))[1]
    )
    top = tmp_path / "p"
    put(top / "pyproject.toml", "")
    for name in "ab":
        tool = f"from langchain_core.tools import tool\n\n\n@tool\ndef {name}(x):\n    return {{'heat_kwh': {name}_of(x) * 2.5}}\n"
        put(top / f"{name}.py", f"{tool}\n\ndef {name}_of(x):\n    return 80.0\n")
        put(
            top / f"use_{name}.py", f"from {name} import {name}, {name}_of\n\nagent([{name}])\n{name}_of(3)\n"
        )
    put(
        top / "reg.py",
        f"import fastmcp\n\n\nclass Desk:\n    def offered(self, fn):\n{_ADDS}\n\ndesk = Desk()\n",
    )
    put(top / "given.py", "from reg import desk\n\n\n@desk.offered\ndef load(x):\n    return 'a'\n")
    check(top, fixes=False)
    read.clear()
    assert check(top, "a.py").findings[0].fix is not None  # the first one that anybody asks for
    assert read <= {"a.py"}
    for name in "aba":
        path = top / f"{name}.py"
        put(path, path.read_text() + "# more\n")
        read.clear()
        assert all(finding.fix is not None for finding in check(top, f"{name}.py").findings)
        assert read <= {f"{name}.py", f"use_{name}.py"}


def test_fixes_that_are_kept_are_found_without_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discover, "_FINE_CLOCK", -(10**12))
    put(tmp_path / "pyproject.toml", "")
    tool = "from langchain_core.tools import tool\n\n\n@tool\ndef heat(x):\n    return {'heat_kwh': heat_of(x) * 2.5}\n"
    put(tmp_path / "a.py", f"{tool}\n\ndef heat_of(x):\n    return 80.0\n")
    first = check(tmp_path)
    assert [finding.fix is not None for finding in first.findings] == [True]
    monkeypatch.setattr(indexing, "parse", lambda *_: pytest.fail("all of it is kept"))
    assert check(tmp_path).findings == first.findings


def test_what_some_rules_said_before_an_edit_holds_no_more_whatever_others_said_since(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discover, "_FINE_CLOCK", -(10**12))
    put(tmp_path / "pyproject.toml", "")
    put(tmp_path / "tools.py", _TOOL)
    put(tmp_path / "plant/helper.py", _RAW)

    def said_by(code: str) -> list[str]:
        options = Options(jobs=1, fixes=False, override=lambda config: config._replace(select=(code,)))
        return [finding.code for finding in Engine(options).check([str(tmp_path)]).findings]

    assert said_by("GL101") == ["GL101"]
    put(tmp_path / "plant/helper.py", "def reading(site):\n    return site\n")
    assert said_by("GL501") == []  # the evidence of all modules is that of now
    assert said_by("GL101") == []


def load(top: Path) -> tuple[LiveEngine, LiveWorkspace]:
    """The project as a server has it before anything is opened."""
    engine = LiveEngine(Options(jobs=1))
    engine.places.ask_about([str(top)])
    workspace = engine.live(engine.places.project(str(top)))
    workspace.load()
    return engine, workspace


@pytest.mark.parametrize("seed", range(4))
def test_an_editor_is_told_after_any_edit_what_a_run_says_that_knows_nothing(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(seed)
    top = begin(tmp_path, chance, monkeypatch)
    check(top, fixes=chance.random() < 0.5)
    if chance.random() < 0.5:
        change(top, chance)  # what is kept is not all true any more
    engine, workspace = load(top)
    there = [name for name in VERSIONS if name.endswith(".py") and (top / name).exists()]
    held: dict[str, bytes] = {}
    found = 0
    for _ in range(15):
        name = chance.choice(there)
        text = chance.choice([text for text in VERSIONS[name] if text is not None])
        for word in ("Meter", "site"):
            text = text.replace(word, f"{word}s") if chance.random() < 0.3 else text
        path = str(top / name)
        held[path] = text.encode()
        engine.put(path, held[path])
        list(workspace.settle())
        workspace.forget_results(path)
        cold = Engine(Options(cache=False, jobs=1, fixes=False))
        for other, data in held.items():
            cold.sources.put(other, data)
        expected = [f for f in cold.check([str(top), path]).findings if f.path == path]  # it is open: named
        assert [*map(shown, engine.conclude(path).findings)] == [*map(shown, expected)]
        found += len(expected)
    assert found > 2


def shown(finding: Finding) -> tuple[Any, ...]:
    return finding.code, finding.span, finding.message, finding.help


def test_an_import_brings_functions_of_the_file_that_it_leads_to_near_to_a_description(
    tmp_path: Path, description: str, dispatch: str
) -> None:
    put(tmp_path / "pyproject.toml", "")
    put(tmp_path / "agent.py", description)
    put(tmp_path / "jobs.py", dispatch)
    engine, workspace = load(tmp_path)
    importing = f"from jobs import Jobs\n{description}"
    for text, number in (
        (description.replace("'m'", "'n'"), 0),
        (importing, 1),
        (description, 0),
        (importing, 1),
    ):
        engine.put(str(tmp_path / "agent.py"), text.encode())
        list(workspace.settle())
        workspace.forget_results(str(tmp_path / "jobs.py"))  # as a session does before it publishes a file
        assert len(engine.conclude(str(tmp_path / "jobs.py")).findings) == number


def test_an_editor_reads_what_is_open_and_what_that_leads_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discover, "_FINE_CLOCK", -(10**12))
    monkeypatch.setattr(indexing, "_SMALL_PROJECT", 0)
    read: list[str] = []
    parse = indexing.parse
    monkeypatch.setattr(
        indexing, "parse", lambda path, *rest: (read.append(path.rpartition("/")[2]), parse(path, *rest))[1]
    )
    top = tmp_path / "p"
    put(top / "pyproject.toml", "")
    for name in "abcd":
        put(top / f"{name}.py", _TOOL.replace("plant.", f"{name}_").replace("Meter", f"Meter{name.upper()}"))
        put(top / f"{name}_helper.py", _RAW)
    put(top / "b.py", (top / "b.py").read_text() + "\n\nturbine = Turbine('b')\n")
    check(top)
    read.clear()
    engine, workspace = load(top)
    assert read == []
    path = str(top / "a.py")
    for text in (_TOOL, _TOOL.replace("Meter", "Gauge"), f"{_TOOL}{_TOOL}".replace("Meter", "Gauges", 1)):
        # The name of a tool's class is one that all other files are asked about.
        engine.put(path, text.replace("plant.", "a_").encode())
        workspace.forget_results(path)
        assert [f.code for f in engine.conclude(path).findings] == ["GL101"] * text.count("reading(site)")
        list(workspace.settle())
    assert set(read) == {"a.py", "a_helper.py"}
    engine.put(path, _TOOL.replace("plant.", "a_").replace("Meter", "Turbine").encode())
    list(workspace.settle())
    assert set(read) >= {"b.py"}  # which holds that name
    # A file that comes may change what any import leads to.
    engine.put(str(top / "e.py"), _TOOL.replace("plant.", "a_").replace("Meter", "MeterE").encode())
    list(workspace.settle())
    assert {"c.py", "d.py"}.isdisjoint(read)


def test_a_run_that_keeps_nothing_prepares_nothing_to_keep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "pyproject.toml", "[tool.gllint]\n")
    for name, versions in VERSIONS.items():
        put(tmp_path / name, versions[0] or "")
    expected = check(tmp_path, keep=False)
    assert expected.findings
    monkeypatch.setattr(indexing.Index, "save", lambda *_: pytest.fail("nothing is kept"))
    assert check(tmp_path, keep=False).findings == expected.findings


def test_what_was_known_before_a_file_was_broken_holds_once_it_is_mended(tmp_path: Path) -> None:
    put(tmp_path / "pyproject.toml", "")
    tool = (
        '\n\n@function_tool\ndef load_{0}(site: str):\n    found = {{"load": len(site)}}\n    return found\n'
    )
    text = "from agents import function_tool\n" + "".join(tool.format(number) for number in range(20))
    put(tmp_path / "a.py", text)
    put(
        tmp_path / "b.py", "from agents import Agent\nfrom a import load_1\n\nagent = Agent(tools=[load_1])\n"
    )
    engine, workspace = load(tmp_path)
    path = str(tmp_path / "a.py")

    def said_of(text: str) -> tuple[int, list[str]]:
        engine.put(path, text.encode())
        evaluator = workspace.index.project.evaluator
        before = evaluator.total_steps
        workspace.forget_results(path)
        codes = [finding.code for finding in engine.conclude(path).findings]
        return evaluator.total_steps - before, codes

    first, codes = said_of(f"{text}# begun\n")
    assert codes == ["GL101"] * 20
    said_of(text.replace("len(site)", "len(site) + 0", 1))  # the first edit of anything but a comment
    for broken in ("len((site)", "len((site, ", "len((si te)"):
        assert said_of(text.replace("len(site)", broken, 1)) == (0, ["GL900"])
    steps, codes = said_of(text.replace("len(site)", "len((site))", 1))
    assert codes == ["GL101"] * 20
    assert first > 250 and steps < 160


def test_a_broken_file_that_comes_to_matter_otherwise_is_followed(tmp_path: Path) -> None:
    put(tmp_path / "pyproject.toml", "")
    put(
        tmp_path / "a.py",
        "from agents import function_tool\nfrom b import load\n\n\n@function_tool\ndef f(x):\n    return {'load': load(x)}\n",
    )
    put(tmp_path / "b.py", "def load(x):\n    return len(x)\n")
    engine, workspace = load(tmp_path)
    tool = "from agents import function_tool\n\n\n@function_tool\ndef load(x):\n    return len(x)\n"
    for text, codes in (
        ("def load(x):\n    return str(x)\n", []),
        (tool, ["GL101", "GL101"]),
        (f"{tool}(", ["GL900"]),
        (f"{tool}((", ["GL900"]),
        ("def load(x):\n    return len(x)\n", ["GL101"]),
        ("def load(x):\n    return str(x)\n", []),
    ):
        engine.put(str(tmp_path / "b.py"), text.encode())
        found: list[str] = []
        for path in (str(tmp_path / "a.py"), str(tmp_path / "b.py")):
            workspace.forget_results(path)
            found += (finding.code for finding in engine.conclude(path).findings)
        assert found == codes


def test_a_comment_asks_no_rule_and_is_followed_in_every_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "pyproject.toml", "")
    put(
        tmp_path / "a.py",
        "from agents import function_tool\n\nFACTOR = 2.5\n\n\n@function_tool\ndef heat(site: str) -> dict:\n"
        "    used = len(site) * FACTOR\n    return {'heat': used}\n\n\nSCHEMA = {'kwh': 3.5}\n",
    )
    put(
        tmp_path / "b.py",
        "from agents import function_tool\nfrom a import SCHEMA\n\n\n@function_tool\ndef other(x):\n    return SCHEMA\n",
    )
    check(tmp_path, fixes=False)
    engine, workspace = load(tmp_path)
    path, other = str(tmp_path / "a.py"), str(tmp_path / "b.py")
    texts = {file: Path(file).read_text() for file in (path, other)}

    def said() -> list[tuple[Any, ...]]:
        found: list[Finding] = []
        for file, text in texts.items():
            engine.put(file, text.encode())
            workspace.forget_results(file)
            found += engine.conclude(file).findings
        return [*map(shown, found)]

    def said_anew() -> list[tuple[Any, ...]]:
        cold = Engine(Options(cache=False, jobs=1, fixes=False))
        for file, text in texts.items():
            cold.sources.put(file, text.encode())
        return [*map(shown, cold.check([str(tmp_path)]).findings)]

    assert len(said()) == 2
    list(workspace.settle())
    assert said() == said_anew()
    asked: list[str] = []
    make = Check.__init__
    monkeypatch.setattr(
        Check,
        "__init__",
        lambda self, project, file, codes: (asked.append(file), make(self, project, file, codes))[1],
    )
    for old, new in (
        ("\nFACTOR", "\n# what a site\n# takes\nFACTOR"),
        ("    used", "    # of it all\n\n    used"),
        ("FACTOR\n    return", "FACTOR  # in all\n    return"),
        ("\n\nSCHEMA", "\n\n# kept\nSCHEMA"),
    ):
        texts[path] = texts[path].replace(old, new, 1)
        now = said()
        list(workspace.settle())
        assert asked == []
        assert now == said() == said_anew()
        asked.clear()
    texts[path] = texts[path].replace("'heat': used", "'heat': site")
    assert len(said()) == 1 and asked
    sound = texts[path]
    for text in (sound.replace("{'kwh'", "{('kwh'"), sound.replace("\n\nSCHEMA", "\n# mended\n\nSCHEMA")):
        texts[path] = text
        said()
        list(workspace.settle())
    assert said() == said_anew()


def test_a_lone_surrogate_in_an_entry_is_no_answer() -> None:
    def part(project: str, to: str) -> int: ...

    cache = object.__new__(AnalysisCache)
    name = f"{part.__module__}.{part.__qualname__}"
    entries = ["a", {"a.py": "\udcff"}], ["b", {"a.py": 5}]
    cache._facts = SimpleNamespace(parts={name: entries})  # type: ignore[assignment]
    cache.fresh = dict.fromkeys(["a.py"])  # type: ignore[assignment]
    assert list(cache.part_values(part)) == [("b", {"a.py": 5})]


def test_an_index_has_a_project_once_the_files_were_chosen_and_joined(tmp_path: Path) -> None:
    put(tmp_path / "pyproject.toml", "")
    put(
        tmp_path / "a.py",
        "from agents import function_tool\n\n\n@function_tool\ndef f(x):\n    return {'load': 5}\n",
    )
    engine = LiveEngine(Options(jobs=1))
    engine.places.ask_about([str(tmp_path)])
    index = engine.live(engine.places.project(str(tmp_path))).index
    assert not index.has_project
    assert index.candidates() and index.project.modules
    assert index.has_project
    assert not index._holds(index.project, ["/none.py"])
    index.forget_project()
    assert not index.has_project
    put(tmp_path / "none" / "pyproject.toml", "")
    put(tmp_path / "none" / "a.py", "x = 1\n")
    index = engine.live(engine.places.project(str(tmp_path / "none"))).index
    assert index.candidates() == {} and not index.has_project


def test_a_file_that_only_an_answer_reads_is_known_to_be_broken_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "pyproject.toml", "[tool.gllint]\nexclude = ['lib']\n")
    put(tmp_path / "a.py", "from agents import function_tool\n\n\n@function_tool\ndef f(x):\n    return 5\n")
    put(tmp_path / "lib/b.py", "def load(:\n")
    save = indexing.Index.save

    def saved(index: indexing.Index, results: Any = None) -> None:
        def find_answers(*_: Any) -> None:
            path = index.project.imports.find_module(str(tmp_path / "a.py"), "lib.b")
            assert path is not None and index.project.imports.module_at(path) is None

        monkeypatch.setattr(index.analysis_cache, "find_answers", find_answers)
        save(index, results)

    monkeypatch.setattr(indexing.Index, "save", saved)
    check(tmp_path, fixes=False)
    index = load(tmp_path)[1].index
    assert index.project.modules and index.incomplete_files() == {
        str(tmp_path / "lib/b.py"): "cannot be parsed"
    }


_CALLS = (
    "from agents import function_tool\nfrom b import load\n\n\n@function_tool\ndef f(x):\n"
    "    return {'load': load(x)}\n"
)
_LOADS = "def load(x):\n    rows = [x]\n    return len(rows)\n"


def edited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_kept: bool, **texts: str) -> Any:
    """The project of some files as a server has it, whether it was checked before or not."""
    monkeypatch.setattr(discover, "_FINE_CLOCK", -(10**12))
    put(tmp_path / "pyproject.toml", "")
    for name, text in texts.items():
        put(tmp_path / f"{name}.py", text)
    if is_kept:
        check(tmp_path, fixes=False)
    return load(tmp_path)


@pytest.mark.parametrize("is_kept", [False, True])
def test_what_rests_on_a_file_follows_it_while_it_is_broken_and_mended(
    is_kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = f"from agents import function_tool\n\n\n@function_tool\n{_LOADS}"
    engine, _ = edited(tmp_path, monkeypatch, is_kept, a=_CALLS, b=tool)
    numbers: list[int] = []
    for text in (
        f"{tool}(", f"\n\n{tool}((", tool, tool.replace("len", "str"), f"{tool}(", f"{tool}# mended\n",
        _LOADS, f"{_LOADS}(", f"\n{_LOADS}(", _LOADS,
    ):  # fmt: skip
        engine.put(str(tmp_path / "b.py"), text.encode())
        cold = Engine(Options(cache=False, jobs=1, fixes=False))
        cold.sources.put(str(tmp_path / "b.py"), text.encode())
        expected = cold.check([str(tmp_path), str(tmp_path / "b.py")]).findings
        found = [
            finding for name in "ab" for finding in engine.conclude(str(tmp_path / f"{name}.py")).findings
        ]
        assert [*map(shown, found)] == [*map(shown, expected)]
        numbers.append(len([finding for finding in found if finding.code == "GL101"]))
    assert numbers == [0, 0, 2, 0, 0, 2, 1, 0, 0, 1]


def test_what_is_kept_of_a_file_holds_no_more_once_what_it_leads_to_was_edited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, workspace = edited(
        tmp_path, monkeypatch, True, a=_CALLS, b=_LOADS, c=_CALLS.replace("from b", "from c"), d=f"{_CALLS}("
    )
    index = workspace.index
    paths = {name: str(tmp_path / f"{name}.py") for name in "abcd"}
    assert index.analysis_cache.fresh.keys() >= {*paths.values()} and not index.parsed
    engine.put(paths["b"], _LOADS.replace("len", "str").encode())
    assert {paths["a"], paths["b"]}.isdisjoint(index.analysis_cache.fresh)
    assert paths["c"] in index.analysis_cache.fresh
    engine.conclude(paths["a"])
    project = index.project
    engine.put(paths["a"], _CALLS.replace("'load'", "'loads'").encode())
    assert index.project is project  # all of its modules are those that take part


def test_files_that_an_edit_has_take_part_stand_in_their_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, workspace = edited(tmp_path, monkeypatch, False, a="x = 1\n", b=_LOADS, c=_CALLS, d=_CALLS)
    index = workspace.index
    for name in "a", "c", "a":
        is_there = str(tmp_path / "a.py") in index.candidates()
        text = "x = 1\n" if name == "a" and is_there else _CALLS.replace("'load'", "'loads'")
        engine.put(str(tmp_path / f"{name}.py"), text.encode())
        assert [*index.candidates()] == sorted(index.candidates())
        assert (str(tmp_path / "a.py") in index.candidates()) is (is_there if name == "c" else not is_there)
    assert not index._sound  # which is of broken files alone
    engine.put(str(tmp_path / "c.py"), f"{_CALLS}(".encode())
    assert index._sound.keys() == {str(tmp_path / "c.py")}
    engine.put(str(tmp_path / "c.py"), f"{_CALLS}((".encode())
    assert index.renew({str(tmp_path / "c.py")}) == {
        str(tmp_path / "c.py")
    }  # nothing else said anything since


def test_what_is_found_out_beside_an_edit_is_not_remembered_over_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads = "\n\n" + _LOADS.replace("[x]", "[read(x)]") + "\n\ndef read(x):\n    return sum([x])\n"
    texts = {name: _CALLS.replace("from b import load\n", loads) for name in "abcd"}
    engine, workspace = edited(tmp_path, monkeypatch, False, **texts)
    index = workspace.index
    edits = count()

    def steps(name: str) -> int:
        evaluator = index.project.evaluator
        before: int = evaluator.total_steps
        check_file(index, str(tmp_path / f"{name}.py"), False)
        steps: int = evaluator.total_steps - before
        return steps

    def edit() -> None:
        text = texts["c"].replace("rows", f"rows_{next(edits)}")
        engine.put(str(tmp_path / "c.py"), text.encode())

    edit()
    many = steps("a")
    few = 17  # a quarter of what the first look asked before units were read on demand, and two steps
    assert many > 2 * few
    for is_last in (False, False, True):  # as between the files that are not open
        index.renew_aside(is_last)
        assert steps("a") < few < steps("b") and steps("b") < few
    edit()
    assert steps("a") < few and steps("b") < few  # what was found out since is remembered
    index.renew_aside(False)
    assert steps("a") < few < steps("d")
    edit()  # in between
    assert steps("a") < few < steps("d")
    edit()
    assert steps("a") < few and steps("d") < few
