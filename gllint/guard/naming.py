"""How a configuration calls a server: by the name of its program or its host."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from urllib.parse import urlsplit

_STARTERS = frozenset(
    {
        "python",
        "python3",
        "uv",
        "uvx",
        "npx",
        "node",
        "run",
        "bash",
        "sh",
        "deno",
        "bun",
        "docker",
        "-m",
        "-y",
    }
)


def server_name(command: Sequence[str], url: str | None = None) -> str:
    """``weather`` for ``python weather.py``, for ``npx -y @acme/weather`` and for ``https://weather.example/mcp``."""
    if url is not None:
        return (urlsplit(url).hostname or "server").removeprefix("www.").partition(".")[0]
    for word in command:
        if (
            word in _STARTERS
            or word.startswith("-")
            or re.fullmatch(r"python\d?(?:\.\d+)?", os.path.basename(word))
        ):
            continue
        name = os.path.splitext(os.path.basename(word.rstrip("/\\")))[0]
        if name and name not in _STARTERS:
            return re.sub(r"[^\w.-]+", "-", name)
    return "server"
