"""The files around a project that nobody lints, but which may use what it defines: whether they hold a word.

Excluded and ignored files, scripts without a suffix, templates, pages, other projects of the same repository. A fix
that is safe by all that is linted asks here last, so that most runs never come this far.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Collection, Iterator
from errno import ELOOP

from gllint.files.config import DEFAULT_EXCLUDE
from gllint.files.writing import read_bytes
from gllint.run.looks import held_words
from gllint.verdict.baseline import looks_like_one

MOST_FILES = 10_000
MOST_BYTES = 64_000_000
# What tools have put there, and what others have written. In a folder called `build` people keep scripts, too.
_FOREIGN = frozenset(DEFAULT_EXCLUDE) - {"build", "dist", "_build"}
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def files_holding(words: Collection[str], top: str, linted: Collection[str]) -> dict[str, frozenset[str]]:
    """Return for each of ``words`` the files below ``top`` beside those ``linted`` that hold it.

    ``top`` itself stands for what could not be looked at, or was too much.
    """
    words = frozenset(words)
    found: dict[str, set[str]] = {word: set() for word in words}
    count = size = 0
    for path, bytes_in in _files(top, linted):
        count, size = count + 1, size + bytes_in
        is_seen = path != top and count <= MOST_FILES and size <= MOST_BYTES
        for word in _held(words, path) if is_seen else words:
            found[word].add(path if is_seen else top)
        if not is_seen:
            break
    return {word: frozenset(paths) for word, paths in found.items()}


def _files(top: str, linted: Collection[str]) -> Iterator[tuple[str, int]]:
    """Yield each file and its size; ``top`` for what cannot be looked at."""
    pending = [top]
    while pending:
        folder = pending.pop()
        try:
            with os.scandir(folder) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            yield top, 0
            continue
        if any(entry.name == "pyvenv.cfg" for entry in listed):
            continue
        for entry in listed:
            path = f"{folder.rstrip('/')}/{entry.name}"
            try:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in _FOREIGN:
                        pending.append(path)
                elif path not in linted and entry.is_file():
                    yield path, entry.stat().st_size
            except FileNotFoundError:  # it has gone meanwhile
                continue
            except OSError as error:
                if error.errno != ELOOP:  # links that lead to each other lead to no text
                    yield top, 0


def _held(words: frozenset[str], path: str) -> frozenset[str]:
    """Return which of ``words`` a file holds: all, where nobody can tell; none, where it is no text."""
    try:
        data = read_bytes(path)
    except OSError:
        return words
    if data.startswith(_WIDE):
        return words
    return frozenset() if b"\0" in data or looks_like_one(data) else held_words(words, data)
