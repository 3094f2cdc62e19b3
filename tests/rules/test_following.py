"""A project that follows edits says what one says that reads all files anew, and works out again what it must."""

from __future__ import annotations

import gc
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeGuard, cast

import pytest

from gllint_rules import Failure, Finding
from gllint_rules.check.check import check
from gllint_rules.inference.evaluator import WORTH_STEPS
from gllint_rules.inference.following import FollowingEvaluator
from gllint_rules.inference.units.reader import Units, Way
from gllint_rules.inference.values import TEXT, ClassOf, Frame, ListOf, Site, Value, options
from gllint_rules.project.imports import top_level_packages
from gllint_rules.project.project import Project
from gllint_rules.reading.facts import Function, Module
from gllint_rules.reading.modules import read_module
from gllint_rules.reading.reads import Reads, Spoilt
from gllint_rules.reading.syntax import ParseFailure
from harness import Case, cases, codes_of, example, random_edit, settings_of

EDITS = 20
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
    # Of all of them `tests/trust/run` takes whatever time it is given.
    followed, found = 0, cases(name)[::6]
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
    assert followed > 4


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
    """Else each of them is read for the units of the others that assign the attribute, on every way around."""
    count = 6
    numbers = range(count)
    rows = "".join(f"        self.row_{number} = None\n" for number in numbers)
    methods = "".join(METHOD.format(n, (n + 1) % count, (n + 2) % count) for n in numbers)
    names: list[str] = []

    def attribute(units: Units, of: ClassOf, name: str, way: Way = ()) -> object:
        names.append(name)
        return original(units, of, name, way)

    original = Units.attribute
    monkeypatch.setattr(Units, "attribute", attribute)
    here = Followed(
        example(
            f"from agents import function_tool\n\n\nclass Plan:\n    def __init__(self):\n{rows}{methods}\n\n"
            "@function_tool\ndef run(heat_kwh):\n    return Plan().step_0(heat_kwh)\n"
        )
    )
    [path] = here.texts
    here.said(path, fixes=False)
    assert count <= len(names) <= 4 * count


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
    assert len({*first.values()}) == 7
    assert here.edit("/project/b.py", OTHER.replace("RATE = 1.5", 'RATE = "none"'))
    second = held(here.project, here.modules)
    assert second == anew() and second["RATED"] != first["RATED"]
    assert here.edit("/project/a.py", VALUES.replace("rooms: int = 3", 'rooms: str = "three"'))
    third = held(here.project, here.modules)
    assert third == anew() and third["ROOMS"] != second["ROOMS"]


class Cells:
    """Questions that lead to each other, each of which reads two cells: its own, and that of the row within it."""

    def __init__(self, rows: dict[str, str], cells: dict[object, int]) -> None:
        self.rows, self.cells = rows, cells
        self.reads = Reads()
        self.evaluator = self.another()
        self.site = Site(read_module("/project/a.py", "x = 1\n"), 0)

    def another(self) -> FollowingEvaluator:
        return FollowingEvaluator(cast(Any, None), cast(Any, None), self.reads)

    def cell(self, key: object) -> str:
        self.reads.now.add(("cell", key))
        return str(self.cells[key])

    def row(self, name: str) -> str:
        return self.evaluator.again(
            ("row", name), lambda: self.cell(("row", name)) + "".join(map(self.put, self.rows[name]))
        )

    def put(self, name: str) -> str:
        return self.evaluator.ask(
            name, lambda: f"{name}{self.cell(name)}({self.row(name)}).", "", str, self.site
        )


def leading_to(name: str, rows: dict[str, str]) -> set[str]:
    """The names that one leads to, itself among them."""
    reached, waiting = {name}, [name]
    while waiting:
        new = {*rows[waiting.pop()]} - reached
        reached |= new
        waiting += new
    return reached


def test_an_answer_that_was_given_anew_within_its_circle_still_rests_on_all_of_it() -> None:
    """The head of a circle is answered anew while another question of it is open, and then reads a part of it."""
    cells: dict[object, int] = dict.fromkeys(["a", "b", ("row", "a"), ("row", "b")], 1)
    here = Cells({"a": "b", "b": "a"}, cells)
    assert here.put("a") == "a1(1b1(1).)." and here.put("b") == "b1(1a1(1).)."
    cells["b"] = 2
    here.evaluator.forget_spoilt(Spoilt((), [("cell", "b")]))
    assert here.put("a") == "a1(1b2(1).)."


def test_functions_that_call_each_other_follow_an_edit_of_what_one_of_them_rests_on() -> None:
    call = (
        "from agents import function_tool\n{}\n\n\ndef {}(x):\n    return {}\n\n\n"
        "@function_tool\ndef tool_{}(x: int):\n    return {{'load': {}(x)}}\n"
    )
    texts = {
        "a.py": call.format("from b import g", "f", "g(x - 1) if x else 'none'", "f", "f"),
        "b.py": call.format("from a import f\nfrom c import h", "g", "f(x - 1) if x else h()", "g", "g"),
        "c.py": "def h():\n    return 'none'\n",
    }
    here = Followed(Case("", texts, {}))
    paths = ("/project/a.py", "/project/b.py")
    assert [here.said(path, False) for path in paths] == [[], []]
    assert here.edit("/project/c.py", texts["c.py"].replace("'none'", "2.5"))
    for path in paths:
        assert len(here.said(path, False)) == 1 and here.said(path, False) == here.said_anew(path, False)


