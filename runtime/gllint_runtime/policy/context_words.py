"""The words of ``quantity_context.txt``, and how a word is compared: small letters, long ones without accents.

What is looked at is brought into the same form: styles of letters and letters that look like Latin ones are undone.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from gllint_runtime.policy.data_files import read
from gllint_runtime.policy.unit_table import ALLOWED_UNITS, TIME_UNITS, units_of

MASK = "\ue000"
"""The placeholder for each character of a macro in the text."""

REACH = 80
"""Characters that are looked at next to a macro; bounds the cost."""

_STYLED = re.compile(
    r"\bLATIN (CAPITAL LETTER|SMALL LETTER|LETTER SMALL CAPITAL) ([A-Z])\Z"
)  # in a circle, a square
_LETTERS = re.compile(r"[^\W\d_]+")
_ASCII_LETTER = re.compile(r"[A-Za-z]")
# Letters that look like Latin ones.
_LATIN = str.maketrans(
    "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧκοАВЕКМНОРСТУХЅІЈԜаекорсухіјѕԝһ",
    "ABEZHIKMNOPTYXkoABEKMHOPCTYXSIJWaekopcyxijswh",
)


@lru_cache(maxsize=1)
def table() -> dict[str, list[str]]:
    """The words of ``quantity_context.txt``, folded, by the name of their section, and the symbols of units."""
    text = read("quantity_context.txt")
    sections = dict(re.findall(r"^\[([a-z ]+).*\]\n((?:.+\n)+)", text, re.MULTILINE))
    units = sorted({re.split("[/%]", unit)[0] for unit in ALLOWED_UNITS} - {""})
    currencies = [prefix + unit for unit in units if unit.isupper() and len(unit) == 3 for prefix in "kMBT"]
    return {
        **{name: _written(_without_marks(words)) for name, words in sections.items()},
        **{name: sections[name].split() for name in ("accented", "accented signs")},
        "units": units + currencies,
        "long units": [unit for unit in units if len(unit) > 1 and unit != "mi"],
        "time units": [*TIME_UNITS],
        "unit names": [
            end
            for unit in units_of("allowed").values()
            for end in unit.ends
            if len(end) > 2 and end.isalnum() and end not in {*ALLOWED_UNITS, "miles"}
        ],
    }


def match_end(source: str, text: str, place: int = 0) -> int:
    """The end of ``source`` at ``place``, else 0.

    ``<name>`` in it means any word of that section, ``/`` for the end of a word (and ``\\x2f`` for a slash).
    """
    found = pattern(source).match(text, place)
    return found.end() if found else 0


@lru_cache(maxsize=64)
def pattern(source: str) -> re.Pattern[str]:
    source = source.replace("/", r"(?![^\W\d_])")
    return re.compile(re.sub(r"<([a-z ]+)>", lambda name: f"(?:{'|'.join(table()[name[1]])})", source))


@lru_cache(maxsize=1)
def multipliers() -> frozenset[str]:
    return frozenset(table()["multipliers"])


def window(text: str, place: int) -> tuple[str, str]:
    """Return the text at ``place``, up to the next macro: as it is seen, and in small letters without accents."""
    shown = visible(text[place : place + REACH].partition(MASK)[0])
    return shown, folded(shown)


def visible(text: str) -> str:
    """The text without styles of letters, and in Latin letters alone what mixes them with others, each in its place."""
    if text.isascii():
        return text
    return _LETTERS.sub(_in_latin, "".join(map(_unstyled_char, text)))


def _in_latin(word: re.Match[str]) -> str:
    return word[0].translate(_LATIN) if _ASCII_LETTER.search(word[0]) else word[0]


def folded(text: str) -> str:
    """The text in small letters, each in its place, long words without accents: "mïllion" is read as "million", but
    "föld" not as "fold"."""
    return text.lower() if text.isascii() else _LETTERS.sub(lambda word: _folded_word(word[0]), text)


@lru_cache(maxsize=4096)
def _folded_word(word: str) -> str:
    return "".join(map(_folded_char if len(word) > 4 else _small_char, word))


def _written(words: str) -> list[str]:
    """The words with their accents, and without any as some type them."""
    forms = "".join(map(_small_char, words)), "".join(map(_folded_char, words))
    return [*dict.fromkeys(" ".join(forms).split())]


@lru_cache(maxsize=4096)
def _small_char(char: str) -> str:
    small = char.lower()
    return "i" if small == "ı" else small if len(small) == 1 else char


@lru_cache(maxsize=4096)
def _unstyled_char(char: str) -> str:
    plain = unicodedata.normalize("NFKC", char)
    if plain == char and (styled := _STYLED.search(unicodedata.name(char, ""))):
        return styled[2] if styled[1] == "CAPITAL LETTER" else styled[2].lower()
    return plain if len(plain) == 1 else char


@lru_cache(maxsize=4096)
def _folded_char(char: str) -> str:
    is_cased = char.lower() != char.upper()
    plain = _without_marks(unicodedata.normalize("NFKD" if is_cased else "NFKC", char).lower())
    return _small_char(plain if len(plain) == 1 else char)


def _without_marks(text: str) -> str:
    """The text as a view has it, without combining marks."""
    return "".join(char for char in text if unicodedata.category(char) != "Mn")
