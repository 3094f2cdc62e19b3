"""Coding agents: the hook that each runs after an edit, in its own protocol, and what `gllint init --agent` writes."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gllint.cli import agent_server, hooking
from gllint.cli.commands import AGENT_NAMES
from gllint.errors import UsageError
from gllint.hosts.coding_agents import AGENTS, EventError, answer, read_event
from gllint.init import json_text
from gllint.init.agents import instructions, with_entry
from gllint.init.plan import plan
from gllint.init.plan import write as write_all

Write = Callable[..., Path]
Run = Callable[..., Any]
Hook = Callable[..., subprocess.CompletedProcess[str]]

TOOLS = """\
from langchain.tools import tool

from area import area


@tool
def roof(x: int) -> dict:
    \"\"\"The roof's area.\"\"\"
    return area(x)
"""
PROJECT = {
    "pyproject.toml": "[tool.gllint]\n",
    "tools.py": TOOLS,
    "area.py": "def area(x):\n    return {'area_m2': x * 2.5}\n",
}
LINE = "area.py:2:24 GL101 `area_m2` in the result of tool `roof` is a number without a unit | Return a Quantity: "


def event(agent: str, top: Path, path: str = "tools.py") -> dict[str, Any]:
    """What an agent sends after it has edited a file, as its documentation has it."""
    file = f"{top}/{path}"
    common = {"session_id": "s", "transcript_path": f"{top}/t.jsonl", "cwd": str(top)}
    if agent == "cursor":
        tool = {
            "tool_name": "Write",
            "tool_input": json.dumps({"file_path": file, "content": "x"}),
            "tool_output": "{}",
        }
        return {
            "conversation_id": "c",
            "hook_event_name": "postToolUse",
            "workspace_roots": [str(top)],
            **tool,
        }
    if agent == "codex":
        patch = f"*** Begin Patch\n*** Update File: {path}\n@@\n-a\n+b\n*** End Patch\n"
        return {
            **common,
            "hook_event_name": "PostToolUse",
            "tool_name": "apply_patch",
            "tool_input": {"command": patch},
        }
    if agent == "copilot":
        arguments = json.dumps({"path": file, "old_str": "a", "new_str": "b"})
        result = {"resultType": "success", "textResultForLlm": "done"}
        return {
            "timestamp": 1,
            "cwd": str(top),
            "toolName": "edit",
            "toolArgs": arguments,
            "toolResult": result,
        }
    name, tool = ("AfterTool", "replace") if agent == "gemini" else ("PostToolUse", "Edit")
    return {
        **common,
        "hook_event_name": name,
        "tool_name": tool,
        "tool_input": {"file_path": file, "new_string": "b"},
    }


@pytest.fixture
def hook(gllint: list[str]) -> Hook:
    def hook(agent: str, sent: bytes | dict[str, Any], top: Path) -> subprocess.CompletedProcess[str]:
        data = sent if isinstance(sent, bytes) else json.dumps(sent).encode()
        command = [*gllint, "hook", agent]
        done = subprocess.run(command, input=data, cwd=top, capture_output=True, check=False)
        assert b"Traceback" not in done.stderr
        return subprocess.CompletedProcess(
            done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
        )

    return hook


def test_the_command_names_each_agent_of_the_table() -> None:
    assert list(AGENTS) == list(AGENT_NAMES)
    for agent in AGENTS.values():
        assert agent.command in json.dumps(agent.entry)


@pytest.mark.parametrize("agent", AGENTS)
def test_an_edit_is_answered_until_nothing_is_found(write: Write, agent: str, hook: Hook) -> None:
    """A violation, the answer, the repair that its line alone says, silence."""
    top = write(PROJECT)
    done = hook(agent, event(agent, top), top)
    told = done.stderr if agent in ("claude-code", "codex") else done.stdout
    assert done.returncode == (2 if agent in ("claude-code", "codex") else 0)
    if agent not in ("claude-code", "codex"):
        document = json.loads(told)
        told = document.get("additional_context") or document["hookSpecificOutput"]["additionalContext"]
        assert done.stderr == ""
    assert LINE in told and "gllint: 1 finding after this edit" in told
    repair = told.split("Return a Quantity: `")[1].split("`.")[0]
    (top / "area.py").write_text(f"def area(x):\n    return {{'area_m2': {repair}}}\n")
    done = hook(agent, event(agent, top), top)
    assert (done.returncode, done.stderr, done.stdout) == (
        0,
        "",
        "" if agent in ("claude-code", "codex") else "{}\n",
    )


def test_what_lies_outside_is_not_read(write: Write, tmp_path: Path, hook: Hook) -> None:
    top = write(
        {f"inside/{path}": text for path, text in PROJECT.items()}
        | {"secret.py": "FINAL_MESSAGE = '77 kWh'\n"}
    )
    (top / "inside/link.py").symlink_to(top / "secret.py")
    for path in ("../secret.py", "link.py"):
        done = hook("claude-code", event("claude-code", top / "inside", path), top / "inside")
        assert done.returncode == 1 and "is outside the project" in done.stderr
        assert "77 kWh" not in done.stdout + done.stderr
    everything = {**event("claude-code", top, "secret.py"), "cwd": "/"}
    done = hook("claude-code", everything, top / "inside")
    assert done.returncode == 1 and "/ is not a project" in done.stderr


@pytest.mark.parametrize(
    "sent",
    [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"tool_input": 3}', b'{"tool_input": {"file_path": 3}}', b"[" * 100_000,
     b'{"tool_input": {"file_path": "a\\u0000.py"}}', b'{"tool_input": {"file_path": "none.py"}, "cwd": 7}',
     b'{"tool_input": {"file_path": "."}}', b'{"tool_input": "{", "workspace_roots": {}}'],
)  # fmt: skip
def test_a_malformed_event_is_no_traceback(write: Write, sent: bytes, hook: Hook) -> None:
    done = hook("gemini", sent, write(PROJECT))
    assert done.returncode in (0, 1) and done.stderr.count("\n") <= 1


def test_events_that_edit_nothing_are_passed_by(write: Write, hook: Hook) -> None:
    top = write(PROJECT)
    for changes in (
        {"hook_event_name": "PreToolUse"},
        {"tool_name": "Read"},
        {"tool_input": {"file_path": "notes.md"}},
    ):
        done = hook("claude-code", {**event("claude-code", top), **changes}, top)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("file:///house/a.py", "/house/a.py"),
        ("file://localhost/house/a%20b.py", "/house/a b.py"),
        ("/house/a.py", "/house/a.py"),
    ],
)
@pytest.mark.skipif(os.name == "nt", reason="paths of Unix")
def test_an_address_is_a_path(path: str, expected: str) -> None:
    event = {"hook_event_name": "PostToolUse", "tool_name": "Edit", "tool_input": {"file_path": path}}
    assert read_event(json.dumps(event).encode()).files == (expected,)


def test_the_event_of_antigravity() -> None:
    call = {"name": "write_to_file", "args": {"TargetFile": "/p/a.py", "CodeContent": "x"}}
    sent = {
        "conversationId": "c",
        "stepIdx": 3,
        "toolCall": call,
        "workspacePaths": ["/p"],
        "transcriptPath": "/t",
    }
    event = read_event(json.dumps(sent).encode())
    assert (event.folder, event.files, event.is_edit, event.session) == ("/p", ("/p/a.py",), True, "c")
    assert not read_event(json.dumps({**sent, "error": "no such folder"}).encode()).is_edit
    assert read_event(json.dumps({**sent, "toolCall": None}).encode()).files == ()
    viewed = {"name": "view_file", "args": {"AbsolutePath": "/p/a.py"}}
    assert read_event(json.dumps({**sent, "toolCall": viewed}).encode()).files == ()
    with pytest.raises(EventError, match="the event names none in a form that it knows"):
        read_event(json.dumps({**sent, "toolCall": {"name": "replace_file_content", "args": {}}}).encode())


@pytest.mark.parametrize("agent", ["claude-code", "cursor", "gemini"])
def test_what_is_not_looked_at_is_context_once_a_session(write: Write, agent: str, hook: Hook) -> None:
    tool = "from agents import function_tool\n\n\n@function_tool\ndef f(site: str):\n    return fetch(site)\n"
    top = write({**PROJECT, "tools.py": tool})
    sent = {**event(agent, top), "session_id": str(top), "conversation_id": str(top)}
    first, second = hook(agent, sent, top), hook(agent, sent, top)
    other = hook(agent, {**sent, "session_id": f"{top}2", "conversation_id": f"{top}2"}, top)
    assert [done.returncode for done in (first, second, other)] == [0, 0, 0]
    assert (
        first.stdout == other.stdout and "1 tool. Not checked: 1 (unknown result: tools.py:5)" in first.stdout
    )
    assert json.loads(first.stdout) and "Not checked" not in second.stdout
    if agent == "claude-code":
        assert set(json.loads(first.stdout)["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}


def test_an_edit_that_names_no_file_is_told(run: Run, tmp_path: Path) -> None:
    for event in (
        {"hook_event_name": "afterFileEdit"},
        {"tool_name": "Write", "tool_input": {"content": "x"}},
    ):
        done = run("hook", "cursor", cwd=tmp_path, stdin=json.dumps(event).encode())
        assert done.returncode == 1 and b"the event names none in a form that it knows" in done.stderr


@pytest.mark.parametrize(
    "arguments", [None, ["tools.py"], {}, {"uri": "tools.py"}, {"file_path": {"path": "tools.py"}}]
)
def test_an_edit_of_nobody_knows_what_is_told(arguments: Any) -> None:
    sent = {"tool_name": "Write", "tool_input": arguments}
    with pytest.raises(EventError, match="gllint cannot tell which file Write edited"):
        read_event(json.dumps(sent).encode())


def test_an_event_may_name_files_in_a_list() -> None:
    for arguments in (
        {"file_paths": ["a.py"]},
        {"paths": ["a.py"]},
        {"files": ["a.py"]},
        {"file_path": ["a.py"]},
        {"command": ["apply_patch", "*** Begin Patch\n*** Update File: a.py\n*** End Patch\n"]},
    ):
        assert read_event(json.dumps({"tool_input": arguments}).encode()).files == ("a.py",)
    written = {"tool_name": "mcp__spreadsheet__write", "tool_input": {"path": "a.py"}}
    assert read_event(json.dumps(written).encode()).files == ("a.py",)
    for reader in ("Read", "readFile", "view_image", "MultiRead", "mcp__fs__list"):
        assert read_event(json.dumps({**written, "tool_name": reader}).encode()).files == ()


def test_a_file_that_is_not_there_is_told(write: Write, hook: Hook) -> None:
    top = write(PROJECT)
    done = hook("claude-code", event("claude-code", top, "gone.py"), top)
    assert done.returncode == 1 and "gone.py does not exist: it was not checked" in done.stderr


@pytest.mark.parametrize(
    "changes",
    [
        {"toolResult": {"resultType": "denied", "textResultForLlm": "The user said no."}},
        {"toolResult": {"resultType": "failure"}},
        {"toolName": "replace", "tool_response": {"llmContent": "", "error": {"message": "no match"}}},
        {"toolName": "mcp__files__remove"},
    ],
)
def test_what_edited_nothing_needs_no_file(
    write: Write, changes: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An edit that failed or was not allowed has made no file; another tool may have taken one away."""
    top = write(PROJECT)
    for arguments in ({"path": f"{top}/gone.py"}, {"path": 5}):
        sent = {**event("copilot", top), **changes, "toolArgs": arguments}
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(sent).encode())))
        assert hooking.hook("copilot") == 0
        assert capsys.readouterr() == ("{}\n", "")


