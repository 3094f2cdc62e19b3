"""Which tools use which places of JSON Schemas, by their places, so that the answer can be stored."""

from __future__ import annotations

from gllint_rules.inference.values import Site
from gllint_rules.project.call_graph import Where
from gllint_rules.project.context import Context
from gllint_rules.project.project import Project
from gllint_rules.project.schemas import read_schema
from gllint_rules.reading.facts import Module
from gllint_rules.words.names import ARGS_SCHEMA, OUTPUT_SCHEMAS, RESULT_SCHEMAS

# Who uses a schema and is no tool that promises it: something else that does, and what takes it as arguments.
_NO_TOOL, _ARGUMENTS = ("", -1), ("", -2)


def users_of(context: Context, site: Site) -> list[Where]:
    """Return the tools that promise what a place in a result schema says, by if they are; ``_NO_TOOL`` for what is
    none.
    """
    users = context.project.once(_users).get((site.module.path, site.at), [])
    return [user for user in users if user != _ARGUMENTS]


def is_of_arguments(context: Context, site: Site) -> bool:
    """Return whether the same dict is part of what some tool takes."""
    return _ARGUMENTS in context.project.once(_users).get((site.module.path, site.at), ())


def learn_users(project: Project, path: str) -> None:
    """Ask one module what fixes ask of all of them, while its tools are at hand."""
    project.parts(_users_in, None, [path])


def _users(project: Project) -> dict[Where, list[Where]]:
    users: dict[Where, list[Where]] = {}
    for part in project.answers(_users_in, None):
        for where, user in part:
            users.setdefault(where, []).append(user)
    return users


def _users_in(project: Project, module: Module, argument: None) -> tuple[tuple[Where, Where], ...]:
    """Return the places in the schemas of a module, each with its user: a tool that promises it, or one of no tool."""
    context = Context.of(project, module)
    tools = project.tools.of(module)
    makers = {tool.call: tool for tool in tools if tool.call is not None}
    schemas = [(tool.args_schema, tool.scope, _ARGUMENTS) for tool in tools if tool.args_schema is not None]
    for call, scope in module.calls_where(
        lambda s: not s.keywords.isdisjoint((ARGS_SCHEMA, *OUTPUT_SCHEMAS))
    ):
        for name, value in call.keywords:
            if name == ARGS_SCHEMA:
                schemas.append((value, scope, _ARGUMENTS))
            elif name in OUTPUT_SCHEMAS:
                tool = makers.get(call) if name in RESULT_SCHEMAS else None
                schemas.append((value, scope, (module.path, tool.at) if tool is not None else _NO_TOOL))
    pairs: list[tuple[Where, Where]] = []
    for expr, scope, user in schemas:
        schema = read_schema(context, expr, scope)
        sites = schema.places.values() if schema is not None else ()
        pairs += ((where, user) for where in sorted({(site.module.path, site.at) for site in sites}))
    return tuple(pairs)
