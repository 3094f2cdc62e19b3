"""What GL101 says: what holds the number, under which keys, in the result of which tools."""

from __future__ import annotations

import pytest

from gllint_rules import Finding
from harness import Case, example, run

HEAD = "from agents import function_tool\n\nPRICES = {'a': {'price': 1.5, 'days': 3, 'maker': 'x'}}\n\n\n"


def messages(body: str) -> list[str]:
    found = run(example(HEAD + body))
    assert all(isinstance(finding, Finding) for finding in found)
    return [finding.message for finding in found if isinstance(finding, Finding)]


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ("{'load': 1.5}", "`load` in the result of tool `f` is a number without a unit"),
        ("1.5", "the result of tool `f` is a number without a unit"),
        ("[float(x) for x in s]", "the result of tool `f` is a list of numbers without a unit"),
        (
            "{'loads': {x: float(x) for x in s}}",
            "`loads` in the result of tool `f` is a dict of numbers without a unit",
        ),
        ("{'loads': [s, 2]}", "`loads` in the result of tool `f` contains a number without a unit"),
        ("PRICES[s]", "`price` and `days` in the result of tool `f` are numbers without a unit"),
        ("{'found': PRICES[s]}", "`price` and `days` in the result of tool `f` are numbers without a unit"),
    ],
)
def test_the_message_says_what_holds_the_number(returned: str, message: str) -> None:
    assert messages(f"@function_tool\ndef f(s: str):\n    return {returned}\n") == [message]


def test_leaves_that_meet_at_one_position_are_all_named() -> None:
    body = "def g(s):\n    return [float(x) for x in s]\n\n\n"
    body += "@function_tool\ndef f(s: str):\n    return {'a': g(s), 'b': g(s)}\n\n\n"
    body += "@function_tool\ndef h(s: str):\n    return {'c': g(s)}\n"
    assert messages(body) == [
        "`a`, `b` and `c` in the results of tool `f` and 1 other tool are each a list of numbers without a unit"
    ]


def test_a_pair_of_a_dict_is_not_all_numbers() -> None:
    body = "@function_tool\ndef f(rows: list[str]):\n    sizes = {}\n    for row in rows:\n        sizes[row] = len(row)\n"
    body += "    top = sorted(sizes.items(), key=lambda pair: pair[1])\n    return {'top': top[:3], 'first': top[0]}\n"
    assert messages(body) == [
        "`top` in the result of tool `f` contains a number without a unit",
        "`first` in the result of tool `f` contains a number without a unit",
    ]


def test_many_keys_are_counted() -> None:
    body = "MANY = {k: v for k, v in ()} or {" + ", ".join(f"'k{i}': {i}" for i in range(9)) + "}\n\n\n"
    body += "@function_tool\ndef f(s: str):\n    return MANY\n"
    (message,) = messages(body)
    assert message.startswith("`k0`, `k1`, `k2`, `k3` and 5 more in the result of tool `f` are numbers")


RUNS = """\
from crewai.tools import BaseTool


class Meter(BaseTool):
    def _run(self, site: str) -> str:
        return site


def use() -> str:
    return Meter().run("x")
"""


@pytest.mark.parametrize(
    ("elsewhere", "says"),
    [
        (
            "",
            "`gllint_runtime.dispatch_tool` is such a function, a dispatcher: it checks arguments and result",
        ),
        (
            "class ToolUsage:\n    def use(self):\n        return Meter\n",
            "Call it through the project's dispatcher: `ToolUsage`.",
        ),
        ("from gllint_runtime import dispatch_tool\n", "Call it through the dispatcher: `dispatch_tool("),
    ],
)
def test_a_direct_call_is_sent_to_the_dispatcher_that_the_project_has(elsewhere: str, says: str) -> None:
    files = {"a.py": RUNS, "b.py": f"from a import Meter\n{elsewhere}"}
    [found] = run(Case("", files, {}))
    assert isinstance(found, Finding)
    assert found.help.startswith(says)
    assert ("instead of through the dispatcher" in found.message) is bool(elsewhere)


def test_the_number_beside_a_text_is_no_text() -> None:
    """What `str(…)` makes a text of is what a Quantity holds, and says the unit."""
    body = (
        "@function_tool\ndef f(s: str):\n    heat_kwh = 2.5 * len(s)\n    return 'It is ' + str(heat_kwh)\n"
    )
    [finding] = run(Case("text", {"agent.py": HEAD + body}, {"extend-select": ["GL104"]}))
    assert isinstance(finding, Finding)
    assert finding.message == "tool `f` returns `str(heat_kwh)` as text, not as a Quantity"
    assert '"heat_kwh": {"value": heat_kwh, "unit": "kWh"}' in finding.help


def test_a_direct_call_names_no_tool_where_a_factory_gives_several() -> None:
    body = "class Heat(BaseTool):\n    def _run(self):\n        return ''\n\n\nclass Cold(BaseTool):\n"
    body += "    def _run(self):\n        return ''\n\n\nTOOLS = {'heat': Heat, 'cold': Cold}\n\n\n"
    body += "def create(name: str):\n    cls = TOOLS.get(name)\n    return cls() if cls else None\n\n\n"
    body += "def go():\n    tool = create('cold')\n    return tool._run()\n"
    found = run(example(f"from crewai.tools import BaseTool\n\n\n{body}"))
    titles = [
        finding.message for finding in found if isinstance(finding, Finding) and finding.code == "GL301"
    ]
    assert titles == [
        "`._run()` runs one of 2 tools directly: route all tool calls through one function that checks and records them"
    ]


@pytest.mark.parametrize("text", ["'{r[heat_kwh]:.1f}'.format(r=row)", "'%(heat_kwh).1f' % row"])
def test_a_number_in_a_text_is_named_by_the_part_that_its_field_takes(text: str) -> None:
    """Not the dict around it is the number."""
    body = f"@function_tool\ndef f(s: str):\n    row = {{'heat_kwh': 2.5 * len(s)}}\n    return 'Heat: ' + {text}\n"
    [finding] = run(Case("text", {"agent.py": HEAD + body}, {"extend-select": ["GL104"]}))
    assert isinstance(finding, Finding)
    assert finding.message == 'tool `f` returns `row["heat_kwh"]` as text, not as a Quantity'
    assert '"heat_kwh": {"value": row["heat_kwh"], "unit": "kWh"}' in finding.help
