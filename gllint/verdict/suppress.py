"""Suppressions: which comments there are and what they take away.

One that takes away nothing is GL901, one that cannot be read GL902.

``# noqa: GL401`` works as in flake8: anywhere on the physical lines of a logical line, for the whole of it.
So does ``# gllint: ignore[GL401] reason``, which on a line of its own speaks of the line that follows.
``# gllint: ignore-file[GL3]`` must stand above the first statement or within the first ten lines. Between the
brackets stand codes, prefixes of codes and names of rules. Any other comment that begins with ``gllint:`` is reported.
"""

from __future__ import annotations

import io
import re
import token
import tokenize
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from gllint.errors import nearest
from gllint.files.source import split_lines
from gllint_rules import RULES, Edit, Finding, Fix, Span
from gllint_rules.records import Record, replace

# What flake8 reads as a suppression, and a code list of which the reason that may follow is no part.
_CODES = r"[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*"
NOQA = re.compile(rf"#\s*noqa(?::\s?(?P<codes>{_CODES}))?", re.IGNORECASE)
_OWN = re.compile(r"#\s*gllint:\s*(?P<rest>[^#]*)", re.IGNORECASE)
_FORM = re.compile(
    r"(?P<kind>ignore(?:-file)?)\s*\[(?P<words>[^\]\[]*)\](?P<reason>.*)", re.IGNORECASE | re.DOTALL
)
_SELECTOR = re.compile(r"[A-Z]{2,}[0-9]*")
_REASON = re.compile(r"\w")
_FLAKE8_FILE = re.compile(r"\s*# flake8[:=]\s*noqa", re.IGNORECASE)
_OURS = re.compile(r"GL[0-9]*$")
_MENTION = re.compile(r"noqa|gllint:", re.IGNORECASE)
_NEAR_TOP = 10
_MOST_ABOVE = 100  # lines between a comment and the code that it speaks of


class Suppression(Record):
    """One comment, or the part of it that suppresses. ``lines`` are the lines it speaks of, ends included.

    ``words`` are what is written for each of the ``codes``.
    """

    span: Span
    codes: tuple[str, ...] | None
    lines: tuple[int, int] | None
    form: str
    misplaced: bool = False
    used: set[str] | None = None
    words: tuple[str, ...] = ()


class Unreadable(Record, frozen=True):
    """A comment of ours, or a part of one, that suppresses nothing: what is wrong with it, and what may be meant."""

    span: Span
    message: str
    help: str
    meant: str = ""
    beside: Suppression | None = None  # what of the same comment can be read


def may_suppress(source: str) -> bool:
    """Say quickly whether a text may hold a suppression."""
    return bool(_MENTION.search(source))