def test_what_the_settings_take_for_a_hint_is_told(write: Write, hook: Hook) -> None:
    top = write(
        {**PROJECT, "pyproject.toml": '[tool.gllint]\nseverity = { GL = "info" }\nfail-level = "error"\n'}
    )
    done = hook("claude-code", event("claude-code", top), top)
    assert done.returncode == 2 and LINE in done.stderr


def test_what_is_excluded_or_in_the_baseline_is_not_told(write: Write, hook: Hook) -> None:
    top = write({**PROJECT, "pyproject.toml": "[tool.gllint]\nextend-exclude = ['tools.py']\n"})
    assert hook("claude-code", event("claude-code", top), top).returncode == 0


def test_several_files_of_one_patch() -> None:
    patch = "*** Begin Patch\n*** Add File: a.py\n+x\n*** Update File: b/c.py\n*** Move to: d.py\n*** Delete File: e.py\n"
    assert read_event(json.dumps({"tool_input": {"command": patch}}).encode()).files == (
        "a.py",
        "b/c.py",
        "d.py",
    )
    several = {"toolArgs": {"replacements": [{"filePath": "a.py"}, {"filePath": "b.py"}, 7]}}
    assert read_event(json.dumps(several).encode()).files == ("a.py", "b.py")


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(
    st.sampled_from(["tool_input", "toolArgs", "file_path", "edits", "cwd", "hook_event_name", "workspace_roots", "command"]),
    inner), max_leaves=12))  # fmt: skip
