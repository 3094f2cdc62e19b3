"""The picture that the README begins with: one made-up number, and the same answer with a claim.

Its answers are those of the runtime, its lines short enough for a telephone.
"""

from __future__ import annotations

from html import escape

from gllint_runtime import GLError, Session

_WIDTH, _LINE, _MARGIN = 440, 21, 16
_SPACE = "\u00a0"  # one that stays where several stand in a row
_TEXT, _DIM, _BAD, _GOOD = "#c5c8c6", "#868887", "#cc555a", "#98a84b"


def story() -> str:
    """Return the picture as SVG."""
    rows = [*_before(), ("", _TEXT), *_after()]
    height = 2 * _MARGIN + _LINE * len(rows)
    texts = "\n".join(
        f'<text x="{_MARGIN}" y="{_MARGIN + _LINE * (number + 1) - 6}" fill="{colour}">{_escaped(text)}</text>'
        for number, (text, colour) in enumerate(rows)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" font-size="15"'
        f' font-family="ui-monospace, Menlo, Consolas, monospace">\n'
        f'<rect width="{_WIDTH}" height="{height}" rx="8" fill="#292929"/>\n{texts}\n</svg>\n'
    )


def _before() -> list[tuple[str, str]]:
    session = Session()
    session.record("meter", {}, {"heat": {"value": 12_500, "unit": "Wh"}})
    message = "It used 12,500 kWh."
    try:
        session.check(message)
    except GLError as error:
        code = error.code
    return [
        ("a tool returns a bare number", _DIM),
        ('return {"heat": 12500}', _TEXT),
        ("the model guesses what it is", _DIM),
        (f'"{message}"', _BAD),
        ("they were watt-hours: 1,000 times too much", _BAD),
        (f"gllint: GL101 in the source, {code}", _DIM),
        ("at execution", _DIM),
    ]


def _after() -> list[tuple[str, str]]:
    session = Session()
    quantity = {"value": 12.5, "unit": "kWh"}
    call = session.record("meter", {}, {"heat": quantity})
    message = "It used {{claim:0}}."
    shown = session.check(message, [{"source_call_id": call, "path": "$.heat", "quantity": quantity}]).message
    return [
        ("the tool says the unit, the model cites", _DIM),
        ('return {"heat": {"value": 12.5,', _TEXT),
        ('                 "unit": "kWh"}}', _TEXT),
        (f'"{message}"', _TEXT),
        ("the user reads the tool's own number", _DIM),
        (f'"{shown}"', _GOOD),
    ]


def _escaped(text: str) -> str:
    return escape(text).replace(" ", _SPACE)
