"""The extension for VS Code: what can be said of it without an editor. Its own build checks its types."""

from __future__ import annotations

import json
import re
from pathlib import Path

from gllint import __version__

FOLDER = Path(__file__).parents[2] / "editors" / "vscode"
MANIFEST = json.loads((FOLDER / "package.json").read_text())


def test_it_has_the_version_of_gllint_and_bundles_the_language_client_alone() -> None:
    lock = json.loads((FOLDER / "package-lock.json").read_text())
    assert MANIFEST["version"] == lock["version"] == lock["packages"][""]["version"] == __version__
    assert list(MANIFEST["dependencies"]) == ["vscode-languageclient"]
    assert not any("resolved" in package for package in lock["packages"].values())
    assert all("integrity" in package for name, package in lock["packages"].items() if name)


def test_every_setting_and_command_is_declared_used_and_documented() -> None:
    source = "".join(path.read_text() for path in sorted((FOLDER / "src").iterdir()))
    readme = (FOLDER / "README.md").read_text()
    declared = MANIFEST["contributes"]["configuration"]["properties"]
    assert set(re.findall(r"`(gllint\.[a-z.]+)`", readme)) - {"gllint.vsix"} == set(declared)
    for name in declared.keys() - {"gllint.trace.server"}:  # which the language client reads itself
        assert f'"{name}"' in source and f'"{name.removeprefix("gllint.")}"' in source
    for command in MANIFEST["contributes"]["commands"]:
        assert (
            f'"{command["command"]}"' in source and f"`{command['category']}: {command['title']}`" in readme
        )


def test_its_pictures_are_those_of_the_documentation_and_are_packed() -> None:
    pictures = re.findall(r"\]\((pictures/[^)]+)\)", (FOLDER / "README.md").read_text())
    assert pictures and set(pictures) <= set(MANIFEST["files"])
    documentation = FOLDER.parents[1] / "docs"
    assert all((FOLDER / path).read_bytes() == (documentation / path).read_bytes() for path in pictures)
