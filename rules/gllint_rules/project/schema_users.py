"""Find the tools that use a JSON Schema, by their places, so that the answer can be stored."""

from __future__ import annotations

from gllint_rules.inference.values import Site
from gllint_rules.project.call_graph import Where
from gllint_rules.project.context import Context
from gllint_rules.project.project import Project
from gllint_rules.project.schemas import read_schema
from gllint_rules.reading.facts import Module
from gllint_rules.words.names import ARGS_SCHEMA, OUTPUT_SCHEMAS, RESULT_SCHEMAS

# The users of a schema that are not a tool with that result: another call with it, and a schema of arguments.
_NO_TOOL, _ARGUMENTS = ("", -1), ("", -2)


def users_of(context: Context, site: Site) -> list[Where]:
    """Return the tools whose result schema contains the dict at a place; ``_NO_TOOL`` for another call with it."""
    users = context.project.once(_users).get((site.module.path, site.at), [])
    return [user for user in users if user != _ARGUMENTS]


def is_of_arguments(context: Context, site: Site) -> bool:
    """Return whether the dict at a place is also part of a schema of arguments."""
    return _ARGUMENTS in context.project.once(_users).get((site.module.path, site.at), ())


def learn_users(project: Project, path: str) -> None:
    """Store the answer of one module to the question of :func:`users_of`, while the module is read anyway."""
    project.parts(_users_in, None, [path])


def _users(project: Project) -> dict[Where, list[Where]]:
    users: dict[Where, list[Where]] = {}
    for part in project.answers(_users_in, None):
        for where, user in part:
            users.setdefault(where, []).append(user)
    return users


def _users_in(project: Project, module: Module, argument: None) -> tuple[tuple[Where, Where], ...]:
    """Return pairs of a place in a schema of the module and its user: a tool, ``_NO_TOOL`` or ``_ARGUMENTS``."""
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
