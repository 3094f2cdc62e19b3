"""Find the code that reads what a fix changes: a key, the result of a function, a text. Then there is no fix.

The look-up is by name over every file of the project. A file with the word is parsed once, and each place that reads
the name counts, of any object. So a fix is sometimes dropped without need, but a program that ran before a fix runs
after it. The help of a finding without a fix names such places only in files that mention its tool or its module.
"""

from __future__ import annotations

import ast
import posixpath
import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

from gllint_rules.finding import Changed, Finding
from gllint_rules.reading.syntax import ParseFailure, parsed
from gllint_rules.tuples import NamedTuple
from gllint_rules.words.text_files import PAGE_SUFFIXES, text_kind

if TYPE_CHECKING:
    from gllint_rules.words.screen import Hits

Reader: TypeAlias = tuple[str, int]
"""The path of a file and a line of it."""

# How code may read a name, which is \0 here. Code that only writes the name does not match.
_CALLS = re.compile(rb"(?<!\w)\0\s*[(.]")
_FORMS = {
    "function": _CALLS,
    "result": _CALLS,
    "text": re.compile(rb"[\"']\0[\"']"),
    # In turn: quoted and not the key of a dict display; an attribute; filled into a template (two forms); a field of a
    # class.
    "key": re.compile(
        rb"[\"']\0[\"'](?!\s*:)|\.\s*\0(?!\w)|[{\[(.,]\s*\0\s*[\])},:!]|\{[\"']\0|^[ \t]+\0[ \t]*:", re.M
    ),
}
_AROUND = 100  # bytes on either side of a name that show how it is used
# What a template fills in: `{row[load]:.1f}`, `{{ row.load }}`, `%(load)s`; and the names in it.
_FIELD = re.compile(r"\{[^{}]*\}|%\(\w+\)")
_NAME = re.compile(r"\w+")
# Where a display is compared, its keys are read: `== {"load": 5}`, `case {"load": load}`.
_COMPARES_DISPLAYS = re.compile(rb"[=!]=\s*[\[(]?\{|\bcase\s*\{")
_MOST_SHOWN = 2  # readers that a help names
_MOST_PARSED = 1_000  # files; in further files a word alone counts as a reader


def changed_by(findings: Iterable[Finding]) -> dict[Changed, list[Finding]]:
    """Return what the findings change for readers, each with the findings that do."""
    changed: dict[Changed, list[Finding]] = {}
    for finding in findings:
        for change in _changes(finding):
            changed.setdefault(change, []).append(finding)
    return changed


class Question(NamedTuple):
    """Which lines of a file read what changes: for a fix attributes too; ``words_only``: any such word."""

    changed: Changed
    for_fix: bool
    words_only: bool


class FileReads(NamedTuple):
    """What earlier searches found in a file.

    ``names`` are those that occur in it. ``answers`` has the lines that read a name, by question; ``None`` where its
    bytes alone exclude a reader.
    """

    names: tuple[str, ...]
    answers: dict[Question, tuple[int, ...] | None]


def vetted(
    findings: Iterable[Finding], readers: Mapping[Changed, Sequence[Reader]], shown: Callable[[str], str]
) -> list[Finding]:
    """Return the findings without the fixes that would break a reader; their helps name the first two readers.

    ``shown`` returns a path as messages show it.
    """
    return [_vetted(finding, readers, shown) for finding in findings]


def _changes(finding: Finding) -> tuple[Changed, ...]:
    """Return what the fix changes for readers; without a fix, the keys whose numbers the user makes Quantities."""
    if finding.fix is not None:
        return finding.fix.changes
    advises_quantity = finding.code == "GL101" and finding.help.startswith(
        ("Return a Quantity", "Put the number and")
    )
    return tuple(Changed("key", key) for key in finding.keys) if advises_quantity else ()


def _vetted(
    finding: Finding, readers: Mapping[Changed, Sequence[Reader]], shown: Callable[[str], str]
) -> Finding:
    """Drop the fix of a finding if other code reads what it changes, and name two such places."""
    for change in _changes(finding):
        # The fix itself has checked how its own file uses a function or its result.
        is_checked = change.what in ("function", "result")
        places = [p for p in readers.get(change, ()) if not is_checked or p[0] != finding.path]
        if places:
            names = " and ".join(f"{shown(path)}:{line}" for path, line in places[:_MOST_SHOWN])
            uses = "uses" if len(places) == 1 else "use"
            text = f"If you change `{change.name}`, also update {names}, which {uses} it."
            return finding._replace(fix=None, help=f"{finding.help} {text}".strip())
    return finding


