"""Who may run a tool: four categories, and the person's consent where a tool has effects (seed 003).

READ_ONLY runs on its own, NOTE_TAKING with an optional notice, MODIFICATION and EXTERNAL only when the
``approve`` callback returns ``True`` itself. Any other answer, an exception and a missing callback refuse.
"""

from __future__ import annotations

import copy
import inspect
import logging
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

from gllint_runtime.policy.errors import GLSecurityError

logger = logging.getLogger("gllint_runtime")


class ToolCategory(StrEnum):
    """What a tool may do to the world. When in doubt, the more restrictive one."""

    READ_ONLY = "read_only"
    NOTE_TAKING = "note_taking"
    MODIFICATION = "modification"
    EXTERNAL = "external"


Approve = Callable[[Any, dict[str, Any], bool], bool]
"""``approve(tool, args, first_use)``: ``True`` lets the call run. ``args`` is a copy; show ``preview(tool, args)``."""

Notify = Callable[[Any, dict[str, Any]], object]
"""``notify(tool, args)``: told before a NOTE_TAKING tool runs; its answer, or its failure, changes nothing."""

_NEEDS_CONSENT = frozenset({ToolCategory.MODIFICATION, ToolCategory.EXTERNAL})


def preview(tool: Any, arguments: Mapping[str, Any]) -> str:
    """What a call would do, for the person who decides: the tool's own ``preview(**args)``, or the call itself."""
    if callable(own := getattr(tool, "preview", None)):
        return str(own(**arguments))
    shown = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    return f"{tool.name}({shown})"


class ApprovalGate:
    """Asks before each call of a tool with effects, and remembers which tools were let through once."""

    def __init__(self, approve: Approve | None = None, notify: Notify | None = None) -> None:
        self._approve = approve
        self._notify = notify
        self._used: set[str] = set()

    def check(self, tool: Any, arguments: Mapping[str, Any]) -> str:
        """Return how the call was let through (``"auto"``, ``"notice"``, ``"approved"``) or raise APPROVAL_DENIED."""
        category = tool.category if type(tool.category) is ToolCategory else ToolCategory(tool.category)
        if category is ToolCategory.NOTE_TAKING and self._notify is not None:
            try:
                self._notify(tool, copy.deepcopy(dict(arguments)))
            except Exception:
                logger.exception("The notice about tool '%s' failed", tool.name)
            return "notice"
        if category not in _NEEDS_CONSENT:
            return "auto"
        reason = self._refusal(tool, arguments)
        if reason is not None:
            raise GLSecurityError(
                "APPROVAL_DENIED",
                f"Tool '{tool.name}' was not run: {reason}",
                context={"tool_name": tool.name, "category": category.value},
            )
        self._used.add(tool.name)
        return "approved"

    def _refusal(self, tool: Any, arguments: Mapping[str, Any]) -> str | None:
        if self._approve is None:
            return f"a tool of category {ToolCategory(tool.category).value} needs an approve callback"
        try:
            answer = self._approve(tool, copy.deepcopy(dict(arguments)), tool.name not in self._used)
        except Exception as error:
            return f"asking for approval failed ({error})"
        if inspect.iscoroutine(answer):
            answer.close()
        return None if answer is True else "the user did not approve it"
