"""Which files git tracks: its index, read here, since a run asks no other program."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator

from gllint.files.writing import read_bytes

_LONGEST = 4_096  # of a name: no system knows longer paths
_STAT, _MODE = 40, 24  # bytes of an entry before its digest; where the mode is in them
_DIGESTS = (20, 32)  # of SHA-1 and of SHA-256
_EXTENDED, _LONG = 0x4000, 0xFFF
_LINK = 0o120000
_SHARED = b"link"


def tracked(repository: str, is_wanted: Callable[[str], bool]) -> frozenset[str] | None:
    """Return the paths in the index of a repository, relative to it, that ``is_wanted``, and all links.

    ``None`` without an index.
    """
    folder = _git_folder(repository)
    try:
        data = read_bytes(f"{folder}/index")
    except OSError:
        return None
    for digest_size in _DIGESTS:
        try:
            names, end = _entries(data, digest_size)
            shared = _shared(data, end, digest_size)
            if shared:
                names += _entries(read_bytes(f"{folder}/sharedindex.{shared}"), digest_size)[0]
        except (OSError, ValueError, IndexError, struct.error):
            continue
        texts = ((name.decode("utf-8", "surrogateescape"), mode) for name, mode in names)
        return frozenset(name for name, mode in texts if name and (mode == _LINK or is_wanted(name)))
    return None


def _git_folder(repository: str) -> str:
    """Return the folder with git's data: ``.git``, or in a work tree or submodule the one that the file ``.git``
    names.
    """
    folder = f"{repository.rstrip('/')}/.git"
    if not os.path.isfile(folder):
        return folder
    try:
        text = read_bytes(folder, 10_000).decode("utf-8", "surrogateescape")
    except OSError:
        return folder
    target = text.removeprefix("gitdir:").strip().partition("\n")[0]
    return os.path.join(repository, target) if text.startswith("gitdir:") else folder


def _entries(data: bytes, digest_size: int) -> tuple[list[tuple[bytes, int]], int]:
    """Return the name and mode of each entry of git's index, and where they end. Raises ValueError if it is none."""
    magic, version, count = struct.unpack_from(">4sLL", data)
    if magic != b"DIRC" or not 2 <= version <= 4:
        raise ValueError("no index of git")
    names: list[tuple[bytes, int]] = []
    # An entry: what `stat` says of the file, its digest, two bytes of flags (four if extended), and the name.
    place, name = 12, b""
    flags_at = _STAT + digest_size
    for _ in range(count):
        flags = data[place + flags_at] << 8 | data[place + flags_at + 1]
        start = place + flags_at + (4 if flags & _EXTENDED else 2)
        mode = data[place + _MODE + 2] << 8 | data[place + _MODE + 3]
        if version == 4:  # the name is the previous one without its last bytes, and with a new end
            dropped, start = _number(data, start)
            end = data.index(0, start)
            name = name[: len(name) - dropped] + data[start:end]
            place = end + 1
        else:  # the flags hold the size of the name, and zero bytes fill the entry up to a multiple of eight
            size = flags & _LONG
            end = data.index(0, start) if size == _LONG else start + size
            name = data[start:end]
            place += (end - place + 8) & ~7
        if data[end] or len(name) > _LONGEST:
            raise ValueError("a name that does not end")
        names.append((name, mode))
    return names, place


def _number(data: bytes, place: int) -> tuple[int, int]:
    """Return a number of variable length, as git writes offsets, and the place behind it."""
    byte = data[place]
    value = byte & 0x7F
    while byte & 0x80:
        place += 1
        byte = data[place]
        value = (value + 1) << 7 | byte & 0x7F
    return value, place + 1


def _shared(data: bytes, place: int, digest_size: int) -> str:
    """Return the name of the index that this one is the difference from, ``""`` if it is alone."""
    for name, content in _extensions(data, place, len(data) - digest_size):
        if name == _SHARED:
            base = content[:digest_size]
            return base.hex() if any(base) else ""
    return ""


def _extensions(data: bytes, place: int, end: int) -> Iterator[tuple[bytes, bytes]]:
    if place > end:
        raise ValueError("an index that is cut off")
    while place + 8 <= end:
        name, size = struct.unpack_from(">4sL", data, place)
        yield name, data[place + 8 : place + 8 + size]
        place += 8 + size
