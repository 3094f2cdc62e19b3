"""Text from elsewhere as the page may contain it."""

from __future__ import annotations

import re
from html import escape

from gllint.shown import visible

MOST_SHOWN = 200
_CODE = re.compile(r"`([^`]+)`")


def html_text(text: str) -> str:
    """Return text that is harmless between tags and in a quoted attribute: no markup, no control characters."""
    return escape(visible(text))


def prose(text: str) -> str:
    """Return one of gllint's messages as HTML: text between backticks becomes ``<code>``."""
    return _CODE.sub(r"<code>\1</code>", html_text(text))
