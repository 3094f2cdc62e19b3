"""What the rules of installed packages yield, held to what a finding is: nobody has read them here."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from itertools import pairwise

from gllint_rules.finding import Edit, Fix, Span
from gllint_rules.inference.values import Site
from gllint_rules.project.context import Context, Pending
from gllint_rules.reading.positions import Lines
from gllint_rules.rule import Rule


def is_own(code: str) -> bool:
    """Whether a rule of this code comes from an installed package."""
    return not code.startswith("GL")


class OwnRuleError(Exception):
    """What a package's rule did wrong, in words."""


def sound_findings(rule: Rule, context: Context) -> Iterator[Pending | OwnRuleError]:
    """What a package's rule yields, and for each thing that is no finding what is wrong with it.

    What it prints goes to standard error: the standard output is the report's. Raises what the rule raises; of what
    would end the program or pass by everybody, an OwnRuleError.
    """
    assert rule.check is not None
    with redirect_stdout(sys.stderr):
        try:
            findings = iter(rule.check(context) or ())
            while True:
                try:
                    pending = next(findings)
                except StopIteration:
                    return
                problem = _problem(rule, context, pending)
                yield pending if problem is None else OwnRuleError(problem)
        except (Exception, KeyboardInterrupt):
            raise
        except BaseException as error:  # sys.exit, and what derives from nothing that anybody catches
            raise OwnRuleError(f"{type(error).__name__}: {error}") from error


def _problem(rule: Rule, context: Context, pending: object) -> str | None:
    """Why what a rule yields is no finding of it, ``None`` where it is one."""
    if not isinstance(pending, Pending):
        return f"it yields {type(pending).__name__}, not what context.finding(…) makes"
    if pending.code != rule.code:
        return f"it yields a finding of {pending.code!r}"
    if not isinstance(pending.message, str) or not isinstance(pending.help, str):
        return "the message or the help of a finding is no text"
    if pending.fix is not None and not callable(pending.fix):
        return "the fix of a finding is nothing that can be called"
    site = pending.site
    if not isinstance(site, Site) or not isinstance(site.at, int):
        return f"a finding stands at {type(site).__name__}, not at a place"
    if context.project.modules.get(getattr(site.module, "path", "")) is not site.module:
        return "a finding stands in no file of the project"
    try:
        positions = context.project.positions(site.module)
        positions.span(site.at)
        start, end = positions.offsets(site.at)
    except Exception:  # whatever a wrong number leads to
        return f"a finding stands at {site.at}, where no expression is"
    if site.at < 0 or (pending.characters is not None and not _is_within(pending.characters, end - start)):
        return f"a finding stands at {site.at}, {pending.characters}, where no text is"
    return None


def _is_within(characters: object, length: int) -> bool:
    match characters:
        case (int(first), int(last)):
            return 0 <= first <= last <= length
        case _:
            return False


def sound_fix(fix: object, lines: Lines) -> Fix | None:
    """The fix of a package's rule. Raises OwnRuleError for edits that cannot be made."""
    if fix is None:
        return None
    if not isinstance(fix, Fix) or fix.applicability not in ("safe", "unsafe"):
        raise OwnRuleError(f"its fix is {type(fix).__name__}, not a Fix that is safe or unsafe")
    if not isinstance(fix.message, str) or not isinstance(fix.edits, tuple) or not fix.edits:
        raise OwnRuleError("its fix has no message, or no tuple of edits")
    stretches = sorted(_stretch(edit, lines) for edit in fix.edits)
    if any(second[0] < first[1] for first, second in pairwise(stretches)):
        raise OwnRuleError("the edits of its fix overlap")
    return fix


def _stretch(edit: object, lines: Lines) -> tuple[int, int]:
    if not isinstance(edit, Edit) or not isinstance(edit.content, str):
        raise OwnRuleError("an edit of its fix is no Edit of a text")
    span = edit.span
    if not isinstance(span, Span) or not all(type(number) is int for number in span):
        raise OwnRuleError("an edit of its fix has no span of lines and columns")
    last = len(lines.starts)
    if not (
        1 <= span.line <= last and 1 <= span.end_line <= last and span.column >= 1 and span.end_column >= 1
    ):
        raise OwnRuleError("an edit of its fix lies outside the file")
    start, end = lines.offset(span.line, span.column), lines.offset(span.end_line, span.end_column)
    if not 0 <= start <= end <= len(lines.source):
        raise OwnRuleError("an edit of its fix lies outside the file, or ends before it begins")
    return start, end
