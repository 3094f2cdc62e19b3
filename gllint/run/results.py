"""The rules' results for each file, and what that rests on."""

from __future__ import annotations

from binascii import a2b_base64
from collections.abc import Mapping
from typing import Any

from gllint_rules import Cut, Failure, Finding, PlainNumber, ToolAt, ToolSight
from gllint_rules.tuples import NamedTuple


class Dependencies(NamedTuple):
    """Other files that the answers rest on: their contents, and whether they existed and belonged to the project."""

    loaded: dict[str, bytes]
    probed: dict[str, bool]
    owned: dict[str, bool]


class Evidence(NamedTuple):
    """What the answers about one module rest on, next to the same of the modules that it leads to.

    Its ``digest``; its ``targets``, what each name that was asked for led to, a file or none; the modules that say
    something of what is in it. One that is not ``sound`` has no facts.
    """

    digest: bytes
    sound: bool
    targets: dict[str, str | None]
    told_by: frozenset[str]


class Facts(NamedTuple):
    """What is kept of all modules of a project together.

    The digest of the list of its ``files``; whether one of them ``talks`` to a model; which paths outside were
    ``probed``, and which are ``owned``; what ``parts`` of questions about all modules were given and said of each;
    the names of tools, and the digests of ``answers``, each with what identifies the modules that they rest on.
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
    """A kept result, encoded; the digest of its ``evidence`` and the ``answers`` that it rests on.

    ``concerned`` are the files in which its findings and tools lie, and those that bring findings about; ``has_cuts``
    says that a budget ran out.
    """

    evidence: bytes
    answers: dict[str, bytes]
    concerned: frozenset[str]
    has_cuts: bool
    result: bytes


class Fixed(NamedTuple):
    """Kept results with their fixes, and what they rest on: all modules, which ``state`` identifies, and more."""

    state: bytes
    results: dict[str, Result]
    rests_on: Dependencies


class Result(NamedTuple):
    """The rules' results for one file, before suppressions. ``notice`` says why they were not asked.

    ``consulted`` are the questions about all modules that the answers rest on, by their names. ``tools`` are
    those that it offers, with what of their results can be seen, ``plain_numbers`` what ``plain-kinds`` leaves
    out of these; ``left_out`` says why it could not be read, or which part of it.
    """

    findings: tuple[Finding, ...] = ()
    failures: tuple[Failure, ...] = ()
    cuts: tuple[Cut, ...] = ()  # what came to light on the way, in whatever file
    notice: str = ""
    consulted: frozenset[str] = frozenset()
    tools: tuple[ToolSight, ...] = ()
    plain_numbers: tuple[PlainNumber, ...] = ()
    left_out: str = ""

    @property
    def concerned(self) -> frozenset[str]:
        """The files in which findings and tools lie, and those that bring findings about."""
        paths = {path for finding in self.findings for path in (finding.path, *finding.causes)}
        paths.update(number.path for number in self.plain_numbers)
        return frozenset(paths.union(sight.tool.path for sight in self.tools))

    @property
    def places(self) -> frozenset[str]:
        """The files of its findings."""
        paths = {note.path for finding in self.findings for note in finding.notes}
        paths.update(cut.path for cut in self.cuts)
        return self.concerned.union(paths, (number.path for number in self.plain_numbers))


# --- from JSON, in which a small project's are kept: see `cache.decode` -------------------------------------------


def facts_from(value: Any) -> Facts:
    """Return the facts that a JSON value represents. Raises ``ValueError`` or ``TypeError`` if there are none."""
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
    """Return kept results, each still encoded, by their files; raises as :func:`facts_from` does."""
    return {
        path: StoredResult(
            a2b_base64(evidence), _digests(answers), frozenset(concerned), has_cuts, a2b_base64(result)
        )
        for path, (evidence, answers, concerned, has_cuts, result) in value.items()
    }


def result_from(value: Any) -> Result:
    """Return what the rules said of a file; raises as :func:`facts_from` does."""
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
