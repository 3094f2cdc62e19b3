"""A tool is called directly instead of through the dispatcher.

## What it does

Reports a call of a method that runs a tool (`.run()`, `.invoke()`, `.execute()`, `.forward()`, `.fn()` and others), if
the object is known to be a tool. `gllint frameworks` lists the methods. A *dispatcher* is the function through which
a program calls its tools. These calls are not reported:

- calls in a dispatcher, in test code, under `if __name__ == "__main__":` and in the tool's own class
- calls by another tool, unless the called tool's `category` allows more effects than the caller's
- calls in a node of a graph or workflow, with arguments that do not come from a model
- calls of a tool that the code finds by a computed name (`tools[name].run()`): gllint takes this code for the
  dispatcher, unless the project has another

## Why is this bad?

The dispatcher checks arguments and results, asks for approval and records provenance. A direct call does none of this,
so its numbers have no source.

## Bad

```python
from crewai.tools import BaseTool


class MeterTool(BaseTool):
    def _run(self, meter: str) -> str:
        return read_meter(meter)


meter = MeterTool()


def answer(question: str) -> str:
    return meter.run(question)
```

## Good

```python
from crewai.tools import BaseTool
from gllint_runtime import TOOL_REGISTRY, ToolAction, dispatch_tool


class MeterTool(BaseTool):
    name: str = "meter"

    def _run(self, meter: str) -> str:
        return read_meter(meter)


TOOL_REGISTRY.register(MeterTool())


def answer(question: str) -> str:
    return dispatch_tool(ToolAction(name="meter", args={"meter": question}))
```

## How to fix

Call the tool through `dispatch_tool` or `registry.invoke`. If the project has no dispatcher, write one function for all
tool calls.

## Options

`dispatchers` names functions and classes that may call tools; `tool-classes` names base classes of tools.

## References

The QREW guidelines for tools: "dispatch_tool is the only function that executes a tool" and "CI Checks".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

from gllint_rules.fixes import repair
from gllint_rules.inference import classes
from gllint_rules.inference.values import (
    ClassOf,
    ExternalInstance,
    Frame,
    FunctionOf,
    Instance,
    Site,
    ToolValue,
    Value,
    options,
)
from gllint_rules.project.categories import category_of
from gllint_rules.project.context import Context, Pending
from gllint_rules.project.project_questions import dispatchers, has_dispatcher
from gllint_rules.project.tool_names import is_tool_registry, tool_names
from gllint_rules.reading import facts
from gllint_rules.reading.expression_index import expressions_in, parts_of
from gllint_rules.reading.facts import Call, Scope
from gllint_rules.rule import Rule
from gllint_rules.tools.tool import Tool
from gllint_rules.tuples import NamedTuple
from gllint_rules.words.framework_table import Framework
from gllint_rules.words.names import TOOL_LEVELS, TOOL_REGISTRY_NAMES

_RUNTIME = frozenset({"dispatch_tool", "ToolRegistry", "ToolRuntime"})  # the dispatchers of gllint_runtime
_HELP = "Call it through the dispatcher: `dispatch_tool(ToolAction(name=…, args=…))` or `registry.invoke(…)`."
_WITH = frozenset({"with_retry", "with_config"})  # LangChain's tools with other settings
_MOST_HOPS = 3  # functions that call each other for a tool
_NAME_YOURS = (
    " If this code is itself in a dispatcher, list that function or class in the setting `dispatchers`."
)


class _DirectCall(NamedTuple):
    """A ``call`` that runs the tool which ``tool`` is an expression for: ``heat`` of ``heat.invoke(args)``.

    ``message`` is the beginning of the finding's: "`.invoke()` runs tool `heat`".
    """

    call: Call
    scope: Scope
    tool: facts.Expr
    message: str


def check(context: Context) -> Iterator[Pending]:
    """Yield a finding for each call that runs a tool directly: ``heat.invoke(args)``, ``SearchTool()(query)``."""
    if context.is_test:
        return
    for direct in chain(_called_methods(context), _passed_methods(context), _called_objects(context)):
        if _is_exempt(context, direct):
            continue
        message = f"{direct.message} directly{_instead(context)}"
        # Only a call of a method shows the arguments of the tool, which the repair needs.
        is_method = isinstance(direct.call.func, facts.Attr) and direct.call.func.base is direct.tool
        fix = repair("dispatch", "dispatch", context, direct.call, direct.scope) if is_method else None
        yield context.finding("GL301", Site(context.module, direct.call.at), message, _help(context), fix)


def _is_exempt(context: Context, direct: _DirectCall) -> bool:
    """Return whether a call may run a tool directly, as section *What it does* lists."""
    call, scope, tool, _ = direct
    return (
        _is_in_dispatcher(context, scope)
        or _is_script(context, call)
        or _is_composed(context, tool, scope)
        or _is_node(context, call, scope)
        or (_is_chosen(context, context.module, tool, scope) and not context.project.once(has_dispatcher))
    )


def _called_methods(context: Context) -> Iterator[_DirectCall]:
    """Yield the calls of methods that run a tool: ``heat.invoke(args)``, ``server.call_tool("heat", args)``."""
    runs = context.names.table.all_runs
    for call, scope in context.module.calls_of(runs):
        func = call.func
        if isinstance(func, facts.Attr) and func.name in runs:
            title = _run_tool(context, func.base, scope, func.name) or _tool_by_name(
                context, call, func, scope
            )
            if title is not None:
                yield _DirectCall(call, scope, func.base, f"`.{func.name}()` runs {title}")


def _instead(context: Context) -> str:
    """Return the end of the message: what to do instead, which depends on whether the project has a dispatcher."""
    if context.project.once(has_dispatcher):
        return " instead of through the dispatcher"
    return ": route all tool calls through one function that checks and records them"


def _is_composed(context: Context, called: facts.Expr, scope: Scope) -> bool:
    """Return whether a call is in a tool, and ``called`` may do no more than that tool.

    Such a call needs no dispatcher: what the outer tool returns is checked as its own result.
    """
    owners = {inner.owner for inner in scope.enclosing() if inner.owner is not None}
    outer_tool = next((tool for tool in context.tools if _is_part(tool, owners)), None)
    if outer_tool is None:
        return False
    own = _level(context, outer_tool, max)
    inner = [_level(context, tool, min) for tool in _called_tools(context, called, scope)]
    # Without a category it is not known what a tool may do; GL701 reports that.
    return own is None or all(level is None or level <= own for level in inner)


def _is_part(tool: Tool, owners: set[Any]) -> bool:
    """Return whether one of ``owners`` is a callable of ``tool``, or a method of its tool class."""
    if any(callable.module is tool.module and callable.function in owners for callable in tool.callables):
        return True
    return tool.cls is not None and any(
        method in owners for method in tool.cls.cls.methods() if method.name != "__init__"
    )


def _called_tools(context: Context, called: facts.Expr, scope: Scope) -> Iterator[Tool]:
    """Yield the tools that an expression may be."""
    for option in options(context.eval(called, scope)):
        if isinstance(option, ToolValue) and isinstance(option.tool, Tool):
            yield option.tool
        elif (
            isinstance(option, Instance)
            and (tool := context.project.tools.forms.class_tool(option.of)) is not None
        ):
            yield tool


def _level(context: Context, tool: Tool, choose: Callable[[Iterable[int]], int]) -> int | None:
    """Return the position of a tool's category in TOOL_LEVELS (0: READ_ONLY), None without a category.

    ``choose`` (min or max) picks one if the category is one of several.
    """
    levels = category_of(context.project, tool)
    return choose(map(TOOL_LEVELS.index, levels)) if levels else None


def _tool_by_name(context: Context, call: Call, func: facts.Attr, scope: Scope) -> str | None:
    """Return the tool that a method runs by a literal name: ``server.call_tool("heat", …)`` → "tool `heat`"."""
    table = context.names.table
    name = call.args[0] if call.args else call.keyword("name", "tool_name", "function_name")
    if not isinstance(name, facts.Const) or not isinstance(name.value, str):
        return None
    if func.name not in table.named_runs:
        return None
    for option in options(context.eval(func.base, scope)):
        if any(
            table.runs_by_name(origin, func.name) for origin in context.project.tools.callees.origins(option)
        ):
            return f"tool `{name.value}`"
    return None


def _passed_methods(context: Context) -> Iterator[_DirectCall]:
    """Yield the calls that run a tool through its method as a value.

    The method is an argument (``retry(heat.invoke, args)``) or has another name (``run = heat.invoke; run(args)``).
    """
    runs = context.names.table.all_runs
    if not context.touches_tools:
        return
    # Only sections with such a method in their text are read: `.invoke` before the end of an argument or statement.
    forms = [
        f"{dot}{name}{end}" for name in runs for dot in (".", ". ") for end in (",", ")", "\n", ";", " ")
    ]
    for call, scope in context.module.calls_where(lambda section: context.module.mentions(section, forms)):
        methods: list[facts.Expr] = []
        if facts.last_name(call.func) in context.names.table.no_tools.runners:
            methods += [*call.placed(), *(value for _, value in call.keywords)]
        if isinstance(call.func, facts.Name):
            methods += _assigned(call.func.id, scope)
        for method in methods:
            if isinstance(method, facts.Attr) and method.name in runs:
                title = _run_tool(context, method.base, scope, method.name)
                if title is not None:
                    yield _DirectCall(call, scope, method.base, f"`.{method.name}` runs {title}")


_MODEL_OUTPUT = frozenset({"tool_calls", "tool_call", "args", "arguments", "function_call"})


def _is_node(context: Context, call: Call, scope: Scope) -> bool:
    """Return whether the call is in a node of a graph or workflow, and no argument of it comes from a model."""
    function = scope.enclosing_function()
    if function is None or any(
        _is_of_model(arg, scope) for arg in (*call.args, *(v for _, v in call.keywords))
    ):
        return False
    nodes = context.names.table.no_tools.nodes
    if any(facts.last_name(_callee(decorator)) in nodes for decorator in function.decorators):
        return True
    return any(
        isinstance(arg, (facts.Name, facts.Attr)) and facts.last_name(arg) == function.name
        for node, _ in context.module.calls_of({"add_node"})
        for arg in (*node.args, *(value for _, value in node.keywords))
    )


def _callee(decorator: facts.Expr) -> facts.Expr:
    """Return a decorator without its arguments: ``node(retries=2)`` → ``node``."""
    return decorator.func if isinstance(decorator, Call) else decorator


def _is_of_model(expr: facts.Expr, scope: Scope, hops: int = 2) -> bool:
    """Return whether an argument is read from the output of a model: ``message.tool_calls[0]["args"]``."""
    for part in parts_of(expr):
        match part:
            case facts.Attr(name=name) | facts.Sub(index=facts.Const(value=str() as name)) if (
                name in _MODEL_OUTPUT
            ):
                return True
            case facts.Name(id=name) if hops:
                values = (b.value for b in scope.find(name) if b.value is not None)
                if any(_is_of_model(value, scope, hops - 1) for value in values):
                    return True
            case _:
                pass
    return False


def _called_objects(context: Context) -> Iterator[_DirectCall]:
    """Yield the calls of tool objects as functions: ``SearchTool()(query)``, ``search = SearchTool(); search(query)``.

    Nothing is yielded unless a framework that the file imports allows such calls.
    """
    table = context.names.table
    imported = context.project.tools.callees.imported(context.module)
    yield from _called_attributes(context, table.attribute_runs(imported))
    if not table.calls_objects(imported):
        return
    own = {tool.cls.cls.name for tool in context.tools if tool.cls is not None}
    makers = (
        own | table.last_names("calls") | {n for n in context.module.imported_names if n.endswith("Tool")}
    )
    names: set[str] = set()  # of variables that are assigned a tool object
    candidates: list[tuple[Call, Scope]] = []
    for call, scope in context.module.calls_of(makers):
        if isinstance(call.func, Call):
            candidates.append((call, scope))
        elif _callable_title(context, call, scope) is not None:
            names |= {
                name
                for name, bindings in scope.bindings.items()
                for binding in bindings
                if binding.value is call
            }
    candidates += (
        (call, scope)
        for call, scope in context.module.calls_of(names)
        if isinstance(call.func, facts.Name) and call.func.id in names
    )
    for call, scope in candidates:
        title = _callable_title(context, call.func, scope)
        if title is not None:
            yield _DirectCall(call, scope, call.func, f"{title} is called")


def _called_attributes(context: Context, runs: list[tuple[str, str]]) -> Iterator[_DirectCall]:
    """Yield the calls of a tool by its name as an attribute: ``agent.tool.add(…)``, ``tools.add(…)``.

    ``runs`` has the class of the object and the attribute before the tool's name: ``("Agent", "tool")``, or "".
    """
    table = context.names.table
    for cls, attribute in runs:
        names = context.project.once(tool_names).names
        for call, scope in context.module.calls if attribute else context.module.calls_of(names):
            func = call.func
            # Any name after `agent.tool.` is a tool's; after `tools.` only the names of known tools are.
            if not isinstance(func, facts.Attr) or (not attribute and func.name not in names):
                continue
            base = func.base
            if attribute:
                if not isinstance(base, facts.Attr) or base.name != attribute:
                    continue
                base = base.base
            for option in options(context.eval(base, scope)):
                origins = context.project.tools.callees.origins(option)
                if any(o.rpartition(".")[2] == cls and table.owner(o) is not None for o in origins):
                    yield _DirectCall(call, scope, func, f"tool `{func.name}` is called")
                    break


def _callable_title(context: Context, expr: facts.Expr, scope: Scope) -> str | None:
    """Return how a message names the tool object ``expr``, which can be called: "tool `search`"; None if it is none."""
    for option in options(context.eval(expr, scope)):
        if isinstance(option, ToolValue) and option.tool.called is not None:
            continue  # a function that a decorator made a tool can still be called as a function
        title = tool_title(context, option)
        if title is not None and "__call__" in context.names.table.runs(_framework(context, option)):
            return title
    return None


def _run_tool(context: Context, base: facts.Expr, scope: Scope, method: str) -> str | None:
    """Return how a message names the tool ``base``, if ``method`` runs it: "tool `heat`"; else None."""
    while isinstance(base, Call) and isinstance(base.func, facts.Attr) and base.func.name in _WITH:
        base = base.func.base
    # A tool class may run itself: `self._run(…)`, `super().run(…)`.
    if isinstance(base, facts.Name) and base.id in ("self", "cls"):
        return None
    if isinstance(base, facts.Call) and facts.last_name(base.func) == "super":
        return None
    if method in context.names.table.runs(None) and _from_registry(context, base, scope):
        return "a registered tool"
    titles = {
        title: None
        for option in options(context.eval(base, scope))
        if (title := tool_title(context, option)) is not None
        and method in context.names.table.runs(_framework(context, option))
    }
    # Of several tools that a function may return, the message names none.
    return f"one of {len(titles)} tools" if len(titles) > 1 else next(iter(titles), None)


def _framework(context: Context, value: Value) -> Framework | None:
    """Return the framework that a tool object belongs to, a row of the table; None if it belongs to none."""
    match value:
        case ToolValue(tool=Tool(framework=framework)):
            return framework
        case Instance(of=of):
            return context.project.tools.callees.framework(of)
        case ExternalInstance(name=name):
            return context.names.table.owner(name)
        case _:
            return None


def tool_title(context: Context, value: Value) -> str | None:
    """Return how a message names a value that is a tool object; ``None`` for anything else."""
    match value:
        case ToolValue(tool=tool):
            return f"tool `{tool.name}`" if tool.name else "a tool"
        case Instance(of=of) if (
            context.project.tools.is_tool_class(of) or of.cls.name in context.names.tool_classes
        ):
            return f"tool `{of.cls.name}`"
        case ExternalInstance(name=name) if context.names.is_tool_class(
            name
        ) or context.names.table.makes_tools(name):
            return f"a `{name.rpartition('.')[2]}`"
        case _:
            return None


def _from_registry(context: Context, base: facts.Expr, scope: Scope) -> bool:
    """Return whether a tool comes from ``TOOL_REGISTRY[…]``, ``TOOL_REGISTRY.get(…)`` or ``registry.get(…)``."""
    match base:
        case facts.Sub(base=inner):
            return facts.last_name(inner) in TOOL_REGISTRY_NAMES
        case facts.Call(func=facts.Attr(base=inner, name="get" | "get_tool")):
            if facts.last_name(inner) in TOOL_REGISTRY_NAMES:
                return True
            return any(is_tool_registry(context.project, o) for o in options(context.eval(inner, scope)))
        case facts.Name(id=name):
            return any(_from_registry(context, value, scope) for value in _assigned(name, scope))
        case _:
            return False


def _assigned(name: str, scope: Scope) -> Iterator[facts.Expr]:
    """Yield the expressions that are assigned to a name; not other names, which could lead in a circle."""
    for binding in scope.find(name):
        if binding.kind == "assign" and binding.value is not None:
            if not isinstance(binding.value, facts.Name):
                yield binding.value


def _is_in_dispatcher(context: Context, scope: Scope) -> bool:
    """Return whether a scope is in a function, class or derived class that may call tools: ``def dispatch_tool(…)``."""
    imported = context.project.tools.callees.imported(context.module)
    dispatchers = context.names.table.dispatchers(imported)
    for owner in (inner.owner for inner in scope.enclosing()):
        if isinstance(owner, facts.Function) and owner.name in dispatchers:
            return True
        if isinstance(owner, facts.Class):
            names = {owner.name, *classes.bases_named(context.evaluator, ClassOf(context.module, owner))}
            if not names.isdisjoint(dispatchers):
                return True
    return False


# `tool.name == wanted` in the condition of a comprehension, either way around.
_BY_NAME = re.compile(r"\.name\s*==\s*[A-Za-z_]|[\w)\]]\s*==\s*\w+\.name\b")


def _is_script(context: Context, call: Call) -> bool:
    """Return whether the call is under ``if __name__ == "__main__":``."""
    return any(
        isinstance(statement, facts.If)
        and any(isinstance(part, facts.Name) and part.id == "__name__" for part in parts_of(statement.test))
        and call.at > statement.test.at
        and not any(part is call for part in expressions_in(statement.orelse))
        for statement in context.module.section_of(call.at).body
    )


def _is_chosen(
    context: Context, module: facts.Module, base: facts.Expr, scope: Scope, hops: int = _MOST_HOPS
) -> bool:
    """Return whether a tool is looked up by a computed name, ``tools[name]``: such code is a dispatcher itself.

    ``hops`` is how many functions are followed into, as ``find`` of ``find(name).run(…)``.
    """
    match base:
        case facts.Sub(index=index):  # tools[name]
            return not isinstance(index, facts.Const)
        case facts.Call(func=facts.Attr(name="get" | "get_tool"), args=(name, *_)):  # tools.get(name)
            return not isinstance(name, facts.Const)
        case facts.Call(func=facts.Name(id="next"), args=(facts.Comp(), *_)):  # next(t for t in tools if …)
            return _BY_NAME.search(context.project.positions(module).text(base.at)) is not None
        case facts.Call(func=func, args=(name, *_)) if hops and not isinstance(
            name, facts.Const
        ):  # find(name)
            return any(
                _is_chosen(context, option.module, returned, option.function.scope, hops - 1)
                for option in options(context.evaluator.eval(func, Frame(module, scope)))
                if isinstance(option, FunctionOf)
                for returned, _ in context.evaluator.flow(option).returns
            )
        case facts.Await(value=value):
            return _is_chosen(context, module, value, scope, hops)
        case facts.Name(id=name):
            # for tool in tools: if tool.name == name
            if any(binding.kind == "loop" for binding in scope.find(name)):
                return _is_compared(name, scope)
            return any(_is_chosen(context, module, value, scope, hops) for value in _assigned(name, scope))
        case _:
            return False


def _is_compared(name: str, scope: Scope) -> bool:
    """Return whether the function compares an attribute of ``name`` with a variable: ``if tool.name == wanted``."""
    function = scope.enclosing_function()
    for statement in facts.statements(function.body) if function is not None else ():
        match statement:
            case facts.If(test=facts.Compare(operands=sides)):
                attributes = [s for s in sides if isinstance(s, facts.Attr) and facts.dotted(s.base) == name]
                if attributes and not any(isinstance(side, facts.Const) for side in sides):
                    return True
            case _:
                pass
    return False


def _help(context: Context) -> str:
    """Return the help of a finding: call the tool through the project's dispatcher, or how to get one."""
    names = sorted(context.project.once(dispatchers))
    if not _RUNTIME.isdisjoint(names):
        return _HELP
    if names:
        return (
            f"Call it through the project's dispatcher: {' or '.join(f'`{name}`' for name in names)}."
            f"{_NAME_YOURS}"
        )
    if context.project.once(has_dispatcher):
        return f"Call it through the project's dispatcher class.{_NAME_YOURS}"
    return (
        "`gllint_runtime.dispatch_tool` is such a function, a dispatcher: it checks arguments and result, asks for "
        f"approval, and records the call.{_NAME_YOURS}"
    )


RULE = Rule(
    code="GL301",
    name="direct-tool-call",
    summary="A tool is called directly instead of through the dispatcher",
    documentation=__doc__ or "",
    check=check,
    fix="unsafe",
    options=("dispatchers", "tool-classes"),
)
