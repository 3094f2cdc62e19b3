"""``gllint init``: says what it saw and would write, asks, and writes."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence

import click

from gllint.cli.output import NO_FINDINGS
from gllint.cli.summary import count_text
from gllint.errors import UsageError
from gllint.files.paths import relative
from gllint.init.plan import Change, Plan, plan, write
from gllint.init.survey import Survey
from gllint.run.fixer import diff
from gllint.shown import toml, visible

_MOST = 8
_MODES: Mapping[str | bool, str] = {
    "sourced": "answers cite plain numbers",
    "claims": "answers cite macros such as {{claim:0}}",
}


def run(path: str, yes: bool, dry_run: bool, agents: Sequence[str] = ()) -> int:
    """Propose settings, a baseline and a hook for a project, and write them if the user agrees."""
    project_plan = plan(path, agents)
    if "mode" in project_plan.proposal.addition.values and not (yes or dry_run) and _is_terminal():
        modes = click.Choice(["sourced", "claims"])
        for mode, meaning in _MODES.items():
            click.echo(f"{mode}: {meaning}")
        if click.prompt("Mode", type=modes, default="sourced") == "claims":
            project_plan = plan(path, agents, "claims")
    for line in _overview(project_plan):
        click.echo(visible(line))
    names = ", ".join(visible(relative(change.path, project_plan.root)) for change in project_plan.changes)
    if not project_plan.changes:
        click.echo("There is nothing to write.")
    elif dry_run:
        for change in project_plan.changes:
            click.echo(_diff(change, project_plan.root))
        click.echo(f"Would write {names}.")
    elif yes or _confirm(names):
        write(project_plan.changes)
        click.echo(f"Wrote {names}.")
    else:
        click.echo("Nothing was written.")
    return NO_FINDINGS


def _diff(change: Change, root: str) -> str:
    """Return the change of a file as a patch; for a baseline, only its old and new number of findings."""
    name = relative(change.path, root)
    if change.finding_counts is not None:
        old_count, new_count = change.finding_counts
        was = f"{count_text(old_count, 'finding')} now, " if change.old_data is not None else ""
        return visible(f"{name}: {was}{count_text(new_count, 'finding')}, not shown") + "\n"
    lines = diff(name, change.old_data, change.new_data).decode("utf-8", "replace").split("\n")
    return "\n".join(map(visible, lines))


def _is_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


def _confirm(names: str) -> bool:
    if not _is_terminal():
        raise UsageError("not a terminal: use `--yes` or `--dry-run`")
    return click.confirm(f"Write {names}?")


def _overview(project_plan: Plan) -> Iterator[str]:
    """Yield the lines that say what was found in the project, what is proposed for it, and what that changes."""
    survey = project_plan.survey
    finding_count = len(survey.outcome.findings)
    yield f"Looked through {count_text(len(survey.outcome.checked), 'file')} of {project_plan.root}."
    if project_plan.folder != project_plan.root:
        yield f"  {project_plan.folder} is a part of this project: paths are relative to {project_plan.root}."
    yield f"  frameworks:  {_listed(survey.frameworks, 'file')}"
    yield f"  units:       {_listed(survey.units, 'place')}"
    yield f"  numbers without a unit, by kind: {_listed(survey.kinds)}"
    if rest_counts := ", ".join(_other_counts(survey)):
        yield f"  others:      {rest_counts}"
    if not survey.outcome.tools:
        yield "  tools:       none found: declare yours with `tool-decorators`, `tool-classes` and `tool-methods`"
    yield f"  dispatchers: {', '.join(survey.dispatchers[:_MOST]) or 'none'}"
    if not project_plan.unseen.is_empty:
        yield f"  coverage:    {project_plan.unseen.line()}"
        if advice := project_plan.unseen.advice():
            yield f"    {advice}"
    yield ""
    if project_plan.proposal.addition:
        yield "Proposed for [tool.gllint]:"
        yield from _lines(project_plan)
        yield ""
        yield f"Findings: {finding_count} now, {project_plan.finding_count} with these settings."
    else:
        if project_plan.baseline_count:
            yield "Only a baseline is proposed, no settings."
        elif project_plan.unseen.is_empty:
            yield "The current settings need no change."
        else:
            yield "No setting is proposed, but not everything was checked."
        yield f"Findings: {finding_count}."
    # The proposed packs give these findings a unit.
    with_unit = project_plan.proposal.settled.get("unit-packs", 0)
    if with_unit:
        yield (
            f"  {with_unit} of these then {'has' if with_unit == 1 else 'have'} a unit, which the help of the finding "
            "names. --fix --unsafe-fixes writes it, except in fields of models and where the file computes with the "
            "number."
        )
    if project_plan.baseline_count:
        count = count_text(project_plan.baseline_count, "finding")
        yield f"  The baseline has today's {count}: only new ones are reported, and `gllint check` exits with 0."
    gl9_count = sum(finding.code.startswith("GL9") for finding in project_plan.survey.outcome.findings)
    if gl9_count:
        verb = "stays" if gl9_count == 1 else "stay"
        yield f"  {count_text(gl9_count, 'finding')} of GL9 {verb}: a baseline cannot contain what gllint cannot read."
    yield from project_plan.notes


def _other_counts(survey: Survey) -> Iterator[str]:
    """Yield the counts of findings that are not listed by kind, each with the reason."""
    elsewhere = len(survey.outcome.findings) - len(survey.own)
    kindless = len(survey.own) - survey.in_tests - sum(survey.kinds.values())
    for count, where in (
        (kindless, "whose kind is not known"),
        (survey.in_tests, "in test code"),
        (elsewhere, "in folders with settings of their own"),
    ):
        if count:
            yield f"{count_text(count, 'finding')} {where}"


def _lines(project_plan: Plan) -> Iterator[str]:
    """Yield the proposed settings, each with the number of findings that need it."""
    for key, items in project_plan.proposal.addition.lists.items():
        count = project_plan.proposal.settled.get(key, 0)
        needed = count_text(count, "function" if key == "frameworks" else "finding")
        yield f"  {key} = {toml(items)}  # needed by {needed}"
    for key, value in project_plan.proposal.addition.values.items():
        count = project_plan.proposal.settled.get(key, 0)
        why = _MODES[value] if key == "mode" else f"needed by {count_text(count, 'finding')}"
        if key == "mode" and count:
            why += f": leaves out {count_text(count, 'finding')} whose unit is shown, or that concern claims"
        yield f"  {key} = {json.dumps(value)}  # {why}"
    for pattern, codes in project_plan.proposal.addition.ignores.items():
        why = "templates, no Python yet" if codes == ("GL900",) else "test code: no user sees it"
        yield f"  per-file-ignores: {json.dumps(pattern)} = {json.dumps(list(codes))}  # {why}"


def _listed(counts: Mapping[str, int], noun: str = "") -> str:
    """Return the most frequent names, each with its count of ``noun``: ``{"mcp": 3}, "file"`` → "mcp (3 files)"."""
    parts = [
        f"{name} ({count_text(count, noun) if noun else count})"
        for name, count in list(counts.items())[:_MOST]
    ]
    rest = len(counts) - _MOST
    return ", ".join(parts) + (f" and {rest} more" if rest > 0 else "") if parts else "none"
