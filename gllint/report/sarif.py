"""SARIF 2.1.0, for code scanning: rules with their help, fingerprints that survive moved lines, fixes."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import quote

from gllint import __version__
from gllint.report import Diagnostic, Report, in_cell, in_file
from gllint_rules import RULES, Edit, Note, Rule, Span
from gllint_rules.rule import home_page

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
FINGERPRINT = "gllint/v1"


def render(report: Report) -> str:
    """Return the log: one run, every rule described, one result for each diagnostic."""
    order = {code: index for index, code in enumerate(RULES)}
    results = [
        _result(diagnostic, order, fingerprint, report)
        for diagnostic, fingerprint in zip(report.diagnostics, report.fingerprints(), strict=True)
    ]
    driver = {
        "name": "gllint",
        "version": __version__,
        "semanticVersion": __version__,
        **({"informationUri": home} if (home := home_page()) else {}),
        "rules": [_rule(rule) for rule in RULES.values()],
    }
    run = {
        "tool": {"driver": driver},
        "invocations": [_invocation(report)],
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _invocation(report: Report) -> dict[str, Any]:
    """Return the invocation: whether the run succeeded, the rules that failed, and the files that were not read."""
    failures = [{"level": "error", "message": {"text": text}} for text in report.failures]
    unread_files = [
        {
            "level": "warning",
            "message": {"text": f"not checked: {why}"},
            "locations": [{"physicalLocation": {"artifactLocation": {"uri": _uri(path)}}}],
        }
        for path, why in report.unread_files.items()
    ]
    return {"executionSuccessful": not failures, "toolExecutionNotifications": [*failures, *unread_files]}


def _rule(rule: Rule) -> dict[str, Any]:
    """Return a rule as a reporting descriptor of SARIF."""
    return {
        "id": rule.code,
        "name": "".join(part.capitalize() for part in rule.name.split("-")),
        "shortDescription": {"text": rule.summary or rule.name},
        "fullDescription": {"text": rule.summary or rule.name},
        "help": {"text": rule.documentation or rule.summary, "markdown": rule.documentation or rule.summary},
        **({"helpUri": rule.url} if rule.url else {}),
        "defaultConfiguration": {"level": "error", "enabled": rule.default},
        "properties": {"tags": ["ai-agents", rule.name]},
    }


def _result(
    diagnostic: Diagnostic, order: dict[str, int], fingerprint: str, report: Report
) -> dict[str, Any]:
    """Return a finding as a result of SARIF."""
    finding = diagnostic.finding
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": order[finding.code],
        "level": _LEVELS[diagnostic.severity],
        "message": {"text": f"{diagnostic.message}. {finding.help}" if finding.help else diagnostic.message},
        "locations": [_location(diagnostic.path, diagnostic.in_file)],
        "partialFingerprints": {FINGERPRINT: fingerprint},
    }
    if finding.notes:
        result["relatedLocations"] = [
            {**_note(note, report), "id": index} for index, note in enumerate(finding.notes)
        ]
    if finding.fix is not None and diagnostic.cell is None:  # SARIF has no edits of a notebook's cell
        change = {
            "artifactLocation": {"uri": _uri(diagnostic.path)},
            "replacements": [_replacement(edit) for edit in finding.fix.edits],
        }
        result["fixes"] = [{"description": {"text": finding.fix.message}, "artifactChanges": [change]}]
    return result


def _note(note: Note, report: Report) -> dict[str, Any]:
    cell = report.cell(note.path, note.span.line)
    text = in_cell(note.message, note.span, cell)
    return {**_location(report.show(note.path), in_file(note.span, cell)), "message": {"text": text}}


def _location(path: str, span: Span) -> dict[str, Any]:
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(path)}, "region": _region(span)}}


def _replacement(edit: Edit) -> dict[str, Any]:
    return {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.content}}


def _region(span: Span) -> dict[str, int]:
    return {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }


_DRIVE = re.compile("[A-Za-z]:/")


def _uri(path: str) -> str:
    """Return a path as a URI: ``/a b`` → ``file:///a%20b``, ``C:/a`` → ``file:///C:/a``, ``a b`` → ``a%20b``."""
    if _DRIVE.match(path):
        return "file:///" + path[:2] + quote(path[2:], errors="surrogateescape")
    if path.startswith("//"):  # a network path: the host follows the slashes
        return "file:" + quote(path, errors="surrogateescape")
    if path.startswith("/"):
        return "file://" + quote(path, errors="surrogateescape")
    return quote(path, errors="surrogateescape")
