"""A suppression is malformed.

## What it does

Reports a comment that begins with `gllint:` and is none of `# gllint: ignore[…]`, `ignore-file[…]`, `disable[…]` and
`enable[…]`, or names a code that does not exist; and a `noqa` that is to suppress a finding of gllint and cannot be
read (`# noqa: GL1O1`, `# noqa GL101`). What cannot be read suppresses nothing; the codes beside it that are known do.

## Why is this bad?

Somebody believes that the finding is taken care of. Nothing was suppressed, or, worse, a misspelt code will be
believed for ever.

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

Name codes (`GL101`), prefixes (`GL1`) or names (`raw-number-in-result`) between brackets, and the reason behind them.
Where the comment names the codes in another form, the fix puts them into brackets; it is unsafe, since it then
suppresses what was reported before.

## Options

`require-reason` also reports a suppression without a reason; it suppresses all the same.

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
