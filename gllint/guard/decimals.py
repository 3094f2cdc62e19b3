"""Numbers that leave as they came: a float keeps the text of more digits, or of a larger exponent, than it has."""

from __future__ import annotations

import re
from typing import Any

_MARK = "\ue0fdgllint:"  # before such a number, which JSON writes as a text first
_NUMBER = re.compile(r'"(?:\ue0fd|\\ue0fd)gllint:([-+.0-9eE]+)"')
_LONG = re.compile(rb"[0-9.]{16}|[eE][-+]?[0-9]{2}")
_LONGEST = 10_000  # characters


class Float(float):
    """A float that knows how it was written."""

    __slots__ = ("text",)

    def __new__(cls, text: str) -> Float:
        number = super().__new__(cls, text)
        number.text = text
        return number

    text: str


def float_of(text: str) -> float:
    """Return the float of a text in JSON."""
    if len(text) < 16 and "e" not in text and "E" not in text:
        return float(text)
    return Float(text) if len(text) <= _LONGEST else float(text)


def has_decimals(line: bytes) -> bool:
    """Return whether a message may have such a number."""
    return _LONG.search(line) is not None


def with_decimals(data: Any) -> Any:
    """Data in which each such number is a text that :func:`with_numbers` makes a number again."""
    if isinstance(data, Float):
        return f"{_MARK}{data.text}"
    if isinstance(data, dict):
        return {key: with_decimals(value) for key, value in data.items()}
    return [*map(with_decimals, data)] if isinstance(data, list) else data


def with_numbers(text: str) -> str:
    """Return the JSON of data with such texts, as it was written."""
    return _NUMBER.sub(r"\1", text) if "gllint:" in text else text
