"""The examples on a rule's page, run: what *Bad* shows is reported, what *Good* shows is not."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gllint_rules.check.check import check
from gllint_rules.finding import Failure, Finding
from gllint_rules.project.project import Project
from gllint_rules.reading.modules import read_module
from gllint_rules.rule import Rule
from gllint_rules.words.settings import Settings

SECTIONS = ("What it does", "Why is this bad?", "Bad", "Good", "How to fix", "Options", "References")
_SECTION = re.compile(r"^## (?P<title>.+?)\n(?P<text>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"^```python\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)


def example_problems(rule: Rule) -> list[str]:
    """What is wrong with the page of an installed rule; empty where it holds what it says. For the tests of a rule."""
    return list(_problems(rule))


def _problems(rule: Rule) -> Iterator[str]:
    sections = {match["title"]: match["text"] for match in _SECTION.finditer(rule.documentation)}
    for title in SECTIONS:
        if not sections.get(title, "").strip():
            yield f"the page has no section '{title}'"
    for title, is_bad in (("Bad", True), ("Good", False)):
        blocks = _BLOCK.findall(sections.get(title, ""))
        if not blocks:
            yield f"the section '{title}' shows no Python"
        for code in blocks:
            reports = _reports_on(rule, code)
            yield from (
                f"{title}: the rule raised {item.error}" for item in reports if isinstance(item, Failure)
            )
            if is_bad and not any(not isinstance(item, Failure) for item in reports):
                yield f"{title}: nothing is reported"
            for item in reports:
                if not is_bad and not isinstance(item, Failure):
                    yield f"{title}: line {item.span.line} is reported: {item.message}"


def _reports_on(rule: Rule, code: str) -> list[Finding | Failure]:
    path = "/project/example.py"
    project = Project(Settings(), lambda _: None, lambda _: False, lambda _: code, "/project")
    project.add(read_module(path, code))
    return list(check(project, path, frozenset({rule.code})))
