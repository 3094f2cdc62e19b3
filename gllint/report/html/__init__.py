"""One page that a team lead opens: the findings counted, where numbers come from, each finding with its source.

The page is a single file that needs no network. Text from the checked code passes :func:`html_text`; the page's policy
has the digest of its own script, so that a browser runs no other.
"""

from __future__ import annotations

import base64
import hashlib
import os
import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.resources import files
from itertools import groupby

from gllint import __version__
from gllint.report import PLURALS, Diagnostic, Report, position, statistics
from gllint.report.frames import window
from gllint.report.html import way
from gllint.report.html.markup import MOST_SHOWN, html_text, prose
from gllint_rules import RULES

_UNKNOWN = "unknown"


def render(report: Report) -> str:
    """Return the page."""
    folders = _folders(report.diagnostics)
    body = [*_head(report), *_counts(report, folders), *way.sections(report), *_findings(report, folders)]
    script = _asset("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
        "form-action 'none'; base-uri 'none'"
    )
    title = f"{_number(len(report.diagnostics), 'finding')} in {html_text(_name())}"
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>gllint: {title}</title>\n<style>\n{_asset('page.css')}</style>\n</head>\n<body>",
            *body,
            f"<script>{script}</script>\n</body>\n</html>\n",
        ]
    )


def _asset(name: str) -> str:
    return files("gllint.report.html").joinpath(name).read_text("utf-8")


def _name() -> str:
    return posixpath.basename(os.getcwd()) or "/"


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _today() -> str:
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = datetime.fromtimestamp(int(epoch), UTC) if epoch.isdecimal() else datetime.now(UTC)
    return now.strftime("%Y-%m-%d")


# --- the head and the counts ---------------------------------------------------------------------------------


def _head(report: Report) -> Iterator[str]:
    """Yield the head of the page: its title, the navigation and the figures."""
    diagnostics = report.diagnostics
    yield '<a class="skip" href="#findings">To the findings</a>'
    yield f"<header>\n<h1>gllint report: {html_text(_name())}</h1>"
    yield f'<p class="quiet">Written on {_today()} by gllint {__version__}.</p>'
    yield (
        '<nav aria-label="Sections"><a href="#counts">Counts</a><a href="#map">Where numbers come from</a>'
        '<a href="#findings">Findings</a></nav>\n</header>\n<main>'
    )
    figures = [("findings", len(diagnostics))]
    if report.has_baseline:
        baseline_count = sum(diagnostic.is_known for diagnostic in diagnostics)
        figures += [
            ("new since the baseline", len(diagnostics) - baseline_count),
            ("in the baseline", baseline_count),
        ]
    figures += [
        ("files with findings", len({d.path for d in diagnostics})),
        ("files checked", len(report.checked)),
    ]
    numbers = [number for m in report.maps for tool in m.tools for number in tool.returned]
    if numbers:
        count = sum(number.is_quantity or number.is_shown for number in numbers)
        have = "has" if count == 1 else "have"
        yield f'<p id="headline"><strong>{count:,} of {_number(len(numbers), "number")} {have} a unit.</strong></p>'
    yield '<dl class="figures">'
    yield from (f"<div><dt>{name}</dt><dd>{count:,}</dd></div>" for name, count in figures)
    yield "</dl>"


def _counts(report: Report, folders: Mapping[str, str]) -> Iterator[str]:
    """Yield the tables of findings by kind, rule and folder."""
    kinds = statistics(report, lambda d: d.finding.kind or (_UNKNOWN if d.finding.what else None))
    tables = [
        (
            "kind",
            "Kind of number",
            kinds,
            _kind_title,
        ),
        (
            "code",
            "Rule",
            statistics(report, lambda d: d.finding.code),
            lambda code, _: f"{code} {RULES[code].summary}",
        ),
        ("folder", "Folder", statistics(report, lambda d: folders[d.path]), lambda folder, _: folder),
    ]
    yield '<section id="counts" aria-labelledby="counts-title">\n<h2 id="counts-title">Counts</h2>'
    yield from _coverage(report)
    yield '<div class="tables">'
    for name, title, counts, text in tables:
        if counts:
            yield from _count_table(name, title, counts, text)
    yield "</div>\n</section>"


