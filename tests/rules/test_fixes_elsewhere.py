"""A fix is safe only where every use in the project is seen to stay right, files that the screen refused included."""

from __future__ import annotations

import ast

import pytest

from gllint_rules import Finding
from gllint_rules.check.check import check
from gllint_rules.project.mentions import File
from gllint_rules.project.project import Project
from gllint_rules.reading.modules import read_module
from gllint_rules.words.settings import Settings
from harness import Case, run

TOOLS = """from langchain_core.tools import tool


@tool
def heat(site):
    return {"site": site, "heat_kwh": survey(site) * 80.0}
"""
CLASS = """from crewai.tools import BaseTool


class Meter(BaseTool):
    name: str = "meter"

    def _run(self, site):
        return {"heat_kwh": survey(site) * 80.0}
"""
UNIT = """from langchain_core.tools import tool


@tool
def heat(site):
    return {"heat": {"value": survey(site) + 1, "unit": "kwh"}}
"""


def safety(
    code: str, *parts: str, at: str = "plant/more.py", seen: bool = True, tools: str = TOOLS
) -> set[str]:
    """How sure the fixes of ``code`` are in ``tools``, beside a file made of ``parts``."""
    files = {"plant/__init__.py": "", "plant/tools.py": tools}
    more = {at: "\n".join(parts)}
    case = Case("uses", files | more if seen else files, {}, {} if seen else more)
    found = [f for f in run(case) if isinstance(f, Finding) and f.code == code]
    assert found
    return {f.fix.applicability if f.fix is not None else "none" for f in found}


USES = [
    "import plant.tools as t\nlost = t.heat('a')['heat_kwh'] * 2",
    "from plant.tools import heat\nif heat('a')['heat_kwh'] > 3:\n    stop()",
    "from plant.tools import heat\nprint(f\"{heat('a')['heat_kwh']:.1f}\")",
    "from plant.tools import heat\ndata = heat('a')\ntotal += data['heat_kwh']",
    "from plant.tools import heat\nsite, kwh = heat('a').values()",
    "from plant.tools import heat\nshow(**heat('a'))",
    "from plant.tools import heat\nheat('a').get('heat_kwh')",
    "from plant.tools import heat\nrows = [heat(s) for s in sites]",
    "from plant.tools import heat\nresult = heat('a')\ntotal = sum(v for v in result.values())",
    "from plant.tools import heat as warmth\nwarmth('a')",
    "from plant.tools import heat\nheat.invoke({'site': 'a'})",
    "from plant.tools import heat\nheat.func('a')",
    "from plant.tools import heat\nrows = map(heat, sites)",
    "from plant.tools import heat\nrun = heat\n\n\ndef total(sites):\n    return sum(map(run, sites))",
    "from plant.tools import heat\nRUNS = {'a': heat}\nRUNS['a']('b')",
    "from plant.tools import heat\nassert heat('a')['heat_kwh'] == 3",
    "from plant.tools import *\nheat('a')",
    "from plant import tools\ngetattr(tools, 'heat')('a')",
    "from plant import tools\ntools.heat('a')",
    "import plant\nplant.tools.heat('a')",
    "import importlib\nimportlib.import_module('plant.tools').heat('a')['heat_kwh']",
    "__all__ = ['heat']\nfrom plant.tools import heat",
    "x = client.call('y')\nx['heat_kwh'] * 2",
    "x = json.loads(text)\nmatch x:\n    case {'heat_kwh': kwh}:\n        print(kwh)",
    "for name in ('heat_kwh', 'loss_kwh'):\n    total += found[name]",
    "FACTORS = {'heat_kwh': 0.3}",
    "text = '{heat_kwh:.1f} kWh'.format(**found)",
    "text = '%(heat_kwh)s' % found",
    "value = jmespath.search('result.heat_kwh', found)",
    "class Heat(BaseModel):\n    site: str\n    heat_kwh: float",
    "from operator import itemgetter\nrank = sorted(rows, key=itemgetter('heat_kwh'))",
    "client.call_tool('heat', {'site': 'a'})",
    "found['heat_kwh'] += 1",
    "x = found['heat_kwh']['value']",
    "def f(:\n    heat_kwh",
    "import plant.tools as t\nfor name in NAMES:\n    add(getattr(t, name)('a').values())",
    "from plant import tools\nrows = [f('a') for f in vars(tools).values() if callable(f)]",
    "import inspect\nfrom plant import tools\nrows = inspect.getmembers(tools)",
    "from plant import tools\nadd(*tools.__dict__.values())",
    "import sys\nsum(sys.modules['plant.tools'].heat('a').values())",
    "import sys\nsum(run('a').values() for run in sys.modules[name].TOOLS)",
    "from importlib import import_module\nadd(import_module('plant.tools').run('a').values())",
    "from importlib import import_module\nadd(import_module(f'plant.{name}').run('a').values())",
    "add(__import__('plant.tools', fromlist=['x']).run('a').values())",
    "import runpy\nadd(runpy.run_path('plant/tools.py'))",
    "exec('from plant.tools import heat\\nadd(heat(1))')",
    'def f():\n    """\n    >>> sum(heat("a").values())\n    80.0\n    """',
]
NO_USES = [
    "from plant.tools import heat\nagent = Agent(tools=[heat])",
    "from plant.tools import heat\nTOOLS = [heat]",
    "from plant.tools import heat\nserver.add_tool(heat)",
    "from plant.tools import heat\nprint(heat.name)",
    "import plant.tools as t\nagent = Agent('m', tools=[t.heat])",
    "from plant.tools import heat\n\n\ndef make_tools():\n    return [heat]",
    "from plant.tools import heat\n\n\ndef f(heat):\n    return heat['loss']",
    "def plan(site, heat_kwh):\n    heat = heat_kwh + 1\n    return heat",
    "def plan(site):\n    heat_kwh = 2\n    return {'heat_kwh': heat_kwh}",
    "def heat(x):\n    return x\n\n\nheat(3)",
    "class A:\n    def f(self):\n        return self.heat_kwh\n    heat_kwh = property(f)",
    "found['heat_kwh'] = 3",
    '"""What heat_kwh means."""\nprompt = "Say heat_kwh in one sentence"',
    "schema = {'properties': {'heat_kwh': {'type': 'object'}}}",
    "path = '$.heat_kwh'",
    "make(heat_kwh=3)",
    "# heat_kwh and heat\n",
    "import sys\nimport importlib\nsys.modules['other']\nimportlib.import_module('other.thing')",
    "from plant import tools\n\n\ndef f(row, name):\n    return getattr(row, name), vars(row), tools.__name__",
    'def f():\n    """\n    >>> f()\n    80.0\n    """',
]
TEST_USES = [
    "from plant.tools import heat\n",
    "def test_it(client):\n    client.call_tool('heat')\n",
    "assert found == {'heat_kwh': 3}",
]


