"""Changed at random: whatever is read from outside is taken or refused, and nothing else is raised.

Texts are changed by ``atheris``, which keeps what reaches new lines, where it is installed, else blindly. Modules are
drawn from a grammar of tools, fixes and claims, and, where ``hypothesmith`` is installed, from that of Python.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import importlib.util
import io
import json
import os
import re
import sys
import threading
import time
import tokenize
import warnings
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    import atheris

    watched = atheris.instrument_imports(include=["gllint", "gllint_rules", "gllint_runtime"])
else:
    watched = nullcontext()

with watched:
    import answers
    import hosts
    import traffic
    from corpus import failures_in
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import seed as seeded
    from lsprotocol import types
    from trust import AGENT, Budget, Row, places_in, ran

    from gllint.errors import UsageError
    from gllint.files import notebooks
    from gllint.files.places import Places
    from gllint.files.source import Undecodable, decode
    from gllint.run.cache import decode as decode_entry
    from gllint.run.cache import encode
    from gllint.run.parsing import Unparsed, parse
    from gllint.run.results import Result
    from gllint.server.texts import Snapshot, difference
    from gllint.verdict import baseline, suppress
    from gllint_rules import RULES, Failure
    from gllint_rules.reading.outline import outline_of
    from gllint_rules.reading.stack import on_large_stack
    from gllint_rules.reading.syntax import ParseFailure
    from gllint_rules.words.screen import Screen
    from gllint_rules.words.settings import Settings
    from gllint_runtime import GLError, UnitRegistry, scan_naked_numbers
    from gllint_runtime.policy.claims import ClaimPathError, find_macros, macro_problems, parse_claim_path
    from gllint_runtime.policy.patterns import matches, problem

_TESTS = Path(__file__).parents[1]
_MOST = 4_000  # characters of a text
_STARTED = 30  # seconds until all targets are loaded
_AT_ONCE = 2
_PLENTY = 100_000  # inputs of a target, beyond which another one has more of the time
_SLOW = 0.008  # seconds for a text of a target that has twice the time of a quick one
_INPUTS, _MODULES, _REQUESTS_AN_HOUR = 1_000, 100, 500  # of a target, a grammar and the server in an hour
_LONGEST_EXCERPT = 5  # failures of one grammar
_BITS = [
    *"()[]{}\"'\\\n\r\t\0\f\x1a\u2028\ufeff\udcff#@:=,.;%*0", "{{claim:0}}", "# noqa: GL101", "# gllint: ignore[GL4]", "f'{", "\\\n",
    "lambda: ", "match x:\n case ", "async ", "await ", "yield ", "**", "return {", "kWh", "5 kWh", "1e999", "0x", "null", "NaN",
    '{"value": 1, "unit": "kWh"}', "tool(", "@tool\n", "else:\n", "class A(A):\n", "global x\n", "import *", "\u202e",
]  # fmt: skip


# --- what is fed --------------------------------------------------------------------------------------------


def _rules(text: str) -> None:
    """Valid is what CPython takes; every rule takes what is valid."""
    data = _bytes(text)
    module = parse("/project/a.py", data)
    if isinstance(module, Unparsed):
        assert module.is_python or not _compiles(data), f"refused: {module.message}"
        return
    failures: list[Failure] = on_large_stack(failures_in, module)
    assert not failures, failures[0]


def _compiles(data: bytes) -> bool:
    """Whether it runs as a file; ``compile`` alone takes what cannot be decoded where it stands in a comment."""
    try:
        data.decode(tokenize.detect_encoding(io.BytesIO(data).readline)[0])
        compile(data, "a.py", "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


_SCREEN = Screen(Settings(needles=RULES.needles()))


def _screen(text: str) -> None:
    _SCREEN.passes(_bytes(text))
    _SCREEN.talks(_bytes(text))


def _outline(text: str) -> None:
    """The sections of a file and their holes lie in order."""
    source = decode(_bytes(text)).source
    ends = [0]
    for section in on_large_stack(outline_of, source).sections:
        assert 0 <= section.begin <= section.end <= len(source)
        ends.append(section.end)


def _suppressions(text: str) -> None:
    source = text.encode("utf-8", "replace").decode()
    suppress.apply(
        "/project/a.py", suppress.Comments(source), (), frozenset(RULES), noqa=True, require_reason=True
    )


def _scanner(text: str) -> None:
    for finding in scan_naked_numbers(text):
        assert 0 <= finding.start < finding.end <= len(text)


def _macros(text: str) -> None:
    macros = find_macros(text)
    assert all(0 <= macro.start < macro.end <= len(text) for macro in macros)
    macro_problems(macros, 2)


def _paths(text: str) -> None:
    parse_claim_path(text[:100], arrays=True)
    parse_claim_path(text[:100])


def _unit(text: str) -> None:
    for word in text.split()[:20]:
        UnitRegistry().is_allowed(word)


def _pattern(text: str) -> None:
    if not problem(text):
        list(matches(text, text))


def _buffer(text: str) -> None:
    """What an editor sends of a text: each place and back, and the changes from one text to another."""
    before, _, after = text.partition("\n")
    snapshot = Snapshot("file:///a.py", text, 1, "utf-16")
    for offset in range(0, len(text), max(1, len(text) // 20)):
        snapshot.offset(snapshot.position(offset))
    for line, character in re.findall(r"(\d{1,5})\D+(\d{1,5})", text)[:20]:
        assert 0 <= snapshot.offset(types.Position(int(line), int(character))) <= len(text)
    list(difference(before, after))


def _in_file(name: str, read: Callable[[str], object]) -> Callable[[str], None]:
    def run(text: str) -> None:
        with TemporaryDirectory() as folder:
            path = Path(folder, name)
            path.write_bytes(_bytes(text))
            read(str(path))

    return run


def _config(path: str) -> None:
    Places(lambda config: config).of(str(Path(path).parent), frozenset({"gllint.toml"}))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


_NOTEBOOK = json.dumps(
    {"cells": [{"cell_type": "code", "source": AGENT["plant/tools.py"].splitlines(True), "outputs": []}], "nbformat": 4}
)  # fmt: skip
_CONFIG = 'select = ["GL1"]\nextend-units = ["kWp"]\n[per-file-ignores]\n"a/*.py" = ["GL4"]\n[[frameworks]]\nname = "x"\n'
_BASELINE = '{"version": 1, "findings": [{"path": "a.py", "code": "GL401", "text": "x", "count": 1}]}'
_MESSAGE = (
    "It uses {{claim:0}} kWh since 2024-10-02 12:30, v1.2, ID-123: ½ of ٣ CO₂e m² in 1. place {{claim:-1}}"
)
_PROGRAMS = [text for text in AGENT.values() if text]
Target = tuple[Callable[[str], object], list[str], tuple[type[BaseException], ...]]
TARGETS: dict[str, Target] = {  # what reads it, from what one starts, and what it may raise
    "screen": (_screen, _PROGRAMS, ()),
    "outline": (_outline, _PROGRAMS, (ParseFailure, Undecodable)),
    "facts, inference, rules": (_rules, _PROGRAMS, ()),
    "suppressions": (_suppressions, ["x = 1  # noqa: GL101\n# gllint: ignore[GL4]  # why\n# gllint: off-file\n"], ()),
    "notebooks": (lambda text: notebooks.as_python(_bytes(text)), [_NOTEBOOK], ()),
    "scanner": (_scanner, [_MESSAGE], ()),
    "macros": (_macros, [_MESSAGE], ()),
    "paths": (_paths, ["$.heat.value", "$['a b'][0].c"], (ClaimPathError,)),
    "units": (_unit, ["kWh/m2 kgCO2e/kWh USD/t*year m**2 degC"], (GLError, ValueError)),
    "patterns": (_pattern, [r"(?:\d+(?:\.\d+)*|[A-Z]{2,3}-\d+)(?=x|y)", "(a|b)*c"], (re.error, OverflowError, RecursionError)),
    "configuration": (_in_file("gllint.toml", _config), [_CONFIG], (UsageError,)),
    "baselines": (_in_file("base.json", baseline.read), [_BASELINE], (UsageError,)),
    # Whatever this raises, the store takes for an entry that is not there.
    "cache files": (lambda text: decode_entry(_bytes(text), dict[str, Result]), [encode({"a": Result()}).decode("latin-1")], (ValueError,)),
    "editors' texts": (_buffer, ["a = 'é𝄞'\r\n(1, 2) 12:30\n"], ()),
    **traffic.READERS,
    **answers.READERS,
    **hosts.READERS,
}  # fmt: skip


def feed(name: str, text: str) -> None:
    """Give a target a text. Raises what it is not to raise."""
    run, _, refusals = TARGETS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            run(text)
        except (*refusals, UnicodeEncodeError):
            pass


# --- how it is fed ------------------------------------------------------------------------------------------


def suite(budget: Budget) -> Iterator[Row]:
    if budget.is_long():
        yield _messages(budget.part(0.1))
    yield _changed_bytes()
    yield _drawn(budget.part(0.15), "tools and claims", _module_of_tools)
    if importlib.util.find_spec("hypothesmith") is not None and budget.is_long():
        yield _drawn(budget.part(0.15), "Python", _module_of_python)
    if importlib.util.find_spec("atheris") is None or budget.part(1).seconds < _STARTED + len(TARGETS):
        yield from _blind(budget)
    else:
        yield from _guided(budget.part(1))


def _guided(budget: Budget) -> Iterator[Row]:
    """Feed each target by the lines that it reaches, two at once, in processes that share what is loaded."""
    with TemporaryDirectory() as folder:
        limits = (str(budget.seconds - _STARTED), str(budget.seed + 1))
        done = ran(sys.executable, __file__, folder, *limits, timeout=budget.seconds + 300)
        for name in TARGETS:
            said = Path(folder, f"{_file_name(name)}.said")
            text = said.read_text("utf-8", "replace") if said.exists() else done.stderr
            yield _fed(budget, name, text)


def _fed(budget: Budget, name: str, text: str) -> Row:
    """What came of one target, by what libFuzzer says of it; a slow one gets blindly what is missing of the inputs due."""
    numbers = {what: int(number) for what, number in re.findall(r"(executed_units|cov):+ +(\d+)", text)}
    count = numbers.get("executed_units", 0)
    told = f"{count} inputs, {numbers.get('cov', 0)} edges, guided"
    begin = text.find("Uncaught Python exception")
    said = text[begin : begin + 2500] if begin >= 0 else text[-2500:]
    wrong = [] if "\nDone " in text else [said or "did not run"]
    if not wrong and (missing := budget.due(_INPUTS) - count) > 0:
        wrong = [line for _ in range(missing) for line in _fed_blindly(budget, name)]
        told, count = f"{told}, and {missing} blindly", count + missing
    return Row(f"fuzz: {name}", told, wrong[:20], count, _INPUTS)


def _file_name(name: str) -> str:
    return re.sub(r"\W+", "-", name)


def _blind(budget: Budget) -> Iterator[Row]:
    wrong: dict[str, list[str]] = {name: [] for name in TARGETS}
    for count in budget.rounds(_INPUTS):  # noqa: B007  # the last one is read below
        for name in TARGETS:
            wrong[name] += _fed_blindly(budget, name)
    for name in TARGETS:
        yield Row(f"fuzz: {name}", f"{count + 1} inputs, blind", wrong[name][:20], count + 1, _INPUTS)


def _fed_blindly(budget: Budget, name: str) -> list[str]:
    text = _mutated(budget, budget.random.choice(TARGETS[name][1]))
    try:
        feed(name, text)
    except Exception as error:
        return [f"{type(error).__name__}: {error} on {text!r:.2000}"]
    return []


def _mutated(budget: Budget, text: str) -> str:
    draw = budget.random
    if draw.random() < 0.5:
        lines = [_restructured(budget, line) for line in text.split("\n")]
        if None not in lines:
            return "\n".join(filter(None, lines))
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


def _restructured(budget: Budget, line: str) -> str | None:
    """A line of JSON with some of its values exchanged for strange ones; ``None`` for what is none."""
    draw = budget.random
    begin = line.find("{") if "{" in line[:2] else line.find("[") if "[" in line[:2] else -1
    try:
        value = [json.loads(line[begin:])] if begin >= 0 else None
    except ValueError:
        value = None
    if value is None:
        return None
    for _ in range(draw.randint(0, 3)):
        places = [*places_in(value)]
        holder, key = draw.choice(places)
        strange = copy.deepcopy(draw.choice([*STRANGE, draw.choice(places)[0]]))
        if isinstance(holder, dict) and draw.random() < 0.2:
            holder[str(draw.choice(_BITS))] = strange
        else:
            holder[key] = strange
    return f"{line[:begin]}{json.dumps(value[0])}"


def _changed_bytes() -> Row:
    count, wrong = traffic.changed_bytes()
    return Row("fuzz: stored sessions, each byte changed", f"{count} changes", wrong, count, 3_000)


def _drawn(budget: Budget, grammar: str, modules: Callable[[], Any]) -> Row:
    """Feed modules that hypothesis draws, which makes what fails as small as it can."""
    count, wrong = 0, list[str]()

    def attempt(text: str) -> None:
        nonlocal count
        count += 1
        feed("facts, inference, rules", text)

    for number in budget.rounds(_MODULES, lambda: count):
        test = settings(
            max_examples=20,
            deadline=None,
            database=None,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
        )(given(modules())(attempt))
        try:
            seeded(budget.seed + number)(test)()
        except Exception as error:
            notes = " ".join(getattr(error, "__notes__", ()))
            if len(wrong) < _LONGEST_EXCERPT:  # of which many are one
                wrong.append(f"{type(error).__name__}: {error} {notes}"[:2000])
    return Row(f"fuzz: grammar of {grammar}", f"{count} modules", wrong, count, _MODULES)


def _module_of_tools() -> Any:
    sys.path.insert(0, str(_TESTS / "rules"))
    import test_fixes_properties

    return test_fixes_properties.modules()


def _module_of_python() -> Any:
    import hypothesmith

    return hypothesmith.from_grammar()


_REQUESTS = ("hover", "completion", "codeAction", "definition", "inlayHint", "documentSymbol", "diagnostic")
STRANGE: list[Any] = [
    None,
    -1,
    2**31,
    "",
    "\udcff",
    [],
    {},
    "file:///",
    "é" * 50,
    True,
    1.5,
    [[[]]],
]  # for any value


def _messages(budget: Budget) -> Row:
    """Messages with parts that are strange, to one server; it answers the last one all the same."""
    sys.path.insert(0, str(_TESTS.parent / "benchmarks"))
    from editor import Buffer, Wire

    count, wrong = 0, list[str]()
    with TemporaryDirectory() as folder:
        path = Path(folder, "a.py")
        path.write_text(AGENT["plant/tools.py"])
        wire = Wire(Path(folder), f"{folder}/cache")
        buffer = Buffer(wire, path)
        guard = threading.Timer(budget.seconds + 120, wire.process.kill)
        guard.start()
        try:
            for _ in budget.rounds(_REQUESTS_AN_HOUR):
                count += 1
                wire.request(*_request(budget, buffer.uri))
                if count % 20 == 0:
                    buffer.edit(0, 0, budget.random.choice(["#\n", "x = (\n", "\r", "@tool\n"]))
            wire.request("shutdown", None)
            wire.notify("exit", None)
            wire.process.wait(60)
        except Exception as error:
            wrong.append(f"after {count} messages: {type(error).__name__}: {error}")
        finally:
            guard.cancel()
            wire.process.kill()
    return Row("fuzz: server's messages", f"{count} requests, blind", wrong, count, _REQUESTS_AN_HOUR)


def _request(budget: Budget, uri: str) -> tuple[str, Any]:
    draw = budget.random
    line = draw.choice([0, 3, 5, 9, 10**6])
    place = {"line": line, "character": draw.choice([0, 4, 999])}
    params: dict[str, Any] = {
        "textDocument": {"uri": uri},
        "position": place,
        "range": {"start": place, "end": {"line": line + 1, "character": 0}},
        "context": {"diagnostics": [], "includeDeclaration": True},
    }
    if draw.random() < 0.7:
        whole = draw.choice(
            [params, params["textDocument"], params["position"], params["range"], params["context"]]
        )
        whole[draw.choice(list(whole))] = draw.choice(STRANGE)
    return f"textDocument/{draw.choice(_REQUESTS)}", params


def _main(folder: Path, seconds: float, seed: int) -> None:
    """Feed all targets in processes that this one forks once all is loaded and watched."""
    end = time.monotonic() + seconds
    weights = {name: _weight(name) for name in TARGETS}
    running: dict[int, str] = {}
    # The quick ones end before their time: what they leave the slow ones have.
    waiting = sorted(TARGETS, key=lambda name: weights[name])
    while waiting or running:
        if waiting and len(running) < _AT_ONCE:
            ahead = sum(weights[name] for name in waiting) / _AT_ONCE
            name = waiting.pop(0)
            share = max(1, int((end - time.monotonic()) * min(1.0, weights[name] / ahead)))
            if (child := os.fork()) == 0:
                _feed_target(name, folder, share, seed)
            running[child] = name
        else:
            ended, _ = os.wait()
            running.pop(ended, None)


def _weight(name: str) -> float:
    """How much more of the time a target has than a quick one: up to three times as much, by how slow it is."""
    texts = TARGETS[name][1]
    with contextlib.suppress(Exception):  # which it raises again where it is told
        feed(name, texts[0])  # loads what is loaded at first use
    begun = time.process_time()
    for text in texts[:5]:
        with contextlib.suppress(Exception):
            feed(name, text)
    each = (time.process_time() - begun) / min(len(texts), 5)
    return 1 + min(2.0, each / _SLOW)


def _feed_target(name: str, folder: Path, seconds: int, seed: int) -> NoReturn:
    """Feed one target, and end this process."""
    texts = folder / _file_name(name)
    texts.mkdir()
    for number, text in enumerate(TARGETS[name][1]):
        (texts / f"seed{number}").write_bytes(text.encode("utf-8", "surrogateescape"))
    out = os.open(f"{texts}.said", os.O_CREAT | os.O_WRONLY)
    os.dup2(out, 1)
    os.dup2(out, 2)
    limits = [
        f"-max_total_time={seconds}",
        f"-seed={seed}",
        f"-max_len={_MOST}",
        f"-runs={_PLENTY}",
        "-timeout=20",
        "-rss_limit_mb=3000",
    ]
    shown = ["-print_final_stats=1", "-verbosity=1", f"-artifact_prefix={texts}/"]
    atheris.Setup(
        [sys.argv[0], str(texts), *limits, *shown],
        lambda data: feed(name, data.decode("utf-8", "surrogateescape")),
    )
    atheris.Fuzz()
    os._exit(0)


if __name__ == "__main__":
    _main(Path(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))
