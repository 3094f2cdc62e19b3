"""A file cannot be read or parsed.

## What it does

Reports a file that is no Python, cannot be decoded or cannot be read. Files that could hold no finding are never
parsed, and so never reported. One of more than 4,000,000 bytes or 200,000 lines is too large to be read: it is reported
where it is named on the command line, and told as left out where a folder is.

## Why is this bad?

No rule can speak about such a file, so nothing is known of the numbers in it.

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
