"""The smaller commands: rule, units, completion."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from gllint.cli import commands
from gllint.cli.commands import cli
from gllint.errors import UsageError
from gllint_rules import RULES
from gllint_runtime.policy.units import ALLOWED_UNITS

Write = Callable[..., Path]
Run = Callable[..., Any]


def said(*arguments: str, status: int = 0) -> str:
    """The output of a command run in this process."""
    done = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    assert done.exit_code == status, done.output
    return done.stdout


def test_the_catalogue() -> None:
    lines = said("rule").splitlines()
    assert [line.split()[0] for line in lines] == list(RULES)
    assert any("opt-in" in line for line in lines)
    entries = json.loads(said("rule", "--output-format", "json"))
    assert [entry["code"] for entry in entries] == list(RULES)
    assert set(entries[0]) >= {"code", "name", "summary", "default", "fix", "documentation", "url"}


@pytest.mark.parametrize("word", ["GL401", "gl401", "naked-number"])
def test_one_rule_is_explained(word: str) -> None:
    text = said("rule", word)
    assert text.startswith("# GL401 naked-number\n")
    for section in ("What it does", "Why is this bad?", "Bad", "Good", "How to fix", "Options"):
        assert f"## {section}\n" in text
    assert json.loads(said("rule", word, "--output-format", "json"))["code"] == "GL401"


@pytest.mark.parametrize(("word", "nearest"), [("GL411", "GL4"), ("naked-numbr", "naked-number")])
def test_an_unknown_rule_names_the_nearest(word: str, nearest: str) -> None:
    with pytest.raises(UsageError, match=f"unknown rule '{word}'; did you mean '{nearest}"):
        said("rule", word)


@pytest.mark.parametrize(
    ("unit", "status", "words"),
    [
        ("kWh/(m²·a)", 1, ["characters: kWh/(m²·a) is written kWh/(m2·a)", "names: a after / is year", "unit: kWh/m2/year"]),
        ("kWh/m²·a", 1, ["  kWh/m2/year: kWh", "  kWh*year/m2: kWh", "Write the one that you mean."]),
        ("MWh/month", 0, ["per month (year, allowed in a compound)", "size: 1 MWh/month is 12000 kWh/year"]),
        ("mw", 1, ["several units match", "  MW: MW", "  mW: mW (power, in the pack si)"]),
        ("cfs", 1, ["unit: ft3/s", "Did you mean `ft3/s`?"]),
        ("((((", 1, ["a part of it is not a known unit"]),
    ],
)  # fmt: skip
def test_the_steps_by_which_a_unit_is_read(unit: str, status: int, words: list[str]) -> None:
    done = CliRunner().invoke(cli, ["units", "--explain", unit])
    assert done.exit_code == status
    for word in words:
        assert word in done.output
    if (
        len(words) == 3 and words[-1] == "Write the one that you mean."
    ):  # of two readings neither is suggested
        assert "Did you mean" not in done.output and "which is the same unit" not in done.output


def test_nothing_of_a_configuration_reaches_the_terminal_but_as_text(
    write: Write, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = r'"a\u001b[31m", "b\u009b2J", "c\u202ed", "e\u007f"'
    row = r'[[frameworks]]\nname = "x\u009b2J"\nimports = ["langchain"]\ndecorators = ["a"]\n'.replace(
        r"\n", "\n"
    )
    top = write(
        {"gllint.toml": f"extend-units = [{names}]\nplain-keys = [{names}]\n{row}", "a.py": "x = 1\n"}
    )
    monkeypatch.chdir(top)
    for command in (["units"], ["config"], ["config", "plain-keys"], ["frameworks"],
                    ["frameworks", "--output-format", "json"]):  # fmt: skip
        commands.run(command)
        shown = capsys.readouterr().out
        assert all(sign.isprintable() for sign in shown.replace("\n", "")), command
        assert ("2J" in shown) and ("u009b2J" in shown or "x9b2J" in shown)


def test_units_are_listed_and_judged(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(write({"gllint.toml": "extend-units = ['therm']\n"}))
    listed = dict(line.split(maxsplit=1) for line in said("units").split("\n\n")[0].splitlines())
    assert listed == {**ALLOWED_UNITS, "therm": "extend-units"}
    assert {"unit": "kWh", "dimension": "energy"} in json.loads(said("units", "--output-format", "json"))
    assert "is allowed" in said("units", "kWh/year")
    assert "is allowed" in said("units", "therm")
    assert "Did you mean `kWh`?" in said("units", "kwh", status=1)
    assert "written: m3" in said("units", "m³")
    for unit, wrong in (
        ("kWh/a", "kW`"),
        ("mph", "m/h"),
        ("1/h", "%"),
        ("W/m²·K", "W/m2*K"),
        ("degrees C", "`K`"),
    ):
        assert wrong not in said("units", unit, status=1)
    (Path.cwd() / "gllint.toml").write_text("strict-units = true\n")
    assert "is allowed" not in said("units", "kWh/year", status=1)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str) -> None:
    assert "_GLLINT_COMPLETE" in said("completion", shell)


def test_codes_are_completed(run: Run, tmp_path: Path) -> None:
    done = run(
        cwd=tmp_path,
        env={
            "_GLLINT_COMPLETE": "bash_complete",
            "COMP_WORDS": "gllint check --select GL101,GL4",
            "COMP_CWORD": "3",
        },
    )
    offered = [line.partition(",")[2] for line in done.stdout.decode().splitlines()]
    assert offered[:2] == ["GL101,GL401", "GL101,GL402"]


def test_the_bash_script_completes_gllint() -> None:
    script = said("completion", "bash")
    done = subprocess.run(
        ["bash", "-euc", script + "\ncomplete -p gllint\ndeclare -F"],
        check=True,
        capture_output=True,
        timeout=60,
    )
    told, *functions = done.stdout.decode().splitlines()
    (name,) = re.findall(r"-F (\S+) gllint$", told)
    assert f"declare -f {name}" in functions


def test_frameworks_prints_the_table_with_the_project_s_rows(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(
        write({"gllint.toml": '[[frameworks]]\nname = "shop"\ndecorators = ["shop.kit.offered"]\n'})
    )
    text = said("frameworks")
    assert "shop\n  decorators: shop.kit.offered\n" in text
    assert "crewai (crewai 1.15.30)\n" in text
    rows = json.loads(said("frameworks", "--output-format", "json"))
    assert rows[0] == {"name": "shop", "decorators": ["shop.kit.offered"]}
    assert {row["name"]: row.get("verified") for row in rows}["langroid"] == "langroid 0.69.16"
