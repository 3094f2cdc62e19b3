"""Rules of one's own: the package of the example, installed, beside our rules; and packages that misbehave."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

Write = Callable[..., Path]
Own = Callable[..., "subprocess.CompletedProcess[str]"]
EXAMPLE = Path(__file__).parents[2] / "examples" / "rules-of-your-own"
AGENT = """\
from langchain_core.tools import tool


@tool
def rooms(site: str) -> dict:
    return {"rooms": 4}
"""


def install(packages: Path, name: str, entries: Mapping[str, str], source: Path | None = None) -> Path:
    """Put a package and what an installer writes of it into the folder ``packages``."""
    packages.mkdir(exist_ok=True)
    if source is not None:
        shutil.copytree(source, packages / source.name, ignore=shutil.ignore_patterns("__pycache__"))
    info = packages / f"{name}-1.0.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0.0\n")
    lines = "".join(f"{key} = {value}\n" for key, value in entries.items())
    (info / "entry_points.txt").write_text(f"[gllint.rules]\n{lines}")
    return packages


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    entries = project["entry-points"]["gllint.rules"]
    return install(tmp_path / "packages", "acme_gllint_rules", entries, EXAMPLE / "acme_rules")


@pytest.fixture
def own(gllint: list[str]) -> Own:
    """Run gllint in a folder, with the packages of another."""

    def own(top: Path, packages: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        return started([*gllint, *arguments], top, packages)

    return own


def started(command: list[str], top: Path, packages: Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(packages)}
    return subprocess.run(
        command, cwd=top, env=env, capture_output=True, encoding="utf-8", timeout=120, check=False
    )


def codes(done: subprocess.CompletedProcess[str]) -> list[str]:
    assert done.returncode in (0, 1), done.stderr
    return [entry["code"] for entry in json.loads(done.stdout)]


def test_the_rule_of_the_example_reports_beside_ours(write: Write, packages: Path, own: Own) -> None:
    top = write({"agent.py": AGENT})
    check = ("check", "--output-format", "json")
    for _ in range(2):  # the second time from the cache
        assert codes(own(top, packages, *check)) == ["ACME101", "ACME103", "GL101"]
    assert codes(own(top, packages, *check, "--ignore", "ACME")) == ["GL101"]
    assert codes(own(top, packages, *check, "--select", "ACME101")) == ["ACME101"]
    assert codes(own(top, Path("none"), *check)) == ["GL101"]
    write({"gllint.toml": "[severity]\nACME = 'info'\n"})
    [theirs, _, _] = json.loads(own(top, packages, *check).stdout)
    assert (theirs["severity"], theirs["url"], theirs["line"]) == ("info", None, 5)
    shown = own(top, packages, "rule", "tool-without-description").stdout
    assert shown.startswith("# ACME101 tool-without-description") and "## Bad" in shown
    assert "ACME101" in own(top, packages, "check", "--output-format", "sarif").stdout


@pytest.mark.parametrize(
    "comment", ["gllint: ignore[ACME101] r", "gllint: ignore[tool-without-description] r", "noqa: ACME101"]
)
def test_it_is_suppressed_like_ours(write: Write, packages: Path, own: Own, comment: str) -> None:
    write({"gllint.toml": "ignore = ['ACME103']"})
    top = write({"agent.py": AGENT.replace("dict:\n", f"dict:  # {comment}\n")})
    assert codes(own(top, packages, "check", "--output-format", "json")) == ["GL101"]


def test_the_page_of_the_example_is_its_test(packages: Path) -> None:
    bare = ["env", "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1", sys.executable, "-m", "pytest", "-q"]
    done = started([*bare, "-p", "no:cacheprovider", "-c", "/dev/null", "test_rules.py"], EXAMPLE, packages)
    assert done.returncode == 0, done.stdout


RAISING = """\
from gllint_rules.rule import Rule


def check(context):
    raise KeyError("nobody thought of this")
    yield


