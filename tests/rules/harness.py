"""Runs the rules over small projects written in Markdown, and compares with what the text marks."""

from __future__ import annotations

import json
import random
import re
import textwrap
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from gllint.files.config import Config
from gllint.run.engine import Engine, Options
from gllint_rules import RULES, Failure, Finding, Settings
from gllint_rules.check.check import check
from gllint_rules.check.merge import merged
from gllint_rules.check.readers import Search, changed_by, vetted
from gllint_rules.project.imports import top_level_packages
from gllint_rules.project.project import Project
from gllint_rules.reading.data_files import UnreadableData
from gllint_rules.reading.facts import Module
from gllint_rules.reading.modules import read_module
from gllint_rules.reading.text_files import read_text_module
from gllint_rules.rule import OFF_IN_SOURCED_MODE
from gllint_rules.words.text_files import PAGE_SUFFIXES, text_kind
from gllint_runtime import Policy
from gllint_runtime.policy.configuration import Table

_CASE = re.compile(r"^## (?P<title>.+?)$(?P<body>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(
    r"^```(?P<kind>python|toml|jinja|markdown|text|yaml|json) ?(?P<path>\S*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_MARKER = re.compile(r"(GL\d{3}) @ (.+?)(?= & GL\d{3} @|$)")


@dataclass(frozen=True, order=True)
class Expected:
    """A finding that a case demands: where it starts."""

    path: str
    line: int
    column: int
    code: str


@dataclass(frozen=True)
class Case:
    """``unseen`` are files of the project that the screen did not let through."""

    title: str
    files: dict[str, str]
    configuration: dict[str, object]
    unseen: dict[str, str] = field(default_factory=dict)

    def expected(self) -> list[Expected]:
        return sorted(e for path, text in self.files.items() for e in _expected(path, text))


def cases(path: Path) -> list[Case]:
    """The cases of a Markdown file: a heading, perhaps a configuration, and files."""
    out = []
    for match in _CASE.finditer(path.read_text("utf-8")):
        files: dict[str, str] = {}
        configuration: dict[str, object] = {}
        for block in _BLOCK.finditer(match["body"]):
            if block["kind"] == "toml":
                configuration = tomllib.loads(block["text"])
            else:
                files[block["path"]] = block["text"]
        if files:
            out.append(Case(match["title"], files, configuration))
    return out


def _expected(path: str, text: str) -> list[Expected]:
    out = []
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        line = line.removesuffix(" #}")
        code, comment, marker = line.partition("# GL")
        target = number
        if not comment:
            code, comment, marker = line.partition("#: GL")
            if not comment:
                continue
            below = re.search(r" \+(\d+)$", marker)
            target += int(below[1]) if below else 1
            marker = marker[: below.start()] if below else marker
            code = lines[target - 1]
        for found in _MARKER.finditer(f"GL{marker}"):
            wanted = found[2].strip()
            column = code.find(wanted)
            assert column >= 0, f"{path}:{target}: {wanted!r} is not on the line"
            out.append(Expected(path, target, column + 1, found[1]))
    return out


def settings_of(configuration: dict[str, object]) -> Settings:
    table = Table("gllint.toml", "", configuration)
    names = set(Settings._fields)
    values = {key.replace("-", "_"): value for key, value in configuration.items()}
    rows = values.get("frameworks", [])
    assert isinstance(rows, list)
    values["frameworks"] = [json.dumps(row) for row in rows]
    return Settings(
        policy=Policy.of_table(table),
        **{k: tuple(v) if isinstance(v, list) else v for k, v in values.items() if k in names},  # type: ignore[arg-type]
    )


def codes_of(configuration: dict[str, object]) -> frozenset[str]:
    extra = configuration.get("extend-select", [])
    assert isinstance(extra, list)
    ignored = configuration.get("ignore", [])
    assert isinstance(ignored, list)
    return frozenset(
        code
        for code, rule in RULES.items()
        if (rule.default or any(code.startswith(e) for e in extra))
        and code not in ignored
        and not (configuration.get("mode") == "sourced" and code in OFF_IN_SOURCED_MODE)
    )


def run(case: Case, root: str = "/project") -> list[Finding | Failure]:
    """All findings in the files of a case that lies in the folder ``root``, in order of place."""
    texts = {f"{root}/{path}": text for path, text in case.files.items()}
    unseen = {f"{root}/{path}": text for path, text in case.unseen.items()}
    every = texts | unseen
    codes = codes_of(case.configuration)
    project = Project(
        settings_of(case.configuration)._replace(lists="GL103" in codes),
        load=lambda path: _module(path, every[path]) if path in every else None,
        exists=every.__contains__,
        source_of=every.__getitem__,
        root=root,
        packages=top_level_packages(every),
    )
    modules = [path for path in texts if text_kind(path) is None and not path.endswith(PAGE_SUFFIXES)]
    for path in modules:
        project.add(read_module(path, texts[path]))
    said = [item for path in modules for item in check(project, path, codes)]
    reported = list(merged(i for i in said if isinstance(i, Finding)))
    readers, _ = Search(changed_by(reported)).readers(sorted(every), lambda path: every[path].encode(), {})
    findings = vetted(reported, readers, lambda path: path[len(root) + 1 :])
    found = [*findings, *(i for i in said if isinstance(i, Failure))]
    return sorted(found, key=lambda f: (f.path, str(getattr(f, "span", "")), f.code))


def _module(path: str, text: str) -> Module | None:
    if text_kind(path) is None:
        return read_module(path, text)
    try:
        return read_text_module(path, text)
    except UnreadableData:
        return None


def checked(case: Case, folder: Path) -> list[Expected]:
    """The findings of ``gllint check`` on the case's files, written to ``folder``."""
    for path, text in case.files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8", newline="")
    (folder / ".git").mkdir()
    config = Config(
        select=tuple(codes_of(case.configuration) - {"GL901"}), rules=settings_of(case.configuration)
    )
    outcome = Engine(Options(fixed=config, cache=False, jobs=1)).check([str(folder)])
    assert outcome.failures == []
    root = folder.as_posix() + "/"
    return sorted(
        Expected(finding.path.removeprefix(root), finding.span.line, finding.span.column, finding.code)
        for finding in outcome.findings
    )


def places(found: list[Finding | Failure]) -> list[Expected]:
    out = []
    for item in found:
        assert isinstance(item, Finding), item
        out.append(Expected(item.path.removeprefix("/project/"), item.span.line, item.span.column, item.code))
    return sorted(out)


def example(text: str, path: str = "agent/example.py") -> Case:
    return Case("example", {path: textwrap.dedent(text)}, {})


# --- edits ---------------------------------------------------------------------------------------------------

# What somebody types, and what breaks a file; also words that reach beyond the line they stand on.
TYPED = (
    "x", "7", "(", ")", "\n", "\n\n", "  # c", "#", '"', "'", '"""', "\\", "\\\n", ":", "@f\n", "\r\n", "\r", "\t",
    "    ", "\n    y = 1\n", "def g(a):\n    return a\n", "class A:\n    def m(self):\n        self.x = 1\n",
    "import os\n", "from a import b as c\n", "else:\n", "async ", "global z", "return", ";", "\f", "d[0] = 1\n", "\0",
)  # fmt: skip


def random_edit(rng: random.Random, text: str) -> str:
    """``text`` with something put in, taken out or replaced at a place of which every kind is likely."""
    at = rng.randrange(len(text) + 1)
    at = rng.choice((at, text.find("\n", at) + 1))
    length = rng.choice((0, 0, 1, 2, 5, 40, 400))
    return text[:at] + rng.choice(("", *TYPED)) + text[at + length :]
