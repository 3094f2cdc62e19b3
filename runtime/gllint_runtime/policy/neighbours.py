"""What may stand beside a macro: an allow-list, judged on what a reader sees.

A macro brings its value and its unit; what stands beside it must not change either. The rows of the table in this
order: characters that may touch a macro, letters that may, signs before it, and what changes the quantity behind
it, also across white space. White space, the ends of the text and opening and closing punctuation are passed over.
The words are in ``beside.txt``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import Literal

from gllint_runtime.policy.tables import read
from gllint_runtime.policy.units import ALLOWED_UNITS, TIME_UNITS, UNIT_SUFFIXES

BULLET = re.compile(r"\n([ \t>]*(?:\d{1,9}[.)][ \t]+)?)-(?=[ \t])")
MASK = "\ue000"
"""Stands for each character of a macro in the text that is looked at."""

Place = tuple[int, int, str]
"""Start, end, and what to tell the model."""

_REACH = 80  # characters looked at behind a macro; bounds the cost


# ------------------------------------------------------------------------------------------------- words


@lru_cache(maxsize=4096)
def _folded_char(char: str) -> str:
    form: Literal["NFKD", "NFKC"] = "NFKD" if char < "\u0590" or "\u1e00" <= char < "\u2000" else "NFKC"
    shown = _as_seen(unicodedata.normalize(form, char).lower())
    return shown if len(shown) == 1 else char


def _folded(text: str) -> str:
    """The text in small letters without accents or style, each character in its place."""
    return text.lower() if text.isascii() else "".join(map(_folded_char, text))


def _as_seen(words: str) -> str:
    """Words as a view has them, without combining marks."""
    return words if words.isascii() else "".join(c for c in words if unicodedata.category(c) != "Mn")


@lru_cache(maxsize=1)
def _table() -> dict[str, list[str]]:
    """The words of ``beside.txt``, folded, by the name of their section."""
    text = read("beside.txt")
    sections = re.findall(r"^\[([a-z ]+).*\]\n((?:.+\n)+)", text, re.MULTILINE)
    return {name: _folded(_as_seen(words)).split() for name, words in sections}


@lru_cache(maxsize=32)
def _pattern(source: str) -> re.Pattern[str]:
    """``<name>`` in ``source`` stands for any word of that section, ``/`` for the end of a word."""
    source = source.replace("/", r"(?![^\W\d_])")
    return re.compile(re.sub(r"<([a-z ]+)>", lambda name: f"(?:{'|'.join(_table()[name[1]])})", source))


@lru_cache(maxsize=1)
def _multipliers() -> frozenset[str]:
    return frozenset(_table()["multipliers"])


@lru_cache(maxsize=1)
def _looked_at() -> frozenset[str]:
    """The words behind a macro that may be, or begin, what changes it; on any other no time is spent."""
    parts = {part.lower() for unit in ALLOWED_UNITS for part in re.findall(r"[A-Za-z]+", unit)}
    begin = "to raised times multiplied divided x eq equiv equivalent equivalents pr metrekare ruutmeetri bio mill bill"
    begin += " square cubic sq cu metric short long pour for in on"
    return _multipliers() | parts | {*_table()["per"], *_table()["articles"], *begin.split()}


@lru_cache(maxsize=4096)
def _is_harmless(word: str) -> bool:
    folded = word.lower()
    is_unit = _is_prefixed(word) or _pattern("(?:<measures>)/").match(folded)
    return not (folded in _looked_at() or _MAGNITUDE.match(word) or is_unit)


@lru_cache(maxsize=1)
def _accented() -> frozenset[str]:
    """Words that mean something else, mostly in another language, without their accents."""
    rows = re.findall(r"^\[accented.*\]\n((?:.+\n)+)", read("beside.txt"), re.MULTILINE)
    return frozenset(" ".join(rows).split())


@lru_cache(maxsize=1)
def _units_in_small_letters() -> frozenset[str]:
    return frozenset(unit.lower() for unit in ALLOWED_UNITS if len(unit) > 2)


@lru_cache(maxsize=1)
def _sign_ends() -> tuple[str, ...]:
    return (*_table()["signs"], *_table()["unspaced signs"])


# ------------------------------------------------------------------ what may touch a macro, beside white space

_BRACKETS_AND_QUOTES = {"Ps", "Pe", "Pi", "Pf"}
_QUOTES = frozenset("\"'`_~＂＇❛❜❝❞⌜⌝")  # and what is typed for one, or for emphasis
_PUNCTUATION = _QUOTES | frozenset(
    "|*.,:;!?¡¿…—―"  # opening and closing punctuation, cells, the dash of prose
    "<>=≤≥≈＜＞"  # says what kind of value follows, not which
    "。、，．：；！？｡､・।॥،؛؟۔՝։׃།༎᠂᠃።፣၊။"  # the same in other scripts
    "\u00ad\u200e\u200f\u2066\u2067\u2068\u2069\ufffc"
)
_BEFORE_ONLY = frozenset("•∙◦▪▫●○■□►▶→⇒☐☑☒✓✔✅")  # bullets, arrows and boxes that open a line
# Pictures that show neither a number nor a sign, an arrow or money. What stands beyond them is looked at.
_PICTURES = re.compile(
    "[☀☁☂☃☔☕⚡⚠⚙⛄⛅✨⭐❄♨♻❗❓ℹ❤⏰⏱⏳⌛☎✉✏✈\U0001f300-\U0001f4a8\U0001f4aa-\U0001f4ae\U0001f4ba-\U0001f4c7\U0001f4ca-\U0001f4ff"
    "\U0001f525-\U0001f52f\U0001f534\U0001f535\U0001f5fa-\U0001f6aa\U0001f6ac-\U0001f6d4\U0001f6e0-\U0001f6ff"
    "\U0001f7e0-\U0001f7eb\U0001f90c-\U0001f9ff\U0001fa70-\U0001faff]+"
)
# Scripts that put no blank between words. Such a letter may touch a macro unless it counts or is a unit.
UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1100-\u115e\u1161-\u11ff\u1780-\u17ff\u3005\u3006\u3041-\u30fe\u3131-\u3163"
    r"\u3165-\u318e\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f\U00020000-\U000323af]"
)
_HEBREW_PREFIX = re.compile(r"(?<![^\W_])[ובכלמהש]{1,3}[-\u05be\u2010-\u2013]\Z")
_SUFFIX = re.compile(r"['’ʼ]([^\W\d_]+)")

# ------------------------------------------------------------------------------------- signs before a macro

_DASHES_OF_PROSE = frozenset("—―⸺⸻﹘\u05be\u058a")
_LOOK_ALIKES = frozenset(
    "−±∓➖⊖⊝⦵⁻₋˗⁓∸⨩⨪⨫⨬⨺⊟╴╶─━┄┅┈┉╌╍╸╺╼╾⎯⏤⎼⎽⎻⎺▬‾¯ˉˍ\u0335\u0336一ㅡᅳーᐨꟷ㇐⼀﹉﹍⚊⸗☰〰〜～∼￣＿"
)
_OPERATORS_BEFORE = frozenset("√∛∜¬÷×")
_AT_LEAST = re.compile(r"\b(?:au|du|ou|al|lo|ao|pelo|o) (?:moins|menos|meno)\Z")  # or more or less
_SIGN_IN_BRACKETS = re.compile(
    r"[(\[{$（［｛【「『〈《〔]\s*([^\w\s]|[^\W\d_]{2,16})\s*[)\]}$）］｝】」』〉》〕]\Z"
)
_RULE = re.compile(r"[ \t]*+[-=_*+|:][-=_*+|: \t]{2,}\Z")  # the line under a heading or a table's head
_WIDE_BLANK = re.compile(r"[ \t\n\u00a0\u2000-\u2005\u3000]")

# --------------------------------------------------------------- what changes the quantity behind a macro

_OPERATORS = frozenset("/∕⁄÷／⧸╱⟋⫻⫽·⋅∙⸱ꞏ‧×✕✖⨯⨉╳⊗⨂*＊∗^ˆ＾%‰‱٪؉؊°√\u0335\u0336\\")
_COUNTING_BEFORE = re.compile("[十百千万萬亿億兆零〇一二三四五六七八九两兩半만억]\\Z")
_UNSPACED_CHANGE = r"<unspaced per>?(?:<counting>|<unspaced units>)"
_CHANGES = (
    r"(?:co2(?:-?e|[-\s]?(?:eq|aq)(?:uiv\w*)?)|eq(?:uiv\w*)?\.?\s+co2)/",
    r"(?:<articles>\s+)?<measures>/|<per unit>/",
    r"(?:raised )?to the (?:power of/(?! (?:the|our|your)/)|(?:second|third|fourth|fifth|sixth|nth) power/)"
    r"|x(?![^\W_]|-)"
    r"|(?:multiplied|divided) by/|times (?:a )?(?:two|three|four|five|six|seven|eight|nine|ten|<multipliers>)/",
)
_PER = r"<per>\s+[\"'“‘«(\[]*(?:<the>\s+)?"
_ONE_MORE = (  # "per year and m2", "per year per m2", "per heated m2"
    r"[^\W\d_][\w-]*[\"'”’»)\]]*\s+(?<!\bin\s)(?<!\bof\s)(?<!\bas\s)(?<!\bor\s)(?:(?:<and>|&)\s+)?(?:<per>\s+)?(?:<the>\s+)?"
)
_SYMBOL = r"([^\s.,;:!?()\[\]{}|\"'”’»]+)"
_ALSO_WORDS = frozenset({"mi", "m", "t", "g", "C", "F", "K", "L", "W"})  # "por persona y mi casa"
_PER_UNIT = tuple(
    (start + "(?:<measures>|<ambiguous measures>|mille?)/", start + _SYMBOL, words)
    for start, words in ((_PER, frozenset()), (_PER + _ONE_MORE, _ALSO_WORDS))
)
# A letter or two that multiply, where the word ends; "k" is a word in Czech and Slovak, where another word follows.
_MAGNITUDE = re.compile(
    r"(?:[MBTG]|Md|tril|Mia(?=\.|\s*(?:$|[,;!?)]))|(?:Bio|mill|bill)\.)(?![\w'’&+#-])"
    r"|k(?!\s*[\w'’&+#-])|k(?=\s+(?:per|of|in|and|or|for|from|with|more|less|each|total)\b)"
)
_OVER = re.compile(r"/\s*(\w+)")
_LABEL = re.compile(r"[^\s:=|)]{1,20}\s?(?:[:=|)]|[–—-]\s)")  # in a list of what is called "C" or "USD"
# Up to three words of what is measured, and "per": "of useful heat per m2".
_LATER = re.compile(
    r"[^\S\n]++(?!(?:and|but|or|when|while|as|if|with|at|in|is|was|are|were|than|the|a|und|et|y|e|en|og|och)\b)"
    r"(?:(?:(?:of|de|di|du|an|von|van|av|af|do)\s++|d['’])(?:[^\W\d_]++\s++)?)?[^\W\d_]\w*+(?:['’-][^\W\d_]++)?"
    r"(?:\s++(?=(?:per|pro|par|por|je|pr\.?|pe|uz|ανά|на|за|na|za|each|every|לכל|لكل|प्रति|mỗi)\s)|\s*+(?=/))"
)
_SENTENCE_END = re.compile(r"[\s\"'”’»)\]*]*(?:[.!?\u2029\n]|\Z)")
_RATE = r"(?:<per>\s+(?:<the>\s+)?<times>|<how often>)/|<unspaced times>"
_PLAIN_WORD = re.compile(r" ([A-Za-z]+)(?:[ .,;:!?)]|\Z)")
_FREE = re.compile(
    r" (?:per|a|an|each|every) (?:year|month|week|day|hour|person)[.,;:]"
)  # spares most the rest
_WORD = re.compile(r"(?:[^\W_]|[\u0900-\u0dff])+")
_AFTER_DASH = re.compile(r"[-‐-―⸺⸻]+[\s*\"'“‘«(\[]*((?:[^\W_]|[\u0900-\u0dff])+)")
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
# Letters of other scripts that look like Latin ones.
_LATIN = str.maketrans(
    "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧκοАВЕКМНОРСТУХЅІЈԜаекорсухіјѕԝһ", "ABEZHIKMNOPTYXkoABEKMHOPCTYXSIJWaekopcyxijswh"
)


def beside(text: str, start: int, end: int, symbols: Collection[str], unit: str | None = None) -> list[Place]:
    """What changes the quantity of the macro at ``start`` to ``end`` of ``text``.

    ``symbols`` are a project's own units beside the allowlist. ``unit`` is the unit that the macro will show, where
    that is known: then a time behind a rate, and a measure behind a bare count, are found as well.
    """
    return [*_before(text, start, end), *_after(text, end, symbols, unit)]


# ------------------------------------------------------------------------------------------------- before


def _before(text: str, start: int, end: int) -> Iterator[Place]:
    if not start:
        return
    char = text[start - 1]
    if _PICTURES.match(char):
        while start and _PICTURES.match(text[start - 1]):
            start -= 1
        char = text[start - 1] if start else " "
    if char == " " and start > 1 and text[start - 2] in _LETTERS and not _sign_word(text, start - 1):
        return
    if char == MASK:
        yield start, end, "Put a blank or punctuation between two macros."
        return
    if not _may_touch(char) and char not in _BEFORE_ONLY:
        head = text[max(0, start - 8) : start]
        if UNSPACED.match(char):
            if found := _COUNTING_BEFORE.search(head):
                yield start - len(found[0]), start, "A word that counts would change the value."
                return
            if not _is_minus(text, start - 1) and not _sign_word(text, start):
                return
        elif _HEBREW_PREFIX.search(head):
            return
        first = start - 1
        while first and start - first < _REACH and char.isalnum() and text[first - 1].isalnum():
            first -= 1
        yield first, start, "Nothing but blanks or punctuation may touch a macro."
        return
    place = _back_over(text, start)
    if not place:
        return
    char = text[place - 1]
    if _is_minus(text, place - 1):
        yield place - 1, place, "A sign before a macro would change the value: the tool's own sign is shown."
    elif (
        char in _OPERATORS_BEFORE
        or (char in "+" and not _WIDE_BLANK.search(text, place, start))
        or unicodedata.category(char) == "Sc"
    ):
        yield place - 1, place, "The macro brings its value and its unit: write no sign before it."
    elif length := _sign_word(text, place):
        yield place - length, place, "A sign in words would change the value: the tool's own sign is shown."
    elif found := _SIGN_IN_BRACKETS.search(text, max(0, place - 24), place):
        if _is_minus(text, found.start(1)) or _sign_word(text, found.end(1)):
            yield *found.span(1), "A sign before a macro would change the value."


def _back_over(text: str, start: int) -> int:
    """The place before the blanks, opening brackets and quotes that stand before a macro; 0 where a text begins."""
    place, lines = start, 0
    while place:
        char = text[place - 1]
        if char == "\u2029":  # the other side of a block
            return 0
        if char == "\n":
            lines += 1
            head = text[max(0, text.rfind("\n", 0, place - 1) + 1, place - 200) : place - 1]
            if lines > 1 or _RULE.match(head):
                return 0
        elif not (
            char.isspace()
            or char in _QUOTES
            or char == "*"
            or unicodedata.category(char) in {"Ps", "Pi", "Pf"}
            or _is_quote_mark(text, place - 1)
        ):
            return place
        place -= 1
    return 0


def _is_quote_mark(text: str, place: int) -> bool:
    """Whether the ``>`` of a block quote stands there, at the start of a line."""
    return text[place] == ">" and text[text.rfind("\n", 0, place) + 1 : place].strip("> ") == ""


def _sign_word(text: str, place: int) -> int:
    """The length of the word for a sign that ends at ``place``, or 0."""
    head = _folded(text[max(0, place - 16) : place].rpartition(MASK)[2])
    if not head.endswith(_sign_ends()):
        return 0
    word = max((sign for sign in _sign_ends() if head.endswith(sign)), key=len)
    is_a_part = head[: -len(word)][-1:].isalpha() or _AT_LEAST.search(head)
    return 0 if is_a_part and word not in _table()["unspaced signs"] else len(word)


def _is_minus(text: str, place: int) -> bool:
    char = text[place]
    if char in _DASHES_OF_PROSE:
        return False
    if UNSPACED.match(char):  # a letter among letters, a stroke when alone
        return char in _LOOK_ALIKES and not (place and UNSPACED.match(text[place - 1]))
    return char in _LOOK_ALIKES or char == "⁃" or unicodedata.category(char) == "Pd"


@lru_cache(maxsize=512)
def _may_touch(char: str) -> bool:
    return char.isspace() or char in _PUNCTUATION or unicodedata.category(char) in _BRACKETS_AND_QUOTES


# -------------------------------------------------------------------------------------------------- after


def _after(text: str, end: int, symbols: Collection[str], unit: str | None) -> Iterator[Place]:
    if pictures := _PICTURES.match(text, end):
        end = pictures.end()
    char = text[end : end + 1]
    if not char or char == MASK or char in ".,;:!?":  # the second of two macros says so itself
        return
    if later := _LATER.match(text, end, end + _REACH):
        place = later.end()
        if last := _per(text, place, _folded(text[place : place + _REACH].partition(MASK)[0]), symbols):
            yield place, last, _leave_out(text[place:last])
            return
    if char == " " and unit is None and not symbols and (word := _PLAIN_WORD.match(text, end)):
        if _is_harmless(word[1]) or _FREE.match(text, end):
            return
    if suffix := _SUFFIX.match(text, end):
        if _changes(suffix[1], symbols):
            yield end, suffix.end(), _leave_out(suffix[1])
        return
    if not _may_touch(char):
        if UNSPACED.match(char):
            window = _folded(text[end : end + _REACH])
            found = _pattern(_UNSPACED_CHANGE).match(window)
            if not found and holds_time(unit):
                found = _pattern(_RATE).match(window)
            if found:
                yield end, end + found.end(), _leave_out(text[end : end + found.end()])
            return
        word = _WORD.match(text, end, end + _REACH)
        yield end, word.end() if word else end + 1, "Nothing but blanks or punctuation may touch a macro."
        return
    place = _on_over(text, end)
    if place < len(text):
        last = _behind(text, place, symbols, unit)
        if last:
            yield place, last, _leave_out(text[place:last])


def _on_over(text: str, end: int) -> int:
    """The place behind the blanks, brackets and quotes that follow a macro; the end where a paragraph ends."""
    place, lines = end, 0
    while place < len(text):
        char = text[place]
        if char == "\n" or char == "\u2029":
            lines += 1 if char == "\n" else 2
            if lines > 1:
                return len(text)
        elif not (char.isspace() or char in _QUOTES or unicodedata.category(char) in _BRACKETS_AND_QUOTES):
            if pictures := _PICTURES.match(text, place):
                place = pictures.end()
                continue
            if not _is_quote_mark(text, place):
                return place
        place += 1
    return place


def _behind(text: str, place: int, symbols: Collection[str], unit: str | None) -> int:
    """The end of what changes the quantity at ``place``, behind the blanks; 0 where nothing does."""
    char = text[place]
    if unicodedata.normalize("NFKC", char)[0] in _OPERATORS or unicodedata.category(char) == "Sc":
        line_start = text.rfind("\n", 0, place) + 1
        return 0 if char == "*" and not text[line_start:place].strip() else place + 1
    if unicodedata.decomposition(char).startswith("<super>") and unicodedata.category(char) != "So":
        return place + 1
    if unicodedata.category(char) == "Pd" and (text[place - 1].isspace() or text[place - 1] == MASK):
        if char in "-‐‑" and text[place + 1 : place + 2].isalpha():  # "-million"
            place += 1
        else:
            return _behind_dash(text, place, symbols)
    word = _WORD.match(text, place, place + _REACH)
    if word is None:
        seen = text[place - 1] + _unstyled(text[place : place + _REACH])
        if seen[1:2].isalpha():  # letters in circles or squares
            last = _behind(seen, 1, symbols, unit)
            return place + last - 1 if last else 0
        return place + 1 if place < len(text) and _is_unit(text[place], symbols) else 0
    follows = text[word.end() : word.end() + 2]
    if follows and unicodedata.category(follows[0]) == "Sc":  # "k€"
        return word.end() + 1
    rate = holds_time(unit)
    if (
        word[0].isascii()
        and word[0].isalpha()
        and not rate
        and _is_harmless(word[0])
        and word[0] not in symbols
    ):
        return 0
    if text[place - 1] == "\n" and _LABEL.match(text, place) and not _is_multiplier(word[0]):
        return 0
    window = _folded(text[place : place + _REACH].partition(MASK)[0])
    sources = [*_CHANGES]
    if not char.isascii():
        sources.append(_UNSPACED_CHANGE)
    if rate:
        sources.append(_RATE)
    if unit == "count":
        sources.append(r"[km](?![\w'’&+#-])")
    for source in sources:
        if found := _pattern(source).match(window):
            return place + found.end()
    if last := _per(text, place, window, symbols):
        return last
    if found := _MAGNITUDE.match(_unstyled(text[place : place + _REACH])):
        return place + found.end()
    if (
        _is_multiplier(word[0])
        or _is_prefixed(word[0])
        or word[0].lower() in _accented()
        or (unit == "count" and word[0].lower() in _units_in_small_letters())
    ):
        return word.end()
    is_longer = follows[:1] in ("+", "#") or (
        follows[:1] in ("'", "’", "-", "_", "&") and follows[1:].isalpha()
    )
    return 0 if is_longer or not _is_unit(word[0], symbols) else word.end()


def _per(text: str, place: int, window: str, symbols: Collection[str]) -> int:
    """The end of "per" and a unit at ``place`` of the text, where ``window`` begins; else 0."""
    if window.startswith("/"):
        unit = _OVER.match(text, place)
        return unit.end() if unit and len(unit[1]) > 1 and _is_unit(unit[1], symbols) else 0
    if not _pattern(r"<per>\s").match(window):
        return 0
    for measure, symbol, words in _PER_UNIT:
        if found := _pattern(measure).match(window):
            return place + found.end()
        if found := _pattern(symbol).match(window):
            typed = text[place + found.start(1) : place + found.end(1)]
            if text[place + found.end(1) :][:1] in ("'", "’") or (typed == "mi" and window.startswith("por")):
                continue  # "par L'Oréal", "por mi parte"
            if typed not in words and (_is_unit(typed, symbols) or found[1] in UNIT_SUFFIXES):
                return place + found.end()
    return 0


def _behind_dash(text: str, place: int, symbols: Collection[str]) -> int:
    """The end of a word behind a dash that stands alone and changes the quantity: "— million."."""
    word = _AFTER_DASH.match(text, place, place + _REACH)
    if word is None:
        return 0
    start = word.start(1)
    if last := _per(text, start, _folded(text[start : start + _REACH].partition(MASK)[0]), symbols):
        return last
    if not _SENTENCE_END.match(text, word.end()):
        return 0
    is_measure = _pattern("(?:<measures>)/").fullmatch(_folded(word[1]))
    return word.end() if is_measure or _changes(word[1], symbols) else 0


def _unstyled(text: str) -> str:
    if text.isascii():
        return text
    return "".join(c if len(new := unicodedata.normalize("NFKC", c)) > 1 else new for c in text)


def _leave_out(text: str) -> str:
    return f"Leave out {text!r}: the macro brings its value and its unit, and nothing may change them."


def _changes(word: str, symbols: Collection[str]) -> bool:
    return _is_multiplier(word) or _is_unit(word, symbols)


def _is_multiplier(word: str) -> bool:
    return _folded(_as_seen(word)) in _multipliers()


def _is_prefixed(word: str) -> bool:
    """``kUSD``, ``MEUR``"""
    return len(word) == 4 and word[0] in "kMB" and word[1:].isupper() and word[1:] in ALLOWED_UNITS


def _is_unit(word: str, symbols: Collection[str]) -> bool:
    if word.isascii() and word.isalpha():
        return word in ALLOWED_UNITS or word in symbols
    first = re.split(r"[/·⋅*×^]", word)[0]
    folded = unicodedata.normalize("NFKC", first).removeprefix("°")
    if len(folded) > 1 and not folded.isascii():
        folded = folded.translate(_LATIN)
    return folded in ALLOWED_UNITS or first in symbols or (first != word and folded in TIME_UNITS)


@lru_cache(maxsize=256)
def holds_time(unit: str | None) -> bool:
    """Whether a quantity of this unit is a rate, or a power."""
    parts = re.findall(r"[^\W\d]+", unit or "")
    return any(part in TIME_UNITS or ALLOWED_UNITS.get(part) == "power" for part in parts)