@pytest.mark.parametrize("seen", [True, False])
@pytest.mark.parametrize("use", USES)
def test_a_use_of_the_number_makes_it_unsafe(use: str, seen: bool) -> None:
    if seen and "(:" in use:
        pytest.skip("a file that does not parse has no facts")
    assert safety("GL101", use, seen=seen) <= {"unsafe", "none"}


@pytest.mark.parametrize("seen", [True, False])
@pytest.mark.parametrize("other", NO_USES)
def test_what_does_not_look_at_the_number_leaves_it_safe(other: str, seen: bool) -> None:
    assert safety("GL101", other, seen=seen) == {"safe"}


@pytest.mark.parametrize("seen", [True, False])
@pytest.mark.parametrize("use", TEST_USES)
def test_a_test_that_looks_makes_it_unsafe(use: str, seen: bool) -> None:
    assert safety("GL101", use, seen=seen, at="tests/test_heat.py") == {"unsafe"}


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        ("from plant.tools import Meter\nAgent(tools=[Meter()])", "safe"),
        ("from plant.tools import Meter\nmeter = Meter()\nAgent(tools=[meter])", "safe"),
        ("from plant.tools import Meter\nmeter = Meter()\nmeter.run('a')", "unsafe"),
        ("from plant.tools import Meter\nMeter()._run('a')['heat_kwh'] * 2", "unsafe"),
        ("from plant.tools import Meter\nsum(Meter()('a').values())", "unsafe"),
    ],
)
@pytest.mark.parametrize("seen", [True, False])
def test_tool_classes(use: str, expected: str, seen: bool) -> None:
    found = safety("GL101", use, seen=seen, tools=CLASS)
    assert found == {expected} or (expected == "unsafe" and found == {"none"})


@pytest.mark.parametrize(
    "use",
    [
        'if u["unit"] == "kwh":\n    pass',
        'FACTORS = {"kwh": 1.0}',
        'x = FACTORS[q["unit"]] * FACTORS["kwh"]',
        'ok = unit in ("kwh", "mwh")',
        'match unit:\n    case "kwh":\n        pass',
        "class Unit(Enum):\n    KWH = 'kwh'",
        'def f(unit="kwh"):\n    pass',
        'UNIT = "kwh"',
        'other = {"value": 3, "unit": "kwh"}',
        'KNOWN = re.compile("^(kwh|mwh)$")',
        'KNOWN = "kwh,mwh".split(",")',
        'Literal["kwh"]',
        'FACTORS = json.load(file)\nx = FACTORS[q["unit"]]',
        'if q.get("unit", "").isupper():\n    pass',
        "if q.unit in known:\n    pass",
        'assert heat("a")["heat"] == {"value": 1, "unit": "kwh"}',
    ],
)
@pytest.mark.parametrize("where", ["beside", "seen", "unseen"])
def test_a_unit_that_somebody_compares_is_unsafe(use: str, where: str) -> None:
    if where == "beside":
        assert safety("GL501", "", tools=f"{UNIT}\n\n{use}\n") == {"unsafe"}
    else:
        assert safety("GL501", use, seen=where == "seen", tools=UNIT) == {"unsafe"}


