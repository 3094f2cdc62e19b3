"""What may stand beside a macro: an allow-list, judged on what a reader sees.

A macro brings its value and its unit; what stands beside it must not change either. The rows of the table in this
order: characters that may touch a macro, letters that may, signs before it, and what changes the quantity behind
it, also across white space. White space, the ends of the text and opening and closing punctuation are passed over.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from functools import lru_cache

from gllint_runtime.policy.units import ALLOWED_UNITS, TIME_UNITS

BULLET = re.compile(r"^([ \t>]*(?:\d{1,9}[.)][ \t]+)?)-(?=[ \t])", re.MULTILINE)
MASK = "\ue000"
"""Stands for each character of a macro in the text that is looked at."""


def _as_seen(words: str) -> str:
    """Words as a view has them, without combining marks."""
    return "".join(char for char in words if unicodedata.category(char) != "Mn")


# ------------------------------------------------------------------ what may touch a macro, beside white space

_BRACKETS_AND_QUOTES = {"Ps", "Pe", "Pi", "Pf"}
_PUNCTUATION = frozenset(
    "\"'`|*_~.,:;!?¡¿…—―"  # opening and closing punctuation, quotes, backticks, cells, emphasis, the dash of prose
    "<>=≤≥≈"  # says what kind of value follows, not which
    "。、，．：；！？｡､・।॥،؛؟۔՝։׃።፣၊။"  # the same in other scripts
    "\u00ad\u200e\u200f\u2066\u2067\u2068\u2069\ufffc"
)
_BEFORE_ONLY = frozenset("•∙◦▪▫●○■□►▶→⇒☐☑☒✓✔✅")  # bullets, arrows and boxes that open a line
# Scripts that put no blank between words. Such a letter may touch a macro unless it counts or is a unit.
_UNSPACED = re.compile(
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
_SIGN_WORDS = _as_seen(
    "minus negative negativ négatif moins menos meno минус мінус eksi سالب ناقص مينوس מינוס منفی ऋण ऋणात्मक माइनस"
).split()
_UNSPACED_SIGNS = tuple(_as_seen("负 負 减 減 零下 マイナス 氷点下 마이너스 영하 ลบ").split())
_SIGN_ENDS = (*_SIGN_WORDS, *_UNSPACED_SIGNS)
_NO_SIGN = re.compile(r"(?:\bau|\bdu) moins\Z|(?:\bal|\blo) menos\Z")  # at least
_SIGN_IN_BRACKETS = re.compile(r"[(\[{$（［｛【「『〈《〔]\s*([^\w\s])\s*[)\]}$）］｝】」』〉》〕]\Z")
_RULE = re.compile(r"[ \t]*+[-=_*+|:][-=_*+|: \t]{2,}\Z")  # the line under a heading or a table's head

# --------------------------------------------------------------- what changes the quantity behind a macro

_OPERATORS = frozenset("/∕⁄÷／⧸·⋅∙⸱ꞏ‧×✕✖⨯⨉╳*＊∗^ˆ＾%‰‱٪؉؊°√\u0335\u0336\\⁻ⁿ")
_MULTIPLIER_WORDS = """
hundred hundreds thousand thousands million millions billion billions trillion trillions dozen dozens
lakh lakhs crore crores mn bn mio mrd mln mlrd squared cubed fold
tausend tausende tsd millionen milliarde milliarden billionen dutzend duizend miljoen miljard
mille milliers millier milliard milliards douzaine mil miles millón millones millardo docena
milhão milhões bilhão bilhões milhar milhares mila milione milioni miliardo miliardi migliaia
tusen miljoner miljon miljarder tysięcy tysiąc milion milionów miliard milyon milyar
тысяча тысячи тысяч миллион миллиона миллионов миллиард миллиарда миллиардов тыс млн млрд
tisíc tisíce milionu miliony milionů miliardy tisuća milijuna milijun milijardi mii milioane miliarde
ezer millió milliárd tuhat tuhatta miljoona miljoonaa miljardi miljardia tusind tusinde millioner milliarder
ribu juta miliar nghìn ngàn triệu tỷ χιλιάδες εκατομμύριο εκατομμύρια δισεκατομμύριο δισεκατομμύρια
ألف آلاف مليون ملايين مليار مليارات هزار میلیون میلیارد ہزار لاکھ کروڑ אלף אלפים מיליון מיליארד
हज़ार लाख करोड़ হাজার লক্ষ কোটি மில்லியன் லட்சம் கோடி
"""
_MULTIPLIERS = frozenset(_as_seen(_MULTIPLIER_WORDS).split())
_COUNTING = (
    "[十百千万萬亿億兆京垓零〇二三四五六七八九两兩半倍割拾佰仟]|一(?![直样樣般共起定些旦方])|[만억](?!큼)|[십백천](?=[\\s만억]|$)|조(?=\\s|$)|배(?=[가로의\\s]|$)"
    "|หมื่น|แสน|ล้าน|พัน|ร้อย|สิบ|โหล|ພັນ|ລ້ານ|ຮ້ອຍ|ពាន់|លាន|រយ|သောင်း|သန်း|ထောင်|ရာ"
)
_UNSPACED_UNITS = (
    "(?:[毫厘微兆吉百千分平立][^\\W\\d_]?)?(?:方)?(?:克|米|瓦|焦|卡|升(?![高至到级級])|吨|噸)|公[斤里顷頃尺分升克噸吨]|平方|立方|[元円圆圓]"
    "|美元|欧元|歐元|日元|英镑|英鎊|卢比|人民币|块|度|摄氏|華氏|斤|亩|畝|英[里尺]"
    "|キロ|メガ|ギガ|ミリ|センチ|メートル|グラム|トン|リットル|ワット|ジュール|パーセント|ドル|ユーロ|ポンド|平米|坪"
    "|킬로|메가|기가|밀리|센티|미터|그램|톤|리터|와트|줄(?=\\s|$)|퍼센트|달러|유로|원(?=\\s|$)|평방|제곱"
    "|กิโล|เมตร|กรัม|ตัน|ลิตร|วัตต์|บาท|ดอลลาร์|เปอร์เซ็นต์|ຕັນ|ແມັດ|ກິໂລ|ກີບ|គីឡូ|តោន|ម៉ែត្រ|រៀល|ကီလို|တန်|မီတာ|ကျပ်"
)
_UNSPACED_CHANGE = re.compile(_as_seen(f"(?:[每毎]|あたり)?(?:{_COUNTING}|{_UNSPACED_UNITS})"))
_COUNTING_BEFORE = re.compile("[十百千万萬亿億兆零〇一二三四五六七八九两兩半만억]\\Z")

_MEASURES = (
    r"(?:kilo|mega|giga|milli|centi)?(?:watt|joule|gram(?:me)?|met(?:re|er)|lit(?:re|er)|ton(?:ne)?|hertz|volt)s?"
    r"(?:[-\s]?hours?)?|miles?|foot|feet|inch(?:es)?|yards?|gallons?|acres?|hectares?|pounds?|ounces?|degrees?"
    r"|per\s?cents?|dollars?|euros?|rupees?|yen|yuan|pence|cents?|(?:square|cubic|sq|cu)\b"
    r"|[Qq]uadratmeter|[Kk]ubikmeter|[Tt]onnen?|[Kk]ilowattstunden?|metros?|mètres?|tonnes?|toneladas?|litros?|litres?"
    r"|[кМ]?Вт|к[гм]|тонн[ауы]?|литра?|метра?|килограмма?"
)
_PER = r"(?:per|pro|par|por|je|al|à|a|an|each|every|на|за|по)"
_PER_UNIT = re.compile(
    rf"{_PER}\s+(?:the\s+|one\s+|every\s+)?({_MEASURES}|mille?)(?![^\W\d_])", re.IGNORECASE
)
_PER_SYMBOL = re.compile(rf"{_PER}\s+([^\s.,;:!?()\[\]{{}}|\"]+)", re.IGNORECASE)
_POWER = re.compile(
    r"(?:raised )?to the power|x(?![^\W_]|-)", re.IGNORECASE
)  # a letter that stands for a sign, too
_MEASURE = re.compile(rf"(?:{_MEASURES})(?![^\W\d_])", re.IGNORECASE)
_TIMES = (
    r"(?:seconds?|minutes?|hours?|days?|nights?|weeks?|months?|quarters?|years?|annum|yr|hr"
    r"|sekunden?|minuten?|stunden?|tag|tage|woche|monat|jahr|secondes?|heures?|jour|semaine|mois|an|ans|année"
    r"|segundos?|minutos?|horas?|día|semana|mes|año|secondo|ora|giorno|settimana|mese|anno|dia|mês|ano|uur|dag|jaar"
    r"|год|месяц|день|час|неделю)"
)
_TIME = re.compile(
    rf"(?:{_PER}\s+(?:the\s+|one\s+)?{_TIMES}(?![^\W\d_])"
    r"|(?:hourly|daily|nightly|weekly|monthly|quarterly|yearly|annually|jährlich|täglich|monatlich)(?![^\W\d_])"
    r"|[每毎][年月日天周週小分秒]|[年月]間|毎年|매년|매월|매일|연간)",
    re.IGNORECASE,
)
_WIDE_BLANK = re.compile(r"[ \t\n\u00a0\u2000-\u2005\u3000]")
_WORD = re.compile(r"(?:[^\W_]|[\u0900-\u0dff])+")
# Letters of other scripts that look like Latin ones.
_LATIN = str.maketrans(
    "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧκοАВЕКМНОРСТУХЅІЈԜаеорсухіјѕԝһ", "ABEZHIKMNOPTYXkoABEKMHOPCTYXSIJWaeopcyxijswh"
)
_EMISSIONS = re.compile(r"CO[2₂](?:-?e|[-\s]?eq(?:uiv\w*)?)(?![^\W_])", re.IGNORECASE)

# Patterns by what they begin with: nearly every message is spared nearly all of them.
_CHANGES = (
    ("cC", _EMISSIONS),
    ("aejpAEJPàÀнзпНЗП", _PER_UNIT),
    ("aejpAEJPàÀнзпНЗП", _PER_SYMBOL),
    ("rtxRTX", _POWER),
)
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_PLAIN_WORD = re.compile(r" ([A-Za-z]+)(?:[ .,;:!?)]|\Z)")
# The words behind a macro that may be, or begin, what changes it; on any other no time is spent.
_LOOKED_AT = (
    _MULTIPLIERS
    | {part.lower() for unit in ALLOWED_UNITS for part in re.findall(r"[A-Za-z]+", unit)}
    | {"per", "pro", "par", "por", "je", "al", "a", "an", "each", "every", "to", "raised", "x"}
)


def beside(
    text: str, start: int, end: int, symbols: Collection[str], unit: str | None = None
) -> Iterator[tuple[int, int, str]]:
    """What changes the quantity of the macro at ``start`` to ``end`` of ``text``: places, and what to tell the model.

    ``symbols`` are a project's own units beside the allowlist. ``unit`` is the unit that the macro will show, where
    that is known: then a time behind a rate, and a measure behind a bare count, are found as well.
    """
    yield from _before(text, start, end)
    yield from _after(text, start, end, symbols, unit)


# ------------------------------------------------------------------------------------------------- before


def _before(text: str, start: int, end: int) -> Iterator[tuple[int, int, str]]:
    if not start:
        return
    char = text[start - 1]
    if char == " " and start > 1 and text[start - 2] in _LETTERS and not _sign_word(text, start - 1):
        return
    if char == MASK:
        yield start, end, "Put a blank or punctuation between two macros."
        return
    if not _may_touch(char) and char not in _BEFORE_ONLY:
        head = text[max(0, start - 8) : start]
        if _UNSPACED.match(char):
            if found := _COUNTING_BEFORE.search(head):
                yield start - len(found[0]), start, "A word that counts would change the value."
                return
            if not _is_minus(text, start - 1) and not _sign_word(text, start):
                return
        elif _HEBREW_PREFIX.search(head):
            return
        first = start - 1
        while first and start - first < 80 and char.isalnum() and text[first - 1].isalnum():
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
        or (char == "+" and not _WIDE_BLANK.search(text, place, start))
        or unicodedata.category(char) == "Sc"
    ):
        yield place - 1, place, "The macro brings its value and its unit: write no sign before it."
    elif length := _sign_word(text, place):
        yield place - length, place, "A sign in words would change the value: the tool's own sign is shown."
    elif (found := _SIGN_IN_BRACKETS.search(text, max(0, place - 8), place)) and _is_minus(
        text, found.start(1)
    ):
        yield found.start(1), found.end(1), "A sign before a macro would change the value."


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
        elif not (char.isspace() or char in "\"'`*_~" or unicodedata.category(char) in {"Ps", "Pi", "Pf"}):
            return place
        place -= 1
    return 0


def _sign_word(text: str, place: int) -> int:
    """The length of the word for a sign that ends at ``place``, or 0."""
    head = text[max(0, place - 16) : place].lower()
    if not head.endswith(_SIGN_ENDS):
        return 0
    word = max((sign for sign in _SIGN_ENDS if head.endswith(sign)), key=len)
    before = head[: -len(word)][-1:]
    if word not in _UNSPACED_SIGNS and (before.isalpha() or _NO_SIGN.search(head)):
        return 0
    return len(word)


def _is_minus(text: str, place: int) -> bool:
    char = text[place]
    if char in _DASHES_OF_PROSE:
        return False
    if _UNSPACED.match(char):  # a letter among letters, a stroke when alone
        return char in _LOOK_ALIKES and not (place and _UNSPACED.match(text[place - 1]))
    return char in _LOOK_ALIKES or char == "⁃" or unicodedata.category(char) == "Pd"


@lru_cache(maxsize=512)
def _may_touch(char: str) -> bool:
    return char.isspace() or char in _PUNCTUATION or unicodedata.category(char) in _BRACKETS_AND_QUOTES


# -------------------------------------------------------------------------------------------------- after


def _after(
    text: str, start: int, end: int, symbols: Collection[str], unit: str | None
) -> Iterator[tuple[int, int, str]]:
    char = text[end : end + 1]
    if not char or char == MASK or char in ".,;:!?":  # the second of two macros says so itself
        return
    if char == " " and unit is None and not symbols and (word := _PLAIN_WORD.match(text, end)):
        if word[1].lower() not in _LOOKED_AT:
            return
    if suffix := _SUFFIX.match(text, end):
        if _changes(suffix[1], symbols):
            yield end, suffix.end(), _leave_out(suffix[1])
        return
    if not _may_touch(char):
        if _UNSPACED.match(char):
            found = _UNSPACED_CHANGE.match(text, end) or (holds_time(unit) and _TIME.match(text, end)) or None
            if found:
                yield *found.span(), _leave_out(found[0])
            return
        word = _WORD.match(text, end, end + 80)
        yield end, word.end() if word else end + 1, "Nothing but blanks or punctuation may touch a macro."
        return
    place = _on_over(text, end)
    if place < len(text):
        yield from _behind(text, place, symbols, unit)


def _on_over(text: str, end: int) -> int:
    """The place behind the blanks, brackets and quotes that follow a macro; the end where a paragraph ends."""
    place, lines = end, 0
    while place < len(text):
        char = text[place]
        if char == "\n" or char == "\u2029":
            lines += 1 if char == "\n" else 2
            if lines > 1:
                return len(text)
        elif not (char.isspace() or char in "\"'`_~" or unicodedata.category(char) in _BRACKETS_AND_QUOTES):
            return place
        place += 1
    return place


def _behind(
    text: str, place: int, symbols: Collection[str], unit: str | None
) -> Iterator[tuple[int, int, str]]:
    char = text[place]
    if unicodedata.normalize("NFKC", char)[0] in _OPERATORS or unicodedata.category(char) == "Sc":
        at_line_start = text[text.rfind("\n", 0, place) + 1 : place].isspace() or text[place - 1] == "\n"
        if not (char == "*" and at_line_start):
            yield place, place + 1, _leave_out(char)
        return
    if char in "-‐‑" and text[place - 1].isspace():  # "-million"
        place += 1
    found = None
    for beginnings, pattern in _CHANGES:
        if char in beginnings and (found := pattern.match(text, place)):
            break
    else:
        if not char.isascii():
            found = _UNSPACED_CHANGE.match(text, place)
    if found and found.re is _PER_SYMBOL and not _is_unit(found[1], symbols):
        found = None
    if found is None and holds_time(unit):
        found = _TIME.match(text, place)
    if found is None and unit == "count":
        found = _MEASURE.match(text, place)
    if found:
        yield *found.span(), _leave_out(found[0])
    else:
        word = _WORD.match(text, place, place + 80)
        if word is None:
            if len(text) > place and _is_unit(char, symbols):
                yield place, place + 1, _leave_out(char)
            return
        follows = text[word.end() : word.end() + 2]
        if follows and unicodedata.category(follows[0]) == "Sc":  # "k€"
            yield word.start(), word.end() + 1, _leave_out(text[word.start() : word.end() + 1])
            return
        is_longer = follows[:1] in ("'", "’", "-", "_") and follows[1:].isalpha()
        if word[0].casefold() in _MULTIPLIERS or (not is_longer and _changes(word[0], symbols)):
            yield *word.span(), _leave_out(word[0])


def _leave_out(text: str) -> str:
    return f"Leave out {text!r}: the macro brings its value and its unit, and nothing may change them."


def _changes(word: str, symbols: Collection[str]) -> bool:
    return word.casefold() in _MULTIPLIERS or _is_unit(word, symbols)


def _is_unit(word: str, symbols: Collection[str]) -> bool:
    if word.isascii() and word.isalpha():
        return word in ALLOWED_UNITS or word in symbols
    first = re.split(r"[/·⋅*×^]", word)[0]
    folded = unicodedata.normalize("NFKC", first)
    if len(folded) > 1 and not folded.isascii():
        folded = folded.translate(_LATIN)
    return folded in ALLOWED_UNITS or first in symbols or (first != word and folded in TIME_UNITS)


@lru_cache(maxsize=256)
def holds_time(unit: str | None) -> bool:
    """Whether a quantity of this unit is a rate, or a power."""
    parts = re.findall(r"[^\W\d]+", unit or "")
    return any(part in TIME_UNITS or ALLOWED_UNITS.get(part) == "power" for part in parts)
