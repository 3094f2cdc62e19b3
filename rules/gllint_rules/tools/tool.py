"""What a tool is, whichever form makes it one."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from gllint_rules.inference.values import ClassOf, FunctionOf
from gllint_rules.reading.facts import Call, Expr, Module, Scope
from gllint_rules.words.framework_table import Framework

Form: TypeAlias = Literal["T1", "T2", "T3", "T4", "T5", "T6", "T7", "T8"]


class Tool(Struct, frozen=True, eq=False):
    """A callable that is offered to a model, and what the source says about it.

    ``module`` and ``scope`` are where it is offered. ``callables`` is empty where ``fn`` is not a function that we can
    see; ``inherited`` are then those of a class above a tool class that call what it defines. ``call`` registers or
    describes it; a list of several tools is no such call. ``framework`` is the row of the table by which it
    is a tool.
    """

    form: Form
    module: Module
    scope: Scope
    at: int  # the call, or the name of the function or class
    callables: tuple[FunctionOf, ...]
    name: str | None
    framework: Framework | None = None
    call: Call | None = None
    cls: ClassOf | None = None
    args_schema: Expr | None = None
    result_schema: Expr | None = None
    fn: Expr | None = None
    decorates: bool = False  # the tool object replaces the function
    inherited: tuple[FunctionOf, ...] = ()

    @property
    def title(self) -> str:
        """Return how a message names it: "tool `heat`"."""
        return f"tool `{self.name}`" if self.name else "a tool"

    @property
    def callable(self) -> FunctionOf | None:
        return self.callables[0] if self.callables else None

    @property
    def called(self) -> FunctionOf | None:
        """The decorated function, which a call of the tool object is a call of."""
        return self.callable if self.decorates else None
