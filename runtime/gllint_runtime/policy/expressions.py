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


UNSPACED = (
    r"[\u0e00-\u0eff\u1000-\u109f\u1100-\u115e\u1161-\u11ff\u1780-\u17ff\u3005\u3006\u3041-\u30fe\u3131-\u3163"
    r"\u3165-\u318e\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f\U00020000-\U000323af]"
)
"""The letters of scripts without blanks between words."""
_UNSPACED = expression(UNSPACED)


def is_unspaced(char: str) -> bool:
    """Return whether a letter is of a script without blanks, where the next word may touch it: "1500元です"."""
    return _UNSPACED.match(char) is not None
