"""The configuration: where it comes from, what is wrong with it, and the record it becomes.

``[tool.gllint]`` of a ``pyproject.toml``, or the whole of a ``gllint.toml``. The shape is the JSON Schema in
``config_schema.json``, which is for editors: jsonschema would take longer to load than a short run takes.
"""

from __future__ import annotations

import errno
import json
import os
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from typing import Any, TypeAlias, cast

from gllint import __version__
from gllint.errors import UsageError, nearest
from gllint.files.patterns import Patterns, is_pattern
from gllint.files.selection import check_selectors, matches, selected_codes
from gllint.files.writing import read_bytes, repository_of, way_out
from gllint.shown import visible
from gllint_rules import Settings
from gllint_rules.tuples import NamedTuple
from gllint_runtime.policy.number_kinds import KINDS
from gllint_runtime.policy.packs import PACKS

SCHEMA_FILE = "config_schema.json"
FILE_NAMES = ("gllint.toml", "pyproject.toml")
DEFAULT_EXCLUDE = (
    ".bzr", ".direnv", ".eggs", ".git", ".gllint_cache", ".hg", ".hypothesis", ".idea", ".ipynb_checkpoints",
    ".mypy_cache", ".nox", ".pants.d", ".pyenv", ".pytest_cache", ".pytype", ".ruff_cache", ".svn", ".tox",
    ".venv", ".vscode", "CVS", "__pycache__", "__pypackages__", "_build", "buck-out", "build", "dist",
    "node_modules", "site-packages", "venv",
)  # fmt: skip
_NO_KEYS = {"audit", "needles", "packages"}  # settings that follow from others
_RULE_OPTIONS = tuple(name for name in Settings._fields if name not in _NO_KEYS)
_LARGEST = 1_000_000
# tomllib takes quadratic time for a key of many parts: a megabyte of them keeps it busy for minutes.
_MOST_PARTS = 1000
_DEEP_KEY = rb"""(?m)(?:^|[\[{,])[ \t]*(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){%d}""" % _MOST_PARTS
_MISSING = (errno.ENOENT, errno.ENOTDIR)
_NAME_KEYS = (
    "tool-classes", "tool-decorators", "tool-methods", "result-payloads", "dispatchers", "registry-modules",
    "final-message-names", "final-message-calls",
)  # fmt: skip
_DOTTED, _PATTERN = re.compile(r"(?:(?:\*|\w+)\.)*\w+"), re.compile(r".*\S.*")
_SELECTOR_KEYS = ("select", "extend-select", "ignore", "extend-ignore")


class _Keys(NamedTuple):
    """The fields of :class:`Config`."""

    base: str = ""
    source: str = ""
    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend_ignore: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = {}
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    extend_exclude: tuple[str, ...] = ()
    force_exclude: bool = False
    severity: Mapping[str, str] = {}
    fail_level: str = "info"
    require_reason: bool = False
    required_version: str | None = None
    jobs: int | None = None
    cache_dir: str | None = None
    baseline: str | None = None
    rules: Settings = Settings()
    origins: Mapping[str, str] = {}


