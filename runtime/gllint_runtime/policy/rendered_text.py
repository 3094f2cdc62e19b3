"""A message as a reader sees it: markup and invisible characters gone, HTML entities decoded, blocks as lines.

A sign or a digit that is far from a macro in the text may be next to it on the screen. The scanner looks at
this view to see what touches a macro, and what an entity shows.
"""

from __future__ import annotations

import html
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable
from functools import lru_cache

from gllint_runtime.policy.data_files import lines, sections
from gllint_runtime.policy.expressions import expression

_BLOCKS = (
    "address|article|aside|blockquote|center|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer"
    "|form|h[1-6]|header|hr|li|main|menu|nav|ol|option|p|pre|section|summary|table|tbody|td|tfoot|th|thead|tr|ul"
)
# Where something begins that is not shown as it is typed: emphasis, escapes, LaTeX, the brackets of a link, footnotes,
# comments (an unclosed one hides the rest, as in a browser), tags, entities. No alternative is tried twice at one
# place, and the rest of a tag is matched by itself: the cost stays linear.
_START = expression(r"[\\_*~`<&$\]!\[{\u200b\u115f\u1160\u3164\uffa0]")
_MARKUP = expression(
    rf"""
    (?P<escaped> \\[*_~`] )
  | \\(?P<latex> [dt]?frac|pm|mp|minus|textminus|textendash|ominus|sqrt|surd|times|cdot|div|ast|over|neg )(?![a-z])
  | (?!~(?<=\ue000~)\ue000)  # a range from one macro to another
    (?P<unseen> [\u200b\u115f\u1160\u3164\uffa0_~`]++ | \{{\}} | \$\$
      | (?<!\s)\*++ | \*\*(?=[^\W\d_]{{2}}) | \*++(?=[^\s*](?:[^*\n]|\n(?!\n)){{0,500}}+\*)
      | \\++(?=\n|\Z) | \\(?: [,;:!] | (?=[\n ]) | (?=[-"\#$%&'()*+./<=>?@\[\]^_`{{|}}~]) )
      | \[\^[\w-]{{1,40}}+\](?!:)
      | \](?: \([^()\n]{{0,500}}+\) | \[[^\[\]\n]{{0,80}}+\] ) | !?\[(?=[^\[\]\n]{{0,200}}+\][(\[]) )
  | (?P<comment> <!-- )
  | (?P<bogus> <(?: [!?] | /(?![a-z]) ) )
  | (?P<line> <br\b )
  | (?P<block> </?(?:{_BLOCKS})\b )
  | (?P<raised> <sup\b )
  | (?P<tag> </?[a-z] )
  | &(?: \#[0-9]{{1,9}} | \#x[0-9a-f]{{1,7}} | [a-z][a-z0-9]{{0,40}} );?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_SHOWN_AS = {"line": "\n", "block": "\u2029"}
_COMMENT_REST = expression(r"-?>|(?:[^-]++|-(?!-!?>))*+(?:--!?>|\Z)")
_BOGUS_REST = expression(r"[^>]*+>")
_TAG_REST = expression(r"""(?:[^>=]++|=\s*+(?:"[^"]*+"|'[^']*+'|(?!["'])))*+>""")
_SIMPLE_REST = expression(r"[^<>]*+>")
# What is read where a picture is not shown.
_ALT = expression(r"""<img\b[^>]*?\salt\s*+=\s*+["']([^"'<>]{1,40})["']""", re.IGNORECASE)
# Elements that show nothing or something else; as attributes, any style but colours, fonts and the like.
_HIDING = expression(
    r"""
    <(?:script|style|template|noscript|textarea|title|iframe|object|svg|math|marquee|rp|bdo|datalist)\b
  | <dialog\b(?![^>]*\sopen\b)
  | <[a-z][^\s/>:]*+(?!:) (?: [\s/=]++ | [^\s/>=]++ (?: \s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>"']*+) )?+ )*?
    (?: (?<![\w-])hidden(?=[\s/=>])
      | (?<![\w-])style\s*+= (?! \s*+\{ | \s*+["']?+
          (?: \s*+(?: display(?=\s*+:\s*+(?:inline|block|inline-block|flex)\s*+[;"'>])
                 | margin(?:-[a-z]+)?(?=\s*+:[^-;"'>]*[;"'>]) | (?:background-)?color | background
                 | font-(?:weight|style|family) | text-(?:align|decoration) | vertical-align | white-space
                 | line-height | gap | justify-content | align-items | (?:padding|border)[a-z-]* )
              \s*+: (?!\s*transparent) [\w\s\#%.,'\ue000-]{1,80} (?: ; | (?=["'>]) ) )*+ \s*["'>] ) )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_PICTURE_STYLE = expression(
    r"""<img\b[^>]*?\sstyle\s*+=\s*+["'][^"'>]*["']""", re.IGNORECASE
)  # hides no text
# Mathematics in a line, with a macro in it but not at its beginning: "${{claim:0}}" is a sum of money.
_MATHEMATICS = expression(
    r"\$(?:(?=[A-Za-z\\(|\[<>])(?!\(\ue000)[^$\n\ue000]{0,200}+\ue000[^$\n]{0,200}+|\\[a-z]+[^$\n\ue000]{0,200}+)\$(?!\w)"
)
_CLOSED_DETAILS = expression(r"<details\b(?![^>]*\sopen\b)", re.IGNORECASE)
_SHOWN_MARKS = frozenset("\u0335\u0336\u2212")  # strokes that look like a minus on a blank
_UNSEEN = frozenset({"Cf", "Mn", "Me", "Cc"})


@lru_cache(maxsize=1)
def numerals() -> frozenset[str]:
    """Return every code point that shows a number, by the newest Unicode; see ``numerals.txt``."""
    ends = [[int(end, 16) for end in line.split("-")] for line in lines("numerals.txt")]
    return frozenset(chr(point) for first, *last in ends for point in range(first, (last or [first])[0] + 1))


@lru_cache(maxsize=1)
def _latex() -> dict[str, str]:
    return sections("rendered_text.txt")["latex"]


def is_numeral(char: str) -> bool:
    """Return whether ``char`` shows a number: a digit or numeral of any script, a die, a keycap, a domino."""
    return char in numerals()


@lru_cache(maxsize=4096)
def _is_unseen(char: str) -> bool:
    return unicodedata.category(char) in _UNSEEN and char not in _SHOWN_MARKS and char not in "\t\n\r"


def replaced(text: str, wanted: Callable[[str], bool], by: str) -> str:
    """``text`` with every ``wanted`` character replaced by the one character ``by``."""
    characters = [char for char in {*text} if wanted(char)]
    return text.translate(dict.fromkeys(map(ord, characters), by)) if characters else text


class _Asides:
    """The parts of a text that are read by themselves: code, in which a tag is text, mathematics, closed details."""

    def __init__(self, text: str) -> None:
        self._code_spans = _code_spans(text)
        self.unseen: dict[int, int] = {}
        """Where something begins that is not shown, and where it ends."""
        for match in _MATHEMATICS.finditer(text):
            self.unseen |= {match.start(): match.start() + 1, match.end() - 1: match.end()}
        if "<" in text:
            self._add_details(text)

    def _add_details(self, text: str) -> None:
        """Note closed ``<details>`` as unseen, except those that contain a macro."""
        ends = [match.end() for match in re.finditer(r"</details\s*+>", text, re.IGNORECASE)]
        macros = [match.start() for match in re.finditer("\ue000+", text)]
        for match in _CLOSED_DETAILS.finditer(text):
            place = bisect_right(ends, match.start())
            if place == len(ends):
                return
            macro = bisect_right(macros, match.start())
            if macro == len(macros) or macros[macro] >= ends[place]:
                self.unseen[match.start()] = ends[place]

    def has_in_code(self, place: int) -> bool:
        """Return whether ``place`` is in code; asked for places in order."""
        while self._code_spans and self._code_spans[-1][1] <= place:
            self._code_spans.pop()
        return bool(self._code_spans) and self._code_spans[-1][0] <= place


def _code_spans(text: str) -> list[tuple[int, int]]:
    """Return the places between backticks, the last first, without those that contain a macro.

    ``"`a` {{claim:0}} `b`"`` → the places of "b" and "a". :meth:`has_in_code` removes places from the end as it
    advances.
    """
    runs = [match.span() for match in re.finditer("`+", text)]
    later: dict[int, int] = {}  # of each length of backticks, the next run of it
    closing = [0] * len(runs)
    for index in range(len(runs) - 1, -1, -1):
        start, end = runs[index]
        closing[index] = later.get(end - start, 0)
        later[end - start] = index
    spans = []
    index = 0
    while index < len(runs):
        if not closing[index]:
            index += 1
            continue
        start, end = runs[index][1], runs[closing[index]][0]
        is_block = start - runs[index][0] > 2  # a fence, not code in a line
        # Code in a line does not go on over a blank line.
        # "\ue000" is the mask of a macro.
        if "\ue000" not in text[start:end] and (is_block or "\n\n" not in text[start:end]):
            spans.append((start, end))
        index = closing[index] + 1
    return spans[::-1]


class View:
    """``text`` is what a reader of ``message`` sees.

    ``numerals`` are the places of entities that show a numeral, ``hiding`` those of tags that hide or restyle.
    ``printable`` says that each character of the message is shown.
    """

    def __init__(self, message: str, *, printable: bool = False) -> None:
        # The view in pieces: where each begins in the view, where it comes from, and whether it is unchanged.
        self._begins: list[int] = []
        self._sources: list[tuple[int, int, bool]] = []
        self.numerals: list[tuple[int, int]] = []
        self.hiding: list[tuple[int, int]] = []
        parts: list[str] = []
        length = 0

        def show(piece: str, start: int, end: int, alone: bool = False) -> None:
            nonlocal length
            if piece:
                parts.append(piece)
                self._begins.append(length)
                self._sources.append((start, end, alone))
                length += len(piece)

        visible = message if printable else replaced(message, _is_unseen, "\u200b")
        position = search = 0
        quoted = True
        asides = _Asides(visible)
        while candidate := _START.search(visible, search):
            begin = candidate.start()
            if visible[begin] in "<&" and asides.has_in_code(begin):  # it is text
                search = candidate.end()
                continue
            if (end := asides.unseen.get(begin)) is not None:
                show(message[position:begin], position, begin, True)
                position = search = end
                continue
            match = _MARKUP.match(visible, begin)
            if match is None:
                search = candidate.end()
                continue
            start, search = match.span()
            kind = match.lastgroup
            if kind in ("comment", "bogus", "line", "block", "raised", "tag"):
                rest = {"comment": _COMMENT_REST, "bogus": _BOGUS_REST}.get(kind, _TAG_REST)
                closing = rest.match(visible, search) if quoted or kind == "comment" else None
                if closing is None:  # nor is there an end for any other further on that is read so
                    quoted = False
                    closing = _SIMPLE_REST.match(visible, search)
                if closing is None:  # no more than a "<"
                    continue
                search = closing.end()
                if (
                    kind != "comment"
                    and _HIDING.match(visible, start, search)
                    and not _PICTURE_STYLE.match(visible, start, search)
                ):
                    self.hiding.append((start, search))
            show(message[position:start], position, start, True)
            position = search
            if kind in _SHOWN_AS:
                show(_SHOWN_AS[kind], start, search)
            elif kind == "tag" and (alt := _ALT.match(visible, start, search)):
                show(f" {html.unescape(alt[1])} ", start, search)
            elif kind == "escaped":
                show(match["escaped"][1], start, search)
            elif kind == "latex":
                show(_latex()[match["latex"].lower()], start, search)
            elif kind == "raised" and visible[search : search + 1] not in ("", "[", "*", "†", "‡", "<", " "):
                show("^", start, search)  # a power, no mark of a footnote
            elif kind is None:
                decoded = "".join(char for char in html.unescape(match[0]) if not _is_unseen(char))
                show(decoded, start, search)
                if any(map(is_numeral, decoded)):
                    self.numerals.append((start, search))
        show(message[position:], position, len(message), True)
        self.text = "".join(parts)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the place in the message of the characters ``start`` to ``end`` of the view."""
        return self._source(start)[0], self._source(end - 1)[1]

    def _source(self, place: int) -> tuple[int, int]:
        piece = bisect_right(self._begins, place) - 1
        first, last, alone = self._sources[piece]
        if alone:
            first += place - self._begins[piece]
            last = first + 1
        return first, last

    def find(self, position: int) -> int | None:
        """Return the place in the view of the character at ``position`` of the message; ``None`` if it is not shown."""
        piece = bisect_right(self._sources, position, key=lambda source: source[0]) - 1
        if piece < 0 or position >= self._sources[piece][1]:
            return None
        first, _, alone = self._sources[piece]
        return self._begins[piece] + position - first if alone else None
