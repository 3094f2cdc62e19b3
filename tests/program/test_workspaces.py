"""Members of one workspace that import each other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Write = Callable[..., Path]
Check = Callable[..., list[str]]

CORE = "def heat(site: str) -> dict:\n    return {'heat_kwh': len(site) * 80.0}\n"
MEMBER = '[project]\nname = "{}"\nversion = "1"\n'


@pytest.mark.parametrize("paths", [["."], ["packages/app"]])
@pytest.mark.parametrize(
    ("line", "tool"),
    [("from core.energy import heat", "heat"), ("from core import energy", "energy.heat"), ("import core", "core.heat")],
)  # fmt: skip
def test_a_function_of_another_member_is_reported_where_it_is_made_a_tool(
    write: Write, check: Check, paths: list[str], line: str, tool: str
) -> None:
    """Its own project has no tool, and this one cannot change it: in neither was it reported."""
    top = write(
        {
            "pyproject.toml": '[tool.uv.workspace]\nmembers = ["packages/*"]\n',
            "packages/core/pyproject.toml": MEMBER.format("core"),
            "packages/core/src/core/__init__.py": "from core.energy import heat\n",
            "packages/core/src/core/energy.py": CORE,
            "packages/app/pyproject.toml": MEMBER.format("app"),
            "packages/app/src/agent.py": f"{line}\nfrom mcp.server.fastmcp import FastMCP\n\nmcp = FastMCP('a')\nmcp.add_tool({tool})\n",
        }
    )
    assert check(*paths, "--no-cache", cwd=top) == ["packages/app/src/agent.py:5:1: GL101"]
