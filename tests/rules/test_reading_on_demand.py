"""Sections are read where their text may say something: one that only looks as if is passed over."""

from __future__ import annotations

import pytest

from gllint_rules import RULES, Settings
from gllint_rules.check.check import check
from gllint_rules.project.project import Project, registrars
from gllint_rules.reading.modules import read_module

AGENT = """
from openai import OpenAI

TOOLS = [{"type": "function", "function": {"name": "heat_loss", "parameters": {"type": "object"}}}]


def heat_loss(site):
    return {"loss": 3.5}


def turn(messages, call):
    if call.function.name == "heat_loss":
        messages.append(heat_loss(**call.function.arguments))
    return OpenAI().chat.completions.create(model="m", messages=messages, tools=TOOLS)
"""


def project_of(texts: dict[str, str]) -> Project:
    project = Project(
        Settings(),
        load=lambda path: None,
        exists=texts.__contains__,
        source_of=texts.__getitem__,
        root="/project",
    )
    for path, content in texts.items():
        project.add(read_module(path, content))
    return project


def read_sections(text: str) -> list[int]:
    """The numbers of the sections of a module beside an agent that the rules have read, its imports aside."""
    texts = {"/project/agent.py": AGENT, "/project/other.py": f"from agent import turn\n\n\n{text}"}
    project = project_of(texts)
    for path in texts:
        list(check(project, path, frozenset(RULES)))
    module = project.modules["/project/other.py"]
    return sorted(number for number in module._sections if module.outline.sections[number].kind != "imports")


@pytest.mark.parametrize(
    ("body", "is_read"),
    [
        ("result = table[name](x)", True),
        ("result = table.get(name)(x)", True),
        ("return [\n        name for name in table\n    ]", False),
        ("table[name] = x", False),
        ("note = 'Wärmeﬂuss in °C'\n    note = table.get(x, name)", False),
        ("note = 'Wärme in °C'\n    note = table[0]", False),
        ("if x == 'heat_loss':\n        note = x", True),
        ("note = {'label': 'heat_loss'}", False),
        ("note = type(x)", False),
    ],
)
def test_what_only_looks_like_a_call_by_a_name_is_not_read(body: str, is_read: bool) -> None:
    assert bool(read_sections(f"def plan(table, x, name):\n    {body}\n")) is is_read


def test_a_name_hands_a_decorator_on_once_however_often_it_is_imported() -> None:
    project = project_of({"/project/a.py": "from langchain_core.tools import tool as step\n" * 3})
    assert [registrar.used_as for registrar in project.once(registrars)] == ["step"]
