"""Code actions, hovers, completions and jumps."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

pytestmark = pytest.mark.asyncio
Project = Callable[..., Path]

FIX_ALL = "gllint: Apply all safe fixes"
METER = '''\
"""Meters."""

from gllint_runtime import Tool


def read_meter(meter: str) -> dict:
    return {"reading": {"value": len(meter), "unit": "kWh"}}


READ_METER = Tool(
    name="read_meter",
    description="What a meter has counted",
    args_schema={"type": "object", "required": ["meter"], "properties": {"meter": {"type": "string"}}},
    result_schema={
        "type": "object",
        "required": ["reading"],
        "properties": {"reading": {"$ref": "greenlang://schemas/quantity.json"}},
    },
    fn=read_meter,
)
'''
AGENT = """\
from gllint_runtime import ToolAction, dispatch_tool

call = {"kind": "tool_call", "tool_call": {"id": "tc_1", "name": "read_meter"}}
step = {
    "kind": "final",
    "final": {
        "message": "It has counted {{claim:0}} so far.",
        "claims": [
            {
                "source_call_id": "tc_1",
                "path": "$.reading",
                "quantity": {"value": 100, "unit": "kWh"},
            }
        ],
    },
}


def ask(meter: str) -> dict:
    return dispatch_tool(ToolAction(name="read_meter", args={"meter": meter}))
"""


@pytest.fixture
def agents(project: Project) -> Path:
    return project({"meter.py": METER, "agent.py": AGENT})


# --- code actions --------------------------------------------------------------------------------------------


async def test_fix_of_a_finding(start: Any, project: Project) -> None:
    root = project({"a.py": "x = 1  # gllint: ignore[GL101]\ny = 2  # gllint: ignore[GL401]\n"})
    versioned = types.WorkspaceClientCapabilities(
        workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True)
    )
    for can in (types.ClientCapabilities(), types.ClientCapabilities(workspace=versioned)):
        editor = await start(root, capabilities=can)
        uri = editor.open(root / "a.py")
        actions = await editor.actions(uri)
        action = actions["GL901: Remove the unused suppression"]
        assert (action.kind, action.is_preferred) == (types.CodeActionKind.QuickFix, True)
        assert [d.code for d in action.diagnostics or []] == ["GL901"]
        text = editor.applied(uri, action.edit)
        assert text == "x = 1\ny = 2  # gllint: ignore[GL401]\n"
        assert "GL901: Suppress here" not in actions


async def test_fix_of_what_another_file_made_visible(start: Any, project: Project) -> None:
    schema = 'RESULT = {"type": "object", "properties": {"total": {"type": "number"}}}\n'
    tool = (
        "from gllint_runtime import Tool\n\nfrom schemas import RESULT\n\n"
        'TOTAL = Tool(name="total", args_schema={}, result_schema=RESULT, fn=lambda: {"total": 1.5})\n'
    )
    root = project({"agent.py": tool, "schemas.py": schema})
    editor = await start(root)
    uri = editor.open(root / "schemas.py")
    await editor.codes_become(uri, "GL201")
    actions = await editor.actions(uri)
    [title] = [title for title in actions if title.startswith("GL201: Refer to the Quantity schema")]
    text = editor.applied(uri, actions[title].edit)
    assert "quantity.json" in text
    editor.change(uri, text)
    await editor.codes_become(uri)


async def test_fixes_follow_the_text(start: Any, agents: Path) -> None:
    editor = await start(agents)
    uri = editor.open(agents / "meter.py")
    right = METER.replace("kWh", "GWh")
    for before in ("", "# one\n", "# one\n# two\n"):
        editor.change(uri, before + right.replace("GWh", "Gwh"))
        line = editor.position(uri, "Gwh").line
        actions = await editor.actions(uri, line)
        assert editor.applied(uri, actions["GL501: Write `GWh`"].edit) == before + right


async def test_all_safe_fixes_at_once(start: Any, project: Project) -> None:
    text = "x = 1  # gllint: ignore[GL101]\r\n🏠 = 1\r\ny = 2  # gllint: ignore[GL401]\r\n".replace("🏠", "é")
    root = project({"a.py": text})
    editor = await start(root)
    uri = editor.open(root / "a.py")
    [action] = (await editor.actions(uri, only=["source.fixAll"])).values()
    assert (action.title, action.kind) == (FIX_ALL, "source.fixAll.gllint")
    assert editor.applied(uri, action.edit) == "x = 1\r\né = 1\r\ny = 2\r\n"
    assert await editor.actions(uri, only=["source.organizeImports"]) == {}
    editor.change(uri, editor.applied(uri, action.edit))
    assert await editor.codes(uri) == []
    assert await editor.actions(uri, only=["source.fixAll"]) == {}


async def test_all_safe_fixes_are_worked_out_late_where_the_editor_can_wait(
    start: Any, project: Project
) -> None:
    resolves = types.ClientCodeActionResolveOptions(properties=["edit"])
    code_action = types.CodeActionClientCapabilities(resolve_support=resolves, data_support=True)
    can = types.ClientCapabilities(
        text_document=types.TextDocumentClientCapabilities(code_action=code_action)
    )
    root = project({"a.py": "x = 1  # gllint: ignore[GL101]\n"})
    editor = await start(root, capabilities=can)
    uri = editor.open(root / "a.py")
    action = (await editor.actions(uri))[FIX_ALL]
    assert action.edit is None
    resolved = await editor.client.code_action_resolve_async(action)
    assert editor.applied(uri, resolved.edit) == "x = 1\n"


SUPPRESSIONS = {
    "plain": (
        'FINAL_MESSAGE = "It is 9500 kWh."\n',
        'FINAL_MESSAGE = "It is 9500 kWh."  # gllint: ignore[GL401]\n',
    ),
    "comment": (
        'FINAL_MESSAGE = "It is 9500 kWh."  # an estimate\n',
        'FINAL_MESSAGE = "It is 9500 kWh."  # an estimate  # gllint: ignore[GL401]\n',
    ),
    "suppression": (
        'FINAL_MESSAGE = "It is 9500 kWh."  # gllint: ignore[GL402] x',
        'FINAL_MESSAGE = "It is 9500 kWh."  # gllint: ignore[GL402, GL401] x',
    ),
    "text over lines": (
        'FINAL_MESSAGE = """It\nis 9500 kWh.\n"""\n',
        'FINAL_MESSAGE = """It\nis 9500 kWh.\n"""  # gllint: ignore[GL401]\n',
    ),
    "continuation": (
        'FINAL_MESSAGE = "It is " \\\r\n  "9500 kWh."\r\n',
        'FINAL_MESSAGE = "It is " \\\r\n  "9500 kWh."  # gllint: ignore[GL401]\r\n',
    ),
}


async def test_suppression(start: Any, project: Project) -> None:
    root = project({"a.py": ""})
    editor = await start(root)
    uri = editor.open(root / "a.py")
    for name, (text, suppressed) in SUPPRESSIONS.items():
        editor.change(uri, text)
        finding = next(d for d in await editor.diagnostics(uri) if d.code == "GL401")
        action = (await editor.actions(uri, finding.range.start.line))["GL401: Suppress here"]
        assert editor.applied(uri, action.edit) == suppressed, name
        editor.change(uri, suppressed)
        assert "GL401" not in await editor.codes(uri), name


ASKS = """\
from langchain_core.tools import tool


