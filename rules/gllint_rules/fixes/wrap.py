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


def wrap_leaf(context: Context, result: Result, leaf: Leaf, advised: Advice) -> Fix | None:
    """Wrap one number of a result, at the place where it is put in."""
    if not _is_own_place(context, leaf) or _is_handed_in(leaf.site):
        return None
    if not leaf.keys:
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
    """Wrap what a callable returns that is annotated to return a number."""
    return _wrap_returned(context, result, advised)


def _fix(edits: tuple[Edit, ...], unit: str | None, *changes: Changed) -> Fix:
    return Fix("unsafe", f"Wrap it in a Quantity in {unit}", edits, changes)


def _changes(leaf: Leaf, way: Way) -> tuple[Changed, ...]:
    """Return the key that becomes another value, and the functions whose results may be read as a whole:
    ``f(x).items()``.
    """
    # Of a method that a framework runs every class has one.
    names = {f.name for f in way.returned if f.owner is None or f.name not in _COMMON_METHODS}
    return Changed("key", str(leaf.keys[-1])), *(Changed("result", name) for name in sorted(names))


# --- a number and the unit next to it ------------------------------------------------------------------------


def _joined(context: Context, leaf: Leaf, place: SyntaxPlace, way: Way, neighbour: Neighbour) -> Fix | None:
    """Join a number with the unit next to it. The unit's own entry stays, because other code may read it."""
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
    """Return whether exactly the number is written at the place, outside lists and typed fields."""
    if leaf.value is None or number(leaf.value) is None:
        return False
    if leaf.holder is not None and leaf.holder.of is not None:
        declared = context.evaluator.field(leaf.holder.of, leaf.key or "")
        if declared is not None and declared is not UNKNOWN:
            return False
    return not leaf.in_list and leaf.site not in context.listed_numbers


def _is_handed_in(site: Site) -> bool:
    """Return whether a function of a tool returns its own parameter as it came in: it may be the tool's argument."""
    maker, function = maker_at(site), function_at(site.module, site.at)
    if maker is None or function is None:
        return False
    return argument_of(maker.expr, maker.scope, frozenset(p.name for p in function.params)) is not None


def _is_in_container(place: SyntaxPlace) -> bool:
    """Return whether the expression is the value of a dict display, of a keyword or of an assignment to a key."""
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
    """Return the edits that wrap the expression in a Quantity. ``unit`` is its text, or an expression for it."""
    quote = _quote(place)
    unit = f"{quote}{unit}{quote}" if is_text else unit
    prefix, suffix = f"{{{quote}value{quote}: ", f", {quote}unit{quote}: {unit}}}"
    node = place.node
    if isinstance(node, cst.Yield | cst.Lambda | cst.StarredElement | cst.GeneratorExp | cst.Tuple):
        return None
    if isinstance(node, cst.NamedExpr):
        prefix, suffix = f"{prefix}(", f"){suffix}"
    if not isinstance(value, UnionOf):
        return place.wrapped(prefix, suffix)
    match node:
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
    """Return the quote that the keys around the expression are written with."""
    for parent in place.parents:
        match parent:
            case cst.DictElement(key=cst.SimpleString(value=text)) if text[0] in "\"'":
                return text[0]
            case _:
                pass
    return '"'


def _retyped(context: Context, site: Site, way: Way) -> tuple[Edit, ...] | None:
    """Return the edits of annotations that the change needs; ``None`` if that cannot be done."""
    for function, name in way.variables:
        for binding in function.scope.bindings.get(name, ()):
            if binding.annotation is not None:
                declared = context.evaluator.annotation(
                    binding.annotation, Frame(site.module, function.scope)
                )
                if _speaks_of_numbers(context, declared):
                    return None
    edits: list[Edit] = []
    needs_any: Function | None = None
    for function in way.returned:
        declared_return = _declared(context, site, function)
        if declared_return is None or not _speaks_of_numbers(context, declared_return):
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
        added = imported(context, site.module, needs_any.scope, {"Any": "typing"})
        if added is None:
            return None
        edits.extend(added)
    return tuple(edits)


