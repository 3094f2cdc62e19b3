"""The framework table: how each framework hands a function to the model, read from its data file.

``frameworks.toml`` is for people; ``frameworks.json`` is made from it, so that a run reads no
TOML and checks no row.
``docs/framework-rows.md`` says what each key means. After a change: ``python -m gllint_rules.words.framework_table``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from gllint_rules.tuples import NamedTuple
from gllint_runtime.policy.expressions import expression

if TYPE_CHECKING:
    from gllint_rules.words.settings import Settings

SOURCE, LOADED = (
    os.path.join(os.path.dirname(__file__), name) for name in ("frameworks.toml", "frameworks.json")
)

# The row of what counts by its name alone.
GENERAL = "any"
# The place of an argument: a position, a keyword, a key inside of a keyword's argument (``config.tools``), or ``*``.
Place: TypeAlias = int | str
Kind: TypeAlias = Literal["decorators", "generators", "calls", "keywords", "described", "not-tools"]
# What a row means that gives names without places: `calls = ["add_tool"]`, `keywords = ["tools"]`.
ANY = "*"
# The row of the names that a project's settings add by themselves.
CONFIGURED = "configured"
_PLACE = (int, str)
_QUOTED = ('"{}"', "'{}'")
_GIVEN = expression(r"[\w.*]+\((\w+)=\"(\w+)\"\)")
_NAME = expression(r"(?:(?:\*?\w+|\*)\.)*(?:\*?\w+|\*)")
_CLASS = expression(r"(?:\w+\.)*\w+")
_MODULE = expression(r"(?:\w+\.)*(?:\w+\*?|\*)")
_KINDS: tuple[Kind, ...] = ("decorators", "generators", "calls", "keywords", "described", "not-tools")
_Raw: TypeAlias = Mapping[str, Any]
_T = TypeVar("_T")


class TableError(ValueError):
    """A row that cannot be read. The message names the row, the key, and what it must be."""


class TableName(NamedTuple):
    """A name of the table, as ``docs/framework-rows.md`` explains it: it makes, takes or describes a tool."""

    kind: Kind
    owner: str  # the class of a method, ``*`` for any, empty for a function or class
    last: str
    exact: str = ""  # the whole dotted name, where it begins with an import
    called: bool = False  # a decorator that must be called
    keyword: str = ""  # of not-tools: the keyword of the callee that is meant
    given: str = ""  # the keyword that a decorator must be given, and its text: `type=mcp`
    places: tuple[Place, ...] = ()  # of calls and keywords: the arguments


class ToolListing(NamedTuple):
    """Where a toolkit lists its tools: an attribute, or a method that returns them.

    Names in the attribute are methods of the class itself, or of the subclasses of ``of``. ``*`` means all public
    methods.
    """

    attribute: str
    of: str = ""


class Framework(NamedTuple):
    """One row."""

    name: str
    imports: tuple[str, ...] = ()
    verified: str = ""
    names: tuple[TableName, ...] = ()
    plain_functions: bool = True
    callable_objects: bool = False
    only_with: tuple[str, ...] = ()
    bases: Mapping[str, tuple[str, ...]] = {}
    published: Mapping[str, tuple[ToolListing, ...]] = {}
    envelopes: Mapping[str, tuple[Place, ...]] = {}
    # Of a dict with these keys the places that the model sees.
    shapes: Mapping[frozenset[str], tuple[Place, ...]] = {}
    plain_results: bool = True
    pair_results: bool = False
    # (keyword of the registration, its value) -> items of the returned tuple.
    parts: Mapping[tuple[str, str], tuple[Place, ...]] = {}
    changed_by: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    handlers: tuple[str, ...] = ()  # texts by which a cloud function reads which tool the model wants
    runs: tuple[str, ...] = ()
    dispatchers: tuple[str, ...] = ()
    outside: bool = False  # its names count only where a package outside the project brings them
    with_model: bool = False  # its names count only where the project imports a framework or a model's SDK
    own: bool = False  # of the project: its modules may lie anywhere in it

    def owns(self, dotted: str) -> bool:
        """Return whether a dotted name belongs to this framework."""
        return any(self.is_at(dotted, module) for module in self.imports)

    def is_at(self, dotted: str, module: str) -> bool:
        """Return whether a dotted name is ``module`` or in it; for a project's own row, also anywhere in the name."""
        return _inside(dotted, module) or (self.own and f".{module}." in f".{dotted}.")

    @property
    def classes(self) -> frozenset[str]:
        """The last names of the classes whose subclasses are tools, or have methods that are."""
        answering = (p.of for listed in self.published.values() for p in listed if p.of)
        return frozenset((*self.bases, *self.published, *answering))

    @property
    def makes(self) -> frozenset[str]:
        """The last parts of all the names by which the row makes tools, as they are written."""
        making = (name.last for name in self.names if name.kind != "not-tools" and name.last != ANY)
        return self.classes.union(making)


