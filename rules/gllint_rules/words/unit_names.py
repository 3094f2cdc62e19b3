"""The unit that a name announces, as floor 1 reads it."""

from __future__ import annotations

from gllint_runtime.policy.key_units import announced_dimension, is_scaled, readings_of_name, unit_of_name

__all__ = ["announced_dimension", "is_scaled", "readings_of_name", "unit_of_name"]
