"""What a rule reports: a place, a message, its evidence and, where there is one, its fix."""

from __future__ import annotations

from typing import Literal, NamedTuple

Applicability = Literal["safe", "unsafe"]


class Span(NamedTuple):
    """A stretch of source: 1-based lines, 1-based columns in Unicode code points, end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


class Edit(NamedTuple):
    """Replace ``span`` by ``content``; an empty span inserts."""

    span: Span
    content: str


class Fix(NamedTuple):
    """A repair of one finding. ``safe`` ones keep what the program means; ``unsafe`` ones may change it."""

    applicability: Applicability
    message: str
    edits: tuple[Edit, ...]


class Note(NamedTuple):
    """One link in the chain of evidence behind a finding, possibly in another file."""

    message: str
    path: str
    span: Span


class Finding(NamedTuple):
    """One violation. ``path`` is the path the file was read under, unchanged."""

    code: str
    path: str
    span: Span
    message: str
    help: str = ""
    fix: Fix | None = None
    notes: tuple[Note, ...] = ()


class Failure(NamedTuple):
    """A rule that raised on one file: gllint's own defect, reported so that nothing else is lost."""

    code: str
    path: str
    error: str


class Cut(NamedTuple):
    """A place where a budget of the inference ran out: what is held there is unknown, and not reported."""

    path: str
    line: int
    budget: str

    def __str__(self) -> str:
        return f"this value is too complex to follow (budget of {self.budget}); what it holds is not reported"
