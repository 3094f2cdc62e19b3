"""The names that GreenLang's module of this name has: its users change the package name only."""

from gllint_runtime.policy.schemas import ASSISTANT_STEP_SCHEMA, QUANTITY_SCHEMA, Claim, Quantity

__all__ = ["ASSISTANT_STEP_SCHEMA", "QUANTITY_SCHEMA", "Claim", "Quantity"]
