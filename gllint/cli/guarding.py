"""``gllint mcp --guard``, ``--describe`` and ``--install``."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import signal
import socket
import sys
import tomllib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from gllint.cli.mcp_sdk import lack_of_sdk
from gllint.cli.output import NO_FINDINGS, WRONG
from gllint.cli.server_tools import ServerTool
from gllint.errors import UsageError
from gllint.files.config import Config
from gllint.guard.draft import draft, schemas_in
from gllint.guard.exchange import Guard
from gllint.guard.naming import server_name
from gllint.guard.relay import Client, Relay, ServerTrouble, standard_client, started
from gllint.guard.streamable import PATH, Sessions, connected, security
from gllint.guard.transcript import Transcript, default_path
from gllint.guard.unit_places import UnitPlaces, read_places
from gllint.run.signing import state_folder
from gllint.shown import silence, toml_key, visible
from gllint_rules.tuples import NamedTuple
from gllint_runtime.policy.levels import Level
from gllint_runtime.policy.toml_lines import line_of
from gllint_runtime.policy.wording import nearest

TIMEOUT = 300.0
TABLE = "tool.gllint"
_MOST_ROWS = 20  # of the configuration, that are printed at the end
_DONE = {"block": "rejected", "warn": "reported", "shadow": "counted"}


class Request(NamedTuple):
    """The options of a guard."""

    command: tuple[str, ...]
    url: str | None = None
    level: Level = "warn"
    timeout: float = TIMEOUT
    trace: str | None = None
    has_trace: bool = True
    listen: tuple[str, int] | None = None


def run(request: Request, config: Config) -> int:
    """Relay between a server and its client until one of them ends, and return the exit status.

    The client is on standard input and output; with ``listen``, each client of the address has a server of its own.
    """
    gc.enable()  # it runs for days
    if request.url is not None or request.listen is not None:
        _require_sdk()
    silence("gllint_runtime")  # the guard reports it instead
    path = request.trace or default_path(state_folder())
    units = units_for(config, request)
    table = f"{_prefix(config.source)}guard.{toml_key(server_name(request.command, request.url))}.units"
    transcript = Transcript(path if request.has_trace else None)

    async def relay(client: Client, session: str | None = None) -> None:
        """Relay the messages of one client until one side ends."""
        guard = Guard(config.rules.policy, request.level, units, _say, table)
        url = request.url
        try:
            await Relay(guard, transcript, _say, request.timeout, client, session).run(
                lambda: started(request.command) if url is None else connected(url)
            )
        finally:
            if summary := guard.summary():
                _say(f"{_DONE[request.level]}: {summary}")

    async def main() -> None:
        """Serve clients over HTTP, or the one on standard input and output."""
        if request.listen is not None:
            await _listen(request.listen, relay)
            return
        task = asyncio.current_task()
        assert task is not None
        # Once: a second time would end the guard before its server.
        _at_signals(lambda: None if task.cancelling() else task.cancel())
        await relay(standard_client())

    status = NO_FINDINGS
    try:
        asyncio.run(main())
    except ServerTrouble as error:
        _say(str(error))
        status = WRONG
    except (asyncio.CancelledError, KeyboardInterrupt):
        pass
    except BrokenPipeError:
        pass  # the client has gone
    finally:
        transcript.close()
        for text in units.idle()[:_MOST_ROWS]:
            _say(f"[{table}] {text}")
    return status


async def _listen(address: tuple[str, int], relay: Callable[[Client, str], Awaitable[None]]) -> None:
    """Serve clients over streamable HTTP until a signal ends the program."""
    import uvicorn

    host, port = address
    silence("mcp")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(address)
            listener.listen()  # before the line is printed: its reader may connect at once
        except OSError as error:
            raise UsageError(f"--listen: cannot listen at {host}:{port}: {error.strerror}") from None
        port = listener.getsockname()[1]
        sessions = Sessions(relay, _say, security(host, port))
        settings = uvicorn.Config(
            sessions, log_config=None, log_level="critical", lifespan="off", timeout_graceful_shutdown=1
        )
        shown = f"[{host}]" if ":" in host else host
        _say(f"listening at http://{shown}:{port}{PATH}")
        server = uvicorn.Server(settings)
        # uvicorn's own handlers raise the signal again once it has ended, before the servers are.
        server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign, assignment]
        _at_signals(lambda: setattr(server, "should_exit", True))
        try:
            await server.serve(sockets=[listener])
        finally:
            await sessions.close()


def _at_signals(end: Callable[[], object]) -> None:
    """Call ``end`` when a signal asks this process to end."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        with contextlib.suppress(NotImplementedError, RuntimeError):
            loop.add_signal_handler(number, end)


