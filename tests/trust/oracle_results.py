"""What gllint says of a tool's result, against the text that the real framework hands to the model.

Return values are drawn of everything that Python programs return, each number with digits of its own on a line of its
own. The framework runs the tool; where the digits are in what the model gets, the number has reached it, and where they
are not, it has not. A framework that is not installed is left out; one that refuses a value is asked nothing.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import logging
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

from trust import Budget, Row

sys.path.insert(0, str(Path(__file__).parents[1] / "rules"))
from gllint_rules import Finding
from gllint_rules.reading.stack import on_large_stack
from harness import Case, run

_TOOLS, _NUMBERS = 4, 2_000  # of one program, and of an hour
_PROGRAM = "oracle_program"
_REACHING = ("GL101", "GL102", "GL103", "GL104")
# What is decided otherwise, and held by cases of the rules: a plain Enum's member is a name, bytes are no text, and
# digits that are written in a text are no finding by default.
_DECIDED = ("quantity", "enum", "bytes", "text")
_KEYS = ("heat", "loss", "supply", "intake", "store", "roof", "pump", "share")
_UNITS = ("kWh", "kW", "kg", "m3")
_IMPORTS = """\
import json
from collections import OrderedDict, namedtuple
from dataclasses import asdict, dataclass, field
from datetime import date, datetime
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Any, NamedTuple
from uuid import UUID

