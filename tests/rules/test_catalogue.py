"""Each rule: its record, its page, and the page's examples, executed."""

from __future__ import annotations

import importlib.metadata
import re
from email.message import Message
from pathlib import Path

import pytest

from gllint_rules import RULES, Rule, Settings
from gllint_rules import catalogue as catalogue_package
from gllint_rules.rule import _project_url
from gllint_runtime.policy.settings import POLICY_KEYS
from harness import Case, places, run

SECTIONS = ["What it does", "Why is this bad?", "Bad", "Good", "How to fix", "Options", "References"]
REPOSITORY = Path(__file__).parents[2]
OPTIONS = {name.replace("_", "-") for name in Settings._fields} | {*POLICY_KEYS, "exclude", "extend-exclude"}
_BLOCK = re.compile(r"^```(?P<kind>\w+) ?(?P<path>\S*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)

each_rule = pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.code)
each_checked_rule = pytest.mark.parametrize(
    "rule", [rule for rule in RULES.values() if rule.check is not None], ids=lambda rule: rule.code
)


def sections(rule: Rule) -> dict[str, str]:
    """The sections of a rule's page by title; the text before the first one under the empty title."""
    first, *rest = re.split(r"^## (.+)$\n", rule.documentation, flags=re.MULTILINE)
    return {"": first, **dict(zip(rest[::2], rest[1::2], strict=True))}


def example(rule: Rule, title: str) -> Case:
    """The project that a section shows: one file, or several with their paths beside the fence."""
    files: dict[str, str] = {}
    for block in _BLOCK.finditer(sections(rule)[title]):
        if block["kind"] == "python":
            files[block["path"] or "agent/example.py"] = block["text"]
    assert files, f"{rule.code}: nothing to run under {title}"
    return Case(f"{rule.code} {title}", files, {"extend-select": [rule.code]})


@each_rule
def test_module_is_named_after_code_and_name(rule: Rule) -> None:
    folder = Path(catalogue_package.__path__[0])
    assert (folder / f"{rule.code.lower()}_{rule.name.replace('-', '_')}.py").is_file()


@each_rule
def test_record(rule: Rule) -> None:
    assert re.fullmatch(r"GL[1-9]\d\d", rule.code)
    assert re.fullmatch(r"[a-z]+(-[a-z]+)+", rule.name)
    assert re.fullmatch(r"[A-Z].{10,75}[^.\s]", rule.summary)
    assert rule.fix in ("none", "safe", "unsafe", "sometimes")
    assert re.fullmatch(r"\d+\.\d+\.\d+", rule.since)
    assert set(rule.options) <= OPTIONS


@pytest.mark.parametrize(
    ("urls", "address"),
    [
        ([], ""),
        (["Changes, https://c.example/x"], ""),
        (
            ["Changes, https://c.example/x", "Homepage, https://h.example/docs/"],
            "https://h.example/docs/rules/naked-number/",
        ),
        (
            ["Documentation, https://r.example/blob/v1/docs"],
            "https://r.example/blob/v1/docs/rules/naked-number.md",
        ),
    ],
)
def test_pages_have_an_address_where_the_distribution_names_one(
    monkeypatch: pytest.MonkeyPatch, urls: list[str], address: str
) -> None:
    about = Message()
    for url in urls:
        about["Project-URL"] = url
    monkeypatch.setattr(importlib.metadata, "metadata", lambda name: about)
    _project_url.cache_clear()
    assert RULES["GL401"].url == address
    _project_url.cache_clear()


def test_names_and_summaries_are_unique() -> None:
    assert len({rule.name for rule in RULES.values()}) == len(RULES)
    assert len({rule.summary for rule in RULES.values()}) == len(RULES)


@each_rule
def test_page_has_the_fixed_sections(rule: Rule) -> None:
    found = sections(rule)
    assert list(found) == ["", *SECTIONS]
    assert found[""].strip() == f"{rule.summary}."
    assert [title for title in SECTIONS if not found[title].strip()] == []


@each_rule
def test_page_speaks_of_exactly_the_options_of_the_rule(rule: Rule) -> None:
    text = sections(rule)["Options"]
    named = {word for word in re.findall(r"`([a-z]+(?:-[a-z]+)*)`", text) if word in OPTIONS}
    if rule.check is not None:
        assert named == set(rule.options)


@each_rule
def test_page_says_when_a_rule_is_opt_in(rule: Rule) -> None:
    page = sections(rule)
    assert ("opt-in" in page["What it does"].lower()) is not rule.default
    assert ("extend-select" in page["Options"]) is not rule.default


@each_checked_rule
def test_bad_example_is_reported(rule: Rule) -> None:
    assert rule.code in {place.code for place in places(run(example(rule, "Bad")))}


@each_checked_rule
def test_good_example_is_silent(rule: Rule) -> None:
    assert places(run(example(rule, "Good"))) == []


@each_rule
def test_code_is_in_the_list_of_rules_and_the_changelog(rule: Rule) -> None:
    for name in ("docs/rules/README.md", "CHANGELOG.md"):
        assert rule.code in (REPOSITORY / name).read_text("utf-8"), name


def test_no_document_speaks_of_a_code_that_is_none() -> None:
    documents = [REPOSITORY / "README.md", REPOSITORY / "CHANGELOG.md", *(REPOSITORY / "docs").rglob("*.md")]
    pages = [(path.name, path.read_text("utf-8")) for path in documents]
    pages += [(rule.code, rule.documentation) for rule in RULES.values()]
    unknown = {
        (name, code) for name, text in pages for code in re.findall(r"\bGL\d{3}\b", text) if code not in RULES
    }
    assert unknown == set()
