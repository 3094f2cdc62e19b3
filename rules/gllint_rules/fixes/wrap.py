"""GL101: a number in a tool's result becomes the value of a Quantity."""

from __future__ import annotations

import libcst as cst

from gllint_rules.finding import Changed, Edit, Fix
from gllint_rules.fixes.imports import imported
from gllint_rules.fixes.syntax import SyntaxPlace, place_of
from gllint_rules.fixes.uses import Way, way_out
from gllint_rules.inference import classes, functions
from gllint_rules.inference.builtin_names import DICT_GENERICS
from gllint_rules.inference.values import (
    NONE,
    UNKNOWN,
    Container,
    Frame,
    FunctionOf,
    Instance,
    Number,
    Site,
    Text,
    UnionOf,
    Value,
    number,
    options,
)
from gllint_rules.project.advice import (
    Advice,
    advice_for_returned,
    echoed_argument,
    is_misnamed_quantity,
)
from gllint_rules.project.call_graph import is_run, where
from gllint_rules.project.context import Context
from gllint_rules.project.makers import maker_at
from gllint_rules.project.results import Leaf, Result
from gllint_rules.project.unit_sources import Neighbour
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Function
from gllint_rules.tools.parameters import argument_of, function_at

_COMMON_METHODS = frozenset(
    {
        "run",
        "_run",
        "arun",
        "_arun",
        "execute",
        "aexecute",
        "forward",
        "call",
        "run_async",
        "invoke",
        "__call__",
    }
)
_OPEN_TYPES = frozenset({"Any", "object", "dict", "Dict", "Mapping", "MutableMapping", "JSON", "Json"})
_MOST_NESTING = 5  # levels of an annotation: `dict[str, list[float]]` has three


def wrap_leaf(context: Context, result: Result, leaf: Leaf, advised: Advice) -> Fix | None:
    """Return the fix that wraps one number of a result: ``{"heat": x}`` → ``{"heat": {"value": x, "unit": "kWh"}}``.

    ``None`` if its unit is not known, or other code may compute with it.
    """
    if not _is_own_place(context, leaf) or _returns_argument(leaf.site):
        return None
    if not leaf.keys:  # the result itself is the number
        return _wrap_returned(context, result, advised)
    place = place_of(context, leaf.site)
    way = way_out(context, leaf.site, leaf.keys)
    if place is None or way is None or not _is_in_container(place):
        return None
    if advised.neighbour is not None:
        return _joined(context, leaf, place, way, advised.neighbour)
    unit = advised.writable_unit(context.policy)
    wrapped = _wrapped(place, leaf.value, unit) if unit is not None else None
    retyped = _retyped(context, leaf.site, way)
    if wrapped is None or retyped is None:
        return None
    return _fix((*wrapped, *retyped), unit, *_changes(leaf, way))


def wrap_declared(context: Context, result: Result, advised: Advice) -> Fix | None:
    """Return the fix for a callable that is annotated to return a number: ``def f() -> float: return x``."""
    return _wrap_returned(context, result, advised)


def _fix(edits: tuple[Edit, ...], unit: str | None, *changes: Changed) -> Fix:
    """Return the fix with the title "Wrap it in a Quantity in kWh"."""
    return Fix("unsafe", f"Wrap it in a Quantity in {unit}", edits, changes)


def _changes(leaf: Leaf, way: Way) -> tuple[Changed, ...]:
    """Return the key and functions whose values change, for the search for code that reads them: ``f(x)["heat"]``."""
    # Methods that a framework runs have the same name in every tool class, so a search for it finds other tools.
    names = {f.name for f in way.returned if f.owner is None or f.name not in _COMMON_METHODS}
    return Changed("key", str(leaf.keys[-1])), *(Changed("result", name) for name in sorted(names))


# --- a number and the unit next to it ------------------------------------------------------------------------


def _joined(context: Context, leaf: Leaf, place: SyntaxPlace, way: Way, neighbour: Neighbour) -> Fix | None:
    """Return the fix that wraps a number with the unit next to it: ``"heat": x`` → ``"heat": {"value": x, "unit": u}``.

    The unit's own entry stays, because other code may read it.
    """
    holder, unit_place = leaf.holder, place_of(context, neighbour.entry.site)
    if (
        holder is None
        or unit_place is None
        or unit_place.module is not place.module
        or neighbour.entry.constant
        or neighbour.key not in holder.sure
        or is_misnamed_quantity(leaf, neighbour)
    ):
        return None
    if not isinstance(unit_place.node, cst.SimpleString) and not (
        isinstance(unit_place.node, cst.Name | cst.Attribute) and unit_place.is_beside(place)
    ):
        return None
    wrapped = _wrapped(place, leaf.value, unit_place.code(unit_place.node), is_text=False)
    retyped = _retyped(context, leaf.site, way)
    if wrapped is None or retyped is None:
        return None
    message = f"Combine it with the `{neighbour.key}` next to it"
    return Fix("unsafe", message, (*wrapped, *retyped), _changes(leaf, way))


