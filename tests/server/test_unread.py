"""What an editor shows and offers while its edits leave other files to be read again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

pytestmark = pytest.mark.asyncio
Project = Callable[..., Path]

TOOL = '''\
from langchain_core.tools import tool
from helper import area


@tool
def rooms(house: str) -> dict:
    """The rooms of a house."""
    return area(house)
'''
HELPER = 'def area(house):\n    return {"rooms": 12}\n'
SILENT = HELPER.replace("}\n", "}  # gllint: ignore[GL101] counted by hand\n")
FIX_ALL = [types.CodeActionKind.SourceFixAll]


FETCHES = """\
import httpx
from langchain_core.tools import tool


@tool
def fetch(url: str) -> object:
    return httpx.get(url)
"""


def many(text: str = TOOL) -> dict[str, str]:
    """More files with tools than are checked at each keystroke."""
    return {f"tool{number}.py": text for number in range(20)}


@pytest.mark.parametrize("files", [{"tool0.py": TOOL}, many()], ids=["one", "many"])
async def test_findings_in_a_helper_stay_over_edits(
    start: Any, project: Project, files: dict[str, str]
) -> None:
    root = project({"helper.py": HELPER, **files})
    editor = await start(root)
    uri = editor.open(root / "helper.py")
    await editor.codes_become(uri, "GL101")
    for number in range(4):
        editor.change(uri, f"# {number}\n" * number + HELPER.replace("12", f"1{number}"))
        [found] = await editor.diagnostics(uri)
        assert (found.code, found.range.start.line) == ("GL101", number + 1)


async def test_findings_stay_while_the_tool_cannot_be_read(start: Any, project: Project) -> None:
    root = project({"helper.py": HELPER, "tool0.py": TOOL})
    editor = await start(root)
    uri, tool = editor.open(root / "helper.py"), editor.open(root / "tool0.py")
    await editor.codes_become(uri, "GL101")
    editor.change(tool, TOOL + "x = (\n")
    await editor.codes_become(tool, "GL900")
    editor.history.clear()
    editor.change(tool, TOOL + "x = ()\n")
    await editor.codes_become(tool)
    assert all(shown.diagnostics for shown in editor.history if shown.uri == uri)


@pytest.mark.parametrize("files", [{"tool0.py": TOOL}, many()], ids=["one", "many"])
async def test_a_suppression_is_not_taken_away_while_others_are_read(
    start: Any, project: Project, files: dict[str, str]
) -> None:
    root = project({"helper.py": SILENT, **files})
    editor = await start(root)
    uri = editor.open(root / "helper.py")
    for number in range(4):
        editor.change(uri, f"# {number}\n" + SILENT)
        assert await editor.actions(uri, only=FIX_ALL) == {}  # as a client that fixes whatever it saves
        assert await editor.codes(uri) == []
    assert not any(shown.diagnostics for shown in editor.history if shown.uri == uri)


async def test_a_suppression_stays_while_the_tool_cannot_be_read(start: Any, project: Project) -> None:
    root = project({"helper.py": SILENT, "tool0.py": TOOL + "<<<<<<<\n"})
    editor = await start(root)
    uri, tool = editor.open(root / "helper.py"), editor.open(root / "tool0.py")
    await editor.codes_become(tool, "GL900")
    editor.change(uri, SILENT + "\n")
    assert await editor.codes(uri) == []
    assert await editor.actions(uri, only=FIX_ALL) == {}
    editor.change(tool, TOOL.replace("area(house)", "house"))
    await editor.codes_become(uri, "GL901")
    assert await editor.actions(uri, only=FIX_ALL)


async def test_what_nothing_needs_is_shown_over_edits(start: Any, project: Project) -> None:
    plain = TOOL.replace("area(house)", "house")
    root = project({"helper.py": SILENT, **many(plain)})
    editor = await start(root)
    uri = editor.open(root / "helper.py")
    await editor.codes_become(uri, "GL901")
    for number in range(3):
        editor.change(uri, SILENT + f"# {number}\n")
        assert await editor.codes(uri) == ["GL901"]


# --- what is not looked at -------------------------------------------------------------------------------------


async def log_becomes(editor: Any, *lines: tuple[types.MessageType, str]) -> None:
    """Wait until these are the lines in the editor's log."""

    async def wait() -> None:
        while [(entry.type, entry.message) for entry in editor.client.log_messages] != list(lines):
            await asyncio.sleep(0.05)

    try:
        await asyncio.wait_for(wait(), 30)
    except TimeoutError:
        assert [(entry.type, entry.message) for entry in editor.client.log_messages] == list(lines)


