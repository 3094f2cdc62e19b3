"""The settings of a project in an agent: read as the linter reads them, refused as it refuses them."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gllint.errors import UsageError
from gllint.files import config
from gllint_runtime import ConfigurationError, Policy, ScriptedProvider, Session, ToolRegistry, ToolRuntime
from gllint_runtime.policy import version
from gllint_runtime.policy.configuration import checked, schema, table_for, table_of
from gllint_runtime.policy.settings import POLICY_KEYS
from gllint_runtime.policy.toml_lines import key_lines

SETTINGS = """
extend-units = ["furlong"]
strict-units = true
unit-packs = ["counts", "time"]
plain-keys = ["*_id"]
plain-kinds = ["index"]
array-paths = true
whitelist-patterns = ["Form \\\\d+"]
number-words = true
mode = "sourced"
designations = true
"""
POLICY = Policy(
    extend_units=["furlong"], strict_units=True, packs=["counts", "time"], plain_keys=["*_id"], plain_kinds=["index"],
    array_paths=True, whitelist=[r"Form \d+"], number_words=True, mode="sourced", designations=True,
)  # fmt: skip


@pytest.fixture
def top(tmp_path: Path) -> Path:
    folder = tmp_path / "project" / "src" / "agent"
    folder.mkdir(parents=True)
    (folder / "main.py").write_text("")
    (tmp_path / "project" / "pyproject.toml").write_text(f"[tool.gllint]{SETTINGS}select = ['GL4']\n")
    return tmp_path / "project"


@pytest.mark.parametrize("place", ["", "src", "src/agent", "src/agent/main.py", "pyproject.toml"])
def test_the_policy_of_a_project(top: Path, place: str) -> None:
    assert Policy.from_project(top / place) == POLICY
    assert Policy.from_project(str(top / place)) == POLICY


def test_every_setting_of_both_moments_is_one() -> None:
    """A key that one moment knows and the other does not would part their verdicts."""
    assert {*POLICY_KEYS.values()} == {*Policy._fields} - {
        "argument_origin",
        "argument_units",
        "origin_kinds",
        "levels",
        "allow_raw_numbers",
        "json_text",
        "render",
        "today",
    }
    assert POLICY_KEYS.keys() <= schema()["properties"].keys()
    assert not {*POLICY_KEYS.values()} & {*config.Config().rules._fields}
    assert not {key.replace("-", "_") for key in POLICY_KEYS} & {*config.Config().rules._fields}


def test_the_program_reads_the_same(top: Path) -> None:
    loaded = config.in_folder(str(top))
    assert loaded is not None and loaded.rules.policy == POLICY
    for key, field in POLICY_KEYS.items():
        assert config.value_of(loaded, key) == getattr(POLICY, field)


def test_the_nearest_configuration_counts(top: Path) -> None:
    (top / "src" / "gllint.toml").write_text("plain-keys = ['page']\n")
    (top / "src" / "pyproject.toml").write_text("[tool.gllint]\nnumber-words = true\n")
    (top / "src" / "agent" / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert Policy.from_project(top / "src" / "agent") == Policy(plain_keys=["page"])
    assert Policy.from_project(top) == POLICY


def test_without_a_configuration_the_defaults_hold(tmp_path: Path) -> None:
    assert Policy.from_project(tmp_path) == Policy()
    (tmp_path / "pyproject.toml").write_text("= somebody else's business")
    assert Policy.from_project(tmp_path) == Policy()


def test_a_program_started_in_the_project_needs_no_path(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(top / "src")
    assert Policy.from_project() == POLICY
    monkeypatch.chdir(top.parent)
    assert Policy.from_project() == Policy()
    assert Policy.from_project("project") == POLICY


WRONG = [
    ("unit-packs = [\n  'counts',\n  'cuonts',\n]", 4, "key 'unit-packs.1' must be one of counts, "),
    ("unit-packs = ['cuonts']", 2, "not 'cuonts'; did you mean 'counts'?"),
    ("# a\n\nplain-kind = ['count']", 4, "unknown key 'plain-kind'; did you mean 'plain-kinds'?"),
    ("select = ['GL1']\nstrict-units = 'yes'", 3, "key 'strict-units' must be true or false, not \"yes\""),
    ("whitelist-patterns = ['(']", 2, "key 'whitelist-patterns.0': '(' is not a valid regular expression"),
    ("plain-keys = 'page'", 2, "key 'plain-keys' must be a list of texts, not \"page\""),
    ("jobs = 0", 2, "key 'jobs' must be at least 1, not 0"),
    ("required-version = '>=99'", 2, "asks for gllint >=99, this is "),
    ("plain-keys = ['a',,]", "2:19", "not valid TOML: "),
    ("[[tool.gllint.frameworks]]\nname = 'x'\n[tool.gllint.severity]\nGL1 = 'warn'", 5, "key 'severity.GL1' must be one of"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "place", "message"), WRONG)
def test_what_is_wrong_is_told_alike_with_its_line(
    tmp_path: Path, text: str, place: object, message: str
) -> None:
    file = tmp_path / "pyproject.toml"
    file.write_text(f"[tool.gllint]\n{text}\n")
    with pytest.raises(ConfigurationError) as at_execution:
        Policy.from_project(tmp_path)
    assert str(at_execution.value).startswith(f"{file}:{place}: ")
    assert message in str(at_execution.value) and "\n" not in str(at_execution.value)
    with pytest.raises(UsageError) as of_the_program:
        config.in_folder(str(tmp_path))
    assert str(of_the_program.value) == str(at_execution.value)


def written(folder: Path, files: dict[str, str | bytes]) -> Path:
    """The first of several files, all of them written."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode() if isinstance(text, str) else text)
    return folder / next(iter(files))


