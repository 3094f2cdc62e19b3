"""A text as a reader sees it: without markup, entities and hidden characters, with the way back to each place."""

from __future__ import annotations

import html
import re
from bisect import bisect_right

from gllint_runtime.policy.expressions import UNSPACED
from gllint_runtime.policy.text_units import words_table

_MARKS = r"[\d%‰°℃℉$€£¥￥₩A-Za-z]"
_MARKUP = re.compile(
    rf"{words_table()['forms']['markup']}|(?P<break>(?<={UNSPACED})(?=[-−]?{_MARKS})|(?<={_MARKS})(?={UNSPACED}))",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(
    r"\s(?:alt|title|value|placeholder|label|aria-label|start|srcdoc)\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s>\"']+)",
    re.IGNORECASE,
)  # of an attribute
_COMMANDS = {"times": "×", "cdot": "·", "approx": "≈", "degree": "°", "circ": "°", "pm": "±"}
_NEWS = {
    "cell": "|",
    "row": "|\n",
    "term": ": ",
    "heading": "\n# ",
    "item": "\n- ",
    "line": "\n",
    "space": " ",
    "break": " ",
}
_MAY_HAVE_MARKUP = re.compile(rf"[*_`~<&\\^{{\u200b-\u200f\u2060\ufeff\u00ad{UNSPACED[1:-1]}]")


class SeenText:
    """A text as a reader sees it (``text``), with the place of each of its characters in the source."""

    def __init__(self, source: str) -> None:
        self.text = source
        self._starts: list[int] = []
        self._shifts: list[int] = []
        self._widths: list[int] = []  # of what is shown in place of the markup before a piece
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
            self._widths.append(len(new))
            at = match.end()
        if not pieces:
            return
        self.text = "".join([*pieces, source[at:]])
        self._starts = [start for start, _ in shifts]
        self._shifts = [shift for _, shift in shifts]

    def origin(self, place: int) -> int:
        """Return where the character at a place is in the source; of a blank that is only here, the one before it."""
        start, end = self._stretch(place)
        return min(start, end - 1)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the stretch of the source that shows the characters from ``start`` to ``end``."""
        first = self._stretch(start)
        return first[0], self._stretch(end - 1)[1] if end > start else first[0]

    def _stretch(self, place: int) -> tuple[int, int]:
        """Return the stretch of the source that shows the character at a place: all of ``\\frac{9}{2}`` for "9/2"."""
        number = bisect_right(self._starts, place)
        start = place + (self._shifts[number - 1] if number else 0)
        if number < len(self._starts) and place >= self._starts[number] - self._widths[number]:
            start -= place - (self._starts[number] - self._widths[number])
            return start, self._starts[number] + self._shifts[number]
        return start, start + 1


def _seen(match: re.Match[str]) -> str:
    r"""Return what a reader sees in place of a piece of markup: ``"&nbsp;"`` → ``" "``, ``"\\%"`` → ``"%"``."""
    kind, inner = match.lastgroup or "", match[match.lastgroup or 0]
    if match[0][:1] == "<" and kind != "hidden":
        values = (value.strip("\"'") for value in _ATTRIBUTE.findall(match[0]))
        return _NEWS.get(kind, "") + "".join(f"{html.unescape(value)} " for value in values)
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
