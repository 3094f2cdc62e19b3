"""gllint's own list of tools is the framework's, and its findings are what the model would have seen.

The answers of the frameworks are recorded (`record.py` asks again); nothing of them is needed here. In the projects,
`# tool` marks a function that the framework offers to the model, and `# GL101 @ …` a finding, as in `tests/rules`.
"""

from __future__ import annotations

import ast
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from gllint_rules import Settings
from gllint_rules.project.imports import top_level_packages
from gllint_rules.project.project import Project
from gllint_rules.reading.modules import read_module
from harness import Case, Expected, places, run

HERE = Path(__file__).parent
PINS: dict[str, Any] = tomllib.loads((HERE / "pins.toml").read_text("utf-8"))
LEDGER: dict[str, dict[str, str]] = tomllib.loads((HERE / "ledger.toml").read_text("utf-8"))
RECORDED: dict[str, Any] = {
    name: json.loads((HERE / "recorded" / f"{name}.json").read_text("utf-8")) for name in PINS
}
PROJECTS = {f"{path.parent.name}/{path.stem}": path for path in sorted((HERE / "projects").glob("*/*.py"))}


def tools_that_gllint_sees(path: Path) -> set[str]:
    """The qualified names of the functions of a project whose results go to the model, by gllint's word.

    The one place here that knows how to ask the inference.
    """
    name, text = f"/project/{path.name}", path.read_text("utf-8")
    project = Project(
        Settings(),
        load=lambda _: None,
        exists={name}.__contains__,
        source_of={name: text}.__getitem__,
        root="/project",
        packages=top_level_packages([name]),
    )
    module = read_module(name, text)
    project.add(module)
    return {
        getattr(callee.function, "qualname", "<lambda>")
        for tool in project.tools.of(module)
        for callee in tool.callables
    }


def findings_of_gllint(path: Path) -> list[Expected]:
    return [found for found in places(run(case(path))) if found.code == "GL101"]


def case(path: Path) -> Case:
    return Case(path.stem, {path.name: path.read_text("utf-8")}, {})


def recorded(project: str) -> list[dict[str, Any]]:
    framework, _, name = project.partition("/")
    answer: list[dict[str, Any]] = RECORDED[framework]["projects"][name]
    return answer


def name_of(tool: dict[str, Any]) -> str:
    """The qualified name of a tool's function without the functions that it stands in."""
    return str(tool["function"]).rpartition("<locals>.")[2]


def definitions(path: Path) -> dict[str, ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions of a file by qualified name, as `name_of` has it."""
    out: dict[str, ast.FunctionDef | ast.AsyncFunctionDef] = {}
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        prefix = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                assert f"{prefix}{child.name}" not in out, f"{path}: two functions named {child.name}"
                out[f"{prefix}{child.name}"] = child
    return out


def marked(path: Path) -> set[str]:
    """The functions that the project's text marks as tools."""
    lines = path.read_text("utf-8").split("\n")
    found = {name for name, node in definitions(path).items() if lines[node.lineno - 1].endswith("  # tool")}
    assert len(found) == sum(line.endswith("  # tool") for line in lines), (
        f"{path}: a mark that marks no function"
    )
    return found


def ledgered(part: str) -> list[Any]:
    """Each project; those of the ledger are expected to fail, and say so when they no longer do."""
    return [
        pytest.param(
            project,
            id=project,
            marks=[pytest.mark.xfail(reason=LEDGER[part][project], strict=True, raises=AssertionError)]
            if project in LEDGER[part]
            else [],
        )
        for project in PROJECTS
    ]


def test_the_records_are_of_these_projects_and_versions() -> None:
    assert {f"{name}/{project}" for name in RECORDED for project in RECORDED[name]["projects"]} == set(
        PROJECTS
    )
    for name, row in PINS.items():
        for item in row["requires"]:
            package, _, version = re.sub(r"\[.*?\]", "", item).partition("==")
            assert not version or RECORDED[name]["versions"][package] == version
    for part in ("tools", "findings"):
        assert set(LEDGER[part]) <= set(PROJECTS)


@pytest.mark.parametrize("project", PROJECTS)
def test_the_framework_has_the_tools_that_are_marked(project: str) -> None:
    assert {name_of(tool) for tool in recorded(project)} == marked(PROJECTS[project])


@pytest.mark.parametrize("project", PROJECTS)
def test_the_model_sees_the_numbers_that_are_marked(project: str) -> None:
    """Of the literal numbers of a tool those that are marked, or a Quantity's, are in what the framework hands on."""
    path = PROJECTS[project]
    findings = {(place.line, place.column) for place in case(path).expected()}
    functions = definitions(path)
    for tool in recorded(project):
        if tool["seen"] is None:
            continue
        text = json.dumps(tool["seen"])
        node = functions[name_of(tool)]
        refused = isinstance(tool["seen"], dict) and "raises" in tool["seen"]
        for literal in ast.walk(node):
            if not isinstance(literal, ast.Constant) or type(literal.value) is not float:
                continue
            places_here = {(literal.lineno, literal.col_offset + 1), (literal.lineno, literal.col_offset)}
            if places_here & findings:
                assert not refused and str(literal.value) in text, (tool["name"], literal.value)
            elif not _counts(literal, node, findings, path):
                assert refused or str(literal.value) not in text, (tool["name"], literal.value)


def _counts(literal: ast.Constant, node: ast.AST, findings: set[tuple[int, int]], path: Path) -> bool:
    """Whether an unmarked number may still be seen: in a Quantity, in text, in an expression or name that is marked."""
    for parent in ast.walk(node):
        children = list(ast.iter_child_nodes(parent))
        if literal not in children:
            continue
        if isinstance(parent, ast.Dict):
            return {k.value for k in parent.keys if isinstance(k, ast.Constant)} == {"value", "unit"}
        return isinstance(parent, ast.BinOp | ast.Assign)
    return False


@pytest.mark.parametrize("project", ledgered("tools"))
def test_gllint_sees_the_tools(project: str) -> None:
    assert tools_that_gllint_sees(PROJECTS[project]) == {name_of(tool) for tool in recorded(project)}


@pytest.mark.parametrize("project", ledgered("findings"))
def test_gllint_finds_the_numbers(project: str) -> None:
    assert findings_of_gllint(PROJECTS[project]) == case(PROJECTS[project]).expected()
