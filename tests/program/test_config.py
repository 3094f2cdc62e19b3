"""The configuration: found, checked, explained."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

import gllint
from gllint.cli.explaining import unit_text
from gllint.errors import UsageError
from gllint.files import config
from gllint_rules.words.framework_table import TableError, read_rows, shipped
from gllint_runtime import Policy
from gllint_runtime.policy.configuration import ConfigurationError, Table, checked

Write = Callable[..., Path]
Run = Callable[..., Any]

_TEXT = st.sampled_from(["", "x", "error", "GL1"])
_ANY = st.one_of(
    st.booleans(), st.integers(-2, 5), _TEXT, st.lists(_TEXT, max_size=2), st.just([1]), st.just(1.5),
    st.dictionaries(_TEXT, st.one_of(_TEXT, st.lists(_TEXT, max_size=2)), max_size=2),
)  # fmt: skip


@settings(suppress_health_check=[HealthCheck.too_slow])
@example({"baseline": " "})
@given(
    st.dictionaries(st.sampled_from([*config.schema()["properties"], "selekt", "Select"]), _ANY, max_size=4)
)
def test_the_quick_check_says_what_the_schema_says(table: dict[str, Any]) -> None:
    try:
        checked(Table("gllint.toml", "", table))
    except ConfigurationError:
        # That a file is there, and what a version is, no shape says.
        has_more = any(isinstance(table.get(key), str) for key in ("extend", "required-version"))
        assert has_more or not Draft202012Validator(config.schema()).is_valid(table)
    else:
        assert Draft202012Validator(config.schema()).is_valid(table)


_NAME = st.sampled_from(
    [
        "",
        "*",
        "tool",
        "Agent.tool",
        "*Tool",
        "tool()",
        "langchain*",
        "a b",
        "Agent(hooks=)",
        "hooks=",
        'a="b"',
        "{a, b}",
    ]
)
_PLACE = st.one_of(_NAME, st.integers(0, 2), st.none())
_PLACES = st.one_of(_PLACE, st.lists(_PLACE, max_size=2))
_ATTRIBUTE = st.dictionaries(st.sampled_from(["attribute", "of", "off"]), _PLACE, max_size=2)
_VALUE = st.one_of(
    st.booleans(),
    _PLACES,
    st.dictionaries(_NAME, st.one_of(_PLACES, _ATTRIBUTE)),
)


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=300)
@given(
    st.dictionaries(
        st.sampled_from([*config.schema()["$defs"]["framework"]["properties"], "runns"]), _VALUE, max_size=2
    )
)
@example({"name": "*", "envelopes": ["{a, b}"]})
def test_a_row_of_frameworks_is_read_where_the_schema_knows_it(row: dict[str, Any]) -> None:
    known = Draft202012Validator(config.schema()).is_valid({"frameworks": [row]})
    try:
        read_rows([row], "row", own=True)
    except TableError:
        assert not known
    else:
        assert known


def test_the_shipped_rows_are_as_the_schema_knows_them() -> None:
    Draft202012Validator(config.schema()).validate({"frameworks": shipped().written})


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
        ("select = [1]", "key 'select.0' must be a string, not 1"),
        ("jobs = 'two'", "key 'jobs' must be a whole number, not \"two\""),
        ("jobs = 0", "key 'jobs' must be at least 1, not 0"),
        ("strict-units = 1", "key 'strict-units' must be true or false, not 1"),
        ("per-file-ignores = ['GL1']", "key 'per-file-ignores' must be a table, not [\"GL1\"]"),
        ("select = ['GL4O1']", "key 'select': unknown code 'GL4O1'; did you mean 'GL401'?"),
        ("[severity]\nGL401 = 'warn'", "one of error, warning, info, not 'warn'; did you mean 'warning'?"),
        ("[severity]\nGL401 = 'warn'", "key 'severity.GL401' must be"),
        ("[severity]\nXX = 'info'", "key 'severity': unknown code 'XX'; gllint rule lists them"),
        ("[per-file-ignores]\n'a.py' = ['GLX']", "key 'per-file-ignores.a.py': unknown code 'GLX'"),
        ("whitelist-patterns = ['(']", "key 'whitelist-patterns.0': '(' is not a valid regular expression"),
        ("unit-packs = ['count']", "key 'unit-packs.0' must be one of counts, time"),
        ("unit-packs = ['count']", "not 'count'; did you mean 'counts'?"),
        ("unit-packs = [1]", "not 1"),
        ("unit-packs = 'counts'", "key 'unit-packs' must be a list of texts, not \"counts\""),
        ("plain-keys = '*_id'", "key 'plain-keys' must be a list of texts"),
        ("plain-kinds = ['counts']", "not 'counts'; did you mean 'count'?"),
        ("array-paths = 'yes'", "key 'array-paths' must be true or false, not \"yes\""),
        ("require-reason = 1", "key 'require-reason' must be true or false, not 1"),
        ("fail-level = 'warn'", "key 'fail-level' must be one of error, warning, info, not 'warn'; did you mean"),
        ("extend-ignore = ['GLX']", "key 'extend-ignore': unknown code 'GLX'"),
        ("required-version = 1", "key 'required-version' must be a string, not 1"),
        ("required-version = 'soon'", "key 'required-version': 'soon' is not a version such as '>=0.1' or '0.1.0'"),
        ("required-version = '>=99'\nnew-key = 1", "key 'required-version' asks for gllint >=99, this is"),
        ("required-version = '0.0.1'", "install that version, or change the key"),
        ("select = [", "not valid TOML"),
        ("jobs = 2\n[tool.gllint]", "key 'jobs' is outside of [tool.gllint], which this file has, too (line 2): take"),
        ("[tool.gllint.guard.a.units]\n[severity]", "key 'severity' is outside of [tool.gllint]"),
        ("jbs = 2\n[tool.gllint]", "key 'jbs' is outside of [tool.gllint]"),
        ("jobs = 1\njobs = 2", "not valid TOML: Cannot overwrite a value (at end of document): the key occurs twice; remove one"),
        ("[guard.a.units]\n[guard.a.units]", "not valid TOML: Cannot declare ('guard', 'a', 'units') twice: put its keys under one heading, and remove the other"),
    ],
)  # fmt: skip
def test_each_error_is_one_line_that_names_the_place(
    write: Write, run: Run, agent: str, text: str, message: str
) -> None:
    top = write({"gllint.toml": text, "agent.py": agent})
    with pytest.raises(UsageError) as caught:
        config.load(f"{top}/gllint.toml")
    assert message in str(caught.value)
    assert re.match(re.escape(f"{top}/gllint.toml:") + r"\d+: ", str(caught.value)) or "TOML" in message
    assert "\n" not in str(caught.value)


_TOML = {
    "text": "'x'", "empty": "''", "number": "3", "negative": "-1", "zero": "0", "fraction": "1.5", "nan": "nan",
    "endless": "inf", "true": "true", "false": "false", "list": "[]", "texts": "['x']", "numbers": "[1]",
    "mixed": "['x', 1]", "lists": "[['x']]", "table": "{}", "texts in a table": "{a = 'x'}",
    "numbers in a table": "{a = 1}", "lists in a table": "{a = ['x']}", "tables": "[{a = 1}]",
    "date": "2020-01-01", "time": "07:32:00", "moment": "2020-01-01T07:32:00Z", "long": "0x" + "f" * 5000,
    "deep": "[" * 200 + "]" * 200, "deep table": "{a = " * 200 + "1" + "}" * 200,
}  # fmt: skip
_FITTING: dict[str, set[str]] = {
    "jobs": {"number", "long"},
    "baseline": {"text"},
    "cache-dir": {"text", "empty"},
    "severity": {"table"},
    "per-file-ignores": {"table"},
    "guard": {"table"},
    "units": {"table", "texts in a table"},
    "select": {"list"},
    "extend-select": {"list"},
    "ignore": {"list"},
    "extend-ignore": {"list"},
    "fixable": {"list"},
    "unfixable": {"list"},
    "extend": set(),
    "unit-packs": {"list"},
    "plain-kinds": {"list"},
    "quantity-shapes": {"list"},
    "fail-level": set(),
    "mode": set(),
    "frameworks": {"list"},
    "required-version": {"empty"},
    "python": set(),
    **{
        key: {"true", "false"}
        for key in (
            "force-exclude",
            "strict-units",
            "number-words",
            "array-paths",
            "require-reason",
            "strict",
            "designations",
        )
    },
}


@pytest.mark.parametrize("name", config.FILE_NAMES)
@pytest.mark.parametrize("key", config.schema()["properties"])
def test_every_key_refuses_every_wrong_type(write: Write, key: str, name: str) -> None:
    head = "" if name == "gllint.toml" else "[tool.gllint]\n"
    for kind, value in _TOML.items():
        top = write({name: f"{head}{key} = {value}\n"})
        if kind in _FITTING.get(key, {"list", "texts"}):
            loaded = config.load(f"{top}/{name}")
            assert loaded.origins == {key: f"{top}/{name}"}
            assert config.in_folder(str(top)) == loaded
            continue
        for read, place in ((config.load, f"{top}/{name}"), (config.in_folder, str(top))):
            with pytest.raises(UsageError) as caught:
                read(place)
            said = str(caught.value)
            line = 1 if name == "gllint.toml" else 2
            assert said.startswith(f"{top}/{name}:{line}: key '{key}"), (kind, said)
            assert said.isprintable() and len(said) < len(str(top)) + 250


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("audit = true", "unknown key 'audit'"),
        ("base = '/'", "unknown key 'base'"),
        ("origins = {}", "unknown key 'origins'"),
        ("rules = {}", "unknown key 'rules'"),
        ("\"a\\nb\\u001b[31m\" = 1", r"unknown key 'a\nb\x1b[31m'"),
        ("'" + "x" * 100_000 + "' = 1", "unknown key 'xxxx"),
        ("[per-file-ignores]\n\"\\u202e\" = 1", r"key 'per-file-ignores.\u202e' must be a list of texts, not 1"),
        ("per-file-ignores" + ".a" * 900 + " = 1", "key 'per-file-ignores.a' must be a list of texts"),
        ("select = " + "[" * 100_000, "not valid TOML: nested too deeply"),
        ("jobs = " + "1" * 5000, "not valid TOML: "),
        ("jobs = 1\njobs = 2", "not valid TOML: "),
        ("jobs = 1\0", "not valid TOML: "),
        ("[severity]\nGL401 = ['error']", "key 'severity.GL401' must be one of error, warning, info, not [\"error\"]"),
        ("whitelist-patterns = ['a{99999999999999999999}']", "is not a valid regular expression"),
        ("whitelist-patterns = ['" + "(" * 20_000 + ")" * 20_000 + "']", "is not a valid regular expression"),
        ("exclude = ['[a']", "key 'exclude': '[a' is not a pattern"),
        ("extend-exclude = ['!']", "key 'extend-exclude': '!' is not a pattern"),
        ("extend-exclude = ['a[']", "key 'extend-exclude': 'a[' is not a pattern"),
        ("[per-file-ignores]\n'a\\' = ['GL1']", "key 'per-file-ignores': 'a\\' is not a pattern"),
        ("baseline = ' '", "key 'baseline' names no file"),
        ("baseline = '../known.json'", "key 'baseline' leads out of the project"),
        ("cache-dir = \"a\\u0000b\"", "key 'cache-dir' names no folder"),
        *((f"{key} = ['{name}']", f"key '{key}': \"{name}\" is not a name") for name in ("", "a.", " ") for key in
          ("tool-decorators", "tool-classes", "tool-methods", "dispatchers", "final-message-calls")),
        *((f"frameworks = [{{name = 'x', {key} = {names}}}]", "is not a name") for names in ("{'' = 1}", "{'a.' = 1}")
          for key in ("calls", "keywords")),
        ("frameworks = [{name = 'x', not-tools = ['a.']}]", "frameworks': row[0] (x): 'a.' is not a name"),
        ("# " + "x" * 2_000_000, "too large for a configuration"),
        ("a." * 400_000 + "b = 1", "a key has too many parts"),
    ],
    ids=lambda text: text[:30],
)  # fmt: skip
def test_what_nobody_means_is_one_line(write: Write, text: str, message: str) -> None:
    top = write({"gllint.toml": text})
    with pytest.raises(UsageError) as caught:
        config.in_folder(str(top))
    said = str(caught.value)
    assert re.match(re.escape(f"{top}/gllint.toml:") + r"(\d+(:\d+)?:)? ", said) and message in said
    assert said.isprintable() and len(said) < len(str(top)) + 400


@pytest.mark.parametrize(
    "content", [b"\xff\xfe", "select = ['GL1']".encode("utf-16"), b"\x00", b"\xed\xa0\x80"]
)
def test_what_is_no_text_is_no_configuration(write: Write, content: bytes) -> None:
    top = write({"gllint.toml": content})
    with pytest.raises(UsageError, match="not valid TOML|not UTF-8 text"):
        config.in_folder(str(top))


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


def _nowhere(path: Path) -> None:
    path.symlink_to("nowhere")


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.skipif(os.name != "posix", reason="pipes and devices")
@pytest.mark.parametrize("make", [_pipe, Path.mkdir, _device, _loop, _nowhere])
@pytest.mark.parametrize("name", config.FILE_NAMES)
def test_a_configuration_that_is_no_file_is_said_not_waited_for(
    write: Write, run: Run, name: str, make: Callable[[Path], None]
) -> None:
    top = write({"sub/a.py": 'FINAL_MESSAGE = "5 kWh"\n'})
    make(top / name)
    for command in (["check"], ["check", "sub/a.py"], ["config"], ["check", "--config", name]):
        done = run(*command, cwd=top)
        assert done.returncode == 2, command
        (line,) = done.stderr.decode().splitlines()
        assert f"{name}: cannot be read: " in line
    assert run("check", "--isolated", cwd=top).returncode == 1


@pytest.mark.skipif(os.name != "posix", reason="pipes and devices")
@pytest.mark.parametrize("make", [_pipe, Path.mkdir, _device, _loop])
def test_ignore_files_that_are_no_files_ignore_nothing(
    write: Write, check: Callable[..., list[str]], make: Callable[[Path], None]
) -> None:
    top = write({"a.py": 'FINAL_MESSAGE = "5 kWh"\n', ".git/info/x": ""})
    make(top / ".gitignore")
    make(top / ".git/info/exclude")
    assert check(cwd=top) == ["a.py:1:18: GL401"]


def test_ignore_files_of_any_content_are_read(write: Write, check: Callable[..., list[str]]) -> None:
    message = 'FINAL_MESSAGE = "5 kWh"\n'
    top = write({"a.py": message, "b.py": message})
    for content in (
        b"\xff\xfe\x00\n[\n!\n\\\nb.py\n",
        b"*a*a*a*a*a*a*a*a*a*a*a*a*b\nb.py\n",
        b"[[[[\n" * 1000 + b"b.py",
        b"\xef\xbb\xbfb.py\r\n",
    ):
        (top / ".gitignore").write_bytes(content)
        assert check(cwd=top) == ["a.py:1:18: GL401"], content[:30]


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
        f"gllint: {top}/pyproject.toml:2: unknown key 'selekt'; did you mean 'select'?"
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
        ["--baseline", ""],
        ["--write-baseline", ""],
        ["--config", ""],
        ["--output-file", ""],
        ["--prune-baseline"],
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
    assert f'severity = {{ GL4 = "info" }}  # {top}/gllint.toml' in out
    assert "number-words = false  # default" in out
    assert json.loads(run("config", "--schema", cwd=top).stdout) == config.schema()
    assert run("config", "nowhere", cwd=top).returncode == 2


def test_severity_is_shown_and_a_warning_is_still_a_finding(write: Write, run: Run, agent: str) -> None:
    top = write({"gllint.toml": "[severity]\nGL1 = 'warning'\nGL101 = 'info'\n", "agent.py": agent})
    done = run("check", "--output-format", "json", cwd=top)
    assert done.returncode == 1
    assert [entry["severity"] for entry in json.loads(done.stdout)] == ["info", "info", "error"]


@pytest.mark.parametrize(("level", "status"), [("info", 1), ("warning", 1), ("error", 0)])
def test_a_run_fails_from_the_level_that_is_asked_for(
    write: Write, run: Run, agent: str, level: str, status: int
) -> None:
    top = write({"gllint.toml": f"fail-level = '{level}'\n[severity]\nGL = 'warning'\n", "agent.py": agent})
    done = run("check", "--output-format", "concise", cwd=top)
    assert (done.returncode, len(done.stdout.splitlines())) == (status, 3)
    assert run("check", "--fail-level", level, "--isolated", cwd=top).returncode == 1
    assert run("check", "--fail-level", "info", cwd=top).returncode == 1


def test_each_file_fails_by_its_own_level(write: Write, run: Run, agent: str) -> None:
    top = write(
        {
            "a/gllint.toml": "fail-level = 'error'\nseverity = {GL = 'info'}\n",
            "a/agent.py": agent,
            "b/gllint.toml": "severity = {GL = 'info'}\n",
            "b/agent.py": agent,
        }
    )
    assert run("check", "a", cwd=top).returncode == 0
    assert run("check", "b", cwd=top).returncode == 1
    assert run("check", "a", "b", cwd=top).returncode == 1


def test_extend_ignore_adds(write: Write, check: Callable[..., list[str]], agent: str) -> None:
    top = write({"gllint.toml": "ignore = ['GL4']\nextend-ignore = ['GL101']\n", "agent.py": agent})
    assert check(cwd=top) == []
    assert check("--ignore", "GL5", cwd=top) == ["agent.py:11:37: GL401"]
    write({"gllint.toml": ""})
    assert check("--extend-ignore", "GL1", cwd=top) == ["agent.py:11:37: GL401"]
    assert check("--extend-ignore", "GL1,GL4", cwd=top) == []


def test_another_version_is_refused_before_its_unknown_keys(write: Write, run: Run, agent: str) -> None:
    top = write({"gllint.toml": "required-version = '>=90'\nkey-of-the-future = 1\n", "agent.py": agent})
    done = run("check", cwd=top)
    assert done.returncode == 2
    assert b"asks for gllint >=90, this is" in done.stderr and b"unknown key" not in done.stderr
    for fitting in (">=0", gllint.__version__, f"=={gllint.__version__}", "<90"):
        write({"gllint.toml": f"required-version = '{fitting}'\n"})
        assert run("check", cwd=top).returncode == 1


@pytest.mark.parametrize(
    ("configuration", "unit", "text"),
    [
        ("", "1", """\
