"""Fixes over copies: what is fixed still parses, a second run changes nothing, and what ran before runs the same."""

from __future__ import annotations

import difflib
import itertools
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from trust import Budget, Row, left_out, ran, write

from gllint.run import fixer
from gllint.run.engine import Engine, Options, Outcome
from gllint.run.parsing import Unparsed, parse
from gllint_rules import Fix

# A framework that does nothing, so that the programs run.
_STUBS = {
    "langchain_core/__init__.py": "",
    "langchain_core/tools.py": "def tool(function):\n    return function\n",
}
_HEAD = "from langchain_core.tools import tool\n\n\ndef survey(site):\n    return len(site)\n\n\n@tool\ndef heat(site):\n"
_TOOLS = {
    "dict": '    return {"site": site, "heat_kwh": survey(site) * 80.0}\n',
    "stores": '    out = {"site": site}\n    out["heat_kwh"] = survey(site) * 80.0\n    return out\n',
    "update": "    out = {}\n    out.update(site=site, heat_kwh=survey(site) * 80.0)\n    return out\n",
    "unit": '    return {"heat": {"value": survey(site) * 80.0, "unit": "kwh"}}\n',
    "beside": '    return {"heat": survey(site) * 80.0, "unit": "kWh"}\n',
}
# Programs that use what the tool returns: a fix that is called safe leaves what each of them says as it is.
_LEAST_PROGRAMS = 10  # that are fixed, in an hour
_USERS = ["use.py", "use.pyw", "bin/use", "old/use.py", "use.tmp.py"]  # all but the first are not linted
# A misspelt unit is mended wherever another file may read it: gllint looks for no proof there. Who asks for the very
# misspelling therefore stands in the file itself, which is where it keeps the fix from being safe.
_TOOLS_FILE, _MISSPELT = "plant/tools.py", "'kwh'"
_IMPORT = "from plant.tools import heat\n"
_SUM = "print(sum(v for v in r.values() if isinstance(v, float)))\n"
_USES = [
    *(f"{_IMPORT}r = heat('a')\n{text}\n" for text in [
        "k = 'heat' + '_kwh'\nprint(r.get(k, 0) * 2)", "u = 'kwh'\nprint(r.get(f'heat_{u}', 0) * 2)", _SUM,
        "print([v * 2 for k, v in r.items() if k.endswith('kwh')])", "print(r == {'site': 'a', 'heat_kwh': 80.0})",
        "from types import SimpleNamespace\nprint(getattr(SimpleNamespace(**r), 'heat_kwh', 0) * 2)",
        "match r:\n    case {'heat_kwh': float(x)}:\n        print(x)\n    case {'heat': {'unit': 'kwh'}}:\n        print('kwh')",
        "print('{heat_kwh:.1f}'.format(**r) if 'heat_kwh' in r else '')", "_, x, *_ = [*r.values(), 0]\nprint(str(x)[:4])",
        "print({'kwh': 2}.get(r.get('heat', {}).get('unit')) if isinstance(r.get('heat'), dict) else 0)",
        "class R:\n    def total(self):\n        return [v for v in r.values() if isinstance(v, float)]\nprint(R().total())",
        "print([v['unit'].isupper() for v in r.values() if isinstance(v, dict)])", "print({k: type(v).__name__ for k, v in r.items()})",
    ]),
    *(f"import sys, importlib, runpy, inspect\nimport plant.tools as t\nr = {text}('a')\n{_SUM}" for text in [
        "getattr(t, 'he' + 'at')", "vars(t)['heat']", "sys.modules['plant.tools'].heat", "importlib.import_module('plant' + '.tools').heat",
        "__import__('plant.tools', fromlist=['x']).heat", "runpy.run_module('plant.tools')['heat']", "dict(inspect.getmembers(t))['heat']",
        "[getattr(t, n) for n in dir(t) if n[0] == 'h'][0]", "(lambda f=t.heat: f)()", "t.heat.__call__", "[t.heat][0]", "{'a': t.heat}['a']",
    ]),
    "import plant.tools\nprint('nobody uses it')\n",
]  # fmt: skip


