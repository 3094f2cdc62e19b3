"""Which classes may derive from a tool class, from outlines alone: a class that does not is never read."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import TypeAlias

from gllint_rules.inference.protocol import Modules
from gllint_rules.reading.facts import Module
from gllint_rules.reading.outline import Section

_Class: TypeAlias = tuple[Module, Section]


class Derivation:
    """Answers for one set of names, each class looked at once."""

    def __init__(self, modules: Modules, names: Container[str]) -> None:
        self.modules, self.names = modules, names
        self._answers: dict[tuple[str, int], bool] = {}

    def forget(self) -> None:
        """Forget all: an outline may be another one."""
        self._answers.clear()

    def may_derive(self, module: Module, section: Section) -> bool:
        """Return whether a class of ``section`` may have an ancestor of one of the names; an unknown one may."""
        if section.kind != "class":
            return section.has_classes
        keys: set[tuple[str, int]] = set()
        waiting = [(module, section)]
        is_derived = False
        while waiting and not is_derived:
            home, current = waiting.pop()
            key = home.path, current.number
            answer = self._answers.get(key)
            if answer is not None or key in keys:
                is_derived = answer or False
                continue
            keys.add(key)
            is_derived = current.has_classes
            for base in current.bases:
                parents = self._parents(home, base)
                is_derived = is_derived or parents is None
                waiting += parents or ()
        self._answers.update(
            dict.fromkeys([(module.path, section.number)] if is_derived else keys, is_derived)
        )
        return is_derived

    def _parents(self, module: Module, base: str) -> list[_Class] | None:
        """Return the classes that a base may be, none for one from outside; ``None`` if it may be what is sought."""
        first, _, rest = base.partition(".")
        if (rest.rpartition(".")[2] or first) in self.names or first == "?":
            return None
        if rest:
            return None if any(module.binders(first)) else []
        parents: list[_Class] = []
        keys: set[tuple[str, str]] = set()
        waiting = [(module, first)]
        while waiting:
            home, name = waiting.pop()
            if (home.path, name) in keys:
                continue
            keys.add((home.path, name))
            is_bound = False
            for section in home.binders(name):
                is_bound = True
                if section.kind == "class" and not section.has_classes:
                    parents.append((home, section))
                elif section.kind != "imports":
                    return None
                else:
                    origins = list(self._origins(home, section, name))
                    if None in origins:
                        return None
                    waiting += (origin for origin in origins if origin is not None)
            if home.outline.stars and not is_bound:
                return None
        return parents

    def _origins(self, module: Module, section: Section, name: str) -> Iterator[tuple[Module, str] | None]:
        """Yield where an import takes ``name`` from, within the project; ``None`` if the name may be sought."""
        for imported in section.imports:
            if imported.bound == name:
                if not imported.name or imported.name in self.names:
                    yield None
                    return
                path = self.modules.find_module(module.path, imported.module)
                other = self.modules.module_at(path) if path is not None and path != module.path else None
                if other is not None:
                    yield other, imported.name