class Config(_Keys):
    """The settings in force for one folder. ``base`` is the folder that its path patterns are relative to.

    ``source`` is the file that the settings came from (``""`` where there is none) and ``origins`` names, for
    each key that is not at its default, where its value came from.
    """

    @cached_property
    def codes(self) -> frozenset[str]:
        """The codes in force."""
        return selected_codes(self.select, self.extend_select, (*self.ignore, *self.extend_ignore))

    @cached_property
    def narrowing(self) -> tuple[str, ...]:
        """The keys of its file that leave out of the report what would else stand in it.

        Baselines and ``plain-kinds`` aside, whose share is counted, and what a project says of its own: units, names.
        """
        rules = self.rules
        has_fewer_codes = not Config().codes <= self.codes
        leaves_out = {
            "select": has_fewer_codes and self.select is not None,
            "ignore": has_fewer_codes and self.ignore,
            "extend-ignore": has_fewer_codes and self.extend_ignore,
            "per-file-ignores": self.per_file_ignores,
            "exclude": not {*self.exclude} <= {*DEFAULT_EXCLUDE},
            "extend-exclude": self.extend_exclude,
            "plain-keys": rules.plain_keys,
            "whitelist-patterns": rules.whitelist_patterns,
            "frameworks": any('"not-tools"' in row for row in rules.frameworks),
        }
        return tuple(
            key for key, does in leaves_out.items() if does and self.origins.get(key) == self.source != ""
        )

    @property
    def baseline_file(self) -> str | None:
        """The absolute path of the baseline, ``None`` where there is none."""
        return os.path.normpath(os.path.join(self.base, self.baseline)) if self.baseline else None

    @cached_property
    def excluded(self) -> Patterns:
        """The patterns of what is left out."""
        return Patterns((*self.exclude, *self.extend_exclude))

    @cached_property
    def _file_ignores(self) -> list[tuple[Patterns, bool, tuple[str, ...]]]:
        return [
            (Patterns([pattern.removeprefix("!")]), pattern.startswith("!"), codes)
            for pattern, codes in self.per_file_ignores.items()
        ]

    def ignored_in(self, path: str) -> tuple[str, ...]:
        """Return the selectors that ``per-file-ignores`` takes out of force in the file ``path``."""
        relative = self.relative(path)
        return tuple(
            code
            for patterns, negated, codes in self._file_ignores
            if patterns.excludes(relative) != negated
            for code in codes
        )

    def codes_in(self, path: str) -> frozenset[str]:
        """Return the codes in force in one file."""
        ignored = self.ignored_in(path) if self.per_file_ignores else ()
        return frozenset(c for c in self.codes if not matches(c, ignored)) if ignored else self.codes

    def level(self, code: str) -> str:
        """Return the severity of a code; its longest selector decides."""
        named = [selector for selector in self.severity if code.startswith(selector)]
        return self.severity[max(named, key=len)] if named else "error"

    def relative(self, path: str) -> str:
        """Return ``path`` relative to the folder of this configuration, for its patterns."""
        base = self.base.rstrip("/") + "/"
        return path.removeprefix(base).lstrip("/")

    def overridden(self, options: Mapping[str, Any], where: str) -> Config:
        """Return this configuration with ``options`` laid over it: kebab-case keys, ``None``: not given."""
        settings = {key: value for key, value in options.items() if value is not None}
        if not settings:
            return self
        fields = {key.replace("-", "_"): value for key, value in settings.items()}
        for name in ("extend_select", "extend_ignore", "extend_exclude"):
            if name in fields:
                fields[name] = (*getattr(self, name), *fields[name])
        return self._replace(**fields, origins={**self.origins, **dict.fromkeys(settings, where)})


def in_folder(folder: str) -> Config | None:
    """Read the configuration that stands in ``folder``: a gllint.toml, else a pyproject.toml with our table.

    Each file is read once: an editor may be writing it. Raises :class:`UsageError` as :func:`load` does.
    """
    for name in FILE_NAMES:
        path = f"{folder.rstrip('/')}/{name}"
        table = _table(path, explicit=False)
        if table is not None:
            return _checked(path, table, folder)
    return None


def load(path: str, base: str | None = None) -> Config:
    """Read the configuration file ``path``; its patterns are relative to ``base`` (default: its folder).

    Raises :class:`UsageError`, one line that names the file, the key and the nearest right thing.
    """
    table = _table(path, explicit=True)
    if table is None:
        raise UsageError(f"{path}: has no table [tool.gllint]")
    return _checked(path, table, path.rpartition("/")[0] or "/" if base is None else base)


def _checked(path: str, table: Mapping[str, Any], base: str) -> Config:
    # First: a configuration for another version may hold keys that this one does not know.
    _check_version(path, table.get("required-version"))
    _check_shape(path, table)
    _check_meaning(path, table)
    _check_inside(path, table, base, "cache-dir", "--cache-dir or GLLINT_CACHE_DIR may name such a folder")
    _check_inside(path, table, base, "baseline", "--baseline may name such a file")
    return _config(path, table, base)


@cache
def schema() -> dict[str, Any]:
    """Return the JSON Schema of the configuration."""
    from importlib import resources

    text = resources.files("gllint.files").joinpath(SCHEMA_FILE).read_text("utf-8")
    return cast(dict[str, Any], json.loads(text))


def value_of(config: Config, key: str) -> Any:
    """Return the value in force of a key of the configuration file."""
    if key == "frameworks":
        return tuple(map(json.loads, config.rules.frameworks))
    name = key.replace("-", "_")
    return getattr(config.rules if name in _RULE_OPTIONS else config, name)


_OTHER_ENCODINGS = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
"""How a file in UTF-16 or UTF-32 begins."""