'1' is not allowed. It is a unit of the pack `rates`, not listed in `unit-packs` here.
dimension: dimensionless
Allow it with `unit-packs = ["rates"]`, or convert the value to an allowed unit.
"""),
        ("unit-packs = ['rates']", "1", "'1' is allowed. It is in a pack of units.\ndimension: dimensionless\n"),
        ("", "dimensionless", """\
'dimensionless' is not allowed. It is a unit, but not on the allowlist.
dimension: dimensionless
Write `1`, which is the same unit. Allow `1` with `unit-packs = ["rates"]`.
"""),
        ("unit-packs = ['rates']", "dimensionless", """\
'dimensionless' is not allowed. It is a unit, but not on the allowlist.
dimension: dimensionless
Write `1`, which is the same unit.
"""),
        ("unit-packs = ['rates']", "count", """\
'count' is not allowed. It is a unit of the pack `counts`, not listed in `unit-packs` here.
dimension: count
Allow it with `unit-packs = ["rates", "counts"]`, or convert the value to an allowed unit.
"""),
        ("", "token/ms", """\
'token/ms' is not allowed. It is made of units of the packs `counts` and `time`, not listed in `unit-packs` here.
dimension: token/time
Allow it with `unit-packs = ["counts", "time"]`, or convert the value to an allowed unit.
"""),
        ("strict-units = true", "count/year", """\