RULE = Rule("BAD101", "raises-always", "It raises", "It raises.", check)
"""


@pytest.mark.parametrize(
    ("code", "value", "said"),
    [
        ("BAD101", "bad:RULE", "BAD101 failed on agent.py: KeyError: 'nobody thought of this'"),
        ("BAD102", "bad:RULE", "BAD102 failed on agent.py: it cannot be loaded: bad:RULE has the code"),
        ("BAD101", "bad:NOTHING", "has no attribute 'NOTHING'"),
        ("BAD101", "nowhere:RULE", "No module named 'nowhere'"),
        ("BAD101", "bad:Rule", "must be a gllint_rules.rule.Rule, got type"),
    ],
)
def test_a_rule_that_fails_loses_nothing_else(
    write: Write, tmp_path: Path, own: Own, code: str, value: str, said: str
) -> None:
    packages = install(tmp_path / "packages", "bad", {code: value})
    (packages / "bad.py").write_text(RAISING)
    done = own(write({"agent.py": AGENT}), packages, "check", "--output-format", "concise")
    assert done.returncode == 2
    assert "agent.py:6:22: GL101" in done.stdout
    assert said in done.stderr and "Traceback" not in done.stderr
    assert code in own(tmp_path, packages, "rule").stdout


def test_a_run_in_which_a_rule_failed_says_not_that_there_is_nothing(
    write: Write, tmp_path: Path, own: Own
) -> None:
    packages = install(tmp_path / "packages", "bad", {"BAD101": "bad:RULE"})
    (packages / "bad.py").write_text(RAISING)
    top = write({"agent.py": AGENT})
    for name in ("concise", "junit"):
        done = own(top, packages, "check", "--ignore", "GL", "--output-format", name)
        assert done.returncode == 2 and "BAD101 failed on agent.py" in done.stderr
        assert "No findings" not in done.stdout + done.stderr
        assert "1 file left out" in done.stderr
    assert 'errors="1"' in done.stdout


@pytest.mark.parametrize("name", ["GL101", "GL777", "acme", "x-1"])
def test_a_name_that_is_no_code_is_warned_of(write: Write, tmp_path: Path, own: Own, name: str) -> None:
    packages = install(tmp_path / "packages", "bad", {name: "bad:RULE"})
    done = own(write({"agent.py": AGENT}), packages, "check", "--output-format", "json")
    assert codes(done) == ["GL101"]
    assert f"'{name}' (bad:RULE) is skipped: its name must be a rule code" in done.stderr


def test_a_file_that_only_the_own_rule_looks_at_is_read(write: Write, tmp_path: Path, own: Own) -> None:
    packages = install(tmp_path / "packages", "own", {"OWN101": "own:RULE"})
    (packages / "own.py").write_text(
        "from gllint_rules.rule import Rule\n\n\ndef check(context):\n"
        "    for binding in context.module.scope.bindings.get('SECRET_SAUCE', ()):\n"
        "        yield context.finding('OWN101', binding.at, 'there it is')\n\n\n"
        "RULE = Rule('OWN101', 'secret-sauce', 'A secret', 'A secret.', check, needles=('SECRET_SAUCE',))\n"
    )
    top = write({"plain.py": "SECRET_SAUCE = 'x'\n", "other.py": "y = 1\n"})
    found: list[dict[str, Any]] = json.loads(own(top, packages, "check", "--output-format", "json").stdout)
    assert [(entry["code"], entry["path"], entry["line"]) for entry in found] == [("OWN101", "plain.py", 1)]


OWN = """\
import os, sys
from gllint_rules.finding import Edit, Fix, Span
from gllint_rules.inference.values import Site
from gllint_rules.rule import Rule

{top}

def check(context):
    place = Site(context.module, context.tools[0].at)
    ok = context.finding("BAD101", place, "fine")
    {body}
    yield ok

