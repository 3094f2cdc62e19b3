"""A suppression has no effect.

## What it does

Reports a `# noqa: GL…` or `# gllint: …[…]` comment if the code that it covers has no finding with this code. If the
finding may depend on a file that was not read (syntax error, not text, too large, excluded), nothing is reported, but
the summary counts the comment.

## Why is this bad?

The comment would hide the next real finding in this code.

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
