"""How a configuration calls a server: by the name of its program or its host."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from urllib.parse import urlsplit

_STARTERS = frozenset(
    ["python", "python3", "uv", "uvx", "npx", "node", "run", "bash", "sh", "deno", "bun", "docker"]
)


def server_name(command: Sequence[str], url: str | None = None) -> str:
    """Return a name for a server: ``weather`` for ``python weather.py``, ``npx -y @acme/weather``,
    ``https://weather.acme.com``.
    """
    if url is not None:
        return (urlsplit(url).hostname or "server").removeprefix("www.").partition(".")[0]
    for word in command:
        name = os.path.splitext(re.split(r"[/\\]", word.rstrip("/\\"))[-1])[0]  # npx of C:\node\npx.cmd
        is_starter = name.lower() in _STARTERS or re.fullmatch(r"python\d?", name)
        if name and not is_starter and not word.startswith("-"):
            return re.sub(r"[^\w.-]+", "-", name)
    return "server"
