"""Real files: no internal error, none slow beyond measure, none changed, nothing found where there are no agents."""

from __future__ import annotations

import ast
import os
import statistics
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import redirect_stderr
from functools import partial
from io import StringIO
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from trust import Budget, Row, is_unrelated, sum_of

from gllint.hosts.flake8 import Plugin
from gllint.report import in_file
from gllint.run import fixer
from gllint.run.engine import CACHE_VARIABLE, Engine, Options
from gllint.run.parsing import Unparsed, parse
from gllint_rules import RULES, Failure, Settings
from gllint_rules.check.check import check
from gllint_rules.project.project import Project
from gllint_rules.reading.facts import Module
from gllint_rules.reading.stack import on_large_stack
from gllint_rules.words.screen import Screen

_MOST_TIMES_MEDIAN = 100
_SHORT = 200  # lines; what is shorter takes no time that could be measured
_FILES, _FORCED, _AT_ONCE = 20_000, 5_000, 25  # files in an hour; and in one process at once
Told = Counter[tuple[str, int, str]]


class Seen(NamedTuple):
    """What came of some files: how many, how many findings (of them in unrelated files), and what went wrong."""

    files: int
    found: int
    unrelated: int
    wrong: list[str]


def suite(budget: Budget) -> Iterator[Row]:
    yield _forced(budget.part(0.25))
    found = budget.projects()
    holding = {above for top in found for above in top.parents}
    # What holds projects of their own, or lies where gllint does not look, is asked for its files.
    projects = [
        (top, [*map(str, files)] if top in holding or "site-packages" in top.parts else [str(top)])
        for top, files in found.items()
    ]
    # A package that is installed is checked in the project around it, whose files are all looked at again for each.
    projects.sort(key=lambda project: "site-packages" in project[0].parts)
    with TemporaryDirectory() as cache:
        os.environ[CACHE_VARIABLE] = cache
        count = partial(sum_of, "files")
        done = [*budget.map(_look_at, projects, partial(Seen, 0, 0, 0), _FILES, count)]
        del os.environ[CACHE_VARIABLE]
    files, told, unrelated = (sum(seen[column] for seen in done) for column in range(3))
    wrong = [line for seen in done for line in seen.wrong]
    shown = f"{files} files (of 100,000 wanted) in {len(done)} of {len(projects)} projects, {told} findings, {unrelated} of them where there are no agents"
    yield Row("corpus: check, --fix --diff, flake8", shown, wrong, files, _FILES)


def _look_at(project: tuple[Path, list[str]]) -> Seen:
    """A project checked as `--fix --unsafe-fixes --diff` and flake8's plugin check it, both changing nothing."""
    top, paths = project
    wrong: list[str] = []
    engine = Engine(Options(jobs=1))
    files = engine.files(paths)
    before = _states(files)
    outcome = engine.check(paths)
    cells = {f: engine.sources.cell(f.path, f.span.line) for f in outcome.findings}
    told = _told(top, ((f.path, in_file(f.span, cell).line, f.code) for f, cell in cells.items()))
    fixed = fixer.fix(engine, paths, unsafe=True)
    engine.close()
    failures = {*outcome.failures, *fixed.outcome.failures}
    wrong += [f"{failure.path}: {failure.code}: {failure.error}" for failure in failures]
    wrong += [error for error in fixed.errors if "a defect" in error]
    # What the files bring about elsewhere the command tells, too: flake8 is asked for these files as well.
    elsewhere = sorted({f.path for f in outcome.findings}.difference(files))
    told_by_flake8, said = _through_flake8(top, [*paths, *elsewhere], [*files, *elsewhere])
    wrong += [f"flake8: {line}" for line in said if "not checked" not in line.lower()]
    wrong += [
        f"{place}: {number} times by the command alone" for place, number in (told - told_by_flake8).items()
    ]
    own = {os.path.relpath(path, top) for path in files}  # of what is elsewhere it tells only its own
    wrong += [
        f"{place}: {number} times by flake8 alone"
        for place, number in (told_by_flake8 - told).items()
        if place[0] in own
    ]
    wrong += [f"{path}: was changed" for path, state in _states(files).items() if state != before[path]]
    unrelated = list(told) if is_unrelated(top) else []
    wrong += [f"{top}: {place} where there are no agents" for place in unrelated]
    return Seen(len(files), sum(told.values()), len(unrelated), wrong)


