"""The facts of all modules joined: who imports what, which classes are tools, what a function returns.

It answers lazily and remembers. Modules that nobody announced are loaded when a value leads into them.
"""

from __future__ import annotations

import posixpath
import sys
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from gllint_rules.finding import Cut, Failure, Finding
from gllint_rules.inference import annotations as hints
from gllint_rules.inference.evaluator import Evaluator
from gllint_rules.inference.execution import Flow, execute, too_complex
from gllint_rules.inference.questions import TooComplex
from gllint_rules.inference.values import (
    BOOL,
    NONE,
    TEXT,
    UNKNOWN,
    Because,
    ClassOf,
    Entry,
    External,
    Frame,
    FunctionOf,
    ListOf,
    ModuleOf,
    Number,
    Record,
    Site,
    Text,
    ToolValue,
    Value,
    join,
    options,
)
from gllint_rules.project.tools import (
    Tool,
    assigns_registry,
    called_tool,
    decorated_tool,
    find_tools,
    real_name,
)
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Class, Expr, Function, Module, Param, Scope
from gllint_rules.words.names import (
    ARGS_SCHEMA,
    SCHEMA_FN,
    TOOL_REGISTRY_CLASSES,
    TOOL_REGISTRY_NAMES,
    TOOL_WRAPPER_ENDING,
    TOOL_WRAPPER_METHODS,
    Names,
)
from gllint_rules.words.settings import Settings

if TYPE_CHECKING:
    from gllint_rules.reading.positions import Positions

_T = TypeVar("_T")
_G = TypeVar("_G")
_TOOL_MAKERS = frozenset(
    {"ToolRegistry", "ToolRuntime", "ToolDef", "FunctionTool", "ToolAction", "dispatch_tool"}
)
_JSON_TYPES: dict[str, Value] = {"string": TEXT, "boolean": BOOL, "null": NONE}
_ENUMS = frozenset({"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"})
MOST_ANCESTORS = 64
_SOURCE_ROOTS = ("", "src/", "lib/", "python/")


