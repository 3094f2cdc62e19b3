"""What the editor may ask for, each as a function of the server and its parameters."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from typing import Any

from lsprotocol import types

from gllint.files.places import Place
from gllint.files.source import Change
from gllint.run.fixer import chosen
from gllint.server import actions, completion, hover, knowledge, spots
from gllint.server.app import Server, changed_paths, path_of
from gllint.server.cells import OpenNotebook
from gllint.server.session import Buffer
from gllint.server.texts import Snapshot
from gllint_rules import Finding, Settings
from gllint_rules.project.descriptions import ToolDescription
from gllint_rules.words.names import Names
from gllint_runtime.policy.claims import find_macros

FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.gllint"
FIX_NOTEBOOK = f"notebook.{FIX_ALL}"
_CLAIM_KEYS = ("source_call_id", "path")


def register(server: Server) -> None:
    """Offer everything below."""
    for method, (function, options) in _FEATURES.items():
        server.feature(method, options)(function)


# --- the life of the server ----------------------------------------------------------------------------------


def initialized(ls: Server, params: types.InitializedParams) -> None:
    """The editor is ready."""
    ls.begin()


def shutdown(ls: Server, params: None) -> None:
    """The editor wants nothing any more."""
    ls.worker.stop()


def did_save(ls: Server, params: types.DidSaveTextDocumentParams) -> None:
    """A buffer was written."""
    ls.saved(params.text_document.uri)


def notebook_saved(ls: Server, params: types.DidSaveNotebookDocumentParams) -> None:
    """A notebook was written."""
    ls.saved(params.notebook_document.uri)


def files_changed(ls: Server, params: types.DidChangeWatchedFilesParams) -> None:
    """Files changed on disk."""
    paths = list(changed_paths(list(params.changes)))
    ls.do(lambda: ls.session.written(paths))


def folders_changed(ls: Server, params: types.DidChangeWorkspaceFoldersParams) -> None:
    """Take in the folders that the editor added, and drop those that it removed."""
    for gone in params.event.removed:
        if (folder := path_of(gone.uri)) is not None:
            ls.do(lambda folder=folder: ls.session.remove_folder(folder))  # type: ignore[misc]
    for come in params.event.added:
        if (folder := path_of(come.uri)) is not None:
            ls.do(lambda folder=folder: ls.session.add_folder(folder))  # type: ignore[misc]


# --- diagnostics ---------------------------------------------------------------------------------------------


async def pull_diagnostics(
    ls: Server, params: types.DocumentDiagnosticParams
) -> types.DocumentDiagnosticReport:
    """Return the diagnostics of a buffer, or "unchanged" if the editor has them already."""
    uri = params.text_document.uri
    path = ls.path_at(uri)

    def report() -> types.DocumentDiagnosticReport:
        file_findings = ls.session.findings(path) if path is not None else None
        items = ls.presenter.diagnostics(file_findings).get(uri, []) if file_findings is not None else []
        name = hashlib.blake2b(repr(items).encode("utf-8", "replace"), digest_size=8).hexdigest()
        if name == params.previous_result_id:
            return types.RelatedUnchangedDocumentDiagnosticReport(name)
        return types.RelatedFullDocumentDiagnosticReport(items, result_id=name)

    return await ls.ask(report)


# --- code actions --------------------------------------------------------------------------------------------


async def code_actions(ls: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
    """Return the actions for the findings in a range: fixes, suppressions, settings, and fixing all of the file."""
    path = ls.path_at(params.text_document.uri)
    file_findings = await ls.ask(lambda: ls.session.fixable(path)) if path is not None else None
    if path is None or file_findings is None:
        return []
    uri, only = params.text_document.uri, params.context.only
    results: list[types.CodeAction] = []
    if _is_wanted(types.CodeActionKind.QuickFix.value, only):
        triples = [
            (finding, *ls.presenter.diagnostic(finding, file_findings)) for finding in file_findings.findings
        ]
        pairs = [
            (finding, diagnostic)
            for finding, where, diagnostic in triples
            if where == uri and _share_lines(diagnostic.range, params.range)
        ]
        for finding, diagnostic in pairs:
            results += _quick_fixes(ls, file_findings.snapshot, finding, diagnostic)
        if any(finding.settings for finding, _ in pairs):
            place = await ls.ask(lambda: ls.session.place(path))
            results += _settings(ls, place, pairs) if place is not None else []
    # An editor that asks for the fixes of a source asks each cell for them, and would make those of all several times.
    kind = FIX_NOTEBOOK if isinstance(file_findings.snapshot, OpenNotebook) else FIX_ALL
    if _is_wanted(kind, only) and actions.has_safe_fix(file_findings.findings):
        action = types.CodeAction("gllint: Apply all safe fixes", kind=kind, data={"uri": uri})
        # Who asks for nothing else is about to save, and would only have to come back for the edit.
        is_late = _resolves_edits(ls) and not only
        results.append(action if is_late else await resolve_action(ls, action))
    return results


async def resolve_action(ls: Server, action: types.CodeAction) -> types.CodeAction:
    """Return an action that was offered without its edit, with the edit: all safe fixes of the file."""
    uri = action.data.get("uri") if isinstance(action.data, dict) else None
    path = ls.path_at(uri) if isinstance(uri, str) else None
    fixed = await ls.ask(lambda: ls.session.fixed(path)) if path is not None else None
    if fixed is not None:
        snapshot, data = fixed
        action.edit = _workspace_edit(ls, snapshot.until(data))
    return action


def _quick_fixes(
    ls: Server, snapshot: Snapshot, finding: Finding, diagnostic: types.Diagnostic
) -> list[types.CodeAction]:
    """Return the quick fixes of a finding: its own fix, and a comment that suppresses it."""
    results: list[types.CodeAction] = []

    def offer(title: str, changes: list[Change], is_preferred: bool | None = None) -> None:
        """Add a quick fix with these changes to the results."""
        documents = snapshot.in_documents(changes) if changes else ()
        if documents:
            results.append(
                types.CodeAction(
                    title,
                    kind=types.CodeActionKind.QuickFix,
                    diagnostics=[diagnostic],
                    is_preferred=is_preferred,
                    edit=_workspace_edit(ls, documents),
                )
            )

    fix = finding.fix
    if fix is not None:
        is_safe = fix.applicability == "safe"
        title = f"{finding.code}: {fix.message}" + ("" if is_safe else " (unsafe)")
        offer(title, chosen(snapshot.text, [fix])[0], is_safe or None)
    offer(f"{finding.code}: Suppress here", actions.suppression_changes(snapshot, finding))
    return results


def _settings(
    ls: Server, place: Place, pairs: Sequence[tuple[Finding, types.Diagnostic]]
) -> list[types.CodeAction]:
    """Return the actions that add a line of configuration which allows what is reported, each line once."""
    file = ls.configuration_of(place)
    if file is None:
        return []
    path, snapshot = file
    actions_by_title: dict[str, types.CodeAction] = {}
    for finding, diagnostic in pairs:
        for line, changes in actions.allowing(finding, place.config, path, snapshot):
            title = f"Add `{line}` to {os.path.basename(path)}"
            if title not in actions_by_title:
                actions_by_title[title] = types.CodeAction(
                    title,
                    kind=types.CodeActionKind.QuickFix,
                    diagnostics=[],
                    edit=_workspace_edit(ls, [(snapshot, changes)]),
                )
            actions_by_title[title].diagnostics = [*(actions_by_title[title].diagnostics or ()), diagnostic]
    return list(actions_by_title.values())


def _workspace_edit(
    ls: Server, documents: Sequence[tuple[Snapshot, Sequence[Change]]]
) -> types.WorkspaceEdit:
    """Return the edit of some documents in the form that the editor supports."""
    document_edits = [
        (document, [types.TextEdit(document.range(start, end), text) for start, end, text in changes])
        for document, changes in documents
    ]
    workspace = ls.client_capabilities.workspace
    editing = workspace.workspace_edit if workspace is not None else None
    if editing is None or not editing.document_changes:
        return types.WorkspaceEdit(changes={document.uri: edits for document, edits in document_edits})
    return types.WorkspaceEdit(
        document_changes=[
            types.TextDocumentEdit(
                types.OptionalVersionedTextDocumentIdentifier(document.uri, document.version), list(edits)
            )
            for document, edits in document_edits
        ]
    )


def _resolves_edits(ls: Server) -> bool:
    text_document = ls.client_capabilities.text_document
    capability = text_document.code_action if text_document is not None else None
    return bool(capability and capability.resolve_support and "edit" in capability.resolve_support.properties)


def _is_wanted(kind: str, only: Sequence[types.CodeActionKind | str] | None) -> bool:
    if not only:
        return True
    wanted = [item.value if isinstance(item, types.CodeActionKind) else item for item in only]
    return any(not item or kind == item or kind.startswith(f"{item}.") for item in wanted)


def _share_lines(a: types.Range, b: types.Range) -> bool:
    return a.start.line <= b.end.line and b.start.line <= a.end.line


# --- hover, completion, definition ---------------------------------------------------------------------------


async def show_hover(ls: Server, params: types.HoverParams) -> types.Hover | None:
    """Return what is known about the rule, unit, claim or tool under the cursor; ``None`` if nothing is."""
    cursor = _cursor(ls, params)
    if cursor is None:
        return None
    path, buffer, snapshot, offset = cursor
    parts = [text for text in (_code_text(snapshot.text, offset),) if text]
    spot = spots.spot_at(snapshot.text, offset)
    if spot is not None and spots.is_unit(spot) and spot.value:
        parts.append(hover.unit_text(spot.value, buffer.settings.policy))
    parts += await ls.ask_soon(lambda: _project_texts(ls, path, snapshot, offset, spot), [])
    if not parts:
        return None
    text = "\n\n---\n\n".join(parts)
    is_short = spot is not None and "\n" not in spot.value
    place = snapshot.location(spot.start, spot.end).range if spot is not None and is_short else None
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text), place)


def _code_text(text: str, offset: int) -> str:
    """Describe the rule whose code is in a comment."""
    comment = spots.comment_at(text, offset)
    for match in hover.CODE.finditer(text, max(0, offset - 5), offset + 5) if comment else ():
        if match.start() <= offset <= match.end():
            return hover.rule_text(match.group())
    return ""


def _project_texts(
    ls: Server, path: str, snapshot: Snapshot, offset: int, spot: spots.Spot | None
) -> list[str]:
    """Return the texts of a hover about the claim, tool or findings at an offset, as Markdown."""
    parts: list[str] = []
    loaded_project = ls.session.project_of(path)
    file_findings = ls.session.findings(path)
    if loaded_project is None or file_findings is None or file_findings.snapshot is not snapshot:
        return parts
    if spot is not None:
        macro = _macro_at(spot, offset)
        if macro is not None:
            claim = _claim(ls, path, snapshot, offset, macro)
            parts.append(hover.claim_text(macro, claim))
        if spots.is_tool_name(spot, _dispatchers(loaded_project.workspace.config.rules)):
            parts.append(
                hover.tool_text(knowledge.tools_named(loaded_project.workspace.index.project, spot.value))
            )
    findings = [f for f in file_findings.findings if _touches(snapshot.offsets.of(f.span), offset)]
    if findings:
        parts.append(hover.findings_text(findings))
    return [part for part in parts if part]


def _touches(place: tuple[int, int], offset: int) -> bool:
    return place[0] <= offset <= place[1]


def _macro_at(spot: spots.Spot, offset: int) -> int | None:
    text, position = spots.before_doubled(spot, offset)
    for macro in find_macros(text):
        if macro.start <= position <= macro.end:
            return macro.index
    return None


def _claim(
    ls: Server, path: str, snapshot: Snapshot, offset: int, macro: int | None
) -> knowledge.Claim | None:
    """Return the claim of the macro with index ``macro``, or for ``None`` the claim that is written at an offset,
    if any.
    """
    loaded_project = ls.session.project_of(path)
    if loaded_project is None:
        return None
    project = loaded_project.workspace.index.project
    module = project.imports.module_at(path)
    if module is None:
        return None
    span = snapshot.span_at(offset)
    if macro is None:
        return knowledge.claim_at(project, module, span)
    return knowledge.claim_of_macro(project, module, span, macro)


async def complete(ls: Server, params: types.CompletionParams) -> types.CompletionList | None:
    """Return the units or tools that can be written at the cursor; ``None`` where neither belongs."""
    cursor = _cursor(ls, params)
    if cursor is None:
        return None
    path, buffer, snapshot, offset = cursor
    spot = spots.spot_at(snapshot.text, offset)
    if spot is None:
        return None
    if spots.is_unit(spot):
        units = completion.units(snapshot.text[spot.start : offset], buffer.settings.policy)
        return completion.items(spot, offset, snapshot, types.CompletionItemKind.Unit, units)
    if spots.is_tool_name(spot, _dispatchers(buffer.settings)):
        unknown: dict[str, str] = {}
        names = await ls.ask_soon(lambda: _tool_names(ls, path), unknown)
        kind = types.CompletionItemKind.Function
        return completion.items(spot, offset, snapshot, kind, sorted(names.items()))
    return None


def _tool_names(ls: Server, path: str) -> dict[str, str]:
    loaded_project = ls.session.project_of(path)
    if loaded_project is None:
        return {}
    names = knowledge.tool_names(loaded_project.workspace.index.project)
    root = loaded_project.workspace.root.rstrip("/") + "/"
    return {name: place.removeprefix(root) for name, place in names.items()}


async def define(ls: Server, params: types.DefinitionParams) -> list[types.Location] | None:
    """Return where the tool is defined that the name or claim under the cursor refers to."""
    cursor = _cursor(ls, params)
    spot = spots.spot_at(cursor[2].text, cursor[3]) if cursor is not None else None
    if cursor is None or spot is None:
        return None
    path, _, snapshot, offset = cursor

    def places() -> list[types.Location]:
        locations = [
            ls.presenter.location(tool.path, tool.span)
            for tool in _tools_at(ls, path, snapshot, offset, spot)
        ]
        return [place for place in locations if place is not None]

    return await ls.ask_soon(places, []) or None


def _dispatchers(settings: Settings) -> frozenset[str]:
    return Names.of(settings).dispatch_functions


def _tools_at(
    ls: Server, path: str, snapshot: Snapshot, offset: int, spot: spots.Spot
) -> Sequence[ToolDescription]:
    """Return the tools that are named at an offset, or that a claim there cites."""
    ls.session.apply(path)
    loaded_project = ls.session.project_of(path)
    if loaded_project is None:
        return ()
    if spots.is_tool_name(spot, _dispatchers(loaded_project.workspace.config.rules)):
        return knowledge.tools_named(loaded_project.workspace.index.project, spot.value)
    macro = _macro_at(spot, offset)
    if macro is None and spot.place not in _CLAIM_KEYS:
        return ()
    claim = _claim(ls, path, snapshot, offset, macro)
    return claim.tools if claim is not None else ()


def _cursor(
    ls: Server, params: types.HoverParams | types.CompletionParams | types.DefinitionParams
) -> tuple[str, Buffer, Snapshot, int] | None:
    """Return the path, buffer, text and offset of the cursor; ``None`` for an unknown document."""
    path = ls.path_at(params.text_document.uri)
    buffer = ls.session.buffers.get(path) if path is not None else None
    if path is None or buffer is None:
        return None
    snapshot = buffer.snapshot
    offset = snapshot.offset_in(params.text_document.uri, params.position)
    return (path, buffer, snapshot, offset) if offset is not None else None


_FEATURES: dict[str, tuple[Any, Any]] = {
    types.INITIALIZED: (initialized, None),
    types.SHUTDOWN: (shutdown, None),
    types.TEXT_DOCUMENT_DID_SAVE: (did_save, None),
    types.NOTEBOOK_DOCUMENT_DID_SAVE: (notebook_saved, None),
    types.WORKSPACE_DID_CHANGE_WATCHED_FILES: (files_changed, None),
    types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: (folders_changed, None),
    types.TEXT_DOCUMENT_DIAGNOSTIC: (
        pull_diagnostics,
        types.DiagnosticOptions(
            inter_file_dependencies=True, workspace_diagnostics=False, identifier="gllint"
        ),
    ),
    types.TEXT_DOCUMENT_CODE_ACTION: (
        code_actions,
        types.CodeActionOptions(
            code_action_kinds=[types.CodeActionKind.QuickFix, FIX_ALL, FIX_NOTEBOOK], resolve_provider=True
        ),
    ),
    types.CODE_ACTION_RESOLVE: (resolve_action, None),
    types.TEXT_DOCUMENT_HOVER: (show_hover, None),
    types.TEXT_DOCUMENT_COMPLETION: (
        complete,
        types.CompletionOptions(trigger_characters=completion.TRIGGERS),
    ),
    types.TEXT_DOCUMENT_DEFINITION: (define, None),
}
