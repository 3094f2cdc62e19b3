"""Notebooks in the editor: an open one as its cells, one that is not open as the file that it is."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property

from lsprotocol import types

from gllint.files.notebooks import Notebook, read
from gllint.files.source import Change
from gllint.files.sources import Source
from gllint.server.texts import Snapshot, difference


class OpenNotebook(Snapshot):
    """A notebook whose code cells the editor shows as documents."""

    def __init__(self, uri: str, cells: Sequence[Snapshot], version: int | None, encoding: str) -> None:
        self.cells = tuple(cells)
        result = read(self.data)
        self._notebook = result if isinstance(result, Notebook) else Notebook("", "")
        super().__init__(uri, self._notebook.source, version, encoding)

    @cached_property
    def data(self) -> bytes:
        """A notebook file of these cells alone."""
        cells = [{"cell_type": "code", "source": cell.text} for cell in self.cells]
        return json.dumps({"cells": cells}).encode()

    @property
    def documents(self) -> Sequence[Snapshot]:
        """The cells."""
        return self.cells

    def changed(self, changes: types.NotebookDocumentCellChanges, version: int | None) -> OpenNotebook:
        """Return the notebook after changes of the list of its cells, then of their texts."""
        cells = list(self.cells)
        if (structure := changes.structure) is not None:
            texts = {text.uri: text for text in structure.did_open or ()}
            old_cells = {cell.uri: cell for cell in cells}

            def cell_of(uri: str) -> Snapshot:
                opened = texts.get(uri)
                if opened is not None:
                    return Snapshot(uri, opened.text, opened.version, self.encoding)
                # An editor may announce a cell before it sends the text.
                return old_cells.get(uri) or Snapshot(uri, "", None, self.encoding)

            new = [cell_of(cell.document) for cell in structure.array.cells or ()]
            start = structure.array.start
            cells[start : start + structure.array.delete_count] = new
        edited = {edit.document.uri: edit for edit in changes.text_content or ()}
        for at, cell in enumerate(cells):
            if (edit := edited.get(cell.uri)) is not None:
                cells[at] = cell.edited(edit.changes, edit.document.version)
        return OpenNotebook(self.uri, cells, version, self.encoding)

    def offset_in(self, uri: str, position: types.Position) -> int | None:
        """Return the offset in the code of a position in a cell; ``None`` if the cell is in another language."""
        number = next((number for number, cell in enumerate(self.cells, 1) if cell.uri == uri), 0)
        line = self._lines.get((number, position.line + 1))
        return None if line is None else self.offset(types.Position(line, position.character))

    @cached_property
    def _lines(self) -> dict[tuple[int, int], int]:
        return {(line.cell, line.number): at for at, line in enumerate(self._notebook.lines)}

    def location(self, start: int, end: int) -> types.Location:
        """Return the place of a stretch of code in its cell; a stretch beyond the cell is cut off at its end."""
        if not self._notebook.lines:
            return types.Location(self.cells[0].uri if self.cells else self.uri, self.range(0, 0))
        begin, finish = self._place(start), self._place(end)
        cell = self.cells[begin[0] - 1]
        low = cell.offsets.at(*begin[1:])
        high = cell.offsets.at(*finish[1:]) if finish[0] == begin[0] else len(cell.text)
        return types.Location(cell.uri, cell.range(low, max(low, high)))

    def _place(self, offset: int) -> tuple[int, int, int]:
        """Return the number of the cell, and the line and column in it, all from 1."""
        span = self.span_at(offset)
        lines = self._notebook.lines
        if span.line > len(lines):
            return lines[-1].cell, lines[-1].number, lines[-1].size + 1
        return lines[span.line - 1].cell, lines[span.line - 1].number, span.column

    def in_documents(self, changes: Sequence[Change]) -> list[tuple[Snapshot, Sequence[Change]]]:
        """Return the changes of the code by cell; ``[]`` if one spans several cells."""
        changes_by_cell: dict[int, list[Change]] = {}
        try:
            for change in changes:
                number, start, end, content = self._notebook.in_cell(*change)
                changes_by_cell.setdefault(number, []).append((start, end, content))
        except ValueError:
            return []
        return [(self.cells[number - 1], inner) for number, inner in changes_by_cell.items()]

    def until(self, data: bytes) -> list[tuple[Snapshot, Sequence[Change]]]:
        """Return the edits that make the cells contain those of the file with the bytes ``data``."""
        texts = [cell["source"] for cell in json.loads(data)["cells"]]
        pairs = zip(self.cells, texts, strict=True)
        return [(cell, list(difference(cell.text, text))) for cell, text in pairs if cell.text != text]


class NotebookFile(Snapshot):
    """A notebook as a file: what is found in its code is shown at the lines of the file."""

    def __init__(self, file: Snapshot) -> None:
        self.file = file
        notebook = Source("x.ipynb", self.data).notebook
        self._notebook = notebook if notebook is not None else Notebook("", "")
        super().__init__(file.uri, self._notebook.source, file.version, file.encoding)

    @cached_property
    def data(self) -> bytes:
        """The bytes of the file."""
        return self.file.text.encode("utf-8", "surrogatepass")

    def edited(
        self, changes: Sequence[types.TextDocumentContentChangeEvent], version: int | None
    ) -> NotebookFile:
        """The notebook after changes of the file's text."""
        return NotebookFile(self.file.edited(changes, version))

    def offset_in(self, uri: str, position: types.Position) -> int | None:
        """None: what is read there is JSON."""
        return None

    def location(self, start: int, end: int) -> types.Location:
        """Return the line of the file that the code at an offset begins in."""
        line = self._notebook.place(self.span_at(start).line).file_line - 1
        return types.Location(
            self.uri, types.Range(types.Position(line, 0), types.Position(line, len(self.file.line(line))))
        )

    def in_documents(self, changes: Sequence[Change]) -> list[tuple[Snapshot, Sequence[Change]]]:
        """None: it is the editor's notebooks that are changed."""
        return []

    def until(self, data: bytes) -> list[tuple[Snapshot, Sequence[Change]]]:
        """Return the edits that make the file contain the bytes ``data``."""
        return self.file.until(data)
