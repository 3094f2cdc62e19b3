"""``gllint init``: what it proposes, what it writes, and what it leaves alone."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gllint.errors import UsageError
from gllint.files.editing import Addition, with_settings
from gllint.init.hook import has_hook, with_hook
from gllint.init.plan import Change, plan
from gllint.init.plan import write as write_all

Write = Callable[..., Path]
Run = Callable[..., Any]

TOOL = """\
from langchain_core.tools import tool


@tool
def search(text: str, rows: list) -> dict:
    return {"found": len(rows), "page": int(text), "took_ms": 4.0, "x": 3, "user_id": int(text)}
"""

CLAIMS = 'mode = "claims"\n'


def repository(write: Write, files: dict[str, str | bytes]) -> Path:
    top = write(files)
    subprocess.run(["git", "init", "-q", str(top)], check=True)
    return top


def contents(top: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(top)): path.read_bytes()
        for path in sorted(top.rglob("*"))
        if path.is_file() and not {".git", ".gllint_cache"} & set(path.parts)
    }


def test_it_proposes_writes_and_then_has_nothing_more_to_do(write: Write, run: Run) -> None:
    pyproject = '# mine\n[project]\nname = "x"  # kept\n\n[tool.gllint]\nplain-keys = ["a"]  # why\n\n[tool.z]\nb = 1\n'
    top = repository(write, {"pyproject.toml": pyproject, "a.py": TOOL, "tests/test_a.py": TOOL})
    before = contents(top)
    said = run("init", "--dry-run", cwd=top).stdout.decode()
    assert contents(top) == before
    assert (
        "--- a/pyproject.toml\n+++ b/pyproject.toml\n@@ " in said
        and '\n+plain-keys = ["a", "found"]  # why\n' in said
    )
    assert "--- /dev/null\n+++ b/.pre-commit-config.yaml\n" in said
    assert "gllint-baseline.json: 1 finding, not shown\n" in said and '"findings"' not in said
    assert 'mode = "sourced"  # answers cite plain numbers: leaves out 1 finding whose unit is shown' in said
    assert "unit-packs" not in said  # the key of `took_ms` says its unit
    assert 'plain-keys = ["found"]  # needed by 1 finding' in said
    assert "langchain (2 files)" in said and "Findings: 6 now, 1 with these settings." in said
    done = run("init", "--yes", cwd=top)
    assert done.returncode == 0
    text = (top / "pyproject.toml").read_text()
    assert text == pyproject.replace(
        '["a"]  # why\n',
        '["a", "found"]  # why\nmode = "sourced"\nbaseline = "gllint-baseline.json"\n'
        'per-file-ignores = {"tests/" = ["GL"]}\n',
    )
    assert "entry: gllint check --force-exclude\n" in (top / ".pre-commit-config.yaml").read_text()
    assert run("check", cwd=top).returncode == 0
    written = contents(top)
    again = run("init", "--yes", cwd=top)
    assert again.returncode == 0 and b"There is nothing to write." in again.stdout
    assert contents(top) == written


def test_what_it_says_of_its_effect_is_what_a_check_finds(write: Write, run: Run) -> None:
    top = repository(write, {"a.py": TOOL, "gllint.toml": CLAIMS})
    assert "3 now, 2 with these settings" in run("init", "--yes", cwd=top).stdout.decode()
    done = run("check", cwd=top)
    assert done.returncode == 0 and b"2 findings known from the baseline." in done.stderr
    assert tomllib.loads((top / "gllint.toml").read_text()) == {
        "mode": "claims", "unit-packs": ["time"], "plain-keys": ["found"], "baseline": "gllint-baseline.json",
    }  # fmt: skip
    (top / "gllint-baseline.json").write_text('{"version": 1, "findings": []}')
    assert run("check", "--output-format", "concise", cwd=top).stdout.count(b"\n") == 2
    kept = run("check", "--output-format", "json", cwd=top).stdout
    assert kept == run("check", "--output-format", "json", "--no-cache", cwd=top).stdout


def test_it_reads_each_file_once_and_leaves_nothing_for_the_next_check_to_read(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gllint.run import index
    from gllint.run.engine import Engine, Options
    from gllint_rules.project import project

    top = repository(write, {"a.py": TOOL, "b.py": TOOL.replace("search", "find")})
    parsed: list[str] = []
    projects: list[str] = []
    parse, make = index.parse, project.Project.__init__
    monkeypatch.setattr(index, "parse", lambda path, *rest: parsed.append(path) or parse(path, *rest))
    monkeypatch.setattr(
        project.Project, "__init__", lambda self, *given: projects.append("") or make(self, *given)
    )
    made = plan(str(top))
    assert made.finding_count == 2 and made.proposal
    assert sorted(parsed) == [f"{top}/a.py", f"{top}/b.py"] and len(projects) == 2  # one for each mode
    write_all(made.changes)
    assert len(Engine(Options(fixes=False)).check([str(top)]).findings) == 2
    assert len(parsed) == 2


def test_templates_are_no_broken_python(write: Write, run: Run) -> None:
    template = "from {{name}}.tools import tool\n\n\n@tool\ndef f():\n    return {{size}}\n"
    broken = "from langchain_core.tools import tool\n\n\n@tool\ndef f(:\n    return 1\n"
    top = repository(
        write,
        {
            "new/templates/crew/a.py": template,
            "b.py": broken + "\n\nclass ToolUsage:\n    pass\n",
            "tests/test_c.py": TOOL,
        },
    )
    said = run("init", "--yes", cwd=top).stdout.decode()
    assert 'per-file-ignores: "/new/templates/" = ["GL900"]  # templates, no Python yet' in said
    assert "by kind: none" in said and "dispatchers: ToolUsage" in said
    assert run("check", "--output-format", "concise", cwd=top).stdout.decode().split(":")[0] == "b.py"


def test_it_asks_and_takes_no_for_an_answer(
    write: Write, run: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from gllint.cli import initialising

    top = repository(write, {"a.py": TOOL})
    before = contents(top)
    nobody = run("init", cwd=top)
    assert nobody.returncode == 2 and b"--yes" in nobody.stderr
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    modes = iter(("sourced", "claims"))
    monkeypatch.setattr("click.prompt", lambda text, **options: next(modes))
    monkeypatch.setattr("click.confirm", lambda text: False)
    assert initialising.run(str(top), yes=False, dry_run=False) == 0
    assert "Nothing was written." in capsys.readouterr().out
    assert contents(top) == before
    monkeypatch.setattr("click.confirm", lambda text: True)
    initialising.run(str(top), yes=False, dry_run=False)
    assert contents(top) != before
    assert tomllib.loads((top / "gllint.toml").read_text())["mode"] == "claims"


def test_a_project_without_findings_or_repository_gets_nothing(write: Write, run: Run) -> None:
    top = write({"a.py": "x = 1\n", "gllint.toml": ""})
    done = run("init", "--yes", cwd=top)
    assert done.returncode == 0 and b"There is nothing to write." in done.stdout
    assert set(contents(top)) == {"a.py", "gllint.toml"}


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"pyproject.toml": "[tool.gllint\n"}, "not valid TOML"),
        ({"pyproject.toml": "[tool.gllint]\nunit-packs = 'counts'\n"}, "must be a list"),
        ({".pre-commit-config.yaml": b"repos:\n\xff\n"}, "is not UTF-8 text"),
        ({"gllint-baseline.json/x": ""}, "cannot be written"),
    ],
)
def test_what_it_cannot_change_is_said_and_nothing_is_written(
    write: Write, run: Run, files: dict[str, str | bytes], said: str
) -> None:
    top = repository(write, {"a.py": TOOL, **files})
    before = contents(top)
    done = run("init", "--yes", cwd=top)
    assert done.returncode == 2 and said in done.stderr.decode()
    assert contents(top) == before


@pytest.mark.parametrize("name", ["pyproject.toml", "gllint-baseline.json", ".pre-commit-config.yaml"])
def test_it_follows_no_link_out_of_the_project(write: Write, run: Run, tmp_path: Path, name: str) -> None:
    top = repository(write, {"a.py": TOOL})
    outside = tmp_path / "outside"
    outside.write_text("[project]\nname = 'y'\n" if name.endswith("toml") else "")
    (top / name).symlink_to(outside)
    before = outside.read_bytes()
    done = run("init", "--yes", cwd=top)
    assert done.returncode == 2 and b"leads out of the project" in done.stderr
    assert outside.read_bytes() == before
    assert set(contents(top)) == {"a.py", name}


@pytest.mark.parametrize("path", ["nowhere", "a.py"])
def test_it_needs_a_folder(write: Write, run: Run, path: str) -> None:
    assert run("init", path, "--yes", cwd=write({"a.py": TOOL})).returncode == 2


def test_all_files_are_written_or_none(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    first.write_bytes(b"old")
    second.write_bytes(b"somebody wrote this meanwhile")
    third = str(first / "c")  # below a file
    for last in (Change(str(second), None, b"new"), Change(third, None, b"new")):
        with pytest.raises(UsageError, match="nothing was changed"):
            write_all([Change(str(first), b"old", b"new"), Change(str(tmp_path / "d"), None, b"x"), last])
        assert first.read_bytes() == b"old" and not (tmp_path / "d").exists()


def test_in_a_part_of_a_repository_the_hook_stands_at_its_top(write: Write, run: Run) -> None:
    top = repository(
        write, {"api/pyproject.toml": "[project]\nname = 'api'\n", "api/a.py": TOOL, "web/b.py": TOOL}
    )
    run("init", "--yes", "api", cwd=top)
    assert set(contents(top)) >= {".pre-commit-config.yaml", "api/gllint-baseline.json"}
    assert b"plain-keys" in contents(top)["api/pyproject.toml"]
    assert b'baseline = "gllint-baseline.json"' in contents(top)["api/pyproject.toml"]
    assert run("check", "api", cwd=top).returncode == 0


def test_a_hook_that_is_there_stays(write: Write, run: Run, agent: str) -> None:
    hooks = "repos:\n  - repo: ../gllint\n    rev: v1\n    hooks:\n      - id: gllint\n"
    top = repository(write, {"agent.py": agent, ".pre-commit-config.yaml": hooks})
    assert b"already runs gllint." in run("init", "--yes", cwd=top).stdout
    assert (top / ".pre-commit-config.yaml").read_text() == hooks


def test_init_says_how_to_activate_the_hook(write: Write, run: Run) -> None:
    top = repository(write, {"a.py": TOOL})
    assert b"Run `pre-commit install` once to activate the hook.\n" in run("init", "--yes", cwd=top).stdout


def test_the_hooks_of_husky_stay(write: Write, run: Run) -> None:
    top = repository(write, {"a.py": TOOL, ".husky/pre-commit": "npm test\n"})
    assert b"This repository uses husky: add `gllint check" in run("init", "--yes", cwd=top).stdout
    assert ".pre-commit-config.yaml" not in contents(top)


def test_an_ignored_folder_gets_no_hook(write: Write, run: Run) -> None:
    top = repository(write, {".gitignore": "scratch/\n", "scratch/pyproject.toml": "", "scratch/a.py": TOOL})
    assert (
        b"scratch is ignored: no commit hook is proposed." in run("init", "--yes", "scratch", cwd=top).stdout
    )
    assert ".pre-commit-config.yaml" not in contents(top)


LAYOUTS: dict[str, dict[str, str | bytes]] = {
    "one folder": {"a.py": TOOL},
    "a part without a configuration": {"a.py": TOOL, "part/pyproject.toml": "[project]\nname = 'p'\n", "part/b.py": TOOL},
    "a part with its own": {"gllint.toml": "", "a.py": TOOL, "part/gllint.toml": "plain-keys = ['x']\n", "part/b.py": TOOL},
    "a part in the middle": {
        "a/pyproject.toml": "[tool.gllint]\nselect = ['GL1']\n", "a/b/gllint.toml": "", "a/b/c.py": TOOL, "a/d.py": TOOL,
    },
    "a baseline that nobody names": {"a.py": TOOL, "gllint-baseline.json": '{"version": 1, "findings": []}\n'},
    "a baseline elsewhere": {
        "a.py": TOOL, "gllint.toml": "baseline = 'ci/known.json'\n", "ci/known.json": '{"version": 1, "findings": []}\n',
    },
    "a baseline that is not there yet": {"a.py": TOOL, "gllint.toml": "baseline = 'known.json'\n"},
    "test code": {"tests/test_a.py": TOOL, "conftest.py": TOOL},
    "a notebook": {
        "n.ipynb": json.dumps({"cells": [{"cell_type": "code", "source": TOOL, "metadata": {}, "outputs": []}],
                               "metadata": {}, "nbformat": 4, "nbformat_minor": 5}),
    },
    "a severity": {"a.py": TOOL, "gllint.toml": "severity = {GL1 = 'warning'}\nfail-level = 'warning'\n"},
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("has_git", [True, False])
def test_a_check_after_it_exits_0_in_every_layout(write: Write, run: Run, layout: str, has_git: bool) -> None:
    top = repository(write, LAYOUTS[layout]) if has_git else write(LAYOUTS[layout])
    assert run("check", cwd=top).returncode in (1, 2)
    assert run("init", "--yes", cwd=top).returncode == 0
    done = run("check", cwd=top)
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
    assert run("check", "--no-cache", "--jobs", "2", cwd=top).returncode == 0
    assert b"There is nothing to write." in run("init", "--yes", cwd=top).stdout
    new = top / "new.py"
    new.write_text(TOOL.replace("search", "find"))
    if layout != "a part in the middle":
        assert run("check", cwd=top).returncode == 1


def test_a_part_of_a_repository_names_its_baseline_in_the_configuration_above(write: Write, run: Run) -> None:
    top = repository(write, {"gllint.toml": "", "api/pyproject.toml": "", "api/a.py": TOOL, "web/b.py": TOOL})
    assert run("init", "--yes", "api", cwd=top).returncode == 0
    assert tomllib.loads((top / "gllint.toml").read_text())["baseline"] == "api/gllint-baseline.json"
    assert run("check", "api", cwd=top).returncode == 0 and run("check", cwd=top).returncode == 1
    assert run("init", "--yes", cwd=top).returncode == 0
    assert run("check", cwd=top).returncode == 0


def test_a_part_without_settings_is_told_whose_part_it_is_and_no_other_part_is_written(
    write: Write, run: Run
) -> None:
    top = write(
        {"gllint.toml": "", "a.py": TOOL, "other/gllint.toml": "", "other/b.py": TOOL, "part/c.py": TOOL}
    )
    said = run("init", "--yes", cwd=top / "part").stdout.decode()
    assert f"{top}/part is a part of this project: paths are relative to {top}." in said
    assert contents(top)["other/gllint.toml"] == b"" and "other/gllint-baseline.json" not in contents(top)
    assert b"baseline" in contents(top)["gllint.toml"]


def test_a_repository_under_settings_that_are_not_its_own_is_told_so(write: Write, run: Run) -> None:
    top = write({"gllint.toml": "", "repo/a.py": TOOL, "repo/.git/HEAD": ""})
    before = contents(top)
    done = run("init", "--yes", cwd=top / "repo")
    assert done.returncode == 2 and contents(top) == before
    said = done.stderr.decode()
    assert "no settings of its own" in said and f"put an empty gllint.toml into {top}/repo" in said
    assert "link" not in said
    (top / "repo/gllint.toml").touch()
    assert run("init", "--yes", cwd=top / "repo").returncode == 0
    assert (top / "gllint.toml").read_bytes() == b""


def test_the_versions_of_a_framework_are_one(write: Write, run: Run) -> None:
    server = "from mcp.server.fastmcp import FastMCP\nfrom mcp.server import Server\n"
    said = run("init", "--dry-run", cwd=write({"a.py": server + TOOL})).stdout.decode()
    [line] = [line for line in said.splitlines() if "frameworks:" in line]
    assert line.count("mcp (1 file)") == 1 and "mcp 1" not in line and "low level" not in line


MANY = """\
from langchain_core.tools import tool


