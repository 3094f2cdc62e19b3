"""A tool class is instantiated outside the registry.

## What it does

Reports a tool class that is instantiated outside the registry. The registry consists of the modules in
`registry-modules`, and the module that assigns `TOOL_REGISTRY`. If a project has neither, nothing is reported.
Arguments of `….register(…)`, the tool's own module and test code are exempt.

## Why is this bad?

The dispatcher does not know this instance. Its calls are not validated, approved or recorded, so its numbers have no
source.

## Bad

```python plant/tools.py
from crewai.tools import BaseTool


class MeterTool(BaseTool):
    name: str = "meter"

    def _run(self, meter: str) -> str:
        return read_meter(meter)
```

```python plant/tool_registry.py
from plant.tools import MeterTool

TOOL_REGISTRY = {"meter": MeterTool()}
```

```python plant/agent.py
from plant.tools import MeterTool


def build_agent(make_agent):
    return make_agent(tools=[MeterTool()])
```

## Good

```python plant/tools.py
from crewai.tools import BaseTool


class MeterTool(BaseTool):
    name: str = "meter"

    def _run(self, meter: str) -> str:
        return read_meter(meter)
```

```python plant/tool_registry.py
from plant.tools import MeterTool

TOOL_REGISTRY = {"meter": MeterTool()}
```

```python plant/agent.py
from plant.tool_registry import TOOL_REGISTRY


def build_agent(make_agent):
    return make_agent(tools=[TOOL_REGISTRY["meter"]])
```

## How to fix

Build the tool in the module of the registry, and import it from there.

## Options

`registry-modules` lists the modules that may build tools, by the full dotted name or its last part. `tool-classes`
lists base classes of tools.

## References

The QREW guidelines for tools: "TOOL_REGISTRY" and "CI Checks".
"""

from __future__ import annotations

from collections.abc import Iterator

from gllint_rules.inference.values import ClassOf, Site, options
from gllint_rules.project.context import Context, Pending
from gllint_rules.project.project_questions import registries
from gllint_rules.project.tool_exports import names_of_tools
from gllint_rules.project.tool_names import stores
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Call, Expr, Module, Scope
from gllint_rules.rule import Rule
from gllint_rules.tools.framework_names import real_name
from gllint_rules.tools.tools import assigns_registry
from gllint_rules.words.names import TOOL_REGISTRY_NAMES

HELP = "Create it in the registry's module, and get it from the registry."
AT_HOME = "Create it in `{path}`, and get it here from `{name}` of that module."


def check(context: Context) -> Iterator[Pending]:
    """Yield a finding for each instance of a tool class that is created outside the registry: ``HeatTool()``."""
    if context.is_test or not _is_active(context) or _is_registry_module(context):
        return
    module, names = context.module, context.project.once(names_of_tools)
    registered: set[Expr] | None = None  # computed once, and only if the module creates a tool
    for call, scope in module.calls_where(lambda s: any((name.encode(),) in names for name in s.calls)):
        if (real_name(module, call.func).encode(),) not in names:
            continue
        of = _tool_class(context, call, scope)
        if of is None or of.module is module:
            continue
        if registered is None:
            registered = _registered(module)
        if call not in registered:
            message = f"tool `{of.cls.name}` is created outside the registry"
            yield context.finding("GL302", Site(module, call.at), message, _help(context))


def _help(context: Context) -> str:
    """Return where to create the tool: in the one module with a registry, unless `registry-modules` names others."""
    paths = context.project.once(registries)
    if len(paths) != 1 or context.settings.registry_modules or not paths[0].isprintable() or "`" in paths[0]:
        return HELP
    path = paths[0].removeprefix(f"{context.project.root}/")
    return AT_HOME.format(path=path, name=TOOL_REGISTRY_NAMES[0])


def _is_active(context: Context) -> bool:
    """Return whether the project has a registry."""
    return bool(context.settings.registry_modules) or bool(context.project.once(registries))


def _is_registry_module(context: Context) -> bool:
    """Return whether the module assigns a registry, or the setting ``registry-modules`` names it."""
    dotted = context.module.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return assigns_registry(context.evaluator, context.module) or any(
        f".{dotted}".endswith(f".{name}") for name in context.settings.registry_modules
    )


def _tool_class(context: Context, call: Call, scope: Scope) -> ClassOf | None:
    """Return the tool class of the project that ``call`` instantiates, None if it instantiates none."""
    classes = [o for o in options(context.eval(call.func, scope)) if isinstance(o, ClassOf)]
    return next((of for of in classes if context.project.tools.is_tool_class(of)), None)


def _registered(module: Module) -> set[Expr]:
    """Return the expressions that are passed to ``….register(…)`` or put into ``TOOL_REGISTRY``.

    A name of the same scope counts as what is assigned to it.
    """
    arguments: set[Expr] = set()
    for call, scope in module.calls_of({"register", "update", "setdefault"}):
        if isinstance(call.func, facts.Attr) and _registers(call.func):
            for arg in (*call.args, *(value for _, value in call.keywords)):
                arguments.update(_contents(arg, scope))
    for target, value in stores(module, TOOL_REGISTRY_NAMES):
        if facts.last_name(target.base) in TOOL_REGISTRY_NAMES:
            arguments.add(value)
    return arguments


def _registers(func: facts.Attr) -> bool:
    """Return whether a method registers its arguments: ``….register``, ``TOOL_REGISTRY.update``."""
    return func.name == "register" or (
        func.name in ("update", "setdefault") and facts.last_name(func.base) in TOOL_REGISTRY_NAMES
    )


def _contents(expr: Expr, scope: Scope) -> Iterator[Expr]:
    """Yield ``expr``; for a name also what is assigned to it, for a literal container also its elements."""
    yield expr
    match expr:
        case facts.Name(id=name):
            for binding in scope.bindings.get(name, ()):
                if binding.kind == "assign" and binding.value is not None:
                    yield binding.value
        case facts.Dict(items=items):
            yield from (value for _, value in items)
        case facts.Seq(items=items):
            yield from items
        case _:
            pass


RULE = Rule(
    code="GL302",
    name="tool-built-outside-registry",
    summary="A tool class is instantiated outside the registry",
    documentation=__doc__ or "",
    check=check,
    options=("registry-modules", "tool-classes"),
)
