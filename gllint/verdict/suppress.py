"""Suppressions: the comments, what each covers, and which findings they remove.

One that takes away nothing is GL901, one that cannot be read GL902.

``# noqa: GL401`` and ``# gllint: ignore[GL401] reason`` cover a statement if they are on its first or last line or on a
line of their own above it, and an element in its brackets if they are on or above that; of a compound statement they
cover the header alone. ``# gllint: ignore-file[GL3]`` must be above the first statement
or within the first ten lines. ``# gllint: disable[GL101] reason`` lasts to ``# gllint: enable[GL101]`` or the end of
the block. Between the brackets are codes, prefixes of codes and names of rules. Any other comment that begins with
``gllint:`` is reported. What a text says is no comment.
"""

from __future__ import annotations

import io
import re
import token
import tokenize
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from msgspec import Struct, field
from msgspec.structs import replace

from gllint.errors import nearest
from gllint.files.source import split_lines
from gllint.verdict.statements import END, Position, Range, Statement, Statements
from gllint_rules import RULES, Edit, Finding, Fix, Span
from gllint_rules.tuples import NamedTuple

# What flake8 reads as a suppression, and a code list of which the reason that may follow is no part.
_CODES = r"[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*"
_NOQA_OF_FLAKE8 = re.compile(rf"#\s*noqa(?::\s?(?P<codes>{_CODES}))?", re.IGNORECASE)
# What suppresses here, as in ruff: behind a colon codes alone, and no code without a colon. flake8 takes what it cannot
# read for a suppression of everything.
NOQA = re.compile(
    rf"#\s*noqa(?:\s*:\s*(?P<codes>{_CODES})(?!\w)|(?![^\S\r\n]*:|\w|[^\w#]*(?-i:[A-Z]+[0-9]+)(?!\w)))",
    re.IGNORECASE,
)
_NOQA_START = re.compile(r"#\s*noqa", re.IGNORECASE)
_FIRST_WORD = re.compile(r"#\s*noqa\s*:\s*(?P<word>\w+)", re.IGNORECASE)
_NEXT_WORD = re.compile(r"[,\s]+(?P<word>\w+)")
_LIKE_OURS = re.compile(r"\b(?:GL|(?i:GL)\w*\d\w*)\b")  # a code of ours, or what is to pass for one
# Where another comment begins behind one: not at the number of an issue.
_NEXT = re.compile(r"(?<!\S)#\s*(?=[^\W\d])")
_OWN = re.compile(r"#\s*gllint:\s*", re.IGNORECASE)
_FORM = re.compile(
    r"(?P<kind>ignore(?:-file)?|disable|enable)\s*\[(?P<words>[^\]\[]*)\](?P<reason>.*)",
    re.IGNORECASE | re.DOTALL,
)
_SELECTOR = re.compile(r"[A-Z]{2,}[0-9]*")
_REASON = re.compile(r"\w")
_BEGINNING = re.compile(r"[^\s:;,.\u2013\u2014-]")  # of a reason, where there is one
_FLAKE8_FILE = re.compile(r"# flake8[:=]\s*noqa", re.IGNORECASE)
_OURS = re.compile(r"GL[0-9]*$")
_MENTION = re.compile(r"noqa|gllint:", re.IGNORECASE)
_NEAR_TOP = 10


class Suppression(Struct, eq=False):
    """One comment, or the part of it that suppresses: ``codes``, ``None`` for all, as written in ``words``.

    It covers its ``ranges`` and its ``rows`` of physical lines; one that disables, of the
    ``regions`` that it has for each code. ``statements`` are those that it belongs to. ``used`` are those of its
    codes that suppressed something.
    """

    span: Span
    codes: tuple[str, ...] | None
    form: str
    misplaced: bool = False
    words: tuple[str, ...] = ()
    ranges: list[Range] = field(default_factory=list)
    rows: list[tuple[int, int]] = field(default_factory=list)
    statements: list[Range] = field(default_factory=list)
    used: set[str] = field(default_factory=set)


class Region(NamedTuple):
    """The lines in which a code is disabled, and by what; ``selector`` is what that has for the code."""

    first: int
    last: int
    suppression: Suppression
    selector: str