class Comments:
    """The suppressions of one source text."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._noqa_codes: dict[tuple[int, int], list[tuple[str, ...] | None]] = {}

    @cached_property
    def lines(self) -> list[str]:
        """The physical lines, without their endings."""
        return split_lines(self.source)

    def ends(self, line: int) -> bool:
        """Say whether a line has an ending: all have but the last one of a text that is cut off."""
        return line < len(self.lines) or self.source.endswith(("\n", "\r"))

    @cached_property
    def _tokens(self) -> list[tokenize.TokenInfo]:
        # tokenize wants "\n"; a lone "\r" would otherwise not end a line.
        text = "".join(line + "\n" for line in self.lines)
        found: list[tokenize.TokenInfo] = []
        try:
            found.extend(tokenize.generate_tokens(io.StringIO(text).readline))
        except (tokenize.TokenError, SyntaxError):
            return found
        return found

    @cached_property
    def logical_lines(self) -> dict[int, tuple[int, int]]:
        """From a physical line to the first and last line of what flake8 takes for its logical line.

        That is a line with its continuations and the whole of a text that spans lines, not a bracket.
        """
        ranges: dict[int, tuple[int, int]] = {}
        first = last = 0
        for found in self._tokens:
            first = min(first or found.start[0], found.start[0])
            last = max(last, found.end[0])
            if found.type in (token.NL, token.NEWLINE):
                ranges.update(dict.fromkeys(range(first, last + 1), (first, last)))
                first = last = 0
        return ranges

    def line_for(self, line: int) -> int:
        """The line that a comment about ``line`` can stand on: not within a text nor before a continuation."""
        return self.logical_lines.get(line, (line, line))[1]

    @cached_property
    def comments(self) -> list[tuple[int, int, str]]:
        """Each comment: line, column (1-based), text. Where the text does not tokenize, none is sure."""
        return [(t.start[0], t.start[1] + 1, t.string) for t in self._tokens if t.type == token.COMMENT]

    @cached_property
    def first_statement(self) -> int:
        """The line of the first statement that is neither the docstring nor blank."""
        begun = False
        for found in self._tokens:
            if found.type in (token.COMMENT, token.NL, token.NEWLINE, tokenize.ENCODING):
                continue
            if found.type == token.STRING and not begun:
                begun = True
                continue
            return found.start[0]
        return len(self.lines) + 1

    @cached_property
    def suppressions(self) -> list[Suppression]:
        """Every comment that suppresses, in order."""
        found: list[Suppression] = []
        for line, column, text in self.comments:
            found += [self._noqa(line, column, text, match) for match in NOQA.finditer(text)]
            found += [own for own, _ in self._own_of(line, column, text) if own is not None]
        return found

    def unreadable(self, require_reason: bool) -> list[Unreadable]:
        """Every comment that begins with ``gllint:`` and cannot be read, names an unknown code, or lacks a reason."""
        known = {(own.span, own.form): own for own in self.suppressions if own.form != "noqa"}
        found: list[Unreadable] = []
        for line, column, text in self.comments:
            for own, wrong in self._own_of(line, column, text):
                if wrong is None and own is not None and require_reason and not own_reason(text, column, own):
                    said = "this suppression gives no reason"
                    wrong = Unreadable(own.span, said, "Say after the brackets why the finding may stay.")
                if wrong is not None:
                    beside = known.get((own.span, own.form)) if own is not None else None
                    found.append(replace(wrong, beside=beside))
        return found

    def is_off_for_flake8(self) -> bool:
        """Say whether a ``# flake8: noqa`` turns the whole file off; to flake8, codes behind it mean nothing."""
        return "flake8" in self.source.lower() and any(map(_FLAKE8_FILE.match, self.lines))

    def noqa_codes(self, line: int) -> list[tuple[str, ...] | None]:
        """What the noqa texts of a logical line say: their codes, ``None`` for a bare one."""
        lines = self.logical_lines.get(line, (line, line))
        if lines not in self._noqa_codes:
            joined = "\n".join(self.lines[lines[0] - 1 : lines[1]])
            found = [_split(match["codes"]) if match["codes"] else None for match in NOQA.finditer(joined)]
            self._noqa_codes[lines] = found
        return self._noqa_codes[lines]

    def _noqa(self, line: int, column: int, text: str, match: re.Match[str]) -> Suppression:
        codes = _split(match["codes"]) if match["codes"] else None
        lines = self.logical_lines.get(line, (line, line))
        return Suppression(_span(line, column, text, match), codes, lines, "noqa")

    def _own_of(
        self, line: int, column: int, text: str
    ) -> Iterator[tuple[Suppression | None, Unreadable | None]]:
        """For each part of a comment that begins with ``gllint:`` what of it can be read, and what cannot."""
        for match in _OWN.finditer(text):
            form = _FORM.match(match["rest"])
            if form is None:
                end = match.start() + len(match.group().rstrip())
                yield None, _no_form(Span(line, column + match.start(), line, column + end), match["rest"])
                continue
            end = match.start("rest") + form.end("words") + 1
            span = Span(line, column + match.start(), line, column + end)
            words = [word for word in re.split(r"[,\s]+", form["words"]) if word]
            pairs = [(code, word) for word in words if (code := _selector(word)) is not None]
            codes, written = tuple(code for code, _ in pairs), tuple(word for _, word in pairs)
            wrong = _not_codes(span, words)
            if not codes:
                yield None, wrong
            elif form["kind"].lower() == "ignore-file":
                near = line <= _NEAR_TOP or line < self.first_statement
                yield Suppression(span, codes, None, "ignore-file", misplaced=not near, words=written), wrong
            else:
                lines = self._own_lines(line, column)
                yield Suppression(span, codes, lines, "ignore", words=written), wrong

    @cached_property
    def _next_code(self) -> list[int]:
        """For each line, counted from 1, the next one below it that holds code; 0 where none does."""
        out = [0] * (len(self.lines) + 1)
        for line in range(len(self.lines) - 1, -1, -1):
            out[line] = line + 1 if _is_code(self.lines[line]) else out[line + 1]
        return out

    def _own_lines(self, line: int, column: int) -> tuple[int, int]:
        if self.lines[line - 1][: column - 1].strip():
            return self.logical_lines.get(line, (line, line))
        following = min(self._next_code[line] or line, line + _MOST_ABOVE)
        return (line, self.logical_lines.get(following, (following, following))[1])


