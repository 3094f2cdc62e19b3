"""Checks what the rules of installed packages yield, whose code we do not know.

What they do runs in a thread of its own with a limit of time, so that the other findings appear whatever they do.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple, TypeVar, get_args

from gllint_rules.catalogue.foreign_code import ForeignError, OutOfTime, run_foreign
from gllint_rules.catalogue.installed import package_of
from gllint_rules.finding import Edit, Fix, Span
from gllint_rules.inference.values import Because, Site
from gllint_rules.project.context import Context, Pending, Subject
from gllint_rules.reading.positions import Lines
from gllint_rules.rule import Rule
from gllint_runtime.policy.kinds import Kind

_T = TypeVar("_T")
MOST_FINDINGS = 10_000  # of a rule in a file
# Why rules are not asked any more in this process: of a hundred files each would take its time.
_given_up: dict[str, str] = {}


class Question(NamedTuple):
    """What a package's rule is being asked: ``it`` or ``its fix``, of a file."""

    code: str
    what: str
    path: str


# Called with each question before it is asked, and with ``None`` once it is answered.
_listeners: list[Callable[[Question | None], None]] = []


def is_own(code: str) -> bool:
    """Return whether a rule of this code comes from an installed package."""
    return not code.startswith("GL")


def listen(listener: Callable[[Question | None], None]) -> None:
    """Call a function with each question before it is asked, and with ``None`` once it is answered."""
    _listeners.append(listener)


def give_up(question: Question, why: str) -> bool:
    """Switch a rule off in this process, because of an error. Returns false if it was off already."""
    key = f"{question.code} {question.what}"
    if key in _given_up:
        return False
    name = posixpath.basename(question.path)
    _given_up[key] = f"{question.what} {why} {name}, and is not asked any more"
    return True


def in_turn(codes: frozenset[str]) -> list[str]:
    """Return the codes in the order in which their rules are run: ours first, so that theirs wait for
    nothing of ours.
    """
    return sorted(codes, key=lambda code: (is_own(code), code))


def sound_findings(rule: Rule, context: Context) -> tuple[list[Pending], list[ForeignError]]:
    """Yield the valid findings of a package's rule, then a report on the invalid ones."""
    pendings: list[Pending] = []
    problems: dict[str, None] = {}

    def collect() -> None:
        """Collect the findings of the rule, and what is invalid about them."""
        assert rule.check is not None
        for count, pending in enumerate(rule.check(context) or ()):
            if count == MOST_FINDINGS:
                raise ForeignError(f"it yields more than {MOST_FINDINGS:,} findings for one file")
            problem = _problem(rule, context, pending)
            if problem is None:
                pendings.append(pending)
            else:
                problems[problem] = None

    try:
        _limited(rule.code, context.module.path, collect)
    except ForeignError as error:
        problems[str(error)] = None
    return pendings[:], [ForeignError(problem) for problem in [*problems]]


def sound_fix(code: str, path: str, make: Callable[[], object], lines: Lines) -> Fix | None:
    """Return the fix that a package's rule makes. Raises ForeignError for edits that cannot be made."""
    return _checked_fix(_limited(code, path, make, "its fix"), lines)


def _limited(code: str, path: str, work: Callable[[], _T], what: str = "it") -> _T:
    """Run a package's rule on a file. Raises ForeignError for its errors and if it takes too long."""
    key = f"{code} {what}"
    if key in _given_up:
        raise ForeignError(_given_up[key])
    question = Question(code, what, path)
    try:
        _tell(question)
        return run_foreign(f"{code} of the package {package_of(code)}, asked about {path}", work)
    except OutOfTime as error:
        give_up(question, f"{str(error).removeprefix('it ')} from")
        raise ForeignError(_given_up[key]) from None
    finally:
        _tell(None)


def _tell(question: Question | None) -> None:
    for listener in _listeners:
        listener(question)


def _problem(rule: Rule, context: Context, pending: object) -> str | None:
    """Say why a result of a rule is not a valid finding; ``None`` if it is."""
    if not isinstance(pending, Pending):
        return f"it yields {type(pending).__name__}, not what context.finding(…) makes"
    if pending.code != rule.code:
        return f"it yields a finding of {pending.code!r}"
    if not isinstance(pending.message, str) or not isinstance(pending.help, str):
        return "the message or the help of a finding is no text"
    if pending.fix is not None and not callable(pending.fix):
        return "the fix of a finding is nothing that can be called"
    if not pending.message and pending.subject is None:
        return "a finding has no message"
    if not _is_evidence(pending):
        return "the evidence of a finding is none"
    site = pending.site
    if not isinstance(site, Site) or not isinstance(site.at, int):
        return f"a finding is at {type(site).__name__}, not at a place"
    if context.project.modules.get(getattr(site.module, "path", "")) is not site.module:
        return "a finding is in no file of the project"
    try:
        positions = context.project.positions(site.module)
        positions.span(site.at)
        start, end = positions.offsets(site.at)
    except Exception:  # whatever a wrong number leads to
        return f"a finding is at {site.at}, where no expression is"
    if site.at < 0 or (pending.characters is not None and not _is_within(pending.characters, end - start)):
        return f"a finding is at {site.at}, {pending.characters}, where no text is"
    return None


def _is_evidence(pending: Pending) -> bool:
    """Return whether the fields of a finding other than its place and texts have their declared types."""
    return (
        isinstance(pending.because, Because | None)
        and isinstance(pending.subject, Subject | None)
        and isinstance(pending.key, str | None)
        and isinstance(pending.what, str)
        and (pending.kind is None or pending.kind in get_args(Kind))
        and isinstance(pending.settings, tuple)
        and all(isinstance(line, str) for line in pending.settings)
    )


def _is_within(characters: object, length: int) -> bool:
    match characters:
        case tuple((int(first), int(last))):
            return 0 <= first <= last <= length
        case _:
            return False


def _checked_fix(fix: object, lines: Lines) -> Fix | None:
    """Return a fix of a foreign rule if it is valid. Raises :class:`ForeignError`."""
    if fix is None:
        return None
    if not isinstance(fix, Fix) or fix.applicability not in ("safe", "unsafe"):
        raise ForeignError(f"its fix is {type(fix).__name__}, not a Fix that is safe or unsafe")
    if not isinstance(fix.message, str) or not isinstance(fix.edits, tuple) or not fix.edits:
        raise ForeignError("its fix has no message, or no tuple of edits")
    stretches = sorted(_stretch(edit, lines) for edit in fix.edits)
    if any(second[0] < first[1] for first, second in pairwise(stretches)):
        raise ForeignError("the edits of its fix overlap")
    return fix


def _stretch(edit: object, lines: Lines) -> tuple[int, int]:
    """Return the offsets of an edit of a foreign rule. Raises :class:`ForeignError`."""
    if not isinstance(edit, Edit) or not isinstance(edit.content, str):
        raise ForeignError("an edit of its fix is no Edit of a text")
    span = edit.span
    if not isinstance(span, Span) or not all(type(number) is int for number in span):
        raise ForeignError("an edit of its fix has no span of lines and columns")
    last = len(lines.starts)
    if not (
        1 <= span.line <= last and 1 <= span.end_line <= last and span.column >= 1 and span.end_column >= 1
    ):
        raise ForeignError("an edit of its fix lies outside the file")
    start, end = lines.offset(span.line, span.column), lines.offset(span.end_line, span.end_column)
    if not 0 <= start <= end <= len(lines.source):
        raise ForeignError("an edit of its fix lies outside the file, or ends before it begins")
    return start, end
