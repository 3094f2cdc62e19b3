"""The rules over the candidates of one project in several processes, each forked from this one.

A forked process has everything that was read and inferred so far. So it only receives the paths of files, the largest
first, and only returns the rules' results for each. A question about all modules is divided among the processes.

A rule of an installed package may end its process, or block it. Each process reports before it runs such a rule on a
file, so that this rule can be switched off, and the other rules check all files.
"""

from __future__ import annotations

import gc
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from gllint.run import rules
from gllint.run.pool import Pool, apply, begin, starting
from gllint.run.results import Result
from gllint_rules.catalogue import foreign_code
from gllint_rules.reading.stack import on_large_stack

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkProcess

    from gllint.run.index import Index
    from gllint.run.rules import Checked
    from gllint_rules.check.own_rules import Question

_Result = TypeVar("_Result")
WORTH_BYTES = 500_000
_HANDFUL_BYTES = 20_000
_LOOK, _GONE = 0.5, 0.1  # seconds: between looks for blocked rules; to wait for the end of a process


class Crash(Exception):
    """A process of the crew has ended too early, or none could be forked."""


class _RuleCrash(Exception):
    """A package's rule ended or blocked its process; ``why`` says which of both."""

    def __init__(self, question: Question, why: str) -> None:
        super().__init__(question, why)
        self.question, self.why = question, why


def is_worth(index: Index, paths: Sequence[str]) -> bool:
    """Return whether to use a crew: it saves more time than it costs, or guards against rules of packages."""
    if sys.platform != "linux" or index.means.clock.by_rule:  # macOS does not let its libraries be forked
        return False
    return not _is_daemon() if _asks_others(index) else _is_large(index, paths)


def _is_large(index: Index, paths: Sequence[str]) -> bool:
    """Return whether there is enough to check that several processes save time."""
    sizes = (signature.size for path in paths if (signature := index.files.get(path)))
    return index.means.pool.jobs > 1 and not index.means.sources.buffer_paths() and sum(sizes) > WORTH_BYTES


def _asks_others(index: Index) -> bool:
    """Return whether a rule of an installed package is in force."""
    return any(not code.startswith("GL") for code in index.config.codes)


def _is_daemon() -> bool:
    """Return whether this process, as those of flake8, may have no processes of its own."""
    processes = sys.modules.get("multiprocessing")
    return processes is not None and bool(processes.current_process().daemon)


def check_files(index: Index, paths: Sequence[str], fixes: bool) -> dict[str, Result]:
    """Return the rules' results for candidates, with the ``fixes`` if they are wanted.

    Raises :class:`Crash` if a process ends too early, or if none can be forked.
    """
    while True:
        try:
            return _check_files(index, paths, fixes)
        except _RuleCrash as lost:
            from gllint_rules.check.own_rules import give_up

            if not give_up(lost.question, lost.why):
                raise Crash from lost
            index.means.progress.expect("checking", len(paths))  # all files are checked again


def _check_files(index: Index, paths: Sequence[str], fixes: bool) -> dict[str, Result]:
    """Check files in processes that share what they learn about the project."""
    pool = index.means.pool
    pool.close()
    if threading.active_count() > 1:  # next to other threads a fork may never come back
        raise Crash
    crew = _Crew(index, min(pool.jobs, len(paths)) if _is_large(index, paths) else 1)
    index.means.pool = crew  # until they end, these processes do all other work of this run, too
    try:
        # The largest first: a large file at the end would leave the other processes idle.
        by_size = sorted(paths, key=lambda path: (-_size(index, path), path))
        results = rules.check_files(index, by_size, fixes, crew.check)
        crew.end()
        return results
    except (OSError, EOFError) as error:
        crew.raise_for_rules()
        raise Crash from error
    finally:
        index.means.pool = pool
        crew.close()


def _size(index: Index, path: str) -> int:
    signature = index.files.get(path)
    return signature.size if signature is not None else 0


