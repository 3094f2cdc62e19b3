"""A claim macro is malformed, or macros and claims do not match.

## What it does

Reports

- a malformed macro: `{{claim:a}}`, `{claim:0}`
- a macro whose index has no entry in the `claims` list next to it
- a claim that no macro uses
- `{{claim:0}}` inside an f-string or a `.format` template, which turns double braces into single ones

## Why is this bad?

The runtime rejects the message, or the user reads the macro instead of the number.

## Bad

```python
def finish(call_id: str, power: dict) -> dict:
    return {
        "kind": "final",
        "final": {
            "message": "The pump draws {{claim:1}}.",
            "claims": [{"source_call_id": call_id, "path": "$.power", "quantity": power}],
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

Write `{{claim:0}}` for the first claim; inside an f-string, write `{{{{claim:0}}}}`. Add one claim for each macro.

## Options

None.

## References

GreenLang's requirements, DOC-601: "The {{claim:i}} Macro System".
"""

from __future__ import annotations

from collections.abc import Iterator

from gllint_rules.fixes import repair
from gllint_rules.project.context import Context, Pending
from gllint_rules.project.templates import FinalStep, Stretches, final_steps
from gllint_rules.rule import Rule
from gllint_runtime.policy.claims import Macro, macro_problems

HELP = (
    "Write `{{claim:0}}` for the first entry of `claims`, and `{{claim:1}}` for the second (inside an f-string: "
    "`{{{{claim:0}}}}`)."
)
NO_ENTRY_HELP = "Add an entry to `claims`, or use the index of an existing one; the first is `{{claim:0}}`."
UNUSED_HELP = "Write its macro into the message, or remove the entry."


def check(context: Context) -> Iterator[Pending]:
    """Yield a finding for each malformed macro (``{{claim:a}}``), macro without an entry, and unused claim."""
    for step in final_steps(context):
        computed = step.template.computed_macros()
        aside = Stretches(computed)
        macros = [macro for macro in step.macros if not aside.meet(macro.start, macro.end)]
        broken = bool(computed) or any(macro.problem is not None for macro in macros)
        if step.claims is not None:
            # A problem is one of a macro, or of a claim, by its index.
            for macro_or_index, message in macro_problems(macros, len(step.claims.items)):
                if isinstance(macro_or_index, Macro):
                    yield from _at_macro(context, step, macro_or_index, message)
                elif not broken:  # else the broken or the computed macro may be the one that uses the claim
                    fix = repair("claims", "drop_claim", context, step, macro_or_index)
                    site = step.claims.items[macro_or_index].site
                    yield context.finding("GL403", site, message, UNUSED_HELP, fix)
        else:  # the claims are not known
            for macro in macros:
                if macro.problem is not None:
                    message = f"Macro '{macro.text}' is malformed: {macro.problem}"
                    yield from _at_macro(context, step, macro, message)


def _at_macro(context: Context, step: FinalStep, macro: Macro, message: str) -> Iterator[Pending]:
    """Yield a finding at a macro, unless parts of the macro come from different literals."""
    place = step.template.pieces(macro.start, macro.end)
    if place is not None:
        site, characters = context.literal_span(*place)
        fix = repair("claims", "mend_macro", context, step, macro)
        help = HELP if macro.problem is not None else NO_ENTRY_HELP
        yield context.finding("GL403", site, message, help, fix, characters=characters)


RULE = Rule(
    code="GL403",
    name="broken-claim-macro",
    summary="A claim macro is malformed, or macros and claims do not match",
    documentation=__doc__ or "",
    check=check,
    fix="unsafe",
)