DEEP = "a." * 1000 + "b = 1"
UNFIT: list[tuple[dict[str, str | bytes], str]] = [
    # What cannot be read as TOML.
    ({"gllint.toml": b"\xff\xfea\0"}, "@: not UTF-8 text: save the file as UTF-8"),
    ({"gllint.toml": "[severity]\n[severity]"}, "twice: put its keys under one heading, and remove the other"),
    ({"gllint.toml": "jobs = 1\njobs = 2\n"}, "@:2:9: not valid TOML: Cannot overwrite a value: the key occurs twice; remove one of its lines"),
    ({"gllint.toml": "jobs = \n"}, "@:1:8: not valid TOML: Invalid value"),
    ({"gllint.toml": "#" * 1_000_001}, "@: too large for a configuration: 1000001 bytes (the limit is 1000000)"),
    ({"gllint.toml": DEEP}, "@: a key has too many parts: at most 1000 names joined by dots"),
    # Where the table stands.
    ({"pyproject.toml": "[tool]\ngllint = 5"}, "@:2: key 'tool.gllint' must be a table, not 5"),
    ({"own.toml": "[tool]\ngllint = [1]"}, "@:2: key 'tool.gllint' must be a table, not [1]"),
    ({"gllint.toml": "mine = 1\n[tool.gllint]"}, "@:1: key 'mine' is outside of [tool.gllint], which this file has, too (line 2): take"),
    ({"own.toml": "mine = 1\njobs = 1\n[tool.gllint]"}, "@:2: key 'jobs' is outside of [tool.gllint]"),
    # The shape of what stands in it.
    ({"gllint.toml": "frameworks = 5"}, "@:1: key 'frameworks' must be a list of tables, not 5"),
    ({"gllint.toml": "select = 5"}, "@:1: key 'select' must be a list of texts, not 5"),
    ({"gllint.toml": "baseline = ' '"}, "@:1: key 'baseline' names no file"),
    ({"gllint.toml": "extend = ''"}, "@:1: key 'extend' names no file"),
    ({"gllint.toml": "[guard.a.unit]"}, "@:1: key 'guard.a' must be one of units, not 'unit'; did you mean 'units'?"),
    ({"gllint.toml": "required-version = 'new'"}, "@:1: key 'required-version': 'new' is not a version such as '>=0.1' or '0.1.0'"),
    ({"gllint.toml": "required-version = '0.0.1'"}, "@:1: key 'required-version' asks for gllint 0.0.1, this is "),
    # What it extends.
    ({"gllint.toml": "extend = 'gllint.toml'"}, "@:1: key 'extend': @ extends this file, too, in a circle"),
    ({"gllint.toml": "extend = 'b.toml'", "b.toml": "\nextend = 'gllint.toml'"}, "b.toml:2: key 'extend': @ extends this file, too, in a circle"),
    ({"gllint.toml": "extend = 'no.toml'"}, "no.toml is not a file"),
    ({"gllint.toml": "extend = '//server/share/base.toml'"}, "@:1: key 'extend' must name a file on this machine"),
    ({"gllint.toml": "extend = 'b.toml'", "b.toml": "jobs = 0"}, "b.toml:1: key 'jobs' must be at least 1, not 0"),
    ({"gllint.toml": "extend = 'b0.toml'", **{f"b{i}.toml": f"extend = 'b{i + 1}.toml'" for i in range(17)}}, "b15.toml:1: key 'extend': more than 16 files extend each other"),
]  # fmt: skip


