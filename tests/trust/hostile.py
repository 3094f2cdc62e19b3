"""Input made to hurt: expressions and parsers at n, 2n and 4n, sizes, and places and names of files."""

from __future__ import annotations

import copy
import importlib
import inspect
import os
import pkgutil
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import fuzz
from trust import AGENT, Budget, Row, gllint, left_out, places_in, write

import gllint as program
import gllint_rules
import gllint_runtime
from gllint.files.digest import DIGEST_SIZE
from gllint.report import FORMATS
from gllint.run import fixer
from gllint.run.cache import _PREFIX, decode, encode
from gllint.run.engine import Engine, Options
from gllint.run.signing import signer

_SIZE = 2_000
_LEAST_OF_ALL, _CACHES = 50, 100  # pairs of an expression or parser and a text in any run; caches in an hour
_MOST_GROWTH = 3.2  # for twice the text, where it takes long enough to be measured
_MEASURABLE = 0.02
_LONGEST = 20  # seconds for one text
_PIECES = [
    "a", "0", " ", "_", ".", "(", ")", "{", '"', "'", "\\", "\n", "#", ":", ",", "=", "-", "a.", "a,", "0.", "0,", "{{", "}}", "(a",
    "class a(", "from a import ", "import a,", "# noqa: ", "noqa:", "gllint: ", "{{claim:", "2024-", "**", "a\n", "a \\\n", " a", "f'{",
    "0/", "[", "a if a else ", "a(", "@a\n", "x = a\n", "kWh ", "# gllint: ignore[GL101]\n", "$.a", "\u202e", "é", "a='", "lambda: ",
]  # fmt: skip
Grown = tuple[float, float, float]  # seconds at n, 2n and 4n


def suite(budget: Budget) -> Iterator[Row]:
    before = signal.signal(signal.SIGPROF, _end)
    yield _expressions(budget)
    yield from _parsers(budget.part(0.5))
    signal.signal(signal.SIGPROF, before)
    if budget.is_whole():
        yield from (_size(name, text) for name, text in _SIZES.items())
    elif budget.is_long():
        yield from (left_out(f"hostile: {name}") for name in _SIZES)
    yield _cache(budget.part(0.5))
    yield _places()
    yield _names()


# --- growth -------------------------------------------------------------------------------------------------


