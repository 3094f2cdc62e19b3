"""``gllint check`` as a user meets it: its output, its exit status, its manners."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gllint.cli.watching import matters, watch
from gllint.errors import UsageError

Write = Callable[..., Path]
Run = Callable[..., Any]
Check = Callable[..., list[str]]
HEAVY = ("libcst", "pint", "jsonschema", "rich", "multiprocessing", "yaml", "concurrent")


def test_exit_status_and_places(write: Write, run: Run, agent: str, agent_findings: list[str]) -> None:
    top = write({"agent.py": agent, "clean.py": "x = 1\n"})
    done = run("check", "--output-format", "concise", cwd=top)
    assert done.returncode == 1
    lines = done.stdout.decode().splitlines()
    assert [line.removeprefix("agent.py:").split(" ")[:2] for line in lines] == [
        [place + ":", code] for place, code in (finding.split() for finding in agent_findings)
    ]
    assert done.stderr.decode().startswith("Found 3 findings in 1 file")
    assert run("check", "clean.py", cwd=top).returncode == 0
    assert run("check", "--exit-zero", cwd=top).returncode == 0


def test_the_summary_says_what_can_be_fixed(write: Write, run: Run) -> None:
    tool = "from langchain_core.tools import tool\n\n\n@tool\ndef f(x):\n    return {'a_kwh': %s}\n"
    unsafe, safe = tool % "3.5", tool % "{'value': x, 'unit': 'kwh'}"

    def summary(*arguments: str) -> str:
        done = run("check", *arguments, cwd=top)
        last: str = done.stderr.decode().splitlines()[-1]
        return last

    top = write({"a.py": unsafe})
    assert summary() == "Found 1 finding in 1 file (1 fixable with --fix --unsafe-fixes)."
    write({"b.py": safe})
    assert summary() == (
        "Found 2 findings in 2 files (1 fixable with --fix, 1 more with --fix --unsafe-fixes)."
    )
    assert summary("--fix") == "Found 1 finding in 1 file (1 fixable with --fix --unsafe-fixes)."
    assert run("check", "--fix", "--unsafe-fixes", cwd=top).returncode == 0


def test_a_fix_that_nobody_would_see_is_not_worked_out(write: Write, run: Run) -> None:
    tool = "from langchain_core.tools import tool\n\n\n@tool\ndef f(x):\n    return {'a_kwh': 3.5}\n"
    top = write({"a.py": tool})

    def said(name: str) -> tuple[str, str]:
        done = run("check", "--output-format", name, "--cache-dir", ".", cwd=top)
        return done.stdout.decode(), done.stderr.decode()

    # What one format leaves out of the cache must not be missing from the next one, nor the other way round.
    for _ in range(2):
        assert said("concise")[1] == "Found 1 finding in 1 file.\n"
        assert "1 fixable with --fix --unsafe-fixes" in said("full")[1]
        assert json.loads(said("json")[0])[0]["fix"] is not None


def test_full_output_shows_the_source(write: Write, run: Run, agent: str) -> None:
    done = run("check", "--select", "GL401", cwd=write({"agent.py": agent}))
    out = done.stdout.decode()
    assert out.startswith("agent.py:11:37: GL401 ")
    assert '11 | FINAL_MESSAGE = "The building needs 9500 kWh."\n   |' + " " * 37 + "^^^^\n" in out
    assert "   = help: " in out
    assert "\x1b" not in out
    coloured = run("check", cwd=write({}), env={"FORCE_COLOR": "1"}).stdout.decode()
    assert "\x1b[1;31mGL401\x1b[0m" in coloured


def test_json_is_the_documented_shape(write: Write, run: Run, agent: str) -> None:
    top = write({"b/agent.py": agent, "a.py": agent})
    done = run("check", "--output-format", "json", "--select", "GL101,GL401", cwd=top)
    entries = json.loads(done.stdout)
    assert [(e["path"], e["line"], e["column"], e["code"]) for e in entries] == [
        (path, line, column, code)
        for path in ("a.py", "b/agent.py")
        for line, column, code in ((8, 23, "GL101"), (8, 40, "GL101"), (11, 37, "GL401"))
    ]
    assert set(entries[0]) == {
        "code", "name", "message", "help", "severity", "path", "line", "column", "end_line", "end_column",
        "fix", "url", "tools", "kind", "cell",
    }  # fmt: skip
    assert entries[2]["name"] == "naked-number"
    assert entries[2]["end_column"] == 41


def test_json_of_nothing_is_an_empty_array(write: Write, run: Run) -> None:
    assert json.loads(run("check", "--output-format", "json", cwd=write({"a.py": ""})).stdout) == []


def test_paths_are_shown_as_given(write: Write, check: Check, agent: str) -> None:
    top = write({"pkg/agent.py": agent, "other/x.py": ""})
    inside, outside = top / "pkg", top / "other"
    assert check("pkg", "--select", "GL401", cwd=top) == ["pkg/agent.py:11:37: GL401"]
    assert check("./pkg/../pkg/agent.py", "--select", "GL401", cwd=top) == ["pkg/agent.py:11:37: GL401"]
    assert check(inside, "--select", "GL401", cwd=top) == ["pkg/agent.py:11:37: GL401"]
    assert check("../pkg", "--select", "GL401", cwd=outside) == ["../pkg/agent.py:11:37: GL401"]
    assert check(inside, "--select", "GL401", cwd=outside) == [f"{inside}/agent.py:11:37: GL401"]
    assert check("pkg", "pkg/agent.py", ".", "--select", "GL401", cwd=top) == ["pkg/agent.py:11:37: GL401"]


def test_standard_input(write: Write, run: Run, check: Check, agent: str) -> None:
    top = write({"pyproject.toml": "[tool.gllint]\nselect = ['GL4']\n", "agent.py": ""})
    assert check("-", cwd=top, stdin=agent.encode()) == ["stdin:11:37: GL401"]
    assert check("-", "--stdin-filename", "sub/new.py", cwd=top, stdin=agent.encode()) == [
        "sub/new.py:11:37: GL401"
    ]
    assert check("-", "--stdin-filename", "agent.py", cwd=top, stdin=b"x = 1\n") == []
    (top / "pyproject.toml").unlink()
    assert check("-", cwd=top, stdin=b"FINAL_MESSAGE = )\n") == ["stdin:1:17: GL900"]


def test_standard_input_takes_part_in_its_project(write: Write, check: Check) -> None:
    top = write(
        {
            "tools.py": "from crewai.tools import BaseTool\n\n\nclass Meter(BaseTool):\n"
            "    def _run(self, site):\n        return site\n\n\nmeter = Meter()\n",
            "use.py": "",
        }
    )
    text = b"from tools import meter\n\n\ndef go():\n    return meter.run('x')\n"
    assert check("-", "--stdin-filename", "use.py", cwd=top, stdin=text) == ["use.py:5:12: GL301"]
    (top / "use.py").write_bytes(text)
    assert check("use.py", cwd=top) == ["use.py:5:12: GL301"]
    assert check(cwd=top) == ["use.py:5:12: GL301"]


def test_a_name_for_standard_input_that_nobody_reads_is_an_error(write: Write, run: Run, agent: str) -> None:
    top = write({"a.py": agent})
    for paths in ((), (".",), ("a.py",)):
        done = run("check", "--stdin-filename", "x.py", *paths, cwd=top, stdin=agent.encode())
        assert done.returncode == 2 and not done.stdout
        assert done.stderr.decode() == (
            "gllint: --stdin-filename needs '-' as the path: gllint check - --stdin-filename x.py\n"
        )


def test_output_file(write: Write, run: Run, agent: str) -> None:
    top = write({"agent.py": agent})
    done = run("check", "--output-format", "json", "--output-file", "out.json", cwd=top)
    assert (done.returncode, done.stdout) == (1, b"")
    assert len(json.loads((top / "out.json").read_text())) == 3


def test_statistics(write: Write, run: Run, agent: str) -> None:
    top = write({"agent.py": agent})
    out = run("check", "--statistics", cwd=top).stdout.decode().split("\n")
    assert [line.split()[:2] for line in out if line] == [
        ["2", "GL101"],
        ["1", "GL401"],
        ["3", "agent.py"],
    ]
    rows = json.loads(run("check", "--statistics", "--output-format", "json", cwd=top).stdout)
    first = {
        "code": "GL101",
        "name": "raw-number-in-result",
        "count": 2,
        "kinds": {},
        "files": {"agent.py": 2},
    }
    assert rows["rules"][0] == first
    assert rows["unseen"] == {
        "tools": 1,
        "number": 1,
        "text": 0,
        "unknown": 0,
        "unregistered": 0,
        "plain": 0,
        "files": [],
    }


KINDS = """\
from langchain_core.tools import tool


