"""A tool returns a number as text.

## What it does

Reports each digit in a text that a tool returns, and each number that is formatted into one: in an f-string,
`str.format`, `%`, `+`, `str.join`, `string.Template` or `tabulate`, in an `io.StringIO`, in a `__str__` of the project,
in a helper, and in a content block. A value with a numeric format (`{load:.1f}`) is a number.

Not reported: dates, versions, times, list markers, names with digits (`gpt-4o`), joined names (`f"{path}:{line}"`),
addresses, hexadecimal digits, code, bare identifiers, markup, UUIDs, telephone numbers, months (`2026-05`), status
codes (`HTTP 404`), stock indexes (`S&P 500`), cron lines and codes (`"007"`). JSON text of a container is left to
GL101. Opt-in.

## Why is this bad?

The number has no unit and no provenance, and the model repeats it as it likes.

## Bad

```python
from langchain_core.tools import tool


@tool
def tank_level(tank: str) -> str:
    return f"The tank holds {len(read_layers(tank))} layers."
```

## Good

```python
from langchain_core.tools import tool


@tool
def tank_level(tank: str) -> dict:
    volume = read_volume(tank)
    return {"text": "The tank was measured.", "volume": {"value": volume, "unit": "m3"}}
```

## How to fix

Also return the number as a Quantity. The help shows the line, with a unit if the source shows one.

## Options

Select it with `extend-select`. `whitelist-patterns`, `number-words`, `extend-units` and `unit-packs` say, as in GL401,
what counts as a number in prose.

## References

GreenLang's requirements, DOC-601: "All numeric outputs are Quantity objects".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gllint_rules.inference.file_texts import is_of_a_file
from gllint_rules.inference.values import (
    Because,
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
from gllint_rules.project.advice import quantity_beside_text
from gllint_rules.project.context import Context, Pending
from gllint_rules.project.results import Leaf, Result, is_quantity, leaves, quantities
from gllint_rules.project.templates import Template
from gllint_rules.project.text_numbers import numbers_in_text, stated
from gllint_rules.rule import Rule
from gllint_runtime.policy.names import name_words, read_name

_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_CODES = frozenset(
    {"postcode", "postalcode", "zipcode", "zip", "isbn", "sku", "phone", "version", "port", "number"}
)
_BLANK = re.compile(r"\s")


def check(context: Context) -> Iterator[Pending]:
    """Findings at the numbers in the texts of results."""
    # A number that another result of the module contains is reported there by GL101.
    raw = {leaf.site for result in context.results for leaf in leaves(result.value, result.site)}
    for result in context.results:
        for text in _texts(result.value):
            for pending in _in_text(context, result, text):
                if pending.site not in raw:
                    yield pending


def _texts(value: Value, key: str = "") -> Iterator[Text]:
    """The texts in ``value``, which stands under a ``key``, without those that are a name because they stand there."""
    for option in options(value):
        match option:
            case Text():
                if not _is_name_under(key, option):
                    yield option
            case Record() if not is_quantity(option):
                for name, entries in option.entries.items():
                    for entry in entries:
                        yield from _texts(entry.value, name if isinstance(name, str) else "")
                if option.rest is not None:
                    yield from _texts(option.rest)
            case ListOf():
                if _lists_codes(option):
                    continue
                for entry in option.items:
                    yield from _texts(entry.value, key)
                if option.rest is not None:
                    yield from _texts(option.rest, key)
            case _:
                pass


def _is_name_under(key: str, text: Text) -> bool:
    """Whether a text names something under a ``key``.

    A number alone does under that of an identifier, a year under ``…year``, one word under ``…id``.
    """
    end = name_words(key)[-1:]
    if end in (("id",), ("ids",)) and _is_word(text):
        return True
    is_code = read_name(key).kind == "identifier" or "".join(end) in _CODES
    return _is_bare(text) and (is_code or (end == ("year",) and _is_year(text)))


def _lists_codes(value: ListOf) -> bool:
    """Whether a list contains nothing but literal codes and names."""
    texts = [literal_of(entry.value) for entry in value.items]
    if value.rest is not None or not texts or None in texts:
        return False
    from gllint_runtime.policy.designations import are_codes  # few projects ask for it

    return are_codes([text for text in texts if text is not None])


def _is_bare(text: Text) -> bool:
    """Whether the text is the number alone: ``str(order)``, ``"7"``."""
    if text.parts is None or len(text.parts) != 1:
        return False
    [part] = text.parts
    if isinstance(part, Literal):
        return part.text.strip().isdecimal()
    return all(isinstance(option, Number) for option in options(part.value))


def _is_word(text: Text) -> bool:
    """Whether no blank is written in a text."""
    for part in text.parts or ():
        if isinstance(part, Literal):
            if _BLANK.search(part.text):
                return False
        elif not all(_is_word(option) for option in options(part.value) if isinstance(option, Text)):
            return False
    return True


def _is_year(text: Text) -> bool:
    """Whether a number alone may be a year: ``"2021"``, ``str(year)``, not ``"5"``."""
    return text.literal is None or _YEAR.fullmatch(text.literal.strip()) is not None


def _in_text(context: Context, result: Result, text: Text) -> Iterator[Pending]:
    if text.parts is None:
        return
    template = Template(text.parts)
    if is_of_a_file(text) and next(template.holes(), None) is None:
        return  # a document that is passed on unchanged: the tool states nothing in it
    numbers = numbers_in_text(template, context.policy)
    for literal, start, end in numbers.digits:
        site, characters = context.literal_span(literal, start, end)
        shown = literal.text[start:end]
        leaf = Leaf(site, Number(Because("", None)), None, None)
        yield _finding(context, result, leaf, shown, characters)
    for _, hole in template.holes():
        for option in options(hole.value):
            if isinstance(option, Text):
                yield from _in_text(context, result, option)
        if hole in numbers.exempt:
            continue
        for leaf in leaves(stated(hole), hole.site):
            yield _finding(context, result, leaf, hole=hole if leaf.site == hole.site else None)
        if next(quantities(hole.value, hole.site), None) is not None:
            yield _finding(context, result, Leaf(hole.site, Number(Because("", None)), None, None))


def _finding(
    context: Context,
    result: Result,
    leaf: Leaf,
    digits: str | None = None,
    characters: tuple[int, int] | None = None,
    hole: Interpolation | None = None,
) -> Pending:
    shown, help = quantity_beside_text(context, result, leaf, digits, hole)
    because = leaf.number.because if leaf.number.because.message else None
    return context.found_in(
        result, "GL104", leaf.site, "", help, because=because, key=shown, what="text", characters=characters
    )


RULE = Rule(
    code="GL104",
    name="number-in-result-text",
    summary="A tool returns a number as text",
    documentation=__doc__ or "",
    check=check,
    options=("whitelist-patterns", "number-words", "extend-units", "unit-packs"),
)
