"""Writes what typeshed declares of the standard library as compact tables, which :mod:`gllint_rules.stubs` reads.

One file for each top-level module, as for the newest Python on Linux, with what only other platforms have added. It
reads the typeshed of ``typeshed_client``; nothing is imported. A line is the module or class that has a name, the name,
and what :mod:`~gllint_rules.stubs.declarations` says of it, with tabs between. The tables are no part of the checkout:
they are made when gllint is built or installed (``hatch_build.py``).
"""

from __future__ import annotations

import json
from collections.abc import Collection
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

from typeshed_client import get_search_context, get_stub_names
from typeshed_client.parser import NameInfo

from gllint_rules.stubs import FOLDER
from gllint_rules.stubs.declarations import NEWEST, Writer

PLATFORMS = ("linux", "darwin", "win32")  # what an earlier one declares holds
# Nothing that a tool returns comes from these, and they are large.
LEFT_OUT = frozenset(
    {
        "antigravity",
        "encodings",
        "idlelib",
        "lib2to3",
        "distutils",
        "nt",
        "this",
        "tkinter",
        "turtle",
        "turtledemo",
    }
)


class Typeshed:
    """The names that the stubs of the standard library declare, module by module."""

    def __init__(self) -> None:
        self.contexts = [
            get_search_context(search_path=[], version=NEWEST, platform=platform) for platform in PLATFORMS
        ]
        self._modules: dict[str, dict[str, NameInfo] | None] = {}

    def modules(self, roots: Collection[str]) -> list[str]:
        """All modules, or those of the top-level modules ``roots``."""
        folder = Path(self.contexts[0].typeshed)
        names = []
        for path in folder.rglob("*.pyi"):
            parts = path.relative_to(folder).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            root = name.partition(".")[0]
            if root not in LEFT_OUT and (not roots or root in roots) and self.names(name):
                names.append(name)
        return sorted(names)

    def names(self, module: str) -> dict[str, NameInfo] | None:
        if module not in self._modules:
            names: dict[str, NameInfo] | None = None
            for context in self.contexts:
                platform_names = get_stub_names(module, search_context=context)
                if platform_names is not None:
                    names = {**platform_names, **(names or {})}
            self._modules[module] = names
        return self._modules[module]


def tables(*roots: str) -> dict[str, str]:
    """The text of each file, or of those of ``roots`` alone, by the name of its top-level module."""
    stubs = Typeshed()
    contents: dict[str, dict[str, Any]] = {}
    for module in stubs.modules(roots):
        contents.setdefault(module.partition(".")[0], {}).update(Writer(stubs, module).write())
    return {
        root: "".join(
            f"{owner}\t{name}\t{json.dumps(what, separators=(',', ':'), ensure_ascii=False)}\n"
            for (owner, _, name), what in sorted((full.rpartition("."), what) for full, what in lines.items())
        )
        for root, lines in contents.items()
        if lines
    }


def write_tables() -> None:
    """Write all tables, unless those that are there are of this typeshed and of this code."""
    origin_file = FOLDER / "ORIGIN"
    code = (Path(__file__), Path(__file__).with_name("declarations.py"))
    digests = [sha256(path.read_bytes()).hexdigest() for path in code]
    origin = " ".join((f"typeshed_client {version('typeshed_client')}", *digests))
    if origin_file.exists() and origin_file.read_text("utf-8") == origin:
        return
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.iterdir():
        path.unlink()
    for root, text in tables().items():
        (FOLDER / f"{root}.txt").write_text(text, "utf-8", newline="\n")
    origin_file.write_text(origin, "utf-8", newline="\n")
