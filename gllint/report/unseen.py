"""What was not checked: tools that return text or something unknown, and files that were left out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from gllint.shown import toml
from gllint_rules import ToolSight
from gllint_rules.finding import DESCRIBED
from gllint_rules.tuples import NamedTuple

TEXT_RULE = "GL104"


class Unseen(NamedTuple):
    """How many tools there are, counted by what they return, and what else was not checked.

    - ``number``, ``text`` and ``unknown`` count the tools by their result.
    - ``judges_text``: GL104 is on wherever a tool returns text.
    - ``texts_with_numbers`` counts the tools that return text next to numbers.
    - ``partial`` counts the tools of whose result a part is unknown.
    - ``unregistered`` counts functions that are passed on like tools, ``under`` names that no row of the framework
      table has; ``row`` is a row of ``frameworks`` that makes them tools.
    - ``first_…`` is the place of the first of each, for ``--why``.
    - ``files`` has the reason for each path that was left out; the path of a folder ends with a slash.
    - ``plain`` counts the numbers that ``plain-kinds`` leaves out.
    """

    tools: int = 0
    number: int = 0
    text: int = 0
    unknown: int = 0
    judges_text: bool = False
    first_unknown: str = ""
    files: Mapping[str, str] = {}
    texts_with_numbers: int = 0
    partial: int = 0
    first_partial: str = ""
    unregistered: int = 0
    plain: int = 0
    first_unregistered: str = ""
    under: tuple[str, ...] = ()
    row: str = ""

    @property
    def is_empty(self) -> bool:
        """Return whether everything was checked."""
        return not (
            self.files or self.unknown or self.partial or self.unregistered or self._has_unjudged_text
        )

    @property
    def _has_unjudged_text(self) -> bool:
        return bool(self.text or self.texts_with_numbers) and not self.judges_text

    def line(self, why_no_text: str = f"{TEXT_RULE} is off") -> str:
        """Return the figures as a line without its last dot, empty if everything was checked.

        ``15 tools: 9 return numbers, 4 return text. Not checked: 2 (unknown result: tools.py:14)``
        """
        if self.is_empty:
            return ""
        kinds = ((self.number, "numbers"), (self.text, "text"), (self._other, "neither"))
        returns = ", ".join(f"{n} return{'s' * (n == 1)} {what}" for n, what in kinds if n)
        tools = f"{self.tools} tool{'s' * (self.tools != 1)}{f': {returns}' if returns else ''}"
        gaps = ", ".join(self._gaps(why_no_text))
        if not self.tools:
            return f"Not checked: {gaps}" if self.unregistered else self._left_out
        return f"{tools}. Not checked: {gaps}"

    def _gaps(self, why_no_text: str) -> Iterator[str]:
        """Yield each kind of result that was not checked, with its count and first place."""
        if self.unknown:
            more = " and more" if self.unknown > 1 else ""
            yield f"{self.unknown} (unknown result: {self.first_unknown}{more})"
        if self.partial:
            parts = "a part of 1" if self.partial == 1 else f"parts of {self.partial}"
            yield f"{parts} (unknown: {self.first_partial})"
        if self._has_unjudged_text:
            yield f"the text of {self.text + self.texts_with_numbers} ({why_no_text})"
        if self.unregistered:
            noun = "tool" if self.under == (DESCRIBED,) else "function"
            functions = f"{self.unregistered} {noun}{'s' * (self.unregistered > 1)}"
            yield f"{functions} under {' and '.join(self.under)} ({self.first_unregistered})"
        if self.files:
            yield self._left_out

    @property
    def _other(self) -> int:
        """The number of tools whose results are neither numbers nor text: truth values, None."""
        return self.tools - self.number - self.text - self.unknown

    @property
    def _left_out(self) -> str:
        folders = sum(path.endswith("/") for path in self.files)
        counts = ((len(self.files) - folders, "file"), (folders, "folder"))
        listed = " and ".join(f"{count} {noun}{'s' * (count > 1)}" for count, noun in counts if count)
        return f"{listed} left out" if listed else ""

    def advice(self) -> str:
        """Return a sentence with the option or setting that checks the largest gap, empty if there is none."""
        place, count = (
            (self.first_unknown, self.unknown) if self.unknown else (self.first_partial, self.partial)
        )
        if self.row:
            return f"`frameworks = [{self.row}]` in the configuration makes them tools."
        if place:
            return f"--why {place} explains what is unknown about {'it' if count == 1 else 'the first'}."
        if self._has_unjudged_text:
            return f"--extend-select {TEXT_RULE} reports the numbers in text."
        return ""

    def as_json(self) -> dict[str, Any]:
        """Return the figures as JSON data."""
        return {
            "tools": self.tools,
            "number": self.number,
            "text": self.text + self._other,
            "unknown": self.unknown,
            "unregistered": self.unregistered,
            "plain": self.plain,
            "files": [{"path": path, "reason": why} for path, why in self.files.items()],
        }


def unseen(
    sights: Iterable[ToolSight],
    left_out: Mapping[str, str],
    show: Callable[[str], str],
    judges_text: Callable[[str], bool],
    plain: int = 0,
) -> Unseen:
    """Count the tools by what they return, and what was not checked."""
    every = list(sights)
    unregistered = [sight for sight in every if sight.result == "unregistered"]
    if any(sight.row for sight in unregistered):  # which also makes tools of what is described
        unregistered = [sight for sight in unregistered if sight.under != DESCRIBED]
    listed = [sight for sight in every if sight.result != "unregistered"]
    numbers: Counter[str] = Counter()
    for sight in listed:
        numbers[sight.result] += sight.names
    first = next((sight for sight in listed if sight.result == "unknown"), None)
    partial = [sight for sight in listed if "unknown" in sight.other_parts]
    texts = [sight for sight in listed if sight.result == "text" or "text" in sight.other_parts]
    return Unseen(
        numbers.total(),
        numbers["number"],
        numbers["text"],
        numbers["unknown"],
        all(judges_text(path) for path in {sight.tool.path for sight in texts}),
        f"{show(first.tool.path)}:{first.line}" if first is not None else "",
        {show(path): why for path, why in sorted(left_out.items())},
        sum(sight.names for sight in listed if "text" in sight.other_parts),
        sum(sight.names for sight in partial),
        f"{show(partial[0].tool.path)}:{partial[0].line}" if partial else "",
        sum(sight.names for sight in unregistered),
        plain,
        f"{show(unregistered[0].tool.path)}:{unregistered[0].line}" if unregistered else "",
        tuple(sorted({sight.under for sight in unregistered})),
        toml(row) if (row := missing_row(every)) else "",
    )


def missing_row(sights: Iterable[ToolSight]) -> dict[str, Any]:
    """Return the row of ``frameworks`` that makes tools of all functions that are passed on like tools."""
    row: dict[str, Any] = {}
    for one in sorted({sight.row for sight in sights if sight.row}):
        for key, value in json.loads(one).items():
            if isinstance(value, dict):
                calls = row.setdefault(key, {})
                for name, places in value.items():
                    calls.setdefault(name, []).extend(places)
            else:
                row.setdefault(key, []).extend(value)
    return row