def _parsers(budget: Budget) -> Iterator[Row]:
    """A row for each parser, and what is hardest on it."""
    pairs = [(name, piece) for name in fuzz.TARGETS for piece in _PIECES]
    budget.random.shuffle(pairs)
    grown: dict[str, dict[str, Grown]] = {name: {} for name in fuzz.TARGETS}
    for number, (name, piece) in enumerate(pairs):
        if number < _LEAST_OF_ALL or budget.goes_on(number, len(pairs) // 4):
            grown[name][piece] = _grown(partial(fuzz.feed, name), piece)
    for name, by_piece in grown.items():
        wrong = [f"{piece!r}: {_shown(times)}" for piece, times in by_piece.items() if _is_too_much(times)]
        if by_piece:
            piece, worst = max(by_piece.items(), key=lambda item: item[1][2])
            yield Row(
                f"hostile: {name}",
                f"{len(by_piece)} texts, hardest {piece!r}: {_shown(worst)}",
                wrong,
                len(by_piece),
                5,
            )


def _expressions(budget: Budget) -> Row:
    patterns, budget = _patterns(), budget.part(0.4)
    pairs = [(name, piece) for name in sorted(patterns) for piece in _PIECES]
    budget.random.shuffle(pairs)
    wrong, worst, count = list[str](), (0.0, ""), 0
    for name, piece in pairs:
        if count >= _LEAST_OF_ALL and not budget.goes_on(count, len(pairs) // 4):
            break
        count += 1
        times = _grown(patterns[name], piece)
        worst = max(worst, (times[2], f"{name} on {piece!r}: {_shown(times)}"))
        wrong += [f"{name} on {piece!r}: {_shown(times)}"] if _is_too_much(times) else []
    shown = f"{len(patterns)} expressions, {count} of {len(pairs)} pairs; hardest {worst[1]}"
    return Row("hostile: expressions", shown, wrong, count, len(pairs) // 4)


def _is_too_much(times: Grown) -> bool:
    return times[2] > _LONGEST / 2 or (
        times[2] > _MEASURABLE and times[2] > _MOST_GROWTH * max(times[1], _MEASURABLE / 4)
    )


class _TooLong(BaseException):
    """One text took all of its time."""


def _end(*_: object) -> None:
    raise _TooLong


def _shown(times: Grown) -> str:
    return f"{' '.join(f'{1000 * taken:.1f}' for taken in times)} ms"


def _grown(use: Callable[[str], object], piece: str) -> Grown:
    """Return the times of three sizes; of what grows too much, those of a second try: a collection costs time, too."""
    text = piece * (_SIZE // len(piece))
    for _ in range(2):
        times = _time(use, text + "\x01"), _time(use, 2 * text + "\x01"), _time(use, 4 * text + "\x01")
        if not _is_too_much(times):
            break
    return times


def _time(use: Callable[[str], object], text: str) -> float:
    best = 1e9
    for _ in range(2):
        begun = time.process_time()
        # An expression that tries all ways around looks for signals. Of this process: others take the clock's time.
        signal.setitimer(signal.ITIMER_PROF, _LONGEST)
        try:
            use(text)
        except _TooLong:
            return time.process_time() - begun
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        best = min(best, time.process_time() - begun)
        if best < _MEASURABLE:
            break
    return best


def _patterns() -> dict[str, Callable[[str], object]]:
    """All that the three packages have compiled once they are imported."""
    found: dict[str, Callable[[str], object]] = {}
    for package in (program, gllint_rules, gllint_runtime):
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if info.name.endswith("__main__"):
                continue
            try:
                module = importlib.import_module(info.name)
            except ImportError:  # an extra that is not installed
                continue
            source = inspect.getsource(module) if module.__doc__ else ""
            for name, value in vars(module).items():
                if isinstance(value, re.Pattern) and re.search(rf"^{name}\b.*=", source, re.MULTILINE):
                    # What is only matched at a place is not searched for from every place.
                    searches = re.search(rf"\b{name}\.(?:search|finditer|findall|sub|subn|split)\b", source)
                    found[f"{info.name}.{name}"] = partial(_search if searches else _match, value)
    return found


def _match(pattern: re.Pattern[Any], text: str) -> None:
    pattern.match(text if isinstance(pattern.pattern, str) else text.encode())


def _search(pattern: re.Pattern[Any], text: str) -> None:
    for _ in pattern.finditer(text if isinstance(pattern.pattern, str) else text.encode()):
        pass


# --- sizes --------------------------------------------------------------------------------------------------

_TOOL = AGENT["plant/tools.py"]
_SIZES: dict[str, Callable[[], str]] = {
    "100,000 nested brackets": lambda: f"{_TOOL}x = {'(' * 100_000}{')' * 100_000}\n",
    "a million lines": lambda: _TOOL + "x = 1\n" * 1_000_000,
    "one line of 50 MB": lambda: f"{_TOOL}x = '{'a' * 50_000_000}'\n",
    "a list of 100,000 tools": lambda: f"{_TOOL}agent = Agent(tools=[{'heat, ' * 100_000}])\n",
    "a result of 20,000 keys": lambda: (
        "from agents import function_tool\n@function_tool\ndef f(x):\n    return {"
        + ", ".join(f"'k{number}': {number}" for number in range(20_000))
        + "}\n"
    ),
    "3,000 blocks that each wrap a growing text": lambda: (
        "from agents import function_tool\n@function_tool\ndef f(x, text):\n"
        + "".join(
            f'    if flag_{number}:\n        text = f"{{text}} {{x * {number}}}.5 kWh"\n'
            f'    try:\n        text = f"{{text}} {{x * {number}}}.5 kWh"\n    except ValueError:\n        pass\n'
            for number in range(3_000)
        )
        + "    return text\n"
    ),
    "2,000 star imports and as many names": lambda: (
        "from agents import function_tool\n"
        + "".join(f"from p{number} import *\n" for number in range(2_000))
        + "@function_tool\ndef f(x):\n    return {"
        + ", ".join(f"'k{number}': b{number}(x)" for number in range(2_000))
        + "}\n"
    ),
}


def _size(name: str, text: Callable[[], str]) -> Row:
    with TemporaryDirectory() as folder:
        top = Path(folder)
        write(top, {"a.py": text(), "gllint.toml": ""})
        begun = time.monotonic()
        try:
            done = gllint("check", "--no-cache", "--output-format", "concise", cwd=top, timeout=600)
        except subprocess.TimeoutExpired:
            return Row(f"hostile: {name}", "600 s", ["does not end"])
        seconds = time.monotonic() - begun
        wrong = (
            [done.stderr[-500:]] if done.returncode not in (0, 1) or "internal error" in done.stderr else []
        )
        lines = done.stdout.splitlines()
        return Row(
            f"hostile: {name}", f"{seconds:.1f} s, {len(lines)} lines: {' '.join(lines[-1:])[:60]}", wrong
        )


# --- places and names ---------------------------------------------------------------------------------------


def _places() -> Row:
    """What is no file, or is none any more: nothing waits for it, and the files beside it are checked."""
    with TemporaryDirectory() as folder:
        top = Path(folder, "project")
        write(top, {**AGENT, "gllint.toml": ""})
        os.mkfifo(top / "pipe.py")
        os.mkfifo(top / "plant" / "gllint.toml")
        os.mkfifo(top / ".gitignore")
        places = {
            "device.py": "/dev/zero",
            "nowhere.py": "gone",
            "itself.py": "itself.py",
            "loop": ".",
            "out": "/",
        }
        for name, target in places.items():
            (top / name).symlink_to(target)
        (top / "folder.py").mkdir()
        with socket.socket(socket.AF_UNIX) as listening, suppress(OSError):
            listening.bind(str(top / "socket.py"))
        wrong = []
        for arguments in (
            [],
            ["--fix"],
            ["--write-baseline", "base.json"],
            ["--baseline", "pipe.py"],
            ["pipe.py", "device.py"],
        ):
            try:
                done = gllint("check", *arguments, cwd=top, timeout=60)
            except subprocess.TimeoutExpired:
                wrong.append(f"{arguments}: waits")
                continue
            if "Traceback" in done.stderr or "internal error" in done.stderr or not done.stdout + done.stderr:
                wrong.append(f"{arguments}: {done.stderr[-300:]}")
    return Row("hostile: places", f"{len(places) + 5} kinds, 5 commands", wrong)


def _cache(budget: Budget) -> Row:
    """A cache folder with sound entries that hold strange values: whoever wrote them, the run comes to its end."""
    wrong, count = list[str](), 0
    with TemporaryDirectory() as folder:
        top, kept = Path(folder, "project"), Path(folder, "kept")
        write(top, {"gllint.toml": "", **AGENT})
        _check_and_fix(top)
        shutil.copytree(top / ".gllint_cache", kept)
        entries = [path.relative_to(kept) for path in sorted(kept.glob("*/*"))]
        for number in budget.rounds(_CACHES):
            count = number + 1
            shutil.rmtree(top / ".gllint_cache")
            shutil.copytree(kept, top / ".gllint_cache")
            entry = top / ".gllint_cache" / budget.random.choice(entries)
            head = len(_PREFIX) + DIGEST_SIZE
            value = [decode(entry.read_bytes()[head:], object)]
            for _ in range(budget.random.randint(1, 3)):
                holder, key = budget.random.choice([*places_in(value)])
                # A copy: what comes later may be put into it, or be it.
                holder[key] = copy.deepcopy(budget.random.choice(fuzz.STRANGE))
            payload = encode(value[0])
            signed = signer().sign(entry.parent.name.encode(), entry.name.encode(), payload)
            entry.write_bytes(_PREFIX + signed + payload)
            try:
                wrong += _check_and_fix(top)
            except Exception as error:
                wrong.append(f"{entry.name} with {payload[:2000]!r}: {type(error).__name__}: {error}")
    return Row("hostile: an attacker's cache", f"{count} caches", wrong, count, _CACHES)


def _check_and_fix(top: Path) -> list[str]:
    engine = Engine(Options(jobs=1))
    fixed = fixer.fix(engine, [str(top)], unsafe=True)
    engine.close()
    return [str(failure) for failure in fixed.outcome.failures]


_NAMES = [
    "a\nb",
    "\x1b[31mred",
    "\u202eyp",
    "::error::x",
    "<script>",
    "a b",
    "\udcff",
    "-x",
    "\u2028",
    "#",
    "é",
]
_FORMATS = [*FORMATS]


def _names() -> Row:
    """Names that would act in a terminal, a log or a page do not, in any format."""
    wrong = []
    with TemporaryDirectory() as folder:
        top = Path(folder)
        write(top, {"gllint.toml": "", **{f"{name}.py": AGENT["plant/tools.py"] for name in _NAMES}})
        for form in _FORMATS:
            done = gllint("check", "--no-cache", "--output-format", form, cwd=top)
            told = done.stdout + done.stderr
            wrong += [f"{form}: {char!r} as it is" for char in "\x1b\u202e\u2028\udcff" if char in told]
            wrong += [f"{form}: {told[-300:]}"] if done.returncode != 1 else []
            wrong += [
                f"{form}: a command of its own" for line in told.splitlines() if line.startswith("::error::")
            ]
    return Row("hostile: names", f"{len(_NAMES)} names, {len(_FORMATS)} formats", wrong)
