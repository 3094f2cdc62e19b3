"""What is valid Python: CPython's own parser says so. Kept light, for runs that need to know no more."""

from __future__ import annotations

import _ast  # what `ast.parse` asks for; the module `ast` itself costs more than a small file's parse
import sys
import warnings
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from ast import Module


class ParseFailure(Exception):
    """What Python says against a source; ``line`` and ``column`` are 1-based. ``is_syntax``: a newer one may not."""

    def __init__(self, message: str, line: int = 1, column: int = 1, *, is_syntax: bool = False) -> None:
        super().__init__(message)
        self.message, self.line, self.column, self.is_syntax = message, line, column, is_syntax


def parsed(source: str) -> Module:
    """Return the tree of ``source`` by CPython's own parser. Raises :class:`ParseFailure`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _tree(source)
    except SyntaxError as error:
        place = max(error.lineno or 1, 1), max(error.offset or 1, 1)
        raise ParseFailure(error.msg, *place, is_syntax=True) from None
    except (RecursionError, MemoryError):
        raise ParseFailure("nested too deeply to be parsed: Python itself gives up on it") from None
    except ValueError as error:
        raise ParseFailure(f"cannot be parsed: {error}") from None


def _tree(source: str) -> Module:
    """Parse source, also with numbers of more digits than Python converts."""
    try:
        return _compiled(source)
    except SyntaxError as error:
        if "integer string conversion" not in error.msg:
            raise
    # How many digits `int` converts is a setting, no syntax.
    old_limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        return _compiled(source)
    finally:
        sys.set_int_max_str_digits(old_limit)


def _compiled(source: str) -> Module:
    return cast("Module", compile(source, "<unknown>", "exec", _ast.PyCF_ONLY_AST))
