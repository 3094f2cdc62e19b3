"""Where a unit stands that a count, which is shown without one, would take for its own. ``@`` is a macro of a count."""

from __future__ import annotations

import pytest

from gllint_runtime import scan_naked_numbers


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        # The same clause, up to the next macro, on either side.
        ("@ rows in kWh", "kWh"),
        ("The kWh of the @ rows", "kWh"),
        ("The kWh of {{claim:1}} to @ rows", ""),
        ("@ rows up to {{claim:1}} for energy in kWh", ""),
        ("It is heat and % of rows: @", "%"),
        ("It is kWh and rows: @", ""),
        ("Let $n+$ be @ rows.", ""),
        ("@ rows at ㎾", "㎾"),
        ("@ rows … of them", ""),
        ("@ rows ｔ", ""),
        ("@ rows in CHF", "CHF"),
        ("@ rows in crore", "crore"),
        ("@ rows in the fold", ""),
        ("Rooms (t): @", "t"),
        ("@ rooms (t)", ""),
        ("| Rooms (t) @ |", ""),
        ("Rooms (Größe): @", ""),
        ("Rooms (室): @", ""),
        # Rows of a table: its first cell, the one before, and the head of its column.
        ("kWh | @", "kWh"),
        ("|kWh | x | @ |", "kWh"),
        ("a\n  |kWh | x | @ |", "kWh"),
        ("| x |kWh | @ |", "kWh"),
        ("| Rooms (t) | x | @ |", "t"),
        ("| x | Rooms (t) | @ |", "t"),
        ("|a|%| b | @ |", ""),
        ("| x | @ | kWh |", ""),
        (f"| {'x ' * 105}kWh | x | @ |", "kWh"),
        ("|Rooms|kWh|\n|---|---|\n| x | @ |", "kWh"),
        ("kWh | Rooms\n---|---\n@ | x", "kWh"),
        ("Rooms | n (t)\n---|---\nx | @", "t"),
        ("Rooms | n\n---|---\nx | @\n\nIt is in kWh.", ""),
        ("Heat | kWh\n\nRooms | n\n---|---\nx | @", ""),
        ("Rooms | kWh\n---|---\nx | y\n\nx | @", ""),
        ("| kWh |\n|---|\n| x | y | z | @ |", ""),
        # A cell of three words and more says itself what its number is.
        ("| kWh | a @ b |", "kWh"),
        ("| kWh | a @ b c |", ""),
        ("| kWh | @ a b c d |", ""),
        ("| kWh | @ a b c", ""),
        ("| kWh | @ | a b c |", "kWh"),
        ("kWh total| a b @", "kWh"),
        ("kWh|a b c @", ""),
        # The heading above, or the line with a colon, past other items.
        ("# Heat in kWh\n\n@", "kWh"),
        ("kWh:\n- a\n- @", "kWh"),
        ("kWh:\nand\n- @", ""),
        ("kWh\n- a\n- @", "kWh"),
        (f"kWh{' x' * 110}:\n- @", ""),
        (f"kWh{' x' * 90}:\n- @", "kWh"),
        ("kWh:\n" + "- a\n" * 29 + "- @", "kWh"),
        ("kWh:\n" + "- a\n" * 50 + "- @", "kWh"),
        ("@ rooms\nHeat in kWh:.", ""),
    ],
)
def test_what_would_give_a_count_a_unit(message: str, expected: str) -> None:
    text = message.replace("@", "{{claim:0}}")
    hints = [number.hint or "" for number in scan_naked_numbers(text, claimed=["count", "kWh"])]
    assert len(hints) == bool(expected) and all(f"Remove {expected!r}" in hint for hint in hints)
