"""Text from elsewhere as it is shown: whatever a file holds, its name included, stays harmless on one line."""

from __future__ import annotations


def visible(text: str) -> str:
    """Return text with its control and other unprintable characters as escapes, so that it stays on one line.

    Whatever comes from a file, its name included, passes here before a terminal or a CI log shows it: a line feed
    could begin a workflow command, an escape sequence or a right-to-left override could hide what is written.
    Zero-width characters are what a naked number may hide behind: they are shown too.
    """
    return text if text.isprintable() else "".join(c if c.isprintable() else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
