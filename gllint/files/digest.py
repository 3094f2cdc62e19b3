"""The digest by which texts, files and entries of the cache are known."""

from __future__ import annotations

try:
    from _blake2 import blake2b  # as `random` does: `hashlib` itself loads all of OpenSSL
except ImportError:
    from hashlib import blake2b

DIGEST_SIZE = 20


def digest(*parts: bytes) -> bytes:
    """Return a digest of ``parts`` and of where each ends."""
    return signature(b"", *parts)


def signature(key: bytes, *parts: bytes) -> bytes:
    """Return a digest of ``parts`` that no one can make who has not the ``key`` of at most 64 bytes."""
    state = blake2b(digest_size=DIGEST_SIZE, key=key)
    for part in parts:
        state.update(b"%d:" % len(part))
        state.update(part)
    return state.digest()
