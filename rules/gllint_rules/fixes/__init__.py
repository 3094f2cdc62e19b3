"""Repairs of findings. If the source does not prove that a repair is right, there is no fix.

In: a context, and the place or value that a finding is about. Out: a :class:`~gllint_rules.finding.Fix`, or ``None``.
A module here serves one or a few rules and is imported only when a finding of theirs is placed. All edits of a fix
lie in the file of its finding; none overlap. A node is rewritten as a node and written out again by LibCST, so that
whitespace, comments and line endings which a fix does not mean to change keep every byte.

This room knows nothing of which rule asks, nor whether its fixes are wanted.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from gllint_rules.finding import Fix
from gllint_rules.project.test_paths import is_test_path

if TYPE_CHECKING:
    from gllint_rules.project.context import Context


def repair(module: str, name: str, *arguments: Any) -> Callable[[], Fix | None]:
    """Return a function that calls ``name`` of a module in this room.

    The module is loaded only then, because LibCST loads slowly.
    """

    def fix() -> Fix | None:
        # A fault in a test may be what the test is about.
        context: Context = arguments[0]
        if is_test_path(context.module.path, context.project.root):
            return None
        result: Fix | None = getattr(import_module(f"{__name__}.{module}"), name)(*arguments)
        return result

    return fix
