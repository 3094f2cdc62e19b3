"""Explain why there is a finding on a line, or why there is none."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterator, Sequence
from contextvars import ContextVar
from itertools import islice
from typing import TYPE_CHECKING

from gllint_rules.catalogue import RULES
from gllint_rules.check.check import together
from gllint_rules.inference.values import (
    NEVER,
    NONE,
    UNKNOWN,
    Because,
    Boolean,
    Container,
    DictOf,
    Entry,
    ExternalInstance,
    FunctionOf,
    Instance,
    Interpolation,
    ListOf,
    Method,
    Number,
    QuantityInstance,
    Record,
    SerialisedText,
    Site,
    Text,
    ToolValue,
    UnionOf,
    Value,
    number,
    options,
)
from gllint_rules.project.context import Context, Pending
from gllint_rules.project.results import Result, as_text
from gllint_rules.project.sight import is_open, result_of
from gllint_rules.project.templates import final_steps
from gllint_rules.reading import facts
from gllint_rules.reading.outline import SECTION_BITS
from gllint_rules.tools.tool import Tool
from gllint_runtime.policy.names import read_name
from gllint_runtime.policy.schemas import is_plain_key

if TYPE_CHECKING:
    from gllint_rules.project.project import Project

_MOST_RETURNS, _MOST_TOOLS = 10, 10


_base: ContextVar[str] = ContextVar("folder that paths are shown relative to", default="")


def why(
    project: Project,
    path: str,
    line: int,
    code: str | None = None,
    in_force: Collection[str] = RULES.keys(),
    speakers: Collection[str] = (),
    base: str = "",
) -> list[str]:
    """Return the evidence for the findings on a ``line`` of ``path``, or why there are none, as lines of text.

    ``in_force`` are the codes that the configuration selects for the file. ``speakers`` are further modules that may
    have findings there: their tools use functions of ``path``. Paths are shown relative to the folder ``base``, by
    default that of the project.
    """
    _base.set(base)
    module = project.imports.module_at(path)
    if module is None:
        return ["This file could not be read."]
    contexts = [
        Context.of(project, project.modules[p])
        for p in dict.fromkeys((path, *speakers))
        if p in project.modules
    ]
    codes = [code] if code is not None else [c for c, rule in RULES.items() if rule.default or c in in_force]
    findings = [text for rule_code in codes for text in _findings(contexts, rule_code, path, line, in_force)]
    if findings:
        return findings
    about = [f"There is no {code} on this line."] if code is not None else []
    if code is not None and RULES[code].check is None:
        return [*about, f"{code} is not a rule about values: `gllint rule {code}` says what it reports."]
    sentences = dict.fromkeys(words for context in contexts for words in _silence(context, path, line))
    if not sentences:
        sentences = dict.fromkeys(
            words for context in contexts for words in _of_tools(context, path, line, in_force)
        )
    return about + ([*sentences] or [*_nothing(contexts, path)])


def _findings(
    contexts: Sequence[Context], code: str, path: str, line: int, in_force: Collection[str]
) -> Iterator[str]:
    """Yield the findings of a rule on the line, each with its evidence."""
    check = RULES[code].check
    by_place: dict[tuple[object, ...], list[Pending]] = {}
    for context in contexts if check is not None else ():
        for pending in check(context) if check is not None else ():
            if pending.site.module.path == path and context.span(pending.site).line == line:
                by_place.setdefault((pending.site, pending.characters), []).append(pending)
    for pendings in by_place.values():
        yield from _finding(contexts[0], pendings)
        if code not in in_force:
            yield f"  not reported: the configuration does not select {code} for this file"


def _finding(context: Context, pendings: Sequence[Pending]) -> Iterator[str]:
    """Yield a finding, the evidence for it, and its help."""
    yield f"{pendings[0].code} {together(pendings)[0]}"
    if (because := pendings[0].because) is not None:
        yield from _chain(context, because, 1)
    if pendings[0].help:
        yield f"  help: {pendings[0].help}"


def _chain(context: Context, because: Because, depth: int) -> Iterator[str]:
    yield f"{'  ' * depth}because {because.message}{_place(context, because.site)}"
    for reason in because.causes:
        yield from _chain(context, reason, depth + 1)


def _place(context: Context, site: Site | None) -> str:
    """Return a place as file, line and excerpt, in parentheses."""
    if site is None:
        return ""
    positions = context.project.positions(site.module)
    text = " ".join(positions.text(site.at).split())
    excerpt = text if len(text) <= 60 else f"{text[:57]}..."
    base = _base.get() or context.project.root or posixpath.dirname(site.module.path)
    name = posixpath.relpath(site.module.path, base)
    return f" ({name}:{positions.span(site.at).line}: `{excerpt}`)"


def _silence(context: Context, path: str, line: int) -> Iterator[str]:
    """Yield what gllint knows about the values on the line, and why no rule reports them."""
    for result in context.results:
        tool = f"tool `{result.tool.name}`" if result.tool.name else "a tool"
        for key, entry in _entries(result.value, Entry(result.value, result.site)):
            if entry.site.module.path == path and context.span(entry.site).line == line:
                what = f"`{key}` in the result of {tool}" if key else f"the result of {tool}"
                yield f"{what} is {describe(entry.value)}{_place(context, entry.site)}"
                yield from _plain(context, key, entry.value)
    for call, scope in context.module.calls if context.module.path == path else ():
        func = call.func
        if isinstance(func, facts.Attr) and func.name in context.names.table.all_runs:
            site = Site(context.module, call.at)
            if context.span(site).line == line:
                value = context.eval(func.base, scope)
                note = " (test code may call tools)" if context.is_test else ""
                yield f"`.{func.name}()` is called on {describe(value)}{note}"
    for step in final_steps(context):
        for part in step.template.parts:
            if part.site.module.path == path and context.span(part.site).line == line:
                yield "this text is part of a final message, and every number in it is claimed or allowed"
                break


def _plain(context: Context, key: str | None, value: Value) -> Iterator[str]:
    """Yield the setting that exempts a number under this key."""
    if key is None or number(value) is None:
        return
    for pattern in context.policy.plain_keys:
        if is_plain_key(key, (pattern,)):
            yield f"  `{key}` is not a quantity: `plain-keys` has `{pattern}`"
            return
    if (kind := read_name(key).kind) in context.policy.plain_kinds:
        yield f"  `{key}` is not a quantity: `plain-kinds` has `{kind}`, and the key is of that kind"


def _entries(
    value: Value, entry: Entry, key: str | None = None, depth: int = 0
) -> Iterator[tuple[str | None, Entry]]:
    """Yield the entries in a value, each with its key."""
    yield key, entry
    for option in options(value) if depth < 20 else ():
        if isinstance(option, Container):
            for name, inner in option.contents():
                under = key if isinstance(option, ListOf) else as_text(name)
                yield from _entries(inner.value, inner, under, depth + 1)


def describe(value: Value) -> str:
    """Return a value in words: "a number", "a list, partly unknown", "one of: text, None"."""
    match value:
        case Number():
            return "a number"
        case SerialisedText(parts=(Interpolation(value=inner),)) if inner is UNKNOWN:
            return "text with unknown parts: no rule reports it"
        case Text():
            return "text"
        case Boolean():
            return "a truth value"
        case QuantityInstance():
            return "a Quantity"
        case Record(entries=entries) if set(entries) == {"value", "unit"}:
            return "a Quantity"
        case DictOf(open=True) if not value.entries and value.rest is None:
            return "a dict with unknown contents"
        case DictOf():
            return "a dict, partly unknown" if is_open(value) else "a dict"
        case ListOf(items=(), rest=rest) if rest is UNKNOWN:
            return "a list with unknown contents"
        case ListOf(rest=Instance() as rest):
            return f"a list, each {describe(rest)}"
        case ListOf():
            return "a list, partly unknown" if is_open(value) else "a list"
        case Instance(of=of):
            return f"an instance of `{of.cls.name}`, with unknown fields"
        case Record(of=of) if of is not None:
            return f"an instance of `{of.cls.name}`"
        case ExternalInstance(name=name):
            return f"an instance of `{name}`, which is not part of the project"
        case ToolValue(tool=tool):
            return f"tool `{tool.name}`"
        case UnionOf():
            return "one of: " + ", ".join(dict.fromkeys(describe(option) for option in value.options))
        case _ if value is NONE:
            return "None"
        case Method(of=ExternalInstance()):
            return describe(UNKNOWN)  # an attribute of what is not part of the project, method or not
        case _ if value is UNKNOWN or value is NEVER:
            return "unknown: nothing in the project shows its value, so no rule reports it"
        case _:
            return "neither a number nor a container"


def _of_tools(context: Context, path: str, line: int, in_force: Collection[str]) -> Iterator[str]:
    """Yield what the tool around the line returns, and which parts of that are unknown."""
    tools_by_line: dict[int, list[tuple[Tool, FunctionOf]]] = {}
    for tool in context.tools:
        for callable in tool.callables:
            if callable.module.path == path and line in _lines_of(context, callable):
                tools_by_line.setdefault(_first_line(context, callable), []).append((tool, callable))
    # A function may define several tools: the last one that begins before the line is meant.
    for tool, callable in tools_by_line.get(
        max((first for first in tools_by_line if first <= line), default=0), ()
    ):
        yield from _of_tool(context, tool, callable, in_force)


def _first_line(context: Context, callable: FunctionOf) -> int:
    """Return the line on which a function, or its first decorator, begins."""
    function = callable.function
    decorators = function.decorators if isinstance(function, facts.Function) else ()
    places = (function.at, *(decorator.at for decorator in decorators))
    return min(context.span(Site(callable.module, at)).line for at in places)


def _lines_of(context: Context, callable: FunctionOf) -> range:
    """Return the lines of the section that a function is in: those of the function, or of the one around it."""
    module = callable.module
    section = module.outline.sections[callable.function.at >> SECTION_BITS]
    span = context.project.positions(module).lines.span(section.begin, section.end)
    return range(span.line, span.end_line + (span.end_column > 1))


def _of_tool(context: Context, tool: Tool, callable: FunctionOf, in_force: Collection[str]) -> Iterator[str]:
    """Yield what a tool returns, and a line for each unknown part of a returned value."""
    name = f"tool `{tool.name}`" if tool.name else "this tool"
    kind = result_of(context, tool)
    at = context.span(Site(callable.module, callable.function.at)).line
    phrase = {
        "number": "returns numbers, which were checked",
        "text": "returns text: the numbers in it are for GL104, which is "
        + ("on" if "GL104" in in_force else "off (--extend-select GL104)"),
        "unknown": "returns an unknown value, so no rule reports it",
        "other": "returns neither a number nor text",
    }[kind]
    yield f"{name} (line {at}) {phrase}."
    results = [result for result in context.results if result.callable.function is callable.function]
    for result in results[:_MOST_RETURNS]:
        yield f"  it returns {_in_words(result.value)}{_place(context, result.site)}"
        for key, entry in islice(_unknown_parts(result), _MOST_RETURNS):
            where = f"`{key}` in it" if key else "a part of it"
            yield f"    {where} is {describe(entry.value)}{_place(context, entry.site)}"
    if len(results) > _MOST_RETURNS:
        yield f"  and {len(results) - _MOST_RETURNS} more"
    if not results and kind == "unknown":
        yield "  its framework changes what the function returns, or its function is not part of the project"


def _in_words(value: Value) -> str:
    """Return a value in words, after "it returns": "an unknown value: nothing in the project shows …"."""
    return (
        f"an {describe(value).replace('unknown:', 'unknown value:')}" if value is UNKNOWN else describe(value)
    )


def _unknown_parts(result: Result) -> Iterator[tuple[str | None, Entry]]:
    """Yield the unknown parts of a result, each with the key that it is under."""
    for key, entry in _entries(result.value, Entry(result.value, result.site)):
        if entry.value is not result.value and is_open(entry.value):
            yield key, entry


def _nothing(contexts: Sequence[Context], path: str) -> Iterator[str]:
    """Yield that the line has nothing to report, and the tools of the file."""
    yield "gllint sees no tool result, schema, unit, tool call or final message on this line."
    tools: dict[tuple[int, str], None] = {}
    for context in contexts:
        for tool in context.tools:
            for callable in tool.callables:
                if callable.module.path == path:
                    at = context.span(Site(callable.module, callable.function.at))
                    tools[at.line, tool.name or "?"] = None
    entries = [f"`{name}` (line {line})" for line, name in sorted(tools)]
    if entries:
        rest = f" and {len(entries) - _MOST_TOOLS} more" if len(entries) > _MOST_TOOLS else ""
        noun = "tool" if len(entries) == 1 else "tools"
        yield f"The {noun} of this file: {', '.join(entries[:_MOST_TOOLS])}{rest}."
    else:
        yield "This file has no tool; `gllint frameworks` lists what counts as one."
