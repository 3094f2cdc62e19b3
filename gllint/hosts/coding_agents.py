"""Coding agents: what each one's event says was edited, how each wants to be answered, and where it is set up.

An agent runs a hook after each edit, with an event as JSON on standard input. The table has a row for each agent whose
protocol is documented; all else is the same for all.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from gllint.files.paths import native
from gllint_rules.tuples import NamedTuple

LARGEST_EVENT = 50_000_000
"""Bytes: an event contains the text of what was written."""
_MOST_FILES = 100
# Under which names the tools of agents take the file that they edit.
_PATH_KEYS = (
    "file_path", "notebook_path", "filePath", "path", "target_file", "absolute_path", "file_paths", "filePaths",
    "paths", "TargetFile",
)  # fmt: skip
_ARGUMENT_KEYS = ("tool_input", "toolInput", "toolArgs", "tool_args")
_LIST_KEYS = ("edits", "replacements", "files")
_PATCH_KEYS = ("command", "input", "patch")
_PATCHED_FILE = re.compile(r"^\*\*\* (?:Add File|Update File|Move to): (.+?)\s*$", re.MULTILINE)
# Events after an edit; an agent that names none sends this hook no others.
_EVENTS = frozenset({"", "posttooluse", "aftertool", "afterfileedit"})
_READING = re.compile(
    r"(?<![A-Za-z])(?:[Rr]ead|[Vv]iew|[Gg]rep|[Gg]lob|[Ss]earch|[Ll]ist|[Ff]etch|[Ll][Ss]$|[Dd]elete)"
    r"|(?<=[a-z])(?:Read|View|Grep|Glob|Search|List|Fetch|Delete)"
)
# Tools that do nothing but edit files, in small letters, and no tool where the event is that of an edit: where it names
# no file, no one knows how to read it.
_EDITORS = frozenset({
    "", "edit", "multiedit", "write", "notebookedit", "apply_patch", "write_file", "replace", "edit_file",
    "create_file", "str_replace", "create", "replace_string_in_file", "multi_replace_string_in_file",
    "insert_edit_into_file", "edit_notebook_file", "write_to_file", "replace_file_content",
    "multi_replace_file_content",
})  # fmt: skip


class EventError(ValueError):
    """An event that cannot be read; the text says why."""


class Event(NamedTuple):
    """What an agent reports: the ``files`` that it edited, as named, relative to ``folder`` (``""``: not said).

    ``is_edit`` says that it did edit them: with a tool that does nothing else, which has not failed. ``session`` is the
    name of its conversation, if it says one.
    """

    name: str
    folder: str
    files: tuple[str, ...]
    is_edit: bool = False
    session: str = ""


class Answer(NamedTuple):
    """The answer of a hook: its standard output, its standard error, and its exit status."""

    output: str = ""
    error: str = ""
    status: int = 0


class CodingAgent(NamedTuple):
    """How an agent is answered and set up.

    ``fields`` are the paths of the answer's texts in the JSON that it reads; without any it reads standard error where
    the status is 2. ``settings`` is the file that lists its hooks, ``entry`` what is added there under ``event``,
    ``defaults`` what else that file must contain. ``instructions`` is our file with its instructions,
    ``remark`` what else its user must do.
    """

    name: str
    title: str
    settings: str
    event: str
    entry: Mapping[str, Any]
    instructions: str
    defaults: Mapping[str, Any] = {}
    fields: tuple[tuple[str, ...], ...] = ()
    constants: Mapping[str, str] = {}
    remark: str = ""

    @property
    def command(self) -> str:
        """The command that it runs after an edit."""
        return f"gllint hook {self.name}"


def _claude_like(name: str, matcher: str, seconds: int) -> Mapping[str, Any]:
    return {
        "matcher": matcher,
        "hooks": [{"type": "command", "command": f"gllint hook {name}", "timeout": seconds}],
    }


_SECONDS = 30
# How agents that read standard error take what is only to be known.
_CONTEXT = (("hookSpecificOutput", "additionalContext"),)
_AFTER_EDIT: Mapping[str, str] = {"hookEventName": "PostToolUse"}
AGENTS: Mapping[str, CodingAgent] = {
    agent.name: agent
    for agent in (
        CodingAgent(
            "claude-code", "Claude Code", ".claude/settings.json", "PostToolUse",
            _claude_like("claude-code", "Edit|MultiEdit|Write|NotebookEdit", _SECONDS),
            ".claude/skills/gllint/SKILL.md",
        ),
        CodingAgent(
            "cursor", "Cursor", ".cursor/hooks.json", "postToolUse",
            {"command": "gllint hook cursor", "matcher": "Write", "timeout": _SECONDS},
            ".cursor/rules/gllint.mdc", {"version": 1}, (("additional_context",),),
        ),
        CodingAgent(
            "codex", "Codex", ".codex/hooks.json", "PostToolUse",
            _claude_like("codex", "apply_patch|Edit|Write", _SECONDS),
            ".agents/skills/gllint/SKILL.md",
            remark="Codex runs a hook that is new or changed only after you have trusted it: `/hooks` in Codex.",
        ),
        CodingAgent(
            "copilot", "GitHub Copilot", ".github/hooks/gllint.json", "postToolUse",
            {"type": "command", "bash": "gllint hook copilot", "powershell": "gllint hook copilot",
             "timeoutSec": _SECONDS},
            ".github/instructions/gllint.instructions.md", {"version": 1},
            (("additionalContext",), ("hookSpecificOutput", "additionalContext")),
            {"hookEventName": "PostToolUse"},
        ),
        CodingAgent(
            "gemini", "Gemini CLI", ".gemini/settings.json", "AfterTool",
            {"matcher": "write_file|replace", "hooks": [
                {"type": "command", "name": "gllint", "command": "gllint hook gemini", "timeout": 1000 * _SECONDS}]},
            ".gemini/skills/gllint/SKILL.md", {}, (("hookSpecificOutput", "additionalContext"),),
            {"hookEventName": "AfterTool"},
        ),
    )
}  # fmt: skip


def read_event(data: bytes) -> Event:
    """Return the event that an agent reports on standard input: its name, the folder, the edited files and its session.

    ``{"hook_event_name": "PostToolUse", "tool_input": {"file_path": "a.py"}}`` → the file ``a.py``. Raises
    :class:`EventError`.
    """
    if len(data) > LARGEST_EVENT:
        raise EventError(f"the event has more than {LARGEST_EVENT} bytes")
    try:
        event = json.loads(data)
    except RecursionError:
        raise EventError("the event is nested too deeply") from None
    except ValueError:
        raise EventError("standard input is empty: an event is a JSON object") from None
    if not isinstance(event, dict):
        raise EventError("the event is not a JSON object")
    name = _text(event, "hook_event_name", "hookEventName")
    call = event.get("toolCall")  # Antigravity's
    if isinstance(call, dict):
        event = {**event, "toolName": call.get("name"), "toolArgs": call.get("args")}
    roots = event.get("workspace_roots", event.get("workspacePaths"))
    first_root = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else ""
    folder = native(_text(event, "cwd") or first_root)
    tool = _text(event, "tool_name", "toolName")
    if name.replace("_", "").lower() not in _EVENTS or _READING.search(tool):
        return Event(name, folder, ())
    files = dict.fromkeys(path for path in map(_path, _files(event)) if path and "\0" not in path)
    is_edit = tool.lower() in _EDITORS and not _has_failed(event)
    says_edit = bool(tool) or name == "afterFileEdit"
    if not files and says_edit and is_edit and "*** Delete File: " not in data.decode("utf-8", "replace"):
        raise EventError(
            f"gllint cannot tell which file {tool or name} edited: the event names none in a form that it knows"
        )
    if len(files) > _MOST_FILES:
        raise EventError(f"the event names {len(files)} files, more than {_MOST_FILES}")
    session = _text(event, "session_id", "sessionId", "conversation_id", "conversationId")
    return Event(name, folder, tuple(files), is_edit, session)


def _has_failed(event: Mapping[str, Any]) -> bool:
    """Return whether the tool of an event failed, or was not allowed by its user."""
    result, response = event.get("toolResult"), event.get("tool_response")
    if "toolCall" in event and event.get("error"):
        return True
    return (isinstance(result, dict) and result.get("resultType", "success") != "success") or (
        isinstance(response, dict) and bool(response.get("error"))
    )


def answer(agent: CodingAgent, text: str) -> Answer:
    """Return the answer in the form that the agent reads: JSON, or text on standard error; empty for an empty
    ``text``.
    """
    if not agent.fields:
        return Answer(error=text, status=2) if text else Answer()
    document: dict[str, Any] = {}
    for path in agent.fields if text else ():
        within = document
        for key in path[:-1]:
            within = within.setdefault(key, dict(agent.constants))
        within[path[-1]] = text
    return Answer(output=json.dumps(document, ensure_ascii=False) + "\n")


def note(agent: CodingAgent, text: str) -> Answer:
    """Answer with what the agent should know though it need not act: as added context, exit status 0."""
    return answer(agent if agent.fields else agent._replace(fields=_CONTEXT, constants=_AFTER_EDIT), text)


def folder_of(event: Event, environment: Mapping[str, str]) -> str:
    """Return the folder that an agent works in: what its environment says, else the event, else this process's own."""
    for name in ("CLAUDE_PROJECT_DIR", "CURSOR_PROJECT_DIR", "GEMINI_PROJECT_DIR"):
        if os.path.isdir(environment.get(name, "")):
            return environment[name]
    return event.folder if os.path.isabs(event.folder) and os.path.isdir(event.folder) else os.getcwd()


