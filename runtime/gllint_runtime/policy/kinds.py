"""The kinds of number that are no quantities, by name. :mod:`gllint_runtime.policy.names` reads them from a key."""

from __future__ import annotations

from typing import Literal

Kind = Literal["count", "index", "identifier"]

KINDS: tuple[Kind, ...] = ("count", "index", "identifier")

QUANTITY_SHAPES = ("fhir", "schema.org", "money", "open-mhealth")
"""The other shapes of Quantities that a project may list."""
