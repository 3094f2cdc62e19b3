"""Regular expressions that are compiled when they are first used: a run needs a few of those that it imports."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast

_METHODS = ("findall", "finditer", "flags", "fullmatch", "match", "pattern", "search", "split", "sub", "subn")


class _Expression:
    def __init__(self, text: str | bytes, flags: int) -> None:
        self._source = text, flags

    def __getattr__(self, name: str) -> Any:
        if name not in _METHODS:
            raise AttributeError(name)
        compiled: re.Pattern[Any] = re.compile(*self._source)
        self.__dict__.update({method: getattr(compiled, method) for method in _METHODS})
        return self.__dict__[name]


def expression(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return ``re.compile(text, flags)`` for a module's top level, compiled when a method of it is first looked up."""
    return cast("re.Pattern[AnyStr]", _Expression(text, flags))
