"""The text that may be next to a macro: an allow-list, applied to what a reader sees.

A macro shows its value and its unit; the text next to it must not change either. The parts of this page, in this
order: characters that may touch a macro, signs before it, and what changes the quantity behind it, also across white
space. White space, the ends of the text and opening and closing punctuation are passed over. The words are in
``quantity_context.txt``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from functools import lru_cache

from gllint_runtime.policy.context_words import (
    MASK as MASK,
)
from gllint_runtime.policy.context_words import (
    REACH,
    folded,
    match_end,
    multipliers,
    pattern,
    table,
    visible,
    window,
)
from gllint_runtime.policy.expressions import expression
from gllint_runtime.policy.quantity_reach import fault_across, multiplier_behind, role_before
from gllint_runtime.policy.units import ALLOWED_UNITS, TIME_UNITS

BULLET = expression(r"\n([ \t>]*(?:\d{1,9}[.)][ \t]+)?)-(?=[ \t])")
BARE_UNITS = frozenset({"count", "1"})
"""Units that are not shown."""

Place = tuple[int, int, str]
"""Start, end, and the text for the model."""

JOINS = ".,'’_٫٬\u00a0\u2009\u202f"
"""What joins digits to one number."""

# ------------------------------------------------------------------------------------- what may touch a macro

_BRACKETS_AND_QUOTES = {"Ps", "Pe", "Pi", "Pf"}
_QUOTES = frozenset("\"'ʼ`_~＂＇❛❜❝❞⌜⌝†‡")  # and what is typed for one, for emphasis or a footnote
_PUNCTUATION = _QUOTES | frozenset(
    "|*.,:;!?¡¿…—"  # opening and closing punctuation, cells, the dash of prose
    "<>=≤≥≈＜＝＞〜～"  # says what kind of value follows, not which
    "。、，．：；！？｡､・।॥،؛؟۔՝։׃།༎᠂᠃።፣၊။"  # the same in other scripts
    "\u00ad\u200e\u200f\u2066\u2067\u2068\u2069\ufffc"
)
_BEFORE_ONLY = frozenset("•※◎◆◇★☆∙◦▪▫●○■□►▶→⇒☐☑☒✓✔✅§¶")  # bullets, arrows and boxes that open a line
_ARROWS = frozenset("→⇒➜⟶")  # from one value to another
# Pictures that show neither a number nor a sign, an arrow or money. The text beyond them is checked.
_PICTURES = expression(
    "[☀☁☂☃☔☕⚡⚠⚙⛄⛅✨⭐❄♨♻❗❓ℹ❤⏰⏱⏳⌛☎✉✏✈\U0001f300-\U0001f4a8\U0001f4aa-\U0001f4ae\U0001f4ba-\U0001f4c7\U0001f4ca-\U0001f4ff"
    "\U0001f525-\U0001f52f\U0001f534\U0001f535\U0001f5fa-\U0001f6aa\U0001f6ac-\U0001f6d4\U0001f6e0-\U0001f6ff"
    "\U0001f7e0-\U0001f7eb\U0001f90c-\U0001f9ff\U0001fa70-\U0001faff]+"
)
# Scripts that put no blank between words. Such a letter may touch a macro unless it counts or is a unit.
UNSPACED = expression(
    r"[\u0e00-\u0eff\u1000-\u109f\u1100-\u115e\u1161-\u11ff\u1780-\u17ff\u3005\u3006\u3041-\u30fe\u3131-\u3163"
    r"\u3165-\u318e\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f\U00020000-\U000323af]"
)
_COUNTING_BEFORE = expression(
    "(?<![周週期拜第唯统統之前後后上下])[十百千万萬亿億兆零〇一二三四五六七八九两兩半만억]\\Z"
)
_HEBREW_PREFIX = expression(r"(?<![^\W_])[ובכלמהש]{1,3}[-\u05be\u2010-\u2013]\Z")

# ------------------------------------------------------------------------------------- signs before a macro

_DASHES_OF_PROSE = frozenset("—⸺⸻﹘〜\u05be\u058a")
_STROKE = expression(  # what the name of a character says that looks like a minus
    r"\b(?:MINUS|HYPHEN|DASH|DASHED|MACRON|OVERLINE|LOW LINE|HORIZONTAL(?! ELLIPSIS)|(?:LIGHT|HEAVY) (?:LEFT|RIGHT))\b"
    r"(?!.* ARROW)"
)
_OTHER_STROKES = frozenset("ˉˍᐨ▬⏤⚊☰∼Ⲻⲻ⼀一ㅡᅳーｰꟷ㇐⠤⠒\u0335\u0336")
_OPERATORS_BEFORE = frozenset("√∛∜¬÷×➗±∓∕⋅∗^")
_SIGN = (  # the words of seven languages that mean "or more", "or less", and words for a sign
    r"\b(?:au|du|ou|al|lo|ao|pelo|o) (?:moins|menos|meno)\Z"
    r"|((?<![^\W\d_])(?:<signs>|<currencies in front>)|(?<![削增増縮缩軽加勝胜])<unspaced signs>)\Z"
)
_ACCENTED_SIGN = r"(?i)(?<![^\W\d_])(?:<accented signs>)\Z"
_SIGN_IN_BRACKETS = expression(
    r"[(\[{$（［｛【「『〈《〔]\s*([^\w\s]|[^\W\d_]{2,16})\s*[)\]}$）］｝】」』〉》〕]\Z"
)
_RULE = expression(r"[ \t]*+[-=_*+|:][-=_*+|: \t]{2,}\Z")  # the line under a heading or a table's head

# --------------------------------------------------------------- what changes the quantity behind a macro

# Operators besides those that Unicode calls mathematical, and names of these that change nothing.
_OPERATORS = frozenset("/╱·⸱ꞏ‧ᐧ✕✖╳➗*^ˆ%‰‱٪؉؊°\\\u0335\u0336")
_RELATION = expression(r"EQUAL|LESS|GREATER|TILDE|ARROW|PLUS|MINUS|VERTICAL|TRIANGLE|SQUARE\Z")
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
_UNSPACED_CHANGE = (
    r"<unspaced per>?(?:<counting>|<unspaced units>)"
    r"|(?:的|の|의\s?)(?:一半|半分|절반|[两兩二三四五]倍)|翻[倍番]|倍増|[減减]半"
)
_RATE = r"(?:<per>\s+(?:<the>\s+)?<times>|<how often>)/|<unspaced times>"  # after a quantity that has time in its unit
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
_LABEL = expression(r"[^\s:=|)]{1,20}\s?(?:[:=|)]|[–—-]\s)")  # in a list of what is called "C" or "USD"
_SENTENCE_END = expression(r"[\s\"'”’»)\]*]*(?:[.!?\u2029\n]|\Z)")
_WORD = expression(r"[\w\u0900-\u0dff]+")  # with the vowel signs of India, which are no letters to the engine
_DASH = expression(r"[-‐-―⸺⸻]+[\s*\"'“‘«(\[]*(?=[^\W_])")
_OVER = expression(r"/\s*(?=\w)")


def context_faults(
    text: str, start: int, end: int, symbols: Collection[str], unit: str | None = None
) -> list[Place]:
    """What changes the quantity of the macro at ``start`` to ``end`` of ``text``.

    ``symbols`` are a project's own units in addition to the allowlist. ``unit`` is the unit that the macro will
    show, if it is known: then a time after a rate, and a measure after a bare count, are found as well.
    """
    places = [_fault_in_front(text, start, end), _fault_at_end(text, end, symbols, unit)]
    if unit in BARE_UNITS:
        from gllint_runtime.policy.bare_numbers import unit_beside  # many processes show none

        places.append(unit_beside(text, start, end))
    return [place for place in places if place is not None]


# ------------------------------------------------------------------------------------------------- before


def _fault_in_front(text: str, start: int, end: int) -> Place | None:
    while start and not text[start - 1].isascii() and _PICTURES.match(text[start - 1]):
        start -= 1
    if not start:
        return None
    char = text[start - 1]
    if char == " " and "a" <= text[start - 2 : start - 1].lower() <= "z":
        word = text[text.rfind(" ", max(0, start - REACH), start - 1) + 1 : start - 1]
        if word.isalpha() and word.isascii():
            role = role_before(word)
            if role == "end":
                return None
            if role == "passed" or not _sign_word(text, start - 1):
                return fault_across(text, start)
    if char == MASK:
        return start, end, "Put a blank or punctuation between two macros."
    if not _may_touch(char) and char not in _BEFORE_ONLY:
        head = text[max(0, start - 8) : start]
        if UNSPACED.match(char):
            if match := _COUNTING_BEFORE.search(head):
                return start - len(match[0]), start, "A word that counts would change the value."
            if not _is_minus(text, start - 1) and not _sign_word(text, start):
                return fault_across(text, start)
        elif _HEBREW_PREFIX.search(head):
            return None
        first = start - 1
        while first and start - first < REACH and char.isalnum() and text[first - 1].isalnum():
            first -= 1
        return first, start, "Only blanks or punctuation may touch a macro."
    place = _back_over(text, start)
    if not place:
        return None
    char = text[place - 1]
    if _is_minus(text, place - 1):
        return place - 1, place, "A sign before a macro would change the value: the tool's own sign is shown."
    if (
        char in _OPERATORS_BEFORE
        or (char == "+" and not _is_plus_of_prose(text, place - 1, start))
        or unicodedata.category(char) == "Sc"
    ):
        return place - 1, place, "The macro shows its value and its unit: write no sign before it."
    if length := _sign_word(text, place):
        return (
            place - length,
            place,
            "A sign or a currency in words would change it: the tool's own sign and unit are shown.",
        )
    if match := _SIGN_IN_BRACKETS.search(text, max(0, place - 24), place):
        if _is_minus(text, match.start(1)) or _sign_word(text, match.end(1)):
            return *match.span(1), "A sign before a macro would change the value."
    return fault_across(text, start)


def _is_plus_of_prose(text: str, place: int, start: int) -> bool:
    """Whether a ``+`` opens an item of a list, or adds one macro to another."""
    before = text[text.rfind("\n", 0, place) + 1 : place].rstrip()
    gap = text[place + 1 : start]
    return bool(gap) and not gap.strip(" \t\n") and (not before.strip(" \t>") or before[-1] == MASK)


def _back_over(text: str, start: int) -> int:
    """Return the place before the blanks, opening brackets and quotes before a macro; 0 at the start of a text."""
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
    """Whether the ``>`` of a block quote is there, at the start of a line."""
    return (
        text[place] == ">"
        and not text[max(0, place - REACH) : place].rpartition("\n")[2].replace(">", "").strip()
    )


def _sign_word(text: str, place: int) -> int:
    """The length of the word for a sign that ends at ``place``, or 0."""
    head = text[max(0, place - 16) : place].rpartition(MASK)[2]
    if not head.isascii() and (match := pattern(_ACCENTED_SIGN).search(head)):
        return len(match[0])
    head = head.lower() if head.isascii() else folded(visible(head))
    match = pattern(_SIGN).search(head) if head.endswith(_sign_ends()) else None
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
        return end, end + 1, "Two adjacent counts read as one number: write a blank between them."
    if not char or char == MASK or char in ".,;:!?":  # the second of two macros says so itself
        return None
    if char in _ARROWS and text[end + 1 : end + 2] in (MASK, " "):
        return None
    if not _may_touch(char) and not UNSPACED.match(char):
        word = _WORD.match(text, end, end + REACH)
        return end, word.end() if word else end + 1, "Only blanks or punctuation may touch a macro."
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
    if char == "/" and text[place + 1 : place + 2] == ">":  # the end of a tag
        return 0
    if _is_operator(char):
        opens_line = not text[text.rfind("\n", 0, place) + 1 : place].strip()
        return 0 if char == "*" and opens_line else place + 1
    shown, low = window(text, place)
    if dash := _DASH.match(text, place):
        start = dash.end()
        last = _end_of_fault(text, start, symbols, unit)
        is_glued = (
            char in "-‐‑" and start == place + 1
        )  # "-million"; behind another dash a sentence may go on
        is_all = is_glued or _SENTENCE_END.match(text, last) or match_end(r"<per>\s", low, start - place)
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
        last = last or match_end(source, low)
    later = match_end(_LATER, low) if previous in " \t\u00a0" else 0
    last = (
        last
        or _per(shown, low, 0, symbols)
        or (later and _per(shown, low, later, symbols))
        or _unit_end(shown, 0, symbols, _UNIT)
        or match_end(_MAGNITUDE, shown)
    )
    return place + last if last else 0


def _multiplier_end(low: str) -> int:
    word = _WORD.match(low)
    return word.end() if word and word[0] in multipliers() else multiplier_behind(low, 0)


def _per(shown: str, low: str, place: int, symbols: Collection[str]) -> int:
    """The end of "per" and a unit at ``place``; else 0."""
    if over := _OVER.match(shown, place):
        return _unit_end(shown, over.end(), symbols, _LONG_UNIT)
    for start, unit in _PER_UNIT if match_end(r"<per>\s|<unspaced per>", low, place) else ():
        if end := match_end(start, low, place):
            if last := match_end(_MEASURES_BEHIND_PER, low, end) or _unit_end(shown, end, symbols, unit):
                return last
    return 0


def _unit_end(shown: str, place: int, symbols: Collection[str], source: str) -> int:
    """The end of the symbol of a unit or a currency at ``place``; else 0."""
    if last := match_end(source, shown, place):
        return last
    word = _WORD.match(shown, place)
    last = word.end() if word else place
    if word and word[0] in symbols and re.match(_WHOLE, shown[last:]):
        return last
    if unicodedata.category(shown[last : last + 1] or " ") == "Sc":  # "€", "k€"
        return last + 1
    char = shown[place : place + 1]
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
    return f"Leave out {text!r}: the macro shows its value and its unit, and the text must not change them."


@lru_cache(maxsize=256)
def holds_time(unit: str | None) -> bool:
    """Whether a quantity of this unit is a rate, or a power."""
    parts = re.findall(r"[^\W\d]+", unit or "")
    return any(part in TIME_UNITS or ALLOWED_UNITS.get(part) == "power" for part in parts)


@lru_cache(maxsize=1)
def _sign_ends() -> tuple[str, ...]:
    words = table()
    return (*words["signs"], *words["currencies in front"], *words["unspaced signs"])