@pytest.mark.parametrize(("files", "message"), UNFIT)
def test_a_file_of_no_use_is_told(tmp_path: Path, files: dict[str, str | bytes], message: str) -> None:
    file = written(tmp_path, files)
    with pytest.raises(ConfigurationError) as caught:
        table_for(str(file))
    assert message.replace("@", str(file)) in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("files", "settings"),
    [
        ({"gllint.toml": "jobs = 1\ncache-dir = ''"}, {"jobs": 1, "cache-dir": ""}),
        ({"gllint.toml": "jobs = 2\n#" + "x" * 999_990}, {"jobs": 2}),
        ({"gllint.toml": "[tool.gllint]\njobs = 3\n[tool.other]"}, {"jobs": 3}),
        ({"own.toml": "mine = 1\n[tool.gllint]\njobs = 4"}, {"jobs": 4}),
        ({"gllint.toml": "[guard.a.units]\nb = 'm'"}, {"guard": {"a": {"units": {"b": "m"}}}}),
        (
            {"gllint.toml": "baseline = 'a\\b.json'\npython = 'a/b'"},
            {"baseline": "a/b.json", "python": "a/b"},
        ),
        (
            {"gllint.toml": f"required-version = ' {version.__version__} '"},
            {"required-version": f" {version.__version__} "},
        ),
        (
            {
                "gllint.toml": "extend = 'base\\b.toml'\nextend-units = ['perch']\njobs = 5\npython = 'p'",
                "base/b.toml": "extend = '../c.toml'\nextend-units = ['rod']\njobs = 6\nbaseline = 'b.json'",
                "c.toml": "extend-units = ['ell']\nunit-packs = ['time']\npython = 'q'",
            },
            {
                "extend": "base/b.toml",
                "extend-units": ["perch", "rod", "ell"],
                "unit-packs": ["time"],
                "jobs": 5,
                "python": "p",
                "baseline": "@/base/b.json",
            },
        ),
        (
            {"gllint.toml": "extend = 'b.toml'", "b.toml": "python = 'q'"},
            {"extend": "b.toml", "python": "@/q"},
        ),
        (
            {"a.toml": "extend = 'b0.toml'", "b15.toml": "jobs = 7"}
            | {f"b{i}.toml": f"extend = 'b{i + 1}.toml'" for i in range(15)},
            {"extend": "b0.toml", "jobs": 7},
        ),
    ],
)
def test_the_settings_in_force(
    tmp_path: Path, files: dict[str, str | bytes], settings: dict[str, Any]
) -> None:
    table = table_for(str(written(tmp_path, files)))
    assert table is not None
    texts = {key: value.replace("@", str(tmp_path)) for key, value in settings.items() if type(value) is str}
    assert table.entries == settings | texts