KEYS = frozenset((*_KINDS, *(field.replace("_", "-") for field in Framework._fields))) - {
    "names",
    "shapes",
    "own",
}


class DescriptionWords(NamedTuple):
    """How JSON descriptions of tools are recognised, and the calls of the functions that they describe.

    ``places`` are the keywords and keys under which descriptions are given, ``schemas`` the keys of which one is
    next to the name of each, unless it is ``nested`` under one of these. ``requests`` are texts in what asks for a
    call. The others are last words of names: of what has the name of a tool, of what has its arguments, and of a
    function next to the name of its tool.
    """

    places: frozenset[str] = frozenset()
    schemas: frozenset[str] = frozenset()
    nested: frozenset[str] = frozenset()
    requests: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    arguments: frozenset[str] = frozenset()
    affixes: frozenset[str] = frozenset()

    @property
    def quoted_requests(self) -> list[str]:
        """The ``requests`` as source has them."""
        return [form.format(text) for text in sorted(self.requests) for form in _QUOTED]


class NoTools(NamedTuple):
    """Names that take, run or decorate functions which the model does not call, as the data file explains them."""

    packages: tuple[str, ...] = ()
    callbacks: tuple[str, ...] = ()
    runners: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()

    def is_callback(self, keyword: str) -> bool:
        """Return whether the function at a keyword of a ``…Tool(…)`` is none that the model calls."""
        return any(fnmatchcase(keyword, pattern) for pattern in self.callbacks)


class TableEntry(NamedTuple):
    """An entry of the table for one name, and whose row it is."""

    framework: Framework
    name: TableName


class Callee(NamedTuple):
    """What a call or decorator names, as far as the source shows.

    ``name`` is dotted: as the source has it (``mcp.tool``; an alias of an import resolved), or where it is known to be
    ``outside`` the project its own there (of a method: that of its receiver's class, then its own name). ``method``
    says whether it is an attribute of a value, not of a module, ``talks`` whether the project imports a framework or a
    model's SDK at all, and ``of_class`` whether the value is a class itself, no instance of it.
    """

    name: str
    outside: bool = False
    method: bool = False
    talks: bool = False
    of_class: bool = False


