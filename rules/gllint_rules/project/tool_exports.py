"""The names by which other files may use the tools of a project, and the files that do."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, TypeAlias

from gllint_rules.inference.values import ClassOf, ModuleOf, ToolValue, options
from gllint_rules.project.project import registrars
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Module
from gllint_rules.reading.outline import SECTION_BITS
from gllint_rules.tools.registrars import DESCRIPTIONS, Registrar
from gllint_rules.tools.tools import assigns_registry
from gllint_rules.words.framework_table import GENERAL
from gllint_rules.words.names import TOOL_REGISTRY_CLASSES, TOOL_REGISTRY_NAMES
from gllint_rules.words.needles import IN_SMALL_PROJECT, Needles

if TYPE_CHECKING:
    from gllint_rules.project.project import Project

# The numbers of the first and the last section of a class, and the names of it and of what it makes.
_Methods: TypeAlias = tuple[int, int, frozenset[str]]
TOOL_MAKERS = frozenset(
    {"ToolRegistry", "ToolRuntime", "ToolDef", "FunctionTool", "ToolAction", "dispatch_tool"}
)


def names_of_tools(project: Project) -> Needles:
    """Return the names by which other files may use the tools of the project."""
    classes = tool_classes(project)
    made_by = classes | TOOL_REGISTRY_CLASSES
    names = classes.union(*project.answers_by_words(_names_in, made_by, None))
    registered = project.once(registrars)
    uses: set[tuple[str, ...]] = set()
    for registrar in registered:
        if registrar.kind == "described":
            # A file that writes such a name out may call its tool by it; one that defines it, look it up by a name.
            uses.update((form.format(registrar.used_as),) for form in ('"{}"', "'{}'"))
            uses.add((IN_SMALL_PROJECT, f"def {registrar.used_as}("))
    handing = [r for r in registered if r.kind not in ("described", "tested") and r.framework != GENERAL]
    methods = project.parts(_methods_in, None, sorted({registrar.path for registrar in handing}))
    for registrar in handing:
        # What is handed over to a callee that no framework knows bears names like `chat`, which too many files use.
        mark = (IN_SMALL_PROJECT,) if registrar.framework == DESCRIPTIONS else ()
        uses.update((*mark, *pair) for pair in _names_of(registrar, methods[registrar.path]))
    return frozenset(
        tuple(name.encode("utf-8", "surrogateescape") for name in needle)
        for needle in (*((name,) for name in names), *uses)
    )


def _names_of(registrar: Registrar, classes: Iterable[_Methods]) -> Iterator[tuple[str, str]]:
    """Yield pairs of names by which another file may use a registrar: one to import it, one to call it."""
    yield registrar.used_as, registrar.used_as
    yield registrar.path.removesuffix(".py").removesuffix("/__init__").rpartition("/")[2], registrar.used_as
    number = registrar.at >> SECTION_BITS
    for first, last, names in classes:
        if first <= number <= last:
            yield from ((name, registrar.used_as) for name in sorted(names))


def _methods_in(project: Project, module: Module, argument: None) -> tuple[_Methods, ...]:
    """Return, for each class of a module, its first and last section, and the names of it and of its instances."""
    classes = [section for section in module.outline.sections if section.kind == "class"]
    return tuple(
        (
            section.number,
            section.number + len(section.holes),
            frozenset({section.name, *_named(module, frozenset({section.name}))}),
        )
        for section in classes
    )


def _named(
    module: Module, makers: frozenset[str], places: Collection[int] = frozenset[int]()
) -> Iterator[str]:
    """Yield the names that a module gives to the results of calls of ``makers``, and of the calls at ``places``."""
    sections = {at >> SECTION_BITS for at in places}
    for part in module.sections(lambda s: s.number in sections or not makers.isdisjoint(s.calls)):
        for name, bindings in part.bound.items():
            for binding in bindings:
                value = binding.value
                if isinstance(value, facts.Call) and (
                    value.at in places or facts.last_name(value.func) in makers
                ):
                    yield name


def tool_classes(project: Project) -> frozenset[str]:
    """Return the names of the classes of the project's tools."""
    return frozenset(name for part in project.answers(_classes_in, None) for name in part)


def _classes_in(project: Project, module: Module, argument: None) -> frozenset[str]:
    return frozenset(tool.cls.cls.name for tool in project.tools.own(module) if tool.cls is not None)


def _names_in(project: Project, module: Module, argument: tuple[frozenset[str], None]) -> frozenset[str]:
    """Return the names by which other files may use the tools of one module, and instances of the given classes."""
    makers, _ = argument
    tools = project.tools.own(module)
    names: set[str] = set()
    if tools:
        names.add(module.path.removesuffix(".py").removesuffix("/__init__").rpartition("/")[2])
    for tool in tools:
        if tool.form == "T3" and tool.callable is not None:
            names.add(getattr(tool.callable.function, "name", ""))
    places = {at for tool in tools if tool.call is not None for at in (tool.call.at, tool.at)}
    names.update(_named(module, makers, places))
    if assigns_registry(project.evaluator, module):
        names.update(TOOL_REGISTRY_NAMES)
    return frozenset(names)


def imports_tools(project: Project, module: Module) -> bool:
    """Return whether ``module`` imports a tool, a tool class, or a function or class that makes or runs tools."""
    names = project.once(names_of_tools)
    for imported in module.outline.imports:
        name = imported.name or imported.module.rpartition(".")[2]
        runs_tools = name in project.names.dispatch_functions or name in project.names.dispatch_classes
        if imported.name and (project.names.is_tool_class(name) or name in TOOL_MAKERS or runs_tools):
            return True
        if (name.encode(),) in names:
            for option in options(project.evaluator.imported(module, imported.module, imported.name)):
                if isinstance(option, ToolValue) or (
                    isinstance(option, ClassOf) and project.tools.is_tool_class(option)
                ):
                    return True
                if isinstance(option, ModuleOf) and project.tools.of(option.module):
                    return True
    return False