def test_an_answer_outlives_an_edit_of_what_it_does_not_rest_on_and_no_other() -> None:
    chance = random.Random(5)
    for _ in range(40):
        names = "abcd"[: chance.randint(1, 4)]
        rows = {name: "".join(other for other in names if chance.random() < 0.4) for name in names}
        cells: dict[object, int] = {key: 1 for name in names for key in (name, ("row", name))}
        here = Cells(rows, cells)
        for _ in range(5):
            if chance.random() < 0.3:  # as another project that takes over what this one knows
                old, here.evaluator = here.evaluator, here.another()
                here.evaluator.inherit(old)
            edited = chance.choice([*cells])
            cells[edited] += 1
            here.evaluator.forget_spoilt(Spoilt((), [("cell", edited)]))
            for name in chance.choices(names, k=3):
                anew = Cells(rows, cells)
                if chance.random() < 0.3:
                    assert here.row(name) == here.row(name) == anew.row(name)
                outer = here.reads.begin()
                assert here.put(name) == anew.put(name)
                read = {cell for kind, cell in filter(is_cell, here.reads.end(outer))}
                reached = leading_to(name, rows)
                assert read == {*reached, *(("row", other) for other in reached)}


def is_cell(read: object) -> TypeGuard[tuple[str, object]]:
    return isinstance(read, tuple)


TABLE = f"from b import PART\n\nx = 1\nTABLE = [PART, x, {'1, ' * WORTH_STEPS}]\n"


def test_what_is_remembered_of_a_large_table_is_what_is_read_anew() -> None:
    """By itself and within a question, with variables of a flow and without, before an edit and after it."""
    here = Followed(Case("", {"a.py": TABLE, "b.py": "PART = 1\n"}, {}))
    without = Followed(Case("", {"a.py": TABLE, "b.py": "PART = 1\n"}, {}))
    without.project = without._project(without.modules, None)

    def shown(where: Followed) -> list[object]:
        """What is first in the table, however it is asked for, and how many steps that took."""
        evaluator, module = where.project.evaluator, where.modules["/project/a.py"]
        table = module.scope.bindings["TABLE"][0].value
        assert table is not None
        frame = Frame(module, module.scope)
        site = Site(module, 0)

        def part(frame: Frame) -> str:
            value = evaluator.eval(table, frame)
            assert isinstance(value, ListOf)
            return type(value.items[0].value).__name__

        def asked() -> str:
            return evaluator.ask(("part", number), lambda: part(frame), "", str, site)

        number = evaluator.total_steps
        rows = [part(frame), part(Frame(module, module.scope, {"PART": TEXT})), part(frame), asked()]
        return [*rows, evaluator.total_steps - number]

    first = shown(here)
    assert first == shown(without) and first[:4] == ["Number", "Text", "Number", "Number"]
    again = shown(here)
    assert again == shown(without) and again[:4] == first[:4]
    assert here.edit("/project/b.py", "PART = 'a'\n")
    assert shown(here)[:4] == ["Text"] * 4
    assert here.edit("/project/b.py", "PART = 1\n")
    assert shown(here)[:4] == first[:4]
    assert here.edit("/project/a.py", TABLE.replace("PART, x", "'a', x"))
    assert shown(here)[:4] == ["Text"] * 4


def test_what_is_read_is_noted_for_what_is_remembered_alone() -> None:
    here = Followed(Case("", {"a.py": "x = 1\n"}, {}))
    following, module = here.project.tools.following, here.modules["/project/a.py"]
    assert following is not None and not following._read
    value = module.scope.bindings["x"][0].value
    assert value is not None
    for _ in range(2):
        following.eval(value, Frame(module, module.scope))
        assert not following._read and following.total_steps


def test_a_project_over_another_goes_on_with_what_was_inferred() -> None:
    """As after an edit that the project is not over the modules of: it shares them, and what is noted of them."""
    here = Followed(Case("", {"a.py": VALUES, "b.py": OTHER}, {}))
    module = here.modules["/project/a.py"]
    loss = module.scope.bindings["LOSS"][0].value
    assert loss is not None

    def steps(project: Project) -> int:
        before = project.evaluator.total_steps
        project.evaluator.eval(loss, Frame(module, module.scope))
        return project.evaluator.total_steps - before

    first = steps(here.project)
    later = steps(here.project)
    assert later < first
    reads = here.project.reads
    for changed, expected in (((), later), (("/project/b.py",), later), (("/project/a.py",), first)):
        other = here._project(here.modules, reads)
        stale = other.inherit(here.project, changed)
        assert (stale == {*changed}) and (steps(other) == expected)
