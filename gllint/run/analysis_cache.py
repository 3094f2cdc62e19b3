"""The results of earlier runs, and which of them are still valid.

The results of a module depend on its *evidence*: its content, the file (or none) to which each name in it leads, the
modules that add facts about it, and the evidence of all these. A module with unchanged evidence is *fresh*, and its
results are valid. The rules' results for a file may also depend on questions about all modules: they are valid as long
as the answers are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, get_type_hints

from gllint.files.digest import digest
from gllint.run.cache import Store, decode, encode
from gllint.run.results import (
    Dependencies,
    Evidence,
    Facts,
    Fixed,
    Result,
    StoredResult,
    facts_from,
    result_from,
    results_from,
)
from gllint_rules.words.needles import Needles

FACTS = "facts"
_OURS = "gllint_rules."
_FEW_MODULES = 200  # up to this many, reading JSON is faster than importing msgspec
EVERYTHING = "everything"  # stands for any question whose answer may depend on all of every module

# What every part takes first; its module imports these for type checkers only.
_UNRESOLVED = {"Project": Any, "Module": Any}
_NONE = Facts(b"", False, {}, {}, {}, {}, (b"", frozenset()), (b"", {}))


if TYPE_CHECKING:
    from typing import Protocol

    class Now(Protocol):
        """The files of the project as they are now."""

        @property
        def files(self) -> Collection[str]:
            """All files of the project."""

        def digest_of(self, path: str) -> bytes:
            """Return the digest of a file as it is now, ``b""`` of one that cannot be read."""

        def is_there(self, path: str) -> bool:
            """Return whether a file exists, or a folder if the path ends with a slash."""

        def leads_to(self, importer: str, dotted: str) -> str | None:
            """Return the file to which a dotted name leads when ``importer`` imports it, ``None`` for no file."""

        def answer(self, question: str) -> bytes:
            """Return the digest of the answer to a question about all modules."""


class AnalysisCache:
    """The stored results of one project.

    ``fresh`` has the evidence of each module where it is unchanged.
    """

    def __init__(self, store: Store, now: Now) -> None:
        self._store, self._now = store, now
        self._set({})

    def _set(self, fresh: dict[str, Evidence]) -> None:
        self.fresh = fresh
        self._digests: dict[str, bytes] = {}
        self._own_digests: dict[str, bytes] = {}

    def compare(self, talks: bool) -> None:
        """Read the stored results and find which are still valid.

        ``talks`` says whether the project talks to a model, which is known before any file is parsed.
        """
        self._set({})
        self._answers: dict[str, bytes] = {}  # answers to questions about all modules
        self._facts, self._unasked = _NONE, {}
        facts = self._store.read(FACTS, Facts, facts_from)
        if facts is None or facts.talks != talks:
            return
        fresh = self._still_fresh(facts)
        self._facts, self._unasked = facts, facts.parts
        self._set(fresh)

    def _still_fresh(self, facts: Facts) -> dict[str, Evidence]:
        """Return the modules whose file and evidence have not changed.

        If files came or went, what each import leads to is asked again.
        """
        now, modules, probed = self._now, facts.modules, facts.probed
        changed = {path for path, evidence in modules.items() if now.digest_of(path) != evidence.digest}
        if facts.files != self._listed() or any(
            now.is_there(path) != exists for path, exists in probed.items()
        ):
            probed.clear()
            changed.update(path for path, owned in facts.owned.items() if (path in now.files) != owned)
            for path, evidence in modules.items():
                if any(now.leads_to(path, dotted) != target for dotted, target in evidence.targets.items()):
                    changed.add(path)
        stale = _reaching(changed, modules)
        return {path: evidence for path, evidence in modules.items() if path not in stale}

    def spoil(self, paths: Iterable[str]) -> set[str]:
        """Mark the modules at ``paths`` as changed; return them with all modules that depend on them."""
        stale = _reaching(paths, self.fresh)
        self._set({path: evidence for path, evidence in self.fresh.items() if path not in stale})
        return stale

    def part_values(self, part: Callable[..., Any]) -> Iterator[tuple[Any, dict[str, Any]]]:
        """Yield each argument of ``part``, a question about all modules, with its stored answers for the fresh
        modules.
        """
        name = _name(part)
        entries = self._facts.parts.get(name, ())
        if not entries:
            return
        import msgspec

        *_, to, returned = get_type_hints(part, localns=_UNRESOLVED).values()
        for entry in entries:
            try:
                argument, answers = msgspec.convert(entry, tuple[to, dict[str, returned]])  # type: ignore[valid-type]
            # Stored by another version of gllint, or with a lone surrogate in a name.
            except (msgspec.ValidationError, UnicodeEncodeError):
                continue
            yield argument, {path: value for path, value in answers.items() if path in self.fresh}

    def names(self, paths: Collection[str]) -> Needles | None:
        """Return the stored names by which the tools in ``paths`` may be used, ``None`` if they are not valid."""
        state, names = self._facts.names
        return names if state and state == self.state(paths) else None

    def state(self, paths: Iterable[str]) -> bytes | None:
        """Return a digest of the evidence of all ``paths`` together, ``None`` if one of them is not fresh."""
        digests = [self._digest(path) for path in sorted(paths)]
        return None if None in digests else digest(*filter(None, digests))

    # --- what the rules said ---------------------------------------------------------------------------------

    def has_results(self, codes: frozenset[str]) -> bool:
        """Return whether results of the rules ``codes`` are stored."""
        return self._store.has(_results_name(codes, False))

    def results(self, codes: frozenset[str], candidates: Collection[str]) -> dict[str, StoredResult]:
        """Return the valid stored results of the rules ``codes``."""
        name = _results_name(codes, False)
        saved = self._store.read(name, dict[str, StoredResult], results_from) if self.fresh else None
        answer_now = self._answers_now(candidates)
        return {
            path: result
            for path in candidates
            if saved and (result := saved.get(path)) is not None and result.evidence == self._digest(path)
            if all(answer_now(question) == answer for question, answer in result.answers.items())
        }

    def _answers_now(self, candidates: Collection[str]) -> Callable[[str], bytes]:
        """Return what gives the digest of the current answer to a question, and asks each question once."""
        return cache(lambda question: self._answer(question, candidates))

    def _answer(self, question: str, candidates: Collection[str]) -> bytes:
        """Return the digest of the current answer to a question; a stored one is valid if all candidates are fresh."""
        if question == EVERYTHING:
            return self._everything(candidates)
        if question not in self._answers:
            state, answers = self._facts.answers
            is_valid = question in answers and state == self.state(candidates)
            self._answers[question] = answers[question] if is_valid else self._now.answer(question)
        return self._answers[question]

    def fixed(self, codes: frozenset[str], candidates: Collection[str]) -> Fixed | None:
        """Return the stored results of the rules ``codes`` with their fixes, ``None`` if any module has changed."""
        entry = self._store.read(_results_name(codes, True), Fixed)
        return entry if entry is not None and entry.state == self._everything(candidates) else None

    def _everything(self, candidates: Collection[str]) -> bytes:
        """Return a digest of the evidence of all candidates and of the list of files."""
        state = self.state(candidates)
        return digest(state, self._listed()) if state is not None else b""

    # --- keeping ---------------------------------------------------------------------------------------------

    def find_answers(self, results: Mapping[str, Result | StoredResult], candidates: Collection[str]) -> None:
        """Compute the answers to the questions on which ``results`` depend."""
        for result in results.values():
            if isinstance(result, Result):
                for question in result.consulted - {EVERYTHING}:
                    self._answer(question, candidates)

    def learn(
        self,
        candidates: Mapping[str, bytes],
        loaded: Mapping[str, bytes],
        broken: Collection[str],
        targets: Mapping[str, Mapping[str, str | None]],
        told_by: Mapping[str, Collection[str]],
    ) -> None:
        """Record the evidence of ``candidates`` and of the modules ``loaded`` for them: all are fresh now."""
        self._unasked = {
            name: tuple(
                (argument, {p: v for p, v in values.items() if p in self.fresh})
                for argument, values in several
            )
            for name, several in self._unasked.items()
        }
        modules: dict[str, Evidence] = {}
        waiting = list(candidates)
        while waiting:
            path = waiting.pop()
            old = self.fresh.get(path)
            module_digest = old.digest if old is not None else candidates.get(path, loaded.get(path))
            if module_digest is None or path in modules:
                continue
            old_targets, tellers = (old.targets, old.told_by) if old is not None else ({}, frozenset[str]())
            modules[path] = evidence = Evidence(
                module_digest,
                old.sound if old is not None else path not in broken,
                {**old_targets, **targets.get(path, {})},
                tellers.union(told_by.get(path, ())),
            )
            waiting += _rests_on(evidence)
        self._set(modules)

    def keep_facts(
        self,
        talks: bool,
        answers: Mapping[tuple[Callable[..., Any], Any], Mapping[str, Any]],
        outside: Dependencies,
        candidates: Collection[str],
        names: Needles,
        passing: Collection[str],
    ) -> None:
        """Store the evidence of the fresh modules, and their ``answers`` to questions about all modules.

        ``names`` are those of the tools that the files ``passing`` the first look define.
        """
        old = self._facts
        parts: dict[str, tuple[tuple[Any, dict[str, Any]], ...]] = {}
        for (part, argument), values in answers.items():
            if part.__module__.startswith(_OURS):
                entry = argument, {path: value for path, value in values.items() if path in self.fresh}
                parts[_name(part)] = *parts.get(_name(part), ()), entry
        for name, several in self._unasked.items():
            arguments = [argument for argument, _ in parts.get(name, ())]
            # An old answer stays valid if its argument is a name; any other argument describes the old project.
            old_entries = [
                (argument, values) for argument, values in several if argument not in arguments and values
            ]
            parts[name] = (
                *parts.get(name, ()),
                *(other for other in old_entries if not arguments or type(other[0]) is str),
            )
        facts = Facts(
            self._listed(),
            talks,
            self.fresh,
            old.probed | outside.probed,
            old.owned | outside.owned,
            parts,
            (self.state(passing) or b"", names),
            (self.state(candidates) or b"", self._answers),
        )
        self._store.write(FACTS, facts, len(self.fresh) <= _FEW_MODULES)

    def keep_results(
        self, codes: frozenset[str], candidates: Collection[str], results: Mapping[str, Result | StoredResult]
    ) -> None:
        """Store the rules' results, except failures, with the answers on which they depend."""
        entries: dict[str, StoredResult] = {}
        answer_now = self._answers_now(candidates)
        for path, result in results.items():
            evidence = self._digest(path) or b""
            if isinstance(result, StoredResult):
                entries[path] = result._replace(evidence=evidence)
            elif not result.failures:
                answers = {question: answer_now(question) for question in result.consulted}
                entries[path] = StoredResult(
                    evidence,
                    answers,
                    result.concerned,
                    bool(result.cuts),
                    encode(result, not result.findings),
                )
        self._store.write(_results_name(codes, False), entries, len(entries) <= _FEW_MODULES)

    def keep_fixed(
        self,
        codes: frozenset[str],
        candidates: Collection[str],
        results: Mapping[str, Result],
        rests_on: Dependencies,
    ) -> None:
        """Store the rules' results with their fixes, except failures."""
        sound = {path: result for path, result in results.items() if not result.failures}
        outside = rests_on._replace(probed={}, owned={})
        self._store.write(_results_name(codes, True), Fixed(self._everything(candidates), sound, outside))

    def _digest(self, path: str) -> bytes | None:
        """Return the digest of the whole evidence of a module, ``None`` if it is not fresh."""
        if path in self.fresh and path not in self._digests:
            self._digest_from(path)
        return self._digests.get(path)

    def _digest_from(self, start: str) -> None:
        """Find the digests of a module and of all in its evidence.

        Modules that lead to each other share one, of their own evidence and the digests of the rest (Tarjan).
        """
        numbers: dict[str, int] = {start: 0}
        lowest: dict[str, int] = {start: 0}  # the first module that each leads back to
        group_stack, digests = [start], self._digests
        path_stack = [(start, self._leading_on(start))]
        while path_stack:
            path, next_paths = path_stack[-1]
            other = next((other for other in next_paths if other not in digests), None)
            if other is None:
                path_stack.pop()
                if lowest[path] == numbers[path]:
                    at = group_stack.index(path)
                    group, group_stack[at:] = group_stack[at:], []
                    beyond = {
                        digests[o] for member in group for o in self._leading_on(member) if o in digests
                    }
                    own = (part for member in sorted(group) for part in (_bytes(member), self._own(member)))
                    digests.update(dict.fromkeys(group, digest(*own, *sorted(beyond))))
                if path_stack:
                    parent = path_stack[-1][0]
                    lowest[parent] = min(lowest[parent], lowest[path])
            elif other in numbers:
                lowest[path] = min(lowest[path], numbers[other])
            else:
                numbers[other] = lowest[other] = len(numbers)
                group_stack.append(other)
                path_stack.append((other, self._leading_on(other)))

    def _leading_on(self, path: str) -> Iterator[str]:
        return (other for other in _rests_on(self.fresh[path]) if other in self.fresh)

    def _own(self, path: str) -> bytes:
        if path not in self._own_digests:
            evidence = self.fresh[path]
            led = repr((sorted(evidence.targets.items()), sorted(evidence.told_by)))
            self._own_digests[path] = digest(evidence.digest, _bytes(led))
        return self._own_digests[path]

    def _listed(self) -> bytes:
        return digest(_bytes("\0".join(sorted(self._now.files))))


def result_of(entry: StoredResult) -> Result:
    """Decode a stored result. One of another version of gllint becomes an empty result."""
    try:
        return decode(entry.result, Result, result_from)
    except ValueError:
        return Result()


def _name(part: Callable[..., Any]) -> str:
    return f"{part.__module__}.{part.__qualname__}"


def _rests_on(evidence: Evidence) -> Iterator[str]:
    yield from filter(None, evidence.targets.values())
    yield from evidence.told_by


def _reaching(paths: Iterable[str], modules: Mapping[str, Evidence]) -> set[str]:
    """Return ``paths`` and all modules whose evidence includes one of them."""
    leading: dict[str, list[str]] = {}
    for path, evidence in modules.items():
        for other in _rests_on(evidence):
            leading.setdefault(other, []).append(path)
    dependents = set(paths)
    waiting = list(dependents)
    while waiting:
        new = [path for path in leading.get(waiting.pop(), ()) if path not in dependents]
        dependents.update(new)
        waiting += new
    return dependents


def _results_name(codes: frozenset[str], fixes: bool) -> str:
    return f"{'fixes' if fixes else 'results'}-{digest(*(code.encode() for code in sorted(codes))).hex()}"


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
