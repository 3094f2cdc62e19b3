"""Changing the files of a project: TOML with its comments and formatting kept, YAML by the line."""

from __future__ import annotations

import os
import re
import tomllib
from typing import TYPE_CHECKING, Any

from gllint.errors import UsageError
from gllint.files.places import Place
from gllint.init.proposal import Proposal

if TYPE_CHECKING:
    from tomlkit.items import Table

BASELINE = "gllint-baseline.json"
HOOKS = ".pre-commit-config.yaml"
_BOM = "\ufeff"
_REPOS = re.compile(r"repos:\s*(?:#.*)?$")
_ITEM = re.compile(r"(?P<indent> *)- ")
_OF_BLOCK = re.compile(r"\s|-\s|#|$")


def configuration(place: Place) -> str | None:
    """The file to configure gllint in, where there is one: the one that does, else the project's pyproject.toml."""
    if place.config.source:  # one of a folder above, too: a new one below would hide what it says
        return place.config.source
    pyproject = f"{place.root}/pyproject.toml"
    return pyproject if os.path.exists(pyproject) else None


def with_settings(path: str, text: str, proposal: Proposal, is_own: bool) -> str:
    """Return the TOML ``text`` of the file ``path`` with what is proposed; ``is_own``: a gllint.toml, no pyproject.

    Raises :class:`UsageError` where the text cannot be changed without changing more.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    bom, body = (_BOM, text.removeprefix(_BOM)) if text.startswith(_BOM) else ("", text)
    crlf = "\r\n" in body and "\n" not in body.replace("\r\n", "")
    body = body.replace("\r\n", "\n") if crlf else body
    try:
        before = tomllib.loads(body)
        document = tomlkit.parse(body)
        _add(_table(document, is_own), proposal)
        after = tomlkit.dumps(document)
        if tomllib.loads(after) != _wanted(before, proposal, is_own):
            raise ValueError("the change would not be the one that was meant")
    except (TOMLKitError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise UsageError(f"{path}: cannot be changed by gllint: {error}; add the lines yourself") from None
    return bom + (after.replace("\n", "\r\n") if crlf else after)


def _table(document: Any, is_own: bool) -> Table:
    import tomlkit

    if is_own:
        return document  # type: ignore[no-any-return]
    if "tool" not in document:
        document["tool"] = tomlkit.table(is_super_table=True)
    if "gllint" not in document["tool"]:
        document["tool"]["gllint"] = tomlkit.table()
    return document["tool"]["gllint"]  # type: ignore[no-any-return]


def _add(table: Table, proposal: Proposal) -> None:
    import tomlkit

    for key, more in proposal.lists.items():
        if key not in table:
            table[key] = tomlkit.array()
        for item in more:
            table[key].append(item)
    if proposal.ignores:
        if "per-file-ignores" not in table:
            table["per-file-ignores"] = tomlkit.inline_table()
        for pattern, codes in proposal.ignores.items():
            table["per-file-ignores"][pattern] = list(codes)


def _wanted(before: dict[str, Any], proposal: Proposal, is_own: bool) -> dict[str, Any]:
    """The data that the changed text must hold: everything as before, and what is proposed."""
    import copy

    wanted = copy.deepcopy(before)
    table = wanted if is_own else wanted.setdefault("tool", {}).setdefault("gllint", {})
    for key, more in proposal.lists.items():
        table[key] = [*table.get(key, []), *more]
    if proposal.ignores:
        table["per-file-ignores"] = {
            **table.get("per-file-ignores", {}),
            **{pattern: list(codes) for pattern, codes in proposal.ignores.items()},
        }
    return wanted


def hook(baseline: str | None, indent: str = "  ") -> str:
    """The entry of the commit hook, which runs the gllint that is installed."""
    entry = "gllint check --force-exclude" + (f" --baseline {baseline}" if baseline else "")
    lines = [
        "- repo: local",
        "  hooks:",
        "    - id: gllint",
        "      name: gllint",
        f"      entry: {entry}",
        "      language: system",
        "      types_or: [python, pyi, jupyter]",
        "      require_serial: true",
    ]
    return "".join(f"{indent}{line}\n" for line in lines)


def with_hook(text: str | None, baseline: str | None) -> str | None:
    """Return the text of a pre-commit configuration with the hook at its end of ``repos``.

    ``None`` where it cannot be put in by the line: ``repos`` is missing, or no block of its own.
    """
    if text is None or not text.strip():
        return "repos:\n" + hook(baseline)
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = text.splitlines()
    begin = next((i for i, line in enumerate(lines) if _REPOS.match(line)), None)
    if begin is None:
        return None
    end = next((i for i in range(begin + 1, len(lines)) if not _OF_BLOCK.match(lines[i])), len(lines))
    items = [found["indent"] for line in lines[begin + 1 : end] if (found := _ITEM.match(line))]
    while end > begin + 1 and (not lines[end - 1].strip() or lines[end - 1].startswith("#")):
        end -= 1  # what stands before the next key belongs to it
    added = hook(baseline, items[0] if items else "  ").splitlines()
    return newline.join([*lines[:end], *added, *lines[end:]]) + newline


def has_hook(text: str | None) -> bool:
    """Whether a pre-commit configuration runs gllint already."""
    return text is not None and re.search(r"^\s*(?:-\s+)?id:\s*['\"]?gllint", text, re.MULTILINE) is not None