def test_which_file_a_setting_came_from(tmp_path: Path) -> None:
    base = "plain-keys = ['a']\n\nextend-units = ['ell']"
    file = written(tmp_path, {"gllint.toml": "# a\nextend = 'b.toml'\nextend-units = []", "b.toml": base})
    table, origin = table_for(str(file)), str(tmp_path / "b.toml")
    assert table is not None
    assert table.origins == {"plain-keys": origin, "extend-units": str(file), "extend": str(file)}
    assert str(table.error("x")) == f"{file}: x"
    assert str(table.error("x", "extend-units")) == f"{file}:3: x"
    assert str(table.error("x", "plain-keys")) == f"{origin}:1: x"


def test_a_file_of_another_machine_may_extend_one_beside_it(tmp_path: Path) -> None:
    file = written(tmp_path, {"a/gllint.toml": "extend = '../b/c.toml'", "b/c.toml": "jobs = 3"})
    assert checked(table_of(f"/{file}")).entries["jobs"] == 3


def test_a_version_before_its_release_is_one_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(version, "__version__", "0.3.0a1")
    assert table_for(str(written(tmp_path, {"gllint.toml": "required-version = '>=0.2'"}))) is not None


def test_a_place_that_is_none_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="nowhere: no such file or folder; name one of the project"):
        Policy.from_project(tmp_path / "nowhere")
    with pytest.raises(ConfigurationError, match=r"gllint\.toml: cannot be read: No such file"):
        Policy.from_project(tmp_path / "gllint.toml")
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    with pytest.raises(ConfigurationError, match=r"pyproject\.toml: has no table \[tool\.gllint\]"):
        Policy.from_project(tmp_path / "pyproject.toml")