def suite(budget: Budget) -> Iterator[Row]:
    yield _programs(budget.part(0.3))
    if budget.is_whole():
        yield from _copies(budget)
    elif budget.is_long():
        yield left_out("fixes: copies of projects")


def _programs(budget: Budget) -> Row:
    pairs = list(itertools.product(_TOOLS.items(), _USES))
    budget.random.shuffle(pairs)
    tried = changed = 0
    wrong: list[str] = []
    for (name, body), use in pairs:
        if changed and not budget.goes_on(changed, _LEAST_PROGRAMS):
            break
        tried += 1
        with TemporaryDirectory() as folder:
            top = Path(folder, "project")
            write(Path(folder, "stubs"), _STUBS)
            own = _MISSPELT in use and name == "unit"
            user = _TOOLS_FILE if own else budget.random.choice(_USERS)
            files = {
                "gllint.toml": 'exclude = ["old"]',
                ".gitignore": "*.tmp.py",
                "plant/__init__.py": "",
                _TOOLS_FILE: _HEAD + body,
            }
            files[user] = f"{_HEAD}{body}\n\n{use.removeprefix(_IMPORT)}" if own else use
            write(top, files)
            before = _said(top, user)
            shutil.copytree(top, Path(folder, "was"))
            if _fix(top, unsafe=False)[0]:
                changed += 1
                typed = (
                    [_types(Path(folder, name).rglob("*.py")) for name in ("was", "project")]
                    if budget.is_long()
                    else []
                )
                wrong += (
                    [f"mypy says {typed} before and after a safe fix of {name!r} with {use!r}"]
                    if len({*typed}) > 1
                    else []
                )
                same = _said(top, user) == before
                wrong += [] if same else [f"a safe fix of {name!r} changes {use!r} in {user}"]
    return Row(
        "fixes: programs that run",
        f"{tried} of {len(pairs)}, {changed} fixed",
        wrong,
        changed,
        _LEAST_PROGRAMS,
    )


def _said(top: Path, user: str) -> tuple[int, str]:
    roots = f"{top.parent / 'stubs'}:{top}"
    done = ran(sys.executable, "-B", user, cwd=top, timeout=60, PYTHONPATH=roots)
    return done.returncode, done.stdout


def _fix(top: Path, unsafe: bool) -> tuple[list[str], list[str]]:
    """Fix a folder; the files written, and what went wrong."""
    engine = Engine(Options(cache=False, jobs=1))
    fixed = fixer.fix(engine, [str(top)], unsafe)
    written = fixer.write(engine, fixed)
    engine.close()
    return written, [*fixed.errors, *(str(failure) for failure in fixed.outcome.failures)]


# --- copies of repositories ---------------------------------------------------------------------------------


_TOOL = re.compile(rb"^ *@[\w.]*tool\b", re.MULTILINE)
_NAMED = re.compile(
    rb"""["']\w*_(?:[kM]?Wh?|[kmg]wh?|km|kg|usd|eur|pct|percent|seconds|minutes|hours|days|celsius|ms|mb|gb|bytes)["'] *[:\]]""",
    re.IGNORECASE,
)
_LARGEST = 300  # files of a project that is worth its time
_LEAST_FIXED = 20  # projects in which something is fixed, in an hour


_KEPT = TemporaryDirectory()  # what mypy learns of the standard library


class Copied(NamedTuple):
    """What came of a copy: the files changed by safe fixes and by all, and what went wrong."""

    safe: int
    changed: int
    wrong: list[str]


def _copies(budget: Budget) -> Iterator[Row]:
    found = [(_tools(files) / len(files), top) for top, files in budget.parts(_LARGEST).items()]
    # Those first in which there is something to fix.
    projects = [top for share, top in sorted(found, reverse=True) if share]
    done = list(budget.map(_copy, projects, partial(Copied, 0, 0), _LEAST_FIXED, _fixed))
    wrong = [line for copied in done for line in copied.wrong]
    safe, changed = (sum(copied[column] for copied in done) for column in range(2))
    fixed = _fixed(done)
    shown = f"{len(done)} projects, {changed} files changed in {fixed}, {safe} of them by safe fixes"
    # No more is due than the projects have; nothing where none has tools.
    least = min(fixed, _LEAST_FIXED) if len(done) == len(projects) else _LEAST_FIXED
    yield Row("fixes: copies of projects", shown, wrong, fixed, least)


