"""``[tool.gllint]``: the file with it, its shape, and its mistakes, by file and line.

The table of a ``pyproject.toml``, or the whole of a ``gllint.toml``. The program reads all of it, an agent the
:class:`~gllint_runtime.policy.settings.Policy` in it; both read it here. The shape is the JSON Schema in
``configuration.json``, of which this knows as much as that one says: jsonschema would take longer to load than a short
run takes.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, cast

from gllint_runtime.policy.data_files import read
from gllint_runtime.policy.expressions import expression
from gllint_runtime.policy.kinds import KINDS, QUANTITY_SHAPES
from gllint_runtime.policy.packs import PACKS
from gllint_runtime.policy.regular_files import read_bytes
from gllint_runtime.policy.tuples import NamedTuple
from gllint_runtime.policy.wording import literal, nearest, shortened, visible

FILE_NAMES = ("gllint.toml", "pyproject.toml")
LARGEST = 1_000_000
# tomllib takes quadratic time for a key of many parts: a megabyte of them keeps it busy for minutes.
_MOST_PARTS = 1000
_DEEP_KEY = rb"""(?m)(?:^|[\[{,])[ \t]*(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){%d}""" % _MOST_PARTS
_MISSING = (errno.ENOENT, errno.ENOTDIR)
_OTHER_ENCODINGS = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
"""How a file in UTF-16 or UTF-32 begins."""
_TOML_PLACE = expression(r" \(at line (\d+), column (\d+)\)$")
_KINDS: Mapping[str, tuple[type[Any], str]] = {
    "object": (dict, "a table"),
    "string": (str, "a string"),
    "boolean": (bool, "true or false"),
    "integer": (int, "a whole number"),
}


class ConfigurationError(ValueError):
    """A configuration that cannot be used: one line with the file, the line, the key and what to do."""


class Problem(NamedTuple):
    """A fault of a value: ``place`` within it (``".0"``), and ``text``, which follows the name of the value."""

    place: str
    text: str
    error: type[Exception] = ValueError


class Table(NamedTuple):
    """The settings of one file under their keys, as they are written, over those of the file that it extends."""

    path: str
    text: str
    entries: Mapping[str, Any]
    # Where the table is in its document.
    root: tuple[str, ...] = ()
    own_keys: frozenset[str] = frozenset()
    extended: Table | None = None

    @property
    def origins(self) -> dict[str, str]:
        """From each key to the file that its value came from, the nearest where several add to it."""
        if self.extended is None:
            return dict.fromkeys(self.entries, self.path)
        return {**self.extended.origins, **dict.fromkeys(self.own_keys, self.path)}

    def error(self, message: str, *key: str) -> ConfigurationError:
        """Return the error with ``message``, at the line of ``key`` or of what it is part of."""
        from gllint_runtime.policy.toml_lines import line_of

        if self.extended is not None and key and key[0] not in self.own_keys:
            return self.extended.error(message, *key)
        line = line_of(self.text, (*self.root, *key)) if key else None
        return ConfigurationError(f"{self.path}{f':{line}' if line else ''}: {message}")

    def key_error(self, key: str, problem: Problem) -> ConfigurationError:
        """Return the error for a problem with the value of ``key``."""
        name = shortened(key + problem.place)
        return self.error(f"key '{name}'{problem.text}", key, *problem.place[1:].split("."))


# --- which file ----------------------------------------------------------------------------------------------


def table_in(folder: str) -> Table | None:
    """Return the settings in ``folder``: a gllint.toml, else a pyproject.toml with our table.

    Each file is read once: an editor may be writing it. Raises :class:`ConfigurationError`.
    """
    for name in FILE_NAMES:
        table = _table(f"{folder.rstrip('/')}/{name}", explicit=False)
        if table is not None:
            return table
    return None


def table_of(path: str) -> Table:
    """Return the settings of the configuration file ``path``. Raises :class:`ConfigurationError`."""
    table = _table(path, explicit=True)
    if table is None:
        raise ConfigurationError(f"{path}: has no table [tool.gllint]")
    return table


def table_for(path: str) -> Table | None:
    """Return the settings that apply to ``path``, a file or a folder, once they are checked.

    ``None`` if there are none.

    They are those of the nearest ``gllint.toml`` or ``pyproject.toml`` upwards, or of ``path`` itself if it is a
    ``*.toml``. Raises :class:`ConfigurationError` for a missing path and for faults in the settings.
    """
    path = os.path.abspath(path).replace(os.sep, "/")
    if path.endswith(".toml"):
        return checked(table_of(path))
    if not os.path.exists(path):
        raise ConfigurationError(f"{path}: no such file or folder; name one of the project")
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    while (table := table_in(folder)) is None:
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return checked(table)


def _table(path: str, explicit: bool) -> Table | None:
    """Return the table of a configuration file; ``None`` if the file is missing, or has no table of gllint.

    ``explicit`` is a file that the user named: if that is missing, this raises :class:`ConfigurationError`.
    """
    try:
        data = read_bytes(path)
    except OSError as error:
        if not explicit and error.errno in _MISSING and not os.path.lexists(path):
            return None
        raise ConfigurationError(f"{path}: cannot be read: {error.strerror}") from None
    if data.startswith(_OTHER_ENCODINGS):
        raise ConfigurationError(f"{path}: not UTF-8 text: save the file as UTF-8")
    is_of_gllint = path.endswith("gllint.toml")
    if (
        not is_of_gllint and not explicit and b"gllint" not in data
    ):  # parsing each pyproject.toml on the way up takes longer
        return None
    if len(data) > LARGEST:
        raise ConfigurationError(
            f"{path}: too large for a configuration: {len(data)} bytes (the limit is {LARGEST})"
        )
    if len(data) > 2 * _MOST_PARTS and re.search(_DEEP_KEY, data):  # the expression takes time to compile
        raise ConfigurationError(
            f"{path}: a key has too many parts: at most {_MOST_PARTS} names joined by dots are allowed"
        )
    import tomllib

    try:
        text = data.decode("utf-8-sig")
        document = tomllib.loads(text)
    except ValueError as error:
        message = visible(str(error))
        place = _TOML_PLACE.search(message)
        where, what = (f":{place[1]}:{place[2]}", message[: place.start()]) if place else ("", message)
        if what.endswith(" twice"):  # a draft that was appended again, say
            what += ": put its keys under one heading, and remove the other"
        elif what.startswith("Cannot overwrite a value"):
            what += ": the key occurs twice; remove one of its lines"
        raise ConfigurationError(f"{path}{where}: not valid TOML: {what}") from None
    except RecursionError:
        raise ConfigurationError(f"{path}: not valid TOML: nested too deeply") from None
    tool = document.get("tool", {})
    entries = tool.get("gllint") if isinstance(tool, dict) else None
    if entries is None and not path.endswith("pyproject.toml"):
        return Table(path, text, document)
    table = Table(path, text, entries or {}, ("tool", "gllint"))
    if entries is not None and not isinstance(entries, dict):
        raise table.error(f"key 'tool.gllint' must be a table, not {literal(entries)}", "")
    if entries is not None and not path.endswith("pyproject.toml"):
        _check_form(Table(path, text, document), is_of_gllint)
    return table if entries is not None else None


def _check_form(whole: Table, is_of_gllint: bool) -> None:
    """Raise :class:`ConfigurationError` for a file with keys both in [tool.gllint] and outside of it.

    Those outside have no effect. ``is_of_gllint`` is true of a gllint.toml, in which every key is meant for gllint.
    """
    from gllint_runtime.policy.toml_lines import line_of

    names = schema()["properties"]
    key = next((key for key in whole.entries if key != "tool" and (is_of_gllint or key in names)), None)
    if key is None:
        return
    line = line_of(whole.text, ("tool", "gllint"))
    raise whole.error(
        f"key '{shortened(key)}' is outside of [tool.gllint], which this file has, too (line {line}): "
        "take 'tool.gllint' out of the headings of its tables, as in [guard.NAME.units]",
        key,
    )


# --- what shape ----------------------------------------------------------------------------------------------


@cache
def schema() -> dict[str, Any]:
    """Return the JSON Schema of ``[tool.gllint]``: that of ``configuration.json`` with the names of packs, kinds and
    shapes.
    """
    import json  # a project without a table of ours needs no schema

    document: dict[str, Any] = json.loads(read("configuration.json"))
    for key, names in (("unit-packs", PACKS), ("plain-kinds", KINDS), ("quantity-shapes", QUANTITY_SHAPES)):
        document["properties"][key]["items"] = {"enum": [*names]}
    return document


def checked(table: Table, extending: tuple[str, ...] = ()) -> Table:
    """Return ``table`` once its version and shape are right, laid over the table of the file that its ``extend`` names.

    ``extending`` are the files that led to this one by ``extend``. Raises :class:`ConfigurationError`.
    """
    # First: a configuration for another version may have keys that this one does not know.
    _check_version(table)
    shapes = schema()["properties"]
    for key in (key for key in table.entries if key not in shapes):
        hint = nearest(key, sorted(shapes), "; gllint config --schema lists them")
        raise table.error(f"unknown key '{shortened(key)}'{hint}", key)
    for key, value in table.entries.items():
        if (problem := shape_problem(shapes[key], value)) is not None:
            raise table.key_error(key, problem)
    table = table._replace(entries={**table.entries, **_portable_paths(table.entries)})
    return _over_extended(table, extending) if _EXTEND in table.entries else table


_EXTEND, _MOST_EXTENDED = "extend", 16
_NAMES_FILE = r"\S"  # the pattern of a key that names one
# Keys that name a file or a folder: relative to the configuration file.
_PATH_KEYS = ("baseline", "cache-dir", "python")


def _portable_paths(entries: Mapping[str, Any]) -> dict[str, str]:
    r"""Return the keys whose path has backslashes, with slashes instead.

    ``{"baseline": "ci\\base.json"}`` → ``ci/base.json``.
    """
    named = {key: entries[key] for key in (_EXTEND, *_PATH_KEYS) if key in entries}
    return {key: path.replace("\\", "/") for key, path in named.items() if "\\" in path}


def _share(path: str) -> list[str]:
    """Return the machine and the share that a path of Windows names, ``//server/share/house``."""
    return path.lower().split("/")[:4]


def _over_extended(table: Table, extending: tuple[str, ...]) -> Table:
    """Return the settings of ``table`` over those of the file that its key ``extend`` names.

    Lists under ``extend-…`` keys are joined, any other key replaces that of the extended file, and paths of the
    extended file become relative to this one. ``extending`` are the files that led here, by which a circle is found.
    """
    chain = (*extending, os.path.normpath(table.path).replace(os.sep, "/"))
    path = _extended_path(table, chain)
    extended = checked(table_of(path), chain)
    entries = {key: value for key, value in extended.entries.items() if key != _EXTEND}
    for key in _PATH_KEYS:
        if key in entries:
            entries[key] = os.path.join(os.path.dirname(path), entries[key])
    for key, value in table.entries.items():
        entries[key] = [*value, *entries.get(key, ())] if key.startswith("extend-") else value
    return table._replace(entries=entries, own_keys=frozenset(table.entries), extended=extended)


def _extended_path(table: Table, chain: Sequence[str]) -> str:
    """Return the file that the key ``extend`` of ``table`` names, relative to the table's own file.

    Raises :class:`ConfigurationError` for a file that is missing, on another machine, or in ``chain``.
    """
    path = os.path.join(os.path.dirname(table.path), os.path.expanduser(table.entries[_EXTEND]))
    path = os.path.normpath(path).replace(os.sep, "/")
    if path in chain:
        raise table.error(f"key 'extend': {visible(path)} extends this file, too, in a circle", _EXTEND)
    if len(chain) > _MOST_EXTENDED:
        text = f"key 'extend': more than {_MOST_EXTENDED} files extend each other"
        raise table.error(text, _EXTEND)
    # Reading `//server/share/x` contacts another machine: allowed only if this file is on the same share.
    if path.startswith("//") and _share(path) != _share(table.path):
        raise table.error("key 'extend' must name a file on this machine", _EXTEND)
    if not os.path.isfile(path):
        raise table.error(f"key 'extend': {visible(path)} is not a file", _EXTEND)
    return path


def shape_problem(shape: Mapping[str, Any], value: Any) -> Problem | None:
    """Return why a value does not fit a schema of ``configuration.json``; ``None`` if it fits.

    ``{"type": "boolean"}`` with ``1`` → a problem with the text " must be true or false, not 1".
    """
    try:
        return _shape_problem(shape, value)
    except (RecursionError, ValueError):  # nested too deeply to be shown, or a number of too many digits
        text = " has a value of the wrong type; see gllint config --schema"
        return Problem("", text, TypeError)


def _shape_problem(shape: Mapping[str, Any], value: Any) -> Problem | None:
    """Return the first problem of a value with its schema; its ``place`` is ``".0"`` for the first item of a list."""
    shape = _resolved(shape)
    if "enum" in shape:
        return _choice_problem(shape["enum"], value)
    if shape["type"] == "array":
        items = shape["items"]
        if type(value) is not list:
            return _kind_problem(f"a list of {'tables' if _is_table(items) else 'texts'}", value)
        return _first_problem(items, enumerate(value))
    kind, words = _KINDS[shape["type"]]
    if type(value) is not kind:
        return _kind_problem(words, value)
    if kind is int and value < shape.get("minimum", value):
        return Problem("", f" must be at least {shape['minimum']}, not {value}")
    if shape.get("format") == "regex":
        return _pattern_problem(value)
    if shape.get("pattern") == _NAMES_FILE and not value.strip():
        return Problem("", " names no file")
    names = shape.get("propertyNames", {}).get("enum")
    if names is not None and (unknown := next((key for key in value if key not in names), None)) is not None:
        return _choice_problem(names, unknown)
    # The rows of frameworks are checked when they are used.
    members = shape.get("additionalProperties")
    return _first_problem(members, value.items()) if isinstance(members, dict) else None


def _is_table(shape: Mapping[str, Any]) -> bool:
    return _resolved(shape).get("type") == "object"


def _resolved(shape: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a schema, or the definition that its ``$ref`` names: ``{"$ref": "#/$defs/row"}`` → ``$defs["row"]``."""
    name = shape.get("$ref", "").rpartition("/")[2]
    return cast("Mapping[str, Any]", schema()["$defs"][name]) if name else shape


def _first_problem(shape: Mapping[str, Any], members: Iterable[tuple[object, Any]]) -> Problem | None:
    """Return the first problem with the members of a list or a table."""
    for key, member in members:
        if (problem := _shape_problem(shape, member)) is not None:
            return problem._replace(place=f".{key}{problem.place}")
    return None


def _kind_problem(words: str, value: Any) -> Problem:
    return Problem("", f" must be {words}, not {literal(value)}", TypeError)


def _choice_problem(choices: Sequence[str], value: Any) -> Problem | None:
    """Return the problem of a value that is not one of ``choices``, with the nearest of them; ``None`` if it is one."""
    if value in choices:
        return None
    is_text = isinstance(value, str)
    shown, hint = (f"'{shortened(value)}'", nearest(value, choices)) if is_text else (literal(value), "")
    text = f" must be one of {', '.join(choices)}, not {shown}{hint}"
    return Problem("", text, ValueError if is_text else TypeError)


def _pattern_problem(pattern: str) -> Problem | None:
    """Return what is wrong with a configured regular expression."""
    from gllint_runtime.policy.patterns import problem

    what = problem(pattern)
    return Problem("", f": '{shortened(pattern)}' {what}") if what else None


def _check_version(table: Table) -> None:
    """Raise :class:`ConfigurationError` if the key ``required-version`` (``">=0.2"``, ``"0.1.0"``) excludes this
    version.
    """
    required = table.entries.get("required-version")
    if not isinstance(required, str):
        return  # what it must be is said with the other keys
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    from gllint_runtime.policy.version import __version__

    exact, key = required.strip(), "required-version"
    try:
        wanted = SpecifierSet(f"=={exact}" if exact[:1].isdigit() else exact)
    except InvalidSpecifier:
        text = f": '{shortened(required)}' is not a version such as '>=0.1' or '0.1.0'"
        raise table.key_error(key, Problem("", text)) from None
    if not wanted.contains(__version__, prereleases=True):
        text = f" asks for gllint {shortened(required)}, this is {__version__}: install that version, or change the key"
        raise table.key_error(key, Problem("", text))