# --- whether ------------------------------------------------------------------------------------------------


def _is_own_place(context: Context, leaf: Leaf) -> bool:
    """Return whether the expression at the place of a leaf is the number itself, outside lists and declared fields."""
    if leaf.value is None or number(leaf.value) is None:
        return False
    if leaf.holder is not None and leaf.holder.of is not None:
        declared = context.evaluator.field(leaf.holder.of, leaf.key or "")
        if declared is not None and declared is not UNKNOWN:
            return False
    return not leaf.in_list and leaf.site not in context.listed_numbers


def _returns_argument(site: Site) -> bool:
    """Return whether the value at ``site`` is an unchanged parameter: ``def f(x): return {"x": x}``.

    It may be an argument of the tool, which has no unit.
    """
    maker, function = maker_at(site), function_at(site.module, site.at)
    if maker is None or function is None:
        return False
    return argument_of(maker.expr, maker.scope, frozenset(p.name for p in function.params)) is not None


def _is_in_container(place: SyntaxPlace) -> bool:
    """Return whether an expression is the value of a key: ``{"a": x}``, ``dict(a=x)``, ``row["a"] = x``."""
    match place.parents[0]:
        case cst.DictElement(value=value) | cst.Arg(value=value, star=""):
            return value is place.node
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Subscript())], value=value):
            return value is place.node
        case _:
            return False


# --- the edits ----------------------------------------------------------------------------------------------


def _wrapped(
    place: SyntaxPlace, value: Value | None, unit: str, *, is_text: bool = True
) -> tuple[Edit, ...] | None:
    """Return the edits that wrap an expression: ``x`` → ``{"value": x, "unit": "kWh"}``; ``None`` if it cannot be one.

    ``unit`` is the text of the unit, or, without ``is_text``, an expression for it.
    """
    quote = _quote(place)
    unit = f"{quote}{unit}{quote}" if is_text else unit
    prefix, suffix = f"{{{quote}value{quote}: ", f", {quote}unit{quote}: {unit}}}"
    node = place.node
    if isinstance(node, cst.Yield | cst.Lambda | cst.StarredElement | cst.GeneratorExp | cst.Tuple):
        return None
    if isinstance(node, cst.NamedExpr):  # `x := 1` needs parentheses within a dict
        prefix, suffix = f"{prefix}(", f"){suffix}"
    if not isinstance(value, UnionOf):
        return place.wrapped(prefix, suffix)
    match node:  # the value may be None, which stays
        case (
            cst.IfExp(body=cst.Name(value="None"), orelse=arm)
            | cst.IfExp(body=arm, orelse=cst.Name(value="None"))
        ):
            return place.of(arm).wrapped(prefix, suffix)
        case cst.Name(value=name):
            return place.wrapped(prefix, f"{suffix} if {name} is not None else None")
        case _:
            return None


def _quote(place: SyntaxPlace) -> str:
    """Return the quote of the keys around an expression: ``{'a': x}`` → ``'``."""
    for parent in place.parents:
        match parent:
            case cst.DictElement(key=cst.SimpleString(value=text)) if text[0] in "\"'":
                return text[0]
            case _:
                pass
    return '"'


def _retyped(context: Context, site: Site, way: Way) -> tuple[Edit, ...] | None:
    """Return the edits of annotations on the way of a number: ``-> dict[str, float]`` → ``-> dict[str, Any]``.

    ``None`` if an annotation excludes a Quantity and cannot be changed so.
    """
    for function, name in way.variables:
        for binding in function.scope.bindings.get(name, ()):
            if binding.annotation is not None:
                declared = context.evaluator.annotation(
                    binding.annotation, Frame(site.module, function.scope)
                )
                if _excludes_quantity(context, declared):
                    return None
    edits: list[Edit] = []
    needs_any: Function | None = None
    for function in way.returned:
        declared_return = _declared(context, site, function)
        if declared_return is None or not _excludes_quantity(context, declared_return):
            continue
        match function.returns:
            case facts.Sub(base=base, index=facts.Seq(items=(_, value))) if (
                facts.last_name(base) in DICT_GENERICS
            ):
                span = context.project.positions(site.module).span(value.at)
                edits.append(Edit(span, "Any"))
                needs_any = function
            case _:
                return None
    if needs_any is not None:
        imports = imported(context, site.module, needs_any.scope, {"Any": "typing"})
        if imports is None:
            return None
        edits.extend(imports)
    return tuple(edits)


