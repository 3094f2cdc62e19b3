"""The cached results of the first look at each file. A result is valid as long as the file is unchanged."""

from __future__ import annotations

import time
from binascii import a2b_base64
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from gllint.files.digest import DIGEST_SIZE, digest
from gllint.files.discover import Signature, is_settled
from gllint.files.places import Places
from gllint.files.sources import Sources
from gllint.run.cache import Store
from gllint.run.clock import Clock
from gllint.run.parsing import Unparsed
from gllint.run.pool import CHUNK, Pool
from gllint.run.progress import Progress
from gllint.run.screening import (
    HAS_READINGS,
    IS_PYTHON,
    MARKED,
    MAY_USE,
    PASSES,
    UNREADABLE,
    Screened,
    UseSearch,
    digest_if_user,
    judge_file,
    screen_bytes,
    screen_file,
)
from gllint_rules import Settings
from gllint_rules.tuples import NamedTuple
from gllint_rules.words.needles import Needles

_WORTH_FILES = 2000
FEW_FILES = 3000  # up to this many, reading JSON is faster than importing msgspec
_WORTH_BYTES = 250_000
_Answer = TypeVar("_Answer")


class Means:
    """The objects that the projects of one run share. ``pages`` are those of each project whose files are listed."""

    def __init__(
        self, places: Places, sources: Sources, pool: Pool, clock: Clock, progress: Progress
    ) -> None:
        self.places, self.sources, self.pool = places, sources, pool
        self.clock, self.progress = clock, progress
        self.pages: dict[str, set[str]] = {}


class Row(NamedTuple):
    """The cached results for a file with this ``signature``.

    ``uses`` is a digest of names of tools, followed by the file's digest if it uses one of these tools.
    """

    signature: Signature
    screened: Screened
    uses: bytes | None = None


def rows_from(entries: Mapping[str, Any]) -> dict[str, Row]:
    """Build the rows from their JSON. Raises ``ValueError`` or ``TypeError`` if it has another shape."""
    rows: dict[str, Row] = {}
    for path, (signature, (flags, file_digest, error), uses) in entries.items():
        screened = Screened(int(flags), a2b_base64(file_digest), str(error))
        rows[path] = Row(Signature(*signature), screened, a2b_base64(uses) if uses is not None else None)
    return rows


