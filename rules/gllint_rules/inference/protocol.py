"""What the parts of this room ask of one another, and what they ask of the project.

Each part (annotations, operators, containers, calls …) is a module of functions over an :class:`Evaluator`; the one
that joins them is in :mod:`evaluator`. The project above gives it :class:`Modules` and :class:`Tools`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Protocol, TypeVar

from gllint_rules.inference.values import (
    ClassOf,
    Entry,
    Flow,
    Frame,
    FunctionOf,
    Key,
    Number,
    Site,
    ToolData,
    Value,
)
from gllint_rules.reading.facts import Call, Expr, Function, Module, Param, Scope
from gllint_rules.words.framework_table import Place

_T = TypeVar("_T")


class Modules(Protocol):
    """The modules of the project, as imports name them."""

    def find_module(self, importer: str, dotted: str) -> str | None:
        """Return the file of module ``dotted`` as seen from ``importer``, or ``None`` if it is not in the project."""

    def imports_of(self, path: str) -> frozenset[str]:
        """Return the files of the project that the file at ``path`` imports; none if it is missing."""

    def module_at(self, path: str) -> Module | None:
        """Return the facts of a file; ``None`` if it cannot be read."""

    def submodule(self, package: Module, name: str) -> Module | None:
        """Return the module ``name`` in the folder of ``package``, where that is a package."""

    def tell(self, path: str, of: str) -> None:
        """Note that the module at ``path`` changes something in the one at ``of``."""

    def owns(self, path: str) -> bool:
        """Return whether a file is one of the project's, in which something can be reported."""


class Tools(Protocol):
    """The questions that the inference asks about tools: which values are tools, and what a tool's schema declares."""

    def is_tool_class(self, of: ClassOf) -> bool:
        """Return whether the instances of a class are tools."""

    def decorated_tool(self, module: Module, function: Function) -> ToolData | None:
        """Return the tool that the decorators of a function make of it."""

    def made_tool(self, module: Module, call: Call, scope: Scope) -> ToolData | None:
        """Return the tool object that a call makes."""

    def schema_of_parameter(self, scope: Scope, param: Param) -> Value | None:
        """Return what the schema of a tool declares for a parameter of the function with ``scope``."""

    def overrides(self, of: ClassOf, name: str) -> tuple[FunctionOf, ...]:
        """Return the methods ``name`` of the project's classes that derive from ``of``."""

    def payload(self, origin: str) -> tuple[Place, ...] | None:
        """Return the arguments of an envelope that reach the model; ``None`` if the class is none."""


class Evaluator(Protocol):
    """The values of expressions, names, attributes and functions; remembers, and counts steps and depth."""

    depth: int
    modules: Modules
    tools: Tools

    # --- values ----------------------------------------------------------------------------------------------

    def eval(self, expr: Expr, frame: Frame) -> Value: ...
    def entry(self, expr: Expr, frame: Frame) -> Entry: ...
    def annotation(self, expr: Expr, frame: Frame) -> Value: ...
    def lookup(self, name: str, frame: Frame) -> Value: ...
    def imported(self, importer: Module, dotted: str, name: str) -> Value: ...
    def module_named(self, dotted: str, importer: Module) -> Module | None: ...
    def member(self, of: ClassOf, name: str) -> Value: ...
    def class_member(self, of: ClassOf, name: str) -> Value: ...
    def field(self, of: ClassOf, name: Key) -> Value | None: ...
    def parameter(self, param: Param, frame: Frame) -> Value: ...
    def function_value(self, function: Function, frame: Frame) -> Value: ...
    def number(self, message: str, frame: Frame, at: int, *operands: Value, real: bool = False) -> Number: ...
    def flow(self, callee: FunctionOf) -> Flow: ...

    # --- questions and budgets -------------------------------------------------------------------------------

    def executes(self, key: Hashable) -> bool: ...
    def rounds_of(self, function: object) -> int: ...
    def executed(self, key: Hashable, execute: Callable[[], _T], site: Site | None) -> _T | None: ...
    def outermost(self, answer: Callable[[], _T], instead: _T, site: Site) -> _T: ...
    def ask(
        self, key: Hashable, answer: Callable[[], _T], meanwhile: _T, instead: Callable[[], _T], site: Site
    ) -> _T: ...
    def limit(self, value: Value, site: Site, written: int = 0) -> Value: ...
    def step(self, steps: int = 1) -> None: ...
    def cut(self, site: Site, budget: str) -> None: ...
    def deeper(self) -> None: ...