@tool
def search(text: str, rows: list) -> dict:
    return {"found": len(rows), "all": len(text), "page": int(text), "took_ms": 4.0, "x": 3}
"""


def test_kinds_are_told_counted_and_summed_up(write: Write, run: Run) -> None:
    top = write({"a.py": KINDS, "b.py": KINDS.replace("search", "look")})
    entries = json.loads(run("check", "--output-format", "json", cwd=top).stdout)
    assert [entry["kind"] for entry in entries[:5]] == ["count", "count", None, None, "count"]
    out = run("check", "--statistics", cwd=top).stdout.decode()
    assert out.split() == (
        "8 GL101 raw-number-in-result 4 counts 4 a.py 4 b.py".split()  # noqa: SIM905
    )
    said = run("check", "--output-format", "concise", cwd=top).stderr.decode()
    assert said.startswith(
        "Found 8 findings in 2 files.\n`gllint init` proposes settings that leave out 4 of these, by kind: count (4).\n"
    )
    write({"gllint.toml": "unit-packs = ['counts', 'time']\n", "b.py": ""})
    said = run("check", "--output-format", "concise", cwd=top).stderr.decode()
    assert said.startswith(
        "Found 4 findings in 1 file.\n`gllint init` proposes settings that leave out 2 of these, by kind: count (2).\n"
    )


def test_show_files(write: Write, run: Run) -> None:
    top = write(
        {
            "b.py": "(",
            "a/c.py": "",
            "venv/d.py": "",
            "notes.txt": "",
            "gllint.toml": "extend-exclude=['e.py']",
        }
    )
    write({"e.py": ""})
    done = run("check", "--show-files", cwd=top)
    assert (done.returncode, done.stdout.decode().split()) == (0, ["a/c.py", "b.py"])
    assert run("check", "--show-files", "e.py", cwd=top).stdout == b"e.py\n"
    assert run("check", "--show-files", "nowhere", cwd=top).returncode == 2


def test_why_heeds_the_code(write: Write, run: Run, agent: str) -> None:
    top = write({"agent.py": agent})
    assert run("check", "--why", "agent.py:8:GL101", cwd=top).stdout.startswith(b"GL101 ")
    assert run("check", "--why", "agent.py:8:20", cwd=top).stdout.startswith(b"GL101 ")
    other = run("check", "--why", "agent.py:8:GL401", cwd=top).stdout.decode()
    assert other.startswith("There is no GL401 on this line.") and "\nGL101" not in other
    own = run("check", "--why", "agent.py:8:GL901", cwd=top).stdout.decode()
    assert "gllint rule GL901" in own
    assert run("check", "--why", "agent.py:8:GL999", cwd=top).returncode == 2
    beyond = run("check", "--why", "agent.py:12", cwd=top)
    assert (beyond.returncode, beyond.stderr) == (2, b"gllint: --why: agent.py has only 11 lines\n")
    assert run("check", "--why", f"agent.py:{'9' * 5000}", cwd=top).returncode == 2


def test_watch_checks_again_when_a_file_changes(write: Write, agent: str) -> None:
    top = write({"agent.py": agent})
    command = [sys.executable, "-m", "gllint", "check", "--watch", "--output-format", "concise", "agent.py"]
    with subprocess.Popen(
        command, cwd=top, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        try:
            first = [process.stdout.readline() for _ in range(3)]
            while "Watching" not in (line := process.stderr.readline()):
                assert line, "it ended"
            write({"agent.py": agent.replace('"rooms": 4', '"rooms": "4"')})
            again = [process.stdout.readline() for _ in range(2)]
            process.send_signal(signal.SIGINT)
            process.wait(timeout=30)
        finally:
            process.kill()  # where it has not ended, leaving the block would wait for it
    assert [line.split()[1] for line in first] == ["GL101", "GL101", "GL401"]
    assert [line.split()[1] for line in again] == ["GL101", "GL401"]
    assert process.returncode == 130


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--watch", "-"], "standard input ('-') cannot be watched"),
        (["--watch", "--fix"], "cannot be combined with --fix"),
        (["--watch", "nowhere"], "no such file"),
    ],
)
def test_watch_refuses_what_it_cannot_do(write: Write, run: Run, arguments: list[str], said: str) -> None:
    done = run("check", *arguments, cwd=write({"a.py": ""}))
    assert done.returncode == 2 and said in done.stderr.decode()


def test_watch_follows_what_a_check_may_read() -> None:
    assert all(
        map(matters, ("/p/a.py", "/p/a.ipynb", "/p/gllint.toml", "/p/prompts/final.j2", "/p/final.md"))
    )
    assert not any(map(matters, ("/p/a.png", "/p/a.pyc", "/p/.gllint_cache/x/screen")))


def test_watch_says_what_it_needs(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gllint.cli.watching.find_spec", lambda _: None)
    with pytest.raises(UsageError, match=r"pip install watchfiles"):
        watch(["."], lambda: 0)


def test_verbose_says_where_a_budget_ran_out(write: Write, run: Run) -> None:
    doubled = '    value = {"x": value, "y": value}\n' * 40
    top = write(
        {
            "agent.py": "from agents import function_tool\n\n\n@function_tool\ndef report():\n"
            f"    value = 1\n{doubled}    return value\n"
        }
    )
    for _ in range(2):  # the second time from the cache
        said = run("check", "--verbose", cwd=top).stderr.decode()
        [first, *_] = [line for line in said.splitlines() if "too complex" in line]
        path, line, message = first.split(":", 2)
        assert path == "agent.py"
        assert 7 < int(line) <= 46
        assert message == (
            " this value is too complex to follow (budget of 10000 parts); what it contains is not reported"
        )
    said = run("check", cwd=top).stderr.decode()
    assert re.match(r"\d values were too complex to follow; --verbose shows where\.\n", said)


def test_quiet_verbose_and_nothing_to_do(write: Write, run: Run, agent: str) -> None:
    top = write({"agent.py": agent, "empty/x.txt": ""})
    assert run("check", "--quiet", cwd=top).stderr == b""
    done = run("check", "empty", cwd=top)
    assert done.returncode == 0
    assert b"No Python files" in done.stderr
    more = run("check", "--verbose", cwd=top).stderr.decode()
    assert f"project {top}: configuration none, cache {top}/.gllint_cache/" in more
    assert "1 file, 1 candidate" in more


def test_timings_name_steps_and_rules(write: Write, run: Run, agent: str) -> None:
    err = run("check", "--timings", cwd=write({"agent.py": agent})).stderr.decode()
    assert {"discover", "screen", "outline", "rules", "GL101", "GL401", "total"} <= {
        line.split()[-1] for line in err.splitlines()
    }


@pytest.mark.parametrize("cache", [[], ["--no-cache"]])
def test_a_folder_without_candidates_loads_nothing_heavy(write: Write, cache: list[str]) -> None:
    top = write(
        {
            "pyproject.toml": "[tool.gllint]\nselect = ['GL1', 'GL4']\nextend-units = ['therm']\n",
            ".gitignore": "*.log\nbuild/\n!keep\na/**/b\n",
            **{f"m{i}.py": "import subprocess\nsubprocess.run(['ls'])\n" for i in range(5)},
        }
    )
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "gllint", "check", *cache],
        cwd=top,
        # Without what measures coverage: it loads modules of its own.
        env={
            key: value
            for key, value in os.environ.items()
            if key not in ("PYTHONPATH", "COVERAGE_PROCESS_START")
        },
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0
    modules = {line.rpartition("|")[2].strip() for line in done.stderr.decode().splitlines()}
    loaded = {module.partition(".")[0] for module in modules}
    assert "gllint" in loaded
    assert not loaded & {*HEAVY, "click"}
    assert "msgspec" not in loaded or not cache  # it reads and writes the cache
    assert "gllint.verdict.baseline" not in modules


def test_a_closed_pipe_ends_quietly(write: Write, agent: str) -> None:
    many = agent + "".join(f'final_message = "{i} kWh"\n' for i in range(3000))
    with subprocess.Popen(
        [sys.executable, "-m", "gllint", "check"],
        cwd=write({"agent.py": many}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()
        assert process.wait(60) == 1


def test_an_interrupt_ends_cleanly(write: Write, agent: str) -> None:
    top = write({f"agent{i}.py": agent + f"# {i}\n" * 3000 for i in range(120)})
    with subprocess.Popen(
        [sys.executable, "-m", "gllint", "check", "--no-cache", "--jobs", "2"],
        cwd=top,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            # While its workers are at work, however fast the machine is.
            workers = Path(f"/proc/{process.pid}/task/{process.pid}/children")
            while process.poll() is None and not workers.read_text():
                time.sleep(0.002)
            os.killpg(process.pid, signal.SIGINT)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 130
    assert b"Traceback" not in err
    assert out == b""


def test_why(write: Write, run: Run, agent: str) -> None:
    top = write({"agent.py": agent, "plain.py": "x = 1\n"})
    done = run("check", "--why", "agent.py:8:GL101", cwd=top)
    assert done.returncode == 0
    assert done.stdout.strip()
    assert b"contains nothing" in run("check", "--why", "plain.py:1", cwd=top).stdout
    assert run("check", "--why", "agent.py:8:GL999", cwd=top).returncode == 2


def test_version_and_help(run: Run, tmp_path: Path) -> None:
    from importlib.metadata import version

    from gllint import __version__

    assert version("gllint") == __version__
    assert run("--version", cwd=tmp_path).stdout.decode() == f"gllint, version {__version__}\n"
    for command in ("check", "rule", "config", "units", "clean", "completion"):
        assert run(command, "--help", cwd=tmp_path).returncode == 0


def test_the_code_under_lint_is_never_run(write: Write, run: Run, agent: str) -> None:
    bomb = "import pathlib\npathlib.Path('exploded').touch()\n"
    names = [
        "click",
        "tokenize",
        "json",
        "libcst",
        "gllint_rules",
        "jsonschema",
        "sitecustomize",
        "tomllib",
        "agent",
    ]
    top = write(
        {f"{name}.py": bomb for name in names} | {"my_agent.py": agent + bomb, "gllint.toml": "select = [1]"}
    )
    assert run("check", cwd=top).returncode == 2
    (top / "gllint.toml").unlink()
    assert run("check", cwd=top).returncode == 1
    assert not (top / "exploded").exists()


def test_why_tells_of_a_number_that_a_tool_elsewhere_returns(write: Write, run: Run) -> None:
    helper = 'def build(site):\n    return {"peak": float(site), "name": site, "more": load(site)}\n'
    tool = "from langchain_core.tools import tool\nfrom helpers import build\n\n\n@tool\ndef {name}(site: str):\n    return build(site)\n"
    top = write({"a.py": tool.format(name="one"), "b.py": tool.format(name="two"), "helpers.py": helper})
    said = run("check", "--why", "helpers.py:2", cwd=top).stdout.decode().splitlines()
    assert said[:2] == [
        "GL101 `peak` in the results of tool `one` and 1 other tool is a number without a unit",
        "  because `float()` gives a number (helpers.py:2: `float(site)`)",
    ]
    assert [line for line in said if line.startswith("GL101")] == said[:1]
    silent = run("check", "--why", "helpers.py:2:GL102", cwd=top).stdout.decode().splitlines()
    assert silent[0] == "There is no GL102 on this line."
    assert any(line.startswith("`more` in the result of tool `one` is unknown") for line in silent)
