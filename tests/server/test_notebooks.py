"""Notebooks in an editor: the findings of the command line at their cells, and fixes within a cell."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

pytestmark = pytest.mark.asyncio
Project = Callable[..., Path]

SYNC = types.NotebookDocumentSyncClientCapabilities()
NOTEBOOKS = types.ClientCapabilities(
    notebook_document=types.NotebookDocumentClientCapabilities(SYNC),
    workspace=types.WorkspaceClientCapabilities(
        workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True)
    ),
)
SETUP = "%pip install langchain\nfrom langchain_core.tools import tool\n\nLOAD = 12"
TOOL = '@tool\ndef heat(site: str) -> dict:\n    """É 😀."""\n    return {"é": "😀", "heat_kwh": 3.5}'
OTHER = '@tool\ndef rows(site: str) -> dict:\n    """Rows."""\n    return {"load": LOAD}'
CELLS = [SETUP, "%%bash\nls 9500\n", TOOL, OTHER]


def stored(cells: Sequence[str]) -> str:
    made = [
        {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": cell}
        for cell in cells
    ]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)


@dataclass
class Book:
    """A notebook that is open in an editor of the tests."""

    editor: Any
    uri: str
    version: int = 1
    cells: list[str] = field(default_factory=list)
    made: int = 0

    @property
    def client(self) -> Any:
        return self.editor.client

    def _new(self, text: str, language: str = "python") -> types.TextDocumentItem:
        uri = f"vscode-notebook-cell:{self.uri.removeprefix('file:')}#W{self.made}sZmlsZQ%3D%3D"
        self.made += 1
        self.editor.texts[uri], self.editor.versions[uri] = text, 1
        return types.TextDocumentItem(uri, language, 1, text)

    def open(self, texts: Sequence[str]) -> None:
        items = [self._new(text) for text in texts]
        self.cells = [item.uri for item in items]
        cells = [types.NotebookCell(types.NotebookCellKind.Code, uri) for uri in self.cells]
        self.client.notebook_document_did_open(
            types.DidOpenNotebookDocumentParams(
                types.NotebookDocument(self.uri, "jupyter-notebook", self.version, cells), items
            )
        )

    def _change(self, changes: types.NotebookDocumentCellChanges) -> None:
        self.version += 1
        self.client.notebook_document_did_change(
            types.DidChangeNotebookDocumentParams(
                types.VersionedNotebookDocumentIdentifier(self.version, self.uri),
                types.NotebookDocumentChangeEvent(cells=changes),
            )
        )

    def change(self, uri: str, text: str) -> None:
        self.editor.texts[uri] = text
        self.editor.versions[uri] += 1
        document = types.VersionedTextDocumentIdentifier(self.editor.versions[uri], uri)
        event = types.TextDocumentContentChangeWholeDocument(text)
        self._change(
            types.NotebookDocumentCellChanges(
                text_content=[types.NotebookDocumentCellContentChanges(document, [event])]
            )
        )

    def replace(self, uri: str, old: str, new: str) -> None:
        assert old in self.editor.texts[uri]
        self.change(uri, self.editor.texts[uri].replace(old, new))

    def splice(self, start: int, count: int, *texts: str) -> None:
        items = [self._new(text) for text in texts]
        gone = self.cells[start : start + count]
        self.cells[start : start + count] = [item.uri for item in items]
        array = types.NotebookCellArrayChange(
            start, count, [types.NotebookCell(types.NotebookCellKind.Code, item.uri) for item in items]
        )
        closed = [types.TextDocumentIdentifier(uri) for uri in gone]
        self._change(
            types.NotebookDocumentCellChanges(types.NotebookDocumentCellChangeStructure(array, items, closed))
        )

    def move(self, start: int, to: int) -> None:
        """Take a cell out and put it in elsewhere, as an editor tells it: its text stays open."""
        uri = self.cells.pop(start)
        self.cells.insert(to, uri)
        low, high = min(start, to), max(start, to) + 1
        cells = [types.NotebookCell(types.NotebookCellKind.Code, cell) for cell in self.cells[low:high]]
        array = types.NotebookCellArrayChange(low, high - low, cells)
        self._change(types.NotebookDocumentCellChanges(types.NotebookDocumentCellChangeStructure(array)))

    def close(self) -> None:
        self.client.notebook_document_did_close(
            types.DidCloseNotebookDocumentParams(
                types.NotebookDocumentIdentifier(self.uri),
                [types.TextDocumentIdentifier(uri) for uri in self.cells],
            )
        )

    async def diagnostics(self) -> list[list[types.Diagnostic]]:
        return [await self.editor.diagnostics(uri) for uri in self.cells]

    async def codes(self) -> list[list[str]]:
        return [[str(found.code) for found in cell] for cell in await self.diagnostics()]

    async def codes_become(self, *codes: str) -> None:
        """Wait until these are the codes of the cells, in their order, each cell's joined by blanks."""

        def shown() -> bool:
            published = [self.editor.published.get(uri, (0, []))[1] for uri in self.cells]
            return [" ".join(str(found.code) for found in cell) for cell in published] == list(codes)

        await self.editor.until(shown)


