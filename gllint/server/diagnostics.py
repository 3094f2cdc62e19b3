"""From findings to the diagnostics of the protocol."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lsprotocol import types

from gllint.server.session import Shown
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

    def diagnostics(self, shown: Shown) -> dict[str, list[types.Diagnostic]]:
        """The diagnostics of a buffer, those of each of its documents by its address."""
        found: dict[str, list[types.Diagnostic]] = {document.uri: [] for document in shown.snapshot.documents}
        for finding in shown.findings:
            uri, diagnostic = self.diagnostic(finding, shown)
            found.setdefault(uri, []).append(diagnostic)
        return found

    def diagnostic(self, finding: Finding, shown: Shown) -> tuple[str, types.Diagnostic]:
        """The diagnostic of one finding, and the address of the document that it stands in."""
        place = shown.snapshot.place_of(finding.span)
        return place.uri, types.Diagnostic(
            range=place.range,
            message=finding.message,
            severity=_SEVERITIES[shown.level(finding.code)],
            code=finding.code,
            code_description=types.CodeDescription(url) if (url := RULES[finding.code].url) else None,
            source=SOURCE,
            tags=[types.DiagnosticTag.Unnecessary] if finding.code in _UNNECESSARY else None,
            related_information=self._related(finding.notes) if self._wants_notes else None,
        )

    def _related(self, notes: Sequence[Note]) -> list[types.DiagnosticRelatedInformation] | None:
        found = []
        for note in notes:
            location = self.location(note.path, note.span)
            if location is not None:
                found.append(types.DiagnosticRelatedInformation(location, note.message))
        return found or None

    def location(self, path: str, span: Span) -> types.Location | None:
        """A place in any file."""
        found = self._text_of(path)
        return found.place_of(span) if found is not None else None
