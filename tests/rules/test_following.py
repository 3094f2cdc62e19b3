"""A project that follows edits says what one says that reads all files anew, and works out again what it must."""

from __future__ import annotations

import gc
import random
from collections.abc import Iterable
from pathlib import Path

import pytest

from gllint_rules import Failure, Finding
from gllint_rules.check.check import check
from gllint_rules.inference.measures.outcome import Env, UnitFlow
from gllint_rules.inference.measures.unit_flow import Units
from gllint_rules.inference.values import Frame, Value, options
from gllint_rules.project.imports import top_level_packages
from gllint_rules.project.project import Project
from gllint_rules.reading.facts import Function, Module
from gllint_rules.reading.modules import read_module
from gllint_rules.reading.reads import Reads
from gllint_rules.reading.syntax import ParseFailure
from harness import Case, cases, codes_of, example, random_edit, settings_of

EDITS = 40
# But those with files that are no Python.
CASES = sorted(
    set((Path(__file__).parent / "cases").glob("*.md"))
    - set((Path(__file__).parent / "cases").glob("*_text_files.md"))
)
SWAPPED = (
    ("float", "str"), ("str", "float"), ("int", "dict"), ("dict", "list"), ("return ", "return 1.5 or "), ("@", "# @"),
    ("self.", "cls."), ("1", '"1"'), ('"', ""), ("tool", "mool"), ("unit", "tinu"), (" = ", " += "), ("def ", "def x"),
    ("(", "(3, "), ("=", "=[5.5] or "), ("value", "worth"), ("if ", "if not "), ("class ", "class X"), ("import ", "import x"),
    ("\n", "  # a kWh, def tool\n"), ("\n", "\n\n    # more\n\n"), ("\n", "  \n"), ("# ", "# claim: "), ("  #", "#"),
)  # fmt: skip


class Followed:
    """A case's project, whose files are edited."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.texts = {f"/project/{path}": text for path, text in case.files.items()}
        self.modules = {path: read_module(path, text) for path, text in self.texts.items()}
        self.project = self._project(self.modules, Reads())

    def _project(self, modules: dict[str, Module], reads: Reads | None) -> Project:
        project = Project(
            settings_of(self.case.configuration),
            load=lambda path: None,
            exists=self.texts.__contains__,
            source_of=self.texts.__getitem__,
            root="/project",
            packages=top_level_packages(self.texts),
            reads=reads,
        )
        for module in modules.values():
            project.add(module)
        return project

    def edit(self, path: str, text: str) -> bool:
        """Put ``text`` in place of that of a file; false, and nothing done, where it is no Python."""
        try:
            after = read_module(path, text, self.modules[path])
        except ParseFailure:
            return False
        assert after is self.modules[path]
        self.texts[path] = text
        self.project.follow({path})
        return True

    def said(self, path: str, fixes: bool) -> list[str]:
        """What the rules say of a file now."""
        return shown(check(self.project, path, codes_of(self.case.configuration), fixes))

    def said_anew(self, path: str, fixes: bool) -> list[str]:
        """What they say where all files are read for it."""
        modules = {path: read_module(path, text) for path, text in self.texts.items()}
        return shown(check(self._project(modules, None), path, codes_of(self.case.configuration), fixes))


def shown(reports: Iterable[Finding | Failure]) -> list[str]:
    return sorted(map(str, reports))


def another(rng: random.Random, text: str) -> str:
    """``text`` after an edit of any kind that leaves it Python now and then."""
    if rng.random() < 0.3:
        return random_edit(rng, text)
    old, new = rng.choice(SWAPPED)
    places = [number for number in range(len(text)) if text.startswith(old, number)]
    at = rng.choice(places or [0])
    return text[:at] + text[at:].replace(old, new, 1)


@pytest.mark.parametrize("name", CASES, ids=lambda path: path.stem)
def test_what_is_kept_over_edits_is_true(name: Path) -> None:
    rng = random.Random(name.stem)
    followed, found = 0, cases(name)
    for case in found:
        here = Followed(case)
        first = dict(here.texts)
        fixes = rng.random() < 0.3
        paths = sorted(here.texts)
        for path in paths:
            here.said(path, fixes)
        for _ in range(max(3, EDITS // len(found))):
            path = rng.choice(paths)
            before = here.texts[path]
            if not here.edit(path, another(rng, rng.choice((before, first[path])))):
                continue
            followed += 1
            for other in rng.sample(paths, min(2, len(paths))):
                assert here.said(other, fixes) == here.said_anew(other, fixes), (
                    case.title,
                    other,
                    here.texts,
                )
    assert followed > 8


TOOL = '''
@function_tool
def heat_{0}(area: float, loss: float) -> dict:
    """The heat that a building loses."""
    rates = {{"day": area * loss * 24, "hour": area * loss}}
    for name in list(rates):
        rates[name + "_peak"] = rates[name] * FACTOR
    return {{"rates": rates, "number": {0}}}
'''


def test_an_edit_within_one_tool_leaves_what_was_worked_out_of_the_others() -> None:
    tools = "".join(TOOL.format(number) for number in range(30))
    text = f"from agents import function_tool\n\nFACTOR = 1.5\n{tools}"
    here = Followed(example(text))
    [path] = here.texts
    here.said(path, fixes=False)
    all_steps = here.project.evaluator.total_steps
    for edited, share in (
        (text.replace('"number": 7}', '"number": 77}'), 0.3),
        (text.replace("heat that a", "heat of a", 1), 0.3),
        (text.replace("FACTOR = 1.5", "FACTOR = 2.5"), 2.0),
    ):
        before = here.project.evaluator.total_steps
        assert here.edit(path, edited)
        assert len(here.said(path, fixes=False)) == 120
        steps = here.project.evaluator.total_steps - before
        assert steps < share * all_steps
    assert steps > 0.5 * all_steps  # all of them rest on the constant


BASE = """
class Base(BaseTool):
    unit: str = "kWh"

    def __init__(self, site: str, unit):
        self.site, self.unit = site, unit

    def load(self, hours):
        return len(self.site) * hours