def _kind_title(kind: str, count: int) -> str:
    """Return a kind as the title of its row: ``counts``, ``numbers whose kind is not known``."""
    if kind == _UNKNOWN:
        return f"number{'' if count == 1 else 's'} whose kind is not known"
    return kind if count == 1 else PLURALS[kind]


def _coverage(report: Report) -> Iterator[str]:
    """Yield what was not checked, and that there are no findings if so."""
    unseen = report.unseen
    if unseen.is_empty:
        if not report.diagnostics:
            yield '<p class="good">There are no findings.</p>'
        return
    if not report.diagnostics:
        yield "<p>There are no findings, but not everything was checked.</p>"
    yield f'<p id="unseen"><strong>{html_text(unseen.line())}.</strong></p>'
    yield "<ul>"
    if unseen.unknown:
        yield f"<li>{_number(unseen.unknown, 'tool')} that gllint could not follow.</li>"
    if unseen.advice():
        yield f"<li>{html_text(unseen.advice())}</li>"
    yield from (
        f"<li>{html_text(path)} was left out: {html_text(why)}</li>" for path, why in unseen.files.items()
    )
    yield "</ul>"


def _count_table(
    name: str, title: str, counts: Mapping[str, int], text: Callable[[str, int], str]
) -> Iterator[str]:
    """Yield one table of counts. Each row is a button that filters the findings."""
    most = max(counts.values())
    yield f'<table class="counts"><caption class="skip">{title}</caption>'
    yield f'<thead><tr><th scope="col">findings</th><th scope="col">{title.lower()}</th></tr></thead><tbody>'
    for value, count in counts.items():
        yield (
            f'<tr><td>{count:,}</td><td style="--share:{100 * count / most:.1f}%"><button type="button" disabled '
            f'data-name="{name}" data-value="{html_text(value)}">{html_text(text(value, count))}</button></td></tr>'
        )
    yield "</tbody></table>"


def _folders(diagnostics: Sequence[Diagnostic]) -> dict[str, str]:
    """Return the folder that each path is counted under: at most two levels below the folder that all share."""
    paths = {diagnostic.path: posixpath.dirname(diagnostic.path).split("/") for diagnostic in diagnostics}
    shared = len(os.path.commonprefix(list(paths.values())))
    return {path: "/".join(parts[: shared + 2]) or "." for path, parts in paths.items()}


# --- the findings --------------------------------------------------------------------------------------------


def _findings(report: Report, folders: Mapping[str, str]) -> Iterator[str]:
    """Yield the list of findings, file by file."""
    yield '<section id="findings" aria-labelledby="findings-title">\n<h2 id="findings-title">Findings</h2>'
    if report.diagnostics:
        yield from _form(report, folders)
    yield '<div id="list">'
    numbered = enumerate(report.diagnostics)
    for path, group in groupby(numbered, key=lambda pair: pair[1].path):
        articles = [_article(index, diagnostic, report) for index, diagnostic in group]
        yield (
            f'<section class="file" data-path="{html_text(path)}" data-folder="{html_text(folders[path])}" '
            f'style="--count:{len(articles)}"><h3 class="where">{html_text(path)}</h3>'
        )
        yield from articles
        yield "</section>"
    yield "</div>\n</section>\n</main>"
    yield '<footer class="quiet">This page loads nothing from the network and sends nothing to it.</footer>'


