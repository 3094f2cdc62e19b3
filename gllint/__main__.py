"""``python -m gllint``."""

import os
import sys

try:
    _here = os.getcwd()
except OSError:  # it has been deleted
    _here = ""
# Python puts the current folder first on its path: there lies the code under lint, which must never be run.
if not sys.flags.safe_path and sys.path and sys.path[0] in ("", _here):
    del sys.path[0]

from gllint.cli.main import main

if __name__ == "__main__":
    main()
