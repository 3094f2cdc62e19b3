"""The forms that make a function a tool (T1 to T8), found in a module by what the framework table says about names.

No framework is known here: a form is a decorator, a call, a list, a base class or a toolkit, and which names are
those the table says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache, partial

from msgspec.structs import replace

from gllint_rules.inference import classes
from gllint_rules.inference.values import (
    UNKNOWN,
    ClassOf,
    External,
    ExternalInstance,
    Frame,
    FunctionOf,
    Instance,
    ListOf,
    Method,
    Site,
    Text,
    Value,
    class_of,
    literal_of,
    options,
)
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Call, Expr, Function, Module, Scope
from gllint_rules.reading.outline import SECTION_BITS, Section
from gllint_rules.reading.reads import SHAPE
from gllint_rules.tools.framework_names import (
    Callees,
    alias_target,
    bound_function,
    dotted_path,
    origins,
    real_names,
)
from gllint_rules.tools.name_calls import ANYWHERE, called_by_name
from gllint_rules.tools.registrars import (
    DESCRIPTIONS,
    Registrar,
    Sink,
    arguments,
    describe,
    functions,
    functions_in,
    functions_in_value,
    gaps,
    nowhere,
    registrations,
    returned,
    stores,
    wrapped_functions,
)
from gllint_rules.tools.subclasses import Derivation
from gllint_rules.tools.tool import Form, Tool
from gllint_rules.words.framework_table import ANY, GENERAL, Callee, Framework, Kind, Place, TableEntry
from gllint_rules.words.names import ARGS_SCHEMA, LIST_PUTS, RESULT_SCHEMAS, SCHEMA_FN

_CALLED: frozenset[Kind] = frozenset({"calls", "keywords", "decorators", "described"})
_MADE: frozenset[Kind] = frozenset({"decorators", "calls"})
_DESCRIBED = frozenset({"name", "description"})  # keys of a dict that describes a tool for a model
_MOST_RENAMING = 200  # characters of a statement that only gives a decorator another name
_DECORATORS: frozenset[Kind] = frozenset({"decorators", "generators"})
_HANDLER, _HANDLER_PARAMETERS = "handler", ["event", "context"]  # how a function begins that a cloud calls
MOST_BASES = 8  # classes between one of the project and that from outside
# How a decorator that is called with a function is given it by name.
_DECORATED = ("func", "fn", "function", "callable", "f")


class Forms:
    """Finds tools. ``derivation`` finds in outlines which classes may derive from one that the table names."""

    def __init__(self, callees: Callees, derivation: Derivation) -> None:
        self.callees, self.derivation = callees, derivation
        self.evaluator, self.table = callees.evaluator, callees.table
        self.taking = Derivation(self.evaluator.modules, self.table.last_names("calls", "keywords"))
        self._decorated: dict[object, Tool] = {}
        self.registrars: dict[str, set[Registrar]] = {}  # by the modules that hand it over

    def inherit(self, old: Forms) -> None:
        """Take over what ``old`` noted in addition to its tools."""
        self.registrars = {path: set(registrars) for path, registrars in old.registrars.items()}

    def forget(self, changed: Collection[str]) -> None:
        """Forget what was known from the outlines of the modules at ``changed``."""
        self.derivation.forget()
        self.taking.forget()
        self.callees.forget(changed)

    def of(self, module: Module) -> Iterator[Tool]:
        """Yield the tools that ``module`` defines or hands over, a function once."""
        tool_functions: set[object] = set()
        for tool in self._of(module):
            if tool.form in ("T6", "T7", "T8"):
                new = tuple(callee for callee in tool.callables if callee.function not in tool_functions)
                if not new:
                    continue
                tool = replace(tool, callables=new)
            changed_by = tool.framework.changed_by if tool.framework is not None else ()
            if tool.call is None or not changed_by or tool.call.keyword(*changed_by) is None:
                tool_functions.update(
                    callee.function for callee in tool.callables
                )  # else another may show its results
            yield tool

    def through(
        self, module: Module, registrars: frozenset[Registrar], own_tools: Iterable[Tool]
    ) -> Iterator[Tool]:
        """Yield the tools that ``module`` hands over through what is in other modules, and none of ``own_tools``."""
        tool_functions: set[object] = {callee.function for tool in own_tools for callee in tool.callables}
        rows = {row.name: row for row in self.table.rows}
        for callee, scope, at, framework in registrations(
            self.evaluator, module, registrars, lambda _: nowhere, self.table.descriptions
        ):
            if callee.function not in tool_functions:
                tool_functions.add(callee.function)
                yield self._plain("T7", Frame(module, scope), at, callee, rows.get(framework))
        for tool in self._decorated_by_others(module, registrars):
            if tool.callables[0].function not in tool_functions:
                tool_functions.add(tool.callables[0].function)
                yield tool
        calls = called_by_name(self.evaluator, self.table.descriptions, module, registrars)
        names = Counter(function for _, function in {(call.name, call.function.function) for call in calls})
        for call in calls:
            function = call.function.function
            if function not in tool_functions:
                tool_functions.add(function)
                # What computes the results of several tools goes by its own name.
                is_own = names[function] != 1 or call.name == ANYWHERE
                name = getattr(function, "name", call.name) if is_own else call.name
                yield Tool("T5", module, call.scope, call.at, (call.function,), name)

    def registrars_in(self, module: Module, registrars: frozenset[Registrar]) -> frozenset[Registrar]:
        """Return the functions and classes of ``module`` that pass their arguments on to ``registrars``."""
        by_path: dict[str, set[Registrar]] = {}
        for _ in registrations(
            self.evaluator,
            module,
            registrars,
            partial(self._sink, module, registrars=by_path),
            self.table.descriptions,
        ):
            pass
        called_by_name(
            self.evaluator,
            self.table.descriptions,
            module,
            registrars,
            self._sink(module, None, registrars=by_path),
        )
        return frozenset(by_path.get(module.path, ()))

    def _sink(
        self,
        module: Module,
        framework: Framework | str | None,
        registrars: dict[str, set[Registrar]] | None = None,
    ) -> Sink:
        """Return the function that notes a new registrar, which ``module`` passes on to one of a row of the table."""
        row = framework if isinstance(framework, str) else framework.name if framework is not None else ""
        registrars = self.registrars if registrars is None else registrars

        def note(path: str, at: int, used_as: str, name: str, kind: str) -> None:
            self._take(module, Registrar(path, at, used_as, name, kind, row), registrars)

        return note

    def _take(self, module: Module, registrar: Registrar, registrars: dict[str, set[Registrar]]) -> None:
        registrars.setdefault(module.path, set()).add(registrar)
        if registrar.path != module.path:
            self.evaluator.modules.tell(module.path, registrar.path)

    def _of(self, module: Module) -> Iterator[Tool]:
        """Yield the tools of one module: from calls, classes, decorators and descriptions."""
        may_call = partial(self._may_call, module)
        calls = [(call, Frame(module, scope)) for call, scope in module.calls_where(may_call)]
        calls = [(call, frame) for call, frame in calls if self._is_named(call, frame)]
        for call, frame in calls:
            tool = self.tool_of_call(call, frame) or self._described(call, frame)
            if tool is not None:
                yield from self._tools_of_call(tool)
        yield from self._classes(module)
        for function in module.functions_where(partial(self._may_be_decorated, module)):
            tool = self.decorated(module, function)
            if tool is not None:
                yield tool
                frame, sink = Frame(module, tool.scope), self._sink(module, tool.framework)
                for callee in wrapped_functions(self.evaluator, tool.callables[0], sink):
                    yield self._plain("T7", frame, tool.at, callee, tool.framework)
            yield from self._generated(module, function)
        yield from self._handlers(module)
        for call, frame in calls:
            yield from self._list_tools(call, frame)
        if self.callees.talks():
            yield from self._assigned(module)
            self._describe(module)

    def _describe(self, module: Module) -> None:
        """T5: note the names of the tools that ``module`` describes as JSON to a model, by an SDK or by HTTP."""
        words = self.table.descriptions
        places, sink = words.places, self._sink(module, DESCRIPTIONS)
        for value, scope in values_under(module, places):
            describe(self.evaluator, value, Frame(module, scope), sink, words)
        note = self._sink(module, None)
        for display, scope in module.dicts_where(lambda section: section.keys >= _DESCRIBED):
            inner, maker = scope.owner, scope.parent.owner if scope.parent is not None else None
            if all(map(display.value, _DESCRIBED)) and isinstance(inner, Function) and _gives_back(inner):
                # A decorator of the project that describes the function for the model, or makes one that does.
                registrar, kind = (maker, "made") if isinstance(maker, Function) else (inner, "one")
                note(module.path, registrar.at, registrar.name, inner.params[0].name, kind)

    def _tools_of_call(self, tool: Tool) -> Iterator[Tool]:
        """``tool``; of a call that makes one of whatever function of several it is given, one for each."""
        if (
            len(tool.callables) > 1
            and tool.form in ("T4", "T7")
            and tool.call is not None
            and self._literal(tool.call.keyword("name"), Frame(tool.module, tool.scope)) is None
        ):
            callees = tool.callables
            if tool.fn is not None:
                callees = functions(self.evaluator, tool.fn, Frame(tool.module, tool.scope))
            if len(callees) == len(tool.callables):
                for callee in callees:
                    yield replace(tool, callables=(callee,), name=getattr(callee.function, "name", None))
                return
        yield tool

    # --- which calls are worth a look ------------------------------------------------------------------------

    def _may_call(self, module: Module, section: Section) -> bool:
        """Return whether a section may call something that makes a tool, judged by its names and keywords."""
        keywords = section.keywords
        names = {*section.calls, *self._other_names(module, section.calls)}
        imported = self.callees.imported(module)
        return (
            SCHEMA_FN in keywords
            or not self.table.any_keywords.isdisjoint(keywords)
            or any(self.table.may_call(name, keywords, imported) for name in names)
            or (
                section.owner is not None
                and {"super", "__init__"} <= section.calls
                and self.taking.may_derive(module, module.outline.sections[section.owner])
            )
        )

    def _is_named(self, call: Call, frame: Frame) -> bool:
        return (
            call.keyword(SCHEMA_FN, *self.table.any_keywords) is not None
            or not _CALLED.isdisjoint(self._kinds(call.func, frame))
            or facts.last_name(call.func) == "__init__"
        )

    # --- T1, T4, T5, T7 ----------------------------------------------------------------------------------------

    def tool_of_call(self, call: Call, frame: Frame) -> Tool | None:
        """Return the tool object that ``call`` makes, if it makes one."""
        kinds = self._kinds(call.func, frame)
        if call.keyword(SCHEMA_FN) is None and _MADE.isdisjoint(kinds):
            return None
        nothing: tuple[Tool | None, list[Registrar]] = (None, [])
        tool, registrars = self.evaluator.ask(
            ("tool", call),
            lambda: self._tool_and_registrars(call, frame),
            nothing,
            lambda: nothing,
            Site(frame.module, call.at),
        )
        for registrar in registrars:  # each time: the answer may be one from before an edit
            self._take(frame.module, registrar, self.registrars)
        return tool

    def _tool_and_registrars(self, call: Call, frame: Frame) -> tuple[Tool | None, list[Registrar]]:
        registrars: dict[str, set[Registrar]] = {}
        frame.module.note(call.at >> SECTION_BITS)
        tool = self._tool_of_call(call, frame, registrars)
        return tool, sorted(registrars.get(frame.module.path, ()))

    def _tool_of_call(self, call: Call, frame: Frame, registrars: dict[str, set[Registrar]]) -> Tool | None:
        """Return the tool that a call makes by itself; ``None`` if it makes none."""
        args_schema, result_schema = call.keyword(ARGS_SCHEMA), call.keyword(*RESULT_SCHEMAS)
        fn = call.keyword(SCHEMA_FN)
        has_schema = args_schema is not None or result_schema is not None
        if fn is not None and has_schema and not self.callees.is_no_tool(SCHEMA_FN, call.func, frame):
            return Tool(
                form="T1",
                module=frame.module,
                scope=frame.scope,
                at=call.at,
                callables=functions(self.evaluator, fn, frame),
                name=self._literal(call.keyword("name"), frame),
                call=call,
                args_schema=args_schema,
                result_schema=result_schema,
                fn=fn,
            )
        return self._applied(call, frame, registrars) or self._wrapped(call, frame, registrars)

    def _kinds(self, func: Expr, frame: Frame) -> frozenset[Kind]:
        """Return the keys under which the table names what ``func`` refers to."""
        names = real_names(frame.module, _callee(alias_target(func, frame)[0]))
        return frozenset().union(*map(self.table.kinds, names))

    def _entry(self, kind: Kind, expr: Expr, frame: Frame) -> tuple[TableEntry, Expr] | None:
        """Return the entries under ``kind`` for what ``expr`` refers to, a callee or a call of one, and that name."""
        if kind not in self._kinds(_callee(expr), frame):
            return None
        target, home = alias_target(expr, frame)
        entry = self.callees.entry(kind, _callee(target), home, called=isinstance(target, Call))
        if entry is None or not _is_given(target, entry.name.given):
            return None
        return entry, target

    def _applied(self, call: Call, frame: Frame, registrars: dict[str, set[Registrar]]) -> Tool | None:
        """Yield the tools of a decorator that is called with the function (T7): ``tool(f)``,
        ``server.tool(name="x")(f)``.
        """
        argument = _function_argument(call)
        match = self._entry("decorators", call.func, frame) if argument is not None else None
        if argument is None or match is None:
            return None
        entry, decorator = match
        callables = functions(
            self.evaluator,
            argument,
            frame,
            self._sink(frame.module, entry.framework, registrars),
            entry.framework.callable_objects,
        )
        if not callables:
            return None
        registration = decorator if isinstance(decorator, Call) else call
        return self._tool("T7", frame, call, callables, entry.framework, registration, decorates=True)

    def _wrapped(self, call: Call, frame: Frame, registrars: dict[str, set[Registrar]]) -> Tool | None:
        """Yield the tools of a call that takes the function at one of its places (T4, T7)."""
        match = self._entry("calls", call.func, frame)
        if match is None or isinstance(match[1], Call):
            return None
        entry = match[0]
        callables: dict[object, FunctionOf] = {}
        source: Expr | None = None
        settled = False  # the function is at a position: what follows is something else
        places = _keywords_first(tuple(place for place in entry.name.places if place != ANY))
        for place, argument in arguments(self.evaluator, call, frame, places):
            if isinstance(argument, (Value, facts.Const, facts.Star)):
                continue
            if isinstance(place, int) and (settled or (callables and place > 0)):
                continue
            callees = functions(
                self.evaluator,
                argument,
                frame,
                self._sink(frame.module, entry.framework, registrars),
                entry.framework.callable_objects,
            )
            if callees:
                settled = settled or isinstance(place, int)
                source = source or argument
            elif isinstance(place, int) and place == 0 and 1 in entry.name.places:
                settled = True
            callables.update((callee.function, callee) for callee in callees)
        if source is None and ANY in entry.name.places:
            source, callables = self._only_function(call, frame)
        if source is None:
            return None
        is_object = facts.last_name(call.func)[:1].isupper() or not isinstance(call.func, facts.Attr)
        form: Form = "T4" if is_object else "T7"
        tool = self._tool(form, frame, call, tuple(callables.values()), entry.framework, call)
        return replace(tool, args_schema=call.keyword(ARGS_SCHEMA), fn=source)

    def _only_function(self, call: Call, frame: Frame) -> tuple[Expr | None, dict[object, FunctionOf]]:
        """Return the one argument of a call that is a function, wherever it is; none if there are several."""
        written: list[Expr] = [*call.placed()]
        written += (
            value
            for name, value in call.keywords
            if name is not None
            and not self.callees.table.no_tools.is_callback(name)
            and not self.callees.is_no_tool(name, call.func, frame)
        )
        pairs = [
            (arg, callees)
            for arg in written
            if not isinstance(arg, facts.Const) and (callees := functions(self.evaluator, arg, frame))
        ]
        if len(pairs) != 1:
            return None, {}
        [(source, callees)] = pairs
        return source, {callee.function: callee for callee in callees}

    def _tool(
        self,
        form: Form,
        frame: Frame,
        call: Call,
        callables: tuple[FunctionOf, ...],
        framework: Framework | None,
        registration: Call,
        decorates: bool = False,
    ) -> Tool:
        """Return a tool of ``form`` that ``registration`` names and describes."""
        name_expr = registration.keyword("name", "name_override")
        if (
            name_expr is None
            and decorates
            and registration.args
            and isinstance(registration.args[0], facts.Const)
        ):
            name_expr = registration.args[0]
        name = (
            self._literal(name_expr, frame)
            if name_expr is not None
            else getattr(callables[0].function, "name", None)
        )
        return Tool(
            form=form,
            module=frame.module,
            scope=frame.scope,
            at=call.at,
            callables=callables,
            name=name,
            framework=framework,
            call=registration,
            decorates=decorates,
        )

    def _literal(self, expr: Expr | None, frame: Frame) -> str | None:
        return literal_of(self.evaluator.eval(expr, frame)) if expr is not None else None

    def _described(self, call: Call, frame: Frame) -> Tool | None:
        """T5: the method or function next to the description that bears its name."""
        if self._entry("described", call.func, frame) is None:
            return None
        name_expr = call.keyword("name") or (call.args[0] if call.args else None)
        name = self._literal(name_expr, frame)
        callee = self._implementation(name, frame) if name is not None else None
        if callee is None:
            return None
        return Tool(
            form="T5",
            module=frame.module,
            scope=frame.scope,
            at=call.at,
            callables=(callee,),
            name=name,
            call=call,
            args_schema=call.keyword("parameters"),
        )

    def _implementation(self, name: str, frame: Frame) -> FunctionOf | None:
        """Find the function for the name of a tool: the function or method of that name, or one under it in a dict."""
        names = (name, f"_{name}", f"{name}_impl", f"_{name}_impl")
        module, cls = frame.module, frame.scope.enclosing_class()
        method = next(filter(None, map(cls.method, names)), None) if cls is not None else None
        if method is not None:
            return bound_function(module, method)
        for candidate in names:
            for binding in module.scope.bindings.get(candidate, ()):
                if isinstance(binding.target, Function):
                    return FunctionOf(module, binding.target)
        for table, table_scope in module.dicts_with(name):
            if cls is not None and table_scope.enclosing_class() is not cls:
                continue
            value = table.value(name)
            if isinstance(value, (facts.Name, facts.Attr, facts.Lambda)):
                for callee in functions(self.evaluator, value, Frame(module, table_scope)):
                    return callee
        return None

    # --- T3 ------------------------------------------------------------------------------------------------------

    def know(self, tool: Tool) -> None:
        """Take a tool over that was found before."""
        if tool.form == "T3" and tool.callable is not None:
            self._decorated[tool.callable.function] = tool

    def decorated(self, module: Module, function: Function) -> Tool | None:
        """T3: the tool that the decorators of ``function`` make of it."""
        if not function.decorators:
            return None
        tool = self._decorated.get(function)
        if tool is not None:
            return tool
        return self.evaluator.ask(
            ("decorated", function),
            lambda: self._by_decorator(module, function),
            None,
            lambda: None,
            Site(module, function.at),
        )

    def _may_be_decorated(self, module: Module, section: Section) -> bool:
        if not section.decorators.isdisjoint(section.stores):
            return True  # by what is bound next to it
        names = {*section.decorators, *self._other_names(module, section.decorators)}
        return any(not _DECORATORS.isdisjoint(self.table.kinds(name)) for name in names)

    def _other_names(self, module: Module, names: frozenset[str]) -> Iterator[str]:
        """Return the last parts of what those ``names`` refer to that the module assigns."""
        for name in names & module.assigned:
            expr, _ = alias_target(facts.Name(0, name), Frame(module, module.scope))
            yield from real_names(module, _callee(expr))

    def _by_decorator(self, module: Module, function: Function) -> Tool | None:
        """Return the tool that a decorator makes of a function."""
        module.note(function.at >> SECTION_BITS)
        frame = Frame(module, function.scope.parent or function.scope)
        for written in function.decorators:
            match = self._entry("decorators", written, frame)
            if match is not None and not self._does_nothing(written, frame):
                return self._marked(function, frame, *match)
        return None

    def _does_nothing(self, decorator: Expr, frame: Frame) -> bool:
        """Return whether a decorator of the project only returns what it is given."""
        made_by = self.evaluator.eval(_callee(decorator), frame)
        if not isinstance(made_by, FunctionOf) or not isinstance(made_by.function, Function):
            return False
        function = made_by.function
        match _without_docstring(function.body):
            case (facts.Def(function=inner), facts.Return(value=facts.Name(id=name))) if isinstance(
                decorator, Call
            ):
                return name == inner.name and _returns_its_argument(inner)
            case _:
                return not isinstance(decorator, Call) and _returns_its_argument(function)

    def _marked(self, function: Function, frame: Frame, entry: TableEntry, decorator: Expr) -> Tool:
        """Return the tool that ``decorator`` makes of a function that is defined in ``frame``."""
        name: str | None = function.name
        if isinstance(decorator, Call):
            name_expr = decorator.keyword("name", "name_override") or (
                decorator.args[0] if decorator.args else None
            )
            name = self._literal(name_expr, frame) if name_expr is not None else name
        return Tool(
            form="T3",
            module=frame.module,
            scope=frame.scope,
            at=function.at,
            callables=(bound_function(frame.module, function),),
            name=name,
            framework=entry.framework,
            call=decorator if isinstance(decorator, Call) else None,
            args_schema=decorator.keyword(ARGS_SCHEMA) if isinstance(decorator, Call) else None,
            decorates=True,
        )

    def decorator_aliases(self, module: Module) -> Iterator[Registrar]:
        """Yield the names that ``module`` gives to decorators of the table, by which other modules may decorate."""
        frame = Frame(module, module.scope)
        renamed: dict[str, Section] = {}  # each name once: what binds it again, makes the same of it
        for name, section in self._may_be_renamed(module):
            renamed.setdefault(name, section)
        for name, section in renamed.items():
            at = section.number << SECTION_BITS
            written = facts.Name(at, name)
            match = self._entry("decorators", written, frame)
            if match is not None:
                yield Registrar(module.path, at, name, name, "renamed", match[0].framework.name)

    def _may_be_renamed(self, module: Module) -> Iterator[tuple[str, Section]]:
        """Yield the names that ``import … as``, or an assignment that mentions one, may give to decorators of the
        table.
        """
        words = self.table.last_names("decorators")
        for imported in module.outline.imports:
            if imported.name and imported.name != imported.bound:
                yield from ((imported.bound, section) for section in module.binders(imported.bound))
        for section in module.outline.sections:
            if section.kind == "other" and section.binds and section.end - section.begin <= _MOST_RENAMING:
                if module.mentions(section, words):
                    yield from ((name, section) for name in sorted(section.binds))

    def _decorated_by_others(self, module: Module, registrars: frozenset[Registrar]) -> Iterator[Tool]:
        """T3: the functions of ``module`` under a decorator to which another module gives its name."""
        names = _renamed(registrars)
        words = frozenset(name for _, name in names)
        for function in module.functions_where(
            lambda section: not section.decorators.isdisjoint(words), SHAPE
        ):
            frame = Frame(module, function.scope.parent or function.scope)
            for written in function.decorators:
                for home, name in origins(self.evaluator, _callee(written), frame):
                    if (home.path, name) not in names or home is module:
                        continue
                    decorator: Expr = facts.Name(0, name)
                    if isinstance(written, Call):
                        decorator = facts.Call(written.at, decorator, written.args, written.keywords)
                    match = self._entry("decorators", decorator, Frame(home, home.scope))
                    if match is not None:
                        yield self._marked(function, frame, *match)

    def _generated(self, module: Module, function: Function) -> Iterator[Tool]:
        """Yield the functions inside a decorated one that it yields or returns (T7)."""
        frame = Frame(module, function.scope.parent or function.scope)
        for written in function.decorators:
            match = self._entry("generators", written, frame)
            if match is None:
                continue
            inner = Frame(module, function.scope)
            values = [item.value for item in function.yields if item.value is not None]
            for value in values or returned(function.body):
                for callee in functions(self.evaluator, value, inner):
                    yield self._plain("T7", inner, value.at, callee, match[0].framework)

    def _handlers(self, module: Module) -> Iterator[Tool]:
        """Yield the cloud functions (T7), ``handler(event, context)``, of a module that reads which tool is wanted."""
        texts, sections = self.table.handlers, module.outline.sections
        for function in module.functions_where(lambda section: section.name.endswith(_HANDLER), SHAPE):
            if [param.name for param in function.params] == _HANDLER_PARAMETERS:
                row = next((texts[t] for t in texts if any(module.mentions(s, (t,)) for s in sections)), None)
                if row is not None:
                    callee = FunctionOf(module, function)
                    yield self._plain("T7", Frame(module, module.scope), function.at, callee, row)

    def _plain(
        self, form: Form, frame: Frame, at: int, callee: FunctionOf, framework: Framework | None
    ) -> Tool:
        name = getattr(callee.function, "name", None)
        return Tool(form, frame.module, frame.scope, at, (callee,), name, framework)

    # --- T6 ------------------------------------------------------------------------------------------------------

    def _list_tools(self, call: Call, frame: Frame) -> Iterator[Tool]:
        """T6: the plain functions in the lists that ``call`` takes tools by."""
        for entry, _, argument in self._listed(call, frame):
            if not entry.framework.plain_functions:
                continue
            if isinstance(argument, Value):
                callees = functions_in_value(self.evaluator, argument)
            else:
                callees = functions_in(
                    self.evaluator,
                    argument,
                    frame,
                    self._sink(frame.module, entry.framework),
                    entry.framework.callable_objects,
                )
            for callee in callees:
                yield self._plain("T6", frame, call.at, callee, entry.framework)

    def _listed(self, call: Call, frame: Frame) -> Iterator[tuple[TableEntry, Place, Expr | Value]]:
        """Yield the lists that ``call`` takes tools by, each with the entry of the table and its place."""
        entry = None if isinstance(call.func, Call) else self.callees.entry("keywords", call.func, frame)
        if entry is None or (entry.framework.name == GENERAL and not self.callees.talks()):
            return
        places = self._list_places(call, frame, entry.name.places)
        for place, argument in arguments(self.evaluator, call, frame, places):
            if not (isinstance(place, str) and self.callees.is_no_tool(place, call.func, frame)):
                yield entry, place, argument

    def is_settled(self, keyword: str, call: Call, frame: Frame) -> bool:
        """Return whether a row of the table covers ``keyword`` of ``call``, as tools or as none."""
        if isinstance(call.func, Call) or (keyword in self.table.any_keywords and self.callees.talks()):
            return True
        entry = self.callees.entry("keywords", call.func, frame)
        is_named = entry is not None and entry.framework.name != GENERAL
        return is_named or self.callees.is_no_tool(keyword, call.func, frame)

    def names(self, call: Call, frame: Frame) -> bool:
        """Return whether a row of the table names what ``call`` calls."""
        return any(self._entry(kind, call.func, frame) for kind in self._kinds(_callee(call.func), frame))

    def gaps(self, module: Module) -> Iterator[tuple[int, str, int]]:
        """Yield the places where ``module`` hands functions or tools over that gllint cannot find.

        Each has the name of the call or keyword, and how many. What is a parameter is followed to the callers.
        """
        calls = [
            (call, Frame(module, scope))
            for call, scope in module.calls_where(partial(self._may_call, module))
        ]
        decorators: set[Expr] = {call.func for call, _ in calls}
        for function in module.functions_where(lambda section: bool(section.decorators)) if calls else ():
            decorators.update(function.decorators)
        places = [
            (call.at, frame, *argument)
            for call, frame in calls
            if call not in decorators and self._is_named(call, frame)
            for argument in self._arguments(call, frame)
        ]
        for target, value, at, scope in self._puts(module) if self.callees.talks() else ():
            frame = Frame(module, scope)
            if self._owner(target.base, target.name, frame) is not None:
                places.append((at, frame, f"`{target.name}=`", value, False))
        for at, frame, name, argument, single in places:
            count = gaps(self.evaluator, argument, frame, single, self._is_gap)
            if count:
                yield at, name, count

    def _is_gap(self, value: Value) -> bool:
        """Return whether a value is unknown, or from outside; a framework's own tools are none of the project's."""
        match value:
            case External(name=name) | ExternalInstance(name=name):
                return not self.table.talks_to_a_model((name,))
            case Method(of=of):
                return self._is_gap(of)
            case _:
                return value is UNKNOWN

    def _arguments(self, call: Call, frame: Frame) -> Iterator[tuple[str, Expr | Value, bool]]:
        """Yield the arguments of ``call`` that may be tools, those aside of which it makes one that is found.

        Each has its name, and whether it is a single function.
        """
        own_name = f"`{facts.last_name(call.func)}(…)`"
        for _, place, argument in self._listed(call, frame):
            yield f"`{place}=`" if isinstance(place, str) else own_name, argument, False
        if self.tool_of_call(call, frame) is not None:
            return
        function = _function_argument(call)
        match = self._entry("decorators", call.func, frame) if function is not None else None
        if function is not None and match is not None:
            # `server.tool(x)` may be given a name: an imported one of a framework's is taken for a function.
            value = self.evaluator.eval(function, frame)
            if isinstance(call.func, Call) or (match[0].framework.imports and isinstance(value, External)):
                yield own_name, function, True
        match = self._entry("calls", call.func, frame)
        if match is not None and not isinstance(match[1], Call):
            places = match[0].name.places
            if not places:
                yield own_name, UNKNOWN, True
            if ANY in places:  # by its name alone a class is not known to take a function by position
                places = tuple(p for p in places if isinstance(p, str) and p != ANY)
            for _, argument in arguments(self.evaluator, call, frame, places):
                yield own_name, argument, True

    def _list_places(self, call: Call, frame: Frame, places: tuple[Place, ...]) -> tuple[Place, ...]:
        """Return the ``places`` of the tools among the arguments of ``call``, by its own signature.

        They differ if classes of the project lie between the call and the outside class.
        """
        match call.func:
            case facts.Attr(base=facts.Call(func=facts.Name(id="super")), name="__init__"):
                cls = frame.scope.enclosing_class()
                lineage = classes.ancestors(self.evaluator, ClassOf(frame.module, cls))[1:] if cls else ()
            case facts.Name() | facts.Attr():
                class_options = (
                    o for o in options(self.evaluator.eval(call.func, frame)) if isinstance(o, ClassOf)
                )
                lineage = next((classes.ancestors(self.evaluator, option) for option in class_options), ())
            case _:
                lineage = ()
        return (
            self._places_of(tuple(lineage), places)
            if any(isinstance(of, External) for of in lineage)
            else places
        )

    def _places_of(self, lineage: tuple[Value, ...], places: tuple[Place, ...]) -> tuple[Place, ...]:
        """Return the places of the first ``__init__`` of a line of classes that it hands on to ``places`` of the last
        one.
        """
        for i, of in enumerate(lineage[:MOST_BASES]):
            if not isinstance(of, ClassOf):
                break
            method = of.cls.method("__init__")
            if method is None:
                continue
            wanted = self._places_of(lineage[i + 1 :], places)
            named = [
                place for place in wanted if isinstance(place, str)
            ]  # what bears the name is taken for it
            for call, scope in of.module.calls_of({"__init__"}):
                if scope.owner is method and facts.last_name(call.func) == "__init__":
                    return tuple(dict.fromkeys((*named, *_forwarded_places(method, call, wanted))))
            return tuple(named)
        return places

    def _assigned(self, module: Module) -> Iterator[Tool]:
        """Yield the tools of ``agent.tools = [f]``, ``agent.tools += [f]`` and ``agent.tools.append(f)`` (T6)."""
        for target, value, at, scope in self._puts(module):
            frame = Frame(module, scope)
            framework = self._owner(target.base, target.name, frame)
            if framework is not None and framework.plain_functions:
                for callee in functions_in(self.evaluator, value, frame, self._sink(module, framework)):
                    yield self._plain("T6", frame, at, callee, framework)

    def _puts(self, module: Module) -> Iterator[tuple[facts.Attr, Expr, int, Scope]]:
        """Yield what ``module`` puts into attributes that have tools: target, value, place and scope."""
        names = self.table.any_keywords
        puts = [
            (target, value, value.at, scope)
            for target, value, scope in stores(module, lambda s: not s.attributes.isdisjoint(names))
        ]
        puts += (
            (call.func.base, call.args[0], call.at, scope)
            for call, scope in module.calls_where(
                lambda s: not names.isdisjoint(s.mutated) and not LIST_PUTS.isdisjoint(s.calls)
            )
            if isinstance(call.func, facts.Attr) and call.func.name in LIST_PUTS and call.args
        )
        for target, value, at, scope in puts:
            if isinstance(target, facts.Attr) and target.name in names:
                yield target, value, at, scope

    def _owner(self, receiver: Expr, attribute: str, frame: Frame) -> Framework | None:
        """Return the row by which an attribute of ``receiver`` has tools; ``None`` for a class of the project."""
        for value in options(self.evaluator.eval(receiver, frame)):
            if isinstance(value, External | ClassOf):
                continue
            is_known = isinstance(value, ExternalInstance) or class_of(value) is not None
            for origin in self.callees.origins(value) if is_known else [""]:
                callee = Callee(origin or facts.last_name(receiver), bool(origin), False, True)
                entry = self.table.find("keywords", callee, self.callees.imported(frame.module))
                if entry is not None and attribute in entry.name.places:
                    return entry.framework
        return None

    # --- T2, T8 --------------------------------------------------------------------------------------------------

    def _classes(self, module: Module) -> Iterator[Tool]:
        """Yield the tools that classes are, or list."""
        for cls in module.classes_where(lambda section: self.derivation.may_derive(module, section)):
            of = ClassOf(module, cls)
            tool = self.class_tool(of)
            if tool is not None:
                yield tool
            for origin in self.callees.outside(of):
                for published in self.table.published(origin):
                    if not published.of:
                        for callee in self._published(of, published.attribute):
                            owner = self.table.owner(origin)
                            yield self._plain("T8", Frame(module, cls.scope), cls.at, callee, owner)
                for attribute in self.table.answered(origin):
                    yield from self._answering(of, attribute)

    def methods(self, of: ClassOf) -> tuple[str, ...]:
        """Return the methods that are tools where the class, or one below it, defines them; empty if it is none."""
        for ancestor in classes.ancestors(self.evaluator, of)[1:]:
            if isinstance(ancestor, ClassOf):
                names = self.table.methods(dotted_path(ancestor.module, ancestor.cls.name))
            else:
                names = self.table.methods(ancestor.name)
            if names:
                return names
        return ()

    def class_tool(self, of: ClassOf) -> Tool | None:
        """Return the tool that each instance of a class is (T2)."""
        names = self.methods(of)
        if not names:
            return None
        methods = tuple(
            FunctionOf(of.module, method, of, True)
            for name in names
            if (method := of.cls.method(name)) is not None
        )
        return Tool(
            form="T2",
            framework=self.callees.framework(of),
            module=of.module,
            scope=of.cls.scope,
            at=of.cls.at,
            callables=methods,
            name=self._class_name(of),
            cls=of,
            args_schema=classes.class_value(of, ARGS_SCHEMA),
            result_schema=classes.class_value(of, RESULT_SCHEMAS[0]),
            inherited=() if methods else tuple(self._inherited(of, names)),
        )

    def _inherited(self, of: ClassOf, names: tuple[str, ...]) -> Iterator[FunctionOf]:
        """Yield the methods among ``names`` in a class above, which calls on ``self`` what ``of`` defines."""
        own = {method.name for method in of.cls.methods()}
        ancestors = [a for a in classes.ancestors(self.evaluator, of)[1:] if isinstance(a, ClassOf)]
        for name in names:
            for ancestor in ancestors:
                method = ancestor.cls.method(name)
                if method is not None:
                    if any(
                        _is_on_self(call, own, scope, ancestor)
                        for call, scope in ancestor.module.calls_of(own)
                    ):
                        yield FunctionOf(ancestor.module, method, of, True)
                    break

    def _class_name(self, of: ClassOf) -> str | None:
        """Return the literal name of a tool class: ``name = "…"``, or a property that returns one."""
        for ancestor in classes.ancestors(self.evaluator, of):
            if not isinstance(ancestor, ClassOf):
                continue
            expr = classes.class_value(ancestor, "name")
            if expr is None:
                method = ancestor.cls.method("name")
                if method is not None and method.body:
                    last = method.body[-1]
                    expr = last.value if isinstance(last, facts.Return) else None
            if expr is not None:
                return self._literal(expr, Frame(ancestor.module, ancestor.cls.scope))
        return None

    def _published(self, of: ClassOf, attribute: str) -> Iterator[FunctionOf]:
        """T8: the methods of a toolkit that are tools, by what the toolkit has under ``attribute``.

        The attribute is a method that returns them, or a list of their names; ``*`` means all public methods.
        """
        if attribute == ANY:
            yield from self._public_methods(of)
        elif (method := of.cls.method(attribute)) is not None:
            for expr in returned(method.body):
                yield from functions_in(self.evaluator, expr, Frame(of.module, method.scope))
        else:
            for name in self._names_under(of, attribute):
                for option in options(self.evaluator.member(of, name)):
                    if isinstance(option, FunctionOf):
                        yield option

    def _public_methods(self, of: ClassOf) -> Iterator[FunctionOf]:
        """Yield the public methods of a toolkit whose framework offers all of them, without those that it excludes."""
        for origin in filter(self.table.published, self.callees.outside(of)):
            excluded = self.table.unpublished(origin)
            for method in of.cls.methods():
                if not method.name.startswith("_") and method.name not in excluded:
                    yield FunctionOf(of.module, method, of, True)

    def _answering(self, of: ClassOf, attribute: str) -> Iterator[Tool]:
        """T8: the methods of an agent that take a message whose ``attribute`` bears their name."""
        frame = Frame(of.module, of.cls.scope)
        for method in of.cls.methods():
            for param in method.params[1:2]:
                if param.annotation is None:
                    continue
                value = self.evaluator.annotation(param.annotation, frame)
                for option in options(value):
                    if isinstance(option, Instance) and method.name in self._names_under(
                        option.of, attribute
                    ):
                        callee = FunctionOf(of.module, method, of, True)
                        yield self._plain("T8", frame, method.at, callee, None)

    def _names_under(self, of: ClassOf, attribute: str) -> list[str]:
        """Return the texts that a class gives its attribute."""
        for ancestor in classes.ancestors(self.evaluator, of):
            expr = classes.class_value(ancestor, attribute) if isinstance(ancestor, ClassOf) else None
            if expr is not None and isinstance(ancestor, ClassOf):
                return list(_texts(self.evaluator.eval(expr, Frame(ancestor.module, ancestor.cls.scope))))
        return []


@lru_cache(maxsize=4)
def _renamed(registrars: frozenset[Registrar]) -> frozenset[tuple[str, str]]:
    """Return the names that modules, each by its path, give to decorators of the table."""
    return frozenset((r.path, r.used_as) for r in map(Registrar._make, registrars) if r.kind == "renamed")


def values_under(module: Module, words: frozenset[str]) -> Iterator[tuple[Expr, Scope]]:
    """Yield what a module passes by keywords, or stores under dict keys, that are among ``words``."""
    for call, scope in module.calls_where(lambda section: not words.isdisjoint(section.keywords)):
        yield from ((value, scope) for keyword, value in call.keywords if keyword in words)
    for display, scope in module.dicts_where(lambda section: not words.isdisjoint(section.keys)):
        for key, value in display.items:
            if key is not None and facts.literal_text(key) in words:
                yield value, scope
    quoted = [form.format(word) for word in sorted(words) for form in ('"{}"]', "'{}']")]
    for target, value, scope in stores(
        module, lambda section: bool(section.mutated) and module.mentions(section, quoted)
    ):
        if isinstance(target, facts.Sub) and facts.literal_text(target.index) in words:
            yield value, scope


def _gives_back(function: Function) -> bool:
    """Return whether each return of a function gives its first parameter back, as a decorator does."""
    values = list(returned(function.body))
    first = function.params[0].name if function.params else ""
    return bool(values) and all(isinstance(value, facts.Name) and value.id == first for value in values)


def _returns_its_argument(function: Function) -> bool:
    """Return whether a function does nothing but return its first parameter."""
    match _without_docstring(function.body), function.params:
        case (facts.Return(value=facts.Name(id=name)),), (first, *_):
            return name == first.name
        case _:
            return False


def _without_docstring(body: facts.Block) -> facts.Block:
    match body:
        case (facts.Do(kind="expr", values=(facts.Const(value=str()),)), *rest):
            return tuple(rest)
        case _:
            return body


def _is_on_self(call: Call, names: Collection[str], scope: Scope, of: ClassOf) -> bool:
    """Return whether a call in ``scope`` is one of ``self.name()`` in the class ``of``, by one of ``names``."""
    match call.func:
        case facts.Attr(base=facts.Name(id="self"), name=name):
            return name in names and scope.enclosing_class() is of.cls
        case _:
            return False


def _forwarded_places(method: Function, call: Call, wanted: tuple[Place, ...]) -> Iterator[Place]:
    """Yield the places of ``method`` whose arguments ``call`` in it forwards to ``wanted`` ones."""
    named = [param for param in method.params[1:] if param.kind in ("any", "positional", "keyword")]
    positional = [param.name for param in named if param.kind != "keyword"]
    stars = {param.kind for param in method.params if param.kind in ("star", "double-star")}
    first_star = next((i for i, arg in enumerate(call.args) if isinstance(arg, facts.Star)), len(call.args))
    for place in wanted:
        if isinstance(place, int):
            argument = call.args[place] if place < first_star else None
            if argument is None and first_star < len(call.args) and "star" in stars:
                yield len(positional) + place - first_star
        else:
            argument = call.keyword(place)
            if argument is None and "double-star" in stars and any(name is None for name, _ in call.keywords):
                yield place
        if isinstance(argument, facts.BoolOp):  # `tools or []`
            argument = argument.left
        if isinstance(argument, facts.Name):
            for param in named:
                if param.name == argument.id:
                    yield param.name
                    if param.name in positional:
                        yield positional.index(param.name)


def _keywords_first(places: tuple[Place, ...]) -> tuple[Place, ...]:
    return (*(p for p in places if isinstance(p, str)), *(p for p in places if isinstance(p, int)))


def _texts(value: Value) -> Iterator[str]:
    """Yield the texts that a value is or contains, also in tuples."""
    for option in options(value):
        if isinstance(option, Text) and option.literal is not None:
            yield option.literal
        elif isinstance(option, ListOf):
            for entry in option.items:
                yield from _texts(entry.value)


def _function_argument(call: Call) -> Expr | None:
    """Return the argument of a call that is decorated, where a decorator is called."""
    argument = call.args[0] if call.args else call.keyword(*_DECORATED)
    if argument is None or isinstance(argument, (facts.Const, facts.Star)):
        argument = call.args[1] if len(call.args) > 1 else None
    return None if isinstance(argument, facts.Star) else argument


def _callee(expr: Expr) -> Expr:
    """Return the callee of a call; for another expression the expression itself."""
    return expr.func if isinstance(expr, Call) else expr


def _is_given(decorator: Expr, wanted: str) -> bool:
    """Return whether a decorator has the keyword that the table wants, with that text."""
    keyword, _, text = wanted.partition("=")
    value = decorator.keyword(keyword) if keyword and isinstance(decorator, Call) else None
    return not keyword or (isinstance(value, facts.Const) and value.value == text)
