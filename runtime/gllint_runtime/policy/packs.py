"""The names of the packs, which add units to the allowlist; ``unit_table.txt`` says which."""

from __future__ import annotations

# A unit that several have is advised from the first.
PACKS = (
    *("counts", "time", "data", "rates", "electrical", "si", "geo", "currencies"),
    *("us", "health", "materials", "chemistry", "physics"),
)