class Unreadable(Struct, frozen=True, eq=False):
    """A comment of ours, or a part of one, that suppresses nothing: what is wrong with it, and what may be meant."""

    span: Span
    message: str
    help: str
    suggestion: str = ""
    readable_part: Suppression | None = None  # what of the same comment can be read


def may_suppress(source: str) -> bool:
    """Say quickly whether a text may contain a suppression."""
    return bool(_MENTION.search(source))


class Comments:
    """The suppressions of one source text."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.regions: dict[str, list[Region]] = defaultdict(list)  # by code, in order, once read

    @cached_property
    def lines(self) -> list[str]:
        """The physical lines, without their endings."""
        return split_lines(self.source)

    def ends(self, line: int) -> bool:
        """Say whether a line has an ending: all have but the last one of a text that is cut off."""
        return line < len(self.lines) or self.source.endswith(("\n", "\r"))

    @cached_property
    def _tokens(self) -> list[tokenize.TokenInfo]:
        """The tokens of the source, up to the first that Python cannot read."""
        # tokenize wants "\n"; a lone "\r" would otherwise not end a line.
        text = "".join(line + "\n" for line in self.lines)
        tokens: list[tokenize.TokenInfo] = []
        try:
            tokens.extend(tokenize.generate_tokens(io.StringIO(text).readline))
        except (tokenize.TokenError, SyntaxError):
            return tokens
        return tokens

    @cached_property
    def logical_lines(self) -> dict[int, tuple[int, int]]:
        """The first and last line of each physical line's logical line, as flake8 sees it: ``{1: (1, 2), 2: (1, 2)}``.

        That joins continuations with a backslash and the lines of one text, not those of a bracket.
        """
        ranges: dict[int, tuple[int, int]] = {}
        first = 0
        for lexeme in self._tokens:
            first, last = first or lexeme.start[0], lexeme.end[0]
            if lexeme.type in (token.NL, token.NEWLINE):
                ranges.update(dict.fromkeys(range(first, last + 1), (first, last)))
                first = 0
        return ranges

    def position(self, finding: Finding) -> Position:
        """Return where a finding begins, or the end of the statement if the finding is in the comment behind it."""
        line = finding.span.line
        body = self.lines[line - 1] if line <= len(self.lines) else ""
        position = line, max(finding.span.column - 1, len(body) - len(body.lstrip()))
        statement = self.statements.at(position)
        if statement is None or position < statement.range.end:
            return position
        last, column = statement.range.end
        return last, column - 1

    @cached_property
    def comments(self) -> list[tuple[int, int, str]]:
        """Each comment: line, column (1-based), text. Where the text does not tokenize, none is sure."""
        return [(t.start[0], t.start[1] + 1, t.string) for t in self._tokens if t.type == token.COMMENT]

    @cached_property
    def first_statement(self) -> int:
        """The line of the first statement that is not the docstring; one more than the last line if there is none."""
        begun = False
        for lexeme in self._tokens:
            if lexeme.type in (token.COMMENT, token.NL, token.NEWLINE, tokenize.ENCODING):
                continue
            if lexeme.type == token.STRING and not begun:
                begun = True
                continue
            return lexeme.start[0]
        return len(self.lines) + 1

    @cached_property
    def statements(self) -> Statements:
        """The statements of the text."""
        return Statements(self._tokens)

    @cached_property
    def suppressions(self) -> list[Suppression]:
        """The comments that suppress, in order, each with the lines or ranges that it covers."""
        results: list[Suppression] = []
        for line, column, text in self.comments:
            on_line = [
                Suppression(_span(line, column, match), _split(match["codes"] or "") or None, "noqa")
                for _, match in _noqas(text)
                if match is not None
            ]
            on_line += [
                suppression for suppression, _ in self._own_of(line, column, text) if suppression is not None
            ]
            for suppression in on_line:
                if suppression.form in ("disable", "enable"):
                    self._switch(suppression, line, column)
                elif suppression.form != "ignore-file":
                    self._cover(suppression, line, column)
            results += on_line
        return results

    def _is_alone(self, line: int, column: int) -> bool:
        """Say whether nothing is before a comment on its line."""
        return not self.lines[line - 1][: column - 1].strip()

    def row(self, line: int) -> tuple[int, int]:
        """Return the first and last physical line of what flake8 takes for one line."""
        return self.logical_lines.get(line, (line, line))

    def _cover(self, suppression: Suppression, line: int, column: int) -> None:
        """Set what a comment covers: the statement or elements on its line, or, alone on its line, what follows."""
        suppression.rows.append(self.row(line))
        if not self._is_alone(line, column):
            for statement in self.statements.on(line):
                is_edge = statement.range.meets(line)
                suppression.ranges += [statement.range] if is_edge else statement.elements_on(line)
                suppression.statements += self._places_of(statement)
        elif (open_statement := self.statements.open_at(line)) is not None:
            following = self._next_code[line]
            suppression.ranges += open_statement.elements_from(following)
            if not suppression.ranges:
                suppression.rows.append(self.row(following))
            suppression.statements.append(open_statement.range)
        elif (next_statement := self.statements.first_after(line)) is not None:
            suppression.ranges.append(self.statements.whole(next_statement))
            suppression.statements += suppression.ranges

    def _places_of(self, statement: Statement) -> list[Range]:
        """Return the ranges that a comment behind ``statement`` silences: the statement, and a header right in
        front of it.

        A formatter breaks `class A: x = 1  # gllint: ignore` into two lines, so that the comment is behind `x = 1`.
        """
        previous = self.statements.last_before(statement.range.begin[0])
        places = [self.statements.whole(statement)]
        return [previous.range, *places] if previous is not None and previous.is_header else places

    def _switch(self, suppression: Suppression, line: int, column: int) -> None:
        """Open the region of lines in which a ``disable`` comment switches its codes off, or end it at an
        ``enable``.
        """
        first, last = self._reach(line, column)
        for selector in suppression.codes or ():
            for code in RULES:
                if not code.startswith(selector):
                    continue
                regions = self.regions[code]
                is_open = bool(regions) and regions[-1].last >= first
                if suppression.form == "disable" and not is_open:
                    regions.append(Region(first, last, suppression, selector))
                elif suppression.form == "enable" and is_open:
                    regions[-1] = regions[-1]._replace(last=first - 1)
                    suppression.used.add(selector)

    def _reach(self, line: int, column: int) -> tuple[int, int]:
        """Return the first and last line that a ``disable`` reaches: to the end of its block, or of the body below
        its header.
        """
        statements = self.statements
        on_the_line = [] if self._is_alone(line, column) else statements.on(line)
        if on_the_line:  # else a `;` may be there by itself
            statement = on_the_line[0]
            first = statement.range.begin[0]
            return first, statements.body_end(statement) if statement.is_header else statements.block_end(
                statement, statement.indent
            )
        open_statement, next_statement, previous = (
            statements.open_at(line),
            statements.first_after(line),
            statements.last_before(line),
        )
        if open_statement is not None:
            return line, statements.block_end(open_statement, open_statement.indent)
        if next_statement is None:
            return line, END
        column = len(self.lines[line - 1][: column - 1].expandtabs())
        # A formatter moves a comment to the indentation of what is around it.
        deepest = max(next_statement.indent, previous.indent if previous is not None else 0)
        return line, statements.block_end(next_statement, min(max(column, next_statement.indent), deepest))

    def unreadable(self, require_reason: bool) -> list[Unreadable]:
        """Return the comments of gllint that are malformed, name an unknown code, or lack a required reason.

        Also each noqa with a word that looks like a code of ours but is none: ``# noqa: GL10X``.
        """
        suppressions = {
            (suppression.span, suppression.form): suppression
            for suppression in self.suppressions
            if suppression.form != "noqa"
        }
        results: list[Unreadable] = []
        for line, column, text in self.comments:
            results += _unread_noqas(line, column, text)
            for suppression, wrong in self._own_of(line, column, text):
                needs_reason = require_reason and suppression is not None and suppression.form != "enable"
                if (
                    wrong is None
                    and suppression is not None
                    and needs_reason
                    and not own_reason(text, column, suppression)
                ):
                    message = "this suppression has no reason"
                    wrong = Unreadable(suppression.span, message, "Write the reason after the brackets.")
                if wrong is not None:
                    readable_part = (
                        suppressions.get((suppression.span, suppression.form))
                        if suppression is not None
                        else None
                    )
                    results.append(replace(wrong, readable_part=readable_part))
        return results

    def is_off_for_flake8(self) -> bool:
        """Say whether a ``# flake8: noqa`` turns the whole file off; to flake8, codes behind it mean nothing."""
        return "flake8" in self.source.lower() and any(
            _FLAKE8_FILE.match(text) and self._is_alone(line, column) for line, column, text in self.comments
        )

    def flake8_hides(self, finding: Finding) -> bool:
        """Say whether flake8 takes a text next to a finding for a noqa: it looks for no comment."""
        first, last = self.row(finding.span.line)
        matches = _NOQA_OF_FLAKE8.finditer("\n".join(self.lines[first - 1 : last]))
        return any(not match["codes"] or finding.code.startswith(_split(match["codes"])) for match in matches)

    def _own_of(
        self, line: int, column: int, text: str
    ) -> Iterator[tuple[Suppression | None, Unreadable | None]]:
        """Yield for each ``gllint:`` in a comment the suppression in it, if it can be read, and what is wrong with
        it, if so.
        """
        for match in _OWN.finditer(text):
            rest = text[match.end() : _upto_next(text, match.end())]
            form = _FORM.match(rest)
            if form is None:
                end = len((text[: match.end()] + rest).rstrip())
                yield None, _no_form(Span(line, column + match.start(), line, column + end), rest)
                continue
            end = match.end() + form.end("words") + 1
            span = Span(line, column + match.start(), line, column + end)
            words = [word for word in re.split(r"[,\s]+", form["words"]) if word]
            pairs = [(code, word) for word in words if (code := _selector(word)) is not None]
            codes, written = tuple(code for code, _ in pairs), tuple(word for _, word in pairs)
            wrong = _not_codes(span, words)
            if not codes:
                yield None, wrong
            elif form["kind"].lower() == "ignore-file":
                near = line <= _NEAR_TOP or line < self.first_statement
                yield Suppression(span, codes, "ignore-file", misplaced=not near, words=written), wrong
            else:
                yield Suppression(span, codes, form["kind"].lower(), words=written), wrong

    def removal(self, suppression: Suppression, unused: Sequence[str]) -> Edit:
        """Return the edit that takes the codes ``unused`` out of a comment, or all of it if no other code is in it.

        ``# gllint: ignore[GL101, GL104]`` without GL104 → ``# gllint: ignore[GL101]``.
        """
        span = suppression.span
        line = self.lines[span.line - 1]
        written = suppression.words or suppression.codes or ()
        words = [
            word for code, word in zip(suppression.codes or (), written, strict=True) if code not in unused
        ]
        if words:
            return Edit(span, _with_codes(line[span.column - 1 : span.end_column - 1], words))
        rest = line[span.end_column - 1 :]
        next_one = _upto_next(rest, 0)
        comment = rest[:next_one] if suppression.form == "noqa" else ""
        reason = _BEGINNING.search(comment) if _REASON.search(comment) else None
        if reason is not None:  # what follows a noqa is a comment of its own
            return Edit(Span(span.line, span.column, span.line, span.end_column + reason.start()), "# ")
        if next_one < len(rest):
            return Edit(Span(span.line, span.column, span.line, span.end_column + next_one), "")
        return self.without(span.line, span.column, span.line, len(line) + 1)

    def without(self, line: int, column: int, end_line: int, end_column: int) -> Edit:
        """Return the edit that removes a comment, with its lines if nothing else is on them."""
        start = len(self.lines[line - 1][: column - 1].rstrip()) + 1
        rest = self.lines[end_line - 1][end_column - 1 :]
        if start > 1 or rest.strip():
            return Edit(Span(line, column if rest.strip() else start, end_line, end_column), "")
        ending = self.ends(end_line)
        end = (end_line + 1, 1) if ending else (end_line, len(self.lines[end_line - 1]) + 1)
        return Edit(Span(line, 1, *end), "")

    @cached_property
    def _next_code(self) -> list[int]:
        """For each line, counted from 1, the next one below it that contains code; 0 where none does."""
        next_lines = [0] * (len(self.lines) + 1)
        for line in range(len(self.lines) - 1, -1, -1):
            next_lines[line] = line + 1 if _is_code(self.lines[line]) else next_lines[line + 1]
        return next_lines


