"""From the text that a string literal means back to the characters that write it."""

from __future__ import annotations

import re

_ESCAPE = re.compile(
    r"\\(?:N\{[^}]*\}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{1,3}|\r\n|.)", re.DOTALL
)
_START = re.compile(r"""([a-zA-Z]*)(\"\"\"|'''|"|')""")


def raw_offsets(raw: str) -> list[int]:
    """For each character of the text that ``raw`` means its offset in ``raw``, and one for the end.

    ``raw`` is a string literal with prefix and quotes, or the literal part of an f-string without either.
    """
    start = _START.match(raw)
    if start is not None and raw.endswith(start.group(2)) and len(raw) >= start.end() + len(start.group(2)):
        prefix, quotes = start.groups()
        return _offsets(raw, start.end(), len(raw) - len(quotes), "r" in prefix.lower(), braces=False)
    return _offsets(raw, 0, len(raw), False, braces=True)


def _offsets(raw: str, first: int, last: int, verbatim: bool, *, braces: bool) -> list[int]:
    """Return the offset in the source of each character of a literal."""
    offsets: list[int] = []
    position = first
    while position < last:
        char = raw[position]
        if char == "\\" and not verbatim:
            escape = _ESCAPE.match(raw, position)
            if escape is not None:
                if escape.group(0) not in ("\\\n", "\\\r\n"):
                    offsets.append(position)
                position = escape.end()
                continue
        offsets.append(position)
        if (braces and char in "{}" and raw[position + 1 : position + 2] == char) or (
            char == "\r" and raw[position + 1 : position + 2] == "\n"
        ):
            position += 2
        else:
            position += 1
    offsets.append(last)
    return offsets
