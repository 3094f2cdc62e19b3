"""What would give a number a unit that its tool did not: "340 US dollars" of a count of 340.

A macro of a count, or of a plain ratio, is rendered without a unit, and a reader takes the next best: one in the same
clause, in the label or the table's head above it, or before it. Words for what is counted are none.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from gllint_runtime.policy.context_words import MASK, folded, multipliers, pattern, table, visible
from gllint_runtime.policy.packs import PACKS
from gllint_runtime.policy.unit_table import pack_units
from gllint_runtime.policy.units import ALLOWED_UNITS

Fault = tuple[int, int, str]

_MOST_CHARACTERS = 200  # characters of a clause, a label or a cell that are looked at
_MOST_OF_ROW = 2_000  # characters of a row before a macro
_MOST_OF_TABLE = 6_000  # characters of a table above a row
_MOST_LINES = 30  # that are looked at above a macro
_CLAUSE_END = re.compile(
    r"[;!?\n|\u2029。！？；।]|[.:](?=\s|\Z)|(?:[—–]| - )(?!\s*(?:(?:all )?in|en|em|w|v|в)\b)"
)
_CLAUSE_BEGIN = re.compile(r"[;!?\n|\u2029。！？；।]|\.(?=\s)")
# A comma ends the clause behind a number, unless what follows says what it is in.
_COMMA = re.compile(r"[,、，،](?!\s*(?:(?:all )?in|en|em|au|w|v|в|i|em|in|mit|with)\b)")
_JOINT = re.compile(
    r"\s(?:and|but|or|which|that|while|when|where|because|so|with|using|after|before|from|than|und|aber|oder|mit|et|mais|ou|avec"
    r"|pero|con|mas|com|maar|met|och|men|eller|og|ale|и|но|или)\s"
)
_WORD = re.compile(r"[^\W\d_](?:[^\W_]|['’](?=[^\W_]))*|[^\W\d_]\w*[²³]")
_SIGNS = re.compile(
    r"%(?![A-Za-z])|[‰‱٪％℃℉°]|(?:(?<![\w}\])])|(?<=\bUS)|(?<=\bHK)|(?<=\bNZ)|(?<=\b[ACRS]))\$(?![\w{(\\])"
)
_MATHEMATICS = re.compile(r"\$[^$\s][^$\n]{0,60}\$(?!\w)")
_BRACKETED = re.compile(
    r"(?:(?<!\w)\[|[(（])\s*([^\s()\[\]（）]{1,14})\s*[)\]）]|,\s*([^\W\d_][^\s,|]{0,11})\s*\Z"
)
_HEADED_ITEM = re.compile(r"[ \t>]*(?:[-*+•,]|\d{1,3}[.)])\s")
_TABLE_RULE = re.compile(r"\n[ \t>]*+(?=[|:,-][|: \t]*+-)[|:, \t-]++(?=\n)")
_HINT = "Leave out {!r}: it would give the number a unit, and its tool gave it none."


def unit_beside(text: str, start: int, end: int) -> Fault | None:
    """What gives the bare number at ``start`` to ``end`` of ``text`` a unit; linear in what is looked at."""
    for first, last, is_label in _places(text, start, end):
        if place := _unit_within(text, first, last, is_label):
            return *place, _HINT.format(text[place[0] : place[1]])
    return None


def _places(text: str, start: int, end: int) -> Iterator[tuple[int, int, bool]]:
    """The parts of a text that describe a number: start, end, and whether it is a label rather than a sentence."""
    line = _line_start(text, start)
    line_end = _first(text, "\n", end, len(text))
    is_row = "|" in text[line:start] or text[end:line_end].lstrip("*_` \t)").startswith("|")
    yield _clause_behind(text, end, line_end)
    yield _clause_before(text, start, line)
    if is_row:
        if _stands_alone(text, start, end, line, line_end):
            yield from _cells(text, line, start)
    elif _HEADED_ITEM.match(text, line, start) or not text[line:start].strip(" \t>*_`"):
        yield from _labels(text, line)


def _line_start(text: str, place: int) -> int:
    """Where the line of a place begins."""
    return text.rfind("\n", 0, place) + 1


def _first(text: str, mark: str, start: int, end: int) -> int:
    """The first place of a mark between two places; the second of these where there is none."""
    place = text.find(mark, start, end)
    return end if place < 0 else place


def _clause_behind(text: str, end: int, line_end: int) -> tuple[int, int, bool]:
    last = min(line_end, end + _MOST_CHARACTERS)
    for expression in (_CLAUSE_END, _COMMA, _JOINT):
        if match := expression.search(text, end, last):
            last = match.start()
    return end, _first(text, MASK, end, last), False


def _clause_before(text: str, start: int, line: int) -> tuple[int, int, bool]:
    begin = first = max(line, start - _MOST_CHARACTERS)
    for match in _CLAUSE_BEGIN.finditer(text, first, start):
        begin = match.end()
    begin = start - len(text[begin:start].rpartition(MASK)[2])
    for match in _JOINT.finditer(text, begin, start):
        begin = match.end()
    is_label = text[begin:start].rstrip(" *_`").endswith((":", "：", "="))
    return begin, start, is_label


def _stands_alone(text: str, start: int, end: int, line: int, line_end: int) -> bool:
    """Whether a cell contains little more than the number; otherwise it says itself what the number is."""
    first = text.rfind("|", max(line, start - _MOST_CHARACTERS), start) + 1 or line
    last = _first(text, "|", end, min(line_end, end + _MOST_CHARACTERS))
    return len(_WORD.findall(text, first, start)) + len(_WORD.findall(text, end, last)) <= 2


def _cells(text: str, line: int, start: int) -> Iterator[tuple[int, int, bool]]:
    """The first cell of a row, the one before, and the one at the head of its column."""
    near = max(line, start - _MOST_OF_ROW)
    column = text.count("|", near, start)
    opening = text[line : min(start, line + _MOST_CHARACTERS)]
    is_opened = opening.lstrip().startswith("|")
    if column > (is_opened and near == line):
        first = line + opening.find("|") + 1 if is_opened else line
        yield first, _first(text, "|", first, min(start, first + _MOST_CHARACTERS)), True
        last = text.rfind("|", near, start)
        yield max(text.rfind("|", near, last) + 1, near), last, True
    if head := _table_head(text, line):
        begin = head[0]
        for _ in range(column):
            begin = text.find("|", begin, head[1]) + 1
            if not begin:
                return
        yield begin, _first(text, "|", begin, head[1]), True


def _table_head(text: str, line: int) -> tuple[int, int] | None:
    """The head of the table to which the row at ``line`` belongs: the line above the rule."""
    first = max(0, line - _MOST_OF_TABLE)
    rules = [match.span() for match in _TABLE_RULE.finditer(text, first, line)]
    if not rules or "\n\n" in text[rules[-1][1] : line]:
        return None
    end = rules[-1][0]
    return text.rfind("\n", first, end) + 1 or first, end


def _labels(text: str, line: int) -> Iterator[tuple[int, int, bool]]:
    """Return the heading or the line with a colon above a line, past the other items of its list."""
    above = line
    for _ in range(_MOST_LINES):
        if not above:
            return
        end = above - 1
        higher = _line_start(text, end)
        content = text[higher:end].strip()
        if content.startswith("#") or content.rstrip("*_ ").endswith((":", "：")):
            yield max(higher, end - _MOST_CHARACTERS), end, True
            return
        if content and not _HEADED_ITEM.match(text, higher, end):
            return
        above = higher


# ---------------------------------------------------------------------------------------------- units


def _unit_within(text: str, first: int, last: int, is_label: bool) -> tuple[int, int] | None:
    part = _MATHEMATICS.sub(lambda math: " " * len(math[0]), text[first:last])
    if match := _SIGNS.search(part):
        return first + match.start(), first + match.end()
    if not part.isascii():
        for index, char in enumerate(part):
            if not char.isascii() and (unicodedata.category(char) == "Sc" or _is_square(char)):
                return first + index, first + index + 1
        part = visible(part)
    before = ""
    for match in _WORD.finditer(part):
        if _says_unit(match[0]) or (before in ("in", "en", "em") and _says_measure(folded(match[0]))):
            return first + match.start(), first + match.end()
        before = match[0].lower()
    if is_label:
        for match in _BRACKETED.finditer(part):
            group = 1 if match[1] else 2
            if match[group] in _symbols() or _is_unspaced_unit(match[group]):
                return first + match.start(group), first + match.end(group)
    return None


@lru_cache(maxsize=4096)
def _says_unit(word: str) -> bool:
    """Whether a word of a clause says a unit of a measure, a currency, a magnitude or a fraction, in any case."""
    low = folded(word)
    if low in _counted() or low in _plain():
        return False
    if word in _long_symbols() or low in _folded_symbols():
        return True
    if len(low) > 4 and low in multipliers() and low not in _ambiguous():
        return True
    return _says_measure(low)


def _says_measure(low: str) -> bool:
    return pattern("(?:<measures>|<shares>|<unit names>)\\Z").match(low) is not None


@lru_cache(maxsize=1)
def _counted() -> frozenset[str]:
    words = pack_units(("counts",))
    return frozenset({*words, *(f"{word}s" for word in words)})


@lru_cache(maxsize=1)
def _plain() -> frozenset[str]:
    return frozenset(table()["no unit at a distance"])


@lru_cache(maxsize=1)
def _ambiguous() -> frozenset[str]:
    return frozenset(table()["ambiguous magnitudes"])


@lru_cache(maxsize=1)
def _symbols() -> frozenset[str]:
    """Symbols of all units and currencies, as they are written."""
    packs = tuple(name for name in PACKS if name not in ("counts", "time", "rates"))
    return frozenset({*ALLOWED_UNITS, *pack_units(packs)}) - {"1", "count", ""}


@lru_cache(maxsize=1)
def _long_symbols() -> frozenset[str]:
    """Symbols that differ from words by their letters, and codes of currencies that are no words."""
    return frozenset(
        unit
        for unit in _symbols()
        if not unit.islower()
        and not (unit.isupper() and unit.lower() in _plain())
        and (len(unit) > 2 or unit in ALLOWED_UNITS or unit in pack_units(("data",)) or unit[0].islower())
        and len(unit) > 1
    )


@lru_cache(maxsize=1)
def _folded_symbols() -> frozenset[str]:
    """Symbols in small letters, those that are no word so."""
    return frozenset(unit.lower() for unit in ALLOWED_UNITS if len(unit) > 1) - {"mi", "t", "ton"} | {"ton"}


def _is_unspaced_unit(word: str) -> bool:
    return (
        not word.isascii()
        and pattern(r"(?:[单単]位[:：]?|以)?(?:<counting>)*(?:<unspaced units>)计?\Z").match(word) is not None
    )


@lru_cache(maxsize=512)
def _is_square(char: str) -> bool:
    """Whether a character is a unit by itself, as ``㎾`` is."""
    plain = unicodedata.normalize("NFKC", char)
    return len(plain) > 1 and plain.lstrip("°") in ALLOWED_UNITS
