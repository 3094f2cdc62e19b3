"""Each suite of the folder for as long as an everyday run bears; ``tests/trust/run --hours 1`` is the whole.

``hostile`` measures times, ``load`` and ``mutation`` take long: they are left to that.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
import signal
import sys
import sysconfig
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import mutation
from interruption import ROOMS, traceback_in
from promises import PROMISES
from trust import Budget, Row, left_out

pytestmark = pytest.mark.timeout(230)  # it starts what takes its time on a busy machine

_SUITES = (
    "corpus", "fuzz", "interruption", "equivalence", "oracles", "verdicts", "typography", "names", "moves", "fixes",
    "promises",
)  # fmt: skip
_SECONDS = 0.5  # and what is begun then comes to its end
_HERE = Path(__file__).parent
_REPOSITORY = _HERE.parents[1]


@pytest.mark.parametrize("name", _SUITES)
def test_nothing_breaks(name: str) -> None:
    # The whole standard library is left to the run by hand.
    folders = (Path(sysconfig.get_path("stdlib"), "asyncio"), _REPOSITORY / "examples")
    rows = list(importlib.import_module(name).suite(Budget(_SECONDS, folders=folders)))
    assert [(row.suite, row.tried, row.wrong) for row in rows if row.verdict(hours=0) != "ok"] == []


def test_what_the_suites_import_is_there() -> None:
    """Some do so only in a run by hand, which may come much later than the change that moves a file."""
    sys.path.append(str(_REPOSITORY / "benchmarks"))
    sys.path.extend(str(_HERE.parent / name) for name in ("rules", "program", "runtime"))
    names = {
        name
        for path in _HERE.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        for name in (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [each.name for each in node.names]
            if isinstance(node, ast.Import)
            else []
        )
    }
    optional = {"atheris", "hypothesmith"}  # which are extras, and whose absence the suites bear
    tops = {name.partition(".")[0] for name in names} - optional
    assert [name for name in sorted(tops) if importlib.util.find_spec(name) is None] == []


@pytest.mark.parametrize(
    ("hours", "least", "number"), [(0, 5_000, 1), (0.1, 5_000, 500), (0.1, 34, 4), (2, 40, 40)]
)
def test_a_run_tries_its_part_of_an_hour_whatever_the_time(hours: float, least: int, number: int) -> None:
    budget = Budget(0.0, hours=hours)
    assert len([*budget.rounds(least)]) == number == len([*budget.map(str, range(10**6), str, least)])
    assert Row("", "", count=number, least=least).verdict(hours) == "ok"
    assert number == 1 or Row("", "", count=number - 1, least=least).verdict(hours) == "too few"
    assert Row("", "", ["no"], number, least).verdict(hours) == "wrong"
    assert left_out("").verdict(hours) == "left out"


def test_each_promise_is_held_by_a_test() -> None:
    text = " ".join((_REPOSITORY / "docs" / "security.md").read_text("utf-8").split())
    assert [promise for promise in PROMISES if promise not in text] == []
    listed = (_REPOSITORY / "docs" / "security.md").read_text("utf-8").partition("\n## ")[0]
    assert len(re.findall(r"^- ", listed, re.MULTILINE)) == len(PROMISES) - 1
    assert [test for held in PROMISES.values() for test in held if not _exists(test)] == []


def _exists(test: str) -> bool:
    file, _, name = test.partition("::")
    return f"def {name}(" in (_REPOSITORY / file).read_text("utf-8")


@pytest.mark.parametrize(
    ("frames", "which", "last", "is_told"),
    [
        (["<frozen runpy>", "/usr/lib/python3.11/re.py"], signal.SIGINT, "KeyboardInterrupt", False),
        (["<frozen runpy>", "OURS"], signal.SIGINT, "KeyboardInterrupt", True),
        (["OURS", "/usr/lib/python3.11/re.py"], signal.SIGINT, "KeyboardInterrupt", True),
        (["<frozen runpy>"], signal.SIGINT, "ValueError: no", True),
        (["<frozen runpy>"], signal.SIGTERM, "KeyboardInterrupt", True),
        ([], signal.SIGINT, "KeyboardInterrupt", True),
    ],
)
def test_an_interrupt_while_python_loads_is_no_fault_of_gllint(
    frames: list[str], which: signal.Signals, last: str, is_told: bool
) -> None:
    ours = str(ROOMS[0] / "cli" / "commands.py")
    lines = [f'  File "{frame.replace("OURS", ours)}", line 1, in <module>' for frame in frames]
    said = "\n".join(["Traceback (most recent call last):", *lines, last, ""])
    assert bool(traceback_in(said.encode(), which)) == is_told


def test_each_group_of_mutants_has_files() -> None:
    """A file that was renamed takes its mutants with it, and nobody would miss them."""
    heads = [head for heads in mutation._GROUPS.values() for head in heads]
    assert [head for head in heads if not any(_REPOSITORY.glob(f"{head}*"))] == []
    assert [test for test in mutation._TESTS if not (_REPOSITORY / test).is_file()] == []


def test_the_module_of_a_file() -> None:
    """Each is imported before it is changed: of what is not loaded nothing would be."""
    modules = [
        mutation._module(name)
        for name in (
            "gllint/guard/clients.py",
            "rules/gllint_rules/inference/following.py",
            "runtime/gllint_runtime/policy/claimed_text.py",
        )
    ]
    assert [importlib.import_module(module).__name__ for module in modules] == [
        "gllint.guard.clients",
        "gllint_rules.inference.following",
        "gllint_runtime.policy.claimed_text",
    ]


@pytest.mark.parametrize(
    ("killed", "unlisted", "said", "verdict"),
    [
        (92, 8, "92 of 100 mutants killed, 92 %; 3 more live as listed", "ok"),
        (91, 9, "91 of 100 mutants killed, 91 %; 3 more live as listed", "wrong"),
        (999, 1, "999 of 1000 mutants killed, 99 %; 3 more live as listed", "ok"),
        (27, 3, "27 of 30 mutants killed, 90 %; 3 more live as listed", "ok"),
        (26, 4, "26 of 30 mutants killed, 86 %; 3 more live as listed", "wrong"),
    ],
)
def test_of_each_hundred_mutants_92_are_killed(
    killed: int, unlisted: int, said: str, verdict: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that are listed aside, and with a little more room where a group is small."""
    monkeypatch.setattr(mutation, "_listed", lambda: {"a.py: equivalent: 1 + 1"})
    results = [*[None] * killed, *["a.py: a hole: 1 + 1"] * unlisted, *["a.py: equivalent: 1 + 1"] * 3]
    row = mutation.row("units", results)
    assert row.tried.partition("\n")[0] == said
    assert row.verdict(hours=0) == verdict
