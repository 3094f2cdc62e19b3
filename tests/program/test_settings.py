"""Every setting reaches everybody who asks: the command, flake8, the editor, ``--why``, completion and fixes.

A key of the configuration's schema without an example here fails the first test.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from gllint.cli.commands import cli
from gllint.errors import UsageError
from gllint.files.config import schema
from gllint.hosts.flake8 import Plugin
from gllint.run.engine import Engine, Options
from gllint.server.completion import units
from gllint.server.session import Session
from gllint.server.texts import Snapshot

Write = Callable[..., Path]

SITE = "env/lib/python3.12/site-packages"
HEAD = "from langchain_core.tools import tool\n\n\n"
RESULT = HEAD + '@tool\ndef heat(area: str) -> dict:\n    """Heat."""\n    return {}\n'
QUANTITY = '{{"value": 5 * 2, "unit": "{}"}}'
HEAT = RESULT.format('{"demand": 5}')
SAID = 'FINAL_MESSAGE = "It needs {}."\n'
OWN = 'from kit import {0}\n\n\nclass Solar({0}):\n    def {1}(self, area: float):\n        return {{"share": 0.19}}\n'
CREW = "from crewai.tools import BaseTool\n\n\n"
ROWS = (
    RESULT.format('{"rows": [{"energy": {"value": 5 * 2, "unit": "kWh"}}]}')
    + '\n\nSTEP = {"kind": "final", "message": "It is {{claim:0}}.", "claims": [\n'
    '    {"source_call_id": "c", "path": "$.rows[0].energy", "quantity": {"value": probe(), "unit": "kWh"}}\n]}\n'
)


@dataclass(frozen=True)
class Example:
    """What a setting does to the findings in a file, as ``line code``; ``others`` stand in the project, too."""

    setting: str
    text: str
    without: list[str]
    under: list[str]
    units: set[str] = field(default_factory=set)  # that completion offers or withholds under it
    others: dict[str, str] = field(default_factory=dict)


EXAMPLES = {
    "select": Example("['GL401']", HEAT + SAID.format("9 kWh"), ["7 GL101", "8 GL401"], ["8 GL401"]),
    "extend-select": Example(
        "['GL405']", RESULT.format('"It is 5 kWh"'), [], ["7 GL405"]
    ),
    "ignore": Example("['GL1']", HEAT, ["7 GL101"], []),
    "extend-ignore": Example("['GL101']", HEAT, ["7 GL101"], []),
    "per-file-ignores": Example("{'a*.py' = ['GL101']}", HEAT, ["7 GL101"], []),
    "exclude": Example("['agent.py']", HEAT, ["7 GL101"], []),
    "extend-exclude": Example("['agent.py']", HEAT, ["7 GL101"], []),
    "require-reason": Example(
        "true", HEAT[:-1] + "  # gllint: ignore[GL101]\n", [], ["7 GL902"]
    ),
    "extend-units": Example(
        "['widget']", RESULT.format(QUANTITY.format("widget")), ["7 GL501"], [], {"widget"}
    ),
    "strict-units": Example(
        "true", RESULT.format(QUANTITY.format("MJ/kg")), [], ["7 GL502"], {"MJ/kg"}
    ),
    "unit-packs": Example(
        "['counts']", RESULT.format(QUANTITY.format("count")), ["7 GL502"], [], {"count"}
    ),
    "plain-keys": Example("['dem*']", HEAT, ["7 GL101"], []),
    "plain-kinds": Example("[]", RESULT.format('{"page": 1}'), [], ["7 GL101"]),
    "strict": Example("true", RESULT.format('{"page": 1}'), [], ["7 GL101"]),
    "mode": Example("'sourced'", RESULT.format('{"heat_kwh": 5}'), ["7 GL101"], []),
    "designations": Example("true", SAID.format("an iPhone 15"), ["1 GL401"], []),
    "units": Example("{'dem*' = 'kWh'}", HEAT, ["7 GL101"], []),
    "array-paths": Example("true", ROWS, ["7 GL103", "11 GL404"], []),
    "tool-classes": Example("['ClimateAction']", OWN.format("ClimateAction", "execute"), [], ["6 GL101"]),
    "tool-decorators": Example(
        "['offered']", HEAT.replace("tool\n", "offered\n"), [], ["7 GL101"]
    ),
    "tool-methods": Example("['compute']", OWN.format("BaseTool", "compute"), [], ["6 GL101"]),
    "result-payloads": Example(
        "['payload']",
        OWN.format("BaseTool", "execute").replace('{"share": 0.19}', 'ToolResult(payload={"share": 0.19})'),
        [],
        ["6 GL101"],
    ),
    "dispatchers": Example(
        "['dispatch_all']",
        CREW + "def dispatch_all(tool: BaseTool, args):\n    return tool.run(**args)\n",
        ["5 GL301"],
        [],
    ),
    "frameworks": Example(
        "[{name = 'ours', decorators = ['ours.offered']}]",
        HEAT.replace("tool\n", "offered\n").replace("langchain_core.tools", "ours"),
        [],
        ["7 GL101"],
    ),
    "registry-modules": Example(
        "['inbuilt']",
        "import kit\n\nshared = kit.Writer()\n",
        [],
        ["3 GL302"],
        others={
            "kit.py": CREW + "class Writer(BaseTool):\n    def _run(self, path: str) -> str:\n        return path\n",
            "inbuilt.py": "from kit import Writer\n\nwriter = Writer()\n",
        },
    ),
    "python": Example(
        "'env'",
        HEAD + "import meters\n\n\n@tool\ndef heat(area: str) -> dict:\n    return {\"heat\": meters.read(area)}\n",
        [],
        ["9 GL101"],
        others={
            f"{SITE}/meters/__init__.py": "def read(area: str) -> float: ...\n",
            f"{SITE}/meters/py.typed": "",
        },
    ),
    "final-message-names": Example("['*_answer']", 'pump_answer = "It costs 12 euros."\n', [], ["1 GL401"]),
    "final-message-calls": Example(
        "['Answer']",
        'from kit import Answer\n\n\ndef finish():\n    return Answer(message="It leaks 40 litres.")\n',
        [],
        ["5 GL401"],
    ),
    "whitelist-patterns": Example(
        "['EN \\d+']", SAID.format("an audit by EN 16247"), ["1 GL401"], []
    ),
    "number-words": Example("true", SAID.format("five hundred kWh"), [], ["1 GL401"]),
}  # fmt: skip


# Of which `--why` says nothing: the form of a comment, and files, which it is asked about by name.
NO_EVIDENCE = {"require-reason", "exclude", "extend-exclude"}

# What shows no finding and hides none has a test of its own below.
OF_A_RUN = {
    "extend",
    "guard",
    "quantity-shapes",
    "fixable",
    "unfixable",
    "force-exclude",
    "severity",
    "fail-level",
    "required-version",
    "jobs",
    "cache-dir",
    "baseline",
}


def test_every_setting_has_an_example() -> None:
    assert EXAMPLES.keys() | OF_A_RUN == schema()["properties"].keys()
    assert EXAMPLES.keys().isdisjoint(OF_A_RUN)


# --- who asks ------------------------------------------------------------------------------------------------


class Editor:
    """What a session needs of an editor."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def working(self, title: str) -> Callable[[str, int, int], None]:
        return lambda label, done, total: None

    def complain(self, message: str) -> None:
        self.said.append(message)

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *arguments: None


