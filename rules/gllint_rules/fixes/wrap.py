"""GL101: a number in a tool's result becomes the value of a Quantity."""

from __future__ import annotations

import re
from itertools import islice

import libcst as cst

from gllint_rules import records
from gllint_rules.finding import Edit, Fix
from gllint_rules.fixes.imports import imported
from gllint_rules.fixes.nodes import literal_keys, without
from gllint_rules.fixes.syntax import Place, place
from gllint_rules.fixes.uses import Way, enclosing, way_out
from gllint_rules.inference import classes, functions
from gllint_rules.inference.tables import DICT_GENERICS
from gllint_rules.inference.values import (
    NONE,
    UNKNOWN,
    Frame,
    FunctionOf,
    Instance,
    Key,
    ListOf,
    Number,
    Record,
    Site,
    Text,
    UnionOf,
    Value,
    number,
    options,
    surely_not_text,
)
from gllint_rules.project.context import Context
from gllint_rules.project.kinds import Advice
from gllint_rules.project.parameters import argument_of
from gllint_rules.project.results import Leaf, Result, leaves, quantities
from gllint_rules.project.runners import is_run, where
from gllint_rules.project.schemas import read_schema
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Function
from gllint_rules.words.kinds import contradicts
from gllint_rules.words.unit_names import readings_of_name, unit_of_name
from gllint_runtime.policy.units import ALLOWED_UNITS

_OPEN_TYPES = frozenset({"Any", "object", "dict", "Dict", "Mapping", "MutableMapping", "JSON", "Json"})

PLACEHOLDER = "UNIT"
"""Stands for a unit that cannot be told. It is none, so GL501 speaks until somebody writes the right one."""


def wrap_leaf(context: Context, result: Result, leaf: Leaf, advised: Advice) -> Fix | None:
    """Wrap one number of a result, at the place where it is put in."""
    if not _is_own_place(context, leaf) or _is_echoed(context, result, leaf.site):
        return None
    if not leaf.keys:
        return _wrap_returned(context, result)
    here = place(context, leaf.site)
    way = way_out(context, leaf.site, leaf.keys)
    if here is None or way is None or not _is_in_container(here):
        return None
    unit = _unit(context, result, leaf, here)
    beside = _unit_written_beside(leaf, here)
    if beside is not None:
        if beside.literal is not None and unit != beside.literal:
            return None  # it is not allowed, so that the settings come first, or the key contradicts it
        joined = _joined(context, leaf, here, way, beside)
        if joined is not None:
            return joined
    if unit == PLACEHOLDER:
        unit = _allowed(context, advised.unit) or PLACEHOLDER
    wrapped = _wrapped(here, leaf.value, unit)
    retyped = _retyped(context, leaf.site, way)
    if wrapped is None or retyped is None:
        return None
    return _fix((*wrapped, *retyped), unit)


def wrap_declared(context: Context, result: Result) -> Fix | None:
    """Wrap what a callable returns that is annotated to return a number."""
    return None if _is_echoed(context, result, result.site) else _wrap_returned(context, result)


def _fix(edits: tuple[Edit, ...], unit: str) -> Fix:
    if unit == PLACEHOLDER:
        return Fix("unsafe", "Wrap it in a Quantity and leave the unit to you", edits)
    return Fix("unsafe", f"Wrap it in a Quantity in {unit}", edits)


# --- a number and the unit beside it ------------------------------------------------------------------------


class _Beside(records.Record, frozen=True):
    """The ``unit`` in the dict display of a number, which speaks of that number alone."""

    display: cst.Dict
    element: cst.DictElement
    site: Site
    literal: str | None  # the unit, where the text is known


def _unit_written_beside(leaf: Leaf, here: Place) -> _Beside | None:
    """``{"load": 5, "unit": "kW"}``, written out so, where nothing is put in later."""
    holder, key = leaf.holder, leaf.key
    element, display, *_ = here.above
    if holder is None or "unit" not in holder.entries or holder.open or holder.rest is not None:
        return None
    if not isinstance(display, cst.Dict):
        return None
    keys = literal_keys(display)
    if keys is None or keys.keys() != holder.entries.keys():
        return None
    if any(len(found) != 1 for found in holder.entries.values()):
        return None
    written = keys["unit"].value if "unit" in keys and keys.get(str(key)) is element else None
    if not isinstance(written, cst.SimpleString | cst.Name | cst.Attribute):
        return None
    entries = {name: entry for name, [entry] in holder.entries.items()}
    numbers = (n for entry in entries.values() for n in leaves(entry.value, entry.site))
    unit = entries["unit"]
    if len(list(islice(numbers, 2))) != 1 or surely_not_text(unit.value):
        return None
    literal = unit.value.literal if isinstance(unit.value, Text) else None
    return _Beside(display, keys["unit"], unit.site, literal)