class Table:
    """All rows, the project's own first, and the packages that talk to a model without forms of their own.

    ``methods`` are tools of every tool class, ``payloads`` are seen of every envelope. ``written`` are the rows as they
    are in the data file or a configuration.
    """

    def __init__(
        self,
        rows: Sequence[Framework],
        written: Sequence[_Raw],
        model_sdks: Iterable[str],
        methods: Sequence[str] = (),
        payloads: Sequence[str] = (),
        descriptions: DescriptionWords | None = None,
        no_tools: NoTools | None = None,
    ) -> None:
        self.rows, self.written = rows, written
        self.descriptions = descriptions or DescriptionWords()
        self.model_sdks, self.no_tools = tuple(model_sdks), no_tools or NoTools()
        self._methods, self._payloads = tuple(methods), tuple(payloads)
        self._by_last: dict[str, list[TableEntry]] = {}
        for row in rows:
            for name in row.names:
                self._by_last.setdefault(name.last, []).append(TableEntry(row, name))
        self._by_class: dict[tuple[str, str], list[Framework]] = {}
        for row in rows:
            for key in ("bases", "published", "envelopes"):
                for cls in getattr(row, key):
                    self._by_class.setdefault((key, cls), []).append(row)
        self._endings = [last for last in self._by_last if last[0] == "*" and last != ANY]
        self._ending: dict[str, tuple[TableEntry, ...]] = {}
        self._of_module: dict[str, frozenset[str]] = {}
        self._model_modules: dict[str, bool] = {}
        self._matches: dict[tuple[object, ...], TableEntry | None] = {}
        self._owners: dict[str, Framework | None] = {}

    @property
    def has_own_rows(self) -> bool:
        """Return whether the settings add rows, which may name functions and classes of the project itself."""
        return self.rows[0].own

    def imported(self, modules: Iterable[str]) -> frozenset[str]:
        """Return the names of the rows of the frameworks that the dotted ``modules`` belong to, and of general rows."""
        return frozenset(row.name for row in self._general).union(*map(self._rows_of, modules))

    def _rows_of(self, module: str) -> frozenset[str]:
        """Return the names of the rows whose framework the dotted ``module`` belongs to."""
        names = self._of_module.get(module)
        if names is None:
            names = frozenset(
                row.name for row in self.rows if any(_inside(module, name) for name in row.imports)
            )
            self._of_module[module] = names
        return names

    def talks_to_a_model(self, modules: Iterable[str]) -> bool:
        """Return whether one of the dotted ``modules`` is a framework or a model's SDK."""
        return any(map(self._is_of_a_model, modules))

    def _is_of_a_model(self, module: str) -> bool:
        answer = self._model_modules.get(module)
        if answer is None:
            answer = any(_inside(module, sdk) for sdk in self.model_sdks) or bool(self._rows_of(module))
            self._model_modules[module] = answer
        return answer

    def kinds(self, last: str) -> frozenset[Kind]:
        """Return the keys under which a row names a callee with this last part, without entries for all callees."""
        return frozenset(entry.name.kind for entry in self._named(last))

    def may_call(self, last: str, keywords: Collection[str], imported: frozenset[str]) -> bool:
        """Return whether a call of a name with this ``last`` part and these ``keywords`` may make or take a tool.

        ``**`` in the keywords means any. A row with a whole dotted name, such as ``fastapi.FastAPI.get``, counts only
        if it is ``imported``: its last part alone is too common.
        """
        for row, name in self._named(last):
            if name.exact and name.kind == "decorators" and row.name not in imported:
                continue
            if name.kind in ("calls", "decorators", "described"):
                return True
            for place in name.places:
                if not isinstance(place, str) or place == ANY or "**" in keywords:
                    return True
                if place.partition(".")[0] in keywords:
                    return True
        return False

    @cached_property
    def any_keywords(self) -> frozenset[str]:
        """The keywords by which any callee takes tools: ``tools=``."""
        return frozenset(
            place
            for entry in self._by_last.get(ANY, ())
            for place in entry.name.places
            if isinstance(place, str)
        )

    def find(
        self, kind: Kind, callee: Callee, imported: frozenset[str] = frozenset(), called: bool = True
    ) -> TableEntry | None:
        """Return the best entry of ``kind`` for a callee or decorator.

        ``imported`` are the names of the rows that the file imports (:meth:`imported`). ``called`` is false for a
        decorator without parentheses. None if no row names the callee, or if a row that fits as well says that it makes
        no tool.
        """
        key = (kind, callee, imported, called)
        if key not in self._matches:
            best: TableEntry | None = None
            weight = (0, 0)
            for entry in self._named_or_any(callee):
                name = entry.name
                # Of a decorator whose inner functions are tools the decorated one is none.
                is_other = kind == "decorators" and name.kind == "generators"
                if name.kind == kind or is_other or (name.kind == "not-tools" and not name.keyword):
                    # As well fitting: what makes none wins over what makes one, that over a missing `()`.
                    rank = 2 if name.kind != kind else 0 if name.called and not called else 1
                    score = (self._fits(entry, callee, imported), rank)
                    if score[0] and score > weight:
                        best, weight = entry, score
            if best is not None and not best.framework.imports and callee.outside:
                # Any callee takes tools by `tools=`; whether plain functions, its own framework says.
                best = TableEntry(self.owner(callee.name) or best.framework, best.name)
            self._matches[key] = best if weight[1] == 1 else None
        return self._matches[key]

    def is_no_tool(self, keyword: str, callee: Callee, imported: frozenset[str] = frozenset()) -> bool:
        """Return whether a row says that the argument ``keyword`` of a callee makes no tool. See :meth:`find`."""
        return any(
            entry.name.keyword == keyword and self._fits(entry, callee, imported)
            for entry in self._named_or_any(callee)
        )

    def runs(self, framework: Framework | None) -> frozenset[str]:
        """Return the methods that run a tool of ``framework`` (None: an unknown one) directly."""
        own = framework.runs if framework is not None else ()
        general = (name for row in self._general for name in row.runs)
        return frozenset(name for name in (*own, *general) if "." not in name)

    @cached_property
    def all_runs(self) -> frozenset[str]:
        """The last names of the methods that run a tool, of all frameworks."""
        return frozenset(_last(name) for row in self.rows for name in row.runs)

    @cached_property
    def tool_makers(self) -> frozenset[str]:
        """The last names of classes such as ``FunctionTool``, whose calls make tools."""
        return frozenset(name for name in self.last_names("calls") if name.endswith("Tool"))

    def makes_tools(self, origin: str) -> bool:
        """Return whether a dotted name is a class of a framework in :attr:`tool_makers`."""
        return _last(origin) in self.tool_makers and self.owner(origin) is not None

    def runs_by_name(self, origin: str, method: str) -> bool:
        """Return whether a method of an outside class runs a tool by name: ``server.call_tool("heat")``."""
        name = f"{_last(origin)}.{method}"
        return any(name in row.runs and row.owns(origin) for row in self.rows)

    @cached_property
    def named_runs(self) -> frozenset[str]:
        """The methods that run a tool by its name."""
        return frozenset(_last(name) for row in self.rows for name in row.runs if "." in name)

    def calls_objects(self, imported: frozenset[str]) -> bool:
        """Return whether tool objects of one of the rows ``imported`` are called like functions."""
        return any(row.name in imported and "__call__" in row.runs for row in self.rows)

    def attribute_runs(self, imported: frozenset[str]) -> list[tuple[str, str]]:
        """Return the classes in the rows ``imported`` whose attributes run tools, each with the attribute before them.

        ``Class.*`` → ("Class", ""), ``Class.tool.*`` → ("Class", "tool").
        """
        names = (name for row in self.rows if row.name in imported for name in row.runs)
        parts = (name.removesuffix(".*").partition(".") for name in names if name.endswith(".*"))
        return [(cls, attribute) for cls, _, attribute in parts]

    def dispatchers(self, imported: frozenset[str]) -> frozenset[str]:
        """Return the last names of the dispatchers in the rows ``imported``."""
        return frozenset(_last(name) for row in self.rows if row.name in imported for name in row.dispatchers)

    @cached_property
    def classes(self) -> frozenset[str]:
        """The last names of the classes whose subclasses are tools, or have methods that are."""
        return frozenset[str]().union(*(row.classes for row in self.rows))

    @cached_property
    def tool_classes(self) -> frozenset[str]:
        """The last names of the classes whose subclasses are tools."""
        return frozenset(name for row in self.rows for name in row.bases)

    def last_names(self, *kinds: Kind) -> frozenset[str]:
        """Return the last parts of all names of these ``kinds``, except those of which rows give only the ending."""
        return frozenset(
            last
            for last, entries in self._by_last.items()
            if last[0] != "*" and any(entry.name.kind in kinds for entry in entries)
        )

    def endings(self, kind: Kind) -> frozenset[str]:
        """Return the endings of names of a kind, from rows that give only the ending: ``*_tool`` → ``_tool``."""
        entries = ((last, self._by_last[last]) for last in self._endings)
        return frozenset(last[1:] for last, named in entries if any(e.name.kind == kind for e in named))

    @cached_property
    def modules(self) -> frozenset[str]:
        """The modules by which files use a framework or a model's SDK."""
        return frozenset(self.model_sdks).union(*(row.imports for row in self.rows))

    @cached_property
    def published_in(self) -> frozenset[str]:
        """Return the attributes in which toolkits list their tools, without those of other libraries."""
        listings = (p for row in self.rows for ps in row.published.values() for p in ps)
        return frozenset(p.attribute for p in listings if not p.of and p.attribute != ANY)

    @cached_property
    def handlers(self) -> Mapping[str, Framework]:
        """The texts, as source has them, by which cloud functions read which tool the model wants, with their rows."""
        pairs = ((row, text) for row in self.rows for text in row.handlers)
        return {form.format(text): row for row, text in pairs for form in _QUOTED}

    @cached_property
    def _general(self) -> tuple[Framework, ...]:
        """The rows that count wherever they are met."""
        return tuple(row for row in self.rows if not row.imports)

    def owner(self, origin: str) -> Framework | None:
        """Return the row that a dotted name from outside the project belongs to."""
        if origin not in self._owners:
            self._owners[origin] = next((row for row in self.rows if row.owns(origin)), None)
        return self._owners[origin]

    def methods(self, origin: str) -> tuple[str, ...]:
        """Return the methods of the subclasses of an outside class that are tools; empty if it is not a tool class."""
        row = self._that_knows("bases", origin)
        return (*row.bases[_last(origin)], *self._methods) if row is not None else ()

    def published(self, origin: str) -> tuple[ToolListing, ...]:
        """Return what the subclasses of an outside class list their tools in."""
        row = self._that_knows("published", origin)
        return row.published[_last(origin)] if row is not None else ()

    def unpublished(self, origin: str) -> frozenset[str]:
        """Return the methods of subclasses of an outside class that are not tools, although its other methods are."""
        return frozenset(
            name.last
            for row in self.rows
            for name in row.names
            if name.kind == "not-tools" and name.owner == _last(origin) and row.owns(origin)
        )

    def answered(self, origin: str) -> tuple[str, ...]:
        """Return the attributes of messages that name the methods of the subclasses of an outside class."""
        return tuple(
            published.attribute
            for row in self.rows
            for listed in row.published.values()
            for published in listed
            if published.of == _last(origin) and row.owns(origin)
        )

    def payload(self, origin: str) -> tuple[Place, ...] | None:
        """Return the arguments of an outside class that the model sees; None if it is not an envelope."""
        row = self._that_knows("envelopes", origin)
        return (*row.envelopes[_last(origin)], *self._payloads) if row is not None else None

    def _that_knows(self, key: str, origin: str) -> Framework | None:
        """Return the row with the class under ``key``: one that owns it, else a general one; None if there is none."""
        rows = self._by_class.get((key, _last(origin)), ())
        owning = (row for row in rows if row.owns(origin))
        return next(owning, next((row for row in rows if not row.imports), None))

    def _named(self, last: str) -> tuple[TableEntry, ...]:
        """Return the entries for names with this last part, without those for every callee."""
        entries = self._ending.get(last)
        if entries is None:
            endings = [ending for ending in self._endings if last.endswith(ending[1:])]
            entries = tuple(entry for name in (last, *endings) for entry in self._by_last.get(name, ()))
            self._ending[last] = entries
        return entries

    def _named_or_any(self, callee: Callee) -> tuple[TableEntry, ...]:
        """Return the entries for names with the last part of a callee; those for every callee come last."""
        return (*self._named(_last(callee.name)), *self._by_last.get(ANY, ()))

    def _fits(self, entry: TableEntry, callee: Callee, imported: frozenset[str]) -> int:
        """Return how well a name of the table fits a callee in the source: from 0 (not at all) to 8."""
        row, name = entry
        dotted, outside, method = callee.name, callee.outside, callee.method
        if name.exact:
            counts = row.owns(dotted) or row.name in imported
            return 7 if counts and row.is_at(dotted, name.exact) else 0
        parts = dotted.rsplit(".", 2)
        owner = parts[-2] if len(parts) > 1 else ""
        if not _is(parts[-1], name.last):
            return 0
        if not row.imports:  # by the name alone
            if row.outside and (
                not outside or any(_inside(dotted, package) for package in self.no_tools.packages)
            ):
                return 0
            if row.with_model and not callee.talks:
                return 0
            if name.owner == ANY:
                return int(method)
            if name.owner:
                # A configuration that names the package knows better than a shipped row.
                return (8 if row.own else 1) if owner and _is(owner, name.owner) else 0
            return 1
        owned = (outside or row.own) and row.owns(dotted)
        active = row.name in imported
        if name.last == ANY:  # a keyword, whatever the callee
            return 5 if owned or (not outside and active) else 0
        if name.owner == ANY:
            if not method or not (owned or callee.talks):
                return 0
            return 5 if owned else 4 if active else 3
        if owned:
            if owner == name.owner or (not name.owner and not owner[:1].isupper()):
                return 6
            # Of an instance of a subclass; a class that is named is no other.
            return 3 if method and name.owner and not callee.of_class else 0
        # What the project itself defines, by its path, belongs to no library.
        is_unknown = not outside and not dotted.startswith(".")
        return 2 if is_unknown and method and name.owner and active else 0


