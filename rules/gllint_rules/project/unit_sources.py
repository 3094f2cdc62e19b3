"""Find the unit of a number in a result: next to it, in a name, in a declaration, or by the function that makes it.

One answer for the help and for the fix. Where several places say a unit they must agree; where none does, or one of
them can be read in two ways, the unit stays unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from itertools import islice, repeat

from gllint_rules.inference import classes
from gllint_rules.inference.declarations import DECLARING, unit_of_call
from gllint_rules.inference.values import (
    ClassOf,
    Container,
    Entry,
    Frame,
    Instance,
    Record,
    Text,
    literal_of,
    options,
    surely_not_number,
    surely_not_text,
)
from gllint_rules.project.context import Context
from gllint_rules.project.kinds import kind_of_leaf, reading_of
from gllint_rules.project.makers import (
    Maker,
    agreed,
    cores,
    fixed_unit,
    is_call,
    maker_at,
    names_of,
    text_at,
    title,
    variable,
)
from gllint_rules.project.results import Leaf, Result, leaves
from gllint_rules.project.schemas import read_schema
from gllint_rules.reading import facts
from gllint_rules.reading.expression_index import expressions_in, parts_of
from gllint_rules.tools.parameters import function_at
from gllint_rules.tuples import NamedTuple
from gllint_runtime.policy.kinds import Kind
from gllint_runtime.policy.names import (
    NameReading,
    is_rescaled,
    name_words,
    quantity_named,
    read_name,
    says_dimension,
)
from gllint_runtime.policy.packs import PACKS
from gllint_runtime.policy.settings import Policy
from gllint_runtime.policy.unit_expressions import MAX_LENGTH
from gllint_runtime.policy.unit_spellings import as_listed, counted_measure, spelling_of
from gllint_runtime.policy.unit_table import units_of
from gllint_runtime.policy.units import is_same_size, unit_dimension

NEIGHBOURS = ("unit", "units", "unit_of_measurement", "currency")
"""The keys under which the unit of a number is next to it."""

# Names of unknown values that most likely are numbers, so that a unit next to one may be its own.
_NUMBER_WORDS = frozenset(
    {"value", "amount", "reading", "measurement", "result", "total", "sum", "average", "avg", "mean", "level"}
)
_MOST_NAMES = 8
_HUNDREDS = (100, 0.01, 10_000, 1_000)
_PERCENT = re.compile(r"pct|perc|rate|100", re.IGNORECASE)
_MOST_TEXT = 20_000
_MOST_EXPRESSIONS = 2_000  # of a function among which those are looked for that show a number
_MULTIPLIERS = frozenset("kKMBTG")
# A unit is only a part of what goes on so, or of a substance that is divided: "Pa·s", "kg CO2/MWh".
_GOES_ON = re.compile(
    r"\.[^\W\d_]|[\w/*^·⋅×-]|[ \u00a0](?:[^\W\d_]\w*(?:/| per )|(?:an?|each|every|points?|pts|pp)\b)"
)
_NEXT_WORD = re.compile(r"[ \u00a0]([^\W\d_]+)")
# A letter in brackets directly behind a word is no unit: "O2(g)". A bracket ends the phrase, or its thing follows.
_SAID = re.compile(
    r"(?!(?<=\w)\(\w\))\(\s*(?:in\s+)?(?P<bracket>[^\s()]+(?: per [^\s()]+)?)\s*\)"
    r"(?=\W*$|\s*[^\w\s/*^·⋅×(]| (?:of|for|or) (?!an?\b|each|every|one|\d))"
    r"|\bin (?P<end>[^\s()]+)\.?\s*$"
)
_SENTENCE = re.compile(r"(?<=[\w)])[.;]\s+")
_WORD = re.compile(r"[^\W\d_]{2,}")
_THOUSANDS = re.compile(r"(?<![\d.,])1[.,]?000")
_NEGATIONS = frozenset({"not", "without"})
# What is written like the symbol of a unit or like a currency: "EUR", "kWh", "20%".
_SYMBOLS = re.compile(
    r"\b[A-Z]{3}\b|\b[A-Za-z]{1,2}[A-Z]\w*(?:/\w+)*|%|(?:(?<=\bin )|(?<=\b1 ))[^\s()]+(?<![.,;:])"
)
# The same anywhere in a description; a single letter is no unit there, and a name is one where it is in the plural.
_MENTIONED = re.compile(
    r"\(\s*(?:in\s+)?(?P<bracket>[^\s()]{1,30}(?: per [^\s()]{1,30})?)\s*[),;]"
    r"|\bin (?:whole )?(?P<behind>[^\s()]{3,30})|\b(?P<plural>[a-z]{4,20}s)\b"
)


class Neighbour(NamedTuple):
    """The entry next to a number that says its unit: a ``literal``, or the ``expression`` that gives it."""

    key: str
    entry: Entry
    literal: str | None
    expression: str | None


class UnitSource(NamedTuple):
    """A place that says a unit, in words, with the units that it may mean. If not sure, it can only contradict."""

    where: str
    units: tuple[str, ...]
    is_sure: bool = True


class ShownUnit(NamedTuple):
    """The unit of a number, None if unknown; the ``neighbour`` that says it, if any; and all ``sources`` of units."""

    unit: str | None
    neighbour: Neighbour | None
    sources: tuple[UnitSource, ...]


OPEN = ShownUnit(None, None, ())
_FRACTION = UnitSource("the expression", ("ratio",))


def unit_of_leaf(context: Context, result: Result, leaf: Leaf, kind: Kind | None) -> ShownUnit:
    """Return the unit that the source shows of a number in a result."""
    neighbour, sources = _in_output(context, result, leaf, kind)
    ways = [*_ways(leaf)] if leaf.value is not None else []
    if ways:
        sources += _expression_sources(leaf, ways, kind, "count" in context.policy.plain_kinds)
        sources += _shown_behind(context, leaf, ways)
    if not leaf.keys:
        sources += _named_by_callable(context, result)
    if any("%" in source.units for source in sources) and _is_no_percentage(leaf, ways):
        sources.append(_FRACTION)
    if neighbour is not None and neighbour.expression is not None:
        return ShownUnit(None, neighbour, ()) if not sources else _agreed(sources, None)
    if neighbour is not None:
        assert neighbour.literal is not None
        sources.insert(0, UnitSource(f"the `{neighbour.key}` next to it", (neighbour.literal,)))
    return _agreed(sources, neighbour)


def is_unit_in_output(context: Context, result: Result, leaf: Leaf) -> bool:
    """Return whether a result itself, or its declaration, says the unit of a number: what the runtime can see of it.

    The name of a variable is not in the output, so it is no answer here.
    """
    from gllint_runtime.provenance.keys import units_of_key  # its tables load slowly, and few runs need them

    neighbour, sources = _in_output(context, result, leaf, kind_of_leaf(leaf))
    if neighbour is not None:
        return True
    if leaf.value is not None:
        sources += _shown_behind(context, leaf, [*_ways(leaf)])
    if not sources and leaf.is_named and leaf.key is not None:
        units, _ = units_of_key(leaf.key)
        sources = [UnitSource(leaf.key, units)] if units else []
    return _agreed([source._replace(is_sure=True) for source in sources], None).unit is not None


def is_unit_declared(context: Context, result: Result) -> bool:
    """Return whether the result schema says the unit of a bare number that a callable returns."""
    return any(_declared_at(context, result, ()))


def _in_output(
    context: Context, result: Result, leaf: Leaf, kind: Kind | None
) -> tuple[Neighbour | None, list[UnitSource]]:
    """Return the unit next to a number, and the units that its key and its declarations say."""
    key = leaf.key if leaf.is_named else None
    neighbour = _neighbour(context, leaf, key, kind) if key is not None else None
    return neighbour, [*_named_by_key(leaf), *_declared(context, result, leaf)]


def unit_of_returned(context: Context, result: Result) -> ShownUnit:
    """Return the unit that the source shows of what a callable returns as a bare number."""
    sources = [*_named_by_callable(context, result), *_declared_at(context, result, ())]
    maker = maker_at(result.site)
    if maker is not None:
        sources += _named_by_expression(maker)
        if any("%" in source.units for source in sources) and _is_fraction(maker):
            sources.append(_FRACTION)
    return _agreed(sources, None)


def _agreed(sources: list[UnitSource], neighbour: Neighbour | None) -> ShownUnit:
    """Return the unit on which all ``sources`` agree, if it is one unit and one of the sources is sure."""
    if not sources:
        return OPEN
    first, *rest = dict.fromkeys(sorted(sources, key=lambda source: not source.is_sure))
    common = [unit for unit in first.units if all(any(_same(unit, o) for o in s.units) for s in rest)]
    is_one = bool(common) and all(
        _same(common[0], unit) for unit in common[1:]
    )  # `MMBtu` and `MMBTU` are one
    return ShownUnit(
        common[0] if is_one and first.is_sure else None, neighbour if is_one else None, (first, *rest)
    )


def _same(first: str, second: str) -> bool:
    # One unit with two spellings: `MMBtu` and `MMBTU`, `year` and `years`, never `MW` and `mW`.
    if is_same_size(first, second) and (first.casefold() == second.casefold() or _is_settled_by_size(first)):
        return True
    return symbol_of(Policy(), first) == symbol_of(Policy(), second)


def _is_settled_by_size(unit: str) -> bool:
    """Return whether units of the same size are the same unit: `m3/h` and `m3/hr`, but not `Hz` and `Bq`."""
    dimension = Policy(packs=PACKS).judge(unit).dimension or ""
    return {"time", "length", "area", "volume", "mass", "data"}.issuperset(dimension.split("/"))


def symbol_of(policy: Policy, unit: str) -> str | None:
    """Return the symbol of a unit in the allowlist or a pack ("kwh" → "kWh"), None if neither has it."""
    every = policy._replace(packs=PACKS)  # what is right already is not checked for each number
    if policy.allows(unit) or every.allows(unit):
        return unit
    nearest = every.judge(unit).nearest
    return nearest if nearest is not None and every.allows(nearest) else None


# --- next to it -----------------------------------------------------------------------------------------------


def _neighbour(context: Context, leaf: Leaf, key: str, kind: Kind | None) -> Neighbour | None:
    """Return the entry next to a number that says its unit, None if there is none or it may belong to another."""
    holder = leaf.holder
    if holder is None or kind is not None or read_name(key).is_scaled:
        return None
    for name in (f"{key}_unit", f"{key}_units"):
        if name in holder.entries:
            return _unit_in(context, holder, name)
    present = [name for name in NEIGHBOURS if name in holder.entries and name != key]
    if len(present) > 1 and "currency" in present:  # `unit` says per what a price or load is
        is_money = quantity_named(name_words(key)[-1]) == "currency" if name_words(key) else False
        present = ["currency"] if is_money else [name for name in present if name != "currency"]
    if len(present) != 1 or key not in _numbers_without_unit(context, holder):
        return None
    unit = _unit_in(context, holder, present[0])
    if unit is None or (unit.literal is not None and _contradicts(context.policy, key, unit.literal)):
        return None
    return unit


def _unit_in(context: Context, holder: Record, name: str) -> Neighbour | None:
    """Return the entry under ``name`` as a unit; None if it is not one, or has several values."""
    if len(holder.entries[name]) != 1:
        return None
    [entry] = holder.entries[name]
    literal = literal_of(entry.value)
    if literal is not None:
        return Neighbour(name, entry, literal, None) if _may_be_unit(literal) else None
    if isinstance(entry.value, Text) or surely_not_text(entry.value):
        return None
    code = text_at(context.project, entry.site)
    is_short = code and len(code) <= 32 and code.isprintable() and "`" not in code
    return Neighbour(name, entry, None, code) if is_short else None


def _may_be_unit(text: str) -> bool:
    """Return whether a text may be a unit: it is short, printable, and not a placeholder such as "n/a"."""
    is_word = bool(text.strip()) and text.isprintable() and "`" not in text and len(text) <= MAX_LENGTH
    return is_word and not spelling_of(text).is_placeholder


def _numbers_without_unit(context: Context, holder: Record) -> frozenset[str]:
    """Return the key of the one number of a record that a unit next to it may belong to, if there is one."""
    if holder not in context.numbers_without_unit:
        context.numbers_without_unit[holder] = _open_numbers(context, holder)
    return context.numbers_without_unit[holder]


def _open_numbers(context: Context, holder: Record) -> frozenset[str]:
    """Return the key of the only number of a record that has no unit of its own; empty if there are several."""
    if holder.rest is not None or not holder.is_complete:
        return frozenset()
    numbers: set[str] = set()
    own: set[str] = set()  # those with a unit of their own
    for key, entries in holder.entries.items():
        if not isinstance(key, str) or key in NEIGHBOURS or key.endswith(("_unit", "_units")):
            continue
        if not _may_be_number(holder, key, entries):
            continue
        numbers.add(key)
        has_unit = bool(read_name(key).readings) or not {f"{key}_unit", f"{key}_units"}.isdisjoint(
            holder.entries
        )
        if has_unit or any(map(_has_own_unit, entries)):
            own.add(key)
    remaining = numbers - own if len(numbers) > 1 else numbers
    return frozenset(remaining if len(remaining) == 1 else ())


def _may_be_number(holder: Record, key: str, entries: tuple[Entry, ...]) -> bool:
    """Return whether the value under a key may be a number that needs a unit, not a count or an id."""
    for entry in entries:
        for leaf in leaves(entry.value, entry.site):
            if not leaf.keys:
                return kind_of_leaf(leaf._replace(key=key, is_named=True, holder=holder)) is None
    if any(isinstance(o, Container) or surely_not_number(o) for e in entries for o in options(e.value)):
        return False
    reading = read_name(key)
    last = name_words(key)[-1:]
    is_called_number = bool(last) and (last[0] in _NUMBER_WORDS or quantity_named(last[0]) is not None)
    return reading.kind is None and (is_called_number or bool(reading.readings))


def _has_own_unit(entry: Entry) -> bool:
    maker = maker_at(entry.site)
    return maker is not None and (
        any(read_name(name).readings for name in names_of(maker.expr)) or fixed_unit(maker) is not None
    )


def _contradicts(policy: Policy, key: str, unit: str) -> bool:
    """Return whether a key names a quantity of another dimension than a unit: ``temperature`` and ``kW``."""
    symbol = symbol_of(policy, unit) or unit
    dimension = unit_dimension(symbol) or policy.judge(symbol).dimension
    named = quantity_named((name_words(key) or ("",))[-1])
    return named is not None and dimension is not None and dimension.partition("-")[0] != named


# --- names ---------------------------------------------------------------------------------------------------


def _named_by_key(leaf: Leaf) -> Iterator[UnitSource]:
    source = _source(reading_of(leaf), f"`{leaf.key}`")
    if source is not None:
        yield source
    elif not leaf.is_named and (readings := read_name(leaf.key or "").readings):
        yield UnitSource(f"`{leaf.key}`", readings, is_sure=False)  # of the container


def _named_by(name: str, where: str) -> Iterator[UnitSource]:
    source = _source(read_name(name), where)
    if source is not None:
        yield source


def _source(reading: NameReading, where: str) -> UnitSource | None:
    """Return the unit in a name as a source; ``None`` if the name has none."""
    if reading.unit is not None:
        return UnitSource(where, (reading.unit,))
    return UnitSource(where, reading.readings, len(reading.readings) > 1) if reading.readings else None


def _named_by_expression(maker: Maker) -> Iterator[UnitSource]:
    """Yield the unit in the names of an expression, rounded or not, if all of them say the same."""
    names = names_of(maker.expr)
    reading = agreed(map(read_name, names))
    source = _source(reading, f"`{names[0]}`") if reading is not None else None
    if source is not None and source.units[0] not in units_of("counts"):
        yield source


def _named_by_callable(context: Context, result: Result) -> Iterator[UnitSource]:
    """Yield the units in the name of a callable and in its return annotation."""
    function = result.callable.function
    for name in dict.fromkeys((getattr(function, "name", ""), result.tool.name or "")):
        yield from _named_by(name, f"`{name}`")
    match function.returns if isinstance(function, facts.Function) else None:
        case facts.Sub(base=base, index=facts.Seq(items=(_, *extra))) if facts.last_name(base) == "Annotated":
            texts = [e.value for e in extra if isinstance(e, facts.Const) and isinstance(e.value, str)]
            unit = (
                symbol_of(context.policy, texts[0]) or unit_said(context.policy, texts[0]) if texts else None
            )
            if unit is not None and len(texts) == 1:
                yield UnitSource("the annotation", (unit,))
        case facts.Name() | facts.Attr() as named:
            yield from _named_by(facts.last_name(named), "the annotation")


# --- what makes it -------------------------------------------------------------------------------------------


def _expression_sources(
    leaf: Leaf, ways: Sequence[Maker], kind: Kind | None, are_counts_plain: bool
) -> Iterator[UnitSource]:
    """Yield the unit in the name of a variable, and the unit that a library gives the result of a call."""
    is_named = False
    for maker in ways:
        if not is_named and kind is None and not is_call(maker.expr):
            for source in _named_by_expression(maker):
                is_short = any(map(_abbreviates, names_of(maker.expr), repeat(leaf.key or "")))
                if not is_short and not _is_otherwise(leaf.key or "", source.units[0]):
                    is_named = True
                    yield source
        unit = fixed_unit(maker)
        is_thing = reading_of(leaf).unit in units_of("counts")
        is_plain = are_counts_plain and not reading_of(leaf).readings
        if unit == "count" and (is_plain or is_thing or _counts_units(maker, leaf.key or "")):
            return
        if unit is not None:
            yield UnitSource(title(maker.expr), (unit,))
            return


def _abbreviates(name: str, key: str) -> bool:
    """Return whether the last word of a name abbreviates a word of the key: ``avg_rad`` under ``radiation``.

    Then it is not a unit, here the radian.
    """
    last = "".join(name_words(name)[-1:])
    return len(last) > 1 and any(word != last and word.startswith(last) for word in name_words(key))


def _is_otherwise(key: str, unit: str) -> bool:
    """Return whether a key shows that the number is not in the unit of its expression: ``slope_per_bar`` and ``%``."""
    is_open_rate = "per" in name_words(key)[1:-1] and not read_name(key).readings
    return (
        _contradicts(Policy(), key, unit)
        or read_name(key).is_scaled
        or read_name(key).factor is not None
        or (is_open_rate and "/" not in unit)
    )


def _counts_units(maker: Maker, key: str) -> bool:
    """Return whether the counted things are the unit in the key: the days of ``len(days)``."""
    units = read_name(key).readings
    match maker.expr:
        case facts.Call(func=facts.Name(id="len"), args=(facts.Sub(index=facts.Const(value=str() as name)),)):
            pass
        case facts.Call(func=facts.Name(id="len"), args=(facts.Name() | facts.Attr() as counted,)):
            name = facts.last_name(counted)
        case _:
            return units == ("B",)
    is_namesake = name_words(name)[-1:] == name_words(key)[-1:]
    return units == ("B",) or (is_namesake and all(unit_dimension(unit) == "time" for unit in units))


def _is_no_percentage(leaf: Leaf, ways: Sequence[Maker]) -> bool:
    """Return whether a number is a fraction of one, not a percentage: a quotient, ``x - 1.0``, the format ``:.1%``."""
    if any(map(_is_fraction, ways)) or any(spec.endswith("%") for spec, _, _ in _shown(leaf, ways)):
        return True
    function = function_at(leaf.site.module, leaf.site.at)
    names = {name for maker in ways for core in cores(maker.expr) if (name := variable(core)) is not None}
    return function is not None and bool(names) and _is_computed_as_fraction(function, names)


def _is_computed_as_fraction(function: facts.Function, names: set[str]) -> bool:
    """Return whether a function uses one of ``names`` as a fraction: ``1 - x``, ``x * load``, ``min(x, 1.0)``."""

    def is_named(expr: facts.Expr) -> bool:
        return any(variable(core) in names for core in cores(expr))

    in_products: set[facts.Expr] = set()
    for expr in islice(expressions_in(function.body), _MOST_EXPRESSIONS):
        match expr:
            case facts.BinOp(op="-" | "+", left=facts.Const(value=1 | 1.0), right=right) if is_named(right):
                return True
            case facts.BinOp(op="*" | "/", left=left, right=right):
                in_products.update((left, right))
                factors = list(parts_of(expr)) if expr not in in_products else []
                is_scaled = any(isinstance(f, facts.Const) and f.value in _HUNDREDS for f in factors)
                sides = [(left, right), (right, left)] if expr.op == "*" and factors and not is_scaled else []
                if any(is_named(side) and not isinstance(other, facts.Const) for side, other in sides):
                    return True
            case facts.Call(func=facts.Name(id="min"), args=(_, _) as args):
                bounds = [arg.value for arg in args if isinstance(arg, facts.Const)]
                is_below_one = any(isinstance(bound, (int, float)) and 0 < bound <= 1 for bound in bounds)
                if is_below_one and any(map(is_named, args)):
                    return True
    return False


def _is_fraction(maker: Maker) -> bool:
    """Return whether an expression is a quotient of two quantities, without a factor of 100.

    ``value / balance`` and ``now / then - 1`` are, ``100 * wins / n`` is not. Calls, and names with "percent", may
    already be percentages.
    """
    return all(map(_is_plain_quotient, cores(maker.expr)))


def _is_plain_quotient(expr: facts.Expr) -> bool:
    """Return whether an expression divides one quantity by another, or is such a quotient more or less than 1."""
    match expr:
        case facts.BinOp(op="/", left=left, right=right):
            return _is_plain(left) and _is_plain(right)
        case facts.BinOp(op="-" | "+", left=left, right=facts.Const(value=1 | 1.0)):
            return _is_plain(left) or _is_plain_quotient(left)
        case facts.BinOp(op="-" | "+", left=facts.Const(value=1 | 1.0), right=right):
            return _is_plain(right) or _is_plain_quotient(right)
        case _:
            return False


def _is_plain(expr: facts.Expr, depth: int = 0) -> bool:
    """Return whether an operand consists of names, added or subtracted, none of which has "percent" in it."""
    match expr:
        case facts.BinOp(op="+" | "-", left=left, right=right) if depth < _MOST_NAMES:
            return _is_plain(left, depth + 1) and _is_plain(right, depth + 1)
        case facts.Call(func=facts.Name(id="len")):
            return True
        case facts.Name() | facts.Attr() | facts.Sub(index=facts.Const()):
            [name] = names_of(expr)
            return name != "" and _PERCENT.search(name) is None
        case _:
            return False


# --- where it is shown ---------------------------------------------------------------------------------------


def _shown_behind(context: Context, leaf: Leaf, ways: Sequence[Maker]) -> Iterator[UnitSource]:
    """Yield the unit that follows a number in every text that shows it."""
    names = [name for maker in ways if (name := variable(maker.expr)) is not None]
    names += [leaf.key] if leaf.key is not None else []
    read = [unit_behind(context.policy, text, names, head) for _, head, text in _shown(leaf, ways)]
    units = {unit for unit in read if unit is not None}
    if units and None not in read:
        yield UnitSource("the text behind it", tuple(sorted(units)))


def _shown(leaf: Leaf, ways: Sequence[Maker]) -> list[tuple[str, str, str]]:
    """Yield the formats of the places that show a number, and the texts before and behind it."""
    function = function_at(leaf.site.module, leaf.site.at)
    names = {name for maker in ways if (name := variable(maker.expr)) is not None}
    if function is None or not names:
        return []
    places: list[tuple[str, str, str]] = []
    for expr in islice(expressions_in(function.body), _MOST_EXPRESSIONS):
        parts = expr.parts if isinstance(expr, facts.Join) else ()
        for preceding, part, following in zip((None, *parts), parts, (*parts[1:], None), strict=False):
            if isinstance(part, facts.Hole) and variable(part.value) in names:
                places.append((part.spec or "", _text(preceding), _text(following)))
    return places


def _text(part: object) -> str:
    return part.value if isinstance(part, facts.Const) and isinstance(part.value, str) else ""


def unit_behind(
    policy: Policy, text: str, names: Sequence[str] | None = None, preceding: str = ""
) -> str | None:
    """Return the unit that a text begins with: ``mm`` of ``" mm of rain"``, none of ``" in all"`` and ``" pages"``.

    The runtime reads an answer by the same function. Where the ``names`` of the number are given, what may be another
    word (``7M``, ``5-bar average``, ``34/17t``, ``3 m users``) is a unit only if a name says its dimension. A scale or
    another unit behind it makes it none (``3 USD bn``, ``3 m tonnes``), and so does a sign ``preceding`` it: ``$3 m``.
    """
    # Its tables load slowly, and few files need them.
    from gllint_runtime.policy.text_units import counted_units, currency_units, table_words, units_at

    units, end = units_at(text, 0)
    word = text.lstrip(" \u00a0").partition(" ")[0].rstrip(".,;:!?)")
    if word in policy.extend_units:
        return word
    if len(units) != 1 or _GOES_ON.match(text, end):
        return None
    symbol = symbol_of(policy, units[0])
    if symbol is None or symbol in units_of("counts"):
        return None
    word_match = _NEXT_WORD.match(text, end)
    next_word = word_match[1] if word_match else ""
    next_units = units_at(text, end)[0] if len(next_word) > 3 else currency_units(next_word)
    has_sign = bool(currency_units(preceding[-1:])) and not (unit_dimension(symbol) or "").startswith(
        "currency"
    )
    is_changed = has_sign or not counted_units().issuperset(next_units)
    if is_changed or is_rescaled((next_word.lower(),), symbol):
        return None
    symbol_text = text[:end].strip(" \u00a0")
    has_blank = text[0] in " \u00a0"
    is_open = symbol_text in _MULTIPLIERS if has_blank else len(symbol_text) == 1 and symbol_text.isalpha()
    if next_word and next_word.lower() not in table_words("links of keys"):
        is_open |= symbol_text == "min" or (len(symbol_text) == 1 and symbol_text.isalpha())
    if names is not None and (is_open or counted_measure(symbol_text.lstrip("-")) is not None):
        return symbol if any(says_dimension(name, symbol) for name in names) else None
    return symbol


def _ways(leaf: Leaf) -> Iterator[Maker]:
    """Yield the expression of a number; if that is a variable, also the value assigned to it, and so on."""
    maker = maker_at(leaf.site)
    for _ in range(_MOST_NAMES):
        if maker is None:
            return
        yield maker
        name = variable(maker.expr)
        maker = _assigned(maker, name) if name is not None else None


def _assigned(maker: Maker, name: str) -> Maker | None:
    """Return the only value that is assigned to a variable, None if there are several."""
    bindings = maker.scope.find(name)
    if len(bindings) != 1 or bindings[0].kind not in ("assign", "annotated") or bindings[0].index:
        return None
    value = bindings[0].value
    home = maker.scope.home(name)
    return Maker(value, home) if value is not None and home is not None else None


# --- declarations --------------------------------------------------------------------------------------------


def _declared(context: Context, result: Result, leaf: Leaf) -> Iterator[UnitSource]:
    """Yield the units that schemas, fields and docstrings declare for a number."""
    yield from _declared_at(context, result, leaf.keys)
    if leaf.key is None or not leaf.is_named:
        return
    model = _model_of(context, result, leaf)
    if model is not None:
        unit = unit_of_field(context, model, leaf.key)
        if unit is not None:
            yield UnitSource(f"the field `{leaf.key}`", (unit,))
        for ancestor in classes.ancestors(context.evaluator, model):
            if isinstance(ancestor, ClassOf):
                yield from documented_units(context.policy, ancestor.cls.docstring, leaf.key)
    # The name of the value may have an entry of its own, with another unit.
    names = [name for maker in _ways(leaf) for name in names_of(maker.expr)] if leaf.value is not None else []
    for name in dict.fromkeys(filter(None, (leaf.key, *names))):
        yield from documented_units(context.policy, _docstring(result), name)


def _model_of(context: Context, result: Result, leaf: Leaf) -> ClassOf | None:
    """Return the model or ``TypedDict`` that declares the record with a number, else None."""
    if leaf.holder is not None and leaf.holder.of is not None:
        return leaf.holder.of
    if len(leaf.keys) != 1:
        return None
    match context.declared_container(result.callable):
        case Instance(of=of) if classes.is_typed_dict(context.evaluator, of):
            return of
        case _:
            return None


def _declared_at(context: Context, result: Result, keys: tuple[object, ...]) -> Iterator[UnitSource]:
    """Yield the unit that the result schema declares for the number at ``keys``."""
    tool = result.tool
    if tool.result_schema is None or tool.module is not context.module:
        return
    schema = read_schema(context, tool.result_schema, tool.scope)
    node = schema.data if schema is not None else None
    for key in keys:
        properties = node.get("properties") if isinstance(node, dict) else None
        node = properties.get(key) if isinstance(properties, dict) else None
    if not isinstance(node, dict):
        return
    unit = next((node[keyword] for keyword in DECLARING if isinstance(node.get(keyword), str)), None)
    for text in (node.get("description"), node.get("title")) if unit is None else ():
        unit = unit or (unit_said(context.policy, text) if isinstance(text, str) else None)
    if unit:
        yield UnitSource("the schema", (unit,))


def unit_of_field(context: Context, of: ClassOf, name: str) -> str | None:
    """Return the unit that a field of a model declares: in ``Field(json_schema_extra=…)``, ``field(metadata=…)``.

    The call may be the value of the field or stand in ``Annotated[float, Field(…)]``.
    """
    for ancestor in classes.ancestors(context.evaluator, of):
        if not isinstance(ancestor, ClassOf):
            continue
        frame = Frame(ancestor.module, ancestor.cls.scope, None, of)
        for binding in ancestor.cls.scope.bindings.get(name, ()):
            calls = [binding.value]
            match binding.annotation:
                case facts.Sub(index=facts.Seq(items=items)):  # Annotated[float, Field(…)]
                    calls += items
            for call in calls:
                if isinstance(call, facts.Call):
                    unit = _unit_of_call(context, call, frame)
                    if unit is not None:
                        return unit
    return None


def _unit_of_call(context: Context, call: facts.Call, frame: Frame) -> str | None:
    return unit_of_call(context.evaluator, call, frame) or unit_described(context, call, frame)


def unit_described(context: Context, call: facts.Call, frame: Frame) -> str | None:
    """Return the unit that the description in a call of ``Field`` names, None if that is not exactly one."""
    text = _description(context, call, frame)
    return unit_said(context.policy, text) if text else None


def is_unit_described(context: Context, call: facts.Call, frame: Frame) -> bool:
    """Return whether the description in a call of ``Field`` mentions a unit."""
    text = _description(context, call, frame)
    return text is not None and is_unit_mentioned(context.policy, text)


def _description(context: Context, call: facts.Call, frame: Frame) -> str | None:
    value = call.keyword("description")
    return literal_of(context.evaluator.eval(value, frame)) if value is not None else None


def unit_said(policy: Policy, text: str) -> str | None:
    """Return the one unit that a description names: ``"Heat in kWh"``, ``"Heat (kWh/m2)"``; else None.

    Counted things and words for times do not count. Nor does a unit that its sentence scales, divides or negates.
    """
    said = {match["bracket"] or match["end"].rstrip(".") for match in _SAID.finditer(text)}
    named = said | {match[0] for match in _SYMBOLS.finditer(text)}
    units = {unit for word in named if (unit := _physical(policy, word)) is not None}
    if len(units) != 1 or not any(_physical(policy, word) for word in said):
        return None
    unit, parts = units.pop(), _SENTENCE.split(text)
    symbols = {word for word in said if _physical(policy, word) is not None}
    return None if any(_is_changed(unit, symbols, part) for part in parts if _SAID.search(part)) else unit


def _is_changed(unit: str, symbols: Set[str], sentence: str) -> bool:
    """Return whether a sentence says another size than its unit: ``"revenue (USD), in thousands"``."""
    words = {word.lower() for word in _WORD.findall(sentence)} - symbols
    return (
        _THOUSANDS.search(sentence) is not None
        or not _NEGATIONS.isdisjoint(words)
        or is_rescaled(words, unit)
    )


def _physical(policy: Policy, word: str) -> str | None:
    """Return the unit that a word of a description is; None for a counted thing (``links in page``) or a time."""
    unit = symbol_of(policy, as_listed(word, packs=PACKS))
    is_noun = unit in units_of("counts") or (unit_dimension(unit or "") in ("time", "year") and len(word) > 2)
    return None if is_noun else unit


def documented_units(policy: Policy, docstring: str, key: str) -> Iterator[UnitSource]:
    """Yield the unit that the entry of a docstring about ``key`` names."""
    if key not in docstring or len(docstring) > _MOST_TEXT:
        return
    entry = re.compile(rf"^[\s*\-\"'`]*{re.escape(key)}[\"'`*]*\s*(?:[:(–—-].*)$", re.MULTILINE)
    units = {unit_said(policy, match[0]) for match in entry.finditer(docstring)}
    unit = units.pop() if len(units) == 1 else None
    if unit is not None:
        yield UnitSource(f"the docstring of `{key}`", (unit,))


def is_unit_documented(policy: Policy, docstring: str, name: str) -> bool:
    """Return whether the entry of a docstring about the parameter ``name`` mentions a unit."""
    if name not in docstring or len(docstring) > _MOST_TEXT:
        return False
    entry = re.compile(
        rf"^(?P<indent>[ \t]*)(?:[-*][ \t]+)?(?::param(?:[ ][\w.\[\]]+)?[ ])?[\"'`*]*{re.escape(name)}"
        r"[\"'`*]*[ ]*(?=[:(–—-])"
        r"(?P<text>[^\n]*(?:\n(?P=indent)[ \t]+[^\n]*)*)",
        re.MULTILINE,
    )
    return any(is_unit_mentioned(policy, match["text"]) for match in entry.finditer(docstring))


def is_unit_mentioned(policy: Policy, text: str) -> bool:
    """Return whether a description mentions a unit: ``in seconds``, ``(kWh)``, ``seconds to wait``."""
    for match in _MENTIONED.finditer(text):
        word = match["bracket"] or match["behind"] or match["plural"]
        unit = symbol_of(policy, word.rstrip(".,;:"))
        # What is counted is named for many reasons: `results`, `tokens`.
        if unit is not None and (match["plural"] is None or unit_dimension(unit) != unit):
            return True
    return False


def _docstring(result: Result) -> str:
    """Return the docstring of a tool's callable."""
    function = result.callable.function
    match function.body if isinstance(function, facts.Function) else ():
        case (facts.Do(values=(facts.Const(value=str() as text),)), *_):
            return text
        case _:
            return ""
