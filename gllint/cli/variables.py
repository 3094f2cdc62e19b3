"""The options of ``gllint check`` in the environment: ``GLLINT_OUTPUT_FORMAT=github``.

Options that write a file are read from the command line alone, so that the command shows what a run changes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

import click
from click.core import ParameterSource

from gllint.errors import nearest

PREFIX = "GLLINT_"
_WRITERS = frozenset({"add_noqa", "fix", "fix_only", "output_file", "prune_baseline", "write_baseline"})
_OTHER_VARIABLES = frozenset({"GLLINT_CACHE_KEY", "GLLINT_TRACEBACK"})


def read_environment(command: click.Command) -> None:
    """Let variables such as ``GLLINT_FAIL_LEVEL`` set each option of ``command`` that writes no file."""
    for option in command.params:
        if isinstance(option, click.Option) and option.name not in _WRITERS:
            names = [name for name in option.opts if name.startswith("--")]
            option.envvar = [PREFIX + name.lstrip("-").replace("-", "_").upper() for name in names]


def is_from_environment(context: click.Context, option: click.Parameter) -> bool:
    """Return whether the value of an option was read from the environment."""
    return bool(option.name) and context.get_parameter_source(option.name) is ParameterSource.ENVIRONMENT


def naming_variable(error: click.ClickException) -> click.ClickException:
    """Return the error, with the name of the environment variable that has the wrong value."""
    context, option = getattr(error, "ctx", None), getattr(error, "param", None)
    if isinstance(context, click.Context) and isinstance(option, click.Option):
        variables = [name for name in option.envvar or () if os.environ.get(name)]
        if variables and is_from_environment(context, option):
            return click.BadParameter(f"{error.message.rstrip('.')} (from {variables[0]}).", context, option)
    return error


def strange_variables(command: click.Command, environment: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence for each ``GLLINT_…`` variable that the command does not read."""
    options = [option for option in command.params if isinstance(option, click.Option)]
    variables = {str(name) for option in options for name in option.envvar or ()}
    for name in sorted(environment):
        if not name.startswith(PREFIX) or name in variables or name in _OTHER_VARIABLES:
            continue
        option_name = name.removeprefix(PREFIX).lower()
        candidates = {variable.removeprefix(PREFIX).lower(): variable for variable in sorted(variables)}
        if option_name in _WRITERS:
            option_text = f"--{option_name.replace('_', '-')}"
            yield f"{name} is ignored: {option_text} writes a file and must be given on the command line"
        else:
            yield f"{name} matches no option of gllint check{nearest(option_name, candidates)}"
