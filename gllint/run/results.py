"""The rules' results for each file, and the evidence that decides whether a cached result is still valid."""

from __future__ import annotations

from binascii import a2b_base64
from collections.abc import Mapping
from typing import Any

from gllint_rules import Cut, Failure, Finding, PlainNumber, ToolAt, ToolSight
from gllint_rules.tuples import NamedTuple


class Dependencies(NamedTuple):
    """The other files that answers depend on, by path.

    The digests of those that were ``loaded``, whether ``probed`` ones existed, whether ``owned`` ones belonged to the
    project.
    """

    loaded: dict[str, bytes]
    probed: dict[str, bool]
    owned: dict[str, bool]


class Evidence(NamedTuple):
    """What the answers about one module depend on; the evidence of the modules that it imports adds to it.

    The ``digest`` of its content; whether it is ``sound``, so that it has facts; its ``targets``, the file (or none)
    that each name in it leads to; ``told_by``, the modules that add facts about what is in it.
    """

    digest: bytes
    sound: bool
    targets: dict[str, str | None]
    told_by: frozenset[str]


class Facts(NamedTuple):
    """What the cache keeps about all modules of a project together.

    - ``files`` is the digest of the list of files, ``talks`` whether one of them talks to a model.
    - ``modules`` has the evidence of each module; ``probed`` and ``owned`` are as in :class:`Dependencies`.
    - ``parts`` has, for each question about all modules, its arguments with the answer of each module.
    - ``names`` are the names of tools, ``answers`` the digests of answers by question, each after a digest of the
      modules on which they depend.
    """

    files: bytes
    talks: bool
    modules: dict[str, Evidence]
    probed: dict[str, bool]
    owned: dict[str, bool]
    parts: dict[str, tuple[tuple[Any, dict[str, Any]], ...]]
    names: tuple[bytes, frozenset[tuple[bytes, ...]]]
    answers: tuple[bytes, dict[str, bytes]]


class StoredResult(NamedTuple):
    """A cached result, encoded, with the digests of the ``evidence`` and the ``answers`` that it depends on.

    ``concerned`` are the files that have or cause its findings, and those of its tools; ``has_cuts`` says that a
    value was too complex to follow.
    """

    evidence: bytes
    answers: dict[str, bytes]
    concerned: frozenset[str]
    has_cuts: bool
    result: bytes


class Fixed(NamedTuple):
    """Cached results with their fixes; ``state`` is a digest of all modules, ``rests_on`` the other files."""

    state: bytes
    results: dict[str, Result]
    rests_on: Dependencies


class Result(NamedTuple):
    """The rules' results for one file, before suppressions.

    - ``cuts`` are the values that were too complex to follow, in this or another file.
    - ``notice`` says why no rule ran; ``left_out`` why the file, or a part of it, could not be read.
    - ``consulted`` are the names of the questions about all modules on which the result depends.
    - ``tools`` are those that the file defines, with what is known of their results.
    - ``plain_numbers`` are the numbers that ``plain-kinds`` leaves out.
    """

    findings: tuple[Finding, ...] = ()
    failures: tuple[Failure, ...] = ()
    cuts: tuple[Cut, ...] = ()
    notice: str = ""
    consulted: frozenset[str] = frozenset()
    tools: tuple[ToolSight, ...] = ()
    plain_numbers: tuple[PlainNumber, ...] = ()
    left_out: str = ""

    @property
    def concerned(self) -> frozenset[str]:
        """The files that have or cause findings, and those of tools."""
        paths = {path for finding in self.findings for path in (finding.path, *finding.causes)}
        paths.update(number.path for number in self.plain_numbers)
        return frozenset(paths.union(sight.tool.path for sight in self.tools))

    @property
    def places(self) -> frozenset[str]:
        """All files that the result mentions: those concerned, and those of notes, cuts and plain numbers."""
        paths = {note.path for finding in self.findings for note in finding.notes}
        paths.update(cut.path for cut in self.cuts)
        return self.concerned.union(paths, (number.path for number in self.plain_numbers))


# --- from JSON, in which a small project's are kept: see `cache.decode` -------------------------------------------


def facts_from(value: Any) -> Facts:
    """Build the facts from their JSON. Raises ``ValueError`` or ``TypeError`` if it has another shape."""
    files, talks, modules, probed, owned, parts, (passing, names), (state, answers) = value
    return Facts(
        a2b_base64(files),
        talks,
        {
            path: Evidence(a2b_base64(digest), sound, targets, frozenset(told_by))
            for path, (digest, sound, targets, told_by) in modules.items()
        },
        probed,
        owned,
        parts,
        (a2b_base64(passing), frozenset(tuple(map(a2b_base64, needle)) for needle in names)),
        (a2b_base64(state), _digests(answers)),
    )


def results_from(value: Any) -> dict[str, StoredResult]:
    """Build the stored results of each file, still encoded, from JSON; raises like :func:`facts_from`."""
    return {
        path: StoredResult(
            a2b_base64(evidence), _digests(answers), frozenset(concerned), has_cuts, a2b_base64(result)
        )
        for path, (evidence, answers, concerned, has_cuts, result) in value.items()
    }


def result_from(value: Any) -> Result:
    """Build the result of a file from its JSON; raises like :func:`facts_from`."""
    findings, failures, cuts, notice, consulted, tools, plain_numbers, left_out = value
    if findings or failures:
        import msgspec

        return msgspec.convert(value, Result)
    return Result(
        cuts=tuple(Cut(*cut) for cut in cuts),
        notice=notice,
        consulted=frozenset(consulted),
        tools=tuple(
            ToolSight(ToolAt(*tool), line, result, tuple(other_parts), *rest)
            for tool, line, result, other_parts, *rest in tools
        ),
        plain_numbers=tuple(PlainNumber(*number) for number in plain_numbers),
        left_out=left_out,
    )


def _digests(answers: Mapping[str, str]) -> dict[str, bytes]:
    return {question: a2b_base64(answer) for question, answer in answers.items()}
