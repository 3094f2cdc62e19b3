"""What a coding agent is set up with: an entry in its settings, which else stay as they are, and instructions."""

from __future__ import annotations

import json
from importlib.resources import files

from gllint.hosts.coding_agents import CodingAgent
from gllint.init import json_text

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
    """Return the settings of an agent with its hook added, ``None`` if the hook is in them.

    Raises ``ValueError`` with what is wrong: "has `hooks`, which must be an object".
    """
    if text is None or not text.strip(" \t\r\n\ufeff"):
        document = {**agent.defaults, "hooks": {agent.event: [dict(agent.entry)]}}
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    root = json_text.read(text)
    if not isinstance(root.value, dict):
        raise ValueError("is not a JSON object")
    hooks = root.members.get("hooks")
    entries = hooks.members.get(agent.event) if hooks is not None else None
    if hooks is not None and not isinstance(hooks.value, dict):
        raise ValueError("has `hooks`, which must be an object")
    if entries is not None and not isinstance(entries.value, list):
        raise ValueError(f"has hooks of `{agent.event}` that are not a list")
    if entries is not None and f'"{agent.command}' in json.dumps(entries.value, ensure_ascii=False):
        return None
    entry = dict(agent.entry)
    if entries is not None:
        text = json_text.with_item(text, entries, entry)
    elif hooks is not None:
        text = json_text.with_member(text, hooks, agent.event, [entry])
    else:
        text = json_text.with_member(text, root, "hooks", {agent.event: [entry]})
    for key, value in agent.defaults.items():
        root = json_text.read(text)
        if key not in root.members:
            text = json_text.with_member(text, root, key, value)
    return text


def instructions(agent: CodingAgent) -> str:
    """Return the file with gllint's instructions for the code that an agent writes."""
    head = _HEADS.get(agent.instructions.partition("/")[0], _SKILL).format(about=_ABOUT)
    return head + files("gllint.init").joinpath("instructions.md").read_text("utf-8")
