"""The gate inside other people's agents: their types in, ours out, and back. One module for each framework.

Each has ``gate(target, *, session=None, max_retries=2, on_refusal=None)``; all are made of :mod:`.kit`.
"""

from gllint_runtime.adapters.kit import INSTRUCTIONS, check_final, current_session, recorded

__all__ = ["INSTRUCTIONS", "check_final", "current_session", "recorded"]