def _last(dotted: str) -> str:
    return dotted.rpartition(".")[2]


def _inside(dotted: str, module: str) -> bool:
    """Return whether a dotted name is ``module`` or in it; ``mod*`` stands for all that begin so."""
    if module[-1] == "*":
        return dotted.startswith(module[:-1])
    return dotted == module or dotted.startswith(f"{module}.")


def _is(name: str, pattern: str) -> bool:
    """Return whether a name is ``pattern``, or ends with it after ``*``."""
    return name.endswith(pattern[1:]) if pattern[0] == "*" else name == pattern


# --- reading ---------------------------------------------------------------------------------------------------


def read_rows(rows: Iterable[object], where: str = "frameworks", own: bool = False) -> tuple[Framework, ...]:
    """Return the rows of the data file or a configuration as records. Raises :class:`TableError`."""
    return tuple(_row(row, f"{where}[{number}]", own) for number, row in enumerate(rows))


def _row(row: object, where: str, own: bool) -> Framework:
    """Read a row of the table of frameworks. Raises :class:`TableError`."""
    if not isinstance(row, dict):
        raise TableError(f"{where} must be a table of keys, not {row!r}")
    name = row.get("name", where if own else None)
    if not isinstance(name, str) or not name:
        raise TableError(f"{where}: a row needs a `name`")
    where = f"{where} ({name})"
    for key in row:
        if key not in KEYS:
            from difflib import get_close_matches

            [near] = get_close_matches(str(key), KEYS, n=1) or [""]
            hint = f"did you mean `{near}`?" if near else f"the keys are {', '.join(sorted(KEYS))}"
            raise TableError(f"{where}: unknown key `{key}`; {hint}")
    imports = _strings(row, "imports", where)
    if wrong := next((module for module in imports if not _MODULE.fullmatch(module)), None):
        raise TableError(f"{where}: `imports` must contain names of modules, not {wrong!r}")
    for flag in (
        "plain-functions",
        "callable-objects",
        "plain-results",
        "pair-results",
        "outside",
        "with-model",
    ):
        if not isinstance(row.get(flag, True), bool):
            raise TableError(f"{where}: `{flag}` must be true or false, not {row[flag]!r}")
    if not isinstance(row.get("verified", ""), str):
        raise TableError(f"{where}: `verified` must be a string, not {row['verified']!r}")
    envelopes = _placed(row, "envelopes", where, ())
    return Framework(
        name=name,
        imports=imports,
        verified=row.get("verified", ""),
        names=tuple(
            _name(kind, text, imports, where)._replace(places=places)
            for kind in _KINDS
            for text, places in _names(row, kind, where).items()
        ),
        plain_functions=row.get("plain-functions", True),
        callable_objects=row.get("callable-objects", False),
        only_with=_strings(row, "only-with", where),
        bases=_by_class(_bases(row, where), "bases", where),
        published=_by_class(_published(row, where), "published", where),
        envelopes=_by_class(
            {k: v for k, v in envelopes.items() if k[:1] + k[-1:] != "{}"}, "envelopes", where
        ),
        shapes={
            frozenset(part.strip() for part in k.strip("{}").split(",")): v
            for k, v in envelopes.items()
            if k[:1] + k[-1:] == "{}"
        },
        plain_results=row.get("plain-results", True),
        pair_results=row.get("pair-results", False),
        parts={_condition(k, where): v for k, v in _placed(row, "parts", where, ()).items()},
        changed_by=_strings(row, "changed-by", where),
        answers=_strings(row, "answers", where),
        handlers=_strings(row, "handlers", where),
        runs=_strings(row, "runs", where),
        dispatchers=_strings(row, "dispatchers", where),
        outside=row.get("outside", False),
        with_model=row.get("with-model", False),
        own=own,
    )


