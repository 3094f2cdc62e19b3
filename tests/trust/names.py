"""A key and its other forms get the same unit, or none: in camel case, with words before it, as Prometheus writes it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import oracle_keys
from trust import Budget, Row

from gllint_runtime.policy.names import read_name

_NAMES = 20_000  # in an hour
_KEYS = Path(__file__).parents[1] / "runtime" / "keys.txt"
_KEY = re.compile(
    r"[a-z][a-z0-9]*(?:_[a-z][a-z0-9]*)+"
)  # `ft_2` is `Ft2` in camel case, which is another one
_BEFORE = ("site", "north_wing", "measured", "our", "device", "building")
_STATISTICS = ("max", "avg", "p95", "mean", "total", "est")


def suite(budget: Budget) -> Iterator[Row]:
    counts, wrong = Counter[str](), list[str]()
    listed = [*_listed()]
    for number in budget.rounds(_NAMES, lambda: counts["forms"]):
        chance = Random(f"{budget.seed} {number}")
        for key in (*chance.sample(listed, 20), *(oracle_keys.composed(chance).name for _ in range(5))):
            unit = read_name(key).unit
            counts["units" if unit is not None else "none"] += 1
            for name, form in _FORMS.items():
                other = form(chance, key)
                counts["forms"] += 1
                got = read_name(other).unit
                counts["kept"] += got is not None
                # A form may say less than the key; where the key says nothing it says nothing new.
                if got != unit and got is not None and (unit is not None or name in _SAYING_NO_MORE):
                    wrong.append(f"round {number}, {name}: {key} is in {unit}, {other} in {got}")
    told = f"{counts['forms']} forms of {counts['units']} keys with a unit and {counts['none']} without"
    yield Row(
        "names: one key, one unit", f"{told}; {counts['kept']} have one", wrong[:20], counts["forms"], _NAMES
    )


def _listed() -> Iterator[str]:
    """Keys in snake case: those of the tests, and those of others."""
    names = {name for name, *_ in oracle_keys.keys()}  # noqa: SIM118
    for line in _KEYS.read_text("utf-8").splitlines():
        names.update(() if line.startswith(("#", "[")) else line.split())
    return filter(_KEY.fullmatch, sorted(names))


def _camel(_: Random, key: str) -> str:
    first, *others = key.split("_")
    return first + "".join(word.capitalize() for word in others)


def _pascal(_: Random, key: str) -> str:
    return "".join(word.capitalize() for word in key.split("_"))


def _capitals(_: Random, key: str) -> str:
    return key.upper()


def _prefixed(chance: Random, key: str) -> str:
    return f"{chance.choice(_BEFORE)}_{key}"


def _statistic(chance: Random, key: str) -> str:
    return f"{chance.choice(_STATISTICS)}_{key}"


def _prometheus(chance: Random, key: str) -> str:
    return f"{chance.choice(_BEFORE)}_{key}_total"


def _kebab(_: Random, key: str) -> str:
    return key.replace("_", "-")


def _dotted(_: Random, key: str) -> str:
    return key.replace("_", ".")


_FORMS: dict[str, Callable[[Random, str], str]] = {
    "camel case": _camel,
    "Pascal case": _pascal,
    "capitals": _capitals,
    "a word before": _prefixed,
    "a statistic before": _statistic,
    "Prometheus": _prometheus,
    "kebab case": _kebab,
    "dots": _dotted,
}
_SAYING_NO_MORE = {"camel case", "Pascal case", "capitals"}