'count/year' is not allowed. It is a unit, but not on the allowlist.
dimension: count/year
Allow it with `extend-units = ["count/year"]`, or convert the value to an allowed unit.
"""),
        ("", "kwh", "'kwh' is unknown. It cannot be read as a unit.\nDid you mean `kWh`?\n"),
    ],
)  # fmt: skip
def test_what_is_said_of_a_unit_contradicts_nothing(
    write: Write, monkeypatch: pytest.MonkeyPatch, configuration: str, unit: str, text: str
) -> None:
    monkeypatch.chdir(write({"gllint.toml": f"{configuration}\n"}))
    assert unit_text(unit)[0] == text


def test_units_are_told_with_their_packs(write: Write, run: Run) -> None:
    top = write({"gllint.toml": "unit-packs = ['time']\n"})
    assert b"\nms " in run("units", cwd=top).stdout
    assert run("units", "ms", cwd=top).returncode == 0
    said = run("units", "token", cwd=top)
    assert said.returncode == 1
    assert b'Allow it with `unit-packs = ["time", "counts"]`' in said.stdout
    counts = run("units", "--pack", "counts", cwd=top)
    assert counts.returncode == 0 and b"token" in counts.stdout and b"kWh" not in counts.stdout
    assert b"The configuration of this folder allows them" in run("units", "--pack", "time", cwd=top).stdout
    wrong = run("units", "--pack", "count", cwd=top)
    assert wrong.returncode == 2 and b"did you mean 'counts'?" in wrong.stderr
    assert run("units", "--pack", "counts", "ms", cwd=top).returncode == 2


# --- a file that extends another -----------------------------------------------------------------------------


def test_a_configuration_extends_another(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    top = write(
        {
            "shared/base.toml": "unit-packs = ['counts']\nextend-select = ['GL105']\nunfixable = ['GL5']\nextend-units = ['a']\n",
            "part/gllint.toml": "extend = '../shared/base.toml'\nextend-select = ['GL106']\nunfixable = []\n",
        }
    )
    extending = config.load(f"{top}/part/gllint.toml")
    assert {"GL105", "GL106"} <= extending.codes
    assert extending.fixable_codes is None
    assert extending.rules.policy.packs == ("counts",) and extending.rules.policy.extend_units == ("a",)
    assert extending.origins["unit-packs"] == f"{top}/shared/base.toml"
    assert extending.origins["extend-select"] == f"{top}/part/gllint.toml"
    assert Policy.from_project(f"{top}/part").packs == ("counts",)


def test_paths_are_relative_to_the_file_in_which_they_stand(write: Write) -> None:
    top = write(
        {
            ".git/HEAD": "",
            "base.toml": "baseline = 'known.json'\n",
            "part/gllint.toml": "extend = '../base.toml'\n",
        }
    )
    assert config.load(f"{top}/part/gllint.toml").baseline_file == f"{top}/known.json"


@pytest.mark.parametrize(
    ("extended", "text"),
    [
        ({}, "gllint.toml:1: key 'extend': {top}/base.toml is not a file"),
        ({"base.toml": "slect = []\n"}, "{top}/base.toml:1: unknown key 'slect'"),
        ({"base.toml": "\nselect = ['GL999']\n"}, "{top}/base.toml:2: key 'select': unknown code 'GL999'"),
        ({"base.toml": "extend = 'gllint.toml'\n"}, "{top}/base.toml:1: key 'extend': {top}/gllint.toml extends this file, too, in a circle"),
        ({"base.toml": "extend-select = ['GL1']\n\nextend-ignore = [\n 'GL1', 'GLX']\n"}, "{top}/base.toml:4: key 'extend-ignore'"),
        ({"base.toml": "select = 1\n"}, "{top}/base.toml:1: key 'select' must be a list of texts, not 1"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_an_extended_file_is_said_there(
    write: Write, extended: dict[str, str], text: str
) -> None:
    top = write({"gllint.toml": "extend = 'base.toml'\n", **extended})
    with pytest.raises(UsageError, match=re.escape(text.format(top=top))):
        config.load(f"{top}/gllint.toml")


@pytest.mark.parametrize("name", ["//host/share/x.toml", ""])
def test_what_extend_must_not_name(write: Write, name: str) -> None:
    top = write({"gllint.toml": f"extend = '{name}'\n"})
    with pytest.raises(UsageError, match=r"gllint\.toml:1: key 'extend'"):
        config.load(f"{top}/gllint.toml")


def test_the_table_of_a_guard_is_held_to_its_shape(write: Write) -> None:
    for text, place in (
        ("guard.weather.unit = {}", "must be one of units"),
        ("guard.weather.units = {'t.$.x' = 5}", "must be a string"),
    ):
        top = write({"gllint.toml": text})
        with pytest.raises(UsageError, match=place):
            config.load(f"{top}/gllint.toml")
    top = write({"gllint.toml": "guard.weather.units = {'t.$.x' = 'kWh'}"})
    assert config.load(f"{top}/gllint.toml").guard == {"weather": {"units": {"t.$.x": "kWh"}}}


def test_a_section_that_a_gllint_toml_puts_out_of_force_is_told(write: Write, run: Run, agent: str) -> None:
    top = write({"gllint.toml": "select = ['GL4']\n", "agent.py": agent})
    told = b"pyproject.toml"
    for section, is_told in (
        ("[project]\nname = 'gllint'\n", False),
        ("[tool.gllint]\nselect = ['GL1']\n", True),
    ):
        write({"pyproject.toml": section})
        for output_format in ("concise", "json"):
            done = run("check", "--output-format", output_format, cwd=top)
            assert (told in done.stderr) is is_told and told not in done.stdout
            assert (b"GL401" in done.stdout, b"GL101" in done.stdout) == (True, False)
    assert (
        b"1 configuration not in force, a gllint.toml is next to it: pyproject.toml\n"
        in run("check", cwd=top).stderr
    )
    assert told not in run("check", "--quiet", cwd=top).stderr
    assert told not in run("check", "--config", "gllint.toml", cwd=top).stderr


def test_isolated_does_not_see_the_configuration_of_a_parent(write: Write, run: Run, agent: str) -> None:
    """Nor takes it for the mark of a project, all of whose files would be read."""
    top = write({"gllint.toml": "", "far/b.py": agent, "near/a.py": "x = 1\n"})
    done = run("check", "--isolated", "--verbose", "near/a.py", cwd=top)
    assert b"/near: configuration none" in done.stderr and b"  1 file, 0 candidates" in done.stderr
    assert b"configuration " + str(top).encode() in run("check", "--verbose", "near/a.py", cwd=top).stderr