@pytest.fixture
def book(start: Any, project: Project) -> Callable[..., Any]:
    """Open a notebook of these cells in a project of its own."""

    async def begin(
        cells: Sequence[str],
        files: dict[str, str] | None = None,
        capabilities: types.ClientCapabilities = NOTEBOOKS,
    ) -> Book:
        root = project({"n.ipynb": stored(cells), **(files or {})})
        made = Book(await start(root, capabilities=capabilities), (root / "n.ipynb").as_uri())
        made.open(cells)
        return made

    return begin


async def test_findings_are_those_of_the_command_line_at_their_cells(
    book: Any, check: Any, tmp_path: Path
) -> None:
    opened = await book(CELLS)
    assert opened.editor.offered.notebook_document_sync is not None
    shown = [
        (number, d.range.start.line + 1, d.range.end.line + 1, d.code, d.message)
        for number, cell in enumerate(await opened.diagnostics(), 1)
        for d in cell
    ]
    found = check(tmp_path / "project")
    assert shown == [(f["cell"], f["line"], f["end_line"], f["code"], f["message"]) for f in found]
    assert [cell for cell, *_ in shown] == [3, 4]
    [diagnostic] = (await opened.diagnostics())[2]
    assert diagnostic.range.start == opened.editor.position(opened.cells[2], "3.5")
    assert diagnostic.range.end == opened.editor.position(opened.cells[2], "3.5", 3)


async def test_findings_follow_edits_and_cells(book: Any) -> None:
    opened = await book(CELLS)
    assert await opened.codes() == [[], [], ["GL101"], ["GL101"]]
    opened.replace(opened.cells[0], "LOAD = 12", "LOAD = {'value': 12, 'unit': 'kWh'}")
    await opened.codes_become("", "", "GL101", "")
    opened.splice(1, 1, 'NOTE = "9500 kWh"', OTHER.replace("rows(", "more(").replace("LOAD", "7"))
    await opened.codes_become("", "", "GL101", "GL101", "")
    gone = opened.cells[2]
    opened.splice(2, 1)
    await opened.codes_become("", "", "GL101", "")
    await opened.editor.until(lambda: opened.editor.published[gone][1] == [])
    opened.move(2, 0)
    await opened.codes_become("GL101", "", "", "")
    opened.replace(opened.cells[0], "return", "return (")
    await opened.codes_become("GL900", "", "", "")
    opened.close()
    await opened.editor.until(lambda: all(opened.editor.published[uri] == (None, []) for uri in opened.cells))


async def test_findings_reach_across_files(book: Any) -> None:
    helper = "def demand(site):\n    return 'much'\n"
    tool = TOOL.replace("3.5", "demand(site)").replace("heat_kwh", "heat")
    opened = await book([SETUP + "\nfrom helpers import demand", tool], {"helpers.py": helper})
    assert await opened.codes() == [[], []]
    uri = opened.editor.open(Path(opened.uri.removeprefix("file://")).with_name("helpers.py"))
    opened.editor.change(uri, helper.replace("'much'", "12.5"))
    await opened.codes_become("", "GL101")


async def test_findings_in_a_notebook_that_is_not_open_stand_at_its_lines(
    start: Any, project: Project
) -> None:
    tool = TOOL.replace("3.5", "demand(site)").replace("heat_kwh", "heat")
    notebook = stored([SETUP + "\nfrom helpers import demand", tool])
    root = project({"n.ipynb": notebook, "helpers.py": "def demand(site):\n    return 12.5\n"})
    editor = await start(root, capabilities=NOTEBOOKS)
    uri = editor.open(root / "helpers.py")
    await editor.codes_become((root / "n.ipynb").as_uri(), "GL101")
    [diagnostic] = editor.published[(root / "n.ipynb").as_uri()][1]
    assert "demand(site)" in notebook.split("\n")[diagnostic.range.start.line]
    editor.replace(uri, "12.5", "'much'")
    await editor.codes_become((root / "n.ipynb").as_uri())


