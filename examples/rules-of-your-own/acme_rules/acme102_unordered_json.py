"""A tool returns JSON whose keys have no order.

## What it does

Reports `json.dumps(…)` without `sort_keys`, in files that define tools.

## Why is this bad?

The same data in another order gives another text. Then a prompt cache misses, and recorded conversations differ from
run to run.

## Bad

```python
import json

from langchain_core.tools import tool


@tool
def sites(region: str) -> str:
    '''Say which sites a region has.'''
    return json.dumps(look_up(region))
```

## Good

```python
import json

from langchain_core.tools import tool


@tool
def sites(region: str) -> str:
    '''Say which sites a region has.'''
    return json.dumps(look_up(region), sort_keys=True)
```

## How to fix

Add `sort_keys=True`. gllint offers it as an unsafe fix: keys of several types cannot be sorted.

## Options

None.

## References

None.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from gllint_rules.finding import Fix
from gllint_rules.project.context import Context, Pending
from gllint_rules.reading.facts import Call
from gllint_rules.rule import Rule

HELP = "Add `sort_keys=True`, so that the same data always gives the same text."


def check(context: Context) -> Iterator[Pending]:
    """Yield a finding for each call of `json.dumps` without `sort_keys`."""
    import libcst.matchers as m  # here: it takes longer to load than most files to check

    dumps = m.Call(func=m.Attribute(value=m.Name("json"), attr=m.Name("dumps")))
    for call, _ in context.module.calls_of({"dumps"}) if context.tools else ():
        is_bare = call.args and not call.spreads() and call.keyword("sort_keys") is None
        if is_bare and context.matches(call, dumps):
            fix = partial(with_sorted_keys, context, call)
            yield context.finding("ACME102", call.at, "`json.dumps` leaves the keys unordered", HELP, fix)


def with_sorted_keys(context: Context, call: Call) -> Fix | None:
    """Return the fix that adds `sort_keys=True`, or `None` if a comment is in its place."""
    import libcst as cst

    from gllint_rules.fixes.nodes import with_keyword

    node = with_keyword(cst.ensure_type(context.node(call), cst.Call), "sort_keys", cst.Name("True"))
    return context.replacement(call, node, "Sort the keys") if node is not None else None


RULE = Rule(
    code="ACME102",
    name="unordered-json",
    summary="A tool returns JSON whose keys have no order",
    documentation=__doc__ or "",
    check=check,
    fix="unsafe",
    since="1.0.0",
)
