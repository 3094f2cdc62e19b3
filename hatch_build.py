"""Writes typeshed's tables before a wheel is built or gllint is installed from a checkout, and checks the frameworks'.

The tables are what :mod:`gllint_rules.stubs.typeshed` makes of the typeshed that ``[build-system]`` names. They stand
in the source tree, where git ignores them, so that an editable install has them too. They are made anew when the
typeshed or the code that writes them has changed.

The table of frameworks is read as it ships, unchecked: so each of its rows is checked here.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Tables(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        # The packages without their `__init__`, whose dependencies are not there yet.
        for floor in ("rules", "runtime"):
            package = ModuleType(f"gllint_{floor}")
            package.__path__ = [str(Path(self.root, floor, f"gllint_{floor}"))]
            sys.modules[f"gllint_{floor}"] = package
        import_module("gllint_rules.stubs.typeshed").write_tables()
        table = import_module("gllint_rules.words.framework_table")
        if Path(table.LOADED).read_text("utf-8") != table.as_loaded(Path(table.SOURCE).read_text("utf-8")):
            raise ValueError(
                "frameworks.json is not what frameworks.toml says: see the head of framework_table.py"
            )
