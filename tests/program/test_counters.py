"""What a run over a small project costs, counted: a clock on a busy machine sees no doubling, these counters do.

A bound that a change exceeds for good reason is raised in the same commit, which says why.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from gllint.cli.commands import cli
from gllint_rules.inference.questions import Questions
from gllint_rules.project.imports import Imports
from gllint_rules.reading import modules, syntax

TOOLS = '''\
from langchain_core.tools import tool

from helpers.h{n} import load


@tool
def heat_{n}(site: str, hours: float) -> dict:
    """Return the heat of a site."""
    rows = [{{"site": site, "heat": load(hour) * hours}} for hour in range(24)]
    out = {{"site": site, "rows": rows}}
    if hours > 3:
        out["total_kwh"] = sum(row["heat"] for row in rows)
    return out


def unrelated(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]
'''
HELPER = """\
def load(hour):
    return {n}.5 * hour


def other(values):
    return sorted(values)
"""
PLAIN = "def f{n}(a):\n    return [a, {n}]\n"
RAW_SDK = """\
import anthropic
import helpers

TOOLS = [{"name": "tank_level", "input_schema": {"type": "object", "properties": {}}}]


def process_tool_call(tool_name, tool_input):
    if tool_name == "tank_level":
        return {"level": 2.5}


def answer(messages):
    return anthropic.Anthropic().messages.create(model="m", tools=TOOLS, messages=messages)
"""


def project(top: Path, count: int = 8) -> int:
    """Write a project and return how many characters it has in files of tools."""
    for folder in ("agents", "helpers", "plain"):
        (top / folder).mkdir()
    (top / "agents/raw.py").write_text(RAW_SDK)
    size = len(RAW_SDK)
    for n in range(count):
        text = TOOLS.format(n=n)
        size += len(text)
        (top / f"agents/a{n}.py").write_text(text)
        (top / f"helpers/h{n}.py").write_text(HELPER.format(n=n))
        (top / f"plain/p{n}.py").write_text(PLAIN.format(n=n) * 20)
    return size


def test_a_run_reads_and_asks_no_more_than_it_did(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    size = project(tmp_path)
    monkeypatch.chdir(tmp_path)
    outlined: list[int] = []
    parsed: list[int] = []
    evaluators: set[Questions] = set()
    questions = 0

    def counted(into: list[int], function: Callable[[str], object]) -> Callable[[str], object]:
        def call(source: str) -> object:
            into.append(len(source))
            return function(source)

        return call

    ask = Questions.ask

    def asked(self: Questions, *args: object) -> object:
        nonlocal questions
        questions += 1
        evaluators.add(self)
        return ask(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(modules, "outline_of", counted(outlined, modules.outline_of))
    monkeypatch.setattr(syntax, "_compiled", counted(parsed, syntax._compiled))
    monkeypatch.setattr(Questions, "ask", asked)
    result = CliRunner().invoke(
        cli, ["check", "--isolated", "--no-cache", "--jobs", "1", "--output-format", "concise"]
    )
    assert result.stdout.count("GL101") == 17
    # The files of tools, and the helpers that a value leads to: no other.
    assert len(outlined) == 17
    # Sections, and those again whose places are reported; files that take no part are parsed once for GL900.
    assert sum(parsed) - sum(outlined) <= 3.1 * size
    assert questions <= 180
    assert sum(evaluator.total_steps for evaluator in evaluators) <= 900


def test_a_run_over_unchanged_files_looks_for_no_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where each leads is asked again only if a file came or went."""
    project(tmp_path)
    monkeypatch.chdir(tmp_path)
    looked_for: list[str] = []
    find = Imports.find_module

    def counted(self: Imports, importer: str, dotted: str) -> str | None:
        looked_for.append(dotted)
        return find(self, importer, dotted)

    monkeypatch.setattr(Imports, "find_module", counted)
    command = ["check", "--isolated", "--jobs", "1", "--output-format", "concise"]
    first = CliRunner().invoke(cli, command).stdout
    assert "helpers" in looked_for
    looked_for.clear()
    assert CliRunner().invoke(cli, command).stdout == first
    assert not looked_for
