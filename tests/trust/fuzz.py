"""Changed at random: whatever is read from outside is taken or refused, and nothing else is raised."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from corpus import failures_in
from trust import AGENT, Budget, Row

from gllint.errors import UsageError
from gllint.files import notebooks
from gllint.files.places import Places
from gllint.run.codec import decode as decode_entry
from gllint.run.codec import encode
from gllint.run.parsing import Unparsed, parse
from gllint.run.results import Result
from gllint.verdict import baseline, suppress
from gllint_rules import RULES, Failure
from gllint_rules.reading.stack import on_large_stack
from gllint_rules.words.screen import Screen
from gllint_rules.words.settings import Settings
from gllint_runtime import GLError, UnitRegistry, scan_naked_numbers
from gllint_runtime.policy.patterns import backtracks

_BITS = [
    *"()[]{}\"'\\\n\r\t\0\f\x1a\u2028\ufeff\udcff#@:=,.;%*0", "{{claim:0}}", "# noqa: GL101", "# gllint: ignore[GL4]", "f'{", "\\\n",
    "lambda: ", "match x:\n case ", "async ", "await ", "yield ", "**", "return {", "kWh", "5 kWh", "1e999", "0x", "null", "NaN",
    '{"value": 1, "unit": "kWh"}', "tool(", "@tool\n", "else:\n", "class A(A):\n", "global x\n", "import *", "\u202e",
]  # fmt: skip


def _mutated(budget: Budget, text: str) -> str:
    draw = budget.random
    for _ in range(draw.randint(1, 6)):
        at, upto = sorted((draw.randint(0, len(text)), draw.randint(0, len(text))))
        match draw.randrange(5):
            case 0:
                text = text[:at] + draw.choice(_BITS) + text[at:]
            case 1:
                text = text[:at] + text[min(upto, at + 30) :]
            case 2:
                text = text[:at] + text[at : at + 40] * draw.randint(2, 20) + text[at:]
            case 3:
                text = text[:at] + text[upto : upto + 60] + text[at:]
            case _:
                text = text[:at] + draw.choice(_BITS) * draw.choice([1, 3, 120]) + text[at:]
    return text


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape" if "\udcff" in text else "strict")


def _python(text: str) -> None:
    """Valid is what CPython takes; every rule takes what is valid."""
    data = _bytes(text)
    module = parse("/project/a.py", data)
    if isinstance(module, Unparsed):
        assert module.is_python or not _compiles(data), f"refused: {module.message}"
        return
    failures: list[Failure] = on_large_stack(failures_in, module)
    assert not failures, failures[0]
    Screen(Settings(needles=RULES.needles())).passes(data)
    suppress.apply("/project/a.py", module.source, (), frozenset(RULES), noqa=True, require_reason=False)


def _compiles(data: bytes) -> bool:
    try:
        compile(data, "a.py", "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _notebook(text: str) -> None:
    notebooks.as_python(_bytes(text))


def _scanner(text: str) -> None:
    for finding in scan_naked_numbers(text):
        assert 0 <= finding.start < finding.end <= len(text)


def _unit(text: str) -> None:
    for word in text.split()[:20]:
        UnitRegistry().is_allowed(word)


def _entry(text: str) -> None:
    decode_entry("dict[str, Result]", _bytes(text))


def _pattern(text: str) -> None:
    re.compile(text)
    backtracks(text)


def _in_file(name: str, read: Callable[[str], object]) -> Callable[[str], None]:
    def run(text: str) -> None:
        with TemporaryDirectory() as folder:
            path = Path(folder, name)
            path.write_bytes(_bytes(text))
            read(str(path))

    return run


def _config(path: str) -> None:
    Places(lambda config: config).of(str(Path(path).parent), frozenset({"gllint.toml"}))


_NOTEBOOK = json.dumps(
    {"cells": [{"cell_type": "code", "source": AGENT["plant/tools.py"].splitlines(True), "outputs": []}], "nbformat": 4}
)  # fmt: skip
_CONFIG = 'select = ["GL1"]\nextend-units = ["kWp"]\n[per-file-ignores]\n"a/*.py" = ["GL4"]\n[[frameworks]]\nname = "x"\n'
_BASELINE = '{"version": 1, "findings": [{"path": "a.py", "code": "GL401", "text": "x", "count": 1}]}'
_MESSAGE = (
    "It uses {{claim:0}} kWh since 2024-10-02 12:30, v1.2, ID-123: ½ of ٣ CO₂e m² in 1. place {{claim:-1}}"
)
Target = tuple[Callable[[str], None], list[str], tuple[type[BaseException], ...]]
TARGETS: dict[str, Target] = {
    "Python": (_python, [text for text in AGENT.values() if text], ()),
    "notebook": (_notebook, [_NOTEBOOK], ()),
    "message": (_scanner, [_MESSAGE], ()),
    "unit": (_unit, ["kWh/m2 kgCO2e/kWh USD/t*year m**2 degC"], (GLError, ValueError)),
    "kept entry": (_entry, [encode({"a": Result()}).decode("latin-1")], (Exception,)),
    "pattern": (_pattern, [r"(?:\d+(?:\.\d+)*|[A-Z]{2,3}-\d+)(?=x|y)", "(a|b)*c"], (re.error, OverflowError, RecursionError)),
    "configuration": (_in_file("gllint.toml", _config), [_CONFIG], (UsageError,)),
    "baseline": (_in_file("base.json", baseline.read), [_BASELINE], (UsageError,)),
}  # fmt: skip


def suite(budget: Budget) -> Iterator[Row]:
    counts = dict.fromkeys(TARGETS, 0)
    wrong: dict[str, list[str]] = {name: [] for name in TARGETS}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in budget.rounds():
            for name, (run, seeds, refusals) in TARGETS.items():
                text = _mutated(budget, budget.random.choice(seeds))
                try:
                    run(text)
                except (*refusals, UnicodeEncodeError):
                    pass
                except Exception as error:
                    wrong[name].append(f"{type(error).__name__}: {error} on {text!r:.2000}")
                counts[name] += 1
    for name in TARGETS:
        yield Row(f"fuzz: {name}", f"{counts[name]} inputs", wrong[name])