def _by_class(values: Mapping[str, _T], key: str, where: str) -> dict[str, _T]:
    """Return the values by the last names of their classes: ``{"pkg.Base": v}`` → ``{"Base": v}``."""
    for cls in values:
        if not _CLASS.fullmatch(cls):
            raise TableError(f"{where}: `{key}` must contain names of classes, not {cls!r}")
    return {_last(cls): value for cls, value in values.items()}


def _names(row: _Raw, kind: Kind, where: str) -> Mapping[str, tuple[Place, ...]]:
    if kind in ("calls", "keywords"):
        return _placed(row, kind, where, (0,) if kind == "calls" else None)
    return dict.fromkeys(_strings(row, kind, where), ())


def _name(kind: Kind, text: str, imports: Sequence[str], where: str) -> TableName:
    """Read a name of a row, such as ``Agent.tool`` or ``tool()``. Raises TableError."""
    original = text
    keyword = ""
    given = _GIVEN.fullmatch(text)  # `tool(type="mcp")`: only with this argument
    called = text.endswith("()") or given is not None  # `tool()`: only if it is called
    if called:
        text = text.partition("(")[0]
    elif text.endswith("=)"):  # `Agent(callback=)`: this keyword of this callee
        text, _, keyword = text[:-2].partition("(")
    elif text.endswith("="):  # `callback=`: this keyword of any callee
        text, keyword = ANY, text[:-1]
    owner, _, last = text.rpartition(".")  # `Agent.tool`: a method of a class
    if not _NAME.fullmatch(text):
        raise TableError(f"{where}: {original!r} is not a name")
    # `fastapi.FastAPI.get` begins with its module, so that it means only that.
    exact = text if "." in owner or (owner and any(_inside(text, module) for module in imports)) else ""
    return TableName(
        kind,
        owner="" if exact else owner.rpartition(".")[2],
        last=last,
        exact=exact,
        called=called,
        keyword=keyword,
        given=f"{given[1]}={given[2]}" if given is not None else "",
    )


