"""Real files: no internal error with every rule, none slow beyond measure, nothing found where there are no agents."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

from trust import Budget, Row

from gllint.files.config import Config
from gllint.run import fixer
from gllint.run.engine import Engine, Options
from gllint.run.parsing import Unparsed, parse
from gllint_rules import RULES, Failure, Settings
from gllint_rules.check.check import check
from gllint_rules.project.project import Project
from gllint_rules.reading.facts import Module
from gllint_rules.reading.stack import on_large_stack

_MOST_TIMES_MEDIAN = 100
_SHORT = 200  # lines; what is shorter takes no time that could be measured


def suite(budget: Budget) -> Iterator[Row]:
    yield _checked(budget)
    yield _forced(budget)


def _checked(budget: Budget) -> Row:
    """Each folder in one run, as `--fix --unsafe-fixes --diff` checks it: without a cache, changing nothing."""
    wrong: list[str] = []
    count = found = done = 0
    for folder in budget.folders():
        if done and not budget.left():
            break
        engine = Engine(Options(cache=False, jobs=1, fixed=Config(exclude=("site-packages",))))
        files = engine.files([str(folder)])
        before = {path: os.stat(path).st_mtime_ns for path in files}
        fixed = fixer.fix(engine, [str(folder)], unsafe=True)
        engine.close()
        wrong += [f"{failure.path}: {failure.code}: {failure.error}" for failure in fixed.outcome.failures]
        wrong += [error for error in fixed.errors if "a defect" in error]
        wrong += [f"{path}: was changed" for path in files if os.stat(path).st_mtime_ns != before[path]]
        told = [finding for finding in fixed.outcome.findings if finding.code != "GL900"]
        if folder in budget.unrelated:
            wrong += [f"{f.path}:{f.span.line}: {f.code} where there are no agents" for f in told]
        found, count, done = found + len(told), count + len(files), done + 1
    return Row("corpus: check, fixes in memory", f"{count} files in {done} folders, {found} findings", wrong)


def _forced(budget: Budget) -> Row:
    """Every rule on each file, also those that the screen keeps from them."""
    wrong: list[str] = []
    speeds: list[tuple[float, Path]] = []
    count = lines = 0
    budget.random.seed(budget.seed + 1)
    for path in budget.files():
        if count >= 8 and not budget.left():
            break
        module = parse(str(path), path.read_bytes())
        if isinstance(module, Unparsed):
            continue
        begun = time.process_time()
        wrong += [
            f"{path}: {failure.code}: {failure.error}" for failure in on_large_stack(failures_in, module)
        ]
        length = module.source.count("\n")
        count, lines = count + 1, lines + length
        if length > _SHORT:
            speeds.append(((time.process_time() - begun) / length, path))
    usual = statistics.median(speed for speed, _ in speeds) if speeds else 0
    wrong += [
        f"{path}: {speed * 1000:.2f} ms a line, the median is {usual * 1000:.2f}"
        for speed, path in speeds
        if speed > _MOST_TIMES_MEDIAN * usual
    ]
    return Row("corpus: every rule forced", f"{count} files, {lines} lines", wrong)


def failures_in(module: Module) -> list[Failure]:
    project = Project(
        Settings(audit=True),
        lambda _: None,
        {module.path}.__contains__,
        {module.path: module.source}.__getitem__,
        "",
    )
    project.add(module)
    return [item for item in check(project, module.path, frozenset(RULES)) if isinstance(item, Failure)]
