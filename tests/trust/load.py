"""Many at once: turns, conversations, processes and clients, none of which sees another's numbers, in flat memory."""

from __future__ import annotations

import importlib
import importlib.util
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from trust import AGENT, GLLINT, Budget, Row, gllint, left_out, run_tests, write

from gllint_runtime import Session

_BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
_HOSTILE = [
    f"tests/runtime/{name}.py"
    for name in ("test_adversarial", "test_adversarial_data", "test_load", "test_async")
]
_KEY = "the key of the store"
_MOST, _TURNS_A_SECOND = 100_000, 150
_CONVERSATIONS, _THREADS = 1_000, 64
_TURNS, _SHARED, _STORED = 50_000, 1_024, 256  # in an hour
_CLIENTS = 100
_CHECKS, _ROUNDS = 8, 15  # at once over one cache, and how often
_FORKS, _BUSY = 200, 8


def suite(budget: Budget) -> Iterator[Row]:
    sys.path.insert(0, str(_BENCHMARKS))
    import gate_load

    turns = max(2_000, budget.due(_TURNS), min(_MOST, int(budget.seconds * _TURNS_A_SECOND)))
    load = gate_load.run(turns, threads=64, tasks=1_000)
    wrong = list(load.wrong)
    if turns == _MOST and not gate_load.is_flat(load.memory):
        wrong.append(f"memory grows: {load.memory} MB")
    held = f"{load.memory[1]:.0f} to {load.memory[-1]:.0f} MB"
    yield Row("load: 64 threads, 1,000 tasks", f"{turns} turns, {held}", wrong, turns, _TURNS)
    yield from _conversations(budget)
    yield _shared(budget)
    yield _restarted(budget)
    yield _forked(budget.part(0.25))
    yield _clients(budget)
    yield _one_cache(budget.part(0.85))
    if budget.is_whole():
        told, failed = run_tests(_HOSTILE)
        yield Row("load: hostile providers and tools", told, failed)
    else:
        yield left_out("load: hostile providers and tools")


def heat(session: Session, number: int) -> list[str]:
    """Record a result and cite it; what is wrong where another one's number is shown, or none."""
    quantity = {"value": number + 0.5, "unit": "kWh"}
    call = session.record("meter", {"site": number}, {"heat": quantity})
    claim = {"source_call_id": call, "path": "$.heat", "quantity": quantity}
    shown = session.verify("It used {{claim:0}}.", [claim])
    told = getattr(shown, "message", str(shown))
    return [] if format(number + 0.5, ".2f") in told.replace(",", "") else [f"{number}: {told}"]


