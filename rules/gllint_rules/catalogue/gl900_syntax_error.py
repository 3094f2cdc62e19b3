"""A file cannot be read or parsed.

## What it does

Reports a file or a notebook cell that cannot be read or decoded, or that is not valid Python. Also reports a file of
more than 4,000,000 bytes or 200,000 lines. If you check a folder, a file that cannot contain a finding causes only a
notice. If one cell of a notebook is broken, the other cells are checked, without the names that the broken cell
defines.

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
