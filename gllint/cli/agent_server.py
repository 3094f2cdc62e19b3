"""``gllint server --mcp``: gllint's own commands as tools for coding agents, over the Model Context Protocol.

Each answers with the text that the command prints. Only files below the folder in which the server was started are read
or written.
"""

from __future__ import annotations

import contextlib
import io
import os
import threading
from typing import Any

from gllint import __version__
from gllint.cli import explaining
from gllint.cli.checking import run
from gllint.cli.mcp_sdk import sdk_error
from gllint.cli.output import WRONG
from gllint.cli.request import Request
from gllint.errors import UsageError
from gllint.files.writing import way_out
from gllint_runtime.policy.tool_hints import hints_of

_INSTRUCTIONS = (
    "Checks the Python source of AI agents for numbers that reach a user without a tool, a unit and provenance. Call"
    " `check` after an edit, write the repair after `|`, and never guess a unit that the source does not show."
)
# What a check prints goes to the process's own standard output, of which there is one.
_ONE_AT_A_TIME = threading.Lock()


def check(paths: list[str]) -> str:
    """Check files and folders; one line a finding: path:line:column CODE message | repair.

    Relative paths; [] or ["."] checks the whole project.
    """
    for path in paths:
        _refuse_outside(path)
    return _checked_output(Request(paths=tuple(paths), output_format="agent", jobs=1))


def fix(path: str, unsafe: bool = False, write: bool = False) -> str:
    """Return the changes that gllint's fixes would make in a file, as a unified diff; with `write` they are made.

    Only the safe fixes, unless `unsafe` is true: an unsafe fix makes a Quantity of a number, in the unit that the
    source shows.
    """
    _refuse_outside(path)
    if not os.path.isfile(path):
        raise UsageError(f"{path}: no such file")
    request = Request(paths=(path,), unsafe_fixes=unsafe, jobs=1)
    change = _checked_output(request._replace(diff=True, quiet=True))
    if write and change:
        _checked_output(request._replace(fix_only=True, quiet=True))
    return change or "There is nothing to fix."


def rule(code: str) -> str:
    """Explain a rule by its code (GL101) or name, or a family (GL1): why, bad and good example, how to fix it."""
    return explaining.rules_text(code, "text")


def units(unit: str) -> str:
    """Say whether a unit is allowed in this project, how it is written, and why not."""
    return explaining.unit_text(unit)[0]


def serve() -> None:
    """Serve a coding agent on standard input and output until it disconnects. Needs ``gllint[mcp]``."""
    try:
        from mcp.server import MCPServer
        from mcp.types import ToolAnnotations
    except ImportError as error:
        raise sdk_error("gllint server --mcp", error) from None
    server: Any = MCPServer("gllint", version=__version__, instructions=_INSTRUCTIONS, log_level="ERROR")
    for function in (check, fix, rule, units):
        annotations = ToolAnnotations.model_validate(
            hints_of("MODIFICATION" if function is fix else "READ_ONLY")
        )
        server.tool(annotations=annotations)(_answering(function))
    server.run("stdio")


def _answering(function: Any) -> Any:
    """Return a tool that answers a :class:`UsageError` with its message."""
    from functools import wraps

    from mcp.server.mcpserver.exceptions import ToolError

    @wraps(function)
    def answer(**arguments: Any) -> str:
        try:
            text: str = function(**arguments)
        except UsageError as error:
            raise ToolError(str(error)) from None
        return text

    return answer


def _checked_output(request: Request) -> str:
    """Run a check and return its output: the findings, then the summary. Raises :class:`UsageError`."""
    # A check also writes bytes to `sys.stdout.buffer`, which a StringIO does not have.
    output, error = io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace"), io.StringIO()
    with _ONE_AT_A_TIME, contextlib.redirect_stdout(output), contextlib.redirect_stderr(error):
        status = run(request)
    if status == WRONG:
        raise UsageError(error.getvalue().strip() or "gllint failed")
    output.seek(0)
    return output.read() + error.getvalue()


def _refuse_outside(path: str) -> None:
    """Raise :class:`UsageError` for a path outside the folder that the server works in."""
    try:
        outside = way_out(path, os.getcwd()) is not None
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None
    if outside:
        raise UsageError(f"{path}: is outside {os.getcwd()}, the folder of this server")