async def test_what_is_not_looked_at_is_in_the_log_once(start: Any, project: Project) -> None:
    root = project({"helper.py": HELPER, "tool0.py": TOOL, "broken.py": "x = (\n", "fetch.py": FETCHES})
    (root / "bytes.py").write_bytes(b"\xff")
    editor = await start(root)
    uri = editor.open(root / "helper.py")
    warning, info = types.MessageType.Warning, types.MessageType.Info
    said = [
        (warning, "gllint: project: 1 file not checked, cannot be decoded: bytes.py"),
        (warning, "gllint: project: 1 file not checked: broken.py ('(' was never closed, line 1)"),
        (
            info,
            "gllint: project: 2 tools: 1 returns numbers. Not checked: 1 (unknown result: fetch.py:6), 2 files left out.",
        ),
    ]
    await log_becomes(editor, *said)
    assert editor.messages == []  # nothing pops up
    editor.change(uri, HELPER + "# more\n")
    await editor.diagnostics(uri)
    (root / "other.py").write_text("y = (\n")
    editor.client.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri)))
    news = "2 files not checked: broken.py ('(' was never closed, line 1), other.py ('(' was never closed, line 1)"
    await log_becomes(editor, *said, (warning, f"gllint: project: {news}"))


async def test_a_folder_that_cannot_be_listed_is_in_the_log(
    start: Any, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitecustomize.py").write_text(  # whoever runs the tests, root too, may not list it
        "import os\nscandir = os.scandir\n\n\ndef refusing(path='.'):\n"
        "    if os.fspath(path).endswith('locked'):\n        raise PermissionError(13, 'Permission denied', path)\n"
        "    return scandir(path)\n\n\nos.scandir = refusing\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    root = project({"helper.py": HELPER, "sub/locked/tool0.py": TOOL})
    editor = await start(root)
    editor.open(root / "helper.py")
    said = "gllint: project: 1 folder not checked, cannot be listed: Permission denied: sub/locked"
    await log_becomes(
        editor,
        (types.MessageType.Warning, said),
        (types.MessageType.Info, "gllint: project: 1 folder left out."),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = (\n", "'(' was never closed"),
        ("x = 1\n" * 200_001, "too large to read: 200,001 lines (the limit is 200,000)"),
        (TOOL + "\n" * 200_001, "too large to read: 200,009 lines (the limit is 200,000)"),
        (TOOL + "x = (\n", "'(' was never closed"),
    ],
)  # fmt: skip
async def test_an_open_file_that_cannot_be_read_has_its_finding(
    start: Any, project: Project, text: str, message: str
) -> None:
    root = project({"a.py": text, "helper.py": HELPER})
    editor = await start(root)
    uri = editor.open(root / "a.py")
    await editor.codes_become(uri, "GL900")
    [shown] = await editor.diagnostics(uri)
    assert shown.message == message
    editor.change(uri, "x = 1\n")
    await editor.codes_become(uri)


async def test_an_open_file_that_is_excluded_has_none(start: Any, project: Project) -> None:
    root = project({"pyproject.toml": "[tool.gllint]\nextend-exclude = ['a.py']\n", "a.py": "x = (\n"})
    editor = await start(root)
    uri = editor.open(root / "a.py")
    assert await editor.codes(uri) == []
