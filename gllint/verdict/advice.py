"""What a finding's help says could be put into the configuration."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import Any

from gllint.files.config import Config
from gllint_rules import Finding

# What the help may propose without changing what the policy asks for.
KEYS = ("unit-packs", "plain-keys", "dispatchers")
_LINE = re.compile(rf"`((?:{'|'.join(KEYS)}) = \[[^`\n]*?\])`")


def asked_by(finding: Finding, config: Config) -> Iterator[tuple[str, list[str]]]:
    """The keys of ``[tool.gllint]`` that the help of a finding names, each with the items that ``config`` lacks."""
    for key, items in _asked(finding):
        new = [item for item in items if item not in getattr(config.rules, key.replace("-", "_"))]
        if new:
            yield key, new


def _asked(finding: Finding) -> Iterator[tuple[str, list[str]]]:
    for line in _LINE.findall(finding.help):
        try:
            table: dict[str, Any] = tomllib.loads(line)
        except tomllib.TOMLDecodeError:
            continue
        yield from table.items()
