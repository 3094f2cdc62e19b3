"""What a coding agent is set up with: an entry in its settings, which else stay as they are, and instructions."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from typing import Any

from gllint.hosts.coding_agents import CodingAgent

_INDENT = re.compile(r"^\s*[{\[]\r?\n([ \t]+)")
_HEADS = {
    ".cursor": "---\ndescription: {about}\nglobs: **/*.py\nalwaysApply: false\n---\n\n",
    ".github": '---\ndescription: {about}\napplyTo: "**/*.py"\n---\n\n',
}
_SKILL = "---\nname: gllint\ndescription: {about}\n---\n\n"
_ABOUT = (
    "Keeps made-up numbers out of AI agents. Use when writing or changing tools, their schemas or final messages of an"
    " agent in Python, or when gllint reports a finding."
)


def with_entry(agent: CodingAgent, text: str | None) -> str | None:
    """The settings of an agent with its hook; ``None`` where they have it. Raises ``ValueError`` with the reason."""
    document = _document(text) if text is not None and text.strip() else {}
    hooks = document.setdefault("hooks", {})
    if not isinstance(hooks, dict):
        raise ValueError("has `hooks` that are no object")
    entries = hooks.setdefault(agent.event, [])
    if not isinstance(entries, list):
        raise ValueError(f"has hooks of `{agent.event}` that are no list")
    if f'"{agent.command}' in json.dumps(entries, ensure_ascii=False):
        return None
    entries.append(dict(agent.entry))
    document = {**{key: value for key, value in agent.defaults.items() if key not in document}, **document}
    indent = match[1] if (match := _INDENT.match(text or "")) else "  "
    newline = "\r\n" if "\r\n" in (text or "") else "\n"
    return json.dumps(document, indent=indent, ensure_ascii=False).replace("\n", newline) + newline


def instructions(agent: CodingAgent) -> str:
    """The file that tells an agent what gllint wants of the code that it writes."""
    head = _HEADS.get(agent.instructions.partition("/")[0], _SKILL).format(about=_ABOUT)
    return head + files("gllint.init").joinpath("instructions.md").read_text("utf-8")


def _document(text: str) -> dict[str, Any]:
    """The object that settings are. What would not survive being written anew is refused."""
    try:
        document = json.loads(text, object_pairs_hook=_unique)
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    except json.JSONDecodeError:
        raise ValueError("is no JSON (or has comments)") from None
    if not isinstance(document, dict):
        raise ValueError("is no object in JSON")
    return document


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) < len(pairs):
        raise ValueError("has a key twice")
    return entries
