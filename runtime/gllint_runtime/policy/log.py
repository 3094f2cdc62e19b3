"""The log of the runtime, whose messages show the words of others with their control characters as escapes."""

from __future__ import annotations

import logging

from gllint_runtime.policy.wording import visible

logger = logging.getLogger("gllint_runtime")


def _visible_words(record: logging.LogRecord) -> bool:
    words = record.args if isinstance(record.args, tuple) else ()
    record.args = tuple(visible(str(word)) if isinstance(word, (str, Exception)) else word for word in words)
    return True


logger.addFilter(_visible_words)
