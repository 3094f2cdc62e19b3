"""The kinds of number, by name."""

from __future__ import annotations

from typing import Literal

Kind = Literal["measure", "time", "identifier", "index", "count", "share", "money"]

KINDS: tuple[Kind, ...] = ("measure", "time", "identifier", "index", "count", "share", "money")
"""All kinds; where several would still do, the first of them counts."""

QUANTITY_SHAPES = ("fhir", "schema.org", "money", "open-mhealth")
"""The shapes of Quantities beside our own that a project may list."""