def _noqas(text: str) -> Iterator[tuple[int, re.Match[str] | None]]:
    """Yield where a comment has a noqa, and how that is read; ``None``: not at all, so that it suppresses nothing."""
    for begin in _NOQA_START.finditer(text):
        yield begin.start(), NOQA.match(text, begin.start())


def _unread_noqas(line: int, column: int, text: str) -> Iterator[Unreadable]:
    """Yield what is wrong with the noqas of a comment that seem meant for us: ``# noqa: GL10X``, ``# noqa GL101``."""
    for start, match in _noqas(text):
        begin = match.end() if match is not None else start
        word = (_NEXT_WORD if match is not None else _FIRST_WORD).match(text, begin)
        is_word = word is not None and _LIKE_OURS.fullmatch(word["word"]) is not None
        if word is not None and is_word and _selector(text[slice(*word.span("word"))]) is None:
            first, end = word.span("word")
            span = Span(line, column + first, line, column + end)
            yield from filter(None, (_not_codes(span, [text[first:end]]),))
        elif match is None:
            rest = text[start : _upto_next(text, start + 1)].rstrip()
            if _LIKE_OURS.search(rest) is not None:
                span = Span(line, column + start, line, column + start + len(rest))
                yield _no_form(span, rest.partition(":")[2] or rest)


