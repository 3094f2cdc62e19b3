"""What to do about a number in a result: the help of a finding, and what its fix writes."""

from __future__ import annotations

import builtins
import json
import re
from typing import TYPE_CHECKING

from gllint_rules.inference.values import NONE, Interpolation, Site, Value, options
from gllint_rules.project.context import Context
from gllint_rules.project.kinds import allowing, kind_of_leaf, list_line
from gllint_rules.project.makers import maker_at, names_of, text_at
from gllint_rules.project.results import Leaf, Result
from gllint_rules.project.unit_sources import (
    Neighbour,
    ShownUnit,
    UnitSource,
    symbol_of,
    unit_behind,
    unit_of_leaf,
    unit_of_returned,
)
from gllint_rules.reading import facts
from gllint_rules.reading.expression_index import parts_of
from gllint_rules.reading.sections import read_annotation
from gllint_rules.tools.parameters import argument_of, function_at
from gllint_rules.tuples import NamedTuple
from gllint_runtime.policy.kinds import Kind
from gllint_runtime.policy.names import name_words

if TYPE_CHECKING:
    from gllint_runtime.policy.settings import Policy

_SHOWN = 32
_UNIT_WORDS = frozenset({"unit", "units", "currency"})
_LONGEST_KEY = 100
_NUMBER = "<number>"
_OPEN = "<unit>"
_NEEDS_ONE = "which needs a unit because of `strict` or `plain-kinds`"


class Advice(NamedTuple):
    """The repair of a number: return it as a Quantity in ``unit``, or declare its key ``plain``.

    ``unit`` is None if it is unknown. ``neighbour`` is the entry next to the number that says the unit, if there is
    one. ``settings`` are the lines of configuration that the repair needs. ``text`` is the help.
    """

    kind: Kind | None
    unit: str | None
    neighbour: Neighbour | None
    settings: tuple[str, ...]
    plain: str | None
    text: str

    def writable_unit(self, policy: Policy) -> str | None:
        """Return the unit that a fix may write: one that the code shows and the policy allows; else None."""
        return self.unit if self.unit is not None and policy.allows(self.unit) else None


class _Number(NamedTuple):
    """The code of a number in a help. ``before`` and ``after`` keep a None: ``load``, "", ``if load is not None …``."""

    code: str
    before: str = ""
    after: str = ""

    def wrapped(self, unit: str) -> str:
        """Return the code of the Quantity that replaces the number. ``unit`` is code, too: ``"kWh"`` with quotes."""
        code = f"({self.code})" if ":=" in self.code else self.code  # which a dict takes in parentheses alone
        return f'{self.before}{{"value": {code}, "unit": {unit}}}{self.after}'


def _number_code(context: Context, site: Site, value: Value) -> _Number:
    """Return the code of the number at ``site``. If ``value`` may be None, the repaired code keeps that."""
    code = text_at(context.project, site)
    if not any(option is NONE for option in options(value)):
        return _Number(_shortened(code))
    maker = maker_at(site)
    match maker.expr if maker is not None else None:
        case facts.IfExp(body=facts.Const(value=None), orelse=arm):
            inner = text_at(context.project, Site(site.module, arm.at))
            before, _, after = code.rpartition(inner)
        case facts.IfExp(body=arm, orelse=facts.Const(value=None)):
            inner = text_at(context.project, Site(site.module, arm.at))
            before, _, after = code.partition(inner)
        case _:
            number = _shortened(code)
            return _Number(number, "", f" if {'…' if number == _NUMBER else number} is not None else None")
    around = before + after
    if len(around) > _LONGEST_KEY or not around.isprintable() or "`" in around:
        before, after = "", " if … else None"
    return _Number(_shortened(inner), before, after)


def advice_for_leaf(
    context: Context, result: Result, leaf: Leaf, kind: Kind | None, declared: str = ""
) -> Advice:
    """Return the repair of a number in a result.

    ``declared`` is a sentence about an annotation that must change, too, or "". Whoever follows the repair and makes
    its settings gets no other finding.
    """
    policy = context.policy
    key = leaf.key if leaf.is_named else None
    number = _number_code(context, leaf.site, leaf.value) if leaf.value is not None else _Number(_NUMBER)
    argument = echoed_argument(context, result, leaf.site) if leaf.value is not None else None
    if argument is not None:
        return _echoed(policy, kind, key, argument)
    if key and kind is not None and _is_plain(policy, kind):
        return _plain(policy, kind, key)
    unit = unit_of_leaf(context, result, leaf, kind)
    if unit.neighbour is not None and leaf.what == "number" and leaf.key is not None:
        return _joined(policy, kind, leaf, number, unit, declared)
    return _wrapped(
        policy,
        kind,
        key,
        number,
        unit,
        declared,
        in_list=leaf.in_list,
        what=leaf.what,
    )


