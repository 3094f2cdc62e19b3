"""A suppression has no effect.

## What it does

Reports a `# noqa: GL…` or `# gllint: …[…]` comment without a finding in the code that it covers. If a file that
matters was not read (syntax error, not text, too large, excluded), nothing is reported; the summary counts what was not
judged.

## Why is this bad?

Such a comment hides the next real finding in that code.

## Bad

```python
from langchain_core.tools import tool


@tool
def label(site: str) -> str:
    return site.title()  # gllint: ignore[GL101] left over
```

## Good

```python
from langchain_core.tools import tool


@tool
def label(site: str) -> str:
    return site.title()
```

## How to fix

Remove the comment; the fix is safe. Text after a `# noqa: GL…` stays as a comment.

## Options

None.

## References

None.
"""

from __future__ import annotations

from gllint_rules.rule import Rule

RULE = Rule(
    code="GL901",
    name="unused-suppression",
    summary="A suppression has no effect",
    documentation=__doc__ or "",
    check=None,
    fix="safe",
)
