"""gllint as a process of its own that begins with everything imported.

Hundreds of tests run gllint as a user would, in a process; most of what that costs is imports. Here one process per test
session imports them, and a fork of it is what each of those tests runs: with its own arguments, folder, environment,
streams and exit status. The fixture ``gllint`` is what to write for ``python -m gllint``, and with ``-m flake8`` behind
it for ``python -m flake8``. The fixture ``run`` of the program's tests asks for a fork without a process in between.

What asks for something that a process gets at its start, such as another ``PYTHONHASHSEED``, gets a fresh one (another
``PYTHONPATH`` is but another list of folders: nothing of the packages of tests is imported yet). So do tests that send
signals, set limits, or look at what is imported: they start ``python -m gllint`` themselves.
"""

from __future__ import annotations

import _socket  # socket and typing would take as long as all else that the caller does
import marshal
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping
    from typing import Any, NoReturn

_PRELOADED = (
    "gllint.cli.commands", "gllint.cli.checking", "gllint.cli.explaining", "gllint.cli.servers", "gllint.run.fixer",
    "gllint.run.crew", "gllint.server.app", "gllint.report.html", "gllint_rules.catalogue", "gllint_rules.check.check",
    "gllint_rules.check.why", "gllint_rules.fixes.wrap", "gllint_rules.fixes.schemas", "gllint_rules.reading.newer",
    "pint", "jsonschema", "tomlkit", "flake8.main.cli", "pycodestyle", "pyflakes.checker",
    "gllint.hosts.flake8", "gllint.cli.servers", "mcp", "mcp.client.streamable_http",
)  # fmt: skip
_PROGRAMS = {"gllint": "gllint.cli.main", "flake8": "flake8.main.cli"}
_REHEARSAL = """
from langchain_core.tools import tool


@tool
def heat(site: str, rows: list) -> dict:
    area = 2.5 * len(site)
    return {"heat_kwh": area * 3, "found": len(rows), "gas": {"value": area, "unit": "flurbs"}}


FINAL_MESSAGE = "It needs 9500 kWh."
"""
_AT_THE_START = ("PYTHON", "LC_", "LANG")
_SIZE = 4  # of the number that says how long a message is


def serve(address: str) -> None:
    """Become what each caller asks for, in a fork, until standard input ends. Prints a line when it is ready."""
    import gc
    import importlib
    import select
    import signal
    import socket
    from contextlib import suppress

    for name in _PRELOADED:
        with suppress(ModuleNotFoundError):  # of an extra that is not installed
            importlib.import_module(name)
    _rehearse()
    gc.collect()
    gc.freeze()  # or the first look for garbage would copy all of it
    callers: dict[
        int, tuple[int, socket.socket]
    ] = {}  # each with its process, by what tells of the end of that
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(64)
        print(flush=True)
        while True:
            ready, _, _ = select.select(
                [listener, sys.stdin, *callers, *(caller for _, caller in callers.values())], [], []
            )
            if sys.stdin in ready:
                return
            if listener in ready:
                caller, _ = listener.accept()
                child = _started(caller, listener)
                callers[os.pidfd_open(child)] = child, caller
            for ending, (child, caller) in [*callers.items()]:
                if ending in ready:
                    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
                    del callers[ending]
                    os.close(ending)
                    with caller, suppress(OSError):  # it may be gone
                        caller.sendall(b"%d\n" % status)
                elif caller in ready:  # it was killed
                    os.kill(child, signal.SIGKILL)


def _rehearse() -> None:
    """Check and fix a small project, so that tables are read and expressions compiled before the first fork."""
    import contextlib
    import tempfile

    from click.testing import CliRunner

    from gllint.cli.commands import cli
    from gllint_rules.catalogue.installed import installed

    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        with open("a.py", "w") as file:
            file.write(_REHEARSAL)
        for options in ((), ("--output-format=json",), ("--diff", "--unsafe-fixes")):
            CliRunner().invoke(cli, ["check", "--no-cache", "--jobs=1", *options])
    installed.cache_clear()  # a test may install one


def _started(caller: socket.socket, listener: socket.socket) -> int:
    """Start a fork of this process that runs what the caller asks for; return its number."""
    from socket import MSG_WAITALL, recv_fds

    size, streams, _, _ = recv_fds(caller, _SIZE, 3)
    asked = caller.recv(int.from_bytes(size), MSG_WAITALL)
    child = os.fork()
    if not child:
        caller.close()
        listener.close()
        _become(marshal.loads(asked), streams)
    for stream in streams:
        os.close(stream)
    return child


def _become(asked: dict[str, Any], streams: list[int]) -> NoReturn:
    import atexit
    import threading
    from contextlib import suppress
    from importlib import import_module

    at_the_start = _of_the_start(os.environ)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    arguments = asked["arguments"]
    command = arguments if arguments[:2] == ["-m", "flake8"] else ["-m", "gllint", *arguments]
    start = _of_the_start(os.environ)
    folders = [variables.pop("PYTHONPATH", "") for variables in (at_the_start, start)]
    if start != at_the_start:
        os.execve(sys.executable, [sys.executable, *command], os.environ)
    if folders[0] != folders[1]:
        gone, more = (text.split(os.pathsep) if text else [] for text in folders)
        sys.path[:] = [*more, *(folder for folder in sys.path if folder not in gone)]
        sys.modules.pop("sitecustomize", None)
        with suppress(ImportError):
            import_module("sitecustomize")
    sys.stdin = sys.__stdin__ = os.fdopen(0)
    sys.stdout = sys.__stdout__ = os.fdopen(1, "w")
    sys.stderr = sys.__stderr__ = os.fdopen(2, "w", buffering=1, errors="backslashreplace")
    sys.argv = command[1:]
    try:
        raise SystemExit(import_module(_PROGRAMS[command[1]]).main())
    except SystemExit as end:
        threading._shutdown()  # an end that waits for a thread is to be seen
        atexit._run_exitfuncs()
        if not sys.stdout.closed:
            sys.stdout.flush()
        os._exit(end.code)  # to take apart what was imported would cost more than the run


def _of_the_start(environment: Mapping[str, str]) -> dict[str, str]:
    """What a process reads of its environment when it begins."""
    return {name: value for name, value in environment.items() if name.startswith(_AT_THE_START)}


def _ask(address: str, arguments: list[str]) -> int:
    """Have the server at ``address`` run gllint with our streams, and return its exit status."""
    asked = {"folder": os.getcwd(), "environment": dict(os.environ), "arguments": arguments}
    message = marshal.dumps(asked)
    streams = b"".join(stream.to_bytes(_SIZE, sys.byteorder) for stream in (0, 1, 2))
    server = _socket.socket(_socket.AF_UNIX)
    server.connect(address)
    server.sendmsg([len(message).to_bytes(_SIZE)], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
    server.sendall(message)
    for stream in (0, 1, 2):
        os.close(stream)  # whoever reads them waits for their end
    return int(server.recv(16) or b"120")


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
    else:
        raise SystemExit(_ask(sys.argv[1], sys.argv[2:]))
