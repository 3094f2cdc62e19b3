"""A claim has a path that cannot lead to a Quantity.

## What it does

A *claim* in a message cites a Quantity (a number with its unit) in a tool's result. Reports a literal claim path that
is not `$` followed by the names of fields (`$.heating.power`).

## Why is this bad?

The runtime accepts only paths in this form.

## Bad

```python
def finish(call_id: str, power: dict) -> dict:
    return {
        "kind": "final",
        "final": {
            "message": "The pump draws {{claim:0}}.",
            "claims": [{"source_call_id": call_id, "path": "power", "quantity": power}],
        },
    }
```

## Good

```python
def finish(call_id: str, power: dict) -> dict:
    return {
        "kind": "final",
        "final": {
            "message": "The pump draws {{claim:0}}.",
            "claims": [{"source_call_id": call_id, "path": "$.power", "quantity": power}],
        },
    }
```

## How to fix

Begin with `$` and write the name of each field: `$.heating.power`.

## Options

`array-paths` lets a path address an element of a list (`$.rows[0].energy`).

## References

GreenLang's requirements, DOC-601: "JSONPath Format".
"""

from __future__ import annotations

from collections.abc import Iterator

from gllint_rules.fixes import repair
from gllint_rules.inference.values import Record, Text, options
from gllint_rules.project.context import Context, Pending
from gllint_rules.project.templates import claim_entries
from gllint_rules.rule import Rule
from gllint_runtime.policy.claims import ClaimPathError, parse_claim_path


def check(context: Context) -> Iterator[Pending]:
    """Yield a finding for each malformed literal path of a claim: ``"path": "power"`` without ``$.``."""
    for claim in claim_entries(context):
        if not isinstance(claim.value, Record):
            continue
        for entry in claim.value.entries.get("path", ()):
            for option in options(entry.value):
                if not isinstance(option, Text) or option.literal is None:
                    continue
                try:
                    parse_claim_path(option.literal, arrays=context.policy.array_paths)
                except ClaimPathError as error:
                    fix = repair("claims", "mend_path", context, entry.site, option.literal)
                    yield context.finding("GL404", entry.site, str(error), error.hint, fix)


RULE = Rule(
    code="GL404",
    name="bad-claim-path",
    summary="A claim has a path that cannot lead to a Quantity",
    documentation=__doc__ or "",
    check=check,
    fix="unsafe",
    options=("array-paths",),
)
