"""Four tools of an agent with one loop: arithmetic on Quantities, a fetch without a network, two tables to query.

Each answers an object told apart by ``success``; every number in it is a Quantity.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from gllint_runtime import Quantity, Tool, ToolRegistry, UnitRegistry, tool

UNITS = UnitRegistry(packs=["counts"])
QUANTITY = {"$ref": "greenlang://schemas/quantity.json"}
PAGES = {
    "https://example.org/jobs": "Engineers wanted. " * 40,
    "https://example.org/about": "We build meters.",
}
TABLES: dict[str, list[dict[str, str]]] = {
    "candidates": [
        {"name": "Ada", "role": "engineer", "city": "Turin"},
        {"name": "Bo", "role": "designer", "city": "Oslo"},
        {"name": "Chi", "role": "engineer", "city": "Oslo"},
    ],
    "opportunities": [
        {"title": "Grid modelling", "role": "engineer", "city": "Oslo"},
        {"title": "Meter design", "role": "designer", "city": "Turin"},
    ],
}


class Page(TypedDict):
    """A fetched page, or why there is none."""

    success: bool
    text: NotRequired[str]
    truncated: NotRequired[bool]
    error: NotRequired[str]


class Rows(TypedDict):
    """What a query found, or why it found nothing."""

    success: bool
    rows: NotRequired[list[dict[str, str]]]
    found: NotRequired[Quantity]
    error: NotRequired[str]


def calculate(operation: str, a: dict[str, Any], b: dict[str, Any]) -> dict[str, Any]:
    """Add and subtract what has one dimension; multiply and divide by what has no unit of its own."""
    first, second = Quantity(**a), Quantity(**b)
    if operation in ("add", "subtract"):
        second = UNITS.convert_to(second, first.unit)
        sign = 1 if operation == "add" else -1
        return {"success": True, "result": Quantity(first.value + sign * second.value, first.unit)}
    if second.unit != "count":
        return {"success": False, "error": f"{operation} takes a count, not {second.unit}"}
    if operation == "divide" and second.value == 0:
        return {"success": False, "error": "nothing can be divided by zero"}
    value = first.value * second.value if operation == "multiply" else first.value / second.value
    return {"success": True, "result": Quantity(value, first.unit)}


calculator = Tool(
    name="calculator",
    description="Exact arithmetic on two Quantities",
    args_schema={
        "type": "object",
        "properties": {
            "operation": {"enum": ["add", "subtract", "multiply", "divide"]},
            "a": QUANTITY,
            "b": QUANTITY,
        },
        "required": ["operation", "a", "b"],
        "additionalProperties": False,
    },
    result_schema={
        "type": "object",
        "properties": {"success": {"type": "boolean"}, "result": QUANTITY, "error": {"type": "string"}},
        "required": ["success"],
        "additionalProperties": False,
    },
    fn=calculate,
)


@tool(timeout=10)
def web_fetch_mock(url: str, method: Literal["GET"] = "GET", max_chars: int = 200) -> Page:
    """The text of a page, cut off where it is too long. No network: the pages are made up."""
    if url not in PAGES:
        return {"success": False, "error": f"there is no page at {url}"}
    text = PAGES[url]
    return {"success": True, "text": text[:max_chars], "truncated": len(text) > max_chars}


@tool
def db_query_candidates(where: dict[str, str] | None = None, limit: int = 10) -> Rows:
    """The candidates that fit ``where``, at most ``limit`` of them."""
    return query("candidates", where, limit)


@tool
def db_query_opportunities(where: dict[str, str] | None = None, limit: int = 10) -> Rows:
    """The opportunities that fit ``where``, at most ``limit`` of them."""
    return query("opportunities", where, limit)


def query(table: str, where: dict[str, str] | None, limit: int) -> Rows:
    """The rows of a table that hold what ``where`` says."""
    wanted = where or {}
    unknown = wanted.keys() - TABLES[table][0].keys()
    if unknown:
        return {"success": False, "error": f"{table} has no column {', '.join(sorted(unknown))}"}
    rows = [row for row in TABLES[table] if wanted.items() <= row.items()][:limit]
    return {"success": True, "rows": rows, "found": Quantity(len(rows), "count")}


def registry() -> ToolRegistry:
    """All four, with counts for units."""
    tools = ToolRegistry(packs=["counts"])
    for each in (calculator, web_fetch_mock, db_query_candidates, db_query_opportunities):
        tools.register(each)
    return tools