def _declared(context: Context, site: Site, function: Function) -> Value | None:
    return functions.declared_return(context.evaluator, FunctionOf(site.module, function))


def _speaks_of_numbers(context: Context, declared: Value, depth: int = 0) -> bool:
    """Return whether a declared type is a number at the place of the Quantity."""
    for option in options(declared):
        match option:
            case Number():
                return True
            case Container(rest=rest) if rest is not None and depth < 5:
                if _speaks_of_numbers(context, rest, depth + 1):
                    return True
            case Instance(of=of) if classes.is_typed_dict(context.evaluator, of):
                return True
            case _:
                pass
    return False


# --- numbers returned as such -------------------------------------------------------------------------------


def _wrap_returned(context: Context, result: Result, advised: Advice) -> Fix | None:
    """Wrap the numbers that a callable returns, all of them where its annotation changes with them."""
    function = result.callable.function
    module = result.callable.module
    if module is not context.module or result.site.module is not module or _is_typed_output(context, result):
        return None
    if isinstance(function, facts.Function) and function.yields:
        return None
    declared = _declared(context, result.site, function) if isinstance(function, facts.Function) else None
    if way_out(context, result.site, ()) is None:
        return None
    unit = advised.writable_unit(context.policy)
    if unit is None:
        return None
    is_declared = declared is not None and number(declared) is not None
    edits: list[Edit] = []
    for other in [r for r in context.results if r.callable.function is function] if is_declared else [result]:
        if other.value is NONE:
            continue
        place = place_of(context, other.site)
        value = other.value if number(other.value) is not None else declared
        assert value is not None
        if place is None or not _is_in(context, other, unit) or _is_tools_own(context, place, function):
            return None
        if any(isinstance(o, Container | Text) for o in options(other.value)):
            return None
        wrapped = _wrapped(place, value if value is not UNKNOWN else declared, unit)
        if wrapped is None:
            return None
        edits.extend(wrapped)
    if is_declared:
        assert isinstance(function, facts.Function) and function.returns is not None
        added = imported(context, module, function.scope, {"Any": "typing"})
        if added is None:
            return None
        optional = " | None" if any(o is NONE for o in options(declared or UNKNOWN)) else ""
        span = context.project.positions(module).span(function.returns.at)
        edits.append(Edit(span, f"dict[str, Any]{optional}"))
        edits.extend(added)
    elif isinstance(function, facts.Function) and not _takes_quantity(function.returns):
        return None
    name = function.name if isinstance(function, facts.Function) else ""
    return _fix(tuple(edits), unit, *([Changed("function", name)] if name else []))


def _is_in(context: Context, result: Result, unit: str) -> bool:
    """Return whether another number that the same callable returns is in the same unit, for all that is shown."""
    advised = advice_for_returned(context, result, "")
    return advised.unit in (unit, None) and echoed_argument(context, result, result.site) is None


def _takes_quantity(annotation: facts.Expr | None) -> bool:
    """Return whether a function that is annotated so may return a Quantity."""
    match annotation:
        case None:
            return True
        case facts.Name() | facts.Attr():
            return facts.last_name(annotation) in _OPEN_TYPES
        case facts.Sub(base=base, index=facts.Seq(items=(_, value))):
            return facts.last_name(base) in DICT_GENERICS and facts.last_name(value) in ("Any", "object")
        case _:
            return False


def _is_tools_own(context: Context, place: SyntaxPlace, function: facts.Function | facts.Lambda) -> bool:
    """Return whether another function of a tool returns the number, and so gets the fix."""
    expr = place.facts()
    called = expr.value if isinstance(expr, facts.Await) else expr
    if not isinstance(called, facts.Call):
        return False
    callee = context.evaluator.eval(called.func, Frame(place.positions.module, function.scope))
    return any(isinstance(o, FunctionOf) and is_run(context.project, where(o)) for o in options(callee))


def _is_typed_output(context: Context, result: Result) -> bool:
    """Return whether the tool class says elsewhere, too, that it gives a number (smolagents)."""
    return result.tool.cls is not None and classes.class_value(result.tool.cls, "output_type") is not None
