"""Suppressions in files that are no Python: ``{# gllint: … #}``, ``<!-- gllint: … -->``, in YAML ``# gllint: …``.

Such a comment covers its own line; alone on its lines, the next one that contains anything else; in YAML, where a
text begins on that line, of all of the text. Plain text and JSON have no comments.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from msgspec.structs import replace

from gllint.files.source import Change, Offsets
from gllint.verdict.statements import END, Position, Range
from gllint.verdict.suppress import Comments, Suppression, Unreadable
from gllint_rules import Edit, Finding
from gllint_rules.reading.data_files import UnreadableData, leaves, read_yaml
from gllint_rules.tuples import NamedTuple
from gllint_rules.words.text_files import text_kind

_MARKUP = re.compile(r"\{#|<!--(?=\s*gllint:)")
_CLOSING = {"{#": "#}", "<!--": "-->"}
_YAML = re.compile(r"(?:(?<=\s)|^)#[^\r\n]*", re.MULTILINE)
_EXAMPLES = {
    "yaml": "# gllint: ignore[GL401] reason",
    "jinja": "{# gllint: ignore[GL401] reason #}",
    "markup": "<!-- gllint: ignore[GL401] reason -->",
}


class _Comment(NamedTuple):
    """A comment between two offsets, and its text, after a ``#`` with the characters in place."""

    begin: int
    end: int
    text: str