def _table(path: str, explicit: bool) -> dict[str, Any] | None:
    try:
        data = read_bytes(path)
    except OSError as error:
        if not explicit and error.errno in _MISSING and not os.path.lexists(path):
            return None
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None
    if data.startswith(_OTHER_ENCODINGS):
        raise UsageError(f"{path}: not UTF-8, as TOML files are: save it in that encoding")
    own = path.endswith("gllint.toml")
    if not own and not explicit and b"gllint" not in data:
        return None
    if len(data) > _LARGEST:
        raise UsageError(f"{path}: too large for a configuration: {len(data)} bytes, at most {_LARGEST}")
    if len(data) > 2 * _MOST_PARTS and re.search(_DEEP_KEY, data):  # the expression takes time to compile
        raise UsageError(f"{path}: a key has too many parts: at most {_MOST_PARTS} names joined by dots")
    import tomllib

    try:
        document = tomllib.loads(data.decode("utf-8-sig"))
    except ValueError as error:
        raise UsageError(f"{path}: not valid TOML: {visible(str(error))}") from None
    except RecursionError:
        raise UsageError(f"{path}: not valid TOML: nested too deeply") from None
    tool = document.get("tool", {})
    table = tool.get("gllint") if isinstance(tool, dict) else None
    if table is None and not path.endswith("pyproject.toml"):
        return document
    if table is not None and not isinstance(table, dict):
        raise UsageError(f"{path}: key 'tool.gllint' must be a table, not {_literal(table)}")
    return table


LEVELS = ("error", "warning", "info")
# Returns where within a value something is wrong, and what; ``None`` where nothing is.
_Check: TypeAlias = "Callable[[Any], tuple[str, str] | None]"


def _is(kind: type, words: str) -> _Check:
    return lambda value: None if type(value) is kind else ("", f"must be {words}, not {_literal(value)}")


def _one_of(choices: Sequence[str]) -> _Check:
    def check(value: Any) -> tuple[str, str] | None:
        if value in choices:
            return None
        is_text = isinstance(value, str)
        literal, hint = (f"'{_short(value)}'", nearest(value, choices)) if is_text else (_literal(value), "")
        return "", f"must be one of {', '.join(choices)}, not {literal}{hint}"

    return check


def _holding(kind: type, words: str, member: _Check) -> _Check:
    """A list or a table of members that are checked, too."""
    is_kind = _is(kind, words)

    def check(value: Any) -> tuple[str, str] | None:
        if (wrong := is_kind(value)) is not None:
            return wrong
        for key, item in enumerate(value) if kind is list else value.items():
            if (wrong := member(item)) is not None:
                return f".{key}{wrong[0]}", wrong[1]
        return None

    return check


def _jobs(value: Any) -> tuple[str, str] | None:
    wrong = _is(int, "a whole number")(value)
    return ("", f"must be at least 1, not {value}") if wrong is None and value < 1 else wrong


_TEXT, _BOOL = _is(str, "a text"), _is(bool, "true or false")
_TEXTS = _holding(list, "a list of texts", _TEXT)
_SHAPES: dict[str, _Check] = {
    **dict.fromkeys((*_SELECTOR_KEYS, "exclude", "extend-exclude"), _TEXTS),
    **{name.replace("_", "-"): _TEXTS for name in _RULE_OPTIONS},
    **dict.fromkeys(("baseline", "cache-dir", "python", "required-version"), _TEXT),
    **dict.fromkeys(
        ("force-exclude", "strict-units", "number-words", "array-paths", "require-reason"), _BOOL
    ),
    "per-file-ignores": _holding(dict, "a table", _TEXTS),
    "severity": _holding(dict, "a table", _one_of(LEVELS)),
    "fail-level": _one_of(LEVELS),
    "unit-packs": _holding(list, "a list of texts", _one_of(PACKS)),
    "plain-kinds": _holding(list, "a list of texts", _one_of(KINDS)),
    "frameworks": _holding(list, "a list of tables", _is(dict, "a table")),
    "jobs": _jobs,
}


def _check_shape(path: str, table: Mapping[str, Any]) -> None:
    """Refuse what the JSON Schema refuses; a test holds the two to the same answers."""
    for key in (key for key in table if key not in _SHAPES):
        hint = nearest(key, sorted(_SHAPES), "; gllint config --schema lists them")
        raise UsageError(f"{path}: unknown key '{_short(key)}'{hint}")
    for key, value in table.items():
        try:
            wrong = _SHAPES[key](value)
        except (RecursionError, ValueError):  # nested too deeply to be shown, or a number of too many digits
            wrong = "", "has a value of the wrong type; gllint config --schema tells the right one"
        if wrong is not None:
            raise UsageError(f"{path}: key '{_short(key + wrong[0])}' {wrong[1]}")


def _literal(value: Any) -> str:
    return _short(json.dumps(value, ensure_ascii=False, default=str))


def _short(text: str, most: int = 60) -> str:
    text = visible(text)
    return text if len(text) <= most else text[: most - 3] + "…"


