"""A tool returns a number without a unit.

## What it does

Reports each number in a tool's result that is not the `value` of a Quantity (`{"value": 12.5, "unit": "kWh"}`). gllint
follows values through variables, containers and functions of the project. If it cannot tell that a value is a number,
it reports nothing.

gllint reports each number separately, at the place where the code puts it into the result: a dict value, a list
element, the returned expression or an argument of a model. This place may be in a helper in another file. If the keys
or elements of a container are unknown, the whole container is one finding ("a dict of numbers"). A table of numbers in
a constant is one finding, reported where the tool returns it.

If a tool returns a container as text (`json.dumps(x)`, `model.model_dump_json()`, `yaml.dump(x)`, `str(x)`), gllint
checks it as if the tool had returned the container itself. The same is true of text in a content block.

Counts, indexes and identifiers need no unit by default. A calculator is not reported either: a tool such as `add(a, b)`
that only does arithmetic with generically named parameters (`a`, `x`, `value`).

## Why is this bad?

A bare number has no unit, so in claims mode no message can cite the number. The model may read kilowatt-hours as
megawatt-hours, and no one notices.

## Bad

```python
from agents import function_tool


@function_tool
def heat_loss(area: float, u_value: float, delta: float) -> dict:
    watts = area * u_value * delta
    return {"heat_loss": watts}
```

## Good

```python
from agents import function_tool


@function_tool
def heat_loss(area: float, u_value: float, delta: float) -> dict:
    watts = area * u_value * delta
    return {"heat_loss": {"value": watts, "unit": "W"}}
```

## How to fix

Return `{"value": number, "unit": "…"}` in place of the number. The help of the finding names a unit if the source shows
one. Otherwise the help says `<unit>`, and there is no fix. If the unit must first be allowed, the help names the
setting `unit-packs` or `extend-units`. If the tool returns one of its arguments unchanged, leave the argument out of
the result. For numbers in a list, set `array-paths`, or give each number a key.

The fix is unsafe, because code that reads the result then gets a Quantity instead of a number. If code of the project
reads the key or the result, there is no fix, and the help names up to two of these places.

## Options

- `tool-classes`, `tool-decorators` and `tool-methods` define tools
- `result-payloads` names the fields that contain the result, if a tool wraps it in an envelope
- `plain-keys` lists patterns of keys whose numbers need no unit (`["*_id", "page"]`)
- `plain-kinds` lists kinds of number that need no unit (default: `["count", "index", "identifier"]`)
- `mode`: in `sourced` mode, a number is reported only if nothing shows its unit

## References

GreenLang's requirements DOC-601 and INTL-103: "Define a Tool with Quantity Output".
"""

from __future__ import annotations

from collections.abc import Iterator

from gllint_rules.fixes import repair
from gllint_rules.inference import functions
from gllint_rules.inference.classes import field_unit
from gllint_rules.inference.declarations import declared_unit
from gllint_rules.inference.values import NONE, UNKNOWN, Frame, Number, Record, Site, number, options
from gllint_rules.project.advice import advice_for_declaration, advice_for_leaf, advice_for_returned
from gllint_rules.project.calculators import is_calculated
from gllint_rules.project.context import Context, Pending
from gllint_rules.project.kinds import is_plain_leaf, kind_of_leaf
from gllint_rules.project.makers import maker_at
from gllint_rules.project.results import Leaf, Result, is_quantity, leaves
from gllint_rules.project.schemas import declared_keys
from gllint_rules.project.sourced import is_sourced
from gllint_rules.reading import facts
from gllint_rules.rule import Rule
from gllint_runtime.policy.settings import Policy


def check(context: Context) -> Iterator[Pending]:
    """Yield a finding for each number in a result: ``{"heat": x}``; and for ``return y`` in a function ``-> float``."""
    for result in context.results:
        if is_calculated(context, result):  # of a calculator: `add(a, b)`
            continue
        has_leaf = False
        for leaf in leaves(result.value, result.site):
            has_leaf = True
            if not _needs_no_quantity(context, result, leaf):
                yield _leaf_finding(context, result, leaf)
        # The annotation shows that an unknown value is a number.
        declared = _declared_number(context, result) if not has_leaf and result.value is not NONE else None
        if declared is not None and not is_sourced(context, result, None):
            yield _annotation_finding(context, result, declared)


def _needs_no_quantity(context: Context, result: Result, leaf: Leaf) -> bool:
    """Return whether a number needs no Quantity: it is a count or the like, or its unit is declared elsewhere."""
    return (
        is_plain_leaf(leaf, context.policy)
        or leaf.is_of_shape(context.policy)
        or leaf.keys in declared_keys(context, result.tool)
        or _has_declared_unit(context, result, leaf)
        or _is_declared_by_settings(context.policy, result, leaf)
        or is_sourced(context, result, leaf)
    )


