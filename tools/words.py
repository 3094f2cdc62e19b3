"""Measure the words of names and texts, file by file: ``python tools/words.py``.

Counts three things, with the word lists of ``words.txt``:

* parts of names (``snake_case`` and ``CamelCase`` split) that are participles of common verbs,
* idioms in messages, docstrings, comments and pages,
* sentences of more than 40 words in the same texts.

Exits with 1 if a file is over a limit, or a floor or all pages together are over the ratios of idioms and long
sentences, or the pages have more than ``MOST_WORDS`` words. A file that was over a limit at the start has a line in
``words_allowed.txt``, which may only shrink. ``--all`` prints each file, ``--list FILE`` each place in it, ``--update``
lowers the allowances.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ALLOWED = ROOT / "tools" / "words_allowed.txt"
NAMES, SOURCE_IDIOMS, PAGE_IDIOMS, LONG = 0.01, 0.0015, 0.001, 0.03
"""The highest ratios: names to name parts, idioms to words (in source, in pages), long sentences to sentences."""
FEW = 2
"""What a short file may have whatever its ratio: one word in a small file says nothing about its style."""
LONG_SENTENCE = 40
OPERANDS = {"left"}
"""Names that are participles and the field's own words: the ``left`` and ``right`` of an operator."""
MOST_WORDS = 40_000
"""Words of all pages."""
GENERATED = {"rules"}
"""Folders of ``docs`` that are made from docstrings, which are counted where they are written."""

_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_CODE = re.compile(r"```.*?```|``[^`]+``|`[^`]+`|<[^>]+>|\{[^{}]*\}|https?:\S+", re.DOTALL)
_SENTENCE_END = re.compile(r"(?<=[.!?:])\s+(?=[A-Z`*\d\"'(])|\n\s*\n|\n\s*(?=[-*|#]|\d+\.)")
_WORD = re.compile(r"[A-Za-z][A-Za-z'-]*")


@dataclass
class Counts:
    """What was counted in one file, with a place for each hit."""

    parts: int = 0
    words: int = 0
    sentences: int = 0
    names: list[str] = field(default_factory=list)
    idioms: list[str] = field(default_factory=list)
    long: list[str] = field(default_factory=list)

    def figures(self) -> tuple[int, int, int]:
        return len(self.names), len(self.idioms), len(self.long)

    def limits(self, is_page: bool) -> tuple[int, int, int]:
        """Return how many of each (names, idioms, long sentences) a file of this size may have."""
        idioms = PAGE_IDIOMS if is_page else SOURCE_IDIOMS
        return (
            max(FEW, int(NAMES * self.parts)),
            max(FEW, int(idioms * self.words)),
            max(FEW, int(LONG * self.sentences)),
        )

    def add(self, other: Counts) -> None:
        self.parts, self.words = self.parts + other.parts, self.words + other.words
        self.sentences += other.sentences
        self.names += other.names
        self.idioms += other.idioms
        self.long += other.long


def _sections() -> tuple[frozenset[str], re.Pattern[str]]:
    """Return the participles, and one pattern for all idioms."""
    lines: dict[str, list[str]] = {}
    section = ""
    for line in (ROOT / "tools" / "words.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            lines.setdefault(section, []).append(line)
    participles = frozenset(word for line in lines["participles"] for word in line.split())
    return participles, re.compile(rf"\b(?:{'|'.join(lines['idioms'])})\b", re.IGNORECASE)


PARTICIPLES, IDIOM = _sections()


def names(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, int, bool]]:
    """Yield each identifier, its line, and whether it is an attribute, which may be a foreign library's."""
    for node in nodes:
        match node:
            case ast.Name(id=name):
                yield name, node.lineno, False
            case ast.Attribute(attr=name):
                yield name, node.end_lineno or node.lineno, True
            case ast.arg(arg=name) | ast.keyword(arg=str(name)):
                yield name, node.lineno, isinstance(node, ast.keyword)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name, node.lineno, False
            case ast.alias(name=name, asname=alias):
                yield alias or name.rpartition(".")[2], node.lineno, False
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name, node.lineno, False
            case ast.MatchClass(kwd_attrs=attributes):
                for name in attributes:
                    yield name, node.lineno, True
            case _:
                pass


