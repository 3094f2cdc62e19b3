"""The names that GreenLang's module of this name has: its users change the package name only."""

from gllint_runtime.policy.errors import (
    GLDataError,
    GLError,
    GLProvenanceError,
    GLRuntimeError,
    GLSecurityError,
    GLValidationError,
)

__all__ = [
    "GLDataError",
    "GLError",
    "GLProvenanceError",
    "GLRuntimeError",
    "GLSecurityError",
    "GLValidationError",
]
