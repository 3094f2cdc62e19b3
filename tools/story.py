"""The picture at the top of the README: what a tool returns, and which answers the runtime accepts.

The verdicts are those of the runtime, the lines short enough for a phone.
"""

from __future__ import annotations

from html import escape

from gllint_runtime import Session

_WIDTH, _LINE, _MARGIN = 440, 24, 18
_SPACE = "\u00a0"  # SVG joins several blanks
_WHY = {"MISLABELLED": "  wrong unit", "NO_SOURCE": "  no source"}
_TEXT, _DIM, _BAD, _GOOD = "#c5c8c6", "#868887", "#cc555a", "#98a84b"


def story() -> str:
    """Return the picture as SVG."""
    rows = [
        ("a tool returns", _DIM),
        ('{"heat_wh": 12500}', _TEXT),
        ("", _TEXT),
        ("the model answers", _DIM),
        *_answers(),
    ]
    height = 2 * _MARGIN + _LINE * len(rows)
    texts = "\n".join(
        f'<text x="{_MARGIN}" y="{_MARGIN + _LINE * (number + 1) - 7}" fill="{colour}">{_escaped(text)}</text>'
        for number, (text, colour) in enumerate(rows)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" font-size="16"'
        f' font-family="ui-monospace, Menlo, Consolas, monospace">\n'
        f'<rect width="{_WIDTH}" height="{height}" rx="8" fill="#292929"/>\n{texts}\n</svg>\n'
    )


def _answers() -> list[tuple[str, str]]:
    """Return a line for each answer, with its verdict and colour."""
    rows = []
    for answer in ("It used 12,500 kWh.", "It used 9,500 kWh.", "It used 12.5 kWh."):
        session = Session(mode="sourced")
        session.record("meter", {}, {"heat_wh": 12_500})
        result = session.verify(answer)
        is_good = result.status == "success"
        why = "" if is_good else _WHY[result.error.code]
        rows.append((f"{'✓' if is_good else '✗'} {answer}{why}", _GOOD if is_good else _BAD))
    return rows


def _escaped(text: str) -> str:
    return escape(text).replace(" ", _SPACE)
