"""Files that a walk left out although they seem to belong to the project: a run reports them as not checked.

The usual folders (``build``, ``.venv`` …) and what git ignores are left out, since tools generate them. A file in them
belongs to the project if git tracks it or the project's code imports it; where git tracks nothing, unless there are
signs that a tool made it. Only files on which rules could report are reported.
"""

from __future__ import annotations

import ast
import os
import warnings
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from gllint.files.discover import FILE, FOLDER, LINK, SCRIPT, Omission, entries_of, is_python_name, is_script
from gllint.files.places import Places
from gllint.files.sources import is_notebook, read_python
from gllint.files.tracked import tracked
from gllint.files.writing import read_bytes
from gllint.run.index import Index
from gllint.run.screening import PASSES, screen_bytes, words_of_file
from gllint_rules.tuples import NamedTuple

MOST_ENTRIES, MOST_FILES, MOST_BYTES = 50_000, 5_000, 64_000_000
_MOST_SCRIPTS = 2_000
_STORES = {
    ".git": ("objects", "refs", "logs", "lfs", "modules"), ".hg": ("store",), ".svn": ("pristine",),
    ".bzr": ("repository",),
}  # fmt: skip
_CHECKPOINTS, _CHECKPOINT = ".ipynb_checkpoints", "-checkpoint.ipynb"
_MODULES = "node_modules"
# Files and folders by which a folder of installed packages or of a tool's data is recognised.
_MARKS = frozenset(
    {
        "pyvenv.cfg", "conda-meta", "CACHEDIR.TAG", "EGG-INFO", ".package-lock.json", ".yarn-integrity",
        ".modules.yaml", ".yarn-state.yml",
    }
)  # fmt: skip
_MARK_ENDS = (".dist-info", ".egg-info")
_BY_DEFAULT, _BY_GIT, _LINKED = "excluded by default", "ignored by git", "behind a link that leads elsewhere"
_TRACKED = {
    _BY_DEFAULT: "excluded by default although tracked by git",
    _BY_GIT: "ignored although tracked by git",
}
_NO_NAME = "begins with #! and Python, but does not end in .py"
_TOO_MANY = "contains too many files"


class UncheckedFile(NamedTuple):
    """A file that was left out, and why; or a folder (its path ends with a slash) that is too large to look through."""

    path: str
    why: str