def own_reason(text: str, column: int, own: Suppression) -> bool:
    """Say whether a reason follows in a comment that begins at ``column``."""
    return _REASON.search(text[own.span.end_column - column :].partition("#")[0]) is not None


def _selector(word: str) -> str | None:
    """Return the code or prefix that a word between the brackets stands for, ``None`` where there is none."""
    upper = word.upper()
    if _SELECTOR.fullmatch(upper) and any(code.startswith(upper) for code in RULES):
        return upper
    return RULES.code_named(word.lower())


def _not_codes(span: Span, words: Sequence[str]) -> Unreadable | None:
    unknown = [word for word in words if _selector(word) is None]
    if words and not unknown:
        return None
    help_text = "`gllint rule` lists the codes and names."
    if not words:
        return Unreadable(span, "this suppression names no code", help_text)
    hint = nearest(unknown[0], [*RULES, *RULES.by_name])
    if hint:
        help_text = hint.removeprefix("; ").capitalize() + " " + help_text
    listed = ", ".join(f"`{word}`" for word in unknown)
    return Unreadable(span, f"{listed} is not a code of gllint: it suppresses nothing", help_text)


def _no_form(span: Span, rest: str) -> Unreadable:
    """What is wrong with a comment that has no brackets, or no verb, that we know."""
    named = [word for word in re.split(r"[^\w-]+", rest) if _selector(word) not in (None, "GL")]
    meant = f"# gllint: ignore[{', '.join(named)}]" if named else ""
    form = meant or "# gllint: ignore[GL401] reason"
    message = "gllint cannot read this suppression, so it suppresses nothing"
    return Unreadable(span, message, f"Write `{form}`.", meant)