from pydantic import BaseModel, Field, PrivateAttr
from typing_extensions import TypedDict
"""


# --- the frameworks -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Framework:
    """How a program offers its tools, and how one is run: what the model gets to read."""

    package: str
    head: str
    mark: str
    writes_json: bool  # of instances, too: others show them by their ``repr``
    seen: Callable[[Any, str], str]


def _langchain(module: Any, name: str) -> str:
    call = {"name": name, "args": {"site": "a"}, "id": "1", "type": "tool_call"}
    return _text(getattr(module, name).invoke(call).content)


def _openai_agents(module: Any, name: str) -> str:
    from agents import ItemHelpers
    from agents.tool_context import ToolContext
    from openai.types.responses import ResponseFunctionToolCall

    asked = json.dumps({"site": "a"})
    context: Any = ToolContext(None, tool_name=name, tool_call_id="1", tool_arguments=asked)
    output = asyncio.run(getattr(module, name).on_invoke_tool(context, asked))
    call = ResponseFunctionToolCall(arguments=asked, call_id="1", name=name, type="function_call")
    return _text(ItemHelpers.tool_call_output_item(call, output)["output"])


def _pydantic_ai(module: Any, name: str) -> str:
    from pydantic_ai.messages import ToolReturnPart
    from pydantic_ai.models.test import TestModel

    agent = module.agent
    if not hasattr(module, "seen"):
        module.seen = {}
        for message in agent.run_sync("hello", model=TestModel()).all_messages():
            for part in message.parts:
                if isinstance(part, ToolReturnPart):
                    module.seen[part.tool_name] = part.model_response_str()
    return str(module.seen[name])


def _mcp(module: Any, name: str) -> str:
    from mcp.client import Client

    async def ask() -> str:
        async with Client(module.server) as client:
            answer = await client.call_tool(name, {"site": "a"})
        if answer.is_error:
            raise ValueError(answer.content)
        return "\n".join(
            [*(getattr(block, "text", "") for block in answer.content), json.dumps(answer.structured_content)]
        )

    return asyncio.run(ask())


def _text(content: Any) -> str:
    return content if isinstance(content, str) else json.dumps(content, default=str)


FRAMEWORKS = {
    "langchain": Framework("langchain_core", "from langchain_core.tools import tool\n", "@tool", False, _langchain),
    "openai-agents": Framework("agents", "from agents import function_tool\n", "@function_tool", False, _openai_agents),
    "pydantic-ai": Framework(
        "pydantic_ai", 'from pydantic_ai import Agent\nagent = Agent("test")\n', "@agent.tool_plain", True, _pydantic_ai
    ),
    "mcp": Framework("mcp", 'from mcp.server import MCPServer\nserver = MCPServer("s")\n', "@server.tool()", True, _mcp),
}  # fmt: skip


# --- the comparison -------------------------------------------------------------------------------------------


@dataclass
class Tool:
    """A tool that was drawn: its lines, and on which of them stands which number."""

    name: str
    lines: list[str]
    digits: dict[int, tuple[str, str]]  # by line: the digits, and what kind of number


def row(budget: Budget) -> Row:
    counts, wrong = Counter[str](), list[str]()
    installed = [
        name for name, one in FRAMEWORKS.items() if importlib.util.find_spec(one.package) is not None
    ]
    if not budget.is_long():  # each takes a second to be imported
        installed = [name for name in installed if FRAMEWORKS[name].package in sys.modules] or installed[:1]
    logging.getLogger("mcp").setLevel(logging.ERROR)
    for number in budget.rounds(_NUMBERS, lambda: _judged(counts)):
        if not installed:
            break
        name = installed[number % len(installed)]
        with warnings.catch_warnings():  # of types for which a framework has no schema
            warnings.simplefilter("ignore")
            became = list(compared(name, Random(f"{budget.seed} {number}")))
        for what, line in became:
            counts[what] += 1
            if line:
                wrong.append(f"round {number}: {name}: {what}: {line}")
    numbers = _judged(counts)
    tried = (
        f"{numbers} numbers in {', '.join(installed) or 'no framework'}: {counts['told']} told and read by the model, "
        f"{counts['not there']} neither, {counts['carried']} in Quantities, Enums and bytes; {counts['false']} told and not read, "
        f"{counts['missed']} read and not told; {counts['refused']} results were refused"
    )
    return Row("oracles: results that models read", tried, wrong[:20], numbers, _NUMBERS)


def _judged(counts: Counter[str]) -> int:
    """How many numbers were compared, and are as they should be."""
    return sum(count for what, count in counts.items() if what not in ("refused", "false", "missed"))


def compared(name: str, chance: Random) -> Iterator[tuple[str, str]]:
    """What became of each number of a program: of which kind, and the words for what is wrong."""
    framework = FRAMEWORKS[name]
    tools, source = program(chance, framework)
    findings = on_large_stack(run, Case("results", {"a.py": source}, {"extend-select": ["GL104"]}))
    assert all(isinstance(item, Finding) for item in findings), findings
    told = {
        item.span.line: item.message
        for item in findings
        if isinstance(item, Finding) and item.code in _REACHING
    }
    text_lines = source.split("\n")
    try:
        module = _loaded(source)
    except Exception:  # a type that a framework has no schema for
        yield "refused", ""
        return
    for tool in tools:
        try:
            text = framework.seen(module, tool.name)
        except Exception:
            yield "refused", ""
            continue
        for line, (digits, kind) in tool.digits.items():
            reaches = re.search(rf"(?<!\d){re.escape(digits)}(?!\d)", text) is not None
            is_told = line in told or any(
                " of numbers " in told.get(outer, "") for outer in _around(text_lines, line)
            )
            if reaches:
                what = "told" if is_told else "carried" if kind in _DECIDED else "missed"
            else:
                what = "false" if line in told else "not there"
            if what in ("false", "missed"):
                yield what, f"{kind} {digits} ({text_lines[line - 1].strip()}) of {text[:300]!r} in\n{source}"
            else:
                yield what, ""


def _around(lines: list[str], line: int) -> Iterator[int]:
    """The lines of what a line stands in, and of its neighbours there: lists within a list are one finding."""

    def room(number: int) -> int:
        text = lines[number - 1]
        return len(text) - len(text.lstrip())

    inner = line
    while inner > 1 and room(inner) > 4:
        outer = inner
        while room(outer) >= room(inner):
            outer -= 1
        number = outer + 1
        while room(number) >= room(inner):
            if room(number) == room(inner):
                yield number
            number += 1
        inner = outer
    yield inner


def _loaded(source: str) -> ModuleType:
    module = ModuleType(_PROGRAM)
    sys.modules[_PROGRAM] = module
    exec(compile(source, f"<{_PROGRAM}>", "exec"), vars(module))
    return module


# --- what is drawn --------------------------------------------------------------------------------------------


@dataclass
class Node:
    """An expression over lines: what opens it, its parts, what closes it; ``annotation`` is its type."""

    opening: str
    parts: list[tuple[str, Node]] = field(default_factory=list)
    closing: str = ""
    annotation: str = "Any"
    digits: str = ""
    kind: str = ""

    def lines(self, before: str, behind: str, indent: int) -> Iterator[tuple[str, str, str]]:
        """Lines with the digits in them and their kind."""
        room = " " * indent
        if not self.parts:
            yield f"{room}{before}{self.opening}{self.closing}{behind}", self.digits, self.kind
            return
        yield f"{room}{before}{self.opening}", "", ""
        for name, part in self.parts:
            yield from part.lines(name, ",", indent + 4)
        yield f"{room}{self.closing}{behind}", "", ""


def program(chance: Random, framework: Framework) -> tuple[list[Tool], str]:
    """A program with some tools, and where their numbers stand."""
    drawing = Drawing(chance, framework.writes_json)
    text = _IMPORTS + framework.head
    tools = []
    for number in range(_TOOLS):
        name = f"measure_{'abcdefgh'[number]}"
        drawing.head.clear()
        drawing.body.clear()
        node = drawing.returned()
        annotation = chance.choice(("", "", f" -> {node.annotation}", " -> Any"))
        how = chance.randrange(3)
        lines: list[tuple[str, str, str]] = [*((line, d, k) for line, d, k in drawing.body)]
        if how == 0 and node.parts:
            lines += [*node.lines("answer = ", "", 4), *drawing.changes(node), ("    return answer", "", "")]
        else:
            lines += node.lines("return ", "", 4)
        text += "\n" + "".join(f"{line}\n" for line in drawing.head)
        text += f'\n{framework.mark}\ndef {name}(site: str){annotation}:\n    """Measures a site."""\n'
        first = text.count("\n") + 1
        text += "".join(f"{line}\n" for line, _, _ in lines)
        digits = {first + place: (d, k) for place, (_, d, k) in enumerate(lines) if d}
        tools.append(Tool(name, [line for line, _, _ in lines], digits))
    return tools, text


class Drawing:
    """Draws values, and the classes and functions that they need."""

    def __init__(self, chance: Random, may_hide: bool) -> None:
        self.chance, self.may_hide = chance, may_hide
        self.head: list[str] = []
        self.body: list[tuple[str, str, str]] = []
        self.has_hidden = False
        self.count = 0
        self._used: set[str] = set()

    def fresh(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{'abcdefghijklmnopqrstuvwxyz'[self.count // 26 % 26]}{'abcdefghijklmnopqrstuvwxyz'[self.count % 26]}"

    def number(self) -> str:
        while True:
            digits = (
                f"{self.chance.randint(1000, 9999)}.{self.chance.randint(1, 9)}{self.chance.randint(1, 9)}"
            )
            if digits not in self._used:
                self._used.add(digits)
                return digits

    def returned(self) -> Node:
        """What a tool returns: a value, or the text that something makes of it."""
        self.has_hidden = False
        node = self.value(3)
        match self.chance.randrange(10):
            case 0 if not self.has_hidden:
                return Node("json.dumps(", [("", node), ("default=", Node("str"))], ")", "str")
            case 1 if node.parts and not self.has_hidden:
                return Node("str(", [("", node)], ")", "str")
            case 2 if node.kind == "model":
                return Node(node.opening, node.parts, f"{node.closing}.model_dump_json()", "str")
            case 3 if node.kind == "model":
                left_out = self.chance.choice(node.parts)[0].rstrip("=")
                how = self.chance.choice(("", f'exclude={{"{left_out}"}}', f'include={{"{left_out}"}}'))
                return Node(node.opening, node.parts, f"{node.closing}.model_dump({how})", "dict")
            case 4 if node.kind == "dataclass":
                return Node("asdict(", [("", node)], ")", "dict")
            case _:
                return node

    def changes(self, node: Node) -> list[tuple[str, str, str]]:
        """What a dict loses, gets, or keeps anew before it is returned."""
        if node.opening != "{" or node.annotation != "dict" or self.chance.random() < 0.4:
            return []
        name = self.chance.choice(node.parts)[0].rstrip(": ")
        digits = self.number()
        match self.chance.randrange(6):
            case 0:
                return [(f"    answer.pop({name})", "", "")]
            case 1:
                return [(f"    del answer[{name}]", "", "")]
            case 2:
                return [(f"    answer[{name}] = {self.chance.choice(('site', 'None'))}", "", "")]
            case 3:
                return [(f'    answer["more"] = {digits}', digits, "literal")]
            case 4:
                return [(f'    answer.update({{"more": {digits}}})', digits, "literal")]
            case _:
                return [(f'    answer = {{**answer, "more": {digits}}}', digits, "literal")]

    def value(self, depth: int) -> Node:
        """A container, or a leaf."""
        if depth == 0:
            return self.leaf()
        kind = self.chance.choice(
            (
                "dict",
                "dict",
                "list",
                "tuple",
                "set",
                "model",
                "dataclass",
                "named",
                "typed",
                "leaf",
                "quantity",
                "ordered",
            )
        )
        names = self.chance.sample(_KEYS, self.chance.randint(1, 3))
        match kind:
            case "dict":
                return Node("{", [(f'"{name}": ', self.value(depth - 1)) for name in names], "}", "dict")
            case "list":
                return Node("[", [("", self.value(depth - 1)) for _ in names], "]", "list")
            case "tuple":
                return Node("(", [("", self.value(depth - 1)) for _ in names], ")", "tuple")
            case "set":
                return Node("{", [("", self.literal()) for _ in names], "}", "set")
            case "ordered":
                return Node(
                    "OrderedDict(", [(f"{name}=", self.value(depth - 1)) for name in names], ")", "dict"
                )
            case "quantity":
                return self.quantity()
            case "leaf":
                return self.leaf()
            case _:
                parts = {name: self.value(depth - 1) for name in names}
                return self.made(kind, parts)

    def made(self, kind: str, parts: dict[str, Node]) -> Node:
        """An instance of a class that is drawn for it."""
        name = self.fresh("Kind")
        head = {
            "model": [f"class {name}(BaseModel):"],
            "dataclass": ["@dataclass", f"class {name}:"],
            "named": [f"class {name}(NamedTuple):"],
            "typed": [f"class {name}(TypedDict):"],
        }[kind]
        for place, (key, part) in enumerate(parts.items()):
            line = f"    {key}: {part.annotation}"
            if part.digits and part.annotation == "float" and place == len(parts) - 1 and self.may_hide:
                # What JSON leaves out, and what it does not.
                hidden = {"model": " = Field(exclude=True)", "dataclass": " = field(repr=False)"}.get(
                    kind, ""
                )
                if hidden and self.chance.random() < 0.25:
                    line += hidden
                    self.has_hidden = True
            head.append(line)
        if kind in ("model", "dataclass") and self.chance.random() < 0.2:
            head += ["    @property", "    def twice(self) -> float:", f"        return {self.number()}"]
        self.head += [*head, ""]
        return Node(f"{name}(", [(f"{key}=", part) for key, part in parts.items()], ")", name, kind=kind)

    def quantity(self) -> Node:
        digits = self.number()
        return Node(
            f'{{"value": {digits}, "unit": "{self.chance.choice(_UNITS)}"}}',
            annotation="dict",
            digits=digits,
            kind="quantity",
        )

    def literal(self) -> Node:
        digits = self.number()
        return Node(digits, annotation="float", digits=digits, kind="literal")

    def leaf(self) -> Node:
        """A number in one of the ways that it comes, or something that is none."""
        digits = self.number()
        match self.chance.randrange(16):
            case 0 | 1 | 2:
                return self.literal()
            case 3:
                name = self.fresh("reading")
                self.body.append((f'    {name} = float("{digits}")', "", ""))
                return Node(name, annotation="float", digits=digits, kind="variable")
            case 4:
                name = self.fresh("read_")
                self.head += [f"def {name}(site):", f"    return {digits}", ""]
                return Node(f"{name}(site)", annotation="float", digits=digits, kind="helper")
            case 5:
                return Node(f'Decimal("{digits}")', annotation="Decimal", digits=digits, kind="decimal")
            case 6:
                name = self.fresh("Level")
                self.head += [f"class {name}(Enum):", f"    HIGH = {digits}", ""]
                return Node(f"{name}.HIGH", annotation=name, digits=digits, kind="enum")
            case 7:
                return Node(f'"It drew {digits} kWh."', annotation="str", digits=digits, kind="text")
            case 8:
                name = self.fresh("reading")
                self.body.append((f'    {name} = float("{digits}")', "", ""))
                return Node(
                    f'f"It drew {{{name}:.2f}} kWh."', annotation="str", digits=digits, kind="formatted"
                )
            case 9:
                return Node(f"round({digits}1, 2)", annotation="float", digits=digits, kind="rounded")
            case 10:
                return Node(
                    f'json.dumps({{"heat": {digits}}})',
                    annotation="str",
                    digits=digits,
                    kind="json in a text",
                )
            case 11:
                return self.quantity()
            case 12:
                return Node(f"str({digits})", annotation="str", digits=digits, kind="str")
            case 13:
                return Node("datetime(2024, 5, 6, 7, 8)", annotation="datetime")
            case 14:
                return Node(f'b"{digits}"', annotation="bytes", digits=digits, kind="bytes")
            case _:
                return Node(self.chance.choice(('"fine"', "None", "True", "site")), annotation="Any")
