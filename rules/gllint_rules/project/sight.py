"""How much of each tool's result gllint sees: numbers, which the rules check, text (GL104), or nothing."""

from __future__ import annotations

from collections.abc import Iterator

from gllint_rules.finding import ToolResult, ToolSight
from gllint_rules.inference import functions
from gllint_rules.inference.values import (
    NEVER,
    NONE,
    UNKNOWN,
    Boolean,
    Container,
    Envelope,
    FunctionOf,
    Interpolation,
    Literal,
    Number,
    Record,
    SerialisedText,
    Site,
    Text,
    Value,
    number,
    options,
)
from gllint_rules.project.candidates import candidates
from gllint_rules.project.context import Context, subject_of
from gllint_rules.project.kinds import is_plain_leaf
from gllint_rules.project.model_view import is_changed, wrappers
from gllint_rules.project.project import Project
from gllint_rules.project.results import Result, is_quantity, leaves, quantities
from gllint_rules.project.schemas import keyword_schemas
from gllint_rules.project.test_paths import is_test_path
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Module
from gllint_rules.tools.tool import Tool
from gllint_rules.words.names import OUTPUT_SCHEMAS
from gllint_runtime.policy.schema_numbers import find_raw_numbers

MOST_VALUES = 20_000  # of one result: what is larger is unknown
_ORDER: tuple[ToolResult, ...] = ("number", "text", "unknown", "other")


def sights(context: Context) -> Iterator[ToolSight]:
    """Yield each callable of a module's tools once, with what it returns as far as gllint sees it.

    Where several tools share a callable, the one whose result comes first in ``_ORDER`` counts. Then yield the
    candidates: functions that may be tools.
    """
    by_place: dict[tuple[str, int], ToolSight] = {}
    for tool in context.tools:
        subject = subject_of(tool, tool.callable).tool
        place = subject.path, subject.at
        result = result_of(context, tool)
        sight = by_place.get(place)
        if sight is None or _ORDER.index(result) < _ORDER.index(sight.result):
            module = tool.callable.module if tool.callable is not None else tool.module
            line = sight.line if sight else context.project.positions(module).span(subject.at).line
            others = _other_parts(context, tool, result)
            by_place[place] = ToolSight(subject, line, result, others, names=_names_of(context, tool))
    yield from by_place.values()
    yield from candidates(context)


def _names_of(context: Context, tool: Tool) -> int:
    """Return how many tools a callable serves: one function of a low-level server may answer for several."""
    if not _is_server(tool):
        return 1
    described = context.project.once(_described)
    counts = [count for path, count, _ in described if path == tool.module.path]
    if sum(is_server for *_, is_server in described) < 2:
        counts = [count for _, count, _ in described]
    return max(1, sum(counts))


def _is_server(tool: Tool) -> bool:
    return tool.framework is not None and "low level" in tool.framework.name


def _described(project: Project) -> tuple[tuple[str, int, bool], ...]:
    """Return path, number of described tools (`Tool(name="x", inputSchema=…)`), and whether it has a server, by module.

    Tests describe none.
    """
    return tuple(project.answers(_described_in, None))


def _described_in(project: Project, module: Module, argument: None) -> tuple[str, int, bool]:
    """Return path, number of tools that a module describes, and whether it makes a server."""
    if is_test_path(module.path, project.root):
        return module.path, 0, False
    names: set[str] = set()
    others = 0  # a handler of its own class describes its tool by `name=self.name`
    for call, _ in module.calls_of({"Tool"}):
        name = call.keyword("name")
        if name is not None and (literal := facts.literal_text(name)):
            names.add(literal)
        elif call.keyword("inputSchema") is not None:
            others += 1
    return module.path, len(names) + others, any(map(_is_server, project.tools.of(module)))


def numbers_of_plain_kinds(context: Context) -> list[Site]:
    """Return the places of numbers in results and schemas that are not reported only because of ``plain-kinds``."""
    policy = context.policy
    if not policy.plain_kinds:
        return []
    strict = policy._replace(plain_kinds=())
    places = [
        leaf.site
        for result in context.results
        for leaf in leaves(result.value, result.site)
        if is_plain_leaf(leaf, policy) and not is_plain_leaf(leaf, strict)
    ]
    for keyword_schema in keyword_schemas(context, OUTPUT_SCHEMAS):
        schema = keyword_schema.schema
        reported = find_raw_numbers(schema.data, policy.is_plain, policy.allows, policy.quantity_shapes)
        raw = find_raw_numbers(schema.data, strict.is_plain, policy.allows, policy.quantity_shapes)
        places += [schema.place(path) for path in raw if path not in reported]
    return list(dict.fromkeys(places))


def result_of(context: Context, tool: Tool) -> ToolResult:
    """Return what a tool returns: the first of "number" (a Quantity, too), "text" and "unknown" in its results.

    "other" if its results contain none of these.
    """
    callables = (*tool.callables, *tool.inherited)
    if not callables:
        return "unknown"
    kinds: set[ToolResult] = set()
    for callable in callables:
        results = _results(context, tool, callable)
        if not results and is_changed(context.evaluator, tool, callable):
            # A decorator of the project makes a text of it, or the framework something unknown.
            kinds.add("text" if any(wrappers(context.evaluator, callable)) else "unknown")
            continue
        result_kinds = {kind for result in results for kind in kinds_of(result)}
        if "unknown" in result_kinds and _declares_number(context, callable):
            result_kinds.add("number")
        kinds |= result_kinds
    return next((kind for kind in _ORDER if kind in kinds), "other")


