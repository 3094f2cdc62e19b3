"""A string states a number that does not come from a tool.

## What it does

Reports each number with an allowed unit or a currency sign that is hard-coded or formatted into a string. The numbers
of claims, docstrings and log calls are exempt. Only files that define, import or run tools are searched. Run this
opt-in rule once, before you move an agent to claims mode.

## Why is this bad?

Such strings become part of prompts and answers, and no one knows where their numbers come from.

## Bad

```python
from langchain_core.tools import tool


@tool
def advice(building: str) -> str:
    return "A flat like this uses about 2,900 kWh a year."
```

## Good

```python
from langchain_core.tools import tool


@tool
def advice(building: str) -> dict:
    return {"demand": {"value": look_up(building), "unit": "kWh/year"}}
```

## How to fix

Move the fact into a tool that returns it as a Quantity, and let the answer cite the tool's result.

## Options

Select it with `extend-select`; `extend-units` and `unit-packs` add units.

## References

GreenLang's requirements, DOC-601: "Migration Guide, Step 1: Audit Current Outputs".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from gllint_rules.inference.values import Interpolation, Literal, Site, Text, number
from gllint_rules.project.context import Context, Pending
from gllint_rules.reading import facts
from gllint_rules.reading.expression_index import parts_of
from gllint_rules.rule import Rule
from gllint_rules.words.names import LOG_CALLS
from gllint_runtime.policy.units import ALLOWED_UNITS

HELP = "Let a tool return the number as a Quantity, and write {{claim:0}} in its place."
# Replaces a number that is formatted in, so that one pattern reads literal and formatted numbers.
NUMBER = "0"
# `$1` is a parameter, not a price, after an operator or a quote, and anywhere in a text with SQL or shell syntax.
_PARAMETER = re.compile(r"(?<=[=<>/\"'|])\s*\$[1-9]\d?(?![\d.,]*\d)")
_ANY_PARAMETER = re.compile(r"\$\d\d?(?![\d.,]*\d)")
_QUERY_OR_SCRIPT = re.compile(
    r"\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|WHERE|VALUES|RETURNING|LIMIT)\b"
    r"|\A#!/|\$[@#*]|\besac\b|\"\$\d:\$\d"
)
# A duration or a size in a configuration (`"ttl": "5m"`, `"2K"`): the text states nothing to a reader.
_TOKEN = re.compile(r"\d{1,2}[mKg]")


def check(context: Context) -> Iterator[Pending]:
    """Yield a finding for each string that states a number with a unit: ``"about 2,900 kWh a year"``."""
    if not context.touches_tools:
        return
    # A unit of one letter from a pack is too often something else in a text.
    pack_units = (unit for unit in context.policy.pack_symbols() if len(unit) > 1)
    pattern = _pattern((*context.policy.extend_units, *sorted(pack_units)))
    # Docstrings and logs are for developers.
    logged = {at for call, _ in context.module.calls if _logs(call) for at in _places_in(call)}
    for part in context.module.sections():
        for text, scope in part.texts:
            if text.at in part.docstrings or text.at in logged:
                continue
            value = context.eval(text, scope)
            if isinstance(value, Text) and value.parts is not None and _states(value, pattern):
                message = "this text states a number that it does not take from a tool"
                yield context.finding("GL405", Site(context.module, text.at), message, HELP)


def _places_in(call: facts.Call) -> Iterator[int]:
    """Yield the places of the arguments of a call, and of their parts: of the text in ``log("5 kWh in %s" % x)``."""
    for argument in (*call.args, *(value for _, value in call.keywords)):
        yield from (part.at for part in parts_of(argument))


def _states(text: Text, pattern: re.Pattern[str]) -> bool:
    """Return whether a text states a number with a unit, and is more than a configuration value."""
    prose = _prose(text)
    return pattern.search(prose) is not None and _TOKEN.fullmatch(prose) is None


def _prose(text: Text) -> str:
    """Return a text with its values, without parameters of queries and scripts: ``f"{x} kWh"`` → ``0 kWh``.

    A number becomes NUMBER, any other value the object replacement character.
    """
    parts = []
    for part in text.parts or ():
        if isinstance(part, Literal):
            parts.append(part.text)
        elif isinstance(part, Interpolation):
            parts.append(NUMBER if number(part.value) is not None else "\ufffc")
    prose = "".join(parts)
    return (
        (_ANY_PARAMETER if _QUERY_OR_SCRIPT.search(prose) else _PARAMETER).sub("", prose)
        if "$" in prose
        else prose
    )


def _logs(call: facts.Call) -> bool:
    """Return whether a call writes a log: ``logger.info(…)``."""
    return isinstance(call.func, facts.Attr) and call.func.name in LOG_CALLS


@lru_cache(maxsize=8)
def _pattern(extra: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern for a price (``$5``) or a number with an allowed or ``extra`` unit (``5 kWh``)."""
    units = "|".join(re.escape(u) for u in sorted((*ALLOWED_UNITS, *extra), key=len, reverse=True))
    return re.compile(rf"[$€£¥₹]\s?\d|(?<![\w.\-%])\d[\d.,]*\s?(?:{units})(?![\w])")


RULE = Rule(
    code="GL405",
    name="hard-coded-fact",
    summary="A string states a number that does not come from a tool",
    documentation=__doc__ or "",
    check=check,
    options=("extend-units", "unit-packs"),
)
