"""Regular expressions measured at n, 2n and 4n on texts made to make them go back: none takes more than linear time."""

from __future__ import annotations

import importlib
import pkgutil
import re
import time
from collections.abc import Iterator

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
    for name, pattern, piece in pairs:
        if not budget.left():
            break
        count += 1
        text = piece * (_SIZE // len(piece))
        times = [_time(pattern, (text * factor) + "\x01") for factor in (1, 2, 4)]
        if times[2] > _MEASURABLE and times[2] > _MOST_GROWTH * max(times[1], _MEASURABLE / 4):
            shown = " ".join(f"{1000 * taken:.1f}" for taken in times)
            wrong.append(f"{name} on {piece!r}: {shown} ms")
    yield Row("hostile: expressions", f"{len(patterns)} expressions, {count} of {len(pairs)} pairs", wrong)


def _patterns() -> dict[str, re.Pattern[str] | re.Pattern[bytes]]:
    """All that the three packages have compiled once they are imported."""
    found: dict[str, re.Pattern[str] | re.Pattern[bytes]] = {}
    for package in (gllint, gllint_rules, gllint_runtime):
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if info.name.endswith("__main__"):
                continue
            try:
                module = importlib.import_module(info.name)
            except ImportError:  # an extra that is not installed
                continue
            for name, value in vars(module).items():
                if isinstance(value, re.Pattern) and value not in found.values():
                    found[f"{info.name}.{name}"] = value
    return found


def _time(pattern: re.Pattern[str] | re.Pattern[bytes], text: str) -> float:
    subject = text if isinstance(pattern.pattern, str) else text.encode()
    best = 1e9
    for _ in range(2):
        begun = time.process_time()
        sum(1 for _ in pattern.finditer(subject))  # type: ignore[arg-type]
        best = min(best, time.process_time() - begun)
        if best < _MEASURABLE:
            break
    return best
