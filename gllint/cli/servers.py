"""``gllint mcp``: checks the output schemas of a running MCP server like those of tools in the source."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from gllint.cli.server_tools import ServerTool
from gllint.cli.summary import count_text
from gllint.files.config import Config
from gllint.guard.draft import names_nothing
from gllint.report.unseen import Unseen
from gllint.shown import visible
from gllint_rules import RULES
from gllint_rules.project.kinds import unit_advice
from gllint_rules.tuples import NamedTuple
from gllint_rules.words.tool_verbs import NamedEffect, effect_of_name
from gllint_runtime.policy.schema_numbers import (
    declared_units,
    find_raw_numbers,
    property_of,
    quantity_units,
)
from gllint_runtime.policy.schemas import (
    QUANTITY_INLINED,
    QUANTITY_REF,
    schema_problems,
    show_path,
    subschemas,
)
from gllint_runtime.policy.settings import Policy
from gllint_runtime.policy.tool_hints import PROMISES
from gllint_runtime.policy.units import unit_title
from gllint_runtime.policy.validation import endless_refs, foreign_refs

_MOST_PARTS = 20_000
_MOST_NAMED = 8  # tools
_HELP_201 = f"Declare its numbers as Quantities: `{json.dumps(QUANTITY_INLINED)}`."
_HELP_203 = "Schemas follow JSON Schema, Draft 2020-12."
_HELP_204 = "Write out what it refers to, or put it under `$defs` of the same schema."
_HELP_OBJECT = 'Give each schema of a tool `"type": "object"` at its root.'


class SchemaFinding(NamedTuple):
    """One finding: the tool, the place in its output schema, and what is wrong there.

    ``is_unread`` means that nothing else of the tool could be judged.
    """

    code: str
    tool: str
    path: str
    message: str
    help: str
    is_unread: bool = False


# ------------------------------------------------------------------------------------------------ judging


def judged(tools: Sequence[ServerTool], policy: Policy) -> Iterator[SchemaFinding]:
    """Yield the findings in each tool of a server. A tool that cannot be judged does not stop the others."""
    for tool in tools:
        if tool.trouble is not None:
            yield SchemaFinding("GL203", tool.name, "$", tool.trouble, "", True)
            continue
        yield from _of_input(tool)
        yield from _of_hints(tool)
        try:
            yield from [*_of_output(tool, policy)]
        except RecursionError:
            yield SchemaFinding(
                "GL203", tool.name, "$", "its output schema is nested too deeply to judge", "", True
            )


def _of_input(tool: ServerTool) -> Iterator[SchemaFinding]:
    """Yield what makes an input schema unreadable for clients. Nothing else of it is judged."""
    schema = tool.input_schema
    if not isinstance(schema, Mapping) or schema.get("type") != "object":
        message = (
            f"it has no input schema: {_CONSEQUENCE}"
            if schema is None
            else f"its input schema {_not_an_object(schema)}"
        )
        yield SchemaFinding("GL203", tool.name, "$", message, _HELP_OBJECT)


_CONSEQUENCE = "strict clients lose all tools of the server"


def _not_an_object(schema: Any) -> str:
    """Say why a schema is not the schema of an object, which strict clients require: ``lacks "type": "object" …``."""
    if not isinstance(schema, Mapping):
        kind = {bool: str(schema).lower(), list: "an array", str: "a text"}
        return f"is {kind.get(type(schema), 'a number')}, not an object: {_CONSEQUENCE}"
    declared = schema.get("type")
    if isinstance(declared, str):
        return f'has the type "{declared}" at its root, not "object": {_CONSEQUENCE}'
    return f'lacks "type": "object" at its root: {_CONSEQUENCE}'


def _of_output(tool: ServerTool, policy: Policy) -> Iterator[SchemaFinding]:
    """Yield the findings in the output schema of a tool."""
    schema = tool.output_schema
    if schema is None:
        yield SchemaFinding("GL202", tool.name, "$", "it has no output schema", _HELP_201)
        return
    if not isinstance(schema, Mapping):
        message = f"its output schema {_not_an_object(schema)}"
        yield SchemaFinding("GL203", tool.name, "$", message, _HELP_OBJECT, True)
        return
    if _is_enormous(schema):
        message = f"its output schema has more than {_MOST_PARTS:,} parts and was not judged"
        yield SchemaFinding("GL203", tool.name, "$", message, "", True)
        return
    problems = schema_problems(schema)
    if schema.get("type") != "object" and ("type",) not in [problem.path for problem in problems]:
        yield SchemaFinding(
            "GL203", tool.name, "$", f"its output schema {_not_an_object(schema)}", _HELP_OBJECT
        )
    for problem in problems:
        yield SchemaFinding("GL203", tool.name, show_path(problem.path), problem.message, _HELP_203)
    yield from _of_references(tool.name, schema)
    if not schema:
        yield SchemaFinding("GL202", tool.name, "$", "its output schema is empty", _HELP_201)
    elif schema.get("type") == "object" and _says_nothing(schema):
        yield SchemaFinding("GL202", tool.name, "$", "its output schema has no properties", _HELP_201)
    for path in find_raw_numbers(schema, policy.is_plain, policy.allows, policy.quantity_shapes):
        name = property_of(path[:-1])
        what = f"`{name}`" if name else "the result"
        message = f"its output schema allows {what} to be a number without a unit"
        yield SchemaFinding("GL201", tool.name, show_path(path), message, _HELP_201)
    for path, unit in dict.fromkeys((*declared_units(schema), *quantity_units(schema))):
        yield from _of_unit(tool.name, show_path(path), unit, policy)


def _is_enormous(schema: Any) -> bool:
    """Return whether a schema has too many parts to be judged."""
    waiting = [schema]
    parts = 0
    while waiting and parts <= _MOST_PARTS:
        node = waiting.pop()
        if isinstance(node, (dict, list)):
            parts += len(node)
            waiting.extend(node.values() if isinstance(node, dict) else node)
    return parts > _MOST_PARTS


def _of_references(tool: str, schema: Mapping[str, Any]) -> Iterator[SchemaFinding]:
    """Yield the references that no client resolves: out of the schema, to a missing part, or in a circle."""
    for path in foreign_refs(schema, known_schemas=()):
        target = _at(schema, path)
        message = f"its output schema refers to `{target}`, which does not exist"
        yield SchemaFinding("GL204", tool, show_path(path), message, _HELP_204)
    for path in endless_refs(schema):
        yield SchemaFinding(
            "GL203", tool, show_path(path), "its output schema refers to itself endlessly", ""
        )


def _at(schema: Any, path: Sequence[str | int]) -> Any:
    for step in path:
        schema = schema[step]
    return schema


def _of_unit(tool: str, place: str, unit: str, policy: Policy) -> Iterator[SchemaFinding]:
    """Yield a finding if a declared unit is unknown or not allowed."""
    verdict = policy.judge(unit)
    if verdict.status == "unknown":
        yield SchemaFinding(
            "GL501", tool, place, f"unknown unit `{unit_title(unit)}`", unit_advice(policy, verdict)
        )
    elif verdict.status == "not-allowed":
        message = f"unit `{unit}` is not allowed" if unit else "the empty unit is not allowed"
        yield SchemaFinding("GL502", tool, place, message, unit_advice(policy, verdict))


_SAYS_MORE = frozenset({"properties", "$ref", "allOf", "anyOf", "oneOf", "patternProperties"})


def _says_nothing(schema: Mapping[str, Any]) -> bool:
    further = schema.get("additionalProperties")
    return not schema.keys() & _SAYS_MORE and not (isinstance(further, Mapping) and further)


_DOES: Mapping[NamedEffect, str] = {
    "delete": "it deletes",
    "write": "it changes something",
    "network": "it reaches the network",
}


def _of_hints(tool: ServerTool) -> Iterator[SchemaFinding]:
    """Yield a finding if the name of a tool contradicts its hints."""
    effect = effect_of_name(tool.name)
    if effect is None or not isinstance(tool.annotations, Mapping):
        return
    for hint, value, denied in PROMISES:
        if tool.annotations.get(hint) is value and effect in denied:
            message = f"by its name {_DOES[effect]}, but its {hint} is {str(value).lower()}"
            yield SchemaFinding("GL702", tool.name, "$", message, f"Correct the {hint}, or the name.")
            return


# ------------------------------------------------------------------------------------------------- reporting


def report(tools: Sequence[ServerTool], config: Config, output_format: str) -> tuple[str, bool]:
    """Return the report, and whether anything was found."""
    everything = [*judged(tools, config.rules.policy)]
    findings = [finding for finding in everything if finding.code in config.codes]
    if output_format == "json":
        entries = [
            {
                "code": finding.code,
                "name": RULES[finding.code].name,
                "message": finding.message,
                "help": finding.help,
                "severity": config.level(finding.code),
                "tool": finding.tool,
                "schema_path": finding.path,
            }
            for finding in findings
        ]
        return json.dumps(entries, indent=2) + "\n", bool(findings)
    lines = [
        visible(f"{finding.tool}: {finding.code} {finding.message} ({finding.path})") for finding in findings
    ]
    hints = dict.fromkeys(
        visible(f"  {finding.code}: {finding.help}") for finding in findings if finding.help
    )
    faulty = len({finding.tool for finding in findings})
    unread = len([finding for finding in everything if finding.is_unread])
    left_out = f", {unread} not judged" if unread else ""
    end = f"{count_text(len(tools), 'tool')}, {faulty or 'none'} with findings{left_out}."
    return "\n".join([*lines, *hints, *_unseen(tools), end]) + "\n", bool(findings)


def _unseen(tools: Sequence[ServerTool]) -> Iterator[str]:
    """Yield a sentence for each way in which output schemas leave numbers unchecked."""
    results = [_declared(tool.output_schema) for tool in tools]
    number, text, unknown = map(results.count, ("number", "text", "unknown"))
    without_schema = next((tool.name for tool in tools if _declared(tool.output_schema) == "unknown"), "")
    counts = Unseen(len(tools), number, text, unknown, first_unknown=visible(without_schema))
    if not counts.is_empty:
        yield f"{counts.line('no schema describes its numbers')}."
    blind = [
        tool.name
        for tool, result in zip(tools, results, strict=True)
        if result in ("text", "unknown", "open")
    ]
    if blind:
        rest = f" and {len(blind) - _MOST_NAMED} more" if len(blind) > _MOST_NAMED else ""
        names = visible(f"{', '.join(blind[:_MOST_NAMED])}{rest}")
        yield f"Not visible: the numbers of {names}. `--call 'TOOL {{JSON}}'` calls a tool and checks its result."
    if count := results.count("open"):
        its, schemas = ("its", "schema lists") if count == 1 else ("their", "schemas list")
        yield f"{count} output {schemas} no properties: {its} numbers were not checked (`gllint mcp --guard` does)."


def _declared(schema: Any) -> str:
    """Return what a tool returns according to its output schema.

    "number", "text", "open" (properties without names), "other" (such as booleans alone) or "unknown" (no schema).
    """
    if not isinstance(schema, dict) or not schema:
        return "unknown"
    with suppress(RecursionError):
        types: set[str] = set()
        for _, node in subschemas(schema):
            declared = node.get("type") if isinstance(node, dict) else None
            kinds = declared if isinstance(declared, list) else [declared]
            types.update(kind for kind in kinds if isinstance(kind, str))
            if isinstance(node, dict) and node.get("$ref") == QUANTITY_REF:
                types.add("number")
        if types & {"number", "integer"}:
            return "number"
        if "string" in types:
            return "text"
        return "open" if names_nothing(schema) else "other"
    return "unknown"