class Search:
    """The search for code that reads what findings change. ``changed`` has the findings for each change."""

    def __init__(self, changed: dict[Changed, list[Finding]]) -> None:
        # The files of the findings, which are searched in any case.
        self._own = {change: {finding.path for finding in findings} for change, findings in changed.items()}
        # Of a change without a fix: only files with one of these texts are searched. None: all files, for a fix.
        self._near: dict[Changed, set[str] | None] = {}
        # The lines of the findings: in `"load": row["load"]` the number comes from a key of the same name.
        self._sources: dict[Changed, set[tuple[str, int]]] = {}
        self._by_name: dict[str, list[Changed]] = {}
        for change, findings in changed.items():
            self._by_name.setdefault(_encodable(change.name), []).append(change)
            has_fix = any(finding.fix is not None for finding in findings)
            self._near[change] = None if has_fix else {_encodable(n) for f in findings for n in _known_by(f)}
            self._sources[change] = {
                (f.path, line) for f in findings for line in range(f.span.line, f.span.end_line + 1)
            }

    def readers(
        self,
        paths: Iterable[str],
        read: Callable[[str], bytes],
        memory: dict[str, FileReads],
        old_names: frozenset[str] = frozenset(),
    ) -> tuple[dict[Changed, list[Reader]], frozenset[str]]:
        """Return the places that read each of the changes, and all names that were searched for.

        ``paths`` are all files of the project. ``memory`` has what searches for ``old_names`` found in files that are
        unchanged: only others are read. What this search finds is added to it.
        """
        from gllint_rules.words.screen import Automaton  # known readers need none

        readers: dict[Changed, list[Reader]] = {}
        near = chain.from_iterable(names or () for names in self._near.values())
        names = old_names.union(self._by_name, near) - {""}
        automaton = Automaton(map(str.encode, names))
        read_count = 0
        for path in paths:
            words_only = read_count >= _MOST_PARSED
            old = memory.get(path)
            questions = self._questions(path, old.names, words_only) if old is not None else []
            if (
                old is None
                or names != old_names
                or any(question not in old.answers for question in questions)
            ):
                try:
                    data = read(path)
                except OSError:
                    continue
                hits = automaton.places(data)
                answers = old.answers if old is not None else {}
                memory[path] = old = FileReads(tuple(map(bytes.decode, hits)), answers)
                questions = self._questions(path, old.names, words_only)
                new = [question for question in questions if question not in answers]
                answers.update(self._answers(path, data, hits, new, words_only))
            read_count += any(old.answers[question] is not None for question in questions)
            for question in questions:
                change, lines = question.changed, old.answers[question] or ()
                for line in lines:
                    if change.what != "key" or (path, line) not in self._sources[change]:
                        readers.setdefault(change, []).append((path, line))
                # Without a fix, readers are only named in the help: two are enough.
                if (
                    lines
                    and self._near[change] is not None
                    and len({*readers.get(change, ())}) >= _MOST_SHOWN
                ):
                    self._near[change] = self._own[change] = set()
        return {change: sorted(set(places)) for change, places in readers.items()}, names

    def _questions(self, path: str, names: Collection[str], words_only: bool) -> list[Question]:
        """Return what a file that mentions ``names`` is searched for."""
        questions = []
        for name in names:
            for change in self._by_name.get(name, ()):
                near = self._near[change]
                if near is None or not near.isdisjoint(names) or path in self._own[change]:
                    questions.append(Question(change, near is None, words_only))
        return questions

    def _answers(
        self, path: str, data: bytes, hits: Hits, questions: Collection[Question], words_only: bool
    ) -> dict[Question, tuple[int, ...] | None]:
        """Return the lines of a file that read what changes, by question; ``None`` if none of its bytes may."""
        wanted: dict[Changed, Sequence[int]] = {}
        compares = None  # found out where it is needed
        for change, _, _ in questions:
            name = change.name.encode("utf-8", "replace")
            form = _FORMS[change.what]
            is_read = any(form.search(_around(data, place, name)) for place in hits[name])
            if not is_read and compares is None:
                compares = _COMPARES_DISPLAYS.search(data) is not None
            if is_read or compares:
                wanted[change] = hits[name]
        lines: dict[Changed, list[int]] = {change: [] for change in wanted}
        if wanted:
            for change, line in self._in_file(path, data, wanted, words_only):
                lines[change].append(line)
        return {
            question: tuple(lines[question.changed]) if question.changed in wanted else None
            for question in questions
        }

    def _in_file(
        self, path: str, data: bytes, wanted: Mapping[Changed, Sequence[int]], words_only: bool
    ) -> Iterator[tuple[Changed, int]]:
        """Yield the changes whose names a file reads, with the line.

        A file that is not parsed (``words_only``, a template, invalid Python) is searched for the words.
        """
        source = data.decode("utf-8", "replace")
        is_code = text_kind(path) is None and not path.endswith(PAGE_SUFFIXES) and not words_only
        code, tree = _readable(source) if is_code else ("", None)
        if tree is None:
            yield from _words(source, wanted, "")
            return
        by_name: dict[tuple[str, str], Changed] = {(change.what, change.name): change for change in wanted}
        # An attribute of that name mostly belongs to another object. It is reason enough to drop a fix, but a help
        # about a key without a fix does not name it.
        by_name |= {("attribute", c.name): c for c in wanted if c.what == "key" and self._near[c] is None}
        if any(c.what == "result" for c in wanted):  # its variable may be read in any later statement
            nodes = list(ast.walk(tree))
            whole = _whole_reads(nodes)
        else:
            places = sorted(set(chain.from_iterable(wanted.values())))
            nodes, whole = _statements_at(tree, _lines(data, places)), iter(())
        for what, name, line in chain(_reads(nodes), whole):
            if (what, name) in by_name:
                yield by_name[what, name], line
        if code != source:  # an f-string that the running Python cannot read is blank there
            yield from _words(source, wanted, code)


