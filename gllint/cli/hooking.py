"""``gllint hook AGENT``: checks what a coding agent has just edited, and answers it in its own protocol."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import sys
from collections.abc import Iterable
from itertools import accumulate

from gllint.cli.checking import run
from gllint.cli.output import WRONG, say
from gllint.cli.request import Request
from gllint.errors import UsageError
from gllint.files.discover import is_python_name
from gllint.files.paths import absolute, native
from gllint.files.places import Places
from gllint.files.writing import way_out
from gllint.hosts.coding_agents import AGENTS, LARGEST_EVENT, EventError, answer, folder_of, note, read_event
from gllint.report.unseen import Unseen
from gllint.run.signing import state_folder
from gllint.shown import visible
from gllint_rules.words.text_files import TEXT_SUFFIXES

_MOST_LINES, _MOST_CHARACTERS = 50, 9_000  # agents cut what is longer than ten thousand
_UNREADABLE = 1  # of an event: agents show it to their user and go on


def hook(name: str) -> int:
    """Check the files of the event on standard input, print a reply in the agent's protocol, return the exit status."""
    agent = AGENTS[name]
    try:
        event = read_event(sys.stdin.buffer.read(LARGEST_EVENT + 1) if sys.stdin is not None else b"")
        folder = absolute(folder_of(event, os.environ))
        base = event.folder or folder
        files, refusals = _checkable_files(event.files, base, folder)
        for refusal in refusals:
            say(f"gllint: {visible(str(refusal))}", error=True)
        if refusals and not files:
            return _UNREADABLE
        if event.is_edit and not files:
            _require_one(event.files, base)
        text, gaps = _findings(files) if files else ("", None)
    except (EventError, UsageError) as error:
        say(f"gllint: {visible(str(error))}", error=True)
        return _UNREADABLE
    if not text and gaps is not None and not gaps.is_empty and _is_news(event.session):
        reply = note(
            agent, f"gllint: no findings in what was checked. {gaps.line()}. {gaps.advice()}".rstrip()
        )
    else:
        reply = answer(agent, text)
    say(reply.output, end="")
    say(reply.error, error=True, end="")
    return reply.status


def _is_news(session: str) -> bool:
    """Return whether this is the first time in an agent's session that unchecked parts are reported."""
    folder = state_folder()
    if not session or folder is None:
        return False
    name = hashlib.sha256(session.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    try:
        os.makedirs(os.path.join(folder, "hooks"), mode=0o700, exist_ok=True)
        with open(os.path.join(folder, "hooks", name), "x", encoding="ascii"):
            return True
    except OSError:
        return False


def _checkable_files(files: Iterable[str], base: str, folder: str) -> tuple[list[str], list[EventError]]:
    """Return the absolute paths of edited files that can be checked, and why others must not be read."""
    paths: list[str] = []
    refusals: list[EventError] = []
    for file in files:
        try:
            path = _checkable(file, base, folder)
        except EventError as refusal:
            refusals.append(refusal)
        else:
            paths += [path] if path is not None else []
    return paths, refusals


def _require_one(files: Iterable[str], base: str) -> None:
    """Raise EventError if none of the edited files exists and one is Python: the paths may have been misread."""
    paths = [absolute(os.path.join(base, native(file))) for file in files]
    if any(map(is_python_name, paths)) and not any(map(os.path.exists, paths)):
        raise EventError(f"{paths[0]} does not exist: it was not checked")


def _checkable(file: str, base: str, folder: str) -> str | None:
    """Return the absolute path of an edited file, ``None`` if it does not exist or is of a kind that is not checked.

    Raises EventError if the file is outside the project.
    """
    path = absolute(os.path.join(base, native(file)))
    if not (is_python_name(path) or path.endswith(TEXT_SUFFIXES)) or not os.path.isfile(path):
        return None
    place = Places(lambda config: config).project(folder)
    root = place.repository or place.root
    if not os.path.isabs(root) or root in ("/", absolute(os.path.expanduser("~"))):
        raise EventError(f"{folder} is not a project: it has no pyproject.toml, gllint.toml or .git")
    try:
        outside = way_out(path, root) is not None
    except OSError:
        outside = True
    if outside:
        raise EventError(f"{path} is outside the project {root}: it was not checked")
    return path


def _findings(files: list[str]) -> tuple[str, Unseen | None]:
    """Return the findings that edited files have or cause elsewhere as text; without any, the gaps."""
    unseen: list[Unseen] = []
    request = Request(paths=tuple(files), output_format="agent", force_exclude=True, quiet=True)
    with contextlib.redirect_stdout(io.StringIO()) as output:
        status = run(request, unseen)
    if status == WRONG:
        raise UsageError("the files that were edited could not all be checked")
    lines = output.getvalue().splitlines()
    if not lines:  # the exit status does not say it: it is 0 for findings below the fail level
        return "", next(iter(unseen), None)
    ends = accumulate(len(line) + 1 for line in lines[:_MOST_LINES])
    shown = lines[: max(1, sum(end <= _MOST_CHARACTERS for end in ends))]
    rest = len(lines) - len(shown)
    more = [f"and {rest} more: run `gllint check --output-format agent`"] if rest > 0 else []
    count = len(lines)
    head = (
        f"gllint: {count} finding{'' if count == 1 else 's'} after this edit. The text after | is the repair;"
        " `gllint rule CODE` explains it."
    )
    return "\n".join([head, *shown, *more]) + "\n", None