class Project:
    """All that is known of the code under lint.

    ``load`` gives the facts of a file or ``None``; ``exists`` says whether there is one; ``source_of`` gives the
    text of a file that has findings. Paths are absolute, with forward slashes. ``packages`` are the folders in
    which each top-level package of the project lies (see :func:`top_level_packages`). ``mentioning`` gives the files
    of the project, those among them that nobody announced, that hold a word; ``None`` where that is not known.
    """

    def __init__(
        self,
        settings: Settings,
        load: Callable[[str], Module | None],
        exists: Callable[[str], bool],
        source_of: Callable[[str], str],
        root: str = "",
        packages: Mapping[str, Sequence[str]] | None = None,
        mentioning: Callable[[str], Collection[str] | None] = lambda word: None,
    ) -> None:
        self.settings = settings
        self.names = Names.of(settings)
        self.root = root
        self.modules: dict[str, Module] = {}
        self.evaluator = Evaluator(self)
        self.source_of = source_of
        self.mentioning = mentioning
        self._load = load
        self._told = 0  # how many of the cuts
        self._exists = exists
        self._loaded: dict[str, Module | None] = {}
        # The modules that the imports of a module have led to.
        self._reached: dict[str, set[str]] = {}
        self._tools: dict[str, list[Tool]] = {}
        self._tool_names: frozenset[bytes] | None = None
        self._decorated: dict[Function, Tool | None] = {}
        self._absolute: dict[tuple[str, str], str | None] = {}
        self._schemas: dict[Scope, tuple[Expr, Frame]] = {}
        self._annotations: dict[tuple[str, int], Expr | None] = {}
        self._packages = packages or {}
        self._positions: dict[str, Positions] = {}
        self._answers: dict[object, Any] = {}
        self._parts: dict[object, tuple[object, dict[str, Any]]] = {}

    # --- modules ---------------------------------------------------------------------------------------------

    def add(self, module: Module) -> None:
        """Announce a module that the screen let through."""
        self.modules[module.path] = module
        self._loaded[module.path] = module
        self._tool_names = None
        self._answers.clear()

    def module_at(self, path: str) -> Module | None:
        if path not in self._loaded:
            self._loaded[path] = self._load(path)
        return self._loaded[path]

    def reaching(self, paths: Collection[str]) -> frozenset[str]:
        """The modules from which names have led into one of ``paths`` so far, those themselves among them."""
        importers: dict[str, list[str]] = {}
        for importer, reached in self._reached.items():
            for path in reached:
                importers.setdefault(path, []).append(importer)
        found = set(paths)
        queue = list(paths)
        while queue:
            for importer in importers.get(queue.pop(), ()):
                if importer not in found:
                    found.add(importer)
                    queue.append(importer)
        return frozenset(found)

    def inherit(self, old: Project, changed: Collection[str]) -> frozenset[str]:
        """Take over what ``old`` knows of the tools of modules that do not reach one of ``changed``.

        The modules added to both must be the same objects, those at ``changed`` aside, and the same files must
        exist. Returns the paths of which nothing is taken over.
        """
        come_and_gone = old.modules.keys() ^ self.modules.keys()
        stale = old.reaching({*changed, *come_and_gone})
        kept = {path: module for path, module in old._loaded.items() if path not in changed}
        self._loaded = {**kept, **self.modules}
        self._absolute = dict(old._absolute)
        self._annotations = old._annotations
        self._reached = {path: reached for path, reached in old._reached.items() if path not in changed}
        for path, tools in old._tools.items():
            if path not in stale and path in self._loaded:
                self._keep(path, tools)
        for part, (given, known) in old._parts.items():
            self._parts[part] = (given, {path: value for path, value in known.items() if path not in stale})
        return stale

    def each(self, part: Callable[[Project, Module, _G], _T], given: _G) -> Iterator[tuple[Module, _T]]:
        """For each module what ``part`` says of it, remembered as long as ``given`` is the same.

        A question about the whole project is best asked in such parts: an edit leaves most of them valid. What a
        part says may rest on ``given``, the module and what its names lead to, and must not be changed.
        """
        held, known = self._parts.get(part, (None, {}))
        if held != given or part not in self._parts:
            known = {}
            self._parts[part] = (given, known)
        for path, module in self.modules.items():
            if path not in known:
                known[path] = part(self, module, given)
            yield module, known[path]

    def once(self, question: Callable[[Project], _T]) -> _T:
        """The answer to a question about the whole project, remembered until another module is announced."""
        if question not in self._answers:
            self._answers[question] = question(self)
        answer: _T = self._answers[question]
        return answer

    def check(self, path: str, codes: frozenset[str], fixes: bool = True) -> Iterator[Finding | Failure]:
        """The findings of the rules ``codes`` in the announced module at ``path``, with their ``fixes`` or without."""
        from gllint_rules.project.context import check

        return check(self, self.modules[path], codes, fixes)

    def cuts(self) -> list[Cut]:
        """Where budgets ran out since this was last asked."""
        new = list(self.evaluator.cuts.items())[self._told :]
        self._told += len(new)
        return [
            Cut(site.module.path, self.positions(site.module).span(site.at).line, budget)
            for site, budget in new
        ]

    def why(self, path: str, line: int, code: str | None = None) -> list[str]:
        """Why there is a finding at a line, or none, in lines of text."""
        from gllint_rules.check.why import why

        return why(self, path, line, code)

    def tool_names(self) -> frozenset[bytes]:
        """The names by which other files may use the tools of the project: the second round's needles."""
        if self._tool_names is None:
            classes = frozenset(
                t.cls.cls.name for m in self.modules.values() for t in self.tools(m) if t.cls is not None
            )
            parts = self.each(_names_of_tools, classes)
            names = classes.union(*(part for _, part in parts))
            self._tool_names = frozenset(name.encode("utf-8", "surrogateescape") for name in names)
        return self._tool_names

    # --- imports ---------------------------------------------------------------------------------------------

    def imports_tools(self, module: Module) -> bool:
        """Whether ``module`` imports a tool, a tool class or what makes and runs tools."""
        names = self.tool_names()
        for imported in module.outline.imports:
            name = imported.name or imported.module.rpartition(".")[2]
            runs_tools = name in self.names.dispatch_functions or name in self.names.dispatch_classes
            if imported.name and (self.names.is_tool_class(name) or name in _TOOL_MAKERS or runs_tools):
                return True
            if name.encode() in names:
                value = self.imported(module, imported.module, imported.name)
                if isinstance(value, ToolValue) or (isinstance(value, ClassOf) and self.is_tool_class(value)):
                    return True
                if isinstance(value, ModuleOf) and self.tools(value.module):
                    return True
        return False

    def positions(self, module: Module) -> Positions:
        """The places of the expressions of ``module``."""
        found = self._positions.get(module.path)
        if found is None or found.module is not module:
            from gllint_rules.reading.positions import Positions

            found = Positions(module)
            self._positions[module.path] = found
        return found

    def imported(self, importer: Module, dotted: str, name: str) -> Value:
        """What ``from dotted import name`` binds (``name`` empty: ``import dotted``) in ``importer``."""
        path = self.find_module(importer.path, dotted)
        if path is not None and (path != importer.path or dotted.startswith(".")):
            module = self.module_at(path)
            if module is not None:
                return self.member(module, name) if name else ModuleOf(module)
        if name:
            submodule = self.find_module(
                importer.path, f"{dotted}{'' if dotted.endswith('.') else '.'}{name}"
            )
            if submodule is not None:
                module = self.module_at(submodule)
                if module is not None:
                    return ModuleOf(module)
        bare = dotted.lstrip(".")
        return External(".".join(part for part in (bare, name) if part))

    def imported_alias(self, importer: Module, dotted: str, name: str) -> Value | None:
        """The type that an imported alias names; ``None`` where the name is no alias."""
        path = self.find_module(importer.path, dotted)
        module = self.module_at(path) if path is not None and path != importer.path else None
        if module is None or not name or name not in module.scope.bindings:
            return None
        if any(b.kind in ("class", "def") for b in module.scope.bindings[name]):
            return None
        return self.evaluator.ask(
            ("imported alias", module, name),
            lambda: hints.alias(self.evaluator, name, Frame(module, module.scope)),
            None,
            lambda: UNKNOWN,
            Site(module, 0),
        )

    def member(self, module: Module, name: str) -> Value:
        """The global ``name`` of ``module``, or its submodule of that name."""
        return self.evaluator.ask(
            ("member", module, name),
            lambda: self._member(module, name),
            UNKNOWN,  # nothing comes through the module's own circle of star imports
            lambda: UNKNOWN,
            Site(module, 0),
        )

    def _member(self, module: Module, name: str) -> Value:
        if name in module.scope.bindings or module.scope.stars:
            value = self.evaluator.lookup(name, Frame(module, module.scope))
            if value is not UNKNOWN or name in module.scope.bindings:
                return value
        if module.path.endswith("/__init__.py"):
            base = posixpath.dirname(module.path)
            for path in (f"{base}/{name}.py", f"{base}/{name}/__init__.py"):
                if self._exists(path):
                    self._reached.setdefault(module.path, set()).add(path)
                    submodule = self.module_at(path)
                    return ModuleOf(submodule) if submodule is not None else UNKNOWN
        return UNKNOWN

    def find_module(self, importer: str, dotted: str) -> str | None:
        """The file of module ``dotted`` as seen from ``importer``, or ``None`` where it is not in the project."""
        path = self._find_module(importer, dotted)
        if path is not None:
            self._reached.setdefault(importer, set()).add(path)
        return path

    def _find_module(self, importer: str, dotted: str) -> str | None:
        here = posixpath.dirname(importer)
        level = len(dotted) - len(dotted.lstrip("."))
        parts = dotted.lstrip(".").replace(".", "/")
        if level:
            for _ in range(level - 1):
                here = posixpath.dirname(here)
            return self._file(f"{here}/{parts}" if parts else here)
        if parts.partition("/")[0] in sys.stdlib_module_names:
            return None
        key = (here, parts)
        if key not in self._absolute:
            self._absolute[key] = self._find_absolute(here, parts) or self._neighbour(importer, parts)
        return self._absolute[key]

    def _file(self, stem: str) -> str | None:
        for path in (f"{stem}.py", f"{stem}/__init__.py"):
            if path in self._loaded or self._exists(path):
                return path
        return None

    def _find_absolute(self, here: str, parts: str) -> str | None:
        """The module that lies at ``parts`` under one of the folders from ``here`` upwards.

        A package's own folder is no place for top-level names, unless nothing else is: scripts that live in
        packages do exist.
        """
        first = parts.partition("/")[0]
        folder = here
        beside: str | None = None
        while True:
            inside = self._exists(f"{folder}/__init__.py")
            for source in _SOURCE_ROOTS:
                base = f"{folder}/{source}"
                found = self._file(f"{base}{parts}")
                if found is not None and not inside:
                    return found
                # Not a single name: `import requests` beside a `requests.py` means the library.
                beside = beside or (found if "/" in parts else None)
                if found is None and not inside and self._file(f"{base}{first}") is not None:
                    return None  # the package is here, and has no such module
            parent = posixpath.dirname(folder)
            if parent == folder or self._exists(f"{folder}/.git/HEAD"):
                return beside
            folder = parent

    def _neighbour(self, importer: str, parts: str) -> str | None:
        """A module of another package of the same project, of several the one that lies nearest."""
        folders = self._packages.get(parts.partition("/")[0], ())
        found = [path for folder in folders if (path := self._file(f"{folder}/{parts}")) is not None]
        return max(found, key=lambda path: len(posixpath.commonpath([path, importer])), default=None)

    def read_annotation(self, text: str, at: int) -> Expr | None:
        """The annotation that the string ``at`` holds, if it does."""
        key = text, at
        if key not in self._annotations:
            from gllint_rules.reading.reader import read_expression

            self._annotations[key] = read_expression(text, at)
        return self._annotations[key]

    # --- classes ---------------------------------------------------------------------------------------------

    def ancestors(self, of: ClassOf) -> tuple[ClassOf | External, ...]:
        """The class itself, then its bases, theirs, and so on; classes from outside as :class:`External`."""
        return self.evaluator.ask(
            ("ancestors", of.cls),
            lambda: tuple(self._linear(of)),
            (of,),  # a class that inherits from itself ends here
            lambda: (of, External("?")),
            Site(of.module, of.cls.at),
        )

    def _linear(self, of: ClassOf) -> Iterator[ClassOf | External]:
        seen: set[Class] = set()
        queue: deque[ClassOf | External] = deque([of])
        while queue:
            current = queue.popleft()
            if isinstance(current, External):
                yield current
                continue
            if current.cls in seen:
                continue
            seen.add(current.cls)
            if len(seen) > MOST_ANCESTORS:
                raise TooComplex(f"{MOST_ANCESTORS} ancestors")
            yield current
            queue.extend(self._bases(current))

    def _bases(self, of: ClassOf) -> tuple[ClassOf | External, ...]:
        return self.evaluator.ask(
            ("bases", of.cls),
            lambda: tuple(self._read_bases(of)),
            (),
            lambda: (External("?"),),
            Site(of.module, of.cls.at),
        )

    def _read_bases(self, of: ClassOf) -> Iterator[ClassOf | External]:
        frame = Frame(of.module, of.cls.scope.parent or of.cls.scope)
        for base in of.cls.bases:
            inner = base.base if isinstance(base, facts.Sub) else base
            value = self.evaluator.eval(inner, frame)
            known = [o for o in options(value) if isinstance(o, (ClassOf, External))]
            yield from known or [External(f"?.{facts.last_name(inner)}")]

    def bases_named(self, of: ClassOf) -> Iterator[str]:
        """The last names of all ancestors, the class itself aside."""
        for ancestor in self.ancestors(of)[1:]:
            yield (ancestor.cls.name if isinstance(ancestor, ClassOf) else ancestor.name.rpartition(".")[2])

    def is_tool_class(self, of: ClassOf) -> bool:
        return any(name in self.names.tool_classes for name in self.bases_named(of))

    def is_enum(self, of: ClassOf) -> bool:
        return any(name in _ENUMS for name in self.bases_named(of))

    def is_typed_dict(self, of: ClassOf) -> bool:
        return any(name == "TypedDict" for name in self.bases_named(of))

    def new_type(self, of: ClassOf) -> Value | None:
        """What a class that derives from a number or a text is: ``class Kelvin(float)``."""
        for ancestor in self.ancestors(of)[1:]:
            if isinstance(ancestor, External):
                if ancestor.name in ("builtins.float", "builtins.int"):
                    return Number(
                        Because(f"`{of.cls.name}` derives from a number", Site(of.module, of.cls.at))
                    )
                if ancestor.name == "builtins.str":
                    return TEXT
        return None

    def parameters_of(self, of: ClassOf) -> list[str] | None:
        """The fields of a dataclass, model, ``TypedDict`` or plain annotated class, in the order of arguments."""
        if self.is_enum(of):
            return None
        if any(isinstance(base, facts.Sub) and facts.last_name(base) == "RootModel" for base in of.cls.bases):
            return ["root"]
        fields: dict[str, None] = {}
        for ancestor in reversed(self.ancestors(of)):
            if isinstance(ancestor, ClassOf):
                for name, bindings in ancestor.cls.statements():
                    if bindings[0].kind == "annotated" and not _is_class_var(bindings[0].annotation):
                        fields[name] = None
        if not fields:
            return None
        for ancestor in self.ancestors(of):
            if isinstance(ancestor, ClassOf):
                method = ancestor.cls.method("__init__")
                if method is not None:
                    return [param.name for param in method.params[1:]]
        return list(fields)

    def type_parameters(self, of: ClassOf) -> tuple[str, ...]:
        """The names of the type variables of a generic class, in order."""
        for base in of.cls.bases:
            if isinstance(base, facts.Sub) and facts.last_name(base) in ("Generic", "Protocol"):
                parts = base.index.items if isinstance(base.index, facts.Seq) else (base.index,)
                return tuple(facts.last_name(part) for part in parts)
        return of.cls.type_params

    def declared_argument(self, of: ClassOf, name: str) -> Value | None:
        """What the annotation of the field that argument ``name`` sets says."""
        return self.evaluator.field(of, name)

    def class_value(self, of: ClassOf, name: str) -> Expr | None:
        """The expression that the class body gives ``name``."""
        for binding in reversed(of.cls.scope.bindings.get(name, ())):
            if binding.value is not None:
                return binding.value
        return None

    def class_tool_name(self, of: ClassOf) -> str | None:
        """The literal name of a tool class: ``name = "…"``, or a property that returns one."""
        for ancestor in self.ancestors(of):
            if not isinstance(ancestor, ClassOf):
                continue
            expr = self.class_value(ancestor, "name")
            if expr is None:
                method = ancestor.cls.method("name")
                if method is not None and method.body:
                    last = method.body[-1]
                    expr = last.value if isinstance(last, facts.Return) else None
            if expr is not None:
                value = self.evaluator.eval(expr, Frame(ancestor.module, ancestor.cls.scope))
                return value.literal if isinstance(value, Text) else None
        return None

    # --- tools -----------------------------------------------------------------------------------------------

    def tools(self, module: Module) -> list[Tool]:
        """The tools that ``module`` defines."""
        found = self._tools.get(module.path)
        if found is None:
            self._tools[module.path] = []
            found = list(find_tools(self, module))
            self._keep(module.path, found)
        return found

    def _keep(self, path: str, tools: list[Tool]) -> None:
        for tool in tools:
            if tool.form == "T3":
                function = tool.callables[0].function
                assert isinstance(function, Function)
                self._decorated[function] = tool
            if tool.args_schema is not None:
                for callable in tool.callables:
                    frame = Frame(tool.module, tool.scope)
                    self._schemas[callable.function.scope] = (tool.args_schema, frame)
        self._tools[path] = tools

    def decorated_tool(self, module: Module, function: Function) -> Tool | None:
        if not function.decorators:
            return None
        if function not in self._decorated:
            self._decorated[function] = None
            self._decorated[function] = decorated_tool(self, module, function)
        return self._decorated[function]

    def made_tool(self, module: Module, call: facts.Call, scope: Scope) -> Tool | None:
        """The tool object that ``call`` makes (T1, T4), if it makes one."""
        last = real_name(module, call.func)
        if not (
            last.endswith(TOOL_WRAPPER_ENDING)
            or last in TOOL_WRAPPER_METHODS
            or call.keyword(SCHEMA_FN) is not None
        ):
            return None
        return self.evaluator.ask(
            ("tool", call),
            lambda: self._made_tool(module, call, scope),
            None,
            lambda: None,
            Site(module, call.at),
        )

    def _made_tool(self, module: Module, call: facts.Call, scope: Scope) -> Tool | None:
        tool = called_tool(self, module, call, scope)
        return tool if tool is not None and tool.form != "T5" else None

    def flow(self, callee: FunctionOf) -> Flow:
        """The function executed over abstract values."""
        return self.evaluator.ask(
            ("flow", callee.function, callee.bound.cls if callee.bound is not None else None),
            lambda: execute(self.evaluator, callee),
            Flow(open=True),  # what a recursive call finds
            lambda: too_complex(callee),
            Site(callee.module, callee.function.at),
        )

    def specialised_flow(self, callee: FunctionOf, given: dict[str, Value]) -> Flow:
        """The function executed for the arguments of one call."""
        return execute(self.evaluator, callee, given)

    def schema_of_parameter(self, scope: Scope, param: Param) -> Value | None:
        """What the tool's own ``args_schema`` says of a parameter of its callable."""
        found = self._schemas.get(scope)
        if found is None:
            return None
        schema, frame = found
        match schema:
            case facts.Call(func=facts.Attr(base=model, name="model_json_schema" | "schema")):
                schema = model  # the schema of a pydantic model says what its fields say
        fields: Record | None = None
        for option in options(self.evaluator.eval(schema, frame)):
            if isinstance(option, ClassOf):
                if param.kind == "double-star":
                    fields = self._model_record(option)
                else:
                    return self.evaluator.field(option, param.name)
            elif isinstance(option, Record):
                properties = option.get("properties")
                if isinstance(properties, Record):
                    if param.kind == "double-star":
                        entries = {
                            key: tuple(Entry(self._json_value(e.value, e.site), e.site) for e in held)
                            for key, held in properties.entries.items()
                        }
                        fields = Record(entries=entries, open=True)
                    elif param.name in properties.entries:
                        [*_, entry] = properties.entries[param.name]
                        return self._json_value(entry.value, entry.site)
        return fields

    def _model_record(self, of: ClassOf) -> Record:
        entries: dict[str, tuple[Entry, ...]] = {}
        for name in self.parameters_of(of) or ():
            value = self.evaluator.field(of, name)
            if value is not None:
                entries[name] = (Entry(value, Site(of.module, of.cls.at)),)
        return Record(entries=entries, open=True)

    def _json_value(self, schema: Value, site: Site) -> Value:
        """What a value that fits a property's schema is."""
        if not isinstance(schema, Record):
            return UNKNOWN
        kind = schema.get("type")
        names: list[str | None] = []
        for option in options(kind) if kind is not None else ():
            if isinstance(option, Text):
                names.append(option.literal)
            elif isinstance(option, ListOf):
                names.extend(e.value.literal if isinstance(e.value, Text) else None for e in option.items)
        values: list[Value] = []
        for name in names:
            if name in ("number", "integer"):
                values.append(Number(Because(f"`{ARGS_SCHEMA}` types it as {name}", site)))
            elif name == "array":
                items = schema.get("items")
                values.append(ListOf(rest=self._json_value(items, site) if items is not None else UNKNOWN))
            else:
                values.append(_JSON_TYPES.get(name or "", UNKNOWN))
        return join(*values) if values else UNKNOWN