def _shared(budget: Budget) -> Row:
    """Many threads in one conversation: each is shown its own number."""
    session, end = Session(), budget.part(0.05)

    def talk(thread: int) -> tuple[int, list[str]]:
        wrong, turn = list[str](), 0
        for turn in end.rounds(_SHARED // _THREADS):
            wrong += heat(session, 1_000_000 * thread + turn)
        return turn + 1, wrong

    return _at_once("load: 64 threads in one conversation", talk, _SHARED)


def _restarted(budget: Budget) -> Row:
    """Many conversations, each read from a store for each turn and written to it again."""
    store, end = dict[int, str](), budget.part(0.05)

    def talk(thread: int) -> tuple[int, list[str]]:
        wrong, turn = list[str](), 0
        for turn in end.rounds(_STORED // _THREADS):
            kept = store.get(thread)
            session = Session() if kept is None else Session.from_json(kept, key=_KEY)
            wrong += [] if session.count == turn else [f"{thread}: {session.count} calls after {turn} turns"]
            wrong += heat(session, 1_000_000 * thread + turn)
            store[thread] = session.to_json(key=_KEY)
        return turn + 1, wrong

    return _at_once("load: 64 conversations from a store", talk, _STORED)


def _at_once(name: str, talk: Callable[[int], tuple[int, list[str]]], least: int) -> Row:
    with ThreadPoolExecutor(_THREADS) as pool:
        done = [*pool.map(talk, range(_THREADS))]
    turns = sum(count for count, _ in done)
    return Row(name, f"{turns} turns", [line for _, wrong in done for line in wrong][:20], turns, least)


def _conversations(budget: Budget) -> Iterator[Row]:
    """With each framework that is installed: in threads and on one loop, the agent made anew half-way."""
    import conversations

    count = budget.due(_CONVERSATIONS)
    packages = [package for package in conversations.FRAMEWORKS if importlib.util.find_spec(package)]
    yield from Budget(0, hours=1).map(
        partial(_converse, count),
        packages,
        partial(Row, "load: conversations", "broken"),
        len(packages),
    )


def _converse(count: int, package: str) -> Row:
    import conversations

    disabled = logging.root.manager.disable
    logging.disable()
    try:
        seen = conversations.run(package, count, _THREADS)
    finally:
        logging.disable(disabled)
    wrong = seen.wrong[:20]
    if count == _CONVERSATIONS and not conversations.is_flat(seen.memory):
        wrong.append(f"memory grows: {seen.memory} MB")
    told = f"{count} in {_THREADS} threads and {count} on one loop, {seen.answers} answers"
    return Row(f"load: conversations of {package}", told, wrong, count, _CONVERSATIONS)


def _forked(budget: Budget) -> Row:
    """A process that forks while its threads are in the midst of things: each child goes on, and tells of its own."""
    count, wrong = 0, list[str]()
    for count in budget.rounds(_FORKS):
        session, is_over = Session(), threading.Event()

        def busy(thread: int, session: Session = session, is_over: threading.Event = is_over) -> list[str]:
            wrong, turn = list[str](), 0
            while not is_over.is_set() and turn < 200:
                wrong += heat(session if turn % 2 else Session(), 1_000_000 * (thread + 1) + turn)
                turn += 1
                time.sleep(0)  # let the one that forks have its turn
            return wrong

        with ThreadPoolExecutor(_BUSY) as pool:
            talks = [pool.submit(busy, thread) for thread in range(_BUSY)]
            wrong += _in_child(session, count)
            is_over.set()
            wrong += [line for talk in talks for line in talk.result()]
    return Row(f"load: forks amid {_BUSY} busy threads", f"{count + 1} forks", wrong[:20], count + 1, _FORKS)


def _in_child(session: Session, number: int) -> list[str]:
    """What is wrong with a child that goes on with the session of its parent, with one of its own, and with a stored one."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            text = session.to_json(key=_KEY)
            sessions = (session, Session(), Session.from_json(text, key=_KEY))
            status = int(any(heat(each, number) for each in sessions))
        finally:
            os._exit(status)
    until = time.monotonic() + 30
    while time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return [f"fork {number}: another answer"] if status else []
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return [f"fork {number}: waits for ever"]


def _clients(budget: Budget) -> Row:
    """A guard on an address, with clients one after the other, each with a server of its own."""
    if importlib.util.find_spec("mcp") is None:
        return Row("load: clients of one guard", "the SDK of MCP is not installed", count=0)
    import guard

    guard._CLIENTS = budget.due(_CLIENTS)
    [(_, answered, rest)] = guard.clients()
    count = int(answered.split()[0])
    wrong = [] if count == guard._CLIENTS else [f"{guard._CLIENTS} clients, {answered}"]
    wrong += [] if rest.endswith(" 0 left") else [f"of the servers {rest}"]
    return Row("load: clients of one guard", f"{count} one after the other, {rest}", wrong, count, _CLIENTS)


def _one_cache(budget: Budget) -> Row:
    """Checks at once over one cache: each says what one says that knows nothing, and the next one does."""
    rounds, wrong = 0, list[str]()
    with TemporaryDirectory() as folder:
        top = Path(folder)
        write(
            top,
            {"gllint.toml": "", **{f"p{i}/{name}": text for i in range(8) for name, text in AGENT.items()}},
        )
        for rounds in budget.rounds(_ROUNDS):
            if rounds % 3 == 0:
                gllint("clean", cwd=top)
            path = top / f"p{rounds % 8}" / "plant" / "tools.py"
            path.write_text(
                path.read_text("utf-8")
                + f"\n\n@tool\ndef more_{rounds}(site):\n    return {{'a': {rounds}.5}}\n"
            )
            command = [*GLLINT, "check", "-q", "--output-format", "json"]
            expected = gllint("check", "-q", "--output-format", "json", "--no-cache", cwd=top).stdout
            running = [
                subprocess.Popen(
                    [*command, "--jobs", str(1 + number % 2)],
                    cwd=top,
                    env={**os.environ, "HOME": str(top)},
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
                for number in range(_CHECKS)
            ]
            told = [process.communicate(timeout=300) for process in running]
            told.append((gllint(*command[len(GLLINT) :], cwd=top).stdout, ""))
            wrong += [
                f"round {rounds}, check {number}: other findings {said[-300:]}"
                for number, (output, said) in enumerate(told)
                if output != expected or said
            ]
            if rounds + 1 == 3 * _ROUNDS:
                break
    return Row(
        "load: checks at once over one cache",
        f"{rounds + 1} times {_CHECKS}",
        wrong[:20],
        rounds + 1,
        _ROUNDS,
    )