def _upto_next(text: str, start: int) -> int:
    """Return where the next comment within one begins from ``start`` on, else its end."""
    following = _NEXT.search(text[start:])
    return start + following.start() if following is not None else len(text)


def own_reason(text: str, column: int, suppression: Suppression) -> bool:
    """Say whether a reason follows in a comment that begins at ``column``."""
    start = suppression.span.end_column - column
    return _REASON.search(text[start : _upto_next(text, start)]) is not None


def _selector(word: str) -> str | None:
    """Return the code or prefix that a word between the brackets represents, ``None`` if there is none."""
    upper = word.upper()
    if _SELECTOR.fullmatch(upper) and any(code.startswith(upper) for code in RULES):
        return upper
    return RULES.code_named(word.lower())


def _not_codes(span: Span, words: Sequence[str]) -> Unreadable | None:
    """Return what is wrong with the codes of a suppression.

    Example: "`GL10X` is not a code of gllint"; ``None`` if nothing is.
    """
    unknown = [word for word in words if _selector(word) is None]
    if words and not unknown:
        return None
    help_text = "`gllint rule` lists the codes and names."
    if not words:
        return Unreadable(span, "this suppression has no code", help_text)
    hint = nearest(unknown[0], [*RULES, *RULES.by_name])
    if hint:
        help_text = f"D{hint.removeprefix('; d')} {help_text}"
    listed = ", ".join(f"`{word}`" for word in unknown)
    return Unreadable(span, f"{listed} is not a code of gllint", help_text)


