"""Functions as values, the frame that an expression is evaluated in, and the outcome of a body."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias

from msgspec import Struct, field

from gllint_rules.inference.values.base import Site, Value
from gllint_rules.inference.values.collections import DictOf, Entry
from gllint_rules.inference.values.references import ClassOf, External, Method, ModuleOf
from gllint_rules.tuples import NamedTuple

if TYPE_CHECKING:
    from gllint_rules.reading.facts import Class, Expr, Function, Lambda, Module, Param, Scope


class Own(NamedTuple):
    """The attribute of ``self`` of that name, as a variable."""

    name: str


Variable: TypeAlias = str | Own
Env: TypeAlias = dict[Variable, Value]


class Frame(Struct, eq=False):
    """The place where an expression is evaluated.

    ``env`` has the flow's variables; without it the reading is static.
    """

    module: Module
    scope: Scope
    env: Env | None = None
    bound: ClassOf | None = None  # what ``self`` is

    @property
    def cls(self) -> Class | None:
        return self.bound.cls if self.bound is not None else None

    def site(self, expr: Expr) -> Site:
        """Return the place of ``expr``, which is evaluated here."""
        return Site(self.module, expr.at)


class Flow(Struct, eq=False):
    """The outcome of a function: ``returns`` and ``yields`` as expression and value, in reading order.

    ``parameters`` are the values of its parameters when it began.
    """

    returns: list[tuple[Expr, Value]] = field(default_factory=list)
    yields: list[tuple[Expr, Value]] = field(default_factory=list)
    parameters: tuple[Value, ...] = ()
    falls_through: bool = False
    open: bool = False  # a placeholder for the outcome while that is being computed
    result: Value | None = None  # all returns together, filled on demand


class Arguments(Struct, frozen=True, eq=False):
    """The arguments of a call: by place (all of them if ``is_complete``), and ``named``."""

    places: tuple[Entry, ...]
    is_complete: bool
    named: DictOf


class FunctionOf(Value, frozen=True):
    """A function, method (with the class it is bound to) or lambda of the project."""

    module: Module
    function: Function | Lambda
    bound: ClassOf | None = None
    first: bool = False  # whether the first parameter is already given
    # What was made, where a method is called on something that is seen to be made.
    receiver: Value | None = None
    # What `functools.partial` gives to it before its calls.
    leading: Arguments | None = None

    @property
    def identity(self) -> object:
        if self.receiver is not None:
            return self
        return self.function, self.bound.cls if self.bound is not None else None, self.first

    @property
    def params(self) -> tuple[Param, ...]:
        """The parameters that a call gives."""
        return self.function.params[1 if self.first else 0 :]

    @property
    def home(self) -> Frame:
        """The frame in which the annotations and defaults of the function are evaluated."""
        return Frame(self.module, self.function.scope.parent or self.function.scope, None, self.bound)


class ToolData(Protocol):
    """The part of a tool that the inference reads; :class:`~gllint_rules.tools.tool.Tool` has all of it."""

    @property
    def name(self) -> str | None: ...

    @property
    def called(self) -> FunctionOf | None:
        """The function that a call of the tool object is a call of, as it is behind a decorator."""


class ToolValue(Value, frozen=True):
    """A tool object: what a T1 or T4 call makes, or a T3 decorator leaves behind."""

    tool: ToolData


def is_reference(value: Value) -> bool:
    """Return whether it refers to a function or a class of the project, whose code is known."""
    return isinstance(value, (FunctionOf, ClassOf, ToolValue, Method, External, ModuleOf))