def _states(files: Iterable[str]) -> dict[str, tuple[int, int, int]]:
    return {path: (s.st_mtime_ns, s.st_ctime_ns, s.st_size) for path in files for s in [os.stat(path)]}


def _told(top: Path, places: Iterable[tuple[str, int, str]]) -> Told:
    # Of a file that does not parse flake8 speaks itself.
    return Counter((os.path.relpath(path, top), line, code) for path, line, code in places if code != "GL900")


def _through_flake8(top: Path, paths: list[str], files: list[str]) -> tuple[Told, list[str]]:
    """What the plugin tells of each file, as flake8 asks it, and what it says beside that."""
    places: list[tuple[str, int, str]] = []
    said = StringIO()
    with redirect_stderr(said):
        Plugin.parse_options(None, Namespace(filenames=paths), [])
        for path in files:
            places += [
                (path, line, text[:5]) for line, _, text, _ in Plugin(ast.Module([], []), path, []).run()
            ]
    return _told(top, places), said.getvalue().splitlines()


def _forced(budget: Budget) -> Row:
    """Every rule on files that the screen keeps from them."""
    files = budget.files()
    groups = iter(lambda: [*islice(files, _AT_ONCE)], [])
    wrong: list[str] = []
    speeds: list[tuple[float, str]] = []
    count = lines = 0
    forced = budget.map(_force, groups, partial(Forced, 0, 0, []), _FORCED, partial(sum_of, "files"))
    for group in forced:
        count, lines = count + group.files, lines + group.lines
        speeds += group.speeds
        wrong += group.wrong
        if count >= _FORCED:
            forced.close()  # type: ignore[attr-defined]
            break
    usual = statistics.median(speed for speed, _ in speeds) if speeds else 0
    # What else a process does meanwhile (its first imports, its garbage) falls on one file: the least of some tries.
    again = [min(_force([Path(path)]).speeds[0] for _ in range(3)) for _, path in sorted(speeds)[-5:]]
    slowest = max(again, default=(0.0, ""))
    if slowest[0] > _MOST_TIMES_MEDIAN * usual:
        wrong.append(f"{slowest[1]}: {slowest[0] * 1000:.2f} ms a line, the median is {usual * 1000:.2f}")
    times = slowest[0] / usual if usual else 0
    shown = f"{count} files that the screen skips, {lines} lines; {Path(slowest[1]).name} takes {times:.0f} times the median a line"
    return Row("corpus: every rule forced", shown, wrong, count, _FORCED)


class Forced(NamedTuple):
    """What came of files that were forced through all rules."""

    files: int
    lines: int
    speeds: list[tuple[float, str]]
    wrong: list[str]


def _force(paths: list[Path]) -> Forced:
    screen = Screen(Settings(needles=RULES.needles()))
    count = lines = 0
    speeds, wrong = list[tuple[float, str]](), list[str]()
    for path in paths:
        data = path.read_bytes()
        if screen.passes(data) or isinstance(module := parse(str(path), data), Unparsed):
            continue
        begun = time.process_time()
        failures: list[Failure] = on_large_stack(failures_in, module)
        wrong += [f"{path}: {failure.code}: {failure.error}" for failure in failures]
        length = module.source.count("\n")
        count, lines = count + 1, lines + length
        if length > _SHORT:
            speeds.append(((time.process_time() - begun) / length, str(path)))
    return Forced(count, lines, speeds, wrong)


def failures_in(module: Module) -> list[Failure]:
    """The rules that fail on a file that is a project by itself."""
    return [item for item in checked(module) if isinstance(item, Failure)]


def checked(module: Module) -> list[Any]:
    """What all rules say of a file that is a project by itself."""
    project = Project(
        Settings(audit=True),
        lambda _: None,
        {module.path}.__contains__,
        {module.path: module.source}.__getitem__,
        "",
    )
    project.add(module)
    return list(check(project, module.path, frozenset(RULES)))
