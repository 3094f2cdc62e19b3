"""The commands and their options, read with click. The work of each is in a module of its own."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from typing import Any

import click

from gllint import __version__
from gllint.cli.output import FOUND, INTERRUPTED, NO_FINDINGS, WRONG, say
from gllint.cli.variables import is_from_environment, naming_variable, read_environment, strange_variables
from gllint.errors import UsageError
from gllint.files.config import LEVELS
from gllint.report import FORMATS, PAGE
from gllint.shown import visible

AGENT_NAMES = ("claude-code", "cursor", "codex", "copilot", "gemini")  # as `hosts/coding_agents.py` has them
_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


# Options and commands of ruff that users may try, and what gllint has instead.
_RUFF_NAMES = {
    "--show-settings": "gllint config PATH prints the settings in force",
    "--per-file-ignores": '--config \'per-file-ignores = {"tests/" = ["GL1"]}\' sets it for one run',
    "--extend-per-file-ignores": '--config \'per-file-ignores = {"tests/" = ["GL1"]}\' sets it for one run',
    "--respect-gitignore": "gllint always respects .gitignore, except for files that you pass",
    "--no-respect-gitignore": "gllint always respects .gitignore, except for files that you pass",
    "--target-version": "gllint reads the syntax of all supported Python versions: there is nothing to set",
    "--explain": "gllint rule CODE explains a rule",
    "--extension": "gllint reads .py, .pyi, .pyw and .ipynb, and any other file that you pass",
    "generate-shell-completion": "gllint completion SHELL prints the script",
    "linter": "gllint rule lists the rules",
    "format": "gllint formats nothing: ruff format does",
    "explain": "gllint rule CODE explains a rule",
}


@click.group(context_settings=_CONTEXT)
@click.version_option(__version__, "-V", "--version", prog_name="gllint")
def cli() -> None:
    """Find numbers in an AI agent's source that could reach the user without a source or a unit."""


def run(arguments: Sequence[str] | None) -> int:
    """Run the command of the arguments and return the exit status. Raises :class:`UsageError`."""
    try:
        return cli.main(arguments, prog_name="gllint", standalone_mode=False) or NO_FINDINGS
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except click.ClickException as error:
        naming_variable(_with_right_name(error)).show()
        return WRONG
    except click.Abort:
        return INTERRUPTED


def _with_right_name(error: click.ClickException) -> click.ClickException:
    """Return the error for an unknown option or command; if it is one of ruff's, the error says what gllint has."""
    name = error.option_name if isinstance(error, click.NoSuchOption) else ""
    if not name and isinstance(error, click.UsageError):
        # click has no error class for unknown commands, only this message.
        name = error.message.removeprefix("No such command '").partition("'")[0]
    if name not in _RUFF_NAMES:
        return error
    context = error.ctx if isinstance(error, click.UsageError) else None
    kind = "option" if name.startswith("-") else "command"
    return click.UsageError(f"No such {kind} '{name}': {_RUFF_NAMES[name]}.", context)


