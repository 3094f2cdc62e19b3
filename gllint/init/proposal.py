"""The configuration that fits a project: what its findings ask for, beside what it says already."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gllint.files.config import Config
from gllint.init.survey import Survey, test_patterns
from gllint_rules import Finding
from gllint_runtime.policy.packs import PACKS

# What a finding's help may propose without changing what the policy asks for.
_LISTS = ("unit-packs", "plain-keys", "dispatchers")
_LINE = re.compile(rf"`((?:{'|'.join(_LISTS)}) = \[[^`\n]*?\])`")


@dataclass(frozen=True, slots=True)
class Proposal:
    """Keys of ``[tool.gllint]`` with what each gains: lists of texts, or the table ``per-file-ignores``.

    ``settled`` counts, for each key, the findings that asked for it.
    """

    lists: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    settled: Mapping[str, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.lists or self.ignores)

    def applied(self, config: Config) -> Config:
        """Return ``config`` with what is proposed."""
        fields: dict[str, Any] = {
            key.replace("-", "_"): (*getattr(config.rules, key.replace("-", "_")), *more)
            for key, more in self.lists.items()
        }
        return config._replace(
            rules=config.rules._replace(**fields),
            per_file_ignores={**config.per_file_ignores, **self.ignores},
        )


def propose(seen: Survey, config: Config, root: str) -> Proposal:
    """Return what the findings of a survey ask for, beyond what ``config`` has."""
    more: dict[str, dict[str, None]] = {}
    settled: dict[str, int] = {}
    ours = [f for f in seen.outcome.findings if not (seen.in_tests and _is_test(f, root))]
    for finding in ours:
        for key, new in asked_by(finding, config):
            more.setdefault(key, {}).update(dict.fromkeys(new))
            settled[key] = settled.get(key, 0) + 1
    lists = {key: _ordered(key, more[key]) for key in _LISTS if key in more}
    patterns = test_patterns([f.path for f in seen.outcome.findings], root) if seen.in_tests else ()
    ignores = {pattern: ("GL",) for pattern in patterns if pattern not in config.per_file_ignores}
    ignores |= {pattern: ("GL900",) for pattern in seen.templates if pattern not in config.per_file_ignores}
    if ignores:
        settled["per-file-ignores"] = seen.in_tests
    return Proposal(lists, ignores, settled)


def _is_test(finding: Finding, root: str) -> bool:
    return bool(test_patterns([finding.path], root))


def asked_by(finding: Finding, config: Config) -> Iterable[tuple[str, list[str]]]:
    """The keys of ``[tool.gllint]`` that the help of a finding names, each with the items that ``config`` lacks."""
    for key, items in _asked(finding):
        new = [item for item in items if item not in getattr(config.rules, key.replace("-", "_"))]
        if new:
            yield key, new


def _asked(finding: Finding) -> Iterable[tuple[str, list[str]]]:
    for line in _LINE.findall(finding.help):
        try:
            table: dict[str, Any] = tomllib.loads(line)
        except tomllib.TOMLDecodeError:
            continue
        yield from table.items()


def _ordered(key: str, items: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(items, key=PACKS.index if key == "unit-packs" else str))