RULE = Rule("BAD101", "misbehaves", "It misbehaves", "It misbehaves.", check, fix="sometimes")
"""


def fixing(edits: str, applicability: str = "safe") -> str:
    fix = f"lambda: Fix({applicability!r}, 'mend', {edits})"
    return f"yield context.finding('BAD101', place, 'message', '', {fix})"


EDIT = "Edit(Span(1, 1, 1, 1), '# more\\n')"


@pytest.mark.parametrize(
    ("top", "body", "said"),
    [
        ("", "sys.exit(0)", "SystemExit: 0"),
        ("sys.exit(0)", "", "cannot be loaded: SystemExit: 0"),
        ("class Odd(BaseException): pass", "raise Odd('x')", "Odd: x"),
        ("class Odd(BaseException): pass\nraise Odd('x')", "", "cannot be loaded: Odd: x"),
        ("", "raise KeyboardInterrupt", "KeyboardInterrupt (bad.py:11)"),
        ("raise KeyboardInterrupt", "", "cannot be loaded: KeyboardInterrupt"),
        ("", "raise GeneratorExit", "GeneratorExit (bad.py:11)"),
        ("", "raise MemoryError", "MemoryError (bad.py:11)"),
        ("", "f = lambda: f(); f()", "RecursionError: maximum recursion depth exceeded"),
        ("class Mute(Exception): __str__ = None", "raise Mute", "Mute (bad.py:11)"),
        ("", "raise ValueError('x' * 10**6)", "ValueError: xxx"),
        ("", "while True: yield ok", "it yields more than 10,000 findings for one file"),
        ("", "yield context.finding('BAD101', place, '')", "a finding has no message"),
        ("", "yield context.finding('BAD101', place, 'm', because=5)", "a finding has evidence of a wrong type"),
        ("", "yield context.finding('BAD101', place, 'm', characters=[0, 1])", "where there is no text"),
        ("", "yield None", "it must yield what context.finding(…) returns, got NoneType"),
        ("", "yield ('BAD101', 3)", "it must yield what context.finding(…) returns, got tuple"),
        ("", "yield context.finding('GL101', place, 'm')", "a finding must have the code of its rule"),
        ("", "yield context.finding('BAD101', place, None)", "the help of a finding must be strings"),
        ("", "yield context.finding('BAD101', 99999, 'm')", "where there is no expression"),
        ("", "yield context.finding('BAD101', -5, 'm')", "is at position -5"),
        ("", "yield context.finding('BAD101', 'here', 'm')", "must be a Site or the position of a fact"),
        ("", "yield context.finding('BAD101', None, 'm')", "must be a Site or the position of a fact"),
        ("", "yield context.finding('BAD101', place, 'm', characters=(5, 10**9))", "where there is no text"),
        ("", "yield context.finding('BAD101', place, 'm', fix=5)", "must be a function without parameters"),
        ("", "yield context.finding('BAD101', place, 'm', fix=lambda: 'x')", "its fix must be a Fix, got str"),
        ("", fixing("()", "maybe"), 'the applicability of its fix must be "safe" or "unsafe", got \'maybe\''),
        ("", fixing("()"), "a nonempty tuple of edits"),
        ("", fixing("(Edit(Span(1, 1, 1, 3), 5),)"), "must be an Edit whose content is a string"),
        ("", fixing("(Edit(Span(999, 1, 999, 1), ''),)"), "outside the file"),
        ("", fixing("(Edit(Span(2, 1, 1, 1), ''),)"), "ends before it begins"),
        ("", fixing("(Edit(Span(1, 1, 1, 5), ''), Edit(Span(1, 3, 1, 8), ''))"), "overlap"),
    ],
)  # fmt: skip
def test_each_defect_is_the_packages(
    write: Write, tmp_path: Path, own: Own, top: str, body: str, said: str
) -> None:
    packages = install(tmp_path / "packages", "bad", {"BAD101": "bad:RULE"})
    (packages / "bad.py").write_text(OWN.format(top=top, body=body or "pass"))
    project = write({"agent.py": AGENT})
    done = own(project, packages, "check", "--no-cache", "--output-format", "json")
    assert done.returncode == 2
    assert "GL101" in [entry["code"] for entry in json.loads(done.stdout)]
    assert "the package bad: BAD101 failed on agent.py: " in done.stderr and said in done.stderr
    assert "internal error" not in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ("Rule('BAD101', 'x', 'y', 'z', None)", "has a check that cannot be called"),
        ("Rule('BAD101', 'x', None, 'z', print)", "has a summary that is not a string"),
        ("Rule('BAD101', 'x', 'y', 'z', print, needles=5)", "has needles that are not a tuple of nonempty strings"),
        ("Rule('BAD101', 'x', 'y', 'z', print, needles=('',))", "has needles that are not a tuple of nonempty strings"),
    ],
)  # fmt: skip
def test_a_record_that_is_none_is_the_packages(
    write: Write, tmp_path: Path, own: Own, record: str, said: str
) -> None:
    packages = install(tmp_path / "packages", "bad", {"BAD101": "bad:RULE"})
    (packages / "bad.py").write_text(f"from gllint_rules.rule import Rule\nRULE = {record}\n")
    done = own(write({"agent.py": AGENT}), packages, "check", "--output-format", "concise")
    assert done.returncode == 2 and "agent.py:6:22: GL101" in done.stdout
    assert f"the package bad: BAD101 failed on agent.py: it cannot be loaded: bad:RULE {said}" in done.stderr


# The program with less patience than it has.
HASTY = (
    "import sys; from gllint_rules.catalogue import foreign_code as code;"
    "code.PATIENCE, code._GRACE, code.SILENCE, code._LAST = 0.5, 0.2, 1, 5;"
    "from gllint.cli.main import main; main(['check', '--no-cache', '--output-format', 'concise', *sys.argv[1:]])"
)


def hasty(top: Path, packages: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", HASTY, *arguments]
    env = {**os.environ, "PYTHONPATH": str(packages)}
    return subprocess.run(command, cwd=top, env=env, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("body", ["while True: pass", "import time; time.sleep(1000)"])
@pytest.mark.parametrize("where", ["check", "import"])
def test_a_rule_that_hangs_is_ended_and_named_once(
    write: Write, tmp_path: Path, body: str, where: str
) -> None:
    packages = install(tmp_path / "packages", "bad", {"BAD101": "bad:RULE"})
    top, inner = (body, "pass") if where == "import" else ("", body)
    (packages / "bad.py").write_text(OWN.format(top=top, body=inner))
    done = hasty(write({"a.py": AGENT, "b.py": AGENT, "c.py": AGENT}), packages)
    assert done.returncode == 2 and done.stdout.count("GL101") == 3
    [said] = [line for line in done.stderr.splitlines() if line.startswith("gllint: ")]
    assert said == "gllint: the package bad: BAD101 failed on a.py and 2 more files: " + (
        "it cannot be loaded: it did not finish within 0.5 s"
        if where == "import"
        else "it did not finish within 0.5 s on a.py, and is skipped from now on"
    )


def test_a_fix_that_hangs_costs_no_finding(write: Write, tmp_path: Path) -> None:
    packages = install(tmp_path / "packages", "bad", {"BAD101": "bad:RULE"})
    slow = "import time; yield context.finding('BAD101', place, 'slow', '', lambda: time.sleep(1000))"
    (packages / "bad.py").write_text(OWN.format(top="", body=slow))
    done = hasty(write({"a.py": AGENT, "b.py": AGENT}), packages, "--fix")
    assert done.returncode == 2 and done.stdout.count("GL101") == done.stdout.count("BAD101 slow") == 2
    assert "its fix did not finish within 0.5 s on a.py, and is skipped from now on" in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no processes for it")
@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            "re.match(r'(a+)+$', 'a' * 50 + 'b')",
            "it let nothing else run for 1 s (perhaps because of a regular expression) while it checked a.py",
        ),
        ("os._exit(0)", "it ended the process while it checked a.py"),
        (
            "yield context.finding('BAD101', place, 'bad', '', lambda: os._exit(0))",
            "its fix ended the process while it checked a.py",
        ),
    ],
)
def test_a_rule_that_takes_its_process_with_it_is_given_up_alone(
    write: Write, tmp_path: Path, body: str, said: str
) -> None:
    packages = install(tmp_path / "packages", "bad", {"BAD101": "bad:RULE"})
    (packages / "bad.py").write_text(OWN.format(top="import os, re", body=body))
    done = hasty(write({"a.py": AGENT, "b.py": AGENT}), packages, "--fix", "--jobs", "1")
    assert done.returncode == 2 and done.stdout.count("GL101") == 2
    assert done.stdout.count("BAD101") == (2 if "fix" in said else 0)
    assert (
        f"the package bad: BAD101 failed on a.py and 1 more file: {said}, and is skipped from now on"
        in done.stderr
    )


@pytest.mark.parametrize("arguments", [["--timings"]])
def test_where_it_has_no_process_of_its_own_it_is_ended_and_named(
    write: Write, tmp_path: Path, arguments: list[str]
) -> None:
    packages = install(tmp_path / "packages", "bad", {"BAD101": "bad:RULE"})
    (packages / "bad.py").write_text(OWN.format(top="import re", body="re.match(r'(a+)+$', 'a' * 50 + 'b')"))
    done = hasty(write({"a.py": AGENT}), packages, *arguments)
    assert done.returncode == 1 and "bad.py" in done.stderr
    assert "BAD101 of the package bad, asked about " in done.stderr


def test_what_a_rule_prints_is_no_report(write: Write, tmp_path: Path, own: Own) -> None:
    packages = install(tmp_path / "packages", "bad", {"BAD101": "bad:RULE"})
    (packages / "bad.py").write_text(OWN.format(top="print('hello')", body="print('there')"))
    done = own(write({"agent.py": AGENT}), packages, "check", "--no-cache", "--output-format", "json")
    assert sorted(codes(done)) == ["BAD101", "GL101"]
    assert "hello" in done.stderr and "there" in done.stderr


def test_a_fix_that_never_settles_is_made_twice(write: Write, tmp_path: Path, own: Own) -> None:
    packages = install(tmp_path / "packages", "bad", {"BAD101": "bad:RULE"})
    (packages / "bad.py").write_text(OWN.format(top="", body=fixing(f"({EDIT},)")))
    project = write({"agent.py": AGENT})
    done = own(project, packages, "check", "--no-cache", "--fix")
    assert done.returncode == 2
    assert (project / "agent.py").read_text().count("# more") == 2
    assert "agent.py: the fix of BAD101 (bad) does not remove its finding" in done.stderr


def test_a_fix_that_breaks_the_file_is_named(write: Write, tmp_path: Path, own: Own) -> None:
    packages = install(tmp_path / "packages", "bad", {"BAD101": "bad:RULE"})
    (packages / "bad.py").write_text(OWN.format(top="", body=fixing("(Edit(Span(1, 1, 1, 1), '(((\\n'),)")))
    project = write({"agent.py": AGENT})
    done = own(project, packages, "check", "--no-cache", "--fix")
    assert (project / "agent.py").read_text() == AGENT
    assert (
        "a fix would have broken this file, so it was not changed (BAD101 of bad, or a defect of gllint)"
        in done.stderr
    )


JSON_TOOL = """\
import json
from langchain_core.tools import tool


