"""Build hooks: the tables of typeshed, and the addresses in the metadata.

The tables are what :mod:`gllint_rules.stubs.typeshed` makes of the typeshed that ``[build-system]`` names. A wheel gets
them from a temporary folder, so that a read-only checkout can be installed. An editable install has them in its source
tree, where git ignores them.

The framework table ships as it is, unchecked: so each of its rows is checked here.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

REPOSITORY = "GLLINT_REPOSITORY"
"""The variable with the repository's address, which the release workflow sets: no address is written in the source."""


class Tables(BuildHookInterface):
    """Adds the tables to a wheel, or writes them into the tree of an editable install."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make the tables before the build. Raises ValueError if ``frameworks.json`` is not up to date."""
        # The packages without their `__init__`, whose dependencies are not installed yet.
        for floor in ("rules", "runtime"):
            package = ModuleType(f"gllint_{floor}")
            package.__path__ = [str(Path(self.root, floor, f"gllint_{floor}"))]
            sys.modules[f"gllint_{floor}"] = package
        typeshed = import_module("gllint_rules.stubs.typeshed")
        if version == "editable":
            typeshed.write_tables(typeshed.FOLDER)
        else:
            self._folder = tempfile.mkdtemp()
            typeshed.write_tables(Path(self._folder, "tables"))
            build_data["force_include"][f"{self._folder}/tables"] = "gllint_rules/stubs/tables"
        table = import_module("gllint_rules.words.framework_table")
        if Path(table.LOADED).read_text("utf-8") != table.as_loaded(Path(table.SOURCE).read_text("utf-8")):
            raise ValueError(
                "frameworks.json does not match frameworks.toml: see the head of framework_table.py"
            )

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            shutil.rmtree(self._folder)


class Addresses(MetadataHookInterface):
    """Fills in the readme and the project's URLs.

    PyPI cannot follow a link into the checkout, so links and pictures of the readme become addresses of the release.
    """

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the readme and the project's URLs in the metadata."""
        text = Path(self.root, "README.md").read_text("utf-8")
        home = os.environ.get(REPOSITORY, "").rstrip("/")
        if home:
            text = absolute(text, home, f"v{metadata['version']}")
            metadata["urls"] = {
                "Repository": home,
                "Documentation": f"{home}/blob/v{metadata['version']}/docs",
                "Changelog": f"{home}/blob/v{metadata['version']}/CHANGELOG.md",
                "Issues": f"{home}/issues",
            }
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def absolute(text: str, home: str, tag: str) -> str:
    """Return Markdown with its relative links and pictures as addresses of a tag of the repository ``home``."""
    text = re.sub(r'(?<=src=")(?!https?:)', f"{home}/raw/{tag}/", text)
    text = re.sub(r"(!\[[^\]]*\]\()(?!https?:|#)", rf"\g<1>{home}/raw/{tag}/", text)
    return re.sub(r"((?<!!)\[[^\]]*\]\()(?!https?:|#)", rf"\g<1>{home}/blob/{tag}/", text)