@pytest.mark.parametrize(
    "other",
    [
        "",
        'q["unit"] = "kW"',
        "self.unit = unit",
        '"""Heat in kwh, of a year."""',
        "# kwh",
        'prompt = "Say it in kwh or so"',
    ],
)
def test_a_unit_that_nobody_compares_is_safe(other: str) -> None:
    assert safety("GL501", other, seen=False, tools=UNIT) == {"safe"}


@pytest.mark.parametrize(("code", "tools"), [("GL101", TOOLS), ("GL501", UNIT)])
def test_a_host_that_sees_one_file_is_not_sure(code: str, tools: str) -> None:
    path = "/project/plant/tools.py"
    project = Project(Settings(), {}.get, lambda path: False, {path: tools}.__getitem__, "/project")
    project.add(read_module(path, tools))
    found = [f for f in check(project, path, frozenset({code})) if isinstance(f, Finding)]
    assert [f.fix.applicability for f in found if f.fix is not None] == ["unsafe"]


@pytest.mark.parametrize("known", [None, ["/project/plant/tools.py"]])
def test_all_words_are_asked_for_at_once(known: list[str] | None) -> None:
    """A look at all files for one question after the other would read them three times."""
    path = "/project/plant/tools.py"
    asked: set[str] = set()

    def mentioning(word: str, around: bool) -> list[str] | None:
        asked.add(word)
        return known

    project = Project(
        Settings(), {}.get, lambda path: False, {path: TOOLS}.__getitem__, "/project", mentioning=mentioning
    )
    project.add(read_module(path, TOOLS))
    [*check(project, path, frozenset({"GL101"}))]
    assert asked >= {"heat_kwh", "heat", "getattr", "import_module", "tools"}


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("def heat_kwh(site) -> str:", {"none"}),
        ("def heat_kwh(site) -> Decimal:", {"none"}),
        ("def heat_kwh(site) -> 'Energy':", {"none"}),
        ("def heat_kwh(site) -> dict:", {"unsafe"}),
        ("def heat_kwh(site) -> Any:", {"unsafe"}),
        ("def heat_kwh(site):", {"unsafe"}),
    ],
)
def test_a_return_type_that_would_be_false(header: str, expected: set[str]) -> None:
    source = f"from langchain_core.tools import tool\n\n\n@tool\n{header}\n    return 80.5\n"
    assert safety("GL101", "", tools=source) == expected


@pytest.mark.parametrize(
    ("header", "body", "expected"),
    [
        ("heat(site: str) -> dict", "return {'heat_kwh': survey(site) + 1.0}", "safe"),
        ("heat(site: str) -> dict[str, Any]", "return {'heat_kwh': survey(site) + 1.0}", "safe"),
        ("heat(site: str) -> dict[str, float]", "return {'heat_kwh': survey(site) + 1.0}", "unsafe"),
        ("heat(site: str)", "out = {'heat_kwh': survey(site) + 1.0}\n    return out", "unsafe"),
        ("heat(site)", "out = {'heat_kwh': survey(site) + 1.0}\n    return out", "safe"),
        ("heat(site: str)", "out: dict = {'heat_kwh': survey(site) + 1.0}\n    return out", "safe"),
    ],
)
def test_a_safe_fix_leaves_inferred_types_alone(header: str, body: str, expected: str) -> None:
    source = (
        "from typing import Any\n\nfrom langchain_core.tools import tool\n\n\n"
        f"@tool\ndef {header}:\n    {body}\n"
    )
    assert safety("GL101", "", tools=source) == {expected}


def test_parts_that_do_not_speak_of_a_word_are_not_read() -> None:
    """And whoever reads all of them finds nothing more."""
    source = """\
import a; from b import energy as e; c = 1
def first():
    return 1
@energy.wrapped
def second(rows):
    '''About the
    energy of rows.'''
    return rows["\\x65nergy"], rows["ener\\
gy"], f"{rows} energy"
class Third: energy = "en" "ergy"; other = "energy"
print(rows(energy=2)); print(energy)
"""
    some = File("/m.py", source, ast.parse(source), False)
    names, texts = list(some.names("energy")), list(some.texts("energy"))
    assert [mention.place[1] for mention in names] == [11, 11, 10, 4, 1]
    assert [(mention.place[1], mention.exact) for mention in texts] == [
        (10, True), (10, True), (9, False), (8, True), (8, True), (6, False),
    ]  # fmt: skip
    assert not any(isinstance(node, ast.FunctionDef) and node.name == "first" for node in some.parents)
    whole = File("/m.py", f"# é\n{source}", ast.parse(f"# é\n{source}"), False)
    assert [ast.dump(m.node) for m in (*whole.names("energy"), *whole.texts("energy"))] == [
        ast.dump(m.node) for m in (*names, *texts)
    ]
