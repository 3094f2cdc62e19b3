"""Nothing hangs and nothing is cut by chance: work grows with the file, and what is too complex is so as a whole."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable

import pytest

from gllint_rules import RULES, Failure, Finding, Settings
from gllint_rules.check.check import check
from gllint_rules.inference import questions
from gllint_rules.inference.formatting import MOST_CHARACTERS, MOST_PARTS
from gllint_rules.inference.questions import MOST_DEPTH, MOST_EXECUTED, MOST_STEPS, Questions, TooComplex
from gllint_rules.inference.values import External, Flow, Literal, Site, Text
from gllint_rules.project.imports import top_level_packages
from gllint_rules.project.project import Project
from gllint_rules.reading import strings
from gllint_rules.reading.facts import Function, Module
from gllint_rules.reading.modules import read_module
from gllint_rules.reading.outline import Outline
from gllint_rules.reading.stack import BYTES_PER_FRAME, SIZES, on_large_stack
from gllint_rules.words.names import Names, _any_of
from gllint_rules.words.nearest import nearest_name
from harness import example, places, run
from shapes import (
    SHAPES,
    Files,
    chain_of_arguments,
    chain_of_constants,
    chain_of_coroutines,
    chain_of_helpers,
    chain_of_keys,
    chain_of_lambdas,
    chain_of_methods,
    chain_of_spreads,
    circle_of_helpers,
    circle_of_keys,
    dense_circle_of_changes,
    dispatch_table,
    doubling,
    doubling_helpers,
    every_helper_a_tool,
    generic_aliases,
    lambdas_calling_two,
    many_returns,
    maybe_spread,
    maybe_stored,
    maybe_updated,
    spreads_in_a_dict,
    tool,
)


def checked(files: Files) -> tuple[Project, list[Finding]]:
    """The findings in ``files``, and the project that was asked."""
    texts = {f"/project/{path}": text for path, text in files.items()}
    project = Project(
        Settings(),
        load=lambda path: read_module(path, texts[path]) if path in texts else None,
        exists=texts.__contains__,
        source_of=texts.__getitem__,
        root="/project",
        packages=top_level_packages(texts),
    )
    for path, text in texts.items():
        project.add(read_module(path, text))
    found = on_large_stack(
        lambda: [item for path in texts for item in check(project, path, frozenset(RULES), fixes=False)]
    )
    assert [item for item in found if isinstance(item, Failure)] == []
    return project, [item for item in found if isinstance(item, Finding)]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_work_grows_with_the_file(shape: Callable[[int], Files]) -> None:
    """Twice the program takes about twice the steps, or fewer where a budget ran out."""
    n = max(SHAPES[shape] // 6, 3)
    steps = [checked(shape(size))[0].evaluator.total_steps for size in (n, 2 * n, 4 * n)]
    most = 12 if shape is every_helper_a_tool else 3  # dense circles: bounded where a budget runs out
    assert steps[1] < most * steps[0] + 100
    assert steps[2] < most * steps[1] + 100


@pytest.mark.parametrize("n", [1, MOST_EXECUTED, MOST_EXECUTED + 1, 20])
def test_a_number_handed_on_is_found_or_said_to_be_lost(n: int) -> None:
    project, found = checked(chain_of_arguments(n))
    assert [finding.code for finding in found] == ["GL101"] * (n <= MOST_EXECUTED)
    assert len(project.cuts()) == (n > MOST_EXECUTED)


DEEP = (chain_of_helpers, chain_of_constants, circle_of_helpers, lambdas_calling_two, generic_aliases)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_no_program_is_too_deep(shape: Callable[[int], Files]) -> None:
    """What the rules ask runs on a large stack; its depth is bounded, so that the smallest of those holds it."""

    def limited() -> tuple[Project, list[Finding]]:
        # Within on_large_stack, which gives its caller the limit back that it had.
        sys.setrecursionlimit(SIZES[-1] // BYTES_PER_FRAME)
        return checked(shape(n))

    n = SHAPES[shape] if shape not in DEEP else 1000
    on_large_stack(limited)


@pytest.mark.parametrize(
    "shape",
    [
        chain_of_keys,
        chain_of_spreads,
        chain_of_methods,
        chain_of_lambdas,
        chain_of_coroutines,
        circle_of_keys,
    ],
)
@pytest.mark.parametrize("n", [12, 41, 150])
def test_every_helper_of_a_chain_is_followed(shape: Callable[[int], Files], n: int) -> None:
    project, found = on_large_stack(checked, shape(n))
    assert [finding.code for finding in found] == ["GL101"] * n
    assert project.cuts() == []


@pytest.mark.parametrize(
    "shape", [maybe_spread, maybe_stored, maybe_updated, spreads_in_a_dict, dispatch_table, many_returns]
)
@pytest.mark.parametrize("n", [4, 12, 16, 17, 20, 40, 70])
def test_each_way_to_a_number_is_reported(shape: Callable[[int], Files], n: int) -> None:
    """However many keys there may be, tables may hold and returns there are."""
    project, found = checked(shape(n))
    assert [finding.code for finding in found] == ["GL101"] * n
    assert project.cuts() == []


@pytest.mark.parametrize("n", [40, 200])
def test_a_server_that_answers_for_many_tools_in_one_function_is_seen(n: int) -> None:
    """Each tool has sentences of its own: however many of them, the numbers beside them are found."""
    source = (
        "import json\n\nfrom mcp.server import Server\nfrom mcp.types import TextContent\n\n"
        'server = Server("meters")\n\n\n'
        + "".join(
            f'def f{i}(x):\n    if not x:\n        return f"no row {{x}} of {i}", None\n'
            f'    return json.dumps({{"k{i}": len(x)}}), None\n\n\n'
            for i in range(n)
        )
        + "HANDLERS = {"
        + ", ".join(f'"t{i}": f{i}' for i in range(n))
        + "}\n\n\n@server.call_tool()\nasync def call_tool(name, arguments):\n"
        "    text, _ = HANDLERS[name](arguments)\n"
        '    return [TextContent(type="text", text=text)]\n'
    )
    project, found = checked({"server.py": source})
    assert sum(finding.code == "GL101" for finding in found) == n
    assert project.cuts() == []


def test_a_key_of_either_arm_is_kept() -> None:
    """What is spread over a dict may come from one of several; none of them hides the other."""
    case = example(
        """
        from agents import function_tool


        @function_tool
        def report(x):
            base = {"a": 1}  # GL101 @ 1
            some = {"a": 2} if x else {"b": 3}  # GL101 @ 2 & GL101 @ 3
            return {**base, **some}
        """
    )
    assert places(run(case)) == case.expected()


def test_quantities_of_several_returns_are_told_apart() -> None:
    """Dicts of which one has the value and another the unit are no Quantities together."""
    body = [
        f'if x == {i}:\n    return {{"value": {i}}}\nif x == -{i}:\n    return {{"unit": "kWh"}}'
        for i in range(20)
    ]
    _, found = checked(tool(*body, "return None"))
    assert [finding.code for finding in found] == ["GL101"] * 20


def test_a_budget_that_ran_out_is_told() -> None:
    project, found = checked(doubling(40))
    assert found == []
    [cut, *_] = project.cuts()
    assert cut.path == "/project/a.py"
    assert "a = {" in doubling(40)["a.py"].split("\n")[cut.line - 1]
    assert str(cut) == (
        "this value is too complex to follow (budget of 10000 parts); what it contains is not reported"
    )
    assert project.cuts() == []


# Each line writes the text of the line before twice, in every way in which texts are put together.
TWICE = {
    "format": 'S{n} = "{{}}{{}}".format(S{p}, S{p})',
    "named fields": 'S{n} = "{{a}}{{a}}".format(a=S{p})',
    "percent": 'S{n} = "%s%s" % (S{p}, S{p})',
    "percent and names": 'S{n} = "%(a)s%(a)s" % {{"a": S{p}}}',
    "join": 'S{n} = "-".join([S{p}, S{p}])',
    "f-string": 'S{n} = f"{{S{p}}}{{S{p}}}"',
    "f-string in f-string": """S{n} = f"{{f'{{S{p}}}'}}{{S{p}}}\"""",
    "plus": "S{n} = S{p} + S{p}",
    "stripped": "S{n} = (S{p} + S{p}).strip()",
    "str": "S{n} = str(S{p}) + str(S{p})",
    "list": 'S{n} = [S{p}, S{p}]\nT{n} = "".join(S{n})',
}


