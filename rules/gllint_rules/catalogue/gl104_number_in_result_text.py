"""A tool returns a number as text.

## What it does

Reports a text in a tool's result that has digits in it or into which a definite number is formatted. Opt-in.

## Why is this bad?

The number travels with no unit and no provenance, and the model repeats it as it likes.

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
    return {"volume": {"value": read_volume(tank), "unit": "m3"}}
```

## How to fix

Return the number as a Quantity, beside the text if need be.

## Options

Select it with `extend-select`.

## References

GreenLang's requirements, DOC-601: "All numeric outputs are Quantity objects".
"""

from __future__ import annotations

from collections.abc import Iterator

from gllint_rules.inference.values import ListOf, Record, Site, Text, Value, options
from gllint_rules.project.context import Context, Pending
from gllint_rules.project.results import is_quantity, leaves, quantities
from gllint_rules.project.templates import Template
from gllint_rules.rule import Rule

HELP = "Return the number as a Quantity beside the text."


def check(context: Context) -> Iterator[Pending]:
    """Findings at the texts of results that hold numbers."""
    for result in context.results:
        for text, site in _texts(result.value, result.site):
            if _has_number(text):
                yield context.found_in(
                    result, "GL104", site, "this text carries a number out of the tool", HELP
                )


def _texts(value: Value, site: Site) -> Iterator[tuple[Text, Site]]:
    for option in options(value):
        match option:
            case Text():
                yield option, site
            case Record() if not is_quantity(option):
                for entries in option.entries.values():
                    for entry in entries:
                        yield from _texts(entry.value, entry.site)
            case ListOf():
                for entry in option.items:
                    yield from _texts(entry.value, entry.site)
                if option.rest is not None:
                    yield from _texts(option.rest, site)
            case _:
                pass


def _has_number(text: Text) -> bool:
    from gllint_runtime.policy.numbers import scan_naked_numbers

    if text.parts is None:
        return False
    template = Template(text.parts)
    return bool(scan_naked_numbers(template.text)) or any(
        next(leaves(hole.value, hole.site), None)
        or next(quantities(hole.value, hole.site), None)
        or any(isinstance(o, Text) and _has_number(o) for o in options(hole.value))
        for _, hole in template.holes()
    )


RULE = Rule(
    code="GL104",
    name="number-in-result-text",
    summary="A tool returns a number as text",
    documentation=__doc__ or "",
    check=check,
)
