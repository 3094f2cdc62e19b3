"""What the documentation says about editors is at least well-formed, and names what the server offers."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gllint.server.features import FIX_ALL

PAGE = (Path(__file__).parents[2] / "docs" / "editors.md").read_text("utf-8")
READERS: dict[str, Callable[[str], Any]] = {"json": json.loads, "toml": tomllib.loads}
SNIPPETS = re.findall(r"```(json|toml|lua|elisp)\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("editor", ["VS Code", "Neovim", "Helix", "Emacs", "Zed"])
def test_every_editor_is_told_how_to_start_the_server(editor: str) -> None:
    section = PAGE.split(f"\n## {editor}\n")[1].split("\n## ")[0]
    assert re.search(
        r'"gllint",? "server"|command" ?[:=] ?"gllint"|command = "gllint"|"path": "gllint"|"gllint.path"',
        section,
    )


@pytest.mark.parametrize(("language", "text"), SNIPPETS)
def test_snippets_are_well_formed(language: str, text: str) -> None:
    if language in READERS:
        assert READERS[language](text)
    else:
        assert all(text.count(a) == text.count(b) for a, b in ("()", "[]", "{}"))
    assert set(re.findall(r"source\.fixAll[\w.]*", text)) <= {FIX_ALL}
