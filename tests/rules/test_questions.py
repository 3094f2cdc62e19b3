"""What asking remembers of itself: budgets that are each question's own, and what an answer rests on."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gllint_rules import Settings
from gllint_rules.inference.questions import MOST_DEPTH, MOST_STEPS, Questions
from gllint_rules.inference.values import Site
from gllint_rules.project.project import Project, everything
from gllint_rules.reading.facts import Module
from gllint_rules.reading.modules import read_module
from gllint_rules.reading.reads import Reads, Spoilt
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

    def go_down(levels: int, inner: Callable[[], str]) -> str:
        depth = questions.depth
        for _ in range(levels):
            questions.deeper()
        answer = inner()
        questions.depth = depth
        return answer

    def lower() -> str:
        return questions.ask("lower", lambda: go_down(MOST_DEPTH // 2, str), "", lambda: "too complex", SITE)

    if is_remembered:
        assert lower() == ""
    upper = questions.ask("upper", lambda: go_down(MOST_DEPTH // 2, lower), "", lambda: "too complex", SITE)
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
    with pytest.raises(ValueError, match="something else"):
        one.judge_by(Settings(tool_classes=("Base",)))


def test_the_first_question_of_all_has_a_budget_of_its_own() -> None:
    questions = Questions()
    assert questions.depth == 0
    for number in range(2):
        assert ask(questions, f"{number}", MOST_STEPS) == "answered"
    assert questions.depth == 0 and questions.cuts == {}
