"""The questions of rules about all modules of a project together, with plain values as answers.

Each is asked module by module (:meth:`~gllint_rules.project.project.Project.answers`), so that the answers of other
modules stay valid after an edit. A cache compares two answers to see whether a finding is still valid.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from gllint_rules.project.candidates import names_with_function
from gllint_rules.project.categories import uses_categories
from gllint_rules.project.project import registrars, subclasses
from gllint_rules.project.tool_exports import names_of_tools
from gllint_rules.project.tool_names import all_tools_have_names, names_registries, tool_names
from gllint_rules.reading.facts import Module, methods
from gllint_rules.tools.tools import assigns_registry
from gllint_rules.words.framework_table import CONFIGURED

if TYPE_CHECKING:
    from gllint_rules.project.project import Project


def registries(project: Project) -> tuple[str, ...]:
    """Return the paths of the modules that assign a registry that may contain tools."""
    return tuple(path for path in project.answers(_registry_in, None) if path)


def dispatchers(project: Project) -> frozenset[str]:
    """Return the names of the dispatchers (functions and classes) that the project defines or imports."""
    return frozenset(name for names, _ in project.answers(_dispatchers_in, None) for name in names)


def has_dispatcher(project: Project) -> bool:
    """Return whether the project defines or imports a dispatcher, or a class that derives from one."""
    return any(names or derives for names, derives in project.answers(_dispatchers_in, None))


QUESTIONS: Mapping[str, Callable[[Project], Any]] = {
    question.__name__: question
    for question in (
        all_tools_have_names, dispatchers, has_dispatcher, names_of_tools, names_registries, names_with_function,
        registrars, registries, subclasses, tool_names, uses_categories,
    )
}  # fmt: skip


def is_plain(question: Callable[[Project], Any]) -> bool:
    """Return whether a question is one of these."""
    return QUESTIONS.get(question.__name__) is question


def _registry_in(project: Project, module: Module, argument: None) -> str:
    return module.path if assigns_registry(project.evaluator, module) else ""


_RUNS = re.compile(r"(?:^|_)a?(?:call|dispatch|execute|handle|invoke|run|use)(?:_|$)")
MOST_HOPS = 5  # imports that lead to each other


def _dispatchers_in(project: Project, module: Module, argument: None) -> tuple[frozenset[str], bool]:
    """Return the dispatchers that a module binds, and whether a class of it derives from one."""
    names = project.names.dispatch_functions | project.names.dispatch_classes
    configured = project.names.table.dispatchers(frozenset({CONFIGURED}))
    return (
        frozenset(
            name
            for name in names
            if any(module.binders(name)) and (name in configured or _lets_through(project, module, name))
        ),
        any(not names.isdisjoint(section.bases) for section in module.outline.sections),
    )


def _lets_through(project: Project, module: Module, name: str, hops: int = MOST_HOPS) -> bool:
    """Return whether calls can go through the class ``name``.

    A registry that only stores tools has no method for that.
    """
    for section in module.binders(name):
        if section.kind == "class":
            return any(_RUNS.search(method.name) for method in methods(module, section))
    homes = []
    for imported in module.outline.imports:
        if imported.bound == name and imported.name and hops:
            path = project.imports.find_module(module.path, imported.module)
            home = project.imports.module_at(path) if path is not None else None
            homes.append((home, imported.name))
    return not homes or any(
        home is None or _lets_through(project, home, original, hops - 1) for home, original in homes
    )
