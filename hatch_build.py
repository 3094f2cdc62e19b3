"""Writes typeshed's tables before a wheel is built or gllint is installed from a checkout.

The tables are what :mod:`gllint_rules.stubs.typeshed` makes of the typeshed that ``[build-system]`` names. They stand
in the source tree, where git ignores them, so that an editable install has them too. They are made anew when the
typeshed or the code that writes them has changed.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class TypeshedTables(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        # The package without its `__init__`, whose dependencies are not there yet.
        package = ModuleType("gllint_rules")
        package.__path__ = [str(Path(self.root, "rules", "gllint_rules"))]
        sys.modules["gllint_rules"] = package
        import_module("gllint_rules.stubs.typeshed").write_tables()
