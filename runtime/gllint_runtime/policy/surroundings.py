"""What the text next to a macro makes of the number that the macro shows.

A macro shows its value and its unit. Rejected are characters that touch it, signs before it, and words that would
change the quantity: a multiplier, another unit, "per" and a unit. The words are in ``surroundings.txt``. Labels,
headers and headings are read by :mod:`~gllint_runtime.policy.claimed_text`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from functools import lru_cache
from typing import NamedTuple

from gllint_runtime.policy.data_files import read
from gllint_runtime.policy.expressions import UNSPACED, expression, is_unspaced
from gllint_runtime.policy.unit_table import ALLOWED_UNITS, TIME_UNITS, units_of

MASK = "\ue000"
"""The placeholder for each character of a macro in the text."""

JOINS = ".,'’_٫٬\u00a0\u2009\u202f"
"""What joins digits to one number."""

_REACH = 80  # characters that are looked at next to a macro; bounds the cost


class Fault(NamedTuple):
    """What changes the quantity of a macro, and the text for the model.

    ``is_reading`` says that it leaves the digits alone: a reader would read another unit or size.
    """

    start: int
    end: int
    hint: str
    is_reading: bool = False


# ------------------------------------------------------------------------------------------------- the words


@lru_cache(maxsize=1)
def _sections() -> dict[str, str]:
    """Return the sections of ``surroundings.txt`` by name: an expression, or words joined by ``|``, with and
    without accents.
    """
    sections = {}
    for kind, name, text in re.findall(
        r"^\[(expression )?([a-z ]+).*\]\n((?:.+\n)+)", read("surroundings.txt"), re.MULTILINE
    ):
        if not kind and not name.startswith("accented"):
            text = "".join(char for char in text if unicodedata.category(char) != "Mn")
            text = f"{''.join(map(_small_char, text))} {''.join(map(_plain_char, text))}"
        sections[name] = "|".join(dict.fromkeys(text.split("\n")[:-1] if kind else text.split()))
    ambiguous = {*sections["ambiguous magnitudes"].split("|")}
    sections["magnitudes"] = "|".join(
        word for word in sections["multipliers"].split("|") if word not in ambiguous
    )
    return sections


@lru_cache(maxsize=64)
def words(name: str) -> frozenset[str]:
    """Return the words of a section."""
    return frozenset(_sections()[name].split("|"))


@lru_cache(maxsize=64)
def pattern(name: str) -> re.Pattern[str]:
    """Return the expression of a section of ``surroundings.txt``, in which ``<name>`` is another section and ``/``
    a word's end.
    """
    units = sorted({re.split("[/%]", unit)[0] for unit in ALLOWED_UNITS} - {""})
    currencies = [prefix + unit for unit in units if unit.isupper() and len(unit) == 3 for prefix in "kMBT"]
    ends = [
        end for unit in units_of("allowed").values() for end in unit.ends if len(end) > 2 and end.isalnum()
    ]
    built_in = {
        "unspaced letters": UNSPACED,
        "units": "|".join(units + currencies),
        "long units": "|".join(unit for unit in units if len(unit) > 1 and unit != "mi"),
        "time units": "|".join(TIME_UNITS),
        "unit names": "|".join({*ends} - {*ALLOWED_UNITS, "miles"}),
    }

    def source(name: str) -> str:
        text = built_in[name] if name in built_in else _sections()[name]
        return re.sub(r"<([a-z ]+)>", lambda inner: f"(?:{source(inner[1])})", text)

    return re.compile(source(name).replace("/", r"(?![^\W\d_])"))


# --------------------------------------------------------------------------------------------- the text as seen

# Letters that look like Latin ones.
_LATIN = str.maketrans(
    "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧκοАВЕКМНОРСТУХЅІЈԜаекорсухіјѕԝһ",
    "ABEZHIKMNOPTYXkoABEKMHOPCTYXSIJWaekopcyxijswh",
)
_STYLED = expression(r"\bLATIN (CAPITAL LETTER|SMALL LETTER|LETTER SMALL CAPITAL) ([A-Z])\Z")
_LETTERS = expression(r"[^\W\d_]+")
_BRACKETS = frozenset({"Ps", "Pe", "Pi", "Pf"})
_QUOTES = frozenset("\"'ʼ`_~＂＇❛❜❝❞⌜⌝†‡")  # and what is typed for one, for emphasis or a footnote
_WITHIN_WORD = expression(r"(?<=[^\W\d_])['’\"״](?=[^\W\d_])")
_QUOTED_LINE = expression(r"^[ \t>]*>", re.MULTILINE)
_SIGN_AS_FORMULA = expression(r"\$([^\w\s])\$")


class Plain(NamedTuple):
    """A text as a reader sees it, each character in its place.

    ``letters`` has blanks for brackets, quotes and pictures, and ``small`` is that in small letters.
    """

    text: str
    letters: str
    small: str

    @classmethod
    def of(cls, text: str) -> Plain:
        """Return a text as a reader sees it, one character for each.

        "𝐤𝐖𝐡" → "kWh", brackets and quotes as blanks in ``letters``.
        """
        blanks = {char for char in {*text} if _is_blank(char)}
        letters = text.translate(dict.fromkeys(map(ord, blanks), " ")) if blanks else text
        if blanks and (apostrophes := [*_WITHIN_WORD.finditer(text)]):
            chars = [*letters]
            for match in apostrophes:
                chars[match.start()] = match[0]
            letters = "".join(chars)
        is_ascii = text.replace(MASK, "").isascii()
        if not is_ascii:
            letters = "".join(map(_unstyled_char, letters))
            letters = _LETTERS.sub(
                lambda word: word[0].translate(_LATIN) if _has_ascii(word[0]) else word[0], letters
            )
        if ">" in letters:
            letters = _QUOTED_LINE.sub(lambda marks: " " * len(marks[0]), letters)
        if "$" in letters:
            letters = _SIGN_AS_FORMULA.sub(r" \1 ", letters)
        return cls(text, letters, letters.lower() if is_ascii else small_letters(letters))


def small_letters(text: str) -> str:
    """Return the text in small letters, long words without accents.

    Example: "mïllion" is read as "million", "föld" not as "fold".
    """
    return text.lower() if text.isascii() else _LETTERS.sub(lambda word: _plain_word(word[0]), text)


@lru_cache(maxsize=4096)
def _plain_word(word: str) -> str:
    return "".join(map(_plain_char if len(word) > 4 else _small_char, word))


def _has_ascii(word: str) -> bool:
    return any(char.isascii() for char in word)


@lru_cache(maxsize=4096)
def _is_blank(char: str) -> bool:
    return char in _QUOTES or unicodedata.category(char) in _BRACKETS or bool(pattern("pictures").match(char))


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
def _plain_char(char: str) -> str:
    plain = unicodedata.normalize("NFKD" if char.lower() != char.upper() else "NFKC", char).lower()
    plain = "".join(part for part in plain if unicodedata.category(part) != "Mn")
    return _small_char(plain if len(plain) == 1 else char)


# ------------------------------------------------------------------------------------- what may touch a macro

_PUNCTUATION = _QUOTES | frozenset(
    "|*.,:;!?¡¿…—"  # opening and closing punctuation, cells, the dash of prose
    "<>=≤≥≈＜＝＞〜～"  # says what kind of value follows, not which
    "。、，．：；！？｡､・।॥،؛؟۔՝։׃།༎᠂᠃።፣၊။"  # the same in other scripts
    "\u00ad\u200e\u200f\u2066\u2067\u2068\u2069\ufffc"
)
_OPENING = frozenset("•※◎◆◇★☆∙◦▪▫●○■□►▶→⇒☐☑☒✓✔✅§¶")  # bullets, arrows and boxes that open a line
_ARROWS = frozenset("→⇒➜⟶")  # from one value to another
_HEBREW_PREFIX = expression(r"(?<![^\W_])[ובכלמהש]{1,3}[-\u05be\u2010-\u2013]\Z")
_OWN_SIGN = "A sign before a macro would change the value: the tool's own sign is shown."
_NO_SIGN = "The macro shows its value and its unit: write no sign before it."
_SIGN_IN_WORDS = "A sign or a currency in words would change it: the tool's own sign and unit are shown."
_ACROSS = "Leave out what would change the value: the tool's own sign and magnitude are shown."


@lru_cache(maxsize=512)
def _may_touch(char: str) -> bool:
    return char.isspace() or char in _PUNCTUATION or _is_blank(char)


# ------------------------------------------------------------------------------------- signs before a macro

_DASHES_OF_PROSE = frozenset("—⸺⸻﹘〜\u05be\u058a")
_OTHER_STROKES = frozenset("ˉˍᐨ▬⏤⚊☰∼Ⲻⲻ⼀一ㅡᅳーｰꟷ㇐⠤⠒\u0335\u0336")
_OPERATORS_AT_START = frozenset("√∛∜¬÷×➗±∓∕⋅∗^")
_BLANKS_AT_START = expression(r"(?:(?:[^\S\n\u2029]|\*)*\n)?(?:[^\S\n\u2029]|\*)*\Z")
_RULE = expression(
    r"(?:^|\n)[ \t]*+[-=_*+|:][-=_*+|: \t]{2,}\Z"
)  # the line under a heading or a table's head
_TOKEN = expression(r"[^\W\d_](?:[^\W\d_]|[\u0900-\u0dff]|['’](?=[^\W\d_]))*|[^\w\s]")
_ENDS = frozenset(".!?;。！？；।॥؛؟")
_ABBREVIATIONS = frozenset(
    ("ca", "approx", "aprox", "env", "cca", "kb", "abt", "circa", "ok", "ung", "прибл", "rs")
)
_OPERATORS_ACROSS = frozenset("−⁻－×÷∕⋅∗±∓√∛∜+")


def _apart(text: str) -> str:
    """Return what to do about a text that touches a macro. A number would still be one after a space."""
    if any(map(str.isnumeric, text)):
        return f"Delete {text!r}, which would be read as part of the number."
    return f"Delete {text!r}, or put a space between it and the macro."


def fault_at_start(plain: Plain, start: int, end: int) -> Fault | None:
    """Return what in front of the macro at ``start`` to ``end`` changes its value; ``None`` if nothing does.

    "-{{claim:0}}", "x{{claim:0}}", "half of {{claim:0}}" and "Costs in millions: {{claim:0}}" do,
    "about {{claim:0}}" does not.
    """
    text = plain.text
    while start and not text[start - 1].isascii() and pattern("pictures").match(text[start - 1]):
        start -= 1
    if not start:
        return None
    char = text[start - 1]
    if char == MASK:
        return Fault(start, end, "Put a blank or punctuation between two macros.")
    first = max(0, start - _REACH)
    if is_unspaced(char):
        if match := pattern("counting letter").search(text, first, start):
            return Fault(match.start(), start, "A word that counts would change the value.")
        if (sign := pattern("sign before scripts without blanks").search(text, first, start)) or (
            char in _OTHER_STROKES and not is_unspaced(text[start - 2 : start - 1])
        ):
            return Fault(sign.start() if sign else start - 1, start, _OWN_SIGN)
        return _changing_word(plain, start, start)
    if not _may_touch(char) and char not in _OPENING:
        if _HEBREW_PREFIX.search(text, first, start):
            return None
        touching = re.search(r"[^\W_]*\Z|.\Z", text[first:start]) if char.isalnum() else None
        first = start - len(touching[0]) if touching else start - 1
        return Fault(first, start, _apart(text[first:start]))
    blanks = _BLANKS_AT_START.search(plain.letters, first, start)
    place = blanks.start() if blanks else start
    if not place or plain.letters[place - 1] in "\n\u2029":
        return None
    # Below a line of dashes, which is a rule and no minus.
    if "\n" in plain.letters[place:start] and _RULE.search(text, max(0, place - 200), place):
        return None
    char = text[place - 1]
    if _is_minus(text, place - 1):
        return Fault(place - 1, place, _OWN_SIGN)
    if (
        char in _OPERATORS_AT_START
        or (char == "+" and not _is_plus_of_prose(text, place - 1, start))
        or unicodedata.category(char) == "Sc"
    ):
        return Fault(place - 1, place, _NO_SIGN)
    return _changing_word(plain, place, start)


def _is_plus_of_prose(text: str, place: int, start: int) -> bool:
    """Return whether a ``+`` opens an item of a list, or adds one macro to another."""
    line = text[text.rfind("\n", 0, place) + 1 : place].rstrip()
    gap = text[place + 1 : start]
    return bool(gap) and not gap.strip(" \t\n") and (not line.strip(" \t>") or line[-1] == MASK)


def _is_minus(text: str, place: int) -> bool:
    char = text[place]
    if is_unspaced(char):  # a letter among letters, a stroke when alone
        return char in _OTHER_STROKES and not (place and is_unspaced(text[place - 1]))
    return _is_stroke(char)


@lru_cache(maxsize=512)
def _is_stroke(char: str) -> bool:
    """Return whether a character looks like a minus sign or a dash, whatever its script."""
    if (
        char in _OTHER_STROKES
        or char.isalnum()
        or char in _DASHES_OF_PROSE
        or pattern("pictures").match(char)
    ):
        return char in _OTHER_STROKES
    return (
        bool(pattern("names of strokes").search(unicodedata.name(char, "")))
        or unicodedata.category(char) == "Pd"
    )


def _changing_word(plain: Plain, place: int, start: int) -> Fault | None:
    """Return the word in front of a macro that changes its value ("minus", "half of", "Costs in millions:"); else
    ``None``.

    The search goes back over articles, prepositions, words like "about", commas and colons, to the first other
    word or the end of the sentence, line or cell.
    """
    head = plain.small[max(0, start - _REACH) : place]
    head = head[1 + max(map(head.rfind, ("\n", "|", MASK, "\u2029"))) :]
    first = place - len(head)
    if not head.isascii() and (unspaced := pattern("unspaced before").search(plain.small, first, start)):
        return Fault(unspaced.start(), start, _ACROSS)
    nearest = head[head.rfind(" ") + 1 :]
    if nearest.isascii() and nearest.isalpha() and nearest not in _telling_words():
        return None  # an ordinary word, which is the most frequent case: nothing else has to be tried
    tokens = [*_TOKEN.finditer(head)]
    has_comma = is_far = False  # whether a comma, or a preposition, is between the word and the macro
    for index in range(len(tokens) - 1, -1, -1):
        token, word = tokens[index], tokens[index][0]
        span = first + token.start(), first + token.end()
        previous = tokens[index - 1][0] if index else ""
        following = tokens[index + 1][0] if index + 1 < len(tokens) else ""
        if not word[0].isalpha():
            if (
                word in _ENDS
                and head[token.end() : token.end() + 1] not in tuple(":,)")
                and previous not in _ABBREVIATIONS
            ):
                return None
            if _is_operator_across(head, token):
                return Fault(*span, _ACROSS)
            has_comma = has_comma or word in ",:，："
            continue
        if (
            word in words("signs")
            or word.endswith("minussign")  # the name of a picture
            or (not following and plain.letters[slice(*span)].lower() in words("accented signs"))
            or (word in words("currencies in front") and following in ("", "."))
        ):
            is_label = following == ":" and not head[: token.start()].strip(" \t,*>#")
            is_less = word in words("comparing signs") and not {previous, following}.isdisjoint(
                words("comparing words")
            )
            if not (is_far or is_less or (is_label and index + 2 == len(tokens))):
                return Fault(*span, _SIGN_IN_WORDS)
        else:
            is_size = following and (
                word in words("magnitudes") or (word == "miles" and previous in ("en", "em"))
            )
            if is_size or (not has_comma and not is_far and _multiplies(word, previous, following)):
                return Fault(*span, _ACROSS, True)
        if word in words("prepositions"):
            is_far = True
        elif word not in words("passed over"):
            return None
    return None


@lru_cache(maxsize=1)
def _telling_words() -> frozenset[str]:
    """Return the words that change a value, or hide no word before them."""
    names = "signs", "currencies in front", "magnitudes", "factors", "parts", "times before", "passed over"
    return frozenset({"miles"}.union(*map(words, (*names, "prepositions"))))


def _is_operator_across(head: str, token: re.Match[str]) -> bool:
    """Return whether a sign is before words that do not hide it from the macro.

    Example: "−about {{claim:0}}", "× about {{claim:0}}".
    """
    if token[0] in _OPERATORS_ACROSS:
        return token[0] != "+" or bool(head[: token.start()].strip())  # else it opens an item
    if token[0] not in "-–" or head[: token.start()][-1:] not in ("", " ", ":"):
        return False
    word = _TOKEN.match(head, token.end())  # a short one would be the end of a word that is broken there
    return word is not None and len(word[0]) > 3


def _multiplies(word: str, previous: str, following: str) -> bool:
    """Return whether a word is a factor of what follows it."""
    return (
        word in words("factors")
        or (word in words("parts") and following in words("of"))
        or (word in words("times before") and previous in words("number words"))
    )


# ------------------------------------------------------------------------- what changes the quantity behind a macro

# Operators besides those that Unicode calls mathematical, and names of these that change nothing.
_OPERATORS = frozenset("/╱·⸱ꞏ‧ᐧ✕✖╳➗*^ˆ%‰‱٪؉؊°\\\u0335\u0336")
_RELATION = expression(r"EQUAL|LESS|GREATER|TILDE|ARROW|PLUS|MINUS|VERTICAL|TRIANGLE|SQUARE\Z")
_BLANKS_AT_END = expression(r"[^\S\n\u2029]*+(?:\n[^\S\n\u2029]*+)?")
_LABEL = expression(r"[^\s:=|)]{1,20}\s?(?:[:=|)]|[–—-]\s)")  # in a list of what is called "C" or "USD"
_SENTENCE_END = expression(r"[\s*]*(?:[.!?\u2029\n]|\Z)")
_WORD = expression(r"[\w\u0900-\u0dff]+")  # with the vowel signs of India, which are no letters to the engine
_DASH = expression(r"[-‐-―⸺⸻]+[\s*]*(?=[^\W_])")
_DIVISORS = expression(r"(?:/ ?[A-Za-z]{2,})+(?![\w/·*^-])")
_NO_CHANGE = "Leave out {!r}: the macro shows its value and its unit, and the text must not change them."


def fault_at_end(plain: Plain, end: int, unit: str | None, symbols: Collection[str]) -> Fault | None:
    """Return what behind the macro that ends at ``end`` changes its quantity.

    Example: "k", " million", "²"; ``None`` if nothing does.

    Its own ``unit`` may be repeated ("{{claim:0}} kWh"), and so may a time that it is divided by; any unit if it
    is ``""``.
    """
    text = plain.text
    char = text[end : end + 1]
    if unit == "count" and char and char in JOINS and text[end + 1 : end + 2] == MASK:
        return Fault(end, end + 1, "Two adjacent counts read as one number: put a space between them.")
    if not char or char == MASK or char in ".,;:!?":  # the second of two macros says so itself
        return None
    if char in _ARROWS and text[end + 1 : end + 2] in (MASK, " "):  # "from → to"
        return None
    if not (_may_touch(char) or is_unspaced(char) or char == "/"):
        word = _WORD.match(text, end, end + _REACH)
        last = word.end() if word else end + 1
        return Fault(end, last, _apart(text[end:last]))
    place = _next(plain, end) if not is_unspaced(char) else end
    while unit is not None and char not in "'’" and (end_of_unit := _own_end(plain, place, unit)):
        place = _next(plain, end_of_unit)
    if place >= len(text) or text[place] in "\n\u2029":
        return None
    last = _end_of_change(plain, place, symbols, unit)
    if not last:
        return None
    is_reading = place > end and not pattern("multiplied").match(plain.small, place)
    return Fault(place, last, _NO_CHANGE.format(text[place:last]), is_reading)


def _next(plain: Plain, place: int) -> int:
    match = _BLANKS_AT_END.match(plain.letters, place)
    return match.end() if match else place


def _own_end(plain: Plain, place: int, unit: str) -> int:
    """Return where the quantity's own unit at ``place`` ends, or "per" and a unit that it is divided by.

    0 if there is none.
    """
    from gllint_runtime.policy.text_units import end_of_unit, period_at  # few messages need it

    char = plain.text[place : place + 1]
    if not char or char in "\n|" or char == MASK:
        return 0
    if end := end_of_unit(plain.text, place, unit):
        return end
    units, end = period_at(plain.letters, place if char == "/" else place - 1)
    return end if units and (not unit or not {*units}.isdisjoint(unit.split("/")[1:])) else 0


def _end_of_change(plain: Plain, place: int, symbols: Collection[str], unit: str | None) -> int:
    """Return where the text at ``place`` that changes the quantity before it ends.

    " million" → 8; 0 if it changes nothing.
    """
    text, letters = plain.text, plain.letters
    char = text[place]
    if char == "/" and (text[place + 1 : place + 2] == ">" or _is_rate_of_things(letters, place, unit)):
        return 0
    if _is_operator(char):
        opens_line = not text[text.rfind("\n", 0, place) + 1 : place].strip()
        return 0 if char == "*" and opens_line else place + 1
    if dash := _DASH.match(letters, place):
        start = dash.end()
        last = _end_of_change(plain, start, symbols, unit)
        is_hyphen = (
            char in "-‐‑" and start == place + 1
        )  # "-million"; after another dash a sentence may go on
        is_all = (
            is_hyphen or _SENTENCE_END.match(letters, last) or pattern("per blank").match(plain.small, start)
        )
        return last if is_all else 0
    mask = text.find(MASK, place, place + _REACH)
    stop = mask if mask >= 0 else place + _REACH
    is_label = text[place - 1] == "\n" and _LABEL.match(text, place)
    names = ["multiplied" if is_label else "behind"]
    names += ["rates"] if holds_time(unit) else []
    names += ["of a count"] if unit == "count" else []
    for name in names:
        if match := pattern(name).match(plain.small, place, stop):
            return match.end()
    return 0 if is_label else _unit_end(plain, place, stop, symbols)


def _is_rate_of_things(letters: str, place: int, unit: str | None) -> bool:
    """Return whether "/" at ``place`` divides by a time or a counted thing ("/day", "/guest") that the unit leaves
    open.
    """
    from gllint_runtime.policy.text_units import counted_units, units_at

    divisors = _DIVISORS.match(letters, place)
    for word in divisors[0].split("/")[1:] if divisors else ():
        units = [one for one in units_at(word.strip(), 0)[0] if one not in counted_units()]
        if units and (units[0] not in TIME_UNITS or holds_time(unit)):
            return False
    return divisors is not None


def _unit_end(plain: Plain, place: int, stop: int, symbols: Collection[str]) -> int:
    """Return where the symbol of a unit or a currency at ``place`` ends, "per" included.

    Example: "kWh per day"; 0 if there is none.
    """
    letters = plain.letters
    word = _WORD.match(letters, place)
    last = word.end() if word else place
    if unicodedata.category(letters[last : last + 1] or " ") == "Sc":  # "€", "k€"
        return last + 1
    if match := pattern("symbols").match(letters, place, stop):
        return match.end()
    if word and word[0] in symbols and pattern("whole").match(letters, last):
        return last
    return place + 1 if is_square(plain.text[place]) else 0


@lru_cache(maxsize=512)
def is_square(char: str) -> bool:
    """Return whether a character is a unit by itself, as ``㎾`` is."""
    return not char.isascii() and unicodedata.normalize("NFKC", char).lstrip("°") in ALLOWED_UNITS


@lru_cache(maxsize=512)
def _is_operator(char: str) -> bool:
    if unicodedata.decomposition(char).startswith("<super>") and unicodedata.category(char) != "So":
        return True
    plain = unicodedata.normalize("NFKC", char)[0]
    if unicodedata.category(plain) == "Sm":
        return not _RELATION.search(unicodedata.name(plain))
    return plain in _OPERATORS or unicodedata.category(plain) == "Sc"


@lru_cache(maxsize=256)
def holds_time(unit: str | None) -> bool:
    """Return whether a quantity of this unit is a rate, or a power."""
    parts = re.findall(r"[^\W\d]+", unit or "")
    return any(part in TIME_UNITS or ALLOWED_UNITS.get(part) == "power" for part in parts)
