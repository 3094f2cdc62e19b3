"""A suppression is malformed.

## What it does

Reports these comments:

- a comment that begins with `gllint:` but is not `# gllint: ignore[…]`, `ignore-file[…]`, `disable[…]` or `enable[…]`
- a comment with an unknown code; known codes in it still work
- a malformed `noqa` for gllint (`# noqa: GL1O1`, `# noqa GL101`)

## Why is this bad?

The author believes that the comment suppresses a finding, but it does not.

## Bad

```python
from langchain_core.tools import tool


@tool
def label(site: str) -> str:
    return site.title()  # gllint: disable=GL101
```

## Good

```python
from langchain_core.tools import tool


@tool
def label(site: str) -> dict:
    return {"rooms": 4}  # gllint: ignore[GL101] counted by hand, never shown
```

## How to fix

Write codes (`GL101`), prefixes (`GL1`) or names (`raw-number-in-result`) in brackets, then the reason. The fix puts the
codes into brackets. It is unsafe, because it hides findings that were reported before.

## Options

`require-reason` also reports a comment without a reason, although the comment still works.

## References

None.
"""

from __future__ import annotations

from gllint_rules.rule import Rule

RULE = Rule(
    code="GL902",
    name="invalid-suppression",
    summary="A suppression is malformed",
    documentation=__doc__ or "",
    check=None,
    fix="unsafe",
)
