"""The rule catalogue: one module a rule, each with its explanation, its examples and its generator.

The names of the modules show the codes; a module is imported only when its rule is asked for,
so that a run in which no file needs parsing loads none of the analysis. A new rule is a new module here, or one in a
package of someone else's (:mod:`~gllint_rules.catalogue.installed`).

In: a :class:`~gllint_rules.project.context.Context`. Out: findings whose places and fixes are still to be worked out.
A rule knows nothing of files, configuration formats, caches or output.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from importlib import import_module

from gllint_rules.catalogue.installed import folders, installed, load
from gllint_rules.rule import Rule


class Catalogue(Mapping[str, Rule]):
    """The rules by code, in the order of their codes. A rule's module is imported at its first look-up."""

    def __init__(self) -> None:
        # From the names of the files: `pkgutil` takes longer than checking a small project.
        files = sorted(name for folder in __path__ for name in os.listdir(folder))
        names = [name.removesuffix(".py") for name in files if name.startswith("gl") and name.endswith(".py")]
        self._modules = {name.partition("_")[0].upper(): name for name in names}
        self._rules: dict[str, Rule] = {}
        # From a rule's name to its code, without loading the rule.
        self.by_name = {
            name.partition("_")[2].replace("_", "-"): code for code, name in self._modules.items()
        }

    def __getitem__(self, code: str) -> Rule:
        if code not in self._rules and code not in self._modules:
            self._rules[code] = load(code, installed()[code])
        if code not in self._rules:
            rule = import_module(f"{__name__}.{self._modules[code]}").RULE
            assert isinstance(rule, Rule), f"{self._modules[code]} has no RULE"
            self._rules[code] = rule
        return self._rules[code]

    def __iter__(self) -> Iterator[str]:
        return iter((*self._modules, *installed()))

    def __len__(self) -> int:
        return len(self._modules) + len(installed())

    def __contains__(self, code: object) -> bool:
        return code in self._modules or code in installed()

    def code_named(self, name: str) -> str | None:
        """Return the code of the rule with this name (``raw-number-in-result`` → ``GL101``), None if there is none."""
        code = self.by_name.get(name)
        return code or next((code for code in installed() if self[code].name == name), None)

    def packages(self) -> list[str]:
        """Return the folders of the packages that offer rules."""
        return folders()

    def needles(self) -> tuple[str, ...]:
        """Return the texts for which a file is read, beyond those of gllint's rules, if packages offer rules."""
        return tuple(needle for code in installed() for needle in self[code].needles)


RULES = Catalogue()


def load_all() -> None:
    """Import every rule and all that rules import on demand, so that timings do not include imports."""
    import pkgutil

    from gllint_rules import fixes
    from gllint_rules.project import project  # noqa: F401

    for code in RULES:
        RULES[code]
    for info in pkgutil.iter_modules(fixes.__path__):
        import_module(f"{fixes.__name__}.{info.name}")