def _other_parts(context: Context, tool: Tool, result: ToolResult) -> tuple[ToolResult, ...]:
    """Return what a tool returns in addition to ``result``: "text" that may contain more numbers, "unknown" parts."""
    if result not in ("number", "text"):
        return ()
    has_text = is_partly_open = False
    for callable in (*tool.callables, *tool.inherited):
        values = [returned.value for returned in _results(context, tool, callable)]
        is_declared = _declares_number(context, callable)
        for value in values:
            if value.size > MOST_VALUES:
                is_partly_open = True
                continue
            has_text = has_text or _tells_numbers(value)
            is_partly_open = (
                is_partly_open or _has_open_part(value) or (not is_declared and UNKNOWN in options(value))
            )
    text: tuple[ToolResult, ...] = ("text",) if has_text and result == "number" else ()
    return (*text, "unknown") if is_partly_open else text


def _tells_numbers(value: Value) -> bool:
    """Return whether a text in a value may contain numbers: it has digits, or a filled-in value may be a number."""
    for option in options(value):
        match option:
            case SerialisedText():
                if _tells_numbers(option.value):
                    return True
            case Text(parts=parts):
                if any(map(_may_be_digits, parts or ())):
                    return True
            case Record() if is_quantity(option):
                pass
            case Container():
                values = [entry.value for _, entry in option.contents()]
                if any(map(_tells_numbers, values if option.rest is None else [*values, option.rest])):
                    return True
            case _:
                pass
    return False


def _may_be_digits(part: Literal | Interpolation) -> bool:
    """Return whether a part of a text contains digits, or is filled by what may be a number."""
    if isinstance(part, Literal):
        return any(map(str.isdigit, part.text))
    is_text = all(isinstance(option, (Text, Boolean)) or option is NONE for option in options(part.value))
    return not is_text or _tells_numbers(part.value)


def _has_open_part(value: Value) -> bool:
    """Return whether a part of a container, serialised or not, is unknown."""
    for option in options(value):
        if isinstance(option, SerialisedText):
            if _has_open_part(option.value):
                return True
        elif isinstance(option, Container) and not (isinstance(option, Record) and is_quantity(option)):
            if is_open(option) or any(
                is_open(entry.value) or _has_open_part(entry.value) for _, entry in option.contents()
            ):
                return True
            if option.rest is not None and _has_open_part(option.rest):
                return True
    return False


def is_open(value: Value) -> bool:
    """Return whether a value is unknown, or a container that may have further, unknown parts."""
    for option in options(value):
        if isinstance(option, Container):
            if isinstance(option, Record) and is_quantity(option):
                continue
            # The parts of an envelope that the model does not see need not be known.
            if isinstance(option, Record) and not (option.is_listed or isinstance(option, Envelope)):
                return True
            if option.rest is not None and is_open(option.rest):
                return True
        elif not isinstance(option, (Number, Text, Boolean)) and option is not NONE and option is not NEVER:
            return True
    return False


def _declares_number(context: Context, callable: FunctionOf) -> bool:
    """Return whether the return annotation is a number. One that is a text does not say what the text has."""
    declared = functions.declared_return(context.evaluator, callable)
    return declared is not None and number(declared) is not None


def _results(context: Context, tool: Tool, callable: FunctionOf) -> list[Result]:
    """Return the results of a callable of ``tool``, and those of the decorators around it."""
    by_place = context.once(_results_by_place)
    return [*by_place.get(callable.function, ()), *by_place.get(tool, ())]


def _results_by_place(context: Context) -> dict[object, list[Result]]:
    """Return the results of a module's tools by function; those of a project's decorator by tool."""
    by_place: dict[object, list[Result]] = {}
    for result in context.results:
        own = any(
            result.callable is callable for callable in (*result.tool.callables, *result.tool.inherited)
        )
        by_place.setdefault(result.callable.function if own else result.tool, []).append(result)
    return by_place


def kinds_of(result: Result) -> frozenset[ToolResult]:
    """Return what a result contains. If that is a number, nothing else is looked for."""
    if result.value.size > MOST_VALUES:
        return frozenset({"unknown"})
    if next(leaves(result.value, result.site), None) or next(quantities(result.value, result.site), None):
        return frozenset({"number"})
    return frozenset(_kinds_of_parts(result.value))


def _kinds_of_parts(value: Value) -> Iterator[ToolResult]:
    """Yield "number" for each Quantity in a value, "text" for each text, "unknown" for what is neither.

    Nothing for None and booleans. Bare numbers are looked for by the callers: here they are unknown.
    """
    for option in options(value):
        match option:
            case Text():
                yield "text"
            case Record() if is_quantity(option):
                yield "number"
            case Container():
                for _, entry in option.contents():
                    yield from _kinds_of_parts(entry.value)
                if option.rest is not None:
                    yield from _kinds_of_parts(option.rest)
                if isinstance(option, Record) and not option.is_listed:
                    yield "unknown"
            case Boolean():
                pass
            case _ if option is not NONE and option is not NEVER:
                yield "unknown"
            case _:
                pass