def test_any_object_is_an_event_or_refused(value: Any) -> None:
    try:
        files = read_event(json.dumps(value).encode()).files
    except EventError:
        return
    assert all(isinstance(file, str) for file in files)


@pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)
def test_an_answer_is_what_was_found(agent: Any) -> None:
    assert "a.py:1:1" in json.dumps(answer(agent, "a.py:1:1 GL101 x\n"))


def test_a_file_outside_hides_no_other(write: Write, hook: Hook) -> None:
    top = write({f"inside/{path}": text for path, text in PROJECT.items()} | {"secret.py": "x = 1\n"})
    top /= "inside"
    patch = "*** Begin Patch\n*** Update File: ../secret.py\n*** Update File: area.py\n*** End Patch\n"
    done = hook(
        "codex",
        {"cwd": str(top), "hook_event_name": "PostToolUse", "tool_name": "apply_patch", "tool_input": patch},
        top,
    )
    assert done.returncode == 2 and LINE in done.stderr and "secret.py is outside" in done.stderr


def test_each_file_outside_is_told_where_no_other_was_edited(write: Write, hook: Hook) -> None:
    top = write({"inside/pyproject.toml": "", "first.py": "x = 1\n", "second.py": "x = 1\n"}) / "inside"
    patch = "*** Begin Patch\n*** Update File: ../first.py\n*** Update File: ../second.py\n*** End Patch\n"
    done = hook(
        "codex",
        {"cwd": str(top), "hook_event_name": "PostToolUse", "tool_name": "apply_patch", "tool_input": patch},
        top,
    )
    assert done.returncode == 1 and done.stdout == ""
    assert "first.py is outside" in done.stderr and "second.py is outside" in done.stderr


