"""A message as a reader sees it: markup and invisible characters gone, HTML entities decoded.

A sign or a digit that stands far from a macro in the text may stand beside it on the screen. The scanner looks at
this view to see what touches a macro, and what an entity shows.
"""

from __future__ import annotations

import html
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterator

# Numerals that Unicode files under symbols (day 31, hour 12, keycap ten, hundred points) or combining marks.
_OTHER_NUMERALS = re.compile(
    r"[\u218a\u218b\u32c0-\u32cb\u3358-\u3370\u33e0-\u33fe\ua8e0-\ua8e9"
    r"\U00011366-\U0001136c\U0001f4af\U0001f51f]"
)

_BLOCKS = (
    "address|article|aside|blockquote|br|center|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer"
    "|form|h[1-6]|header|hr|li|main|menu|nav|ol|option|p|pre|section|summary|table|tbody|td|tfoot|th|thead|tr|ul"
)
# Tags that begin no line of their own, emphasis, LaTeX spacing, comments. An unclosed comment hides the rest, as in
# a browser. No alternative is tried twice at one place: the cost stays linear.
_MARKUP = re.compile(
    rf"""
    (?P<unseen> [\u200b\u115f\u1160\u3164\uffa0*_~`]++ | \\[,;:!] | \{{\}}
      | </?(?!(?:{_BLOCKS})\b)[a-z](?: [^<>"']++ | "[^"]*+" | '[^']*+' )*+>
      | <!--(?: [^-]++ | -(?!->) )*+(?:-->|\Z) )
  | &(?: \#[0-9]{{1,9}} | \#x[0-9a-f]{{1,7}} | [a-z][a-z0-9]{{0,40}} );?
    """,
    re.VERBOSE | re.IGNORECASE,
)


def is_numeral(char: str) -> bool:
    """Whether ``char`` is a numeral of any script: a code point of Nd, No or Nl, or a symbol that shows one."""
    return unicodedata.category(char) in {"Nd", "No", "Nl"} or _OTHER_NUMERALS.match(char) is not None


def _is_unseen(char: str) -> bool:
    return unicodedata.category(char) in {"Cf", "Mn", "Me"}


def replaced(text: str, wanted: Callable[[str], bool], by: str) -> str:
    """``text`` with every ``wanted`` character beyond ASCII replaced by the one character ``by``."""
    if text.isascii():
        return text
    return text.translate({ord(char): by for char in set(text) if not char.isascii() and wanted(char)})


class View:
    """``text`` is what a reader of ``message`` sees; ``starts`` and ``ends`` say where each character comes from."""

    def __init__(self, message: str) -> None:
        parts: list[str] = []
        self.starts: list[int] = []
        self.ends: list[int] = []

        def show(shown: str, starts: Iterator[int] | range, ends: Iterator[int] | range) -> None:
            parts.append(shown)
            self.starts.extend(starts)
            self.ends.extend(ends)

        position = 0
        for match in _MARKUP.finditer(replaced(message, _is_unseen, "\u200b")):
            start, end = match.span()
            show(message[position:start], range(position, start), range(position + 1, start + 1))
            position = end
            if match["unseen"] is None:
                decoded = "".join(char for char in html.unescape(match[0]) if not _is_unseen(char))
                show(decoded, iter([start] * len(decoded)), iter([end] * len(decoded)))
        show(message[position:], range(position, len(message)), range(position + 1, len(message) + 1))
        self.text = "".join(parts)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where in the message the characters ``start`` to ``end`` of the view stand."""
        return self.starts[start], self.ends[end - 1]

    def find(self, position: int) -> int | None:
        """Where in the view the character at ``position`` of the message stands; ``None`` if it is not shown."""
        index = bisect_left(self.starts, position)
        return index if index < len(self.starts) and self.starts[index] == position else None

    def numerals_in_entities(self) -> Iterator[tuple[int, int]]:
        """The places of the message's entities that show a numeral (``&half;``, ``&#x35;``)."""
        for i, char in enumerate(self.text):
            if self.ends[i] - self.starts[i] > 1 and is_numeral(char):
                yield self.starts[i], self.ends[i]
