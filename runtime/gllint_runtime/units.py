"""The names that GreenLang's module of this name has: its users change the package name only."""

from gllint_runtime.policy.units import UnitRegistry

__all__ = ["UnitRegistry"]
