"""The documentation is what the program says of itself."""

from __future__ import annotations

import html
import importlib.util
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

import gllint
from gllint.cli.commands import cli
from gllint.files.config import schema
from gllint_rules import RULES

REPOSITORY = Path(__file__).parents[1]
README = REPOSITORY / "README.md"
DOCUMENTS = [
    README,
    *(REPOSITORY / name for name in ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "examples/README.md")),
]
DOCUMENTS += sorted((REPOSITORY / "docs").rglob("*.md"))


def test_generated_documents_are_up_to_date() -> None:
    spec = importlib.util.spec_from_file_location("generate", REPOSITORY / "tools" / "generate.py")
    assert spec is not None and spec.loader is not None
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    wanted = generate.documents()
    stale = [
        path.name for path, text in wanted.items() if not path.is_file() or path.read_text("utf-8") != text
    ]
    assert stale == [], "run: python tools/generate.py"
    for folder in ("rules", "gate"):
        assert set((REPOSITORY / "docs" / folder).glob("*.md")) <= set(wanted)


def test_the_picture_of_a_terminal_shows_what_the_command_prints() -> None:
    picture = (REPOSITORY / "docs" / "pictures" / "check.svg").read_text("utf-8")
    shown = "".join(html.unescape(text) for text in re.findall(r"<text[^>]*>([^<]*)</text>", picture))
    command = re.search(r"\$ gllint (check [\w./-]+ --select GL101)", shown.replace("\xa0", " "))
    assert command is not None
    done = subprocess.run(
        [sys.executable, "-m", "gllint", *command[1].split(), "--no-cache"],
        cwd=REPOSITORY / "examples" / "building-energy",
        env={key: value for key, value in os.environ.items() if key != "FORCE_COLOR"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    written = "".join(shown.split()).partition(command[1].replace(" ", ""))[2]
    assert written == "".join(done.stdout.split()), "run: python tools/pictures.py"


def test_the_picture_of_a_hook_shows_what_it_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    picture = (REPOSITORY / "docs" / "pictures" / "hook.svg").read_text("utf-8")
    shown = "".join(html.unescape(text) for text in re.findall(r"<text[^>]*>([^<]*)</text>", picture))
    event = re.search(r"echo '([^']*)'", shown.replace("\xa0", " "))
    assert event is not None
    monkeypatch.chdir(REPOSITORY / "examples" / "building-energy")
    monkeypatch.delenv("CLAUDE_PROJECT_DIR", raising=False)
    done = CliRunner().invoke(cli, ["hook", "claude-code"], input=event[1])
    answer = "".join(f"claude-code{done.stderr}$ echo $?{done.exit_code}".split())
    assert "".join(shown.split()).endswith(answer), "run: python tools/pictures.py"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(REPOSITORY).as_posix())
def test_links_lead_somewhere(path: Path) -> None:
    text = path.read_text("utf-8")
    for target, _, anchor in (
        link.partition("#") for link in re.findall(r"\]\((?!https?:)([^)\s]+)\)", text)
    ):
        linked = (path.parent / target).resolve() if target else path
        assert linked.exists(), target
        if anchor:
            titles = re.findall(r"^#+ (.+)$", linked.read_text("utf-8"), re.MULTILINE)
            assert anchor in [re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-") for title in titles]


def test_commands_of_the_readme_exist() -> None:
    commands = set(re.findall(r"^\$ gllint (\w+)", README.read_text("utf-8"), re.MULTILINE))
    assert {"check", "rule", "units"} <= commands
    for command in commands:
        done = subprocess.run(
            [sys.executable, "-m", "gllint", command, "--help"], capture_output=True, check=False
        )
        assert done.returncode == 0, command


def test_options_named_in_documents_exist() -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "gllint", "check", "--help"], capture_output=True, encoding="utf-8", check=True
    ).stdout
    for path in DOCUMENTS:
        for line in re.findall(r"^.*gllint check.*$", path.read_text("utf-8"), re.MULTILINE):
            for option in re.findall(r"(?<!\S)--[a-z-]+", line.partition("gllint check")[2]):
                assert option in shown, f"{path.name}: {option}"


def test_configuration_examples_have_known_keys() -> None:
    for path in DOCUMENTS:
        for block in re.findall(r"^```toml\n(.*?)^```$", path.read_text("utf-8"), re.MULTILINE | re.DOTALL):
            table = tomllib.loads(block).get("tool", {}).get("gllint", {})
            assert set(table) <= set(schema()["properties"]), path


def test_changelog_has_the_version_and_every_rule_by_name() -> None:
    text = (REPOSITORY / "CHANGELOG.md").read_text("utf-8")
    assert re.search(rf"^## {re.escape(gllint.__version__)}\b", text, re.MULTILINE)
    missing = [r.code for r in RULES.values() if not re.search(rf"\b{r.code}\s`{r.name}`", text)]
    assert missing == []


def test_readme_names_the_commands_that_ci_and_newcomers_run() -> None:
    """One line each: installs and shows findings; installs and runs the tests (`.ci/run` takes it from here)."""
    lines = [line for line in README.read_text("utf-8").splitlines() if line.startswith("python3 -m venv ")]
    assert len(lines) == 2
    assert lines[0].endswith("gllint check examples/building-energy")
    assert "'.[test]'" in lines[1] and lines[1].endswith("pytest")


def test_what_ci_fetches_is_pinned() -> None:
    used = []
    for path in (REPOSITORY / "action.yml", *(REPOSITORY / ".github" / "workflows").glob("*.yml")):
        used += re.findall(r"uses: (?!\./)(\S+)", path.read_text("utf-8"))  # ./: of this repository
    assert len(used) >= 8
    assert [name for name in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", name)] == []


def test_the_readme_of_a_release_has_no_relative_links(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyPI shows the readme without the checkout."""
    pytest.importorskip("hatchling")
    spec = importlib.util.spec_from_file_location("hatch_build", REPOSITORY / "hatch_build.py")
    assert spec is not None and spec.loader is not None
    build = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build)
    relative_link = re.compile(r'\]\((?!https:)|src="(?!https:)')
    for address, has_relative in (("", True), ("https://code.example/gllint", False)):
        monkeypatch.setenv("GLLINT_REPOSITORY", address)
        metadata = {"version": "1.2.3"}
        build.Addresses(str(REPOSITORY), {}).update(metadata)
        assert bool(relative_link.search(metadata["readme"]["text"])) == has_relative
        assert ("urls" in metadata) != has_relative
