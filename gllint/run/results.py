"""What the rules say of each file, and what that rests on."""

from __future__ import annotations

from gllint_rules import Cut, Failure, Finding
from gllint_rules.tuples import NamedTuple


class Dependencies(NamedTuple):
    """Files outside the candidates that the answers rest on: what they held, and whether they were there and ours.

    Also the words that were looked for, and the files that hold them: those of the project, and those around it that
    nobody lints.
    """

    loaded: dict[str, bytes]
    probed: dict[str, bool]
    owned: dict[str, bool]
    mentions: dict[str, frozenset[str]]
    around: dict[str, frozenset[str]]


class Evidence(NamedTuple):
    """What the answers about one module rest on, beside the same of the modules that it leads to.

    Its ``digest``; what each name ``asked`` from it led to, a file or none; the modules that say something of what
    stands in it. One that is not ``sound`` has no facts.
    """

    digest: bytes
    sound: bool
    asked: dict[str, str | None]
    told_by: frozenset[str]


class Result(NamedTuple):
    """What the rules say of one file, before suppressions. ``notice`` says why they were not asked.

    ``consulted`` are the questions about all modules that the answers rest on, by their names.
    """

    findings: tuple[Finding, ...] = ()
    failures: tuple[Failure, ...] = ()
    cuts: tuple[Cut, ...] = ()  # what came to light on the way, in whatever file
    notice: str = ""
    consulted: frozenset[str] = frozenset()
