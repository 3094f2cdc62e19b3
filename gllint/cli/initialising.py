"""``gllint init``: says what it saw and would write, asks, and writes."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping

import click

from gllint.cli.status import NOTHING_FOUND
from gllint.cli.summary import counted
from gllint.errors import UsageError
from gllint.init.plan import Plan, plan, write
from gllint.shown import visible

_MOST = 8


def run(path: str, yes: bool, dry_run: bool) -> int:
    """Propose what fits the project of the folder ``path``, and write it where that is wanted."""
    made = plan(path)
    for line in _told(made):
        click.echo(visible(line))
    names = ", ".join(visible(os.path.relpath(change.path, made.root)) for change in made.changes)
    if not made.changes:
        click.echo("There is nothing to write.")
    elif dry_run:
        click.echo(f"Would write {names}.")
    elif yes or _asked(names):
        write(made.changes)
        click.echo(f"Wrote {names}.")
    else:
        click.echo("Nothing was written.")
    return NOTHING_FOUND


def _asked(names: str) -> bool:
    if not sys.stdin.isatty():
        raise UsageError("there is nobody to ask: give --yes to write, or --dry-run to look")
    return click.confirm(f"Write {names}?")


def _told(made: Plan) -> Iterator[str]:
    seen = made.seen
    before = len(seen.outcome.findings)
    yield f"Looked through {counted(len(seen.outcome.checked), 'file')} of {made.root}."
    yield f"  frameworks:  {_listed(seen.frameworks)}"
    yield f"  units:       {_listed(seen.units)}"
    yield f"  numbers without a unit, by kind: {_listed(seen.kinds)}"
    yield f"  dispatchers: {', '.join(seen.dispatchers[:_MOST]) or 'none'}"
    if not made.unseen.is_empty:
        yield f"  not looked at: {made.unseen.line()}"
        yield from (f"    {sentence}" for sentence in made.unseen.advice())
    yield ""
    if made.proposal.addition:
        yield "Proposed for [tool.gllint]:"
        yield from _lines(made)
        yield ""
        yield f"Findings: {before} now, {made.left} with these settings."
    else:
        yield "The settings fit as they are."
        yield f"Findings: {before}."
    wrapped = made.proposal.settled.get("unit-packs", 0)
    if wrapped:
        yield (
            f"  {wrapped} of these can then be returned in a unit that is allowed: each finding's help says in which, "
            "and --fix --unsafe-fixes writes it where it can."
        )
    if made.kept:
        those = "the one" if made.kept == 1 else f"the {made.kept}"
        yield f"  The baseline keeps {those} of today, so that only new ones are told: `gllint check` exits 0."
    broken = sum(finding.code.startswith("GL9") for finding in made.seen.outcome.findings)
    if broken:
        verb = "stays" if broken == 1 else "stay"
        yield f"  {counted(broken, 'finding')} of GL9 {verb}: no baseline takes what gllint cannot read or use."
    yield from made.notes


def _lines(made: Plan) -> Iterator[str]:
    for key, more in made.proposal.addition.lists.items():
        count = made.proposal.settled.get(key, 0)
        shown = ", ".join(json.dumps(item, ensure_ascii=False) for item in more)
        yield f"  {key} = [{shown}]  # for {counted(count, 'finding')}"
    for key, value in made.proposal.addition.values.items():
        yield f"  {key} = {json.dumps(value)}  # for {counted(made.proposal.settled.get(key, 0), 'finding')}"
    for pattern, codes in made.proposal.addition.ignores.items():
        why = "templates, no Python yet" if codes == ("GL900",) else "test code, shown to nobody"
        yield f"  per-file-ignores: {json.dumps(pattern)} = {json.dumps(list(codes))}  # {why}"


def _listed(counts: Mapping[str, int]) -> str:
    shown = [f"{name} ({count})" for name, count in list(counts.items())[:_MOST]]
    more = len(counts) - _MOST
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "") if shown else "none"
