"""Text from elsewhere as it is shown: whatever a file holds, its name included, stays harmless on one line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gllint_rules import Failure

# A runner in CI takes the first where a line begins with it, blanks aside, the second (`##[error]`, `##vso[`) anywhere.
_COMMAND = re.compile(r"^\s*:(?=:)|##\w*\[")


def visible(text: str) -> str:
    """Return text with its control and other unprintable characters as escapes, so that it stays on one line.

    Whatever comes from a file, its name included, passes here before a terminal or a CI log shows it: a line feed
    could begin a workflow command, an escape sequence or a right-to-left override could hide what is written.
    Zero-width characters are what a naked number may hide behind: they are shown too. What is a workflow command
    by itself loses its last sign to an escape.
    """
    if not text.isprintable():
        text = "".join(c if c.isprintable() else _escaped(c) for c in text)
    return _COMMAND.sub(lambda command: f"{command[0][:-1]}\\x{ord(command[0][-1]):02x}", text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def failure_text(failure: Failure, *paths: str) -> str:
    """What to say of a rule that failed in one way on the files shown as ``paths``: whose defect it is."""
    from gllint_rules.catalogue.installed import package_of

    package = package_of(failure.code)
    whose = "internal error:" if package is None else f"the package {package}:"
    more = len(paths) - 1
    rest = f" and {more} more file{'s' * (more > 1)}" if more else ""
    return f"{whose} {failure.code} failed on {paths[0]}{rest}: {failure.error}"