def advice_for_returned(context: Context, result: Result, declared: str) -> Advice:
    """Return the repair of what a callable returns that is annotated to return a number."""
    argument = echoed_argument(context, result, result.site)
    if argument is not None:
        return _echoed(context.policy, None, None, argument)
    number = _number_code(context, result.site, result.value)._replace(code=_NUMBER)
    return _wrapped(context.policy, None, None, number, unit_of_returned(context, result), declared)


def advice_for_declaration(kind: Kind | None, declaration: str) -> Advice:
    """Return the repair for a Quantity that an annotation calls a number: correct that ``declaration``."""
    return Advice(kind, None, None, (), None, f"The value is already a Quantity. {declaration}.")


def unit_filled_in(context: Context, hole: Interpolation | None) -> str | None:
    """Return the code of the unit that a hole fills in: "unit" for ``f"{load:.1f} {unit}"``; None for no unit.

    ``hole`` is the one that follows a number.
    """
    code = "".join((text_at(context.project, hole.site), *hole.path)) if hole is not None else ""
    words = name_words(hole.field) if hole is not None and hole.field else name_words(code)
    if _UNIT_WORDS.isdisjoint(words):
        return None
    return code if _shortened(code) == code else _quoted(_OPEN)


def quantity_beside_text(
    context: Context,
    result: Result,
    leaf: Leaf,
    hole: Interpolation | None = None,
    texts: tuple[str, str] = ("", ""),
    unit_code: str | None = None,
) -> tuple[str | None, str]:
    """Return the code of a number in a text, None if it is too long, and a help: return it next to the text.

    The number is the expression at the site of ``leaf``, or the part of it that the ``hole`` in the text names.
    ``texts`` precede and follow the number, ``unit_code`` the code of a unit that is filled in there.
    """
    path = hole.path if hole is not None else ()
    code = text_at(context.project, leaf.site)
    number = _shortened("".join((code, *path)) if code else "")
    name_in_message = number if number != _NUMBER else None
    if hole is not None and path:
        # The site is that of the value with the number in it.
        leaf = leaf._replace(key=hole.field, value=None)
    else:
        leaf = leaf._replace(site=number_site(leaf.site))
        number = _shortened(text_at(context.project, leaf.site))
        maker = maker_at(leaf.site)
        name = names_of(maker.expr)[0] if maker is not None and leaf.key is None else ""
        leaf = leaf._replace(key=leaf.key or (name if not hasattr(builtins, name) else None) or None)
    policy = context.policy
    unit = unit_behind(policy, texts[1], _names_in(leaf), texts[0])
    if unit is None:
        unit = unit_of_leaf(context, result, leaf, kind_of_leaf(leaf)).unit
    lines: tuple[str, ...] = ()
    if unit is not None:
        unit = symbol_of(policy, unit) or unit
        lines = () if policy.allows(unit) else (allowing(policy, unit),)
    key = leaf.key if leaf.key is not None and _is_shown(leaf.key) else "<name>"
    if unit_code is not None:
        unit, lines = None, ()
    entry = f"{_quoted(key)}: {_Number(number).wrapped(unit_code or _quoted(unit or _OPEN))}"
    with_settings = f", and set `{lines[0]}` in the configuration" if lines else ""
    return name_in_message, f'Also return it as a Quantity: `{{"text": …, {entry}}}`{with_settings}.'


def _names_in(leaf: Leaf) -> list[str]:
    """Return the key of a number and the names in its expression: ``hours / 24`` is a time, whatever its key says.

    The name of an object says nothing about its attributes: ``route.time`` is no length.
    """
    maker = maker_at(leaf.site)
    parts = [*parts_of(maker.expr)] if maker is not None else []
    owners = {id(part.base) for part in parts if isinstance(part, facts.Attr)}
    names = [name for part in parts if id(part) not in owners for name in names_of(part)]
    return [name for name in (leaf.key, *names) if name]


