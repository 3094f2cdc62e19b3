"""The configuration as the program keeps it, and what is wrong with the meaning of a key.

Files are read and validated by :mod:`gllint_runtime.policy.configuration`, as for an agent.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from gllint.errors import UsageError
from gllint.files.paths import git_pattern
from gllint.files.patterns import Patterns, is_pattern
from gllint.files.selection import check_selectors, matches, preferred_codes, selected_codes
from gllint.files.writing import repository_of, way_out
from gllint.shown import visible
from gllint_rules import Settings
from gllint_rules.rule import OFF_IN_SOURCED_MODE
from gllint_rules.tuples import NamedTuple
from gllint_runtime.policy.configuration import FILE_NAMES as FILE_NAMES
from gllint_runtime.policy.configuration import (
    ConfigurationError,
    Table,
    checked,
    table_in,
    table_of,
)
from gllint_runtime.policy.configuration import schema as schema
from gllint_runtime.policy.expressions import expression
from gllint_runtime.policy.settings import POLICY_KEYS, Policy
from gllint_runtime.policy.wording import literal, shortened

DEFAULT_EXCLUDE = (
    ".bzr", ".direnv", ".eggs", ".git", ".gllint_cache", ".hg", ".hypothesis", ".idea", ".ipynb_checkpoints",
    ".mypy_cache", ".nox", ".pants.d", ".pyenv", ".pytest_cache", ".pytype", ".ruff_cache", ".svn", ".tox",
    ".venv", ".vscode", "CVS", "__pycache__", "__pypackages__", "_build", "buck-out", "build", "dist",
    "node_modules", "site-packages", "venv",
)  # fmt: skip
COMMAND_LINE = "the command line"  # an origin that is no file
_NO_KEYS = {"audit", "needles", "packages", "policy"}  # settings that follow from others
_RULE_OPTIONS = tuple(name for name in Settings._fields if name not in _NO_KEYS)
_NAME_KEYS = (
    "tool-classes", "tool-decorators", "tool-methods", "result-payloads", "dispatchers", "registry-modules",
    "final-message-names", "final-message-calls",
)  # fmt: skip
_DOTTED, _PATTERN = expression(r"(?:(?:\*|\w+)\.)*\w+"), expression(r".*\S.*")
_SELECTOR_KEYS = ("select", "extend-select", "ignore", "extend-ignore", "fixable", "unfixable")


class _Keys(NamedTuple):
    """The fields of :class:`Config`."""

    base: str = ""
    source: str = ""
    extend: str | None = None
    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend_ignore: tuple[str, ...] = ()
    fixable: tuple[str, ...] | None = None
    unfixable: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = {}
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    extend_exclude: tuple[str, ...] = ()
    force_exclude: bool = False
    severity: Mapping[str, str] = {}
    fail_level: str = "info"
    require_reason: bool = False
    required_version: str | None = None
    strict: bool = False
    jobs: int | None = None
    cache_dir: str | None = None
    baseline: str | None = None
    guard: Mapping[str, Mapping[str, Mapping[str, str]]] = {}
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
        codes = selected_codes(self.select, self.extend_select, (*self.ignore, *self.extend_ignore))
        return codes - OFF_IN_SOURCED_MODE if self.rules.policy.mode == "sourced" else codes

    @cached_property
    def fixable_codes(self) -> frozenset[str] | None:
        """The codes whose fixes are wanted; ``None``: all. The longer selector wins."""
        if self.fixable is None and not self.unfixable:
            return None
        return preferred_codes(self.fixable, self.unfixable)

    @cached_property
    def narrowing(self) -> Mapping[str, Sequence[str]]:
        """Return the settings that exclude something from the report, by the file that has them.

        Example: ``{".../gllint.toml": ["ignore"]}``.

        Settings of the command line are not among them.
        """
        rules = self.rules
        has_fewer_codes = not Config().codes <= self.codes
        omits = {
            "select": has_fewer_codes and self.select is not None,
            "ignore": has_fewer_codes and self.ignore,
            "extend-ignore": has_fewer_codes and self.extend_ignore,
            "per-file-ignores": self.per_file_ignores,
            "exclude": not {*self.exclude} <= {*DEFAULT_EXCLUDE},
            "extend-exclude": self.extend_exclude,
            "plain-keys": rules.policy.plain_keys,
            "whitelist-patterns": rules.policy.whitelist,
            "extend-units": rules.policy.extend_units,
            "unit-packs": rules.policy.packs,
            "quantity-shapes": rules.policy.quantity_shapes,
            "array-paths": rules.policy.array_paths,
            "dispatchers": rules.dispatchers,
            "registry-modules": rules.registry_modules,
            "frameworks": any('"not-tools"' in row for row in rules.frameworks),
        }
        keys: dict[str, list[str]] = {}
        for key in (key for key, does in omits.items() if does):
            if (file := self.origins.get(key, COMMAND_LINE)) != COMMAND_LINE:
                keys.setdefault(file, []).append(key)
        return keys

    @property
    def baseline_file(self) -> str | None:
        """The absolute path of the baseline, ``None`` if there is none."""
        if not self.baseline:
            return None
        return os.path.normpath(os.path.join(self.base, self.baseline)).replace(os.sep, "/")

    @cached_property
    def excluded(self) -> Patterns:
        """The patterns of what is left out."""
        return self._patterns((*self.exclude, *self.extend_exclude))

    @cached_property
    def excluded_by_wish(self) -> Patterns:
        """The patterns of what is left out that are not those of every project."""
        return self._patterns(
            pattern for pattern in (*self.exclude, *self.extend_exclude) if pattern not in DEFAULT_EXCLUDE
        )

    def _patterns(self, patterns: Iterable[str]) -> Patterns:
        return Patterns(git_pattern(pattern, self.base) for pattern in patterns)

    @cached_property
    def _file_ignores(self) -> list[tuple[Patterns, bool, tuple[str, ...]]]:
        return [
            (self._patterns([pattern.removeprefix("!")]), pattern.startswith("!"), codes)
            for pattern, codes in self.per_file_ignores.items()
        ]

    def ignored_in(self, path: str) -> tuple[str, ...]:
        """Return the codes that ``per-file-ignores`` switches off for a file: ``("GL1",)``."""
        relative = self.relative(path)
        return tuple(
            code
            for patterns, negated, codes in self._file_ignores
            if patterns.excludes(relative) != negated  # `"!src/**" = ["ALL"]`: everywhere but in src
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
        """Return this configuration with the ``options`` that are not ``None`` in place of its own; ``extend-…``
        keys add.

        ``where`` names the origin of these values.
        """
        settings = {key: value for key, value in options.items() if value is not None}
        if not settings:
            return self
        fields = {key.replace("-", "_"): value for key, value in settings.items()}
        for name in ("extend_select", "extend_ignore", "extend_exclude", "unfixable"):
            if name in fields:
                fields[name] = (*getattr(self, name), *fields[name])
        return self._replace(**fields, origins={**self.origins, **dict.fromkeys(settings, where)})

    def under(self, settings: Inline) -> Config:
        """Return this configuration with the ``--config`` settings of the command line over it; ``extend-…`` keys
        add.
        """
        given, fields, rules = settings.config, dict[str, Any](), dict[str, Any]()
        policy: dict[str, Any] = {}
        for key in settings.keys:
            name = key.replace("-", "_")
            if key in POLICY_KEYS:
                policy[POLICY_KEYS[key]] = getattr(given.rules.policy, POLICY_KEYS[key])
            elif name in _RULE_OPTIONS:
                rules[name] = getattr(given.rules, name)
            elif name.startswith("extend_"):
                fields[name] = (*getattr(self, name), *getattr(given, name))
            elif name in ("baseline", "cache_dir"):
                fields[name] = os.path.join(given.base, getattr(given, name))
            else:
                fields[name] = getattr(given, name)
        if "python" in rules:
            rules["packages"] = given.rules.packages
        if policy:
            rules["policy"] = self.rules.policy.with_settings(**policy)
        origins = {**self.origins, **dict.fromkeys(settings.keys, COMMAND_LINE)}
        return self._replace(rules=self.rules._replace(**rules), origins=origins, **fields)

    def with_rules(self, changes: Mapping[str, Any]) -> Config:
        """Return this configuration with other values of rule settings: ``{"plain-keys": ("*_id",)}``."""
        policy = {POLICY_KEYS[key]: value for key, value in changes.items() if key in POLICY_KEYS}
        options = {key.replace("-", "_"): value for key, value in changes.items() if key not in POLICY_KEYS}
        if "frameworks" in options:
            import json

            options["frameworks"] = tuple(map(json.dumps, options["frameworks"]))
        rules = self.rules
        return self._replace(rules=rules._replace(policy=rules.policy.with_settings(**policy), **options))


def in_folder(folder: str) -> Config | None:
    """Return the configuration in ``folder``: that of a gllint.toml, else of a pyproject.toml with our table.

    ``None`` if none.

    Raises :class:`UsageError` as :func:`load` does.
    """
    try:
        table = table_in(folder)
        return _config(checked(table), folder) if table is not None else None
    except ConfigurationError as error:
        raise UsageError(str(error)) from None


def has_settings(path: str) -> bool:
    """Say whether the configuration file ``path`` contains a table of ours that can be read."""
    try:
        table_of(path)
    except ConfigurationError:
        return False
    return True


def load(path: str, base: str | None = None) -> Config:
    """Return the configuration of the file ``path``; its patterns are relative to ``base`` (default: its folder).

    Raises :class:`UsageError`, one line with the file, the line, the key and what to write instead.
    """
    try:
        return _config(checked(table_of(path)), path.rpartition("/")[0] or "/" if base is None else base)
    except ConfigurationError as error:
        raise UsageError(str(error)) from None


class Inline(NamedTuple):
    """Settings that the command line gives as ``KEY = VALUE``: which keys, and a configuration that has them."""

    keys: tuple[str, ...]
    config: Config


_INLINE = expression(r"\s*[\w-]+(?:\s*\.\s*[\w-]+|\s*\.\s*\"[^\"]*\")*\s*=")


def is_inline(text: str) -> bool:
    """Return whether what ``--config`` names is a setting, ``KEY = VALUE``, and no file."""
    return _INLINE.match(text) is not None and not os.path.exists(text)


def inline(texts: Sequence[str], base: str) -> Inline:
    """Return the ``--config`` settings of the command line, each ``KEY = VALUE`` in TOML; paths are relative to
    ``base``.

    ``['ignore = ["GL104"]']`` → the key ``ignore``. Raises :class:`UsageError` as :func:`load` does.
    """
    import tomllib

    entries: dict[str, Any] = {}
    for text in texts:
        try:
            entries |= tomllib.loads(text)
        except (ValueError, RecursionError) as error:  # of an integer with thousands of digits, too
            raise UsageError(f"--config: {shortened(text)}: not valid TOML: {error}") from None
    if "extend" in entries:
        raise UsageError("--config: the key 'extend' is only allowed in a file")
    try:
        return Inline(tuple(entries), _config(checked(Table("--config", "", entries)), base, is_file=False))
    except ConfigurationError as error:
        raise UsageError(str(error)) from None


def value_of(config: Config, key: str) -> Any:
    """Return the value of a configuration key that is in force: ``"plain-keys"`` → ``("*_id",)``."""
    if key in POLICY_KEYS:
        return getattr(config.rules.policy, POLICY_KEYS[key])
    if key == "frameworks":
        import json

        return tuple(map(json.loads, config.rules.frameworks))
    name = key.replace("-", "_")
    return getattr(config.rules if name in _RULE_OPTIONS else config, name)


LEVELS = ("error", "warning", "info")


def _config(table: Table, base: str, *, is_file: bool = True) -> Config:
    """Return the settings of a table whose shape is checked, from a file or the command line.

    Raises :class:`ConfigurationError`.
    """
    _check_meaning(table)
    if is_file:
        _check_inside(table, base, "cache-dir", "only --cache-dir or GLLINT_CACHE_DIR can name such a folder")
        _check_inside(table, base, "baseline", "only --baseline can name such a file")
    fields: dict[str, Any] = {}
    options: dict[str, Any] = {"policy": Policy.of_table(table)}
    for key, value in table.entries.items():
        name = key.replace("-", "_")
        if key not in POLICY_KEYS:
            (options if name in _RULE_OPTIONS else fields)[name] = (
                tuple(value) if isinstance(value, list) else value
            )
    if "frameworks" in options:
        import json

        options["frameworks"] = tuple(json.dumps(row, ensure_ascii=False) for row in options["frameworks"])
    if "python" in options:
        from gllint.files.environment import packages

        try:
            options["packages"] = packages(os.path.join(base, options["python"]))
        except ValueError as error:
            raise table.error(f"key 'python': {error}", "python") from None
    if "per_file_ignores" in fields:
        fields["per_file_ignores"] = {k: tuple(v) for k, v in fields["per_file_ignores"].items()}
    return Config(base=base, source=table.path, rules=Settings(**options), origins=table.origins, **fields)


def _check_meaning(table: Table) -> None:
    """Raise :class:`ConfigurationError` for unknown codes, for no patterns and no names, and for faulty framework
    rows.
    """
    for key in _SELECTOR_KEYS:
        _check_codes(table, table.entries.get(key, ()), key)
    for pattern, codes in table.entries.get("per-file-ignores", {}).items():
        _check_codes(table, codes, "per-file-ignores", pattern)
    for code in table.entries.get("severity", {}):
        try:
            check_selectors([code], "key 'severity'")
        except UsageError as error:
            raise table.error(str(error), "severity", code) from None
    for key, place, pattern in _members(table, "exclude", "extend-exclude", "per-file-ignores"):
        line = git_pattern(pattern, "")
        if not is_pattern(line.removeprefix("!") if key == "per-file-ignores" else line):
            text = f"key '{key}': '{shortened(pattern)}' is not a pattern as in .gitignore"
            raise table.error(text, key, place)
    for key, place, name in _members(table, *_NAME_KEYS):
        if not (_PATTERN if key == "final-message-names" else _DOTTED).fullmatch(name):
            raise table.error(f"key '{key}': {literal(name)} is not a name", key, place)
    if table.entries.get("frameworks"):
        from gllint_rules.words.framework_table import TableError, read_rows

        try:
            read_rows(table.entries["frameworks"], "row", own=True)
        except TableError as error:
            row = re.match(r"row\[(\d+)", str(error))
            text = f"key 'frameworks': {shortened(str(error), 200)}"
            raise table.error(text, "frameworks", row[1] if row else "") from None
        except RecursionError:
            raise table.error("key 'frameworks': nested too deeply", "frameworks") from None


def _members(table: Table, *keys: str) -> Iterator[tuple[str, str, str]]:
    """Yield the texts of lists and the keys of tables: under which key, at which place, which text."""
    for key in keys:
        members = table.entries.get(key, ())
        for number, member in enumerate(members):
            yield key, str(number) if isinstance(members, list) else member, member


def _check_codes(table: Table, codes: Sequence[str], *key: str) -> None:
    for number, code in enumerate(codes):
        try:
            check_selectors([code], f"key '{'.'.join(key)}'")
        except UsageError as error:
            raise table.error(str(error), *key, str(number)) from None


def _check_inside(table: Table, base: str, key: str, instead: str) -> None:
    """Raise :class:`ConfigurationError` for a path outside the project: a repository may not write elsewhere."""
    path = table.entries.get(key)
    if path is None:
        return
    try:
        target = way_out(os.path.join(base, path), repository_of(base) or base)
    except OSError as error:
        kind = "folder" if key == "cache-dir" else "file"
        raise table.error(f"key '{key}' names no {kind}: {error.strerror}", key) from None
    if target is not None:
        text = f"key '{key}' leads out of the project, to {visible(target)}; {instead}"
        raise table.error(text, key)


def split_codes(texts: Sequence[str]) -> tuple[str, ...] | None:
    """Read the comma-separated codes of repeated command-line options; ``None`` if none was given."""
    codes = tuple(code for text in texts for code in re.split(r"[,\s]+", text) if code)
    return codes if texts else None
