"""The contents of files: from an editor's buffer or standard input first, else from disk."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING

from gllint.files.source import Text, Undecodable, decode, decode_plain, split_lines
from gllint.files.writing import read_bytes
from gllint_rules.words.text_files import text_kind

if TYPE_CHECKING:
    from gllint.files.notebooks import Notebook, Place

NOTEBOOK = ".ipynb"
KEPT_BYTES = 64_000_000


def is_notebook(path: str) -> bool:
    """Say whether a file is a notebook by its name."""
    return path.endswith(NOTEBOOK) or path[-len(NOTEBOOK) :].lower() == NOTEBOOK


class Source:
    """One file as it was read: its bytes and, where asked for, its text and lines.

    ``data`` is what it contains as Python: of a notebook its code, of any other file the ``raw`` bytes.
    """

    def __init__(self, path: str, data: bytes) -> None:
        self.path, self.raw = path, data
        self.data = _as_python(path, data)

    @cached_property
    def notebook(self) -> Notebook | None:
        """The notebook of the file; ``None`` for other files and for notebooks that cannot be read."""
        if not is_notebook(self.path):
            return None
        from gllint.files.notebooks import Notebook, read

        result = read(self.raw)
        return result if isinstance(result, Notebook) else None

    @cached_property
    def text(self) -> Text:
        """The decoded text, with what it takes to write it back. Raises :class:`Undecodable`."""
        return decode_plain(self.data) if text_kind(self.path) is not None else decode(self.data)

    @cached_property
    def lines(self) -> list[str]:
        """The lines without their endings, as they are written. Raises :class:`Undecodable`."""
        notebook = self.notebook
        return notebook.written if notebook is not None else split_lines(self.text.source)


class Sources:
    """Hands out the files of a run, each read once while the last ones fit into ``most`` bytes.

    With ``most=0`` nothing that lies on disk is kept: for a process that lives on while files change.
    """

    def __init__(self, most: int = KEPT_BYTES) -> None:
        self._buffers: dict[str, Source] = {}
        self._read: dict[str, Source] = {}  # the one asked for last comes last
        self._most, self._size = most, 0

    def put(self, path: str, data: bytes) -> None:
        """Let ``data`` count as the content of a file from now on, whatever is on disk."""
        self._buffers[path] = Source(path, data)

    def drop(self, path: str) -> bool:
        """Let the disk count again for a file; false if it counted already."""
        return self._buffers.pop(path, None) is not None

    def holds(self, path: str) -> bool:
        """Say whether the content of a file is another one than that on disk, or may be."""
        return path in self._buffers

    def buffer_paths(self) -> list[str]:
        """Return the paths of all files whose content was put here."""
        return list(self._buffers)

    def exists(self, path: str) -> bool:
        """Say whether there is such a file."""
        return path in self._buffers or os.path.isfile(path)

    def of(self, path: str) -> Source:
        """Return a file, read again only if it is not among the last ones. Raises ``OSError``."""
        if (buffered := self._buffers.get(path)) is not None:
            return buffered
        source = self._read.pop(path, None)
        if source is None:
            source = Source(path, read_bytes(path))
            if self._most == 0:  # nothing is kept, not even an empty file, which may have been written since
                return source
            self._size += len(source.data)
        self._read[path] = source
        while self._size > self._most and self._read:
            self._size -= len(self._read.pop(next(iter(self._read))).data)
        return source

    def read(self, path: str) -> bytes:
        """Return what a file contains as Python. Raises ``OSError``."""
        return self.of(path).data

    def code(self, path: str) -> str:
        """Return the text of a file, for showing; empty if it cannot be read."""
        try:
            return self.of(path).text.source
        except (OSError, Undecodable):
            return ""

    def lines(self, path: str) -> list[str]:
        """Return the lines of a file, for showing; none if it cannot be read."""
        try:
            return self.of(path).lines
        except (OSError, Undecodable):
            return []

    def cell(self, path: str, line: int) -> Place | None:
        """Return where a line of a notebook is, ``None`` of any other file."""
        try:
            notebook = self.of(path).notebook if is_notebook(path) else None
        except OSError:
            return None
        return notebook.place(line) if notebook is not None else None


def read_python(path: str) -> bytes:
    """Return what a file on disk contains as Python: of a notebook its code. Raises ``OSError``."""
    return _as_python(path, read_bytes(path))


def _as_python(path: str, data: bytes) -> bytes:
    if not is_notebook(path):
        return data
    from gllint.files.notebooks import as_python

    return as_python(data)
