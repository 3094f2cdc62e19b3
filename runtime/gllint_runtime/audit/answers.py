"""Answers that are no text: the arguments of a call by which an agent ends its run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from gllint_runtime.policy.data_files import sections

_MAX_PARTS = 20_000


@cache
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(sections("../audit/answers.txt")["answers"][name])


def is_answer_tool(tool: str) -> bool:
    """Return whether a call of a tool of this name is the answer itself: pydantic-ai's ``final_result``,
    ``final_answer``.
    """
    return _pattern("tools").fullmatch(tool) is not None


def is_receipt(value: Any) -> bool:
    """Return whether a framework returned this in place of a tool, because the call's arguments are the answer."""
    return isinstance(value, str) and _pattern("receipts").match(value) is not None


def answer_text(arguments: Any) -> tuple[str, bool]:
    """Return the text of a structured answer, a line for each part behind its key; and whether that is all of it.

    A single text is the answer itself. A key with digits is left out: it would be a number of the answer.
    """
    lines: list[tuple[str, str]] = []
    waiting: list[tuple[str, Any]] = [("", arguments)]
    left = _MAX_PARTS
    while waiting and left:
        left -= 1
        key, node = waiting.pop()
        if isinstance(node, Mapping):
            waiting += [(str(inner), value) for inner, value in reversed([*node.items()])]
        elif isinstance(node, (list, tuple)):
            waiting += [(key, value) for value in reversed(node)]
        elif node is not None and not isinstance(node, bool):
            lines.append((key, str(node)))
    parts = [
        f"{key}: {text}" if key and len(lines) > 1 and not any(map(str.isdigit, key)) else text
        for key, text in lines
    ]
    return "\n".join(parts), not waiting
