"""A text as a reader sees it: without markup, entities and hidden characters, with the way back to each place."""

from __future__ import annotations

import html
import re
from bisect import bisect_right

from gllint_runtime.policy.text_units import words_table

_MARKUP = re.compile(words_table()["forms"]["markup"], re.DOTALL)
_COMMANDS = {"times": "×", "cdot": "·", "approx": "≈", "degree": "°", "circ": "°", "pm": "±"}
_NEWS = {
    "cell": "|",
    "row": "|\n",
    "term": ": ",
    "heading": "\n# ",
    "item": "\n- ",
    "line": "\n",
    "space": " ",
}
_MAY_HAVE_MARKUP = re.compile(r"[*_`~<&\\^{\u200b-\u200f\u2060\ufeff\u00ad]")


class SeenText:
    """A text as a reader sees it (``text``), with the place of each of its characters in the source."""

    def __init__(self, source: str) -> None:
        self.text = source
        self._starts: list[int] = []
        self._shifts: list[int] = []
        if _MAY_HAVE_MARKUP.search(source) is not None:
            self._strip(source)

    def _strip(self, source: str) -> None:
        """Set the text with what a reader sees in place of its markup; note the place of each piece in the source."""
        pieces: list[str] = []
        shifts: list[
            tuple[int, int]
        ] = []  # where a piece begins here, and how much further it begins in the source
        at = length = 0
        for match in _MARKUP.finditer(source):
            new = _seen(match)
            pieces += source[at : match.start()], new
            length += match.start() - at + len(new)
            shifts.append((length, match.end() - length))
            at = match.end()
        if not pieces:
            return
        self.text = "".join([*pieces, source[at:]])
        self._starts = [start for start, _ in shifts]
        self._shifts = [shift for _, shift in shifts]

    def origin(self, place: int) -> int:
        """Return where the character at a place is in the source."""
        number = bisect_right(self._starts, place) - 1
        return place if number < 0 else place + self._shifts[number]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the stretch of the source that shows the characters from ``start`` to ``end``."""
        return self.origin(start), self.origin(end - 1) + 1 if end > start else self.origin(start)


def _seen(match: re.Match[str]) -> str:
    r"""Return what a reader sees in place of a piece of markup: ``"&nbsp;"`` → ``" "``, ``"\\%"`` → ``"%"``."""
    kind, inner = match.lastgroup or "", match[match.lastgroup or 0]
    if kind in _NEWS:
        return _NEWS[kind]
    if kind == "entity":
        visited = html.unescape(inner)
        return " " if visited in ("\u00a0", "\u202f", "\u2009") else "" if visited == inner else visited
    if kind == "command":
        return _COMMANDS[inner]
    if kind == "degree":
        return "°"
    if kind == "unit":
        return f"{match['amount']} {inner}"
    if kind == "below":
        return f"{match['above']}/{inner}"
    return inner if kind in ("inner", "escaped", "mark") else ""
