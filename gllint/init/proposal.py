"""The configuration that fits a project: what its findings ask for, next to what it says already."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gllint.files.config import Config
from gllint.files.editing import Addition
from gllint.init.survey import Survey, test_patterns
from gllint.report.unseen import missing_row
from gllint.verdict.advice import KEYS, asked_by, is_counted, switches_asked_by, uncounted_keys
from gllint_rules import Finding
from gllint_rules.rule import OFF_IN_SOURCED_MODE
from gllint_rules.tuples import NamedTuple
from gllint_runtime.policy.packs import PACKS

_ABOUT_UNITS = OFF_IN_SOURCED_MODE | {"GL101", "GL104", "GL201", "GL202"}


class Proposal(NamedTuple):
    """What ``[tool.gllint]`` would gain. ``settled`` counts, for each key, the findings that asked for it.

    ``of_mode`` are the findings that sourced mode may leave out, and no other setting.
    """

    addition: Addition
    settled: Mapping[str, int]
    of_mode: tuple[Finding, ...] = ()

    def count_of_mode(self, remaining: Iterable[Finding]) -> int:
        """Return how many findings sourced mode alone leaves out, if these are the ``remaining`` ones."""
        places = {(finding.path, finding.span, finding.code) for finding in remaining}
        return sum((finding.path, finding.span, finding.code) not in places for finding in self.of_mode)


def propose(survey: Survey, config: Config, root: str, mode: str | None = None) -> Proposal:
    """Return the settings that the findings of a survey ask for, beyond those in ``config``.

    ``mode`` is that of the answers; without one, "sourced" is proposed if no claim macro is in the project.
    """
    items: dict[str, dict[str, None]] = {}
    settled: dict[str, int] = {}
    ours = [f for f in survey.own if not (survey.in_tests and _is_test(f, root))]
    values: dict[str, str | bool] = {}
    if survey.outcome.tools and "mode" not in config.origins:
        mode = mode or ("" if survey.has_macros else "sourced")
        if mode:
            values["mode"] = mode
    others = uncounted_keys(survey.own)
    of_mode: list[Finding] = []
    for finding in ours:
        # In sourced mode a number whose unit is shown is no finding, nor is a Quantity in a list.
        needs_no_setting = mode == "sourced" and finding.code in _ABOUT_UNITS
        needs_other = not needs_no_setting
        for key, new in asked_by(finding, config):
            if needs_no_setting and key != "plain-keys":
                continue
            if key == "plain-keys" and not is_counted(finding, others):
                continue
            needs_other = True
            items.setdefault(key, {}).update(dict.fromkeys(new))
            settled[key] = settled.get(key, 0) + 1
        if not needs_other:
            of_mode.append(finding)
        for key in switches_asked_by(finding, config) if not needs_no_setting else ():
            values[key] = True
            settled[key] = settled.get(key, 0) + 1
    lists: dict[str, tuple[Any, ...]] = {key: _ordered(key, items[key]) for key in KEYS if key in items}
    if row := missing_row(survey.outcome.tools):
        lists["frameworks"] = (row,)
        settled["frameworks"] = sum(bool(sight.row) for sight in survey.outcome.tools)
    patterns = test_patterns([f.path for f in survey.own], root) if survey.in_tests else ()
    ignores = {pattern: ("GL",) for pattern in patterns if pattern not in config.per_file_ignores}
    ignores |= {pattern: ("GL900",) for pattern in survey.templates if pattern not in config.per_file_ignores}
    if ignores:
        settled["per-file-ignores"] = survey.in_tests
    return Proposal(Addition(lists, ignores, values), settled, tuple(of_mode))


def _is_test(finding: Finding, root: str) -> bool:
    return bool(test_patterns([finding.path], root))


def _ordered(key: str, items: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(items, key=PACKS.index if key == "unit-packs" else str))
