"""What a rule reports: a place, a message, its evidence and, where there is one, its fix."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Literal

from gllint_rules.tuples import NamedTuple

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


class Changed(NamedTuple):
    """What a fix changes for its readers: the value under a key, a function's result, a part of it, a text."""

    what: Literal["key", "function", "result", "text"]
    name: str


class Fix(NamedTuple):
    """A repair of one finding. ``safe`` ones keep what the program means; ``unsafe`` ones may change it.

    It is offered where no code of the project reads one of its ``changes``.
    """

    applicability: Applicability
    message: str
    edits: tuple[Edit, ...]
    changes: tuple[Changed, ...] = ()


class Note(NamedTuple):
    """One link in the chain of evidence behind a finding, possibly in another file."""

    message: str
    path: str
    span: Span


class ToolAt(NamedTuple):
    """A tool, identified by the place of its callable: one that is registered twice is one tool. ``at`` counts in
    reading order."""

    path: str
    at: int
    name: str


ToolResult = Literal["number", "text", "unknown", "other", "unregistered"]


class ToolSight(NamedTuple):
    """What of a tool's result can be seen, and the line of its callable.

    ``result`` is what it returns: a "number" (a Quantity too), else "text", else what is "unknown"; "other" where it
    is seen to be none of these: truth values, nothing. "unregistered" is no tool but a function that a call takes under
    a ``keyword`` like that of tools, though no row of the framework table says so. ``names`` is how many tools the
    callable serves. ``other_parts`` is what else the result contains of which more
    could be said: "text" next to numbers, which may contain more of them, and parts that are "unknown".
    """

    tool: ToolAt
    line: int
    result: ToolResult
    other_parts: tuple[ToolResult, ...] = ()
    keyword: str = ""
    names: int = 1


class PlainNumber(NamedTuple):
    """The place of a number that is no finding because its key says one of the project's ``plain-kinds``."""

    path: str
    at: int


class Finding(NamedTuple):
    """One violation. ``path`` is the path the file was read under, unchanged.

    Of what tools return: ``tools`` are those whose result it is about, ``keys`` the names that lead to it there, and
    ``what`` it is, where the message names them (see :func:`of_results`). ``causes`` are the files that it rests on
    next to its own: those of its tools and of its evidence. ``kind`` is that of the number, if it has one,
    and ``settings`` are the lines of configuration that its help names.
    """

    code: str
    path: str
    span: Span
    message: str
    help: str = ""
    fix: Fix | None = None
    notes: tuple[Note, ...] = ()
    tools: tuple[ToolAt, ...] = ()
    keys: tuple[str, ...] = ()
    what: str = ""
    causes: tuple[str, ...] = ()
    kind: str | None = None
    settings: tuple[str, ...] = ()

    def concerns(self, paths: Collection[str]) -> bool:
        """Return whether one of the files at ``paths`` contains the finding or its evidence."""
        return self.path in paths or any(path in paths for path in self.causes)


MOST_NAMED = 5


def _printable(text: str) -> str:
    """Return a text in one line: what would break it is escaped."""
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def of_results(what: str, tools: Sequence[ToolAt], keys: Sequence[str]) -> str:
    """Return the message of a finding at ``keys`` in the results of ``tools``: "… is a number without a unit".

    ``what`` is "number", "element" of what is there, or what contains numbers alone ("dict of numbers"); "text" of
    what the ``keys`` name in one; "" where a callable is annotated as one.
    """
    of = _listed([f"`{tool.name}`" if tool.name else "" for tool in tools])
    several = len(tools) > 1
    if not what:
        return f"{of} {'are' if several else 'is'} annotated to return a number without a unit"
    listed = _joined([f"`{_printable(key)}`" for key in keys])
    if what == "text":
        verb = "are" if len(keys) > 1 else "is"
        return f"{listed or 'a number'} {verb} returned as text by {of}: no claim can cite it"
    named = f"{listed} in " if keys else ""
    where = f"{named}the result{'s' * several} of {of}"
    if what == "element":
        return f"{where} {'contain' if len(keys) > 1 else 'contains'} a number without a unit"
    if len(keys) < 2:
        return f"{where} is a {what} without a unit"
    return f"{where} are {'numbers' if what == 'number' else f'each a {what}'} without a unit"


def common(whats: Iterable[str]) -> str:
    """Return what numbers at one place are together: what each is, or just numbers."""
    kinds = set(whats)
    return kinds.pop() if len(kinds) == 1 else "number"


def _listed(names: Sequence[str]) -> str:
    first = f"tool {names[0]}" if names[0] else "a tool"
    others = len(names) - 1
    return f"{first} and {others} other tool{'s' * (others > 1)}" if others else first


def _joined(names: Sequence[str]) -> str:
    if not names:
        return ""
    if len(names) > MOST_NAMED:
        return f"{', '.join(names[: MOST_NAMED - 1])} and {len(names) - MOST_NAMED + 1} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


class Failure(NamedTuple):
    """A rule that failed on one file, reported so that the other rules go on: a defect of the rule's package."""

    code: str
    path: str
    error: str


class Cut(NamedTuple):
    """A place where a budget of the inference ran out: the value there is unknown, and not reported."""

    path: str
    line: int
    budget: str

    def __str__(self) -> str:
        return (
            f"this value is too complex to follow (budget of {self.budget}); what it contains is not reported"
        )
