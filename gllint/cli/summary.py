"""The closing lines of a run: counts by rule, by kind of number and by file, and what there is to do about them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gllint import report
from gllint.shown import visible
from gllint_rules import RULES, Finding


def statistics(findings_report: report.Report, format_name: str) -> str:
    """Return the counts by rule, by kind of number and by file; in JSON beside what was not looked at."""
    by_rule = report.statistics(findings_report, lambda d: d.finding.code)
    if format_name == "json":
        import json

        rows = [
            {
                "code": code,
                "name": RULES[code].name,
                "count": count,
                "kinds": report.statistics(findings_report, lambda d: d.finding.kind, code),
                "files": report.statistics(findings_report, lambda d: d.path, code),
            }
            for code, count in by_rule.items()
        ]
        return json.dumps({"rules": rows, "unseen": findings_report.unseen.as_json()}, indent=2) + "\n"
    kinds = {
        report.PLURALS[kind]: n
        for kind, n in report.statistics(findings_report, lambda d: d.finding.kind).items()
    }
    tables = (
        [f"{count:>6}  {code}  {RULES[code].name}\n" for code, count in by_rule.items()],
        [f"{count:>6}  {kind}\n" for kind, count in kinds.items()],
        [
            f"{count:>6}  {visible(path)}\n"
            for path, count in report.statistics(findings_report, lambda d: d.path).items()
        ],
    )
    return "\n".join("".join(table) for table in tables if table)


def allowable(findings: Sequence[Finding], is_settled: Callable[[Finding], bool]) -> str:
    """Say which kinds of number a line of configuration settles, and who can write it."""
    counts: dict[str, int] = {}
    for finding in findings:
        if finding.kind is not None and is_settled(finding):
            counts[finding.kind] = counts.get(finding.kind, 0) + 1
    if not counts:
        return ""
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    (kind, most), rest = ranked[0], ranked[1:]
    singulars = {
        "indexes": "an index",
        "amounts of money": "an amount of money",
        "identifiers": "an identifier",
    }
    single = singulars.get(report.PLURALS[kind], f"a {kind}")
    named = [f"{most} {'is' if most == 1 else 'are'} {single if most == 1 else report.PLURALS[kind]}"]
    named += [f"{count} {report.PLURALS[kind] if count > 1 else kind}" for kind, count in rest]
    listed = " and ".join([", ".join(named[:-1]), named[-1]] if len(named) > 1 else named)
    return f"; {listed}: `gllint init` can allow {'them' if sum(counts.values()) > 1 else 'it'}"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
