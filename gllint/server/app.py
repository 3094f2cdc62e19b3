"""The language server: messages in and out. What they mean is worked out by :mod:`gllint.server.session`."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import uuid
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method
from pygls.uris import from_fs_path, to_fs_path

from gllint import __version__
from gllint.files.discover import SUFFIXES
from gllint.files.editing import configuration
from gllint.files.paths import absolute
from gllint.files.places import Place
from gllint.files.source import Undecodable, decode
from gllint.files.sources import is_notebook
from gllint.files.writing import check_inside, read_bytes
from gllint.server.cells import NotebookFile, OpenNotebook
from gllint.server.diagnostics import Presenter
from gllint.server.indexing import Cancelled
from gllint.server.session import FileFindings, Session
from gllint.server.texts import Snapshot
from gllint.server.worker import Worker
from gllint_rules import Finding
from gllint_rules.words.text_files import TEXT_SUFFIXES

if TYPE_CHECKING:
    from pygls.server import ServerErrors

_T = TypeVar("_T")
_PATIENCE = 2.0
_HALVES = re.compile("[\ud800-\udfff]")  # of a pair, which no UTF-8 contains
_NOTEBOOKS = types.NotebookDocumentSyncOptions(
    [types.NotebookDocumentFilterWithNotebook("*", [types.NotebookCellLanguage("python")])], save=True
)
_WATCHED = (
    *(f"**/*{suffix}" for suffix in (*SUFFIXES, *TEXT_SUFFIXES)),
    "**/.gitignore",
    "**/*.toml",  # a configuration may extend one of any name
)


class Protocol(LanguageServerProtocol):
    """The part of the protocol that keeps texts is ours: lines end elsewhere than pygls thinks."""

    _server: Server

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Return the message in ``data``; the editor is sent an error for a request that cannot be read."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "method" in data and isinstance(data.get("id"), (int, str)):
                self._send_response(data["id"], None, error.to_response_error())
            raise

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Generator[Any, Any, types.InitializeResult]:
        """Agree on what both sides can do."""
        result = yield from super().lsp_initialize(params)
        self._server.agree(params, result.capabilities)
        return result

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        """Take in the text of an opened document."""
        document = params.text_document
        if document.language_id == "python":
            self._server.place_untitled(document.uri, ".py")
        self._server.put(
            document.uri, lambda _: self._server.snapshot(document.uri, document.text, document.version)
        )

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        """Take edits in."""
        document = params.text_document
        self._server.put(
            document.uri,
            lambda old: old.edited(params.content_changes, document.version) if old is not None else None,
        )

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        """Let a buffer go."""
        self._server.drop(params.text_document.uri)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def lsp_notebook_document__did_open(self, params: types.DidOpenNotebookDocumentParams) -> None:
        """Take a notebook in."""
        document, texts = params.notebook_document, params.cell_text_documents
        self._server.place_untitled(document.uri, ".ipynb")
        self._server.put(document.uri, lambda _: self._server.notebook(document, texts))

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def lsp_notebook_document__did_change(self, params: types.DidChangeNotebookDocumentParams) -> None:
        """Apply changes of a notebook's cells and their texts."""
        document, changed = params.notebook_document, params.change.cells
        if changed is not None:
            self._server.put(
                document.uri,
                lambda old: old.changed(changed, document.version) if isinstance(old, OpenNotebook) else None,
            )

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def lsp_notebook_document__did_close(self, params: types.DidCloseNotebookDocumentParams) -> None:
        """Let a notebook go."""
        self._server.drop(params.notebook_document.uri)


