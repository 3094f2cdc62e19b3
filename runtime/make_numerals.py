"""Write ``gllint_runtime/policy/numerals.txt`` from the newest Unicode.

Run with ``uv run --with unicodedata2 runtime/make_numerals.py``.
A numeral is what Unicode files as one (Nd, No, Nl), what decomposes to a digit, and what shows a number as a
picture: dice, dominoes, mahjong tiles, playing cards from two to ten, keycap ten, hundred points.
"""

from __future__ import annotations

import re
import sys
from itertools import groupby
from pathlib import Path

import unicodedata2 as newest  # type: ignore[import-not-found]

_WORDS = "ONE|TWO|THREE|FOUR|FIVE|SIX|SEVEN|EIGHT|NINE|TEN"
_PICTURE = re.compile(
    rf"DIE FACE-|DOMINO TILE .*-\d|MAHJONG TILE ({_WORDS}) OF|PLAYING CARD ({_WORDS}) OF|KEYCAP TEN"
    r"|HUNDRED POINTS|NO ONE UNDER EIGHTEEN|INPUT SYMBOL FOR NUMBERS|BRAILLE PATTERN DOTS-3456\Z"
    r"|SQUARED (?:TWENTY-TWO|SIXTY|NINETY)"
    rf"|(?:SQUARED|TURNED|COMBINING \w+) (?:DIGIT )?({_WORDS}|SECOND|ZERO)\b|COMBINING .*DIGIT"
    r"|SQUARED CJK UNIFIED IDEOGRAPH-4E(?:00|09|8C)"
)
_IDEOGRAPHIC = re.compile(r"\b(DIGIT|NUMBER) ")


def _is_numeral(char: str) -> bool:
    """Return whether a character shows a number."""
    if newest.category(char) in {"Nd", "No", "Nl"}:
        return True
    if newest.category(char) in {"Cn", "Cs", "Co"}:
        return False
    name = newest.name(char, "")
    if name.startswith("SQUARE ") or "PUNCTUATION" in name:  # the sign for square metres is a unit
        return False
    if any(newest.category(part) == "Nd" for part in newest.normalize("NFKC", char)):
        return True
    return bool(_PICTURE.search(name) or (newest.category(char)[0] in "SM" and _IDEOGRAPHIC.search(name)))


def main() -> None:
    """Write the table of numerals."""
    points = [point for point in range(sys.maxunicode + 1) if _is_numeral(chr(point))]
    lines = [
        f"# Unicode {newest.unidata_version}: code points that show a number. Written by make_numerals.py."
    ]
    for _, group in groupby(enumerate(points), lambda item: item[1] - item[0]):
        run = [point for _, point in group]
        lines.append(f"{run[0]:04X}-{run[-1]:04X}" if len(run) > 1 else f"{run[0]:04X}")
    target = Path(__file__).parent / "gllint_runtime" / "policy" / "numerals.txt"
    target.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