"""
METER = """
class Meter(Base):
    def _run(self, hours: int, label):
        used = self.load(hours) * {0}
        return {{"load": used, "site": self.site, "label": label}}
"""


def test_what_an_edit_has_made_void_is_not_remembered() -> None:
    tool = "from crewai.tools import BaseTool\n"
    here = Followed(
        Case(
            "", {"base.py": f"{tool}\n{BASE}", "meter.py": f"from base import Base\n\n{METER.format(1)}"}, {}
        )
    )
    path = "/project/meter.py"
    alive: dict[int, int] = {}
    for number in range(41):
        text = f"from base import Base\n\n{METER.format(number)}"
        assert here.edit(path, text.replace("(Base):", f'(Base):\n    name = "meter {number}"\n'))
        assert len(here.said(path, fixes=False)) == 1
        if number in (5, 40):  # a look through all that a process holds takes a second
            gc.collect()
            alive[number] = sum(
                isinstance(each, Function) and each.name == "_run" for each in gc.get_objects()
            )
    assert alive[40] == alive[5] > 0


METHOD = """
    def step_{0}(self, heat_kwh):
        row_{0} = self.row_{1}
        self.row_{0} = row_{0}.copy()
        return {{"heat": heat_kwh + row_{0}["heat_wh"] + self.row_{2}["heat_wh"]}}
"""


def test_what_no_number_is_assigned_to_leads_through_no_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else each of them is asked for the units of the others that assign the attribute, on every way around."""
    count = 6
    numbers = range(count)
    rows = "".join(f"        self.row_{number} = None\n" for number in numbers)
    methods = "".join(METHOD.format(n, (n + 1) % count, (n + 2) % count) for n in numbers)
    names: list[str] = []

    def run(units: Units, module: Module, function: Function, arguments: Env) -> UnitFlow:
        names.append(function.name)
        return original(units, module, function, arguments)

    original = Units._run
    monkeypatch.setattr(Units, "_run", run)
    here = Followed(
        example(
            f"from agents import function_tool\n\n\nclass Plan:\n    def __init__(self):\n{rows}{methods}\n\n"
            "@function_tool\ndef run(heat_kwh):\n    return Plan().step_0(heat_kwh)\n"
        )
    )
    [path] = here.texts
    here.said(path, fixes=False)
    assert sorted(names) == sorted({*names})
    assert len(names) >= count


VALUES = """
import json
from dataclasses import dataclass
from b import RATE, scaled

LIMITS = {"low": 1, "high": [2, 3.5]}
NAMES = tuple(LIMITS)


@dataclass
class Site:
    name: str = "none"
    area: float = 2.5

    def loss(self, factor: int) -> float:
        return self.area * factor


class Flat(Site):
    rooms: int = 3


def total(rows: list[float], site: Site) -> dict:
    return {"sum": sum(rows), "site": site.name, "loss": site.loss(2)}


LOSS = Flat().loss(2)
ROOMS = Flat().rooms
NAME = Site().name
TEXT = f"{RATE} of {NAMES[0]}"
RATED = RATE
SUM = total([1.5], Site())
SCALED = scaled(5)
ROW = SUM["loss"]
"""
OTHER = "RATE = 1.5\n\n\ndef scaled(number):\n    return {'value': number * RATE}\n"


def test_who_follows_edits_infers_what_is_inferred_without() -> None:
    """Asked for alone, and again, and after an edit of what some of it rests on."""
    here = Followed(Case("", {"a.py": VALUES, "b.py": OTHER}, {}))

    def held(project: Project, modules: dict[str, Module]) -> dict[str, str]:
        module = modules["/project/a.py"]
        names = sorted(name for name, bindings in module.scope.bindings.items() if bindings[0].value)
        frame = Frame(module, module.scope)
        return {
            name: said(project.evaluator.eval(value, frame))
            for name in names
            if (value := module.scope.bindings[name][0].value) is not None
        }

    def said(value: Value) -> str:
        return " or ".join(f"{type(one).__name__} {getattr(one, 'literal', '')}" for one in options(value))

    def anew() -> dict[str, str]:
        modules = {path: read_module(path, text) for path, text in here.texts.items()}
        return held(here._project(modules, None), modules)

    first = held(here.project, here.modules)
    assert first == held(here.project, here.modules) == anew()
    assert len({*first.values()}) == 5
    assert here.edit("/project/b.py", OTHER.replace("RATE = 1.5", 'RATE = "none"'))
    second = held(here.project, here.modules)
    assert second == anew() and second["RATED"] != first["RATED"]
    assert here.edit("/project/a.py", VALUES.replace("rooms: int = 3", 'rooms: str = "three"'))
    third = held(here.project, here.modules)
    assert third == anew() and third["ROOMS"] != second["ROOMS"]