class Server(LanguageServer):
    """One server for one editor."""

    protocol: Protocol

    def __init__(self) -> None:
        """Make the server with its session and worker; :meth:`agree` starts it."""
        super().__init__("gllint", __version__, protocol_cls=Protocol, notebook_document_sync=_NOTEBOOKS)
        self.session = Session(self)
        self.worker = Worker(self.session.step, lambda error: self.log(f"gllint: {error!r}"))
        self.pulls = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self.presenter = Presenter(types.ClientCapabilities(), self.text_of)
        self._progress: _Progress | None = None
        self._watches = False
        self._is_reporting = False
        self._cells: dict[str, str] = {}  # the path of the notebook that a cell is in, by its address
        self._untitled: dict[
            str, str
        ] = {}  # the path that a document without a file is read under, by its address

    # --- the beginning -------------------------------------------------------------------------------------

    def agree(self, params: types.InitializeParams, offered: types.ServerCapabilities) -> None:
        """Take over what the editor can do, and start the worker.

        Diagnostics are pushed, unless the editor can both pull them and be asked to pull again.
        """
        can = params.capabilities
        self._loop = asyncio.get_running_loop()
        self.presenter = Presenter(can, self.text_of)
        if can.text_document is not None and can.text_document.diagnostic is not None:
            self.pulls = bool(
                can.workspace and can.workspace.diagnostics and can.workspace.diagnostics.refresh_support
            )
            if not self.pulls:
                offered.diagnostic_provider = None
        watching = can.workspace.did_change_watched_files if can.workspace is not None else None
        self._watches = bool(watching and watching.dynamic_registration)
        self.worker.start()

    def begin(self) -> None:
        """Have the editor report changes of files, and load the projects of its folders."""
        if self._watches:
            watchers = [types.FileSystemWatcher(pattern) for pattern in _WATCHED]
            options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
            self.client_register_capability(
                types.RegistrationParams(
                    [types.Registration("gllint-files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)]
                )
            )
        folders = list(self.workspace.folders.values())
        uris = [folder.uri for folder in folders] or [self.workspace.root_uri or ""]
        for uri in uris:
            if (folder := path_of(uri)) is not None:
                self.do(lambda folder=folder: self.session.add_folder(folder))  # type: ignore[misc]

    def report_server_error(self, error: Exception, source: ServerErrors) -> None:
        """Report an error to the editor, unless reporting one is what failed."""
        if self._is_reporting:
            return
        self._is_reporting = True
        try:
            super().report_server_error(error, source)
        finally:
            self._is_reporting = False

    # --- buffers -------------------------------------------------------------------------------------------

    def snapshot(self, uri: str, text: str, version: int | None) -> Snapshot:
        """Return the text of a file with the encoding that was agreed on."""
        snapshot = Snapshot(uri, text, version, self._encoding)
        return NotebookFile(snapshot) if is_notebook(uri) else snapshot

    def notebook(
        self, document: types.NotebookDocument, texts: Sequence[types.TextDocumentItem]
    ) -> OpenNotebook:
        """Return an opened notebook with its cells."""
        notebook = OpenNotebook(document.uri, (), document.version, self._encoding)
        array = types.NotebookCellArrayChange(0, 0, document.cells)
        structure = types.NotebookDocumentCellChangeStructure(array, texts)
        return notebook.changed(types.NotebookDocumentCellChanges(structure), document.version)

    @property
    def _encoding(self) -> str:
        """Return the agreed encoding in which positions are counted."""
        return str(self.workspace.position_encoding or "utf-16")

    def path_at(self, uri: str) -> str | None:
        """Return the path of the file that a document is, or that it is a cell of."""
        return self._cells.get(uri) or self._path_of(uri)

    def place_untitled(self, uri: str, suffix: str) -> None:
        """Note under which path an unsaved document is checked: as if it were in the editor's first folder."""
        scheme, _, name = uri.partition(":")
        folders = [folder.uri for folder in self.workspace.folders.values()] or [
            self.workspace.root_uri or ""
        ]
        # Half a surrogate pair cannot be part of a path.
        if scheme != "untitled" or _HALVES.search(uri) or (folder := path_of(folders[0])) is None:
            return
        name = unquote(name).replace("\\", "/").rpartition("/")[2].removesuffix(suffix)
        path = f"{folder}/{name}{suffix}"
        if name and path not in self.session.buffers and not os.path.lexists(path):
            self._untitled[uri] = path

    def _path_of(self, uri: str) -> str | None:
        if _HALVES.search(uri):  # no answer can name it
            return None
        return self._untitled.get(uri) or path_of(uri)

    def put(self, uri: str, change: Callable[[Snapshot | None], Snapshot | None]) -> None:
        """Replace the text of a buffer by what ``change`` makes of it, and have the worker check it."""
        path = self._path_of(uri)
        if path is None:
            return
        buffer = self.session.buffers.get(path)
        old = buffer.snapshot if buffer is not None else None
        snapshot = change(old)
        if snapshot is not None:
            self._cells |= {document.uri: path for document in snapshot.documents if document.uri != uri}
            self.session.put(path, snapshot)
            self.do(lambda: self.session.apply(path))
            self._forget({d.uri for d in old.documents} - {d.uri for d in snapshot.documents} if old else ())

    def drop(self, uri: str) -> None:
        """Close a buffer, and remove its diagnostics in the editor."""
        path = self._path_of(uri)
        if path is None:
            return
        buffer = self.session.buffers.get(path)
        self.session.drop(path)
        self.do(lambda: self.session.close(path))
        self._forget(
            [document.uri for document in buffer.snapshot.documents] if buffer is not None else [uri]
        )

    def _forget(self, uris: Iterable[str]) -> None:
        """Take the diagnostics of documents away that are there no more."""
        for uri in uris:
            self._cells.pop(uri, None)
            self._untitled.pop(uri, None)
            if not self.pulls:
                self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    def saved(self, uri: str) -> None:
        """If the editor does not watch files, check again after each save."""
        path = path_of(uri)
        if path is not None and not self._watches:
            self.do(lambda: self.session.rescan([path]))

    def text_of(self, path: str) -> Snapshot | None:
        """Return the text of a file, open or not; ``None`` if it cannot be read."""
        buffer = self.session.buffers.get(path)
        if buffer is not None:
            return buffer.snapshot
        uri = from_fs_path(path)
        try:
            stat = os.stat(path)
            text = _read(path, stat.st_mtime_ns, stat.st_size)
        except (OSError, Undecodable):
            return None
        return self.snapshot(uri, text, None) if uri is not None else None

    def configuration_of(self, place: Place) -> tuple[str, Snapshot] | None:
        """Return the path and text of the file to configure a project in; ``None`` if there is none."""
        path = configuration(place)
        if path is None:
            return None
        if (buffer := self.session.buffers.get(path)) is not None:
            return path, buffer.snapshot
        uri = from_fs_path(path)
        try:
            check_inside(path, place.repository or place.root)
            text = read_bytes(path).decode()
        except (OSError, UnicodeDecodeError):
            return None
        return (path, self.snapshot(uri, text, None)) if uri is not None else None

    # --- work ----------------------------------------------------------------------------------------------

    def do(self, job: Callable[[], _T]) -> Future[_T]:
        """Have the worker do something; what it raises is logged."""
        future = self.worker.submit(job)
        future.add_done_callback(self._log_failure)
        return future

    def _log_failure(self, future: Future[Any]) -> None:
        if not future.cancelled() and (error := future.exception()) is not None:
            self.log(f"gllint: {error!r}")

    async def ask(self, question: Callable[[], _T]) -> _T:
        """Return what the worker says."""
        return await asyncio.wrap_future(self.worker.submit(question))

    async def ask_soon(self, question: Callable[[], _T], otherwise: _T) -> _T:
        """Return what the worker says, or ``otherwise`` where it is reading a project and that takes too long."""
        try:
            return await asyncio.wait_for(self.ask(question), _PATIENCE if self._progress else None)
        except TimeoutError:
            return otherwise

    # --- what the session says, in the worker's thread -----------------------------------------------------

    def _later(self, call: Callable[[], None]) -> None:
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended, and with it the editor's interest
                self._loop.call_soon_threadsafe(call)

    def publish(self, path: str, snapshot: Snapshot, file_findings: FileFindings) -> None:
        """Send the findings of one version of a buffer to the editor, unless there is a newer one or the editor
        pulls them.
        """
        if self.pulls:
            return
        diagnostics = self.presenter.diagnostics(file_findings)

        def send() -> None:
            """Publish the diagnostics, unless the text has changed meanwhile."""
            buffer = self.session.buffers.get(path)
            if buffer is not None and buffer.snapshot is snapshot:
                for document in snapshot.documents:
                    self.text_document_publish_diagnostics(
                        types.PublishDiagnosticsParams(
                            document.uri, diagnostics[document.uri], document.version
                        )
                    )

        self._later(send)

    def publish_closed(self, path: str, findings: Sequence[Finding], level: Callable[[str], str]) -> None:
        """Send the findings in a file that is not open to the editor."""
        snapshot, uri = self.text_of(path), from_fs_path(path)
        if snapshot is None:
            diagnostics = {uri: list[types.Diagnostic]()} if uri is not None else {}
        else:
            diagnostics = self.presenter.diagnostics(FileFindings(snapshot, tuple(findings), level))

        def send() -> None:
            if path not in self.session.buffers or (self.pulls and not findings):
                for uri, items in diagnostics.items():
                    self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, items))

        self._later(send)

    def refresh(self) -> None:
        """Have the editor ask for all diagnostics again."""
        if self.pulls:
            self._later(lambda: _ignore(self.workspace_diagnostic_refresh(None)))

    def complain(self, message: str) -> None:
        """Show a message."""
        params = types.ShowMessageParams(types.MessageType.Error, f"gllint: {message}")
        self._later(lambda: self.window_show_message(params))

    def log(self, message: str) -> None:
        """Write a failure to the editor's log."""
        self._log(message, types.MessageType.Error)

    def note(self, message: str, is_warning: bool) -> None:
        """Write what is no failure to the editor's log."""
        self._log(message, types.MessageType.Warning if is_warning else types.MessageType.Info)

    def _log(self, message: str, level: types.MessageType) -> None:
        params = types.LogMessageParams(level, message)
        self._later(lambda: self.window_log_message(params))

    def working(self, title: str) -> Callable[[str, int, int], None]:
        """Show a progress bar, and return the function that moves it: label, done, total. That raises ``Cancelled``."""
        window = self.client_capabilities.window
        progress = self._progress = _Progress(self, bool(window and window.work_done_progress))
        self._later(lambda: progress.begin(title))

        def report(label: str, done: int, total: int) -> None:
            if progress.is_cancelled or self.worker.is_stopped:
                raise Cancelled
            self._later(lambda: progress.report(label, done, total))

        return report

    def finished(self) -> None:
        """Show no progress any more."""
        progress, self._progress = self._progress, None
        if progress is not None:
            self._later(progress.end)