class Table:
    """The first look at the files of one project. ``files`` has the signature of each as the walk read it."""

    def __init__(self, settings: Settings, store: Store, means: Means) -> None:
        self.files: dict[str, Signature | None] = {}
        self._settings, self._store, self._means = settings, store, means
        self._started = time.time_ns()
        self._rows: dict[str, Row] | None = None
        self._buffers: dict[str, tuple[bytes, Screened]] = {}
        self._has_changed = False

    def screen(self, paths: Iterable[str]) -> dict[str, Screened]:
        """Return the result of the first look at each file."""
        rows, files, buffers = self._row_table(), self.files, set(self._means.sources.buffer_paths())
        results: dict[str, Screened] = {}
        unknown: list[str] = []
        for path in paths:
            if path in buffers:
                results[path] = self._screen_buffer(path)
                continue
            row = rows.get(path)
            if row is not None and row.signature == files.get(path):
                results[path] = row.screened
            else:
                unknown.append(path)
        if not unknown:
            return results
        self._means.progress.expect("reading", len(unknown))
        nothing = Screened(UNREADABLE, b"", "cannot be read")
        for path, screened in self._look(screen_file, self._settings, unknown, nothing):
            results[path] = screened
            self._put(path, Row(self.files.get(path) or Signature(0, 0, 0, 0), screened))
        return results

    def _screen_buffer(self, path: str) -> Screened:
        """Return the result of the first look at a buffer, cached since each keystroke asks for it several times."""
        sources = self._means.sources
        data, entry = sources.read(path), self._buffers.get(path)
        if entry is None or entry[0] is not data:
            entry = data, screen_bytes(self._settings, data)
            rest = {other: value for other, value in self._buffers.items() if sources.holds(other)}
            self._buffers = {**rest, path: entry}
        return entry[1]

    def broken(self, paths: Iterable[str]) -> dict[str, Unparsed]:
        """Return which of some files are not Python, each with the reason."""
        unknown = [
            path
            for path, screened in self.screen(paths).items()
            if not screened.flags & (IS_PYTHON | UNREADABLE)
        ]
        size = sum(signature.size for path in unknown if (signature := self.files.get(path)))
        self._means.progress.expect("parsing", len(unknown))
        crashed: Unparsed | None = Unparsed("the parser crashed on this file")
        verdicts: dict[str, Unparsed] = {}
        for path, verdict in self._look(judge_file, None, unknown, crashed, size > _WORTH_BYTES, chunk=16):
            if verdict is not None:
                verdicts[path] = verdict
            elif not self._means.sources.holds(path):
                row = self._row_table()[path]
                sound = row.screened._replace(flags=row.screened.flags | IS_PYTHON)
                self._put(path, row._replace(screened=sound))
        return verdicts

    def users(self, names: Needles, looks: Mapping[str, Screened]) -> Iterator[tuple[str, bytes]]:
        """Yield files with their digests: of one that uses a tool of these ``names``, or ``b""`` if it uses none.

        Files that are known not to use one are left out. Only files are searched that may use a tool and do not pass
        the first look, whose results are ``looks``.
        """
        key = digest(*(part for needle in sorted(names) for part in (*needle, b"")))
        rows, files, buffers = self._row_table(), self.files, set(self._means.sources.buffer_paths())
        literal: list[str] = []
        odd: list[str] = []
        for path, screened in looks.items():
            flags = screened.flags
            if not flags & MAY_USE or flags & PASSES:
                continue
            row = rows.get(path)
            if row is not None and row.uses is not None and row.uses.startswith(key):
                if row.signature == files.get(path) and path not in buffers:
                    if len(row.uses) > len(key):
                        yield path, row.uses[len(key) :]
                    continue
            (odd if flags & HAS_READINGS else literal).append(path)
        for is_literal, unknown in ((True, literal), (False, odd)):
            search = UseSearch(self._settings, names, is_literal)
            for path, file_digest in self._look(digest_if_user, search, unknown, b""):
                if path in rows:
                    self._put(path, rows[path]._replace(uses=key + file_digest))
                yield path, file_digest

    def unknown(self) -> int:
        """Count the files that must be read, since the table has no valid row for them."""
        return sum(
            1
            for path in self.files
            if path not in self._row_table() or not self._holds(path, self._row_table()[path])
        )

    def digest_of(self, path: str) -> bytes | None:
        """Return the digest of a file, ``None`` if it is not known: only modules of the project have one."""
        row = self._row_table().get(path)
        if row is None or not self._holds(path, row):
            return None
        return row.screened.digest or (row.uses or b"")[DIGEST_SIZE:] or None

    def passing(self, path: str) -> bool:
        """Return whether rules could report on a file."""
        return bool(self.screen([path])[path].flags & PASSES)

    def marked(self, paths: Iterable[str]) -> list[str]:
        """Return the files that may contain a suppression of one of gllint's codes."""
        return [path for path, screened in self.screen(paths).items() if screened.flags & MARKED]

    def share(self) -> None:
        """Keep equal paths and signatures as one object, to save memory in a long-lived process."""
        files = self.files
        shared = {
            path: row.signature for path, row in self._row_table().items() if files.get(path) == row.signature
        }
        rest = {path: signature for path, signature in files.items() if path not in shared}
        self.files = {**shared, **rest}

    def forget(self) -> None:
        """Read the cache again: another process has written to it."""
        self._rows = None

    def save(self, is_complete: bool) -> None:
        """Store the rows; ``is_complete`` says that ``files`` are all files, so that other rows are dropped."""
        if not self._has_changed or self._rows is None:
            return
        trusted = {
            path: row
            for path, row in self._rows.items()
            if self._is_settled(row) and (path in self.files or not is_complete)
        }
        self._store.write("screen", trusted, len(trusted) <= FEW_FILES)
        self._has_changed = False

    def _look(
        self,
        look: Callable[..., _Answer],
        work: Any,
        paths: Sequence[str],
        crashed: _Answer,
        worth: bool | None = None,
        chunk: int = CHUNK,
    ) -> Iterator[tuple[str, _Answer]]:
        """Yield ``look(work, path)`` for each file, in order, the buffers last; in several processes if ``worth``."""
        sources, tick = self._means.sources, self._means.progress.tick
        buffers = [path for path in paths if sources.holds(path)]
        files = [path for path in paths if not sources.holds(path)] if buffers else paths
        worth = len(files) > _WORTH_FILES if worth is None else worth
        if self._means.pool.takes(files, worth, chunk):
            results = self._means.pool.map(look, work, files, crashed=crashed, chunk=chunk, tick=tick)
            yield from zip(files, results, strict=True)
        else:
            buffers = [*files, *buffers]
        for path in buffers:
            yield path, look(work, path, sources.read)
            tick(1)

    def _put(self, path: str, row: Row) -> None:
        if not self._means.sources.holds(path):
            self._row_table()[path] = row
            self._has_changed = True

    def _holds(self, path: str, row: Row) -> bool:
        """Return whether a row is still valid for the file."""
        return self.files.get(path) == row.signature and not self._means.sources.holds(path)

    def _row_table(self) -> dict[str, Row]:
        if self._rows is None:
            self._rows = self._store.read("screen", dict[str, Row], rows_from) or {}
        return self._rows

    def _is_settled(self, row: Row) -> bool:
        """Return whether the file was last written clearly before this run began to read."""
        return is_settled(max(row.signature.mtime, row.signature.ctime), self._started)
