"""The closing lines of a run: counts by rule, by kind of number and by file, and what there is to do about them."""

from __future__ import annotations

from collections.abc import Sequence

from gllint import report
from gllint.shown import visible
from gllint_rules import RULES, Finding


def statistics(findings_report: report.Report, format_name: str) -> str:
    """Return the counts by rule, by kind of number and by file; JSON also has the parts that were not checked."""
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

    kinds = report.statistics(findings_report, lambda d: d.finding.kind)
    tables = (
        [f"{count:>6}  {code}  {RULES[code].name}\n" for code, count in by_rule.items()],
        [f"{count:>6}  {kind if count == 1 else report.PLURALS[kind]}\n" for kind, count in kinds.items()],
        [
            f"{count:>6}  {visible(path)}\n"
            for path, count in report.statistics(findings_report, lambda d: d.path).items()
        ],
    )
    return "\n".join("".join(table) for table in tables if table)


def allowable(settled: Sequence[Finding]) -> str:
    """Say how many of the findings settings would leave out, by kind. Empty if there are none."""
    counts: dict[str, int] = {}
    for finding in settled:
        if finding.kind is not None:
            counts[finding.kind] = counts.get(finding.kind, 0) + 1
    if not counts:
        return ""
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    listed = ", ".join(f"{kind} ({count})" for kind, count in ranked)
    return (
        f"`gllint init` proposes settings that leave out {sum(counts.values())} of these, by kind: {listed}."
    )


def count_text(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