def _joined(context: Context, leaf: Leaf, here: Place, way: Way, beside: _Beside) -> Fix | None:
    """Join the number and the unit beside it into one Quantity; ``None`` where somebody else needs that unit."""
    # A schema of the result may ask for the unit.
    if way.is_promised or way_out(context, beside.site, (*leaf.keys[:-1], "unit")) is None:
        return None
    kept = without(
        beside.display.elements,
        lambda element: element is beside.element,
        beside.display.rbrace.whitespace_before,
    )
    wrapped = _wrapped(here, leaf.value, here.code(beside.element.value), is_text=False)
    retyped = _retyped(context, leaf.site, way)
    if kept is None or wrapped is None or retyped is None:
        return None
    gone = here.of(beside.display).replaced(beside.display.with_changes(elements=kept))
    if gone is None:
        return None
    return Fix("unsafe", "Join it with the `unit` beside it", (*_merged(wrapped, gone), *retyped))


def _merged(inserted: tuple[Edit, ...], gone: tuple[Edit, ...]) -> tuple[Edit, ...]:
    """Both, where one edit stands for an insertion and the removal that begins there: their order would not be sure."""
    [removal] = gone
    kept = []
    for edit in inserted:
        if edit.span[2:] == removal.span[:2]:
            removal = removal._replace(content=edit.content + removal.content)
        else:
            kept.append(edit)
    return (*kept, removal)


# --- whether ------------------------------------------------------------------------------------------------


def _is_own_place(context: Context, leaf: Leaf) -> bool:
    """Whether the number, and nothing but it, is written where the finding is, in no list and no typed field."""
    if leaf.value is None or number(leaf.value) is None:
        return False
    if leaf.holder is not None and leaf.holder.cls is not None:
        declared = context.evaluator.field(leaf.holder.cls, leaf.key or "")
        if declared is not None and declared is not UNKNOWN:
            return False
    return not leaf.in_list and leaf.site not in context.listed_numbers


def _is_in_container(here: Place) -> bool:
    """Whether the expression is the value of a dict display, of a keyword or of an assignment to a key."""
    match here.above[0]:
        case cst.DictElement(value=value) | cst.Arg(value=value, star=""):
            return value is here.node
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Subscript())], value=value):
            return value is here.node
        case _:
            return False


def _is_echoed(context: Context, result: Result, site: Site) -> bool:
    """Whether it is one of the tool's own arguments, which a Quantity would turn into a claim (GL105)."""
    here = place(context, site)
    if here is None:
        return False
    function = enclosing(site.module, site.at)
    scope = function.scope if function is not None else result.callable.function.scope
    expr = here.facts()
    return expr is not None and argument_of(expr, scope, result.parameters) is not None


# --- the edits ----------------------------------------------------------------------------------------------


def _wrapped(here: Place, value: Value | None, unit: str, *, is_text: bool = True) -> tuple[Edit, ...] | None:
    """The edits that wrap the expression, where it is a number whenever it is anything.

    ``unit`` is its text, or an expression that gives it.
    """
    quote = _quote(here)
    unit = f"{quote}{unit}{quote}" if is_text else unit
    before, after = f"{{{quote}value{quote}: ", f", {quote}unit{quote}: {unit}}}"
    node = here.node
    if isinstance(node, cst.Yield | cst.Lambda | cst.StarredElement | cst.GeneratorExp | cst.Tuple):
        return None
    if isinstance(node, cst.NamedExpr):
        before, after = f"{before}(", f"){after}"
    if not isinstance(value, UnionOf):
        return here.wrapped(before, after)
    match node:
        case (
            cst.IfExp(body=cst.Name(value="None"), orelse=arm)
            | cst.IfExp(body=arm, orelse=cst.Name(value="None"))
        ):
            return here.of(arm).wrapped(before, after)
        case cst.Name(value=name):
            return here.wrapped(before, f"{after} if {name} is not None else None")
        case _:
            return None


def _quote(here: Place) -> str:
    """The quote that the keys around the expression are written with."""
    for above in here.above:
        match above:
            case cst.DictElement(key=cst.SimpleString(value=text)) if text[0] in "\"'":
                return text[0]
            case _:
                pass
    return '"'


def _retyped(context: Context, site: Site, way: Way) -> tuple[Edit, ...] | None:
    """What keeps the annotations on the way true; ``None`` where that cannot be done."""
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
            case facts.Sub(base=base, index=facts.Seq(items=(_, held))) if (
                facts.last_name(base) in DICT_GENERICS
            ):
                span = context.project.positions(site.module).span(held.at)
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
    """Whether a declared type has a number in it, where the Quantity would come to stand."""
    for option in options(declared):
        match option:
            case Number():
                return True
            case Record(rest=rest) | ListOf(rest=rest) if rest is not None and depth < 5:
                if _speaks_of_numbers(context, rest, depth + 1):
                    return True
            case Instance(of=of) if classes.is_typed_dict(context.evaluator, of):
                return True
            case _:
                pass
    return False