def top_level_packages(paths: Iterable[str]) -> dict[str, list[str]]:
    """For each top-level package among the files ``paths``: its name, and the folders that it lies in."""
    folders = {posixpath.dirname(path) for path in paths if path.endswith("/__init__.py")}
    found: dict[str, list[str]] = {}
    for folder in sorted(folders):
        parent, _, name = folder.rpartition("/")
        if parent not in folders:
            found.setdefault(name, []).append(parent)
    return found


def _is_class_var(annotation: Expr | None) -> bool:
    return annotation is not None and facts.last_name(annotation) in ("ClassVar", "InitVar")


def _names_of_tools(project: Project, module: Module, classes: frozenset[str]) -> frozenset[str]:
    """The names under which other files may use the tools of one module."""
    tools = project.tools(module)
    names: set[str] = set()
    if tools:
        names.add(module.path.removesuffix(".py").removesuffix("/__init__").rpartition("/")[2])
    for tool in tools:
        if tool.form == "T3" and tool.callable is not None:
            names.add(getattr(tool.callable.function, "name", ""))
    made = {tool.call.at for tool in tools if tool.call is not None}
    sections = {at >> facts.SECTION_BITS for at in made}
    makers = classes | TOOL_REGISTRY_CLASSES
    for part in module.sections(lambda s: s.number in sections or not makers.isdisjoint(s.calls)):
        for name, bindings in part.bound.items():
            for binding in bindings:
                value = binding.value
                if isinstance(value, facts.Call) and (
                    value.at in made or facts.last_name(value.func) in makers
                ):
                    names.add(name)
    if assigns_registry(project.evaluator, module):
        names.update(TOOL_REGISTRY_NAMES)
    return frozenset(names)
