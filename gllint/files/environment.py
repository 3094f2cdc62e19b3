"""Where the packages of a Python environment lie. Nothing of it is run."""

from __future__ import annotations

import glob
import os

from gllint.files.digest import digest
from gllint.shown import visible

_PLACES = ("lib/python3*/site-packages", "Lib/site-packages", "lib/python3*/dist-packages")


def packages(path: str) -> tuple[str, ...]:
    """Return a digest of what is installed in the environment at ``path``, then its folders of packages.

    ``path`` is the environment (``.venv``) or its interpreter. Raises ``ValueError`` if there is none.
    """
    root = path if os.path.isdir(path) else os.path.dirname(os.path.dirname(path))
    folders = [
        folder
        for place in _PLACES
        for folder in sorted(glob.glob(os.path.join(glob.escape(root), place)))
        if os.path.isdir(folder)
    ]
    if not folders or not os.path.exists(path):
        raise ValueError(
            f"no packages at {visible(path)}; name the folder of an environment (.venv) or its interpreter "
            "(.venv/bin/python), or remove the key"
        )
    installed = [
        f"{name}\n" for folder in folders for name in sorted(os.listdir(folder)) if name.endswith("-info")
    ]
    changed = [f"{os.stat(folder).st_mtime_ns}\n" for folder in folders]
    return digest("".join(installed + changed).encode("utf-8", "surrogateescape")).hex(), *folders
