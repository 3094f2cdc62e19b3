"""A progress bar on a terminal, for a run that takes longer than a second."""

from __future__ import annotations

import sys
import time

_PATIENCE = 1.0
_REDRAW = 0.1
_WIDTH = 30


class Progress:
    """Draws on standard error where that is a terminal and it ``is_enabled``; otherwise says nothing."""

    def __init__(self, is_enabled: bool = True) -> None:
        self._is_enabled = is_enabled and sys.stderr is not None and sys.stderr.isatty()
        self._started = self._last_frame = time.monotonic()
        self._label, self._done, self._total = "", 0, 0
        self._is_visible = False

    def expect(self, label: str, total: int) -> None:
        """Begin a stretch of ``total`` steps."""
        self._label, self._done, self._total = label, 0, total

    def tick(self, done: int) -> None:
        """Count steps as done."""
        self._done += done
        if not self._is_enabled or not self._total:
            return
        now = time.monotonic()
        if now - self._started > _PATIENCE and now - self._last_frame > _REDRAW:
            self._last_frame = now
            self._draw()

    def clear(self) -> None:
        """Take the bar away, before anything else is written."""
        if self._is_visible:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()
            self._is_visible = False

    def _draw(self) -> None:
        filled = _WIDTH * self._done // self._total
        bar = "█" * filled + "░" * (_WIDTH - filled)
        sys.stderr.write(f"\r\x1b[2K{self._label:<9} {bar} {self._done}/{self._total}")
        sys.stderr.flush()
        self._is_visible = True