class Omissions:
    """The ``omissions`` of walks through the folders ``tops``, which ``listed`` the files to check.

    ``index_of`` returns the project of a file (absolute).
    """

    def __init__(
        self,
        tops: Collection[str],
        listed: frozenset[str],
        omissions: Iterable[Omission],
        places: Places,
        index_of: Callable[[str], Index],
    ) -> None:
        self._tops = tuple(top.rstrip("/") + "/" for top in tops)
        self._listed, self._places, self._index_of = listed, places, index_of
        self._omissions = sorted(set(omissions))
        self._entries = MOST_ENTRIES
        self._bytes = MOST_BYTES
        self._full: list[UncheckedFile] = []
        self.has_given_up = False  # whether there was too much code to find everything that imports a file

    def unchecked_files(self) -> list[UncheckedFile]:
        """Return the left-out files that seem to belong to the project and may have findings."""
        reasons = {path: _TRACKED.get(why, why) for path, why in self._tracked()}
        suspects: dict[str, str] = {}
        for omission in self._omissions:
            is_untracked = self._tracked_near(omission.path) is None
            if omission.what == SCRIPT:
                continue
            if is_untracked and (omission.what != LINK or not self._is_inside(omission.path)):
                for path in self._below(omission):
                    reasons.setdefault(path, self._why(omission))
            elif omission.what != LINK:
                suspects |= {path: self._why(omission) for path in _near(omission) if path not in reasons}
        unchecked = {path: why for path, why in reasons.items() if self._could_matter(path)}
        suspects = {path: why for path, why in suspects.items() if self._could_matter(path)}
        imports = self._imported(suspects) if suspects else frozenset()
        unchecked |= {path: f"{suspects[path]} although imported" for path in imports}
        unchecked |= {
            path: _NO_NAME for path in self._scripts() if path not in unchecked and self._could_matter(path)
        }
        return [*(UncheckedFile(*entry) for entry in sorted(unchecked.items())), *self._full]

    # --- what git knows ------------------------------------------------------------------------------------

    def _tracked_near(self, path: str) -> frozenset[str] | None:
        """Return the files (absolute) that git tracks below the walked folder that has ``path``, ``None`` for none."""
        top = next((top for top in self._tops if path.startswith(top)), "")
        return self._tracked_files_in.get(top)

    @cached_property
    def _tracked_files_in(self) -> dict[str, frozenset[str]]:
        """The Python files that git tracks below each walked folder, which is left out if it has none."""
        tracked_files: dict[str, frozenset[str]] = {}
        for top in self._tops:
            repository = self._places.of(top.rstrip("/") or "/").repository
            names = tracked(repository, is_python_name) if repository else None
            start = repository.rstrip("/") + "/"
            paths = frozenset(path for name in names or () if (path := start + name).startswith(top))
            if paths:
                tracked_files[top] = paths
        return tracked_files

    def _tracked(self) -> Iterator[tuple[str, str]]:
        """Yield the files that git tracks and the walk did not list, with the reason."""
        links = {omission.path: omission for omission in self._omissions if omission.what == LINK}
        for paths in self._tracked_files_in.values():
            for path in sorted(paths - self._listed):
                if path in links:
                    if not self._is_inside(path):
                        yield from ((below, _LINKED) for below in self._below(links[path]))
                elif is_python_name(path) and os.path.isfile(path):
                    config = self._places.project(os.path.dirname(path)).config
                    if not self._is_excluded_by_wish(path):
                        is_default = config.excluded.excludes(config.relative(path))
                        yield path, _BY_DEFAULT if is_default else _BY_GIT

    def _is_excluded_by_wish(self, path: str) -> bool:
        """Return whether the configuration of a folder between the walked one and the file excludes the file."""
        top = next(top for top in self._tops if path.startswith(top)).rstrip("/")
        folder = path
        while folder != top:
            folder = os.path.dirname(folder)
            config = self._places.project(folder or "/").config
            if config.excluded_by_wish.excludes(config.relative(path)):
                return True
        return False

    # --- what lies there -----------------------------------------------------------------------------------

    def _why(self, omission: Omission) -> str:
        if omission.what == LINK:
            return _LINKED
        config = self._places.project(os.path.dirname(omission.path)).config
        return _BY_DEFAULT if config.excluded.excludes(config.relative(omission.path)) else _BY_GIT

    def _is_inside(self, link: str) -> bool:
        """Return whether a link leads into one of the walked folders."""
        target = os.path.realpath(link).replace(os.sep, "/") + "/"
        return any(target.startswith(os.path.realpath(top).replace(os.sep, "/") + "/") for top in self._tops)

    def _below(self, omission: Omission) -> Iterator[str]:
        """Yield the Python files that an omission is or contains, except installed and generated ones."""
        if omission.what == FILE:
            yield omission.path
            return
        pending = [omission.path]
        while pending:
            folder = pending.pop()
            stores = _STORES.get(os.path.basename(folder), ())
            entries = entries_of(folder)
            self._entries -= len(entries)
            if self._entries < 0:
                if not any(full.path == f"{omission.path}/" for full in self._full):
                    self._full.append(UncheckedFile(f"{omission.path}/", _TOO_MANY))
                return
            names = {entry.name for entry in entries}
            is_package = "package.json" in names and f"/{_MODULES}/" in folder
            if is_package or is_installed(names):
                continue
            for entry in entries:
                path = f"{folder}/{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in stores:
                        pending.append(path)
                elif is_python_name(entry.name) and not self._is_copy(path, omission.path):
                    yield path

    def _is_copy(self, path: str, folder: str) -> bool:
        """Return whether a file in an omitted ``folder`` is a copy of one that was checked."""
        base, name = os.path.dirname(folder), os.path.basename(path)
        if os.path.basename(folder) == _CHECKPOINTS and name.endswith(_CHECKPOINT):
            return f"{base}/{name.removesuffix(_CHECKPOINT)}.ipynb" in self._listed
        first, _, rest = path.removeprefix(folder + "/").partition("/")
        if first.partition(".")[0] == "lib":  # setuptools: `build/lib/package/module.py`
            return any(f"{base}/{source}{rest}" in self._listed for source in ("", "src/"))
        return any(_same(path, other) for other in self._by_name.get(name, ()))

    @cached_property
    def _by_name(self) -> Mapping[str, Sequence[str]]:
        by_name: dict[str, list[str]] = defaultdict(list)
        for path in self._listed:
            by_name[path.rpartition("/")[2]].append(path)
        return by_name

    def _scripts(self) -> Iterator[str]:
        """Yield the files without a suffix whose first line says that Python runs them."""
        scripts = [omission.path for omission in self._omissions if omission.what == SCRIPT]
        if len(scripts) > _MOST_SCRIPTS:
            self._full.append(UncheckedFile(f"{os.path.dirname(scripts[_MOST_SCRIPTS])}/", _TOO_MANY))
        for path in scripts[:_MOST_SCRIPTS]:
            if path not in self._listed and is_script(path):
                yield path

    # --- what matters --------------------------------------------------------------------------------------

    def _could_matter(self, path: str) -> bool:
        """Return whether rules could report on a file."""
        index = self._index_of(path)
        try:
            data = read_python(path)
        except OSError:
            return True
        self._bytes -= len(data)
        return self._bytes < 0 or bool(screen_bytes(index.settings, data).flags & PASSES)

    def _imported(self, suspects: Collection[str]) -> frozenset[str]:
        """Return those of ``suspects`` that a listed file imports."""
        words = frozenset(_module_name(path) for path in suspects)
        imported: set[str] = set()
        size = 0
        for number, path in enumerate(sorted(self._listed)):
            index = self._index_of(path)
            signature = index.files.get(path)
            size += signature.size if signature is not None else 0
            if number >= MOST_FILES or size > MOST_BYTES:
                self.has_given_up = True
                break
            if words_of_file(words, path, index.means.sources.read):
                names = _imports(index.means.sources.code(path))
                imported.update(filter(None, (index.leads_to(path, name) for name in names)))
        return frozenset(imported & set(suspects))


