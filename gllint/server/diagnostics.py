"""From findings to the diagnostics of the protocol."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lsprotocol import types

from gllint.server.session import FileFindings
from gllint.server.texts import Snapshot
from gllint_rules import RULES, Finding, Note, Span

SOURCE = "gllint"
_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "info": types.DiagnosticSeverity.Information,
}
_UNNECESSARY = frozenset({"GL901"})


class Presenter:
    """Makes diagnostics for one client.

    ``text_of`` gives the text of any file, open or not; ``None`` where it cannot be read.
    """

    def __init__(
        self, capabilities: types.ClientCapabilities, text_of: Callable[[str], Snapshot | None]
    ) -> None:
        text_document = capabilities.text_document
        wanted = text_document.publish_diagnostics if text_document is not None else None
        self._wants_notes = bool(wanted and wanted.related_information)
        self._text_of = text_of

    def diagnostics(self, file_findings: FileFindings) -> dict[str, list[types.Diagnostic]]:
        """Return the diagnostics of a buffer by the address of the document (a file, or a notebook's cell) that
        they are in.
        """
        results: dict[str, list[types.Diagnostic]] = {
            document.uri: [] for document in file_findings.snapshot.documents
        }
        for finding in file_findings.findings:
            uri, diagnostic = self.diagnostic(finding, file_findings)
            results.setdefault(uri, []).append(diagnostic)
        return results

    def diagnostic(self, finding: Finding, file_findings: FileFindings) -> tuple[str, types.Diagnostic]:
        """Return the diagnostic of a finding, and the address of its document."""
        place = file_findings.snapshot.place_of(finding.span)
        return place.uri, types.Diagnostic(
            range=place.range,
            message=finding.message,
            severity=_SEVERITIES[file_findings.level(finding.code)],
            code=finding.code,
            code_description=types.CodeDescription(url) if (url := RULES[finding.code].url) else None,
            source=SOURCE,
            tags=[types.DiagnosticTag.Unnecessary] if finding.code in _UNNECESSARY else None,
            related_information=self._related(finding.notes) if self._wants_notes else None,
        )

    def _related(self, notes: Sequence[Note]) -> list[types.DiagnosticRelatedInformation] | None:
        locations = []
        for note in notes:
            location = self.location(note.path, note.span)
            if location is not None:
                locations.append(types.DiagnosticRelatedInformation(location, note.message))
        return locations or None

    def location(self, path: str, span: Span) -> types.Location | None:
        """Return a place in any file."""
        snapshot = self._text_of(path)
        return snapshot.place_of(span) if snapshot is not None else None
