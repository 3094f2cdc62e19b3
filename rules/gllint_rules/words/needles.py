"""By which bytes files are chosen: what :mod:`~gllint_rules.words.screen` and its callers both name."""

from __future__ import annotations

from typing import TypeAlias

Needles: TypeAlias = frozenset[tuple[bytes, ...]]
"""By what files may use the tools of others: each the name of a tool or of what makes or holds one, a text that calls
one by its name, or two names, of what is imported and of what it is given a function by, which makes that a tool."""
# Among them: any other name may stand for a tool, too. That is so in a small project.
ANY_NAME = (b"*",)
# Stands before a needle that counts there alone.
IN_SMALL_PROJECT = "?"
# What stands in a file that may run another by its path.
LOADERS = (
    b"exec(",
    b"run_path",
    b"FileLoader",
    b"spec_from_file_location",
    b"import_module(",
    b"__import__(",
)