def is_installed(names: Collection[str]) -> bool:
    """Return whether the names in a folder show that a tool installed it or keeps data there."""
    return not _MARKS.isdisjoint(names) or any(name.endswith(_MARK_ENDS) for name in names)


def _near(omission: Omission) -> Iterator[str]:
    """Yield the files of an omission that an import can reach: itself, or those directly in a folder."""
    name = os.path.basename(omission.path)
    if omission.what == FILE and not is_notebook(name):
        yield omission.path
    elif omission.what == FOLDER and name.isidentifier() and name != "__pycache__":
        yield from (
            f"{omission.path}/{entry.name}"
            for entry in entries_of(omission.path)
            if is_python_name(entry.name) and not is_notebook(entry.name)
        )


def _same(path: str, other: str) -> bool:
    try:
        return read_bytes(path) == read_bytes(other)
    except OSError:
        return False


def _nodes(source: str) -> Iterator[ast.AST]:
    """Yield the nodes of a text, none if it does not parse."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    yield from ast.walk(tree)


def _module_name(path: str) -> str:
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    return folder.rpartition("/")[2] if stem == "__init__" else stem


def _imports(source: str) -> set[str]:
    """Return the dotted names of the modules that a text may import: ``from a import b`` → ``a``, ``a.b``."""
    names: set[str] = set()
    for node in _nodes(source):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = "." * node.level + (node.module or "")
            names.add(start)
            names.update(f"{start}{'.' if node.module else ''}{alias.name}" for alias in node.names)
    return names