def definitions(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield what a file itself names: functions, classes, arguments, fields, attributes that it assigns."""
    for node in nodes:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.arg(arg=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name
            case _:
                pass


def texts(source: str, nodes: list[ast.AST]) -> Iterator[tuple[str, int]]:
    """Yield each comment (adjacent lines joined), docstring and message, with its line."""
    comment: list[str] = []
    last = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            if token.start[0] != last + 1 and comment:
                yield " ".join(comment), last
                comment = []
            comment.append(token.string.lstrip("#! "))
            last = token.start[0]
    if comment:
        yield " ".join(comment), last
    in_fstring = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in nodes:
        match node:
            case ast.Constant(value=str(text)) if id(node) not in in_fstring and _is_prose(text):
                yield text, node.lineno
            case ast.JoinedStr(values=values):
                text = "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in values)
                if _is_prose(text):
                    yield text, node.lineno
            case _:
                pass


def _is_prose(text: str) -> bool:
    """At least three words that follow one another: no list of keys and no pattern."""
    return len(text) < 20_000 and re.search(r"[A-Za-z]{2,},? [a-z]{1,},? [A-Za-z]{2,}", text) is not None


def count_text(counts: Counts, text: str, line: int) -> None:
    """Add the words, idioms and long sentences of a text that begins at ``line`` to ``counts``."""
    prose = _CODE.sub(" x ", text)
    counts.words += len(_WORD.findall(prose))
    counts.idioms += [
        f"{line + prose[: hit.start()].count(chr(10))}: {hit[0]}" for hit in IDIOM.finditer(prose)
    ]
    for sentence in _SENTENCE_END.split(prose):
        length = len(_WORD.findall(sentence))
        counts.sentences += length > 2
        if length > LONG_SENTENCE and "|" not in sentence:
            counts.long.append(f"{line}: {' '.join(sentence.split())[:100]}")


def source_counts(source: str, nodes: list[ast.AST], defined: frozenset[str]) -> Counts:
    """Return the counts of a Python file; of attributes, only those that ``defined`` (the project's names) has."""
    counts = Counts()
    for name, line, is_attribute in names(nodes):
        if is_attribute and name not in defined:
            continue
        parts = _PART.findall(name)
        counts.parts += len(parts)
        if name in OPERANDS:
            continue
        counts.names += [f"{line}: {name}" for part in parts if part.lower() in PARTICIPLES]
    for text, line in texts(source, nodes):
        count_text(counts, text, line)
    return counts


def page_counts(text: str) -> Counts:
    counts = Counts()
    prose = re.sub(r"```.*?```", lambda block: "\n" * block[0].count("\n"), text, flags=re.DOTALL)
    count_text(counts, prose, 1)
    return counts


def measure() -> dict[str, tuple[str, Counts]]:
    """Return the counts of each file, with the group that its figures are added to."""
    sources = {
        path: path.read_text(encoding="utf-8")
        for floor in ("gllint", "rules", "runtime")
        for path in sorted((ROOT / floor).rglob("*.py"))
    }
    nodes = {path: [*ast.walk(ast.parse(text))] for path, text in sources.items()}
    defined = frozenset(name for found in nodes.values() for name in definitions(found))
    result = {
        path.relative_to(ROOT).as_posix(): (
            path.relative_to(ROOT).parts[0],
            source_counts(text, nodes[path], defined),
        )
        for path, text in sources.items()
    }
    for path in [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]:
        if path.parent.name not in GENERATED:
            result[path.relative_to(ROOT).as_posix()] = "pages", page_counts(path.read_text(encoding="utf-8"))
    return result


def allowances() -> dict[str, tuple[int, int, int]]:
    lines = [
        line.split() for line in ALLOWED.read_text(encoding="utf-8").splitlines() if not line.startswith("#")
    ]
    return {path: (int(names), int(idioms), int(long)) for path, names, idioms, long in lines}


def summary(name: str, counts: Counts) -> str:
    names, idioms, long = counts.figures()
    return (
        f"{name}: {100 * names / max(counts.parts, 1):.2f} % of {counts.parts} name parts, "
        f"{1000 * idioms / max(counts.words, 1):.1f} idioms in 1,000 of {counts.words} words, "
        f"{100 * long / max(counts.sentences, 1):.1f} % of {counts.sentences} sentences over {LONG_SENTENCE} words"
    )


def main(arguments: list[str]) -> int:
    """Print the files over their limits, and return 1 if there is any; see the module."""
    files = measure()
    if "--list" in arguments:
        counts = files[arguments[arguments.index("--list") + 1]][1]
        print(*counts.names, *counts.idioms, *counts.long, sep="\n")
        return 0
    groups: dict[str, Counts] = {}
    old, lines, is_over = allowances() if ALLOWED.exists() else {}, [], False
    for path, (group, counts) in files.items():
        groups.setdefault(group, Counts()).add(counts)
        limits, figures = counts.limits(group == "pages"), counts.figures()
        allowed = tuple(map(max, limits, old.get(path, (0, 0, 0)) if old else figures))
        if any(figure > limit for figure, limit in zip(figures, limits, strict=True)):
            lines.append(" ".join([path, *(str(min(pair)) for pair in zip(figures, allowed, strict=True))]))
        if any(figure > limit for figure, limit in zip(figures, allowed, strict=True)):
            is_over = True
            print(f"{path}: names, idioms, long sentences {figures}, allowed {allowed}: see --list {path}")
        if "--all" in arguments:
            print(summary(path, counts))
    if "--update" in arguments:
        head = "# Files over the limits of words.py: names, idioms, long sentences. Figures may only fall (--update)."
        ALLOWED.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    for name, counts in groups.items():
        print(summary(name, counts))
        if excess := _excess(name, counts):
            is_over = True
            print(f"{name}: {excess}")
    return int(is_over)


def _excess(name: str, counts: Counts) -> str:
    """Return which limit a floor or all pages together exceed. A file alone may have a few hits whatever its ratio."""
    _, idioms, long = counts.limits(name == "pages")
    if len(counts.idioms) > idioms:
        return f"{len(counts.idioms)} idioms, allowed {idioms}"
    if len(counts.long) > long:
        return f"{len(counts.long)} long sentences, allowed {long}"
    return f"more than {MOST_WORDS:,} words" if name == "pages" and counts.words > MOST_WORDS else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
