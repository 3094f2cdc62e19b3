"""The configuration: found, checked, explained."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from gllint import config
from gllint.errors import UsageError

Write = Callable[..., Path]
Run = Callable[..., Any]

_TEXT = st.sampled_from(["", "x", "error", "GL1"])
_ANY = st.one_of(
    st.booleans(), st.integers(-2, 5), _TEXT, st.lists(_TEXT, max_size=2), st.just([1]), st.just(1.5),
    st.dictionaries(_TEXT, st.one_of(_TEXT, st.lists(_TEXT, max_size=2)), max_size=2),
)  # fmt: skip


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.dictionaries(st.sampled_from([*config.schema()["properties"], "selekt", "Select"]), _ANY, max_size=4)
)
def test_the_quick_check_says_what_the_schema_says(table: dict[str, Any]) -> None:
    assert config._has_shape(table) == Draft202012Validator(config.schema()).is_valid(table)


def test_the_schema_is_one_and_knows_every_setting() -> None:
    Draft202012Validator.check_schema(config.schema())
    defaults = config.Config()
    for key in config.schema()["properties"]:
        config.value_of(defaults, key)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("selekt = []", "unknown key 'selekt'; did you mean 'select'?"),
        ("extend_units = []", "unknown key 'extend_units'; did you mean 'extend-units'?"),
        ("zzz = []", "unknown key 'zzz'; gllint config --schema lists them"),
        ("select = ['naked-number']", "key 'select': unknown code 'naked-number'; did you mean 'GL401'?"),
        ("select = ['gl1', 'gl401']", "key 'select': unknown code 'gl1'; did you mean 'GL1"),
        ("select = ['']", "key 'select': unknown code ''; gllint rule lists them"),
        ("select = 'GL1'", "key 'select' must be a list of texts, not \"GL1\""),
        ("select = [1]", "key 'select.0' must be a text, not 1"),
        ("jobs = 'two'", "key 'jobs' must be a whole number, not \"two\""),
        ("jobs = 0", "key 'jobs' must be at least 1, not 0"),
        ("strict-units = 1", "key 'strict-units' must be true or false, not 1"),
        ("per-file-ignores = ['GL1']", "key 'per-file-ignores' must be a table, not [\"GL1\"]"),
        ("select = ['GL4O1']", "key 'select': unknown code 'GL4O1'; did you mean 'GL401'?"),
        ("[severity]\nGL401 = 'warn'", "one of error, warning, info, not 'warn'; did you mean 'warning'?"),
        ("[severity]\nGL401 = 'warn'", "key 'severity.GL401' must be"),
        ("[severity]\nXX = 'info'", "key 'severity': unknown code 'XX'; gllint rule lists them"),
        ("[per-file-ignores]\n'a.py' = ['GLX']", "key 'per-file-ignores.a.py': unknown code 'GLX'"),
        ("whitelist-patterns = ['(']", "key 'whitelist-patterns': '(' is no regular expression"),
        ("select = [", "not valid TOML"),
    ],
)  # fmt: skip
def test_each_error_is_one_line_that_names_the_place(
    write: Write, run: Run, agent: str, text: str, message: str
) -> None:
    top = write({"gllint.toml": text, "agent.py": agent})
    with pytest.raises(UsageError) as caught:
        config.load(f"{top}/gllint.toml")
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"{top}/gllint.toml: ")
    assert "\n" not in str(caught.value)


def test_a_table_that_is_none_is_named(write: Write) -> None:
    top = write({"pyproject.toml": "[tool]\ngllint = 3\n"})
    with pytest.raises(UsageError, match="key 'tool.gllint' must be a table, not 3"):
        config.load(f"{top}/pyproject.toml")


def test_a_wrong_configuration_ends_with_2(write: Write, run: Run, agent: str) -> None:
    top = write({"pyproject.toml": "[tool.gllint]\nselekt = []\n", "agent.py": agent})
    done = run("check", cwd=top)
    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr.decode().splitlines() == [
        f"gllint: {top}/pyproject.toml: unknown key 'selekt'; did you mean 'select'?"
    ]


@pytest.mark.parametrize("option", ["--select", "--ignore", "--extend-select"])
def test_an_unknown_code_on_the_command_line_ends_with_2(write: Write, run: Run, option: str) -> None:
    done = run("check", option, "GL1,GL4O1", cwd=write({"a.py": ""}))
    assert done.returncode == 2
    assert done.stderr.decode() == f"gllint: {option}: unknown code 'GL4O1'; did you mean 'GL401'?\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--config", "none.toml"],
        ["--config", "gllint.toml", "--isolated"],
        ["--output-format", "fancy"],
        ["--jobs", "0"],
        ["--select", ""],
        ["nowhere.py"],
        ["-", "a.py"],
        ["--why", "a.py"],
        ["--baseline", "none.json"],
        ["--baseline", "a.py"],
        ["--output-file", "none/out.txt"],
        ["--since", "HEAD"],
    ],
)
def test_a_wrong_command_ends_with_2(write: Write, run: Run, arguments: list[str]) -> None:
    top = write({"a.py": "", "gllint.toml": ""})
    done = run("check", *arguments, cwd=top)
    assert done.returncode == 2
    assert done.stderr
    assert b"Traceback" not in done.stderr


def test_the_nearest_configuration_counts(write: Write, check: Callable[..., list[str]], agent: str) -> None:
    top = write(
        {
            "pyproject.toml": "[tool.gllint]\nselect = ['GL4']\n",
            "agent.py": agent,
            "plain/pyproject.toml": "[project]\nname = 'x'\n",
            "plain/agent.py": agent,
            "own/gllint.toml": "select = ['GL101']\n",
            "own/pyproject.toml": "[tool.gllint]\nselect = ['GL5']\n",
            "own/deep/agent.py": agent,
        }
    )
    expected = [
        "agent.py:11:37: GL401",
        "own/deep/agent.py:8:23: GL101",
        "own/deep/agent.py:8:40: GL101",
        "plain/agent.py:11:37: GL401",
    ]
    assert check(cwd=top) == expected
    assert check("own/deep/agent.py", cwd=top) == expected[1:3]
    assert check("deep/agent.py", cwd=top / "own") == [line.removeprefix("own/") for line in expected[1:3]]
    assert check("--isolated", "own", cwd=top) == [
        "own/deep/agent.py:8:23: GL101",
        "own/deep/agent.py:8:40: GL101",
        "own/deep/agent.py:11:37: GL401",
    ]
    assert check("--config", "own/gllint.toml", "plain", cwd=top) == [
        "plain/agent.py:8:23: GL101",
        "plain/agent.py:8:40: GL101",
    ]


def test_a_broken_toml_of_somebody_else_is_none_of_our_business(
    write: Write, check: Callable[..., list[str]], agent: str
) -> None:
    top = write({"pyproject.toml": "= broken", "agent.py": agent})
    assert len(check(cwd=top)) == 3


def test_options_lie_over_the_configuration(
    write: Write, check: Callable[..., list[str]], agent: str
) -> None:
    top = write({"gllint.toml": "select = ['GL4']\nignore = ['GL5']\n", "agent.py": agent})
    assert check("--select", "GL1", cwd=top) == ["agent.py:8:23: GL101", "agent.py:8:40: GL101"]
    assert len(check("--extend-select", "GL1", cwd=top)) == 3
    assert check("--ignore", "GL401", cwd=top) == []


def test_per_file_ignores(write: Write, check: Callable[..., list[str]], agent: str) -> None:
    top = write(
        {
            "gllint.toml": "[per-file-ignores]\n'tests/*' = ['GL1']\n'gen.py' = ['GL']\n"
            "'!**/keep.py' = ['GL4']\n",
            "tests/a.py": agent,
            "tests/deep/a.py": agent,
            "gen.py": agent,
            "sub/gen.py": agent,
            "sub/keep.py": agent,
        }
    )
    assert check(cwd=top) == [
        "sub/keep.py:8:23: GL101",
        "sub/keep.py:8:40: GL101",
        "sub/keep.py:11:37: GL401",
    ]


def test_config_prints_what_is_in_force_and_from_where(write: Write, run: Run) -> None:
    top = write(
        {"gllint.toml": "select = ['GL4']\nstrict-units = true\n[severity]\nGL4 = 'info'\n", "s/a.py": ""}
    )
    out = run("config", "s", cwd=top).stdout.decode()
    assert f'select = ["GL4"]  # {top}/gllint.toml' in out
    assert f"strict-units = true  # {top}/gllint.toml" in out
    assert f'severity = {{"GL4" = "info"}}  # {top}/gllint.toml' in out
    assert "number-words = false  # default" in out
    assert json.loads(run("config", "--schema", cwd=top).stdout) == config.schema()
    assert run("config", "nowhere", cwd=top).returncode == 2


def test_severity_is_shown_and_a_warning_is_still_a_finding(write: Write, run: Run, agent: str) -> None:
    top = write({"gllint.toml": "[severity]\nGL1 = 'warning'\nGL101 = 'info'\n", "agent.py": agent})
    done = run("check", "--output-format", "json", cwd=top)
    assert done.returncode == 1
    assert [entry["severity"] for entry in json.loads(done.stdout)] == ["info", "info", "error"]
