"""An editor for the tests: pytest-lsp's client over the real server process, and projects to open in it."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

pytest_lsp = pytest.importorskip("pytest_lsp", reason="the tests of the language server need gllint[test]")

from lsprotocol import types  # noqa: E402

EXAMPLE = Path(__file__).parents[2] / "examples" / "building-energy"
PATIENCE = 30.0


class Editor:
    """One editor with its server. It remembers what was published, and the texts as the server should have them."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.published: dict[str, tuple[int | None, list[types.Diagnostic]]] = {}
        self.history: list[types.PublishDiagnosticsParams] = []
        self.registrations: list[types.Registration] = []
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.messages: list[types.ShowMessageParams] = []
        self.refreshes = 0
        self.cancels_progress = False
        self.offered: types.ServerCapabilities = types.ServerCapabilities()
        self._news = asyncio.Event()

    def receive(self, params: types.PublishDiagnosticsParams) -> None:
        self.published[params.uri] = (params.version, list(params.diagnostics))
        self.history.append(params)
        self._news.set()

    def hear(self, params: types.ShowMessageParams) -> None:
        self.messages.append(params)
        self._news.set()

    def refresh(self, params: None) -> None:
        self.refreshes += 1
        self._news.set()

    def progress(self, params: types.ProgressParams) -> None:
        if self.cancels_progress:
            cancel = types.WorkDoneProgressCancelParams(params.token)
            self.client.window_work_done_progress_cancel(cancel)

    def open(self, path: Path, text: str | None = None) -> str:
        return self.open_text(path.as_uri(), path.read_bytes().decode() if text is None else text)

    def open_text(self, uri: str, content: str) -> str:
        self.texts[uri], self.versions[uri] = content, 1
        self.client.text_document_did_open(
            types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, "python", 1, content))
        )
        return uri

    def change(self, uri: str, text: str, *, whole: bool = True) -> int:
        """Give the buffer another text: as a whole, or as one edit of what differs."""
        old, self.texts[uri] = self.texts[uri], text
        self.versions[uri] += 1
        change: types.TextDocumentContentChangeEvent = types.TextDocumentContentChangeWholeDocument(text)
        if not whole:
            change = _edit(old, text)
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(self.versions[uri], uri), [change]
            )
        )
        return self.versions[uri]

    def replace(self, uri: str, old: str, new: str) -> int:
        assert old in self.texts[uri]
        return self.change(uri, self.texts[uri].replace(old, new), whole=False)

    def close(self, uri: str) -> None:
        self.client.text_document_did_close(
            types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri))
        )

    async def until(self, condition: Callable[[], Any]) -> Any:
        """Wait until something that was published makes ``condition`` true, and return what it says."""

        async def wait() -> Any:
            while not (found := condition()):
                self._news.clear()
                await self._news.wait()
            return found

        return await asyncio.wait_for(wait(), PATIENCE)

    async def diagnostics(self, uri: str) -> list[types.Diagnostic]:
        """The diagnostics of the newest text of a buffer.

        What a user asks with the pointer waits for them here: a server at its first look gives up after a moment.
        """
        await self.until(lambda: self.published.get(uri, (0,))[0] == self.versions[uri])
        return self.published[uri][1]

    async def codes(self, uri: str) -> list[str]:
        return sorted(str(diagnostic.code) for diagnostic in await self.diagnostics(uri))

    async def codes_become(self, uri: str, *codes: str) -> None:
        """Wait until these are the codes shown for a buffer."""
        await self.until(
            lambda: sorted(str(d.code) for d in self.published.get(uri, (0, []))[1]) == sorted(codes)
        )

    async def pull(self, uri: str, previous: str | None = None) -> Any:
        return await self.client.text_document_diagnostic_async(
            types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri), previous_result_id=previous)
        )

    async def actions(
        self, uri: str, line: int = 0, end: int | None = None, only: Sequence[str] | None = None
    ) -> dict[str, types.CodeAction]:
        where = types.Range(types.Position(line, 0), types.Position(line if end is None else end, 0))
        found = await self.client.text_document_code_action_async(
            types.CodeActionParams(
                types.TextDocumentIdentifier(uri),
                where,
                types.CodeActionContext([], only=list(only) if only else None),
            )
        )
        return {action.title: action for action in found or []}

    def position(self, uri: str, mark: str, shift: int = 0) -> types.Position:
        """The place of ``mark`` in a buffer, in UTF-16 as the server would have it by default."""
        offset = self.texts[uri].index(mark) + shift
        before = self.texts[uri][:offset]
        line = before.count("\n")
        return types.Position(line, len(before.rpartition("\n")[2].encode("utf-16-le")) // 2)

    async def hover(self, uri: str, mark: str, shift: int = 0) -> str:
        await self.diagnostics(uri)
        found = await self.client.text_document_hover_async(
            types.HoverParams(types.TextDocumentIdentifier(uri), self.position(uri, mark, shift))
        )
        return found.contents.value if found is not None else ""

    async def complete(self, uri: str, mark: str, shift: int = 0) -> dict[str, types.CompletionItem]:
        await self.diagnostics(uri)
        found = await self.client.text_document_completion_async(
            types.CompletionParams(types.TextDocumentIdentifier(uri), self.position(uri, mark, shift))
        )
        return {item.label: item for item in found.items} if found is not None else {}

    async def define(self, uri: str, mark: str, shift: int = 0) -> list[types.Location]:
        await self.diagnostics(uri)
        found = await self.client.text_document_definition_async(
            types.DefinitionParams(types.TextDocumentIdentifier(uri), self.position(uri, mark, shift))
        )
        return list(found or [])

    def applied(self, uri: str, edit: types.WorkspaceEdit) -> str:
        """A buffer's text after an edit."""
        if edit.changes is not None:
            edits = list(edit.changes[uri])
        else:
            [document] = edit.document_changes or []
            assert isinstance(document, types.TextDocumentEdit)
            assert document.text_document.version == self.versions[uri]
            edits = [one for one in document.edits if isinstance(one, types.TextEdit)]
        return apply_edits(self.texts[uri], edits)

    def files_changed(self, *paths: Path, kind: types.FileChangeType = types.FileChangeType.Changed) -> None:
        self.client.workspace_did_change_watched_files(
            types.DidChangeWatchedFilesParams([types.FileEvent(path.as_uri(), kind) for path in paths])
        )

    async def stop(self) -> None:
        await asyncio.wait_for(self.client.shutdown_session(), PATIENCE)
        await self.client.stop()


def apply_edits(text: str, edits: Sequence[types.TextEdit]) -> str:
    """Apply edits whose places count UTF-16 units."""
    lines = text.split("\n")

    def offset(position: types.Position) -> int:
        start = sum(len(line) + 1 for line in lines[: position.line])
        units = lines[position.line].encode("utf-16-le")[: 2 * position.character]
        return start + len(units.decode("utf-16-le"))

    places = sorted(((offset(e.range.start), offset(e.range.end), e.new_text) for e in edits), reverse=True)
    for start, end, new in places:
        text = text[:start] + new + text[end:]
    return text


def _edit(old: str, new: str) -> types.TextDocumentContentChangePartial:
    """The one edit between two texts, in UTF-16 units."""
    head = len(os.path.commonprefix([old, new]))
    tail = len(os.path.commonprefix([old[head:][::-1], new[head:][::-1]]))

    def position(offset: int) -> types.Position:
        before = old[:offset]
        return types.Position(
            before.count("\n"), len(before.rpartition("\n")[2].encode("utf-16-le", "surrogatepass")) // 2
        )

    return types.TextDocumentContentChangePartial(
        types.Range(position(head), position(len(old) - tail)), new[head : len(new) - tail]
    )


Start = Callable[..., Awaitable[Editor]]


@pytest_asyncio.fixture
async def start(tmp_path: Path, gllint: list[str]) -> AsyncIterator[Start]:
    """Start a server and an editor with these folders and capabilities; all are ended after the test."""
    editors: list[Editor] = []

    async def begin(
        *folders: Path, capabilities: types.ClientCapabilities | None = None, cancels_progress: bool = False
    ) -> Editor:
        client = pytest_lsp.make_test_lsp_client()
        editor = Editor(client)
        editor.cancels_progress = cancels_progress
        features = client.protocol.fm.features
        features[types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS] = editor.receive
        features[types.WINDOW_SHOW_MESSAGE] = editor.hear
        features[types.WORKSPACE_DIAGNOSTIC_REFRESH] = editor.refresh
        keep = features[types.PROGRESS]

        def progress(params: types.ProgressParams) -> None:
            keep(params)
            editor.progress(params)

        features[types.PROGRESS] = progress
        client.feature(types.CLIENT_REGISTER_CAPABILITY)(
            lambda params: editor.registrations.extend(params.registrations)
        )
        environment = {**os.environ, "GLLINT_CACHE_DIR": str(tmp_path / "cache")}
        await client.start_io(*gllint, "server", env=environment, cwd=tmp_path)
        editors.append(editor)
        result = await client.initialize_session(
            types.InitializeParams(
                capabilities=capabilities or types.ClientCapabilities(),
                workspace_folders=[types.WorkspaceFolder(f.as_uri(), f.name) for f in folders],
            )
        )
        editor.offered = result.capabilities
        return editor

    yield begin
    for editor in editors:
        await editor.stop()


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """A copy of the example project."""
    return Path(shutil.copytree(EXAMPLE, tmp_path / "example"))


@pytest.fixture
def project(tmp_path: Path) -> Callable[[Mapping[str, str]], Path]:
    """Write a project of these files and return its folder."""

    def write(files: Mapping[str, str], name: str = "project") -> Path:
        root = tmp_path / name
        for path, text in {"pyproject.toml": "", **files}.items():
            place = root / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(text.encode())
        return root

    return write


@pytest.fixture
def check(gllint: list[str]) -> Callable[[Path], list[dict[str, Any]]]:
    """What ``gllint check`` says of a folder."""

    def check(folder: Path) -> list[dict[str, Any]]:
        command = [*gllint, "check", "--no-cache", "--output-format", "json", str(folder)]
        done = subprocess.run(command, capture_output=True, check=False, cwd=folder)
        assert done.returncode in (0, 1), done.stderr.decode()
        return list(json.loads(done.stdout))

    return check
