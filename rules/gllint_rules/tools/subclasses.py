"""Which classes may derive from a tool class, told from outlines: none need be read to learn that it does not."""

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
        self._known: dict[tuple[str, int], bool] = {}

    def forget(self) -> None:
        """Forget all: an outline may be another one."""
        self._known.clear()

    def may_derive(self, module: Module, section: Section) -> bool:
        """Whether a class of ``section`` may have an ancestor of one of the names; what cannot be told may."""
        if section.kind != "class":
            return section.has_classes
        seen: set[tuple[str, int]] = set()
        waiting = [(module, section)]
        found = False
        while waiting and not found:
            home, current = waiting.pop()
            key = home.path, current.number
            known = self._known.get(key)
            if known is not None or key in seen:
                found = known or False
                continue
            seen.add(key)
            found = current.has_classes
            for base in current.bases:
                above = self._above(home, base)
                found = found or above is None
                waiting += above or ()
        self._known.update(dict.fromkeys([(module.path, section.number)] if found else seen, found))
        return found

    def _above(self, module: Module, base: str) -> list[_Class] | None:
        """The classes that a base may be, none for one from outside; ``None`` where it may be what is sought."""
        first, _, rest = base.partition(".")
        if (rest.rpartition(".")[2] or first) in self.names or first == "?":
            return None
        if rest:
            return None if any(module.binders(first)) else []
        out: list[_Class] = []
        seen: set[tuple[str, str]] = set()
        waiting = [(module, first)]
        while waiting:
            home, name = waiting.pop()
            if (home.path, name) in seen:
                continue
            seen.add((home.path, name))
            is_bound = False
            for section in home.binders(name):
                is_bound = True
                if section.kind == "class" and not section.has_classes:
                    out.append((home, section))
                elif section.kind != "imports":
                    return None
                else:
                    origins = list(self._origins(home, section, name))
                    if None in origins:
                        return None
                    waiting += (origin for origin in origins if origin is not None)
            if home.outline.stars and not is_bound:
                return None
        return out

    def _origins(self, module: Module, section: Section, name: str) -> Iterator[tuple[Module, str] | None]:
        """Where an import takes ``name`` from, if from the project; ``None`` for what is, or may be, sought."""
        for imported in section.imports:
            if imported.bound == name:
                if not imported.name or imported.name in self.names:
                    yield None
                    return
                path = self.modules.find_module(module.path, imported.module)
                other = self.modules.module_at(path) if path is not None and path != module.path else None
                if other is not None:
                    yield other, imported.name
