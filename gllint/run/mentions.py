"""Who mentions a word: asked by the fixes, which rename only what nobody else knows by name."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from gllint.run.results import Dependencies
from gllint.run.table import Table
from gllint_rules.tuples import NamedTuple


class Open(NamedTuple):
    """The words that nobody has looked for: in the project's files, and in those around it."""

    words: frozenset[str]
    around: frozenset[str]


class Mentions:
    """Answers from one look at all files for all words, so that a question before that look must be asked again.

    ``top`` is the folder whose files may use what the project defines, those that nobody lints included.
    """

    def __init__(self, table: Table, dependencies: Dependencies, top: str) -> None:
        self._table, self._dependencies, self._top = table, dependencies, top
        self._open: set[str] = set()
        self._open_around: set[str] = set()
        self._in_vain = 0

    def of(self, word: str, around: bool = False) -> frozenset[str] | None:
        """Return the files that hold a word; ``None`` before anybody looked, and then :meth:`taken` says so.

        These are the project's own, and those ``around`` it that nobody lints where that is asked.
        """
        found = self._dependencies.mentions.get(word)
        beyond = self._dependencies.around.get(word) if around else frozenset[str]()
        if found is None:
            self._open.add(word)
        if beyond is None:
            self._open_around.add(word)
        self._in_vain += found is None or beyond is None
        return None if found is None or beyond is None else found | beyond

    def in_vain(self) -> int:
        """Return how many questions were asked before anybody looked."""
        return self._in_vain

    def taken(self) -> Open | None:
        """Take away the words that were asked about in vain, for somebody to :meth:`look` for, if there are any."""
        if not self._open and not self._open_around:
            return None
        taken = Open(frozenset(self._open), frozenset(self._open_around))
        self._open.clear()
        self._open_around.clear()
        return taken

    def look(self, asked: Collection[Open]) -> None:
        """Look for the words that were asked about."""
        words = frozenset().union(*(some.words for some in asked))
        around = frozenset().union(*(some.around for some in asked))
        if words:
            self._look_for(words)
        if around:
            self._look_around_for(around)

    @property
    def answers(self) -> tuple[Mapping[str, frozenset[str]], Mapping[str, frozenset[str]]]:
        """What is known of words: the project's files that hold each, and those around it."""
        return self._dependencies.mentions, self._dependencies.around

    def learn(self, mentions: Mapping[str, frozenset[str]], around: Mapping[str, frozenset[str]]) -> None:
        """Take over the :attr:`answers` of another process."""
        self._dependencies.mentions.update(mentions)
        self._dependencies.around.update(around)

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
        found: dict[str, set[str]] = {word: set() for word in words}
        for path, held in self._table.holding(frozenset(words)):
            for word in held & found.keys():
                found[word].add(path)
        self._dependencies.mentions.update({word: frozenset(paths) for word, paths in found.items()})

    def _look_around_for(self, words: Collection[str]) -> None:
        from gllint.run.unlinted import files_holding

        self._dependencies.around.update(files_holding(words, self._top, self._table.files))
