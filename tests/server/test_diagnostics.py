"""Diagnostics: the command line's, in every open buffer, as one types."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from gllint.server.app import Server

pytestmark = pytest.mark.asyncio
Project = Callable[..., Path]

TOOL = '''\
from langchain_core.tools import tool

from helpers import demand


@tool
def heat_demand(area: str) -> dict:
    """Heat demand of a building."""
    return {"demand": demand(area)}
'''
TEXT_HELPER = "def demand(area: str) -> str:\n    return area\n"
NUMBER_HELPER = "def demand(area: str) -> float:\n    return 12.5\n"
MESSAGE = 'FINAL_MESSAGE = "The building needs 9500 kWh."\n'
PULLING = types.ClientCapabilities(
    text_document=types.TextDocumentClientCapabilities(diagnostic=types.DiagnosticClientCapabilities()),
    workspace=types.WorkspaceClientCapabilities(
        diagnostics=types.DiagnosticWorkspaceClientCapabilities(refresh_support=True)
    ),
)


def encoding(*kinds: str) -> types.ClientCapabilities:
    return types.ClientCapabilities(general=types.GeneralClientCapabilities(position_encodings=list(kinds)))


# --- pushed --------------------------------------------------------------------------------------------------


async def test_are_what_the_command_line_finds(start: Any, example: Path, check: Any) -> None:
    editor = await start(example)
    for path in sorted(example.rglob("*.py")):
        editor.open(path)
    shown = [
        (path.relative_to(example).as_posix(), d.range.start.line + 1, d.range.start.character + 1,
         d.range.end.line + 1, d.range.end.character + 1, d.code, d.message)
        for path in sorted(example.rglob("*.py"))
        for d in await editor.diagnostics(path.as_uri())
    ]  # fmt: skip
    found = [
        (f["path"], f["line"], f["column"], f["end_line"], f["end_column"], f["code"], f["message"])
        for f in check(example)
    ]
    assert found
    assert sorted(shown) == sorted(found)


async def test_deep_files_are_judged_as_by_the_command_line(start: Any, project: Project, check: Any) -> None:
    deep = {
        "strings": "x = (" + "'a'\n" * 480 + ")",
        "calls": "x = y" + ".z()" * 300,
        "terms": "x = " + " or ".join(["a"] * 600),
        "elif": "if a:\n  pass\n" + "elif b:\n  pass\n" * 1000,
        "brackets": "x = " + "(" * 3000 + ")" * 3000,
        "sum": "x = " + "+".join(["1"] * 20000),
    }
    root = project({f"{name}.py": f"{MESSAGE}{text}\n" for name, text in deep.items()})
    editor = await start(root)
    shown = {f"{name}.py": await editor.codes(editor.open(root / f"{name}.py")) for name in deep}
    told = [(f["path"], f["code"]) for f in check(root)]
    found = {path: sorted(code for its, code in told if its == path) for path in shown}
    assert shown == found
    assert shown["calls.py"] == ["GL401"] and shown["brackets.py"] == ["GL900"]


async def test_follow_an_edit(start: Any, project: Project) -> None:
    root = project({"agent.py": MESSAGE})
    editor = await start(root)
    uri = editor.open(root / "agent.py")
    assert await editor.codes(uri) == ["GL401"]
    editor.replace(uri, "9500 kWh", "{{claim:0}}")
    assert await editor.codes(uri) == []
    editor.replace(uri, "needs", "now needs 12")
    assert await editor.codes(uri) == ["GL401"]
    [diagnostic] = await editor.diagnostics(uri)
    assert (diagnostic.source, diagnostic.severity) == ("gllint", types.DiagnosticSeverity.Error)
    assert (
        diagnostic.code_description is None
    )  # the project has no address yet, and no link is better than a dead one


async def test_of_broken_syntax_are_that_it_is_broken(start: Any, project: Project) -> None:
    root = project({"agent.py": MESSAGE})
    editor = await start(root)
    uri = editor.open(root / "agent.py")
    editor.change(uri, MESSAGE + "def (")
    assert await editor.codes(uri) == ["GL900"]
    editor.change(uri, MESSAGE)
    assert await editor.codes(uri) == ["GL401"]


async def test_of_the_newest_text_win(start: Any, project: Project) -> None:
    root = project({"agent.py": MESSAGE})
    editor = await start(root)
    uri = editor.open(root / "agent.py")
    # So long that to check one takes longer than to send the next.
    rest = "".join(f"\n\ndef part_{i}(x):\n    return [x, {i}]\n" for i in range(2000))
    for number in range(100):
        text = MESSAGE.replace("9500", str(number)) + f"x = {number}\n" * (number % 7)
        editor.change(uri, text + rest)
    assert await editor.codes(uri) == ["GL401"]
    versions = [params.version for params in editor.history]
    assert versions == sorted(versions)
    assert len(versions) < 90, "texts that were outdated before they were checked should be left out"


async def test_reach_across_files(start: Any, project: Project) -> None:
    root = project({"agent.py": TOOL, "helpers.py": TEXT_HELPER})
    editor = await start(root)
    tool, helper = editor.open(root / "agent.py"), editor.open(root / "helpers.py")
    assert await editor.codes(tool) == []
    editor.change(helper, NUMBER_HELPER)
    await editor.codes_become(tool, "GL101")
    editor.change(helper, NUMBER_HELPER + "def (")  # what cannot be read says nothing
    await editor.codes_become(tool)
    editor.change(helper, NUMBER_HELPER)
    await editor.codes_become(tool, "GL101")
    editor.close(helper)  # the file on disk counts again
    await editor.codes_become(tool)
    assert editor.published[helper] == (None, [])


async def test_reach_the_file_that_a_finding_lies_in(start: Any, project: Project, check: Any) -> None:
    texts = 'HEADLINE = "The building needs 9500 kWh."\n'
    agent = 'from texts import HEADLINE\n\nstep = {"kind": "final", "message": HEADLINE, "claims": []}\n'
    root = project({"agent.py": agent, "texts.py": texts})
    assert {(found["path"], found["code"]) for found in check(root)} == {("texts.py", "GL401")}
    editor = await start(root)
    uri = editor.open(root / "texts.py")
    await editor.codes_become(uri, "GL401")
    editor.replace(uri, "9500 kWh", "{{claim:0}}")
    await editor.codes_become(uri, "GL403")
    editor.replace(uri, "needs", "\\\n needs 12")
    await editor.codes_become(uri, "GL401", "GL403")
    assert editor.published[uri][1][0].range.start == editor.position(uri, "12")


BUILDER = "def demand(area: str):\n    return {'heat': 12.5}\n"


async def test_of_files_that_are_not_open_come_and_go(start: Any, project: Project, check: Any) -> None:
    root = project({"agent.py": TOOL, "helpers.py": BUILDER, "other.py": ""})
    editor = await start(root)
    tool, helper = editor.open(root / "agent.py"), (root / "helpers.py").as_uri()
    await editor.codes_become(helper, "GL101")
    assert editor.published[tool][1] == []
    [diagnostic] = editor.published[helper][1]
    assert [diagnostic.message] == [found["message"] for found in check(root)]
    editor.replace(tool, "return", "# return")
    await editor.codes_become(helper)
    editor.replace(tool, "# return", "return")
    await editor.codes_become(helper, "GL101")
    editor.open(root / "helpers.py")
    editor.replace(helper, "12.5", "'much'")
    await editor.codes_become(helper)
    editor.close(helper)  # the file on disk counts again, and the tool is still open
    await editor.codes_become(helper, "GL101")
    editor.open(root / "other.py")
    editor.close(tool)
    await editor.codes_become(helper)


async def test_respect_configuration_and_suppressions(start: Any, project: Project) -> None:
    settings = (
        '[tool.gllint]\nseverity = { GL401 = "warning" }\nper-file-ignores = { "quiet.py" = ["GL4"] }\n'
    )
    files = {
        "pyproject.toml": settings,
        "loud.py": MESSAGE + MESSAGE.strip() + "  # gllint: ignore[GL401] an estimate\n",
        "quiet.py": MESSAGE,
        "build/lib.py": MESSAGE,
        "unused.py": MESSAGE.replace("9500 ", "").strip() + "  # gllint: ignore[GL401]\n",
    }
    root = project(files)
    editor = await start(root)
    uris = {name: editor.open(root / name) for name in files if name.endswith(".py")}
    [warning] = await editor.diagnostics(uris["loud.py"])
    assert (warning.code, warning.severity) == ("GL401", types.DiagnosticSeverity.Warning)
    assert await editor.codes(uris["quiet.py"]) == []
    assert await editor.codes(uris["build/lib.py"]) == []
    [unused] = await editor.diagnostics(uris["unused.py"])
    assert unused.code == "GL901"
    assert list(unused.tags) == [types.DiagnosticTag.Unnecessary]


async def test_of_a_file_that_is_not_saved_yet(start: Any, project: Project) -> None:
    root = project({"agent.py": TOOL})
    editor = await start(root)
    tool = editor.open(root / "agent.py")
    assert await editor.codes(tool) == []
    helper = editor.open(root / "helpers.py", NUMBER_HELPER)
    await editor.codes_become(tool, "GL101")
    editor.close(helper)
    await editor.codes_become(tool)


async def test_of_a_file_outside_every_folder(start: Any, project: Project) -> None:
    root, other = project({"a.py": ""}), project({"agent.py": MESSAGE}, "elsewhere")
    editor = await start(root)
    uri = editor.open(other / "agent.py")
    assert await editor.codes(uri) == ["GL401"]


async def test_carry_their_evidence(start: Any, project: Project) -> None:
    root = project({"agent.py": TOOL, "helpers.py": NUMBER_HELPER})
    notes = types.PublishDiagnosticsClientCapabilities(related_information=True)
    can = types.ClientCapabilities(
        text_document=types.TextDocumentClientCapabilities(publish_diagnostics=notes)
    )
    editor = await start(root, capabilities=can)
    [diagnostic] = await editor.diagnostics(editor.open(root / "agent.py"))
    places = {note.location.uri: note.location.range for note in diagnostic.related_information or []}
    assert places[(root / "helpers.py").as_uri()].start.line in (0, 1)


# --- positions -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kinds", "chosen", "column"),
    [
        ((), "utf-16", 34),
        (("utf-8", "utf-16"), "utf-8", 39),
        (("utf-32", "utf-16"), "utf-32", 32),
        (("klingon",), "utf-16", 34),
    ],
    ids=["default", "utf-8", "utf-32", "unknown"],
)
async def test_count_in_the_encoding_agreed_on(
    start: Any, project: Project, kinds: tuple[str, ...], chosen: str, column: int
) -> None:
    text = 'FINAL_MESSAGE = "🏠🏠 é needs abc 12 kWh"\n'
    root = project({"agent.py": text})
    editor = await start(root, capabilities=encoding(*kinds) if kinds else None)
    assert editor.offered.position_encoding == chosen
    uri = editor.open(root / "agent.py")
    [diagnostic] = await editor.diagnostics(uri)
    assert diagnostic.range.start == types.Position(0, column)
    before = diagnostic.range.start
    insert = types.TextDocumentContentChangePartial(types.Range(before, before), "3")
    editor.versions[uri] += 1
    editor.client.text_document_did_change(
        types.DidChangeTextDocumentParams(types.VersionedTextDocumentIdentifier(2, uri), [insert])
    )
    [diagnostic] = await editor.diagnostics(uri)
    assert diagnostic.range.end == types.Position(0, column + 3)
    assert "312" in diagnostic.message


async def test_stay_right_behind_a_form_feed_and_old_line_ends(start: Any, project: Project) -> None:
    root = project({"agent.py": ""})
    editor = await start(root)
    text = "a = 1\r\n\x0cb = '\u2028'\rc = 2\r\n" + MESSAGE
    uri = editor.open(root / "agent.py", text)
    [diagnostic] = await editor.diagnostics(uri)
    assert diagnostic.range.start.line == 3
    two = types.Range(types.Position(3, 0), types.Position(3, 0))
    editor.versions[uri] += 1
    editor.client.text_document_did_change(
        types.DidChangeTextDocumentParams(
            types.VersionedTextDocumentIdentifier(2, uri),
            [types.TextDocumentContentChangePartial(two, "# one\n# two\n")],
        )
    )
    [diagnostic] = await editor.diagnostics(uri)
    assert diagnostic.range.start.line == 5


# --- pulled --------------------------------------------------------------------------------------------------


async def test_can_be_pulled(start: Any, project: Project) -> None:
    root = project({"agent.py": TOOL, "helpers.py": TEXT_HELPER})
    editor = await start(root, capabilities=PULLING)
    assert editor.offered.diagnostic_provider.inter_file_dependencies
    tool, helper = editor.open(root / "agent.py"), editor.open(root / "helpers.py")
    first = await editor.pull(tool)
    assert (first.kind, list(first.items)) == ("full", [])
    assert (await editor.pull(tool, first.result_id)).kind == "unchanged"
    editor.change(helper, NUMBER_HELPER)
    second = await editor.pull(tool, first.result_id)
    assert [item.code for item in second.items] == ["GL101"]
    assert editor.history == [], "an editor that pulls would show what is pushed a second time"


async def test_are_pulled_again_after_another_file_changed(start: Any, project: Project) -> None:
    root = project({"agent.py": TOOL, "helpers.py": TEXT_HELPER})
    editor = await start(root, capabilities=PULLING)
    tool = editor.open(root / "agent.py")
    assert not (await editor.pull(tool)).items
    (root / "helpers.py").write_text(NUMBER_HELPER)
    editor.files_changed(root / "helpers.py")
    await editor.until(lambda: editor.refreshes)
    assert [item.code for item in (await editor.pull(tool)).items] == ["GL101"]


async def test_are_pushed_where_the_editor_cannot_be_asked_to_pull_again(
    start: Any, project: Project
) -> None:
    root = project({"agent.py": MESSAGE})
    can = types.ClientCapabilities(text_document=PULLING.text_document)
    editor = await start(root, capabilities=can)
    assert editor.offered.diagnostic_provider is None
    assert await editor.codes(editor.open(root / "agent.py")) == ["GL401"]


async def test_pull_can_be_cancelled(start: Any, project: Project) -> None:
    root = project({"agent.py": MESSAGE})
    editor = await start(root)
    uri = editor.open(root / "agent.py")
    assert len((await editor.pull(uri)).items) == 1
    # The first look at another project takes a process of its own: the second pull has to wait for it.
    large = project({f"part_{n}.py": MESSAGE for n in range(300)}, "large")
    folder = types.WorkspaceFolder(large.as_uri(), "large")
    event = types.WorkspaceFoldersChangeEvent(added=[folder], removed=[])
    editor.client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))
    request = editor.client.protocol.send_request(
        types.TEXT_DOCUMENT_DIAGNOSTIC,
        types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri)),
        msg_id="pull",
    )
    editor.client.cancel_request(types.CancelParams("pull"))
    with pytest.raises(Exception, match="cancel"):
        await asyncio.wrap_future(request)
    editor.change(uri, "")
    assert await editor.codes(uri) == []


# --- folders, files and configuration ------------------------------------------------------------------------


async def test_of_several_folders_have_their_own_configuration(start: Any, project: Project) -> None:
    strict = project({"agent.py": MESSAGE}, "strict")
    lenient = project({"agent.py": MESSAGE, "gllint.toml": 'ignore = ["GL401"]\n'}, "lenient")
    editor = await start(strict, lenient)
    assert await editor.codes(editor.open(strict / "agent.py")) == ["GL401"]
    assert await editor.codes(editor.open(lenient / "agent.py")) == []


async def test_of_folders_that_come_and_go(start: Any, project: Project) -> None:
    first = project({"agent.py": TOOL, "helpers.py": NUMBER_HELPER}, "first")
    second = project({"agent.py": MESSAGE}, "second")
    editor = await start(first)
    folder = types.WorkspaceFolder(second.as_uri(), "second")
    event = types.WorkspaceFoldersChangeEvent(added=[folder], removed=[])
    editor.client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))
    assert await editor.codes(editor.open(second / "agent.py")) == ["GL401"]
    gone = types.WorkspaceFoldersChangeEvent(
        added=[], removed=[types.WorkspaceFolder(first.as_uri(), "first")]
    )
    editor.client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(gone))
    assert await editor.codes(editor.open(first / "agent.py")) == ["GL101"]


async def test_follow_the_configuration(start: Any, project: Project) -> None:
    watching = types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True)
    can = types.ClientCapabilities(
        workspace=types.WorkspaceClientCapabilities(did_change_watched_files=watching)
    )
    root = project({"agent.py": MESSAGE})
    editor = await start(root, capabilities=can)
    uri = editor.open(root / "agent.py")
    assert await editor.codes(uri) == ["GL401"]
    [registration] = editor.registrations
    patterns = json.dumps([watcher["globPattern"] for watcher in _options(registration)["watchers"]])
    assert "*.toml" in patterns and "*.py" in patterns
    settings = root / "pyproject.toml"
    settings.write_text('[tool.gllint]\nignore = ["GL401"]\n')
    editor.files_changed(settings)
    await editor.codes_become(uri)
    settings.write_text("[tool.gllint]\nslect = []\n")
    editor.files_changed(settings)
    message = await editor.until(lambda: editor.messages and editor.messages[-1].message)
    assert "slect" in message and "did you mean 'select'" in message.lower()
    settings.write_text("")
    editor.files_changed(settings)
    await editor.codes_become(uri, "GL401")
    assert len(editor.messages) == 1


def _options(registration: types.Registration) -> Mapping[str, Any]:
    options = registration.register_options
    if isinstance(options, Mapping):
        return options
    found: dict[str, Any] = json.loads(json.dumps(options, default=vars))
    return found


async def test_follow_files_on_disk(start: Any, project: Project) -> None:
    root = project({"agent.py": TOOL})
    editor = await start(root)
    tool = editor.open(root / "agent.py")
    assert await editor.codes(tool) == []
    helper = root / "helpers.py"
    helper.write_text(NUMBER_HELPER)
    editor.files_changed(helper, kind=types.FileChangeType.Created)
    await editor.codes_become(tool, "GL101")
    helper.write_text(TEXT_HELPER)
    editor.files_changed(helper)
    await editor.codes_become(tool)
    helper.write_text(NUMBER_HELPER)
    editor.client.text_document_did_save(  # an editor that watches nothing
        types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(tool))
    )
    await editor.codes_become(tool, "GL101")
    helper.unlink()
    editor.files_changed(helper, kind=types.FileChangeType.Deleted)
    await editor.codes_become(tool)


async def test_come_with_progress_on_the_first_look(start: Any, project: Project) -> None:
    window = types.WindowClientCapabilities(work_done_progress=True)
    root = project({f"part_{n}.py": MESSAGE for n in range(100)})
    editor = await start(root, capabilities=types.ClientCapabilities(window=window))
    assert await editor.codes(editor.open(root / "part_7.py")) == ["GL401"]
    [reports] = editor.client.progress_reports.values()
    kinds = [report.kind for report in reports]
    assert kinds[0] == "begin" and kinds[-1] == "end"
    assert root.name in reports[0].title
    assert any("/" in report.message for report in reports[1:-1])


async def test_come_later_where_the_first_look_is_cancelled(start: Any, project: Project) -> None:
    window = types.WindowClientCapabilities(work_done_progress=True)
    root = project({f"part_{n}.py": MESSAGE for n in range(300)})
    editor = await start(root, capabilities=types.ClientCapabilities(window=window), cancels_progress=True)
    uri = editor.open(root / "part_7.py")
    assert await editor.codes(uri) == []
    editor.cancels_progress = False
    editor.files_changed(root / "part_7.py")
    await editor.codes_become(uri, "GL401")


async def test_to_an_editor_that_is_gone_are_tried_twice_at_most() -> None:
    """The message that a message could not be sent cannot be sent either."""
    tried = []

    class Gone:
        def write(self, data: bytes) -> None:
            tried.append(data)
            raise ValueError("write to closed file")

        def close(self) -> None:
            pass

    server = Server()
    server.protocol.writer = Gone()
    server.window_log_message(types.LogMessageParams(types.MessageType.Info, "late"))
    assert len(tried) == 2


async def test_leave_out_what_the_baseline_holds(start: Any, project: Project, gllint: list[str]) -> None:
    root = project({"gllint.toml": "baseline = 'known.json'\n", "a.py": MESSAGE, "b.py": MESSAGE})
    command = [*gllint, "check", "--write-baseline", "known.json", "a.py"]
    assert subprocess.run(command, cwd=root, check=False).returncode == 0
    editor = await start(root)
    editor.open(root / "a.py")
    editor.open(root / "b.py")
    assert await editor.diagnostics((root / "a.py").as_uri()) == []
    assert [d.code for d in await editor.diagnostics((root / "b.py").as_uri())] == ["GL401"]


# --- never saved -----------------------------------------------------------------------------------------------


async def test_what_was_never_saved_is_read_as_if_it_lay_in_the_folder(start: Any, project: Project) -> None:
    root = project({"helpers.py": NUMBER_HELPER, "Untitled-2.py": "x = 1\n"})
    editor = await start(root)
    for name in ("Untitled-1", "Untitled-3.py", "/elsewhere/Untitled 4"):
        uri = editor.open_text(f"untitled:{name}", TOOL)
        assert await editor.codes(uri) == ["GL101"]
        editor.change(uri, TEXT_HELPER)
        await editor.codes_become(uri)
        editor.close(uri)
    for name in (
        "../../x",
        "%2e%2e%2fx",
        "..%5c..%5cx",
        "..",
        "%00x",
        "\ud800",
        "x" * 5000,
        "a%0ab",
        ".py",
        "",
    ):
        uri = editor.open_text(f"untitled:{name}", TOOL)
        editor.close(uri)
    own = editor.open(root / "helpers.py")
    assert await editor.codes(own) == [] and not editor.client.log_messages
    taken = editor.open_text("untitled:Untitled-2", TOOL)  # its name is a file's: nobody knows which is meant
    assert await editor.codes(own) == []
    assert taken not in editor.published
