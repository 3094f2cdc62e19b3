"""Each fix: what it writes, how sure it is, and where there is none."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from fixing import assert_sound, findings, fix_all, offered
from gllint_rules import RULES, Failure, Finding
from harness import Case, run

FILES = sorted((Path(__file__).parent / "fixes").glob("*.md"))
_CASE = re.compile(r"^## (?P<title>.+?)$(?P<body>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(
    r"^```(?P<kind>python|fixed) ?(?P<path>\S*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
_SAYS = re.compile(r"^(?P<safety>safe|unsafe|no fix): (?P<code>GL\d{3})$", re.MULTILINE)


@dataclass(frozen=True)
class Rewrite:
    """A project before and after its fixes, and what is said of the rule's own findings."""

    files: dict[str, str]
    fixed: dict[str, str]
    code: str
    safeties: list[str]


def rewrites(path: Path) -> list[tuple[str, Rewrite]]:
    """The cases of a Markdown file: files, what becomes of them, and how sure the fixes are."""
    out = []
    for match in _CASE.finditer(path.read_text("utf-8")):
        files: dict[str, str] = {}
        fixed: dict[str, str] = {}
        for block in _BLOCK.finditer(match["body"]):
            target = files if block["kind"] == "python" else fixed
            target[block["path"] or "plant/tools.py"] = block["text"]
        said = list(_SAYS.finditer(match["body"]))
        assert files and said, match["title"]
        rewrite = Rewrite(files, fixed, said[0]["code"], [s["safety"] for s in said])
        out.append((match["title"], rewrite))
    return out


CASES = [
    pytest.param(rewrite, id=f"{path.stem}-{re.sub(r'[^0-9a-zA-Z]+', '-', title).strip('-')}")
    for path in FILES
    for title, rewrite in rewrites(path)
]


def _safeties(found: list[Finding], code: str) -> list[str]:
    return sorted({f.fix.applicability if f.fix is not None else "no fix" for f in found if f.code == code})


@pytest.mark.parametrize("rewrite", CASES)
def test_rewrite(rewrite: Rewrite) -> None:
    assert fix_all(rewrite.files) == {**rewrite.files, **rewrite.fixed}
    assert _safeties(findings(rewrite.files), rewrite.code) == sorted(rewrite.safeties)


@pytest.mark.parametrize("rewrite", CASES)
def test_each_fix_alone_is_sound(rewrite: Rewrite) -> None:
    before = findings(rewrite.files)
    for finding in offered(before):
        assert_sound(rewrite.files, finding, before)


@pytest.mark.parametrize(("unit", "modules"), [("kwh", ["gllint_rules.fixes.wrap"]), ("years", [])])
def test_a_fix_that_may_write_no_unit_parses_no_tree(
    unit: str, modules: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """LibCST takes longer to load than such a file to check."""
    loaded: list[str] = []

    def load(name: str) -> ModuleType:
        loaded.append(name)
        return import_module(name)

    monkeypatch.setattr("gllint_rules.fixes.import_module", load)
    tool = "from langchain_core.tools import tool\n\n\n@tool\ndef f(x):\n    return {'way_%s': 3.5}\n"
    [finding] = findings({"a.py": tool % unit})
    assert loaded == modules
    assert (finding.fix is not None) == bool(modules)


def test_the_catalogue_says_which_rules_have_fixes() -> None:
    """Each rule that says so has a fix of that safety, and no other rule has one."""
    shown: dict[str, set[str]] = {}
    for path in FILES:
        for _, rewrite in rewrites(path):
            for finding in offered(findings(rewrite.files)):
                assert finding.fix is not None
                shown.setdefault(finding.code, set()).add(finding.fix.applicability)
    declared = {
        code: rule.fix for code, rule in RULES.items() if rule.fix != "none" and rule.check is not None
    }
    of = {
        frozenset({"safe"}): "safe",
        frozenset({"unsafe"}): "unsafe",
        frozenset({"safe", "unsafe"}): "sometimes",
    }
    assert {code: of[frozenset(kinds)] for code, kinds in shown.items()} == declared


def test_a_fix_that_fails_costs_the_fix_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    from gllint_rules.fixes import wrap

    def fail(*_: object) -> None:
        raise IndexError("nothing there")

    monkeypatch.setattr(wrap, "wrap_leaf", fail)
    source = (
        "from langchain_core.tools import tool\n\n\n@tool\ndef f(x):\n    return {'a_kwh': 1, 'b_kw': 2}\n"
    )
    found = run(Case("fails", {"a.py": source}, {}))
    assert [f.fix for f in found if isinstance(f, Finding)] == [None, None]
    assert ["nothing there" in f.error for f in found if isinstance(f, Failure)] == [True]
