"""Which classes may derive from a tool class, told from outlines alone: none need be read to learn that it does not."""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from gllint_rules.reading.facts import Module
    from gllint_rules.reading.outline import Section

MOST_STEPS = 200


class Modules(Protocol):
    """What is asked of the project: where an import leads."""

    def find_module(self, importer: str, dotted: str) -> str | None: ...

    def module_at(self, path: str) -> Module | None: ...


def may_derive(modules: Modules, module: Module, section: Section, names: Container[str]) -> bool:
    """Whether a class of ``section`` may have an ancestor that bears one of ``names``; what cannot be told may."""
    if section.kind != "class":
        return section.has_classes
    waiting = [(module, base) for base in section.bases]
    seen: set[tuple[str, str]] = set()
    may = section.has_classes
    while waiting and not may:
        home, base = waiting.pop()
        if (home.path, base) not in seen:
            seen.add((home.path, base))
            above = _above(modules, home, base, names)
            may = above is None or len(seen) > MOST_STEPS
            waiting += above or ()
    return may


def _above(
    modules: Modules, module: Module, name: str, names: Container[str]
) -> list[tuple[Module, str]] | None:
    """Where to go on from a base, or a name that is imported: nowhere, for a class from outside of another name.

    ``None`` where it is, or may be, one of ``names``.
    """
    first, _, rest = name.partition(".")
    if (rest.rpartition(".")[2] or first) in names or first == "?" or module.outline.is_whole:
        return None
    if rest:
        return None if first in module.scope.bindings else []
    out: list[tuple[Module, str]] = []
    is_bound = False
    for section in module.outline.sections:
        if (
            section.owner is None
            and section.kind != "imports"
            and first in section.binds | section.binds_globally
        ):
            if section.kind != "class" or section.has_classes:
                return None
            is_bound = True
            out += ((module, base) for base in section.bases)
    for imported in module.outline.imports:
        if imported.bound == first:
            if not imported.name or imported.name in names:
                return None
            is_bound = True
            path = modules.find_module(module.path, imported.module)
            other = modules.module_at(path) if path is not None and path != module.path else None
            if other is not None:
                out.append((other, imported.name))
    return None if module.outline.stars and not is_bound else out
