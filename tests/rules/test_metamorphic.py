"""A finding depends on what the program says: not on what stands beside it, the order of files or questions, or names."""

from __future__ import annotations

import ast
import os
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gllint_rules import Failure, Finding
from gllint_rules.check.check import check
from gllint_rules.inference import classes
from gllint_rules.inference.values import ClassOf, Frame, FunctionOf
from gllint_rules.project.imports import top_level_packages
from gllint_rules.project.project import Project
from gllint_rules.reading.modules import read_module
from gllint_rules.words.names import Names
from harness import Case, cases, codes_of, places, settings_of

# But those with files that are no Python.
FILES = sorted(
    set((Path(__file__).parent / "cases").glob("*.md"))
    - set((Path(__file__).parent / "cases").glob("*_text_files.md"))
)
CASES = [case for path in FILES for case in cases(path)]
# Each test takes a sixth of them, each another one: `tests/trust` asks every question of every case.
GROUPS = [pytest.param(cases(path), id=path.stem) for path in FILES]

Seen = list[tuple[str, str, int, str]]


def seen(case: Case) -> Seen:
    """The findings of a case by file, source line and message."""
    return sorted(_seen(case, item) for item in _checked(case))


def _seen(case: Case, item: object) -> tuple[str, str, int, str]:
    assert isinstance(item, Finding), item
    path = item.path.removeprefix("/project/")
    line = case.files[path].split("\n")[item.span.line - 1]
    return path, line, item.span.column, f"{item.code} {item.message}"


@pytest.mark.parametrize("group", GROUPS)
def test_comments_and_strangers_change_nothing(group: list[Case]) -> None:
    """Comments, blank lines and functions that have nothing to do with the rest."""
    for case in group[::6]:
        files = {path: with_strangers(text) for path, text in case.files.items()}
        assert seen(Case(case.title, files, case.configuration)) == seen(case), case.title


def with_strangers(text: str) -> str:
    # A comment may be a suppression or a marker only where it says so; this one says nothing.
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return text
    lines = text.split("\n")
    starts = sorted(
        min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))]) for node in tree.body
    )
    future = [
        node.lineno for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"
    ]
    for start in reversed(starts[1:]):
        if start > max(future, default=0) and not {*";\\"} & {*lines[start - 2]}:
            lines[start - 1 : start - 1] = ["# a remark of no weight", ""]
    return "\n".join(
        [
            *lines,
            "",
            "def stranger_to_all(first, second):",
            "    third = first or second",
            "    return third",
            "",
        ]
    )


@pytest.mark.parametrize("group", GROUPS)
def test_order_of_files_and_questions_changes_nothing(group: list[Case]) -> None:
    """Whoever is asked first, of whatever file."""
    for number, case in enumerate(group[2::6] or group[:6]):
        for seed in range(2):
            chance = random.Random(f"{number} {seed}")
            assert places(_checked(case, chance)) == case.expected(), (case.title, seed)


def _checked(case: Case, chance: random.Random | None = None) -> list[Finding | Failure]:
    """The findings of a case; by ``chance`` in another order of files, after questions that nobody asked."""
    texts = {f"/project/{path}": text for path, text in case.files.items()}
    paths = chance.sample(sorted(texts), len(texts)) if chance is not None else list(texts)
    project = Project(
        settings_of(case.configuration)._replace(lists="GL103" in codes_of(case.configuration)),
        load=lambda path: read_module(path, texts[path]) if path in texts else None,
        exists=texts.__contains__,
        source_of=texts.__getitem__,
        root="/project",
        packages=top_level_packages(texts),
    )
    for path in paths:
        project.add(read_module(path, texts[path]))
    if chance is not None:
        questions = list(_questions(project))
        chance.shuffle(questions)
        for question in questions[: len(questions) // 2 + 1]:
            question()
    found: dict[object, Finding | Failure] = {}
    for path in paths:
        for item in check(project, path, codes_of(case.configuration), fixes=False):
            assert isinstance(item, Finding), item
            found.setdefault((item.path, item.code, item.span), item)
    return list(found.values())


def _questions(project: Project) -> Iterator[Callable[[], object]]:
    """What may be asked of a project: its functions, names and classes."""
    for module in project.modules.values():
        yield lambda module=module: project.tools.of(module)
        for function in module.functions:
            bound = ClassOf(module, function.owner) if function.owner is not None else None
            callee = FunctionOf(module, function, bound, bound is not None)
            yield lambda callee=callee: project.evaluator.flow(callee)
        for call, scope in module.calls:
            frame = Frame(module, scope)
            yield lambda call=call, frame=frame: project.evaluator.eval(call, frame)
        for name in module.scope.bindings:
            yield lambda module=module, name=name: project.evaluator.global_value(module, name)
        for cls in module.classes:
            of = ClassOf(module, cls)
            yield lambda of=of: classes.ancestors(project.evaluator, of)
            for name in cls.attributes:
                yield lambda of=of, name=name: project.evaluator.member(of, name)


@pytest.mark.parametrize("group", GROUPS)
def test_names_of_variables_change_nothing(group: list[Case]) -> None:
    """The local variables of a function bear other names; those that speak by convention keep theirs."""
    for case in group[4::6] or group[:6]:
        files = {path: renamed_locals(text) for path, text in case.files.items()}
        renamed = Case(case.title, files, case.configuration)
        assert _codes(renamed) == _codes(case), case.title


def _codes(case: Case) -> list[tuple[str, int, str]]:
    return sorted((place.path, place.line, place.code) for place in places(_checked(case)))


def renamed_locals(text: str) -> str:
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return text
    lines = [line.encode() for line in text.split("\n")]
    places = []
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            names = _locals(function)
            for node in ast.walk(function):
                if isinstance(node, ast.Name) and node.id in names:
                    places.append((node.lineno, node.col_offset, node.id))
    for line, column, name in sorted(set(places), reverse=True):
        old = lines[line - 1]
        if old[column : column + len(name)] != name.encode():
            return text  # in an f-string before Python 3.12, of which the places are not known
        lines[line - 1] = old[:column] + b"own_" + old[column:]
    return b"\n".join(lines).decode()


def _locals(function: ast.AST) -> set[str]:
    """The names that nothing but plain assignments in this function binds, and that carry no meaning."""
    stored: set[str] = set()
    others: set[str] = set()
    for node in ast.walk(function):
        match node:
            case ast.Name(id=name, ctx=ast.Store()):
                stored.add(name)
            case ast.arg(arg=name) | ast.ExceptHandler(name=str() as name):
                others.add(name)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                others.update(names)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                others.add(name)
                others.update(
                    n.id for n in ast.walk(node) if isinstance(n, ast.Name) and node is not function
                )
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                others.update(alias.asname or alias.name.partition(".")[0] for alias in aliases)
            case ast.MatchAs(name=str() as name) | ast.MatchStar(name=str() as name):
                others.add(name)
            case _:
                pass
    named = Names.of(settings_of({}))
    return {
        name
        for name in stored - others
        if not named.is_final_name(name)
        and not re.search("tool|regist|message|final|claim|audit|unit", name, re.I)
    }


_SEEDED = """
import sys
sys.path[:0] = [{folder!r}]
from test_metamorphic import CASES, seen
for case in CASES[::60]:
    print(case.title, seen(case))
"""


def test_hash_seeds_change_nothing() -> None:
    outputs = set()
    for seed in ("0", "4711"):
        done = subprocess.run(
            [sys.executable, "-c", _SEEDED.format(folder=str(Path(__file__).parent))],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        outputs.add(done.stdout)
    assert len(outputs) == 1
    assert outputs.pop().count("\n") == len(CASES[::60])
