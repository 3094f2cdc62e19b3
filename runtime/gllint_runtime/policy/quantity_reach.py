"""What changes the quantity of a macro across words: "minus about {{claim:0}}", "Costs in millions: {{claim:0}}".

Articles, "of", words like "about", a comma and a colon hide no sign and no magnitude. The first other word, or the end
of the sentence, the line or the cell, ends the reach.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple

from gllint_runtime.policy.context_words import MASK, REACH, folded, multipliers, table, visible

_TOKEN = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|[^\w\s]")
_ENDS = frozenset(".!?;。！？；।॥؟")
_ABBREVIATIONS = frozenset(
    {"ca", "approx", "aprox", "env", "cca", "kb", "abt", "circa", "ok", "ung", "прибл"}
)
_OPERATORS = frozenset("−⁻－×÷∕⋅∗±∓√∛∜+")
_UNSPACED = (
    r"(?:(?<![削増增縮缩軽加勝胜])(?:[负負减減]|零下|マイナス|氷点下|마이너스|영하)|(?:[十百千]?[万萬亿億兆]|[百千])(?:[元円圆]|ドル|美元)?"
    r"|백만|천만|[만억조천]|一半|半分|절반|[两兩二三四五]倍|두\s?배|배|ล้าน|พัน|ครึ่ง|ลบ)"
    r"(?:[约約近的のの계計计]|大[约約]|大概|将近|およそ|ほぼ|おおよそ|약|대략|의|単位|단위|单位|ประมาณ|ของ|[\s:：，、,)）「『(（])+\Z"
)
Fault = tuple[int, int, str]


class _Words(NamedTuple):
    """The words of the tables, as :func:`folded` leaves them."""

    passed: frozenset[str]
    prepositions: frozenset[str]
    signs: frozenset[str]
    magnitudes: frozenset[str]
    factors: frozenset[str]
    parts: frozenset[str]
    of: frozenset[str]
    times: frozenset[str]
    numbers: frozenset[str]
    behind: frozenset[str]
    comparing: frozenset[str]
    compared: frozenset[str]
    passing: frozenset[str]
    telling: frozenset[str]  # all but those that end the reach


@lru_cache(maxsize=1)
def _words() -> _Words:
    words = {name: frozenset(section) for name, section in table().items()}
    signs, factors, parts = words["signs"], words["factors"], words["parts"]
    magnitudes = multipliers() - words["ambiguous magnitudes"]
    passed, prepositions = words["passed over"] - signs, words["prepositions"] - signs
    changing = (
        signs
        | magnitudes
        | factors
        | parts
        | words["times before"]
        | words["currencies in front"]
        | {"miles"}
    )
    return _Words(
        passed=passed,
        prepositions=prepositions,
        signs=signs,
        magnitudes=magnitudes,
        factors=factors,
        parts=parts,
        of=words["of"],
        times=words["times before"],
        numbers=words["number words"],
        behind=words["passed over behind"],
        comparing=words["comparing signs"],
        compared=words["comparing words"],
        passing=(passed | prepositions) - changing,
        telling=changing | passed | prepositions,
    )


def role_before(word: str) -> Literal["end", "passed", "change"]:
    """What a word (of ASCII letters) before a macro does: end the reach, hide nothing, or perhaps change the value."""
    word = word.lower()
    words = _words()
    if word not in words.telling:
        return "end"
    return "passed" if word in words.passing else "change"


def fault_across(text: str, start: int) -> Fault | None:
    """What changes the quantity of the macro that begins at ``start``, across words; linear in the reach."""
    first = max(0, start - REACH)
    head = text[first:start]
    begin = 1 + max(head.rfind("\n"), head.rfind("|"), head.rfind(MASK), head.rfind("\u2029"))
    first, head = first + begin, head[begin:]
    words = _words()
    if not head.isascii() and (unspaced := _compiled(_UNSPACED).search(head)):
        return first + unspaced.start(), start, _ACROSS
    head = visible(head)
    tokens = [*_TOKEN.finditer(head)]
    is_parted = is_far = is_passed = False  # by a comma, by more than articles and the like, by these
    for index in range(len(tokens) - 1, -1, -1):
        token = tokens[index]
        is_last = index == len(tokens) - 1  # the one next to the macro, which was checked there
        if not token[0][0].isalpha():
            if token[0] in _ENDS and not _is_abbreviated(head, tokens, index):
                return None
            if not is_last and _is_operator(head, token):
                return first + token.start(), first + token.end(), _ACROSS
            is_parted = is_parted or token[0] in ",:，："
            continue
        word = folded(token[0])
        behind = folded(tokens[index + 1][0]) if not is_last else ""
        before = folded(tokens[index - 1][0]) if index else ""
        if word in words.signs:
            is_label = not is_passed and _is_label(head, token)
            is_less = word in words.comparing and (before in words.compared or behind in words.compared)
            is_fault = not (is_last or is_far or is_label or is_less)
        elif word in words.magnitudes or (word == "miles" and before in ("en", "em")):
            is_fault = not is_last
        else:
            is_fault = not is_parted and not is_far and _multiplies(word, before, behind, words)
        if is_fault:
            return first + token.start(), first + token.end(), _ACROSS
        if word in words.prepositions:
            is_far = True
        elif word not in words.passed:
            return None
        is_passed = True
    return None


def _is_abbreviated(head: str, tokens: list[re.Match[str]], index: int) -> bool:
    """Whether a point ends no sentence: "ca. ", "Mio.:"."""
    behind = head[tokens[index].end() : tokens[index].end() + 1]
    return behind in (":", ",", ")") or (index > 0 and folded(tokens[index - 1][0]) in _ABBREVIATIONS)


@lru_cache(maxsize=1)
def _compiled(source: str) -> re.Pattern[str]:
    return re.compile(source)  # where it is first needed


def _is_label(head: str, token: re.Match[str]) -> bool:
    """Whether a word opens the line, followed by a colon."""
    return not head[: token.start()].strip(" \t,*_>#`") and head[token.end() :].lstrip(" *_`").startswith(":")


def _is_operator(head: str, token: re.Match[str]) -> bool:
    """Whether an operator precedes words that hide none: "−about", "× about"."""
    if token[0] in _OPERATORS:
        return token[0] != "+" or bool(head[: token.start()].strip())  # else it opens an item
    if token[0] not in "-–" or head[: token.start()][-1:] not in ("", " ", "(", ":"):
        return False
    word = _TOKEN.match(head, token.end())  # a short one would be the end of a word that is broken there
    return word is not None and len(word[0]) > 3


_ACROSS = "Leave out what would change the value: the tool's own sign and magnitude are shown."


def _multiplies(word: str, before: str, behind: str, words: _Words) -> bool:
    """Whether a word is a factor of what follows it."""
    if word in words.factors:
        return True
    if word in words.parts:
        return behind in words.of
    return word in words.times and before in words.numbers


_WORD_BEHIND = re.compile(r"[^\W\d_]+")
_MOST_PASSED = 4


def multiplier_behind(low: str, place: int) -> int:
    """Return the end of a multiplier at ``place`` of a folded text, or after words that hide none; else 0."""
    words = _words()
    for _ in range(_MOST_PASSED):
        word = _WORD_BEHIND.match(low, place)
        if word is None:
            return 0
        if word[0] in words.magnitudes:
            return word.end()
        if word[0] not in words.behind:
            return 0
        place = word.end()
        while low[place : place + 1] == " ":
            place += 1
    return 0
