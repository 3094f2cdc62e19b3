"""What asking remembers of itself: budgets that are each question's own, and what an answer rests on."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial

import pytest

from gllint_rules import Settings
from gllint_rules.inference.questions import (
    MOST_DEPTH,
    MOST_EXECUTED,
    MOST_IN_CIRCLE,
    MOST_REPEATED,
    MOST_STEPS,
    MOST_WITHIN_EXECUTED,
    Questions,
)
from gllint_rules.inference.values import Frame, Site
from gllint_rules.project.imports import top_level_packages
from gllint_rules.project.project import Project, _without_tests, everything, registrars
from gllint_rules.project.project_questions import dispatchers, has_dispatcher, is_plain, registries
from gllint_rules.reading.facts import Module
from gllint_rules.reading.modules import read_module
from gllint_rules.reading.reads import Reads, Spoilt, noted
from gllint_rules.tools.registrars import Registrar
from gllint_rules.words.text_files import TEXT_MARK
from gllint_runtime import Policy

SITE = Site(read_module("/project/a.py", "x = 1\n"), 0)


def costly(questions: Questions, steps: int) -> Callable[[], str]:
    def answer() -> str:
        questions.step(steps)
        return "answered"

    return answer


def ask(questions: Questions, key: str, steps: int) -> str:
    return questions.ask(key, costly(questions, steps), "meanwhile", lambda: "too complex", SITE)


def test_each_question_has_a_budget_of_its_own() -> None:
    questions = Questions()
    assert questions.outermost(costly(questions, MOST_STEPS), "too complex", SITE) == "answered"
    for number in range(3):
        assert ask(questions, f"{number}", MOST_STEPS) == "answered"
    assert questions.cuts == {}
    for _ in range(MOST_STEPS + 1):  # nor do questions whose answers are remembered use up anything together
        assert ask(questions, "0", 0) == "answered"


@pytest.mark.parametrize("steps", [MOST_STEPS, MOST_STEPS + 1])
def test_a_question_that_is_too_complex_says_so_where_it_stands(steps: int) -> None:
    questions = Questions()
    is_cut = steps > MOST_STEPS
    assert ask(questions, "a", steps) == ("too complex" if is_cut else "answered")
    assert questions.outermost(costly(questions, steps), "too complex", SITE) == (
        "too complex" if is_cut else "answered"
    )
    assert [*questions.cuts.values()] == ["25000 steps"] * is_cut
    assert questions.depth == 0


def test_a_question_within_itself_adds_nothing_and_is_settled_at_the_head() -> None:
    questions = Questions()
    asked: list[str] = []

    def numbers(name: str, number: int, inner: str) -> Callable[[], frozenset[int]]:
        def answer() -> frozenset[int]:
            asked.append(name)
            return frozenset({number}) | put(inner)

        return answer

    rows = {"a": (1, "b"), "b": (2, "a")}

    def put(name: str) -> frozenset[int]:
        number, inner = rows[name]
        none: frozenset[int] = frozenset()
        return questions.ask(name, numbers(name, number, inner), none, lambda: none, SITE)

    assert put("a") == {1, 2}
    assert put("a") == {1, 2} and asked == ["a", "b"]  # remembered
    assert put("b") == {1, 2}  # it was answered under an assumption that holds no more
    questions.forget()
    assert put("b") == {1, 2} and put("a") == {1, 2}


@pytest.mark.parametrize("is_remembered", [True, False])
def test_an_answer_is_as_deep_when_it_is_remembered(is_remembered: bool) -> None:
    questions = Questions()

    def lower() -> str:
        return questions.ask("lower", down(questions, MOST_DEPTH // 2, str), "", lambda: "too complex", SITE)

    if is_remembered:
        assert lower() == ""
    upper = questions.ask("upper", down(questions, MOST_DEPTH // 2, lower), "", lambda: "too complex", SITE)
    assert upper == "too complex" and [*questions.cuts.values()] == ["2000 levels"]
    assert questions.ask("last", lower, "", lambda: "too complex", SITE) == ""


def test_what_costs_much_counts_as_much_when_it_is_remembered() -> None:
    questions = Questions()

    def twice() -> str:
        for _ in range(2):
            questions.again("row", costly(questions, MOST_STEPS // 2 + 1))
        return "answered"

    assert questions.ask("a", twice, "meanwhile", lambda: "too complex", SITE) == "too complex"
    assert questions.again("row", lambda: "anew") == "answered"


def project(reads: Reads | None = None, **texts: str) -> Project:
    whole = Project(
        Settings(), lambda path: None, lambda path: False, texts.__getitem__, "/project", reads=reads
    )
    for name, text in texts.items():
        whole.add(read_module(f"/project/{name}.py", text))
    return whole


def _size(project: Project, module: Module, argument: None) -> int:
    return len(module.outline.sections)


def _all_sizes(project: Project) -> tuple[int, ...]:
    return tuple(project.answers(_size, None))


def test_who_asks_of_all_modules_rests_on_all_of_them() -> None:
    one = project(a="x = 1\n", b="def f(): pass\n")
    assert one.once(_all_sizes) == (1, 1)
    assert one.consulted == {(_all_sizes,)}  # the answer is compared, not all that it rests on
    assert [*one.answers(_size, None)] == [1, 1]
    assert one.consulted == {(_all_sizes,), (everything,)}
    one.consulted.clear()
    assert sorted(one.modules) == ["/project/a.py", "/project/b.py"]
    assert one.consulted == {(everything,)}


def test_an_answer_about_all_modules_holds_until_one_comes() -> None:
    one = project(a="x = 1\n")
    assert one.once(_all_sizes) == (1,)
    one.add(read_module("/project/b.py", "y = 1\n"))
    assert one.once(_all_sizes) == (1, 1)


def test_whoever_asks_within_an_answer_has_read_what_that_read() -> None:
    reads = Reads()
    outer = reads.begin()
    reads.now.add("a")
    inner = reads.begin()
    reads.now.add("b")
    assert reads.end(inner) == {"b"}
    assert reads.apart(lambda: reads.now.add("c")) is None
    assert reads.end(outer) == {"a", "b"}
    assert reads.now == {"a", "b"}


def test_an_answer_is_spoilt_by_what_it_read() -> None:
    reads = Reads()
    first, second = reads.number(), reads.number()
    answers = {
        "first": frozenset({first | 1}),
        "second": frozenset({second | 1, "/data.json"}),
        "none": frozenset[int | str](),
    }
    assert Spoilt([], [first | 1]).among(answers) == ["first"]
    assert Spoilt([], [first | 2]).among(answers) == []
    assert Spoilt([second], []).among(answers) == ["second"]
    assert Spoilt([], ["/data.json"]).among(answers) == ["second"]
    assert Spoilt([first], ["/data.json"]).among(answers) == ["first", "second"]


def test_other_settings_judge_where_they_read_alike() -> None:
    one = project(a="x = 1\n")
    one.judge_by(Settings(Policy(plain_keys=("level",))))
    assert one.settings.policy.plain_keys == ("level",)
    with pytest.raises(ValueError, match="change the meaning"):
        one.judge_by(Settings(tool_classes=("Base",)))


def test_the_first_question_of_all_has_a_budget_of_its_own() -> None:
    questions = Questions()
    assert questions.depth == 0
    for number in range(2):
        assert ask(questions, f"{number}", MOST_STEPS) == "answered"
    assert questions.depth == 0 and questions.cuts == {}


class Begun(Questions):
    """Notes for which sites it gets ready."""

    def __init__(self) -> None:
        super().__init__()
        self.sites: list[int] = []

    def begin(self, site: Site) -> None:
        self.sites.append(site.at)


def test_it_gets_ready_for_a_question_that_stands_within_no_other() -> None:
    questions = Begun()
    module = SITE.module

    def asked(at: int, answer: Callable[[], str]) -> str:
        return questions.ask(at, answer, "meanwhile", lambda: "too complex", Site(module, at))

    assert asked(1, lambda: asked(2, lambda: "two") + " and one") == "two and one"
    assert questions.sites == [1]
    assert questions.outermost(lambda: asked(3, str) + "four", "too complex", Site(module, 4)) == "four"
    assert questions.sites[:2] == [1, 4]


def nested(questions: Questions, keys: list[object], innermost: Callable[[], object]) -> object:
    """What is executed within what else is."""
    if not keys:
        return innermost()
    return questions.executed(keys[0], lambda: nested(questions, keys[1:], innermost), SITE)


@pytest.mark.parametrize("count", [MOST_EXECUTED, MOST_EXECUTED + 1])
def test_so_many_functions_are_executed_within_each_other(count: int) -> None:
    questions = Questions()
    is_cut = count > MOST_EXECUTED
    assert questions.outermost(lambda: nested(questions, [*range(count)], lambda: "done"), None, SITE) == (
        None if is_cut else "done"
    )
    assert [*questions.cuts.values()] == [f"{MOST_EXECUTED} nested calls"] * is_cut


def test_a_function_is_not_executed_within_itself_for_the_same_call() -> None:
    questions = Questions()
    function, other = object(), object()

    def counts() -> tuple[int, int, bool, bool]:
        return (
            questions.rounds_of(function), questions.rounds_of(other),
            questions.executes((function, 1)), questions.executes((other, 2)),
        )  # fmt: skip

    def inner() -> object:
        assert questions.executed((function, 1), lambda: "once more", SITE) is None
        return nested(questions, [(function, 2), (other, 1), "no function"], counts)

    assert questions.outermost(
        lambda: questions.executed((function, 1), inner, SITE), None, SITE
    ) == (2, 1, True, False)  # fmt: skip
    assert counts() == (0, 0, False, False) and questions.cuts == {}


@pytest.mark.parametrize(
    ("steps", "is_cut"), [(MOST_WITHIN_EXECUTED // 2, False), (MOST_WITHIN_EXECUTED // 2 + 1, True)]
)
@pytest.mark.parametrize("is_noted", [False, True])
def test_what_is_executed_within_others_has_steps_of_its_own(
    steps: int, is_cut: bool, is_noted: bool
) -> None:
    questions = Questions()
    site = SITE if is_noted else None

    def outer() -> list[object]:
        questions.step(2 * steps)  # of the outer one: they do not count
        first = [questions.executed(number, costly(questions, steps), site) for number in (1, 2)]
        return [*first, questions.executed(3, lambda: "last", site)]

    answers = questions.outermost(lambda: questions.executed(0, outer, SITE), None, SITE)
    assert answers == ["answered", "answered", None if is_cut else "last"]
    assert [*questions.cuts.values()] == [f"{MOST_WITHIN_EXECUTED} steps in nested calls"] * (
        is_cut and is_noted
    )


@pytest.mark.parametrize("is_one_too_many", [False, True])
def test_a_question_may_be_allowed_more_steps(is_one_too_many: bool) -> None:
    questions = Questions()

    def answer() -> str:
        questions.allow(3)
        questions.allow(4)
        return costly(questions, MOST_STEPS + 7 + is_one_too_many)()

    answers = questions.outermost(answer, "too complex", SITE)
    assert answers == ("too complex" if is_one_too_many else "answered")
    assert [*questions.cuts.values()] == [f"{MOST_STEPS + 7} steps"] * is_one_too_many
    assert ask(questions, "the next one", MOST_STEPS) == "answered"
    assert ask(questions, "and the one after that", MOST_STEPS + 1) == "too complex"


def test_nothing_is_remembered_with_its_cost_where_nothing_is_asked_or_a_budget_ran_out() -> None:
    questions = Questions()
    number = iter(range(9))
    assert [questions.again("a", lambda: next(number)) for _ in range(2)] == [0, 1]

    def cut() -> int:
        questions.cut(SITE, "some budget")
        return next(number)

    def twice(answer: Callable[[], int]) -> list[int]:
        return [questions.again("b", answer) for _ in range(2)]

    answered = questions.ask("c", lambda: twice(cut), [], list, SITE)
    assert answered[0] == 2 and questions.again("b", lambda: -1) == answered[1]
    assert questions.cuts == {SITE: "some budget"}
    assert questions.ask("d", lambda: twice(lambda: next(number)), [], list, SITE) == [answered[1]] * 2


def test_after_a_question_that_fails_the_next_one_is_the_first_again() -> None:
    questions = Questions()

    def fails() -> str:
        questions.deeper()
        raise KeyError

    with pytest.raises(KeyError):
        questions.outermost(fails, "", SITE)
    assert questions.depth == 0
    with pytest.raises(KeyError):
        questions.ask("a", fails, "", str, SITE)
    assert questions.depth == 0 and ask(questions, "a", MOST_STEPS) == "answered"


def test_a_question_about_all_modules_that_fails_leaves_none_open() -> None:
    one = project(a="x = 1\n")

    def fails(project: Project) -> int:
        raise KeyError

    for _ in range(2):
        with pytest.raises(KeyError):
            one.once(fails)
    one.consulted.clear()
    assert [*one.answers(_size, None)] == [1]
    assert one.consulted == {(everything,)}


def test_what_is_asked_of_all_modules_is_kept_apart_from_who_asks() -> None:
    reads = Reads()
    one = project(reads, a="x = 1\n")

    def reading(project: Project, number: int) -> int:
        reads.now.add("all of it")
        return number

    outer = reads.begin()
    assert [one.once(reading, 1), one.once(reading, 2), one.once(reading, 1)] == [1, 2, 1]
    assert reads.end(outer) == frozenset()
    assert one.consulted == {(reading, 1), (reading, 2)}


def test_a_memory_lasts_until_a_module_comes() -> None:
    one = project(a="x = 1\n")

    def made(project: Project) -> list[int]:
        return []

    one.memory(made).append(1)
    assert one.memory(made) == [1]
    one.announce("/project/b.py")
    assert one.memory(made) == []
    one.memory(made).append(2)
    one.judge_by(Settings(Policy(plain_keys=("level",))))
    assert one.memory(made) == []


def test_modules_that_are_gone_are_as_good_as_empty() -> None:
    one = project(a="x = 1\n")
    one.announce("/project/gone.py")
    assert len(one.modules) == 2 and "/project/gone.py" in one.modules and "/project/no.py" not in one.modules
    assert one.consulted == set()
    assert one.parts(_size, None, ["/project/gone.py", "/project/no.py", "/project/a.py"]) == {
        "/project/gone.py": 0,
        "/project/no.py": 0,
        "/project/a.py": 1,
    }


def test_what_others_found_out_is_not_asked_again() -> None:
    shared: list[object] = []
    one = project(a="x = 1\n", b="y = 1\n")
    one.remember(_size, None, {"/project/a.py": 7})
    assert [*one.answers(_size, None)] == [7, 1]
    assert one.part_values == {(_size, None): {"/project/a.py": 7, "/project/b.py": 1}}

    def share_out(part: object, argument: object) -> dict[str, int]:
        shared.append((part, argument))
        return {"/project/a.py": 3, "/project/b.py": 4}

    two = project(a="x = 1\n", b="y = 1\n")
    two.share_out = share_out
    assert [*two.answers(_size, None)] == [*two.answers(_size, None)] == [3, 4]
    assert shared == [(_size, None)]  # once, while something is missing


def _words(project: Project, module: Module, argument: tuple[frozenset[str], str]) -> str:
    words, more = argument
    return more + " ".join(sorted(word for word in words if word in module.path))


def test_where_words_come_or_go_the_modules_that_hold_them_are_asked_again() -> None:
    looked: list[tuple[set[str], set[str]]] = []
    asked: list[str] = []

    def holding(words: frozenset[str], paths: Collection[str]) -> set[str]:
        looked.append(({*words}, {*paths}))
        return {path for path in paths if any(word in path for word in words)}

    def part(project: Project, module: Module, argument: tuple[frozenset[str], str]) -> str:
        asked.append(module.path)
        return _words(project, module, argument)

    def old_values(of: object) -> list[tuple[object, dict[str, str]]]:
        return [((frozenset({"cat", "far", "away"}), ""), {"/project/dog.py": "of an earlier run"})]

    texts = {"cat": "x = 1\n", "dog": "y = 1\n"}
    one = Project(
        Settings(), lambda path: None, lambda path: False, texts.__getitem__, "/project",
        holding=holding, old_values=old_values,
    )  # fmt: skip
    for name, text in texts.items():
        one.add(read_module(f"/project/{name}.py", text))

    def said(*words: str, more: str = "") -> list[str]:
        asked.clear()
        return [*one.answers_by_words(part, frozenset(words), more)]

    assert said("cat", "far", "away") == ["cat", "of an earlier run"] and asked == ["/project/cat.py"]
    assert said("cat", "far") == ["cat", "of an earlier run"] and asked == []
    assert said("cat", "far", "dog") == ["cat", "dog"] and asked == ["/project/dog.py"]
    assert looked == [
        ({"away"}, {"/project/cat.py", "/project/dog.py"}),
        ({"dog"}, {"/project/cat.py", "/project/dog.py"}),
    ]
    assert said("cat", "far", "dog") == ["cat", "dog"] and asked == []
    assert said("cat", more="a ") == ["a cat", "a "] and len(asked) == 2 and len(looked) == 2


def test_cuts_are_told_once() -> None:
    one = project(a="x = 1\ny = 2\n")
    module = one.modules["/project/a.py"]
    [binding] = module.scope.bindings["y"]
    assert binding.value is not None
    assert one.cuts() == []
    one.evaluator.cut(Site(module, 0), "some steps")
    assert [(cut.line, cut.budget) for cut in one.cuts()] == [(1, "some steps")]
    one.evaluator.cut(Site(module, binding.value.at), "some levels")
    assert [(cut.line, cut.budget) for cut in one.cuts()] == [(2, "some levels")]
    assert one.cuts() == []


def test_places_are_those_of_the_module_as_it_is() -> None:
    one = project(a="x = 1\n")
    module = one.modules["/project/a.py"]
    places = one.positions(module)
    assert one.positions(module) is places
    again = read_module("/project/a.py", "\nx = 1\n")
    assert one.positions(again).module is again and one.positions(module) is not places


def test_nothing_is_noted_where_nobody_follows() -> None:
    assert noted(None, lambda: 3) == (3, frozenset())
    reads = Reads()
    assert noted(reads, lambda: reads.now.add("a")) == (None, {"a"})
    with pytest.raises(KeyError):
        reads.apart(lambda: {}["none"])
    with pytest.raises(KeyError):
        noted(reads, lambda: {}["none"])
    assert reads.now == {"a"}


def test_a_registrar_that_a_test_describes_is_told_apart() -> None:
    described = Registrar("/project/a.py", 0, "get_heat", "get_heat", "described", "")
    one = project(a="x = 1\n")
    assert _without_tests(one, described) == described
    in_test = described._replace(path="/project/tests/test_a.py")
    assert _without_tests(one, in_test) == in_test._replace(kind="tested")
    other = in_test._replace(kind="other")
    assert _without_tests(one, other) == other


def joined(
    reads: Reads | None = None,
    holding: Callable[[frozenset[str], Collection[str]], Collection[str]] | None = None,
    **texts: str,
) -> Project:
    """A project whose modules find each other."""
    files = {f"/project/{name}.py": text for name, text in texts.items()}
    whole = Project(
        Settings(),
        lambda path: None,
        files.__contains__,
        files.__getitem__,
        "/project",
        top_level_packages(files),
        holding=holding,
        reads=reads,
    )
    for path, text in files.items():
        whole.add(read_module(path, text))
    return whole


KEEPS = "class ToolRegistry:\n    def register(self, tool):\n        pass\n"
RUNS = KEEPS.replace("register", "execute_tool")
CHAIN = {f"m{number}": f"from m{number + 1} import ToolRegistry\n" for number in range(6)}


@pytest.mark.parametrize(
    ("texts", "names", "has_one"),
    [
        ({"a": "x = 1\n"}, "", False),
        ({"a": KEEPS}, "", False),  # a registry that only keeps tools
        ({"a": RUNS}, "ToolRegistry", True),
        ({"a": "def dispatch_tool(): pass\n"}, "dispatch_tool", True),
        ({"a": f"{KEEPS}\nclass Mine(ToolRegistry):\n    pass\n"}, "", True),
        ({"a": "class Mine(ToolRegistry):\n    pass\n"}, "", True),
        ({"a": "from elsewhere import ToolRegistry\n"}, "ToolRegistry", True),
        ({"a": "from elsewhere import Other\n"}, "", False),
        ({"a": "from b import ToolRegistry\n", "b": KEEPS}, "", False),
        ({"a": "from b import ToolRegistry\n", "b": RUNS}, "ToolRegistry", True),
        ({"a": "from b import Mine as ToolRegistry\n", "b": KEEPS.replace("ToolRegistry", "Mine")}, "", False),
        ({"a": "from b import helper\n\nToolRegistry = helper()\n", "b": "class helper:\n    pass\n"}, "ToolRegistry", True),
        ({"a": "from b import ToolRegistry\n", "b": "from a import ToolRegistry\n"}, "ToolRegistry", True),
        ({**{f"m{n}": CHAIN[f"m{n}"] for n in range(5)}, "m5": KEEPS}, "", False),
        ({**CHAIN, "m6": KEEPS}, "ToolRegistry", True),  # too far away to be sure
    ],
)  # fmt: skip
def test_a_dispatcher_is_what_calls_can_go_through(texts: dict[str, str], names: str, has_one: bool) -> None:
    one = joined(**texts)
    assert one.once(dispatchers) == {*names.split()}
    assert one.once(has_dispatcher) is has_one


def test_whole_questions_are_known_by_their_names() -> None:
    assert is_plain(dispatchers) and not is_plain(_all_sizes)

    def dispatchers_of_another_making(project: Project) -> int:
        return 3

    dispatchers_of_another_making.__name__ = "dispatchers"
    assert not is_plain(dispatchers_of_another_making)


@pytest.mark.parametrize("extra", [0, 1])
def test_the_steps_of_what_is_being_executed_count_beside_those_of_what_was(extra: int) -> None:
    questions = Questions()
    half = MOST_WITHIN_EXECUTED // 2

    def going_on() -> object:
        questions.step(half + extra)
        return questions.executed("within", lambda: "last", SITE)

    def outer() -> object:
        questions.executed("first", costly(questions, half), SITE)
        return questions.executed("second", going_on, SITE)

    answer = questions.outermost(lambda: questions.executed("outer", outer, SITE), None, SITE)
    assert answer == (None if extra else "last")


def down(questions: Questions, levels: int, inner: Callable[[], str]) -> Callable[[], str]:
    def answer() -> str:
        depth = questions.depth
        for _ in range(levels):
            questions.deeper()
        answered = inner()
        questions.depth = depth
        return answered

    return answer


@pytest.mark.parametrize("levels", [MOST_DEPTH, MOST_DEPTH // 2])
def test_whoever_asks_is_as_deep_as_what_is_asked_remembered_or_not(levels: int) -> None:
    questions = Questions()

    def asked(key: str, answer: Callable[[], str]) -> str:
        return questions.ask(key, answer, "meanwhile", lambda: "too complex", SITE)

    def low() -> str:
        return asked("low", down(questions, levels, lambda: "low"))

    def middle() -> str:
        return asked("middle", low)

    is_too_deep = levels == MOST_DEPTH
    if is_too_deep:
        assert low() == "too complex"
        assert middle() == "too complex"  # as a whole, and not what stands for the low one
        assert [*questions.cuts.values()] == [f"{MOST_DEPTH} levels"]
    assert middle() == ("too complex" if is_too_deep else "low")
    assert asked("high", down(questions, MOST_DEPTH // 2, middle)) == "too complex"
    assert asked("not as high", down(questions, MOST_DEPTH // 2 - 9, middle)) == (
        "too complex" if is_too_deep else "low"
    )


def test_what_rests_on_a_circle_that_is_settled_is_not_remembered_with_its_cost_either() -> None:
    questions = Questions()
    rows = {"a": "b", "b": "a"}
    calls: list[str] = []

    def put(name: str) -> str:
        return questions.ask(name, lambda: name + put(rows[name]), "", str, SITE)

    def row() -> str:
        calls.append("row")
        return put("a")

    assert put("a") == "ab"
    both = questions.ask(
        "both", lambda: questions.again("row", row) + questions.again("row", row), "", str, SITE
    )
    assert (both, len(calls)) == ("abab", 2)


def test_modules_that_assign_a_registry_that_may_hold_tools_are_named() -> None:
    one = joined(
        a="TOOL_REGISTRY = {'heat': print}\n",
        b="TOOL_REGISTRY = {'heat': 'the heat of a site'}\n",
        c="TOOL_REGISTRY = make()\n",
        d="OTHER = {'heat': print}\n",
    )
    assert one.once(registries) == ("/project/a.py", "/project/c.py")


@pytest.mark.parametrize("root", ["", "/", "/app"])
def test_a_text_is_looked_for_from_its_module_upwards_to_the_top_even_of_the_disk(root: str) -> None:
    files = {"/app/a/agent.py", "/app/a/answer.txt", "/app/top.txt"}
    project = Project(Settings(), lambda _: None, files.__contains__, lambda _: "", root)
    names = ("answer.txt", "top.txt", "nowhere.txt")
    paths = [project.evaluator.modules.find_module("/app/a/agent.py", f"{TEXT_MARK}{name}") for name in names]
    assert paths == ["/app/a/answer.txt", "/app/top.txt", None]


def asked_in_turn(rows: Mapping[str, str], names: Iterable[str]) -> list[str]:
    """What each of ``names`` is said to lead to, asked one after the other: the way of all questions and answers."""
    questions = Questions()

    def put(name: str) -> str:
        return questions.ask(name, lambda: f"{name}{''.join(map(put, rows[name]))}.", "", str, SITE)

    return [*map(put, names)]


def test_no_answer_depends_on_who_asked_first() -> None:
    chance = random.Random(1)
    for _ in range(150):
        names = "abcde"[: chance.randint(2, 5)]
        rows = {name: "".join(other for other in names if chance.random() < 0.4) for name in names}
        order = chance.choices(names, k=6)
        assert asked_in_turn(rows, order) == [asked_in_turn(rows, name)[0] for name in order], rows


def around(questions: Questions, name: str, ways: int, steps: int = 0) -> str:
    """A question ``name`` that leads by so many ways to the same one, which leads back to it and to each way."""
    asked = partial(questions.ask, meanwhile="", instead=lambda: "too complex", site=SITE)

    def way(number: int) -> str:
        here = (name, number)

        def shared() -> str:
            questions.step(steps)
            return asked(name, str) + asked(here, str)

        return asked(here, lambda: asked((name, "shared"), shared))

    return asked(name, lambda: "".join(map(way, range(ways))) + "answered")


@pytest.mark.parametrize("more", [0, 1])
def test_a_question_is_answered_anew_so_often_on_other_ways_around_a_circle(more: int) -> None:
    questions = Questions()
    answer = around(questions, "a", MOST_REPEATED + 1 + more)  # the first way is no other one
    assert answer == ("too complex" if more else "answered")
    assert [*questions.cuts.values()] == [f"{MOST_REPEATED} questions in a circle"] * more


@pytest.mark.parametrize("more", [0, 1])
def test_what_is_answered_anew_in_circles_within_a_circle_counts_together(more: int) -> None:
    questions = Questions()
    half = MOST_REPEATED // 2

    def whole() -> str:
        return inner("b", half) + inner("c", half + more)

    def inner(name: str, ways: int) -> str:
        def answer() -> str:
            return "".join(map(partial(way, name), range(ways + 1))) + outermost()

        return questions.ask(name, answer, "", str, SITE)

    def way(name: str, number: int) -> str:
        here = (name, number)

        def shared() -> str:
            return outermost() + questions.ask(here, str, "", str, SITE)

        return questions.ask(
            here, lambda: questions.ask((name, "shared"), shared, "", str, SITE), "", str, SITE
        )

    def outermost() -> str:
        return questions.ask("a", lambda: whole() + "answered", "", lambda: "too complex", SITE)

    assert outermost() == ("too complex" if more else "answered")


@pytest.mark.parametrize("more", [0, 1])
def test_the_questions_of_a_circle_have_a_budget_of_their_own(more: int) -> None:
    questions = Questions()
    for name in ("a", "b"):  # that of each circle
        ways, steps = 4, MOST_IN_CIRCLE // 8
        assert around(questions, name, ways, steps - 2) == "answered"
    assert around(questions, "c", 1, MOST_IN_CIRCLE - 3 + more) == ("too complex" if more else "answered")
    assert [*questions.cuts.values()] == [f"{MOST_IN_CIRCLE} steps in a circle"] * more


def test_what_is_too_deep_is_so_for_whoever_asks_for_it() -> None:
    questions = Questions()

    def asked(key: str, answer: Callable[[], str]) -> str:
        return questions.ask(key, answer, "", lambda: f"{key} is too complex", SITE)

    def deep() -> str:
        return asked("deep", lambda: asked("deeper", down(questions, MOST_DEPTH, lambda: "answered")))

    assert deep() == deep() == "deep is too complex"
    assert asked("above", deep) == "above is too complex"
    assert asked("beside", lambda: "answered") == "answered"


def test_who_measures_sees_all_steps() -> None:
    questions = Questions()
    assert questions.total_steps == 0
    assert ask(questions, "a", 5) == "answered" and questions.total_steps == 6
    assert ask(questions, "a", 5) == "answered" and questions.total_steps == 7


def test_what_is_remembered_with_its_cost_uses_up_nothing_where_nothing_is_asked() -> None:
    questions = Questions()
    row = costly(questions, MOST_STEPS // 2)
    assert questions.ask("a", lambda: questions.again("row", row), "", lambda: "too complex", SITE)
    for _ in range(4):
        assert questions.again("row", lambda: "anew") == "answered"


def test_what_was_allowed_more_steps_is_so_again() -> None:
    questions = Questions()

    def table() -> str:
        questions.allow(MOST_STEPS + 1)
        return costly(questions, MOST_STEPS + 1)()

    def three() -> str:
        return " ".join(questions.again("table", table) for _ in range(3))

    assert questions.ask("a", three, "", lambda: "too complex", SITE) == "answered answered answered"


def test_what_is_remembered_with_its_cost_is_as_deep_and_takes_as_many_steps_wherever_it_is_asked() -> None:
    questions = Questions()
    calls: list[str] = []
    depths = MOST_DEPTH // 2

    def row() -> str:
        calls.append("row")
        return down(questions, depths - 100, costly(questions, MOST_STEPS // 4))()

    def rows() -> str:
        return questions.again("row", row)

    def asked(key: str, answer: Callable[[], str]) -> str:
        return questions.ask(key, answer, "", lambda: "too complex", SITE)

    def beginning() -> str:
        questions.step(MOST_STEPS // 4)
        return rows() + down(questions, 50, lambda: rows() + rows())()

    def late() -> str:
        questions.step(MOST_STEPS // 2)
        return rows() + asked("last", down(questions, depths - 100, lambda: ""))

    assert asked("low", down(questions, depths, late)) == "answered"
    assert asked("above", lambda: asked("last", str) + "answered") == "answered"
    assert asked("again", beginning) == "answered" * 3  # as deep, and as many steps, as fit
    assert calls == ["row"]
    assert asked("remembered", rows) == "answered"
    assert asked("as deep", down(questions, depths + 50, lambda: asked("remembered", str))) == "answered"
    assert asked("too deep", down(questions, depths + 150, lambda: asked("remembered", str))) == "too complex"
    assert asked("too deep, too", down(questions, depths + 150, rows)) == "too complex"


@pytest.mark.parametrize("more", [0, 1])
def test_a_question_may_be_so_deep(more: int) -> None:
    questions = Questions()
    answer = down(questions, MOST_DEPTH + more, lambda: "answered")
    assert questions.outermost(answer, "too complex", SITE) == ("too complex" if more else "answered")
    assert [*questions.cuts.values()] == [f"{MOST_DEPTH} levels"] * more


@pytest.mark.parametrize(
    ("texts", "talks"),
    [
        ({"a": "x = 1\n"}, False),
        ({"a": "import json\n", "b": "from openai import OpenAI\n"}, True),
        ({"a": "import crewai\n"}, True),
    ],
)
def test_a_project_talks_to_a_model_where_a_file_of_it_imports_one(
    texts: dict[str, str], talks: bool
) -> None:
    one = joined(**texts)
    assert (one.talks(), one.talks()) == (talks, talks)
    assert one.consulted == set()  # which is known of each project before anything is asked
    one.add(read_module("/project/c.py", "import anthropic\n"))
    assert one.talks() is True
    unseen = Project(Settings(), lambda path: None, lambda path: False, str, "/project", talks=True)
    assert unseen.talks() is True  # a file that nobody announces


def test_what_hands_functions_over_is_followed_through_three_modules() -> None:
    first = "from langchain.agents import create_agent\n\n\ndef build0(tools):\n    return create_agent('m', tools)\n"
    texts = {
        f"m{n + 1}": f"from m{n} import build{n}\n\n\ndef build{n + 1}(tools):\n    return build{n}(tools)\n"
        for n in range(5)
    }
    found = joined(m0=first, **texts).once(registrars)
    assert sorted(registrar.used_as for registrar in found) == ["build0", "build1", "build2", "build3"]
    none = joined(a="x = 1\n", b="y = 1\n")
    assert none.once(registrars) == frozenset()
    assert not any(isinstance(argument, frozenset) for _, argument in none.part_values)  # nor looked for


def test_a_module_that_is_gone_is_read_once() -> None:
    loaded: list[str] = []
    one = Project(Settings(), loaded.append, lambda path: False, str, "/project")  # type: ignore[arg-type]
    one.announce("/project/gone.py")

    def itself(project: Project, module: Module, argument: int) -> Module:
        return module

    first, second = (*one.answers(itself, 1), *one.answers(itself, 2))
    assert first is second is one.modules["/project/gone.py"] and loaded == ["/project/gone.py"]


def test_other_words_ask_all_modules_where_nobody_tells_which_hold_them() -> None:
    one = project(cat="x = 1\n", dog="y = 1\n")
    for words in (["cat"], ["dog"], ["cat", "dog"]):
        expected = [name if name in words else "" for name in ("cat", "dog")]
        assert [*one.answers_by_words(_words, frozenset(words), "")] == expected


@pytest.mark.parametrize("follows", [True, False])
@pytest.mark.parametrize("by_words", [True, False])
def test_after_an_edit_those_are_asked_of_which_something_else_may_be_said(
    follows: bool, by_words: bool
) -> None:
    """Where it is noted what was read for an answer, these are those that read what was edited; else all beyond it."""
    asked: list[str] = []
    a = "import json\n\nx = 1\n"
    one = joined(
        Reads() if follows else None,
        lambda words, paths: (),
        a=a,
        b="from a import x\n\ny = x\n",
        c="from a import x\n\ny = 2\n",
        d="y = 3\n",
    )

    def part(project: Project, module: Module, argument: object) -> str:
        asked.append(module.path[-4])
        for binding in module.scope.bindings.get("y", ()):
            if binding.value is not None:
                value = project.evaluator.eval(binding.value, Frame(module, module.scope))
                return type(value).__name__
        return "nothing"

    def said(word: str = "one") -> list[str]:
        asked.clear()
        if by_words:
            return [*one.answers_by_words(part, frozenset({word}), 0)]
        return [*one.answers(part, 0)]

    assert one.imports.find_module("/project/c.py", "a") == "/project/a.py"
    assert said() == ["nothing", "Number", "Number", "Number"] and asked == [*"abcd"]
    assert said("two") == ["nothing", "Number", "Number", "Number"] and asked == []
    module = one.modules["/project/a.py"]
    assert read_module("/project/a.py", a.replace("1", "'a'"), module) is module
    assert one.follow({"/project/a.py"}) == {"/project/a.py", "/project/b.py", "/project/c.py"}
    assert said("two") == ["nothing", "Text", "Number", "Number"]
    assert asked == ([*"ab"] if follows else [*"abc"])
    assert read_module("/project/a.py", a.replace("1", "'a'").replace("json", "openai"), module) is module
    one.follow({"/project/a.py"})
    assert one.talks() and said("two") == ["nothing", "Text", "Number", "Number"]
    assert asked == [*"abcd"]  # all of it was said of a project that talks to no model
