"""A thousand random edits: the server lives, shows nothing beyond the text, and ends where the command line does.

In CI a part of them; ``TEST_EDITS=1000`` makes it all.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.asyncio
Project = Callable[..., Path]

EDITS = int(os.environ.get("TEST_EDITS", "150"))
HELPERS = '''\
"""What the tools share. é 🏠"""

LOSS = {"old": 2.4, "new": 0.8}
HEADLINE = "The building needs 9500 kWh a year."


def demand(area: float, standard: str) -> float:
    return area * LOSS[standard]


def label(area: float) -> str:
    return f"{area} m2"
'''
AGENT = '''\
from gllint_runtime import Tool, ToolAction, dispatch_tool
from langchain_core.tools import tool

from helpers import HEADLINE, demand, label


@tool
def heat_demand(area: float, standard: str) -> dict:
    """Heat demand. 🏠🏠"""
    return {"demand": demand(area, standard), "label": label(area)}


@tool
def heat(area: float) -> dict:
    """Heat."""
    return {"heat": {"value": area * 2.5, "unit": "kwh"}, "rooms": {"value": "4", "unit": "m2", "note": "x"}}


TOTAL = Tool(
    name="total",
    args_schema={"type": "object", "properties": {"area": {"type": "number"}}},
    result_schema={"type": "object", "properties": {"total": {"type": "number"}}},
    fn=lambda area: {"total": area * 3},
)

FINAL_MESSAGE = "It takes {{claim:0}}, about 12.5 kWh."  # gllint: ignore[GL402] never
step = {"kind": "final", "message": HEADLINE, "claims": []}


def answer(area: float) -> dict:
    return heat_demand.invoke({"area": area})
'''
PIECES = [
    "1", "12.5", '"', "'", '"""', "(", ")", "[", "]", "{", "}", ":", ",", "=", "\n", "\n\n", "    ", "\t", "\r\n",
    "#", "# gllint: ignore[GL401]", "# noqa: GL101", "\\", "é", "🏠", "\u2028", "\x0c", "{{claim:1}}", "def ", "return ",
    "float", "lambda: ", 'f"{x}"', "@tool\n", "import helpers\n", "from helpers import *\n", ".invoke(", "kWh", "0x",
]  # fmt: skip


def edits(text: str, rng: random.Random) -> Iterator[str]:
    """Texts, each an edit away from the one before; every second one is taken back by the next."""
    while True:
        start = rng.randrange(len(text) + 1)
        end = min(len(text), start + rng.choice([0, 0, 0, 1, 2, 7, 40, 200]))
        changed = text[:start] + rng.choice([*PIECES, ""]) + text[end:]
        yield changed
        if rng.random() < 0.8:
            yield text
        else:
            text = changed
            if len(text) < 200 or rng.random() < 0.1:
                text = rng.choice([AGENT, HELPERS])
                yield text


def lines_of(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def assert_within(editor: Any, uri: str) -> None:
    """Every place that is shown exists in the text that it is shown for."""
    lines = lines_of(editor.texts[uri])
    for diagnostic in editor.published[uri][1]:
        assert diagnostic.range.start <= diagnostic.range.end
        for place in (diagnostic.range.start, diagnostic.range.end):
            assert place.line < len(lines)
            assert place.character <= len(lines[place.line].encode("utf-16-le")) // 2


async def test_thousand_random_edits(start: Any, project: Project, check: Any) -> None:
    root = project({"agent.py": AGENT, "helpers.py": HELPERS})
    rng = random.Random(20)
    editor = await start(root)
    paths = [root / "agent.py", root / "helpers.py"]
    uris = [editor.open(path) for path in paths]
    sources = [edits(AGENT, rng), edits(HELPERS, rng)]
    broken = 0
    for _ in range(EDITS):
        number = rng.randrange(2)
        uri = uris[number]
        editor.change(uri, next(sources[number]), whole=rng.random() < 0.1)
        if rng.random() < 0.5:
            await editor.diagnostics(uri)
            assert_within(editor, uri)
            broken += any(diagnostic.code == "GL900" for diagnostic in editor.published[uri][1])
    assert broken > EDITS / 20
    for path, uri in zip(paths, uris, strict=True):
        path.write_bytes(editor.texts[uri].encode())
    await same_as_command_line(editor, root, paths, check)
    for path, text in zip(paths, (AGENT, HELPERS), strict=True):
        editor.change(path.as_uri(), text)
        path.write_bytes(text.encode())
    await same_as_command_line(editor, root, paths, check)


async def same_as_command_line(editor: Any, root: Path, paths: list[Path], check: Any) -> None:
    expected = sorted((f["path"], f["line"], f["code"], f["message"]) for f in check(root))

    def shown() -> list[tuple[str, int, str, str]]:
        return sorted(
            (path.name, d.range.start.line + 1, str(d.code), d.message)
            for path in paths
            for d in editor.published[path.as_uri()][1]
        )

    for path in paths:
        await editor.diagnostics(path.as_uri())
    try:
        await editor.until(lambda: shown() == expected)
    except TimeoutError:
        assert shown() == expected
