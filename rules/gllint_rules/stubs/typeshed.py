"""Writes the declarations of typeshed as compact tables, which :mod:`gllint_rules.stubs` reads.

There is one file for each top-level module of the standard library, for the newest Python on Linux, plus the names
that only other platforms have. A line is the module or class of a name, the name, and its declaration
(:mod:`~gllint_rules.stubs.declarations`), separated by tabs. It reads the typeshed of ``typeshed_client``; nothing is
imported. The tables are not in the checkout: they are written when gllint is built or installed (``hatch_build.py``).
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Collection
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

from typeshed_client import get_search_context, get_stub_names
from typeshed_client.parser import NameInfo

from gllint_rules.stubs import FOLDER as FOLDER
from gllint_rules.stubs.declarations import NEWEST, Writer

PLATFORMS = ("linux", "darwin", "win32")  # of a name that several declare, the first counts
# Modules that are large, and that no tool returns results of.
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
        """Return the names of all modules, or of those within ``roots``: ``xml`` → ``xml``, ``xml.dom`` …"""
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
        """Return the declarations of a module by name, of all platforms; ``None`` if there is no such module."""
        if module not in self._modules:
            names: dict[str, NameInfo] | None = None
            for context in self.contexts:
                platform_names = get_stub_names(module, search_context=context)
                if platform_names is not None:
                    names = {**platform_names, **(names or {})}
            self._modules[module] = names
        return self._modules[module]


def tables(*roots: str) -> dict[str, str]:
    """Return the text of each table by its top-level module: ``{"math": 'math\\tpi\\t["a","float"]\\n…'}``.

    ``roots`` limits the modules.
    """
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


def write_tables(folder: Path) -> None:
    """Write all tables into ``folder``, unless it has those of this typeshed and this code already.

    They are written next to it and moved there as a whole, so that another build sees the old or the new ones.
    """
    origin_file = folder / "ORIGIN"
    code = (Path(__file__), Path(__file__).with_name("declarations.py"))
    digests = [sha256(path.read_bytes()).hexdigest() for path in code]
    origin = " ".join((f"typeshed_client {version('typeshed_client')}", *digests))
    if origin_file.exists() and origin_file.read_text("utf-8") == origin:
        return
    new = Path(tempfile.mkdtemp(prefix="new-tables-", dir=folder.parent))
    for root, text in tables().items():
        (new / f"{root}.txt").write_text(text, "utf-8", newline="\n")
    (new / "ORIGIN").write_text(origin, "utf-8", newline="\n")
    new.chmod(0o755)
    old = Path(tempfile.mkdtemp(prefix="old-tables-", dir=folder.parent))
    try:
        if folder.exists():
            folder.rename(old / "tables")
        new.rename(folder)
    except OSError:
        # Another build was quicker. Its tables are the same if they come from the same code.
        if not origin_file.exists() or origin_file.read_text("utf-8") != origin:
            raise
        shutil.rmtree(new)
    finally:
        shutil.rmtree(old)
