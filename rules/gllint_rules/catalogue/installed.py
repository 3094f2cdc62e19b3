"""Rules of other packages: the entry points of the group ``gllint.rules``.

An entry point is named by the code of its rule (``ACME101``) and leads to its :class:`~gllint_rules.rule.Rule`.
A package is imported only when one of its rules runs.
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
    """Return the entry points by code, sorted: ``{"ACME101": …}``. A name that is no code is skipped with a warning."""
    # Nearly always there are none: looking into the folders takes less time than importing `importlib.metadata`.
    if not any(map(_offers, _metadata())):
        return {}
    from importlib.metadata import entry_points

    points: dict[str, EntryPoint] = {}
    for entry in entry_points(group=GROUP):
        if _CODE.fullmatch(entry.name) is None:
            warnings.warn(
                f"gllint: the entry point {entry.name!r} ({entry.value}) is skipped: its name must be a rule code "
                "such as ACME101",
                stacklevel=2,
            )
        else:
            points.setdefault(entry.name, entry)
    return dict(sorted(points.items()))


def load(code: str, entry: EntryPoint) -> Rule:
    """Return the rule of an entry point; if it cannot be loaded, a rule whose check raises the reason."""
    from gllint_rules.catalogue.foreign_code import ForeignError, run_foreign

    try:
        rule = run_foreign(f"the import of {code} ({entry.value})", entry.load)
        if (problem := _problem(rule, code)) is not None:
            raise ForeignError(f"{entry.value} {problem}")
    except ForeignError as error:
        text = f"it cannot be loaded: {error}"
        summary = f"The rule {code} cannot be loaded: {error}"
        return Rule(code, "rule-that-cannot-be-loaded", summary, f"{summary}.", _raising(ForeignError(text)))
    assert isinstance(rule, Rule)
    return rule


def _problem(rule: object, code: str) -> str | None:
    """Return why an object is not the rule of a ``code``; None if it is."""
    if not isinstance(rule, Rule):
        return f"must be a gllint_rules.rule.Rule, got {type(rule).__name__}"
    if rule.code != code:
        return f"has the code {rule.code!r}, but its entry point is named {code}"
    for field in ("name", "summary", "documentation", "fix", "since"):
        if not isinstance(getattr(rule, field), str):
            return f"has a {field} that is not a string"
    if not callable(rule.check):
        return "has a check that cannot be called"
    for field in ("needles", "options"):
        texts = getattr(rule, field)
        if not isinstance(texts, tuple) or not all(isinstance(text, str) and text for text in texts):
            return f"has {field} that are not a tuple of nonempty strings"
    return None


def package_of(code: str) -> str | None:
    """Return the name of the installed package that a rule comes from; None for a rule of gllint."""
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
    """Return the check of a rule that raises ``error``."""

    def check(_: Any) -> Iterator[Any]:
        raise error
        yield  # makes this a generator, as every check is

    return check


def _metadata() -> Iterator[str]:
    """Yield the metadata folders of all installed packages: ``…/site-packages/name-1.0.dist-info``."""
    for folder in sys.path:
        try:
            with os.scandir(folder or ".") as entries:
                yield from (e.path for e in entries if e.name.endswith((".dist-info", ".egg-info")))
        except OSError:
            continue


def _offers(folder: str) -> bool:
    """Return whether the package with this metadata folder offers rules."""
    path = f"{folder}/entry_points.txt"
    if not os.access(path, os.R_OK):  # most packages have none, and this takes less time than an exception
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