def _strings(row: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    value = row.get(key, ())
    if isinstance(value, str):
        value = (value,)
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) and item for item in value):
        raise TableError(f"{where}: `{key}` must be a list of names, not {value!r}")
    return tuple(value)


def _placed(
    row: Mapping[str, Any], key: str, where: str, default: tuple[Place, ...] | None
) -> dict[str, tuple[Place, ...]]:
    """Return the places by callee. A list has callees, each with ``default``; without one, keywords of any callee."""
    value = row.get(key, {})
    if isinstance(value, list):
        texts = _strings(row, key, where)
        if default is None:
            return {ANY: texts} if texts else {}
        return dict.fromkeys(texts, default)
    if not isinstance(value, dict):
        raise TableError(f"{where}: `{key}` must be a table of names and places, not {value!r}")
    table: dict[str, tuple[Place, ...]] = {}
    for name, places in value.items():
        listed = places if isinstance(places, list) else [places]
        if not all(isinstance(p, _PLACE) and not isinstance(p, bool) and p != "" for p in listed):
            raise TableError(
                f'{where}: `{key}.{name}` must be a position (0), a keyword ("name"), or a list of these'
            )
        number = next((p for p in listed if isinstance(p, str) and p.isdecimal()), None)
        if number is not None:
            raise TableError(f"{where}: `{key}.{name}`: write the position {number} without quotes")
        table[name] = tuple(listed)
    return table


