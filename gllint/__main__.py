"""``gllint`` and ``python -m gllint``."""

import os
import sys

try:
    _current_folder = os.getcwd()
except OSError:  # it has been deleted
    _current_folder = ""
# Python puts the current folder first on its path: there lies the code under lint, which must never be run.
if not sys.flags.safe_path and sys.path and sys.path[0] in ("", _current_folder):
    del sys.path[0]


def start() -> None:
    """Run the command line and exit with its status. An interrupt while it loads ends it silently."""
    try:
        from gllint.cli.main import main

        main()
    except KeyboardInterrupt:
        from gllint.cli.output import INTERRUPTED

        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    start()
