"""Options of ``gllint check`` that newcomers know from ruff: what is fixed, told, coloured, and left to the exit status."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gllint import __version__
from gllint.cli.commands import cli
from gllint.cli.main import main
from gllint.errors import UsageError

Write = Callable[..., Path]

AGENT = """\
from langchain.tools import tool


@tool
def gauge(site: str) -> dict:
    \"\"\"Read the gauge.\"\"\"
    return {"level": {"value": 2.5, "unit": "kwh"}, "rows": 7}
"""
SUPPRESSED = AGENT.replace('"rows": 7}', '"rows": 7}  # noqa: GL501, GL101')


@pytest.fixture
def check(write: Write, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Run ``gllint check`` in this process over a project with one agent."""

    def run(*options: str, agent: str = AGENT, **files: str) -> Result:
        monkeypatch.chdir(write({"pyproject.toml": "[tool.gllint]\n", "agent.py": agent, **files}))
        return CliRunner().invoke(
            cli, ["check", ".", "--no-cache", "--output-format", "concise", *options], catch_exceptions=False
        )

    return run


def codes(result: Result) -> list[str]:
    return re.findall(r"(?m)^\S+: (GL\d+) ", result.stdout)


def test_fix_only_says_nothing_of_what_is_left(check: Callable[..., Result]) -> None:
    result = check("--fix-only")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "Fixed 1 finding in 1 file.\n"
    assert '"unit": "kWh"' in Path("agent.py").read_text()


def test_fix_only_tells_what_cannot_be_read(check: Callable[..., Result]) -> None:
    result = check("--fix-only", agent="from langchain.tools import tool\n@tool\ndef (\n")
    assert (result.exit_code, codes(result)) == (1, ["GL900"])


@pytest.mark.parametrize(
    ("options", "status"),
    [
        (["--fix", "--select", "GL5"], 0),
        (["--fix", "--select", "GL5", "--exit-non-zero-on-fix"], 1),
        (["--fix-only", "--exit-non-zero-on-fix"], 1),
        (["--fix", "--select", "GL5", "--exit-non-zero-on-fix", "--exit-zero"], 0),
        (["--fix", "--select", "GL3", "--exit-non-zero-on-fix"], 0),
    ],
)
def test_a_fix_may_be_a_failure(check: Callable[..., Result], options: list[str], status: int) -> None:
    assert check(*options).exit_code == status


def test_fixes_are_named_by_file_and_rule(check: Callable[..., Result]) -> None:
    result = check("--fix", "--show-fixes", **{"other.py": AGENT.replace("gauge", "meter")})
    assert "Fixed 2 findings:\n- agent.py:\n    1 × GL501 (unknown-unit)\n- other.py:\n" in result.stderr


@pytest.mark.parametrize(
    ("options", "is_fixed"),
    [
        ([], True),
        (["--unfixable", "GL5"], False),
        (["--unfixable", "GL5", "--fixable", "GL501"], True),
        (["--fixable", "GL1"], False),
        (["--fixable", "ALL", "--unfixable", "GL501"], False),
        (["--fixable", "GL5,GL1"], True),
    ],
)
def test_what_is_fixed_can_be_chosen(
    check: Callable[..., Result], options: list[str], is_fixed: bool
) -> None:
    result = check("--fix", *options)
    assert ('"unit": "kWh"' in Path("agent.py").read_text()) == is_fixed
    assert ("GL501" in result.stdout) != is_fixed


def test_what_is_fixed_can_be_configured(check: Callable[..., Result]) -> None:
    result = check("--fix", **{"pyproject.toml": "[tool.gllint]\nunfixable = ['GL5']\n"})
    assert Path("agent.py").read_text() == AGENT and "GL501" in result.stdout


def test_comments_can_be_seen_through(check: Callable[..., Result]) -> None:
    assert codes(check(agent=SUPPRESSED)) == []
    assert codes(check("--ignore-noqa", agent=SUPPRESSED)) == ["GL501", "GL101"]
    disabled = AGENT.replace("    return", "    # gllint: disable[GL1, GL5] measured elsewhere\n    return")
    assert codes(check(agent=disabled)) == []
    assert codes(check("--ignore-noqa", agent=disabled)) == ["GL501", "GL101"]
    # Settings are no comments.
    ignores = {"pyproject.toml": "[tool.gllint]\nper-file-ignores = {'agent.py' = ['GL501']}\n"}
    assert codes(check("--ignore-noqa", agent=SUPPRESSED, **ignores)) == ["GL101"]