def _bases(row: Mapping[str, Any], where: str) -> dict[str, tuple[str, ...]]:
    value = row.get("bases", {})
    if isinstance(value, list):  # the methods that any tool class has
        return dict.fromkeys(_strings(row, "bases", where), ("_run", "run", "_arun", "arun", "__call__"))
    if not isinstance(value, dict):
        raise TableError(f"{where}: `bases` must be a table of classes and their methods, not {value!r}")
    return {name: _strings(value, name, f"{where}: `bases`") for name in value}


def _published(row: Mapping[str, Any], where: str) -> dict[str, tuple[ToolListing, ...]]:
    """Read how the classes of a row list their tools. Raises :class:`TableError`."""
    value = row.get("published", {})
    if not isinstance(value, dict):
        raise TableError(f"{where}: `published` must be a table of classes and attributes, not {value!r}")
    table: dict[str, tuple[ToolListing, ...]] = {}
    for cls, listed in value.items():
        entries = []
        for item in listed if isinstance(listed, list) else [listed]:
            if isinstance(item, str):
                entries.append(ToolListing(item))
            elif (
                isinstance(item, dict)
                and isinstance(item.get("attribute"), str)
                and isinstance(item.get("of", ""), str)
                and set(item) <= {"attribute", "of"}
            ):
                entries.append(ToolListing(item["attribute"], item.get("of", "")))
            else:
                raise TableError(
                    f"{where}: `published.{cls}` must be a name, or a table with `attribute` and `of`"
                )
        table[cls] = tuple(entries)
    return table


