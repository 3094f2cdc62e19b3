"""Where code is computed that may make tools: what reflection hides can be told, not judged.

Ordinary metaprogramming is none of our business: a place counts only where a function of the project is handed to
what is looked up, where a base or decorator of a framework is used in a way that nothing here follows, or where the
source holds code in a text that only runs once it is decoded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from gllint_rules.finding import BlindSpot
from gllint_rules.inference import constants
from gllint_rules.inference.values import (
    UNKNOWN,
    ClassOf,
    Container,
    External,
    ExternalInstance,
    Frame,
    FunctionOf,
    Method,
    ModuleOf,
    Text,
    Value,
    options,
)
from gllint_rules.project.context import Context
from gllint_rules.reading import facts
from gllint_rules.reading.expression_index import parts_of
from gllint_rules.reading.facts import Call, Expr, Function, Scope
from gllint_rules.tools.registrars import returned

_COMPUTED = (Call, facts.Sub, facts.IfExp, facts.BoolOp, facts.Walrus)
MOST_PARTS = 200  # of an expression that are looked at
_RUNNERS = frozenset({"exec", "eval"})
_MAKERS = frozenset({"type", "new_class"})
_LOOK_UPS = frozenset({"getattr", "globals", "vars", "locals", "dir", "getmembers", "eval", "import_module"})
_DECODERS = frozenset(
    {"a2b_base64", "a85decode", "b16decode", "b32decode", "b64decode", "b85decode", "decode", "decodebytes",
     "decompress", "fromhex", "loads", "unhexlify", "urlsafe_b64decode"}
)  # fmt: skip
_NAMESPACES = frozenset({"types.SimpleNamespace", "argparse.Namespace"})
_DEFINES = re.compile(r"\b(?:def|class|lambda)\b")
_CALLED = _RUNNERS | _MAKERS | _LOOK_UPS | {"reduce"}


def blind_spots(context: Context) -> Iterator[BlindSpot]:
    """The places of a module, each once, in reading order."""
    spots = dict(sorted(dict(_spots(context)).items()))
    positions = context.project.positions(context.module) if spots else None
    for at, what in spots.items():
        assert positions is not None
        yield BlindSpot(context.module.path, positions.span(at).line, what)


def _spots(context: Context) -> Iterator[tuple[int, str]]:
    module, forms = context.module, context.project.tools.forms
    tool_calls = {tool.call.at for tool in context.tools if tool.call is not None}
    imports_framework = forms.callees.imports_framework(module)
    called = _CALLED if imports_framework else _RUNNERS
    for call, scope in module.calls_where(
        lambda section: (
            not called.isdisjoint(section.calls) or (imports_framework and "__dict__" in section.subscripts)
        )
    ):
        what = _of_call(context, call, scope)
        if what and call.at not in tool_calls:
            yield call.at, what
    if not context.project.tools.callees.talks():
        return
    decorated = {tool.callable.function for tool in context.tools if tool.callable is not None}
    for function in module.functions_where(lambda section: forms.stand_ins.may_decorate(module, section)):
        if function not in decorated and _is_decorated_by_the_unknown(context, function):
            yield function.at, "a decorator that is computed"
    if imports_framework:
        yield from _of_classes(context)
        yield from _of_lookups(context)


def _of_call(context: Context, call: Call, scope: Scope) -> str:
    """What a call does that nobody follows; ``""`` where it does nothing of the kind."""
    callees, frame = context.project.tools.callees, Frame(context.module, scope)
    name = facts.last_name(call.func) if isinstance(call.func, (facts.Name, facts.Attr)) else ""
    if name in _RUNNERS and isinstance(call.func, facts.Name) and call.args:
        return "code in a text" if _runs_hidden_code(context, call.args[0], frame, scope) else ""
    if not callees.imports_framework(context.module):
        return ""
    if name in _MAKERS and len(call.args) >= 2 and _has_tool_base(context, call.args[1], frame):
        return "a class that a call makes"
    if name == "reduce" and any(_is_decorator(context, part, frame) for part in _all_parts(call)):
        return "a function that is handed to what is computed"
    if isinstance(call.func, (facts.Sub, Call)) and _is_looked_up(call.func):
        arguments = (*call.args, *(value for _, value in call.keywords))
        if any(_is_function(context, argument, frame) for argument in arguments):
            if context.evaluator.eval(call.func, frame) is UNKNOWN:
                return "a function that is handed to what is computed"
    if context.names.table.any_keywords & {keyword for keyword, _ in call.keywords}:
        for keyword, value in call.keywords:
            if keyword in context.names.table.any_keywords and _is_looked_up(value):
                return "tools that are looked up"
    return ""


def _runs_hidden_code(context: Context, code: Expr, frame: Frame, scope: Scope) -> bool:
    """Whether the source holds the code: decoded from a text, as a text that imports a framework, or at import."""
    parts = list(_all_parts(code))
    is_decoded = any(isinstance(part, Call) and facts.last_name(part.func) in _DECODERS for part in parts)
    if is_decoded and any(
        isinstance(part, facts.Const) and isinstance(part.value, str | bytes) for part in parts
    ):
        return True
    text = constants.folded(context.evaluator, code, frame)
    value = context.evaluator.eval(code, frame)
    if text is None and isinstance(value, Text):
        text = value.literal
    if isinstance(text, bytes):
        return True
    modules = {module.removesuffix("*") for module in context.names.table.modules}
    for content in (text, *(part.value for part in parts if isinstance(part, facts.Const))):
        if isinstance(content, str) and _DEFINES.search(content) and any(name in content for name in modules):
            return True  # what merely imports makes no tool
    return scope.kind == "module" and context.project.tools.callees.imports_framework(context.module)


def _all_parts(expr: Expr) -> Iterator[Expr]:
    return islice(parts_of(expr), MOST_PARTS)


def _is_looked_up(expr: Expr) -> bool:
    return any(
        (isinstance(part, Call) and facts.last_name(part.func) in _LOOK_UPS)
        or (isinstance(part, facts.Attr) and part.name == "__dict__")
        for part in _all_parts(expr)
    )


def _is_function(context: Context, expr: Expr, frame: Frame) -> bool:
    if not isinstance(expr, (facts.Name, facts.Attr, facts.Lambda)):
        return False
    return any(isinstance(option, FunctionOf) for option in options(context.evaluator.eval(expr, frame)))


def _has_tool_base(context: Context, expr: Expr, frame: Frame) -> bool:
    value = context.evaluator.eval(expr, frame)
    bases = value.values() if isinstance(value, Container) else [value]
    for base in bases:
        for option in options(base):
            if isinstance(option, External) and context.names.table.methods(option.name):
                return True
            if isinstance(option, ClassOf) and context.project.tools.is_tool_class(option):
                return True
    return False


def _is_decorator(context: Context, expr: Expr, frame: Frame) -> bool:
    """Whether it is a decorator of a framework itself."""
    callees = context.project.tools.callees
    rows = callees.imported(context.module)
    return isinstance(expr, (facts.Name, facts.Attr)) and any(
        callees.table.find("decorators", callee, rows, False) is not None
        for callee in callees.of_value(context.evaluator.eval(expr, frame))
    )


def _is_decorated_by_the_unknown(context: Context, function: Function) -> bool:
    frame = Frame(context.module, function.scope.parent or function.scope)
    return any(
        not _is_outside(context, written, frame)
        and any(map(_is_unknown, options(context.evaluator.eval(written, frame))))
        for written in function.decorators
    )


def _is_unknown(value: Value) -> bool:
    """Whether nothing is known of a value, or no more than that a namespace has it."""
    return value is UNKNOWN or (isinstance(value, Method) and _is_own(value.of))


def _is_outside(context: Context, expr: Expr, frame: Frame) -> bool:
    """Whether what is called, or that of which it is an attribute, is known and from outside the project."""
    while isinstance(expr, (Call, facts.Attr, facts.Sub)):
        expr = expr.func if isinstance(expr, Call) else expr.base
        values = options(context.evaluator.eval(expr, frame))
        if all(value is not UNKNOWN and not _is_own(value) for value in values):
            return True
    return False


def _is_own(value: Value) -> bool:
    """Whether what it holds is the project's to say."""
    if isinstance(value, ExternalInstance):
        return value.name in _NAMESPACES
    if isinstance(value, External):
        return value.name.startswith("builtins.")
    return isinstance(value, ModuleOf | Container | ClassOf)


def _of_classes(context: Context) -> Iterator[tuple[int, str]]:
    """The classes whose base is computed, and nobody knows from what."""
    classes = {tool.cls.cls for tool in context.tools if tool.cls is not None}
    for cls in context.module.classes_where(lambda section: "?" in section.bases or section.has_classes):
        if cls in classes:
            continue
        frame = Frame(context.module, cls.scope.parent or cls.scope)
        for base in cls.bases:
            if isinstance(base, _COMPUTED) and not _is_outside(context, base, frame):
                if context.evaluator.eval(base, frame) is UNKNOWN:
                    yield cls.at, "a base that is computed"


def _of_lookups(context: Context) -> Iterator[tuple[int, str]]:
    """A module's own ``__getattr__`` that hands out a decorator or base of a framework."""
    for section in context.module.binders("__getattr__"):
        if section.kind != "function":
            continue
        for function in context.module.section(section.number).functions[:1]:
            frame = Frame(context.module, function.scope)
            for value in returned(function.body):
                if _is_decorator(context, value, frame) or _has_tool_base(context, value, frame):
                    yield function.at, "a name that the module looks up itself"
