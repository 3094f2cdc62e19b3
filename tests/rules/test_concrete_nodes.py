"""LibCST's nodes of facts, what is written beside them, and what a wrong use of them is told."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import libcst as cst
import libcst.matchers as m
import pytest

from gllint_rules import Settings
from gllint_rules.finding import Edit, Fix, Span
from gllint_rules.inference.values import Site
from gllint_rules.project.context import Context
from gllint_rules.project.project import Project
from gllint_rules.reading import facts
from gllint_rules.reading.expression_index import expression
from gllint_rules.reading.modules import read_module
from gllint_rules.reading.positions import Positions
from harness import cases

# But those with files that are no Python.
CASES = sorted(
    set((Path(__file__).parent / "cases").glob("*.md"))
    - set((Path(__file__).parent / "cases").glob("*_text_files.md"))
)
SOURCE = '''\
# about the file
import json

# above, but apart

# owner: energy
# since: 2020
@tool  # registered
# between
def heat(site: str, *, factor=(1.5)) -> dict:  # noqa
    """The heat."""
    # about the sum
    total = sum(
        # each month
        months(site),  # a list
        0,
    )  # done
    return {"heat": total,  # the heat
            "site": site}


class Meters(Base):  # of a site
    # reads one
    async def read(self, name):
        return json.dumps(self.values[name])
x = heat("a"); y = 5  # both
'''


def context_of(text: str, path: str = "/project/a.py", **others: str) -> Context:
    texts = {path: text, **{f"/project/{name}.py": other for name, other in others.items()}}
    project = Project(Settings(), lambda _: None, texts.__contains__, texts.__getitem__, "/project")
    for name, source in texts.items():
        project.add(read_module(name, source))
    module = project.modules[path]
    return Context(project, module)


def calls(context: Context, name: str) -> list[facts.Call]:
    names = (
        (getattr(call.func, "name", "") or getattr(call.func, "id", ""), call)
        for call, _ in context.module.calls
    )
    return [call for last, call in names if last == name]


def code_of(node: cst.CSTNode | None) -> str:
    assert node is not None
    return cst.Module([]).code_for_node(node)


@pytest.mark.parametrize("name", CASES, ids=lambda path: path.stem)
def test_every_fact_has_its_node(name: Path) -> None:
    asked = 0
    for case in cases(name)[::7]:
        for path, text in case.files.items():
            context = context_of(text, f"/project/{path}")
            module, positions = context.module, Positions(context.module)
            for section in module.sections():
                expression(module, section.first)
                for fact in filter(None, section.by_number or ()):
                    node = context.node(fact)
                    if node is None:  # `type;X = …` is how an older Python reads `type X = …`
                        assert (
                            module.code is not module.source
                            and isinstance(fact, facts.Name)
                            and fact.id == "type"
                        )
                        continue
                    if isinstance(fact, facts.Star):
                        assert isinstance(node, cst.Arg | cst.StarredElement)
                        continue
                    assert isinstance(node, cst.BaseExpression | cst.Slice | cst.FormattedStringText), (
                        path,
                        fact,
                    )
                    asked += 1
                for function in section.functions:
                    node = context.node(function)
                    assert node is not None and node.name.value == positions.text(function.at)
                for cls in section.classes:
                    of_class = context.node(cls)
                    assert of_class is not None and of_class.name.value == positions.text(cls.at)
    assert asked


def test_the_node_of_a_fact() -> None:
    context = context_of(SOURCE)
    [call] = calls(context, "months")
    assert code_of(context.node(call)) == "months(site)"
    assert context.node(call) is context.node(call) is context.node(Site(context.module, call.at))
    heat, read = context.module.functions
    node = context.node(heat)
    assert (
        node is not None
        and node.get_docstring() == "The heat."
        and code_of(node.params.kwonly_params[0].default)
    )
    method = context.node(read)
    assert method is not None and method.asynchronous is not None
    assert context.node(Site(context.module, read.at)) is method
    [meters] = context.module.classes
    cls = context.node(meters)
    assert cls is not None and method in cls.body.body
    assert heat.params[1].default is not None
    assert code_of(context.node(heat.params[1].default)) == "(1.5)"


def test_the_node_of_a_fact_in_newer_syntax() -> None:
    context = context_of("type A[T] = list[T]\n\n\ndef f[T](x: T):\n    return g(x, f'{x['a']}')  # why\n")
    [call] = calls(context, "g")
    assert code_of(context.node(call)) == "g(x, f'{x['a']}')"
    assert context.comments(call) == ("# why",)


def test_matches() -> None:
    context = context_of(SOURCE)
    [call] = calls(context, "dumps")
    assert context.matches(call, m.Call(func=m.Attribute(value=m.Name("json"))))
    assert context.matches(call, m.Call() | m.Name())
    assert not context.matches(call, m.Call(func=m.Attribute(value=m.Name("yaml"))))
    node = cst.ensure_type(context.node(call), cst.Call)
    assert context.matches(node.func, m.Attribute(attr=m.Name("dumps")))


def test_comments() -> None:
    context = context_of(SOURCE)
    heat, read = context.module.functions
    assert context.comments(heat) == (
        "# owner: energy",
        "# since: 2020",
        "# registered",
        "# between",
        "# noqa",
    )
    assert context.comments(read) == ("# reads one",)
    assert context.comments(context.module.classes[0]) == ("# of a site",)
    [total] = calls(context, "sum")
    assert context.comments(total) == ("# about the sum", "# each month", "# a list", "# done")
    [months] = calls(context, "months")
    assert context.comments(months) == ("# each month", "# a list")
    [last] = calls(context, "heat")
    assert context.comments(last) == ("# both",)
    [(display, _)] = context.module.dicts
    assert context.comments(display.items[0][1]) == ("# the heat",)
    assert context.comments(display.items[1][1]) == ()
    node = context.node(heat)
    assert node is not None
    assert context.comments(node.body.body[1]) == context.comments(total)


def test_a_comment_is_as_the_last_edit_left_it() -> None:
    context = context_of("# one\ndef f():\n    return g(1)\n")
    module = context.module
    assert context.comments(module.functions[0]) == ("# one",)
    read_module(module.path, "# two\ndef f():\n    return g(1)\n", module)
    context.project.follow({module.path})
    assert Context.of(context.project, module).comments(module.functions[0]) == ("# two",)


def test_replacement() -> None:
    context = context_of(SOURCE)
    [months] = calls(context, "months")
    node = cst.ensure_type(context.node(months), cst.Call)
    fix = context.replacement(months, node.with_changes(func=cst.Name("weeks")), "Count weeks")
    assert fix == Fix("unsafe", "Count weeks", (Edit(Span(15, 9, 15, 15), "weeks"),))
    heat = context.module.functions[0]
    function = context.node(heat)
    assert function is not None
    renamed = context.replacement(function.name, cst.Name("warmth"), "Rename it", "safe")
    assert renamed == Fix("safe", "Rename it", (Edit(Span(10, 5, 10, 9), "warmth"),))
    bare = context.replacement(heat, function.with_changes(decorators=[]), "No tool")
    assert bare is not None and [edit.content for edit in bare.edits] == [""]
    assert context.replacement(months, node, "Nothing") is None


@pytest.mark.parametrize(
    "text", ["x = (\n" + "(" * 1500 + "1" + ")" * 1500 + "\n)\n", "x = f(1" + " + 1" * 400_000 + ")\n"]
)
def test_what_libcst_cannot_take_has_no_node(text: str) -> None:
    try:
        context = context_of(text)
    except Exception:
        pytest.skip("no Python here either")
    [call] = calls(context, "f") or [None]
    for fact in filter(None, [call]):
        assert context.node(fact) is None
        assert not context.matches(fact, m.Call())
        assert context.comments(fact) == ()
        assert context.replacement(fact, cst.Name("x"), "x") is None


def test_wrong_uses_are_told() -> None:
    context = context_of(SOURCE, b="def g():\n    return h(1)\n")
    [call] = calls(context, "dumps")
    other = context.project.modules["/project/b.py"]
    [[foreign, _]] = other.calls
    node = cst.ensure_type(context.node(call), cst.Call)
    for fact in (foreign, other.functions[0]):
        with pytest.raises(
            ValueError, match=r"this \w+ is no fact of /project/a\.py; .* as Site\(module, fact\.at\)"
        ):
            context.node(fact)
    assert code_of(context.node(Site(other, foreign.at))) == "h(1)"
    with pytest.raises(TypeError, match="context.node takes an expression, .*, not builtins.str"):
        context.node("json.dumps(x)")  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="a node of LibCST already"):
        context.node(node)  # type: ignore[call-overload]
    for matcher, hint in [
        ("Call", r"m\.Call\(…\), not builtins\.str"),
        (cst.Name("x"), r"not libcst\._nodes\.expression\.Name; write m\.Name\(…\)"),
        (m.Call, r"not the class Call; write m\.Call\(\)"),
        (m.DoesNotMatch(m.Call()), r"write not context\.matches\(…\)"),
    ]:
        with pytest.raises(TypeError, match=hint):
            context.matches(call, matcher)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="context.comments: this Name is not part of a source file"):
        context.comments(cst.Name("x"))
    with pytest.raises(ValueError, match="context.replacement: this Name is not part of a source file"):
        context.replacement(cst.Name("x"), cst.Name("y"), "m")
    with pytest.raises(TypeError, match="puts a LibCST node in place, not builtins.str"):
        context.replacement(call, "y", "m")  # type: ignore[arg-type]


def test_nothing_is_loaded_until_a_rule_asks() -> None:
    code = "import sys, gllint_rules.project.context; print('libcst' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