@pytest.mark.parametrize("line", TWICE.values(), ids=list(TWICE))
@pytest.mark.parametrize("first", ["{} kWh", "x" * 5_000])
def test_a_text_that_doubles_is_unknown_as_a_whole(line: str, first: str) -> None:
    """Twenty-six lines would make a text of a gigabyte: what is put together has a budget, which is told."""
    lines = [line.format(n=n, p=n - 1) for n in range(1, 27)]
    text = "\n".join(["import agents", f"S0 = {first!r}", *lines, "final_message = S26", ""])
    project, _ = checked({"a.py": text})
    assert project.cuts()
    module = read_module("/project/a.py", text)
    for n in range(27):
        value = project.evaluator.lookup(f"S{n}", _frame(module))
        shown = value.parts or () if isinstance(value, Text) else ()
        assert len(shown) <= MOST_PARTS
        assert sum(len(part.text) for part in shown if isinstance(part, Literal)) <= MOST_CHARACTERS


@pytest.mark.parametrize("piece", ["5 ", "{{claim:", "{claim:0} "])
def test_a_message_of_many_faults_is_read_once(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither its text nor the places of its characters are worked out anew for each fault."""
    asked: list[str] = []
    read = strings.raw_offsets
    monkeypatch.setattr(strings, "raw_offsets", lambda raw: asked.append(raw) or read(raw))
    _, found = checked({"a.py": f'final_message = "{piece * 300}"\n'})
    assert len(found) == 300
    assert len(asked) == 1


def test_a_name_that_is_imported_again_and_again_is_one_thing() -> None:
    """Else each of its uses would look at each of its imports."""
    lines = ["from agents import function_tool", "import numpy", "import agents.more"] * 50
    text = "\n".join(lines)
    project, _ = checked({"a.py": text})
    frame = _frame(read_module("/project/a.py", text))
    for name in ("function_tool", "numpy", "agents"):
        assert isinstance(project.evaluator.lookup(name, frame), External)


def test_the_imports_of_a_file_are_listed_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not for each of its functions: tools that are written one after the other import what they need each."""
    listed: list[Outline] = []
    modules = Outline.modules
    monkeypatch.setattr(Outline, "modules", lambda outline: listed.append(outline) or modules(outline))
    part = "from agents import function_tool\n@function_tool\ndef f{}(x):\n    return {{'a': 5}}\n"
    assert len(checked({"a.py": "".join(part.format(i) for i in range(40))})[1]) == 40
    assert len(listed) < 6
    names = range(40)
    checked(
        tool(
            f"return {{{', '.join(f'{i}: f{i}(x)' for i in names)}}}",
            before="".join(f"from p{i} import f{i}\n" for i in names),
        )
    )
    assert len(listed) < 12


def test_a_star_import_of_a_package_elsewhere_is_looked_up_once() -> None:
    """Not for each name of the file that it might bring."""
    n = 40
    stars = "".join(f"from p{i} import *\n" for i in range(n))
    project, _ = checked(tool(f"return {{{', '.join(f'{i}: f{i}(x)' for i in range(n))}}}", before=stars))
    assert len(project.imports.targets["/project/a.py"]) < 2 * n


def test_the_nearest_of_many_names_is_looked_for_among_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that have most in common with it: a thousand unknown names of as many tools are no million comparisons."""
    compared: list[int] = []
    close = difflib.get_close_matches
    monkeypatch.setattr(
        difflib, "get_close_matches", lambda name, some, n: compared.append(len(some)) or close(name, some, n)
    )
    names = frozenset(f"tool_number_{i}" for i in range(3_000)) | {"heat_demand", "a" * 10_000}
    assert nearest_name("heat_demnd", names) == "heat_demand"
    assert nearest_name("tol_number_2999", names) == "tool_number_2999"
    assert nearest_name("quite another", names) is None
    assert nearest_name("tool_number_", names) is not None
    assert nearest_name("b" * 100_000, names) is None
    assert nearest_name("", names) is None
    assert max(compared) <= 200


def test_many_patterns_of_names_are_compiled_a_few_at_a_time() -> None:
    """One expression of all of them would take the square of the time, and be tried to its end all the same."""
    patterns = tuple(f"*note{i}" for i in range(2_000))
    settings = Settings(final_message_names=patterns)
    assert Names.of(settings).is_final_name("last_note1999")
    assert not Names.of(settings).is_final_name("last_note2000")
    assert max(expression.pattern.count("note") for expression in _any_of(patterns)) <= 50


@pytest.mark.parametrize("call", ["{}.format(x)", "{}.strip()", "textwrap.dedent({})", "{} % x"])
def test_a_text_that_is_written_out_may_be_any_length_but_is_not_cut_up(call: str) -> None:
    """Beyond the budget nothing is kept for each of its characters; alone it is read, however long."""
    written = f'BIG = " a {"x" * MOST_CHARACTERS} 5 kWh"\n'
    project, found = checked({"a.py": f"import textwrap\n{written}final_message = BIG\n"})
    assert [finding.code for finding in found] == ["GL401"]
    assert project.cuts() == []
    project, found = checked({"a.py": f"import textwrap\n{written}final_message = {call.format('BIG')}\n"})
    assert (found, len(project.cuts())) == ([], 1)


@pytest.mark.parametrize("shape", [doubling_helpers, circle_of_helpers, chain_of_helpers])
def test_the_cut_does_not_depend_on_who_asks_first(shape: Callable[[int], Files]) -> None:
    """Helpers of a long chain answer the same, whether they were asked on the way or first."""
    outcomes = set()
    for step in (1, -1, 7):
        texts = {"/project/a.py": shape(30)["a.py"]}
        module = read_module("/project/a.py", texts["/project/a.py"])
        project = Project(Settings(), lambda path: None, texts.__contains__, texts.__getitem__, "/project")
        project.add(module)
        functions = list(module.functions)
        order = functions[::step] + functions
        results = on_large_stack(_asked, project, module, order)
        outcomes.add(tuple(tuple(_shown(value) for _, value in flow.returns) for flow in results))
    assert len(outcomes) == 1


def _asked(project: Project, module: Module, order: list[Function]) -> list[Flow]:
    for function in order:
        project.evaluator.lookup(function.name, _frame(module))
        project.evaluator.flow(_callee(module, function))
    return [project.evaluator.flow(_callee(module, function)) for function in module.functions]


def _frame(module):  # type: ignore[no-untyped-def]
    from gllint_rules.inference.values import Frame

    return Frame(module, module.scope)


def _callee(module, function):  # type: ignore[no-untyped-def]
    from gllint_rules.inference.values import FunctionOf

    return FunctionOf(module, function)


def _shown(value: object) -> str:
    from gllint_rules.inference.values import Record, UnionOf

    match value:
        case Record():
            return f"{sorted(value.entries)} {value.size} {value.nesting}"
        case UnionOf():
            return " | ".join(_shown(option) for option in value.options)
        case _:
            return type(value).__name__ + str(value.size)  # type: ignore[attr-defined]


# --- questions ------------------------------------------------------------------------------------------------

SITE = Site(None, 0)  # type: ignore[arg-type]


class Graph(Questions):
    """Asks along the arrows of a graph; the answer is the set of what was reached."""

    def __init__(self, arrows: dict[str, str]) -> None:
        super().__init__()
        self.arrows = arrows

    def reached(self, node: str) -> frozenset[str]:
        return self.ask(
            node,
            lambda: frozenset({node}).union(*(self.reached(other) for other in self.arrows.get(node, ""))),
            frozenset(),
            lambda: frozenset({"too complex"}),
            SITE,
        )


@pytest.mark.parametrize("first", "abcdef")
def test_a_circle_answers_the_same_whoever_is_asked_first(first: str) -> None:
    arrows = {"a": "b", "b": "cd", "c": "a", "d": "be", "e": "ef", "f": ""}
    graph = Graph(arrows)
    graph.reached(first)
    answers = {node: graph.reached(node) for node in "abcdef"}
    assert answers == {
        "a": {*"abcdef"},
        "b": {*"abcdef"},
        "c": {*"abcdef"},
        "d": {*"abcdef"},
        "e": {"e", "f"},
        "f": {"f"},
    }


def test_what_is_remembered_is_not_asked_again() -> None:
    graph = Graph({chr(i): chr(i + 1) * 2 for i in range(40, 80)})
    graph.reached(chr(40))
    assert graph.total_steps < 200


def test_a_question_is_too_complex_as_a_whole() -> None:
    questions = Questions()

    def endless() -> str:
        while True:
            questions.step()

    def outer() -> str:
        return "outer " + questions.ask("inner", endless, "", lambda: "unknown", SITE)

    assert questions.ask("outer", outer, "", lambda: "unknown", SITE) == "outer unknown"
    assert list(questions.cuts) == [SITE]
    assert questions.depth == 0


def test_depth_counts_from_the_outermost_question_whatever_is_remembered() -> None:
    def chain(questions: Questions, i: int) -> str:
        return questions.ask(
            i,
            lambda: chain(questions, i - 1) if i else "ground",
            "",
            lambda: "unknown",
            Site(None, i),  # type: ignore[arg-type]
        )

    remembered, fresh = Questions(), Questions()
    some = (0, 1, MOST_DEPTH // 2, MOST_DEPTH - 1, MOST_DEPTH, MOST_DEPTH + 1, 2 * MOST_DEPTH)
    answers = [on_large_stack(chain, remembered, i) for i in some]
    assert answers == [on_large_stack(chain, fresh, i) for i in reversed(some)][::-1]
    assert answers == ["ground"] * 4 + ["unknown"] * 3
    with pytest.raises(TooComplex):
        remembered.reach(MOST_DEPTH + 1)


@pytest.mark.parametrize("extra", [0, 1])
def test_what_is_remembered_with_its_cost_counts_again(extra: int) -> None:
    """The budget runs out at the same place, whether the part within was remembered or not."""
    cost = MOST_STEPS // 4

    def part(questions: Questions) -> str:
        depth = questions.depth
        questions.deeper()
        questions.step(cost)
        questions.depth = depth
        return "part"

    def outer(questions: Questions, times: int) -> str:
        questions.step(MOST_STEPS - times * cost + extra)
        return " ".join(questions.again("part", lambda: part(questions)) for _ in range(times))

    questions = Questions()
    for times in (3, 2):  # the second time all of it is remembered
        answer = questions.ask(
            times, lambda times=times: outer(questions, times), "", lambda: "unknown", SITE
        )  # type: ignore[misc]
        assert answer == ("unknown" if extra else " ".join(["part"] * times))


def test_what_rests_on_a_circle_is_not_remembered_with_its_cost() -> None:
    questions = Questions()
    asked = []

    def inner() -> str:
        asked.append(len(asked))
        return questions.ask("outer", str, "assumed", lambda: "unknown", SITE)

    def outer() -> str:
        return questions.again("inner", inner) + questions.again("inner", inner)

    assert questions.ask("outer", outer, "", lambda: "unknown", SITE) == "assumedassumed"
    assert len(asked) == 2


def test_what_is_concluded_on_one_way_around_a_circle_holds_while_the_rest_is_open() -> None:
    """A ring with a short cut at each node: nothing is answered twice but what the cut leads to."""
    graph = Graph({chr(i): chr(i + 1) + chr(100) for i in range(100, 400)} | {chr(400): chr(100)})
    assert len(on_large_stack(graph.reached, chr(100))) == 301
    assert graph.total_steps < 2000
    assert not graph.cuts


def test_functions_that_all_call_each_other_are_left_soon() -> None:
    """Calls within calls, each executed for its arguments: what that takes grows with the file, and is told."""
    project, _ = checked(dense_circle_of_changes(10))
    assert project.evaluator.total_steps < 100_000
    assert project.cuts()


@pytest.mark.parametrize("kind", ["rows", "values"])
def test_a_constant_table_may_be_of_any_size(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    most = 500  # a table of the steps that a question has takes seconds to read
    monkeypatch.setattr(questions, "MOST_STEPS", most)
    row = "{'name': 'a', 'price': 1.5}" if kind == "rows" else "1.5"
    table = "TABLE = [\n" + f"    {row},\n" * (most + 1000) + "]\n"
    source = (
        "from agents import function_tool\n"
        f"{table}\n"
        "@function_tool\n"
        "def rows(name: str):\n"
        "    return {'rows': list(filter(lambda row: row, TABLE))}\n"
    )
    for text in (
        source,
        "import json\n" + source.replace("return {", "return json.dumps({").rstrip() + ")\n",
    ):
        [found] = run(example(text))
        assert isinstance(found, Finding)
        assert found.code == "GL101"
