"""What a rule reports: a place, a message, its evidence and, if there is one, its fix."""

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
    """Something that a fix changes and other code may read: the value under a key, a function, its result, a text."""

    what: Literal["key", "function", "result", "text"]
    name: str


class Fix(NamedTuple):
    """A repair of one finding. A ``safe`` one keeps what the program does; an ``unsafe`` one may change it.

    It is offered only if no other code of the project reads one of its ``changes``.
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


DESCRIBED = "JSON descriptions whose function was not found"


class ToolSight(NamedTuple):
    """How much of a tool's result gllint sees, and the line of its callable.

    ``result`` is the first of these that the result contains:

    * "number": a number or a Quantity
    * "text"
    * "unknown": a value that nothing in the project shows
    * "other": a truth value, or nothing

    "unregistered" is a function that is passed on like a tool, although no row of the framework table makes it one:
    ``under`` says how, ``row`` is the row that does, as JSON. ``names`` is how many tools the callable serves.
    Tools that are described as JSON to a model, and whose functions were not found, are one under :data:`DESCRIBED`.
    ``other_parts`` is what else the result contains that may have numbers: "text", "unknown".
    """

    tool: ToolAt
    line: int
    result: ToolResult
    other_parts: tuple[ToolResult, ...] = ()
    under: str = ""
    row: str = ""
    names: int = 1


class PlainNumber(NamedTuple):
    """The place of a number that is not reported because its key is of one of the project's ``plain-kinds``."""

    path: str
    at: int


class Finding(NamedTuple):
    """One violation. ``path`` is the path that the file was read under, unchanged.

    A finding about results has ``tools``, which return the value, the ``keys`` under which it is, and ``what`` it is
    (see :func:`of_results`). ``causes`` are the other files that it depends on: those of its tools and of its evidence.
    ``kind`` is the kind of the number ("count"), if it is known, and ``settings`` are the lines of configuration that
    its help names.
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


MOST_NAMED = 5  # keys in a message


def _printable(text: str) -> str:
    """Return a text with its control characters escaped, so that it stays on one line."""
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def of_results(what: str, tools: Sequence[ToolAt], keys: Sequence[str]) -> str:
    """Return the message of a finding at ``keys`` in the results of ``tools``.

    ``what`` is one of these:

    * "number": "`load` in the result of tool `heat` is a number without a unit"
    * "element": "`loads` in the result of tool `heat` contains a number without a unit"
    * a container of numbers ("dict of numbers"): "`loads` in the result of tool `heat` is a dict of numbers …"
    * "text": "tool `heat` returns `load` as text, not as a Quantity"
    * "": "tool `heat` is annotated to return a number without a unit"
    """
    of = _tool_list([f"`{tool.name}`" if tool.name else "" for tool in tools])
    several = len(tools) > 1
    if not what:
        return f"{of} {'are' if several else 'is'} annotated to return a number without a unit"
    listed = _joined([f"`{_printable(key)}`" for key in keys])
    if what == "text":
        quantity = "as Quantities" if len(keys) > 1 else "as a Quantity"
        return f"{of} {'return' if several else 'returns'} {listed or 'a number'} as text, not {quantity}"
    named = f"{listed} in " if keys else ""
    where = f"{named}the result{'s' * several} of {of}"
    if what == "element":
        return f"{where} {'contain' if len(keys) > 1 else 'contains'} a number without a unit"
    if len(keys) < 2:
        return f"{where} is a {what} without a unit"
    return f"{where} are {'numbers' if what == 'number' else f'each a {what}'} without a unit"


def common(whats: Iterable[str]) -> str:
    """Return the ``what`` of a merged finding: that of all its parts if they agree, else "number"."""
    kinds = set(whats)
    return kinds.pop() if len(kinds) == 1 else "number"


def _tool_list(names: Sequence[str]) -> str:
    """Return "tool `heat` and 2 other tools" for three names; "" is a tool without a name."""
    first = f"tool {names[0]}" if names[0] else "a tool"
    others = len(names) - 1
    return f"{first} and {others} other tool{'s' * (others > 1)}" if others else first


def _joined(names: Sequence[str]) -> str:
    """Return "a, b and c" for three names; of more than MOST_NAMED the first, and how many there are more."""
    if not names:
        return ""
    if len(names) > MOST_NAMED:
        return f"{', '.join(names[: MOST_NAMED - 1])} and {len(names) - MOST_NAMED + 1} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


class Failure(NamedTuple):
    """An error of a rule on one file, reported so that the other rules still run."""

    code: str
    path: str
    error: str


class Cut(NamedTuple):
    """A place where the inference stopped at one of its limits (``budget``): the value there counts as unknown."""

    path: str
    line: int
    budget: str

    def __str__(self) -> str:
        return (
            f"this value is too complex to follow (budget of {self.budget}); what it contains is not reported"
        )