async def test_fix_and_suppression_stay_in_their_cell(book: Any) -> None:
    opened = await book(CELLS)
    cell = opened.cells[2]
    assert await opened.codes() == [[], [], ["GL101"], ["GL101"]]
    found = await opened.editor.actions(cell, 3)
    assert not await opened.editor.actions(cell, 0, 2, only=["quickfix"])
    [fix] = [action for title, action in found.items() if title.startswith("GL101: Wrap")]
    fixed = opened.editor.applied(cell, fix.edit)
    assert fixed == TOOL.replace("3.5", '{"value": 3.5, "unit": "kWh"}')
    suppressed = opened.editor.applied(cell, found["GL101: Suppress here"].edit)
    assert suppressed == TOOL + "  # gllint: ignore[GL101]"
    opened.change(cell, suppressed)
    await opened.codes_become("", "", "", "GL101")
    opened.change(cell, fixed)
    await opened.codes_become("", "", "", "GL101")


async def test_all_safe_fixes_of_a_notebook(book: Any) -> None:
    cells = ["%time\nx = 1  # noqa: GL401", "y = 2  # noqa: GL401", "%%bash\n# noqa: GL401", "z = '😀'"]
    opened = await book(cells)
    assert await opened.codes() == [["GL901"], ["GL901"], [], []]
    kind = "notebook.source.fixAll"
    assert not await opened.editor.actions(opened.cells[0], only=["source.fixAll"])
    [action] = (await opened.editor.actions(opened.cells[3], only=[kind])).values()
    assert action.kind == f"{kind}.gllint"
    after = {edit.text_document.uri: edit for edit in action.edit.document_changes}
    assert list(after) == opened.cells[:2]
    texts = [
        opened.editor.applied(uri, types.WorkspaceEdit(document_changes=[edit]))
        for uri, edit in after.items()
    ]
    assert texts == ["%time\nx = 1", "y = 2"]


async def test_hover_completion_and_definition_within_a_cell(book: Any) -> None:
    unit = TOOL.replace("3.5", '{"value": 3.5, "unit": "kWh"}')
    action = 'from gllint_runtime import ToolAction\nToolAction(name="heat", args={})'
    opened = await book([SETUP, unit, OTHER, action])
    assert await opened.codes() == [[], [], ["GL101"], []]
    assert "energy" in await opened.editor.hover(opened.cells[1], "kWh")
    assert "raw-number-in-result" in await opened.editor.hover(opened.cells[2], "LOAD")
    assert "MWh" in await opened.editor.complete(opened.cells[1], "kWh")
    [place] = await opened.editor.define(opened.cells[3], '"heat', 1)
    assert (place.uri, place.range.start.line) == (opened.cells[1], 1)


async def test_findings_can_be_pulled_for_each_cell(book: Any) -> None:
    capabilities = types.ClientCapabilities(
        notebook_document=types.NotebookDocumentClientCapabilities(SYNC),
        text_document=types.TextDocumentClientCapabilities(diagnostic=types.DiagnosticClientCapabilities()),
        workspace=types.WorkspaceClientCapabilities(
            diagnostics=types.DiagnosticWorkspaceClientCapabilities(refresh_support=True)
        ),
    )
    opened = await book(CELLS, capabilities=capabilities)
    pulled = [[item.code for item in (await opened.editor.pull(uri)).items] for uri in opened.cells]
    assert pulled == [[], [], ["GL101"], ["GL101"]]
    assert not opened.editor.published


async def test_a_notebook_opened_as_text_is_shown_at_its_lines(start: Any, project: Project) -> None:
    root = project({"n.ipynb": stored(CELLS)})
    editor = await start(root)
    uri = editor.open(root / "n.ipynb")
    assert await editor.codes(uri) == ["GL101", "GL101"]
    [first, _] = await editor.diagnostics(uri)
    assert "heat_kwh" in editor.texts[uri].split("\n")[first.range.start.line]
    editor.replace(uri, "3.5", "'much'")
    assert await editor.codes(uri) == ["GL101"]
    editor.change(uri, "{")  # it is open, and can hold nothing else
    assert await editor.codes(uri) == ["GL900"]
    assert await editor.hover(uri, "{") == ""
