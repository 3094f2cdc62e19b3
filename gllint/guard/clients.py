"""What to write into a client's configuration so that it starts a server behind the guard."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from gllint.guard.naming import server_name

PROGRAM = "gllint"


@cache
def clients() -> Mapping[str, Mapping[str, str]]:
    """Return the clients that are known: the file of each, and the key in it."""
    with open(os.path.join(os.path.dirname(__file__), "clients.json"), encoding="utf-8") as file:
        table: Mapping[str, Mapping[str, str]] = json.load(file)
    return table


def installation(client: str, command: Sequence[str], url: str | None, level: str | None) -> str:
    """Return the file of a client's configuration and the JSON to add there, as text."""
    row = clients()[client]
    arguments = ["mcp", "--guard", *(["--level", level] if level else [])]
    arguments += ["--url", url] if url is not None else ["--", *command]
    entry: dict[str, Any] = {"command": PROGRAM, "args": arguments}
    text = json.dumps({row["key"]: {server_name(command, url): entry}}, indent=2, ensure_ascii=False)
    return f"{row['file']}:\n{text}\n"


def own_program() -> str:
    """Return the command that this program was started by, with its whole path."""
    started = os.path.abspath(sys.argv[0])
    if os.path.splitext(os.path.basename(started))[0] == PROGRAM and os.path.isfile(started):
        return started
    neighbour = os.path.join(os.path.dirname(sys.executable), PROGRAM)
    return neighbour if os.path.isfile(neighbour) else shutil.which(PROGRAM) or PROGRAM
