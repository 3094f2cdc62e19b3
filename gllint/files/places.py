"""Which project a file belongs to, and which configuration is in force there.

A *project* is the nearest folder upwards that contains a pyproject.toml, a gllint.toml or a .git. The facts of
one file reach the other files of its project whichever of them are named on the command line, so that every
host reports the same. A file with no such folder above it belongs to the folder that was asked about.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from gllint.files.config import FILE_NAMES, Config, has_settings, in_folder, load
from gllint.files.paths import absolute
from gllint_rules.tuples import NamedTuple

MARKERS = frozenset({"pyproject.toml", "gllint.toml", ".git"})


class Place(NamedTuple):
    """A folder's project, its configuration, and the top of the repository it lies in (``""``: none)."""

    root: str
    config: Config
    repository: str


class Places:
    """Answers for each folder, remembering the answers.

    ``fixed`` is the configuration for every file (``--config``, ``--isolated``), ``None``: the nearest one;
    ``override`` lays the command line's options over a configuration.
    """

    def __init__(self, override: Callable[[Config], Config], fixed: Config | None = None) -> None:
        """Make the places of a run; see the class."""
        self._override = override
        self._fixed = fixed
        # Where no configuration counts, a gllint.toml marks no project either.
        self.markers = MARKERS - {"gllint.toml"} if fixed is not None and not fixed.source else MARKERS
        self._places: dict[str, Place] = {}
        self._settled: dict[str, Place] = {}
        self._homeless = ""
        # Files of patterns that were met and are not obeyed in full, each with the reason.
        self.disobeyed: dict[str, str] = {}
        # Configurations that are in force nowhere, since a stronger one is in the same folder.
        self.shadowed: list[str] = []

    def ask_about(self, paths: Iterable[str]) -> None:
        """Note the project of files without markers: the folder that contains all ``paths`` (absolute)."""
        folders = [path if os.path.isdir(path) else os.path.dirname(path) for path in paths]
        unmarked = [folder for folder in folders if not self.of(folder).root]
        if not unmarked:
            return
        try:
            common = os.path.commonpath(unmarked).replace(os.sep, "/")
        except ValueError:  # on several drives of Windows: no folder contains them all
            return
        home = absolute(os.path.expanduser("~"))
        # Never take a whole disk or someone's home for a project because two files lie far apart.
        if len(set(unmarked)) == 1 or not f"{home}/".startswith(common.rstrip("/") + "/"):
            self._homeless = common

    def project(self, folder: str) -> Place:
        """Return the place of the files of ``folder``; unlike :meth:`of`, with a root also where there is no marker."""
        place = self.of(folder)
        if place.root:
            return place
        root = self._root_without_marker(folder)
        if root not in self._settled:
            self._settled[root] = Place(root, _based(place.config, _working_folder_or(root)), "")
        return self._settled[root]

    def _root_without_marker(self, folder: str) -> str:
        if self._homeless and f"{folder}/".startswith(self._homeless.rstrip("/") + "/"):
            return self._homeless
        while os.path.isfile(f"{folder}/__init__.py"):
            folder = os.path.dirname(folder)
        return folder

    def of(self, folder: str, names: frozenset[str] | None = None) -> Place:
        """Return the place of ``folder``, the one of the nearest folder upwards with a marker; ``names`` are its
        own markers.
        """
        place = self._places.get(folder)
        if place is None:
            markers = self.markers & (names if names is not None else _markers(folder))
            parent = os.path.dirname(folder)
            parent_place = self.of(parent) if parent != folder else Place("", self._default(), "")
            place = self._places[folder] = self._place(folder, markers, parent_place)
        return place

    def configurations(self, paths: Iterable[str]) -> list[Config]:
        """Return the configurations in force at and below ``paths`` (absolute), sorted by file."""
        tops = [path.rstrip("/") + "/" for path in paths]
        places = {folder: self.project(folder) for folder in (top[:-1] or "/" for top in tops)} | {
            folder: place
            for folder, place in self._places.items()
            if any(f"{folder}/".startswith(top) for top in tops)
        }
        configs = {place.config.source: place.config for place in places.values()}
        return [config for file, config in sorted(configs.items()) if file]

    def _place(self, folder: str, markers: frozenset[str], parent_place: Place) -> Place:
        """Return the place of a folder: that of its parent unless it has markers, with its own configuration if it
        has one.
        """
        if not markers:
            return parent_place
        config_here = in_folder(folder) if self._fixed is None and markers != {".git"} else None
        config = self._override(config_here) if config_here is not None else parent_place.config
        if config_here is not None and {*FILE_NAMES} <= markers and has_settings(f"{folder}/{FILE_NAMES[1]}"):
            self.shadowed.append(f"{folder}/{FILE_NAMES[1]}")
        return Place(folder, _based(config, folder), folder if ".git" in markers else parent_place.repository)

    def _default(self) -> Config:
        return self._override(self._fixed if self._fixed is not None else Config())


def fixed_config(file: str | None, isolated: bool) -> Config | None:
    """Return the configuration that ``--config`` and ``--isolated`` ask for; ``None``: the nearest one."""
    if isolated:
        return Config()
    return load(absolute(file), base=absolute(".")) if file else None


def _markers(folder: str) -> frozenset[str]:
    # A link that leads nowhere is there too: it is a configuration that cannot be read.
    return frozenset(name for name in MARKERS if os.path.lexists(f"{folder}/{name}"))


def _working_folder_or(root: str) -> str:
    """Return the folder that patterns without a configuration file are relative to."""
    working_folder = absolute(".")
    return working_folder if f"{root}/".startswith(working_folder.rstrip("/") + "/") else root


def _based(config: Config, folder: str) -> Config:
    return config if config.base else config._replace(base=folder)
