"""What the name of a tool says that it does: ``delete_site`` deletes."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Literal, cast

from gllint_rules.tuples import NamedTuple

NamedEffect = Literal["delete", "write", "network"]

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_MOST_TEXT = 200


class _Verb(NamedTuple):
    """A verb of the table: its effect, what must follow it (``None`` for anything) and what must not."""

    effect: str
    follower: str | None
    barred: frozenset[str]


@cache
def _table() -> dict[str, list[_Verb]]:
    """Read the verbs of tool names from their file."""
    table: dict[str, list[_Verb]] = {}
    barred: dict[tuple[str, str], set[str]] = {}
    text = files("gllint_rules.words").joinpath("tool_verbs.txt").read_text("utf-8")
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        effect, _, entries = line.partition(": ")
        for entry in entries.split(", "):
            verb, *rest = entry.split()
            excluded = {word[1:] for word in rest if word.startswith("!")}
            if excluded:
                barred.setdefault((effect, verb), set()).update(excluded)
                continue
            table.setdefault(verb, []).append(_Verb(effect, rest[0] if rest else None, frozenset()))
    for (effect, verb), excluded in barred.items():
        table.setdefault(verb, []).append(_Verb(effect, None, frozenset(excluded)))
    return table


def effect_of_name(name: str) -> NamedEffect | None:
    """Return what a tool of this name does by its own words, ``None`` if they say nothing for sure."""
    words = [word.lower() for word in _WORDS.findall(name[:_MOST_TEXT])]
    table = _table()
    if any(verb.effect == "hedge" for word in words for verb in table.get(word, ())):
        return None
    for i, word in enumerate(words):
        follower = words[i + 1] if i + 1 < len(words) else None
        for verb in table.get(word, ()):
            if (verb.follower is None or verb.follower == follower) and follower not in verb.barred:
                return cast("NamedEffect", verb.effect) if verb.effect != "none" else None
    return None