def _fixed(done: list[Copied]) -> int:
    return sum(bool(copied.changed) for copied in done)


def _tools(files: list[Path]) -> float:
    """How many of some files seem to have tools; those count most whose results seem to name units, which fixes need."""
    count = 0.0
    for path in files:
        data = path.read_bytes()
        if _TOOL.search(data):
            count += 1 if _NAMED.search(data) else 0.01
    return count


def _copy(source: Path) -> Copied:
    """Fix a copy of a project, by safe fixes alone and then by all, each twice."""
    changed, wrong = [0, 0], list[str]()
    with TemporaryDirectory() as folder:
        top = Path(folder, source.name)
        shutil.copytree(source, top, symlinks=True, ignore=_LEFT, ignore_dangling_symlinks=True)
        for unsafe in (False, True):
            engine = Engine(Options(cache=False, jobs=1))
            before = engine.check([str(top)])
            fixed = fixer.fix(engine, [str(top)], unsafe)
            typed = _types(fixed.new_data) if not unsafe else ""
            written = fixer.write(engine, fixed)
            engine.close()
            wrong += [*fixed.errors, *map(str, fixed.outcome.failures)]
            if not written:
                continue
            changed[unsafe] += len(written)
            for path in written:
                wrong += [f"{path}: {what}" for what in _changed_file(path, before, fixed)]
            wrong += [f"{path}: a second run changes it again" for path in _fix(top, unsafe)[0]]
            if typed and typed != (now := _types(fixed.new_data)):
                wrong.append(f"mypy says other things: {set(now.splitlines()) ^ set(typed.splitlines())}")
    return Copied(changed[0], sum(changed), [f"{source.name}: {line}" for line in wrong])


_LEFT = shutil.ignore_patterns(".git", "node_modules", "site-packages", "*.so", "*.png", "*.ipynb", "*.pyc")


def _changed_file(path: str, before: Outcome, fixed: fixer.Fixed) -> Iterator[str]:
    """What is wrong with a file that was fixed."""
    if isinstance(parse(path, Path(path).read_bytes()), Unparsed):
        yield "does not parse any more"
    old, new = (
        Counter(f.code for f in outcome.findings if f.path == path) for outcome in (before, fixed.outcome)
    )
    # What a fix left undone is told by other words: a placeholder for a unit, a schema that lacks one.
    if new.total() > old.total():
        yield f"findings came: {dict(new - old)}"
    lines, changed = fixed.old_data[path].splitlines(), fixed.new_data[path].splitlines()
    near = {line for f in before.findings if f.path == path and f.fix for line in _lines_of(f.fix)}
    matcher = difflib.SequenceMatcher(None, lines, changed, autojunk=False)
    for kind, start, end, _, _ in matcher.get_opcodes():
        if kind != "equal" and not near.intersection(range(start - 1, end + 3)):
            yield f"lines {start + 1} to {end} changed, where no fix was"


def _lines_of(fix: Fix) -> Iterator[int]:
    for edit in fix.edits:
        yield from range(edit.span.line, edit.span.end_line + 1)


def _types(paths: Iterable[str | Path]) -> str:
    """What mypy says of some files, without the places."""
    command = [sys.executable, "-m", "mypy", "--follow-imports=skip", "--ignore-missing-imports"]
    quiet = ["--check-untyped-defs", "--no-error-summary", "--hide-error-context"]
    said = []
    for path in list(paths)[:5]:
        done = ran(*command, *quiet, f"--cache-dir={_KEPT.name}", path, timeout=120)
        said += sorted(re.sub(r"^.*?:\d+(?::\d+)?:", "", line) for line in done.stdout.splitlines())
    return "\n".join(said)
