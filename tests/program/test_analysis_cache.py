"""What is kept of earlier runs holds as long as what it rests on is the same, and no longer."""

from __future__ import annotations

from typing import Any, cast

import pytest

from gllint.run.analysis_cache import EVERYTHING, AnalysisCache, result_of
from gllint.run.cache import Store, encode
from gllint.run.results import Dependencies, Result, StoredResult
from gllint_rules import Failure

CODES = frozenset({"GL101"})
PATHS = ("a.py", "b.py", "c.py")


class Files:
    """The files of a project in memory, each with its digest; ``asked`` are the questions that were answered anew."""

    def __init__(self) -> None:
        self.digests = {path: path.encode() for path in PATHS}
        self.leads = {("a.py", "b"): "b.py"}
        self.answers = {"tools": b"1"}
        self.asked: list[str] = []

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(self.digests)

    def digest_of(self, path: str) -> bytes:
        return self.digests.get(path, b"")

    def is_there(self, path: str) -> bool:
        return path in self.digests

    def leads_to(self, importer: str, dotted: str) -> str | None:
        return self.leads.get((importer, dotted))

    def answer(self, question: str) -> bytes:
        self.asked.append(question)
        return self.answers[question]


class Kept(dict[str, Any]):
    """A store in memory."""

    def has(self, name: str) -> bool:
        return name in self

    def read(self, name: str, kind: Any, build: Any = None) -> Any:
        return self.get(name)

    def write(self, name: str, value: Any, is_small: bool = False) -> None:
        self[name] = value


@pytest.fixture
def files() -> Files:
    return Files()


@pytest.fixture
def kept(files: Files) -> Kept:
    """What a run keeps: a.py leads to b.py, c.py to nothing; a.py rests on a question, c.py on all modules."""
    store = Kept()
    cache = again(store, files)
    assert not cache.has_results(CODES) and cache.results(CODES, PATHS) == {}
    cache.learn(files.digests, {}, (), {"a.py": {"b": "b.py"}}, {})
    results = {
        "a.py": Result(consulted=frozenset({"tools"})),
        "b.py": Result(),
        "c.py": Result(consulted=frozenset({EVERYTHING})),
    }
    outside = Dependencies({}, {}, {})
    cache.find_answers(results, PATHS)
    cache.keep_facts(True, {}, outside, PATHS, frozenset(), ())
    cache.keep_results(CODES, PATHS, results)
    cache.keep_fixed(CODES, PATHS, results, outside)
    files.asked.clear()
    return store


def again(store: Kept, files: Files) -> AnalysisCache:
    cache = AnalysisCache(cast("Store", store), files)
    cache.compare(True)
    return cache


def test_where_nothing_changed_all_holds_and_nothing_is_asked(kept: Kept, files: Files) -> None:
    cache = again(kept, files)
    assert cache.has_results(CODES) and not cache.has_results(frozenset({"GL102"}))
    assert cache.results(CODES, PATHS).keys() == {*PATHS} and files.asked == []
    fixed = cache.fixed(CODES, PATHS)
    assert fixed is not None and fixed.results.keys() == {*PATHS}
    assert cache.fixed(CODES, PATHS[:2]) is None


@pytest.mark.parametrize(
    ("changed", "holding"),
    [("a.py", {"b.py"}), ("b.py", set()), ("c.py", {"a.py", "b.py"})],
)
def test_what_leads_to_a_changed_file_does_not_hold(
    kept: Kept, files: Files, changed: str, holding: set[str]
) -> None:
    files.digests[changed] = b"other"
    cache = again(kept, files)
    assert cache.results(CODES, PATHS).keys() == holding
    assert cache.fixed(CODES, PATHS) is None


def test_an_answer_that_is_kept_holds_where_all_modules_are_the_same(kept: Kept, files: Files) -> None:
    files.answers["tools"] = b"2"
    assert again(kept, files).results(CODES, PATHS).keys() == {*PATHS}  # nobody asks
    files.digests["c.py"] = b"other"
    assert again(kept, files).results(CODES, PATHS).keys() == {"b.py"} and files.asked == ["tools"]


def test_a_question_that_was_never_answered_is_asked(kept: Kept, files: Files) -> None:
    [name] = (name for name in kept if name.startswith("results-"))
    kept[name]["b.py"] = StoredResult(
        kept[name]["b.py"].evidence, {"more": b"3"}, frozenset(), False, encode(Result())
    )
    files.answers["more"] = b"3"
    cache = again(kept, files)
    assert "b.py" in cache.results(CODES, PATHS) and files.asked == ["more"]
    files.answers["more"] = b"4"
    assert "b.py" not in again(kept, files).results(CODES, PATHS)


def test_a_file_that_comes_and_a_name_that_leads_elsewhere_change_what_rests_on_them(
    kept: Kept, files: Files
) -> None:
    files.digests["d.py"] = b"d.py"
    assert again(kept, files).fresh.keys() == {*PATHS}
    files.leads["a.py", "b"] = "d.py"
    assert again(kept, files).fresh.keys() == {"b.py", "c.py"}


