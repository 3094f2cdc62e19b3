"""By which bytes files are chosen: what :mod:`~gllint_rules.words.screen` and its callers both name."""

from __future__ import annotations

from typing import TypeAlias

Needles: TypeAlias = frozenset[tuple[bytes, ...]]
"""How a file may use the tools of others: by the name of a tool or of what makes or has one, by a text that calls
one by its name, or two names, of what is imported and of what it is given a function by, which makes that a tool."""
# Among them: any other name may be a tool, too, as in a small project.
ANY_NAME = (b"*",)
# The prefix of a needle that counts only in a small project.
IN_SMALL_PROJECT = "?"
