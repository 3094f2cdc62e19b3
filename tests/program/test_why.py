"""``--why``: what a tool returns and why nothing is known of it, and what silences a finding."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Write = Callable[..., Path]
Run = Callable[..., Any]

SERVER = """\
import httpx
from langchain_core.tools import tool


@tool
def hello(x: str) -> str:
    return f"hello {x}"


@tool
def load(x: str) -> dict:
    return httpx.get(x).json()


@tool
def both(x: str) -> dict:
    return {"data": httpx.get(x).json(), "ok": True}


def build():
    @tool
    def first(x: str):
        return httpx.get(x)

    @tool
    def second(x: str):
        return None

    return [first, second]


@tool
def ids(x: str) -> dict:
    return {
        "user_load": len(x),
    }
"""


@pytest.fixture
def why(write: Write, run: Run) -> Callable[..., str]:
    def why(line: int, text: str = SERVER, settings: str = "", **others: str) -> str:
        top = write({"gllint.toml": settings, "server.py": text, **others})
        done = run("check", "--why", f"server.py:{line}", cwd=top)
        assert done.returncode == 0, done.stderr.decode()
        return str(done.stdout.decode())

    return why


@pytest.mark.parametrize("line", [5, 6])
def test_a_tool_that_returns_text(why: Callable[..., str], line: int) -> None:
    assert why(line, settings="ignore = ['GL104']") == (
        "tool `hello` (line 6) returns text: the numbers in it are for GL104, which is off (--extend-select GL104).\n"
        '  it returns text (server.py:7: `f"hello {x}"`)\n'
    )
    assert "for GL104, which is on.\n" in why(line)


def test_a_tool_whose_result_is_unknown(why: Callable[..., str]) -> None:
    assert why(11) == (
        "tool `load` (line 11) returns an unknown value, so no rule reports it.\n"
        "  it returns a dict with unknown contents (server.py:12: `httpx.get(x).json()`)\n"
    )
    assert why(16) == (
        "tool `both` (line 16) returns an unknown value, so no rule reports it.\n"
        '  it returns a dict (server.py:17: `{"data": httpx.get(x).json(), "ok": True}`)\n'
        "    `data` in it is unknown: nothing in the project shows its value, so no rule reports it "
        "(server.py:17: `httpx.get(x).json()`)\n"
    )


def test_of_tools_in_one_function_the_one_at_the_line(why: Callable[..., str]) -> None:
    assert why(22).startswith("tool `first` (line 22) returns an unknown value")
    assert why(25) == why(26) and why(26).startswith(
        "tool `second` (line 26) returns neither a number nor text."
    )


def test_a_line_of_nothing_lists_the_tools_once(why: Callable[..., str]) -> None:
    lines = why(1).splitlines()
    assert lines[0].startswith("gllint sees no tool result")
    assert lines[1:] == [
        "The tools of this file: `hello` (line 6), `load` (line 11), `both` (line 16), `first` (line 22), "
        "`second` (line 26), `ids` (line 33)."
    ]
    many = "from langchain_core.tools import tool\n" + "".join(
        f"\n\n@tool\ndef t{n}(x: str):\n    return x\n" for n in range(29)
    )
    assert why(1, many).splitlines()[1].endswith("`t9` (line 50) and 19 more.")


def test_a_plain_key_names_its_pattern(why: Callable[..., str]) -> None:
    assert "`plain-keys` has `*_load`" in why(35, settings="plain-keys = ['x', '*_load']")
    assert "plain-keys` has" not in why(35, settings="plain-keys = ['x']")


@pytest.mark.parametrize(
    ("line", "text", "settings", "said"),
    [
        (
            35,
            SERVER.replace("len(x),", "len(x),  # noqa: GL101"),
            "",
            "line 35 suppresses it with `# noqa: GL101`",
        ),
        (
            35,
            SERVER.replace("len(x),", "len(x),  # gllint: ignore[GL101] an id"),
            "",
            "line 35 suppresses it with `# gllint: ignore[GL101] an id`",
        ),
        (
            35,
            SERVER.replace('"user_load": len(x),', '"load #": len(x),  # noqa: GL101'),
            "",
            "line 35 suppresses it with `# noqa: GL101`",
        ),
        (
            36,
            f"# gllint: ignore-file[GL1]\n{SERVER}",
            "",
            "line 1 suppresses it with `# gllint: ignore-file[GL1]`",
        ),
        (
            35,
            SERVER,
            "[per-file-ignores]\n'x.py' = ['GL4']\n'server.py' = ['GL1']\n",
            "/gllint.toml leaves it out for `server.py`",
        ),
    ],
)
def test_what_silences_a_finding_is_named(
    why: Callable[..., str], line: int, text: str, settings: str, said: str
) -> None:
    told = why(line, text, settings)
    assert "  GL101 is not reported: " in told and said in told


def test_a_comment_of_html_silences_too(write: Write, run: Run) -> None:
    top = write(
        {
            "gllint.toml": "",
            "agent.py": "from jinja2 import Environment\n"
            "final_message = Environment().get_template('final_message.html').render()\n",
            "final_message.html": "<!-- gllint: ignore[GL401] shown -->\n<p>It uses 12.5 kWh.</p>\n",
        }
    )
    told = run("check", "--why", "final_message.html:2", cwd=top).stdout.decode()
    assert "GL401 is not reported: line 1 suppresses it with `# gllint: ignore[GL401] shown`\n" in told


def test_the_baseline_silences_too(why: Callable[..., str], write: Write, run: Run) -> None:
    assert "is not reported" not in why(35)
    top = write({"gllint.toml": "baseline = 'known.json'\n"})
    run("check", "--write-baseline", "known.json", cwd=top)
    told = why(35, settings="baseline = 'known.json'\n")
    assert f"  GL101 is not reported: it is in the baseline {top}/known.json\n" in told


def test_a_model_that_is_returned_whole_is_said_to_be_looked_at_where_it_is_built(
    write: Write, run: Run
) -> None:
    """rules.md, annotations and models: the fields say what is a number, not that one was put in."""
    tool = "@tool\ndef {0}(x: str) -> {1}:\n    return {2}\n\n\n"
    code = (
        "import httpx\nfrom langchain_core.tools import tool\nfrom pydantic import BaseModel\n\n\n"
        "class Tx(BaseModel):\n    amount: float\n\n\ndef one(x) -> Tx:\n    return httpx.get(x)\n\n\n"
        "def many(x) -> list[Tx]:\n    return httpx.get(x)\n\n\n"
        + tool.format("a", "Tx", "one(x)")
        + tool.format("b", "list", "many(x)")
        + tool.format("c", "dict", "one(x).model_dump()")
    )
    top = write({"gllint.toml": "", "a.py": code})
    for line, what in (
        (20, "an instance of `Tx`, with unknown fields"),
        (25, "a list, each an instance of `Tx`, with unknown fields"),
        (30, "a dict with unknown contents"),
    ):
        said = run("check", "--why", f"a.py:{line}", cwd=top).stdout.decode()
        assert what in said and "nothing in the project" not in said


def test_paths_are_shown_as_they_were_given(write: Write, run: Run) -> None:
    """Relative to where one stands, not to a project further down."""
    text = "from langchain_core.tools import tool\n\n\n@tool\ndef t(x: str) -> dict:\n    n = 1.5 * len(x)\n    return {'n_kwh': n}\n"
    top = write({"agent/pyproject.toml": "", "agent/src/p.py": text})
    said = run("check", "--why", "agent/src/p.py:7", cwd=top).stdout.decode()
    assert "(agent/src/p.py:" in said and "(src/p.py:" not in said
