"""Take the pictures of the README and the site anew, from real runs: ``python tools/pictures.py``.

Terminals become SVG through rich, which is installed for this alone, pages PNG through a headless Chromium.
"""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text
from story import story

REPOSITORY = Path(__file__).resolve().parents[1]
PICTURES = REPOSITORY / "docs" / "pictures"
EXAMPLE = REPOSITORY / "examples" / "building-energy"
_WIDTH, _NARROW = 118, 88
# The letters of whoever looks, not those of another server.
_FORMAT = re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL).replace(
    "Fira Code", "ui-monospace, Menlo, Consolas"
)


def terminal(*arguments: str) -> str:
    """Return the picture of a terminal with the output of ``gllint``, as SVG."""
    command = [sys.executable, "-m", "gllint", *arguments, "--no-cache"]
    environment = {**os.environ, "FORCE_COLOR": "1", "PYTHONUTF8": "1"}
    done = subprocess.run(command, cwd=EXAMPLE, env=environment, stdout=subprocess.PIPE, check=False)
    console = Console(
        record=True, width=_WIDTH, file=io.StringIO(), force_terminal=True, color_system="truecolor"
    )
    console.print(Text(f"$ gllint {' '.join(arguments)}"))
    console.print(Text.from_ansi(done.stdout.decode()), end="")
    console.print()  # the picture ends within its last line
    return console.export_svg(title="gllint", code_format=_FORMAT, unique_id="gllint")


def check() -> str:
    """Return the picture of a terminal in the README."""
    return terminal("check", "advisor/heating.py", "--select", "GL101")


def hook() -> str:
    """Return the picture of a coding agent's event and the hook's answer to it, as SVG."""
    event = json.dumps({"tool_name": "Edit", "tool_input": {"file_path": "advisor/solar.py"}})
    command = [sys.executable, "-m", "gllint", "hook", "claude-code"]
    environment = {**os.environ, "GLLINT_NO_CACHE": "1", "PYTHONUTF8": "1"}
    environment.pop("CLAUDE_PROJECT_DIR", None)
    done = subprocess.run(
        command, cwd=EXAMPLE, env=environment, input=event.encode(), stderr=subprocess.PIPE, check=False
    )
    console = Console(
        record=True, width=_NARROW, file=io.StringIO(), force_terminal=True, color_system="truecolor"
    )
    console.print(Text(f"$ echo '{event}' | gllint hook claude-code"))
    console.print(Text(done.stderr.decode()), end="")
    console.print(Text(f"$ echo $?\n{done.returncode}"))
    console.print()  # the picture ends within its last line
    return console.export_svg(title="gllint", code_format=_FORMAT, unique_id="gllint-hook")


def report(path: Path) -> None:
    """Write a picture of the example's report to ``path``."""
    from browser import Browser

    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        page = Path(folder) / "report.html"
        command = [sys.executable, "-m", "gllint", "report", "--no-cache", "-q", "-o", str(page)]
        subprocess.run(command, cwd=EXAMPLE, check=True)
        browser.open(page, width=1100, height=1000)
        browser.picture(path)


def answer(path: Path) -> None:
    """Write a picture of an answer of the runtime to ``path``, its first number in focus."""
    from browser import Browser

    from gllint_runtime import Session

    session = Session()
    call = session.record("meter", {"site": "north"}, {"heat": {"value": 12.5, "unit": "kWh"}})
    claim = {"source_call_id": call, "path": "$.heat", "quantity": {"value": 12.5, "unit": "kWh"}}
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        page = Path(folder) / "answer.html"
        page.write_text(session.check("The house used {{claim:0}} of heat.", [claim]).to_html(), "utf-8")
        browser.open(page, width=700, height=330)
        browser.press("Tab", 9)
        browser.run("new Promise(done => setTimeout(done, 300))")
        browser.picture(path)


def main() -> None:
    """Take all pictures."""
    PICTURES.mkdir(exist_ok=True)
    (PICTURES / "check.svg").write_text(check(), encoding="utf-8")
    (PICTURES / "hook.svg").write_text(hook(), encoding="utf-8")
    (PICTURES / "story.svg").write_text(story(), encoding="utf-8")
    report(PICTURES / "report.png")
    answer(PICTURES / "answer.png")


if __name__ == "__main__":
    main()