class _Crew(Pool):
    """The parent's side: hands out files to check, and the parts of questions about all modules.

    A pipe buffers little, and a process that writes much waits for its reader. So the parent must always be able to
    read: a thread of its own sends its messages.
    """

    def __init__(self, index: Index, size: int) -> None:
        super().__init__(size)
        self._index = index
        self._processes: list[ForkProcess] = []
        self._pipes: list[Connection] = []
        self._shares = [sorted(index.project.modules)[number::size] for number in range(size)]
        # What the processes were asked about all modules: the answers, those that have not answered, who waits.
        self._answers: dict[tuple[Any, object], dict[str, Any]] = {}
        self._respondents: dict[tuple[Any, object], set[Connection]] = {}
        self._waiting: dict[tuple[Any, object], list[Connection]] = {}
        # What the rules of packages are being asked, and since when.
        self._questions: dict[Connection, tuple[Question, float]] = {}
        self._outbox: SimpleQueue[tuple[Connection, object] | None] = SimpleQueue()
        self._sender: threading.Thread | None = None
        gc.freeze()
        try:
            with starting():
                self._start_processes(index, size)
        except BaseException:
            self.close()
            raise
        finally:
            gc.unfreeze()
        self._sender = threading.Thread(target=self._send_all, daemon=True)  # not before the last fork
        self._sender.start()

    def _start_processes(self, index: Index, size: int) -> None:
        """Fork the processes, each with a pipe to this one."""
        import multiprocessing  # a run that is not worth a crew needs none

        context = multiprocessing.get_context("fork")
        for _ in range(size):
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(index, theirs), daemon=True)
            process.start()
            theirs.close()
            self._processes.append(process)
            self._pipes.append(ours)

    def _send_all(self) -> None:
        """Send the messages of the outbox to the other processes, until ``None`` comes."""
        while (entry := self._outbox.get()) is not None:
            pipe, message = entry
            try:
                pipe.send(message)
            except Exception:  # the parent sees that the processes have ended, and does the work itself
                for process in self._processes:
                    process.terminate()

    def _say(self, pipe: Connection, *message: object) -> None:
        self._outbox.put((pipe, message))

    def check(self, index: Index, paths: Sequence[str], fixes: bool) -> Iterator[Checked]:
        """Yield the rules' results for each file, in the order in which the processes finish."""
        pending = list(reversed(paths))

        def following(pipe: Connection) -> tuple[object, ...] | None:
            """Return the next few files for a process; ``None`` if all are taken."""
            handful: list[str] = []
            size = 0
            most = len(pending) // (4 * len(self._pipes)) + 1  # few at the end, so that no process is idle
            while pending and size < _HANDFUL_BYTES and len(handful) < most:
                path = pending.pop()
                handful.append(path)
                size += _size(index, path) + 1
            return ("check", handful, fixes) if handful else None

        for checked in self._work(following):
            yield from checked

    def _run(
        self,
        function: Callable[[Any, str], _Result],
        work: Any,
        chunks: list[Sequence[str]],
        crashed: _Result,
    ) -> Iterator[list[_Result]]:
        """Apply a function to chunks of work in the processes, and yield the results in the order of the chunks."""
        pending = list(reversed([*enumerate(chunks)]))
        done: dict[int, list[_Result]] = {}
        following = 0
        for number, values in self._work(
            lambda pipe: ("apply", function, work, *pending.pop()) if pending else None
        ):
            done[number] = values
            while following in done:
                yield done.pop(following)
                following += 1

    def _work(self, following: Callable[[Connection], tuple[object, ...] | None]) -> Iterator[Any]:
        """Yield the result of each task. ``following`` returns the next task for a process, ``None`` for none."""
        idle, busy = list(self._pipes), 0
        while idle or busy:
            for pipe in idle:
                if (task := following(pipe)) is not None:
                    self._say(pipe, *task)
                    busy += 1
            idle = []
            ready = self._heard() if busy else ()
            for pipe in [pipe for pipe in self._pipes if pipe in ready]:
                match pipe.recv():
                    case ("asks", None):
                        self._questions.pop(pipe, None)
                    case ("asks", question):
                        self._questions[pipe] = question, time.monotonic()
                    case ("done", result):
                        yield result
                        idle.append(pipe)
                        busy -= 1
                    case ("all", part, argument):
                        self._ask_all(pipe, part, argument)
                    case ("share", part, argument, values):
                        self._collect(pipe, (part, argument), values)

    def _heard(self) -> list[Connection]:
        """Wait for messages and return the pipes that have one. Raises :class:`_RuleCrash` if a rule blocks."""
        from multiprocessing.connection import wait

        while True:
            ready = [
                pipe for pipe in wait(self._pipes, _LOOK if self._questions else None) if pipe in self._pipes
            ]
            if ready:
                return ready
            for question, since in self._questions.values():
                if time.monotonic() - since > foreign_code.SILENCE:
                    silence = f"let nothing else run for {foreign_code.SILENCE:g} s"
                    raise _RuleCrash(
                        question, f"{silence} (perhaps because of a regular expression) while it checked"
                    )

    def raise_for_rules(self) -> None:
        """Raise :class:`_RuleCrash` if a process ended while it ran a package's rule."""
        for process, pipe in zip(self._processes, self._pipes, strict=True):
            process.join(_GONE)
            if process.exitcode is not None and pipe in self._questions:
                raise _RuleCrash(self._questions[pipe][0], "ended the process while it checked")

    def end(self) -> None:
        """Collect from each process the evidence of its results. Raises ``EOFError`` if a process has ended."""
        for pipe in self._pipes:
            self._say(pipe, "end")
        for pipe in self._pipes:
            self._index.learn(*pipe.recv())

    def _ask_all(self, pipe: Connection, part: Any, argument: object) -> None:
        """Ask each process for a part of the answers to a question about all modules."""
        key = part, argument
        self._waiting.setdefault(key, []).append(pipe)
        if key not in self._respondents:
            self._answers[key] = {}
            self._respondents[key] = set(self._pipes)
            for other, share in zip(self._pipes, self._shares, strict=True):
                self._say(other, "share", part, argument, share)
        self._answer(key)

    def _collect(self, pipe: Connection, key: tuple[Any, object], values: Mapping[str, Any]) -> None:
        self._answers[key] |= values
        self._index.project.remember(*key, values)
        self._respondents[key].discard(pipe)
        self._answer(key)

    def _answer(self, key: tuple[Any, object]) -> None:
        if not self._respondents[key]:
            for pipe in self._waiting.pop(key, ()):
                self._say(pipe, "all", self._answers[key])

    def close(self) -> None:
        """End the processes; they have nothing to save."""
        for process in self._processes:
            process.terminate()
            process.join()
        self._outbox.put(None)
        if self._sender is not None:
            self._sender.join()
        for pipe in self._pipes:
            pipe.close()


