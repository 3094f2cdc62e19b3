"""The other members of a workspace: which packages a project may import that lie next to it in one repository.

uv, Poetry and pixi let several projects, each with a ``pyproject.toml`` of its own, import each other. The members are
read from the configuration files alone.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from typing import Any

from gllint_runtime.policy.regular_files import read_bytes

_SOURCE_FOLDERS = ("src", "", "lib", "python")
_MOST_MEMBERS = 1_000


def sibling_packages(root: str, top: str) -> dict[str, list[str]]:
    """Return the packages of other workspace members of the project at ``root``, with the folders that contain them.

    ``{"acme": ["/repo/packages/b/src"]}``. ``top`` is the repository: nothing above it is looked at.
    """
    packages: dict[str, list[str]] = {}
    for member in sorted(set(_members(root, top)) - {root})[:_MOST_MEMBERS]:
        for source in _SOURCE_FOLDERS:
            base = f"{member}/{source}".rstrip("/")
            if os.path.isdir(base):
                for name in sorted(os.listdir(base)):
                    if os.path.isfile(f"{base}/{name}/__init__.py"):
                        packages.setdefault(name, []).append(base)
    return packages


def _members(root: str, top: str) -> Iterator[str]:
    """Yield the folders that the workspaces around ``root`` list as members (``members = ["packages/*"]``)."""
    folder = root
    while f"{folder}/".startswith(f"{top.rstrip('/')}/"):
        for name in ("pyproject.toml", "pixi.toml"):
            table = _table(f"{folder}/{name}", all_tables=folder == root)
            for pattern in _patterns(table):
                for path in glob.iglob(f"{glob.escape(folder)}/{pattern}"):
                    path = os.path.normpath(path).replace(os.sep, "/")
                    if f"{path}/".startswith(f"{top.rstrip('/')}/") and os.path.isdir(path):
                        yield path
        if folder == os.path.dirname(folder):
            return  # the root of the file system, above what is in no repository
        folder = os.path.dirname(folder)


def _table(path: str, all_tables: bool) -> dict[str, Any]:
    """Return the content of a TOML file that may list members of a workspace; ``{}`` for any other file.

    With ``all_tables``, its dependencies by path matter as well: ``b = { path = "../b" }``.
    """
    try:
        data = read_bytes(path)
    except OSError:
        return {}
    # Most files list none: parsing them takes far longer than a look for these words.
    if b"workspace" not in data and not (all_tables and b"path" in data):
        return {}
    import tomllib

    try:
        return tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        return {}


def _patterns(table: dict[str, Any]) -> Iterator[str]:
    """Yield the folders that a configuration file names: members of a workspace, as patterns, and dependencies by
    path.
    """
    tools = table.get("tool")
    tools = tools if isinstance(tools, dict) else {}
    for tool in ("uv", "pixi"):
        members = _under(tools, tool, "workspace", "members")
        yield from (item for item in members if isinstance(item, str)) if isinstance(members, list) else ()
    for keys in (("uv", "sources"), ("poetry", "dependencies"), ("pixi", "pypi-dependencies")):
        sources = _under(tools, *keys)
        for source in sources.values() if isinstance(sources, dict) else ():
            if isinstance(source, dict) and isinstance(source.get("path"), str):
                yield glob.escape(source["path"])


def _under(table: Any, *keys: str) -> Any:
    for key in keys:
        table = table.get(key) if isinstance(table, dict) else None
    return table
