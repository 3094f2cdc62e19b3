"""The files of the project as modules: which file an import leads to, and which modules depend on which."""

from __future__ import annotations

import posixpath
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from gllint_rules.reading.facts import Module
from gllint_rules.reading.reads import SHAPE, Reads
from gllint_rules.reading.sketch import Imported
from gllint_rules.words.text_files import TEXT_MARK, text_kind

_LONGEST_PATH = 1_000
_SOURCE_ROOTS = ("", "src/", "lib/", "python/")
# Files in the top folder of a project, which is the working folder, not a package, `__init__.py` or not.
_TOP_FOLDER_FILES = ("pyproject.toml", "setup.py", "requirements.txt", ".git/HEAD")


class Imports:
    """Finds and loads modules, and records which module imports which.

    ``load`` returns the facts of a file or None; ``exists`` returns whether there is a file. ``packages`` are the
    folders of each top-level package of the project (see :func:`top_level_packages`). ``root`` is its top folder.
    """

    def __init__(
        self,
        load: Callable[[str], Module | None],
        exists: Callable[[str], bool],
        packages: Mapping[str, Sequence[str]],
        owns: Callable[[str], bool],
        reads: Reads | None = None,
        root: str = "",
    ) -> None:
        self._load = load
        self._exists = exists
        self._packages = packages
        self._root = root
        self.owns = owns
        self.reads = reads
        self._loaded: dict[str, Module | None] = {}
        # For each module, the imports that were resolved: to a file, or None outside the project.
        self.targets: dict[str, dict[str, str | None]] = {}
        # The modules that change something in another one, which that one does not show.
        self.told_by: dict[str, set[str]] = {}
        self._absolute: dict[tuple[str, str], str | None] = {}
        self._imports: dict[str, tuple[Module, frozenset[str]]] = {}

    def add(self, module: Module) -> None:
        """Add a module that is read already."""
        if self.reads is not None:
            module.note_by(self.reads)
        self._loaded[module.path] = module

    def module_at(self, path: str) -> Module | None:
        """Return the facts of a file; ``None`` if it is missing or is not Python."""
        if path not in self._loaded:
            self._loaded[path] = self._load(path)
        module = self._loaded[path]
        if self.reads is not None:
            if module is None:
                self.reads.now.add(path)
            else:
                module.note_by(self.reads)
                module.note(SHAPE)
        return module

    def inherit(self, old: Imports, changed: Collection[str]) -> None:
        """Take over what ``old`` has loaded and found, except at ``changed``."""
        modules = {path: module for path, module in old._loaded.items() if path not in changed}
        self._loaded = {**modules, **self._loaded}
        self._absolute = dict(old._absolute)
        self.targets = {path: names for path, names in old.targets.items() if path not in changed}
        self.told_by = {path: tellers.difference(changed) for path, tellers in old.told_by.items()}

    def follow(self, changed: Collection[str]) -> None:
        """Forget what the edited modules at ``changed`` change in others.

        Their resolved imports stay: stored answers depend on them and do not resolve them again.
        """
        for tellers in self.told_by.values():
            tellers.difference_update(changed)

    def loaded_module(self, path: str) -> Module | None:
        """Return the module at ``path`` if it is loaded, else None."""
        return self._loaded.get(path)

    def is_loaded(self, path: str) -> bool:
        return path in self._loaded

    def reaching(self, paths: Collection[str]) -> frozenset[str]:
        """Return the modules whose answers depend on one of ``paths``, and ``paths`` themselves."""
        importers: dict[str, list[str]] = {}
        for importer in (*self.targets, *self.told_by):
            for path in self.rests_on(importer):
                importers.setdefault(path, []).append(importer)
        closure = set(paths)
        queue = list(paths)
        while queue:
            for importer in importers.get(queue.pop(), ()):
                if importer not in closure:
                    closure.add(importer)
                    queue.append(importer)
        return frozenset(closure)

    def tell(self, path: str, of: str) -> None:
        """Record that the module at ``path`` changes something in the one at ``of``."""
        self.told_by.setdefault(of, set()).add(path)

    def rests_on(self, path: str) -> Iterator[str]:
        """Yield the modules that the one at ``path`` imports from, and those that change something in it."""
        yield from filter(None, self.targets.get(path, {}).values())
        yield from self.told_by.get(path, ())

    def submodule(self, package: Module, name: str) -> Module | None:
        """Return the module ``name`` in the folder of ``package``; None if there is no such package or module."""
        if package.path.endswith("/__init__.py"):
            path = self.find_module(package.path, f".{name}")
            return self.module_at(path) if path is not None else None
        return None

    def imports_of(self, path: str) -> frozenset[str]:
        """Return the files of the project that the file at ``path`` imports; none if it is missing."""
        module = self.module_at(path)
        if module is None:
            return frozenset()
        entry = self._imports.get(path)
        if entry is None or entry[0] is not module:
            entry = module, frozenset(filter(None, self._imported_files(path, module.outline.imports)))
            self._imports[path] = entry
        return entry[1]

    def _imported_files(self, path: str, imports: Iterable[Imported]) -> Iterator[str | None]:
        """Yield the file of each module that is imported, and of each name that may be a module in a package."""
        for name in imports:
            file = self.find_module(path, name.module)
            yield file
            if name.name and (file is None or file.endswith("/__init__.py")):
                yield self.find_module(path, _dotted(name.module, name.name))

    def find_module(self, importer: str, dotted: str) -> str | None:
        """Return the file of module ``dotted`` as seen from ``importer``, or ``None`` if it is not in the project."""
        targets = self.targets.setdefault(importer, {})
        if dotted not in targets:
            targets[dotted] = self._find_module(importer, dotted)
        return targets[dotted]

    def _find_module(self, importer: str, dotted: str) -> str | None:
        """Return the file of the module ``dotted`` as ``importer`` names it; ``None`` if it is not in the project."""
        if dotted.startswith(TEXT_MARK):
            return self._find_text(importer, dotted.removeprefix(TEXT_MARK))
        folder = posixpath.dirname(importer)
        level = len(dotted) - len(dotted.lstrip("."))
        parts = dotted.lstrip(".").replace(".", "/")
        if level:
            for _ in range(level - 1):
                folder = posixpath.dirname(folder)
            return self._file(f"{folder}/{parts}" if parts else folder)
        if parts.partition("/")[0] in sys.stdlib_module_names:
            return None
        key = (folder, parts)
        if key not in self._absolute:
            self._absolute[key] = self._find_absolute(folder, parts) or self._neighbour(importer, parts)
        return self._absolute[key]

    def _find_text(self, importer: str, name: str) -> str | None:
        """Return the text or data file of the project that ``name`` means in a module; None if there is none.

        A relative path is looked up in the top folder of the project, then from the module's folder upwards. A template
        (``?report.md``) is also looked up in ``templates`` and ``prompts`` there.
        """
        if text_kind(name) is None or len(name) > _LONGEST_PATH:
            return None
        if name.startswith(("/", f"{self._root.rstrip('/')}/")):  # below a drive of Windows, `C:/house/x.txt`
            candidates: Iterable[str] = (name,)
        else:
            bare = name.removeprefix("?")
            places = ("templates/", "prompts/", "") if bare != name else ("",)
            candidates = (
                f"{folder}/{place}{bare}" for folder in self._folders_above(importer) for place in places
            )
        for candidate in candidates:
            path = posixpath.normpath(candidate)
            if path.startswith(f"{self._root.rstrip('/')}/") and self._exists(path):
                return path
        return None

    def _folders_above(self, path: str) -> Iterator[str]:
        """Yield the top folder of the project, then the folders of a file from the nearest upwards."""
        yield self._root
        top, folder = f"{self._root.rstrip('/')}/", posixpath.dirname(path)
        while folder.startswith(top) and folder != "/":  # the folder above it, too
            yield folder
            folder = posixpath.dirname(folder)

    def _file(self, stem: str) -> str | None:
        """Return the module or package of a path without ending, None if there is neither."""
        for path in (f"{stem}.py", f"{stem}/__init__.py"):
            if path in self._loaded or self._exists(path):
                return path
        return None

    def _find_absolute(self, start: str, parts: str) -> str | None:
        """Return the file of ``parts`` (``a/b``) under one of the folders from ``start`` upwards.

        The folder of the package itself counts only if nothing else is found, for scripts that are in packages.
        """
        first = parts.partition("/")[0]
        folder = start
        neighbour: str | None = None
        while True:
            inside = self._exists(f"{folder}/__init__.py") and not self._is_top(folder)
            for source in _SOURCE_ROOTS:
                base = f"{folder}/{source}"
                path = self._file(f"{base}{parts}")
                if path is not None and not inside:
                    return path
                # Only for dotted names: `import requests` next to a `requests.py` means the library.
                neighbour = neighbour or (path if "/" in parts else None)
                if path is None and not inside and self._file(f"{base}{first}") is not None:
                    return None  # the package is here, and has no such module
            parent = posixpath.dirname(folder)
            if parent == folder or self._exists(f"{folder}/.git/HEAD"):
                return neighbour
            folder = parent

    def _is_top(self, folder: str) -> bool:
        return any(self._exists(f"{folder}/{name}") for name in _TOP_FOLDER_FILES)

    def _neighbour(self, importer: str, parts: str) -> str | None:
        """Return a module of another package of the same project; of several, the nearest one."""
        folders = self._packages.get(parts.partition("/")[0], ())
        paths = [path for folder in folders if (path := self._file(f"{folder}/{parts}")) is not None]
        return max(paths, key=lambda path: len(posixpath.commonpath([path, importer])), default=None)


def _dotted(module: str, name: str) -> str:
    return f"{module}{name}" if module.endswith(".") else f"{module}.{name}"


def top_level_packages(paths: Iterable[str]) -> dict[str, list[str]]:
    """Return, by name, the folders that contain each top-level package among the files ``paths``."""
    folders = {posixpath.dirname(path) for path in paths if path.endswith("/__init__.py")}
    packages: dict[str, list[str]] = {}
    for folder in sorted(folders):
        parent, _, name = folder.rpartition("/")
        if parent not in folders:
            packages.setdefault(name, []).append(parent)
    return packages
