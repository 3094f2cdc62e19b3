"""A file that is too large to be read: what an edit of it costs, and what becomes of it once it is small again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gllint.run import parsing
from gllint.server.live import LiveEngine, LiveWorkspace
from gllint.server.session import Session
from gllint.server.texts import Snapshot

TOOL = "from agents import function_tool\n\n\n@function_tool\ndef f(x):\n    return {'a': 5}\n"


class Silent:
    """An editor that listens to nothing."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return lambda *_: lambda *_: None


@pytest.fixture
def edits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[str]]:
    """Give the one open file another text, and return the codes found in it."""
    monkeypatch.setattr(parsing, "MAX_BYTES", 1_000)
    (tmp_path / "a.py").write_text(TOOL)
    session, path = Session(Silent()), str(tmp_path / "a.py")
    session.add_folder(str(tmp_path))

    def edit(text: str) -> list[str]:
        session.put(path, Snapshot(f"file://{path}", text, 1, "utf-16"))
        found = session.findings(path)
        assert found is not None and found.snapshot.text == text
        return [finding.code for finding in found.findings]

    return edit


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is done with a text that was edited."""
    done: list[str] = []

    def note(owner: object, name: str) -> None:
        function = getattr(owner, name)

        def noted(*arguments: Any, **options: Any) -> Any:
            done.append(name)
            return function(*arguments, **options)

        monkeypatch.setattr(owner, name, noted)

    note(parsing, "_judge")
    note(LiveWorkspace, "changed")
    note(LiveEngine, "conclude")
    return done


def test_an_edit_of_what_is_too_large_costs_nothing(
    edits: Callable[[str], list[str]], work: list[str]
) -> None:
    large = TOOL + "# what is there\n" * 100
    assert edits(large) == ["GL900"]
    assert work
    work.clear()
    for number in range(5):
        assert edits(large + "#" * number) == ["GL900"]
    assert work == []


def test_what_becomes_small_again_is_read(edits: Callable[[str], list[str]]) -> None:
    large = TOOL + "# what is there\n" * 100
    assert edits(TOOL) == ["GL101"]
    assert edits(large) == ["GL900"]
    assert edits(large + "#") == ["GL900"]
    assert edits(TOOL + "#") == ["GL101"]
