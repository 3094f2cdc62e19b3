"""The same findings, however they are asked for: processes, order, cache, folder, hash seed, Python, host, edits, strangers.

And the same verdict, whole or in pieces (``cuts.py``), in the source or at execution (``moments.py``).
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import threading
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import cuts
import edits
import moments
from corpus import checked
from trust import AGENT, GLLINT, Budget, Row, gllint, left_out, ran, write

from gllint.run.parsing import Unparsed, parse
from gllint_rules import RULES, Failure, Settings
from gllint_rules.reading.stack import on_large_stack
from gllint_rules.reading.syntax import ParseFailure, parsed
from gllint_rules.words.screen import Screen

_TESTS = Path(__file__).parents[1]
_JSON = ("check", "--output-format", "json", "-q")
_MANY, _PATIENCE = 500, 60.0
_WAYS, _LEAST_REAL = 11, 100  # ways to ask and real files in an hour
Place = tuple[str, int, int, str]


def suite(budget: Budget) -> Iterator[Row]:
    with TemporaryDirectory() as folder:
        top = Path(folder, "project")
        _copy(budget, top)
        names = [str(path.relative_to(top)) for path in sorted(top.rglob("*.py"))]
        told = gllint(*_JSON, "--no-cache", "--jobs", "1", cwd=top).stdout
        expected = _found(told)
        places = Counter(map(_place, expected))
        tried, wrong = 0, list[str]()
        for what, arguments, variables, cwd in _ways(budget, top, names):
            if tried and not budget.goes_on(tried, _WAYS):
                break
            tried += 1
            done = gllint(*_JSON, *arguments, cwd=cwd, **variables)
            if _found(done.stdout, "" if cwd == top else "project/") != expected:
                wrong.append(f"{what}: other findings {done.stderr[-200:]}")
        yield Row(
            "equivalence: ways to ask",
            f"{tried} ways, {len(names)} files, {len(expected)} findings",
            wrong,
            tried,
            _WAYS,
        )
        if budget.is_long():
            yield from _hosts(top, names, places)
            yield Row("equivalence: flake8", f"{len(places)} places", _differences(places, _flake8(top)))
            yield Row(
                "equivalence: editor",
                f"{len(names)} buffers",
                _differences(places, _editor(top, names, places)),
            )
        if budget.is_whole():
            pythons = _pythons()
            wrong = [line for python in pythons for line in _on_another(python, Path(folder), top, told)]
            yield Row("equivalence: other Pythons", ", ".join(pythons) or "none found", wrong, len(pythons))
        elif budget.is_long():
            yield left_out("equivalence: other Pythons")
    yield _strangers(budget.part(0.2))
    yield from moments.rows(budget.part(0.2))
    yield from cuts.rows(budget.part(0.3))
    yield from edits.rows(budget)


def _copy(budget: Budget, top: Path) -> None:
    """A project of made and of real files."""
    write(
        top, {"gllint.toml": "", **{f"p{i}/{name}": text for i in range(4) for name, text in AGENT.items()}}
    )
    files = filter(_is_sound, budget.files())
    for number, path in enumerate(islice(files, 100 if budget.is_long() else 10)):
        (top / "real").mkdir(exist_ok=True)
        shutil.copy(path, top / "real" / f"m{number}.py")


def _is_sound(path: Path) -> bool:
    """Whether an editor can hold it and Python parses it: a broken file is told of only to who names it."""
    try:
        parsed(path.read_text("utf-8"))
    except (ValueError, ParseFailure):
        return False
    return True


def _ways(
    budget: Budget, top: Path, names: list[str]
) -> Iterator[tuple[str, tuple[str, ...], dict[str, str], Path]]:
    shuffled = list(names)
    budget.random.shuffle(shuffled)
    yield "cold", (), {}, top
    yield "warm", (), {}, top
    _write_foreign(top)
    yield "beside the cache of another version", (), {}, top
    _spoil(budget, top / ".gllint_cache")
    yield "over a cache with other bytes", (), {}, top
    yield "2 jobs", ("--no-cache", "--jobs", "2"), {}, top
    yield "files named in another order", ("--no-cache", *shuffled), {}, top
    yield "hash seed", ("--no-cache",), {"PYTHONHASHSEED": "7"}, top
    yield "from the folder above", ("--no-cache", "project"), {}, top.parent
    yield "8 jobs", ("--no-cache", "--jobs", "8"), {}, top
    yield "optimised", ("--no-cache",), {"PYTHONOPTIMIZE": "2"}, top
    yield "ASCII", ("--no-cache",), {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}, top


_FOREIGN = """
import gllint, sys
gllint.__version__ = "0.0.1"
from gllint.cli.main import main
from gllint.run import workspace
from gllint.run.results import Result
workspace.check_files = lambda index, paths, fixes: {path: Result() for path in paths}
main(["check", "-q", "--jobs", "1"])
"""


def _write_foreign(top: Path) -> None:
    """Have a version that finds nothing keep that in the same folder."""
    (top / "plain.py").write_text("x = 1\n")
    done = ran(sys.executable, "-c", _FOREIGN, cwd=top, HOME=str(top))
    assert done.returncode in (0, 1) and not done.stderr, done.stderr
    (top / "plain.py").unlink()


def _spoil(budget: Budget, cache: Path) -> None:
    """Change a byte of each entry, cut others off, and put some in the place of others."""
    entries = sorted(path for path in cache.rglob("*") if path.is_file())
    assert entries
    for number, path in enumerate(entries):
        data = bytearray(path.read_bytes())
        if number % 3 == 0 and data:
            data[budget.random.randrange(len(data))] ^= 1 << budget.random.randrange(8)
        elif number % 3 == 1:
            del data[budget.random.randrange(len(data) + 1) :]
        else:
            data = bytearray(entries[number - 1].read_bytes())
        path.write_bytes(data)


def _found(text: str, above: str = "") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(text)
    for finding in found:
        finding["path"] = finding["path"].removeprefix(above)
    return found


def _place(finding: dict[str, Any]) -> Place:
    return finding["path"], finding["line"], finding["column"], finding["code"]


def _differences(places: Counter[Place], others: Counter[Place]) -> list[str]:
    return [
        *(f"{place}: by the command alone" for place in places - others),
        *(f"{place}: by the other alone" for place in others - places),
    ]


def _hosts(top: Path, names: list[str], places: Counter[Place]) -> Iterator[Row]:
    """What a coding agent is told by format, hook and server, and whoever commits."""
    told = gllint("check", "-q", "--output-format", "agent", cwd=top).stdout
    yield Row("equivalence: agent format", f"{len(places)} places", _differences(places, _lines(told)))
    yield Row("equivalence: MCP server", f"{len(places)} places", _differences(places, _lines(_mcp(top))))
    # A hook says the first fifty alone.
    few = [name for name in names if 0 < sum(places[place] for place in places if place[0] == name) < 20]
    asked, wrong = few[:: max(1, len(few) // 20)], list[str]()
    for name in asked:
        expected = Counter({place: count for place, count in places.items() if place[0] == name})
        shown = _lines(_hook(top, name))
        here = Counter({place: count for place, count in shown.items() if place[0] == name})
        wrong += _differences(expected, here) + _differences(shown, shown & places)
    yield Row("equivalence: hook of an agent", f"{len(asked)} edits", wrong, len(asked), min(10, len(few)))
    if shutil.which("git") and find_spec("pre_commit") is not None:
        for hook in ("gllint", "gllint-all"):
            committed = _lines(_pre_commit(top, hook))
            yield Row(
                f"equivalence: {hook} of pre-commit", f"{len(places)} places", _differences(places, committed)
            )


def _lines(text: str) -> Counter[Place]:
    """The places in lines of ``path:line:column CODE`` or ``path:line:column: CODE``."""
    found = re.findall(r"^([^\s:]+):(\d+):(\d+):? (GL\d+) ", text, re.MULTILINE)
    return Counter((path, int(line), int(column), code) for path, line, column, code in found)


def _hook(top: Path, name: str) -> str:
    event = {"hook_event_name": "PostToolUse", "tool_name": "Edit", "cwd": str(top), "tool_input": {"file_path": str(top / name)}}  # fmt: skip
    return ran(*GLLINT, "hook", "claude-code", cwd=top, typed=json.dumps(event), HOME=str(top.parent)).stderr


def _mcp(top: Path) -> str:
    """What the tool ``check`` of gllint's own server answers."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
    messages: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "check", "arguments": {"paths": []}}},
    ]
    process = subprocess.Popen(
        [*GLLINT, "server", "--mcp"],
        cwd=top,
        env={**os.environ, "HOME": str(top)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    guard = threading.Timer(_PATIENCE, process.kill)
    guard.start()
    try:
        assert process.stdin is not None and process.stdout is not None
        for message in messages:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            process.stdin.flush()
        for line in process.stdout:
            answer = json.loads(line)
            if answer.get("id") == 2:
                return "".join(part["text"] for part in answer["result"]["content"])
        return "the server has ended"
    finally:
        guard.cancel()
        process.kill()
        process.wait()


def _pre_commit(top: Path, hook: str) -> str:
    """What a hook of ours says of all files of a repository."""
    entries = {"gllint": "check --force-exclude", "gllint-all": "check"}
    entry = {
        "id": hook, "name": hook, "entry": f"{shlex.join(GLLINT)} {entries[hook]}", "language": "system", "types_or": ["python"],
        "require_serial": True, "pass_filenames": hook == "gllint", "always_run": hook != "gllint",
    }  # fmt: skip
    config = top.parent / f"{hook}.yaml"
    config.write_text(json.dumps({"repos": [{"repo": "local", "hooks": [entry]}]}))
    home = {"HOME": str(top.parent), "PRE_COMMIT_HOME": str(top.parent / "pre-commit")}
    for command in (["init", "-q"], ["add", "-f", "*.py", "gllint.toml"]):
        ran("git", *command, cwd=top, **home)
    ran_all = ran(
        sys.executable, "-m", "pre_commit", "run", "--all-files", "--config", config, hook, cwd=top, **home
    )
    return ran_all.stdout


def _flake8(top: Path) -> Counter[Place]:
    form = "%(path)s\t%(row)d\t%(col)d\t%(code)s"
    done = ran(sys.executable, "-m", "flake8", "--select", "GL", "--jobs", "1", "--format", form, cwd=top)
    rows = (line.split("\t") for line in done.stdout.splitlines())
    return Counter((path.removeprefix("./"), int(row), int(column), code) for path, row, column, code in rows)


def _editor(top: Path, names: list[str], expected: Counter[Place]) -> Counter[Place]:
    """What the server shows once all files are open, and it has had time to look at them."""
    sys.path.insert(0, str(_TESTS.parent / "benchmarks"))
    from editor import Buffer, Wire

    wire = Wire(top, f"{top.parent}/server-cache")
    guard = threading.Timer(_PATIENCE, wire.process.kill)  # ends the wait for messages, too
    guard.start()
    shown: dict[str, list[dict[str, Any]]] = {}
    places = Counter[Place]()
    buffers = {buffer.uri: (name, buffer) for name in names for buffer in [Buffer(wire, top / name)]}
    try:
        while places != expected or len(shown) < len(buffers):
            message = wire.receive()
            if message.get("method") == "textDocument/publishDiagnostics":
                shown[message["params"]["uri"]] = message["params"]["diagnostics"]
                places = Counter(
                    (name, at["line"] + 1, _column(buffer.text, at), item["code"])
                    for uri, (name, buffer) in buffers.items()
                    for item in shown.get(uri, ())
                    for at in [item["range"]["start"]]
                )
    except ValueError:  # the server is gone: the time is up
        pass
    finally:
        guard.cancel()
        wire.process.kill()
    return places


def _column(text: str, at: dict[str, int]) -> int:
    """A column as findings count it, from one in UTF-16."""
    lines = text.splitlines(keepends=True)
    line = lines[at["line"]].encode("utf-16-le") if at["line"] < len(lines) else b""
    return len(line[: 2 * at["character"]].decode("utf-16-le", "replace")) + 1


def _pythons() -> list[str]:
    """The other Pythons that gllint is made for, where there are any that start."""
    found = []
    for version in {"3.11", "3.12", "3.13"} - {sysconfig.get_python_version()}:
        beside = sorted(Path(sys.base_prefix).parent.glob(f"{version}.*/bin/python"))
        for python in [*map(str, beside), shutil.which(f"python{version}")]:
            if python and version in ran(python, "--version").stdout:
                found.append(python)
                break
    return sorted(found)


def _on_another(python: str, folder: Path, top: Path, told: str) -> list[str]:
    """What differs where gllint is installed for another Python."""
    place = folder / python.replace("/", "_")
    ran(python, "-m", "venv", place)
    done = ran(place / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", _TESTS.parent)
    if done.returncode:
        return [f"{python}: gllint cannot be installed: {done.stderr[-300:]}"]
    done = ran(place / "bin" / "gllint", *_JSON, "--no-cache", cwd=top)
    return [] if done.stdout == told else [f"{python}: other findings {done.stderr[-200:]}"]


def _strangers(budget: Budget) -> Row:
    """Comments, a function that nobody calls, and other names of locals change nothing in real files."""
    sys.path.insert(0, str(_TESTS / "rules"))
    from test_metamorphic import renamed_locals, with_strangers

    screen = Screen(Settings(needles=RULES.needles()))
    count, wrong = 0, list[str]()
    for path in budget.files():
        if count == _MANY or not budget.goes_on(count, _LEAST_REAL):
            break
        data = path.read_bytes()
        if not screen.passes(data) or isinstance(parse(str(path), data), Unparsed):
            continue
        text = data.decode("utf-8", "replace")
        if "\r" in text or "\f" in text:
            continue
        count += 1
        expected = _lines_found(text)
        for what, change in (("strangers", with_strangers), ("other names", renamed_locals)):
            changed = change(text)
            if what == "other names":
                found = Counter((code, number) for code, number, _ in _all_found(changed))
                same = found == Counter((code, number) for code, number, _ in _all_found(text))
            else:
                same = _lines_found(changed) == expected
            wrong += [] if same else [f"{path}: other findings with {what}"]
    return Row(
        "equivalence: metamorphic changes",
        f"{2 * count} changes of {count} real files",
        wrong,
        count,
        _LEAST_REAL,
    )


def _lines_found(text: str) -> Counter[tuple[str, str]]:
    return Counter((code, line) for code, _, line in _all_found(text))


def _all_found(text: str) -> list[tuple[str, int, str]]:
    """Code, line and its text of what all rules find in a file by itself."""
    module = parse("/project/a.py", text.encode())
    if isinstance(module, Unparsed):
        return [("unparsed", module.line, module.message)]
    lines = text.split("\n")
    return [
        ("failure", 0, str(item))
        if isinstance(item, Failure)
        else (item.code, item.span.line, lines[item.span.line - 1])
        for item in on_large_stack(checked, module)
    ]
