"""The rule catalogue: one module a rule, each with its explanation, its examples and its generator."""

from __future__ import annotations

import pkgutil
from importlib import import_module

from gllint_rules.rule import Rule


def _load() -> dict[str, Rule]:
    found: dict[str, Rule] = {}
    for info in pkgutil.iter_modules(__path__):
        rule = import_module(f"{__name__}.{info.name}").RULE
        assert isinstance(rule, Rule), f"{info.name} has no RULE"
        found[rule.code] = rule
    return dict(sorted(found.items()))


RULES: dict[str, Rule] = _load()
