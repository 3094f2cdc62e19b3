"""The verdicts on the numbers of a text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from gllint_runtime.policy.reader import Reading
from gllint_runtime.provenance.records import Source

Verdict = Literal["sourced", "quoted", "derived", "exempt", "mislabelled", "unsourced"]
FAULTS: tuple[Verdict, ...] = ("unsourced", "mislabelled")


class Derivation(NamedTuple):
    """How a number follows, and from what."""

    how: str
    sources: tuple[Source, ...]
    value: float
    units: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The derivation as plain data."""
        return {"how": self.how, "from": [source.to_dict() for source in self.sources[:20]]}


class Miss(NamedTuple):
    """Why a source is not what a number rests on although it is like it."""

    reason: Literal["unit", "sign", "record", "key", "kind", "factor", "size", "direction", "weekday"]
    source: Source


@dataclass(slots=True, eq=False)
class Finding:
    """A number of a text, the verdict, and what it rests on, or what is nearest to it."""

    reading: Reading
    verdict: Verdict
    source: Source | None = None
    derivation: Derivation | None = None
    miss: Miss | None = None
    is_weak: bool = False
    has_no_unit: bool = False

    @property
    def fails(self) -> bool:
        """Whether nothing shows the number as it is written."""
        return self.verdict in FAULTS

    @property
    def kind(self) -> Literal["numbers", "dates", "identifiers"]:
        """Which kind of value it is."""
        if self.reading.moments:
            return "dates"
        return "identifiers" if self.reading.shape == "code" else "numbers"

    @property
    def span(self) -> tuple[int, int]:
        """Where the number is."""
        return self.reading.start, self.reading.end

    @property
    def unit(self) -> str | None:
        """The unit that the text gives it: of a sign that currencies share, the one that the source has."""
        units = self.reading.units
        if len(units) > 1:
            own = self.source.units if self.source is not None else ()
            return next((unit for unit in own if unit in units), self.reading.written_unit or units[0])
        return units[0] if units else None
