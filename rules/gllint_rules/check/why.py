"""Why there is a finding at a place, and why there is none: the inference in words."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from gllint_rules.catalogue import RULES
from gllint_rules.check.check import together
from gllint_rules.inference.values import (
    NEVER,
    NONE,
    UNKNOWN,
    Because,
    Boolean,
    Entry,
    ExternalInstance,
    Instance,
    ListOf,
    Number,
    Record,
    Site,
    Text,
    ToolValue,
    UnionOf,
    Value,
    held_in,
    options,
)
from gllint_rules.project.context import Context, Pending
from gllint_rules.project.results import as_text
from gllint_rules.project.templates import final_steps
from gllint_rules.reading import facts

if TYPE_CHECKING:
    from gllint_rules.project.project import Project


def why(
    project: Project,
    path: str,
    line: int,
    code: str | None = None,
    in_force: Collection[str] = RULES.keys(),
    speakers: Collection[str] = (),
) -> list[str]:
    """The chain of evidence behind the findings of ``path`` at ``line``, or the reasons for silence, as lines.

    ``in_force`` are the codes that the configuration has selected for the file, ``speakers`` the modules of which
    something may be said there: those that hold a tool whose result is put together in ``path``.
    """
    module = project.imports.module_at(path)
    if module is None:
        return ["This file could not be read."]
    contexts = [
        Context.of(project, project.modules[p])
        for p in dict.fromkeys((path, *speakers))
        if p in project.modules
    ]
    codes = [code] if code is not None else [c for c, rule in RULES.items() if rule.default or c in in_force]
    out: list[str] = []
    for name in codes:
        found: dict[tuple[object, ...], list[Pending]] = {}
        check = RULES[name].check
        if check is None:
            continue
        for context in contexts:
            for pending in check(context):
                if pending.site.module.path == path and context.span(pending.site).line == line:
                    found.setdefault((pending.site, pending.within), []).append(pending)
        for pendings in found.values():
            out.extend(_finding(contexts[0], pendings))
            if name not in in_force:
                out.append(f"  not reported: the configuration does not select {name} for this file")
    if out:
        return out
    about = [f"There is no {code} on this line."] if code is not None else []
    if code is not None and RULES[code].check is None:
        return [*about, f"{code} is not a rule about values: `gllint rule {code}` says when it speaks."]
    said = dict.fromkeys(words for context in contexts for words in _silence(context, path, line))
    return about + ([*said] or [*_nothing(contexts, path)])


def _finding(context: Context, pendings: Sequence[Pending]) -> Iterator[str]:
    yield f"{pendings[0].code} {together(pendings)[0]}"
    if (because := pendings[0].because) is not None:
        yield from _chain(context, because, 1)
    if pendings[0].help:
        yield f"  help: {pendings[0].help}"


def _chain(context: Context, because: Because, depth: int) -> Iterator[str]:
    yield f"{'  ' * depth}because {because.message}{_place(context, because.site)}"
    for reason in because.behind:
        yield from _chain(context, reason, depth + 1)


def _place(context: Context, site: Site | None) -> str:
    if site is None:
        return ""
    positions = context.project.positions(site.module)
    text = " ".join(positions.text(site.at).split())
    shown = text if len(text) <= 60 else f"{text[:57]}..."
    name = posixpath.relpath(site.module.path, context.project.root or posixpath.dirname(site.module.path))
    return f" ({name}:{positions.span(site.at).line}: `{shown}`)"


def _silence(context: Context, path: str, line: int) -> Iterator[str]:
    """What is known of the values on the line, and why no rule speaks."""
    for result in context.results:
        tool = f"tool `{result.tool.name}`" if result.tool.name else "a tool"
        for key, entry in _entries(result.value, Entry(result.value, result.site)):
            if entry.site.module.path == path and context.span(entry.site).line == line:
                what = f"`{key}` in the result of {tool}" if key else f"the result of {tool}"
                yield f"{what} is {describe(entry.value)}{_place(context, entry.site)}"
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


def _entries(
    value: Value, entry: Entry, key: str | None = None, depth: int = 0
) -> Iterator[tuple[str | None, Entry]]:
    yield key, entry
    for option in options(value) if depth < 20 else ():
        if isinstance(option, (Record, ListOf)):
            for name, inner in held_in(option):
                under = key if isinstance(option, ListOf) else as_text(name)
                yield from _entries(inner.value, inner, under, depth + 1)


def describe(value: Value) -> str:
    """A value of the inference in words."""
    match value:
        case Number():
            return "a number"
        case Text():
            return "text"
        case Boolean():
            return "a truth value"
        case Record(quantity=True):
            return "a Quantity"
        case Record(entries=entries) if set(entries) == {"value", "unit"}:
            return "a Quantity"
        case Record(cls=None):
            return "a dict"
        case ListOf():
            return "a list"
        case Instance(of=of) | Record(cls=of) if of is not None:
            return f"an instance of `{of.cls.name}`"
        case ExternalInstance(name=name):
            return f"an instance of `{name}`, which is not part of the project"
        case ToolValue(tool=tool):
            return f"tool `{tool.name}`"
        case UnionOf():
            return "one of: " + ", ".join(dict.fromkeys(describe(option) for option in value.options))
        case _ if value is NONE:
            return "None"
        case _ if value is UNKNOWN or value is NEVER:
            return "not known: nothing in the project shows what it holds, so no rule speaks"
        case _:
            return "neither a number nor a container"


def _nothing(contexts: Sequence[Context], path: str) -> Iterator[str]:
    yield "Nothing on this line is a tool's result, a schema, a unit, a tool call or a final message to gllint."
    for context in contexts:
        for tool in context.tools:
            for callable in tool.callables:
                if callable.module.path == path:
                    at = context.span(Site(callable.module, callable.function.at))
                    yield f"tool `{tool.name}` ({tool.form}) is at line {at.line}"
