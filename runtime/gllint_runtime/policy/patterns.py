"""Regular expressions of users, with a limit on their time: :mod:`re` has none, and texts come from models."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import re

SECONDS = 0.25  # for one expression over one text


class SlowPattern(ValueError):
    """An expression that took too long over a text: nothing is known of what it matches there."""

    def __init__(self, pattern: str) -> None:
        super().__init__(f"the pattern {pattern!r} takes too long to match; make it simpler")


def problem(pattern: str) -> str:
    """Return what is wrong with a regular expression, ``""`` if it compiles: ``"("`` →
    "is not a valid regular expression: …".
    """
    import regex

    try:
        _compiled(pattern)
    except (regex.error, OverflowError, RecursionError, ValueError) as error:
        return f"is not a valid regular expression: {error}"
    return ""


def matches(pattern: str, text: str) -> Iterator[re.Match[str]]:
    """Yield the matches of an expression within a time limit; when it is over, log that and end."""
    try:
        yield from _compiled(pattern).finditer(text, timeout=SECONDS)
    except TimeoutError:
        from gllint_runtime.policy.log import logger

        logger.warning("%s", SlowPattern(pattern))


def is_in(pattern: str, text: str) -> bool:
    """Say whether an expression matches anywhere in a text. Raises :class:`SlowPattern`."""
    try:
        return _compiled(pattern).search(text, timeout=SECONDS) is not None
    except TimeoutError:
        raise SlowPattern(pattern) from None


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> Any:
    """Return the expression, compiled by the ``regex`` module, which has a time limit."""
    import warnings

    import regex  # few projects have expressions of their own

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what a later version may read otherwise
        return regex.compile(pattern, regex.VERSION0)
