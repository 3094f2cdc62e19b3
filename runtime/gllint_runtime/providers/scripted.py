"""Models without a model: fixed steps for tests, and recordings of Live runs that replay bit for bit.

A recording is a file of JSON lines, one for each thing that a run takes from outside (steps, tool outcomes,
clock readings), written as they happen.
"""

from __future__ import annotations

import copy
import inspect
import json
import time
from collections import deque
from collections.abc import Awaitable, Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from gllint_runtime.providers import Provider, Tape, takes_options


class ScriptedProvider:
    """Answers with ``steps``, one after the other; ``received`` has what it received."""

    blocking = False

    def __init__(self, steps: Iterable[Any]) -> None:
        self._steps = deque(steps)
        self.received: list[Any] = []

    def init_chat(self, system_prompt: str, user_msg: str) -> int:
        """Begin; the state is the number of things received."""
        return self._receive({"system": system_prompt, "user": user_msg})

    def chat_step(
        self, *, schema: Any = None, tools: Any = None, state: Any = None, options: Any = None
    ) -> Any:
        """Return the next step. Raises RuntimeError when there is none left."""
        if not self._steps:
            raise RuntimeError("The script has no further step")
        return copy.deepcopy(self._steps.popleft())

    def inject_tool_result(self, result: dict[str, Any]) -> int:
        return self._receive(result)

    def inject_error(self, message: str) -> int:
        return self._receive({"error": message})

    def _receive(self, message: Any) -> int:
        self.received.append(message)
        return len(self.received)


class Recorder(Tape):
    """Passes everything on to ``provider`` and writes what the run depends on to the file at ``path``."""

    def __init__(self, provider: Provider, path: str | PathLike[str]) -> None:
        self.init_chat = provider.init_chat
        self.inject_tool_result = provider.inject_tool_result
        self.inject_error = provider.inject_error
        self._chat_step = provider.chat_step
        self._takes_options = takes_options(provider)
        self._path = Path(path)
        self._path.write_text("", encoding="utf-8")

    def chat_step(self, **request: Any) -> Any:
        """Ask the provider and record its step; what is returned is what a replay will read."""
        if not self._takes_options:
            request.pop("options", None)
        step = self._chat_step(**request)
        return self._later(step) if inspect.isawaitable(step) else self._record(step)

    async def _later(self, step: Awaitable[Any]) -> Any:
        return self._record(await step)

    def _record(self, step: Any) -> Any:
        data = json.loads(json.dumps(step, default=_as_data))
        self._write("step", data)
        return data

    def opening(self, start: dict[str, Any]) -> dict[str, Any]:
        self._write("start", start)
        return start

    def clock(self) -> float:
        now = time.perf_counter()
        self._write("clock", now)
        return now

    def call_done(self, name: str, arguments: dict[str, Any], outcome: dict[str, Any]) -> None:
        self._write("call", {"name": name, "arguments": arguments, **outcome})

    def _write(self, kind: str, value: Any) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({kind: value}) + "\n")


def _as_data(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else repr(value)


class Replayer(ScriptedProvider, Tape):
    """Plays a recording: the same steps, the same tool outcomes, the same clock. No tool is executed.

    Raises RuntimeError where the run departs from what was recorded.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self._recorded: dict[str, deque[Any]] = {kind: deque() for kind in ("start", "step", "clock", "call")}
        for line in Path(path).read_text(encoding="utf-8").splitlines():
            for kind, value in json.loads(line).items():
                self._recorded[kind].append(value)
        super().__init__(self._recorded["step"])

    def opening(self, start: dict[str, Any]) -> dict[str, Any]:
        return dict(self._next("start"))

    def clock(self) -> float:
        return float(self._next("clock"))

    def recorded_call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the outcome of the next recorded call, which must be this one."""
        call = self._next("call")
        if call["name"] != name or call["arguments"] != arguments:
            raise RuntimeError(f"The recording calls {call['name']}({call['arguments']}) here, not {name}")
        return dict(call)

    def _next(self, kind: str) -> Any:
        if not self._recorded[kind]:
            raise RuntimeError(f"The recording has no further {kind}")
        return self._recorded[kind].popleft()