class _Progress:
    """A progress bar in the editor; nothing where it has none. Used in the loop's thread."""

    def __init__(self, server: Server, is_shown: bool) -> None:
        self._server, self._is_shown = server, is_shown
        self._token = f"gllint-{uuid.uuid4()}"
        self._has_begun = self._has_ended = False
        self._title = ""

    @property
    def is_cancelled(self) -> bool:
        """Return whether the user has cancelled it."""
        future = self._server.work_done_progress.tokens.get(self._token)
        return future is not None and future.cancelled()

    def begin(self, title: str) -> None:
        """Ask the editor for a bar."""
        self._title = title
        if self._is_shown:
            self._server.work_done_progress.create(self._token, lambda _: self._created())

    def _created(self) -> None:
        self._server.work_done_progress.begin(
            self._token, types.WorkDoneProgressBegin(self._title, cancellable=True, percentage=0)
        )
        self._has_begun = True
        if self._has_ended:
            self.end()

    def report(self, label: str, done: int, total: int) -> None:
        """Move the bar to ``done`` of ``total``."""
        if self._has_begun and not self._has_ended:
            percentage = 100 * done // total if total else 0
            self._server.work_done_progress.report(
                self._token,
                types.WorkDoneProgressReport(message=f"{label} {done}/{total}", percentage=percentage),
            )

    def end(self) -> None:
        """Take the bar away."""
        self._has_ended = True
        if self._has_begun:
            self._server.work_done_progress.end(self._token, types.WorkDoneProgressEnd())
            self._server.work_done_progress.tokens.pop(self._token, None)


def path_of(uri: str) -> str | None:
    """Return the path of a file's address, absolute and with forward slashes; ``None`` for other addresses."""
    path = to_fs_path(uri) if uri.startswith("file:") else None
    return absolute(path) if path else None


@lru_cache(maxsize=16)
def _read(path: str, changed_at: int, size: int) -> str:
    return decode(read_bytes(path)).source


def _ignore(future: Future[Any]) -> None:
    """An editor that cannot do what it said it could is none of our business."""
    future.add_done_callback(lambda done: done.cancelled() or done.exception())


def changed_paths(events: list[types.FileEvent]) -> Iterator[str]:
    """Yield the paths of files that changed on disk."""
    for event in events:
        if (path := path_of(event.uri)) is not None:
            yield path
