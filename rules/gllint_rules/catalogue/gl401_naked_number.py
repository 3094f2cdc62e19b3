"""A final message contains a number without a claim.

## What it does

Reports digits outside a `{{claim:i}}` macro in the template of a final message, the answer that the user sees. List
numbers, ISO dates, versions, ids, times and unit symbols (`CO2e`, `m2`) are allowed.

## Why is this bad?

The number comes from the template, not from a tool. In claims mode the runtime rejects the message.

## Bad

```python
def finish(call_id: str) -> dict:
    return {
        "kind": "final",
        "final": {"message": "The pump draws about 40 kW.", "claims": []},
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

Let a tool return the number as a Quantity. Add a claim for it to the message (the call id and the path of the number in
its result), and write the macro in its place.

## Options

- `final-message-names` and `final-message-calls` list the variables and calls that contain final messages
- `whitelist-patterns` allows more numbers
- `designations` allows names with digits (`iPhone 15`); sourced mode always allows them
- `number-words` also reports numbers that are spelled out
- `extend-units` and `unit-packs` add unit symbols

## References

GreenLang's requirements, DOC-601: "The No Naked Numbers Policy".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gllint_rules.project.claimed import claim_parts
from gllint_rules.project.context import Context, Pending
from gllint_rules.project.templates import FinalStep, Stretches, final_steps
from gllint_rules.rule import Rule
from gllint_runtime.policy.claims import SHORT_MACRO

if TYPE_CHECKING:
    from gllint_runtime.policy.numbers import NakedNumber
HELP = "Let a tool return the number as a Quantity, and write {{claim:0}} in its place."


def check(context: Context) -> Iterator[Pending]:
    """Yield a finding for each number in the template of a final message: ``"You used 12 kWh."``."""
    policy = context.policy
    for step in final_steps(context):
        # Imported here: few files have a final message, and the scanner's tables load longer than a file is checked.
        from gllint_runtime.policy.numbers import scan_naked_numbers

        text = step.text
        broken = [(macro.start, macro.end) for macro in step.macros if macro.problem is not None]
        shorthand = [match.span() for match in SHORT_MACRO.finditer(text)]
        # GL403 reports broken macros, and text that is added later is not known.
        aside = Stretches([*broken, *shorthand, *step.later()])
        numbers = scan_naked_numbers(
            text,
            whitelist=policy.whitelist,
            words=policy.number_words,
            units=policy.extend_units,
            macros=step.macros,
            glued=policy.pack_symbols(),
            claimed=_units(step),
        )
        if policy.designations or policy.mode == "sourced":
            from gllint_runtime.policy.designations import without_designations

            numbers = without_designations(text, numbers)
        for naked in numbers:
            if aside.meet(naked.start, naked.end):
                continue
            place = step.template.pieces(naked.start, naked.end)
            if place is None:
                continue
            literal, start, end = place
            site, characters = context.literal_span(literal, start, end)
            yield context.finding("GL401", site, _message(naked), naked.hint or HELP, characters=characters)


def _message(naked: NakedNumber) -> str:
    """Return the message for a number without a claim, or for a text that changes what a claim says."""
    if naked.text.startswith("{{"):  # the unit is in a label or a header, away from the macro
        return f"The text gives `{naked.text}` a different unit or scale than its claim"
    if naked.hint is not None:  # next to a macro
        return f"`{naked.text}` in a final message changes the meaning of the claim next to it"
    return f"`{naked.text}` in a final message does not come from a tool"


def _units(step: FinalStep) -> list[str]:
    """Return the unit of each claim of the message, or "" if the source does not show it."""
    claims = [claim_parts(entry.value) for entry in step.claims.items] if step.claims is not None else []
    return [(claim.unit or "") if claim is not None else "" for claim in claims]


RULE = Rule(
    code="GL401",
    name="naked-number",
    summary="A final message contains a number without a claim",
    documentation=__doc__ or "",
    check=check,
    options=(
        "final-message-names",
        "final-message-calls",
        "whitelist-patterns",
        "number-words",
        "designations",
        "extend-units",
        "unit-packs",
    ),
)
