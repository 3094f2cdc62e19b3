"""Who mentions a word: asked by the fixes, which rename only what nobody else knows by name."""

from __future__ import annotations

from collections.abc import Collection

from gllint.run.results import Dependencies
from gllint.run.table import Table


class Mentions:
    """Answers from one look at all files for all words, so that a question before that look must be asked again.

    ``top`` is the folder whose files may use what the project defines, those that nobody lints included.
    """

    def __init__(self, table: Table, dependencies: Dependencies, top: str) -> None:
        self._table, self._dependencies, self._top = table, dependencies, top
        self._words: frozenset[str] = frozenset()  # all that were ever looked for
        self._open: set[str] = set()
        self._open_around: set[str] = set()
        self.is_waiting = False

    def of(self, word: str, around: bool = False) -> frozenset[str] | None:
        """Return the files that hold a word; ``None``, and :attr:`is_waiting`, before anybody looked.

        These are the project's own, and those ``around`` it that nobody lints where that is asked.
        """
        found = self._dependencies.mentions.get(word)
        beyond = self._dependencies.around.get(word) if around else frozenset[str]()
        if found is None:
            self._open.add(word)
        if beyond is None:
            self._open_around.add(word)
        if found is None or beyond is None:
            self.is_waiting = True
            return None
        return found | beyond

    def look(self) -> None:
        """Look for the words that were asked about."""
        if self._open:
            self._look_for(self._open)
        if self._open_around:
            self._look_around_for(self._open_around)

    def are_still(self, before: Dependencies) -> bool:
        """Look for the words of ``before`` again, and say whether the same files hold them."""
        if before.mentions:
            self._look_for(before.mentions)
        if before.around:
            self._look_around_for(before.around)
        now = self._dependencies
        return all(now.mentions[word] == held for word, held in before.mentions.items()) and all(
            now.around[word] == held for word, held in before.around.items()
        )

    def forget(self) -> None:
        """Forget the answers: a file has changed."""
        self._dependencies.mentions.clear()
        self._dependencies.around.clear()

    def _look_for(self, words: Collection[str]) -> None:
        self._words |= frozenset(words)
        self._open.clear()
        mentions: dict[str, set[str]] = {word: set() for word in self._words}
        for path, held in self._table.holding(self._words).items():
            for word in held:
                mentions[word].add(path)
        self._dependencies.mentions.clear()
        self._dependencies.mentions.update({word: frozenset(paths) for word, paths in mentions.items()})

    def _look_around_for(self, words: Collection[str]) -> None:
        from gllint.run.unlinted import files_holding

        self._dependencies.around.update(files_holding(words, self._top, self._table.files))
        self._open_around.clear()