# owner: me
@tool
def sites(region: str) -> str:
    '''Say which sites a region has.'''
    first = json.dumps(look_up(region))
    second = json.dumps(
        look_up(region),  # of the region
        indent=None,
    )
    return first + second + json.dumps(region, sort_keys=False) + json.dumps() + yaml.dumps(region)
"""


def test_the_fix_of_an_own_rule_leaves_all_else_as_it_is(write: Write, packages: Path, own: Own) -> None:
    top = write({"agent.py": JSON_TOOL})
    assert codes(own(top, packages, "check", "--output-format", "json")) == ["ACME102"] * 2
    done = own(top, packages, "check", "--fix", "--unsafe-fixes")
    assert done.returncode == 0, done.stdout
    one, two = JSON_TOOL.replace("look_up(region))", "look_up(region), sort_keys=True)"), "indent=None,\n"
    assert (top / "agent.py").read_text() == one.replace(two, f"{two}        sort_keys=True,\n")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "context.matches(context.module.functions[0], 'Call')",
            "context.matches takes a matcher of libcst.matchers",
        ),
        ("context.node(7)", "context.node takes an expression, a function or a class of the module"),
        (
            "context.node(context.project.modules[context.module.path.replace('agent', 'other')].functions[0])",
            "context.node: this Function is no fact of ",
        ),
    ],
)
def test_a_wrong_use_of_nodes_names_the_rule(
    write: Write, tmp_path: Path, own: Own, body: str, message: str
) -> None:
    packages = install(tmp_path / "packages", "bad", {"BAD101": "bad:RULE"})
    (packages / "bad.py").write_text(OWN.format(top="", body=body))
    project = write({"agent.py": AGENT, "other.py": AGENT.replace("rooms", "doors")})
    done = own(project, packages, "check", "--no-cache", "--output-format", "json", "agent.py")
    assert done.returncode == 2 and "GL101" in [entry["code"] for entry in json.loads(done.stdout)]
    assert "the package bad: BAD101 failed on agent.py: " in done.stderr and message in done.stderr