@tool
def search(rows: list, text: str):
    return {"found": len(rows), "page": int(text), "order_id": int(text), "x": 3}
"""


async def test_settings_that_would_allow_a_finding(start: Any, project: Project) -> None:
    pyproject = (
        '# ours\n[project]\nname = "x"  # kept\n\n[tool.gllint]\nstrict = true\nplain-keys = ["a"]  # why\n'
    )
    root = project({"pyproject.toml": pyproject, "a.py": ASKS})
    editor = await start(root)
    uri = editor.open(root / "a.py")
    found = await editor.actions(uri, 5)
    offered = {title: action for title, action in found.items() if title.startswith("Add")}
    assert sorted(offered) == [
        'Add `plain-keys = ["*_id"]` to pyproject.toml',
        'Add `plain-keys = ["page"]` to pyproject.toml',
        'Add `unit-packs = ["counts"]` to pyproject.toml',
    ]
    action = offered['Add `plain-keys = ["page"]` to pyproject.toml']
    assert action.kind == types.CodeActionKind.QuickFix
    assert ["page" in diagnostic.message for diagnostic in action.diagnostics] == [True]
    assert list(action.edit.changes) == [(root / "pyproject.toml").as_uri()]
    editor.texts[(root / "pyproject.toml").as_uri()] = pyproject
    after = editor.applied((root / "pyproject.toml").as_uri(), action.edit)
    assert after == pyproject.replace('["a"]', '["a", "page"]')
    assert len(await editor.diagnostics(uri)) == 4
    (root / "pyproject.toml").write_text(after)
    editor.files_changed(root / "pyproject.toml")
    await editor.until(lambda: len(editor.published[uri][1]) == 3)
    assert 'Add `plain-keys = ["page"]` to pyproject.toml' not in await editor.actions(uri, 5)


@pytest.mark.parametrize(
    ("files", "name", "before", "after"),
    [
        ({"pyproject.toml": ""}, "pyproject.toml", "", '[tool.gllint]\nplain-keys = ["found"]\n'),
        (
            {"pyproject.toml": "", "gllint.toml": "# é\n"},
            "gllint.toml",
            "# é\n",
            '# é\nplain-keys = ["found"]\n',
        ),
        ({"pyproject.toml": "tool = {ruff = {a = 1}}\n"}, None, "", ""),
        ({}, None, "", ""),
    ],
)
async def test_settings_go_into_the_configuration_in_force_or_nowhere(
    start: Any, tmp_path: Path, files: dict[str, str], name: str | None, before: str, after: str
) -> None:
    root = tmp_path / "p"
    root.mkdir()
    for path, text in {**files, "a.py": ASKS}.items():
        (root / path).write_bytes(text.encode())
    editor = await start(root)
    uri = editor.open(root / "a.py")
    found = await editor.actions(uri, 5)
    offered = [
        action for title, action in found.items() if title == f'Add `plain-keys = ["found"]` to {name}'
    ]
    assert [list(action.edit.changes) for action in offered] == ([[(root / name).as_uri()]] if name else [])
    assert any(title.startswith("Add") for title in found) == (name is not None)
    for action in offered:
        editor.texts[(root / str(name)).as_uri()] = before
        assert editor.applied((root / str(name)).as_uri(), action.edit) == after


async def test_one_line_of_settings_for_several_findings_is_offered_once(
    start: Any, project: Project
) -> None:
    root = project({"a.py": ASKS.replace('"x": 3', '"wait_hours": 3, "age_hours": 2')})
    editor = await start(root)
    config = editor.open(root / "pyproject.toml", "# not saved yet\n")
    uri = editor.open(root / "a.py")
    found = await editor.actions(uri, 5)
    action = found['Add `unit-packs = ["time"]` to pyproject.toml']
    assert len(action.diagnostics) == 2
    assert editor.applied(config, action.edit) == '# not saved yet\n\n[tool.gllint]\nunit-packs = ["time"]\n'


# --- hover ---------------------------------------------------------------------------------------------------


async def test_hover_over_a_finding_shows_its_rule(start: Any, example: Path) -> None:
    editor = await start(example)
    uri = editor.open(example / "advisor" / "messages.py")
    text = await editor.hover(uri, "9,500")
    assert "does not come from a tool" in text
    assert "**GL401 naked-number**" in text and "`gllint rule GL401`" in text
    assert "#" not in text and len(text) < 1_000, "a few paragraphs, not the page"
    assert await editor.hover(uri, "Your house") == ""


async def test_hover_over_a_code_in_a_comment_shows_its_rule(start: Any, project: Project) -> None:
    root = project({"a.py": "x = 1  # gllint: ignore[GL101, GL402] because\n"})
    editor = await start(root)
    uri = editor.open(root / "a.py")
    assert "**GL402 " in await editor.hover(uri, "GL402")
    assert "**GL101 " not in await editor.hover(uri, "GL402")


async def test_hover_over_a_unit_shows_what_it_is(start: Any, agents: Path) -> None:
    editor = await start(agents)
    uri = editor.open(agents / "meter.py")
    text = await editor.hover(uri, '"kWh"', 2)
    assert "energy" in text and "1 kWh = 3.6 MJ" in text and "1 kWh = 0.001 MWh" in text
    editor.replace(uri, '"kWh"', '"kwh"')
    assert "Did you mean `kWh`?" in await editor.hover(uri, '"kwh"', 2)


async def test_hover_over_a_macro_shows_its_claim(start: Any, agents: Path) -> None:
    editor = await start(agents)
    uri = editor.open(agents / "agent.py")
    text = await editor.hover(uri, "{{claim:0}}", 4)
    for part in ("Claim 0", "`$.reading`", "`tc_1`", "`read_meter`: What a meter has counted", "100 kWh"):
        assert part in text
    editor.replace(uri, "{{claim:0}}", "{{claim:7}}")
    assert "Claim 7" in await editor.hover(uri, "{{claim:7}}", 4)


async def test_hover_over_a_tool_name_shows_the_tool(start: Any, agents: Path) -> None:
    editor = await start(agents)
    uri = editor.open(agents / "agent.py")
    text = await editor.hover(uri, 'ToolAction(name="read_meter"', 18)
    assert "What a meter has counted" in text and "meter.py:10" in text


# --- completion ----------------------------------------------------------------------------------------------


async def test_completes_units(start: Any, project: Project) -> None:
    root = project({"a.py": "", "gllint.toml": 'extend-units = ["barrel"]\n'})
    editor = await start(root)
    uri = editor.open(root / "a.py", 'q = {"value": 1, "unit": "k|"}'.replace("|", ""))
    await editor.diagnostics(uri)
    found = await editor.complete(uri, '"k"', 2)
    assert {"kWh", "kg", "USD", "barrel"} <= found.keys()
    assert "year" not in found
    assert found["kWh"].detail == "energy"
    edit = found["kWh"].text_edit
    assert edit.new_text == "kWh"
    assert (edit.range.start.character, edit.range.end.character) == (26, 27)
    editor.change(uri, 'q = {"value": 1, "unit": "kWh/')  # in the middle of typing
    found = await editor.complete(uri, '"kWh/', 5)
    assert {"kWh/year", "kWh/m2"} <= found.keys()
    assert found["kWh/m2"].detail == "energy/area"
    editor.change(uri, "q = Quantity(1, '')")
    assert "kWh" in await editor.complete(uri, "''", 1)
    editor.change(uri, "q = {'name': ''}")
    assert await editor.complete(uri, "''", 1) == {}


TOOL_NAME_PLACES = [
    'ToolAction(name="|", args={})',
    'dispatch_tool({"name": "|"})',
    'TOOL_REGISTRY.get("|")',
    'registry.invoke("|", {})',
    'step = {"kind": "tool_call", "tool_call": {"name": "|"',
]


async def test_completes_names_of_tools(start: Any, agents: Path) -> None:
    editor = await start(agents)
    uri = editor.open(agents / "new.py", "")
    for text in TOOL_NAME_PLACES:
        before, _, behind = text.partition("|")
        editor.change(uri, before + behind)
        await editor.diagnostics(uri)
        found = await editor.complete(uri, before, len(before))
        assert found["read_meter"].detail == "meter.py", text


# --- definition ----------------------------------------------------------------------------------------------


TOOL_MENTIONS = [
    ('ToolAction(name="read_meter"', 18),
    ('"name": "read_meter"', 10),
    ("{{claim:0}}", 3),
    ('"$.reading"', 3),
    ('"source_call_id": "tc_1"', 20),
]


async def test_jumps_to_the_tool(start: Any, agents: Path) -> None:
    editor = await start(agents)
    uri = editor.open(agents / "agent.py")
    for mark, shift in TOOL_MENTIONS:
        [location] = await editor.define(uri, mark, shift)
        assert location.uri == (agents / "meter.py").as_uri(), mark
        assert location.range.start.line == METER[: METER.index("READ_METER = ")].count("\n"), mark


async def test_jumps_by_the_path_where_the_call_is_unknown(start: Any, agents: Path) -> None:
    editor = await start(agents)
    uri = editor.open(agents / "agent.py")
    editor.replace(uri, '"source_call_id": "tc_1"', '"source_call_id": call_id')
    [location] = await editor.define(uri, "{{claim:0}}", 3)
    assert location.uri == (agents / "meter.py").as_uri()
    assert await editor.define(uri, "so far") == []


async def test_a_request_that_cannot_be_read_is_answered() -> None:
    def message(method: str, params: Any, **number: int) -> bytes:
        body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **number}).encode()
        return b"Content-Length: %d\r\n\r\n" % len(body) + body

    odd = [{}, {"textDocument": 5, "position": None}, [1], "where", None]
    said = [
        message("initialize", {"processId": None, "capabilities": {}, "rootUri": None}, id=0),
        *(message("textDocument/hover", params, id=number) for number, params in enumerate(odd, start=1)),
        message("shutdown", None, id=9),
        message("exit", None),
    ]
    command = [sys.executable, "-P", "-m", "gllint", "server"]
    done = subprocess.run(command, input=b"".join(said), capture_output=True, timeout=60)
    answers = [
        json.loads(text.partition(b"\r\n\r\n")[2]) for text in done.stdout.split(b"Content-Length")[1:]
    ]
    assert [answer["id"] for answer in answers if "error" in answer] == [1, 2, 3, 4, 5]
    assert {"id": 9, "jsonrpc": "2.0", "result": None} in answers
