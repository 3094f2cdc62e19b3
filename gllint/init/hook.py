"""The commit hook in a pre-commit configuration: YAML that is changed by the line, so that all else of it stays."""

from __future__ import annotations

import re

FILE = ".pre-commit-config.yaml"
_REPOS = re.compile(r"repos:\s*(?:#.*)?$")
_ITEM = re.compile(r"(?P<indent> *)- ")
_OF_BLOCK = re.compile(r"\s|-\s|#|$")


def hook(indent: str = "  ") -> str:
    """Return the entry of the commit hook, which runs the gllint that is installed."""
    lines = [
        "- repo: local",
        "  hooks:",
        "    - id: gllint",
        "      name: gllint",
        "      entry: gllint check --force-exclude",
        "      language: system",
        "      types_or: [python, pyi, jupyter]",
        "      require_serial: true",
    ]
    return "".join(f"{indent}{line}\n" for line in lines)


def with_hook(text: str | None) -> str | None:
    """Return a pre-commit configuration with the hook added at the end of ``repos``.

    ``None`` if ``repos`` is missing or not written as a block, so that no lines can be added.
    """
    if text is None or not text.strip():
        return "repos:\n" + hook()
    newline = "\r\n" if "\r\n" in text else "\n"
    if not text.endswith("\n"):
        text += newline
    lines = [f"{line}\n" for line in text.split("\n")[:-1]]  # of YAML: a form feed within a text ends none
    begin = next((i for i, line in enumerate(lines) if _REPOS.match(line)), None)
    if begin is None:
        return None
    end = next((i for i in range(begin + 1, len(lines)) if not _OF_BLOCK.match(lines[i])), len(lines))
    items = [item["indent"] for line in lines[begin + 1 : end] if (item := _ITEM.match(line))]
    while end > begin + 1 and (not lines[end - 1].strip() or lines[end - 1].startswith("#")):
        end -= 1  # what is before the next key belongs to it
    added = hook(items[0] if items else "  ").replace("\n", newline)
    return "".join([*lines[:end], added, *lines[end:]])


def has_hook(text: str | None) -> bool:
    """Return whether a pre-commit configuration runs gllint already."""
    return text is not None and re.search(r"^\s*(?:-\s+)?id:\s*['\"]?gllint", text, re.MULTILINE) is not None