def _condition(text: str, where: str) -> tuple[str, str]:
    keyword, sign, value = text.partition("=")
    if not sign or not keyword:
        raise TableError(f"{where}: a key of `parts` must be like 'keyword=\"value\"', not {text!r}")
    return keyword, value.strip("\"'")


def _as_record(row: Framework) -> dict[str, Any]:
    """Return the JSON of a row without its defaults, with pairs instead of tables whose keys JSON does not allow."""
    fields = {
        key: value for key, value in row._asdict().items() if value != Framework._field_defaults.get(key)
    }
    fields["names"] = [[*name] for name in row.names]
    for key in ("shapes", "parts"):
        fields[key] = [
            (sorted(k) if isinstance(k, frozenset) else k, v) for k, v in getattr(row, key).items()
        ]
    return fields


def _from_record(fields: dict[str, Any]) -> Framework:
    """Make a row from its stored fields."""
    for key in ("imports", "only_with", "changed_by", "answers", "handlers", "runs", "dispatchers"):
        if key in fields:
            fields[key] = tuple(fields[key])
    for key in ("bases", "envelopes"):
        if key in fields:
            fields[key] = {cls: tuple(values) for cls, values in fields[key].items()}
    if "published" in fields:
        listings = fields["published"].items()
        fields["published"] = {
            cls: tuple(ToolListing(*listing) for listing in listed) for cls, listed in listings
        }
    fields["names"] = tuple(TableName._make([*name[:-1], tuple(name[-1])]) for name in fields["names"])
    fields["shapes"] = {frozenset(keys): tuple(places) for keys, places in fields["shapes"]}
    fields["parts"] = {tuple(condition): tuple(places) for condition, places in fields["parts"]}
    return Framework(**fields)


@lru_cache(maxsize=1)
def shipped() -> Table:
    """Return the table that gllint ships."""
    with open(LOADED, "rb") as file:
        data = json.load(file)
    words = DescriptionWords(**{key: frozenset(names) for key, names in data["descriptions"].items()})
    rows = tuple(map(_from_record, data["records"]))
    return Table(
        rows,
        data["frameworks"],
        data["model-sdks"],
        descriptions=words,
        no_tools=NoTools(**{key: tuple(names) for key, names in data["no-tools"].items()}),
    )


def with_rows(
    rows: Sequence[Mapping[str, Any]], methods: Sequence[str] = (), payloads: Sequence[str] = ()
) -> Table:
    """Return the table with a project's own rows before the shipped ones. Raises :class:`TableError`."""
    base = shipped()
    if not (rows or methods or payloads):
        return base
    own = read_rows(rows, own=True)
    written = [{"name": read.name, **row} for read, row in zip(own, rows, strict=True)]
    return Table(
        (*own, *base.rows),
        (*written, *base.written),
        base.model_sdks,
        methods,
        payloads,
        base.descriptions,
        base.no_tools,
    )


@lru_cache(maxsize=16)
def configured(settings: Settings) -> Table:
    """Return the table as a project has extended it, by rows or by the keys that are shorthand for one.

    Raises :class:`TableError`.
    """
    rows = [json.loads(row) for row in settings.frameworks]
    decorators = list(map(_last, settings.tool_decorators))
    short = {
        "decorators": [
            *(form for name in decorators for form in (name, f"*.{name}")),
            *(name for name in settings.tool_decorators if "." in name),
        ],
        "bases": {_last(name): list(shipped().methods("BaseTool")) for name in settings.tool_classes},
        "dispatchers": list(map(_last, settings.dispatchers)),
    }
    if any(short.values()):
        rows.append({"name": CONFIGURED, **{key: value for key, value in short.items() if value}})
    return with_rows(rows, settings.tool_methods, settings.result_payloads)


def as_loaded(source: str) -> str:
    """Return the text of the data file in the form that is loaded. Raises :class:`TableError`."""
    import tomllib

    data = tomllib.loads(source)
    data["records"] = list(map(_as_record, read_rows(data["frameworks"])))
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n"


if __name__ == "__main__":
    with open(SOURCE, encoding="utf-8") as written, open(LOADED, "w", encoding="utf-8") as loaded:
        loaded.write(as_loaded(written.read()))
