"""Words of others in our own messages: harmless on one line, cut where they are long, and the nearest right one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gllint_runtime.policy.expressions import expression

_NEAR = 0.7
# A runner in CI takes the first where a line begins with it, blanks aside, the second (`##[error]`, `##vso[`) anywhere.
_COMMAND = expression(r"^\s*:(?=:)|##\w*\[")


def visible(text: str) -> str:
    r"""Return text on one line, with control and other unprintable characters as escapes: a line feed becomes
    ``\n``.

    Text from a file, its name included, passes here before a terminal or a CI log shows it. Otherwise a line feed
    could begin a workflow command, and an escape sequence or a right-to-left override could hide what is written.
    A workflow command by itself (``::error``) is broken by an escape, too.
    """
    if not text.isprintable():
        text = "".join(c if c.isprintable() else _escaped(c) for c in text)
    if ":" not in text and "##" not in text:
        return text
    return _COMMAND.sub(lambda command: f"{command[0][:-1]}\\x{ord(command[0][-1]):02x}", text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def shortened(text: str, most: int = 60) -> str:
    """Text as :func:`visible` shows it, at most so many characters of it."""
    text = visible(text)
    return text if len(text) <= most else text[: most - 3] + "…"


def literal(value: Any) -> str:
    """Return a value as JSON writes it, shortened. Raises RecursionError or ValueError for what cannot be written."""
    import json

    return shortened(json.dumps(value, ensure_ascii=False, default=str))


def nearest(word: str, candidates: Mapping[str, str] | Iterable[str], otherwise: str = "") -> str:
    """Return ``"; did you mean 'x'?"`` for the nearest of ``candidates``, or ``otherwise`` if none is near.

    A mapping has the suggestion for each candidate.
    """
    import difflib

    suggestions = candidates if isinstance(candidates, Mapping) else {name: name for name in candidates}
    folded = {name.casefold().replace("_", "-"): right for name, right in suggestions.items()}
    written = word.casefold().replace("_", "-")
    close = difflib.get_close_matches(written, folded, n=len(folded) or 1, cutoff=_NEAR)
    if not close:
        return otherwise
    # Of several that are as near, the one that is alike at most places, else the first: `GL10X` is no more GL106 than
    # GL101.
    near = difflib.SequenceMatcher(None, close[0], written).ratio()
    best = [name for name in close if difflib.SequenceMatcher(None, name, written).ratio() >= near]
    order = list(folded)
    alike = {name: sum(a == b for a, b in zip(name, written, strict=False)) for name in best}
    return f"; did you mean '{folded[min(best, key=lambda name: (-alike[name], order.index(name)))]}'?"
