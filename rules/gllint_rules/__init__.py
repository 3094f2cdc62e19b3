"""Layer 2: reads source (tree → facts → findings). Importing this package does not import LibCST."""

from gllint_rules.catalogue import RULES
from gllint_rules.finding import (
    Cut,
    Edit,
    Failure,
    Finding,
    Fix,
    Note,
    PlainNumber,
    Span,
    ToolAt,
    ToolSight,
)
from gllint_rules.rule import Rule
from gllint_rules.words.settings import Settings

__all__ = [
    "RULES",
    "Cut",
    "Edit",
    "Failure",
    "Finding",
    "Fix",
    "Note",
    "PlainNumber",
    "Rule",
    "Settings",
    "Span",
    "ToolAt",
    "ToolSight",
]
