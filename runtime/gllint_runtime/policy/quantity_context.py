"""What may stand beside a macro: an allow-list, judged on what a reader sees.

A macro brings its value and its unit; what stands beside it must not change either. The parts of this page, in this
order: characters that may touch a macro, signs before it, and what changes the quantity behind it, also across white
space. White space, the ends of the text and opening and closing punctuation are passed over. The words are in
``quantity_context.txt``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from functools import lru_cache

from gllint_runtime.policy.data_files import read
from gllint_runtime.policy.units import ALLOWED_UNITS, TIME_UNITS, UNIT_SUFFIXES

BULLET = re.compile(r"\n([ \t>]*(?:\d{1,9}[.)][ \t]+)?)-(?=[ \t])")
MASK = "\ue000"
"""Stands for each character of a macro in the text that is looked at."""

Place = tuple[int, int, str]
"""Start, end, and what to tell the model."""

JOINS = ".,'’_٫٬\u00a0\u2009\u202f"
"""What joins digits to one number."""

_REACH = 80  # characters looked at beside a macro; bounds the cost

# ------------------------------------------------------------------------------------- what may touch a macro

_BRACKETS_AND_QUOTES = {"Ps", "Pe", "Pi", "Pf"}
_QUOTES = frozenset("\"'ʼ`_~＂＇❛❜❝❞⌜⌝†‡")  # and what is typed for one, for emphasis or a footnote
_PUNCTUATION = _QUOTES | frozenset(
    "|*.,:;!?¡¿…—―"  # opening and closing punctuation, cells, the dash of prose
    "<>=≤≥≈＜＝＞〜～"  # says what kind of value follows, not which
    "。、，．：；！？｡､・।॥،؛؟۔՝։׃།༎᠂᠃።፣၊။"  # the same in other scripts
    "\u00ad\u200e\u200f\u2066\u2067\u2068\u2069\ufffc"
)
_BEFORE_ONLY = frozenset("•※◎◆◇★☆∙◦▪▫●○■□►▶→⇒☐☑☒✓✔✅")  # bullets, arrows and boxes that open a line
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
_COUNTING_BEFORE = re.compile(
    "(?<![周週期拜第唯统統之前後后上下])[十百千万萬亿億兆零〇一二三四五六七八九两兩半만억]\\Z"
)
_HEBREW_PREFIX = re.compile(r"(?<![^\W_])[ובכלמהש]{1,3}[-\u05be\u2010-\u2013]\Z")

# ------------------------------------------------------------------------------------- signs before a macro

_DASHES_OF_PROSE = frozenset("—―⸺⸻﹘〜\u05be\u058a")
_STROKE = re.compile(  # what the name of a character says that looks like a minus
    r"\b(?:MINUS|HYPHEN|DASH|DASHED|MACRON|OVERLINE|LOW LINE|HORIZONTAL(?! ELLIPSIS)|(?:LIGHT|HEAVY) (?:LEFT|RIGHT))\b"
    r"(?!.* ARROW)"
)
_OTHER_STROKES = frozenset("ˉˍᐨ▬⏤⚊☰∼Ⲻⲻ⼀一ㅡᅳーｰꟷ㇐⠤⠒\u0335\u0336")
_OPERATORS_BEFORE = frozenset("√∛∜¬÷×➗")
_SIGN = (  # the words of seven languages that mean "or more", "or less", and words for a sign
    r"\b(?:au|du|ou|al|lo|ao|pelo|o) (?:moins|menos|meno)\Z"
    r"|((?<![^\W\d_])(?:<signs>)|(?<![削增増縮缩軽加勝胜])<unspaced signs>)\Z"
)
_ACCENTED_SIGN = r"(?i)(?<![^\W\d_])(?:<accented signs>)\Z"
_SIGN_IN_BRACKETS = re.compile(
    r"[(\[{$（［｛【「『〈《〔]\s*([^\w\s]|[^\W\d_]{2,16})\s*[)\]}$）］｝】」』〉》〕]\Z"
)
_RULE = re.compile(r"[ \t]*+[-=_*+|:][-=_*+|: \t]{2,}\Z")  # the line under a heading or a table's head
_WIDE_BLANK = re.compile(r"[ \t\n\u00a0\u2000-\u2005\u3000]")

# --------------------------------------------------------------- what changes the quantity behind a macro

# Operators beside those that Unicode files as mathematical, and what names of these say that change nothing.
_OPERATORS = frozenset("/╱·⸱ꞏ‧ᐧ✕✖╳➗*^ˆ%‰‱٪؉؊°\\\u0335\u0336")
_RELATION = re.compile(r"EQUAL|LESS|GREATER|TILDE|ARROW|PLUS|MINUS|VERTICAL|TRIANGLE|SQUARE\Z")
_CHANGES = "|".join(
    (
        r"(?:co2(?:-?e|[-\s]?(?:[eéaä]q(?:uiv\w*)?|ekv\w*))|(?:[eé]q(?:uiv\w*)?|экв\w*)\.?\s+co2)/",
        r"co2(?:当量|當量|換算)",
        r"(?:<articles>\s+)?<measures>/|<per unit>/|<changed>/",
        r"(?:raised )?to the (?:power of/(?! (?:the|our|your)/)|(?:second|third|fourth|fifth|sixth|nth) power/)",
        r"x(?![^\W_]|-)|(?:multiplied|divided) by/"
        r"|times (?:a )?(?:two|three|four|five|six|seven|eight|nine|ten|<multipliers>)/",
        r"・\s*[a-z]",
    )
)
_UNSPACED_CHANGE = r"<unspaced per>?(?:<counting>|<unspaced units>)"
_RATE = r"(?:<per>\s+(?:<the>\s+)?<times>|<how often>)/|<unspaced times>"  # behind a quantity that holds time
_OF_A_COUNT = r"[km](?![\w'’&+#-])"
# A letter or two that multiply, where the word ends; "k" is a word in Czech and Slovak, where another word follows.
_MAGNITUDE = (
    r"(?:[MBTG]|Md|tril|Mia(?=\.|\s*(?:$|[,;!?)]))|(?:Bio|mill|bill)\.)(?![\w'’&+#-])"
    r"|k(?!\s*[\w'’&+#-])|k(?=\s+(?:per|of|in|and|or|for|from|with|more|less|each|total|USD|EUR|GBP)\b)"
)
# No part of a name or of an abbreviation: "M&A", "C++", "t-shirt", "t.ex."
_WHOLE = r"(?![^\W_]|[+#]|['’&_-][^\W\d_]|(?:\.[^\W\d_]{1,3})+\.)"
_UNIT = rf"°?(?:<units>){_WHOLE}|(?i:<accented>)/"
_LONG_UNIT = rf"°?(?:<long units>){_WHOLE}"
_MEASURES_BEHIND_PER = r"(?:<measures>|<measures behind per>|<unit names>)/|<time units>[\x2f·⋅*×^]"
_PER = r"<per>\s+[\"'“‘«(\[]*(?:<the>\s+)?"
_ONE_MORE = (  # "per year and m2", "per year per m2", "per heated m2"
    r"[^\W\d_][\w-]*[\"'”’»)\]]*\s+(?<!\bin\s)(?<!\bof\s)(?<!\bas\s)(?<!\bor\s)(?:(?:<and>|&)\s+)?(?:<per>\s+)?(?:<the>\s+)?"
)
_PER_UNIT = (
    (_PER, _UNIT),
    (_PER + _ONE_MORE, _LONG_UNIT),
    (_PER + r"[^\W\d_]+-", _LONG_UNIT),
    (r"<unspaced per>\s*", _UNIT),
)
# Up to three words of what is measured, and "per": "of useful heat per m2".
_LATER = (
    r"(?!(?:and|but|or|when|while|as|if|with|at|in|is|was|are|were|than|the|a|und|et|y|e|en|og|och)\b)"
    r"(?:(?:(?:of|de|di|du|an|von|van|av|af|do)\s++|d['’])(?:[^\W\d_]++\s++)?)?[^\W\d_]\w*+(?:['’-][^\W\d_]++)?"
    r"(?:\s++(?=<per of it>\s)|\s*+(?=\x2f))"
)
_LABEL = re.compile(r"[^\s:=|)]{1,20}\s?(?:[:=|)]|[–—-]\s)")  # in a list of what is called "C" or "USD"
_SENTENCE_END = re.compile(r"[\s\"'”’»)\]*]*(?:[.!?\u2029\n]|\Z)")
_WORD = re.compile(r"[\w\u0900-\u0dff]+")  # with the vowel signs of India, which are no letters to the engine
_DASH = re.compile(r"[-‐-―⸺⸻]+[\s*\"'“‘«(\[]*(?=[^\W_])")
_OVER = re.compile(r"/\s*(?=\w)")


def context_faults(
    text: str, start: int, end: int, symbols: Collection[str], unit: str | None = None
) -> list[Place]:
    """What changes the quantity of the macro at ``start`` to ``end`` of ``text``.

    ``symbols`` are a project's own units beside the allowlist. ``unit`` is the unit that the macro will show, where
    that is known: then a time behind a rate, and a measure behind a bare count, are found as well.
    """
    places = _fault_in_front(text, start, end), _fault_at_end(text, end, symbols, unit)
    return [place for place in places if place is not None]


# ------------------------------------------------------------------------------------------------- before


def _fault_in_front(text: str, start: int, end: int) -> Place | None:
    while start and not text[start - 1].isascii() and _PICTURES.match(text[start - 1]):
        start -= 1
    if not start:
        return None
    char = text[start - 1]
    if char == " " and "a" <= text[start - 2 : start - 1].lower() <= "z" and not _sign_word(text, start - 1):
        return None
    if char == MASK:
        return start, end, "Put a blank or punctuation between two macros."
    if not _may_touch(char) and char not in _BEFORE_ONLY:
        head = text[max(0, start - 8) : start]
        if UNSPACED.match(char):
            if match := _COUNTING_BEFORE.search(head):
                return start - len(match[0]), start, "A word that counts would change the value."
            if not _is_minus(text, start - 1) and not _sign_word(text, start):
                return None
        elif _HEBREW_PREFIX.search(head):
            return None
        first = start - 1
        while first and start - first < _REACH and char.isalnum() and text[first - 1].isalnum():
            first -= 1
        return first, start, "Nothing but blanks or punctuation may touch a macro."
    place = _back_over(text, start)
    if not place:
        return None
    char = text[place - 1]
    if _is_minus(text, place - 1):
        return place - 1, place, "A sign before a macro would change the value: the tool's own sign is shown."
    if (
        char in _OPERATORS_BEFORE
        or (char in "+" and not _WIDE_BLANK.search(text, place, start))
        or unicodedata.category(char) == "Sc"
    ):
        return place - 1, place, "The macro brings its value and its unit: write no sign before it."
    if length := _sign_word(text, place):
        return (
            place - length,
            place,
            "A sign or a currency in words would change it: the tool's own sign and unit are shown.",
        )
    if match := _SIGN_IN_BRACKETS.search(text, max(0, place - 24), place):
        if _is_minus(text, match.start(1)) or _sign_word(text, match.end(1)):
            return *match.span(1), "A sign before a macro would change the value."
    return None


def _back_over(text: str, start: int) -> int:
    """The place before the blanks, opening brackets and quotes that stand before a macro; 0 where a text begins."""
    place, lines = start, 0
    while place:
        char = text[place - 1]
        if char == "\u2029":  # the other side of a block
            return 0
        if char == "\n":
            lines += 1
            head = text[max(0, place - 200) : place - 1].rpartition("\n")[2]
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
    return (
        text[place] == ">"
        and not text[max(0, place - _REACH) : place].rpartition("\n")[2].replace(">", "").strip()
    )


def _sign_word(text: str, place: int) -> int:
    """The length of the word for a sign that ends at ``place``, or 0."""
    head = text[max(0, place - 16) : place].rpartition(MASK)[2]
    if not head.isascii() and (match := _pattern(_ACCENTED_SIGN).search(head)):
        return len(match[0])
    head = head.lower() if head.isascii() else _folded(_visible(head))
    match = _pattern(_SIGN).search(head) if head.endswith(_sign_ends()) else None
    return len(match[1] or "") if match else 0


def _is_minus(text: str, place: int) -> bool:
    char = text[place]
    if UNSPACED.match(char):  # a letter among letters, a stroke when alone
        return char in _OTHER_STROKES and not (place and UNSPACED.match(text[place - 1]))
    return _is_stroke(char)


@lru_cache(maxsize=512)
def _is_stroke(char: str) -> bool:
    if char.isalnum() or char in _DASHES_OF_PROSE or _PICTURES.match(char):
        return char in _OTHER_STROKES
    is_named = _STROKE.search(unicodedata.name(char, ""))
    return bool(is_named) or char in _OTHER_STROKES or unicodedata.category(char) == "Pd"


@lru_cache(maxsize=512)
def _may_touch(char: str) -> bool:
    return char.isspace() or char in _PUNCTUATION or unicodedata.category(char) in _BRACKETS_AND_QUOTES


# -------------------------------------------------------------------------------------------------- after


def _fault_at_end(text: str, end: int, symbols: Collection[str], unit: str | None) -> Place | None:
    char = text[end : end + 1]
    if not char.isascii() and (pictures := _PICTURES.match(text, end)):
        end = pictures.end()
        char = text[end : end + 1]
    if unit == "count" and char in JOINS and text[end + 1 : end + 2] == MASK:
        return end, end + 1, "Two counts that stand so read as one number: write a blank between them."
    if not char or char == MASK or char in ".,;:!?":  # the second of two macros says so itself
        return None
    if not _may_touch(char) and not UNSPACED.match(char):
        word = _WORD.match(text, end, end + _REACH)
        return end, word.end() if word else end + 1, "Nothing but blanks or punctuation may touch a macro."
    place = end if UNSPACED.match(char) else _on_over(text, end)
    if place < len(text) and (last := _end_of_fault(text, place, symbols, unit)):
        return place, last, _leave_out(text[place:last])
    return None


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
            if not _PICTURES.match(char) and not _is_quote_mark(text, place):
                return place
        place += 1
    return place


def _end_of_fault(text: str, place: int, symbols: Collection[str], unit: str | None) -> int:
    """The end of what changes the quantity at ``place``, behind the blanks; 0 where nothing does."""
    char, previous = text[place], text[place - 1]
    if _is_operator(char):
        opens_line = not text[text.rfind("\n", 0, place) + 1 : place].strip()
        return 0 if char == "*" and opens_line else place + 1
    visible, low = _window(text, place)
    if dash := _DASH.match(text, place):
        start = dash.end()
        last = _end_of_fault(text, start, symbols, unit)
        is_glued = (
            char in "-‐‑" and start == place + 1
        )  # "-million"; behind another dash a sentence may go on
        is_all = is_glued or _SENTENCE_END.match(text, last) or _match(r"<per>\s", low, start - place)
        return last if is_all else 0
    last = _multiplier_end(low)
    if previous == "\n" and _LABEL.match(text, place):
        return place + last if last else 0
    changes = [
        _CHANGES,
        *([_UNSPACED_CHANGE] if not low.isascii() else []),
        *([_RATE] if holds_time(unit) else []),
        *([_OF_A_COUNT] if unit == "count" else []),
    ]
    for source in changes:
        last = last or _match(source, low)
    later = _match(_LATER, low) if previous in " \t\u00a0" else 0
    last = (
        last
        or _per(visible, low, 0, symbols)
        or (later and _per(visible, low, later, symbols))
        or _unit_end(visible, 0, symbols, _UNIT)
        or _match(_MAGNITUDE, visible)
    )
    return place + last if last else 0


def _multiplier_end(low: str) -> int:
    word = _WORD.match(low)
    return word.end() if word and word[0] in _multipliers() else 0


def _per(visible: str, low: str, place: int, symbols: Collection[str]) -> int:
    """The end of "per" and a unit at ``place``; else 0."""
    if over := _OVER.match(visible, place):
        return _unit_end(visible, over.end(), symbols, _LONG_UNIT)
    for start, unit in _PER_UNIT if _match(r"<per>\s|<unspaced per>", low, place) else ():
        if end := _match(start, low, place):
            if last := _match(_MEASURES_BEHIND_PER, low, end) or _unit_end(visible, end, symbols, unit):
                return last
    return 0


def _unit_end(visible: str, place: int, symbols: Collection[str], source: str) -> int:
    """The end of the symbol of a unit or a currency at ``place``; else 0."""
    if last := _match(source, visible, place):
        return last
    word = _WORD.match(visible, place)
    last = word.end() if word else place
    if word and word[0] in symbols and re.match(_WHOLE, visible[last:]):
        return last
    if unicodedata.category(visible[last : last + 1] or " ") == "Sc":  # "€", "k€"
        return last + 1
    char = visible[place : place + 1]
    is_square = (
        not char.isascii() and unicodedata.normalize("NFKC", char).lstrip("°") in ALLOWED_UNITS
    )  # "㎾"
    return place + 1 if is_square or char == "%" else 0


@lru_cache(maxsize=512)
def _is_operator(char: str) -> bool:
    if unicodedata.decomposition(char).startswith("<super>") and unicodedata.category(char) != "So":
        return True
    plain = unicodedata.normalize("NFKC", char)[0]
    if unicodedata.category(plain) == "Sm":
        return not _RELATION.search(unicodedata.name(plain))
    return plain in _OPERATORS or unicodedata.category(plain) == "Sc"


def _leave_out(text: str) -> str:
    return f"Leave out {text!r}: the macro brings its value and its unit, and nothing may change them."


@lru_cache(maxsize=256)
def holds_time(unit: str | None) -> bool:
    """Whether a quantity of this unit is a rate, or a power."""
    parts = re.findall(r"[^\W\d]+", unit or "")
    return any(part in TIME_UNITS or ALLOWED_UNITS.get(part) == "power" for part in parts)


# ------------------------------------------------------------------------------------------------- words

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
def _table() -> dict[str, list[str]]:
    """The words of ``quantity_context.txt``, folded, by the name of their section, and the symbols of units."""
    text = read("quantity_context.txt")
    sections = dict(re.findall(r"^\[([a-z ]+).*\]\n((?:.+\n)+)", text, re.MULTILINE))
    units = sorted({re.split("[/%]", unit)[0] for unit in ALLOWED_UNITS} - {""}, key=len, reverse=True)
    currencies = [prefix + unit for unit in units if unit.isupper() and len(unit) == 3 for prefix in "kMBT"]
    return {
        **{name: _written(_without_marks(words)) for name, words in sections.items()},
        **{name: sections[name].split() for name in ("accented", "accented signs")},
        "units": units + currencies,
        "long units": [unit for unit in units if len(unit) > 1 and unit != "mi"],
        "time units": [*TIME_UNITS],
        "unit names": [name for name in UNIT_SUFFIXES if name not in {*ALLOWED_UNITS, "miles"}],
    }


def _match(source: str, text: str, place: int = 0) -> int:
    """The end of ``source`` at ``place``, else 0.

    ``<name>`` in it stands for any word of that section, ``/`` for the end of a word (and ``\\x2f`` for a slash).
    """
    match = _pattern(source).match(text, place)
    return match.end() if match else 0


@lru_cache(maxsize=64)
def _pattern(source: str) -> re.Pattern[str]:
    source = source.replace("/", r"(?![^\W\d_])")
    return re.compile(re.sub(r"<([a-z ]+)>", lambda name: f"(?:{'|'.join(_table()[name[1]])})", source))


@lru_cache(maxsize=1)
def _multipliers() -> frozenset[str]:
    return frozenset(_table()["multipliers"])


@lru_cache(maxsize=1)
def _sign_ends() -> tuple[str, ...]:
    return (*_table()["signs"], *_table()["unspaced signs"])


def _window(text: str, place: int) -> tuple[str, str]:
    """What stands at ``place``, up to the next macro: as it is seen, and in small letters without accents."""
    visible = _visible(text[place : place + _REACH].partition(MASK)[0])
    return visible, _folded(visible)


def _visible(text: str) -> str:
    """The text without styles of letters, and in Latin letters alone what mixes them with others, each in its place."""
    if text.isascii():
        return text
    return _LETTERS.sub(_in_latin, "".join(map(_unstyled_char, text)))


def _in_latin(word: re.Match[str]) -> str:
    return word[0].translate(_LATIN) if _ASCII_LETTER.search(word[0]) else word[0]


def _folded(text: str) -> str:
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
