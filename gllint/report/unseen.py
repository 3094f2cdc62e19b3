"""What was not looked at: tools that return text or something unknown, and files that were left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from gllint_rules import ToolSight
from gllint_rules.tuples import NamedTuple

TEXT_RULE = "GL104"


class Unseen(NamedTuple):
    """How many tools there are by what they return, and the files left out, each with the reason, by their paths.

    The path of a folder ends with a slash.

    ``judges_text`` says that GL104 is on wherever a tool returns text; ``first_unknown`` is the place of a tool whose
    result is unknown, for ``--why``. ``texts_with_numbers``
    counts the tools whose numbers stand beside text that may hold more, ``partial`` those of which a part is unknown,
    the first of them at ``first_partial``.
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

    @property
    def is_empty(self) -> bool:
        """Whether all was looked at."""
        return not (self.files or self.unknown or self.partial or self._has_unjudged_text)

    @property
    def _has_unjudged_text(self) -> bool:
        return bool(self.text or self.texts_with_numbers) and not self.judges_text

    def line(self) -> str:
        """The figures in one line, without its full stop; ``""`` where all was looked at."""
        if self.is_empty:
            return ""
        parts = [f"{self.number} {'returns' if self.number == 1 else 'return'} numbers"]
        if self.text:
            parts.append(f"{self.text} text" + ("" if self.judges_text else f" ({TEXT_RULE} is off)"))
        if self.unknown:
            parts.append(f"{self.unknown} unknown")
        other = self.tools - self.number - self.text - self.unknown
        if other:
            parts.append(f"{other} neither")
        folder_count = sum(path.endswith("/") for path in self.files)
        counts = ((len(self.files) - folder_count, "file"), (folder_count, "folder"))
        listed = " and ".join(f"{number} {noun}{'s' * (number > 1)}" for number, noun in counts if number)
        files = f"{listed} left out" if listed else ""
        tools = (
            f"{self.tools} {'tool' if self.tools == 1 else 'tools'}: {', '.join(parts)}" if self.tools else ""
        )
        if self.texts_with_numbers and not self.judges_text:
            tools += f"; {self.texts_with_numbers} with text beside the numbers ({TEXT_RULE} is off)"
        if self.partial:
            tools += f"; {self.partial} known in part"
        return "; ".join(filter(None, (tools, files)))

    def advice(self) -> Iterator[str]:
        """How to have it looked at, one sentence each."""
        if self._has_unjudged_text:
            yield f"Numbers in text were not looked at: --extend-select {TEXT_RULE} reports them."
        if self.unknown:
            yield (
                "Unknown results were not looked at: "
                f"--why {self.first_unknown} says what is not known of {'it' if self.unknown == 1 else 'the first'}."
            )
        if self.partial:
            one = self.partial == 1
            yield (
                f"Parts of {'a result' if one else f'{self.partial} results'} were not looked at: --why "
                f"{self.first_partial} says what is not known of {'it' if one else 'the first'}."
            )

    def as_json(self) -> dict[str, Any]:
        """The figures as ``--statistics --output-format json`` gives them."""
        figures = {name: getattr(self, name) for name in ("tools", "number", "text", "unknown")}
        files = [{"path": path, "reason": why} for path, why in self.files.items()]
        return {**figures, "files": files}


def unseen(
    sights: Iterable[ToolSight],
    left_out: Mapping[str, str],
    show: Callable[[str], str],
    judges_text: Callable[[str], bool],
) -> Unseen:
    """Count. ``show`` gives the path that people see, ``judges_text`` whether GL104 is on in a file."""
    listed = list(sights)
    results = [sight.result for sight in listed]
    first = next((sight for sight in listed if sight.result == "unknown"), None)
    partial = [sight for sight in listed if "unknown" in sight.other_parts]
    texts = [sight for sight in listed if sight.result == "text" or "text" in sight.other_parts]
    return Unseen(
        len(listed),
        results.count("number"),
        results.count("text"),
        results.count("unknown"),
        all(judges_text(path) for path in {sight.tool.path for sight in texts}),
        f"{show(first.tool.path)}:{first.line}" if first is not None else "",
        {show(path): why for path, why in sorted(left_out.items())},
        sum("text" in sight.other_parts for sight in listed),
        len(partial),
        f"{show(partial[0].tool.path)}:{partial[0].line}" if partial else "",
    )