def _no_form(span: Span, rest: str) -> Unreadable:
    """Return what is wrong with a comment that has no brackets, or no verb, that we know."""
    named = [word for word in re.split(r"[^\w-]+", rest) if _selector(word) not in (None, "GL")]
    suggestion = f"# gllint: ignore[{', '.join(named)}]" if named else ""
    form = suggestion or "# gllint: ignore[GL401] reason"
    message = "this suppression is malformed and has no effect"
    return Unreadable(span, message, f"Write `{form}`.", suggestion)


def _is_code(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def apply(
    path: str,
    comments: Comments,
    findings: Sequence[Finding],
    codes: frozenset[str],
    *,
    noqa: bool = True,
    require_reason: bool = False,
    is_judged: Callable[[Suppression, Sequence[str]], bool] = lambda suppression, codes: True,
) -> tuple[Finding, ...]:
    """Return the findings that no comment suppresses, and one for each comment that suppresses nothing.

    That is a GL901 where it could, a GL902 where it cannot be read, names an unknown code or, with
    ``require_reason``, gives no reason. ``codes`` are those in force in the file. ``noqa=False`` leaves the noqa
    comments aside (flake8's ``--disable-noqa``). ``is_judged`` is asked of each comment and those of its codes
    that suppress nothing here: whether everything was read that could say otherwise.
    """
    if noqa and comments.is_off_for_flake8():
        return ()
    considered = [s for s in comments.suppressions if noqa or s.form != "noqa"]
    verdicts = _Verdicts(comments, considered)
    results = [finding for finding in findings if not verdicts.suppress(finding)]
    # A suppression that is unused or wrong does not suppress the word of it.
    if "GL902" in codes:
        invalid = [
            (_invalid(path, wrong), wrong.readable_part) for wrong in comments.unreadable(require_reason)
        ]
        results += [finding for finding, about in invalid if not verdicts.suppress(finding, about)]
    if "GL901" in codes:
        unused = list(_unused(path, comments, considered, codes, findings, is_judged))
        results += [finding for finding, about in unused if not verdicts.suppress(finding, about)]
    return tuple(results)


def _invalid(path: str, wrong: Unreadable) -> Finding:
    fix = None
    if wrong.suggestion:
        fix = Fix("unsafe", f"Write `{wrong.suggestion}`", (Edit(wrong.span, wrong.suggestion),))
    return Finding("GL902", path, wrong.span, wrong.message, wrong.help, fix)


class _Ranges:
    """Ranges that are nested or apart, with the suppressions that cover each."""

    def __init__(self, suppressions: Iterable[Suppression]) -> None:
        """Sort the ranges of the suppressions, and note for each the one around it."""
        by_range: dict[Range, list[Suppression]] = defaultdict(list)
        for suppression in suppressions:
            for place in dict.fromkeys(suppression.ranges):
                by_range[place].append(suppression)
        self._ranges = sorted(by_range, key=lambda place: (place.begin, (-place.end[0], -place.end[1])))
        self._suppressions = [by_range[place] for place in self._ranges]
        self._parents: list[int] = []
        waiting: list[int] = []
        for number, place in enumerate(self._ranges):
            while waiting and self._ranges[waiting[-1]].end < place.end:
                waiting.pop()
            self._parents.append(waiting[-1] if waiting else -1)
            waiting.append(number)

    def at(self, position: Position) -> Iterator[tuple[Range, list[Suppression]]]:
        """Yield each range that contains a position, with its suppressions."""
        number = bisect_right(self._ranges, position, key=lambda place: place.begin) - 1
        while number >= 0:
            if self._ranges[number].holds(position):
                yield self._ranges[number], self._suppressions[number]
            number = self._parents[number]


class _Verdicts:
    """The suppressions of a file; they remember which of their codes were used.

    Each is looked at once for a place and a code, however many findings there are.
    """

    def __init__(self, comments: Comments, considered: Sequence[Suppression]) -> None:
        """Sort the suppressions by what they cover: the file, rows of lines, ranges."""
        self._comments = comments
        self._regions = comments.regions
        self._whole = [suppression for suppression in considered if suppression.form == "ignore-file"]
        self._rows: dict[tuple[int, int], list[Suppression]] = defaultdict(list)
        for suppression in considered:
            for row in suppression.rows:
                self._rows[row].append(suppression)
        self._ranges = _Ranges(considered)
        self._applicable: dict[tuple[object, str], list[Suppression]] = {}
        self._used: dict[tuple[object, str], Suppression | None] = {}  # by all but this one

    def suppress(self, finding: Finding, about: Suppression | None = None) -> bool:
        """Return whether a comment suppresses a finding, and note that its code was used.

        ``about`` is the comment that the finding reports: only a ``noqa`` can suppress that.
        """
        code, row = finding.code, self._comments.row(finding.span.line)
        groups: list[tuple[object, list[Suppression]]] = [("whole", self._whole)]
        groups.append((row, self._rows.get(row, [])))
        groups += self._ranges.at(self._comments.position(finding))
        suppressed = False
        for key, suppressions in groups:
            suppressed |= self._use((key, code), suppressions, about)
        region = self._region(finding)
        if region is not None and region.suppression is not about:
            region.suppression.used.add(region.selector)
            suppressed = True
        return suppressed

    def _use(
        self, at: tuple[object, str], suppressions: list[Suppression], about: Suppression | None
    ) -> bool:
        """Return whether one of ``suppressions`` applies to a finding ``at`` a place and code, and note that it
        was used.
        """
        code = at[1]
        if at not in self._applicable:
            self._applicable[at] = [s for s in suppressions if _speaks_of(s, code)]
        applicable = self._applicable[at]
        if at not in self._used or self._used[at] not in (None, about):
            for suppression in applicable:
                if suppression is not about:
                    suppression.used.update(c for c in suppression.codes or () if code.startswith(c))
            self._used[at] = about if at not in self._used else None
        return any(suppression is not about or suppression.form == "noqa" for suppression in applicable)

    def _region(self, finding: Finding) -> Region | None:
        regions, line = self._regions.get(finding.code, []), finding.span.line
        number = bisect_right(regions, line, key=lambda region: region.first) - 1
        return regions[number] if number >= 0 and line <= regions[number].last else None


def _speaks_of(suppression: Suppression, code: str) -> bool:
    return not suppression.misplaced and (suppression.codes is None or code.startswith(suppression.codes))


def _unused(
    path: str,
    comments: Comments,
    considered: Iterable[Suppression],
    codes: frozenset[str],
    findings: Iterable[Finding],
    is_judged: Callable[[Suppression, Sequence[str]], bool],
) -> Iterator[tuple[Finding, Suppression]]:
    """Yield a GL901 for each suppression that suppresses nothing, with that suppression."""
    places: dict[str, list[Position]] = defaultdict(list)
    for finding in findings:
        places[finding.code].append((finding.span.line, finding.span.column - 1))
    for code in places:
        places[code].sort()
    for suppression in considered:
        ours = [code for code in suppression.codes or () if _OURS.match(code)]
        unused = [code for code in ours if code not in suppression.used and _can_judge(code, codes)]
        unused = [code for code in unused if not _has_finding(suppression, code, places)]
        if unused and (suppression.form == "enable" or is_judged(suppression, unused)):
            yield _unused_finding(path, comments, suppression, unused), suppression


def _has_finding(suppression: Suppression, prefix: str, places: Mapping[str, Sequence[Position]]) -> bool:
    """Return whether a finding of a code is in one of the statements that a comment belongs to."""
    return any(
        (number := bisect_left(positions, place.begin)) < len(positions) and positions[number] < place.end
        for code, positions in places.items()
        if code.startswith(prefix)
        for place in suppression.statements
    )


def _unused_finding(path: str, comments: Comments, suppression: Suppression, unused: list[str]) -> Finding:
    """Return the GL901 for the codes ``unused`` of a suppression, with the fix that removes them."""
    words = dict(zip(suppression.codes or (), suppression.words, strict=False))
    names = ", ".join(words.get(code, code) for code in unused)
    if suppression.misplaced:
        message = f"Suppression of {names} for the whole file has no effect below the first statement"
        help_text = "Move it above the first statement, or remove it."
    else:
        message = f"Unused suppression of {names}"
        help_text = "Remove it."
        if suppression.form == "enable":
            message = f"Nothing disables {names} here"
    fix = Fix("safe", "Remove the unused suppression", (comments.removal(suppression, unused),))
    return Finding("GL901", path, suppression.span, message, help_text, fix)


def _can_judge(prefix: str, codes: frozenset[str]) -> bool:
    """Say whether all that a selector names is in force, so that its silence means something."""
    named = [rule for code, rule in RULES.items() if code.startswith(prefix)]
    if prefix in RULES:
        return prefix in codes and prefix not in ("GL901", "GL902")
    return all(rule.code in codes for rule in named if rule.default)


def _with_codes(text: str, codes: Sequence[str]) -> str:
    head = re.match(r".*?(?:\[|:\s?)(?=[^:\[]*$)", text, re.DOTALL)
    assert head is not None
    return head.group() + ", ".join(codes) + ("]" if text.endswith("]") else "")


def _split(codes: str) -> tuple[str, ...]:
    return tuple(code.upper() for code in re.split(r"[,\s]+", codes) if code)


def _span(line: int, column: int, match: re.Match[str]) -> Span:
    return Span(line, column + match.start(), line, column + match.end())
