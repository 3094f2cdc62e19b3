"""Regular expressions measured at n, 2n and 4n on texts made to make them go back: none takes more than linear time."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

from trust import Budget, Row

import gllint
import gllint_rules
import gllint_runtime

_SIZE = 2_000
_MOST_GROWTH = 3.2  # for twice the text, where it takes long enough to be measured
_MEASURABLE = 0.02
_PIECES = [
    "a", "0", " ", "_", ".", "(", ")", "{", '"', "'", "\\", "\n", "#", ":", ",", "=", "-", "a.", "a,", "0.", "0,", "{{", "}}", "(a",
    "class a(", "from a import ", "import a,", "# noqa: ", "noqa:", "gllint: ", "{{claim:", "2024-", "**", "a\n", "a \\\n", " a", "f'{",
]  # fmt: skip


def suite(budget: Budget) -> Iterator[Row]:
    patterns = _patterns()
    wrong: list[str] = []
    count = 0
    pairs = [(name, pattern, piece) for name, pattern in sorted(patterns.items()) for piece in _PIECES]
    budget.random.shuffle(pairs)
    for name, use, piece in pairs:
        if count >= 50 and not budget.left():
            break
        count += 1
        text = piece * (_SIZE // len(piece))
        times = [_time(use, (text * factor) + "\x01") for factor in (1, 2, 4)]
        if times[2] > _MEASURABLE and times[2] > _MOST_GROWTH * max(times[1], _MEASURABLE / 4):
            shown = " ".join(f"{1000 * taken:.1f}" for taken in times)
            wrong.append(f"{name} on {piece!r}: {shown} ms")
    yield Row("hostile: expressions", f"{len(patterns)} expressions, {count} of {len(pairs)} pairs", wrong)


def _patterns() -> dict[str, Callable[..., Any]]:
    """All that the three packages have compiled once they are imported."""
    found: dict[str, Callable[..., Any]] = {}
    for package in (gllint, gllint_rules, gllint_runtime):
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
                    found[f"{info.name}.{name}"] = value.finditer if searches else value.match
    return found


def _time(use: Callable[..., Any], text: str) -> float:
    pattern: re.Pattern[Any] = use.__self__  # type: ignore[attr-defined]
    subject = text if isinstance(pattern.pattern, str) else text.encode()
    best = 1e9
    for _ in range(2):
        begun = time.process_time()
        found = use(subject)
        if not (found is None or isinstance(found, re.Match)):
            sum(1 for _ in found)
        best = min(best, time.process_time() - begun)
        if best < _MEASURABLE:
            break
    return best
