"""What gllint never does, seen by an audit hook of the interpreter: import what it checks, reach out, write elsewhere."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from trust import AGENT, Budget, Row, write

_WATCHED = """\
import json, os, sys
seen = []
def watch(event, arguments):
    if event == "open" and isinstance(arguments[0], (str, bytes)):
        name, mode, flags = arguments
        if (isinstance(mode, str) and set(mode) & set("wax+")) or (flags or 0) & (os.O_WRONLY | os.O_RDWR):
            seen.append(["write", os.path.abspath(os.fsdecode(name))])
    elif event == "import" and arguments[0].partition(".")[0] in ("plant", "conftest", "setup"):
        seen.append(["import", arguments[0]])
    elif event.startswith(("socket.connect", "socket.getaddrinfo", "urllib.", "subprocess.", "os.system", "os.exec")):
        seen.append(["reach", event + " " + str(arguments[:2])])
    elif event in ("os.remove", "os.rename", "os.rmdir", "shutil.rmtree", "pickle.find_class"):
        seen.append([event, str(arguments)])
sys.addaudithook(watch)
from gllint.cli.main import main
try:
    main(sys.argv[2:])
finally:
    watching = list(seen)
    with open(sys.argv[1], "w") as file:
        json.dump(watching, file)
"""
_TRAP = "raise SystemExit('the code under lint was executed')\n"
_COMMANDS = (
    ["check", "."],
    ["check", "."],
    ["check", "--diff", "."],
    ["config"],
    ["init", "--dry-run"],
    ["check", "--why", "plant/tools.py:6"],
)


def suite(budget: Budget) -> Iterator[Row]:
    wrong: list[str] = []
    tried = 0
    for arguments in _COMMANDS:
        if tried > 1 and not budget.left():
            break
        tried += 1
        with TemporaryDirectory() as folder:
            top = Path(folder, "project")
            trapped = {name: _TRAP + text for name, text in AGENT.items()}
            write(
                top,
                {
                    **trapped,
                    "conftest.py": _TRAP,
                    "setup.py": _TRAP,
                    "gllint.toml": "",
                    "plant/tools.py": AGENT["plant/tools.py"],
                },
            )
            write(Path(folder), {"watched.py": _WATCHED})
            command = [sys.executable, "-B", "../watched.py", "../seen.json", *arguments]
            done = subprocess.run(command, cwd=top, capture_output=True, text=True, timeout=120, check=False)
            if not Path(folder, "seen.json").exists():
                wrong.append(f"{arguments}: {done.stderr[-300:]}")
                continue
            for event, what in json.loads(Path(folder, "seen.json").read_text()):
                allowed = event == "write" and (what == "/dev/null" or f"{top}/.gllint_cache/" in what)
                kept = event in ("os.rename", "os.remove") and ".gllint_cache" in what
                git = event == "reach" and "'git'" in what
                if not (allowed or kept or git or what.endswith("seen.json")):
                    wrong.append(f"{arguments}: {event} {what}")
    yield Row("promises: nothing imported, fetched, written", f"{tried} commands", wrong)
