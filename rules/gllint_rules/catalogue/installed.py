"""Rules of one's own: what installed packages offer as entry points of the group ``gllint.rules``.

An entry point is named by the code of its rule (``ACME101``) and leads to its :class:`~gllint_rules.rule.Rule`.
Nothing of a package is imported before its rule is asked for.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from gllint_rules.rule import Rule
from gllint_runtime.policy.expressions import expression

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "gllint.rules"
_CODE = expression(r"(?!GL\d)[A-Z]{2,}[0-9]{2,}")


@cache
def installed() -> dict[str, EntryPoint]:
    """Return the entry points by code, sorted. A name that is not a code gets a warning and is left out."""
    if not any(map(_offers, _metadata())):  # as nearly always: looking costs less than importing who knows
        return {}
    from importlib.metadata import entry_points

    points: dict[str, EntryPoint] = {}
    for entry in entry_points(group=GROUP):
        if _CODE.fullmatch(entry.name) is None:
            warnings.warn(
                f"gllint: {entry.name!r} ({entry.value}) is no code of a rule, as in ACME101", stacklevel=2
            )
        else:
            points.setdefault(entry.name, entry)
    return dict(sorted(points.items()))


def load(code: str, entry: EntryPoint) -> Rule:
    """Return the rule of an entry point. If it cannot be loaded, a rule that raises takes its place."""
    from gllint_rules.catalogue.foreign_code import ForeignError, run_foreign

    try:
        rule = run_foreign(f"the import of {code} ({entry.value})", entry.load)
        if (problem := _problem(rule, code)) is not None:
            raise ForeignError(f"{entry.value} {problem}")
    except ForeignError as error:  # whatever someone else's package does, sys.exit included
        text = f"it cannot be loaded: {error}"
        summary = f"The rule {code} cannot be loaded: {error}"
        return Rule(code, "rule-that-cannot-be-loaded", summary, f"{summary}.", _raising(ForeignError(text)))
    assert isinstance(rule, Rule)
    return rule


def _problem(rule: object, code: str) -> str | None:
    """Say why an object is not the rule of a ``code``; ``None`` if it is."""
    if not isinstance(rule, Rule):
        return "is no gllint_rules.rule.Rule"
    if rule.code != code:
        return f"has the code {rule.code!r}"
    for field in ("name", "summary", "documentation", "fix", "since"):
        if not isinstance(getattr(rule, field), str):
            return f"has a {field} that is no text"
    if not callable(rule.check):
        return "has a check that cannot be called"
    for field in ("needles", "options"):
        texts = getattr(rule, field)
        if not isinstance(texts, tuple) or not all(isinstance(text, str) and text for text in texts):
            return f"has {field} that are no tuple of texts"
    return None


def package_of(code: str) -> str | None:
    """Return the installed package that a rule comes from, ``None`` for one of ours."""
    entry = installed().get(code)
    return None if entry is None else (entry.dist.name if entry.dist is not None else entry.value)


def folders() -> list[str]:
    """Return the folders of the packages behind the entry points, found without importing them."""
    paths: dict[str, None] = {}
    for entry in installed().values():
        from importlib.util import find_spec

        try:
            spec = find_spec(entry.value.partition(":")[0].partition(".")[0])
        except (ImportError, ValueError):
            continue
        if spec is not None:
            paths.update(
                dict.fromkeys(spec.submodule_search_locations or [os.path.dirname(spec.origin or ".")])
            )
    return list(paths)


def _raising(error: Exception) -> Callable[[Any], Iterator[Any]]:
    def check(_: Any) -> Iterator[Any]:
        raise error
        yield

    return check


def _metadata() -> Iterator[str]:
    for folder in sys.path:
        try:
            with os.scandir(folder or ".") as entries:
                yield from (e.path for e in entries if e.name.endswith((".dist-info", ".egg-info")))
        except OSError:
            continue


def _offers(folder: str) -> bool:
    """Return whether a package in a folder offers rules."""
    path = f"{folder}/entry_points.txt"
    if not os.access(path, os.R_OK):  # quicker than an error, and most have none
        return False
    try:
        file = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        return GROUP.encode() in os.read(file, 1_000_000)
    except OSError:
        return False
    finally:
        os.close(file)
