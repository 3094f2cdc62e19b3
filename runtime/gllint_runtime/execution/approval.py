"""Who may run a tool: four categories, and the person's consent where a tool has effects (seed 003).

READ_ONLY runs on its own, NOTE_TAKING with an optional notice or, on request, a confirmation, MODIFICATION and
EXTERNAL only when the ``approve`` callback returns ``True`` itself. Any other answer, an exception and a missing
callback reject.
"""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable, Mapping
from enum import StrEnum
from typing import Any

from gllint_runtime.execution.asking import Asking, way_to_call
from gllint_runtime.policy.errors import GLSecurityError, reason_of
from gllint_runtime.policy.log import logger


class ToolCategory(StrEnum):
    """What a tool may do to the world, from harmless to not. When in doubt, the more restrictive one."""

    READ_ONLY = "read_only"
    NOTE_TAKING = "note_taking"
    MODIFICATION = "modification"
    EXTERNAL = "external"


Approve = Callable[[Any, dict[str, Any], bool], bool | Awaitable[bool]]
"""``approve(tool, args, first_use)``: ``True`` lets the call run. ``args`` is a copy; show ``preview(tool, args)``."""

Notify = Callable[[Any, dict[str, Any]], object]
"""``notify(tool, args)``: called before a NOTE_TAKING tool runs; its answer, or its failure, changes nothing."""

_READ_ONLY, _NOTE_TAKING, *_ = _BY_RANK = [*ToolCategory]


def preview(tool: Any, arguments: Mapping[str, Any]) -> str:
    """Describe a call for the person who decides: by the tool's own ``preview(**args)``, else as the call itself."""
    if callable(preview_of_tool := getattr(tool, "preview", None)):
        return str(preview_of_tool(**arguments))
    listing = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    return f"{tool.name}({listing})"


class ApprovalGate:
    """Asks before each call of a tool with effects, and remembers which tools were let through once.

    Either callback may be async. ``confirm_notes`` asks before NOTE_TAKING tools as well.
    """

    def __init__(
        self, approve: Approve | None = None, notify: Notify | None = None, *, confirm_notes: bool = False
    ) -> None:
        """Make a gate that asks ``approve`` before effects, and calls ``notify`` about notes; either may be
        ``None``.
        """
        for name, callback in (("approve", approve), ("notify", notify)):
            if callback is not None and not callable(callback):
                raise TypeError(f"{name} must be a function, got {callback!r}")
        self._approve = approve
        self._notify = notify
        self._confirm_notes = confirm_notes
        self._used: set[str] = set()

    def asking(self, approve: Approve | None, notify: Notify | None) -> ApprovalGate:
        """Return this gate if both are ``None``, else one like it with these callbacks."""
        if approve is None and notify is None:
            return self
        return ApprovalGate(
            approve or self._approve, notify or self._notify, confirm_notes=self._confirm_notes
        )

    def checking(self, tool: Any, arguments: Mapping[str, Any], category: ToolCategory) -> Asking[str]:
        """Ask for approval if the category of the call needs it, and return ``"auto"``, ``"notice"`` or
        ``"approved"``.

        Raises APPROVAL_DENIED. ``category`` is the one that the tool was registered with; its own may have become
        stricter.
        """
        if category is not tool.category:
            category = max(category, ToolCategory(tool.category), key=_BY_RANK.index)
        if category is _READ_ONLY:
            return "auto"
        if category is _NOTE_TAKING:
            if (notify := self._notify) is not None:
                arguments_copy = copy.deepcopy(dict(arguments))
                try:
                    yield lambda: notify(tool, arguments_copy), way_to_call(notify)
                except Exception:  # a notice decides nothing: the call goes on
                    logger.exception("The notice about tool '%s' failed", tool.name)
            if not self._confirm_notes:
                return "notice" if notify else "auto"
        reason = yield from self._refusal(tool, arguments, category)
        if reason is not None:
            raise GLSecurityError(
                "APPROVAL_DENIED",
                f"Tool '{tool.name}' was not run: {reason}",
                context={"tool_name": tool.name, "category": category.value},
            )
        self._used.add(tool.name)
        return "approved"

    def _refusal(self, tool: Any, arguments: Mapping[str, Any], category: ToolCategory) -> Asking[str | None]:
        """Ask for approval; return why the call may not run, or ``None`` if it may."""
        approve = self._approve
        if approve is None:
            return f"a tool of category {category.value} needs an approve callback"
        arguments_copy, first_use = copy.deepcopy(dict(arguments)), tool.name not in self._used
        try:
            answer = yield lambda: approve(tool, arguments_copy, first_use), way_to_call(approve)
        except Exception as error:
            return f"the approval callback failed ({reason_of(error)})"
        return None if answer is True else "the user did not approve it"  # "yes" and 1 are no approval
