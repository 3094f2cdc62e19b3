"""What earlier runs found out, and which of it still holds.

What is said of a module rests on its *evidence*: its content, what each name that was asked from it led to (none counts
too), the modules that say something of what stands in it, and the evidence of all these in turn. A module whose
evidence is the same is *fresh*, and what was said of it alone holds. What the rules said of a file may rest on
questions about all modules, too: it holds as long as their answers are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Protocol

from gllint.files.digest import digest
from gllint.run.cache import Store
from gllint.run.codec import is_declared
from gllint.run.results import Dependencies, Evidence, Result

FACTS = "facts"
_OURS = "gllint_rules."
EVERYTHING = "everything"  # the question of which nothing is known but that it rests on all modules


class Now(Protocol):
    """The files of the project as they are now."""

    @property
    def files(self) -> Collection[str]:
        """All files of the project."""

    def digest_of(self, path: str) -> bytes:
        """Return the digest of a file as it is now, ``b""`` of one that cannot be read."""

    def is_there(self, path: str) -> bool:
        """Say whether there is a file."""

    def leads_to(self, importer: str, dotted: str) -> str | None:
        """Return the file that a name leads to from another one."""

    def answer(self, question: str) -> bytes:
        """Return the digest of the answer to a question about all modules."""


class Kept:
    """What is kept of one project. ``fresh`` are the modules whose evidence is the same, each with it."""

    def __init__(self, store: Store, now: Now) -> None:
        self._store, self._now = store, now
        self._set({})

    def _set(self, fresh: dict[str, Evidence]) -> None:
        self.fresh = fresh
        self._digests: dict[str, bytes] = {}
        self._own_digests: dict[str, bytes] = {}

    def compare(self, talks: bool) -> None:
        """Read what is kept and see which of it still holds; ``talks`` is what is known before any file is read."""
        self._set({})
        self._parts: dict[str, tuple[Any, dict[str, Any]]] = {}
        self._names: tuple[bytes | None, Any] = (None, None)
        self._answers: tuple[bytes | None, Any] = (None, None)
        self._known: dict[str, bytes] = {}  # answers to questions about all modules
        self._probed: dict[str, bool] = {}
        self._owned: dict[str, bool] = {}
        try:
            self._read(talks)
        except Exception:  # an entry of another making, whatever it holds, is as good as absent
            self._set({})

    def _read(self, talks: bool) -> None:
        saved = self._store.read(FACTS)
        if saved is None:
            return
        files, talked, modules, outside, self._parts, self._names, self._answers = saved
        if talked != talks or not is_declared("dict[str, Evidence]", modules):
            return
        now = self._now
        changed = {path for path, known in modules.items() if now.digest_of(path) != known.digest}
        self._owned, self._probed = outside.owned, outside.probed
        if files != self._listed() or any(
            now.is_there(path) != there for path, there in self._probed.items()
        ):
            self._probed = {}
            changed.update(path for path, owned in self._owned.items() if (path in now.files) != owned)
            for path, known in modules.items():
                if any(now.leads_to(path, dotted) != found for dotted, found in known.asked.items()):
                    changed.add(path)
        stale = _reaching(changed, modules)
        self._set({path: known for path, known in modules.items() if path not in stale})

    def spoil(self, paths: Iterable[str]) -> set[str]:
        """Hold the modules at ``paths`` for changed; return all that rest on them."""
        stale = _reaching(paths, self.fresh)
        self._set({path: known for path, known in self.fresh.items() if path not in stale})
        return stale

    def seed(self, part: Callable[..., Any]) -> tuple[Any, dict[str, Any]] | None:
        """Return what ``part`` was given and what it said of the fresh modules."""
        match self._parts.pop(f"{part.__module__}.{part.__qualname__}", None):
            case (given, dict() as said):
                declared = str(part.__annotations__["return"])
                fresh = {path: value for path, value in said.items() if path in self.fresh}
                return (
                    (given, fresh) if all(is_declared(declared, value) for value in fresh.values()) else None
                )
        return None

    def names(self, paths: Collection[str]) -> frozenset[bytes] | None:
        """Return the names by which the tools in ``paths`` may be used, ``None`` where they must be worked out."""
        key, names = self._names
        if key is None or key != self.state(paths) or not is_declared("frozenset[bytes]", names):
            return None
        return frozenset(names)

    def state(self, paths: Iterable[str]) -> bytes | None:
        """Return what identifies the evidence of all ``paths`` together; ``None`` where one of them is not fresh."""
        digests = [self._digest(path) for path in sorted(paths)]
        return None if None in digests else digest(*filter(None, digests))

    # --- what the rules said ---------------------------------------------------------------------------------

    def results(self, codes: frozenset[str], candidates: Collection[str]) -> dict[str, Result]:
        """Return what still holds of what the rules ``codes`` said."""
        saved = self._store.read(_results_name(codes, False)) if self.fresh else None
        if not isinstance(saved, dict):
            return {}
        held: dict[str, Result] = {}
        for path in candidates:
            match saved.get(path):
                case (key, Result() as result, dict() as rests_on) if key == self._digest(path):
                    if all(self._answer(question, candidates) == said for question, said in rests_on.items()):
                        held[path] = result
        return held

    def _answer(self, question: str, candidates: Collection[str]) -> bytes:
        """Return the digest of the answer to a question now: those kept hold where every candidate is fresh."""
        if question == EVERYTHING:
            return self._everything(candidates)
        key, kept = self._answers
        if key is not None and key == self.state(candidates) and is_declared("dict[str, bytes]", kept):
            self._known = kept | self._known
        self._answers = None, None
        if question not in self._known:
            self._known[question] = self._now.answer(question)
        return self._known[question]

    def fixed(
        self, codes: frozenset[str], candidates: Collection[str]
    ) -> tuple[dict[str, Result], Dependencies] | None:
        """Return what the rules ``codes`` said with their fixes, which rest on all modules, and on what else."""
        match self._store.read(_results_name(codes, True)):
            case (key, dict() as results, Dependencies() as rests_on) if key == self._everything(candidates):
                return results, rests_on
        return None

    def _everything(self, candidates: Collection[str]) -> bytes:
        state = self.state(candidates)
        return digest(state, self._listed()) if state is not None else b""

    # --- keeping ---------------------------------------------------------------------------------------------

    def learn(
        self,
        candidates: Mapping[str, bytes],
        loaded: Mapping[str, bytes],
        broken: Collection[str],
        asked: Mapping[str, Mapping[str, str | None]],
        told_by: Mapping[str, Collection[str]],
    ) -> None:
        """Take note of the evidence of ``candidates`` and of what was ``loaded`` for them: all are fresh now."""
        modules: dict[str, Evidence] = {}
        waiting = list(candidates)
        while waiting:
            path = waiting.pop()
            old = self.fresh.get(path)
            held = old.digest if old is not None else candidates.get(path, loaded.get(path))
            if held is None or path in modules:
                continue
            before, tellers = (old.asked, old.told_by) if old is not None else ({}, frozenset[str]())
            modules[path] = found = Evidence(
                held,
                old.sound if old is not None else path not in broken,
                {**before, **asked.get(path, {})},
                tellers.union(told_by.get(path, ())),
            )
            waiting += _rests_on(found)
        self._parts = {
            name: (given, {path: value for path, value in said.items() if path in self.fresh})
            for name, (given, said) in self._parts.items()
        }
        self._set(modules)

    def keep_facts(
        self,
        talks: bool,
        said: Mapping[Callable[..., Any], tuple[Any, Mapping[str, Any]]],
        outside: Dependencies,
        candidates: Collection[str],
        names: frozenset[bytes],
        passing: Collection[str],
    ) -> None:
        """Keep the evidence of the fresh modules, and what was ``said`` of them for questions about all modules.

        ``names`` are those of the tools, as ``passing`` have them.
        """
        parts = self._parts | {
            f"{part.__module__}.{part.__qualname__}": (
                given,
                {p: v for p, v in values.items() if p in self.fresh},
            )
            for part, (given, values) in said.items()
            if part.__module__.startswith(_OURS)
        }
        self._probed |= outside.probed
        self._owned |= outside.owned
        rests_on = Dependencies({}, self._probed, self._owned, {}, {})
        facts = (
            self._listed(), talks, self.fresh, rests_on, parts,
            (self.state(passing), names), (self.state(candidates), self._known),
        )  # fmt: skip
        self._store.write(FACTS, facts)

    def keep_results(
        self, codes: frozenset[str], candidates: Collection[str], results: Mapping[str, Result]
    ) -> None:
        """Keep what the rules said, failures aside, with the answers that it rests on."""
        kept = {
            path: (self._digest(path), result, {q: self._answer(q, candidates) for q in result.consulted})
            for path, result in results.items()
            if not result.failures
        }
        self._store.write(_results_name(codes, False), kept)

    def keep_fixed(
        self,
        codes: frozenset[str],
        candidates: Collection[str],
        results: Mapping[str, Result],
        rests_on: Dependencies,
    ) -> None:
        """Keep what the rules said with their fixes, failures aside."""
        sound = {path: result for path, result in results.items() if not result.failures}
        outside = rests_on._replace(probed={}, owned={})
        self._store.write(_results_name(codes, True), (self._everything(candidates), sound, outside))

    def _digest(self, path: str) -> bytes | None:
        """The digest of the whole evidence of a module, ``None`` where it is not fresh."""
        if path not in self.fresh:
            return None
        if path not in self._digests:
            parts = ((_bytes(p), self._own(p)) for p in sorted(self._around(path)))
            self._digests[path] = digest(*(part for pair in parts for part in pair))
        return self._digests[path]

    def _around(self, path: str) -> set[str]:
        """The fresh modules that the evidence of one leads to, itself among them."""
        found: set[str] = set()
        waiting = [path]
        while waiting:
            each = waiting.pop()
            if each not in found and each in self.fresh:
                found.add(each)
                waiting += _rests_on(self.fresh[each])
        return found

    def _own(self, path: str) -> bytes:
        if path not in self._own_digests:
            known = self.fresh[path]
            led = repr((sorted(known.asked.items()), sorted(known.told_by)))
            self._own_digests[path] = digest(known.digest, _bytes(led))
        return self._own_digests[path]

    def _listed(self) -> bytes:
        return digest(_bytes("\0".join(sorted(self._now.files))))


def _rests_on(known: Evidence) -> Iterator[str]:
    yield from filter(None, known.asked.values())
    yield from known.told_by


def _reaching(paths: Iterable[str], modules: Mapping[str, Evidence]) -> set[str]:
    """The modules whose evidence leads to one of ``paths``, those themselves among them."""
    leading: dict[str, list[str]] = {}
    for path, known in modules.items():
        for other in _rests_on(known):
            leading.setdefault(other, []).append(path)
    found = set(paths)
    waiting = list(found)
    while waiting:
        new = [path for path in leading.get(waiting.pop(), ()) if path not in found]
        found.update(new)
        waiting += new
    return found


def _results_name(codes: frozenset[str], fixes: bool) -> str:
    return f"{'fixes' if fixes else 'results'}-{digest(*(code.encode() for code in sorted(codes))).hex()}"


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