def number_site(site: Site) -> Site:
    """Return the place of the number that becomes a text at ``site``: the ``x`` of ``str(x)``."""
    maker = maker_at(site)
    match maker.expr if maker is not None else None:
        case facts.Call(func=facts.Name(id="str"), args=(number,), keywords=()) if not isinstance(
            number, (facts.Star, facts.Comp)
        ):
            return Site(site.module, number.at)
    return site


def plain_advice(policy: Policy, kind: Kind | None, key: str) -> Advice | None:
    """Return how to declare that a key needs no unit, None if its kind is one that needs a unit."""
    return _plain(policy, kind, key) if kind is not None and _is_plain(policy, kind) else None


def _is_plain(policy: Policy, kind: Kind) -> bool:
    """Return whether numbers of a kind need no unit. Counts need one if `plain-kinds` omits them."""
    return kind != "count" or kind in policy.plain_kinds


def echoed_argument(context: Context, result: Result, site: Site) -> str | None:
    """Return the name of the tool's own argument that the expression at ``site`` is; None if it is something else."""
    if not result.parameters:
        return None
    text = text_at(context.project, site)
    expr = read_annotation(f"({text}\n)", site.at) if text else None
    function = function_at(site.module, site.at)
    scope = function.scope if function is not None else result.callable.function.scope
    return argument_of(expr, scope, result.parameters) if expr is not None else None


# --- the words -----------------------------------------------------------------------------------------------


def _echoed(policy: Policy, kind: Kind | None, key: str | None, argument: str) -> Advice:
    """Return the repair of a number that repeats an argument of the tool."""
    start = f"The tool returns its own argument `{argument}`"
    if not key:
        text = f"{start}, which the caller already knows: return a number that the tool computes or looks up."
        return Advice(kind, None, None, (), None, text)
    pattern = _pattern(key)
    line = list_line("plain-keys", policy.plain_keys, pattern)
    text = f"{start}: leave it out of the result, or, if it needs no unit, set `{line}`."
    return Advice(kind, None, None, (line,), pattern, text)


def _plain(policy: Policy, kind: Kind, key: str) -> Advice:
    """Return the advice to declare a key in `plain-keys`."""
    pattern = _pattern(key)
    line = list_line("plain-keys", policy.plain_keys, pattern)
    article = "a" if kind == "count" else "an"
    name = f"`{key}`" if _is_shown(key) else "It"
    text = f"{name} is {article} {kind} and needs no unit: set `{line}`."
    if kind not in policy.plain_kinds:
        text = f"{name} is {article} {kind}, {_NEEDS_ONE}. To leave it without one, set `{line}`."
    return Advice(kind, None, None, (line,), pattern, text)


def is_misnamed_quantity(leaf: Leaf, neighbour: Neighbour) -> bool:
    """Return whether a record is a Quantity except for the key of its unit: `{"value": 5, "units": "kW"}`."""
    return (
        leaf.key == "value" and leaf.holder is not None and {*leaf.holder.entries} == {"value", neighbour.key}
    )


def _joined(
    policy: Policy, kind: Kind | None, leaf: Leaf, number: _Number, measure: ShownUnit, declared: str
) -> Advice:
    """Return the repair of a number whose unit is next to it: join the two in a Quantity."""
    neighbour, key = measure.neighbour, leaf.key
    assert neighbour is not None and key is not None
    literal = neighbour.literal
    unit = _quoted(literal) if literal is not None else neighbour.expression
    quantity = number.wrapped(unit or _OPEN)
    entry = f"{_quoted(key)}: {quantity}" if _is_shown(key) else quantity
    start = f"Put the number and the `{neighbour.key}` next to it into one Quantity: `{entry}`"
    if is_misnamed_quantity(leaf, neighbour):
        start = f"A Quantity calls its unit `unit`: `{quantity}`"
    lines: tuple[str, ...] = ()
    meant = ""
    if literal is not None and not policy.allows(literal):
        symbol = symbol_of(policy, literal)
        if symbol is None or symbol == literal:
            lines = (allowing(policy, literal),)
        else:
            meant = f"Did you mean `{symbol}`?"
    return _advised(kind, literal, neighbour, lines, start, declared, meant)