# --- numbers returned as such -------------------------------------------------------------------------------


def _wrap_returned(context: Context, result: Result) -> Fix | None:
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
    unit = _unit_of_callable(context, result)
    is_declared = declared is not None and number(declared) is not None
    edits: list[Edit] = []
    for other in [r for r in context.results if r.callable.function is function] if is_declared else [result]:
        if other.value is NONE:
            continue
        here = place(context, other.site)
        value = other.value if number(other.value) is not None else declared
        assert value is not None
        if here is None or _is_echoed(context, other, other.site) or _is_tools_own(context, here, function):
            return None
        if any(isinstance(o, Record | ListOf | Text) for o in options(other.value)):
            return None
        wrapped = _wrapped(here, value if value is not UNKNOWN else declared, unit)
        if wrapped is None:
            return None
        edits.extend(wrapped)
    if is_declared:
        assert isinstance(function, facts.Function) and function.returns is not None
        added = imported(context, module, function.scope, {"Any": "typing"})
        if added is None:
            return None
        edits.append(Edit(context.project.positions(module).span(function.returns.at), "dict[str, Any]"))
        edits.extend(added)
    elif isinstance(function, facts.Function) and not _takes_quantity(function.returns):
        return None
    return _fix(tuple(edits), unit)


def _takes_quantity(annotation: facts.Expr | None) -> bool:
    """Whether a function that is annotated so may return a Quantity."""
    match annotation:
        case None:
            return True
        case facts.Name() | facts.Attr():
            return facts.last_name(annotation) in _OPEN_TYPES
        case facts.Sub(base=base, index=facts.Seq(items=(_, held))):
            return facts.last_name(base) in DICT_GENERICS and facts.last_name(held) in ("Any", "object")
        case _:
            return False


def _is_tools_own(context: Context, here: Place, function: facts.Function | facts.Lambda) -> bool:
    """Whether another function of a tool returns the number, so that it is wrapped there."""
    expr = here.facts()
    called = expr.value if isinstance(expr, facts.Await) else expr
    if not isinstance(called, facts.Call):
        return False
    callee = context.evaluator.eval(called.func, Frame(here.positions.module, function.scope))
    return any(isinstance(o, FunctionOf) and is_run(context.project, where(o)) for o in options(callee))


def _is_typed_output(context: Context, result: Result) -> bool:
    """Whether the tool class says elsewhere, too, that it gives a number (smolagents)."""
    return result.tool.cls is not None and classes.class_value(result.tool.cls, "output_type") is not None


# --- the unit -----------------------------------------------------------------------------------------------


def _unit(context: Context, result: Result, leaf: Leaf, here: Place) -> str:
    """The unit of a leaf; :data:`PLACEHOLDER` where none is known."""
    if len(readings_of_name(leaf.key or "")) > 1:
        return PLACEHOLDER
    spoken = _announced(context, _spoken_name(here.node))
    if spoken is not None and contradicts(leaf.key or "", spoken):
        spoken = None
    for found in (
        _announced(context, leaf.key or ""),
        _unit_of_schema(context, result, leaf.keys),
        _unit_beside(context, leaf) or _unit_elsewhere(context, result, leaf),
    ):
        if found is not None:
            return found
    return spoken or PLACEHOLDER


def _allowed(context: Context, unit: str | None) -> str | None:
    return unit if unit is not None and context.settings.allows(unit) else None


def _announced(context: Context, name: str) -> str | None:
    """The unit that a name ends in; of emissions without a mass it is not known how they are counted."""
    unit = _allowed(context, unit_of_name(name))
    return None if unit is not None and "kgCO2e" in unit and "kg" not in name.lower() else unit


def _spoken_name(node: cst.CSTNode) -> str:
    """The name by which an expression announces its unit: of a variable, a field, a key or a function."""
    match node:
        case cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name)):
            return name
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString() as text))]):
            return str(text.evaluated_value)
        case cst.Call(func=cst.Name(value="round" | "float" | "int" | "abs"), args=[first, *_]):
            return _spoken_name(first.value)
        case cst.Call(func=func):
            return _spoken_name(func)
        case cst.Await(expression=inner):
            return _spoken_name(inner)
        case _:
            return ""


def _unit_of_schema(context: Context, result: Result, keys: tuple[Key, ...]) -> str | None:
    """What the result schema says of the number at ``keys``, in its own words."""
    tool = result.tool
    schema = read_schema(context, tool.result_schema, tool.scope) if tool.result_schema is not None else None
    node = schema.data if schema is not None and tool.module is context.module else None
    for key in keys:
        properties = node.get("properties") if isinstance(node, dict) else None
        node = properties.get(key) if isinstance(properties, dict) else None
    if not isinstance(node, dict):
        return None
    for keyword in ("unit", "units", "x-unit", "x-units"):
        if isinstance(found := node.get(keyword), str):
            return _allowed(context, found)
    texts = (node.get("description"), node.get("title"))
    return next((unit for text in texts if isinstance(text, str) and (unit := _unit_in(context, text))), None)


