"""A file cannot be read or parsed.

## What it does

Reports a file or a notebook cell that is not Python, cannot be decoded or cannot be read, and a file of more than
4,000,000 bytes or 200,000 lines. In a folder, a file that cannot contain a finding is only mentioned in a notice. The
other cells of a notebook are checked; names of the broken cell are unknown.

## Why is this bad?

No rule can check such a file or cell.

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