def _known_by(finding: Finding) -> Iterator[str]:
    """Yield texts that show that a file is about the tools of a finding: their names, and imports of its module."""
    yield from (tool.name for tool in finding.tools if tool.name)
    module = posixpath.basename(finding.path).partition(".")[0]
    yield from (f"{module} import", f"import {module}")


def _around(data: bytes, place: int, name: bytes) -> bytes:
    """Return the bytes around a name, which is \\0 in them: ``b'x["load"]'``, 3, ``b"load"`` → ``b'x["\\0"]'``."""
    end = place + len(name)
    return b"%b\0%b" % (data[max(0, place - _AROUND) : place], data[end : end + _AROUND])


def _lines(data: bytes, places: Sequence[int]) -> list[int]:
    """Return the lines, counted from 1, of ascending places in bytes."""
    lines, line, last = [], 1, 0
    for place in places:
        line, last = line + _line_ends(data[last:place]), place
        lines.append(line)
    return lines


def _line_ends(data: bytes) -> int:
    return data.count(b"\n") + (data.count(b"\r") - data.count(b"\r\n") if b"\r" in data else 0)


def _statements_at(tree: ast.Module, lines: Sequence[int]) -> list[ast.AST]:
    """Return the nodes of a tree, without the statements that have none of some ascending lines."""
    nodes: list[ast.AST] = [tree]
    for node in nodes:  # which grows
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                # A function or class begins with its first decorator.
                first = min([child.lineno, *(d.lineno for d in getattr(child, "decorator_list", ()))])
                index = bisect_left(lines, first)
                if index == len(lines) or lines[index] > (child.end_lineno or child.lineno):
                    continue
            nodes.append(child)
    return nodes


def _encodable(name: str) -> str:
    return name.encode("utf-8", "replace").decode()


def _readable(source: str) -> tuple[str, ast.Module | None]:
    """Return the text as this Python can parse it, and its tree; ``None`` if it is not Python."""
    try:
        return source, parsed(source)
    except ParseFailure:
        from gllint_rules.reading.newer import lowered  # here: LibCST takes its time

        code = lowered(source)
        return (code, parsed(code)) if code is not None else ("", None)


def _words(source: str, wanted: Iterable[Changed], code: str) -> Iterator[tuple[Changed, int]]:
    """Yield the first line where each name occurs as a word of ``source``.

    Not counted are occurrences that ``code``, the parsed text of the same length, has at the same place.
    """
    for change in wanted:
        for word in re.finditer(rf"(?<!\w){re.escape(change.name)}(?!\w)", source):
            if code[word.start() : word.end()] != change.name:
                yield change, source.count("\n", 0, word.start()) + 1
                break


