"""``gllint mcp``: the output schemas of a running MCP server, judged as a tool's schemas in the source are.

The server is asked for its list of tools and for nothing else: no tool is called.
"""

from __future__ import annotations

import asyncio
import json
import logging
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import IO, Any

from gllint.cli.summary import counted
from gllint.errors import UsageError
from gllint.files.config import Config
from gllint.shown import visible
from gllint_rules import RULES
from gllint_rules.project.admitted import find_raw_numbers
from gllint_rules.project.kinds import unit_advice
from gllint_rules.tuples import NamedTuple
from gllint_rules.words.settings import Settings
from gllint_runtime.policy.schemas import (
    QUANTITY_REF,
    Path,
    is_inlined_quantity,
    schema_problems,
    show_path,
    subschemas,
)

_MOST_PAGES = 1000
_MOST_GARBAGE = 100  # lines that are no message
_MOST_TOLD = 600  # characters of what a server said before it went


class Offered(NamedTuple):
    """A tool as the server describes it."""

    name: str
    output_schema: Any


class Judged(NamedTuple):
    """One finding: the tool, the place in its output schema, and what is wrong there."""

    code: str
    tool: str
    path: str
    message: str
    help: str


# ------------------------------------------------------------------------------------------------- asking


def offered_tools(command: Sequence[str], url: str | None, timeout: float) -> list[Offered]:
    """The tools of the server that ``command`` starts or that answers at ``url``. Raises UsageError."""
    try:
        from mcp import Client, StdioServerParameters, stdio_client
    except ImportError:
        raise UsageError("gllint mcp needs the MCP SDK: install gllint[mcp]") from None
    logging.getLogger("mcp").setLevel(logging.CRITICAL + 1)  # it logs each line that it cannot read
    garbage = 0

    async def ask(server: Any) -> list[Offered]:
        async def note(message: Any) -> None:
            nonlocal garbage
            garbage += isinstance(message, Exception)
            if garbage == _MOST_GARBAGE:
                limit.reschedule(asyncio.get_running_loop().time())

        async with asyncio.timeout(timeout) as limit, Client(server, message_handler=note) as client:
            tools: list[Offered] = []
            cursor: str | None = None
            for _ in range(_MOST_PAGES):
                page = await client.list_tools(cursor=cursor)
                tools += [Offered(tool.name, tool.output_schema) for tool in page.tools]
                cursor = page.next_cursor
                if cursor is None:
                    return tools
        raise UsageError(f"the server lists tools without end: {len(tools)} after {_MOST_PAGES} pages")

    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as told:
        try:
            if url is not None:
                return asyncio.run(ask(url))
            first, *rest = command
            return asyncio.run(
                ask(stdio_client(StdioServerParameters(command=first, args=rest), errlog=told))
            )
        except UsageError:
            raise
        except TimeoutError:
            what = (
                "answers with something that is not MCP" if garbage else f"does not answer in {timeout:g} s"
            )
            raise UsageError(f"the server {what}{_last_words(told)}") from None
        except Exception as error:
            raise UsageError(
                f"the server gives no list of tools: {_cause(error)}{_last_words(told)}"
            ) from None


def _cause(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _last_words(told: IO[str]) -> str:
    with suppress(OSError, ValueError):
        told.seek(0)
        lines = [line for line in told.read().splitlines() if line.strip()]
        if lines:
            return "; it said: " + " | ".join(lines)[-_MOST_TOLD:]
    return ""


# ------------------------------------------------------------------------------------------------ judging


def judged(tools: Sequence[Offered], settings: Settings) -> Iterator[Judged]:
    """What is wrong with the output schemas, tool by tool.

    On the wire a Quantity is written out, since nobody there knows our reference; that is no finding.
    """
    for tool in tools:
        try:
            yield from _of_schema(tool, settings)
        except RecursionError:
            yield Judged("GL203", tool.name, "$", "the output schema is nested too deeply", "")


def _of_schema(tool: Offered, settings: Settings) -> Iterator[Judged]:
    schema = tool.output_schema
    help_text = (
        f'Declare its numbers as Quantities: objects of "value" and "unit", or {{"$ref": "{QUANTITY_REF}"}}.'
    )
    for problem in schema_problems(schema) if schema is not None else ():
        help_203 = "Schemas follow JSON Schema, Draft 2020-12."
        yield Judged("GL203", tool.name, show_path(problem.path), problem.message, help_203)
    if schema is None:
        yield Judged("GL202", tool.name, "$", "it has no output schema", help_text)
        return
    if not schema:
        yield Judged("GL202", tool.name, "$", "its output schema is empty", help_text)
    elif schema.get("type") == "object" and not schema.keys() & _SAYS_MORE:
        yield Judged("GL202", tool.name, "$", "its output schema has no properties", help_text)
    for path in find_raw_numbers(schema, settings.is_plain):
        message = f"its output schema lets {_named(path)} be a number without a unit"
        yield Judged("GL201", tool.name, show_path(path), message, help_text)
    for path, unit in _units(schema):
        verdict = settings.judge(unit)
        if verdict.status == "unknown":
            advice = unit_advice(settings, verdict)
            yield Judged("GL501", tool.name, show_path(path), f"unknown unit `{unit}`", advice)


_SAYS_MORE = frozenset({"properties", "$ref", "allOf", "anyOf", "oneOf", "patternProperties"})


def _named(path: Path) -> str:
    named = [name for step, name in pairwise(path) if step == "properties"]
    return f"`{named[-1]}`" if named else "the result"


def _units(schema: Any) -> Iterator[tuple[Path, str]]:
    """The units that a schema's Quantities name, with their places."""
    for path, node in subschemas(schema):
        if is_inlined_quantity(node) and isinstance(unit := node["properties"]["unit"], dict):
            here = (*path, "properties", "unit")
            for keyword in ("const", "default"):
                if isinstance(unit.get(keyword), str):
                    yield (*here, keyword), unit[keyword]
            for keyword in ("enum", "examples"):
                for number, value in enumerate(unit[keyword] if isinstance(unit.get(keyword), list) else ()):
                    if isinstance(value, str):
                        yield (*here, keyword, number), value


# ------------------------------------------------------------------------------------------------- telling


def report(tools: Sequence[Offered], config: Config, output_format: str) -> tuple[str, bool]:
    """What to print, and whether anything was found."""
    found = [one for one in judged(tools, config.rules) if one.code in config.codes]
    if output_format == "json":
        entries = [
            {
                "code": one.code,
                "name": RULES[one.code].name,
                "message": one.message,
                "help": one.help,
                "severity": config.level(one.code),
                "tool": one.tool,
                "schema_path": one.path,
            }
            for one in found
        ]
        return json.dumps(entries, indent=2) + "\n", bool(found)
    lines = [visible(f"{one.tool}: {one.code} {one.message} ({one.path})") for one in found]
    hints = dict.fromkeys(visible(f"  {one.code}: {one.help}") for one in found if one.help)
    faulty = len({one.tool for one in found})
    end = f"{counted(len(tools), 'tool')}, {faulty or 'none'} with findings."
    return "\n".join([*lines, *hints, end]) + "\n", bool(found)
