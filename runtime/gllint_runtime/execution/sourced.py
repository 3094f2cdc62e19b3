"""The gate of sourced mode: plain numbers, each with its source, or one rejection that lists all that fail."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gllint_runtime.execution.record import CallRecord
from gllint_runtime.policy.errors import GLDataError, GLError, GLProvenanceError
from gllint_runtime.policy.settings import Policy

if TYPE_CHECKING:
    from gllint_runtime.provenance.engine import Judging, Provenance
    from gllint_runtime.provenance.findings import Finding, Miss

_MOST_LISTED = 50

_REASONS = {
    "unit": "is in {unit}",
    "kind": "is a {kind}, which takes no unit of measure, currency or %",
    "sign": "has the other sign",
    "record": "is of another record",
    "key": "is another key's",
    "factor": "is the number before it was multiplied",
    "size": "has another size",
    "direction": "goes the other way",
    "weekday": "is another day of the week",
}


class SourcedGate:
    """The numbers of one session's messages, judged."""

    def __init__(self, policy: Policy, constants: Mapping[str, Any]) -> None:
        self._policy, self._constants = policy, constants
        self._provenance: Provenance | None = None  # made when a number is first judged
        self._waiting: list[tuple[str, str] | CallRecord] = []
        self._stream: tuple[str, Judging] | None = None  # the text of a stream, as far as it was judged

    def hear(self, speaker: str, text: str) -> None:
        """Take in what the user or the program said."""
        self._waiting.append((speaker, text))
        self._stream = None

    def record(self, record: CallRecord) -> None:
        """Take in a call."""
        self._waiting.append(record)
        self._stream = None

    @property
    def provenance(self) -> Provenance:
        """The sources of numbers: all that was heard and recorded so far."""
        if self._provenance is None:
            from gllint_runtime.provenance.engine import Provenance  # most messages in claims mode need none

            self._provenance = Provenance.under(self._policy, self._constants)
        for new in self._waiting:
            if isinstance(new, CallRecord):
                units = new.output.declared_units()
                self._provenance.record(new.call_id, new.tool_name, new.arguments, new.output.data, units)
            else:
                self._provenance.hear(*new)
        self._waiting.clear()
        return self._provenance

    def judge(self, text: str, proven: Sequence[tuple[int, int]] = ()) -> list[Finding]:
        """Return the numbers of a text with their verdicts."""
        return self.provenance.judge(text, proven)

    def judge_part(self, start: str, part: str) -> list[Finding]:
        """Return the numbers of a part of a text that grows, with their verdicts; nothing is judged twice."""
        from gllint_runtime.provenance.engine import Judging

        text, judging = self._stream or ("", None)
        if judging is None or text != start:
            judging = Judging(self.provenance)
            judging.add(start)
        self._stream = start + part, judging
        return judging.add(part)

    def errors(self, findings: Sequence[Finding]) -> list[GLError]:
        """Return one error for each code of the failing findings, each with all of them in its hint and context."""
        failing = [finding for finding in findings if finding.fails]
        hint = self.hint(failing)
        context = [self._described(finding) for finding in failing[:_MOST_LISTED]]
        errors: list[GLError] = []
        for code, verdict, words in (
            ("NO_SOURCE", "unsourced", "does not come from anything that a tool returned or the user said"),
            ("MISLABELLED", "mislabelled", "does not match its source"),
        ):
            first = next((finding for finding in failing if finding.verdict == verdict), None)
            if first is not None:
                message = f"'{first.reading.text[:200]}' at position {first.reading.start} {words}"
                if first.miss is not None:
                    message = f"{message}: {self._why(first.miss)}"
                errors.append(GLProvenanceError(code, message, hint=hint, context=context))
        return errors

    def no_unit(self, findings: Sequence[Finding]) -> GLDataError | None:
        """Return what there is to note of numbers whose unit nothing shows but the text."""
        bare = [finding for finding in findings if finding.has_no_unit and finding.source is not None]
        if not bare:
            return None
        first = bare[0]
        assert first.source is not None
        return GLDataError(
            "NO_UNIT",
            f"'{first.reading.text[:200]}' is shown in {first.unit}, but the output of "
            f"{first.source.tool} gives no unit for {first.source.shown_path}",
            path=first.source.shown_path,
            context=[self._described(finding) for finding in bare[:_MOST_LISTED]],
        )

    def hint(self, failing: Sequence[Finding]) -> str:
        """Return the text for the model: each number that fails, with its nearest source."""
        lines = []
        for finding in failing[:_MOST_LISTED]:
            text = finding.reading.text[:80]
            near = self._nearest(finding)
            if finding.miss is not None:
                lines.append(f"- '{text}': {self._why(finding.miss)}")
            elif near is not None:
                lines.append(f"- '{text}': no source; the nearest is {near}")
            else:
                lines.append(f"- '{text}': no source")
        rest = len(failing) - _MOST_LISTED
        notes = [f"- and {rest} more"] if rest > 0 else []
        if self.provenance.has_forgotten:
            notes.append(
                "The oldest outputs of this long conversation are forgotten: call their tools again."
            )
        advice = (
            "Write each as its source has it, call a tool for it, or leave it out; write nothing else anew."
        )
        return "\n".join(["These numbers fail:", *lines, *notes, advice])

    def _why(self, miss: Miss) -> str:
        source = miss.source
        shown = self._shown(source)
        reason = _REASONS[miss.reason].format(unit=source.unit or "no unit", kind=source.kind or "count")
        return f"{shown} {reason}"

    def _shown(self, source: Any) -> str:
        """Describe a source for a hint: its value and unit, its row, its call and path."""
        value = source.text if source.moment is not None or source.is_code else f"{source.value:.12g}"
        unit = f" {source.unit}" if source.unit else ""
        names = [
            " ".join(name)
            for record in (source.record.chain if source.record else ())
            for name in record.names[:1]
        ]
        of = f" of {names[0]}" if names else ""
        where = f"{source.tool} {source.call_id} {source.shown_path}".replace("  ", " ")
        return f"{value}{unit}{of} ({where})"

    def _nearest(self, finding: Finding) -> str | None:
        """Describe the source whose value is nearest to a number that has none; ``None`` if none is near."""
        reading = finding.reading
        index = self.provenance.index
        if reading.renderings:
            value = reading.value
            near = [source for source in index.nearest(value) if source.origin != "said" or source.call_id]
            near.sort(key=lambda source: abs(float(source.value) - value))
            if near and abs(float(near[0].value) - value) <= abs(value) / 2:
                return self._shown(near[0])
        if reading.moments:
            for moment in reading.moments:
                for part in (moment._replace(day=None), moment._replace(minute=None)):
                    source = next(iter(index.moments(part)), None)
                    if source is not None:
                        return self._shown(source)
        return None

    def _described(self, finding: Finding) -> dict[str, Any]:
        entry = self.entry(finding)
        if finding.miss is not None:
            entry["nearest"] = finding.miss.source.to_dict()
            entry["reason"] = finding.miss.reason
        return entry

    def entry(self, finding: Finding) -> dict[str, Any]:
        """Return a number with what it rests on, as plain data."""
        source = finding.source
        is_of_tool = source is not None and bool(source.call_id)
        return {
            "span": [*finding.span],
            "text": finding.reading.text,
            "verdict": finding.verdict,
            "source_call_id": source.call_id if source is not None and is_of_tool else None,
            "tool_name": source.tool if source is not None and is_of_tool else None,
            # gllint: ignore[GL404] an entry of the provenance, no claim
            "path": source.shown_path if source is not None and is_of_tool else None,
            "value": None if source is None else source.to_dict()["value"],
            # The value is the tool's own, not converted, so its unit is, too.
            "unit": (source.unit if source is not None else None) or finding.unit,
            "derived": None if finding.derivation is None else finding.derivation.to_dict(),
            "weak": finding.is_weak,
        }


_SENTENCE_END = re.compile(r"(?<=[.!?…])[)\]\"'”’»*_]{0,4}\s+(?=\S)|\n+")


def drop_sentences(error: GLError, draft: str) -> str:
    """Return the draft without the sentences that fail; empty if none is left. For ``on_refusal`` of a gate."""
    spans = [entry["span"] for entry in error.context or () if isinstance(entry, Mapping) and "span" in entry]
    places = [
        (entry["position"], entry["position"] + len(entry.get("text", "")))
        for entry in error.context or ()
        if isinstance(entry, Mapping) and isinstance(entry.get("position"), int)
    ]
    spans += places
    if not spans:
        return ""
    kept = []
    start = 0
    for end in [*(match.end() for match in _SENTENCE_END.finditer(draft)), len(draft)]:
        if not any(first < end and start < last for first, last in spans):
            kept.append(draft[start:end])
        start = end
    text = "".join(kept).strip()
    return text if re.search(r"[^\W_]", text) else ""
