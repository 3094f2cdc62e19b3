"""A message that is shown while it is written: by sentences, list items and table rows, each once it passes.

What is shown is always the beginning of what the whole message would show. So a part waits for its end, for the claims
that it cites, and for whatever may still change how it is read: within markup that hides or restyles, to the very end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Protocol

from gllint_runtime.execution.steps import read_claims
from gllint_runtime.policy.errors import GLError, GLValidationError
from gllint_runtime.policy.expressions import expression
from gllint_runtime.policy.places import is_abbreviated
from gllint_runtime.policy.schemas import Claim


class Gate(Protocol):
    """The judge of a message, as a whole or in parts."""

    @property
    def count(self) -> int:
        """How many calls were recorded."""

    def check(self, message: str, claims: Sequence[Any]) -> Any:
        """Return the whole message. Raises GLError."""

    def shown_part(self, context: str, part: str, claims: Sequence[Claim]) -> str | None:
        """Return what a part shows, or ``None`` while it is rejected."""


# Where a part ends: behind a sentence ("4. März" has no end), before a blank line, and before a line that begins a
# block of its own.
_END = expression(
    r"""
    (?:[!?…]|(?<!\s\d)(?<!\s\d\d)\.)[)\]"'”’»*_]{0,4}(?=\s)\s++(?=\S)
  | [。！？][」』）”’]{0,4}(?=[^」』）”’])
  | (?<!\s)[^\S\n]*+\n[^\S\n]*+\n\s*+(?=\S)
  | \n(?=[^\S\n]*+(?:[-*+•|\#>]|[0-9]{1,9}[.)])[^\S\n]*+\S)
    """,
    re.VERBOSE,
)
_PARAGRAPH = expression(r"\n[^\S\n]*+\n")
# What may change how all that follows is read: tags, comments, entities, LaTeX, brackets of links, fences.
_HELD = expression(r"(?:[<&\\`\[{~]|\$(?!\d))(?<!\{\{)(?!\{claim:\d{1,9}\}\})")
# An end that is not whole yet is at most these many characters, blanks aside, behind blanks, and before them.
_OPEN = (16, 8, 0)
_HEAD = 2_000
_TAIL = 6_000


def parts_of(text: str) -> list[str]:
    """Return the sentences, list items and table rows of a text, each with what is between it and the next."""
    ends = [0, *_ends(text, 0), len(text)]
    return [text[start:end] for start, end in pairwise(ends) if start < end]


def _ends(text: str, start: int) -> Iterator[int]:
    """Yield where the parts end that end behind a place; within a line, a point behind an abbreviation is no end."""
    for match in _END.finditer(text, start):
        if match[0][0] != "." or "\n" in match[0] or not is_abbreviated(text, match.start()):
            yield match.end()


class MessageStream:
    """Feed it what the model writes; show what :meth:`feed` gives, and at the end what is left (:attr:`rest`).

    ``released`` is what was shown so far. Claims may come at any time, each once or all of them anew.
    """

    def __init__(self, session: Gate) -> None:
        """Begin a message that ``session`` judges."""
        self._session = session
        self._text = ""
        self._claims: list[Any] = []
        self._read: tuple[Claim, ...] = ()
        self._ends: list[int] = []
        self._searched = 0
        self._open = 0  # from where on there may be the beginning of an end
        self._start = 0  # of what was not shown yet
        self._block = 0  # where the paragraph of that begins
        self._stuck = self._is_closed = False
        self._waits: tuple[int, int, int] | None = None  # the end that was rejected, and with which claims
        self.released = ""
        self.rest = ""

    def feed(self, chunk: str, claims: Sequence[Any] = ()) -> str:
        """Take a piece of what the model writes; return what is safe to show now, often ``""``. Raises no GLError.

        A sentence is shown when it is complete: "It is {{claim:0}}." → "It is 2.00 kWh."
        """
        if not isinstance(chunk, str):
            raise TypeError(f"A chunk of a message must be a str, not {type(chunk).__name__}")
        if self._is_closed:
            raise ValueError("The message was closed: begin another with Session.stream()")
        chunk_at = len(self._text)
        self._text += str.__str__(chunk)
        self._add(claims)
        if self._stuck:
            return ""
        self._find_ends(chunk_at)
        shown = []
        while self._ends:
            text = self._checked(self._ends[0])
            if text is None:
                break
            shown.append(text)
        released = "".join(shown)
        self.released += released
        return released

    def close(self, claims: Sequence[Any] = ()) -> Any:
        """Return the whole message as the user may see it; what was not shown yet is ``rest``.

        Raises what :meth:`Session.check` raises, the error with ``released``: what the user has seen already.
        """
        self._is_closed = True
        self._add(claims)
        try:
            verified = self._session.check(self._text, self._claims)
        except GLError as error:
            error.released = self.released
            raise
        if not verified.message.startswith(self.released):
            broken = GLValidationError(
                "STEP_SCHEMA", "The message does not begin with the text that was shown"
            )
            broken.released = self.released
            raise broken
        self.rest = verified.message[len(self.released) :]
        return verified

    def _add(self, claims: Sequence[Any] | None) -> None:
        """Add claims to those of the stream; a client may also send all of them again."""
        new = [*(claims or ())]
        if new[: len(self._claims)] == self._claims:
            self._claims = new or self._claims
        else:
            self._claims += new
        if new:
            try:
                self._read = read_claims(self._claims)
            except GLError:  # the end says so
                self._stuck = True

    def _find_ends(self, chunk_at: int) -> None:
        """Note where further parts of the text end, once the piece at ``chunk_at`` is in it.

        Nothing ends after markup that may change the rest (an open code fence).
        """
        text = self._text
        # A part ends with the first blank behind it: further blanks end nothing.
        if not text[chunk_at - 1 : chunk_at].strip() and text[chunk_at:].isspace() and chunk_at:
            return
        for end in _ends(text, max(self._searched, self._open)):
            if _HELD.search(text, self._searched, end):
                self._stuck = True
                return
            self._ends.append(end)
            self._searched = end
        at = len(text)
        for most in _OPEN:
            while at > self._searched and text[at - 1].isspace():
                at -= 1
            at = max(at - most, self._searched)
        self._open = at

    def _checked(self, end: int) -> str | None:
        """Return what the part up to ``end`` shows; ``None`` if it is rejected, or not complete."""
        # Rejected before: only a further claim or call can change that.
        attempt = end, len(self._read), self._session.count
        if attempt == self._waits:
            return None
        context = self._text[self._block : self._start]
        if getattr(self._session, "mode", "claims") == "sourced":  # what is derived, and lists, rest on more
            context = self._text[: self._start]
        elif len(context) > _HEAD + _TAIL:  # of a long table the head, and the rows above
            context = f"{context[:_HEAD]}\n{context[-_TAIL:]}"
        part = self._text[self._start : end]
        text = self._session.shown_part(context, part, self._read)
        if text is None:
            self._waits = attempt
            return None
        del self._ends[0]
        self._start = end
        if paragraph := [match.end() for match in _PARAGRAPH.finditer(part)]:
            self._block = end - len(part) + paragraph[-1]
        return text
