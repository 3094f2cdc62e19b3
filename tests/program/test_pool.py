"""Several processes: the same results in the same order, and no file that takes others down."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gllint.run import pool, screening
from gllint.run.pool import Pool
from gllint_rules import Settings
from gllint_runtime import Policy

Write = Callable[..., Path]
Run = Callable[..., Any]


def double(work: int, path: str) -> str:
    return path * work


def fall_over(work: str, path: str) -> str:
    if path == work:
        os._exit(1)
    return path


@pytest.mark.parametrize("jobs", [1, 3])
def test_results_keep_their_order(jobs: int) -> None:
    workers = Pool(jobs)
    ticks: list[int] = []
    paths = [str(number) for number in range(50)]
    try:
        assert list(workers.map(double, 2, paths, crashed="", chunk=7, tick=ticks.append)) == [
            p * 2 for p in paths
        ]
    finally:
        workers.close()
    assert sum(ticks) == 50


def test_small_work_starts_no_process() -> None:
    workers = Pool(4)
    assert not workers.takes(["a"] * 1000, worth=False)
    assert not workers.takes(["a"] * 5, worth=True, chunk=5)
    assert workers.takes(["a"] * 6, worth=True, chunk=5)
    assert workers._executor is None


def test_a_file_that_kills_its_process_loses_nothing_else() -> None:
    workers = Pool(2)
    paths = [str(number) for number in range(12)]
    try:
        results = list(workers.map(fall_over, "7", paths, crashed="crashed", chunk=3))
    finally:
        workers.close()
    assert results == [("crashed" if path == "7" else path) for path in paths]


def test_one_process_and_several_find_the_same(write: Write, run: Run, agent: str) -> None:
    top = write({f"m{index}/agent.py": agent + f"# {index}\n" * 700 for index in range(60)})
    one = run("check", "--output-format", "json", "--no-cache", "--jobs", "1", cwd=top)
    three = run("check", "--output-format", "json", "--no-cache", "--jobs", "3", cwd=top)
    assert one.returncode == three.returncode == 1
    assert one.stdout == three.stdout
    assert one.stdout.count(b"GL401") == 60


@pytest.mark.parametrize(
    ("platform", "threads", "method"),
    [("linux", 1, "fork"), ("linux", 2, None), ("darwin", 1, None), ("win32", 1, None)],
)
def test_processes_are_forked_where_that_is_safe_alone(
    monkeypatch: pytest.MonkeyPatch, platform: str, threads: int, method: str | None
) -> None:
    """Whatever Python starts by itself: spawned ones on macOS and Windows, and from a server of forks from 3.14 on."""
    monkeypatch.setattr(pool.sys, "platform", platform)
    monkeypatch.setattr("threading.active_count", lambda: threads)
    context = pool.context()
    assert (context.get_start_method() if context is not None else None) == method


def test_what_processes_work_with_can_be_sent_to_spawned_ones() -> None:
    """Where processes are not forked, all that they are given is pickled, and what they answer."""
    functions = (
        screening.screen_file,
        screening.judge_file,
        screening.outline_file,
        screening.digest_if_user,
    )
    for sent in (pool.apply, pool.begin, *functions):
        assert pickle.loads(pickle.dumps(sent)) is sent
    settings = Settings(policy=Policy(plain_keys=("*_id",)))
    assert pickle.loads(pickle.dumps(settings)) == settings
    own = __file__.replace(os.sep, "/")
    for answer in (screening.screen_file(settings, own), screening.outline_file(None, own)):
        assert type(pickle.loads(pickle.dumps(answer))) is type(answer)
