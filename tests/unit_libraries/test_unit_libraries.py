"""Objects of unit libraries are Quantities: in the source, and as the installed library says them itself."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from gllint.run.engine import Engine, Options
from gllint_runtime import Session
from gllint_runtime.policy.packs import PACKS
from gllint_runtime.policy.unit_libraries import UNIT_LIBRARIES

HERE = Path(__file__).parent
FORMS = (
    'return {{"energy": {}}}',
    "return {}",
    'energy = {}\n    return {{"energy": energy, "ok": True}}',
    'return {{"energy": round({}, 2)}}',
    'return {{"energy": -({})}}',
)
HEAD = "from langchain_core.tools import tool\nimport numpy as np\n"


class Program(NamedTuple):
    package: str
    imports: str
    expression: str
    value: float
    unit: str


def _programs() -> Iterator[Program]:
    library, imports = "", ""
    for line in (HERE / "programs.txt").read_text("utf-8").splitlines():
        if line.startswith("["):
            library, imports = line.strip("[]"), ""
        elif line.startswith("> "):
            imports += f"{line[2:]}\n"
        elif line and not line.startswith("#"):
            expression, value, unit = line.split(" | ")
            yield Program(library, imports, expression, float(value), unit)


PROGRAMS = tuple(_programs())


def test_each_library_has_programs() -> None:
    assert {program.package for program in PROGRAMS} == set(UNIT_LIBRARIES)


@pytest.mark.parametrize("library", UNIT_LIBRARIES)
def test_the_source_is_right(library: str, tmp_path: Path) -> None:
    mine = [program for program in PROGRAMS if program.package == library]
    for number, imports in enumerate(dict.fromkeys(program.imports for program in mine)):
        tools = [
            f"@tool\ndef t{i}_{form}(site: str):\n    {text.format(program.expression)}\n"
            for i, program in enumerate(mine)
            if program.imports == imports
            for form, text in enumerate(FORMS)
        ]
        (tmp_path / f"tools_{number}.py").write_text(HEAD + imports + "\n\n" + "\n\n".join(tools), "utf-8")
    outcome = Engine(Options(cache=False, jobs=1)).check([str(tmp_path)])
    assert [(finding.code, finding.message) for finding in outcome.findings] == []


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: f"{program.package}-{program.expression}")
def test_a_session_records_what_it_is(program: Program) -> None:
    pytest.importorskip(program.package, exc_type=ImportError)
    namespace = {"site": "A"}
    if "np." in program.expression:
        namespace["np"] = pytest.importorskip("numpy")
    exec(program.imports, namespace)
    session = Session(packs=PACKS)
    call = session.record("meter", {}, {"energy": eval(program.expression, namespace)})
    recorded = session.output(call)["energy"]
    assert math.isclose(recorded["value"], program.value)
    assert recorded["unit"] == program.unit
