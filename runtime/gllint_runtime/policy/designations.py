"""What of a text is a name although digits stand in it: a date-time, a UUID, a version, a telephone number, a code.

These are beside the contexts of :mod:`~gllint_runtime.policy.numbers`, which are all that a final message may hold: in
the text of a tool's result digits that are told apart from any measure by their form alone state none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime

from gllint_runtime.policy.claims import HOLE
from gllint_runtime.policy.unit_spellings import unit_names
from gllint_runtime.policy.units import ALLOWED_UNITS, TIME_UNITS

_DATE_TIME = re.compile(
    rf"(?<![\w{HOLE}])(?:(?P<date>\d{{4}}-\d\d-\d\d)|{HOLE})[T ](?P<time>\d\d:\d\d(?::\d\d)?)(?:[.,]\d{{1,9}})?"
    r"(?:Z|[+-]\d\d:?\d\d)?(?![\w:])"
)
_GROUPED = re.compile(r"\d{1,3}(?:\.\d{3})+\Z")
_DOTTED = re.compile(
    r"(?<![\w.,])\d{1,5}(?:\.\d{1,5}){2,4}(?:[-+.]?(?:a|alpha|b|beta|dev|post|rc)\.?\d{1,5})?(?!\w|[.,]\d)"
)
_CRON = re.compile(
    r"(?<![\w*/,-])(?:[\d*][\d*/,-]{0,20}[ ]){4}(?:[\d*][\d*/,-]{0,20}|[A-Z]{3}(?:-[A-Z]{3})?)(?![\w*/,-])"
)
_CHARACTER_CLASS = re.compile(r"\[(?P<inner>[^][\s]{1,60})\](?P<often>[+*?]|\{\d{0,6}(?:,\d{0,6})?\})?")
_MONTH = (
    "(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)\b\.?"
)
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
# Each form tells itself from a measure. Behind a month and a year something may be counted ("in May 2000 kWh").
_FORMS = re.compile(
    r"(?<![\w-])[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}(?![\w-])"  # UUIDs
    r"|(?<!\w)(?=\d{0,128}[a-f])[0-9a-f]{32,128}(?!\w)"  # digests
    r"|(?<!\w)\d{8}T\d{6}Z?(?!\w)"
    r"|\b[vV]ersion\s{0,3}[:=]?\s{0,3}[\"']?v?\d{1,5}(?:\.\d{1,5}){0,4}(?!\w|[.,]\d)"
    r"|\b[A-Z][A-Za-z]{0,30}[ -]\d{1,3}\.\d{1,3}(?=\s(?:models?|API|SDK|releases?)\b)"
    r"|\bHTTP(?:/\d(?:\.\d)?|[ ](?:status[ ])?(?:code[ ])?[1-5]\d\d)\b"
    r"|(?<![\w.+-])(?:\+?\d{1,3}[-. ])?(?:\(\d{3}\)[ -]?|\d{3}[-.])\d{3}[-.]\d{4}(?![\w-]|[.,]\d)"  # telephones
    r"|(?<![\w.+-])1-8\d\d-[A-Z0-9]{2,7}(?:-[A-Z0-9]{2,7})?(?![\w-])"
    rf"|(?<![\w.,])(?:{_DAY}[ ](?:of[ ])?{_MONTH},?[ ]|{_MONTH}[ ](?:{_DAY},?[ ])?)(?:19|20)\d\d"
    r"(?=\s*(?:\Z|[\n.;:)\]|/–—\"'-](?!\d)|,(?!\d)))"
)
_CODE = re.compile(r"0\d{1,20}")
_PERIOD = re.compile(r"\d{1,4}([a-z]{3,7})")
_NAME = re.compile(r"\d{1,6}-[a-z]{3,20}(?:-[a-z]{1,20})*")
_FEWEST_NAMES = 3


def designations(text: str) -> Iterator[tuple[int, int]]:
    """The stretches of ``text`` that are names by their form: date-times, UUIDs, versions, cron lines, telephones."""
    for match in _DATE_TIME.finditer(text):
        try:
            datetime.fromisoformat(f"{match['date'] or '2000-01-01'}T{match['time']}")
        except ValueError:
            continue
        yield match.span()
    for match in _DOTTED.finditer(text):
        if _GROUPED.match(match[0]) is None:  # `1.234.567` is a number where thousands are so parted
            yield match.span()
    for match in _CRON.finditer(text):
        if "* *" in match[0] or "*/" in match[0] or match[0].endswith("*"):
            yield match.span()
    for match in _CHARACTER_CLASS.finditer(text):
        inner = match["inner"]
        if any(part in inner for part in ("a-z", "A-Z", "a-f", "A-F", "\\w")) or (
            match["often"] and ("0-9" in inner or "\\d" in inner)
        ):
            yield match.span()
    for match in _FORMS.finditer(text):
        yield match.span()


def is_code(text: str) -> bool:
    """Whether a whole text is a code though it begins with a digit: ``007``, ``5minute``."""
    period = _PERIOD.fullmatch(text)
    return _CODE.fullmatch(text) is not None or (period is not None and period[1] in _PERIODS)


_PERIODS = frozenset({"second", "minute", "hour", "day", "week", "month", "quarter", "year"})


def are_codes(texts: Sequence[str]) -> bool:
    """Whether whole texts that are listed are codes of one length, or names, some of which begin with digits.

    ``["01", "02", "22", "ZZ"]``, ``["3024-night", "cobalt", "monokai", "nord"]``; never ``["500", "kWh"]``.
    """
    if not texts or any(not text or " " in text for text in texts):
        return False
    numerals = [text for text in texts if text.isdecimal()]
    if numerals:
        is_filled = any(_CODE.fullmatch(text) for text in numerals)
        return is_filled and len({len(text) for text in numerals}) == 1
    names = [text for text in texts if _NAME.fullmatch(text)]
    plain = [text for text in texts if not text[0].isdecimal()]
    has_unit = any(_is_unit(text.split("-")[1]) for text in names)
    return (
        bool(names) and not has_unit and len(plain) >= _FEWEST_NAMES and len(names) + len(plain) == len(texts)
    )


def _is_unit(word: str) -> bool:
    symbols = {unit.lower() for unit in (*ALLOWED_UNITS, *TIME_UNITS)}
    return not {word, word.removesuffix("s")}.isdisjoint(symbols | unit_names().keys() | _PERIODS)
