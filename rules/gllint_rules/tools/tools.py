"""The tools of a project, and what is known of a value because it is one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

from gllint_rules.inference.classes import ancestors
from gllint_rules.inference.evaluator import Evaluator
from gllint_rules.inference.protocol import Modules
from gllint_rules.inference.values import (
    ClassOf,
    Container,
    Frame,
    FunctionOf,
    Number,
    Record,
    Text,
    Value,
    options,
)
from gllint_rules.reading.facts import Call, Class, Expr, Function, Module, Param, Scope
from gllint_rules.reading.reads import NOTHING, Read, Reads, Spoilt, noted
from gllint_rules.tools.discovery import Forms
from gllint_rules.tools.framework_names import Callees
from gllint_rules.tools.parameters import declared_by_schema
from gllint_rules.tools.registrars import Registrar
from gllint_rules.tools.subclasses import Derivation
from gllint_rules.tools.tool import Tool
from gllint_rules.tuples import NamedTuple
from gllint_rules.words.framework_table import Place
from gllint_rules.words.names import TOOL_REGISTRY_NAMES, Names

if TYPE_CHECKING:
    from gllint_rules.inference.following import FollowingEvaluator


MOST_OVERRIDES = 64


class Subclass(NamedTuple):
    """A class of the project by the last name of one of its bases."""

    base: str
    path: str
    name: str


class Tools:
    """The tools of a project, module by module, and what is known of a value because it is one.

    The evaluator asks here while a tool is looked for, and a tool is looked for with the evaluator: it is made here.
    ``talks`` says whether the project imports a framework or a model's SDK at all; ``registrars`` by what of the
    project other modules hand functions over; ``packages`` as in the settings; ``subclasses`` the classes of the
    project that have a base.
    """

    def __init__(
        self,
        modules: Modules,
        names: Names,
        talks: Callable[[], bool],
        registrars: Callable[[], frozenset[Registrar]],
        packages: tuple[str, ...],
        reads: Reads | None = None,
        subclasses: Callable[[], frozenset[Subclass]] = frozenset,
    ) -> None:
        self.names = names
        self._subclasses = subclasses
        self._by_base: tuple[frozenset[Subclass], Mapping[str, list[Subclass]]] | None = None
        self._registrars = registrars
        self._reads = reads
        self.following: FollowingEvaluator | None = None  # the evaluator, where edits are followed
        if reads is None:
            self.evaluator = Evaluator(modules, self, packages)
        else:
            from gllint_rules.inference.following import FollowingEvaluator

            self.evaluator = self.following = FollowingEvaluator(modules, self, reads, packages)
        self.callees = Callees(self.evaluator, names.table, talks)
        self.forms = Forms(self.callees, Derivation(modules, names.table.classes))
        self._tools: dict[str, list[Tool]] = {}
        self._read: dict[str, frozenset[Read]] = {}  # to find them, where that is noted
        self._through: dict[str, tuple[frozenset[Registrar], list[Tool], frozenset[Read]]] = {}
        self._schemas: dict[Scope, tuple[Expr, Frame]] = {}
        self._without_schema: set[Scope] = set()  # asked about in vain, where no reads are noted
        self._module_schemas: dict[
            str, dict[Scope, tuple[Expr, Frame]]
        ] = {}  # those of the tools of each module

    def of(self, module: Module) -> list[Tool]:
        """Return the tools that ``module`` defines, or hands over through others."""
        own, registrars = self.own(module), self._registrars()
        if not registrars:
            return own
        old_registrars, registered_tools, read = self._through.get(module.path, (None, [], NOTHING))
        if old_registrars is not registrars:
            registered_tools, read = noted(
                self._reads, lambda: list(self.forms.through(module, registrars, own))
            )
            self._through[module.path] = registrars, registered_tools, read
        elif self._reads is not None:
            self._reads.now |= read
        return [*own, *registered_tools] if registered_tools else own

    def own(self, module: Module) -> list[Tool]:
        """Return the tools that ``module`` defines, or hands over itself."""
        path = module.path
        if path not in self._tools:
            self._tools[path] = []
            tools, read = noted(self._reads, lambda: list(self.forms.of(module)))
            if self._reads is not None:
                self._read[path] = read
            self._keep(path, tools)
        elif self._reads is not None:
            self._reads.now |= self._read.get(path, NOTHING)
        return self._tools[path]

    def inherit(self, old: Tools, gone: Collection[str]) -> None:
        """Take over what ``old`` knows, until some of it is forgotten; what modules say that are ``gone`` aside."""
        self._tools, self._read = dict(old._tools), dict(old._read)
        self._module_schemas = {
            path: schemas for path, schemas in old._module_schemas.items() if path not in gone
        }
        self._schemas = {
            scope: schema for schemas in self._module_schemas.values() for scope, schema in schemas.items()
        }
        self._without_schema = set(old._without_schema)
        self.forms.inherit(old.forms)

    def forget(self, changed: Collection[str], stale: Collection[str], spoilt: Spoilt) -> None:
        """Forget the tools of the modules that are not what they were, see :func:`forgotten`.

        Their schemas count until they are found again: most likely they are the same.
        """
        for path in forgotten(self._tools, self._read, changed, stale, spoilt):
            del self._tools[path]
            self._read.pop(path, None)
            self.forms.registrars.pop(path, None)
        self._through.clear()
        self.forms.forget(changed)

    def forget_all(self, changed: Collection[str]) -> None:
        """Forget all tools."""
        self._tools.clear()
        self._read.clear()
        self._through.clear()
        self.forms.registrars.clear()
        self.forms.forget(changed)

    def _keep(self, path: str, tools: list[Tool]) -> None:
        """Remember the tools of a module, with the schemas of their arguments."""
        old_schemas, schemas = self._module_schemas.pop(path, {}), dict[Scope, tuple[Expr, Frame]]()
        for tool in tools:
            if self._reads is None:  # else it may be none any more when it is asked for
                self.forms.know(tool)
            if tool.args_schema is not None:
                for callable in tool.callables:
                    schemas[callable.function.scope] = tool.args_schema, Frame(tool.module, tool.scope)
                    if callable.module.path != path:
                        self.evaluator.modules.tell(path, callable.module.path)
        if schemas:
            self._module_schemas[path] = schemas
        self._say(old_schemas, schemas)
        self._tools[path] = tools

    def _say(
        self, old_schemas: dict[Scope, tuple[Expr, Frame]], schemas: dict[Scope, tuple[Expr, Frame]]
    ) -> None:
        """Know other schemas of some functions than ``old_schemas``, if any."""
        another = {
            scope
            for scope in old_schemas.keys() | schemas.keys()
            if scope not in old_schemas
            or scope not in schemas
            or old_schemas[scope][0] is not schemas[scope][0]
        }
        self._schemas |= schemas
        for scope in another - schemas.keys():
            del self._schemas[scope]
            for module_schemas in self._module_schemas.values():
                if scope in module_schemas:
                    self._schemas[scope] = module_schemas[scope]
        if another and self.following is not None:
            self.following.forget_spoilt(Spoilt((), {("schema", scope) for scope in another}))
        elif not self._without_schema.isdisjoint(another):
            self.evaluator.forget()  # it was asked about before the tool was known

    def is_tool_class(self, of: ClassOf) -> bool:
        """Return whether the instances of a class are tools."""
        return bool(self.forms.methods(of))

    def payload(self, origin: str) -> tuple[Place, ...] | None:
        """Return the places of what the model sees of an envelope, ``None`` if the class is none."""
        return self.names.table.payload(origin)

    def _subclasses_by_base(self) -> Mapping[str, list[Subclass]]:
        """Return the classes of the project by the last name of a base, sorted once for as long as they
        are the same.
        """
        subclasses = self._subclasses()
        if self._by_base is None or self._by_base[0] is not subclasses:
            by_base: dict[str, list[Subclass]] = {}
            for subclass in sorted(subclasses):
                by_base.setdefault(subclass.base, []).append(subclass)
            self._by_base = subclasses, by_base
        return self._by_base[1]

    def overrides(self, of: ClassOf, name: str) -> tuple[FunctionOf, ...]:
        """Return the methods ``name`` of the project's classes that derive from ``of``."""
        by_base = self._subclasses_by_base()
        modules, methods = self.evaluator.modules, dict[Function, FunctionOf]()
        names, waiting = {of.cls.name}, [of.cls.name]
        while waiting and len(methods) < MOST_OVERRIDES:
            for subclass in by_base.get(waiting.pop(), ()):
                module = modules.module_at(subclass.path)
                for binding in module.scope.bindings.get(subclass.name, ()) if module is not None else ():
                    if module is None or not isinstance(binding.target, Class):
                        continue
                    derived = ClassOf(module, binding.target)
                    if any(
                        isinstance(a, ClassOf) and a.cls is of.cls for a in ancestors(self.evaluator, derived)
                    ):
                        modules.tell(module.path, of.module.path)
                        method = derived.cls.method(name)
                        if method is not None:
                            methods[method] = FunctionOf(module, method, derived, True)
                        if subclass.name not in names:
                            names.add(subclass.name)
                            waiting.append(subclass.name)
        return tuple(methods.values())

    def decorated_tool(self, module: Module, function: Function) -> Tool | None:
        """T3: the tool that the decorators of a function make of it."""
        return self.forms.decorated(module, function)

    def made_tool(self, module: Module, call: Call, scope: Scope) -> Tool | None:
        """Return the tool object that ``call`` makes (T1, T4, T7), if it makes one."""
        return self.forms.tool_of_call(call, Frame(module, scope))

    def schema_of_parameter(self, scope: Scope, param: Param) -> Value | None:
        """Return what the tool's own ``args_schema`` declares for a parameter of its callable."""
        if self._reads is not None:
            self._reads.now.add(("schema", scope))
        schema = self._schemas.get(scope)
        if schema is None and self._reads is None:
            self._without_schema.add(scope)
        return declared_by_schema(self.evaluator, *schema, param) if schema is not None else None


def forgotten(
    entries: Mapping[str, object],
    read: Mapping[str, frozenset[Read]],
    changed: Collection[str],
    stale: Collection[str],
    spoilt: Spoilt,
) -> set[str]:
    """The paths of ``entries`` whose entry may be wrong now, each what is known of the module at a path.

    Such are those that ``changed``; those of which it was ``spoilt`` what was ``read``; and if that is not known, the
    ``stale`` ones, which lead to one that changed.
    """
    return {
        *(path for path in changed if path in entries),
        *spoilt.among(read),
        *(path for path in stale if path in entries and path not in read),
    }


def assigns_registry(evaluator: Evaluator, module: Module) -> bool:
    """Return whether ``module`` assigns a ``TOOL_REGISTRY`` that may contain tools, not merely
    descriptions of them.
    """
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
    parts = (option for _, entry in value.contents() for option in options(entry.value))
    return any(not isinstance(option, Container | Text | Number) for option in parts)
