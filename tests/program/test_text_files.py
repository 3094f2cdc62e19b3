"""Templates that are no Python: which are looked at, what suppresses findings there, what is told of the others."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from gllint.files.source import changed
from gllint.run import fixer, index
from gllint.run.engine import Engine, Options, Outcome
from gllint.server.live import LiveEngine
from gllint.verdict import text_comments
from gllint.verdict.suppress import apply
from gllint.verdict.text_comments import comments_of, suppressing_text
from gllint_rules import RULES, Finding, Span
from gllint_rules.reading.positions import positions_of
from gllint_rules.reading.text_files import read_text_module

CODES = frozenset(code for code, rule in RULES.items() if rule.default)
READER = "from pathlib import Path\nFINAL_MESSAGE = Path('prompts/final.j2').read_text()\n"
Write = Callable[[Mapping[str, str]], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(files: Mapping[str, str]) -> Path:
        for name, text in {"pyproject.toml": "", **files}.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode("utf-8", "surrogateescape"))
        return tmp_path

    return write


def check(*paths: Path, cache: bool = False) -> Outcome:
    return Engine(Options(cache=cache, jobs=1)).check([str(path) for path in paths])


def found(outcome: Outcome) -> list[str]:
    return [f"{os.path.basename(f.path)}:{f.span.line}:{f.span.column} {f.code}" for f in outcome.findings]


def test_a_template_is_told_with_its_reader_its_folder_and_by_its_name(write: Write) -> None:
    root = write({"src/a.py": READER, "prompts/final.j2": "It drew\n40 kW.\n", "other.py": "x = 1\n"})
    told = ["final.j2:2:1 GL401"]
    for paths in (
        [root],
        [root / "src"],
        [root / "src/a.py"],
        [root / "prompts"],
        [root / "prompts/final.j2"],
    ):
        assert found(check(*paths)) == told, paths
    assert found(check(root / "other.py")) == []


def test_the_cache_knows_the_bytes_of_a_template(write: Write) -> None:
    root = write({"a.py": READER, "prompts/final.j2": "It drew much. {# gllint: ignore[GL401] old #}\n"})
    (root / ".git").mkdir()
    for text, told in (
        (None, ["final.j2:1:16 GL901"]),
        (None, ["final.j2:1:16 GL901"]),
        ("It drew 5.", ["final.j2:1:9 GL401"]),
        ("", []),
    ):
        if text is not None:
            (root / "prompts/final.j2").write_text(text)
        assert found(check(root, cache=True)) == told
    (root / "prompts/final.j2").unlink()
    assert found(check(root, cache=True)) == []
    write({"prompts/final.j2": "It drew 5."})
    assert found(check(root, cache=True)) == ["final.j2:1:9 GL401"]


def test_the_places_of_a_text_are_worked_out_once() -> None:
    """Else a template takes time with its length for each finding in it."""
    positions = positions_of(read_text_module("/project/final.md", "It drew 5 kWh."))
    assert positions.characters(0) is positions.characters(0)


def test_per_file_ignores_and_excludes(write: Write) -> None:
    root = write({"a.py": READER, "prompts/final.j2": "40 kW"})
    (root / "gllint.toml").write_text('[per-file-ignores]\n"prompts/*" = ["GL401"]\n')
    assert found(check(root)) == []
    (root / "gllint.toml").write_text('extend-exclude = ["prompts"]\n')
    assert found(check(root)) == []
    assert found(check(root / "a.py")) == []


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("\udcff 5 kW", "not utf-8 text: invalid start byte, line 1"),
        ("5 \0 kW", "not text: it contains a null byte, line 1"),
        ("5 kW " * 300_000, "too large to read: 1,500,000 bytes (the limit is 1,000,000)"),
    ],
)
def test_what_is_not_read_is_told(write: Write, content: str, why: str) -> None:
    root = write({"a.py": READER, "prompts/final.j2": content})
    outcome = check(root)
    assert found(outcome) == []
    [notice] = outcome.notices
    assert notice.text(os.path.basename) == f"1 file not checked: final.j2 ({why})"


def test_what_could_be_read_is_not_read_again(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = "from pathlib import Path\nFINAL_MESSAGE = Path('broken.j2').read_text()\n"
    root = write({"a.py": READER, "b.py": broken, "prompts/final.j2": "40 kW", "broken.j2": "5 \0 kW"})
    first = check(root, cache=True)
    texts: list[str] = []

    def parse(path: str, *rest: object) -> object:
        texts.append(os.path.basename(path))
        return original(path, *rest)  # type: ignore[arg-type]

    original = index.parse
    monkeypatch.setattr(index, "parse", parse)
    again = check(root, cache=True)
    assert texts == ["broken.j2"]
    assert again.notices == first.notices and len(first.notices) == 1
    assert found(again) == found(first)


def test_a_link_out_of_the_project_is_not_followed(write: Write, tmp_path: Path) -> None:
    root = write({"project/gllint.toml": "", "project/a.py": READER, "secret.txt": "5 kW"}) / "project"
    (root / "prompts").mkdir()
    (root / "prompts/final.j2").symlink_to(tmp_path / "secret.txt")
    outcome = check(root)
    assert found(outcome) == []
    [notice] = outcome.notices
    assert "a link leads out of the project" in notice.text(os.path.basename)


def test_data_that_cannot_be_read_are_told(write: Write) -> None:
    reader = "import json, yaml\nA = yaml.safe_load(open('final.yaml'))\nB = json.load(open('final.json'))\n"
    nested = "[" * 300 + "]" * 300
    outcome = check(write({"a.py": reader, "final.yaml": "a: [1\n b: {", "final.json": nested}))
    [notice] = outcome.notices
    assert notice.text(os.path.basename) == (
        "2 files not checked: final.json (is nested more than 200 levels deep, line 1), "
        "final.yaml (is no YAML, line 2)"
    )


def test_a_template_that_nobody_reads_is_told_where_it_is_named(write: Write) -> None:
    root = write({"a.py": "x = 1\n", "notes.md": "5 kW"})
    assert check(root).notices == []
    [notice] = check(root / "notes.md").notices
    assert notice.text(os.path.basename) == ("1 file not checked, no Python code loads it: notes.md")


# --- suppressions --------------------------------------------------------------------------------------------


def left(name: str, text: str, *lines: int) -> list[str]:
    path = f"/{name}"
    findings = [Finding("GL401", path, Span(line, 1, line, 2), "m") for line in lines]
    return [f"{f.span.line} {f.code}" for f in apply(path, comments_of(path, text), findings, CODES)]


@pytest.mark.parametrize(
    ("name", "text", "lines"),
    [
        ("a.j2", "5 {# gllint: ignore[GL401] why #}\n", [1]),
        ("a.j2", "{# gllint: ignore[GL401] #}\n5\n", [2]),
        ("a.j2", "{# gllint: ignore[GL401]\n why #}\n\n{# more #}\n5\n", [5]),
        (
            "a.j2",
            "{# gllint: disable[GL4] #}\n5\n{# gllint: enable[GL4] #}\n6 {# gllint: ignore[GL401] #}",
            [2, 4],
        ),
        ("a.md", "5 <!-- gllint: ignore[GL401] why -->\n", [1]),
        ("a.md", "<!-- gllint: ignore[naked-number] why -->\n5\n", [2]),
        ("a.md", "<!-- gllint: ignore-file[GL401] -->\n5\n6\n", [2, 3]),
        ("a.yaml", "a: 5 b  # gllint: ignore[GL401] why\n", [1]),
        ("a.yaml", "# gllint: ignore[GL401]\na: |\n  5\n\n  6\nb: x\n", [3, 5]),
        ("a.yaml", "a: >-  # gllint: ignore[GL401]\n  5\n  6\n", [2, 3]),
        ("a.yaml", "a:\n  # gllint: ignore[GL401]\n  - 'b\n     6'\n", [4]),
    ],
)
def test_what_suppresses(name: str, text: str, lines: list[int]) -> None:
    assert left(name, text, *lines) == []
    assert left(name, text)[0].endswith("GL901")


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.txt", "{# gllint: ignore[GL401] #} 5\n", ["1 GL401"]),
        ("a.json", '"# gllint: ignore[GL401] 5"\n', ["1 GL401"]),
        ("a.yaml", "a: |\n  # gllint: ignore[GL401]\nb: 5\n", ["3 GL401"]),
        ("a.yaml", "a: '# gllint: ignore[GL401]'\n", ["1 GL401"]),
        ("a.j2", "{# gllint: ignore[GL403] #}\n5\n", ["2 GL401", "1 GL901"]),
        ("a.j2", "{# gllint: ignore[GL401] #}\nx\n5\n", ["3 GL401", "1 GL901"]),
        ("a.j2", "{# gllint: ignore[GL401] and no end\n5\n", ["2 GL401"]),
        ("a.md", "<!-- gllint: ignore GL401 -->\n5\n", ["2 GL401", "1 GL902"]),
    ],
)
def test_what_does_not(name: str, text: str, told: list[str]) -> None:
    line = next(n for n, body in enumerate(text.split("\n"), 1) if "5" in body or "'#" in body)
    assert left(name, text, line) == told


def test_each_line_is_looked_at_once_for_many_comments(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    begins = text_comments._begins_with_comment
    monkeypatch.setattr(
        text_comments, "_begins_with_comment", lambda text: calls.append(text) or begins(text)
    )
    text = "{# gllint: ignore[GL401] x #}\n" * 200 + "5\n"
    assert left("a.j2", text, 201) == []
    assert len(calls) == 200


def test_a_help_shows_the_comment_of_the_kind_of_file() -> None:
    text = "<!-- gllint: ignore GL401 -->"
    [finding] = apply("/a.md", comments_of("/a.md", text), (), CODES)
    assert finding.help == "Write `<!-- gllint: ignore[GL401] reason -->`."
    assert finding.fix is None


@pytest.mark.parametrize(
    ("name", "text", "line", "result"),
    [
        ("a.j2", "x\n5 kW\n", 2, "x\n5 kW {# gllint: ignore[GL401] #}\n"),
        ("a.md", "5 kW", 1, "5 kW <!-- gllint: ignore[GL401] -->"),
        ("a.yaml", "a:\n  b: |\n    x\n    5\n", 4, "a:\n  # gllint: ignore[GL401]\n  b: |\n    x\n    5\n"),
        ("a.yml", "a: 5 kW\n", 1, "# gllint: ignore[GL401]\na: 5 kW\n"),
        ("a.txt", "5 kW\n", 1, "5 kW\n"),
        ("a.json", '{"a": "5 kW"}', 1, '{"a": "5 kW"}'),
    ],
)
def test_a_suppression_is_written(name: str, text: str, line: int, result: str) -> None:
    path = f"/{name}"
    finding = Finding("GL401", path, Span(line, 1, line, 2), "m")
    assert changed(text, suppressing_text(path, text, [finding])) == result
    if result != text:
        shifted = finding._replace(span=Span(line + result.count("\n") - text.count("\n"), 1, line + 1, 2))
        assert apply(path, comments_of(path, result), [shifted], CODES) == ()


def test_an_unused_suppression_is_taken_out(write: Write) -> None:
    text = "{# gllint: ignore[GL401] old #}\nIt drew much. {# gllint: ignore[GL401] #}\nx\n"
    root = write({"a.py": READER, "prompts/final.j2": text})
    engine = Engine(Options(cache=False, jobs=1))
    fixed = fixer.fix(engine, [str(root)], unsafe=False)
    assert fixed.errors == []
    assert [data.decode() for data in fixed.new_data.values()] == ["It drew much.\nx\n"]


# --- in the editor -------------------------------------------------------------------------------------------


def test_an_editor_follows_a_template_and_its_reader(write: Write) -> None:
    root = write({"a.py": READER, "prompts/final.j2": "It drew 5 kW."})
    engine = LiveEngine(Options(cache=False, jobs=1))
    live = engine.live(engine.places.project(str(root)))
    live.load()
    template, reader = str(root / "prompts/final.j2"), str(root / "a.py")

    def told(path: str) -> list[str]:
        return found(engine.conclude(path))

    assert told(template) == ["final.j2:1:9 GL401"]
    assert told(reader) == []
    engine.put(template, b"much\n 67 {# gllint: ignore[GL403] #}")
    assert told(template) == ["final.j2:2:2 GL401", "final.j2:2:6 GL901"]
    assert list(live.caused([reader])) == [template]
    engine.put(template, b"\xff")
    assert told(template) == []
    engine.put(template, b"6")
    assert told(template) == ["final.j2:1:1 GL401"]
    engine.put(reader, READER.replace("FINAL_MESSAGE", "NOTES").encode())
    assert told(template) == []
    engine.put(reader, READER.encode())
    assert told(template) == ["final.j2:1:1 GL401"]
    engine.sources.drop(template)
    live.changed(template)
    assert told(template) == ["final.j2:1:9 GL401"]
    (root / "prompts/final.j2").unlink()
    assert live.written(template)
    assert told(template) == []
    (root / "prompts/final.j2").write_text("now 10")
    assert live.written(template)
    assert told(template) == ["final.j2:1:5 GL401"]