def command(folder: Path, *options: str) -> list[Any]:
    done = CliRunner().invoke(cli, ["check", "--output-format", "json", *options, str(folder)])
    assert done.exit_code in (0, 1), done.stderr
    found: list[Any] = [f for f in json.loads(done.stdout) if f["path"].endswith("agent.py")]
    return found


def flake8(path: Path) -> list[str]:
    text = path.read_text("utf-8")
    Plugin._engine, Plugin._paths = Engine(Options(jobs=1, take_turns=True, fixes=False)), (str(path.parent),)
    try:
        plugin = Plugin(ast.parse(text), str(path), text.splitlines(keepends=True))
        return [f"{line} {said.split()[0]}" for line, _, said, _ in plugin.run()]
    finally:
        Plugin._engine, Plugin._paths = None, ()


def opened(path: Path) -> tuple[Session, Editor]:
    editor = Editor()
    session = Session(editor)  # type: ignore[arg-type]
    session.add_folder(str(path.parent))
    session.put(str(path), Snapshot(path.as_uri(), path.read_text("utf-8"), 0, "utf-16"))
    session.apply(str(path))
    return session, editor


def completed(session: Session, path: Path) -> set[str]:
    policy = session.buffers[str(path)].settings.policy
    return {unit for head in ("", "MJ/") for unit, _ in units(head, policy)}


def why(path: Path, line: int) -> str:
    done = CliRunner().invoke(cli, ["check", "--why", f"{path}:{line}"])
    assert done.exit_code == 0, done.stderr
    return done.stdout


