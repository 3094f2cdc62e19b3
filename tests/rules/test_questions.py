"""What asking remembers of itself: budgets that are each question's own, and what an answer rests on."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial

import pytest

from gllint_rules import Settings
from gllint_rules.inference.questions import (
    MOST_DEPTH,
    MOST_IN_CIRCLE,
    MOST_REPEATED,
    MOST_STEPS,
    Questions,
)
from gllint_rules.inference.values import Frame, Site
from gllint_rules.project.imports import top_level_packages
from gllint_rules.project.project import Project, everything, registrars
from gllint_rules.project.project_questions import dispatchers, has_dispatcher, registries
from gllint_rules.reading.facts import Module
from gllint_rules.reading.modules import read_module
from gllint_rules.reading.reads import Reads, Spoilt
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


def down(questions: Questions, levels: int, inner: Callable[[], str]) -> Callable[[], str]:
    def answer() -> str:
        depth = questions.depth
        for _ in range(levels):
            questions.deeper()
        answered = inner()
        questions.depth = depth
        return answered

    return answer


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
def test_the_questions_of_a_circle_have_a_budget_of_their_own(more: int) -> None:
    questions = Questions()
    for name in ("a", "b"):  # that of each circle
        ways, steps = 4, MOST_IN_CIRCLE // 8
        assert around(questions, name, ways, steps - 2) == "answered"
    assert around(questions, "c", 1, MOST_IN_CIRCLE - 3 + more) == ("too complex" if more else "answered")
    assert [*questions.cuts.values()] == [f"{MOST_IN_CIRCLE} steps in a circle"] * more


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