# --- the server ----------------------------------------------------------------------------------------------


def test_a_server_has_the_commands_as_tools(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    top = write({**PROJECT, "broken.py": "from langchain.tools import tool\n@tool\ndef (\n"})
    monkeypatch.chdir(top)
    assert agent_server.check(["tools.py"]).startswith(LINE)
    assert "broken.py:3:" in agent_server.check([])
    assert agent_server.fix("area.py") == "There is nothing to fix."
    change = agent_server.fix("area.py", unsafe=True)
    assert '+    return {"area_m2": {"value": x * 2.5, "unit": "m2"}}' in change.replace("'", '"')
    assert (top / "area.py").read_text() == PROJECT["area.py"]
    assert agent_server.fix("area.py", unsafe=True, write=True) == change
    assert "GL101" not in agent_server.check(["tools.py"])
    assert agent_server.rule("GL501").startswith("# GL501")
    assert "`kWh`" in agent_server.units("kwh")


@pytest.mark.parametrize("path", ["/etc", "..", "link.py", "none.py"])
def test_a_server_keeps_to_its_folder(write: Write, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    top = write(PROJECT)
    (top / "link.py").symlink_to("/etc/hostname")
    monkeypatch.chdir(top)
    for refused in (lambda: agent_server.check([path]), lambda: agent_server.fix(path, write=True)):
        with pytest.raises(UsageError, match="is outside|no such file"):
            refused()


def test_gllint_finds_nothing_in_its_own_tools(write: Write, run: Run) -> None:
    pytest.importorskip("mcp")
    done = run("mcp", "--", sys.executable, "-m", "gllint", "server", "--mcp", cwd=write(PROJECT))
    assert (done.returncode, b"none with findings" in done.stdout + done.stderr) == (0, True)


# --- the set-up ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)
def test_settings_are_added_to_once(agent: Any) -> None:
    theirs = {"permissions": {"allow": ["x"]}, "hooks": {agent.event: [{"mine": "é"}], "Other": [1]}}
    text = with_entry(agent, json.dumps(theirs, indent=4))
    assert text is not None and '\n    "permissions"' in text
    merged = json.loads(text)
    assert merged["hooks"] == {agent.event: [{"mine": "é"}, dict(agent.entry)], "Other": [1]}
    assert merged["permissions"] == theirs["permissions"] and all(merged[key] == 1 for key in agent.defaults)
    assert with_entry(agent, text) is None
    assert with_entry(agent, None) == with_entry(agent, "\n") is not None


@pytest.mark.parametrize(
    "text",
    [
        '{\n\t// why\n\t"a": [1, 2], /* c */\n\t"hooks": {\n\t\t"PostToolUse": [\n\t\t\t{"b": 1} // mine\n\t\t]\n\t}\n}\n',
        '{\r\n    "hooks": {\r\n        "PostToolUse": [],\r\n    },\r\n}\r\n',
        '{"hooks": {"PostToolUse": [{"b": "http://c"}]}, "a": {}}',
        '{"hooks": {\n  // none\n}}',
        '{\n  "hooks": {\n    "Other": [1],\n    // "PostToolUse": [],\n  }\n}',
        "\ufeff{}",
        '{\n\n    "a": 1, "c": 2\n}',
    ],
)
def test_all_else_of_the_settings_stays_as_it_is_written(text: str) -> None:
    """Comments, trailing commas, tabs, the ends of lines: what is added is lines, and a comma before them."""
    agent = AGENTS["claude-code"]
    new = with_entry(agent, text)
    assert new is not None
    value = json_text.read(new).value
    assert value["hooks"]["PostToolUse"][-1] == dict(agent.entry)
    value["hooks"]["PostToolUse"].pop()
    old = json_text.read(text).value
    old["hooks"] = {"PostToolUse": [], **old.get("hooks", {})}
    assert value == old
    left = iter(new)
    assert all(character in left for character in text if not character.isspace())
    assert new.count("\r\n") == (new.count("\n") if "\r" in text else 0)
    assert with_entry(agent, new) is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [("[]", "not an? .*object"), ("{", "not valid JSON"), ("{} x", "not valid JSON"), ("{'a': 1}", "not valid JSON"), ('{"a": 1, "a": 2}', "duplicate key"),
     ('{"hooks": []}', "must be an object"), ('{"hooks": {"PostToolUse": {}}}', "not a list"), ("[" * 100_000, "deeply|no JSON")],
)  # fmt: skip
def test_settings_that_cannot_be_added_to_stay(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        with_entry(AGENTS["claude-code"], text)


def test_init_sets_agents_up(write: Write) -> None:
    top = write({**PROJECT, ".git/HEAD": "ref: refs/heads/main\n", ".cursor/hooks.json": "{ mine\n}\n"})
    proposed = plan(str(top), list(AGENTS))
    assert (
        ".cursor/hooks.json is not valid JSON: add the hook `gllint hook cursor` yourself." in proposed.notes
    )
    assert any("trusted it: `/hooks` in Codex" in note for note in proposed.notes)
    paths = {os.path.relpath(change.path, top) for change in proposed.changes}
    assert {agent.settings for agent in AGENTS.values()} - {".cursor/hooks.json"} <= paths
    assert {agent.instructions for agent in AGENTS.values()} <= paths
    write_all(proposed.changes)
    again = plan(str(top), list(AGENTS))
    assert not again.changes
    assert ".claude/settings.json already runs `gllint hook claude-code`." in again.notes


def test_instructions_begin_as_each_agent_reads_them() -> None:
    texts = [instructions(agent) for agent in AGENTS.values()]
    assert all(text.startswith("---\n") and "{{claim:0}}" in text for text in texts)
    assert "name: gllint\n" in texts[0] and "globs: **/*.py" in texts[1] and 'applyTo: "**/*.py"' in texts[3]


def test_what_cannot_be_written_leaves_no_folder_behind(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gllint.init import plan as planning

    top = write({**PROJECT, ".git/HEAD": "ref: refs/heads/main\n"})
    proposed = plan(str(top), ["claude-code"])

    def refuse(path: str, data: bytes) -> None:
        if path.endswith("SKILL.md"):
            raise OSError(28, "No space left on device")
        Path(path).write_bytes(data)

    monkeypatch.setattr(planning, "write_atomically", refuse)
    with pytest.raises(UsageError, match="nothing was changed"):
        write_all(proposed.changes)
    assert not {".claude", "gllint-baseline.json", ".pre-commit-config.yaml"} & {
        path.name for path in top.iterdir()
    }
