"""The MCP SDK, which some commands need: whether it is installed, and in which version."""

from __future__ import annotations

from importlib import metadata

from gllint.errors import UsageError

_LEAST = 2  # the first part of the version


def lack_of_sdk(command: str) -> UsageError | None:
    """Return the error of a command for which the MCP SDK is missing or too old, else ``None``."""
    try:
        version = metadata.version("mcp")
    except metadata.PackageNotFoundError:
        return UsageError(f'{command} needs the MCP SDK: run `pip install "mcp>={_LEAST}"`')
    first = version.partition(".")[0]
    if first.isdecimal() and int(first) < _LEAST:
        return UsageError(
            f"{command} needs version {_LEAST} of the MCP SDK, and mcp {version} is installed here: "
            "install gllint with `mcp>=2` in another environment, so that what needs the older SDK keeps it"
        )
    return None


def sdk_error(command: str, error: ImportError) -> UsageError:
    """Return the error of a command for which the import of the MCP SDK failed."""
    return lack_of_sdk(command) or UsageError(f"{command} cannot import the MCP SDK: {error}")
