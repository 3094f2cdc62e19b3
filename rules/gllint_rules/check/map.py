"""A map of a project's numbers: what its tools return, in which unit, and which messages claim it."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from gllint_rules.finding import Span, ToolAt
from gllint_rules.inference.values import (
    Container,
    Key,
    ListOf,
    OtherKey,
    Record,
    Value,
    literal_of,
    options,
)
from gllint_rules.project.claimed import ClaimParts, claim_parts, sources
from gllint_rules.project.context import Context, subject_of
from gllint_rules.project.kinds import kind_of_leaf
from gllint_rules.project.project import Project
from gllint_rules.project.results import Result, is_quantity, leaves
from gllint_rules.project.sourced import is_sourced
from gllint_rules.project.templates import FinalStep, final_steps
from gllint_rules.project.test_paths import is_test_path
from gllint_rules.tools.tool import Tool
from gllint_rules.tuples import NamedTuple
from gllint_runtime.policy.claims import HOLE

MOST_TOOLS = 2_000
MOST_MESSAGES = 1_000
MOST_IN_RESULT = 5_000  # values; the numbers of a larger result are not listed
_NO_FRAMEWORK = "any"  # the row of what counts by its name alone
_EACH = "[*]"  # element of a list, as the guard writes it
_FILLED = "{…}"


class ReturnedNumber(NamedTuple):
    """A Quantity or a bare number in a tool's result, and its ``path`` as in a claim, with ``[]`` for lists.

    ``unit`` is a Quantity's unit, if it is a literal, and ``is_allowed`` the verdict of the policy. ``kind`` is the
    kind of a bare number ("count"), if it is known; ``is_shown`` says that sourced mode reads its unit from the output.
    """

    path: str
    is_quantity: bool
    unit: str | None = None
    is_allowed: bool = True
    kind: str | None = None
    is_shown: bool = False


class MappedTool(NamedTuple):
    """A tool, the place of its callable, and what it returns. ``framework`` is "" if the settings made it a tool."""

    tool: ToolAt
    span: Span
    framework: str
    returned: tuple[ReturnedNumber, ...]
    is_cut: bool = False  # its result is too large to look through


class MappedClaim(NamedTuple):
    """A claim in the source, with the tools whose result it may cite. ``path`` and ``unit`` are None if unknown."""

    path: str | None
    unit: str | None
    tools: tuple[ToolAt, ...]


class Message(NamedTuple):
    """A final message; its ``text`` has ``{…}`` for filled-in values. ``claims`` is None if they are not literal."""

    text: str
    path: str
    span: Span
    claims: tuple[MappedClaim, ...] | None


class Map(NamedTuple):
    """The tools and final messages of some files, without test code. ``is_cut``: there are more."""

    tools: tuple[MappedTool, ...] = ()
    messages: tuple[Message, ...] = ()
    is_cut: bool = False


def map_of(project: Project, paths: Collection[str]) -> Map:
    """Map the tools and final messages that the files at ``paths`` define."""
    contexts = [
        Context.of(project, project.modules[path]) for path in sorted(paths) if path in project.modules
    ]
    tools: dict[ToolAt, MappedTool] = {}
    messages: list[Message] = []
    for context in contexts:
        if context.is_test:
            continue
        for tool in context.tools:
            at = subject_of(tool, tool.callable).tool
            if at not in tools:
                tools[at] = _mapped(context, tool, at)
        tools_by_claim: dict[ClaimParts, tuple[ToolAt, ...]] = {}
        messages += (_message(context, step, tools_by_claim) for step in final_steps(context))
        if len(tools) > MOST_TOOLS or len(messages) > MOST_MESSAGES:
            break
    cut = len(tools) > MOST_TOOLS or len(messages) > MOST_MESSAGES
    return Map(tuple(tools.values())[:MOST_TOOLS], tuple(messages[:MOST_MESSAGES]), cut)


def _mapped(context: Context, tool: Tool, at: ToolAt) -> MappedTool:
    """Return a tool with the numbers that it returns."""
    returned: dict[ReturnedNumber, None] = {}
    is_cut = False
    for result in context.results_of(tool):
        if result.value.size > MOST_IN_RESULT:
            is_cut = True
            continue
        quantities = _quantities(result.value, "$")
        returned.update(dict.fromkeys(_with_verdict(context, quantity) for quantity in quantities))
        returned.update(dict.fromkeys(_numbers(context, result)))
    module = tool.callable.module if tool.callable is not None else tool.module
    span = context.project.positions(module).span(at.at)
    name = tool.framework.name if tool.framework is not None and tool.framework.name != _NO_FRAMEWORK else ""
    return MappedTool(at, span, name, tuple(returned), is_cut)


def _with_verdict(context: Context, quantity: ReturnedNumber) -> ReturnedNumber:
    """Return a Quantity with the verdict of the policy on its unit."""
    if quantity.unit is None:
        return quantity
    return quantity._replace(is_allowed=context.policy.judge(quantity.unit).status == "allowed")


def _quantities(value: Value, path: str) -> Iterator[ReturnedNumber]:
    """Yield the Quantities in a value with their paths."""
    for option in options(value):
        if isinstance(option, Record) and is_quantity(option):
            units = [o for entry in option.entries.get("unit", ()) for o in options(entry.value)]
            for unit in dict.fromkeys(map(literal_of, units)) or (None,):
                yield ReturnedNumber(path, True, unit)
        elif isinstance(option, Container):
            for key, entry in option.contents():
                yield from _quantities(entry.value, _path_to(path, key))
            if option.rest is not None:
                step = _EACH if isinstance(option, ListOf) else ".*"
                yield from _quantities(option.rest, path + step)


def _numbers(context: Context, result: Result) -> Iterator[ReturnedNumber]:
    """Yield the bare numbers in a result with their paths."""
    for leaf in leaves(result.value, result.site):
        # `leaf.lists` has, for each list around the number, how many keys lead to the list.
        path = "$" + _EACH * leaf.lists.count(0)
        for depth, key in enumerate(leaf.keys, 1):
            path = _path_to(path, key) + _EACH * leaf.lists.count(depth)
        is_shown = is_sourced(context, result, leaf)
        yield ReturnedNumber(path, False, kind=kind_of_leaf(leaf), is_shown=is_shown)


def _path_to(path: str, key: Key | None) -> str:
    """Return the path of an entry below ``path``."""
    match key:
        case None:
            return path + _EACH
        case str():
            return f"{path}.{key}"
        case OtherKey(representation=text):
            return f"{path}[{text}]"
        case _:
            return f"{path}.*"


def _message(
    context: Context, step: FinalStep, tools_by_claim: dict[ClaimParts, tuple[ToolAt, ...]]
) -> Message:
    """Return a final message with its text and its claims. ``tools_by_claim`` stores what claims may cite."""
    site = step.template.parts[0].site
    text = step.text.replace(HOLE, _FILLED)
    claims = None
    if step.claims is not None:
        step_claims = [claim_parts(entry.value) for entry in step.claims.items]
        claims = tuple(_claim(context, claim, tools_by_claim) for claim in step_claims if claim is not None)
    return Message(text, site.module.path, context.span(site), claims)


def _claim(
    context: Context, claim: ClaimParts, tools_by_claim: dict[ClaimParts, tuple[ToolAt, ...]]
) -> MappedClaim:
    """Return a claim with the tools that it may cite."""
    key = claim._replace(value=None)
    if key not in tools_by_claim:
        places = (subject_of(tool, tool.callable).tool for tool in sources(context, key))
        tools_by_claim[key] = tuple(at for at in places if not is_test_path(at.path, context.project.root))
    return MappedClaim(claim.path, claim.unit, tools_by_claim[key])