def _check_meaning(path: str, table: Mapping[str, Any]) -> None:
    for key in _SELECTOR_KEYS:
        check_selectors(table.get(key, ()), f"{path}: key '{key}'")
    for pattern, codes in table.get("per-file-ignores", {}).items():
        check_selectors(codes, f"{path}: key 'per-file-ignores.{pattern}'")
    check_selectors(table.get("severity", {}), f"{path}: key 'severity'")
    for key in ("exclude", "extend-exclude", "per-file-ignores"):
        for pattern in table.get(key, ()):
            if not is_pattern(pattern.removeprefix("!") if key == "per-file-ignores" else pattern):
                raise UsageError(
                    f"{path}: key '{key}': '{_short(pattern)}' is not a pattern as in .gitignore"
                )
    for key in _NAME_KEYS:
        for name in table.get(key, ()):
            if not (_PATTERN if key == "final-message-names" else _DOTTED).fullmatch(name):
                raise UsageError(f"{path}: key '{key}': {_literal(name)} is no name")
    if table.get("frameworks"):
        from gllint_rules.words.framework_table import TableError, read_rows

        try:
            read_rows(table["frameworks"], "row", own=True)
        except TableError as error:
            raise UsageError(f"{path}: key 'frameworks': {_short(str(error), 200)}") from None
        except RecursionError:
            raise UsageError(f"{path}: key 'frameworks': nested too deeply") from None
    if table.get("whitelist-patterns"):
        from gllint_runtime.policy.patterns import backtracks
    for expression in table.get("whitelist-patterns", ()):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of what a later Python may read otherwise
                re.compile(expression)
        except (re.error, OverflowError, RecursionError) as error:
            message = f"'{_short(expression)}' is no regular expression: {error}"
            raise UsageError(f"{path}: key 'whitelist-patterns': {message}") from None
        if backtracks(expression):
            message = f"'{_short(expression)}' can take for ever: it repeats what repeats; make it simpler"
            raise UsageError(f"{path}: key 'whitelist-patterns': {message}")


def _check_version(path: str, required: object) -> None:
    """Refuse a configuration that asks for another version of gllint. ``required`` may be of any type."""
    if not isinstance(required, str):
        return  # what it must be is said with the other keys
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    exact = required.strip()
    try:
        wanted = SpecifierSet(f"=={exact}" if exact[:1].isdigit() else exact)
    except InvalidSpecifier:
        raise UsageError(
            f"{path}: key 'required-version': '{_short(required)}' is not a version such as '>=0.1' or '0.1.0'"
        ) from None
    if not wanted.contains(__version__, prereleases=True):
        raise UsageError(
            f"{path}: key 'required-version' asks for gllint {_short(required)}, this is {__version__}: "
            "install that version, or change the key"
        )


def _check_inside(path: str, table: Mapping[str, Any], base: str, key: str, instead: str) -> None:
    """Refuse a path outside the project: what comes with a repository decides nothing beyond it."""
    named = table.get(key)
    if named is None:
        return
    if key == "baseline" and not named.strip():
        raise UsageError(f"{path}: key 'baseline' names no file")
    try:
        target = way_out(os.path.join(base, named), repository_of(base) or base)
    except OSError as error:
        what = "folder" if key == "cache-dir" else "file"
        raise UsageError(f"{path}: key '{key}' names no {what}: {error.strerror}") from None
    if target is not None:
        raise UsageError(f"{path}: key '{key}' leads out of the project, to {visible(target)}; {instead}")


def _config(path: str, table: Mapping[str, Any], base: str) -> Config:
    fields: dict[str, Any] = {}
    options: dict[str, Any] = {}
    for key, value in table.items():
        name = key.replace("-", "_")
        (options if name in _RULE_OPTIONS else fields)[name] = (
            tuple(value) if isinstance(value, list) else value
        )
    if "frameworks" in options:
        options["frameworks"] = tuple(json.dumps(row, ensure_ascii=False) for row in options["frameworks"])
    if "python" in options:
        from gllint.files.environment import packages

        try:
            options["packages"] = packages(os.path.join(base, options["python"]))
        except ValueError as error:
            raise UsageError(f"{path}: key 'python': {error}") from None
    if "per_file_ignores" in fields:
        fields["per_file_ignores"] = {k: tuple(v) for k, v in fields["per_file_ignores"].items()}
    return Config(
        base=base, source=path, rules=Settings(**options), origins=dict.fromkeys(table, path), **fields
    )


def split_codes(texts: Sequence[str]) -> tuple[str, ...] | None:
    """Read the comma-separated codes of repeated command-line options; ``None`` where none was given."""
    codes = tuple(code for text in texts for code in re.split(r"[,\s]+", text) if code)
    return codes if texts else None