class TextComments(Comments):
    """The suppressions of a file that is no Python."""

    def __init__(self, path: str, source: str) -> None:
        super().__init__(source)
        self.kind = text_kind(path) or "plain"
        self._offsets = Offsets(source)

    @cached_property
    def _whole(self) -> list[_Comment]:
        if self.kind == "yaml":
            return list(self._in_yaml())
        return list(self._in_markup()) if self.kind in ("jinja", "markup") else []

    def _in_markup(self) -> Iterator[_Comment]:
        """Yield the comments of Jinja (``{# … #}``) and HTML (``<!-- … -->``)."""
        position, unclosed = 0, set[str]()
        while (opening := _MARKUP.search(self.source, position)) is not None:
            sign, begin = opening.group(), opening.start()
            # Each sign is searched to the end in vain only once: else many of them would take quadratic time.
            close = -1 if sign in unclosed else self.source.find(_CLOSING[sign], opening.end())
            position = opening.end()
            if close < 0:
                unclosed.add(sign)
                continue
            # As a comment of Python, in which each character keeps its column.
            inside = " " * (len(sign) - 1) + "#" + self.source[position:close].rstrip()
            yield _Comment(begin, close + len(_CLOSING[sign]), inside)
            position = close

    def _in_yaml(self) -> Iterator[_Comment]:
        """Yield the comments of YAML; a ``#`` within a text is none."""
        texts = self._texts
        if texts is None:
            return
        for match in _YAML.finditer(self.source):
            number = bisect_right(texts, (match.start(), END)) - 1
            if number < 0 or texts[number][1] <= match.start():
                yield _Comment(match.start(), match.end(), match.group())

    @cached_property
    def _texts(self) -> list[tuple[int, int]] | None:
        """The places of YAML's texts, in which ``#`` begins no comment; ``None`` if the file cannot be read."""
        try:
            places = [(leaf.begin, leaf.end) for leaf in leaves(read_yaml(self.source))]
        except UnreadableData:
            return None
        # A comment may be behind the sign that begins a text of several lines.
        return sorted(
            (max(self.source.find("\n", begin, end), begin), end)
            if self.source[begin] in "|>"
            else (begin, end)
            for begin, end in places
            if begin < end
        )

    @cached_property
    def comments(self) -> list[tuple[int, int, str]]:
        return [(*self._offsets.place(comment.begin), comment.text) for comment in self._whole]

    @cached_property
    def first_statement(self) -> int:
        return 1

    def row(self, line: int) -> tuple[int, int]:
        return line, line

    def position(self, finding: Finding) -> Position:
        return finding.span.line, finding.span.column - 1

    def is_off_for_flake8(self) -> bool:
        return False

    @cached_property
    def _by_line(self) -> dict[int, tuple[int, int]]:
        """For each line on which a comment begins its last line and, there, the column behind it."""
        places = (
            (self._offsets.place(comment.begin)[0], self._offsets.place(comment.end))
            for comment in self._whole
        )
        return dict(places)

    def _cover(self, suppression: Suppression, line: int, column: int) -> None:
        """Let a comment cover its own line, or the next one if it is alone on its line."""
        first = line
        if self._is_alone(line, column) and not self._rest(line).strip():
            first = self._next_line(line)
        if not first:
            return
        last = self._last_line(first)
        suppression.ranges.append(Range((first, 0), (last + 1, 0)))

    def _rest(self, line: int) -> str:
        """Return what follows the comment that begins on a line."""
        last, column = self._by_line.get(line, (line, 1))
        return self.lines[last - 1][column - 1 :] if last <= len(self.lines) else ""

    @cached_property
    def _next_lines(self) -> list[int]:
        """For each line the first from there on that has content, neither empty nor a comment alone.

        0 if none follows.
        """
        next_lines = [0] * (len(self.lines) + 2)
        inside = {
            line
            for first, (last, _) in self._by_line.items()
            if _begins_with_comment(self.lines[first - 1]) and not self._rest(first).strip()
            for line in range(first, last + 1)
        }
        for line in range(len(self.lines), 0, -1):
            is_said = bool(self.lines[line - 1].strip()) and line not in inside
            next_lines[line] = line if is_said else next_lines[line + 1]
        return next_lines

    def _next_line(self, line: int) -> int:
        """Return the next line behind the comment on one that is neither empty nor a comment alone.

        0 if there is none.
        """
        behind = self._by_line.get(line, (line, 1))[0] + 1
        return self._next_lines[behind] if behind < len(self._next_lines) else 0

    def _last_line(self, first: int) -> int:
        """Return the last line of the texts that begin on line ``first``: a YAML text may go on over several."""
        if self.kind != "yaml" or not self._texts:
            return first
        begin, end = self._offsets.at(first, 1), self._offsets.at(first + 1, 1)
        number = bisect_right(self._texts, (begin, -1))
        last = first
        while number < len(self._texts) and self._texts[number][0] < end:
            last = max(last, self._offsets.place(max(self._texts[number][1] - 1, begin))[0])
            number += 1
        return last

    def first_line(self, line: int) -> int:
        """Return the first line of the text on a line: in YAML a text may have several."""
        if self.kind != "yaml" or not self._texts:
            return line
        number = bisect_right(self._texts, (self._offsets.at(line, 1), END)) - 1
        is_within = number >= 0 and self._offsets.at(line, 1) < self._texts[number][1]
        return self._offsets.place(self._texts[number][0])[0] if is_within else line

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a place."""
        return self._offsets.at(line, column)

    def _reach(self, line: int, column: int) -> tuple[int, int]:
        return line, END

    def removal(self, suppression: Suppression, unused: Sequence[str]) -> Edit:
        kept = [code for code in suppression.codes or () if code not in unused]
        begin = self._offsets.at(suppression.span.line, suppression.span.column)
        whole = next((comment for comment in self._whole if comment.begin <= begin < comment.end), None)
        if kept or whole is None or whole.text.count("gllint:") > 1:
            return super().removal(suppression, unused)
        return self.without(*self._offsets.place(whole.begin), *self._offsets.place(whole.end))

    def unreadable(self, require_reason: bool) -> list[Unreadable]:
        """Return the malformed comments, each with an example in the syntax of this file."""
        example = _EXAMPLES.get(self.kind, "")
        return [
            replace(
                wrong,
                suggestion="",
                help=f"Write `{example}`." if wrong.help.startswith("Write ") else wrong.help,
            )
            for wrong in super().unreadable(require_reason)
        ]


def suppressing_text(path: str, source: str, findings: Iterable[Finding]) -> list[Change]:
    """Return the changes that suppress the findings of a file that is no Python.

    ``[]`` for a format without comments.
    """
    comments = TextComments(path, source)
    form = _FORMS.get(comments.kind)
    wanted: dict[int, set[str]] = {}
    for finding in findings:
        if form is not None and not finding.code.startswith("GL9"):
            wanted.setdefault(comments.first_line(finding.span.line), set()).add(finding.code)
    changes: list[Change] = []
    for line, codes in sorted(wanted.items()):
        text = (form or "{}").format(", ".join(sorted(codes)))
        if comments.kind == "yaml":  # what follows a line of YAML may be a text
            indent = comments.lines[line - 1][
                : len(comments.lines[line - 1]) - len(comments.lines[line - 1].lstrip())
            ]
            start = comments.offset(line, 1)
            changes.append((start, start, f"{indent}{text}\n"))
        else:
            end = comments.offset(line, len(comments.lines[line - 1]) + 1)
            changes.append((end, end, f" {text}"))
    return changes


_FORMS = {
    "yaml": "# gllint: ignore[{}]",
    "jinja": "{{# gllint: ignore[{}] #}}",
    "markup": "<!-- gllint: ignore[{}] -->",
}


def _begins_with_comment(text: str) -> bool:
    return text.lstrip().startswith(("{#", "<!--", "#"))


def comments_of(path: str, source: str) -> Comments:
    """Return the suppressions of a text, as the kind of file at ``path`` has them."""
    return Comments(source) if text_kind(path) is None else TextComments(path, source)