def _codes(_: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the codes of an option: ``("GL1,GL203",)`` → ``("GL1", "GL203")``. Raises :class:`UsageError` for
    unknown ones.
    """
    from gllint.files.config import split_codes
    from gllint.files.selection import check_selectors

    codes = split_codes(value)
    if codes == () and parameter.name == "select":
        # An empty variable in a script must not turn every rule off.
        raise UsageError("--select needs at least one code")
    check_selectors(codes or (), parameter.opts[0])
    return codes


def _whole(context: click.Context, option: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """Return the values of an option. The value of a variable is not split at blanks, as click would do."""
    text = option.resolve_envvar_value(context)
    return (text,) if text and is_from_environment(context, option) else value


def _patterns(context: click.Context, option: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    values = _whole(context, option, value)
    return tuple(pattern for text in values for part in text.split(",") if (pattern := part.strip()))


def _file_name(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Return the name of a file or folder, and reject an option in its place (``--baseline --fix``)."""
    if value is not None and value.startswith("--"):
        raise click.BadParameter(f"needs a name, got the option {value} (write ./{value} for such a file)")
    return value


def _place(_: click.Context, __: click.Parameter, value: str | None) -> tuple[str, int, str | None] | None:
    """Return the place in ``FILE:LINE`` or ``FILE:LINE:CODE``: ``"a.py:3:GL101"`` → ``("a.py", 3, "GL101")``.

    A column behind the line, as the output has it, says nothing more.
    """
    if value is None:
        return None
    import re

    match = re.fullmatch(r"(?P<path>.+?):(?P<line>[1-9]\d{0,8})(?::\d+)?(?::(?P<code>GL\d+))?", value)
    if match is None:
        raise click.BadParameter("must be FILE:LINE or FILE:LINE:CODE")
    return match["path"], int(match["line"]), match["code"]


def _complete_codes(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    from gllint_rules import RULES

    start = incomplete.rfind(",") + 1
    return [incomplete[:start] + code for code in RULES if code.startswith(incomplete[start:].upper())]


def _complete_keys(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    from gllint.files.config import schema

    return [key for key in schema()["properties"] if key.startswith(incomplete)]


def _option(*names: str, **keywords: Any) -> Callable[[Any], Any]:
    """Return a click option. The last of ``names`` is its help."""
    return click.option(*names[:-1], help=names[-1], **keywords)


def _flag(*names: str, **keywords: Any) -> Callable[[Any], Any]:
    return _option(*names, is_flag=True, **keywords)


def _file(*names: str, metavar: str = "FILE", **keywords: Any) -> Callable[[Any], Any]:
    return _option(*names, metavar=metavar, callback=_file_name, **keywords)


def _choice(choices: Sequence[str], *names: str, **keywords: Any) -> Callable[[Any], Any]:
    return _option(*names, type=click.Choice(choices), **keywords)


def _code_option(name: str, text: str) -> Callable[[Any], Any]:
    return _option(
        name, text, multiple=True, metavar="CODES", callback=_codes, shell_complete=_complete_codes
    )


def _text_or_json(text: str) -> Callable[[Any], Any]:
    return _choice(["text", "json"], "--output-format", text, default="text")


def _configured(command: Any) -> Any:
    command = _flag("--isolated", "Ignore all configuration files.")(command)
    return _option("--config", "Read the configuration from this file.", metavar="FILE")(command)


def _split(texts: Sequence[str]) -> tuple[str | None, tuple[str, ...]]:
    """Split the values of ``--config`` into a file (``None`` without one) and settings. Raises :class:`UsageError`."""
    from gllint.files.config import is_inline

    files = [text for text in texts if not is_inline(text)]
    if len(files) > 1:
        raise UsageError(f"--config takes one file, got {files[0]} and {files[1]}")
    return (files[0] if files else None), tuple(text for text in texts if is_inline(text))


_NO_CACHE = _flag("--no-cache", "Neither read nor write the cache.")
_JOBS = _option("--jobs", "The number of processes.", type=click.IntRange(min=1), metavar="N")


@cli.command(short_help="Check files and folders.")
@click.argument("paths", nargs=-1, metavar="[PATHS]...")
@_code_option("--select", "Codes or prefixes to check for, comma-separated (GL1,GL401).")
@_code_option("--ignore", "Codes or prefixes to leave out.")
@_code_option("--extend-select", "Codes or prefixes to check for, in addition to those selected.")
@_code_option("--extend-ignore", "Codes or prefixes to leave out, in addition to those ignored.")
@_choice(LEVELS, "--fail-level", "The lowest severity that makes the exit status 1.")
@_choice(list(FORMATS), "--output-format", "The format of the output.", default="full")
@_file("--output-file", "Write to this file instead of standard output.")
@_flag("--fix", "Apply the safe fixes.")
@_flag("--fix-only", "Apply the safe fixes, and do not report the findings that remain.")
@_flag("--unsafe-fixes", "With --fix, --fix-only or --diff: apply the unsafe fixes too.")
@_code_option("--fixable", "Codes or prefixes whose fixes may be applied (default: all).")
@_code_option("--unfixable", "Codes or prefixes whose fixes must not be applied.")
@_flag("--show-fixes", "List the fixes in each file.")
@_flag("--diff", "Print what --fix would change, and change nothing.")
@_file("--baseline", "Report only findings that are not in this baseline.")
@_file("--write-baseline", "Write all findings to this baseline.")
@_flag("--prune-baseline", "Remove fixed findings from the baseline.")
@_option(
    "--since",
    "Report only findings that are on, or depend on, lines changed since the merge base of HEAD and REV "
    "(with REV..: since REV).",
    metavar="REV",
)
@_flag("--add-noqa", "Write a suppression at each finding.")
@_flag("--ignore-noqa", "Also report findings that comments suppress.")
@_option(
    "--config",
    "Read the configuration from this file, or set one key in TOML syntax.",
    multiple=True,
    metavar="FILE|KEY=VALUE",
    callback=_whole,
)
@_flag("--isolated", "Ignore all configuration files.")
@_option(
    "--exclude",
    "--extend-exclude",
    "exclude",
    "More files to leave out: patterns, comma-separated.",
    multiple=True,
    metavar="PATTERNS",
    callback=_patterns,
)
@_flag("--force-exclude", "Leave out excluded files even when you pass them.", default=None)
@_option("--stdin-filename", "With '-': the file name to report for standard input.", metavar="NAME")
@_flag("--statistics", "Print counts by rule, kind of number and file instead of findings.")
@_flag("--show-files", "List the files that would be checked, and exit.")
@_flag("--watch", "Check again whenever a file changes (needs the package watchfiles).")
@_flag("--exit-zero", "Exit with 0 even if there are findings.")
@_flag("--strict", "Report every number, including counts, indexes and identifiers.")
@_flag("--fail-on-unseen", "Exit with 1 if anything was not checked.")
@_flag("--exit-non-zero-on-fix", "Exit with 1 if anything was fixed.")
@_NO_CACHE
@_file("--cache-dir", "The folder of the cache.", metavar="FOLDER")
@_JOBS
@_option("--why", "Explain why there is a finding, or none.", callback=_place, metavar="FILE:LINE[:CODE]")
@_flag("--timings", "Print the time of each step and each rule.")
@_choice(
    ["auto", "always", "never"], "--color", "When to print in colour (auto: on a terminal).", default="auto"
)
@_flag("-q", "--quiet", "Print only findings.")
@_flag("-s", "--silent", "Print nothing; only set the exit status.")
@_flag("-v", "--verbose", "Print more details.")
@click.pass_context
def check(context: click.Context, /, **fields: Any) -> None:
    """Check files and folders (default: the current one); '-' reads standard input.

    Each option that writes no file can also be set in the environment: GLLINT_OUTPUT_FORMAT=github.
    """
    from gllint.cli.checking import run
    from gllint.cli.request import Request

    config, settings = _split(fields.pop("config"))
    request = Request(**fields, config=config, settings=settings)
    if not (request.quiet or request.silent):
        for sentence in strange_variables(check, os.environ):
            say(f"gllint: {visible(sentence)}", error=True)
    context.exit(run(request))


read_environment(check)


@cli.command(short_help="Write an HTML report.")
@click.argument("paths", nargs=-1, metavar="[PATHS]...")
@_file("-o", "--output-file", "Where to write the page (report.html).", required=True)
@_file("--baseline", "Mark the findings that are not in this baseline as new.")
@_code_option("--select", "Codes or prefixes to check for, comma-separated (GL1,GL401).")
@_code_option("--ignore", "Codes or prefixes to leave out.")
@_configured
@_NO_CACHE
@_JOBS
@_flag("-q", "--quiet", "Print only errors.")
@click.pass_context
def report(context: click.Context, /, **fields: Any) -> None:
    """Write an HTML page with the findings at PATHS (default: the current folder) and where numbers come from.

    The page is one file that needs no network. Findings do not change the exit status.
    """
    from gllint.cli.checking import run
    from gllint.cli.request import Request

    context.exit(run(Request(**fields, output_format=PAGE, exit_zero=True)))


@cli.command(short_help="Explain a rule or a family of rules, or list all.")
@click.argument("code", required=False, shell_complete=_complete_codes)
@_flag("--all", "every", "Explain every rule.")
@_text_or_json("The format of the output.")
def rule(code: str | None, every: bool, output_format: str) -> None:
    """Explain a rule (GL101) or a family of rules (GL1); without CODE, list all rules.

    CODE is a code, the beginning of several codes, or the name of a rule.
    """
    from gllint.cli.explaining import rules_text

    if every and code is not None:
        raise UsageError("CODE and --all cannot both be given")
    click.echo(rules_text(code, output_format, every), nl=False)


@cli.command(short_help="Print the settings and where each comes from.")
@click.argument("path", default=".", metavar="[PATH|KEY]", shell_complete=_complete_keys)
@_flag("--schema", "Print the JSON Schema of the configuration.")
@_configured
def config(path: str, schema: bool, config: str | None, isolated: bool) -> None:
    """Print the settings in force for PATH and the file each came from, or explain one KEY."""
    from gllint.cli.explaining import config_text, key_text, schema_text

    if schema:
        text = schema_text()
    elif os.path.exists(path) or {"/", "\\", "."} & {*path}:
        text = config_text(path, config, isolated)
    else:
        text = key_text(path, config, isolated)
    click.echo(text, nl=False)


@cli.command(short_help="List the allowed units, or check one.")
@click.argument("unit", required=False)
@_text_or_json("The format of the output.")
@_option("--pack", "List the units of this pack instead (counts, time, data, …).", metavar="NAME")
@_flag("--explain", "Print step by step how UNIT is read.")
@click.pass_context
def units(
    context: click.Context, unit: str | None, output_format: str, pack: str | None, explain: bool
) -> None:
    """List the allowed units, or say why UNIT is allowed or not."""
    from gllint.cli.explaining import unit_text, units_text

    if unit is not None and pack is not None:
        raise UsageError("UNIT and --pack cannot both be given")
    if unit is None and explain:
        raise UsageError("--explain needs a UNIT")
    if unit is None:
        click.echo(units_text(output_format, pack), nl=False)
        return
    text, allowed = unit_text(unit, explain=explain)
    click.echo(text, nl=False)
    context.exit(NO_FINDINGS if allowed else FOUND)


@cli.command(short_help="Print the table of frameworks.")
@_text_or_json("The format of the output.")
def frameworks(output_format: str) -> None:
    """Print the table of frameworks: what makes a tool in each, and the version it was verified against."""
    from gllint.cli.explaining import frameworks_text

    click.echo(frameworks_text(output_format), nl=False)


@cli.command(short_help="Propose a configuration, a baseline and a hook.")
@click.argument("path", default=".")
@_flag("-y", "--yes", "Write without asking.")
@_flag("--dry-run", "Print a diff of the changes, and write nothing.")
@_choice(
    AGENT_NAMES,
    "--agent",
    "agents",
    "Also set up this coding agent: a hook after each edit, and instructions.",
    multiple=True,
)
@click.pass_context
def init(context: click.Context, path: str, yes: bool, dry_run: bool, agents: tuple[str, ...]) -> None:
    """Propose a configuration, a baseline and a commit hook that fit the project at PATH."""
    from gllint.cli.initialising import run

    context.exit(run(path, yes, dry_run, agents))


@cli.command(short_help="Check the files that a coding agent has just edited.")
@click.argument("agent", type=click.Choice(AGENT_NAMES))
@click.pass_context
def hook(context: click.Context, agent: str) -> None:
    """Check the file that a coding agent has just edited, and report in the agent's own protocol.

    The agent runs it after an edit, with the event on standard input: `gllint init --agent NAME` sets that up. It edits
    nothing, and reads no file outside of the project.
    """
    from gllint.cli.hooking import hook

    context.exit(hook(agent))


@cli.command(short_help="Start the language server, or a server for coding agents.")
@_flag("--stdio", "Accepted and ignored: some editors pass it.")
@_flag("--mcp", "for_agents", "Serve a coding agent over the Model Context Protocol instead.")
def server(stdio: bool, for_agents: bool) -> None:
    """Serve an editor on standard input and output (Language Server Protocol).

    With --mcp: serve a coding agent, with the tools check, fix, rule and units.
    """
    from importlib.util import find_spec

    if for_agents:
        from gllint.cli.agent_server import serve as serve_agents

        serve_agents()
        return
    if find_spec("pygls") is None:
        raise UsageError('the language server needs pygls: run `pip install "pygls>=2"`')
    from gllint.server import serve

    serve()


@cli.command(short_help="Check a running MCP server, or guard it.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND...]")
@_option("--url", "Connect to the server at this address instead of starting one.", metavar="URL")
@_option(
    "--timeout",
    "Seconds to wait for the server (30), or, with --guard, for each answer (300).",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
)
@_flag("--guard", "Relay between a client, on standard input and output, and the server.")
@_choice(
    ["block", "warn", "shadow"],
    "--level",
    "With --guard: reject violations of the policy, report them (the default), or only count them.",
)
@_option(
    "--listen",
    "With --guard: serve clients over HTTP at this address (127.0.0.1:8000), each with a server of its own.",
    metavar="ADDRESS",
)
@_file("--trace", "With --guard: the file for the recorded messages.")
@_flag("--no-trace", "With --guard: record no messages.")
@_flag("--describe", "Write a first draft of the units of the server's numbers that have none.")
@_file(
    "--from",
    "seen",
    "With --describe: include the numbers of the tool results in TRACE, a file that --guard recorded.",
    metavar="TRACE",
)
@_option(
    "--call",
    "Call one tool with these arguments, and check the numbers of its result.",
    metavar="'TOOL {JSON}'",
)
@_option("--install", "With --guard: print the entry for CLIENT's configuration.", metavar="CLIENT")
@_text_or_json("The format of the output.")
@_configured
@click.pass_context
def mcp(
    context: click.Context,
    command: tuple[str, ...],
    url: str | None,
    timeout: float | None,
    guard: bool,
    level: Any,
    listen: str | None,
    trace: str | None,
    no_trace: bool,
    describe: bool,
    seen: str | None,
    call: str | None,
    install: str | None,
    output_format: str,
    config: str | None,
    isolated: bool,
) -> None:
    """Check the output schemas of a running MCP server's tools, without calling any of them.

    COMMAND starts the server on standard input and output, in the environment of this command: gllint mcp --
    python server.py

    With --guard, relay messages between a client and the server, and change only numbers without units. In the
    client's configuration, this command takes the place of the server's own: --install prints the entry.
    """
    from gllint.cli.explaining import config_for
    from gllint.cli.server_tools import list_server_tools
    from gllint.cli.servers import report

    if bool(command) == bool(url):
        raise UsageError("give either a command after -- that starts the server, or --url")
    if url is not None and not url.lower().startswith(("http://", "https://")):
        raise UsageError(f"--url: must begin with http:// or https://, got {url!r}")
    of_guard = {
        "--level": level,
        "--listen": listen,
        "--trace": trace,
        "--no-trace": no_trace,
        "--install": install,
    }
    if not guard and (name := next((name for name, value in of_guard.items() if value), None)):
        raise UsageError(f"{name} needs --guard")
    if guard and describe:
        raise UsageError("--guard and --describe cannot both be given")
    if trace is not None and no_trace:
        raise UsageError("--trace and --no-trace cannot both be given")
    if install is not None and listen is not None:
        raise UsageError("--install and --listen cannot both be given")
    if install is not None:
        _print_installation(install, command, url, level)
        return
    settings = config_for(".", config, isolated)
    if guard:
        from gllint.cli import guarding
        from gllint.guard.streamable import read_address

        address = None if listen is None else read_address(listen)
        if listen is not None and address is None:
            raise UsageError(f"--listen: must be a host and a port, as in 127.0.0.1:8000, got {listen!r}")
        request = guarding.Request(
            command, url, level or "warn", timeout or guarding.TIMEOUT, trace, not no_trace, address
        )
        context.exit(guarding.run(request, settings))
    if seen is not None and not describe:
        raise UsageError("--from needs --describe")
    if call is not None:
        from gllint.cli.guarding import Request, judge_call

        tool, arguments = _tool_call(call)
        results: list[dict[str, Any]] = []
        list_server_tools(command, url, timeout or 30, (tool, arguments), results)
        text, has_findings = judge_call(tool, arguments, results[0], Request(command, url), settings)
        click.echo(text, nl=False)
        context.exit(FOUND if has_findings else NO_FINDINGS)
    tools = list_server_tools(command, url, timeout or 30)
    if describe:
        from gllint.cli.guarding import described

        click.echo(described(tools, command, url, settings, seen), nl=False)
        return
    text, has_findings = report(tools, settings, output_format)
    click.echo(text, nl=False)
    context.exit(FOUND if has_findings else NO_FINDINGS)


def _print_installation(client: str, command: Sequence[str], url: str | None, level: Any) -> None:
    """Print the entry for a client's configuration, with hints about paths. Raises :class:`UsageError`."""
    from gllint.guard.clients import PROGRAM, clients, installation, own_program

    if client not in clients():
        raise UsageError(f"--install: unknown client {client!r}; the clients are {', '.join(clients())}")
    click.echo(installation(client, command, url, level), nl=False)
    if os.path.isabs(path := own_program()):
        click.echo(f'If the client cannot find "{PROGRAM}", use its full path: "{visible(path)}".', err=True)
    for part in command:
        if os.path.isfile(part) and not os.path.isabs(part):
            whole, shown = visible(os.path.abspath(part)), visible(part)
            hint = f'If the client starts the server in another folder, write "{whole}" instead of "{shown}".'
            click.echo(hint, err=True)


def _tool_call(text: str) -> tuple[str, dict[str, Any]]:
    """Read ``--call``: ``meter {"site": 7}`` → ``("meter", {"site": 7})``. Raises :class:`UsageError`."""
    tool, _, rest = text.strip().partition(" ")
    try:
        arguments = json.loads(rest or "{}")
    except ValueError as error:
        raise UsageError(f"--call: {rest!r} is not valid JSON: {error}") from None
    if not tool or not isinstance(arguments, dict):
        raise UsageError(
            f"--call: must be a tool and its arguments, as in --call 'meter {{\"site\": 7}}', got {text!r}"
        )
    return tool, arguments


@cli.command(short_help="Check the numbers in recorded runs.")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@_choice(
    ["auto", "openai", "anthropic", "langchain", "pydantic-ai", "otel", "mcp", "fixture"],
    "--format",
    "Accepted for scripts; each recording is read by the format that its keys show.",
    default="auto",
)
@_file(
    "--map",
    "A JSON or TOML file that says where recordings in another format keep the conversation, role, text, call and "
    "result.",
)
@_choice(
    ["text", "json", "json-lines", "junit", "sarif", "html"],
    "--output-format",
    "The format of the output.",
    default="text",
)
@_file("--output-file", "Write to this file instead of standard output.")
@_file("--baseline", "Report only numbers that are not in this baseline.")
@_file("--write-baseline", "Write all findings to this baseline.")
@_configured
@_flag("-q", "--quiet", "Print only the verdicts.")
@_flag("--stats", "Count faults per model and numbers per tool, with 95 % intervals.")
@_option(
    "--judge", "Count the answers that each mode, 'claims' and 'sourced', would reject.", metavar="MODE,MODE"
)
@click.pass_context
def audit(context: click.Context, /, **fields: Any) -> None:
    """Check recorded runs of an agent: which tool result each number of an answer comes from.

    RUN is a file of JSON or JSON Lines, a folder of them, or '-' for standard input. Exits with 1 if an answer has a
    number without a source, or with a unit other than that of its source.
    """
    from gllint.cli.auditing import Request, run

    context.exit(run(Request(**fields)))


@cli.command(hidden=True)
def version() -> None:
    """Print the version, as `--version` does: under the name that users of ruff and uv look for."""
    click.echo(f"gllint {__version__}")


@cli.command(short_help="Remove the cache.")
@click.argument("paths", nargs=-1)
@_file("--cache-dir", "The folder of the cache.", metavar="FOLDER", envvar="GLLINT_CACHE_DIR")
def clean(paths: tuple[str, ...], cache_dir: str | None) -> None:
    """Remove the cache of the projects at PATHS (default: the current one)."""
    from gllint.cli.explaining import clean_caches

    for line in clean_caches(paths or (".",), cache_dir):
        click.echo(line)


@cli.command(short_help="Print a completion script for a shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print a script that makes SHELL complete gllint's commands, options and codes."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(cli, {}, "gllint", "_GLLINT_COMPLETE").source())
