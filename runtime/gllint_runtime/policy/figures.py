"""What the numbers of a text say: their value, how exactly they are shown, and the unit that is typed beside them.

Which digits are a number is decided by :mod:`~gllint_runtime.policy.numbers`. A number stands for each value that
rounds to what is shown: ``1.2 million`` for all from 1,150,000 to 1,250,000. Where separators can be read in two ways
(``1,234``), there are two readings.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import cache, lru_cache
from typing import NamedTuple

from gllint_runtime.policy.data_files import sections
from gllint_runtime.policy.expressions import expression
from gllint_runtime.policy.numbers import excused_numbers, scan_naked_numbers
from gllint_runtime.policy.packs import PACKS
from gllint_runtime.policy.unit_spellings import as_listed, emissions_at, unit_names
from gllint_runtime.policy.unit_table import pack_units
from gllint_runtime.policy.units import TIME_UNITS, is_allowed, unit_meant

_MAX_DIGITS = 320  # of a number that is read; no float is longer
_MAX_EXPONENT = 400


class Reading(NamedTuple):
    """A value, and the distance within which a number still rounds to it as it is shown."""

    value: Fraction
    half: Fraction

    def fits(self, number: Fraction) -> bool:
        """Whether ``number`` would be shown so. Nothing but zero is shown as zero."""
        if not self.value:
            return not number
        return abs(number - self.value) <= self.half


class Figure(NamedTuple):
    """A number at code points ``start`` to ``end`` of a text.

    ``units`` are those that are typed beside it, more than one only for a sign that currencies share (``$``);
    ``written`` is how the unit is typed. ``is_excused`` says that the policy lets it stand (a date, a version, a list
    marker), ``word`` is the word that it is a part of (``HAT136``), or empty; ``is_spelled`` one that is in words.
    """

    start: int
    end: int
    text: str
    readings: tuple[Reading, ...]
    units: tuple[str, ...] = ()
    written: str = ""
    is_excused: bool = False
    word: str = ""
    is_spelled: bool = False

    @property
    def is_name(self) -> bool:
        """Whether its word names a thing (``HAT136``, ``4OG6T1``): ``500kWh`` and ``12-month`` are numbers."""
        return bool(self.word) and _NAME.match(self.word) is not None


# A word that begins with a letter, mixes both, or has more capitals behind its digits than a unit has.
_NAME = expression(r"[^\W\d_]|_|\d+[^\W\d_x]+\d|\d+[A-Z]{5,}\Z")


def figures(
    text: str,
    *,
    whitelist: Collection[str] = (),
    units: Collection[str] = (),
    glued: Collection[str] = (),
    words: bool = True,
    is_parted: bool = True,
) -> list[Figure]:
    """The numbers of a text in order, those that the policy excuses too. The settings are those of the scanner.

    Without ``is_parted`` blanks part numbers: ``1 234`` is two.
    """
    naked = scan_naked_numbers(text, whitelist=whitelist, words=words, units=units, glued=glued)
    places = [(number.start, number.end, False) for number in naked if number.hint is None]
    excused = excused_numbers(text, whitelist, units, glued)
    places += [(start, end, True) for start, end in excused]
    numbers: list[Figure] = []
    end = 0  # of the last figure with what multiplies it, and its unit
    for start, stop, is_excused in sorted(places):
        if start < end:
            continue
        figure, end = _figure(text, start, stop, is_excused, is_parted)
        numbers.append(figure)
    return numbers


def _figure(text: str, start: int, end: int, is_excused: bool, is_parted: bool) -> tuple[Figure, int]:
    """The number at a place, and where it ends with its multiplier and its unit."""
    written = text[start:end]
    # A number may be written in several that the scanner tells apart: 1 234,56 and 1.2×10^6.
    parted = _PARTED.match(text, start) if is_parted else None
    parts = (
        _parted(parted)
        if parted and parted.end() > end and _PARTED_BEFORE.search(text, max(0, start - 2), start) is None
        else ()
    )
    if parted and parts:
        written, end, is_excused = parted[0], parted.end(), False
    if is_excused:
        return Figure(start, end, written, (), is_excused=True), end
    if not any(char.isdecimal() for char in written) and not _FRACTION.fullmatch(written):
        return _spelled(text, start, end)
    readings = parts or _readings(written)
    if readings and _APPROXIMATE.search(text, max(0, start - _NEAR), start):
        readings = tuple(Reading(value, max(half, _rounded(value))) for value, half in readings)
    if not readings:  # pictures of digits, digits split by markup
        return Figure(start, end, written, (), word=_word(text, start, end)), end
    lead = _BEFORE.search(text, max(0, start - 8), start)
    sign = (lead["sign"] or lead["outer"]) if lead else None
    currency = lead["currency"] if lead and _currency(lead["currency"] or "") else None
    multipliers, behind = _multipliers(text, end, bool(currency))
    units, unit_end = units_at(text, behind)
    if not units and behind == end and (minor := _MINOR.match(text, end)):  # cents
        units, unit_end = _shared_units(text, _table("minor units")[minor[1].lower()], minor.end())
        multipliers = (Fraction(1, 100),)
    word = _word(text, start, end)
    is_glued = behind > end or _is_glued_unit(text, end, unit_end)
    if currency or parts or (is_glued and not text[max(0, start - 1) : start].isalnum()):
        word = ""
    elif behind > end and word:  # WUNA2K is no multiple
        behind, unit_end, multipliers, units = end, end, _ONCE, ()
    typed = _typed(text, behind, unit_end)
    if currency and not (units and _CODE.match(units[0]) and units[0] in _currency(currency)):  # "$5 USD"
        typed = currency
        units, unit_end = _shared_units(text, currency, behind)
    senses = _senses(text, start, sign is not None)
    scaled = tuple(
        Reading(value * multiplier * sense, half * multiplier)
        for sense in senses
        for multiplier in multipliers
        for value, half in readings
    )
    return Figure(start, end, written, scaled, units, typed, word=word), unit_end


# -------------------------------------------------------------------------------------------------- the value

_BEFORE = expression(
    r"(?:(?<![\w.,)\]])(?P<outer>[-−]))?"
    r"(?P<currency>US\$|[$€£¥￥₹₩₽₺₪₫₱₴₦฿]|(?<![^\W_])[A-Z]{3}(?=\s?\Z|\s?[-−]))?\s?(?:(?<![\w.,)\]])(?P<sign>[-−]))?\Z"
)
_APART = expression(r"(?P<line>(?:^|\n)[ \t]*)?[-−]\s\Z")


def _senses(text: str, start: int, is_signed: bool) -> tuple[int, ...]:
    """Whether a number is above or below zero. A minus that stands apart may take away, or be a bullet."""
    if not is_signed:
        return (1,)
    apart = _APART.search(text, max(0, start - 12), start)
    if apart is None:
        return (-1,)
    return (1,) if apart["line"] is not None and text[start - 2] == "-" else (1, -1)


# What several numbers of the scanner may be one of: groups parted by blanks, a power of ten, a mixed fraction.
_PARTED = expression(
    r"(?P<groups>[1-9]\d{0,2}(?: \d{3}){1,6}(?:[.,]\d{1,20})?)(?! ?\d|[.,]\d|[\w-])"
    r"|(?P<mantissa>\d{1,20}(?:[.,]\d{1,20})?)\s?[×x·⋅*]\s?10(?:\^|\*\*)?(?:\{?(?P<power>[-−]?\d{1,3})\}?|(?P<raised>⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}))(?![\w.,]\d)"
    r"|(?P<whole>\d{1,6})[ -](?P<above>[1-9])/(?P<below>[2-9]|1[026])(?![\w/.,]\d|\w)"
)
_PARTED_BEFORE = expression(r"[\d+#][ .,-]?\Z|[\w/]\Z")
_RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹−", "-0123456789-")
_FRACTION = expression(r"\d{0,12}[¼-¾⅐-⅞]")
_NEAR = 24  # characters before a number in which a word says that it is rounded
_APPROXIMATE = expression(
    r"(?:\b(?:about|around|roughly|approximately|approx\.?|circa|ca\.?|nearly|almost|some|close to|in the order of)"
    r"\s+(?:(?:a|the)\s+)?|[~≈≃∼]\s?)[*_`]{0,3}(?:[$€£¥₹]|US\$|[A-Z]{3} )?\Z",
    re.IGNORECASE,
)


def _parted(match: re.Match[str]) -> tuple[Reading, ...]:
    """The values of a number that is written in several parts; none where they are no number."""
    if match["groups"]:
        return _readings(match["groups"].replace(" ", "\u00a0"))
    if match["mantissa"]:
        power = int((match["power"] or match["raised"]).translate(_RAISED))
        return _readings(f"{match['mantissa']}e{power}")
    above, below = int(match["above"]), int(match["below"])
    return (Reading(int(match["whole"]) + Fraction(above, below), Fraction(0)),) if above < below else ()


def _rounded(value: Fraction) -> Fraction:
    """Half of the last place that a whole number shows before its zeros: 50 for 1,200."""
    if value.denominator != 1 or not value:
        return Fraction(0)
    digits = str(abs(value.numerator))
    zeros = len(digits) - len(digits.rstrip("0"))
    return Fraction(10 ** min(zeros, max(len(digits) - 2, 0)), 2)


_GROUPING = expression(r"[,'’_٬\u00a0\u2009\u202f]")
_MARKS = expression(r"\D")
_IS_GROUPED = expression(
    r"\d{1,3}(?:[.,'’_٬\u00a0\u2009\u202f]\d{2,3})*[.,'’_٬\u00a0\u2009\u202f]\d{3}(?!\d)"
)


@lru_cache(maxsize=4096)
def _readings(written: str) -> tuple[Reading, ...]:
    if len(written) > _MAX_DIGITS:
        return ()
    if _FRACTION.fullmatch(written):  # 2½
        part = Fraction(unicodedata.numeric(written[-1])).limit_denominator(20)
        return (Reading(int(written[:-1] or 0) + part, Fraction(0)),)
    plain = _decimal_digits(written).replace("٫", ".")
    mantissa, mark, exponent = plain.partition("e") if "e" in plain else plain.partition("E")
    if mark and len(exponent) > 4:
        return ()
    readings = []
    for text in _separations(mantissa):
        try:
            value = Decimal(text)
        except InvalidOperation:
            continue
        shift = int(exponent) if mark else 0
        places = int(value.as_tuple().exponent) + shift
        if abs(places) > _MAX_EXPONENT:
            continue
        exact = Fraction(value) * Fraction(10) ** shift
        readings.append(Reading(exact, Fraction(10) ** places / 2))
    return tuple(dict.fromkeys(readings))


def _decimal_digits(text: str) -> str:
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(char)) if char.isdecimal() else char for char in text)


def _separations(text: str) -> Iterator[str]:
    """The ways in which separators can be read, the likelier first: ``1,234`` is 1234 or 1.234."""
    marks = [char for char in text if not char.isdigit()]
    if not marks:
        yield text
        return
    last = marks[-1]
    if last == "." and marks.count(".") == 1:
        yield _GROUPING.sub("", text)
        if len(marks) == 1 and _IS_GROUPED.fullmatch(text) and text[0] != "0":
            yield text.replace(".", "")
    elif last == "," and marks.count(",") == 1:
        whole, _, digits = text.partition(",")
        if len(digits) == 3 and text[0] != "0" and "." not in whole and len(whole) <= 3:
            yield whole + digits
            return
        yield f"{_MARKS.sub('', whole)}.{digits}"
    elif _IS_GROUPED.fullmatch(text):
        yield _MARKS.sub("", text)


def _multipliers(text: str, end: int, has_currency: bool) -> tuple[tuple[Fraction, ...], int]:
    """What the digits that end there may be multiplied by (``million``, ``k``), and where that ends."""
    letters = _LETTERS.match(text, end)
    if letters and (letters[0] not in ("m", "b", "mm") or has_currency):
        return (Fraction(_table("letters")[letters[0]]),), letters.end()
    word = _MULTIPLIER.match(text, end)
    if word is None:
        return _ONCE, end
    name = word[1].lower().removesuffix("s")
    values = (_table("multipliers").get(name) or _table("ambiguous multipliers").get(name, "")).split()
    return (tuple(map(Fraction, values)), word.end()) if values else (_ONCE, end)


_ONCE = (Fraction(1),)


_LETTERS = expression(r"(?:bn|mn|mm|[kKMBmb])(?![\w²³/·])")
_MULTIPLIER = expression(r"[ \u00a0-]?([^\W\d_]{2,8})\b")

# ------------------------------------------------------------------------------------------- numbers in words

_LETTERS_ONLY = expression(r"[a-z]+")


def _spelled(text: str, start: int, end: int) -> tuple[Figure, int]:
    written = text[start:end]
    value = _spelled_value(_LETTERS_ONLY.findall(unicodedata.normalize("NFKC", written).lower()))
    units, unit_end = units_at(text, end)
    readings = () if value is None else (Reading(*value),)
    return Figure(
        start, end, written, readings, units, _typed(text, end, unit_end), is_spelled=True
    ), unit_end


def _spelled_value(words: Sequence[str]) -> tuple[Fraction, Fraction] | None:
    """The value of a number in words, and half of its last place; ``None`` where it is no number."""
    values, multipliers = _table("values"), _table("multipliers")
    total, part = (
        Fraction(0),
        None,
    )  # what is complete up to a thousand, a million; and what is still multiplied
    place = Fraction(1)
    decimals = False
    for word in words:
        word = word.removesuffix("s")
        if word in ("a", "an", "and"):
            continue
        if word == "point":
            decimals = True
        elif word in values and decimals:
            place /= 10
            part = (part or 0) + Fraction(values[word]) * place
        elif word in values:
            part = (part or 0) + Fraction(values[word])
            place = Fraction(1)
        elif word in multipliers:
            step = Fraction(multipliers[word])
            part = (1 if part is None else part) * step
            # "Two million" is said to a million, "five hundred" to the last one.
            place = place * step if decimals or step >= 1000 else Fraction(1)
            decimals = False
            if step >= 1000:
                total, part = total + part, None
        else:
            return None
    if part is None and not total:
        return None
    return total + (part or 0), place / 2


# -------------------------------------------------------------------------------------------------- the unit

_SYMBOL = expression(r"[^\s,;:!?()\[\]{}\"“”'’|<>=+]*[^\s,;:!?()\[\]{}\"“”'’|<>=+.*_`~/-]")
_PER = expression(r"\s*/\s*|\s+(?:per|a|an|each)\s+(?:the\s+)?", re.IGNORECASE)
_LETTER = expression(r"[^\W\d_](?![\w/])")
_RAISED_TO = expression(r"\^(?=[23]\b)")  # m^2, which the tables write m2
_IN_TIME = expression(r"[^\W\d_]/(?:s|sec|min|h|hr|d|day)\Z")
_PHRASE = expression(r"[^\W\d_]+(?:[ -][^\W\d_]+){0,3}")
_CODE = expression(r"[A-Z]{3}\Z")
_MAX_UNIT = 40  # characters of a symbol
_MAX_PHRASE = 80  # and of a name in several words
_MAX_DENOMINATORS = 3


def units_at(text: str, at: int) -> tuple[tuple[str, ...], int]:
    """The units that are typed at a place behind a number, and where they end."""
    origin, gap = at, _GAP.match(text, at)
    at = gap.end() if gap else at
    sign = _SIGN.match(text, at)
    if sign:
        return _shared_units(text, sign[0], sign.end())
    base, end = _unit_at(text, at)
    if base is None:
        name = _PHRASE.match(text, at, at + _MAX_PHRASE)
        if name:
            for count in (2, 1):
                words = " ".join(name[0].lower().split(" ")[:count])
                if currency := _table("currency names").get(words):
                    return _shared_units(text, currency, at + len(words))
        return (), origin
    unit, end = _divided(text, base, end)
    return (unit,), end


def _typed(text: str, behind: int, end: int) -> str:
    """How a unit is typed that ends there, without the blanks and the emphasis between it and its number."""
    gap = _GAP.match(text, behind)
    return text[gap.end() if gap else behind : end]


def _shared_units(text: str, sign: str, end: int) -> tuple[tuple[str, ...], int]:
    """The units that a sign of currencies may mean, with what the text goes on to divide them by."""
    divided = [_divided(text, currency, end) for sign in sign.split() for currency in _currency(sign)]
    return tuple(unit for unit, _ in divided), max((stop for _, stop in divided), default=end)


def _divided(text: str, base: str, end: int) -> tuple[str, int]:
    """A unit with what the text goes on to divide it by, and where that ends."""
    for _ in range(_MAX_DENOMINATORS):
        per = _PER.match(text, end)
        below, below_end = _unit_at(text, per.end()) if per else (None, end)
        if per is not None and below is None and "/" in per[0]:
            # A letter is a unit below a stroke that alone might be none: mm/d.
            letter = _LETTER.match(text, per.end())
            meant = unit_meant(f"{base}/{letter[0]}") if letter else None
            if letter is None or meant is None or not _is_unit(meant):
                break
            base, end = meant, letter.end()
            continue
        is_article = per is not None and per[0].split()[:1] != ["per"] and "/" not in per[0]
        if below is None or below in counted_units() or (is_article and below not in TIME_UNITS):
            break
        composed = f"{base}/{below}"
        if not _is_unit(composed):
            break
        base, end = composed, below_end
    return base, end


_MINOR = expression(r"[ \u00a0]?(cents?|pence|¢)(?![^\W_])", re.IGNORECASE)
_GAP = expression(r"[ \u00a0\u2009\u202f]{1,2}|[*_`]{1,3}[ ]?|-(?=[^\W\d_])")
_SIGN = expression(r"US\$|[$€£¥￥₹₩₽₺₪₫₱₴₦฿](?!\d)")


def _unit_at(text: str, at: int) -> tuple[str | None, int]:
    """One unit (or a compound without blanks) that a text goes on with, as the tables write it, and where it ends."""
    if text[at : at + 1] == "%":
        return "%", at + 1
    if emissions := emissions_at(text, at):
        return emissions
    if phrase := _PHRASE.match(text, at, at + _MAX_PHRASE):
        ends = [match.end() for match in re.finditer(r"[^\W\d_]+", phrase[0])]
        for end in reversed(ends):
            unit = unit_names().get(re.sub(r"[\s-]", "", phrase[0][:end]).lower())
            if unit is not None and not (end < 3 and phrase[0][:end] in _no_units()):
                return _RAISED_TO.sub("", unit), at + end
    symbol = _SYMBOL.match(text, at, at + _MAX_UNIT + 1)
    if symbol is None or len(symbol[0]) > _MAX_UNIT:
        return None, at
    written = symbol[0]
    while written:
        listed = as_listed(_RAISED_TO.sub("", written), packs=PACKS)
        if written not in _no_units() and _is_unit(listed):
            return listed, at + len(written)
        if _IN_TIME.search(written) and (meant := unit_meant(written)) and _is_unit(meant):
            return meant, at + len(written)  # l/s, of which a letter alone might be none
        written = re.sub(r"(?:[^\w]?[\w²³°%$]+|\W+)\Z", "", written) if re.search(r"[\w%]\W", written) else ""
    return None, at


@lru_cache(maxsize=4096)
def _is_unit(symbol: str) -> bool:
    return is_allowed(symbol, packs=PACKS) or symbol in TIME_UNITS


@cache
def counted_units() -> frozenset[str]:
    """Things that are counted: the units of the pack ``counts``."""
    return frozenset(pack_units(("counts",)))


@cache
def _no_units() -> frozenset[str]:
    return frozenset(_table("no units")["words"].split())


def _currency(sign: str) -> tuple[str, ...]:
    if _CODE.match(sign):
        return (sign,) if _is_unit(sign) else ()
    return tuple(_table("currencies").get(sign, "").split())


def _is_glued_unit(text: str, end: int, unit_end: int) -> bool:
    return unit_end > end and not (text[unit_end : unit_end + 1].isalnum())


def _word(text: str, start: int, end: int) -> str:
    """The word of letters and digits that a number is a part of; empty where it stands alone."""
    begin = start
    while begin > max(0, start - 60) and (text[begin - 1].isalnum() or text[begin - 1] in "_-"):
        begin -= 1
    head = text[begin:start]
    if head.endswith("-"):  # one hyphen joins a word to the number, two are a dash
        last = head[:-1].rpartition("-")[2]
        head = f"{last}-" if last else ""
    trail = _WORD_AFTER.match(text, end, end + 60)
    tail = trail[0] if trail else ""
    if not any(char.isalpha() for char in head + tail):
        return ""
    if not head and _ORDINAL.match(tail):
        return ""
    return f"{head}{text[start:end]}{tail}"


_WORD_AFTER = expression(r"\w[\w-]*")
_ORDINAL = expression(r"(?:st|nd|rd|th|x|s)\Z")


@cache
def _tables() -> dict[str, dict[str, str]]:
    return sections("figures.txt")


def _table(name: str) -> dict[str, str]:
    return _tables()[name]
