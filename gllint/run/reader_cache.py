"""The cached search for code that reads what findings change: after an edit, only the edited files are searched."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

from gllint.files.discover import Signature, is_settled, signature_of
from gllint.run.cache import Store
from gllint.run.index import Index
from gllint.run.screening_cache import FEW_FILES
from gllint_rules import Finding
from gllint_rules.check.readers import FileReads, Question, Reader, Search
from gllint_rules.finding import Changed
from gllint_rules.tuples import NamedTuple

_ENTRY = "readers"


class StoredReads(NamedTuple):
    """A file as it was searched: JSON has no questions as keys."""

    signature: Signature
    names: tuple[str, ...]
    answers: tuple[tuple[Question, tuple[int, ...] | None], ...]


class StoredReaders(NamedTuple):
    """What a search for code that reads one of ``names`` found in each file, with the file's signature."""

    names: frozenset[str]
    files: dict[str, StoredReads]


def readers_of(
    changed: dict[Changed, list[Finding]], index: Index, store: Store | None
) -> Mapping[Changed, Sequence[Reader]]:
    """Return the code in all files of a project that reads what findings change."""
    started = time.time_ns()
    index.list_files()
    sources = index.means.sources
    pages = [path for path in index.means.pages.get(index.root, ()) if os.path.isfile(path)]
    # Those of files that the walk has just read; a file that changed since then is read anew by the next run.
    signatures = {path: signature_of(path) for path in (*index.texts(), *pages)} | index.files
    if sources.buffer_paths():  # which have no signature
        store = None
    entry = store.read(_ENTRY, StoredReaders, _entry_from) if store is not None else None
    names, files = entry or StoredReaders(frozenset(), {})
    memory = {
        path: FileReads(old.names, dict(old.answers))
        for path, old in files.items()
        if old.signature == signatures.get(path)
    }
    read_paths: list[str] = []

    def read(path: str) -> bytes:
        read_paths.append(path)
        return sources.read(path)

    places, names = Search(changed).readers(sorted(signatures), read, memory, names)
    if store is not None and read_paths:
        rows = {
            path: StoredReads(signature, memory[path].names, tuple(memory[path].answers.items()))
            for path, signature in signatures.items()
            if path in memory and signature and is_settled(max(signature.mtime, signature.ctime), started)
        }
        store.write(_ENTRY, StoredReaders(names, rows), is_small=len(rows) <= FEW_FILES)
    return places


def _entry_from(value: Any) -> StoredReaders:
    """Build the entry from its JSON; raises ``ValueError`` or ``TypeError`` if it has another shape."""
    names, rows = value
    files = {}
    for path, (signature, words, answers) in rows.items():
        answers = {
            Question(Changed(*changed), for_fix, words_only): lines and tuple(map(int, lines))
            for (changed, for_fix, words_only), lines in answers
        }
        files[path] = StoredReads(Signature(*signature), tuple(map(str, words)), tuple(answers.items()))
    return StoredReaders(frozenset(map(str, names)), files)