def test_the_runtime_reads_a_project_without_the_linter(top: Path) -> None:
    code = (
        "import json, sys; from gllint_runtime import Policy; "
        f"policy = Policy.from_project({str(top)!r}); "
        "print(json.dumps([*policy.packs])); "
        "print(json.dumps([name for name in sys.modules if name.split('.')[0] in "
        "('libcst', 'click', 'flake8', 'jsonschema', 'pint', 'gllint', 'gllint_rules')]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert [json.loads(line) for line in done.stdout.splitlines()] == [["counts", "time"], []]


def test_a_policy_in_a_session_and_a_registry() -> None:
    session = Session(policy=POLICY, argument_origin="strict", packs=["counts"])
    assert session.policy == POLICY.with_settings(argument_origin="strict", packs=("counts",))
    assert session.units.is_allowed("furlong") and not session.units.is_allowed("kWh/year")
    registry = ToolRegistry(policy=POLICY)
    runtime = ToolRuntime(ScriptedProvider([]), registry, number_words=False)
    assert registry.policy == POLICY and runtime.policy == POLICY.with_settings(number_words=False)
    assert Session.from_json(session.to_json(), policy=session.policy).policy == session.policy
    for make in (Session, ToolRegistry):
        with pytest.raises(TypeError, match="policy must be a Policy, not dict"):
            make(policy={"packs": ["counts"]})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("setting", "error", "message"),
    [
        ({"packs": ["cuonts"]}, ValueError, r"packs\.0 must be one of counts, .*; did you mean 'counts'\?"),
        ({"packs": "counts"}, TypeError, "packs must be a list of texts, not \"counts\""),
        ({"packs": 3}, TypeError, "packs must be a list of texts, not 3"),
        ({"plain_keys": [b"a"]}, TypeError, r"plain_keys\.0 must be a string"),
        ({"strict_units": 1}, TypeError, "strict_units must be true or false, not 1"),
        ({"argument_origin": "loose"}, ValueError, "argument_origin must be one of off, record, strict, not 'loose'"),
        ({"allow_raw_numbers": None}, TypeError, "allow_raw_numbers must be true or false, not null"),
        ({"plain_keys": 10**5000}, TypeError, "plain_keys has a value of the wrong type; see gllint config --schema"),
        ({"levels": "loud"}, ValueError, "levels: 'loud' is not a level; the levels are block, warn, shadow"),
        ({"levels": [("ARGUMENT_UNIT", "loud")]}, ValueError, "levels: 'loud' is not a level"),
        ({"levels": 5}, TypeError, "levels must be a level, or a mapping of codes to levels, got 5"),
        ({"levels": {"NO_SUCH": "warn"}}, ValueError, "levels: unknown code 'NO_SUCH'"),
        ({"levels": {"EGRESS_BLOCKED": "warn"}}, ValueError, "levels: EGRESS_BLOCKED always blocks"),
        ({"unit_packs": []}, TypeError, "no field 'unit_packs'; its fields are extend_units"),
    ],
)  # fmt: skip
def test_a_setting_of_no_use_is_told(setting: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Policy(**setting)
    with pytest.raises(error, match=message):
        POLICY.with_settings(**setting)


def test_what_a_violation_does() -> None:
    some = Policy(levels=[("MAX_STEPS", "warn"), ("EGRESS_BLOCKED", "block")])  # type: ignore[arg-type]
    assert some == Policy(levels={"EGRESS_BLOCKED": "block", "MAX_STEPS": "warn"})
    assert [some.level(code) for code in ("MAX_STEPS", "BASIS", "EGRESS_BLOCKED")] == [
        "warn",
        "block",
        "block",
    ]
    assert [Policy(levels="shadow").level(code) for code in ("BASIS", "EGRESS_BLOCKED")] == [
        "shadow",
        "block",
    ]
    assert Policy().level("BASIS") == "block"


def test_what_a_policy_says_of_keys_and_units() -> None:
    policy = Policy(plain_keys=["*_id"], plain_kinds=["count"], packs=["counts"], extend_units=["furlong"])
    said = [policy.is_plain(key) for key in ("user_id", "row_count", "heat", 5)]
    assert said == [True, True, False, False]
    assert Policy(plain_kinds=["count"]).is_plain("row_count") and not Policy.seeds().is_plain("row_count")
    assert Policy().is_plain("row_count") and not Policy().is_plain("row_count", 2.5)
    assert [policy.allows(unit) for unit in ("furlong", "rows", "row")] == [True, False, True]
    assert [each.judge("furlong").status == "allowed" for each in (policy, Policy())] == [True, False]
    assert "row" in policy.pack_symbols() and Policy().pack_symbols() == frozenset()


def test_a_policy_is_frozen_and_crosses_processes() -> None:
    with pytest.raises(AttributeError):
        POLICY.packs = ()  # type: ignore[misc]
    assert pickle.loads(pickle.dumps(POLICY)) == POLICY
    assert hash(POLICY) == hash(POLICY.with_settings())
    assert Policy(packs={"time"}).packs == ("time",)


LINES = '''
a = 1  # [x]
b.c = """
k = 2
"""
[tool.gllint]  # c = 1
"quoted \\" k" = [
  "x",  # ,
  ["y", "z"],
  {a = [1]},
  \'\'\'
= [
\'\'\',
  "end",
]
d = {e = 1}
[[ tool . gllint."rows" ]]
name = 'x'
[[tool.gllint.rows]]
name = 'y'
'''


def test_the_lines_of_keys() -> None:
    lines = {".".join(key): line for key, line in key_lines(LINES).items()}
    assert lines == {
        "a": 2, "b": 3, "b.c": 3, "tool": 6, "tool.gllint": 6, 'tool.gllint.quoted " k': 7,
        'tool.gllint.quoted " k.0': 8, 'tool.gllint.quoted " k.1': 9, 'tool.gllint.quoted " k.2': 10,
        'tool.gllint.quoted " k.3': 11, 'tool.gllint.quoted " k.4': 14, "tool.gllint.d": 16, "tool.gllint.rows": 17,
        "tool.gllint.rows.0": 17, "tool.gllint.rows.0.name": 18, "tool.gllint.rows.1": 19, "tool.gllint.rows.1.name": 20,
    }  # fmt: skip


def test_our_own_configuration_is_one_table() -> None:
    table = table_of(str(Path(__file__).parents[2] / "pyproject.toml"))
    assert table.error("x", "select").args[0].rpartition(": ")[2] == "x"