def _wrapped(
    policy: Policy,
    kind: Kind | None,
    key: str | None,
    number: _Number,
    measure: ShownUnit,
    declared: str,
    *,
    in_list: bool = False,
    what: str = "number",
) -> Advice:
    """Return the repair that puts a number, or each number of a container, into a Quantity."""
    unit = measure.unit
    lines: list[str] = []
    if unit is not None:
        unit = symbol_of(policy, unit) or unit
        if not policy.allows(unit):
            lines.append(allowing(policy, unit))
    is_strict_count = kind == "count" and kind not in policy.plain_kinds and not measure.sources
    if unit is None and is_strict_count and "counts" not in policy.packs:
        lines.append(list_line("unit-packs", policy.packs, "counts"))
    reach = ""
    if in_list and not policy.array_paths and policy.mode != "sourced":
        lines.append("array-paths = true")
        reach = "`array-paths` lets a claim refer to a number in a list."
    is_single = what in ("number", "element")
    quantity = number.wrapped(_quoted(unit or _OPEN))
    if what == "set of numbers":  # a dict cannot be an element of a set
        start = f"Return a list of Quantities instead: `[{quantity}, …]`"
    else:
        start = f"Return {'a Quantity' if is_single else 'each number as a Quantity'}: `{quantity}`"
    by_key = why_open = ""
    is_plain_count = is_single and kind == "count" and "count" in policy.plain_kinds
    if unit is None and key is None and is_plain_count and not measure.sources:
        by_key = "Or return the number under a key such as `count`, where a count needs no unit."
    elif unit is None and is_strict_count:
        why_open = f"It is a count, {_NEEDS_ONE}. Use `count` or the name of what is counted, such as `item`."
    elif unit == "count" and kind == "count":
        why_open = f"It is a count, {_NEEDS_ONE}."
    elif unit is None:
        why_open = _why_open(policy, measure, key)
    return _advised(kind, unit, None, tuple(lines), start, reach, by_key, declared, why_open)


def _why_open(policy: Policy, unit: ShownUnit, key: str | None) -> str:
    """Return why no unit is named, and where one may be declared."""
    setting = policy.unit_declared(key, "", "")
    if setting is not None:
        symbol = symbol_of(policy, setting)
        meant = f" Did you mean `{symbol}`?" if symbol not in (None, setting) else ""
        return f"The setting `units` says `{_shortened(setting)}`, which is not an allowed unit.{meant}"
    match unit.sources:
        case ():
            reason = "gllint found no unit in the code."
            if not key or not _is_shown(key):
                return reason
            line = f'units = {{{_quoted(_pattern(key))} = "{_OPEN}"}}'
            return f"{reason} If you cannot change the code, set `{line}` in the configuration."
        case (UnitSource(where, units),):
            use = "use that unit if it is" if len(units) == 1 else "use the one that is"
            return f"{_capital(where)} suggests {_either(units)}: {use} right."
        case (first, second, *_):
            return (
                f"The unit is unclear: {first.where} says {_either(first.units)}, "
                f"but {second.where} says {_either(second.units)}."
            )
    raise AssertionError


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _either(units: tuple[str, ...]) -> str:
    return " or ".join(f"`{unit}`" for unit in units)


def _advised(
    kind: Kind | None,
    unit: str | None,
    neighbour: Neighbour | None,
    lines: tuple[str, ...],
    start: str,
    *sentences: str,
) -> Advice:
    """Return the repair whose help is ``start``, the settings that it needs, and then the ``sentences``."""
    with_settings = (
        f", and set {' and '.join(f'`{line}`' for line in lines)} in the configuration" if lines else ""
    )
    text = " ".join([f"{start}{with_settings}.", *filter(None, sentences)])
    return Advice(kind, unit, neighbour, lines, None, text)


def _pattern(key: str) -> str:
    """Return the pattern for ``key`` in `plain-keys`: ``user_id`` → ``*_id``, another key → the key, escaped."""
    if key.endswith("_id") and len(key) > 3:
        return "*_id"
    return re.sub(r"([*?\[])", r"[\1]", key)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _is_shown(key: str) -> bool:
    """Return whether a key can be part of a sentence."""
    return len(key) <= _LONGEST_KEY and key.isprintable() and "`" not in key


def _shortened(text: str) -> str:
    """Return the code of an expression if it is short or a name; else the placeholder ``<number>``."""
    most = _LONGEST_KEY if text.replace(".", "_").isidentifier() else _SHOWN
    return text if 0 < len(text) <= most and text.isprintable() and "`" not in text else _NUMBER