# --- in the processes ---------------------------------------------------------------------------------------


def _serve(index: Index, pipe: Connection) -> None:
    begin()
    with suppress(OSError, EOFError):  # the parent has gone, or wants no more
        on_large_stack(_Worker(index, pipe).run)


class _Worker:
    def __init__(self, index: Index, pipe: Connection) -> None:
        self._index, self._pipe, self._project = index, pipe, index.project
        self._project.share_out = self._share_out
        if _asks_others(index):
            from gllint_rules.check.own_rules import listen

            listen(lambda question: pipe.send(("asks", question)))

    def run(self) -> None:
        """Do the tasks from the pipe, until the parent ends this process. Raises EOFError if the parent has gone."""
        while True:
            match self._pipe.recv():
                case ("check", paths, fixes):
                    self._pipe.send(("done", list(rules.check_here(self._index, paths, fixes))))
                case ("apply", function, work, number, paths):
                    self._pipe.send(("done", (number, apply(function, work, paths))))
                case ("share", part, argument, paths):
                    self._give(part, argument, paths)
                case ("end",):  # of the checking: this process waits here until the parent terminates it
                    self._pipe.send(self._index.learnt())

    def _share_out(self, part: Any, argument: object) -> Mapping[str, Any]:
        """Return the answers of ``part`` for all modules, most of them computed by the other processes."""
        self._pipe.send(("all", part, argument))
        while True:
            match self._pipe.recv():
                case ("share", other, its, paths):
                    self._give(other, its, paths)
                case ("all", answers):
                    return dict(answers)

    def _give(self, part: Any, argument: object, paths: Sequence[str]) -> None:
        self._pipe.send(("share", part, argument, self._project.parts(part, argument, paths)))
