"""Which code reads what a fix changes: a key, the result of a function, a text. Where any does, there is no fix.

The look-up is by name over every file of the project: a file that has the word is parsed once, and each place that
reads it counts, whatever object it reads it from. Nothing is proven: a fix is lost now and then, so that a program
which ran before a fix runs after it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import TypeAlias

from gllint_rules.finding import Changed, Finding
from gllint_rules.reading.syntax import ParseFailure, parsed
from gllint_rules.words.text_files import text_kind

Reader: TypeAlias = tuple[str, int]
"""The path of a file and a line of it."""

# What a template fills in: `{row[load]:.1f}`, `{{ row.load }}`, `%(load)s`; and the names in it.
_FIELD = re.compile(r"\{[^{}]*\}|%\(\w+\)")
_NAME = re.compile(r"\w+")
# Where a display is compared, its keys are read: `== {"load": 5}`, `case {"load": load}`.
_COMPARES_DISPLAYS = re.compile(rb"[=!]=\s*[\[(]?\{|\bcase\s*\{")
# Of each name: the help names two places. Files that are parsed for it; behind them a word counts as read.
_MOST_SHOWN, _MOST_PARSED = 2, 1_000


def vetted(
    findings: Sequence[Finding], files: Iterable[tuple[str, bytes]], shown: Callable[[str], str]
) -> list[Finding]:
    """Return the findings without the fixes that would break a reader; their helps name the first two readers.

    ``files`` are all files of the project with their bytes; they are asked for only where a fix changes something.
    ``shown`` gives a path as a message has it.
    """
    changed = {change for finding in findings if finding.fix is not None for change in finding.fix.changes}
    readers = _readers(changed, files) if changed else {}
    return [_without_broken(finding, readers, shown) for finding in findings]


def _without_broken(
    finding: Finding, readers: dict[Changed, list[Reader]], shown: Callable[[str], str]
) -> Finding:
    changes = finding.fix.changes if finding.fix is not None else ()
    for change in changes:
        # What its own file does with a function was followed; with a key or a text, only looked up.
        is_followed = change.what in ("function", "result")
        places = [p for p in readers.get(change, ()) if not is_followed or p[0] != finding.path]
        if places:
            listed = " and ".join(f"{shown(path)}:{line}" for path, line in places[:_MOST_SHOWN])
            text = f"`{change.name}` is also used at {listed}: change it there as well."
            return finding._replace(fix=None, help=f"{finding.help} {text}".strip())
    return finding


def _readers(changed: set[Changed], files: Iterable[tuple[str, bytes]]) -> dict[Changed, list[Reader]]:
    readers: dict[Changed, list[Reader]] = {}
    names = {change.name for change in changed}
    forms = {change: re.compile(_form(change)) for change in changed}
    mentioned, parsed_count = _mentions(names), 0
    for path, data in files:
        words = mentioned(data)
        compares = words and _COMPARES_DISPLAYS.search(data) is not None
        wanted = {
            change for change in changed if change.name in words and (compares or forms[change].search(data))
        }
        if not wanted:
            continue
        parsed_count += 1
        source = data.decode("utf-8", "replace")
        for change, line in _in_file(path, source, wanted, parsed_count > _MOST_PARSED):
            readers.setdefault(change, []).append((path, line))
    return {change: sorted(set(places)) for change, places in readers.items()}


def _form(change: Changed) -> bytes:
    """How a place that reads something may be written: most files that have the word only write it."""
    name = re.escape(change.name.encode("utf-8", "replace"))
    match change.what:
        case "function" | "result":
            return rb"(?<!\w)%b\s*[(.]" % name
        case "text":
            return rb"[\"']%b[\"']" % name
        case (
            "key"
        ):  # quoted and no key of a display, an attribute, filled into a template, a field of a class
            return (
                rb"[\"']%b[\"'](?!\s*:)|\.\s*%b(?!\w)|[{\[(.]\s*%b\s*[\])}:!]|\{[\"']%b|(?m:^[ \t]+%b[ \t]*:)"
                % ((name,) * 5)
            )


def _mentions(names: set[str]) -> Callable[[bytes], set[str]]:
    """Return what says which of some names are in bytes."""
    encoded = sorted(name.encode("utf-8", "replace") for name in names)
    try:
        from ahocorasick_rs import BytesAhoCorasick
    except ImportError:  # no wheel for this machine
        return lambda data: {name.decode("utf-8", "replace") for name in encoded if name in data}
    automaton = BytesAhoCorasick(encoded)
    return lambda data: {
        encoded[number].decode("utf-8", "replace")
        for number, _, _ in automaton.find_matches_as_indexes(data, overlapping=True)
    }


def _in_file(path: str, source: str, wanted: set[Changed], words_only: bool) -> Iterator[tuple[Changed, int]]:
    """Yield what a file reads of the wanted names, with the line; by its words where it is no Python or not parsed."""
    code = _readable(source) if text_kind(path) is None and not words_only else None
    if code is None:
        yield from _words(source, wanted, "")
        return
    by_name: dict[tuple[str, str], Changed] = {(change.what, change.name): change for change in wanted}
    tree = parsed(code)
    for what, name, line in chain(_reads(tree), _whole_reads(tree)):
        if (what, name) in by_name:
            yield by_name[what, name], line
    if code != source:  # an f-string that the running Python cannot read is blank there
        yield from _words(source, wanted, code)


def _readable(source: str) -> str | None:
    """The text as the running Python can parse it; ``None`` where it is no Python."""
    try:
        parsed(source)
    except ParseFailure:
        from gllint_rules.reading.newer import lowered  # here: LibCST takes its time

        return lowered(source)
    return source


def _words(source: str, wanted: set[Changed], code: str) -> Iterator[tuple[Changed, int]]:
    """Where the names occur as words, in a template, say; what ``code`` has at the same place is read there."""
    for change in wanted:
        for word in re.finditer(rf"(?<!\w){re.escape(change.name)}(?!\w)", source):
            if code[word.start() : word.end()] != change.name:
                yield change, source.count("\n", 0, word.start()) + 1
                break


def _reads(tree: ast.AST) -> Iterator[tuple[str, str, int]]:
    """What each place of a tree reads: ("key", name, line), ("function", name, line) or ("text", …)."""
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str() as text) if "{" in text or "%(" in text:
                for field in _FIELD.finditer(text):
                    for name in _NAME.findall(field[0]):
                        yield "key", name, node.lineno
            case ast.Subscript(slice=ast.Constant(value=str() as name), ctx=ctx):
                yield "text", name, node.lineno
                if not isinstance(ctx, ast.Store):
                    yield "key", name, node.lineno
            case ast.AugAssign(target=ast.Subscript(slice=ast.Constant(value=str() as name))):
                yield "key", name, node.lineno
            case ast.Attribute(value=base, attr=name, ctx=ast.Load()):
                yield "key", name, node.lineno
                if isinstance(base, ast.Name | ast.Attribute):
                    # `heat.invoke(…)`, `tools.heat.run(…)`
                    yield "function", base.id if isinstance(base, ast.Name) else base.attr, node.lineno
            case ast.Call(func=func, args=args, keywords=keywords):
                if isinstance(func, ast.Name | ast.Attribute):
                    yield "function", func.id if isinstance(func, ast.Name) else func.attr, node.lineno
                for value in (*args, *(keyword.value for keyword in keywords)):
                    for name in _texts(value):
                        yield "key", name, value.lineno
                        yield "text", name, value.lineno
            case ast.Compare(left=left, comparators=others):
                for value in (left, *others):
                    for name in _texts(value):
                        yield "text", name, value.lineno
                    for inner in ast.walk(value):
                        if isinstance(inner, ast.Dict):
                            for key in inner.keys:
                                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                                    yield "key", key.value, key.lineno
            case ast.For(iter=source) | ast.comprehension(iter=source):
                for name in _texts(source):
                    yield "key", name, source.lineno
                    yield "text", name, source.lineno
            case ast.Dict(keys=keys):
                for key in keys:
                    if isinstance(key, ast.Constant) and isinstance(key.value, str):
                        yield "text", key.value, key.lineno
            case ast.ClassDef(body=body):  # a model that is made of the result: `Row(**row)`
                for statement in body:
                    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                        yield "key", statement.target.id, statement.lineno
            case ast.MatchMapping(keys=keys):
                for key in keys:
                    if isinstance(key, ast.Constant) and isinstance(key.value, str):
                        yield "key", key.value, node.lineno
            case ast.MatchValue(value=ast.Constant(value=str() as name)):
                yield "text", name, node.lineno


def _whole_reads(tree: ast.AST) -> Iterator[tuple[str, str, int]]:
    """Calls whose result is read otherwise than by a literal key: ``sum(f(x).values())``, ``Row(**f(x))``."""
    picked: set[ast.expr] = set()  # of which a key is taken, or nothing
    assigned: dict[ast.expr, str] = {}
    calls: list[tuple[str, ast.expr]] = []
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=value) | ast.Subscript(value=value, slice=ast.Constant(value=str())):
                picked.add(value)
            case ast.Call(func=ast.Attribute(value=value, attr="get" | "pop"), args=[ast.Constant(), *_]):
                picked.add(value)
            case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[value]):
                picked.add(value)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                assigned[value] = name
            case ast.FunctionDef(decorator_list=[_, *_]) | ast.AsyncFunctionDef(decorator_list=[_, *_]):
                # A tool, which hands it on.
                picked.update(s.value for s in ast.walk(node) if isinstance(s, ast.Return) and s.value)
        match node:
            case ast.Await(value=ast.Call(func=func)) | ast.Call(func=func) if isinstance(node, ast.expr):
                if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
                    calls.append((func.value.id, node))  # `heat.invoke(…)`
                calls.append((func.id if isinstance(func, ast.Name) else getattr(func, "attr", ""), node))
    awaited = {node.value for _, node in calls if isinstance(node, ast.Await)}
    loose = {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node not in picked
    }
    for name, node in calls:
        is_kept = node in assigned and assigned[node] not in loose
        if name and node not in awaited and node not in picked and not is_kept:
            yield "result", name, node.lineno


def _texts(value: ast.expr) -> Iterator[str]:
    """The text that an expression is, or those that a display contains."""
    values = value.elts if isinstance(value, ast.List | ast.Tuple | ast.Set) else [value]
    for element in values:
        if isinstance(element, ast.Constant) and isinstance(element.value, str):
            yield element.value