def _declared(context: Context, site: Site, function: Function) -> Value | None:
    """Return the value that a function is annotated to return; ``None`` without an annotation."""
    return functions.declared_return(context.evaluator, FunctionOf(site.module, function))


def _excludes_quantity(context: Context, declared: Value, depth: int = 0) -> bool:
    """Return whether a declared type has numbers where a Quantity is to be: ``float``, ``dict[str, float]``.

    A TypedDict counts, too: its fields are declared elsewhere.
    """
    for option in options(declared):
        match option:
            case Number():
                return True
            case Container(rest=rest) if rest is not None and depth < _MOST_NESTING:
                if _excludes_quantity(context, rest, depth + 1):
                    return True
            case Instance(of=of) if classes.is_typed_dict(context.evaluator, of):
                return True
            case _:
                pass
    return False


# --- numbers returned as such -------------------------------------------------------------------------------


def _wrap_returned(context: Context, result: Result, advised: Advice) -> Fix | None:
    """Return the fix for a callable whose result is a number: ``return x`` → ``return {"value": x, "unit": "kWh"}``.

    If it is annotated to return a number, the annotation becomes ``dict[str, Any]``, and all its returns change.
    """
    function = result.callable.function
    module = result.callable.module
    if module is not context.module or result.site.module is not module or _is_typed_output(context, result):
        return None
    if isinstance(function, facts.Function) and function.yields:
        return None
    declared = _declared(context, result.site, function) if isinstance(function, facts.Function) else None
    unit = advised.writable_unit(context.policy)
    if unit is None or way_out(context, result.site, ()) is None:
        return None
    is_declared = declared is not None and number(declared) is not None
    edits: list[Edit] = []
    for other in [r for r in context.results if r.callable.function is function] if is_declared else [result]:
        if other.value is not NONE:
            wrapped = _wrapped_return(context, other, declared, unit)
            if wrapped is None:
                return None
            edits.extend(wrapped)
    if is_declared:
        assert isinstance(function, facts.Function) and function.returns is not None
        imports = imported(context, module, function.scope, {"Any": "typing"})
        if imports is None:
            return None
        optional = " | None" if any(o is NONE for o in options(declared or UNKNOWN)) else ""
        span = context.project.positions(module).span(function.returns.at)
        edits.append(Edit(span, f"dict[str, Any]{optional}"))
        edits.extend(imports)
    elif isinstance(function, facts.Function) and not _takes_quantity(function.returns):
        return None
    name = function.name if isinstance(function, facts.Function) else ""
    return _fix(tuple(edits), unit, *([Changed("function", name)] if name else []))


def _wrapped_return(
    context: Context, result: Result, declared: Value | None, unit: str
) -> tuple[Edit, ...] | None:
    """Return the edits that wrap one returned number; ``None`` if it may be something else, or in another unit."""
    place = place_of(context, result.site)
    value = result.value if number(result.value) is not None else declared
    assert value is not None
    if place is None or not _is_in(context, result, unit):
        return None
    if _is_result_of_tool(context, place, result.callable.function):
        return None
    if any(isinstance(option, Container | Text) for option in options(result.value)):
        return None
    return _wrapped(place, value if value is not UNKNOWN else declared, unit)


def _is_in(context: Context, result: Result, unit: str) -> bool:
    """Return whether nothing shows that a returned number is in another unit, or an argument of the tool."""
    advised = advice_for_returned(context, result, "")
    return advised.unit in (unit, None) and echoed_argument(context, result, result.site) is None


def _takes_quantity(annotation: facts.Expr | None) -> bool:
    """Return whether a function with this return annotation may return a Quantity: ``dict``, ``Any``, none at all."""
    match annotation:
        case None:
            return True
        case facts.Name() | facts.Attr():
            return facts.last_name(annotation) in _OPEN_TYPES
        case facts.Sub(base=base, index=facts.Seq(items=(_, value))):  # `dict[str, Any]`
            return facts.last_name(base) in DICT_GENERICS and facts.last_name(value) in ("Any", "object")
        case _:
            return False


def _is_result_of_tool(context: Context, place: SyntaxPlace, function: facts.Function | facts.Lambda) -> bool:
    """Return whether an expression calls a function of another tool, in which the number is wrapped instead."""
    expr = place.facts()
    called = expr.value if isinstance(expr, facts.Await) else expr
    if not isinstance(called, facts.Call):
        return False
    callee = context.evaluator.eval(called.func, Frame(place.positions.module, function.scope))
    return any(isinstance(o, FunctionOf) and is_run(context.project, where(o)) for o in options(callee))


def _is_typed_output(context: Context, result: Result) -> bool:
    """Return whether the tool class declares the type of its output, which the fix cannot change (smolagents)."""
    return result.tool.cls is not None and classes.class_value(result.tool.cls, "output_type") is not None