def _reads(nodes: Sequence[ast.AST]) -> Iterator[tuple[str, str, int]]:
    """Yield what each node of a tree reads: ("key", name, line), ("attribute", …), ("function", …) or ("text", …).

    A string reads the key that it names (``COLUMN = "load"``) unless it writes that key (``{"load": 5}``). The text of
    a string is read if something is looked up by it or compared with it.
    """
    no_keys: set[ast.AST | None] = set()  # strings that read no key, as far as their place shows
    texts: list[ast.Constant] = []
    for node in nodes:
        looked_up: list[ast.expr | None] = []
        match node:
            case ast.Constant(value=str()):
                texts.append(node)
                continue
            case ast.Expr(value=value):  # a docstring
                no_keys.add(value)
            case ast.JoinedStr(values=values):
                no_keys.update(values)
                for value in values:
                    yield from _fields(value)
            case ast.Subscript(slice=subscript, ctx=ctx):
                looked_up.append(subscript)
                if isinstance(ctx, ast.Store):
                    no_keys.add(subscript)
            case ast.AugAssign(target=ast.Subscript(slice=ast.Constant(value=str() as name))):
                yield "key", name, node.lineno
            case ast.Attribute(value=base, attr=name, ctx=ast.Load()):
                yield "attribute", name, node.lineno
                if isinstance(base, ast.Name | ast.Attribute):
                    # `heat.invoke(…)`, `tools.heat.run(…)`
                    yield "function", base.id if isinstance(base, ast.Name) else base.attr, node.lineno
            case ast.Call(func=func, args=args, keywords=keywords):
                looked_up += (*args, *(keyword.value for keyword in keywords))
                if isinstance(func, ast.Name | ast.Attribute):
                    name = func.id if isinstance(func, ast.Name) else func.attr
                    yield "function", name, node.lineno
                    # A class gives its object the name: `Tool(name="load")`. A function may look it up.
                    if name[:1].isupper():
                        no_keys.update(keyword.value for keyword in keywords if keyword.arg == "name")
            case ast.Compare(left=left, ops=ops, comparators=others):
                looked_up += (left, *others)
                # Asks for the presence of the key, not for its value.
                if isinstance(ops[0], ast.In | ast.NotIn):
                    no_keys.add(left)
                # A display that is compared reads its keys: `row == {"load": 5}`.
                for inner in chain.from_iterable(map(ast.walk, (left, *others))):
                    if isinstance(inner, ast.Dict):
                        yield from (("key", name, inner.lineno) for key in inner.keys for name in _texts(key))
            case ast.For(iter=source) | ast.comprehension(iter=source):
                looked_up.append(source)
            case ast.Dict(keys=keys, values=values):
                looked_up += keys
                no_keys.update(keys)
                # The names after `required` in a schema read no value.
                for key, required in zip(keys, values, strict=True):
                    if isinstance(key, ast.Constant) and key.value == "required":
                        no_keys.update(ast.walk(required))
            case ast.ClassDef(body=body):  # a model may be made from the result: `Row(**row)`
                for statement in body:
                    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                        yield "attribute", statement.target.id, statement.lineno
            case ast.MatchValue(value=value):
                looked_up.append(value)
        for looked in looked_up:
            if looked is not None:
                yield from (("text", name, looked.lineno) for name in _texts(looked))
    for constant in texts:
        if constant not in no_keys:
            yield "key", str(constant.value), constant.lineno
            yield from _fields(constant)


def _fields(node: ast.expr) -> Iterator[tuple[str, str, int]]:
    """Yield the keys that a text fills in as a template: ``"{row[load]:.1f}"`` → ``row`` and ``load``."""
    if (
        isinstance(node, ast.Constant)
        and isinstance(text := node.value, str)
        and ("{" in text or "%(" in text)
    ):
        for field in _FIELD.finditer(text):
            yield from (("key", name, node.lineno) for name in _NAME.findall(field[0]))


def _whole_reads(nodes: Sequence[ast.AST]) -> Iterator[tuple[str, str, int]]:
    """Yield calls whose result is read other than by a literal key: ``sum(f(x).values())``, ``Row(**f(x))``."""
    picked: set[ast.expr] = set()  # expressions whose value is not used, or only by a literal key
    assigned: dict[ast.expr, str] = {}
    calls: list[tuple[str, ast.expr]] = []
    for node in nodes:
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
                # A decorated function is taken for a tool, which returns the result to the model.
                picked.update(s.value for s in ast.walk(node) if isinstance(s, ast.Return) and s.value)
        match node:
            case ast.Await(value=ast.Call(func=func)) | ast.Call(func=func) if isinstance(node, ast.expr):
                if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
                    calls.append((func.value.id, node))  # `heat.invoke(…)`
                calls.append((func.id if isinstance(func, ast.Name) else getattr(func, "attr", ""), node))
    awaited = {node.value for _, node in calls if isinstance(node, ast.Await)}
    read_whole = {
        node.id
        for node in nodes
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node not in picked
    }
    for name, node in calls:
        is_only_picked = node in assigned and assigned[node] not in read_whole
        if name and node not in awaited and node not in picked and not is_only_picked:
            yield "result", name, node.lineno


def _texts(value: ast.expr | None) -> Iterator[str]:
    """Yield the string that an expression is, or the strings in a list, tuple or set display."""
    values = value.elts if isinstance(value, ast.List | ast.Tuple | ast.Set) else [value]
    for element in values:
        if isinstance(element, ast.Constant) and isinstance(element.value, str):
            yield element.value