def _text(event: Mapping[str, Any], *keys: str) -> str:
    return next((value for key in keys if isinstance(value := event.get(key), str)), "")


def _files(event: Mapping[str, Any]) -> Iterator[str]:
    """Yield the paths of the files in an event, in any form: an argument, a list of edits, or a patch."""
    arguments: Any = next((event[key] for key in _ARGUMENT_KEYS if key in event), event)
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            yield from _PATCHED_FILE.findall(arguments)
            return
    if not isinstance(arguments, dict):
        return
    for table in (arguments, *_tables(arguments)):
        yield from (path for key in _PATH_KEYS for path in _texts(table.get(key)))
    yield from _texts(arguments.get("files"))
    for key in _PATCH_KEYS:
        for patch in _texts(arguments.get(key)):
            yield from _PATCHED_FILE.findall(patch)


def _path(text: str) -> str:
    """Return the path in a text that may be an address: ``file:///house/a%20b.py`` → ``/house/a b.py``."""
    if not text.startswith("file://"):
        return text
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    address = urlsplit(text)
    host = "" if address.netloc in ("", "localhost") else f"//{address.netloc}"
    return url2pathname(host + address.path)


def _texts(value: Any) -> list[str]:
    """Return a text, or those of a list."""
    return [text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str)]


def _tables(arguments: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the edits of several files in one call."""
    for key in _LIST_KEYS:
        items = arguments.get(key)
        yield from (item for item in items if isinstance(item, dict)) if isinstance(items, list) else ()
