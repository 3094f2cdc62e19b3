"""What is noted of a body: the units of its expressions, and where a number meets one of another unit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from msgspec import Struct, field

from gllint_rules.inference.measures.meanings import Meaning, Measure, joined

if TYPE_CHECKING:
    from gllint_rules.inference.protocol import Evaluator
    from gllint_rules.inference.values import ClassOf, FunctionOf
    from gllint_rules.reading.facts import Function, Lambda, Module, Param, Scope

Env = dict[str, Meaning]
"""The variables of a body."""


class Meeting(Struct, frozen=True, eq=False):
    """Two numbers that are added, subtracted or compared, and whose units differ; ``at`` is the right one."""

    at: int
    left: Measure
    right: Measure
    op: str


class Argument(Struct, frozen=True, eq=False):
    """A number in one unit, at ``at``, that is given to a parameter, or labelled, in another."""

    at: int
    measure: Measure
    parameter: str
    wanted: Measure


class UnitFlow(Struct, eq=False):
    """The outcome of a body. ``measures`` are of the expressions whose unit is known, ``names`` of its variables."""

    measures: dict[int, Meaning] = field(default_factory=dict)
    meetings: dict[int, Meeting] = field(default_factory=dict)
    arguments: dict[int, Argument] = field(default_factory=dict)
    returns: list[Meaning] = field(default_factory=list)
    callees: list[FunctionOf] = field(default_factory=list)  # functions of the project, once for each call
    names: Env = field(default_factory=dict)
    # Parameters whose number becomes a Quantity's value, and the parameter that says its unit.
    labels: dict[str, str] = field(default_factory=dict)

    @property
    def result(self) -> Meaning:
        """What it returns, whichever way it takes."""
        return joined(self.returns)


class UnitQuestions(Protocol):
    """What a body asks of other bodies."""

    evaluator: Evaluator

    def uses_unit_packages(self, module: Module) -> bool:
        """Whether a module may make units with pint or astropy."""

    def outcome(self, callee: FunctionOf, arguments: Env) -> Meaning:
        """What a function of the project gives, its arguments that name no unit being these."""

    def labels(self, callee: FunctionOf) -> dict[str, str]:
        """The parameters of which a function makes a Quantity: that of the value, and that of its unit."""

    def parameter(self, module: Module, function: Function | Lambda, param: Param) -> Measure | None:
        """In which unit a parameter is taken."""

    def field(self, of: ClassOf, name: str) -> Measure | None:
        """In which unit a field of a class is, by what the class declares."""

    def outer(self, scope: Scope, name: str, module: Module) -> Meaning:
        """What a name holds that a function, or the module, around a body binds."""

    def attribute(self, of: ClassOf, name: str) -> Meaning:
        """What all assignments to ``self.name`` in a class give."""
