"""Changing the configuration of a project: TOML whose comments and formatting are kept."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from typing import Any

from gllint.errors import UsageError
from gllint.files.config import Config, value_of
from gllint.files.places import Place
from gllint_rules.tuples import NamedTuple

_BOM = "\ufeff"


class Addition(NamedTuple):
    """What keys of ``[tool.gllint]`` gain: lists of texts or rows, entries of ``per-file-ignores``, and
    single ``values``.
    """

    lists: Mapping[str, tuple[Any, ...]] = {}
    ignores: Mapping[str, tuple[str, ...]] = {}
    values: Mapping[str, str | bool] = {}

    def __bool__(self) -> bool:
        return bool(self.lists or self.ignores or self.values)

    def applied(self, config: Config) -> Config:
        """Return ``config`` with this addition, without its baseline, which is no setting of a rule."""
        changes: dict[str, Any] = {
            key: (*value_of(config, key), *items) for key, items in self.lists.items()
        } | {key: value for key, value in self.values.items() if key != "baseline"}
        return config.with_rules(changes)._replace(
            per_file_ignores={**config.per_file_ignores, **self.ignores}
        )


def configuration(place: Place) -> str | None:
    """Return the file to write settings to: the one in force, else the project's pyproject.toml.

    ``None`` if there is none.
    """
    if place.config.source:  # one of a folder above, too: a new one below would hide what it says
        return place.config.source
    pyproject = f"{place.root}/pyproject.toml"
    return pyproject if os.path.exists(pyproject) else None


def with_settings(path: str, text: str, addition: Addition, is_own: bool) -> str:
    """Return the TOML ``text`` of the file ``path`` with an addition, its layout and comments unchanged.

    ``is_own``: it is a gllint.toml. Raises :class:`UsageError` if the text would change in more than the addition.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    bom, body = (_BOM, text.removeprefix(_BOM)) if text.startswith(_BOM) else ("", text)
    crlf = "\r\n" in body and "\n" not in body.replace("\r\n", "")
    body = body.replace("\r\n", "\n") if crlf else body
    try:
        wanted = tomllib.loads(body)
        # A blank line separates an added table from the last line.
        document = tomlkit.parse(body if not body or body.endswith("\n") else f"{body}\n")
        _add(document, addition, is_own, tomlkit)
        _add(wanted, addition, is_own)
        new_text = tomlkit.dumps(document)
        if tomllib.loads(new_text) != wanted:
            raise ValueError("the file would not have the intended change")
    except (TOMLKitError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise UsageError(f"{path}: cannot be changed by gllint: {error}; add the lines yourself") from None
    return bom + (new_text.replace("\n", "\r\n") if crlf else new_text)


def _add(document: Any, addition: Addition, is_own: bool, kit: Any = None) -> None:
    """Make an addition to a document: a dict, or one of tomlkit, for which ``kit`` is that module."""
    table, is_new = document, False
    tool = document.get("tool")
    # A gllint.toml may have the table by its name, too, and then has all of its keys there.
    if not is_own or (isinstance(tool, Mapping) and "gllint" in tool):
        if "tool" not in document:
            document["tool"] = kit.table(is_super_table=True) if kit else {}
        if "gllint" not in document["tool"]:
            document["tool"]["gllint"] = kit.table() if kit else {}
            is_new = True
        table = document["tool"]["gllint"]
    for key, value in addition.values.items():
        table[key] = value
    for key, items in addition.lists.items():
        if key not in table:
            table[key] = kit.array() if kit else []
        for item in items:
            table[key].append(item)
    if addition.ignores:
        if "per-file-ignores" not in table:
            table["per-file-ignores"] = kit.inline_table() if kit else {}
        for pattern, codes in addition.ignores.items():
            table["per-file-ignores"][pattern] = list(codes)
    if kit and is_new and not _is_last(document):
        table.add(kit.nl())


def _is_last(document: Any) -> bool:
    """Return whether nothing is behind the table of gllint, which is put behind its siblings in ``[tool]``."""
    return list(document)[-1:] == ["tool"]
