"""Fixes over copies: what is fixed still parses, a second run changes nothing, and what ran before runs the same."""

from __future__ import annotations

import itertools
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from trust import Budget, Row, write

from gllint.run import fixer
from gllint.run.engine import Engine, Options
from gllint.run.parsing import Unparsed, parse

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
_USERS = ["use.py", "use.pyw", "bin/use", "old/use.py", "use.tmp.py"]  # all but the first are not linted
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
    half = Budget(budget.seconds / 2, budget.seed)
    yield _programs(half)
    yield _copies(budget)


def _programs(budget: Budget) -> Row:
    pairs = list(itertools.product(_TOOLS.items(), _USES))
    budget.random.shuffle(pairs)
    tried = changed = 0
    wrong: list[str] = []
    for (name, body), use in pairs:
        if tried > 1 and not budget.left():
            break
        tried += 1
        with TemporaryDirectory() as folder:
            top = Path(folder, "project")
            write(Path(folder, "stubs"), _STUBS)
            user = budget.random.choice(_USERS)
            write(
                top,
                {
                    "gllint.toml": 'exclude = ["old"]',
                    ".gitignore": "*.tmp.py",
                    "plant/__init__.py": "",
                    "plant/tools.py": _HEAD + body,
                    user: use,
                },
            )
            before = _said(top, user)
            if _fix(top, unsafe=False)[0]:
                changed += 1
                same = _said(top, user) == before
                wrong += [] if same else [f"a safe fix of {name!r} changes {use!r} in {user}"]
    return Row("fixes: programs that run", f"{tried} of {len(pairs)}, {changed} fixed", wrong)


def _said(top: Path, user: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-B", user],
        cwd=top,
        env={"PYTHONPATH": f"{top.parent / 'stubs'}:{top}"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout


def _fix(top: Path, unsafe: bool) -> tuple[list[str], list[str]]:
    """Fix a folder; the files written, and what went wrong."""
    engine = Engine(Options(cache=False, jobs=1))
    fixed = fixer.fix(engine, [str(top)], unsafe)
    written = fixer.write(engine, fixed)
    engine.close()
    return written, [*fixed.errors, *(str(failure) for failure in fixed.outcome.failures)]


def _copies(budget: Budget) -> Row:
    """Folders of real files, each fixed twice."""
    wrong: list[str] = []
    folders = sorted({path.parent for path in budget.files()})
    budget.random.shuffle(folders)
    tried = changed = 0
    for source in folders:
        if tried and not budget.left():
            break
        tried += 1
        with TemporaryDirectory() as folder:
            top = Path(folder, "copy")
            top.mkdir()
            for path in source.glob("*.py"):
                shutil.copy(path, top / path.name)
            (top / "gllint.toml").write_text("")
            for unsafe in (False, True):
                written, errors = _fix(top, unsafe)
                again, _ = _fix(top, unsafe)
                changed += len(written)
                wrong += [f"{source}: {error}" for error in errors]
                wrong += [f"{source}: {path}: a second run changes it again" for path in again]
                wrong += [
                    f"{source}: {path}: does not parse any more"
                    for path in written
                    if isinstance(parse(path, Path(path).read_bytes()), Unparsed)
                ]
    return Row("fixes: real files", f"{tried} of {len(folders)} folders, {changed} files changed", wrong)