def _form(report: Report, folders: Mapping[str, str]) -> Iterator[str]:
    """Yield the form that filters the findings."""
    codes = statistics(report, lambda d: d.finding.code)
    kinds = statistics(report, lambda d: d.finding.kind or (_UNKNOWN if d.finding.what else None))
    filters = {
        "code": ("Rule", {code: f"{code} {RULES[code].name}" for code in sorted(codes)}),
        "kind": ("Kind of number", {kind: PLURALS.get(kind, kind) for kind in kinds}),
        "folder": ("Folder", {folder: folder for folder in sorted(set(folders.values()))}),
    }
    yield '<form hidden role="search" aria-label="Findings">'
    yield '<label>Words in a finding or a path<input type="search" name="words" autocomplete="off"></label>'
    for name, (title, values) in filters.items():
        options = "".join(
            f'<option value="{html_text(v)}">{html_text(text)}</option>' for v, text in values.items()
        )
        yield f'<label>{title}<select name="{name}"><option value="">all</option>{options}</select></label>'
    if report.has_baseline:
        yield '<label class="check"><input type="checkbox" name="fresh">only new since the baseline</label>'
    yield '<button class="plain" type="reset">Show all</button></form>'
    yield f'<p id="told" role="status" class="quiet">{_number(len(report.diagnostics), "finding")} shown</p>'


def _article(index: int, diagnostic: Diagnostic, report: Report) -> str:
    """Return a finding as an article, with its source, help and evidence."""
    finding = diagnostic.finding
    marks = f' data-code="{html_text(finding.code)}"'
    kind = finding.kind or (_UNKNOWN if finding.what else "")
    marks += f' data-kind="{kind}"' if kind else ""
    marks += " data-known" if diagnostic.is_known else ""
    where = position(finding.span, diagnostic.cell)
    level = "" if diagnostic.severity == "error" else f" {diagnostic.severity}:"
    baseline_mark = ' <span class="quiet">(in the baseline)</span>' if diagnostic.is_known else ""
    parts = [
        f'<article id="f{index}"{marks}><h4><a href="#f{index}">{where}</a> '
        f'<b class="bad">{html_text(finding.code)}</b>'
        f"{level} {prose(finding.message)}{baseline_mark}</h4>"
    ]
    frame = _frame(diagnostic, report)
    if frame:
        parts.append(f"<pre>{frame}</pre>")
    if finding.help:
        parts.append(f"<p>{prose(finding.help)}</p>")
    if finding.notes:
        parts.append("<details><summary>Evidence</summary><ul>")
        for note in finding.notes:
            at = f"{report.show(note.path)}:{position(note.span, report.cell(note.path, note.span.line))}"
            parts.append(f"<li>{html_text(at)}: {prose(note.message)}</li>")
        parts.append("</ul></details>")
    return "".join(parts) + "</article>"


def _frame(diagnostic: Diagnostic, report: Report) -> str:
    """Return the lines of source around a finding, with their numbers."""
    finding = diagnostic.finding
    lines = report.lines(finding.path)
    numbers = list(window(lines, diagnostic, report))
    width = len(str(numbers[-1][1])) if numbers else 0
    return "\n".join(
        f"<i>{number:>{width}}</i>{_line(lines[at - 1], diagnostic if at == finding.span.line else None)}"
        for at, number in numbers
    )


def _line(line: str, marked: Diagnostic | None) -> str:
    """Return a line of source with the finding marked; a very long line is cut to what is around the mark."""
    if marked is None:
        return _source(line[:MOST_SHOWN]) + ("…" if len(line) > MOST_SHOWN else "")
    span = marked.finding.span
    start = span.column - 1
    end = max(start + 1, span.end_column - 1 if span.end_line == span.line else len(line))
    first = max(0, start - MOST_SHOWN // 2) if end > MOST_SHOWN else 0
    last = max(first + MOST_SHOWN, min(end, start + MOST_SHOWN))
    head, target, tail = line[first:start], line[start : min(end, last)], line[end:last]
    dots = "…" if first else "", "…" if len(line) > last else ""
    return f"{dots[0]}{_source(head)}<mark>{_source(target) or ' '}</mark>{_source(tail)}{dots[1]}"


def _source(text: str) -> str:
    return html_text(text.replace("\t", "    "))