def _leaf_finding(context: Context, result: Result, leaf: Leaf) -> Pending:
    """Return the finding for a number that the source shows in a result."""
    kind = kind_of_leaf(leaf)
    declaration = _declaration(context, result, leaf)
    if declaration and _is_quantity_at(context, leaf.site):  # only the declaration is wrong
        advised = advice_for_declaration(kind, declaration)
    else:
        advised = advice_for_leaf(context, result, leaf, kind, _too(declaration))
    is_fixable = advised.neighbour or advised.writable_unit(context.policy)
    return context.found_in(
        result,
        "GL101",
        leaf.site,
        "",
        advised.text,
        repair("wrap", "wrap_leaf", context, result, leaf, advised) if is_fixable else None,
        leaf.number.because,
        key=leaf.key,
        what=leaf.what,
        kind=kind,
        settings=advised.settings,
    )


def _annotation_finding(context: Context, result: Result, declared: Number) -> Pending:
    """Return the finding for a result that only the return annotation shows to be a number."""
    declaration = _declaration(context, result, None)
    if declaration and _is_quantity_at(context, result.site):
        advised = advice_for_declaration(None, declaration)
    else:
        advised = advice_for_returned(context, result, _too(declaration))
    is_fixable = advised.writable_unit(context.policy) is not None
    fix = repair("wrap", "wrap_declared", context, result, advised) if is_fixable else None
    return context.found_in(result, "GL101", result.site, "", advised.text, fix, declared.because)


def _has_declared_unit(context: Context, result: Result, leaf: Leaf) -> bool:
    """Return whether a field or a return annotation declares an allowed unit for a number."""
    model = leaf.holder.of if leaf.holder is not None else None
    unit: str | None = None
    if model is not None and leaf.key is not None:
        unit = field_unit(context.evaluator, model, leaf.key)
    elif not leaf.keys and isinstance(function := result.callable.function, facts.Function):
        unit = declared_unit(context.evaluator, function.returns, None, result.callable.home)
    return unit is not None and context.policy.allows(unit)


def _is_declared_by_settings(policy: Policy, result: Result, leaf: Leaf) -> bool:
    """Return whether the setting `units` gives a number an allowed unit."""
    if not policy.units or leaf.what != "number":
        return False
    path = "".join(f".{key}" for key in leaf.keys)
    unit = policy.unit_declared(leaf.key if leaf.is_named else None, result.tool.name or "", f"${path}")
    return unit is not None and policy.allows(unit)


def _is_quantity_at(context: Context, site: Site) -> bool:
    """Return whether the expression at a place is surely a Quantity, although an annotation says a number."""
    maker = maker_at(site)
    if maker is None:
        return False
    value = context.evaluator.eval(maker.expr, Frame(site.module, maker.scope))
    return all(isinstance(option, Record) and is_quantity(option) for option in options(value))


def _too(declaration: str) -> str:
    """Return a declaration as the second sentence of a help: "Declare …" → "Also declare ….", "" → ""."""
    return f"Also {declaration[0].lower()}{declaration[1:]}." if declaration else ""


def _declaration(context: Context, result: Result, leaf: Leaf | None) -> str:
    """Return which declaration must change with the number: "Change the return annotation of `heat` to match".

    Empty if none must. ``leaf`` is ``None`` if the result itself is the number.
    """
    holder = leaf.holder.of if leaf is not None and leaf.holder is not None else None
    if leaf is not None and leaf.key is not None and holder is not None:
        declared = context.evaluator.field(holder, leaf.key)
        if declared is not None and declared is not UNKNOWN:
            return f"Declare the field `{leaf.key}` of `{holder.cls.name}` as a Quantity"
    function = result.callable.function
    if not isinstance(function, facts.Function) or function.yields or function.returns is None:
        return ""
    returned = functions.declared_return(context.evaluator, result.callable)
    if returned is None or next(leaves(returned, result.site), None) is None:
        return ""
    return f"Change the return annotation of `{function.name}` to match"


def _declared_number(context: Context, result: Result) -> Number | None:
    """Return the number that the return annotation of the tool's function declares, None if it declares none."""
    function = result.callable.function
    if not isinstance(function, facts.Function) or function.yields:
        return None
    declared = functions.declared_return(context.evaluator, result.callable)
    return number(declared) if declared is not None else None


RULE = Rule(
    code="GL101",
    name="raw-number-in-result",
    summary="A tool returns a number without a unit",
    documentation=__doc__ or "",
    check=check,
    fix="unsafe",
    options=(
        "tool-classes",
        "tool-decorators",
        "tool-methods",
        "result-payloads",
        "plain-keys",
        "plain-kinds",
        "mode",
    ),
)
