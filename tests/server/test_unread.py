"""What an editor shows and offers while its edits leave other files to be read again."""

from __future__ import annotations

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
