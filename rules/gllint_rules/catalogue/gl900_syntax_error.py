"""A file cannot be read or parsed.

## What it does

Reports a file that is no Python, cannot be decoded or cannot be read. One that could hold no finding is reported where
it is named on the command line or open in an editor; where a folder is named, a notice tells of it, if it was parsed at
all. A file of more than 4,000,000 bytes or 200,000 lines is too large to be read, and is told in the same way. Of a
notebook each cell that is no Python is reported. The others are checked; of the names that it binds nothing is known.

## Why is this bad?

No rule can speak about such a file or cell, so nothing is known of the numbers in it.

## Bad

```python
def tool(:
    return {"kind": "final"}
```

## Good

```python
def tool():
    return {"kind": "final"}
```

## How to fix

Correct the syntax or the encoding, or exclude the file.

## Options

`exclude`, `extend-exclude`.

## References

The Python language reference, "Lexical analysis".
"""

from __future__ import annotations

from gllint_rules.rule import Rule

RULE = Rule(
    code="GL900",
    name="syntax-error",
    summary="A file cannot be read or parsed",
    documentation=__doc__ or "",
    check=None,
)