@pytest.fixture(params=EXAMPLES)
def key(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def folders(key: str, write: Write) -> tuple[tuple[list[str], Path], ...]:
    """The project without the setting and with it, and what is found there."""
    example = EXAMPLES[key]
    files = {"agent.py": example.text, **example.others}
    write({f"without/{name}": text for name, text in {**files, "gllint.toml": ""}.items()})
    setting = f"{key} = {example.setting}\n"
    top = write({f"under/{name}": text for name, text in {**files, "gllint.toml": setting}.items()})
    return (example.without, top / "without/agent.py"), (example.under, top / "under/agent.py")


def places(found: list[Any]) -> list[str]:
    return [f"{f['line']} {f['code']}" for f in found]


def test_the_command_flake8_and_the_editor_follow_it(key: str, folders: Any) -> None:
    for expected, path in folders:
        assert places(command(path.parent)) == expected
        assert flake8(path) == expected
        session, editor = opened(path)
        shown = session.findings(str(path))
        assert shown is not None
        assert [f"{f.span.line} {f.code}" for f in shown.findings] == expected
        assert editor.said == []


@pytest.mark.parametrize("key", sorted(EXAMPLES.keys() - NO_EVIDENCE), indirect=True)
def test_why_follows_it(key: str, folders: Any) -> None:
    (without, before), (under, after) = folders
    [line, *_] = sorted({int(found.split()[0]) for found in set(without) ^ set(under)})
    assert why(before, line) != why(after, line).replace("/under/", "/without/")


def test_completion_follows_it(key: str, folders: Any) -> None:
    (_, before), (_, after) = folders
    offered = [completed(opened(path)[0], path) for path in (before, after)]
    assert EXAMPLES[key].units <= offered[0] ^ offered[1]
    assert bool(EXAMPLES[key].units) == (offered[0] != offered[1])


def test_fixes_follow_it(key: str, folders: Any) -> None:
    """The editor has those of the command, and applied they leave what is no finding as it is."""
    for _, path in folders:
        with_fix = [f"{f['line']} {f['code']}" for f in command(path.parent) if f["fix"] is not None]
        session, _ = opened(path)
        shown = session.fixable(str(path))
        assert shown is not None
        assert [f"{f.span.line} {f.code}" for f in shown.findings if f.fix is not None] == with_fix
        before = path.read_text("utf-8")
        done = CliRunner().invoke(cli, ["check", "--fix", "--unsafe-fixes", str(path.parent)])
        assert done.exit_code in (0, 1), done.stderr
        assert (path.read_text("utf-8") != before) == bool(with_fix)
        assert set(places(command(path.parent))).isdisjoint(with_fix)


# --- what is no matter of findings -----------------------------------------------------------------------------


def test_named_files_are_left_out_under_force_exclude(write: Write) -> None:
    for value, expected in (("false", ["7 GL101"]), ("true", [])):
        configuration = f"extend-exclude = ['agent.py']\nforce-exclude = {value}\n"
        path = write({"agent.py": HEAT, "gllint.toml": configuration}) / "agent.py"
        assert places(command(path)) == expected


def test_the_severity_is_that_of_the_configuration(write: Write) -> None:
    path = write({"agent.py": HEAT, "gllint.toml": "severity = {GL101 = 'warning'}\n"}) / "agent.py"
    assert [found["severity"] for found in command(path.parent)] == ["warning"]
    shown = opened(path)[0].findings(str(path))
    assert shown is not None and shown.level("GL101") == "warning"


def test_the_lowest_level_that_fails(write: Write) -> None:
    for level, code in (("error", 0), ("warning", 1)):
        configuration = f"severity = {{GL101 = 'warning'}}\nfail-level = '{level}'\n"
        folder = write({"agent.py": HEAT, "gllint.toml": configuration})
        assert CliRunner().invoke(cli, ["check", str(folder)]).exit_code == code


def test_another_version_is_refused_by_all(write: Write) -> None:
    path = write({"agent.py": HEAT, "gllint.toml": "required-version = '>=99'\n"}) / "agent.py"
    assert isinstance(CliRunner().invoke(cli, ["check", str(path.parent)]).exception, UsageError)
    with pytest.raises(UsageError, match="99"):
        flake8(path)
    session, editor = opened(path)
    shown = session.findings(str(path))
    assert shown is not None and shown.findings == ()
    assert any("99" in said for said in editor.said)


def test_how_many_processes_and_where_the_cache_is(write: Write) -> None:
    path = write({"agent.py": HEAT, "gllint.toml": "jobs = 1\ncache-dir = 'kept'\n"}) / "agent.py"
    assert places(command(path.parent)) == ["7 GL101"]
    assert (path.parent / "kept" / ".gllint_cache").is_dir()
    assert flake8(path) == ["7 GL101"]
