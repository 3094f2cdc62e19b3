"""Run and check the rules of installed packages, whose code may do anything.

Each runs in a separate thread with a time limit, so that the other findings appear in any case.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple, TypeVar, get_args

from gllint_rules.catalogue import foreign_code
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
# The rules that are skipped in this process, with the reason: else each file would cost the whole time limit.
_given_up: dict[str, str] = {}


class Question(NamedTuple):
    """What a package's rule works on: findings (``what`` is "it") or a fix ("its fix") for the file at ``path``."""

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
    """Switch a rule off in this process. Return false if it was off already.

    ``why`` is followed by the file in the message: "did not finish within 10 s on" → "… on agent.py, and is skipped".
    """
    key = f"{question.code} {question.what}"
    if key in _given_up:
        return False
    name = posixpath.basename(question.path)
    _given_up[key] = f"{question.what} {why} {name}, and is skipped from now on"
    return True


def in_turn(codes: frozenset[str]) -> list[str]:
    """Return the codes in the order in which their rules run: gllint's own rules first.

    What those infer is stored by then, and does not count as time of a package's rule.
    """
    return sorted(codes, key=lambda code: (is_own(code), code))


def sound_findings(rule: Rule, context: Context) -> tuple[list[Pending], list[ForeignError]]:
    """Return the valid findings of a package's rule, and an error for each kind of invalid ones."""
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
    # Copies: a thread that could not be stopped may still be adding to both.
    return pendings[:], [ForeignError(problem) for problem in [*problems]]


def sound_fix(code: str, path: str, make: Callable[[], object], lines: Lines) -> Fix | None:
    """Return the fix that a package's rule makes. Raises ForeignError for edits that cannot be applied."""
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
    except OutOfTime:
        give_up(question, f"did not finish within {foreign_code.PATIENCE:g} s on")
        raise ForeignError(_given_up[key]) from None
    finally:
        _tell(None)


def _tell(question: Question | None) -> None:
    for listener in _listeners:
        listener(question)


def _problem(rule: Rule, context: Context, pending: object) -> str | None:
    """Return why a result of a rule is not a valid finding; None if it is."""
    if not isinstance(pending, Pending):
        return f"it must yield what context.finding(…) returns, got {type(pending).__name__}"
    if pending.code != rule.code:
        return f"a finding must have the code of its rule, {rule.code!r}, got {pending.code!r}"
    if not isinstance(pending.message, str) or not isinstance(pending.help, str):
        return "the message and the help of a finding must be strings"
    if pending.fix is not None and not callable(pending.fix):
        return "the fix of a finding must be a function without parameters"
    if not pending.message and pending.subject is None:  # findings about a tool's result get a message later
        return "a finding has no message"
    if not _has_valid_evidence(pending):
        return "a finding has evidence of a wrong type: pass what gllint's own functions return"
    site = pending.site
    if not isinstance(site, Site) or not isinstance(site.at, int):
        return "the place of a finding must be a Site or the position of a fact"
    if context.project.modules.get(getattr(site.module, "path", "")) is not site.module:
        return "a finding is in a file that is not part of the project"
    try:
        positions = context.project.positions(site.module)
        positions.span(site.at)
        start, end = positions.offsets(site.at)
    except Exception:  # a wrong position can fail anywhere in the look-up
        return f"a finding is at position {site.at}, where there is no expression"
    if site.at < 0 or (pending.characters is not None and not _is_within(pending.characters, end - start)):
        return f"a finding is at position {site.at}, characters {pending.characters}, where there is no text"
    return None


def _has_valid_evidence(pending: Pending) -> bool:
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
    """Return whether an object is a pair of offsets, in order, in a text of this length."""
    match characters:
        case tuple((int(first), int(last))):
            return 0 <= first <= last <= length
        case _:
            return False


def _checked_fix(fix: object, lines: Lines) -> Fix | None:
    """Return a fix of a package's rule if it is valid. Raises ForeignError."""
    if fix is None:
        return None
    if not isinstance(fix, Fix):
        raise ForeignError(f"its fix must be a Fix, got {type(fix).__name__}")
    if fix.applicability not in ("safe", "unsafe"):
        raise ForeignError(
            f'the applicability of its fix must be "safe" or "unsafe", got {fix.applicability!r}'
        )
    if not isinstance(fix.message, str) or not isinstance(fix.edits, tuple) or not fix.edits:
        raise ForeignError("its fix must have a message and a nonempty tuple of edits")
    stretches = sorted(_edit_offsets(edit, lines) for edit in fix.edits)
    if any(second[0] < first[1] for first, second in pairwise(stretches)):
        raise ForeignError("the edits of its fix overlap")
    return fix


def _edit_offsets(edit: object, lines: Lines) -> tuple[int, int]:
    """Return where the text that an edit replaces starts and ends in the file. Raises ForeignError."""
    if not isinstance(edit, Edit) or not isinstance(edit.content, str):
        raise ForeignError("an edit of its fix must be an Edit whose content is a string")
    span = edit.span
    if not isinstance(span, Span) or not all(type(number) is int for number in span):
        raise ForeignError("the span of an edit of its fix must be a Span of four integers")
    last = len(lines.starts)
    if not (
        1 <= span.line <= last and 1 <= span.end_line <= last and span.column >= 1 and span.end_column >= 1
    ):
        raise ForeignError("an edit of its fix is outside the file")
    start, end = lines.offset(span.line, span.column), lines.offset(span.end_line, span.end_column)
    if not 0 <= start <= end <= len(lines.source):
        raise ForeignError("an edit of its fix is outside the file, or ends before it begins")
    return start, end
