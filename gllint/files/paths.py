"""One name for one file, whatever its user calls it: drives, shares and capitals of Windows, letters of macOS."""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from functools import lru_cache

from gllint_runtime.policy.expressions import expression

# File systems there find `a.py` under `A.py`, and macOS `é` of one character under `é` of two.
IGNORES_CASE = sys.platform in ("win32", "cygwin", "darwin")
_VERBATIM = expression(r"//[?.]/(?:(UNC)/|(?=[A-Z]:/))", re.IGNORECASE)
_DRIVE = expression(r"[a-z]:(?=/|\Z)")
# Of Git Bash, and of editors that write an address without its scheme: `/c/house`, `/c:/house`.
_SLASHED_DRIVE = expression(r"/([A-Za-z]):?(?=/)")
_ESCAPE = expression(r"\\(.?)", re.DOTALL)


def absolute(path: str) -> str:
    """Return ``path`` absolute, normalised and with forward slashes; links stay as they are named."""
    path = os.path.abspath(path).replace(os.sep, "/")
    return listed_spelling(one_drive(path)) if IGNORES_CASE else path


def one_drive(path: str) -> str:
    """Return an absolute path of Windows, with forward slashes, as usual: ``C:/a``, ``//server/share/a``."""
    verbatim = _VERBATIM.match(path)
    if verbatim is not None:
        path = ("//" if verbatim[1] else "") + path[verbatim.end() :]
    return _DRIVE.sub(lambda drive: drive[0].upper(), path, count=1) if path[1:2] == ":" else path


def native(path: str) -> str:
    """Return a path of Windows that a tool wrote as on Unix, ``/c/house`` or ``/c:/house``, as Windows has it."""
    if os.sep == "\\" and (drive := _SLASHED_DRIVE.match(path)) is not None:
        windows_path = f"{drive[1]}:{path[drive.end() :]}"
        return windows_path if drive[0].endswith(":") or os.path.exists(windows_path) else path
    return path


def listed_spelling(path: str) -> str:
    """Return an absolute path in the spelling of the file system.

    ``/src/A.PY`` → ``/src/a.py``, if case does not matter.

    From the first folder that cannot be listed or does not have the name, the path stays as it is.
    """
    names = path.split("/")
    first = 4 if path.startswith("//") else 1  # no folder lists a drive or a network share
    folder = "/".join(names[:first])
    for number, name in enumerate(names[first:], first):
        if name:
            listing = _listing(folder + "/")
            entry_name = listing.get(name) or listing.get(_folded(name))
            if not entry_name or (entry_name != name and not os.path.lexists(f"{folder}/{name}")):
                return "/".join([folder, *names[number:]])
            name = entry_name
        folder = f"{folder}/{name}"
    return folder


def _listing(folder: str) -> dict[str, str]:
    try:
        return _listed(folder, os.stat(folder).st_mtime_ns)
    except OSError:
        return {}


@lru_cache(maxsize=1024)
def _listed(folder: str, changed_at: int) -> dict[str, str]:
    """Return the names in a folder by name and by folded name (``{"a.py": "A.py"}``).

    ``""`` if several fold to the same.
    """
    names = os.listdir(folder)
    listing: dict[str, str] = {}
    for name in names:
        folded = _folded(name)
        listing[folded] = "" if folded in listing else name
    return listing | {name: name for name in names}


def _folded(name: str) -> str:
    from unicodedata import normalize

    return normalize("NFC", name.casefold())


def relative(path: str, folder: str) -> str:
    """Return ``path`` relative to ``folder``, with forward slashes; as it is where that lies on another drive."""
    with suppress(ValueError):
        path = os.path.relpath(path, folder)
    return path.replace(os.sep, "/")


def git_pattern(pattern: str, base: str) -> str:
    r"""Return a pattern as ``.gitignore`` in the folder ``base`` would write it.

    ``./src`` → ``/src``, ``src\gen`` → ``src/gen``.

    No pattern needs to escape a letter, so that a backslash before one is a separator; on Windows, whose names have no
    stars, before ``*`` as well. An absolute path below ``base`` becomes relative to it.
    """

    def separated(escape: re.Match[str]) -> str:
        char = escape[1]
        is_separator = char.isalnum() or char in ("_", ".") or (os.sep == "\\" and char in "*?")
        return "/" + char if is_separator else escape[0]

    mark = "!" if pattern.startswith("!") else ""
    text = _ESCAPE.sub(separated, pattern.removeprefix("!")) if "\\" in pattern else pattern.removeprefix("!")
    text = text[1:] if text.startswith("./") and len(text) > 2 else text
    top = base.rstrip("/") + "/"
    drive = one_drive(text)
    if base and len(drive) > len(top):
        is_below = drive.casefold().startswith(top.casefold()) if IGNORES_CASE else drive.startswith(top)
        text = drive[len(top) - 1 :] if is_below else text
    return mark + text
