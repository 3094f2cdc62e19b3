"""Asks a framework which functions of a project it offers to the model, and what the model gets to see of them.

Runs inside an environment that holds the framework, with nothing else installed, and reaches no network:

    python ask.py FRAMEWORK PROJECT.py     prints JSON: [{"name", "function", "seen"}], by the framework's own word

``function`` is the qualified name of the project's function that computes the result, ``seen`` the text or data that
the framework hands to the model when it runs the tool through its own dispatcher: ``null`` where it was not run,
``{"raises": …}`` where the framework refused the result.
"""

from __future__ import annotations

import asyncio
import contextlib
import enum
import functools
import importlib.util
import inspect
import json
import os
import socket
import sys
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

HERE = Path(__file__).parent
_T = TypeVar("_T")
_SAMPLES: dict[object, object] = {str: "Lisbon", int: 3, float: 2.0, bool: True, list: [], dict: {}}
# Keys that constructors of clients want to see; nothing is sent to anybody.
_KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY", "AWS_DEFAULT_REGION")


@dataclass
class Tool:
    """A tool as the framework has it: its name, the function behind it, and how the framework itself runs it."""

    name: str
    function: Callable[..., Any]
    run: Callable[[dict[str, Any]], Any] | None = None


class Project:
    """The imported module of a project."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module

    def every(self, *kinds: type[_T]) -> Iterator[_T]:
        """The module's own instances of these classes, each once, also in its lists and dicts."""
        seen: list[object] = []
        for value in list(vars(self.module).values()):
            held = (
                value
                if isinstance(value, list | tuple)
                else value.values()
                if isinstance(value, dict)
                else [value]
            )
            for item in held:
                if isinstance(item, kinds) and not any(item is other for other in seen):
                    seen.append(item)
                    yield item

    def __getitem__(self, name: str) -> Any:
        return getattr(self.module, name)

    def holds(self, value: object) -> bool:
        """Whether a function or class stands in the project's file."""
        return getattr(plain(value), "__module__", None) == self.module.__name__


def plain(value: object) -> Any:
    """The function that a partial, a bound method, a wrapper or a callable object leads to."""
    while True:
        if isinstance(value, functools.partial):
            value = value.func
        elif inspect.ismethod(value):
            value = value.__func__
        elif hasattr(value, "__wrapped__"):
            value = value.__wrapped__
        elif callable(value) and not hasattr(value, "__qualname__"):
            value = type(value).__call__
        else:
            return value


def method(tool: object, *names: str) -> Any:
    """The first of the methods that the class of ``tool``, a class of the project, defines itself."""
    for name in names:
        found = getattr(type(tool), name, None)
        if found is not None and type(tool).__module__ == plain(found).__module__:
            return found
    raise LookupError(f"{type(tool).__name__} defines none of {names}")


def arguments(function: Callable[..., Any]) -> dict[str, Any]:
    """Some arguments that the function takes: those that have no default, by their annotations."""
    try:
        hints = typing.get_type_hints(function)
    except Exception:
        hints = {}
    out: dict[str, Any] = {}
    for parameter in inspect.signature(function).parameters.values():
        hint = hints.get(parameter.name, str)
        if parameter.default is not parameter.empty or parameter.name in ("self", "ctx", "context"):
            continue
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        out[parameter.name] = _SAMPLES.get(typing.get_origin(hint) or hint, "Lisbon")
    return out


def data(value: object) -> Any:
    """What can be written as JSON, as it is; of anything else its text."""
    for name in ("model_dump", "to_dict"):
        dump = getattr(value, name, None)
        if callable(dump) and not isinstance(value, type):
            with contextlib.suppress(Exception):
                return data(dump(mode="json") if name == "model_dump" else dump())
    if isinstance(value, dict):
        return {str(key): data(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [data(item) for item in value]
    if isinstance(value, enum.Enum):
        return data(value.value)
    return value if isinstance(value, str | int | float | bool | None) else str(value)


class _Words:
    """Stands for a tokeniser, which some frameworks fetch from the network when they are imported."""

    name = "words"

    def encode(self, text: str, **_: object) -> list[int]:
        return [len(word) for word in text.split()]

    def decode(self, tokens: list[int]) -> str:
        return " ".join("x" * token for token in tokens)


def _no_network(*_: object, **__: object) -> Any:
    raise OSError("no network here")


def load(path: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def main(framework: str, path: Path) -> None:
    connect = socket.socket.connect
    socket.socket.connect = lambda self, to: (  # type: ignore[method-assign]
        connect(self, to) if self.family == getattr(socket, "AF_UNIX", None) else _no_network()
    )
    socket.getaddrinfo = _no_network
    for key in _KEYS:
        os.environ.setdefault(key, "eu-west-1" if key.endswith("REGION") else "none")
    os.environ.setdefault("OTEL_SDK_DISABLED", "true")
    if importlib.util.find_spec("tiktoken") is not None:
        tiktoken = importlib.import_module("tiktoken")
        tiktoken.get_encoding = tiktoken.encoding_for_model = lambda *_: _Words()  # type: ignore[attr-defined]
    answer = []
    with contextlib.redirect_stdout(sys.stderr):
        adapter = load(HERE / "adapters" / f"{framework}.py", "adapter")
        project = Project(load(path, path.stem))
        for tool in adapter.tools(project):
            function = plain(tool.function)
            if function.__module__ != project.module.__name__:
                continue  # a tool of the framework's own
            seen = None
            if tool.run is not None:
                try:
                    seen = tool.run(arguments(function))
                    seen = data(asyncio.run(seen) if inspect.isawaitable(seen) else seen)
                except Exception as error:
                    seen = {"raises": f"{type(error).__name__}: {error}".split("\n")[0][:200]}
            answer.append({"name": tool.name, "function": function.__qualname__, "seen": seen})
    answer.sort(key=lambda tool: (tool["function"], tool["name"]))
    print(json.dumps(answer, ensure_ascii=False))


if __name__ == "__main__":
    sys.modules["ask"] = sys.modules["__main__"]
    main(sys.argv[1], Path(sys.argv[2]).resolve())
