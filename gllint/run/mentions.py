"""Who mentions a word: asked by the fixes, which rename only what nobody else knows by name."""

from __future__ import annotations

from collections.abc import Iterable

from gllint.run.results import Dependencies
from gllint.run.table import Table


class Mentions:
    """Answers from one look at all files for all words, so that a question before that look must be asked again."""

    def __init__(self, table: Table, dependencies: Dependencies) -> None:
        self._table, self._dependencies = table, dependencies
        self._words: frozenset[str] = frozenset()  # all that were ever looked for
        self._open: set[str] = set()
        self.is_waiting = False

    def of(self, word: str) -> frozenset[str] | None:
        """Return the files that hold a word; ``None``, and :attr:`is_waiting`, before anybody looked."""
        found = self._dependencies.mentions.get(word)
        if found is None:
            self._open.add(word)
            self.is_waiting = True
        return found

    def look(self) -> None:
        """Look for the words that were asked about."""
        self.look_for(self._open)

    def look_for(self, words: Iterable[str]) -> None:
        """Find the files of the project that hold one of ``words``."""
        self._words |= frozenset(words)
        self._open.clear()
        mentions: dict[str, set[str]] = {word: set() for word in self._words}
        for path, held in self._table.holding(self._words).items():
            for word in held:
                mentions[word].add(path)
        self._dependencies.mentions.clear()
        self._dependencies.mentions.update({word: frozenset(paths) for word, paths in mentions.items()})

    def forget(self) -> None:
        """Forget the answers: a file has changed."""
        self._dependencies.mentions.clear()
