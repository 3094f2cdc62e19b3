"""A tool returns a number as text.

## What it does

Reports each number that a tool formats into its returned text, by an f-string, `str.format`, `%`, `+`, `str.join`,
`string.Template` or `tabulate`. The text may be made in another function, and may be in a content block or a returned
container. A value is known to be a number by its type, or by its format (`{load:.1f}`, `{share:.1%}`).

Not reported:

- digits that are hard-coded in the text;
- counts and counters: `len(rows)`, `enumerate`, `sum(1 for …)`, an integer before a plural noun (`{n} rows`);
- numbers whose name shows that they are a count, index or identifier (`{page}`, `{row_count}`, `{user_id}`);
- constants with names in capitals (`LIMIT`), settings (`self.config.timeout`) and the tool's own arguments;
- numbers in error texts: in an `except` block, under or next to a key `error`, or in a text that begins with `Error`;
- parts of dates, times, versions and addresses, and numbers in labels (`Line {n}`, `rows {first} to {last}`);
- numbers that the same result also contains as a Quantity, or as a number that GL101 reports.

## Why is this bad?

A text has no field for the unit of a number, so gllint can only guess which word is the unit. In claims mode no message
can cite the number, and the runtime rejects a message in which the model writes the number itself.

## Bad

```python
from langchain_core.tools import tool


@tool
def tank_level(tank: str) -> str:
    return f"The tank holds {read_volume(tank):.1f} m3."
```

## Good

```python
from langchain_core.tools import tool


@tool
def tank_level(tank: str) -> dict:
    volume = read_volume(tank)
    return {"text": f"The tank holds {volume:.1f} m3.", "volume": {"value": volume, "unit": "m3"}}
```

## How to fix

Return the number as a Quantity next to the text, in the same result. The help shows the code. If a unit follows the
number in the text, or is elsewhere in the source, the help proposes that unit.

## Options

- `whitelist-patterns`: numbers in text that matches one of these regular expressions are not reported
- `mode`: in `sourced` mode, a number is reported only if nothing shows its unit, not even the text next to the number
- `extend-units`, `unit-packs`: more units

## References

GreenLang's requirements, DOC-601: "All numeric outputs are Quantity objects".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gllint_rules.inference.values import (
    NONE,
    Boolean,
    Interpolation,
    ListOf,
    Literal,
    Number,
    Record,
    Text,
    Value,
    literal_of,
    options,
)
from gllint_rules.project.advice import quantity_beside_text, unit_filled_in
from gllint_rules.project.context import Context, Pending
from gllint_rules.project.results import Leaf, Result, is_quantity, leaves
from gllint_rules.project.shown_numbers import is_no_measure, is_of_an_error, numbers_beside
from gllint_rules.project.sourced import is_sourced
from gllint_rules.project.templates import Template
from gllint_rules.project.text_numbers import holes_of_names, stated
from gllint_rules.project.unit_sources import unit_behind
from gllint_rules.reading import facts
from gllint_rules.rule import Rule
from gllint_runtime.policy.names import name_words, read_name

# The last words of keys whose numbers are names: `house_number`, `page_token`.
_CODES = frozenset({"postcode", "postalcode", "zipcode", "version", "number", "year", "token", "cursor"})
_BLANK = re.compile(r"\s")
_FAILURE = re.compile(
    r"\W*(?:error|failed|failure|invalid|timeout|timed out|cannot|could not)\b", re.IGNORECASE
)


def check(context: Context) -> Iterator[Pending]:
    """Yield a finding for each number in a text of a result: ``return f"{load} kWh"``."""
    # A number that another result of the module contains is reported there by GL101.
    raw = {leaf.site for result in context.results for leaf in leaves(result.value, result.site)}
    for result in context.results:
        beside = numbers_beside(context, result)
        known: set[Text] = set()
        for text in _texts(result.value):
            for pending in _in_text(context, result, text, beside, known):
                if pending.site not in raw:
                    yield pending


def _texts(value: Value, key: str = "") -> Iterator[Text]:
    """Yield the texts in ``value``, except names and error messages. ``key`` is the key that ``value`` is under."""
    for option in options(value):
        match option:
            case Text():
                if not _is_name_under(key, option):
                    yield option
            case Record() if not is_quantity(option) and not _reports_error(option):
                for name, entries in option.entries.items():
                    for entry in entries:
                        yield from _texts(entry.value, name if isinstance(name, str) else "")
                if option.rest is not None:
                    yield from _texts(option.rest)
            case ListOf():
                for entry in option.items:
                    yield from _texts(entry.value, key)
                if option.rest is not None:
                    yield from _texts(option.rest, key)
            case _:
                pass


def _reports_error(record: Record) -> bool:
    """Return whether a record says that something failed: by a key ``error``, or ``"status": "error"``.

    A record that says so only in some cases (``"error": None if ok else text``) also has texts of successful calls:
    it is not such a record.
    """
    return any(
        all(_is_failure(key, option) for entry in entries for option in options(entry.value))
        for key, entries in record.entries.items()
    )


def _is_failure(key: object, value: Value) -> bool:
    """Return whether an entry says that something failed: ``"ok": False``, ``"status": "failed"``, ``"error": …``."""
    if literal_of(value) in ("error", "failed", "failure"):
        return True
    words = name_words(key) if isinstance(key, str) else ()
    is_false = isinstance(value, Boolean) and value.literal is False
    if words[-1:] in (("error",), ("errors",)):
        return value is not NONE and not is_false
    return words in (("success",), ("ok",)) and is_false


def _is_name_under(key: str, text: Text) -> bool:
    """Return whether a text names something: ``{"station_id": f"S-{number}"}``, ``{"year": str(year)}``."""
    end = name_words(key)[-1:]
    if end in (("id",), ("ids",)) and _is_word(text):
        return True
    return _is_bare(text) and (read_name(key).kind is not None or "".join(end) in _CODES)


def _is_bare(text: Text) -> bool:
    """Return whether the text is nothing but a number: ``str(order)``."""
    match text.parts:
        case (Interpolation(value=value),):
            return all(isinstance(option, Number) for option in options(value))
        case _:
            return False


def _is_word(text: Text) -> bool:
    """Return whether a text is one word: no part of it contains white space."""
    for part in text.parts or ():
        if isinstance(part, Literal):
            if _BLANK.search(part.text):
                return False
        elif not all(_is_word(option) for option in options(part.value) if isinstance(option, Text)):
            return False
    return True


def _in_text(
    context: Context, result: Result, text: Text, beside: frozenset[str], known: set[Text]
) -> Iterator[Pending]:
    """Yield a finding for each number that is formatted into a text.

    ``beside`` is what :func:`numbers_beside` says of the numbers that the result also contains outside its texts.
    A text that grows in a loop is in many others: ``known`` are those of the result that were looked at.
    """
    if not text.is_put_together or text in known:
        return
    known.add(text)
    template = Template(text.parts or ())
    if _FAILURE.match(template.text):
        return
    in_names = holes_of_names(template, context.policy)
    holes = dict(template.holes())
    for place, hole in holes.items():
        for option in options(hole.value):
            if isinstance(option, Text):
                yield from _in_text(context, result, option, beside, known)
        # The elements of a set cannot become Quantities: dicts are not hashable.
        is_set = all(isinstance(o, ListOf) and o.kind == "set" for o in options(hole.value))
        if hole in in_names or is_set or is_of_an_error(hole.site):
            continue
        preceding, following = template.text[:place], template.text[place + 1 :]
        # In `f"{load} {unit}"` the unit is filled in by the next hole, after one space at most.
        unit = unit_filled_in(context, holes.get(place + 1 + following.startswith(" ")))
        for leaf in leaves(stated(hole), hole.site):
            own = hole if leaf.site == hole.site else None
            if not is_no_measure(context, result, leaf, own, (preceding, following), beside) and not (
                is_sourced(context, result, leaf) or _is_quoted(context, preceding, following)
            ):
                yield _finding(context, result, leaf, own, (preceding, following), unit)


def _is_quoted(context: Context, preceding: str, following: str) -> bool:
    """Return whether sourced mode reads the unit of a number from the text preceding or following it."""
    return context.policy.mode == "sourced" and (
        preceding[-1:] in ("$", "€", "£", "¥") or unit_behind(context.policy, following) is not None
    )


def _finding(
    context: Context,
    result: Result,
    leaf: Leaf,
    hole: Interpolation | None,
    texts: tuple[str, str],
    unit: str | None,
) -> Pending:
    """Return the finding for a number between ``texts``, with the ``unit`` that is filled in behind it."""
    shown, help = quantity_beside_text(context, result, leaf, hole, texts, unit)
    match result.callable.function:
        case facts.Function(name=name, returns=facts.Name(id="str")):
            if any(isinstance(option, Text) for option in options(result.value)):
                help = f"{help} Change the return annotation of `{name}` to `dict`."
    because = leaf.number.because if leaf.number.because.message else None
    return context.found_in(result, "GL104", leaf.site, "", help, because=because, key=shown, what="text")


RULE = Rule(
    code="GL104",
    name="number-in-result-text",
    summary="A tool returns a number as text",
    documentation=__doc__ or "",
    check=check,
    options=("whitelist-patterns", "mode", "extend-units", "unit-packs"),
)
