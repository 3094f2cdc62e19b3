"""The error that stops a run: a wrong command or a wrong configuration. Everything else is a finding."""

from __future__ import annotations

from gllint_runtime.policy.wording import nearest as nearest


class UsageError(Exception):
    """The command or the configuration is wrong. Printed as one line; the exit status is 2."""