def test_silence_leaves_the_exit_status(check: Callable[..., Result]) -> None:
    result = check("--silent", "--fix")
    assert (result.exit_code, result.output) == (1, "")
    assert '"unit": "kWh"' in Path("agent.py").read_text()
    result = check("-s", "--output-file", "findings.txt")
    assert (result.exit_code, result.output) == (1, "")
    assert "GL501" in Path("findings.txt").read_text()


@pytest.mark.parametrize(("when", "is_coloured"), [("always", True), ("never", False), ("auto", False)])
def test_colour_when_it_is_wanted(
    check: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, when: str, is_coloured: bool
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert ("\x1b[" in check("--output-format", "full", "--color", when).stdout) == is_coloured


def test_excluded_patterns_stand_behind_commas(check: Callable[..., Result]) -> None:
    files = {"a b/one.py": AGENT, "two.py": AGENT}
    assert codes(check("--extend-exclude", "a b/, two.py", "--exclude", "agent.py", **files)) == []


def test_findings_in_files_that_nobody_named_are_explained(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = "from langchain.tools import tool\nfrom area import area\n\n@tool\ndef f(x: int) -> dict:\n    return area(x)\n"
    monkeypatch.chdir(
        write(
            {
                "pyproject.toml": "",
                "tools.py": tools,
                "area.py": "def area(x):\n    return {'area_m2': x * 2.5}\n",
            }
        )
    )
    told = CliRunner().invoke(cli, ["check", "tools.py", "--no-cache"]).stderr
    assert "1 finding is in a file that you did not pass" in told
    assert "was not named" not in CliRunner().invoke(cli, ["check", ".", "--no-cache"]).stderr


# --- the environment -----------------------------------------------------------------------------------------


def test_options_may_stand_in_the_environment(
    check: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLLINT_SELECT", "GL5, GL3")
    assert codes(check()) == ["GL501"]
    assert codes(check("--select", "GL101")) == ["GL101"], "the command line goes before it"
    monkeypatch.setenv("GLLINT_SELECT", "")
    assert codes(check()) == ["GL501", "GL101"], "an empty variable turns nothing off"
    monkeypatch.setenv("GLLINT_EXCLUDE", "a b/,agent.py")
    assert codes(check(**{"a b/c.py": AGENT})) == []


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("GLLINT_FIX", "GLLINT_FIX is ignored: --fix writes a file and must be given on the command line"),
        ("GLLINT_OUTPUT_FROMAT", "GLLINT_OUTPUT_FROMAT matches no option of gllint check; did you mean 'GLLINT_OUTPUT_FORMAT'?"),
        ("GLLINT_NOTHING_LIKE", "GLLINT_NOTHING_LIKE matches no option of gllint check"),
    ],
)  # fmt: skip
def test_a_variable_that_is_no_option_is_told(
    check: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, variable: str, text: str
) -> None:
    monkeypatch.setenv(variable, "1")
    result = check()
    assert result.stderr.startswith(f"gllint: {text}\n") and result.exit_code == 1
    assert Path("agent.py").read_text() == AGENT


def test_a_wrong_value_names_its_variable(
    check: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from gllint.cli.commands import run

    monkeypatch.setenv("GLLINT_JOBS", "many")
    assert run(["check"]) == 2
    assert "(from GLLINT_JOBS)" in capsys.readouterr().err


def test_each_option_is_in_the_environment_or_writes() -> None:
    from gllint.cli.commands import check as command

    alone = {"add_noqa", "fix", "fix_only", "output_file", "paths", "prune_baseline", "write_baseline"}
    without: set[Any] = {parameter.name for parameter in command.params if not parameter.envvar}
    assert without == alone


# --- one setting for one run ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "left"),
    [
        (['select = ["GL5"]'], ["GL501"]),
        (['extend-ignore = ["GL5"]', 'plain-keys = ["rows"]'], []),
        (['per-file-ignores = {"agent.py" = ["GL101"]}'], ["GL501"]),
        (['tool-decorators = ["other"]', 'ignore=["GL5"]'], ["GL101"]),
    ],
)
def test_a_setting_may_stand_on_the_command_line(
    check: Callable[..., Result], settings: list[str], left: list[str]
) -> None:
    found = check(*(part for setting in settings for part in ("--config", setting)))
    assert codes(found) == left


def test_a_setting_of_the_command_line_goes_before_the_file_and_before_its_environment(
    check: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert codes(check("--config", 'select = ["GL1"]', **{"gllint.toml": 'select = ["GL5"]\n'})) == ["GL101"]
    assert codes(check("--config", "other.toml", "--config", 'select = ["GL1"]', **{"other.toml": ""})) == [
        "GL101"
    ]
    monkeypatch.setenv("GLLINT_CONFIG", 'select = [ "GL5" ]')
    assert codes(check()) == ["GL501"]
    assert codes(check("--config", 'select = ["GL1"]')) == ["GL101"]
    assert codes(check("--config", 'select = ["GL1"]', "--select", "GL5")) == ["GL501"]


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (["selekt = []"], "--config: unknown key 'selekt'; did you mean 'select'?"),
        (['select = "GL1"'], "--config: key 'select' must be a list of texts"),
        (["select = [GL1]"], "--config: select = [GL1]: not valid TOML"),
        (["jobs = " + "9" * 5_000], f"--config: jobs = {'9' * 50}…: not valid TOML: Exceeds"),
        (['extend = "x.toml"'], "--config: the key 'extend' is only allowed in a file"),
        (["a.toml", "b.toml"], "--config takes one file, got a.toml and b.toml"),
    ],
)
def test_a_wrong_setting_of_the_command_line_is_told(
    check: Callable[..., Result], values: list[str], text: str
) -> None:
    with pytest.raises(UsageError) as caught:
        check(*(part for value in values for part in ("--config", value)))
    assert str(caught.value).startswith(text)


