"""The language server: the findings of the command line in an editor, as one types.

The thread of the loop (:mod:`~gllint.server.app`) reads, writes and keeps the texts; one worker
(:mod:`~gllint.server.worker`) knows the projects (:mod:`~gllint.server.session`) and finds what there is to find.
"""

from __future__ import annotations


def serve() -> None:
    """Serve the editor on standard input and output until it disconnects. Needs ``gllint[lsp]``."""
    import gc
    import sys

    from gllint.server.app import Server
    from gllint.server.features import register

    server = Server()
    register(server)
    stdout = sys.stdout.buffer
    # Standard output has the protocol's messages: what any code prints goes to standard error.
    sys.stdout = sys.stderr
    # The worker collects garbage between jobs; a collection during one would delay the answer to a keystroke.
    gc.disable()
    server.start_io(sys.stdin.buffer, stdout)
