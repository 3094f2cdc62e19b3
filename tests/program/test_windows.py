"""What Windows lacks, and how its paths look: simulated, since the tests run elsewhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gllint.files.writing import write_atomically
from gllint.report import sarif


@pytest.mark.parametrize("missing", [("fchmod",), ("fchmod", "fchown", "O_TMPFILE", "O_DIRECTORY")])
def test_a_file_is_rewritten_without_what_only_posix_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: tuple[str, ...]
) -> None:
    path = tmp_path / "agent.py"
    path.write_bytes(b"x = 1\r\n")
    for name in missing:
        monkeypatch.delattr(os, name)
    write_atomically(str(path), b"x = 2\r\n")
    assert path.read_bytes() == b"x = 2\r\n"
    assert os.listdir(tmp_path) == ["agent.py"]


def test_processes_go_on_without_nice() -> None:
    for name in ("gllint/run/project_processes.py", "gllint/server/indexing.py"):
        lines = (Path(__file__).parents[2] / name).read_text("utf-8").splitlines()
        [at] = [number for number, line in enumerate(lines) if "os.nice(" in line]
        assert "AttributeError" in lines[at - 1]


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("src/my agent.py", "src/my%20agent.py"),
        ("/home/a b.py", "file:///home/a%20b.py"),
        ("C:/house/a b.py", "file:///C:/house/a%20b.py"),
        ("//server/share/a.py", "file://server/share/a.py"),
        ("c:file.py", "c%3Afile.py"),
    ],
)
def test_paths_of_sarif(path: str, uri: str) -> None:
    assert sarif._uri(path) == uri