def test_a_key_is_explained() -> None:
    said = CliRunner().invoke(cli, ["config", "plain-keys"]).stdout
    assert said.startswith("# Patterns of keys whose numbers need no unit")
    assert said.endswith("\nplain-keys = []  # default\n")
    with pytest.raises(UsageError, match="nor a key of the configuration; did you mean 'plain-keys'"):
        CliRunner().invoke(cli, ["config", "plan-keys"], catch_exceptions=False)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["check", "--show-settings"], "'--show-settings': gllint config PATH prints the settings in force."),
        (["format", "a.py"], "'format': gllint formats nothing: ruff format does."),
        (["check", "--nonsense"], "No such option '--nonsense'"),
    ],
)
def test_what_has_another_name_in_ruff_is_pointed_to(
    capsys: pytest.CaptureFixture[str], arguments: list[str], text: str
) -> None:
    from gllint.cli.commands import run

    assert run(arguments) == 2
    assert text in capsys.readouterr().err


def test_the_version_has_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    from gllint.cli.commands import run

    assert run(["version"]) == 0
    assert capsys.readouterr().out == f"gllint {__version__}\n"


@pytest.mark.parametrize(
    ("variables", "coloured"),
    [({"FORCE_COLOR": "1"}, True), ({"CLICOLOR_FORCE": "1"}, True), ({"CLICOLOR_FORCE": "0"}, False),
     ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False), ({"FORCE_COLOR": ""}, False)],
)  # fmt: skip
def test_the_environment_says_whether_there_are_colours(
    check: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], coloured: bool
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert ("\x1b[" in check("--output-format", "full").stdout) is coloured


@pytest.mark.parametrize("option", ["--output-file", "--write-baseline", "--baseline", "--cache-dir"])
def test_an_option_is_no_name_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli, ["check", option, "--exit-zero"])
    assert done.exit_code == 2 and "needs a name, got the option --exit-zero" in done.stderr
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    "name", ['--config=ignore=["GL"]#.py', "-q", "--exit-zero", "--output-file=agent.py"]
)
def test_the_name_of_a_file_is_no_option(
    write: Write, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    top = write({"pyproject.toml": "[tool.gllint]\n", "agent.py": AGENT})
    (top / name).write_text("")
    monkeypatch.chdir(top)
    for saving in ("disable", "freeze"):  # of a program that ends at once
        monkeypatch.setattr(gc, saving, lambda: None)

    def status(*words: str) -> Any:
        with pytest.raises(SystemExit) as exit_:
            main(["check", "--no-cache", *words])
        return exit_.value.code

    assert status("agent.py", name) == 2  # as pre-commit and a pattern write it
    told = f"gllint: {name}: this file name looks like an option: write ./{name}, or rename the file\n"
    assert capsys.readouterr().err == told
    assert status("agent.py", f"./{name}") == status("--", "agent.py", name) == 1
    assert (top / "agent.py").read_text() == AGENT
