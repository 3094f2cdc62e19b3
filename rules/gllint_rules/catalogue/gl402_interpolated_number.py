"""A number is formatted into a final message.

## What it does

Reports a number that an f-string, `%`, `.format` or `str()` puts into a final message, the answer that the user sees. A
value is reported only if the source shows that it is a number.

## Why is this bad?

The user sees a number that the runtime did not check. It has no unit, and nothing connects it with a tool's result.

## Bad

```python
def finish(power: float) -> dict:
    return {
        "kind": "final",
        "final": {"message": f"The pump draws {power} kW.", "claims": []},
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

Let a tool return the number as a Quantity and write `{{claim:i}}` in its place.

## Options

`final-message-names` and `final-message-calls` list the variables and calls that contain final messages.

## References

GreenLang's requirements, DOC-601: "The {{claim:i}} Macro System".
"""

from __future__ import annotations

from collections.abc import Iterator

from gllint_rules.fixes import repair
from gllint_rules.inference.values import number
from gllint_rules.project.context import Context, Pending
from gllint_rules.project.templates import Stretches, final_steps
from gllint_rules.rule import Rule

HELP = "Let a tool return the number as a Quantity, and write {{claim:0}} in its place."


def check(context: Context) -> Iterator[Pending]:
    """Yield a finding for each number that is formatted into a final message: ``f"You have {len(meters)} meters."``."""
    for step in final_steps(context):
        aside = Stretches([*step.template.computed_macros(), *step.template.markers()])
        for at, hole in step.template.holes():
            figure = number(hole.value)  # None if the source does not show that it is one
            if figure is not None and not aside.meet(at, at + 1):
                message = "a number is formatted into a final message"
                fix = repair("claims", "claim_hole", context, step, hole)
                yield context.finding("GL402", hole.site, message, HELP, fix, figure.because)


RULE = Rule(
    code="GL402",
    name="interpolated-number",
    summary="A number is formatted into a final message",
    documentation=__doc__ or "",
    check=check,
    fix="unsafe",
    options=("final-message-names", "final-message-calls"),
)
