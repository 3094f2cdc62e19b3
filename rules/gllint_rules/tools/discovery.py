"""The forms that make a function a tool (T1 to T8), found in a module by what the framework table says of names.

No framework is known here: a form is a decorator, a call, a list, a base class or a toolkit, and which names are
those the table says.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from functools import partial

from gllint_rules.inference import classes
from gllint_rules.inference.values import (
    ClassOf,
    External,
    ExternalInstance,
    Frame,
    FunctionOf,
    Instance,
    ListOf,
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
from gllint_rules.records import replace
from gllint_rules.tools.framework_names import Callees, defined, dotted_path, meant, origins, real_names
from gllint_rules.tools.registrars import (
    Sink,
    Taken,
    arguments,
    functions,
    given_to,
    handed_over,
    held_by,
    made_around,
    nowhere,
    returned,
    stores,
)
from gllint_rules.tools.subclasses import Derivation
from gllint_rules.tools.tool import Form, Tool
from gllint_rules.words.framework_table import GENERAL, Callee, Entry, Framework, Kind, Place
from gllint_rules.words.names import ARGS_SCHEMA, LIST_PUTS, RESULT_SCHEMAS, SCHEMA_FN

_CALLED: frozenset[Kind] = frozenset({"calls", "keywords", "decorators", "described"})
_MAKING: tuple[Kind, ...] = ("decorators", "calls")
_MADE = frozenset(_MAKING)
_DECORATORS: frozenset[Kind] = frozenset({"decorators", "generators"})
MOST_BASES = 8  # classes between one of the project and that from outside
# How a decorator that is called with a function is given it by name.
_DECORATED = ("func", "fn", "function", "callable", "f")


class Forms:
    """Finds tools. ``derivation`` tells from outlines which classes may derive from one that the table names."""

    def __init__(self, callees: Callees, derivation: Derivation) -> None:
        self.callees, self.derivation = callees, derivation
        self.evaluator, self.table = callees.evaluator, callees.table
        self.taking = Derivation(self.evaluator.modules, self.table.last_names("calls", "keywords"))
        decorators = "|".join(map(re.escape, sorted(self.table.last_names("decorators"))))
        self._renames = re.compile(rf"\w+ *= *(?:(?:\w+\.)?partial\(\s*)?(?:\w+\.)*(?:{decorators})\b")
        self._decorated: dict[object, Tool] = {}
        self.taken: dict[str, set[Taken]] = {}  # by the modules that hand it over

    def inherit(self, old: Forms) -> None:
        """Take over what ``old`` noted beside the tools that it found."""
        self.taken = {path: set(taken) for path, taken in old.taken.items()}

    def forget(self, changed: Collection[str]) -> None:
        """Forget what was known from the outlines of the modules at ``changed``."""
        self.derivation.forget()
        self.taking.forget()
        self.callees.forget(changed)

    def of(self, module: Module) -> Iterator[Tool]:
        """The tools that ``module`` defines or hands over, a function once."""
        seen: set[object] = set()
        for tool in self._of(module):
            if tool.form in ("T6", "T7", "T8"):
                new = tuple(callee for callee in tool.callables if callee.function not in seen)
                if not new:
                    continue
                tool = replace(tool, callables=new)
            changed_by = tool.framework.changed_by if tool.framework is not None else ()
            if tool.call is None or not changed_by or tool.call.keyword(*changed_by) is None:
                seen.update(callee.function for callee in tool.callables)  # else another may show its results
            yield tool

    def through(self, module: Module, taken: frozenset[Taken], known: Iterable[Tool]) -> Iterator[Tool]:
        """The tools that ``module`` hands over through what stands in other modules, and none of ``known``."""
        seen: set[object] = {callee.function for tool in known for callee in tool.callables}
        rows = {row.name: row for row in self.table.rows}
        for callee, scope, at, framework in given_to(self.evaluator, module, taken, lambda _: nowhere):
            if callee.function not in seen:
                seen.add(callee.function)
                yield self._plain("T7", Frame(module, scope), at, callee, rows.get(framework))
        for tool in self._decorated_by_others(module, taken):
            if tool.callables[0].function not in seen:
                yield tool

    def takes(self, module: Module, taken: frozenset[Taken]) -> frozenset[Taken]:
        """What ``module`` takes for ``taken`` itself."""
        more: dict[str, set[Taken]] = {}
        for _ in given_to(self.evaluator, module, taken, partial(self._sink, module, into=more)):
            pass
        return frozenset(more.get(module.path, ()))

    def _sink(
        self, module: Module, framework: Framework | str | None, into: dict[str, set[Taken]] | None = None
    ) -> Sink:
        """Where it is noted what ``module`` hands over that others give, by a row of the table."""
        row = framework if isinstance(framework, str) else framework.name if framework is not None else ""
        into = self.taken if into is None else into

        def note(path: str, at: int, used_as: str, name: str, kind: str) -> None:
            self._take(module, Taken(path, at, used_as, name, kind, row), into)

        return note

    def _take(self, module: Module, one: Taken, into: dict[str, set[Taken]]) -> None:
        into.setdefault(module.path, set()).add(one)
        if one.path != module.path:
            self.evaluator.modules.tell(module.path, one.path)

    def _of(self, module: Module) -> Iterator[Tool]:
        may_call = partial(self._may_call, module)
        calls = [(call, Frame(module, scope)) for call, scope in module.calls_where(may_call)]
        calls = [(call, frame) for call, frame in calls if self._is_named(call, frame)]
        for call, frame in calls:
            tool = self.made(call, frame) or self._described(call, frame)
            if tool is not None:
                yield from self._each(tool)
            yield from self._mapped(call, frame)
        yield from self._classes(module)
        for function in module.functions_where(partial(self._may_be_decorated, module)):
            tool = self.decorated(module, function)
            if tool is not None:
                yield tool
                frame, sink = Frame(module, tool.scope), self._sink(module, tool.framework)
                for callee in made_around(self.evaluator, tool.callables[0], sink):
                    yield self._plain("T7", frame, tool.at, callee, tool.framework)
            yield from self._generated(module, function)
        for call, frame in calls:
            yield from self._handed(call, frame)
        if self.callees.talks():
            yield from self._assigned(module)

    def _each(self, tool: Tool) -> Iterator[Tool]:
        """A call that makes a tool of whatever function of several it is given makes one of each."""
        if (
            len(tool.callables) > 1
            and tool.form in ("T4", "T7")
            and tool.call is not None
            and tool.call.keyword("name") is None
        ):
            found = tool.callables
            if tool.fn is not None:
                found = functions(self.evaluator, tool.fn, Frame(tool.module, tool.scope))
            if len(found) == len(tool.callables):
                for callee in found:
                    yield replace(tool, callables=(callee,), name=getattr(callee.function, "name", None))
                return
        yield tool

    # --- which calls are worth a look ------------------------------------------------------------------------

    def _may_call(self, module: Module, section: Section) -> bool:
        keywords = section.keywords
        names = {*section.calls, *self._other_names(module, section.calls)}
        return (
            SCHEMA_FN in keywords
            or not self.table.any_keywords.isdisjoint(keywords)
            or "map" in names
            or any(self.table.may_call(name, keywords) for name in names)
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
            or _is_map(call)
        )

    # --- T1, T4, T5, T7 ----------------------------------------------------------------------------------------

    def made(self, call: Call, frame: Frame) -> Tool | None:
        """The tool object that ``call`` makes, if it makes one."""
        kinds = self._kinds(call.func, frame)
        if call.keyword(SCHEMA_FN) is None and _MADE.isdisjoint(kinds):
            return None
        nothing: tuple[Tool | None, list[Taken]] = (None, [])
        tool, taken = self.evaluator.ask(
            ("tool", call),
            lambda: self._made_with(call, frame),
            nothing,
            lambda: nothing,
            Site(frame.module, call.at),
        )
        for one in taken:  # each time: the answer may be one from before an edit
            self._take(frame.module, one, self.taken)
        return tool

    def _made_with(self, call: Call, frame: Frame) -> tuple[Tool | None, list[Taken]]:
        taken: dict[str, set[Taken]] = {}
        frame.module.note(call.at >> SECTION_BITS)
        tool = self._made(call, frame, taken)
        return tool, sorted(taken.get(frame.module.path, ()))

    def _made(self, call: Call, frame: Frame, taken: dict[str, set[Taken]]) -> Tool | None:
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
        return self._applied(call, frame, taken) or self._wrapped(call, frame, taken)

    def _kinds(self, func: Expr, frame: Frame) -> frozenset[Kind]:
        """Under which keys the table names what ``func`` stands for."""
        names = real_names(frame.module, _callee(meant(func, frame)[0]))
        return frozenset().union(*map(self.table.kinds, names))

    def _entry(self, kind: Kind, expr: Expr, frame: Frame) -> tuple[Entry, Expr] | None:
        """What the table says under ``kind`` of what ``expr`` stands for, a callee or a call of one, and that."""
        if kind not in self._kinds(_callee(expr), frame):
            return None
        found, home = meant(expr, frame)
        entry = self.callees.entry(kind, _callee(found), home, called=isinstance(found, Call))
        return (entry, found) if entry is not None else None

    def _applied(self, call: Call, frame: Frame, taken: dict[str, set[Taken]]) -> Tool | None:
        """T7: a decorator that is called with the function: ``tool(f)``, ``server.tool(name="x")(f)``."""
        given = call.args[0] if call.args else call.keyword(*_DECORATED)
        if given is None or isinstance(given, (facts.Const, facts.Star)):
            given = call.args[1] if len(call.args) > 1 else None
        if given is None or isinstance(given, facts.Star):
            return None
        known = self._entry("decorators", call.func, frame)
        if known is None:
            return None
        entry, decorator = known
        found = functions(self.evaluator, given, frame, self._sink(frame.module, entry.framework, taken))
        if not found:
            return None
        made = decorator if isinstance(decorator, Call) else call
        return self._tool("T7", frame, call, found, entry.framework, made, decorates=True)

    def _mapped(self, call: Call, frame: Frame) -> Iterator[Tool]:
        """T7: ``map(tool, functions)``: what makes a tool of one function makes one of each."""
        if not _is_map(call):
            return
        maker, given = call.args
        known = next(filter(None, (self._entry(kind, maker, frame) for kind in _MAKING)), None)
        if known is not None:
            framework = known[0].framework
            sink = self._sink(frame.module, framework)
            for found in handed_over(self.evaluator, given, frame, sink):
                yield self._plain("T7", frame, call.at, found, framework)

    def _wrapped(self, call: Call, frame: Frame, taken: dict[str, set[Taken]]) -> Tool | None:
        """T4, T7: a call that is given the function at one of its places."""
        known = self._entry("calls", call.func, frame)
        if known is None or isinstance(known[1], Call):
            return None
        entry = known[0]
        found: dict[object, FunctionOf] = {}
        source: Expr | None = None
        settled = False  # a position holds the function: what follows is something else
        for place, given in arguments(self.evaluator, call, frame, _keywords_first(entry.name.places)):
            if isinstance(given, (Value, facts.Const, facts.Star)):
                continue
            if isinstance(place, int) and (settled or (found and place > 0)):
                continue
            here = functions(self.evaluator, given, frame, self._sink(frame.module, entry.framework, taken))
            if here:
                settled = settled or isinstance(place, int)
                source = source or given
            elif isinstance(place, int) and place == 0 and 1 in entry.name.places:
                settled = True
            found.update((callee.function, callee) for callee in here)
        if source is None:
            return None
        is_object = facts.last_name(call.func)[:1].isupper() or not isinstance(call.func, facts.Attr)
        form: Form = "T4" if is_object else "T7"
        tool = self._tool(form, frame, call, tuple(found.values()), entry.framework, call)
        return replace(tool, args_schema=call.keyword(ARGS_SCHEMA), fn=source)

    def _tool(
        self,
        form: Form,
        frame: Frame,
        call: Call,
        found: tuple[FunctionOf, ...],
        framework: Framework | None,
        named_by: Call,
        decorates: bool = False,
    ) -> Tool:
        given = named_by.keyword("name", "name_override")
        if given is None and decorates and named_by.args and isinstance(named_by.args[0], facts.Const):
            given = named_by.args[0]
        name = self._literal(given, frame) if given is not None else getattr(found[0].function, "name", None)
        return Tool(
            form=form,
            module=frame.module,
            scope=frame.scope,
            at=call.at,
            callables=found,
            name=name,
            framework=framework,
            call=named_by,
            decorates=decorates,
        )

    def _literal(self, expr: Expr | None, frame: Frame) -> str | None:
        return literal_of(self.evaluator.eval(expr, frame)) if expr is not None else None

    def _described(self, call: Call, frame: Frame) -> Tool | None:
        """T5: the method or function beside the description that bears its name."""
        if self._entry("described", call.func, frame) is None:
            return None
        name_expr = call.keyword("name") or (call.args[0] if call.args else None)
        name = self._literal(name_expr, frame)
        found = self._beside(name, frame) if name is not None else None
        if found is None:
            return None
        return Tool(
            form="T5",
            module=frame.module,
            scope=frame.scope,
            at=call.at,
            callables=(found,),
            name=name,
            call=call,
            args_schema=call.keyword("parameters"),
        )

    def _beside(self, name: str, frame: Frame) -> FunctionOf | None:
        names = (name, f"_{name}", f"{name}_impl", f"_{name}_impl")
        module, cls = frame.module, frame.scope.enclosing_class()
        method = next(filter(None, map(cls.method, names)), None) if cls is not None else None
        if method is not None:
            return defined(module, method)
        for candidate in names:
            for binding in module.scope.bindings.get(candidate, ()):
                if isinstance(binding.target, Function):
                    return FunctionOf(module, binding.target)
        for table, table_scope in module.dicts_with(name):
            if cls is not None and table_scope.enclosing_class() is not cls:
                continue
            value = table.value(name)
            if isinstance(value, (facts.Name, facts.Attr, facts.Lambda)):
                for found in functions(self.evaluator, value, Frame(module, table_scope)):
                    return found
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
        known = self._decorated.get(function)
        if known is not None:
            return known
        return self.evaluator.ask(
            ("decorated", function),
            lambda: self._by_decorator(module, function),
            None,
            lambda: None,
            Site(module, function.at),
        )

    def _may_be_decorated(self, module: Module, section: Section) -> bool:
        if not section.decorators.isdisjoint(section.stores):
            return True  # by what is bound beside it
        names = {*section.decorators, *self._other_names(module, section.decorators)}
        return any(not _DECORATORS.isdisjoint(self.table.kinds(name)) for name in names)

    def _other_names(self, module: Module, names: frozenset[str]) -> Iterator[str]:
        """The last names of what those of ``names`` stand for that the module assigns."""
        for name in names & module.assigned:
            expr, _ = meant(facts.Name(0, name), Frame(module, module.scope))
            yield from real_names(module, _callee(expr))

    def _by_decorator(self, module: Module, function: Function) -> Tool | None:
        module.note(function.at >> SECTION_BITS)
        frame = Frame(module, function.scope.parent or function.scope)
        for written in function.decorators:
            known = self._entry("decorators", written, frame)
            if known is None:
                continue
            return self._marked(function, frame, *known)
        return None

    def _marked(self, function: Function, frame: Frame, entry: Entry, decorator: Expr) -> Tool:
        """The tool that ``decorator`` makes of a function that is defined in ``frame``."""
        name: str | None = function.name
        if isinstance(decorator, Call):
            given = decorator.keyword("name", "name_override") or (
                decorator.args[0] if decorator.args else None
            )
            name = self._literal(given, frame) if given is not None else name
        return Tool(
            form="T3",
            module=frame.module,
            scope=frame.scope,
            at=function.at,
            callables=(defined(frame.module, function),),
            name=name,
            framework=entry.framework,
            call=decorator if isinstance(decorator, Call) else None,
            args_schema=decorator.keyword(ARGS_SCHEMA) if isinstance(decorator, Call) else None,
            decorates=True,
        )

    def renamed(self, module: Module) -> Iterator[Taken]:
        """The names that ``module`` gives to decorators of the table, by which other modules may decorate."""
        frame = Frame(module, module.scope)
        for name, section in self._may_be_renamed(module):
            at = section.number << SECTION_BITS
            known = self._entry("decorators", facts.Name(at, name), frame)
            if known is not None:
                yield Taken(module.path, at, name, name, "renamed", known[0].framework.name)

    def _may_be_renamed(self, module: Module) -> Iterator[tuple[str, Section]]:
        """The names that stand for others by what the text of the sections says which bind them."""
        for imported in module.outline.imports:
            if imported.name and imported.name != imported.bound:
                yield from ((imported.bound, section) for section in module.binders(imported.bound))
        for section in module.outline.sections:
            if section.kind == "other" and len(section.binds) == 1:
                module.note(section.number)
                if self._renames.match(module.source, section.begin, section.end):
                    yield from ((name, section) for name in section.binds)

    def _decorated_by_others(self, module: Module, taken: frozenset[Taken]) -> Iterator[Tool]:
        """T3: the functions of ``module`` under a decorator to which another module gives its name."""
        names = {(one.path, one.used_as) for one in map(Taken._make, taken) if one.kind == "renamed"}
        words = frozenset(name for _, name in names)
        for function in module.functions_where(
            lambda section: not section.decorators.isdisjoint(words), SHAPE
        ):
            frame = Frame(module, function.scope.parent or function.scope)
            for written in function.decorators:
                for home, name in origins(self.evaluator, _callee(written), frame):
                    if (home.path, name) not in names or home is module:
                        continue
                    there: Expr = facts.Name(0, name)
                    if isinstance(written, Call):
                        there = facts.Call(written.at, there, written.args, written.keywords)
                    known = self._entry("decorators", there, Frame(home, home.scope))
                    if known is not None:
                        yield self._marked(function, frame, *known)

    def _generated(self, module: Module, function: Function) -> Iterator[Tool]:
        """T7: the functions that a decorated generator yields."""
        frame = Frame(module, function.scope.parent or function.scope)
        for written in function.decorators:
            known = self._entry("generators", written, frame)
            for given in function.yields if known is not None else ():
                if known is not None and given.value is not None:
                    inner = Frame(module, function.scope)
                    for found in functions(self.evaluator, given.value, inner):
                        yield self._plain("T7", inner, given.at, found, known[0].framework)

    def _plain(
        self, form: Form, frame: Frame, at: int, found: FunctionOf, framework: Framework | None
    ) -> Tool:
        name = getattr(found.function, "name", None)
        return Tool(form, frame.module, frame.scope, at, (found,), name, framework)

    # --- T6 ------------------------------------------------------------------------------------------------------

    def _handed(self, call: Call, frame: Frame) -> Iterator[Tool]:
        """T6: the plain functions in the lists that ``call`` takes tools by."""
        if isinstance(call.func, Call):
            return
        entry = self.callees.entry("keywords", call.func, frame)
        if entry is None or not entry.framework.plain_functions:
            return
        if entry.framework.name == GENERAL and not self.callees.talks():
            return
        places = self._handed_through(call, frame, entry.name.places)
        for place, given in arguments(self.evaluator, call, frame, places):
            if isinstance(place, str) and self.callees.is_no_tool(place, call.func, frame):
                continue
            if isinstance(given, Value):
                found = held_by(self.evaluator, given)
            else:
                found = handed_over(self.evaluator, given, frame, self._sink(frame.module, entry.framework))
            for callee in found:
                yield self._plain("T6", frame, call.at, callee, entry.framework)

    def _handed_through(self, call: Call, frame: Frame, places: tuple[Place, ...]) -> tuple[Place, ...]:
        """Where ``call`` takes what a class from outside takes at ``places``, if classes of the project lie between."""
        match call.func:
            case facts.Attr(base=facts.Call(func=facts.Name(id="super")), name="__init__"):
                cls = frame.scope.enclosing_class()
                lineage = classes.ancestors(self.evaluator, ClassOf(frame.module, cls))[1:] if cls else ()
            case facts.Name() | facts.Attr():
                made = (o for o in options(self.evaluator.eval(call.func, frame)) if isinstance(o, ClassOf))
                lineage = next((classes.ancestors(self.evaluator, option) for option in made), ())
            case _:
                lineage = ()
        return (
            self._places_of(tuple(lineage), places)
            if any(isinstance(of, External) for of in lineage)
            else places
        )

    def _places_of(self, lineage: tuple[Value, ...], places: tuple[Place, ...]) -> tuple[Place, ...]:
        """The places of the first ``__init__`` of a line of classes that it hands on to ``places`` of the last one."""
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
                    return tuple(dict.fromkeys((*named, *_handed_on(method, call, wanted))))
            return tuple(named)
        return places

    def _assigned(self, module: Module) -> Iterator[Tool]:
        """T6: ``agent.tools = [f]``, ``agent.tools += [f]``, ``agent.tools.append(f)``."""
        names = self.table.any_keywords
        given = [
            (target, value, value.at, scope)
            for target, value, scope in stores(module, lambda s: not s.attributes.isdisjoint(names))
        ]
        given += (
            (call.func.base, call.args[0], call.at, scope)
            for call, scope in module.calls_where(
                lambda s: not names.isdisjoint(s.mutated) and not LIST_PUTS.isdisjoint(s.calls)
            )
            if isinstance(call.func, facts.Attr) and call.func.name in LIST_PUTS and call.args
        )
        for target, value, at, scope in given:
            if not isinstance(target, facts.Attr) or target.name not in names:
                continue
            frame = Frame(module, scope)
            framework = self._owner(target.base, target.name, frame)
            if framework is not None and framework.plain_functions:
                for callee in handed_over(self.evaluator, value, frame, self._sink(module, framework)):
                    yield self._plain("T6", frame, at, callee, framework)

    def _owner(self, receiver: Expr, attribute: str, frame: Frame) -> Framework | None:
        """The row by which an attribute of ``receiver`` holds tools; a class of the project is its own business."""
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
        """The methods that are tools where the class, or one below it, defines them; empty where it is none."""
        for ancestor in classes.ancestors(self.evaluator, of)[1:]:
            if isinstance(ancestor, ClassOf):
                found = self.table.methods(dotted_path(ancestor.module, ancestor.cls.name))
            else:
                found = self.table.methods(ancestor.name)
            if found:
                return found
        return ()

    def class_tool(self, of: ClassOf) -> Tool | None:
        """T2: the tool that each instance of a class is."""
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
        """The methods among ``names`` that stand in a class above, which calls on ``self`` what ``of`` defines."""
        own = {method.name for method in of.cls.methods()}
        above = [a for a in classes.ancestors(self.evaluator, of)[1:] if isinstance(a, ClassOf)]
        for name in names:
            for each in above:
                method = each.cls.method(name)
                if method is not None:
                    if any(_is_on_self(call, own, scope, each) for call, scope in each.module.calls_of(own)):
                        yield FunctionOf(each.module, method, of, True)
                    break

    def _class_name(self, of: ClassOf) -> str | None:
        """The literal name of a tool class: ``name = "…"``, or a property that returns one."""
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
        """T8: the methods that a toolkit lists by name, or returns from a method of its."""
        method = of.cls.method(attribute)
        if method is not None:
            for given in returned(method.body):
                yield from handed_over(self.evaluator, given, Frame(of.module, method.scope))
            return
        for name in self._names_under(of, attribute):
            found = self.evaluator.member(of, name)
            for option in options(found):
                if isinstance(option, FunctionOf):
                    yield option

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
        """The texts that a class gives its attribute."""
        for ancestor in classes.ancestors(self.evaluator, of):
            given = classes.class_value(ancestor, attribute) if isinstance(ancestor, ClassOf) else None
            if given is not None and isinstance(ancestor, ClassOf):
                return list(_texts(self.evaluator.eval(given, Frame(ancestor.module, ancestor.cls.scope))))
        return []


def _is_on_self(call: Call, names: Collection[str], scope: Scope, of: ClassOf) -> bool:
    """Whether a call in ``scope`` is one of ``self.name()`` in the class ``of``, by one of ``names``."""
    match call.func:
        case facts.Attr(base=facts.Name(id="self"), name=name):
            return name in names and scope.enclosing_class() is of.cls
        case _:
            return False


def _handed_on(method: Function, call: Call, wanted: tuple[Place, ...]) -> Iterator[Place]:
    """The places of ``method`` whose arguments ``call`` in it hands on to ``wanted`` ones."""
    named = [param for param in method.params[1:] if param.kind in ("any", "positional", "keyword")]
    positional = [param.name for param in named if param.kind != "keyword"]
    stars = {param.kind for param in method.params if param.kind in ("star", "double-star")}
    first_star = next((i for i, arg in enumerate(call.args) if isinstance(arg, facts.Star)), len(call.args))
    for place in wanted:
        if isinstance(place, int):
            given = call.args[place] if place < first_star else None
            if given is None and first_star < len(call.args) and "star" in stars:
                yield len(positional) + place - first_star
        else:
            given = call.keyword(place)
            if given is None and "double-star" in stars and any(name is None for name, _ in call.keywords):
                yield place
        if isinstance(given, facts.Name):
            for param in named:
                if param.name == given.id:
                    yield param.name
                    if param.name in positional:
                        yield positional.index(param.name)


def _keywords_first(places: tuple[Place, ...]) -> tuple[Place, ...]:
    return (*(p for p in places if isinstance(p, str)), *(p for p in places if isinstance(p, int)))


def _texts(value: Value) -> Iterator[str]:
    """The texts that a value is or holds, also in tuples."""
    for option in options(value):
        if isinstance(option, Text) and option.literal is not None:
            yield option.literal
        elif isinstance(option, ListOf):
            for entry in option.items:
                yield from _texts(entry.value)


def _callee(expr: Expr) -> Expr:
    """What is called, of a call; else the expression itself."""
    return expr.func if isinstance(expr, Call) else expr


def _is_map(call: Call) -> bool:
    return isinstance(call.func, facts.Name) and call.func.id == "map" and len(call.args) == 2
