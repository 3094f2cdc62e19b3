"""Decides from the bytes of a file whether any rule could report in it.

Most files of most projects contain nothing that a rule looks at, and are never parsed. The *needles* of a group of
rules are words, one of which a file must contain before these rules can report in it. For nearly all files a search
for these words decides; for the others, regular expressions. Formatting does not matter: a test runs the screen over
everything that the rules report on.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import product
from typing import TYPE_CHECKING, TypeAlias

from gllint_rules.words.framework_table import Table
from gllint_rules.words.names import (
    ANSWER_CALLS,
    ANSWER_KEYWORDS,
    LIKE_TOOLS,
    LIST_PUTS,
    OUTPUT_SCHEMAS,
    QUANTITY,
    REGISTRY_LOOKUPS,
    TOOL_ACTIONS,
    TOOL_CATEGORIES,
    TOOL_CATEGORY,
    TOOL_CLASS_ENDINGS,
    TOOL_PARAMETERS,
    TOOL_REGISTRY_CLASSES,
    TOOL_REGISTRY_NAMES,
    Names,
)
from gllint_rules.words.needles import ANY_NAME, IN_SMALL_PROJECT, Needles
from gllint_rules.words.settings import Settings
from gllint_rules.words.text_files import TEXT_SUFFIXES
from gllint_runtime.policy.expressions import expression

if TYPE_CHECKING:
    from ahocorasick_rs import BytesAhoCorasick

_Needles: TypeAlias = tuple[bytes, ...]


# The fragments in a file, each with the offsets at which it begins.
Hits: TypeAlias = Mapping[bytes, Sequence[int]]


# How a file writes a decorator's name: decorates with it, imports it or gives it another name.
_DECORATED = ("@{}", "@ {}", ".{}", ". {}", "{} as", "{}(", "{} (", "({}", "={}", "= {}", "=  {}")
_Patterns: TypeAlias = "tuple[_LazyPattern | _Bases | _TextPaths, ...]"
# Words of which a file must contain one, then patterns that must all match.
_Group: TypeAlias = "tuple[_Needles, _Patterns]"
# Fragments of which a file must contain one, then the groups that it may belong to.
_Family: TypeAlias = "tuple[_Needles, tuple[_Group, ...]]"


def _word(names: Iterable[str]) -> str:
    """Return the expression that matches one of some names: ``(?:run|arun)``."""
    return "(?:" + "|".join(sorted(map(re.escape, names))) + ")"


# A fragment of every comment that may suppress a finding: `gllint:`, `Gllint:`, `noqa`, `NoQA`.
MARKS = (b"llint:", b"LLINT:", b"oqa", b"OQA")
# Fragments before a name that may begin further on: a decorator's, and one after a dot.
AT, BROKEN_DOT = b"@", b".\\"
_JOINTS = frozenset({AT, BROKEN_DOT})
# What may be between two tokens. It is bounded and possessive, so that the time stays in
# proportion to the size of a file that is made to take long.
GAP = r"(?:\s++|\\|\#[^\n]{0,200}+\n){0,30}+"
# What follows a word in prose, and no class in code.
PROSE = r"(?:[ \t]+(?!(?:and|as|else|for|if|in|is|not|or)\b)|[-/])\w"


class Screen:
    """The test for one configuration. All methods take the bytes of a file as they are on disk."""

    def __init__(self, settings: Settings) -> None:
        names = Names.of(settings)
        table = names.table
        table_words = _TableWords(table)
        gap = GAP
        # The forms of an import of a framework or an SDK, each with the modules that it may be.
        self._imports = _import_forms(table.modules)
        # T2 to T8 by names that mean nothing without their framework.
        self._framework_patterns = [
            (frozenset(modules), _patterns("|".join(_in_code(word) for word in sorted(words)))[0])
            for modules, words in table_words.framework_words
        ]
        # T5: JSON that describes tools, where a model is called.
        places = table.descriptions.places - table.any_keywords
        self._places = _encoded(places)
        self._requests = _encoded(table.descriptions.quoted_requests)
        self._descriptions = _anchored(rf"(?<!\w){_word(places)}(?:{gap}=(?!=)|[\"']{gap}[:\]])")
        self._families = _families(names, table_words, settings)
        calls, methods = _word(_calls(table)), _word(table.methods("BaseTool"))
        self._uses = _patterns(
            rf"\.{gap}{calls}{gap}\(", rf"\b{QUANTITY}{gap}\(", rf"\bdef\b{gap}{methods}\b"
        )
        [self._lookup] = _patterns(rf"\b(\w++){gap}\.{gap}{_word(REGISTRY_LOOKUPS)}{gap}\(")
        [self._call] = _patterns(rf"\b(\w++){gap}\(")
        [self._subclass] = _patterns(
            rf"\bclass\b{gap}\w++{gap}(?:\[[^\]]{{0,2000}}+\]{gap})?\(([^)]{{1,400}}+)"
        )
        needles = {needle for fragments, groups in self._families for needle in fragments}
        needles |= {needle for _, groups in self._families for group, _ in groups for needle in group}
        self._fragments = Automaton(
            {*_JOINTS, *MARKS, *needles, *self._places, *self._requests, *self._imports}
        )
        self._watches_makers = bool(settings.registry_modules)
        self._audits = settings.audit

    def fragments(self, data: bytes) -> Hits:
        """Return the fragments that a file contains, each with its offsets: ``{b"tool": [17, 40]}``.

        Among them are those of suppressing comments, and ``@`` and the like before names.
        """
        return self._fragments.places(data)

    def passes(self, data: bytes, hits: Hits | None = None) -> bool:
        """Return whether any rule could report in a file with these bytes, regardless of the other files.

        ``hits`` are its :meth:`fragments`, if the caller has them.
        """
        hits = self.fragments(data) if hits is None else hits
        return not hits.keys() <= _JOINTS and (
            any(
                not hits.keys().isdisjoint(fragments)
                and any(_is_of(needles, patterns, data, hits) for needles, patterns in groups)
                for fragments, groups in self._families
            )
            or self._uses_framework(data, hits)
        )

    def talks(self, data: bytes, hits: Hits | None = None) -> bool:
        """Return whether the file imports a framework of the table or a model's SDK, or reads a model's calls.

        ``hits`` are as in :meth:`passes`.
        """
        hits = self.fragments(data) if hits is None else hits
        return not hits.keys().isdisjoint(self._requests) or bool(self._imported(data, hits))

    def _imported(self, data: bytes, hits: Hits) -> frozenset[str]:
        """Return the modules of frameworks and SDKs that a file imports: ``from openai import OpenAI`` → openai."""
        return frozenset(
            module
            for form in hits
            if form in self._imports
            for module, other in self._imports[form]
            if other in data
        )

    def _uses_framework(self, data: bytes, hits: Hits) -> bool:
        """Return whether a file imports a framework and uses one of its words."""
        imported = self._imported(data, hits)
        return bool(imported) and (
            _is_of(self._places, self._descriptions, data, hits)
            or any(
                not imported.isdisjoint(modules) and pattern.search(data) is not None
                for modules, pattern in self._framework_patterns
            )
        )

    def uses(self, data: bytes, needles: Needles) -> bool:
        """Return whether a file may use a tool of another one: import and call it, or derive from its class.

        A file also uses a tool if it calls one by its name (``call_tool("heat")``), creates one, or passes a function
        to something that makes tools of functions (``registrar(f)``). ``needles`` has the names of the tools.
        """
        names, registrars, texts = _by_use(needles)
        if texts and _calls_by_name(data, texts):
            return True
        is_any_name = ANY_NAME in needles  # in a small project, anything that a file imports may be a tool
        imported = {b"*"} if is_any_name else imported_names(data)
        if _registers(data, imported, registrars):
            return True
        has_star = b"*" in imported and _automaton(names).any(data)
        if not is_any_name and names.isdisjoint(imported) and not has_star:
            return False
        if self._audits or any(pattern.search(data) for pattern in self._uses):
            return True
        if is_any_name and (_DECORATES.search(data) or _DERIVES.search(data)):
            return True
        return self._mentions(data, names)

    def _mentions(self, data: bytes, names: frozenset[bytes]) -> bool:
        """Return whether a file looks up, derives from, creates or renames one of the tools called ``names``.

        ``heat.get("x")``, ``class Better(Heat)``, ``Heat(…)``, ``import heat as h``
        """
        words = set(self._lookup.compiled.findall(data))
        # A method of a derived class may be the one whose result a tool returns.
        for bases in self._subclass.compiled.findall(data):
            words.update(_WHOLE_IDENTIFIER.findall(bases))
        if self._watches_makers or not names.isdisjoint(_encoded(TOOL_REGISTRY_NAMES)):
            words.update(self._call.compiled.findall(data))
        return not words.isdisjoint(names) or not words.isdisjoint(_ALIAS.findall(data))


class _TableWords:
    """The names of the framework table by their place in code.

    A specific name (``function_tool``) is searched for in each file, another one (``Agent``) only in files that
    import the framework: ``framework_words`` has the latter by the imports of their row.
    """

    def __init__(self, table: Table) -> None:
        without_imports = frozenset(name for row in table.rows if not row.imports for name in row.makes)

        def specific(names: frozenset[str]) -> frozenset[str]:
            return frozenset(n for n in names if n in without_imports or "tool" in n.lower() or "_" in n)

        decorators = specific(table.last_names("decorators", "generators"))
        # A word of everyday code, such as `action`, makes a tool only where it is written as a decorator.
        self.everyday = frozenset(n for n in decorators if "tool" not in n.lower() and "_" not in n)
        self.decorators = decorators - self.everyday
        self.makers = table.last_names("calls")
        self.calls = specific(self.makers | table.last_names("keywords", "described"))
        self.classes = specific(table.classes)
        self.published = table.published_in
        tool_words = decorators | self.calls | self.classes
        others = ((row.imports, row.makes - tool_words) for row in table.rows if row.imports)
        self.framework_words = [(imports, words) for imports, words in others if words]


def _tool_groups(names: Names, words: _TableWords) -> tuple[_Group, ...]:
    """Return the groups of the rules on tools, each for one way in which code defines or uses a tool."""
    table, gap = names.table, GAP
    classes = _word(names.tool_classes | table.tool_makers)
    decorators = _word(words.decorators)
    ends = table.endings("decorators")
    endings = _word(TOOL_CLASS_ENDINGS)
    registries = _word((*TOOL_REGISTRY_NAMES, *TOOL_REGISTRY_CLASSES))
    lookups = _word({*table.runs(None), *REGISTRY_LOOKUPS})
    actions = TOOL_ACTIONS | names.dispatch_functions
    calls = _word(_calls(table))
    puts = _word(LIST_PUTS)
    return (
        # T2, T8: a class with such a base, whatever the base is imported as.
        (
            _encoded(words.classes),
            (
                _Bases(
                    rf"class\b{gap}\w++{gap}(?:\[[^\]]{{0,2000}}+\]{gap})?\(",
                    _word(words.classes),
                    gap,
                ),
            ),
        ),
        (_encoded(words.published), _patterns(rf"\b{_word(words.published)}\b")),
        # T3: a decorator, under whatever name it is imported or assigned.
        (
            _encoded(form.format(name) for name in words.decorators for form in _DECORATED),
            _anchored(rf"\W{{0,3}}{decorators}\b")
            + _patterns(
                rf"(?:[@=]|\b(?:map|partial){gap}\(){gap}(?:\w++{gap}\.{gap}){{0,20}}{decorators}\b"
                rf"|\b{decorators}{gap}(?:\bas\b|\()"
            ),
        ),
        # T3: a decorator of any package whose name ends so, or is a word of everyday code.
        (
            _encoded({*ends, *(f"{sign}{word}" for word in words.everyday for sign in "@. ")}),
            _patterns(rf"@{gap}(?:\w++{gap}\.{gap}){{0,20}}(?:\w*{_word(ends)}|{_word(words.everyday)})\b"),
        ),
        # T4, T5 and T7: a call that wraps, describes or registers a function.
        (
            (b"Tool", *_encoded(words.calls)),
            _anchored(
                rf"(?:Tool|\b{_word(words.calls)})\b(?:{gap}\[[^\]]{{0,2000}}+\])?{gap}\("
                rf"|(?:Tool|\b{_word(words.calls)})\b{gap}as\b"
                rf"|Tool\b{gap}\.{gap}{_word(words.makers)}"
            ),
        ),
        # T6: a list of tools, by its usual name.
        (
            _encoded(table.any_keywords),
            _anchored(
                rf"(?<!\w){_word(table.any_keywords)}{gap}\+?=(?!=)"
                rf"|(?<=[\s.\\]){_word(table.any_keywords)}{gap}\.{gap}{puts}"
                rf"|(?<=[\"']){_word(table.any_keywords)}[\"']"
            )
            + _patterns(
                rf"\b{_word(table.any_keywords)}{gap}\+?=(?!=)"
                rf"|\.{gap}{_word(table.any_keywords)}{gap}\.{gap}{puts}"
                rf"|[\"']{_word(table.any_keywords)}[\"']{gap}[:\]]"
            ),
        ),
        # GL3: a tool by annotation (prose has no sign before the name, or a word after it) or from a
        # registry, and a method that runs it.
        (
            (b"Tool", *_encoded(names.tool_classes)),
            _patterns(
                rf"\.{gap}{calls}{gap}\(",
                rf"[:=\[(,|>.]{gap}[\"']?(?:{classes}|\w*{endings})\b(?!{PROSE})|\b{registries}\b",
            ),
        ),
        (
            _encoded(TOOL_REGISTRY_CLASSES),
            _patterns(rf"\.{gap}{lookups}{gap}\(", rf"\b{_word(TOOL_REGISTRY_CLASSES)}\b"),
        ),
        # GL3: a registry that other files take tools from.
        (_encoded(TOOL_REGISTRY_CLASSES), _patterns(rf"\b{_word(TOOL_REGISTRY_CLASSES)}{gap}\(")),
        # GL5: a Quantity next to tools.
        ((QUANTITY.encode(),), _patterns(rf"\b{QUANTITY}{gap}[(\[]")),
        # GL7: the levels of consequence.
        ((TOOL_CATEGORY.encode(),), _patterns(rf"\b{_word(TOOL_CATEGORIES)}\b")),
        # GL3: an action, a step.
        (_encoded(actions), _patterns(rf"\b{_word(actions)}\b")),
        ((b'tool_call"', b"tool_call'"), _patterns(r"[\"']kind[\"']", r"[\"']tool_call[\"']")),
    )


def _families(names: Names, words: _TableWords, settings: Settings) -> tuple[_Family, ...]:
    """Return the families of all rules: fragments of which a file must have one, and groups that it may belong to."""
    table, gap = names.table, GAP
    lookups = _word({*table.runs(None), *REGISTRY_LOOKUPS})
    actions = TOOL_ACTIONS | names.dispatch_functions
    # The longest fixed part of each pattern: `final_message` of `*_final_message`.
    final_parts = {
        *names.final_calls,
        *(max(n.split("*"), key=len).strip("_") for n in names.final_names),
    }
    finals = _word(final_parts)
    tools = _lone(
        b"Tool",
        b"tool",
        *_encoded(
            names.tool_classes
            | words.decorators
            | words.everyday
            | words.calls
            | actions
            | table.any_keywords
        ),
    )
    return (
        (tools, _tool_groups(names, words)),
        # T7: a cloud function that the model's agent calls.
        (_encoded(table.handlers), ((_encoded(table.handlers), ()),)),
        # GL406: the model of an answer.
        (
            _encoded(ANSWER_KEYWORDS | ANSWER_CALLS),
            (
                (
                    _encoded(ANSWER_KEYWORDS | ANSWER_CALLS),
                    _patterns(rf"{_word(ANSWER_KEYWORDS)}{gap}=(?!=)|{_word(ANSWER_CALLS)}{gap}\("),
                ),
            ),
        ),
        # What a call takes like tools.
        (
            _encoded(LIKE_TOOLS),
            (
                (
                    _encoded(LIKE_TOOLS),
                    _anchored(rf"{_word(LIKE_TOOLS)}{gap}=(?!=)")
                    + _patterns(rf"[(,]{gap}{_word(LIKE_TOOLS)}{gap}=(?!=){gap}[\[(\w]"),
                ),
            ),
        ),
        # A JSON Schema of parameters, with the function that takes them.
        (
            (b"properties",),
            (
                (
                    (b"properties",),
                    _anchored(rf"(?<=[\"'])properties[\"']{gap}:")
                    + _patterns(r"[\"'](?:object|string|number|integer)[\"']"),
                ),
            ),
        ),
        # A description for the model, made next to the function by a decorator of the project.
        (
            (b"description",),
            (
                (
                    (b"description",),
                    _anchored(rf"(?<=[\"'])description[\"']{gap}:")
                    + _patterns(rf"[\"'](?:function|{_word(TOOL_PARAMETERS)})[\"']"),
                ),
            ),
        ),
        # GL3: a tool from a registry, the registry itself.
        (
            _encoded(TOOL_REGISTRY_NAMES),
            (
                (_encoded(TOOL_REGISTRY_NAMES), _patterns(rf"\.{gap}{lookups}{gap}\(")),
                (
                    _encoded(TOOL_REGISTRY_NAMES),
                    _patterns(rf"\b{_word(TOOL_REGISTRY_NAMES)}{gap}[:=]"),
                ),
            ),
        ),
        # T1 and GL2: a schema keyword.
        (
            (b"chema",),
            (
                (
                    (b"args_schema", *_encoded(OUTPUT_SCHEMAS)),
                    _patterns(rf"(?:args_schema|{_word(OUTPUT_SCHEMAS)}){gap}="),
                ),
            ),
        ),
        # GL4: a final step, a call or a name that makes one, a macro, a claim.
        (
            _lone(b"final", b"Final", b"FINAL", *_encoded(final_parts)),
            (
                ((b'final"', b"final'"), _patterns(r"[\"']kind[\"']", r"[\"']final[\"']")),
                (
                    _encoded(final_parts),
                    _patterns(rf"{finals}\w{{0,200}}+{gap}(?:[(:=+,\])]|in\b|[\"'][\],])"),
                ),
            ),
        ),
        ((b"{{claim", b"source_call_id"), (((b"claim", b"source_call_id"), ()),)),
        # GL4: the path of a file that may contain one.
        (_TextPaths.needles, ((_TextPaths.needles, (_TextPaths(),)),)),
        # GL204: a reference to a schema of ours.
        ((b"greenlang:",), (((b"$ref",), ()),)),
        # Rules of installed packages.
        *(((needle,), (((needle,), ()),)) for needle in _encoded(settings.needles)),
    )


def _calls(table: Table) -> Iterable[str]:
    """Return the methods that run a tool, without special methods: ``invoke``, ``run``."""
    return (name for name in table.all_runs if name.isidentifier() and name[:2] != "__")


def _import_forms(modules: Iterable[str]) -> dict[bytes, list[tuple[str, bytes]]]:
    """Return the beginnings of imports, each with the modules that it may import and what else must be in the file.

    ``google.adk`` → ``from google.adk.`` (nothing else), ``from google `` (and ``adk``) …, with one or two spaces.
    """
    forms: dict[bytes, list[tuple[str, bytes]]] = {}
    for module in sorted(modules):
        names = (
            [module.removesuffix("*")] if module[-1] == "*" else [f"{module}{end}" for end in " .\n\r,;\\"]
        )
        for word, space, name in product(("from", "import"), (" ", "  "), names):
            forms.setdefault(f"{word}{space}{name}".encode(), []).append((module, b""))
        package, _, name = module.rpartition(".")
        for space in (" ", "  ") if package else ():
            forms.setdefault(f"from{space}{package} ".encode(), []).append((module, name.encode()))
    return forms


def _in_code(word: str) -> str:
    """Return an expression for a word in code: ``Agent(``, ``import Agent``, but not ``the Agent writes``.

    A word with a ``*`` is matched anywhere.
    """
    if "*" in word:
        return r"\b" + word.replace("*", r"\w*") + r"\b"
    no_prose = (
        rf"(?:(?<![\w.)] {word})|(?<=import {word})|(?<=return {word})|(?<=else {word})|(?<=\bor {word}))"
    )
    return rf"\b{word}(?:{GAP}(?:[(,.)=\[\]:}}]|as\b)|\b(?!{PROSE}){no_prose})"


_IDENTIFIER = expression(rb"\w+|\*")
_WHOLE_IDENTIFIER = expression(rb"[\w\x80-\xff]+")
# The rest of a line, continued ones included; where a bracket opens in it, all up to the one that closes it.
_LINE = r"(?:[^\n\\{}]++|\\\n?)*+"
_IMPORTED = expression(
    rf"import({_LINE.format('(')}(?:\({_LINE.format(')')}(?:\){_LINE.format('')}|[^)]*+))?+)".encode()
)
_ALIAS = expression(rb"\bas\s+(\w+)")
# A decorator or base that may be another name for one of a framework's.
_DECORATES = expression(
    rb"^[ \t]*+@(?!(?:property|staticmethod|classmethod|override|overload|dataclass)\b)", re.M
)
_DERIVES = expression(
    rb"^[ \t]*+class\s[^(:\n]{1,200}\((?!(?:object|Exception|[\w.]*Enum|BaseModel)\))", re.M
)
_WORD_BEFORE = expression(rb"\w")
_IN_WORDS = frozenset(c for c in range(128) if chr(c).isalnum() or chr(c) == "_")


# The bytes after which building an automaton pays, and the faster one that takes longer to build.
_WORTH_MAKING = 10_000
_WORTH_TUNING = 1_000_000


class Automaton:
    """Finds needles in bytes: one by one at first, then in one pass by an automaton, if its library is installed."""

    def __init__(self, needles: Iterable[bytes]) -> None:
        self._needles = sorted(needles)
        self._byte_count = 0
        self._next = _WORTH_MAKING
        self._automaton: BytesAhoCorasick | None = None

    def _automaton_for(self, data: bytes) -> BytesAhoCorasick | None:
        """Count the bytes of ``data``, and return the automaton; ``None`` before it pays to build one."""
        self._byte_count += len(data)
        if self._byte_count > self._next:
            self._make(is_tuned=self._byte_count > _WORTH_TUNING)
        return self._automaton

    def _make(self, is_tuned: bool) -> None:
        """Build the automaton. The tuned form takes longer to build and is faster to search with."""
        self._next = sys.maxsize if is_tuned else _WORTH_TUNING
        try:
            from ahocorasick_rs import BytesAhoCorasick, Implementation
        except ImportError:  # no wheel for this machine
            return
        kind = Implementation.DFA if is_tuned else Implementation.NoncontiguousNFA
        self._automaton = BytesAhoCorasick(self._needles, implementation=kind)

    def places(self, data: bytes) -> Hits:
        """Return the needles that ``data`` contains, each with its offsets: ``{b"tool": [17, 40]}``."""
        hits: dict[bytes, list[int]] = {}
        automaton = self._automaton_for(data)
        if automaton is None:
            for needle in self._needles:
                if needle in data:
                    hits[needle] = [
                        match.start() for match in re.finditer(rb"(?=%b)" % re.escape(needle), data)
                    ]
            return hits
        for number, start, _ in automaton.find_matches_as_indexes(data, overlapping=True):
            hits.setdefault(self._needles[number], []).append(start)
        return hits

    def any(self, data: bytes) -> bool:
        """Return whether ``data`` contains one of the needles."""
        automaton = self._automaton_for(data)
        if automaton is None:
            return any(needle in data for needle in self._needles)
        return bool(automaton.find_matches_as_indexes(data))


def _is_of(needles: _Needles, patterns: _Patterns, data: bytes, hits: Hits) -> bool:
    """Return whether a file belongs to a group: it has one of the ``needles``, and all ``patterns`` match."""
    if hits.keys().isdisjoint(needles):
        return False
    places = [place for needle in needles for place in hits.get(needle, ())]
    return all(pattern.search(data, places) for pattern in patterns)


@lru_cache(maxsize=4)
def _automaton(names: frozenset[bytes]) -> Automaton:
    return Automaton(names)


def words_in(data: bytes, words: frozenset[bytes]) -> list[bytes]:
    """Return the ASCII words that ``data`` contains as whole words: ``heat`` of ``heat(x)``, not of ``preheat``."""
    data = b" %b " % data  # so that there is a byte before and after each word
    return [
        word
        for word, places in _automaton(words).places(data).items()
        if any(data[at - 1] not in _IN_WORDS and data[at + len(word)] not in _IN_WORDS for at in places)
    ]


class _Bases:
    """Finds a class with one of some bases (``class Heat(BaseTool)``), or a base under another name (``as Base``).

    ``head`` matches the text from ``class`` up to the opening parenthesis.
    """

    def __init__(self, head: str, names: str, gap: str) -> None:
        # An expression that begins with plain text is searched for faster than one with `\b` before it.
        [self._head] = _patterns(head)
        [self._name, self._renamed] = _patterns(
            rf"\b{names}\b", rf"\b{names}{gap}\bas\b|(?<== ){names}[ \t]*[#\r\n]"
        )
        [self._word] = _anchored(rf"\b{names}\b")

    def search(self, data: bytes, places: Iterable[int] = (), /) -> bool:
        """Return whether a class in the file may have one of the bases; ``places`` are offsets of their names."""
        names = [place for place in places if self._word.compiled.match(data, place)]
        if not names:
            return False
        for head in self._head.compiled.finditer(data):
            is_word = not head.start() or not _WORD_BEFORE.match(data, head.start() - 1)
            if is_word and self._name.compiled.search(data, head.end(), _position_of(data, b")", head.end())):
                return True
        return any(self._renamed.compiled.match(data, place) for place in names)


class _TextPaths:
    """Finds the path of a text or data file that may contain a final message: ``read_text("final_answer.md")``.

    Any path of a template counts. Another text counts if its name mentions messages or reports, and data if it
    mentions messages: most other data files are written, not read.
    """

    needles = tuple(f"{suffix}{quote}".encode() for suffix in TEXT_SUFFIXES for quote in ('"', "'"))
    _templates = (b".j2", b".jinja")
    _data = (b".json", b".yaml", b".yml")
    _of_messages = r"final|messag|answer|repl(?:y|ies)|templat"
    _words_of_data = expression(_of_messages.encode(), re.I)
    _words = expression(
        rf"{_of_messages}|respon|report|result|output|summar|mail|letter|notice".encode(),
        re.I,
    )
    _quote = expression(rb".*[\"'\n]", re.DOTALL)
    # What gives the text of a file, and what gives data, in a file of Python that has such a path.
    _readers = expression(rb"read_text|\.read\s*\(|get_template|render_template|render_to_string")
    _data_readers = expression(rb"read_text|\.read\s*\(|load(?:s|_all)?\s*\(")
    # What follows a path that is not read there: it is written to, looked for, or compared.
    _unread = expression(
        rb"[\w.]{0,20}[\"'](?:\s*,\s*(?:mode\s*=\s*)?[\"'][wax]"
        rb"|\s*\)\s*\.\s*(?:write_|exists|is_file|touch|unlink)|\s+(?:not\s+)?in\b)"
    )
    _REACH = 120  # bytes that are looked at before the end of a name

    def search(self, data: bytes, places: Iterable[int] = (), /) -> bool:
        """Return whether the file loads a text or data file whose name may be that of a message.

        ``places`` are the offsets of endings: of ``.md"`` in ``"final_answer.md"``.
        """
        is_read: dict[bool, bool] = {}  # by whether it is data: whether the file reads such files at all
        for place in places:
            if self._unread.match(data, place) is not None:
                continue
            if data.startswith(self._templates, place):
                return True
            is_data = data.startswith(self._data, place)
            if is_data not in is_read:
                readers = self._data_readers if is_data else self._readers
                is_read[is_data] = readers.search(data) is not None
            if not is_read[is_data]:
                continue
            before = data[max(place - self._REACH, 0) : place]
            quote = self._quote.match(before)
            words = self._words_of_data if is_data else self._words
            if words.search(before, quote.end() if quote is not None else 0) is not None:
                return True
        return False


@lru_cache(maxsize=256)
def _use(word: bytes) -> re.Pattern[bytes]:
    """Return an expression for the uses of a registrar: ``@r``, ``r(f)``, ``class A(r)``, ``x = r`` and ``r as x``."""
    name = rb"\b%b\b" % re.escape(word)
    call, renaming = name + rb"[\s\\]*+\(", rb"(?:=[ \t]*+" + name + rb"|" + name + rb"[\s\\]++as\b)"
    decorator, subclass = rb"@[\s\w.\\]{0,200}?" + name, rb"\bclass\b[^(:]{1,200}\([^)]{0,400}?" + name
    return re.compile(b"|".join((call, renaming, decorator, subclass)))


def _registers(data: bytes, imported: set[bytes], registrars: Mapping[bytes, set[bytes]]) -> bool:
    """Return whether a file passes a function to a registrar that it imports: ``@registry.register``.

    ``registrars`` are the words of registrars by the import that brings them.
    """
    words = set[bytes]().union(*(registrars[name] for name in registrars.keys() & imported))
    if words:
        words &= {*_WHOLE_IDENTIFIER.findall(data)}
    return any(_use(word).search(data) is not None for word in words)


# The forms of a call by a name: a key of a dict (`"heat": …`), a comparison (`== "heat"`), one of several.
_CALLED_BY = expression(rb"\s*+(?::|==)")
_COMPARED_WITH = expression(rb"(?:==|\bcase|\||\b(?:in|case)\s*+[(\[{][^()\[\]{}]*)\s*\\?\s*$")
_LOOKS_UP = expression(rb"\b(?:getattr|globals|locals)\s*+\(")
_LONGEST_LIST = 400


def _calls_by_name(data: bytes, texts: frozenset[bytes]) -> bool:
    """Return whether a file may call a tool by its name: ``{"heat": …}``, ``if name == "heat"``, ``getattr(x, name)``.

    ``texts`` are the names in quotes, and after ``def``.
    """
    for text, places in _automaton(texts).places(data).items():
        if text[:1] not in b"\"'":  # `def heat`
            if _LOOKS_UP.search(data):
                return True
        elif any(
            _CALLED_BY.match(data, place + len(text))
            or _COMPARED_WITH.search(data[max(0, place - _LONGEST_LIST) : place])
            for place in places
        ):
            return True
    return False


@lru_cache(maxsize=4)
def _by_use(needles: Needles) -> tuple[frozenset[bytes], Mapping[bytes, set[bytes]], frozenset[bytes]]:
    """Return the names of tools, the registrars by the import that brings them, and the names of tools as texts.

    ``{(b"heat",), (b"registry", b"register"), (b'"heat"',)}`` → heat; registry: register, \\*: register; "heat". A
    registrar is a word by which a file passes a function to something that makes a tool of it; ``*`` brings all.
    """
    registrars: dict[bytes, set[bytes]] = {}
    small = (IN_SMALL_PROJECT.encode(),)
    is_small = ANY_NAME in needles
    needles = frozenset(
        needle[1:] if needle[:1] == small else needle for needle in needles if is_small or needle[:1] != small
    )
    for needle in needles:
        if len(needle) > 1:
            for imported in (needle[0], b"*"):
                registrars.setdefault(imported, set()).add(needle[1])
    # The name of a tool may be the empty text, which every file contains.
    words = frozenset(needle[0] for needle in needles if len(needle) == 1 and needle[0])
    texts = frozenset(word for word in words if not _WHOLE_IDENTIFIER.fullmatch(word) and (word,) != ANY_NAME)
    return words - texts, registrars, texts


def imported_names(data: bytes) -> set[bytes]:
    """Return the words after each ``import`` of a file: names, aliases, parts of dotted names; ``*`` for all."""
    return set(_IDENTIFIER.findall(b"\n".join(_IMPORTED.findall(data))))


def _position_of(data: bytes, part: bytes, start: int) -> int:
    """Return the offset of the next ``part`` from ``start`` on; the length of ``data`` if there is none."""
    position = data.find(part, start)
    return position if position >= 0 else len(data)


def _encoded(names: Iterable[str]) -> tuple[bytes, ...]:
    return tuple(sorted(name.encode() for name in names))


def _lone(*needles: bytes) -> tuple[bytes, ...]:
    """Return the needles without those that contain another one: tool, function_tool → tool."""
    return tuple(
        n
        for i, n in enumerate(needles)
        if not any(o in n and (o != n or j < i) for j, o in enumerate(needles))
    )


class _LazyPattern:
    """A regular expression that is compiled at its first search: most runs need a few of fifty."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def compiled(self) -> re.Pattern[bytes]:
        return re.compile(self._text.encode())

    def search(self, data: bytes, places: Iterable[int] = (), /) -> object:
        return self.compiled.search(data)


class _AnchoredPattern(_LazyPattern):
    """A regular expression that is matched only where a needle of its group begins."""

    def search(self, data: bytes, places: Iterable[int] = (), /) -> object:
        return any(self.compiled.match(data, place) for place in places)


def _patterns(*texts: str) -> tuple[_LazyPattern, ...]:
    return tuple(map(_LazyPattern, texts))


def _anchored(*texts: str) -> tuple[_AnchoredPattern, ...]:
    return tuple(map(_AnchoredPattern, texts))
