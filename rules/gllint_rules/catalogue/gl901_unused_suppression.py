"""A suppression has no effect.

## What it does

Reports a `# noqa: GL…` or `# gllint: …[…]` comment that names a code of gllint for which there is no finding in what
the comment speaks of, nor in the statement that it stands in. While a file that could matter was not read (it has a
syntax error, is no text, too large or excluded, or an editor has not come to it yet), nothing is said; the summary
counts what was not judged.

## Why is this bad?

It hides the next finding that really appears there.

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

Remove the comment; the fix is safe. What stands behind a `# noqa: GL…` stays as a comment of its own.

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
