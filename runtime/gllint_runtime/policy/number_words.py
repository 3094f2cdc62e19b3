"""Numbers in words, of English and the languages of ``number_words.txt``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from gllint_runtime.policy.data_files import read
from gllint_runtime.policy.surroundings import words as surrounding_words

_WORD = re.compile(r"[^\W\d_](?:[\w\u0900-\u0dff]|['’](?=\w))*")
_SECTION = re.compile(r"^\[([a-z]+)( joined)?\]\n((?:(?![\[#]).+\n)+)", re.MULTILINE)
_LETTERS = 60  # of a word that may say a number


def spelled_places(text: str) -> Iterator[tuple[int, int]]:
    """Yield the places of numbers in words.

    "five hundred kWh" → that of "five hundred", adjacent words being one number.
    """
    start = end = -1
    for match in _WORD.finditer(text):
        if not _says_number(match[0].lower()):
            continue
        if start >= 0 and not text[end : match.start()].strip(" -\u00a0"):
            end = match.end()
            continue
        if start >= 0:
            yield start, end
        start, end = match.span()
    if start >= 0:
        yield start, end


@lru_cache(maxsize=4096)
def _says_number(word: str) -> bool:
    words, joined, alone = _tables()
    if word in alone or len(word) > _LETTERS:
        return False
    return word in words or any(parts.fullmatch(word) for parts in joined)


@lru_cache(maxsize=1)
def _tables() -> tuple[frozenset[str], tuple[re.Pattern[str], ...], frozenset[str]]:
    """Return all number words, the expressions of those written together, and the words that are no number alone
    ("tres").
    """
    text = read("number_words.txt")
    alone = frozenset(text.partition("[alone no number]\n")[2].split())
    words = {*surrounding_words("magnitudes")}
    joined = []
    for _, is_joined, section in _SECTION.findall(text):
        words.update(section.split())
        if is_joined:
            parts = sorted(section.split(), key=len, reverse=True)
            joined.append(re.compile(f"(?:{'|'.join(parts)}){{2,12}}+"))
    return frozenset(words), tuple(joined), alone
