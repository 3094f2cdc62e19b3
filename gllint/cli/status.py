"""What the exit status says."""

NOTHING_FOUND, FOUND, WRONG, INTERRUPTED = 0, 1, 2, 130