def _is_code(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def apply(
    path: str,
    source: str,
    findings: Sequence[Finding],
    codes: frozenset[str],
    *,
    noqa: bool = True,
    require_reason: bool = False,
) -> tuple[Finding, ...]:
    """Return the findings that no comment suppresses, and one for each comment that suppresses nothing.

    That is a GL901 where it could, a GL902 where it cannot be read, names an unknown code or, with
    ``require_reason``, gives no reason. ``codes`` are those in force in the file. ``noqa=False`` leaves the noqa
    comments aside (flake8's ``--disable-noqa``).
    """
    comments = Comments(source)
    if noqa and comments.is_off_for_flake8():
        return ()
    considered = [s for s in comments.suppressions if noqa or s.form != "noqa"]
    said = _Said(considered, comments if noqa else None)
    kept = [finding for finding in findings if not said.suppresses(finding)]
    # A suppression that is unused or wrong does not suppress the word of it.
    if "GL902" in codes:
        told = [(_invalid(path, wrong), wrong.beside) for wrong in comments.unreadable(require_reason)]
        kept += [finding for finding, about in told if not said.suppresses(finding, about)]
    if "GL901" in codes:
        told = list(_unused(path, comments, considered, codes))
        kept += [finding for finding, about in told if not said.suppresses(finding, about)]
    return tuple(kept)


def _invalid(path: str, wrong: Unreadable) -> Finding:
    fix = None
    if wrong.meant:
        fix = Fix("unsafe", f"Write `{wrong.meant}`", (Edit(wrong.span, wrong.meant),))
    return Finding("GL902", path, wrong.span, wrong.message, wrong.help, fix)


class _Said:
    """What the suppressions of a file say of a finding; they remember which codes they were used for.

    Each is looked at once for a line and a code, however many findings there are. ``comments`` tell of texts that
    flake8 takes for a noqa, too; without them none counts.
    """

    def __init__(self, considered: Iterable[Suppression], comments: Comments | None) -> None:
        self._comments = comments
        self._whole: list[Suppression] = []
        self._by_line: dict[int, list[Suppression]] = defaultdict(list)
        for suppression in considered:
            if suppression.lines is None:
                self._whole.append(suppression)
            else:
                for line in range(suppression.lines[0], suppression.lines[1] + 1):
                    self._by_line[line].append(suppression)
        self._speaking: dict[tuple[int, str], list[Suppression]] = {}
        self._noqa: dict[tuple[int, str], bool] = {}
        self._used: dict[tuple[int, str], Suppression | None] = {}  # by all but this one

    def suppresses(self, finding: Finding, about: Suppression | None = None) -> bool:
        """Say whether a finding is suppressed; not by ``about``, which it speaks of, unless that is a noqa."""
        at = finding.span.line, finding.code
        if at not in self._speaking:
            near = (*self._whole, *self._by_line.get(finding.span.line, ()))
            self._speaking[at] = [s for s in near if _speaks_of(s, finding.code)]
            # flake8 also heeds a noqa that stands in a string; so do we, or the two would differ.
            noqas = self._comments.noqa_codes(finding.span.line) if self._comments is not None else ()
            self._noqa[at] = any(codes is None or finding.code.startswith(codes) for codes in noqas)
        speaking = self._speaking[at]
        if at not in self._used or self._used[at] not in (None, about):
            for suppression in speaking:
                if suppression is not about:
                    suppression.used = (suppression.used or set()) | {
                        code for code in suppression.codes or () if finding.code.startswith(code)
                    }
            self._used[at] = about if at not in self._used else None
        return self._noqa[at] or any(suppression is not about for suppression in speaking)


def _speaks_of(suppression: Suppression, code: str) -> bool:
    return not suppression.misplaced and (suppression.codes is None or code.startswith(suppression.codes))


def _unused(
    path: str, comments: Comments, considered: Iterable[Suppression], codes: frozenset[str]
) -> list[tuple[Finding, Suppression]]:
    found: list[tuple[Finding, Suppression]] = []
    for suppression in considered:
        ours = [code for code in suppression.codes or () if _OURS.match(code)]
        unused = [code for code in ours if code not in (suppression.used or ()) and _can_judge(code, codes)]
        if unused:
            found.append((_unused_finding(path, comments, suppression, unused), suppression))
    return found


def _unused_finding(path: str, comments: Comments, suppression: Suppression, unused: list[str]) -> Finding:
    words = dict(zip(suppression.codes or (), suppression.words, strict=False))
    names = ", ".join(words.get(code, code) for code in unused)
    if suppression.misplaced:
        message = f"Suppression of {names} for the whole file does not count below the first statement"
        help_text = "Move it above the first statement, or remove it."
    else:
        message = f"Suppression of {names} suppresses nothing"
        help_text = "Remove it."
    fix = Fix("safe", "Remove the unused suppression", (_removal(comments, suppression, unused),))
    return Finding("GL901", path, suppression.span, message, help_text, fix)


def _can_judge(prefix: str, codes: frozenset[str]) -> bool:
    """Say whether all that a selector names is in force, so that its silence means something."""
    named = [rule for code, rule in RULES.items() if code.startswith(prefix)]
    if prefix in RULES:
        return prefix in codes and prefix not in ("GL901", "GL902")
    return all(rule.code in codes for rule in named if rule.default)


def _removal(comments: Comments, suppression: Suppression, unused: list[str]) -> Edit:
    span = suppression.span
    line = comments.lines[span.line - 1]
    written = suppression.words or suppression.codes or ()
    kept = [word for code, word in zip(suppression.codes or (), written, strict=True) if code not in unused]
    text = line[span.column - 1 : span.end_column - 1]
    if kept:
        return Edit(span, _with_codes(text, kept))
    rest = line[span.end_column - 1 :]
    following = rest.find("#")
    if following >= 0:
        end = span.end_column + following
        return Edit(Span(span.line, span.column, span.line, end), "")
    start = len(line[: span.column - 1].rstrip()) + 1
    if start == 1:
        ending = comments.ends(span.line)
        return Edit(Span(span.line, 1, span.line + ending, 1 if ending else len(line) + 1), "")
    return Edit(Span(span.line, start, span.line, len(line) + 1), "")


def _with_codes(text: str, codes: list[str]) -> str:
    head = re.match(r".*?(?:\[|:\s?)(?=[^:\[]*$)", text, re.DOTALL)
    assert head is not None
    return head.group() + ", ".join(codes) + ("]" if text.endswith("]") else "")


def _split(codes: str) -> tuple[str, ...]:
    return tuple(code.upper() for code in re.split(r"[,\s]+", codes) if code)


def _span(line: int, column: int, text: str, match: re.Match[str]) -> Span:
    return Span(line, column + match.start(), line, column + match.end())
