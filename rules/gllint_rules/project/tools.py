"""The tools of a project, and what is known of a value because it is one."""

from __future__ import annotations

from collections.abc import Callable

from gllint_rules.inference.evaluator import Evaluator
from gllint_rules.inference.protocol import Modules
from gllint_rules.inference.values import (
    ClassOf,
    Frame,
    ListOf,
    Number,
    Record,
    Text,
    Value,
    held_in,
    options,
)
from gllint_rules.project.callees import Callees
from gllint_rules.project.derivation import Derivation
from gllint_rules.project.forms import Forms
from gllint_rules.project.handed import Taken
from gllint_rules.project.parameters import declared_by_schema
from gllint_rules.project.tool import Tool
from gllint_rules.reading.facts import Call, Expr, Function, Module, Param, Scope
from gllint_rules.words.names import TOOL_REGISTRY_NAMES, Names
from gllint_rules.words.table import Place


class Tools:
    """The tools of a project, module by module, and what is known of a value because it is one.

    The evaluator asks here while a tool is looked for, and a tool is looked for with the evaluator: it is made here.
    ``talks`` says whether the project imports a framework or a model's SDK at all; ``taken`` by what of the project
    other modules hand functions over; ``packages`` as in the settings.
    """

    def __init__(
        self,
        modules: Modules,
        names: Names,
        talks: Callable[[], bool],
        taken: Callable[[], frozenset[Taken]],
        packages: tuple[str, ...],
    ) -> None:
        self.names = names
        self._taken = taken
        self.evaluator = Evaluator(modules, self, packages)
        self.callees = Callees(self.evaluator, names.table, talks)
        self.forms = Forms(self.callees, Derivation(modules, names.table.classes))
        self._tools: dict[str, list[Tool]] = {}
        self._through: dict[str, tuple[frozenset[Taken], list[Tool]]] = {}
        self._schemas: dict[Scope, tuple[Expr, Frame]] = {}
        self._without_schema: set[Scope] = set()

    def of(self, module: Module) -> list[Tool]:
        """The tools that ``module`` defines, or hands over through others."""
        own, taken = self.own(module), self._taken()
        if not taken:
            return own
        before, more = self._through.get(module.path, (None, []))
        if before is not taken:
            more = list(self.forms.through(module, taken, own))
            self._through[module.path] = taken, more
        return [*own, *more] if more else own

    def own(self, module: Module) -> list[Tool]:
        """The tools that ``module`` defines, or hands over itself."""
        found = self._tools.get(module.path)
        if found is None:
            self._tools[module.path] = []
            found = list(self.forms.of(module))
            self._keep(module.path, found)
        return found

    def inherit(self, old: Tools, paths: Callable[[str], bool]) -> None:
        """Take over the tools that ``old`` found in the modules at ``paths``."""
        if old.callees.talks() == self.callees.talks():
            for path, tools in old._tools.items():
                if paths(path):
                    self._keep(path, tools)
                    self.forms.taken[path] = old.forms.taken.get(path, set())

    def _keep(self, path: str, tools: list[Tool]) -> None:
        for tool in tools:
            self.forms.know(tool)
            if tool.args_schema is not None:
                for callable in tool.callables:
                    frame = Frame(tool.module, tool.scope)
                    self._schemas[callable.function.scope] = (tool.args_schema, frame)
                    if callable.function.scope in self._without_schema:
                        self.evaluator.forget()  # it was asked about before the tool was known
                    if callable.module.path != path:
                        self.evaluator.modules.tell(path, callable.module.path)
        self._tools[path] = tools

    def is_tool_class(self, of: ClassOf) -> bool:
        """Whether the instances of a class are tools."""
        return bool(self.forms.methods(of))

    def payload(self, origin: str) -> tuple[Place, ...] | None:
        """The places of what the model sees of an envelope, ``None`` where the class is none."""
        return self.names.table.payload(origin)

    def decorated_tool(self, module: Module, function: Function) -> Tool | None:
        """T3: the tool that the decorators of a function make of it."""
        return self.forms.decorated(module, function)

    def made_tool(self, module: Module, call: Call, scope: Scope) -> Tool | None:
        """The tool object that ``call`` makes (T1, T4, T7), if it makes one."""
        return self.forms.made(call, Frame(module, scope))

    def schema_of_parameter(self, scope: Scope, param: Param) -> Value | None:
        """What the tool's own ``args_schema`` says of a parameter of its callable."""
        found = self._schemas.get(scope)
        if found is None:
            self._without_schema.add(scope)
        return declared_by_schema(self.evaluator, *found, param) if found is not None else None


def assigns_registry(evaluator: Evaluator, module: Module) -> bool:
    """Whether ``module`` assigns a ``TOOL_REGISTRY`` that may hold tools, not merely descriptions of them."""
    frame = Frame(module, module.scope)
    return any(
        binding.value is None or _may_hold_tools(evaluator.eval(binding.value, frame))
        for name in TOOL_REGISTRY_NAMES
        for binding in module.scope.bindings.get(name, ())
        if binding.kind in ("assign", "annotated")
    )


def _may_hold_tools(value: Value) -> bool:
    if not isinstance(value, Record) or value.open or not value.entries:
        return True
    held = (option for _, entry in held_in(value) for option in options(entry.value))
    return any(not isinstance(option, Record | ListOf | Text | Number) for option in held)