def test_what_is_kept_of_a_project_that_talks_to_no_model_is_none_of_one_that_does(
    kept: Kept, files: Files
) -> None:
    cache = again(kept, files)
    cache.compare(False)
    assert cache.fresh == {} and cache.results(CODES, PATHS) == {}


def test_a_module_that_is_held_for_changed_takes_along_what_rests_on_it(kept: Kept, files: Files) -> None:
    cache = again(kept, files)
    assert cache.spoil(["b.py"]) == {"a.py", "b.py"} and cache.fresh.keys() == {"c.py"}
    assert cache.state(["c.py"]) and cache.state(["c.py", "b.py"]) is None


def test_what_the_rules_said_before_the_facts_that_are_kept_does_not_hold(kept: Kept, files: Files) -> None:
    """A run that was ended between the two, or one with other rules: results are older than the facts."""
    files.digests["b.py"] = b"other"
    cache = again(kept, files)
    cache.learn(files.digests, {}, (), {"a.py": {"b": "b.py"}}, {})
    cache.keep_facts(True, {}, Dependencies({}, {}, {}), PATHS, frozenset({(b"name",)}), PATHS[:2])
    later = again(kept, files)
    assert later.fresh.keys() == {*PATHS} and later.results(CODES, PATHS).keys() == set()
    assert later.names(PATHS[:2]) == {(b"name",)} and later.names(PATHS) is None


def learnt(store: Kept, files: Files, **more: Any) -> AnalysisCache:
    """What is known of the three files, when all was read; ``more`` is what else was found out."""
    cache = again(store, files)
    cache.learn(
        {path: files.digests[path] for path in PATHS},
        more.pop("loaded", {}),
        more.pop("broken", ()),
        more.pop("targets", {}),
        more.pop("told_by", {}),
    )
    outside = more.pop("outside", Dependencies({}, {}, {}))
    cache.keep_facts(True, more.pop("answers", {}), outside, PATHS, frozenset(), ())
    assert not more
    return cache


def test_evidence_is_what_was_read_and_whatever_that_leads_to(files: Files) -> None:
    files.digests["lib.py"] = b"lib.py"
    store = Kept()
    files.leads = {("a.py", "lib"): "lib.py", ("lib.py", "none"): None, ("lib.py", "gone"): "gone.py"}  # type: ignore[dict-item]
    cache = learnt(
        store,
        files,
        loaded={"lib.py": b"lib.py", "more.py": b"more.py"},
        broken=("b.py",),
        targets={"a.py": {"lib": "lib.py"}, "lib.py": {"none": None, "gone": "gone.py"}},
        told_by={"c.py": {"b.py"}},
    )
    assert cache.fresh.keys() == {*PATHS, "lib.py"}  # nothing leads to more.py, nothing is known of gone.py
    assert [cache.fresh[path].sound for path in PATHS] == [True, False, True]
    assert cache.fresh["lib.py"].targets == {"none": None, "gone": "gone.py"}
    assert cache.fresh["c.py"].told_by == {"b.py"}
    cache.learn({"a.py": b"a.py"}, {}, ("a.py",), {"a.py": {"more": None}}, {"a.py": {"c.py"}})
    assert cache.fresh.keys() == {*PATHS, "lib.py"} and cache.fresh["a.py"].sound  # it is as it was
    assert cache.fresh["a.py"].targets == {"lib": "lib.py", "more": None}
    files.digests["b.py"] = b"other"
    assert again(store, files).fresh.keys() == {"a.py", "lib.py"}