def units_for(config: Config, request: Request) -> UnitPlaces:
    """Return the configured units of a server. Raises :class:`UsageError`."""
    name = server_name(request.command, request.url)
    table: Mapping[str, Any] = config.guard.get(name, {})
    file = config.origins.get("guard", "")
    if config.guard and name not in config.guard and (hint := nearest(name, [*config.guard])):
        _say(f"{file}: it has no table [{_prefix(file)}guard.{toml_key(name)}.units]{hint}")

    def where(key: str) -> str:
        """Return the file and line of a key of the configuration, to begin a message with."""
        try:
            text = Path(file).read_text("utf-8-sig")
        except (OSError, ValueError):
            return ""
        prefix = tuple(_prefix(file).split(".")[:-1])
        line = line_of(text, (*prefix, "guard", name, "units", key))
        return f"{file}:{line}: " if line else f"{file}: "

    return read_places(table.get("units", {}), config.rules.policy, where)


def described(
    tools: Sequence[ServerTool],
    command: Sequence[str],
    url: str | None,
    config: Config,
    trace: str | None = None,
) -> str:
    """Return a draft of the units of a server's numbers, as TOML for the configuration file in force.

    ``trace`` is a file that the guard recorded: the results in it replace the output schemas of their tools. Raises
    :class:`UsageError`.
    """
    try:
        returned = schemas_in(Path(trace).read_text("utf-8").splitlines()) if trace is not None else {}
    except (OSError, ValueError) as error:
        raise UsageError(f"{trace}: cannot be read as a trace of `gllint mcp --guard`: {error}") from None
    schemas = [
        (tool.name, returned.get(tool.name, tool.output_schema)) for tool in tools if tool.trouble is None
    ]
    name = server_name(command, url)
    present = config.guard[name].get("units", {}) if name in config.guard else None
    return draft(name, schemas, config.rules.policy, _prefix(config.source), present)


def judge_call(
    tool: str, arguments: dict[str, Any], result: dict[str, Any], request: Request, config: Config
) -> tuple[str, bool]:
    """Return what the guard reports about the result of one call, and whether it has numbers without a unit.

    Raises :class:`UsageError`.
    """
    silence("gllint_runtime")
    lines: list[str] = []
    table = f"{_prefix(config.source)}guard.{toml_key(server_name(request.command, request.url))}.units"
    guard = Guard(config.rules.policy, "warn", units_for(config, request), lines.append, table)
    params = {"name": tool, "arguments": arguments}
    guard.from_client({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    guard.from_server({"jsonrpc": "2.0", "id": 1, "result": result})
    if result.get("isError"):
        lines.append(
            f"{tool}: the call failed: {json.dumps(result.get('content'), ensure_ascii=False)[:500]}"
        )
    elif not lines:
        what = "its text was not judged" if guard.texts else "no number without a unit"
        lines.append(f"{tool}: {what}")
    return "".join(f"{visible(line)}\n" for line in lines), bool(guard.counts)


def _prefix(file: str) -> str:
    """Return how headings of gllint's tables begin in a file: ``tool.gllint.`` in pyproject.toml, else often empty."""
    if file.endswith("pyproject.toml"):
        return f"{TABLE}."
    try:
        document = tomllib.loads(Path(file).read_text("utf-8-sig")) if file else {}
    except (OSError, ValueError):
        return ""
    tool = document.get("tool")
    return f"{TABLE}." if isinstance(tool, dict) and "gllint" in tool else ""


def _require_sdk() -> None:
    if (lack := lack_of_sdk("gllint mcp --guard with --url or --listen")) is not None:
        raise lack


def _say(text: str) -> None:
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(f"gllint guard: {visible(text)}\n")
        sys.stderr.flush()
