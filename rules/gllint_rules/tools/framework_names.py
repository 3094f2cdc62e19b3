"""Who is called: the names by which the framework table knows a callee, a decorator or a receiver."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING

from msgspec import Struct, field

from gllint_rules.inference import classes
from gllint_rules.inference.values import (
    ClassOf,
    External,
    ExternalInstance,
    Frame,
    FunctionOf,
    Method,
    ModuleOf,
    Value,
    class_of,
    options,
)
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Expr, Function, Module, Scope
from gllint_rules.words.framework_table import ANY, Callee, Framework, Kind, Table, TableEntry

if TYPE_CHECKING:
    from gllint_rules.inference.protocol import Evaluator

_MOST_NAMES = 8  # that one thing is given, one after the other


class Callees(Struct, eq=False):
    """Looks callees up in the framework table.

    ``talks`` says whether the project imports a framework or a model's SDK at all.
    """

    evaluator: Evaluator
    table: Table
    talks: Callable[[], bool]
    _imported: dict[str, frozenset[str]] = field(default_factory=dict)

    def forget(self, changed: Collection[str]) -> None:
        """Forget what the modules at ``changed`` import."""
        for path in changed:
            self._imported.pop(path, None)

    def entry(self, kind: Kind, func: Expr, frame: Frame, called: bool = True) -> TableEntry | None:
        """Find the row of the table for ``func`` under ``kind``; ``called`` is false for a decorator without a call."""
        rows = self.imported(frame.module)
        imported = [*self._by_imports(func, frame)]
        for callee in imported:
            entry = self._active(self.table.find(kind, callee, rows, called), frame.module)
            if entry is not None and (kind != "keywords" or _is_named(entry)):
                return entry
        # A class of the project's own that bears a framework's name by chance takes tools as any does.
        for callee in self.of(func, frame) if kind == "keywords" or not imported else ():
            entry = self._active(self.table.find(kind, callee, rows, called), frame.module)
            if entry is not None:
                return entry
        return None

    def _active(self, entry: TableEntry | None, module: Module) -> TableEntry | None:
        """Return the entry, where its row counts in ``module``."""
        wanted = entry.framework.only_with if entry is not None else ()
        if not wanted or any(
            (value := call.keyword(*wanted)) is not None
            and not (isinstance(value, facts.Const) and value.value is False)
            for call, _ in module.calls_where(lambda section: not section.keywords.isdisjoint(wanted))
        ):
            return entry
        return None

    def is_no_tool(self, keyword: str, func: Expr, frame: Frame) -> bool:
        """Return whether what a call of ``func`` hands over as ``keyword`` is no tool, whatever else is
        known of it.
        """
        return any(
            self.table.is_no_tool(keyword, callee, self.imported(frame.module))
            for callee in self.of(func, frame)
        )

    def imported(self, module: Module) -> frozenset[str]:
        """Return the names of the rows whose framework ``module`` imports."""
        names = self._imported.get(module.path)
        if names is None:
            names = self._imported[module.path] = self.table.imported(module.outline.modules())
        return names

    def of(self, func: Expr, frame: Frame) -> Iterator[Callee]:
        """Yield the names that ``func`` may have; where an origin is known, that comes first."""
        talks = self.talks()
        inner = func.base if isinstance(func, facts.Sub) else func
        outside_names = [*self._from_outside(inner, frame)]
        for origin, is_method, is_of_class in outside_names:
            yield Callee(origin, True, is_method, talks, is_of_class)
        own, method = self._own_path(inner, frame)
        if not outside_names or (own and self.table.has_own_rows):
            written = real_name(frame.module, inner) if isinstance(inner, facts.Name) else facts.dotted(func)
            yield Callee(own or written or facts.last_name(func), False, method, talks)

    def _from_outside(self, func: Expr, frame: Frame) -> Iterator[tuple[str, bool, bool]]:
        """Return the names outside the project that ``func`` may be; whether it is a method, and of a class itself."""
        match func:
            case facts.Name():
                for value in options(self.evaluator.eval(func, frame)):
                    yield from self._origins(value)
            case facts.Attr(base=facts.Call(func=facts.Name(id="super")), name=name):
                cls = frame.scope.enclosing_class()
                for origin in self.outside(ClassOf(frame.module, cls)) if cls is not None else ():
                    yield _member(origin, name)
            case facts.Attr(base=base, name=name):
                for value in options(self.evaluator.eval(base, frame)):
                    match value:
                        case External(name=prefix):
                            is_class = prefix.rpartition(".")[2][:1].isupper()
                            yield f"{prefix}.{name}", is_class, is_class
                        case ModuleOf():
                            for option in options(self.evaluator.eval(func, frame)):
                                yield from self._origins(option)
                        case _:
                            yield from (_member(origin, name) for origin, _, _ in self._origins(value))
            case _:
                pass

    def _own_path(self, func: Expr, frame: Frame) -> tuple[str, bool]:
        """Return the dotted name of what ``func`` is in the project, empty if that is not known; whether it is a
        method.
        """
        match func:
            case facts.Attr(base=base, name=name):
                values = options(self.evaluator.eval(base, frame))
                if any(isinstance(value, ModuleOf) for value in values):
                    values = options(self.evaluator.eval(func, frame))
                    return next(filter(None, map(_path, values)), ""), False
                path = next(filter(None, map(_path, values)), "")
                return path and f"{path}.{name}", True
            case facts.Name():
                return next(filter(None, map(_path, options(self.evaluator.eval(func, frame)))), ""), False
            case _:
                return "", False

    def _by_imports(self, func: Expr, frame: Frame) -> Iterator[Callee]:
        """Yield a framework's names of ``func`` where the project defines it, as the module imports it or its class.

        The sources of a framework lie next to its examples, which import it as everybody does.
        """
        match func:
            case facts.Name(id=name):
                for origin in self._imported_as(frame.module, name, self.evaluator.eval(func, frame)):
                    yield Callee(origin, True, False, self.talks())
            case facts.Attr(base=base, name=name):
                value = self.evaluator.eval(base, frame)
                is_class = all(isinstance(option, ClassOf) for option in options(value))
                for origin in self._imported_as(frame.module, None, value):
                    yield Callee(f"{origin}.{name}", True, True, self.talks(), is_class)
            case _:
                pass

    def _imported_as(self, module: Module, bound: str | None, value: Value) -> Iterator[str]:
        """Yield a framework's names of what the project defines, as ``module`` imports it; ``bound`` to a name, or to
        any.
        """
        defined = {path.rpartition(".")[2] for path in map(_path, options(value)) if path}
        for imported in module.outline.imports if defined else ():
            origin = f"{imported.module}.{imported.name}"
            if imported.name in defined and bound in (None, imported.bound) and self.table.owner(origin):
                yield origin

    def _origins(self, value: Value) -> Iterator[tuple[str, bool, bool]]:
        """Yield what :meth:`_from_outside` does, for the value of a callee or receiver."""
        match value:
            case External(name=name):
                yield name, False, False
            case Method(of=ExternalInstance(name=owner), name=name):
                yield f"{owner}.{name}", True, False
            case _:
                for origin in self.outside(value) if isinstance(value, ClassOf) else self.origins(value):
                    if isinstance(value, ExternalInstance) or self.table.owner(origin) is not None:
                        yield origin, False, False

    def origins(self, value: Value) -> list[str]:
        """Return the dotted names outside the project that an object is an instance of."""
        if isinstance(value, ExternalInstance):
            return [value.name]
        of = class_of(value)
        return self.outside(of) if of is not None else []

    def framework(self, of: ClassOf) -> Framework | None:
        """Return the row of the class from outside that makes the subclass ``of`` a tool."""
        outside = (origin for origin in self.outside(of) if self.table.methods(origin))
        return next(map(self.table.owner, outside), None)

    def outside(self, of: ClassOf) -> list[str]:
        """Return the dotted names of those ancestors of a class that come from outside the project."""
        ancestors = classes.ancestors(self.evaluator, of)
        return [ancestor.name for ancestor in ancestors if isinstance(ancestor, External)]


def bound_function(module: Module, function: Function) -> FunctionOf:
    """Return a function as it is defined: one of a class is bound to it."""
    of = ClassOf(module, function.owner) if function.owner is not None else None
    return FunctionOf(module, function, of, of is not None)


def _path(value: Value) -> str:
    """Return the dotted name of a function or class of the project, or of that of an instance, by where
    its file lies.
    """
    if isinstance(value, FunctionOf) and isinstance(value.function, Function):
        return dotted_path(value.module, value.function.name)
    of = value if isinstance(value, ClassOf) else class_of(value)
    return dotted_path(of.module, of.cls.name) if of is not None else ""


def _member(origin: str, name: str) -> tuple[str, bool, bool]:
    """Return a method of a class from outside; its ``__init__`` is called by the name of the class."""
    return (origin, False, False) if name == "__init__" else (f"{origin}.{name}", True, False)


def _is_named(entry: TableEntry) -> bool:
    """Return whether a framework takes plain functions by the name of what takes them, not as any callee does."""
    return entry.framework.plain_functions and entry.name.last != ANY


def dotted_path(module: Module, name: str) -> str:
    """Return a dotted name from the root of the file system; its leading dot sets it apart from outside names."""
    stem = module.path.removesuffix(".py").removesuffix("/__init__")
    return f".{stem.lstrip('/').replace('.', '_').replace('/', '.')}.{name}"


def alias_target(expr: Expr, frame: Frame) -> tuple[Expr, Frame]:
    """Return what a name refers to that is assigned once: the name of something, or a call of it with keywords alone.

    With it where that is assigned. No function or class is read to find out. ``partial(f, …)`` is ``f``.
    """
    scope = frame.scope
    for _ in range(_MOST_NAMES):
        if not isinstance(expr, facts.Name):
            break
        home: Scope | None = scope
        while home is not None and home.kind != "module":
            if expr.id in home.bindings and (home.kind != "class" or home is scope):
                break
            home = home.parent
        if home is None or (home.kind == "module" and expr.id not in frame.module.assigned):
            break
        match home.bindings.get(expr.id):
            case [facts.Binding(kind="assign", value=facts.Call(func=func, args=(maker,)))] if (
                facts.last_name(func) == "partial"
            ):
                expr = maker
            case [
                facts.Binding(kind="assign", value=facts.Name() | facts.Attr() | facts.Call(args=()) as value)
            ]:
                expr = value
            case _:
                break
        scope = home
    return expr, frame if scope is frame.scope else Frame(frame.module, scope)


def origins(evaluator: Evaluator, expr: Expr, frame: Frame) -> Iterator[tuple[Module, str]]:
    """Follow a name through re-exports: yield each module that its imports lead to, with its name there."""
    module = frame.module
    match expr:
        case facts.Name(id=name):
            pass
        case facts.Attr(base=base, name=name):
            base_value = evaluator.eval(base, frame)
            if not isinstance(base_value, ModuleOf):
                return
            module = base_value.module
            yield module, name
        case _:
            return
    ways = [(module, name)]
    for _ in range(_MOST_NAMES):
        if not ways:
            return
        module, name = ways.pop()
        bound = [(b.module, b.name) for b in module.scope.bindings.get(name, ()) if b.kind == "import"]
        led = [
            (source, source_name)
            for dotted, source_name in bound or [(star, name) for star in module.scope.stars]
            if source_name and (source := evaluator.module_named(dotted, module)) is not None
        ]
        yield from led
        ways += led


def real_name(module: Module, expr: Expr) -> str:
    """Return the last name of ``expr``, as it was before an import gave it another one; of several the first."""
    return real_names(module, expr)[0]


def real_names(module: Module, expr: Expr) -> tuple[str, ...]:
    """Return the last names of ``expr``, as they were before imports gave it another one: a guarded import has two."""
    name = facts.last_name(expr)
    return module.imported_names.get(name, (name,)) if isinstance(expr, facts.Name) else (name,)