@pytest.mark.parametrize(
    ("outside", "is_there", "stale"),
    [
        (Dependencies({}, {"lib/": False}, {"a.py": False}), False, set()),
        (Dependencies({}, {"lib/": False}, {"a.py": False}), True, {"a.py"}),
        (Dependencies({}, {"lib/": False}, {"a.py": True}), True, set()),
        (Dependencies({}, {"lib/": True}, {"c.py": False}), True, set()),
        (Dependencies({}, {"lib/": True}, {"c.py": False}), False, {"c.py"}),
    ],
)
def test_what_was_looked_for_outside_is_looked_for_again(
    files: Files, outside: Dependencies, is_there: bool, stale: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Kept()
    learnt(store, files, outside=outside)
    monkeypatch.setattr(files, "is_there", lambda path: is_there)
    assert again(store, files).fresh.keys() == {*PATHS} - stale


def _heat(project: Any, module: Any, argument: str) -> int:
    raise AssertionError("nobody asks")


def _rows(project: Any, module: Any, argument: tuple[str, ...]) -> int:
    raise AssertionError("nobody asks")


def _theirs(project: Any, module: Any, argument: str) -> int:
    raise AssertionError("nobody asks")


_heat.__module__ = _rows.__module__ = "gllint_rules.project.some"


def test_what_parts_said_is_kept_by_what_they_were_given(files: Files) -> None:
    store = Kept()
    learnt(
        store,
        files,
        answers={
            (_heat, "kWh"): {"a.py": 1, "gone.py": 2},
            (_heat, "Wh"): {"b.py": 3},
            (_rows, ("x",)): {"c.py": 4},
            (_theirs, "kWh"): {"a.py": 5},
        },
    )
    cache = again(store, files)
    assert [*cache.part_values(_heat)] == [("kWh", {"a.py": 1}), ("Wh", {"b.py": 3})]
    assert [*cache.part_values(_rows)] == [(("x",), {"c.py": 4})]
    assert [*cache.part_values(_theirs)] == []
    # What is given names is kept beside what it was given earlier, anything else in place of that.
    learnt(
        store,
        files,
        answers={(_heat, "J"): {"a.py": 6}, (_heat, "Wh"): {"b.py": 7}, (_rows, ("y",)): {"c.py": 8}},
    )
    cache = again(store, files)
    assert dict(cache.part_values(_heat)) == {"J": {"a.py": 6}, "Wh": {"b.py": 7}, "kWh": {"a.py": 1}}
    assert [*cache.part_values(_rows)] == [(("y",), {"c.py": 8})]
    # What nobody asked is kept, too, of the modules that are as they were; nothing where none is.
    files.digests["a.py"] = b"other"
    cache = again(store, files)
    assert dict(cache.part_values(_heat)) == {"J": {}, "Wh": {"b.py": 7}, "kWh": {}}
    learnt(store, files)
    cache = again(store, files)
    assert dict(cache.part_values(_heat)) == {"Wh": {"b.py": 7}}
    assert [*cache.part_values(_rows)] == [(("y",), {"c.py": 8})]


def test_what_parts_of_another_making_said_is_nothing(files: Files) -> None:
    store = Kept()
    learnt(
        store,
        files,
        answers={(_heat, "kWh"): {"a.py": "one"}, (_heat, "Wh"): {"a.py": 1}, (_heat, 5): {"a.py": 2}},
    )
    assert [*again(store, files).part_values(_heat)] == [("Wh", {"a.py": 1})]


def test_what_failed_is_not_kept_and_what_was_kept_stays(kept: Kept, files: Files) -> None:
    cache = again(kept, files)
    failed = Result(failures=(Failure("GL101", "a.py", "ValueError"),))
    earlier = cache.results(CODES, PATHS)["b.py"]
    cache.keep_results(
        CODES, PATHS, {"a.py": failed, "b.py": earlier._replace(evidence=b""), "c.py": Result()}
    )
    assert again(kept, files).results(CODES, PATHS).keys() == {"b.py", "c.py"}
    cache.keep_fixed(
        CODES, PATHS, {"a.py": failed, "b.py": Result()}, Dependencies({"l": b"l"}, {"p": True}, {"o": True})
    )
    fixed = again(kept, files).fixed(CODES, PATHS)
    assert fixed is not None and fixed.results.keys() == {"b.py"}
    assert fixed.rests_on == Dependencies({"l": b"l"}, {}, {})


def test_a_result_is_read_as_it_was_written(kept: Kept, files: Files) -> None:
    result = Result(notice="too large", consulted=frozenset({"tools"}))
    cache = again(kept, files)
    cache.keep_results(CODES, PATHS, {"a.py": result})
    entry = again(kept, files).results(CODES, PATHS)["a.py"]
    assert result_of(entry) == result
    assert result_of(entry._replace(result=b"of another making")) == Result()


def test_what_is_asked_is_asked_once(kept: Kept, files: Files) -> None:
    files.digests["c.py"] = b"other"
    cache = again(kept, files)
    results = {path: Result(consulted=frozenset({"tools", EVERYTHING})) for path in PATHS}
    cache.find_answers(results, PATHS)
    assert files.asked == ["tools"]  # before anything is kept: it may lead to more files
    cache.keep_results(CODES, PATHS, results)
    assert files.asked == ["tools"]
    cache.spoil(["a.py"])
    assert cache.state(PATHS) is None and cache.fixed(CODES, PATHS) is None


def test_what_is_kept_with_fixes_is_nothing_that_is_kept_without(files: Files) -> None:
    cache = again(Kept(), files)
    cache.learn(files.digests, {}, (), {}, {})
    cache.keep_fixed(CODES, PATHS, {path: Result() for path in PATHS}, Dependencies({}, {}, {}))
    assert not cache.has_results(CODES) and cache.results(CODES, PATHS) == {}
    assert cache.fixed(CODES, PATHS) is not None
    store = Kept()
    cache = again(store, files)
    cache.learn(files.digests, {}, (), {}, {})
    cache.keep_results(CODES, PATHS, {path: Result() for path in PATHS})
    assert cache.has_results(CODES) and cache.fixed(CODES, PATHS) is None
