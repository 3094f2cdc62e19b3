"""The error taxonomy: every failure has a code, a message, a hint, a path and a context.

``str(error)`` is ``[CODE] message`` and, on a line of its own, the hint. A model that receives
``str(error)`` can use it.
Codes follow seeds 000 and 001; the ones those leave open are named in the table of :data:`HINTS`, ``hints.txt``.
"""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from typing import Any, ClassVar

from gllint_runtime.policy.data_files import lines

HINTS = dict(line.split(": ", 1) for line in lines("hints.txt"))


class GLError(Exception):
    """Base of all. ``path`` is a place in the data, ``context`` whatever else helps; both may be ``None``."""

    codes: ClassVar[frozenset[str]] = frozenset(HINTS)

    def __init_subclass__(cls) -> None:
        cls.codes = frozenset(name for name in vars(cls) if name.isupper()) or cls.codes

    def __init__(
        self,
        code: str,
        message: str,
        hint: str | None = None,
        path: str | None = None,
        context: Any = None,
    ) -> None:
        """Make an error; ``hint`` defaults to the one in ``hints.txt``.

        Raises ValueError for a code of another class.
        """
        if code not in self.codes:
            raise ValueError(f"{type(self).__name__} has no code {code!r}")
        self.code = code
        self.message = message
        self.hint = hint or HINTS[code]
        self.path = path
        self.context = context
        self.released = ""  # of a stream: what the user has seen already
        super().__init__(code, message)

    def __str__(self) -> str:
        return f"[{self.code}] {self.message}\n{self.hint}"

    def to_dict(self) -> dict[str, Any]:
        """Return the error as plain data for logs, traces and providers; :func:`error_from_dict` reads it."""
        return {
            "error_type": type(self).__name__,
            "code": self.code,
            "message": self.message,
            "hint": self.hint,
            "path": self.path,
            "context": self.context,
        }


class GLValidationError(GLError):
    """Arguments, results, units or a model's step are not what their schema says."""

    ARGS_SCHEMA = "ARGS_SCHEMA"
    RESULT_SCHEMA = "RESULT_SCHEMA"
    UNIT_UNKNOWN = "UNIT_UNKNOWN"
    ARGUMENT_UNIT = "ARGUMENT_UNIT"
    STEP_SCHEMA = "STEP_SCHEMA"


class GLRuntimeError(GLError):
    """The run itself broke a rule: a naked number, a macro without claim, too many steps, a failing tool."""

    NO_NAKED_NUMBERS = "NO_NAKED_NUMBERS"
    MISSING_CLAIM = "MISSING_CLAIM"
    UNSAFE_TEXT = "UNSAFE_TEXT"
    TOOL_FAILED = "TOOL_FAILED"
    MAX_STEPS = "MAX_STEPS"
    CANCELLED = "CANCELLED"
    PROVIDER_FAILED = "PROVIDER_FAILED"


class GLDataError(GLError):
    """A claim's path leads nowhere, or the claimed value is not the tool's."""

    PATH_RESOLUTION = "PATH_RESOLUTION"
    QUANTITY_MISMATCH = "QUANTITY_MISMATCH"
    BASIS = "BASIS"
    NO_UNIT = "NO_UNIT"


class GLSecurityError(GLError):
    """This may not be done: no network in Replay, no effect without approval, no session of another conversation."""

    EGRESS_BLOCKED = "EGRESS_BLOCKED"
    COMPUTE_IO_FORBIDDEN = "COMPUTE_IO_FORBIDDEN"
    APPROVAL_DENIED = "APPROVAL_DENIED"
    SESSION_SHARED = "SESSION_SHARED"
    SESSION_SIGNATURE = "SESSION_SIGNATURE"


class GLProvenanceError(GLError):
    """A number's chain back to its source has a missing link."""

    MISSING_EF_CID = "MISSING_EF_CID"
    MISSING_SEED = "MISSING_SEED"
    MISSING_TOOL_CALL = "MISSING_TOOL_CALL"
    MISSING_ORIGIN = "MISSING_ORIGIN"
    NO_SOURCE = "NO_SOURCE"
    MISLABELLED = "MISLABELLED"


def error_from_dict(data: Mapping[str, Any]) -> GLError:
    """Return the error that :meth:`GLError.to_dict` described."""
    kinds = {kind.__name__: kind for kind in GLError.__subclasses__()}
    kind = kinds.get(data["error_type"], GLError)
    return kind(data["code"], data["message"], data.get("hint"), data.get("path"), data.get("context"))


def reason_of(error: BaseException) -> str:
    """Return an error in one line, also one that cannot be printed."""
    return "".join(traceback.format_exception_only(error)).strip()