_WORD = re.compile(r"[^\s,;:()\[\]\"']+")
_MARKED = re.compile(r"(?:\bin\s+|[(\[]\s*|^\s*)([^\s,;:()\[\]\"']+?)\.?\s*(?=$|[)\],;:]|\s)")


def _unit_in(context: Context, text: str) -> str | None:
    """The one unit that a description names: ``"Heat in kWh"``, ``"Heat (kWh/m2)"``."""
    words = {word.rstrip(".") for word in _WORD.findall(text)}
    marked = set(_MARKED.findall(text))
    found = {w for w in words if len(w) > 2 and (w in ALLOWED_UNITS or "/" in w) and _allowed(context, w)}
    found |= {w for w in marked if w in ALLOWED_UNITS and (len(w) > 1 or not text.strip().startswith(w))}
    return found.pop() if len(found) == 1 else None


def _unit_beside(context: Context, leaf: Leaf) -> str | None:
    """``{"demand": 3.0, "unit": "kWh"}``, and ``{"min_power": <Quantity in kW>, "max_power": 3.0}``."""
    holder = leaf.holder
    if holder is None or leaf.key is None:
        return None
    for name in (f"{leaf.key}_unit", f"{leaf.key}_units", "unit", "units"):
        value = holder.get(name) if name in holder.entries else None
        if isinstance(value, Text) and value.literal is not None:
            return _allowed(context, value.literal) if name != "unit" or _is_lone(holder) else None
    if holder not in context.units_in:
        known: dict[str, dict[str | None, set[str]]] = {}
        for key, found in holder.entries.items():
            for entry in found if isinstance(key, str) else ():
                if isinstance(entry.value, Record) and "unit" in entry.value.entries:
                    like = known.setdefault(str(key).rpartition("_")[2], {})
                    like.setdefault(_literal_unit(entry.value), set()).add(str(key))
        context.units_in[holder] = known
    beside = context.units_in[holder].get(leaf.key.rpartition("_")[2], {})
    units = {unit for unit, keys in beside.items() if len(keys) > (leaf.key in keys)}
    return _allowed(context, units.pop()) if len(units) == 1 else None


def _is_lone(holder: Record) -> bool:
    """Whether one entry alone of a record is a number."""
    numbers = (k for k, found in holder.entries.items() if any(number(e.value) for e in found))
    return len(list(islice(numbers, 2))) == 1


def _unit_elsewhere(context: Context, result: Result, leaf: Leaf) -> str | None:
    """The unit of the Quantities that stand under the same key in other results of the tool."""
    if result.tool not in context.units_of_tool:
        known: dict[str | None, set[str | None]] = {}
        for other in context.results_of(result.tool):
            for held in quantities(other.value, other.site):
                known.setdefault(held.key, set()).add(_literal_unit(held.record))
        context.units_of_tool[result.tool] = known
    units = context.units_of_tool[result.tool].get(leaf.key, set())
    return _allowed(context, next(iter(units))) if len(units) == 1 else None


def _literal_unit(quantity: Value) -> str | None:
    value = quantity.get("unit") if isinstance(quantity, Record) else None
    return value.literal if isinstance(value, Text) and value.literal != PLACEHOLDER else None


def _unit_of_callable(context: Context, result: Result) -> str:
    """The unit of a number returned as such."""
    function = result.callable.function
    names = [getattr(function, "name", ""), result.tool.name or ""]
    here = place(context, result.site)
    if here is not None:
        names.append(_spoken_name(here.node))
    units = {
        unit
        for name in names
        if (unit := _announced(context, name)) and not any(contradicts(other, unit) for other in names)
    }
    for declared in (_unit_of_annotation(context, function), _unit_of_schema(context, result, ())):
        if declared is not None:
            return declared
    return units.pop() if len(units) == 1 else PLACEHOLDER


def _unit_of_annotation(context: Context, function: facts.Function | facts.Lambda) -> str | None:
    match function.returns if isinstance(function, facts.Function) else None:
        case facts.Sub(base=base, index=facts.Seq(items=(_, *extra))) if facts.last_name(base) == "Annotated":
            texts = [e.value for e in extra if isinstance(e, facts.Const) and isinstance(e.value, str)]
            return _allowed(context, texts[0]) or _unit_in(context, texts[0]) if len(texts) == 1 else None
        case facts.Name() | facts.Attr() as named:
            return _announced(context, facts.last_name(named))
        case _:
            return None
