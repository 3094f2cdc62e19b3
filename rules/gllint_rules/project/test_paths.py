"""Recognise test files by their paths."""

from __future__ import annotations

import posixpath


def is_test_path(path: str, root: str) -> bool:
    """Return whether a file is ``test_*.py``, ``*_test.py``, ``conftest.py``, or under ``tests/`` or ``test/``."""
    relative = posixpath.relpath(path, root) if root and path.startswith(f"{root}/") else path
    *folders, name = relative.split("/")
    return (
        name == "conftest.py"
        or (name.startswith("test_") and name.endswith(".py"))
        or name.endswith("_test.py")
        or "tests" in folders
        or "test" in folders
    )