@tool
def search(text: str, rows: list) -> dict:
    return {
        "n_rows": len(rows), "found": len(rows), "page": int(text), "user_id": int(text), "took_ms": 4.0, "x": 3,
        "line_count": sum(1 for _ in rows), "status_code": 200,
    }
"""


@pytest.mark.parametrize(
    "settings", ["", "plain-kinds = ['count']\n", "plain-keys = ['page']\nunit-packs = ['counts']\n"]
)
def test_what_the_summary_says_it_can_allow_it_allows(write: Write, run: Run, settings: str) -> None:
    top = write({"a.py": MANY, "b.py": MANY.replace("search", "look"), "gllint.toml": CLAIMS + settings})
    said = run("check", "--output-format", "concise", cwd=top).stderr.decode()
    before, promised = re.match(
        r"Found (\d+) findings in 2 files.*\n`gllint init` proposes settings that leave out (\d+) of these, by kind: ",
        said,
    ).groups()
    run("init", "--yes", cwd=top)
    (top / "gllint-baseline.json").write_text('{"version": 1, "findings": []}')
    done = run("check", "--output-format", "concise", cwd=top)
    assert int(before) - done.stdout.count(b"\n") == int(promised)
    assert b"proposes settings" not in done.stderr


def test_no_key_is_proposed_under_which_another_number_is(write: Write, run: Run) -> None:
    tool = "\n\n@tool\ndef {0}(rows: list) -> dict:\n    return {{'found': {1}, 'x': 3}}\n"
    top = write(
        {
            "gllint.toml": "",
            "a.py": "from langchain_core.tools import tool\n"
            + tool.format("a", "len(rows)")
            + tool.format("b", "len(rows) * 0.5"),
            "tests/test_a.py": "from langchain_core.tools import tool\n" + tool.format("c", "1.5"),
            "part/gllint.toml": "",
            "part/a.py": "from langchain_core.tools import tool\n" + tool.format("d", "1.5"),
        }
    )
    said = run("check", "--output-format", "concise", "a.py", cwd=top).stderr.decode()
    assert said.startswith("Found 4 findings in 1 file.\n") and "proposes settings" not in said
    said = run("init", "--dry-run", cwd=top).stdout.decode()
    assert "plain-keys" not in said
    assert (
        "  others:      3 findings whose kind is not known, 2 findings in test code, "
        "2 findings in folders with settings of their own\n" in said
    )


def test_lists_of_quantities_ask_for_paths_into_lists(write: Write, run: Run) -> None:
    text = TOOL.replace('"x": 3', '"xs": [{"value": 3.5, "unit": "kWh"}]')
    top = write({"a.py": text, "gllint.toml": CLAIMS})
    assert "array-paths = true  # needed by 1 finding\n" in run("init", "--yes", cwd=top).stdout.decode()
    assert tomllib.loads((top / "gllint.toml").read_text())["array-paths"] is True
    assert "GL103" not in (top / "gllint-baseline.json").read_text()
    assert run("check", cwd=top).returncode == 0


def test_what_cannot_be_read_stays_a_finding(write: Write, run: Run) -> None:
    broken = "from langchain_core.tools import tool\n\n\n@tool\ndef f(:\n    return 1\n"
    top = repository(write, {"a.py": TOOL, "b.py": broken})
    said = run("init", "--yes", cwd=top).stdout.decode()
    assert "1 finding of GL9 stays: a baseline cannot contain what gllint cannot read." in said
    done = run("check", "--output-format", "concise", cwd=top)
    assert done.returncode == 1 and done.stdout.decode().split(" ")[1] == "GL900"


def test_a_folder_that_cannot_be_written(write: Write) -> None:
    top = repository(write, {"a.py": TOOL})
    made = plan(str(top))
    before = contents(top)
    (top / "gllint.toml").write_text("# somebody was faster\n")
    with pytest.raises(UsageError, match="changed in the meantime"):
        write_all(made.changes)
    os.unlink(top / "gllint.toml")
    assert contents(top) == before


# --------------------------------------------------------------------------------------------- the texts

ADDITION = Addition({"unit-packs": ("counts",), "plain-keys": ("page",)}, {"tests/": ("GL",)})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[project]\nname = 'x'\n",
        "[project]\r\nname = 'x'\r\n",
        "\ufeff[project]\nname = 'x'\n",
        "[tool.ruff]\nline-length = 100\n[build-system]\nrequires = []\n",
        "[tool.gllint]\nunit-packs = [\n  # ours\n  'time',\n]\n",
        "[tool.gllint.per-file-ignores]\n'x.py' = ['GL1']\n",
        "[tool.gllint]\nselect = ['GL1']\n[tool.gllint.severity]\nGL1 = 'info'\n",
        "tool.ruff.line-length = 3\n",
        "[tool]\nx = 1\n",
    ],
)
def test_settings_go_into_any_pyproject_and_nothing_else_changes(text: str) -> None:
    after = with_settings("pyproject.toml", text, ADDITION, is_own=False)
    old, new = tomllib.loads(text.lstrip("\ufeff")), tomllib.loads(after.lstrip("\ufeff"))
    table = new["tool"]["gllint"]
    assert "counts" in table["unit-packs"] and table["plain-keys"] == ["page"]
    assert table["per-file-ignores"]["tests/"] == ["GL"]
    new["tool"].pop("gllint")
    kept = {**old, "tool": {k: v for k, v in old.get("tool", {}).items() if k != "gllint"}}
    assert new == kept
    assert after.startswith("\ufeff") == text.startswith("\ufeff")
    assert ("\r\n" in after) == ("\r\n" in text) and after.replace("\r\n", "").count("\r") == 0
    for line in text.splitlines():
        assert line.strip("\ufeff") in after or "tool" in line
    own = with_settings("gllint.toml", "# mine\nselect = ['GL1']\n", ADDITION, is_own=True)
    assert own.startswith("# mine\nselect = ['GL1']\n") and tomllib.loads(own)["plain-keys"] == ["page"]


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("", "sourced"),
        ('ANSWER = "It needs {{claim:0}}."\n', "claims"),
        ('ANSWER = "It needs {{tc_1.heat}}."\n', "claims"),
    ],
)
def test_it_proposes_plain_numbers_where_no_answer_cites_claims(
    write: Write, run: Run, text: str, mode: str
) -> None:
    top = write({"a.py": TOOL, "b.py": text, "gllint.toml": ""})
    run("init", "--yes", cwd=top)
    assert tomllib.loads((top / "gllint.toml").read_text()).get("mode", "claims") == mode


def test_what_has_no_room_for_a_table_is_said() -> None:
    with pytest.raises(UsageError, match="add the lines yourself"):
        with_settings("pyproject.toml", "tool = {ruff = {a = 1}}\n", ADDITION, is_own=False)


HOOK_LINE = "entry: gllint check --force-exclude"


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "repos:\n  - repo: local\n    hooks:\n      - id: x\n        name: x\n        entry: x\n        language: system\n",
        "repos:\n- repo: local\n  hooks:\n  - id: x\n    name: x\n    entry: x\n    language: system\n# the end\n",
        "# top\nrepos:  # ours\n    - repo: local\n      hooks: []\n\n# for ci\nci:\n  autofix_prs: false\n",
        "fail_fast: true\r\nrepos:\r\n  - repo: local\r\n    hooks: []\r\n",
    ],
)
def test_the_hook_goes_into_any_block_of_repos(text: str | None) -> None:
    yaml = pytest.importorskip("yaml")
    after = with_hook(text)
    assert after is not None and HOOK_LINE in after
    old, new = yaml.safe_load(text or "") or {}, yaml.safe_load(after)
    assert [r for r in new["repos"] if r["hooks"] and r["hooks"][0]["id"] == "gllint"] == [new["repos"][-1]]
    assert new["repos"][:-1] == old.get("repos", [])
    assert {k: v for k, v in new.items() if k != "repos"} == {k: v for k, v in old.items() if k != "repos"}
    assert has_hook(after) and not has_hook(text)


@pytest.mark.parametrize("rest", ["# a\x0cb\n", "# \u2028\x85\n", "# unix\n# dos\r\n"])
def test_the_hook_changes_no_line_that_is_there(rest: str) -> None:
    text = f"{rest}repos:\n- repo: local\n  hooks: []\n{rest}"
    after = with_hook(text)
    assert after is not None and after.startswith(text.removesuffix(rest)) and after.endswith(rest)


@pytest.mark.parametrize("text", ["repos: []\n", "ci: {}\n", "- a\n", "repos: &x\n"])
def test_what_has_no_block_of_repos_is_left_alone(text: str) -> None:
    assert with_hook(text) is None


@given(st.text(max_size=60))
def test_no_text_of_a_file_breaks_it(text: str) -> None:
    with_hook(text)
    has_hook(text)
    try:
        after = with_settings("pyproject.toml", text, ADDITION, is_own=False)
    except UsageError:
        return
    assert tomllib.loads(after.lstrip("\ufeff"))["tool"]["gllint"]["plain-keys"] == ["page"]


def test_a_new_table_is_followed_by_a_blank_line_where_another_follows(write: Write, run: Run) -> None:
    top = write({"a.py": TOOL, "pyproject.toml": "[tool.x]\ny = 1\n\n[dependency-groups]\ndev = []\n"})
    run("init", "--yes", cwd=top)
    before, gained, after = (top / "pyproject.toml").read_text().split("\n\n")
    assert (before, after) == ("[tool.x]\ny = 1", "[dependency-groups]\ndev = []\n")
    assert gained.startswith("[tool.gllint]\n")


def test_a_new_table_stands_apart_from_a_last_line_without_its_end() -> None:
    after = with_settings("pyproject.toml", "[project]\nname = 'x'", ADDITION, is_own=False)
    assert after.startswith("[project]\nname = 'x'\n\n[tool.gllint]\n")


def test_settings_do_not_fit_where_texts_were_not_looked_at(write: Write, run: Run) -> None:
    tool = "from agents import function_tool\n\n\n@function_tool\ndef fee(site: str) -> str:\n    return f'{site} pays'\n"
    top = write({"a.py": tool, "pyproject.toml": "[tool.gllint]\nmode = 'claims'\nignore = ['GL104']\n"})
    said = run("init", "--dry-run", cwd=top).stdout.decode()
    assert (
        "1 returns text. Not checked: the text of 1 (GL104 is off)" in said and "need no change" not in said
    )
    assert "No setting is proposed, but not everything was checked.\nFindings: 0.\n" in said


def test_a_project_without_tools_is_told_so(write: Write, run: Run) -> None:
    top = write({"a.py": "x = 1\n", "gllint.toml": ""})
    assert "  tools:       none found: " in run("init", "--dry-run", cwd=top).stdout.decode()
