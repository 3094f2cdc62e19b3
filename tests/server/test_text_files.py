"""A template that is no Python in the editor: its findings, and what can be asked there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

READER = "from pathlib import Path\nFINAL_MESSAGE = Path('prompts/final.j2').read_text()\n"


@pytest.mark.asyncio
async def test_a_template_shows_its_findings(
    start: Any, project: Callable[[Mapping[str, str]], Path]
) -> None:
    root = project({"a.py": READER, "prompts/final.j2": "It drew 5 kW,\n{{claim:x}}.\n", "notes.md": "5 kW"})
    editor = await start(root)
    template, notes = editor.open(root / "prompts/final.j2"), editor.open(root / "notes.md")
    assert await editor.codes(template) == ["GL401", "GL403"]
    assert await editor.codes(notes) == []
    assert "GL401" in await editor.hover(template, "5 kW")
    assert await editor.complete(template, "kW", 2) == {}
    assert await editor.define(template, "kW") == []
    actions = await editor.actions(template)
    edit = actions["GL401: Suppress here"].edit
    assert edit is not None
    assert editor.applied(template, edit).startswith("It drew 5 kW, {# gllint: ignore[GL401] #}\n")
    editor.replace(template, "5 kW", "much")
    assert await editor.codes(template) == ["GL403"]
